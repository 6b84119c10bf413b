/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The metadata of a record: texts and other values. Readers of texts get other values as text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/record/record.h"

/* ---------------------------------------------------------------------------------------- values as their text -- */

/* The text form of another value. It lives as long as the record, also after the entry has changed. */
struct lr_metadata_text {
    lr_metadata_text *next;
    char text[];
};

void lr_metadata_free_texts(rec_record *record)
{
    const lr_allocator *allocator = &record->context->allocator;
    for (lr_metadata_text *text = record->texts; text;) {
        lr_metadata_text *next = text->next;
        lr_release(allocator, text);
        text = next;
    }
    lr_release(allocator, record->text_of);
}

/* Stores an entry's text under the record's lock, unless it has one. Takes `text`, also on failure. */
static const char *keep_text(rec_record *record, uint64_t index, lr_metadata_text *text)
{
    const lr_allocator *allocator = &record->context->allocator;
    if (index >= record->text_room) {
        uint64_t room = record->metadata.count;
        const char **texts = lr_resize(allocator, record->text_of, room * sizeof *texts);
        if (!texts) {
            lr_release(allocator, text);
            return NULL;
        }
        memset(texts + record->text_room, 0, (size_t)(room - record->text_room) * sizeof *texts);
        record->text_of = texts;
        record->text_room = room;
    }
    if (record->text_of[index]) { /* another thread was faster */
        lr_release(allocator, text);
    } else {
        text->next = record->texts;
        record->texts = text;
        record->text_of[index] = text->text;
    }
    return record->text_of[index];
}

/* NULL: out of memory, which is published. */
static const char *text_at(const rec_record *record, uint64_t index)
{
    const rec_value *value = &record->metadata.entries[index].value;
    rec_record *own = (rec_record *)record;
    const char *text;
    if (value->kind == REC_KIND_STRING) {
        return value->v.text;
    }
    (void)pthread_mutex_lock(&own->lock);
    text = index < own->text_room ? own->text_of[index] : NULL;
    (void)pthread_mutex_unlock(&own->lock);
    if (!text) { /* made without the lock, which bytes that were not read yet take */
        uint64_t length = lr_value_json(value, NULL, 0);
        lr_metadata_text *made = lr_alloc(&own->context->allocator, sizeof *made + length + 1);
        if (made) {
            (void)lr_value_json(value, made->text, length + 1);
            (void)pthread_mutex_lock(&own->lock);
            text = keep_text(own, index, made);
            (void)pthread_mutex_unlock(&own->lock);
        }
    }
    if (!text) {
        (void)lr_publish(REC_E_MEMORY, "out of memory for the text of the metadata entry `%s`",
                         record->metadata.entries[index].key.v.text);
    }
    return text;
}

/* ----------------------------------------------------------------------------------------------------- reading -- */

static const lr_entry *find(const rec_record *record, const char *key)
{
    return record && key ? lr_map_find_text(&record->metadata, key, strlen(key)) : NULL;
}

const char *rec_metadata(const rec_record *record, const char *key)
{
    const lr_entry *entry = find(record, key);
    return entry ? text_at(record, (uint64_t)(entry - record->metadata.entries)) : NULL;
}

const rec_value *rec_metadata_value(const rec_record *record, const char *key)
{
    const lr_entry *entry = find(record, key);
    return entry ? &entry->value : NULL;
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
        const char *text = text_at(record, index);
        if (!text) {
            return REC_E_MEMORY;
        }
        *value = text;
    }
    lr_publish_ok();
    return REC_OK;
}

/* Burn's five, and what sets them. */
static const struct {
    const char *key, *how;
} burns[] = {
    {"float", "open the output recorder at the intended precision"},
    {"int", "open the output recorder at the intended precision"},
    {"settings", "open the output recorder at the intended precision"},
    {"format", "save with the intended recorder"},
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

/* ----------------------------------------------------------------------------------------------------- setting -- */

/* Takes an entry out. */
static void drop(rec_record *record, lr_entry *entry)
{
    lr_map *map = &record->metadata;
    uint64_t index = (uint64_t)(entry - map->entries);
    memmove(entry, entry + 1, (size_t)(map->count - index - 1) * sizeof *entry);
    map->count--;
    (void)lr_map_index(&record->arena, map, NULL);
    if (index < record->text_room) {
        const char **at = record->text_of + index;
        memmove(at, at + 1, (size_t)(record->text_room - index - 1) * sizeof *at);
        record->text_of[record->text_room - 1] = NULL;
    }
}

/* Gives a key its value, which lies in the record's arena. */
static rec_status put(rec_record *record, const char *key, const rec_value *value)
{
    lr_map *map = &record->metadata;
    lr_entry *entry = lr_map_find_text(map, key, strlen(key));
    rec_value name;
    if (!entry) {
        entry = lr_string(&record->arena, key, strlen(key), &name) ? lr_map_append(&record->arena, map, name) : NULL;
        if (!entry) {
            return lr_publish(REC_E_MEMORY, "out of memory");
        }
    }
    entry->value = *value;
    if ((uint64_t)(entry - map->entries) < record->text_room) {
        record->text_of[entry - map->entries] = NULL;
    }
    lr_publish_ok();
    return REC_OK;
}

/* @param text what it would become, NULL: nothing, or no text. */
static bool may_set(const rec_record *record, const char *key, const char *text, bool removed)
{
    const lr_entry *entry = find(record, key);
    bool same = removed
                    ? !entry
                    : entry && text && entry->value.kind == REC_KIND_STRING && strcmp(entry->value.v.text, text) == 0;
    if (!lr_metadata_is_burns(key) || lr_record_is_foreign(record) || same) {
        return true;
    }
    return LR_AS_FALSE(lr_publish(REC_E_ARGUMENT,
                                  "the metadata `%s` describe how the record is written and cannot be set: %s", key,
                                  burns[burns_index(key)].how));
}

rec_status rec_metadata_set(rec_record *record, const char *key, const char *value)
{
    lr_entry *entry;
    rec_value text;
    if (LR_NULL(record) || LR_NULL(key) || !may_set(record, key, value, !value)) {
        return REC_E_ARGUMENT;
    }
    if (!value) {
        entry = lr_map_find_text(&record->metadata, key, strlen(key));
        if (entry) {
            drop(record, entry);
        }
        lr_publish_ok();
        return REC_OK;
    }
    if (!lr_string(&record->arena, value, strlen(value), &text)) {
        return lr_publish(REC_E_MEMORY, "out of memory");
    }
    return put(record, key, &text);
}

/* --------------------------------------------------------------------------------------------------------- types -- */

static int32_t fail_types(rec_job *job, const rec_record *record, int32_t status, const char *key)
{
    if (status == REC_E_MEMORY) {
        return lr_fail_arena(job, &record->arena, 0);
    }
    lr_note(job, REC_NOTE_DROPPED, 1, "",
            "the metadata entry `%.200s` is not of the type that " LR_METADATA_TYPES " says: kept without it", key);
    return REC_OK;
}

int32_t lr_metadata_apply_types(rec_job *job, rec_record *record)
{
    lr_entry *own = lr_map_find_text(&record->metadata, LR_METADATA_TYPES, strlen(LR_METADATA_TYPES));
    rec_value types = {0};
    int32_t status = !own ? REC_OK
                     : own->value.kind == REC_KIND_STRING
                         ? lr_value_read_json(record, own->value.v.text, own->value.length, &types)
                         : REC_E_FORMAT;
    if (!own) {
        return REC_OK;
    }
    drop(record, own);
    if (status != REC_OK || types.kind != REC_KIND_MAP) {
        return fail_types(job, record, status, LR_METADATA_TYPES);
    }
    for (uint64_t i = 0; i < types.v.map->count; i++) {
        const lr_entry *type = &types.v.map->entries[i];
        lr_entry *entry = lr_map_find_text(&record->metadata, type->key.v.text, type->key.length);
        if (!entry || (lr_metadata_is_burns(type->key.v.text) && !lr_record_is_foreign(record))) {
            continue; /* another program removed it, or Burn's own text */
        }
        status = lr_value_apply_type(record, &entry->value, &type->value);
        if (status != REC_OK && fail_types(job, record, status, type->key.v.text) != REC_OK) {
            return job->error.status;
        }
    }
    return REC_OK;
}

uint64_t rec_value_type(const rec_value *value, char *text, uint64_t room)
{
    lr_json_line line = {.text = text, .room = room};
    if (room) {
        *text = '\0';
    }
    if (!value || value->kind == REC_KIND_TENSOR) {
        return 0;
    }
    lr_value_put_type(&line, value);
    if (line.used < room) {
        bool word = *text == '"';
        line.used -= word ? 2 : 0;
        memmove(text, text + word, (size_t)line.used);
        text[line.used] = '\0';
    }
    return line.used;
}

/* The type of a value that is to be set: a word, or that of the value before. */
static int32_t type_to_set(rec_record *record, const char *key, const char *type, rec_value *made)
{
    const lr_entry *entry = find(record, key);
    lr_json_line line = {0};
    char *text;
    if (type || !entry) {
        type = type ? type : "str";
        return lr_string(&record->arena, type, strlen(type), made) ? REC_OK : REC_E_MEMORY;
    }
    lr_value_put_type(&line, &entry->value);
    line = (lr_json_line){.text = lr_arena_alloc(&record->arena, line.used + 1, 1), .room = line.used + 1};
    text = line.text;
    if (!text) {
        return REC_E_MEMORY;
    }
    lr_value_put_type(&line, &entry->value);
    return lr_value_read_json(record, text, line.used, made);
}

/* A type without what it says of single elements: those of the new value may be others. */
static void common_type(rec_record *record, rec_value *type)
{
    const lr_entry *of = type->kind == REC_KIND_MAP ? lr_map_find_text(type->v.map, "", 0) : NULL;
    const char *bits = type->kind == REC_KIND_STRING ? memchr(type->v.text, ':', type->length) : NULL;
    char text[32];
    if (bits) {
        type->length = (uint32_t)(bits - type->v.text);
    } else if (of && of->value.kind == REC_KIND_STRING && of->value.length < 16) {
        size_t length = (size_t)snprintf(text, sizeof text, of->value.length ? "[%.*s]" : "list", (int)of->value.length,
                                         of->value.v.text);
        (void)lr_string(&record->arena, text, length, type);
    } else if (type->kind == REC_KIND_MAP) {
        (void)lr_string(&record->arena, "map", 3, type);
    }
}

rec_status rec_metadata_set_as(rec_record *record, const char *key, const char *type, const char *text)
{
    rec_value value, word = {0};
    int32_t status;
    if (LR_NULL(record) || LR_NULL(key) || LR_NULL(text) || !may_set(record, key, text, false)) {
        return REC_E_ARGUMENT;
    }
    status = type_to_set(record, key, type, &word);
    if (status == REC_OK) {
        common_type(record, &word);
        status = lr_string(&record->arena, text, strlen(text), &value) ? REC_OK : REC_E_MEMORY;
    }
    status = status == REC_OK ? lr_value_apply_type(record, &value, &word) : status;
    if (status == REC_E_MEMORY) {
        return lr_publish(REC_E_MEMORY, "out of memory");
    }
    return status == REC_OK ? put(record, key, &value)
                            : lr_publish(REC_E_ARGUMENT, "the metadata `%s`: expected a value of the type %.*s", key,
                                         word.kind == REC_KIND_STRING ? (int)word.length : 3,
                                         word.kind == REC_KIND_STRING ? word.v.text : "map");
}

rec_status rec_metadata_set_value(rec_record *record, const char *key, const rec_value *value)
{
    rec_value copy;
    if (LR_NULL(record) || LR_NULL(key)) {
        return REC_E_ARGUMENT;
    }
    if (!value) {
        return rec_metadata_set(record, key, NULL);
    }
    if (!may_set(record, key, value->kind == REC_KIND_STRING ? value->v.text : NULL, false)) {
        return REC_E_ARGUMENT;
    }
    if (lr_value_tensors(value, NULL)) { /* metadata come before all tensors */
        return lr_publish(REC_E_ARGUMENT, "the metadata `%s` would hold a tensor: tensors are in the record itself",
                          key);
    }
    if (!lr_value_copy(record, value, &copy)) {
        return lr_publish(REC_E_MEMORY, "out of memory");
    }
    return put(record, key, &copy);
}
