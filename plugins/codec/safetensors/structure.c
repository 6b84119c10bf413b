/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Describes the record to write: a walk collects its tensors under flat names, and puts everything that such names do
 * not show into a text next to them. docs/reference/foreign-formats.md describes it. */

#include "plugins/codec/burns.h"
#include "plugins/codec/number.h"
#include "plugins/codec/safetensors/structure_private.h"

static void put_pair(lr_buffer *b, bool first, const rec_scalar *key, const rec_scalar *value)
{
    lr_put(b, ",", !first);
    lr_st_put_string(b, key->text, key->v.length);
    lr_put(b, ":", 1);
    lr_st_put_string(b, value->text, value->v.length);
}

static void look_for_reserved(lr_st_structure_writer *t, const rec_scalar *key)
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
    lr_st_structure_writer *t = self;
    (void)at;
    look_for_reserved(t, key);
    put_pair(&t->tree->text, t->pairs == 0, key, value);
    put_pair(&t->tree->metadata, t->tree->metadata.size == 0, key, value); /* values of other kinds are not in it */
    t->has_format = t->has_format || lr_text_is(key->text, key->v.length, "format");
    t->pairs++;
    if (!lr_is_burns(key->text, key->v.length)) {
        put_pair(&t->others, t->other_pairs++ == 0, key, value);
    }
    return lr_st_structure_state(t);
}

static int32_t on_metadata_value(void *self, uint64_t at, const rec_scalar *key)
{
    lr_st_structure_writer *t = self;
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
    return lr_st_structure_state(t);
}

/* The metadata end where the item begins. */
static void item_begins(lr_st_structure_writer *t)
{
    if (t->depth == 0 && !t->entry) {
        lr_put_word(&t->tree->text, "},");
    }
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    lr_st_structure_writer *t = self;
    (void)at;
    item_begins(t);
    lr_st_value_begins(t);
    lr_st_put_scalar(t, &t->tree->text, scalar);
    t->other = true;
    t->tree->left_out += scalar->kind != REC_KIND_NIL;
    lr_st_value_ends(t);
    return lr_st_structure_state(t);
}

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    lr_st_structure_writer *t = self;
    lr_buffer *b = &t->tree->text;
    lr_st_level *l = &t->levels[t->depth - 1];
    uint32_t width = rec_dtype_bits(dtype) / 8;
    (void)at;
    lr_put(b, ",", l->count > 0);
    lr_put_word(b, "[\"run\",\"");
    lr_put_word(b, rec_dtype_name(dtype));
    lr_put_word(b, "\",[");
    for (uint64_t i = 0; i < count; i++) {
        rec_scalar s = lr_number_scalar(dtype, (const uint8_t *)data + i * width);
        lr_put(b, ",", i > 0);
        lr_st_put_number(t, b, &s);
    }
    lr_put_word(b, "]]");
    l->count += count;
    t->tree->left_out++;
    return lr_st_structure_state(t);
}

/* Those of the metadata are text, however many: there are no tensors among them. */
static int32_t put_long_bytes(lr_st_structure_writer *t, const rec_blob *blob)
{
    uint8_t bytes[512];
    int32_t status = REC_OK;
    lr_put_word(&t->tree->text, "[\"bytes\",\"");
    for (uint64_t done = 0; done < blob->length && status == REC_OK; done += sizeof bytes) {
        uint64_t n = blob->length - done < sizeof bytes ? blob->length - done : sizeof bytes;
        status = rec_blob_read(t->tree->job, blob, done, bytes, n);
        lr_st_put_hex(&t->tree->text, bytes, status == REC_OK ? n : 0);
    }
    lr_put_word(&t->tree->text, "\"]");
    return status;
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    lr_st_structure_writer *t = self;
    lr_st_tree *tree = t->tree;
    uint8_t bytes[LR_ST_INLINE_BYTES];
    int32_t status = REC_OK;
    bool own;
    (void)at;
    item_begins(t);
    lr_st_value_begins(t);
    t->other = true;
    if (t->entry) {
        tree->aside += blob->length > sizeof bytes;
        status = put_long_bytes(t, blob);
    } else if (tree->only_tensors) {
        tree->left_out++;
    } else if (blob->length <= sizeof bytes) {
        status = rec_blob_read(tree->job, blob, 0, bytes, blob->length);
        lr_put_word(&tree->text, "[\"bytes\",\"");
        lr_st_put_hex(&tree->text, bytes, status == REC_OK ? blob->length : 0);
        lr_put_word(&tree->text, "\"]");
    } else {
        status = lr_st_structure_add(t, lr_st_type_find("U8", 2), &blob->length, 1, blob, &own);
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
    lr_st_value_ends(t);
    return status == REC_OK ? lr_st_structure_state(t) : status;
}

static int32_t on_list_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    lr_st_structure_writer *t = self;
    (void)at, (void)count;
    item_begins(t);
    lr_st_value_begins(t);
    t->other = true;
    lr_put_word(&t->tree->text, form == REC_FORM_LIST    ? "[\"vec\",["
                                : form == REC_FORM_ARRAY ? "[\"array\",["
                                : form == REC_FORM_TUPLE ? "[\"tuple\",["
                                                         : "[\"list\",[");
    return lr_st_push(t, IN_LIST, true);
}

static int32_t on_map_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    lr_st_structure_writer *t = self;
    bool wrapped = form == REC_FORM_STRUCT || form == REC_FORM_MAP || form == REC_FORM_PATHS;
    (void)at, (void)count;
    item_begins(t);
    lr_st_value_begins(t);
    if (t->depth == 0 && form == REC_FORM_PATHS) {
        t->tree->paths = true;
    } else {
        t->other = true;
    }
    lr_put_word(&t->tree->text, form == REC_FORM_STRUCT  ? "[\"struct\",{"
                                : form == REC_FORM_MAP   ? "[\"map\",{"
                                : form == REC_FORM_PATHS ? "[\"paths\",{"
                                                         : "{");
    return lr_st_push(t, IN_MAP, wrapped);
}

/* A key that is no string is ~ and the value's text, a string that begins with ~ gets another one. */
static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    lr_st_structure_writer *t = self;
    lr_st_tree *tree = t->tree;
    lr_st_level *l = &t->levels[t->depth - 1];
    lr_buffer text = {.job = tree->job};
    rec_scalar name = *key;
    (void)at;
    if (tree->paths && t->depth == 1) {
        int32_t status = lr_st_name_of(&t->name, &name.text, &name.v.length);
        if (status != REC_OK) {
            return status;
        }
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
            lr_st_put_scalar(t, &text, key);
            t->other = true;
        }
        lr_st_put_string(&tree->text, text.data ? text.data : "", text.size);
        tree->text.status = tree->text.status == REC_OK ? text.status : tree->text.status;
        rec_job_free(tree->job, text.data);
    }
    lr_put(&tree->text, ":", 1);
    l->path = lr_st_path_enter(&t->path, key);
    return lr_st_structure_state(t);
}

static int32_t on_variant_begin(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    lr_st_structure_writer *t = self;
    lr_buffer *b = &t->tree->text;
    int32_t status;
    (void)at;
    item_begins(t);
    lr_st_value_begins(t);
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
    status = lr_st_push(t, IN_VARIANT, false);
    if (status == REC_OK) {
        t->levels[t->depth - 1].path = lr_st_path_enter(&t->path, name);
    }
    return status == REC_OK ? lr_st_structure_state(t) : status;
}

static int32_t on_option(void *self, uint64_t at, int32_t present)
{
    lr_st_structure_writer *t = self;
    (void)at;
    item_begins(t);
    t->other = true;
    if (present) {
        lr_st_value_begins(t);
        lr_put_word(&t->tree->text, "[\"some\",");
        return lr_st_push(t, IN_OPTION, false);
    }
    lr_st_value_begins(t);
    lr_put_word(&t->tree->text, lr_st_nil_word(REC_FORM_NONE));
    lr_st_value_ends(t);
    return lr_st_structure_state(t);
}

static int32_t on_end(void *self, uint64_t at)
{
    lr_st_structure_writer *t = self;
    lr_buffer *b = &t->tree->text;
    const lr_st_level *l = &t->levels[t->depth - 1];
    (void)at;
    if (l->kind == IN_VARIANT) {
        lr_st_path_leave(&t->path, l->path);
        lr_put(b, "]", 1);
    } else {
        lr_put(b, l->kind == IN_MAP ? "}" : "]", 1);
        lr_put(b, "]", l->wrapped);
    }
    t->depth--;
    lr_st_value_ends(t);
    return lr_st_structure_state(t);
}

static int32_t on_item_tensor(void *self, uint64_t at, const rec_tensor_event *e)
{
    item_begins(self);
    return lr_st_structure_tensor(self, at, e);
}

/* Records whose layout flat names have: transformers up to 4.57 loads no file without it. */
static void put_format(lr_st_structure_writer *t)
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
                                        .tensor = on_item_tensor,
                                        .metadata_value = on_metadata_value};
    lr_st_structure_writer t = {.tree = tree,
                                .path.text.job = job,
                                .name.job = job,
                                .others.job = job,
                                .keys = {.text = lr_st_structure_name, .self = tree}};
    int32_t status;
    *tree =
        (lr_st_tree){.job = job, .only_tensors = only_tensors, .for_store = rec_job_option_int(job, "burn-store") != 0};
    tree->text.job = tree->metadata.job = tree->typed.job = tree->names.job = job;
    lr_put_word(&tree->text, "[1,{");
    status = rec_job_walk(job, &visitor, &t);
    lr_put(&tree->text, "]", 1);
    status = status == REC_OK ? lr_st_structure_state(&t) : status;
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
