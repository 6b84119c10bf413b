/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Saves that can be gone on with. Behind the bytes of the temporary file stands a page that says what file it is to be, and a page for
 * each piece of it: the sums of what was written, and what its tensors lost. A piece is made again unless its bytes have these sums. */
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

enum { PAGE = 4096, READ = 1 << 20 };
/* A piece is so large at least: each is a walk over the record. */
#define PIECE_LEAST (UINT64_C(4) << 20)
/* Seconds that the walks of one rank may take beside what they do, and how many there are if one takes as long. */
#define WALKS 1.0
enum { PIECES_LEAST = 2 };

/* In this machine's order: all ranks have the same, and others find no magic word. */
typedef struct head {
    char magic[16];
    uint64_t version, total, sum, identity, piece, count;
    uint32_t crc, reserved; /* of what stands before */
} head;
static const char magic[16] = "librecordresume";

typedef struct page {
    uint32_t crc, adler;  /* of the piece */
    uint32_t losses, own; /* bytes of what was lost, and the sum of this page, with 0 here */
    uint64_t number;
    char lost[PAGE - 24];
} page;

static bool read_all(int fd, void *to, uint64_t size, uint64_t at)
{
    uint8_t *target = to;
    while (size) {
        ssize_t n = pread(fd, target, (size_t)size, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            errno = n < 0 ? errno : ENODATA;
            return false;
        }
        target += n;
        at += (uint64_t)n;
        size -= (uint64_t)n;
    }
    return true;
}

static bool write_all(int fd, const void *from, uint64_t size, uint64_t at)
{
    const uint8_t *bytes = from;
    while (size) {
        ssize_t n = pwrite(fd, bytes, (size_t)size, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            errno = n < 0 ? errno : EIO;
            return false;
        }
        bytes += n;
        at += (uint64_t)n;
        size -= (uint64_t)n;
    }
    return true;
}

static uint32_t sum_of(const void *bytes, size_t size)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, size);
}

/* Rank 0. @return whether what is there is of the save that `h` is about; then `h` has its pieces. */
static bool is_left(int fd, head *h)
{
    head was;
    bool same = read_all(fd, &was, sizeof was, h->total) && memcmp(was.magic, magic, sizeof magic) == 0 &&
                was.crc == sum_of(&was, offsetof(head, crc)) && was.version == h->version && was.total == h->total &&
                was.sum == h->sum && was.identity == h->identity && was.piece >= PIECE_LEAST &&
                was.count == (h->total - 1) / was.piece + 1;
    if (same) {
        *h = was;
    }
    return same;
}

/* Rank 0. @param layout seconds that a walk over the record takes. */
static bool begin_anew(int fd, head *h, int ranks, double layout, bool *other)
{
    double pieces = layout > 0 && WALKS / layout < 1e6 ? WALKS / layout : 1e6;
    uint64_t share = h->total / (uint64_t)ranks + 1;
    char first[PAGE] = "";
    struct stat is;
    pieces = pieces > PIECES_LEAST ? pieces : PIECES_LEAST;
    h->piece = (uint64_t)((double)share / pieces) / PIECE_LEAST * PIECE_LEAST + PIECE_LEAST;
    h->count = (h->total - 1) / h->piece + 1;
    h->crc = sum_of(h, offsetof(head, crc));
    memcpy(first, h, sizeof *h);
    *other = fstat(fd, &is) == 0 && (uint64_t)is.st_size > h->total;
    return ftruncate(fd, (off_t)h->total) == 0 && ftruncate(fd, (off_t)(h->total + PAGE * (h->count + 1))) == 0 &&
           write_all(fd, first, sizeof first, h->total);
}

rec_status lr_mpi_resume_begin(lr_mpi_resume *r, const lr_mpi_files *f, uint64_t sum, uint64_t identity, double layout, char *why,
                               size_t room)
{
    head h = {.version = 1, .total = f->total, .sum = sum, .identity = identity};
    int rank = 0, ranks = 1, left = 0;
    rec_status status;
    (void)MPI_Comm_rank(f->comm, &rank);
    (void)MPI_Comm_size(f->comm, &ranks);
    memcpy(h.magic, magic, sizeof magic);
    r->path = f->path;
    r->temporary = f->at[0].temporary;
    r->fd = open(r->temporary, O_RDWR | O_CLOEXEC);
    if (r->fd < 0) {
        (void)snprintf(why, room, "%.1500s: cannot open the temporary file %.1500s, which rank 0 made: %s", f->path, r->temporary,
                       strerror(errno));
    } else if (rank == 0) {
        left = is_left(r->fd, &h);
        if (!left && !begin_anew(r->fd, &h, ranks, layout, &r->other)) {
            (void)snprintf(why, room, "%.1500s: cannot write to the temporary file %.1500s: %s", f->path, r->temporary, strerror(errno));
        }
    }
    status = rec_mpi_agree(f->comm, *why ? REC_E_IO : REC_OK, why);
    if (status == REC_OK) {
        (void)MPI_Bcast(&h, (int)sizeof h, MPI_BYTE, 0, f->comm);
        (void)MPI_Bcast(&left, 1, MPI_INT, 0, f->comm);
        r->left = left != 0;
        r->total = h.total;
        r->piece = h.piece;
        r->count = h.count;
    }
    return status;
}

static uint64_t size_of(const lr_mpi_resume *r, uint64_t number)
{
    uint64_t at = number * r->piece;
    return r->total - at < r->piece ? r->total - at : r->piece;
}

bool lr_mpi_resume_has(const lr_mpi_resume *r, uint64_t number, lr_mpi_told *losses)
{
    uint64_t at = number * r->piece, size = size_of(r, number);
    uint32_t crc = (uint32_t)crc32_z(0, NULL, 0), adler = (uint32_t)adler32_z(0, NULL, 0), own;
    uint8_t *some;
    page p;
    bool well;
    if (!r->left || !read_all(r->fd, &p, sizeof p, r->total + PAGE * (number + 1))) {
        return false;
    }
    own = p.own;
    p.own = 0;
    if (p.losses > sizeof p.lost || p.number != number + 1 || own != sum_of(&p, sizeof p)) {
        return false;
    }
    some = malloc(READ);
    well = some != NULL;
    while (size && well) {
        uint64_t n = size < READ ? size : READ;
        well = read_all(r->fd, some, n, at);
        if (well) {
            crc = (uint32_t)crc32_z(crc, some, (size_t)n);
            adler = (uint32_t)adler32_z(adler, some, (size_t)n);
        }
        at += n;
        size -= n;
    }
    free(some);
    return well && crc == p.crc && adler == p.adler && lr_mpi_lost_before(losses, p.lost, p.losses);
}

void lr_mpi_resume_sum(lr_mpi_resume *r, const void *data, uint64_t size)
{
    r->crc = (uint32_t)crc32_z(r->crc, data, (size_t)size);
    r->adler = (uint32_t)adler32_z(r->adler, data, (size_t)size);
}

void lr_mpi_resume_start(lr_mpi_resume *r)
{
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
    return write_all(r->fd, &p, sizeof p, r->total + PAGE * (number + 1));
}

bool lr_mpi_resume_cut(const lr_mpi_resume *r)
{
    return ftruncate(r->fd, (off_t)r->total) == 0;
}

void lr_mpi_resume_end(lr_mpi_resume *r)
{
    if (r->fd >= 0) {
        (void)close(r->fd);
    }
    r->fd = -1;
}
