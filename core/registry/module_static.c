/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The plugins of a build with plugins inside: those of a table that is linked with it. It opens no plugin files. In a
 * static build they would bring a second, shared librecord. */
#include <stdio.h>

#include "core/registry/open_private.h"
#include "librecord/static.h"

const rec_plugin *const *lr_module_open(const char *path, const struct stat *state, char *reason)
{
    (void)state;
    (void)snprintf(reason, LR_REASON, "%s is not opened: this librecord is a static one", path);
    return NULL;
}

bool lr_static_build(void)
{
    return true;
}

int32_t lr_modules_builtin(rec_job *job, lr_builtin_fn found, void *user)
{
    for (uint64_t i = 0; rec_static_plugins[i] && !lr_job_failed(job); i++) {
        (void)found(user, job, rec_static_plugins[i]);
    }
    return job->error.status;
}
