/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Codecs whose output is a head, pieces and a tail: some of the pieces alone, of a window of what goes in, or the ends
 * alone. What is asked for stands in job->parts. */
#include "core/io/io_private.h"

/* Called from the codec with the job: hands it to the program. Whose job it is shows before it is looked into. */
static void made(void *user, const rec_piece *piece)
{
    rec_job *job = lr_call_is(LR_CALL_SINK) ? lr_call_now()->job : NULL;
    lr_parts *p = job && job == user ? job->parts : NULL;
    lr_call call;
    if (LR_LACKS(job, piece)) {
        return;
    }
    if (!p || p->part != REC_PART_PIECES) {
        (void)lr_breach(job, REC_UNKNOWN,
                        "told of a piece where none is made, or with a `user` that is not that of this save");
        return;
    }
    p->told++;
    p->told_size += piece->size;
    if (p->made) {
        lr_call_begin(&call, job, LR_CALL_PROGRAM, NULL);
        p->made(p->user, piece);
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

/* Who puts the file together goes by what the codec told. */
static int32_t check_told(rec_job *job, const rec_sink *target)
{
    const lr_parts *p = job->parts;
    uint64_t end = p->window.to < p->window.total ? p->window.to : p->window.total;
    uint64_t pieces = (end - p->window.from - 1) / p->piece + 1;
    if (p->told == pieces && p->told_size == target->written) {
        return REC_OK;
    }
    return lr_breach(job, REC_UNKNOWN, "made %llu bytes, which are to be %llu pieces, and told of %llu in %llu",
                     (unsigned long long)target->written, (unsigned long long)pieces, (unsigned long long)p->told_size,
                     (unsigned long long)p->told);
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
    status = lr_said_why(sink->job, status, "a sink filter");
    if (status == REC_OK && !lr_job_failed(sink->job) && p->part == REC_PART_PIECES) {
        status = check_told(sink->job, target);
    }
    return status;
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
        int32_t said;
        codec->busy = true;
        lr_call_begin(&call, job, LR_CALL_SINK, NULL);
        said = ops->part(user, made, job);
        lr_call_end(&call);
        codec->busy = false;
        status = lr_said_why(job, said, "a sink filter");
        status = status == REC_OK ? job->error.status : status;
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
