/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What rank 0 is to tell: its notes, and what was lost in tensors, added up over the ranks that converted parts of
 * them. */
#include <stdlib.h>
#include <string.h>

#include "mpi/mpi_private.h"

/* As they travel: a head, the path and the text with their NULs. A loss has no text. */
typedef struct head {
    uint64_t count;
    int32_t kind;
    rec_dtype dtype;
    uint32_t whole;      /* bool: it counts all of a tensor, which other ranks may have converted as well */
    uint32_t path, text; /* bytes */
    uint32_t reserved;
} head;

/* One of them, where they are together. */
typedef struct entry {
    head h;
    const char *path, *text;
    uint64_t sum, most; /* of those that are of the same tensor: of parts, of wholes */
} entry;

static void keep(lr_mpi_told *t, head h, const char *path, const char *text)
{
    size_t before = t->size;
    h.path = (uint32_t)strlen(path) + 1;
    h.text = (uint32_t)strlen(text) + 1;
    lr_mpi_add(t, &h, sizeof h);
    lr_mpi_add(t, path, h.path);
    lr_mpi_add(t, text, h.text);
    t->size = t->failed ? before : t->size;
}

void lr_mpi_keep(lr_mpi_told *notes, const rec_note *note)
{
    keep(notes, (head){.count = note->count, .kind = note->kind}, note->path, note->text);
}

void lr_mpi_lost(void *losses, const rec_conversion_loss *loss)
{
    keep(losses, (head){.count = loss->count, .kind = loss->kind, .dtype = loss->dtype, .whole = loss->whole != 0},
         loss->path, "");
}

bool lr_mpi_lost_before(lr_mpi_told *losses, const char *bytes, size_t size)
{
    size_t before = losses->size;
    head h;
    for (size_t at = 0; at < size && !losses->failed;) {
        const char *path;
        if (size - at < sizeof h) {
            losses->size = before;
            return false;
        }
        memcpy(&h, bytes + at, sizeof h);
        at += sizeof h;
        path = bytes + at;
        if (!h.path || h.path > size - at || h.text != 1 || h.text > size - at - h.path ||
            memchr(path, '\0', h.path) != path + h.path - 1 || path[h.path] != '\0' ||
            (h.kind != REC_NOTE_OVERFLOW && h.kind != REC_NOTE_CLAMPED) || h.whole > 1) {
            losses->size = before;
            return false;
        }
        keep(losses, h, path, "");
        at += h.path + h.text;
    }
    return !losses->failed;
}

/* Reads the next entry. @return false at the end. */
static bool next(const char *all, size_t size, size_t *at, entry *e)
{
    if (size - *at < sizeof e->h) {
        return false;
    }
    memcpy(&e->h, all + *at, sizeof e->h);
    e->path = all + *at + sizeof e->h;
    e->text = e->path + e->h.path;
    *at += sizeof e->h + e->h.path + e->h.text;
    return true;
}

void lr_mpi_tell(const lr_mpi_told *notes, void (*tell)(void *user, const rec_note *note), void *user)
{
    size_t at = 0;
    entry e;
    while (next(notes->at, notes->size, &at, &e)) {
        const rec_note note = {
            .size = sizeof note, .kind = e.h.kind, .count = e.h.count, .path = e.path, .text = e.text};
        tell(user, &note);
    }
}

static int same_tensor(const entry *a, const entry *b)
{
    int order = strcmp(a->path, b->path);
    order = order ? order : (a->h.kind > b->h.kind) - (a->h.kind < b->h.kind);
    return order ? order : (a->h.dtype > b->h.dtype) - (a->h.dtype < b->h.dtype);
}

/* By tensors, and those of one in the order in which they were kept: that of the ranks, which is that of the file. */
static int by_tensor(const void *a, const void *b)
{
    const entry *const *x = a, *const *y = b;
    int order = same_tensor(*x, *y);
    return order ? order : (*x > *y) - (*x < *y);
}

/* Reports the losses of each tensor where its first entry stands. @return false: out of memory. */
static bool tell_sums(const char *all, size_t size, void (*tell)(void *user, const rec_note *note), void *user)
{
    size_t count = 0, at = 0;
    entry none, *entries, **sorted;
    while (next(all, size, &at, &none)) {
        count++;
    }
    entries = calloc(count + 1, sizeof *entries);
    sorted = calloc(count + 1, sizeof *sorted);
    if (!entries || !sorted) {
        free(entries);
        free(sorted);
        return false;
    }
    at = 0;
    for (size_t i = 0; i < count && next(all, size, &at, &entries[i]); i++) {
        sorted[i] = &entries[i];
    }
    qsort(sorted, count, sizeof(entry *), by_tensor);
    for (size_t i = 0, first = 0; i < count; i++) {
        entry *of, *e = sorted[i];
        first = same_tensor(sorted[first], e) == 0 ? first : i;
        of = sorted[first];
        if (!e->h.whole) {
            of->sum += e->h.count;
        } else if (e->h.count > of->most) {
            of->most = e->h.count;
        }
    }
    for (size_t i = 0; i < count; i++) {
        const entry *e = &entries[i];
        const rec_conversion_loss loss = {
            .size = sizeof loss, .kind = e->h.kind, .dtype = e->h.dtype, .count = e->sum + e->most, .path = e->path};
        char text[128];
        const rec_note note = {
            .size = sizeof note, .kind = loss.kind, .count = loss.count, .path = loss.path, .text = text};
        if (loss.count && rec_conversion_loss_text(&loss, text, sizeof text) == REC_OK) {
            tell(user, &note);
        }
    }
    free(entries);
    free(sorted);
    return true;
}

rec_status lr_mpi_tell_losses(const lr_mpi_group *group, lr_mpi_told *l, void (*tell)(void *user, const rec_note *note),
                              void *user)
{
    MPI_Comm comm = group->comm;
    int rank = 0, ranks = 1, mine, *sizes = NULL, *places = NULL;
    char *all = NULL;
    rec_status status;
    bool failed = l->failed || l->size > INT32_MAX;
    long long sum = 0;
    (void)MPI_Comm_rank(comm, &rank);
    (void)MPI_Comm_size(comm, &ranks);
    mine = failed ? 0 : (int)l->size;
    if (rank == 0) {
        sizes = calloc((size_t)ranks * 2, sizeof *sizes);
        failed = failed || !sizes;
        places = sizes ? sizes + ranks : NULL;
    }
    status = lr_mpi_agree(group, failed ? REC_E_MEMORY : REC_OK, "out of memory for the losses");
    if (status == REC_OK) {
        (void)MPI_Gather(&mine, 1, MPI_INT, sizes, 1, MPI_INT, 0, comm);
        for (int i = 0; rank == 0 && i < ranks; i++) {
            places[i] = (int)sum;
            sum += sizes[i];
        }
        all = rank == 0 && sum <= INT32_MAX ? malloc((size_t)sum + 1) : NULL;
        failed = rank == 0 && !all;
        status = lr_mpi_agree(group, failed ? REC_E_MEMORY : REC_OK, "out of memory for the losses");
    }
    if (status == REC_OK) {
        (void)MPI_Gatherv(l->at, mine, MPI_BYTE, all, sizes, places, MPI_BYTE, 0, comm);
        failed = rank == 0 && tell && !tell_sums(all, (size_t)sum, tell, user);
        status = lr_mpi_agree(group, failed ? REC_E_MEMORY : REC_OK, "out of memory for the losses");
    }
    free(all);
    free(sizes);
    free(l->at);
    *l = (lr_mpi_told){0};
    return status;
}
