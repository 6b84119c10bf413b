/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Element types and precisions: names and sizes. */
#include <string.h>

#include "core/record/record.h"

/** By number. `bits` is 0 for types without a fixed element size. */
static const struct {
    char name[8];
    uint32_t bits;
} dtypes[] = {
    [REC_DTYPE_F64] = {"f64", 64},       [REC_DTYPE_F32] = {"f32", 32},      [REC_DTYPE_FLEX32] = {"flex32", 32},
    [REC_DTYPE_F16] = {"f16", 16},       [REC_DTYPE_BF16] = {"bf16", 16},    [REC_DTYPE_I64] = {"i64", 64},
    [REC_DTYPE_I32] = {"i32", 32},       [REC_DTYPE_I16] = {"i16", 16},      [REC_DTYPE_I8] = {"i8", 8},
    [REC_DTYPE_U64] = {"u64", 64},       [REC_DTYPE_U32] = {"u32", 32},      [REC_DTYPE_U16] = {"u16", 16},
    [REC_DTYPE_U8] = {"u8", 8},          [REC_DTYPE_BOOL] = {"bool", 8},     [REC_DTYPE_BOOL8] = {"bool8", 8},
    [REC_DTYPE_BOOL32] = {"bool32", 32}, [REC_DTYPE_QFLOAT] = {"qfloat", 0}, [REC_DTYPE_OPAQUE] = {"opaque", 0},
};

enum { DTYPES = sizeof dtypes / sizeof dtypes[0] };

/** By number. */
static const char precisions[][8] = {
    [REC_PRECISION_DEFAULT] = "default", [REC_PRECISION_KEEP] = "keep", [REC_PRECISION_DOUBLE] = "double",
    [REC_PRECISION_FULL] = "full",       [REC_PRECISION_HALF] = "half",
};

enum { PRECISIONS = sizeof precisions / sizeof precisions[0] };

static bool known(rec_dtype dtype)
{
    return dtype > REC_DTYPE_NONE && dtype < DTYPES;
}

const char *rec_dtype_name(rec_dtype dtype)
{
    return known(dtype) ? dtypes[dtype].name : "unknown";
}

rec_dtype rec_dtype_from_name(const char *name)
{
    if (!name)
        return REC_DTYPE_NONE;
    for (rec_dtype dtype = 1; dtype < DTYPES; dtype++) {
        if (!strcmp(dtypes[dtype].name, name))
            return dtype;
    }
    return REC_DTYPE_NONE;
}

uint32_t rec_dtype_bits(rec_dtype dtype)
{
    return known(dtype) ? dtypes[dtype].bits : 0;
}

int32_t lr_elements_of(rec_dtype dtype)
{
    return lr_dtype_is_int(dtype) ? REC_FIELD_INTS : lr_dtype_is_bool(dtype) ? REC_FIELD_BOOLS : REC_FIELD_FLOATS;
}

const char *lr_elements_words(int32_t elements)
{
    return elements == REC_FIELD_INTS ? "integers" : elements == REC_FIELD_BOOLS ? "bools" : "floats";
}

const char *rec_precision_name(rec_precision precision)
{
    return precision >= 0 && precision < PRECISIONS ? precisions[precision] : "unknown";
}

rec_precision rec_precision_from_name(const char *name)
{
    if (!name)
        return -1;
    for (rec_precision precision = 0; precision < PRECISIONS; precision++) {
        if (!strcmp(precisions[precision], name))
            return precision;
    }
    return -1;
}

bool lr_dtype_is_float(rec_dtype dtype)
{
    return dtype >= REC_DTYPE_F64 && dtype <= REC_DTYPE_BF16;
}

bool lr_dtype_is_int(rec_dtype dtype)
{
    return dtype >= REC_DTYPE_I64 && dtype <= REC_DTYPE_U8;
}

bool lr_dtype_is_bool(rec_dtype dtype)
{
    return dtype >= REC_DTYPE_BOOL && dtype <= REC_DTYPE_BOOL32;
}

rec_dtype lr_dtype_at(rec_dtype dtype, rec_precision precision)
{
    static const struct {
        rec_dtype to_float, to_int;
    } at[] = {
        [REC_PRECISION_DOUBLE] = {REC_DTYPE_F64, REC_DTYPE_I64},
        [REC_PRECISION_FULL] = {REC_DTYPE_F32, REC_DTYPE_I32},
        [REC_PRECISION_HALF] = {REC_DTYPE_F16, REC_DTYPE_I16},
    };
    if (precision < REC_PRECISION_DOUBLE || precision > REC_PRECISION_HALF)
        return dtype;
    if (lr_dtype_is_float(dtype))
        return at[precision].to_float;
    return lr_dtype_is_int(dtype) ? at[precision].to_int : dtype;
}
