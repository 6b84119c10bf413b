/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Memory: the context's allocator, and budgets. */
#include "core/base/base.h"

#include <stdlib.h>
#include <string.h>

static void *standard_alloc(void *user, size_t size)
{
    (void)user;
    return malloc(size);
}

static void *standard_resize(void *user, void *old, size_t size)
{
    (void)user;
    return realloc(old, size);
}

static void standard_release(void *user, void *memory)
{
    (void)user;
    free(memory);
}

const lr_allocator lr_standard_allocator = {
    .alloc = standard_alloc,
    .resize = standard_resize,
    .release = standard_release,
    .standard = true,
};

void *lr_alloc(const lr_allocator *allocator, uint64_t size)
{
    if (size > PTRDIFF_MAX) {
        return NULL;
    }
    return allocator->alloc(allocator->user, size ? (size_t)size : 1);
}

void *lr_zalloc(const lr_allocator *allocator, uint64_t size)
{
    void *memory = lr_alloc(allocator, size);
    if (memory) {
        memset(memory, 0, (size_t)size);
    }
    return memory;
}

void *lr_resize(const lr_allocator *allocator, void *old, uint64_t size)
{
    if (!old) {
        return lr_alloc(allocator, size);
    }
    if (size > PTRDIFF_MAX) {
        return NULL;
    }
    return allocator->resize(allocator->user, old, size ? (size_t)size : 1);
}

void lr_release(const lr_allocator *allocator, void *memory)
{
    if (memory) {
        allocator->release(allocator->user, memory);
    }
}

char *lr_strdup(const lr_allocator *allocator, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = lr_alloc(allocator, size);
    return copy ? memcpy(copy, text, size) : NULL;
}

uint64_t lr_grow_size(uint64_t need, uint64_t *room, size_t each)
{
    enum { FIRST_ELEMENTS = 4, FIRST_BYTES = 64 };
    uint64_t first = FIRST_BYTES / each > FIRST_ELEMENTS ? FIRST_BYTES / each : FIRST_ELEMENTS, twice, size;
    if (!lr_mul(*room, 2, &twice)) {
        return UINT64_MAX;
    }
    *room = twice > first ? twice : first;
    *room = need > *room ? need : *room;
    return lr_mul(*room, each, &size) ? size : UINT64_MAX;
}

bool lr_grow(const lr_allocator *allocator, void *array, uint64_t need, uint64_t *room, size_t each)
{
    uint64_t wide = *room;
    void *memory;
    if (need <= *room) {
        return true;
    }
    memcpy(&memory, array, sizeof memory); /* whatever it points to */
    memory = lr_resize(allocator, memory, lr_grow_size(need, &wide, each));
    if (memory) {
        memcpy(array, &memory, sizeof memory);
        *room = wide;
    }
    return memory != NULL;
}

bool lr_budget_take(lr_budget *budget, uint64_t size)
{
    uint64_t used;
    if (!budget) {
        return true;
    }
    if (!lr_add(budget->used, size, &used) || used > budget->limit) {
        return false;
    }
    budget->used = used;
    return true;
}

void lr_budget_give(lr_budget *budget, uint64_t size)
{
    if (budget) {
        budget->used -= size < budget->used ? size : budget->used;
    }
}
