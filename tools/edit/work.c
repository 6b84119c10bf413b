/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The record that operations work on, and all that must live as long as it does. */
#include <string.h>

#include "tools/edit/edit_private.h"

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
    rec_recorder *reader = tool_session_input_at(s, place);
    bool adapts = adapt || s->type || tool_is_configured(s, tool_session_from(s, place)), gaps = adapts;

    for (size_t i = 0; i < s->o->readings.count; i++) {
        const char *key = s->o->readings.at[i].key;
        for (size_t k = 0; key && k < sizeof asks / sizeof *asks; k++) {
            adapts = adapts || strcmp(key, asks[k]) == 0;
        }
        gaps = gaps || adapts || (key && strcmp(key, "gaps") == 0);
    }
    if (reader && ((!adapts && rec_recorder_set(reader, "adapter", "none") != REC_OK) ||
                   (!gaps && rec_recorder_set(reader, "gaps", "keep") != REC_OK))) {
        (void)tool_fail_library();
        rec_close_recorder(reader);
        return NULL;
    }
    return reader;
}

void tool_edit_clear(work *w, const char *path)
{
    if (rec_value_at(w->record, path)) {
        (void)rec_clear(w->record, path);
    }
}
