/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a program is told of plugins: all of them, the one of a name, the one of a path. */
#include "core/base/base.h"
#include "core/config/config.h"
#include "core/registry/registry.h"

uint64_t rec_plugin_count(rec_context *context)
{
    rec_job job;
    uint64_t count = 0;
    lr_job_open(&job, context, "plugins", NULL);
    if (!lr_job_failed(&job)) {
        count = lr_registry_count(&job);
    }
    (void)lr_job_end(&job);
    return count;
}

const rec_plugin_info *rec_plugin_get(rec_context *context, uint64_t index)
{
    rec_job job;
    const rec_plugin_info *info = NULL;
    lr_job_open(&job, context, "plugins", NULL);
    if (!lr_job_failed(&job)) {
        info = lr_registry_info(&job, index);
    }
    (void)lr_job_end(&job);
    return info;
}

const rec_plugin_info *rec_plugin_find(rec_context *context, const char *name)
{
    rec_job job;
    const lr_plugin *plugin = NULL;
    const rec_plugin_info *info = NULL;
    if (LR_NULL(name)) {
        return NULL;
    }
    lr_job_open(&job, context, "plugins", NULL);
    plugin = lr_job_failed(&job) ? NULL : lr_registry_look(&job, name);
    for (int32_t kind = REC_PLUGIN_CODEC; !plugin && kind <= REC_PLUGIN_SOURCE; kind++) {
        plugin = lr_registry_raw(&job, kind, name); /* they have names of their own, which recorders come before */
    }
    if (!plugin && !lr_job_failed(&job)) {
        (void)lr_registry_find(&job, name); /* for what it says */
    }
    if (plugin) {
        info = lr_registry_info_of(&job, plugin);
    }
    (void)lr_job_end(&job);
    return info;
}

const rec_plugin_info *rec_plugin_for_path(rec_context *context, const char *path)
{
    rec_job job;
    const lr_plugin *plugin = NULL;
    const rec_plugin_info *info = NULL;
    if (LR_NULL(path)) {
        return NULL;
    }
    lr_job_open(&job, context, "plugins", path);
    plugin = lr_job_failed(&job) ? NULL : lr_registry_by_extension(&job, path, LR_CAN_SAVE);
    if (plugin) {
        info = lr_registry_info_of(&job, plugin);
    } else if (!lr_job_failed(&job)) {
        (void)lr_registry_fail_extension(&job);
    }
    (void)lr_job_end(&job);
    return info;
}
