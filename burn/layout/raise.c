/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Recognising tensors and parameters in the maps of a data tree. A parameter is {id, param}; a tensor is {bytes,
 * shape, dtype} since 0.14 (V2) and {value, shape} before (V1), where the element type follows from the precision in
 * the metadata and the numbers themselves. */
#include "burn/layout/layout.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct raising {
    rec_job *job;
    rec_record *record;
    const lr_burn *burn;
    rec_precision precision;
    uint64_t at;
} raising;

/* NULL: the job has failed. */
static void *room_for(const raising *r, uint64_t size)
{
    return lr_job_arena_alloc(r->job, &r->record->arena, size, 8);
}

/* Of a tensor without elements. NULL: the job has failed. */
static lr_data *no_data(const raising *r)
{
    lr_data *data = lr_data_copy(r->record, NULL, 0);
    if (!data) {
        (void)lr_fail_arena(r->job, &r->record->arena, sizeof *data);
    }
    return data;
}

/* Whether a value is a list of numbers, or an empty one. */
static bool is_numbers(const rec_value *value)
{
    return value->kind == REC_KIND_NUMBERS || (value->kind == REC_KIND_LIST && value->v.list->count == 0);
}

/* An empty list is, too. */
static bool is_unsigned(const rec_value *value)
{
    int64_t least = 0;
    uint64_t most;
    return value->kind != REC_KIND_NUMBERS || (lr_int_limits(value->v.run->dtype, &least, &most) && least == 0);
}

/* A tensor with its shape but no data yet. NULL: the job has failed. */
static rec_tensor *new_tensor(const raising *r, const rec_value *shape)
{
    uint64_t rank = rec_value_count(shape);
    rec_tensor *tensor;
    uint64_t *dims;
    uint64_t shown[LR_RANK_MOST];
    char text[160];
    if (rank > LR_RANK_MOST) {
        (void)rec_fail(r->job, REC_E_UNSUPPORTED, r->at, "a tensor of rank %" PRIu64 "; at most %d are supported", rank,
                       LR_RANK_MOST);
        return NULL;
    }
    if (!is_unsigned(shape)) {
        (void)rec_fail_found(r->job, REC_E_FORMAT, r->at, "a list of unsigned integers as the tensor's `shape`", "%s",
                             shape->v.run->dtype == REC_DTYPE_BOOL    ? "a list of bools"
                             : lr_dtype_is_float(shape->v.run->dtype) ? "a list of floats"
                                                                      : "a list with negative numbers");
        return NULL;
    }
    for (uint64_t i = 0; i < rank; i++) {
        shown[i] = lr_packed_number(shape->v.run, i).v.u;
    }
    if (rank && !shape->v.run->data.source) {
        /* The list of the shape is not needed any more: a record of many small tensors is the smaller for it. */
        const lr_data *list = &shape->v.run->data;
        lr_arena_rewind(&r->record->arena, shape->v.run, list->data + list->size);
    }
    tensor = room_for(r, sizeof *tensor);
    dims = tensor ? room_for(r, sizeof *dims * (rank ? rank : 1)) : NULL;
    if (!dims) {
        return NULL;
    }
    memset(tensor, 0, sizeof *tensor);
    memcpy(dims, shown, (size_t)(sizeof *dims * rank));
    tensor->record = r->record;
    tensor->shape = dims;
    tensor->rank = (uint8_t)rank;
    if (!lr_shape_count(dims, (uint32_t)rank, &tensor->count)) {
        (void)rec_fail(r->job, REC_E_FORMAT, r->at, "the shape %s has more elements than can be counted",
                       lr_shape_words(text, sizeof text, dims, rank));
        return NULL;
    }
    return tensor;
}

/* @return 1, -1: the job has failed. */
static int finish(const raising *r, rec_tensor *tensor, rec_value *out)
{
    if (r->job->skip && lr_data_drop(r->job, r->record, tensor->data) != REC_OK) {
        return -1;
    }
    lr_tensor_set_precision(tensor, r->precision);
    *out = (rec_value){.kind = REC_KIND_TENSOR, .v = {.tensor = tensor}};
    return 1;
}

/* ---------------------------------------------------------------------------------------------- before 0.14 -- */

/* A number of a text as f32. Of all f32 one has a shortest text that, as an f64, lies half-way between two of them. */
static float single_of(double value)
{
    return value == 7.038531e-26 ? 7.038531e-26f : value == -7.038531e-26 ? -7.038531e-26f : (float)value;
}

/* Values of a list that mixes integers, floats and null (how JSON writes NaN and infinities) as one float run. */
static lr_packed *float_run(const raising *r, const lr_list *list)
{
    bool half_width = r->burn->precision == REC_PRECISION_FULL;
    uint64_t width = half_width ? 4 : 8; /* less than an element of the list has */
    lr_packed *run = room_for(r, sizeof *run);
    uint8_t *bytes = run ? room_for(r, list->count * width) : NULL;
    if (!bytes) {
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
static void finish_floats(const raising *r, lr_packed *run)
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
    *minimum = 0;
    *maximum = 0;
    for (uint64_t i = 0; i < run->count; i++) {
        rec_scalar number = lr_packed_number(run, i);
        if (number.kind == REC_KIND_INT) { /* below 0 */
            *minimum = number.v.i < *minimum ? number.v.i : *minimum;
        } else {
            *maximum = number.v.u > *maximum ? number.v.u : *maximum;
        }
    }
}

/* The bit patterns of half floats, 16 bits each. NULL: the job has failed. */
static lr_data *half_bits(const raising *r, const lr_packed *run)
{
    lr_converted result = {0};
    lr_data *data;
    uint8_t *wide;
    if (run->dtype == REC_DTYPE_U16) {
        return (lr_data *)&run->data;
    }
    data = room_for(r, sizeof *data);
    wide = data ? room_for(r, run->count * 2) : NULL;
    if (!wide) {
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
static int fail_number(const raising *r, const char *expected, int64_t minimum, int64_t least, uint64_t maximum)
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
static int v1_integers(const raising *r, rec_tensor *tensor, lr_packed *run)
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

/* Makes a tensor of {value, shape}, the form before 0.14. @return as lr_burn_raise. */
static int raise_v1(const raising *r, const rec_value *value, const rec_value *shape, rec_value *out)
{
    rec_tensor *tensor;
    lr_packed *run;
    char text[160], expected[256], a[32], b[32];
    uint64_t count = rec_value_count(value), maximum;
    if (!is_numbers(shape) || (value->kind != REC_KIND_NUMBERS && !is_float_list(value))) {
        return 0;
    }
    tensor = new_tensor(r, shape);
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
        tensor->data = no_data(r);
        return tensor->data ? finish(r, tensor, out) : -1;
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
    return finish(r, tensor, out);
}

/* ------------------------------------------------------------------------------------------------- since 0.14 -- */

/* The bytes of a V2 tensor: a byte string, or a list of numbers from 0 to 255. NULL: the job has failed. */
static lr_data *v2_bytes(const raising *r, const rec_value *bytes)
{
    if (bytes->kind == REC_KIND_BYTES) {
        return bytes->v.bytes;
    }
    if (bytes->kind == REC_KIND_NUMBERS) {
        if (bytes->v.run->dtype != REC_DTYPE_U8) {
            (void)rec_fail_found(r->job, REC_E_FORMAT, r->at, "a byte string as the tensor's `bytes`",
                                 "a list of numbers that are not all from 0 to 255");
            return NULL;
        }
        return &bytes->v.run->data;
    }
    return no_data(r);
}

/* Whether a name can be that of an element type: every format that carries it on wants one short line. */
static bool is_type_name(const rec_value *name)
{
    bool fine = name->length > 0 && name->length < LR_DTYPE_TEXT_ROOM;
    for (uint32_t i = 0; fine && i < name->length; i++) {
        fine = (unsigned char)name->v.text[i] >= ' ' && name->v.text[i] != 0x7f;
    }
    return fine;
}

static int raise_v2(const raising *r, const rec_value *bytes, const rec_value *shape, const rec_value *dtype,
                    rec_value *out)
{
    const rec_value *name;
    rec_tensor *tensor;
    uint64_t size;
    if ((bytes->kind != REC_KIND_BYTES && !is_numbers(bytes)) || !is_numbers(shape) ||
        (dtype->kind != REC_KIND_STRING && dtype->kind != REC_KIND_MAP && dtype->kind != REC_KIND_VARIANT)) {
        return 0;
    }
    tensor = new_tensor(r, shape);
    if (!tensor) {
        return -1;
    }
    tensor->data = v2_bytes(r, bytes);
    if (!tensor->data) {
        return -1;
    }
    tensor->stored = tensor->packed = (uint8_t)lr_burn_dtype(dtype);
    name = dtype->kind == REC_KIND_VARIANT ? &dtype->v.variant->name : dtype;
    if (tensor->stored == REC_DTYPE_OPAQUE && lr_value_is(name, "QFloat")) {
        (void)rec_fail(r->job, REC_E_UNSUPPORTED, r->at, "a quantised tensor without its scheme");
        if (dtype->kind == REC_KIND_VARIANT) {
            rec_fail_hint(r->job, "Read it from MessagePack or JSON: without names the scheme cannot be distinguished "
                                  "from the next value.");
        }
        return -1;
    }
    if (tensor->stored == REC_DTYPE_OPAQUE && name->kind == REC_KIND_STRING && !is_type_name(name)) {
        (void)rec_fail_found(r->job, REC_E_FORMAT, r->at, "the name of an element type as the tensor's `dtype`",
                             "%u invalid bytes", name->length);
        return -1;
    }
    if (rec_dtype_bits(tensor->stored) == 0) {
        rec_value *words = room_for(r, sizeof *words);
        if (!words) {
            return -1;
        }
        *words = *dtype;
        if (!lr_encoding_make(tensor)) {
            (void)lr_fail_arena(r->job, &r->record->arena, sizeof *tensor->encoding);
            return -1;
        }
        tensor->encoding->words = words;
    } else if (!lr_tensor_size(tensor->stored, tensor->count, &size) || size != tensor->data->size) {
        (void)lr_fail_data(r->job, r->at, tensor->stored, tensor->shape, tensor->rank, tensor->data->size);
        return -1;
    }
    return finish(r, tensor, out);
}

/* ------------------------------------------------------------------------------------------------- parameters -- */

static const rec_value *entry_of(const lr_entry *entries, uint64_t count, const char *name)
{
    for (uint64_t i = 0; i < count; i++) {
        if (lr_value_is(&entries[i].key, name)) {
            return &entries[i].value;
        }
    }
    return NULL;
}

/* Describes the first element of a list that is not a number, though it should be. */
static const char *found_words(const rec_value *value)
{
    for (uint64_t i = 0; value->kind == REC_KIND_LIST && i < value->v.list->count; i++) {
        int32_t kind = value->v.list->items[i].kind;
        if (kind != REC_KIND_INT && kind != REC_KIND_UINT && kind != REC_KIND_FLOAT) {
            return kind == REC_KIND_STRING ? "a list with a string"
                   : kind == REC_KIND_NIL  ? "a list with nil"
                   : kind == REC_KIND_BOOL ? "a list with a bool"
                                           : "a list with something else";
        }
    }
    return lr_kind_words(value->kind);
}

/* A tensor within a parameter that was not recognised as one: says what is wrong with it. Elsewhere such a map may be
 * the user's own. @return -1, or 0 if it is something else. */
static int check_parameter(const raising *r, const rec_value *param)
{
    const lr_map *map = param->v.map;
    bool v2 = map->count == 3;
    const rec_value *data, *shape, *dtype;
    if (map->count != 2 && map->count != 3) {
        return 0;
    }
    data = entry_of(map->entries, map->count, v2 ? "bytes" : "value");
    shape = entry_of(map->entries, map->count, "shape");
    dtype = v2 ? entry_of(map->entries, map->count, "dtype") : NULL;
    if (!data || !shape || (v2 ? !dtype : r->burn->minor >= LR_BURN_V2)) {
        return 0;
    }
    if (!is_numbers(shape)) {
        (void)rec_fail_found(r->job, REC_E_FORMAT, r->at, "a list of unsigned integers as the tensor's `shape`", "%s",
                             found_words(shape));
    } else if (dtype && dtype->kind != REC_KIND_STRING && dtype->kind != REC_KIND_MAP) {
        (void)rec_fail_found(r->job, REC_E_FORMAT, r->at, "a name as the tensor's `dtype`", "%s", found_words(dtype));
    } else {
        (void)rec_fail_found(r->job, REC_E_FORMAT, r->at,
                             v2 ? "a byte string as the tensor's `bytes`" : "a list of numbers as the tensor's `value`",
                             "%s", found_words(data));
    }
    return -1;
}

static int raise_parameter(const raising *r, const rec_value *id, const rec_value *param, rec_value *out)
{
    const char *fault;
    if (id->kind == REC_KIND_STRING && param->kind == REC_KIND_MAP) {
        return check_parameter(r, param);
    }
    if (id->kind != REC_KIND_STRING || param->kind != REC_KIND_TENSOR || param->v.tensor->id) {
        return 0;
    }
    fault = lr_id_fault(id->v.text, id->length);
    if (fault) {
        (void)rec_fail(r->job, REC_E_FORMAT, r->at, "the id of this parameter %s", fault);
        return -1;
    }
    param->v.tensor->id = id->v.text;
    if (r->burn->minor >= 0 && r->burn->minor < 11) {
        param->v.tensor->assumed = false; /* integer parameters came with 0.11 */
    }
    *out = *param;
    return 1;
}

int lr_burn_raise(rec_job *job, rec_record *record, const lr_burn *burn, rec_precision precision, uint64_t at,
                  const lr_entry *entries, uint64_t count, rec_value *out)
{
    raising r = {.job = job, .record = record, .burn = burn, .precision = precision, .at = at};
    const rec_value *shape = entry_of(entries, count, "shape");
    if (count == 3) {
        const rec_value *bytes = entry_of(entries, count, "bytes");
        const rec_value *dtype = entry_of(entries, count, "dtype");
        return bytes && shape && dtype ? raise_v2(&r, bytes, shape, dtype, out) : 0;
    }
    if (shape) {
        const rec_value *value = entry_of(entries, count, "value");
        return value && burn->minor < LR_BURN_V2 ? raise_v1(&r, value, shape, out) : 0;
    }
    {
        const rec_value *id = entry_of(entries, count, "id");
        const rec_value *param = entry_of(entries, count, "param");
        return id && param ? raise_parameter(&r, id, param, out) : 0;
    }
}
