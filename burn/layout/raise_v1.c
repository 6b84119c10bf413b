/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Tensors before 0.14: a list of numbers without an element type. */
#include "burn/layout/layout.h"

#include <inttypes.h>
#include <stdio.h>

/* A number of a text as f32. Of all f32 one has a shortest text that, as an f64, lies half-way between two of them. */
static float single_of(double value)
{
    return value == 7.038531e-26 ? 7.038531e-26f : value == -7.038531e-26 ? -7.038531e-26f : (float)value;
}

/* Values of a list that mixes integers, floats and null (how JSON writes NaN and infinities) as one float run. */
static lr_packed *float_run(const lr_raise *r, const lr_list *list)
{
    bool half_width = r->burn->precision == REC_PRECISION_FULL;
    uint64_t width = half_width ? 4 : 8, size;
    lr_packed *run = lr_arena_alloc(&r->record->arena, sizeof *run, 8);
    uint8_t *bytes = run && lr_mul(list->count, width, &size) ? lr_arena_alloc(&r->record->arena, size, 8) : NULL;
    if (!bytes) {
        (void)lr_fail_arena(r->job, &r->record->arena, list->count * width);
        return NULL;
    }
    for (uint64_t i = 0; i < list->count; i++) {
        const rec_value *item = &list->items[i];
        double value = item->kind == REC_KIND_FLOAT  ? item->v.f
                       : item->kind == REC_KIND_INT  ? (double)item->v.i
                       : item->kind == REC_KIND_UINT ? (double)item->v.u
                                                     : (double)__builtin_nanf("");
        if (half_width) {
            float narrow = item->kind == REC_KIND_INT    ? (float)item->v.i
                           : item->kind == REC_KIND_UINT ? (float)item->v.u
                                                         : single_of(value); /* rounded once */
            memcpy(bytes + i * 4, &narrow, 4);
        } else {
            memcpy(bytes + i * 8, &value, 8);
        }
    }
    lr_swap_if_big(bytes, (uint32_t)width, list->count);
    *run = (lr_packed){.count = list->count,
                       .dtype = half_width ? REC_DTYPE_F32 : REC_DTYPE_F64,
                       .data = {.data = bytes, .size = list->count * width, .offset = REC_UNKNOWN}};
    return run;
}

/* Reads floats as f64, like all floats of JSON: at full precision they were written from f32, and null was NaN. The
 * values belong to the record and are not yet shared, so they are changed in place. */
static void finish_floats(const lr_raise *r, lr_packed *run)
{
    uint8_t *bytes = (uint8_t *)(uintptr_t)run->data.data; /* sheds the const */
    bool narrow = r->burn->precision == REC_PRECISION_FULL;
    if (run->dtype != REC_DTYPE_F64 || (!narrow && !run->nils)) {
        return;
    }
    for (uint64_t i = 0; i < run->count; i++) {
        double value;
        float single;
        memcpy(&value, bytes + i * 8, 8);
        lr_swap_if_big(&value, 8, 1);
        value = lr_float_nil(value) ? (double)__builtin_nanf("") : value;
        single = single_of(value);
        if (narrow) {
            memcpy(bytes + i * 4, &single, 4);
            lr_swap_if_big(bytes + i * 4, 4, 1);
        } else {
            memcpy(bytes + i * 8, &value, 8);
            lr_swap_if_big(bytes + i * 8, 8, 1);
        }
    }
    run->nils = 0;
    run->dtype = narrow ? REC_DTYPE_F32 : REC_DTYPE_F64;
    run->data.size = run->count * (narrow ? 4 : 8);
}

static bool is_float_list(const rec_value *value)
{
    if (value->kind != REC_KIND_LIST) {
        return false;
    }
    for (uint64_t i = 0; i < value->v.list->count; i++) {
        int32_t kind = value->v.list->items[i].kind;
        if (kind != REC_KIND_FLOAT && kind != REC_KIND_INT && kind != REC_KIND_UINT && kind != REC_KIND_NIL) {
            return false;
        }
    }
    return true;
}

/* Whether floats, or null for those that JSON cannot write, are among the numbers.
 * @param maximum (out) else the largest. */
static bool has_floats(const lr_list *list, uint64_t *maximum)
{
    *maximum = 0;
    for (uint64_t i = 0; i < list->count; i++) {
        const rec_value *item = &list->items[i];
        if (item->kind == REC_KIND_FLOAT || item->kind == REC_KIND_NIL) {
            return true;
        }
        if (item->kind == REC_KIND_UINT && item->v.u > *maximum) {
            *maximum = item->v.u;
        }
    }
    return false;
}

/* Extremes of an integer run. */
static void run_limits(const lr_packed *run, int64_t *minimum, uint64_t *maximum)
{
    int64_t low = 0;
    uint64_t high = 0;
    if (!lr_raise_is_unsigned(&(rec_value){.kind = REC_KIND_NUMBERS, .v = {.run = (lr_packed *)run}})) {
        for (uint64_t i = 0; i < run->count; i++) {
            rec_scalar number = lr_packed_number(run, i);
            if (number.kind == REC_KIND_INT) {
                low = number.v.i < low ? number.v.i : low;
            } else {
                high = number.v.u > high ? number.v.u : high;
            }
        }
    } else {
        for (uint64_t i = 0; i < run->count; i++) {
            uint64_t number = lr_packed_number(run, i).v.u;
            high = number > high ? number : high;
        }
    }
    *minimum = low;
    *maximum = high;
}

/* The bit patterns of half floats, 16 bits each. NULL: the job has failed. */
static lr_data *half_bits(const lr_raise *r, const lr_packed *run)
{
    lr_converted result = {0};
    lr_data *data;
    uint8_t *wide;
    if (run->dtype == REC_DTYPE_U16) {
        return (lr_data *)&run->data;
    }
    data = lr_arena_alloc(&r->record->arena, sizeof *data, 8);
    wide = data ? lr_arena_alloc(&r->record->arena, run->count * 2, 8) : NULL;
    if (!wide) {
        (void)lr_fail_arena(r->job, &r->record->arena, run->count * 2);
        return NULL;
    }
    (void)lr_convert(run->dtype, run->data.data, REC_DTYPE_U16, wide, run->count, false, &result);
    lr_swap_if_big(wide, 2, run->count);
    *data = (lr_data){.data = wide, .size = run->count * 2, .offset = REC_UNKNOWN};
    return data;
}

static bool all_whole(const lr_packed *run)
{
    for (uint64_t i = 0; i < run->count; i++) {
        double value = lr_packed_number(run, i).v.f;
        if (!(value >= -2147483648.0 && value <= 2147483648.0) || value != (double)(int64_t)value) {
            return false;
        }
    }
    return true;
}

#define HALF_NUMBERS "i16, or the bits of f16 (the file is of half precision)"

/* A number that fits no type the tensor may have: the smallest if that is too small, else the largest. */
static int fail_number(const lr_raise *r, const char *expected, int64_t minimum, int64_t least, uint64_t maximum)
{
    if (minimum < least) {
        (void)rec_fail_found(r->job, REC_E_FORMAT, r->at, expected, "%" PRId64, minimum);
    } else {
        (void)rec_fail_found(r->job, REC_E_FORMAT, r->at, expected, "%" PRIu64, maximum);
    }
    return -1;
}

/* Which type the integers of a V1 tensor are. At half precision f16 bit patterns and i16 look alike: a negative number
 * must be an i16, one above 32,767 a bit pattern; anything else is taken for f16 and marked as assumed. */
static int v1_integers(const lr_raise *r, rec_tensor *tensor, lr_packed *run)
{
    int64_t minimum;
    uint64_t maximum;
    rec_dtype dtype;
    run_limits(run, &minimum, &maximum);
    tensor->packed = (uint8_t)run->dtype;
    tensor->data = &run->data;
    if (r->burn->precision == REC_PRECISION_HALF) {
        if (minimum < 0 && minimum >= INT16_MIN && maximum > INT16_MAX && maximum <= UINT16_MAX) {
            (void)rec_fail_found(r->job, REC_E_FORMAT, r->at, HALF_NUMBERS, "%" PRId64 " and %" PRIu64 " in one tensor",
                                 minimum, maximum);
            return -1;
        }
        if (minimum < INT16_MIN || maximum > UINT16_MAX) {
            return fail_number(r, HALF_NUMBERS, minimum, INT16_MIN, maximum);
        }
        if (minimum < 0) {
            tensor->stored = REC_DTYPE_I16;
            return 1;
        }
        tensor->stored = tensor->packed = REC_DTYPE_F16;
        tensor->assumed = maximum <= INT16_MAX;
        tensor->data = half_bits(r, run);
        return tensor->data ? 1 : -1;
    }
    dtype = r->burn->precision == REC_PRECISION_FULL ? REC_DTYPE_I32 : REC_DTYPE_I64;
    if (dtype == REC_DTYPE_I32 && (minimum < INT32_MIN || maximum > INT32_MAX)) {
        return fail_number(r, "i32 (the file is of full precision)", minimum, INT32_MIN, maximum);
    }
    if (maximum > INT64_MAX) {
        return fail_number(r, "i64", minimum, INT64_MIN, maximum);
    }
    tensor->stored = (uint8_t)dtype;
    return 1;
}

int lr_raise_v1(const lr_raise *r, const rec_value *value, const rec_value *shape, rec_value *out)
{
    rec_tensor *tensor;
    lr_packed *run;
    char text[160], expected[256], a[32], b[32];
    uint64_t count = rec_value_count(value), maximum;
    if (!lr_raise_is_numbers(shape) || (value->kind != REC_KIND_NUMBERS && !is_float_list(value))) {
        return 0;
    }
    tensor = lr_raise_tensor(r, shape);
    if (!tensor) {
        return -1;
    }
    if (count != tensor->count) {
        (void)lr_shape_words(text, sizeof text, tensor->shape, tensor->rank);
        (void)snprintf(expected, sizeof expected, "%s values for shape %s", lr_group_digits(tensor->count, a, sizeof a),
                       text);
        (void)rec_fail_found(r->job, REC_E_FORMAT, r->at, expected, "%s", lr_group_digits(count, b, sizeof b));
        return -1;
    }
    if (count == 0) {
        tensor->stored = tensor->packed = (uint8_t)lr_dtype_at(
            REC_DTYPE_F32, r->burn->precision == REC_PRECISION_DEFAULT ? REC_PRECISION_FULL : r->burn->precision);
        tensor->assumed = true;
        tensor->data = lr_data_copy(r->record, NULL, 0);
        if (!tensor->data) {
            (void)lr_fail_arena(r->job, &r->record->arena, sizeof(lr_data));
            return -1;
        }
        return lr_raise_finish(r, tensor, out);
    }
    if (value->kind == REC_KIND_LIST && !has_floats(value->v.list, &maximum)) {
        return fail_number(r, "i64", 0, 0, maximum); /* integers that no type holds together */
    }
    run = value->kind == REC_KIND_NUMBERS ? value->v.run : float_run(r, value->v.list);
    if (!run) {
        return -1;
    }
    finish_floats(r, run);
    if (run->dtype == REC_DTYPE_BOOL || run->dtype == REC_DTYPE_F32 || run->dtype == REC_DTYPE_F64) {
        tensor->stored = tensor->packed = (uint8_t)run->dtype;
        tensor->data = &run->data;
        /* Up to 0.11 the integers of a full precision file are f32 values, too. */
        tensor->assumed = run->dtype == REC_DTYPE_F32 && r->burn->minor >= 0 && r->burn->minor < 12 && all_whole(run);
    } else if (v1_integers(r, tensor, run) < 0) {
        return -1;
    }
    return lr_raise_finish(r, tensor, out);
}
