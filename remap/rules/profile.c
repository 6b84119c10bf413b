/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Profiles: finds them, resolves `include` and `less`, and lists them for people to choose from. */
#include "remap/rules/rules_private.h"

#include <stdio.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An include of includes of includes: what stops is a mistake, long before it could take time. */
enum { DEPTH_MOST = 16, INCLUDES_MOST = 256 };

/** A file that was read. */
typedef struct lr_profile_ini {
    struct lr_profile_ini *next;
    lr_config *config;
    char path[];
} ini;

/** A profile that is being put together, and what includes it. */
typedef struct frame {
    const struct frame *outer;
    const lr_config *config;
    const lr_profile_section *section;
} frame;

/* ------------------------------------------------------------------------------------------------------- files -- */

void lr_library_begin(lr_library *library, rec_job *job)
{
    *library = (lr_library){.job = job, .own = job->context->config};
    lr_arena_init(&library->arena, job->allocator);
}

void lr_library_end(lr_library *library)
{
    while (library->files) {
        ini *next = library->files->next;
        lr_config_free(library->files->config);
        lr_release(library->job->allocator, library->files);
        library->files = next;
    }
    lr_arena_free(&library->arena);
}

/* Reads a file, once. NULL: the job has failed. */
static const lr_config *read_file(lr_library *library, const char *path)
{
    rec_job *job = library->job;
    size_t size = strlen(path) + 1;
    ini *file;
    for (file = library->files; file; file = file->next) {
        if (strcmp(file->path, path) == 0) {
            return file->config;
        }
    }
    file = lr_job_alloc(job, sizeof *file + size);
    if (!file) {
        return NULL;
    }
    memcpy(file->path, path, size);
    file->config = lr_config_new(job->allocator);
    if (!file->config) {
        lr_release(job->allocator, file);
        return LR_AS_NULL(lr_fail_memory(job, size));
    }
    file->next = library->files;
    library->files = file;
    return lr_config_read(job, file->config, path) == REC_OK ? file->config : NULL;
}

/* Lists the files that come with the library, once. */
static int32_t list_files(lr_library *library)
{
    if (!library->listed) {
        library->listed = lr_ini_files_find(library->job, &library->arena, "profiles", &library->data) == REC_OK;
    }
    return library->job->error.status;
}

int32_t lr_library_each(lr_library *library,
                        int32_t (*call)(void *user, const lr_config *config, const lr_profile_section *section),
                        void *user)
{
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < lr_config_profile_count(library->own) && status == REC_OK; i++) {
        status = call(user, library->own, lr_config_profile_at(library->own, i));
    }
    if (status == REC_OK) {
        status = list_files(library);
    }
    for (uint64_t i = 0; i < library->data.count && status == REC_OK; i++) {
        const lr_config *config = read_file(library, library->data.files[i]);
        status = library->job->error.status;
        for (uint64_t j = 0; config && j < lr_config_profile_count(config) && status == REC_OK; j++) {
            status = call(user, config, lr_config_profile_at(config, j));
        }
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------------- by name -- */

/** A search in all profiles. */
typedef struct search {
    const char *name;
    const lr_profile_section *except;  /**< the profile that asks: it does not mean itself */
    const lr_config *config;           /**< (out) */
    const lr_profile_section *section; /**< (out) */
    lr_suggestion near;
    char all[700];
} search;

static int32_t on_profile(void *user, const lr_config *config, const lr_profile_section *section)
{
    search *s = user;
    size_t used = strlen(s->all);
    if (!s->section && section != s->except && lr_name_same(section->name, s->name)) {
        s->config = config;
        s->section = section;
    }
    lr_suggestion_try(&s->near, section->name);
    if (used + strlen(section->name) + 8 < sizeof s->all) {
        (void)snprintf(s->all + used, sizeof s->all - used, "%s%s", used ? ", " : "", section->name);
    }
    return REC_OK;
}

static void hint_names(lr_library *library, const search *s)
{
    if (s->near.best) {
        rec_fail_hint(library->job, "Did you mean \"%s\"?", s->near.best);
    } else if (*s->all) {
        rec_fail_hint(library->job, "Known: %s.", s->all);
    }
}

/* Fails with or without the line that asks. */
static int32_t unknown(lr_library *library, const char *name, const search *s, const char *file, uint32_t line)
{
    lr_excerpt brief;
    if (file && lr_name_same(s->except->name, name)) {
        return lr_fail_line(library->job, REC_E_CONFIG, file, line,
                            "[profile %s] includes itself, and no other profile has that name", s->except->name);
    }
    if (file) {
        (void)lr_fail_line(library->job, REC_E_CONFIG, file, line, "unknown profile \"%s\"",
                           lr_excerpt_text(&brief, name));
    } else {
        (void)rec_fail(library->job, REC_E_NOT_FOUND, REC_UNKNOWN, "unknown profile \"%s\"",
                       lr_excerpt_text(&brief, name));
    }
    if (!library->data.count) {
        rec_fail_hint(library->job,
                      "librecord's own ones are not in %s.\nThe environment variable LIBRECORD_DATA names the "
                      "directory above it.",
                      library->data.folder);
    }
    hint_names(library, s);
    return library->job->error.status;
}

/* Returns the path of NAME.ini among the library's files, or NULL. */
static const char *file_named(const lr_library *library, const char *name)
{
    size_t length = strlen(name);
    for (uint64_t i = 0; i < library->data.count; i++) {
        const char *file = strrchr(library->data.files[i], '/') + 1;
        if (strncmp(file, name, length) == 0 && strcmp(file + length, ".ini") == 0) {
            return library->data.files[i];
        }
    }
    return NULL;
}

/* Finds a profile of the context's file, else one that comes with the library. NULL: the job has failed. */
static const lr_profile_section *find_named(lr_library *library, const char *name, const frame *asker, uint32_t line,
                                            const lr_config **config)
{
    search s = {.name = name, .except = asker ? asker->section : NULL};
    const char *path;
    const lr_profile_section *section = lr_config_find_profile(library->own, name);
    *config = library->own;
    if (section && section != s.except) {
        return section;
    }
    /* The file of that name first: the others need not be read. */
    path = list_files(library) == REC_OK ? file_named(library, name) : NULL;
    if (path) {
        *config = read_file(library, path);
        section = *config ? lr_config_find_profile(*config, name) : NULL;
        if (section && section != s.except) {
            return section;
        }
    }
    lr_suggestion_begin(&s.near, name);
    if (lr_job_failed(library->job) || lr_library_each(library, on_profile, &s) != REC_OK) {
        return NULL;
    }
    if (!s.section) {
        (void)unknown(library, name, &s, asker ? lr_config_file(asker->config) : NULL, line);
    }
    *config = s.config;
    return s.section;
}

/* Finds a profile of a file; `name` NULL: the only one. NULL: the job has failed. */
static const lr_profile_section *find_in_file(lr_library *library, const char *path, const char *name,
                                              const lr_config **config)
{
    const lr_profile_section *section = NULL;
    search s = {.name = name ? name : ""};
    uint64_t count;
    *config = read_file(library, path);
    if (!*config) {
        return NULL;
    }
    count = lr_config_profile_count(*config);
    section = name ? lr_config_find_profile(*config, name) : count == 1 ? lr_config_profile_at(*config, 0) : NULL;
    if (section) {
        return section;
    }
    lr_suggestion_begin(&s.near, name ? name : "");
    for (uint64_t i = 0; i < count; i++) {
        (void)on_profile(&s, *config, lr_config_profile_at(*config, i));
    }
    if (!count) {
        (void)lr_fail_line(library->job, REC_E_NOT_FOUND, path, 0, "it has no [profile NAME] in it");
    } else if (name) {
        lr_excerpt brief;
        (void)lr_fail_line(library->job, REC_E_NOT_FOUND, path, 0, "it has no [profile %s] in it",
                           lr_excerpt_text(&brief, name));
        hint_names(library, &s);
    } else {
        (void)lr_fail_line(library->job, REC_E_ARGUMENT, path, 0, "it has more than one profile: %s", s.all);
        rec_fail_hint(library->job, "Say which one: %s:%s.", path, lr_config_profile_at(*config, 0)->name);
    }
    return NULL;
}

/* Splits "FILE.ini" or "FILE.ini:NAME". @return the length of the file's part, 0 for a plain name. @param name (out)
 * may be NULL. */
static size_t file_part(const char *text, const char **name)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    *name = colon ? colon + 1 : NULL;
    if (length > 4 && memcmp(text + length - 4, ".ini", 4) == 0) {
        return length;
    }
    length = strlen(text);
    *name = NULL;
    return length > 4 && strcmp(text + length - 4, ".ini") == 0 ? length : 0;
}

/* Finds a profile by any spelling. @param beside the file that relative paths start from, or NULL. */
static const lr_profile_section *find(lr_library *library, const char *text, const frame *asker, const char *beside,
                                      uint32_t line, const lr_config **config)
{
    const char *name, *path;
    size_t length = file_part(text, &name);
    if (!length) {
        const lr_profile_section *near = asker ? lr_config_find_profile(asker->config, text) : NULL;
        if (near && near != asker->section) {
            *config = asker->config;
            return near;
        }
        return find_named(library, text, asker, line, config);
    }
    path = lr_job_arena_text(library->job, &library->arena, text, length);
    if (!path) {
        return NULL;
    }
    if (beside && *path != '/') {
        const char *slash = strrchr(beside, '/');
        path = slash
                   ? lr_job_arena_format(library->job, &library->arena, "%.*s/%s", (int)(slash - beside), beside, path)
                   : path;
    }
    if (path && asker && access(path, R_OK) != 0) {
        int error = errno;
        char words[256];
        (void)lr_fail_line(library->job, REC_E_CONFIG, lr_config_file(asker->config), line, "cannot open %s: %s", path,
                           lr_system_words(error, words, sizeof words));
        return LR_AS_NULL(lr_job_errno(library->job, error));
    }
    return path ? find_in_file(library, path, name, config) : NULL;
}

/* -------------------------------------------------------------------------------------------- putting together -- */

static int32_t build(lr_library *library, lr_rules *rules, const frame *f, uint32_t depth);

#define MISTAKE(library, f, line, ...) \
    lr_fail_line((library)->job, REC_E_CONFIG, lr_config_file((f)->config), (line), __VA_ARGS__)

/* "a includes b includes a" */
static int32_t cycle(lr_library *library, const frame *f, const lr_profile_section *again, uint32_t line)
{
    const frame *chain[DEPTH_MOST + 1];
    char text[512] = "";
    size_t count = 0, used = 0;
    for (const frame *at = f; at && count <= DEPTH_MOST; at = at->outer) {
        chain[count++] = at;
        if (at->section == again) {
            break;
        }
    }
    for (size_t i = count; i > 0 && used < sizeof text; i--) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s includes ", chain[i - 1]->section->name);
    }
    return MISTAKE(library, f, line, "%s%s", text, again->name);
}

static int32_t include(lr_library *library, lr_rules *rules, const frame *f, const lr_setting *line, uint32_t depth)
{
    frame inner = {.outer = f};
    inner.section = find(library, line->value, f, lr_config_file(f->config), line->line, &inner.config);
    if (!inner.section) {
        return library->job->error.status;
    }
    for (const frame *at = f; at; at = at->outer) {
        if (at->section == inner.section) {
            return cycle(library, f, inner.section, line->line);
        }
    }
    if (depth == DEPTH_MOST) {
        return MISTAKE(library, f, line->line, "more than %d includes in one another", DEPTH_MOST);
    }
    if (library->includes++ == INCLUDES_MOST) {
        return MISTAKE(library, f, line->line, "more than %d includes", INCLUDES_MOST);
    }
    return build(library, rules, &inner, depth + 1);
}

/* `KIND` or `KIND N`. @param number (out) 0: all. @return the kind, 0: the job has failed. */
static int32_t parse_less(lr_library *library, const frame *f, const lr_setting *line, uint64_t *number)
{
    char key[LR_NAME_MOST + 1];
    size_t length = strcspn(line->value, " \t");
    const char *rest = line->value + length + strspn(line->value + length, " \t");
    int64_t which = 0;
    int32_t kind;
    lr_excerpt brief;
    (void)snprintf(key, sizeof key, "%.*s", (int)(length < sizeof key ? length : sizeof key - 1), line->value);
    kind = lr_rule_kind(key);
    if (!kind) {
        lr_suggestion near;
        lr_suggestion_begin(&near, key);
        lr_words_suggest(&near, LR_FOR_RULES);
        (void)MISTAKE(library, f, line->line, "less is \"%s\", which is not a kind of rules",
                      lr_excerpt_text(&brief, line->value));
        if (near.best && lr_rule_kind(near.best)) {
            rec_fail_hint(library->job, "Did you mean \"%s\"?", near.best);
        } else {
            rec_fail_hint(library->job, "Write less = rope, or less = rename 1 for the first one of them.");
        }
        return 0;
    }
    if (*rest && (*rest == '0' || rest[strspn(rest, "0123456789")])) {
        (void)MISTAKE(library, f, line->line, "less is \"%s\": \"%s\" is not a number from 1 on", line->value, rest);
        return 0;
    }
    (void)lr_int_read(rest, &which); /* the highest for more */
    *number = (uint64_t)which;
    return kind;
}

/* Takes rules out of those that the last include brought: [begin, *end). */
static int32_t less(lr_library *library, lr_rules *rules, const frame *f, const lr_setting *line, uint64_t begin,
                    uint64_t *end)
{
    uint64_t number = 0, seen = 0;
    bool found = false;
    int32_t kind = parse_less(library, f, line, &number);
    if (!kind) {
        return library->job->error.status;
    }
    for (uint64_t i = begin; i < *end;) {
        bool hit = rules->rules[i].kind == kind && (++seen == number || !number);
        if (hit) {
            lr_rules_remove(rules, i);
            (*end)--;
            found = true;
        } else {
            i++;
        }
    }
    if (!found) {
        return MISTAKE(library, f, line->line, "less is \"%s\", but what is included before it has %llu such rules",
                       line->value, (unsigned long long)seen);
    }
    return REC_OK;
}

/* Rules in their order; switches and lets after all that is included, so that the profile's own ones count. */
static int32_t build(lr_library *library, lr_rules *rules, const frame *f, uint32_t depth)
{
    const lr_profile_section *section = f->section;
    uint64_t begin = 0, end = 0;
    bool included = false;
    int32_t status = REC_OK;
    char what[LR_NAME_MOST + 16];
    lr_location place = {.file = lr_config_file(f->config), .what = what};
    (void)snprintf(what, sizeof what, "[profile %s]", section->name);
    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t i = 0; i < section->setting_count && status == REC_OK; i++) {
            const lr_setting *line = &section->settings[i];
            bool includes = strcmp(line->key, "include") == 0, lacks = strcmp(line->key, "less") == 0;
            place.line = line->line;
            if (lr_word_find(line->key, LR_FOR_FAMILY)) {
                continue; /* no rule: it says what the files are known by (remap/recognise.c) */
            }
            if ((includes || lacks || lr_rule_kind(line->key)) != (pass == 0)) {
                continue;
            }
            if (includes) {
                included = true;
                begin = rules->count;
                status = include(library, rules, f, line, depth);
                end = rules->count;
            } else if (lacks && !included) {
                status = MISTAKE(library, f, line->line, "\"less\" precedes any include");
            } else if (lacks) {
                status = less(library, rules, f, line, begin, &end);
            } else {
                status = lr_rules_add(library->job, rules, line->key, line->value, true, &place, section->name);
            }
        }
    }
    return status;
}

/* A text of a section, for the rules made of it. */
static const char *keep(lr_library *library, lr_rules *rules, const char *text)
{
    return text ? lr_job_arena_text(library->job, &rules->arena, text, strlen(text)) : NULL;
}

lr_rules *lr_profile_load(rec_job *job, const char *name, const char *beside)
{
    lr_library library;
    lr_rules *rules = NULL;
    frame f = {0};
    lr_library_begin(&library, job);
    f.section = find(&library, name, NULL, beside, 0, &f.config);
    rules = f.section ? lr_rules_new(job) : NULL;
    if (rules && build(&library, rules, &f, 0) == REC_OK) {
        rules->name = keep(&library, rules, f.section->name);
        rules->description = keep(&library, rules, f.section->description);
        rules->source = keep(&library, rules, f.section->source);
        rules->destination = keep(&library, rules, f.section->destination);
    }
    if (lr_job_failed(job)) {
        lr_rules_free(rules);
        rules = NULL;
    }
    lr_library_end(&library);
    return rules;
}

/* ---------------------------------------------------------------------------------------------------- the list -- */

/** Made once for a context, and attached to it, so that what was handed out stays. */
typedef struct profile_list {
    lr_attached attached; /**< the first member */
    const lr_allocator *allocator;
    lr_arena arena; /**< of the strings */
    rec_profile_info *infos;
    uint64_t count, room;
} profile_list;

/** A list that is being filled. */
typedef struct filler {
    rec_job *job;
    profile_list *list;
} filler;

static void release(lr_attached *what)
{
    profile_list *l = (profile_list *)what;
    lr_release(l->allocator, l->infos);
    lr_arena_free(&l->arena);
    lr_release(l->allocator, l);
}

static const char *copy(filler *f, const char *text)
{
    return lr_job_arena_text(f->job, &f->list->arena, text ? text : "", text ? strlen(text) : 0);
}

/* A profile of the context's file hides one of its name that comes with the library. */
static int32_t add_profile(void *user, const lr_config *config, const lr_profile_section *section)
{
    filler *f = user;
    profile_list *l = f->list;
    const lr_builtin_file *builtin = lr_builtin_find(lr_config_file(config));
    for (uint64_t i = 0; i < l->count; i++) {
        if (lr_name_same(l->infos[i].name, section->name)) {
            return REC_OK;
        }
    }
    if (!lr_job_grow(f->job, &l->infos, l->count + 1, &l->room, sizeof *l->infos)) {
        return f->job->error.status;
    }
    l->infos[l->count] = (rec_profile_info){.size = sizeof(rec_profile_info),
                                            .name = copy(f, section->name),
                                            .description = copy(f, section->description),
                                            .source = copy(f, section->source),
                                            .destination = copy(f, section->destination),
                                            .file = copy(f, lr_config_file(config)),
                                            .text = builtin ? builtin->text : NULL};
    l->count += !lr_job_failed(f->job);
    return f->job->error.status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const rec_profile_info *)a)->name, ((const rec_profile_info *)b)->name);
}

/* NULL: the job has failed. */
static profile_list *make(rec_job *job)
{
    profile_list *l = lr_zalloc(job->allocator, sizeof *l);
    filler f = {.job = job, .list = l};
    lr_library library;
    if (!l) {
        return LR_AS_NULL(lr_fail_memory(job, sizeof *l));
    }
    l->attached.release = release;
    l->allocator = job->allocator;
    lr_arena_init(&l->arena, job->allocator);
    lr_library_begin(&library, job);
    (void)lr_library_each(&library, add_profile, &f);
    lr_library_end(&library);
    if (lr_job_failed(job)) {
        release(&l->attached);
        return NULL;
    }
    if (l->count) {
        qsort(l->infos, (size_t)l->count, sizeof *l->infos, by_name);
    }
    return l;
}

/* The context's list. Two threads may make it at once: the first one's counts. NULL: that failed. */
static const profile_list *get(rec_context *context)
{
    rec_job job;
    lr_attached *have;
    lr_job_open(&job, context, "profiles", NULL);
    have = lr_job_failed(&job) ? NULL : lr_context_attached(job.context, release);
    if (!have && !lr_job_failed(&job)) {
        profile_list *made = make(&job);
        have = made ? lr_context_attach(job.context, &made->attached) : NULL;
    }
    (void)lr_job_end(&job);
    return (const profile_list *)have;
}

uint64_t rec_profile_count(rec_context *context)
{
    const profile_list *l = get(context);
    return l ? l->count : 0;
}

const rec_profile_info *rec_profile_get(rec_context *context, uint64_t index)
{
    const profile_list *l = get(context);
    return l && index < l->count ? &l->infos[index] : NULL;
}
