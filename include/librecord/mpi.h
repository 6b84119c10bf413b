/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord with MPI: records that several processes load, share and save together. The library is librecord-mpi;
 * librecord itself does not use MPI. */

/**
 * @file librecord/mpi.h
 *
 * All functions are collective: every rank of the communicator calls them, in the same order, on the thread that may
 * call MPI. A failure on any rank is the result on every rank, with one message that names the rank and its host
 * (rec_mpi_error_message()); an existing file is then unchanged.
 */
#ifndef LIBRECORD_MPI_H
#define LIBRECORD_MPI_H

#include <librecord.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Options of a load or save with MPI. Zero the struct, set `size`, fill in. */
typedef struct rec_mpi_options {
    uint32_t size;          /**< sizeof(rec_mpi_options) */
    uint32_t reserved;      /**< 0 */
    MPI_Info hints;         /**< for MPI_File_open, or MPI_INFO_NULL. Ignored unless `has_hints` is 1 */
    int32_t has_hints;      /**< 1 or 0 */
    int32_t reserved_hints; /**< 0 */
    /** Called on rank 0 for each note of a completed save; losses of tensors are added up over all ranks. May be NULL.
     */
    void (*note)(void *user, const rec_note *note);
    void *user; /**< for `note` */
    /** Of a distributed load: tensors that every rank has, of up to so many bytes, are read by one rank and broadcast;
     * each rank reads larger ones itself. 0: 4 KiB. REC_UNKNOWN: no broadcast. */
    uint64_t broadcast;
    /** 1: the output is read back before it is renamed, and compared with the record, which is computed again; a
     * difference is an error, and the old file is unchanged. If rank 0 writes alone, this sets the recorder's option
     * `check`. */
    int32_t check;
    /** 1: if the save fails or is killed, its partial output stays next to the target as `.NAME.librecord-resume`. A
     * later save with this option resumes it, with any number of ranks, if the layout and the `identity` are the same:
     * chunks are compared with their checksums, and each rank computes one chunk again. A save without this option
     * removes it. Only a single file with plain tensor bytes can be resumed: others are REC_E_UNSUPPORTED. */
    int32_t resume;
    /** Identifies the inputs and the operation for `resume`; the same on all ranks. */
    uint64_t identity;
} rec_mpi_options;

/** The result of a save on rank 0; zeros on the others. Times are seconds of wall clock. */
typedef struct rec_mpi_report {
    uint32_t size;     /**< sizeof(rec_mpi_report); set it before the call */
    int32_t ranks;     /**< the number of writing ranks: 1 if rank 0 wrote alone */
    uint64_t bytes;    /**< of the file, or of all shards */
    double layout;     /**< the longest time of a rank to compute the layout */
    double write;      /**< the longest time of a rank to read, convert and write its part… */
    double write_mean; /**< …the average… */
    int32_t slowest;   /**< …and the slowest rank */
    int32_t reserved;  /**< 0 */
    double commit;     /**< syncing and renaming */
    char slowest_host[64];
    uint64_t kept; /**< bytes kept of an earlier save (rec_mpi_options.resume) */
    /** 1: resumed; 2: the leftover belonged to a different save and was discarded; else 0. */
    int32_t resumed;
    int32_t reserved_resumed; /**< 0 */
} rec_mpi_report;

/**
 * Combines the results of all ranks: successful if all are.
 * @param status of this rank. @param message the error of this rank; NULL: librecord's last error.
 * @return REC_OK, or the status of the lowest rank that failed, on every rank.
 */
REC_API rec_status rec_mpi_agree(MPI_Comm comm, rec_status status, const char *message);
/** @return the message of the last failed function of this header in this process, "rank 3 (node7): …", the same on all
 * ranks. */
REC_API const char *rec_mpi_error_message(void);
/**
 * Checks that all ranks see the same file: its size, modification time, first and last 64 KiB.
 * @param path the file; only regular files are read. @return REC_E_MISMATCH that names the rank that differs.
 */
REC_API rec_status rec_mpi_same_file(MPI_Comm comm, const char *path);
/**
 * Reads the headers of a model on rank 0 and sends sizes, times and headers to all ranks. Recorders of this recorder's
 * context then load that path without opening files; a rank opens only files with bytes of its own part, when it reads
 * them, and a changed file is REC_E_MISMATCH. For formats without a header (records, text, compressed files) each rank
 * reads the file as usual. Errors are reported by the load.
 * @param recorder of the same name on every rank; if one passes NULL, nothing is sent.
 * @param path to be loaded, the same on every rank.
 */
REC_API rec_status rec_mpi_show(MPI_Comm comm, rec_recorder *recorder, const char *path);
/**
 * Saves a record that every rank has loaded or built identically (without reading tensor data), like rec_save(), byte
 * for byte, to one file or several (max-shard-size), which are divided as if they were one. Each rank reads, converts
 * and writes one part. Before writing, the ranks compare librecord, plugins and the layout of the file. All ranks
 * write formats with plain tensor bytes (MessagePack, bincode, safetensors, Burnpack, GGUF, in the layouts of Burn
 * 0.14 and later); rank 0 alone writes other formats and compressed files, with a note.
 * @param path the same on every rank, in a shared directory. @param options may be NULL. @param report may be NULL.
 * @return as rec_save(), on every rank; REC_E_MISMATCH if the ranks would write different files.
 */
REC_API rec_status rec_mpi_save(MPI_Comm comm, rec_recorder *recorder, const rec_record *record, const char *path,
                                const rec_mpi_options *options, rec_mpi_report *report);

/**
 * Loads a file on every rank, like rec_load(); tensors are read on access. First the ranks check that all see the same
 * file; rank 0 reads the headers for all (rec_mpi_show(); earlier headers of the recorder's context are dropped).
 * @param recorder each rank's own, with the same options. @param path the same on every rank.
 * @return each rank's own record, to be freed with rec_record_free(); NULL on every rank with the status in `status`.
 * @param status (out) may be NULL.
 */
REC_API rec_record *rec_mpi_load(MPI_Comm comm, rec_recorder *recorder, const char *path, rec_status *status);
/**
 * Loads `in` and saves it as `out` with all ranks, like rec_convert() without a plan, byte for byte.
 * @param from,to each rank's own, with the same options, of one context. @param options, @param report as of
 * rec_mpi_save().
 */
REC_API rec_status rec_mpi_convert(MPI_Comm comm, rec_recorder *from, const char *in, rec_recorder *to, const char *out,
                                   const rec_mpi_options *options, rec_mpi_report *report);

/* --------------------------------------------------------------------------------------------- what a rank has -- */

/** The distribution of a tensor. */
enum {
    REC_MPI_EVERY = 0, /**< every rank has all of it */
    REC_MPI_ONE = 1,   /**< one rank has all of it */
    REC_MPI_SPLIT = 2  /**< it is split along one dimension, and each rank has one slice */
};
/** The place of a tensor. Before the program fills it in, `size` is set, `part` is -1 and the rest 0. */
typedef struct rec_mpi_place {
    uint32_t size;      /**< sizeof(rec_mpi_place) of the library */
    int32_t how;        /**< REC_MPI_… */
    int32_t owner;      /**< of REC_MPI_ONE: the rank */
    uint32_t dimension; /**< of REC_MPI_SPLIT: the dimension, 0 is the outermost */
    int32_t parts;      /**< of REC_MPI_SPLIT: the number of slices; 0: the number of ranks */
    int32_t part;       /**< of REC_MPI_SPLIT: this rank's slice; -1: its rank modulo `parts` */
} rec_mpi_place;
/**
 * Sets the place of a tensor; called on every rank for each tensor, in file order. The results must be the same on
 * every rank, except `part`. @param path of the tensor, valid during the call. @param tensor for its shape and type;
 * need not be read.
 * @return REC_OK; any other status is the result of the load.
 */
typedef rec_status (*rec_mpi_place_fn)(void *user, const char *path, const rec_tensor *tensor, rec_mpi_place *place);

/**
 * Computes slice `part` of `parts` of a length: the elements from ⌊length × part / parts⌋ up to ⌊length × (part + 1) /
 * parts⌋, exclusive. The slices differ by one element at most; one is empty only if there are more slices than
 * elements.
 * @param offset (out) its first element; may be NULL. @return the number of elements; 0 for an invalid `part`.
 */
REC_API uint64_t rec_mpi_part(uint64_t length, int32_t parts, int32_t part, uint64_t *offset);

/** The slice of a tensor on this rank. Strings and shapes returned by the library live as long as the table. */
typedef struct rec_mpi_slice {
    uint32_t size; /**< sizeof(rec_mpi_slice) */
    uint32_t rank; /**< dimensions of the tensor, at most 32 */
    const char *path;
    const uint64_t *shape; /**< of the whole tensor, `rank` dimensions, outermost first */
    uint32_t dimension;    /**< the split dimension; 0 if it is not split */
    /** 1: this rank has indices `offset` up to `offset` + `length`, exclusive, of that dimension, and all of the
     * others; 0: it has nothing of it, and its record has nil. */
    int32_t held;
    uint64_t offset;
    uint64_t length; /**< 1 for a tensor without dimensions */
} rec_mpi_slice;
/** A table of slices, in the order in which they were added. */
typedef struct rec_mpi_slices rec_mpi_slices;
/** @return an empty table, to be freed; NULL if out of memory. These five functions do not call MPI. */
REC_API rec_mpi_slices *rec_mpi_slices_new(void);
REC_API void rec_mpi_slices_free(rec_mpi_slices *slices); /**< NULL is ignored */
/** Adds a slice or replaces the one of the same path. @param slice copied with its path and shape. @return
 * REC_E_ARGUMENT for an invalid one, with the reason in rec_mpi_error_message(); REC_E_MEMORY. */
REC_API rec_status rec_mpi_slices_add(rec_mpi_slices *slices, const rec_mpi_slice *slice);
REC_API uint64_t rec_mpi_slices_count(const rec_mpi_slices *slices);
/** @return slice `index`, borrowed until the next is added, or NULL. */
REC_API const rec_mpi_slice *rec_mpi_slices_get(const rec_mpi_slices *slices, uint64_t index);
/** @return the slice of the tensor of that path, borrowed until the next is added, or NULL. */
REC_API const rec_mpi_slice *rec_mpi_slices_find(const rec_mpi_slices *slices, const char *path);

/**
 * Returns this rank's shard of a record that all ranks have loaded (rec_mpi_load(), rec_plan_load(), …): a record with
 * the same keys. A split tensor is this rank's slice, in memory, with the type of the load; a tensor of another rank
 * is nil (REC_FORM_NONE); small tensors that all have are broadcast by one rank; everything else is that of `record`,
 * not read yet. Each rank reads only its data: of a slice along an inner dimension its runs of elements, and gaps of
 * at most 4 KiB; it needs a buffer of 1 MiB in addition to the slices.
 * @param record stays the caller's, and may be freed before the shard. @param place NULL: every rank has everything.
 * @param options may be NULL. @param slices (out) the slice of each tensor on this rank, to be freed with
 * rec_mpi_slices_free(); may be NULL. @param status (out) may be NULL. REC_E_MISMATCH if the ranks pass different
 * arguments; REC_E_UNSUPPORTED to split a tensor whose elements have no fixed size (quantised, opaque).
 * @return to be freed with rec_record_free(); NULL on every rank.
 */
REC_API rec_record *rec_mpi_share(MPI_Comm comm, const rec_record *record, rec_mpi_place_fn place, void *user,
                                  const rec_mpi_options *options, rec_mpi_slices **slices, rec_status *status);
/** Calls rec_mpi_load() and rec_mpi_share(). */
REC_API rec_record *rec_mpi_load_share(MPI_Comm comm, rec_recorder *recorder, const char *path, rec_mpi_place_fn place,
                                       void *user, const rec_mpi_options *options, rec_mpi_slices **slices,
                                       rec_status *status);

/**
 * Saves a record that is distributed over the ranks: the file is byte for byte that of rec_save() with the whole
 * record in one process. Each rank writes a part of the file, and requests the tensor data it needs from the others in
 * chunks of up to 4 MiB (8 MiB more memory than rec_mpi_save()).
 *
 * A tensor without a slice is whole. If several ranks have the same slice, one of them is used, to balance the work;
 * the program must ensure that their bytes are equal. Quantised and opaque tensors must be whole on every rank. The id
 * of a tensor is that of the lowest rank that has any of it. A value replaces nil on other ranks. All other values,
 * and the metadata, must be the same on all ranks that have them.
 *
 * Loaded records have the same keys in the same order on all ranks. In records that were built (rec_record_new()), a
 * rank may omit keys: the whole has the keys of rank 0 in order, then additional keys of rank 1, and so on; a value
 * that replaces nil keeps its place.
 * @param slices the slices of `record`; NULL: all tensors are whole. Neither is changed.
 * @return as rec_mpi_save(), on every rank; REC_E_MISMATCH that names key, rank, host, what was expected and what was
 * found: different types or shapes, overlapping or missing slices, contradictory values, missing keys.
 */
REC_API rec_status rec_mpi_save_share(MPI_Comm comm, rec_recorder *recorder, const rec_record *record,
                                      const rec_mpi_slices *slices, const char *path, const rec_mpi_options *options,
                                      rec_mpi_report *report);

#ifdef __cplusplus
}
#endif
#endif
