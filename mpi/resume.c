/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Saves that can be gone on with. Behind the bytes of the temporary file stands a page that says what file it is to be,
 * and a page for each piece of it: the sums of what was written, and what its tensors lost. A piece is made again
 * unless its bytes have these sums.
 *
 * Of what a codec makes of pieces nobody knows where a piece will stand before all are made. Behind the pages it has a
 * slot then, with room for as many of the codec's pieces as one of ours is made of, and what is known of each; when all
 * slots are filled, they are copied to where they go. The file is sparse: what is not filled takes no space. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "mpi/mpi_private.h"

enum { PAGE = 4096 };
/* A piece is so large at least: each is a walk over the record. */
#define PIECE_LEAST (UINT64_C(4) << 20)
/* Seconds that the walks of one rank may take beside what they do, and how many there are if one takes as long. */
#define WALKS 1.0
enum { PIECES_LEAST = 2 };

/* Bytes of a slot for that many that go into a codec, which is to make them fewer, not more; and of the file, for head
 * and tail. */
#define SLOT_MORE(bytes) ((bytes) / 8 + (UINT64_C(64) << 10))
#define ENDS_MOST (UINT64_C(1) << 20)
/* Below this no sum of sizes goes beyond what a file can have. */
#define INPUT_MOST (UINT64_C(1) << 56)

/* In this machine's order: all ranks have the same, and others find no magic word. */
typedef struct head {
    char magic[16];
    uint64_t version, input, sum, identity, piece, count, codec;
    uint32_t crc, reserved; /* of what stands before */
} head;
static const char magic[16] = "librecordresume";

typedef struct page {
    uint32_t crc, adler;  /* of the piece */
    uint32_t losses, own; /* bytes of what was lost, and the sum of this page, with 0 here */
    uint64_t number;
    char lost[PAGE - 24];
} page;

static uint32_t sum_of(const void *bytes, size_t size)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, size);
}

/* Where the pages begin: bytes that the file may have. */
static uint64_t room_of(const head *h)
{
    uint64_t pieces = h->codec ? (h->input - 1) / h->codec + 1 : 0;
    return h->codec ? h->input + pieces * sizeof(rec_piece) * 2 + SLOT_MORE(h->input) + ENDS_MOST : h->input;
}

static uint64_t slot_of(const head *h)
{
    return h->codec ? h->piece / h->codec * sizeof(rec_piece) + h->piece + SLOT_MORE(h->piece) : 0;
}

/* Rank 0. @return whether what is there is of the save that `h` is about; then `h` has its pieces. */
static bool is_left(int fd, head *h)
{
    head was;
    bool same = lr_mpi_read_all(fd, &was, sizeof was, room_of(h)) && memcmp(was.magic, magic, sizeof magic) == 0 &&
                was.crc == sum_of(&was, offsetof(head, crc)) && was.version == h->version && was.input == h->input &&
                was.sum == h->sum && was.identity == h->identity && was.codec == h->codec && was.piece >= PIECE_LEAST &&
                was.piece < INPUT_MOST && (!was.codec || was.piece % was.codec == 0) &&
                was.count == (h->input - 1) / was.piece + 1;
    if (same) {
        *h = was;
    }
    return same;
}

/* Rank 0. @param layout seconds that a walk over the record takes. */
static bool begin_anew(int fd, head *h, int ranks, double layout, bool *other)
{
    double pieces = layout > 0 && WALKS / layout < 1e6 ? WALKS / layout : 1e6;
    uint64_t share = h->input / (uint64_t)ranks + 1, room = room_of(h), least = PIECE_LEAST;
    char first[PAGE] = "";
    struct stat is;
    if (h->codec) {
        least = (least - 1) / h->codec * h->codec + h->codec;
    }
    pieces = pieces > PIECES_LEAST ? pieces : PIECES_LEAST;
    h->piece = (uint64_t)((double)share / pieces) / least * least + least;
    h->count = (h->input - 1) / h->piece + 1;
    h->crc = sum_of(h, offsetof(head, crc));
    memcpy(first, h, sizeof *h);
    *other = fstat(fd, &is) == 0 && (uint64_t)is.st_size > (h->codec ? 0 : room);
    return ftruncate(fd, (off_t)(h->codec ? 0 : room)) == 0 &&
           ftruncate(fd, (off_t)(room + PAGE * (h->count + 1) + slot_of(h) * h->count)) == 0 &&
           lr_mpi_write_all(fd, first, sizeof first, room);
}

rec_status lr_mpi_resume_begin(lr_mpi_resume *r, const lr_mpi_files *f, const rec_window *window, uint64_t identity,
                               double layout, char *why, size_t room)
{
    head h = {.version = 2, .input = window->total, .sum = window->sum, .identity = identity, .codec = window->piece};
    int rank = 0, ranks = 1, left = 0;
    rec_status status;
    (void)MPI_Comm_rank(f->comm, &rank);
    (void)MPI_Comm_size(f->comm, &ranks);
    memcpy(h.magic, magic, sizeof magic);
    r->path = f->path;
    r->temporary = f->at[0].temporary;
    r->fd = open(r->temporary, O_RDWR | O_CLOEXEC);
    if (h.input >= INPUT_MOST || h.codec >= INPUT_MOST) {
        (void)snprintf(why, room, "%.1500s: its %" PRIu64 " bytes are too many to be gone on with", f->path, h.input);
    } else if (r->fd < 0) {
        (void)snprintf(why, room, "%.1500s: cannot open the temporary file %.1500s, which rank 0 made: %s", f->path,
                       r->temporary, strerror(errno));
    } else if (rank == 0) {
        left = is_left(r->fd, &h);
        if (!left && !begin_anew(r->fd, &h, ranks, layout, &r->other)) {
            (void)snprintf(why, room, "%.1500s: cannot write to the temporary file %.1500s: %s", f->path, r->temporary,
                           strerror(errno));
        }
    }
    status = rec_mpi_agree(f->comm, *why ? REC_E_IO : REC_OK, why);
    if (status == REC_OK) {
        (void)MPI_Bcast(&h, (int)sizeof h, MPI_BYTE, 0, f->comm);
        (void)MPI_Bcast(&left, 1, MPI_INT, 0, f->comm);
        r->left = left != 0;
        r->total = room_of(&h);
        r->input = h.input;
        r->piece = h.piece;
        r->count = h.count;
        r->codec = h.codec;
        r->slot = slot_of(&h);
    }
    return status;
}

uint64_t lr_mpi_resume_size(const lr_mpi_resume *r, uint64_t number)
{
    uint64_t at = number * r->piece;
    return r->input - at < r->piece ? r->input - at : r->piece;
}

/* ------------------------------------------------------------------------------------------------------- slots -- */

static uint64_t slot_at(const lr_mpi_resume *r, uint64_t number)
{
    return r->total + PAGE * (r->count + 1) + r->slot * number;
}

/* The codec's pieces of one of ours, and the bytes of what is known of them. */
static uint64_t count_of(const lr_mpi_resume *r, uint64_t number)
{
    return (lr_mpi_resume_size(r, number) - 1) / r->codec + 1;
}

static uint64_t list_of(const lr_mpi_resume *r)
{
    return r->piece / r->codec * sizeof(rec_piece);
}

/* What is known of the pieces in a slot. @param size (out) bytes of all of them. NULL: nothing that makes sense, or
 * errno. To be freed. */
static rec_piece *read_list(const lr_mpi_resume *r, uint64_t number, uint64_t *size)
{
    uint64_t count = count_of(r, number);
    rec_piece *list = malloc((size_t)count * sizeof *list);
    bool sane = list && lr_mpi_read_all(r->fd, list, count * sizeof *list, slot_at(r, number));
    *size = 0;
    for (uint64_t i = 0; sane && i < count; i++) {
        sane = list[i].size <= r->slot - list_of(r) - *size;
        *size += sane ? list[i].size : 0;
    }
    if (!sane) {
        free(list);
        list = NULL;
    }
    return list;
}

int32_t lr_mpi_resume_put(lr_mpi_resume *r, const void *data, uint64_t size, bool compare)
{
    uint8_t *there = NULL;
    int32_t error = 0;
    if (size > r->end - r->at) {
        return EFBIG;
    }
    if (compare) {
        there = malloc((size_t)size);
        error = !there                                        ? ENOMEM
                : !lr_mpi_read_all(r->fd, there, size, r->at) ? errno
                : memcmp(there, data, (size_t)size) != 0      ? EILSEQ
                                                              : 0;
        free(there);
    } else {
        lr_mpi_resume_sum(r, data, size);
        error = lr_mpi_write_all(r->fd, data, size, r->at) ? 0 : errno;
    }
    r->at += size;
    return error;
}

int32_t lr_mpi_resume_list(lr_mpi_resume *r, uint64_t number, const rec_piece *pieces, bool compare)
{
    uint64_t size = count_of(r, number) * sizeof *pieces;
    r->at = slot_at(r, number);
    return lr_mpi_resume_put(r, pieces, size, compare);
}

bool lr_mpi_resume_pieces(const lr_mpi_resume *r, uint64_t number, lr_mpi_pieces *p)
{
    uint64_t size;
    rec_piece *list = read_list(r, number, &size);
    for (uint64_t i = 0; list && i < count_of(r, number); i++) {
        lr_mpi_pieces_add(p, &list[i]);
    }
    p->stored += size;
    free(list);
    return list != NULL;
}

bool lr_mpi_resume_copy(const lr_mpi_resume *r, uint64_t number, lr_mpi_write_fn write, void *user)
{
    uint64_t size;
    rec_piece *list = read_list(r, number, &size);
    bool well = list && lr_mpi_copy(r->fd, slot_at(r, number) + list_of(r), size, write, user);
    free(list);
    return well;
}

bool lr_mpi_resume_copy_file(const lr_mpi_resume *r, uint64_t at, uint64_t size, lr_mpi_write_fn write, void *user)
{
    int fd =
        open(r->temporary, O_RDONLY | O_CLOEXEC); /* once more: what others wrote and closed is seen then, on NFS too */
    bool well = fd >= 0 && lr_mpi_copy(fd, at, size, write, user);
    if (fd >= 0) {
        (void)close(fd);
    }
    return well;
}

/* ------------------------------------------------------------------------------------------------------ pieces -- */

typedef struct sums {
    uint32_t crc, adler;
} sums;

static int32_t add_to(void *user, const void *data, uint64_t size)
{
    sums *s = user;
    s->crc = (uint32_t)crc32_z(s->crc, data, (size_t)size);
    s->adler = (uint32_t)adler32_z(s->adler, data, (size_t)size);
    return 0;
}

/* Of a slot, first the bytes, then what is known of them. */
static bool sum_slot(const lr_mpi_resume *r, uint64_t number, sums *s)
{
    uint64_t size;
    rec_piece *list = read_list(r, number, &size);
    bool well = list && lr_mpi_copy(r->fd, slot_at(r, number) + list_of(r), size, add_to, s) &&
                lr_mpi_copy(r->fd, slot_at(r, number), count_of(r, number) * sizeof *list, add_to, s);
    free(list);
    return well;
}

bool lr_mpi_resume_has(const lr_mpi_resume *r, uint64_t number, lr_mpi_told *losses)
{
    sums s = {(uint32_t)crc32_z(0, NULL, 0), (uint32_t)adler32_z(0, NULL, 0)};
    uint32_t own;
    page p;
    bool well;
    if (!r->left || !lr_mpi_read_all(r->fd, &p, sizeof p, r->total + PAGE * (number + 1))) {
        return false;
    }
    own = p.own;
    p.own = 0;
    if (p.losses > sizeof p.lost || p.number != number + 1 || own != sum_of(&p, sizeof p)) {
        return false;
    }
    well = r->slot ? sum_slot(r, number, &s)
                   : lr_mpi_copy(r->fd, number * r->piece, lr_mpi_resume_size(r, number), add_to, &s);
    return well && s.crc == p.crc && s.adler == p.adler && lr_mpi_lost_before(losses, p.lost, p.losses);
}

void lr_mpi_resume_sum(lr_mpi_resume *r, const void *data, uint64_t size)
{
    r->crc = (uint32_t)crc32_z(r->crc, data, (size_t)size);
    r->adler = (uint32_t)adler32_z(r->adler, data, (size_t)size);
}

void lr_mpi_resume_start(lr_mpi_resume *r, uint64_t number)
{
    if (r->slot) {
        r->at = slot_at(r, number) + list_of(r);
        r->end = slot_at(r, number) + r->slot;
    }
    r->crc = (uint32_t)crc32_z(0, NULL, 0);
    r->adler = (uint32_t)adler32_z(0, NULL, 0);
}

bool lr_mpi_resume_made(const lr_mpi_resume *r, uint64_t number, const char *losses, size_t size)
{
    page p = {.crc = r->crc, .adler = r->adler, .losses = (uint32_t)size, .number = number + 1};
    if (size > sizeof p.lost) {
        return true; /* it would have to be made again to know what it lost */
    }
    if (size) {
        memcpy(p.lost, losses, size);
    }
    p.own = sum_of(&p, sizeof p);
    return lr_mpi_write_all(r->fd, &p, sizeof p, r->total + PAGE * (number + 1));
}

bool lr_mpi_resume_cut(const lr_mpi_resume *r, uint64_t total)
{
    return ftruncate(r->fd, (off_t)total) == 0;
}

void lr_mpi_resume_end(lr_mpi_resume *r)
{
    if (r->fd >= 0) {
        (void)close(r->fd);
    }
    r->fd = -1;
}
