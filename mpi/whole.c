/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The united record, on every rank: a copy of the rank's own record, or one made from the broadcast values if the
 * records were built in memory. Tensor data are fetched on demand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/mpi_private.h"

typedef struct building {
    const lr_mpi_union *u;
    const rec_record *record; /* this rank's */
    rec_record *whole;
    int32_t (*produce)(void *user, uint64_t offset, void *target, uint64_t size);
    rec_status status;
    char *why;
    size_t room;
} building;

static void fail(building *b, rec_status status, const char *path, const char *words)
{
    b->status = status;
    (void)snprintf(b->why, b->room, "%.1500s: %.2000s", path, words);
}

static void put_tensor(building *b, lr_mpi_leaf *leaf)
{
    const rec_tensor_spec spec = {.size = sizeof spec,
                                  .dtype = leaf->dtype,
                                  .rank = leaf->rank,
                                  .ownership = REC_PRODUCE,
                                  .shape = leaf->shape,
                                  .data_size =
                                      lr_mpi_product(leaf->shape, 0, leaf->rank) * (rec_dtype_bits(leaf->dtype) / 8),
                                  .id = leaf->id,
                                  .parameter = leaf->parameter,
                                  .user = leaf,
                                  .produce = b->produce};
    b->status = rec_set_tensor(b->whole, leaf->path + 1, &spec);
}

/* What only a record that has it can give. */
static void put_own(building *b, const lr_mpi_leaf *leaf)
{
    const rec_value *value = rec_value_at(b->record, leaf->path + 1);
    if (!value || rec_value_kind(value) != leaf->kind) {
        fail(b, REC_E_UNSUPPORTED, leaf->path + 1,
             leaf->kind == REC_KIND_TENSOR
                 ? "a tensor whose elements have no fixed size must be on every rank; found nothing here"
                 : "bytes, lists of numbers and variants have to be in the record of every rank; found nothing here");
        return;
    }
    b->status = rec_set_value(b->whole, leaf->path + 1, value);
}

static void put_leaf(building *b, lr_mpi_leaf *leaf)
{
    rec_scalar scalar = {0};
    bool in_scalar = leaf->kind < REC_KIND_BYTES && leaf->value_size >= sizeof scalar;
    if (leaf->kind == REC_KIND_TENSOR && leaf->sized) {
        put_tensor(b, leaf);
    } else if (leaf->kind == REC_KIND_LIST || leaf->kind == REC_KIND_MAP) {
        b->status = rec_set_empty(b->whole, leaf->path + 1, leaf->kind);
    } else if (in_scalar) {
        memcpy(&scalar, leaf->value + leaf->value_size - sizeof scalar, sizeof scalar);
        scalar.text = leaf->kind == REC_KIND_STRING ? leaf->value : NULL;
        b->status = rec_set_scalar(b->whole, leaf->path + 1, scalar);
    } else {
        put_own(b, leaf);
    }
    if (b->status != REC_OK && !*b->why) {
        fail(b, b->status, leaf->path + 1, rec_error_message());
    }
}

/* ------------------------------------------------------------------------------------------- of its own record -- */

static void put_into_copy(building *b)
{
    const lr_mpi_union *u = b->u;
    for (uint64_t i = 0; i < u->count && b->status == REC_OK; i++) {
        lr_mpi_leaf *leaf = &u->leaves[i];
        const rec_value *own = *leaf->path == 't' ? rec_value_at(b->record, leaf->path + 1) : NULL;
        if (own && (rec_value_kind(own) != leaf->kind || (leaf->kind == REC_KIND_TENSOR && leaf->sized))) {
            put_leaf(b, leaf);
        }
    }
}

/* -------------------------------------------------------------------------------------------- of what all told -- */

static int by_path(const void *a, const void *b)
{
    return strcmp((*(lr_mpi_leaf *const *)a)->path, (*(lr_mpi_leaf *const *)b)->path);
}

static int by_place(const void *a, const void *b)
{
    const lr_mpi_leaf *x = *(lr_mpi_leaf *const *)a, *y = *(lr_mpi_leaf *const *)b;
    return x < y ? -1 : x > y;
}

/* Whether `path` is below `above`. */
static bool is_below(const char *above, const char *path)
{
    size_t length = strlen(above);
    return strncmp(path, above, length) == 0 && path[length] && (length == 1 || path[length] == '.');
}

/* Finds the paths below a path in the sorted list. @return their number, from `*first` on. */
static uint64_t below(lr_mpi_leaf *const *sorted, uint64_t count, const char *path, uint64_t *first)
{
    uint64_t from = 0, to = count, end;
    char *least = malloc(strlen(path) + 2);
    if (!least) {
        return REC_UNKNOWN;
    }
    (void)snprintf(least, strlen(path) + 2, "%s%s", path, path[1] ? "." : "");
    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        if (strcmp(sorted[middle]->path, least) < 0 || strcmp(sorted[middle]->path, path) == 0) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    free(least);
    for (end = from; end < count && is_below(path, sorted[end]->path); end++) {
    }
    *first = from;
    return end - from;
}

static void put_metadata(building *b, const lr_mpi_leaf *leaf)
{
    const char *key = leaf->path + 1;
    const rec_value *own = rec_metadata_value(b->record, key);
    if (leaf->kind != REC_KIND_STRING && !own) {
        fail(b, REC_E_UNSUPPORTED, "metadata", "metadata other than text must be in the record of every rank");
        return;
    }
    b->status = own ? rec_metadata_set_value(b->whole, key, own) : rec_metadata_set(b->whole, key, leaf->value);
    if (b->status != REC_OK) {
        fail(b, b->status, "metadata", rec_error_message());
    }
}

static void put_in_order(building *b, lr_mpi_leaf **sorted, lr_mpi_leaf **below_it, bool *done)
{
    const lr_mpi_union *u = b->u;
    for (uint64_t i = 0; i < u->count && b->status == REC_OK; i++) {
        lr_mpi_leaf *leaf = &u->leaves[i];
        bool gives_way = leaf->kind == REC_KIND_NIL || leaf->kind == REC_KIND_MAP || leaf->kind == REC_KIND_LIST;
        uint64_t first = 0, count = 0;
        if (done[i]) {
            continue;
        }
        done[i] = true;
        if (*leaf->path == 'm') {
            put_metadata(b, leaf);
            continue;
        }
        count = below(sorted, u->count, leaf->path, &first);
        if (count == REC_UNKNOWN) {
            fail(b, REC_E_MEMORY, "the combined record of the ranks", "out of memory");
        } else if (count && !gives_way) {
            fail(b, REC_E_MISMATCH, leaf->path + 1, "a value on one rank, and on another a list or a map");
        } else if (count) { /* they stand where it stood, those of rank 0 first; what gives way among them does not */
            memcpy(below_it, sorted + first, (size_t)count * sizeof(lr_mpi_leaf *));
            qsort(below_it, (size_t)count, sizeof(lr_mpi_leaf *), by_place);
            for (uint64_t k = 0; k < count && b->status == REC_OK; k++) {
                uint64_t at = (uint64_t)(below_it[k] - u->leaves), deeper, ignored;
                deeper = done[at] ? 1 : below(sorted, u->count, below_it[k]->path, &ignored);
                done[at] = true;
                if (deeper == 0) {
                    put_leaf(b, below_it[k]);
                }
            }
        } else {
            put_leaf(b, leaf);
        }
    }
}

static void put_all(building *b)
{
    const lr_mpi_union *u = b->u;
    size_t room = (size_t)u->count + 1;
    lr_mpi_leaf **sorted = malloc(room * sizeof *sorted), **below_it = malloc(room * sizeof *below_it);
    bool *done = calloc(room, sizeof *done);
    if (sorted && below_it && done) {
        for (uint64_t i = 0; i < u->count; i++) {
            sorted[i] = &u->leaves[i];
        }
        qsort(sorted, (size_t)u->count, sizeof *sorted, by_path);
        put_in_order(b, sorted, below_it, done);
    } else {
        fail(b, REC_E_MEMORY, "the combined record of the ranks", "out of memory");
    }
    free(sorted);
    free(below_it);
    free(done);
}

rec_record *lr_mpi_whole(const lr_mpi_union *u, const rec_record *record,
                         int32_t (*produce)(void *user, uint64_t offset, void *target, uint64_t size),
                         rec_status *status, char *why, size_t room)
{
    building b = {.u = u, .record = record, .produce = produce, .why = why, .room = room};
    *why = '\0';
    b.whole = u->alike ? rec_record_copy(record) : rec_record_new(NULL);
    if (!b.whole) {
        fail(&b, rec_error_status(), "the combined record of the ranks", rec_error_message());
    } else if (u->alike) {
        put_into_copy(&b);
    } else {
        put_all(&b);
    }
    if (b.status != REC_OK) {
        rec_record_free(b.whole);
        b.whole = NULL;
    }
    *status = b.status;
    return b.whole;
}
