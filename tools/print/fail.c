/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Errors: what went wrong, and hints, on standard error. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/print/print.h"

static text *diverted;

text *tool_fail_divert(text *to)
{
    text *before = diverted;

    diverted = to;
    return before;
}

/* "record: " and the text; lines after the first one are hints and stand two spaces in. */
static void complain(const char *message)
{
    text safe = {0};
    bool first = true;

    if (diverted) {
        tool_text_format(diverted, "%s%s", diverted->length ? "\n" : "", message);
        return;
    }
    while (*message || first) {
        size_t length = strcspn(message, "\n"), indent = strspn(message, " ");
        if (!first) {
            tool_text_put(&safe, indent < length && indent < 2 ? &"  "[indent] : "");
        }
        tool_text_safe(&safe, message, length);
        tool_text_put(&safe, "\n");
        message += length + (message[length] == '\n');
        first = false;
    }
    tool_progress_wipe();
    fprintf(stderr, "%srecord:%s %s", tool_style_error(STYLE_ERROR), tool_style_error(STYLE_PLAIN), safe.at);
    tool_text_free(&safe);
}

int tool_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    char *message = xvasprintf(format, args);
    va_end(args);
    complain(message);
    free(message);
    return EXIT_ERROR;
}

int tool_fail_usage(const char *command, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    char *message = xvasprintf(format, args);
    va_end(args);
    (void)tool_fail("%s\nrecord %s%s--help shows how it is used.", message, command ? command : "", command ? " " : "");
    free(message);
    return EXIT_ERROR;
}

static bool unsynced;

int tool_saved(rec_status status)
{
    if (status != REC_OK) {
        (void)tool_fail_library();
    }
    unsynced = unsynced || status == REC_E_SYNC;
    if (status != REC_OK && status != REC_E_SYNC) {
        return EXIT_ERROR;
    }
    tool_memory_saved();
    return EXIT_OK;
}

void tool_saved_unsynced(const char *folder)
{
    (void)tool_fail("%s: saved, but cannot sync its directory", folder);
    unsynced = true;
}

int tool_saved_status(int status)
{
    return status == EXIT_OK && unsynced ? EXIT_UNSYNCED : status;
}

int tool_fail_library(void)
{
    /* Cancelled by a signal: it ends the command, and no message is needed. */
    if (rec_error_status() != REC_E_CANCELLED && !tool_progress_unread()) {
        const char *message = rec_error_message();
        size_t first = strcspn(message, "\n");
        text said = {0};

        tool_text_add(&said, message, first);
        tool_text_hint(&said, message + first);
        complain(said.at);
        tool_text_free(&said);
    }
    return EXIT_ERROR;
}

/* --------------------------------------------------------------------------------------------------------- hints -- */

/* Load arguments with an option, and whether that is a switch. All others are rules. */
static const struct {
    const char *word, *option;
    bool plain;
} written[] = {
    {"profile", "profile", false}, {"prefix", "prefix", false},   {"select", "select", false},
    {"rename", "remap", false},    {"remap", "remap", false},     {"drop", "drop", false},
    {"module", "module", false},   {"variant", "variant", false}, {"adapter", "adapter", false},
    {"gaps", "gaps", false},       {"set", "set", false},         {"config", "config-json", false},
    {"partial", "partial", true},  {"strict", "strict", true},    {"reverse", "reverse", true},
};
static const char *const rules[] = {"split",   "weight_norm", "add",     "rope",  "squeeze",
                                    "reshape", "transpose",   "permute", "stack", "join",
                                    "merge",   "tie",         "export",  "back",  "let"};

/* `word = value` as an option, and the option of a recorder that has a switch. @return false: it is neither. */
static bool put_option(text *t, const char *at, size_t length)
{
    static const char positional[] = "positional";
    const char *equals = memmem(at, length, " = ", 3);
    size_t word = equals ? (size_t)(equals - at) : 0;
    char *value = equals ? xasprintf("%.*s", (int)(length - word - 3), equals + 3) : NULL;
    bool found = length == sizeof positional - 1 && memcmp(at, positional, length) == 0;

    if (found) {
        tool_text_format(t, "--%s", positional);
    }
    for (size_t i = 0; equals && i < sizeof written / sizeof *written && !found; i++) {
        if (strlen(written[i].word) == word && memcmp(written[i].word, at, word) == 0) {
            found = true;
            tool_text_format(t, "--%s", written[i].option);
            if (!written[i].plain) {
                tool_text_put(t, " ");
                tool_text_quoted(t, value);
            }
        }
    }
    for (size_t i = 0; equals && i < sizeof rules / sizeof *rules && !found; i++) {
        if (strlen(rules[i]) == word && memcmp(rules[i], at, word) == 0) {
            char *whole = xasprintf("%.*s", (int)length, at);
            found = true;
            tool_text_put(t, "--rule ");
            tool_text_quoted(t, whole);
            free(whole);
        }
    }
    free(value);
    return found;
}

void tool_text_hint(text *t, const char *hint)
{
    tool_text_put(t, "");
    while (*hint) {
        const char *tick = strchr(hint, '`'), *end = tick ? strchr(tick + 1, '`') : NULL;
        size_t plain = end ? (size_t)(tick - hint) : strlen(hint);
        tool_text_add(t, hint, plain);
        hint += plain;
        if (end && !put_option(t, tick + 1, (size_t)(end - tick) - 1)) {
            tool_text_add(t, tick, (size_t)(end - tick) + 1);
        }
        hint = end ? end + 1 : hint;
    }
}
