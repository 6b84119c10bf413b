/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The writer of the typed format, and the descriptor.
 *
 * The walk follows the recorder's type, so the events carry all that is needed: options, widths, forms, indices. What
 * lacks one of them is refused, for it could not be read again. */

#include <stdbool.h>
#include <string.h>

#include "typed.h"

enum { DEPTH = 256 };

const uint8_t typed_magic[8] = {'T', 'Y', 'P', 'E', 'D', 0, 0, 1};

static uint64_t from_host(const uint8_t *from, uint32_t size)
{
    uint16_t half;
    uint32_t word;
    uint64_t raw = *from;

    switch (size) {
    case 1:
        return raw;
    case 2:
        return memcpy(&half, from, 2), half;
    case 4:
        return memcpy(&word, from, 4), word;
    default:
        return memcpy(&raw, from, 8), raw;
    }
}

struct writer {
    rec_job *job;
    rec_sink *sink;
    uint32_t depth;
    bool keys[DEPTH]; /**< of each open container: whether its keys are written, as a map's are and a struct's not */
};

static int32_t write_uint(struct writer *w, uint64_t value, uint32_t size)
{
    uint8_t bytes[8];

    for (uint32_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
    return rec_sink_write(w->sink, bytes, size);
}

static int32_t unknown(struct writer *w, const char *what)
{
    int32_t status = rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "%s is not known", what);

    rec_fail_hint(w->job, "give the recorder a type");
    return status;
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    struct writer *w = self;
    int32_t status;
    float f;

    (void)at;
    switch (scalar->kind) {
    case REC_KIND_NIL:
        if (scalar->form == REC_FORM_UNIT || scalar->form == REC_FORM_UNIT_STRUCT) {
            return REC_OK;
        }
        return scalar->form == REC_FORM_UNKNOWN ? unknown(w, "whether a nil is an absent option or a unit")
                                                : write_uint(w, 0, 1);
    case REC_KIND_BOOL:
        return write_uint(w, scalar->v.i != 0, 1);
    case REC_KIND_INT:
    case REC_KIND_UINT:
        return scalar->bits == 0 ? unknown(w, "the width of an integer")
                                 : write_uint(w, scalar->v.u, scalar->bits / 8u);
    case REC_KIND_FLOAT:
        if (scalar->bits == 64) {
            return write_uint(w, from_host((const uint8_t *)&scalar->v.f, 8), 8);
        }
        f = (float)scalar->v.f;
        return scalar->bits == 32 ? write_uint(w, from_host((const uint8_t *)&f, 4), 4) : unknown(w, "a float's width");
    default:
        status = write_uint(w, scalar->v.length, 8);
        return status == REC_OK ? rec_sink_write(w->sink, scalar->text, scalar->v.length) : status;
    }
}

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    uint32_t size = rec_dtype_bits(dtype) / 8;
    int32_t status = REC_OK;

    (void)at;
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        status = write_uint(self, from_host((const uint8_t *)data + i * size, size), size);
    }
    return status;
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    struct writer *w = self;
    int32_t status = write_uint(w, blob->length, 8);

    (void)at;
    return status == REC_OK ? rec_sink_put(w->sink, blob) : status;
}

static int32_t open_container(struct writer *w, bool keys)
{
    if (w->depth + 1 >= DEPTH) {
        return rec_fail(w->job, REC_E_LIMIT, REC_UNKNOWN, "nested too deep");
    }
    w->keys[++w->depth] = keys;
    return REC_OK;
}

static int32_t on_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    int32_t status = open_container(self, false);

    (void)at;
    if (form == REC_FORM_UNKNOWN) {
        return unknown(self, "whether a list is a Vec, an array or a tuple");
    }
    return status == REC_OK && form == REC_FORM_LIST ? write_uint(self, count, 8) : status;
}

static int32_t on_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    int32_t status = open_container(self, form == REC_FORM_MAP);

    (void)at;
    if (form == REC_FORM_UNKNOWN) {
        return unknown(self, "whether a map is a struct");
    }
    return status == REC_OK && form == REC_FORM_MAP ? write_uint(self, count, 8) : status;
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    struct writer *w = self;

    return w->keys[w->depth] ? on_scalar(self, at, key) : REC_OK;
}

static int32_t on_variant(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    int32_t status = open_container(self, false);

    (void)at, (void)name, (void)payload;
    if (index > UINT32_MAX) {
        return unknown(self, "the index of a variant");
    }
    return status == REC_OK ? write_uint(self, index, 4) : status;
}

static int32_t on_end(void *self, uint64_t at)
{
    struct writer *w = self;

    (void)at;
    w->depth--;
    return REC_OK;
}

static int32_t on_option(void *self, uint64_t at, int32_t present)
{
    (void)at;
    return write_uint(self, present != 0, 1);
}

static int32_t save(rec_job *job, rec_sink *sink)
{
    static const rec_visitor visitor = {.size = sizeof visitor,
                                        .scalar = on_scalar,
                                        .numbers = on_numbers,
                                        .bytes = on_bytes,
                                        .list_begin = on_list,
                                        .map_begin = on_map,
                                        .key = on_key,
                                        .variant_begin = on_variant,
                                        .end = on_end,
                                        .option = on_option};
    struct writer w = {.job = job, .sink = sink};
    int32_t status = rec_sink_write(sink, typed_magic, sizeof typed_magic);

    return status == REC_OK ? rec_job_walk(job, &visitor, &w) : status;
}

/* -------------------------------------------------------------------------------------------------- descriptor -- */

static int32_t probe(const rec_head *head)
{
    return head->length >= sizeof typed_magic && memcmp(head->data, typed_magic, sizeof typed_magic) == 0 ? 64 : 0;
}

static const rec_plugin typed = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof(rec_plugin),
    .name = "Typed",
    .extension = "typed",
    .description = "test: typed, without names",
    .traits = REC_TRAIT_NEEDS_TYPE | REC_TRAIT_EXACT_SIZE,
    .probe = probe,
    .load = typed_load,
    .save = save,
};

REC_PLUGINS(typed, &typed);
