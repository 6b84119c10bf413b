/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Scalars and texts of the record tree. */
#include "core/record/record.h"

#include <inttypes.h>
#include <stdio.h>
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
    if (scalar->kind < REC_KIND_NIL || scalar->kind > REC_KIND_FLOAT) {
        return lr_string(arena, scalar->text, scalar->v.length, value);
    }
    value->v.u = scalar->kind == REC_KIND_NIL ? 0 : scalar->v.u; /* the same bits, whatever they are */
    return true;
}

rec_scalar lr_to_scalar(const rec_value *value)
{
    rec_scalar scalar = {.kind = value->kind, .bits = value->bits, .form = value->form};
    if (value->kind == REC_KIND_STRING) {
        scalar.form = 0;
        scalar.text = value->v.text;
        scalar.v.length = value->length;
    } else if (value->kind > REC_KIND_STRING) {
        scalar.kind = REC_KIND_NIL;
    } else if (value->kind != REC_KIND_NIL) {
        scalar.v.u = value->v.u;
    }
    return scalar;
}

const char *lr_index_text(uint64_t index, char digits[LR_KEY_DIGITS], uint64_t *length)
{
    char *text = digits + LR_KEY_DIGITS;
    do {
        *--text = (char)('0' + index % 10);
        index /= 10;
    } while (index);
    *length = (uint64_t)(digits + LR_KEY_DIGITS - text);
    return text;
}

const char *lr_key_text(const rec_scalar *key, char digits[LR_KEY_DIGITS], uint64_t *length)
{
    const char *text = digits;
    if (key->kind == REC_KIND_STRING) {
        *length = key->v.length;
        return key->text;
    }
    if (key->kind == REC_KIND_BOOL) {
        text = key->v.i ? "true" : "false";
    } else if (key->kind == REC_KIND_UINT) {
        return lr_index_text(key->v.u, digits, length);
    } else {
        (void)snprintf(digits, LR_KEY_DIGITS, "%" PRId64, key->v.i);
    }
    *length = strlen(text);
    return text;
}

bool lr_scalar_equal(const rec_value *key, const rec_scalar *scalar)
{
    char digits[2][LR_KEY_DIGITS];
    rec_scalar known;
    uint64_t length[2];
    const char *a, *b;
    if (key->kind == REC_KIND_STRING && scalar->kind == REC_KIND_STRING) {
        return key->length == scalar->v.length && memcmp(key->v.text, scalar->text, key->length) == 0;
    }
    if (key->kind > REC_KIND_STRING) {
        return false; /* it was removed */
    }
    known = lr_to_scalar(key);
    a = lr_key_text(&known, digits[0], &length[0]);
    b = lr_key_text(scalar, digits[1], &length[1]);
    return length[0] == length[1] && memcmp(a, b, (size_t)length[0]) == 0;
}
