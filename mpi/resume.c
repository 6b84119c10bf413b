/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Saves that can be resumed. The temporary file has, after the data, a page that identifies the final file, and a page
 * for each chunk with its checksums and the losses of its tensors. A chunk is written again unless its bytes match the
 * checksums. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "mpi/mpi_private.h"
#include "os/file.h"

enum { PAGE = 4096 };
/* A piece is so large at least: each is a walk over the record. */
#define PIECE_LEAST (UINT64_C(4) << 20)
/* Seconds that the layout walks of one rank may add to its work, and the number of chunks if a walk takes as long. */
#define WALKS 1.0
enum { PIECES_LEAST = 2 };

/* Below this no sum of sizes goes beyond what a file can have. */
#define TOTAL_MOST (UINT64_C(1) << 56)

/* In this machine's order: all ranks have the same, and others find no magic word. */
typedef struct head {
    char magic[16];
    uint64_t version, total, sum, identity, piece, count;
    uint32_t crc, reserved; /* checksum of the members above */
} head;
static const char magic[16] = "librecordresume";

typedef struct page {
    uint32_t crc, adler;  /* of the piece */
    uint32_t losses, own; /* bytes of the losses, and the checksum of this page, computed with 0 here */
    uint64_t number;
    char lost[PAGE - 24];
} page;

static uint32_t sum_of(const void *bytes, size_t size)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, size);
}

/* Rank 0. @return whether what is there is of the save that `h` is about; then `h` has its pieces. */
static bool is_left(int fd, head *h)
{
    head was;
    bool same = lr_file_read_at(fd, &was, sizeof was, h->total) == 0 && memcmp(was.magic, magic, sizeof magic) == 0 &&
                was.crc == sum_of(&was, offsetof(head, crc)) && was.version == h->version && was.total == h->total &&
                was.sum == h->sum && was.identity == h->identity && was.piece >= PIECE_LEAST &&
                was.piece < TOTAL_MOST && was.count == (h->total - 1) / was.piece + 1;
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
           lr_file_write_at(fd, first, sizeof first, h->total) == 0;
}

rec_status lr_mpi_resume_begin(lr_mpi_resume *r, const lr_mpi_files *f, const rec_window *window, uint64_t identity,
                               double layout, char *why, size_t room)
{
    head h = {.version = 3, .total = window->total, .sum = window->sum, .identity = identity};
    int rank = 0, ranks = 1, left = 0;
    rec_status status;
    (void)MPI_Comm_rank(f->group->comm, &rank);
    (void)MPI_Comm_size(f->group->comm, &ranks);
    memcpy(h.magic, magic, sizeof magic);
    r->path = f->path;
    r->temporary = f->at[0].temporary;
    r->fd = open(r->temporary, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (h.total >= TOTAL_MOST) {
        (void)snprintf(why, room, "%.1500s: a file of %" PRIu64 " bytes is too large to be resumed", f->path, h.total);
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
    status = lr_mpi_agree(f->group, *why ? REC_E_IO : REC_OK, why);
    if (status == REC_OK) {
        (void)MPI_Bcast(&h, (int)sizeof h, MPI_BYTE, 0, f->group->comm);
        (void)MPI_Bcast(&left, 1, MPI_INT, 0, f->group->comm);
        r->left = left != 0;
        r->total = h.total;
        r->piece = h.piece;
        r->count = h.count;
    }
    return status;
}

uint64_t lr_mpi_resume_size(const lr_mpi_resume *r, uint64_t number)
{
    uint64_t at = number * r->piece;
    return r->total - at < r->piece ? r->total - at : r->piece;
}

/* ------------------------------------------------------------------------------------------------------- parts -- */

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

/* Computes the checksums of a chunk. @return false: it cannot be read. */
static bool sum_chunk(const lr_mpi_resume *r, uint64_t number, page *sums)
{
    enum { BLOCK = 64 << 10 };
    uint8_t block[BLOCK];
    uint64_t at = number * r->piece, left = lr_mpi_resume_size(r, number), size;
    lr_mpi_resume chunk;
    lr_mpi_resume_start(&chunk);
    for (; left; at += size, left -= size) {
        size = left < BLOCK ? left : BLOCK;
        if (lr_file_read_at(r->fd, block, size, at) != 0) {
            return false;
        }
        lr_mpi_resume_sum(&chunk, block, size);
    }
    sums->crc = chunk.crc;
    sums->adler = chunk.adler;
    return true;
}

bool lr_mpi_resume_has(const lr_mpi_resume *r, uint64_t number, lr_mpi_told *losses)
{
    uint32_t own;
    page p, now;
    if (!r->left || lr_file_read_at(r->fd, &p, sizeof p, r->total + PAGE * (number + 1)) != 0) {
        return false;
    }
    own = p.own;
    p.own = 0;
    if (p.losses > sizeof p.lost || p.number != number + 1 || own != sum_of(&p, sizeof p)) {
        return false;
    }
    return sum_chunk(r, number, &now) && now.crc == p.crc && now.adler == p.adler &&
           lr_mpi_lost_before(losses, p.lost, p.losses);
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
    return lr_file_write_at(r->fd, &p, sizeof p, r->total + PAGE * (number + 1)) == 0;
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
