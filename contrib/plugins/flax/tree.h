/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Nested maps made of flat paths. MessagePack has the size of a map before its entries, so the writer collects all
 * paths first. Maps and their entries keep the order in which they appear first. */
#ifndef FLAX_TREE_H
#define FLAX_TREE_H

#include <librecord/plugin.h>

enum { TREE_NONE = UINT32_MAX };

typedef struct tree_node {
    uint64_t name, length; /**< in `names` */
    uint32_t parent, first, last, next;
    uint32_t children; /**< 0: a tensor */
    uint32_t same;     /**< the next node with this hash */
    uint32_t depth;
    uint32_t order; /**< of a tensor: its place among the tensors of the file */
    int open;       /**< of a map: its head is written */
} tree_node;

typedef struct tree {
    rec_job *job;
    tree_node *nodes; /**< the first is the outermost map */
    uint32_t count, room;
    uint32_t *heads; /**< by hash */
    uint32_t head_count;
    char *names;
    uint64_t name_length, name_room;
    uint32_t *leaves; /**< nodes of the tensors, in the order of the walk */
    uint32_t leaf_count, leaf_room;
} tree;

int32_t tree_begin(tree *t, rec_job *job);
/** Adds a tensor by its path. */
int32_t tree_add(tree *t, const char *path, uint64_t length);
/** Numbers the tensors in the order of the nested maps. */
void tree_number(tree *t);
void tree_free(tree *t);

#endif
