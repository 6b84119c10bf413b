/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Memory: the context's allocator, budgets, and arenas. */
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

/* ------------------------------------------------------------------------------------------------------- arenas -- */

struct lr_chunk {
    struct lr_chunk *next;
    uint64_t size;
};

enum { FIRST_CHUNK = 1024, LARGEST_CHUNK = 256 * 1024 };

/* What a chunk's header takes, so that its memory stays aligned to 16. */
#define CHUNK_HEADER ((sizeof(struct lr_chunk) + 15) & ~(size_t)15)

void lr_arena_init(lr_arena *arena, const lr_allocator *allocator)
{
    *arena = (lr_arena){.allocator = allocator, .chunk_size = FIRST_CHUNK};
}

void lr_arena_free(lr_arena *arena)
{
    struct lr_chunk *chunk = arena->chunks;
    while (chunk) {
        struct lr_chunk *next = chunk->next;
        lr_release(arena->allocator, chunk);
        chunk = next;
    }
    arena->chunks = NULL;
    arena->next = arena->end = NULL;
    arena->chunk_size = FIRST_CHUNK;
}

static uint8_t *new_chunk(lr_arena *arena, uint64_t size)
{
    struct lr_chunk *chunk;
    uint64_t whole;
    if (!lr_add(size, CHUNK_HEADER, &whole)) {
        arena->refused = false;
        return NULL;
    }
    if (!lr_budget_take(arena->budget, whole)) {
        arena->refused = true;
        return NULL;
    }
    chunk = lr_alloc(arena->allocator, whole);
    if (!chunk) {
        arena->refused = false;
        lr_budget_give(arena->budget, whole);
        return NULL;
    }
    chunk->next = arena->chunks;
    chunk->size = whole;
    arena->chunks = chunk;
    return (uint8_t *)chunk + CHUNK_HEADER;
}

void *lr_arena_alloc(lr_arena *arena, uint64_t size, uint64_t alignment)
{
    uintptr_t at = ((uintptr_t)arena->next + alignment - 1) & ~(uintptr_t)(alignment - 1);
    uint8_t *memory;
    if (size == 0) {
        size = 1;
    }
    if (arena->next && at <= (uintptr_t)arena->end && size <= (uintptr_t)arena->end - at) {
        memory = arena->next + (at - (uintptr_t)arena->next);
        arena->next = memory + size;
        return memory;
    }
    if (size >= arena->chunk_size / 4) {
        return new_chunk(arena, size); /* of its own; what is left of the current chunk stays in use */
    }
    memory = new_chunk(arena, arena->chunk_size - CHUNK_HEADER);
    if (!memory) {
        return NULL;
    }
    arena->next = memory + size;
    arena->end = memory + arena->chunk_size - CHUNK_HEADER;
    if (arena->chunk_size < LARGEST_CHUNK) {
        arena->chunk_size *= 2;
    }
    return memory;
}

bool lr_arena_grow(lr_arena *arena, void *array, uint64_t need, uint64_t *room, size_t each)
{
    uint64_t wide = *room;
    void *old, *memory;
    if (need <= *room) {
        return true;
    }
    memcpy(&old, array, sizeof old);
    memory = lr_arena_alloc(arena, lr_grow_size(need, &wide, each), 8);
    if (memory) {
        if (*room) {
            memcpy(memory, old, (size_t)(*room * each));
        }
        memcpy(array, &memory, sizeof memory);
        *room = wide;
    }
    return memory != NULL;
}

void lr_arena_rewind(lr_arena *arena, void *memory, const void *end)
{
    uint8_t *from = memory;
    uint8_t *begin = arena->chunks ? (uint8_t *)arena->chunks + CHUNK_HEADER : NULL;
    if (arena->next && end == arena->next && begin && from >= begin && from < arena->next &&
        arena->next <= arena->end && begin < arena->end &&
        (uint64_t)(arena->end - begin) == arena->chunks->size - CHUNK_HEADER) {
        arena->next = from;
    }
}

char *lr_arena_text(lr_arena *arena, const char *text, uint64_t length)
{
    char *copy = lr_arena_alloc(arena, length + 1, 1);
    if (copy) {
        if (length) {
            memcpy(copy, text, (size_t)length);
        }
        copy[length] = '\0';
    }
    return copy;
}
