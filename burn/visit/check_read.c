/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Reads the result back: the reader's events go to the check and to a builder, which makes the record that a load
 * would return, without its bytes. So a file passes only if it loads. */
#include "burn/visit/check_private.h"

#include <stdio.h>

#include "core/io/io.h"

/* Each event goes to both. */
typedef struct both {
    lr_check *check;
    lr_builder *builder;
} both;

static int32_t on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    both *b = self;
    int32_t status = lr_check_visitor.metadata(b->check, at, key, value);
    return status == REC_OK ? lr_builder_visitor.metadata(b->builder, at, key, value) : status;
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    both *b = self;
    int32_t status = lr_check_visitor.scalar(b->check, at, scalar);
    return status == REC_OK ? lr_builder_visitor.scalar(b->builder, at, scalar) : status;
}

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    both *b = self;
    int32_t status = lr_check_visitor.numbers(b->check, at, dtype, data, count);
    return status == REC_OK ? lr_builder_visitor.numbers(b->builder, at, dtype, data, count) : status;
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    both *b = self;
    int32_t status = lr_check_visitor.bytes(b->check, at, blob);
    return status == REC_OK ? lr_builder_visitor.bytes(b->builder, at, blob) : status;
}

static int32_t on_list_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    both *b = self;
    int32_t status = lr_check_visitor.list_begin(b->check, at, form, count);
    return status == REC_OK ? lr_builder_visitor.list_begin(b->builder, at, form, count) : status;
}

static int32_t on_map_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    both *b = self;
    int32_t status = lr_check_visitor.map_begin(b->check, at, form, count);
    return status == REC_OK ? lr_builder_visitor.map_begin(b->builder, at, form, count) : status;
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    both *b = self;
    int32_t status = lr_check_visitor.key(b->check, at, key);
    return status == REC_OK ? lr_builder_visitor.key(b->builder, at, key) : status;
}

static int32_t on_variant_begin(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    both *b = self;
    int32_t status = lr_check_visitor.variant_begin(b->check, at, index, name, payload);
    return status == REC_OK ? lr_builder_visitor.variant_begin(b->builder, at, index, name, payload) : status;
}

static int32_t on_end(void *self, uint64_t at)
{
    both *b = self;
    int32_t status = lr_check_visitor.end(b->check, at);
    return status == REC_OK ? lr_builder_visitor.end(b->builder, at) : status;
}

static int32_t on_option(void *self, uint64_t at, int32_t present)
{
    both *b = self;
    int32_t status = lr_check_visitor.option(b->check, at, present);
    return status == REC_OK ? lr_builder_visitor.option(b->builder, at, present) : status;
}

static int32_t on_tensor(void *self, uint64_t at, const rec_tensor_event *event)
{
    both *b = self;
    int32_t status = lr_check_visitor.tensor(b->check, at, event);
    return status == REC_OK ? lr_builder_visitor.tensor(b->builder, at, event) : status;
}

static int32_t on_metadata_value(void *self, uint64_t at, const rec_scalar *key)
{
    both *b = self;
    int32_t status = lr_check_visitor.metadata_value(b->check, at, key);
    return status == REC_OK ? lr_builder_visitor.metadata_value(b->builder, at, key) : status;
}

static int32_t on_list_of(void *self, uint64_t at, const char *type)
{
    both *b = self;
    int32_t status = lr_check_visitor.list_of(b->check, at, type);
    return status == REC_OK ? lr_builder_visitor.list_of(b->builder, at, type) : status;
}

static const rec_visitor visitor = {
    .size = sizeof(rec_visitor),
    .metadata = on_metadata,
    .scalar = on_scalar,
    .numbers = on_numbers,
    .bytes = on_bytes,
    .list_begin = on_list_begin,
    .map_begin = on_map_begin,
    .key = on_key,
    .variant_begin = on_variant_begin,
    .end = on_end,
    .option = on_option,
    .tensor = on_tensor,
    .metadata_value = on_metadata_value,
    .list_of = on_list_of,
};

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
    both b = {.check = c, .builder = lr_builder_new(job, REC_PRECISION_KEEP, c->tensors, NULL)};
    rec_record *record = NULL;
    bool paths;
    if (!b.builder) {
        return;
    }
    lr_builder_blind(b.builder);
    job->where = where;
    job->where_user = c;
    (void)lr_plugin_load(job, source, &visitor, &b);
    paths = c->paths;
    record = lr_builder_finish(b.builder);
    lr_builder_free(b.builder);
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
