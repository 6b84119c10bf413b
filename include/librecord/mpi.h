/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord over MPI: records that many processes save together. The library is librecord-mpi; librecord itself knows no MPI. */

/**
 * @file librecord/mpi.h
 *
 * All functions are collective: every rank of the communicator calls them, in the same order, on the thread that may call MPI.
 * Whatever goes wrong on any rank is the result on every rank, with one message that names the rank and its host
 * (rec_mpi_error_message()); the file that was there before is then as it was.
 */
#ifndef LIBRECORD_MPI_H
#define LIBRECORD_MPI_H

#include <librecord.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a save over MPI may be told. Zero the struct, set `size`, fill in. */
typedef struct rec_mpi_options {
    uint32_t size;     /**< sizeof(rec_mpi_options) */
    uint32_t reserved; /**< 0 */
    MPI_Info hints;    /**< for MPI_File_open, MPI_INFO_NULL: none. Ignored unless `has_hints` is 1 */
    int32_t has_hints; /**< 1 or 0 */
    int32_t reserved_hints; /**< 0 */
    /** Called on rank 0 for each note of a save that was done; what tensors lost in their conversion is counted over all ranks.
     *  NULL: nobody is told. */
    void (*note)(void *user, const rec_note *note);
    void *user;        /**< for `note` */
} rec_mpi_options;

/** What a save came to: on rank 0; zeros on the others. Times are seconds of wall clock. */
typedef struct rec_mpi_report {
    uint32_t size;       /**< sizeof(rec_mpi_report), to be set before the call */
    int32_t ranks;
    uint64_t bytes;      /**< of the file */
    double layout;       /**< the longest that a rank took to find the layout */
    double write;        /**< the longest that a rank took to read, convert and write its part… */
    double write_mean;   /**< …and what they took on average… */
    int32_t slowest;     /**< …and the rank that took longest */
    int32_t reserved; /**< 0 */
    double commit;       /**< syncing, and giving the file its name */
    char slowest_host[64];
} rec_mpi_report;

/**
 * Takes the outcome of what every rank did by itself: good if it is good on all of them.
 * @param status of this rank. @param message what went wrong on it; NULL: the last error of librecord.
 * @return REC_OK, or the status of the lowest rank that failed, on every rank.
 */
REC_API rec_status rec_mpi_agree(MPI_Comm comm, rec_status status, const char *message);
/** @return what the last function of this header that failed in this process says: "rank 3 (node7): …", the same on all ranks. */
REC_API const char *rec_mpi_error_message(void);
/**
 * Sees whether all ranks see the same file: its size, the time of its last change, its first and last 64 KiB.
 * @param path the file; what is no regular file is not looked into. @return REC_E_MISMATCH that says who sees another one.
 */
REC_API rec_status rec_mpi_same_file(MPI_Comm comm, const char *path);
/**
 * Rank 0 looks at the files of a model, and tells all what it saw: their sizes, times and headers. What the recorders of this one's
 * context load from that path is then loaded without opening a file; a rank opens those alone that have bytes of its own part in
 * them, when it reads these, and it is REC_E_MISMATCH if they are others there. Of formats without a header (records, text, what is
 * compressed) each rank reads the file by itself as ever, and whoever loads what cannot be loaded is told.
 * @param recorder of the same name on every rank; if one has none (NULL), nothing is shown.
 * @param path as it is to be loaded, the same on every rank.
 */
REC_API rec_status rec_mpi_show(MPI_Comm comm, rec_recorder *recorder, const char *path);
/**
 * Saves a record that every rank has loaded or built alike (tensors' data need not be read yet), as rec_save() does, byte for
 * byte. Each rank reads, converts and writes one part of the file, split by bytes; of what a codec compresses in pieces (gzip), pieces,
 * which are in a temporary file beside the target until all are made. Formats that make text or checksums of the data make all of
 * it on every rank. Before anything is written the ranks compare librecord, plugins and the
 * layout of the file.
 * @param path the same on every rank, in a folder that all of them see. @param options NULL: none. @param report NULL: none.
 * @return as rec_save(), on every rank; REC_E_MISMATCH if the ranks would write different files; REC_E_UNSUPPORTED of models in
 *         several files (max-shard-size).
 */
REC_API rec_status rec_mpi_save(MPI_Comm comm, rec_recorder *recorder, const rec_record *record, const char *path,
                                const rec_mpi_options *options, rec_mpi_report *report);

#ifdef __cplusplus
}
#endif
#endif
