/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Codecs whose output is a head, pieces and a tail: some of the pieces alone, of a window of what goes in, or the ends alone. What is
 * asked for stands in job->parts. */
#include "core/io/io_private.h"

/* The program's, called from the codec. */
static void told(void *user, const rec_piece *piece)
{
    rec_job *job = user;
    lr_call call;
    if (job->parts->made) {
        lr_call_begin(&call, job, LR_CALL_PROGRAM, NULL);
        job->parts->made(job->parts->user, piece);
        lr_call_end(&call);
    }
}

bool lr_sink_in_pieces(rec_sink *codec)
{
    void *user;
    const rec_sink_ops *ops = lr_sink_filter_part(codec, NULL, &user);
    bool pieces = ops && ops->piece && ops->part && ops->finish_part && ops->ends;
    lr_parts *p = codec->job->parts;
    p->piece = pieces ? ops->piece : 0;
    if (pieces) {
        p->window.stream = true;
        p->file->from = 0;
        p->file->to = UINT64_MAX;
    }
    return pieces;
}

static int32_t fail_bounds(rec_job *job)
{
    return rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "the window begins or ends within a piece of %llu bytes",
                    (unsigned long long)job->parts->piece);
}

static int32_t finish_part(rec_sink *sink, const rec_sink_ops *ops, void *user, rec_sink *target)
{
    const lr_parts *p = sink->job->parts;
    const lr_window *w = &p->window;
    lr_call call;
    int32_t status;
    if (p->part == REC_PART_PIECES && w->from >= w->total) {
        return REC_OK;
    }
    if (p->part == REC_PART_PIECES && w->to % p->piece && w->to < w->total) {
        return fail_bounds(sink->job);
    }
    sink->busy = true;
    lr_call_begin(&call, sink->job, LR_CALL_SINK, NULL);
    status = p->part == REC_PART_PIECES
                 ? ops->finish_part(user, target, w->to >= w->total)
                 : ops->ends(user, target, w->total, p->pieces, p->count, p->part == REC_PART_TAIL);
    lr_call_end(&call);
    sink->busy = false;
    return lr_said_why(sink->job, status, "a sink filter");
}

int32_t lr_sink_ends(rec_sink *codec)
{
    void *user;
    (void)lr_sink_filter_part(codec, finish_part, &user);
    return lr_sink_commit(codec);
}

rec_sink *lr_sink_pieces(rec_sink *codec)
{
    rec_job *job = codec->job;
    lr_parts *p = job->parts;
    int32_t status = REC_OK;
    if (p->window.from % p->piece) {
        status = fail_bounds(job);
    }
    if (p->wanted && status == REC_OK && p->window.from < p->window.to) {
        void *user;
        const rec_sink_ops *ops = lr_sink_filter_part(codec, finish_part, &user);
        lr_call call;
        lr_call_begin(&call, job, LR_CALL_SINK, NULL);
        status = lr_said_why(job, ops->part(user, told, job), "a sink filter");
        lr_call_end(&call);
    } else {
        lr_sink_free(codec); /* which has nothing to say */
        codec = NULL;
    }
    if (status != REC_OK) { /* nothing was written yet */
        if (codec) {
            lr_sink_free(codec);
        }
        return NULL;
    }
    return lr_sink_window(job, "", codec, &p->window);
}
