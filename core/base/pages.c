/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Pages for payloads: huge pages where the system has them, because most of the cost is first touching memory. */
#include "core/base/base.h"

#include <string.h>

#include "os/map.h"

/* Below this malloc hands back memory that is warm already; above it, first-touch page faults dominate and huge pages
 * make them cheap. */
#define PAGES_FROM (UINT64_C(1) << 20)

bool lr_pages_begin_page(const lr_allocator *allocator, uint64_t size)
{
    return allocator->standard && size >= PAGES_FROM;
}

static void give_back(lr_pages *pages)
{
    if (pages->mapped) {
        lr_map_end(pages->data, pages->size);
    } else {
        lr_release(pages->allocator, pages->data);
    }
}

static bool grow_mapped(lr_pages *pages, uint64_t size)
{
    void *data = pages->mapped ? lr_map_grow(pages->data, pages->size, &size) : lr_map_fresh(&size);
    if (!data) {
        return false;
    }
    if (pages->data && !pages->mapped) {
        memcpy(data, pages->data, (size_t)pages->size);
        give_back(pages);
    }
    pages->data = data;
    pages->size = size;
    pages->mapped = true;
    return true;
}

bool lr_pages_grow(lr_pages *pages, uint64_t size)
{
    uint8_t *data;
    if (size <= pages->size && pages->data) {
        return true;
    }
    if (pages->mapped || lr_pages_begin_page(pages->allocator, size)) {
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
        pages->size = lr_map_trim(pages->data, pages->size, size);
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
