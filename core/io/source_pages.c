/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sources whose bytes lie in a mapped file: whether that was truncated (os/watch.h), and which of its pages need not
 * stay, so that a file larger than memory needs little memory. */
#include "core/io/io_private.h"
#include "os/map.h"

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
