/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The bytes of a regular file as a whole: mapped, or copied by several threads. */
#include <errno.h>
#include <unistd.h>

#include "core/io/io_private.h"
#include "os/file.h"
#include "os/map.h"

/* A file of at least THREADS_FROM bytes is read by several threads, each of which has a share of some size. */
#define THREADS_FROM (UINT64_C(32) << 20)
#define THREAD_SHARE (UINT64_C(16) << 20)

enum { THREADS_MOST = 64 };

/* ----------------------------------------------------------------------------------------------------- mapping -- */

bool lr_source_map(rec_source *source, int fd, uint64_t begin, uint64_t end)
{
    uint64_t from = begin & ~(lr_map_page() - 1);
    void *map = end - from > PTRDIFF_MAX ? NULL : lr_map_file(fd, from, end - from, false);
    if (!map) {
        return false;
    }
    source->watch = lr_watch_begin(source->allocator, map, end - from, fd, end, source->name);
    if (!source->watch && lr_watch_guards()) {
        lr_map_end(map, end - from); /* without a guard: it is copied */
        return false;
    }
    source->map = map;
    source->map_size = end - from;
    source->lies_in = source;
    lr_source_ready(source, (const uint8_t *)map + (begin - from), end - begin);
    return true;
}

void lr_source_forget(const rec_source *source)
{
    if (source && source->mapped && source->map) {
        lr_map_drop(source->map, source->map_size);
    }
}

/* ----------------------------------------------------------------------------------------------------- copying -- */

/* What the threads that copy a file share. */
struct copy {
    int fd;
    uint64_t begin; /* of the file */
    uint8_t *target;
    uint64_t size;
    atomic_uint_fast64_t next; /* the next byte to assign to a thread */
    atomic_uint_fast64_t done;
    atomic_bool stop;
    atomic_int failed; /* the first failure: an errno, ENDED for a file that ended early, 0 */
    uint64_t failed_at;
};
enum { ENDED = -1 };

static void copy_failed(struct copy *copy, int error, uint64_t at)
{
    int none = 0;
    if (atomic_compare_exchange_strong(&copy->failed, &none, error)) {
        copy->failed_at = at; /* read after this thread was joined */
    }
    atomic_store(&copy->stop, true);
}

/* @return false when there is nothing more to do. */
static bool copy_piece(struct copy *copy)
{
    uint64_t at = atomic_fetch_add(&copy->next, LR_IO_PIECE);
    uint64_t end;
    if (atomic_load(&copy->stop) || at >= copy->size) {
        return false;
    }
    end = copy->size - at > LR_IO_PIECE ? at + LR_IO_PIECE : copy->size;
    while (at < end) {
        ssize_t n = pread(copy->fd, copy->target + at, (size_t)(end - at), (off_t)(copy->begin + at));
        if (n > 0) {
            at += (uint64_t)n;
            (void)atomic_fetch_add(&copy->done, (uint64_t)n);
        } else if (n == 0) {
            copy_failed(copy, ENDED, copy->begin + at);
            return false;
        } else if (errno != EINTR) {
            copy_failed(copy, errno, copy->begin + at);
            return false;
        } else if (atomic_load(&copy->stop)) {
            return false;
        }
    }
    return true;
}

static void *copy_thread(void *user)
{
    while (copy_piece(user)) {
    }
    return NULL;
}

static int32_t copy_file(rec_job *job, rec_source *source, int fd, uint64_t begin, uint64_t end)
{
    struct copy copy = {.fd = fd, .begin = begin, .size = end - begin};
    pthread_t threads[THREADS_MOST];
    uint32_t wanted = 1, count;
    int32_t status = REC_OK;
    int error;
    if (!lr_pages_grow(&source->pages, copy.size)) {
        return lr_fail_memory(job, copy.size);
    }
    copy.target = source->pages.data;
    if (copy.size >= THREADS_FROM) {
        uint64_t shares = copy.size / THREAD_SHARE;
        wanted = job->context->threads < THREADS_MOST ? job->context->threads : THREADS_MOST;
        wanted = shares < wanted ? (uint32_t)shares : wanted;
    }
    count = lr_threads_start(threads, wanted - 1, copy_thread, &copy);
    while (status == REC_OK && copy_piece(&copy)) {
        status = rec_job_progress(job, atomic_load(&copy.done), copy.size);
    }
    if (status != REC_OK) {
        atomic_store(&copy.stop, true);
    }
    lr_threads_join(threads, count);
    error = atomic_load(&copy.failed);
    if (status == REC_OK && error == ENDED) {
        status = lr_io_shrank(job, source->name, copy.failed_at, end);
    } else if (status == REC_OK && error != 0) {
        status = lr_io_errno(job, source->name, copy.failed_at, NULL, error, "read the file");
    }
    if (status == REC_OK) {
        lr_pages_trim(&source->pages, copy.size);
        lr_source_ready(source, source->pages.data, copy.size);
    }
    return status;
}

bool lr_source_map_file(rec_source *source, int fd, uint64_t begin, uint64_t end)
{
    if (lr_file_is_remote(fd) || !lr_source_map(source, fd, begin, end)) {
        return false;
    }
    source->mapped = true;
    return true;
}

int32_t lr_source_fill(rec_job *job, rec_source *source, int fd, uint64_t begin, uint64_t end, bool map)
{
    if (map && lr_source_map_file(source, fd, begin, end)) {
        return REC_OK;
    }
    return copy_file(job, source, fd, begin, end); /* some file systems cannot map at all */
}
