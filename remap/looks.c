/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Parses the lines `has` and `knows` of a profile, and compares them with the tensors of a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "remap/recognise_private.h"

/* ----------------------------------------------------------------------------------------------------- reading -- */

typedef struct reader {
    rec_job *job;
    lr_looks *looks;
    const lr_location *place;
    const char *key; /* has, knows */
} reader;

static int32_t bad_shape(const reader *r, const char *shape)
{
    lr_excerpt brief;
    (void)lr_fail_location(r->job, r->place, "%s has the shape \"%s\"", r->key, lr_excerpt_text(&brief, shape));
    rec_fail_hint(
        r->job, "Write %s = PATTERN, or %s = PATTERN | [SIZE, SIZE]: at most %d of a number, a name, 3*NAME, *NAME, _.",
        r->key, r->key, (int)LR_LOOK_RANK);
    return r->job->error.status;
}

/* @return the number of a name, LR_LOOK_NAMES if there are too many. */
static uint32_t name_of(lr_looks *looks, const char *text, size_t length)
{
    uint32_t i;
    for (i = 0; i < looks->name_count; i++) {
        if (strlen(looks->names[i]) == length && memcmp(looks->names[i], text, length) == 0) {
            return i;
        }
    }
    if (i < LR_LOOK_NAMES) {
        memcpy(looks->names[i], text, length);
        looks->names[i][length] = '\0';
        looks->name_count++;
    }
    return i;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* `_`, `3`, `D`, `3*D`, `*D`. */
static bool read_size(lr_looks *looks, const char *text, size_t length, lr_size *size)
{
    size_t digits = 0;
    *size = (lr_size){.kind = LR_SIZE_ANY};
    if (length == 1 && *text == '_') {
        return true;
    }
    while (digits < length && text[digits] >= '0' && text[digits] <= '9') {
        size->number = size->number * 10 + (uint64_t)(text[digits++] - '0');
    }
    if (digits > 9) {
        return false;
    }
    if (digits == length) {
        size->kind = LR_SIZE_NUMBER;
        return length > 0;
    }
    size->kind = digits || *text != '*' ? LR_SIZE_NAME : LR_SIZE_MULTIPLE;
    size->number = digits ? size->number : 1;
    if (text[digits] == '*') {
        digits++;
    } else if (digits) {
        return false;
    }
    text += digits;
    length -= digits;
    for (size_t i = 0; i < length; i++) {
        if (!is_letter(text[i])) {
            return false;
        }
    }
    if (!length || length >= LR_NAME_MOST || !size->number) {
        return false;
    }
    size->name = name_of(looks, text, length);
    return size->name < LR_LOOK_NAMES;
}

/* `[A, B]`; brackets are there. */
static int32_t read_shape(const reader *r, const char *text, lr_look *look)
{
    const char *at = text + 1, *end = text + strlen(text) - 1;
    look->shaped = true;
    for (bool more = at + strspn(at, " \t") < end; more; look->rank++) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
        at += strspn(at, " \t");
        while (stop > at && (stop[-1] == ' ' || stop[-1] == '\t')) {
            stop--;
        }
        if (look->rank == LR_LOOK_RANK || stop <= at ||
            !read_size(r->looks, at, (size_t)(stop - at), &look->sizes[look->rank])) {
            return bad_shape(r, text);
        }
        more = comma != NULL;
        at = comma ? comma + 1 : end;
    }
    return REC_OK;
}

/* Where ` | [` … `]` begins at the end of a line; NULL without a shape. */
static const char *shape_of(const char *text)
{
    size_t length = strlen(text);
    const char *found = NULL;
    for (const char *at = text; length && text[length - 1] == ']' && (at = strstr(at, " | [")) != NULL; at++) {
        found = at;
    }
    return found;
}

static int32_t read_line(reader *r, const char *value, lr_look *look)
{
    const char *shape = shape_of(value);
    size_t length = shape ? (size_t)(shape - value) : strlen(value);
    char *pattern = lr_alloc(r->job->allocator, length + 1);
    if (!pattern) {
        return lr_fail_memory(r->job, length + 1);
    }
    while (length && value[length - 1] == ' ') {
        length--;
    }
    memcpy(pattern, value, length);
    pattern[length] = '\0';
    look->regex = lr_regex_new(r->job, pattern, r->place);
    lr_release(r->job->allocator, pattern);
    if (look->regex && shape) {
        (void)read_shape(r, shape + 3, look);
    }
    for (uint32_t i = 0; i < look->rank && look->regex; i++) {
        const lr_size *size = &look->sizes[i];
        if (size->kind >= LR_SIZE_NAME && r->looks->names[size->name][0] >= 'a' && !lr_regex_groups(look->regex)) {
            (void)lr_fail_location(r->job, r->place,
                                   "%s has the size \"%s\" for each match of a group, and its pattern has no group",
                                   r->key, r->looks->names[size->name]);
            return LR_HINT(r->job, "Write it in capitals if it is one number for all keys.");
        }
    }
    return r->job->error.status;
}

int32_t lr_looks_read(rec_job *job, lr_looks *looks, const char *file, const lr_profile_section *section, bool first)
{
    char what[LR_NAME_MOST + 16];
    lr_location place = {.file = file, .what = what};
    reader r = {.job = job, .looks = looks, .place = &place};
    (void)snprintf(what, sizeof what, "[profile %s]", section->name);
    *looks = (lr_looks){0};
    looks->at = lr_zalloc(job->allocator, (section->setting_count + 1) * sizeof *looks->at);
    if (!looks->at) {
        return lr_fail_memory(job, section->setting_count * sizeof *looks->at);
    }
    for (uint64_t i = 0; i < section->setting_count && !lr_job_failed(job); i++) {
        const lr_setting *line = &section->settings[i];
        const lr_word *word = lr_word_find(line->key, LR_FOR_FAMILY);
        bool has = word && word->which == LR_WORD_HAS;
        if (!word || (first && !has)) {
            continue;
        }
        place.line = line->line;
        r.key = line->key;
        looks->at[looks->count].always = has;
        (void)read_line(&r, line->value, &looks->at[looks->count++]);
        if (first) {
            break;
        }
    }
    return job->error.status;
}

void lr_looks_free(rec_job *job, lr_looks *looks)
{
    for (uint64_t i = 0; i < looks->count; i++) {
        lr_regex_free(looks->at[i].regex);
    }
    lr_release(job->allocator, looks->at);
    *looks = (lr_looks){0};
}

/* ----------------------------------------------------------------------------------------------------- holding -- */

/* What the keys of a file are in the family. */
typedef struct found {
    uint32_t look;       /* from 1; 0: none, a stranger */
    uint32_t begin, end; /* of the pattern's first group */
} found;

/* A size that a key gives a name, for the keys with one first group. */
typedef struct binding {
    const char *group;
    uint32_t length, name;
    uint64_t key, value;
} binding;

typedef struct holder {
    rec_job *job;
    const lr_looks *looks;
    const lr_named *keys;
    uint64_t count;
    found *found;
    bool *seen;                /* for each look */
    bool bound[LR_LOOK_NAMES]; /* names of the whole file: whether they have a size, and which */
    uint64_t sizes[LR_LOOK_NAMES];
    binding *bindings; /* of the others */
    uint64_t binding_count, binding_room;
} holder;

static bool is_local(const holder *h, uint32_t name)
{
    return h->looks->names[name][0] >= 'a';
}

static int32_t find_look(holder *h, lr_matcher *matcher, uint64_t index)
{
    const lr_named *key = &h->keys[index];
    uint32_t rank = rec_tensor_rank(key->tensor);
    for (uint64_t i = 0; i < h->looks->count; i++) {
        const lr_look *look = &h->looks->at[i];
        size_t begin = 0, end = 0;
        int hit = look->shaped && look->rank != rank
                      ? 0
                      : lr_regex_match(h->job, look->regex, matcher, key->text, (size_t)key->length);
        if (hit < 0) {
            return h->job->error.status;
        }
        if (hit && lr_regex_groups(look->regex) && !lr_match_group(matcher, 1, &begin, &end)) {
            begin = end = 0;
        }
        if (hit) {
            h->found[index] = (found){.look = (uint32_t)i + 1, .begin = (uint32_t)begin, .end = (uint32_t)end};
            break;
        }
    }
    return REC_OK;
}

static binding binding_of(const holder *h, uint64_t index, uint32_t name)
{
    const found *f = &h->found[index];
    return (binding){.group = h->keys[index].text + f->begin, .length = f->end - f->begin, .name = name, .key = index};
}

static int compare_places(const void *a, const void *b)
{
    const binding *x = a, *y = b;
    int order = x->name < y->name ? -1 : x->name > y->name;
    return order ? order : lr_text_order(x->group, x->length, y->group, y->length);
}

static int by_place(const void *a, const void *b)
{
    const binding *x = a, *y = b;
    int order = compare_places(x, y);
    return order ? order : x->key < y->key ? -1 : x->key > y->key;
}

/* Sizes that are a name alone give it its value; the first key counts. */
static int32_t bind(holder *h)
{
    uint64_t kept = 0;
    for (uint64_t k = 0; k < h->count; k++) {
        const lr_look *look = h->found[k].look ? &h->looks->at[h->found[k].look - 1] : NULL;
        const uint64_t *shape = rec_tensor_shape(h->keys[k].tensor);
        for (uint32_t i = 0; look && i < look->rank; i++) {
            uint32_t name = look->sizes[i].name;
            binding b;
            if (look->sizes[i].kind != LR_SIZE_NAME || look->sizes[i].number != 1) {
                continue;
            }
            if (!is_local(h, name)) {
                h->sizes[name] = h->bound[name] ? h->sizes[name] : shape[i];
                h->bound[name] = true;
                continue;
            }
            b = binding_of(h, k, name);
            b.value = shape[i];
            if (!lr_job_grow(h->job, &h->bindings, h->binding_count + 1, &h->binding_room, sizeof *h->bindings)) {
                return h->job->error.status;
            }
            h->bindings[h->binding_count++] = b;
        }
    }
    if (h->binding_count) {
        qsort(h->bindings, (size_t)h->binding_count, sizeof *h->bindings, by_place);
    }
    for (uint64_t i = 0; i < h->binding_count; i++) {
        if (!kept || compare_places(&h->bindings[kept - 1], &h->bindings[i]) != 0) {
            h->bindings[kept++] = h->bindings[i];
        }
    }
    h->binding_count = kept;
    return REC_OK;
}

/* What a name stands for at a key. @return false: nothing gives it a value. */
static bool value_of(const holder *h, uint64_t index, uint32_t name, uint64_t *value)
{
    binding wanted = binding_of(h, index, name);
    const binding *at;
    if (!is_local(h, name)) {
        *value = h->sizes[name];
        return h->bound[name];
    }
    at = h->binding_count ? bsearch(&wanted, h->bindings, (size_t)h->binding_count, sizeof *h->bindings, compare_places)
                          : NULL;
    *value = at ? at->value : 0;
    return at != NULL;
}

static bool fits(const holder *h, uint64_t index)
{
    const lr_look *look = &h->looks->at[h->found[index].look - 1];
    const uint64_t *shape = rec_tensor_shape(h->keys[index].tensor);
    for (uint32_t i = 0; i < look->rank; i++) {
        const lr_size *size = &look->sizes[i];
        uint64_t value;
        bool ok = true;
        if (size->kind == LR_SIZE_NUMBER) {
            ok = shape[i] == size->number;
        } else if (size->kind != LR_SIZE_ANY && value_of(h, index, size->name, &value)) {
            ok = size->kind == LR_SIZE_MULTIPLE ? value && shape[i] % value == 0 && shape[i] / value > 1
                                                : shape[i] % size->number == 0 && shape[i] / size->number == value;
        }
        if (!ok) {
            return false;
        }
    }
    return true;
}

/* Whether two keys begin with the same name. */
static bool same_top(const lr_named *a, const lr_named *b)
{
    const char *dot = memchr(a->text, '.', (size_t)a->length);
    size_t length = dot ? (size_t)(dot - a->text) : (size_t)a->length;
    return b->length >= length && memcmp(a->text, b->text, length) == 0 &&
           (b->length == length || b->text[length] == '.');
}

static void judge(const holder *h, lr_rest *rest)
{
    enum { STRANGERS_MOST = 64 };
    for (uint64_t k = 0; k < h->count; k++) {
        if (!h->found[k].look) {
            rest->stranger = rest->strangers++ ? rest->stranger : &h->keys[k];
        } else {
            h->seen[h->found[k].look - 1] = true;
            rest->misfit = rest->misfit || !fits(h, k);
        }
    }
    for (uint64_t i = 0; i < h->looks->count; i++) {
        rest->lacks = rest->lacks || (h->looks->at[i].always && !h->seen[i]);
    }
    rest->aside = rest->strangers <= STRANGERS_MOST;
    for (uint64_t k = 0; k < h->count && rest->aside; k++) {
        for (uint64_t j = 0; !h->found[k].look && j < h->count && rest->aside; j++) {
            rest->aside = !h->found[j].look || !same_top(&h->keys[k], &h->keys[j]);
        }
    }
}

int32_t lr_looks_hold(rec_job *job, const lr_looks *looks, lr_matcher *matcher, const lr_named *keys, uint64_t count,
                      lr_rest *rest)
{
    holder h = {.job = job, .looks = looks, .keys = keys, .count = count};
    *rest = (lr_rest){0};
    h.found = lr_zalloc(job->allocator, (count + 1) * sizeof *h.found);
    h.seen = lr_zalloc(job->allocator, (looks->count + 1) * sizeof *h.seen);
    if (!h.found || !h.seen) {
        (void)lr_fail_memory(job, count * sizeof *h.found);
        goto done;
    }
    for (uint64_t k = 0; k < count && !lr_job_failed(job); k++) {
        (void)find_look(&h, matcher, k);
    }
    if (!lr_job_failed(job) && bind(&h) == REC_OK) {
        judge(&h, rest);
    }

done:
    lr_release(job->allocator, h.bindings);
    lr_release(job->allocator, h.found);
    lr_release(job->allocator, h.seen);
    return job->error.status;
}
