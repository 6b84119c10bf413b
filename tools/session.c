/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The session with the library: context, recorders, loading, errors and notes. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

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
    *s = (session){.o = o};
    s->context = rec_config_open(o->config);
    return s->context ? EXIT_OK : fail_library();
}

void session_close(session *s)
{
    rec_context_free(s->context);
    s->context = NULL;
}

/* Sets NAME=VALUE of each word. */
static int set_options(rec_recorder *recorder, const words *w)
{
    int status = EXIT_OK;

    for (size_t i = 0; i < w->count && status == EXIT_OK; i++) {
        const char *equals = strchr(w->at[i], '=');
        char *name = copy(w->at[i]);
        name[equals - w->at[i]] = '\0';
        if (rec_recorder_set(recorder, name, equals + 1) != REC_OK) {
            status = fail_library();
        }
        free(name);
    }
    return status;
}

/* What the options of the command line ask of a recorder. @return NULL with the error printed. */
static rec_recorder *open_recorder(session *s, const char *name, rec_precision precision, const words *settings,
                                   bool no_map, bool clamp)
{
    rec_recorder *recorder = rec_open_recorder_in(s->context, name, precision);

    if (!recorder) {
        (void)fail_library();
        return NULL;
    }
    if ((no_map && rec_recorder_set(recorder, "map", "no") != REC_OK) ||
        (clamp && rec_recorder_set(recorder, "clamp", "yes") != REC_OK)) {
        (void)fail_library();
    } else if (set_options(recorder, settings) == EXIT_OK) {
        return recorder;
    }
    rec_close_recorder(recorder);
    return NULL;
}

rec_recorder *session_input(session *s)
{
    const options *o = s->o;
    bool converts = strcmp(o->operands.at[0], "convert") == 0;

    /* A conversion changes precision where it writes, so what it reads it keeps. */
    return open_recorder(s, o->from ? o->from : "Auto", converts ? REC_PRECISION_KEEP : o->precision, &o->from_options,
                         o->no_map, o->clamp && !converts);
}

rec_recorder *session_output(session *s, const char *name)
{
    return open_recorder(s, name, s->o->precision, &s->o->to_options, false, s->o->clamp);
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
