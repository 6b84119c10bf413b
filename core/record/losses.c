/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What tensors lose when they are converted, as numbers and in words. */
#include "core/record/record.h"

#include <stddef.h>
#include <stdio.h>

/* What the struct is at least: its first version. */
#define LOSS_LEAST (offsetof(rec_loss, path) + sizeof(const char *))

rec_status rec_loss_text(const rec_loss *loss, char *text, uint64_t room)
{
    char digits[32];
    const char *values, *became;
    bool one;
    if (LR_NULL(loss) || LR_NULL(text)) {
        return REC_E_ARGUMENT;
    }
    if (loss->size < LOSS_LEAST || !room || (loss->kind != REC_NOTE_OVERFLOW && loss->kind != REC_NOTE_CLAMPED)) {
        return lr_publish(REC_E_ARGUMENT, "rec_loss_text: it is no loss, or there is no room for its words");
    }
    one = loss->count == 1;
    if (loss->kind == REC_NOTE_OVERFLOW) {
        values = one ? "value was too large for" : "values were too large for";
        became = "and became infinite";
    } else {
        values = one ? "integer did not fit" : "integers did not fit";
        became = "and took its nearest limit";
    }
    (void)snprintf(text, (size_t)room, "%s %s %s %s", lr_group_digits(loss->count, digits, sizeof digits), values,
                   rec_dtype_name(loss->dtype), became);
    return REC_OK;
}

static void tell(rec_job *job, const rec_loss *loss)
{
    char text[128];
    if (loss->count && !lr_tell_aside(job, *loss)) {
        (void)rec_loss_text(loss, text, sizeof text);
        lr_note(job, loss->kind, loss->count, loss->path, "%s", text);
    }
}

void lr_note_losses(rec_job *job, const char *path, rec_dtype dtype, const lr_losses *losses)
{
    rec_loss loss = {.size = sizeof loss, .kind = REC_NOTE_OVERFLOW, .dtype = dtype, .path = path};
    loss.count = losses->overflowed;
    tell(job, &loss);
    loss.kind = REC_NOTE_CLAMPED;
    loss.count = losses->clamped;
    tell(job, &loss);
}
