/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A format combined with a codec, as a plugin like any other. It has the options of both. If both have an option of
 * one name, the name means the format's, and the codec's is prefixed with the codec's name, "zstd-level". */
#include "core/registry/table_private.h"

#include <stdio.h>
#include <string.h>

#include "core/io/io.h"

/** One that was put together. */
typedef struct stack {
    lr_plugin plugin;   /* the first member: a job's plugin leads here */
    rec_plugin inner;   /* the codec with the names and defaults that options have in this stack */
    const char **names; /* what each of them is called in the stack */
    uint64_t count;
} stack;

/* --------------------------------------------------------------------------------------------- loading, saving -- */

/* What the codec's options were set to, by the codec's own names; names that the format has say nothing of it. */
static lr_option_set *inner_options(rec_job *job, const stack *s)
{
    lr_option_set *first = NULL;
    for (uint64_t i = 0; i < s->count; i++) {
        const lr_option_set *set = job->options;
        const char *name = s->inner.options[i]->name;
        lr_option_set *copy;
        while (set && strcmp(set->name, s->names[i]) != 0) {
            set = set->next;
        }
        if (!set) {
            continue;
        }
        copy = lr_alloc(job->allocator, sizeof *copy + strlen(name) + 1);
        if (!copy) {
            (void)lr_fail_memory(job, sizeof *copy + strlen(name) + 1);
            break;
        }
        copy->next = first;
        copy->value = set->value;
        memcpy(copy->name, name, strlen(name) + 1);
        first = copy;
    }
    return first;
}

/* Calls the codec as itself: what it asks for are its own options. */
static int32_t call_codec(rec_job *job, const stack *s, rec_source *stored, rec_source **decoded, rec_sink *target,
                          rec_sink **encoding)
{
    const rec_plugin *plugin = job->plugin;
    const lr_option_set *options = job->options;
    lr_option_set *inner = inner_options(job, s);
    int32_t status = job->error.status;
    bool made = false;
    if (status == REC_OK) {
        job->plugin = &s->inner;
        job->options = inner;
        status = stored ? s->inner.decode(job, stored, decoded) : s->inner.encode(job, target, encoding);
        job->plugin = plugin;
        job->options = options;
        made = stored ? *decoded && *decoded != stored : *encoding && *encoding != target;
    }
    while (inner) {
        lr_option_set *next = inner->next;
        lr_release(job->allocator, inner);
        inner = next;
    }
    if (made && !(stored ? lr_source_take_back(*decoded) : lr_sink_is_made(job, *encoding))) {
        made = false;
        status = rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "the codec %s gave a %s that is not its own", s->inner.name,
                          stored ? "source" : "sink");
    }
    if (!lr_job_failed(job) && (status != REC_OK || !made)) {
        status = status != REC_OK
                     ? rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "the codec %s stopped without a reason (%d)",
                                s->inner.name, (int)status)
                     : rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "the codec %s added no filter", s->inner.name);
    }
    if (lr_job_failed(job)) { /* whatever it says itself */
        lr_source_release(made && stored ? *decoded : NULL);
        (void)rec_sink_close(made && !stored ? *encoding : NULL);
        if (stored) {
            *decoded = NULL;
        }
    }
    return job->error.status;
}

static int32_t load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    const stack *s = (const stack *)job->plugin;
    rec_source *decoded = NULL;
    int32_t status = call_codec(job, s, source, &decoded, NULL, NULL);
    if (status == REC_OK) {
        status = s->plugin.format->d.load(job, decoded, visitor, self);
        job->partly = job->partly || !lr_source_ended(decoded);
        lr_source_release(decoded);
    }
    return status;
}

static int32_t save(rec_job *job, rec_sink *sink)
{
    const stack *s = (const stack *)job->plugin;
    rec_sink *encoding = NULL;
    int32_t status = call_codec(job, s, NULL, NULL, sink, &encoding), closed;
    if (status == REC_OK) {
        lr_sink_lend(encoding, true);
        status = s->plugin.format->d.save(job, encoding);
        lr_sink_lend(encoding, false);
        closed = rec_sink_close(encoding);
        status = status != REC_OK ? status : closed;
    }
    return status;
}

int32_t lr_stack_decode(rec_job *job, const lr_plugin *codec, rec_source *stored, rec_source **out)
{
    const stack plain = {.inner = codec->d}; /* without options that were set: their defaults count */
    *out = NULL;
    return call_codec(job, &plain, stored, out, NULL, NULL);
}

/* ----------------------------------------------------------------------------------------- putting it together -- */

/** One on its way. */
typedef struct maker {
    rec_job *job;
    lr_arena *arena;
    stack *s;
    const rec_plugin *format, *codec;
    rec_option *copies; /* of all options: the codec's, then the format's */
    uint64_t inner_count, count;
    char *reason;
} maker;

#define REFUSE(m, ...) ((void)snprintf((m)->reason, LR_REASON, __VA_ARGS__), false)

static void *take(maker *m, uint64_t count, size_t each)
{
    void *memory = lr_arena_alloc(m->arena, (count ? count : 1) * each, 16); /* counts that were checked: small */
    if (!memory) {
        return LR_AS_NULL(lr_fail_memory(m->job, count * each));
    }
    return memset(memory, 0, (size_t)(count * each));
}

static const char *join(maker *m, const char *a, const char *between, const char *b)
{
    size_t size = strlen(a) + strlen(between) + strlen(b) + 1;
    char *text = take(m, size, 1);
    if (text) {
        (void)snprintf(text, size, "%s%s%s", a, between, b);
    }
    return text;
}

static uint64_t count_options(const rec_plugin *d)
{
    uint64_t count = 0;
    while (d->options && d->options[count]) {
        count++;
    }
    return count;
}

static void copy_option(rec_option *to, const rec_option *from)
{
    memcpy(to, from, from->size < sizeof *to ? from->size : sizeof *to);
    to->size = sizeof *to;
}

/* "zstd-level": the codec's name in the letters that an option's may have. */
static const char *long_name(maker *m, const char *option)
{
    char *text = take(m, strlen(m->codec->name) + strlen(option) + 2, 1);
    if (text) {
        size_t length = strlen(m->codec->name);
        for (size_t i = 0; i < length; i++) {
            char c = m->codec->name[i];
            text[i] = c == '.' ? '-' : (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
        }
        text[length] = '-';
        memcpy(text + length + 1, option, strlen(option) + 1);
    }
    return text;
}

/* The options of both, each a copy whose name and default are its own here. */
static bool gather_options(maker *m)
{
    const rec_option **all;
    uint64_t formats = count_options(m->format);
    m->inner_count = count_options(m->codec);
    m->count = m->inner_count + formats;
    all = take(m, m->count + 1, sizeof *all);
    m->copies = take(m, m->count, sizeof *m->copies);
    m->s->names = take(m, m->inner_count, sizeof *m->s->names);
    for (uint64_t i = 0; i < m->count && !lr_job_failed(m->job); i++) {
        bool inner = i < m->inner_count;
        copy_option(&m->copies[i], inner ? m->codec->options[i] : m->format->options[i - m->inner_count]);
        if (inner && lr_option_find(m->format, m->copies[i].name)) {
            m->copies[i].name = long_name(m, m->copies[i].name);
            if (m->copies[i].name && lr_option_find(m->format, m->copies[i].name)) {
                return REFUSE(m, "%s and %s both have an option \"%s\"", m->codec->name, m->format->name,
                              m->copies[i].name);
            }
        }
        if (inner) {
            m->s->names[i] = m->copies[i].name;
        }
        all[i] = &m->copies[i];
    }
    m->s->plugin.d.options = m->count ? all : NULL;
    return true;
}

/* "style=compact": another default of that option. */
static bool apply_preset(maker *m, const char *preset)
{
    const char *value = strchr(preset, '=') + 1; /* it was checked */
    size_t length = (size_t)(value - preset) - 1;
    char why[256];
    for (uint64_t i = 0; i < m->count; i++) {
        rec_option *option = &m->copies[i];
        if (strlen(option->name) == length && memcmp(option->name, preset, length) == 0) {
            option->initial = value;
            return lr_option_check(option, value, why, sizeof why) ||
                   REFUSE(m, "its preset \"%s\" is not %s", preset, why);
        }
    }
    return REFUSE(m, "its preset \"%s\" sets an option that neither %s nor %s has", preset, m->format->name,
                  m->codec->name);
}

/* Makes the codec's description with this stack's option names and defaults. */
static void make_inner(maker *m)
{
    const rec_option **options = take(m, m->inner_count + 1, sizeof *options);
    rec_option *copies = take(m, m->inner_count, sizeof *copies);
    m->s->inner = *m->codec;
    m->s->count = m->inner_count;
    for (uint64_t i = 0; i < m->inner_count && !lr_job_failed(m->job); i++) {
        copies[i] = m->copies[i];
        copies[i].name = m->codec->options[i]->name;
        options[i] = &copies[i];
    }
    m->s->inner.options = options;
}

/* "mpk.zst", and whatever else files of it may be called: each extension of the format with each of the codec. */
static void make_extensions(maker *m)
{
    rec_plugin *d = &m->s->plugin.d;
    uint64_t formats = 0, codecs = 0, made = 0;
    const char **all;
    d->extension = m->format->extension ? join(m, m->format->extension, ".", m->codec->extension) : NULL;
    while (m->format->extensions && m->format->extensions[formats]) {
        formats++;
    }
    while (m->codec->extensions && m->codec->extensions[codecs]) {
        codecs++;
    }
    all = take(m, (formats + 1) * (codecs + 1), sizeof *all);
    for (uint64_t i = 0; m->format->extension && i <= formats; i++) {
        for (uint64_t j = 0; j <= codecs && !lr_job_failed(m->job); j++) {
            if (i || j) {
                all[made++] = join(m, i ? m->format->extensions[i - 1] : m->format->extension, ".",
                                   j ? m->codec->extensions[j - 1] : m->codec->extension);
            }
        }
    }
    d->extensions = made ? all : NULL;
}

static bool make(maker *m, const lr_plugin *named)
{
    rec_plugin *d = &m->s->plugin.d;
    *d = *m->format; /* everything else is the format's */
    d->kind = REC_PLUGIN_STACK;
    d->format = m->format->name;
    d->codec = m->codec->name;
    d->probe = NULL; /* its files begin as the codec's do */
    d->magic = NULL;
    if (named) {
        d->name = named->d.name;
        d->aliases = named->d.aliases;
        d->extension = named->d.extension;
        d->extensions = named->d.extensions;
        d->description = named->d.description;
        d->burn_name = named->d.burn_name ? named->d.burn_name : d->burn_name;
        d->presets = named->d.presets;
        d->version = named->d.version;
        d->license = named->d.license;
    } else {
        d->name = join(m, m->format->name, ".", m->codec->extension);
        d->aliases = NULL;
        d->description = join(m, m->format->description, ", in ", m->codec->name);
    }
    d->traits = m->format->traits & ~(uint64_t)(REC_TRAIT_EXACT_SIZE | REC_TRAIT_FOLDER | REC_TRAIT_PLAIN);
    d->load = m->format->load && m->codec->decode ? load : NULL;
    d->save = m->format->save && m->codec->encode ? save : NULL;
    if (!named || !d->extension) {
        make_extensions(m);
    }
    if (!d->load && !d->save) {
        return REFUSE(m, "%s and %s together can neither load nor save", m->format->name, m->codec->name);
    }
    if (lr_job_failed(m->job) || !gather_options(m)) {
        return false;
    }
    for (size_t i = 0; !lr_job_failed(m->job) && d->presets && d->presets[i]; i++) {
        if (!apply_preset(m, d->presets[i])) {
            return false;
        }
    }
    if (!lr_job_failed(m->job)) {
        make_inner(m);
    }
    return !lr_job_failed(m->job);
}

const lr_plugin *lr_stack_make(rec_job *job, lr_arena *arena, const lr_plugin *named, const lr_plugin *format,
                               const lr_plugin *codec, char *reason)
{
    maker m = {.job = job, .arena = arena, .format = &format->d, .codec = &codec->d, .reason = reason};
    *reason = '\0';
    m.s = take(&m, 1, sizeof *m.s);
    if (!m.s || !make(&m, named)) {
        return NULL;
    }
    m.s->plugin.file = named ? named->file : format->file;
    m.s->plugin.format = format;
    m.s->plugin.codec = codec;
    return &m.s->plugin;
}
