/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sources whose bytes lie in a mapped file: whether that was truncated (os/watch.h). */
#include "core/io/io_private.h"

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
