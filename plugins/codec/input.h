/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The input of a decompressor: read on demand, so that a compressed file is never in memory as a whole. */
#ifndef LR_CODEC_INPUT_H
#define LR_CODEC_INPUT_H

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include <librecord/plugin.h>

typedef struct lr_input {
    rec_source *parent;         /**< the filter holds it for as long as this lives */
    const uint8_t *next;        /**< the bytes that were read and not used… */
    size_t left;                /**< …and how many */
    uint64_t given;             /**< bytes read so far */
    bool drained;               /**< there are no more */
    uint8_t buffer[128u << 10]; /**< enough for a decompressor to run long, and still in the cache then */
} lr_input;

/** Has at least `want` bytes, which are few, or what is left before the end. */
static inline int32_t lr_input_feed(rec_job *job, lr_input *in, size_t want)
{
    int32_t status = REC_OK;
    if (in->left >= want || in->drained) {
        return REC_OK;
    }
    if (in->left) {
        memmove(in->buffer, in->next, in->left);
    }
    in->next = in->buffer;
    while (in->left < want && !in->drained && status == REC_OK) {
        uint64_t got = 0;
        status = rec_source_read(job, in->parent, in->buffer + in->left, sizeof in->buffer - in->left, &got);
        in->left += (size_t)got;
        in->given += got;
        in->drained = status == REC_OK && got == 0;
    }
    return status;
}

/** @return the offset of the next byte. */
static inline uint64_t lr_input_place(const lr_input *in)
{
    return in->given - in->left;
}

static inline int32_t lr_input_rewind(rec_job *job, lr_input *in)
{
    in->left = 0;
    in->given = 0;
    in->drained = false;
    return rec_source_rewind(job, in->parent);
}

static inline int32_t lr_input_fail_cut(rec_job *job, const lr_input *in)
{
    int32_t status = rec_fail(job, REC_E_FORMAT, in->given, "the compressed file ends before its data do");
    rec_fail_hint(job, "The file is truncated: copy it again from its source.");
    return status;
}

/** Fails because the bytes from here on do not belong to the format. */
static inline int32_t lr_input_fail_rest(rec_job *job, lr_input *in, const char *format)
{
    uint64_t at = lr_input_place(in);
    int32_t status = REC_OK;
    while (status == REC_OK && in->left) {
        in->left = 0;
        status = lr_input_feed(job, in, 1);
    }
    if (status == REC_OK) {
        status = rec_fail_found(job, REC_E_FORMAT, at, "the end of the compressed file",
                                "%" PRIu64 " bytes more that are not %s", in->given - at, format);
        rec_fail_hint(job, "Remove them if they do not belong to it.");
    }
    return status;
}

#endif
