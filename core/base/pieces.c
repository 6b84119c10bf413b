/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The memory that a job gave to a plugin, by its addresses: what is given back twice, or was never given, is found
 * without a look into it, and what is left when the job ends is freed. Open addressing without gaps. */
#include "core/base/base_private.h"

enum { FIRST_ROOM = 16 };

static uint64_t slot_of(const lr_pieces *pieces, const void *memory)
{
    return (((uintptr_t)memory >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (pieces->room - 1);
}

static void put(lr_pieces *pieces, void *memory, uint64_t size)
{
    uint64_t at = slot_of(pieces, memory);
    while (pieces->slots[at].memory) {
        at = (at + 1) & (pieces->room - 1);
    }
    pieces->slots[at] = (lr_piece){.memory = memory, .size = size};
}

bool lr_pieces_reserve(lr_pieces *pieces, const lr_allocator *allocator)
{
    lr_pieces wider = {.count = pieces->count, .room = pieces->room ? pieces->room * 2 : FIRST_ROOM};
    if (pieces->count < pieces->room / 2) {
        return true;
    }
    wider.slots = lr_zalloc(allocator, wider.room * sizeof *wider.slots);
    if (!wider.slots) {
        return false;
    }
    for (uint64_t i = 0; i < pieces->room; i++) {
        if (pieces->slots[i].memory) {
            put(&wider, pieces->slots[i].memory, pieces->slots[i].size);
        }
    }
    lr_release(allocator, pieces->slots);
    *pieces = wider;
    return true;
}

void lr_pieces_add(lr_pieces *pieces, void *memory, uint64_t size)
{
    put(pieces, memory, size);
    pieces->count++;
}

lr_piece *lr_pieces_find(const lr_pieces *pieces, const void *memory)
{
    uint64_t at = pieces->room ? slot_of(pieces, memory) : 0;
    while (pieces->room && pieces->slots[at].memory) {
        if (pieces->slots[at].memory == memory) {
            return &pieces->slots[at];
        }
        at = (at + 1) & (pieces->room - 1);
    }
    return NULL;
}

/* Moves the following entries up where possible: a lookup ends at the first gap. */
void lr_pieces_remove(lr_pieces *pieces, lr_piece *piece)
{
    uint64_t mask = pieces->room - 1, gap = (uint64_t)(piece - pieces->slots), at = gap;
    for (;;) {
        uint64_t home;
        at = (at + 1) & mask;
        if (!pieces->slots[at].memory) {
            break;
        }
        home = slot_of(pieces, pieces->slots[at].memory);
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            pieces->slots[gap] = pieces->slots[at];
            gap = at;
        }
    }
    pieces->slots[gap].memory = NULL;
    pieces->count--;
}

void lr_pieces_free(lr_pieces *pieces, const lr_allocator *allocator)
{
    for (uint64_t i = 0; i < pieces->room && pieces->count; i++) {
        lr_release(allocator, pieces->slots[i].memory);
    }
    lr_release(allocator, pieces->slots);
    *pieces = (lr_pieces){0};
}
