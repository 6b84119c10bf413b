/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A flat map of paths as a tree, in place. Of a foreign file it is what a plan without rules, type and adapter makes of it,
 * without the plan. A file of 100,000 tensors is looked at in a few milliseconds this way. */
#include <stdlib.h>
#include <string.h>

#include "remap/remap.h"

/* While keys are taken apart, a dot that is part of a name is a byte that no UTF-8 has, so that all others separate. */
enum { NAMES_DOT = 0xff };

typedef struct item {
    const char *key;  /* as it is */
    const char *text; /* with nothing escaped */
    uint32_t length;  /* of the text */
    uint32_t order; /* place in the file */
    rec_value *value;
} item;

typedef struct splitter {
    rec_job *job;
    lr_arena *arena;
    item *items;
    bool odd;    /* some name has a dot */
    bool strict; /* nothing may stand below a value */
} splitter;

/* A part of a key and what begins with it: items [first, end). */
typedef struct group {
    uint32_t first, end;
    uint32_t length; /* of the part */
    uint32_t order;  /* of the earliest item */
} group;

/* By parts: `a.b` comes right behind `a`, whatever other characters sort before a dot. */
static int by_parts(const void *a, const void *b)
{
    const item *x = a, *y = b;
    uint32_t shared = x->length < y->length ? x->length : y->length;
    for (uint32_t i = 0; i < shared; i++) {
        unsigned char c = (unsigned char)x->text[i], d = (unsigned char)y->text[i];
        if (c != d) {
            return c == '.' ? -1 : d == '.' ? 1 : c < d ? -1 : 1;
        }
    }
    return x->length < y->length ? -1 : x->length > y->length;
}

static uint32_t part_length(const item *one, uint32_t offset)
{
    const char *dot = memchr(one->text + offset, '.', one->length - offset);
    return (uint32_t)(dot ? dot - one->text : one->length) - offset;
}

/* The group that begins at item `first`, in items that end at `end`. */
static group next_group(const splitter *s, uint32_t first, uint32_t end, uint32_t offset)
{
    const item *one = &s->items[first];
    group g = {.first = first, .end = first + 1, .length = part_length(one, offset), .order = one->order};
    uint32_t stop = offset + g.length;
    for (; g.end < end; g.end++) {
        const item *other = &s->items[g.end];
        if (other->length < stop || (other->length > stop && other->text[stop] != '.') ||
            memcmp(other->text + offset, one->text + offset, g.length) != 0) {
            break;
        }
        g.order = other->order < g.order ? other->order : g.order;
    }
    return g;
}

static bool is_leaf(const splitter *s, const group *g, uint32_t offset)
{
    return s->items[g->first].length == offset + g->length;
}

static int by_order(const void *a, const void *b)
{
    const group *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* The plain decimal index that a part is, REC_UNKNOWN if it is none. */
static uint64_t plain_index(const char *text, uint32_t length)
{
    uint64_t index;
    if (length == 0 || text[0] == '+' || (text[0] == '0' && length > 1) || !lr_node_index(text, length, &index)) {
        return REC_UNKNOWN;
    }
    return index;
}

static int32_t split(splitter *s, uint32_t first, uint32_t end, uint32_t offset, bool root, rec_value *out);

/* What stands at a group: its leaf, or what is below it. */
static int32_t split_group(splitter *s, const group *g, uint32_t offset, rec_value *out)
{
    if (is_leaf(s, g, offset)) {
        *out = *s->items[g->first].value;
        return REC_OK;
    }
    return split(s, g->first, g->end, offset + g->length + 1, false, out);
}

/* A name with its dots. NULL: out of memory. */
static const char *with_dots(splitter *s, const char *name, uint32_t length)
{
    char *copy = lr_arena_alloc(s->arena, (uint64_t)length + 1, 1);
    for (uint32_t i = 0; copy && i < length; i++) {
        copy[i] = (char)((unsigned char)name[i] == NAMES_DOT ? '.' : name[i]);
    }
    if (copy) {
        copy[length] = '\0';
    }
    return copy;
}

static int32_t put(splitter *s, lr_map *map, const char *name, uint32_t length, const rec_value *value)
{
    rec_value key;
    lr_entry *entry;
    if (s->odd && memchr(name, NAMES_DOT, length) && !(name = with_dots(s, name, length))) {
        return lr_fail_memory(s->job, length);
    }
    entry = lr_string(s->arena, name, length, &key) ? lr_map_append(s->arena, map, key) : NULL;
    if (!entry) {
        return lr_fail_memory(s->job, length);
    }
    entry->value = *value;
    return REC_OK;
}

static int32_t as_map(splitter *s, const group *groups, uint32_t count, uint32_t offset, uint64_t entries,
                      rec_value *out)
{
    lr_map *map = lr_map_new(s->arena, entries);
    lr_entry *twice;
    int32_t status = map ? REC_OK : lr_fail_memory(s->job, entries);
    for (uint32_t i = 0; i < count && status == REC_OK; i++) {
        const group *g = &groups[i];
        bool both = is_leaf(s, g, offset) && g->end - g->first > 1;
        rec_value value;
        if (both && s->strict) {
            status = rec_fail(s->job, REC_E_FORMAT, REC_UNKNOWN, "the key %.200s is below the key %.200s, which has a value",
                              s->items[g->first + 1].key, s->items[g->first].key);
            break;
        }
        status = split_group(s, g, offset, &value);
        status = status == REC_OK ? put(s, map, s->items[g->first].text + offset, g->length, &value) : status;
        /* A tensor and keys below its name: they stand beside it, under names with dots. */
        for (uint32_t k = g->first + 1; both && k < g->end && status == REC_OK; k++) {
            status = put(s, map, s->items[k].text + offset, s->items[k].length - offset, s->items[k].value);
        }
    }
    if (status == REC_OK && !lr_map_index(s->arena, map, &twice)) {
        status = lr_fail_memory(s->job, entries);
    }
    *out = (rec_value){.kind = REC_KIND_MAP, .form = REC_FORM_UNKNOWN, .v.map = map};
    return status;
}

/* @return whether the groups are the elements of a list, each once. */
static bool are_elements(const splitter *s, const group *groups, uint32_t count, uint32_t offset)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t index = plain_index(s->items[groups[i].first].text + offset, groups[i].length);
        if (index >= count || (is_leaf(s, &groups[i], offset) && groups[i].end - groups[i].first > 1)) {
            return false;
        }
        sum += index;
    }
    return sum == (uint64_t)count * (count - 1) / 2; /* plain spellings differ, so do the indices */
}

static int32_t as_list(splitter *s, const group *groups, uint32_t count, uint32_t offset, rec_value *out)
{
    lr_list *list = lr_list_new(s->arena, count);
    int32_t status = list ? REC_OK : lr_fail_memory(s->job, count);
    for (uint32_t i = 0; i < count && status == REC_OK; i++) {
        status = lr_list_append(s->arena, list) ? REC_OK : lr_fail_memory(s->job, count);
    }
    for (uint32_t i = 0; i < count && status == REC_OK; i++) {
        uint64_t index = plain_index(s->items[groups[i].first].text + offset, groups[i].length);
        rec_value value;
        status = split_group(s, &groups[i], offset, &value);
        list->items[index] = value;
    }
    *out = (rec_value){.kind = REC_KIND_LIST, .form = REC_FORM_UNKNOWN, .v.list = list};
    return status;
}

static int32_t split(splitter *s, uint32_t first, uint32_t end, uint32_t offset, bool root, rec_value *out)
{
    enum { AT_HAND = 16 };
    group near[AT_HAND], *groups = near;
    uint32_t count = 0, room = AT_HAND;
    uint64_t entries = 0;
    bool ordered = true;
    int32_t status = REC_OK;
    for (uint32_t i = first; i < end; i = groups[count++].end) {
        if (count == room) {
            group *wider = lr_alloc(s->job->allocator, (uint64_t)room * 2 * sizeof *wider);
            if (!wider) {
                status = lr_fail_memory(s->job, (uint64_t)room * 2 * sizeof *wider);
                goto done;
            }
            memcpy(wider, groups, count * sizeof *wider);
            if (groups != near) {
                lr_release(s->job->allocator, groups);
            }
            groups = wider;
            room *= 2;
        }
        groups[count] = next_group(s, i, end, offset);
        ordered = ordered && (count == 0 || groups[count].order > groups[count - 1].order);
        entries += is_leaf(s, &groups[count], offset) ? groups[count].end - groups[count].first : 1;
    }
    if (!root && are_elements(s, groups, count, offset)) {
        status = as_list(s, groups, count, offset, out);
    } else {
        if (!ordered) { /* maps keep the order of the file */
            qsort(groups, count, sizeof *groups, by_order);
        }
        status = as_map(s, groups, count, offset, entries, out);
    }

done:
    if (groups != near) {
        lr_release(s->job->allocator, groups);
    }
    return status;
}

/* Keys that are there twice (where they may be: in a sorted file all differ); and those deeper than a record may be, where the recursion stops too. */
static int32_t check(splitter *s, uint64_t count, bool twice)
{
    enum { LEVELS_MOST = 200 };
    for (uint64_t i = 0; i < count; i++) {
        unsigned dots = 0;
        if (twice && i && s->items[i].length == s->items[i - 1].length &&
            by_parts(&s->items[i], &s->items[i - 1]) == 0) {
            return rec_fail(s->job, REC_E_FORMAT, REC_UNKNOWN, "the key %.200s is there twice", s->items[i].key);
        }
        /* A key may hold NUL: its length says where it ends. */
        for (uint32_t c = 0; s->items[i].length >= LEVELS_MOST && c < s->items[i].length; c++) {
            dots += s->items[i].text[c] == '.';
        }
        if (dots >= LEVELS_MOST) {
            return rec_fail(s->job, REC_E_LIMIT, REC_UNKNOWN, "the key %.80s… has more than %d parts", s->items[i].key,
                            LEVELS_MOST);
        }
    }
    return REC_OK;
}

/* A key without its escapes. @return false: out of memory. */
static bool plain_text(splitter *s, item *one)
{
    uint32_t length = one->length, used = 0;
    char *text;
    if (!memchr(one->key, '\\', length)) {
        one->text = one->key;
        return true;
    }
    one->text = text = lr_arena_alloc(s->arena, (uint64_t)length + 1, 1);
    for (uint32_t i = 0; text && i < length; i++) {
        char next = i + 1 < length ? one->key[i + 1] : '\0';
        bool escape = one->key[i] == '\\' && (next == '.' || next == '\\');
        i += escape;
        s->odd = s->odd || (escape && next == '.');
        text[used++] = (char)(escape && next == '.' ? NAMES_DOT : one->key[i]);
    }
    one->length = used;
    return text != NULL;
}

int32_t lr_unflatten(rec_job *job, rec_record *record)
{
    bool foreign = record->adapter != REC_ADAPTER_NONE;
    splitter s = {.job = job, .arena = &record->arena, .strict = !foreign};
    const lr_map *flat = record->root.v.map;
    rec_value root = {0};
    bool sorted = true;
    int32_t status = REC_OK;
    record->parameters = true;
    record->flat = false;
    record->dotted = !foreign;
    if (flat->count == 0) {
        record->root.form = foreign ? REC_FORM_PATHS : REC_FORM_UNKNOWN;
        return REC_OK;
    }
    if (flat->count > UINT32_MAX) {
        return rec_fail(job, REC_E_LIMIT, REC_UNKNOWN, "more than 4,294,967,295 tensors");
    }
    s.items = lr_alloc(job->allocator, flat->count * sizeof *s.items);
    if (!s.items) {
        return lr_fail_memory(job, flat->count * sizeof *s.items);
    }
    for (uint64_t i = 0; i < flat->count; i++) {
        lr_entry *entry = &flat->entries[i];
        s.items[i] = (item){
            .key = entry->key.v.text, .length = entry->key.length, .order = (uint32_t)i, .value = &entry->value};
        if (!plain_text(&s, &s.items[i])) {
            status = lr_fail_memory(job, entry->key.length);
            break;
        }
        sorted = sorted && (i == 0 || by_parts(&s.items[i - 1], &s.items[i]) < 0);
    }
    if (status == REC_OK && !sorted) {
        qsort(s.items, (size_t)flat->count, sizeof *s.items, by_parts);
    }
    status = status == REC_OK ? check(&s, flat->count, !sorted) : status;
    if (status == REC_OK) {
        status = split(&s, 0, (uint32_t)flat->count, 0, true, &root);
    }
    if (status == REC_OK) {
        root.form = foreign ? REC_FORM_PATHS : REC_FORM_UNKNOWN;
        record->root = root;
    }
    lr_release(job->allocator, s.items);
    return status;
}
