/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A flat map of paths as a tree, in place. Of a foreign file it is what a plan without rules, type and adapter makes of
 * it, without the plan. Keys go into a prefix tree in the order of the file; where a key goes on as the one before
 * does, nothing is looked up. Sorted is only what is wrong. */
#include <stdlib.h>
#include <string.h>

#include <inttypes.h>

#include "remap/remap.h"

/* While keys are taken apart, a dot that is part of a name is a byte that no UTF-8 has, so that all others separate. */
enum { NAMES_DOT = 0xff };

enum {
    LEVELS_MOST = 200,  /* of a record; the recursion stops there too */
    LOOKED_THROUGH = 8, /* children that are looked through for a name; more are found by a hash */
    RECENT = 256        /* keys of the record that others may share */
};
enum { NO_INDEX = UINT32_MAX };

/* Nodes are known by their numbers; 0 is the root, and nobody's child. */
typedef struct node {
    const char *text; /* its name, of a key */
    uint32_t length, parent;
    uint32_t first, last, next; /* children; the next one of the parent's */
    uint32_t count;             /* of children */
    uint32_t leaf;              /* number of the entry + 1 */
} node;

/* Where a part of the key before ends, and its node. */
typedef struct level {
    uint32_t end, node;
} level;

/* A key without its escapes. */
typedef struct item {
    const char *text;
    uint32_t length, entry;
} item;

typedef struct splitter {
    rec_job *job;
    lr_arena *arena;
    const lr_map *flat;
    lr_pages nodes;
    uint32_t node_count;
    uint32_t *slots;      /* nodes of parents with many children, by parent and name: open addressing, 0 is free */
    uint64_t room, known; /* of the slots; room: a power of two */
    level levels[LEVELS_MOST + 1];
    uint32_t depth;
    item before;
    bool odd;    /* some name has a dot */
    bool strict; /* nothing may stand below a value */
    bool wrong;  /* a key is there twice, or too deep */
    rec_value recent[RECENT];
} splitter;

static node *node_at(const splitter *s, uint32_t number)
{
    return (node *)(void *)s->nodes.data + number;
}

/* ----------------------------------------------------------------------------------------------------- growing -- */

static bool is_named(const node *one, const char *text, uint32_t length)
{
    return one->length == length && memcmp(one->text, text, length) == 0;
}

/* The slot of the child of that name, or a free one for it. */
static uint32_t *slot_of(const splitter *s, uint32_t parent, const char *text, uint32_t length)
{
    uint64_t at = lr_key_hash(text, length) ^ parent * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t number; (number = s->slots[at & (s->room - 1)]) != 0; at++) {
        if (node_at(s, number)->parent == parent && is_named(node_at(s, number), text, length)) {
            break;
        }
    }
    return &s->slots[at & (s->room - 1)];
}

static void put_slot(const splitter *s, uint32_t number)
{
    const node *one = node_at(s, number);
    *slot_of(s, one->parent, one->text, one->length) = number;
}

/* Enters a node into the slots. */
static int32_t know(splitter *s, uint32_t number)
{
    uint32_t *before = s->slots;
    uint64_t room = s->room, wider = room ? room * 4 : 64;
    if (++s->known > room / 2) {
        s->slots = lr_job_zalloc(s->job, wider * sizeof *s->slots);
        if (!s->slots) {
            s->slots = before;
            return s->job->error.status;
        }
        s->room = wider;
        for (uint64_t i = 0; i < room; i++) {
            if (before[i]) {
                put_slot(s, before[i]);
            }
        }
        lr_release(s->job->allocator, before);
    }
    put_slot(s, number);
    return REC_OK;
}

/* Appends a node. @return false: the job has failed. */
static bool new_node(splitter *s, uint32_t parent, const char *text, uint32_t length)
{
    enum { FIRST = 64 };
    uint64_t need = ((uint64_t)s->node_count + 1) * sizeof(node);
    if (s->node_count == UINT32_MAX) {
        return LR_AS_FALSE(rec_fail(s->job, REC_E_LIMIT, REC_UNKNOWN, "more than 4,294,967,295 names"));
    }
    if (need > s->nodes.size && !lr_pages_grow(&s->nodes, s->node_count ? 2 * need : FIRST * sizeof(node))) {
        return LR_AS_FALSE(lr_fail_memory(s->job, need));
    }
    *node_at(s, s->node_count++) = (node){.text = text, .length = length, .parent = parent};
    return true;
}

/* Returns the plain decimal index that a name is, or NO_INDEX: longer lists have no index in 32 bits. */
static uint32_t index_of(const node *one)
{
    uint64_t index;
    return lr_path_index(one->text, one->length, &index) && index < NO_INDEX ? (uint32_t)index : NO_INDEX;
}

/* Finds or makes the child of that name. @return 0: the job has failed. */
static uint32_t child(splitter *s, uint32_t parent, const char *text, uint32_t length)
{
    node *p = node_at(s, parent);
    uint32_t one = p->first, number = s->node_count;
    if (p->count > LOOKED_THROUGH) {
        one = *slot_of(s, parent, text, length);
    } else {
        while (one && !is_named(node_at(s, one), text, length)) {
            one = node_at(s, one)->next;
        }
    }
    if (one || !new_node(s, parent, text, length)) {
        return one;
    }
    p = node_at(s, parent);
    if (p->last) {
        node_at(s, p->last)->next = number;
    } else {
        p->first = number;
    }
    p->last = number;
    p->count++;
    one = p->count == LOOKED_THROUGH + 1 ? p->first : number; /* those before are not in the slots yet */
    for (; p->count > LOOKED_THROUGH && one; one = node_at(s, one)->next) {
        if (know(s, one) != REC_OK) {
            return 0;
        }
    }
    return number;
}

/* A key without its escapes. @return false: out of memory. */
static bool plain_text(splitter *s, uint32_t entry, item *one)
{
    const rec_value *key = &s->flat->entries[entry].key;
    uint32_t used = 0;
    char *text;
    *one = (item){.text = key->v.text, .length = key->length, .entry = entry};
    if (!memchr(key->v.text, '\\', key->length)) {
        return true;
    }
    one->text = text = lr_arena_alloc(s->arena, (uint64_t)key->length + 1, 1);
    for (uint32_t i = 0; text && i < key->length; i++) {
        char next = i + 1 < key->length ? key->v.text[i + 1] : '\0';
        bool escape = key->v.text[i] == '\\' && (next == '.' || next == '\\');
        i += escape;
        s->odd = s->odd || (escape && next == '.');
        text[used++] = (char)(escape && next == '.' ? NAMES_DOT : key->v.text[i]);
    }
    one->length = used;
    return text != NULL;
}

/* How many bytes two keys begin with alike. */
static uint32_t shared_length(const item *a, const item *b)
{
    uint32_t most = a->length < b->length ? a->length : b->length, i = 0;
    uint64_t x, y;
    for (; most - i >= 8; i += 8) {
        memcpy(&x, a->text + i, 8);
        memcpy(&y, b->text + i, 8);
        if (x != y) {
            break;
        }
    }
    while (i < most && a->text[i] == b->text[i]) {
        i++;
    }
    return i;
}

static int32_t add(splitter *s, uint32_t entry)
{
    item key;
    uint32_t shared, depth = 0, at = 0, here = 0;
    if (!plain_text(s, entry, &key)) {
        return lr_fail_memory(s->job, s->flat->entries[entry].key.length);
    }
    shared = shared_length(&key, &s->before);
    while (depth < s->depth && s->levels[depth].end <= shared &&
           (s->levels[depth].end == key.length || key.text[s->levels[depth].end] == '.')) {
        here = s->levels[depth].node;
        at = s->levels[depth++].end + 1;
    }
    while (at <= key.length) {
        const char *part = key.text + at, *dot = memchr(part, '.', key.length - at);
        uint32_t length = dot ? (uint32_t)(dot - part) : key.length - at;
        if (depth == LEVELS_MOST) {
            s->wrong = true;
            return REC_OK;
        }
        here = child(s, here, part, length);
        if (!here) {
            return s->job->error.status;
        }
        at += length;
        s->levels[depth++] = (level){.end = at++, .node = here};
    }
    s->depth = depth;
    s->before = key;
    s->wrong = s->wrong || node_at(s, here)->leaf;
    node_at(s, here)->leaf = entry + 1;
    return REC_OK;
}

/* -------------------------------------------------------------------------------------- in order, where needed -- */

/* By parts: `a.b` comes right behind `a`, whatever other characters sort before a dot. */
static int by_parts(const void *a, const void *b)
{
    const item *x = a, *y = b;
    uint32_t shared = shared_length(x, y);
    if (shared < x->length && shared < y->length) {
        unsigned char c = (unsigned char)x->text[shared], d = (unsigned char)y->text[shared];
        return c == '.' ? -1 : d == '.' ? 1 : c < d ? -1 : 1;
    }
    return x->length < y->length ? -1 : x->length > y->length;
}

typedef struct sorted {
    item *items;
    uint64_t count, room;
} sorted;

static int32_t sort_in(splitter *s, sorted *all, uint32_t entry)
{
    if (!lr_job_grow(s->job, &all->items, all->count + 1, &all->room, sizeof *all->items)) {
        return s->job->error.status;
    }
    return plain_text(s, entry, &all->items[all->count++]) ? REC_OK
                                                           : lr_fail_memory(s->job, s->flat->entries[entry].key.length);
}

/* The entries below a node. */
static int32_t below(splitter *s, uint32_t number, sorted *all)
{
    int32_t status = REC_OK;
    for (uint32_t c = node_at(s, number)->first; c && status == REC_OK; c = node_at(s, c)->next) {
        status = node_at(s, c)->leaf ? sort_in(s, all, node_at(s, c)->leaf - 1) : REC_OK;
        status = status == REC_OK ? below(s, c, all) : status;
    }
    return status;
}

static void sort(sorted *all)
{
    qsort(all->items, (size_t)all->count, sizeof *all->items, by_parts);
}

static const char *key_of(const splitter *s, const item *one)
{
    return s->flat->entries[one->entry].key.v.text;
}

static uint64_t place_of(const splitter *s, const item *one)
{
    const rec_value *value = &s->flat->entries[one->entry].value;
    return value->kind == REC_KIND_TENSOR ? value->v.tensor->data->offset : REC_UNKNOWN;
}

/* Two entries have one key: names both places, of the data in the file or else among the entries. */
static int32_t fail_twice(splitter *s, const item *a, const item *b)
{
    const item *first = a->entry < b->entry ? a : b, *second = first == a ? b : a;
    uint64_t here = place_of(s, first), there = place_of(s, second);
    if (here == REC_UNKNOWN || there == REC_UNKNOWN) {
        return rec_fail(s->job, REC_E_FORMAT, REC_UNKNOWN,
                        "the key `%.200s` occurs twice, as entries %" PRIu64 " and %" PRIu64, key_of(s, first),
                        (uint64_t)first->entry + 1, (uint64_t)second->entry + 1);
    }
    return rec_fail(s->job, REC_E_FORMAT, there,
                    "the key `%.200s` occurs twice, with data at bytes %" PRIu64 " and %" PRIu64, key_of(s, first),
                    here, there);
}

/* Says what is wrong with the first key, by its parts, that is there twice or deeper than a record may be. */
static int32_t fail_wrong(splitter *s)
{
    sorted all = {0};
    int32_t status = REC_OK;
    for (uint32_t i = 0; i < s->flat->count && status == REC_OK; i++) {
        status = sort_in(s, &all, i);
    }
    if (status == REC_OK) {
        sort(&all);
    }
    for (uint64_t i = 0; i < all.count && status == REC_OK; i++) {
        const item *one = &all.items[i];
        unsigned dots = 0;
        if (i && one->length == one[-1].length && by_parts(one, one - 1) == 0) {
            status = fail_twice(s, one - 1, one);
        }
        for (uint32_t c = 0; c < one->length; c++) { /* a key may hold NUL: its length says where it ends */
            dots += one->text[c] == '.';
        }
        if (dots >= LEVELS_MOST && status == REC_OK) {
            status = rec_fail(s->job, REC_E_LIMIT, REC_UNKNOWN, "the key %.80s… has more than %d parts", key_of(s, one),
                              LEVELS_MOST);
        }
    }
    lr_release(s->job->allocator, all.items);
    return status;
}

/* --------------------------------------------------------------------------------------------- what it is then -- */

static int32_t value_of(splitter *s, uint32_t number, uint32_t offset, rec_value *out);

/* Whether a node has a value and others below it. */
static bool is_both(const node *one)
{
    return one->leaf && one->first;
}

/* A name as a key, with its dots. Names come again and again: their text is shared. */
static int32_t key_value(splitter *s, const char *text, uint32_t length, rec_value *key)
{
    rec_value *recent = &s->recent[lr_key_hash(text, length) % RECENT];
    char *dotted = NULL;
    if (recent->v.text && recent->length == length && memcmp(recent->v.text, text, length) == 0) {
        *key = *recent;
        return REC_OK;
    }
    if (s->odd && memchr(text, NAMES_DOT, length)) {
        dotted = lr_alloc(s->job->allocator, length);
        for (uint32_t i = 0; dotted && i < length; i++) {
            dotted[i] = (char)((unsigned char)text[i] == NAMES_DOT ? '.' : text[i]);
        }
        text = dotted;
    }
    if (!text || !lr_string(s->arena, text, length, key)) {
        (void)lr_fail_memory(s->job, length);
    } else {
        *recent = *key;
    }
    lr_release(s->job->allocator, dotted);
    return s->job->error.status;
}

static int32_t put(splitter *s, lr_map *map, const char *text, uint32_t length, const rec_value *value)
{
    lr_entry *entry = &map->entries[map->count++];
    entry->value = *value;
    return key_value(s, text, length, &entry->key);
}

/* A value with keys below its name: these become siblings with dotted names. A record of Burn has no such keys. */
static int32_t put_below(splitter *s, lr_map *map, uint32_t number, uint32_t offset)
{
    sorted all = {0};
    int32_t status = below(s, number, &all);
    if (status == REC_OK) {
        sort(&all);
    }
    if (status == REC_OK && s->strict) {
        status =
            rec_fail(s->job, REC_E_FORMAT, REC_UNKNOWN, "the key %.200s is below the key %.200s, which has a value",
                     key_of(s, &all.items[0]), s->flat->entries[node_at(s, number)->leaf - 1].key.v.text);
    }
    for (uint64_t i = 0; i < all.count && status == REC_OK; i++) {
        const item *one = &all.items[i];
        status = put(s, map, one->text + offset, one->length - offset, &s->flat->entries[one->entry].value);
    }
    lr_release(s->job->allocator, all.items);
    return status;
}

static uint64_t count_below(const splitter *s, uint32_t number)
{
    uint64_t count = 0;
    for (uint32_t c = node_at(s, number)->first; c; c = node_at(s, c)->next) {
        count += (node_at(s, c)->leaf != 0) + count_below(s, c);
    }
    return count;
}

static int32_t as_map(splitter *s, uint32_t number, uint32_t offset, rec_value *out)
{
    const node *parent = node_at(s, number);
    uint64_t entries = parent->count;
    lr_map *map;
    lr_entry *twice;
    int32_t status;
    for (uint32_t c = parent->first; c; c = node_at(s, c)->next) {
        entries += is_both(node_at(s, c)) ? count_below(s, c) : 0;
    }
    map = lr_map_new(s->arena, entries);
    status = map ? REC_OK : lr_fail_memory(s->job, entries);
    for (uint32_t c = parent->first; c && status == REC_OK; c = node_at(s, c)->next) {
        const node *one = node_at(s, c);
        rec_value value;
        if (is_both(one)) {
            status = put(s, map, one->text, one->length, &s->flat->entries[one->leaf - 1].value);
            status = status == REC_OK ? put_below(s, map, c, offset) : status;
        } else {
            status = value_of(s, c, offset, &value);
            status = status == REC_OK ? put(s, map, one->text, one->length, &value) : status;
        }
    }
    if (status == REC_OK && !lr_map_index(s->arena, map, &twice)) {
        status = lr_fail_memory(s->job, entries);
    }
    *out = (rec_value){.kind = REC_KIND_MAP, .form = REC_FORM_UNKNOWN, .v.map = map};
    return status;
}

/* The length of the list that the children are elements of. In a record of Burn an index is a place: one that is not
 * there holds nothing. Burn writes elements in their order, and numbers in maps by number: what is in another order, or
 * no tensor, has no places. @return 0: they are no elements. */
static uint64_t elements_of(const splitter *s, const node *parent)
{
    enum { HOLES_EACH = 16, HOLES_LEAST = 1024 }; /* what a list may take beyond its elements */
    uint64_t most = parent->count, length = 0;
    bool ordered = true, tensors = true;
    if (s->strict) {
        most += (uint64_t)parent->count * HOLES_EACH + HOLES_LEAST;
    }
    for (uint32_t c = parent->first; c; c = node_at(s, c)->next) {
        uint32_t index = index_of(node_at(s, c));
        if (index >= most || is_both(node_at(s, c))) {
            return 0;
        }
        const node *one = node_at(s, c);
        ordered = ordered && index >= length;
        tensors = tensors && (!one->leaf || s->flat->entries[one->leaf - 1].value.kind == REC_KIND_TENSOR);
        length = index >= length ? (uint64_t)index + 1 : length;
    }
    return (ordered && tensors) || length == parent->count ? length : 0; /* plain spellings: indices differ */
}

static int32_t as_list(splitter *s, uint32_t number, uint32_t offset, uint64_t length, rec_value *out)
{
    const node *parent = node_at(s, number);
    lr_list *list = lr_list_new(s->arena, length);
    int32_t status = list ? REC_OK : lr_fail_memory(s->job, length);
    for (uint64_t i = 0; list && i < length; i++) {
        list->items[i] = lr_nil(REC_FORM_UNKNOWN);
    }
    for (uint32_t c = parent->first; c && status == REC_OK; c = node_at(s, c)->next) {
        status = value_of(s, c, offset, &list->items[index_of(node_at(s, c))]);
    }
    if (status == REC_OK) {
        list->count = length;
    }
    *out = (rec_value){.kind = REC_KIND_LIST, .form = REC_FORM_UNKNOWN, .v.list = list};
    return status;
}

/* Builds the value of a node: its own, or the container of its children. @param offset of its name in keys. */
static int32_t value_of(splitter *s, uint32_t number, uint32_t offset, rec_value *out)
{
    const node *one = node_at(s, number);
    uint32_t inside = number ? offset + one->length + 1 : 0;
    uint64_t length;
    if (!one->first) {
        *out = s->flat->entries[one->leaf - 1].value;
        return REC_OK;
    }
    length = number ? elements_of(s, one) : 0;
    return length ? as_list(s, number, inside, length, out) : as_map(s, number, inside, out);
}

int32_t lr_unflatten(rec_job *job, rec_record *record)
{
    bool foreign = record->adapter != LR_FILE_BURN;
    splitter s = {
        .job = job,
        .arena = &record->arena,
        .flat = record->root.v.map,
        .strict = !foreign,
    };
    rec_value root = {0};
    int32_t status;
    record->flat = false;
    record->dotted = !foreign;
    if (s.flat->count == 0) {
        record->root.form = foreign ? REC_FORM_PATHS : REC_FORM_UNKNOWN;
        return REC_OK;
    }
    if (s.flat->count == 1 && !s.flat->entries[0].key.length && !foreign && job->plugin &&
        (job->plugin->traits & REC_TRAIT_PATHS)) { /* a tensor alone has no name in Burn's own store */
        record->root = s.flat->entries[0].value;
        record->dotted = false;
        lr_arena_free(&record->flat_arena);
        return REC_OK;
    }
    if (s.flat->count > UINT32_MAX - 1) {
        return rec_fail(job, REC_E_LIMIT, REC_UNKNOWN, "more than 4,294,967,295 tensors");
    }
    s.nodes.allocator = job->allocator;
    status = new_node(&s, 0, "", 0) ? REC_OK : job->error.status;
    for (uint32_t i = 0; i < s.flat->count && status == REC_OK && !s.wrong; i++) {
        status = add(&s, i);
    }
    if (status == REC_OK) {
        status = s.wrong ? fail_wrong(&s) : value_of(&s, 0, 0, &root);
    }
    if (status != REC_OK && !job->error.file[0] && record->origin.file[0]) {
        lr_fail_file(job, record->origin.file);
    }
    if (status == REC_OK) {
        root.form = foreign ? REC_FORM_PATHS : REC_FORM_UNKNOWN;
        record->root = root;
        lr_arena_free(&record->flat_arena);
    }
    lr_release(job->allocator, s.slots);
    lr_pages_free(&s.nodes);
    return status;
}
