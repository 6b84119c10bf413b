/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Where edited records go. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/edit/edit_private.h"

int tool_edit_open(session *s, const rec_record *record, destination *d)
{
    const rec_plugin_info *p;

    d->to = tool_session_output(s, d->name);
    if (!d->to) {
        return EXIT_ERROR;
    }
    if (strcmp(d->path, "-") != 0 && !*rec_recorder_extension(d->to)) {
        return tool_fail("%s has no files: write to standard output, or name another recorder",
                         rec_recorder_name(d->to));
    }
    /* The version of Burn stays what it was, in formats that several of them have. */
    p = tool_session_plugin(s, rec_recorder_name(d->to));
    if (!s->o->burn && !tool_is_set(s, "layout") && p && !tool_is_of_others(record) && tool_burn_version(record) &&
        rec_recorder_set(d->to, "layout", "keep") != REC_OK) {
        return tool_fail_library();
    }
    return EXIT_OK;
}

int tool_edit_save(const rec_record *record, destination *d)
{
    bool to_stdout = strcmp(d->path, "-") == 0;
    char *path = to_stdout ? NULL : rec_recorder_path(d->to, d->path);
    rec_status status;
    int ended;

    if (!to_stdout && !path) {
        return tool_fail_library();
    }
    if (d->in_folder && !tool_folder_make(d->path)) {
        rec_free(path);
        return tool_fail("%s: cannot make its directory: %s", d->path, strerror(errno));
    }
    status =
        to_stdout ? rec_save_fd(d->to, record, STDOUT_FILENO, "standard output") : rec_save(d->to, record, d->path);
    ended = tool_saved(status); /* before anything can run out of memory */
    tool_notes_take(&d->notes);
    if (ended != EXIT_OK) {
        rec_free(path);
        return EXIT_ERROR;
    }
    d->checked = tool_progress_checked();
    d->written = path ? tool_size_of_file(path) : REC_UNKNOWN;
    if (path) {
        tool_note_old_index(path, &d->notes);
        free(d->path);
        d->path = xstrdup(path);
    }
    rec_free(path);
    return EXIT_OK;
}

int tool_edit_try(const rec_record *record, const destination *d)
{
    uint64_t written = 0;
    const rec_output nowhere = tool_nowhere(d->path);

    return rec_save_to(d->to, record, &nowhere, &written) == REC_OK ? EXIT_OK : tool_fail_library();
}

void tool_edit_close(destination *d)
{
    rec_close_recorder(d->to);
    tool_notes_free(&d->notes);
    free(d->path);
    *d = (destination){0};
}

/* ---------------------------------------------------------------------------------------------------------- work -- */

void tool_edit_hold(work *w, rec_record *record)
{
    w->held.at = tool_grown(w->held.at, w->held.count, sizeof *w->held.at);
    w->held.at[w->held.count++] = record;
}

void tool_edit_replace(work *w, rec_record *next, rec_plan *plan)
{
    tool_edit_hold(w, w->record);
    w->record = next;
    if (plan) {
        w->held.plans = tool_grown(w->held.plans, w->held.plan_count, sizeof *w->held.plans);
        w->held.plans[w->held.plan_count++] = plan;
    }
}

const rec_record *tool_edit_before(work *w)
{
    rec_record *copy = rec_record_copy(w->record);

    if (!copy) {
        (void)tool_fail_library();
        return NULL;
    }
    tool_edit_hold(w, copy);
    return copy;
}

rec_recorder *tool_edit_reader(session *s, size_t place, bool adapt)
{
    static const char *const asks[] = {"adapter", "profile", "module", "reverse"};
    rec_recorder *reader = tool_session_input(s, place);
    bool adapts = adapt || s->type || tool_is_configured(s, tool_session_from(s, place)), gaps = adapts;

    for (size_t i = 0; i < s->o->readings.count; i++) {
        const char *key = s->o->readings.at[i].key;
        for (size_t k = 0; key && k < sizeof asks / sizeof *asks; k++) {
            adapts = adapts || strcmp(key, asks[k]) == 0;
        }
        gaps = gaps || adapts || (key && strcmp(key, "gaps") == 0);
    }
    return tool_session_keep(reader, reader && tool_session_set(reader, "adapter", adapts ? NULL : "none") == EXIT_OK &&
                                         tool_session_set(reader, "gaps", gaps ? NULL : "keep") == EXIT_OK);
}

void tool_edit_clear(work *w, const char *path)
{
    if (rec_value_at(w->record, path)) {
        (void)rec_clear(w->record, path);
    }
}
