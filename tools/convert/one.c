/* SPDX-License-Identifier: MIT OR Apache-2.0
 * One conversion: loads the inputs, by a plan if they need one, and saves the output. Every way of naming inputs and
 * outputs ends here. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/convert/convert_private.h"

/* Sets the type that a record with names shows on a recorder that writes for another version of Burn: the fields that
 * this version adds, removes or reorders follow from the types of the modules. Assumptions about the rest change
 * nothing in a file that has names. Without such a type the record is written unchanged. */
static int set_shown_type(session *s, const rec_record *record, rec_recorder *to)
{
    const char *writer = rec_recorder_name(to);

    if (tool_session_type(s) != EXIT_OK) {
        return EXIT_ERROR;
    }
    if (!s->o->burn || s->type || tool_needs_type(s, rec_record_origin(record)->recorder) ||
        tool_needs_type(s, writer) || strcmp(writer, "Auto") == 0 || rec_value_count(rec_root(record)) == 0) {
        return EXIT_OK;
    }
    return tool_session_set_shown_type(s, record, to);
}

/* Sets what --metadata asks for. */
static int set_metadata(const session *s, rec_record *record)
{
    int status = EXIT_OK;

    for (size_t i = 0; i < s->o->metadata.count && status == EXIT_OK; i++) {
        const char *setting = s->o->metadata.at[i], *value = strchr(setting, '=') + 1;
        char *key = xasprintf("%.*s", (int)(value - 1 - setting), setting);
        status = tool_set_metadata(record, "--metadata", key, value);
        free(key);
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------------- loading -- */

/* Loads the input unchanged if that shows whether it needs a plan: foreign models do. @param record (out) the record,
 * if it needs no plan. */
static int look(session *s, conversion *c, rec_record **record, bool *needs_plan)
{
    const char *in = c->inputs[0], *from = tool_session_from(s, 1), *name;
    bool stream = strcmp(in, "-") == 0;
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
    name = name && strcmp(name, "Auto") == 0 && !stream ? tool_recognise(s->context, in) : name;
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
    found = raw && tool_session_set(raw, "modules", "yes") == EXIT_OK &&
                    (!again || tool_session_set(raw, "map", "yes") == EXIT_OK)
                ? tool_session_load(raw, in)
                : NULL;
    rec_close_recorder(raw);
    if (!found) {
        return EXIT_ERROR;
    }
    *needs_plan = rec_value_form(rec_root(found)) == REC_FORM_PATHS;
    if (stream && *needs_plan) {
        c->plan.stream = found;
    } else if (*needs_plan || again || (tool_session_type(s) == EXIT_OK && s->type)) {
        rec_record_free(found); /* to be loaded again, with what it needs */
    } else {
        *record = found;
    }
    return EXIT_OK;
}

/* Loads the input unchanged. @param needs_plan (out) it is a foreign model, though its format is Burn's. */
static rec_record *load_as_is(session *s, const conversion *c, bool *needs_plan)
{
    rec_recorder *from = tool_session_look(s, 1);
    rec_record *record = from && tool_session_set(from, "modules", "yes") == EXIT_OK
                             ? tool_session_load_typed(s, from, c->inputs[0])
                             : NULL;

    rec_close_recorder(from);
    *needs_plan = record && rec_value_form(rec_root(record)) == REC_FORM_PATHS;
    if (*needs_plan) {
        rec_record_free(record);
        record = NULL;
    }
    return record;
}

/* @return NULL with the error printed, except for the problems of a plan. */
static rec_record *load_by_plan(session *s, conversion *c)
{
    rec_record *record;

    if (tool_plan_make(s, c->inputs, c->count, c->to, &c->plan) != EXIT_OK) {
        return NULL;
    }
    if (s->o->debug) {
        tool_progress_wipe();
        tool_plan_debug(&c->plan, strcmp(c->out, "-") == 0 ? stderr : stdout);
    }
    if (c->plan.totals.fatal) {
        return NULL;
    }
    record = c->plan.record;
    c->plan.record = NULL;
    return record;
}

/* Loads the inputs, by a plan if they need one. @return NULL as above. */
static rec_record *load(session *s, conversion *c)
{
    bool needs_plan = c->count > 1 || tool_given_reading(s->o, READING_LOAD) || s->o->base;
    rec_record *record = NULL;

    if (!needs_plan && look(s, c, &record, &needs_plan) != EXIT_OK) {
        return NULL;
    }
    if (!needs_plan && !record) {
        record = load_as_is(s, c, &needs_plan);
    }
    if (needs_plan) {
        return load_by_plan(s, c);
    }
    if (record) {
        tool_notes_take(&c->load_notes);
    }
    return record;
}

/* ------------------------------------------------------------------------------------------------------ saving -- */

static rec_status save_stream(conversion *c)
{
    off_t before = lseek(STDOUT_FILENO, 0, SEEK_CUR), after;
    rec_status status = rec_save_fd(c->to, c->record, STDOUT_FILENO, "standard output");

    after = lseek(STDOUT_FILENO, 0, SEEK_CUR);
    c->written = before >= 0 && after >= before ? (uint64_t)(after - before) : REC_UNKNOWN;
    return status;
}

/* Finds the file written, or the index of several. */
static void look_at_output(conversion *c)
{
    char *index = c->dry ? NULL : tool_index_beside(c->path);

    if (index) {
        free(c->path);
        c->path = index;
    } else if (!c->dry) {
        tool_note_old_index(c->path, &c->save_notes);
        c->written = tool_size_of_file(c->path);
    }
}

static int save(const session *s, conversion *c)
{
    bool stream = strcmp(c->out, "-") == 0;
    char *path;
    int ended;

    if (!c->dry && !stream) {
        ended = s->shared->save(s->shared->self, c->to, c->record, c->out, &c->save_notes, &c->checked);
    } else {
        ended = tool_saved(!c->dry             ? save_stream(c)
                           : s->shared->writes ? tool_save_nowhere(s, c->to, c->record, &c->written)
                                               : REC_OK); /* before anything can run out of memory */
        c->checked = !c->dry && tool_progress_checked();
        tool_notes_take(&c->save_notes);
    }
    if (ended == EXIT_OK && !stream) {
        path = rec_recorder_path(c->to, c->out);
        c->path = xstrdup(path ? path : c->out);
        rec_free(path);
        look_at_output(c);
    }
    return ended;
}

/* ------------------------------------------------------------------------------------------------- conversions -- */

int tool_convert(session *s, conversion *c)
{
    c->written = REC_UNKNOWN;
    c->record = load(s, c);
    if (!c->record) {
        return EXIT_ERROR;
    }
    c->to = tool_session_widen(s, c->to, c->to_name, c->record, &c->load_notes);
    if (!c->to || set_metadata(s, c->record) != EXIT_OK || set_shown_type(s, c->record, c->to) != EXIT_OK ||
        tool_summarise(c->record, &c->sums) != EXIT_OK) {
        return EXIT_ERROR;
    }
    tool_progress_expect(s->o->precision == REC_PRECISION_KEEP ? c->sums.nbytes : 0);
    tool_progress_guard();
    return save(s, c);
}

void tool_conversion_free(conversion *c)
{
    free(c->path);
    tool_summary_free(&c->sums);
    tool_notes_free(&c->load_notes);
    tool_notes_free(&c->save_notes);
    rec_record_free(c->record);
    tool_plan_free(&c->plan);
    rec_close_recorder(c->to);
}
