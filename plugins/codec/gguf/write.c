/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The writer. A first walk collects the header, a second one writes the tensors after it, in the record's order.
 * Values that a flat file of tensors cannot hold are rejected; ids of parameters are dropped with a note.
 *
 * Metadata: a number has the width that it came with, or the narrowest of 32 and 64 bits; a list has the type that it
 * came with, or numbers of 32 bits where all of them fit, which is what llama.cpp reads. */
#include <inttypes.h>
#include <string.h>

#include "common/names.h"
#include "common/utf8.h"
#include "plugins/codec/burns.h"
#include "plugins/codec/flat.h"
#include "plugins/codec/gguf/gguf.h"
#include "plugins/codec/number.h"
#include "plugins/codec/pass.h"

/* ------------------------------------------------------------------------------------------------------ metadata -- */

static void put_text(lr_buffer *b, const char *text, uint64_t length)
{
    lr_put_little(b, length, 8);
    lr_put(b, text, length);
}

enum { NESTED_MOST = 8, BYTES_MOST = 1 << 30 };

/* A list of metadata on its way. */
typedef struct meta_list {
    uint64_t start;   /* of its type in the text */
    uint64_t count;   /* elements so far */
    int32_t type;     /* LR_GGUF_… of its elements; -1: none came yet. Integers and floats: the widest so far */
    int32_t of;       /* LR_GGUF_… that was announced; -1: none was */
    uint64_t largest; /* of integers that are not negative */
    int64_t smallest; /* of those that are */
} meta_list;

/* The metadata. */
typedef struct entries {
    rec_job *job;
    lr_buffer text;
    uint64_t count;
    uint64_t left_out;  /* that GGUF has no words for */
    lr_buffer lost;     /* their keys, the first few: "`a`, `b`" */
    uint64_t alignment; /* of tensors: what the metadata say, or the default */
    bool open;          /* a value's events are expected */
    bool bad;           /* it is left out */
    bool aligning;      /* it is the alignment */
    uint32_t skipped;   /* containers of it that are open */
    uint64_t entry;     /* where it begins in the text */
    uint64_t key_length;
    uint32_t depth;
    meta_list lists[NESTED_MOST];
    lr_buffer numbers; /* of the innermost list: eight bytes each */
} entries;

static void open_entries(entries *e, rec_job *job)
{
    memset(e, 0, sizeof *e);
    e->job = e->text.job = e->numbers.job = e->lost.job = job;
    e->alignment = LR_GGUF_ALIGNMENT;
}

static void close_entries(entries *e)
{
    rec_job_free(e->job, e->text.data);
    rec_job_free(e->job, e->numbers.data);
    rec_job_free(e->job, e->lost.data);
}

/* The narrowest type of 32 or 64 bits. */
static int32_t type_of_uint(uint64_t number)
{
    return number <= UINT32_MAX ? LR_GGUF_U32 : LR_GGUF_U64;
}

static int32_t type_of(const rec_scalar *scalar)
{
    static const int32_t ints[] = {LR_GGUF_I8, LR_GGUF_I16, LR_GGUF_I32, LR_GGUF_I64};
    static const int32_t uints[] = {LR_GGUF_U8, LR_GGUF_U16, LR_GGUF_U32, LR_GGUF_U64};
    int width = scalar->bits == 8 ? 0 : scalar->bits == 16 ? 1 : scalar->bits == 32 ? 2 : scalar->bits == 64 ? 3 : -1;
    switch (scalar->kind) {
    case REC_KIND_BOOL:
        return LR_GGUF_BOOL;
    case REC_KIND_STRING:
        return LR_GGUF_STRING;
    case REC_KIND_INT:
        return width >= 0                                             ? ints[width]
               : scalar->v.i >= INT32_MIN && scalar->v.i <= INT32_MAX ? LR_GGUF_I32
                                                                      : LR_GGUF_I64;
    case REC_KIND_UINT:
        return width >= 0 ? uints[width] : type_of_uint(scalar->v.u);
    case REC_KIND_FLOAT:
        return width == 3 || (width < 0 && (double)(float)scalar->v.f != scalar->v.f) ? LR_GGUF_F64 : LR_GGUF_F32;
    default:
        return -1;
    }
}

/* A number of a type. */
static void put_value(lr_buffer *b, int32_t type, const rec_scalar *scalar)
{
    uint64_t bits = scalar->v.u;
    if (type == LR_GGUF_F32) {
        float number = (float)scalar->v.f;
        uint32_t word;
        memcpy(&word, &number, sizeof word);
        bits = word;
    } else if (type == LR_GGUF_F64) {
        memcpy(&bits, &scalar->v.f, sizeof bits);
    }
    lr_put_little(b, bits, rec_dtype_bits(lr_gguf_value_dtype((uint32_t)type)) / 8);
}

static int32_t set_alignment(entries *e, const rec_scalar *value)
{
    uint64_t alignment = value->kind == REC_KIND_UINT || value->kind == REC_KIND_INT ? value->v.u : 0;
    if (alignment < 8 || alignment > UINT64_C(1) << 30 || (alignment & (alignment - 1))) {
        int32_t status = rec_fail(e->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                                  "the metadata entry " LR_GGUF_KEY_ALIGNMENT " is not a power of two from 8 on");
        rec_fail_hint(e->job, "GGUF takes it for how tensors lie in the file: remove it, or give it such a number.");
        return status;
    }
    e->alignment = alignment;
    return REC_OK;
}

static int32_t add_pair(entries *e, const rec_scalar *key, const rec_scalar *value)
{
    if (lr_is_burns(key->text, key->v.length)) {
        return REC_OK;
    }
    if (lr_text_is(key->text, key->v.length, LR_GGUF_KEY_ALIGNMENT)) {
        return set_alignment(e, value);
    }
    put_text(&e->text, key->text, key->v.length);
    lr_put_little(&e->text, LR_GGUF_STRING, 4);
    put_text(&e->text, value->text, value->v.length);
    e->count++;
    return e->text.status;
}

static int32_t begin_value(entries *e, const rec_scalar *key)
{
    e->open = true;
    e->aligning = lr_text_is(key->text, key->v.length, LR_GGUF_KEY_ALIGNMENT);
    e->bad = false;
    e->depth = e->skipped = 0;
    e->entry = e->text.size;
    e->key_length = key->v.length;
    put_text(&e->text, key->text, key->v.length);
    return e->text.status;
}

enum { LOST_MOST = 8, KEY_MOST = 60 };

/* Keeps the key of the entry that is left out. */
static void note_lost(entries *e)
{
    uint64_t length = e->key_length < KEY_MOST ? e->key_length : KEY_MOST;
    if (e->left_out < LOST_MOST && e->text.status == REC_OK) {
        lr_put(&e->lost, ", ", e->lost.size ? 2 : 0);
        lr_put(&e->lost, "`", 1);
        lr_put(&e->lost, e->text.data + e->entry + sizeof(uint64_t), length);
        lr_put(&e->lost, "`", 1);
    } else if (e->left_out == LOST_MOST) {
        lr_put(&e->lost, ", …", sizeof ", …" - 1);
    }
}

/* The value is complete. */
static int32_t finish(entries *e)
{
    e->open = false;
    if (e->bad && e->aligning) {
        return set_alignment(e, &(rec_scalar){0});
    }
    if (e->bad) {
        note_lost(e);
        e->text.size = e->entry;
        e->left_out++;
    } else {
        e->count++;
    }
    return e->text.status;
}

/* ------------------------------------------------------------------------------------------------------- lists -- */

/* An element of a kind joins the innermost list, or is the value. */
static void join(entries *e, int32_t type)
{
    meta_list *list = e->depth ? &e->lists[e->depth - 1] : NULL;
    if (!list) {
        lr_put_little(&e->text, (uint32_t)type, 4);
        return;
    }
    e->bad = e->bad || (list->type >= 0 && list->type != type);
    list->type = type;
    list->count++;
}

static int32_t begin_map(entries *e)
{
    e->bad = true;
    e->skipped++;
    return REC_OK;
}

static int32_t add_other(entries *e)
{
    e->bad = true;
    return e->depth || e->skipped ? REC_OK : finish(e);
}

static int32_t begin_list(entries *e)
{
    if (e->bad || e->aligning || e->depth == NESTED_MOST) {
        return begin_map(e);
    }
    join(e, LR_GGUF_ARRAY);
    e->lists[e->depth++] = (meta_list){.start = e->text.size, .type = -1, .of = -1};
    e->numbers.size = 0;
    lr_put_little(&e->text, LR_GGUF_I32, 4); /* what an empty list is of */
    lr_put_little(&e->text, 0, 8);
    return e->text.status;
}

static int32_t list_of(entries *e, const char *type)
{
    if (!e->bad && !e->skipped && e->depth) {
        e->lists[e->depth - 1].of = lr_gguf_value_of_word(type);
    }
    return REC_OK;
}

/* A number among those of a list: kept until all are known. Integers of any width are one kind, as are floats. */
static void keep_number(entries *e, const rec_scalar *scalar)
{
    meta_list *list = &e->lists[e->depth - 1];
    int32_t type = type_of(scalar);
    bool whole = scalar->kind == REC_KIND_INT || scalar->kind == REC_KIND_UINT;
    if (whole && scalar->kind == REC_KIND_INT && scalar->v.i < 0) {
        list->smallest = scalar->v.i < list->smallest ? scalar->v.i : list->smallest;
    } else if (whole) {
        list->largest = scalar->v.u > list->largest ? scalar->v.u : list->largest;
    }
    type = whole ? LR_GGUF_I64 : type;
    if (scalar->kind == REC_KIND_FLOAT && (list->type == LR_GGUF_F32 || list->type == LR_GGUF_F64)) {
        list->type = type = type == LR_GGUF_F64 ? type : list->type;
    }
    join(e, type);
    lr_put(&e->numbers, &scalar->v.u, sizeof scalar->v.u);
}

static int32_t add_scalar(entries *e, const rec_scalar *scalar)
{
    int32_t type = type_of(scalar), status;
    rec_scalar aligned = *scalar;
    if (e->bad || type < 0) {
        return add_other(e);
    }
    if (e->aligning) { /* a list or map of it is bad */
        status = set_alignment(e, scalar);
        if (status != REC_OK) {
            return status;
        }
        aligned.v.u = e->alignment;
        type = LR_GGUF_U32;
    }
    if (type == LR_GGUF_STRING) {
        join(e, type);
        put_text(&e->text, scalar->text, scalar->v.length);
    } else if (e->depth) {
        keep_number(e, scalar);
    } else {
        join(e, type);
        put_value(&e->text, type, &aligned);
    }
    return e->depth || e->skipped ? e->text.status : finish(e);
}

static int32_t add_bytes(entries *e, const rec_blob *blob)
{
    char *text;
    int32_t status;
    if (e->bad || e->aligning || blob->length > BYTES_MOST) {
        return add_other(e);
    }
    text = rec_job_alloc(e->job, blob->length + 1);
    status = text ? rec_blob_read(e->job, blob, 0, text, blob->length) : REC_E_MEMORY;
    if (status == REC_OK && lr_utf8_until((const uint8_t *)text, blob->length) < blob->length) {
        rec_scalar scalar = {.kind = REC_KIND_STRING, .text = text, .v.length = blob->length};
        status = add_scalar(e, &scalar);
    } else if (status == REC_OK) {
        status = add_other(e);
    }
    rec_job_free(e->job, text);
    return status;
}

static int32_t add_numbers(entries *e, rec_dtype dtype, const void *data, uint64_t count)
{
    uint32_t width = rec_dtype_bits(dtype) / 8, type = 0;
    const uint8_t *from = data;
    while (type < LR_GGUF_VALUES && lr_gguf_value_dtype(type) != dtype) {
        type++;
    }
    e->bad = e->bad || (count && type == LR_GGUF_VALUES);
    for (uint64_t i = 0; i < count && !e->bad && e->numbers.status == REC_OK; i++, from += width) {
        rec_scalar scalar = lr_number_scalar(dtype, from);
        keep_number(e, &scalar);
    }
    return e->numbers.status;
}

/* Whether elements of one type are written as another: numbers of a kind come as the widest. */
static bool is_kind(int32_t type, int32_t of)
{
    bool whole =
        of != LR_GGUF_STRING && of != LR_GGUF_ARRAY && of != LR_GGUF_BOOL && of != LR_GGUF_F32 && of != LR_GGUF_F64;
    bool floats = of == LR_GGUF_F32 || of == LR_GGUF_F64;
    return type < 0 || type == of || (type == LR_GGUF_I64 && whole) || (type == LR_GGUF_F32 && floats) ||
           (type == LR_GGUF_F64 && floats);
}

/* The common type of all elements of a list. @return -1: they differ. */
static int32_t common_type(const meta_list *list)
{
    if (list->of >= 0 && is_kind(list->type, list->of)) {
        return list->of;
    }
    if (list->type != LR_GGUF_I64) {
        return list->type;
    }
    if (list->smallest < 0) {
        return list->largest > INT64_MAX                                   ? -1
               : list->smallest >= INT32_MIN && list->largest <= INT32_MAX ? LR_GGUF_I32
                                                                           : LR_GGUF_I64;
    }
    return list->largest <= INT32_MAX ? LR_GGUF_I32 : type_of_uint(list->largest);
}

static void end_list(entries *e)
{
    meta_list list = e->lists[--e->depth];
    int32_t type = common_type(&list);
    uint64_t end;
    if (list.count && type < 0) {
        e->bad = true;
    }
    if (e->bad || e->text.status != REC_OK || type < 0) {
        return;
    }
    if (type != LR_GGUF_STRING && type != LR_GGUF_ARRAY) {
        for (uint64_t i = 0; i < list.count; i++) {
            rec_scalar scalar = {0};
            memcpy(&scalar.v.u, e->numbers.data + i * sizeof scalar.v.u, sizeof scalar.v.u);
            put_value(&e->text, type, &scalar);
        }
    }
    /* The type and the count, over those of an empty list. */
    end = e->text.size;
    e->text.size = list.start;
    lr_put_little(&e->text, (uint32_t)type, 4);
    lr_put_little(&e->text, list.count, 8);
    e->text.size = end;
}

static int32_t end_container(entries *e)
{
    if (e->skipped) {
        e->skipped--;
    } else {
        end_list(e);
    }
    return e->depth || e->skipped ? e->text.status : finish(e);
}

typedef struct writer {
    rec_job *job;
    rec_sink *sink;
    lr_flat at;
    bool burn;     /* modules are laid out as Burn's */
    bool nameless; /* a tensor below the root has an empty name */
    entries metadata;
    bool architecture;                                 /* they say what llama.cpp chooses a model by */
    lr_buffer tensors;                                 /* the header's entries of them */
    lr_buffer places;                                  /* lr_flat_place of their names in these */
    uint64_t count, ids, offset, long_names, flexible; /* flexible: of Flex32 */
    uint64_t next;                                     /* of the second walk: bytes of the data written */
} writer;

/* ------------------------------------------------------------------------------------------------------- names -- */

static int32_t refuse(writer *w, const char *what)
{
    char path[256];
    int32_t status;
    (void)rec_job_path(w->job, path, sizeof path);
    status = rec_fail_found(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "tensors", "%s at `%s`", what, path);
    rec_fail_hint(w->job, "GGUF holds tensors and metadata, nothing else: save the record as MessagePack (NamedMpk) or "
                          "safetensors, which hold all of it.");
    return status;
}

/* --------------------------------------------------------------------------------------------------- gathering -- */

static int32_t on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    writer *w = self;
    (void)at;
    w->architecture = w->architecture || lr_text_is(key->text, key->v.length, "general.architecture");
    return add_pair(&w->metadata, key, value);
}

static int32_t on_metadata_value(void *self, uint64_t at, const rec_scalar *key)
{
    writer *w = self;
    (void)at;
    return begin_value(&w->metadata, key);
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    writer *w = self;
    (void)at;
    if (w->metadata.open) {
        return add_scalar(&w->metadata, scalar);
    }
    /* Constants and absent options hold nothing. */
    return scalar->kind == REC_KIND_NIL ? lr_flat_value(&w->at) : refuse(w, "a value that is not a tensor");
}

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    writer *w = self;
    (void)at;
    return w->metadata.open ? add_numbers(&w->metadata, dtype, data, count)
           : count          ? refuse(w, "a list of numbers")
                            : REC_OK;
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    writer *w = self;
    (void)at;
    return w->metadata.open ? add_bytes(&w->metadata, blob) : refuse(w, "bytes");
}

static int32_t on_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    writer *w = self;
    (void)at, (void)form, (void)count;
    return w->metadata.open ? begin_list(&w->metadata) : lr_flat_begin(&w->at, true);
}

static int32_t on_list_of(void *self, uint64_t at, const char *type)
{
    writer *w = self;
    (void)at;
    return list_of(&w->metadata, type);
}

static int32_t on_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    writer *w = self;
    (void)at, (void)count;
    if (w->metadata.open) {
        return begin_map(&w->metadata);
    }
    if (!w->at.depth) {
        w->at.paths = form == REC_FORM_PATHS;
        w->burn = !w->at.paths;
    }
    return lr_flat_begin(&w->at, false);
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    writer *w = self;
    (void)at;
    return w->metadata.open ? REC_OK : lr_flat_key(&w->at, key);
}

static int32_t on_variant(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    writer *w = self;
    int32_t status;
    (void)at, (void)index;
    if (w->metadata.open || !payload) {
        return w->metadata.open ? begin_map(&w->metadata) : refuse(w, "a variant without data");
    }
    status = lr_flat_begin(&w->at, false);
    return status == REC_OK ? lr_flat_name(&w->at, name->text, name->v.length) : status;
}

static int32_t on_end(void *self, uint64_t at)
{
    writer *w = self;
    (void)at;
    if (w->metadata.open) {
        return end_container(&w->metadata);
    }
    lr_flat_end(&w->at);
    return REC_OK;
}

static int32_t on_option(void *self, uint64_t at, int32_t present)
{
    writer *w = self;
    (void)at;
    return present ? REC_OK : w->metadata.open ? add_other(&w->metadata) : lr_flat_value(&w->at);
}

static int32_t refuse_type(writer *w, const rec_tensor_event *event)
{
    char path[256];
    int32_t status;
    (void)rec_job_path(w->job, path, sizeof path);
    status = rec_fail_found(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "an element type that GGUF has", "%s at `%s`",
                            event->dtype_name ? event->dtype_name : rec_dtype_name(event->dtype), path);
    rec_fail_hint(w->job, "It has f64, f32, f16, bf16, i64, i32, i16, i8 and ggml's own blocks.");
    return status;
}

static int32_t on_tensor(void *self, uint64_t at, const rec_tensor_event *event)
{
    writer *w = self;
    int32_t number = lr_gguf_type_number(event->dtype, event->dtype_name), status;
    const lr_gguf_type *type = number < 0 ? NULL : lr_gguf_type_of((uint32_t)number);
    uint64_t count = 1, size = 0, pad = w->metadata.alignment - 1;
    const lr_buffer *path = &w->at.path;
    lr_flat_place place;
    (void)at;
    if (w->metadata.open) {
        return add_other(&w->metadata);
    }
    status = lr_flat_value(&w->at);
    if (status != REC_OK) {
        return status;
    }
    if (!type) {
        return refuse_type(w, event);
    }
    if (event->rank > LR_GGUF_RANK_MOST) {
        return refuse(w, "a tensor of more than 4 dimensions, which GGUF does not have,");
    }
    for (uint32_t i = 0; i < event->rank; i++) {
        count *= event->shape[i];
    }
    if (!lr_gguf_type_size(type, event->rank ? event->shape[event->rank - 1] : 1, count, &size) ||
        size != event->data.length) {
        return refuse(w, "blocks that are not whole rows of the tensor");
    }
    put_text(&w->tensors, path->data, path->size);
    place = (lr_flat_place){w->tensors.size - path->size, path->size};
    lr_put(&w->places, &place, sizeof place);
    lr_put_little(&w->tensors, event->rank, 4);
    for (uint32_t i = event->rank; i-- > 0;) {
        lr_put_little(&w->tensors, event->shape[i], 8);
    }
    lr_put_little(&w->tensors, (uint32_t)number, 4);
    lr_put_little(&w->tensors, w->offset, 8);
    w->offset = (w->offset + size + pad) & ~pad;
    w->count++;
    w->nameless = w->nameless || (w->at.depth && !path->size);
    w->ids += event->id && !(event->flags & REC_EVENT_ID_MADE);
    w->flexible += event->dtype == REC_DTYPE_FLEX32;
    w->long_names += path->size > LR_GGUF_NAME_MOST;
    return w->tensors.status == REC_OK ? w->places.status : w->tensors.status;
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

static int32_t pad_to(writer *w, uint64_t to)
{
    static const uint8_t zeros[4096];
    int32_t status = REC_OK;
    while (w->next < to && status == REC_OK) {
        uint64_t n = to - w->next < sizeof zeros ? to - w->next : sizeof zeros;
        status = rec_sink_write(w->sink, zeros, n);
        w->next += n;
    }
    return status;
}

static int32_t put_tensor(void *self, uint64_t at, const rec_tensor_event *event)
{
    writer *w = self;
    uint64_t pad = w->metadata.alignment - 1;
    int32_t status = rec_sink_put(w->sink, &event->data);
    (void)at;
    w->next += event->data.length;
    return status == REC_OK ? pad_to(w, (w->next + pad) & ~pad) : status;
}

static const rec_visitor gather = {
    .size = sizeof gather,
    .metadata = on_metadata,
    .scalar = on_scalar,
    .numbers = on_numbers,
    .bytes = on_bytes,
    .list_begin = on_list,
    .map_begin = on_map,
    .key = on_key,
    .variant_begin = on_variant,
    .end = on_end,
    .option = on_option,
    .tensor = on_tensor,
    .metadata_value = on_metadata_value,
    .list_of = on_list_of,
};

static int32_t write_header(writer *w)
{
    static const rec_scalar layout = {.kind = REC_KIND_STRING, .v.length = 16, .text = LR_GGUF_KEY_LAYOUT};
    static const rec_scalar burn = {.kind = REC_KIND_STRING, .v.length = 4, .text = "burn"};
    lr_buffer head = {.job = w->job};
    uint64_t pad = w->metadata.alignment - 1;
    int32_t status = REC_OK;
    if (w->burn && w->count) {
        status = add_pair(&w->metadata, &layout, &burn);
    }
    lr_put(&head, LR_GGUF_MAGIC, 4);
    lr_put_little(&head, LR_GGUF_VERSION, 4);
    lr_put_little(&head, w->count, 8);
    lr_put_little(&head, w->metadata.count, 8);
    status = status == REC_OK ? head.status : status;
    status = status == REC_OK ? rec_sink_write(w->sink, head.data, head.size) : status;
    status = status == REC_OK ? rec_sink_write(w->sink, w->metadata.text.data, w->metadata.text.size) : status;
    status = status == REC_OK ? rec_sink_write(w->sink, w->tensors.data, w->tensors.size) : status;
    w->next = head.size + w->metadata.text.size + w->tensors.size;
    status = status == REC_OK && w->count ? pad_to(w, (w->next + pad) & ~pad) : status;
    w->next = 0;
    rec_job_free(w->job, head.data);
    return status;
}

static int32_t check_names(const writer *w)
{
    const lr_flat_place *places = (const void *)w->places.data;
    lr_flat_text twice;
    int32_t status = lr_flat_twice(w->job, w->tensors.data, places, w->count, &twice);
    return status == REC_OK && twice.text
               ? rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "two tensors would be called %.*s in GGUF",
                          (int)(twice.length < 200 ? twice.length : 200), twice.text)
               : status;
}

static void report(const writer *w)
{
    if (w->ids) {
        rec_job_note(w->job, REC_NOTE_DROPPED, "", "the ids of %" PRIu64 " parameter%s: GGUF has none", w->ids,
                     w->ids == 1 ? "" : "s");
    }
    if (w->flexible) {
        rec_job_note(w->job, REC_NOTE_DROPPED, "", "%" PRIu64 " tensor%s of Flex32: written as F32", w->flexible,
                     w->flexible == 1 ? "" : "s");
    }
    if (w->long_names) {
        rec_job_note(w->job, REC_NOTE_LAYOUT, "",
                     "%" PRIu64 " tensor%s a name of more than 63 bytes, which llama.cpp rejects", w->long_names,
                     w->long_names == 1 ? " has" : "s have");
    }
    if (w->burn && w->count) {
        rec_job_note(w->job, REC_NOTE_LAYOUT, "",
                     "written with Burn's names and layout; for a model that llama.cpp loads, use reverse");
    }
    if (!w->burn && w->count && !w->architecture) {
        rec_job_note(w->job, REC_NOTE_LAYOUT, "",
                     "the metadata have no general.architecture, without which llama.cpp loads no file: --base with "
                     "the original keeps its metadata");
    }
    if (w->metadata.left_out) {
        rec_job_note(w->job, REC_NOTE_DROPPED, "",
                     "%" PRIu64 " metadata entr%s with maps, bytes or lists of mixed values, "
                     "which GGUF does not have: left out (%.*s)",
                     w->metadata.left_out, w->metadata.left_out == 1 ? "y" : "ies", (int)w->metadata.lost.size,
                     w->metadata.lost.data);
    }
}

int32_t lr_gguf_write(rec_job *job, rec_sink *sink)
{
    writer w = {.job = job, .sink = sink, .at.path.job = job, .tensors.job = job, .places.job = job};
    const rec_visitor put = lr_pass_all_but(put_tensor); /* the first walk let nothing but tensors pass */
    int32_t status;
    open_entries(&w.metadata, job);
    status = rec_job_walk(job, &gather, &w);
    status = status == REC_OK ? check_names(&w) : status;
    if (status == REC_OK && w.nameless && w.count == 1) {
        status = rec_fail_found(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a tensor with a name, or one that is the record",
                                "a tensor alone whose name is empty");
        rec_fail_hint(job, "In GGUF that stands for the tensor without a map around it.");
    }
    if (status == REC_OK) {
        report(&w);
        status = write_header(&w);
    }
    status = status == REC_OK ? rec_job_walk(job, &put, &w) : status;
    close_entries(&w.metadata);
    lr_flat_free(&w.at);
    rec_job_free(job, w.places.data);
    rec_job_free(job, w.tensors.data);
    return status;
}
