/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Iterating: every leaf of a record with its path. */
#include "core/record/record.h"

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
    uint64_t path_room;
    bool started;
};

rec_iterator *rec_iterate(const rec_record *record)
{
    const lr_allocator *allocator;
    rec_iterator *iterator;
    if (LR_NULL(record)) {
        return NULL;
    }
    allocator = &record->context->allocator;
    iterator = lr_zalloc(allocator, sizeof *iterator);
    if (iterator) {
        iterator->record = record;
        if (lr_grow(allocator, &iterator->levels, 16, &iterator->room, sizeof *iterator->levels) &&
            lr_grow(allocator, &iterator->path, 256, &iterator->path_room, 1)) {
            iterator->path[0] = '\0';
            lr_publish_ok();
            return iterator;
        }
        rec_iterator_free(iterator);
    }
    return LR_AS_NULL(lr_publish(REC_E_MEMORY, "out of memory"));
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
    if (!lr_grow(&iterator->record->context->allocator, &iterator->levels, iterator->depth + 1, &iterator->room,
                 sizeof *iterator->levels)) {
        return false;
    }
    iterator->levels[iterator->depth++] = (struct level){.value = value, .used = used};
    return true;
}

/* Appends the name of a level's next child; the path buffer grows as needed. */
static bool append_child(rec_iterator *iterator, const struct level *level, size_t *used)
{
    bool first = level == iterator->levels;
    for (;;) {
        size_t length = level->used;
        if (level->value->kind == REC_KIND_LIST) {
            length = lr_path_append_index(iterator->path, (size_t)iterator->path_room, length, first, level->next);
        } else if (level->value->kind == REC_KIND_MAP) {
            lr_map_settle(level->value->v.map);
            length = lr_path_append_key(iterator->path, (size_t)iterator->path_room, length, first,
                                        &level->value->v.map->entries[level->next].key);
        } else {
            length = lr_path_append_key(iterator->path, (size_t)iterator->path_room, length, first,
                                        &level->value->v.variant->name);
        }
        if (length < iterator->path_room) {
            *used = length;
            return true;
        }
        if (!lr_grow(&iterator->record->context->allocator, &iterator->path, length + 1, &iterator->path_room, 1)) {
            return false;
        }
    }
}

const rec_value *rec_iterator_next(rec_iterator *iterator, const char **path)
{
    if (path) {
        *path = iterator ? iterator->path : "";
    }
    if (LR_NULL(iterator)) {
        return NULL;
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
    const rec_value *value = NULL;
    if (path) {
        *path = "";
    }
    if (LR_NULL(iterator)) {
        return NULL;
    }
    do {
        value = rec_iterator_next(iterator, path);
    } while (value && value->kind != REC_KIND_TENSOR);
    return value ? value->v.tensor : NULL;
}
