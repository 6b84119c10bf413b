/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Encoded tensors on their way in and out: when they are decoded, by schemes that get the model's config.json
 * as texts by their paths. It is read when one of them asks, and what was read stays in the record. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "burn/visit/visit.h"
#include "core/io/io.h"
#include "core/scheme/scheme.h"
#include "recorder/recorder.h"

enum { ELEMENTS_MOST = 16, TEXT_MOST = 16 << 20 };

/* The settings of a model, in the config.json next to its file. */
typedef struct model_settings {
    rec_job job;
    rec_source *model; /* its file or directory */
    bool asked;
    char *texts; /* pairs of path and value, each with its NUL */
    uint64_t used, room;
    lr_setting_reader reader;
} model_settings;

static int32_t add(model_settings *s, const char *path, const char *value, size_t length)
{
    size_t used = strlen(path) + 1, need = used + length + 1;
    if (s->used + need > TEXT_MOST || memchr(value, '\0', length)) {
        return REC_OK;
    }
    if (!lr_job_grow(&s->job, &s->texts, s->used + need, &s->room, 1)) {
        return s->job.error.status;
    }
    memcpy(s->texts + s->used, path, used);
    memcpy(s->texts + s->used + used, value, length);
    s->texts[s->used + need - 1] = '\0';
    s->used += need;
    return REC_OK;
}

static int32_t take(void *user, const char *path, bool listed, const rec_scalar *scalar)
{
    model_settings *s = user;
    const char *dot = strrchr(path, '.');
    char text[64];
    if (listed && dot && strtoull(dot + 1, NULL, 10) >= ELEMENTS_MOST) {
        return REC_OK; /* schemes ask for short lists: the sides of a block */
    }
    switch (scalar->kind) {
    case REC_KIND_STRING:
        return add(s, path, scalar->text, (size_t)scalar->v.length);
    case REC_KIND_BOOL:
        return add(s, path, scalar->v.i ? "true" : "false", scalar->v.i ? 4 : 5);
    case REC_KIND_INT:
        return add(s, path, text, (size_t)snprintf(text, sizeof text, "%" PRId64, scalar->v.i));
    case REC_KIND_UINT:
        return add(s, path, text, (size_t)snprintf(text, sizeof text, "%" PRIu64, scalar->v.u));
    case REC_KIND_FLOAT:
        (void)lr_number_put(text, sizeof text, 'g', 17, scalar->v.f);
        return add(s, path, text, strlen(text));
    default:
        return REC_OK;
    }
}

/* Parses it with librecord's JSON reader. A file that is no configuration describes no tensors. */
static void read_config(model_settings *s)
{
    const lr_plugin *json = lr_registry_own(&s->job, "json", "PrettyJson");
    rec_source *source = NULL;
    if (json && rec_source_beside_maybe(&s->job, s->model, "config.json", &source) == REC_OK && source &&
        rec_source_size(source) <= TEXT_MOST) {
        s->job.plugin = &json->d;
        s->reader = (lr_setting_reader){.job = &s->job, .take = take, .user = s};
        (void)lr_plugin_load(&s->job, source, &lr_setting_visitor, &s->reader);
    }
    rec_source_release(source);
    lr_siblings_drop(&s->job);
}

/* @param path "quantization_config.quant_method". NULL: no such value. */
static const char *find(const char *texts, uint64_t used, const char *path)
{
    for (uint64_t at = 0; at < used;) {
        const char *value = texts + at + strlen(texts + at) + 1;
        if (strcmp(texts + at, path) == 0) {
            return value;
        }
        at = (uint64_t)(value - texts) + strlen(value) + 1;
    }
    return NULL;
}

static const char *find_read(void *settings, const char *path)
{
    model_settings *s = settings;
    if (!s->asked) {
        s->asked = true;
        read_config(s);
    }
    return find(s->texts, s->used, path);
}

static const char *find_kept(void *record, const char *path)
{
    const rec_record *r = record;
    return find(r->settings, r->settings_size, path);
}

int32_t lr_decode_loaded(rec_job *job, const rec_recorder *r, rec_source *source, rec_record *record)
{
    model_settings s = {.model = source};
    lr_settings settings = {.find = find_read, .user = &s};
    lr_job_begin(&s.job, job->context, "load", "config.json");
    if (lr_schemes_find(job, record, &settings) == REC_OK && !lr_record_set_settings(record, s.texts, s.used)) {
        (void)lr_fail_arena(job, &record->arena, s.used);
    }
    lr_release(job->allocator, s.texts);
    lr_job_drop(&s.job);
    if (lr_job_failed(job)) {
        return job->error.status;
    }
    if (lr_precision_changes(lr_load_precision(r))) {
        return lr_schemes_decode(job, record);
    }
    return r->decode && !r->as_file ? lr_schemes_try(job, record) : REC_OK;
}

const rec_record *lr_decode_saved(rec_job *job, rec_precision precision, const rec_record *record, rec_record **copy)
{
    lr_settings settings = {.find = find_kept};
    *copy = NULL;
    if (lr_job_failed(job) || !lr_precision_changes(precision) || !lr_schemes_needed(record)) {
        return lr_job_failed(job) ? NULL : record;
    }
    *copy = rec_record_copy(record);
    if (!*copy) {
        (void)lr_fail_memory(job, sizeof *record);
        return NULL;
    }
    settings.user = *copy;
    return lr_schemes_find(job, *copy, &settings) == REC_OK && lr_schemes_decode(job, *copy) == REC_OK ? *copy : NULL;
}
