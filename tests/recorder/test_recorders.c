/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Every recorder at every precision, by one table: a new recorder joins with one line. */
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
#include "tests/scratch.h"

/* --------------------------------------------------------------------------------------------------- the table -- */

static const struct {
    const char *name;
    const char *alias;
    const char *extension; /* "": memory only */
    bool typed;            /* cannot be read without a type */
    bool forms;            /* tells a Vec from an array and how wide a number is */
} recorders[] = {
    {"NamedMpk", "mpk", "mpk", false, false},
    {"NamedMpkGz", "mpk.gz", "mpk.gz", false, false},
    {"NamedMpkBytes", "mpk-bytes", "", false, false},
    {"BinFile", "bin", "bin", true, true},
    {"BinGz", "bin.gz", "bin.gz", true, true},
    {"BinBytes", "bytes", "", true, true},
    {"PrettyJson", "pretty-json", "json", false, false},
    {"JsonGz", "json.gz", "json.gz", false, false},
    {"Safetensors", "safetensors", "safetensors", false, true},
    {"Safetensors.gz", "safetensors.gz", "safetensors.gz", false, true},
#ifdef LR_HAVE_ZSTD
    {"NamedMpk.zst", "mpk.zst", "mpk.zst", false, false},
    {"BinFile.zst", "bin.zstd", "bin.zst", true, true},
    {"BinBytes.zst", "bytes.zst", "", true, true},
    {"PrettyJson.zst", "json.zst", "json.zst", false, false},
    {"Safetensors.zst", "safetensors.zst", "safetensors.zst", false, true},
#endif
};
enum { RECORDERS = sizeof recorders / sizeof *recorders };

static const rec_precision precisions[] = {REC_PRECISION_KEEP, REC_PRECISION_DOUBLE, REC_PRECISION_FULL,
                                           REC_PRECISION_HALF};
enum { PRECISIONS = sizeof precisions / sizeof *precisions };

/* Burn versions whose layout is written: the last of each kind. */
static const char *const layouts[] = {"burn-0.11", "burn-0.13", "burn-0.14", "burn-0.16", "burn-0.20", "burn-0.21"};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* -------------------------------------------------------------------------------------------------- the record -- */

#define LINEAR_FIELDS(F, T) F(T, PARAM, weight, 2) F(T, OPTION_PARAM, bias, 1)
REC_DEFINE_STRUCT(LINEAR, LINEAR_FIELDS)
#define HEAD_VARIANTS(F, T) F(T, UNIT_VARIANT, Act) F(T, VARIANT, Dense, LINEAR)
REC_DEFINE_ENUM(HEAD, HEAD_VARIANTS)
#define NET_FIELDS(F, T)             \
    F(T, CHILD, fc, LINEAR)          \
    F(T, LIST, blocks, LINEAR)       \
    F(T, ARRAY, pair, LINEAR, 2)     \
    F(T, OPTION_CHILD, some, LINEAR) \
    F(T, OPTION_CHILD, none, LINEAR) \
    F(T, CHILD, head, HEAD)          \
    F(T, INT_PARAM, ids, 2)          \
    F(T, BOOL_PARAM, mask, 1)        \
    F(T, TENSOR, moment, 1)          \
    F(T, CONSTANT, act)              \
    F(T, USIZE, steps)               \
    F(T, I64, low) F(T, U8, tiny) F(T, F32, single) F(T, F64, rate) F(T, BOOL, flag) F(T, STRING, name)
REC_DEFINE_STRUCT(NET, NET_FIELDS)

static void set_linear(rec_record *record, const char *path, float seed, bool bias)
{
    float data[6];
    uint64_t shape[] = {3, 2};
    char name[64];
    for (int i = 0; i < 6; i++) {
        data[i] = seed + (float)i * 0.25f; /* exact at half precision */
    }
    (void)snprintf(name, sizeof name, "%s.weight", path);
    assert_int_equal(rec_set_f32(record, name, data, 2, shape), REC_OK);
    (void)snprintf(name, sizeof name, "%s.bias", path);
    if (bias) {
        assert_int_equal(rec_set_f32(record, name, data, 1, shape), REC_OK);
    } else {
        assert_int_equal(rec_set_nil(record, name), REC_OK);
    }
}

static rec_record *make_record(void)
{
    static const uint8_t ids[] = {1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0x30, 0x75, 0, 0, 7, 0, 0, 0};
    static const uint8_t mask[] = {1, 0, 1};
    static const uint8_t moment[] = {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0};
    uint64_t two_by_two[] = {2, 2}, three[] = {3}, two[] = {2};
    rec_tensor_spec spec = {.size = sizeof spec,
                            .dtype = REC_DTYPE_I32,
                            .rank = 2,
                            .shape = two_by_two,
                            .data = ids,
                            .data_size = sizeof ids,
                            .id = ""};
    rec_record *record = rec_record_new(NULL);
    assert_non_null(record);
    set_linear(record, "fc", 1.0f, true);
    assert_int_equal(rec_set_empty(record, "blocks", REC_KIND_LIST), REC_OK);
    set_linear(record, "blocks.0", 2.0f, true);
    set_linear(record, "blocks.1", -3.0f, false);
    set_linear(record, "blocks.2", 4.0f, true);
    assert_int_equal(rec_set_empty(record, "pair", REC_KIND_LIST), REC_OK);
    set_linear(record, "pair.0", 5.0f, true);
    set_linear(record, "pair.1", 6.0f, true);
    set_linear(record, "some", 7.0f, false);
    assert_int_equal(rec_set_nil(record, "none"), REC_OK);
    set_linear(record, "head.Dense", 8.0f, true);
    assert_int_equal(rec_set_tensor(record, "ids", &spec), REC_OK);
    spec = (rec_tensor_spec){.size = sizeof spec,
                             .dtype = REC_DTYPE_BOOL,
                             .rank = 1,
                             .shape = three,
                             .data = mask,
                             .data_size = sizeof mask,
                             .id = ""};
    assert_int_equal(rec_set_tensor(record, "mask", &spec), REC_OK);
    spec = (rec_tensor_spec){.size = sizeof spec,
                             .dtype = REC_DTYPE_F32,
                             .rank = 1,
                             .shape = two,
                             .data = moment,
                             .data_size = sizeof moment};
    assert_int_equal(rec_set_tensor(record, "moment", &spec), REC_OK);
    assert_int_equal(rec_set_nil(record, "act"), REC_OK);
    assert_int_equal(rec_set_uint(record, "steps", UINT64_MAX), REC_OK);
    assert_int_equal(rec_set_int(record, "low", INT64_MIN), REC_OK);
    assert_int_equal(rec_set_uint(record, "tiny", 250), REC_OK);
    assert_int_equal(
        rec_set_scalar(record, "single", (rec_scalar){.kind = REC_KIND_FLOAT, .bits = 32, .v = {.f = (double)0.1f}}),
        REC_OK);
    assert_int_equal(rec_set_float(record, "rate", 1.0 / 3.0), REC_OK);
    assert_int_equal(rec_set_bool(record, "flag", 1), REC_OK);
    assert_int_equal(rec_set_string(record, "name", "na\xc3\xafve \"quoted\"\n"), REC_OK);
    return record;
}

static void check_linear(const LINEAR *linear, float seed, bool bias)
{
    assert_int_equal(linear->weight.count, 6);
    assert_int_equal(linear->weight.shape[0], 3);
    for (int i = 0; i < 6; i++) {
        assert_true(linear->weight.data[i] == seed + (float)i * 0.25f);
    }
    assert_non_null(rec_tensor_id(linear->weight.tensor));
    assert_int_equal(linear->bias.data != NULL, bias);
}

/* Everything, through a binding: what an application sees. */
static void check_record(const rec_record *record)
{
    NET net;
    rec_binding *binding = rec_bind(record, &NET_type, &net);
    if (!binding) {
        fail_msg("%s", rec_error_message());
    }
    check_linear(&net.fc, 1.0f, true);
    assert_int_equal(net.blocks_count, 3);
    check_linear(&net.blocks[0], 2.0f, true);
    check_linear(&net.blocks[1], -3.0f, false);
    check_linear(&net.pair[1], 6.0f, true);
    assert_non_null(net.some);
    check_linear(net.some, 7.0f, false);
    assert_null(net.none);
    assert_int_equal(net.head.variant, 1);
    check_linear(net.head.Dense, 8.0f, true);
    assert_int_equal(net.ids.data[1], -2);
    assert_int_equal(net.ids.data[2], 30000);
    assert_int_equal(net.mask.data[0], 1);
    assert_int_equal(net.mask.data[1], 0);
    assert_true(net.moment.data[1] == -2.0f);
    assert_null(rec_tensor_id(net.moment.tensor));
    assert_true(net.steps == UINT64_MAX);
    assert_true(net.low == INT64_MIN);
    assert_int_equal(net.tiny, 250);
    assert_true(net.single == 0.1f);
    assert_true(net.rate == 1.0 / 3.0);
    assert_int_equal(net.flag, 1);
    assert_string_equal(net.name, "na\xc3\xafve \"quoted\"\n");
    rec_binding_free(binding);
}

static rec_recorder *open_typed(const char *name, rec_precision precision)
{
    rec_recorder *recorder = rec_open_recorder(name, precision);
    if (!recorder) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(rec_recorder_set_type(recorder, &NET_type), REC_OK);
    assert_int_equal(rec_recorder_set(recorder, "sync", "no"), REC_OK);
    return recorder;
}

/* ------------------------------------------------------------------------------------------------------- tests -- */

/* A number at the end of a bincode file: as long as its width and size ask for; one whose width nothing tells is
 * refused. */
static void bincode_numbers_have_the_width_of_their_type(void **state)
{
#define NUMBER(BYTES) BYTES, sizeof(BYTES) - 1
    static const struct {
        rec_scalar number;
        const char *bytes;
        size_t size;
    } cases[] = {
        {{.kind = REC_KIND_UINT, .bits = 64, .v.u = 0}, NUMBER("\x00")},
        {{.kind = REC_KIND_UINT, .bits = 64, .v.u = 250}, NUMBER("\xfa")},
        {{.kind = REC_KIND_UINT, .bits = 64, .v.u = 251}, NUMBER("\xfb\xfb\x00")},
        {{.kind = REC_KIND_UINT, .bits = 16, .v.u = 65535}, NUMBER("\xfb\xff\xff")},
        {{.kind = REC_KIND_UINT, .bits = 32, .v.u = 65536}, NUMBER("\xfc\x00\x00\x01\x00")},
        {{.kind = REC_KIND_UINT, .bits = 64, .v.u = UINT32_MAX}, NUMBER("\xfc\xff\xff\xff\xff")},
        {{.kind = REC_KIND_UINT, .bits = 64, .v.u = UINT64_C(1) << 32}, NUMBER("\xfd\x00\x00\x00\x00\x01\x00\x00\x00")},
        {{.kind = REC_KIND_UINT, .bits = 8, .v.u = 255}, NUMBER("\xff")},
        {{.kind = REC_KIND_INT, .bits = 64, .v.i = -1}, NUMBER("\x01")},
        {{.kind = REC_KIND_INT, .bits = 64, .v.i = 125}, NUMBER("\xfa")},
        {{.kind = REC_KIND_INT, .bits = 32, .v.i = -126}, NUMBER("\xfb\xfb\x00")},
        {{.kind = REC_KIND_INT, .bits = 64, .v.i = INT64_MIN}, NUMBER("\xfd\xff\xff\xff\xff\xff\xff\xff\xff")},
        {{.kind = REC_KIND_INT, .bits = 8, .v.i = -2}, NUMBER("\xfe")},
        {{.kind = REC_KIND_FLOAT, .bits = 32, .v.f = 1.5}, NUMBER("\x00\x00\xc0\x3f")},
        {{.kind = REC_KIND_FLOAT, .bits = 64, .v.f = 1.5}, NUMBER("\x00\x00\x00\x00\x00\x00\xf8\x3f")},
        {{.kind = REC_KIND_BOOL, .v.i = 1}, NUMBER("\x01")},
        {{.kind = REC_KIND_UINT, .bits = 0, .v.u = 7}, NULL, 0},
        {{.kind = REC_KIND_INT, .bits = 0, .v.i = -7}, NULL, 0},
    };
#undef NUMBER
    rec_recorder *recorder = rec_open_recorder("Bin", REC_PRECISION_KEEP);
    uint64_t frame = 0;
    (void)state;
    assert_non_null(recorder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rec_record *record = rec_record_new(NULL);
        void *data = NULL;
        uint64_t size = 0;
        assert_non_null(record);
        assert_int_equal(rec_set_scalar(record, "", cases[i].number), REC_OK);
        if (cases[i].bytes) {
            assert_int_equal(rec_save_bytes(recorder, record, &data, &size), REC_OK);
            frame = i == 0 ? size - cases[i].size : frame; /* what stands before it is the same for all */
            assert_int_equal(size, frame + cases[i].size);
            assert_memory_equal((const char *)data + frame, cases[i].bytes, cases[i].size);
        } else {
            assert_int_equal(rec_save_bytes(recorder, record, &data, &size), REC_E_TYPE);
            assert_non_null(strstr(rec_error_message(), "writing it needs the type of the record"));
        }
        rec_free(data);
        rec_record_free(record);
    }
    rec_close_recorder(recorder);
}

static void names_aliases_and_extensions(void **state)
{
    (void)state;
    for (int i = 0; i < RECORDERS; i++) {
        rec_recorder *recorder = rec_open_recorder(recorders[i].alias, REC_PRECISION_DEFAULT);
        assert_non_null(recorder);
        assert_string_equal(rec_recorder_name(recorder), recorders[i].name);
        assert_string_equal(rec_recorder_extension(recorder), recorders[i].extension);
        rec_close_recorder(recorder);
    }
}

static void memory_round_trips_at_every_precision(void **state)
{
    rec_record *record = make_record();
    (void)state;
    for (int i = 0; i < RECORDERS; i++) {
        for (int p = 0; p < PRECISIONS; p++) {
            rec_recorder *recorder = open_typed(recorders[i].name, precisions[p]);
            rec_record *again;
            void *bytes, *twice;
            uint64_t size, twice_size;
            if (rec_save_bytes(recorder, record, &bytes, &size) != REC_OK) {
                fail_msg("%s: %s", recorders[i].name, rec_error_message());
            }
            again = rec_load_bytes(recorder, bytes, size);
            if (!again) {
                fail_msg("%s: %s", recorders[i].name, rec_error_message());
            }
            check_record(again);
            /* What was loaded is saved as the same bytes. */
            assert_int_equal(rec_save_bytes(recorder, again, &twice, &twice_size), REC_OK);
            assert_int_equal(size, twice_size);
            assert_memory_equal(bytes, twice, (size_t)size);
            rec_record_free(again);
            rec_free(bytes);
            rec_free(twice);
            rec_close_recorder(recorder);
        }
    }
    rec_record_free(record);
}

static void every_version_of_the_layout_comes_back(void **state)
{
    rec_record *record = make_record();
    (void)state;
    for (int i = 0; i < RECORDERS; i++) {
        for (int l = 0; l < LAYOUTS; l++) {
            for (int p = 1; p < PRECISIONS; p++) {
                rec_recorder *recorder = open_typed(recorders[i].name, precisions[p]);
                rec_record *again;
                void *bytes;
                uint64_t size;
                assert_int_equal(rec_recorder_set(recorder, "layout", layouts[l]), REC_OK);
                if (rec_save_bytes(recorder, record, &bytes, &size) != REC_OK) {
                    fail_msg("%s %s: %s", recorders[i].name, layouts[l], rec_error_message());
                }
                again = rec_load_bytes(recorder, bytes, size);
                if (!again) {
                    fail_msg("%s %s: %s", recorders[i].name, layouts[l], rec_error_message());
                }
                assert_int_equal(strncmp(rec_metadata(again, "version"), layouts[l] + 5, strlen(layouts[l] + 5)), 0);
                check_record(again);
                rec_record_free(again);
                rec_free(bytes);
                rec_close_recorder(recorder);
            }
        }
    }
    rec_record_free(record);
}

static void files_convert_from_each_recorder_to_each_other(void **state)
{
    scratch *folder = scratch_new();
    rec_record *record = make_record();
    (void)state;
    for (int i = 0; i < RECORDERS; i++) {
        char *from = scratch_path(folder, "from");
        rec_recorder *in = open_typed(recorders[i].name, REC_PRECISION_KEEP);
        if (recorders[i].extension[0]) {
            assert_int_equal(rec_save(in, record, from), REC_OK);
            for (int j = 0; j < RECORDERS; j++) {
                char *to = scratch_path(folder, "to.1");
                rec_recorder *out = open_typed(recorders[j].name, REC_PRECISION_KEEP);
                if (recorders[j].extension[0]) {
                    rec_record *again;
                    char *name;
                    if (rec_convert(in, from, out, to, NULL) != REC_OK) {
                        fail_msg("%s to %s: %s", recorders[i].name, recorders[j].name, rec_error_message());
                    }
                    name = rec_recorder_path(out, to);
                    assert_non_null(strstr(name, "to.1."));
                    assert_string_equal(rec_recognise(NULL, name), recorders[j].name);
                    again = rec_load(out, to);
                    assert_non_null(again);
                    check_record(again);
                    rec_record_free(again);
                    rec_free(name);
                }
                rec_close_recorder(out);
                free(to);
            }
        } else {
            assert_int_equal(rec_save(in, record, from), REC_E_UNSUPPORTED);
        }
        rec_close_recorder(in);
        free(from);
    }
    rec_record_free(record);
    scratch_free(folder);
}

static void a_format_without_names_asks_for_the_type(void **state)
{
    rec_record *record = make_record();
    (void)state;
    for (int i = 0; i < RECORDERS; i++) {
        rec_recorder *typed = open_typed(recorders[i].name, REC_PRECISION_FULL);
        rec_recorder *untyped = rec_open_recorder(recorders[i].name, REC_PRECISION_FULL);
        rec_record *again;
        void *bytes;
        uint64_t size;
        assert_int_equal(rec_save_bytes(typed, record, &bytes, &size), REC_OK);
        again = rec_load_bytes(untyped, bytes, size);
        assert_int_equal(again == NULL, recorders[i].typed);
        if (recorders[i].typed) {
            assert_int_equal(rec_error_status(), REC_E_TYPE);
            assert_non_null(strstr(rec_error_message(), "type"));
            rec_free(bytes);
            assert_int_equal(rec_save_bytes(untyped, record, &bytes, &size), REC_E_TYPE);
        }
        rec_record_free(again);
        rec_free(bytes);
        rec_close_recorder(typed);
        rec_close_recorder(untyped);
    }
    rec_record_free(record);
}

static void a_record_that_carries_its_type_needs_none(void **state)
{
    rec_record *record = make_record();
    (void)state;
    for (int i = 0; i < RECORDERS; i++) {
        rec_recorder *typed = open_typed(recorders[i].name, REC_PRECISION_HALF);
        rec_recorder *untyped = rec_open_recorder(recorders[i].name, REC_PRECISION_FULL);
        if (recorders[i].typed) {
            for (int l = 0; l < LAYOUTS; l++) {
                rec_record *again;
                void *bytes;
                uint64_t size;
                assert_int_equal(rec_recorder_set(typed, "self-describing", "yes"), REC_OK);
                assert_int_equal(rec_recorder_set(typed, "layout", layouts[l]), REC_OK);
                assert_int_equal(rec_save_bytes(typed, record, &bytes, &size), REC_OK);
                again = rec_load_bytes(untyped, bytes, size);
                if (!again) {
                    fail_msg("%s: %s", recorders[i].name, rec_error_message());
                }
                check_record(again);
                rec_record_free(again);
                rec_free(bytes);
            }
        }
        rec_close_recorder(typed);
        rec_close_recorder(untyped);
    }
    rec_record_free(record);
}

/* Where there are names others' metadata come along; where there are none they would be read as what follows. */
static void metadata_of_ones_own_are_kept_or_left_out_with_a_note(void **state)
{
    rec_record *record = make_record(), *more = rec_record_copy(record), *again;
    (void)state;
    assert_int_equal(rec_metadata_set(more, "author", "me"), REC_OK);
    assert_int_equal(rec_metadata_set(more, "modelspec.title", "a model"), REC_OK);
    for (int i = 0; i < RECORDERS; i++) {
        rec_recorder *recorder = open_typed(recorders[i].name, REC_PRECISION_FULL);
        for (int l = 0; l < LAYOUTS; l++) {
            void *bytes, *more_bytes;
            uint64_t size, more_size;
            assert_int_equal(rec_recorder_set(recorder, "layout", layouts[l]), REC_OK);
            assert_int_equal(rec_save_bytes(recorder, record, &bytes, &size), REC_OK);
            /* One note may say whose layout it is: that of an old Burn is not for Burn's own store. */
            assert_true(rec_report_count() <= (strncmp(recorders[i].name, "Safetensors", 11) == 0));
            assert_int_equal(rec_save_bytes(recorder, more, &more_bytes, &more_size), REC_OK);
            if (recorders[i].typed) {
                assert_int_equal(rec_report_count(), 1);
                assert_int_equal(rec_report_note(0)->kind, REC_NOTE_DROPPED);
                assert_int_equal(rec_report_note(0)->count, 2);
                assert_string_equal(rec_report_note(0)->text, "2 entries of metadata, the first `author`: left out, "
                                                              "because data without names hold only Burn's own");
                assert_int_equal(size, more_size);
                assert_memory_equal(bytes, more_bytes, (size_t)size);
            }
            again = rec_load_bytes(recorder, more_bytes, more_size);
            if (!again) {
                fail_msg("%s: %s", recorders[i].name, rec_error_message());
            }
            check_record(again);
            assert_int_equal(rec_metadata(again, "author") == NULL, recorders[i].typed);
            rec_record_free(again);
            rec_free(bytes);
            rec_free(more_bytes);
        }
        rec_close_recorder(recorder);
    }
    rec_record_free(record);
    rec_record_free(more);
}

static void every_prefix_and_changed_byte_ends_well(void **state)
{
    rec_record *record = make_record();
    (void)state;
    for (int i = 0; i < RECORDERS; i++) {
        rec_recorder *recorder = open_typed(recorders[i].name, REC_PRECISION_FULL);
        uint8_t *bytes, *exact;
        void *saved;
        uint64_t size;
        if (recorders[i].typed) {
            assert_int_equal(rec_recorder_set(recorder, "self-describing", "yes"), REC_OK);
        }
        assert_int_equal(rec_save_bytes(recorder, record, &saved, &size), REC_OK);
        bytes = saved;
        for (size_t n = 0; n < size; n += n < 512 ? 1 : 7) {
            rec_record *again;
            exact = malloc(n ? n : 1);
            memcpy(exact, bytes, n);
            again = rec_load_bytes(recorder, exact, n);
            rec_record_free(again);
            free(exact);
        }
        for (size_t n = 0; n < size; n += n < 512 ? 1 : 3) {
            rec_record *again;
            bytes[n] ^= 0xff;
            again = rec_load_bytes(recorder, bytes, size);
            assert_int_equal(again != NULL, rec_error_status() == REC_OK);
            rec_record_free(again);
            bytes[n] ^= 0xff;
        }
        rec_free(saved);
        rec_close_recorder(recorder);
    }
    rec_record_free(record);
}

/* The type of a record's first module reads, and that is not all there is. */
static void a_type_that_ends_before_the_data_is_refused(void **state)
{
    static const float numbers[] = {1, 2, 3, 4};
    static const uint64_t shape[] = {2, 2};
    static const char source[] = "pub struct Two<B: Backend> { a: One<B>, b: One<B> }\n"
                                 "pub struct One<B: Backend> { weight: Param<Tensor<B, 2>> }";
    rec_recorder *recorder = rec_open_recorder("BinBytes", REC_PRECISION_KEEP);
    rec_types *types = rec_types_new(NULL);
    rec_record *record = rec_record_new(NULL), *first;
    void *data = NULL;
    uint64_t size;
    (void)state;
    assert_int_equal(rec_types_add_rust(types, source, "two.rs"), REC_OK);
    assert_int_equal(rec_recorder_set_type_name(recorder, types, "Two"), REC_OK);
    assert_int_equal(rec_set_f32(record, "a.weight", numbers, 2, shape), REC_OK);
    assert_int_equal(rec_set_f32(record, "b.weight", numbers, 2, shape), REC_OK);
    for (int described = 0; described < 2; described++) {
        assert_int_equal(rec_recorder_set_type_name(recorder, types, "Two"), REC_OK);
        assert_int_equal(rec_recorder_set(recorder, "self-describing", described ? "yes" : "no"), REC_OK);
        assert_int_equal(rec_recorder_set(recorder, "trailing", "refuse"), REC_OK);
        assert_int_equal(rec_save_bytes(recorder, record, &data, &size), REC_OK);
        first = rec_load_bytes(recorder, data, size); /* the type behind it is no rest */
        assert_non_null(first);
        assert_int_equal(rec_report_count(), 0);
        rec_record_free(first);
        assert_int_equal(rec_recorder_set_type_name(recorder, types, "One"), REC_OK);
        assert_null(rec_load_bytes(recorder, data, size));
        assert_int_equal(rec_error_status(), REC_E_FORMAT);
        assert_non_null(strstr(rec_error_message(), "the record ends here, and "));
        assert_non_null(strstr(rec_error_hint(), "The type is not that of the whole record"));
        assert_int_equal(rec_recorder_set(recorder, "trailing", "ignore"), REC_OK);
        first = rec_load_bytes(recorder, data, size);
        assert_non_null(first);
        assert_non_null(rec_tensor_at(first, "weight"));
        rec_record_free(first);
        rec_free(data);
    }
    rec_record_free(record);
    rec_types_free(types);
    rec_close_recorder(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_type_that_ends_before_the_data_is_refused),
        cmocka_unit_test(bincode_numbers_have_the_width_of_their_type),
        cmocka_unit_test(names_aliases_and_extensions),
        cmocka_unit_test(memory_round_trips_at_every_precision),
        cmocka_unit_test(every_version_of_the_layout_comes_back),
        cmocka_unit_test(files_convert_from_each_recorder_to_each_other),
        cmocka_unit_test(a_format_without_names_asks_for_the_type),
        cmocka_unit_test(a_record_that_carries_its_type_needs_none),
        cmocka_unit_test(metadata_of_ones_own_are_kept_or_left_out_with_a_note),
        cmocka_unit_test(every_prefix_and_changed_byte_ends_well),
    };
    return cmocka_run_group_tests_name("every recorder", tests, NULL, NULL);
}
