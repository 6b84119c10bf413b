/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Scalars and texts of the record tree. */
#include "core/record/record.h"

#include <string.h>

/* Names that occur once a parameter: sharing them keeps the tree of many small tensors in proportion to its file. */
static const char *const common[] = {
    "id",      "F32",      "F16",         "I32",      "I64",      "F64",          "Bool",        "beta",    "bias",
    "bytes",   "shape",    "dtype",       "value",    "param",    "gamma",        "V1",          "weight",  "momentum",
    "Rank1",   "Rank2",    "Rank3",       "Rank4",    "time",     "stride",       "groups",      "dropout", "padding",
    "epsilon", "dilation", "kernel_size", "moment_1", "moment_2", "running_mean", "running_var",
};

rec_value lr_nil(int32_t form)
{
    return (rec_value){.kind = REC_KIND_NIL, .form = (uint8_t)form};
}

bool lr_string(lr_arena *arena, const char *text, uint64_t length, rec_value *value)
{
    const char *copy = NULL;
    if (length > UINT32_MAX - 1) {
        return false;
    }
    if (length <= 12) {
        for (size_t i = 0; i < sizeof common / sizeof *common && !copy; i++) {
            if (length > 0 && common[i][0] == text[0] && strlen(common[i]) == length &&
                memcmp(common[i], text, (size_t)length) == 0) {
                copy = common[i];
            }
        }
    }
    if (!copy) {
        copy = lr_arena_text(arena, text, length);
    }
    *value = (rec_value){.kind = REC_KIND_STRING, .length = (uint32_t)length};
    value->v.text = copy;
    return copy != NULL;
}

bool lr_from_scalar(lr_arena *arena, const rec_scalar *scalar, rec_value *value)
{
    *value = (rec_value){.kind = (uint8_t)scalar->kind, .bits = scalar->bits, .form = (uint8_t)scalar->form};
    switch (scalar->kind) {
    case REC_KIND_NIL:
        return true;
    case REC_KIND_BOOL:
    case REC_KIND_INT:
        value->v.i = scalar->v.i;
        return true;
    case REC_KIND_UINT:
        value->v.u = scalar->v.u;
        return true;
    case REC_KIND_FLOAT:
        value->v.f = scalar->v.f;
        return true;
    default:
        return lr_string(arena, scalar->text, scalar->v.length, value);
    }
}

rec_scalar lr_to_scalar(const rec_value *value)
{
    rec_scalar scalar = {.kind = value->kind, .bits = value->bits, .form = value->form};
    switch (value->kind) {
    case REC_KIND_BOOL:
    case REC_KIND_INT:
        scalar.v.i = value->v.i;
        break;
    case REC_KIND_UINT:
        scalar.v.u = value->v.u;
        break;
    case REC_KIND_FLOAT:
        scalar.v.f = value->v.f;
        break;
    case REC_KIND_STRING:
        scalar.form = 0;
        scalar.text = value->v.text;
        scalar.v.length = value->length;
        break;
    default:
        scalar.kind = REC_KIND_NIL;
        break;
    }
    return scalar;
}

/* An unsigned and a signed integer of the same value are the same key. */
static bool as_unsigned(int32_t kind, int64_t i, uint64_t u, uint64_t *value)
{
    *value = kind == REC_KIND_UINT ? u : (uint64_t)i;
    return kind == REC_KIND_UINT || (kind == REC_KIND_INT && i >= 0);
}

bool lr_scalar_equal(const rec_value *key, const rec_scalar *scalar)
{
    uint64_t a, b;
    if (key->kind == REC_KIND_STRING || scalar->kind == REC_KIND_STRING) {
        return key->kind == scalar->kind && key->length == scalar->v.length &&
               memcmp(key->v.text, scalar->text, key->length) == 0;
    }
    if (as_unsigned(key->kind, key->v.i, key->v.u, &a) && as_unsigned(scalar->kind, scalar->v.i, scalar->v.u, &b)) {
        return a == b;
    }
    return key->kind == scalar->kind && key->v.u == scalar->v.u;
}
