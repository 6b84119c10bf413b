/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The command run by one process, where record-mpi has several. */
#include <string.h>
#include <sys/stat.h>

#include "tools/session/session.h"

static int agree(void *self, int answer)
{
    (void)self;
    return answer;
}

bool tool_is_folder(const char *path)
{
    size_t length = strlen(path);
    struct stat is;

    return (length && path[length - 1] == '/') || (stat(path, &is) == 0 && S_ISDIR(is.st_mode));
}

static bool into_folder(void *self, const char *out)
{
    (void)self;
    return tool_is_folder(out);
}

static int save(void *self, rec_recorder *to, const rec_record *record, const char *out, notes *n, bool *checked)
{
    int status = tool_saved(rec_save(to, record, out)); /* before anything can run out of memory */

    (void)self;
    *checked = tool_progress_checked();
    tool_notes_take(n);
    return status;
}

static bool together(void *self, const char *path, uint64_t outcome, const char *said)
{
    (void)self, (void)path, (void)outcome, (void)said;
    return true;
}

static bool exchange(void *self, void *all, const uint64_t *ends)
{
    (void)self, (void)all, (void)ends;
    return true;
}

const tool_shared tool_alone = {.first = true,
                                .writes = true,
                                .ranks = 1,
                                .agree = agree,
                                .into_folder = into_folder,
                                .save = save,
                                .together = together,
                                .exchange = exchange};
