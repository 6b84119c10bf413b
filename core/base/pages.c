/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Pages for payloads: huge pages where the system has them, because most of the cost is first touching memory. */
#include "core/base/base.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

static void give_back(lr_pages *pages)
{
    if (pages->mapped) {
        (void)munmap(pages->data, (size_t)pages->size);
    } else {
        lr_release(pages->allocator, pages->data);
    }
}

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
    if (data == MAP_FAILED) { /* none yet, or mremap failed */
        data = map_fresh(rounded);
        if (data == MAP_FAILED) {
            return false;
        }
        if (pages->data) {
            (void)madvise(data, (size_t)rounded, MADV_HUGEPAGE);
            memcpy(data, pages->data, (size_t)pages->size);
            give_back(pages);
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
    uint8_t *data;
    if (size <= pages->size && pages->data) {
        return true;
    }
    if (pages->mapped || maps(pages->allocator, size)) {
        return grow_mapped(pages, size);
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
    if (pages->data) {
        give_back(pages);
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
