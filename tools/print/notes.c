/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Notes of the library's reports: kept, for people and as JSON. */
#include <stdlib.h>
#include <string.h>

#include "tools/print/print.h"

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

void notes_print(const notes *n, bool quiet)
{
    enum { SHOWN = 3 }; /* of a kind, where there are more than a few */
    uint64_t of_kind[16] = {0}, printed[16] = {0};

    if (quiet) {
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

void json_note_items(json *j, const notes *n)
{
    for (size_t i = 0; i < n->kept; i++) {
        const struct note *note = &n->at[i];
        json_object(j, NULL);
        json_string(j, "kind", note_word(note->kind));
        json_uint(j, "count", note->count);
        json_string(j, "path", note->path);
        json_string(j, "text", note->text);
        json_close(j, '}');
    }
}

void json_notes(json *j, const char *key, const notes *n)
{
    json_array(j, key);
    json_note_items(j, n);
    json_close(j, ']');
}
