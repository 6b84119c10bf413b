/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Memory that comes in pages. Most of the cost of fresh memory is first touching it, which huge pages make cheap. */
#include "os/map.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE (UINT64_C(2) << 20)

uint64_t lr_map_page(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

void *lr_map_file(int fd, uint64_t offset, uint64_t size, bool shared)
{
    int rights = PROT_READ | (shared ? PROT_WRITE : 0);
    void *map = mmap(NULL, (size_t)size, rights, shared ? MAP_SHARED : MAP_PRIVATE, fd, (off_t)offset);
    return map == MAP_FAILED ? NULL : map;
}

void lr_map_end(void *map, uint64_t size)
{
    if (map) {
        (void)munmap(map, (size_t)size);
    }
}

/* ------------------------------------------------------------------------------------------------------- hints -- */

void lr_map_drop(const void *data, uint64_t size)
{
    (void)madvise((void *)(uintptr_t)data, (size_t)size, MADV_DONTNEED);
}

bool lr_map_random(const void *map, uint64_t size, bool random)
{
    return madvise((void *)(uintptr_t)map, (size_t)size, random ? MADV_RANDOM : MADV_NORMAL) == 0;
}

/* For a range of which only the end may lie anywhere in a page. */
static void advise(const void *data, uint64_t size, int advice)
{
    uint64_t before = (uintptr_t)data & (lr_map_page() - 1);
    (void)madvise((void *)((uintptr_t)data - (uintptr_t)before), (size_t)(size + before), advice);
}

void lr_map_populate(const void *data, uint64_t size)
{
#ifdef MADV_POPULATE_READ
    advise(data, size, MADV_POPULATE_READ);
#else
    (void)data, (void)size;
#endif
}

bool lr_map_is_resident(const void *byte)
{
    uint64_t page = lr_map_page();
    unsigned char resident = 0;
    return mincore((void *)((uintptr_t)byte & ~(uintptr_t)(page - 1)), (size_t)page, &resident) == 0 && (resident & 1);
}

void lr_map_huge(const void *data, uint64_t size)
{
    advise(data, size, MADV_HUGEPAGE);
}

/* ------------------------------------------------------------------------------------------------ fresh memory -- */

static void *map_memory(uint64_t size)
{
    void *map = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

/* Newer kernels begin large maps at a huge page; where it does not, the next one does. */
static void *map_aligned(uint64_t size)
{
    uint8_t *data = map_memory(size), *wider;
    uint64_t gap = -(uintptr_t)data & (HUGE_PAGE - 1);
    if (!data || !gap || size < HUGE_PAGE) {
        return data;
    }
    wider = map_memory(size + HUGE_PAGE);
    if (!wider) {
        return data;
    }
    lr_map_end(data, size);
    gap = -(uintptr_t)wider & (HUGE_PAGE - 1);
    if (gap) {
        lr_map_end(wider, gap);
    }
    lr_map_end(wider + gap + size, HUGE_PAGE - gap);
    return wider + gap;
}

/* To whole huge pages, if more than half of the last one is used: it costs as much as its small pages would. */
static bool round_up(uint64_t *size)
{
    uint64_t unit = (*size & (HUGE_PAGE - 1)) > HUGE_PAGE / 2 ? HUGE_PAGE : lr_map_page();
    if (*size > (uint64_t)PTRDIFF_MAX - 2 * HUGE_PAGE) {
        return false;
    }
    *size = (*size + unit - 1) & ~(unit - 1);
    return true;
}

void *lr_map_fresh(uint64_t *size)
{
    void *map = round_up(size) ? map_aligned(*size) : NULL;
    if (map) {
        lr_map_huge(map, *size);
    }
    return map;
}

void *lr_map_grow(void *map, uint64_t from, uint64_t *size)
{
    void *grown = round_up(size) ? mremap(map, (size_t)from, (size_t)*size, MREMAP_MAYMOVE) : MAP_FAILED;
    if (grown != MAP_FAILED) {
        lr_map_huge(grown, *size);
        return grown;
    }
    grown = lr_map_fresh(size);
    if (grown) {
        memcpy(grown, map, (size_t)from);
        lr_map_end(map, from);
    }
    return grown;
}

uint64_t lr_map_trim(void *map, uint64_t size, uint64_t keep)
{
    uint64_t page = lr_map_page();
    keep = keep ? (keep + page - 1) & ~(page - 1) : page;
    return keep < size && munmap((uint8_t *)map + keep, (size_t)(size - keep)) == 0 ? keep : size;
}
