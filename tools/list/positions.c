/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A file without names whose type is not given: its parameters, by their position. */

#include "tools/list/list_private.h"

void tool_print_positions(const rec_record *record, const listing *l, const manner *m, const char *path)
{
    uint64_t in_all = l->tensors_in_all;
    char number[NUMBER_ROOM], hex[2 * MEASURE_SUM_BYTES + 1];
    text cell = {0};
    table t;

    tool_text_nameless(&cell, record, path);
    if (in_all) {
        printf("%s. Parameters by position:\n", cell.at);
    } else {
        printf(
            "%s, and no parameters can be found in it.\n"
            "For what it holds give its type: --type model.rs:Model, --type-of RECORD, or --type Adam and its like.\n",
            cell.at);
    }
    tool_text_free(&cell);
    if (!in_all) {
        return;
    }
    tool_table_begin(&t, "rlllrl", "#|ID|DTYPE|SHAPE|OFFSET|SHA-256");
    t.shrink = t.columns;
    for (size_t i = 0; i < l->tensor_count; i++) {
        const entry *e = &l->tensors[i];
        uint64_t offset = rec_tensor_offset(l->handles[i]);
        const char *id = rec_tensor_id(l->handles[i]);
        tool_table_cell(&t, e->path);
        tool_table_cell(&t, id ? id : "");
        tool_table_cell_safe(&t, e->dtype);
        tool_table_shape(&t, e->shape, e->rank);
        tool_table_cell(&t, offset == REC_UNKNOWN ? "-" : tool_grouped(offset, number));
        tool_table_cell(&t, m->sums ? tool_sum_text(l->sums[i], SUM_SHOWN, hex) : "");
    }
    tool_table_print(&t, stdout);
    printf("%s parameter%s found by %s, ", tool_grouped(in_all, number), tool_plural(in_all),
           in_all == 1 ? "its id" : "their ids");
    if (l->tensor_count < in_all) {
        printf("%s listed, ", tool_grouped(l->tensor_count, number));
    }
    printf("%s element%s.", tool_grouped(l->elements, number), tool_plural(l->elements));
    puts(" What else is in it is not known.\n"
         "For names give its type: --type model.rs:Model, --type-of RECORD, or --type Linear and its like.");
}
