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

/* What the job is while it loads, and was before. */
typedef struct before {
    uint64_t (*where)(void *, char *, size_t);
    void *user;
    lr_budget budget;
    uint64_t input, beside, inflated;
    bool quiet;
    lr_job_burn burn;
    int32_t adapter;
    const char *adapter_name;
} before;

static before begin(lr_check *c, rec_source *source)
{
    rec_job *job = c->job;
    before b = {.where = job->where,
                .user = job->where_user,
                .budget = job->budget,
                .input = job->input,
                .inflated = job->inflated,
                .beside = job->beside,
                .quiet = job->quiet,
                .burn = job->burn,
                .adapter = job->adapter,
                .adapter_name = job->adapter_name};
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
    return b;
}

static void end(lr_check *c, const before *b)
{
    rec_job *job = c->job;
    lr_source_absent_end(job);
    job->missed = false;
    job->where = b->where;
    job->where_user = b->user;
    job->budget = b->budget;
    job->input = b->input;
    job->inflated = b->inflated;
    job->beside = b->beside;
    job->quiet = b->quiet;
    job->burn = b->burn;
    job->adapter = b->adapter;
    job->adapter_name = b->adapter_name;
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
    before b = begin(c, source);
    bool torch;
    read_both(c, source, finish);
    if (!lr_job_failed(job)) {
        (void)lr_check_whole(c);
    }
    if (lr_job_failed(job) && !job->error.hint[0]) {
        lr_check_hint(c);
    }
    torch = !lr_job_failed(job) && c->paths && b.adapter == LR_FILE_BURN && job->adapter == LR_FILE_PYTORCH;
    end(c, &b);
    if (torch) {
        lr_note(job, REC_NOTE_LAYOUT, 1, "",
                "the file does not record Burn's module layout: it will be read as PyTorch's unless `adapter = none` "
                "is set");
    }
    return job->error.status;
}
