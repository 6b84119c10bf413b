/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Arenas: memory that is freed as a whole, in chunks that grow. */
#include "core/base/base.h"

#include <string.h>

struct lr_chunk {
    struct lr_chunk *next;
    uint64_t size : 63; /* as charged to the budget */
    uint64_t paged : 1; /* an lr_pages follows, which it is */
};

/* From MUCH bytes on, an arena goes on in chunks of huge pages: first touching what is small pages costs most then. */
enum { FIRST_CHUNK = 1024, LARGEST_CHUNK = 256 * 1024, MUCH = 4 << 20, PAGED_CHUNK = 2 << 20, PAGED_FROM = 1 << 20 };

/* Size of the chunk headers, rounded so that the memory after them stays aligned to 16. */
#define CHUNK_HEADER ((sizeof(struct lr_chunk) + 15) & ~(size_t)15)
#define PAGED_HEADER (CHUNK_HEADER + ((sizeof(lr_pages) + 15) & ~(size_t)15))

static bool is_paged(const lr_arena *arena, uint64_t size)
{
    return arena->allocator->standard && size >= PAGED_FROM;
}

/* Where its memory begins. */
static uint8_t *inside(struct lr_chunk *chunk)
{
    return (uint8_t *)chunk + (chunk->paged ? PAGED_HEADER : CHUNK_HEADER);
}

void lr_arena_init(lr_arena *arena, const lr_allocator *allocator)
{
    *arena = (lr_arena){.allocator = allocator, .chunk_size = FIRST_CHUNK};
}

void lr_arena_free(lr_arena *arena)
{
    struct lr_chunk *chunk = arena->chunks;
    while (chunk) {
        struct lr_chunk *next = chunk->next;
        if (chunk->paged) {
            lr_pages pages;
            memcpy(&pages, (uint8_t *)chunk + CHUNK_HEADER, sizeof pages);
            lr_pages_free(&pages);
        } else {
            lr_release(arena->allocator, chunk);
        }
        chunk = next;
    }
    arena->chunks = NULL;
    arena->next = arena->end = NULL;
    arena->chunk_size = FIRST_CHUNK;
    arena->taken = 0;
}

/* A chunk of that size, in all. */
static uint8_t *new_chunk(lr_arena *arena, uint64_t whole, bool paged)
{
    struct lr_chunk *chunk = NULL;
    lr_pages pages = {.allocator = arena->allocator};
    arena->refused = !lr_budget_take(arena->budget, whole);
    if (arena->refused) {
        return NULL;
    }
    if (!paged) {
        chunk = lr_alloc(arena->allocator, whole);
    } else if (lr_pages_grow(&pages, whole)) {
        chunk = (struct lr_chunk *)(void *)pages.data;
        memcpy(pages.data + CHUNK_HEADER, &pages, sizeof pages);
    }
    if (!chunk) {
        lr_budget_give(arena->budget, whole);
        return NULL;
    }
    *chunk = (struct lr_chunk){.next = arena->chunks, .size = whole & (UINT64_MAX >> 1), .paged = paged};
    arena->chunks = chunk;
    arena->taken += whole;
    return inside(chunk);
}

/* Much at once only where the budget has much left: it is taken for whole chunks. */
static uint64_t next_size(const lr_arena *arena)
{
    const lr_budget *budget = arena->budget;
    bool paged = arena->taken >= MUCH && arena->allocator->standard &&
                 (!budget || budget->limit - budget->used >= 4 * (uint64_t)PAGED_CHUNK);
    uint64_t most = paged ? PAGED_CHUNK : LARGEST_CHUNK;
    return arena->chunk_size < most / 2 ? arena->chunk_size * 2 : most;
}

void *lr_arena_alloc(lr_arena *arena, uint64_t size, uint64_t alignment)
{
    uintptr_t at = ((uintptr_t)arena->next + (uintptr_t)alignment - 1) & ~((uintptr_t)alignment - 1);
    uint8_t *memory;
    uint64_t whole;
    if (size == 0) {
        size = 1;
    }
    if (arena->next && at <= (uintptr_t)arena->end && size <= (uintptr_t)arena->end - at) {
        memory = arena->next + (at - (uintptr_t)arena->next);
        arena->next = memory + size;
        return memory;
    }
    if (size >= arena->chunk_size / 4) { /* of its own; what is left of the current chunk stays in use */
        bool paged = is_paged(arena, size);
        if (!lr_add(size, paged ? PAGED_HEADER : CHUNK_HEADER, &whole)) {
            arena->refused = false;
            return NULL;
        }
        return new_chunk(arena, whole, paged);
    }
    memory = new_chunk(arena, arena->chunk_size, is_paged(arena, arena->chunk_size));
    if (!memory) {
        return NULL;
    }
    arena->next = memory + size;
    arena->end = (uint8_t *)arena->chunks + arena->chunk_size;
    arena->chunk_size = next_size(arena);
    return memory;
}

void *lr_arena_array(lr_arena *arena, uint64_t count, size_t each)
{
    uint64_t size;
    arena->refused = false;
    return lr_mul(count, each, &size) ? lr_arena_alloc(arena, size, 8) : NULL;
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
    uint8_t *begin = arena->chunks ? inside(arena->chunks) : NULL;
    if (arena->next && end == arena->next && begin && from >= begin && from < arena->next &&
        arena->next <= arena->end && (uint8_t *)arena->chunks + arena->chunks->size == arena->end) {
        arena->next = from;
    }
}

void lr_arena_trim(lr_arena *arena)
{
    struct lr_chunk *chunk = arena->chunks;
    lr_pages pages;
    while (chunk && !((uint8_t *)chunk + chunk->size == arena->end)) {
        chunk = chunk->next; /* those before it in the list have one piece each */
    }
    if (!chunk || !chunk->paged) {
        return;
    }
    memcpy(&pages, (uint8_t *)chunk + CHUNK_HEADER, sizeof pages);
    if (!pages.mapped) {
        return; /* it would move */
    }
    lr_pages_trim(&pages, (uint64_t)(arena->next - (uint8_t *)chunk));
    memcpy((uint8_t *)chunk + CHUNK_HEADER, &pages, sizeof pages);
    if (pages.size < chunk->size) {
        arena->taken -= chunk->size - pages.size;
        chunk->size = pages.size & (UINT64_MAX >> 1);
        arena->end = (uint8_t *)chunk + pages.size;
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
