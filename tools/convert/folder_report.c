/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The report on many files: notes and errors on standard error, equal ones once; then a table, or JSON. */
#include <stdlib.h>
#include <string.h>

#include "tools/convert/recursive_private.h"

static const char *const results[] = {"skipped", "converted", "failed"};

/* -------------------------------------------------------------------------------------------- notes and errors -- */

/* A message: a note, or the errors or problems of a file. */
typedef struct saying {
    int kind; /* of a note; -1: errors or problems */
    const char *path, *text;
    uint64_t more;     /* files that have the same */
    struct note *note; /* NULL: it is */
    found *file;       /* of this file */
} saying;

typedef struct sayings {
    saying **at;
    size_t count;
    void *known;
} sayings;

static int by_words(const void *a, const void *b)
{
    const saying *x = a, *y = b;
    int order = (x->kind > y->kind) - (x->kind < y->kind);

    order = order ? order : strcmp(x->path, y->path);
    return order ? order : strcmp(x->text, y->text);
}

/* @return false if another file has the same, which then counts it. */
static bool add_saying(sayings *all, saying one)
{
    saying *known = tool_known_find(&all->known, &one, by_words);

    if (known) {
        known->more++;
        return false;
    }
    known = xmalloc(sizeof *known);
    *known = one;
    all->at = tool_grown(all->at, all->count, sizeof *all->at);
    all->at[all->count++] = known;
    (void)tool_known_add(&all->known, known, by_words);
    return true;
}

/* Removes the notes that a file before has. */
static void fold_notes(sayings *all, notes *n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n->kept; i++) {
        struct note *note = &n->at[i];
        struct note is = *note;
        n->at[kept] = is;
        if (add_saying(all, (saying){.kind = is.kind, .path = is.path, .text = is.text, .note = &n->at[kept]})) {
            kept++;
        } else {
            free(is.path);
            free(is.text);
        }
    }
    n->made -= n->kept - kept;
    n->kept = kept;
}

/* Adds the number of other files that have it. */
static void count_more(const saying *one)
{
    char number[NUMBER_ROOM];

    if (one->file) {
        one->file->more = one->more;
    } else if (one->more) {
        char *old = one->note->text;
        one->note->text = xasprintf("%s (likewise %s more)", old, tool_grouped(one->more, number));
        free(old);
    }
}

static void fold_equal(folder *f)
{
    sayings all = {0};

    for (size_t i = 0; i < f->count; i++) {
        found *file = &f->files[i];
        if (!file->said && file->result == FOLDER_FAILED) {
            file->said = xstrdup(file->why);
        }
        fold_notes(&all, &file->notes);
        if (file->said && !add_saying(&all, (saying){.kind = -1, .path = "", .text = file->said, .file = file})) {
            file->repeated = true;
        }
    }
    tool_known_free(&all.known, by_words);
    for (size_t i = 0; i < all.count; i++) {
        count_more(all.at[i]);
        free(all.at[i]);
    }
    free(all.at);
}

/* Prints the errors or problems of a file, with its name and their hints. */
static void print_said(const found *file, bool quiet)
{
    bool failed = file->result == FOLDER_FAILED;

    if (file->repeated || (!failed && quiet)) {
        return;
    }
    tool_progress_wipe();
    for (const char *at = file->said; *at;) {
        size_t length = strcspn(at, "\n");
        text line = {0};
        if (*at != ' ') {
            tool_text_format(&line, "%srecord:%s %s", tool_style_error(failed ? STYLE_ERROR : STYLE_NOTE),
                             tool_style_error(STYLE_PLAIN), failed ? "" : "note: ");
            tool_text_safe(&line, file->name, strlen(file->name));
            tool_text_put(&line, ": ");
        }
        tool_text_safe(&line, at, length);
        fprintf(stderr, "%s\n", line.at);
        tool_text_free(&line);
        at += length + (at[length] == '\n');
    }
    if (file->more) {
        char number[NUMBER_ROOM];
        fprintf(stderr, "  Likewise %s more.\n", tool_grouped(file->more, number));
    }
}

static void print_notes(found *file, bool quiet)
{
    for (size_t i = 0; i < file->notes.kept; i++) {
        char *path = file->notes.at[i].path;
        file->notes.at[i].path = xasprintf("%s%s%s", file->name, *path ? ": " : "", path);
        free(path);
    }
    tool_notes_print(&file->notes, quiet);
}

/* ------------------------------------------------------------------------------------------------------ report -- */

static void print_report(const folder *f)
{
    uint64_t checked = 0;
    char number[NUMBER_ROOM];
    table t;

    tool_table_begin(&t, "lll", "FILE|RESULT|");
    t.shrink = 2;
    for (size_t i = 0; i < f->count; i++) {
        const found *file = &f->files[i];
        text cell = {0};
        tool_table_cell_safe(&t, file->name);
        tool_table_cell(&t, f->dry && file->result == FOLDER_CONVERTED ? "would be" : results[file->result]);
        if (file->result == FOLDER_CONVERTED) {
            tool_text_put(&cell, "-> ");
            tool_text_safe(&cell, file->out, strlen(file->out));
            tool_text_format(&cell, ": %s tensor%s", tool_grouped(file->tensors, number), tool_plural(file->tensors));
            if (file->written != REC_UNKNOWN) {
                tool_text_format(&cell, ", %s", tool_sized(file->written, number));
            }
        } else {
            tool_text_safe(&cell, file->why, strlen(file->why));
        }
        tool_table_take(&t, &cell);
    }
    tool_table_print(&t, stdout);
    printf("%s %s", tool_grouped(f->of[FOLDER_CONVERTED], number), f->dry ? "to be converted" : "converted");
    for (size_t i = 0; i < f->count; i++) {
        checked += f->files[i].checked;
    }
    if (f->of[FOLDER_CONVERTED] && !f->dry) {
        printf(" (%s checked)", tool_grouped(checked, number));
    }
    printf(", %s skipped", tool_grouped(f->of[FOLDER_SKIPPED], number));
    printf(", %s failed%s\n", tool_grouped(f->of[FOLDER_FAILED], number),
           f->dry ? "; a dry run, nothing was written" : "");
}

/* Writes the error text of a failed file except for its first line, which is `why`. */
static void json_hint(json *j, const found *file)
{
    const char *hint = file->said ? strchr(file->said, '\n') : NULL;

    if (hint && file->result == FOLDER_FAILED) {
        tool_json_string(j, "hint", hint + 1);
    }
}

static void print_report_json(const folder *f)
{
    json j;

    tool_json_open(&j, stdout, 2);
    tool_json_string(&j, "in", f->in);
    tool_json_string(&j, "out", f->out);
    tool_json_array(&j, "files");
    for (size_t i = 0; i < f->count; i++) {
        const found *file = &f->files[i];
        tool_json_object(&j, NULL);
        tool_json_string(&j, "file", file->name);
        tool_json_string(&j, "result", results[file->result]);
        if (file->result == FOLDER_CONVERTED) {
            tool_json_string(&j, "out", file->out);
            tool_json_uint(&j, "tensors", file->tensors);
            tool_json_bool(&j, "checked", file->checked);
            tool_json_size(&j, "written", file->written);
        } else {
            tool_json_string(&j, "why", file->why);
            json_hint(&j, file);
        }
        tool_json_close(&j, '}');
    }
    tool_json_close(&j, ']');
    for (int i = FOLDER_CONVERTED; i <= FOLDER_FAILED; i++) {
        tool_json_uint(&j, results[i], f->of[i]);
    }
    tool_json_uint(&j, results[FOLDER_SKIPPED], f->of[FOLDER_SKIPPED]);
    if (f->dry) {
        tool_json_bool(&j, "dry_run", true);
    }
    tool_json_finish(&j);
}

/* A note of a glob that fits none of the files: it may be misspelt. */
static void note_unused(const folder *f, notes *n, const char *option, const char *glob, size_t length)
{
    char *own = xasprintf("%.*s", (int)length, glob);
    bool fits = false;

    for (size_t i = 0; i < f->count && !fits; i++) {
        fits = tool_folder_fits(own, f->files[i].name);
    }
    if (!fits) {
        tool_notes_add(n, REC_NOTE_LAYOUT, "", xasprintf("%s %s: no file has such a name", option, own));
    }
    free(own);
}

static void note_all_unused(const folder *f)
{
    const options *o = f->s->o;
    const char *glob;
    notes n = {0};

    for (size_t at = 0; (glob = tool_own_next(o, "include", &at));) {
        note_unused(f, &n, "--include", glob, strlen(glob));
    }
    for (size_t i = 0; i < o->type.count; i++) {
        if (strchr(o->type.at[i], '=')) {
            note_unused(f, &n, "--type", o->type.at[i], strcspn(o->type.at[i], "="));
        }
    }
    tool_notes_print(&n, o->quiet);
    tool_notes_free(&n);
}

void tool_folder_tell(folder *f)
{
    const options *o = f->s->o;

    note_all_unused(f);
    fold_equal(f);
    for (size_t i = 0; i < f->count; i++) {
        print_notes(&f->files[i], o->quiet);
        if (f->files[i].said) {
            print_said(&f->files[i], o->quiet);
        }
    }
    if (o->json) {
        print_report_json(f);
    } else if (!o->quiet) {
        print_report(f);
    }
}
