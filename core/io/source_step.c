/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Access hints for readers that step through the headers of a mapped file. */
#include "core/io/io_private.h"
#include "os/map.h"

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
