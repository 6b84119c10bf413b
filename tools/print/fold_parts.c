/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The parts of keys, and their order. */
#include <string.h>

#include "tools/print/fold_private.h"

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

int tool_fold_compare_text(const part *a, const part *b)
{
    int order = memcmp(a->at, b->at, a->length < b->length ? a->length : b->length);

    return order ? order : (a->length > b->length) - (a->length < b->length);
}

int tool_fold_compare_form(const entry *a, const entry *b)
{
    int order = (a->rank > b->rank) - (a->rank < b->rank);

    order = order ? order : strcmp(a->dtype, b->dtype);
    return order || !a->rank ? order : memcmp(a->shape, b->shape, a->rank * sizeof *a->shape);
}
