/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Going backwards with a type: it tells what module a key belongs to, and which of the key's parts are variants. */

#include "remap/reverse/reverse_private.h"

int32_t lr_back_type_begin(rec_job *job, const lr_plan_source *source, lr_back_type *type)
{
    type->item = NULL;
    if (!source->type.layout) {
        return REC_OK;
    }
    job->type = source->type;
    job->plugin = NULL;
    job->burn.minor = source->record->burn_minor > 0 ? source->record->burn_minor : LR_BURN_NOW;
    type->item = lr_layout_item(job);
    return type->item ? lr_check_tensors(job, source->record, type->item) : job->error.status;
}

void lr_back_type_end(rec_job *job)
{
    lr_layouts_free(job);
    job->type = (lr_type_ref){0};
}

/* The layout below one by a part of a key; NULL if it has none. @param variant (out) the part is a variant's name. */
static const rec_layout *below(const rec_layout *layout, const char *part, uint64_t length, bool *variant)
{
    uint64_t index;
    *variant = layout->kind == REC_LAYOUT_ENUM;
    switch (layout->kind) {
    case REC_LAYOUT_STRUCT:
    case REC_LAYOUT_ENUM:
        index = lr_layout_named(layout, part, length);
        return index == REC_UNKNOWN ? NULL : rec_layout_child(layout, index);
    case REC_LAYOUT_LIST:
    case REC_LAYOUT_ARRAY:
        return lr_node_index(part, length, &index) ? rec_layout_child(layout, 0) : NULL;
    case REC_LAYOUT_TUPLE:
        return lr_node_index(part, length, &index) && index < layout->count ? rec_layout_child(layout, index) : NULL;
    case REC_LAYOUT_MAP:
        return rec_layout_child(layout, 1);
    default:
        return NULL;
    }
}

const rec_layout *lr_back_type_first(const lr_back_type *type, const char *text, uint64_t length,
                                     bool (*known)(const rec_layout *layout), uint64_t *below_at, bool *listed)
{
    const rec_layout *layout = type->item;
    const char *part = text, *end = text + length;
    uint64_t used = 0;
    *listed = false;
    while (layout && layout->role == LR_ROLE_NONE) {
        const char *dot;
        bool variant;
        if (layout->kind == REC_LAYOUT_OPTION) {
            layout = rec_layout_child(layout, 0);
            continue;
        }
        if (known(layout)) {
            *below_at = used;
            return layout;
        }
        if (part > end) {
            return NULL;
        }
        *listed = layout->kind == REC_LAYOUT_LIST;
        dot = lr_path_dot(part, end);
        layout = below(layout, part, (uint64_t)((dot ? dot : end) - part), &variant);
        used += variant ? 0 : (uint64_t)((dot ? dot : end) - part) + 1;
        part = (dot ? dot : end) + 1;
    }
    return NULL;
}

const char *lr_back_type_of(const lr_back_type *type, const char *text, uint64_t length, char *clean)
{
    const rec_layout *layout = type->item;
    const char *part = text, *end = text + length, *module = NULL;
    size_t used = 0;
    for (bool last = false; layout && !last;) {
        const char *dot = lr_path_dot(part, end);
        uint64_t size = (uint64_t)((dot ? dot : end) - part);
        bool variant;
        last = dot == NULL;
        while (layout && layout->kind == REC_LAYOUT_OPTION) {
            layout = rec_layout_child(layout, 0);
        }
        if (!layout || layout->role != LR_ROLE_NONE) {
            layout = NULL;
            break;
        }
        if (layout->kind == REC_LAYOUT_STRUCT) {
            module = layout->module ? layout->module : "";
        } else if (layout->kind != REC_LAYOUT_ENUM) {
            module = ""; /* an element of a list is a field of nothing */
        }
        layout = below(layout, part, size, &variant);
        if (!variant) {
            if (used) {
                clean[used++] = '.';
            }
            memcpy(clean + used, part, (size_t)size);
            used += (size_t)size;
        }
        part = dot ? dot + 1 : end;
    }
    if (!layout) {
        memcpy(clean, text, (size_t)length);
        clean[length] = '\0';
        return NULL;
    }
    clean[used] = '\0';
    return module;
}
