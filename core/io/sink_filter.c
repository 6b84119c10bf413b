/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sinks that hand on what they get: filters of plugins. */
#include <string.h>

#include "core/io/io_private.h"

struct filter_sink {
    rec_sink sink;
    rec_sink *target;
    bool target_was_quiet;
    rec_sink_ops ops;
    void *self;
};

/* A filter must not write to itself: endless recursion. */
static int32_t filter_write(rec_sink *sink, const uint8_t *data, uint64_t size)
{
    struct filter_sink *self = (struct filter_sink *)sink;
    lr_call call;
    int32_t status;
    if (sink->busy) {
        return lr_breach(sink->job, REC_UNKNOWN, "has a sink filter that writes to itself");
    }
    sink->busy = true;
    lr_call_begin(&call, sink->job, LR_CALL_SINK, NULL);
    status = self->ops.write(self->self, self->target, data, size);
    lr_call_end(&call);
    sink->busy = false;
    return lr_said_why(sink->job, status, "a sink filter");
}

static int32_t filter_finish(rec_sink *sink)
{
    struct filter_sink *self = (struct filter_sink *)sink;
    lr_call call;
    int32_t status = REC_OK;
    if (self->ops.finish) {
        sink->busy = true;
        lr_call_begin(&call, sink->job, LR_CALL_SINK, NULL);
        status = self->ops.finish(self->self, self->target);
        lr_call_end(&call);
        sink->busy = false;
    }
    return lr_said_why(sink->job, status, "a sink filter");
}

static void release_self(rec_job *job, const rec_sink_ops *ops, void *self)
{
    lr_call call;
    if (ops->release) {
        lr_call_begin(&call, job, LR_CALL_SINK, NULL);
        ops->release(self);
        lr_call_end(&call);
    }
}

static void filter_release(rec_sink *sink)
{
    struct filter_sink *self = (struct filter_sink *)sink;
    release_self(sink->job, &self->ops, self->self);
    self->target->quiet = self->target_was_quiet;
}

static const lr_sink_ops filter_ops = {
    .write = filter_write,
    .finish = filter_finish,
    .release = filter_release,
};

/* What the first version of the struct had: none was ever smaller. */
#define OPS_LEAST (offsetof(rec_sink_ops, release) + sizeof(void (*)(void)))

rec_sink *rec_sink_filter(rec_job *job, rec_sink *target, const rec_sink_ops *ops, void *self)
{
    struct filter_sink *filter = NULL;
    rec_sink_ops known = {0};
    if (LR_LACKS(job, ops) || !lr_size_check(job, "the functions of a sink filter", ops->size, OPS_LEAST)) {
        return NULL;
    }
    memcpy(&known, ops, ops->size < sizeof known ? ops->size : sizeof known);
    if (LR_LACKS(job, job)) {
        release_self(NULL, &known, self);
        return NULL;
    }
    if (!known.write) {
        (void)lr_breach(job, REC_UNKNOWN, "made a sink filter without `write`");
    } else if (!LR_LACKS(job, target) && lr_sink_may_make(job, __func__)) {
        filter = lr_sink_new(job, &filter_ops, sizeof *filter);
    }
    if (!filter) {
        release_self(job, &known, self);
        return NULL;
    }
    filter->ops = known;
    filter->self = self;
    filter->target = target;
    lr_sink_remember(&filter->sink);
    filter->sink.name = target->name;
    /* Progress counts the input: output may be small and late. */
    filter->sink.quiet = filter->target_was_quiet = target->quiet;
    target->quiet = true;
    return &filter->sink;
}
