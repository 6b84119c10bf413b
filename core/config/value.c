/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Values of the configuration: words, names, numbers, folders. */
#include "core/config/config_private.h"

#include <stdio.h>
#include <string.h>

char *lr_config_copy(lr_config_parser *p, const char *text)
{
    return lr_job_arena_text(p->job, &p->config->arena, text, strlen(text));
}

int32_t lr_config_hint_suggestion(lr_config_parser *p, const lr_suggestion *near, const char *all)
{
    if (near->best) {
        rec_fail_hint(p->job, "Did you mean \"%s\"?", near->best);
    } else {
        rec_fail_hint(p->job, "Known: %s.", all);
    }
    return p->job->error.status;
}

int32_t lr_config_read_word(lr_config_parser *p, const char *key, const char *value, uint32_t line,
                            const char *const *words, uint64_t *number)
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

int32_t lr_config_read_precision(lr_config_parser *p, const char *value, uint32_t line, rec_precision *precision)
{
    static const char *const names[] = {"full", "half", "double", "keep", NULL};
    static const rec_precision numbers[] = {REC_PRECISION_FULL, REC_PRECISION_HALF, REC_PRECISION_DOUBLE,
                                            REC_PRECISION_KEEP};
    uint64_t index = 0;
    int32_t status = lr_config_read_word(p, "precision", value, line, names, &index);
    if (status == REC_OK) {
        *precision = numbers[index];
    }
    return status;
}

int32_t lr_config_check_name(lr_config_parser *p, const char *what, const char *name, uint32_t line)
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

int32_t lr_config_read_number(lr_config_parser *p, const lr_config_key *key, bool sized, const char *value,
                              uint32_t line, uint64_t *number)
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

int32_t lr_config_check_folders(lr_config_parser *p, const char *value, uint32_t line)
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
