/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Each allocation failing in turn: ours through a context's allocator, and everybody's (libltdl, inih, msgpack-c, zlib,
 * libc) through malloc itself. Whatever fails, the operation ends with a status and the next one works. */
#include <errno.h>
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

/* ---------------------------------------------------------------------------------------- malloc that may fail -- */

static bool armed;
static long countdown; /* allocations until one fails */
static long failed;

static bool fails_now(void)
{
    if (!armed || countdown-- > 0) {
        return false;
    }
    armed = false; /* one failure a run: what comes after must cope with it */
    errno = ENOMEM;
    failed++;
    return true;
}

#include "tests/failing_malloc.h"

static uint64_t held; /* pieces that the context's allocator gave and did not get back */

static void *give(void *user, size_t size)
{
    void *memory = fails_now() ? NULL : malloc(size);
    (void)user;
    held += memory != NULL;
    return memory;
}

static void *give_more(void *user, void *old, size_t size)
{
    (void)user;
    return fails_now() ? NULL : realloc(old, size);
}

static void take_back(void *user, void *memory)
{
    (void)user;
    held--;
    free(memory);
}

/* -------------------------------------------------------------------------------------------------- operations -- */

typedef struct scene {
    scratch *folder;
    char record[600], gz[600], out[600], ini[600];
} scene;

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
    scene *s = calloc(1, sizeof *s);
    rec_context *context;
    rec_record *record;
    rec_recorder *recorder;
    float data[6] = {1, 2, 3, 4, 5, 6};
    uint64_t shape[2] = {2, 3};
    if (!s) {
        return -1;
    }
    s->folder = scratch_new();
    (void)snprintf(s->record, sizeof s->record, "%s/a.mpk", s->folder->path);
    (void)snprintf(s->gz, sizeof s->gz, "%s/a.mpk.gz", s->folder->path);
    (void)snprintf(s->out, sizeof s->out, "%s/out", s->folder->path);
    (void)snprintf(s->ini, sizeof s->ini, "%s/app.ini", s->folder->path);
    write_text(s->ini, "[librecord]\nprecision = full\n[recorder mine]\nplugin = NamedMpkGz\nlevel = 1\n");
    context = rec_context_new(NULL);
    record = rec_record_new(context);
    if (!record || rec_set_f32(record, "fc.weight", data, 2, shape) != REC_OK ||
        rec_set_f32(record, "fc.bias", data, 1, shape) != REC_OK || rec_set_string(record, "name", "x") != REC_OK ||
        rec_set_f32(record, "blocks.0.weight", data, 2, shape) != REC_OK) {
        return -1;
    }
    for (int i = 0; i < 40; i++) {
        char path[32];
        (void)snprintf(path, sizeof path, "list.%d", i);
        if (rec_set_uint(record, path, (uint64_t)i) != REC_OK) {
            return -1;
        }
    }
    recorder = rec_open_recorder_in(context, "NamedMpk", REC_PRECISION_FULL);
    if (!recorder || rec_save(recorder, record, s->record) != REC_OK) {
        return -1;
    }
    rec_close_recorder(recorder);
    recorder = rec_open_recorder_in(context, "NamedMpkGz", REC_PRECISION_FULL);
    if (!recorder || rec_save(recorder, record, s->gz) != REC_OK) {
        return -1;
    }
    rec_close_recorder(recorder);
    rec_record_free(record);
    rec_context_free(context);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    scene *s = *state;
    scratch_free(s->folder);
    free(s);
    return 0;
}

#define LINEAR_FIELDS(F, T) F(T, PARAM, weight, 2) F(T, OPTION_PARAM, bias, 1)
REC_DEFINE_STRUCT(LINEAR, LINEAR_FIELDS)
#define NET_FIELDS(F, T) F(T, CHILD, fc, LINEAR) F(T, STRING, name) F(T, LIST, blocks, LINEAR) F(T, VALUE, list)
REC_DEFINE_STRUCT(NET, NET_FIELDS)

/* Everything an application does, until something fails. @return whether all went well. */
static bool run(const scene *s, rec_context *context, const char *name, const char *file, rec_precision precision)
{
    rec_recorder *recorder = rec_open_recorder_in(context, name, precision);
    rec_record *record = NULL;
    rec_record *copy = NULL;
    rec_binding *binding = NULL;
    void *bytes = NULL;
    uint64_t size = 0;
    NET net;
    bool well = false;
    if (!recorder) {
        goto done;
    }
    record = rec_load(recorder, file);
    if (!record || !rec_tensor_at(record, "fc.weight")) {
        goto done;
    }
    binding = rec_bind(record, &NET_type, &net);
    copy = binding ? rec_record_copy(record) : NULL;
    if (!copy || rec_set_bool(copy, "new.flag", 1) != REC_OK || rec_remove(copy, "name") != REC_OK ||
        rec_metadata_set(copy, "note", "hello") != REC_OK || rec_save_bytes(recorder, copy, &bytes, &size) != REC_OK ||
        rec_save(recorder, copy, s->out) != REC_OK) {
        goto done;
    }
    well = net.blocks_count == 1 && net.fc.weight.data && net.fc.weight.data[0] == 1.0f;
done:
    rec_free(bytes);
    rec_binding_free(binding);
    rec_record_free(copy);
    rec_record_free(record);
    rec_close_recorder(recorder);
    return well;
}

/* Fails allocation 0, 1, 2… of an operation until it needs no more. */
static void each_in_turn(const scene *s, bool own_allocator, bool configured)
{
    static const rec_allocator allocator = {
        .size = sizeof allocator, .alloc = give, .resize = give_more, .release = take_back};
    long before = failed;
    for (long n = 0;; n++) {
        rec_context *context;
        bool well = false;
        uint64_t held_before = held;
        long failures = failed;
        countdown = n;
        armed = true;
        context = configured ? rec_config_open(s->ini) : rec_context_new(own_allocator ? &allocator : NULL);
        if (context) {
            well =
                run(s, context, configured ? "mine" : "NamedMpk", configured ? s->gz : s->record, REC_PRECISION_HALF);
        }
        armed = false;
        if (!well && failed == failures) {
            fail_msg("allocation %ld: failed although none was rejected: %s", n, rec_error_message());
        }
        if (!well) {
            assert_int_not_equal(rec_error_status(), REC_OK);
            assert_true(rec_error_message()[0] != '\0');
        }
        /* The same context must work now. */
        if (context && !run(s, context, "NamedMpk", s->record, REC_PRECISION_KEEP)) {
            fail_msg("after allocation %ld had failed: %s", n, rec_error_message());
        }
        rec_context_free(context);
        assert_int_equal(held, held_before);
        if (failed == failures) {
            assert_true(well);
            break;
        }
    }
    assert_true(failed - before > 20);
}

static void a_context_with_its_own_allocator_survives_each_failure(void **state)
{
    each_in_turn(*state, true, false);
}

static void every_allocation_of_the_process_may_fail(void **state)
{
    if (!REPLACES_MALLOC) {
        print_message("malloc belongs to the sanitizer\n");
        skip();
    }
    each_in_turn(*state, false, false);
}

static void every_allocation_of_a_configured_gzip_recorder_may_fail(void **state)
{
    if (!REPLACES_MALLOC) {
        print_message("malloc belongs to the sanitizer\n");
        skip();
    }
    each_in_turn(*state, false, true);
}

/* Loads bytes and saves them again in the same format while allocation 0, 1, 2… fails, until it needs no more. */
static void each_of_bytes(const char *format, const char *layout, const void *file, uint64_t file_size,
                          void (*check)(const rec_record *record, const void *saved, uint64_t size))
{
    static const rec_allocator allocator = {
        .size = sizeof allocator, .alloc = give, .resize = give_more, .release = take_back};
    for (long n = 0;; n++) {
        uint64_t held_before = held;
        long failures = failed;
        rec_context *context = rec_context_new(&allocator);
        rec_recorder *recorder = rec_open_recorder_in(context, format, REC_PRECISION_FULL);
        rec_record *record;
        void *bytes = NULL;
        uint64_t size = 0;
        bool well;
        assert_non_null(recorder);
        countdown = n;
        armed = true;
        record = rec_load_bytes(recorder, file, file_size);
        well = record && (!layout || rec_recorder_set(recorder, "layout", layout) == REC_OK) &&
               rec_save_bytes(recorder, record, &bytes, &size) == REC_OK;
        armed = false;
        if (!well && failed == failures) {
            fail_msg("%s, allocation %ld: failed although none was rejected: %s", format, n, rec_error_message());
        }
        if (!well) {
            assert_int_not_equal(rec_error_status(), REC_OK);
        } else {
            check(record, bytes, size);
        }
        rec_free(bytes);
        rec_record_free(record);
        rec_close_recorder(recorder);
        rec_context_free(context);
        assert_int_equal(held, held_before);
        if (failed == failures) {
            assert_true(well && n > 20);
            break;
        }
    }
}

static void is_not_transposed(const rec_record *record, const void *saved, uint64_t size)
{
    const rec_tensor *weight = rec_tensor_at(record, "type.weight");
    assert_non_null(weight);
    assert_int_equal(rec_tensor_shape(weight)[0], 3);
    assert_non_null(memmem(saved, (size_t)size, "\"r#type.weight\":{", 17));
}

/* A file of Burn's own store, whose plan is made both ways, with a name of Rust's source; written for that store again.
 */
static void every_allocation_of_an_import_may_fail(void **state)
{
    static const char header[] = "{\"__metadata__\":{\"producer\":\"burn\",\"version\":\"0.21.0\"},"
                                 "\"r#type.weight\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[0,24]},"
                                 "\"r#type.bias\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[24,32]}}";
    uint8_t file[8 + sizeof header - 1 + 32] = {(uint8_t)(sizeof header - 1), (uint8_t)((sizeof header - 1) >> 8)};
    memcpy(file + 8, header, sizeof header - 1);
    (void)state;
    each_of_bytes("Safetensors", "burn-0.21", file, sizeof file, is_not_transposed);
}

static void has_two_blocks(const rec_record *record, const void *saved, uint64_t size)
{
    const float *last = rec_tensor_f32(rec_tensor_at(record, "blocks.1.scale"));
    assert_true(last && last[5] == 6);
    assert_true(saved && size);
}

/* Two tensors, as Burn has them or, `flat`, under the paths of another framework's file, into whose bytes they point.
 */
static rec_record *two_blocks(rec_context *context, bool flat, void **file)
{
    const float data[6] = {1, 2, 3, 4, 5, 6};
    rec_record *record = rec_record_new(context), *other = NULL;
    rec_recorder *recorder = rec_open_recorder_in(context, "Safetensors", REC_PRECISION_FULL);
    uint64_t size;
    *file = NULL;
    assert_int_equal(rec_set_f32(record, "blocks.0.scale", data, 1, (const uint64_t[]){6}), REC_OK);
    assert_int_equal(rec_set_f32(record, "blocks.1.scale", data, 1, (const uint64_t[]){6}), REC_OK);
    if (flat) {
        assert_int_equal(rec_recorder_set(recorder, "record", "no"), REC_OK);
        assert_int_equal(rec_save_bytes(recorder, record, file, &size), REC_OK);
        other = rec_load_bytes(recorder, *file, size);
        assert_non_null(other);
        rec_record_free(record);
    }
    rec_close_recorder(recorder);
    return flat ? other : record;
}

static void every_allocation_of_another_framework_s_file_may_fail(void **state)
{
    static const char *const formats[] = {"PyTorch", "Gguf", "Npz", "Burnpack", "Safetensors"};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof formats / sizeof *formats; i++) {
        const char *format = formats[i / 2];
        rec_context *context = rec_context_new(NULL);
        void *borrowed, *file;
        rec_record *record = two_blocks(context, i % 2, &borrowed);
        rec_recorder *recorder = rec_open_recorder_in(context, format, REC_PRECISION_FULL);
        uint64_t size;
        if (!recorder) { /* without its library */
            print_message("# %s: not tested\n", format);
        } else {
            assert_int_equal(rec_save_bytes(recorder, record, &file, &size), REC_OK);
            each_of_bytes(format, NULL, file, size, has_two_blocks);
            rec_free(file);
        }
        rec_close_recorder(recorder);
        rec_record_free(record);
        rec_free(borrowed);
        rec_context_free(context);
    }
}

static void every_allocation_of_a_format_in_a_codec_may_fail(void **state)
{
    static const rec_allocator allocator = {
        .size = sizeof allocator, .alloc = give, .resize = give_more, .release = take_back};
    (void)state;
    for (long n = 0;; n++) {
        uint64_t held_before = held;
        long failures = failed;
        rec_context *context = rec_context_new(&allocator);
        rec_recorder *recorder;
        countdown = n;
        armed = true;
        recorder = rec_open_recorder_in(context, "safetensors.gz", REC_PRECISION_FULL);
        armed = false;
        if (recorder) {
            assert_string_equal(rec_recorder_name(recorder), "Safetensors.gz");
        } else {
            assert_int_not_equal(failed, failures);
            assert_int_equal(rec_error_status(), REC_E_MEMORY);
        }
        rec_close_recorder(recorder);
        rec_context_free(context);
        assert_int_equal(held, held_before);
        if (failed == failures) {
            assert_true(n > 5);
            break;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_context_with_its_own_allocator_survives_each_failure, set_up, tear_down),
        cmocka_unit_test(every_allocation_of_an_import_may_fail),
        cmocka_unit_test(every_allocation_of_another_framework_s_file_may_fail),
        cmocka_unit_test(every_allocation_of_a_format_in_a_codec_may_fail),
        cmocka_unit_test_setup_teardown(every_allocation_of_the_process_may_fail, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_of_a_configured_gzip_recorder_may_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("failing allocations", tests, NULL, NULL);
}
