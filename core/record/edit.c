/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Editing a record: setting, removing, building tensors and their ids. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/record/record.h"
#include "core/io/io.h"

/* One edit: the place that a path means, made if it is not there. */
typedef struct edit {
    rec_job job;
    rec_record *record;
    char *part;
} edit;

static void edit_begin(edit *e, rec_record *record, const char *path)
{
    lr_job_begin(&e->job, record->context, "edit", NULL);
    e->record = record;
    e->part = lr_alloc(e->job.allocator, strlen(path) + 1);
    if (!e->part) {
        (void)lr_fail_memory(&e->job, strlen(path) + 1);
    }
}

static rec_status edit_end(edit *e)
{
    lr_release(e->job.allocator, e->part);
    return lr_job_end(&e->job);
}

static int32_t no_memory(edit *e)
{
    return lr_fail_memory(&e->job, 0);
}

/* The entry of a name that a map lacks. NULL: the job has failed. */
static rec_value *append_entry(edit *e, rec_value *value, const char *name, uint64_t length)
{
    rec_value key;
    lr_entry *entry = NULL;
    if (lr_string(&e->record->arena, name, length, &key)) {
        entry = lr_map_append(&e->record->arena, value->v.map, key);
        value->bits = 0; /* it may be another module now */
    }
    if (!entry) {
        (void)no_memory(e);
    }
    return entry ? &entry->value : NULL;
}

static bool make_container(edit *e, rec_value *value, int32_t kind)
{
    *value = (rec_value){.kind = (uint8_t)kind};
    if (kind == REC_KIND_LIST) {
        value->v.list = lr_list_new(&e->record->arena, 0);
    } else {
        value->v.map = lr_map_new(&e->record->arena, 0);
    }
    if (!value->v.list) {
        *value = lr_nil(REC_FORM_UNKNOWN);
        (void)no_memory(e);
        return false;
    }
    return true;
}

/* What a map of indices has of its largest one; 0: so long no list is. */
static uint32_t after(uint64_t index)
{
    return index < UINT32_MAX ? (uint32_t)index + 1 : 0;
}

/* Of a list that setters made: a map of its indices. */
static bool list_to_map(edit *e, rec_value *value)
{
    const lr_list *list = value->v.list;
    char name[24];
    if (!make_container(e, value, REC_KIND_MAP)) {
        *value = (rec_value){.kind = REC_KIND_LIST, .length = 1, .v.list = (lr_list *)(uintptr_t)list}; /* as before */
        return false;
    }
    value->length = after(list->count - 1);
    for (uint64_t i = 0; i < list->count; i++) {
        int length = snprintf(name, sizeof name, "%" PRIu64, i);
        rec_value *child = append_entry(e, value, name, (uint64_t)length);
        if (!child) {
            return false;
        }
        *child = list->items[i];
    }
    return true;
}

/* Of a map that setters made and that has all its indices: the list. @return the element `index`. NULL: the job has
 * failed. */
static rec_value *map_to_list(edit *e, rec_value *value, uint64_t index)
{
    lr_map *map = value->v.map;
    lr_list *list = lr_list_new(&e->record->arena, value->length);
    uint64_t at;
    if (!list) {
        (void)no_memory(e);
        return NULL;
    }
    lr_map_settle(map);
    for (uint64_t i = 0; i < map->count; i++) {
        const lr_entry *entry = &map->entries[i];
        if (lr_path_index(entry->key.v.text, entry->key.length, &at)) {
            list->items[at] = entry->value;
        }
    }
    list->count = value->length;
    *value = (rec_value){.kind = REC_KIND_LIST, .length = 1, .v.list = list};
    return &list->items[index];
}

/* A name that a map lacks. Indices that setters gave are a list once they are 0 to N, whatever their order. */
static rec_value *make_entry(edit *e, rec_value *value, uint64_t length)
{
    lr_map *map = value->v.map;
    rec_value *child = append_entry(e, value, e->part, length);
    uint64_t index;
    if (!child || !value->length || !lr_path_index(e->part, length, &index) || !after(index)) {
        value->length = 0;
        return child;
    }
    value->length = index >= value->length ? after(index) : value->length;
    return lr_map_count(map) == value->length ? map_to_list(e, value, index) : child;
}

/* Child `part` of a container, made if it is missing. NULL: the job has failed. */
static rec_value *make_child(edit *e, const char *path, rec_value *value, uint64_t length)
{
    rec_value *child = lr_child(value, e->part, length);
    uint64_t index;
    bool is_index;
    if (child) {
        if (value->kind == REC_KIND_MAP) {
            lr_entry_of(child)->key.form = 0; /* it is no longer assumed */
        }
        return child;
    }
    is_index = lr_path_index(e->part, length, &index);
    if (value->kind == REC_KIND_LIST && is_index && index == value->v.list->count) {
        child = lr_list_append(&e->record->arena, value->v.list);
        if (!child) {
            (void)no_memory(e);
        }
        return child;
    }
    if (value->kind == REC_KIND_LIST && value->length) {
        return list_to_map(e, value) ? make_entry(e, value, length) : NULL;
    }
    if (value->kind == REC_KIND_MAP) {
        return make_entry(e, value, length);
    }
    if (value->kind == REC_KIND_LIST && is_index) {
        (void)lr_fail_path(&e->job, REC_E_ARGUMENT, path, "index %s is beyond the end of a list of %u items", e->part,
                           (unsigned)value->v.list->count);
        return NULL;
    }
    (void)lr_fail_path(&e->job, REC_E_ARGUMENT, path, "`%s` cannot be put into %s", e->part,
                       lr_kind_words(value->kind));
    return NULL;
}

/* A new level, or an absent one: what the next part can go into. */
static bool make_level(edit *e, rec_value *value, const char *part, uint64_t length)
{
    uint64_t index = 0;
    bool is_index = value != &e->record->root && lr_path_index(part, length, &index);
    if (!make_container(e, value, is_index && index == 0 ? REC_KIND_LIST : REC_KIND_MAP)) {
        return false;
    }
    value->length = is_index ? after(index) : 0; /* of a list 1, as its first index is 0 */
    return true;
}

/* Makes a value at `path`, with its parent levels, and drops the old one. NULL: the job has failed. */
static rec_value *make_place(edit *e, const char *path)
{
    rec_value *value = &e->record->root;
    const char *rest = *path ? path : NULL;
    uint64_t length;
    if (lr_job_failed(&e->job)) {
        return NULL;
    }
    while (rest) {
        rest = lr_path_split(rest, e->part, &length);
        if (value->kind == REC_KIND_NIL && !make_level(e, value, e->part, length)) {
            return NULL;
        }
        value = make_child(e, path, value, length);
        if (!value) {
            return NULL;
        }
    }
    return value;
}

/* Views of tensors that are replaced or removed are freed now; their structure stays in the arena. */
static void forget(rec_value *value)
{
    if (value->kind == REC_KIND_TENSOR) {
        lr_tensor_free_views(value->v.tensor);
    } else if (value->kind == REC_KIND_LIST || value->kind == REC_KIND_MAP || value->kind == REC_KIND_VARIANT) {
        uint64_t count = rec_value_count(value);
        for (uint64_t i = 0; i < count; i++) {
            forget((rec_value *)rec_value_item(value, i));
        }
    }
}

/* How many values are below one that is set. */
static uint64_t count_below(const rec_value *value)
{
    if (value->kind == REC_KIND_MAP) {
        return lr_map_count(value->v.map);
    }
    return value->kind == REC_KIND_LIST ? value->v.list->count
                                        : value->kind == REC_KIND_VARIANT && value->v.variant->has_payload;
}

static rec_status put(edit *e, const char *path, const rec_value *value)
{
    rec_value *place = make_place(e, path);
    uint64_t below = place ? count_below(place) : 0;
    if (below) {
        (void)lr_fail_path(&e->job, REC_E_ARGUMENT, path, "%s of %" PRIu64 " %s is here, which would be lost",
                           lr_kind_words(place->kind), below, place->kind == REC_KIND_LIST ? "elements" : "entries");
        rec_fail_hint(&e->job, "Take it away first: rec_clear(), rec_remove().");
    } else if (place) {
        if (place->kind == REC_KIND_TENSOR && value->kind == REC_KIND_TENSOR && !value->v.tensor->id) {
            value->v.tensor->anonymous |= place->v.tensor->anonymous; /* it stays a parameter */
        }
        forget(place);
        *place = *value;
    }
    return edit_end(e);
}

/* What the setters of scalars are, each under its own name. */
static rec_status set_scalar(const char *function, rec_record *record, const char *path, rec_scalar scalar)
{
    edit e;
    rec_value value = {0};
    if (LR_NULL_OF(function, record) || LR_NULL_OF(function, path)) {
        return REC_E_ARGUMENT;
    }
    edit_begin(&e, record, path);
    if (scalar.kind < REC_KIND_NIL || scalar.kind > REC_KIND_STRING) {
        (void)lr_fail_path(&e.job, REC_E_ARGUMENT, path, "%s is not a scalar", lr_kind_words(scalar.kind));
    } else if (!lr_from_scalar(&record->arena, &scalar, &value)) {
        (void)no_memory(&e);
    }
    return put(&e, path, &value);
}

rec_status rec_set_scalar(rec_record *record, const char *path, rec_scalar scalar)
{
    if (scalar.kind == REC_KIND_STRING && scalar.v.length && LR_NULL(scalar.text)) {
        return REC_E_ARGUMENT;
    }
    return set_scalar(__func__, record, path, scalar);
}

rec_status rec_set_bool(rec_record *record, const char *path, int32_t value)
{
    return set_scalar(__func__, record, path, (rec_scalar){.kind = REC_KIND_BOOL, .v = {.i = value != 0}});
}

rec_status rec_set_int(rec_record *record, const char *path, int64_t value)
{
    return set_scalar(__func__, record, path, (rec_scalar){.kind = REC_KIND_INT, .v = {.i = value}});
}

rec_status rec_set_uint(rec_record *record, const char *path, uint64_t value)
{
    return set_scalar(__func__, record, path, (rec_scalar){.kind = REC_KIND_UINT, .v = {.u = value}});
}

rec_status rec_set_float(rec_record *record, const char *path, double value)
{
    return set_scalar(__func__, record, path, (rec_scalar){.kind = REC_KIND_FLOAT, .bits = 64, .v = {.f = value}});
}

rec_status rec_set_string(rec_record *record, const char *path, const char *value)
{
    if (LR_NULL(value)) {
        return REC_E_ARGUMENT;
    }
    return set_scalar(__func__, record, path,
                      (rec_scalar){.kind = REC_KIND_STRING, .v = {.length = strlen(value)}, .text = value});
}

rec_status rec_set_nil(rec_record *record, const char *path)
{
    return set_scalar(__func__, record, path, (rec_scalar){.kind = REC_KIND_NIL});
}

rec_status rec_set_empty(rec_record *record, const char *path, int32_t kind)
{
    edit e;
    rec_value value = {0};
    if (LR_NULL(record) || LR_NULL(path)) {
        return REC_E_ARGUMENT;
    }
    edit_begin(&e, record, path);
    if (kind != REC_KIND_LIST && kind != REC_KIND_MAP) {
        (void)lr_fail_path(&e.job, REC_E_ARGUMENT, path, "only a list or a map can be empty, not %s",
                           lr_kind_words(kind));
    } else {
        (void)make_container(&e, &value, kind);
    }
    return put(&e, path, &value);
}

rec_status rec_set_value(rec_record *record, const char *path, const rec_value *value)
{
    edit e;
    rec_value copy = {0};
    if (LR_NULL(record) || LR_NULL(path) || LR_NULL(value)) {
        return REC_E_ARGUMENT;
    }
    edit_begin(&e, record, path);
    if (!lr_value_copy(record, value, &copy)) {
        (void)no_memory(&e);
    }
    return put(&e, path, &copy);
}

rec_status rec_clear(rec_record *record, const char *path)
{
    edit e;
    rec_value *value;
    if (LR_NULL(record) || LR_NULL(path)) {
        return REC_E_ARGUMENT;
    }
    edit_begin(&e, record, path);
    value = lr_at(record, path);
    if (value) {
        forget(value);
        *value = lr_nil(REC_FORM_UNKNOWN);
    } else {
        (void)lr_fail_no_key(&e.job, record, path);
    }
    return edit_end(&e);
}

rec_status rec_remove(rec_record *record, const char *path)
{
    edit e;
    rec_value *parent, *value;
    const char *rest = path;
    uint64_t length;
    if (LR_NULL(record) || LR_NULL(path)) {
        return REC_E_ARGUMENT;
    }
    parent = &record->root;
    edit_begin(&e, record, path);
    if (lr_job_failed(&e.job)) {
        return edit_end(&e);
    }
    if (!*path) {
        (void)rec_fail(&e.job, REC_E_ARGUMENT, REC_UNKNOWN, "the root cannot be removed");
        return edit_end(&e);
    }
    while (parent && (rest = lr_path_split(rest, e.part, &length)) != NULL) {
        parent = lr_child(parent, e.part, length);
    }
    value = parent ? lr_child(parent, e.part, length) : NULL;
    if (!value) {
        (void)lr_fail_no_key(&e.job, record, path);
        return edit_end(&e);
    }
    forget(value);
    if (parent->kind == REC_KIND_MAP) {
        lr_map_remove(record, parent->v.map, (lr_entry *)((char *)value - offsetof(lr_entry, value)));
        parent->bits = 0;
    } else if (parent->kind == REC_KIND_LIST) {
        lr_list *list = parent->v.list;
        uint64_t index = (uint64_t)(value - list->items);
        memmove(&list->items[index], &list->items[index + 1], (size_t)(list->count - index - 1) * sizeof *list->items);
        list->count--;
    } else {
        (void)lr_fail_path(&e.job, REC_E_ARGUMENT, path, "the payload of a variant cannot be removed");
    }
    return edit_end(&e);
}

/* ----------------------------------------------------------------------------------------------------- tensors -- */

/* A new parameter id as Burn 0.15 and later make them: of a random u64, 13 characters. */
static bool new_id(char id[LR_ID_ROOM])
{
    uint8_t bytes[8];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return false;
    }
    lr_id_base32(bytes, sizeof bytes, id);
    return true;
}

static void free_taken(void *user, const void *data)
{
    (void)user;
    free((void *)(uintptr_t)data); /* sheds the const: it was given away */
}

/* What 0.1's program knows of a spec. */
#define SPEC_LEAST (offsetof(rec_tensor_spec, id) + sizeof(((rec_tensor_spec *)0)->id))

static bool spec_fits(const rec_tensor_spec *spec)
{
    return spec->size >= SPEC_LEAST && spec->size <= LR_STRUCT_MOST;
}

/* As far as the caller's size goes; nothing of one whose size cannot be. */
static rec_tensor_spec spec_known(const rec_tensor_spec *spec)
{
    rec_tensor_spec known = {0};
    if (spec_fits(spec)) {
        memcpy(&known, spec, spec->size < sizeof known ? spec->size : sizeof known);
    }
    return known;
}

/* Gives the caller's bytes back, where they are not kept. */
static void spec_give_back(const rec_tensor_spec *spec)
{
    lr_call call;
    if (spec->ownership == REC_TAKE) {
        free_taken(NULL, spec->data);
    } else if (spec->release) {
        lr_call_begin(&call, NULL, LR_CALL_PROGRAM, NULL);
        spec->release(spec->user, spec->data);
        lr_call_end(&call);
    }
}

/* The elements and bytes that a shape asks for. */
static int32_t check_shape(rec_job *job, const char *path, rec_dtype dtype, const uint64_t *shape, uint32_t rank,
                           uint64_t *count, uint64_t *size)
{
    char text[160];
    if (rank > LR_RANK_MOST) {
        return lr_fail_path(job, REC_E_ARGUMENT, path, "a tensor of rank %u; at most %d are supported", (unsigned)rank,
                            LR_RANK_MOST);
    }
    if (rank && !shape) {
        return lr_fail_path(job, REC_E_ARGUMENT, path, "a tensor of rank %u needs a shape", (unsigned)rank);
    }
    if (!lr_shape_count(shape, rank, count) || !lr_tensor_size(dtype, *count, size)) {
        return lr_fail_path(job, REC_E_ARGUMENT, path, "the shape %s has more elements than can be counted",
                            lr_shape_words(text, sizeof text, shape, rank));
    }
    return REC_OK;
}

static int32_t check_spec(edit *e, const char *path, const rec_tensor_spec *spec, uint64_t *count)
{
    uint64_t size = 0;
    char text[160], need[32], have[32];
    if (!spec->size || spec->ownership < REC_COPY || spec->ownership > REC_PRODUCE) {
        return lr_fail_path(&e->job, REC_E_ARGUMENT, path, "the tensor's `size` or `ownership` is not set");
    }
    if (rec_dtype_bits(spec->dtype) == 0) {
        return lr_fail_path(&e->job, REC_E_ARGUMENT, path, "a tensor cannot be made of dtype %s",
                            rec_dtype_name(spec->dtype));
    }
    if (check_shape(&e->job, path, spec->dtype, spec->shape, spec->rank, count, &size) != REC_OK) {
        return e->job.error.status;
    }
    if (size != spec->data_size) {
        return lr_fail_path(&e->job, REC_E_ARGUMENT, path, "%s %s takes %s bytes, but %s were given",
                            rec_dtype_name(spec->dtype), lr_shape_words(text, sizeof text, spec->shape, spec->rank),
                            lr_group_digits(size, need, sizeof need),
                            lr_group_digits(spec->data_size, have, sizeof have));
    }
    if (size && spec->ownership == REC_PRODUCE && !spec->produce) {
        return lr_fail_path(&e->job, REC_E_ARGUMENT, path,
                            "the tensor's bytes are to be made, and it has no `produce`");
    }
    if (size && !spec->data && spec->ownership != REC_PRODUCE) {
        return lr_fail_path(&e->job, REC_E_ARGUMENT, path, "the tensor has no data");
    }
    return REC_OK;
}

/* The bytes of a spec. @param taken (out) they were taken or given back, also if it fails. */
static lr_data *make_data(edit *e, const rec_tensor_spec *spec, bool *taken)
{
    rec_record *record = e->record;
    lr_data *data = NULL;
    rec_source *source;
    bool made = spec->ownership == REC_PRODUCE, take = spec->ownership == REC_TAKE;
    if (!spec->data_size || spec->ownership == REC_COPY) { /* no data: no elements */
        return lr_data_copy(record, spec->data, spec->data_size);
    }
    source = made ? lr_source_produced(&e->job, spec)
                  : lr_source_owned(&record->context->allocator, spec->data, spec->data_size,
                                    take ? free_taken : spec->release, spec->user);
    if (source) {
        *taken = true;
        data = lr_data_lent(record, source, made ? NULL : spec->data, spec->data_size, made ? 0 : REC_UNKNOWN);
        lr_source_release(source);
    }
    return data;
}

static rec_tensor *make_tensor(edit *e, const char *path, const rec_tensor_spec *spec)
{
    rec_record *record = e->record;
    rec_tensor *tensor = NULL;
    uint64_t *shape = NULL;
    uint64_t count = 0;
    char id[LR_ID_ROOM];
    const char *name = spec->id;
    bool taken = false;
    if (lr_job_failed(&e->job) || check_spec(e, path, spec, &count) != REC_OK) {
        goto failed;
    }
    if (name && !*name) {
        if (!new_id(id)) {
            (void)lr_fail_path(&e->job, REC_E_IO, path, "the system gave no random bytes for an id");
            goto failed;
        }
        name = id;
    } else if (name && lr_id_fault(name, strlen(name))) {
        (void)lr_fail_path(&e->job, REC_E_ARGUMENT, path, "the tensor's id %s", lr_id_fault(name, strlen(name)));
        goto failed;
    }
    tensor = lr_arena_alloc(&record->arena, sizeof *tensor, 8);
    shape = lr_arena_alloc(&record->arena, sizeof *shape * (spec->rank ? spec->rank : 1u), 8);
    if (!tensor || !shape) {
        (void)no_memory(e);
        goto failed;
    }
    memset(tensor, 0, sizeof *tensor);
    if (spec->rank) {
        memcpy(shape, spec->shape, sizeof *shape * spec->rank);
    }
    tensor->record = record;
    tensor->shape = shape;
    tensor->count = count;
    tensor->rank = (uint8_t)spec->rank;
    tensor->packed = tensor->stored = tensor->dtype = (uint8_t)spec->dtype;
    tensor->id = name ? lr_arena_text(&record->arena, name, strlen(name)) : NULL;
    tensor->anonymous = !name && spec->parameter;
    tensor->data = make_data(e, spec, &taken);
    if (!tensor->data || (name && !tensor->id)) {
        (void)no_memory(e);
        goto failed;
    }
    if (!taken) {
        spec_give_back(spec);
    }
    return tensor;
failed:
    if (!taken) {
        spec_give_back(spec);
    }
    return NULL;
}

rec_status rec_set_tensor(rec_record *record, const char *path, const rec_tensor_spec *spec)
{
    edit e;
    rec_tensor_spec known;
    rec_value value = {.kind = REC_KIND_TENSOR};
    if (LR_NULL(spec)) {
        return REC_E_ARGUMENT;
    }
    known = spec_known(spec);
    if (LR_NULL(record) || LR_NULL(path)) {
        spec_give_back(&known);
        return REC_E_ARGUMENT;
    }
    edit_begin(&e, record, path);
    value.v.tensor = make_tensor(&e, path, &known);
    return put(&e, path, &value);
}

rec_status rec_set_f32(rec_record *record, const char *path, const float *data, uint32_t rank, const uint64_t *shape)
{
    edit e;
    rec_value value = {.kind = REC_KIND_TENSOR};
    uint64_t count = 0, size = 0;
    rec_tensor_spec spec = {
        .size = sizeof spec, .dtype = REC_DTYPE_F32, .rank = rank, .ownership = REC_TAKE, .shape = shape, .id = ""};
    if (LR_NULL(record) || LR_NULL(path) || (rank && LR_NULL(shape)) ||
        (rank <= LR_RANK_MOST && lr_shape_count(shape, rank, &count) && count && LR_NULL(data))) {
        return REC_E_ARGUMENT;
    }
    edit_begin(&e, record, path);
    if (check_shape(&e.job, path, spec.dtype, shape, rank, &count, &size) == REC_OK && size) {
        void *little = malloc((size_t)size);
        if (little) {
            memcpy(little, data, (size_t)size);
            lr_swap_if_big(little, 4, count);
            spec.data = little;
            spec.data_size = size;
        } else {
            (void)no_memory(&e);
        }
    }
    value.v.tensor = make_tensor(&e, path, &spec);
    return put(&e, path, &value);
}

rec_status rec_set_id(rec_record *record, const char *path, const char *id)
{
    edit e;
    rec_value *value;
    if (LR_NULL(record) || LR_NULL(path)) {
        return REC_E_ARGUMENT;
    }
    edit_begin(&e, record, path);
    value = lr_at(record, path);
    if (!value) {
        (void)lr_fail_no_key(&e.job, record, path);
    } else if (value->kind != REC_KIND_TENSOR) {
        (void)lr_fail_path(&e.job, REC_E_NOT_FOUND, path, "there is %s here, not a tensor", lr_kind_words(value->kind));
    } else if (!id) {
        value->v.tensor->id = NULL;
        value->v.tensor->anonymous = false;
    } else if (lr_id_fault(id, strlen(id))) {
        (void)lr_fail_path(&e.job, REC_E_ARGUMENT, path, "the tensor's id %s", lr_id_fault(id, strlen(id)));
    } else {
        const char *copy = lr_arena_text(&record->arena, id, strlen(id));
        if (copy) {
            value->v.tensor->id = copy;
            value->v.tensor->id_made = false;
        } else {
            (void)no_memory(&e);
        }
    }
    if (!lr_job_failed(&e.job) && value->v.tensor->numbers) {
        value->v.tensor->numbers->id = value->v.tensor->id;
        value->v.tensor->numbers->anonymous = value->v.tensor->anonymous;
        value->v.tensor->numbers->id_made = value->v.tensor->id_made;
    }
    return edit_end(&e);
}
