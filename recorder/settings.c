/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The model's config.json as texts by their paths, for schemes. It is read when one of them asks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "burn/visit/visit.h"
#include "core/io/io.h"
#include "recorder/recorder.h"

enum { ELEMENTS_MOST = 16, TEXT_MOST = 16 << 20 };

struct lr_model_settings {
    rec_job job;
    rec_source *model;
    bool asked;
    char *texts; /**< pairs of path and value, each with its NUL */
    uint64_t used, room;
    lr_setting_reader reader;
};

static int32_t add(lr_model_settings *s, const char *path, const char *value, size_t length)
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
    lr_model_settings *s = user;
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

/* ------------------------------------------------------------------------------------------------- the file -- */

/* Parses it with librecord's JSON reader. A file that is no configuration describes no tensors. */
static void read_config(lr_model_settings *s)
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

lr_model_settings *lr_settings_new(rec_job *job, rec_source *model)
{
    lr_model_settings *s = lr_job_zalloc(job, sizeof *s);
    if (!s) {
        return NULL;
    }
    lr_job_begin(&s->job, job->context, "load", "config.json");
    s->model = model;
    return s;
}

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

const char *lr_settings_find(void *settings, const char *path)
{
    lr_model_settings *s = settings;
    if (!s->asked) {
        s->asked = true;
        read_config(s);
    }
    return find(s->texts, s->used, path);
}

int32_t lr_settings_keep(rec_job *job, const lr_model_settings *s, rec_record *record)
{
    return lr_record_set_settings(record, s->texts, s->used) ? REC_OK : lr_fail_arena(job, &record->arena, s->used);
}

const char *lr_settings_kept(void *record, const char *path)
{
    const rec_record *r = record;
    return find(r->settings, r->settings_size, path);
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
