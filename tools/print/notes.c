/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Notes of the library's reports: kept, for people and as JSON. */
#include <stdlib.h>
#include <string.h>

#include "tools/print/print.h"

void tool_notes_take(notes *n)
{
    const rec_note *note;

    for (uint64_t i = 0; (note = rec_report_note(i)); i++) {
        n->at = tool_grown(n->at, n->kept, sizeof *n->at);
        n->at[n->kept++] = (struct note){note->kind, note->count, xstrdup(note->path), xstrdup(note->text)};
    }
    n->made += rec_report_count();
}

void tool_notes_append(notes *n, notes *more)
{
    for (size_t i = 0; i < more->kept; i++) {
        n->at = tool_grown(n->at, n->kept, sizeof *n->at);
        n->at[n->kept++] = more->at[i];
    }
    n->made += more->made;
    free(more->at);
    *more = (notes){0};
}

void tool_notes_add(notes *n, int32_t kind, const char *path, char *said)
{
    n->at = tool_grown(n->at, n->kept, sizeof *n->at);
    n->at[n->kept++] = (struct note){kind, 1, xstrdup(path), said};
    n->made++;
}

void tool_notes_free(notes *n)
{
    for (size_t i = 0; i < n->kept; i++) {
        free(n->at[i].path);
        free(n->at[i].text);
    }
    free(n->at);
    *n = (notes){0};
}

static const char *note_word(int32_t kind)
{
    static const char *const names[] = {
        [REC_NOTE_ASSUMED] = "assumed", [REC_NOTE_OVERFLOW] = "overflow", [REC_NOTE_CLAMPED] = "clamped",
        [REC_NOTE_DROPPED] = "dropped", [REC_NOTE_MISSING] = "missing",   [REC_NOTE_UNEXPECTED] = "unexpected",
        [REC_NOTE_SHAPE] = "shape",     [REC_NOTE_KIND] = "kind",         [REC_NOTE_TRAILING] = "trailing",
        [REC_NOTE_LAYOUT] = "layout",   [REC_NOTE_KEY] = "key",           [REC_NOTE_ADAPTED] = "adapted",
        [REC_NOTE_RULE] = "rule",       [REC_NOTE_CHECK] = "check"};

    return kind >= 0 && (size_t)kind < sizeof names / sizeof *names && names[kind] ? names[kind] : "other";
}

static void print_note(const char *path, const char *string)
{
    text line = {0};

    if (*path) {
        tool_text_name(&line, path);
        tool_text_put(&line, ": ");
    }
    tool_text_safe(&line, string, strlen(string));
    tool_progress_wipe();
    fprintf(stderr, "record: %snote:%s %s\n", tool_style_error(STYLE_NOTE), tool_style_error(STYLE_PLAIN), line.at);
    tool_text_free(&line);
}

void tool_notes_print(const notes *n, bool quiet)
{
    enum { SHOWN = 3, ASSUMED = 20 }; /* of a kind, where there are more than a few; assumed values matter most */
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
        uint64_t shown = kind == REC_NOTE_ASSUMED ? ASSUMED : SHOWN;
        if (of_kind[kind] <= shown + 1 || printed[kind] < shown) {
            print_note(note->path, note->text);
        } else if (printed[kind] == shown) {
            char number[NUMBER_ROOM];
            char *more = xasprintf("and %s more of this kind (%s)", tool_grouped(of_kind[kind] - shown, number),
                                   note_word(note->kind));
            print_note("", more);
            free(more);
        }
        printed[kind]++;
    }
    if (n->made > n->kept) {
        char number[NUMBER_ROOM];
        char *more = xasprintf("%s more notes", tool_grouped(n->made - n->kept, number));
        print_note("", more);
        free(more);
    }
}

void tool_json_note_items(json *j, const notes *n)
{
    for (size_t i = 0; i < n->kept; i++) {
        const struct note *note = &n->at[i];
        tool_json_object(j, NULL);
        tool_json_string(j, "kind", note_word(note->kind));
        tool_json_uint(j, "count", note->count);
        tool_json_string(j, "path", note->path);
        tool_json_string(j, "text", note->text);
        tool_json_close(j, '}');
    }
}

void tool_json_notes(json *j, const char *key, const notes *n)
{
    tool_json_array(j, key);
    tool_json_note_items(j, n);
    tool_json_close(j, ']');
}
