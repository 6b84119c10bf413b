/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Which plugin's code this thread is in: so that what a plugin calls can tell whether it may, and whom to blame. */
#include "core/base/base.h"

static _Thread_local lr_call *now;

void lr_call_begin(lr_call *call, rec_job *job, int32_t kind, void *self)
{
    *call = (lr_call){.outer = now, .job = job, .kind = kind, .self = self};
    now = call;
}

void lr_call_end(const lr_call *call)
{
    now = call->outer;
}

lr_call *lr_call_now(void)
{
    return now;
}

bool lr_call_is(int32_t kind)
{
    return now && now->kind == kind;
}
