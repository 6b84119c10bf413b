/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Arrays of NumPy's in a pickle: an element type, sizes, an order and the bytes; and its numbers, numpy.float64(0.5): a
 * type and the bytes. They are data, and numpy is not needed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/codec/number.h"
#include "plugins/codec/pytorch/pickle.h"
#include "plugins/codec/strided.h"

enum { RANK_MOST = 64 };

static lr_pt_ndarray *array_of(const lr_pickle *p, const lr_pt_node *node)
{
    return (lr_pt_ndarray *)p->arrays.data + node->v.u;
}

bool lr_pickle_has_elements(const lr_pickle *p, const lr_pt_node *node)
{
    return node->kind == LR_PT_TENSOR || (node->kind == LR_PT_ARRAY && array_of(p, node)->type != LR_PT_TYPES);
}

uint64_t lr_pickle_element_place(const lr_pickle *p, const lr_pt_node *node)
{
    bool array = node->kind == LR_PT_ARRAY;
    return lr_pickle_place(p, array ? array_of(p, node)->at : ((const lr_pt_tensor *)p->tensors.data)[node->v.u].at);
}

/* -------------------------------------------------------------------------------------------------- making them -- */

int32_t lr_pickle_array_new(lr_pickle *p, uint32_t *node)
{
    const lr_pt_ndarray made = {.at = (uint32_t)p->op, .type = LR_PT_TYPES};
    return lr_pickle_keep(p, &p->arrays, &made, sizeof made, LR_PT_ARRAY, node);
}

static int32_t fail_state(lr_pickle *p, const char *expected, const lr_pt_node *found)
{
    return lr_pickle_fail(p, "an array of NumPy is made of %s where %s is expected", lr_pickle_words(found), expected);
}

/* The sizes, at the end of `dims`. @param count (out) elements. */
static int32_t take_shape(lr_pickle *p, uint32_t shape, lr_pt_ndarray *made, uint64_t *count)
{
    const lr_pt_node *tuple = lr_pickle_node(p, shape);
    bool empty = false;
    *count = 1;
    if (tuple->kind != LR_PT_TUPLE || tuple->length > RANK_MOST) {
        return fail_state(p, "a tuple of few sizes", tuple);
    }
    made->dims = (uint32_t)p->dims.count;
    made->rank = (uint8_t)tuple->length;
    for (uint32_t at = tuple->v.cells.first; at; at = lr_pickle_cell(p, at)->next) {
        const lr_pt_node *size = lr_pickle_node(p, lr_pickle_cell(p, at)->node);
        uint64_t *kept;
        if (size->kind != LR_PT_INT || size->v.i < 0) {
            return fail_state(p, "a size from 0 on", size);
        }
        kept = lr_pickle_grow(p, &p->dims, sizeof *kept);
        if (!kept) {
            return REC_E_MEMORY;
        }
        *kept = (uint64_t)size->v.i;
        empty = empty || *kept == 0;
        *count = !empty && *count <= UINT64_MAX / *kept ? *count * *kept : empty ? 0 : UINT64_MAX;
    }
    *count = empty ? 0 : *count;
    return REC_OK;
}

int32_t lr_pickle_array_set(lr_pickle *p, uint32_t array, const lr_pickle_parts *parts)
{
    lr_pt_ndarray made = *array_of(p, lr_pickle_node(p, array));
    const lr_pt_node *type = lr_pickle_node(p, parts->type), *bytes = lr_pickle_node(p, parts->bytes);
    uint64_t count, size;
    int32_t status;
    if (type->kind != LR_PT_NUMPY_TYPE) {
        return fail_state(p, "an element type of NumPy", type);
    }
    if (type->length == LR_PT_TYPES) {
        return REC_OK; /* objects or text: an error only if used */
    }
    made.type = (uint8_t)type->length;
    made.swapped = type->mark && lr_pt_types[made.type].part > 1;
    if (bytes->kind != LR_PT_BYTES) {
        return fail_state(p, "the bytes of its elements", bytes);
    }
    status = take_shape(p, parts->shape, &made, &count);
    if (status != REC_OK) {
        return status;
    }
    size = lr_pickle_byte_count(p, bytes);
    if (count > size || count * lr_pt_types[made.type].width != size) {
        return lr_pickle_fail(p, "an array of NumPy has %" PRIu64 " bytes, which its sizes do not fit", size);
    }
    made.bytes = parts->bytes;
    made.fortran = parts->fortran && made.rank > 1;
    *array_of(p, lr_pickle_node(p, array)) = made;
    return REC_OK;
}

int32_t lr_pickle_array_build(lr_pickle *p, uint32_t array, uint32_t state)
{
    const lr_pt_node *tuple = lr_pickle_node(p, state), *order;
    uint32_t items[5];
    if (tuple->kind != LR_PT_TUPLE || lr_pickle_items(p, tuple, items, 5) != 5) {
        return fail_state(p, "a tuple of five", tuple);
    }
    order = lr_pickle_node(p, items[3]);
    if (order->kind != LR_PT_BOOL && order->kind != LR_PT_INT) {
        return fail_state(p, "a bool", order);
    }
    return lr_pickle_array_set(p, array, &(lr_pickle_parts){items[4], items[2], items[1], .fortran = order->v.i != 0});
}

/* ------------------------------------------------------------------------------------------------------- bytes -- */

/* The bytes of an array in the pickle's order. From malloc, as they outlive the job. */
typedef struct elements {
    uint64_t size;
    uint8_t bytes[];
} elements;

static int32_t read_at(void *self, rec_job *job, uint64_t at, void *target, uint64_t size)
{
    (void)job;
    memcpy(target, ((const elements *)self)->bytes + at, (size_t)size);
    return REC_OK;
}

static uint64_t total(void *self)
{
    return ((const elements *)self)->size;
}

static void release(void *self)
{
    free(self);
}

static const rec_source_ops in_memory = {
    .size = sizeof in_memory,
    .release = release,
    .read_at = read_at,
    .total = total,
};

/* Makes the source of the elements of an array that are in another order, of the bytes in `from`. */
static int32_t put_in_order(const lr_pickle *p, lr_pt_ndarray *a, rec_source *from, uint64_t size)
{
    const lr_pt_type *type = &lr_pt_types[a->type];
    uint64_t strides[RANK_MOST], step = 1;
    lr_strided array = {.from = from,
                        .span = size,
                        .count = size / type->width,
                        .dims = (const uint64_t *)p->dims.data + a->dims,
                        .strides = strides,
                        .rank = a->rank,
                        .width = type->width,
                        .part = type->part,
                        .swapped = a->swapped};
    for (unsigned i = 0; i < a->rank; i++) {
        unsigned d = a->fortran ? i : a->rank - 1u - i;
        strides[d] = step;
        step *= array.dims[d];
    }
    return lr_strided_open(p->job, &array, &a->source);
}

/* Makes the source of an array's elements, once: what is in a pickle several times has one. */
static int32_t make_source(const lr_pickle *p, lr_pt_ndarray *a, uint64_t size)
{
    elements *e = malloc(sizeof *e + (size_t)size);
    rec_source *plain = NULL;
    int32_t status;
    if (!e) {
        return rec_fail(p->job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for an array of NumPy");
    }
    e->size = size;
    lr_pickle_bytes(p, lr_pickle_node(p, a->bytes), e->bytes);
    status = rec_source_make(p->job, "array of NumPy", &in_memory, e, &plain);
    if (status == REC_OK && (a->fortran || a->swapped)) {
        status = put_in_order(p, a, plain, size);
        rec_source_release(plain);
    } else {
        a->source = plain;
    }
    return status;
}

int32_t lr_pickle_array_event(const lr_pickle *p, const lr_pt_node *node, rec_tensor_event *event)
{
    lr_pt_ndarray *a = array_of(p, node);
    const lr_pt_type *type = &lr_pt_types[a->type];
    uint64_t size = lr_pickle_byte_count(p, lr_pickle_node(p, a->bytes));
    int32_t status = a->source || !size ? REC_OK : make_source(p, a, size);
    *event = (rec_tensor_event){
        .size = sizeof *event,
        .dtype = type->dtype,
        .rank = a->rank,
        .shape = a->rank ? (const uint64_t *)p->dims.data + a->dims : NULL,
        .dtype_name = type->opaque,
        .data = {.size = sizeof event->data, .kind = REC_BLOB_RANGE, .length = size, .source = a->source}};
    if (!size) {
        event->data.kind = REC_BLOB_TEMPORARY;
        event->data.data = "";
    }
    return status;
}

void lr_pickle_arrays_close(lr_pickle *p)
{
    for (uint64_t i = 0; i < p->arrays.count; i++) {
        rec_source_release(((lr_pt_ndarray *)p->arrays.data)[i].source);
    }
}

/* ----------------------------------------------------------------------------------------------------- numbers -- */

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
