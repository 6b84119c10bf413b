/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Tensors: the place of each element in its storage, and the bytes in a record's order. Contiguous tensors are lent
 * unchanged; others are rearranged on demand. */
#include <stdlib.h>

#include "plugins/codec/pytorch/pytorch.h"

/* ------------------------------------------------------------------------------------------------ other orders -- */

/* A tensor whose elements are elsewhere than one after the other, or of the other byte order. From malloc, as it
 * outlives the job. */
typedef struct scattered {
    rec_source *parent; /* counted */
    uint64_t begin;     /* of the bytes in the parent that the tensor's elements are among */
    uint64_t span;      /* how many these are */
    uint64_t total;     /* size of the result */
    uint64_t at;        /* those that were read in order */
    uint8_t *bytes;     /* all of the span, while they are put in order */
    uint8_t rank, width, part;
    bool swapped;
    uint64_t dims[]; /* sizes, then strides in elements */
} scattered;

/* One element, in the order of bytes that a record has. */
static void put_element(const scattered *s, uint64_t element, uint8_t *target)
{
    const uint8_t *from = s->bytes + element * s->width;
    if (!s->swapped) {
        memcpy(target, from, s->width);
        return;
    }
    for (unsigned i = 0; i < s->width; i++) {
        target[i] = from[i - i % s->part + (s->part - 1 - i % s->part)];
    }
}

/* Elements `stride` apart, one after the other. */
static void put_row(const scattered *s, uint64_t element, uint64_t stride, uint64_t count, uint8_t *target)
{
    for (uint64_t i = 0; i < count; i++) {
        put_element(s, element + i * stride, target + i * s->width);
    }
}

/* Where element `number` of the tensor is in the span. @param rest (out) elements of its row from there on. */
static uint64_t locate(const scattered *s, uint64_t number, uint64_t *rest)
{
    const uint64_t *strides = s->dims + s->rank;
    uint64_t element = 0;
    *rest = 1;
    for (unsigned d = s->rank; d-- > 0;) {
        uint64_t index = number % s->dims[d];
        number /= s->dims[d];
        element += index * strides[d];
        if (d + 1u == s->rank) {
            *rest = s->dims[d] - index;
        }
    }
    return element;
}

/* Returns bytes from an offset. The span is kept until the last ones were read: each chunk needs all of it. */
static int32_t gather(void *self, rec_job *job, uint64_t at, void *target, uint64_t size)
{
    scattered *s = self;
    uint8_t *out = target;
    int32_t status = REC_OK;
    if (size && !s->bytes) {
        s->bytes = malloc((size_t)s->span);
        status = s->bytes
                     ? rec_source_read_at(job, s->parent, s->begin, s->bytes, s->span)
                     : rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory to put a tensor's elements in order");
    }
    while (size && status == REC_OK) {
        uint64_t skip = at % s->width, rest, done;
        uint64_t element = locate(s, at / s->width, &rest);
        if (!skip && size >= s->width) {
            uint64_t whole = size / s->width;
            rest = rest < whole ? rest : whole;
            put_row(s, element, s->rank ? s->dims[2 * s->rank - 1] : 0, rest, out);
            done = rest * s->width;
        } else {
            uint8_t one[16];
            done = s->width - skip < size ? s->width - skip : size;
            put_element(s, element, one);
            memcpy(out, one + skip, (size_t)done);
        }
        out += done;
        size -= done;
        at += done;
    }
    if (at == s->total || status != REC_OK) {
        free(s->bytes);
        s->bytes = NULL;
    }
    return status;
}

static int32_t gather_next(void *self, rec_job *job, void *target, uint64_t room, uint64_t *got)
{
    scattered *s = self;
    uint64_t left = s->total - s->at;
    int32_t status;
    *got = room < left ? room : left;
    status = gather(self, job, s->at, target, *got);
    *got = status == REC_OK ? *got : 0;
    s->at += *got;
    return status;
}

static int32_t begin_again(void *self, rec_job *job)
{
    (void)job;
    ((scattered *)self)->at = 0;
    return REC_OK;
}

static uint64_t total(void *self)
{
    return ((const scattered *)self)->total;
}

static void release(void *self)
{
    scattered *s = self;
    free(s->bytes);
    rec_source_release(s->parent);
    free(s);
}

static const rec_source_ops gathering = {
    .size = sizeof gathering,
    .read = gather_next,
    .rewind = begin_again,
    .size_hint = total,
    .release = release,
    .read_at = gather,
    .total = total,
};

/* ------------------------------------------------------------------------------------------------- the tensors -- */

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

static bool multiply(uint64_t a, uint64_t b, uint64_t *product)
{
    *product = a * b;
    return !b || a <= UINT64_MAX / b;
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
            if (!multiply(dims[d] - 1, dims[rank + d], &reach) || reach > UINT64_MAX - e->last) {
                return false;
            }
            e->last += reach;
        }
        if (!multiply(e->count, dims[d], &e->count)) {
            return false;
        }
        step = e->count;
    }
    return true;
}

/* Its sizes and strides; NULL for a scalar: a file of scalars has no array. */
static const uint64_t *dims_of(const lr_pt_file *f, const lr_pt_tensor *t)
{
    return t->rank ? (const uint64_t *)f->pickle.dims.data + t->dims : NULL;
}

/* The source that puts the elements in order. */
static int32_t make(const lr_pt_file *f, const lr_pt_tensor *t, const lr_pt_storage *s, const extent *e, uint64_t first,
                    rec_source **made)
{
    const lr_pt_type *type = &lr_pt_types[t->type];
    size_t dims = 2 * (size_t)t->rank * sizeof(uint64_t);
    scattered *self = malloc(sizeof *self + dims);
    if (!self) {
        return rec_fail(f->job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for a tensor");
    }
    *self = (scattered){.parent = rec_source_retain(s->source),
                        .begin = s->offset + first,
                        .span = (e->last + 1) * type->width,
                        .total = e->count * type->width,
                        .rank = t->rank,
                        .width = type->width,
                        .part = type->part,
                        .swapped = f->big_endian && type->part > 1};
    if (dims) {
        memcpy(self->dims, dims_of(f, t), dims);
    }
    /* What repeats elements is more than there is in the file, as if it were compressed: the same limit is for it. */
    return self->total > self->span ? rec_source_filter(f->job, s->source, &gathering, self, made)
                                    : rec_source_make(f->job, rec_source_name(f->source), &gathering, self, made);
}

int32_t lr_pt_event(const lr_pt_file *file, const lr_pt_tensor *tensor, rec_tensor_event *event, rec_source **made)
{
    const lr_pt_reference *r = (const lr_pt_reference *)file->pickle.references.data + tensor->reference;
    const lr_pt_storage *storage = &file->storages[r->storage];
    const lr_pt_type *type = &lr_pt_types[tensor->type], *own = &lr_pt_types[r->type];
    const uint64_t *dims = dims_of(file, tensor);
    uint64_t available = r->part * own->width / type->width, bytes = 0, first;
    extent e;
    *made = NULL;
    if (r->type != LR_PT_UNTYPED && r->type != tensor->type) {
        return fail_place(file, tensor, "a tensor of another element type than its storage has");
    }
    if (!measure(dims, tensor->rank, &e) || !multiply(e.count, type->width, &bytes)) {
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
        int32_t status = make(file, tensor, storage, &e, first, made);
        event->data.source = *made;
        event->data.offset = 0;
        return status;
    }
    return REC_OK;
}
