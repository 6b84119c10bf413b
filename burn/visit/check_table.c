/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The table of written leaves: by the hashes of their paths, with open addressing. */
#include "burn/visit/check_private.h"

lr_leaf *lr_check_find(const lr_check *c, uint64_t place)
{
    for (uint64_t i = place & (c->room - 1); c->room && c->places[i]; i = (i + 1) & (c->room - 1)) {
        if (c->places[i] == place) {
            return &c->leaves[i];
        }
    }
    return NULL;
}

uint64_t lr_check_other_place(const lr_check *c, uint64_t place)
{
    return (place ^ (c->exact * UINT64_C(0x9e3779b97f4a7c15))) | 1;
}

uint64_t lr_check_place(const lr_check *c, uint64_t place)
{
    const lr_leaf *known = c->tensors ? lr_check_find(c, place) : NULL;
    uint64_t other = known && known->exact != c->exact ? lr_check_other_place(c, place) : place;
    return c->reading && other != place && !lr_check_find(c, other) ? place : other;
}

static bool grow(lr_check *c)
{
    const lr_allocator *allocator = c->job->allocator;
    lr_check old = *c;
    uint64_t room = old.room ? old.room * 2 : 256;
    c->places = lr_zalloc(allocator, room * sizeof *c->places);
    c->leaves = lr_alloc(allocator, room * sizeof *c->leaves);
    if (!c->places || !c->leaves) {
        lr_release(allocator, c->places);
        lr_release(allocator, c->leaves);
        c->places = old.places;
        c->leaves = old.leaves;
        (void)lr_fail_memory(c->job, room * (sizeof *c->places + sizeof *c->leaves));
        return false;
    }
    c->room = room;
    for (uint64_t i = 0; i < old.room; i++) {
        uint64_t to = old.places[i] & (room - 1);
        if (old.places[i]) {
            while (c->places[to]) {
                to = (to + 1) & (room - 1);
            }
            c->places[to] = old.places[i];
            c->leaves[to] = old.leaves[i];
        }
    }
    lr_release(allocator, old.places);
    lr_release(allocator, old.leaves);
    return true;
}

lr_leaf *lr_check_take(lr_check *c, uint64_t place, const lr_leaf *leaf)
{
    lr_leaf *known = lr_check_find(c, place);
    if (known) {
        uint64_t hash = known->hash;
        bool hashed = known->hashed && !leaf->hashed;
        *known = *leaf;
        if (hashed) {
            known->hashed = true;
            known->hash = hash;
        }
        return known;
    }
    if (c->count >= c->room / 4 * 3 && !grow(c)) {
        return NULL;
    }
    for (uint64_t i = place & (c->room - 1);; i = (i + 1) & (c->room - 1)) {
        if (!c->places[i]) {
            c->places[i] = place;
            c->leaves[i] = *leaf;
            c->count++;
            return &c->leaves[i];
        }
    }
}
