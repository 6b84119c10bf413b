/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The table of written leaves: an array in the order of the walk, and an index by the hashes of their paths, with open
 * addressing. A reader reports values in almost the same order, so most searches end at the next leaf. */
#include "burn/visit/check_private.h"

/* A slot of the index: the number of a leaf from 1 on, and above it the same bits of its place; 0: empty. */
#define NUMBER ((UINT64_C(1) << 40) - 1)

/* Returns the slot that has a place, or the empty one where it belongs. */
static uint64_t *slot_of(const lr_check *c, uint64_t place)
{
    uint64_t i = place & (c->slot_room - 1);
    for (uint64_t slot; (slot = c->slots[i]) != 0; i = (i + 1) & (c->slot_room - 1)) {
        if (((slot ^ place) & ~NUMBER) == 0 && c->leaves[(slot & NUMBER) - 1].place == place) {
            break;
        }
    }
    return &c->slots[i];
}

lr_leaf *lr_check_find(lr_check *c, uint64_t place)
{
    uint64_t slot;
    for (uint64_t i = c->near; i < c->count && i <= c->near + 1; i++) {
        if (c->leaves[i].place == place) {
            c->near = i;
            return &c->leaves[i];
        }
    }
    slot = c->slot_room ? *slot_of(c, place) : 0;
    if (!slot) {
        return NULL;
    }
    c->near = (slot & NUMBER) - 1;
    return &c->leaves[c->near];
}

uint64_t lr_check_other_place(const lr_check *c, uint64_t place)
{
    return (place ^ (c->exact * UINT64_C(0x9e3779b97f4a7c15))) | 1;
}

uint64_t lr_check_place(lr_check *c, uint64_t place)
{
    const lr_leaf *known = c->tensors ? lr_check_find(c, place) : NULL;
    uint64_t other = known && known->exact != c->exact ? lr_check_other_place(c, place) : place;
    return c->reading && other != place && !lr_check_find(c, other) ? place : other;
}

static bool grow_index(lr_check *c)
{
    const lr_allocator *allocator = c->job->allocator;
    uint64_t room = c->slot_room ? c->slot_room * 2 : 256;
    uint64_t *slots = lr_zalloc(allocator, room * sizeof *slots);
    if (!slots) {
        (void)lr_fail_memory(c->job, room * sizeof *slots);
        return false;
    }
    lr_release(allocator, c->slots);
    c->slots = slots;
    c->slot_room = room;
    for (uint64_t i = 0; i < c->count; i++) {
        *slot_of(c, c->leaves[i].place) = (c->leaves[i].place & ~NUMBER) | (i + 1);
    }
    return true;
}

/* Replaces a leaf by that of a later walk, which may not have read the data again. */
static void replace(lr_leaf *known, const lr_leaf *leaf)
{
    lr_leaf old = *known;
    *known = *leaf;
    known->place = old.place;
    if (old.hashed && !leaf->hashed) {
        known->hashed = true;
        known->hash = old.hash;
    }
}

lr_leaf *lr_check_take(lr_check *c, uint64_t place, const lr_leaf *leaf)
{
    lr_leaf *known = lr_check_find(c, place);
    if (known) {
        replace(known, leaf);
        return known;
    }
    if (c->count >= c->slot_room / 4 * 3 && !grow_index(c)) {
        return NULL;
    }
    if (c->count == c->room && !lr_grow(c->job->allocator, &c->leaves, c->count + 1, &c->room, sizeof *c->leaves)) {
        (void)lr_fail_memory(c->job, (c->count + 1) * sizeof *c->leaves);
        return NULL;
    }
    *slot_of(c, place) = (place & ~NUMBER) | (c->count + 1);
    known = &c->leaves[c->count];
    *known = *leaf;
    known->place = place;
    c->near = c->count++;
    return known;
}
