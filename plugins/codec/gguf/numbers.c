/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Blocks decoded as they are asked for. */
#include "plugins/codec/gguf/numbers.h"

#include <stdlib.h>
#include <string.h>

/* Elements decoded at a time: whole blocks of any type. */
enum { PIECE = 4096, BYTES_MOST = PIECE / 32 * 36 };

typedef struct decoded {
    rec_source *source;
    const lr_gguf_type *type;
    uint64_t at;    /* of the first block */
    uint64_t count; /* elements */
} decoded;

/* Elements from `first` on, which is a block's first one; at most PIECE. */
static int32_t decode(const decoded *d, rec_job *job, uint64_t first, uint64_t count, float *numbers)
{
    uint8_t blocks[BYTES_MOST];
    uint64_t block = first / d->type->count, n = (count + d->type->count - 1) / d->type->count;
    int32_t status = rec_source_read_at(job, d->source, d->at + block * d->type->size, blocks, n * d->type->size);
    if (status == REC_OK) {
        d->type->decode(blocks, n, numbers);
    }
    return status;
}

static void little_endian(float *numbers, uint64_t count)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (uint64_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, numbers + i, sizeof word);
        word = __builtin_bswap32(word);
        memcpy(numbers + i, &word, sizeof word);
    }
#else
    (void)numbers;
    (void)count;
#endif
}

static int32_t read_at(void *self, rec_job *job, uint64_t offset, void *target, uint64_t size)
{
    const decoded *d = self;
    uint8_t *to = target;
    int32_t status = REC_OK;
    while (size && status == REC_OK) {
        float numbers[PIECE];
        uint64_t element = offset / sizeof(float), first = element - element % d->type->count;
        uint64_t skip = offset - first * sizeof(float), count = PIECE < d->count - first ? PIECE : d->count - first;
        uint64_t n = count * sizeof(float) - skip;
        n = n < size ? n : size;
        count = (skip + n + sizeof(float) - 1) / sizeof(float);
        status = decode(d, job, first, count, numbers);
        if (status == REC_OK) {
            little_endian(numbers, count);
            memcpy(to, (const uint8_t *)numbers + skip, (size_t)n);
        }
        to += n;
        offset += n;
        size -= n;
    }
    return status;
}

static uint64_t total(void *self)
{
    const decoded *d = self;
    return d->count * sizeof(float);
}

static void release(void *self)
{
    decoded *d = self;
    rec_source_release(d->source);
    free(d);
}

int32_t lr_gguf_numbers(rec_job *job, rec_source *source, uint64_t at, const lr_gguf_tensor *t, rec_source **out)
{
    static const rec_source_ops ops = {.size = sizeof ops, .release = release, .read_at = read_at, .total = total};
    decoded *d = malloc(sizeof *d);
    if (!d) {
        return rec_fail(job, REC_E_MEMORY, t->at, "out of memory for a tensor");
    }
    *d = (decoded){.source = rec_source_retain(source), .type = t->type, .at = at, .count = t->count};
    return rec_source_make(job, rec_source_name(source), &ops, d, out);
}
