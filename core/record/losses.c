/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What tensors lose when they are converted, as numbers and in words. */
#include "core/record/record.h"

#include <stdio.h>

#include "core/io/io.h"

void lr_loss_text(int32_t kind, rec_dtype dtype, uint64_t count, char *text, size_t room)
{
    char digits[32];
    const char *values, *became;
    bool one = count == 1;
    if (kind == REC_NOTE_OVERFLOW) {
        values = one ? "value was too large for" : "values were too large for";
        became = "and became infinite";
    } else {
        values = one ? "integer did not fit" : "integers did not fit";
        became = "and took its nearest limit";
    }
    (void)snprintf(text, room, "%s %s %s %s", lr_group_digits(count, digits, sizeof digits), values,
                   rec_dtype_name(dtype), became);
}

static void report(rec_job *job, const lr_loss *loss)
{
    const lr_parallel *parallel = job->parallel;
    char text[128];
    if (!loss->count) {
        return;
    }
    if (!parallel || !parallel->lost) {
        lr_loss_text(loss->kind, loss->dtype, loss->count, text, sizeof text);
        lr_note(job, loss->kind, loss->count, loss->path, "%s", text);
    } else if (!job->quiet) {
        parallel->lost(parallel, job, loss);
    }
}

void lr_note_losses(rec_job *job, const char *path, rec_dtype dtype, const lr_losses *losses)
{
    lr_loss loss = {.kind = REC_NOTE_OVERFLOW, .dtype = dtype, .path = path, .part = losses->part};
    loss.count = losses->overflowed;
    report(job, &loss);
    loss.kind = REC_NOTE_CLAMPED;
    loss.count = losses->clamped;
    report(job, &loss);
}
