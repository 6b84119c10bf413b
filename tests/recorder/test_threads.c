/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Many threads that open recorders, load, look, save and fail at once; meant to be run under ThreadSanitizer too. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "librecord.h"
#include "tests/little.h"
#include "tests/scratch.h"

enum { THREADS = 8, ROUNDS = 20 };

typedef struct worker {
    pthread_t thread;
    int number;
    const char *folder;
    rec_context *context;
    rec_recorder *shared;
    const rec_record *record;
    pthread_barrier_t *start;
    const char *failure; /* NULL: all went well */
    char words[512];
} worker;

static void golden(char *path, size_t room, const char *name)
{
    const char *srcdir = getenv("srcdir");
    (void)snprintf(path, room, "%s/tests/data/burn/%s", srcdir ? srcdir : ".", name);
}

static void *give_up(worker *w, const char *what)
{
    (void)snprintf(w->words, sizeof w->words, "thread %d: %s: %s", w->number, what, rec_error_message());
    w->failure = w->words;
    return w;
}

static void *open_load_save(void *argument)
{
    worker *w = argument;
    char in[600], out[600];
    golden(in, sizeof in, w->number % 2 ? "0.13.2/zoo-full.mpk" : "0.21.0/zoo-full.mpk.gz");
    (void)pthread_barrier_wait(w->start);
    for (int round = 0; round < ROUNDS; round++) {
        rec_recorder *recorder =
            rec_open_recorder_in(w->context, w->number % 2 ? "NamedMpk" : "mpk.gz", REC_PRECISION_HALF);
        rec_record *record;
        if (!recorder) {
            return give_up(w, "open");
        }
        record = rec_load(recorder, in);
        if (!record) {
            return give_up(w, "load");
        }
        /* Half of them save to the same file, over and over. */
        (void)snprintf(out, sizeof out, "%s/%s%d", w->folder, round % 2 ? "same" : "own", round % 2 ? 0 : w->number);
        if (rec_save(recorder, record, out) != REC_OK) {
            return give_up(w, "save");
        }
        rec_record_free(record);
        record = rec_load(recorder, out);
        if (!record || !rec_tensor_at(record, "conv1.weight")) {
            return give_up(w, "load again");
        }
        rec_record_free(record);
        rec_close_recorder(recorder);
    }
    return NULL;
}

static void *read_together(void *argument)
{
    worker *w = argument;
    (void)pthread_barrier_wait(w->start);
    for (int round = 0; round < ROUNDS; round++) {
        const rec_tensor *tensor = rec_tensor_at(w->record, "conv1.weight");
        const float *f32 = tensor ? rec_tensor_f32(tensor) : NULL;
        const double *f64 = tensor ? rec_tensor_f64(tensor) : NULL;
        const uint16_t *f16 = tensor ? rec_tensor_f16(tensor) : NULL;
        char missing[64];
        if (!f32 || !f64 || !f16 || (double)f32[0] != f64[0]) {
            return give_up(w, "read");
        }
        /* Errors belong to the thread that made them. */
        (void)snprintf(missing, sizeof missing, "missing%d", w->number);
        if (rec_tensor_at(w->record, missing) || strcmp(rec_error_path(), missing) != 0) {
            return give_up(w, "error of another thread");
        }
        {
            rec_record *record = rec_record_copy(w->record);
            void *bytes = NULL;
            uint64_t size;
            if (!record || rec_save_bytes(w->shared, record, &bytes, &size) != REC_OK) {
                return give_up(w, "copy and save");
            }
            rec_free(bytes);
            rec_record_free(record);
        }
    }
    return NULL;
}

static void run_threads(void *(*work)(void *), worker *workers)
{
    pthread_barrier_t start;
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        workers[i].start = &start;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    }
    (void)pthread_barrier_destroy(&start);
    for (int i = 0; i < THREADS; i++) {
        if (workers[i].failure) {
            fail_msg("%s", workers[i].failure);
        }
    }
}

static void threads_open_load_and_save_at_once(void **state)
{
    worker workers[THREADS] = {0};
    scratch *folder = scratch_new();
    rec_context *context = rec_context_new(NULL);
    (void)state;
    assert_non_null(context);
    for (int i = 0; i < THREADS; i++) {
        workers[i].context = context;
        workers[i].folder = folder->path;
    }
    run_threads(open_load_save, workers);
    rec_context_free(context);
    scratch_free(folder);
}

static void threads_make_the_default_context_at_once(void **state)
{
    worker workers[THREADS] = {0};
    scratch *folder = scratch_new();
    (void)state;
    for (int i = 0; i < THREADS; i++) {
        workers[i].folder = folder->path;
    }
    run_threads(open_load_save, workers);
    scratch_free(folder);
}

static void threads_read_one_record_at_once(void **state)
{
    worker workers[THREADS] = {0};
    char path[600];
    rec_recorder *recorder = rec_open_recorder("NamedMpk", REC_PRECISION_FULL);
    rec_record *record;
    (void)state;
    assert_non_null(recorder);
    golden(path, sizeof path, "0.21.0/zoo-half.mpk");
    record = rec_load(recorder, path);
    assert_non_null(record);
    for (int i = 0; i < THREADS; i++) {
        workers[i].record = record;
        workers[i].shared = recorder;
    }
    run_threads(read_together, workers);
    rec_record_free(record);
    rec_close_recorder(recorder);
}

static int64_t overflowed;

static void count_overflows(void *user, const rec_note *note)
{
    (void)user;
    overflowed += note->kind == REC_NOTE_OVERFLOW ? (int64_t)note->count : 0;
}

/* A large tensor is converted by several threads: the same numbers, and as many that are too large are told. */
static void threads_convert_one_tensor(void **state)
{
    enum { COUNT = 5 * 1024 * 1024 + 77 };
    const uint64_t shape[] = {COUNT};
    double *values = malloc(COUNT * sizeof *values);
    uint16_t *alone = malloc(COUNT * sizeof *alone);
    float *wide = malloc(COUNT * sizeof *wide);
    (void)state;
    assert_true(values && alone && wide);
    for (int i = 0; i < COUNT; i++) {
        values[i] = (double)((i * 7919LL) % 100003) * 1.3 - 60000; /* some are beyond 65,504 */
    }
    little(values, sizeof *values, COUNT);
    for (uint32_t threads = 1; threads <= 8; threads += threads) {
        rec_tensor_spec spec = {.size = sizeof spec,
                                .dtype = REC_DTYPE_F64,
                                .rank = 1,
                                .ownership = REC_BORROW,
                                .shape = shape,
                                .data = values,
                                .data_size = COUNT * sizeof *values,
                                .id = ""};
        rec_context *context = rec_context_new(NULL);
        rec_record *record = rec_record_new(context);
        const rec_tensor *tensor;
        const uint16_t *half;
        const float *floats;
        int64_t expected = 0;
        assert_non_null(record);
        assert_int_equal(rec_context_set_threads(context, threads), REC_OK);
        rec_context_set_notes(context, count_overflows, NULL);
        assert_int_equal(rec_set_tensor(record, "a", &spec), REC_OK);
        tensor = rec_tensor_at(record, "a");
        overflowed = 0;
        half = rec_tensor_f16(tensor);
        assert_non_null(half);
        for (int i = 0; i < COUNT; i++) {
            expected += (half[i] & 0x7fff) == 0x7c00;
        }
        assert_true(expected > 1000 && overflowed == expected);
        floats = rec_tensor_f32(tensor);
        assert_non_null(floats);
        if (threads == 1) {
            memcpy(alone, half, COUNT * sizeof *alone);
            memcpy(wide, floats, COUNT * sizeof *wide);
        }
        assert_memory_equal(alone, half, COUNT * sizeof *alone);
        assert_memory_equal(wide, floats, COUNT * sizeof *wide);
        assert_int_equal(rec_tensor_read(tensor, REC_DTYPE_F32, 1, COUNT - 1, wide + 1), REC_OK);
        assert_memory_equal(wide, floats, COUNT * sizeof *wide);
        rec_record_free(record);
        rec_context_free(context);
    }
    free(values);
    free(alone);
    free(wide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_open_load_and_save_at_once),
        cmocka_unit_test(threads_make_the_default_context_at_once),
        cmocka_unit_test(threads_read_one_record_at_once),
        cmocka_unit_test(threads_convert_one_tensor),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
