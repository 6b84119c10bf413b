/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the filters of one job may give together: an archive of many members, each of which inflates to what a file of
 * its size may, would else be no limit at all. Files count once, however many filters are over them. */
#include "core/io/io_private.h"

struct lr_inflation {
    const lr_allocator *allocator; /* of the context, as that of sources */
    atomic_uint_fast64_t count;    /* the job and each filter, which outlives it */
    atomic_uint_fast64_t stored;   /* size of the files */
    atomic_uint_fast64_t used;     /* bytes that were given; those that were read again count once */
    uint64_t factor, slack;
    uint64_t *files; /* the numbers of those that are counted */
    uint64_t file_count, file_room;
};

static lr_inflation *inflation_new(rec_job *job)
{
    lr_inflation *all = lr_job_zalloc(job, sizeof *all);
    if (!all) {
        return NULL;
    }
    all->allocator = job->allocator;
    atomic_init(&all->count, 1);
    atomic_init(&all->stored, 0);
    atomic_init(&all->used, 0);
    all->factor = job->limits.inflated_factor;
    all->slack = job->limits.inflated_slack;
    return all;
}

/* Files come one after the other: the last one is looked for first. */
static bool is_counted(const lr_inflation *all, uint64_t file)
{
    uint64_t i = all->file_count;
    while (i && all->files[i - 1] != file) {
        i--;
    }
    return i > 0;
}

static int32_t count_file(rec_job *job, lr_inflation *all, const rec_source *source)
{
    uint64_t size = lr_source_file_size(source), stored = atomic_load(&all->stored), sum;
    if (is_counted(all, source->file)) {
        return REC_OK;
    }
    if (!lr_job_grow(job, &all->files, all->file_count + 1, &all->file_room, sizeof *all->files)) {
        return job->error.status;
    }
    all->files[all->file_count++] = source->file;
    atomic_store(&all->stored, lr_add(stored, size == REC_UNKNOWN ? 0 : size, &sum) ? sum : UINT64_MAX);
    return REC_OK;
}

lr_inflation *lr_inflation_of(rec_job *job, lr_inflation **slot, const rec_source *source)
{
    if (!slot) {
        return NULL;
    }
    if (!*slot) {
        *slot = inflation_new(job);
    }
    if (!*slot || count_file(job, *slot, source) != REC_OK) {
        return NULL;
    }
    (void)atomic_fetch_add_explicit(&(*slot)->count, 1, memory_order_relaxed);
    return *slot;
}

void lr_inflation_release(lr_inflation *all)
{
    if (all && atomic_fetch_sub_explicit(&all->count, 1, memory_order_acq_rel) == 1) {
        lr_release(all->allocator, all->files);
        lr_release(all->allocator, all);
    }
}

uint64_t lr_inflation_stored(const lr_inflation *all)
{
    return atomic_load(&all->stored);
}

uint64_t lr_inflation_limit(const lr_inflation *all)
{
    uint64_t limit;
    return lr_mul(atomic_load(&all->stored), all->factor, &limit) && lr_add(limit, all->slack, &limit) ? limit
                                                                                                       : UINT64_MAX;
}

uint64_t lr_inflation_left(const lr_inflation *all)
{
    uint64_t limit = lr_inflation_limit(all), used = atomic_load(&all->used);
    return used < limit ? limit - used : 0;
}

void lr_inflation_take(lr_inflation *all, uint64_t size)
{
    (void)atomic_fetch_add_explicit(&all->used, size, memory_order_relaxed);
}
