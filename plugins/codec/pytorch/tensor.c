/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Tensors: the place of each element in its storage. Contiguous tensors are lent unchanged; others are rearranged on
 * demand. */
#include "plugins/codec/pytorch/pytorch.h"
#include "plugins/codec/strided.h"

/* What a tensor's elements are among. */
typedef struct extent {
    uint64_t count; /* of elements */
    uint64_t last;  /* element of the storage that is the farthest from the first */
    bool in_order;  /* contiguous, in a record's order */
} extent;

static int32_t fail_place(const lr_pt_file *f, const lr_pt_tensor *t, const char *what)
{
    int32_t status = rec_fail(f->job, REC_E_FORMAT, lr_pickle_place(&f->pickle, t->at), "%s", what);
    rec_fail_hint(f->job, "The file is damaged: copy it again from its source.");
    return status;
}

/* @return false if a number is too large to be counted. */
static bool measure(const uint64_t *dims, unsigned rank, extent *e)
{
    uint64_t step = 1;
    *e = (extent){.count = 1, .in_order = true};
    for (unsigned d = 0; d < rank; d++) {
        if (dims[d] == 0) {
            e->count = 0;
            return true;
        }
    }
    for (unsigned d = rank; d-- > 0;) {
        uint64_t reach;
        if (dims[d] > 1) {
            e->in_order = e->in_order && dims[rank + d] == step;
            if (__builtin_mul_overflow(dims[d] - 1, dims[rank + d], &reach) ||
                __builtin_add_overflow(e->last, reach, &e->last)) {
                return false;
            }
        }
        if (__builtin_mul_overflow(e->count, dims[d], &e->count)) {
            return false;
        }
        step = e->count;
    }
    return true;
}

int32_t lr_pt_event(const lr_pt_file *file, const lr_pt_tensor *tensor, rec_tensor_event *event, rec_source **made)
{
    const lr_pt_reference *r = (const lr_pt_reference *)file->pickle.references.data + tensor->reference;
    const lr_pt_storage *storage = &file->storages[r->storage];
    const lr_pt_type *type = &lr_pt_types[tensor->type], *own = &lr_pt_types[r->type];
    /* Its sizes and strides; NULL for a scalar: a file of scalars has no array. */
    const uint64_t *dims = tensor->rank ? (const uint64_t *)file->pickle.dims.data + tensor->dims : NULL;
    uint64_t available = r->part * own->width / type->width, bytes = 0, first;
    extent e;
    *made = NULL;
    if (r->type != LR_PT_UNTYPED && r->type != tensor->type) {
        return fail_place(file, tensor, "a tensor of another element type than its storage has");
    }
    if (!measure(dims, tensor->rank, &e) || __builtin_mul_overflow(e.count, type->width, &bytes)) {
        return fail_place(file, tensor, "a tensor with more elements than can be counted");
    }
    if (e.count ? tensor->offset >= available || e.last >= available - tensor->offset : tensor->offset > available) {
        return fail_place(file, tensor, "a tensor that reaches beyond the end of its storage");
    }
    first = r->skip * own->width + tensor->offset * type->width;
    *event = (rec_tensor_event){.size = sizeof *event,
                                .dtype = type->dtype,
                                .rank = tensor->rank,
                                .shape = dims,
                                .dtype_name = type->opaque,
                                .data = {.size = sizeof event->data,
                                         .kind = REC_BLOB_RANGE,
                                         .length = bytes,
                                         .source = storage->source,
                                         .offset = storage->offset + first}};
    if (!e.count) {
        event->data.kind = REC_BLOB_TEMPORARY;
        event->data.data = "";
        event->data.source = NULL;
    } else if (!e.in_order || (file->big_endian && type->part > 1)) {
        const lr_strided array = {.from = storage->source,
                                  .begin = storage->offset + first,
                                  .span = (e.last + 1) * type->width,
                                  .count = e.count,
                                  .dims = dims,
                                  .strides = dims ? dims + tensor->rank : NULL,
                                  .rank = tensor->rank,
                                  .width = type->width,
                                  .part = type->part,
                                  .swapped = file->big_endian && type->part > 1};
        int32_t status = lr_strided_open(file->job, &array, made);
        event->data.source = *made;
        event->data.offset = 0;
        return status;
    }
    return REC_OK;
}
