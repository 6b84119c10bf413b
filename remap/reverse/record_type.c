/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Going backwards with a type: it tells what module a key belongs to, and which of the key's parts are variants. */

#include "remap/reverse/reverse_private.h"
#include "remap/torch/torch.h"

int32_t lr_back_type_begin(lr_reverse *b)
{
    const lr_plan_source *source = b->source;
    b->type = source->type.layout ? lr_plan_layout(b->job, source->type, source->record->burn_minor) : NULL;
    return b->type ? lr_check_tensors(b->job, source->record, b->type) : b->job->error.status;
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

const char *lr_back_type_of(const rec_layout *layout, const char *text, uint64_t length, char *clean,
                            lr_back_site *site)
{
    const char *part = text, *end = text + length, *module = NULL;
    size_t used = 0;
    bool listed = false;
    *site = (lr_back_site){0};
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
        if (!site->kind) {
            *site = (lr_back_site){lr_torch_kind_of(layout), listed, 0, (uint32_t)(used ? used + 1 : 0), 0};
        }
        listed = layout->kind == REC_LAYOUT_LIST;
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
