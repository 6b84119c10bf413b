/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sends records through the plugins of this folder and back, with nothing but librecord.h. TAP on standard output.
 *
 *     check DATA        (the folder of the golden records; the plugins are on LIBRECORD_PLUGIN_PATH)
 *
 * "exact": record -> mpk and record -> format -> record -> mpk must be the same bytes. "values": the same tree, where
 * the format does not carry a number's width and kind. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librecord.h>

#define LINEAR_FIELDS(F, T) F(T, PARAM, weight, 2) F(T, OPTION_PARAM, bias, 1)
REC_DEFINE_STRUCT(LINEAR, LINEAR_FIELDS)
#define TINY_FIELDS(F, T) F(T, CHILD, linear, LINEAR)
REC_DEFINE_STRUCT(TINY, TINY_FIELDS)

/* A type with every kind of field that a C definition can have. */
#define HEAD_VARIANTS(F, T) F(T, VARIANT, Dense, LINEAR) F(T, VARIANT, Other, TINY) F(T, UNIT_VARIANT, Off)
REC_DEFINE_ENUM(HEAD, HEAD_VARIANTS)
/* clang-format off */
#define ALL_FIELDS(F, T)                                                                                               \
    F(T, OPTION_CHILD, none, LINEAR) F(T, OPTION_CHILD, some, TINY) F(T, LIST, blocks, LINEAR) F(T, LIST, empty, TINY) \
    F(T, ARRAY, pair, LINEAR, 2) F(T, CHILD, head, HEAD) F(T, CHILD, off, HEAD) F(T, INT_PARAM, ids, 1)                \
    F(T, OPTION_BOOL_PARAM, mask, 1) F(T, TENSOR, bare, 2) F(T, OPTION_INT_TENSOR, nothing, 1) F(T, CONSTANT, size)    \
    F(T, BOOL, yes) F(T, U8, u8) F(T, U16, u16) F(T, U32, u32) F(T, U64, u64) F(T, USIZE, usize) F(T, I8, i8)          \
    F(T, I16, i16) F(T, I32, i32) F(T, I64, i64) F(T, F32, f32) F(T, F64, f64) F(T, STRING, text)
/* clang-format on */
REC_DEFINE_STRUCT(ALL, ALL_FIELDS)

static int count, failed;
static const char *data_folder;

static bool REC_PRINTF(2, 3) tell(bool good, const char *format, ...)
{
    va_list args;

    count++;
    failed += !good;
    printf("%sok %d - ", good ? "" : "not ", count);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    if (!good) {
        printf("# %s\n", rec_error_message());
    }
    return good;
}

/* ---- the same values? ---- */

static bool is_number(int32_t kind)
{
    return kind == REC_KIND_INT || kind == REC_KIND_UINT || kind == REC_KIND_FLOAT;
}

static double as_double(rec_scalar s)
{
    return s.kind == REC_KIND_INT ? (double)s.v.i : s.kind == REC_KIND_UINT ? (double)s.v.u : s.v.f;
}

/** Numbers are equal by value: width and signedness are not in every format. */
static bool same_scalar(rec_scalar a, rec_scalar b)
{
    if (is_number(a.kind) && is_number(b.kind)) {
        bool whole = a.kind != REC_KIND_FLOAT && b.kind != REC_KIND_FLOAT;
        return whole ? a.v.u == b.v.u : as_double(a) == as_double(b);
    }
    if (a.kind != b.kind) {
        return false;
    }
    return a.kind == REC_KIND_STRING ? a.v.length == b.v.length && memcmp(a.text, b.text, (size_t)a.v.length) == 0
                                     : a.kind == REC_KIND_NIL || a.v.i == b.v.i;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_tensor(const rec_tensor *a, const rec_tensor *b)
{
    uint64_t a_size, b_size;
    const void *a_data = rec_tensor_bytes(a, &a_size), *b_data = rec_tensor_bytes(b, &b_size);

    if (!a_data || !b_data || a_size != b_size || memcmp(a_data, b_data, (size_t)a_size) != 0) {
        return false;
    }
    return rec_tensor_stored_dtype(a) == rec_tensor_stored_dtype(b) && rec_tensor_rank(a) == rec_tensor_rank(b) &&
           memcmp(rec_tensor_shape(a), rec_tensor_shape(b), rec_tensor_rank(a) * sizeof(uint64_t)) == 0 &&
           same_text(rec_tensor_id(a), rec_tensor_id(b)) &&
           same_text(rec_tensor_dtype_name(a), rec_tensor_dtype_name(b));
}

/** Item `index` as a scalar, whether the list is packed or not. */
static rec_scalar item_scalar(const rec_value *list, uint64_t index)
{
    return rec_value_kind(list) == REC_KIND_NUMBERS ? rec_value_number(list, index)
                                                    : rec_value_scalar(rec_value_item(list, index));
}

static bool same_value(const rec_value *a, const rec_value *b)
{
    int32_t kind = rec_value_kind(a), other = rec_value_kind(b);
    bool packed = (kind == REC_KIND_NUMBERS) != (other == REC_KIND_NUMBERS);

    if (kind == REC_KIND_TENSOR && other == REC_KIND_TENSOR) {
        return same_tensor(rec_value_tensor(a), rec_value_tensor(b));
    }
    if (rec_value_count(a) != rec_value_count(b)) {
        return false;
    }
    if (kind == REC_KIND_NUMBERS || other == REC_KIND_NUMBERS) {
        if (packed && kind != REC_KIND_LIST && other != REC_KIND_LIST) {
            return false;
        }
        for (uint64_t i = 0; i < rec_value_count(a); i++) {
            if (!same_scalar(item_scalar(a, i), item_scalar(b, i))) {
                return false;
            }
        }
        return true;
    }
    if (kind != REC_KIND_MAP && kind != REC_KIND_LIST) {
        return same_scalar(rec_value_scalar(a), rec_value_scalar(b));
    }
    for (uint64_t i = 0; kind == other && i < rec_value_count(a); i++) {
        if ((kind == REC_KIND_MAP && !same_scalar(rec_value_key(a, i), rec_value_key(b, i))) ||
            !same_value(rec_value_item(a, i), rec_value_item(b, i))) {
            return false;
        }
    }
    return kind == other;
}

/* ---- there and back ---- */

static bool same_bytes(rec_recorder *mpk, const rec_record *a, const rec_record *b)
{
    void *a_data = NULL, *b_data = NULL;
    uint64_t a_size = 0, b_size = 0;
    bool same = rec_save_bytes(mpk, a, &a_data, &a_size) == REC_OK &&
                rec_save_bytes(mpk, b, &b_data, &b_size) == REC_OK && a_size == b_size &&
                memcmp(a_data, b_data, (size_t)a_size) == 0;

    rec_free(a_data);
    rec_free(b_data);
    return same;
}

/** @param name_of_case "0.21.0/tiny-full" */
static rec_record *load_case(rec_recorder *mpk, const char *name_of_case)
{
    char path[4096];

    (void)snprintf(path, sizeof path, "%s/%s.mpk", data_folder, name_of_case);
    return rec_load(mpk, path);
}

/** Record -> format in memory -> record, and compares what `reference` (where exact) makes of both. Every prefix and
 * some changed bytes must be refused or loaded, never crash; a prefix is never a whole file. */
static void there_and_back(rec_recorder *reference, rec_recorder *other, const rec_record *record,
                           const char *name_of_case, bool exact, bool hostile)
{
    const char *name = rec_recorder_name(other);
    rec_record *back = NULL;
    void *data = NULL;
    uint64_t size = 0;
    bool good = record != NULL && rec_save_bytes(other, record, &data, &size) == REC_OK &&
                (back = rec_load_bytes(other, data, size)) != NULL;

    if (tell(good, "%s: takes %s and gives it back", name, name_of_case)) {
        tell(exact ? same_bytes(reference, record, back) : same_value(rec_root(record), rec_root(back)),
             "%s: all %s of %s are as they were", name, exact ? "bytes" : "values", name_of_case);
    }
    for (size_t cut = 0; good && hostile && cut + 1 < size; cut++) {
        rec_record *part = rec_load_bytes(other, data, cut);
        good = part == NULL && rec_error_status() != REC_OK && rec_error_message()[0] != '\0';
        rec_record_free(part);
        if (!good) {
            tell(false, "%s: the first %zu of %" PRIu64 " bytes were loaded", name, cut, size);
        }
    }
    for (size_t i = 0; good && hostile && i < size; i++) {
        unsigned char *bytes = data, old = bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] = (unsigned char)(old ^ 1u << bit);
            rec_record_free(rec_load_bytes(other, data, size)); /* whatever comes: no crash, nothing leaked */
        }
        bytes[i] = old;
    }
    if (good && hostile) {
        tell(true, "%s: every prefix is refused, changed bytes do no harm", name);
    }
    rec_record_free(back);
    rec_free(data);
}

static void round_trip(rec_recorder *mpk, rec_recorder *other, const char *name_of_case, bool exact, bool hostile)
{
    rec_record *record = load_case(mpk, name_of_case);

    there_and_back(mpk, other, record, name_of_case, exact, hostile);
    rec_record_free(record);
}

/** Loads a text with the Arrays plugin. */
static rec_record *from_text(rec_recorder *arrays, const char *text)
{
    return rec_load_bytes(arrays, text, strlen(text));
}

/** A V1 tensor whose numbers come in chunks of several types, and with a null; a list that is none. */
static void runs_of_numbers(rec_recorder *arrays)
{
    static const char v1[] =
        "{\"metadata\":{\"float\":\"f32\",\"int\":\"i32\",\"format\":\"x\",\"version\":\"0.13.2\","
        "\"settings\":\"FullPrecisionSettings\"},\"item\":{\"w\":{\"id\":\"a\",\"param\":{\"value\":"
        "[1, 2.5, null, -3, 300, 1e-3],\"shape\":[2, 3]}},\"steps\":[1, -2, 18446744073709551615]},\"_b\":null}";
    static const char truncated[] = "{\"item\":[1,2";
    rec_record *record = from_text(arrays, v1), *none;
    const rec_tensor *w = record ? rec_tensor_at(record, "w") : NULL;
    const float *f = w ? rec_tensor_f32(w) : NULL;
    const rec_value *steps = record ? rec_value_at(record, "steps") : NULL;

    tell(f && rec_tensor_count(w) == 6 && f[0] == 1.0f && f[1] == 2.5f && f[2] != f[2] && f[3] == -3.0f &&
             f[4] == 300.0f && f[5] == 1e-3f,
         "Arrays: a tensor from chunks of several types, null is NaN");
    tell(steps && rec_value_count(steps) == 3 && as_double(item_scalar(steps, 1)) == -2.0 &&
             item_scalar(steps, 2).v.u == UINT64_MAX,
         "Arrays: integers of both signs and full width in one list");
    rec_record_free(record);

    none = from_text(arrays, truncated);
    tell(!none && rec_error_status() == REC_E_FORMAT && rec_error_offset() == strlen(truncated) &&
             strcmp(rec_error_found(), "the end of the file") == 0,
         "Arrays: an error has its offset, what was expected and what was found");
    rec_record_free(none);
}

static bool set_tensor(rec_record *record, const char *path, rec_dtype dtype, uint64_t rows, uint64_t columns,
                       const void *data, uint64_t size, const char *id)
{
    const uint64_t shape[] = {rows, columns};
    rec_tensor_spec spec = {.size = sizeof spec, .dtype = dtype, .rank = columns ? 2 : 1, .shape = shape};

    spec.data = data;
    spec.data_size = size;
    spec.id = id;
    return rec_set_tensor(record, path, &spec) == REC_OK;
}

/** A record of the type ALL, as it would come from a file that tells neither options nor widths. */
static rec_record *build_all(void)
{
    static const uint8_t bytes[24] = {0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, 7};
    static const char *const weights[] = {"some.linear.weight",
                                          "blocks.0.weight",
                                          "blocks.1.weight",
                                          "pair.0.weight",
                                          "pair.1.weight",
                                          "head.Dense.weight",
                                          NULL};
    rec_record *record = rec_record_new(NULL);
    bool good = record && rec_set_nil(record, "none") == REC_OK;
    char path[64];

    for (int i = 0; good && weights[i]; i++) {
        good = set_tensor(record, weights[i], REC_DTYPE_F32, 2, 3, bytes, 24, "");
        (void)snprintf(path, sizeof path, "%.*sbias", (int)strlen(weights[i]) - 6, weights[i]);
        good = good && (i % 2 ? set_tensor(record, path, REC_DTYPE_F32, 3, 0, bytes, 12, "")
                              : rec_set_nil(record, path) == REC_OK);
    }
    if (good && rec_set_empty(record, "empty", REC_KIND_LIST) == REC_OK &&
        rec_set_string(record, "off", "Off") == REC_OK &&
        set_tensor(record, "ids", REC_DTYPE_I32, 4, 0, bytes, 16, "") &&
        set_tensor(record, "mask", REC_DTYPE_BOOL8, 2, 0, bytes, 2, "") &&
        set_tensor(record, "bare", REC_DTYPE_F32, 0, 5, bytes, 0, NULL) && rec_set_nil(record, "nothing") == REC_OK &&
        rec_set_nil(record, "size") == REC_OK && rec_set_bool(record, "yes", 1) == REC_OK &&
        rec_set_uint(record, "u8", 255) == REC_OK && rec_set_uint(record, "u16", 65535) == REC_OK &&
        rec_set_uint(record, "u32", UINT32_MAX) == REC_OK && rec_set_uint(record, "u64", UINT64_MAX) == REC_OK &&
        rec_set_uint(record, "usize", 7) == REC_OK && rec_set_int(record, "i8", -128) == REC_OK &&
        rec_set_int(record, "i16", -32768) == REC_OK && rec_set_int(record, "i32", INT32_MIN) == REC_OK &&
        rec_set_int(record, "i64", INT64_MIN) == REC_OK && rec_set_float(record, "f32", 0.5) == REC_OK &&
        rec_set_float(record, "f64", 0.1) == REC_OK && rec_set_string(record, "text", "a \" \\ b") == REC_OK) {
        return record;
    }
    rec_record_free(record);
    return NULL;
}

/** Every kind of field through the typed format: nothing but the type tells them apart in the file. */
static void every_field(rec_recorder *typed)
{
    rec_record *record = build_all(), *back = NULL;
    void *data = NULL;
    uint64_t size = 0;
    rec_binding *binding = NULL;
    ALL all;

    tell(record && rec_recorder_set_type(typed, &ALL_type) == REC_OK, "Typed: a record with every kind of field");
    if (record) {
        there_and_back(typed, typed, record, "every kind of field", true, true);
    }
    tell(record && rec_save_bytes(typed, record, &data, &size) == REC_OK &&
             (back = rec_load_bytes(typed, data, size)) != NULL &&
             (binding = rec_bind(back, &ALL_type, &all)) != NULL && !all.none && all.some && all.blocks_count == 2 &&
             all.empty_count == 0 && all.head.variant == 0 && all.off.variant == 2 && all.ids.count == 4 &&
             all.bare.count == 0 && all.u64 == UINT64_MAX && all.i64 == INT64_MIN && all.f64 == 0.1 &&
             strcmp(all.text, "a \" \\ b") == 0,
         "Typed: and binds to C structs");
    rec_binding_free(binding);
    rec_record_free(back);
    rec_free(data);
    rec_record_free(record);
}

int main(int argc, char **argv)
{
    static const char *const exact[] = {
        "0.13.2/zoo-full",   "0.13.2/adam-half", "0.14.0/zoo-double",    "0.18.0/zoo-half",      "0.21.0/zoo-full",
        "0.21.0/plain-full", "0.21.0/adam-full", "0.21.0/composed-full", "0.21.0/constant-full", NULL};
    static const char *const values[] = {"0.13.2/zoo-full",  "0.18.0/zoo-half",  "0.21.0/zoo-full",
                                         "0.21.0/adam-full", "0.21.0/noam-full", NULL};
    static const char *const tiny[] = {
        "0.21.0/tiny-full",   "0.21.0/tiny-half", "0.21.0/tiny-double", "0.14.0/tiny-full",
        "0.18.0/tiny-double", "0.13.2/tiny-full", "0.13.2/tiny-half",   NULL};
    rec_recorder *mpk, *typed, *arrays, *header, *found;
    rec_record *record, *none;
    void *data = NULL;
    uint64_t size = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: check DATA\n");
        return EXIT_FAILURE;
    }
    data_folder = argv[1];
    mpk = rec_open_recorder("NamedMpk", REC_PRECISION_KEEP);
    typed = rec_open_recorder("Typed", REC_PRECISION_KEEP);
    arrays = rec_open_recorder("Arrays", REC_PRECISION_KEEP);
    header = rec_open_recorder("Header", REC_PRECISION_KEEP);
    if (!tell(mpk && typed && arrays && header, "the recorders open by name")) {
        return EXIT_FAILURE;
    }

    /* Header-first: all there is, bit for bit. */
    for (const char *const *c = exact; *c; c++) {
        round_trip(mpk, header, *c, true, false);
    }
    round_trip(mpk, header, "0.21.0/tiny-full", true, true);

    /* Arrays of numbers: all values. */
    for (const char *const *c = values; *c; c++) {
        round_trip(mpk, arrays, *c, false, false);
    }
    round_trip(mpk, arrays, "0.21.0/tiny-full", true, true);
    runs_of_numbers(arrays);

    /* Typed: not without a type, and with one bit for bit. */
    record = load_case(mpk, "0.21.0/tiny-full");
    tell(record && rec_save_bytes(typed, record, &data, &size) != REC_OK && rec_error_hint()[0] != '\0',
         "Typed: is not written without a type");
    rec_free(data);
    tell(rec_recorder_set_type(typed, &TINY_type) == REC_OK, "Typed: has a type");
    for (const char *const *c = tiny; *c; c++) {
        round_trip(mpk, typed, *c, true, c == tiny);
    }
    every_field(typed);
    rec_recorder_set_type(typed, &TINY_type);
    data = NULL;
    tell(record && rec_save_bytes(typed, record, &data, &size) == REC_OK, "Typed: is written");
    found = rec_open_recorder("Typed", REC_PRECISION_KEEP);
    none = found && data ? rec_load_bytes(found, data, size) : NULL;
    tell(found && !none && rec_error_status() != REC_OK, "Typed: is not read without a type");

    rec_record_free(none);
    rec_record_free(record);
    rec_free(data);
    rec_close_recorder(found);
    rec_close_recorder(header);
    rec_close_recorder(arrays);
    rec_close_recorder(typed);
    rec_close_recorder(mpk);
    printf("1..%d\n", count);
    return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
