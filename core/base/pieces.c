/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The memory that a job gives to a plugin. It is listed by its addresses: what is given back twice, or was never given,
 * is found without a look into it, and what is left when the job ends is freed. Open addressing without gaps. */
#include "core/base/base_private.h"

#include <string.h>

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

/* Makes sure that there is room for one more. @return false: out of memory. */
static bool reserve(lr_pieces *pieces, const lr_allocator *allocator)
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

static void add(lr_pieces *pieces, void *memory, uint64_t size)
{
    put(pieces, memory, size);
    pieces->count++;
}

/* NULL: not found. */
static lr_piece *find(const lr_pieces *pieces, const void *memory)
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
static void take_out(lr_pieces *pieces, lr_piece *piece)
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

/* ---------------------------------------------------------------------------------------------------- services -- */

void *rec_job_resize(rec_job *job, void *old, uint64_t size)
{
    lr_piece *piece;
    uint64_t had;
    void *memory = NULL;
    if (LR_LACKS(job, job)) {
        return NULL;
    }
    piece = old ? find(&job->pieces, old) : NULL;
    if (old && !piece) {
        return LR_AS_NULL(
            lr_breach(job, REC_UNKNOWN, "resized memory that rec_job_alloc() did not give it, or that it had freed"));
    }
    had = piece ? piece->size : 0;
    if (size > PTRDIFF_MAX) {
        return LR_AS_NULL(lr_fail_memory(job, size));
    }
    if (size > had && !lr_budget_take(&job->budget, size - had)) {
        return LR_AS_NULL(lr_fail_budget(job, "structure"));
    }
    if (old || reserve(&job->pieces, job->allocator)) {
        memory = lr_resize(job->allocator, old, size);
    }
    if (!memory) {
        if (size > had) {
            lr_budget_give(&job->budget, size - had);
        }
        return LR_AS_NULL(lr_fail_memory(job, size));
    }
    if (size < had) {
        lr_budget_give(&job->budget, had - size);
    }
    if (piece) {
        take_out(&job->pieces, piece);
    }
    add(&job->pieces, memory, size);
    return memory;
}

bool lr_job_grow_counted(rec_job *job, void *array, uint64_t need, uint64_t *room, size_t each)
{
    uint64_t wide = *room;
    void *memory;
    if (need <= *room) {
        return true;
    }
    memcpy(&memory, array, sizeof memory);
    memory = rec_job_resize(job, memory, lr_grow_size(need, &wide, each));
    if (memory) {
        memcpy(array, &memory, sizeof memory);
        *room = wide;
    }
    return memory != NULL;
}

void *rec_job_alloc(rec_job *job, uint64_t size)
{
    return rec_job_resize(job, NULL, size);
}

void rec_job_free(rec_job *job, void *memory)
{
    lr_piece *piece;
    if (!memory || LR_LACKS(job, job)) {
        return;
    }
    piece = find(&job->pieces, memory);
    if (!piece) {
        (void)lr_breach(job, REC_UNKNOWN, "freed memory that rec_job_alloc() did not give it, or that it had freed");
        return;
    }
    lr_budget_give(&job->budget, piece->size);
    take_out(&job->pieces, piece);
    lr_release(job->allocator, memory);
}

void lr_job_bury(rec_job *job, void *memory)
{
    enum { MOST = 4096 };
    if (job->buried < MOST && reserve(&job->pieces, job->allocator)) {
        add(&job->pieces, memory, 0);
        job->buried++;
    } else {
        lr_release(job->allocator, memory);
    }
}
