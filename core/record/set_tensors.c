/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Setting many tensors at once by flat names: the names are sorted, compared with their neighbours, and then become a
 * tree level by level. Nothing is made before all names and specs are known to be good. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/record/edit_private.h"

enum { LEVELS_MOST = 200 /* of a record; the recursion stops there too */ };

/* A name without its escapes: its parts are separated by NUL, which no name holds. */
typedef struct item {
    const char *parts;
    uint64_t length;
    uint64_t number; /* place among the caller's names */
} item;

typedef struct setting {
    edit e;
    const char *const *names;
    const rec_tensor_spec *specs;
    uint64_t count;
    lr_arena arena; /* of all that ends with the call */
    item *items;    /* sorted */
    rec_tensor **tensors;
    bool close;
} setting;

/* Children of one level: items that share a part. */
typedef struct group {
    uint64_t begin, end; /* items */
    uint64_t order;      /* of a list the index, of a map the place of its first name */
    uint32_t length;     /* of the part */
} group;

/* The array's elements are as large as the caller's struct. */
static rec_tensor_spec spec_at(const setting *s, uint64_t i)
{
    return lr_spec_known((const rec_tensor_spec *)(const void *)((const char *)s->specs + i * s->specs->size));
}

static void give_back(const setting *s, uint64_t begin)
{
    for (uint64_t i = begin; i < s->count; i++) {
        rec_tensor_spec spec = spec_at(s, i);
        lr_spec_give_back(&spec);
    }
}

/* ------------------------------------------------------------------------------------------------------- names -- */

static int by_parts(const void *a, const void *b)
{
    const item *x = a, *y = b;
    int order = memcmp(x->parts, y->parts, (size_t)(x->length < y->length ? x->length : y->length));
    order = order ? order : (x->length > y->length) - (x->length < y->length);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static int32_t split(setting *s, uint64_t number)
{
    const char *name = s->names[number], *rest = name;
    char *parts;
    uint64_t used = 0, length, levels = 0;
    if (!name || !*name) {
        return rec_fail(&s->e.job, REC_E_ARGUMENT, REC_UNKNOWN, "name %" PRIu64 " is %s", number,
                        name ? "empty: the root itself cannot be one of many tensors" : "NULL");
    }
    parts = lr_arena_alloc(&s->arena, strlen(name) + 1, 1);
    if (!parts) {
        return lr_edit_no_memory(&s->e);
    }
    for (; rest; levels++) {
        rest = lr_path_split(rest, parts + used, &length); /* ends in NUL */
        used += length + 1;
    }
    if (levels > LEVELS_MOST) {
        return lr_fail_path(&s->e.job, REC_E_LIMIT, name, "a name of %" PRIu64 " levels; at most %d are supported",
                            levels, LEVELS_MOST);
    }
    s->items[number] = (item){.parts = parts, .length = used - 1, .number = number};
    return REC_OK;
}

/* Names below a name come right after it. */
static int32_t compare_neighbours(setting *s)
{
    for (uint64_t i = 1; i < s->count; i++) {
        const item *a = &s->items[i - 1], *b = &s->items[i];
        const char *first = s->names[a->number], *second = s->names[b->number];
        if (a->length > b->length || memcmp(a->parts, b->parts, (size_t)a->length) != 0 || b->parts[a->length]) {
            continue;
        }
        if (a->length == b->length) {
            return lr_fail_path(&s->e.job, REC_E_ARGUMENT, second,
                                "two tensors of one name: `%.200s` is name %" PRIu64 " and `%.200s` is name %" PRIu64,
                                first, a->number, second, b->number);
        }
        (void)lr_fail_path(&s->e.job, REC_E_ARGUMENT, second,
                           "`%.200s` would be below `%.200s`, which is a tensor itself", second, first);
        return LR_HINT(&s->e.job, "Rename one of them, or write the dots of a name as \\.");
    }
    return REC_OK;
}

static int32_t read_names(setting *s)
{
    for (uint64_t i = 0; i < s->count; i++) {
        if (split(s, i) != REC_OK) {
            return s->e.job.error.status;
        }
    }
    qsort(s->items, (size_t)s->count, sizeof *s->items, by_parts);
    return compare_neighbours(s);
}

/* -------------------------------------------------------------------------------------------------------- tree -- */

static int by_order(const void *a, const void *b)
{
    const group *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

/* Takes the items of one level apart. NULL: the job has failed. */
static group *find_groups(setting *s, const group *level, uint64_t offset, uint64_t *count)
{
    group *groups = lr_arena_alloc(&s->arena, (level->end - level->begin) * sizeof *groups, 8);
    *count = 0;
    if (!groups) {
        return LR_AS_NULL(lr_edit_no_memory(&s->e));
    }
    for (uint64_t i = level->begin; i < level->end; i++) {
        const item *one = &s->items[i];
        const char *part = one->parts + offset;
        group *last = *count ? &groups[*count - 1] : NULL;
        size_t length = strlen(part);
        if (last && last->length == length && memcmp(s->items[last->begin].parts + offset, part, length) == 0) {
            last->end++;
            last->order = one->number < last->order ? one->number : last->order;
        } else {
            groups[(*count)++] = (group){.begin = i, .end = i + 1, .order = one->number, .length = (uint32_t)length};
        }
    }
    return groups;
}

/* Whether the parts are a list's, without gaps or with such as may be closed. */
static bool is_list(const setting *s, const group *groups, uint64_t count, uint64_t offset)
{
    uint64_t index;
    for (uint64_t i = 0; i < count; i++) {
        const char *part = s->items[groups[i].begin].parts + offset;
        if (!lr_path_index(part, groups[i].length, &index) || (!s->close && index >= count)) {
            return false;
        }
    }
    return true; /* no two are the same */
}

static int32_t build(setting *s, const group *level, uint64_t offset, bool root, rec_value *out);

/* The tensor or level that a group is. */
static int32_t build_one(setting *s, const group *one, uint64_t offset, rec_value *out)
{
    const item *first = &s->items[one->begin];
    if (first->length == offset + one->length) {
        *out = (rec_value){.kind = REC_KIND_TENSOR, .v.tensor = s->tensors[first->number]};
        return REC_OK;
    }
    return build(s, one, offset + one->length + 1, false, out);
}

static int32_t build_list(setting *s, group *groups, uint64_t count, uint64_t offset, rec_value *out)
{
    lr_list *list = lr_list_new(&s->e.record->arena, count);
    int32_t status = list ? REC_OK : lr_edit_no_memory(&s->e);
    for (uint64_t i = 0; i < count; i++) {
        (void)lr_path_index(s->items[groups[i].begin].parts + offset, groups[i].length, &groups[i].order);
    }
    qsort(groups, (size_t)count, sizeof *groups, by_order);
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        status = build_one(s, &groups[i], offset, &list->items[i]);
    }
    if (status == REC_OK) {
        list->count = count;
        *out = (rec_value){.kind = REC_KIND_LIST, .v.list = list};
    }
    return status;
}

/* @param map filled in. */
static int32_t build_map(setting *s, group *groups, uint64_t count, uint64_t offset, lr_map *map)
{
    lr_arena *arena = &s->e.record->arena;
    qsort(groups, (size_t)count, sizeof *groups, by_order);
    for (uint64_t i = 0; i < count; i++) {
        rec_value key, value;
        lr_entry *entry;
        if (build_one(s, &groups[i], offset, &value) != REC_OK) {
            return s->e.job.error.status;
        }
        if (!lr_string(arena, s->items[groups[i].begin].parts + offset, groups[i].length, &key) ||
            !(entry = lr_map_append(arena, map, key))) {
            return lr_edit_no_memory(&s->e);
        }
        entry->value = value;
    }
    return REC_OK;
}

static int32_t build(setting *s, const group *level, uint64_t offset, bool root, rec_value *out)
{
    uint64_t count;
    group *groups = find_groups(s, level, offset, &count);
    lr_map *map;
    if (!groups) {
        return s->e.job.error.status;
    }
    if (!root && is_list(s, groups, count, offset)) {
        return build_list(s, groups, count, offset, out);
    }
    map = lr_map_new(&s->e.record->arena, count);
    *out = (rec_value){.kind = REC_KIND_MAP, .v.map = map};
    return map ? build_map(s, groups, count, offset, map) : lr_edit_no_memory(&s->e);
}

/* ------------------------------------------------------------------------------------------------- all of them -- */

/* The first names must be new: nothing that is there is replaced. */
static int32_t check_new(setting *s)
{
    const rec_value *root = &s->e.record->root;
    if (root->kind != REC_KIND_MAP && root->kind != REC_KIND_NIL) {
        return rec_fail(&s->e.job, REC_E_ARGUMENT, REC_UNKNOWN, "the record is %s, which has no names",
                        lr_kind_words(root->kind));
    }
    for (uint64_t i = 0; i < s->count; i++) {
        const char *part = s->items[i].parts;
        if (lr_child(root, part, strlen(part))) {
            (void)lr_fail_path(&s->e.job, REC_E_ARGUMENT, s->names[s->items[i].number],
                               "the record has `%.200s` already", part);
            return LR_HINT(&s->e.job, "Remove it first: rec_remove().");
        }
    }
    return REC_OK;
}

static int32_t check_specs(setting *s)
{
    uint64_t elements;
    for (uint64_t i = 0; i < s->count && !lr_job_failed(&s->e.job); i++) {
        rec_tensor_spec spec = spec_at(s, i);
        (void)lr_spec_check(&s->e, s->names[i], &spec, &elements);
    }
    return s->e.job.error.status;
}

/* Makes all tensors: from here on the bytes belong to the record, whatever happens. */
static int32_t make_tensors(setting *s)
{
    for (uint64_t i = 0; i < s->count; i++) {
        rec_tensor_spec spec = spec_at(s, i);
        s->tensors[i] = lr_spec_tensor(&s->e, s->names[i], &spec);
        if (!s->tensors[i]) {
            give_back(s, i + 1);
            return s->e.job.error.status;
        }
    }
    return REC_OK;
}

/* Adds the entries of the new tree to the root, all or none. */
static int32_t join(setting *s, const lr_map *map)
{
    rec_value *root = &s->e.record->root;
    uint64_t i;
    if (root->kind == REC_KIND_NIL || lr_map_count(root->v.map) == 0) {
        root->v.map = (lr_map *)(uintptr_t)map;
        root->kind = REC_KIND_MAP;
        return REC_OK;
    }
    for (i = 0; i < map->count; i++) {
        lr_entry *entry = lr_map_append(&s->e.record->arena, root->v.map, map->entries[i].key);
        if (!entry) {
            break;
        }
        entry->value = map->entries[i].value;
    }
    if (i == map->count) {
        return REC_OK;
    }
    while (i-- > 0) {
        lr_map_remove(s->e.record, root->v.map,
                      lr_map_find_text(root->v.map, map->entries[i].key.v.text, map->entries[i].key.length));
    }
    return lr_edit_no_memory(&s->e);
}

static int32_t set_all(setting *s)
{
    const group all = {.end = s->count};
    rec_value tree = {0};
    s->items = lr_arena_alloc(&s->arena, s->count * sizeof *s->items, 8);
    s->tensors = lr_arena_alloc(&s->arena, s->count * sizeof(rec_tensor *), 8);
    if (!s->items || !s->tensors) {
        (void)lr_edit_no_memory(&s->e);
    }
    if (lr_job_failed(&s->e.job) || read_names(s) != REC_OK || check_specs(s) != REC_OK || check_new(s) != REC_OK) {
        give_back(s, 0);
        return s->e.job.error.status;
    }
    if (make_tensors(s) != REC_OK || build(s, &all, 0, true, &tree) != REC_OK) {
        return s->e.job.error.status;
    }
    return join(s, tree.v.map);
}

rec_status rec_set_tensors(rec_record *record, const char *const *names, const rec_tensor_spec *specs, uint64_t count,
                           uint32_t flags)
{
    setting s = {.names = names, .specs = specs, .count = count, .close = flags == REC_NAMES_CLOSE_GAPS};
    if (count && LR_NULL(specs)) {
        return REC_E_ARGUMENT;
    }
    if (LR_NULL(record) || (count && LR_NULL(names))) {
        give_back(&s, 0);
        return REC_E_ARGUMENT;
    }
    lr_edit_begin(&s.e, record, "");
    lr_arena_init(&s.arena, s.e.job.allocator);
    if (flags > REC_NAMES_CLOSE_GAPS || count > UINT32_MAX) {
        (void)rec_fail(&s.e.job, REC_E_ARGUMENT, REC_UNKNOWN,
                       flags > REC_NAMES_CLOSE_GAPS ? "rec_set_tensors: unknown flags 0x%" PRIx64
                                                    : "rec_set_tensors: %" PRIu64 " tensors are too many",
                       flags > REC_NAMES_CLOSE_GAPS ? (uint64_t)flags : count);
        give_back(&s, 0);
    } else if (count) {
        (void)set_all(&s);
    }
    lr_arena_free(&s.arena);
    return lr_edit_end(&s.e);
}
