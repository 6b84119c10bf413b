/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What folding a listing stands on: the parts of keys, when they are equal, and a hash table of groups. */
#include <string.h>

#include "tools/print/fold_private.h"

index_table tool_fold_table(size_t items)
{
    index_table t = {NULL, 15};

    while (t.mask < items * 2) {
        t.mask = t.mask * 2 + 1;
    }
    t.slots = xmalloc((t.mask + 1) * sizeof *t.slots);
    memset(t.slots, 0, (t.mask + 1) * sizeof *t.slots);
    return t;
}

uint64_t tool_fold_hash(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *b = bytes;

    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ b[i]) * UINT64_C(0x100000001B3);
    }
    return hash ^ hash >> 29;
}

bool tool_fold_is_index(const part *p)
{
    for (size_t i = 0; i < p->length; i++) {
        if (p->at[i] < '0' || p->at[i] > '9') {
            return false;
        }
    }
    return p->length > 0;
}

bool tool_fold_same_text(const part *a, const part *b)
{
    return a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}

bool tool_fold_is_between(const part *p)
{
    return p->length == 1 && p->at[0] == FOLD_BETWEEN[0];
}

size_t tool_fold_count_parts(const char *path)
{
    size_t count = 1;

    for (; *path; path++) {
        if (*path == '\\' && path[1]) {
            path++;
        } else if (*path == '.') {
            count++;
        }
    }
    return count;
}

void tool_fold_split(const char *path, part *parts)
{
    size_t i = 0;
    const char *begin = path;

    for (;; path++) {
        if (*path == '\\' && path[1]) {
            path++;
        } else if (*path == '.' || *path == '\0') {
            parts[i++] = (part){begin, (size_t)(path - begin), false};
            if (*path == '\0') {
                return;
            }
            begin = path + 1;
        }
    }
}

uint64_t tool_fold_hash_form(uint64_t hash, const entry *e)
{
    hash = tool_fold_hash(hash, e->dtype, strlen(e->dtype) + 1);
    return tool_fold_hash(hash, e->shape, e->rank * sizeof *e->shape);
}

bool tool_fold_same_form(const entry *a, const entry *b)
{
    return a->rank == b->rank && strcmp(a->dtype, b->dtype) == 0 &&
           (a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0);
}
