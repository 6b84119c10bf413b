/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The codecs: gzip and zstd around any bytes. */
#include <stdlib.h>
#include <string.h>

#include "core/io/io.h"
#include "plugins/codec/gzip/gzip.h"
#include "tests/fuzz/fuzz.h"
#ifdef LR_HAVE_ZSTD
#include "plugins/codec/zstd/codec.h"
#endif

/* What came out of a codec. */
typedef struct result {
    int32_t status;
    uint64_t size, sum;
} result;

typedef int32_t decode(rec_job *job, rec_source *parent, rec_source **out);

static int32_t decode_quick(rec_job *job, rec_source *parent, rec_source **out)
{
    return lr_gzip_source_by(job, parent, true, out);
}

static int32_t decode_by_zlib(rec_job *job, rec_source *parent, rec_source **out)
{
    return lr_gzip_source_by(job, parent, false, out);
}

/* Reads it to its end, in pieces of `piece` bytes; 0: as a whole. */
static result read_all(decode *function, const uint8_t *data, size_t size, uint64_t piece)
{
    static uint8_t room[4096];
    rec_source *parent, *source = NULL;
    result got = {0};
    rec_job job;
    lr_job_begin(&job, fuzz_context(size), "load", "fuzz");
    lr_job_input(&job, size);
    parent = lr_source_memory(&job, data, size, "fuzz");
    fuzz_must(parent != NULL, "a source");
    got.status = function(&job, parent, &source);
    while (got.status == REC_OK) {
        uint64_t length = 0;
        const void *view = room;
        got.status =
            piece ? rec_source_read(&job, source, room, piece, &length) : rec_source_view(&job, source, &view, &length);
        for (uint64_t i = 0; got.status == REC_OK && i < length; i++) {
            got.sum = got.sum * 31 + ((const uint8_t *)view)[i];
        }
        got.size += got.status == REC_OK ? length : 0;
        if (!piece || length == 0) {
            break;
        }
    }
    rec_source_release(source);
    rec_source_release(parent);
    (void)lr_job_end(&job);
    if (got.status != REC_OK) {
        fuzz_must_say();
    }
    return got;
}

/* What is compressed comes out again. */
static void there_and_back(rec_sink *(*encode)(rec_job *, rec_sink *, int), decode *function, const uint8_t *data,
                           size_t size, int level)
{
    rec_job job;
    rec_sink *memory, *sink;
    void *packed = NULL;
    uint64_t length = 0, sum = 0;
    result got;
    lr_job_begin(&job, fuzz_context(size), "save", "fuzz");
    lr_job_input(&job, 1 << 24); /* a save has no budget */
    memory = lr_sink_memory(&job);
    sink = memory ? encode(&job, memory, level) : NULL;
    if (sink && rec_sink_write(sink, data, size) == REC_OK && rec_sink_close(sink) == REC_OK &&
        lr_sink_take(memory, &packed, &length) == REC_OK) {
        (void)lr_sink_commit(memory);
    }
    fuzz_must(lr_job_end(&job) == REC_OK && packed, "it is compressed");
    got = read_all(function, packed, (size_t)length, 0);
    for (size_t i = 0; i < size; i++) {
        sum = sum * 31 + data[i];
    }
    fuzz_must(got.status == REC_OK && got.size == size && got.sum == sum, "and comes out as it was");
    free(packed);
}

int fuzz_gz(const uint8_t *data, size_t size)
{
    result whole, pieces;
    uint8_t way = size ? data[size - 1] % 4 : 0;
    if (way == 2) {
        there_and_back(lr_gzip_sink, decode_quick, data, size, (int)(size % 10));
        return 1;
    }
    whole = read_all(decode_quick, data, size, 0);
    pieces = read_all(decode_by_zlib, data, size, 1 + size % 4096);
    fuzz_must((whole.status == REC_OK) == (pieces.status == REC_OK), "one verdict, quick or not");
    fuzz_must(whole.status != REC_OK || (whole.size == pieces.size && whole.sum == pieces.sum), "the same bytes");
    return 1;
}

int fuzz_zst(const uint8_t *data, size_t size)
{
#ifdef LR_HAVE_ZSTD
    result whole, pieces;
    if (size && data[size - 1] % 4 == 2) {
        there_and_back(lr_zstd_sink, lr_zstd_source, data, size, 1 + (int)(size % 5));
        return 1;
    }
    whole = read_all(lr_zstd_source, data, size, 0);
    pieces = read_all(lr_zstd_source, data, size, 1 + size % 4096);
    fuzz_must((whole.status == REC_OK) == (pieces.status == REC_OK), "one verdict, whole or not");
    fuzz_must(whole.status != REC_OK || (whole.size == pieces.size && whole.sum == pieces.sum), "the same bytes");
    return 1;
#else
    (void)data;
    (void)size;
    return 0;
#endif
}
