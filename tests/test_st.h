/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the tests of the safetensors codec share: files made by hand, and a listener that writes events down. */
#ifndef TEST_ST_H
#define TEST_ST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/config.h"
#include "core/io/io.h"
#include "plugins/codec/safetensors/safetensors.h"
#include "tests/little.h"

/** Bytes of a file; `data` to be freed. */
typedef struct st_file {
    uint8_t *data;
    size_t size;
} st_file;

/** A file of a header (with its length in front) and as many bytes of data, which count up from 0. */
static inline st_file st_make(const char *header, size_t data)
{
    size_t length = strlen(header);
    st_file f = {malloc(8 + length + data + 1), 8 + length + data};
    assert_non_null(f.data);
    for (int i = 0; i < 8; i++) {
        f.data[i] = (uint8_t)((uint64_t)length >> (8 * i));
    }
    memcpy(f.data + 8, header, length);
    for (size_t i = 0; i < data; i++) {
        f.data[8 + length + i] = (uint8_t)i;
    }
    return f;
}

/** Writes the events down, each with its place where it has one. */
typedef struct st_listener {
    char *text;
    size_t length, room;
    uint64_t tensors, bytes;
    bool quiet; /* only counts */
    rec_job *job;
} st_listener;

static inline void st_say(st_listener *l, const char *format, ...) REC_PRINTF(2, 3);
static inline void st_say(st_listener *l, const char *format, ...)
{
    va_list args;
    int n;
    if (l->room - l->length < 4096) {
        l->room = l->room * 2 + 8192;
        l->text = realloc(l->text, l->room);
        assert_non_null(l->text);
    }
    if (l->quiet) {
        return;
    }
    va_start(args, format);
    n = vsnprintf(l->text + l->length, l->room - l->length, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < l->room - l->length);
    l->length += (size_t)n;
}

static inline void st_scalar(st_listener *l, const rec_scalar *s)
{
    static const char *const letters[] = {"nil", "bool", "i", "u", "f", ""};
    st_say(l, "%s", letters[s->kind]);
    if (s->bits) {
        st_say(l, "%u", s->bits);
    }
    switch (s->kind) {
    case REC_KIND_NIL:
        st_say(l, "%u", s->form);
        break;
    case REC_KIND_FLOAT:
        st_say(l, ":%.17g", s->v.f);
        break;
    case REC_KIND_STRING:
        st_say(l, "'%.*s'", (int)s->v.length, s->text);
        break;
    case REC_KIND_INT:
        st_say(l, ":%" PRId64, s->v.i);
        break;
    default:
        st_say(l, ":%" PRIu64, s->v.u);
        break;
    }
    st_say(l, " ");
}

static inline int32_t st_on_metadata_value(void *self, uint64_t at, const rec_scalar *key)
{
    (void)at;
    st_say(self, "meta:");
    st_scalar(self, key);
    return REC_OK;
}

static inline int32_t st_on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    st_say(self, "%" PRIu64 ":", at);
    st_scalar(self, key);
    st_say(self, "= ");
    st_scalar(self, value);
    return REC_OK;
}

static inline int32_t st_on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    (void)at;
    st_scalar(self, scalar);
    return REC_OK;
}

static inline int32_t st_on_key(void *self, uint64_t at, const rec_scalar *key)
{
    st_say(self, "%" PRIu64 ":", at);
    st_scalar(self, key);
    return REC_OK;
}

static inline int32_t st_on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    uint8_t bytes[16] = {0};
    uint64_t width = rec_dtype_bits(dtype) / 8, size = count * width < sizeof bytes ? count * width : sizeof bytes;
    (void)at;
    memcpy(bytes, data, (size_t)size);
    little(bytes, (size_t)width, (size_t)(size / width));
    st_say(self, "%s*%" PRIu64 "(", rec_dtype_name(dtype), count);
    for (uint64_t i = 0; i < size; i++) {
        st_say(self, "%02x", bytes[i]);
    }
    st_say(self, ") ");
    return REC_OK;
}

static inline void st_blob(st_listener *l, const rec_blob *blob)
{
    uint8_t bytes[8];
    assert_int_not_equal(blob->kind, REC_BLOB_STREAM);
    assert_int_equal(rec_blob_read(l->job, blob, 0, bytes, blob->length < sizeof bytes ? blob->length : sizeof bytes),
                     REC_OK);
    st_say(l, "%" PRIu64 "(", blob->length);
    for (uint64_t i = 0; i < blob->length && i < 8; i++) {
        st_say(l, "%02x", bytes[i]);
    }
    st_say(l, ") ");
    l->bytes += blob->length;
}

static inline int32_t st_on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    (void)at;
    st_say(self, "bytes");
    st_blob(self, blob);
    return REC_OK;
}

static inline int32_t st_on_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at, (void)count;
    st_say(self, "list%d[ ", form);
    return REC_OK;
}

static inline int32_t st_on_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at;
    st_say(self, "map%d", form);
    if (count != REC_UNKNOWN) {
        st_say(self, "*%" PRIu64, count);
    }
    st_say(self, "{ ");
    return REC_OK;
}

static inline int32_t st_on_variant(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    (void)at;
    st_say(self, "variant%" PRIu64 "%s ", index, payload ? "+" : "");
    st_scalar(self, name);
    return REC_OK;
}

static inline int32_t st_on_end(void *self, uint64_t at)
{
    (void)at;
    st_say(self, "} ");
    return REC_OK;
}

static inline int32_t st_on_option(void *self, uint64_t at, int32_t present)
{
    (void)at;
    st_say(self, present ? "some " : "none ");
    return REC_OK;
}

static inline int32_t st_on_tensor(void *self, uint64_t at, const rec_tensor_event *event)
{
    st_listener *l = self;
    (void)at;
    l->tensors++;
    st_say(l, "%s", rec_dtype_name(event->dtype));
    if (event->dtype_name) {
        st_say(l, "=%s", event->dtype_name);
    }
    if (event->id) {
        st_say(l, "#%s", event->id);
    }
    for (uint32_t i = 0; i < event->rank; i++) {
        st_say(l, "%c%" PRIu64, i ? 'x' : '[', event->shape[i]);
    }
    st_say(l, event->rank ? "]" : "[]");
    st_blob(l, &event->data);
    return REC_OK;
}

static const rec_visitor st_visitor = {
    .size = sizeof st_visitor,
    .metadata = st_on_metadata,
    .scalar = st_on_scalar,
    .numbers = st_on_numbers,
    .bytes = st_on_bytes,
    .list_begin = st_on_list,
    .map_begin = st_on_map,
    .key = st_on_key,
    .variant_begin = st_on_variant,
    .end = st_on_end,
    .option = st_on_option,
    .tensor = st_on_tensor,
    .metadata_value = st_on_metadata_value,
};

/** What a reader says of a source: its events, or the status and the message. Notes follow. */
static inline char *st_tell_source(rec_job *job, rec_source *source, st_listener *l)
{
    static const rec_option *const options[] = {&lr_st_max_shard_size, &lr_st_record, &lr_st_keep_names, NULL};
    static const rec_plugin plugin = {
        .abi = REC_PLUGIN_ABI, .size = sizeof plugin, .name = "Safetensors", .options = options};
    int32_t status;
    job->plugin = &plugin;
    l->job = job;
    st_say(l, "%s", "");
    if (!source) {
        st_say(l, "%s", job->error.message);
        return l->text;
    }
    status = lr_st_read(job, source, &st_visitor, l);
    assert_int_equal(status, job->error.status);
    if (status != REC_OK) {
        l->length = 0;
        assert_int_not_equal(status, REC_E_PLUGIN);
        (void)lr_job_end(job);
        st_say(l, "%s\n%s", rec_status_name(status), rec_error_message());
        return l->text;
    }
    (void)lr_job_end(job);
    for (uint64_t i = 0; i < rec_report_count(); i++) {
        st_say(l, "\n%s", rec_report_note(i)->text);
    }
    return l->text;
}

/** The same of bytes. To be freed. */
static inline char *st_tell(const void *data, size_t size)
{
    st_listener l = {0};
    rec_job job;
    rec_source *source;
    lr_job_open(&job, NULL, "load", "f");
    source = lr_source_memory(&job, data, size, "f");
    (void)st_tell_source(&job, source, &l);
    rec_source_release(source);
    return l.text;
}

/** The same of a path. */
static inline char *st_tell_path(const char *path)
{
    st_listener l = {0};
    rec_job job;
    rec_source *source;
    lr_job_open(&job, NULL, "load", path);
    source = lr_source_open(&job, path, true);
    (void)st_tell_source(&job, source, &l);
    rec_source_release(source);
    return l.text;
}

#endif
