/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Where in the record the text that tells it has come to: the values that are not complete, and the path to them. */
#include "plugins/codec/room.h"
#include "plugins/codec/safetensors/structure_private.h"

int32_t lr_st_push(lr_st_structure_writer *t, int kind, bool wrapped)
{
    if (lr_codec_grow(t->tree->job, &t->levels, t->depth + 1, &t->room, sizeof *t->levels) != REC_OK) {
        return lr_st_no_memory(t->tree->job);
    }
    t->levels[t->depth++] = (lr_st_level){.kind = kind, .wrapped = wrapped};
    return REC_OK;
}

int32_t lr_st_structure_state(const lr_st_structure_writer *t)
{
    const lr_st_tree *tree = t->tree;
    return tree->text.status != REC_OK       ? tree->text.status
           : tree->names.status != REC_OK    ? tree->names.status
           : tree->metadata.status != REC_OK ? tree->metadata.status
           : tree->typed.status != REC_OK    ? tree->typed.status
           : t->others.status != REC_OK      ? t->others.status
                                             : t->path.text.status;
}

void lr_st_value_begins(lr_st_structure_writer *t)
{
    lr_st_level *l = t->depth ? &t->levels[t->depth - 1] : NULL;
    if (l && l->kind == IN_LIST) {
        rec_scalar index = {.kind = REC_KIND_UINT, .v.u = l->count};
        if (l->count) {
            lr_put(&t->tree->text, ",", 1);
        }
        l->path = lr_st_path_enter(&t->path, &index);
    }
}

/* A metadata value is complete: nothing of the item was seen yet. */
static void entry_ends(lr_st_structure_writer *t)
{
    lr_st_tree *tree = t->tree;
    t->entry = false;
    t->other = t->entry_other;
    tree->left_out = t->entry_left_out + tree->only_tensors;
    if (!tree->only_tensors && tree->text.status == REC_OK) {
        lr_put(&tree->typed, ",", tree->typed.size > 0);
        lr_put(&tree->typed, tree->text.data + t->entry_at, tree->text.size - t->entry_at);
    }
}

void lr_st_value_ends(lr_st_structure_writer *t)
{
    lr_st_level *l;
    while (t->depth && t->levels[t->depth - 1].kind == IN_OPTION) {
        lr_put(&t->tree->text, "]", 1);
        t->depth--;
    }
    l = t->depth ? &t->levels[t->depth - 1] : NULL;
    if (l && l->kind != IN_VARIANT) {
        lr_st_path_leave(&t->path, l->path);
        l->count++;
    }
    if (!l && t->entry) {
        entry_ends(t);
    }
}
