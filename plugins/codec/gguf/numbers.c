/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Blocks decoded as they are asked for: whole ones where they are wanted, straight from a map and on several threads if
 * there is much to do; parts of one by way of a piece beside. */
#include "plugins/codec/gguf/numbers.h"

#include <stdlib.h>
#include <string.h>

#include "plugins/codec/gguf/blocks.h"
#include "common/threads.h"

/* Elements of the buffer for parts of blocks, and bytes of blocks read at a time from input that is not in memory. Both
 * hold several blocks of any type. */
enum { PIECE = 8192, BYTES = 8192 };
/* Bytes of numbers that are worth a thread: a huge page, which the kernel clears for who comes first; and threads at
 * most. */
enum { SHARE = 2 << 20, THREADS_MOST = 16 };

typedef struct decoded {
    rec_source *source;
    const lr_gguf_type *type;
    lr_gguf_decode *decode;
    uint64_t at;    /* of the first block */
    uint64_t count; /* elements */
} decoded;

/* What one thread does. */
typedef struct share {
    lr_gguf_decode *decode;
    const uint8_t *blocks;
    uint64_t count; /* blocks */
    uint64_t elements;
    float *numbers;
} share;

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

static void *run(void *user)
{
    const share *s = user;
    s->decode(s->blocks, s->count, s->numbers);
    little_endian(s->numbers, s->elements);
    return NULL;
}

/* Where a share ends that should end at block `end`: so that no two threads wait for one huge page. */
static uint64_t share_end(const float *numbers, uint64_t each, uint64_t end, uint64_t count)
{
    uintptr_t begin = (uintptr_t)numbers, at = (begin + (uintptr_t)(end * each) + SHARE / 2) / SHARE * SHARE;
    uint64_t blocks = at > begin ? (at - begin + each - 1) / each : 0;
    return end < count && blocks < count ? blocks : count;
}

/* Decodes by as many threads as may be and can be had, this one with them. Shares of those that cannot be started are
 * done here. */
static void run_shared(rec_job *job, const decoded *d, const uint8_t *blocks, uint64_t count, float *numbers)
{
    share shares[THREADS_MOST];
    pthread_t threads[THREADS_MOST];
    uint64_t each = d->type->count * sizeof(float), most = count * each / SHARE, n = rec_job_threads(job), begin = 0;
    unsigned started = 0;
    n = n < most ? n : most;
    n = n < 1 ? 1 : n < THREADS_MOST ? n : THREADS_MOST;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t end =
            share_end(numbers, each, (i + 1) * count / n, count); /* no overflow: the numbers are in memory */
        end = end < begin ? begin : end;
        shares[i] = (share){d->decode, blocks + begin * d->type->size, end - begin, (end - begin) * d->type->count,
                            numbers + begin * d->type->count};
        begin = end;
    }
    while (started < n - 1 && lr_threads_start(&threads[started], 1, run, &shares[started])) {
        started++;
    }
    for (uint64_t i = started; i < n; i++) {
        (void)run(&shares[i]);
    }
    for (unsigned i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

/* Whole blocks. */
static int32_t decode(const decoded *d, rec_job *job, uint64_t block, uint64_t count, float *numbers)
{
    uint64_t at = d->at + block * d->type->size, step = BYTES / d->type->size;
    const void *data;
    int32_t status = rec_source_at_hand(job, d->source, at, count * d->type->size, &data);
    if (status == REC_OK && data) {
        run_shared(job, d, data, count, numbers);
        return REC_OK;
    }
    while (count && status == REC_OK) {
        uint8_t blocks[BYTES];
        uint64_t n = count < step ? count : step;
        status = rec_source_read_at(job, d->source, at, blocks, n * d->type->size);
        if (status == REC_OK) {
            (void)run(&(share){d->decode, blocks, n, n * d->type->count, numbers});
        }
        at += n * d->type->size;
        numbers += n * d->type->count;
        count -= n;
    }
    return status;
}

/* What is no whole block, or not aligned: at most a piece. @param done (out) bytes. */
static int32_t decode_beside(const decoded *d, rec_job *job, uint64_t offset, uint8_t *to, uint64_t size,
                             uint64_t *done)
{
    float numbers[PIECE];
    uint64_t each = d->type->count * sizeof(float), skip = offset % each, most = PIECE * sizeof(float) - skip;
    uint64_t n = size < most ? size : most;
    int32_t status = decode(d, job, offset / each, (skip + n + each - 1) / each, numbers);
    if (status == REC_OK) {
        memcpy(to, (const uint8_t *)numbers + skip, (size_t)n);
    }
    *done = n;
    return status;
}

static int32_t read_at(void *self, rec_job *job, uint64_t offset, void *target, uint64_t size)
{
    const decoded *d = self;
    uint64_t each = d->type->count * sizeof(float), done;
    uint8_t *to = target;
    int32_t status = REC_OK;
    while (size && status == REC_OK) {
        uint64_t left = each - offset % each;
        if ((uintptr_t)to % sizeof(float) == 0 && left == each && size >= each) {
            done = size - size % each;
            status = decode(d, job, offset / each, done / each, (float *)(void *)to);
        } else {
            /* To the end of the block where the others can be made in their place. */
            bool whole = ((uintptr_t)to + left) % sizeof(float) == 0 && left < size;
            status = decode_beside(d, job, offset, to, whole ? left : size, &done);
        }
        to += done;
        offset += done;
        size -= done;
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
    *d = (decoded){.source = rec_source_retain(source),
                   .type = t->type,
                   .decode = lr_gguf_fast(t->type->decode),
                   .at = at,
                   .count = t->count};
    return rec_source_make(job, rec_source_name(source), &ops, d, out);
}
