/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Numbers of NumPy's, numpy.float64(0.5): an element type and its bytes. They are data, and numpy is not needed. */
#include <string.h>

#include "plugins/codec/pytorch/pickle.h"

static const struct {
    const char *code, *name; /* in lr_pt_types */
    uint8_t kind, width;     /* LR_PT_NONE: of arrays alone */
    bool negative;           /* of an integer: it may be */
} types[] = {
    {"f8", "float64", LR_PT_FLOAT, 8, false},  {"f4", "float32", LR_PT_FLOAT, 4, false},
    {"i8", "int64", LR_PT_INT, 8, true},       {"i4", "int32", LR_PT_INT, 4, true},
    {"i2", "int16", LR_PT_INT, 2, true},       {"i1", "int8", LR_PT_INT, 1, true},
    {"u8", "uint64", LR_PT_INT, 8, false},     {"u4", "uint32", LR_PT_INT, 4, false},
    {"u2", "uint16", LR_PT_INT, 2, false},     {"u1", "uint8", LR_PT_INT, 1, false},
    {"b1", "bool", LR_PT_BOOL, 1, false},      {"f2", "float16", LR_PT_NONE, 2, false},
    {"c8", "complex64", LR_PT_NONE, 8, false}, {"c16", "complex128", LR_PT_NONE, 16, false},
};
enum { TYPES = sizeof types / sizeof *types };

int32_t lr_pickle_numpy_type(lr_pickle *p, uint32_t code, uint32_t *node)
{
    const lr_pt_node *text = lr_pickle_node(p, code);
    uint32_t i = 0;
    while (i < TYPES && !lr_pickle_is(p, text, types[i].code)) {
        i++;
    }
    *node = lr_pickle_new(p, LR_PT_NUMPY_TYPE);
    if (!*node) {
        return REC_E_MEMORY;
    }
    lr_pickle_node(p, *node)->length = i; /* TYPES: not a number type, an error where it is used */
    return REC_OK;
}

void lr_pickle_numpy_order(lr_pickle *p, uint32_t type, const lr_pt_node *state)
{
    uint32_t items[2];
    lr_pt_node *t = lr_pickle_node(p, type);
    const lr_pt_node *order =
        state->kind == LR_PT_TUPLE && lr_pickle_items(p, state, items, 2) >= 2 ? lr_pickle_node(p, items[1]) : NULL;
    if (order && lr_pickle_is(p, order, ">")) {
        t->mark = 1;
    } else if (!order || !(lr_pickle_is(p, order, "<") || lr_pickle_is(p, order, "|") || lr_pickle_is(p, order, "="))) {
        t->length = TYPES;
    }
}

uint8_t lr_pickle_numpy_element(const lr_pt_node *type, bool *swapped)
{
    uint8_t i = type->length < TYPES ? 0 : LR_PT_TYPES;
    while (i < LR_PT_TYPES && strcmp(lr_pt_types[i].name, types[type->length].name) != 0) {
        i++;
    }
    *swapped = type->mark && i < LR_PT_TYPES && lr_pt_types[i].part > 1;
    return i;
}

/* The bits of a number. @return false: it has another number of bytes. */
static bool bits_of(const lr_pickle *p, const lr_pt_node *from, uint8_t width, bool big, uint64_t *bits)
{
    uint8_t bytes[8];
    *bits = 0;
    if (lr_pickle_byte_count(p, from) != width || width > sizeof bytes) {
        return false;
    }
    lr_pickle_bytes(p, from, bytes);
    for (uint8_t i = 0; i < width; i++) {
        *bits |= (uint64_t)bytes[big ? width - 1 - i : i] << (8 * i);
    }
    return true;
}

int32_t lr_pickle_numpy_scalar(lr_pickle *p, uint32_t type, uint32_t bytes, uint32_t *node)
{
    const lr_pt_node *t = lr_pickle_node(p, type), *from = lr_pickle_node(p, bytes);
    uint32_t index = t->length;
    bool big = t->mark != 0;
    uint64_t bits;
    lr_pt_node *made;
    if (t->kind == LR_PT_NUMPY_TYPE && (index >= TYPES || types[index].kind == LR_PT_NONE)) {
        *node = type;
        return REC_OK;
    }
    if (t->kind != LR_PT_NUMPY_TYPE || from->kind != LR_PT_BYTES || !bits_of(p, from, types[index].width, big, &bits)) {
        return lr_pickle_fail(p, "a number of NumPy is made of %s and %s", lr_pickle_words(t), lr_pickle_words(from));
    }
    *node = lr_pickle_new(p, types[index].kind);
    if (!*node) {
        return REC_E_MEMORY;
    }
    made = lr_pickle_node(p, *node);
    if (types[index].kind == LR_PT_BOOL) {
        made->v.i = bits != 0;
    } else if (types[index].kind == LR_PT_FLOAT) {
        uint32_t half = (uint32_t)bits;
        float narrow;
        memcpy(&narrow, &half, sizeof narrow);
        memcpy(&made->v.f, &bits, sizeof bits);
        made->v.f = types[index].width == 4 ? (double)narrow : made->v.f;
    } else if (types[index].negative && types[index].width < 8 && bits >> (8 * types[index].width - 1)) {
        made->v.i = (int64_t)(bits | ~UINT64_C(0) << (8 * types[index].width));
    } else if (!types[index].negative && bits > INT64_MAX) {
        made->kind = LR_PT_UINT;
        made->v.u = bits;
    } else {
        made->v.i = (int64_t)bits;
    }
    return REC_OK;
}
