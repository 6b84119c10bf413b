/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "flax/tree.h"

enum { LEAST = 64 };

/* Makes room for one more element of an array. */
static int32_t grow(rec_job *job, void *array, uint32_t count, uint32_t *room, size_t each)
{
    uint32_t wider = *room < LEAST ? LEAST : *room * 2;
    void *old, *memory;
    if (count < *room) {
        return REC_OK;
    }
    memcpy(&old, array, sizeof old);
    memory = *room > UINT32_MAX / 4 ? NULL : rec_job_resize(job, old, (uint64_t)wider * each);
    if (!memory) {
        return rec_fail(job, REC_E_LIMIT, REC_UNKNOWN, "no memory for the names of %u tensors", count);
    }
    memcpy(array, &memory, sizeof memory);
    *room = wider;
    return REC_OK;
}

static uint32_t hash(uint32_t parent, const char *name, uint64_t length)
{
    uint32_t sum = 2166136261u ^ parent;
    for (uint64_t i = 0; i < length; i++) {
        sum = (sum ^ (uint8_t)name[i]) * 16777619u;
    }
    return sum ^ sum >> 15;
}

static uint32_t *head_of(const tree *t, uint32_t parent, const char *name, uint64_t length)
{
    return &t->heads[hash(parent, name, length) & (t->head_count - 1)];
}

static void link_node(tree *t, uint32_t node)
{
    tree_node *n = &t->nodes[node];
    uint32_t *head = head_of(t, n->parent, t->names + n->name, n->length);
    n->same = *head;
    *head = node;
}

/* Keeps as many lists as there is room for nodes. */
static int32_t rehash(tree *t)
{
    uint32_t *heads = rec_job_alloc(t->job, (uint64_t)t->room * sizeof *heads);
    if (!heads) {
        return rec_fail(t->job, REC_E_MEMORY, REC_UNKNOWN, "no memory for the names of tensors");
    }
    rec_job_free(t->job, t->heads);
    t->heads = heads;
    t->head_count = t->room;
    memset(heads, 0xff, (uint64_t)t->room * sizeof *heads); /* TREE_NONE */
    for (uint32_t i = 1; i < t->count; i++) {
        link_node(t, i);
    }
    return REC_OK;
}

static uint32_t find(const tree *t, uint32_t parent, const char *name, uint64_t length)
{
    uint32_t i = *head_of(t, parent, name, length);
    while (i != TREE_NONE && (t->nodes[i].parent != parent || t->nodes[i].length != length ||
                              memcmp(t->names + t->nodes[i].name, name, length) != 0)) {
        i = t->nodes[i].same;
    }
    return i;
}

static int32_t new_node(tree *t, uint32_t parent, uint64_t name, uint64_t length)
{
    tree_node *p;
    int32_t status = grow(t->job, &t->nodes, t->count, &t->room, sizeof *t->nodes);
    status = status == REC_OK && t->room != t->head_count ? rehash(t) : status;
    if (status != REC_OK) {
        return status;
    }
    p = &t->nodes[parent];
    t->nodes[t->count] = (tree_node){.name = name,
                                     .length = length,
                                     .parent = parent,
                                     .first = TREE_NONE,
                                     .last = TREE_NONE,
                                     .next = TREE_NONE,
                                     .depth = p->depth + 1};
    if (p->last == TREE_NONE) {
        p->first = t->count;
    } else {
        t->nodes[p->last].next = t->count;
    }
    p->last = t->count;
    p->children++;
    link_node(t, t->count++);
    return REC_OK;
}

int32_t tree_begin(tree *t, rec_job *job)
{
    int32_t status;
    *t = (tree){.job = job};
    status = grow(job, &t->nodes, 0, &t->room, sizeof *t->nodes);
    if (status == REC_OK) {
        t->nodes[t->count++] =
            (tree_node){.parent = TREE_NONE, .first = TREE_NONE, .last = TREE_NONE, .next = TREE_NONE};
        status = rehash(t);
    }
    return status;
}

static int32_t name_room(tree *t, uint64_t more)
{
    uint64_t wider = (t->name_length + more) * 2 + LEAST;
    char *names;
    if (more <= t->name_room - t->name_length) {
        return REC_OK;
    }
    names = rec_job_resize(t->job, t->names, wider);
    if (!names) {
        return rec_fail(t->job, REC_E_MEMORY, REC_UNKNOWN, "no memory for the names of tensors");
    }
    t->names = names;
    t->name_room = wider;
    return REC_OK;
}

/* Takes the first name of a path without its escapes. @param name (out) its room is the path's length.
 * @return where it ends: at a dot, or at the end of the path. */
static uint64_t first_name(const char *path, uint64_t length, char *name, uint64_t *used)
{
    uint64_t i = 0;
    *used = 0;
    while (i < length && path[i] != '.') {
        i += path[i] == '\\' && i + 1 < length && (path[i + 1] == '.' || path[i + 1] == '\\');
        name[(*used)++] = path[i++];
    }
    return i;
}

/* Goes to the entry of this name, or makes it. */
static int32_t enter(tree *t, uint32_t *node, uint64_t used, int last)
{
    uint32_t below = find(t, *node, t->names + t->name_length, used);
    int32_t status = REC_OK;
    if (below != TREE_NONE && (last || !t->nodes[below].children)) {
        status = rec_fail(t->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a tensor whose name is that of a level");
        rec_fail_hint(t->job, "Rename one of the tensors: --rule 'rename = OLD => NEW'.");
        return status;
    }
    if (below == TREE_NONE) {
        below = t->count;
        status = new_node(t, *node, t->name_length, used);
        t->name_length += used;
    }
    *node = below;
    return status;
}

int32_t tree_add(tree *t, const char *path, uint64_t length)
{
    uint32_t node = 0, depth = rec_job_depth_limit(t->job);
    uint64_t used;
    int32_t status = grow(t->job, &t->leaves, t->leaf_count, &t->leaf_room, sizeof *t->leaves);
    int more = 1;
    while (status == REC_OK && more) {
        uint64_t end;
        status = name_room(t, length + 1);
        if (status != REC_OK || t->nodes[node].depth >= depth) {
            return rec_fail(t->job, status == REC_OK ? REC_E_LIMIT : status, REC_UNKNOWN,
                            "a path of more than %u names", depth);
        }
        end = first_name(path, length, t->names + t->name_length, &used);
        more = end < length;
        path += end + (uint64_t)more;
        length -= end + (uint64_t)more;
        status = enter(t, &node, used, !more);
    }
    if (status == REC_OK) {
        t->leaves[t->leaf_count++] = node;
    }
    return status;
}

void tree_number(tree *t)
{
    uint32_t order = 0, node = 0;
    while (node != TREE_NONE) {
        tree_node *n = &t->nodes[node];
        if (!n->children) {
            n->order = order++;
        }
        if (n->children) {
            node = n->first;
            continue;
        }
        while (node != TREE_NONE && t->nodes[node].next == TREE_NONE) {
            node = t->nodes[node].parent;
        }
        node = node == TREE_NONE ? node : t->nodes[node].next;
    }
}

void tree_free(tree *t)
{
    rec_job_free(t->job, t->nodes);
    rec_job_free(t->job, t->heads);
    rec_job_free(t->job, t->names);
    rec_job_free(t->job, t->leaves);
}
