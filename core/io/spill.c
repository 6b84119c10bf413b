/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Streams that are read to their end, and what is too large to stay in memory: temporary files without a name, whose
 * pages the system takes back and brings again. */
#include <errno.h>
#include <unistd.h>

#include "core/io/io_private.h"
#include "os/file.h"
#include "os/map.h"

/* A stream that is longer goes to a temporary file, unless the context says less. */
#define SPILL_FROM (UINT64_C(64) << 20)
/* The first reservation, and the step from which growth is steady. */
#define STREAM_FIRST (UINT64_C(1) << 20)
#define STREAM_STEP (UINT64_C(64) << 20)

/* Fewer bytes are not worth a file and a map of their own. */
enum { SPILL_LEAST = 256 * 1024 };

static int open_file(rec_job *job)
{
    static const char hint[] =
        "Large data that cannot be mapped go to a temporary file: set TMPDIR to a directory with space.";
    int fd = lr_file_nameless();
    if (fd < 0) {
        (void)lr_io_errno(job, lr_file_temporary_folder(), REC_UNKNOWN, hint, errno,
                          "make a temporary file in this directory");
    }
    return fd;
}

static int32_t write_at(rec_job *job, int fd, const uint8_t *data, uint64_t size, uint64_t offset)
{
    int error = lr_file_write_at(fd, data, size, offset);
    return error
               ? lr_io_errno(job, lr_file_temporary_folder(), REC_UNKNOWN, "Set TMPDIR to a directory with more space.",
                             error, "write to a temporary file in this directory")
               : REC_OK;
}

static int32_t fail_map(rec_job *job)
{
    return lr_io_errno(job, lr_file_temporary_folder(), REC_UNKNOWN, NULL, errno,
                       "map a temporary file in this directory");
}

/* The pages stay for the next caller. Numbers are converted in place: the pages are writable, and the file has the
 * original bytes. */
static rec_source *spilled(rec_job *job, const lr_pages *pages, uint64_t size)
{
    rec_source *source = lr_source_new(job, "memory");
    int fd = source ? open_file(job) : -1;
    int32_t status = fd < 0 ? job->error.status : write_at(job, fd, pages->data, size, 0);
    if (status == REC_OK) {
        void *map = lr_map_file(fd, 0, size, true);
        if (!map) {
            status = fail_map(job);
        } else {
            source->map = map;
            source->map_size = size;
            source->lies_in = source;
            lr_source_ready(source, map, size);
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    if (status != REC_OK) {
        lr_source_release(source);
        source = NULL;
    }
    return source;
}

rec_source *lr_source_kept(rec_job *job, lr_pages *pages, uint64_t size)
{
    rec_source *source;
    lr_pages *own;
    if (job->context->spill && size >= SPILL_LEAST && size >= job->context->spill) {
        return spilled(job, pages, size);
    }
    own = lr_job_alloc(job, sizeof *own);
    if (!own) {
        return NULL;
    }
    lr_pages_trim(pages, size ? size : 1);
    *own = *pages;
    source = lr_source_owned(job->allocator, own->data, size, lr_pages_release, own);
    if (source) {
        *pages = (lr_pages){.allocator = own->allocator};
    } else {
        lr_release(job->allocator, own);
        (void)lr_fail_memory(job, size);
    }
    return source;
}

/* ----------------------------------------------------------------------------------------------------- streams -- */

/* Reads the next bytes, and one more than allowed, so that an endless stream is detected at once. */
static int32_t more(rec_job *job, const rec_source *source, const lr_stream *stream, uint64_t at, void *target,
                    uint64_t room, uint64_t *got)
{
    char said[32];
    uint64_t left = stream->total == REC_UNKNOWN ? REC_UNKNOWN : stream->total - at;
    int32_t status = stream->read(job, source, stream->user, at, target, left < room ? left + 1 : room, got);
    if (status == REC_OK && *got > left) {
        *got = 0;
        status = lr_io_fail(job, source->name, REC_E_IO, stream->total, NULL, "expected %s bytes, found more",
                            lr_group_digits(stream->total, said, sizeof said));
    }
    return status;
}

/* The rest of a stream of which `pages` hold the first `used` bytes. */
static int32_t spill(rec_job *job, rec_source *source, const lr_stream *stream, lr_pages *pages, uint64_t used)
{
    int temporary = open_file(job);
    int32_t status;
    uint64_t got = 1;
    if (temporary < 0) {
        return job->error.status;
    }
    status = write_at(job, temporary, pages->data, used, 0);
    lr_pages_trim(pages, LR_IO_PIECE); /* the rest passes through what is left of them */
    while (status == REC_OK && got) {
        status = more(job, source, stream, used, pages->data, pages->size, &got);
        if (status == REC_OK && got) {
            status = write_at(job, temporary, pages->data, got, used);
            used += got;
        }
        if (status == REC_OK && used / LR_IO_PIECE != (used - got) / LR_IO_PIECE) {
            status = rec_job_progress(job, used, REC_UNKNOWN);
        }
    }
    if (status == REC_OK && !lr_source_map(source, temporary, 0, used)) {
        status = fail_map(job);
    }
    (void)close(temporary); /* nothing in it has to reach the disk */
    return status;
}

/* Larger pages are mapped, and grow without a copy: doubling would reserve too much. */
static uint64_t next_size(const lr_pages *pages)
{
    return pages->size + (pages->mapped && pages->size > STREAM_STEP ? STREAM_STEP : pages->size);
}

int32_t lr_source_drain(rec_job *job, rec_source *source, const lr_stream *stream)
{
    lr_pages pages = {.allocator = job->allocator};
    uint64_t used = 0, got = 1, most = job->context->spill;
    int32_t status = REC_OK;
    most = stream->first ? UINT64_MAX : most && most < SPILL_FROM ? most : SPILL_FROM;
    while (status == REC_OK && got) {
        if (used == pages.size) {
            uint64_t want = used ? next_size(&pages) : stream->first ? stream->first : STREAM_FIRST;
            if (used && used >= most) {
                status = spill(job, source, stream, &pages, used);
                goto done;
            }
            if (!lr_pages_grow(&pages, want)) {
                status = lr_fail_memory(job, want);
                goto done;
            }
        }
        status = more(job, source, stream, used, pages.data + used, pages.size - used, &got);
        used += got;
        if (status == REC_OK && used / LR_IO_PIECE != (used - got) / LR_IO_PIECE) {
            status = rec_job_progress(job, used, stream->hint >= used ? stream->hint : REC_UNKNOWN);
        }
    }
    if (status == REC_OK) {
        lr_pages_trim(&pages, used);
        source->pages = pages;
        lr_source_ready(source, pages.data, used);
        return REC_OK;
    }
done:
    lr_pages_free(&pages);
    return status;
}
