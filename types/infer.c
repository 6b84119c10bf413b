/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What can be seen of a type in a record: the tree as kinds, and places that must have one type merged. */

#include "types/describe_private.h"

/* One level of the tree; the others lead up to the root. */
typedef struct seer {
    rec_job *job;
    lr_arena *arena;
    const struct seer *above; /* NULL: this is the root */
    const rec_value *key;     /* in the map above; NULL: `index` in the list above */
    uint64_t index;
    bool flat; /* the record came from a flat file */
} seer;

static size_t path_to(const seer *s, char *path, size_t room)
{
    size_t used;
    if (!s->above) {
        path[0] = '\0';
        return 0;
    }
    used = path_to(s->above, path, room);
    return s->key ? lr_path_append_key(path, room, used, !s->above->above, s->key)
                  : lr_path_append_index(path, room, used, !s->above->above, s->index);
}

static lr_seen *make(const seer *s, int32_t kind, uint64_t count)
{
    lr_seen *seen = lr_job_arena_alloc(s->job, s->arena, sizeof *seen, 8);
    const char **names = lr_job_arena_alloc(s->job, s->arena, (count + 1) * sizeof *names, 8);
    lr_seen **children = lr_job_arena_alloc(s->job, s->arena, (count + 1) * sizeof *children, 8);
    if (!seen || !names || !children) {
        return NULL;
    }
    memset(names, 0, (size_t)(count + 1) * sizeof *names);
    memset(children, 0, (size_t)(count + 1) * sizeof *children);
    *seen = (lr_seen){.kind = kind, .count = count, .names = names, .children = children};
    return seen;
}

/* ----------------------------------------------------------------------------------------------------- merging -- */

static lr_seen *merge(const seer *s, lr_seen *a, lr_seen *b);

static lr_seen *option_of(const seer *s, lr_seen *child)
{
    lr_seen *option = make(s, LR_SEEN_OPTION, 1);
    if (option) {
        option->children[0] = child;
    }
    return option;
}

uint64_t lr_seen_child(const lr_seen *seen, const char *name)
{
    uint64_t i = 0;
    while (i < seen->count && strcmp(seen->names[i] ? seen->names[i] : "", name ? name : "") != 0) {
        i++;
    }
    return i;
}

static bool has_all(const lr_seen *a, const lr_seen *b)
{
    uint64_t i = 0;
    while (i < b->count && lr_seen_child(a, b->names[i]) < a->count) {
        i++;
    }
    return i == b->count;
}

static bool same_module(const lr_seen *a, const lr_seen *b)
{
    return a->module && b->module && strcmp(a->module, b->module) == 0;
}

/* Structs of the same fields, in whatever order the file has them. In a flat file one may lack some of the other's,
 * which are Options then. @return NULL: they are not the same struct (or the job has failed). */
static lr_seen *merge_structs(const seer *s, const lr_seen *a, const lr_seen *b)
{
    const lr_seen *more = a->count >= b->count ? a : b, *less = more == a ? b : a;
    lr_seen *both =
        has_all(more, less) && (s->flat || a->count == b->count) ? make(s, LR_SEEN_STRUCT, more->count) : NULL;
    if (!both) {
        return NULL;
    }
    both->form = a->form;
    both->module = same_module(a, b) ? a->module : NULL;
    for (uint64_t i = 0; i < more->count; i++) {
        uint64_t k = lr_seen_child(less, more->names[i]);
        lr_seen *one = more->children[i], *other = k < less->count ? less->children[k] : NULL;
        both->names[i] = more->names[i];
        both->children[i] = other ? merge(s, one, other) : one->kind == LR_SEEN_OPTION ? one : option_of(s, one);
        if (!both->children[i]) {
            return NULL;
        }
    }
    return both;
}

static lr_seen *merge_parts(const seer *s, const lr_seen *a, const lr_seen *b)
{
    lr_seen *both = make(s, a->kind, a->count);
    if (!both) {
        return NULL;
    }
    both->form = a->form;
    both->length = a->length;
    both->module = same_module(a, b) ? a->module : NULL;
    both->varies = a->varies || b->varies || a->length != b->length;
    for (uint64_t i = 0; i < a->count; i++) {
        both->names[i] = a->names[i];
        both->children[i] = merge(s, a->children[i], b->children[i]);
        if (!both->children[i]) {
            return NULL;
        }
    }
    return both;
}

/* All variants of both, in the order in which they were seen. */
static lr_seen *merge_enums(const seer *s, const lr_seen *a, const lr_seen *b)
{
    lr_seen *both = make(s, LR_SEEN_ENUM, a->count + b->count);
    if (!both) {
        return NULL;
    }
    both->count = a->count;
    memcpy(both->names, a->names, (size_t)a->count * sizeof *a->names);
    memcpy(both->children, a->children, (size_t)a->count * sizeof *a->children);
    for (uint64_t i = 0; i < b->count; i++) {
        uint64_t j = lr_seen_child(a, b->names[i]);
        if (j == a->count) {
            both->names[both->count] = b->names[i];
            both->children[both->count++] = b->children[i];
            continue;
        }
        if (both->children[j] && b->children[i]) {
            both->children[j] = merge(s, both->children[j], b->children[i]);
            if (!both->children[j]) {
                return NULL;
            }
        }
    }
    return both;
}

static bool is_integer(const lr_seen *seen)
{
    return seen->kind == LR_SEEN_INT || seen->kind == LR_SEEN_UINT;
}

/* What both can be. NULL: they cannot be one type (or the job has failed). */
static lr_seen *merge(const seer *s, lr_seen *a, lr_seen *b)
{
    lr_seen *inner;
    if (a->kind == LR_SEEN_NOTHING || b->kind == LR_SEEN_NOTHING) {
        return a->kind == LR_SEEN_NOTHING ? b : a;
    }
    if (a->kind == LR_SEEN_NIL || b->kind == LR_SEEN_NIL) {
        lr_seen *other = a->kind == LR_SEEN_NIL ? b : a;
        return other->kind == LR_SEEN_NIL || other->kind == LR_SEEN_OPTION ? other : option_of(s, other);
    }
    if (a->kind == LR_SEEN_OPTION || b->kind == LR_SEEN_OPTION) {
        inner =
            merge(s, a->kind == LR_SEEN_OPTION ? a->children[0] : a, b->kind == LR_SEEN_OPTION ? b->children[0] : b);
        return inner ? option_of(s, inner) : NULL;
    }
    if (is_integer(a) && is_integer(b)) {
        lr_seen *number = make(s, a->kind == LR_SEEN_INT || b->kind == LR_SEEN_INT ? LR_SEEN_INT : LR_SEEN_UINT, 0);
        if (number) {
            number->bits = a->bits == b->bits ? a->bits : 0;
            number->unsure = a->unsure && b->unsure; /* one that is sure tells for both */
        }
        return number;
    }
    if (a->kind != b->kind) {
        return NULL;
    }
    switch (a->kind) {
    case LR_SEEN_PARAMETER:
    case LR_SEEN_TENSOR:
        return a->rank == b->rank && (a->elements == b->elements || a->assumed || b->assumed) ? (a->assumed ? b : a)
                                                                                              : NULL;
    case LR_SEEN_LIST:
    case LR_SEEN_MAP:
        return merge_parts(s, a, b);
    case LR_SEEN_TUPLE:
        return a->count == b->count ? merge_parts(s, a, b) : NULL;
    case LR_SEEN_STRUCT:
        inner = merge_structs(s, a, b);
        if (!inner && same_module(a, b)) { /* one lacks an optional part: a layer without bias among its siblings */
            return lr_job_failed(s->job) ? NULL : a;
        }
        return inner;
    case LR_SEEN_ENUM:
        return merge_enums(s, a, b);
    case LR_SEEN_FLOAT: /* those of 64 bits need them, and hold the others */
        return a->bits < b->bits && a->bits ? b : a;
    case LR_SEEN_IDS:
        return NULL;
    default:
        return a;
    }
}

/* ------------------------------------------------------------------------------------------------------ seeing -- */

static lr_seen *see(const seer *s, const rec_value *value);

static lr_seen *see_below(const seer *s, const rec_value *key, uint64_t index, const rec_value *value)
{
    seer below = {.job = s->job, .arena = s->arena, .above = s, .key = key, .index = index, .flat = s->flat};
    return see(&below, value);
}

static lr_seen *see_number(const seer *s, int32_t kind, uint32_t bits)
{
    lr_seen *seen = make(s,
                         kind == REC_KIND_BOOL   ? LR_SEEN_BOOL
                         : kind == REC_KIND_UINT ? LR_SEEN_UINT
                         : kind == REC_KIND_INT  ? LR_SEEN_INT
                                                 : LR_SEEN_FLOAT,
                         0);
    if (seen) {
        seen->bits = bits;
    }
    return seen;
}

/* Whether a number of the run fits no signed integer. */
static bool has_highest(const lr_packed *run)
{
    for (uint64_t i = 0; run->dtype == REC_DTYPE_U64 && i < run->count; i++) {
        if (lr_packed_number(run, i).v.u > INT64_MAX) {
            return true;
        }
    }
    return false;
}

static lr_seen *see_run(const seer *s, const lr_packed *run)
{
    lr_seen *list = make(s, LR_SEEN_LIST, 1);
    rec_scalar first = lr_packed_number(run, 0);
    lr_seen *element = list ? see_number(s, first.kind, first.kind == REC_KIND_FLOAT ? first.bits : 0) : NULL;
    if (!element) {
        return NULL;
    }
    if (element->kind == LR_SEEN_UINT && rec_dtype_name(run->dtype)[0] == 'i') {
        element->kind = LR_SEEN_INT; /* a run is as narrow as its values let it be: one is negative */
    }
    element->unsure = element->kind == LR_SEEN_UINT && !has_highest(run);
    list->form = run->form;
    list->length = run->count;
    list->children[0] = element;
    return list;
}

static lr_seen *see_list(const seer *s, const rec_value *value)
{
    const lr_list *items = value->v.list;
    lr_seen *element = value->form == REC_FORM_TUPLE ? NULL : make(s, LR_SEEN_NOTHING, 0);
    lr_seen *tuple = make(s, LR_SEEN_TUPLE, items->count), *list;
    if (!tuple) {
        return NULL;
    }
    for (uint64_t i = 0; i < items->count; i++) {
        tuple->children[i] = see_below(s, NULL, i, &items->items[i]);
        if (!tuple->children[i]) {
            return NULL;
        }
        element = element ? merge(s, element, tuple->children[i]) : NULL;
    }
    if (!element) {
        tuple->form = REC_FORM_TUPLE; /* elements of several types are nothing else */
        return lr_job_failed(s->job) ? NULL : tuple;
    }
    list = make(s, LR_SEEN_LIST, 1);
    if (list) {
        list->form = value->form;
        list->length = items->count;
        list->children[0] = element;
    }
    return list;
}

static lr_seen *see_enum(const seer *s, const rec_value *name, const rec_value *payload)
{
    lr_seen *seen = make(s, LR_SEEN_ENUM, 1);
    if (!seen) {
        return NULL;
    }
    seen->names[0] = name->v.text;
    if (payload) {
        seen->children[0] = see_below(s, name, 0, payload);
        if (!seen->children[0]) {
            return NULL;
        }
    }
    return seen;
}

bool lr_seen_name(const char *name)
{
    for (size_t i = 0; name[i]; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9')) {
            return false;
        }
    }
    return name[0] != '\0';
}

/* Fields of Rust begin with a small letter, variants with a capital. */
static bool is_variant(const lr_map *map)
{
    const rec_value *key = map->count == 1 ? &map->entries[0].key : NULL;
    return key && key->kind == REC_KIND_STRING && key->v.text[0] >= 'A' && key->v.text[0] <= 'Z' &&
           lr_seen_name(key->v.text);
}

static bool is_struct(const lr_map *map)
{
    for (uint64_t i = 0; i < map->count; i++) {
        if (map->entries[i].key.kind != REC_KIND_STRING || !lr_seen_name(map->entries[i].key.v.text)) {
            return false;
        }
    }
    return true;
}

/* A map of ids to {"V1": …}. */
static bool is_ids(const lr_map *map)
{
    for (uint64_t i = 0; i < map->count; i++) {
        const rec_value *value = &map->entries[i].value;
        const rec_value *name = value->kind == REC_KIND_VARIANT ? &value->v.variant->name
                                : value->kind == REC_KIND_MAP && value->v.map->count == 1
                                    ? &value->v.map->entries[0].key
                                    : NULL;
        if (!name || name->kind != REC_KIND_STRING || strcmp(name->v.text, "V1") != 0 ||
            map->entries[i].key.kind != REC_KIND_STRING) {
            return false;
        }
    }
    return map->count > 0;
}

static lr_seen *see_dictionary(const seer *s, const lr_map *map)
{
    lr_seen *seen = make(s, LR_SEEN_MAP, 2);
    lr_seen *key = make(s, LR_SEEN_NOTHING, 0), *value = make(s, LR_SEEN_NOTHING, 0);
    for (uint64_t i = 0; i < map->count && key && value; i++) {
        lr_seen *k = see(s, &map->entries[i].key), *v = see_below(s, &map->entries[i].key, 0, &map->entries[i].value);
        key = k ? merge(s, key, k) : NULL;
        value = v ? merge(s, value, v) : NULL;
    }
    if (!seen || lr_job_failed(s->job)) {
        return NULL;
    }
    if (!key || !value) {
        char path[512];
        (void)path_to(s, path, sizeof path);
        return LR_AS_NULL(lr_fail_path(s->job, REC_E_UNSUPPORTED, path,
                                       "a map whose %s are of several types has no type in Rust",
                                       key ? "values" : "keys"));
    }
    seen->children[0] = key;
    seen->children[1] = value;
    return seen;
}

static lr_seen *see_map(const seer *s, const rec_value *value)
{
    const lr_map *map = value->v.map;
    bool ids = is_ids(map);
    lr_seen *seen;
    if (!ids && is_variant(map) && value->form != REC_FORM_STRUCT && value->form != REC_FORM_MAP) {
        return see_enum(s, &map->entries[0].key, &map->entries[0].value);
    }
    if (!ids && (value->form == REC_FORM_MAP || !is_struct(map))) {
        return see_dictionary(s, map);
    }
    seen = make(s, ids ? LR_SEEN_IDS : LR_SEEN_STRUCT, map->count);
    for (uint64_t i = 0; seen && i < map->count; i++) {
        seen->names[i] = map->entries[i].key.v.text;
        seen->children[i] = see_below(s, &map->entries[i].key, 0, &map->entries[i].value);
        if (!seen->children[i]) {
            return NULL;
        }
    }
    if (seen) {
        seen->module = value->bits ? lr_types_modules.name(value->bits) : NULL;
    }
    return seen;
}

static lr_seen *see_tensor(const seer *s, const rec_tensor *tensor)
{
    lr_seen *seen = make(s, lr_tensor_is_parameter(tensor) ? LR_SEEN_PARAMETER : LR_SEEN_TENSOR, 0);
    if (seen) {
        seen->rank = tensor->rank;
        seen->assumed = tensor->assumed;
        seen->elements = lr_elements_of(tensor->stored);
    }
    return seen;
}

static lr_seen *see(const seer *s, const rec_value *value)
{
    switch (value->kind) {
    case REC_KIND_NIL:
        return make(s, LR_SEEN_NIL, 0);
    case REC_KIND_TENSOR:
        return see_tensor(s, value->v.tensor);
    case REC_KIND_LIST:
        return see_list(s, value);
    case REC_KIND_NUMBERS:
        return see_run(s, value->v.run);
    case REC_KIND_MAP:
        return see_map(s, value);
    case REC_KIND_VARIANT:
        return see_enum(s, &value->v.variant->name, value->v.variant->has_payload ? &value->v.variant->payload : NULL);
    case REC_KIND_STRING:
        return make(s, LR_SEEN_STRING, 0);
    case REC_KIND_BYTES:
        return make(s, LR_SEEN_BYTES, 0);
    default: {
        lr_seen *number = see_number(s, value->kind, value->bits);
        if (number) { /* formats with names write what is not negative in one way, signed or not */
            number->unsure = number->kind == LR_SEEN_UINT && !value->bits && value->v.u <= INT64_MAX;
        }
        return number;
    }
    }
}

lr_seen *lr_see(rec_job *job, lr_arena *arena, const rec_value *value, bool flat)
{
    seer s = {.job = job, .arena = arena, .flat = flat};
    return see(&s, value);
}

bool lr_seen_data(const lr_seen *seen)
{
    switch (seen->kind) {
    case LR_SEEN_NOTHING:
    case LR_SEEN_NIL:
    case LR_SEEN_PARAMETER:
        return false;
    case LR_SEEN_OPTION:
    case LR_SEEN_LIST:
    case LR_SEEN_TUPLE:
    case LR_SEEN_STRUCT:
        for (uint64_t i = 0; i < seen->count; i++) {
            if (lr_seen_data(seen->children[i])) {
                return true;
            }
        }
        return false;
    case LR_SEEN_ENUM:
        for (uint64_t i = 0; i < seen->count; i++) {
            if (!seen->children[i] || lr_seen_data(seen->children[i])) {
                return true; /* a variant of a module always has a payload */
            }
        }
        return false;
    default:
        return true;
    }
}
