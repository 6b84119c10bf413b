/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What rec_plugin_info says of a plugin. */
#include "core/registry/table_private.h"

#include <stdio.h>
#include <string.h>

#include "core/base/base.h"

/* Two passes of the same printing, the first one without room: `print` returns how much it wants. */
typedef size_t (*print_fn)(const rec_plugin *d, char *target, size_t room);

static const char *keep_printed(rec_job *job, lr_arena *arena, const rec_plugin *d, print_fn print)
{
    size_t length = print(d, NULL, 0);
    char *text = lr_arena_alloc(arena, length + 1, 1);
    if (!text) {
        (void)lr_fail_memory(job, length + 1);
        return NULL;
    }
    text[0] = '\0';
    (void)print(d, text, length + 1);
    return text;
}

#define PRINT(...) used += (size_t)snprintf(target ? target + used : NULL, target ? room - used : 0, __VA_ARGS__)

static size_t print_aliases(const rec_plugin *d, char *target, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; d->aliases && d->aliases[i]; i++) {
        PRINT("%s%s", i ? ", " : "", d->aliases[i]);
    }
    return used;
}

static size_t print_extensions(const rec_plugin *d, char *target, size_t room)
{
    size_t used = 0;
    PRINT("%s", d->extension ? d->extension : "");
    for (size_t i = 0; d->extensions && d->extensions[i]; i++) {
        PRINT(", %s", d->extensions[i]);
    }
    return used;
}

static size_t print_schemes(const rec_plugin *d, char *target, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; d->schemes && d->schemes[i]; i++) {
        PRINT("%s%s", i ? ", " : "", d->schemes[i]);
    }
    return used;
}

static size_t print_options(const rec_plugin *d, char *target, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; d->options && d->options[i]; i++) {
        const rec_option *option = d->options[i];
        PRINT("%s%s (", i ? "\n" : "", option->name);
        switch (option->type) {
        case REC_OPTION_BOOL:
            PRINT("yes|no");
            break;
        case REC_OPTION_INT:
            PRINT("%lld to %lld", (long long)option->minimum, (long long)option->maximum);
            break;
        case REC_OPTION_FLOAT:
            PRINT("number");
            break;
        case REC_OPTION_CHOICE:
            for (size_t j = 0; option->choices[j]; j++) {
                PRINT("%s%s", j ? "|" : "", option->choices[j]);
            }
            break;
        default:
            PRINT("text");
            break;
        }
        PRINT(", %s): %s", *option->initial ? option->initial : "empty", option->help);
    }
    return used;
}

void lr_info_details(rec_job *job, lr_arena *arena, rec_plugin_info *info, const rec_plugin *d)
{
    info->aliases = keep_printed(job, arena, d, print_aliases);
    info->options = keep_printed(job, arena, d, print_options);
    info->extensions = keep_printed(job, arena, d, print_extensions);
    info->schemes = keep_printed(job, arena, d, print_schemes);
    info->format = d->format ? d->format : "";
    info->codec = d->codec ? d->codec : "";
    info->adapter = d->adapter == REC_ADAPTER_PYTORCH  ? "pytorch"
                    : d->adapter == REC_ADAPTER_EITHER ? "either"
                                                       : "none";
    info->kind = d->kind;
    info->can_load = lr_plugin_can(d, LR_CAN_LOAD);
    info->can_save = lr_plugin_can(d, LR_CAN_SAVE);
    info->needs_type = (d->traits & REC_TRAIT_NEEDS_TYPE) != 0;
    info->has_names = lr_kind_of_name(d->kind) == REC_PLUGIN_FORMAT && !(d->traits & REC_TRAIT_NO_NAMES);
    info->reads_folders = (d->traits & REC_TRAIT_FOLDER) != 0;
    info->burn_first = d->burn_first;
    info->burn_last = d->burn_last;
    info->version = d->version ? d->version : "";
    info->license = d->license ? d->license : "";
    info->option_list = d->options;
    info->option_count = 0;
    while (d->options && d->options[info->option_count]) {
        info->option_count++;
    }
}

rec_plugin_info lr_info_of(const rec_plugin *d, const char *file)
{
    return (rec_plugin_info){.size = sizeof(rec_plugin_info),
                             .usable = 1,
                             .name = d ? d->name : NULL,
                             .extension = d && d->extension ? d->extension : "",
                             .description = d && d->description ? d->description : "",
                             .file = file,
                             .refused = "",
                             .aliases = "",
                             .options = "",
                             .adapter = "none",
                             .version = "",
                             .license = "",
                             .extensions = "",
                             .hidden = "",
                             .schemes = "",
                             .format = "",
                             .codec = ""};
}
