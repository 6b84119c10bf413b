/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Plans: made from the inputs of the command line, their problems told, summed up; record plan. */
#include <stdlib.h>
#include <string.h>

#include "tools/plan/plan.h"

/* ------------------------------------------------------------------------------------------------------ making -- */

/* What the library says while a plan is made and carried out. Debug lines, one a tensor, are kept apart: a report would
 * not hold them. */
static void on_note(void *user, const rec_note *note)
{
    planned *p = user;
    notes *n = note->kind == REC_NOTE_KEY ? &p->debug : &p->notes;

    /* Carrying it out repeats its problems as notes. */
    if (p->made && note->kind != REC_NOTE_KEY && note->kind != REC_NOTE_ADAPTED) {
        return;
    }
    for (size_t i = 0; i < n->kept && note->kind != REC_NOTE_KEY; i++) {
        if (strcmp(n->at[i].text, note->text) == 0 && strcmp(n->at[i].path, note->path) == 0) {
            return; /* a rule is read where it is given and where it is used */
        }
    }
    n->made++;
    if (note->kind == REC_NOTE_KEY || n->kept < 1000) {
        n->at = tool_grown(n->at, n->kept, sizeof *n->at);
        n->at[n->kept++] = (struct note){note->kind, note->count, xstrdup(note->path), xstrdup(note->text)};
    }
}

/* Standard input has no name to open: it is loaded unchanged, and the plan gets the record. */
static int add_stream(session *s, planned *p, size_t index, rec_recorder *arguments)
{
    rec_recorder *raw = p->stream ? NULL : tool_session_raw(s, index);
    rec_record *record = raw ? tool_session_load(raw, "-") : p->stream;
    int status = EXIT_ERROR;

    if (record) {
        p->stream = record;
        status = rec_plan_add_record(p->plan, arguments, record, tool_input_name("-")) == REC_OK ? EXIT_OK
                                                                                                 : tool_fail_library();
    }
    rec_close_recorder(raw);
    return status;
}

static int add_input(session *s, planned *p, size_t index, const char *path)
{
    rec_recorder *reader = tool_session_input(s, index);
    const char *name;

    p->readers[index - 1] = reader;
    if (!reader) {
        return EXIT_ERROR;
    }
    if (strcmp(path, "-") == 0) {
        return add_stream(s, p, index, reader);
    }
    if (tool_plan_add(p->plan, reader, path) == REC_OK) {
        return EXIT_OK;
    }
    return tool_lacks_type(s, path, &name) ? tool_fail_no_type(s, path, name) : tool_fail_library();
}

static int add_base(session *s, const rec_recorder *to, planned *p)
{
    rec_recorder *reader = rec_open_recorder_in(s->context, "Auto", REC_PRECISION_KEEP);
    bool back = tool_is_given(s, "reverse");
    int status = EXIT_ERROR;

    if (!reader) {
        return tool_fail_library();
    }
    /* Between files of other frameworks nothing is adapted: the base neither. Backwards it is such a file, and the type
     * is the record's. */
    if (((to && tool_is_foreign(s, rec_recorder_name(to))) || back) &&
        (rec_recorder_set(reader, "adapter", "none") != REC_OK || rec_recorder_set(reader, "gaps", "keep") != REC_OK)) {
        status = tool_fail_library();
    } else if ((back || tool_session_set_type(s, reader) == EXIT_OK) &&
               (p->base = tool_session_load_typed(s, reader, s->o->base))) {
        status = rec_plan_set_base(p->plan, p->base) == REC_OK ? EXIT_OK : tool_fail_library();
    }
    rec_close_recorder(reader);
    return status;
}

int tool_plan_make(session *s, const char *const *inputs, size_t count, const rec_recorder *to, planned *p)
{
    int status = EXIT_OK, streams = 0;

    *p = (planned){.count = count, .stream = p->stream, .totals = {.size = sizeof p->totals}};
    p->readers = xmalloc(count * sizeof *p->readers);
    memset(p->readers, 0, count * sizeof *p->readers);
    for (size_t i = 0; i < count; i++) {
        streams += strcmp(inputs[i], "-") == 0;
    }
    if (streams > 1) {
        return tool_fail("standard input can be read only once");
    }
    s->inputs = count;
    rec_context_set_notes(s->context, on_note, p);
    p->plan = rec_plan_new(s->context, to);
    if (!p->plan) {
        status = tool_fail_library();
    }
    if (status == EXIT_OK && s->o->base) {
        status = add_base(s, to, p);
    }
    for (size_t i = 0; i < count && status == EXIT_OK; i++) {
        status = add_input(s, p, i + 1, inputs[i]);
    }
    if (status == EXIT_OK && (rec_plan_make(p->plan) != REC_OK || rec_plan_total(p->plan, &p->totals) != REC_OK)) {
        status = tool_fail_library();
    }
    p->made = status == EXIT_OK;
    if (p->made) {
        p->record = rec_plan_load(p->plan);
        if (!p->record && !p->totals.fatal) {
            status = tool_fail_library();
        }
    }
    rec_context_set_notes(s->context, NULL, NULL);
    return status;
}

void tool_plan_free(planned *p)
{
    rec_record_free(p->record);
    rec_plan_free(p->plan);
    for (size_t i = 0; i < p->count; i++) {
        rec_close_recorder(p->readers[i]);
    }
    rec_record_free(p->stream);
    rec_record_free(p->base);
    free(p->readers);
    tool_notes_free(&p->notes);
    tool_notes_free(&p->debug);
    *p = (planned){0};
}

/* ---------------------------------------------------------------------------------------------------- problems -- */

static const char *action_word(int32_t action)
{
    static const char *const names[] = {
        [REC_PLAN_MAPPED] = "mapped",   [REC_PLAN_DROPPED] = "dropped", [REC_PLAN_UNEXPECTED] = "unexpected",
        [REC_PLAN_MISSING] = "missing", [REC_PLAN_KEPT] = "kept",       [REC_PLAN_DEFAULT] = "default"};

    return action >= REC_PLAN_MAPPED && action <= REC_PLAN_DEFAULT ? names[action] : "other";
}

static const char *problem_word(int32_t kind)
{
    static const char *const names[] = {
        [REC_PROBLEM_COLLISION] = "collision",   [REC_PROBLEM_DEAD_RULE] = "dead-rule",
        [REC_PROBLEM_MISSING] = "missing",       [REC_PROBLEM_UNEXPECTED] = "unexpected",
        [REC_PROBLEM_SHAPE] = "shape",           [REC_PROBLEM_KIND] = "kind",
        [REC_PROBLEM_AMBIGUOUS] = "ambiguous",   [REC_PROBLEM_EMPTY] = "empty",
        [REC_PROBLEM_NO_INVERSE] = "no-inverse", [REC_PROBLEM_FAMILY] = "family",
        [REC_PROBLEM_ASSUMED] = "assumed",
    };

    return kind >= REC_PROBLEM_COLLISION && kind <= REC_PROBLEM_ASSUMED ? names[kind] : "other";
}

/* Prints the problems, each with a prefix. */
static void print_problems(const planned *p, bool fatal, uint64_t most, FILE *out)
{
    bool error = out == stderr;
    int style = fatal ? STYLE_ERROR : STYLE_NOTE;
    const char *word = error ? "record:" : fatal ? "problem:" : "note:";
    const char *plain = error ? tool_style_error(STYLE_PLAIN) : tool_style(STYLE_PLAIN);
    char *lead = xasprintf("%s%s%s %s", error ? tool_style_error(style) : tool_style(style), word, plain,
                           error && !fatal ? "note: " : "");

    tool_problems_print(p, fatal, most, lead, error ? "record: " : "", out);
    free(lead);
}

void tool_plan_refuse(const planned *p)
{
    (void)fflush(stdout);
    print_problems(p, true, TOOL_PROBLEMS_SHOWN, stderr);
}

void tool_plan_notes(const session *s, const planned *p)
{
    if (!s->o->quiet) {
        tool_notes_print(&p->notes, s->o->quiet);
        print_problems(p, false, TOOL_PROBLEM_NOTES_SHOWN, stderr);
    }
}

/* ------------------------------------------------------------------------------------------------- debug print -- */

void tool_plan_debug(const planned *p, FILE *out)
{
    fputs("Debug information of keys and tensor shapes:\n---\n", out);
    for (size_t i = 0; i < p->debug.kept; i++) {
        tool_print_lines(out, "", "", p->debug.at[i].text);
    }
}

/* -------------------------------------------------------------------------------------------------------- JSON -- */

void tool_json_totals(json *j, const char *key, const rec_plan_totals *totals)
{
    tool_json_object(j, key);
    tool_json_uint(j, "tensors", totals->tensors);
    tool_json_uint(j, "mapped", totals->mapped);
    tool_json_uint(j, "dropped", totals->dropped);
    tool_json_uint(j, "unexpected", totals->unexpected);
    tool_json_uint(j, "missing", totals->missing);
    tool_json_uint(j, "kept", totals->kept);
    tool_json_uint(j, "defaults", totals->defaults);
    tool_json_uint(j, "fatal", totals->fatal);
    tool_json_uint(j, "warnings", totals->warnings);
    tool_json_close(j, '}');
}

void tool_json_problems(json *j, const char *key, const planned *p)
{
    uint64_t count = rec_plan_problem_count(p->plan);

    tool_json_array(j, key);
    for (uint64_t i = 0; i < count; i++) {
        const rec_plan_problem *problem = rec_plan_problem_get(p->plan, i);
        text hint = {0};
        tool_json_object(j, NULL);
        tool_json_string(j, "kind", problem_word(problem->kind));
        tool_json_bool(j, "fatal", problem->fatal);
        tool_json_string(j, "key", problem->key);
        tool_json_string(j, "text", problem->text);
        tool_text_hint(&hint, problem->hint);
        tool_json_string(j, "hint", hint.at);
        tool_text_free(&hint);
        tool_json_close(j, '}');
    }
    tool_json_close(j, ']');
}

static void json_form(json *j, const char *key, rec_dtype dtype, const uint64_t *shape, uint32_t rank)
{
    if (dtype == REC_DTYPE_NONE) {
        tool_json_token(j, key, "null");
        return;
    }
    tool_json_object(j, key);
    tool_json_string(j, "dtype", rec_dtype_name(dtype));
    tool_json_shape(j, "shape", shape, rank);
    tool_json_close(j, '}');
}

static void print_json(const session *s, const planned *p, const char *const *inputs)
{
    uint64_t count = rec_plan_count(p->plan);
    json j;

    tool_json_open(&j, stdout, 2);
    tool_json_array(&j, "inputs");
    for (size_t i = 0; i < p->count; i++) {
        tool_json_string(&j, NULL, inputs[i]);
    }
    tool_json_close(&j, ']');
    tool_json_string(&j, "to", s->o->to);
    tool_json_array(&j, "lines");
    for (uint64_t i = 0; i < count; i++) {
        const rec_plan_line *line = tool_plan_line(p->plan, i);
        tool_json_object(&j, NULL);
        tool_json_string(&j, "action", action_word(line->action));
        tool_json_string(&j, "source", *line->source ? line->source : NULL);
        tool_json_array(&j, "from");
        for (uint64_t k = 0; k < line->input_count; k++) {
            tool_json_string(&j, NULL, line->inputs[k]);
        }
        tool_json_close(&j, ']');
        tool_json_string(&j, "to",
                         line->action == REC_PLAN_DROPPED || line->action == REC_PLAN_UNEXPECTED ? NULL : line->to);
        tool_json_string(&j, "operations", line->operations);
        tool_json_string(&j, "why", line->why);
        json_form(&j, "before", line->dtype_before, line->shape_before, line->rank_before);
        json_form(&j, "after", line->dtype_after, line->shape_after, line->rank_after);
        tool_json_close(&j, '}');
    }
    tool_json_close(&j, ']');
    tool_json_problems(&j, "problems", p);
    tool_json_totals(&j, "totals", &p->totals);
    tool_json_notes(&j, "notes", &p->notes);
    tool_json_finish(&j);
}

/* ------------------------------------------------------------------------------------------------- record plan -- */

static void print_people(const session *s, const planned *p)
{
    bool folded = tool_print_plan(p, s->o->all);
    text line = {0};

    for (size_t i = 0; i < p->notes.kept; i++) {
        const struct note *note = &p->notes.at[i];
        printf("%snote:%s ", tool_style(STYLE_NOTE), tool_style(STYLE_PLAIN));
        tool_print_safe(stdout, note->path);
        fputs(*note->path ? ": " : "", stdout);
        tool_print_safe(stdout, note->text);
        putchar('\n');
    }
    print_problems(p, false, s->o->all ? UINT64_MAX : TOOL_PROBLEMS_SHOWN, stdout);
    print_problems(p, true, s->o->all ? UINT64_MAX : TOOL_PROBLEMS_SHOWN, stdout);
    tool_plan_sum(p, &line);
    fputs(line.at, stdout);
    tool_text_free(&line);
    if (folded) {
        printf("      %s(--all lists every one)%s", tool_style(STYLE_DIM), tool_style(STYLE_PLAIN));
    }
    putchar('\n');
    tool_plan_base(p, "", stdout);
}

int tool_run_plan(session *s, const char *const *operands, size_t count)
{
    rec_recorder *to = NULL;
    planned p = {0};
    int status = EXIT_ERROR;

    if (s->o->to && !(to = tool_session_output(s, s->o->to))) {
        return EXIT_ERROR;
    }
    tool_progress_begin(s->context, s->o->quiet);
    status = tool_plan_make(s, operands, count, to, &p);
    tool_progress_end();
    if (status == EXIT_OK) {
        if (s->o->json) {
            print_json(s, &p, operands);
        } else if (s->o->debug) {
            tool_plan_debug(&p, stdout);
        } else {
            print_people(s, &p);
        }
        status = p.totals.fatal || (s->o->strict && p.totals.warnings) ? EXIT_DIFFERS : EXIT_OK;
    }
    tool_plan_free(&p);
    rec_close_recorder(to);
    return status;
}
