/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What two records have besides tensors: scalars, strings, lists, metadata. */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff_private.h"

static bool is_number(const rec_scalar *x)
{
    return x->kind >= REC_KIND_BOOL && x->kind <= REC_KIND_FLOAT;
}

/* Whether two floats have the same bits, those of the narrower one where one is: its own in the wider type, -0 and
 * which NaN it is among them. */
static bool same_bits(const rec_scalar *a, const rec_scalar *b)
{
    if (a->bits == 32 || b->bits == 32) {
        float x = (float)a->v.f, y = (float)b->v.f;
        return memcmp(&x, &y, sizeof x) == 0;
    }
    return memcmp(&a->v.f, &b->v.f, sizeof a->v.f) == 0;
}

/* Whether two numbers are the same, by the tolerances, or once both are rounded to the narrower of two floats: 0.1 in
 * 32 bits is 0.1 in JSON. */
static bool same_numbers(const wishes *w, const rec_scalar *a, const rec_scalar *b)
{
    const tolerance t = {w->atol, w->rtol, w->nan_differs};
    figures f = {.scale = 1};
    rec_scalar x = *a, y = *b;

    if (!is_number(a) || !is_number(b) || (a->kind == REC_KIND_BOOL) != (b->kind == REC_KIND_BOOL)) {
        return false;
    }
    if (w->bits && x.kind == REC_KIND_FLOAT && y.kind == REC_KIND_FLOAT) {
        return same_bits(a, b);
    }
    if (x.kind == REC_KIND_FLOAT && y.kind == REC_KIND_FLOAT && (a->bits == 32) != (b->bits == 32)) {
        x.v.f = (double)(float)x.v.f;
        y.v.f = (double)(float)y.v.f;
    }
    tool_diff_number(&f, &x, &y, 0, &t);
    return f.beyond == 0;
}

static bool same_scalars(const wishes *w, const rec_scalar *a, const rec_scalar *b)
{
    if (a->kind == REC_KIND_STRING || b->kind == REC_KIND_STRING) {
        return a->kind == b->kind && a->v.length == b->v.length && memcmp(a->text, b->text, (size_t)a->v.length) == 0;
    }
    return (a->kind == REC_KIND_NIL && b->kind == REC_KIND_NIL) || same_numbers(w, a, b);
}

/* A list may be packed in one record and not in the other. */
static rec_scalar scalar_at(const rec_value *value, uint64_t index)
{
    return rec_value_kind(value) == REC_KIND_NUMBERS ? rec_value_number(value, index)
                                                     : rec_value_scalar(rec_value_item(value, index));
}

static bool same_values(const wishes *w, const rec_value *a, const rec_value *b)
{
    int32_t x = rec_value_kind(a), y = rec_value_kind(b);
    bool row_a = x == REC_KIND_NUMBERS || x == REC_KIND_LIST, row_b = y == REC_KIND_NUMBERS || y == REC_KIND_LIST;
    uint64_t count = rec_value_count(a), size_a, size_b;

    if (row_a && row_b) {
        bool same = count == rec_value_count(b);
        for (uint64_t i = 0; i < count && same; i++) {
            rec_scalar p = scalar_at(a, i), q = scalar_at(b, i);
            same = same_scalars(w, &p, &q);
        }
        return same;
    }
    if (x == REC_KIND_BYTES && y == REC_KIND_BYTES) {
        const void *p = rec_value_bytes(a, &size_a), *q = rec_value_bytes(b, &size_b);
        return size_a == size_b && (size_a == 0 || memcmp(p, q, (size_t)size_a) == 0);
    }
    if (x == REC_KIND_VARIANT && y == REC_KIND_VARIANT) {
        rec_scalar p = rec_value_key(a, 0), q = rec_value_key(b, 0);
        return same_scalars(w, &p, &q);
    }
    if (x == REC_KIND_MAP || y == REC_KIND_MAP || row_a || row_b) {
        return x == y; /* leaves of these kinds are empty */
    }
    rec_scalar p = rec_value_scalar(a), q = rec_value_scalar(b);
    return same_scalars(w, &p, &q) && p.kind != REC_KIND_NIL;
}

/* ---------------------------------------------------------------------------------------------------- metadata -- */

/* Metadata on format and origin: they may differ between formats, versions, precisions, as may notes of an import. */
static bool is_of_burn(const char *key)
{
    static const char *const keys[] = {"version",          "float",          "int", "format", "settings",
                                       "librecord.import", "librecord.store"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(keys[i], key) == 0) {
            return true;
        }
    }
    return false;
}

/* The type of an entry; ints and floats of unknown width have none. */
static char *type_of(const rec_record *record, const char *key)
{
    const rec_value *value = rec_metadata_value(record, key);
    uint64_t length = rec_value_type(value, NULL, 0);
    char *type = xmalloc((size_t)length + 1);

    (void)rec_value_type(value, type, length + 1);
    if (strstr(type, "int") || strstr(type, "float") || strcmp(type, "list") == 0 || *type == '{') {
        *type = '\0';
    }
    return type;
}

/* An entry of both that differs in its type alone. */
static void compare_types(comparison *c, const char *key)
{
    const rec_record *a = c->sides[SIDE_A].record, *b = c->sides[SIDE_B].record;
    char *types[SIDES] = {type_of(a, key), type_of(b, key)};

    if (*types[SIDE_A] && *types[SIDE_B] && strcmp(types[SIDE_A], types[SIDE_B]) != 0) {
        metadatum *m = &c->metadata[c->metadata_count++];
        *m = (metadatum){.key = key};
        for (int which = 0; which < SIDES; which++) {
            m->made[which] = xasprintf("%s %s", types[which], rec_metadata(c->sides[which].record, key));
            m->value[which] = m->made[which];
        }
    }
    free(types[SIDE_A]);
    free(types[SIDE_B]);
}

static void compare_metadata(comparison *c)
{
    const rec_record *a = c->sides[SIDE_A].record, *b = c->sides[SIDE_B].record;
    uint64_t count_a = rec_metadata_count(a), count_b = rec_metadata_count(b);
    const char *key;

    c->metadata = xmalloc((size_t)(count_a + count_b) * sizeof *c->metadata);
    for (uint64_t i = 0; i < count_a; i++) {
        const char *value = NULL, *other;
        if (rec_metadata_get(a, i, &key, &value) == REC_OK && !is_of_burn(key)) {
            other = rec_metadata(b, key);
            if (!other || strcmp(value, other) != 0) {
                c->metadata[c->metadata_count++] = (metadatum){key, {value, other}, {NULL, NULL}};
            } else {
                compare_types(c, key);
            }
        }
    }
    for (uint64_t i = 0; i < count_b; i++) {
        const char *value = NULL;
        if (rec_metadata_get(b, i, &key, &value) == REC_OK && !is_of_burn(key) && !rec_metadata(a, key)) {
            c->metadata[c->metadata_count++] = (metadatum){key, {NULL, value}, {NULL, NULL}};
        }
    }
}

/* ------------------------------------------------------------------------------------------------------ public -- */

void tool_diff_values(comparison *c)
{
    const side *a = &c->sides[SIDE_A], *b = &c->sides[SIDE_B];

    c->values = xmalloc((a->values.count + b->values.count) * sizeof *c->values);
    /* Files without names show their parameters alone. */
    for (size_t i = 0; i < a->values.count && !b->by_position; i++) {
        const item *it = a->values.at[i];
        if (it->twin && same_values(c->w, it->value, it->twin->value)) {
            c->values_equal++;
        } else {
            c->values[c->value_count++] = (difference){{it, it->twin}};
        }
    }
    for (size_t i = 0; i < b->values.count && !a->by_position; i++) {
        if (!b->values.at[i]->twin) {
            c->values[c->value_count++] = (difference){{NULL, b->values.at[i]}};
        }
    }
    if (!c->keys) {
        compare_metadata(c);
    }
}
