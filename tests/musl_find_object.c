/* SPDX-License-Identifier: MIT OR Apache-2.0
 * _dl_find_object() of glibc, for programs of musl that are linked with GCC's library for glibc (scripts/ports). It
 * finds the table with which the caller of a function is found. */
#include <link.h>
#include <stddef.h>
#include <stdint.h>

#ifndef __GLIBC__

typedef struct found {
    unsigned long long flags;
    void *start, *end, *map, *table;
    unsigned long long reserved[7];
} found;

typedef struct search {
    uintptr_t at;
    found *found;
} search;

static int look(struct dl_phdr_info *object, size_t size, void *user)
{
    const search *s = user;
    void *table = NULL;
    int holds = 0;
    (void)size;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_GNU_EH_FRAME) {
            table = (void *)start;
        } else if (part->p_type == PT_LOAD && s->at >= start && s->at - start < part->p_memsz) {
            *s->found = (found){.start = (void *)start, .end = (void *)(start + part->p_memsz)};
            holds = 1;
        }
    }
    s->found->table = table;
    return holds && table;
}

int _dl_find_object(void *at, found *result);
int _dl_find_object(void *at, found *result)
{
    search s = {.at = (uintptr_t)at, .found = result};
    return dl_iterate_phdr(look, &s) ? 0 : -1;
}

#endif
