/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Editing a record: setting and removing values. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/record/edit_private.h"

void lr_edit_begin(edit *e, rec_record *record, const char *path)
{
    lr_job_begin(&e->job, record->context, "edit", NULL);
    e->record = record;
    e->random_left = 0;
    e->part = lr_job_alloc(&e->job, strlen(path) + 1);
}

rec_status lr_edit_end(edit *e)
{
    lr_release(e->job.allocator, e->part);
    return lr_job_end(&e->job);
}

int32_t lr_edit_no_memory(edit *e)
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
        (void)lr_edit_no_memory(e);
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
        return LR_AS_FALSE(lr_edit_no_memory(e));
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
        return LR_AS_NULL(lr_edit_no_memory(e));
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
            (void)lr_edit_no_memory(e);
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
        return LR_AS_NULL(lr_fail_path(&e->job, REC_E_ARGUMENT, path,
                                       "index %s is beyond the end of a list of %u items", e->part,
                                       (unsigned)value->v.list->count));
    }
    return LR_AS_NULL(
        lr_fail_path(&e->job, REC_E_ARGUMENT, path, "`%s` cannot be put into %s", e->part, lr_kind_words(value->kind)));
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

rec_status lr_edit_put(edit *e, const char *path, const rec_value *value)
{
    rec_value *place = make_place(e, path);
    uint64_t below = place && place->kind != REC_KIND_NUMBERS ? rec_value_count(place) : 0;
    if (below) {
        (void)lr_fail_path(&e->job, REC_E_ARGUMENT, path, "%s of %" PRIu64 " %s is here, which would be lost",
                           lr_kind_words(place->kind), below, place->kind == REC_KIND_LIST ? "elements" : "entries");
        rec_fail_hint(&e->job, "Remove it first: rec_clear(), rec_remove().");
    } else if (place) {
        if (place->kind == REC_KIND_TENSOR && value->kind == REC_KIND_TENSOR && !value->v.tensor->id) {
            value->v.tensor->anonymous |= place->v.tensor->anonymous; /* it stays a parameter */
        }
        lr_value_free_views(place);
        *place = *value;
    }
    return lr_edit_end(e);
}

/* What the setters of scalars are, each under its own name. */
static rec_status set_scalar(const char *function, rec_record *record, const char *path, rec_scalar scalar)
{
    edit e;
    rec_value value = {0};
    if (LR_NULL_OF(function, record) || LR_NULL_OF(function, path)) {
        return REC_E_ARGUMENT;
    }
    lr_edit_begin(&e, record, path);
    if (scalar.kind < REC_KIND_NIL || scalar.kind > REC_KIND_STRING) {
        (void)lr_fail_path(&e.job, REC_E_ARGUMENT, path, "%s is not a scalar", lr_kind_words(scalar.kind));
    } else if (!lr_from_scalar(&record->arena, &scalar, &value)) {
        (void)lr_edit_no_memory(&e);
    }
    return lr_edit_put(&e, path, &value);
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
    lr_edit_begin(&e, record, path);
    if (kind != REC_KIND_LIST && kind != REC_KIND_MAP) {
        (void)lr_fail_path(&e.job, REC_E_ARGUMENT, path, "only a list or a map can be empty, not %s",
                           lr_kind_words(kind));
    } else {
        (void)make_container(&e, &value, kind);
    }
    return lr_edit_put(&e, path, &value);
}

rec_status rec_set_value(rec_record *record, const char *path, const rec_value *value)
{
    edit e;
    rec_value copy = {0};
    if (LR_NULL(record) || LR_NULL(path) || LR_NULL(value)) {
        return REC_E_ARGUMENT;
    }
    lr_edit_begin(&e, record, path);
    if (!lr_value_copy(record, value, &copy)) {
        (void)lr_edit_no_memory(&e);
    }
    return lr_edit_put(&e, path, &copy);
}

rec_status rec_clear(rec_record *record, const char *path)
{
    edit e;
    rec_value *value;
    if (LR_NULL(record) || LR_NULL(path)) {
        return REC_E_ARGUMENT;
    }
    lr_edit_begin(&e, record, path);
    value = lr_at(record, path);
    if (value) {
        lr_value_free_views(value);
        *value = lr_nil(REC_FORM_UNKNOWN);
    } else {
        (void)lr_fail_no_key(&e.job, record, path);
    }
    return lr_edit_end(&e);
}

/* The value at a path and what it is in; its name is in `part`. NULL: the job has failed. */
static rec_value *find(edit *e, const char *path, rec_value **parent, uint64_t *length)
{
    const char *rest = path;
    rec_value *value;
    *parent = &e->record->root;
    if (lr_job_failed(&e->job)) {
        return NULL;
    }
    while (*parent && (rest = lr_path_split(rest, e->part, length)) != NULL) {
        *parent = lr_child(*parent, e->part, *length);
    }
    value = *parent ? lr_child(*parent, e->part, *length) : NULL;
    if (!value) {
        (void)lr_fail_no_key(&e->job, e->record, path);
    }
    return value;
}

/* Closes the place of a value that is forgotten or elsewhere now. */
static void take_out(edit *e, const char *path, rec_value *parent, rec_value *value)
{
    if (parent->kind == REC_KIND_MAP) {
        lr_map_remove(e->record, parent->v.map, lr_entry_of(value));
        parent->bits = 0;
    } else if (parent->kind == REC_KIND_LIST) {
        lr_list *list = parent->v.list;
        uint64_t index = (uint64_t)(value - list->items);
        memmove(&list->items[index], &list->items[index + 1], (size_t)(list->count - index - 1) * sizeof *list->items);
        list->count--;
    } else {
        (void)lr_fail_path(&e->job, REC_E_ARGUMENT, path, "the payload of a variant cannot be removed");
    }
}

rec_status rec_remove(rec_record *record, const char *path)
{
    edit e;
    rec_value *parent, *value;
    uint64_t length;
    if (LR_NULL(record) || LR_NULL(path)) {
        return REC_E_ARGUMENT;
    }
    lr_edit_begin(&e, record, path);
    if (!*path) {
        (void)rec_fail(&e.job, REC_E_ARGUMENT, REC_UNKNOWN, "the root cannot be removed");
    }
    value = find(&e, path, &parent, &length);
    if (value) {
        lr_value_free_views(value);
        take_out(&e, path, parent, value);
    }
    return lr_edit_end(&e);
}

/* Whether both paths end in one level, whose last part `to` has in `part` then. */
static bool share_level(edit *e, const char *from, const char *to, uint64_t *length)
{
    const char *a = lr_path_last(from, strlen(from)), *b = lr_path_last(to, strlen(to));
    bool share = a - from == b - to && memcmp(from, to, (size_t)(a - from)) == 0;
    if (share) {
        (void)lr_path_split(b, e->part, length);
    }
    return share;
}

/* Gives an entry another name in its place. */
static void rename_entry(edit *e, rec_value *parent, rec_value *value, uint64_t length)
{
    rec_value key;
    if (lr_string(&e->record->arena, e->part, length, &key)) {
        lr_map_rename(parent->v.map, lr_entry_of(value), key);
        parent->bits = 0;
        parent->length = 0;
    } else {
        (void)lr_edit_no_memory(e);
    }
}

/* Whether the path `to` leads through a value. */
static bool leads_through(edit *e, const char *to, const rec_value *value)
{
    const rec_value *at = &e->record->root;
    uint64_t length;
    while (at && at != value && to) {
        to = lr_path_split(to, e->part, &length);
        at = lr_child(at, e->part, length);
    }
    return at == value;
}

static bool can_move(edit *e, const char *from, const char *to, const rec_value *parent, const rec_value *value)
{
    const rec_value *there = lr_at(e->record, to);
    if (leads_through(e, to, value)) {
        (void)lr_fail_path(&e->job, REC_E_ARGUMENT, from, "`%.200s` is this value, or below it", to);
    } else if (there) {
        (void)lr_fail_path(&e->job, REC_E_ARGUMENT, to, "there is %s here already", lr_kind_words(there->kind));
        rec_fail_hint(&e->job, "Remove it first: rec_remove().");
    } else if (parent->kind == REC_KIND_VARIANT) {
        (void)lr_fail_path(&e->job, REC_E_ARGUMENT, from, "the payload of a variant cannot be moved");
    }
    return !lr_job_failed(&e->job);
}

static void move(edit *e, const char *from, const char *to)
{
    uint64_t length;
    rec_value *parent, *value = find(e, from, &parent, &length), *place;
    if (!value || !can_move(e, from, to, parent, value)) {
        return;
    }
    if (parent->kind == REC_KIND_MAP && share_level(e, from, to, &length)) {
        rename_entry(e, parent, value, length);
        return;
    }
    place = make_place(e, to);
    value = place ? find(e, from, &parent, &length) : NULL; /* the new place may have moved it */
    if (value) {
        *place = *value;
        *value = lr_nil(REC_FORM_UNKNOWN);
        take_out(e, from, parent, value);
    }
}

rec_status rec_move(rec_record *record, const char *from, const char *to)
{
    edit e;
    if (LR_NULL(record) || LR_NULL(from) || LR_NULL(to)) {
        return REC_E_ARGUMENT;
    }
    lr_edit_begin(&e, record, strlen(from) > strlen(to) ? from : to);
    if (!*from || !*to) {
        (void)rec_fail(&e.job, REC_E_ARGUMENT, REC_UNKNOWN, "the root cannot be moved");
    } else if (!lr_job_failed(&e.job)) {
        move(&e, from, to);
    }
    return lr_edit_end(&e);
}

rec_status rec_insert(rec_record *record, const char *path)
{
    edit e;
    rec_value *parent, *value;
    uint64_t length, index;
    if (LR_NULL(record) || LR_NULL(path)) {
        return REC_E_ARGUMENT;
    }
    lr_edit_begin(&e, record, path);
    value = find(&e, path, &parent, &length);
    if (value && parent->kind != REC_KIND_LIST) {
        (void)lr_fail_path(&e.job, REC_E_ARGUMENT, path, "expected an index of a list, found a name in %s",
                           lr_kind_words(parent->kind));
    } else if (value) {
        lr_list *list = parent->v.list;
        index = (uint64_t)(value - list->items);
        if (!lr_list_append(&record->arena, list)) {
            (void)lr_edit_no_memory(&e);
        } else {
            memmove(&list->items[index + 1], &list->items[index],
                    (size_t)(list->count - index - 1) * sizeof *list->items);
            list->items[index] = lr_nil(REC_FORM_UNKNOWN);
        }
    }
    return lr_edit_end(&e);
}
