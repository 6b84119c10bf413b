/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Each rank's share of a record that all ranks have loaded. The program's placement is checked to be the same on all
 * ranks. Owners read their large tensors; one rank reads each small replicated tensor and sends it to the others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "mpi/mpi_private.h"

enum {
    SMALL = 4 << 10, /* bytes of a tensor that is sent, if the program does not say */
    BATCH = 1 << 20  /* bytes that are sent at once, as far as tensors are that small */
};

/* A tensor and where it goes. */
typedef struct placed {
    const rec_tensor *tensor;
    char *path;
    rec_mpi_place place;
} placed;

typedef struct sharing {
    MPI_Comm comm;
    int rank, ranks;
    const rec_record *record;
    rec_record *share;
    rec_mpi_slices *slices;
    placed *at;
    uint64_t count, small;
    char why[LR_MPI_MESSAGE];
} sharing;

static rec_status fail(sharing *s, rec_status status, const char *path, const char *words)
{
    (void)snprintf(s->why, sizeof s->why, "%.1500s: %.2000s", path, words);
    return status;
}

static rec_status no_memory(sharing *s)
{
    return fail(s, REC_E_MEMORY, "the share of a record", "out of memory");
}

/* All ranks agree on the outcome of a local step. */
static rec_status agree(const sharing *s, rec_status status)
{
    return rec_mpi_agree(s->comm, status, *s->why ? s->why : NULL);
}

static uint64_t bytes_of(const rec_tensor *tensor)
{
    return rec_tensor_count(tensor) * (rec_dtype_bits(rec_tensor_dtype(tensor)) / 8);
}

/* ----------------------------------------------------------------------------------------------- where they go -- */

static rec_status check_place(sharing *s, const placed *p)
{
    const rec_mpi_place *w = &p->place;
    char words[512];
    if (w->how == REC_MPI_EVERY || (w->how == REC_MPI_ONE && w->owner >= 0 && w->owner < s->ranks)) {
        return REC_OK;
    }
    if (w->how == REC_MPI_ONE) {
        (void)snprintf(words, sizeof words, "it is placed on rank %d of %d", w->owner, s->ranks);
        return fail(s, REC_E_ARGUMENT, p->path, words);
    }
    if (w->how != REC_MPI_SPLIT) {
        (void)snprintf(words, sizeof words, "its place has an unknown `how` (%d)", w->how);
        return fail(s, REC_E_ARGUMENT, p->path, words);
    }
    if (rec_dtype_bits(rec_tensor_dtype(p->tensor)) == 0) {
        (void)snprintf(words, sizeof words, "a tensor of %.200s cannot be split: its elements have no fixed size",
                       rec_tensor_dtype_name(p->tensor));
        return fail(s, REC_E_UNSUPPORTED, p->path, words);
    }
    if (w->dimension >= rec_tensor_rank(p->tensor)) {
        char shape[LR_MPI_WORDS];
        (void)snprintf(words, sizeof words, "it is split along dimension %u, and its shape is %.400s", w->dimension,
                       lr_mpi_shape(shape, sizeof shape, rec_tensor_shape(p->tensor), rec_tensor_rank(p->tensor)));
        return fail(s, REC_E_ARGUMENT, p->path, words);
    }
    if (w->parts < 1 || w->part < 0 || w->part >= w->parts) {
        (void)snprintf(words, sizeof words, "it is split into %d parts, of which this rank has number %d", w->parts,
                       w->part);
        return fail(s, REC_E_ARGUMENT, p->path, words);
    }
    return REC_OK;
}

static rec_status ask(sharing *s, placed *p, rec_mpi_place_fn place, void *user)
{
    rec_status status;
    p->place = (rec_mpi_place){.size = sizeof p->place, .part = -1};
    status = place ? place(user, p->path, p->tensor, &p->place) : REC_OK;
    if (status != REC_OK) {
        char words[128];
        (void)snprintf(words, sizeof words, "the program's function for its place failed (%s)",
                       rec_status_name(status));
        return fail(s, status, p->path, words);
    }
    p->place.parts = p->place.parts == 0 ? s->ranks : p->place.parts;
    p->place.part = p->place.part == -1 && p->place.parts > 0 ? s->rank % p->place.parts : p->place.part;
    return check_place(s, p);
}

static rec_status place_all(sharing *s, rec_mpi_place_fn place, void *user)
{
    rec_iterator *iterator = rec_iterate(s->record);
    const rec_tensor *tensor;
    const char *path;
    rec_status status = iterator ? REC_OK : no_memory(s);
    while (status == REC_OK && (tensor = rec_iterator_next_tensor(iterator, &path))) {
        placed *p;
        placed *at = lr_mpi_grown(s->at, s->count, sizeof *at);
        if (!at) {
            status = no_memory(s);
            break;
        }
        s->at = at;
        p = &s->at[s->count];
        *p = (placed){.tensor = tensor, .path = strdup(path)};
        if (!p->path) {
            status = no_memory(s);
            break;
        }
        s->count++;
        status = ask(s, p, place, user);
    }
    rec_iterator_free(iterator);
    return status;
}

/* As ranks compare it. */
static void describe(const sharing *s, uint64_t index, char *words, size_t room)
{
    const placed *p = index < s->count ? &s->at[index] : NULL;
    char shape[LR_MPI_WORDS], where[128] = "on every rank";
    if (!p) {
        (void)snprintf(words, room, "no tensor");
        return;
    }
    if (p->place.how == REC_MPI_ONE) {
        (void)snprintf(where, sizeof where, "on rank %d", p->place.owner);
    } else if (p->place.how == REC_MPI_SPLIT) {
        (void)snprintf(where, sizeof where, "in %d parts along dimension %u", p->place.parts, p->place.dimension);
    }
    (void)snprintf(words, room, "%.500s (%.40s %.300s, %s)", p->path, rec_tensor_dtype_name(p->tensor),
                   lr_mpi_shape(shape, sizeof shape, rec_tensor_shape(p->tensor), rec_tensor_rank(p->tensor)), where);
}

static uint64_t sum_of(const sharing *s, uint64_t index)
{
    char words[LR_MPI_WORDS];
    describe(s, index, words, sizeof words);
    return lr_fnv(LR_FNV_BEGIN, words, strlen(words));
}

/* Checks that all ranks have the same tensors and place them alike. A mismatch is reported with its first tensor. All
 * ranks. */
static rec_status compare(sharing *s)
{
    enum { PIECE = 4096 };
    uint64_t theirs[PIECE], count = s->count, most = 0;
    int64_t apart = INT64_MAX, first = INT64_MAX; /* MPICH 4.0 compares MPI_UINT64_T as if it had a sign */
    char words[LR_MPI_WORDS];
    (void)MPI_Allreduce(&count, &most, 1, MPI_UINT64_T, MPI_MAX, s->comm);
    for (uint64_t at = 0; at < most; at += PIECE) {
        uint64_t some = most - at < PIECE ? most - at : PIECE;
        for (uint64_t i = 0; s->rank == 0 && i < some; i++) {
            theirs[i] = sum_of(s, at + i);
        }
        (void)MPI_Bcast(theirs, (int)some, MPI_UINT64_T, 0, s->comm);
        for (uint64_t i = 0; i < some && apart == INT64_MAX; i++) {
            apart = sum_of(s, at + i) == theirs[i] ? INT64_MAX : (int64_t)(at + i);
        }
    }
    (void)MPI_Allreduce(&apart, &first, 1, MPI_INT64_T, MPI_MIN, s->comm);
    if (first == INT64_MAX) {
        return REC_OK;
    }
    describe(s, (uint64_t)first, words, sizeof words);
    return lr_mpi_same(&(lr_mpi_group){.comm = s->comm}, "where tensors go", words);
}

/* ----------------------------------------------------------------------------------------------------- reading -- */

static bool is_sent(const sharing *s, const placed *p)
{
    uint64_t size = bytes_of(p->tensor);
    return p->place.how == REC_MPI_EVERY && s->ranks > 1 && size > 0 && size <= s->small;
}

/* Puts bytes in the place of a tensor of the share. */
static rec_status put(sharing *s, const placed *p, const uint64_t *shape, void *data, uint64_t size, int32_t ownership)
{
    const rec_tensor_spec spec = {.size = sizeof spec,
                                  .dtype = rec_tensor_dtype(p->tensor),
                                  .rank = rec_tensor_rank(p->tensor),
                                  .ownership = ownership,
                                  .shape = shape,
                                  .data = data,
                                  .data_size = size,
                                  .id = rec_tensor_id(p->tensor),
                                  .parameter = rec_tensor_is_parameter(p->tensor)};
    return rec_set_tensor(s->share, p->path, &spec);
}

/* The words of librecord, unless memory of our own ran out. */
static rec_status failed_read(sharing *s, const placed *p, rec_status status)
{
    return fail(s, status, p->path, status == rec_error_status() ? rec_error_message() : "out of memory");
}

static rec_status read_part(sharing *s, const placed *p, uint64_t offset, uint64_t length)
{
    uint64_t shape[32], size;
    uint32_t rank = rec_tensor_rank(p->tensor), d = p->place.dimension;
    uint8_t *data;
    rec_status status;
    memcpy(shape, rec_tensor_shape(p->tensor), rank * sizeof *shape);
    shape[d] = length;
    size = lr_mpi_product(shape, 0, rank) * (rec_dtype_bits(rec_tensor_dtype(p->tensor)) / 8);
    data = size <= SIZE_MAX - 1 ? malloc((size_t)size + 1) : NULL;
    if (!data) {
        return fail(s, REC_E_MEMORY, p->path, "out of memory");
    }
    status = lr_mpi_read_part(p->tensor, d, offset, length, data);
    if (status != REC_OK) {
        status = failed_read(s, p, status);
        free(data);
        return status;
    }
    status = put(s, p, shape, data, size, REC_TAKE);
    return status == REC_OK ? REC_OK : fail(s, status, p->path, rec_error_message());
}

/* This rank's part of it, and the line of the table. */
static rec_status take(sharing *s, const placed *p)
{
    static const rec_scalar none = {.kind = REC_KIND_NIL, .form = REC_FORM_NONE};
    const uint64_t *shape = rec_tensor_shape(p->tensor);
    rec_mpi_slice slice = {.size = sizeof slice,
                           .rank = rec_tensor_rank(p->tensor),
                           .path = p->path,
                           .shape = shape,
                           .held = 1,
                           .length = rec_tensor_rank(p->tensor) ? shape[0] : 1};
    rec_status status = REC_OK;
    if (p->place.how == REC_MPI_ONE && p->place.owner != s->rank) {
        slice.held = 0;
        slice.length = 0;
        status = rec_set_scalar(s->share, p->path, none);
        status = status == REC_OK ? REC_OK : fail(s, status, p->path, rec_error_message());
    } else if (p->place.how == REC_MPI_SPLIT) {
        slice.dimension = p->place.dimension;
        slice.length = rec_mpi_part(shape[slice.dimension], p->place.parts, p->place.part, &slice.offset);
        status = slice.length == shape[slice.dimension] ? REC_OK : read_part(s, p, slice.offset, slice.length);
    }
    if (status == REC_OK && rec_mpi_slices_add(s->slices, &slice) != REC_OK) {
        status = no_memory(s);
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------------- sending -- */

/* Selects the tensors from `first` on that are sent together. @return the index after the last. */
static uint64_t batch_of(const sharing *s, uint64_t first, uint64_t *size)
{
    uint64_t i = first;
    *size = 0;
    for (; i < s->count; i++) {
        uint64_t bytes = is_sent(s, &s->at[i]) ? bytes_of(s->at[i].tensor) : 0;
        if (*size && *size + bytes > BATCH) {
            break;
        }
        *size += bytes;
    }
    return i;
}

/* One rank reads the tensors and broadcasts them. A failure is reported at the end: no rank waits for it. All ranks. */
static rec_status send(sharing *s, uint64_t first, uint64_t end, uint64_t size, int reader, uint8_t *bytes)
{
    rec_status status = REC_OK;
    uint64_t at = 0;
    for (uint64_t i = first; s->rank == reader && i < end && status == REC_OK; i++) {
        const placed *p = &s->at[i];
        if (is_sent(s, p)) {
            status = lr_mpi_read(p->tensor, 0, bytes_of(p->tensor), bytes + at);
            status = status == REC_OK ? REC_OK : failed_read(s, p, status);
            at += bytes_of(p->tensor);
        }
    }
    for (uint64_t done = 0; done < size; done += BATCH) { /* more than one if a single tensor is larger */
        (void)MPI_Bcast(bytes + done, (int)(size - done < BATCH ? size - done : BATCH), MPI_BYTE, reader, s->comm);
    }
    at = 0;
    for (uint64_t i = first; i < end && status == REC_OK; i++) {
        const placed *p = &s->at[i];
        if (is_sent(s, p)) {
            status = put(s, p, rec_tensor_shape(p->tensor), bytes + at, bytes_of(p->tensor), REC_COPY);
            status = status == REC_OK ? REC_OK : fail(s, status, p->path, rec_error_message());
            at += bytes_of(p->tensor);
        }
    }
    return status;
}

static rec_status send_all(sharing *s)
{
    uint64_t size, most = 0;
    uint8_t *bytes = NULL;
    rec_status status = REC_OK, own;
    int reader = 0;
    for (uint64_t i = 0; i < s->count;) {
        i = batch_of(s, i, &size);
        most = size > most ? size : most;
    }
    if (most == 0) {
        return REC_OK;
    }
    bytes = most <= SIZE_MAX ? malloc((size_t)most) : NULL;
    own = agree(s, bytes ? REC_OK : no_memory(s));
    for (uint64_t i = 0; own == REC_OK && i < s->count;) {
        uint64_t first = i;
        i = batch_of(s, first, &size);
        if (size) {
            rec_status sent = send(s, first, i, size, reader, bytes);
            status = status == REC_OK ? sent : status;
            reader = (reader + 1) % s->ranks;
        }
    }
    free(bytes);
    return own == REC_OK ? agree(s, status) : own;
}

/* --------------------------------------------------------------------------------------------------------- all -- */

static rec_status take_all(sharing *s)
{
    rec_status status = REC_OK;
    s->share = rec_record_copy(s->record);
    s->slices = s->share ? rec_mpi_slices_new() : NULL;
    if (!s->slices) {
        status = no_memory(s);
    }
    for (uint64_t i = 0; i < s->count && status == REC_OK; i++) {
        status = take(s, &s->at[i]);
    }
    if (status == REC_OK && rec_guard_check(s->record) != REC_OK) {
        status = rec_error_status();
    }
    return status;
}

rec_record *rec_mpi_share(MPI_Comm comm, const rec_record *record, rec_mpi_place_fn place, void *user,
                          const rec_mpi_options *options, rec_mpi_slices **slices, rec_status *status)
{
    rec_mpi_options known = {0};
    sharing s = {.comm = comm, .record = record};
    rec_status all;
    (void)MPI_Comm_rank(comm, &s.rank);
    (void)MPI_Comm_size(comm, &s.ranks);
    if (slices) {
        *slices = NULL;
    }
    if (options && options->size >= 8) {
        memcpy(&known, options, options->size < sizeof known ? options->size : sizeof known);
    }
    s.small = known.broadcast == 0 ? SMALL : known.broadcast == REC_UNKNOWN ? 0 : known.broadcast;
    (void)MPI_Bcast(&s.small, 1, MPI_UINT64_T, 0, comm); /* what is sent, all have to take */
    all = record && (!options || options->size >= 8)
              ? REC_OK
              : fail(&s, REC_E_ARGUMENT, "rec_mpi_share", "an argument is invalid");
    if (all == REC_OK) {
        all = place_all(&s, place, user);
    }
    all = agree(&s, all);
    all = all == REC_OK ? compare(&s) : all;
    if (all == REC_OK) {
        all = agree(&s, take_all(&s));
    }
    all = all == REC_OK ? send_all(&s) : all;
    for (uint64_t i = 0; i < s.count; i++) {
        free(s.at[i].path);
    }
    free(s.at);
    if (all != REC_OK) {
        rec_record_free(s.share);
        s.share = NULL;
    }
    if (all == REC_OK && slices) {
        *slices = s.slices;
    } else {
        rec_mpi_slices_free(s.slices);
    }
    if (status) {
        *status = all;
    }
    return s.share;
}

rec_record *rec_mpi_load_share(MPI_Comm comm, rec_recorder *recorder, const char *path, rec_mpi_place_fn place,
                               void *user, const rec_mpi_options *options, rec_mpi_slices **slices, rec_status *status)
{
    rec_record *whole = rec_mpi_load(comm, recorder, path, status), *share;
    if (slices) {
        *slices = NULL;
    }
    if (!whole) {
        return NULL;
    }
    share = rec_mpi_share(comm, whole, place, user, options, slices, status);
    rec_record_free(whole);
    return share;
}
