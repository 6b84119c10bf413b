/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Texts by number: the paths of a record's values. */
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "mpi/mpi_private.h"

static uint64_t hash_of(const char *name)
{
    uint64_t sum = lr_fnv(LR_FNV_BEGIN, name, strlen(name));
    return sum ^ sum >> 29;
}

/* The slot of a name, or the free one where it goes. */
static uint64_t slot_of(const lr_mpi_names *n, const char *name)
{
    uint64_t slot = hash_of(name) & (n->slot_count - 1);
    while (n->slots[slot] && strcmp(n->at[n->slots[slot] - 1], name) != 0) {
        slot = (slot + 1) & (n->slot_count - 1);
    }
    return slot;
}

uint64_t lr_mpi_names_find(const lr_mpi_names *n, const char *name)
{
    uint64_t slot = n->slot_count ? slot_of(n, name) : 0;
    return n->slot_count && n->slots[slot] ? n->slots[slot] - 1 : REC_UNKNOWN;
}

static bool grow(lr_mpi_names *n)
{
    uint64_t room = n->room ? n->room * 2 : 64;
    char **at = realloc(n->at, (size_t)room * sizeof *at);
    uint64_t *slots = at ? calloc((size_t)room * 2, sizeof *slots) : NULL;
    n->at = at ? at : n->at;
    if (!slots) {
        return false;
    }
    free(n->slots);
    n->slots = slots;
    n->slot_count = room * 2;
    n->room = room;
    for (uint64_t i = 0; i < n->count; i++) {
        n->slots[slot_of(n, n->at[i])] = i + 1;
    }
    return true;
}

bool lr_mpi_names_add(lr_mpi_names *n, const char *name)
{
    char *copy;
    if ((n->count == n->room && !grow(n)) || !(copy = strdup(name))) {
        return false;
    }
    n->at[n->count] = copy;
    n->slots[slot_of(n, name)] = n->count + 1;
    n->count++;
    return true;
}

void lr_mpi_names_free(lr_mpi_names *n)
{
    for (uint64_t i = 0; i < n->count; i++) {
        free(n->at[i]);
    }
    free(n->at);
    free(n->slots);
    *n = (lr_mpi_names){0};
}
