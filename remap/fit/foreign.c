/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Tensors that a file has in one of PyTorch's modules of several tensors and Burn's has no field for: PyTorch's may
 * compute with them. Of other modules they are a note, since Burn's own import leaves them out. */

#include "remap/fit/fit_private.h"
#include "remap/torch/torch.h"

/* Whether the type, or the adapter in its place, has a field for a child. */
static bool is_field(const lr_fit *t, const rec_layout *layout, const char *type, const lr_node *node,
                     const lr_node *child)
{
    bool found = lr_layout_named(layout, child->name, child->length) != REC_UNKNOWN, transpose;
    for (uint64_t i = 0; i < layout->count && !found; i++) {
        found = lr_fit_field(t, type, node, layout->names[i], &transpose) == child;
    }
    return found;
}

/* Returns the first float tensor at or below a node that has no place, or NULL. */
static lr_piece *left_at(const lr_fit *t, const lr_node *node)
{
    lr_piece *piece = node->piece, *found = NULL;
    if (piece && lr_piece_is_tensor(piece) && !piece->taken && !piece->dead && !piece->kept &&
        lr_fit_adapts(t, piece) && !lr_dtype_is_int(lr_piece_dtype(piece)) &&
        !lr_dtype_is_bool(lr_piece_dtype(piece))) {
        return piece;
    }
    for (const lr_node *c = node->first; c && !found; c = c->next) {
        found = left_at(t, c);
    }
    return found;
}

int32_t lr_fit_note_foreign(lr_fit *t, const rec_layout *layout, const char *type, const lr_node *node)
{
    const lr_modules *modules = t->f->plan->context->modules;
    int own = -1;
    if (!modules || t->f->plan->quiet || t->f->plan->trial || !lr_torch_kind_find(layout->module)) {
        return REC_OK;
    }
    for (const lr_node *c = node->first; c && own; c = c->next) {
        lr_piece *piece = is_field(t, layout, type, node, c) ? NULL : left_at(t, c);
        lr_foreign *kept;
        own = piece && own < 0 ? modules->owns(t->f->job, layout) : own;
        if (!piece || own <= 0) {
            continue;
        }
        kept = lr_arena_alloc(&t->f->plan->arena, sizeof *kept, 8);
        if (!kept) {
            return lr_fail_memory(t->f->job, sizeof *kept);
        }
        *kept = (lr_foreign){NULL, piece, layout->module};
        *(t->foreign ? t->last_foreign : &t->foreign) = kept;
        t->last_foreign = &kept->next;
    }
    return t->f->job->error.status;
}

int32_t lr_fit_drop_foreign(lr_fit *t)
{
    int32_t status = REC_OK;
    for (const lr_foreign *at = t->f->plan->totals.fatal ? NULL : t->foreign; at && status == REC_OK; at = at->next) {
        status = at->piece->taken ? REC_OK : lr_fit_drop(t->f, at->piece, at->module, true);
    }
    return status;
}
