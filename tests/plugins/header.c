/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The writer of the header-first format, and the descriptor.
 *
 * Nothing is kept of the record: it is walked over layout sinks until all places are known, then written in one go.
 * Numbers, byte strings and runs are left out of the visitor: core tells them as scalars. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "header.h"

enum { CLASSES = 5 }; /* elements of 8, 4, 2, 1 bytes, and of no fixed size */

struct writer {
    rec_job *job;
    rec_sink *sink;
    int class;               /**< walking data: which tensors are meant */
    uint64_t begin[CLASSES]; /**< walking the header: where the next tensor of each class lies */
};

static int class_of(const rec_tensor_event *tensor)
{
    switch (rec_dtype_bits(tensor->dtype)) {
    case 64:
        return 0;
    case 32:
        return 1;
    case 16:
        return 2;
    case 8:
        return 3;
    default:
        return 4;
    }
}

/* ---- the header: a visitor that writes a line for each event ---- */

static int32_t put(struct writer *w, const char *text)
{
    return rec_sink_write(w->sink, text, strlen(text));
}

static int32_t REC_PRINTF(2, 3) line(struct writer *w, const char *format, ...)
{
    char text[128];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return put(w, text);
}

/** A word: plain ASCII as it is, the rest as %XX. */
static int32_t put_text(struct writer *w, const char *text, uint64_t length)
{
    int32_t status = REC_OK;

    for (uint64_t i = 0; i < length && status == REC_OK; i++) {
        unsigned char c = (unsigned char)text[i];
        status = c > ' ' && c < 0x7f && c != '%' ? rec_sink_write(w->sink, text + i, 1) : line(w, "%%%02X", c);
    }
    return status;
}

/** @param name "key" or "scalar" */
static int32_t put_scalar(struct writer *w, const char *name, const rec_scalar *scalar)
{
    int32_t status = line(w, "%s %" PRId32 " %u %u ", name, scalar->kind, scalar->bits, scalar->form);

    if (status == REC_OK) {
        status = scalar->kind == REC_KIND_STRING ? put_text(w, scalar->text, scalar->v.length)
                                                 : line(w, "%" PRIx64, scalar->v.u);
    }
    return status == REC_OK ? put(w, "\n") : status;
}

static int32_t on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    int32_t status = put(self, "meta ");

    (void)at;
    status = status == REC_OK ? put_text(self, key->text, key->v.length) : status;
    status = status == REC_OK ? put(self, " ") : status;
    status = status == REC_OK ? put_text(self, value->text, value->v.length) : status;
    return status == REC_OK ? put(self, "\n") : status;
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    (void)at;
    return put_scalar(self, "scalar", scalar);
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    (void)at;
    return put_scalar(self, "key", key);
}

static int32_t on_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at, (void)count;
    return line(self, "list %" PRId32 "\n", form);
}

static int32_t on_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at, (void)count;
    return line(self, "map %" PRId32 "\n", form);
}

static int32_t on_variant(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    int32_t status = line(self, "variant %" PRIx64 " %" PRId32 " ", index, payload);

    (void)at;
    status = status == REC_OK ? put_text(self, name->text, name->v.length) : status;
    return status == REC_OK ? put(self, "\n") : status;
}

static int32_t on_end(void *self, uint64_t at)
{
    (void)at;
    return put(self, "end\n");
}

static int32_t on_option(void *self, uint64_t at, int32_t present)
{
    (void)at;
    return line(self, "option %" PRId32 "\n", present);
}

static int32_t on_tensor(void *self, uint64_t at, const rec_tensor_event *tensor)
{
    struct writer *w = self;
    uint64_t *begin = &w->begin[class_of(tensor)];
    const char *words[] = {tensor->dtype_name ? tensor->dtype_name : "-", tensor->id ? tensor->id : "-"};
    int32_t status = line(w, "tensor %" PRId32, tensor->dtype);

    (void)at;
    for (int i = 0; i < 2 && status == REC_OK; i++) {
        status = put(w, " ");
        status = status == REC_OK ? put_text(w, words[i], strlen(words[i])) : status;
    }
    status = status == REC_OK ? line(w, " %" PRIu32, tensor->rank) : status;
    for (uint32_t i = 0; i < tensor->rank && status == REC_OK; i++) {
        status = line(w, " %" PRIu64, tensor->shape[i]);
    }
    status = status == REC_OK ? line(w, " %" PRIu64 " %" PRIu64 "\n", *begin, *begin + tensor->data.length) : status;
    *begin += tensor->data.length;
    return status;
}

static const rec_visitor header_visitor = {
    .size = sizeof(rec_visitor),
    .metadata = on_metadata,
    .scalar = on_scalar,
    .list_begin = on_list,
    .map_begin = on_map,
    .key = on_key,
    .variant_begin = on_variant,
    .end = on_end,
    .option = on_option,
    .tensor = on_tensor,
};

/* ---- the data: a visitor that puts the tensors of one class and passes over the rest ---- */

static int32_t pass_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    (void)self, (void)at, (void)scalar;
    return REC_OK;
}

static int32_t pass_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    (void)self, (void)at, (void)key, (void)value;
    return REC_OK;
}

static int32_t pass_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)self, (void)at, (void)form, (void)count;
    return REC_OK;
}

static int32_t pass_end(void *self, uint64_t at)
{
    (void)self, (void)at;
    return REC_OK;
}

static int32_t put_tensor(void *self, uint64_t at, const rec_tensor_event *tensor)
{
    struct writer *w = self;

    (void)at;
    return class_of(tensor) == w->class ? rec_sink_put(w->sink, &tensor->data) : REC_OK;
}

/** Walks the data once for each class. @param begin (out, may be NULL) where each class begins in the sink. */
static int32_t walk_data(struct writer *w, uint64_t *begin)
{
    static const rec_visitor visitor = {.size = sizeof visitor,
                                        .metadata = pass_metadata,
                                        .scalar = pass_scalar,
                                        .list_begin = pass_begin,
                                        .map_begin = pass_begin,
                                        .key = pass_scalar,
                                        .end = pass_end,
                                        .tensor = put_tensor};
    int32_t status = REC_OK;

    for (w->class = 0; w->class < CLASSES && status == REC_OK; w->class ++) {
        if (begin != NULL) {
            begin[w->class] = rec_sink_tell(w->sink);
        }
        status = rec_job_walk(w->job, &visitor, w);
    }
    return status;
}

/* ---- both ---- */

/** Finds the places of all tensors and the length of the header without moving any data. */
static int32_t measure(struct writer *w, uint64_t *begin, uint64_t *length)
{
    rec_sink *data = rec_sink_layout(w->job), *header = data ? rec_sink_layout(w->job) : NULL;
    int32_t status = header ? REC_OK : REC_E_MEMORY, closed;

    if (status == REC_OK) {
        w->sink = data;
        status = walk_data(w, begin);
    }
    if (status == REC_OK) {
        w->sink = header;
        memcpy(w->begin, begin, sizeof w->begin);
        status = rec_job_walk(w->job, &header_visitor, w);
        *length = rec_sink_tell(header);
    }
    closed = rec_sink_close(header);
    status = status == REC_OK ? closed : status;
    closed = rec_sink_close(data);
    return status == REC_OK ? closed : status;
}

static int32_t save(rec_job *job, rec_sink *sink)
{
    static const uint8_t padding[ALIGN];
    struct writer w = {.job = job};
    uint64_t begin[CLASSES], length = 0;
    uint8_t prefix[PREFIX] = HEADER_MAGIC;
    int32_t status = measure(&w, begin, &length);

    for (int i = 0; i < 8; i++) {
        prefix[8 + i] = (uint8_t)(length >> (8 * i));
    }
    w.sink = sink;
    memcpy(w.begin, begin, sizeof w.begin);
    status = status == REC_OK ? rec_sink_write(sink, prefix, sizeof prefix) : status;
    status = status == REC_OK ? rec_job_walk(job, &header_visitor, &w) : status;
    status = status == REC_OK ? rec_sink_write(sink, padding, header_align(PREFIX + length) - PREFIX - length) : status;
    return status == REC_OK ? walk_data(&w, NULL) : status;
}

/* -------------------------------------------------------------------------------------------------- descriptor -- */

static int32_t probe(const rec_head *head)
{
    return head->length >= PREFIX && memcmp(head->data, HEADER_MAGIC, 8) == 0 ? 64 : 0;
}

static const rec_plugin plugin = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof(rec_plugin),
    .name = "Header",
    .extension = "header",
    .description = "test: a header, then data in an order of its own",
    .traits = REC_TRAIT_TENSORS | REC_TRAIT_EXACT_SIZE | REC_TRAIT_BARE | REC_TRAIT_VALUES,
    .probe = probe,
    .load = header_load,
    .save = save,
};

REC_PLUGINS(header, &plugin);
