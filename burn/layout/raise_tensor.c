/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What both forms of a tensor have: a shape, and a precision to be loaded at. */
#include "burn/layout/layout.h"

#include <inttypes.h>

bool lr_raise_is_numbers(const rec_value *value)
{
    return value->kind == REC_KIND_NUMBERS || (value->kind == REC_KIND_LIST && value->v.list->count == 0);
}

bool lr_raise_is_unsigned(const rec_value *value)
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

/* A tensor with its shape but no data yet. NULL: the job has failed. */
rec_tensor *lr_raise_tensor(const lr_raise *r, const rec_value *shape)
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
    if (!lr_raise_is_unsigned(shape)) {
        (void)rec_fail_found(r->job, REC_E_FORMAT, r->at, "a list of unsigned integers as the tensor's `shape`", "%s",
                             shape->v.run->dtype == REC_DTYPE_BOOL    ? "a list of bools"
                             : lr_dtype_is_float(shape->v.run->dtype) ? "a list of floats"
                                                                      : "a list with negative numbers");
        return NULL;
    }
    for (uint64_t i = 0; i < rank; i++) {
        shown[i] = lr_packed_number(shape->v.run, i).v.u;
    }
    if (rank) {
        /* The list of the shape is not needed any more: a record of many small tensors is the smaller for it. */
        const lr_packed *run = shape->v.run;
        if (!run->data.source) {
            lr_arena_rewind(&r->record->arena, shape->v.run, run->data.data + run->data.size);
        }
    }
    tensor = lr_arena_alloc(&r->record->arena, sizeof *tensor, 8);
    dims = lr_arena_alloc(&r->record->arena, sizeof *dims * (rank ? rank : 1), 8);
    if (!tensor || !dims) {
        (void)lr_fail_arena(r->job, &r->record->arena, sizeof *tensor);
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

int lr_raise_finish(const lr_raise *r, rec_tensor *tensor, rec_value *out)
{
    if (r->job->skip && lr_data_drop(r->job, r->record, tensor->data) != REC_OK) {
        return -1;
    }
    lr_tensor_set_precision(tensor, r->precision);
    *out = (rec_value){.kind = REC_KIND_TENSOR, .v = {.tensor = tensor}};
    return 1;
}
