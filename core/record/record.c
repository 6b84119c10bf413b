/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Records: made, copied, freed; metadata; reading values; iterating. */
#include <inttypes.h>
#include <string.h>

#include "core/io/io.h"
#include "core/record/tree.h"

const char *lr_kind_words(int32_t kind)
{
    static const char *const words[] = {
        "nil",   "a bool", "an integer", "an unsigned integer", "a float",           "a string",
        "bytes", "a list", "a map",      "an enum's variant",   "a list of numbers", "a tensor",
    };
    return kind >= 0 && (size_t)kind < sizeof words / sizeof *words ? words[kind] : "something unknown";
}

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
    lr_job_begin(&job, context, "make", NULL);
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
    return &record->origin;
}

/* ---------------------------------------------------------------------------------------------------- metadata -- */

const char *rec_metadata(const rec_record *record, const char *key)
{
    const lr_entry *entry = lr_map_find_text(&record->metadata, key, strlen(key));
    return entry ? entry->value.v.text : NULL;
}

uint64_t rec_metadata_count(const rec_record *record)
{
    return record->metadata.count;
}

rec_status rec_metadata_get(const rec_record *record, uint64_t index, const char **key, const char **value)
{
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

rec_status rec_metadata_set(rec_record *record, const char *key, const char *value)
{
    lr_map *map = &record->metadata;
    lr_entry *entry = lr_map_find_text(map, key, strlen(key));
    rec_value name, text;
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

/* ------------------------------------------------------------------------------------------------------- values -- */

const rec_value *rec_root(const rec_record *record)
{
    return &record->root;
}

int32_t rec_value_kind(const rec_value *value)
{
    return value->kind;
}

int32_t rec_value_form(const rec_value *value)
{
    return value->kind == REC_KIND_NUMBERS ? value->v.run->form : value->form;
}

rec_scalar rec_value_scalar(const rec_value *value)
{
    return lr_to_scalar(value);
}

uint64_t rec_value_count(const rec_value *value)
{
    switch (value->kind) {
    case REC_KIND_LIST:
        return value->v.list->count;
    case REC_KIND_MAP:
        return value->v.map->count;
    case REC_KIND_VARIANT:
        return value->v.variant->has_payload;
    case REC_KIND_NUMBERS:
        return value->v.run->count;
    default:
        return 0;
    }
}

const rec_value *rec_value_item(const rec_value *value, uint64_t index)
{
    if (value->kind == REC_KIND_NUMBERS || index >= rec_value_count(value)) {
        return NULL;
    }
    return value->kind == REC_KIND_LIST  ? &value->v.list->items[index]
           : value->kind == REC_KIND_MAP ? &value->v.map->entries[index].value
                                         : &value->v.variant->payload;
}

rec_scalar rec_value_key(const rec_value *value, uint64_t index)
{
    if (value->kind == REC_KIND_MAP && index < value->v.map->count) {
        return lr_to_scalar(&value->v.map->entries[index].key);
    }
    if (value->kind == REC_KIND_VARIANT && index == 0) {
        return lr_to_scalar(&value->v.variant->name);
    }
    return (rec_scalar){.kind = REC_KIND_NIL};
}

uint64_t rec_value_variant(const rec_value *value)
{
    return value->kind == REC_KIND_VARIANT ? value->v.variant->index : REC_UNKNOWN;
}

rec_scalar rec_value_number(const rec_value *value, uint64_t index)
{
    if (value->kind != REC_KIND_NUMBERS || index >= value->v.run->count) {
        return (rec_scalar){.kind = REC_KIND_NIL};
    }
    return lr_run_number(value->v.run, index);
}

const rec_tensor *rec_value_tensor(const rec_value *value)
{
    return value->kind == REC_KIND_TENSOR ? value->v.tensor : NULL;
}

const void *rec_value_bytes(const rec_value *value, uint64_t *size)
{
    if (value->kind != REC_KIND_BYTES) {
        return NULL;
    }
    if (size) {
        *size = value->v.bytes->size;
    }
    return value->v.bytes->data;
}

/* ---------------------------------------------------------------------------------------------------- iterating -- */

struct level {
    const rec_value *value;
    uint64_t next;
    size_t used; /* length of the path of the value itself */
};

struct rec_iterator {
    const rec_record *record;
    struct level *levels;
    uint64_t depth, room;
    char *path;
    size_t path_room;
    bool started;
};

rec_iterator *rec_iterate(const rec_record *record)
{
    const lr_allocator *allocator = &record->context->allocator;
    rec_iterator *iterator = lr_zalloc(allocator, sizeof *iterator);
    if (iterator) {
        iterator->record = record;
        iterator->room = 16;
        iterator->path_room = 256;
        iterator->levels = lr_alloc(allocator, iterator->room * sizeof *iterator->levels);
        iterator->path = lr_alloc(allocator, iterator->path_room);
        if (iterator->levels && iterator->path) {
            iterator->path[0] = '\0';
            lr_publish_ok();
            return iterator;
        }
        rec_iterator_free(iterator);
    }
    (void)lr_publish(REC_E_MEMORY, "out of memory");
    return NULL;
}

void rec_iterator_free(rec_iterator *iterator)
{
    if (iterator) {
        const lr_allocator *allocator = &iterator->record->context->allocator;
        lr_release(allocator, iterator->levels);
        lr_release(allocator, iterator->path);
        lr_release(allocator, iterator);
    }
}

static bool is_leaf(const rec_value *value)
{
    bool container = value->kind == REC_KIND_LIST || value->kind == REC_KIND_MAP || value->kind == REC_KIND_VARIANT;
    return !container || rec_value_count(value) == 0;
}

static bool push(rec_iterator *iterator, const rec_value *value, size_t used)
{
    if (iterator->depth == iterator->room) {
        struct level *levels =
            lr_resize(&iterator->record->context->allocator, iterator->levels, iterator->room * 2 * sizeof *levels);
        if (!levels) {
            return false;
        }
        iterator->levels = levels;
        iterator->room *= 2;
    }
    iterator->levels[iterator->depth++] = (struct level){.value = value, .used = used};
    return true;
}

/* Appends the name of a level's next child; the path buffer grows as needed. */
static bool append_child(rec_iterator *iterator, const struct level *level, size_t *used)
{
    for (;;) {
        size_t length = level->used;
        if (level->value->kind == REC_KIND_LIST) {
            length = lr_path_append_index(iterator->path, iterator->path_room, length, level->next);
        } else if (level->value->kind == REC_KIND_MAP) {
            length = lr_path_append_key(iterator->path, iterator->path_room, length,
                                        &level->value->v.map->entries[level->next].key);
        } else {
            length = lr_path_append_key(iterator->path, iterator->path_room, length, &level->value->v.variant->name);
        }
        if (length < iterator->path_room) {
            *used = length;
            return true;
        }
        {
            char *path = lr_resize(&iterator->record->context->allocator, iterator->path, length * 2);
            if (!path) {
                return false;
            }
            iterator->path = path;
            iterator->path_room = length * 2;
        }
    }
}

const rec_value *rec_iterator_next(rec_iterator *iterator, const char **path)
{
    if (path) {
        *path = iterator->path;
    }
    if (!iterator->started) {
        iterator->started = true;
        if (is_leaf(&iterator->record->root)) {
            return &iterator->record->root;
        }
        if (!push(iterator, &iterator->record->root, 0)) {
            goto memory;
        }
    }
    while (iterator->depth) {
        struct level *level = &iterator->levels[iterator->depth - 1];
        const rec_value *child;
        size_t used;
        if (level->next == rec_value_count(level->value)) {
            iterator->depth--;
            continue;
        }
        iterator->path[level->used] = '\0';
        if (!append_child(iterator, level, &used)) {
            goto memory;
        }
        child = rec_value_item(level->value, level->next++);
        if (is_leaf(child)) {
            if (path) {
                *path = iterator->path;
            }
            return child;
        }
        if (!push(iterator, child, used)) {
            goto memory;
        }
    }
    iterator->path[0] = '\0';
    return NULL;
memory:
    (void)lr_publish(REC_E_MEMORY, "out of memory");
    iterator->depth = 0;
    return NULL;
}

const rec_tensor *rec_iterator_next_tensor(rec_iterator *iterator, const char **path)
{
    const rec_value *value;
    do {
        value = rec_iterator_next(iterator, path);
    } while (value && value->kind != REC_KIND_TENSOR);
    return value ? value->v.tensor : NULL;
}
