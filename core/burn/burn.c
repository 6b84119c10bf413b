/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Burn's layout: recognising tensors and parameters, element types by version, metadata.
 *
 * A parameter is {id, param}; a tensor is {bytes, shape, dtype} since 0.14 (V2) and {value, shape} before (V1), where the
 * element type follows from the precision in the metadata and the numbers themselves. */
#include "core/burn/burn.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/record/convert.h"
#include "core/io/io.h"
#include "core/record/packed.h"

/* ---------------------------------------------------------------------------------------------- element types -- */

struct name {
    const char *name;
    rec_dtype dtype;
    int32_t since; /* 0.MINOR */
};

/* In the order of Burn's enum; U16 came with 0.16, Flex32 with 0.17. */
static const struct name dtypes[] = {
    {"F64", REC_DTYPE_F64, 14}, {"F32", REC_DTYPE_F32, 14},   {"Flex32", REC_DTYPE_FLEX32, 17},
    {"F16", REC_DTYPE_F16, 14}, {"BF16", REC_DTYPE_BF16, 14}, {"I64", REC_DTYPE_I64, 14},
    {"I32", REC_DTYPE_I32, 14}, {"I16", REC_DTYPE_I16, 14},   {"I8", REC_DTYPE_I8, 14},
    {"U64", REC_DTYPE_U64, 14}, {"U32", REC_DTYPE_U32, 14},   {"U16", REC_DTYPE_U16, 16},
    {"U8", REC_DTYPE_U8, 14},   {"Bool", REC_DTYPE_BOOL, 14}, {"QFloat", REC_DTYPE_QFLOAT, 14},
};
#define DTYPES (sizeof dtypes / sizeof *dtypes)

static bool text_is(const rec_value *value, const char *text)
{
    size_t length = strlen(text);
    return value->kind == REC_KIND_STRING && value->length == length && memcmp(value->v.text, text, length) == 0;
}

static rec_dtype by_name(const rec_value *name)
{
    for (size_t i = 0; i < DTYPES; i++) {
        if (text_is(name, dtypes[i].name)) {
            return dtypes[i].dtype;
        }
    }
    return REC_DTYPE_OPAQUE;
}

/* Bool(Native | U8 | U32). */
static rec_dtype bool_store(const rec_value *store)
{
    const rec_value *name = store->kind == REC_KIND_VARIANT ? &store->v.variant->name : store;
    return text_is(name, "Native") ? REC_DTYPE_BOOL
           : text_is(name, "U8")   ? REC_DTYPE_BOOL8
           : text_is(name, "U32")  ? REC_DTYPE_BOOL32
                                   : REC_DTYPE_OPAQUE;
}

rec_dtype lr_burn_dtype(const rec_value *value)
{
    const rec_value *name = value;
    const rec_value *payload = NULL;
    rec_dtype dtype;
    if (value->kind == REC_KIND_MAP && value->v.map->count == 1) {
        name = &value->v.map->entries[0].key;
        payload = &value->v.map->entries[0].value;
    } else if (value->kind == REC_KIND_VARIANT) {
        name = &value->v.variant->name;
        payload = value->v.variant->has_payload ? &value->v.variant->payload : NULL;
    }
    dtype = by_name(name);
    if (dtype == REC_DTYPE_BOOL && payload) {
        return bool_store(payload);
    }
    /* QFloat always has a payload (its scheme), the others never. */
    return (dtype == REC_DTYPE_QFLOAT) == (payload != NULL) ? dtype : REC_DTYPE_OPAQUE;
}

uint64_t lr_burn_dtype_count(int32_t minor)
{
    uint64_t count = 0;
    for (size_t i = 0; i < DTYPES; i++) {
        count += dtypes[i].since <= minor;
    }
    return count;
}

const char *lr_burn_dtype_at(int32_t minor, uint64_t index)
{
    for (size_t i = 0; i < DTYPES; i++) {
        if (dtypes[i].since <= minor && index-- == 0) {
            return dtypes[i].name;
        }
    }
    return NULL;
}

const char *lr_burn_dtype_name(rec_dtype dtype, int32_t minor, uint64_t *index)
{
    rec_dtype plain = lr_dtype_is_bool(dtype) ? REC_DTYPE_BOOL : dtype;
    uint64_t at = 0;
    for (size_t i = 0; i < DTYPES; i++) {
        if (dtypes[i].dtype == plain && dtypes[i].since <= minor) {
            *index = at;
            return dtypes[i].name;
        }
        at += dtypes[i].since <= minor;
    }
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------- metadata -- */

static const struct {
    rec_precision precision;
    const char *float_name, *int_name, *settings;
} precisions[] = {
    {REC_PRECISION_DOUBLE, "f64", "i64", "DoublePrecisionSettings"},
    {REC_PRECISION_FULL, "f32", "i32", "FullPrecisionSettings"},
    {REC_PRECISION_HALF, "half::binary16::f16", "i16", "HalfPrecisionSettings"},
};

static size_t precision_index(rec_precision precision)
{
    return precision == REC_PRECISION_DOUBLE ? 0 : precision == REC_PRECISION_HALF ? 2 : 1;
}

const char *lr_burn_float_name(rec_precision precision)
{
    return precisions[precision_index(precision)].float_name;
}

const char *lr_burn_int_name(rec_precision precision)
{
    return precisions[precision_index(precision)].int_name;
}

const char *lr_burn_settings_name(rec_precision precision)
{
    return precisions[precision_index(precision)].settings;
}

lr_burn lr_burn_of(const lr_map *metadata)
{
    lr_burn burn = {.minor = -1, .known = metadata->count > 0};
    const lr_entry *version = lr_map_find_text(metadata, "version", 7);
    const lr_entry *name = lr_map_find_text(metadata, "float", 5);
    if (version && version->value.kind == REC_KIND_STRING && version->value.length > 2 &&
        version->value.v.text[0] == '0' && version->value.v.text[1] == '.') {
        const char *digits = version->value.v.text + 2;
        size_t length = strspn(digits, "0123456789");
        if (length >= 1 && length <= 4) {
            burn.minor = 0;
            for (size_t i = 0; i < length; i++) {
                burn.minor = burn.minor * 10 + (digits[i] - '0');
            }
            /* Records that say 0.6 were written on the way to 0.7 and have its layout. */
            burn.minor = burn.minor < LR_BURN_FIRST ? LR_BURN_FIRST : burn.minor;
        }
    }
    for (size_t i = 0; name && i < sizeof precisions / sizeof *precisions; i++) {
        if (text_is(&name->value, precisions[i].float_name)) {
            burn.precision = precisions[i].precision;
        }
    }
    if (name && text_is(&name->value, "f16")) {
        burn.precision = REC_PRECISION_HALF;
    }
    return burn;
}

/* ---------------------------------------------------------------------------------------------------------- ids -- */

static const char base32[] = "0123456789abcdefghijklmnopqrstuv";

void lr_burn_base32(const uint8_t *bytes, size_t count, char *text)
{
    uint32_t bits = 0, held = 0;
    for (size_t i = 0; i < count; i++) {
        held = held << 8 | bytes[i];
        bits += 8;
        while (bits >= 5) {
            bits -= 5;
            *text++ = base32[held >> bits & 31];
        }
        held &= (1u << bits) - 1;
    }
    if (bits) {
        *text++ = base32[held << (5 - bits) & 31];
    }
    *text = '\0';
}

/* The bytes of a UUID in its usual form. */
static bool uuid_bytes(const char *id, uint8_t bytes[16])
{
    size_t at = 0;
    for (size_t i = 0; i < 36; i++) {
        static const char hex[] = "0123456789abcdef";
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        const char *digit = memchr(hex, id[i] >= 'A' && id[i] <= 'F' ? id[i] + 32 : id[i], 16);
        if (dash ? id[i] != '-' : !digit) {
            return false;
        }
        if (!dash) {
            bytes[at / 2] = (uint8_t)((at % 2 ? bytes[at / 2] << 4 : 0) | (digit - hex));
            at++;
        }
    }
    return id[36] == '\0';
}

static bool base32_bytes(const char *id, uint8_t bytes[6])
{
    uint64_t held = 0;
    for (size_t i = 0; i < 10; i++) {
        const char *digit = id[i] ? memchr(base32, id[i], 32) : NULL;
        if (!digit) {
            return false;
        }
        held = held << 5 | (uint64_t)(digit - base32);
    }
    held >>= 2; /* 50 bits for 48 */
    for (size_t i = 0; i < 6; i++) {
        bytes[i] = (uint8_t)(held >> (40 - 8 * i));
    }
    return id[10] == '\0';
}

void lr_id_of_path(const char *path, size_t length, uint8_t bytes[8])
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a, then stirred so that near paths are far apart */
    for (size_t i = 0; i < length; i++) {
        h = (h ^ (unsigned char)path[i]) * UINT64_C(0x100000001b3);
    }
    h = (h ^ (h >> 31)) * UINT64_C(0x7fb5d329728ea185);
    h = (h ^ (h >> 27)) * UINT64_C(0x81dadef4bc2dd44d);
    h ^= h >> 33;
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(h >> (8 * i));
    }
}

const char *lr_burn_id(const char *id, int32_t minor, char *buffer)
{
    uint8_t bytes[16] = {0};
    size_t length = strlen(id);
    if (minor >= 15 && ((length == 36 && uuid_bytes(id, bytes)) || (length == 10 && base32_bytes(id, bytes)))) {
        lr_burn_base32(bytes, 8, buffer);
        return buffer;
    }
    return id;
}

/* ------------------------------------------------------------------------------------------------- recognising -- */

/* What raising needs to hand down. */
struct raise {
    rec_job *job;
    rec_record *record;
    const lr_burn *burn;
    rec_precision precision;
    uint64_t at;
};

static const rec_value *entry_of(const lr_entry *entries, uint64_t count, const char *name)
{
    for (uint64_t i = 0; i < count; i++) {
        if (text_is(&entries[i].key, name)) {
            return &entries[i].value;
        }
    }
    return NULL;
}

static bool is_number_list(const rec_value *value)
{
    return value->kind == REC_KIND_NUMBERS || (value->kind == REC_KIND_LIST && value->v.list->count == 0);
}

static bool is_unsigned_run(const rec_value *value)
{
    if (value->kind != REC_KIND_NUMBERS) {
        return true; /* an empty list */
    }
    switch (value->v.run->dtype) {
    case REC_DTYPE_U8:
    case REC_DTYPE_U16:
    case REC_DTYPE_U32:
    case REC_DTYPE_U64:
        return true;
    default:
        return false;
    }
}

/* A list that was meant to hold numbers and holds something else first. */
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

/* A tensor with its shape but no data yet. NULL: the job has failed. */
static rec_tensor *new_tensor(const struct raise *r, const rec_value *shape)
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
    if (!is_unsigned_run(shape)) {
        (void)rec_fail_found(r->job, REC_E_FORMAT, r->at, "a list of unsigned integers as the tensor's `shape`", "%s",
                             shape->v.run->dtype == REC_DTYPE_BOOL    ? "a list of bools"
                             : lr_dtype_is_float(shape->v.run->dtype) ? "a list of floats"
                                                                      : "a list with negative numbers");
        return NULL;
    }
    for (uint64_t i = 0; i < rank; i++) {
        shown[i] = lr_run_number(shape->v.run, i).v.u;
    }
    if (rank) {
        /* The list of the shape is not needed any more: a record of many small tensors is the smaller for it. */
        const lr_run *run = shape->v.run;
        if (!run->data.source) {
            lr_arena_rewind(&r->record->arena, shape->v.run, run->data.data + run->data.size);
        }
    }
    tensor = lr_arena_alloc(&r->record->arena, sizeof *tensor, 8);
    dims = lr_arena_alloc(&r->record->arena, sizeof *dims * (rank ? rank : 1), 8);
    if (!tensor || !dims) {
        (void)lr_fail_memory(r->job, sizeof *tensor);
        return NULL;
    }
    memset(tensor, 0, sizeof *tensor);
    memcpy(dims, shown, sizeof *dims * rank);
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

static int finish_tensor(const struct raise *r, rec_tensor *tensor, rec_value *out)
{
    lr_tensor_set_precision(tensor, r->precision);
    *out = (rec_value){.kind = REC_KIND_TENSOR, .v = {.tensor = tensor}};
    return 1;
}

/* The bytes of a V2 tensor: a byte string, or a list of numbers from 0 to 255. NULL: the job has failed. */
static lr_data *v2_bytes(const struct raise *r, const rec_value *bytes)
{
    lr_data *data;
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
    data = lr_data_copy(r->record, NULL, 0);
    if (!data) {
        (void)lr_fail_memory(r->job, sizeof *data);
    }
    return data;
}

static int raise_v2(const struct raise *r, const rec_value *bytes, const rec_value *shape, const rec_value *dtype,
                    rec_value *out)
{
    rec_tensor *tensor;
    uint64_t size;
    if ((bytes->kind != REC_KIND_BYTES && !is_number_list(bytes)) || !is_number_list(shape) ||
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
    if (rec_dtype_bits(tensor->stored) == 0) {
        rec_value *name = lr_arena_alloc(&r->record->arena, sizeof *name, 8);
        if (!name) {
            (void)lr_fail_memory(r->job, sizeof *name);
            return -1;
        }
        *name = *dtype;
        tensor->dtype_value = name;
    } else if (!lr_tensor_size(tensor->stored, tensor->count, &size) || size != tensor->data->size) {
        (void)lr_fail_data(r->job, r->at, tensor->stored, tensor->shape, tensor->rank, tensor->data->size);
        return -1;
    }
    return finish_tensor(r, tensor, out);
}

/* -------------------------------------------------------------------------------------------------------- V1 -- */

/* Values of a list that mixes integers, floats and null (how JSON writes NaN and infinities) as one float run. */
static lr_run *float_run(const struct raise *r, const lr_list *list)
{
    bool half_width = r->burn->precision == REC_PRECISION_FULL;
    uint64_t width = half_width ? 4 : 8, size;
    lr_run *run = lr_arena_alloc(&r->record->arena, sizeof *run, 8);
    uint8_t *bytes = run && lr_mul(list->count, width, &size) ? lr_arena_alloc(&r->record->arena, size, 8) : NULL;
    if (!bytes) {
        (void)lr_fail_memory(r->job, list->count * width);
        return NULL;
    }
    for (uint64_t i = 0; i < list->count; i++) {
        const rec_value *item = &list->items[i];
        double value = item->kind == REC_KIND_FLOAT  ? item->v.f
                       : item->kind == REC_KIND_INT  ? (double)item->v.i
                       : item->kind == REC_KIND_UINT ? (double)item->v.u
                                                     : (double)__builtin_nanf("");
        if (half_width) {
            float narrow = (float)value;
            memcpy(bytes + i * 4, &narrow, 4);
        } else {
            memcpy(bytes + i * 8, &value, 8);
        }
    }
    lr_swap_if_big(bytes, (uint32_t)width, list->count);
    *run = (lr_run){.count = list->count,
                    .dtype = half_width ? REC_DTYPE_F32 : REC_DTYPE_F64,
                    .data = {.data = bytes, .size = list->count * width, .offset = REC_UNKNOWN}};
    return run;
}

/* Floats read as f64, as all those of JSON are: at full precision they were written from f32, and null was NaN. The
 * values are the record's own, which nobody has seen yet, so that it is done in place. */
static void finish_floats(const struct raise *r, lr_run *run)
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
        single = (float)value;
        /* The one f32 of all whose shortest text, as an f64, lies half-way between two of them. */
        if (value == 7.038531e-26 || value == -7.038531e-26) {
            single = value < 0 ? -7.038531e-26f : 7.038531e-26f;
        }
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

/* Whether floats, or null for those that JSON cannot write, are among the numbers. @param maximum (out) else the largest. */
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
static void run_limits(const lr_run *run, int64_t *minimum, uint64_t *maximum)
{
    int64_t low = 0;
    uint64_t high = 0;
    if (!is_unsigned_run(&(rec_value){.kind = REC_KIND_NUMBERS, .v = {.run = (lr_run *)run}})) {
        for (uint64_t i = 0; i < run->count; i++) {
            rec_scalar number = lr_run_number(run, i);
            if (number.kind == REC_KIND_INT) {
                low = number.v.i < low ? number.v.i : low;
            } else {
                high = number.v.u > high ? number.v.u : high;
            }
        }
    } else {
        for (uint64_t i = 0; i < run->count; i++) {
            uint64_t number = lr_run_number(run, i).v.u;
            high = number > high ? number : high;
        }
    }
    *minimum = low;
    *maximum = high;
}

/* The bit patterns of half floats, 16 bits each. NULL: the job has failed. */
static lr_data *half_bits(const struct raise *r, const lr_run *run)
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
        (void)lr_fail_memory(r->job, run->count * 2);
        return NULL;
    }
    (void)lr_convert(run->dtype, run->data.data, REC_DTYPE_U16, wide, run->count, false, &result);
    lr_swap_if_big(wide, 2, run->count);
    *data = (lr_data){.data = wide, .size = run->count * 2, .offset = REC_UNKNOWN};
    return data;
}

static bool all_whole(const lr_run *run)
{
    for (uint64_t i = 0; i < run->count; i++) {
        double value = lr_run_number(run, i).v.f;
        if (!(value >= -2147483648.0 && value <= 2147483648.0) || value != (double)(int64_t)value) {
            return false;
        }
    }
    return true;
}

#define HALF_NUMBERS "i16, or the bits of f16 (the file is of half precision)"

/* A number that fits no type the tensor may have: the smallest if that is too small, else the largest. */
static int fail_number(const struct raise *r, const char *expected, int64_t minimum, int64_t least, uint64_t maximum)
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
static int v1_integers(const struct raise *r, rec_tensor *tensor, lr_run *run)
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

static int raise_v1(const struct raise *r, const rec_value *value, const rec_value *shape, rec_value *out)
{
    rec_tensor *tensor;
    lr_run *run;
    char text[160], expected[256], a[32], b[32];
    uint64_t count = rec_value_count(value), maximum;
    if (!is_number_list(shape) || (value->kind != REC_KIND_NUMBERS && !is_float_list(value))) {
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
        tensor->data = lr_data_copy(r->record, NULL, 0);
        if (!tensor->data) {
            (void)lr_fail_memory(r->job, sizeof(lr_data));
            return -1;
        }
        return finish_tensor(r, tensor, out);
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
    return finish_tensor(r, tensor, out);
}

/* A tensor within a parameter that was not recognised as one: says what is wrong with it. Elsewhere such a map may be
 * the user's own. @return -1, or 0 if it is something else. */
static int check_parameter(const struct raise *r, const rec_value *param)
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
    if (!is_number_list(shape)) {
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

static int raise_parameter(const struct raise *r, const rec_value *id, const rec_value *param, rec_value *out)
{
    if (id->kind == REC_KIND_STRING && param->kind == REC_KIND_MAP) {
        return check_parameter(r, param);
    }
    if (id->kind != REC_KIND_STRING || param->kind != REC_KIND_TENSOR || param->v.tensor->id) {
        return 0;
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
    struct raise r = {.job = job, .record = record, .burn = burn, .precision = precision, .at = at};
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
