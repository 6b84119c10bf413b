/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The record tree: lists, bytes that are lent, deep copies. Scalars are in scalar.c, maps in map.c. */
#include "core/record/record.h"

#include <string.h>

#include "core/io/io.h"

/* ------------------------------------------------------------------------------------------------------- lists -- */

lr_list *lr_list_new(lr_arena *arena, uint64_t room)
{
    lr_list *list = lr_arena_alloc(arena, sizeof *list, 8);
    rec_value *items = list && room ? lr_arena_array(arena, room, sizeof *items) : NULL;
    if (list) {
        *list = (lr_list){.items = items, .room = room};
    }
    return items || !room ? list : NULL;
}

rec_value *lr_list_append(lr_arena *arena, lr_list *list)
{
    if (!lr_arena_grow(arena, &list->items, list->count + 1, &list->room, sizeof(rec_value))) {
        return NULL;
    }
    list->items[list->count] = lr_nil(REC_FORM_UNKNOWN);
    return &list->items[list->count++];
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

const uint8_t *lr_data_at_hand(const lr_data *data)
{
    if (lr_source_is_cut(data->source)) {
        return NULL; /* the reader reports it */
    }
    return data->data || !data->source ? data->data : lr_source_in_memory(data->source, data->offset, data->size);
}

int32_t lr_data_drop(rec_job *job, rec_record *record, lr_data *data)
{
    rec_source *absent = data->size ? lr_source_absent(job) : NULL, *before = data->source;
    if (!data->size) {
        return REC_OK;
    }
    if (absent) {
        data->source = lr_source_retain(absent);
        data->data = NULL;
        if (before) {
            lr_source_release(before);
        } else {
            lr_data_hold(record, data);
        }
    }
    return job->error.status;
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
    if (index >= run->count || !run->data.data) {
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

/* ------------------------------------------------------------------------------------------------------ copies -- */

const lr_encoding lr_no_encoding;

lr_encoding *lr_encoding_make(rec_tensor *tensor)
{
    if (!tensor->encoding) {
        tensor->encoding = lr_arena_alloc(&tensor->record->arena, sizeof *tensor->encoding, 8);
        if (tensor->encoding) {
            *tensor->encoding = lr_no_encoding;
        }
    }
    return tensor->encoding;
}

bool lr_tensor_copy_scheme(rec_tensor *to, const rec_tensor *from)
{
    lr_arena *arena = &to->record->arena;
    const lr_scheme *s = lr_encoding_of(from)->scheme;
    lr_encoding *encoding = s ? lr_encoding_make(to) : NULL;
    lr_scheme *copy = encoding ? lr_arena_alloc(arena, sizeof *copy, 8) : NULL;
    to->part = from->part;
    if (copy) {
        *copy = *s;
        copy->label = lr_arena_text(arena, s->label, strlen(s->label));
        copy->cut = lr_arena_text(arena, s->cut, strlen(s->cut));
        copy->unsupported = from->encoding->numbers && !encoding->numbers ? "a rule reshaped it" : s->unsupported;
        copy->end = lr_arena_text(arena, s->end, strlen(s->end));
        encoding->scheme = copy;
    }
    return !s || (copy && copy->label && copy->cut && copy->end);
}

bool lr_shape_count(const uint64_t *shape, uint32_t rank, uint64_t *count)
{
    uint64_t product = 1;
    bool zero = false, fits = true;
    for (uint32_t i = 0; i < rank; i++) {
        zero = zero || shape[i] == 0;
        fits = fits && lr_mul(product, shape[i] ? shape[i] : 1, &product);
    }
    *count = zero ? 0 : product;
    return zero || fits;
}

rec_tensor *lr_tensor_new(rec_record *record, rec_dtype dtype, const uint64_t *shape, uint32_t rank)
{
    rec_tensor *tensor = lr_arena_alloc(&record->arena, sizeof *tensor, 8);
    uint64_t *copy = lr_arena_array(&record->arena, rank, sizeof *copy);
    if (!tensor || !copy) {
        return NULL;
    }
    if (rank) {
        memcpy(copy, shape, sizeof *copy * rank);
    }
    memset(tensor, 0, sizeof *tensor);
    tensor->record = record;
    tensor->shape = copy;
    tensor->rank = (uint8_t)rank;
    tensor->packed = tensor->stored = tensor->dtype = (uint8_t)dtype;
    (void)lr_shape_count(copy, rank, &tensor->count);
    return tensor;
}

static bool copy_tensor(rec_record *record, const rec_tensor *from, rec_value *to)
{
    rec_tensor *tensor = lr_tensor_new(record, from->stored, from->shape, from->rank);
    const lr_encoding *encoding = lr_encoding_of(from);
    rec_value *words = NULL, numbers = {.v.tensor = NULL};
    if (!tensor) {
        return false;
    }
    tensor->packed = from->packed;
    tensor->dtype = from->dtype;
    tensor->assumed = from->assumed;
    tensor->anonymous = from->anonymous;
    tensor->id_made = from->id_made;
    tensor->data = lr_data_share(record, from->data);
    if (encoding->words) {
        words = lr_arena_alloc(&record->arena, sizeof *words, 8);
        if (!words || !lr_value_copy(record, encoding->words, words)) {
            return false;
        }
    }
    if (from->id) {
        tensor->id = lr_arena_text(&record->arena, from->id, strlen(from->id));
    }
    if (encoding->numbers && !copy_tensor(record, encoding->numbers, &numbers)) {
        return false;
    }
    if (from->encoding) {
        if (!lr_encoding_make(tensor)) {
            return false;
        }
        tensor->encoding->words = words;
        tensor->encoding->numbers = numbers.v.tensor;
    }
    to->v.tensor = tensor;
    return tensor->data && (!from->id || tensor->id) && lr_tensor_copy_scheme(tensor, from);
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

static bool copy_value(rec_record *record, const rec_value *from, rec_value *to)
{
    lr_arena *arena = &record->arena;
    *to = *from;
    switch (from->kind) {
    case REC_KIND_STRING:
        if (!lr_string(arena, from->v.text, from->length, to)) {
            return false;
        }
        to->form = from->form;
        return true;
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
        lr_map *map;
        lr_map_settle(from->v.map);
        map = lr_map_new(arena, from->v.map->count);
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

bool lr_value_copy(rec_record *record, const rec_value *from, rec_value *to)
{
    bool copied = copy_value(record, from, to);
    if (!copied) { /* what is half made, or the other record's, is nobody's to release */
        *to = lr_nil(REC_FORM_UNKNOWN);
    }
    return copied;
}
