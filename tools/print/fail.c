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
    char *message = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&message, format, args) < 0) {
        message = NULL;
    }
    va_end(args);
    complain(message ? message : "out of memory");
    free(message);
    return EXIT_ERROR;
}

int tool_fail_usage(const char *command, const char *format, ...)
{
    char *message = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&message, format, args) < 0) {
        message = NULL;
    }
    va_end(args);
    (void)tool_fail("%s\nrecord %s%s--help shows how it is used.", message ? message : "out of memory",
                    command ? command : "", command ? " " : "");
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
