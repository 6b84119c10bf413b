/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What plugin.h offers to the author of a format: paths, levels, slices, pieces, companion files below the folder,
 * options, data of the plugin's own. A plugin of the program uses it, which does what its input says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "librecord.h"
#include "librecord/plugin.h"
#include "tests/scratch.h"

/* ------------------------------------------------------------------------------------------------------- plugin -- */

typedef struct kit {
    int inits;
    const char *refusal;
    int probed, loaded;
    int64_t bytes;
    char text[2048]; /* the events that the writer received */
} kit;

static int32_t kit_init(rec_job *job, void *user)
{
    kit *k = user;
    k->inits++;
    if (k->refusal && strcmp(k->refusal, "silent") == 0) {
        return REC_E_IO;
    }
    return k->refusal ? rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "%s", k->refusal) : REC_OK;
}

static int32_t kit_probe(const rec_head *head)
{
    ((kit *)head->user)->probed++;
    return head->length >= 4 && memcmp(head->data, "kit:", 4) == 0 ? 32 : 0;
}

/* One tensor of bytes with a key made of names. */
static int32_t tell(rec_job *job, const rec_visitor *v, void *self, rec_path *path, const rec_blob *blob)
{
    rec_scalar key = {.kind = REC_KIND_STRING, .text = path->text, .v.length = path->length};
    uint64_t shape = blob->length;
    rec_tensor_event event = {.size = sizeof event, .dtype = REC_DTYPE_U8, .rank = 1, .shape = &shape, .data = *blob};
    int32_t status = v->map_begin(self, 0, REC_FORM_PATHS, 1);
    status = status == REC_OK ? v->key(self, 0, &key) : status;
    status = status == REC_OK ? v->tensor(self, 0, &event) : status;
    (void)job;
    return status == REC_OK ? v->end(self, 0) : status;
}

static int32_t zeros(void *user, void *target, uint64_t size)
{
    (void)user;
    memset(target, 0, (size_t)size);
    return REC_OK;
}

/* The chunks "cd" and "ab" of "kit:pieces cdab", in order; and an empty one. */
static int32_t load_pieces(rec_job *job, rec_source *source, rec_source **out)
{
    rec_source_piece pieces[3] = {{.size = sizeof *pieces, .source = source, .offset = 13, .length = 2},
                                  {.size = sizeof *pieces, .source = source, .offset = 13, .length = 0},
                                  {.size = sizeof *pieces, .source = source, .offset = 11, .length = 2}};
    return rec_source_pieces(job, "chunks", pieces, 3, out);
}

static int32_t kit_load(rec_job *job, rec_source *source, const rec_visitor *v, void *self)
{
    kit *k = rec_job_user(job);
    const void *data;
    uint64_t size = 0, length, levels;
    char text[256] = "", name[200];
    rec_source *other = NULL;
    rec_blob blob = {.size = sizeof blob};
    rec_path path = {0};
    int32_t status = rec_source_measure(job, source, &size);
    k->loaded++;
    k->bytes = rec_job_option_int(job, "bytes");
    status = status == REC_OK ? rec_source_view(job, source, &data, &size) : status;
    if (status != REC_OK) {
        return status;
    }
    (void)snprintf(text, sizeof text, "%.*s", (int)size, (const char *)data);
    status = rec_path_push(job, &path, "a.b", 3);
    length = path.length;
    levels = path.levels;
    status = status == REC_OK ? rec_path_push(job, &path, "gone", 4) : status;
    rec_path_pop(&path, length, levels);
    status = status == REC_OK ? rec_path_push(job, &path, "", 0) : status;
    status = status == REC_OK ? rec_path_push(job, &path, "c\\", 2) : status;
    if (status == REC_OK && strcmp(path.text, "a\\.b..c\\\\") != 0) {
        return rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "the path is %s", path.text);
    }
    path = (rec_path){0};
    status = status == REC_OK ? rec_path_push(job, &path, "layer", 5) : status;
    status = status == REC_OK ? rec_path_push(job, &path, "weight", 6) : status;
    if (status == REC_OK && strncmp(text, "kit:pieces", 10) == 0) {
        status = load_pieces(job, source, &other);
        blob.kind = REC_BLOB_RANGE;
        blob.source = other;
        blob.length = 4;
    } else if (status == REC_OK && sscanf(text, "kit:beside %199s", name) == 1) {
        status = rec_source_beside(job, source, name, &other);
        blob.kind = REC_BLOB_RANGE;
        blob.source = other;
        blob.length = status == REC_OK ? rec_source_size(other) : 0;
    } else if (status == REC_OK) {
        blob.kind = REC_BLOB_STREAM;
        blob.read = zeros;
        blob.length = 64 << 20;
        status = strcmp(text, "kit:inflated") == 0 ? rec_job_check_inflated(job, size, blob.length) : REC_OK;
    }
    status = status == REC_OK ? tell(job, v, self, &path, &blob) : status;
    rec_source_release(other);
    return status;
}

/* The writer's visitor: events as a text. */
typedef struct writer {
    rec_job *job;
    rec_sink *sink;
    kit *kit;
} writer;

static int32_t say(writer *w, const char *format, ...) REC_PRINTF(2, 3);
static int32_t say(writer *w, const char *format, ...)
{
    size_t used = strlen(w->kit->text);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(w->kit->text + used, sizeof w->kit->text - used, format, args);
    va_end(args);
    return REC_OK;
}

static int32_t on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    (void)self, (void)at, (void)key, (void)value;
    return REC_OK;
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    (void)at, (void)scalar;
    return say(self, "? ");
}

static int32_t on_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at, (void)form, (void)count;
    return say(self, "[ ");
}

static int32_t on_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at;
    return say(self, "%s{%llu ", form == REC_FORM_PATHS ? "paths" : "", (unsigned long long)count);
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    (void)at;
    return say(self, "%.*s:", (int)key->v.length, key->text);
}

static int32_t on_end(void *self, uint64_t at)
{
    (void)at;
    return say(self, "} ");
}

/* Writes the data back to front, in slices of one byte, where random access is possible. */
static int32_t on_tensor(void *self, uint64_t at, const rec_tensor_event *tensor)
{
    writer *w = self;
    int32_t status = REC_OK;
    (void)at;
    for (uint64_t i = 0; i < tensor->data.length && tensor->data.length < 16 && status == REC_OK; i++) {
        bool stream = tensor->data.kind == REC_BLOB_STREAM;
        uint64_t from = stream ? i : tensor->data.length - 1 - i;
        rec_blob slice;
        char byte[2] = "";
        status = rec_blob_slice(w->job, &tensor->data, from, 1, &slice);
        status = status == REC_OK ? rec_blob_read(w->job, &slice, 0, byte, 1) : status;
        status = status == REC_OK ? say(w, "%s", byte) : status;
    }
    return status == REC_OK ? say(w, " ") : status;
}

static int32_t kit_save(rec_job *job, rec_sink *sink)
{
    static const rec_visitor visitor = {.size = sizeof visitor,
                                        .metadata = on_metadata,
                                        .scalar = on_scalar,
                                        .list_begin = on_list,
                                        .map_begin = on_map,
                                        .key = on_key,
                                        .end = on_end,
                                        .tensor = on_tensor};
    writer w = {.job = job, .sink = sink, .kit = rec_job_user(job)};
    int32_t status;
    w.kit->text[0] = '\0';
    status = rec_job_walk_levels(job, &visitor, &w);
    return status == REC_OK ? rec_sink_write(sink, w.kit->text, strlen(w.kit->text)) : status;
}

static const char *const old_names[] = {"octets", NULL};
static const rec_option bytes = {.size = sizeof bytes,
                                 .type = REC_OPTION_SIZE,
                                 .name = "bytes",
                                 .initial = "1 KiB",
                                 .help = "bytes",
                                 .minimum = 16,
                                 .maximum = 1 << 30,
                                 .old_names = old_names};
static const rec_option share = {.size = sizeof share,
                                 .type = REC_OPTION_FLOAT,
                                 .name = "share",
                                 .initial = "0.5",
                                 .help = "share",
                                 .low = 0,
                                 .high = 1};
static const rec_option *const options[] = {&bytes, &share, NULL};

static rec_plugin kit_plugin(kit *k)
{
    return (rec_plugin){.abi = REC_PLUGIN_ABI,
                        .size = sizeof(rec_plugin),
                        .name = "Kit",
                        .extension = "kit",
                        .description = "a test",
                        .traits = REC_TRAIT_TENSORS,
                        .options = options,
                        .probe = kit_probe,
                        .load = kit_load,
                        .save = kit_save,
                        .adapter = "foreign",
                        .user = k,
                        .init = kit_init};
}

/* ------------------------------------------------------------------------------------------------------- scenes -- */

typedef struct scene {
    scratch *folder;
    rec_context *context;
    rec_plugin plugin;
    kit kit;
} scene;

static int set_up(void **state)
{
    scene *s = calloc(1, sizeof *s);
    s->folder = scratch_new();
    s->context = rec_context_new(NULL);
    s->plugin = kit_plugin(&s->kit);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    scene *s = *state;
    rec_context_free(s->context);
    scratch_free(s->folder);
    free(s);
    return 0;
}

static rec_recorder *recorder_of(scene *s, const char *option, const char *value)
{
    rec_recorder *r;
    if (rec_context_add_plugin(s->context, &s->plugin) != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    r = rec_open_recorder_in(s->context, "Kit", REC_PRECISION_KEEP);
    if (!r || (option && rec_recorder_set(r, option, value) != REC_OK)) {
        fail_msg("%s", rec_error_message());
    }
    return r;
}

static void write_text(const scene *s, const char *name, const char *text)
{
    char *path = scratch_path(s->folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
    free(path);
}

static rec_record *load(const scene *s, rec_recorder *r, const char *name)
{
    char *path = scratch_path(s->folder, name);
    rec_record *record = rec_load(r, path);
    free(path);
    return record;
}

static void expect_bytes(const rec_record *record, const char *path, const char *data)
{
    const rec_tensor *tensor = record ? rec_tensor_at(record, path) : NULL;
    uint64_t size;
    if (!tensor) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(rec_tensor_count(tensor), strlen(data));
    assert_memory_equal(rec_tensor_bytes(tensor, &size), data, strlen(data));
}

/* -------------------------------------------------------------------------------------------------------- tests -- */

static void test_init_runs_once_and_functions_get_user(void **state)
{
    scene *s = *state;
    rec_recorder *r = recorder_of(s, NULL, NULL), *any;
    rec_record *record;
    write_text(s, "a.kit", "kit:pieces cdab");
    any = rec_open_recorder_in(s->context, "Auto", REC_PRECISION_KEEP);
    assert_non_null(any);
    record = load(s, any, "a.kit");
    assert_non_null(record);
    rec_record_free(record);
    assert_int_equal(s->kit.inits, 1);
    assert_true(s->kit.probed > 0);
    assert_int_equal(s->kit.loaded, 1);
    rec_close_recorder(any);
    rec_close_recorder(r);
}

static void test_init_rejects_with_its_reason(void **state)
{
    static const struct {
        const char *refusal, *reason;
    } cases[] = {{"libkit 1.10 is too old", "the program's plugin Kit was rejected: libkit 1.10 is too old"},
                 {"silent", "the program's plugin Kit was rejected: its init failed with status"}};
    scene *s = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        s->kit.refusal = cases[i].refusal;
        assert_int_equal(rec_context_add_plugin(s->context, &s->plugin), REC_E_PLUGIN);
        if (!strstr(rec_error_message(), cases[i].reason)) {
            fail_msg("%s", rec_error_message());
        }
    }
}

static void test_pieces_are_one_source(void **state)
{
    scene *s = *state;
    rec_recorder *r = recorder_of(s, NULL, NULL);
    rec_record *record;
    write_text(s, "a.kit", "kit:pieces cdab");
    record = load(s, r, "a.kit");
    expect_bytes(record, "layer.weight", "abcd");
    rec_record_free(record);
    write_text(s, "short.kit", "kit:pieces cd");
    assert_null(load(s, r, "short.kit"));
    assert_int_equal(rec_error_status(), REC_E_FORMAT);
    assert_non_null(strstr(rec_error_message(), "2 bytes are expected here, but the file has 13"));
    rec_close_recorder(r);
}

static void test_companion_files_may_be_below(void **state)
{
    static const char *const outside[] = {"../w.bin", "sub/../w.bin", "/etc/passwd", "sub//w.bin", "./w.bin", "sub/"};
    scene *s = *state;
    rec_recorder *r = recorder_of(s, NULL, NULL);
    char *below = scratch_path(s->folder, "sub");
    rec_record *record;
    assert_int_equal(mkdir(below, 0755), 0);
    write_text(s, "sub/w.bin", "weights");
    write_text(s, "a.kit", "kit:beside sub/w.bin");
    record = load(s, r, "a.kit");
    expect_bytes(record, "layer.weight", "weights");
    rec_record_free(record);
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "kit:beside %s", outside[i]);
        write_text(s, "b.kit", text);
        assert_null(load(s, r, "b.kit"));
        if (!strstr(rec_error_message(), "which is not a path below its own directory")) {
            fail_msg("%s: %s", outside[i], rec_error_message());
        }
    }
    free(below);
    rec_close_recorder(r);
}

static void test_inflated_data_count_against_their_own_size(void **state)
{
    scene *s = *state;
    rec_recorder *r = recorder_of(s, NULL, NULL);
    rec_record *record;
    rec_limits limits = {.size = sizeof limits};
    rec_limits_init(&limits);
    limits.memory_slack = 1 << 20;
    limits.inflated_slack = UINT64_C(100) << 20;
    assert_int_equal(rec_context_set_limits(s->context, &limits), REC_OK);
    write_text(s, "a.kit", "kit:stream");
    assert_null(load(s, r, "a.kit"));
    assert_int_equal(rec_error_status(), REC_E_LIMIT);
    assert_non_null(strstr(rec_error_message(), "its data would take more than"));
    write_text(s, "b.kit", "kit:inflated");
    record = load(s, r, "b.kit");
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    rec_record_free(record);
    limits.inflated_slack = 1 << 20;
    assert_int_equal(rec_context_set_limits(s->context, &limits), REC_OK);
    assert_null(load(s, r, "b.kit"));
    assert_non_null(strstr(rec_error_message(), "would inflate to"));
    rec_close_recorder(r);
}

/* A foreign model arrives in levels with their counts, a record as always. Slices are read back to front, those of a
 * stream in order. */
static void test_levels_and_slices(void **state)
{
    scene *s = *state;
    static const uint64_t two = 2;
    rec_recorder *r = recorder_of(s, NULL, NULL), *plain = rec_open_recorder_in(s->context, "Kit", REC_PRECISION_KEEP);
    rec_record *record = rec_record_new(s->context), *foreign;
    rec_tensor_spec spec = {
        .size = sizeof spec, .dtype = REC_DTYPE_U8, .rank = 1, .shape = &two, .data = "xy", .data_size = 2};
    void *data = NULL;
    uint64_t size = 0;
    assert_int_equal(rec_recorder_set(r, "check", "no"), REC_OK);
    assert_int_equal(rec_set_tensor(record, "a.weight", &spec), REC_OK);
    assert_int_equal(rec_save_bytes(r, record, &data, &size), REC_OK);
    assert_string_equal(s->kit.text, "{1 a:{1 weight:yx } } ");
    rec_free(data);
    rec_record_free(record);
    write_text(s, "a.kit", "kit:pieces cdab");
    foreign = load(s, plain, "a.kit");
    assert_non_null(foreign);
    assert_int_equal(rec_value_form(rec_root(foreign)), REC_FORM_PATHS);
    if (rec_save_bytes(r, foreign, &data, &size) != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    assert_string_equal(s->kit.text, "{1 layer:{1 weight:abcd } } ");
    rec_free(data);
    rec_record_free(foreign);
    rec_close_recorder(plain);
    rec_close_recorder(r);
}

static void test_sizes_bounds_and_old_names_of_options(void **state)
{
    static const struct {
        const char *value;
        int64_t number; /* 0: rejected */
    } sizes[] = {{"16", 16}, {"4KiB", 4096}, {"4 MiB", 4 << 20}, {"1GiB", 1 << 30}, {"15", 0}, {"2GiB", 0},
                 {"4KB", 0}, {"4.5MiB", 0},  {"-1", 0},          {"", 0},           {"4 ", 0}, {"99999999999GiB", 0}};
    scene *s = *state;
    rec_recorder *r = recorder_of(s, NULL, NULL);
    write_text(s, "a.kit", "kit:pieces cdab");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *name = i % 2 ? "bytes" : "octets";
        rec_status status = rec_recorder_set(r, name, sizes[i].value);
        rec_record *record;
        assert_int_equal(status, sizes[i].number ? REC_OK : REC_E_ARGUMENT);
        if (!sizes[i].number) {
            assert_non_null(strstr(rec_error_message(), "KiB, MiB or GiB"));
            continue;
        }
        record = load(s, r, "a.kit");
        assert_non_null(record);
        assert_int_equal(s->kit.bytes, sizes[i].number);
        rec_record_free(record);
    }
    assert_int_equal(rec_recorder_set(r, "octets", "32"), REC_OK);
    assert_int_equal(rec_report_count(), 1);
    assert_non_null(strstr(rec_report_note(0)->text, "the option `octets` of Kit is called `bytes` now"));
    assert_int_equal(rec_recorder_set(r, "share", "1"), REC_OK);
    assert_int_equal(rec_recorder_set(r, "share", "1.5"), REC_E_ARGUMENT);
    assert_non_null(strstr(rec_error_message(), "a number from 0 to 1"));
    rec_close_recorder(r);
}

static void test_options_with_impossible_bounds_are_rejected(void **state)
{
    static const char *const wrong[] = {"No", NULL};
    rec_option list[] = {bytes, bytes, share, bytes};
    scene *s = *state;
    list[0].minimum = -1;
    list[1].maximum = 1;
    list[2].low = 2;
    list[3].old_names = wrong;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const rec_option *const one[] = {&list[i], NULL};
        s->plugin.options = one;
        assert_int_equal(rec_context_add_plugin(s->context, &s->plugin), REC_E_PLUGIN);
    }
}

static void test_utf8_is_what_events_must_be(void **state)
{
    (void)state;
    assert_int_equal(rec_is_utf8("", 0), 1);
    assert_int_equal(rec_is_utf8("gr\xc3\xbc\xc3\x9f", 6), 1);
    assert_int_equal(rec_is_utf8("\xc0\x80", 2), 0);
    assert_int_equal(rec_is_utf8("\xed\xa0\x80", 3), 0);
    assert_int_equal(rec_is_utf8("a\0b", 3), 1);
    assert_int_equal(rec_is_utf8("\xff", 1), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_init_runs_once_and_functions_get_user),
        TEST(test_init_rejects_with_its_reason),
        TEST(test_pieces_are_one_source),
        TEST(test_companion_files_may_be_below),
        TEST(test_inflated_data_count_against_their_own_size),
        TEST(test_levels_and_slices),
        TEST(test_sizes_bounds_and_old_names_of_options),
        TEST(test_options_with_impossible_bounds_are_rejected),
        TEST(test_utf8_is_what_events_must_be),
    };
    return cmocka_run_group_tests_name("what plugin.h offers", tests, NULL, NULL);
}
