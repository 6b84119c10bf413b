/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Plans: made from the inputs of the command line, their problems told, summed up; record plan. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/tool.h"

/* -------------------------------------------------------------------------------------------------------- making -- */

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
        n->at = retake(n->at, (n->kept + 1) * sizeof *n->at);
        n->at[n->kept++] = (struct note){note->kind, note->count, copy(note->path), copy(note->text)};
    }
}

/* Standard input cannot be opened by its name: it is loaded as it is, and the plan gets the record. */
static int add_stream(session *s, planned *p, size_t index, rec_recorder *arguments)
{
    rec_recorder *raw = p->stream ? NULL : session_raw(s, index);
    rec_record *record = raw ? session_load(raw, "-") : p->stream;
    int status = EXIT_ERROR;

    if (record) {
        p->stream = record;
        status = rec_plan_add_record(p->plan, arguments, record, input_name("-")) == REC_OK ? EXIT_OK : fail_library();
    }
    rec_close_recorder(raw);
    return status;
}

static int add_input(session *s, planned *p, size_t index, const char *path)
{
    rec_recorder *reader = session_input_at(s, index);
    const char *name;

    p->readers[index - 1] = reader;
    if (!reader) {
        return EXIT_ERROR;
    }
    if (strcmp(path, "-") == 0) {
        return add_stream(s, p, index, reader);
    }
    if (rec_plan_add(p->plan, reader, path) == REC_OK) {
        return EXIT_OK;
    }
    return lacks_type(s, path, &name) ? fail_no_type(s, path, name) : fail_library();
}

static int add_base(session *s, planned *p)
{
    rec_recorder *reader = rec_open_recorder_in(s->context, "Auto", REC_PRECISION_KEEP);
    int status = EXIT_ERROR;

    if (!reader) {
        return fail_library();
    }
    if (session_set_type(s, reader) == EXIT_OK && (p->base = session_load_typed(s, reader, s->o->base))) {
        status = rec_plan_set_base(p->plan, p->base) == REC_OK ? EXIT_OK : fail_library();
    }
    rec_close_recorder(reader);
    return status;
}

int plan_make(session *s, const char *const *inputs, size_t count, const rec_recorder *to, planned *p)
{
    int status = EXIT_OK, streams = 0;

    *p = (planned){.count = count, .stream = p->stream, .totals = {.size = sizeof p->totals}};
    p->readers = take(count * sizeof *p->readers);
    memset(p->readers, 0, count * sizeof *p->readers);
    for (size_t i = 0; i < count; i++) {
        streams += strcmp(inputs[i], "-") == 0;
    }
    if (streams > 1) {
        return fail("standard input can be read only once");
    }
    s->inputs = count;
    rec_context_set_notes(s->context, on_note, p);
    p->plan = rec_plan_new(s->context, to);
    if (!p->plan) {
        status = fail_library();
    }
    for (size_t i = 0; i < count && status == EXIT_OK; i++) {
        status = add_input(s, p, i + 1, inputs[i]);
    }
    if (status == EXIT_OK && s->o->base) {
        status = add_base(s, p);
    }
    if (status == EXIT_OK && (rec_plan_make(p->plan) != REC_OK || rec_plan_total(p->plan, &p->totals) != REC_OK)) {
        status = fail_library();
    }
    p->made = status == EXIT_OK;
    if (p->made) {
        p->record = rec_plan_load(p->plan);
        if (!p->record && !p->totals.fatal) {
            status = fail_library();
        }
    }
    rec_context_set_notes(s->context, NULL, NULL);
    return status;
}

void plan_free(planned *p)
{
    rec_record_free(p->record);
    rec_plan_free(p->plan);
    for (size_t i = 0; i < p->count; i++) {
        rec_close_recorder(p->readers[i]);
    }
    rec_record_free(p->stream);
    rec_record_free(p->base);
    free(p->readers);
    notes_free(&p->notes);
    notes_free(&p->debug);
    *p = (planned){0};
}

/* ------------------------------------------------------------------------------------------------------- problems -- */

const char *action_word(int32_t action)
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
        [REC_PROBLEM_NO_INVERSE] = "no-inverse",
    };

    return kind >= REC_PROBLEM_COLLISION && kind <= REC_PROBLEM_NO_INVERSE ? names[kind] : "other";
}

/* "KEY: text", the key left out where the text speaks of it already. */
static void problem_line(text *t, const rec_plan_problem *p)
{
    if (*p->key && !strstr(p->text, p->key)) {
        text_safe(t, p->key, strlen(p->key));
        text_put(t, ": ");
    }
    text_safe(t, p->text, strlen(p->text));
}

/* A hint stands below the last of several problems that it is for. */
static bool hint_follows(rec_plan *plan, uint64_t index, const rec_plan_problem *p)
{
    const rec_plan_problem *next = rec_plan_problem_get(plan, index + 1);

    return *p->hint && !(next && next->fatal == p->fatal && strcmp(next->hint, p->hint) == 0);
}

/* Hints speak of rules and load arguments; how these are written as options. */
static const struct {
    const char *word, *option;
    bool several; /* only where there are several inputs */
} written[] = {
    {"module = ", "--module 'PATTERN => TYPE'", false},
    {"variant = ", "--variant 'PATTERN => NAME'", false},
    {"export = ", "--rule 'export = PATTERN'", false},
    {"(partial)", "--partial", false},
    {"one a key of its own", "--prefix PATH in front of an input", true},
};
enum { WRITTEN = sizeof written / sizeof *written };

/* Problems of one sort. @param most how many of them, what is beyond is only counted. @return how many there are. */
static uint64_t print_problems(const planned *p, bool fatal, uint64_t most, FILE *out)
{
    uint64_t count = rec_plan_problem_count(p->plan), all = fatal ? p->totals.fatal : p->totals.warnings, shown = 0;
    bool to_user = out == stderr, asked[WRITTEN] = {false}, any = false;
    char number[NUMBER_ROOM];

    for (uint64_t i = 0; i < count && shown < most; i++) {
        const rec_plan_problem *problem = rec_plan_problem_get(p->plan, i);
        text line = {0};
        if ((problem->fatal != 0) != fatal) {
            continue;
        }
        problem_line(&line, problem);
        for (size_t k = 0; k < WRITTEN; k++) {
            asked[k] = asked[k] || (strstr(problem->hint, written[k].word) && (p->count > 1 || !written[k].several));
        }
        shown++;
        if (to_user) {
            fprintf(out, "%srecord:%s %s%s\n", style_error(fatal ? STYLE_ERROR : STYLE_NOTE), style_error(STYLE_PLAIN),
                    fatal ? "" : "note: ", line.at);
        } else {
            fprintf(out, "%s%s%s %s\n", style(fatal ? STYLE_ERROR : STYLE_NOTE),
                    fatal ? "problem:" : "note:", style(STYLE_PLAIN), line.at);
        }
        text_free(&line);
        if (hint_follows(p->plan, i, problem) || (shown == most && *problem->hint)) {
            for (const char *at = problem->hint; *at;) {
                size_t length = strcspn(at, "\n");
                text_safe(&line, at, length);
                fprintf(out, "  %s\n", line.at);
                text_free(&line);
                at += length + (at[length] == '\n');
            }
        }
    }
    for (size_t k = 0; k < WRITTEN; k++) {
        if (asked[k]) {
            fprintf(out, "%s%s", any ? "; " : "  As an option: ", written[k].option);
            any = true;
        }
    }
    fputs(any ? ".\n" : "", out);
    if (all > shown) {
        fprintf(out, "%s… and %s more%s\n", to_user ? "record: " : "", grouped(all - shown, number),
                fatal ? "" : " of these notes");
    }
    return all;
}

int plan_refuse(const planned *p)
{
    enum { SHOWN = 20 };

    if (!p->totals.fatal) {
        return EXIT_OK;
    }
    (void)fflush(stdout);
    (void)print_problems(p, true, SHOWN, stderr);
    return EXIT_ERROR;
}

void plan_notes(const session *s, const planned *p)
{
    enum { SHOWN = 5 };

    if (!s->o->quiet) {
        notes_print(&p->notes, s->o->quiet);
        (void)print_problems(p, false, SHOWN, stderr);
    }
}

/* ---------------------------------------------------------------------------------------------------- debug print -- */

void plan_debug(const planned *p, FILE *out)
{
    fputs("Debug information of keys and tensor shapes:\n---\n", out);
    for (size_t i = 0; i < p->debug.kept; i++) {
        for (const char *at = p->debug.at[i].text; *at;) {
            size_t length = strcspn(at, "\n");
            text line = {0};
            text_safe(&line, at, length);
            fprintf(out, "%s\n", line.at);
            text_free(&line);
            at += length + (at[length] == '\n');
        }
    }
}

/* ----------------------------------------------------------------------------------------------------------- JSON -- */

void json_totals(json *j, const char *key, const rec_plan_totals *totals)
{
    json_object(j, key);
    json_uint(j, "tensors", totals->tensors);
    json_uint(j, "mapped", totals->mapped);
    json_uint(j, "dropped", totals->dropped);
    json_uint(j, "unexpected", totals->unexpected);
    json_uint(j, "missing", totals->missing);
    json_uint(j, "kept", totals->kept);
    json_uint(j, "defaults", totals->defaults);
    json_uint(j, "fatal", totals->fatal);
    json_uint(j, "warnings", totals->warnings);
    json_close(j, '}');
}

void json_problems(json *j, const char *key, const planned *p)
{
    uint64_t count = rec_plan_problem_count(p->plan);

    json_array(j, key);
    for (uint64_t i = 0; i < count; i++) {
        const rec_plan_problem *problem = rec_plan_problem_get(p->plan, i);
        json_object(j, NULL);
        json_string(j, "kind", problem_word(problem->kind));
        json_bool(j, "fatal", problem->fatal);
        json_string(j, "key", problem->key);
        json_string(j, "text", problem->text);
        json_string(j, "hint", problem->hint);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void json_form(json *j, const char *key, rec_dtype dtype, const uint64_t *shape, uint32_t rank)
{
    if (dtype == REC_DTYPE_NONE) {
        json_token(j, key, "null");
        return;
    }
    json_object(j, key);
    json_string(j, "dtype", rec_dtype_name(dtype));
    json_shape(j, "shape", shape, rank);
    json_close(j, '}');
}

static void print_json(const session *s, const planned *p, const char *const *inputs)
{
    uint64_t count = rec_plan_count(p->plan);
    json j;

    json_begin(&j, stdout, 2);
    json_object(&j, NULL);
    json_array(&j, "inputs");
    for (size_t i = 0; i < p->count; i++) {
        json_string(&j, NULL, inputs[i]);
    }
    json_close(&j, ']');
    json_string(&j, "to", s->o->to);
    json_array(&j, "lines");
    for (uint64_t i = 0; i < count; i++) {
        const rec_plan_line *line = rec_plan_get(p->plan, i);
        json_object(&j, NULL);
        json_string(&j, "action", action_word(line->action));
        json_string(&j, "source", *line->source ? line->source : NULL);
        json_array(&j, "from");
        for (uint64_t k = 0; k < line->input_count; k++) {
            json_string(&j, NULL, line->inputs[k]);
        }
        json_close(&j, ']');
        json_string(&j, "to",
                    line->action == REC_PLAN_DROPPED || line->action == REC_PLAN_UNEXPECTED ? NULL : line->to);
        json_string(&j, "operations", line->operations);
        json_string(&j, "why", line->why);
        json_form(&j, "before", line->dtype_before, line->shape_before, line->rank_before);
        json_form(&j, "after", line->dtype_after, line->shape_after, line->rank_after);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_problems(&j, "problems", p);
    json_totals(&j, "totals", &p->totals);
    json_notes(&j, "notes", &p->notes);
    json_close(&j, '}');
    json_end(&j);
}

/* ---------------------------------------------------------------------------------------------------- record plan -- */

static void print_people(const session *s, const planned *p)
{
    bool folded = print_plan(p, s->o->all);
    text line = {0};

    for (size_t i = 0; i < p->notes.kept; i++) {
        const struct note *note = &p->notes.at[i];
        text_safe(&line, note->path, strlen(note->path));
        text_put(&line, *note->path ? ": " : "");
        text_safe(&line, note->text, strlen(note->text));
        printf("%snote:%s %s\n", style(STYLE_NOTE), style(STYLE_PLAIN), line.at);
        text_free(&line);
    }
    (void)print_problems(p, false, s->o->all ? UINT64_MAX : 20, stdout);
    (void)print_problems(p, true, s->o->all ? UINT64_MAX : 20, stdout);
    plan_sum(p, &line);
    fputs(line.at, stdout);
    text_free(&line);
    if (folded) {
        printf("      %s(--all lists every one)%s", style(STYLE_DIM), style(STYLE_PLAIN));
    }
    putchar('\n');
}

int run_plan(session *s, const char *const *operands, size_t count)
{
    rec_recorder *to = NULL;
    planned p = {0};
    int status = EXIT_ERROR;

    if (s->o->to && !(to = session_output(s, s->o->to))) {
        return EXIT_ERROR;
    }
    if (plan_make(s, operands, count, to, &p) == EXIT_OK) {
        if (s->o->json) {
            print_json(s, &p, operands);
        } else if (s->o->debug) {
            plan_debug(&p, stdout);
        } else {
            print_people(s, &p);
        }
        status = p.totals.fatal || (s->o->strict && p.totals.warnings) ? EXIT_DIFFERS : EXIT_OK;
    }
    plan_free(&p);
    rec_close_recorder(to);
    return status;
}
