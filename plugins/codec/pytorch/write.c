/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The writer: a model as a dictionary of names and tensors, any other record as the dictionaries and lists it is. The
 * record is walked three times: to see which tensors are the same bytes, for the pickle, which comes first in the
 * archive, and for the storages. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/names.h"
#include "plugins/codec/burns.h"
#include "plugins/codec/flat.h"
#include "plugins/codec/pass.h"
#include "plugins/codec/pytorch/pytorch.h"
#include "plugins/codec/room.h"

/* Objects that are written once, and referenced by number after that. */
enum {
    ENCODE,
    LATIN1,
    STORAGE,
    CPU,
    DICT,
    REBUILD_V2,
    REBUILD_V3,
    STORAGES,                        /* and the element type */
    DTYPES = STORAGES + LR_PT_TYPES, /* the same */
    SLOTS = DTYPES + LR_PT_TYPES
};

/* A pickle in memory; the first failure stays. */
typedef struct pickle_writer {
    lr_buffer out;
    uint8_t memo[SLOTS]; /* number + 1 */
    uint8_t remembered;
} pickle_writer;

enum { ALIGNMENT = 64 /* as torch.save() has it, so that storages can be mapped */ };

/* A tensor's bytes. */
typedef struct tensor {
    const rec_source *source;
    const void *data;
    uint64_t offset, size;
    uint32_t storage;
    uint8_t type; /* index in lr_pt_types */
    bool first;   /* of those that are in its storage */
} tensor;

typedef struct writer {
    rec_job *job;
    pickle_writer pickle;
    bool paths;      /* the record is a model */
    bool escaped;    /* some names are written otherwise than their paths */
    lr_buffer ends;  /* what each container that is open ends with */
    tensor *tensors; /* as they come */
    uint64_t count, room;
    lr_flat_place *names; /* of a model: where they are in the pickle */
    uint64_t name_count, name_room;
    uint64_t ids, metadata; /* what is left out */
    uint64_t bools;         /* of Bool(U8), which are written as bools */
    uint64_t burns;         /* metadata that say how a record of Burn is written */
    uint64_t renamed;       /* tensors of a type that PyTorch has under another name */
    uint64_t recent;        /* tensors of a type that only later versions of it have */
    uint64_t next;          /* the tensor that comes */
    lr_zip_writer zip;
} writer;

static int32_t fail_memory(const writer *w)
{
    return rec_fail(w->job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for the output");
}

/* ----------------------------------------------------------------------------------------------------- objects -- */

/* An operation and a number of `width` bytes. */
static void put_op(pickle_writer *w, const char *op, uint64_t number, unsigned width)
{
    lr_put_word(&w->out, op);
    lr_put_little(&w->out, number, width);
}

static void pickle_uint(pickle_writer *w, uint64_t number)
{
    if (number <= UINT8_MAX) {
        put_op(w, "K", number, 1);
    } else if (number <= UINT16_MAX) {
        put_op(w, "M", number, 2);
    } else if (number <= INT32_MAX) {
        put_op(w, "J", number, 4);
    } else { /* a byte more than it needs is 0, so that it is not negative */
        unsigned width = 4;
        while (width < 8 && number >> (8 * width - 1)) {
            width++;
        }
        put_op(w, "\x8a", width + (number >> 63), 1);
        lr_put_little(&w->out, number, width);
        lr_put_little(&w->out, 0, (unsigned)(number >> 63));
    }
}

static void pickle_int(pickle_writer *w, int64_t number)
{
    if (number >= 0) {
        pickle_uint(w, (uint64_t)number);
    } else if (number >= INT32_MIN) {
        put_op(w, "J", (uint64_t)number, 4);
    } else {
        unsigned width = 5;
        while (width < 8 && number < -(INT64_C(1) << (8 * width - 1))) {
            width++;
        }
        put_op(w, "\x8a", width, 1);
        lr_put_little(&w->out, (uint64_t)number, width);
    }
}

static void pickle_float(pickle_writer *w, double number)
{
    uint64_t bits;
    uint8_t bytes[9] = {'G'};
    memcpy(&bits, &number, sizeof bits);
    for (unsigned i = 0; i < 8; i++) {
        bytes[1 + i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    lr_put(&w->out, bytes, sizeof bytes);
}

static void pickle_bool(pickle_writer *w, bool value)
{
    lr_put(&w->out, value ? "\x88" : "\x89", 1);
}

static void pickle_string(pickle_writer *w, const char *text, uint64_t length)
{
    if (length > UINT32_MAX && w->out.status == REC_OK) {
        w->out.status =
            rec_fail(w->out.job, REC_E_LIMIT, REC_UNKNOWN, "a text of more than 4 GiB, which a pickle has no room for");
    }
    put_op(w, "X", length, 4);
    lr_put(&w->out, text, length);
}

/* @return whether it is in the memo, and was referenced. */
static bool recall(pickle_writer *w, uint32_t slot)
{
    if (w->memo[slot]) {
        put_op(w, "h", w->memo[slot] - 1u, 1);
    }
    return w->memo[slot] != 0;
}

static void remember(pickle_writer *w, uint32_t slot)
{
    put_op(w, "q", w->remembered, 1);
    w->memo[slot] = ++w->remembered;
}

/* A name of Python's. */
static void pickle_global(pickle_writer *w, uint32_t slot, const char *module, const char *name)
{
    if (!recall(w, slot)) {
        lr_put_word(&w->out, "c");
        lr_put_word(&w->out, module);
        lr_put_word(&w->out, "\n");
        lr_put_word(&w->out, name);
        lr_put_word(&w->out, "\n");
        remember(w, slot);
    }
}

/* A string that comes often. */
static void pickle_name(pickle_writer *w, uint32_t slot, const char *text)
{
    if (!recall(w, slot)) {
        pickle_string(w, text, strlen(text));
        remember(w, slot);
    }
}

/* Bytes, as Python writes them in protocol 2: as text of which each character is one. */
static void pickle_bytes(pickle_writer *w, const uint8_t *bytes, uint64_t length)
{
    uint64_t size = length;
    for (uint64_t i = 0; i < length; i++) {
        size += bytes[i] >> 7;
    }
    if (size > UINT32_MAX && w->out.status == REC_OK) {
        w->out.status =
            rec_fail(w->out.job, REC_E_LIMIT, REC_UNKNOWN, "bytes of more than 4 GiB, which a pickle has no room for");
    }
    pickle_global(w, ENCODE, "_codecs", "encode");
    put_op(w, "X", size, 4);
    for (uint64_t i = 0, from = 0; i <= length; i++) {
        if (i == length || bytes[i] & 0x80) {
            lr_put(&w->out, bytes + from, i - from);
            from = i + 1;
        }
        if (i < length && bytes[i] & 0x80) {
            const uint8_t two[2] = {(uint8_t)(0xc0 | bytes[i] >> 6), (uint8_t)(0x80 | (bytes[i] & 0x3f))};
            lr_put(&w->out, two, 2);
        }
    }
    pickle_name(w, LATIN1, "latin1");
    lr_put(&w->out, "\x86R", 2);
}

/* --------------------------------------------------------------------------------------- the tensors there are -- */

/* The element type to write for one of a record. @return its index; LR_PT_TYPES: not supported. */
static uint8_t find_type(const rec_tensor_event *event)
{
    uint8_t i = LR_PT_UNTYPED + 1;
    rec_dtype dtype = event->dtype == REC_DTYPE_FLEX32   ? REC_DTYPE_F32
                      : event->dtype == REC_DTYPE_BOOL8  ? REC_DTYPE_BOOL
                      : event->dtype == REC_DTYPE_BOOL32 ? REC_DTYPE_U32
                                                         : event->dtype;
    while (i < LR_PT_TYPES &&
           (lr_pt_types[i].dtype != dtype ||
            (lr_pt_types[i].opaque && (!event->dtype_name || strcmp(lr_pt_types[i].opaque, event->dtype_name) != 0)))) {
        i++;
    }
    return i;
}

static int32_t see_tensor(void *self, uint64_t at, const rec_tensor_event *event)
{
    writer *w = self;
    const rec_blob *blob = &event->data;
    bool lies = blob->kind == REC_BLOB_VIEW || blob->kind == REC_BLOB_RANGE;
    int32_t status = lr_codec_grow(w->job, &w->tensors, w->count + 1, &w->room, sizeof *w->tensors);
    uint64_t step = 1;
    (void)at;
    if (status != REC_OK) {
        return status;
    }
    w->tensors[w->count] = (tensor){.source = lies && blob->length ? blob->source : NULL,
                                    .data = blob->kind == REC_BLOB_VIEW ? blob->data : NULL,
                                    .offset = blob->kind == REC_BLOB_RANGE ? blob->offset : 0,
                                    .size = blob->length,
                                    .type = find_type(event)};
    w->ids += event->id && !(event->flags & REC_EVENT_ID_MADE);
    w->renamed += event->dtype == REC_DTYPE_FLEX32 || event->dtype == REC_DTYPE_BOOL32;
    w->bools += event->dtype == REC_DTYPE_BOOL8;
    w->recent += !lr_pt_types[w->tensors[w->count].type % LR_PT_TYPES].storage;
    if (w->tensors[w->count].type == LR_PT_TYPES) {
        char path[400];
        (void)rec_job_path(w->job, path, sizeof path);
        status = rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                          "%s is a tensor of %.100s, which PyTorch's files do not have", path,
                          event->dtype_name ? event->dtype_name : rec_dtype_name(event->dtype));
        rec_fail_hint(w->job, "Leave it out, or save in a format that has it.");
        return status;
    }
    for (uint32_t d = 0; d < event->rank; d++) {
        uint64_t size = event->shape[d] ? event->shape[d] : 1;
        if (size > INT64_MAX / step) {
            return rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                            "a tensor without elements, of a shape too large for PyTorch, which counts up to 2^63");
        }
        step *= size;
    }
    if (++w->count >= UINT32_MAX) {
        return rec_fail(w->job, REC_E_LIMIT, REC_UNKNOWN, "more than 2^32 tensors");
    }
    return REC_OK;
}

/* A tensor by its number, for sorting by bytes. */
typedef struct numbered {
    const tensor *is;
    uint64_t number;
} numbered;

static int compare_bytes(const tensor *a, const tensor *b)
{
    uintptr_t x[] = {(uintptr_t)a->source, (uintptr_t)a->data}, y[] = {(uintptr_t)b->source, (uintptr_t)b->data};
    for (int i = 0; i < 2; i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    if (a->offset != b->offset) {
        return a->offset < b->offset ? -1 : 1;
    }
    if (a->size != b->size) {
        return a->size < b->size ? -1 : 1;
    }
    return (a->type > b->type) - (a->type < b->type);
}

static int by_bytes(const void *a, const void *b)
{
    const numbered *x = a, *y = b;
    int order = compare_bytes(x->is, y->is);
    return order ? order : x->number < y->number ? -1 : 1;
}

/* Gives tensors storages in their order; those that are the same bytes of a source share one. */
static int32_t share_storages(writer *w)
{
    numbered *sorted = rec_job_alloc(w->job, (w->count ? w->count : 1) * sizeof *sorted);
    uint32_t storages = 0;
    if (!sorted) {
        return fail_memory(w);
    }
    for (uint64_t i = 0; i < w->count; i++) {
        sorted[i] = (numbered){&w->tensors[i], i};
    }
    qsort(sorted, (size_t)w->count, sizeof *sorted, by_bytes);
    for (uint64_t i = 0, first = 0; i < w->count; i++) {
        if (!sorted[i].is->source || compare_bytes(sorted[i].is, sorted[first].is) != 0) {
            first = i;
        }
        w->tensors[sorted[i].number].first = i == first;
        w->tensors[sorted[i].number].storage = (uint32_t)sorted[first].number; /* for now, the first one's number */
    }
    rec_job_free(w->job, sorted);
    for (uint64_t i = 0; i < w->count; i++) {
        tensor *t = &w->tensors[i];
        t->storage = t->first ? storages++ : w->tensors[t->storage].storage;
    }
    return REC_OK;
}

/* -------------------------------------------------------------------------------------------------- the pickle -- */

static void put_sizes(pickle_writer *p, const uint64_t *sizes, uint32_t rank)
{
    static const char *const ends[] = {")", "\x85", "\x86", "\x87"};
    if (rank > 3) {
        lr_put_word(&p->out, "(");
    }
    for (uint32_t d = 0; d < rank; d++) {
        pickle_uint(p, sizes[d]);
    }
    lr_put_word(&p->out, rank > 3 ? "t" : ends[rank]);
}

static int32_t put_tensor(void *self, uint64_t at, const rec_tensor_event *event)
{
    writer *w = self;
    pickle_writer *p = &w->pickle;
    const tensor *t = &w->tensors[w->next++];
    const lr_pt_type *type = &lr_pt_types[t->type];
    uint64_t strides[64], step = 1;
    char key[16];
    (void)at;
    for (uint32_t d = event->rank; d-- > 0;) {
        strides[d] = step;
        step *= event->shape[d] ? event->shape[d] : 1; /* as torch counts, where there are no elements */
    }
    pickle_global(p, type->storage ? REBUILD_V2 : REBUILD_V3, "torch._utils",
                  type->storage ? "_rebuild_tensor_v2" : "_rebuild_tensor_v3");
    lr_put_word(&p->out, "((");
    pickle_name(p, STORAGE, "storage");
    if (type->storage) {
        pickle_global(p, STORAGES + t->type, "torch", type->storage);
    } else {
        pickle_global(p, STORAGES + LR_PT_UNTYPED, "torch.storage", lr_pt_types[LR_PT_UNTYPED].storage);
    }
    pickle_string(p, key, (uint64_t)snprintf(key, sizeof key, "%" PRIu32, t->storage));
    pickle_name(p, CPU, "cpu");
    pickle_uint(p, type->storage ? t->size / type->width : t->size);
    lr_put_word(&p->out, "tQ");
    pickle_uint(p, 0);
    put_sizes(p, event->shape, event->rank);
    put_sizes(p, strides, event->rank);
    pickle_bool(p, false);
    pickle_global(p, DICT, "collections", "OrderedDict");
    lr_put_word(&p->out, ")R");
    if (!type->storage) {
        pickle_global(p, DTYPES + t->type, "torch", type->name);
    }
    lr_put_word(&p->out, "tR");
    return p->out.status;
}

static int32_t put_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    pickle_writer *p = &((writer *)self)->pickle;
    (void)at;
    switch (scalar->kind) {
    case REC_KIND_BOOL:
        pickle_bool(p, scalar->v.i != 0);
        break;
    case REC_KIND_INT:
        pickle_int(p, scalar->v.i);
        break;
    case REC_KIND_UINT:
        pickle_uint(p, scalar->v.u);
        break;
    case REC_KIND_FLOAT:
        pickle_float(p, scalar->v.f);
        break;
    case REC_KIND_STRING:
        pickle_string(p, scalar->text, scalar->v.length);
        break;
    default:
        lr_put_word(&p->out, "N");
        break;
    }
    return p->out.status;
}

static int32_t put_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    writer *w = self;
    uint8_t *bytes = rec_job_alloc(w->job, blob->length ? blob->length : 1);
    int32_t status = bytes ? rec_blob_read(w->job, blob, 0, bytes, blob->length) : fail_memory(w);
    (void)at;
    if (status == REC_OK) {
        pickle_bytes(&w->pickle, bytes, blob->length);
        status = w->pickle.out.status;
    }
    rec_job_free(w->job, bytes);
    return status;
}

/* Keeps what a container ends with. */
static int32_t begin(writer *w, const char *begins, uint8_t ends)
{
    lr_put(&w->ends, &ends, 1);
    lr_put_word(&w->pickle.out, begins);
    return w->ends.status == REC_OK ? w->pickle.out.status : w->ends.status;
}

static int32_t begin_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    bool tuple = form == REC_FORM_TUPLE;
    (void)at;
    (void)count;
    return begin(self, tuple ? "(" : "](", tuple ? 't' : 'e');
}

static int32_t begin_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    writer *w = self;
    (void)at;
    (void)count;
    if (!w->ends.size && form == REC_FORM_PATHS) {
        w->paths = true;
        pickle_global(&w->pickle, DICT, "collections", "OrderedDict");
        return begin(w, ")R(", 'u');
    }
    return begin(w, "}(", 'u');
}

/* The key of a model's tensor: its path as a name of PyTorch's, in which nothing is escaped. */
static int32_t put_name(writer *w, const rec_scalar *key)
{
    int32_t status = lr_codec_grow(w->job, &w->names, w->name_count + 1, &w->name_room, sizeof *w->names);
    char *text;
    uint64_t length;
    if (status != REC_OK) {
        return status;
    }
    text = rec_job_alloc(w->job, key->v.length + 1);
    if (!text) {
        return fail_memory(w);
    }
    length = rec_path_unescape(key->text, key->v.length, text, key->v.length + 1);
    w->escaped = w->escaped || length != key->v.length;
    pickle_string(&w->pickle, text, length);
    w->names[w->name_count++] = (lr_flat_place){w->pickle.out.size - length, length};
    rec_job_free(w->job, text);
    return w->pickle.out.status;
}

static int32_t put_key(void *self, uint64_t at, const rec_scalar *key)
{
    writer *w = self;
    return w->paths && w->ends.size == 1 ? put_name(w, key) : put_scalar(self, at, key);
}

static int32_t end(void *self, uint64_t at)
{
    writer *w = self;
    (void)at;
    lr_put(&w->pickle.out, &w->ends.data[--w->ends.size], 1);
    return w->pickle.out.status;
}

/* Handles a record's own entries; those on the format of a record, or of PyTorch's files, are left out. */
static int32_t see_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    writer *w = self;
    bool plain = !lr_is_burns(key->text, key->v.length);
    (void)at;
    (void)value;
    w->metadata += plain;
    w->burns += !plain;
    return REC_OK;
}

/* Two paths (`a\.b`, `a.b`) may be one name. */
static int32_t check_names(const writer *w)
{
    lr_flat_text twice;
    int32_t status = lr_flat_twice(w->job, w->pickle.out.data, w->names, w->name_count, &twice);
    if (status == REC_OK && twice.text) {
        status = rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                          "the name `%.*s` is that of two tensors, once their paths are joined with dots",
                          (int)(twice.length < 200 ? twice.length : 200), twice.text);
        rec_fail_hint(w->job, "Rename one of the tensors.");
    }
    return status;
}

static int32_t make_pickle(writer *w)
{
    static const rec_visitor visitor = {.size = sizeof visitor,
                                        .metadata = see_metadata,
                                        .scalar = put_scalar,
                                        .bytes = put_bytes,
                                        .list_begin = begin_list,
                                        .map_begin = begin_map,
                                        .key = put_key,
                                        .end = end,
                                        .tensor = put_tensor,
                                        .list_of = lr_pass_list_of};
    int32_t status;
    lr_put(&w->pickle.out, "\x80\x02", 2);
    status = rec_job_walk(w->job, &visitor, w);
    lr_put_word(&w->pickle.out, ".");
    status = status == REC_OK ? w->pickle.out.status : status;
    return status == REC_OK && w->escaped ? check_names(w) : status;
}

/* ------------------------------------------------------------------------------------------------- the archive -- */

static int32_t put_storage(void *self, uint64_t at, const rec_tensor_event *event)
{
    writer *w = self;
    const tensor *t = &w->tensors[w->next++];
    char path[40];
    (void)at;
    (void)snprintf(path, sizeof path, "archive/data/%" PRIu32, t->storage);
    return t->first ? lr_zip_put(&w->zip, path, &event->data, 1) : REC_OK;
}

/* A walk that looks at tensors alone. */
static int32_t walk_tensors(writer *w, int32_t (*each)(void *self, uint64_t at, const rec_tensor_event *event))
{
    const rec_visitor visitor = lr_pass_all_but(each);
    w->next = 0;
    return rec_job_walk(w->job, &visitor, w);
}

/* Names in the layout of Burn, or in an unknown one. */
static bool is_burns(const writer *w)
{
    return strcmp(rec_job_adapter(w->job), "burn") == 0;
}

static int32_t make_archive(writer *w)
{
    lr_zip_writer *z = &w->zip;
    int32_t status = lr_zip_put_bytes(z, "archive/data.pkl", w->pickle.out.data, w->pickle.out.size);
    status = status == REC_OK ? lr_zip_put_bytes(z, "archive/byteorder", "little", 6) : status;
    status = status == REC_OK ? walk_tensors(w, put_storage) : status;
    status = status == REC_OK ? lr_zip_put_bytes(z, "archive/version", "3\n", 2) : status;
    if (status == REC_OK && w->paths && is_burns(w)) {
        status = lr_zip_put_bytes(z, "archive/" LR_PT_NAMES_MEMBER, LR_PT_OWN_NAMES, sizeof LR_PT_OWN_NAMES - 1);
    }
    if (status == REC_OK && !w->paths) {
        status = lr_zip_put_bytes(z, "archive/" LR_PT_OWN_MEMBER, LR_PT_OWN_VALUES, sizeof LR_PT_OWN_VALUES - 1);
    }
    return status == REC_OK ? lr_zip_finish(z) : status;
}

static void note_left_out(const writer *w)
{
    if (w->ids) {
        rec_job_note(w->job, REC_NOTE_DROPPED, "", "the id%s of %" PRIu64 " tensor%s: left out, PyTorch has none",
                     w->ids == 1 ? "" : "s", w->ids, w->ids == 1 ? "" : "s");
    }
    if (!w->paths && w->burns) {
        rec_job_note(w->job, REC_NOTE_DROPPED, "", "the version of Burn that wrote the record: left out");
    }
    if (w->metadata) {
        rec_job_note(w->job, REC_NOTE_DROPPED, "", "%" PRIu64 " entr%s of the metadata: left out, PyTorch has none",
                     w->metadata, w->metadata == 1 ? "y" : "ies");
    }
    if (w->renamed) {
        rec_job_note(w->job, REC_NOTE_DROPPED, "",
                     "%" PRIu64 " tensor%s of Flex32 or Bool(U32): written as float32 and uint32", w->renamed,
                     w->renamed == 1 ? "" : "s");
    }
    if (w->bools) {
        rec_job_note(w->job, REC_NOTE_DROPPED, "", "%" PRIu64 " tensor%s of Bool(U8): written as bool", w->bools,
                     w->bools == 1 ? "" : "s");
    }
    if (w->recent) {
        rec_job_note(w->job, REC_NOTE_LAYOUT, "",
                     "%" PRIu64 " tensor%s of an element type that only PyTorch 2.3 and later load", w->recent,
                     w->recent == 1 ? "" : "s");
    }
    if ((!w->paths || is_burns(w)) && w->count) {
        rec_job_note(
            w->job, REC_NOTE_LAYOUT, "",
            "written as plain values with its own names and layout; for a model that PyTorch loads, use reverse");
    }
}

int32_t lr_pt_write(rec_job *job, rec_sink *sink)
{
    writer w = {.job = job, .pickle.out.job = job, .ends.job = job};
    int32_t status;
    lr_zip_writer_open(&w.zip, job, sink, ALIGNMENT);
    status = walk_tensors(&w, see_tensor);
    status = status == REC_OK ? share_storages(&w) : status;
    w.next = 0;
    status = status == REC_OK ? make_pickle(&w) : status;
    status = status == REC_OK ? make_archive(&w) : status;
    if (status == REC_OK) {
        note_left_out(&w);
    }
    lr_zip_writer_close(&w.zip);
    rec_job_free(job, w.pickle.out.data);
    rec_job_free(job, w.tensors);
    rec_job_free(job, w.names);
    rec_job_free(job, w.ends.data);
    return status;
}
