/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Maps: one array of entries in insertion order, with a hash index if there are many. Removal leaves a hole, so that n
 * removals take O(n). Holes are closed when they are half of a map, or before the array is read. Closing uses a second
 * array, since pointers given out stay valid until the next edit, and reading is not an edit. Several threads may read
 * at once: a reader that finds holes takes the lock. */
#include "core/record/record.h"

#include <string.h>

enum {
    SMALL_MAP = 8,   /* entries that need no index */
    FEW = 32,        /* entries that are moved up at once */
    HOLE = UINT8_MAX /* the kind of a key that was removed, which equals none */
};

/* Positions count from the beginning of the array: the first entries of a map may have gone without the rest moving. */
typedef struct lr_index {
    lr_entry *base;      /* where the array begins… */
    lr_entry *spare;     /* …and another one, of the same size or more, once there was a hole */
    uint64_t spare_room; /* entries that fit into it */
    uint64_t slot_count; /* a power of two */
    atomic_uint_fast64_t holes;
    bool listed;      /* the record knows that it was edited */
    uint32_t slots[]; /* position + 1, 0 is free */
} lr_index;

/* Of holes being closed by a reader. Held shortly, and only as long as there are holes. */
static pthread_mutex_t closing = PTHREAD_MUTEX_INITIALIZER;

lr_map *lr_map_new(lr_arena *arena, uint64_t room)
{
    lr_map *map = lr_arena_alloc(arena, sizeof *map, 8);
    lr_entry *entries = map && room ? lr_arena_array(arena, room, sizeof *entries) : NULL;
    if (map) {
        *map = (lr_map){.entries = entries, .room = room};
    }
    return entries || !room ? map : NULL;
}

/* ----------------------------------------------------------------------------------------------------- finding -- */

static uint64_t hash_key(const rec_scalar *key)
{
    char digits[LR_KEY_DIGITS];
    uint64_t length;
    const char *text = lr_key_text(key, digits, &length);
    return lr_key_hash(text, (size_t)length);
}

static uint64_t home_slot(const lr_map *map, const rec_scalar *key)
{
    return hash_key(key) & (map->index->slot_count - 1);
}

static lr_entry *find_slot(const lr_map *map, const rec_scalar *key, uint64_t *free_slot)
{
    const lr_index *index = map->index;
    uint64_t slot = home_slot(map, key);
    while (index->slots[slot]) {
        lr_entry *entry = &index->base[index->slots[slot] - 1];
        if (lr_scalar_equal(&entry->key, key)) {
            return entry;
        }
        slot = (slot + 1) & (index->slot_count - 1);
    }
    *free_slot = slot;
    return NULL;
}

static uint64_t holes_of(const lr_map *map)
{
    return map->index ? atomic_load_explicit(&map->index->holes, memory_order_acquire) : 0;
}

/* @return whether there is something to be unlocked. */
static bool lock_holes(const lr_map *map)
{
    return holes_of(map) > 0 && pthread_mutex_lock(&closing) == 0;
}

static void unlock_holes(bool locked)
{
    if (locked) {
        (void)pthread_mutex_unlock(&closing);
    }
}

lr_entry *lr_map_find(const lr_map *map, const rec_scalar *key)
{
    uint64_t slot;
    bool locked = lock_holes(map);
    lr_entry *found = NULL;
    if (map->index) {
        found = find_slot(map, key, &slot);
    } else {
        for (uint64_t i = 0; i < map->count && !found; i++) {
            found = lr_scalar_equal(&map->entries[i].key, key) ? &map->entries[i] : NULL;
        }
    }
    unlock_holes(locked);
    return found;
}

lr_entry *lr_map_find_text(const lr_map *map, const char *text, uint64_t length)
{
    rec_scalar key = {.kind = REC_KIND_STRING, .text = text, .v = {.length = length}};
    return lr_map_find(map, &key);
}

uint64_t lr_map_count(const lr_map *map)
{
    bool locked = lock_holes(map);
    uint64_t count = map->count - holes_of(map);
    unlock_holes(locked);
    return count;
}

/* -------------------------------------------------------------------------------------------------- the index -- */

/* Rebuilds the index from the array; of duplicates the first is entered. @param twice (out, may be NULL) the first
 * duplicate. */
static void fill_index(lr_map *map, lr_entry **twice)
{
    lr_index *index = map->index;
    uint64_t slot, before = (uint64_t)(map->entries - index->base);
    memset(index->slots, 0, (size_t)index->slot_count * sizeof *index->slots);
    for (uint64_t i = 0; i < map->count; i++) {
        rec_scalar key = lr_to_scalar(&map->entries[i].key);
        if (map->entries[i].key.kind == HOLE) {
            continue;
        } else if (!find_slot(map, &key, &slot)) {
            index->slots[slot] = (uint32_t)(before + i + 1);
        } else if (twice && !*twice) {
            *twice = &map->entries[i];
        }
    }
}

/* An index with room for `live` entries; one that is there and large enough stays. */
static bool make_index(lr_arena *arena, lr_map *map, uint64_t live)
{
    const lr_index *before = map->index;
    lr_index *index;
    uint64_t slots = 16;
    while (slots < live + live / 2) {
        slots *= 2;
    }
    if (before && before->slot_count >= slots) {
        return true;
    }
    index = lr_arena_alloc(arena, sizeof *index + slots * sizeof *index->slots, 8);
    if (!index) {
        return false;
    }
    *index = (lr_index){.base = before ? before->base : map->entries, .slot_count = slots};
    if (before) {
        index->spare = before->spare;
        index->spare_room = before->spare_room;
        index->listed = before->listed;
        atomic_init(&index->holes, atomic_load_explicit(&before->holes, memory_order_relaxed));
    }
    map->index = index;
    return true;
}

bool lr_map_index(lr_arena *arena, lr_map *map, lr_entry **twice)
{
    if (twice) {
        *twice = NULL;
    }
    if (map->count <= SMALL_MAP && !map->index) {
        for (uint64_t i = 1; twice && i < map->count; i++) {
            rec_scalar key = lr_to_scalar(&map->entries[i].key);
            if (lr_map_find(map, &key) != &map->entries[i]) {
                *twice = &map->entries[i];
                return true;
            }
        }
        return true;
    }
    if (map->count > UINT32_MAX - 1 || !make_index(arena, map, map->count)) {
        return false;
    }
    map->index->base = map->entries;
    fill_index(map, twice);
    return true;
}

/* Removes an entry from the index. The following entries move up, as if it had never been there. */
static void leave_index(lr_map *map, const lr_entry *entry)
{
    lr_index *index = map->index;
    uint64_t mask = index->slot_count - 1, gap, at;
    uint32_t number = (uint32_t)(entry - index->base) + 1;
    rec_scalar key = lr_to_scalar(&entry->key);
    for (gap = home_slot(map, &key); index->slots[gap] != number; gap = (gap + 1) & mask) {
        if (!index->slots[gap]) {
            return;
        }
    }
    for (at = (gap + 1) & mask; index->slots[at]; at = (at + 1) & mask) {
        key = lr_to_scalar(&index->base[index->slots[at] - 1].key);
        if (((at - home_slot(map, &key)) & mask) >= ((at - gap) & mask)) {
            index->slots[gap] = index->slots[at];
            gap = at;
        }
    }
    index->slots[gap] = 0;
}

void lr_map_rename(lr_map *map, lr_entry *entry, rec_value key)
{
    rec_scalar scalar = lr_to_scalar(&key);
    uint64_t slot;
    if (map->index) {
        leave_index(map, entry);
    }
    entry->key = key;
    if (map->index && !find_slot(map, &scalar, &slot)) {
        map->index->slots[slot] = (uint32_t)(entry - map->index->base) + 1;
    }
}

/* ------------------------------------------------------------------------------------------------------- holes -- */

/* Copies the entries without holes to `target`, which may be the same array. */
static void close_to(lr_map *map, lr_entry *target)
{
    lr_index *index = map->index;
    uint64_t live = 0;
    for (uint64_t i = 0; i < map->count; i++) {
        if (map->entries[i].key.kind != HOLE) {
            target[live++] = map->entries[i];
        }
    }
    map->count = live;
    map->entries = index->base = target;
    fill_index(map, NULL);
    atomic_store_explicit(&index->holes, 0, memory_order_release);
}

/* In place, which an edit may do. */
static void close_here(lr_map *map)
{
    map->room += (uint64_t)(map->entries - map->index->base);
    close_to(map, map->index->base);
}

void lr_map_settle(const lr_map *map)
{
    lr_map *m = (lr_map *)map; /* what it holds stays the same */
    lr_index *index = map->index;
    if (lock_holes(map)) {
        if (holes_of(map)) {
            lr_entry *before = index->base;
            uint64_t room = m->room + (uint64_t)(m->entries - before);
            m->room = index->spare_room;
            close_to(m, index->spare);
            index->spare = before;
            index->spare_room = room;
        }
        unlock_holes(true);
    }
}

void lr_record_settle(const rec_record *record)
{
    for (uint64_t i = 0; i < record->edited_count; i++) {
        lr_map_settle(record->edited[i]);
    }
}

/* Sees to it that holes may be left: there is somewhere to close them to, and the record knows of the map. */
static bool may_have_holes(rec_record *record, lr_map *map)
{
    lr_index *index = map->index;
    const lr_allocator *allocator = &record->context->allocator;
    uint64_t room = map->room + (uint64_t)(map->entries - index->base);
    if (map->count <= FEW) {
        return false;
    }
    if (index->spare_room < room) {
        lr_entry *spare = lr_arena_array(&record->arena, room, sizeof *spare);
        if (!spare) {
            return false;
        }
        index->spare = spare;
        index->spare_room = room;
    }
    if (!index->listed) {
        if (!lr_grow(allocator, &record->edited, record->edited_count + 1, &record->edited_room,
                     sizeof *record->edited)) {
            return false;
        }
        record->edited[record->edited_count++] = map;
        index->listed = true;
    }
    return true;
}

/* The first and the last entries are no holes. */
static void trim(lr_map *map, uint64_t *holes)
{
    while (map->count && map->entries[map->count - 1].key.kind == HOLE) {
        map->count--;
        --*holes;
    }
    while (map->count && map->entries->key.kind == HOLE) {
        map->entries++;
        map->room--;
        map->count--;
        --*holes;
    }
}

void lr_map_remove(rec_record *record, lr_map *map, lr_entry *entry)
{
    lr_index *index = map->index;
    uint64_t holes, at = (uint64_t)(entry - map->entries);
    bool lasting;
    if (!index) {
        memmove(entry, entry + 1, (size_t)(map->count - at - 1) * sizeof *entry);
        map->count--;
        return;
    }
    lasting = may_have_holes(record, map);
    leave_index(map, entry);
    entry->key = (rec_value){.kind = HOLE};
    entry->value = lr_nil(REC_FORM_UNKNOWN);
    holes = holes_of(map) + 1;
    trim(map, &holes);
    atomic_store_explicit(&index->holes, holes, memory_order_release);
    if (holes && (!lasting || map->count <= FEW || holes > map->count / 2)) {
        close_here(map);
    }
}

/* --------------------------------------------------------------------------------------------------- appending -- */

/* Room for one more: where entries have gone it is won back as long as that is worth it. */
static bool make_room(lr_arena *arena, lr_map *map)
{
    lr_index *index = map->index;
    if (map->count < map->room) {
        return true;
    }
    if (index && (map->entries > index->base || holes_of(map))) {
        close_here(map);
    }
    if (map->room - map->count > map->count / 4) {
        return true;
    }
    if (!lr_arena_grow(arena, &map->entries, map->count + 1, &map->room, sizeof(lr_entry))) {
        return false;
    }
    if (index) {
        index->base = map->entries;
    }
    return true;
}

lr_entry *lr_map_append(lr_arena *arena, lr_map *map, rec_value key)
{
    lr_entry *entry;
    uint64_t live, slot;
    rec_scalar scalar = lr_to_scalar(&key);
    if (!make_room(arena, map)) {
        return NULL;
    }
    entry = &map->entries[map->count++];
    *entry = (lr_entry){.key = key, .value = lr_nil(REC_FORM_UNKNOWN)};
    live = map->count - holes_of(map);
    if (!map->index || live + live / 2 > map->index->slot_count ||
        (uint64_t)(entry - map->index->base) >= UINT32_MAX - 1) {
        if (map->index && (map->entries > map->index->base || holes_of(map))) {
            close_here(map);
            entry = &map->entries[map->count - 1];
        }
        return lr_map_index(arena, map, NULL) ? entry : NULL;
    }
    if (!find_slot(map, &scalar, &slot)) {
        map->index->slots[slot] = (uint32_t)(entry - map->index->base) + 1;
    }
    return entry;
}
