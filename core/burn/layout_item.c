/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The layout of what a job loads or saves: the item, whatever its type was given as, and the whole record around it. */
#include "core/burn/burn_private.h"

static const rec_layout *metadata_layout(rec_job *job)
{
    static const char *const names[] = {"float", "int", "format", "version", "settings"};
    rec_layout *metadata = lr_layout_node(job, REC_LAYOUT_STRUCT, 5);
    for (uint64_t i = 0; i < 5; i++) {
        lr_layout_set(metadata, i, names[i], lr_layout_node(job, REC_LAYOUT_STRING, 0));
    }
    return metadata;
}

const rec_layout *lr_layout_item(rec_job *job)
{
    if (!lr_layouts_begin(job)) {
        return NULL;
    }
    if (!job->layouts->item) {
        const rec_layout *item = job->type.layout(job, &job->type);
        job->layouts->item = lr_job_failed(job) ? NULL : item;
    }
    return job->layouts->item;
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

int32_t rec_job_layout_text(rec_job *job, const char **text)
{
    const rec_layout *item;
    if (LR_LACKS(job, job) || LR_LACKS(job, text)) {
        return lr_breach_status(job);
    }
    *text = NULL;
    if (!lr_job_typed(job)) {
        return job->error.status;
    }
    item = lr_layout_item(job);
    *text = item ? lr_layout_print(job, item) : NULL;
    return job->error.status;
}
