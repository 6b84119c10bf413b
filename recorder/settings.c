/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The model's config.json as texts by their paths, for schemes. It is read when one of them asks. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "burn/visit/visit.h"
#include "core/io/io.h"
#include "recorder/recorder.h"

enum { DEPTH_MOST = 64, PATH_MOST = 512, TEXT_MOST = 16 << 20 };

/** A list or map that is open. */
typedef struct level {
    size_t length;  /**< of its own path */
    uint64_t index; /**< of the next element of a list */
    bool list;
} level;

struct lr_model_settings {
    rec_job job;
    rec_source *model;
    bool asked;
    char *texts; /**< pairs of path and value, each with its NUL */
    uint64_t used, room;
    char path[PATH_MOST];
    size_t length;
    level levels[DEPTH_MOST];
    uint32_t depth;
};

/* -------------------------------------------------------------------------------------------------- events -- */

static int32_t add(lr_model_settings *s, const char *value, size_t length)
{
    size_t need = s->length + 1 + length + 1;
    if (s->used + need > TEXT_MOST || memchr(value, '\0', length)) {
        return REC_OK;
    }
    if (!lr_job_grow(&s->job, &s->texts, s->used + need, &s->room, 1)) {
        return s->job.error.status;
    }
    memcpy(s->texts + s->used, s->path, s->length);
    s->texts[s->used + s->length] = '\0';
    memcpy(s->texts + s->used + s->length + 1, value, length);
    s->texts[s->used + need - 1] = '\0';
    s->used += need;
    return REC_OK;
}

/* Appends a name to the path of the innermost container. If it is too long the path becomes "", which no lookup
 * matches. */
static void name(lr_model_settings *s, const char *text, size_t length)
{
    size_t begin = s->depth ? s->levels[s->depth - 1].length : 0;
    bool dot = begin > 0, fits = begin + dot + length < PATH_MOST && (begin || s->depth < 2);
    if (fits && dot) {
        s->path[begin++] = '.';
    }
    if (fits) {
        memcpy(s->path + begin, text, length);
    }
    s->length = fits ? begin + length : 0;
}

/* Before each value: an element of a list has its number as its name. */
static void step(lr_model_settings *s)
{
    level *in = s->depth ? &s->levels[s->depth - 1] : NULL;
    char digits[24];
    if (in && in->list) {
        (void)snprintf(digits, sizeof digits, "%" PRIu64, in->index++);
        name(s, digits, strlen(digits));
    }
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    lr_model_settings *s = self;
    char text[64];
    (void)at;
    step(s);
    switch (scalar->kind) {
    case REC_KIND_STRING:
        return add(s, scalar->text, (size_t)scalar->v.length);
    case REC_KIND_BOOL:
        return add(s, scalar->v.i ? "true" : "false", scalar->v.i ? 4 : 5);
    case REC_KIND_INT:
        return add(s, text, (size_t)snprintf(text, sizeof text, "%" PRId64, scalar->v.i));
    case REC_KIND_UINT:
        return add(s, text, (size_t)snprintf(text, sizeof text, "%" PRIu64, scalar->v.u));
    case REC_KIND_FLOAT:
        (void)lr_number_put(text, sizeof text, 'g', 17, scalar->v.f);
        return add(s, text, strlen(text));
    default:
        return REC_OK;
    }
}

/* What schemes ask for are short lists: the sides of a block. */
static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    enum { SHOWN = 16 };
    uint32_t width = rec_dtype_bits(dtype) / 8;
    uint64_t element;
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < count && i < SHOWN && status == REC_OK; i++) {
        lr_packed one = {.count = 1, .dtype = dtype, .data = {.data = (const uint8_t *)&element, .size = width}};
        rec_scalar scalar;
        memcpy(&element, (const uint8_t *)data + i * width, width);
        lr_swap_if_big(&element, width, 1);
        scalar = lr_packed_number(&one, 0);
        status = on_scalar(self, at, &scalar);
    }
    return status;
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    (void)at;
    (void)blob;
    step(self);
    return REC_OK;
}

static int32_t open_level(lr_model_settings *s, bool list)
{
    step(s);
    if (s->depth == DEPTH_MOST) {
        return rec_fail(&s->job, REC_E_LIMIT, REC_UNKNOWN, "nested deeper than %d levels: no configuration",
                        DEPTH_MOST);
    }
    s->levels[s->depth] = (level){.length = s->depth ? s->length : 0, .list = list};
    s->depth++;
    return REC_OK;
}

static int32_t on_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at;
    (void)form;
    (void)count;
    return open_level(self, true);
}

static int32_t on_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at;
    (void)form;
    (void)count;
    return open_level(self, false);
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    (void)at;
    name(self, key->kind == REC_KIND_STRING ? key->text : "", key->kind == REC_KIND_STRING ? (size_t)key->v.length : 0);
    return REC_OK;
}

static int32_t on_variant(void *self, uint64_t at, uint64_t index, const rec_scalar *variant, int32_t payload)
{
    (void)at;
    (void)index;
    (void)variant;
    (void)payload;
    return open_level(self, false);
}

static int32_t on_end(void *self, uint64_t at)
{
    lr_model_settings *s = self;
    (void)at;
    s->depth--;
    return REC_OK;
}

static int32_t on_option(void *self, uint64_t at, int32_t present)
{
    (void)self;
    (void)at;
    (void)present;
    return REC_OK;
}

/* ------------------------------------------------------------------------------------------------- the file -- */

/* Parses it with librecord's JSON reader. A file that is no configuration describes no tensors. */
static void read_config(lr_model_settings *s)
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
    const lr_plugin *json = lr_registry_own(&s->job, "json", "PrettyJson");
    rec_source *source = NULL;
    if (json && rec_source_beside_maybe(&s->job, s->model, "config.json", &source) == REC_OK && source &&
        rec_source_size(source) <= TEXT_MOST) {
        s->job.plugin = &json->d;
        (void)lr_plugin_load(&s->job, source, &visitor, s);
    }
    rec_source_release(source);
    lr_siblings_drop(&s->job);
}

lr_model_settings *lr_settings_new(rec_job *job, rec_source *model)
{
    lr_model_settings *s = lr_zalloc(job->allocator, sizeof *s);
    if (!s) {
        (void)lr_fail_memory(job, sizeof *s);
        return NULL;
    }
    lr_job_begin(&s->job, job->context, "load", "config.json");
    s->model = model;
    return s;
}

const char *lr_settings_find(void *settings, const char *path)
{
    lr_model_settings *s = settings;
    if (!s->asked) {
        s->asked = true;
        read_config(s);
    }
    for (uint64_t at = 0; at < s->used;) {
        const char *value = s->texts + at + strlen(s->texts + at) + 1;
        if (strcmp(s->texts + at, path) == 0) {
            return value;
        }
        at = (uint64_t)(value - s->texts) + strlen(value) + 1;
    }
    return NULL;
}

void lr_settings_free(lr_model_settings *s)
{
    if (s) {
        const lr_allocator *allocator = s->job.allocator;
        lr_release(allocator, s->texts);
        lr_job_drop(&s->job);
        lr_release(allocator, s);
    }
}
