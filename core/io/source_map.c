/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The bytes of a regular file as a whole: mapped, or copied by several threads. Of a map: whether the file was
 * truncated (os/watch.h), and which of its pages need not stay, so that a file larger than memory needs little memory.
 */
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

/* -------------------------------------------------------------------------------------------- files that were cut --
 */

void lr_source_lend(const rec_source *source)
{
    if (source && source->lies_in) {
        lr_watch_lend(source->lies_in->watch);
    }
}

bool lr_source_is_cut(const rec_source *source)
{
    return source && source->lies_in && lr_watch_cut(source->lies_in->watch);
}

int32_t lr_source_check_whole(rec_job *job, const rec_source *source, bool sizes_too)
{
    return source && source->lies_in ? lr_watch_check(job, source->lies_in->watch, sizes_too) : job->error.status;
}

/* -------------------------------------------------------------------------------------------- reading headers -- */

void lr_source_step_begin(rec_job *job, rec_source *source)
{
    job->stepped = source;
}

void lr_source_step(const rec_job *job, rec_source *source)
{
    if (job->stepped == source && !source->stepped && source->mapped && source->map &&
        source->map_size >= LR_STEP_FROM) {
        source->stepped = lr_map_random(source->map, source->map_size, true);
    }
}

void lr_source_step_end(rec_job *job)
{
    if (job->stepped && job->stepped->ops->stepped) {
        job->stepped->ops->stepped(job->stepped);
    }
    if (job->stepped && job->stepped->stepped) {
        (void)lr_map_random(job->stepped->map, job->stepped->map_size, false);
        job->stepped->stepped = false;
    }
    job->stepped = NULL;
}

/* -------------------------------------------------------------------------------------------- pages that were read --
 */

/* A page that is missing brings its neighbours as far as these are in memory, up to so many bytes (fault-around): a
 * piece that was passed is given back from such a border on, and fewer bytes are not worth a call. Of small pieces,
 * each of which is a page at least, all goes once there are enough. */
enum { AROUND = 64 * 1024, PASS_FROM = 4 * AROUND, SMALL_LEAST = 4096, SMALL_ENOUGH = 1 << 20 };

void lr_source_feeds(const rec_source *source)
{
    for (const lr_call *call = source->lies_in ? lr_call_now() : NULL; call && call->kind == LR_CALL_SOURCE;
         call = call->outer) {
        rec_source *made = call->self, *none = made ? atomic_load(&made->fed_by) : NULL;
        if (!made || none) {
            continue;
        }
        /* Retained before it is published: the reader may hold no other reference. */
        (void)atomic_fetch_add_explicit(&source->lies_in->count, 1, memory_order_relaxed);
        if (!atomic_compare_exchange_strong(&made->fed_by, &none, source->lies_in)) {
            (void)atomic_fetch_sub_explicit(&source->lies_in->count, 1,
                                            memory_order_release); /* never the last: `source` has one */
        }
    }
}

/* Small pieces, or of which it is not known where they are: once they are many, all goes. */
static void pass_small(rec_source *source, uint64_t size)
{
    uint64_t least = size < SMALL_LEAST ? SMALL_LEAST : size;
    uint64_t sum = atomic_fetch_add_explicit(&source->passed, least, memory_order_relaxed) + least;
    if (sum / SMALL_ENOUGH > (sum - least) / SMALL_ENOUGH) {
        lr_map_drop(source->map, source->map_size);
    }
}

void lr_source_behind(const rec_source *source, const void *data, uint64_t size)
{
    rec_source *of = source && data ? source->lies_in : NULL;
    rec_source *by = source && !of ? atomic_load(&((rec_source *)source)->fed_by) : NULL;
    uintptr_t at = (uintptr_t)data, map = of ? (uintptr_t)of->map : 0, begin, end;
    if (by) {
        pass_small(by, size);
    } else if (of && at >= map && at - map <= of->map_size && size <= of->map_size - (at - map)) {
        begin = at & ~(uintptr_t)(AROUND - 1);
        begin = begin < map ? map : begin;
        end = (at + (uintptr_t)size) & ~((uintptr_t)lr_map_page() - 1);
        if (size < PASS_FROM) {
            pass_small(of, size);
        } else {
            lr_map_drop((uint8_t *)of->map + (begin - map), end - begin);
        }
    }
}

void lr_source_stepped_over(const rec_source *source, const void *data, uint64_t size)
{
    if (data && source->lies_in && !source->mapped) {
        /* What a step brings may be as large as the largest pages of the page cache. */
        lr_source_behind(source, data, size < AROUND ? size : PASS_FROM - 1);
    }
}

void lr_source_pass(const rec_job *job, const rec_source *source, const void *data, uint64_t size)
{
    if (job->passing) {
        lr_source_behind(source, data, size);
    }
}
