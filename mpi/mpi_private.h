/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of librecord-mpi share. */
#ifndef LR_MPI_PRIVATE_H
#define LR_MPI_PRIVATE_H

#include <stdbool.h>

#define REC_NO_SHORT_NAMES
#include <librecord/mpi.h>

/** Bytes of a message as it travels, and of the words that ranks compare. */
enum { LR_MPI_MESSAGE = 4096, LR_MPI_WORDS = 1024 };

/** The name of this rank's host. @return host. */
const char *lr_mpi_host(char host[MPI_MAX_PROCESSOR_NAME]);
/** Whether all ranks say the same of `subject` as rank 0. REC_E_MISMATCH on every rank if one does not. */
rec_status lr_mpi_same(MPI_Comm comm, const char *subject, const char *mine);

/** What a rank made of a file that a codec makes of pieces, until it is known where they go. */
typedef struct lr_mpi_pieces {
    int fd; /**< of a file without a name, beside the target; -1: none */
    uint64_t stored;     /**< bytes in it */
    rec_piece *at_hand;  /**< this rank's; then, on rank 0, all */
    uint64_t count, room;
    bool failed;         /**< out of memory */
    uint64_t at, end;    /**< bytes of the file that this rank's pieces are */
    uint64_t total;      /**< of the file */
    uint8_t *head, *tail;/**< of the file, on rank 0 */
    uint64_t head_size, tail_size;
} lr_mpi_pieces;
/** @param why (out) what went wrong, if not OK. */
rec_status lr_mpi_pieces_begin(lr_mpi_pieces *p, const char *path, char *why, size_t room);
void lr_mpi_pieces_add(lr_mpi_pieces *p, const rec_piece *piece);
/** @return an errno or 0, as rec_output.write does. */
int32_t lr_mpi_pieces_write(lr_mpi_pieces *p, const void *data, uint64_t size);
/** After all are made: whether they are those that were written. */
rec_status lr_mpi_pieces_check(const lr_mpi_pieces *p, const char *path, char *why, size_t room);
/** All ranks: where they go, and what stands around them. */
rec_status lr_mpi_pieces_place(lr_mpi_pieces *p, MPI_Comm comm, rec_recorder *recorder, const rec_record *record,
                               const char *path, const rec_window *window);
/** Gives this rank's bytes, from `at` to `end`. */
rec_status lr_mpi_pieces_copy(const lr_mpi_pieces *p, int32_t (*write)(void *user, const void *data, uint64_t size),
                              void *user, const char *path, char *why, size_t room);
void lr_mpi_pieces_end(lr_mpi_pieces *p);

/** What is to be told on rank 0: losses, or notes. */
typedef struct lr_mpi_told {
    char *at;
    size_t size, room;
    bool failed; /**< out of memory */
} lr_mpi_told;
/** Keeps a note. */
void lr_mpi_keep(lr_mpi_told *notes, const rec_note *note);
/** Tells of each note as it is. */
void lr_mpi_tell(const lr_mpi_told *notes, void (*tell)(void *user, const rec_note *note), void *user);
/** For rec_window.lost, with an lr_mpi_told: keeps a loss. */
void lr_mpi_lost(void *losses, const rec_loss *loss);
/** Adds up the losses of all ranks and tells rank 0 of them, in the order in which they were first kept. Frees them. */
rec_status lr_mpi_tell_losses(MPI_Comm comm, lr_mpi_told *losses, void (*tell)(void *user, const rec_note *note),
                              void *user);

#endif
