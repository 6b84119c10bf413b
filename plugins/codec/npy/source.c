/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Elements of an array in another order, rearranged while they are read. Reads may come long after the load, from any
 * thread, one at a time: the source keeps nothing of the job, and all memory is from malloc. */
#include <stdlib.h>
#include <string.h>

#include "plugins/codec/npy/npy.h"

typedef struct turned {
    rec_source *from;
    uint64_t begin; /* of the elements in it */
    lr_npz_array array;
} turned;

static void swap(uint8_t *data, uint32_t width, uint64_t count)
{
    for (; count-- > 0; data += width) {
        for (uint32_t i = 0; i < width / 2; i++) {
            uint8_t byte = data[i];
            data[i] = data[width - 1 - i];
            data[width - 1 - i] = byte;
        }
    }
}

/* Elements `first` and those after it, as they follow each other when the last index runs fastest. */
static int32_t gather(rec_job *job, const turned *t, uint64_t first, uint8_t *target, uint64_t count)
{
    const lr_npz_array *a = &t->array;
    uint64_t index[LR_NPY_RANK], step[LR_NPY_RANK], at = 0, size;
    const uint8_t *data;
    const void *view;
    int32_t status = rec_source_view(job, t->from, &view, &size);
    if (status != REC_OK) {
        return status;
    }
    data = (const uint8_t *)view + t->begin;
    for (uint32_t i = 0; i < a->rank; i++) {
        step[i] = i ? step[i - 1] * a->shape[i - 1] : 1;
    }
    for (uint32_t i = a->rank; i-- > 0; first /= a->shape[i]) {
        index[i] = first % a->shape[i];
        at += index[i] * step[i];
    }
    for (uint64_t done = 0; done < count; done++) {
        memcpy(target + done * a->width, data + at * a->width, a->width);
        for (uint32_t i = a->rank; i-- > 0;) {
            at += step[i];
            if (++index[i] < a->shape[i]) {
                break;
            }
            at -= step[i] * a->shape[i];
            index[i] = 0;
        }
    }
    return REC_OK;
}

static int32_t elements(rec_job *job, const turned *t, uint64_t first, uint8_t *target, uint64_t count)
{
    uint32_t width = t->array.width;
    int32_t status = t->array.fortran
                         ? gather(job, t, first, target, count)
                         : rec_source_read_at(job, t->from, t->begin + first * width, target, count * width);
    if (status == REC_OK && t->array.big) {
        swap(target, width, count);
    }
    return status;
}

static int32_t turned_read_at(void *self, rec_job *job, uint64_t offset, void *target, uint64_t size)
{
    const turned *t = self;
    uint32_t width = t->array.width;
    uint8_t *to = target, one[8];
    int32_t status = REC_OK;
    while (size && status == REC_OK) {
        uint64_t first = offset / width, skip = offset % width, n;
        if (skip || size < width) {
            status = elements(job, t, first, one, 1);
            n = width - skip < size ? width - skip : size;
            memcpy(to, one + skip, (size_t)(status == REC_OK ? n : 0));
        } else {
            n = size - size % width;
            status = elements(job, t, first, to, n / width);
        }
        to += n;
        offset += n;
        size -= n;
    }
    return status;
}

static uint64_t turned_total(void *self)
{
    return ((const turned *)self)->array.size;
}

static void turned_release(void *self)
{
    turned *t = self;
    rec_source_release(t->from);
    free(t);
}

int32_t lr_npz_turned_open(rec_job *job, rec_source *from, uint64_t base, const lr_npz_array *array, rec_source **out)
{
    static const rec_source_ops ops = {
        .size = sizeof ops, .read_at = turned_read_at, .total = turned_total, .release = turned_release};
    turned *t = malloc(sizeof *t);
    *out = NULL;
    if (!t) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for an array in another order");
    }
    *t = (turned){.from = rec_source_retain(from), .begin = base + array->header, .array = *array};
    return rec_source_make(job, rec_source_name(from), &ops, t, out);
}
