/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Finds the plugin for a name ("mpk", "mpk.zst"), for the extension of a path, and for the first bytes of a file, which
 * it decodes if a codec recognises them.
 *
 * A path selects the plugin file that is named after its extension (lr_table_near()). If that file recognises the input
 * with certainty, no other plugin is opened. In this file `near` is such a plugin file: only its plugins and those that
 * need no opening are considered. NULL stands for all files. */
#include <stdio.h>
#include <string.h>

#include "core/config/config.h"
#include "core/io/io.h"
#include "core/registry/table_private.h"

/* The most bytes decoded to recognise a file, and the size of the first read. */
enum { HEAD_MOST = 64 * 1024, HEAD_FIRST = 256 };

/* ------------------------------------------------------------------------------------------------------- names -- */

static const lr_plugin *named(rec_job *job, lr_table *t, int32_t kind, const char *name, lr_direction direction)
{
    lr_find *find;
    while (!lr_job_failed(job) && (find = lr_table_named(job, t, kind, name, direction))) {
        const lr_plugin *plugin = lr_table_use(job, t, find);
        if (plugin) {
            return plugin;
        }
    }
    return NULL;
}

/* Finds a plugin without combinations; REC_PLUGIN_FORMAT stands for stacks too. */
static const lr_plugin *find_raw(rec_job *job, int32_t kind, const char *name)
{
    lr_look l = lr_look_begin(job);
    const lr_plugin *plugin = l.t ? named(job, l.t, kind, name, LR_CAN_ANY) : NULL;
    lr_look_end(l);
    return plugin;
}

const lr_plugin *lr_registry_for(rec_job *job, const lr_plugin *plugin, lr_direction direction)
{
    const lr_plugin *other = plugin;
    if (!lr_plugin_can(&plugin->d, direction)) {
        lr_look l = lr_look_begin(job);
        other = l.t ? named(job, l.t, plugin->d.kind, plugin->d.name, direction) : NULL;
        lr_look_end(l);
    }
    return other;
}

/* Finds a plugin by its exact name in files called `called` or among the linked ones. @param installed search the
 * installed directory alone. */
static lr_find *find_own(rec_job *job, lr_table *t, const char *called, const char *name, bool installed)
{
    for (uint64_t i = 0; i < t->file_count && !lr_job_failed(job); i++) {
        lr_file *file = t->files[i];
        bool counts = file->name ? lr_file_called(file, called) && (file->installed || !installed) : file->builtin;
        if (!counts || lr_table_see(job, t, file) != REC_OK) {
            continue;
        }
        for (uint64_t j = 0; j < file->count; j++) {
            if (!file->finds[j]->refused && strcmp(file->finds[j]->plugin.d.name, name) == 0) {
                return file->finds[j];
            }
        }
    }
    return NULL;
}

const lr_plugin *lr_registry_own(rec_job *job, const char *file, const char *name)
{
    lr_look l = lr_look_begin(job);
    lr_find *find = l.t ? find_own(job, l.t, file, name, true) : NULL;
    const lr_plugin *plugin;
    find = find || !l.t ? find : find_own(job, l.t, file, name, false);
    plugin = find ? lr_table_use(job, l.t, find) : NULL;
    lr_look_end(l);
    return plugin;
}

const lr_plugin *lr_registry_next(rec_job *job, int32_t kind, const lr_plugin *before)
{
    lr_look l = lr_look_begin(job);
    const lr_plugin *plugin = NULL;
    lr_place at = {.room = lr_room_of(kind)};
    lr_find *find;
    while (l.t && !plugin && (find = lr_table_next(job, l.t, &at))) {
        if (before) {
            before = find->use == before ? NULL : before;
        } else if (find->plugin.d.kind == kind) {
            plugin = lr_table_use(job, l.t, find);
        }
    }
    lr_look_end(l);
    return plugin;
}

/* ------------------------------------------------------------------------------------------ formats in codecs -- */

/* Finds the stack plugin that combines a format and a codec. @param path NULL: a stack without presets; otherwise a
 * stack with the extension of the path is preferred. */
static const lr_plugin *find_stack(rec_job *job, lr_table *t, const lr_file *near, const lr_plugin *format,
                                   const lr_plugin *codec, const char *path)
{
    const lr_plugin *best = NULL, *p;
    lr_place at = {.near = near};
    lr_find *find;
    while ((find = lr_table_next(job, t, &at))) {
        bool named = find->plugin.d.kind == REC_PLUGIN_STACK && lr_plugin_has_name(&format->d, find->plugin.d.format) &&
                     lr_plugin_has_name(&codec->d, find->plugin.d.codec);
        p = named ? lr_table_use(job, t, find) : NULL;
        if (p && p->format == format && p->codec == codec && (path || !p->d.presets || !p->d.presets[0])) {
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
    char reason[LR_REASON];
    const lr_plugin *plugin = lr_stack_make(job, &registry->arena, NULL, format, codec, reason);
    lr_pair *pair = plugin ? lr_arena_alloc(&registry->arena, sizeof *pair, 16) : NULL;
    if (pair) {
        *pair = (lr_pair){registry->pairs, plugin};
        registry->pairs = pair;
    } else if (plugin) {
        (void)lr_fail_memory(job, sizeof *pair);
    } else if (*reason) {
        (void)rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "%s cannot follow %s: %s", format->d.name, codec->d.name,
                       reason);
    }
    return pair ? plugin : NULL;
}

/* Returns the combination of a format and a codec; a context has one of each. NULL: the job has failed. */
static const lr_plugin *pair_of(rec_job *job, const lr_look *l, const lr_file *near, const lr_plugin *format,
                                const lr_plugin *codec, const char *path)
{
    const lr_plugin *plugin = find_stack(job, l->t, near, format, codec, path);
    if (lr_job_failed(job)) {
        return plugin;
    }
    for (const lr_pair *p = l->registry->pairs; p && !plugin; p = p->next) {
        plugin = p->plugin->format == format && p->plugin->codec == codec ? p->plugin : NULL;
    }
    return plugin ? plugin : make_pair(job, l->registry, format, codec);
}

/* ------------------------------------------------------------------------------------------- names of pairs -- */

static bool has_extension(const rec_plugin *d, const char *word)
{
    bool has = d->extension && strcmp(d->extension, word) == 0;
    for (size_t i = 0; !has && d->extensions && d->extensions[i]; i++) {
        has = strcmp(d->extensions[i], word) == 0;
    }
    return has;
}

/* Finds a plugin of a kind by its name or by an extension. */
static const lr_plugin *find_word(rec_job *job, int32_t kind, const char *word)
{
    const lr_plugin *plugin = find_raw(job, kind, word);
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

/* Finds the combination for a name such as "mpk.zst", which it splits at a dot. @param before (out) the name before the
 * codec, or "" if no codec follows a dot. */
static const lr_plugin *find_split(rec_job *job, const char *name, char before[LR_NAME_MOST + 1])
{
    size_t length = strnlen(name, 2 * LR_NAME_MOST + 1);
    const lr_plugin *pair;
    lr_look l;
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
            l = lr_look_begin(job);
            pair = l.t && format ? pair_of(job, &l, NULL, format, codec, NULL) : NULL;
            lr_look_end(l);
            return pair;
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

/* As lr_registry_find(), but an unknown name is no failure. @param format (out) what stands before the codec, or "". */
static const lr_plugin *look(rec_job *job, const char *name, char format[LR_NAME_MOST + 1])
{
    const lr_plugin *plugin = find_raw(job, REC_PLUGIN_FORMAT, name);
    *format = '\0';
    return plugin || lr_job_failed(job) ? plugin : find_split(job, name, format);
}

const lr_plugin *lr_registry_find(rec_job *job, const char *name)
{
    char format[LR_NAME_MOST + 1], codecs[256];
    const lr_plugin *plugin = look(job, name, format), *codec, *other;
    lr_excerpt brief;
    if (plugin || lr_job_failed(job)) {
        return plugin;
    }
    codec = find_raw(job, REC_PLUGIN_CODEC, *format ? format : name);
    other = *format ? find_raw(job, REC_PLUGIN_FORMAT, format) : NULL;
    list_codecs(job, codecs, sizeof codecs);
    if (codec && !lr_job_failed(job)) {
        (void)rec_fail(job, REC_E_NOT_FOUND, REC_UNKNOWN, "%s is a codec, not a recorder", codec->d.name);
        rec_fail_hint(job, "Append it to a format, as in mpk.%s.", codec->d.extension);
    } else if (other && !lr_job_failed(job)) {
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "no recorder is called \"%s\": %s is in a codec already",
                       lr_excerpt_text(&brief, name), other->d.name);
    } else if (!lr_job_failed(job)) {
        lr_registry_missing(job, name, format);
        if (!*format && strchr(name, '.') && *codecs) {
            rec_fail_hint(job, "Codecs that can be appended to a format: %s.", codecs);
        }
    }
    return NULL;
}

/* -------------------------------------------------------------------------------------------------- extensions -- */

/* Finds the format for a path from which the extension of the codec is removed. */
static const lr_plugin *format_of(rec_job *job, lr_table *t, const char *path, lr_direction direction, size_t *length)
{
    size_t called = 0;
    const lr_file *near = lr_table_near(job, t, path, &called);
    lr_find *find = near ? lr_table_longest(job, t, path, direction, near, true, length) : NULL;
    if (!lr_job_failed(job) && (!find || *length < called || !lr_find_can(find, direction))) {
        find = lr_table_longest(job, t, path, direction, NULL, true, length);
    }
    return find ? find->use : NULL;
}

/* Returns `near` if the file named after the extension of `inner` contains the format. Else returns NULL: all files had
 * to be opened for it, so that the stack may be in any of them. */
static const lr_file *near_of_format(rec_job *job, lr_table *t, const lr_file *near, const lr_plugin *format,
                                     const char *inner)
{
    size_t length;
    const lr_file *file = near ? lr_table_near(job, t, inner, &length) : NULL;
    return file && strcmp(file->path, format->file) == 0 ? near : NULL;
}

/* Finds the combination of a format and a codec whose extensions the path ends in. */
static const lr_plugin *pair_ending(rec_job *job, const lr_look *l, const lr_file *near, const char *path,
                                    lr_direction direction, size_t *length)
{
    const lr_plugin *format = NULL, *codec = NULL;
    const lr_file *stacks = NULL;
    lr_place at = {.near = near};
    lr_find *find;
    *length = 0;
    while ((find = lr_table_next(job, l->t, &at))) {
        size_t tail = find->plugin.d.kind == REC_PLUGIN_CODEC ? lr_plugin_extension(&find->plugin.d, path) : 0;
        size_t head, size = strlen(path);
        const lr_plugin *found;
        char *inner;
        if (!tail) {
            continue;
        }
        inner = lr_job_alloc(job, size - tail);
        if (!inner) {
            return NULL;
        }
        memcpy(inner, path, size - tail - 1);
        inner[size - tail - 1] = '\0';
        found = format_of(job, l->t, inner, direction, &head);
        if (found && head + 1 + tail > *length) {
            format = found;
            codec = find->use;
            stacks = near_of_format(job, l->t, near, format, inner);
            *length = head + 1 + tail;
        }
        lr_release(job->allocator, inner);
    }
    return format && !lr_job_failed(job) ? pair_of(job, l, stacks, format, codec, NULL) : NULL;
}

/* Finds the recorder or the combination with the longest extension that the path ends in. */
static const lr_plugin *ending(rec_job *job, const lr_look *l, const lr_file *near, const char *path,
                               lr_direction direction, size_t *length)
{
    lr_find *find = lr_table_ending(job, l->t, path, direction, near);
    size_t longer = 0;
    const lr_plugin *pair = lr_job_failed(job) ? NULL : pair_ending(job, l, near, path, direction, &longer);
    *length = find ? lr_plugin_extension(lr_find_is(find), path) : 0;
    if (pair && longer > *length) {
        *length = longer;
        return pair;
    }
    return find && !lr_job_failed(job) ? find->use : NULL;
}

const lr_plugin *lr_registry_by_extension(rec_job *job, const char *path, lr_direction direction)
{
    lr_look l = lr_look_begin(job);
    size_t called = 0, length = 0;
    const lr_file *near = l.t ? lr_table_near(job, l.t, path, &called) : NULL;
    const lr_plugin *plugin = near ? ending(job, &l, near, path, direction, &length) : NULL;
    if (l.t && !lr_job_failed(job) && (!plugin || length < called || !lr_plugin_can(&plugin->d, direction))) {
        plugin = ending(job, &l, NULL, path, direction, &length);
    }
    lr_look_end(l);
    return plugin;
}

int32_t lr_registry_fail_extension(rec_job *job)
{
    (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "its name does not end in the extension of any recorder");
    rec_fail_hint(job, "Name the recorder; `record plugins` lists them with their extensions.");
    lr_registry_refused_hint(job);
    return job->error.status;
}

/* ------------------------------------------------------------------------------------------------- recognising -- */

/* A plugin of the near file that bids so much is taken without asking others. */
enum { BITS_DECIDE = 32 };

/* Asks a plugin for its bid. */
static int32_t ask(const rec_plugin *d, const rec_head *head)
{
    rec_head own = *head;
    own.user = d->user;
    return d->probe(&own);
}

int32_t lr_registry_bid(const rec_plugin *d, const rec_head *head)
{
    bool asked = d->probe && d->kind == REC_PLUGIN_FORMAT && (!head->names || (d->traits & REC_TRAIT_FOLDER));
    int32_t magic = asked && !head->names ? lr_plugin_magic(d, head) : 0;
    int32_t bits = asked && magic >= 0 ? ask(d, head) : 0;
    return bits > magic + LR_BITS_MORE ? magic + LR_BITS_MORE : bits;
}

/* Returns whether another of the considered plugins has the name of this one and can load. */
static bool is_hidden(rec_job *job, lr_table *t, const lr_file *near, const lr_find *find)
{
    lr_place at = {.near = near};
    const lr_find *first;
    if (!lr_find_can(find, LR_CAN_LOAD)) {
        return false;
    }
    if (!near) {
        return lr_table_named(job, t, find->plugin.d.kind, find->plugin.d.name, LR_CAN_LOAD) != find;
    }
    do {
        first = lr_table_next(job, t, &at);
    } while (first && !(lr_find_records(first) && lr_plugin_has_name(&first->plugin.d, find->plugin.d.name) &&
                        lr_find_can(first, LR_CAN_LOAD)));
    return first != find;
}

/* Returns the format with the highest bid. */
static const lr_plugin *surest(rec_job *job, lr_table *t, const lr_file *near, const rec_head *head, const char *path)
{
    const lr_find *best = NULL, *find;
    int32_t best_bits = 0;
    size_t best_length = 0;
    bool best_loads = false;
    lr_place at = {.near = near};
    while ((find = lr_table_next(job, t, &at))) {
        const rec_plugin *d = &find->plugin.d;
        int32_t bits = lr_registry_bid(d, head);
        size_t length = bits > 0 && path ? lr_plugin_extension(d, path) : 0;
        bool loads = d->load != NULL;
        bool better = loads != best_loads ? loads : bits > best_bits || (bits == best_bits && length > best_length);
        if (bits > 0 && (better || !best) && !is_hidden(job, t, near, find)) {
            best = find;
            best_bits = bits;
            best_length = length;
            best_loads = loads;
        }
    }
    return best && !lr_job_failed(job) ? best->use : NULL;
}

/* Returns whether the bid of a plugin of the near file is high enough, or its magic bytes were found. Magic bytes of a
 * bit or two, such as "any map" of MessagePack, stand on other files too. */
static bool decides(const lr_plugin *plugin, const rec_head *head)
{
    int32_t bits = plugin ? lr_registry_bid(&plugin->d, head) : 0;
    return bits > 0 && plugin->d.load &&
           (bits >= BITS_DECIDE || (!head->names && lr_plugin_magic(&plugin->d, head) >= LR_SURE_BITS));
}

const lr_plugin *lr_registry_recognise(rec_job *job, const rec_head *head, const char *path)
{
    lr_look l = lr_look_begin(job);
    size_t length = 0;
    const lr_file *near = l.t && path ? lr_table_near(job, l.t, path, &length) : NULL;
    const lr_plugin *plugin = near ? surest(job, l.t, near, head, path) : NULL;
    if (l.t && !lr_job_failed(job) && !decides(plugin, head)) {
        plugin = surest(job, l.t, NULL, head, path);
    }
    lr_look_end(l);
    return plugin;
}

/* Returns whether one of the considered plugins needs the end of the file. */
static bool wants_tail(rec_job *job, lr_table *t, const lr_file *near)
{
    lr_place at = {.near = near};
    lr_find *find;
    while ((find = lr_table_next(job, t, &at))) {
        const rec_plugin *d = &find->plugin.d;
        bool wants = (d->traits & REC_TRAIT_TAIL) != 0;
        for (size_t i = 0; !wants && d->magic && d->magic[i]; i++) {
            wants = d->magic[i]->offset < 0;
        }
        if (wants) {
            return true;
        }
    }
    return false;
}

/* Returns the bid of a codec, in bits. A codec without magic and probe is recognised by the extension. */
static int32_t codec_bits(const rec_plugin *d, const rec_head *head, const char *path)
{
    int32_t best = lr_plugin_magic(d, head), most;
    if (!d->magic && !d->probe) {
        return path && lr_plugin_extension(d, path) ? 1 : 0;
    }
    if (d->probe && best >= 0) {
        int32_t bits = ask(d, head);
        most = best + LR_BITS_MORE;
        bits = bits > most ? most : bits;
        best = bits < best || !d->magic ? bits : best;
    }
    return best;
}

/* Returns the codec with the highest bid. The codecs of the stacks in a near file count too. */
static const lr_plugin *surest_codec(rec_job *job, lr_table *t, const lr_file *near, const rec_head *head,
                                     const char *path, int32_t *bits)
{
    const lr_plugin *best = NULL;
    lr_place at = {.near = near};
    lr_find *find;
    *bits = 0;
    while ((find = lr_table_next(job, t, &at))) {
        bool stack = near && find->plugin.d.kind == REC_PLUGIN_STACK && lr_table_use(job, t, find);
        const lr_plugin *codec = stack ? find->use->codec : find->use;
        bool decodes = codec && codec->d.kind == REC_PLUGIN_CODEC && codec->d.decode;
        int32_t its = decodes ? codec_bits(&codec->d, head, path) : 0;
        if (its > *bits) {
            *bits = its;
            best = codec;
        }
    }
    return lr_job_failed(job) ? NULL : best;
}

/* Reads the first decoded bytes, up to the first error. The reads double in size, so that at least half of the
 * available bytes of a truncated or damaged file are read. */
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

/* Returns the name of the file without the extension of the codec. */
static const char *inner_name(const rec_plugin *codec, const char *name, char *text, size_t room)
{
    size_t tail = lr_plugin_extension(codec, name);
    (void)snprintf(text, room, "%.*s", (int)(strlen(name) - (tail ? tail + 1 : 0)), name);
    return text;
}

/* Decodes the beginning of the file and recognises the format in it. Returns the bid of that format. */
static int32_t look_inside(rec_job *job, const lr_file *near, rec_source *source, const char *path, uint8_t *data,
                           lr_recognised *found)
{
    char name[1024];
    rec_head head = {.size = sizeof head, .data = data, .total = REC_UNKNOWN};
    rec_source *decoded = NULL;
    const lr_plugin *format;
    /* A job of its own: a decoding error is no failure of the caller, and notes come when the file is loaded. */
    rec_job quiet;
    int32_t bits;
    lr_look l;
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
    l = lr_look_begin(job);
    near = l.t ? near_of_format(job, l.t, near, format, head.name) : NULL;
    found->plugin = l.t ? pair_of(job, &l, near, format, found->codec, path ? path : "") : NULL;
    lr_look_end(l);
    return found->plugin ? bits : 0;
}

/* Recognises a source. Returns whether the result is certain, so that other plugins need not be opened. */
static bool recognise_by(rec_job *job, const lr_file *near, rec_source *source, const char *path, lr_recognised *found)
{
    lr_look l = lr_look_begin(job);
    bool tail = l.t && !found->head.names && wants_tail(job, l.t, near);
    const lr_plugin *plain;
    int32_t bits = 0, inside;
    uint8_t *data;
    if (tail && lr_source_tail(job, source, &found->head) != REC_OK) {
        lr_look_end(l);
        return false;
    }
    plain = l.t ? surest(job, l.t, near, &found->head, path) : NULL;
    found->codec = l.t && !found->head.names ? surest_codec(job, l.t, near, &found->head, path, &bits) : NULL;
    lr_look_end(l);
    found->plugin = plain;
    if (!found->codec || lr_job_failed(job)) {
        return decides(plain, &found->head);
    }
    data = lr_job_alloc(job, HEAD_MOST);
    if (!data) {
        return false;
    }
    found->plugin = NULL;
    inside = look_inside(job, near, source, path, data, found);
    lr_release(job->allocator, data);
    /* The bytes that the source keeps may have moved while it was decoded. */
    if (rec_source_rewind(job, source) != REC_OK || lr_source_head(job, source, &found->head) != REC_OK ||
        (tail && lr_source_tail(job, source, &found->head) != REC_OK)) {
        return false;
    }
    if (!found->plugin || (plain && lr_registry_bid(&plain->d, &found->head) > inside + bits)) {
        found->plugin = plain;
        return decides(plain, &found->head);
    }
    return bits >= BITS_DECIDE || lr_plugin_magic(&found->codec->d, &found->head) >= LR_SURE_BITS;
}

int32_t lr_registry_recognise_source(rec_job *job, rec_source *source, const char *path, lr_recognised *found)
{
    const lr_file *near = NULL;
    size_t length = 0;
    *found = (lr_recognised){.head = {.size = sizeof found->head}};
    if (lr_source_head(job, source, &found->head) != REC_OK) {
        return job->error.status;
    }
    if (path) {
        lr_look l = lr_look_begin(job);
        near = l.t ? lr_table_near(job, l.t, path, &length) : NULL;
        lr_look_end(l);
    }
    if (!(near && recognise_by(job, near, source, path, found)) && !lr_job_failed(job)) {
        *found = (lr_recognised){.head = found->head};
        (void)recognise_by(job, NULL, source, path, found);
    }
    return job->error.status;
}

/* ------------------------------------------------------------------------------------------------ for programs -- */

const rec_plugin_info *rec_plugin_find(rec_context *context, const char *name)
{
    char format[LR_NAME_MOST + 1];
    rec_job job;
    const lr_plugin *plugin = NULL;
    const rec_plugin_info *info = NULL;
    if (LR_NULL(name)) {
        return NULL;
    }
    lr_job_open(&job, context, "plugins", NULL);
    plugin = lr_job_failed(&job) ? NULL : look(&job, name, format);
    for (int32_t kind = REC_PLUGIN_CODEC; !plugin && kind <= REC_PLUGIN_SCHEME; kind++) {
        plugin = find_raw(&job, kind, name); /* each kind has a namespace; recorders come first */
    }
    if (!plugin && !lr_job_failed(&job)) {
        (void)lr_registry_find(&job, name); /* sets the error */
    }
    if (plugin) {
        info = lr_registry_info_of(&job, plugin);
    }
    (void)lr_job_end(&job);
    return info;
}

const rec_plugin_info *rec_plugin_for_path(rec_context *context, const char *path)
{
    rec_job job;
    const lr_plugin *plugin = NULL;
    const rec_plugin_info *info = NULL;
    if (LR_NULL(path)) {
        return NULL;
    }
    lr_job_open(&job, context, "plugins", path);
    plugin = lr_job_failed(&job) ? NULL : lr_registry_by_extension(&job, path, LR_CAN_SAVE);
    if (plugin) {
        info = lr_registry_info_of(&job, plugin);
    } else if (!lr_job_failed(&job)) {
        (void)lr_registry_fail_extension(&job);
    }
    (void)lr_job_end(&job);
    return info;
}
