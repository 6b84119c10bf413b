/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The C types of a record's tree. Items of a list get one type where that is possible: what some of them lack is
 * optional, numbers become as wide as the widest. The nesting of a record is bounded by the library, so the recursion
 * here is too. */
#include <stdlib.h>
#include <string.h>

#include "tools/embed/embed_private.h"

void tool_shape_free(shape *s)
{
    if (!s) {
        return;
    }
    for (size_t i = 0; i < s->part_count; i++) {
        tool_shape_free(s->parts[i]);
    }
    free(s->parts);
    free(s->member);
    free(s->tag);
    free(s->macro);
    free(s);
}

static void add_part(shape *s, shape *part)
{
    s->parts = tool_grown(s->parts, s->part_count, sizeof *s->parts);
    s->parts[s->part_count++] = part;
}

/* Before names were given. */
static shape *copy_shape(const shape *s)
{
    shape *twin = xmalloc(sizeof *twin);

    *twin = *s;
    twin->parts = NULL;
    twin->part_count = 0;
    for (size_t i = 0; i < s->part_count; i++) {
        add_part(twin, copy_shape(s->parts[i]));
    }
    return twin;
}

/* @return the part of that key, or NULL. Structs of one list have it at the same place. */
static shape *find_part(const shape *s, const shape *like, size_t guess)
{
    for (size_t i = 0; i < s->part_count; i++) {
        shape *part = s->parts[(guess + i) % s->part_count];
        if (tool_same_scalar(part->key, like->key)) {
            return part;
        }
    }
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------- merging -- */

static bool is_integer(int32_t kind)
{
    return kind == REC_KIND_INT || kind == REC_KIND_UINT;
}

static bool numbers_fit(const shape *a, const shape *b)
{
    if (a->scalar == b->scalar) {
        return true;
    }
    return is_integer(a->scalar) && is_integer(b->scalar) && !a->huge && !b->huge;
}

static void widen(shape *a, const shape *b)
{
    if (a->scalar != b->scalar) {
        a->scalar = REC_KIND_INT;
        a->bits = 64;
    }
    a->bits = b->bits > a->bits ? b->bits : a->bits;
    a->huge = a->huge || b->huge;
}

/* @return true if one type can hold both. */
static bool fits(const shape *a, const shape *b)
{
    if (a->kind == SHAPE_NOTHING || b->kind == SHAPE_NOTHING) {
        const shape *other = a->kind == SHAPE_NOTHING ? b : a;
        return other->kind == SHAPE_NOTHING || tool_shape_has_member(other);
    }
    if (a->kind != b->kind) {
        return false;
    }
    switch (a->kind) {
    case SHAPE_SCALAR:
        return numbers_fit(a, b);
    case SHAPE_NUMBERS:
        return a->count == b->count && numbers_fit(a, b);
    case SHAPE_BYTES:
        return a->count == b->count;
    case SHAPE_TENSOR: {
        uint32_t rank = rec_tensor_rank(a->tensor);
        return a->count == b->count && rec_tensor_rank(b->tensor) == rank &&
               strcmp(rec_tensor_dtype_name(a->tensor), rec_tensor_dtype_name(b->tensor)) == 0 &&
               memcmp(rec_tensor_shape(a->tensor), rec_tensor_shape(b->tensor), rank * sizeof(uint64_t)) == 0;
    }
    case SHAPE_ARRAY:
        return a->count == b->count && (a->count == 0 || fits(a->parts[0], b->parts[0]));
    case SHAPE_TUPLE:
    case SHAPE_STRUCT:
    case SHAPE_ENUM:
        /* Burn writes every field of a struct, so alike structs have the same keys. Maps of one entry may be the
         * variants of an enum, in formats that write those as maps. */
        if (a->kind != SHAPE_ENUM && !(a->one_entry && b->one_entry) && a->part_count != b->part_count) {
            return false;
        }
        for (size_t i = 0; i < b->part_count; i++) {
            const shape *part = find_part(a, b->parts[i], i);
            if (part ? !fits(part, b->parts[i]) : a->kind != SHAPE_ENUM && !a->one_entry) {
                return false;
            }
        }
        return true;
    default:
        return true;
    }
}

/* Makes `a` the type of both. They fit. */
static void merge(shape *a, const shape *b)
{
    if (a->kind == SHAPE_NOTHING && b->kind != SHAPE_NOTHING) {
        shape *other = copy_shape(b);
        other->key = a->key;
        other->variant = a->variant;
        other->optional = true;
        *a = *other;
        free(other);
        return;
    }
    a->optional = a->optional || b->optional || (b->kind == SHAPE_NOTHING && a->kind != SHAPE_NOTHING);
    if (b->kind == SHAPE_NOTHING) {
        return;
    }
    switch (a->kind) {
    case SHAPE_SCALAR:
    case SHAPE_NUMBERS:
        widen(a, b);
        break;
    case SHAPE_STRING:
        a->count = a->count == b->count ? a->count : REC_UNKNOWN;
        break;
    case SHAPE_ARRAY:
    case SHAPE_TUPLE:
    case SHAPE_STRUCT:
    case SHAPE_ENUM:
        for (size_t i = 0; i < a->part_count; i++) {
            if (!find_part(b, a->parts[i], i)) {
                a->parts[i]->optional = true;
            }
        }
        for (size_t i = 0; i < b->part_count; i++) {
            shape *part = find_part(a, b->parts[i], i);
            if (part) {
                merge(part, b->parts[i]);
            } else {
                part = copy_shape(b->parts[i]);
                part->optional = true;
                add_part(a, part);
            }
        }
        break;
    default:
        break;
    }
}

/* ---------------------------------------------------------------------------------------------------- building -- */

static void set_number(shape *s, const rec_scalar *number)
{
    s->scalar = number->kind;
    s->bits = number->kind == REC_KIND_BOOL ? 8 : number->bits ? number->bits : 64;
    if (number->kind == REC_KIND_FLOAT && s->bits < 32) {
        s->bits = 32;
    }
    s->huge = number->kind == REC_KIND_UINT && number->v.u > INT64_MAX;
}

/* Packed numbers have one type; if that is unknown, negative numbers make it signed. */
static void set_numbers(shape *s, const rec_value *value)
{
    s->kind = SHAPE_NUMBERS;
    s->count = rec_value_count(value);
    for (uint64_t i = 0; i < s->count; i++) {
        rec_scalar number = rec_value_number(value, i);
        shape one = {0};
        set_number(&one, &number);
        if (i == 0) {
            set_number(s, &number);
        } else {
            widen(s, &one);
        }
    }
}

/* One type for all items if there can be one. */
static void set_list(shape *s, const rec_value *value)
{
    uint64_t count = rec_value_count(value);
    shape *common = NULL;
    bool alike = true;

    s->count = count;
    for (uint64_t i = 0; i < count; i++) {
        shape *part = tool_shape_of(rec_value_item(value, i));
        part->key = (rec_scalar){.kind = REC_KIND_UINT, .v = {.u = i}};
        add_part(s, part);
        if (!alike) {
            continue;
        }
        if (!common) {
            common = copy_shape(part);
        } else if (fits(common, part)) {
            merge(common, part);
        } else {
            alike = false;
        }
    }
    s->kind = alike && (!common || tool_shape_has_member(common)) ? SHAPE_ARRAY : SHAPE_TUPLE;
    if (s->kind == SHAPE_TUPLE) {
        tool_shape_free(common);
        return;
    }
    for (size_t i = 0; i < s->part_count; i++) {
        tool_shape_free(s->parts[i]);
    }
    s->part_count = 0;
    if (common) {
        s->parts[s->part_count++] = common;
    }
}

static bool holds_nothing(const rec_value *value)
{
    int32_t form = rec_value_form(value);

    return form == REC_FORM_CONSTANT || form == REC_FORM_UNIT || form == REC_FORM_UNIT_STRUCT;
}

shape *tool_shape_of(const rec_value *value)
{
    int32_t kind = rec_value_kind(value);
    rec_scalar scalar = rec_value_scalar(value);
    uint64_t count = rec_value_count(value);
    shape *s = xmalloc(sizeof *s);

    *s = (shape){0};
    switch (kind) {
    case REC_KIND_NIL:
        s->kind = holds_nothing(value) ? SHAPE_CONSTANT : SHAPE_NOTHING;
        break;
    case REC_KIND_STRING:
        s->kind = SHAPE_STRING;
        s->count = scalar.v.length;
        break;
    case REC_KIND_BYTES:
        s->kind = SHAPE_BYTES;
        (void)rec_value_bytes(value, &s->count);
        break;
    case REC_KIND_NUMBERS:
        set_numbers(s, value);
        break;
    case REC_KIND_TENSOR:
        s->kind = SHAPE_TENSOR;
        s->tensor = rec_value_tensor(value);
        s->count = tool_element_type(s->tensor) ? rec_tensor_count(s->tensor) : rec_tensor_nbytes(s->tensor);
        break;
    case REC_KIND_LIST:
        set_list(s, value);
        break;
    case REC_KIND_MAP:
    case REC_KIND_VARIANT:
        s->kind = kind == REC_KIND_MAP ? SHAPE_STRUCT : SHAPE_ENUM;
        s->one_entry = kind == REC_KIND_MAP && count == 1;
        for (uint64_t i = 0; i < count || (i == 0 && kind == REC_KIND_VARIANT); i++) {
            shape *part = NULL;
            if (i < count) {
                part = tool_shape_of(rec_value_item(value, i));
            } else {
                part = xmalloc(sizeof *part);
                *part = (shape){.kind = SHAPE_CONSTANT}; /* a variant without payload */
            }
            part->variant = rec_value_variant(value);
            part->key = rec_value_key(value, i);
            add_part(s, part);
        }
        break;
    default:
        s->kind = SHAPE_SCALAR;
        set_number(s, &scalar);
        break;
    }
    return s;
}

bool tool_shape_has_member(const shape *s)
{
    switch (s->kind) {
    case SHAPE_CONSTANT:
        return false;
    case SHAPE_ARRAY:
        return s->count && tool_shape_has_member(s->parts[0]);
    case SHAPE_NUMBERS:
    case SHAPE_BYTES:
        return s->count;
    default:
        return true;
    }
}

const rec_value *tool_shape_value(const shape *s, const rec_value *value, size_t index)
{
    const rec_value *found = NULL;
    uint64_t count = rec_value_count(value);

    if (s->kind == SHAPE_TUPLE) {
        found = rec_value_item(value, index);
    }
    for (uint64_t i = 0; i < count && !found; i++) {
        uint64_t at = (index + i) % count;
        found = tool_same_scalar(rec_value_key(value, at), s->parts[index]->key) ? rec_value_item(value, at) : NULL;
    }
    return found && rec_value_kind(found) != REC_KIND_NIL ? found : NULL;
}

/* ------------------------------------------------------------------------------------------------------- names -- */

static void put_member(text *t, const shape *s, const rec_scalar *key)
{
    char buffer[NUMBER_ROOM];
    const char *name = key->kind == REC_KIND_STRING ? key->text : tool_scalar_text(key, buffer);

    if (s->kind == SHAPE_TUPLE) {
        tool_text_format(t, "item%s", name);
    } else {
        tool_c_name_add(t, name, key->kind == REC_KIND_STRING ? (size_t)key->v.length : strlen(name));
    }
}

void tool_shape_name(shape *s, const char *tag, lookup *names)
{
    lookup members = {0};

    s->tag = tool_c_names_take(names, tag);
    s->macro = tool_c_name_upper(s->tag);
    if (s->kind == SHAPE_ARRAY && s->part_count) {
        char *item = xasprintf("%s_item", s->tag);
        tool_shape_name(s->parts[0], item, names);
        free(item);
        return;
    }
    if (s->kind == SHAPE_ENUM) {
        free(tool_c_names_take(&members, "variant"));
    }
    for (size_t i = 0; i < s->part_count; i++) {
        shape *part = s->parts[i];
        text name = {0};
        put_member(&name, s, &part->key);
        part->member = tool_c_names_take(&members, name.at);
        tool_text_free(&name);
        char *below = xasprintf("%s_%s", s->tag, part->member);
        tool_shape_name(part, below, names);
        free(below);
    }
    tool_lookup_free(&members);
}
