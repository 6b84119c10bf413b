/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The record tree: values, lists, maps with their index, bytes that are lent, deep copies. */
#include "core/record/record.h"

#include <string.h>

#include "core/io/io.h"

/* Names that occur once a parameter: sharing them keeps the tree of many small tensors in proportion to its file. */
static const char *const common[] = {
    "id",      "F32",      "F16",         "I32",      "I64",      "F64",          "Bool",        "beta",    "bias",
    "bytes",   "shape",    "dtype",       "value",    "param",    "gamma",        "V1",          "weight",  "momentum",
    "Rank1",   "Rank2",    "Rank3",       "Rank4",    "time",     "stride",       "groups",      "dropout", "padding",
    "epsilon", "dilation", "kernel_size", "moment_1", "moment_2", "running_mean", "running_var",
};

rec_value lr_nil(int32_t form)
{
    return (rec_value){.kind = REC_KIND_NIL, .form = (uint8_t)form};
}

bool lr_string(lr_arena *arena, const char *text, uint64_t length, rec_value *value)
{
    const char *copy = NULL;
    if (length > UINT32_MAX - 1) {
        return false;
    }
    if (length <= 12) {
        for (size_t i = 0; i < sizeof common / sizeof *common && !copy; i++) {
            if (length > 0 && common[i][0] == text[0] && strlen(common[i]) == length &&
                memcmp(common[i], text, (size_t)length) == 0) {
                copy = common[i];
            }
        }
    }
    if (!copy) {
        copy = lr_arena_text(arena, text, length);
    }
    *value = (rec_value){.kind = REC_KIND_STRING, .length = (uint32_t)length};
    value->v.text = copy;
    return copy != NULL;
}

bool lr_from_scalar(lr_arena *arena, const rec_scalar *scalar, rec_value *value)
{
    *value = (rec_value){.kind = (uint8_t)scalar->kind, .bits = scalar->bits, .form = (uint8_t)scalar->form};
    switch (scalar->kind) {
    case REC_KIND_NIL:
        return true;
    case REC_KIND_BOOL:
    case REC_KIND_INT:
        value->v.i = scalar->v.i;
        return true;
    case REC_KIND_UINT:
        value->v.u = scalar->v.u;
        return true;
    case REC_KIND_FLOAT:
        value->v.f = scalar->v.f;
        return true;
    default:
        return lr_string(arena, scalar->text, scalar->v.length, value);
    }
}

rec_scalar lr_to_scalar(const rec_value *value)
{
    rec_scalar scalar = {.kind = value->kind, .bits = value->bits, .form = value->form};
    switch (value->kind) {
    case REC_KIND_BOOL:
    case REC_KIND_INT:
        scalar.v.i = value->v.i;
        break;
    case REC_KIND_UINT:
        scalar.v.u = value->v.u;
        break;
    case REC_KIND_FLOAT:
        scalar.v.f = value->v.f;
        break;
    case REC_KIND_STRING:
        scalar.form = 0;
        scalar.text = value->v.text;
        scalar.v.length = value->length;
        break;
    default:
        scalar.kind = REC_KIND_NIL;
        break;
    }
    return scalar;
}

/* An unsigned and a signed integer of the same value are the same key. */
static bool as_unsigned(int32_t kind, int64_t i, uint64_t u, uint64_t *value)
{
    *value = kind == REC_KIND_UINT ? u : (uint64_t)i;
    return kind == REC_KIND_UINT || (kind == REC_KIND_INT && i >= 0);
}

bool lr_scalar_equal(const rec_value *key, const rec_scalar *scalar)
{
    uint64_t a, b;
    if (key->kind == REC_KIND_STRING || scalar->kind == REC_KIND_STRING) {
        return key->kind == scalar->kind && key->length == scalar->v.length &&
               memcmp(key->v.text, scalar->text, key->length) == 0;
    }
    if (as_unsigned(key->kind, key->v.i, key->v.u, &a) && as_unsigned(scalar->kind, scalar->v.i, scalar->v.u, &b)) {
        return a == b;
    }
    return key->kind == scalar->kind && key->v.u == scalar->v.u;
}

/* ------------------------------------------------------------------------------------------------ lists and maps -- */

lr_list *lr_list_new(lr_arena *arena, uint64_t room)
{
    lr_list *list = lr_arena_alloc(arena, sizeof *list, 8);
    uint64_t size;
    if (!list || !lr_mul(room, sizeof(rec_value), &size)) {
        return NULL;
    }
    *list = (lr_list){.room = room};
    if (room) {
        list->items = lr_arena_alloc(arena, size, 8);
        if (!list->items) {
            return NULL;
        }
    }
    return list;
}

rec_value *lr_list_append(lr_arena *arena, lr_list *list)
{
    if (!lr_arena_grow(arena, &list->items, list->count + 1, &list->room, sizeof(rec_value))) {
        return NULL;
    }
    list->items[list->count] = lr_nil(REC_FORM_UNKNOWN);
    return &list->items[list->count++];
}

lr_map *lr_map_new(lr_arena *arena, uint64_t room)
{
    lr_map *map = lr_arena_alloc(arena, sizeof *map, 8);
    uint64_t size;
    if (!map || !lr_mul(room, sizeof(lr_entry), &size)) {
        return NULL;
    }
    *map = (lr_map){.room = room};
    if (room) {
        map->entries = lr_arena_alloc(arena, size, 8);
        if (!map->entries) {
            return NULL;
        }
    }
    return map;
}

enum { SMALL_MAP = 8 };

/* FNV-1a with a final mix; keys of a hostile file may collide, so probing is bounded by building the index only over
 * distinct slots and comparing keys. The cost of a collision attack is quadratic in one map; the seed is the map's own
 * address, which a file cannot know. */
static uint64_t hash_key(const lr_map *map, const rec_scalar *key)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ ((uintptr_t)map >> 4);
    uint64_t number;
    if (key->kind == REC_KIND_STRING) {
        for (uint64_t i = 0; i < key->v.length; i++) {
            hash = (hash ^ (uint8_t)key->text[i]) * UINT64_C(0x100000001b3);
        }
    } else {
        number = key->v.u;
        hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    }
    hash ^= hash >> 32;
    return hash * UINT64_C(0x9e3779b97f4a7c15) >> 16;
}

static lr_entry *find_slot(const lr_map *map, const rec_scalar *key, uint64_t *free_slot)
{
    uint64_t slot = hash_key(map, key) & (map->slot_count - 1);
    while (map->slots[slot]) {
        lr_entry *entry = &map->entries[map->slots[slot] - 1];
        if (lr_scalar_equal(&entry->key, key)) {
            return entry;
        }
        slot = (slot + 1) & (map->slot_count - 1);
    }
    *free_slot = slot;
    return NULL;
}

lr_entry *lr_map_find(const lr_map *map, const rec_scalar *key)
{
    uint64_t slot;
    if (map->slots) {
        return find_slot(map, key, &slot);
    }
    for (uint64_t i = 0; i < map->count; i++) {
        if (lr_scalar_equal(&map->entries[i].key, key)) {
            return &map->entries[i];
        }
    }
    return NULL;
}

lr_entry *lr_map_find_text(const lr_map *map, const char *text, uint64_t length)
{
    rec_scalar key = {.kind = REC_KIND_STRING, .text = text, .v = {.length = length}};
    return lr_map_find(map, &key);
}

bool lr_map_index(lr_arena *arena, lr_map *map, lr_entry **twice)
{
    uint64_t slots = 16, slot;
    if (twice) {
        *twice = NULL;
    }
    map->slots = NULL;
    if (map->count <= SMALL_MAP) {
        for (uint64_t i = 1; twice && i < map->count; i++) {
            rec_scalar key = lr_to_scalar(&map->entries[i].key);
            if (lr_map_find(map, &key) != &map->entries[i]) {
                *twice = &map->entries[i];
                return true;
            }
        }
        return true;
    }
    if (map->count > UINT32_MAX - 1) {
        return false;
    }
    while (slots < map->count + map->count / 2) {
        slots *= 2;
    }
    map->slots = lr_arena_alloc(arena, slots * sizeof *map->slots, 8);
    if (!map->slots) {
        return false;
    }
    memset(map->slots, 0, (size_t)slots * sizeof *map->slots);
    map->slot_count = slots;
    for (uint64_t i = 0; i < map->count; i++) {
        rec_scalar key = lr_to_scalar(&map->entries[i].key);
        if (!find_slot(map, &key, &slot)) {
            map->slots[slot] = (uint32_t)(i + 1);
        } else if (twice && !*twice) {
            *twice = &map->entries[i];
        }
    }
    return true;
}

lr_entry *lr_map_append(lr_arena *arena, lr_map *map, rec_value key)
{
    lr_entry *entry;
    if (!lr_arena_grow(arena, &map->entries, map->count + 1, &map->room, sizeof(lr_entry))) {
        return NULL;
    }
    entry = &map->entries[map->count++];
    *entry = (lr_entry){.key = key, .value = lr_nil(REC_FORM_UNKNOWN)};
    if (map->slots && map->count + map->count / 2 <= map->slot_count) {
        rec_scalar scalar = lr_to_scalar(&key);
        uint64_t slot;
        if (!find_slot(map, &scalar, &slot)) {
            map->slots[slot] = (uint32_t)map->count;
        }
    } else if (!lr_map_index(arena, map, NULL)) {
        return NULL;
    }
    return entry;
}

/* ------------------------------------------------------------------------------------------------------- bytes -- */

void lr_data_hold(rec_record *record, lr_data *data)
{
    if (data->source) {
        data->next = record->held;
        record->held = data;
    }
}

lr_data *lr_data_lent(rec_record *record, rec_source *source, const void *bytes, uint64_t size, uint64_t offset)
{
    lr_data *data = lr_arena_alloc(&record->arena, sizeof *data, 8);
    if (data) {
        *data = (lr_data){.data = bytes, .size = size, .offset = offset, .source = lr_source_retain(source)};
        lr_data_hold(record, data);
    }
    return data;
}

lr_data *lr_data_copy(rec_record *record, const void *bytes, uint64_t size)
{
    lr_data *data = lr_arena_alloc(&record->arena, sizeof *data, 8);
    uint8_t *copy = data ? lr_arena_alloc(&record->arena, size, 8) : NULL;
    if (!copy) {
        return NULL;
    }
    if (size) {
        memcpy(copy, bytes, (size_t)size);
    }
    *data = (lr_data){.data = copy, .size = size, .offset = REC_UNKNOWN};
    return data;
}

lr_data *lr_data_share(rec_record *record, const lr_data *data)
{
    return data->source ? lr_data_lent(record, data->source, data->data, data->size, data->offset)
                        : lr_data_copy(record, data->data, data->size);
}

rec_scalar lr_packed_number(const lr_packed *run, uint64_t index)
{
    rec_scalar scalar = {0};
    if (index >= run->count) {
        return scalar;
    }
    scalar = lr_element(run->dtype, run->data.data + index * (rec_dtype_bits(run->dtype) / 8));
    if (scalar.kind == REC_KIND_INT && scalar.v.i >= 0) {
        scalar.kind = REC_KIND_UINT;
    }
    if (scalar.kind != REC_KIND_FLOAT) {
        scalar.bits = 0; /* how narrow it is packed says nothing of its type */
    }
    return scalar;
}

/* ------------------------------------------------------------------------------------------------------- copies -- */

static bool copy_tensor(rec_record *record, const rec_tensor *from, rec_value *to)
{
    rec_tensor *tensor = lr_arena_alloc(&record->arena, sizeof *tensor, 8);
    uint64_t *shape = lr_arena_alloc(&record->arena, sizeof *shape * (from->rank ? from->rank : 1u), 8);
    rec_value *name = NULL;
    if (!tensor || !shape) {
        return false;
    }
    memset(tensor, 0, sizeof *tensor);
    tensor->record = record;
    tensor->count = from->count;
    tensor->rank = from->rank;
    tensor->packed = from->packed;
    tensor->stored = from->stored;
    tensor->dtype = from->dtype;
    tensor->assumed = from->assumed;
    tensor->shape = memcpy(shape, from->shape, sizeof *shape * from->rank);
    tensor->data = lr_data_share(record, from->data);
    if (from->dtype_value) {
        name = lr_arena_alloc(&record->arena, sizeof *name, 8);
        if (!name || !lr_value_copy(record, from->dtype_value, name)) {
            return false;
        }
        tensor->dtype_value = name;
    }
    if (from->id) {
        tensor->id = lr_arena_text(&record->arena, from->id, strlen(from->id));
    }
    if (from->numbers) {
        rec_value numbers;
        if (!copy_tensor(record, from->numbers, &numbers)) {
            return false;
        }
        tensor->numbers = numbers.v.tensor;
    }
    to->v.tensor = tensor;
    return tensor->data && (!from->id || tensor->id);
}

static bool copy_run(rec_record *record, const lr_packed *from, rec_value *to)
{
    lr_packed *run = lr_arena_alloc(&record->arena, sizeof *run, 8);
    lr_data *data = lr_data_share(record, &from->data);
    if (!run || !data) {
        return false;
    }
    *run = (lr_packed){.count = from->count, .dtype = from->dtype, .form = from->form, .data = *data};
    run->data.next = NULL;
    run->data.source = NULL; /* `data` holds it */
    to->v.run = run;
    return true;
}

bool lr_value_copy(rec_record *record, const rec_value *from, rec_value *to)
{
    lr_arena *arena = &record->arena;
    *to = *from;
    switch (from->kind) {
    case REC_KIND_STRING:
        return lr_string(arena, from->v.text, from->length, to);
    case REC_KIND_BYTES:
        to->v.bytes = lr_data_share(record, from->v.bytes);
        return to->v.bytes != NULL;
    case REC_KIND_NUMBERS:
        return copy_run(record, from->v.run, to);
    case REC_KIND_TENSOR:
        return copy_tensor(record, from->v.tensor, to);
    case REC_KIND_LIST: {
        lr_list *list = lr_list_new(arena, from->v.list->count);
        for (uint64_t i = 0; list && i < from->v.list->count; i++) {
            if (!lr_value_copy(record, &from->v.list->items[i], &list->items[i])) {
                return false;
            }
            list->count++;
        }
        to->v.list = list;
        return list != NULL;
    }
    case REC_KIND_MAP: {
        lr_map *map = lr_map_new(arena, from->v.map->count);
        for (uint64_t i = 0; map && i < from->v.map->count; i++) {
            if (!lr_value_copy(record, &from->v.map->entries[i].key, &map->entries[i].key) ||
                !lr_value_copy(record, &from->v.map->entries[i].value, &map->entries[i].value)) {
                return false;
            }
            map->count++;
        }
        to->v.map = map;
        return map && lr_map_index(arena, map, NULL);
    }
    case REC_KIND_VARIANT: {
        lr_variant *variant = lr_arena_alloc(arena, sizeof *variant, 8);
        if (!variant) {
            return false;
        }
        *variant = *from->v.variant;
        to->v.variant = variant;
        return lr_value_copy(record, &from->v.variant->name, &variant->name) &&
               lr_value_copy(record, &from->v.variant->payload, &variant->payload);
    }
    default:
        return true;
    }
}
