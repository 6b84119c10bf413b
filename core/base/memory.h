/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Memory: the context's allocator, budgets that keep it in proportion to the input, arenas, and pages for payloads. */
#ifndef LR_MEMORY_H
#define LR_MEMORY_H

#include <stdbool.h>

#include "librecord.h"

/** Three functions and a user pointer; never NULL inside. */
typedef struct lr_allocator {
    void *(*alloc)(void *user, size_t size);
    void *(*resize)(void *user, void *old, size_t size);
    void (*release)(void *user, void *memory);
    void *user;
    bool standard; /**< malloc's: payloads may then use mmap */
} lr_allocator;

extern const lr_allocator lr_standard_allocator;

void *lr_alloc(const lr_allocator *allocator, uint64_t size);  /**< NULL on failure; size 0 gives a real pointer */
void *lr_zalloc(const lr_allocator *allocator, uint64_t size); /**< zeroed */
void *lr_resize(const lr_allocator *allocator, void *old, uint64_t size); /**< old may be NULL */
void lr_release(const lr_allocator *allocator, void *memory); /**< NULL is ignored */
char *lr_strdup(const lr_allocator *allocator, const char *text);

/** Checked size arithmetic. @return false on overflow. */
static inline bool lr_mul(uint64_t a, uint64_t b, uint64_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}
static inline bool lr_add(uint64_t a, uint64_t b, uint64_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

/** How much an operation may allocate. `limit` grows with the input that was seen. */
typedef struct lr_budget {
    uint64_t used;
    uint64_t limit;
    bool exceeded; /**< the reason of the last NULL: true the limit, false the allocator */
} lr_budget;

bool lr_budget_take(lr_budget *budget, uint64_t size); /**< NULL budget: always true */
void lr_budget_give(lr_budget *budget, uint64_t size);

/** Memory that is freed as a whole. Chunks double from 1 KiB to 256 KiB; large pieces get a chunk of their own. */
typedef struct lr_arena {
    const lr_allocator *allocator;
    struct lr_chunk *chunks;
    uint8_t *next, *end;
    uint64_t chunk_size;
    lr_budget *budget; /**< during a load, else NULL */
} lr_arena;

void lr_arena_init(lr_arena *arena, const lr_allocator *allocator);
void lr_arena_free(lr_arena *arena);
void *lr_arena_alloc(lr_arena *arena, uint64_t size, uint64_t alignment); /**< alignment: a power of two up to 16 */
/** Takes back the last allocations, from `memory` on, if nothing else was allocated after them: `end` is where the last
 *  of them ended. Does nothing otherwise. */
void lr_arena_rewind(lr_arena *arena, void *memory, const void *end);
char *lr_arena_text(lr_arena *arena, const char *text, uint64_t length);  /**< NUL-terminated copy */

/** Page memory for payloads: grows without copying where the system can, in huge pages where it has them. */
typedef struct lr_pages {
    const lr_allocator *allocator;
    uint8_t *data;
    uint64_t size;     /**< bytes reserved */
    bool mapped;
} lr_pages;

bool lr_pages_grow(lr_pages *pages, uint64_t size); /**< at least `size` bytes; contents kept */
void lr_pages_trim(lr_pages *pages, uint64_t size); /**< gives back what is beyond `size` */
void lr_pages_free(lr_pages *pages);
/** Frees pages and the struct itself, which is of their allocator: for those who lend them (lr_source_owned). */
void lr_pages_release(void *pages, void *data);

#endif
