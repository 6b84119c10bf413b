/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record convert: reads a record with one recorder and writes it with another. */
#include <stdlib.h>
#include <string.h>

#include "tools/convert/convert_private.h"

const tool_option tool_convert_options[] = {
    {"force", NULL, 'y', "overwrite without asking"},
    {"no-clobber", NULL, 'n', "an existing output is an error"},
    {"skip-existing", NULL, 0, "skip existing outputs"},
    {"dry-run", NULL, 0, "do everything except writing, and print the size"},
    {"include", "GLOB", 0, "with -r: only files that match (repeatable)"},
    {"exclude", "GLOB", 0, "with -r: no files that match (repeatable)"},
    {0},
};

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

/* Finds the recorder that writes by the extension of its file, before anything is read; a name without extension leaves
 * it to --burn. @return its name, NULL with the error printed. */
static const char *recorder_of(const session *s, const char *out)
{
    const char *implied = tool_session_to(s), *slash = strrchr(out, '/');
    const rec_plugin_info *found = rec_plugin_for_path(s->context, out);
    text known = {0}, codecs = {0};

    if (found) {
        return found->name;
    }
    if (rec_error_status() != REC_E_ARGUMENT) {
        (void)tool_fail_library();
        return NULL;
    }
    if (implied && !strchr(slash ? slash : out, '.')) {
        return implied;
    }
    for (uint64_t i = 0; i < rec_plugin_count(s->context); i++) {
        const rec_plugin_info *p = rec_plugin_get(s->context, i);
        if (p->can_save) {
            bool codec = p->kind == REC_PLUGIN_CODEC;
            add_extensions(codec ? &codecs : &known, codec ? p->extension : p->extensions);
        }
    }
    (void)tool_fail("%s: unknown extension\n"
                    "Known: %s%s%s\n"
                    "Or name the recorder: --to NAME",
                    out, known.at ? known.at : "none at all; record plugins --why says why",
                    known.at && codecs.at ? "; any of them may be followed by " : "",
                    known.at && codecs.at ? codecs.at : "");
    tool_text_free(&codecs);
    tool_text_free(&known);
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------- reports -- */

/* @return the output as people should see it. */
static const char *shown_output(const conversion *c)
{
    return strcmp(c->out, "-") == 0 ? "standard output" : c->path ? c->path : c->out;
}

static void print_people(const session *s, const conversion *c, double seconds, FILE *out)
{
    /* With a base they are the base's, not those of the inputs. */
    const char *version = s->o->base ? NULL : tool_burn_version(c->record);
    const char *word = s->o->base ? NULL : tool_precision_word(c->record);
    const char *shown = shown_output(c);
    char number[NUMBER_ROOM];
    text from = {0}, line = {0};

    if (version) {
        tool_text_format(&from, "Burn %s", version);
    }
    if (version && rec_record_origin(c->record)->layout == 1) {
        tool_text_put(&from, ", V1");
    }
    if (word) {
        tool_text_format(&from, "%s%s", from.length ? ", " : "", word);
    }
    for (size_t i = 0; i < c->count; i++) {
        const char *name = tool_input_name(c->inputs[i]);
        tool_text_put(&line, i ? " + " : "");
        tool_text_safe(&line, name, strlen(name));
    }
    if (from.length) {
        tool_text_put(&line, " (");
        tool_text_safe(&line, from.at, from.length);
        tool_text_put(&line, ")");
    }
    tool_text_put(&line, " -> ");
    tool_text_safe(&line, shown, strlen(shown));
    if (s->o->precision != REC_PRECISION_KEEP) {
        tool_text_format(&line, " (%s)", rec_precision_name(s->o->precision));
    }
    tool_text_format(&line, ": %s tensor%s", tool_grouped(c->sums.tensors, number), tool_plural(c->sums.tensors));
    if (c->sums.values && !c->sums.tensors) {
        tool_text_format(&line, ", %s value%s", tool_grouped(c->sums.values, number), tool_plural(c->sums.values));
    }
    if (c->written != REC_UNKNOWN) {
        tool_text_format(&line, ", %s", tool_sized(c->written, number));
    }
    if (c->dry) {
        fprintf(out, "%s; a dry run, nothing was written\n", line.at);
    } else {
        fprintf(out, "%s in %.2f s, %s\n", line.at, seconds, c->checked ? "checked" : "not checked");
    }
    tool_text_free(&line);
    if (c->plan.plan && !tool_plan_is_plain(&c->plan)) {
        tool_plan_sum(&c->plan, &line);
        fprintf(out, "  %s\n", line.at);
        tool_text_free(&line);
        tool_plan_operations(&c->plan, &line);
        if (line.length) {
            fprintf(out, "  %s\n", line.at);
        }
        tool_plan_base(&c->plan, "  ", out);
    }
    tool_text_free(&from);
    tool_text_free(&line);
}

static void print_json(const session *s, const conversion *c, double seconds, FILE *stream)
{
    const char *from = rec_record_origin(c->record)->recorder;
    char took[NUMBER_ROOM];
    json j;

    /* A record made by a plan has no file. */
    if (!*from) {
        from = c->count == 1 && strcmp(c->inputs[0], "-") != 0 ? tool_recognise(s->context, c->inputs[0]) : NULL;
    }
    (void)snprintf(took, sizeof took, "%.6f", seconds);
    tool_json_open(&j, stream, 1);
    tool_json_string(&j, "in", c->inputs[0]);
    tool_json_array(&j, "inputs");
    for (size_t i = 0; i < c->count; i++) {
        tool_json_string(&j, NULL, c->inputs[i]);
    }
    tool_json_close(&j, ']');
    tool_json_string(&j, "out", strcmp(c->out, "-") == 0 ? c->out : shown_output(c));
    tool_json_string(&j, "from", from);
    tool_json_string(&j, "to", rec_recorder_name(c->to));
    tool_json_string(&j, "burn", tool_burn_version(c->record));
    tool_json_uint(&j, "tensors", c->sums.tensors);
    tool_json_uint(&j, "parameters", c->sums.elements);
    tool_json_uint(&j, "values", c->sums.values);
    tool_json_size(&j, "written", c->written);
    tool_json_token(&j, "seconds", took);
    tool_json_bool(&j, "checked", c->checked);
    if (c->dry) {
        tool_json_bool(&j, "dry_run", true);
    }
    if (c->plan.plan) {
        tool_json_totals(&j, "plan", &c->plan.totals);
        tool_json_problems(&j, "problems", &c->plan);
    }
    tool_json_array(&j, "notes");
    tool_json_note_items(&j, &c->plan.notes);
    tool_json_note_items(&j, &c->load_notes);
    tool_json_note_items(&j, &c->save_notes);
    tool_json_close(&j, ']');
    tool_json_finish(&j);
}

static void print_report(const session *s, const conversion *c, double seconds)
{
    FILE *stream = strcmp(c->out, "-") == 0 ? stderr : stdout; /* the one that no data go to */

    if (s->o->json) {
        print_json(s, c, seconds, stream);
        return;
    }
    if (!s->o->quiet) {
        print_people(s, c, seconds, stream);
    }
    if (c->plan.plan) {
        tool_plan_notes(s, &c->plan);
    }
    tool_notes_print(&c->load_notes, s->o->quiet);
    tool_notes_print(&c->save_notes, s->o->quiet);
}

/* ------------------------------------------------------------------------------------------------- conversions -- */

/* Decides whether an existing file may be overwritten. @param status (out) otherwise the exit status. */
static int may_write(const session *s, const conversion *c, int *status)
{
    char *path = rec_recorder_path(c->to, c->out);
    char *there = NULL;
    bool all = false;
    int answer = s->shared->first ? tool_existing(s, path ? path : c->out, &all, &there) : EXISTING_WRITE;
    json j;

    there = there ? there : xstrdup(c->out);
    if ((answer = s->shared->agree(s->shared->self, answer)) < 0) {
        *status = EXIT_ERROR;
    } else if (answer == EXISTING_REFUSE) {
        *status = tool_fail("%s exists\nRemove --no-clobber to overwrite it.", there);
    } else if (answer != EXISTING_WRITE) {
        *status = answer == EXISTING_SKIP ? EXIT_OK : EXIT_DIFFERS;
        if (s->o->json) {
            tool_json_open(&j, stdout, 1);
            tool_json_string(&j, "in", c->inputs[0]);
            tool_json_string(&j, "out", there);
            tool_json_string(&j, "result", "skipped");
            tool_json_finish(&j);
        } else if (!s->o->quiet) {
            text name = {0};
            tool_text_safe(&name, there, strlen(there));
            printf("%s exists: skipped\n", name.at);
            tool_text_free(&name);
        }
    }
    free(there);
    rec_free(path);
    return answer;
}

/* Opens the recorder that writes and looks at what is there. @return EXISTING_WRITE; else `status` (out) is the
 * command's. */
static int prepare(session *s, conversion *c, int *status)
{
    bool stream = strcmp(c->out, "-") == 0;

    c->to_name = s->o->to ? s->o->to : recorder_of(s, c->out);
    c->to = c->to_name ? tool_session_output(s, c->to_name) : NULL;
    *status = EXIT_ERROR;
    if (!c->to) {
        return EXISTING_REFUSE;
    }
    if (!stream && !*rec_recorder_extension(c->to) && strcmp(rec_recorder_name(c->to), "Auto") != 0) {
        *status = tool_fail("%s has no files: convert to standard output, or name another recorder",
                            rec_recorder_name(c->to));
        return EXISTING_REFUSE;
    }
    return stream ? EXISTING_WRITE : may_write(s, c, status);
}

static int convert_to_one(session *s, const char *const *inputs, size_t count, const char *out)
{
    conversion c = {.inputs = inputs, .count = count, .out = out, .dry = tool_own(s->o, "dry-run") != NULL};
    double begun = tool_now();
    int status;

    tool_progress_begin(s->context, s->o->quiet);
    if (prepare(s, &c, &status) == EXISTING_WRITE) {
        status = tool_convert(s, &c);
        tool_progress_end();
        if (status == EXIT_OK) {
            print_report(s, &c, tool_now() - begun);
        } else if (c.plan.made) {
            tool_plan_refuse(&c.plan);
        }
    }
    tool_progress_end();
    tool_conversion_free(&c);
    return status;
}

int tool_run_convert(session *s, const char *const *operands, size_t count)
{
    const char *out = operands[count - 1];

    if (tool_existing_check(s) != EXIT_OK) {
        return EXIT_ERROR;
    }
    if (s->o->recursive) {
        return count == 2 ? tool_run_recursive(s, operands[0], out)
                          : tool_fail_usage("convert", "--recursive takes one directory to read and one to write");
    }
    if (tool_own(s->o, "include") || tool_own(s->o, "exclude")) {
        return tool_fail_usage("convert", "--include and --exclude choose files of a directory: they need --recursive");
    }
    if (s->shared->into_folder(s->shared->self, out)) {
        return tool_run_each(s, operands, count - 1, out);
    }
    if (strcmp(out, "-") == 0 && !tool_session_to(s)) {
        return tool_fail_usage("convert", "standard output has no extension: name the recorder with --to");
    }
    return convert_to_one(s, operands, count - 1, out);
}
