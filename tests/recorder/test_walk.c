/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Walks of a save that are stopped: each event of a record in the layout of each kind of version, by a type and without
 * one, is refused by the writer once. The walk tells nothing after it, ends with that status, and the next one is
 * whole. And walks by a type that the record is not of, in what words they are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "burn/visit/visit.h"
#include "core/config/config.h"
#include "recorder/recorder.h"

typedef struct writer {
    rec_job *job;
    uint64_t events, stop_at;
    bool stopped;
} writer;

static int32_t event(void *self)
{
    writer *w = self;
    if (w->stopped) {
        fail_msg("event %llu was told after the refusal", (unsigned long long)w->events);
    }
    w->stopped = w->events++ == w->stop_at;
    return w->stopped ? rec_fail(w->job, REC_E_IO, REC_UNKNOWN, "the writer stops") : REC_OK;
}

static int32_t on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    (void)at, (void)key, (void)value;
    return event(self);
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    (void)at, (void)scalar;
    return event(self);
}

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    (void)at, (void)dtype, (void)data, (void)count;
    return event(self);
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    (void)at, (void)blob;
    return event(self);
}

static int32_t on_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at, (void)form, (void)count;
    return event(self);
}

static int32_t on_variant(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    (void)at, (void)index, (void)name, (void)payload;
    return event(self);
}

static int32_t on_end(void *self, uint64_t at)
{
    (void)at;
    return event(self);
}

static int32_t on_option(void *self, uint64_t at, int32_t present)
{
    (void)at, (void)present;
    return event(self);
}

static int32_t on_tensor(void *self, uint64_t at, const rec_tensor_event *tensor)
{
    (void)at, (void)tensor;
    return event(self);
}

/* A writer that has each event, and one with those alone that each has to have. */
static const rec_visitor all_events = {
    .size = sizeof all_events,
    .metadata = on_metadata,
    .scalar = on_scalar,
    .numbers = on_numbers,
    .bytes = on_bytes,
    .list_begin = on_begin,
    .map_begin = on_begin,
    .key = on_scalar,
    .variant_begin = on_variant,
    .end = on_end,
    .option = on_option,
    .tensor = on_tensor,
    .metadata_value = on_scalar,
};
static const rec_visitor few_events = {
    .size = sizeof few_events,
    .metadata = on_metadata,
    .scalar = on_scalar,
    .list_begin = on_begin,
    .map_begin = on_begin,
    .key = on_scalar,
    .end = on_end,
    .tensor = on_tensor,
};

/* ------------------------------------------------------------------------------------------------------- walks -- */

/* One way to save: for a version, by what the plugin says of itself, by a type or none. */
typedef struct way {
    const rec_record *record;
    lr_type_ref type;
    uint64_t traits;
    int32_t minor;
    const rec_visitor *visitor;
    bool checked;
} way;

static int32_t walk_once(const way *w, writer *to)
{
    const rec_plugin plugin = {.abi = REC_PLUGIN_ABI, .size = sizeof plugin, .name = "Stops", .traits = w->traits};
    lr_check *check = NULL;
    rec_job job;
    int32_t status;
    lr_job_begin(&job, w->record->context, "save", "it");
    job.plugin = &plugin;
    job.type = w->type;
    job.passing = true;
    job.budget.limit = UINT64_MAX;
    status = lr_walk_begin(&job, w->record, REC_PRECISION_KEEP, false, w->minor);
    if (status == REC_OK && w->checked) {
        check = lr_check_new(&job);
        status = check ? REC_OK : job.error.status;
    }
    to->job = &job;
    status = status == REC_OK ? rec_job_walk(&job, w->visitor, to) : status;
    lr_check_free(check);
    lr_layouts_free(&job);
    lr_walk_free(&job);
    lr_job_drop(&job);
    return status;
}

/* @return whether this way can be gone at all. */
static bool stop_everywhere(const way *w)
{
    writer whole = {.stop_at = UINT64_MAX};
    uint64_t step;
    if (walk_once(w, &whole) != REC_OK) {
        return false;
    }
    assert_true(whole.events > 0);
    step = 1 + whole.events / 400; /* of many that are alike */
    for (uint64_t at = 0; at < whole.events; at += step) {
        writer to = {.stop_at = at};
        int32_t status = walk_once(w, &to);
        if (status != REC_E_IO || to.events != at + 1) {
            fail_msg("event %llu of %llu: status %d after %llu", (unsigned long long)at,
                     (unsigned long long)whole.events, (int)status, (unsigned long long)to.events);
        }
    }
    return true;
}

/* @return how many ways there were. */
static unsigned stop_all_ways(const rec_record *record, lr_type_ref type)
{
    static const int32_t minors[] = {LR_TARGET_KEEP, LR_TARGET_PLAIN, 7, 10, 12, 13, 14, 16, 18, 19, 21, 22, 23};
    static const uint64_t traits[] = {0, REC_TRAIT_NO_NAMES, REC_TRAIT_TENSORS, REC_TRAIT_TENSORS | REC_TRAIT_PATHS};
    unsigned gone = 0;
    for (size_t m = 0; m < sizeof minors / sizeof *minors; m++) {
        for (size_t t = 0; t < sizeof traits / sizeof *traits; t++) {
            for (int few = 0; few < 2; few++) {
                const way w = {.record = record,
                               .type = type,
                               .traits = traits[t],
                               .minor = minors[m],
                               .visitor = few ? &few_events : &all_events,
                               .checked = (m + (size_t)few) % 2 == 0};
                gone += stop_everywhere(&w);
            }
        }
    }
    return gone;
}

/* ----------------------------------------------------------------------------------------------------- records -- */

static void burn_s_own_files(void **state)
{
    static const char *const files[] = {"0.13.2/zoo-full.mpk",      "0.21.0/zoo-half.mpk", "0.21.0/adam-full.mpk",
                                        "0.21.0/composed-full.mpk", "0.14.0/zoo-full.mpk", "0.21.0/constant-full.mpk"};
    const char *srcdir = getenv("srcdir");
    rec_recorder *recorder = rec_open_recorder("NamedMpk", REC_PRECISION_KEEP);
    (void)state;
    assert_non_null(recorder);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[600];
        rec_record *record;
        (void)snprintf(path, sizeof path, "%s/tests/data/burn/%s", srcdir ? srcdir : ".", files[i]);
        record = rec_load(recorder, path);
        if (!record) {
            fail_msg("%s", rec_error_message());
            return;
        }
        assert_true(stop_all_ways(record, (lr_type_ref){0}) > 50);
        rec_record_free(record);
    }
    rec_close_recorder(recorder);
}

static const float numbers[6] = {1, 2, 3, 4, 5, 6};

static void put(rec_record *record, const char *key, rec_dtype dtype, const void *data, uint64_t size)
{
    const uint64_t shape[2] = {2, 3};
    const rec_tensor_spec spec = {
        .size = sizeof spec, .dtype = dtype, .rank = 2, .shape = shape, .data = data, .data_size = size};
    if (rec_set_tensor(record, key, &spec) != REC_OK) {
        fail_msg("%s: %s", key, rec_error_message());
    }
}

static const char source[] =
    "#[derive(Module, Debug)]\n"
    "pub struct Net<B: Backend> { fc: Linear<B>, norms: Vec<LayerNorm<B>>, pair: [Linear<B>; 2], head: Head<B>,\n"
    "    none: Option<Linear<B>>, both: (Linear<B>, Param<Tensor<B, 2>>), steps: usize }\n"
    "#[derive(Module, Debug)]\n"
    "pub enum Head<B: Backend> { Wide(Linear<B>), Empty }\n"
    "#[derive(Record)]\n"
    "pub struct State<B: Backend> { net: Net<B>, ints: Tensor<B, 2, Int>, bools: Tensor<B, 2, Bool>, epoch: u32,\n"
    "    names: Vec<String>, rates: [f32; 2], by: HashMap<String, u8>, sizes: Vec<i16>, kind: Kind, other: Kind, "
    "third: Kind,\n"
    "    at: Option<i64>, unit: (), flags: Vec<bool>, mixed: (u8, String, f64), nothing: Option<Vec<f64>> }\n"
    "#[derive(Record)]\n"
    "pub enum Kind { First, Second { left: u8, right: bool }, Third(u16, f64) }\n";

static rec_record *state_record(void)
{
    static const char *const weights[] = {"net.fc", "net.pair.0", "net.pair.1", "net.both.0", "net.head.Wide"};
    static const int64_t ints[6] = {1, -2, 3, -4, 5, 6};
    static const uint8_t bools[6] = {1, 0, 1, 0, 0, 1};
    const uint64_t shape[2] = {2, 3};
    rec_record *record = rec_record_new(NULL);
    assert_non_null(record);
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "%s.weight", weights[i]);
        assert_int_equal(rec_set_f32(record, path, numbers, 2, shape), REC_OK);
        (void)snprintf(path, sizeof path, "%s.bias", weights[i]);
        assert_int_equal(rec_set_f32(record, path, numbers, 1, shape + 1), REC_OK);
    }
    assert_int_equal(rec_set_f32(record, "net.norms.0.gamma", numbers, 1, shape), REC_OK);
    assert_int_equal(rec_set_f32(record, "net.norms.0.beta", numbers, 1, shape), REC_OK);
    assert_int_equal(rec_set_f32(record, "net.both.1", numbers, 2, shape), REC_OK);
    put(record, "ints", REC_DTYPE_I64, ints, sizeof ints);
    put(record, "bools", REC_DTYPE_BOOL, bools, sizeof bools);
    assert_int_equal(rec_set_uint(record, "epoch", 7), REC_OK);
    assert_int_equal(rec_set_string(record, "names.0", "one"), REC_OK);
    assert_int_equal(rec_set_string(record, "names.1", "two"), REC_OK);
    assert_int_equal(rec_set_float(record, "rates.0", 0.5), REC_OK);
    assert_int_equal(rec_set_float(record, "rates.1", 0.25), REC_OK);
    assert_int_equal(rec_set_uint(record, "by.x", 1), REC_OK);
    assert_int_equal(rec_set_int(record, "sizes.0", -1), REC_OK);
    assert_int_equal(rec_set_uint(record, "kind.Second.left", 2), REC_OK);
    assert_int_equal(rec_set_bool(record, "kind.Second.right", 1), REC_OK);
    assert_int_equal(rec_set_string(record, "other", "First"), REC_OK);
    assert_int_equal(rec_set_uint(record, "third.Third.0", 9), REC_OK);
    assert_int_equal(rec_set_float(record, "third.Third.1", 0.5), REC_OK);
    assert_int_equal(rec_set_nil(record, "at"), REC_OK);
    assert_int_equal(rec_set_bool(record, "flags.0", 0), REC_OK);
    assert_int_equal(rec_set_uint(record, "mixed.0", 1), REC_OK);
    assert_int_equal(rec_set_string(record, "mixed.1", "m"), REC_OK);
    assert_int_equal(rec_set_float(record, "mixed.2", 1.5), REC_OK);
    assert_int_equal(rec_metadata_set(record, "note", "said"), REC_OK);
    assert_int_equal(rec_metadata_set_value(record, "tree", rec_value_at(record, "kind")), REC_OK);
    return record;
}

static void a_record_with_each_kind_of_value(void **state)
{
    rec_record *record = state_record();
    rec_types *types = rec_types_new(NULL);
    rec_recorder *recorder = rec_open_recorder("NamedMpk", REC_PRECISION_KEEP);
    (void)state;
    assert_true(types && recorder);
    assert_int_equal(rec_types_add_rust(types, source, "state.rs"), REC_OK);
    assert_int_equal(rec_recorder_set_type_name(recorder, types, "State"), REC_OK);
    assert_true(stop_all_ways(record, (lr_type_ref){0}) > 50);
    assert_true(stop_all_ways(record, recorder->type) > 50);
    rec_close_recorder(recorder);
    rec_types_free(types);
    rec_record_free(record);
}

/* --------------------------------------------------------------------------------------- types that do not fit -- */

static void set_value(rec_record *record, const char *what)
{
    const uint64_t shape[2] = {2, 3};
    static const int64_t ints[6] = {1, 2, 3, 4, 5, 6};
    rec_status status = REC_OK;
    if (strcmp(what, "text") == 0) {
        status = rec_set_string(record, "a", "text");
    } else if (strcmp(what, "300") == 0) {
        status = rec_set_uint(record, "a", 300);
    } else if (strcmp(what, "-300") == 0) {
        status = rec_set_int(record, "a", -300);
    } else if (strcmp(what, "2.5") == 0) {
        status = rec_set_float(record, "a", 2.5);
    } else if (strcmp(what, "three") == 0) {
        for (int i = 0; i < 3 && status == REC_OK; i++) {
            const char *const keys[] = {"a.0", "a.1", "a.2"};
            status = rec_set_uint(record, keys[i], (uint64_t)i);
        }
    } else if (strcmp(what, "matrix") == 0) {
        status = rec_set_f32(record, "a", numbers, 2, shape);
    } else {
        put(record, "a", REC_DTYPE_I64, ints, sizeof ints);
    }
    assert_int_equal(status, REC_OK);
}

static void a_record_that_is_not_of_its_type_is_refused(void **state)
{
    static const struct {
        const char *type, *value, *words;
    } cases[] = {
        {"u8", "text", "expected an unsigned integer, found a string"},
        {"u8", "300", "the number does not fit u8"},
        {"i8", "300", "the number does not fit i8"},
        {"i8", "-300", "the number does not fit i8"},
        {"u8", "-300", "the number does not fit u8"},
        {"i32", "text", "expected an integer, found a string"},
        {"f32", "text", "expected a float, found a string"},
        {"String", "2.5", "expected a string, found a float"},
        {"bool", "2.5", "expected a bool, found a float"},
        {"(u8, u8)", "three", "3 elements where the type has 2"},
        {"(u8, u8)", "text", "expected a tuple of 2 values, found a string"},
        {"Vec<u8>", "text", "expected a list, found a string"},
        {"Vec<String>", "three", "expected a string, found an unsigned integer"},
        {"Inner", "text", "expected a struct, found a string"},
        {"HashMap<String, u8>", "text", "expected a map, found a string"},
        {"Kind", "2.5", "expected a variant of an enum, found a float"},
        {"Kind", "text", "the type has no variant `text`"},
        {"Tensor<B, 2>", "text", "expected a tensor, found a string"},
        {"Tensor<B, 1>", "matrix", "a tensor of rank 2 where the type has rank 1"},
        {"Tensor<B, 2, Int>", "matrix", "a tensor of f32 where the type has integers"},
        {"Tensor<B, 2, Bool>", "matrix", "a tensor of f32 where the type has bools"},
        {"Tensor<B, 2>", "integers", "a tensor of i64 where the type has floats"},
    };
    rec_recorder *recorder = rec_open_recorder("NamedMpk", REC_PRECISION_KEEP);
    unsigned wrong = 0;
    (void)state;
    assert_non_null(recorder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        void *bytes = NULL;
        uint64_t size = 0;
        rec_types *types = rec_types_new(NULL);
        rec_record *record = rec_record_new(NULL);
        assert_true(types && record);
        (void)snprintf(text, sizeof text,
                       "#[derive(Record)]\npub struct State<B: Backend> { a: %s }\n"
                       "#[derive(Record)]\npub struct Inner { x: u8 }\n"
                       "#[derive(Record)]\npub enum Kind { First, Second }\n",
                       cases[i].type);
        assert_int_equal(rec_types_add_rust(types, text, "state.rs"), REC_OK);
        assert_int_equal(rec_recorder_set_type_name(recorder, types, "State"), REC_OK);
        set_value(record, cases[i].value);
        if (rec_save_bytes(recorder, record, &bytes, &size) == REC_OK || bytes ||
            !strstr(rec_error_message(), cases[i].words)) {
            print_error("%s of %s, expected %s, found %s: %s\n", cases[i].value, cases[i].type, cases[i].words,
                        rec_status_name(rec_error_status()), rec_error_message());
            wrong++;
        }
        rec_record_free(record);
        rec_types_free(types);
    }
    rec_close_recorder(recorder);
    assert_int_equal(wrong, 0);
}

/* A file without names that carries its type: each kind of type as text and back. */
static void a_type_goes_with_its_file(void **state)
{
    rec_record *record = state_record(), *again;
    rec_types *types = rec_types_new(NULL);
    rec_recorder *typed = rec_open_recorder("Bin", REC_PRECISION_KEEP),
                 *plain = rec_open_recorder("Bin", REC_PRECISION_KEEP);
    void *bytes = NULL, *other = NULL;
    uint64_t size = 0, other_size = 0;
    (void)state;
    assert_true(types && typed && plain);
    assert_int_equal(rec_types_add_rust(types, source, "state.rs"), REC_OK);
    assert_int_equal(rec_recorder_set_type_name(typed, types, "State"), REC_OK);
    assert_int_equal(rec_recorder_set(typed, "self-describing", "yes"), REC_OK);
    if (rec_save_bytes(typed, record, &bytes, &size) != REC_OK || !(again = rec_load_bytes(plain, bytes, size))) {
        fail_msg("%s", rec_error_message());
        return;
    }
    assert_int_equal(rec_value_scalar(rec_value_at(again, "by.x")).v.u, 1);
    assert_int_equal(rec_save_bytes(typed, again, &other, &other_size), REC_OK);
    assert_int_equal(other_size, size);
    assert_memory_equal(other, bytes, (size_t)size);
    rec_free(other);
    rec_free(bytes);
    rec_record_free(again);
    rec_close_recorder(plain);
    rec_close_recorder(typed);
    rec_types_free(types);
    rec_record_free(record);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(burn_s_own_files),
        cmocka_unit_test(a_record_with_each_kind_of_value),
        cmocka_unit_test(a_record_that_is_not_of_its_type_is_refused),
        cmocka_unit_test(a_type_goes_with_its_file),
    };
    return cmocka_run_group_tests_name("walks that are stopped", tests, NULL, NULL);
}
