/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Pages for payloads: of huge pages where the system has them, for first touching memory is what costs most; and the
 * pool that keeps those of freed records warm. */
#include "core/base/base.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONS 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(POISONS)
#include <sanitizer/asan_interface.h>
#define POISON(at, size) ASAN_POISON_MEMORY_REGION(at, size)
#define UNPOISON(at, size) ASAN_UNPOISON_MEMORY_REGION(at, size)
#else
#define POISON(at, size) ((void)(at), (void)(size))
#define UNPOISON(at, size) ((void)(at), (void)(size))
#endif

/* Below this malloc hands back memory that is warm already; above it, first-touch page faults dominate and huge pages
 * make them cheap. */
#define PAGES_FROM (UINT64_C(1) << 20)
#define HUGE_PAGE (UINT64_C(2) << 20)

static uint64_t page_size(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

static bool maps(const lr_allocator *allocator, uint64_t size)
{
    return allocator->standard && size >= PAGES_FROM;
}

bool lr_pages_begin_page(const lr_allocator *allocator, uint64_t size)
{
    return maps(allocator, size);
}

/* -------------------------------------------------------------------------------------------------------- pool -- */

/* What is kept says so in its first bytes. */
struct lr_warm {
    struct lr_warm *newer, *older;
    uint64_t size;
    bool mapped;
};

bool lr_pool_init(lr_pool *pool)
{
    *pool = (lr_pool){0};
    atomic_init(&pool->limit, 0);
    return pthread_mutex_init(&pool->lock, NULL) == 0;
}

static uint8_t *end_of(struct lr_warm *warm)
{
    return (uint8_t *)warm + warm->size;
}

/* All of this under the lock. */

static void enter(lr_pool *pool, void *memory, uint64_t size, bool mapped)
{
    struct lr_warm *warm = memory;
    UNPOISON(warm, sizeof *warm);
    *warm = (struct lr_warm){.older = pool->newest, .size = size, .mapped = mapped};
    POISON((uint8_t *)memory + sizeof *warm, size - sizeof *warm);
    *(pool->newest ? &pool->newest->newer : &pool->oldest) = warm;
    pool->newest = warm;
    pool->held += size;
}

static void leave(lr_pool *pool, struct lr_warm *warm)
{
    *(warm->newer ? &warm->newer->older : &pool->newest) = warm->older;
    *(warm->older ? &warm->older->newer : &pool->oldest) = warm->newer;
    pool->held -= warm->size;
}

static void give_back(const lr_allocator *allocator, void *memory, uint64_t size, bool mapped)
{
    UNPOISON(memory, size);
    if (mapped) {
        (void)munmap(memory, (size_t)size);
    } else {
        lr_release(allocator, memory);
    }
}

/* The oldest go first. */
static void shrink(lr_pool *pool, const lr_allocator *allocator, uint64_t most)
{
    while (pool->held > most) {
        struct lr_warm *warm = pool->oldest;
        uint64_t size = warm->size;
        bool mapped = warm->mapped;
        leave(pool, warm);
        give_back(allocator, warm, size, mapped);
    }
}

/* What lies beside it in memory becomes one with it, so that pages that were taken in parts serve as a whole again. */
static void enter_joined(lr_pool *pool, uint8_t *memory, uint64_t size)
{
    struct lr_warm *warm = pool->newest;
    while (warm) {
        struct lr_warm *older = warm->older;
        bool before = warm->mapped && end_of(warm) == memory, after = warm->mapped && (uint8_t *)warm == memory + size;
        if (before || after) {
            leave(pool, warm);
            size += warm->size;
            memory = before ? (uint8_t *)warm : memory;
        }
        warm = older;
    }
    enter(pool, memory, size, true);
}

/* @return whether it is the pool's now. */
static bool keep(lr_pages *pages)
{
    lr_pool *pool = pages->allocator->pool;
    uint64_t limit;
    bool kept = false;
    if (!pool || pages->size < PAGES_FROM || atomic_load_explicit(&pool->limit, memory_order_relaxed) < PAGES_FROM) {
        return false;
    }
    (void)pthread_mutex_lock(&pool->lock);
    limit = atomic_load_explicit(&pool->limit, memory_order_relaxed);
    if (pages->mapped && pages->size > limit) {
        lr_pages_trim(pages, limit & ~(page_size() - 1)); /* the beginning is as good as any part of it */
    }
    kept = pages->size >= PAGES_FROM && pages->size <= limit;
    if (kept) {
        shrink(pool, pages->allocator, limit - pages->size);
        if (pages->mapped) {
            enter_joined(pool, pages->data, pages->size);
        } else {
            enter(pool, pages->data, pages->size, false);
        }
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return kept;
}

/* Those that are large enough, the smallest; else of those that can be made larger, the largest. */
static struct lr_warm *find(const lr_pool *pool, uint64_t size)
{
    struct lr_warm *best = NULL;
    for (struct lr_warm *warm = pool->newest; warm; warm = warm->older) {
        bool serves = warm->size >= size;
        if (!serves ? !warm->mapped : !warm->mapped && warm->size / 2 > size) {
            continue; /* it can be neither made larger nor shared out */
        }
        if (!best ||
            (serves ? best->size < size || warm->size < best->size : best->size < size && warm->size > best->size)) {
            best = warm;
        }
    }
    return best;
}

/* Fills empty pages from the pool, perhaps with less than was asked for. */
static void take(lr_pages *pages, uint64_t size)
{
    lr_pool *pool = pages->allocator->pool;
    struct lr_warm *warm;
    if (!pool || size < PAGES_FROM || atomic_load_explicit(&pool->limit, memory_order_relaxed) == 0) {
        return;
    }
    (void)pthread_mutex_lock(&pool->lock);
    warm = find(pool, size);
    if (warm) {
        uint64_t rounded = (size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1), whole = warm->size;
        pages->mapped = warm->mapped;
        leave(pool, warm);
        if (pages->mapped && whole > rounded && whole - rounded >= HUGE_PAGE) {
            enter(pool, (uint8_t *)warm + rounded, whole - rounded, true);
            whole = rounded;
        }
        pages->data = (uint8_t *)warm;
        pages->size = whole;
        UNPOISON(pages->data, pages->size);
    }
    (void)pthread_mutex_unlock(&pool->lock);
}

void lr_pool_limit(lr_pool *pool, const lr_allocator *allocator, uint64_t bytes)
{
    (void)pthread_mutex_lock(&pool->lock);
    atomic_store_explicit(&pool->limit, bytes, memory_order_relaxed);
    shrink(pool, allocator, bytes);
    (void)pthread_mutex_unlock(&pool->lock);
}

void lr_pool_end(lr_pool *pool, const lr_allocator *allocator)
{
    shrink(pool, allocator, 0);
    (void)pthread_mutex_destroy(&pool->lock);
}

/* ------------------------------------------------------------------------------------------------------- pages -- */

/* Newer kernels begin large maps at a huge page; where it does not, the next one does. */
static void *map_fresh(uint64_t size)
{
    uint8_t *data = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *wider;
    uint64_t gap = data == MAP_FAILED ? 0 : -(uintptr_t)data & (HUGE_PAGE - 1);
    if (!gap || size < HUGE_PAGE) {
        return data;
    }
    wider = mmap(NULL, (size_t)(size + HUGE_PAGE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (wider == MAP_FAILED) {
        return data;
    }
    (void)munmap(data, (size_t)size);
    gap = -(uintptr_t)wider & (HUGE_PAGE - 1);
    if (gap) {
        (void)munmap(wider, (size_t)gap);
    }
    (void)munmap(wider + gap + size, (size_t)(HUGE_PAGE - gap));
    return wider + gap;
}

/* To whole huge pages, if more than half of the last one is used: it costs as much as its small pages would. */
static bool round_up(uint64_t size, uint64_t *rounded)
{
    uint64_t unit = (size & (HUGE_PAGE - 1)) > HUGE_PAGE / 2 ? HUGE_PAGE : page_size();
    if (!lr_add(size, unit - 1, rounded) || *rounded > PTRDIFF_MAX - HUGE_PAGE) {
        return false;
    }
    *rounded &= ~(unit - 1);
    return true;
}

static bool grow_mapped(lr_pages *pages, uint64_t size)
{
    void *data = MAP_FAILED;
    uint64_t rounded;
    if (!round_up(size, &rounded)) {
        return false;
    }
    if (pages->mapped) {
        data = mremap(pages->data, (size_t)pages->size, (size_t)rounded, MREMAP_MAYMOVE);
    }
    if (data == MAP_FAILED) { /* none yet; or maps that came to lie side by side, which cannot be moved as one */
        data = map_fresh(rounded);
        if (data == MAP_FAILED) {
            return false;
        }
        if (pages->data) {
            (void)madvise(data, (size_t)rounded, MADV_HUGEPAGE);
            memcpy(data, pages->data, (size_t)pages->size);
            give_back(pages->allocator, pages->data, pages->size, pages->mapped);
        }
    }
    (void)madvise(data, (size_t)rounded, MADV_HUGEPAGE); /* a wish; kernels without it map small pages */
    pages->data = data;
    pages->size = rounded;
    pages->mapped = true;
    return true;
}

bool lr_pages_grow(lr_pages *pages, uint64_t size)
{
    bool empty = !pages->data;
    uint8_t *data;
    if (empty) {
        take(pages, size);
    }
    if (size <= pages->size && pages->data) {
        return true;
    }
    if (pages->mapped || maps(pages->allocator, size)) {
        bool grown = grow_mapped(pages, size);
        if (!grown && empty) {
            lr_pages_free(pages);
        }
        return grown;
    }
    data = lr_resize(pages->allocator, pages->data, size);
    if (!data) {
        return false;
    }
    pages->data = data;
    pages->size = size;
    return true;
}

void lr_pages_trim(lr_pages *pages, uint64_t size)
{
    if (size >= pages->size || !pages->data) {
        return;
    }
    if (pages->mapped) {
        uint64_t page = page_size();
        uint64_t keep = size ? (size + page - 1) & ~(page - 1) : page;
        if (keep < pages->size && munmap(pages->data + keep, (size_t)(pages->size - keep)) == 0) {
            pages->size = keep;
        }
    } else {
        uint8_t *data = lr_resize(pages->allocator, pages->data, size);
        if (data) {
            pages->data = data;
            pages->size = size;
        }
    }
}

void lr_pages_free(lr_pages *pages)
{
    if (pages->data && !keep(pages)) {
        give_back(pages->allocator, pages->data, pages->size, pages->mapped);
    }
    pages->data = NULL;
    pages->size = 0;
    pages->mapped = false;
}

void lr_pages_release(void *user, const void *data)
{
    lr_pages *pages = user;
    const lr_allocator *allocator = pages->allocator;
    (void)data;
    lr_pages_free(pages);
    lr_release(allocator, pages);
}
