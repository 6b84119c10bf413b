/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Describes the record to write: a walk collects its tensors under flat names, and puts everything that such names do
 * not show into a text next to them. docs/reference/foreign-formats.md describes it. */
#include <stdio.h>

#include "plugins/codec/burns.h"
#include "plugins/codec/json/number.h"
#include "plugins/codec/number.h"
#include "plugins/codec/room.h"
#include "plugins/codec/safetensors/safetensors.h"

enum { IN_LIST, IN_MAP, IN_VARIANT, IN_OPTION };

/* A value that is not complete. */
typedef struct level {
    int kind;
    bool wrapped;   /* in ["form", … ] */
    uint64_t count; /* of elements or entries so far */
    uint64_t path;  /* where the path ended before the entry or element that is on */
} level;

typedef struct writer {
    lr_st_tree *tree;
    lr_st_path path;
    lr_buffer name; /* of a key that is a path */
    level *levels;
    uint64_t depth, room;
    lr_st_keys keys;
    lr_float_reader floats;
    lr_buffer others; /* of the metadata those that are not Burn's */
    uint64_t pairs, other_pairs;
    bool has_format;      /* a metadata entry says whose the tensors are */
    const char *reserved; /* a metadata entry has this name, which is that of a text; NULL: none has */
    /* Within a metadata value: */
    bool entry;
    uint64_t entry_at; /* where it begins in the text */
    uint64_t entry_left_out;
    bool entry_other;
    bool other; /* something that a flat map does not hold */
} writer;

/* --------------------------------------------------------------------------------------------------------- state -- */

static int32_t push(writer *t, int kind, bool wrapped)
{
    if (lr_codec_grow(t->tree->job, &t->levels, t->depth + 1, &t->room, sizeof *t->levels) != REC_OK) {
        return lr_st_no_memory(t->tree->job);
    }
    t->levels[t->depth++] = (level){.kind = kind, .wrapped = wrapped};
    return REC_OK;
}

static int32_t state_of(const writer *t)
{
    const lr_st_tree *tree = t->tree;
    return tree->text.status != REC_OK       ? tree->text.status
           : tree->names.status != REC_OK    ? tree->names.status
           : tree->metadata.status != REC_OK ? tree->metadata.status
           : tree->typed.status != REC_OK    ? tree->typed.status
           : t->others.status != REC_OK      ? t->others.status
                                             : t->path.text.status;
}

/* Before each value: the metadata end where the item begins, and a list's value is named by its number. */
static void value_begins(writer *t)
{
    level *l = t->depth ? &t->levels[t->depth - 1] : NULL;
    if (!l && !t->entry) {
        lr_put_word(&t->tree->text, "},");
    } else if (l && l->kind == IN_LIST) {
        rec_scalar index = {.kind = REC_KIND_UINT, .v.u = l->count};
        lr_put(&t->tree->text, ",", l->count > 0);
        l->path = lr_st_path_enter(&t->path, &index);
    }
}

/* A metadata value is complete: nothing of the item was seen yet. */
static void entry_ends(writer *t)
{
    lr_st_tree *tree = t->tree;
    t->entry = false;
    t->other = t->entry_other;
    tree->left_out = t->entry_left_out + tree->only_tensors;
    if (!tree->only_tensors && tree->text.status == REC_OK) {
        lr_put(&tree->typed, ",", tree->typed.size > 0);
        lr_put(&tree->typed, tree->text.data + t->entry_at, tree->text.size - t->entry_at);
    }
}

/* After each value: it is complete, and so is the option that it was the value of. */
static void value_ends(writer *t)
{
    level *l;
    while (t->depth && t->levels[t->depth - 1].kind == IN_OPTION) {
        lr_put(&t->tree->text, "]", 1);
        t->depth--;
    }
    l = t->depth ? &t->levels[t->depth - 1] : NULL;
    if (l && l->kind != IN_VARIANT) {
        lr_st_path_leave(&t->path, l->path);
        l->count++;
    }
    if (!l && t->entry) {
        entry_ends(t);
    }
}

/* ------------------------------------------------------------------------------------------------------- scalars -- */

static void put_hex(lr_buffer *b, const uint8_t *bytes, uint64_t size)
{
    static const char digits[] = "0123456789abcdef";
    for (uint64_t i = 0; i < size; i++) {
        char two[2] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
        lr_put(b, two, 2);
    }
}

/* The bits of a double, first the highest. */
static void put_bits(lr_buffer *b, double value)
{
    uint64_t bits;
    uint8_t bytes[8];
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    lr_put(b, "\"", 1);
    put_hex(b, bytes, sizeof bytes);
    lr_put(b, "\"", 1);
}

/* A float by the fewest digits that read back to the bit, else by its bits. @param width 32 or 64. */
static void put_float(writer *t, lr_buffer *b, double value, unsigned width)
{
    char text[LR_NUMBER_ROOM];
    lr_decimal decimal;
    double again = 0;
    uint32_t length = width == 32 ? lr_float32_write(text, (float)value) : lr_float_write(text, value);
    bool same = false;
    if (text[0] != 'n' &&
        lr_decimal_scan((const uint8_t *)text, (const uint8_t *)text + length, &decimal) != LR_SCAN_BAD &&
        lr_float_read(&t->floats, &decimal, (const uint8_t *)text, length, &again) == REC_OK) {
        again = width == 32 ? (double)(float)again : again;
        same = memcmp(&again, &value, sizeof value) == 0;
    }
    if (same) {
        lr_put(b, text, length);
    } else {
        put_bits(b, value);
    }
}

static const char *nil_word(unsigned form)
{
    switch (form) {
    case REC_FORM_UNIT:
        return "[\"unit\"]";
    case REC_FORM_NONE:
        return "[\"none\"]";
    case REC_FORM_CONSTANT:
        return "[\"constant\"]";
    case REC_FORM_UNIT_STRUCT:
        return "[\"unit_struct\"]";
    default:
        return "null";
    }
}

static void put_number(writer *t, lr_buffer *b, const rec_scalar *s)
{
    char text[LR_NUMBER_ROOM];
    if (s->kind == REC_KIND_FLOAT) {
        put_float(t, b, s->v.f, s->bits == 32 ? 32 : 64);
    } else {
        lr_put(b, text, s->kind == REC_KIND_INT ? lr_int_write(text, s->v.i) : lr_uint_write(text, s->v.u));
    }
}

/* A number is bare where JSON says it all: an integer of unknown width, unsigned or negative, and a double. */
static void put_scalar(writer *t, lr_buffer *b, const rec_scalar *s)
{
    char tag[16];
    bool bare;
    switch (s->kind) {
    case REC_KIND_NIL:
        lr_put_word(b, nil_word(s->form));
        return;
    case REC_KIND_BOOL:
        lr_put_word(b, s->v.i ? "true" : "false");
        return;
    case REC_KIND_STRING:
        lr_st_put_string(b, s->text, s->v.length);
        return;
    default:
        break;
    }
    bare = s->kind == REC_KIND_FLOAT  ? s->bits == 64 && s->v.f - s->v.f == 0 /* finite */
           : s->kind == REC_KIND_UINT ? s->bits == 0
                                      : s->bits == 0 && s->v.i < 0;
    if (!bare) {
        char letter = s->kind == REC_KIND_FLOAT ? 'f' : s->kind == REC_KIND_UINT ? 'u' : 'i';
        (void)snprintf(tag, sizeof tag, "[\"%c%u\",", letter, (unsigned)s->bits);
        lr_put_word(b, tag);
    }
    put_number(t, b, s);
    if (!bare) {
        lr_put(b, "]", 1);
    }
}

/* ------------------------------------------------------------------------------------------------------- tensors -- */

static const char *name_of(const void *self, uint64_t number, uint64_t *length)
{
    const lr_st_tree *tree = self;
    *length = tree->tensors[number].key_length;
    return tree->names.data + tree->tensors[number].key_at;
}

/* Adds the last tensor's name to the index. @return false: another one has it, or the job has failed. */
static bool name_is_free(writer *t)
{
    lr_st_tree *tree = t->tree;
    uint64_t last = tree->count - 1, length;
    const char *name = name_of(tree, last, &length);
    int32_t status = lr_st_keys_reserve(&t->keys, tree->job, tree->count);
    tree->names.status = status == REC_OK ? tree->names.status : status;
    return status == REC_OK && lr_st_keys_add(&t->keys, last, name, length) == REC_UNKNOWN;
}

/* Names the last tensor by its path. Where that name is taken (`a.b` may be one name or two) or reserved, a number
 * makes it another one. @param own (out) whether it is the path. */
static int32_t name_tensor(writer *t, bool *own)
{
    static const char reserved[] = "__metadata__";
    lr_st_tree *tree = t->tree;
    lr_st_tensor *tensor = &tree->tensors[tree->count - 1];
    const lr_buffer *path = &t->path.text;
    uint64_t length = t->path.parts ? path->size : sizeof LR_ST_ROOT_KEY - 1, suffix = tree->count;
    const char *text = t->path.parts ? (path->data ? path->data : "") : LR_ST_ROOT_KEY;
    bool raw = tree->for_store && lr_st_has_word(text, length), free;
    tensor->key_at = tree->names.size;
    if (raw) {
        lr_st_put_raw(&tree->names, text, length);
        length = tree->names.size - tensor->key_at;
    } else {
        lr_put(&tree->names, text, length);
    }
    tensor->key_length = length;
    lr_put(&tree->names, "", 1); /* so that there always is text */
    free = length != sizeof reserved - 1 || memcmp(text, reserved, (size_t)length) != 0;
    free = free && state_of(t) == REC_OK && name_is_free(t);
    *own = free && !raw;
    if (state_of(t) != REC_OK || free) {
        return state_of(t);
    }
    if (tree->only_tensors || tree->paths) {
        lr_codec_excerpt brief;
        int32_t status = rec_fail(tree->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "the name `%s` %s",
                                  lr_codec_shown(&brief, text, length),
                                  length == sizeof reserved - 1 && memcmp(text, reserved, (size_t)length) == 0
                                      ? "is reserved in safetensors files: no tensor can have it"
                                      : "is that of two tensors, once their paths are joined with dots");
        rec_fail_hint(tree->job, "Rename the tensor%s.",
                      tree->only_tensors && !tree->paths ? ", or save with `record = yes`" : "");
        return status;
    }
    do {
        tree->names.size = tensor->key_at + length;
        lr_put(&tree->names, "#", 1);
        lr_st_put_uint(&tree->names, suffix++);
        tensor->key_length = tree->names.size - tensor->key_at;
        lr_put(&tree->names, "", 1);
    } while (state_of(t) == REC_OK && !name_is_free(t));
    return state_of(t);
}

/* Adds a tensor of `type`. @param own (out) whether its name is its path. */
static int32_t add_tensor(writer *t, int type, const uint64_t *shape, uint32_t rank, const rec_blob *blob, bool *own)
{
    lr_st_tree *tree = t->tree;
    lr_st_tensor *tensor;
    if (tree->count >= INT32_MAX) {
        return rec_fail(tree->job, REC_E_LIMIT, REC_UNKNOWN, "more than 2^31 tensors");
    }
    if (lr_codec_grow(tree->job, &tree->tensors, tree->count + 1, &tree->room, sizeof *tensor) != REC_OK ||
        lr_codec_grow(tree->job, &tree->dims, tree->dim_count + rank, &tree->dim_room, sizeof *tree->dims) != REC_OK) {
        return lr_st_no_memory(tree->job);
    }
    tensor = &tree->tensors[tree->count];
    *tensor = (lr_st_tensor){.number = tree->count,
                             .size = blob->length,
                             .dims = tree->dim_count,
                             .rank = rank,
                             .type = type,
                             .blob = {.size = sizeof(rec_blob), .kind = REC_BLOB_STREAM, .length = blob->length}};
    if (blob->kind == REC_BLOB_VIEW || blob->kind == REC_BLOB_RANGE) {
        tensor->blob = *blob; /* of the record, which does not change during the save */
    }
    tree->count++;
    for (uint32_t i = 0; i < rank; i++) {
        tree->dims[tree->dim_count++] = shape[i];
    }
    return name_tensor(t, own);
}

/* How a tensor is stored. @return the type; -1: only as bytes. */
static int stored_type(const rec_tensor_event *e, bool *marked)
{
    rec_dtype dtype = e->dtype;
    *marked = dtype == REC_DTYPE_BOOL8 || dtype == REC_DTYPE_BOOL32 || dtype == REC_DTYPE_FLEX32;
    dtype = dtype == REC_DTYPE_BOOL8    ? REC_DTYPE_BOOL
            : dtype == REC_DTYPE_BOOL32 ? REC_DTYPE_U32
            : dtype == REC_DTYPE_FLEX32 ? REC_DTYPE_F32
                                        : dtype;
    if (dtype == REC_DTYPE_OPAQUE && e->dtype_name) {
        int type = lr_st_type_find(e->dtype_name, strlen(e->dtype_name));
        uint64_t bits = type < 0 ? 0 : lr_st_types[type].bits;
        for (uint32_t i = 0; i < e->rank && type >= 0; i++) {
            type = __builtin_mul_overflow(bits, e->shape[i], &bits) ? -1 : type;
        }
        return type >= 0 && bits % 8 == 0 && bits / 8 == e->data.length && lr_st_types[type].dtype == REC_DTYPE_OPAQUE
                   ? type
                   : -1;
    }
    for (int i = 0; i < LR_ST_TYPES; i++) {
        if (lr_st_types[i].dtype == dtype && dtype != REC_DTYPE_OPAQUE) {
            return i;
        }
    }
    return -1;
}

/* A string, or null for none. */
static void put_text(lr_buffer *b, const char *text, uint64_t length)
{
    if (text) {
        lr_st_put_string(b, text, length);
    } else {
        lr_put_word(b, "null");
    }
}

/* ["tensor", id, key, dtype, name, shape], as far as there is something to say. The key stands there if it is not the
 * path. */
static void put_tensor(writer *t, const rec_tensor_event *e, bool own, bool marked, bool as_bytes)
{
    lr_buffer *b = &t->tree->text;
    const lr_st_tensor *tensor = &t->tree->tensors[t->tree->count - 1];
    const char *dtype = rec_dtype_name(e->dtype);
    lr_put_word(b, "[\"tensor\"");
    if (e->id || !own || marked || as_bytes) {
        lr_put(b, ",", 1);
        put_text(b, e->id, e->id ? strlen(e->id) : 0);
    }
    if (!own || marked || as_bytes) {
        lr_put(b, ",", 1);
        put_text(b, own ? NULL : t->tree->names.data + tensor->key_at, tensor->key_length);
    }
    if (marked || as_bytes) {
        lr_put(b, ",", 1);
        put_text(b, dtype, strlen(dtype));
    }
    if (as_bytes) {
        lr_put(b, ",", 1);
        put_text(b, e->dtype_name, e->dtype_name ? strlen(e->dtype_name) : 0);
        lr_put(b, ",[", 2);
        for (uint32_t i = 0; i < e->rank; i++) {
            lr_put(b, ",", i > 0);
            lr_st_put_uint(b, e->shape[i]);
        }
        lr_put(b, "]", 1);
    }
    lr_put(b, "]", 1);
}

static int32_t on_tensor(void *self, uint64_t at, const rec_tensor_event *e)
{
    writer *t = self;
    lr_st_tree *tree = t->tree;
    bool marked, own;
    int type = stored_type(e, &marked);
    int32_t status;
    (void)at;
    value_begins(t);
    if (type < 0 && tree->only_tensors) {
        status = rec_fail(tree->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "safetensors has no element type %s",
                          e->dtype == REC_DTYPE_OPAQUE ? e->dtype_name : rec_dtype_name(e->dtype));
        rec_fail_hint(tree->job, "With `record = yes` it is carried as bytes, for librecord to read again.");
        return status;
    }
    /* Bools of four bytes would be numbers to others; the rest is what it says. */
    t->other = t->other || type < 0 || e->dtype == REC_DTYPE_BOOL32;
    tree->ids += e->id && !(e->flags & REC_EVENT_ID_MADE);
    if (type < 0) {
        status = add_tensor(t, lr_st_type_find("U8", 2), &e->data.length, 1, &e->data, &own);
    } else {
        status = add_tensor(t, type, e->shape, e->rank, &e->data, &own);
    }
    if (type < 0 && e->dtype == REC_DTYPE_OPAQUE && e->dtype_name && !tree->encoded++) {
        (void)lr_codec_shown(&tree->of, e->dtype_name, strlen(e->dtype_name));
    }
    if (status == REC_OK) {
        tree->tensors[tree->count - 1].quantised = e->dtype == REC_DTYPE_QFLOAT;
        put_tensor(t, e, own, marked, type < 0);
        value_ends(t);
    }
    return status == REC_OK ? state_of(t) : status;
}

/* -------------------------------------------------------------------------------------------------------- events -- */

static void put_pair(lr_buffer *b, bool first, const rec_scalar *key, const rec_scalar *value)
{
    lr_put(b, ",", !first);
    lr_st_put_string(b, key->text, key->v.length);
    lr_put(b, ":", 1);
    lr_st_put_string(b, value->text, value->v.length);
}

static void look_for_reserved(writer *t, const rec_scalar *key)
{
    static const char *const own[] = {LR_ST_RECORD_KEY, LR_ST_TYPED_KEY};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (lr_text_is(key->text, key->v.length, own[i])) {
            t->reserved = own[i];
        }
    }
}

static int32_t on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    writer *t = self;
    (void)at;
    look_for_reserved(t, key);
    put_pair(&t->tree->text, t->pairs == 0, key, value);
    put_pair(&t->tree->metadata, t->tree->metadata.size == 0, key, value); /* values of other kinds are not in it */
    t->has_format = t->has_format || lr_text_is(key->text, key->v.length, "format");
    t->pairs++;
    if (!lr_is_burns(key->text, key->v.length)) {
        put_pair(&t->others, t->other_pairs++ == 0, key, value);
    }
    return state_of(t);
}

static int32_t on_metadata_value(void *self, uint64_t at, const rec_scalar *key)
{
    writer *t = self;
    lr_st_tree *tree = t->tree;
    (void)at;
    look_for_reserved(t, key);
    lr_put(&tree->text, ",", t->pairs++ > 0);
    t->entry = true;
    t->entry_at = tree->text.size;
    t->entry_left_out = tree->left_out;
    t->entry_other = t->other;
    lr_st_put_string(&tree->text, key->text, key->v.length);
    lr_put(&tree->text, ":", 1);
    return state_of(t);
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    writer *t = self;
    (void)at;
    value_begins(t);
    put_scalar(t, &t->tree->text, scalar);
    t->other = true;
    t->tree->left_out += scalar->kind != REC_KIND_NIL;
    value_ends(t);
    return state_of(t);
}

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    writer *t = self;
    lr_buffer *b = &t->tree->text;
    level *l = &t->levels[t->depth - 1];
    uint32_t width = rec_dtype_bits(dtype) / 8;
    (void)at;
    lr_put(b, ",", l->count > 0);
    lr_put_word(b, "[\"run\",\"");
    lr_put_word(b, rec_dtype_name(dtype));
    lr_put_word(b, "\",[");
    for (uint64_t i = 0; i < count; i++) {
        rec_scalar s = lr_number_scalar(dtype, (const uint8_t *)data + i * width);
        lr_put(b, ",", i > 0);
        put_number(t, b, &s);
    }
    lr_put_word(b, "]]");
    l->count += count;
    t->tree->left_out++;
    return state_of(t);
}

static int32_t put_bytes(writer *t, const rec_blob *blob)
{
    uint8_t bytes[512];
    int32_t status = REC_OK;
    lr_put_word(&t->tree->text, "[\"bytes\",\"");
    for (uint64_t done = 0; done < blob->length && status == REC_OK; done += sizeof bytes) {
        uint64_t n = blob->length - done < sizeof bytes ? blob->length - done : sizeof bytes;
        status = rec_blob_read(t->tree->job, blob, done, bytes, n);
        put_hex(&t->tree->text, bytes, status == REC_OK ? n : 0);
    }
    lr_put_word(&t->tree->text, "\"]");
    return status;
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    writer *t = self;
    lr_st_tree *tree = t->tree;
    int32_t status = REC_OK;
    bool own, is_long = blob->length > LR_ST_INLINE_BYTES;
    (void)at;
    value_begins(t);
    t->other = true;
    if (!t->entry && tree->only_tensors) {
        tree->left_out++;
    } else if (t->entry || !is_long) { /* those of the metadata are text, however many: no tensors are among them */
        tree->aside += is_long;
        status = put_bytes(t, blob);
    } else {
        status = add_tensor(t, lr_st_type_find("U8", 2), &blob->length, 1, blob, &own);
        if (status == REC_OK) {
            const lr_st_tensor *tensor = &tree->tensors[tree->count - 1];
            lr_put_word(&tree->text, "[\"blob\"");
            if (!own) {
                lr_put(&tree->text, ",", 1);
                lr_st_put_string(&tree->text, tree->names.data + tensor->key_at, tensor->key_length);
            }
            lr_put(&tree->text, "]", 1);
        }
    }
    value_ends(t);
    return status == REC_OK ? state_of(t) : status;
}

static int32_t on_list_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    writer *t = self;
    (void)at, (void)count;
    value_begins(t);
    t->other = true;
    lr_put_word(&t->tree->text, form == REC_FORM_LIST    ? "[\"vec\",["
                                : form == REC_FORM_ARRAY ? "[\"array\",["
                                : form == REC_FORM_TUPLE ? "[\"tuple\",["
                                                         : "[\"list\",[");
    return push(t, IN_LIST, true);
}

static int32_t on_map_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    writer *t = self;
    bool wrapped = form == REC_FORM_STRUCT || form == REC_FORM_MAP || form == REC_FORM_PATHS;
    (void)at, (void)count;
    value_begins(t);
    if (t->depth == 0 && form == REC_FORM_PATHS) {
        t->tree->paths = true;
    } else {
        t->other = true;
    }
    lr_put_word(&t->tree->text, form == REC_FORM_STRUCT  ? "[\"struct\",{"
                                : form == REC_FORM_MAP   ? "[\"map\",{"
                                : form == REC_FORM_PATHS ? "[\"paths\",{"
                                                         : "{");
    return push(t, IN_MAP, wrapped);
}

/* A key that is no string is ~ and the value's text, a string that begins with ~ gets another one. */
static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    writer *t = self;
    lr_st_tree *tree = t->tree;
    level *l = &t->levels[t->depth - 1];
    lr_buffer text = {.job = tree->job};
    rec_scalar name = *key;
    (void)at;
    if (tree->paths && t->depth == 1) {
        t->name.size = 0;
        lr_put_unescaped(&t->name, key->text, key->v.length);
        if (t->name.status != REC_OK) {
            return t->name.status;
        }
        name.text = t->name.data;
        name.v.length = t->name.size;
        key = &name;
    }
    lr_put(&tree->text, ",", l->count > 0);
    if (key->kind == REC_KIND_STRING && (key->v.length == 0 || key->text[0] != '~')) {
        lr_st_put_string(&tree->text, key->text, key->v.length);
    } else {
        lr_put(&text, "~", 1);
        if (key->kind == REC_KIND_STRING) {
            lr_put(&text, key->text, key->v.length);
        } else {
            put_scalar(t, &text, key);
            t->other = true;
        }
        lr_st_put_string(&tree->text, text.data ? text.data : "", text.size);
        tree->text.status = tree->text.status == REC_OK ? text.status : tree->text.status;
        rec_job_free(tree->job, text.data);
    }
    lr_put(&tree->text, ":", 1);
    l->path = lr_st_path_enter(&t->path, key);
    return state_of(t);
}

static int32_t on_variant_begin(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    writer *t = self;
    lr_buffer *b = &t->tree->text;
    int32_t status;
    (void)at;
    value_begins(t);
    t->other = true;
    lr_put_word(b, "[\"variant\",");
    if (index == REC_UNKNOWN) {
        lr_put_word(b, "null");
    } else {
        lr_st_put_uint(b, index);
    }
    lr_put(b, ",", 1);
    lr_st_put_string(b, name->text, name->v.length);
    lr_put(b, ",", payload != 0);
    status = push(t, IN_VARIANT, false);
    if (status == REC_OK) {
        t->levels[t->depth - 1].path = lr_st_path_enter(&t->path, name);
    }
    return status == REC_OK ? state_of(t) : status;
}

static int32_t on_option(void *self, uint64_t at, int32_t present)
{
    writer *t = self;
    (void)at;
    value_begins(t);
    t->other = true;
    if (present) {
        lr_put_word(&t->tree->text, "[\"some\",");
        return push(t, IN_OPTION, false);
    }
    lr_put_word(&t->tree->text, nil_word(REC_FORM_NONE));
    value_ends(t);
    return state_of(t);
}

static int32_t on_end(void *self, uint64_t at)
{
    writer *t = self;
    lr_buffer *b = &t->tree->text;
    const level *l = &t->levels[t->depth - 1];
    (void)at;
    if (l->kind == IN_VARIANT) {
        lr_st_path_leave(&t->path, l->path);
        lr_put(b, "]", 1);
    } else {
        lr_put(b, l->kind == IN_MAP ? "}" : "]", 1);
        lr_put(b, "]", l->wrapped);
    }
    t->depth--;
    value_ends(t);
    return state_of(t);
}

/* Records whose layout flat names have: transformers up to 4.57 loads no file without it. */
static void put_format(writer *t)
{
    static const rec_scalar key = {.kind = REC_KIND_STRING, .text = "format", .v.length = 6};
    static const rec_scalar torch = {.kind = REC_KIND_STRING, .text = "pt", .v.length = 2};
    static const rec_scalar flax = {.kind = REC_KIND_STRING, .text = "flax", .v.length = 4};
    lr_st_tree *tree = t->tree;
    const char *layout = rec_job_adapter(tree->job);
    bool is_torch = strcmp(layout, "pytorch") == 0, is_flax = strcmp(layout, "flax") == 0;
    if (tree->plain && tree->paths && !t->has_format && (is_torch || is_flax)) {
        put_pair(&tree->metadata, tree->metadata.size == 0, &key, is_torch ? &torch : &flax);
    }
}

int32_t lr_st_tree_open(lr_st_tree *tree, rec_job *job, bool only_tensors)
{
    static const rec_visitor visitor = {.size = sizeof visitor,
                                        .metadata = on_metadata,
                                        .scalar = on_scalar,
                                        .numbers = on_numbers,
                                        .bytes = on_bytes,
                                        .list_begin = on_list_begin,
                                        .map_begin = on_map_begin,
                                        .key = on_key,
                                        .variant_begin = on_variant_begin,
                                        .end = on_end,
                                        .option = on_option,
                                        .tensor = on_tensor,
                                        .metadata_value = on_metadata_value};
    writer t = {.tree = tree,
                .path.text.job = job,
                .name.job = job,
                .others.job = job,
                .keys = {.text = name_of, .self = tree}};
    int32_t status;
    *tree =
        (lr_st_tree){.job = job, .only_tensors = only_tensors, .for_store = rec_job_option_int(job, "burn-store") != 0};
    tree->text.job = tree->metadata.job = tree->typed.job = tree->names.job = job;
    lr_put_word(&tree->text, "[1,{");
    status = rec_job_walk(job, &visitor, &t);
    lr_put(&tree->text, "]", 1);
    status = status == REC_OK ? state_of(&t) : status;
    if (status == REC_OK && tree->typed.size) {
        tree->text.data[1] = '2'; /* what a reader of version 1 does not know */
    }
    if (status == REC_OK && only_tensors && t.reserved) {
        status = rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                          "the metadata key `%s` is that of a record's own data, and none are written", t.reserved);
        rec_fail_hint(job, "Remove it, or save with `record = yes`.");
    }
    tree->plain = only_tensors || (tree->paths && !t.other && !t.reserved);
    put_format(&t);
    for (uint64_t i = 0; i < tree->count && status == REC_OK; i++) {
        tree->tensors[i].key = tree->names.data + tree->tensors[i].key_at;
    }
    if (!tree->paths) { /* of a record of Burn's layout: where it is left out, those would be wrong */
        lr_buffer all = tree->metadata;
        tree->metadata = t.others;
        t.others = all;
    }
    rec_job_free(job, t.others.data);
    lr_st_keys_close(&t.keys);
    lr_float_reader_free(&t.floats);
    rec_job_free(job, t.levels);
    rec_job_free(job, t.path.text.data);
    rec_job_free(job, t.name.data);
    return status;
}

void lr_st_tree_close(lr_st_tree *tree)
{
    if (tree->job) {
        rec_job_free(tree->job, tree->text.data);
        rec_job_free(tree->job, tree->metadata.data);
        rec_job_free(tree->job, tree->typed.data);
        rec_job_free(tree->job, tree->names.data);
        rec_job_free(tree->job, tree->tensors);
        rec_job_free(tree->job, tree->dims);
    }
}
