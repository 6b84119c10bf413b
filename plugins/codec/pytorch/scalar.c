/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Numbers of NumPy's, numpy.float64(0.5): an element type and its bytes. They are data, and numpy is not needed. */
#include "plugins/codec/number.h"
#include "plugins/codec/pytorch/pickle.h"

int32_t lr_pickle_numpy_type(lr_pickle *p, uint32_t code, uint32_t *node)
{
    const lr_pt_node *text = lr_pickle_node(p, code);
    uint32_t i = 0;
    while (i < LR_PT_TYPES && !(lr_pt_types[i].code && lr_pickle_is(p, text, lr_pt_types[i].code))) {
        i++;
    }
    *node = lr_pickle_new(p, LR_PT_NUMPY_TYPE);
    if (!*node) {
        return REC_E_MEMORY;
    }
    lr_pickle_node(p, *node)->length = i; /* LR_PT_TYPES: not a number type, an error where it is used */
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
        t->length = LR_PT_TYPES;
    }
}

/* The number that bytes are. */
static rec_scalar read_number(const lr_pickle *p, const lr_pt_node *type, const lr_pt_node *from)
{
    bool swapped = (type->mark != 0) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    uint8_t bytes[8], number[8], width = lr_pt_types[type->length].width;
    lr_pickle_bytes(p, from, bytes);
    for (uint8_t i = 0; i < width; i++) {
        number[i] = bytes[swapped ? width - 1 - i : i];
    }
    return lr_number_scalar(lr_pt_types[type->length].dtype, number);
}

int32_t lr_pickle_numpy_scalar(lr_pickle *p, uint32_t type, uint32_t bytes, uint32_t *node)
{
    const lr_pt_node *t = lr_pickle_node(p, type), *from = lr_pickle_node(p, bytes);
    bool known = t->kind == LR_PT_NUMPY_TYPE && t->length < LR_PT_TYPES;
    rec_dtype dtype = known ? lr_pt_types[t->length].dtype : REC_DTYPE_OPAQUE;
    rec_scalar number;
    if (t->kind == LR_PT_NUMPY_TYPE && (dtype == REC_DTYPE_OPAQUE || dtype == REC_DTYPE_F16)) { /* of arrays alone */
        *node = type;
        return REC_OK;
    }
    if (!known || from->kind != LR_PT_BYTES || lr_pickle_byte_count(p, from) != lr_pt_types[t->length].width) {
        return lr_pickle_fail(p, "a number of NumPy is made of %s and %s", lr_pickle_words(t), lr_pickle_words(from));
    }
    number = read_number(p, t, from);
    *node = lr_pickle_new(p, number.kind == REC_KIND_BOOL                             ? LR_PT_BOOL
                             : number.kind == REC_KIND_FLOAT                          ? LR_PT_FLOAT
                             : number.kind == REC_KIND_UINT && number.v.u > INT64_MAX ? LR_PT_UINT
                                                                                      : LR_PT_INT);
    if (!*node) {
        return REC_E_MEMORY;
    }
    lr_pickle_node(p, *node)->v.u = number.v.u;
    return REC_OK;
}
