/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The temporary files of a save by ranks, filled by all of them: each writes a window of their bytes, or compares it
 * with them. Of a save that can be resumed it writes its parts of the file, and keeps those that an earlier save wrote.
 * The temporary file of such a save has, after the data, a page that identifies the final file, and a page for each
 * chunk with its checksums and the losses of its tensors. A chunk is written again unless its bytes match the
 * checksums.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "mpi/saving.h"
#include "os/file.h"

/* ---------------------------------------------------------------------------------------- what an earlier save left --
 */

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

static void fail_temporary(lr_mpi_saving *s)
{
    (void)snprintf(s->why, sizeof s->why, "%.1500s: cannot write to the temporary file %.1500s: %s", s->path,
                   s->files.at[0].temporary, strerror(errno));
}

/* All ranks, when the temporary file is there. */
static rec_status resume_begin(lr_mpi_saving *s)
{
    head h = {.version = 3, .total = s->window.total, .sum = s->window.sum, .identity = s->options.identity};
    const char *temporary = s->files.at[0].temporary;
    lr_mpi_resume *r = &s->resume;
    int left = 0;
    rec_status status;
    memcpy(h.magic, magic, sizeof magic);
    r->fd = open(temporary, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (h.total >= TOTAL_MOST) {
        (void)snprintf(s->why, sizeof s->why, "%.1500s: a file of %" PRIu64 " bytes is too large to be resumed",
                       s->path, h.total);
    } else if (r->fd < 0) {
        (void)snprintf(s->why, sizeof s->why, "%.1500s: cannot open the temporary file %.1500s, which rank 0 made: %s",
                       s->path, temporary, strerror(errno));
    } else if (s->rank == 0) {
        left = is_left(r->fd, &h);
        if (!left && !begin_anew(r->fd, &h, s->ranks, s->layout, &r->other)) {
            fail_temporary(s);
        }
    }
    status = lr_mpi_agree(s->group, *s->why ? REC_E_IO : REC_OK, s->why);
    if (status == REC_OK) {
        (void)MPI_Bcast(&h, (int)sizeof h, MPI_BYTE, 0, s->group->comm);
        (void)MPI_Bcast(&left, 1, MPI_INT, 0, s->group->comm);
        r->left = left != 0;
        r->total = h.total;
        r->piece = h.piece;
        r->count = h.count;
    }
    return status;
}

static uint64_t resume_size(const lr_mpi_resume *r, uint64_t number)
{
    uint64_t at = number * r->piece;
    return r->total - at < r->piece ? r->total - at : r->piece;
}

static void resume_sum(lr_mpi_resume *r, const void *data, uint64_t size)
{
    r->crc = (uint32_t)crc32_z(r->crc, data, (size_t)size);
    r->adler = (uint32_t)adler32_z(r->adler, data, (size_t)size);
}

static void resume_start(lr_mpi_resume *r)
{
    r->crc = (uint32_t)crc32_z(0, NULL, 0);
    r->adler = (uint32_t)adler32_z(0, NULL, 0);
}

/* Computes the checksums of a chunk. @return false: it cannot be read. */
static bool sum_chunk(const lr_mpi_resume *r, uint64_t number, page *sums)
{
    enum { BLOCK = 64 << 10 };
    uint8_t block[BLOCK];
    uint64_t at = number * r->piece, left = resume_size(r, number), size;
    lr_mpi_resume chunk;
    resume_start(&chunk);
    for (; left; at += size, left -= size) {
        size = left < BLOCK ? left : BLOCK;
        if (lr_file_read_at(r->fd, block, size, at) != 0) {
            return false;
        }
        resume_sum(&chunk, block, size);
    }
    sums->crc = chunk.crc;
    sums->adler = chunk.adler;
    return true;
}

/* Whether a part is there, whole. Its losses are added then. */
static bool resume_has(const lr_mpi_resume *r, uint64_t number, lr_mpi_told *losses)
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

/* A part is complete: written, with what its tensors lost. @return false: errno says why. */
static bool resume_made(const lr_mpi_resume *r, uint64_t number, const char *losses, size_t size)
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

/* ----------------------------------------------------------------------------------------------------- writing -- */

static int32_t flush(lr_mpi_saving *s)
{
    bool well = !s->used || (s->compares ? lr_mpi_files_have : lr_mpi_files_write)(&s->files, s->at, s->piece, s->used,
                                                                                   s->why, sizeof s->why);
    if (!well) {
        return EIO;
    }
    if (s->used && s->resume.fd >= 0) {
        resume_sum(&s->resume, s->piece, s->used);
    }
    s->at += s->used;
    s->used = 0;
    return 0;
}

static int32_t put(void *saving, const void *data, uint64_t size)
{
    lr_mpi_saving *s = saving;
    const uint8_t *from = data;
    int32_t error = 0;
    while (size && !error) {
        uint64_t some = LR_MPI_WRITTEN - s->used < size ? LR_MPI_WRITTEN - s->used : size;
        memcpy(s->piece + s->used, from, (size_t)some);
        s->used += some;
        from += some;
        size -= some;
        error = s->used == LR_MPI_WRITTEN ? flush(s) : 0;
    }
    return error;
}

/* Over what may be in the buffer or in the file already. */
static int32_t patch(void *saving, uint64_t offset, const void *data, uint64_t size)
{
    lr_mpi_saving *s = saving;
    int32_t error = flush(s);
    uint64_t at = s->at;
    s->patched = true;
    if (!error) {
        s->at = s->window.from + offset;
        error = put(s, data, size);
        error = error ? error : flush(s);
        s->at = at;
    }
    return error;
}

static void lost(void *user, const rec_conversion_loss *loss)
{
    lr_mpi_lost(&((lr_mpi_saving *)user)->losses, loss);
}

static rec_status fail_changed(lr_mpi_saving *s)
{
    (void)snprintf(s->why, sizeof s->why, "%s: the saved data changed meanwhile: was an input written to?", s->path);
    return REC_E_MISMATCH;
}

/* What of the record lies in the window. */
static rec_status walk(lr_mpi_saving *s, const rec_output *output)
{
    uint64_t total = s->window.total, sum = s->window.sum;
    rec_status status;
    s->window.lost = lost;
    s->window.user = s;
    status = rec_save_window(s->recorder, s->record, s->path, &s->window, output, s);
    for (uint64_t i = 0; s->rank == 0 && !s->noted && rec_report_note(i); i++) {
        lr_mpi_keep(&s->notes, rec_report_note(i)); /* which all ranks have, each time */
    }
    s->noted = true;
    if (status == REC_OK && (s->window.total != total || s->window.sum != sum)) {
        status = fail_changed(s);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------- resuming -- */

/* The first part of the file that is this rank's. */
static uint64_t first_of(const lr_mpi_saving *s, int rank)
{
    uint64_t n = (uint64_t)s->ranks, i = (uint64_t)rank, count = s->resume.count;
    return count / n * i + count % n * i / n;
}

/* @param told bytes of losses before it. */
static rec_status end_piece(lr_mpi_saving *s, uint64_t number, bool there, size_t told, rec_status status)
{
    if (status == REC_OK && there) {
        s->losses.size = told; /* they were kept before */
    } else if (status != REC_OK && there && *s->why) {
        size_t used = strlen(s->why);
        (void)snprintf(s->why + used, sizeof s->why - used,
                       ": the partial output (%.1000s) is of another save; save it without resuming",
                       s->files.at[0].temporary);
        status = REC_E_MISMATCH;
    } else if (status == REC_OK && !s->patched &&
               !resume_made(&s->resume, number, s->losses.at + told, s->losses.size - told)) {
        fail_temporary(s);
        status = REC_E_IO;
    }
    return status;
}

/* @param there an earlier save wrote it: the bytes are compared. */
static rec_status make_piece(lr_mpi_saving *s, const rec_output *output, uint64_t number, bool there)
{
    size_t told = s->losses.size;
    rec_status status;
    s->at = s->window.from = number * s->resume.piece;
    s->window.to = s->window.total - s->at < s->resume.piece ? s->window.total : s->at + s->resume.piece;
    s->compares = there;
    s->patched = false;
    resume_start(&s->resume);
    status = walk(s, output);
    status = status == REC_OK && flush(s) != 0 ? REC_E_IO : status;
    s->compares = false;
    if (status == REC_OK && s->at != s->window.to) {
        status = fail_changed(s);
    }
    return end_piece(s, number, there, told, status);
}

/* This rank's parts that are not there. The first that is there is made as well: another conversion with the same
 * layout would make other bytes. */
static rec_status write_rest(lr_mpi_saving *s, const rec_output *output)
{
    const lr_mpi_resume *r = &s->resume;
    uint64_t last = first_of(s, s->rank + 1);
    rec_status status = REC_OK;
    bool looked = false;
    for (uint64_t number = first_of(s, s->rank); number < last && status == REC_OK; number++) {
        bool there = resume_has(r, number, &s->losses);
        if (!there || !looked) {
            status = make_piece(s, output, number, there);
        }
        s->kept += there ? resume_size(r, number) : 0;
        looked = looked || there;
    }
    if (status == REC_OK && !s->noted) { /* rank 0 has the notes of all */
        s->window.from = s->window.to = 0;
        status = walk(s, output);
    }
    s->at = s->window.to;
    return status;
}

/* ------------------------------------------------------------------------------------------------ the windows -- */

/* Where windows begin if the file is large enough: stripes and pages are no larger. */
enum { ALIGNED = 1 << 20, ALIGNED_FROM = 16 };

static uint64_t begin_of(const lr_mpi_saving *s, int rank)
{
    uint64_t total = s->window.total, n = (uint64_t)s->ranks, i = (uint64_t)rank;
    uint64_t at = total / n * i + total % n * i / n;
    if (i == n) {
        return total;
    }
    return total / n >= (uint64_t)ALIGNED * ALIGNED_FROM ? at / ALIGNED * ALIGNED : at;
}

/* This rank's window. */
static rec_status write_window(lr_mpi_saving *s)
{
    const rec_output output = {.size = sizeof output, .name = s->path, .write = put, .patch = patch};
    rec_status status;
    s->piece = malloc(LR_MPI_WRITTEN);
    if (!s->piece) {
        (void)snprintf(s->why, sizeof s->why, "%s: out of memory", s->path);
        return REC_E_MEMORY;
    }
    if (s->resume.fd >= 0 && !s->compares) {
        status = write_rest(s, &output);
    } else {
        s->at = s->window.from;
        status = walk(s, &output);
    }
    if (status == REC_OK && flush(s) != 0) {
        status = REC_E_IO;
    }
    if (status == REC_OK && s->at != s->window.to) {
        status = fail_changed(s);
    }
    free(s->piece);
    s->piece = NULL;
    return status;
}

/* Reads the written files back and compares them with a second walk of the record. */
rec_status lr_mpi_saving_compare(lr_mpi_saving *s)
{
    size_t told = s->losses.size;
    rec_status status = REC_E_UNSUPPORTED;
    if (s->patched) {
        (void)snprintf(s->why, sizeof s->why, "%s: its format overwrites earlier bytes, so the ranks cannot check it",
                       s->path);
    } else {
        s->compares = true;
        s->window.from = begin_of(s, s->rank);
        s->window.to = begin_of(s, s->rank + 1);
        status = write_window(s);
        s->losses.size = told;
    }
    return lr_mpi_agree(s->group, status, *s->why ? s->why : NULL);
}

/* Opens the temporary files, writes this rank's window and closes them. All ranks. */
rec_status lr_mpi_saving_fill(lr_mpi_saving *s, rec_filling *told)
{
    double begun;
    rec_status status = lr_mpi_files_tell(&s->files, told);
    s->window.from = begin_of(s, s->rank);
    s->window.to = begin_of(s, s->rank + 1);
    status = status == REC_OK ? lr_mpi_files_open(&s->files, s->window.from, s->why, sizeof s->why) : status;
    if (status != REC_OK) {
        return status;
    }
    status = s->options.resume ? resume_begin(s) : REC_OK;
    if (status != REC_OK) {
        (void)lr_mpi_files_close(&s->files, s->why, sizeof s->why);
        return status;
    }
    if (told && s->options.resume) {
        told->keep = 1;
    }
    begun = MPI_Wtime();
    status = write_window(s);
    s->write += MPI_Wtime() - begun;
    /* The ranks agree before any of them fetches tensor data: a rank that failed fetches none. */
    status = lr_mpi_agree(s->group, status, *s->why ? s->why : NULL);
    begun = MPI_Wtime();
    if (status == REC_OK) {
        bool closed = lr_mpi_files_close(&s->files, s->why, sizeof s->why);
        status = lr_mpi_agree(s->group, closed ? REC_OK : REC_E_IO, s->why);
    } else {
        (void)lr_mpi_files_close(&s->files, s->why, sizeof s->why);
    }
    s->write += s->files.count > 1 ? MPI_Wtime() - begun : 0;
    return status;
}
