/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Saves a distributed record: like a save of the whole record by all ranks, where each tensor is fetched from the rank
 * that has it. A rank that waits for bytes, or for the other ranks (lr_mpi_group), answers
 * requests meanwhile. This needs no thread and no progress by MPI itself, and tensors can lie in a mapped file or be
 * produced on demand. It terminates: a rank continues when it has its answer, and a rank without requests answers
 * until all ranks have reached the agreement that ends each step. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/mpi_private.h"

enum { PIECE = 4 << 20, HEAD = LR_MPI_MESSAGE, ASK = 1, ANSWER = 2 };

typedef struct question {
    uint64_t index, offset, size;
} question;

/* An answer is one of these, or its first 8 bytes followed by the data. */
typedef struct answer {
    int32_t status, reserved;
    char why[HEAD - 8];
} answer;

typedef struct lr_mpi_server {
    MPI_Comm own; /* for questions and answers alone */
    int rank;
    pthread_t thread; /* which may call MPI */
    const rec_record *record;
    const lr_mpi_union *u;
    uint8_t *got, *given; /* an answer each */
    rec_status status;    /* what went wrong here, perhaps while another asked */
    char why[LR_MPI_MESSAGE];
} lr_mpi_server;

static void fail(lr_mpi_server *s, rec_status status, const char *words)
{
    if (s->status == REC_OK) {
        s->status = status;
        (void)snprintf(s->why, sizeof s->why, "%s", words);
    }
}

/* Returns the path of a tensor of this rank. */
static const char *path_of(const lr_mpi_server *s, uint64_t index)
{
    const lr_mpi_union *u = s->u;
    for (uint64_t i = 0; i < u->count; i++) {
        for (uint64_t k = 0; k < u->leaves[i].held_count; k++) {
            const lr_mpi_held *held = &u->leaves[i].held[k];
            if (held->rank == s->rank && held->index == index) {
                return u->leaves[i].path + 1;
            }
        }
    }
    return "";
}

/* Bytes of a tensor of this rank. */
static rec_status read_own(lr_mpi_server *s, const question *q, uint8_t *target)
{
    const rec_tensor *tensor = s->u->mine[q->index];
    rec_status status = lr_mpi_read(tensor, q->offset, q->size, target);
    status = status == REC_OK ? rec_guard_check(s->record) : status;
    if (status != REC_OK) {
        char words[LR_MPI_MESSAGE];
        (void)snprintf(words, sizeof words, "%.1000s: %.2500s", path_of(s, q->index), rec_error_message());
        fail(s, status, words);
    }
    return status;
}

/* One question, if there is one. */
static bool serve(lr_mpi_server *s)
{
    MPI_Status from;
    question q;
    answer a = {0};
    int there = 0;
    (void)MPI_Iprobe(MPI_ANY_SOURCE, ASK, s->own, &there, &from);
    if (!there) {
        return false;
    }
    (void)MPI_Recv(&q, (int)sizeof q, MPI_BYTE, from.MPI_SOURCE, ASK, s->own, MPI_STATUS_IGNORE);
    a.status = read_own(s, &q, s->given + 8);
    if (a.status != REC_OK) {
        (void)snprintf(a.why, sizeof a.why, "%s", rec_error_message());
        memcpy(s->given, &a, sizeof a);
        (void)MPI_Send(s->given, (int)sizeof a, MPI_BYTE, from.MPI_SOURCE, ANSWER, s->own);
    } else {
        memcpy(s->given, &a, 8);
        (void)MPI_Send(s->given, (int)(8 + q.size), MPI_BYTE, from.MPI_SOURCE, ANSWER, s->own);
    }
    return true;
}

/* Until a request is done. */
static void wait_for(lr_mpi_server *s, MPI_Request *request)
{
    int done = 0;
    while (!done) {
        (void)MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done && !serve(s)) {
            (void)sched_yield();
        }
    }
}

/* @return the bytes, until the next call; NULL. */
static const uint8_t *ask(const lr_mpi_leaf *leaf, const lr_mpi_held *held, uint64_t offset, uint64_t size)
{
    lr_mpi_server *s = leaf->server;
    const question q = {.index = held->index, .offset = offset, .size = size};
    MPI_Request asked, answered;
    answer a;
    (void)serve(s); /* A rank that computes for long answers requests too. */
    if (held->rank == s->rank) {
        return read_own(s, &q, s->got) == REC_OK ? s->got : NULL;
    }
    (void)MPI_Irecv(s->got, PIECE + HEAD, MPI_BYTE, held->rank, ANSWER, s->own, &answered);
    (void)MPI_Isend(&q, (int)sizeof q, MPI_BYTE, held->rank, ASK, s->own, &asked);
    wait_for(s, &asked);
    wait_for(s, &answered);
    memcpy(&a.status, s->got, sizeof a.status);
    if (a.status != REC_OK) {
        char words[LR_MPI_MESSAGE];
        memcpy(&a, s->got, sizeof a);
        (void)snprintf(words, sizeof words, "%.1000s: rank %d, which has it, cannot read it: %.2500s", leaf->path + 1,
                       held->rank, a.why);
        fail(s, a.status, words);
        return NULL;
    }
    return s->got + 8;
}

/* Of bytes of the whole tensor what lies in one part of it: rows of that part stand together where it is. */
static bool fetch_part(const lr_mpi_leaf *leaf, const lr_mpi_held *held, uint64_t offset, uint64_t size,
                       uint8_t *target)
{
    uint64_t inner = leaf->rank ? lr_mpi_product(leaf->shape, leaf->dimension + 1, leaf->rank) : 1;
    uint64_t unit = inner * (rec_dtype_bits(leaf->dtype) / 8);
    uint64_t row = (leaf->rank ? leaf->shape[leaf->dimension] : 1) * unit, run = held->length * unit,
             in_row = held->offset * unit;
    uint64_t end = offset + size, first = offset / row, last = (end - 1) / row;
    /* Where in its own bytes that begins and ends. */
    uint64_t skip = offset - first * row, stop = end - last * row, from, to;
    const uint8_t *bytes;
    skip = skip < in_row ? 0 : skip - in_row < run ? skip - in_row : run;
    stop = stop < in_row ? 0 : stop - in_row < run ? stop - in_row : run;
    from = first * run + skip;
    to = last * run + stop;
    if (from >= to) {
        return true;
    }
    bytes = ask(leaf, held, from, to - from);
    for (uint64_t at = from; bytes && at < to;) {
        uint64_t r = at / run, within = at - r * run, some = run - within < to - at ? run - within : to - at;
        memcpy(target + (r * row + in_row + within - offset), bytes + (at - from), (size_t)some);
        at += some;
    }
    return bytes != NULL;
}

static int32_t fetch(void *user, uint64_t offset, void *target, uint64_t size)
{
    const lr_mpi_leaf *leaf = user;
    if (!pthread_equal(pthread_self(), leaf->server->thread)) {
        return EDEADLK; /* librecord makes tensors on the thread that saves: MPI is not to be called here */
    }
    for (uint64_t done = 0; done < size; done += PIECE) {
        uint64_t some = size - done < PIECE ? size - done : PIECE;
        for (uint64_t i = 0; i < leaf->held_count; i++) {
            if (!fetch_part(leaf, &leaf->held[i], offset + done, some, (uint8_t *)target + done)) {
                return EIO;
            }
        }
    }
    return 0;
}

static rec_status meet(void *server, rec_status status, char *message, size_t room)
{
    lr_mpi_server *s = server;
    MPI_Request all;
    (void)MPI_Ibarrier(s->own, &all);
    wait_for(s, &all);
    if (s->status != REC_OK) { /* why a save here failed, or another's will have */
        status = s->status;
        (void)snprintf(message, room, "%s", s->why);
        s->status = REC_OK;
    }
    return status;
}

static void free_server(lr_mpi_server *s)
{
    free(s->got);
    free(s->given);
    free(s);
}

static rec_status serve_begin(MPI_Comm comm, const rec_record *record, lr_mpi_union *u, lr_mpi_server **server)
{
    lr_mpi_server *s = calloc(1, sizeof *s);
    rec_status status;
    if (s) {
        *s = (lr_mpi_server){.record = record, .u = u, .thread = pthread_self()};
        (void)MPI_Comm_rank(comm, &s->rank);
        s->got = malloc(PIECE + HEAD);
        s->given = malloc(PIECE + HEAD);
    }
    status = rec_mpi_agree(comm, s && s->got && s->given ? REC_OK : REC_E_MEMORY,
                           "out of memory for what ranks send each other");
    if (status == REC_OK) {
        (void)MPI_Comm_dup(comm, &s->own);
        for (uint64_t i = 0; i < u->count; i++) {
            u->leaves[i].server = s;
        }
    } else if (s) {
        free_server(s);
        s = NULL;
    }
    *server = s;
    return status;
}

static void serve_end(lr_mpi_server *server)
{
    if (server) {
        (void)MPI_Comm_free(&server->own);
        free_server(server);
    }
}

rec_status rec_mpi_save_share(MPI_Comm comm, rec_recorder *recorder, const rec_record *record,
                              const rec_mpi_slices *slices, const char *path, const rec_mpi_options *options,
                              rec_mpi_report *report)
{
    lr_mpi_union u = {0};
    lr_mpi_group group = {.comm = comm};
    lr_mpi_server *server = NULL;
    rec_record *whole = NULL;
    char why[LR_MPI_MESSAGE] = "";
    rec_status status = rec_mpi_agree(comm, recorder && record && path ? REC_OK : REC_E_ARGUMENT,
                                      "rec_mpi_save_share: an argument is invalid"),
               own;
    if (status == REC_OK) {
        status = lr_mpi_union_make(&u, comm, record, slices);
    }
    status = status == REC_OK ? serve_begin(comm, record, &u, &server) : status;
    if (status == REC_OK) {
        group.meet = meet;
        group.user = server;
        whole = lr_mpi_whole(&u, record, fetch, &own, why, sizeof why);
        status = lr_mpi_agree(&group, own, why);
        if (status == REC_OK) {
            status = lr_mpi_save(&group, recorder, whole, path, options, report);
        }
        rec_record_free(whole);
    }
    serve_end(server);
    lr_mpi_union_free(&u);
    return status;
}
