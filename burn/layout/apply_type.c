/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A loaded record and the type its caller gave. */
#include "burn/layout/layout.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct adopter {
    rec_job *job;
    rec_record *record;
    rec_precision precision;
    size_t used;
    char path[1024];
} adopter;

static int32_t adopt(adopter *a, rec_value *value, const rec_layout *layout);

static int32_t adopt_child(adopter *a, const rec_value *key, uint64_t index, rec_value *value, const rec_layout *layout)
{
    size_t used = a->used;
    int32_t status;
    a->used = key ? lr_path_append_key(a->path, sizeof a->path, used, used == 0, key)
                  : lr_path_append_index(a->path, sizeof a->path, used, used == 0, index);
    status = layout ? adopt(a, value, layout) : REC_OK;
    a->used = used;
    if (used < sizeof a->path) {
        a->path[used] = '\0';
    }
    return status;
}

/* Up to 0.11 the integers of a full precision file were f32 values. */
static int32_t floats_to_ints(adopter *a, rec_tensor *tensor)
{
    int32_t *numbers;
    lr_data *data;
    if (!lr_data_at_hand(tensor->data)) { /* they are skipped */
        tensor->stored = tensor->packed = REC_DTYPE_I32;
        return REC_OK;
    }
    numbers = lr_arena_alloc(&a->record->arena, tensor->count * sizeof *numbers, 8);
    data = lr_arena_alloc(&a->record->arena, sizeof *data, 8);
    if (!numbers || !data) {
        return lr_fail_memory(a->job, tensor->count * sizeof *numbers);
    }
    for (uint64_t i = 0; i < tensor->count; i++) {
        double number = lr_element(REC_DTYPE_F32, tensor->data->data + i * 4).v.f;
        if (!(number >= INT32_MIN && number <= INT32_MAX) || number != (double)(int32_t)number) {
            return lr_fail_path(a->job, REC_E_RANGE, a->path, "element %" PRIu64 " is %g, which is not an i32", i,
                                number);
        }
        numbers[i] = (int32_t)number;
    }
    lr_swap_if_big(numbers, sizeof *numbers, tensor->count);
    *data = (lr_data){.data = (const uint8_t *)numbers, .size = tensor->count * sizeof *numbers, .offset = REC_UNKNOWN};
    tensor->data = data;
    tensor->stored = tensor->packed = REC_DTYPE_I32;
    return REC_OK;
}

static int32_t adopt_tensor(adopter *a, rec_value *value, const rec_layout *layout)
{
    rec_tensor *tensor = value->kind == REC_KIND_TENSOR ? value->v.tensor : NULL;
    const char *words = lr_elements_words(layout->elements);
    bool ints = layout->elements == REC_FIELD_INTS;
    int32_t status = REC_OK;
    if (!tensor) {
        return lr_fail_path(a->job, REC_E_MISMATCH, a->path, "expected a tensor of %s, found %s", words,
                            lr_kind_words(value->kind));
    }
    if (tensor->rank != layout->rank) {
        return lr_fail_path(a->job, REC_E_MISMATCH, a->path, "expected a tensor of rank %" PRIu64 ", found rank %u",
                            layout->rank, (unsigned)tensor->rank);
    }
    if (tensor->count == 0 && tensor->assumed) {
        rec_dtype empty = ints                                  ? lr_dtype_at(REC_DTYPE_I64, a->job->burn.precision)
                          : layout->elements == REC_FIELD_BOOLS ? REC_DTYPE_BOOL
                                                                : tensor->stored;
        tensor->stored = tensor->packed = (uint8_t)empty;
    } else if (ints && tensor->assumed && tensor->stored == REC_DTYPE_F16) {
        tensor->stored = tensor->packed = REC_DTYPE_I16; /* the same 16 bits */
    } else if (ints && tensor->assumed && tensor->stored == REC_DTYPE_F32) {
        status = floats_to_ints(a, tensor);
    }
    tensor->assumed = false;
    if (status == REC_OK && lr_elements_of(tensor->stored) != layout->elements) {
        return lr_fail_path(a->job, REC_E_MISMATCH, a->path, "expected a tensor of %s, found one of %s", words,
                            rec_tensor_dtype_name(tensor));
    }
    lr_tensor_set_precision(tensor, a->precision);
    return status;
}

static int32_t adopt_enum(adopter *a, rec_value *value, const rec_layout *layout)
{
    const rec_value *name = NULL;
    rec_value *payload = NULL;
    if (value->kind == REC_KIND_VARIANT && value->v.variant->has_payload) {
        name = &value->v.variant->name;
        payload = &value->v.variant->payload;
    } else if (value->kind == REC_KIND_MAP && value->v.map->count == 1) {
        name = &value->v.map->entries[0].key;
        payload = &value->v.map->entries[0].value;
    }
    for (uint64_t i = 0; payload && i < layout->count; i++) {
        if (name->kind == REC_KIND_STRING && strcmp(layout->names[i], name->v.text) == 0) {
            return adopt_child(a, name, 0, payload, layout->children[i]);
        }
    }
    return REC_OK;
}

static int32_t adopt(adopter *a, rec_value *value, const rec_layout *layout)
{
    int32_t status = REC_OK;
    if (layout->role == LR_ROLE_TENSOR || layout->role == LR_ROLE_PARAMETER) {
        return adopt_tensor(a, value, layout);
    }
    switch (layout->kind) {
    case REC_LAYOUT_OPTION:
        return value->kind == REC_KIND_NIL || !rec_layout_child(layout, 0) ? REC_OK
                                                                           : adopt(a, value, layout->children[0]);
    case REC_LAYOUT_STRUCT:
        for (uint64_t i = 0; value->kind == REC_KIND_MAP && i < layout->count && status == REC_OK; i++) {
            const char *name = layout->names[i];
            lr_entry *entry = lr_map_find_text(value->v.map, name, strlen(name));
            if (entry) {
                status = adopt_child(a, &entry->key, 0, &entry->value, layout->children[i]);
            }
        }
        return status;
    case REC_LAYOUT_LIST:
    case REC_LAYOUT_ARRAY:
    case REC_LAYOUT_TUPLE:
        for (uint64_t i = 0; value->kind == REC_KIND_LIST && i < value->v.list->count && status == REC_OK; i++) {
            status = adopt_child(a, NULL, i, &value->v.list->items[i],
                                 rec_layout_child(layout, layout->kind == REC_LAYOUT_TUPLE ? i : 0));
        }
        return status;
    case REC_LAYOUT_MAP:
        for (uint64_t i = 0; value->kind == REC_KIND_MAP && i < value->v.map->count && status == REC_OK; i++) {
            lr_entry *entry = &value->v.map->entries[i];
            status = adopt_child(a, &entry->key, 0, &entry->value, layout->children[1]);
        }
        return status;
    case REC_LAYOUT_ENUM:
        return adopt_enum(a, value, layout);
    default:
        return REC_OK;
    }
}

bool lr_layout_has_tensors(const rec_layout *layout)
{
    uint64_t count = layout->kind == REC_LAYOUT_LIST || layout->kind == REC_LAYOUT_ARRAY ? 1 : layout->count;
    if (layout->role == LR_ROLE_TENSOR || layout->role == LR_ROLE_PARAMETER) {
        return true;
    }
    for (uint64_t i = 0; i < count; i++) {
        const rec_layout *child = rec_layout_child(layout, i);
        if (child && lr_layout_has_tensors(child)) {
            return true;
        }
    }
    return false;
}

const char *lr_no_tensors_words(char *text, const lr_type_ref *type, uint64_t tensors)
{
    (void)snprintf(text, LR_NO_TENSORS_ROOM, "the type%s%.64s has no tensors, but the record has %" PRIu64,
                   type->name ? " " : "", type->name ? type->name : "", tensors);
    return text;
}

int32_t lr_check_tensors(rec_job *job, const rec_record *record, const rec_layout *layout)
{
    uint64_t tensors = lr_layout_has_tensors(layout) ? 0 : lr_value_tensors(&record->root, NULL);
    char words[LR_NO_TENSORS_ROOM];
    if (tensors) {
        (void)rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "%s", lr_no_tensors_words(words, &job->type, tensors));
        rec_fail_hint(job, LR_NO_TENSORS_HINT);
    }
    return job->error.status;
}

int32_t lr_apply_type(rec_job *job, rec_record *record, rec_precision precision, const rec_layout *layout)
{
    adopter a = {.job = job, .record = record, .precision = precision};
    int32_t status = lr_check_tensors(job, record, layout);
    if (status != REC_OK) {
        return status;
    }
    status = adopt(&a, &record->root, layout);
    if (status == REC_E_MISMATCH) {
        rec_fail_hint(job, "The file says Burn 0.%d. Is the type another one than the record's?", (int)job->burn.minor);
    }
    return status;
}
