/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord: one model read and written by several processes. librecord-mpi is made of these functions; a program needs
 * them only if it starts and joins processes in another way. For C99, C11 and C++. */

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
 * Reads the headers of a model as a load does, for other processes: paths, sizes, times of change and headers of its
 * files. Files without a header that can be read by itself (text, compressed files) are left out, and so is what cannot
 * be loaded: the load then reports the error.
 * @param path as of rec_load(). @param files (out) bytes for rec_files_show(), to be freed with rec_free().
 * @return REC_OK, REC_E_MEMORY, REC_E_CANCELLED.
 */
REC_API rec_status rec_files_look(rec_recorder *recorder, const char *path, void **files, uint64_t *size);
/**
 * Installs the result of another process's rec_files_look() in the recorder's context. Loads from the same paths (the
 * same texts) then open a file only for bytes that are in no header; a file that has another size or time of change by
 * then is REC_E_MISMATCH. Must not be called while operations of the context run. Later results come first; records
 * that were loaded before do not change.
 * @param files of rec_files_look() of the same version of librecord; copied. NULL with `size` 0: removes all of them.
 * @return REC_E_ARGUMENT if these are other bytes.
 */
REC_API rec_status rec_files_show(rec_recorder *recorder, const void *files, uint64_t size);
/** Loads what rec_convert() would save, without a plan of the caller's, for programs that save it themselves.
 *  @param out a file name that `to` would save to: its extension chooses the format if `to` is Auto.
 *  @return to be freed with rec_record_free(); NULL with the error. */
REC_API rec_record *rec_load_for(rec_recorder *from, const char *in, const rec_recorder *to, const char *out);

/* ------------------------------------------------------------------------------------------------------- saving -- */

/** How many values the conversion of one tensor changed. */
typedef struct rec_loss {
    uint32_t size;    /**< sizeof(rec_loss) of the library */
    int32_t kind;     /**< REC_NOTE_OVERFLOW or REC_NOTE_CLAMPED */
    rec_dtype dtype;  /**< the element type that it was converted to */
    int32_t whole;    /**< 1: counted in all of the tensor; 0: in what of it lies in the window */
    uint64_t count;   /**< values */
    const char *path; /**< of the tensor; lives as long as the call */
} rec_loss;
/** Describes a loss as a report does: "1,234 values were too large for f16 and became infinite". @param text `room`
 * bytes, NUL-terminated. @return REC_E_ARGUMENT if it is no loss. */
REC_API rec_status rec_loss_text(const rec_loss *loss, char *text, uint64_t room);

/** A file that a save writes. Most saves write one; a model in several files has its parts first and its index last. */
typedef struct rec_file {
    const char *name;      /**< without its folder; of a part with a stem: as it would be without letters */
    const char *stem;      /**< of a part that never replaces another file: its name is STEM-TAIL, or STEM-LETTERS-TAIL
                                where the parts of an older model exist; else NULL */
    const char *tail;      /**< see `stem` */
    const char *temporary; /**< for rec_fill_fn: the path of the file to write; else NULL */
    uint64_t size;         /**< bytes */
    uint64_t reserved;     /**< 0 */
} rec_file;

/** The part of a save that one process writes. Zero the struct, set `size`, fill in. If a save writes several files,
 * their bytes count as if they followed one another. */
typedef struct rec_window {
    uint32_t size;     /**< sizeof(rec_window) */
    uint32_t reserved; /**< 0 */
    uint64_t from, to; /**< bytes `from` to before `to`; there are none beyond the end */
    uint64_t total;    /**< (out) bytes of the file, or of all files */
    uint64_t sum; /**< (out) of all but tensors' data: saves with the same `total` and `sum` have the same layout */
    /** Called with what tensors lost, which is then not in the report. If only what is in the window was converted, the
     * counts of all windows add up; a `whole` tensor is reported by each window that has bytes of it. NULL: the report
     * has them. */
    void (*lost)(void *user, const rec_loss *loss);
    void *user;          /**< for `lost` and `file` */
    const char *letters; /**< in the names of parts that have a stem (rec_filling); NULL: none */
    /** Called with each file when the save is done, in the order of their bytes. NULL: it is not called. */
    void (*file)(void *user, const rec_file *file);
} rec_window;
/**
 * Saves as rec_save() does, and gives only the bytes of a window: all windows, one after the other, are the file.
 * Tensors outside the window are neither read nor converted. Nothing is read back (option `check`). The format must
 * store tensors as plain bytes (REC_TRAIT_PLAIN of plugin.h, and Burn 0.14 or later): other formats and compressed
 * files are REC_E_UNSUPPORTED, and so are formats that do not write several files one after the other, the index last.
 * @param path what the file will be called: its extension may choose the format, its name may be in the file.
 * @param window what is wanted; `total` and `sum` are filled in.
 * @param output gets the window's bytes, copied; `patch` counts from the window's first byte. With `patch` the bytes
 * are those of a file, else those of a stream. NULL: only `total` and `sum` are wanted.
 */
REC_API rec_status rec_save_window(rec_recorder *recorder, const rec_record *record, const char *path,
                                   rec_window *window, const rec_output *output, void *user);

/** The files to write and, on return of rec_fill_fn, the outcome. Zero the struct, set `size`, fill in. */
typedef struct rec_filling {
    uint32_t size;         /**< sizeof(rec_filling) */
    uint32_t reserved;     /**< 0 */
    const rec_file *files; /**< as rec_window.file gave them. The last one is that of the path; its name may be NULL */
    uint64_t count;        /**< at least one */
    const char *letters;   /**< for rec_fill_fn: in the names of the parts that have a stem; "": none */
    uint64_t last_size;    /**< set by rec_fill_fn: bytes of the last file, if they differ: an index with letters is
                                longer */
    /** 1: for one file. The temporary file may be what an interrupted save of the same path left, with its bytes and
     * perhaps more behind `size`, which rec_fill_fn cuts off at the end. It has one name for each path, so that only
     * one save can run. A save without this removes what is left. */
    int32_t resume;
    int32_t keep; /**< for rec_fill_fn, and set by it, with `resume`: 1 keeps the temporary file for the next save if
                       this one fails. Before the call: 1 if something was left, else 0 */
} rec_filling;
/** Writes all bytes of the `temporary` of each file; these files exist. @return 0 or an errno, as rec_output's
 * functions do. */
typedef int32_t (*rec_fill_fn)(void *user, rec_filling *filling);
/**
 * Saves files whose bytes the program writes itself, whole or not at all, as rec_save() does. An older model in several
 * files is replaced as a whole.
 * @param path as of rec_save(); a regular file, or none yet.
 * @param filling the files. Space is reserved for all but an index.
 * @param fill called once. After it the files are synced and renamed; after a failure they are removed.
 */
REC_API rec_status rec_save_filled(rec_recorder *recorder, const char *path, const rec_filling *filling,
                                   rec_fill_fn fill, void *user);

#ifdef __cplusplus
}
#endif
#endif
