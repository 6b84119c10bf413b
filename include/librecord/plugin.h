/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord: what a plugin (a format) and the library's core say to each other. docs/guide/plugins.md is the guide. */

/**
 * @file librecord/plugin.h
 *
 * A format is a reader and a writer, and both meet core at one interface, the *visitor*: a table of functions for the
 * events of a data tree. A reader calls a visitor; a writer is one. Core puts filters in between as needed, so a
 * format knows nothing of Burn's parameter layout, of remap rules or of precision.
 *
 * Rules
 * - A callback returns REC_OK or a status that stops everything; whoever called it passes it up unchanged.
 * - Something that fails says why once, with `rec_fail()` or `rec_fail_found()`, and returns what those return. The
 *   first failure of a job counts. Plugins never print, exit or abort, and have no mutable global state.
 * - Every event carries its offset in the source (REC_UNKNOWN if it has none): of the inflated bytes, if inflated.
 * - Memory comes from `rec_job_alloc()` and friends.
 * - A struct that crosses begins with its size; one that is marked frozen never changes. New members are appended,
 *   and a member beyond the other side's size counts as zero. Values of enumerators never change.
 * - Sizes and offsets are uint64_t, enumerations int32_t. Everything is single-threaded within one job, but for threads
 * that a plugin starts for work of its own (rec_job_threads).
 */
#ifndef LIBRECORD_PLUGIN_H
#define LIBRECORD_PLUGIN_H

/* Short names are for programs: a plugin's own FULL is none of librecord's. */
#if !defined LIBRECORD_H && !defined REC_NO_SHORT_NAMES
#define REC_NO_SHORT_NAMES
#endif
#include <librecord.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The number of this contract. A plugin made for another number is refused. */
#define REC_PLUGIN_ABI 1

/** One load or save in progress. */
typedef struct rec_job rec_job;
/** Where a load gets its bytes from. Counted: data that was lent from it keeps it alive. */
typedef struct rec_source rec_source;
/** Where a save puts its bytes. */
typedef struct rec_sink rec_sink;
/** One node of the layout of a typed record: a read-only cursor. */
typedef struct rec_layout rec_layout;

/** Whether a struct that another side made has a member of TYPE: what came later is not there in an older one. 1 or 0.
 */
#define REC_HAS(TYPE, pointer, member) \
    ((pointer)->size >= offsetof(TYPE, member) + sizeof(((const TYPE *)0)->member) ? 1 : 0)

/* ----------------------------------------------------------------------------------------------------- failing -- */

/** Reports a failure in words: "a map key may not be a list". @param at byte offset or REC_UNKNOWN. @return status. */
REC_API int32_t rec_fail(rec_job *job, int32_t status, uint64_t at, const char *format, ...) REC_PRINTF(4, 5);
/** Reports "expected …, found …". @param expected fixed text. @param found format of what was found; where the input
 * ends too early, it ends in "the end of the file", by which core tells a file that was cut short. @return status. */
REC_API int32_t rec_fail_found(rec_job *job, int32_t status, uint64_t at, const char *expected, const char *found, ...)
    REC_PRINTF(5, 6);
/** Adds what to do to the failure that this job has just reported. Does nothing without one. */
REC_API void rec_fail_hint(rec_job *job, const char *format, ...) REC_PRINTF(2, 3);
/** Says that the failure that this job has just reported is about `source`, one of rec_source_beside(), and not about
 *  the file that is loaded. Does nothing without one, or where it is known already: the first call counts, and what
 *  sources report by themselves names the right file. */
REC_API void rec_fail_source(rec_job *job, const rec_source *source);
/** Makes a note for the report. @param kind REC_NOTE_… @param path place in the record, NULL: where the events are. */
REC_API void rec_job_note(rec_job *job, int32_t kind, const char *path, const char *format, ...) REC_PRINTF(4, 5);

/* ------------------------------------------------------------------------------------------------ job services -- */

/** Memory that counts against the job's limit and is to be freed by the plugin before its function returns; what is
 *  left is freed with the job. Aligned to 16. NULL: the failure is reported. */
REC_API void *rec_job_alloc(rec_job *job, uint64_t size);
/** As realloc for memory of `rec_job_alloc` or NULL; `old` stays valid if NULL is returned. */
REC_API void *rec_job_resize(rec_job *job, void *old, uint64_t size);
/** Frees it. NULL is ignored. */
REC_API void rec_job_free(rec_job *job, void *memory);

/** Value of an option, as checked by core: from the recorder, else the default. Unknown names give 0 and "". A BOOL is
 *  read as an int (0 or 1), a CHOICE as text. `map`, `data`, `sync`, `check`, `clamp`, `modules`, `layout` and the load
 *  arguments (docs/reference/rules.md) are core's own and may not be used. */
REC_API int64_t rec_job_option_int(const rec_job *job, const char *name);
REC_API double rec_job_option_float(const rec_job *job, const char *name);
REC_API const char *rec_job_option_text(const rec_job *job, const char *name);

/** To be called every few MiB of work between reads and writes (sources and sinks call it themselves).
 *  @return REC_OK or REC_E_CANCELLED. */
REC_API int32_t rec_job_progress(rec_job *job, uint64_t done, uint64_t total);
/** @return how deep containers may be nested, Burn's own levels (record, item, param) included; core refuses deeper
 *  trees in both directions, so a reader or writer may keep a stack of this size. */
REC_API uint32_t rec_job_depth_limit(const rec_job *job);
/** How many threads the job may use, the caller's included: rec_context_set_threads. A plugin may start that many less
 *  one, with all signals blocked. They call no function of librecord, and have ended before the function that started
 * them returns; those of a source or sink filter before its `release` does. One that cannot be started is no failure:
 * the work is done by fewer. The result must not depend on their number. @return 1 at least. */
REC_API uint32_t rec_job_threads(const rec_job *job);
/** @return 1 if the load wants no data of tensors, but all else, as a listing does: their blobs are not looked at, so
 * that a REC_BLOB_RANGE is enough, also of a source whose size is not known, and a reader that has the header need not
 * read on. Else 0. */
REC_API int32_t rec_job_skips_data(const rec_job *job);
/**
 * Refuses a count that the rest of the input cannot hold, before anything is allocated for it.
 * @param count elements announced. @param each bytes that one element takes at least (0: the limit for elements
 * without bytes counts). @param left bytes left of the input; REC_UNKNOWN (a stream) passes.
 */
REC_API int32_t rec_job_check_count(rec_job *job, uint64_t at, uint64_t count, uint64_t each, uint64_t left);
/** Refuses what would inflate to more than the limits allow for a file of its size. For sources of rec_source_make()
 * that inflate: rec_source_filter() sees to it by itself. @param stored bytes of the file. @param inflated of all that
 * it inflates to, as it says. */
REC_API int32_t rec_job_check_inflated(rec_job *job, uint64_t stored, uint64_t inflated);

/**
 * The layout that the caller's type gives the record.
 * While loading, the first call gives a struct whose only field is `metadata`, with or without a type; once the events
 * of `metadata` were delivered, a second call gives the whole: `metadata`, `item` and, where that version has it, `_b`.
 * Pass REC_UNKNOWN as the count of that outermost struct. While saving there is no need to ask: the walk follows the
 * type by itself. V1 tensors at half precision appear as lists of 16-bit unsigned numbers, as they are stored.
 * @param layout (out) NULL if no type was given; lives as long as the job.
 */
REC_API int32_t rec_job_layout(rec_job *job, const rec_layout **layout);
/** The layout of a type expression in the version of the record, "Param<Tensor<B, 2>>"; after `metadata`. */
REC_API int32_t rec_job_layout_of(rec_job *job, const char *expression, const rec_layout **layout);
/**
 * The type that a save follows as text of librecord's own, for files that carry their type with them.
 * @param text (out) NUL-terminated, lives as long as the job; NULL if there is no type.
 */
REC_API int32_t rec_job_layout_text(rec_job *job, const char **text);
/** The reverse, before `metadata` is delivered: rec_job_layout() then answers as if the caller had given that type. A
 *  type that the caller did give wins. */
REC_API int32_t rec_job_use_layout_text(rec_job *job, const char *text, uint64_t length);
/** @return the version of Burn, 0.N, whose layout counts: of a save the one that is written, of a load the one that the
 *  metadata so far tell, or the last one with recorders. */
REC_API int32_t rec_job_burn(const rec_job *job);
/** Writes where the events are, "layers.0.weight", into `path`, NUL-terminated and cut to `room`. In a name a dot is
 *  written `\.` and a backslash `\\`; a name may be empty. A NUL in a name is a `?` here, and itself in `key`. @return
 * its whole length, without the NUL. */
REC_API uint64_t rec_job_path(rec_job *job, char *path, uint64_t room);
/** The path of a name that another framework's file has, in which every dot separates and nothing is escaped: its
 *  backslashes are escaped, so that REC_FORM_PATHS gives them back. @param path (out) NUL-terminated, cut to `room`.
 *  @return its whole length, without the NUL; at most twice `length`. */
REC_API uint64_t rec_path_escape(const char *name, uint64_t length, char *path, uint64_t room);
/** The reverse, for writers of such files: nothing is escaped any more. Two paths may become one name (`a\.b`, `a.b`):
 *  refuse that. @param name (out) NUL-terminated, cut to `room`. @return its whole length, without the NUL. */
REC_API uint64_t rec_path_unescape(const char *path, uint64_t length, char *name, uint64_t room);
/** Says how the modules in the file that is read are laid out, where that is another way than the descriptor says:
 *  what counts for a map of REC_FORM_PATHS, unless the user says it (`adapter`). Before the first value.
 *  @param adapter REC_ADAPTER_… */
REC_API int32_t rec_job_set_adapter(rec_job *job, int32_t adapter);
/** @return REC_ADAPTER_…: how the modules are laid out, of a load in its file as far as that is known, of a save in the
 *  record: REC_ADAPTER_NONE in one of Burn, another in a foreign model that is saved as it is. What a writer marks its
 *  file with. */
REC_API int32_t rec_job_adapter(const rec_job *job);

/** Room for the id of a parameter as Burn has it since 0.15, with its NUL. */
#define REC_ID_ROOM 16
/** An id as text, of the number it is since 0.15. @param text room for REC_ID_ROOM. @return text. */
REC_API const char *rec_id_text(uint64_t number, char *text);
/** The reverse. @param number (out). @return 1, or 0: that id is none of Burn 0.15 or later. */
REC_API int32_t rec_id_number(const char *id, uint64_t *number);
/** @return 1 if a field has this name in Rust's source only with r# in front of it, else 0. */
REC_API int32_t rec_is_rust_word(const char *name, uint64_t length);

/** What a layout node is. */
enum {
    REC_LAYOUT_UNIT = 1, /**< no data */
    REC_LAYOUT_BOOL = 2,
    REC_LAYOUT_INT = 3, /**< signed, `bits` wide */
    REC_LAYOUT_UINT = 4,
    REC_LAYOUT_FLOAT = 5, /**< 32 or 64 bits */
    REC_LAYOUT_STRING = 6,
    REC_LAYOUT_BYTES = 7,
    REC_LAYOUT_LIST = 8,    /**< counted in the data; child 0 is the element */
    REC_LAYOUT_ARRAY = 9,   /**< `count` elements of child 0 */
    REC_LAYOUT_TUPLE = 10,  /**< `count` children */
    REC_LAYOUT_STRUCT = 11, /**< `count` named children */
    REC_LAYOUT_MAP = 12,    /**< counted in the data; child 0 is the key, 1 the value */
    REC_LAYOUT_OPTION = 13, /**< child 0 if present; NULL where it is always absent (a constant field of a module) */
    REC_LAYOUT_ENUM = 14,   /**< `count` variants; index and name as on the wire; child: the payload, NULL for none */
    REC_LAYOUT_TENSOR = 15, /**< for formats that speak tensors; others see its parts as structs */
    REC_LAYOUT_ID = 16      /**< a parameter id: a string of 1 to 64 letters, digits and dashes */
};
/** @return REC_LAYOUT_…; 0 for NULL. */
REC_API int32_t rec_layout_kind(const rec_layout *layout);
/** @return the width of a number in bits (64 for usize). */
REC_API uint32_t rec_layout_bits(const rec_layout *layout);
/** @return children of a struct, tuple or enum, elements of an array, rank of a tensor. */
REC_API uint64_t rec_layout_count(const rec_layout *layout);
/** @return the name of field or variant `index`; "" if it has none. Borrowed. */
REC_API const char *rec_layout_name(const rec_layout *layout, uint64_t index);
/** @return child `index`, NULL if there is none; never fails. Borrowed; lives as long as the job. */
REC_API const rec_layout *rec_layout_child(const rec_layout *layout, uint64_t index);

/* ----------------------------------------------------------------------------------------------------- sources -- */

/** @return what messages call it: the file's name. */
REC_API const char *rec_source_name(const rec_source *source);
/** @return its size in bytes, REC_UNKNOWN for a stream. */
REC_API uint64_t rec_source_size(const rec_source *source);
/** The whole source as one piece: a map or memory as it is, anything else is read to its end first (its size is known
 *  then). Does not move the reading position. @param data,size (out) borrowed; valid as long as the source lives. */
REC_API int32_t rec_source_view(rec_job *job, rec_source *source, const void **data, uint64_t *size);
/** The next bytes. @param got (out) how many, 0 at the end only. */
REC_API int32_t rec_source_read(rec_job *job, rec_source *source, void *target, uint64_t room, uint64_t *got);
/** Begins again at the first byte. */
REC_API int32_t rec_source_rewind(rec_job *job, rec_source *source);
/** Bytes from a place (the tail, say) without moving the reading position; fewer than asked for is a failure. A stream
 *  is read to its end first. */
REC_API int32_t rec_source_read_at(rec_job *job, rec_source *source, uint64_t offset, void *target, uint64_t size);

/** Bytes of a place that can be had without reading or copying: those of memory, of a file that may be mapped, of a
 *  source that somebody has viewed already. For readers that would rather read through a window of their own
 *  (rec_source_read) than have core copy the whole. @param data (out) borrowed, valid as long as the source lives; NULL
 *  with REC_OK: they cannot be had so. REC_E_FORMAT where a source of known size ends before. */
REC_API int32_t rec_source_at_hand(rec_job *job, rec_source *source, uint64_t offset, uint64_t size, const void **data);

/** Another file in the folder of this one (or in this folder), for models in several files. @param name a plain file
 * name: one with a `/`, or `..`, is refused, so that no input reaches out of its folder. Symbolic links are followed.
 *  @param out counted, to be given back with rec_source_release(). Sources that are no files have none beside them, but
 *  for those of rec_source_make() that say how. */
REC_API int32_t rec_source_beside(rec_job *job, rec_source *source, const char *name, rec_source **out);
/** The same for a file that need not be there. @param out (out) NULL with REC_OK: it is not, or this source has no
 * files beside it. A file that is there and cannot be read is a failure. */
REC_API int32_t rec_source_beside_maybe(rec_job *job, rec_source *source, const char *name, rec_source **out);
/** A part of a source as a source, a member of an archive say: its first byte is at `offset`, it ends after `size`
 * bytes, and it is read by rec_source_read_at() of `source` or lies in its view. Offsets in messages count from the
 * part's beginning. @param out counted; it keeps `source` alive. REC_E_FORMAT where `source` ends before. */
REC_API int32_t rec_source_part(rec_job *job, rec_source *source, uint64_t offset, uint64_t size, rec_source **out);
/** The names of the files in a source that is a folder, sorted; see REC_TRAIT_FOLDER. @param names (out) NULL for a
 *  source that is no folder; lives as long as the source. */
REC_API int32_t rec_source_names(rec_job *job, rec_source *source, const char *const **names, uint64_t *count);

/** A source of the plugin's own: made from another one (decompression, decryption: rec_source_filter), or from what it
 *  knows how to reach (rec_source_make). The job may be another one than that which made the source: keep nothing of
 * it. Options are asked for in `open`, `decode` and `load` only: in `read_at` and `beside` they are not the plugin's.
 */
typedef struct rec_source_ops {
    uint32_t size;     /**< sizeof(rec_source_ops) */
    uint32_t reserved; /**< 0 */
    /** As rec_source_read. Of a filter: must check the whole of its input by the time it reports the end. */
    int32_t (*read)(void *self, rec_job *job, void *target, uint64_t room, uint64_t *got);
    /** Begins again. Of a filter alone. */
    int32_t (*rewind)(void *self, rec_job *job);
    /** @return the size it will have if that is known without reading it, else REC_UNKNOWN; a hint, it may lie. Of a
     * filter alone. */
    uint64_t (*size_hint)(void *self);
    /** Frees `self`, which outlives the job and so comes from malloc. May be called on any thread. */
    void (*release)(void *self);
    /* From 0.2 on, of rec_source_make() alone. */
    /** All of `size` bytes at `offset`, which lie within `total`. Never called by two threads at once, perhaps long
     * after the job has ended: a tensor's bytes are read when they are asked for. What it gives for a place must not
     * change. */
    int32_t (*read_at)(void *self, rec_job *job, uint64_t offset, void *target, uint64_t size);
    /** @return its exact size, REC_UNKNOWN if only who reads it to its end knows. Asked once. */
    uint64_t (*total)(void *self);
    /** What is beside it under a plain file name, made with rec_source_make(). @param optional 1: that it is not there
     * is REC_OK with `*out` NULL. @param out counted. NULL: nothing is beside it. */
    int32_t (*beside)(void *self, rec_job *job, const char *name, int32_t optional, rec_source **out);
} rec_source_ops;
/** Wraps a source. All filters of a job together give at most what its files may inflate to (rec_limits). @param out
 *  counted, to be given back with rec_source_release(). `self` is taken, also on failure, unless `ops` is NULL or its
 * size is none. */
REC_API int32_t rec_source_filter(rec_job *job, rec_source *parent, const rec_source_ops *ops, void *self,
                                  rec_source **out);
/** A source of bytes that only the plugin can reach: over a network, in an archive, made up. With `read_at` and a known
 *  `total` it is read at any place, and no more of it than is asked for; else `read` is needed, and it is read to its
 * end now; what has more bytes than `total` said is an error. @param name what messages call it, copied. @param out
 * counted. `self` is taken, also on failure, unless `ops` is NULL or its size is none. */
REC_API int32_t rec_source_make(rec_job *job, const char *name, const rec_source_ops *ops, void *self,
                                rec_source **out);
/** Takes one more count. @return `source`. */
REC_API rec_source *rec_source_retain(rec_source *source);
/** Gives one count back. NULL is ignored. */
REC_API void rec_source_release(rec_source *source);

/* ------------------------------------------------------------------------------------------------------- blobs -- */

/** How a blob gives its bytes. */
enum {
    REC_BLOB_VIEW =
        1, /**< at `data`, in the view of `source`, for as long as that lives; or (to a writer) for the call */
    REC_BLOB_TEMPORARY = 2, /**< at `data`, during this call only */
    REC_BLOB_RANGE = 3,     /**< `size` bytes at `offset` of `source`, not read yet */
    REC_BLOB_STREAM = 4     /**< by `read`, in order, during this call only */
};

/** Bytes that are somewhere: a tensor's data, a byte string. The receiver may take, skip or (VIEW, RANGE) keep it; it
 *  takes a count of `source` by itself. Writers hand blobs to rec_sink_put() or read them with rec_blob_read(). Its
 * layout is frozen. */
typedef struct rec_blob {
    uint32_t struct_size; /**< sizeof(rec_blob) */
    int32_t kind;         /**< REC_BLOB_… */
    uint64_t size;        /**< bytes */
    const void *data;     /**< VIEW, TEMPORARY */
    rec_source *source;   /**< VIEW, RANGE: what it lies in */
    uint64_t offset;      /**< RANGE; VIEW: place in the source for messages and listings, or REC_UNKNOWN */
    /** STREAM: the next `size` bytes into `target`; fails rather than giving fewer. */
    int32_t (*read)(void *user, void *target, uint64_t size);
    void *user;
} rec_blob;

/** The next bytes of any blob, from `offset` on; a STREAM must be read in order. For writers that need the bytes. */
REC_API int32_t rec_blob_read(rec_job *job, const rec_blob *blob, uint64_t offset, void *target, uint64_t size);

/* ----------------------------------------------------------------------------------------------------- visitor -- */

/** A tensor in one event, for formats that know what a tensor is. */
typedef struct rec_tensor_event {
    uint32_t size;   /**< sizeof(rec_tensor_event) */
    rec_dtype dtype; /**< REC_DTYPE_OPAQUE with dtype_name for what the library does not know */
    uint32_t rank;
    uint32_t reserved;      /**< 0 */
    const uint64_t *shape;  /**< `rank` dimensions, outermost first */
    const char *id;         /**< parameter id, NUL-terminated, or NULL */
    const char *dtype_name; /**< the name in the format's own words, NUL-terminated, or NULL. What has more to it than a
                                 name, as REC_DTYPE_QFLOAT always has: Burn's words as JSON, {"QFloat":{…}}, in which a
                                 float of 32 bits ends in f. A writer keeps them, a reader gives them back */
    rec_blob data;          /**< little-endian elements, row-major */
    /* From 0.2 on. */
    /** What the elements are as numbers, where `data` are blocks or codes that the library cannot compute with: as many
     * of this type, in `numbers`, a VIEW or RANGE, so that they are made when somebody asks for them (rec_source_make).
     * They take the place of `data` wherever a precision is asked for, and in typed access. REC_DTYPE_NONE: there are
     * none. Of readers alone. */
    rec_dtype numbers_dtype;
    uint32_t reserved_numbers; /**< 0 */
    rec_blob numbers;
} rec_tensor_event;

/**
 * The events of a data tree. A reader calls them in this order: `metadata` for each entry (or `metadata_value`, and the
 * events of that entry's value), then exactly one value.
 * A value is a `scalar`, `bytes`, a `tensor`, or a container that is closed by `end`:
 * - `list_begin`, then values, of which any run of numbers or bools may come as `numbers`;
 * - `map_begin`, then `key` and a value for each entry;
 * - `variant_begin`, then the payload if it has one.
 * `option` announces: present, then the value follows; absent, and that was the value. `variant_begin` is closed by
 * `end` with or without payload. Core checks this grammar: a reader that breaks it fails with REC_E_PLUGIN.
 *
 * Writing, core always knows the counts, and where the recorder has a type the walk follows it: options are announced,
 * numbers have their width, lists and maps their form, variants their index, fields the order of the type. Reading, the
 * dtype of `numbers` tells how a chunk is held, not the field's type; the chunks of a list may differ in it, and a
 * `null` in a list of floats comes as a nil scalar.
 *
 * A format whose traits lack REC_TRAIT_TENSORS never sees `metadata` and `tensor`: reading, it reports the file's own
 * maps, and core recognises Burn's layout in them; writing, core writes out that layout as structs. With that trait the
 * value after `metadata` is the record's item.
 *
 * What a writer leaves NULL, core replaces: `numbers` by scalars, `bytes` by numbers of u8, `variant_begin` by a map of
 * one entry or, without payload, a string; `option` by nil or nothing. `metadata` and `tensor` are needed with
 * REC_TRAIT_TENSORS, the rest always.
 */
typedef struct rec_visitor {
    uint32_t size;     /**< sizeof(rec_visitor) */
    uint32_t reserved; /**< 0 */
    /** @param key,value strings. */
    int32_t (*metadata)(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value);
    int32_t (*scalar)(void *self, uint64_t at, const rec_scalar *scalar);
    /** Part of a list: `count` elements of `dtype` at `data`, host byte order, any alignment, valid for the call. */
    int32_t (*numbers)(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count);
    int32_t (*bytes)(void *self, uint64_t at, const rec_blob *blob);
    /** @param form REC_FORM_LIST, _ARRAY, _TUPLE or _UNKNOWN. @param count elements, REC_UNKNOWN if not known yet. */
    int32_t (*list_begin)(void *self, uint64_t at, int32_t form, uint64_t count);
    /** @param form REC_FORM_STRUCT, _MAP or _UNKNOWN; of the outermost value of a format with REC_TRAIT_TENSORS also
     * _PATHS: its keys are strings, paths as rec_job_path() writes them, which core takes apart (a backslash before
     * anything but a dot or another one stands for itself). In a file of REC_ADAPTER_NONE no key may be below one that
     * has a value. @param count entries, REC_UNKNOWN if not known yet. */
    int32_t (*map_begin)(void *self, uint64_t at, int32_t form, uint64_t count);
    /** A key is a string, bool or integer. */
    int32_t (*key)(void *self, uint64_t at, const rec_scalar *key);
    /** @param index REC_UNKNOWN if the format has names only. @param name a string. @param payload 1 if one follows. */
    int32_t (*variant_begin)(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload);
    int32_t (*end)(void *self, uint64_t at);
    int32_t (*option)(void *self, uint64_t at, int32_t present);
    int32_t (*tensor)(void *self, uint64_t at, const rec_tensor_event *tensor);
    /* From 0.2 on. */
    /** Announces an entry of the metadata that is no text: the events that follow, of one value without tensors, are
     * its. A writer without it gets numbers, bools and nil as texts by `metadata`, and the rest is left out; both are
     * told. A reader that also runs under 0.1 asks REC_HAS(rec_visitor, visitor, metadata_value) first. */
    int32_t (*metadata_value)(void *self, uint64_t at, const rec_scalar *key);
} rec_visitor;

/* ------------------------------------------------------------------------------------------------------- sinks -- */

/** Writes bytes that may be gone after the call (they are copied or written). */
REC_API int32_t rec_sink_write(rec_sink *sink, const void *data, uint64_t size);
/** Writes a blob: its bytes are passed through without a copy where the sink can. */
REC_API int32_t rec_sink_put(rec_sink *sink, const rec_blob *blob);
/** @return bytes written so far. */
REC_API uint64_t rec_sink_tell(const rec_sink *sink);
/** @return 1 if rec_sink_patch() works: files, memory, a rec_output with `patch`, and sinks that count for them. 0: a
 * stream, or a filter. */
REC_API int32_t rec_sink_can_patch(const rec_sink *sink);
/** @return 1 if anything becomes of the next `size` bytes; 0: they are only counted, so that those of a blob need not
 * be made: a sink of rec_sink_layout(), and what a save of a part (rec_window) leaves to others. Since 0.2. */
REC_API int32_t rec_sink_wants(const rec_sink *sink, uint64_t size);
/** Writes over bytes that were written already: a size or an offset that shows only afterwards. What rec_sink_tell()
 *  says stays. Seldom: it waits until all that was written is with the system. REC_E_UNSUPPORTED where it cannot. */
REC_API int32_t rec_sink_patch(rec_sink *sink, uint64_t offset, const void *data, uint64_t size);
/** A sink that only counts: blobs are neither read nor converted. For formats that need sizes and offsets first: walk
 *  over it, then walk again. NULL with the failure reported. To be closed with rec_sink_close(). */
REC_API rec_sink *rec_sink_layout(rec_job *job);

/** The file's own name, "model.safetensors"; "" for a sink that is no file. */
REC_API const char *rec_sink_name(const rec_sink *sink);
/** Another file beside the one that is saved, for models in several files: whole or not at all like it, and in place
 *  before it. @param name a plain file name, that no other file of this save has. @param out core's, which finishes it
 *  together with the first. It may be closed with rec_sink_close() when all of it is written: it keeps neither memory
 *  nor a descriptor then, and gets its name at the end as well; nothing but rec_sink_tell() may be called with it.
 *  Beside a sink of rec_sink_layout() there are others that count. REC_E_UNSUPPORTED for sinks that are no files. */
REC_API int32_t rec_sink_beside(rec_job *job, rec_sink *sink, const char *name, rec_sink **out);
/** The same for a model whose index names its files: a set, that takes the place of an older one as a whole. Call
 *  rec_sink_rename() first if the index has another name than the sink. The file is called STEM-TAIL
 *  ("model", "00001-of-00003.safetensors") if nothing of such a set is there yet, and else STEM-LETTERS-TAIL, with six
 *  letters that are the save's own: ask rec_sink_name() which, and write that into the index, as plain text with other
 *  characters than letters, digits, `-`, `_` and `.` around it. All files have their names before the index takes the
 *  old one's place; then those that the old index named are removed, if they are called as those of this set are. All
 *  of one save have one STEM, and TAILs that differ in digits alone. Since 0.2. */
REC_API int32_t rec_sink_part(rec_job *job, rec_sink *sink, const char *stem, const char *tail, rec_sink **out);
/** Gives the file that is saved another name in its folder (an index beside its parts). Before the first byte and
 *  before the first file beside it. */
REC_API int32_t rec_sink_rename(rec_job *job, rec_sink *sink, const char *name);

/** A sink in front of another one: compression, encryption. */
typedef struct rec_sink_ops {
    uint32_t size;     /**< sizeof(rec_sink_ops) */
    uint32_t reserved; /**< 0 */
    int32_t (*write)(void *self, rec_sink *target, const void *data, uint64_t size);
    /** Writes what is left (trailers too). Not called after a failure. */
    int32_t (*finish)(void *self, rec_sink *target);
    void (*release)(void *self);
} rec_sink_ops;
/** Wraps a sink. NULL with the failure reported. `self` is taken, also on failure, unless `ops` is NULL or its size is
 * none. */
REC_API rec_sink *rec_sink_filter(rec_job *job, rec_sink *target, const rec_sink_ops *ops, void *self);
/** Finishes and frees a sink of rec_sink_layout() or rec_sink_filter(); `finish` is called unless the job has failed.
 *  The sink given to `save` is core's to close; one of rec_sink_beside() may be closed. NULL is ignored. @return the
 *  first failure. */
REC_API int32_t rec_sink_close(rec_sink *sink);

/** Walks the record that is saved: calls the events on the writer's visitor. May be called any number of times; each
 *  walk gives the same events. */
REC_API int32_t rec_job_walk(rec_job *job, const rec_visitor *visitor, void *self);

/* -------------------------------------------------------------------------------------------------- descriptor -- */

/** What a format is like. A trait of the low 32 bits that a librecord does not know makes it refuse the plugin; one of
 * the high 32 bits is passed over. */
enum {
    REC_TRAIT_TENSORS = 1,    /**< its events are `metadata` and `tensor`, not Burn's maps */
    REC_TRAIT_NEEDS_TYPE = 2, /**< cannot be read without a type */
    REC_TRAIT_EXACT_SIZE = 4, /**< a walk over a layout sink gives the size of the file (not: compressed) */
    REC_TRAIT_FOLDER = 8,     /**< also reads folders: probe and load may be given one */
    REC_TRAIT_NO_NAMES =
        16,              /**< its data carry no names: a recorder's type is that of the file, whatever becomes of it */
    REC_TRAIT_TAIL = 32, /**< its probe looks at the end of the file: rec_head has its `tail` then */
    REC_TRAIT_PLAIN = 128, /**< with REC_TRAIT_EXACT_SIZE: stores tensors as plain bytes, and no other byte of the file
                                depends on them (no checksums): several processes may write it together. Since 0.2 */
    REC_TRAIT_PATHS = 64 /**< with REC_TRAIT_TENSORS: flat. What it saves is one map of REC_FORM_PATHS whose values are
                              tensors and numbers; core takes every record apart to that, its count is not known
                              before its end. What it loads may be one, too, and the states of Burn's optimizers and
                              schedulers are told by their keys */
};

/** How the modules in a map of REC_FORM_PATHS are laid out, and so the default of the load argument `adapter`: of all
 *  files of a format, or of one (rec_job_set_adapter()). Other values are records of Burn in any case. */
enum {
    /** as Burn does: paths are only how names are written, and it is a record of Burn */
    REC_ADAPTER_NONE = 0,
    /** as PyTorch does, a foreign model: it is adapted on its way to a record of Burn, and the gaps of its lists are
     *  closed. Of a descriptor also: between such files nothing is adapted */
    REC_ADAPTER_PYTORCH = 1,
    /** a foreign model in one or the other: core decides by its names and shapes, or asks the user. For files that
     *  Burn's own stores wrote, which do not say */
    REC_ADAPTER_EITHER = 2
};

/** The first bytes of a file that is to be recognised. */
typedef struct rec_head {
    uint32_t size;            /**< sizeof(rec_head) */
    uint32_t reserved;        /**< 0 */
    const uint8_t *data;      /**< its first bytes, at most 64 KiB */
    uint64_t length;          /**< how many */
    uint64_t total;           /**< size of the file, REC_UNKNOWN for a stream */
    const char *name;         /**< the file's or folder's own name, without the path; "" if it has none */
    const char *const *names; /**< of a folder (REC_TRAIT_FOLDER): its files, sorted; NULL of all else */
    uint64_t name_count;
    const uint8_t *tail;  /**< its last bytes, at most 64 KiB; NULL if nobody asked (REC_TRAIT_TAIL), or of a stream */
    uint64_t tail_length; /**< how many */
} rec_head;

/** Bytes that every file of a format has at a fixed place: what core looks at before it asks `probe`. */
typedef struct rec_magic {
    uint32_t size;        /**< sizeof(rec_magic) */
    uint32_t length;      /**< of the bytes, 1 to 16 */
    int64_t offset;       /**< from the first byte; negative: from the end of the file */
    const uint8_t *bytes; /**< what stands there */
    const uint8_t *mask;  /**< the bits of them that count, as many bytes; NULL: all */
} rec_magic;

/** A plugin. `static const`, with designated initialisers; a NULL function says that it cannot do that. What is for
 * other kinds of plugin than its own is NULL or 0, or it is refused. */
typedef struct rec_plugin {
    uint32_t abi;                     /**< REC_PLUGIN_ABI */
    uint32_t size;                    /**< sizeof(rec_plugin) */
    const char *name;                 /**< "NamedMpk" */
    const char *const *aliases;       /**< further names, NULL-terminated, or NULL */
    const char *extension;            /**< "mpk.gz", without the first dot; NULL: memory only */
    const char *description;          /**< one line */
    const char *burn_name;            /**< path of Burn's recorder type for metadata `format`, or NULL */
    uint64_t traits;                  /**< REC_TRAIT_… */
    const rec_option *const *options; /**< NULL-terminated, or NULL */
    /** FORMAT, CODEC: @return how sure it is that the file is its own, in bits that agreed; 0: it is not. What counts
     * is at most 32 more than the bits of the magic that was found, 32 without `magic`. Must not fail. */
    int32_t (*probe)(const rec_head *head);
    /** Reads the source to its end and tells the visitor. Called a second time, from the beginning, where a file's
     *  `item` came before its `metadata`. */
    int32_t (*load)(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);
    /** Walks the record (rec_job_walk) and writes it. */
    int32_t (*save)(rec_job *job, rec_sink *sink);
    int32_t adapter;  /**< REC_ADAPTER_… */
    int32_t reserved; /**< 0 */
    /* From 0.2 on. */
    int32_t kind;                  /**< REC_PLUGIN_…, of librecord.h */
    int32_t reserved_kind;         /**< 0 */
    const char *const *extensions; /**< those that are recognised beside `extension`, NULL-terminated, or NULL */
    const rec_magic *const *magic; /**< a file without one of these is none of its own, and `probe` is not asked;
                                        NULL-terminated, or NULL: any file might be */
    const char *version;           /**< of the plugin itself, one line, or NULL */
    const char *license;           /**< SPDX expression, or NULL */
    /** CODEC: what a source decodes to, made with rec_source_filter(). Options are asked for here: later calls of the
     * filter may be in another job. A beginning is decoded to recognise a file, so the end need not be there. @param
     * out counted. */
    int32_t (*decode)(rec_job *job, rec_source *stored, rec_source **out);
    /** CODEC: a sink in front of `target`, made with rec_sink_filter(); core closes it. Options as above. */
    int32_t (*encode)(rec_job *job, rec_sink *target, rec_sink **out);
    const char *format;         /**< STACK: the name of the format */
    const char *codec;          /**< STACK: the name of the codec */
    const char *const *presets; /**< STACK: options of theirs that have another default in it, "name=value",
                                     NULL-terminated, or NULL */
    const char *const *schemes; /**< SOURCE: those it opens, "https", NULL-terminated */
    /** SOURCE: opens "https://host/name", made with rec_source_make(). @param out counted. */
    int32_t (*open)(rec_job *job, const char *location, rec_source **out);
    /* FORMAT: versions of Burn are numbers, 0.N as N; 1.0 would be 1000. */
    int32_t burn_first;    /**< the first one that has this format; 0, and the others too: with `burn_name` a format
                                of the versions that have recorders, 0.7 to 0.21, without it nobody's of Burn, which
                                is written for every version */
    int32_t burn_last;     /**< the last one that has it; 0: every later one */
    int32_t burn_default;  /**< the one it is written for unless the caller names another; 0: the newest of them
                                that the library knows */
    int32_t reserved_burn; /**< 0 */
} rec_plugin;

/**
 * Exports the plugins of a shared object. `module` is the file's name without `.so`, with each character that C does
 * not allow in a name replaced by `_`: mpk-gz.so has REC_PLUGINS(mpk_gz, &one, &two). The table is exported a second
 * time under a name that is the same in every file, by which a file is found that was given another name; it is weak,
 * so that several plugins can be linked into one program.
 */
#define REC_PLUGINS(module, ...)                                                      \
    extern REC_API const rec_plugin *const module##_LTX_librecord_plugins[];          \
    const rec_plugin *const module##_LTX_librecord_plugins[] = {__VA_ARGS__, NULL};   \
    extern REC_API __attribute__((weak)) const rec_plugin *const librecord_plugins[]; \
    const rec_plugin *const librecord_plugins[] = {__VA_ARGS__, NULL}

/**
 * Gives a context a plugin of the program's own, in front of all others; the last one that was given comes first.
 * @param plugin checked like a file's; it, and what it points to, must outlive the context and everything made from it;
 * best static. @return REC_E_PLUGIN with the reason if it is refused, also where one that was given before has one of
 * its names.
 */
REC_API rec_status rec_context_add_plugin(rec_context *context, const rec_plugin *plugin);

#ifdef __cplusplus
}
#endif
#endif
