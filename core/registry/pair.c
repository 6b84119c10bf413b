/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Which format in which codec is meant: by a name, "mpk.zst", by the end of a path, and by a file's first bytes, which
 * are decoded for it. */
#include "core/registry/stack_private.h"

#include <stdio.h>
#include <string.h>

#include "core/io/io.h"
#include "core/registry/table_private.h"

/* Bytes that are decoded at most to see what they are of. */
enum { HEAD_MOST = 64 * 1024, HEAD_FIRST = 256 };

/* ------------------------------------------------------------------------------------------------------ a pair -- */

/** What a plugin is looked for by. */
typedef struct wish {
    const lr_plugin *format, *codec;
    const char *path;
    const rec_head *head;
} wish;

static bool is_stack_of(const rec_plugin *d, const void *user)
{
    const wish *w = user;
    return lr_plugin_has_name(&w->format->d, d->format) && lr_plugin_has_name(&w->codec->d, d->codec);
}

static bool ends_path(const rec_plugin *d, const void *user)
{
    return lr_plugin_extension(d, ((const wish *)user)->path) > 0;
}

/* Whether a codec has something to say to a head. */
static bool may_decode(const rec_plugin *d, const void *user)
{
    const wish *w = user;
    return d->magic || d->probe ? lr_plugin_magic(d, w->head) >= 0 : w->path && lr_plugin_extension(d, w->path) > 0;
}

/* A plugin that gives a pair a name of its own. @param path NULL: one without presets is wanted, which does what the
 * pair does; else the one whose extension it ends in comes first. */
static const lr_plugin *find_stack(rec_job *job, const lr_plugin *format, const lr_plugin *codec, const char *path)
{
    const wish wanted = {.format = format, .codec = codec};
    const lr_plugin *best = NULL;
    for (const lr_plugin *p = NULL; (p = lr_registry_next_of(job, REC_PLUGIN_STACK, p, is_stack_of, &wanted));) {
        bool same = p->format == format && p->codec == codec;
        if (same && (path || !p->d.presets || !p->d.presets[0])) {
            if (!path || lr_plugin_extension(&p->d, path)) {
                return p;
            }
            best = best ? best : p;
        }
    }
    return best;
}

static const lr_plugin *make_pair(rec_job *job, lr_registry *registry, const lr_plugin *format, const lr_plugin *codec)
{
    const lr_allocator *allocator = &job->context->allocator;
    lr_pair *pair = lr_zalloc(allocator, sizeof *pair);
    char reason[LR_REASON];
    if (!pair) {
        (void)lr_fail_memory(job, sizeof *pair);
        return NULL;
    }
    lr_arena_init(&pair->arena, allocator);
    pair->plugin = lr_stack_make(job, &pair->arena, NULL, format, codec, reason);
    if (!pair->plugin) {
        lr_pairs_free(allocator, pair);
        if (*reason) {
            (void)rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "%s cannot be put behind %s: %s", format->d.name,
                           codec->d.name, reason);
        }
        return NULL;
    }
    pair->info = lr_info_of(&pair->plugin->d, pair->plugin->file);
    lr_info_details(job, &pair->arena, &pair->info, &pair->plugin->d);
    if (lr_job_failed(job)) {
        lr_pairs_free(allocator, pair);
        return NULL;
    }
    pair->next = registry->pairs;
    registry->pairs = pair;
    return pair->plugin;
}

/* The two as one; of a context there is one of each. NULL: the job has failed. */
static const lr_plugin *pair_of(rec_job *job, const lr_plugin *format, const lr_plugin *codec, const char *path)
{
    const lr_plugin *plugin = find_stack(job, format, codec, path);
    lr_registry *registry = lr_job_failed(job) ? NULL : lr_registry_of(job);
    if (plugin || !registry) {
        return plugin;
    }
    (void)pthread_mutex_lock(&registry->context->lock);
    for (const lr_pair *p = registry->pairs; p && !plugin; p = p->next) {
        plugin = p->plugin->format == format && p->plugin->codec == codec ? p->plugin : NULL;
    }
    if (!plugin) {
        plugin = make_pair(job, registry, format, codec);
    }
    (void)pthread_mutex_unlock(&registry->context->lock);
    return plugin;
}

/* --------------------------------------------------------------------------------------------- names and paths -- */

static bool has_extension(const rec_plugin *d, const char *word)
{
    bool has = d->extension && strcmp(d->extension, word) == 0;
    for (size_t i = 0; !has && d->extensions && d->extensions[i]; i++) {
        has = strcmp(d->extensions[i], word) == 0;
    }
    return has;
}

/* The plugin of a kind that is called so, or whose files are. */
static const lr_plugin *find_word(rec_job *job, int32_t kind, const char *word)
{
    const lr_plugin *plugin = lr_registry_raw(job, kind, word);
    if (plugin && plugin->d.kind == kind) {
        return plugin;
    }
    for (const lr_plugin *p = NULL; (p = lr_registry_next(job, kind, p));) {
        if (has_extension(&p->d, word)) {
            return p;
        }
    }
    return NULL;
}

/* The pair that a name stands for, which is no plugin's: split at a dot, "mpk.zst". @param before (out) where what
 * follows the dot is a codec: what stands before it; else "". */
static const lr_plugin *find_split(rec_job *job, const char *name, char before[LR_NAME_MOST + 1])
{
    size_t length = strnlen(name, 2 * LR_NAME_MOST + 1);
    *before = '\0';
    if (length > 2 * LR_NAME_MOST) {
        return NULL;
    }
    for (size_t at = length; at-- > 1;) {
        const lr_plugin *codec, *format;
        if (name[at] != '.' || at > LR_NAME_MOST) {
            continue;
        }
        codec = find_word(job, REC_PLUGIN_CODEC, name + at + 1);
        if (codec) {
            memcpy(before, name, at);
            before[at] = '\0';
            format = find_word(job, REC_PLUGIN_FORMAT, before);
            return format ? pair_of(job, format, codec, NULL) : NULL;
        }
    }
    return NULL;
}

static void list_codecs(rec_job *job, char *text, size_t room)
{
    size_t used = 0;
    *text = '\0';
    for (const lr_plugin *p = NULL; used < room && (p = lr_registry_next(job, REC_PLUGIN_CODEC, p));) {
        used += (size_t)snprintf(text + used, room - used, "%s.%s", used ? ", " : "", p->d.extension);
    }
}

const lr_plugin *lr_registry_look(rec_job *job, const char *name)
{
    const lr_plugin *plugin = lr_registry_raw(job, REC_PLUGIN_FORMAT, name);
    char format[LR_NAME_MOST + 1];
    return plugin || lr_job_failed(job) ? plugin : find_split(job, name, format);
}

const lr_plugin *lr_registry_find(rec_job *job, const char *name)
{
    const lr_plugin *plugin = lr_registry_raw(job, REC_PLUGIN_FORMAT, name), *codec, *other;
    char format[LR_NAME_MOST + 1] = "", codecs[256];
    lr_excerpt brief;
    if (!plugin && !lr_job_failed(job)) {
        plugin = find_split(job, name, format);
    }
    if (plugin || lr_job_failed(job)) {
        return plugin;
    }
    codec = lr_registry_raw(job, REC_PLUGIN_CODEC, *format ? format : name);
    other = *format ? lr_registry_raw(job, REC_PLUGIN_FORMAT, format) : NULL;
    list_codecs(job, codecs, sizeof codecs);
    if (codec && !lr_job_failed(job)) {
        (void)rec_fail(job, REC_E_NOT_FOUND, REC_UNKNOWN, "%s is a codec, no recorder", codec->d.name);
        rec_fail_hint(job, "It stands behind the name of a format, as in mpk.%s.", codec->d.extension);
    } else if (other && !lr_job_failed(job)) {
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "no recorder is called \"%s\": %s is in a codec already",
                       lr_excerpt_text(&brief, name), other->d.name);
    } else if (!lr_job_failed(job)) {
        lr_registry_missing(job, name, format);
        if (!*format && strchr(name, '.') && *codecs) {
            rec_fail_hint(job, "Codecs that may stand behind a format: %s.", codecs);
        }
    }
    return NULL;
}

/* The format whose extension stands before a codec's. @param path without that. */
static const lr_plugin *format_of(rec_job *job, const char *path, lr_direction direction, size_t *length)
{
    const wish wanted = {.path = path};
    const lr_plugin *best = NULL;
    *length = 0;
    for (const lr_plugin *p = NULL; (p = lr_registry_next_of(job, REC_PLUGIN_FORMAT, p, ends_path, &wanted));) {
        size_t its = lr_plugin_extension(&p->d, path);
        if (its > *length ||
            (its == *length && !lr_plugin_can(&best->d, direction) && lr_plugin_can(&p->d, direction))) {
            *length = its;
            best = p;
        }
    }
    return best;
}

static const lr_plugin *pair_by_extension(rec_job *job, const char *path, lr_direction direction, size_t *length)
{
    const wish wanted = {.path = path};
    const lr_plugin *format = NULL, *codec = NULL;
    *length = 0;
    for (const lr_plugin *p = NULL; (p = lr_registry_next_of(job, REC_PLUGIN_CODEC, p, ends_path, &wanted));) {
        size_t tail = lr_plugin_extension(&p->d, path), size = strlen(path), head;
        const lr_plugin *found;
        char *rest;
        rest = lr_alloc(job->allocator, size + 1);
        if (!rest) {
            (void)lr_fail_memory(job, size + 1);
            return NULL;
        }
        memcpy(rest, path, size - tail - 1);
        rest[size - tail - 1] = '\0';
        found = format_of(job, rest, direction, &head);
        if (found && head + 1 + tail > *length) {
            format = found;
            codec = p;
            *length = head + 1 + tail;
        }
        lr_release(job->allocator, rest);
    }
    return format ? pair_of(job, format, codec, NULL) : NULL;
}

const lr_plugin *lr_registry_by_extension(rec_job *job, const char *path, lr_direction direction)
{
    const lr_plugin *plugin = lr_registry_by_own_extension(job, path, direction), *pair;
    size_t length = plugin ? lr_plugin_extension(&plugin->d, path) : 0, longer;
    pair = lr_job_failed(job) ? NULL : pair_by_extension(job, path, direction, &longer);
    return pair && longer > length ? pair : plugin;
}

/* ------------------------------------------------------------------------------------------------- recognising -- */

/* How sure a codec is of a head. One that files do not show goes by the name. */
static int32_t codec_bits(const rec_plugin *d, const rec_head *head, const char *path)
{
    int32_t best = lr_plugin_magic(d, head), most;
    if (!d->magic && !d->probe) {
        return path && lr_plugin_extension(d, path) ? 1 : 0;
    }
    if (d->probe && best >= 0) {
        int32_t bits = d->probe(head);
        most = best + LR_BITS_MORE;
        bits = bits > most ? most : bits;
        best = bits < best || !d->magic ? bits : best;
    }
    return best;
}

/* The first bytes behind a codec: as many as come before whatever is wrong. The pieces double, so that of a file which
 * is cut short or damaged at least half of what it has is seen. */
static uint64_t read_head(rec_job *job, rec_source *decoded, uint8_t *data)
{
    uint64_t used = 0, got = 1;
    while (got && used < HEAD_MOST) {
        uint64_t want = used < HEAD_FIRST ? HEAD_FIRST : used;
        want = want < HEAD_MOST - used ? want : HEAD_MOST - used;
        if (rec_source_read(job, decoded, data + used, want, &got) != REC_OK) {
            break;
        }
        used += got;
    }
    return used;
}

/* The file's own name without the codec's extension. */
static const char *inner_name(const rec_plugin *codec, const char *name, char *text, size_t room)
{
    size_t tail = lr_plugin_extension(codec, name);
    (void)snprintf(text, room, "%.*s", (int)(strlen(name) - (tail ? tail + 1 : 0)), name);
    return text;
}

/* What stands behind the codec, and how sure somebody is of it. */
static int32_t look_inside(rec_job *job, rec_source *source, const char *path, uint8_t *data, lr_recognised *found)
{
    char name[1024];
    rec_head head = {.size = sizeof head, .data = data, .total = REC_UNKNOWN};
    rec_source *decoded = NULL;
    const lr_plugin *format;
    rec_job
        quiet; /* of its own: what is wrong behind a codec is no failure yet, and what is remarkable is told later */
    int32_t bits;
    lr_job_begin(&quiet, job->context, "recognise", job->file);
    quiet.quiet = true;
    if (rec_source_rewind(&quiet, source) == REC_OK &&
        lr_stack_decode(&quiet, found->codec, source, &decoded) == REC_OK) {
        head.length = read_head(&quiet, decoded, data);
    }
    lr_source_release(decoded);
    if (!head.length && lr_job_failed(&quiet)) {
        found->why = quiet.error;
    }
    lr_job_drop(&quiet);
    if (!head.length) {
        return 0;
    }
    head.name = inner_name(&found->codec->d, found->head.name, name, sizeof name);
    format = lr_registry_recognise(job, &head, path ? head.name : NULL);
    bits = format ? lr_registry_bid(&format->d, &head) : 0;
    if (!format || (bits < LR_SURE_BITS && lr_foreign_words(&head))) {
        found->inside = lr_foreign_words(&head);
        return 0;
    }
    found->plugin = pair_of(job, format, found->codec, path ? path : "");
    return found->plugin ? bits : 0;
}

int32_t lr_registry_recognise_source(rec_job *job, rec_source *source, const char *path, lr_recognised *found)
{
    const wish wanted = {.path = path, .head = &found->head};
    const lr_plugin *plain;
    int32_t best = 0, bits, inside;
    uint8_t *data;
    *found = (lr_recognised){.head = {.size = sizeof found->head}};
    if (lr_source_head(job, source, &found->head) != REC_OK) {
        return job->error.status;
    }
    if (!found->head.names && lr_registry_needs_tail(job) && lr_source_tail(job, source, &found->head) != REC_OK) {
        return job->error.status;
    }
    plain = lr_registry_recognise(job, &found->head, path);
    for (const lr_plugin *p = NULL;
         !found->head.names && (p = lr_registry_next_of(job, REC_PLUGIN_CODEC, p, may_decode, &wanted));) {
        bits = p->d.decode ? codec_bits(&p->d, &found->head, path) : 0;
        if (bits > best) {
            best = bits;
            found->codec = p;
        }
    }
    if (found->codec && !lr_job_failed(job)) {
        data = lr_alloc(job->allocator, HEAD_MOST);
        if (!data) {
            return lr_fail_memory(job, HEAD_MOST);
        }
        inside = look_inside(job, source, path, data, found);
        lr_release(job->allocator, data);
        bits = plain ? lr_registry_bid(&plain->d, &found->head) : 0;
        if (!found->plugin || bits > inside + best) {
            found->plugin = plain;
        }
        (void)rec_source_rewind(job, source);
    } else {
        found->plugin = plain;
    }
    return job->error.status;
}
