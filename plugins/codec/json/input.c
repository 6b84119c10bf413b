/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The window of a JSON reader. Inflated or streamed text is never in memory as a whole: it may be many times as large
 * as its tensors. */
#include "plugins/codec/json/input.h"

#include <string.h>

int32_t lr_json_input_open(lr_json_input *in, rec_job *job, rec_source *source)
{
    const void *whole = NULL;
    int32_t status = REC_OK;
    *in = (lr_json_input){.job = job, .source = source, .size = rec_source_size(source)};
    if (in->size != REC_UNKNOWN) {
        status = rec_source_at_hand(job, source, 0, in->size, &whole);
    }
    if (status != REC_OK) {
        return status;
    }
    if (whole) {
        in->start = in->at = whole;
        in->end = in->start + in->size;
        in->ended = true;
        return REC_OK;
    }
    in->buffer = rec_job_alloc(job, LR_JSON_WINDOW);
    if (!in->buffer) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for the text"); /* the first failure counts */
    }
    in->start = in->at = in->end = in->buffer;
    return lr_json_input_more(in);
}

void lr_json_input_close(lr_json_input *in)
{
    rec_job_free(in->job, in->buffer);
    in->buffer = NULL;
}

int32_t lr_json_input_more(lr_json_input *in)
{
    uint64_t kept = (uint64_t)(in->end - in->at), got;
    int32_t status;
    if (in->ended) {
        return REC_OK;
    }
    in->offset = lr_json_input_offset(in);
    memmove(in->buffer, in->at, (size_t)kept);
    in->at = in->buffer;
    do {
        status = rec_source_read(in->job, in->source, in->buffer + kept, LR_JSON_WINDOW - kept, &got);
        kept += status == REC_OK ? got : 0;
        in->ended = status == REC_OK && got == 0;
    } while (status == REC_OK && !in->ended && kept < LR_JSON_WINDOW);
    in->end = in->buffer + kept;
    return status;
}
