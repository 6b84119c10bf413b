/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record convert: reads a record with one recorder and writes it with another. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/tool.h"

/* What is said about a conversion when it is done. */
typedef struct report {
    const char *const *inputs;
    size_t input_count;
    const char *out; /* as people should see it */
    summary sums;
    double seconds;
    uint64_t written; /* bytes, REC_UNKNOWN into a pipe */
    notes load_notes, save_notes;
    planned plan; /* .plan is NULL if it went without */
} report;

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
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
static int save(rec_recorder *to, const rec_record *record, const char *out, report *r)
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
        progress_end();
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
    /* With a base they are the base's, not those of the inputs. */
    const char *version = s->o->base ? NULL : rec_metadata(record, "version");
    const char *word = s->o->base ? NULL : precision_word(record);
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
    for (size_t i = 0; i < r->input_count; i++) {
        const char *name = input_name(r->inputs[i]);
        text_put(&line, i ? " + " : "");
        text_safe(&line, name, strlen(name));
    }
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
    text_free(&line);
    if (r->plan.plan && !plan_is_plain(&r->plan)) {
        plan_sum(&r->plan, &line);
        fprintf(out, "  %s\n", line.at);
        text_free(&line);
        plan_operations(&r->plan, &line);
        if (line.length) {
            fprintf(out, "  %s\n", line.at);
        }
    }
    text_free(&from);
    text_free(&line);
}

static void print_json(const session *s, const rec_record *record, const rec_recorder *to, const report *r,
                       const char *out, FILE *stream)
{
    const char *from = rec_record_origin(record)->recorder;
    char seconds[NUMBER_ROOM];
    json j;

    /* A record that a plan made has no file of its own. */
    if (!*from) {
        from = r->input_count == 1 && strcmp(r->inputs[0], "-") != 0 ? rec_recognise(s->context, r->inputs[0]) : NULL;
    }
    (void)snprintf(seconds, sizeof seconds, "%.6f", r->seconds);
    json_begin(&j, stream, 1);
    json_object(&j, NULL);
    json_string(&j, "in", r->inputs[0]);
    json_array(&j, "inputs");
    for (size_t i = 0; i < r->input_count; i++) {
        json_string(&j, NULL, r->inputs[i]);
    }
    json_close(&j, ']');
    json_string(&j, "out", strcmp(out, "-") == 0 ? out : r->out);
    json_string(&j, "from", from);
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
    if (r->plan.plan) {
        json_totals(&j, "plan", &r->plan.totals);
        json_problems(&j, "problems", &r->plan);
    }
    json_array(&j, "notes");
    json_note_items(&j, &r->plan.notes);
    json_note_items(&j, &r->load_notes);
    json_note_items(&j, &r->save_notes);
    json_close(&j, ']');
    json_close(&j, '}');
    json_end(&j);
}

/* ------------------------------------------------------------------------------------------------------- loading -- */

/* Loads the input as it is where that tells whether it needs a plan: Burn did not write it.
 * @param record (out) the record, if it needs none. */
static int look(session *s, const char *in, planned *p, rec_record **record, bool *needs_plan)
{
    bool stream = strcmp(in, "-") == 0;
    const char *from = session_from(s, 1), *name;
    rec_recorder *raw;
    rec_record *found;
    bool again;
    int status;

    if (stream && (status = session_type(s)) != EXIT_OK) {
        return status;
    }
    if (stream && s->type) {
        return EXIT_OK;
    }
    raw = session_raw(s, 1);
    name = raw ? rec_recorder_name(raw) : NULL;
    name = name && strcmp(name, "Auto") == 0 && !stream ? rec_recognise(s->context, in) : name;
    if (raw && is_configured(s, from)) {
        *needs_plan = is_foreign(s, name); /* its load arguments count */
        rec_close_recorder(raw);
        return EXIT_OK;
    }
    if (raw && !stream && !is_foreign(s, name)) {
        rec_close_recorder(raw);
        return EXIT_OK;
    }
    /* This is a look, for which nothing has to be copied: mapped, what is not used is not read. */
    again = s->o->no_map && !stream;
    found = raw && (!again || rec_recorder_set(raw, "map", "yes") == REC_OK) ? session_load(raw, in) : NULL;
    rec_close_recorder(raw);
    if (!found) {
        return EXIT_ERROR;
    }
    *needs_plan = rec_value_form(rec_root(found)) == REC_FORM_PATHS;
    if (stream && *needs_plan) {
        p->stream = found;
    } else if (*needs_plan || again || (session_type(s) == EXIT_OK && s->type)) {
        rec_record_free(found); /* to be loaded again, with what it needs */
    } else {
        *record = found;
    }
    return EXIT_OK;
}

/* Loads the inputs, by a plan if they need one. @return NULL with the error printed. */
static rec_record *load(session *s, const rec_recorder *to, bool to_stdout, report *r)
{
    bool needs_plan = r->input_count > 1 || given_reading(s->o, READING_LOAD) || s->o->base;
    rec_record *record = NULL;
    rec_recorder *from;

    if (!needs_plan && look(s, r->inputs[0], &r->plan, &record, &needs_plan) != EXIT_OK) {
        return NULL;
    }
    if (needs_plan) {
        int status = plan_make(s, r->inputs, r->input_count, to, &r->plan);
        if (status == EXIT_OK && s->o->debug) {
            progress_end();
            plan_debug(&r->plan, to_stdout ? stderr : stdout);
        }
        if (status != EXIT_OK || plan_refuse(&r->plan) != EXIT_OK) {
            return NULL;
        }
        record = r->plan.record;
        r->plan.record = NULL;
        return record;
    }
    if (!record && (from = session_input(s))) {
        record = session_load_typed(s, from, r->inputs[0]);
        rec_close_recorder(from);
    }
    if (record) {
        notes_take(&r->load_notes);
    }
    return record;
}

int run_convert(session *s, const char *const *operands, size_t count)
{
    const char *out = operands[count - 1], *to_name = s->o->to;
    bool to_stdout = strcmp(out, "-") == 0;
    report r = {.inputs = operands, .input_count = count - 1};
    rec_recorder *to = NULL;
    rec_record *record = NULL;
    char *path = NULL, *index;
    int status = EXIT_ERROR;

    if (s->o->recursive) {
        return count == 2 ? run_recursive(s, operands[0], out)
                          : fail_usage("convert", "--recursive takes one folder to read and one to write");
    }
    if (to_stdout && !s->o->to) {
        return fail_usage("convert", "standard output has no extension: say with --to which recorder is to write");
    }
    double begun = now();
    progress_begin(s->context, s->o->quiet);
    to_name = to_name ? to_name : recorder_of(s, out);
    to = to_name ? session_output(s, to_name) : NULL;
    if (to && !to_stdout && !*rec_recorder_extension(to) && strcmp(rec_recorder_name(to), "Auto") != 0) {
        (void)fail("%s has no files: convert to standard output, or name another recorder", rec_recorder_name(to));
        goto done;
    }
    record = to ? load(s, to, to_stdout, &r) : NULL;
    if (!record || set_metadata(s, record) != EXIT_OK || set_shown_type(s, record, to) != EXIT_OK) {
        goto done;
    }
    if ((status = summarise(record, &r.sums)) != EXIT_OK) {
        goto done;
    }
    progress_expect(s->o->precision == REC_PRECISION_KEEP ? r.sums.nbytes : 0);
    progress_guard();
    if ((status = save(to, record, out, &r)) != EXIT_OK) {
        goto done;
    }
    r.seconds = now() - begun;
    progress_end();
    path = to_stdout ? NULL : rec_recorder_path(to, out);
    if (path && (index = index_beside(path))) {
        free(path);
        path = index;
        r.written = REC_UNKNOWN;
    }
    r.out = to_stdout ? "standard output" : path ? path : out;
    if (s->o->json) {
        print_json(s, record, to, &r, out, report_stream(out));
    } else {
        if (!s->o->quiet) {
            print_people(s, record, &r, report_stream(out));
        }
        if (r.plan.plan) {
            plan_notes(s, &r.plan);
        }
        notes_print(&r.load_notes, s->o->quiet);
        notes_print(&r.save_notes, s->o->quiet);
    }

done:
    progress_end();
    free(path);
    summary_free(&r.sums);
    notes_free(&r.load_notes);
    notes_free(&r.save_notes);
    rec_record_free(record);
    plan_free(&r.plan);
    rec_close_recorder(to);
    return status;
}
