/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord: custom input and output, and mapped files that may shrink. Included by librecord.h. */

/**
 * @file librecord/io.h
 *
 * Loads from and saves to functions of the program (docs/guide/io.md), and protects maps of files.
 */
#ifndef LIBRECORD_IO_H
#define LIBRECORD_IO_H

#include <librecord.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------ streams -- */

/** Custom input. Zero the struct, set `size`, fill in. The functions return 0 or an errno, which becomes
 * rec_error_errno(): ENOENT and ENOTDIR are REC_E_NOT_FOUND, ENOMEM is REC_E_MEMORY, ECANCELED is REC_E_CANCELLED,
 * others are REC_E_IO. A negative number is REC_E_IO without an errno. Calls do not overlap. The functions may call
 * librecord, but must not access the data that they supply. */
struct rec_input {
    uint32_t size;     /**< sizeof(rec_input) */
    uint32_t reserved; /**< 0 */
    const char *name;  /**< the name in messages, copied; NULL: "(input)" */
    uint64_t total;    /**< exact size in bytes; any other size is an error. REC_UNKNOWN, or 0 with `read` and no
                          `read_at`: until `read` returns the end */
    /** Reads the next bytes. @param got (out) how many, at most `room`; 0 at the end only. */
    int32_t (*read)(void *user, void *target, uint64_t room, uint64_t *got);
    /** Reads all of `size` bytes at `offset`, which lie within `total`. May be NULL. */
    int32_t (*read_at)(void *user, uint64_t offset, void *target, uint64_t size);
    void (*release)(void *user); /**< releases `user`: called exactly once, on any thread; may be NULL */
};
/** Loads from functions of the program. With `read_at` and `total` only needed ranges are read; tensors of formats that
 * store them as bytes are read on access, so the functions may be called as long as the record lives. Otherwise `read`
 * is called to the end; more than 64 MiB go to a temporary file. @param input copied. */
REC_API rec_record *rec_load_from(rec_recorder *recorder, const rec_input *input, void *user);

/** Custom output. Zero the struct, set `size`, fill in. Return values are as in rec_input, except that ENOENT and
 * ENOTDIR are REC_E_IO. */
struct rec_output {
    uint32_t size;                                                 /**< sizeof(rec_output) */
    uint32_t reserved;                                             /**< 0 */
    const char *name;                                              /**< the name in messages; NULL: "(output)" */
    int32_t (*write)(void *user, const void *data, uint64_t size); /**< writes the next bytes, all of them */
    /** Overwrites bytes already written, for formats that need it. May be NULL. */
    int32_t (*patch)(void *user, uint64_t offset, const void *data, uint64_t size);
    /** Called once at the end. @param ok 1: the output is complete and may be published; 0: the save failed, discard
     * it. The result is only used with 1. May be NULL. */
    int32_t (*finish)(void *user, int32_t ok);
    void (*release)(void *user); /**< called after that: releases `user`, exactly once; may be NULL */
};
/** Saves to functions of the program, in chunks of at most 4 MiB. The output is not read back (option `check`).
 * @param output copied. */
REC_API rec_status rec_save_to(rec_recorder *recorder, const rec_record *record, const rec_output *output, void *user);

/**
 * Protects the process against truncation of mapped files: reading past the end of a truncated mapped file raises
 * SIGBUS and kills the process. This installs a permanent handler for all threads. If the signal comes from a map of
 * librecord, the missing bytes become zeros, and operations that read there fail with REC_E_IO before they keep or
 * rename anything; so do other operations of the same context that ran at that moment. Loads and saves then also check
 * the sizes of files. Any other SIGBUS goes to the previous handler. A handler installed later should call this one.
 * Threads that read pointers from rec_tensor_bytes() and related functions must not block SIGBUS. Without this call
 * librecord does not touch signals. The option `map` = no avoids maps.
 * @return REC_OK, also if called before; REC_E_IO if the system fails.
 */
REC_API rec_status rec_guard_maps(void);

/** Checks, after rec_guard_maps(), whether bytes read through borrowed pointers were intact.
 * @param record the record; NULL: any record of this process so far, including freed ones.
 * @return REC_OK; REC_E_IO that names a truncated file: bytes read since then may have been zeros. */
REC_API rec_status rec_guard_check(const rec_record *record);

/** Writes the printable name of a path. A URL without user, password, query and fragment
 * ("https://user:password@host/name?token" becomes "https://host/name"); any other path is copied. The library's
 * messages, notes, progress and rec_record_origin() use these names; print, log and store no others.
 * @param name (out) NUL-terminated, truncated to `room`. @return its complete length, without the NUL. */
REC_API uint64_t rec_display_name(const char *path, char *name, uint64_t room);

#ifdef __cplusplus
}
#endif
#endif
