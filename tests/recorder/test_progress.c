/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Progress, cancelling at every step, and notes as they are made. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/craft.h"
#include "librecord.h"
#include "tests/scratch.h"

enum { TENSORS = 5, ELEMENTS = 1 << 20 }; /* 20 MiB */

typedef struct watcher {
    uint64_t calls;
    uint64_t stop_at; /* which call asks to stop; REC_UNKNOWN: none */
    char operation[16];
    char file[600];
    uint64_t done, total;
    int broken; /* it went backwards or beyond the total */
} watcher;

static int32_t watch(void *user, const rec_progress *progress)
{
    watcher *w = user;
    int same = strcmp(w->operation, progress->operation) == 0 && strcmp(w->file, progress->file) == 0;
    if (progress->size != sizeof *progress || (same && progress->done < w->done) ||
        (progress->total != REC_UNKNOWN && progress->done > progress->total)) {
        w->broken = 1;
    }
    (void)snprintf(w->operation, sizeof w->operation, "%s", progress->operation);
    (void)snprintf(w->file, sizeof w->file, "%s", progress->file);
    w->done = progress->done;
    w->total = progress->total;
    return w->calls++ == w->stop_at;
}

typedef struct scene {
    scratch *folder;
    rec_context *context;
    rec_record *record;
    watcher watcher;
} scene;

static rec_recorder *open_in(const scene *s, const char *name)
{
    rec_recorder *recorder = rec_open_recorder_in(s->context, name, REC_PRECISION_KEEP);
    if (!recorder || rec_recorder_set(recorder, "sync", "no") != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    if (strcmp(name, "NamedMpkGz") == 0) {
        assert_int_equal(rec_recorder_set(recorder, "level", "1"), REC_OK);
    }
    return recorder;
}

static void watch_until(scene *s, uint64_t stop_at)
{
    s->watcher = (watcher){.stop_at = stop_at};
    rec_context_set_progress(s->context, watch, &s->watcher);
}

static int set_up(void **state)
{
    scene *s = calloc(1, sizeof *s);
    float *data = malloc(ELEMENTS * sizeof *data);
    uint64_t shape[] = {ELEMENTS};
    if (!s || !data) {
        return -1;
    }
    s->folder = scratch_new();
    s->context = rec_context_new(NULL);
    s->record = rec_record_new(s->context);
    for (unsigned t = 0; t < TENSORS; t++) {
        char path[16];
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            data[i] = (float)(i * 2654435761u >> 20); /* does not compress to nothing */
        }
        (void)snprintf(path, sizeof path, "t.%u", t);
        if (rec_set_f32(s->record, path, data, 1, shape) != REC_OK) {
            return -1;
        }
    }
    free(data);
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

static unsigned files_in(const scratch *folder)
{
    DIR *open = opendir(folder->path);
    unsigned count = 0;
    assert_non_null(open);
    for (const struct dirent *entry; (entry = readdir(open)) != NULL;) {
        count += entry->d_name[0] != '.' || (entry->d_name[1] != '\0' && entry->d_name[1] != '.');
    }
    (void)closedir(open);
    return count;
}

static void assert_holds(const char *path, const char *words)
{
    char text[64] = "";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    (void)!fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    assert_string_equal(text, words);
}

static const char *const recorders[] = {"NamedMpk", "NamedMpkGz"};
static const char *const names[] = {"model.mpk", "model.mpk.gz"};

/* ---------------------------------------------------------------------------------------------------- progress -- */

static void progress_goes_forward_to_its_total(void **state)
{
    scene *s = *state;
    for (size_t i = 0; i < 2; i++) {
        rec_recorder *recorder = open_in(s, recorders[i]);
        char *path = scratch_path(s->folder, names[i]);
        rec_record *record;
        watch_until(s, REC_UNKNOWN);
        assert_int_equal(rec_save(recorder, s->record, path), REC_OK);
        assert_true(s->watcher.calls >= 3);
        assert_string_equal(s->watcher.operation, "save");
        assert_string_equal(s->watcher.file, path);
        assert_false(s->watcher.broken);
        assert_true(s->watcher.done == s->watcher.total && s->watcher.total > 1u << 20);
        watch_until(s, REC_UNKNOWN);
        record = rec_load(recorder, path);
        assert_non_null(record);
        assert_true(s->watcher.calls >= 3);
        assert_string_equal(s->watcher.operation, "load");
        assert_string_equal(s->watcher.file, path);
        assert_false(s->watcher.broken);
        assert_true(s->watcher.done == s->watcher.total);
        rec_record_free(record);
        rec_context_set_progress(s->context, NULL, NULL);
        s->watcher.calls = 0;
        record = rec_load(recorder, path);
        assert_non_null(record);
        assert_int_equal(s->watcher.calls, 0);
        rec_record_free(record);
        free(path);
        rec_close_recorder(recorder);
    }
}

typedef struct bar {
    uint64_t calls, done, total;
    uint32_t phase, phases;
    char steps[64];
    bool broken;
} bar;

/* The whole never goes back, and its total and the number of phases never change. */
static int32_t watch_whole(void *user, const rec_progress *p)
{
    bar *b = user;
    b->broken = b->broken || p->overall_done < b->done || p->overall_done > p->overall_total || p->phase < b->phase ||
                p->phase > p->phases || (b->calls && (p->overall_total != b->total || p->phases != b->phases));
    if (p->phase != b->phase) {
        size_t used = strlen(b->steps);
        (void)snprintf(b->steps + used, sizeof b->steps - used, "%s%s", used ? " " : "", p->step);
    }
    b->calls++;
    b->done = p->overall_done;
    b->total = p->overall_total;
    b->phase = p->phase;
    b->phases = p->phases;
    return 0;
}

static void assert_bar(const bar *b, const char *steps, bool ends)
{
    assert_true(b->calls > 0);
    assert_false(b->broken);
    assert_string_equal(b->steps, steps);
    if (ends) {
        assert_int_equal(b->done, b->total);
    }
}

static void test_whole_of_phases(void **state)
{
    static const struct {
        const char *check, *save, *convert;
    } cases[] = {
        {"yes", "write check", "read write check"}, {"no", "write", "read write"}, {"auto", "write", "read write"}};
    scene *s = *state;
    for (size_t i = 0; i < 3; i++) {
        rec_recorder *from = open_in(s, "NamedMpk"), *to = open_in(s, "Burnpack");
        char *in = scratch_path(s->folder, "in.mpk"), *out = scratch_path(s->folder, "out.bpk");
        bar b = {0};
        rec_record *record;
        assert_int_equal(rec_recorder_set(from, "check", cases[i].check), REC_OK);
        assert_int_equal(rec_recorder_set(to, "check", cases[i].check), REC_OK);
        rec_recorder_set_progress(from, watch_whole, &b);
        assert_int_equal(rec_save(from, s->record, in), REC_OK);
        assert_bar(&b, cases[i].save, true);
        b = (bar){0};
        record = rec_load(from, in);
        assert_bar(&b, "read", true);
        rec_record_free(record);
        b = (bar){0};
        assert_int_equal(rec_convert(from, in, to, out, NULL), REC_OK);
        assert_bar(&b, cases[i].convert, true);
        rec_close_recorder(from);
        rec_close_recorder(to);
        free(in);
        free(out);
    }
}

/* A recorder's callback takes the place of the context's, also in its copy; NULL brings that back. */
static void test_callback_of_recorder(void **state)
{
    scene *s = *state;
    rec_recorder *one = open_in(s, "NamedMpk"), *copy, *other = open_in(s, "NamedMpk");
    char *path = scratch_path(s->folder, "one.mpk");
    bar b = {0};
    watch_until(s, REC_UNKNOWN);
    rec_recorder_set_progress(one, watch_whole, &b);
    assert_int_equal(rec_save(one, s->record, path), REC_OK);
    assert_true(b.calls > 0 && s->watcher.calls == 0);
    copy = rec_recorder_copy(one);
    b = (bar){0};
    assert_int_equal(rec_save(copy, s->record, path), REC_OK);
    assert_true(b.calls > 0 && s->watcher.calls == 0);
    b = (bar){0};
    assert_int_equal(rec_save(other, s->record, path), REC_OK);
    assert_true(b.calls == 0 && s->watcher.calls > 0);
    s->watcher.calls = 0;
    rec_recorder_set_progress(one, NULL, NULL);
    assert_int_equal(rec_save(one, s->record, path), REC_OK);
    assert_true(b.calls == 0 && s->watcher.calls > 0);
    rec_context_set_progress(s->context, NULL, NULL);
    rec_close_recorder(one);
    rec_close_recorder(copy);
    rec_close_recorder(other);
    free(path);
}

static int32_t give_zeros(void *user, uint64_t offset, void *target, uint64_t size)
{
    (void)user;
    (void)offset;
    memset(target, 0, (size_t)size);
    return 0;
}

/* The bytes of a tensor that are made on access are counted. */
static void test_progress_of_a_tensor(void **state)
{
    scene *s = *state;
    uint64_t shape[] = {(uint64_t)5 << 20}, size;
    rec_tensor_spec spec = {.size = sizeof spec,
                            .dtype = REC_DTYPE_F32,
                            .rank = 1,
                            .ownership = REC_PRODUCE,
                            .shape = shape,
                            .data_size = (uint64_t)20 << 20,
                            .produce = give_zeros};
    assert_int_equal(rec_set_tensor(s->record, "made", &spec), REC_OK);
    watch_until(s, REC_UNKNOWN);
    assert_non_null(rec_tensor_bytes(rec_tensor_at(s->record, "made"), &size));
    assert_true(s->watcher.calls >= 4);
    assert_false(s->watcher.broken);
    assert_string_equal(s->watcher.operation, "read");
    assert_int_equal(s->watcher.total, size);
    assert_true(s->watcher.done >= (uint64_t)16 << 20);
    rec_context_set_progress(s->context, NULL, NULL);
    assert_int_equal(rec_remove(s->record, "made"), REC_OK);
}

static void a_load_is_cancelled_at_every_call(void **state)
{
    scene *s = *state;
    for (size_t i = 0; i < 2; i++) {
        rec_recorder *recorder = open_in(s, recorders[i]);
        char *path = scratch_path(s->folder, names[i]);
        char expected[700];
        uint64_t calls;
        assert_int_equal(rec_save(recorder, s->record, path), REC_OK);
        (void)snprintf(expected, sizeof expected, "%s: cancelled by the caller", path);
        for (calls = 0;; calls++) {
            rec_record *record;
            watch_until(s, calls);
            record = rec_load(recorder, path);
            if (record) {
                rec_record_free(record);
                break;
            }
            assert_int_equal(rec_error_status(), REC_E_CANCELLED);
            assert_string_equal(rec_error_message(), expected);
            assert_int_equal(s->watcher.calls, calls + 1); /* it is not asked again */
        }
        assert_true(calls >= 3);
        rec_context_set_progress(s->context, NULL, NULL);
        free(path);
        rec_close_recorder(recorder);
    }
}

static void a_save_cancelled_at_any_call_leaves_the_old_file(void **state)
{
    scene *s = *state;
    for (size_t i = 0; i < 2; i++) {
        rec_recorder *recorder = open_in(s, recorders[i]);
        char *path = scratch_text(s->folder, names[i], "the old file");
        unsigned files = files_in(s->folder);
        uint64_t calls;
        for (calls = 0;; calls++) {
            rec_status status;
            watch_until(s, calls);
            status = rec_save(recorder, s->record, path);
            if (status == REC_OK) {
                break;
            }
            assert_int_equal(status, REC_E_CANCELLED);
            assert_int_equal(s->watcher.calls, calls + 1);
            assert_holds(path, "the old file");
            assert_int_equal(files_in(s->folder), files); /* no temporary stays */
        }
        assert_true(calls >= 3);
        assert_int_equal(files_in(s->folder), files);
        rec_context_set_progress(s->context, NULL, NULL);
        {
            rec_record *record = rec_load(recorder, path);
            assert_int_equal(rec_tensor_count(rec_tensor_at(record, "t.4")), ELEMENTS);
            rec_record_free(record);
        }
        free(path);
        rec_close_recorder(recorder);
    }
}

static void a_conversion_is_cancelled_in_both_its_halves(void **state)
{
    scene *s = *state;
    rec_recorder *from = open_in(s, "NamedMpk"), *to = open_in(s, "NamedMpkGz");
    char *in = scratch_path(s->folder, "in.mpk"), *out = scratch_text(s->folder, "out.mpk.gz", "the old file");
    unsigned files;
    uint64_t calls, on_in = 0, on_out = 0;
    assert_int_equal(rec_save(from, s->record, in), REC_OK);
    files = files_in(s->folder);
    for (calls = 0;; calls++) {
        watch_until(s, calls);
        if (rec_convert(from, in, to, out, NULL) == REC_OK) {
            break;
        }
        assert_int_equal(rec_error_status(), REC_E_CANCELLED);
        assert_string_equal(s->watcher.operation, "convert");
        on_in += strcmp(rec_error_file(), in) == 0;
        on_out += strcmp(rec_error_file(), out) == 0;
        assert_holds(out, "the old file");
        assert_int_equal(files_in(s->folder), files);
    }
    assert_true(on_in > 0 && on_out > 0);
    assert_int_equal(on_in + on_out, calls);
    rec_context_set_progress(s->context, NULL, NULL);
    free(in);
    free(out);
    rec_close_recorder(from);
    rec_close_recorder(to);
}

static void a_save_to_memory_is_cancelled_too(void **state)
{
    scene *s = *state;
    rec_recorder *recorder = open_in(s, "NamedMpk");
    void *bytes;
    uint64_t size;
    watch_until(s, 1);
    assert_int_equal(rec_save_bytes(recorder, s->record, &bytes, &size), REC_E_CANCELLED);
    assert_null(bytes);
    assert_int_equal(size, 0);
    rec_context_set_progress(s->context, NULL, NULL);
    rec_close_recorder(recorder);
}

/* ------------------------------------------------------------------------------------------------------- notes -- */

typedef struct listener {
    unsigned count;
    int32_t kinds[8];
    char paths[8][32];
    char texts[8][160];
} listener;

static void listen(void *user, const rec_note *note)
{
    listener *l = user;
    assert_true(l->count < 8);
    assert_int_equal(note->size, sizeof *note);
    l->kinds[l->count] = note->kind;
    (void)snprintf(l->paths[l->count], sizeof l->paths[0], "%s", note->path);
    (void)snprintf(l->texts[l->count++], sizeof l->texts[0], "%s", note->text);
}

static void notes_are_told_as_they_are_made_and_kept(void **state)
{
    scene *s = *state;
    rec_recorder *recorder = open_in(s, "NamedMpk");
    uint64_t length = 1;
    listener l = {0};
    craft c = {0};
    rec_record *record;
    rec_context_set_notes(s->context, listen, &l);
    assert_int_equal(rec_recorder_set(recorder, "trailing", "ignore"), REC_OK);
    craft_map(&c, 3);
    craft_str(&c, "metadata");
    craft_metadata(&c, "0.13.2", CRAFT_HALF);
    craft_str(&c, "extra");
    craft_nil(&c);
    craft_str(&c, "item");
    craft_v1(&c, 1);
    craft_uint(&c, 1);
    craft_shape(&c, 1, &length);
    craft_raw(&c, "tail", 4);
    record = rec_load_bytes(recorder, c.data, c.size);
    assert_non_null(record);
    assert_int_equal(l.count, 3);
    assert_int_equal(rec_report_count(), 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(rec_report_note(i)->kind, l.kinds[i]);
        assert_string_equal(rec_report_note(i)->path, l.paths[i]);
        assert_string_equal(rec_report_note(i)->text, l.texts[i]);
    }
    assert_int_equal(l.kinds[0], REC_NOTE_TRAILING);
    assert_string_equal(l.texts[0], "4 bytes after the record were ignored");
    assert_int_equal(l.kinds[1], REC_NOTE_DROPPED);
    assert_string_equal(l.texts[1], "not part of a Burn record (`metadata`, `item`): left out");
    assert_int_equal(l.kinds[2], REC_NOTE_ASSUMED);
    assert_string_equal(
        l.texts[2], "the file does not record whether 1 of its tensors holds floats or integers: floats are assumed");
    assert_null(rec_report_note(3));
    rec_context_set_notes(s->context, NULL, NULL);
    rec_record_free(record);
    rec_close_recorder(recorder);
    craft_free(&c);
}

static void a_thousand_notes_are_kept_and_the_rest_counted(void **state)
{
    enum { ENTRIES = 1300 };
    scene *s = *state;
    rec_recorder *recorder = open_in(s, "NamedMpk");
    craft c = {0};
    rec_record *record;
    craft_map(&c, ENTRIES + 2);
    craft_str(&c, "metadata");
    craft_metadata(&c, "0.21.0", CRAFT_FULL);
    for (unsigned i = 0; i < ENTRIES; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "extra%u", i);
        craft_str(&c, name);
        craft_nil(&c);
    }
    craft_str(&c, "item");
    craft_nil(&c);
    record = rec_load_bytes(recorder, c.data, c.size);
    assert_non_null(record);
    assert_int_equal(rec_report_count(), ENTRIES);
    assert_string_equal(rec_report_note(999)->path, "extra999");
    assert_null(rec_report_note(1000));
    rec_record_free(record);
    rec_close_recorder(recorder);
    craft_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(progress_goes_forward_to_its_total, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_whole_of_phases, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_callback_of_recorder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_progress_of_a_tensor, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_load_is_cancelled_at_every_call, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_save_cancelled_at_any_call_leaves_the_old_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_conversion_is_cancelled_in_both_its_halves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_save_to_memory_is_cancelled_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(notes_are_told_as_they_are_made_and_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_thousand_notes_are_kept_and_the_rest_counted, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
