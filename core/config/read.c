/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Reading a configuration: which sections and keys there are and what their values may be. Nothing of a file counts
 * before all of it was read. docs/reference/configuration.md is the reference. */
#include "core/config/config_private.h"

#include <stdio.h>
#include <string.h>

/* Bounds that keep look-ups quick and messages readable. */
enum { SECTIONS_MOST = 1000, SETTINGS_MOST = 256, RULES_MOST = 10000, LINE_MOST = 500 };

/** How a value of [librecord] is read. */
enum { VALUE_NAME = 1, VALUE_PRECISION, VALUE_FOLDERS, VALUE_PLUGINS, VALUE_SWITCH, VALUE_NUMBER, VALUE_SIZE };

/** The keys of [librecord]. Bounds are those of rec_context_set_threads() and rec_limits. */
static const lr_config_key keys[KEYS] = {
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

static int32_t main_setting(lr_config_parser *p, const char *key, const char *value, uint32_t line)
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
        return lr_config_hint_suggestion(p, &near, all);
    }
    if (config->values[i].line) {
        return MISTAKE(p, line, "\"%s\" occurs twice in [librecord], first in line %u", key,
                       (unsigned)config->values[i].line);
    }
    switch (keys[i].value) {
    case VALUE_NAME:
        status = lr_config_check_name(p, "recorder", value, line);
        break;
    case VALUE_FOLDERS:
        status = lr_config_check_folders(p, value, line);
        break;
    case VALUE_PLUGINS:
        status = lr_config_read_word(p, key, value, line, plugins, &config->values[i].number);
        break;
    case VALUE_SWITCH:
        status = lr_config_read_word(p, key, value, line, switches, &config->values[i].number);
        break;
    case VALUE_PRECISION:
        status = lr_config_read_precision(p, value, line, &precision);
        config->values[i].number = (uint64_t)precision;
        break;
    default:
        status =
            lr_config_read_number(p, &keys[i], keys[i].value == VALUE_SIZE, value, line, &config->values[i].number);
        break;
    }
    if (status == REC_OK) {
        config->values[i].line = line;
        config->values[i].text = lr_config_copy(p, value);
        status = p->job->error.status;
    }
    return status;
}

/* --------------------------------------------------------------------------------------------- [recorder NAME] -- */

/* Appends a line to the section that is read. */
static int32_t add_setting(lr_config_parser *p, const lr_setting **settings, uint64_t *count, const char *key,
                           const char *value, uint32_t line)
{
    lr_setting setting = {.line = line};
    if (!lr_job_arena_grow(p->job, &p->config->arena, &p->settings, *count + 1, &p->setting_room, sizeof setting)) {
        return p->job->error.status;
    }
    *settings = p->settings;
    setting.key = lr_config_copy(p, key);
    setting.value = lr_config_copy(p, value);
    if (setting.key && setting.value) {
        p->settings[(*count)++] = setting;
    }
    return p->job->error.status;
}

/* The lines of the section that ends here were all read. */
static int32_t end_section(lr_config_parser *p)
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
static const char *begin_named(lr_config_parser *p, const head *begun, const head *earlier, uint64_t count)
{
    if (!*begun->name) {
        (void)MISTAKE(p, begun->line, "[%s] has no name", begun->kind);
        rec_fail_hint(p->job, "Give it one: [%s NAME].", begun->kind);
    } else if (lr_config_check_name(p, begun->kind, begun->name, begun->line) != REC_OK) {
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
    return lr_job_failed(p->job) ? NULL : lr_config_copy(p, begun->name);
}

static int32_t begin_recorder(lr_config_parser *p, const char *name, uint32_t line)
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

static int32_t twice(lr_config_parser *p, const char *key, uint32_t line, uint32_t first)
{
    return MISTAKE(p, line, "\"%s\" occurs twice in [recorder %s], first in line %u", key, p->section->name,
                   (unsigned)first);
}

/* Whether the option exists is checked when the recorder is opened: only its plugin knows. */
static int32_t option_setting(lr_config_parser *p, const char *key, const char *value, uint32_t line)
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

static int32_t recorder_setting(lr_config_parser *p, const char *key, const char *value, uint32_t line)
{
    lr_recorder_section *section = p->section;
    if (strcmp(key, "plugin") == 0) {
        if (section->plugin) {
            return twice(p, key, line, section->plugin_line);
        }
        if (lr_config_check_name(p, "recorder", value, line) != REC_OK) {
            return p->job->error.status;
        }
        section->plugin = lr_config_copy(p, value);
        section->plugin_line = line;
        return p->job->error.status;
    }
    if (strcmp(key, "precision") == 0) {
        if (p->precision_line) {
            return twice(p, key, line, p->precision_line);
        }
        p->precision_line = line;
        return lr_config_read_precision(p, value, line, &section->precision);
    }
    return option_setting(p, key, value, line);
}

/* ---------------------------------------------------------------------------------------------- [profile NAME] -- */

static int32_t begin_profile(lr_config_parser *p, const char *name, uint32_t line)
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

static int32_t unknown_profile_key(lr_config_parser *p, const char *key, uint32_t line)
{
    char all[512];
    lr_suggestion near;
    lr_suggestion_begin(&near, key);
    lr_words_suggest(&near, LR_IN_PROFILE);
    if (strcmp(key, "extends") == 0 || strcmp(key, "inherits") == 0) {
        near.best = "include";
    }
    (void)MISTAKE(p, line, "[profile %s] has no key \"%s\"", p->profile->name, key);
    return lr_config_hint_suggestion(p, &near, lr_words_list(all, sizeof all, LR_IN_PROFILE));
}

/* One of the texts about a profile, each of which is a line. */
static int32_t profile_line(lr_config_parser *p, const char **text, const char *key, const char *value, uint32_t line)
{
    if (*text) {
        return MISTAKE(p, line, "\"%s\" occurs twice in [profile %s]", key, p->profile->name);
    }
    if (strlen(value) > LINE_MOST) {
        return MISTAKE(p, line, "the %s is longer than %d bytes", key, LINE_MOST);
    }
    *text = lr_config_copy(p, value);
    return p->job->error.status;
}

/* Whether a rule is one is checked when the profile is used. */
static int32_t profile_setting(lr_config_parser *p, const char *key, const char *value, uint32_t line)
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

static int32_t unknown_section(lr_config_parser *p, const char *text, const char *kind, uint32_t line)
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
    lr_config_parser *p = user;
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
    lr_config_parser *p = user;
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
    lr_config_parser p = {.job = job, .config = &draft};
    int32_t status;
    lr_config_reset(&draft, config->allocator);
    draft.file = lr_config_copy(&p, path);
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
