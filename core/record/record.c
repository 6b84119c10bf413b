/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Records: made, copied, freed; and their metadata. */
#include <inttypes.h>
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
    record->context = context;
    record->burn_minor = -1;
    record->origin = (rec_origin){
        .size = sizeof(rec_origin), .recorder = "", .file = "", .stored = REC_UNKNOWN, .inflated = REC_UNKNOWN};
    lr_arena_init(&record->arena, &context->allocator);
    record->root = lr_nil(REC_FORM_UNKNOWN);
    if (pthread_mutex_init(&record->lock, NULL) != 0) {
        lr_release(&context->allocator, record);
        return NULL;
    }
    return record;
}

/* Typed views are not in the arena: they are found through the tensors. */
static void free_views(rec_value *value)
{
    switch (value->kind) {
    case REC_KIND_TENSOR:
        lr_tensor_free_views(value->v.tensor);
        break;
    case REC_KIND_LIST:
        for (uint64_t i = 0; i < value->v.list->count; i++) {
            free_views(&value->v.list->items[i]);
        }
        break;
    case REC_KIND_MAP:
        for (uint64_t i = 0; i < value->v.map->count; i++) {
            free_views(&value->v.map->entries[i].value);
        }
        break;
    case REC_KIND_VARIANT:
        free_views(&value->v.variant->payload);
        break;
    default:
        break;
    }
}

void rec_record_free(rec_record *record)
{
    const lr_allocator *allocator;
    if (!record) {
        return;
    }
    allocator = &record->context->allocator;
    free_views(&record->root);
    for (lr_data *data = record->held; data; data = data->next) {
        rec_source_release(data->source);
    }
    lr_arena_free(&record->arena);
    (void)pthread_mutex_destroy(&record->lock);
    lr_release(allocator, record);
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
        if (!lr_map_index(&copy->arena, &copy->metadata, NULL)) { /* an index fits the map at its own address */
            goto failed;
        }
        copy->burn_minor = record->burn_minor;
        copy->precision = record->precision;
        copy->clamp = record->clamp;
        copy->parameters = record->parameters;
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

/* ---------------------------------------------------------------------------------------------------- metadata -- */

const char *rec_metadata(const rec_record *record, const char *key)
{
    const lr_entry *entry = record && key ? lr_map_find_text(&record->metadata, key, strlen(key)) : NULL;
    return entry ? entry->value.v.text : NULL;
}

uint64_t rec_metadata_count(const rec_record *record)
{
    return record ? record->metadata.count : 0;
}

rec_status rec_metadata_get(const rec_record *record, uint64_t index, const char **key, const char **value)
{
    if (LR_NULL(record)) {
        return REC_E_ARGUMENT;
    }
    if (index >= record->metadata.count) {
        return lr_publish(REC_E_ARGUMENT, "rec_metadata_get: there is no entry %" PRIu64 " among %" PRIu64, index,
                          record->metadata.count);
    }
    if (key) {
        *key = record->metadata.entries[index].key.v.text;
    }
    if (value) {
        *value = record->metadata.entries[index].value.v.text;
    }
    lr_publish_ok();
    return REC_OK;
}

/* Burn's five, and what sets them. */
static const struct {
    const char *key, *how;
} burns[] = {
    {"float", "open the recorder that saves at the precision that is meant"},
    {"int", "open the recorder that saves at the precision that is meant"},
    {"settings", "open the recorder that saves at the precision that is meant"},
    {"format", "save with the recorder that is meant"},
    {"version", "set the option layout of the recorder that saves"},
};

static size_t burns_index(const char *key)
{
    size_t i = 0;
    while (i < sizeof burns / sizeof *burns && strcmp(burns[i].key, key) != 0) {
        i++;
    }
    return i;
}

bool lr_metadata_is_burns(const char *key)
{
    return burns_index(key) < sizeof burns / sizeof *burns;
}

bool lr_record_is_foreign(const rec_record *record)
{
    return record->root.kind == REC_KIND_MAP && record->root.form == REC_FORM_PATHS;
}

rec_status rec_metadata_set(rec_record *record, const char *key, const char *value)
{
    lr_map *map;
    lr_entry *entry;
    rec_value name, text;
    if (LR_NULL(record) || LR_NULL(key)) {
        return REC_E_ARGUMENT;
    }
    map = &record->metadata;
    entry = lr_map_find_text(map, key, strlen(key));
    if (lr_metadata_is_burns(key) && !lr_record_is_foreign(record) &&
        (entry ? !value || strcmp(entry->value.v.text, value) != 0 : value != NULL)) {
        return lr_publish(REC_E_ARGUMENT, "the metadata `%s` tell how a record is written, and are not set: %s", key,
                          burns[burns_index(key)].how);
    }
    if (!value) {
        if (entry) {
            uint64_t index = (uint64_t)(entry - map->entries);
            memmove(entry, entry + 1, (size_t)(map->count - index - 1) * sizeof *entry);
            map->count--;
            (void)lr_map_index(&record->arena, map, NULL);
        }
        lr_publish_ok();
        return REC_OK;
    }
    if (!lr_string(&record->arena, value, strlen(value), &text)) {
        return lr_publish(REC_E_MEMORY, "out of memory");
    }
    if (!entry) {
        if (!lr_string(&record->arena, key, strlen(key), &name)) {
            return lr_publish(REC_E_MEMORY, "out of memory");
        }
        entry = lr_map_append(&record->arena, map, name);
        if (!entry) {
            return lr_publish(REC_E_MEMORY, "out of memory");
        }
    }
    entry->value = text;
    lr_publish_ok();
    return REC_OK;
}
