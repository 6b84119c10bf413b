/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record convert: reads a record with one recorder and writes it with another. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/convert/convert_private.h"

const own_option tool_convert_options[] = {
    {"force", NULL, 'y', "overwrite what is there without a question"},
    {"no-clobber", NULL, 'n', "a file that is there already is an error"},
    {"skip-existing", NULL, 0, "a file that is there already is left as it is"},
    {"dry-run", NULL, 0, "do all but write, and say how much it would be"},
    {"include", "GLOB", 0, "with -r: only files that match (repeatable)"},
    {"exclude", "GLOB", 0, "with -r: nothing that matches (repeatable)"},
    {0},
};

/* What is said about a conversion when it is done. */
typedef struct report {
    const char *const *inputs;
    size_t input_count;
    const char *out; /* as people should see it */
    summary sums;
    double seconds;
    bool checked;     /* it was read back */
    bool dry;         /* nothing was written */
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

/* Adds ".mpk, .mpk.gz" for "mpk, mpk.gz". */
static void add_extensions(text *known, const char *extensions)
{
    while (*extensions) {
        size_t length = strcspn(extensions, ",");
        tool_text_format(known, "%s.%.*s", known->length ? ", " : "", (int)length, extensions);
        extensions += length;
        extensions += strspn(extensions, ", ");
    }
}

/* Finds the recorder that writes by the extension of its file, before anything is read. @return its name, NULL with the
 * error printed. */
static const char *recorder_of(const session *s, const char *out)
{
    const rec_plugin_info *found = rec_plugin_for_path(s->context, out);
    text known = {0}, codecs = {0};

    if (found) {
        return found->name;
    }
    if (rec_error_status() != REC_E_ARGUMENT) {
        (void)tool_fail_library();
        return NULL;
    }
    for (uint64_t i = 0; i < rec_plugin_count(s->context); i++) {
        const rec_plugin_info *p = rec_plugin_get(s->context, i);
        if (p->can_save) {
            bool codec = p->kind == REC_PLUGIN_CODEC;
            add_extensions(codec ? &codecs : &known, codec ? p->extension : p->extensions);
        }
    }
    (void)tool_fail("%s: no recorder has this extension\nThere are: %s%s%s\nOr name the recorder: --to NAME", out,
                    known.at ? known.at : "none at all; record plugins --why says why",
                    known.at && codecs.at ? "; behind any of a format: " : "", known.at && codecs.at ? codecs.at : "");
    tool_text_free(&codecs);
    tool_text_free(&known);
    return NULL;
}

/* Saves to `out`. @param written (out) bytes, where they can be known. */
static int save(const session *s, rec_recorder *to, const rec_record *record, const char *out, report *r)
{
    rec_status status;
    int ended;
    char *path;

    if (r->dry) {
        status = s->shared && !s->shared->first ? REC_OK : tool_save_nowhere(s, to, record, &r->written);
    } else if (s->shared) {
        int saved = s->shared->save(s->shared->self, to, record, out, &r->save_notes);
        if (saved == EXIT_ERROR) {
            return EXIT_ERROR;
        }
        status = saved == EXIT_UNSYNCED ? REC_E_SYNC : REC_OK;
    } else if (strcmp(out, "-") == 0) {
        off_t before = lseek(STDOUT_FILENO, 0, SEEK_CUR), after;
        status = rec_save_fd(to, record, STDOUT_FILENO, "standard output");
        after = lseek(STDOUT_FILENO, 0, SEEK_CUR);
        r->written = before >= 0 && after >= before ? (uint64_t)(after - before) : REC_UNKNOWN;
    } else {
        status = rec_save(to, record, out);
    }
    ended = tool_saved(status); /* before anything can run out of memory */
    if (!s->shared || r->dry) { /* else it has them of all */
        tool_notes_take(&r->save_notes);
    }
    if (ended != EXIT_OK) {
        return EXIT_ERROR;
    }
    if (strcmp(out, "-") != 0 && !r->dry) {
        path = rec_recorder_path(to, out);
        r->written = tool_size_of_file(path ? path : out);
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
    const char *version = s->o->base ? NULL : tool_burn_version(record);
    const char *word = s->o->base ? NULL : tool_precision_word(record);
    char number[NUMBER_ROOM];
    text from = {0}, line = {0};

    if (version) {
        tool_text_format(&from, "Burn %s", version);
    }
    if (version && rec_record_origin(record)->layout == 1) {
        tool_text_put(&from, ", V1");
    }
    if (word) {
        tool_text_format(&from, "%s%s", from.length ? ", " : "", word);
    }
    for (size_t i = 0; i < r->input_count; i++) {
        const char *name = tool_input_name(r->inputs[i]);
        tool_text_put(&line, i ? " + " : "");
        tool_text_safe(&line, name, strlen(name));
    }
    if (from.length) {
        tool_text_put(&line, " (");
        tool_text_safe(&line, from.at, from.length);
        tool_text_put(&line, ")");
    }
    tool_text_put(&line, " -> ");
    tool_text_safe(&line, r->out, strlen(r->out));
    if (s->o->precision != REC_PRECISION_KEEP) {
        tool_text_format(&line, " (%s)", rec_precision_name(s->o->precision));
    }
    tool_text_format(&line, ": %s tensor%s", tool_grouped(r->sums.tensors, number), tool_plural(r->sums.tensors));
    if (r->sums.values && !r->sums.tensors) {
        tool_text_format(&line, ", %s value%s", tool_grouped(r->sums.values, number), tool_plural(r->sums.values));
    }
    if (r->written != REC_UNKNOWN) {
        tool_text_format(&line, ", %s", tool_sized(r->written, number));
    }
    if (r->dry) {
        fprintf(out, "%s; a dry run, nothing was written\n", line.at);
    } else {
        fprintf(out, "%s in %.2f s, %s\n", line.at, r->seconds, r->checked ? "checked" : "not checked");
    }
    tool_text_free(&line);
    if (r->plan.plan && !tool_plan_is_plain(&r->plan)) {
        tool_plan_sum(&r->plan, &line);
        fprintf(out, "  %s\n", line.at);
        tool_text_free(&line);
        tool_plan_operations(&r->plan, &line);
        if (line.length) {
            fprintf(out, "  %s\n", line.at);
        }
        tool_plan_base(&r->plan, "  ", out);
    }
    tool_text_free(&from);
    tool_text_free(&line);
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
    tool_json_begin(&j, stream, 1);
    tool_json_object(&j, NULL);
    tool_json_string(&j, "in", r->inputs[0]);
    tool_json_array(&j, "inputs");
    for (size_t i = 0; i < r->input_count; i++) {
        tool_json_string(&j, NULL, r->inputs[i]);
    }
    tool_json_close(&j, ']');
    tool_json_string(&j, "out", strcmp(out, "-") == 0 ? out : r->out);
    tool_json_string(&j, "from", from);
    tool_json_string(&j, "to", rec_recorder_name(to));
    tool_json_string(&j, "burn", tool_burn_version(record));
    tool_json_uint(&j, "tensors", r->sums.tensors);
    tool_json_uint(&j, "parameters", r->sums.elements);
    tool_json_uint(&j, "values", r->sums.values);
    if (r->written == REC_UNKNOWN) {
        tool_json_token(&j, "written", "null");
    } else {
        tool_json_uint(&j, "written", r->written);
    }
    tool_json_token(&j, "seconds", seconds);
    tool_json_bool(&j, "checked", r->checked);
    if (r->dry) {
        tool_json_bool(&j, "dry_run", true);
    }
    if (r->plan.plan) {
        tool_json_totals(&j, "plan", &r->plan.totals);
        tool_json_problems(&j, "problems", &r->plan);
    }
    tool_json_array(&j, "notes");
    tool_json_note_items(&j, &r->plan.notes);
    tool_json_note_items(&j, &r->load_notes);
    tool_json_note_items(&j, &r->save_notes);
    tool_json_close(&j, ']');
    tool_json_close(&j, '}');
    tool_json_end(&j);
}

/* ------------------------------------------------------------------------------------------------------- loading -- */

/* Loads the input as it is where that tells whether it needs a plan: Burn did not write it.
 * @param record (out) the record, if it needs none. */
static int look(session *s, const char *in, planned *p, rec_record **record, bool *needs_plan)
{
    bool stream = strcmp(in, "-") == 0;
    const char *from = tool_session_from(s, 1), *name;
    rec_recorder *raw;
    rec_record *found;
    bool again;
    int status;

    if (stream && (status = tool_session_type(s)) != EXIT_OK) {
        return status;
    }
    if (stream && s->type) {
        return EXIT_OK;
    }
    raw = tool_session_raw(s, 1);
    name = raw ? rec_recorder_name(raw) : NULL;
    name = name && strcmp(name, "Auto") == 0 && !stream ? rec_recognise(s->context, in) : name;
    if (raw && tool_is_configured(s, from)) {
        *needs_plan = tool_is_foreign(s, name); /* its load arguments count */
        rec_close_recorder(raw);
        return EXIT_OK;
    }
    if (raw && !stream && !tool_is_foreign(s, name)) {
        rec_close_recorder(raw);
        return EXIT_OK;
    }
    /* This is a look, for which nothing has to be copied: mapped, what is not used is not read. */
    again = s->o->no_map && !stream;
    found = raw && rec_recorder_set(raw, "modules", "yes") == REC_OK &&
                    (!again || rec_recorder_set(raw, "map", "yes") == REC_OK) ? tool_session_load(raw, in) : NULL;
    rec_close_recorder(raw);
    if (!found) {
        return EXIT_ERROR;
    }
    *needs_plan = rec_value_form(rec_root(found)) == REC_FORM_PATHS;
    if (stream && *needs_plan) {
        p->stream = found;
    } else if (*needs_plan || again || (tool_session_type(s) == EXIT_OK && s->type)) {
        rec_record_free(found); /* to be loaded again, with what it needs */
    } else {
        *record = found;
    }
    return EXIT_OK;
}

/* Loads the inputs, by a plan if they need one. @return NULL with the error printed. */
static rec_record *load(session *s, const rec_recorder *to, bool to_stdout, report *r)
{
    bool needs_plan = r->input_count > 1 || tool_given_reading(s->o, READING_LOAD) || s->o->base;
    rec_record *record = NULL;
    rec_recorder *from;

    if (!needs_plan && look(s, r->inputs[0], &r->plan, &record, &needs_plan) != EXIT_OK) {
        return NULL;
    }
    /* As it is, for its format may not say what a file is: a foreign model needs a plan after all. */
    if (!needs_plan && !record && (from = tool_session_look(s))) {
        record = rec_recorder_set(from, "modules", "yes") == REC_OK ? tool_session_load_typed(s, from, r->inputs[0])
                                                                        : NULL;
        rec_close_recorder(from);
        needs_plan = record && rec_value_form(rec_root(record)) == REC_FORM_PATHS;
        if (needs_plan) {
            rec_record_free(record);
            record = NULL;
        }
    }
    if (needs_plan) {
        int status = tool_plan_make(s, r->inputs, r->input_count, to, &r->plan);
        if (status == EXIT_OK && s->o->debug) {
            tool_progress_end();
            tool_plan_debug(&r->plan, to_stdout ? stderr : stdout);
        }
        if (status != EXIT_OK || tool_plan_refuse(&r->plan) != EXIT_OK) {
            return NULL;
        }
        record = r->plan.record;
        r->plan.record = NULL;
        return record;
    }
    if (record) {
        tool_notes_take(&r->load_notes);
    }
    return record;
}

/* Whether OUT is a folder that the output goes into: it is there, or its name ends in a slash. */
static bool is_folder(const char *out)
{
    size_t length = strlen(out);
    struct stat is;

    return (length && out[length - 1] == '/') || (stat(out, &is) == 0 && S_ISDIR(is.st_mode));
}

/* Tells what becomes of a file that is there already. @param status (out) unless it may be written, that of the command. */
static int may_write(const session *s, rec_recorder *to, const report *r, const char *out, int *status)
{
    char *path = rec_recorder_path(to, out);
    char *there = NULL;
    bool all = false;
    int answer = s->shared && !s->shared->first ? EXISTING_WRITE : tool_existing(s, path ? path : out, &all, &there);
    json j;

    there = there ? there : xstrdup(out);
    if (s->shared && (answer = s->shared->agree(s->shared->self, answer)) < 0) {
        *status = EXIT_ERROR;
    } else if (answer == EXISTING_REFUSE) {
        *status = tool_fail("%s: it is there already\nLeave --no-clobber out to overwrite it.", there);
    } else if (answer != EXISTING_WRITE) {
        *status = answer == EXISTING_SKIP ? EXIT_OK : EXIT_DIFFERS;
        if (s->o->json) {
            tool_json_begin(&j, stdout, 1);
            tool_json_object(&j, NULL);
            tool_json_string(&j, "in", r->inputs[0]);
            tool_json_string(&j, "out", there);
            tool_json_string(&j, "result", "skipped");
            tool_json_close(&j, '}');
            tool_json_end(&j);
        } else if (!s->o->quiet) {
            text name = {0};
            tool_text_safe(&name, there, strlen(there));
            printf("%s is there already and was left as it is\n", name.at);
            tool_text_free(&name);
        }
    }
    free(there);
    rec_free(path);
    return answer;
}

int tool_run_convert(session *s, const char *const *operands, size_t count)
{
    const char *out = operands[count - 1], *to_name = s->o->to;
    bool to_stdout = strcmp(out, "-") == 0;
    report r = {.inputs = operands, .input_count = count - 1, .dry = tool_own(s->o, "dry-run") != NULL};
    rec_recorder *to = NULL;
    rec_record *record = NULL;
    char *path = NULL, *index;
    int status = EXIT_ERROR;

    if (tool_existing_check(s) != EXIT_OK) {
        return EXIT_ERROR;
    }
    if (s->o->recursive) {
        return count == 2 ? tool_run_recursive(s, operands[0], out)
                          : tool_fail_usage("convert", "--recursive takes one folder to read and one to write");
    }
    if (tool_own(s->o, "include") || tool_own(s->o, "exclude")) {
        return tool_fail_usage("convert", "--include and --exclude choose files of a folder: they need --recursive");
    }
    if (s->shared ? s->shared->files : is_folder(out)) {
        return tool_run_each(s, operands, count - 1, out);
    }
    if (to_stdout && !s->o->to) {
        return tool_fail_usage("convert", "standard output has no extension: say with --to which recorder is to write");
    }
    double begun = now();
    tool_progress_begin(s->context, s->o->quiet);
    to_name = to_name ? to_name : recorder_of(s, out);
    to = to_name ? tool_session_output(s, to_name) : NULL;
    if (to && !to_stdout && !*rec_recorder_extension(to) && strcmp(rec_recorder_name(to), "Auto") != 0) {
        (void)tool_fail("%s has no files: convert to standard output, or name another recorder", rec_recorder_name(to));
        goto done;
    }
    if (to && !to_stdout && may_write(s, to, &r, out, &status) != EXISTING_WRITE) {
        goto done;
    }
    record = to ? load(s, to, to_stdout, &r) : NULL;
    to = record ? tool_session_widen(s, to, to_name, record, &r.load_notes) : to;
    if (!record || !to || tool_set_metadata(s, record) != EXIT_OK || tool_set_shown_type(s, record, to) != EXIT_OK) {
        goto done;
    }
    if ((status = tool_summarise(record, &r.sums)) != EXIT_OK) {
        goto done;
    }
    tool_progress_expect(s->o->precision == REC_PRECISION_KEEP ? r.sums.nbytes : 0);
    tool_progress_guard();
    if ((status = save(s, to, record, out, &r)) != EXIT_OK) {
        goto done;
    }
    r.seconds = now() - begun;
    r.checked = !r.dry && (s->shared ? s->o->check : tool_progress_checked());
    tool_progress_end();
    path = to_stdout ? NULL : rec_recorder_path(to, out);
    if (r.dry) {
        index = NULL;
    } else if (path && (index = tool_index_beside(path))) {
        free(path);
        path = index;
        r.written = REC_UNKNOWN;
    } else if (path) {
        tool_note_old_index(path, &r.save_notes);
    }
    r.out = to_stdout ? "standard output" : path ? path : out;
    if (s->o->json) {
        print_json(s, record, to, &r, out, report_stream(out));
    } else {
        if (!s->o->quiet) {
            print_people(s, record, &r, report_stream(out));
        }
        if (r.plan.plan) {
            tool_plan_notes(s, &r.plan);
        }
        tool_notes_print(&r.load_notes, s->o->quiet);
        tool_notes_print(&r.save_notes, s->o->quiet);
    }

done:
    tool_progress_end();
    free(path);
    tool_summary_free(&r.sums);
    tool_notes_free(&r.load_notes);
    tool_notes_free(&r.save_notes);
    rec_record_free(record);
    tool_plan_free(&r.plan);
    rec_close_recorder(to);
    return status;
}
