/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord: one model read and written by several processes. librecord-mpi is built on these functions; a program
 * needs them only if it starts and connects processes in another way. For C99, C11 and C++. */

/**
 * @file librecord/parallel.h
 *
 * Headers are read by one process: it calls rec_files_look(), and all others pass the result to rec_files_show() and
 * load the model without opening its files. One file is written by all: each runs the same save of the same record with
 * a window of the file (rec_save_window()), and writes the bytes of its window into a temporary file, which one
 * process makes and renames (rec_save_filled()). None of these functions sends or receives anything.
 */
#ifndef LIBRECORD_PARALLEL_H
#define LIBRECORD_PARALLEL_H

#include <librecord.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------ loading -- */

/**
 * Reads the headers of a model like a load, for other processes: paths, sizes, modification times and headers of its
 * files. Files without a separate header (text, compressed files) are left out, and so are files that cannot be
 * loaded: the load then reports the error.
 * @param path as of rec_load(). @param files (out) bytes for rec_files_show(), to be freed with rec_free().
 * @return REC_OK, REC_E_MEMORY, REC_E_CANCELLED.
 */
REC_API rec_status rec_files_look(rec_recorder *recorder, const char *path, void **files, uint64_t *size);
/**
 * Installs the result of another process's rec_files_look() in the recorder's context. Loads of the same paths
 * (verbatim) then open a file only for bytes outside of the headers; a file whose size or modification time has
 * changed is REC_E_MISMATCH. Must not be called while operations of the context run. Later results take precedence;
 * records loaded before do not change.
 * @param files of rec_files_look() of the same version of librecord; copied. NULL with `size` 0: removes all of them.
 * @return REC_E_ARGUMENT for other bytes.
 */
REC_API rec_status rec_files_show(rec_recorder *recorder, const void *files, uint64_t size);
/** Loads the record that rec_convert() would save, without a plan, for programs that save it themselves.
 * @param out an output file name of `to`: its extension selects the format if `to` is Auto.
 * @return to be freed with rec_record_free(); NULL with the error. */
REC_API rec_record *rec_load_for(rec_recorder *from, const char *in, const rec_recorder *to, const char *out);

/* ------------------------------------------------------------------------------------------------------- saving -- */

/** The number of values changed by the conversion of one tensor. */
typedef struct rec_conversion_loss {
    uint32_t size;    /**< sizeof(rec_conversion_loss) of the library */
    int32_t kind;     /**< REC_NOTE_OVERFLOW or REC_NOTE_CLAMPED */
    rec_dtype dtype;  /**< the new element type */
    int32_t whole;    /**< 1: counted in the whole tensor; 0: in its part within the window */
    uint64_t count;   /**< values */
    const char *path; /**< of the tensor; lives as long as the call */
} rec_conversion_loss;
/** Describes a loss like a report: "1,234 values were too large for f16 and became infinite". @param text `room` bytes,
 * NUL-terminated. @return REC_E_ARGUMENT for an invalid loss. */
REC_API rec_status rec_conversion_loss_text(const rec_conversion_loss *loss, char *text, uint64_t room);

/** An output file. Most saves write one; a sharded model has its shards first and its index last. */
typedef struct rec_file {
    const char *name; /**< without its directory; of a shard with a stem: the name without letters */
    const char *stem; /**< of a shard that never replaces another file: its name is STEM-TAIL, or STEM-LETTERS-TAIL if
                         shards of an older model exist; else NULL */
    const char *tail; /**< see `stem` */
    const char *temporary; /**< for rec_fill_fn: the path of the file to write; else NULL */
    uint64_t size;         /**< bytes */
    uint64_t reserved;     /**< 0 */
} rec_file;

/** The part of a save that one process writes. Zero the struct, set `size`, fill in. If a save writes several files,
 * their bytes count as if they followed one another. */
typedef struct rec_window {
    uint32_t size;     /**< sizeof(rec_window) */
    uint32_t reserved; /**< 0 */
    uint64_t from, to; /**< bytes `from` up to `to`, exclusive; the end of the file limits them */
    uint64_t total;    /**< (out) bytes of the file, or of all files */
    uint64_t sum; /**< (out) hash of everything but tensor data: saves with the same `total` and `sum` have the same
                     layout */
    /** Called with the losses of tensors, which are then not in the report. If only data in the window were converted,
     * the counts of all windows add up; a `whole` tensor is reported by each window that has bytes of it. NULL: the
     * report has them. */
    void (*lost)(void *user, const rec_conversion_loss *loss);
    void *user;          /**< for `lost` and `file` */
    const char *letters; /**< in the names of shards with a stem (rec_filling), or NULL */
    /** Called with each file when the save is done, in the order of their bytes. May be NULL. */
    void (*file)(void *user, const rec_file *file);
} rec_window;
/**
 * Saves like rec_save(), but outputs only the bytes of a window: all windows together, in order, are the file. Tensors
 * outside the window are neither read nor converted. Nothing is read back (option `check`). The format must store
 * tensors as plain bytes (REC_TRAIT_PLAIN of plugin.h, and Burn 0.14 or later): other formats and compressed files are
 * REC_E_UNSUPPORTED, and so are formats that do not write several files in sequence with the index last.
 * @param path the name of the file: its extension may select the format, and the file may contain it.
 * @param window the requested window; `total` and `sum` are filled in.
 * @param output receives the window's bytes, copied; `patch` counts from the window's first byte. With `patch` the
 * bytes are those of a file, else those of a stream. NULL: only computes `total` and `sum`.
 */
REC_API rec_status rec_save_window(rec_recorder *recorder, const rec_record *record, const char *path,
                                   rec_window *window, const rec_output *output, void *user);

/** The files to write and, on return of rec_fill_fn, the outcome. Zero the struct, set `size`, fill in. */
typedef struct rec_filling {
    uint32_t size;         /**< sizeof(rec_filling) */
    uint32_t reserved;     /**< 0 */
    const rec_file *files; /**< as passed by rec_window.file. The last one is that of the path; its name may be NULL */
    uint64_t count;        /**< at least one */
    const char *letters;   /**< for rec_fill_fn: the letters in the names of shards with a stem, or "" */
    uint64_t
        last_size; /**< set by rec_fill_fn: bytes of the last file, if they differ: an index with letters is longer */
    /** 1: for one file. The temporary file may be the partial output of an interrupted save of the same path, perhaps
     * with more bytes than `size`, which rec_fill_fn truncates at the end. It has one name for each path, so that only
     * one save can run. A save without this removes the partial output. */
    int32_t resume;
    int32_t keep; /**< for rec_fill_fn, and set by it, with `resume`: 1 keeps the temporary file for the next save if
                     this one fails. Before the call: 1 if a partial output exists, else 0 */
} rec_filling;
/** Writes all bytes of the `temporary` of each file; these files exist. @return 0 or an errno, as rec_output's
 * functions do. */
typedef int32_t (*rec_fill_fn)(void *user, rec_filling *filling);
/**
 * Saves files whose bytes the program writes itself, atomically, like rec_save(). An older sharded model is replaced
 * as a whole.
 * @param path as of rec_save(); a regular file, or a new one.
 * @param filling the files. Space is reserved for all files except an index.
 * @param fill called once. Then the files are synced and renamed; after a failure they are removed.
 */
REC_API rec_status rec_save_filled(rec_recorder *recorder, const char *path, const rec_filling *filling,
                                   rec_fill_fn fill, void *user);

/* ----------------------------------------------------------------------------------------------------- writers -- */

struct rec_sink;
/** @return 0 if the next `size` bytes are only counted, so that the data of a blob need not be computed: in a sink of
 * rec_sink_layout(), and outside of the window of a parallel save (rec_window). Else 1. */
REC_API int32_t rec_sink_wants(const struct rec_sink *sink, uint64_t size);

#ifdef __cplusplus
}
#endif
#endif
