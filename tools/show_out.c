/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record show --output: one tensor as a file of NumPy. */
#include "common/names.h"
#include "tools/tool.h"

const tool_option tool_show_options[] = {
    {"output", "FILE.npy", 'o', "write the tensor KEY to a file of NumPy"},
    {0},
};

int tool_show_out(const session *s, const rec_record *record, const char *key, const char *path)
{
    const rec_tensor *tensor = rec_tensor_at(record, key);
    rec_recorder *npy;
    rec_record *alone;
    int status;

    if (!tensor) {
        return tool_fail_library();
    }
    if (!lr_ends_in(path, ".npy")) {
        return tool_fail("--output: expected a name that ends in .npy, found \"%s\"", path);
    }
    npy = rec_open_recorder_in(s->context, "Npy", REC_PRECISION_KEEP);
    alone = npy ? rec_record_new(s->context) : NULL;
    if (!alone || rec_set_value(alone, "", rec_value_at(record, key)) != REC_OK) {
        status = tool_fail_library();
    } else {
        tool_progress_guard();
        status = tool_saved(rec_save(npy, alone, path));
    }
    rec_record_free(alone);
    rec_close_recorder(npy);
    return status;
}
