/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord: the interface between plugins and the library. docs/guide/plugins.md is the guide. */

/**
 * @file librecord/plugin.h
 *
 * A format is a reader and a writer. Both communicate with the core through one interface, the *visitor*: a table of
 * functions for the events of a data tree. A reader calls a visitor; a writer is one. The core inserts filters, so a
 * format needs to know nothing about Burn's parameter layout, rules or precision.
 *
 * A first format needs
 * - a `static const rec_plugin` with `name`, `extension`, `description`, REC_TRAIT_TENSORS, `magic`, `probe`, `load`
 * and `save`, exported by REC_PLUGINS();
 * - to read: rec_source_read_at(), rec_job_check_count(), and visitor->map_begin (REC_FORM_PATHS), `key`, `tensor`
 *   (rec_tensor_event with a rec_blob: REC_BLOB_RANGE if the file has the elements as bytes, else REC_BLOB_TEMPORARY
 *   after rec_job_check_inflated()) and `end`;
 * - to write: a rec_visitor of its own, rec_job_walk(), rec_sink_write(), and for the elements rec_sink_put() or
 *   rec_blob_read();
 * - to fail: rec_fail().
 * examples/tutorial/flat.c is one. librecord.h, included here, has rec_status (an int32_t), rec_dtype, rec_scalar and
 * the REC_KIND_…, REC_FORM_… and REC_NOTE_…; librecord/registry.h, included too, has rec_option. plugin_types.h has
 * what formats that store Burn's types need, parallel.h what writers of files that several processes write together
 * need.
 *
 * Rules
 * - A callback returns REC_OK or a status that stops the operation; its caller returns the status unchanged.
 * - A function that fails reports the reason once, with `rec_fail()` or `rec_fail_found()`, and returns their result.
 *   The first failure of a job counts. Plugins never print, exit or abort, and have no mutable global state.
 * - Every event has its offset in the (decompressed) source, or REC_UNKNOWN.
 * - Memory comes from `rec_job_alloc()` and related functions.
 * - Structs begin with their size, except frozen ones, which never change. New members are appended, and a member
 *   beyond the other side's size counts as zero. Values of enumerators never change.
 * - Sizes and offsets are uint64_t, enumerations int32_t.
 * - The functions of a plugin may run on several threads at once, each for another job; a job is single-threaded,
 *   except for threads that a plugin starts for its own work (rec_job_threads). The functions of one source run on one
 *   thread at a time, those of two sources on two. A library with one global state needs a lock of the plugin.
 * - A plugin runs with all rights of the process: a crash in it ends the process.
 */
#ifndef LIBRECORD_PLUGIN_H
#define LIBRECORD_PLUGIN_H

/* Short names are for programs: a plugin may define its own FULL. A program includes librecord.h too, before or after.
 */
#ifdef REC_NO_SHORT_NAMES
#include <librecord.h>
#else
#define REC_NO_SHORT_NAMES
#include <librecord.h>
#undef REC_NO_SHORT_NAMES
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this interface. A plugin with another number is rejected. */
#define REC_PLUGIN_ABI 1

/** A load or save in progress. */
typedef struct rec_job rec_job;
/** The input of a load. Reference counted: data borrowed from it keep it alive. */
typedef struct rec_source rec_source;
/** The output of a save. */
typedef struct rec_sink rec_sink;
/** 1 if a struct of the other side has a member of TYPE, 0 if it is too old. */
#define REC_HAS(TYPE, pointer, member) \
    ((pointer)->size >= offsetof(TYPE, member) + sizeof(((const TYPE *)0)->member) ? 1 : 0)

/* ----------------------------------------------------------------------------------------------------- failing -- */

/** Reports a failure: "a map key may not be a list". @param at byte offset or REC_UNKNOWN. @return status. */
REC_API rec_status rec_fail(rec_job *job, int32_t status, uint64_t at, const char *format, ...) REC_PRINTF(4, 5);
/** Reports "expected …, found …". @param expected fixed text. @param found a format; at the end of the input it must
 * end in "the end of the file", which marks truncation. @return status. */
REC_API rec_status rec_fail_found(rec_job *job, int32_t status, uint64_t at, const char *expected, const char *found,
                                  ...) REC_PRINTF(5, 6);
/** Adds a hint to the failure that this job has just reported. Does nothing without one. */
REC_API void rec_fail_hint(rec_job *job, const char *format, ...) REC_PRINTF(2, 3);
/** Attributes the failure that this job has just reported to `source`, one of rec_source_beside(), instead of the
 * loaded file. Does nothing without a failure or after an earlier call; failures reported by sources already name the
 * right file. */
REC_API void rec_fail_source(rec_job *job, const rec_source *source);
/** Adds a note to the report. @param kind REC_NOTE_… @param path in the record, NULL: the path of the current event. */
REC_API void rec_job_note(rec_job *job, int32_t kind, const char *path, const char *format, ...) REC_PRINTF(4, 5);

/* ------------------------------------------------------------------------------------------------ job services -- */

/** Allocates memory that counts against the job's limit. Do not use it after the function that allocated it has
 * returned. Free it with rec_job_free() when you need it no longer; the core frees the rest with the job, also after a
 * failure. Aligned to 16. @return NULL with the failure reported. */
REC_API void *rec_job_alloc(rec_job *job, uint64_t size);
/** Like realloc, for memory of `rec_job_alloc` or NULL; `old` stays valid if NULL is returned. */
REC_API void *rec_job_resize(rec_job *job, void *old, uint64_t size);
/** Frees memory of `rec_job_alloc`. NULL is ignored. */
REC_API void rec_job_free(rec_job *job, void *memory);

/** Returns the checked value of an option, or its default; 0 and "" for unknown names. A BOOL is an int (0 or 1), a
 * CHOICE is text, a SIZE an int of bytes. The core reserves the names `plugin`, `precision`, `as`, `map`,
 * `data`, `decode`, `sync`, `check`, `clamp`, `modules`, `layout` and those of the load arguments
 * (docs/reference/rules.md). */
REC_API int64_t rec_job_option_int(const rec_job *job, const char *name);
REC_API double rec_job_option_float(const rec_job *job, const char *name);
REC_API const char *rec_job_option_text(const rec_job *job, const char *name);

/** @return rec_plugin.user of the plugin that runs, or NULL. */
REC_API void *rec_job_user(const rec_job *job);
/** @return 1 if the text is valid UTF-8 (no surrogates, nothing overlong), as keys and strings of events must be. */
REC_API int32_t rec_is_utf8(const char *text, uint64_t length);

/** Call this every few MiB of work between reads and writes (sources and sinks do so themselves). @return REC_OK or
 * REC_E_CANCELLED. */
REC_API rec_status rec_job_progress(rec_job *job, uint64_t done, uint64_t total);
/** @return the maximum nesting of containers, including Burn's own levels (record, item, param). The core rejects
 * deeper trees in both directions, so a reader or writer may have a stack of this size. */
REC_API uint32_t rec_job_depth_limit(const rec_job *job);
/** Returns the number of threads the job may use, including the caller (rec_context_set_threads). A plugin may start
 * one less, with all signals blocked. They call no function of librecord, and end before the function that started
 * them returns (those of a filter: before its `release`). Failing to start a thread must not be an error, and the
 * result must not depend on their number. @return at least 1. */
REC_API uint32_t rec_job_threads(const rec_job *job);
/** @return 1 if the load needs no tensor data, as for a listing: the core reads no blob of a tensor. A REC_BLOB_RANGE
 * is then sufficient, also of a source of unknown size, and a reader may stop after the header. If the elements need
 * more bytes than the file has, as in text, report a REC_BLOB_STREAM: its `read` is not called. Else 0. */
REC_API int32_t rec_job_skips_data(const rec_job *job);
/**
 * Rejects a count that the rest of the input cannot hold; call it before allocating.
 * @param count announced elements. @param each minimum bytes of one element (0: the limit for elements without bytes
 * applies). @param left bytes left of the input; REC_UNKNOWN (a stream) passes.
 */
REC_API rec_status rec_job_check_count(rec_job *job, uint64_t at, uint64_t count, uint64_t each, uint64_t left);
/** Rejects a decompressed size beyond the limits. For sources of rec_source_make(), and for a REC_BLOB_TEMPORARY or
 * REC_BLOB_STREAM that can be larger than its part of the file: decompressed data, numbers of a text.
 * rec_source_filter() does this itself. Data taken into memory then count against the decompressed size; without the
 * call they count against the size of the file, and a large valid file fails with REC_E_LIMIT. Call it once for each
 * blob, before allocating. @param stored bytes of the file. @param inflated stated decompressed bytes.
 */
REC_API rec_status rec_job_check_inflated(rec_job *job, uint64_t stored, uint64_t inflated);

/** Writes the path of the current event, "layers.0.weight", NUL-terminated and truncated to `room`. A dot in a name is
 * `\.`, a backslash `\\`; names may be empty. A NUL in a name is written as `?`; `key` has the original. @return the
 * complete length, without the NUL. */
REC_API uint64_t rec_job_path(rec_job *job, char *path, uint64_t room);
/** Converts a name of another framework, in which every dot separates and nothing is escaped, to a path for
 * REC_FORM_PATHS, by escaping its backslashes. @param path (out) NUL-terminated, truncated to `room`. @return its
 * complete length, without the NUL; at most twice `length`. */
REC_API uint64_t rec_path_escape(const char *name, uint64_t length, char *path, uint64_t room);
/** Converts a path to a name of another framework, without escapes. Two paths may give one name (`a\.b`, `a.b`): reject
 * these. @param name (out) NUL-terminated, truncated to `room`. @return its complete length, without the NUL. */
REC_API uint64_t rec_path_unescape(const char *path, uint64_t length, char *name, uint64_t room);
/** A path in the making, for readers of nested data. Zero it before the first push. Its memory is the job's; free
 * `text` with rec_job_free(), or leave it to the end of the job. The layout is frozen. */
typedef struct rec_path {
    char *text;      /**< NUL-terminated; NULL before the first push */
    uint64_t length; /**< without the NUL: pass an earlier value to rec_path_pop() */
    uint64_t room;   /**< bytes allocated */
    uint64_t levels; /**< names in it */
} rec_path;
/** Appends a name, of which dots and backslashes are escaped. Names may be empty. */
REC_API rec_status rec_path_push(rec_job *job, rec_path *path, const char *name, uint64_t length);
/** Removes the last names. @param length,levels before the push. */
REC_API void rec_path_pop(rec_path *path, uint64_t length, uint64_t levels);

/** Sets the module layout of the file, if it differs from the descriptor's, for a map of REC_FORM_PATHS. The user's
 * `adapter` takes precedence. Call it before the first value. @param adapter "burn", "pytorch", …, copied. */
REC_API rec_status rec_job_set_adapter(rec_job *job, const char *adapter);
/** @return the module layout of the file (load, as far as known) or of the record (save): "burn" for a Burn record,
 * another name for a foreign model. A writer stores it in its file. Borrowed; never NULL. */
REC_API const char *rec_job_adapter(const rec_job *job);

/* ----------------------------------------------------------------------------------------------------- sources -- */

/** @return the name in messages: the file's. */
REC_API const char *rec_source_name(const rec_source *source);
/** @return its size in bytes, REC_UNKNOWN for a stream that was not read to its end yet. */
REC_API uint64_t rec_source_size(const rec_source *source);
/** Gets its size. A stream is read to its end first, and kept. @param size (out) never REC_UNKNOWN. */
REC_API rec_status rec_source_measure(rec_job *job, rec_source *source, uint64_t *size);
/** Returns the whole source: without a copy if it is mapped or in memory, else read to its end first (its size is then
 * known). Does not move the reading position. @param data,size (out) borrowed; valid as long as the source. */
REC_API rec_status rec_source_view(rec_job *job, rec_source *source, const void **data, uint64_t *size);
/** Reads the next bytes. @param got (out) how many, 0 at the end only. */
REC_API rec_status rec_source_read(rec_job *job, rec_source *source, void *target, uint64_t room, uint64_t *got);
/** Returns to the first byte. */
REC_API rec_status rec_source_rewind(rec_job *job, rec_source *source);
/** Reads all `size` bytes at `offset`, without moving the reading position; fewer bytes are a failure. A stream is read
 * to its end first. */
REC_API rec_status rec_source_read_at(rec_job *job, rec_source *source, uint64_t offset, void *target, uint64_t size);

/** Returns a pointer to this range if it is in memory or mapped; performs no I/O and no copy. For readers that
 * otherwise read through a buffer of their own (rec_source_read). @param data (out) borrowed, valid as long as the
 * source; NULL with REC_OK if not available. REC_E_FORMAT if a source of known size ends earlier. */
REC_API rec_status rec_source_at_hand(rec_job *job, rec_source *source, uint64_t offset, uint64_t size,
                                      const void **data);

/** Opens another file of a model, such as a shard. @param name a path relative to the directory of the source, such as
 * "weights/w.bin", of plain names between slashes: an absolute one, `.` and `..` are rejected, so that no input leaves
 * its directory. Symbolic links are followed. A library that needs a path or a descriptor cannot be given one; give it
 * the bytes (rec_source_view()).
 * @param out counted, to be released with rec_source_release(). Sources that are not files have none, except those of
 * rec_source_make() with `beside`. */
REC_API rec_status rec_source_beside(rec_job *job, rec_source *source, const char *name, rec_source **out);
/** Opens an optional file in the same directory. @param out (out) NULL with REC_OK if it is missing or unsupported. An
 * unreadable file is a failure. */
REC_API rec_status rec_source_beside_maybe(rec_job *job, rec_source *source, const char *name, rec_source **out);
/** Makes a source of a range of another, such as a member of an archive: `size` bytes from `offset`, read by
 * rec_source_read_at() of `source` or in its view. Offsets in messages are relative to the range. @param out counted;
 * it keeps `source` alive. REC_E_FORMAT if `source` ends earlier. */
REC_API rec_status rec_source_part(rec_job *job, rec_source *source, uint64_t offset, uint64_t size, rec_source **out);
/** A range of a source. Set all members. */
typedef struct rec_source_piece {
    uint32_t size;      /**< sizeof(rec_source_piece) */
    uint32_t reserved;  /**< 0 */
    rec_source *source; /**< of known size */
    uint64_t offset, length;
} rec_source_piece;
/** Makes a source of ranges of others, one after the other, such as the chunks of an array. It counts as a file for
 * a REC_BLOB_RANGE, and is read on demand. @param name in messages, copied. @param pieces copied; their sources are
 * retained.
 * @param out counted. REC_E_FORMAT if a source ends earlier. */
REC_API rec_status rec_source_pieces(rec_job *job, const char *name, const rec_source_piece *pieces, uint64_t count,
                                     rec_source **out);
/** Lists the files of a directory, sorted; see REC_TRAIT_FOLDER. @param names (out) NULL if the source is not a
 * directory; lives as long as the source. */
REC_API rec_status rec_source_names(rec_job *job, rec_source *source, const char *const **names, uint64_t *count);

/** The functions of a custom source: a filter of another source (rec_source_filter), or any other data
 * (rec_source_make). The job may differ from the one that made the source: keep no pointer to it. Read options only in
 * `open`, `decode` and `load`; in `read_at` and `beside` they belong to another plugin. */
typedef struct rec_source_ops {
    uint32_t size;     /**< sizeof(rec_source_ops) */
    uint32_t reserved; /**< 0 */
    /** Like rec_source_read. Required for filters. A filter must verify its whole input before it reports the end. */
    rec_status (*read)(void *self, rec_job *job, void *target, uint64_t room, uint64_t *got);
    /** Returns to the first byte: rewinds the parent too. For filters only, and required for them. */
    rec_status (*rewind)(void *self, rec_job *job);
    /** @return the size if known without reading, else REC_UNKNOWN; it may be wrong. For filters only. */
    uint64_t (*size_hint)(void *self);
    /** Frees `self`, which outlives the job and so must come from malloc. May be called on any thread. */
    void (*release)(void *self);
    /* For rec_source_make() only. */
    /** Reads all of `size` bytes at `offset`, which lie within `total`. Never called on two threads at once; possibly
     * called long after the job has ended, when a tensor is accessed. The bytes must not change. */
    rec_status (*read_at)(void *self, rec_job *job, uint64_t offset, void *target, uint64_t size);
    /** @return the exact size, or REC_UNKNOWN. Called once. */
    uint64_t (*total)(void *self);
    /** Opens a companion file by its relative path (rec_source_beside()), with rec_source_make(). @param optional 1: a
     * missing file is REC_OK with `*out` NULL. @param out counted. NULL: there are no companion files. */
    rec_status (*beside)(void *self, rec_job *job, const char *name, int32_t optional, rec_source **out);
} rec_source_ops;
/** Adds a filter to a source. It retains `parent`, so `self` may borrow it. The filters of a job together return at
 * most the decompressed size allowed by rec_limits.
 * @param out counted, to be released with rec_source_release(). Takes `self`, also on failure, unless `ops` is NULL or
 * its size is invalid. */
REC_API rec_status rec_source_filter(rec_job *job, rec_source *parent, const rec_source_ops *ops, void *self,
                                     rec_source **out);
/** Makes a source of data that only the plugin can read: over a network, in an archive, computed. With `read_at` and a
 * known `total` only requested ranges are read; otherwise `read` is required and called to the end now. More bytes
 * than `total` are an error. @param name the name in messages, copied. @param out counted. Takes `self`, also on
 * failure, unless `ops` is NULL or its size is invalid. */
REC_API rec_status rec_source_make(rec_job *job, const char *name, const rec_source_ops *ops, void *self,
                                   rec_source **out);
/** Adds a reference. @return `source`. */
REC_API rec_source *rec_source_retain(rec_source *source);
/** Drops a reference. NULL is ignored. */
REC_API void rec_source_release(rec_source *source);

/* ------------------------------------------------------------------------------------------------------- blobs -- */

/** The place of a blob's bytes. */
enum {
    REC_BLOB_VIEW = 1,      /**< at `data` in the view of `source`; or (for a writer) during the call */
    REC_BLOB_TEMPORARY = 2, /**< at `data`, during this call only */
    REC_BLOB_RANGE = 3,     /**< `length` bytes at `offset` of `source`, not read yet */
    REC_BLOB_STREAM = 4     /**< by `read`, in order, during this call only */
};

/** The data of a tensor or byte string. The receiver may use, skip or (VIEW, RANGE) keep it, and then retains `source`.
 * Writers pass blobs to rec_sink_put() or read them with rec_blob_read(). The layout is frozen. */
typedef struct rec_blob {
    uint32_t size;      /**< sizeof(rec_blob) */
    int32_t kind;       /**< REC_BLOB_… */
    uint64_t length;    /**< bytes */
    const void *data;   /**< VIEW, TEMPORARY */
    rec_source *source; /**< VIEW, RANGE: the source of the data */
    uint64_t offset;    /**< RANGE; VIEW: offset in the source for messages and listings, or REC_UNKNOWN */
    /** STREAM: writes the next `size` bytes to `target`; fails rather than returning fewer. */
    rec_status (*read)(void *user, void *target, uint64_t size);
    void *user;
} rec_blob;

/** Reads bytes of any blob, from `offset` on; a STREAM must be read in order. For writers that need the bytes. */
REC_API rec_status rec_blob_read(rec_job *job, const rec_blob *blob, uint64_t offset, void *target, uint64_t size);
/** Makes a blob of a range of another one, for writers that store data in chunks. It borrows from `blob`. The slices of
 * a STREAM must be used in order and without gaps. @param slice (out). */
REC_API rec_status rec_blob_slice(rec_job *job, const rec_blob *blob, uint64_t offset, uint64_t size, rec_blob *slice);

/* ----------------------------------------------------------------------------------------------------- visitor -- */

/** Flags of a tensor event. */
enum {
    /** The tensor is not a parameter of a module. A reader sets this if the file says so; a tensor without `id` and
     * without this flag is a parameter with an unknown id, and a writer of ids creates one. A writer receives it for
     * bare tensors, except in the state of an optimizer, where all tensors are bare. */
    REC_EVENT_BARE = 1,
    /** Set for writers only: librecord computed the id from the path, and no file has it. A writer without ids need not
     * report it as lost. */
    REC_EVENT_ID_MADE = 2
};

/** Whether a matrix is the weight of a linear layer as PyTorch stores it, [out, in]; Burn's is [in, out]. */
enum {
    REC_TRANSPOSED_UNKNOWN = 0, /**< the module layout and the user's rules decide */
    REC_TRANSPOSED_NO = 1,      /**< known not to be: an import leaves it unchanged */
    REC_TRANSPOSED_YES = 2      /**< known to be: an import transposes it */
};

/** A tensor event, for tensor formats. */
typedef struct rec_tensor_event {
    uint32_t size;   /**< sizeof(rec_tensor_event) */
    rec_dtype dtype; /**< REC_DTYPE_OPAQUE with dtype_name for unknown types */
    uint32_t rank;
    uint32_t flags;         /**< REC_EVENT_… */
    const uint64_t *shape;  /**< `rank` dimensions, outermost first */
    const char *id;         /**< parameter id, NUL-terminated, or NULL: see REC_EVENT_BARE */
    const char *dtype_name; /**< the format's name for the type, NUL-terminated, or NULL. If it has attributes, as
                               REC_DTYPE_QFLOAT always does: Burn's description as JSON, {"QFloat":{…}}, in which 32-bit
                               floats end in f. A writer stores it, a reader returns it */
    rec_blob data;          /**< little-endian elements, row-major */
    int32_t transposed;     /**< REC_TRANSPOSED_…, for readers of foreign models that know it, as from a graph. It takes
                               precedence over the layout "pytorch"; in Burn records it is ignored. 0 for writers */
    int32_t reserved;       /**< 0 */
} rec_tensor_event;

/**
 * The events of a data tree. A reader calls them in this order: `metadata` for each entry (or `metadata_value`, and
 * the events of that entry's value), then exactly one value. A value is a `scalar`, `bytes`, a `tensor`, or a
 * container that is closed by `end`:
 * - `list_begin`, then values; any run of numbers or bools may be reported as `numbers`;
 * - `map_begin`, then `key` and a value for each entry;
 * - `variant_begin`, then the payload, if any.
 *
 * `option` announces an option: if present, the value follows; if absent, it is the value. `variant_begin` is closed
 * by `end` with or without payload. The core checks this grammar: a reader that violates it fails with REC_E_PLUGIN.
 *
 * While writing, the core knows all counts. With a type, the walk follows it: options are announced, numbers have
 * their width, lists and maps their form, variants their index, fields the order of the type. While reading, the dtype
 * of `numbers` is that of the chunk, not of the field; the chunks of a list may differ, and a `null` in a list of
 * floats is a nil scalar.
 *
 * A format without REC_TRAIT_TENSORS never sees `metadata` and `tensor`: reading, it reports the maps of the file, and
 * the core recognises Burn's layout; writing, it receives that layout as structs. With the trait the value after
 * `metadata` is the record's item.
 *
 * The core replaces events that a writer leaves NULL: `numbers` by scalars, `bytes` by numbers of u8, `variant_begin`
 * by a map of one entry or, without payload, a string; `option` by nil or nothing. `metadata_value` and `list_of` may
 * be NULL too. A writer must have `scalar`, `list_begin`, `map_begin`, `key` and `end`; with REC_TRAIT_TENSORS also
 * `metadata` and `tensor`. A reader receives a visitor with all functions of its version.
 */
typedef struct rec_visitor {
    uint32_t size;     /**< sizeof(rec_visitor) */
    uint32_t reserved; /**< 0 */
    /** @param key,value strings. */
    rec_status (*metadata)(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value);
    rec_status (*scalar)(void *self, uint64_t at, const rec_scalar *scalar);
    /** Part of a list: `count` elements of `dtype` at `data`, host byte order, any alignment, valid for the call. */
    rec_status (*numbers)(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count);
    rec_status (*bytes)(void *self, uint64_t at, const rec_blob *blob);
    /** @param form REC_FORM_LIST, _ARRAY, _TUPLE or _UNKNOWN. @param count elements, REC_UNKNOWN if not known yet. */
    rec_status (*list_begin)(void *self, uint64_t at, int32_t form, uint64_t count);
    /** @param form REC_FORM_STRUCT, _MAP or _UNKNOWN; for the outermost value of a format with REC_TRAIT_TENSORS also
     * _PATHS: its keys are distinct strings, paths as written by rec_job_path(), which the core splits (a backslash
     * before anything but a dot or another one is literal). In a file of the layout "burn" no key may be below one with
     * a value. @param count entries, REC_UNKNOWN if not known yet. */
    rec_status (*map_begin)(void *self, uint64_t at, int32_t form, uint64_t count);
    /** A key is a string, bool or integer. */
    rec_status (*key)(void *self, uint64_t at, const rec_scalar *key);
    /** @param index REC_UNKNOWN if the format only has names. @param name a string. @param payload 1 if one follows. */
    rec_status (*variant_begin)(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload);
    rec_status (*end)(void *self, uint64_t at);
    rec_status (*option)(void *self, uint64_t at, int32_t present);
    rec_status (*tensor)(void *self, uint64_t at, const rec_tensor_event *tensor);
    /** Announces an entry of the metadata that is not text: the following events of one value without tensors are its
     * value. A writer without it receives the value in JSON as a text by `metadata`; a value that JSON lacks is left
     * out with a note. A reader that also runs with 0.1 must check REC_HAS(rec_visitor, visitor, metadata_value) first.
     */
    rec_status (*metadata_value)(void *self, uint64_t at, const rec_scalar *key);
    /** Reports the type of a list's elements in the metadata, right after its `list_begin`, also of an empty list.
     * Optional. A writer that has it keeps types itself, including the width of numbers; any other writer receives them
     * as a text, the entry `librecord.types`. @param type "u8" to "u64", "i8" to "i64", "f32", "f64", "bool", "str",
     * "list". */
    rec_status (*list_of)(void *self, uint64_t at, const char *type);
} rec_visitor;

/* ------------------------------------------------------------------------------------------------------- sinks -- */

/** Writes bytes; they are not needed after the call. */
REC_API rec_status rec_sink_write(rec_sink *sink, const void *data, uint64_t size);
/** Writes a blob, without a copy if possible. */
REC_API rec_status rec_sink_put(rec_sink *sink, const rec_blob *blob);
/** @return bytes written so far. */
REC_API uint64_t rec_sink_tell(const rec_sink *sink);
/** @return 1 if rec_sink_patch() works: for files, memory, a rec_output with `patch`, and their layout sinks; 0 for
 * streams and filters. */
REC_API int32_t rec_sink_can_patch(const rec_sink *sink);
/** Overwrites bytes already written, such as a size or an offset known only afterwards. Does not change
 * rec_sink_tell(). Use it rarely: it flushes all output first. REC_E_UNSUPPORTED if it is not possible. */
REC_API rec_status rec_sink_patch(rec_sink *sink, uint64_t offset, const void *data, uint64_t size);
/** Makes a sink that only counts: blobs are neither read nor converted. For formats that need sizes and offsets first:
 * walk over it, then walk again. NULL with the failure reported. To be closed with rec_sink_close(). */
REC_API rec_sink *rec_sink_layout(rec_job *job);

/** Returns the file's name without directory, "model.safetensors"; "" for a sink that is not a file. */
REC_API const char *rec_sink_name(const rec_sink *sink);
/** Creates another file in the same directory, for sharded models: saved atomically with the first file, and renamed
 * before it. @param name a plain file name, unique in this save. @param out owned by the core, which finishes it with
 * the first. Close it with rec_sink_close() when it is complete: it then keeps neither memory nor a descriptor, and
 * only rec_sink_tell() may be called. For a sink of rec_sink_layout() the result is another one. REC_E_UNSUPPORTED for
 * sinks that are not files. */
REC_API rec_status rec_sink_beside(rec_job *job, rec_sink *sink, const char *name, rec_sink **out);
/** Creates a file of a set whose index names its files, so that the set replaces an older one as a whole. Call
 * rec_sink_rename() first if the index has another name than the sink. The file is called STEM-TAIL ("model",
 * "00001-of-00003.safetensors"), or STEM-LETTERS-TAIL with six random letters if an older set exists. Write the name
 * returned by rec_sink_name() into the index as plain text, between characters other than letters, digits, `-`, `_`
 * and `.`. All files are renamed before the index replaces the old one; then files named by the old index are deleted,
 * if their names have the form of this set. All files of a save have one STEM, and TAILs that differ in digits only.
 * */
REC_API rec_status rec_sink_part(rec_job *job, rec_sink *sink, const char *stem, const char *tail, rec_sink **out);
/** Changes the name of the saved file in its directory (to that of an index). Call it before the first byte and the
 * first companion file. */
REC_API rec_status rec_sink_rename(rec_job *job, rec_sink *sink, const char *name);

/** The functions of an output filter: compression, encryption. */
typedef struct rec_sink_ops {
    uint32_t size;     /**< sizeof(rec_sink_ops) */
    uint32_t reserved; /**< 0 */
    /** Encodes bytes and writes the result to `target`. Required. */
    rec_status (*write)(void *self, rec_sink *target, const void *data, uint64_t size);
    /** Writes the rest (trailers too). Not called after a failure. May be NULL. */
    rec_status (*finish)(void *self, rec_sink *target);
    void (*release)(void *self);
} rec_sink_ops;
/** Adds a filter to a sink. NULL with the failure reported. Takes `self`, also on failure, unless `ops` is NULL or its
 * size is invalid. */
REC_API rec_sink *rec_sink_filter(rec_job *job, rec_sink *target, const rec_sink_ops *ops, void *self);
/** Finishes and frees a sink of rec_sink_layout() or rec_sink_filter(); `finish` is called unless the job has failed.
 * The core closes the sink passed to `save`; one of rec_sink_beside() may be closed. NULL is ignored. @return the
 * first failure. */
REC_API rec_status rec_sink_close(rec_sink *sink);

/** Calls the writer's visitor for the events of the record. May be called any number of times, with the same events. */
REC_API rec_status rec_job_walk(rec_job *job, const rec_visitor *visitor, void *self);
/** Like rec_job_walk(), for formats of nested maps: a map of REC_FORM_PATHS (a foreign model) arrives as nested maps of
 * REC_FORM_MAP, one for each level of its paths, with unescaped names as keys. All other events are the same. */
REC_API rec_status rec_job_walk_levels(rec_job *job, const rec_visitor *visitor, void *self);

/* ----------------------------------------------------------------------------------------------------- schemes -- */

/** The tensors of the record that a scheme is asked about. */
typedef struct rec_siblings rec_siblings;

/** A stored tensor. Valid until `claim` returns. */
typedef struct rec_part {
    uint32_t size;          /**< sizeof(rec_part) of the library */
    rec_dtype dtype;        /**< REC_DTYPE_OPAQUE for what the library has no number type for */
    const char *path;       /**< "layers.0.weight", as rec_job_path() writes it */
    const char *dtype_name; /**< "F8_E4M3", "Q4_K"; of REC_DTYPE_QFLOAT Burn's words as JSON; of others "f32" */
    uint32_t rank;
    uint32_t reserved;     /**< 0 */
    const uint64_t *shape; /**< `rank` dimensions, outermost first */
    uint64_t count;        /**< elements, the product of the shape */
    uint64_t nbytes;       /**< bytes stored */
} rec_part;

/** Limits of one logical tensor. */
enum { REC_PARTS_MOST = 8, REC_LOGICAL_RANK_MOST = 8, REC_STATE_WORDS = 16, REC_LABEL_ROOM = 64, REC_SUFFIX_ROOM = 32 };
/** The most elements of a step. */
#define REC_STEP_MOST UINT64_C(16777216)

/** A rectangle of a part's bytes: `count` runs of `length` bytes, the first at `offset`, each `stride` bytes after the
 * one before. */
typedef struct rec_span {
    uint64_t offset, length;
    uint64_t stride; /**< of one run: any */
    uint64_t count;  /**< runs, 1 at least */
} rec_span;

/** What a scheme makes of stored tensors: one tensor of numbers. Core zeroes it before `claim`. */
typedef struct rec_logical {
    uint32_t size;   /**< sizeof(rec_logical) of the library */
    rec_dtype dtype; /**< element type of the numbers: a float or an integer */
    uint32_t rank;
    uint32_t part_count;                   /**< 0: the scheme does not claim the tensor */
    uint64_t shape[REC_LOGICAL_RANK_MOST]; /**< of the numbers; it need not be that of a part */
    /** The stored tensors it is made of. The first one is the tensor that `claim` was asked about; the others do not
     * exist any more once the numbers take their place. The first one may be there again, for other spans of it. */
    const rec_part *parts[REC_PARTS_MOST];
    /** Tiles begin at multiples of so many elements: a block, a row of blocks. 1 to REC_STEP_MOST; 0 counts as 1. */
    uint64_t step;
    /** The logical tensor's path: that of the first part without its last `path_less` bytes, and `path_end` after it.
     */
    uint32_t path_less;
    uint32_t reserved; /**< 0 */
    char path_end[REC_SUFFIX_ROOM];
    /** What users see: "FP8 E4M3, 128x128 blocks". NUL-terminated. */
    char label[REC_LABEL_ROOM];
    /** Why the parts cannot be decoded, a static text, where the scheme only recognises them; core then rejects them
     * wherever numbers are needed. NULL: they can be decoded. */
    const char *unsupported;
    uint64_t state[REC_STATE_WORDS]; /**< the scheme's own, for `spans` and `tile` */
} rec_logical;

/** Returns the tensor with a path, or NULL. At most 64 are found during one `claim`. */
REC_API const rec_part *rec_sibling(rec_job *job, const rec_siblings *siblings, const char *path);
/** The same with another end: the path of `part` without its last `less` bytes, and `end` after it. */
REC_API const rec_part *rec_sibling_of(rec_job *job, const rec_siblings *siblings, const rec_part *part, uint64_t less,
                                       const char *end);
/** Returns a value of the model's config.json as text, by its path: "quantization_config.quant_method". A number or
 * bool as JSON writes it. Valid until `claim` returns. May be NULL. */
REC_API const char *rec_sibling_setting(rec_job *job, const rec_siblings *siblings, const char *path);

/* -------------------------------------------------------------------------------------------------- descriptor -- */

/** Properties of a format. librecord rejects a plugin with an unknown trait in the low 32 bits, and ignores those in
 * the high 32 bits. */
enum {
    REC_TRAIT_TENSORS = 1,    /**< its events are `metadata` and `tensor`, not Burn's maps */
    REC_TRAIT_NEEDS_TYPE = 2, /**< reading needs a type */
    REC_TRAIT_EXACT_SIZE = 4, /**< the size of the file does not depend on the values of tensors. The core may call
                                 `save` first with a sink of rec_sink_layout(); both calls write as many bytes. Not for
                                 text */
    REC_TRAIT_FOLDER = 8,     /**< reads directories: probe and load may receive one */
    REC_TRAIT_NO_NAMES = 16,  /**< its data have no names: the type of a recorder is that of the file */
    REC_TRAIT_TAIL = 32,      /**< its probe inspects the end of the file: rec_head then has its `tail` */
    REC_TRAIT_PLAIN = 128,  /**< with REC_TRAIT_EXACT_SIZE: stores tensors as plain bytes, and no other byte depends on
                               them (no checksums): several processes may write the file together. */
    REC_TRAIT_BARE = 256,   /**< with REC_TRAIT_TENSORS: its files record which tensors are bare (REC_EVENT_BARE). For
                               other formats the core adds a note that they are read as parameters. */
    REC_TRAIT_VALUES = 512, /**< with REC_TRAIT_TENSORS: its files keep values that are not tensors, and lists and maps
                               with any contents. For other formats the core adds a note about elements at the end of a
                               list that hold nothing, and about empty lists and maps. */
    REC_TRAIT_PATHS = 64 /**< with REC_TRAIT_TENSORS: flat. A save is one map of REC_FORM_PATHS of tensors and numbers;
                            the core flattens every record, and the count is known at the end. A load may report one
                            too; the states of Burn's optimizers and schedulers are recognised by their keys */
};

/* The module layout of a map of REC_FORM_PATHS is a name. It is the default of the load argument `adapter`: of all
 * files of a format, or of one (rec_job_set_adapter()). Other values are always Burn records.
 * - "burn": a Burn record with flat names.
 * - "pytorch": a foreign model in PyTorch's layout. It is adapted on its way to a Burn record, and gaps in list indices
 *   are closed. Between files of foreign formats nothing is adapted.
 * - "either": one of both: the core decides by names and shapes, or asks the user. For files of Burn's stores, which do
 *   not record it.
 * - "foreign": a foreign model in another layout. Nothing is assumed: rules decide, and rec_tensor_event.transposed.
 * - any other name: "foreign", with the rules of the profile of that name, unless the user selects a profile. */

/** The beginning of a file to recognise. */
typedef struct rec_head {
    uint32_t size;            /**< sizeof(rec_head) */
    uint32_t reserved;        /**< 0 */
    const uint8_t *data;      /**< its first bytes, at most 64 KiB */
    uint64_t length;          /**< how many */
    uint64_t total;           /**< size of the file, REC_UNKNOWN for a stream */
    const char *name;         /**< the name of the file or directory, without the path; may be "" */
    const char *const *names; /**< of a directory (REC_TRAIT_FOLDER): its files, sorted; else NULL */
    uint64_t name_count;
    const uint8_t *tail;  /**< the last bytes, at most 64 KiB; NULL without REC_TRAIT_TAIL, or for a stream */
    uint64_t tail_length; /**< how many */
    void *user;           /**< rec_plugin.user */
} rec_head;

/** Bytes that every file of a format has at a fixed place; checked before `probe`. */
typedef struct rec_magic {
    uint32_t size;        /**< sizeof(rec_magic) */
    uint32_t length;      /**< of the bytes, 1 to 16 */
    int64_t offset;       /**< from the first byte; negative: from the end of the file */
    const uint8_t *bytes; /**< the expected bytes */
    const uint8_t *mask;  /**< the bits that count, as many bytes; NULL: all */
} rec_magic;

/** A plugin. Define it `static const`, with designated initialisers. A NULL function means that the operation is not
 * supported. Members that do not apply to this kind of plugin must be 0; otherwise the plugin is rejected. */
typedef struct rec_plugin {
    uint32_t abi;                     /**< REC_PLUGIN_ABI */
    uint32_t size;                    /**< sizeof(rec_plugin) */
    const char *name;                 /**< "NamedMpk" */
    const char *const *aliases;       /**< further names, NULL-terminated, or NULL */
    const char *extension;            /**< "mpk.gz", without the first dot; NULL: memory only */
    const char *description;          /**< one line, required */
    const char *burn_name;            /**< path of Burn's recorder type for the metadata `format`, or NULL */
    uint64_t traits;                  /**< REC_TRAIT_… */
    const rec_option *const *options; /**< NULL-terminated, or NULL; each has `name`, `initial`, `help`, bounds */
    /** FORMAT, CODEC: @return how many bits of the file matched; 0: not its file. A larger number counts as the bits of
     * the matched magic and 32 more; without `magic`, as 32. Must not fail. NULL: a format is loaded by its name
     * only, a codec is recognised by its magic. */
    int32_t (*probe)(const rec_head *head);
    /** Reads the source to its end and calls the visitor. Called a second time, from the beginning, if `item` precedes
     * `metadata` in the file. */
    rec_status (*load)(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);
    /** Walks the record (rec_job_walk) and writes it. */
    rec_status (*save)(rec_job *job, rec_sink *sink);
    const char *adapter;           /**< the module layout of its files: "pytorch", "foreign", …; NULL: "burn" */
    int32_t kind;                  /**< REC_PLUGIN_…, of librecord.h */
    int32_t reserved_kind;         /**< 0 */
    const char *const *extensions; /**< additional recognised extensions, NULL-terminated, or NULL */
    const rec_magic *const
        *magic; /**< a file without one of these is not its own, and `probe` is not called; NULL-terminated, or NULL */
    const char *version; /**< of the plugin itself, one line, or NULL */
    const char *license; /**< SPDX expression, or NULL */
    /** CODEC: decodes a source with rec_source_filter(). Read options here: later calls of the filter may be in another
     * job. To recognise a file only its beginning is decoded, so the end may be missing. @param out counted. */
    rec_status (*decode)(rec_job *job, rec_source *stored, rec_source **out);
    /** CODEC: encodes to `target` with rec_sink_filter(); the core closes the result. Read options here. */
    rec_status (*encode)(rec_job *job, rec_sink *target, rec_sink **out);
    const char *format; /**< STACK: the name of the format */
    const char *codec;  /**< STACK: the name of the codec */
    const char *const
        *presets; /**< STACK: options of both with other defaults, "name=value", NULL-terminated, or NULL */
    const char *const *schemes; /**< SOURCE: its schemes, "https", NULL-terminated */
    /** SOURCE: opens "https://host/name" with rec_source_make(). @param out counted. */
    rec_status (*open)(rec_job *job, const char *location, rec_source **out);
    /* FORMAT: versions of Burn are numbers, 0.N as N; 1.0 would be 1000. */
    int32_t
        burn_first;    /**< the first version with this format; 0, with the others too: with `burn_name` a format of the
                          versions with recorders, 0.7 to 0.21; without it not Burn's, and written for every version */
    int32_t burn_last; /**< the last version with it; 0: no upper limit */
    int32_t burn_default;  /**< the target unless the caller selects another; 0: the newest known version */
    int32_t reserved_burn; /**< 0 */
    /** SCHEME: recognises the tensor `part`, finds the others that belong to it, and fills `logical`. Leaves
     * `part_count` 0 if the tensor is not the scheme's, or is not the first part. Fails only for want of memory; what
     * is damaged is `unsupported`. */
    rec_status (*claim)(rec_job *job, const rec_siblings *siblings, const rec_part *part, rec_logical *logical);
    /** SCHEME: sets which bytes of each part elements [first, first + count) need. Core set `spans` to all of each
     * part. Called by several threads; calls no function of librecord. NULL: a tile needs all of every part. */
    void (*spans)(const uint64_t *state, uint64_t first, uint64_t count, rec_span *spans);
    /** SCHEME: decodes elements [first, first + count) to numbers in host byte order, as `spans` above. `first` is a
     * multiple of the step, and so is `count` but at the end of the tensor. The result must not depend on how a tensor
     * is divided into tiles.
     * @param parts the bytes of each span, its runs one after the other, little-endian, of any alignment.
     * @param numbers room for `count` elements. @return REC_OK, or REC_E_FORMAT if the parts are damaged. */
    rec_status (*tile)(const uint64_t *state, uint64_t first, uint64_t count, const rec_span *spans,
                       const void *const *parts, void *numbers);
    /** Data of the plugin: rec_job_user(), rec_head.user. Lives as long as the plugin; shared by all threads. NULL is
     * fine. */
    void *user;
    /** Called in each context before the plugin is used, e.g. to check the version of a library; for a file again if
     * the context's list of plugins changes. May be NULL. After a failure, whose reason it reports with rec_fail(), the
     * plugin is rejected: `record plugins` lists the reason. Must be safe to call on several threads. */
    rec_status (*init)(rec_job *job, void *user);
} rec_plugin;

/**
 * Exports the plugins of a shared object. `module` is the file's name without `.so`, with `_` for characters that C
 * names cannot have: mpk-gz.so has REC_PLUGINS(mpk_gz, &one, &two). The table has a second name that is the same in
 * every file, for renamed files; it is weak, so that several plugins can be linked into one program.
 */
#define REC_PLUGINS(module, ...)                                                    \
    extern REC_API const rec_plugin *const module##_LTX_librecord_plugins[];        \
    const rec_plugin *const module##_LTX_librecord_plugins[] = {__VA_ARGS__, NULL}; \
    extern REC_API const rec_plugin *const librecord_plugins[1]                     \
        __attribute__((weak, alias(#module "_LTX_librecord_plugins")))

/**
 * Adds a plugin of the program to a context, before all others; the last one added comes first.
 * @param plugin checked like a file's; it and its data must outlive the context and everything made from it; best
 * static. @return REC_E_PLUGIN with the reason if it is rejected, also if one added earlier has one of its names.
 */
REC_API rec_status rec_context_add_plugin(rec_context *context, const rec_plugin *plugin);

#ifdef __cplusplus
}
#endif
#endif
