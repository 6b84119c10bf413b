/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Reads the result back: the reader's events go to the check and to a builder, which makes the record that a load
 * would return, without its bytes. So a file passes only if it loads. */
#include "burn/visit/check_private.h"

#include <stdio.h>

#include "core/io/io.h"

static uint64_t where(void *user, char *path, size_t room)
{
    const lr_check *c = user;
    (void)snprintf(path, room, "%s", c->path);
    return c->used;
}

static void begin(lr_check *c, rec_source *source)
{
    rec_job *job = c->job;
    c->burn = job->burn;
    c->reading = true;
    c->total = rec_source_size(source);
    lr_check_rewind(c);
    job->quiet = true;
    job->burn.known = false;
    job->budget = (lr_budget){.limit = job->limits.memory_slack};
    job->input = job->beside = job->inflated = 0;
    if (c->total != REC_UNKNOWN) {
        lr_job_input(job, c->total);
    }
}

/* The job is again what it was before it loaded. */
static void end(lr_check *c, const rec_job *before)
{
    rec_job *job = c->job;
    lr_source_absent_end(job);
    job->missed = false;
    job->where = before->where;
    job->where_user = before->where_user;
    job->budget = before->budget;
    job->input = before->input;
    job->inflated = before->inflated;
    job->beside = before->beside;
    job->quiet = before->quiet;
    job->burn = before->burn;
    job->adapter = before->adapter;
    job->adapter_name = before->adapter_name;
    c->reading = false;
}

static void read_both(lr_check *c, rec_source *source, lr_check_finish finish)
{
    rec_job *job = c->job;
    lr_builder *builder = lr_builder_new(job, REC_PRECISION_KEEP, c->tensors, NULL);
    rec_record *record = NULL;
    bool paths;
    if (!builder) {
        return;
    }
    lr_builder_blind(builder);
    job->where = where;
    job->where_user = c;
    c->inner = lr_builder_visitor;
    c->inner_self = builder;
    (void)lr_plugin_load(job, source, &lr_listener_visitor, &c->listener);
    paths = c->paths;
    record = lr_builder_finish(builder);
    lr_builder_free(builder);
    if (record && finish(job, record) == REC_OK && paths && !c->flat) {
        lr_check_rewind(c);
        c->late = true;
        (void)lr_check_values(c, &record->root);
        c->late = false;
        c->paths = paths;
    }
    rec_record_free(record);
}

int32_t lr_check_read(lr_check *c, rec_source *source, lr_check_finish finish)
{
    rec_job *job = c->job;
    const rec_job before = *job;
    bool torch;
    begin(c, source);
    read_both(c, source, finish);
    if (!lr_job_failed(job)) {
        (void)lr_check_whole(c);
    }
    if (lr_job_failed(job) && !job->error.hint[0]) {
        lr_check_hint(c);
    }
    torch = !lr_job_failed(job) && c->paths && before.adapter == LR_FILE_BURN && job->adapter == LR_FILE_PYTORCH;
    end(c, &before);
    if (torch) {
        lr_note(job, REC_NOTE_LAYOUT, 1, "",
                "the file does not record Burn's module layout: it will be read as PyTorch's unless `adapter = none` "
                "is set");
    }
    return job->error.status;
}
