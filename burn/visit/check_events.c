/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The events of a record as leaves with their places: those of the walk on their way to the writer, and those of a
 * reader of the result. Both use the same code, so that differences that formats may make are treated alike: numbers
 * in chunks or one by one, variants as maps, bytes as lists, options as nil. */
#include "burn/visit/check_private.h"

#include <stdio.h>

#include "common/names.h"

static const uint64_t seed = LR_FNV_BEGIN, metadata_seed = UINT64_C(0x6c62272e07bb0142);

/* The hashes of a path. A format of tensors may have names in levels or joined by dots, and a field as Rust writes it:
 * `r#type` is `type`. So its place there is that of the names joined, and `exact` that of each name. */
typedef struct spot {
    uint64_t place, exact;
} spot;

static void fold_part(spot *at, const char *part, uint64_t length)
{
    at->place = lr_fnv(at->place, part, length);
    at->exact = lr_fnv(at->exact, part, length);
}

/* The same of a name that is escaped. */
static void fold_escaped(spot *at, const char *part, uint64_t length)
{
    const char *end = part + length;
    while (part < end) {
        const char *slash = memchr(part, '\\', (size_t)(end - part));
        fold_part(at, part, (uint64_t)((slash ? slash : end) - part));
        if (!slash) {
            break;
        }
        slash += end - slash > 1 && (slash[1] == '\\' || slash[1] == '.');
        fold_part(at, slash, 1);
        part = slash + 1;
    }
}

static bool is_raw(const char *part, const char *end)
{
    return end - part > 2 && part[0] == 'r' && part[1] == '#';
}

/* Returns the place below a frame's value, under a name or a path of several. */
static spot below(const lr_check *c, const lr_check_frame *f, const char *text, uint64_t length)
{
    spot at = {f->place, f->exact};
    bool first = c->depth == 1 && f->place == seed, paths = first && c->paths;
    const char *end = text + length;
    if (!c->tensors) {
        at.place = lr_fnv(lr_fnv(at.place, "\x1f", 1), text, length);
        return at;
    }
    for (bool last = false; !last; first = false) {
        const char *dot = paths ? lr_path_dot(text, end) : NULL, *stop = dot ? dot : end;
        last = !dot;
        at.exact = lr_fnv(at.exact, "\x1f", 1);
        if (!first) {
            at.place = lr_fnv(at.place, ".", 1);
        }
        text += is_raw(text, stop) ? 2 : 0;
        if (paths) {
            fold_escaped(&at, text, (uint64_t)(stop - text));
        } else {
            /* A name may be several that are joined: each may be raw. */
            for (const char *next; text < stop; text = next) {
                next = memchr(text, '.', (size_t)(stop - text));
                next = next ? next + 1 : stop;
                fold_part(&at, text, (uint64_t)(next - text));
                next += is_raw(next, stop) ? 2 : 0;
            }
        }
        text = dot ? dot + 1 : end;
    }
    return at;
}

static lr_check_frame *top(lr_check *c)
{
    return c->depth ? &c->frames[c->depth - 1] : NULL;
}

/* Where the value is whose event came. */
static uint64_t enter(lr_check *c)
{
    lr_check_frame *f = top(c);
    char digits[LR_KEY_DIGITS];
    if (!f && c->entry_due) {
        c->entry_due = false;
        c->exact = c->entry;
        return c->entry;
    }
    if (!f) {
        c->exact = seed;
        return seed;
    }
    if (f->kind == REC_KIND_LIST) {
        uint64_t length;
        const char *index = lr_index_text(f->count, digits, &length);
        spot to = below(c, f, index, length);
        c->used = lr_path_append(c->path, sizeof c->path, f->used, f->used == 0, index, length);
        f->count++;
        c->exact = to.exact;
        return to.place;
    }
    f->count++;
    c->exact = f->exact_next;
    return f->next;
}

static void leave_to(lr_check *c, size_t used)
{
    c->used = used;
    if (used < sizeof c->path) {
        c->path[used] = '\0';
    }
}

/* The value has ended. */
static void leave(lr_check *c)
{
    const lr_check_frame *f = top(c);
    leave_to(c, f ? f->used : 0);
    if (!f && !c->entry_due) {
        c->entry = 0;
    }
}

static int32_t leaf(lr_check *c, uint64_t at, lr_leaf *leaf, const lr_leaf_words *words, const rec_blob *blob)
{
    uint64_t place = enter(c);
    int32_t status;
    leaf->spare = leaf->spare || c->entry;
    status = c->leaf(c, place, at, leaf, words, blob);
    leave(c);
    return status;
}

static lr_leaf leaf_of_scalar(const rec_scalar *scalar)
{
    lr_leaf leaf = {.hashed = true};
    lr_hash hash;
    switch (scalar->kind) {
    case REC_KIND_BOOL:
        leaf.kind = LR_LEAF_BOOL;
        leaf.count = scalar->v.i != 0;
        break;
    case REC_KIND_INT:
    case REC_KIND_UINT:
        leaf.kind = LR_LEAF_INT;
        leaf.count = scalar->v.u;
        leaf.hash = scalar->kind == REC_KIND_INT && scalar->v.i < 0;
        break;
    case REC_KIND_FLOAT:
        leaf.kind = LR_LEAF_FLOAT;
        leaf.narrow = scalar->bits == 32;
        memcpy(&leaf.count, &scalar->v.f, sizeof leaf.count);
        break;
    case REC_KIND_STRING:
        leaf.kind = LR_LEAF_STRING;
        lr_hash_begin(&hash);
        lr_hash_add(&hash, scalar->text, scalar->v.length);
        leaf.count = scalar->v.length;
        leaf.hash = lr_hash_end(&hash);
        break;
    default:
        leaf.kind = LR_LEAF_NIL;
        leaf.loose = scalar->form == REC_FORM_UNIT_STRUCT;
        break;
    }
    return leaf;
}

static int32_t on_scalar(lr_check *c, uint64_t at, const rec_scalar *scalar)
{
    lr_check_frame *f = top(c);
    lr_leaf_words words = {.scalar = scalar};
    lr_leaf scalar_leaf;
    if (f && f->kind == REC_KIND_LIST && scalar->kind != REC_KIND_STRING) {
        lr_numbers_scalar(&f->numbers, scalar);
        f->count++;
        return REC_OK;
    }
    scalar_leaf = leaf_of_scalar(scalar);
    return leaf(c, at, &scalar_leaf, &words, NULL);
}

static int32_t on_numbers(lr_check *c, const lr_event *e)
{
    lr_check_frame *f = top(c);
    lr_numbers_add(&f->numbers, e->dtype, e->data, e->count);
    f->count += e->count;
    return REC_OK;
}

static int32_t on_bytes(lr_check *c, uint64_t at, const rec_blob *blob)
{
    lr_leaf bytes = {.kind = LR_LEAF_LIST, .count = blob->length};
    return leaf(c, at, &bytes, &(lr_leaf_words){0}, blob);
}

/* Opens a container. @return its place. */
static int32_t open_container(lr_check *c, int32_t kind)
{
    uint64_t place = enter(c);
    lr_check_frame *f;
    if (c->depth == c->frame_room) {
        uint32_t room = c->frame_room ? c->frame_room * 2 : 8;
        lr_check_frame *frames = lr_resize(c->job->allocator, c->frames, room * sizeof *frames);
        if (!frames) {
            return lr_fail_memory(c->job, room * sizeof *frames);
        }
        c->frames = frames;
        c->frame_room = room;
    }
    f = &c->frames[c->depth++];
    f->kind = kind;
    f->root_metadata = false;
    f->place = place;
    f->exact = c->exact;
    f->count = 0;
    f->used = c->used;
    if (kind == REC_KIND_LIST) {
        const lr_leaf *written = c->reading ? lr_check_find(c, lr_check_place(c, place)) : NULL;
        lr_numbers_begin(&f->numbers);
        if (written && written->kind == LR_LEAF_LIST) {
            f->numbers.given = true;
            f->numbers.narrow = written->sizes;
        }
    }
    return REC_OK;
}

static int32_t on_map(lr_check *c, int32_t form)
{
    c->paths = c->depth || c->entry_due ? c->paths : c->tensors && form == REC_FORM_PATHS;
    return open_container(c, REC_KIND_MAP);
}

/* Appends a name to the path. A key of REC_FORM_PATHS is a path already, escapes and all. */
static size_t append(lr_check *c, const lr_check_frame *f, const char *text, uint64_t length)
{
    if (!c->paths || c->depth != 1 || f->place != seed) {
        return lr_path_append(c->path, sizeof c->path, f->used, f->used == 0, text, length);
    }
    (void)snprintf(c->path, sizeof c->path, "%.*s", length < sizeof c->path ? (int)length : (int)sizeof c->path - 1,
                   text);
    return (size_t)length;
}

/* The next event is below this name. */
static void name(lr_check *c, lr_check_frame *f, const char *text, uint64_t length)
{
    bool outer = c->depth == 1 && !c->tensors;
    spot at = below(c, f, text, length);
    f->next = at.place;
    f->exact_next = at.exact;
    f->root_metadata = outer && length == 8 && memcmp(text, "metadata", 8) == 0;
    if (!outer || length != 4 || memcmp(text, "item", 4) != 0) { /* paths are those of the record */
        c->used = append(c, f, text, length);
    }
}

static int32_t on_key(lr_check *c, const rec_scalar *key)
{
    char digits[LR_KEY_DIGITS];
    uint64_t length;
    const char *text = lr_key_text(key, digits, &length);
    name(c, top(c), text, length);
    return REC_OK;
}

static int32_t on_variant(lr_check *c, uint64_t at, const rec_scalar *variant, bool payload)
{
    lr_check_frame *f;
    uint64_t entry;
    int32_t status;
    if (payload) {
        status = open_container(c, REC_KIND_VARIANT);
        if (status == REC_OK) {
            name(c, top(c), variant->text, variant->v.length);
        }
        return status;
    }
    /* Without payload it is a text; its `end` comes all the same. */
    entry = c->entry;
    status = on_scalar(c, at, variant);
    if (status == REC_OK) {
        f = top(c);
        if (f) {
            f->count--; /* the same value again */
        } else {
            c->entry = entry;
            c->entry_due = entry != 0;
        }
        status = open_container(c, REC_KIND_VARIANT);
    }
    return status;
}

static int32_t on_end(lr_check *c, uint64_t at)
{
    lr_check_frame *f = top(c);
    int32_t status = REC_OK;
    leave_to(c, f->used);
    if (f->kind == REC_KIND_LIST && (f->numbers.count || !f->count)) {
        lr_variables *n = &f->numbers;
        lr_leaf list = {.kind = LR_LEAF_LIST,
                        .hashed = true,
                        .spare = c->entry != 0,
                        .loose = n->loose,
                        .count = n->count,
                        .hash = lr_hash_end(&n->hash),
                        .other = n->loose ? lr_hash_end(&n->loose_hash) : 0,
                        .sizes = n->narrow};
        status = c->leaf(c, f->place, at, &list, &(lr_leaf_words){0}, NULL);
    } else if (f->kind == REC_KIND_MAP && !f->count) {
        lr_leaf nil = {.kind = LR_LEAF_NIL,
                       .hashed = true,
                       .spare = c->entry != 0}; /* JSON has null for a struct without fields */
        status = c->leaf(c, f->place, at, &nil, &(lr_leaf_words){0}, NULL);
    }
    c->depth--;
    leave(c);
    f = top(c);
    if (c->depth == 1 && f->root_metadata && c->reading) {
        c->job->burn.known = true; /* the layout of the file: the job knows it already */
    }
    return status;
}

/* Whether the format added an entry itself: a flat format may record the Burn version that it is for, and safetensors
 * whose layout it has. */
static bool says_of_itself(lr_check *c, const rec_scalar *key)
{
    bool added = c->reading && !lr_check_find(c, lr_fnv(metadata_seed, key->text, key->v.length)), burns;
    char text[16] = "";
    if (key->v.length < sizeof text) {
        memcpy(text, key->text, (size_t)key->v.length);
    }
    burns = lr_metadata_is_burns(text);
    return c->flat ? burns || added : burns && added;
}

static void enter_metadata(lr_check *c, const rec_scalar *key)
{
    c->used = lr_path_append(c->path, sizeof c->path, 0, true, "metadata", 8);
    c->used = lr_path_append(c->path, sizeof c->path, c->used, false, key->text, key->v.length);
}

static int32_t on_metadata(lr_check *c, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    lr_leaf text = leaf_of_scalar(value);
    lr_leaf_words words = {.scalar = value};
    int32_t status;
    if (says_of_itself(c, key)) {
        return REC_OK;
    }
    text.spare = true;
    enter_metadata(c, key);
    c->exact = lr_fnv(metadata_seed, key->text, key->v.length);
    status = c->leaf(c, c->exact, at, &text, &words, NULL);
    leave(c);
    if (c->reading) {
        c->job->burn.known = true;
    }
    return status;
}

static int32_t on_metadata_value(lr_check *c, const rec_scalar *key)
{
    enter_metadata(c, key);
    c->entry = lr_fnv(metadata_seed, key->text, key->v.length);
    c->entry += c->entry == 0;
    c->entry_due = true;
    if (c->reading) {
        c->job->burn.known = true;
    }
    return REC_OK;
}

static int32_t on_tensor(lr_check *c, uint64_t at, const rec_tensor_event *event)
{
    lr_leaf tensor = {.kind = LR_LEAF_TENSOR, .dtype = (uint8_t)event->dtype, .count = event->data.length};
    lr_leaf_words words = {.tensor = event};
    lr_hash hash;
    lr_hash_begin(&hash);
    for (uint32_t i = 0; i < event->rank; i++) {
        uint64_t size = event->shape[i];
        lr_swap_if_big(&size, 8, 1);
        lr_hash_add(&hash, &size, sizeof size);
    }
    if (rec_dtype_bits(event->dtype) == 0 && event->dtype_name) {
        lr_hash_add(&hash, event->dtype_name, strlen(event->dtype_name));
    }
    tensor.sizes = lr_hash_end(&hash);
    if (event->id) {
        lr_hash_begin(&hash);
        lr_hash_add(&hash, event->id, strlen(event->id));
        tensor.has_id = true;
        tensor.id = lr_hash_end(&hash);
    }
    return leaf(c, at, &tensor, &words, &event->data);
}

int32_t lr_check_event(lr_check *c, const lr_event *e)
{
    switch (e->kind) {
    case LR_EVENT_METADATA:
        return on_metadata(c, e->at, e->key, e->scalar);
    case LR_EVENT_METADATA_VALUE:
        return on_metadata_value(c, e->key);
    case LR_EVENT_SCALAR:
        return on_scalar(c, e->at, e->scalar);
    case LR_EVENT_NUMBERS:
        return on_numbers(c, e);
    case LR_EVENT_BYTES:
        return on_bytes(c, e->at, e->blob);
    case LR_EVENT_LIST:
        return open_container(c, REC_KIND_LIST);
    case LR_EVENT_MAP:
        return on_map(c, e->form);
    case LR_EVENT_KEY:
        return on_key(c, e->key);
    case LR_EVENT_VARIANT:
        return on_variant(c, e->at, e->key, e->form != 0);
    case LR_EVENT_END:
        return on_end(c, e->at);
    case LR_EVENT_OPTION:
        return e->form ? REC_OK : on_scalar(c, e->at, &(rec_scalar){.kind = REC_KIND_NIL});
    case LR_EVENT_TENSOR:
        return on_tensor(c, e->at, e->tensor);
    default:
        return REC_OK; /* types of lists are compared by the numbers that have them */
    }
}

/* Passes what was compared when its event came. */
static int32_t pass(lr_check *c)
{
    (void)enter(c);
    leave(c);
    return REC_OK;
}

static int32_t compare_children(lr_check *c, const rec_value *value)
{
    const lr_check_frame *f = top(c);
    uint64_t count = rec_value_count(value);
    int32_t status = REC_OK;
    bool holes;
    c->exact = f->exact;
    /* A map whose names are indices is read as a list, with nil for those that it lacks. */
    holes = value->kind == REC_KIND_LIST && !lr_check_find(c, lr_check_place(c, f->place));
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        rec_scalar key = rec_value_key(value, i);
        const rec_value *item = rec_value_item(value, i);
        status = value->kind == REC_KIND_MAP ? on_key(c, &key) : REC_OK;
        if (status == REC_OK) {
            status = holes && item->kind == REC_KIND_NIL ? pass(c) : lr_check_values(c, item);
        }
    }
    return status == REC_OK ? on_end(c, REC_UNKNOWN) : status;
}

static int32_t compare_numbers(lr_check *c, const rec_value *value)
{
    int32_t status = open_container(c, REC_KIND_LIST);
    for (uint64_t i = 0; i < value->v.run->count && status == REC_OK; i++) {
        rec_scalar number = lr_packed_number(value->v.run, i);
        status = on_scalar(c, REC_UNKNOWN, &number);
    }
    return status == REC_OK ? on_end(c, REC_UNKNOWN) : status;
}

int32_t lr_check_values(lr_check *c, const rec_value *value)
{
    rec_scalar scalar;
    int32_t status;
    switch (value->kind) {
    case REC_KIND_TENSOR:
    case REC_KIND_BYTES:
        return pass(c);
    case REC_KIND_LIST:
        status = open_container(c, REC_KIND_LIST);
        return status == REC_OK ? compare_children(c, value) : status;
    case REC_KIND_MAP:
        status = on_map(c, value->form);
        return status == REC_OK ? compare_children(c, value) : status;
    case REC_KIND_NUMBERS:
        return compare_numbers(c, value);
    case REC_KIND_VARIANT:
        scalar = lr_to_scalar(&value->v.variant->name);
        status = on_variant(c, REC_UNKNOWN, &scalar, value->v.variant->has_payload);
        if (status == REC_OK && value->v.variant->has_payload) {
            status = lr_check_values(c, &value->v.variant->payload);
        }
        return status == REC_OK ? on_end(c, REC_UNKNOWN) : status;
    default:
        scalar = lr_to_scalar(value);
        return on_scalar(c, REC_UNKNOWN, &scalar);
    }
}

void lr_check_rewind(lr_check *c)
{
    c->depth = 0;
    c->paths = false;
    c->entry = 0;
    c->entry_due = false;
    leave_to(c, 0);
}
