/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Runs of numbers being read. */
#include "core/record/record.h"

#include <string.h>

#include "core/io/io.h"

enum {
    PIECE = 1024,     /* elements handled at a time */
    SMALL_RUN = 4096, /* bytes up to which a run is copied into the arena */
    FIRST_ROOM = 4096,
    BELIEVED = 64 /* times as many elements as there are, if so many were announced */
};

/* Whether chunks of these types form one run. */
static bool joins(rec_dtype run, rec_dtype chunk)
{
    return run == REC_DTYPE_NONE || run == chunk || (lr_dtype_is_int(run) && lr_dtype_is_int(chunk));
}

static int32_t reserve(rec_job *job, lr_runner *runner, uint64_t count, uint32_t width)
{
    uint64_t room = runner->pages.size ? runner->pages.size : FIRST_ROOM, size = count * width;
    uint64_t expected = runner->expected / BELIEVED < count ? runner->expected : count * BELIEVED;
    if (size <= runner->pages.size) {
        return REC_OK;
    }
    while (room < size) {
        room *= 2;
    }
    room = expected * width > room ? expected * width : room; /* pages that are moved are touched again */
    /* The budget counts used memory, not reserved memory: untouched pages cost nothing. */
    if (!lr_pages_grow(&runner->pages, room)) {
        return lr_fail_memory(job, room);
    }
    return REC_OK;
}

/* Room for elements, and their share of the budget. */
static int32_t take(rec_job *job, lr_runner *runner, uint64_t count, uint32_t width)
{
    uint64_t size = count * width;
    if (size > runner->taken) {
        if (!lr_budget_take(&job->budget, size - runner->taken)) {
            return lr_fail_budget(job, "structure");
        }
        runner->taken = size;
    }
    return reserve(job, runner, count, width);
}

/* The narrowest integer type that holds a range; NONE if no type does. */
static rec_dtype narrowest(int64_t minimum, uint64_t maximum)
{
    if (minimum >= 0) {
        return maximum <= UINT8_MAX    ? REC_DTYPE_U8
               : maximum <= UINT16_MAX ? REC_DTYPE_U16
               : maximum <= UINT32_MAX ? REC_DTYPE_U32
                                       : REC_DTYPE_U64;
    }
    if (maximum > INT64_MAX) {
        return REC_DTYPE_NONE;
    }
    return minimum >= INT8_MIN && maximum <= INT8_MAX     ? REC_DTYPE_I8
           : minimum >= INT16_MIN && maximum <= INT16_MAX ? REC_DTYPE_I16
           : minimum >= INT32_MIN && maximum <= INT32_MAX ? REC_DTYPE_I32
                                                          : REC_DTYPE_I64;
}

static void widen_limits(rec_scalar number, int64_t *minimum, uint64_t *maximum)
{
    if (number.kind == REC_KIND_INT && number.v.i < 0) {
        *minimum = number.v.i < *minimum ? number.v.i : *minimum;
    } else {
        *maximum = number.v.u > *maximum ? number.v.u : *maximum;
    }
}

/* @param piece little-endian. */
static void piece_limits(rec_dtype dtype, const uint8_t *piece, uint64_t count, int64_t *minimum, uint64_t *maximum)
{
    if (dtype == REC_DTYPE_I64) {
        int64_t low = 0, high = 0;
        for (uint64_t i = 0; i < count; i++) {
            int64_t number;
            memcpy(&number, piece + i * 8, 8);
            lr_swap_if_big(&number, 8, 1);
            low = number < low ? number : low;
            high = number > high ? number : high;
        }
        *minimum = low;
        *maximum = (uint64_t)high;
        return;
    }
    *minimum = 0;
    *maximum = 0;
    for (uint64_t i = 0; i < count; i++) {
        widen_limits(lr_element(dtype, piece + i * (rec_dtype_bits(dtype) / 8)), minimum, maximum);
    }
}

/* Widens what is there, from the end so that it can be done in place. */
static int32_t widen(rec_job *job, lr_runner *runner, rec_dtype dtype)
{
    uint64_t from = rec_dtype_bits(runner->dtype) / 8, to = rec_dtype_bits(dtype) / 8;
    if (to == from && runner->count) {
        /* The same width with a sign: all values fit both, so their bytes are the same. */
        runner->dtype = dtype;
        return REC_OK;
    }
    if (take(job, runner, runner->count, (uint32_t)to) != REC_OK) {
        return job->error.status;
    }
    for (uint64_t left = runner->count; left > 0;) {
        uint64_t n = left < PIECE ? left : PIECE;
        uint8_t old[PIECE * 8], wide[PIECE * 8];
        lr_converted result = {0};
        left -= n;
        memcpy(old, runner->pages.data + left * from, (size_t)(n * from));
        (void)lr_convert(runner->dtype, old, dtype, wide, n, false, &result);
        lr_swap_if_big(wide, (uint32_t)to, n);
        memcpy(runner->pages.data + left * to, wide, (size_t)(n * to));
    }
    runner->dtype = dtype;
    return REC_OK;
}

/* The type that the run needs for one piece more. */
static rec_dtype needed(const lr_runner *runner, int64_t minimum, uint64_t maximum)
{
    int64_t low = 0;
    uint64_t high = 0;
    if (runner->count) {
        (void)lr_int_limits(runner->dtype, &low, &high);
        if (minimum >= low && maximum <= high) {
            return runner->dtype;
        }
    }
    return narrowest(minimum < low ? minimum : low, maximum > high ? maximum : high);
}

/* As `needed`, but by the values themselves: the limits of a type that is wider than its values may have no common
 * type with the piece although the values do. */
static rec_dtype needed_exactly(const lr_runner *runner, int64_t minimum, uint64_t maximum)
{
    for (uint64_t i = 0; i < runner->count; i++) {
        widen_limits(lr_runner_number(runner, i), &minimum, &maximum);
    }
    return narrowest(minimum, maximum);
}

static int add_piece(rec_job *job, lr_runner *runner, rec_dtype dtype, const uint8_t *piece, uint64_t count)
{
    uint64_t width = rec_dtype_bits(dtype) / 8;
    rec_dtype target = dtype;
    lr_converted result = {0};
    if (lr_dtype_is_int(dtype)) {
        int64_t minimum;
        uint64_t maximum;
        piece_limits(dtype, piece, count, &minimum, &maximum);
        target = needed(runner, minimum, maximum);
        if (target == REC_DTYPE_NONE) {
            target = needed_exactly(runner, minimum, maximum);
            if (target != REC_DTYPE_NONE && rec_dtype_bits(target) < rec_dtype_bits(runner->dtype)) {
                target = REC_DTYPE_I64; /* never narrower than now */
            }
        }
        if (target == REC_DTYPE_NONE) {
            return 0;
        }
        if (runner->count && target != runner->dtype && widen(job, runner, target) != REC_OK) {
            return -1;
        }
        width = rec_dtype_bits(target) / 8;
    }
    if (take(job, runner, runner->count + count, (uint32_t)width) != REC_OK) {
        return -1;
    }
    runner->dtype = target;
    (void)lr_convert(dtype, piece, target, runner->pages.data + runner->count * width, count, false, &result);
    lr_swap_if_big(runner->pages.data + runner->count * width, (uint32_t)width, count);
    runner->count += count;
    return 1;
}

/* What stays of its type: floats, and bytes, of which a tensor in JSON has millions, as narrow as can be. */
static int add_same(rec_job *job, lr_runner *runner, rec_dtype dtype, const void *data, uint64_t count)
{
    uint32_t width = rec_dtype_bits(dtype) / 8;
    uint8_t *to;
    if (take(job, runner, runner->count + count, width) != REC_OK) {
        return -1;
    }
    to = runner->pages.data + runner->count * width;
    memcpy(to, data, (size_t)(count * width));
    lr_swap_if_big(to, width, count);
    runner->dtype = dtype;
    runner->count += count;
    return 1;
}

int lr_runner_add(rec_job *job, lr_runner *runner, rec_dtype dtype, const void *data, uint64_t count)
{
    uint64_t width = rec_dtype_bits(dtype) / 8;
    const uint8_t *from = data;
    uint64_t before = runner->count;
    if (!joins(runner->dtype, dtype)) {
        return 0;
    }
    if (count > (UINT64_MAX / 16) - runner->count) {
        (void)lr_fail_memory(job, UINT64_MAX);
        return -1;
    }
    if ((dtype == REC_DTYPE_U8 || !lr_dtype_is_int(dtype)) &&
        (runner->dtype == REC_DTYPE_NONE || runner->dtype == dtype)) {
        return add_same(job, runner, dtype, data, count);
    }
    while (count) {
        uint8_t piece[PIECE * 8];
        uint64_t n = count < PIECE ? count : PIECE;
        int added;
        memcpy(piece, from, (size_t)(n * width));
        lr_swap_if_big(piece, (uint32_t)width, n);
        added = add_piece(job, runner, dtype, piece, n);
        if (added <= 0) {
            /* Part of the chunk may be in; the caller unpacks the whole chunk, so take it out again. */
            runner->count = before;
            if (before == 0) {
                runner->dtype = REC_DTYPE_NONE;
            }
            return added;
        }
        from += n * width;
        count -= n;
    }
    return 1;
}

/* A NaN that no text and no file of Burn's gives. */
static const uint64_t nil_bits = UINT64_C(0x7ff8006e696c0001);

int lr_runner_add_nil(rec_job *job, lr_runner *runner)
{
    int added = lr_runner_add(job, runner, REC_DTYPE_F64, &nil_bits, 1);
    runner->nils += added > 0;
    return added;
}

bool lr_float_nil(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits == nil_bits;
}

rec_scalar lr_runner_number(const lr_runner *runner, uint64_t index)
{
    lr_packed run = {.count = runner->count, .dtype = runner->dtype, .data = {.data = runner->pages.data}};
    return lr_packed_number(&run, index);
}

lr_packed *lr_runner_take(rec_job *job, lr_runner *runner, rec_record *record, int32_t form)
{
    lr_packed *run = lr_arena_alloc(&record->arena, sizeof *run, 8);
    uint64_t size = runner->count * (rec_dtype_bits(runner->dtype) / 8);
    if (!run) {
        return LR_AS_NULL(lr_fail_arena(job, &record->arena, sizeof *run));
    }
    *run = (lr_packed){.count = runner->count, .dtype = runner->dtype, .form = form, .nils = runner->nils};
    run->data = (lr_data){.size = size, .offset = REC_UNKNOWN};
    if (size <= SMALL_RUN) {
        uint8_t *copy = lr_job_arena_alloc(job, &record->arena, size, 8);
        if (!copy) {
            return NULL;
        }
        memcpy(copy, runner->pages.data, (size_t)size);
        run->data.data = copy;
        lr_budget_give(&job->budget, runner->taken);
        runner->taken = 0;
    } else {
        /* The record takes the memory over, and with it its share of the budget; or a file has it. */
        rec_source *source = lr_source_kept(job, &runner->pages, size);
        if (!source) {
            return NULL;
        }
        run->data.data = lr_source_in_memory(source, 0, size);
        run->data.source = source;
        lr_data_hold(record, &run->data);
        runner->taken = 0;
    }
    lr_runner_clear(runner);
    return run;
}

void lr_runner_clear(lr_runner *runner)
{
    runner->count = runner->nils = runner->expected = 0;
    runner->dtype = REC_DTYPE_NONE;
}

void lr_runner_free(rec_job *job, lr_runner *runner)
{
    lr_budget_give(&job->budget, runner->taken);
    lr_pages_free(&runner->pages);
    runner->taken = 0;
    lr_runner_clear(runner);
}
