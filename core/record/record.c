/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Records: made, copied, freed. */
#include <string.h>

#include "core/config/config.h"
#include "core/io/io.h"
#include "core/record/record.h"

rec_record *lr_record_new(rec_context *context)
{
    rec_record *record = lr_zalloc(&context->allocator, sizeof *record);
    if (!record) {
        return NULL;
    }
    record->burn_minor = -1;
    record->origin = (rec_origin){
        .size = sizeof(rec_origin), .recorder = "", .file = "", .stored = REC_UNKNOWN, .inflated = REC_UNKNOWN};
    lr_arena_init(&record->arena, &context->allocator);
    lr_arena_init(&record->flat_arena, &context->allocator);
    record->root = lr_nil(REC_FORM_UNKNOWN);
    if (!lr_lock_init(&record->lock)) {
        lr_release(&context->allocator, record);
        return NULL;
    }
    record->context = lr_context_retain(context);
    return record;
}

static bool free_views(rec_tensor *tensor)
{
    lr_tensor_free_views(tensor);
    return false;
}

void lr_value_free_views(rec_value *value)
{
    (void)lr_value_tensors(value, free_views);
}

void rec_record_free(rec_record *record)
{
    rec_context *context;
    if (!record) {
        return;
    }
    context = record->context;
    lr_value_free_views(&record->root);
    for (lr_data *data = record->held; data; data = data->next) {
        lr_source_release(data->source);
    }
    lr_metadata_free_texts(record);
    lr_release(&context->allocator, record->edited);
    lr_arena_free(&record->arena);
    lr_arena_free(&record->flat_arena);
    (void)pthread_mutex_destroy(&record->lock);
    lr_release(&context->allocator, record);
    lr_context_release(context);
}

int32_t lr_record_check_whole(rec_job *job, const rec_record *record, bool sizes_too)
{
    const rec_source *last = NULL;
    for (const lr_data *data = record->held; data && !lr_job_failed(job); data = data->next) {
        if (data->source != last) {
            (void)lr_source_check_whole(job, data->source, sizes_too);
        }
        last = data->source;
    }
    return job->error.status;
}

rec_status rec_guard_check(const rec_record *record)
{
    rec_job job;
    lr_job_begin(&job, record ? record->context : NULL, "check", NULL);
    (void)(record ? lr_record_check_whole(&job, record, true) : lr_watch_any(&job));
    return lr_job_end(&job);
}

rec_record *rec_record_new(rec_context *context)
{
    rec_job job;
    rec_record *record = NULL;
    lr_job_open(&job, context, "make", NULL);
    if (!lr_job_failed(&job)) {
        record = lr_record_new(job.context);
        if (record) {
            record->root = (rec_value){.kind = REC_KIND_MAP};
            record->root.v.map = lr_map_new(&record->arena, 0);
        }
        if (!record || !record->root.v.map) {
            if (record) {
                record->root = lr_nil(REC_FORM_UNKNOWN);
            }
            rec_record_free(record);
            record = NULL;
            (void)lr_fail_memory(&job, sizeof *record);
        }
    }
    (void)lr_job_end(&job);
    return record;
}

bool lr_record_set_settings(rec_record *record, const char *texts, uint64_t size)
{
    record->settings = size ? lr_arena_text(&record->arena, texts, size) : NULL;
    record->settings_size = record->settings ? size : 0;
    return record->settings_size == size;
}

rec_record *rec_record_copy(const rec_record *record)
{
    rec_job job;
    rec_record *copy;
    rec_value metadata = {.kind = REC_KIND_MAP}, meta_copy = {0};
    if (LR_NULL(record)) {
        return NULL;
    }
    lr_job_begin(&job, record->context, "copy", NULL);
    copy = lr_record_new(record->context);
    metadata.v.map = (lr_map *)&record->metadata;
    if (copy && lr_value_copy(copy, &metadata, &meta_copy)) {
        rec_value root;
        copy->metadata = *meta_copy.v.map;
        copy->metadata.index = NULL;
        if (!lr_map_index(&copy->arena, &copy->metadata, NULL)) { /* an index fits the map at its own address */
            goto failed;
        }
        copy->burn_minor = record->burn_minor;
        copy->format_minor = record->format_minor;
        copy->precision = record->precision;
        copy->clamp = record->clamp;
        copy->adapter = record->adapter;
        copy->adapter_name = NULL;
        if (record->adapter_name) {
            copy->adapter_name = lr_arena_text(&copy->arena, record->adapter_name, strlen(record->adapter_name));
            if (!copy->adapter_name) {
                goto failed;
            }
        }
        if (!lr_record_set_settings(copy, record->settings, record->settings_size)) {
            goto failed;
        }
        copy->flat = record->flat;
        copy->dotted = record->dotted;
        copy->states = record->states;
        copy->hollow = record->hollow;
        copy->origin.mapped = record->origin.mapped;
        copy->origin.layout = record->origin.layout;
        if (lr_value_copy(copy, &record->root, &root)) {
            copy->root = root;
            (void)lr_job_end(&job);
            return copy;
        }
    }
failed:
    rec_record_free(copy);
    (void)lr_fail_memory(&job, sizeof *copy);
    (void)lr_job_end(&job);
    return NULL;
}

const rec_origin *rec_record_origin(const rec_record *record)
{
    static const rec_origin nowhere = {
        .size = sizeof nowhere, .recorder = "", .file = "", .stored = REC_UNKNOWN, .inflated = REC_UNKNOWN};
    return record ? &record->origin : &nowhere;
}
