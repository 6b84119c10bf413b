/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sinks that call the program's own functions. The end is reported exactly once, and then they are released. */
#include <string.h>

#include "core/io/io_private.h"

struct output_sink {
    rec_sink sink;
    rec_output out;
    void *user;
};

/* What the struct is at least: its first version. */
#define OUTPUT_LEAST (offsetof(rec_output, release) + sizeof(((rec_output *)0)->release))

static int32_t output_write(rec_sink *sink, const uint8_t *data, uint64_t size)
{
    struct output_sink *self = (struct output_sink *)sink;
    lr_call call;
    int32_t error;
    lr_call_begin(&call, sink->job, LR_CALL_PROGRAM, NULL);
    error = self->out.write(self->user, data, size);
    lr_call_end(&call);
    return lr_io_program(sink->job, sink->name, sink->written, error, "write", false);
}

static int32_t output_patch(rec_sink *sink, uint64_t offset, const uint8_t *data, uint64_t size)
{
    struct output_sink *self = (struct output_sink *)sink;
    lr_call call;
    int32_t error;
    lr_call_begin(&call, sink->job, LR_CALL_PROGRAM, NULL);
    error = self->out.patch(self->user, offset, data, size);
    lr_call_end(&call);
    return lr_io_program(sink->job, sink->name, offset, error, "write", false);
}

static bool output_patches(const rec_sink *sink)
{
    return ((const struct output_sink *)sink)->out.patch != NULL;
}

/* The save failed: the program discards the output. */
static void give_up(const rec_output *out, void *user)
{
    lr_call call;
    lr_call_begin(&call, NULL, LR_CALL_PROGRAM, NULL);
    if (out->finish) {
        (void)out->finish(user, 0);
    }
    if (out->release) {
        out->release(user);
    }
    lr_call_end(&call);
}

/* As late as a file gets its name. */
static int32_t output_secure(rec_sink *sink)
{
    struct output_sink *self = (struct output_sink *)sink;
    lr_call call;
    int32_t error = 0;
    if (self->out.finish) {
        lr_call_begin(&call, sink->job, LR_CALL_PROGRAM, NULL);
        error = self->out.finish(self->user, 1);
        lr_call_end(&call);
        self->out.finish = NULL; /* reported */
    }
    return lr_io_program(sink->job, sink->name, REC_UNKNOWN, error, "finish", false);
}

static void output_release(rec_sink *sink)
{
    struct output_sink *self = (struct output_sink *)sink;
    give_up(&self->out, self->user); /* not reported twice */
    lr_release(sink->job->allocator, (void *)(uintptr_t)self->out.name);
}

static const lr_sink_ops output_ops = {
    .write = output_write,
    .secure = output_secure,
    .patch = output_patch,
    .patches = output_patches,
    .release = output_release,
};

void lr_output_give_back(const rec_output *output, void *user)
{
    if (output->size >= OUTPUT_LEAST && output->size <= LR_STRUCT_MOST) {
        give_up(output, user);
    }
}

rec_sink *lr_sink_output(rec_job *job, const rec_output *output, void *user)
{
    rec_output known = {0};
    struct output_sink *self = NULL;
    char *name = NULL;
    if (output->size < OUTPUT_LEAST || output->size > LR_STRUCT_MOST) {
        return LR_AS_NULL(
            rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "the output's `size` is invalid (%u)", (unsigned)output->size));
    }
    memcpy(&known, output, output->size < sizeof known ? output->size : sizeof known);
    if (!lr_job_failed(job) && !known.write) {
        (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "the output needs `write`");
    }
    if (!lr_job_failed(job)) {
        name = lr_job_strdup(job, known.name ? known.name : "(output)");
        self = name ? lr_sink_new(job, &output_ops, sizeof *self) : NULL;
    }
    if (!self) {
        lr_release(job->allocator, name);
        give_up(&known, user);
        return NULL;
    }
    self->out = known;
    self->out.name = name;
    self->user = user;
    self->sink.name = name;
    return &self->sink;
}
