/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The open containers of a record that is being built: their elements and entries, and what they become at their end.
 * Burn's layout is recognised when a map ends. Bytes that their source does not keep, or to which a caller gets a
 * pointer, are read at once. */
#include "burn/visit/builder_private.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/io/io.h"

/* ------------------------------------------------------------------------------------------------------- bytes -- */

lr_data *lr_builder_read(lr_builder *b, const rec_blob *blob)
{
    lr_pages pages = {.allocator = b->job->allocator};
    rec_source *source;
    lr_data *data = NULL;
    lr_source_step_end(b->job); /* from here on it is no header alone that is read */
    if (!lr_budget_take(&b->job->budget, blob->length)) {
        (void)lr_fail_budget(b->job, "data");
    } else if (!lr_pages_grow(&pages, blob->length ? blob->length : 1)) {
        (void)lr_fail_memory(b->job, blob->length);
    } else if (rec_blob_read(b->job, blob, 0, pages.data, blob->length) == REC_OK) {
        source = lr_source_kept(b->job, &pages, blob->length);
        if (source) {
            data = lr_data_lent(b->record, source, lr_source_in_memory(source, 0, blob->length), blob->length,
                                REC_UNKNOWN);
            lr_source_release(source);
            if (!data) {
                (void)lr_fail_arena(b->job, &b->record->arena, sizeof *data);
            }
        }
    }
    lr_pages_free(&pages);
    return data;
}

/* Reads the bytes of a value that is no tensor's, or marks the load to be repeated where they are gone. */
static int32_t settle_bytes(lr_builder *b, rec_value *value)
{
    const lr_data *data = value->v.bytes;
    rec_blob blob = {.size = sizeof blob,
                     .kind = REC_BLOB_RANGE,
                     .length = data->size,
                     .source = data->source,
                     .offset = data->offset};
    if (data->data || !data->size) {
        return REC_OK;
    }
    if (data->source == b->job->absent) {
        b->job->missed = true;
        return REC_OK;
    }
    value->v.bytes = lr_builder_read(b, &blob);
    return value->v.bytes ? REC_OK : b->job->error.status;
}

/* ---------------------------------------------------------------------------------------------------- metadata -- */

/* Applies the metadata, unless decided before. */
static int32_t settle(lr_builder *b)
{
    lr_burn before = b->burn;
    b->burn = lr_burn_of(&b->record->metadata);
    b->job->burn.told = b->burn.minor >= 0;
    b->burn.minor = b->job->burn.forced ? b->job->burn.forced : b->burn.minor;
    if (b->second && (before.minor != b->burn.minor || before.precision != b->burn.precision)) {
        return lr_breach(b->job, b->at, "sent other metadata when it read the file again");
    }
    b->job->burn.minor = b->burn.minor >= 0 ? b->burn.minor : LR_BURN_NOW;
    b->job->burn.precision = b->burn.precision;
    b->job->burn.known = true;
    return REC_OK;
}

/* C strings would truncate such a key. */
static int32_t fail_nul(lr_builder *b)
{
    return rec_fail_found(b->job, REC_E_FORMAT, b->at, "a map with texts as keys", "a key with a NUL in it");
}

/* The metadata of a record, as a value. */
static int32_t take_metadata(lr_builder *b, const rec_value *value)
{
    if (value->kind != REC_KIND_MAP) {
        return rec_fail_found(b->job, REC_E_FORMAT, b->at, "a map of texts", "%s", lr_kind_words(value->kind));
    }
    for (uint64_t i = 0; i < value->v.map->count; i++) {
        const rec_value *key = &value->v.map->entries[i].key;
        if (key->kind != REC_KIND_STRING) {
            char name[128];
            (void)lr_path_append_key(name, sizeof name, 0, true, key);
            return rec_fail_found(b->job, REC_E_FORMAT, b->at, "a map with texts as keys", "%s as key `%s`",
                                  lr_kind_words(key->kind), name);
        }
        if (memchr(key->v.text, '\0', key->length)) {
            return fail_nul(b);
        }
    }
    b->record->metadata = *value->v.map;
    b->record->metadata.index = NULL; /* an index fits the map at its own address */
    if (!lr_map_index(&b->record->arena, &b->record->metadata, NULL)) {
        return lr_fail_arena(b->job, &b->record->arena, 64);
    }
    return lr_builder_metadata_check(b) == REC_OK ? settle(b) : b->job->error.status;
}

int32_t lr_builder_metadata_check(lr_builder *b)
{
    const lr_map *metadata = &b->record->metadata;
    for (uint64_t i = 0; i < metadata->count; i++) {
        const lr_entry *entry = &metadata->entries[i];
        if (entry->value.kind != REC_KIND_STRING && lr_metadata_is_burns(entry->key.v.text)) {
            return rec_fail_found(b->job, REC_E_FORMAT, b->at, "a text as Burn's own metadata", "%s as value of `%s`",
                                  lr_kind_words(entry->value.kind), entry->key.v.text);
        }
    }
    return REC_OK;
}

int32_t lr_builder_metadata_begin(lr_builder *b, const rec_scalar *key)
{
    const lr_map *metadata = &b->record->metadata;
    const lr_entry *before = lr_map_find(metadata, key);
    if (before) {
        return rec_fail(b->job, REC_E_FORMAT, b->at,
                        "the metadata key `%.*s` occurs twice, as entries %" PRIu64 " and %" PRIu64,
                        (int)(key->v.length < 200 ? key->v.length : 200), key->text,
                        (uint64_t)(before - metadata->entries) + 1, metadata->count + 1);
    }
    if (key->v.length && memchr(key->text, '\0', (size_t)key->v.length)) {
        return fail_nul(b);
    }
    if (!lr_from_scalar(&b->record->arena, key, &b->entry_key)) {
        return lr_fail_arena(b->job, &b->record->arena, 64);
    }
    b->entry = true;
    return REC_OK;
}

/* The value of an entry in a format that speaks tensors itself. */
static int32_t end_entry(lr_builder *b, const rec_value *value)
{
    lr_entry *entry = lr_map_append(&b->record->arena, &b->record->metadata, b->entry_key);
    if (!entry) {
        return lr_fail_arena(b->job, &b->record->arena, sizeof *entry);
    }
    entry->value = *value;
    b->entry = false;
    return settle(b);
}

int32_t lr_builder_metadata_pair(lr_builder *b, const rec_scalar *key, const rec_scalar *value)
{
    rec_value text;
    if (lr_builder_metadata_begin(b, key) != REC_OK) {
        return b->job->error.status;
    }
    if (!lr_from_scalar(&b->record->arena, value, &text)) {
        return lr_fail_arena(b->job, &b->record->arena, 64);
    }
    return end_entry(b, &text);
}

/* The outermost map {metadata, item, _b}: item becomes the root. */
int32_t lr_builder_unwrap(lr_builder *b)
{
    const rec_value root = b->record->root;
    const lr_entry *item = NULL;
    const lr_entry *metadata = NULL;
    if (root.kind == REC_KIND_MAP) {
        item = lr_map_find_text(root.v.map, "item", 4);
        metadata = lr_map_find_text(root.v.map, "metadata", 8);
    }
    b->record->root = lr_nil(REC_FORM_UNKNOWN);
    if (root.kind == REC_KIND_MAP && root.v.map->count == 1 && lr_map_find_text(root.v.map, "StateNamed", 10)) {
        (void)rec_fail(b->job, REC_E_UNSUPPORTED, 0, "this is a state of Burn 0.6 or older, which had no records yet");
        rec_fail_hint(b->job, "Only the Burn that wrote it can load it.");
        return b->job->error.status;
    }
    if (!item || !metadata) {
        (void)rec_fail_found(b->job, REC_E_FORMAT, 0, "a Burn record: a map of `metadata` and `item`", "%s%s",
                             lr_kind_words(root.kind),
                             root.kind != REC_KIND_MAP ? ""
                             : item                    ? " without `metadata`"
                             : metadata                ? " without `item`"
                                                       : " without either");
        return b->job->error.status;
    }
    for (uint64_t i = 0; i < root.v.map->count; i++) {
        const lr_entry *entry = &root.v.map->entries[i];
        if (entry != item && entry != metadata && !lr_value_is(&entry->key, "_b")) {
            char name[128];
            (void)lr_path_append_key(name, sizeof name, 0, true, &entry->key);
            lr_note(b->job, REC_NOTE_DROPPED, 1, name, "not part of a Burn record (`metadata`, `item`): left out");
        }
    }
    b->record->root = item->value;
    return REC_OK;
}

/* -------------------------------------------------------------------------------------------------- containers -- */

enum { IN_PLACE_FROM = 4 };

/* Whether a frame is a parameter whose tensor is being read: {id: "…", param: … */
static bool in_param(const lr_builder *b, const lr_frame *f)
{
    return f->count == 1 && !f->map && lr_value_is(&f->key, "param") && lr_value_is(&b->stack[f->base], "id") &&
           b->stack[f->base + 1].kind == REC_KIND_STRING;
}

/* In formats of Burn's maps the outermost level is the record itself: `item` is not part of a path. Neither is `param`,
 * since the tensor will be where the parameter is. */
uint64_t lr_builder_where(void *user, char *path, size_t room)
{
    const lr_builder *b = user;
    size_t used = 0, length;
    bool first = true;
    if (room) {
        path[0] = '\0';
    }
    if (b->entry) {
        used = lr_path_append(path, room, used, true, "metadata", 8);
        used = lr_path_append_key(path, room, used, false, &b->entry_key);
        first = false;
    }
    for (uint64_t i = 0; i < b->depth; i++) {
        const lr_frame *f = &b->frames[i];
        if (f->kind == REC_KIND_LIST) {
            uint64_t index = f->count + (f->run ? b->runner.count : 0);
            used = lr_path_append_index(path, room, used, first, index);
        } else if (f->kind == REC_KIND_VARIANT) {
            used = lr_path_append_key(path, room, used, first, &f->variant->name);
        } else if (f->has_key && f->form == REC_FORM_PATHS) { /* the outermost */
            used = f->key.length;
            length = used < room ? used : room - (room > 0);
            if (room) {
                memcpy(path, f->key.v.text, length);
                path[length] = '\0';
            }
        } else if (f->has_key && (b->tensors || (i ? !in_param(b, f) : !lr_value_is(&f->key, "item")))) {
            used = lr_path_append_key(path, room, used, first, &f->key);
        } else {
            continue; /* it is no part of the path */
        }
        first = false;
    }
    return used;
}

static int32_t push(lr_builder *b, rec_value value)
{
    if (!lr_job_grow_counted(b->job, &b->stack, b->count + 1, &b->room, sizeof value)) {
        return b->job->error.status;
    }
    b->stack[b->count++] = value;
    return REC_OK;
}

/* What its elements take. */
static uint64_t size_of(const lr_frame *f)
{
    uint64_t size;
    return lr_mul(f->announced, f->kind == REC_KIND_LIST ? sizeof(rec_value) : sizeof(lr_entry), &size) ? size
                                                                                                        : UINT64_MAX;
}

/* The place in the arena of a list or map that is not small, once it is known to be needed. */
int32_t lr_builder_in_place(lr_builder *b, lr_frame *f)
{
    if (f->announced == REC_UNKNOWN || f->announced < IN_PLACE_FROM || f->list || f->map || f->count) {
        return REC_OK;
    }
    if (f->kind == REC_KIND_LIST) {
        f->list = lr_list_new(&b->record->arena, f->announced);
    } else {
        f->map = lr_map_new(lr_builder_arena(b, f), f->announced);
    }
    return f->list || f->map ? REC_OK : lr_fail_arena(b->job, lr_builder_arena(b, f), size_of(f));
}

int32_t lr_builder_add(lr_builder *b, lr_frame *f, rec_value value)
{
    if (lr_builder_in_place(b, f) != REC_OK) {
        return b->job->error.status;
    }
    f->count++;
    if (f->list) {
        f->list->items[f->list->count++] = value;
        return REC_OK;
    }
    return push(b, value);
}

/* Numbers that were held back become items: the list is a mixed one. */
int32_t lr_builder_unpack(lr_builder *b, lr_frame *f)
{
    uint64_t count = b->runner.count;
    if (!f->run) {
        return REC_OK;
    }
    f->run = false;
    for (uint64_t i = 0; i < count; i++) {
        rec_scalar number = lr_runner_number(&b->runner, i);
        rec_value value = lr_nil(REC_FORM_UNKNOWN);
        bool nil = b->runner.nils && lr_float_nil(number.v.f);
        if ((!nil && !lr_from_scalar(&b->record->arena, &number, &value)) || lr_builder_add(b, f, value) != REC_OK) {
            return lr_job_failed(b->job) ? b->job->error.status : lr_fail_arena(b->job, &b->record->arena, 1);
        }
    }
    lr_runner_clear(&b->runner);
    return REC_OK;
}

/* Takes a value that is complete. */
int32_t lr_builder_emit(lr_builder *b, rec_value value)
{
    lr_frame *f;
    b->owed = false;
    if (!b->depth) {
        if (b->entry) {
            return end_entry(b, &value);
        }
        b->job->adapting = false;
        b->record->root = value;
        return REC_OK;
    }
    f = &b->frames[b->depth - 1];
    if (f->kind == REC_KIND_LIST) {
        return lr_builder_unpack(b, f) == REC_OK ? lr_builder_add(b, f, value) : b->job->error.status;
    }
    if (f->kind == REC_KIND_VARIANT) {
        f->variant->payload = value;
        f->count = 1;
        return REC_OK;
    }
    if (b->depth == 1 && !b->tensors && lr_value_is(&f->key, "metadata") && take_metadata(b, &value) != REC_OK) {
        return b->job->error.status;
    }
    f->has_key = false;
    f->count++;
    if (f->map) {
        f->map->entries[f->map->count++] = (lr_entry){.key = f->key, .value = value};
        return REC_OK;
    }
    return push(b, f->key) == REC_OK ? push(b, value) : b->job->error.status;
}

lr_frame *lr_builder_open(lr_builder *b, uint64_t at, int32_t kind, int32_t form, uint64_t announced)
{
    lr_frame *f;
    b->at = at;
    b->owed = false;
    if (b->depth && b->frames[b->depth - 1].kind == REC_KIND_LIST &&
        lr_builder_unpack(b, &b->frames[b->depth - 1]) != REC_OK) {
        return NULL;
    }
    if (!lr_job_grow_counted(b->job, &b->frames, b->depth + 1, &b->frame_room, sizeof *f)) {
        return NULL;
    }
    if (!b->depth && !b->entry) {
        b->job->adapting = false;
        b->record->adapter = b->job->adapter;
        if (b->job->adapter_name && lr_adapter_kind(b->job->adapter_name) == LR_FILE_FOREIGN &&
            strcmp(b->job->adapter_name, "foreign") != 0) {
            b->record->adapter_name =
                lr_arena_text(&b->record->arena, b->job->adapter_name, strlen(b->job->adapter_name));
            if (!b->record->adapter_name) {
                (void)lr_fail_arena(b->job, &b->record->arena, LR_NAME_MOST);
                return NULL;
            }
        }
        b->record->flat = form == REC_FORM_PATHS;
    }
    f = &b->frames[b->depth++];
    *f = (lr_frame){.kind = kind, .form = form, .at = at, .announced = announced, .base = b->count};
    return f;
}

static int32_t fail_twice(lr_builder *b, const lr_frame *f, const lr_map *map, const lr_entry *twice)
{
    char name[128];
    rec_scalar key = lr_to_scalar(&twice->key);
    uint64_t first = 0, second = (uint64_t)(twice - map->entries);
    while (first < second && !lr_scalar_equal(&map->entries[first].key, &key)) {
        first++;
    }
    (void)lr_path_append_key(name, sizeof name, 0, true, &twice->key);
    return rec_fail(b->job, REC_E_FORMAT, f->at,
                    "the key `%s` occurs twice in one map, as entries %" PRIu64 " and %" PRIu64, name, first + 1,
                    second + 1);
}

/* Gives a list of metadata the type that was announced. */
static int32_t set_of(lr_builder *b, const lr_frame *f, rec_value *value)
{
    char text[16];
    rec_value type = {.kind = REC_KIND_STRING, .v.text = text};
    int32_t status;
    if (!f->of) {
        return REC_OK;
    }
    type.length = (uint32_t)snprintf(text, sizeof text, "[%s]", lr_list_of_word(f->of));
    if (f->of == LR_OF_TEXTS || f->of == LR_OF_LISTS) { /* a string that is not UTF-8 came as bytes */
        value->bits = f->of;
        return value->kind == REC_KIND_LIST ? REC_OK
                                            : lr_breach(b->job, b->at, "sent numbers in a list of texts or lists");
    }
    status = lr_value_apply_type(b->record, value, &type);
    return status == REC_E_MEMORY ? lr_fail_arena(b->job, &b->record->arena, 64)
           : status != REC_OK     ? lr_breach(b->job, b->at, "sent elements that are not of the type of their list")
                                  : REC_OK;
}

int32_t lr_builder_end_list(lr_builder *b, const lr_frame *f, rec_value *value)
{
    lr_list *list = f->list;
    if (f->run) {
        *value = (rec_value){.kind = REC_KIND_NUMBERS, .form = (uint8_t)f->form};
        value->v.run = lr_runner_take(b->job, &b->runner, b->record, f->form);
        return value->v.run ? set_of(b, f, value) : b->job->error.status;
    }
    if (!list) {
        uint64_t count = b->count - f->base;
        list = lr_list_new(&b->record->arena, count);
        if (!list) {
            return lr_fail_arena(b->job, &b->record->arena, count * sizeof(rec_value));
        }
        if (count) {
            memcpy(list->items, &b->stack[f->base], (size_t)count * sizeof(rec_value));
        }
        list->count = count;
        b->count = f->base;
    }
    *value = (rec_value){.kind = REC_KIND_LIST, .form = (uint8_t)f->form, .v = {.list = list}};
    return set_of(b, f, value);
}

/* A packed list with nils that turned out to be no tensor's. */
static int32_t unpack_nils(lr_builder *b, rec_value *value)
{
    const lr_packed *run = value->kind == REC_KIND_NUMBERS && value->v.run->nils ? value->v.run : NULL;
    lr_list *list = run ? lr_list_new(&b->record->arena, run->count) : NULL;
    if (!run) {
        return REC_OK;
    }
    if (!list) {
        return lr_fail_arena(b->job, &b->record->arena, run->count * sizeof(rec_value));
    }
    for (uint64_t i = 0; i < run->count; i++) {
        rec_scalar number = lr_packed_number(run, i);
        list->items[i] = lr_nil(REC_FORM_UNKNOWN);
        if (!lr_float_nil(number.v.f) && !lr_from_scalar(&b->record->arena, &number, &list->items[i])) {
            return lr_fail_arena(b->job, &b->record->arena, 1);
        }
    }
    list->count = run->count;
    *value = (rec_value){.kind = REC_KIND_LIST, .form = (uint8_t)run->form, .v = {.list = list}};
    return REC_OK;
}

/* Metadata hold no tensors, whatever they look like. */
static bool in_metadata(const lr_builder *b)
{
    return b->frames[0].kind == REC_KIND_MAP && b->frames[0].has_key && lr_value_is(&b->frames[0].key, "metadata");
}

int32_t lr_builder_end_map(lr_builder *b, const lr_frame *f, rec_value *value)
{
    lr_map *map = f->map;
    lr_entry *twice = NULL;
    if (!map) {
        /* Pairs of values, as entries are. */
        const lr_entry *entries = f->count ? (const lr_entry *)&b->stack[f->base] : NULL;
        /* Without metadata the form of tensors is unknown: a first pass that will be repeated leaves maps alone. */
        if (lr_burn_may_raise(f->count) && !b->tensors && b->depth > 0 && !in_metadata(b) && (!b->again || b->second)) {
            int raised = lr_burn_raise(b->job, b->record, &b->burn, b->precision, f->at, entries, f->count, value);
            if (raised) {
                b->count = f->base;
                return raised > 0 ? REC_OK : b->job->error.status;
            }
        }
        map = lr_map_new(lr_builder_arena(b, f), f->count);
        if (!map) {
            return lr_fail_arena(b->job, lr_builder_arena(b, f), f->count * sizeof(lr_entry));
        }
        if (f->count) {
            memcpy(map->entries, entries, (size_t)f->count * sizeof(lr_entry));
        }
        map->count = f->count;
        b->count = f->base;
    }
    for (uint64_t i = 0; i < map->count; i++) {
        rec_value *entry = &map->entries[i].value;
        if (unpack_nils(b, entry) != REC_OK || (entry->kind == REC_KIND_BYTES && settle_bytes(b, entry) != REC_OK)) {
            return b->job->error.status;
        }
    }
    /* A flat map is taken apart right after: that finds what is there twice. */
    if (f->form == REC_FORM_PATHS) {
        twice = NULL;
    } else if (!lr_map_index(&b->record->arena, map, &twice)) {
        return lr_fail_arena(b->job, &b->record->arena, map->count * 8);
    }
    if (twice) {
        return fail_twice(b, f, map, twice);
    }
    *value = (rec_value){.kind = REC_KIND_MAP, .form = (uint8_t)f->form, .v = {.map = map}};
    return REC_OK;
}
