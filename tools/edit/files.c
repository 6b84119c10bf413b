/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Where edited records go. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/edit/edit_private.h"

static bool is_set(const session *s, const char *option)
{
    for (size_t i = 0; i < s->o->to_options.count; i++) {
        size_t length = strcspn(s->o->to_options.at[i], " =");
        if (strlen(option) == length && strncmp(option, s->o->to_options.at[i], length) == 0) {
            return true;
        }
    }
    return false;
}

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
    if (!s->o->burn && !is_set(s, "layout") && p && !tool_is_of_others(record) && tool_burn_version(record) &&
        rec_recorder_set(d->to, "layout", "keep") != REC_OK) {
        return tool_fail_library();
    }
    return EXIT_OK;
}

int tool_edit_save(session *s, const rec_record *record, destination *d)
{
    bool to_stdout = strcmp(d->path, "-") == 0;
    char *path = to_stdout ? NULL : rec_recorder_path(d->to, d->path);
    rec_status status;
    int ended;

    (void)s;
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
