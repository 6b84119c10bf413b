/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A save by ranks: what save.c and fill.c share. */
#ifndef LR_MPI_SAVING_H
#define LR_MPI_SAVING_H

#include "mpi/mpi_private.h"

/** A save of one file that can be resumed: what is known of its parts. */
typedef struct lr_mpi_resume {
    int fd;                /**< of the temporary file, or -1 */
    uint64_t total;        /**< bytes of the file */
    uint64_t piece, count; /**< bytes of each part but the last, and the number of parts */
    bool left;             /**< an earlier save left something */
    bool other;            /**< it was of another file and is discarded; on rank 0 */
    uint32_t crc, adler;   /**< of the part that is being written */
} lr_mpi_resume;

/** Bytes that are written at once. */
enum { LR_MPI_WRITTEN = 4 << 20 };

/** A save that all ranks make together. */
typedef struct lr_mpi_saving {
    const lr_mpi_group *group;
    int rank, ranks;
    rec_recorder *recorder;
    const rec_record *record;
    const char *path;
    rec_mpi_options options;
    rec_window window;
    lr_mpi_told losses, notes; /**< notes: on rank 0, all that are no losses */
    lr_mpi_files files;
    char letters[16];  /**< in their names */
    bool alone;        /**< rank 0 writes all of it */
    bool filled;       /**< rank 0 has sent the list of files */
    rec_status status; /**< what all know of */
    double layout, write, commit;
    lr_mpi_resume resume; /**< of one that can be resumed */
    uint64_t kept;        /**< bytes that were there */
    bool noted;           /**< `notes` has what each walk reports */
    /* Writing. */
    uint8_t *piece;
    uint64_t used, at; /**< bytes in it, and where in the files it begins */
    bool compares;     /**< it is not written: it is to be there */
    bool patched;      /**< something was written over */
    char why[LR_MPI_MESSAGE];
} lr_mpi_saving;

/** Rank 0, when all have written: the file ends where it has to. @return false: errno says why. */
bool lr_mpi_resume_cut(const lr_mpi_resume *r);
void lr_mpi_resume_end(lr_mpi_resume *r);

/** All ranks: opens the temporary files, writes this rank's window and closes them. @param told on rank 0. */
rec_status lr_mpi_saving_fill(lr_mpi_saving *s, rec_filling *told);
/** All ranks: reads the written files back and compares them with a second walk of the record. */
rec_status lr_mpi_saving_compare(lr_mpi_saving *s);

#endif
