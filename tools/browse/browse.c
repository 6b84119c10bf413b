/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record browse: loads the files, and shows them as a tree; for programs it prints the tree. */
#include <stdlib.h>

#include "tools/browse/browse_private.h"

const tool_option tool_browse_options[] = {
    {"mouse", NULL, 0, "the wheel scrolls, a click selects"},
    {0},
};

int tool_run_browse(session *s, const char *const *operands, size_t count)
{
    opened_file *files = xmalloc(count * sizeof *files);
    uint32_t opened = 0;
    tree t = {0};
    notes n = {0};
    bool by_position;
    int status = s->o->json ? EXIT_OK : tool_terminal_check();

    for (size_t i = 0; i < count && status == EXIT_OK; i++) {
        rec_record *record = tool_session_read(s, tool_session_look(s, 1), operands[i], &by_position);
        if (record) {
            tool_notes_take(&n);
            files[opened++] = (opened_file){operands[i], record};
        } else {
            status = EXIT_ERROR;
        }
    }
    if (status == EXIT_OK) {
        status = tool_tree_make(&t, files, opened);
    }
    if (status == EXIT_OK && s->o->json) {
        tool_tree_json(&t);
        tool_notes_print(&n, s->o->quiet);
    } else if (status == EXIT_OK) {
        status = tool_browse_screen(s, &t, &n);
    }
    tool_tree_free(&t);
    tool_notes_free(&n);
    for (uint32_t i = 0; i < opened; i++) {
        rec_record_free(files[i].record);
    }
    free(files);
    return status;
}
