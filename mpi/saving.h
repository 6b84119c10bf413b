/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A save by ranks: what its layout, this rank's window and the pieces of a save that can be gone on with share. */
#ifndef LR_MPI_SAVING_H
#define LR_MPI_SAVING_H

#include "mpi/mpi_private.h"

/** Bytes that are written at once. */
enum { LR_MPI_WRITTEN = 4 << 20 };

/** A save that all ranks make together. */
typedef struct lr_mpi_saving {
    MPI_Comm comm;
    int rank, ranks;
    rec_recorder *recorder;
    const rec_record *record;
    const char *path;
    rec_mpi_options options;
    rec_window window;
    lr_mpi_pieces pieces;      /**< of a file that a codec makes of pieces, or a format of text */
    lr_mpi_told losses, notes; /**< notes: on rank 0, all that are no losses */
    lr_mpi_files files;
    char letters[16];  /**< in their names */
    bool whole_text;   /**< text is made by bytes of the file, all of it by each rank */
    bool filled;       /**< rank 0: the others were told */
    rec_status status; /**< what all know of */
    double layout, write, commit;
    lr_mpi_resume resume; /**< of one that can be gone on with */
    lr_mpi_files kept_in; /**< of several files: the one that keeps the bytes of all until they are complete */
    bool staged;          /**< which they are */
    uint64_t kept;        /**< bytes that were there */
    bool noted;           /**< `notes` has what each walk tells */
    /* Writing. */
    uint8_t *piece;
    uint64_t used, at; /**< bytes in it, and where in the files it begins */
    bool compares;     /**< it is not written: it is to be there */
    bool patched;      /**< something was written over */
    char why[LR_MPI_MESSAGE];
} lr_mpi_saving;

/** Says that what is saved is not what it was. @return the status. */
rec_status lr_mpi_saving_changed(lr_mpi_saving *s);
/** What of the record lies in `window`, given to `output`; its losses and notes are kept. */
rec_status lr_mpi_saving_walk(lr_mpi_saving *s, const rec_output *output);
/** For rec_output, with an lr_mpi_saving: bytes go to `at`, which goes on. @return an errno; `why` may say more. */
int32_t lr_mpi_saving_write(void *saving, const void *data, uint64_t size);
/** What is still in hand is written. */
int32_t lr_mpi_saving_flush(lr_mpi_saving *s);
/** Whether numbers become text, whose size shows when it is made. */
bool lr_mpi_saving_is_text(const lr_mpi_saving *s);

/** All ranks: what a codec makes of this rank's pieces, or how much text there will be, before it is known where they
 * go. */
rec_status lr_mpi_saving_pieces(lr_mpi_saving *s);
/** All ranks: what a format sums up is read by all of them, each its part, before it is written. */
rec_status lr_mpi_saving_sums(lr_mpi_saving *s);
/** All ranks: opens the temporary files, writes this rank's part and closes them. @param told on rank 0. */
rec_status lr_mpi_saving_fill(lr_mpi_saving *s, rec_filling *told);
/** All ranks: what was written is read back, and compared with what is made once more. */
rec_status lr_mpi_saving_compare(lr_mpi_saving *s);

/** All ranks, when the temporary file is there: what an earlier save left. @param told on rank 0. */
rec_status lr_mpi_saving_resume(lr_mpi_saving *s, rec_filling *told);
/** This rank's pieces that are not there. */
rec_status lr_mpi_saving_rest(lr_mpi_saving *s, const rec_output *output);
/** All ranks: fills the slots that are not filled yet; then it is known where they go. @param told on rank 0. */
rec_status lr_mpi_saving_slots(lr_mpi_saving *s, rec_filling *told);
/** Writes what is in this rank's slots. @return false: errno or `why` says why. */
bool lr_mpi_saving_copy_slots(lr_mpi_saving *s);

#endif
