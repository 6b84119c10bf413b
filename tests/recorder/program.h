/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the tests of bytes that go through the program's own functions share: functions that give and take them, as they
 * should or not, and count; an allocator that fails; records of made tensors. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "librecord/plugin.h"
#include "tests/little.h"
#include "tests/local_words.h"
#include "tests/scratch.h"

#define MIB ((uint64_t)1 << 20)

static rec_context *context;
static REC_MAYBE_UNUSED int64_t made, fail_alloc; /* allocations, and the one that fails; -1: none */
static REC_MAYBE_UNUSED int live;

static REC_MAYBE_UNUSED void *take(void *user, size_t size)
{
    void *memory = made++ == fail_alloc ? NULL : malloc(size);
    (void)user;
    live += memory != NULL;
    return memory;
}

static REC_MAYBE_UNUSED void *resize(void *user, void *old, size_t size)
{
    (void)user;
    return made++ == fail_alloc ? NULL : realloc(old, size);
}

static REC_MAYBE_UNUSED void give(void *user, void *memory)
{
    (void)user;
    live--;
    free(memory);
}

static REC_MAYBE_UNUSED int enter(void **state)
{
    (void)state;
    fail_alloc = -1;
    context = rec_context_new(NULL);
    return context ? 0 : -1;
}

static REC_MAYBE_UNUSED int leave(void **state)
{
    (void)state;
    rec_context_free(context);
    return 0;
}

static REC_MAYBE_UNUSED rec_recorder *recorder_of(const char *name)
{
    rec_recorder *recorder = rec_open_recorder_in(context, name, REC_PRECISION_KEEP);
    if (!recorder) {
        fail_msg("%s", rec_error_message());
    }
    return recorder;
}

static REC_MAYBE_UNUSED void assert_error(rec_status status, const char *words)
{
    if (rec_error_status() != status || !strstr(rec_error_message(), local_words(words))) {
        fail_msg("%s: %s", rec_status_name(rec_error_status()), rec_error_message());
    }
}

/* ------------------------------------------------------------------------------------------------ what is lent -- */

/* Bytes, and what the functions that give or take them do. */
typedef struct line {
    uint8_t *data;
    uint64_t size, at;
    uint64_t most;      /* bytes of one call, 0: all that fits */
    int calls, fail_at; /* the call that fails, -1: none */
    int32_t error;      /* what it returns then */
    bool greedy;        /* or that it gives more than there is room for */
    int released, finished, good;
    uint64_t given, largest, next;
    bool jumped; /* it was not asked in order */
    const rec_tensor *own;
    rec_recorder *other;
    atomic_int inside;
    int worst;
} line;

static REC_MAYBE_UNUSED bool fails(line *l)
{
    return l->calls++ == l->fail_at;
}

static REC_MAYBE_UNUSED int32_t line_read(void *user, void *target, uint64_t room, uint64_t *got)
{
    line *l = user;
    uint64_t left = l->size - l->at;
    if (fails(l)) {
        *got = room + 1;
        return l->greedy ? 0 : l->error;
    }
    *got = left < room ? left : room;
    *got = l->most && *got > l->most ? l->most : *got;
    memcpy(target, l->data + l->at, (size_t)*got);
    l->at += *got;
    return 0;
}

static REC_MAYBE_UNUSED int32_t line_read_at(void *user, uint64_t offset, void *target, uint64_t size)
{
    line *l = user;
    int inside = atomic_fetch_add(&l->inside, 1) + 1;
    int32_t error = 0;
    l->worst = inside > l->worst ? inside : l->worst;
    assert_true(size > 0 && offset <= l->size && size <= l->size - offset);
    l->jumped = l->jumped || offset != l->next;
    l->next = offset + size;
    l->given += size;
    l->largest = size > l->largest ? size : l->largest;
    if (l->own) {
        assert_null(rec_tensor_f64(l->own)); /* its own record: refused, not waited for */
        assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
        assert_int_equal(rec_tensor_read(l->own, REC_DTYPE_F32, 0, 1, target), REC_E_ARGUMENT);
    }
    if (l->other) {
        assert_null(rec_load_bytes(l->other, "\xc1", 1)); /* anything else may be done */
        assert_int_equal(rec_error_status(), REC_E_FORMAT);
    }
    if (fails(l)) {
        error = l->error;
    } else if (l->data) {
        memcpy(target, l->data + offset, (size_t)size);
    } else {
        for (uint64_t i = 0; i < size; i += 4) { /* floats 0, 1, 2, … */
            float number = (float)((offset + i) / 4 % 2048);
            little(&number, sizeof number, 1);
            memcpy((uint8_t *)target + i, &number, 4);
        }
    }
    (void)atomic_fetch_sub(&l->inside, 1);
    return error;
}

static REC_MAYBE_UNUSED int32_t line_write(void *user, const void *data, uint64_t size)
{
    line *l = user;
    if (fails(l)) {
        return l->error;
    }
    assert_true(size > 0 && size <= 4 * MIB && !l->finished && !l->released);
    l->data = realloc(l->data, (size_t)(l->size + size));
    assert_non_null(l->data);
    memcpy(l->data + l->size, data, (size_t)size);
    l->size += size;
    return 0;
}

static REC_MAYBE_UNUSED int32_t line_patch(void *user, uint64_t offset, const void *data, uint64_t size)
{
    line *l = user;
    assert_true(offset <= l->size && size <= l->size - offset);
    memcpy(l->data + offset, data, (size_t)size);
    return fails(l) ? l->error : 0;
}

static REC_MAYBE_UNUSED int32_t line_finish(void *user, int32_t ok)
{
    line *l = user;
    assert_int_equal(l->released, 0);
    l->finished++;
    l->good += ok;
    return fails(l) ? l->error : 0;
}

static REC_MAYBE_UNUSED void line_release(void *user)
{
    ((line *)user)->released++;
}

static REC_MAYBE_UNUSED void line_release_data(void *user, const void *data)
{
    line *l = user;
    assert_ptr_equal(data, l->data);
    l->released++;
}

static REC_MAYBE_UNUSED const rec_input stream = {
    .size = sizeof stream, .name = "the line", .total = REC_UNKNOWN, .read = line_read, .release = line_release};
static REC_MAYBE_UNUSED const rec_output output = {.size = sizeof output,
                                                   .name = "the line",
                                                   .write = line_write,
                                                   .patch = line_patch,
                                                   .finish = line_finish,
                                                   .release = line_release};

static REC_MAYBE_UNUSED rec_input anywhere(const line *l)
{
    return (rec_input){.size = sizeof(rec_input), .total = l->size, .read_at = line_read_at, .release = line_release};
}

/* ----------------------------------------------------------------------------------------------------- records -- */

enum { COUNT = 300000 };

static REC_MAYBE_UNUSED rec_tensor_spec spec_of(line *l, const uint64_t *shape, uint32_t rank)
{
    return (rec_tensor_spec){.size = sizeof(rec_tensor_spec),
                             .dtype = REC_DTYPE_F32,
                             .rank = rank,
                             .ownership = REC_PRODUCE,
                             .shape = shape,
                             .data_size = l->size,
                             .id = "0123456789abc",
                             .release = line_release_data,
                             .user = l,
                             .produce = line_read_at};
}

/* A record with one tensor that is made, or of the same numbers in memory. */
static REC_MAYBE_UNUSED rec_record *record_of(line *l, bool produced)
{
    const uint64_t shape[2] = {l->size / 4 / 100, 100};
    rec_record *record = rec_record_new(context);
    rec_tensor_spec spec = spec_of(l, shape, 2);
    uint8_t *copy = NULL;
    if (!produced) {
        copy = malloc((size_t)l->size);
        assert_int_equal(line_read_at(l, 0, copy, l->size), 0);
        spec.ownership = REC_TAKE;
        spec.data = copy;
    }
    assert_int_equal(rec_set_tensor(record, "a.weight", &spec), REC_OK);
    assert_int_equal(rec_set_int(record, "steps", 7), REC_OK);
    return record;
}

static REC_MAYBE_UNUSED line saved(const char *name)
{
    line numbers = {.size = COUNT * 4, .fail_at = -1}, l = {.fail_at = -1};
    rec_record *record = record_of(&numbers, false);
    rec_recorder *recorder = recorder_of(name);
    void *data;
    assert_int_equal(rec_save_bytes(recorder, record, &data, &l.size), REC_OK);
    l.data = data;
    rec_record_free(record);
    rec_close_recorder(recorder);
    return l;
}

static REC_MAYBE_UNUSED void assert_loaded(rec_record *record)
{
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(rec_tensor_f32(rec_tensor_at(record, "a.weight"))[2047], 2047);
}

#endif
