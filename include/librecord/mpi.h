/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord over MPI: records that many processes load, share and save together. The library is librecord-mpi;
 * librecord itself knows no MPI. */

/**
 * @file librecord/mpi.h
 *
 * All functions are collective: every rank of the communicator calls them, in the same order, on the thread that may
 * call MPI. Whatever goes wrong on any rank is the result on every rank, with one message that names the rank and its
 * host (rec_mpi_error_message()); the file that was there before is then as it was.
 */
#ifndef LIBRECORD_MPI_H
#define LIBRECORD_MPI_H

#include <librecord.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a load or a save over MPI may be told. Zero the struct, set `size`, fill in. */
typedef struct rec_mpi_options {
    uint32_t size;          /**< sizeof(rec_mpi_options) */
    uint32_t reserved;      /**< 0 */
    MPI_Info hints;         /**< for MPI_File_open, MPI_INFO_NULL: none. Ignored unless `has_hints` is 1 */
    int32_t has_hints;      /**< 1 or 0 */
    int32_t reserved_hints; /**< 0 */
    /** Called on rank 0 for each note of a save that was done; what tensors lost in their conversion is counted over
     * all ranks. NULL: nobody is told. */
    void (*note)(void *user, const rec_note *note);
    void *user; /**< for `note` */
    /** Of a load by rank: tensors that every rank has, of up to so many bytes, are read by one rank and sent to the
     * others; larger ones each rank reads by itself. 0: 4 KiB. REC_UNKNOWN: none are sent. */
    uint64_t broadcast;
    /** 1: what was written is read back before the file gets its name, and compared with what is made of the record
     * once more; what differs is an error, and the old file is as it was. Where rank 0 writes alone this sets the
     * recorder's option `check`. */
    int32_t check;
    /** 1: if the save fails, or the ranks are killed, what they wrote stays beside the target, as
     * `.NAME.librecord-resume`, and a save with this resumes it, with any number of ranks, if the layout and the
     * `identity` are the same: what is there is compared with its checksums, and one part of each rank with what the
     * rank makes itself. A save without this removes what is left. Only one file whose tensors are plain bytes can be
     * resumed: others are REC_E_UNSUPPORTED. */
    int32_t resume;
    /** Of what is saved, the same on all ranks: whatever tells one input, and what is done to it, from another. */
    uint64_t identity;
} rec_mpi_options;

/** What a save came to: on rank 0; zeros on the others. Times are seconds of wall clock. */
typedef struct rec_mpi_report {
    uint32_t size;     /**< sizeof(rec_mpi_report), to be set before the call */
    int32_t ranks;     /**< that wrote: 1 where rank 0 wrote alone */
    uint64_t bytes;    /**< of the file, or of all */
    double layout;     /**< the longest that a rank took to find the layout */
    double write;      /**< the longest that a rank took to read, convert and write its part… */
    double write_mean; /**< …and what they took on average… */
    int32_t slowest;   /**< …and the rank that took longest */
    int32_t reserved;  /**< 0 */
    double commit;     /**< syncing, and giving the file its name */
    char slowest_host[64];
    uint64_t kept; /**< bytes that were there of an earlier save (rec_mpi_options.resume) */
    /** 1: such a save was gone on with; 2: what was left was another's, and all was made anew; else 0. */
    int32_t resumed;
    int32_t reserved_resumed; /**< 0 */
} rec_mpi_report;

/**
 * Takes the outcome of what every rank did by itself: good if it is good on all of them.
 * @param status of this rank. @param message what went wrong on it; NULL: the last error of librecord.
 * @return REC_OK, or the status of the lowest rank that failed, on every rank.
 */
REC_API rec_status rec_mpi_agree(MPI_Comm comm, rec_status status, const char *message);
/** @return what the last function of this header that failed in this process says: "rank 3 (node7): …", the same on all
 * ranks. */
REC_API const char *rec_mpi_error_message(void);
/**
 * Sees whether all ranks see the same file: its size, the time of its last change, its first and last 64 KiB.
 * @param path the file; what is no regular file is not looked into. @return REC_E_MISMATCH that says who sees another
 * one.
 */
REC_API rec_status rec_mpi_same_file(MPI_Comm comm, const char *path);
/**
 * Rank 0 looks at the files of a model, and tells all what it saw: their sizes, times and headers. What the recorders
 * of this one's context load from that path is then loaded without opening a file; a rank opens those alone that have
 * bytes of its own part in them, when it reads these, and it is REC_E_MISMATCH if they are others there. Of formats
 * without a header (records, text, what is compressed) each rank reads the file by itself as ever, and whoever loads
 * what cannot be loaded is told.
 * @param recorder of the same name on every rank; if one has none (NULL), nothing is shown.
 * @param path as it is to be loaded, the same on every rank.
 */
REC_API rec_status rec_mpi_show(MPI_Comm comm, rec_recorder *recorder, const char *path);
/**
 * Saves a record that every rank has loaded or built alike (tensors' data need not be read yet), as rec_save() does,
 * byte for byte, into one file or several (max-shard-size), whose bytes are split as if they were one. Each rank reads,
 * converts and writes one part. Before anything is written the ranks compare librecord, plugins and the layout of the
 * file. Only formats that store tensors as plain bytes (MessagePack, bincode, safetensors, Burnpack, GGUF, at the
 * layouts of Burn 0.14 and later) are written by all ranks; others and compressed files are written by rank 0 alone,
 * which is reported as a note.
 * @param path the same on every rank, in a folder that all of them see. @param options NULL: none. @param report NULL:
 * none.
 * @return as rec_save(), on every rank; REC_E_MISMATCH if the ranks would write different files.
 */
REC_API rec_status rec_mpi_save(MPI_Comm comm, rec_recorder *recorder, const rec_record *record, const char *path,
                                const rec_mpi_options *options, rec_mpi_report *report);

/**
 * Loads a file on every rank, as rec_load() does there: its structure and the places of its tensors, which are read
 * when they are asked for. That all see the same file is looked at first; the headers rank 0 reads for all
 * (rec_mpi_show(); what was shown to the recorder's context counts no more afterwards).
 * @param recorder each rank's own, with the same options. @param path the same on every rank.
 * @return each rank's own record, to be freed with rec_record_free(); NULL on every rank with the status in `status`.
 * @param status (out) NULL: not wanted.
 */
REC_API rec_record *rec_mpi_load(MPI_Comm comm, rec_recorder *recorder, const char *path, rec_status *status);
/**
 * Loads `in` and saves it as `out`, as rec_convert() does without a plan, byte for byte, by all ranks.
 * @param from,to each rank's own, alike, of one context. @param options, @param report as of rec_mpi_save().
 */
REC_API rec_status rec_mpi_convert(MPI_Comm comm, rec_recorder *from, const char *in, rec_recorder *to, const char *out,
                                   const rec_mpi_options *options, rec_mpi_report *report);

/* --------------------------------------------------------------------------------------------- what a rank has -- */

/** Who has a tensor. */
enum {
    REC_MPI_EVERY = 0, /**< all of it is on every rank */
    REC_MPI_ONE = 1,   /**< all of it is on one rank */
    REC_MPI_SPLIT = 2  /**< it is cut along one dimension, and each rank has one part */
};
/** Where a tensor goes. `size` is set and the rest zeroed before the program fills it in, but that `part` is -1. */
typedef struct rec_mpi_place {
    uint32_t size;      /**< sizeof(rec_mpi_place) of the library */
    int32_t how;        /**< REC_MPI_… */
    int32_t owner;      /**< of REC_MPI_ONE: the rank */
    uint32_t dimension; /**< of REC_MPI_SPLIT: along which, 0 is the outermost */
    int32_t parts;      /**< of REC_MPI_SPLIT: how many; 0: as many as ranks */
    int32_t part;       /**< of REC_MPI_SPLIT: which is this rank's; -1: its rank modulo `parts` */
} rec_mpi_place;
/**
 * Says where a tensor goes; called on every rank for each tensor, in file order. What it says is the same on every
 * rank, but for `part`. @param path of the tensor, as long as the call. @param tensor for its shape and type; it need
 * not be read.
 * @return REC_OK; else that is what the load comes to.
 */
typedef rec_status (*rec_mpi_place_fn)(void *user, const char *path, const rec_tensor *tensor, rec_mpi_place *place);

/**
 * What is part `part` of `parts` of a length: the elements from ⌊length × part / parts⌋ to before ⌊length × (part + 1)
 * / parts⌋. The parts are as even as can be: they differ by one at most, and each of them is empty only if there are
 * more parts than elements.
 * @param offset (out) its first element; NULL: not wanted. @return how many elements; 0 if `part` is none of them.
 */
REC_API uint64_t rec_mpi_part(uint64_t length, int32_t parts, int32_t part, uint64_t *offset);

/** What a rank has of a tensor. Strings and shapes that the library gives live as long as the table. */
typedef struct rec_mpi_slice {
    uint32_t size; /**< sizeof(rec_mpi_slice) */
    uint32_t rank; /**< dimensions of the tensor, at most 32 */
    const char *path;
    const uint64_t *shape; /**< of the whole tensor, `rank` dimensions, outermost first */
    uint32_t dimension;    /**< along which it is cut; 0 for what is not cut */
    /** 1: this rank has indices `offset` to before `offset` + `length` of that dimension, and all of the others; 0: it
     * has nothing of it, and its record a nil value in its place. */
    int32_t held;
    uint64_t offset;
    uint64_t length; /**< of what has no dimensions: 1 */
} rec_mpi_slice;
/** A table of slices, in the order in which they were added. */
typedef struct rec_mpi_slices rec_mpi_slices;
/** @return an empty table, to be freed; NULL out of memory. None of these five calls MPI. */
REC_API rec_mpi_slices *rec_mpi_slices_new(void);
REC_API void rec_mpi_slices_free(rec_mpi_slices *slices); /**< NULL is ignored */
/** @param slice copied with its path and shape; in place of one of that path. @return REC_E_ARGUMENT of one that cannot
 * be, with the reason in rec_mpi_error_message(); REC_E_MEMORY. */
REC_API rec_status rec_mpi_slices_add(rec_mpi_slices *slices, const rec_mpi_slice *slice);
REC_API uint64_t rec_mpi_slices_count(const rec_mpi_slices *slices);
/** @return slice `index`, borrowed until the next is added; NULL if there is none. */
REC_API const rec_mpi_slice *rec_mpi_slices_get(const rec_mpi_slices *slices, uint64_t index);
/** @return the slice of the tensor of that path, as above. */
REC_API const rec_mpi_slice *rec_mpi_slices_find(const rec_mpi_slices *slices, const char *path);

/**
 * Makes of a record that every rank has loaded (rec_mpi_load(), rec_plan_load(), …) each rank's share of it: a record
 * with the same keys. Of a tensor that is split it has this rank's part, in memory, at the type that it was loaded
 * with; of one that is another rank's a nil value (REC_FORM_NONE); small ones that all have come from one rank, by
 * MPI_Bcast; all else is that of `record`, not read yet. Only what the rank has is read: of a part along an inner
 * dimension its runs of elements, and what lies between them where that is at most 4 KiB; a buffer of 1 MiB is all that
 * it takes beside the parts.
 * @param record stays the caller's, and may be freed before the share. @param place NULL: every rank has everything.
 * @param options NULL: none. @param slices (out) what the rank has of each tensor, to be freed with
 * rec_mpi_slices_free(); NULL: not wanted. @param status (out) NULL: not wanted. REC_E_MISMATCH if the ranks are not of
 * one mind; REC_E_UNSUPPORTED of a tensor whose elements have no size of their own (quantised, opaque) that is to be
 * split.
 * @return to be freed with rec_record_free(); NULL on every rank.
 */
REC_API rec_record *rec_mpi_share(MPI_Comm comm, const rec_record *record, rec_mpi_place_fn place, void *user,
                                  const rec_mpi_options *options, rec_mpi_slices **slices, rec_status *status);
/** rec_mpi_load(), and each rank's share of that. */
REC_API rec_record *rec_mpi_load_share(MPI_Comm comm, rec_recorder *recorder, const char *path, rec_mpi_place_fn place,
                                       void *user, const rec_mpi_options *options, rec_mpi_slices **slices,
                                       rec_status *status);

/**
 * Saves the record that the ranks have together: the file is byte for byte what rec_save() makes of the whole in one
 * process. Each rank writes a part of the file, and asks the others for what of the tensors it needs, in pieces of up
 * to 4 MiB (so 8 MiB beside what rec_mpi_save() takes).
 *
 * A tensor that no slice is told of is whole. Several ranks may have the same part of it: one of them is taken, so as
 * to share the work, and that they have the same bytes is up to the program. Quantised and opaque tensors are whole on
 * every rank. A tensor's id is that of the lowest rank that has any of it. Where one rank has a nil value and another
 * something, the value is that. All other values, and the metadata, are the same on all ranks that have them.
 *
 * Records that were loaded have the same keys in the same order on all ranks. Of records that were built
 * (rec_record_new()), a rank need not have what it has nothing of: the whole has the keys of rank 0 in their order,
 * then what rank 1 has beside them, and so on; what takes the place of a nil value stands there.
 * @param slices what `record` has of its tensors; NULL: all are whole. Not changed, as `record` is not.
 * @return as rec_mpi_save(), on every rank; REC_E_MISMATCH that names key, rank, host, what was expected and what was
 * found: types or shapes that differ, parts that overlap or leave a hole, values that contradict each other, keys that
 * a rank lacks.
 */
REC_API rec_status rec_mpi_save_share(MPI_Comm comm, rec_recorder *recorder, const rec_record *record,
                                      const rec_mpi_slices *slices, const char *path, const rec_mpi_options *options,
                                      rec_mpi_report *report);

#ifdef __cplusplus
}
#endif
#endif
