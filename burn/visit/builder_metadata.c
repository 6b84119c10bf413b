/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a builder makes of the map that a record of Burn is: its metadata, and the item, which is the record. */
#include "burn/visit/builder_private.h"

#include <inttypes.h>

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

int32_t lr_builder_metadata(lr_builder *b, const rec_value *value)
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

int32_t lr_builder_metadata_end(lr_builder *b, const rec_value *value)
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
    return lr_builder_metadata_end(b, &text);
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
