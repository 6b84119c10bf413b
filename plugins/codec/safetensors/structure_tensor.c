/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Tensors to write: their names in the file, their storage, and their part of the description. */
#include "plugins/codec/room.h"
#include "plugins/codec/safetensors/structure_private.h"

const char *lr_st_structure_name(const void *self, uint64_t number, uint64_t *length)
{
    const lr_st_tree *tree = self;
    *length = tree->tensors[number].key_length;
    return tree->names.data + tree->tensors[number].key_at;
}

/* Adds the last tensor's name to the index. @return false: another one has it, or the job has failed. */
static bool name_is_free(lr_st_structure_writer *t)
{
    lr_st_tree *tree = t->tree;
    const char *name;
    uint64_t length;
    if (tree->count > t->keys_room) {
        lr_st_keys larger = {.text = lr_st_structure_name, .self = tree};
        int32_t status = lr_st_keys_open(&larger, tree->job, tree->count * 4);
        if (status != REC_OK) {
            lr_st_keys_close(&larger);
            tree->names.status = status;
            return false;
        }
        for (uint64_t i = 0; i + 1 < tree->count; i++) {
            name = lr_st_structure_name(tree, i, &length);
            (void)lr_st_keys_add(&larger, i, name, length);
        }
        lr_st_keys_close(&t->keys);
        t->keys = larger;
        t->keys_room = tree->count * 4;
    }
    name = lr_st_structure_name(tree, tree->count - 1, &length);
    return lr_st_keys_add(&t->keys, tree->count - 1, name, length) == REC_UNKNOWN;
}

/* Names the last tensor by its path. Where that name is taken (`a.b` may be one name or two) or reserved, a number
 * makes it another one. @param own (out) whether it is the path. */
static int32_t name_tensor(lr_st_structure_writer *t, bool *own)
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
    free = free && lr_st_structure_state(t) == REC_OK && name_is_free(t);
    *own = free && !raw;
    if (lr_st_structure_state(t) != REC_OK || free) {
        return lr_st_structure_state(t);
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
    } while (lr_st_structure_state(t) == REC_OK && !name_is_free(t));
    return lr_st_structure_state(t);
}

static bool add_dim(lr_st_tree *tree, uint64_t dim)
{
    if (lr_codec_grow(tree->job, &tree->dims, tree->dim_count + 1, &tree->dim_room, sizeof *tree->dims) != REC_OK) {
        return false;
    }
    tree->dims[tree->dim_count++] = dim;
    return true;
}

/* Adds a tensor of `type`. */
int32_t lr_st_structure_add(lr_st_structure_writer *t, int type, const uint64_t *shape, uint32_t rank,
                            const rec_blob *blob, bool *own)
{
    lr_st_tree *tree = t->tree;
    lr_st_tensor *tensor;
    if (tree->count >= INT32_MAX) {
        return rec_fail(tree->job, REC_E_LIMIT, REC_UNKNOWN, "more than 2^31 tensors");
    }
    if (lr_codec_grow(tree->job, &tree->tensors, tree->count + 1, &tree->room, sizeof *tensor) != REC_OK) {
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
        if (!add_dim(tree, shape[i])) {
            return lr_st_no_memory(tree->job);
        }
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
static void put_tensor(lr_st_structure_writer *t, const rec_tensor_event *e, bool own, bool marked, bool as_bytes)
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

int32_t lr_st_structure_tensor(void *self, uint64_t at, const rec_tensor_event *e)
{
    lr_st_structure_writer *t = self;
    lr_st_tree *tree = t->tree;
    bool marked, own;
    int type = stored_type(e, &marked);
    int32_t status;
    (void)at;
    lr_st_value_begins(t);
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
        status = lr_st_structure_add(t, lr_st_type_find("U8", 2), &e->data.length, 1, &e->data, &own);
    } else {
        status = lr_st_structure_add(t, type, e->shape, e->rank, &e->data, &own);
    }
    if (type < 0 && e->dtype == REC_DTYPE_OPAQUE && e->dtype_name && !tree->encoded++) {
        (void)lr_codec_shown(&tree->of, e->dtype_name, strlen(e->dtype_name));
    }
    if (status == REC_OK) {
        tree->tensors[tree->count - 1].quantised = e->dtype == REC_DTYPE_QFLOAT;
        put_tensor(t, e, own, marked, type < 0);
        lr_st_value_ends(t);
    }
    return status == REC_OK ? lr_st_structure_state(t) : status;
}
