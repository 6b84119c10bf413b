/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Tables of what a rank has of tensors, and into what parts a dimension is cut. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/mpi_private.h"

enum { RANK_MOST = 32 };

struct rec_mpi_slices {
    lr_mpi_names names;
    struct kept {
        rec_mpi_slice slice;
        uint64_t shape[RANK_MOST];
    } **at; /* each stays where it is */
};

static uint64_t bound_of(uint64_t length, uint64_t parts, uint64_t part)
{
    return length / parts * part + length % parts * part / parts;
}

uint64_t rec_mpi_part(uint64_t length, int32_t parts, int32_t part, uint64_t *offset)
{
    uint64_t from = 0, to = 0;
    if (part >= 0 && part < parts) {
        from = bound_of(length, (uint64_t)parts, (uint64_t)part);
        to = bound_of(length, (uint64_t)parts, (uint64_t)part + 1);
    }
    if (offset) {
        *offset = from;
    }
    return to - from;
}

const char *lr_mpi_shape(char *text, size_t room, const uint64_t *shape, uint32_t rank)
{
    size_t at = (size_t)snprintf(text, room, "[");
    for (uint32_t i = 0; i < rank && at + 24 < room; i++) {
        at += (size_t)snprintf(text + at, room - at, "%s%llu", i ? ", " : "", (unsigned long long)shape[i]);
    }
    (void)snprintf(text + at, room - at, "]");
    return text;
}

uint64_t lr_mpi_product(const uint64_t *shape, uint32_t from, uint32_t to)
{
    uint64_t product = 1;
    for (uint32_t i = from; i < to; i++) {
        product *= shape[i];
    }
    return product;
}

rec_mpi_slices *rec_mpi_slices_new(void)
{
    return calloc(1, sizeof(rec_mpi_slices));
}

void rec_mpi_slices_free(rec_mpi_slices *slices)
{
    for (uint64_t i = 0; slices && i < slices->names.count; i++) {
        free(slices->at[i]);
    }
    if (slices) {
        lr_mpi_names_free(&slices->names);
        free(slices->at);
        free(slices);
    }
}

/* @return why it cannot be, or NULL. */
static const char *fault_of(const rec_mpi_slice *s)
{
    uint64_t whole;
    if (s->size < sizeof *s || !s->path || s->rank > RANK_MOST || (s->rank && !s->shape) || s->held < 0 ||
        s->held > 1) {
        return "its `size`, `path`, `rank`, `shape` or `held` is invalid";
    }
    if (s->dimension > 0 && s->dimension >= s->rank) {
        return "the tensor has no such dimension";
    }
    whole = s->rank ? s->shape[s->dimension] : 1;
    return s->offset > whole || s->length > whole - s->offset ? "it goes beyond the end of its dimension" : NULL;
}

rec_status rec_mpi_slices_add(rec_mpi_slices *slices, const rec_mpi_slice *slice)
{
    const char *fault = slices && slice ? fault_of(slice) : "an argument is NULL";
    char message[LR_MPI_MESSAGE];
    struct kept *kept;
    uint64_t index;
    if (fault) {
        (void)snprintf(message, sizeof message, "%.1000s: an invalid slice: %s",
                       slice && slice->size >= sizeof *slice && slice->path ? slice->path : "(no path)", fault);
        return lr_mpi_say(REC_E_ARGUMENT, message);
    }
    index = lr_mpi_names_find(&slices->names, slice->path);
    if (index == REC_UNKNOWN) {
        struct kept **at = lr_mpi_grown(slices->at, slices->names.count, sizeof(struct kept *));
        slices->at = at ? at : slices->at;
        index = slices->names.count;
        kept = calloc(1, sizeof *kept);
        if (!at || !kept || !lr_mpi_names_add(&slices->names, slice->path)) {
            free(kept);
            return lr_mpi_say(REC_E_MEMORY, "out of memory");
        }
        slices->at[index] = kept;
    }
    kept = slices->at[index];
    memmove(kept->shape, slice->rank ? slice->shape : kept->shape,
            slice->rank * sizeof *kept->shape); /* perhaps its own */
    kept->slice = *slice;
    kept->slice.size = sizeof kept->slice;
    kept->slice.path = slices->names.at[index];
    kept->slice.shape = kept->shape;
    return REC_OK;
}

uint64_t rec_mpi_slices_count(const rec_mpi_slices *slices)
{
    return slices ? slices->names.count : 0;
}

const rec_mpi_slice *rec_mpi_slices_get(const rec_mpi_slices *slices, uint64_t index)
{
    return index < rec_mpi_slices_count(slices) ? &slices->at[index]->slice : NULL;
}

const rec_mpi_slice *rec_mpi_slices_find(const rec_mpi_slices *slices, const char *path)
{
    return slices && path ? rec_mpi_slices_get(slices, lr_mpi_names_find(&slices->names, path)) : NULL;
}
