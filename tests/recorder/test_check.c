/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The option `check`: what was saved is read back before it takes the old file's place. */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "burn/visit/check_private.h"
#include "librecord.h"
#include "tests/little.h"
#include "tests/scratch.h"

/* ------------------------------------------------------------------------------------------ hashes and numbers -- */

static void the_hash_is_xxh64(void **state)
{
    static const struct {
        const char *text;
        uint64_t hash;
    } known[] = {
        {"", UINT64_C(0xef46db3751d8e999)},
        {"a", UINT64_C(0xd24ec4f1a98c6e5b)},
        {"abc", UINT64_C(0x44bc2cf5ad770999)},
        {"Nobody inspects the spammish repetition", UINT64_C(0xfbcea83c8a378bf1)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i].text);
        for (size_t cut = 0; cut <= length; cut++) {
            lr_hash hash;
            lr_hash_begin(&hash);
            lr_hash_add(&hash, known[i].text, cut);
            lr_hash_add(&hash, known[i].text + cut, length - cut);
            assert_true(lr_hash_end(&hash) == known[i].hash);
        }
    }
}

static uint64_t hash_of(const lr_variables *n)
{
    return lr_hash_end(&n->hash);
}

static void chunks_of_numbers_do_not_matter(void **state)
{
    float floats[1000];
    double doubles[1000];
    int64_t longs[1000];
    uint8_t bytes[1000];
    (void)state;
    for (int i = 0; i < 1000; i++) {
        floats[i] = (float)i / 7;
        doubles[i] = (double)floats[i];
        longs[i] = i % 256;
        bytes[i] = (uint8_t)i;
    }
    for (uint64_t cut = 0; cut <= 1000; cut += 37) {
        lr_variables whole, parts, one, wide;
        lr_numbers_begin(&whole);
        lr_numbers_begin(&parts);
        lr_numbers_add(&whole, REC_DTYPE_F32, floats, 1000);
        lr_numbers_add(&parts, REC_DTYPE_F32, floats, cut);
        for (uint64_t i = cut; i < 1000; i++) {
            lr_numbers_scalar(&parts, &(rec_scalar){.kind = REC_KIND_FLOAT, .bits = 32, .v.f = doubles[i]});
        }
        assert_true(hash_of(&whole) == hash_of(&parts));
        /* A reader that knows no width: by what was written it is the same. */
        lr_numbers_begin(&wide);
        wide.given = true;
        wide.narrow = whole.narrow;
        lr_numbers_add(&wide, REC_DTYPE_F64, doubles, 1000);
        assert_true(hash_of(&whole) == hash_of(&wide));
        lr_numbers_begin(&one);
        lr_numbers_begin(&parts);
        lr_numbers_add(&one, REC_DTYPE_U8, bytes, 1000);
        lr_numbers_add(&parts, REC_DTYPE_I64, longs, cut);
        lr_numbers_add(&parts, REC_DTYPE_U8, bytes + cut, 1000 - cut);
        assert_true(hash_of(&one) == hash_of(&parts));
    }
}

static void other_numbers_have_another_hash(void **state)
{
    static const rec_scalar scalars[] = {
        {.kind = REC_KIND_NIL},
        {.kind = REC_KIND_BOOL},
        {.kind = REC_KIND_BOOL, .v.i = 1},
        {.kind = REC_KIND_UINT},
        {.kind = REC_KIND_UINT, .v.u = 1},
        {.kind = REC_KIND_UINT, .v.u = 256},
        {.kind = REC_KIND_INT, .v.i = -1},
        {.kind = REC_KIND_UINT, .v.u = UINT64_MAX},
        {.kind = REC_KIND_FLOAT, .bits = 64, .v.f = 0},
        {.kind = REC_KIND_FLOAT, .bits = 64, .v.f = -0.0},
        {.kind = REC_KIND_FLOAT, .bits = 64, .v.f = 1},
    };
    enum { COUNT = sizeof scalars / sizeof *scalars };
    uint64_t hashes[COUNT * COUNT];
    (void)state;
    for (size_t i = 0; i < COUNT * COUNT; i++) {
        lr_variables n;
        lr_numbers_begin(&n);
        lr_numbers_scalar(&n, &scalars[i / COUNT]);
        lr_numbers_scalar(&n, &scalars[i % COUNT]);
        hashes[i] = hash_of(&n);
        for (size_t k = 0; k < i; k++) {
            assert_false(hashes[k] == hashes[i]);
        }
    }
}

/* JSON has null for what is not finite. */
/* Places that are spread, that share their low bits, and that share those and the bits of a slot. */
static uint64_t place_of(uint32_t way, uint64_t leaf)
{
    static const uint64_t steps[] = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(1) << 42, UINT64_C(1) << 20};
    return (leaf + 1) * steps[way];
}

static void test_table_finds_leaves_in_any_order(void **state)
{
    enum { LEAVES = 1000 };
    (void)state;
    for (uint32_t way = 0; way < 3; way++) {
        rec_job job = {.allocator = &lr_standard_allocator};
        lr_check check = {.job = &job};
        assert_null(lr_check_find(&check, place_of(way, 0)));
        for (uint64_t i = 0; i < LEAVES; i++) {
            assert_non_null(lr_check_take(&check, place_of(way, i), &(lr_leaf){.count = i, .hash = i, .hashed = true}));
        }
        for (uint64_t i = 0; i < LEAVES; i++) {
            assert_int_equal(lr_check_find(&check, place_of(way, i))->count, i);
            assert_int_equal(lr_check_find(&check, place_of(way, LEAVES - 1 - i))->count, LEAVES - 1 - i);
        }
        assert_null(lr_check_find(&check, place_of(way, LEAVES)));
        /* A later walk replaces a leaf, but not the hash of data that it did not read. */
        lr_leaf *again = lr_check_take(&check, place_of(way, 5), &(lr_leaf){.count = 7});
        assert_int_equal(again->count, 7);
        assert_int_equal(again->hash, 5);
        assert_true(again->hashed);
        assert_int_equal(check.count, LEAVES);
        lr_release(job.allocator, check.leaves);
        lr_release(job.allocator, check.slots);
    }
}

static void null_stands_for_what_is_not_finite(void **state)
{
    float with[] = {1, NAN, 2, INFINITY, 3};
    double parts[] = {1, 2, 3};
    lr_variables written, found;
    (void)state;
    lr_numbers_begin(&written);
    lr_numbers_add(&written, REC_DTYPE_F32, with, 5);
    lr_numbers_begin(&found);
    found.given = true;
    found.narrow = written.narrow;
    for (int i = 0; i < 3; i++) {
        lr_numbers_add(&found, REC_DTYPE_F64, &parts[i], 1);
        if (i < 2) {
            lr_numbers_scalar(&found, &(rec_scalar){.kind = REC_KIND_NIL});
        }
    }
    assert_true(written.loose);
    assert_true(lr_hash_end(&written.loose_hash) == hash_of(&found));
    assert_false(hash_of(&written) == hash_of(&found));
}

/* ------------------------------------------------------------------------------------------ a writer that errs -- */

typedef struct scene {
    scratch *folder;
    rec_context *context;
    rec_record *record;
} scene;

static int set_up(void **state)
{
    const char *compiler = getenv("CC"), *top = getenv("top_srcdir");
    scene *s = calloc(1, sizeof *s);
    float floats[100];
    uint64_t shape[] = {10, 10};
    char *command = NULL, *plugins;
    rec_tensor_spec spec = {.size = sizeof spec,
                            .dtype = REC_DTYPE_F32,
                            .rank = 2,
                            .shape = shape,
                            .data = floats,
                            .data_size = sizeof floats,
                            .id = "0123456789abc"};
    if (!s) {
        return -1;
    }
    s->folder = scratch_new();
    s->context = rec_context_new(NULL);
    s->record = rec_record_new(s->context);
    for (int i = 0; i < 100; i++) {
        floats[i] = (float)i / 3;
    }
    little(floats, sizeof *floats, 100);
    plugins = scratch_folder(s->folder, "plugins");
    if (asprintf(&command, "%s -std=c11 -fPIC -shared -I'%s/include' -o '%s/faulty.so' '%s/tests/plugins/faulty.c'",
                 compiler && *compiler ? compiler : "cc", top ? top : ".", plugins, top ? top : ".") < 0 ||
        system(command) != 0 || rec_context_add_plugin_path(s->context, plugins) != REC_OK ||
        rec_set_tensor(s->record, "layer.weight", &spec) != REC_OK ||
        rec_set_string(s->record, "greeting", "hello") != REC_OK || rec_set_uint(s->record, "five", 5) != REC_OK ||
        rec_set_float(s->record, "rate", 0.25) != REC_OK || rec_set_bool(s->record, "on", true) != REC_OK) {
        return -1;
    }
    free(command);
    free(plugins);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    scene *s = *state;
    rec_record_free(s->record);
    rec_context_free(s->context);
    scratch_free(s->folder);
    free(s);
    return 0;
}

static rec_recorder *open_as(const scene *s, const char *name, const char *check, const char *fault)
{
    rec_recorder *recorder = rec_open_recorder_in(s->context, name, REC_PRECISION_KEEP);
    if (!recorder || rec_recorder_set(recorder, "check", check) != REC_OK ||
        (fault && rec_recorder_set(recorder, "fault", fault) != REC_OK)) {
        fail_msg("%s", rec_error_message());
    }
    return recorder;
}

static unsigned files_in(const char *folder)
{
    DIR *open = opendir(folder);
    unsigned count = 0;
    assert_non_null(open);
    while (readdir(open)) {
        count++;
    }
    (void)closedir(open);
    return count - 2;
}

static void assert_old(const char *path)
{
    char text[8] = "";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof text, file), 3);
    assert_memory_equal(text, "old", 3);
    (void)fclose(file);
}

static void a_mistake_is_found_and_the_old_file_stays(void **state)
{
    static const struct {
        const char *fault, *path, *expected, *found;
    } faults[] = {
        {"byte", "layer.weight.param.bytes", "a list of 400 numbers", "byte 399 of 400 differs"},
        {"text", "greeting", "\"hello\"", "\"hullo\""},
        {"integer", "layer.weight.param.shape", "a list of 2 numbers", "whose data differ"},
        {"float", "rate", "the float 0.25", "the float 0.25"},
        {"bool", "on", "true", "false"},
        {"nil", "layer.weight.param.shape", "a list of 2 numbers", "whose data differ"},
        {"lost", "five", "the integer 5", "nothing at this place"},
        {"name", "fives", "no value", "the integer 5"},
        {"added", "sixth", "no value", "\"6\""},
    };
    const scene *s = *state;
    char *folder = scratch_folder(s->folder, "faults");
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char *path = scratch_text(s->folder, "faults/x.faulty", "old");
        rec_recorder *recorder = open_as(s, "Faulty", "yes", faults[i].fault);
        assert_int_equal(rec_save(recorder, s->record, path), REC_E_FORMAT);
        if (strcmp(rec_error_path(), faults[i].path) != 0 || strcmp(rec_error_expected(), faults[i].expected) != 0 ||
            !strstr(rec_error_found(), faults[i].found) || !strstr(rec_error_message(), "the file was not replaced")) {
            fail_msg("%s: %s", faults[i].fault, rec_error_message());
        }
        assert_old(path);
        assert_int_equal(files_in(folder), 1);
        /* Not asked for, it is written: the test is about the check and nothing else. */
        assert_int_equal(rec_recorder_set(recorder, "check", "no"), REC_OK);
        assert_int_equal(rec_save(recorder, s->record, path), REC_OK);
        rec_close_recorder(recorder);
        free(path);
    }
    free(folder);
}

static void what_cannot_be_read_back_is_no_record(void **state)
{
    const scene *s = *state;
    char *path = scratch_text(s->folder, "y.faulty", "old");
    rec_recorder *recorder = open_as(s, "Faulty", "yes", "unread");
    assert_int_equal(rec_save(recorder, s->record, path), REC_E_FORMAT);
    assert_non_null(strstr(rec_error_message(), "half an event"));
    assert_non_null(strstr(rec_error_message(), "the file was not replaced"));
    assert_old(path);
    rec_close_recorder(recorder);
    recorder = open_as(s, "Faulty", "yes", "none");
    assert_int_equal(rec_save(recorder, s->record, path), REC_OK);
    assert_int_equal(rec_report_count(), 0);
    rec_close_recorder(recorder);
    free(path);
}

static void memory_is_checked_where_it_is_asked_for(void **state)
{
    const scene *s = *state;
    for (int wrong = 0; wrong < 2; wrong++) {
        rec_recorder *recorder = open_as(s, "Faulty", "yes", wrong ? "bool" : "none");
        void *data = NULL;
        uint64_t size = 0;
        assert_int_equal(rec_save_bytes(recorder, s->record, &data, &size), wrong ? REC_E_FORMAT : REC_OK);
        assert_true(wrong ? !data && !size : data && size);
        rec_free(data);
        rec_close_recorder(recorder);
    }
}

static void what_cannot_be_checked_is_told(void **state)
{
    const scene *s = *state;
    char *path = scratch_path(s->folder, "z.mute");
    rec_recorder *recorder = open_as(s, "Mute", "yes", NULL);
    int fd = open("/dev/null", O_WRONLY);
    assert_int_equal(rec_save(recorder, s->record, path), REC_OK);
    assert_int_equal(rec_report_count(), 1);
    assert_int_equal(rec_report_note(0)->kind, REC_NOTE_CHECK);
    assert_string_equal(rec_report_note(0)->text, "not checked: its recorder can only save");
    rec_close_recorder(recorder);
    recorder = open_as(s, "NamedMpk", "yes", NULL);
    for (int device = 0; device < 2; device++) {
        assert_int_equal(device ? rec_save(recorder, s->record, "/dev/null")
                                : rec_save_fd(recorder, s->record, fd, "a descriptor"),
                         REC_OK);
        assert_int_equal(rec_report_count(), 1);
        assert_int_equal(rec_report_note(0)->kind, REC_NOTE_CHECK);
    }
    assert_int_equal(rec_recorder_set(recorder, "check", "auto"), REC_OK);
    assert_int_equal(rec_save_fd(recorder, s->record, fd, "a descriptor"), REC_OK);
    assert_int_equal(rec_report_count(), 0);
    assert_int_equal(rec_recorder_set(recorder, "check", "maybe"), REC_E_ARGUMENT);
    assert_non_null(strstr(rec_error_message(), "yes, no or auto"));
    rec_close_recorder(recorder);
    (void)close(fd);
    free(path);
}

/* -------------------------------------------------------------------------------------- plugins of the program -- */

/* Tensors of rank 2: two bytes of shape, and the data. What it reads it turns if it is told to. */
static bool turns;

static int32_t pass_key(void *self, uint64_t at, const rec_scalar *scalar)
{
    (void)self, (void)at, (void)scalar;
    return REC_OK;
}

static int32_t pass_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    (void)self, (void)at, (void)key, (void)value;
    return REC_OK;
}

static int32_t pass_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)self, (void)at, (void)form, (void)count;
    return REC_OK;
}

static int32_t pass_end(void *self, uint64_t at)
{
    (void)self, (void)at;
    return REC_OK;
}

static int32_t write_tensor(void *self, uint64_t at, const rec_tensor_event *event)
{
    uint8_t shape[2] = {(uint8_t)event->shape[0], (uint8_t)event->shape[1]};
    int32_t status = rec_sink_write(self, shape, 2);
    (void)at;
    return status == REC_OK ? rec_sink_put(self, &event->data) : status;
}

static int32_t turning_save(rec_job *job, rec_sink *sink)
{
    static const rec_visitor visitor = {.size = sizeof visitor,
                                        .metadata = pass_metadata,
                                        .scalar = pass_key,
                                        .list_begin = pass_begin,
                                        .map_begin = pass_begin,
                                        .key = pass_key,
                                        .end = pass_end,
                                        .tensor = write_tensor};
    return rec_job_walk(job, &visitor, sink);
}

static int32_t turning_load(rec_job *job, rec_source *source, const rec_visitor *v, void *self)
{
    const void *view;
    const uint8_t *data;
    uint64_t size = 0;
    int32_t status = rec_source_view(job, source, &view, &size);
    if (status == REC_OK && size > 2) {
        rec_scalar key = {.kind = REC_KIND_STRING, .text = "w", .v = {.length = 1}};
        data = view;
        uint64_t shape[2] = {data[turns], data[!turns]};
        rec_tensor_event event = {.size = sizeof event, .dtype = REC_DTYPE_F32, .rank = 2, .shape = shape};
        event.data = (rec_blob){.size = sizeof event.data,
                                .kind = REC_BLOB_VIEW,
                                .length = size - 2,
                                .data = data + 2,
                                .source = source,
                                .offset = 2};
        status = v->map_begin(self, 0, REC_FORM_PATHS, 1);
        status = status == REC_OK ? v->key(self, 0, &key) : status;
        status = status == REC_OK ? v->tensor(self, 2, &event) : status;
        status = status == REC_OK ? v->end(self, size) : status;
    }
    return status;
}

static int32_t sulk(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)self, (void)at, (void)form, (void)count;
    return REC_E_IO; /* without a word */
}

static int32_t sulking_save(rec_job *job, rec_sink *sink)
{
    static const rec_visitor visitor = {.size = sizeof visitor,
                                        .metadata = pass_metadata,
                                        .scalar = pass_key,
                                        .list_begin = pass_begin,
                                        .map_begin = sulk,
                                        .key = pass_key,
                                        .end = pass_end,
                                        .tensor = write_tensor};
    return rec_job_walk(job, &visitor, sink);
}

static const rec_plugin turning = {.abi = REC_PLUGIN_ABI,
                                   .size = sizeof turning,
                                   .name = "Turning",
                                   .description = "for a test",
                                   .load = turning_load,
                                   .save = turning_save,
                                   .traits = REC_TRAIT_TENSORS | REC_TRAIT_PATHS};
static const rec_plugin sulking = {.abi = REC_PLUGIN_ABI,
                                   .size = sizeof sulking,
                                   .name = "Sulking",
                                   .description = "for a test",
                                   .load = turning_load,
                                   .save = sulking_save,
                                   .traits = REC_TRAIT_TENSORS | REC_TRAIT_PATHS};

/* @return what a save with a check comes to. */
static rec_status save_checked(const scene *s, const rec_plugin *plugin)
{
    static const float numbers[6] = {1, 2, 3, 4, 5, 6};
    static const uint64_t shape[2] = {2, 3};
    rec_record *record = rec_record_new(s->context);
    rec_recorder *recorder;
    void *data = NULL;
    uint64_t size = 0;
    rec_status status;
    assert_int_equal(rec_set_f32(record, "w", numbers, 2, shape), REC_OK);
    recorder = open_as(s, plugin->name, "yes", NULL);
    status = rec_save_bytes(recorder, record, &data, &size);
    rec_close_recorder(recorder);
    rec_record_free(record);
    rec_free(data);
    return status;
}

static void a_tensor_of_another_shape_is_another(void **state)
{
    const scene *s = *state;
    assert_int_equal(rec_context_add_plugin(s->context, &turning), REC_OK);
    turns = false;
    assert_int_equal(save_checked(s, &turning), REC_OK);
    turns = true;
    assert_int_equal(save_checked(s, &turning), REC_E_FORMAT);
    assert_string_equal(rec_error_path(), "w");
    turns = false;
}

/* What a writer's own function gives back ends the walk, whoever looks on. */
static void a_writer_that_stops_without_a_word_has_failed(void **state)
{
    const scene *s = *state;
    assert_int_equal(rec_context_add_plugin(s->context, &sulking), REC_OK);
    assert_int_equal(save_checked(s, &sulking), REC_E_PLUGIN);
    assert_non_null(strstr(rec_error_message(), "stopped without a reason"));
}

/* --------------------------------------------------------------------------------------------- when it is done -- */

static int32_t note_check(void *user, const rec_progress *progress)
{
    *(bool *)user |= strcmp(progress->operation, "check") == 0;
    return 0;
}

static int32_t stop_check(void *user, const rec_progress *progress)
{
    (void)user;
    return strcmp(progress->operation, "check") == 0;
}

static void it_is_done_by_itself_where_it_costs_little(void **state)
{
    static const struct {
        const char *recorder, *check, *sync, *layout;
        bool done;
    } cases[] = {
        {"NamedMpk", "auto", "yes", "keep", true},       {"Safetensors", "auto", "yes", "keep", true},
        {"NamedMpk", "no", "yes", "keep", false},        {"NamedMpk", "auto", "no", "keep", false},
        {"NamedMpk", "auto", "yes", "burn-0.13", false}, {"NamedMpk", "yes", "no", "burn-0.13", true},
        {"NamedMpkGz", "auto", "yes", "keep", false},    {"NamedMpkGz", "yes", "no", "keep", true},
        {"PrettyJson", "auto", "yes", "keep", false},    {"PrettyJson", "yes", "yes", "keep", true},
        {"Faulty", "auto", "yes", "keep", false},
    };
    const scene *s = *state;
    char *path = scratch_path(s->folder, "when");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rec_recorder *recorder = open_as(s, cases[i].recorder, cases[i].check, NULL);
        bool done = false;
        assert_int_equal(rec_recorder_set(recorder, "sync", cases[i].sync), REC_OK);
        assert_int_equal(rec_recorder_set(recorder, "layout", cases[i].layout), REC_OK);
        rec_context_set_progress(s->context, note_check, &done);
        if (rec_save(recorder, s->record, path) != REC_OK || done != cases[i].done) {
            fail_msg("%zu: %s", i, rec_error_message());
        }
        rec_context_set_progress(s->context, NULL, NULL);
        rec_close_recorder(recorder);
    }
    free(path);
}

static void a_check_can_be_cancelled(void **state)
{
    const scene *s = *state;
    char *path = scratch_text(s->folder, "cancelled.mpk", "old");
    rec_recorder *recorder = open_as(s, "NamedMpk", "yes", NULL);
    rec_context_set_progress(s->context, stop_check, NULL);
    assert_int_equal(rec_save(recorder, s->record, path), REC_E_CANCELLED);
    rec_context_set_progress(s->context, NULL, NULL);
    assert_old(path);
    rec_close_recorder(recorder);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_is_xxh64),
        cmocka_unit_test(chunks_of_numbers_do_not_matter),
        cmocka_unit_test(other_numbers_have_another_hash),
        cmocka_unit_test(test_table_finds_leaves_in_any_order),
        cmocka_unit_test(null_stands_for_what_is_not_finite),
        cmocka_unit_test(a_mistake_is_found_and_the_old_file_stays),
        cmocka_unit_test(what_cannot_be_read_back_is_no_record),
        cmocka_unit_test(memory_is_checked_where_it_is_asked_for),
        cmocka_unit_test(what_cannot_be_checked_is_told),
        cmocka_unit_test(a_tensor_of_another_shape_is_another),
        cmocka_unit_test(a_writer_that_stops_without_a_word_has_failed),
        cmocka_unit_test(it_is_done_by_itself_where_it_costs_little),
        cmocka_unit_test(a_check_can_be_cancelled),
    };
    return cmocka_run_group_tests_name("check", tests, set_up, tear_down);
}
