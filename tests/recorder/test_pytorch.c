/* SPDX-License-Identifier: MIT OR Apache-2.0
 * PyTorch's own files: what real torch wrote is read with its values, and whatever else a file says, loading ends with
 * a record or a status within its memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glob.h>

#include "librecord.h"

#include "tests/scalar.h"
#include "tests/test_meter.h"

static rec_recorder *open_recorder(const char *key)
{
    rec_recorder *recorder = rec_open_recorder_in(meter_context, "PyTorch", REC_PRECISION_KEEP);
    assert_non_null(recorder);
    assert_int_equal(rec_recorder_set(recorder, "adapter", "none"), REC_OK);
    assert_int_equal(rec_recorder_set(recorder, "top-level-key", key), REC_OK);
    return recorder;
}

static void data_path(char *path, size_t room, const char *below)
{
    const char *srcdir = getenv("srcdir");
    (void)snprintf(path, room, "%s/tests/data/pytorch/%s", srcdir ? srcdir : ".", below);
}

/* --------------------------------------------------------------------------------------- what real torch wrote -- */

/* A type's name in torch's words. */
static const char *torch_name(const char *name)
{
    static const char *const pairs[][2] = {
        {"f64", "float64"},        {"f32", "float32"},   {"f16", "float16"},
        {"bf16", "bfloat16"},      {"i64", "int64"},     {"i32", "int32"},
        {"i16", "int16"},          {"i8", "int8"},       {"u8", "uint8"},
        {"u16", "uint16"},         {"u32", "uint32"},    {"u64", "uint64"},
        {"bool", "bool"},          {"C64", "complex64"}, {"F8_E4M3", "float8_e4m3fn"},
        {"F8_E5M2", "float8_e5m2"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (strcmp(pairs[i][0], name) == 0) {
            return pairs[i][1];
        }
    }
    return name;
}

/* A tensor as a line of the .tsv beside it. */
static void print_tensor(char *line, size_t room, const char *path, const rec_tensor *tensor)
{
    uint64_t size = 0;
    const uint8_t *bytes = rec_tensor_bytes(tensor, &size);
    size_t used = (size_t)snprintf(line, room, "%s\t%s\t", path, torch_name(rec_tensor_dtype_name(tensor)));
    if (!bytes) {
        fail_msg("%s: %s", path, rec_error_message());
    }
    for (uint32_t d = 0; d < rec_tensor_rank(tensor); d++) {
        used += (size_t)snprintf(line + used, room - used, "%s%llu", d ? "," : "",
                                 (unsigned long long)rec_tensor_shape(tensor)[d]);
    }
    used += (size_t)snprintf(line + used, room - used, "\t");
    for (uint64_t i = 0; i < size; i++) {
        used += (size_t)snprintf(line + used, room - used, "%02x", bytes[i]);
    }
    (void)snprintf(line + used, room - used, "\n");
    assert_true(used + 2 < room);
}

static void compare_file(const char *tsv, bool streamed)
{
    char path[1024], expected[4096], found[4096];
    FILE *file = fopen(tsv, "rb");
    rec_recorder *recorder = open_recorder("");
    rec_record *record;
    rec_iterator *iterator;
    const rec_tensor *tensor;
    const char *key;
    assert_non_null(file);
    (void)snprintf(path, sizeof path, "%.*s.pt", (int)(strlen(tsv) - 4), tsv);
    assert_int_equal(rec_recorder_set(recorder, "map", streamed ? "no" : "yes"), REC_OK);
    record = rec_load(recorder, path);
    assert_non_null(fgets(expected, sizeof expected, file));
    if (expected[0] == '!') {
        expected[strlen(expected) - 1] = '\0';
        if (record || !strstr(rec_error_message(), expected + 2)) {
            fail_msg("%s: %s", path, record ? "it loads" : rec_error_message());
        }
    } else {
        if (!record) {
            fail_msg("%s: %s", path, rec_error_message());
        }
        assert_string_equal(rec_recognise(meter_context, path), "PyTorch");
        iterator = rec_iterate(record);
        do {
            tensor = rec_iterator_next_tensor(iterator, &key);
            assert_non_null(tensor);
            print_tensor(found, sizeof found, key, tensor);
            assert_string_equal(found, expected);
        } while (fgets(expected, sizeof expected, file));
        assert_null(rec_iterator_next_tensor(iterator, &key));
        rec_iterator_free(iterator);
    }
    rec_record_free(record);
    rec_close_recorder(recorder);
    (void)fclose(file);
}

static void what_torch_wrote_has_its_values(void **state)
{
    char pattern[1024];
    glob_t found;
    (void)state;
    data_path(pattern, sizeof pattern, "*/*.tsv");
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 30);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        compare_file(found.gl_pathv[i], false);
        compare_file(found.gl_pathv[i], true);
    }
    globfree(&found);
}

static rec_record *load_golden(const char *below, const char *key)
{
    char path[1024];
    rec_recorder *recorder = open_recorder(key);
    rec_record *record;
    data_path(path, sizeof path, below);
    record = rec_load(recorder, path);
    rec_close_recorder(recorder);
    return record;
}

static void tensors_of_one_storage_share_its_bytes(void **state)
{
    rec_record *record = load_golden("1.13.1/zip_shared.pt", "");
    uint64_t size;
    const uint8_t *one, *other, *part;
    (void)state;
    assert_non_null(record);
    one = rec_tensor_bytes(rec_tensor_at(record, "wte"), &size);
    other = rec_tensor_bytes(rec_tensor_at(record, "head"), &size);
    part = rec_tensor_bytes(rec_tensor_at(record, "part"), &size);
    assert_ptr_equal(one, other);
    assert_ptr_equal(one + 12, part);
    rec_record_free(record);
}

/* What a value is, as text. */
static void expect_scalar(const rec_record *record, const char *path, int32_t kind, const char *text)
{
    rec_scalar scalar = scalar_at(record, path);
    char found[64] = "";
    if (scalar.kind != kind) {
        fail_msg("%s is not there, or of kind %d", path, (int)scalar.kind);
    }
    if (kind == REC_KIND_STRING) {
        (void)snprintf(found, sizeof found, "%.*s", (int)scalar.v.length, scalar.text);
    } else if (kind == REC_KIND_FLOAT) {
        (void)snprintf(found, sizeof found, "%g", scalar.v.f);
    } else if (kind == REC_KIND_UINT) {
        (void)snprintf(found, sizeof found, "%llu", (unsigned long long)scalar.v.u);
    } else {
        (void)snprintf(found, sizeof found, "%lld", (long long)scalar.v.i);
    }
    assert_string_equal(found, text);
}

static void values_are_what_python_has(void **state)
{
    rec_record *record = load_golden("1.13.1/zip_values.pt", ".");
    (void)state;
    assert_non_null(record);
    expect_scalar(record, "size.1", REC_KIND_UINT, "3");
    expect_scalar(record, "device.0", REC_KIND_STRING, "cuda");
    expect_scalar(record, "device.1", REC_KIND_UINT, "1");
    expect_scalar(record, "dtype", REC_KIND_STRING, "torch.float16");
    expect_scalar(record, "layout", REC_KIND_STRING, "torch.strided");
    expect_scalar(record, "text", REC_KIND_STRING, "h\xc3\xa9");
    expect_scalar(record, "negative", REC_KIND_INT, "-5");
    expect_scalar(record, "wide", REC_KIND_UINT, "18446744073709551615");
    expect_scalar(record, "true", REC_KIND_BOOL, "1");
    expect_scalar(record, "complex.1", REC_KIND_FLOAT, "2");
    assert_int_equal(rec_value_kind(rec_value_at(record, "none")), REC_KIND_NIL);
    assert_int_equal(rec_value_kind(rec_value_at(record, "bytes")), REC_KIND_BYTES);
    assert_int_equal(rec_value_kind(rec_value_at(record, "t")), REC_KIND_TENSOR);
    rec_record_free(record);
}

static void an_optimizer_is_values(void **state)
{
    rec_record *record = load_golden("1.13.1/zip_optimizer.pt", "");
    (void)state;
    assert_non_null(record);
    expect_scalar(record, "param_groups.0.lr", REC_KIND_FLOAT, "0.5");
    expect_scalar(record, "param_groups.0.params.4", REC_KIND_UINT, "4");
    assert_int_equal(rec_value_kind(rec_value_at(record, "state.0.exp_avg")), REC_KIND_TENSOR);
    rec_record_free(record);
    record = load_golden("1.13.1/zip_lightning.pt", "optimizer_states.0");
    assert_non_null(record);
    expect_scalar(record, "param_groups.0.betas.1", REC_KIND_FLOAT, "0.999");
    rec_record_free(record);
    record = load_golden("1.13.1/zip_lightning.pt", ".");
    assert_non_null(record);
    expect_scalar(record, "hyper_parameters.big", REC_KIND_UINT, "4611686018427387904");
    expect_scalar(record, "epoch", REC_KIND_UINT, "3");
    rec_record_free(record);
    assert_null(load_golden("1.13.1/zip_lightning.pt", "state_dict.nothing"));
    assert_non_null(strstr(rec_error_message(), "there is no `nothing` in the file"));
}

/* --------------------------------------------------------------------------------------------- hostile pickles -- */

/* The three pickles before the one that counts, in the stream before zip. */
static const uint8_t stream_head[] =
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.\x80\x02}.";
static const uint8_t no_storages[] = "\x80\x02].";

/* Loads bytes from memory of exactly their size and reads all of it. @return whether it loaded. */
static bool try_bytes(rec_recorder *recorder, const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    uint64_t before = meter_counted.now;
    rec_record *record;
    bool loaded;
    assert_non_null(exact);
    memcpy(exact, data, size);
    meter_counted.peak = before;
    record = rec_load_bytes(recorder, exact, size);
    loaded = record != NULL;
    if (record) {
        rec_iterator *iterator = rec_iterate(record);
        const rec_tensor *tensor;
        const char *path;
        while ((tensor = rec_iterator_next_tensor(iterator, &path)) != NULL) {
            uint64_t length = 0, sum = 0;
            const uint8_t *bytes = rec_tensor_bytes(tensor, &length);
            for (uint64_t i = 0; bytes && i < length; i++) {
                sum += bytes[i];
            }
            assert_true(sum != 1 || length);
        }
        rec_iterator_free(iterator);
    }
    rec_record_free(record);
    /* Twice what is allowed: what the readers have in their hands while an array grows. */
    if (meter_counted.peak - before > 8 * size + (4u << 20)) {
        fail_msg("%zu bytes needed %llu", size, (unsigned long long)(meter_counted.peak - before));
    }
    assert_int_equal(meter_counted.now, before);
    free(exact);
    return loaded;
}

/* A stream whose main pickle that is. */
static bool try_pickle(rec_recorder *recorder, const void *pickle, size_t length)
{
    size_t size = sizeof stream_head - 1 + length + sizeof no_storages - 1;
    uint8_t *data = malloc(size);
    bool loaded;
    assert_non_null(data);
    memcpy(data, stream_head, sizeof stream_head - 1);
    memcpy(data + sizeof stream_head - 1, pickle, length);
    memcpy(data + size - (sizeof no_storages - 1), no_storages, sizeof no_storages - 1);
    loaded = try_bytes(recorder, data, size);
    free(data);
    return loaded;
}

#define P(text) text, sizeof(text) - 1
#define STORAGE(count)                                     \
    "(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0" \
    "0"                                                    \
    "X\x03\0\0\0"                                          \
    "cpuK" count "tQ"

static const struct {
    const char *pickle;
    size_t length;
    const char *message;
} hostile[] = {
    {P("\x80\x06."), "a pickle of protocol 6"},
    {P("\x80\x02"
       "cos\nsystem\nX\x04\0\0\0true\x85R."),
     "asks for `os.system`"},
    {P("\x80\x04\x8c\x02os\x8c\x06system\x93."), "asks for `os.system`"},
    {P("\x80\x02"
       "cbuiltins\neval\n."),
     "asks for `builtins.eval`"},
    {P("\x80\x02"
       "c__builtin__\neval\n."),
     "asks for `__builtin__.eval`"},
    {P("\x80\x02"
       "ctorch._utils\n_rebuild_tensor_v2.__globals__\n."),
     "asks for `torch._utils._rebuild_tensor_v2.__globals__`"},
    {P("\x80\x02"
       "ctorch\nload\n."),
     "asks for `torch.load`"},
    {P("\x80\x02"
       "c\x1b[31m\xc2\x9b\xff\xc3\xa9\nx\n."),
     "asks for `?[31m??\xc3\xa9.x`"},
    {P("\x80\x02"
       "ctorch\nSize\nK\x01\x85R."),
     "Size is called with an integer"},
    {P("\x80\x02(ios\nsystem\n."), "protocol 0 or 1"},
    {P("\x80\x02I1\n."), "protocol 0 or 1"},
    {P("\x80\x02\x82\x01."), "0x82 is not an operation"},
    {P("\x80\x02R."), "finds too little on the stack"},
    {P("\x80\x02(R."), "finds too little on the stack"},
    {P("\x80\x02t."), "finds too little on the stack"},
    {P("\x80\x02."), "finds too little on the stack"},
    {P("\x80\x02NN."), "more than one thing on the stack"},
    {P("\x80\x02N(."), "finds too little on the stack"},
    {P("\x80\x02K\x01K\x02R."), "calls an integer"},
    {P("\x80\x02h\x00."), "number 0 of its memo"},
    {P("\x80\x02Nr\xff\xff\xff\xff."), "as number 4294967295"},
    {P("\x80\x02]q\x00h\x00"
       "a."),
     "contains itself"},
    {P("\x80\x02}q\x00X\x01\0\0\0kh\x00s."), "contains itself"},
    {P("\x80\x02}(K\x01u."), "would put items into a dictionary"},
    {P("\x80\x02]K\x01K\x02s."), "would put items into a list"},
    {P("\x80\x02X\x02\0\0\0\xff\xfe."), "not UTF-8"},
    {P("\x80\x02X\xff\xff\xff\x7f."), "the end of the file"},
    {P("\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xffN."), "the end of the file"},
    {P("\x80\x02}K\x01K\x02\x86N"
       "s."),
     "a tuple as a key"},
    {P("\x80\x02}(X\x01\0\0\0kNX\x01\0\0\0kNu."), "twice"},
    {P("\x80\x02\x8a\x09\0\0\0\0\0\0\0\0\x02."), "more than 64 bits"},
    {P("\x80\x02" STORAGE("\x01") "."), "the storage `0` is not in the file"},
    {P("\x80\x02K\x01Q."), "a tuple that names a storage"},
    {P("\x80\x02"
       "X\x06\0\0\0moduleNN\x87Q."),
     "the class of a module"},
    {P("\x80\x02"
       "ctorch._utils\n_rebuild_tensor_v2\nN\x85R."),
     "_rebuild_tensor_v2 is called"},
    {P("\x80\x02"
       "ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE("\x01") "J\xff\xff\xff\xff))\x89}tR."),
     "a number from 0 on"},
    {P("\x80\x02"
       "ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE("\x01") "K\0K\x01\x85)\x89}tR."),
     "as many strides as sizes"},
    {P("\x80\x02"
       "ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_tensor_v2\ncmine\nOwn\n)}tR."),
     "a tensor of the class `mine.Own`"},
    {P("\x80\x02"
       "ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._tensor\n_rebuild_from_type_v2\nctorch\nTensor\n)}tR."),
     "a function that makes a tensor"},
    {P("\x80\x02"
       "c_codecs\nencode\nX\x02\0\0\0\xc4\x80X\x06\0\0\0latin1\x86R."),
     "characters below 256"},
};

static void hostile_pickles_are_refused(void **state)
{
    rec_recorder *recorder = open_recorder(".");
    (void)state;
    /* For the message about the first such file the context opens all plugins, and keeps them. */
    assert_null(rec_load_bytes(recorder, no_storages, sizeof no_storages - 1));
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        if (try_pickle(recorder, hostile[i].pickle, hostile[i].length)) {
            fail_msg("number %zu (%s) loads", i, hostile[i].message);
        } else if (!strstr(rec_error_message(), hostile[i].message)) {
            fail_msg("number %zu: `%s` instead of `%s`", i, rec_error_message(), hostile[i].message);
        }
    }
    rec_close_recorder(recorder);
}

static void what_is_meant_too_often_is_refused(void **state)
{
    /* Each list has the one before it twice: 2^60 values. */
    uint8_t pickle[1024] = "\x80\x02]q\x00";
    size_t used = 5;
    rec_recorder *recorder = open_recorder(".");
    (void)state;
    for (uint8_t i = 0; i < 60; i++) {
        const uint8_t more[] = {']', 'q', (uint8_t)(i + 1), '(', 'h', i, 'h', i, 'e'};
        memcpy(pickle + used, more, sizeof more);
        used += sizeof more;
    }
    memcpy(pickle + used, "\x85.", 2); /* the last one in a tuple; those before it are left on the stack */
    assert_false(try_pickle(recorder, pickle, used + 2));
    /* As one value: the others are taken off. */
    used = 5;
    for (uint8_t i = 0; i < 60; i++) {
        const uint8_t more[] = {'0', ']', 'q', (uint8_t)(i + 1), '(', 'h', i, 'h', i, 'e'};
        memcpy(pickle + used, more, sizeof more);
        used += sizeof more;
    }
    pickle[used++] = '.';
    assert_false(try_pickle(recorder, pickle, used));
    assert_int_equal(rec_error_status(), REC_E_LIMIT);
    rec_close_recorder(recorder);
}

static void what_is_nested_too_deep_is_refused(void **state)
{
    uint8_t pickle[3 * 5000 + 3] = "\x80\x02";
    size_t used = 2;
    rec_recorder *recorder = open_recorder(".");
    (void)state;
    pickle[used++] = 'N';
    for (int i = 0; i < 5000; i++) {
        pickle[used++] = 0x85;
    }
    pickle[used++] = '.';
    assert_false(try_pickle(recorder, pickle, used));
    assert_int_equal(rec_error_status(), REC_E_LIMIT);
    rec_close_recorder(recorder);
}

/* A stream with one storage of `count` floats, and a tensor of that size, stride and offset. */
static bool try_tensor(rec_recorder *recorder, const char *sizes, size_t sizes_length, const char *strides,
                       size_t strides_length, const char *offset, size_t offset_length)
{
    uint8_t data[512];
    size_t used = 0;
#define PUT(text, length) (memcpy(data + used, text, length), used += (length))
    PUT(stream_head, sizeof stream_head - 1);
    PUT("\x80\x02"
        "ctorch._utils\n_rebuild_tensor_v2\n(",
        36);
    PUT(STORAGE("\x02"), sizeof STORAGE("\x02") - 1);
    PUT(offset, offset_length);
    PUT(sizes, sizes_length);
    PUT(strides, strides_length);
    PUT("\x89}tR.", 5);
    PUT("\x80\x02]X\x01\0\0\0"
        "0"
        "a.",
        11);
    PUT("\x02\0\0\0\0\0\0\0"
        "abcdefgh",
        16);
#undef PUT
    return try_bytes(recorder, data, used);
}

static void tensors_lie_within_their_storage(void **state)
{
#define ONE(n) "K" n "\x85"
#define HUGE "\x8a\x08\0\0\0\0\0\0\0\x40"
    static const struct {
        const char *sizes;
        size_t sizes_length;
        const char *strides;
        size_t strides_length;
        const char *offset;
        size_t offset_length;
        bool fits;
    } cases[] = {
        {P(ONE("\x02")), P(ONE("\x01")), P("K\0"), true},
        {P(ONE("\x03")), P(ONE("\x01")), P("K\0"), false},
        {P(ONE("\x02")), P(ONE("\x01")), P("K\1"), false},
        {P(ONE("\x02")), P(ONE("\x02")), P("K\0"), false},
        {P(ONE("\x01")), P(ONE("\x63")), P("K\1"), true},
        {P(ONE("\x09")), P(ONE("\x00")), P("K\1"), true}, /* expanded */
        {P(ONE("\x00")), P(ONE("\x01")), P("K\2"), true},
        {P(ONE("\x00")), P(ONE("\x01")), P("K\3"), false},
        {P(")"), P(")"), P("K\1"), true},
        {P(")"), P(")"), P("K\2"), false},
        {P(HUGE "\x85"), P(ONE("\x00")), P("K\0"), false},       /* 2^62 elements of 4 bytes */
        {P(HUGE HUGE "\x86"), P("K\0K\0\x86"), P("K\0"), false}, /* 2^124 elements */
        {P(ONE("\x03")), P(HUGE "\x85"), P("K\0"), false},
        {P("K\x05K\x05\x86"), P(HUGE HUGE "\x86"), P("K\0"), false}, /* the reach overflows */
        {P(ONE("\x02")), P(ONE("\x01")), P(HUGE), false},
    };
    rec_recorder *recorder = open_recorder(".");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool fits = try_tensor(recorder, cases[i].sizes, cases[i].sizes_length, cases[i].strides,
                               cases[i].strides_length, cases[i].offset, cases[i].offset_length);
        if (fits != cases[i].fits) {
            fail_msg("number %zu: %s", i, fits ? "it loads" : rec_error_message());
        }
    }
    rec_close_recorder(recorder);
}

/* ----------------------------------------------------------------------------------------------- damaged files -- */

static uint8_t *read_golden(const char *below, size_t *size)
{
    char path[1024];
    FILE *file;
    uint8_t *data;
    data_path(path, sizeof path, below);
    file = fopen(path, "rb");
    assert_non_null(file);
    (void)fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    data = malloc(*size);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *size, file), *size);
    (void)fclose(file);
    return data;
}

static const char *const damaged[] = {"1.13.1/legacy_views.pt", "1.13.1/zip_shared.pt", "1.13.1/zip_deflated.pt",
                                      "1.13.1/zip_optimizer.pt", "2.8.0/new_types.pt"};

static void every_prefix_is_refused(void **state)
{
    rec_recorder *recorder = open_recorder(".");
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        size_t size;
        uint8_t *data = read_golden(damaged[i], &size);
        for (size_t length = 0; length < size; length++) {
            if (try_bytes(recorder, data, length)) {
                fail_msg("the first %zu bytes of %s load", length, damaged[i]);
            }
        }
        assert_true(try_bytes(recorder, data, size));
        free(data);
    }
    rec_close_recorder(recorder);
}

static void every_changed_byte_ends_well(void **state)
{
    static const uint8_t changes[] = {0x01, 0x80, 0xff};
    rec_recorder *recorder = open_recorder(".");
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        size_t size;
        uint8_t *data = read_golden(damaged[i], &size);
        for (size_t at = 0; at < size; at++) {
            for (size_t c = 0; c < sizeof changes; c++) {
                data[at] ^= changes[c];
                (void)try_bytes(recorder, data, size);
                data[at] ^= changes[c];
            }
        }
        free(data);
    }
    rec_close_recorder(recorder);
}

static void checksums_are_verified_where_asked(void **state)
{
    size_t size;
    uint8_t *data = read_golden("1.13.1/zip_shared.pt", &size);
    rec_recorder *recorder = open_recorder("");
    size_t at = 0;
    (void)state;
    while (memcmp(data + at, "\0\0\x80\x3f\0\0\0\x40", 8) != 0) { /* 1.0 and 2.0 */
        at++;
        assert_true(at + 8 < size);
    }
    data[at + 2] ^= 1;
    assert_true(try_bytes(recorder, data, size));
    assert_int_equal(rec_recorder_set(recorder, "crc", "yes"), REC_OK);
    assert_false(try_bytes(recorder, data, size));
    assert_non_null(strstr(rec_error_message(), "bytes do not have the checksum"));
    rec_close_recorder(recorder);
    free(data);
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

static bool all_were_there; /* of the last round: fewer allocations than the one that was to fail */

/* Loads, saves and loads again with one allocation that fails. @return whether all went well. */
static bool go_round(const uint8_t *data, size_t size, int64_t fail_at)
{
    rec_recorder *recorder = open_recorder("");
    rec_record *record, *again = NULL;
    void *saved = NULL;
    uint64_t length = 0;
    meter_left = fail_at;
    record = rec_load_bytes(recorder, data, size);
    if (record && rec_save_bytes(recorder, record, &saved, &length) == REC_OK) {
        again = rec_load_bytes(recorder, saved, length);
    }
    all_were_there = meter_left >= 0;
    meter_left = -1;
    if (!again) {
        assert_int_equal(rec_error_status(), REC_E_MEMORY);
    }
    rec_free(saved);
    rec_record_free(record);
    rec_record_free(again);
    rec_close_recorder(recorder);
    return again != NULL;
}

static void each_allocation_may_fail(void **state)
{
    static const char *const files[] = {"1.13.1/zip_lightning.pt", "1.13.1/legacy_views.pt", "1.13.1/zip_optimizer.pt"};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t size;
        uint8_t *data = read_golden(files[i], &size);
        uint64_t before;
        int64_t fail_at = 0;
        assert_true(go_round(data, size, -1));
        before = meter_counted.now;
        while (!go_round(data, size, fail_at)) {
            assert_int_equal(meter_counted.now, before);
            fail_at++;
        }
        assert_true(fail_at > 20);
        free(data);
    }
}

/* A tensor in a dictionary in a dictionary, whose path a first piece of memory does not hold. */
static void a_long_path_may_find_no_memory(void **state)
{
    static const char begin[] = "\x80\x02}X\x04\0\0\0part}X\x2c\x01\0\0", /* 300 characters */
        tensor[] = "ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE("\x02") "K\0K\x02\x85K\x01\x85\x89}tRs",
                      second[] = "sX\x01\0\0\0w", /* beside it, so that both are the model */
        storages[] = "\x80\x02]X\x01\0\0\0"
                     "0a.\x02\0\0\0\0\0\0\0abcdefgh";
    char data[1024];
    size_t size = 0;
    uint64_t before;
    int64_t fail_at = 0;
    (void)state;
#define PUT(bytes)                                 \
    memcpy(data + size, bytes, sizeof(bytes) - 1); \
    size += sizeof(bytes) - 1;
    memcpy(data, stream_head, sizeof stream_head - 1);
    size = sizeof stream_head - 1;
    PUT(begin)
    memset(data + size, 'k', 300);
    size += 300;
    PUT(tensor)
    PUT(second)
    PUT(tensor)
    data[size++] = '.';
    PUT(storages)
#undef PUT
    assert_true(go_round((uint8_t *)data, size, -1));
    before = meter_counted.now;
    do { /* until none is left that could fail */
        (void)go_round((uint8_t *)data, size, fail_at++);
        assert_int_equal(meter_counted.now, before);
    } while (!all_were_there);
    assert_true(fail_at > 20);
}

/* Tensors that are the same bytes of a file, twice two of them, behind one that is alone: each two have one storage,
 * and nobody has another's. */
static void tensors_that_share_bytes_are_written_once(void **state)
{
    static const uint64_t shape[] = {1};
    static const float one[] = {1};
    rec_record *shared = load_golden("1.13.1/zip_shared.pt", "."), *record = rec_record_new(meter_context), *again;
    const struct {
        const char *path;
        const rec_value *value;
    } copies[] = {{"a", rec_value_at(shared, "part")},
                  {"b", rec_value_at(shared, "wte")},
                  {"a2", rec_value_at(shared, "part")},
                  {"b2", rec_value_at(shared, "head")}};
    rec_recorder *recorder = open_recorder("");
    const uint8_t *bytes[4];
    void *data = NULL;
    uint64_t size = 0;
    (void)state;
    assert_int_equal(rec_set_f32(record, "alone", one, 1, shape), REC_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(rec_set_value(record, copies[i].path, copies[i].value), REC_OK);
    }
    assert_int_equal(rec_save_bytes(recorder, record, &data, &size), REC_OK);
    again = rec_load_bytes(recorder, data, size);
    assert_non_null(again);
    assert_int_equal(rec_tensor_f32(rec_tensor_at(again, "alone"))[0], 1);
    for (size_t i = 0; i < 4; i++) {
        uint64_t length, expected;
        bytes[i] = rec_tensor_bytes(rec_tensor_at(again, copies[i].path), &length);
        assert_non_null(bytes[i]);
        const void *had = rec_tensor_bytes(rec_tensor_at(record, copies[i].path), &expected);
        assert_int_equal(length, expected);
        assert_memory_equal(bytes[i], had, (size_t)expected);
    }
    assert_ptr_equal(bytes[0], bytes[2]);
    assert_ptr_equal(bytes[1], bytes[3]);
    assert_ptr_not_equal(bytes[0], bytes[1]);
    rec_record_free(again);
    rec_free(data);
    rec_record_free(record);
    rec_record_free(shared);
    rec_close_recorder(recorder);
}

static void what_is_written_comes_back(void **state)
{
    static const char *const files[] = {"1.13.1/zip_types.pt", "1.13.1/zip_views.pt", "1.13.1/zip_values.pt",
                                        "1.13.1/zip_optimizer.pt", "2.8.0/new_types.pt"};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        rec_recorder *recorder = open_recorder("");
        rec_record *record = load_golden(files[i], "."), *again;
        rec_iterator *iterator, *other;
        const rec_value *value, *found;
        const char *path, *same;
        void *data = NULL, *twice = NULL;
        uint64_t size = 0, more = 0;
        assert_non_null(record);
        assert_int_equal(rec_save_bytes(recorder, record, &data, &size), REC_OK);
        assert_int_equal(rec_save_bytes(recorder, record, &twice, &more), REC_OK);
        assert_int_equal(size, more);
        assert_memory_equal(data, twice, (size_t)size);
        again = rec_load_bytes(recorder, data, size);
        if (!again) {
            fail_msg("%s: %s", files[i], rec_error_message());
        }
        iterator = rec_iterate(record);
        other = rec_iterate(again);
        while ((value = rec_iterator_next(iterator, &path)) != NULL) {
            const rec_tensor *tensor = rec_value_tensor(value);
            found = rec_iterator_next(other, &same);
            assert_non_null(found);
            assert_string_equal(path, same);
            assert_int_equal(rec_value_kind(value), rec_value_kind(found));
            if (tensor) {
                char line[4096], expected[4096];
                print_tensor(expected, sizeof expected, path, tensor);
                print_tensor(line, sizeof line, path, rec_value_tensor(found));
                assert_string_equal(line, expected);
            } else {
                rec_scalar a = rec_value_scalar(value), b = rec_value_scalar(found);
                assert_int_equal(a.kind, b.kind);
                assert_int_equal(a.v.u, b.v.u);
            }
        }
        assert_null(rec_iterator_next(other, &same));
        rec_iterator_free(iterator);
        rec_iterator_free(other);
        rec_record_free(record);
        rec_record_free(again);
        rec_close_recorder(recorder);
        rec_free(data);
        rec_free(twice);
    }
}

/* Records of any shape that are no models: each comes back as it is. */
static void what_is_no_model_stays_what_it_is(void **state)
{
    const float data[] = {1, 2, 3, 4};
    const uint64_t shape[] = {2, 2};
    rec_record *record = rec_record_new(meter_context), *again;
    rec_recorder *recorder = open_recorder("");
    void *bytes = NULL;
    uint64_t size = 0;
    (void)state;
    assert_int_equal(rec_set_f32(record, "fc.weight", data, 2, shape), REC_OK);
    assert_int_equal(rec_set_int(record, "large", INT64_MIN), REC_OK);
    assert_int_equal(rec_set_int(record, "medium", -(INT64_C(1) << 39)), REC_OK);
    assert_int_equal(rec_set_uint(record, "most", UINT64_MAX), REC_OK);
    assert_int_equal(rec_set_uint(record, "narrow", UINT32_MAX), REC_OK);
    assert_int_equal(rec_set_string(record, "a\\.b", "dotted"), REC_OK);
    assert_int_equal(rec_save_bytes(recorder, record, &bytes, &size), REC_OK);
    again = rec_load_bytes(recorder, bytes, size);
    assert_non_null(again);
    assert_int_equal(rec_value_form(rec_root(again)), REC_FORM_MAP);
    expect_scalar(again, "large", REC_KIND_INT, "-9223372036854775808");
    expect_scalar(again, "medium", REC_KIND_INT, "-549755813888");
    expect_scalar(again, "most", REC_KIND_UINT, "18446744073709551615");
    expect_scalar(again, "narrow", REC_KIND_UINT, "4294967295");
    expect_scalar(again, "a\\.b", REC_KIND_STRING, "dotted");
    assert_non_null(rec_tensor_at(again, "fc.weight"));
    rec_record_free(record);
    rec_record_free(again);
    rec_free(bytes);
    rec_close_recorder(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_torch_wrote_has_its_values),
        cmocka_unit_test(tensors_of_one_storage_share_its_bytes),
        cmocka_unit_test(values_are_what_python_has),
        cmocka_unit_test(an_optimizer_is_values),
        cmocka_unit_test(hostile_pickles_are_refused),
        cmocka_unit_test(what_is_meant_too_often_is_refused),
        cmocka_unit_test(what_is_nested_too_deep_is_refused),
        cmocka_unit_test(tensors_lie_within_their_storage),
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(every_changed_byte_ends_well),
        cmocka_unit_test(checksums_are_verified_where_asked),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(a_long_path_may_find_no_memory),
        cmocka_unit_test(tensors_that_share_bytes_are_written_once),
        cmocka_unit_test(what_is_written_comes_back),
        cmocka_unit_test(what_is_no_model_stays_what_it_is),
    };
    return cmocka_run_group_tests(tests, meter_set_up, meter_tear_down);
}
