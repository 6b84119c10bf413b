/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A configuration: what is in it, and how a file is read into it: which sections and keys there are and what their
 * values may be. Nothing of a file counts before all of it was read. docs/reference/configuration.md is the
 * reference. */
#include "core/config/config.h"

#include <stdio.h>
#include <string.h>

/** The keys of [librecord], by which its values are kept. */
enum {
    KEY_RECORDER,
    KEY_PRECISION,
    KEY_PLUGIN_PATH,
    KEY_PLUGINS,
    KEY_SOURCES,
    KEY_THREADS,
    KEY_MEMORY_FACTOR,
    KEY_MEMORY_SLACK,
    KEY_INFLATED_FACTOR,
    KEY_INFLATED_SLACK,
    KEY_DEPTH,
    KEY_ELEMENTS,
    KEYS
};

struct lr_config {
    const lr_allocator *allocator;
    lr_arena arena;
    const char *file;
    struct {
        const char *text;
        uint64_t number;
        uint32_t line; /**< 0: not set */
    } values[KEYS];
    lr_recorder_section *sections;
    uint64_t section_count, section_room;
    lr_profile_section *profiles;
    uint64_t profile_count, profile_room;
};

/** What [librecord] has a key for. */
typedef struct config_key {
    const char *name;
    int value; /**< how it is read */
    uint64_t minimum, maximum;
} config_key;

/** A file on its way into a configuration. */
typedef struct parser {
    rec_job *job;
    lr_config *config;            /**< the draft */
    uint32_t main_line;           /**< where [librecord] stands, 0 if nowhere yet */
    lr_recorder_section *section; /**< the recorder that is read, or */
    lr_profile_section *profile;  /**< the profile; both NULL: [librecord] */
    lr_setting *settings;         /**< its settings */
    uint64_t setting_room;
    uint32_t precision_line; /**< where its precision stands, 0 if nowhere */
} parser;

#define MISTAKE(p, line, ...) lr_fail_line((p)->job, REC_E_CONFIG, (p)->config->file, (line), __VA_ARGS__)

/* Makes it empty. What it had is not freed. */
static void reset(lr_config *config, const lr_allocator *allocator)
{
    *config = (lr_config){.allocator = allocator, .file = ""};
    lr_arena_init(&config->arena, allocator);
}

lr_config *lr_config_new(const lr_allocator *allocator)
{
    lr_config *config = lr_alloc(allocator, sizeof *config);
    if (config) {
        reset(config, allocator);
    }
    return config;
}

void lr_config_free(lr_config *config)
{
    lr_arena_free(&config->arena);
    lr_release(config->allocator, config);
}

/* ------------------------------------------------------------------------------------------------ the contents -- */

const char *lr_config_file(const lr_config *config)
{
    return config->file;
}

const char *lr_config_recorder(const lr_config *config, uint32_t *line)
{
    *line = config->values[KEY_RECORDER].line;
    return config->values[KEY_RECORDER].text;
}

rec_precision lr_config_precision(const lr_config *config)
{
    return (rec_precision)config->values[KEY_PRECISION].number;
}

const char *lr_config_plugin_path(const lr_config *config)
{
    return config->values[KEY_PLUGIN_PATH].text;
}

/* @return the number of a key; `otherwise` if it is not set. */
static uint64_t number_of(const lr_config *config, int key, uint64_t otherwise)
{
    return config->values[key].line ? config->values[key].number : otherwise;
}

void lr_config_apply(const lr_config *config, rec_context *context)
{
    rec_limits *limits = &context->limits;
    limits->memory_factor = number_of(config, KEY_MEMORY_FACTOR, limits->memory_factor);
    limits->memory_slack = number_of(config, KEY_MEMORY_SLACK, limits->memory_slack);
    limits->inflated_factor = number_of(config, KEY_INFLATED_FACTOR, limits->inflated_factor);
    limits->inflated_slack = number_of(config, KEY_INFLATED_SLACK, limits->inflated_slack);
    limits->elements = number_of(config, KEY_ELEMENTS, limits->elements);
    limits->depth = (uint32_t)number_of(config, KEY_DEPTH, limits->depth);
    context->threads = (uint32_t)number_of(config, KEY_THREADS, context->threads);
    context->plugins = (int32_t)number_of(config, KEY_PLUGINS, (uint64_t)context->plugins);
    context->sources = number_of(config, KEY_SOURCES, context->sources) == 1;
}

const lr_recorder_section *lr_config_find_recorder(const lr_config *config, const char *name)
{
    for (uint64_t i = 0; i < config->section_count; i++) {
        if (lr_name_same(config->sections[i].name, name)) {
            return &config->sections[i];
        }
    }
    return NULL;
}

uint64_t lr_config_recorder_count(const lr_config *config)
{
    return config->section_count;
}

const lr_recorder_section *lr_config_recorder_at(const lr_config *config, uint64_t index)
{
    return index < config->section_count ? &config->sections[index] : NULL;
}

const lr_profile_section *lr_config_find_profile(const lr_config *config, const char *name)
{
    for (uint64_t i = 0; i < config->profile_count; i++) {
        if (lr_name_same(config->profiles[i].name, name)) {
            return &config->profiles[i];
        }
    }
    return NULL;
}

uint64_t lr_config_profile_count(const lr_config *config)
{
    return config->profile_count;
}

const lr_profile_section *lr_config_profile_at(const lr_config *config, uint64_t index)
{
    return index < config->profile_count ? &config->profiles[index] : NULL;
}

/* ------------------------------------------------------------------------------------------------------ values -- */

/* Each function reports an invalid value with its line. */

/* NULL: the job has failed. */
static char *copy(parser *p, const char *text)
{
    return lr_job_arena_text(p->job, &p->config->arena, text, strlen(text));
}

/* @param all the words that may stand there. */
static int32_t hint_suggestion(parser *p, const lr_suggestion *near, const char *all)
{
    if (near->best) {
        rec_fail_hint(p->job, "Did you mean \"%s\"?", near->best);
    } else {
        rec_fail_hint(p->job, "Known: %s.", all);
    }
    return p->job->error.status;
}

/* @param words all that may stand there, NULL-terminated. @param number (out) its index. */
static int32_t read_word(parser *p, const char *key, const char *value, uint32_t line, const char *const *words,
                         uint64_t *number)
{
    char all[128] = "";
    lr_excerpt brief;
    lr_suggestion near;
    lr_suggestion_begin(&near, value);
    for (size_t i = 0; words[i]; i++) {
        size_t used = strlen(all);
        if (strcmp(words[i], value) == 0) {
            *number = i;
            return REC_OK;
        }
        lr_suggestion_try(&near, words[i]);
        (void)snprintf(all + used, sizeof all - used, "%s%s", !i ? "" : words[i + 1] ? ", " : " or ", words[i]);
    }
    (void)MISTAKE(p, line, "expected %s for %s, found \"%s\"", all, key, lr_excerpt_text(&brief, value));
    if (near.best) {
        rec_fail_hint(p->job, "Did you mean \"%s\"?", near.best);
    }
    return p->job->error.status;
}

static int32_t read_precision(parser *p, const char *value, uint32_t line, rec_precision *precision)
{
    static const char *const names[] = {"full", "half", "double", "keep", NULL};
    static const rec_precision numbers[] = {REC_PRECISION_FULL, REC_PRECISION_HALF, REC_PRECISION_DOUBLE,
                                            REC_PRECISION_KEEP};
    uint64_t index = 0;
    int32_t status = read_word(p, "precision", value, line, names, &index);
    if (status == REC_OK) {
        *precision = numbers[index];
    }
    return status;
}

/* @param what it names: "recorder". */
static int32_t check_name(parser *p, const char *what, const char *name, uint32_t line)
{
    lr_excerpt brief;
    if (strlen(name) > LR_NAME_MOST) {
        return MISTAKE(p, line, "the name \"%s\" is longer than %d bytes", lr_excerpt_text(&brief, name), LR_NAME_MOST);
    }
    if (!lr_name_valid(name)) {
        return MISTAKE(p, line, "\"%s\" cannot name a %s: it may have letters, digits, \".\", \"_\" and \"-\"",
                       lr_excerpt_text(&brief, name), what);
    }
    return REC_OK;
}

/* @param sized whether it may end in KiB, MiB or GiB. */
static int32_t read_number(parser *p, const config_key *key, bool sized, const char *value, uint32_t line,
                           uint64_t *number)
{
    lr_excerpt brief;
    if (lr_size_read(value, number) && (sized || lr_is_digit(value[strlen(value) - 1])) && *number >= key->minimum &&
        *number <= key->maximum) {
        return REC_OK;
    }
    if (sized) {
        (void)MISTAKE(p, line, "%s is \"%s\", which is not a size", key->name, lr_excerpt_text(&brief, value));
        rec_fail_hint(p->job, "Write bytes, or a whole number of KiB, MiB or GiB: 64 MiB.");
    } else if (key->maximum == INT64_MAX) {
        (void)MISTAKE(p, line, "%s is \"%s\", which is not a whole number", key->name, lr_excerpt_text(&brief, value));
    } else {
        (void)MISTAKE(p, line, "%s is \"%s\", which is not a whole number from %llu to %llu", key->name,
                      lr_excerpt_text(&brief, value), (unsigned long long)key->minimum,
                      (unsigned long long)key->maximum);
    }
    return p->job->error.status;
}

static int32_t check_folders(parser *p, const char *value, uint32_t line)
{
    for (const char *folder = value;; folder = strchr(folder, ':') + 1) {
        if (*folder != '/') {
            lr_excerpt brief;
            char text[LR_NAME_MOST + 2];
            (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(folder, ":"), folder);
            (void)MISTAKE(p, line, "plugin_path has \"%s\", which is not an absolute path",
                          lr_excerpt_text(&brief, text));
            return LR_HINT(p->job, "Directories begin with / and are separated by colons.");
        }
        if (!strchr(folder, ':')) {
            return REC_OK;
        }
    }
}

/* Bounds that keep look-ups quick and messages readable. */
enum { SECTIONS_MOST = 1000, SETTINGS_MOST = 256, RULES_MOST = 10000, LINE_MOST = 500 };

/** How a value of [librecord] is read. */
enum { VALUE_NAME = 1, VALUE_PRECISION, VALUE_FOLDERS, VALUE_PLUGINS, VALUE_SWITCH, VALUE_NUMBER, VALUE_SIZE };

/** The keys of [librecord]. Bounds are those of rec_context_set_threads() and rec_limits. */
static const config_key keys[KEYS] = {
    [KEY_RECORDER] = {"recorder", VALUE_NAME, 0, 0},
    [KEY_PRECISION] = {"precision", VALUE_PRECISION, 0, 0},
    [KEY_PLUGIN_PATH] = {"plugin_path", VALUE_FOLDERS, 0, 0},
    [KEY_PLUGINS] = {"plugins", VALUE_PLUGINS, 0, 0},
    [KEY_SOURCES] = {"sources", VALUE_SWITCH, 0, 0},
    [KEY_THREADS] = {"threads", VALUE_NUMBER, 1, 64},
    [KEY_MEMORY_FACTOR] = {"memory_factor", VALUE_NUMBER, 1, 1000000},
    [KEY_MEMORY_SLACK] = {"memory_slack", VALUE_SIZE, 0, INT64_MAX},
    [KEY_INFLATED_FACTOR] = {"inflated_factor", VALUE_NUMBER, 1, 1000000},
    [KEY_INFLATED_SLACK] = {"inflated_slack", VALUE_SIZE, 0, INT64_MAX},
    [KEY_DEPTH] = {"depth", VALUE_NUMBER, 8, 200},
    [KEY_ELEMENTS] = {"elements", VALUE_NUMBER, 0, INT64_MAX},
};

/* ------------------------------------------------------------------------------------------------- [librecord] -- */

static int32_t main_setting(parser *p, const char *key, const char *value, uint32_t line)
{
    static const char *const plugins[] = {
        [REC_PLUGINS_ALL] = "all", [REC_PLUGINS_INSTALLED] = "installed", [REC_PLUGINS_NONE] = "none", NULL};
    static const char *const switches[] = {"no", "yes", NULL};
    lr_config *config = p->config;
    int32_t status = REC_OK;
    rec_precision precision = REC_PRECISION_DEFAULT;
    size_t i = 0;
    while (i < KEYS && strcmp(keys[i].name, key) != 0) {
        i++;
    }
    if (i == KEYS) {
        lr_suggestion near;
        char all[256] = "";
        lr_suggestion_begin(&near, key);
        for (i = 0; i < KEYS; i++) {
            size_t used = strlen(all);
            lr_suggestion_try(&near, keys[i].name);
            (void)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", keys[i].name);
        }
        (void)MISTAKE(p, line, "[librecord] has no key \"%s\"", key);
        return hint_suggestion(p, &near, all);
    }
    if (config->values[i].line) {
        return MISTAKE(p, line, "\"%s\" occurs twice in [librecord], first in line %u", key,
                       (unsigned)config->values[i].line);
    }
    switch (keys[i].value) {
    case VALUE_NAME:
        status = check_name(p, "recorder", value, line);
        break;
    case VALUE_FOLDERS:
        status = check_folders(p, value, line);
        break;
    case VALUE_PLUGINS:
        status = read_word(p, key, value, line, plugins, &config->values[i].number);
        break;
    case VALUE_SWITCH:
        status = read_word(p, key, value, line, switches, &config->values[i].number);
        break;
    case VALUE_PRECISION:
        status = read_precision(p, value, line, &precision);
        config->values[i].number = (uint64_t)precision;
        break;
    default:
        status = read_number(p, &keys[i], keys[i].value == VALUE_SIZE, value, line, &config->values[i].number);
        break;
    }
    if (status == REC_OK) {
        config->values[i].line = line;
        config->values[i].text = copy(p, value);
        status = p->job->error.status;
    }
    return status;
}

/* --------------------------------------------------------------------------------------------- [recorder NAME] -- */

/* Appends a line to the section that is read. */
static int32_t add_setting(parser *p, const lr_setting **settings, uint64_t *count, const char *key, const char *value,
                           uint32_t line)
{
    lr_setting setting = {.line = line};
    if (!lr_job_arena_grow(p->job, &p->config->arena, &p->settings, *count + 1, &p->setting_room, sizeof setting)) {
        return p->job->error.status;
    }
    *settings = p->settings;
    setting.key = copy(p, key);
    setting.value = copy(p, value);
    if (setting.key && setting.value) {
        p->settings[(*count)++] = setting;
    }
    return p->job->error.status;
}

/* The lines of the section that ends here were all read. */
static int32_t end_section(parser *p)
{
    if (p->section && !p->section->plugin) {
        (void)MISTAKE(p, p->section->line, "[recorder %s] has no plugin", p->section->name);
        return LR_HINT(p->job, "Set it: plugin = NAME.");
    }
    return REC_OK;
}

/** The head of a section, [KIND NAME]. */
typedef struct head {
    const char *kind, *name;
    uint32_t line;
} head;

/* Checks the head of a section that begins. @param earlier one of the same name; its name is NULL if this is the first.
 * @param count of sections of the kind so far. @return the copied name. NULL: the job has failed. */
static const char *begin_named(parser *p, const head *begun, const head *earlier, uint64_t count)
{
    if (!*begun->name) {
        (void)MISTAKE(p, begun->line, "[%s] has no name", begun->kind);
        rec_fail_hint(p->job, "Give it one: [%s NAME].", begun->kind);
    } else if (check_name(p, begun->kind, begun->name, begun->line) != REC_OK) {
        return NULL;
    } else if (earlier->name) {
        (void)MISTAKE(p, begun->line, "[%s %s] occurs twice, first in line %u as [%s %s]", begun->kind, begun->name,
                      (unsigned)earlier->line, begun->kind, earlier->name);
    } else if (count == SECTIONS_MOST) {
        (void)MISTAKE(p, begun->line, "more than %d %ss", SECTIONS_MOST, begun->kind);
    }
    p->settings = NULL;
    p->setting_room = 0;
    p->precision_line = 0;
    return lr_job_failed(p->job) ? NULL : copy(p, begun->name);
}

static int32_t begin_recorder(parser *p, const char *name, uint32_t line)
{
    lr_config *config = p->config;
    const lr_recorder_section *same = lr_config_find_recorder(config, name);
    const head begun = {"recorder", name, line},
               earlier = {"recorder", same ? same->name : NULL, same ? same->line : 0};
    const char *own;
    if (lr_name_same(name, "Auto")) {
        return MISTAKE(p, line, "[recorder %s]: that name belongs to librecord itself", name);
    }
    own = begin_named(p, &begun, &earlier, config->section_count);
    if (own && lr_job_arena_grow(p->job, &config->arena, &config->sections, config->section_count + 1,
                                 &config->section_room, sizeof *config->sections)) {
        p->section = &config->sections[config->section_count++];
        *p->section = (lr_recorder_section){.name = own, .line = line};
    }
    return p->job->error.status;
}

static int32_t twice(parser *p, const char *key, uint32_t line, uint32_t first)
{
    return MISTAKE(p, line, "\"%s\" occurs twice in [recorder %s], first in line %u", key, p->section->name,
                   (unsigned)first);
}

/* Whether the option exists is checked when the recorder is opened: only its plugin knows. */
static int32_t option_setting(parser *p, const char *key, const char *value, uint32_t line)
{
    lr_recorder_section *section = p->section;
    const lr_word *word = lr_word_find(key, LR_IN_ARGUMENTS);
    for (uint64_t i = 0; i < section->setting_count && !(word && word->adds); i++) {
        if (strcmp(section->settings[i].key, key) == 0) {
            return twice(p, key, line, section->settings[i].line);
        }
    }
    if (!lr_key_valid(key)) {
        return MISTAKE(p, line, "\"%s\" names no option: options have small letters, digits, \"_\" and \"-\"", key);
    }
    if (section->setting_count == SETTINGS_MOST) {
        return MISTAKE(p, line, "more than %d options in [recorder %s]", SETTINGS_MOST, section->name);
    }
    return add_setting(p, &section->settings, &section->setting_count, key, value, line);
}

static int32_t recorder_setting(parser *p, const char *key, const char *value, uint32_t line)
{
    lr_recorder_section *section = p->section;
    if (strcmp(key, "plugin") == 0) {
        if (section->plugin) {
            return twice(p, key, line, section->plugin_line);
        }
        if (check_name(p, "recorder", value, line) != REC_OK) {
            return p->job->error.status;
        }
        section->plugin = copy(p, value);
        section->plugin_line = line;
        return p->job->error.status;
    }
    if (strcmp(key, "precision") == 0) {
        if (p->precision_line) {
            return twice(p, key, line, p->precision_line);
        }
        p->precision_line = line;
        return read_precision(p, value, line, &section->precision);
    }
    return option_setting(p, key, value, line);
}

/* ---------------------------------------------------------------------------------------------- [profile NAME] -- */

static int32_t begin_profile(parser *p, const char *name, uint32_t line)
{
    lr_config *config = p->config;
    const lr_profile_section *same = lr_config_find_profile(config, name);
    const head begun = {"profile", name, line}, earlier = {"profile", same ? same->name : NULL, same ? same->line : 0};
    const char *own = begin_named(p, &begun, &earlier, config->profile_count);
    if (own && lr_job_arena_grow(p->job, &config->arena, &config->profiles, config->profile_count + 1,
                                 &config->profile_room, sizeof *config->profiles)) {
        p->profile = &config->profiles[config->profile_count++];
        *p->profile = (lr_profile_section){.name = own, .line = line};
    }
    return p->job->error.status;
}

static int32_t unknown_profile_key(parser *p, const char *key, uint32_t line)
{
    char all[512];
    lr_suggestion near;
    lr_suggestion_begin(&near, key);
    lr_words_suggest(&near, LR_IN_PROFILE);
    if (strcmp(key, "extends") == 0 || strcmp(key, "inherits") == 0) {
        near.best = "include";
    }
    (void)MISTAKE(p, line, "[profile %s] has no key \"%s\"", p->profile->name, key);
    return hint_suggestion(p, &near, lr_words_list(all, sizeof all, LR_IN_PROFILE));
}

/* One of the texts about a profile, each of which is a line. */
static int32_t profile_line(parser *p, const char **text, const char *key, const char *value, uint32_t line)
{
    if (*text) {
        return MISTAKE(p, line, "\"%s\" occurs twice in [profile %s]", key, p->profile->name);
    }
    if (strlen(value) > LINE_MOST) {
        return MISTAKE(p, line, "the %s is longer than %d bytes", key, LINE_MOST);
    }
    *text = copy(p, value);
    return p->job->error.status;
}

/* Whether a rule is one is checked when the profile is used. */
static int32_t profile_setting(parser *p, const char *key, const char *value, uint32_t line)
{
    lr_profile_section *profile = p->profile;
    const lr_word *word = lr_word_find(key, LR_IN_PROFILE);
    const struct {
        int32_t word;
        const char **text;
    } lines[] = {
        {LR_WORD_DESCRIPTION, &profile->description}, {LR_WORD_SOURCE, &profile->source},
        {LR_WORD_DESTINATION, &profile->destination}, {LR_WORD_FAMILY, &profile->family},
        {LR_WORD_OTHERS, &profile->others},           {LR_WORD_DOUBT, &profile->doubt},
        {LR_WORD_MODEL_TYPE, &profile->model_type},   {LR_WORD_ARCHITECTURE, &profile->architecture},
    };
    if (!word) {
        return unknown_profile_key(p, key, line);
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (lines[i].word == word->which) {
            return profile_line(p, lines[i].text, key, value, line);
        }
    }
    for (uint64_t i = 0; i < profile->setting_count && !word->adds; i++) {
        if (strcmp(profile->settings[i].key, key) == 0) {
            return MISTAKE(p, line, "\"%s\" occurs twice in [profile %s], first in line %u", key, profile->name,
                           (unsigned)profile->settings[i].line);
        }
    }
    if (profile->setting_count == RULES_MOST) {
        return MISTAKE(p, line, "more than %d lines in [profile %s]", RULES_MOST, profile->name);
    }
    return add_setting(p, &profile->settings, &profile->setting_count, key, value, line);
}

/* ---------------------------------------------------------------------------------------------------- the file -- */

static int32_t unknown_section(parser *p, const char *text, const char *kind, uint32_t line)
{
    lr_excerpt brief;
    lr_suggestion near;
    lr_suggestion_begin(&near, kind);
    lr_suggestion_try(&near, "librecord");
    lr_suggestion_try(&near, "recorder");
    lr_suggestion_try(&near, "profile");
    (void)MISTAKE(p, line, "unknown section [%s]", lr_excerpt_text(&brief, text));
    if (near.best) {
        rec_fail_hint(p->job, "Did you mean [%s%s]?", near.best, near.best[0] == 'l' ? "" : " NAME");
    } else {
        rec_fail_hint(p->job, "Known: [librecord], [recorder NAME], [profile NAME].");
    }
    return p->job->error.status;
}

static int32_t on_section(void *user, const char *text, uint32_t line)
{
    parser *p = user;
    char kind[LR_NAME_MOST + 1];
    size_t length = strcspn(text, " \t");
    const char *name = text + length + strspn(text + length, " \t");
    if (end_section(p) != REC_OK) {
        return p->job->error.status;
    }
    p->section = NULL;
    p->profile = NULL;
    (void)snprintf(kind, sizeof kind, "%.*s", (int)(length < sizeof kind ? length : sizeof kind), text);
    if (strcmp(kind, "recorder") == 0) {
        return begin_recorder(p, name, line);
    }
    if (strcmp(kind, "profile") == 0) {
        return begin_profile(p, name, line);
    }
    if (strcmp(kind, "librecord") != 0 || *name) {
        return unknown_section(p, text, kind, line);
    }
    if (p->main_line) {
        return MISTAKE(p, line, "[librecord] occurs twice, first in line %u", (unsigned)p->main_line);
    }
    p->main_line = line;
    return REC_OK;
}

static int32_t on_setting(void *user, const char *key, const char *value, uint32_t line)
{
    parser *p = user;
    return p->section   ? recorder_setting(p, key, value, line)
           : p->profile ? profile_setting(p, key, value, line)
                        : main_setting(p, key, value, line);
}

int32_t lr_config_read(rec_job *job, lr_config *config, const char *path)
{
    static const lr_ini_reader reader = {.section = on_section,
                                         .setting = on_setting,
                                         .begin = "Begin with [librecord], [recorder NAME] or [profile NAME].",
                                         .no_value = "Remove the line for the default."};
    lr_config draft;
    parser p = {.job = job, .config = &draft};
    int32_t status;
    reset(&draft, config->allocator);
    draft.file = copy(&p, path);
    status = draft.file ? lr_ini_read(job, path, &reader, &p) : job->error.status;
    if (status == REC_OK) {
        status = end_section(&p);
    }
    if (status == REC_OK) {
        lr_config old = *config;
        *config = draft;
        draft = old;
    }
    lr_arena_free(&draft.arena);
    return status;
}
