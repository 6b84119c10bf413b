/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The input of the quick reader. */
#include "plugins/codec/gzip/quick_private.h"

#include <string.h>

int32_t lr_quick_no_memory(rec_job *job)
{
    return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while zlib was set up");
}

int32_t lr_quick_fill(lr_quick *self, rec_job *job, uint8_t *target, size_t size, size_t *held)
{
    int32_t status = REC_OK;
    while (*held < size && !self->drained && status == REC_OK) {
        uint64_t got = 0;
        status = rec_source_read(job, self->parent, target + *held, size - *held, &got);
        *held += (size_t)got;
        self->drained = status == REC_OK && got == 0;
    }
    return status;
}

size_t lr_quick_at_hand(const lr_quick *self)
{
    return (size_t)(self->lane->in_end - self->lane->in);
}

int32_t lr_quick_feed(lr_quick *self, rec_job *job, size_t want, size_t most)
{
    lr_inflater *lane = self->lane;
    size_t held = lr_quick_at_hand(self);
    int32_t status = REC_OK;
    if (held < want && !self->drained) {
        memmove(self->input + LR_QUICK_GAP - LR_INFLATE_BEHIND, lane->in - LR_INFLATE_BEHIND, LR_INFLATE_BEHIND + held);
        lane->in = self->input + LR_QUICK_GAP;
        status = lr_quick_fill(self, job, self->input + LR_QUICK_GAP, most, &held);
        lane->in_end = lane->in + held;
    }
    return status;
}
