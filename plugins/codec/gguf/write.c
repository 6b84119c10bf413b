/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The writer. A first walk collects the header, a second one writes the tensors after it, in the record's order.
 * Values that a flat file of tensors cannot hold are rejected; ids of parameters are dropped with a note. */
#include <inttypes.h>
#include <string.h>

#include "common/names.h"
#include "plugins/codec/flat.h"
#include "plugins/codec/gguf/entry.h"
#include "plugins/codec/pass.h"

typedef struct writer {
    rec_job *job;
    rec_sink *sink;
    lr_flat at;
    bool burn;     /**< modules are laid out as Burn's */
    bool nameless; /**< a tensor below the root has an empty name */
    lr_gguf_entries metadata;
    bool architecture;                                 /* they say what llama.cpp chooses a model by */
    lr_buffer tensors;                                 /**< the header's entries of them */
    lr_buffer places;                                  /**< lr_flat_place of their names in these */
    uint64_t count, ids, offset, long_names, flexible; /* flexible: of Flex32 */
    uint64_t next;                                     /**< of the second walk: bytes of the data written */
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
    return lr_gguf_entries_pair(&w->metadata, key, value);
}

static int32_t on_metadata_value(void *self, uint64_t at, const rec_scalar *key)
{
    writer *w = self;
    (void)at;
    return lr_gguf_entries_begin(&w->metadata, key);
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    writer *w = self;
    (void)at;
    if (w->metadata.open) {
        return lr_gguf_entries_scalar(&w->metadata, scalar);
    }
    /* Constants and absent options hold nothing. */
    return scalar->kind == REC_KIND_NIL ? lr_flat_value(&w->at) : refuse(w, "a value that is not a tensor");
}

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    writer *w = self;
    (void)at;
    return w->metadata.open ? lr_gguf_entries_numbers(&w->metadata, dtype, data, count)
           : count          ? refuse(w, "a list of numbers")
                            : REC_OK;
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    writer *w = self;
    (void)at;
    return w->metadata.open ? lr_gguf_entries_bytes(&w->metadata, blob) : refuse(w, "bytes");
}

static int32_t on_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    writer *w = self;
    (void)at, (void)form, (void)count;
    return w->metadata.open ? lr_gguf_entries_list(&w->metadata) : lr_flat_begin(&w->at, true);
}

static int32_t on_list_of(void *self, uint64_t at, const char *type)
{
    writer *w = self;
    (void)at;
    return lr_gguf_entries_list_of(&w->metadata, type);
}

static int32_t on_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    writer *w = self;
    (void)at, (void)count;
    if (w->metadata.open) {
        return lr_gguf_entries_map(&w->metadata);
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
        return w->metadata.open ? lr_gguf_entries_map(&w->metadata) : refuse(w, "a variant without data");
    }
    status = lr_flat_begin(&w->at, false);
    return status == REC_OK ? lr_flat_name(&w->at, name->text, name->v.length) : status;
}

static int32_t on_end(void *self, uint64_t at)
{
    writer *w = self;
    (void)at;
    if (w->metadata.open) {
        return lr_gguf_entries_end(&w->metadata);
    }
    lr_flat_end(&w->at);
    return REC_OK;
}

static int32_t on_option(void *self, uint64_t at, int32_t present)
{
    writer *w = self;
    (void)at;
    return present ? REC_OK : w->metadata.open ? lr_gguf_entries_other(&w->metadata) : lr_flat_value(&w->at);
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
        return lr_gguf_entries_other(&w->metadata);
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
    lr_gguf_put_text(&w->tensors, path->data, path->size);
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
        status = lr_gguf_entries_pair(&w->metadata, &layout, &burn);
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
    lr_gguf_entries_open(&w.metadata, job);
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
    lr_gguf_entries_close(&w.metadata);
    lr_flat_free(&w.at);
    rec_job_free(job, w.places.data);
    rec_job_free(job, w.tensors.data);
    return status;
}
