/* SPDX-License-Identifier: MIT OR Apache-2.0
 * NumPy's files: every element type and odd names there and back, headers as NumPy writes and as nobody should, and
 * archives that lie. tests/interop holds them against NumPy itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define REC_NO_SHORT_NAMES
#include <librecord.h>

#include "tests/scratch.h"
#include "tests/test_meter.h"

#define OK(call) assert_int_equal(call, REC_OK)

typedef struct file {
    uint8_t *data;
    uint64_t size;
} file;

static rec_recorder *open_with(const char *name, const char *option, const char *value)
{
    rec_recorder *recorder = rec_open_recorder(name, REC_PRECISION_KEEP);
    if (!recorder) {
        fail_msg("%s", rec_error_message());
    }
    if (option) {
        OK(rec_recorder_set(recorder, option, value));
    }
    return recorder;
}

static file save(const rec_record *record, const char *name, const char *option, const char *value)
{
    rec_recorder *recorder = open_with(name, option, value);
    file f;
    void *data;
    if (rec_save_bytes(recorder, record, &data, &f.size) != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    f.data = data;
    rec_close_recorder(recorder);
    return f;
}

static rec_record *load(const char *name, const void *data, uint64_t size)
{
    rec_recorder *recorder = open_with(name, NULL, NULL);
    rec_record *record = rec_load_bytes(recorder, data, size);
    rec_close_recorder(recorder);
    return record;
}

/* Reads all tensors' bytes. @return the first status that was not REC_OK. */
static rec_status read_all(const rec_record *record)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_tensor *tensor;
    rec_status status = REC_OK;
    while ((tensor = rec_iterator_next_tensor(iterator, NULL))) {
        if (!rec_tensor_bytes(tensor, NULL) && status == REC_OK) {
            status = rec_error_status();
            assert_int_not_equal(status, REC_OK);
        }
    }
    rec_iterator_free(iterator);
    return status;
}

static void put(rec_record *record, const char *path, rec_dtype dtype, uint64_t count)
{
    uint8_t data[256];
    rec_tensor_spec spec = {.size = sizeof spec, .dtype = dtype, .rank = 1, .shape = &count, .data = data};
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(dtype == REC_DTYPE_BOOL ? i & 1 : i * 7 + 1);
    }
    spec.data_size = count * rec_dtype_bits(dtype) / 8;
    assert_true(spec.data_size <= sizeof data);
    OK(rec_set_tensor(record, path, &spec));
}

static void equal(const rec_record *record, const rec_record *again)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_tensor *tensor;
    const char *path;
    uint64_t count = 0, found = 0;
    while ((tensor = rec_iterator_next_tensor(iterator, &path))) {
        const rec_value *value = rec_value_at(again, path);
        const rec_tensor *other = value ? rec_value_tensor(value) : NULL;
        uint64_t size, size_again = 0;
        const void *bytes = rec_tensor_bytes(tensor, &size),
                   *bytes_again = other ? rec_tensor_bytes(other, &size_again) : NULL;
        if (!bytes_again) {
            fail_msg("%s: %s", path, other ? rec_error_message() : "it is not there");
        }
        assert_int_equal(rec_tensor_dtype(tensor), rec_tensor_dtype(other));
        assert_int_equal(rec_tensor_rank(tensor), rec_tensor_rank(other));
        assert_memory_equal(rec_tensor_shape(tensor), rec_tensor_shape(other),
                            rec_tensor_rank(tensor) * sizeof(uint64_t));
        assert_int_equal(size, size_again);
        assert_memory_equal(bytes, bytes_again, (size_t)size);
        count++;
    }
    rec_iterator_free(iterator);
    iterator = rec_iterate(again);
    while (rec_iterator_next_tensor(iterator, NULL)) {
        found++;
    }
    rec_iterator_free(iterator);
    assert_int_equal(count, found);
}

static rec_record *model(void)
{
    static const rec_dtype dtypes[] = {REC_DTYPE_F64, REC_DTYPE_F32, REC_DTYPE_F16, REC_DTYPE_I64,
                                       REC_DTYPE_I32, REC_DTYPE_I16, REC_DTYPE_I8,  REC_DTYPE_U64,
                                       REC_DTYPE_U32, REC_DTYPE_U16, REC_DTYPE_U8,  REC_DTYPE_BOOL};
    rec_record *record = rec_record_new(NULL);
    char path[64];
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        (void)snprintf(path, sizeof path, "layers.%zu.%s", i, rec_dtype_name(dtypes[i]));
        put(record, path, dtypes[i], 1 + i);
    }
    put(record, "none", REC_DTYPE_F32, 0);
    return record;
}

/* ------------------------------------------------------------------------------------------------- round trips -- */

static void every_type_comes_back(void **state)
{
    rec_record *record = model();
    (void)state;
    for (int way = 0; way < 2; way++) {
        file f = save(record, "Npz", "compress", way ? "yes" : "no"),
             g = save(record, "Npz", "compress", way ? "yes" : "no");
        rec_record *again = load("Npz", f.data, f.size), *guessed = load("Auto", f.data, f.size);
        assert_int_equal(f.size, g.size);
        assert_memory_equal(f.data, g.data, (size_t)f.size);
        assert_non_null(again);
        assert_non_null(guessed);
        equal(record, again);
        equal(record, guessed);
        rec_record_free(guessed);
        rec_record_free(again);
        rec_free(f.data);
        rec_free(g.data);
    }
    rec_record_free(record);
}

/* How often bytes are in a file. */
static int times(const file *f, const char *bytes, size_t count)
{
    int found = 0;
    for (uint64_t i = 0; i + count <= f->size; i++) {
        found += memcmp(f->data + i, bytes, count) == 0;
    }
    return found;
}

static void odd_names_come_back(void **state)
{
    static const char *const names[] = {"x\\\\y", "\\.\\.", "a\\.\\.b", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
                                        "../up",  "a/b",    "/",        " ",
                                        "a b\n",  "0",      "1.x",      "%s",
                                        "a.npy",  "\\\\",   "trail\\."};
    rec_record *record = rec_record_new(NULL), *again, *third;
    file f, g;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        put(record, names[i], REC_DTYPE_U8, i + 1);
    }
    f = save(record, "Npz", NULL, NULL);
    again = load("Npz", f.data, f.size);
    if (!again) {
        fail_msg("%s", rec_error_message());
    }
    g = save(again, "Npz", NULL, NULL);
    assert_int_equal(f.size, g.size); /* the same names, though those below one name come together */
    third = load("Npz", g.data, g.size);
    assert_non_null(third);
    equal(again, third);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) { /* as NumPy has it: in both directories */
        char name[64];
        size_t length = 0;
        for (const char *p = names[i]; *p; p++) {
            p += *p == '\\';
            name[length++] = *p;
        }
        memcpy(name + length, ".npy", 4);
        assert_int_equal(times(&f, name, length + 4), times(&g, name, length + 4));
        assert_true(times(&g, name, length + 4) >= 2);
    }
    rec_record_free(third);
    rec_record_free(again);
    rec_record_free(record);
    rec_free(f.data);
    rec_free(g.data);
}

static void what_arrays_cannot_say_is_told(void **state)
{
    rec_record *record = model(), *values = rec_record_new(NULL), *again;
    file f;
    (void)state;
    OK(rec_set_float(record, "epsilon", 1e-5));
    OK(rec_set_nil(record, "nothing"));
    OK(rec_set_int(record, "steps.0", 1));
    OK(rec_set_id(record, "none", "0123456789abc"));
    OK(rec_metadata_set(record, "author", "me"));
    OK(rec_set_uint(values, "blocks.deep.0", 4));
    OK(rec_metadata_set_value(record, "blocks", rec_value_at(values, "blocks")));
    f = save(record, "Npz", "check", "yes");
    assert_int_equal(rec_report_count(), 5);
    assert_non_null(strstr(rec_report_note(0)->text, "does not record that a tensor is not a parameter"));
    assert_string_equal(rec_report_note(1)->text,
                        "2 values other than tensors, the first here: left out, because NumPy files hold arrays only");
    assert_string_equal(rec_report_note(1)->path, "epsilon");
    assert_string_equal(rec_report_note(2)->text,
                        "the id of 1 parameter: left out, because NumPy files hold arrays only");
    assert_non_null(strstr(rec_report_note(3)->text, "for a model of PyTorch's, use reverse"));
    assert_string_equal(rec_report_note(4)->text,
                        "2 entries of metadata, the first `author`: left out, because NumPy files hold arrays only");
    again = load("Npz", f.data, f.size);
    assert_int_equal(rec_report_count(), 0);
    assert_null(rec_value_at(again, "epsilon"));
    rec_record_free(again);
    rec_free(f.data);
    rec_record_free(record);
    rec_record_free(values);
}

static void what_no_array_can_be_is_refused(void **state)
{
    static const struct {
        const char *format, *path, *second;
        rec_dtype dtype;
        const char *words;
    } cases[] = {
        {"Npz", "a", NULL, REC_DTYPE_BF16, "NumPy has no element type bf16"},
        {"Npz", "", NULL, REC_DTYPE_F32, "a tensor without a name"},
        {"Npz", "a.b", "a\\.b", REC_DTYPE_F32, "two arrays would both be called `a.b`"},
        {"Npy", "a", NULL, REC_DTYPE_F32, "a record that is not one tensor"},
        {"Npy", "", NULL, REC_DTYPE_BF16, "NumPy has no element type bf16"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rec_record *record = rec_record_new(NULL);
        rec_recorder *recorder = open_with(cases[i].format, NULL, NULL);
        void *data;
        uint64_t size;
        put(record, cases[i].path, cases[i].dtype, 2);
        if (cases[i].second) {
            put(record, cases[i].second, cases[i].dtype, 2);
        }
        assert_int_equal(rec_save_bytes(recorder, record, &data, &size), REC_E_UNSUPPORTED);
        if (!strstr(rec_error_message(), cases[i].words)) {
            fail_msg("%s", rec_error_message());
        }
        rec_close_recorder(recorder);
        rec_record_free(record);
    }
}

/* ----------------------------------------------------------------------------------------------------- headers -- */

typedef struct header_case {
    const char *text;
    size_t data;
    const char *words; /* of the refusal, NULL: none */
} header_case;

static const header_case headers[] = {
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 8, NULL},
    {"{\"shape\":(1,2),\"descr\":\"|u1\",\"fortran_order\":True}\n", 2, NULL},
    {"  { 'fortran_order' :False, 'shape': (), 'descr': '>i2'}  \n", 2, NULL},
    {"{'descr': '|b1', 'fortran_order': False, 'shape': (3L,), }", 3, NULL}, /* Python 2 */
    {"{'descr': '<f8', 'fortran_order': True, 'shape': (0, 5), }", 0, NULL},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 18446744073709551615), }", 0, NULL},
    {"{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1,), }", 8, NULL},
    {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", 8, "complex numbers (<c8)"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8, "Python objects"},
    {"{'descr': '|S5', 'fortran_order': False, 'shape': (1,), }", 5, "strings (|S5)"},
    {"{'descr': '<U5', 'fortran_order': False, 'shape': (1,), }", 20, "strings (<U5)"},
    {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,), }", 8, "dates or durations (<M8[ns])"},
    {"{'descr': '|V2', 'fortran_order': False, 'shape': (1,), }", 2, "raw bytes"},
    {"{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }", 16, "floats of a size"},
    {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4, "structures ([('a', '<f4')]"},
    {"{'descr': '=f4', 'fortran_order': False, 'shape': (1,), }", 4, NULL},
    {"{'descr': 'f4', 'fortran_order': False, 'shape': (1,), }", 4, NULL},
    {"{'descr': '|f4', 'fortran_order': False, 'shape': (1,), }", 4, "floats of a size"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 7, "7 bytes of elements, but the shape asks for 8"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 9, "9 bytes of elements, but the shape asks for 8"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", 8,
     "more elements than can be counted"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,), }", 8, "a dimension within 64 bits"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 8, "expected a dimension, found `-1,)"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2), }", 8, "`,` after the only dimension"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': 2, }", 8, "the shape, numbers in parentheses"},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", 8, "True or False"},
    {"{'descr': '<f4', 'shape': (2,), }", 8, "expected fortran_order"},
    {"{'descr': '<f4', 'fortran_order': False}", 8, "expected shape"},
    {"{'fortran_order': False, 'shape': (2,)}", 8, "expected descr"},
    {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 8,
     "each once, found `'descr': '<f4'"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", 8, "each once, found `'x': 1}"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } x", 8, "nothing after the dictionary"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,),", 8, "a key in quotes, or `}`"},
    {"{'descr': '<f4", 8, "the element type as a string"},
    {"[1]", 8, "a dictionary"},
    {"", 8, "a dictionary"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': "
     "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2)}",
     8, "at most 32 dimensions"},
};

static file npy_of(const header_case *c, int version)
{
    size_t length = strlen(c->text), begin = version == 1 ? 10 : 12;
    file f = {calloc(1, begin + length + c->data + 1), begin + length + c->data};
    assert_non_null(f.data);
    memcpy(f.data, "\x93NUMPY", 6);
    f.data[6] = (uint8_t)version;
    f.data[8] = (uint8_t)length;
    f.data[9] = (uint8_t)(length >> 8);
    memcpy(f.data + begin, c->text, length);
    for (size_t i = 0; i < c->data; i++) {
        f.data[begin + length + i] = (uint8_t)(i + 1);
    }
    return f;
}

static void headers_are_what_numpy_writes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        for (int version = 1; version <= 3; version++) {
            file f = npy_of(&headers[i], version);
            rec_record *record = load("Npy", f.data, f.size);
            if (!record != !!headers[i].words || (!record && !strstr(rec_error_message(), headers[i].words))) {
                fail_msg("%s: %s", headers[i].text, record ? "read" : rec_error_message());
            }
            if (record) {
                OK(read_all(record));
            }
            rec_record_free(record);
            free(f.data);
        }
    }
}

static void a_header_may_lie_about_itself(void **state)
{
    static const struct {
        const char *data;
        size_t size;
        const char *words;
    } cases[] = {
        {"\x93NUMPX\1\0\0\0", 10, "expected an array"},
        {"\x93NUMPY\1", 7, "the end of the file"},
        {"\x93NUMPY\4\0\0\0\0\0", 12, "a header of version 4.0"},
        {"\x93NUMPY\1\1\0\0\0\0", 12, "a header of version 1.1"},
        {"\x93NUMPY\1\0\xff\xff{}", 12, "a header of 65535 bytes"},
        {"\x93NUMPY\2\0\xff\xff\xff\xff{}", 14, "a header of 4294967295 bytes"},
        {"\x93NUMPY\2\0\0\0", 10, "a header of 0 bytes"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(load("Npy", cases[i].data, cases[i].size));
        if (!strstr(rec_error_message(), cases[i].words)) {
            fail_msg("%zu: %s", i, rec_error_message());
        }
    }
}

static void elements_are_turned(void **state)
{
    static const header_case matrix = {"{'descr': '>u2', 'fortran_order': True, 'shape': (2, 3), }", 12, NULL};
    static const uint16_t expected[] = {0x0102, 0x0506, 0x090a, 0x0304, 0x0708, 0x0b0c};
    file f = npy_of(&matrix, 1);
    rec_record *record = load("Npy", f.data, f.size);
    const rec_tensor *tensor = rec_tensor_at(record, "");
    const uint8_t *bytes;
    (void)state;
    assert_non_null(tensor);
    for (uint64_t i = 0; i < 6; i++) { /* one by one, and all */
        uint16_t one;
        OK(rec_tensor_read(tensor, REC_DTYPE_U16, i, 1, &one));
        assert_int_equal(one, expected[i]);
    }
    bytes = rec_tensor_bytes(tensor, NULL);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(bytes[2 * i] | bytes[2 * i + 1] << 8, expected[i]);
    }
    rec_record_free(record);
    free(f.data);
}

/* ---------------------------------------------------------------------------------------------------- archives -- */

/* An archive of `a` and `b`, three bytes each, as it is saved; where things are in it. */
enum {
    LOCAL_A = 0,
    NAME_A = 30,
    EXTRA_A = NAME_A + 5,
    NPY_A = EXTRA_A + 20,
    DATA_A = NPY_A + 128,
    LOCAL_B = DATA_A + 3,
    NAME_B = LOCAL_B + 30,
    DIRECTORY = 2 * LOCAL_B,
    ENTRY_A = DIRECTORY,
    ENTRY_B = ENTRY_A + 46 + 5,
    END = ENTRY_B + 46 + 5,
    WHOLE = END + 22
};

static file two_arrays(const char *compress)
{
    rec_record *record = rec_record_new(NULL);
    file f;
    put(record, "a", REC_DTYPE_U8, 3);
    put(record, "b", REC_DTYPE_U8, 3);
    f = save(record, "Npz", "compress", compress);
    rec_record_free(record);
    return f;
}

typedef struct change {
    size_t at;
    const char *bytes;
    size_t count;
} change;

typedef struct lie {
    const char *words;
    change changes[6];
} lie;

static const lie lies[] = {
    {"a.npy: its header differs from the directory of the zip archive", {{LOCAL_A, "X", 1}}},
    {"a.npy: its header differs from the directory of the zip archive", {{NAME_A, "c", 1}}},
    {"a.npy: its header differs from the directory of the zip archive", {{LOCAL_A + 14, "\1\2\3\4", 4}}},
    {"a.npy: its header differs from the directory of the zip archive", {{EXTRA_A + 4, "\1", 1}}},
    {"a.npy: its header differs from the directory of the zip archive", {{EXTRA_A + 12, "\1", 1}}},
    {"a.npy: its header differs from the directory of the zip archive", {{EXTRA_A, "\2", 1}}}, /* its sizes are gone */
    {"a.npy: its header differs from the directory of the zip archive", {{LOCAL_A + 8, "\x8", 1}}},
    {"a.npy: its header differs from the directory of the zip archive", {{LOCAL_A + 6, "\1", 1}}},
    {"two members of the zip archive have one name, at bytes 0 and 186: `b.npy`",
     {{NAME_A, "b", 1}, {ENTRY_A + 46, "b", 1}}},
    {"a.npy: it is encrypted", {{LOCAL_A + 6, "\1", 1}, {ENTRY_A + 8, "\1", 1}}},
    {"a.npy: compressed by method 12 (bzip2)", {{LOCAL_A + 8, "\xc", 1}, {ENTRY_A + 10, "\xc", 1}}},
    {"a.npy: its header differs from the directory of the zip archive", {{ENTRY_A + 24, "\x84", 1}}},
    {"a.npy: its header differs from the directory of the zip archive",
     {{ENTRY_A + 10, "\x8", 1}, {ENTRY_A + 24, "\xfe\xff\xff\xff", 4}}},
    {"a.npy: its header differs from the directory of the zip archive", {{ENTRY_A + 24, "\xff\xff\xff\xff", 4}}},
    {"a.npy: it reaches into the directory of the zip archive",
     {{ENTRY_A + 20, "\0\4", 2}, {ENTRY_A + 24, "\0\4", 2}, {EXTRA_A + 4, "\0\4", 2}, {EXTRA_A + 12, "\0\4", 2}}},
    {"two members of the zip archive overlap here",
     {{ENTRY_A + 20, "\x90", 1}, {ENTRY_A + 24, "\x90", 1}, {EXTRA_A + 4, "\x90", 1}, {EXTRA_A + 12, "\x90", 1}}},
    {"a.npy: its bytes do not have the checksum", /* for it is so short */
     {{ENTRY_A + 20, "\x82", 1}, {ENTRY_A + 24, "\x82", 1}, {EXTRA_A + 4, "\x82", 1}, {EXTRA_A + 12, "\x82", 1}}},
    {"b.npy: it has an invalid offset", {{ENTRY_B + 42, "\xff\xff\xff\x7f", 4}}},
    {"is not marked as UTF-8, or none", {{NAME_A, "\xff", 1}, {ENTRY_A + 46, "\xff", 1}}},
    {"no entry where the directory of the zip archive has one", {{ENTRY_A, "X", 1}}},
    {"an entry of the zip archive's directory that is not whole", {{ENTRY_B + 30, "\xff", 1}}},
    {"bytes more than its 1 entries", {{END + 8, "\1\0\1\0", 4}}},
    {"3 elements are announced", {{END + 8, "\3\0\3\0", 4}}},
    {"a zip archive in several volumes", {{END + 4, "\1", 1}}},
    {"but it must end at", {{END + 12, "\1", 1}}},
    {"but it must end at", {{END + 16, "\1", 1}}},
    {"a zip archive without the end of its directory", {{END + 20, "\1", 1}}},
    {"a zip archive without the end of its directory", {{END, "X", 1}}},
    {"a.npy: its bytes do not have the checksum", {{NPY_A, "X", 1}}},
    {"a.npy: its bytes do not have the checksum", {{DATA_A, "X", 1}}},
    {"a.npy: its bytes do not have the checksum", {{LOCAL_A + 14, "\1\2\3\4", 4}, {ENTRY_A + 16, "\1\2\3\4", 4}}},
};

static void archives_may_lie(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        file f = two_arrays("no");
        rec_record *record;
        rec_status status;
        assert_int_equal(f.size, WHOLE);
        for (const change *c = lies[i].changes; c->count; c++) {
            memcpy(f.data + c->at, c->bytes, c->count);
        }
        record = load("Npz", f.data, f.size);
        status = record ? read_all(record) : rec_error_status();
        if (status == REC_OK || !strstr(rec_error_message(), lies[i].words)) {
            fail_msg("%zu, %s: %s", i, lies[i].words, rec_error_message());
        }
        rec_record_free(record);
        rec_free(f.data);
    }
}

/* With `verify = no` what is stored is mapped, and nobody looks at checksums. */
static void long_arrays_are_checked_when_they_are_read(void **state)
{
    rec_record *record = rec_record_new(NULL), *again;
    file f;
    (void)state;
    put(record, "a", REC_DTYPE_U8, 200);
    f = save(record, "Npz", NULL, NULL);
    f.data[DATA_A + 100] ^= 1;
    again = load("Npz", f.data, f.size);
    assert_non_null(again);
    assert_int_equal(read_all(again), REC_E_FORMAT);
    assert_non_null(strstr(rec_error_message(), "a.npy: its bytes do not have the checksum"));
    rec_record_free(again);
    rec_record_free(record);
    rec_free(f.data);
}

static void checksums_can_be_passed_over(void **state)
{
    file f = two_arrays("no");
    rec_recorder *recorder = open_with("Npz", "verify", "no");
    rec_record *record;
    (void)state;
    f.data[DATA_A] ^= 1;
    record = rec_load_bytes(recorder, f.data, f.size);
    assert_non_null(record);
    OK(read_all(record));
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_free(f.data);
}

static void no_prefix_and_no_changed_byte_breaks_the_reader(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        file f = two_arrays(way ? "yes" : "no");
        for (uint64_t size = 0; size < f.size; size++) {
            uint8_t *cut = malloc((size_t)(size ? size : 1)); /* as long as it is, so that a sanitizer sees its end */
            memcpy(cut, f.data, (size_t)size);
            assert_null(load("Npz", cut, size));
            free(cut);
        }
        for (uint64_t at = 0; at < f.size; at++) {
            static const uint8_t masks[] = {1, 0x80, 0xff};
            for (size_t i = 0; i < sizeof masks; i++) {
                rec_record *record;
                f.data[at] ^= masks[i];
                record = load("Npz", f.data, f.size);
                if (record) {
                    (void)read_all(record);
                }
                rec_record_free(record);
                f.data[at] ^= masks[i];
            }
        }
        rec_free(f.data);
    }
}

/* Deflate that is damaged is heard of when it is read, whatever byte it is. */
static void an_array_that_no_tensor_can_hold_is_left_out(void **state)
{
    static const char *const words[][2] = {
        {"'<c8'", "complex numbers"}, {"'|O' ", "Python objects"}, {"'<U1'", "strings"}, {"'|V4'", "raw bytes"}};
    rec_record *record = rec_record_new(NULL), *again;
    rec_recorder *recorder = open_with("Npz", "verify", "no"); /* its bytes are changed */
    file f;
    (void)state;
    OK(rec_set_f32(record, "a", (const float[]){1}, 1, (const uint64_t[]){1}));
    OK(rec_set_f32(record, "b", (const float[]){2}, 1, (const uint64_t[]){1}));
    f = save(record, "Npz", NULL, NULL);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char *descr = NULL;
        for (uint64_t at = 0; at + 5 < f.size && !descr; at++) {
            descr = memcmp(f.data + at, i ? words[i - 1][0] : "'<f4'", 5) == 0 ? (char *)f.data + at : NULL;
        }
        assert_non_null(descr);
        memcpy(descr, words[i][0], 5);
        again = rec_load_bytes(recorder, f.data, f.size);
        if (!again) {
            fail_msg("%s: %s", words[i][1], rec_error_message());
        }
        assert_int_equal(rec_report_count(), 1);
        assert_string_equal(rec_report_note(0)->path, "a");
        assert_non_null(strstr(rec_report_note(0)->text, words[i][1]));
        assert_null(rec_tensor_at(again, "a"));
        assert_non_null(rec_tensor_at(again, "b"));
        rec_record_free(again);
    }
    rec_close_recorder(recorder);
    rec_free(f.data);
    rec_record_free(record);
}

static void compressed_bytes_are_checked(void **state)
{
    rec_record *record = rec_record_new(NULL), *again;
    float numbers[4096];
    file f;
    uint64_t begin = 30 + 5 + 20, end, heard = 0;
    (void)state;
    for (int i = 0; i < 4096; i++) {
        numbers[i] = (float)((unsigned)i * 2654435761u >> 20) / 3;
    }
    OK(rec_set_f32(record, "a", numbers, 1, (const uint64_t[]){4096}));
    f = save(record, "Npz", "compress", "yes");
    end = f.size - 22 - 46 - 5;
    for (uint64_t at = begin; at < end; at++) {
        f.data[at] ^= 0x10;
        again = load("Npz", f.data, f.size);
        if (again && read_all(again) == REC_OK) {
            equal(record, again); /* what is repeated may be repeated from elsewhere */
        } else {
            assert_non_null(strstr(rec_error_message(), "a.npy"));
            heard++;
        }
        rec_record_free(again);
        f.data[at] ^= 0x10;
    }
    assert_true(heard > 1000);
    again = load("Npz", f.data, f.size);
    equal(record, again);
    rec_record_free(again);
    rec_free(f.data);
    rec_record_free(record);
}

static void a_bomb_is_refused_before_it_goes_off(void **state)
{
    rec_context *context = rec_context_new(NULL);
    rec_limits limits = rec_limits_default();
    rec_record *record = rec_record_new(NULL);
    float *zeros = calloc(1 << 20, sizeof *zeros);
    rec_recorder *recorder;
    file f;
    (void)state;
    OK(rec_set_f32(record, "zeros", zeros, 1, (const uint64_t[]){1 << 20}));
    free(zeros);
    f = save(record, "Npz", "compress", "yes");
    assert_true(f.size < 8192);
    limits.inflated_factor = 100;
    limits.inflated_slack = 0;
    OK(rec_context_set_limits(context, &limits));
    recorder = rec_open_recorder_in(context, "Npz", REC_PRECISION_KEEP);
    assert_null(rec_load_bytes(recorder, f.data, f.size));
    assert_int_equal(rec_error_status(), REC_E_LIMIT);
    assert_non_null(strstr(rec_error_message(), "would inflate to 4,194,432 bytes"));
    rec_close_recorder(recorder);
    rec_context_free(context);
    rec_free(f.data);
    rec_record_free(record);
}

/* What 64 bits say must be what 32 bits say. */
static void the_end_in_64_bits_may_lie(void **state)
{
    static const struct {
        const char *words;
        change changes[3];
    } cases[] = {
        {NULL, {{0, "", 0}}},
        {"the two records at the end of the zip archive contradict each other", {{END + 32, "\3", 1}}},
        {"the two records at the end of the zip archive contradict each other", {{END + 40, "\3", 1}}},
        {"the two records at the end of the zip archive contradict each other", {{END + 48, "\3", 1}}},
        {"no valid 64-bit record where the zip archive announces it", {{END + 4, "\3", 1}}},
        {"no valid 64-bit record where the zip archive announces it", {{END, "X", 1}}},
        {"where it cannot be", {{END + 56 + 8, "\xff\xff\xff\xff\xff\xff\xff\xff", 8}}},
        {"a zip archive in several volumes", {{END + 56 + 4, "\1", 1}}},
        {"18,446,744,073,709,551,615 elements are announced",
         {{END + 24, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16},
          {END + 76 + 8, "\xff\xff\xff\xff", 4}}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file f = two_arrays("no");
        uint8_t wide[WHOLE + 76] = {0};
        rec_record *record;
        memcpy(wide, f.data, END);
        memcpy(wide + END, "PK\6\6\x2c", 5);
        wide[END + 24] = wide[END + 32] = 2;
        wide[END + 40] = END - DIRECTORY;
        wide[END + 48] = DIRECTORY & 0xff;
        wide[END + 49] = DIRECTORY >> 8;
        memcpy(wide + END + 56, "PK\6\7", 4);
        wide[END + 64] = END & 0xff;
        wide[END + 65] = END >> 8;
        wide[END + 72] = 1;
        memcpy(wide + END + 76, f.data + END, 22);
        for (const change *c = cases[i].changes; c->count; c++) {
            memcpy(wide + c->at, c->bytes, c->count);
        }
        record = load("Npz", wide, sizeof wide);
        if (!record != !!cases[i].words || (!record && !strstr(rec_error_message(), cases[i].words))) {
            fail_msg("%zu: %s", i, record ? "read" : rec_error_message());
        }
        rec_record_free(record);
        rec_free(f.data);
    }
}

/* `a` and `a.b` are two arrays to NumPy, and no tree has both. */
static void names_below_names_are_taken_whole(void **state)
{
    rec_record *record = rec_record_new(NULL), *again;
    file f, g;
    (void)state;
    put(record, "a", REC_DTYPE_U8, 3);
    put(record, "a-", REC_DTYPE_U8, 3);
    put(record, "a\\.b", REC_DTYPE_U8, 4);
    f = save(record, "Npz", NULL, NULL);
    again = load("Npz", f.data, f.size);
    assert_non_null(again);
    assert_int_equal(rec_report_count(), 1);
    assert_non_null(strstr(rec_report_note(0)->text, "some names are below others"));
    equal(record, again);
    g = save(again, "Npz", NULL, NULL);
    assert_int_equal(f.size, g.size);
    assert_memory_equal(f.data, g.data, (size_t)f.size);
    rec_record_free(again);
    rec_record_free(record);
    rec_free(f.data);
    rec_free(g.data);
}

static void an_archive_may_be_empty(void **state)
{
    rec_record *record = rec_record_new(NULL), *again;
    file f = save(record, "Npz", NULL, NULL);
    (void)state;
    assert_int_equal(f.size, 22);
    again = load("Npz", f.data, f.size);
    assert_non_null(again);
    assert_int_equal(rec_value_count(rec_root(again)), 0);
    rec_record_free(again);
    rec_record_free(record);
    rec_free(f.data);
}

/* The most memory that an archive of so many arrays takes while it is written. */
static uint64_t cost_of(const scratch *s, unsigned count)
{
    static const uint64_t one[] = {1};
    static const float number[] = {1};
    rec_recorder *recorder = rec_open_recorder_in(meter_context, "Npz", REC_PRECISION_KEEP);
    rec_record *record = rec_record_new(meter_context);
    char *path = scratch_path(s, "many.npz"), name[40];
    uint64_t before;
    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(name, sizeof name, "layers.%06u.attention.weight", i);
        OK(rec_set_f32(record, name, number, 1, one));
    }
    OK(rec_recorder_set(recorder, "sync", "no"));
    before = meter_counted.peak = meter_counted.now;
    if (rec_save(recorder, record, path) != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    rec_record_free(record);
    rec_close_recorder(recorder);
    free(path);
    return meter_counted.peak - before;
}

static void a_directory_is_not_in_memory(void **state)
{
    enum { FEW = 1 << 12, MANY = 5 << 12, MOST = 320 };
    scratch *s = scratch_new();
    uint64_t each;
    (void)state;
    assert_int_equal(meter_set_up(NULL), 0);
    each = (cost_of(s, MANY) - cost_of(s, FEW)) / (MANY - FEW);
    print_message("# bytes of an array while it is saved: %u\n", (unsigned)each);
    assert_true(each <= MOST);
    assert_int_equal(meter_tear_down(NULL), 0);
    scratch_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_comes_back),
        cmocka_unit_test(odd_names_come_back),
        cmocka_unit_test(what_arrays_cannot_say_is_told),
        cmocka_unit_test(what_no_array_can_be_is_refused),
        cmocka_unit_test(headers_are_what_numpy_writes),
        cmocka_unit_test(a_header_may_lie_about_itself),
        cmocka_unit_test(elements_are_turned),
        cmocka_unit_test(archives_may_lie),
        cmocka_unit_test(long_arrays_are_checked_when_they_are_read),
        cmocka_unit_test(checksums_can_be_passed_over),
        cmocka_unit_test(no_prefix_and_no_changed_byte_breaks_the_reader),
        cmocka_unit_test(an_array_that_no_tensor_can_hold_is_left_out),
        cmocka_unit_test(compressed_bytes_are_checked),
        cmocka_unit_test(a_bomb_is_refused_before_it_goes_off),
        cmocka_unit_test(the_end_in_64_bits_may_lie),
        cmocka_unit_test(names_below_names_are_taken_whole),
        cmocka_unit_test(an_archive_may_be_empty),
        cmocka_unit_test(a_directory_is_not_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
