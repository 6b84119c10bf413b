/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record convert: reads a record with one recorder and writes it with another. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

/* What is said about a conversion when it is done. */
typedef struct report {
    const char *in, *out; /* as people should see them */
    summary sums;
    double seconds;
    uint64_t written; /* bytes, REC_UNKNOWN into a pipe */
    notes load_notes, save_notes;
} report;

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* @return the size of a regular file, or REC_UNKNOWN. */
static uint64_t size_of_file(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && S_ISREG(s.st_mode) ? (uint64_t)s.st_size : REC_UNKNOWN;
}

/* Finds the recorder that writes by the extension of its file, before anything is read. @return its name, NULL with the
 * error printed. */
static const char *recorder_of(const session *s, const char *out)
{
    const char *name = NULL;
    size_t length = strlen(out), longest = 0;
    text known = {0};

    for (uint64_t i = 0; i < rec_plugin_count(s->context); i++) {
        const rec_plugin_info *p = rec_plugin_get(s->context, i);
        size_t tail = strlen(p->extension);
        if (!p->usable || !tail) {
            continue;
        }
        text_format(&known, "%s.%s", known.length ? ", " : "", p->extension);
        if (tail > longest && length > tail && out[length - tail - 1] == '.' &&
            strcmp(out + length - tail, p->extension) == 0) {
            longest = tail;
            name = p->name;
        }
    }
    if (!name) {
        (void)fail("%s: no recorder has this extension\nThere are: %s\nOr name the recorder: --to NAME", out,
                   known.at ? known.at : "none at all; record plugins --why says why");
    }
    text_free(&known);
    return name;
}

/* Saves to `out`. @param written (out) bytes, where they can be known. */
static int save(session *s, rec_recorder *to, const rec_record *record, const char *out, report *r)
{
    rec_status status;
    char *path;

    if (strcmp(out, "-") == 0) {
        off_t before = lseek(STDOUT_FILENO, 0, SEEK_CUR), after;
        status = rec_save_fd(to, record, STDOUT_FILENO, "standard output");
        notes_take(&r->save_notes);
        after = lseek(STDOUT_FILENO, 0, SEEK_CUR);
        r->written = before >= 0 && after >= before ? (uint64_t)(after - before) : REC_UNKNOWN;
    } else {
        status = rec_save(to, record, out);
        notes_take(&r->save_notes);
    }
    if (status != REC_OK) {
        progress_end(s);
        return fail_library();
    }
    if (strcmp(out, "-") != 0) {
        path = rec_recorder_path(to, out);
        r->written = size_of_file(path ? path : out);
        free(path);
    }
    return EXIT_OK;
}

/* ------------------------------------------------------------------------------------------------------- reports -- */

/* Where data go to standard output the report must not. */
static FILE *report_stream(const char *out)
{
    return strcmp(out, "-") == 0 ? stderr : stdout;
}

static void print_people(const session *s, const rec_record *record, const report *r, FILE *out)
{
    const char *version = rec_metadata(record, "version"), *word = precision_word(record);
    char number[NUMBER_ROOM];
    text from = {0}, line = {0};

    if (version) {
        text_format(&from, "Burn %s", version);
    }
    if (version && rec_record_origin(record)->layout == 1) {
        text_put(&from, ", V1");
    }
    if (word) {
        text_format(&from, "%s%s", from.length ? ", " : "", word);
    }
    text_safe(&line, r->in, strlen(r->in));
    if (from.length) {
        text_put(&line, " (");
        text_safe(&line, from.at, from.length);
        text_put(&line, ")");
    }
    text_put(&line, " -> ");
    text_safe(&line, r->out, strlen(r->out));
    if (s->o->precision != REC_PRECISION_KEEP) {
        text_format(&line, " (%s)", rec_precision_name(s->o->precision));
    }
    text_format(&line, ": %s tensor%s", grouped(r->sums.tensors, number), plural(r->sums.tensors));
    if (r->sums.values && !r->sums.tensors) {
        text_format(&line, ", %s value%s", grouped(r->sums.values, number), plural(r->sums.values));
    }
    if (r->written != REC_UNKNOWN) {
        text_format(&line, ", %s", sized(r->written, number));
    }
    fprintf(out, "%s in %.2f s\n", line.at, r->seconds);
    text_free(&from);
    text_free(&line);
}

static void print_json(const rec_record *record, const rec_recorder *to, const report *r, const char *in,
                       const char *out, FILE *stream)
{
    const rec_origin *origin = rec_record_origin(record);
    char seconds[NUMBER_ROOM];
    json j;

    (void)snprintf(seconds, sizeof seconds, "%.6f", r->seconds);
    json_begin(&j, stream, 1);
    json_object(&j, NULL);
    json_string(&j, "in", in);
    json_string(&j, "out", strcmp(out, "-") == 0 ? out : r->out);
    json_string(&j, "from", origin->recorder);
    json_string(&j, "to", rec_recorder_name(to));
    json_string(&j, "burn", rec_metadata(record, "version"));
    json_uint(&j, "tensors", r->sums.tensors);
    json_uint(&j, "parameters", r->sums.elements);
    json_uint(&j, "values", r->sums.values);
    if (r->written == REC_UNKNOWN) {
        json_token(&j, "written", "null");
    } else {
        json_uint(&j, "written", r->written);
    }
    json_token(&j, "seconds", seconds);
    json_array(&j, "notes");
    json_note_items(&j, &r->load_notes);
    json_note_items(&j, &r->save_notes);
    json_close(&j, ']');
    json_close(&j, '}');
    json_end(&j);
}

/* Sets the type that a record with names shows on a recorder that writes for another version of Burn: what that version
 * has more, less or in another order goes by the types of the modules. Assumptions about the rest change nothing in a
 * file that has names. Without one the record is written as it is. */
static int set_shown_type(session *s, const rec_record *record, rec_recorder *to)
{
    const char *writer = rec_recorder_name(to);

    if (!s->o->burn || s->type || s->o->type.count || needs_type(s, rec_record_origin(record)->recorder) ||
        needs_type(s, writer) || strcmp(writer, "Auto") == 0) {
        return EXIT_OK;
    }
    return session_set_shown_type(s, record, to);
}

int convert_one(session *s, const char *in, const char *to_name, const char *out, const char *expression, conversion *c,
                notes *n)
{
    rec_recorder *from = session_input(s), *to = from ? session_output(s, to_name) : NULL;
    rec_record *record = NULL;
    summary sums = {0};
    notes saved = {0};
    int status = EXIT_ERROR;

    if (!to || (expression && (rec_recorder_set_type_name(from, s->types, expression) != REC_OK ||
                               rec_recorder_set_type_name(to, s->types, expression) != REC_OK))) {
        goto done;
    }
    record = rec_load(from, in);
    if (!record) {
        goto done;
    }
    notes_take(n);
    if (summarise(record, &sums) != EXIT_OK || (!expression && set_shown_type(s, record, to) != EXIT_OK) ||
        rec_save(to, record, out) != REC_OK) {
        goto done;
    }
    notes_take(&saved);
    notes_append(n, &saved);
    c->out = copy(out);
    c->tensors = sums.tensors;
    c->written = size_of_file(out);
    status = EXIT_OK;

done:
    summary_free(&sums);
    rec_record_free(record);
    rec_close_recorder(from);
    rec_close_recorder(to);
    return status;
}

int run_convert(session *s, const char *const *operands, size_t count)
{
    const char *in = operands[0], *out = operands[1], *to_name = s->o->to;
    bool to_stdout = strcmp(out, "-") == 0;
    rec_recorder *from = NULL, *to = NULL;
    rec_record *record = NULL;
    char *path = NULL;
    report r = {0};
    int status = EXIT_ERROR;

    (void)count;
    if (s->o->recursive) {
        return run_recursive(s, in, out);
    }
    if (to_stdout && !s->o->to) {
        return fail_usage("convert", "standard output has no extension: say with --to which recorder is to write");
    }
    double begun = now();
    progress_begin(s);
    to_name = to_name ? to_name : recorder_of(s, out);
    to = to_name ? session_output(s, to_name) : NULL;
    if (to && !to_stdout && !*rec_recorder_extension(to) && strcmp(rec_recorder_name(to), "Auto") != 0) {
        (void)fail("%s has no files: convert to standard output, or name another recorder", rec_recorder_name(to));
        goto done;
    }
    from = to ? session_input(s) : NULL;
    record = from ? session_load_typed(s, from, in) : NULL;
    if (!record) {
        goto done;
    }
    notes_take(&r.load_notes);
    if (set_shown_type(s, record, to) != EXIT_OK) {
        goto done;
    }
    if ((status = summarise(record, &r.sums)) != EXIT_OK) {
        goto done;
    }
    s->expected = s->o->precision == REC_PRECISION_KEEP ? r.sums.nbytes : 0;
    progress_guard();
    if ((status = save(s, to, record, out, &r)) != EXIT_OK) {
        goto done;
    }
    r.seconds = now() - begun;
    progress_end(s);
    path = to_stdout ? NULL : rec_recorder_path(to, out);
    r.in = input_name(in);
    r.out = to_stdout ? "standard output" : path ? path : out;
    if (s->o->json) {
        print_json(record, to, &r, in, out, report_stream(out));
    } else {
        if (!s->o->quiet) {
            print_people(s, record, &r, report_stream(out));
        }
        notes_print(&r.load_notes, s);
        notes_print(&r.save_notes, s);
    }

done:
    progress_end(s);
    free(path);
    summary_free(&r.sums);
    notes_free(&r.load_notes);
    notes_free(&r.save_notes);
    rec_record_free(record);
    rec_close_recorder(from);
    rec_close_recorder(to);
    return status;
}
