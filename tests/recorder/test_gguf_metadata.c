/* SPDX-License-Identifier: MIT OR Apache-2.0
 * GGUF's metadata: what each value becomes, to the byte, what is left out and told, and each mistake of a header with
 * its place; what a file of tensors does not hold, and parts of a model that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "librecord.h"
#include "tests/message.h"

static rec_recorder *open_gguf(void)
{
    rec_recorder *r = rec_open_recorder("Gguf", REC_PRECISION_KEEP);
    if (!r || rec_recorder_set(r, "adapter", "none") != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    return r;
}

/* ----------------------------------------------------------------------------------------------------- written -- */

#define INT(number, width) {.kind = REC_KIND_INT, .bits = (width), .v.i = (number)}
#define UINT(number, width) {.kind = REC_KIND_UINT, .bits = (width), .v.u = (number)}
#define FLOAT(number, width) {.kind = REC_KIND_FLOAT, .bits = (width), .v.f = (number)}
#define BOOL(yes) {.kind = REC_KIND_BOOL, .v.i = (yes)}
#define TEXT(words) {.kind = REC_KIND_STRING, .v.length = sizeof(words) - 1, .text = (words)}
#define V(...) {"v", __VA_ARGS__}
#define NIL {.kind = REC_KIND_NIL}

/* What makes a value, by its path, and the value's type and bytes in the file; NULL: it is left out. */
static const struct {
    struct {
        const char *path;
        rec_scalar scalar;
    } made[3];
    const char *bytes;
    size_t size;
} values[] = {
#define B(text) text, sizeof(text) - 1
    {{V(INT(-1, 8))}, B("\1\0\0\0\xff")},
    {{V(INT(-2, 16))}, B("\3\0\0\0\xfe\xff")},
    {{V(INT(-2, 32))}, B("\5\0\0\0\xfe\xff\xff\xff")},
    {{V(INT(-2, 64))}, B("\x0b\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff")},
    {{V(INT(INT32_MIN, 0))}, B("\5\0\0\0\0\0\0\x80")},
    {{V(INT(INT64_C(-2147483649), 0))}, B("\x0b\0\0\0\xff\xff\xff\x7f\xff\xff\xff\xff")},
    {{V(UINT(200, 8))}, B("\0\0\0\0\xc8")},
    {{V(UINT(200, 16))}, B("\2\0\0\0\xc8\0")},
    {{V(UINT(200, 32))}, B("\4\0\0\0\xc8\0\0\0")},
    {{V(UINT(200, 64))}, B("\x0a\0\0\0\xc8\0\0\0\0\0\0\0")},
    {{V(UINT(UINT32_MAX, 0))}, B("\4\0\0\0\xff\xff\xff\xff")},
    {{V(UINT(UINT64_C(4294967296), 0))}, B("\x0a\0\0\0\0\0\0\0\1\0\0\0")},
    {{V(FLOAT(0.5, 32))}, B("\6\0\0\0\0\0\0\x3f")},
    {{V(FLOAT(0.5, 64))}, B("\x0c\0\0\0\0\0\0\0\0\0\xe0\x3f")},
    {{V(FLOAT(0.5, 0))}, B("\6\0\0\0\0\0\0\x3f")},
    {{V(FLOAT(1 + 0x1p-30, 0))}, B("\x0c\0\0\0\0\0\x40\0\0\0\xf0\x3f")},
    {{V(BOOL(1))}, B("\7\0\0\0\1")},
    {{V(TEXT("ab"))}, B("\x08\0\0\0\2\0\0\0\0\0\0\0ab")},
    {{V(NIL)}, NULL, 0},
    /* lists */
    {{{"v.0", UINT(1, 0)}, {"v.1", UINT(2, 0)}}, B("\x09\0\0\0\5\0\0\0\2\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0")},
    {{{"v.0", UINT(1, 0)}, {"v.1", INT(-2, 0)}}, B("\x09\0\0\0\5\0\0\0\2\0\0\0\0\0\0\0\1\0\0\0\xfe\xff\xff\xff")},
    {{{"v.0", UINT(1, 0)}, {"v.1", UINT(UINT32_MAX, 0)}},
     B("\x09\0\0\0\4\0\0\0\2\0\0\0\0\0\0\0\1\0\0\0\xff\xff\xff\xff")},
    {{{"v.0", UINT(UINT64_MAX, 0)}}, B("\x09\0\0\0\x0a\0\0\0\1\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff")},
    {{{"v.0", UINT(UINT32_MAX, 0)}, {"v.1", INT(-1, 0)}},
     B("\x09\0\0\0\x0b\0\0\0\2\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff")},
    {{{"v.0", INT(INT64_MIN, 0)}}, B("\x09\0\0\0\x0b\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80")},
    {{{"v.0", UINT(UINT64_MAX, 0)}, {"v.1", INT(-1, 0)}}, NULL, 0}, /* no type has both */
    {{{"v.0", FLOAT(0.5, 32)}, {"v.1", FLOAT(0.25, 32)}},
     B("\x09\0\0\0\6\0\0\0\2\0\0\0\0\0\0\0\0\0\0\x3f\0\0\x80\x3e")},
    {{{"v.0", FLOAT(0.5, 32)}, {"v.1", FLOAT(1 + 0x1p-30, 0)}},
     B("\x09\0\0\0\x0c\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\xe0\x3f\0\0\x40\0\0\0\xf0\x3f")},
    {{{"v.0", FLOAT(1 + 0x1p-30, 0)}, {"v.1", FLOAT(0.5, 0)}},
     B("\x09\0\0\0\x0c\0\0\0\2\0\0\0\0\0\0\0\0\0\x40\0\0\0\xf0\x3f\0\0\0\0\0\0\xe0\x3f")},
    {{{"v.0", BOOL(0)}, {"v.1", BOOL(1)}}, B("\x09\0\0\0\7\0\0\0\2\0\0\0\0\0\0\0\0\1")},
    {{{"v.0", TEXT("a")}, {"v.1", TEXT("")}},
     B("\x09\0\0\0\x08\0\0\0\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0a\0\0\0\0\0\0\0\0")},
    {{{"v.0.0", UINT(1, 0)}, {"v.0.1", UINT(2, 0)}, {"v.1.0", UINT(3, 0)}},
     B("\x09\0\0\0\x09\0\0\0\2\0\0\0\0\0\0\0\5\0\0\0\2\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\5\0\0\0\1\0\0\0\0\0\0\0\3\0\0\0")},
    {{{"v.0", UINT(1, 0)}, {"v.1", FLOAT(0.5, 0)}}, NULL, 0},
    {{{"v.0", TEXT("a")}, {"v.1", UINT(1, 0)}}, NULL, 0},
    {{{"v.0", UINT(1, 0)}, {"v.1.0", UINT(1, 0)}, {"v.1.1", UINT(1, 0)}}, NULL, 0},
    {{{"v.0.0", UINT(1, 0)}, {"v.1", UINT(1, 0)}, {"v.2", NIL}}, NULL, 0},
    {{{"v.0", BOOL(1)}, {"v.1", NIL}}, NULL, 0},
    {{{"v.a", UINT(1, 0)}, {"v.b.0", UINT(1, 0)}, {"v.b.1", TEXT("x")}}, NULL, 0},
    {{{"v.0.a", UINT(1, 0)}, {"v.0.b", TEXT("x")}, {"v.1", UINT(1, 0)}}, NULL, 0},
};

/* A record with a tensor and those metadata under a key. */
static rec_record *record_of(size_t i, const char *key)
{
    rec_record *made = rec_record_new(NULL), *record = rec_record_new(NULL);
    assert_true(made && record);
    for (size_t k = 0; k < 3 && values[i].made[k].path; k++) {
        if (rec_set_scalar(made, values[i].made[k].path, values[i].made[k].scalar) != REC_OK) {
            fail_msg("%zu: %s", i, rec_error_message());
        }
    }
    assert_int_equal(rec_set_f32(record, "w", (const float[]){1}, 1, (const uint64_t[]){1}), REC_OK);
    assert_int_equal(rec_metadata_set_value(record, key, rec_value_at(made, "v")), REC_OK);
    rec_record_free(made);
    return record;
}

static void each_value_has_its_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        static const char left_out[] =
            "1 metadata entry with maps, bytes or lists of mixed values, which GGUF does not have: "
            "left out (`key`)";
        rec_recorder *r = open_gguf();
        rec_record *record = record_of(i, "key"), *again;
        void *data = NULL;
        uint64_t size = 0;
        const char *at, *note = "";
        if (rec_save_bytes(r, record, &data, &size) != REC_OK) {
            fail_msg("%zu: %s", i, rec_error_message());
        }
        for (uint64_t k = 0; k < rec_report_count(); k++) {
            note = strstr(rec_report_note(k)->text, "metadata") ? rec_report_note(k)->text : note;
        }
        if (strcmp(note, values[i].bytes ? "" : left_out) != 0) {
            fail_msg("%zu: %s", i, note);
        }
        at = memmem(data, (size_t)size, "\3\0\0\0\0\0\0\0key", 11);
        assert_true((at != NULL) == (values[i].bytes != NULL));
        if (at && memcmp(at + 11, values[i].bytes, values[i].size) != 0) {
            fail_msg("%zu has other bytes", i);
        }
        again = rec_load_bytes(r, data, size);
        if (!again) {
            fail_msg("%zu: %s", i, rec_error_message());
        }
        assert_true((rec_metadata_value(again, "key") != NULL) == (values[i].bytes != NULL));
        rec_record_free(again);
        rec_free(data);
        rec_record_free(record);
        rec_close_recorder(r);
    }
}

/* How tensors lie is a number, a power of two; anything else would make a file that nobody reads. */
static void an_alignment_is_a_power_of_two(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        rec_recorder *r = open_gguf();
        rec_record *record = record_of(i, "general.alignment");
        void *data = NULL;
        uint64_t size;
        if (rec_save_bytes(r, record, &data, &size) != REC_E_UNSUPPORTED) {
            fail_msg("%zu is taken for an alignment", i);
        }
        assert_non_null(
            strstr(rec_error_message(), "the metadata entry general.alignment is not a power of two from 8 on"));
        assert_string_equal(rec_error_hint(),
                            "GGUF takes it for how tensors lie in the file: remove it, or give it such a number.");
        rec_record_free(record);
        rec_close_recorder(r);
    }
    for (uint64_t alignment = 4; alignment <= 1024; alignment += alignment < 8 || alignment == 64 ? 4 : alignment) {
        rec_recorder *r = open_gguf();
        rec_record *record = rec_record_new(NULL), *made = rec_record_new(NULL), *again;
        void *data = NULL;
        uint64_t size = 0;
        bool good = alignment >= 8 && (alignment & (alignment - 1)) == 0;
        assert_true(record && made);
        assert_int_equal(rec_set_uint(made, "v", alignment), REC_OK);
        assert_int_equal(rec_set_f32(record, "a", (const float[]){1}, 1, (const uint64_t[]){1}), REC_OK);
        assert_int_equal(rec_set_f32(record, "b", (const float[]){2}, 1, (const uint64_t[]){1}), REC_OK);
        assert_int_equal(rec_metadata_set_value(record, "general.alignment", rec_value_at(made, "v")), REC_OK);
        assert_true((rec_save_bytes(r, record, &data, &size) == REC_OK) == good);
        if (good) {
            assert_int_equal(size % alignment, 0);
            again = rec_load_bytes(r, data, size);
            assert_non_null(again);
            assert_true(rec_tensor_f32(rec_tensor_at(again, "b"))[0] == 2);
            assert_int_equal(rec_value_scalar(rec_metadata_value(again, "general.alignment")).v.u, alignment);
            rec_record_free(again);
        }
        rec_free(data);
        rec_record_free(made);
        rec_record_free(record);
        rec_close_recorder(r);
    }
}

/* What no flat file of tensors holds. */
static void what_is_no_tensor_is_refused(void **state)
{
    static const uint64_t shape[] = {1, 1, 1, 1, 2};
    static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const char hint[] =
        "GGUF holds tensors and metadata, nothing else: save the record as MessagePack (NamedMpk) or "
        "safetensors, which hold all of it.";
    static const char types[] = "It has f64, f32, f16, bf16, i64, i32, i16, i8 and ggml's own blocks.";
    (void)state;
    for (int i = 0; i < 6; i++) {
        rec_recorder *r = open_gguf();
        rec_record *record = rec_record_new(NULL);
        rec_tensor_spec spec = {.size = sizeof spec,
                                .dtype = i == 2 ? REC_DTYPE_U8 : REC_DTYPE_F32,
                                .rank = i == 3 ? 5 : 1,
                                .shape = i == 3 ? shape : shape + 4,
                                .data = bytes,
                                .data_size = i == 2 ? 2 : 8};
        const char *words = NULL, *helps = hint;
        void *data = NULL;
        uint64_t size;
        assert_non_null(record);
        assert_int_equal(rec_set_f32(record, "z", (const float[]){1}, 1, shape), REC_OK);
        switch (i) {
        case 0:
            assert_int_equal(rec_set_uint(record, "a.b", 5), REC_OK);
            words = "expected tensors, found a value that is not a tensor at `a.b`";
            break;
        case 1:
            assert_int_equal(rec_set_string(record, "a.0", "x"), REC_OK);
            words = "expected tensors, found a value that is not a tensor at `a.0`";
            break;
        case 2:
            assert_int_equal(rec_set_tensor(record, "a", &spec), REC_OK);
            words = "expected an element type that GGUF has, found u8 at `a`";
            helps = types;
            break;
        case 3:
            assert_int_equal(rec_set_tensor(record, "a", &spec), REC_OK);
            words = "expected tensors, found a tensor of more than 4 dimensions, which GGUF does not have, at `a`";
            break;
        case 4:
            assert_int_equal(rec_set_tensor(record, "a.b", &spec), REC_OK);
            assert_int_equal(rec_set_tensor(record, "a\\.b", &spec), REC_OK);
            words = "two tensors would be called a.b in GGUF";
            helps = "";
            break;
        default: /* what holds nothing is passed over */
            assert_int_equal(rec_set_nil(record, "a"), REC_OK);
            assert_int_equal(rec_set_empty(record, "b", REC_KIND_LIST), REC_OK);
            assert_int_equal(rec_set_tensor(record, "c.0", &spec), REC_OK);
            assert_int_equal(rec_set_tensor(record, "c.1.x", &spec), REC_OK);
            break;
        }
        if (words) {
            assert_int_equal(rec_save_bytes(r, record, &data, &size), REC_E_UNSUPPORTED);
            if (!strstr(rec_error_message(), words) || strcmp(rec_error_hint(), helps) != 0) {
                fail_msg("expected %s\nfound %s", words, rec_error_message());
            }
        } else {
            rec_record *again;
            assert_int_equal(rec_save_bytes(r, record, &data, &size), REC_OK);
            again = rec_load_bytes(r, data, size);
            assert_non_null(again);
            assert_true(rec_tensor_at(again, "z") && rec_tensor_at(again, "c.0") && rec_tensor_at(again, "c.1.x"));
            rec_record_free(again);
        }
        rec_free(data);
        rec_record_free(record);
        rec_close_recorder(r);
    }
}

/* -------------------------------------------------------------------------------------------------------- read -- */

#define N8(byte) byte "\0\0\0\0\0\0\0"
#define N4(byte) byte "\0\0\0"
#define HEADER(tensors, entries) "GGUF" N4("\3") N8(tensors) N8(entries)
#define ENTRY(type) HEADER("\0", "\1") N8("\1") "k" N4(type)
#define ALIGNMENT(type) HEADER("\0", "\1") N8("\x11") "general.alignment" N4(type)
#define SPLIT(name, length) N8(length) "split." name

static const struct {
    const char *data;
    size_t size;
    const char *words; /* NULL: it is read */
} mistakes[] = {
    {B(HEADER("\0", "\0")), NULL},
    {B("GGUF"), "byte 4: expected a GGUF header, found 0 bytes before the end of the file"},
    {B("GGUF" N4("\3")), "byte 8: expected the number of tensors, found 0 bytes before the end of the file"},
    {B("GGUF" N4("\2") N8("\0") N8("\0")), NULL},
    {B("GGUF" N4("\4") N8("\0") N8("\0")), "byte 4: expected GGUF of version 2 or 3, found version 4"},
    {B("GGML" N4("\3") N8("\0") N8("\0")), "byte 0: expected a GGUF file, which begins with GGUF, found other bytes"},
    {B(HEADER("\0", "\1")), "byte 16: 1 element is announced, but only 0 bytes are left"},
    {B(HEADER("\0", "\1") N8("\1")), "byte 16: 1 element is announced, but only 8 bytes are left"},
    {B(HEADER("\0", "\1") N8("\1") "k"), "byte 16: 1 element is announced, but only 9 bytes are left"},
    {B(HEADER("\0", "\1") N8("\xff") "k"), "byte 16: 1 element is announced, but only 9 bytes are left"},
    {B(HEADER("\0", "\1") N8("\1") "\xff" N4("\0") "\0"),
     "byte 32: expected a name in UTF-8, found 0xff in a key of the metadata"},
    {B(HEADER("\0", "\1") N8("\0") N4("\0") "\0"), NULL},
    {B(HEADER("\0", "\1") N8("\2") "k\0" N4("\0") "\0"), "byte 24: a key of metadata has a NUL byte after \"k\""},
    {B(ENTRY("\0")),
     "byte 37: metadata.k: expected a number of the metadata, found 0 bytes before the end of the file"},
    {B(ENTRY("\0") "\1"), NULL},
    {B(ENTRY("\2") "\1"),
     "byte 37: metadata.k: expected a number of the metadata, found 1 bytes before the end of the file"},
    {B(ENTRY("\4") "\1\0\0"),
     "byte 37: metadata.k: expected a number of the metadata, found 3 bytes before the end of the file"},
    {B(ENTRY("\6") "\1\0\0"),
     "byte 37: metadata.k: expected a number of the metadata, found 3 bytes before the end of the file"},
    {B(ENTRY("\x0c") "\1\0\0\0\0\0\0"),
     "byte 37: metadata.k: expected a number of the metadata, found 7 bytes before the end of the file"},
    {B(ENTRY("\7") "\2"), "byte 37: metadata.k: expected a bool (0 or 1), found byte 0x02"},
    {B(ENTRY("\x0d") "\2"), "byte 33: expected a type of metadata (0 to 12), found 13"},
    {B(ENTRY("\x08") N8("\2") "a"),
     "byte 45: expected a text of the metadata, found 1 bytes before the end of the file"},
    {B(ENTRY("\x08") N8("\2") "a\xff"), NULL},
    {B(ENTRY("\x08") N8("\2") "ab"), NULL},
    {B(ENTRY("\x09") "\5"),
     "byte 37: metadata.k: expected the type of an array, found 1 bytes before the end of the file"},
    {B(ENTRY("\x09") N4("\x0d")), "byte 37: metadata.k: expected a type of metadata (0 to 12), found 13"},
    {B(ENTRY("\x09") N4("\5") "\1"),
     "byte 41: metadata.k: expected the length of an array, found 1 bytes before the end of the file"},
    {B(ENTRY("\x09") N4("\5") N8("\2") "\1\0\0\0"),
     "byte 37: metadata.k: 2 elements are announced, but only 4 bytes are left"},
    {B(ENTRY("\x09") N4("\5") N8("\0")), NULL},
    {B(ENTRY("\x09") N4("\7") N8("\2") "\1\2"), "byte 50: metadata.k.0: expected a bool (0 or 1), found byte 0x02"},
    {B(ENTRY("\x09") N4("\x08") N8("\1") N8("\1") "\xff"), NULL},
    {B(ENTRY("\x09") N4("\x08") N8("\2") N8("\0") N8("\1")),
     "byte 65: metadata.k.1: expected a text of the metadata, found 0 bytes before the end of the file"},
    {B(ENTRY("\x09") N4("\x09") N8("\1") N4("\x09") N8("\1") N4("\0") N8("\1") "\7"), NULL},
    {B(ENTRY("\x09") N4("\x09") N8("\1") N4("\x09") N8("\xff")),
     "byte 49: metadata.k.0: 255 elements are announced, but only 0 bytes are left"},
    {B(ALIGNMENT("\4") N4("\x40")), NULL},
    {B(ALIGNMENT("\5") N4("\x40")), NULL},
    {B(ALIGNMENT("\5") "\xc0\xff\xff\xff"), "byte 53: expected a whole number from 0 on, found -64"},
    {B(ALIGNMENT("\4") "\0\0\0\x80"),
     "byte 53: expected an alignment that is a power of two from 8 on, found 2147483648"},
    {B(ALIGNMENT("\4") N4("\4")), "byte 53: expected an alignment that is a power of two from 8 on, found 4"},
    {B(ALIGNMENT("\4") N4("\x18")), "byte 53: expected an alignment that is a power of two from 8 on, found 24"},
    {B(ALIGNMENT("\x08") N8("\1") "8"), "byte 53: expected a whole number from 0 on, found a text"},
    {B(ALIGNMENT("\x09") N4("\4") N8("\1") N4("\x40")), "byte 53: expected a whole number from 0 on, found an array"},
    {B(ALIGNMENT("\6") "\0\0\0\x42"), "byte 53: expected a whole number from 0 on, found a float"},
    {B(ALIGNMENT("\x0a") "\0"), "byte 53: expected a number of the metadata, found 1 bytes before the end of the file"},
    {B(HEADER("\0", "\1") SPLIT("count", "\x0b") N4("\2") "\2\0"),
     "expected the name of a first part, NAME-00001-of-0000N.gguf, found (memory), whose metadata say that it is one "
     "of 2"},
    {B(HEADER("\0", "\1") SPLIT("count", "\x0b") N4("\4") "\xa0\x86\1\0"),
     "expected at most 99,999 parts, found 100000"},
    {B(HEADER("\0", "\1") SPLIT("count", "\x0b") N4("\x08") N8("\1") "2"),
     "byte 47: expected a whole number from 0 on, found a text"},
    {B(HEADER("\0", "\2") SPLIT("count", "\x0b") N4("\2") "\2\0" SPLIT("no", "\x08") N4("\2") "\1\0"), NULL},
    {B(HEADER("\0", "\2") SPLIT("count", "\x0b") N4("\2") "\1\0" SPLIT("no", "\x08") N4("\2") "\0\0"), NULL},
    {B(HEADER("\0", "\1") SPLIT("tensors.count", "\x13") N4("\5") N4("\1")), NULL},
    {B(HEADER("\0", "\1") SPLIT("tensors.count", "\x13") N4("\5")),
     "byte 55: expected a number of the metadata, found 0 bytes before the end of the file"},
    {B(HEADER("\1", "\0")), "byte 8: 1 element is announced, but only 0 bytes are left"},
    {B(HEADER("\1", "\0") N8("\1") "t" N4("\0") N4("\0") N8("\0") "\0\0\0\0\0\0\0\0\0\0\0"),
     "byte 24: expected a file that holds its tensors, found t of 4 bytes, which extends beyond the end of the file"},
    {B(HEADER("\1", "\0") N8("\1") "t" N4("\1") N8("\1")),
     "byte 8: 1 element is announced, but only 21 bytes are left"},
    {B(HEADER("\1", "\0") N8("\1") "\xff" N4("\1") N8("\1") N4("\0") N8("\0")),
     "byte 32: expected a name in UTF-8, found 0xff in the name of a tensor"},
    {B(HEADER("\1", "\0") N8("\1") "t" N4("\1") N8("\1") N4("\x63") N8("\0")),
     "byte 45: expected an element type of ggml's that is known, found 99"},
    {B(HEADER("\1", "\0") N8("\1") "t" N4("\1") N8("\0") N4("\0") N8("\0")),
     "byte 24: expected a file that holds its tensors, found t of 0 bytes, which extends beyond the end of the file"},
};

static void each_mistake_has_its_place_and_words(void **state)
{
    rec_recorder *r = open_gguf();
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        rec_record *record = rec_load_bytes(r, mistakes[i].data, mistakes[i].size);
        const char *words = mistakes[i].words;
        if (!record != (words != NULL) || (words && !is_message(words))) {
            fail_msg("%zu:\nexpected %s\nfound %s", i, words ? words : "a record",
                     record ? "a record" : rec_error_message());
        }
        rec_record_free(record);
    }
    rec_close_recorder(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_value_has_its_bytes),
        cmocka_unit_test(an_alignment_is_a_power_of_two),
        cmocka_unit_test(what_is_no_tensor_is_refused),
        cmocka_unit_test(each_mistake_has_its_place_and_words),
    };
    return cmocka_run_group_tests_name("gguf's metadata", tests, NULL, NULL);
}
