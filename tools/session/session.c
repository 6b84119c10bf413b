/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The session with the library: context, recorders, loading, errors and notes. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/tool.h"

/* ------------------------------------------------------------------------------------------------------- errors -- */

/* "record: " and the text; lines after the first one are hints and stand two spaces in. */
static void complain(const char *message)
{
    text safe = {0};
    bool first = true;

    while (*message || first) {
        size_t length = strcspn(message, "\n"), indent = strspn(message, " ");
        if (!first) {
            text_put(&safe, indent < length && indent < 2 ? &"  "[indent] : "");
        }
        text_safe(&safe, message, length);
        text_put(&safe, "\n");
        message += length + (message[length] == '\n');
        first = false;
    }
    fprintf(stderr, "%srecord:%s %s", style_error(STYLE_ERROR), style_error(STYLE_PLAIN), safe.at);
    text_free(&safe);
}

int fail(const char *format, ...)
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

int fail_usage(const char *command, const char *format, ...)
{
    char *message = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&message, format, args) < 0) {
        message = NULL;
    }
    va_end(args);
    (void)fail("%s\nrecord %s%s--help shows how it is used.", message ? message : "out of memory",
               command ? command : "", command ? " " : "");
    free(message);
    return EXIT_ERROR;
}

int fail_library(void)
{
    /* Whoever cancelled it knows: the signal that asked for it ends the command. */
    if (rec_error_status() != REC_E_CANCELLED) {
        complain(rec_error_message());
    }
    return EXIT_ERROR;
}

/* -------------------------------------------------------------------------------------------------------- notes -- */

void notes_take(notes *n)
{
    const rec_note *note;

    *n = (notes){.made = rec_report_count()};
    while ((note = rec_report_note(n->kept))) {
        n->at = retake(n->at, (n->kept + 1) * sizeof *n->at);
        n->at[n->kept++] = (struct note){note->kind, note->count, copy(note->path), copy(note->text)};
    }
}

void notes_append(notes *n, notes *more)
{
    if (more->kept) {
        n->at = retake(n->at, (n->kept + more->kept) * sizeof *n->at);
        memcpy(n->at + n->kept, more->at, more->kept * sizeof *n->at);
    }
    n->kept += more->kept;
    n->made += more->made;
    free(more->at);
    *more = (notes){0};
}

void notes_free(notes *n)
{
    for (size_t i = 0; i < n->kept; i++) {
        free(n->at[i].path);
        free(n->at[i].text);
    }
    free(n->at);
    *n = (notes){0};
}

const char *note_word(int32_t kind)
{
    switch (kind) {
    case REC_NOTE_ASSUMED:
        return "assumed";
    case REC_NOTE_OVERFLOW:
        return "overflow";
    case REC_NOTE_CLAMPED:
        return "clamped";
    case REC_NOTE_DROPPED:
        return "dropped";
    case REC_NOTE_MISSING:
        return "missing";
    case REC_NOTE_UNEXPECTED:
        return "unexpected";
    case REC_NOTE_SHAPE:
        return "shape";
    case REC_NOTE_KIND:
        return "kind";
    case REC_NOTE_TRAILING:
        return "trailing";
    case REC_NOTE_LAYOUT:
        return "layout";
    case REC_NOTE_KEY:
        return "key";
    case REC_NOTE_ADAPTED:
        return "adapted";
    case REC_NOTE_RULE:
        return "rule";
    default:
        return "other";
    }
}

static void print_note(const char *path, const char *string)
{
    text line = {0};

    if (*path) {
        text_safe(&line, path, strlen(path));
        text_put(&line, ": ");
    }
    text_safe(&line, string, strlen(string));
    fprintf(stderr, "record: %snote:%s %s\n", style_error(STYLE_NOTE), style_error(STYLE_PLAIN), line.at);
    text_free(&line);
}

void notes_print(const notes *n, const session *s)
{
    enum { SHOWN = 3 }; /* of a kind, where there are more than a few */
    uint64_t of_kind[16] = {0}, printed[16] = {0};

    if (s->o->quiet) {
        return;
    }
    for (size_t i = 0; i < n->kept; i++) {
        of_kind[(uint32_t)n->at[i].kind % 16]++;
    }
    for (size_t i = 0; i < n->kept; i++) {
        const struct note *note = &n->at[i];
        uint32_t kind = (uint32_t)note->kind % 16;
        if (of_kind[kind] <= SHOWN + 1 || printed[kind] < SHOWN) {
            print_note(note->path, note->text);
        } else if (printed[kind] == SHOWN) {
            char number[NUMBER_ROOM];
            char *more =
                print("and %s more of this kind (%s)", grouped(of_kind[kind] - SHOWN, number), note_word(note->kind));
            print_note("", more);
            free(more);
        }
        printed[kind]++;
    }
    if (n->made > n->kept) {
        char number[NUMBER_ROOM];
        char *more = print("%s more notes", grouped(n->made - n->kept, number));
        print_note("", more);
        free(more);
    }
}

/* ------------------------------------------------------------------------------------------------------ session -- */

int session_open(session *s, const options *o)
{
    *s = (session){.o = o, .inputs = 1};
    s->context = rec_config_open(o->config);
    return s->context ? EXIT_OK : fail_library();
}

void session_close(session *s)
{
    free(s->type);
    rec_types_free(s->types);
    rec_context_free(s->context);
    *s = (session){.o = s->o};
}

const char *input_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

rec_record *session_load(rec_recorder *recorder, const char *path)
{
    rec_record *record;

    if (strcmp(path, "-") != 0) {
        record = rec_load(recorder, path);
    } else if (isatty(STDIN_FILENO)) {
        (void)fail("standard input is a terminal: a file or a pipe was expected");
        return NULL;
    } else {
        record = rec_load_fd(recorder, STDIN_FILENO, input_name(path));
    }
    if (!record) {
        (void)fail_library();
    }
    return record;
}

rec_record *session_load_typed(session *s, rec_recorder *recorder, const char *path)
{
    const char *name;
    rec_record *record;

    if (strcmp(path, "-") == 0) {
        return session_load(recorder, path);
    }
    record = rec_load(recorder, path);
    if (!record && lacks_type(s, path, &name)) {
        (void)fail_no_type(s, path, name);
    } else if (!record) {
        (void)fail_library();
    }
    return record;
}

rec_record *session_load_any(session *s, rec_recorder *recorder, const char *path, bool *by_position)
{
    const char *name;
    rec_record *record;

    *by_position = s->o->positional;
    if (strcmp(path, "-") == 0) {
        return session_load(recorder, path);
    }
    record = rec_load(recorder, path);
    if (record) {
        return record;
    }
    if (!lacks_type(s, path, &name)) {
        (void)fail_library();
        return NULL;
    }
    recorder = session_reader(s, name);
    if (recorder && rec_recorder_set(recorder, "positional", "yes") == REC_OK) {
        record = rec_load(recorder, path);
    }
    if (recorder && !record) {
        (void)fail_library();
    }
    rec_close_recorder(recorder);
    *by_position = true;
    return record;
}
