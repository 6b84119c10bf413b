/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Burn's own types: INI files that come with librecord. */
#include <errno.h>

#include "core/config/config.h"
#include "types/types.h"

static int32_t no_files(rec_job *job, const char *folder)
{
    char text[256];
    (void)lr_fail_line(job, REC_E_IO, folder, 0, "cannot read the directory of Burn's own types: %s",
                       lr_system_words(ENOENT, text, sizeof text));
    (void)lr_job_errno(job, ENOENT);
    return LR_HINT(job, "The environment variable LIBRECORD_DATA names the directory above it. Without it, librecord "
                        "uses its own files.");
}

int32_t lr_types_add_builtin(rec_job *job, rec_types *types)
{
    lr_ini_files data;
    int32_t status;
    if (types->builtin) {
        return REC_OK;
    }
    status = lr_ini_files_find(job, &types->arena, "modules", &data);
    if (status == REC_OK) {
        status = data.count ? lr_types_add_inis(job, types, data.files, data.count) : no_files(job, data.folder);
    }
    types->builtin = status == REC_OK;
    return status;
}
