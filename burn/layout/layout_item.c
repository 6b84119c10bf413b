/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The layout of what a job loads or saves: the item, whatever its type was given as, and the whole record around it. */
#include "burn/layout/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const rec_layout *metadata_layout(rec_job *job)
{
    static const char *const names[] = {"float", "int", "format", "version", "settings"};
    rec_layout *metadata = lr_layout_node(job, REC_LAYOUT_STRUCT, 5);
    for (uint64_t i = 0; i < 5; i++) {
        lr_layout_set(metadata, i, names[i], lr_layout_node(job, REC_LAYOUT_STRING, 0));
    }
    return metadata;
}

/* The first number of a type that may or may not have a sign, by its path: names joined by dots. */
static const rec_layout *find_unsure(const rec_layout *layout, char *path, size_t used, size_t room)
{
    uint64_t count = layout->kind == REC_LAYOUT_LIST || layout->kind == REC_LAYOUT_ARRAY ? 1 : layout->count;
    if (layout->unsure || layout->kind == REC_LAYOUT_TENSOR) {
        return layout->unsure ? layout : NULL;
    }
    for (uint64_t i = 0; i < count; i++) {
        const rec_layout *found = NULL;
        int more = 0;
        if (!layout->children[i]) {
            continue;
        }
        path[used] = '\0';
        if (layout->kind == REC_LAYOUT_TUPLE) {
            more = snprintf(path + used, room - used, "%s%" PRIu64, used ? "." : "", i);
        } else if (layout->names[i] && *layout->names[i]) {
            more = snprintf(path + used, room - used, "%s%s", used ? "." : "", layout->names[i]);
        }
        if (more < 0 || (size_t)more >= room - used) {
            more = 0; /* a path that has no room is cut */
        }
        path[used + (size_t)more] = '\0';
        found = find_unsure(layout->children[i], path, used + (size_t)more, room);
        if (found) {
            return found;
        }
    }
    return NULL;
}

/* What carries no names keeps signed and unsigned integers differently: one taken for the other is another number, and
 * nothing tells. */
static bool is_sure(rec_job *job, const rec_layout *item)
{
    char path[256] = "";
    if (!job->layouts->unsure || !job->plugin || !(job->plugin->traits & REC_TRAIT_NO_NAMES) ||
        !find_unsure(item, path, 0, sizeof path)) {
        return true;
    }
    (void)rec_fail(job, REC_E_TYPE, REC_UNKNOWN,
                   "the record that the type was taken from does not show whether the integer `%s` is signed, and "
                   "formats without names store both differently",
                   *path ? path : "item");
    rec_fail_hint(job, "Give a type that shows it: Burn's own by its name (StepLrScheduler), or Rust source; in the "
                       "output of `record types`, correct `u64 /* or i64 */` and remove the comment.");
    return false;
}

const rec_layout *lr_layout_item(rec_job *job)
{
    if (!lr_layouts_begin(job)) {
        return NULL;
    }
    if (!job->layouts->item) {
        const rec_layout *item = job->type.layout(job, &job->type);
        job->layouts->item = lr_job_failed(job) || !is_sure(job, item) ? NULL : item;
    }
    return job->layouts->item;
}

const char *lr_layout_place(const rec_layout *item, const char *path, const char **file, uint32_t *line)
{
    const char *name = NULL;
    while (item && *path && item->role != LR_ROLE_TENSOR && item->role != LR_ROLE_PARAMETER) {
        const rec_layout *next = NULL;
        size_t length = strcspn(path, ".");
        switch (item->kind) {
        case REC_LAYOUT_OPTION:
            item = item->count ? item->children[0] : NULL;
            continue; /* it has no name */
        case REC_LAYOUT_LIST:
        case REC_LAYOUT_ARRAY:
            next = item->children[0];
            break;
        case REC_LAYOUT_MAP:
            next = item->children[1];
            break;
        case REC_LAYOUT_TUPLE: {
            char *end;
            unsigned long index = strtoul(path, &end, 10);
            next = end == path + length && index < item->count ? item->children[index] : NULL;
            break;
        }
        case REC_LAYOUT_STRUCT:
        case REC_LAYOUT_ENUM:
            for (uint64_t i = 0; i < item->count && !next; i++) {
                if (strlen(item->names[i]) == length && memcmp(item->names[i], path, length) == 0) {
                    next = item->children[i];
                    name = item->file ? item->names[i] : name;
                    *file = item->file ? item->file : *file;
                    *line = item->file ? item->lines[i] : *line;
                }
            }
            break;
        default:
            break;
        }
        item = next;
        path += length + (path[length] == '.');
    }
    return name;
}

int32_t rec_job_layout(rec_job *job, const rec_layout **layout)
{
    struct lr_layouts *all;
    rec_layout *root;
    if (LR_LACKS(job, job) || LR_LACKS(job, layout)) {
        return lr_breach_status(job);
    }
    *layout = NULL;
    if (lr_job_failed(job) || !lr_layouts_begin(job)) {
        return job->error.status;
    }
    all = job->layouts;
    if (!job->burn.known) {
        if (!all->metadata) {
            root = lr_layout_node(job, REC_LAYOUT_STRUCT, 1);
            lr_layout_set(root, 0, "metadata", metadata_layout(job));
            all->metadata = root;
        }
        *layout = all->metadata;
    } else if (lr_job_typed(job)) {
        if (!all->whole && lr_layout_item(job)) {
            bool unit = job->burn.minor >= LR_BURN_UNIT_B;
            root = lr_layout_node(job, REC_LAYOUT_STRUCT, unit ? 3 : 2);
            lr_layout_set(root, 0, "metadata", metadata_layout(job));
            lr_layout_set(root, 1, "item", all->item);
            if (unit) {
                lr_layout_set(root, 2, "_b", lr_layout_node(job, REC_LAYOUT_UNIT, 0));
            }
            all->whole = root;
        }
        *layout = all->whole;
    }
    return job->error.status;
}
