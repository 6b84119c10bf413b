/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Opens a path: a file, or with a scheme (https://host/name) an input of that scheme's plugin. */
#include "core/registry/registry.h"

#include <stdio.h>
#include <string.h>

#include "core/config/config.h"
#include "core/io/io.h"

enum { SCHEME_LEAST = 2, SCHEME_MOST = 32 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_letter(char c)
{
    return lower(c) >= 'a' && lower(c) <= 'z';
}

size_t lr_path_scheme(const char *path)
{
    size_t length = 0;
    while (length <= SCHEME_MOST && path[length] &&
           (is_letter(path[length]) || (length && (lr_is_digit(path[length]) || strchr("+-.", path[length]))))) {
        length++;
    }
    return length >= SCHEME_LEAST && length <= SCHEME_MOST && strncmp(path + length, "://", 3) == 0 ? length : 0;
}

uint64_t rec_display_name(const char *path, char *name, uint64_t room)
{
    return LR_NULL(path) || (room && LR_NULL(name)) ? 0 : lr_display(path, name, room);
}

static bool is_of(const char *scheme, const char *path, size_t length)
{
    size_t at = 0;
    while (at < length && scheme[at] == lower(path[at])) {
        at++;
    }
    return at == length && !scheme[at];
}

static bool has_scheme(const rec_plugin *d, const char *path, size_t length)
{
    for (size_t i = 0; d->schemes && d->schemes[i]; i++) {
        if (is_of(d->schemes[i], path, length)) {
            return true;
        }
    }
    return false;
}

static void fail_unknown(rec_job *job, const char *path, size_t length)
{
    char names[512] = "";
    size_t used = 0;
    for (const lr_plugin *p = NULL; (p = lr_registry_next(job, REC_PLUGIN_SOURCE, p));) {
        for (size_t i = 0; p->d.schemes[i] && used + SCHEME_MOST + 8 < sizeof names; i++) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s://", used ? ", " : "", p->d.schemes[i]);
        }
    }
    (void)rec_fail(job, REC_E_NOT_FOUND, REC_UNKNOWN, "no plugin opens paths that begin with \"%.*s://\"", (int)length,
                   path);
    rec_fail_hint(job, used ? "There are plugins for %s" : "There is no plugin for any; see `record plugins --why`.%s",
                  names);
    rec_fail_hint(job, "For a local file of this name, put ./ before its path.");
}

/* The plugin works for this job as if it were loading. */
static rec_source *open_with(rec_job *job, const lr_plugin *plugin, const char *path)
{
    const rec_plugin *before = job->plugin;
    const lr_option_set *options = job->options;
    rec_source *source = NULL;
    lr_call call;
    int32_t status;
    job->plugin = &plugin->d;
    job->options = NULL;
    lr_call_begin(&call, job, LR_CALL_LOAD, NULL);
    status = plugin->d.open(job, path, &source);
    lr_call_end(&call);
    if (source && !lr_source_take_back(source)) {
        source = NULL;
        (void)lr_breach(job, REC_UNKNOWN, "returned a source that it does not own");
    }
    if (lr_sources_left(&call)) {
        (void)lr_breach(job, REC_UNKNOWN, "did not release its sources");
    }
    if (status != REC_OK && !lr_job_failed(job)) {
        (void)lr_breach(job, REC_UNKNOWN, "stopped without a reason (%d)", (int)status);
    }
    if (!source && !lr_job_failed(job)) {
        (void)lr_breach(job, REC_UNKNOWN, "opened nothing and reported no error");
    }
    job->plugin = before;
    job->options = options;
    if (lr_job_failed(job)) {
        lr_source_release(source);
        return NULL;
    }
    if (rec_source_size(source) != REC_UNKNOWN) {
        lr_job_input(job, rec_source_size(source));
    }
    return source;
}

rec_source *lr_registry_open(rec_job *job, const char *path, bool map)
{
    size_t length = lr_path_scheme(path);
    if (!length) {
        return lr_source_open(job, path, map);
    }
    if (!job->context->sources) {
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "paths that begin with \"%.*s://\" are not opened here",
                       (int)length, path);
        return LR_AS_NULL(
            LR_HINT(job, "It is switched off: by `sources = no` of the INI file, by the program, or because this is a "
                         "setuid program."));
    }
    for (const lr_plugin *p = NULL; (p = lr_registry_next(job, REC_PLUGIN_SOURCE, p));) {
        if (has_scheme(&p->d, path, length)) {
            return open_with(job, p, path);
        }
    }
    if (!lr_job_failed(job)) {
        fail_unknown(job, path, length);
    }
    return NULL;
}

rec_status rec_context_set_sources(rec_context *context, int32_t yes)
{
    rec_job job;
    lr_job_open(&job, context, "sources", NULL);
    if (!lr_job_failed(&job)) {
        if (yes == 0 || yes == 1) {
            job.context->sources = yes == 1;
        } else {
            (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "rec_context_set_sources: 0 or 1, not %d", (int)yes);
        }
    }
    return lr_job_end(&job);
}
