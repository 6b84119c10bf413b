/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Elements in order. Reads may come long after the load, from any thread, one at a time: all memory is from malloc. */
#include "plugins/codec/strided.h"

#include <stdlib.h>
#include <string.h>

typedef struct strided {
    lr_strided array; /* `from` is counted; `dims` and `strides` are those below */
    bool contiguous;  /* the elements need no other place, only the other byte order */
    uint64_t total;   /* bytes of all elements */
    uint64_t at;      /* those that were read in order */
    uint8_t *bytes;   /* all of the span, while elements are taken out of it */
    uint64_t sizes[];
} strided;

/* One element, in the byte order of a record. */
static void put_element(const lr_strided *a, const uint8_t *from, uint8_t *target)
{
    if (!a->swapped) {
        memcpy(target, from, a->width);
        return;
    }
    for (unsigned i = 0; i < a->width; i++) {
        target[i] = from[i - i % a->part + (a->part - 1 - i % a->part)];
    }
}

/* Where element `number` is in the span. @param rest (out) elements of its row from there on. */
static uint64_t locate(const lr_strided *a, uint64_t number, uint64_t *rest)
{
    uint64_t element = 0;
    *rest = 1;
    for (unsigned d = a->rank; d-- > 0;) {
        uint64_t index = number % a->dims[d];
        number /= a->dims[d];
        element += index * a->strides[d];
        if (d + 1u == a->rank) {
            *rest = a->dims[d] - index;
        }
    }
    return element;
}

/* Contiguous elements, from number `first` on. */
static int32_t read_row(const strided *s, rec_job *job, uint64_t first, uint64_t count, uint8_t *target)
{
    uint32_t width = s->array.width;
    uint8_t one[16];
    int32_t status = rec_source_read_at(job, s->array.from, s->array.begin + first * width, target, count * width);
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        memcpy(one, target + i * width, width);
        put_element(&s->array, one, target + i * width);
    }
    return status;
}

/* Elements of the span, from number `first` on, at most to the end of their row. @return how many. */
static uint64_t copy_row(const strided *s, uint64_t first, uint64_t count, uint8_t *target)
{
    const lr_strided *a = &s->array;
    uint64_t rest, stride = a->rank ? a->strides[a->rank - 1] : 0;
    const uint8_t *from = s->bytes + locate(a, first, &rest) * a->width;
    count = count < rest ? count : rest;
    for (uint64_t i = 0; i < count; i++) {
        put_element(a, from + i * stride * a->width, target + i * a->width);
    }
    return count;
}

/* The span is kept until the last bytes were read: each chunk needs all of it. */
static int32_t load(strided *s, rec_job *job)
{
    if (s->contiguous || s->bytes) {
        return REC_OK;
    }
    s->bytes = malloc((size_t)s->array.span);
    return s->bytes ? rec_source_read_at(job, s->array.from, s->array.begin, s->bytes, s->array.span)
                    : rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory to put a tensor's elements in order");
}

static int32_t read_at(void *self, rec_job *job, uint64_t at, void *target, uint64_t size)
{
    strided *s = self;
    uint32_t width = s->array.width;
    uint8_t *out = target, one[16];
    int32_t status = size ? load(s, job) : REC_OK;
    while (size && status == REC_OK) {
        uint64_t skip = at % width, whole = size / width, count = skip || !whole ? 1 : whole, done;
        uint8_t *to = skip || !whole ? one : out;
        if (s->contiguous) {
            status = read_row(s, job, at / width, count, to);
        } else {
            count = copy_row(s, at / width, count, to);
        }
        done = count * width;
        if (to == one) {
            done = width - skip < size ? width - skip : size;
            memcpy(out, one + skip, (size_t)(status == REC_OK ? done : 0));
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

static int32_t read_next(void *self, rec_job *job, void *target, uint64_t room, uint64_t *got)
{
    strided *s = self;
    uint64_t left = s->total - s->at;
    int32_t status;
    *got = room < left ? room : left;
    status = read_at(self, job, s->at, target, *got);
    *got = status == REC_OK ? *got : 0;
    s->at += *got;
    return status;
}

static int32_t begin_again(void *self, rec_job *job)
{
    (void)job;
    ((strided *)self)->at = 0;
    return REC_OK;
}

static uint64_t total(void *self)
{
    return ((const strided *)self)->total;
}

static void release(void *self)
{
    strided *s = self;
    free(s->bytes);
    rec_source_release(s->array.from);
    free(s);
}

int32_t lr_strided_open(rec_job *job, const lr_strided *array, rec_source **out)
{
    static const rec_source_ops ops = {.size = sizeof ops,
                                       .read = read_next,
                                       .rewind = begin_again,
                                       .size_hint = total,
                                       .release = release,
                                       .read_at = read_at,
                                       .total = total};
    size_t sizes = array->rank * sizeof *array->dims;
    strided *s = malloc(sizeof *s + 2 * sizes);
    uint64_t step = 1;
    *out = NULL;
    if (!s) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for a tensor");
    }
    *s = (strided){.array = *array, .contiguous = true, .total = array->count * array->width};
    s->array.from = rec_source_retain(array->from);
    s->array.dims = s->sizes;
    s->array.strides = s->sizes + array->rank;
    if (sizes) {
        memcpy(s->sizes, array->dims, sizes);
        memcpy(s->sizes + array->rank, array->strides, sizes);
    }
    for (unsigned d = array->rank; d-- > 0; step *= array->dims[d]) {
        s->contiguous = s->contiguous && (array->dims[d] == 1 || array->strides[d] == step);
    }
    /* Repeated elements are more than the file has, as if it were compressed: the same limit applies. */
    return s->total > array->span ? rec_source_filter(job, array->from, &ops, s, out)
                                  : rec_source_make(job, rec_source_name(array->from), &ops, s, out);
}
