/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The walk of a record with a type: what the tree does not show (options, widths, forms, variant indices, field order)
 * comes from the layout, and a record that does not match is rejected. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "burn/visit/event.h"
#include "burn/visit/walk_private.h"
#include "common/names.h"

static int32_t mismatch(lr_walk *w, const char *expected, const rec_value *found)
{
    int32_t status = rec_fail_found(w->job, REC_E_MISMATCH, REC_UNKNOWN, expected, "%s", lr_kind_words(found->kind));
    if (w->record->burn_minor >= LR_BURN_FIRST && w->record->burn_minor != w->job->burn.minor) {
        rec_fail_hint(w->job, "The record is of Burn 0.%d, which may not store what Burn 0.%d has here.",
                      (int)w->record->burn_minor, (int)w->job->burn.minor);
    }
    return status;
}

static int32_t typed_integer(lr_walk *w, const rec_value *value, const rec_layout *layout)
{
    rec_scalar number = lr_to_scalar(value);
    bool with_sign = layout->kind == REC_LAYOUT_INT, negative = number.kind == REC_KIND_INT && number.v.i < 0;
    uint64_t most = UINT64_MAX >> (64 - layout->bits + with_sign);
    rec_scalar out = {.kind = with_sign ? REC_KIND_INT : REC_KIND_UINT, .bits = (uint16_t)layout->bits};
    if (number.kind != REC_KIND_INT && number.kind != REC_KIND_UINT) {
        return mismatch(w, with_sign ? "an integer" : "an unsigned integer", value);
    }
    if (negative ? !with_sign || number.v.i < -(int64_t)most - 1 : number.v.u > most) {
        return rec_fail(w->job, REC_E_RANGE, REC_UNKNOWN, "the number does not fit %s%u", with_sign ? "i" : "u",
                        (unsigned)layout->bits);
    }
    out.v.u = number.v.u;
    return lr_walk_scalar(w, &out);
}

static int32_t typed_float(lr_walk *w, const rec_value *value, const rec_layout *layout)
{
    rec_scalar number = lr_to_scalar(value);
    rec_scalar out = {.kind = REC_KIND_FLOAT, .bits = (uint16_t)layout->bits, .v.f = number.v.f};
    if (number.kind != REC_KIND_FLOAT) {
        return mismatch(w, "a float", value);
    }
    if (layout->bits == 32 && number.bits == 64 && number.v.f == number.v.f &&
        (double)(float)number.v.f != number.v.f) {
        bool infinite = isinf((float)number.v.f);
        char words[64];
        lr_walk_tell(w, infinite ? REC_NOTE_OVERFLOW : REC_NOTE_DROPPED, 1,
                     lr_walk_value_words(value, words, sizeof words),
                     infinite ? "an f64 where the type has f32 is too large for it and became infinite"
                              : "an f64 where the type has f32 was rounded to it");
    }
    return lr_walk_scalar(w, &out);
}

static bool is_number_layout(const rec_layout *layout)
{
    return layout->kind == REC_LAYOUT_BOOL || layout->kind == REC_LAYOUT_INT || layout->kind == REC_LAYOUT_UINT ||
           layout->kind == REC_LAYOUT_FLOAT;
}

/* --------------------------------------------------------------------------------- what a version lacks or has -- */

/* Whether a layout holds no data, so that a record may lack it. */
static bool holds_nothing(const rec_layout *layout)
{
    switch (layout->kind) {
    case REC_LAYOUT_OPTION:
    case REC_LAYOUT_UNIT:
        return true;
    case REC_LAYOUT_LIST:
        return !layout->fixed || holds_nothing(layout->children[0]);
    case REC_LAYOUT_ARRAY:
        return holds_nothing(layout->children[0]);
    case REC_LAYOUT_TUPLE:
        for (uint64_t i = 0; i < layout->count; i++) {
            if (!holds_nothing(layout->children[i])) {
                return false;
            }
        }
        return true;
    default:
        return false;
    }
}

static int32_t form_of(const rec_layout *layout)
{
    return layout->kind == REC_LAYOUT_LIST    ? REC_FORM_LIST
           : layout->kind == REC_LAYOUT_ARRAY ? REC_FORM_ARRAY
                                              : REC_FORM_TUPLE;
}

/* A value that is not there: no option, an empty list, an array of as many constants. */
static int32_t walk_nothing(lr_walk *w, const rec_layout *layout)
{
    uint64_t count = layout->kind == REC_LAYOUT_LIST ? layout->fixed : layout->count;
    int32_t status;
    if (layout->kind == REC_LAYOUT_LIST && !layout->fixed && holds_nothing(layout->children[0])) {
        lr_walk_tell(
            w, REC_NOTE_LAYOUT, 1, NULL,
            "Burn 0.%d counts the constants of this list, which the record does not: an empty list was written",
            (int)w->job->burn.minor);
    } else if (layout->kind == REC_LAYOUT_LIST && !layout->fixed) {
        lr_walk_tell(w, REC_NOTE_ASSUMED, 1, NULL, "the record lacks this list: an empty one was written");
    }
    if (layout->kind == REC_LAYOUT_OPTION) {
        return lr_walk_option(w, false);
    }
    if (layout->kind == REC_LAYOUT_UNIT) {
        return lr_walk_scalar(w, &(rec_scalar){.kind = REC_KIND_NIL, .form = REC_FORM_UNIT});
    }
    status = lr_walk_list(w, form_of(layout), count);
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        status = walk_nothing(w, rec_layout_child(layout, layout->kind == REC_LAYOUT_TUPLE ? i : 0));
    }
    return status == REC_OK ? lr_walk_end(w) : status;
}

/* Finds the value of a field that another version stores elsewhere: `from` is a path below the struct, "." for the
 * struct itself. May return NULL. */
static const rec_value *moved_value(const rec_value *value, const char *from)
{
    char part[128];
    uint64_t length;
    if (strcmp(from, ".") == 0) {
        return value;
    }
    while (from && value && strlen(from) < sizeof part) {
        from = lr_path_split(from, part, &length);
        value = lr_child(value, part, length);
    }
    return from ? NULL : value;
}

/* A parameter of zeros in the shape of its sibling: what the absence of a shift amounts to. Its id is made of the
 * sibling's, so that it is the same at each walk. */
static int32_t walk_zeros(lr_walk *w, const rec_value *value, const char *name, const char *initial,
                          const rec_layout *layout)
{
    char id[LR_ID_ROOM];
    const lr_entry *sibling =
        lr_map_find_text(value->v.map, initial + strlen("zeros("), strlen(initial) - strlen("zeros()"));
    const rec_tensor *like = sibling && sibling->value.kind == REC_KIND_TENSOR ? sibling->value.v.tensor : NULL;
    rec_tensor zeros;
    lr_data data = {.offset = REC_UNKNOWN};
    uint64_t hash;
    uint8_t bytes[8];
    if (!like || lr_encoding_of(like)->words || !like->data) {
        return rec_fail(w->job, REC_E_MISMATCH, REC_UNKNOWN, "the record lacks this field of its type");
    }
    data.size = like->data->size;
    data.data = lr_arena_alloc(&w->job->layouts->arena, data.size ? data.size : 1, 8);
    if (!data.data) {
        return lr_fail_memory(w->job, data.size);
    }
    memset((void *)(uintptr_t)data.data, 0, (size_t)data.size);
    zeros = (rec_tensor){.record = like->record,
                         .data = &data,
                         .shape = like->shape,
                         .count = like->count,
                         .rank = like->rank,
                         .packed = like->packed,
                         .stored = like->stored,
                         .dtype = like->dtype};
    if (like->id) {
        hash = lr_fnv(lr_fnv(LR_FNV_BEGIN, like->id, strlen(like->id)), name, strlen(name));
        for (unsigned i = 0; i < 8; i++) {
            bytes[i] = (uint8_t)(hash >> (8 * i));
        }
        lr_id_base32(bytes, sizeof bytes, id);
        zeros.id = id;
        zeros.id_made = true;
    }
    return lr_walk_typed(w, &(rec_value){.kind = REC_KIND_TENSOR, .v = {.tensor = &zeros}}, layout);
}

/* A field that the record lacks: moved, given a value that keeps the model's meaning, or nothing at all. */
static int32_t typed_absent(lr_walk *w, const rec_value *value, const rec_layout *layout, uint64_t index)
{
    const rec_layout *child = layout->children[index];
    const char *initial = layout->notes ? layout->notes[index].initial : NULL;
    const char *elsewhere = layout->notes ? layout->notes[index].from : NULL;
    const rec_value *from = elsewhere ? moved_value(value, elsewhere) : NULL;
    if (from) {
        return lr_walk_typed(w, from, child);
    }
    if (initial && strncmp(initial, "zeros(", 6) == 0) {
        lr_walk_tell(w, REC_NOTE_ASSUMED, 1, NULL,
                     "Burn 0.%d always has this parameter, and the record does not: zeros were written",
                     (int)w->job->burn.minor);
        return walk_zeros(w, value, layout->names[index], initial, child);
    }
    if (initial) {
        if (w->record->burn_minor >= w->job->burn.minor) { /* an older one had it built in */
            lr_walk_tell(w, REC_NOTE_ASSUMED, 1, initial, "the record lacks this field, and its default was written");
        }
        rec_value name = {.kind = REC_KIND_STRING, .length = (uint32_t)strlen(initial), .v = {.text = initial}};
        return lr_walk_typed(w, &name, child);
    }
    if (holds_nothing(child)) {
        return walk_nothing(w, child);
    }
    return rec_fail(w->job, REC_E_MISMATCH, REC_UNKNOWN, "the record lacks this field of its type");
}

/* Element `index` of a list or a run, made up in `number` if need be. */
static const rec_value *element_at(const rec_value *value, uint64_t index, rec_value *number)
{
    rec_scalar scalar;
    if (value->kind == REC_KIND_LIST) {
        return &value->v.list->items[index];
    }
    scalar = lr_packed_number(value->v.run, index);
    *number = (rec_value){.kind = (uint8_t)scalar.kind, .bits = scalar.bits, .v = {.u = scalar.v.u}};
    return number;
}

static int32_t typed_sequence(lr_walk *w, const rec_value *value, const rec_layout *layout)
{
    uint64_t count = rec_value_count(value);
    bool tuple = layout->kind == REC_LAYOUT_TUPLE;
    uint64_t due = layout->kind == REC_LAYOUT_LIST ? layout->fixed : layout->count; /* 0 in a list: any */
    int32_t status;
    if (lr_value_is_nothing(value) && holds_nothing(layout) && (value->kind == REC_KIND_NIL || (due && count != due))) {
        if (value->kind != REC_KIND_NIL && count) {
            lr_walk_tell(w, REC_NOTE_LAYOUT, 1, NULL,
                         "%" PRIu64 " constants where the type has %" PRIu64 ", which is how many were written", count,
                         due);
        }
        return walk_nothing(w, layout);
    }
    if (value->kind != REC_KIND_LIST && value->kind != REC_KIND_NUMBERS) {
        char words[48];
        (void)snprintf(words, sizeof words, "a tuple of %" PRIu64 " values", layout->count);
        return mismatch(w, tuple ? words : "a list", value);
    }
    if (layout->kind != REC_LAYOUT_LIST && count != layout->count) {
        return rec_fail(w->job, REC_E_MISMATCH, REC_UNKNOWN, "%" PRIu64 " elements where the type has %" PRIu64, count,
                        layout->count);
    }
    status = lr_walk_list(w, form_of(layout), count);
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        const rec_layout *element = rec_layout_child(layout, tuple ? i : 0);
        size_t used = lr_walk_enter_index(w, i);
        rec_value number;
        status = value->kind == REC_KIND_LIST || element->kind == REC_LAYOUT_OPTION || is_number_layout(element)
                     ? lr_walk_typed(w, element_at(value, i, &number), element)
                     : mismatch(w, "something else than numbers", value);
        lr_walk_leave(w, used);
    }
    return status == REC_OK ? lr_walk_end(w) : status;
}

static bool has_field(const rec_layout *layout, const rec_value *key)
{
    for (uint64_t i = 0; key->kind == REC_KIND_STRING && i < layout->count; i++) {
        if (strcmp(key->v.text, layout->names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Nil where the version that is written has no option. */
static bool is_lacking(const rec_layout *layout, uint64_t index, const lr_entry *entry)
{
    const lr_field_note *note = layout->notes ? &layout->notes[index] : NULL;
    return !entry || (note && (note->initial || note->from) && entry->value.kind == REC_KIND_NIL &&
                      !holds_nothing(layout->children[index]));
}

/* Whether a field that the written version lacks says no more than what that version did anyway: the value that a
 * later version gives to records without it. */
static bool goes_without_saying(const lr_walk *w, const rec_layout *layout, const lr_entry *entry)
{
    const rec_value *value = &entry->value;
    const rec_value *name = value->kind == REC_KIND_VARIANT                           ? &value->v.variant->name
                            : value->kind == REC_KIND_MAP && value->v.map->count == 1 ? &value->v.map->entries[0].key
                                                                                      : value;
    const rec_value *payload =
        value->kind == REC_KIND_VARIANT && value->v.variant->has_payload ? &value->v.variant->payload
        : value->kind == REC_KIND_MAP && value->v.map->count == 1        ? &value->v.map->entries[0].value
                                                                         : NULL;
    const char *later;
    if (name->kind != REC_KIND_STRING || entry->key.kind != REC_KIND_STRING || !layout->later_default ||
        (payload && !lr_value_is_nothing(payload))) {
        return false;
    }
    later = layout->later_default(w->job, layout, entry->key.v.text);
    return later && strcmp(later, name->v.text) == 0;
}

/* Whether a field that the record lacks was found at `path` below the struct, or (not `exactly`) below that. */
static bool taken(const rec_layout *layout, const lr_map *map, const char *path, bool exactly)
{
    size_t length = strlen(path);
    for (uint64_t i = 0; i < layout->count && layout->notes; i++) {
        const char *from = layout->notes[i].from;
        if (from && strncmp(from, path, length) == 0 && (exactly ? !from[length] : from[length] == '.') &&
            is_lacking(layout, i, lr_map_find_text(map, layout->names[i], strlen(layout->names[i])))) {
            return true;
        }
    }
    return false;
}

/* Checks the entries beyond the fields of the type: constants of other versions and origins of fields are allowed;
 * anything else would be lost and is rejected. @param map the struct, or a map below it at `path` that a field came
 * from; `whole` is the struct. */
static int32_t check_rest(lr_walk *w, const lr_map *map, const rec_layout *layout, const lr_map *whole,
                          const char *path)
{
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < map->count && status == REC_OK; i++) {
        const lr_entry *entry = &map->entries[i];
        size_t used;
        char below[256];
        size_t length = (size_t)snprintf(below, sizeof below, "%s", path);
        length = lr_path_append_key(below, sizeof below, length, length == 0, &entry->key);
        if (map == whole && has_field(layout, &entry->key)) {
            continue;
        }
        used = lr_walk_enter_key(w, &entry->key);
        if (lr_value_is_nothing(&entry->value)) {
            if (w->record->burn_minor == w->job->burn.minor) {
                lr_walk_tell(w, REC_NOTE_DROPPED, 1, NULL, "the type has no such field: it is empty and was left out");
            }
        } else if ((map == whole && goes_without_saying(w, layout, entry)) ||
                   (length < sizeof below && taken(layout, whole, below, true))) {
            /* nothing is lost */
        } else if (entry->value.kind == REC_KIND_MAP && length < sizeof below && taken(layout, whole, below, false)) {
            status = check_rest(w, entry->value.v.map, layout, whole, below);
        } else {
            status = rec_fail(w->job, REC_E_MISMATCH, REC_UNKNOWN, "the type has no such field in Burn 0.%d",
                              (int)w->job->burn.minor);
        }
        lr_walk_leave(w, used);
    }
    return status;
}

static int32_t typed_struct(lr_walk *w, const rec_value *value, const rec_layout *layout)
{
    const lr_map *map = value->v.map;
    uint64_t used_entries = 0;
    int32_t status;
    if (value->kind != REC_KIND_MAP) {
        return mismatch(w, "a struct", value);
    }
    status = lr_walk_map(w, REC_FORM_STRUCT, layout->count);
    for (uint64_t i = 0; i < layout->count && status == REC_OK; i++) {
        const char *name = layout->names[i];
        const lr_entry *entry = lr_map_find_text(map, name, strlen(name));
        rec_value key = {.kind = REC_KIND_STRING, .length = (uint32_t)strlen(name), .v = {.text = name}};
        size_t used = lr_walk_enter_key(w, &key);
        status = lr_walk_key(w, name);
        used_entries += entry != NULL;
        if (status == REC_OK) {
            status = is_lacking(layout, i, entry) ? typed_absent(w, value, layout, i)
                                                  : lr_walk_typed(w, &entry->value, layout->children[i]);
        }
        lr_walk_leave(w, used);
    }
    if (status == REC_OK && used_entries < map->count && !taken(layout, map, ".", true)) {
        status = check_rest(w, map, layout, map, "");
    }
    return status == REC_OK ? lr_walk_end(w) : status;
}

static int32_t typed_map(lr_walk *w, const rec_value *value, const rec_layout *layout)
{
    int32_t status;
    if (value->kind != REC_KIND_MAP) {
        return mismatch(w, "a map", value);
    }
    status = layout->role == LR_ROLE_IDS ? lr_walk_check_ids(w, value->v.map) : REC_OK;
    status = status == REC_OK ? lr_walk_map(w, REC_FORM_MAP, value->v.map->count) : status;
    for (uint64_t i = 0; i < value->v.map->count && status == REC_OK; i++) {
        const lr_entry *entry = &value->v.map->entries[i];
        rec_scalar key = lr_to_scalar(&entry->key);
        size_t used = lr_walk_enter_key(w, &entry->key);
        char buffer[LR_ID_ROOM];
        if (layout->role == LR_ROLE_IDS && (w->ids || w->flat) && key.kind == REC_KIND_STRING) {
            key.text = lr_walk_id(w, key.text, buffer);
            key.v.length = strlen(key.text);
        }
        status = w->visitor.key(w->self, REC_UNKNOWN, &key);
        status = status == REC_OK ? lr_walk_typed(w, &entry->value, layout->children[1]) : status;
        lr_walk_leave(w, used);
    }
    return status == REC_OK ? lr_walk_end(w) : status;
}

static int32_t typed_enum(lr_walk *w, const rec_value *value, const rec_layout *layout)
{
    const rec_value *payload;
    const rec_value *name = lr_value_variant(value, &payload);
    rec_value nil = lr_nil(REC_FORM_UNKNOWN);
    if (name->kind != REC_KIND_STRING) {
        return mismatch(w, "a variant of an enum", value);
    }
    for (uint64_t i = 0; i < layout->count; i++) {
        const rec_layout *child = layout->children[i];
        size_t used;
        int32_t status;
        if (strcmp(layout->names[i], name->v.text) != 0) {
            continue;
        }
        if (!child && payload && !lr_value_is_nothing(payload)) {
            return mismatch(w, "a variant without data", payload);
        }
        used = lr_walk_enter_key(w, name);
        status = lr_walk_variant(w, i, name->v.text, name->length, child != NULL);
        if (status == REC_OK && child) {
            status = lr_walk_typed(w, payload ? payload : &nil, child);
        }
        status = status == REC_OK ? lr_walk_variant_end(w, child != NULL) : status;
        lr_walk_leave(w, used);
        return status;
    }
    return rec_fail(w->job, REC_E_MISMATCH, REC_UNKNOWN, "the type has no variant `%s` in Burn 0.%d", name->v.text,
                    (int)w->job->burn.minor);
}

enum { INTS_SINCE = 11 };

static int32_t typed_tensor(lr_walk *w, const rec_value *value, const rec_layout *layout)
{
    const rec_tensor *tensor;
    if (value->kind != REC_KIND_TENSOR) {
        return mismatch(w, "a tensor", value);
    }
    tensor = value->v.tensor;
    if (tensor->rank != layout->rank) {
        return rec_fail(w->job, REC_E_MISMATCH, REC_UNKNOWN, "a tensor of rank %u where the type has rank %" PRIu64,
                        (unsigned)tensor->rank, layout->rank);
    }
    if (lr_elements_of(tensor->dtype) != layout->elements) {
        return rec_fail(w->job, REC_E_MISMATCH, REC_UNKNOWN, "a tensor of %s where the type has %s",
                        rec_tensor_dtype_name(tensor), lr_elements_words(layout->elements));
    }
    if (!w->tensors && layout->role == LR_ROLE_PARAMETER && layout->elements != REC_FIELD_FLOATS &&
        w->job->burn.minor < INTS_SINCE) {
        return rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                        "Burn 0.%d has no parameters of integers or bools: 0.%d is the first", (int)w->job->burn.minor,
                        INTS_SINCE);
    }
    if (layout->role == LR_ROLE_TENSOR && !tensor->id && tensor->anonymous) {
        rec_tensor bare = *tensor; /* its file has no ids, so the type says what it is */
        bare.anonymous = false;
        return lr_walk_tensor(w, &bare);
    }
    if (!w->tensors && (layout->role == LR_ROLE_PARAMETER) != lr_tensor_is_parameter(tensor)) {
        return rec_fail(w->job, REC_E_MISMATCH, REC_UNKNOWN,
                        tensor->id ? "a parameter where the type has a tensor without id"
                                   : "a tensor without id where the type has a parameter");
    }
    return lr_walk_tensor(w, tensor);
}

/* A scheduler that was a tuple once: one of its elements is what it is now, and the others are nowhere. */
static int32_t typed_element(lr_walk *w, const rec_value *value, const rec_layout *layout)
{
    uint64_t index = layout->from_element - 1, count = rec_value_count(value);
    rec_layout plain = *layout;
    rec_value number;
    char lost[192] = "", words[64];
    plain.from_element = 0;
    for (uint64_t i = 0; i < count; i++) {
        size_t used = strlen(lost);
        if (i != index) {
            (void)snprintf(lost + used, sizeof lost - used, "%s%" PRIu64 " = %s", used ? ", " : "", i,
                           lr_walk_value_words(element_at(value, i, &number), words, sizeof words));
        }
    }
    if (count > 1) {
        lr_walk_tell(w, REC_NOTE_DROPPED, count - 1, lost,
                     "of these %" PRIu64 " values Burn 0.%d keeps the one at %" PRIu64 ", and the others are left out",
                     count, (int)w->job->burn.minor, index);
    }
    return lr_walk_typed(w, element_at(value, index, &number), &plain);
}

int32_t lr_walk_typed(lr_walk *w, const rec_value *value, const rec_layout *layout)
{
    rec_scalar scalar;
    if (layout->role == LR_ROLE_TENSOR || layout->role == LR_ROLE_PARAMETER) {
        return typed_tensor(w, value, layout);
    }
    if (layout->from_element && rec_value_count(value) >= layout->from_element &&
        (!layout->from_count || rec_value_count(value) == layout->from_count) &&
        (value->kind == REC_KIND_LIST || value->kind == REC_KIND_NUMBERS)) {
        return typed_element(w, value, layout);
    }
    switch (layout->kind) {
    case REC_LAYOUT_OPTION: {
        const rec_layout *child = rec_layout_child(layout, 0);
        int32_t status;
        if (child && value->kind == REC_KIND_NIL &&
            (value->form == REC_FORM_CONSTANT || value->form == REC_FORM_UNIT) &&
            (child->kind == REC_LAYOUT_UNIT || (child->kind == REC_LAYOUT_OPTION && !child->count))) {
            status = lr_walk_option(w, true); /* an option of a constant that is known to be present */
            return status == REC_OK ? walk_nothing(w, child) : status;
        }
        if (value->kind == REC_KIND_NIL || (!child && lr_value_is_nothing(value))) {
            return lr_walk_option(w, false);
        }
        if (!child) {
            return mismatch(w, "nothing (a constant)", value);
        }
        status = lr_walk_option(w, true);
        return status == REC_OK ? lr_walk_typed(w, value, child) : status;
    }
    case REC_LAYOUT_UNIT:
        return lr_value_is_nothing(value)
                   ? lr_walk_scalar(w, &(rec_scalar){.kind = REC_KIND_NIL, .form = REC_FORM_UNIT})
                   : mismatch(w, "nothing", value);
    case REC_LAYOUT_STRING:
    case REC_LAYOUT_ID:
        scalar = lr_to_scalar(value);
        return value->kind == REC_KIND_STRING ? lr_walk_scalar(w, &scalar) : mismatch(w, "a string", value);
    case REC_LAYOUT_BYTES:
        return value->kind == REC_KIND_BYTES ? lr_walk_value(w, value) : mismatch(w, "bytes", value);
    case REC_LAYOUT_LIST:
    case REC_LAYOUT_ARRAY:
    case REC_LAYOUT_TUPLE:
        return typed_sequence(w, value, layout);
    case REC_LAYOUT_STRUCT:
        return typed_struct(w, value, layout);
    case REC_LAYOUT_MAP:
        return typed_map(w, value, layout);
    case REC_LAYOUT_ENUM:
        return typed_enum(w, value, layout);
    case REC_LAYOUT_BOOL:
        scalar = (rec_scalar){.kind = REC_KIND_BOOL, .v.i = value->v.i != 0};
        return value->kind == REC_KIND_BOOL ? lr_walk_scalar(w, &scalar) : mismatch(w, "a bool", value);
    case REC_LAYOUT_INT:
    case REC_LAYOUT_UINT:
        return typed_integer(w, value, layout);
    default:
        return typed_float(w, value, layout);
    }
}

/* ------------------------------------------------------------------------------------------- a check alone -- */

static int32_t pass(lr_listener *self, const lr_event *event)
{
    (void)self, (void)event;
    return REC_OK;
}

/* Walks the value as a writer does, and writes nothing. */
int32_t lr_check_type(rec_job *job, const rec_record *record, const rec_value *value, const rec_layout *layout)
{
    lr_listener nobody = {.event = pass};
    lr_walk walk = {.job = job,
                    .record = record,
                    .precision = REC_PRECISION_KEEP,
                    .typed = lr_walk_typed,
                    .visitor = lr_listener_visitor,
                    .self = &nobody,
                    .tensors = true, /* whose elements are not read */
                    .again = true,   /* nothing is lost: notes are not made */
                    .path_room = sizeof walk.near};
    lr_walk *outer = job->walk;
    int32_t status;
    walk.path = walk.near;
    job->walk = &walk;
    job->where = lr_walk_where;
    job->where_user = &walk;
    status = lr_walk_typed(&walk, value, layout);
    job->where = NULL;
    job->where_user = NULL;
    job->walk = outer;
    if (walk.path != walk.near) {
        lr_release(job->allocator, walk.path);
    }
    return status;
}
