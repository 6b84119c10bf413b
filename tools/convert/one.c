/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A conversion of one file, as convert --recursive makes many of them, and what every conversion needs. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/convert/convert_private.h"

uint64_t tool_size_of_file(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && S_ISREG(s.st_mode) ? (uint64_t)s.st_size : REC_UNKNOWN;
}

/* The index of a set of files that may stand beside a file. @param newer than the file, or there is no file; else older.
 * @return to be freed; NULL: there is none. */
static char *find_index(const char *path, bool newer)
{
    char *index = xasprintf("%s.index.json", path);
    struct stat of, is;

    if (stat(index, &of) == 0 && S_ISREG(of.st_mode) &&
        (stat(path, &is) != 0 || of.st_mtim.tv_sec > is.st_mtim.tv_sec ||
         (of.st_mtim.tv_sec == is.st_mtim.tv_sec && of.st_mtim.tv_nsec > is.st_mtim.tv_nsec)) == newer) {
        return index;
    }
    free(index);
    return NULL;
}

char *tool_index_beside(const char *path)
{
    return find_index(path, true);
}

void tool_note_old_index(const char *path, notes *n)
{
    char *index = find_index(path, false);

    if (index) {
        tool_notes_add(n, REC_NOTE_LAYOUT, "",
                       xasprintf("%s is of an older set of files, and who reads the folder goes by it: remove it", index));
    }
    free(index);
}

int tool_set_shown_type(session *s, const rec_record *record, rec_recorder *to)
{
    const char *writer = rec_recorder_name(to);

    if (!s->o->burn || s->type || s->o->type.count || tool_needs_type(s, rec_record_origin(record)->recorder) ||
        tool_needs_type(s, writer) || strcmp(writer, "Auto") == 0) {
        return EXIT_OK;
    }
    return tool_session_set_shown_type(s, record, to);
}

/* What a record of Burn says of itself is not set but follows from how it is written. */
static int check_key(const rec_record *record, const char *key)
{
    static const struct {
        const char *key, *option;
    } chosen[] = {
        {"version", "burn"}, {"format", "to"}, {"float", "precision"}, {"int", "precision"}, {"settings", "precision"}};

    for (size_t i = 0; i < sizeof chosen / sizeof *chosen && rec_value_form(rec_root(record)) != REC_FORM_PATHS;
         i++) {
        if (strcmp(key, chosen[i].key) == 0) {
            return tool_fail("--metadata %s: it tells how the record is written, which --%s chooses", key,
                             chosen[i].option);
        }
    }
    return EXIT_OK;
}

int tool_set_metadata(const session *s, rec_record *record)
{
    int status = EXIT_OK;

    for (size_t i = 0; i < s->o->metadata.count && status == EXIT_OK; i++) {
        const char *setting = s->o->metadata.at[i], *value = strchr(setting, '=') + 1;
        char *key = xasprintf("%.*s", (int)(value - 1 - setting), setting);
        status = check_key(record, key);
        if (status == EXIT_OK && rec_metadata_set(record, key, *value ? value : NULL) != REC_OK) {
            status = tool_fail_library();
        }
        free(key);
    }
    return status;
}

int tool_convert_one(session *s, const char *in, const char *to_name, const char *out, const char *expression,
                     bool foreign, conversion *c, notes *n)
{
    /* Load arguments are for what Burn did not write. */
    rec_recorder *from = foreign ? tool_session_input(s) : tool_session_raw(s, 1),
                 *to = from ? tool_session_output(s, to_name) : NULL;
    rec_plan *plan = NULL;
    rec_record *record = NULL;
    summary sums = {0};
    notes saved = {0};
    bool dry = tool_own(s->o, "dry-run") != NULL;
    rec_status ended;
    int status = EXIT_ERROR;

    if (!to || rec_recorder_set(from, "modules", "yes") != REC_OK || (expression && (rec_recorder_set_type_name(from, s->types, expression) != REC_OK ||
                               (tool_writes_type(s, rec_recorder_name(to)) &&
                                rec_recorder_set_type_name(to, s->types, expression) != REC_OK)))) {
        goto done;
    }
    /* A plan knows what kind of file the model goes to: from one foreign file to another nothing is adapted. */
    if (foreign) {
        plan = rec_plan_new(s->context, to);
        record = plan && rec_plan_add(plan, from, in) == REC_OK ? rec_plan_load(plan) : NULL;
    } else {
        record = rec_load(from, in);
        if (record && rec_value_form(rec_root(record)) == REC_FORM_PATHS) {
            /* Its format does not say so, but the file is a foreign one. */
            rec_record_free(record);
            rec_close_recorder(from);
            rec_close_recorder(to);
            return tool_convert_one(s, in, to_name, out, expression, true, c, n);
        }
    }
    if (!record) {
        goto done;
    }
    tool_notes_take(n);
    to = tool_session_widen(s, to, to_name, record, n);
    if (!to || (expression && tool_writes_type(s, rec_recorder_name(to)) &&
                rec_recorder_set_type_name(to, s->types, expression) != REC_OK)) {
        goto done;
    }
    if (tool_summarise(record, &sums) != EXIT_OK || (!expression && tool_set_shown_type(s, record, to) != EXIT_OK) ||
        tool_set_metadata(s, record) != EXIT_OK) {
        goto done;
    }
    ended = dry ? tool_save_nowhere(s, to, record, &c->written) : rec_save(to, record, out);
    if (ended != REC_OK && ended != REC_E_SYNC) {
        goto done; /* it is told in the report */
    }
    (void)(dry ? 0 : tool_saved(ended));
    c->checked = !dry && tool_progress_checked();
    tool_notes_take(&saved);
    tool_notes_append(n, &saved);
    c->out = dry ? NULL : tool_index_beside(out);
    if (!c->out && !dry) {
        tool_note_old_index(out, n);
    }
    if (!dry) {
        c->written = c->out ? REC_UNKNOWN : tool_size_of_file(out);
    }
    c->out = c->out ? c->out : xstrdup(out);
    c->tensors = sums.tensors;
    status = EXIT_OK;

done:
    tool_summary_free(&sums);
    rec_record_free(record);
    rec_plan_free(plan);
    rec_close_recorder(from);
    rec_close_recorder(to);
    return status;
}
