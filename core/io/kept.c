/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a job keeps until it ends: its companion files, and what its filters may give together. An archive of many
 * members, each of which inflates to what a file of its size may, would else be no limit at all. Files count once,
 * however many filters are over them. */
#include "core/io/io_private.h"

lr_kept *lr_kept_of(rec_job *job)
{
    lr_kept *all = job->kept;
    if (!all) {
        all = job->kept = lr_zalloc(job->allocator, sizeof *all);
        if (!all) {
            return LR_AS_NULL(lr_fail_memory(job, sizeof *all));
        }
        job->at_end = lr_siblings_drop;
    }
    return all;
}

void lr_siblings_drop(rec_job *job)
{
    lr_kept *all = job->kept;
    if (all) {
        for (uint64_t i = 0; i < all->count; i++) {
            lr_source_release(all->sources[i]);
        }
        lr_inflation_release(all->inflation);
        lr_release(job->allocator, (void *)all->sources);
        lr_release(job->allocator, all);
        job->kept = NULL;
        job->at_end = NULL;
    }
    job->beside = 0;
}

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

lr_inflation *lr_inflation_of(rec_job *job, const rec_source *source)
{
    lr_kept *kept = lr_kept_of(job);
    if (!kept) {
        return NULL;
    }
    kept->inflation = kept->inflation ? kept->inflation : inflation_new(job);
    if (!kept->inflation || count_file(job, kept->inflation, source) != REC_OK) {
        return NULL;
    }
    (void)atomic_fetch_add_explicit(&kept->inflation->count, 1, memory_order_relaxed);
    return kept->inflation;
}

void lr_inflation_release(lr_inflation *all)
{
    if (all && atomic_fetch_sub_explicit(&all->count, 1, memory_order_acq_rel) == 1) {
        lr_release(all->allocator, all->files);
        lr_release(all->allocator, all);
    }
}
