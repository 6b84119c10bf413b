/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Access hints for readers that step through the headers of a mapped file. */
#include <sys/mman.h>

#include "core/io/io_private.h"

void lr_source_step_begin(rec_job *job, rec_source *source)
{
    job->stepped = source;
}

void lr_source_step(const rec_job *job, rec_source *source)
{
    if (job->stepped == source && !source->stepped && source->mapped && source->map &&
        source->map_size >= LR_STEP_FROM) {
        source->stepped = madvise(source->map, (size_t)source->map_size, MADV_RANDOM) == 0;
    }
}

void lr_source_step_end(rec_job *job)
{
    if (job->stepped && job->stepped->ops->stepped) {
        job->stepped->ops->stepped(job->stepped);
    }
    if (job->stepped && job->stepped->stepped) {
        (void)madvise(job->stepped->map, (size_t)job->stepped->map_size, MADV_NORMAL);
        job->stepped->stepped = false;
    }
    job->stepped = NULL;
}
