/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The list of all plugins, those that were refused and those that are hidden too. */
#include <string.h>

#include "core/base/base.h"
#include "core/registry/table_private.h"

/* "mpk" of "/usr/lib/mpk.so", "plugins" of "/srv/plugins". */
static const char *base_name(rec_job *job, lr_table *t, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash && slash[1] ? slash + 1 : file;
    size_t length = strlen(name);
    if (length > 3 && strcmp(name + length - 3, ".so") == 0) {
        length -= 3;
    }
    name = lr_arena_text(&t->arena, name, length);
    if (!name) {
        (void)lr_fail_memory(job, length + 1);
    }
    return name;
}

static int32_t add_line(rec_job *job, lr_table *t, lr_find *find)
{
    const lr_plugin *plugin = find->use ? find->use : &find->plugin;
    rec_plugin_info info;
    if (!lr_job_arena_grow(job, &t->arena, &t->infos, t->info_count + 1, &t->info_room, sizeof info)) {
        return job->error.status;
    }
    info = lr_info_of(&plugin->d, plugin->file);
    info.usable = !find->refused;
    info.name = plugin->d.name ? plugin->d.name : base_name(job, t, plugin->file);
    info.refused = find->refused ? find->refused : "";
    if (!find->refused) {
        lr_info_details(job, &t->arena, &info, &plugin->d);
        info.hidden = lr_hidden_text(job, t, find);
    }
    if (!lr_job_failed(job)) {
        t->infos[t->info_count++] = info;
    }
    return job->error.status;
}

int32_t lr_table_complete(rec_job *job, lr_table *t)
{
    if (t->complete) {
        return REC_OK;
    }
    for (uint64_t i = 0; i < t->file_count && !lr_job_failed(job); i++) {
        (void)lr_table_see(job, t, t->files[i], true);
    }
    for (uint64_t i = 0; i < t->file_count; i++) {
        for (uint64_t j = 0; j < t->files[i]->count && !lr_job_failed(job); j++) {
            (void)lr_table_use(job, t, t->files[i]->finds[j]);
        }
    }
    t->info_count = 0;
    for (uint64_t i = 0; i < t->file_count; i++) {
        for (uint64_t j = 0; j < t->files[i]->count && !lr_job_failed(job); j++) {
            (void)add_line(job, t, t->files[i]->finds[j]);
        }
    }
    t->complete = !lr_job_failed(job);
    return job->error.status;
}

const rec_plugin_info *lr_table_line(rec_job *job, lr_table *t, const lr_plugin *plugin)
{
    lr_place at = {0, 0};
    lr_find *find;
    while ((find = lr_table_next(job, t, &at))) {
        if (find->use == plugin && !find->info) {
            rec_plugin_info info = lr_info_of(&plugin->d, plugin->file);
            lr_info_details(job, &t->arena, &info, &plugin->d);
            find->info = lr_job_failed(job) ? NULL : lr_arena_alloc(&t->arena, sizeof info, 16);
            if (!find->info) {
                (void)lr_fail_memory(job, sizeof info);
                return NULL;
            }
            *find->info = info;
        }
        if (find->use == plugin) {
            return find->info;
        }
    }
    return NULL;
}
