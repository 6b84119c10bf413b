/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord: save, load, convert and inspect model records. What most applications need; includes the rest. */

/**
 * @file librecord.h
 *
 * A *record* is the saved state of a model: a tree of named values whose leaves are tensors and scalars. A *recorder*
 * reads and writes records in one format (a plugin) at one precision.
 *
 * The end of this header includes the others for applications:
 * - librecord/bind.h: C structs as types, filled from records; librecord/types.h: types by name, from Rust source
 * - librecord/plan.h: plans of conversions, profiles, model families
 * - librecord/io.h: custom input and output, mapped files that may shrink
 * - librecord/registry.h: the plugins that are there, and where they and librecord's data are found
 * - librecord/bindings.h: whole tables, and values without structs, for bindings of other languages
 *
 * Conventions
 * - A function that can fail returns a `rec_status` (`REC_OK` is 0) or a pointer that is NULL on failure. Errors are
 *   stored in the calling thread's last error (`rec_error_message()` and related functions), warnings in its last
 *   report (`rec_report_count()`).
 * - Strings are UTF-8 and NUL-terminated. Returned `const` pointers are borrowed; the comment names the owner.
 *   Functions copy their arguments unless the comment says that they keep or take one.
 * - NULL may be passed to functions that free, and where a comment gives its meaning. Otherwise a function that can
 *   fail returns REC_E_ARGUMENT (or NULL, or 0), and a getter returns a neutral value: 0, NULL, "", REC_KIND_NIL,
 *   REC_UNKNOWN, an empty shape or origin. An error that is already set is kept; otherwise the error names the NULL
 *   argument. Calls can be chained and checked once at the end.
 * - Threads may share contexts and recorders that are set up. Several threads may read one record (including typed
 *   tensor access); editing or freeing it needs exclusive access.
 * - Shapes are row-major, outermost dimension first. Tensor data are little-endian where they are stored, and in host
 *   byte order where they are returned as typed numbers.
 */
#ifndef LIBRECORD_H
#define LIBRECORD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define REC_API __attribute__((visibility("default")))
#define REC_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define REC_API
#define REC_PRINTF(text, first)
#endif

/* ---------------------------------------------------------------------------------------------------- version -- */

#define REC_VERSION_MAJOR 0
#define REC_VERSION_MINOR 9
#define REC_VERSION_PATCH 0
/** The version as one number that can be compared: 0.9.0 is 900. */
#define REC_VERSION_NUMBER (REC_VERSION_MAJOR * 10000 + REC_VERSION_MINOR * 100 + REC_VERSION_PATCH)

/** @return the version of the running library, in the form of `REC_VERSION_NUMBER`. */
REC_API uint32_t rec_version(void);
/** @return the same as text, "0.9.0"; static. */
REC_API const char *rec_version_string(void);

/* ---------------------------------------------------------------------------------------------- status, errors -- */

/** The result of a function that can fail. Values never change; new ones may be added. */
typedef int32_t rec_status;
enum {
    REC_OK = 0,
    REC_E_ARGUMENT = 1,    /**< an invalid argument */
    REC_E_MEMORY = 2,      /**< an allocation failed */
    REC_E_IO = 3,          /**< the system failed to open, read, write, sync or rename */
    REC_E_FORMAT = 4,      /**< the input is invalid in its format */
    REC_E_UNSUPPORTED = 5, /**< valid, but this library or recorder does not support it */
    REC_E_NOT_FOUND = 6,   /**< no such recorder, key, section or file */
    REC_E_MISMATCH = 7,    /**< a record does not match the type it is bound to */
    REC_E_RANGE = 8,       /**< a number is out of range of its new type */
    REC_E_LIMIT = 9,       /**< a limit of `rec_limits` was exceeded */
    REC_E_PLUGIN = 10,     /**< a plugin is unusable or violated its contract */
    REC_E_CONFIG = 11,     /**< an error in the configuration, with file and line */
    REC_E_CANCELLED = 12,  /**< the progress callback requested to stop */
    REC_E_TYPE = 13,       /**< needs a type: rec_recorder_set_type() or rec_recorder_set_type_name() */
    REC_E_SYNC = 14 /**< of a save: the new file is complete and in place, but its directory could not be synced; after
                       a crash of the system the old file may reappear */
};

/** @return the name of a status, "REC_E_FORMAT"; static. */
REC_API const char *rec_status_name(rec_status status);

/** An unknown offset or count. */
#define REC_UNKNOWN UINT64_MAX

/* The last error of the calling thread. A function that fails sets it and one that succeeds clears it; getters and
 * functions that free, close or release leave it alone. Of a chain the first error is kept: a call that fails because a
 * handle is NULL does not replace an error. The strings are valid until the thread's next call that can fail, and "" if
 * they do not apply. Other threads and callbacks do not change them. */

/** @return the status of the last operation. */
REC_API rec_status rec_error_status(void);
/** @return the complete message: place, problem, expected and found, and a hint. */
REC_API const char *rec_error_message(void);
/** @return the file, or the name of the stream or memory. */
REC_API const char *rec_error_file(void);
/** @return the byte offset in the (decompressed) file; `REC_UNKNOWN` without one. */
REC_API uint64_t rec_error_offset(void);
/** @return the line of a configuration error, else 0. */
REC_API uint32_t rec_error_line(void);
/** @return the path in the record, "layers.0.weight". */
REC_API const char *rec_error_path(void);
/** @return what was expected; this and what was found are set whenever the message has "expected …, found …". */
REC_API const char *rec_error_expected(void);
/** @return what was found. */
REC_API const char *rec_error_found(void);
/** @return what to do. */
REC_API const char *rec_error_hint(void);
/** @return the errno of the system call or of the program's function that failed, else 0. So REC_E_NOT_FOUND with an
 * errno is a missing file, and without one a missing key, recorder, section or plugin. */
REC_API int32_t rec_error_errno(void);

/** The kind of a note. */
enum {
    REC_NOTE_ASSUMED = 1,    /**< an element type or a required value that the file lacks was assumed */
    REC_NOTE_OVERFLOW = 2,   /**< a finite float became infinite at a smaller precision; counted by tensor */
    REC_NOTE_CLAMPED = 3,    /**< an integer was clamped (option `clamp`) */
    REC_NOTE_DROPPED = 4,    /**< something was left out or simplified */
    REC_NOTE_MISSING = 5,    /**< bind: a required field has no value */
    REC_NOTE_UNEXPECTED = 6, /**< bind: a value has no field */
    REC_NOTE_SHAPE = 7,      /**< bind: wrong rank or dimensions */
    REC_NOTE_KIND = 8,       /**< bind: a value of another kind than the field */
    REC_NOTE_TRAILING = 9,   /**< bytes after the record, ignored by the option `trailing` */
    REC_NOTE_LAYOUT = 10,    /**< an unusual structure of the file */
    REC_NOTE_KEY = 11,       /**< load argument `debug`: a tensor's keys, shape and dtype, in Burn's format */
    REC_NOTE_ADAPTED = 12,   /**< how the adapter treated a module that no type or rule names */
    REC_NOTE_RULE = 13,      /**< a rule without a match, or one with a probable mistake */
    REC_NOTE_CHECK = 14      /**< the output could not be read back although the option `check` is set */
};

/** A note of a report. The strings live as long as the report. */
typedef struct rec_note {
    uint32_t size;    /**< sizeof(rec_note) of the library */
    int32_t kind;     /**< REC_NOTE_… */
    uint64_t count;   /**< the number of values or elements, 1 for a single thing */
    const char *path; /**< path in the record, "" for the whole record */
    const char *text; /**< one sentence */
} rec_note;

/** @return the number of notes of the calling thread's last operation. The report lives until the next operation. */
REC_API uint64_t rec_report_count(void);
/** @return note `index` of that report (the first 1,000 are stored, others only counted), or NULL. */
REC_API const rec_note *rec_report_note(uint64_t index);

/* ------------------------------------------------------------------------------------------------------ dtypes -- */

/** Element types. Values never change; new ones may be added. */
typedef int32_t rec_dtype;
enum {
    REC_DTYPE_NONE = 0,
    REC_DTYPE_F64 = 1,
    REC_DTYPE_F32 = 2,
    REC_DTYPE_FLEX32 = 3, /**< Burn's "at least f16 inside, f32 outside": stored as f32 */
    REC_DTYPE_F16 = 4,
    REC_DTYPE_BF16 = 5,
    REC_DTYPE_I64 = 6,
    REC_DTYPE_I32 = 7,
    REC_DTYPE_I16 = 8,
    REC_DTYPE_I8 = 9,
    REC_DTYPE_U64 = 10,
    REC_DTYPE_U32 = 11,
    REC_DTYPE_U16 = 12,
    REC_DTYPE_U8 = 13,
    REC_DTYPE_BOOL = 14,   /**< one byte for each element, 0 or 1 */
    REC_DTYPE_BOOL8 = 15,  /**< Burn 0.21's Bool(U8): the same bytes, another name */
    REC_DTYPE_BOOL32 = 16, /**< Burn 0.21's Bool(U32): four bytes for each element */
    REC_DTYPE_QFLOAT = 17, /**< Burn's quantised tensors: bytes and scheme are copied verbatim */
    REC_DTYPE_OPAQUE = 18  /**< an unknown type, copied verbatim with its name */
};

/** @return the short name, "f32", "bool"; "unknown" for an invalid number. Static. */
REC_API const char *rec_dtype_name(rec_dtype dtype);
/** @return the dtype with this short name, or `REC_DTYPE_NONE`. */
REC_API rec_dtype rec_dtype_from_name(const char *name);
/** @return the size of one element in bits; 0 if elements have no fixed size (qfloat, opaque). */
REC_API uint32_t rec_dtype_bits(rec_dtype dtype);

/** The element types of float and int tensors. Bool and quantised tensors are never converted. */
typedef int32_t rec_precision;
enum {
    REC_PRECISION_DEFAULT = 0, /**< the configuration's for this recorder, or Full */
    REC_PRECISION_KEEP = 1,    /**< as stored */
    REC_PRECISION_DOUBLE = 2,  /**< f64, i64 */
    REC_PRECISION_FULL = 3,    /**< f32, i32 */
    REC_PRECISION_HALF = 4,    /**< f16, i16 */
    /** For rec_open_recorder() only: the configuration's for this recorder, or Keep. */
    REC_PRECISION_CONFIGURED = 5
};
/** @return "default", "keep", "double", "full", "half"; "unknown" for an invalid number. Static. */
REC_API const char *rec_precision_name(rec_precision precision);
/** @param name as returned by `rec_precision_name`. @return the precision, or -1. */
REC_API rec_precision rec_precision_from_name(const char *name);

/* ----------------------------------------------------------------------------------------------------- context -- */

/** Configuration, plugin directories, allocator, limits and callbacks of a group of recorders. */
typedef struct rec_context rec_context;

/** Functions that allocate memory. All three are required; `user` is passed to each. Memory is aligned as by malloc. */
typedef struct rec_allocator {
    uint32_t size;                                       /**< sizeof(rec_allocator) */
    uint32_t reserved;                                   /**< 0 */
    void *(*alloc)(void *user, size_t size);             /**< size is never 0; NULL on failure */
    void *(*resize)(void *user, void *old, size_t size); /**< as realloc; old is never NULL, size never 0 */
    void (*release)(void *user, void *memory);           /**< memory is never NULL */
    void *user;
} rec_allocator;

/** Bounds on the cost of an input. Start from `rec_limits_default()`, or set `size` and call rec_limits_init(). */
typedef struct rec_limits {
    uint32_t size;            /**< sizeof(rec_limits) */
    uint32_t depth;           /**< nesting of lists and maps; default 128, at most 200 */
    uint64_t memory_factor;   /**< a load allocates at most factor × input + slack bytes in addition to the input… */
    uint64_t memory_slack;    /**< …where the input is the decompressed file. Defaults 4 and 1 MiB */
    uint64_t inflated_factor; /**< compressed input, including all members of an archive, may decompress to factor × the
                                 size of its files + slack bytes. Default 64… */
    uint64_t inflated_slack;  /**< …and 1 GiB */
    uint64_t elements;        /**< elements of a list whose elements take no bytes; default 65,536 */
} rec_limits;

/** The progress of an operation, passed to the callback on the thread that called the operation. */
typedef struct rec_progress {
    uint32_t size;          /**< sizeof(rec_progress) of the library */
    uint32_t reserved;      /**< 0 */
    const char *operation;  /**< "load", "save", "convert", "check" (reads back), "read" (a tensor, no total); static */
    const char *file;       /**< the file or stream */
    uint64_t done;          /**< bytes */
    uint64_t total;         /**< bytes, `REC_UNKNOWN` if unknown */
    uint32_t phase;         /**< 1 to `phases`; `done` and `total` are of this phase and may restart with a file… */
    uint32_t phases;        /**< …and this does not change in an operation: a save writes and perhaps checks */
    const char *step;       /**< the name of the phase: "read", "write", "check"; static */
    uint64_t overall_done;  /**< never decreases in an operation: for a progress bar. No bytes: each phase has the
                               same share… */
    uint64_t overall_total; /**< …of this, which is never 0. At the end of a successful save or conversion both are
                               equal */
} rec_progress;

/** @return non-zero to stop: the operation ends with `REC_E_CANCELLED` and leaves files unchanged. */
typedef int32_t (*rec_progress_fn)(void *user, const rec_progress *progress);
/** Called for each note when it is made, on the thread that called the operation. */
typedef void (*rec_note_fn)(void *user, const rec_note *note);

/** Sets the default limits. @param limits set its `size` before the call. @return REC_OK, or REC_E_ARGUMENT for an
 * invalid size. */
REC_API rec_status rec_limits_init(rec_limits *limits);
/** @return the default limits. */
static inline rec_limits rec_limits_default(void)
{
    rec_limits limits;
    limits.size = (uint32_t)sizeof limits;
    (void)rec_limits_init(&limits);
    return limits;
}

/**
 * Creates a context without a configuration file: what libraries and bindings use, so that no user's INI file changes
 * what they load.
 * @param allocator copied; NULL: malloc.
 * @return the context, to be freed; NULL if out of memory.
 */
REC_API rec_context *rec_context_new(const rec_allocator *allocator);
/**
 * Creates a context configured by an INI file (docs/reference/configuration.md).
 * @param path the file; NULL: LIBRECORD_CONFIG, or the file in the user's or the system's configuration directory, if
 * one exists.
 * @return the context; NULL with file and line of the first error.
 */
REC_API rec_context *rec_config_open(const char *path);
/** Frees a context, before or after the objects made from it. Recorders, records, plans, bindings and type sets keep
 * what they need, including the allocator; the last one frees it. Callbacks are no longer called. Strings borrowed
 * from the context (plugins, profiles) become invalid. NULL is ignored. */
REC_API void rec_context_free(rec_context *context);
/** Makes `rec_open_recorder` use this context (NULL: the built-in default again). Must not be called while other
 * threads open recorders. The caller keeps ownership. */
REC_API void rec_context_set_default(rec_context *context);
/** @return REC_OK, or REC_E_ARGUMENT if a limit is out of bounds. Applies to later operations. */
REC_API rec_status rec_context_set_limits(rec_context *context, const rec_limits *limits);
/** Sets the callback for progress and cancellation; NULL removes it. rec_recorder_set_progress() sets one for the
 * operations of a recorder. */
REC_API void rec_context_set_progress(rec_context *context, rec_progress_fn callback, void *user);
/** Sets the callback for notes; NULL removes it. */
REC_API void rec_context_set_notes(rec_context *context, rec_note_fn callback, void *user);
/** Sets the number of threads for one operation. @param threads 1 to 64; the default is the number of available
 * processors, at most 8. */
REC_API rec_status rec_context_set_threads(rec_context *context, uint32_t threads);
/** @return the number of threads for one operation; 0 for NULL. */
REC_API uint32_t rec_context_threads(const rec_context *context);
/** Sends large decompressed data, and numbers parsed from text, to an unnamed temporary file (in TMPDIR or /tmp)
 * instead of memory. For programs that read a record of any size once, tensor by tensor: the system can reclaim its
 * pages, and rec_tensor_release() frees them at once. If there is not enough disk space, the load fails with REC_E_IO.
 * Applies to later loads.
 * @param bytes the smallest decompressed file or tensor to spill; chunks below 256 KiB stay in memory. REC_UNKNOWN,
 * the default: never, except for pipes, of which at most 64 MiB are in memory. */
REC_API rec_status rec_context_set_spill(rec_context *context, uint64_t bytes);

/* ----------------------------------------------------------------------------------------------------- records -- */

/** A loaded or built record. It owns its tree; values and tensors are borrowed from it. */
typedef struct rec_record rec_record;
/** A value in a record's tree. Borrowed; valid until the list or map that holds it is edited. */
typedef struct rec_value rec_value;
/** A tensor in a record. Borrowed; valid until it is replaced or removed or the record is freed. */
typedef struct rec_tensor rec_tensor;

enum {
    REC_KIND_NIL = 0,
    REC_KIND_BOOL = 1,
    REC_KIND_INT = 2,  /**< a signed integer */
    REC_KIND_UINT = 3, /**< an unsigned integer, also a nonnegative one of unknown signedness */
    REC_KIND_FLOAT = 4,
    REC_KIND_STRING = 5,
    REC_KIND_BYTES = 6,
    REC_KIND_LIST = 7,
    REC_KIND_MAP = 8,      /**< ordered; keys are unique */
    REC_KIND_VARIANT = 9,  /**< of an enum, in formats that distinguish variants from maps */
    REC_KIND_NUMBERS = 10, /**< a list of numbers or of bools, packed */
    REC_KIND_TENSOR = 11
};

/** More about a value; 0 if the format does not store it. */
enum {
    REC_FORM_UNKNOWN = 0,
    REC_FORM_LIST = 1,        /**< of a list: a Vec */
    REC_FORM_ARRAY = 2,       /**< of a list: a fixed length */
    REC_FORM_TUPLE = 3,       /**< of a list */
    REC_FORM_STRUCT = 4,      /**< of a map */
    REC_FORM_MAP = 5,         /**< of a map */
    REC_FORM_UNIT = 6,        /**< of nil: the unit value */
    REC_FORM_NONE = 7,        /**< of nil: an absent option */
    REC_FORM_CONSTANT = 8,    /**< of nil: a constant field of a module */
    REC_FORM_UNIT_STRUCT = 9, /**< of nil: a struct without fields (MessagePack writes it as an empty array) */
    REC_FORM_PATHS = 10 /**< of the root map: keys are paths with dots (a foreign model, or a Burn record in a flat
                           file while it is read); lists and structs are unknown */
};

/** A scalar, as used by values and plugins. Its layout is frozen. */
typedef struct rec_scalar {
    int32_t kind;  /**< REC_KIND_NIL … REC_KIND_STRING */
    uint16_t bits; /**< width of a number: 8 16 32 64, 0 if unknown */
    uint16_t form; /**< REC_FORM_… of a nil, else 0 */
    union {
        int64_t i;       /**< REC_KIND_INT; REC_KIND_BOOL: 0 or 1 */
        uint64_t u;      /**< REC_KIND_UINT */
        double f;        /**< REC_KIND_FLOAT; an f32 is held exactly */
        uint64_t length; /**< REC_KIND_STRING: bytes at `text` */
    } v;
    const char *text; /**< REC_KIND_STRING: UTF-8, not necessarily NUL-terminated; may hold NUL */
} rec_scalar;

/** @return an empty record (its root an empty map, metadata empty), or NULL. `context` NULL: the default one. */
REC_API rec_record *rec_record_new(rec_context *context);
/** @return a deep copy whose tensors share their bytes with the original, or NULL. Both can be freed in any order. */
REC_API rec_record *rec_record_copy(const rec_record *record);
/** Frees a record and everything borrowed from it. NULL is ignored. */
REC_API void rec_record_free(rec_record *record);
/** The origin of a record. The strings live as long as the record. */
typedef struct rec_origin {
    uint32_t size;        /**< sizeof(rec_origin) of the library */
    int32_t mapped;       /**< 1 if its tensors point into a mapped file */
    int32_t layout;       /**< Burn's layout of parameters: 1 (up to 0.13), 2 (from 0.14 on), 0 if unknown */
    uint32_t reserved;    /**< 0 */
    const char *recorder; /**< the plugin that read it, "NamedMpk"; "" for a built record */
    const char
        *file; /**< the file or stream, a URL without secrets (rec_display_name()); "" for memory and built records */
    uint64_t stored;   /**< bytes of that file, `REC_UNKNOWN` if not counted */
    uint64_t inflated; /**< decompressed bytes; `stored` if it is not compressed, `REC_UNKNOWN` if it was not read to
                          its end (option `data`) */
} rec_origin;
/** @return the record's origin; borrowed from it, never NULL. */
REC_API const rec_origin *rec_record_origin(const rec_record *record);

/** @return metadata `key` ("version", "float", "int", "format", "settings"), or NULL; borrowed from the record. Values
 * other than text (rec_metadata_value()) are returned as a line of JSON; NULL with an error if out of memory. */
REC_API const char *rec_metadata(const rec_record *record, const char *key);
/** @return the number of metadata entries. */
REC_API uint64_t rec_metadata_count(const rec_record *record);
/** Gets an entry. @param key (out, may be NULL) @param value (out, may be NULL) entry `index`, in the file's order. */
REC_API rec_status rec_metadata_get(const rec_record *record, uint64_t index, const char **key, const char **value);
/** Sets a metadata entry, or removes it if value is NULL. The five that describe a Burn record ("version" … "settings")
 * are REC_E_ARGUMENT: they depend on recorder, precision and the option `layout` of the save. */
REC_API rec_status rec_metadata_set(rec_record *record, const char *key, const char *value);
/** @return metadata `key` as a value (string, number, list, map); NULL without an error if it is missing. Borrowed
 * until the metadata are edited. */
REC_API const rec_value *rec_metadata_value(const rec_record *record, const char *key);
/** Sets metadata to a copy of any value without tensors, from this or another record; NULL removes them. Formats that
 * cannot store it leave it out when saving, with a note. */
REC_API rec_status rec_metadata_set_value(rec_record *record, const char *key, const rec_value *value);
/** Writes the type of a metadata value: "u32", "[u8]", "str", "bool", "list"; "int" and "float" where the width is
 *  unknown; a map in JSON where children have other types. @param text NUL-terminated if it fits into `room`; NULL with
 *  a room of 0. @return its length, at most two bytes more where it does not fit. */
REC_API uint64_t rec_value_type(const rec_value *value, char *text, uint64_t room);
/** Sets a metadata entry to a text read as a type. @param type as rec_value_type() writes it: u8 to u64, i8 to i64,
 * f32, f64, bool, str, nil, map, a list `[TYPE]`; NULL: that of the entry so far, a new one is a text. @param text
 * JSON, but of `str`. REC_E_ARGUMENT if it is not of this type. */
REC_API rec_status rec_metadata_set_as(rec_record *record, const char *key, const char *type, const char *text);

/** @return the root of the tree. */
REC_API const rec_value *rec_root(const rec_record *record);

/* Paths: names and list indices joined by dots, `layers.0.attention.weight`; a variant is a level (its name). A dot or
 * a backslash inside a name is written `\.` and `\\`; any other backslash stands for itself. Names may be empty: `a..b`
 * has three. The empty path is the root. */

/** @return the value at a path; NULL without an error if it is missing. Constant time for each level. */
REC_API const rec_value *rec_value_at(const rec_record *record, const char *path);
/** @return the tensor at a path; NULL with an error, which suggests similar names, if it is missing or another kind of
 * value. */
REC_API const rec_tensor *rec_tensor_at(const rec_record *record, const char *path);

/** @return REC_KIND_… */
REC_API int32_t rec_value_kind(const rec_value *value);
/** @return REC_FORM_… */
REC_API int32_t rec_value_form(const rec_value *value);
/** @return the scalar; kind REC_KIND_NIL for other values. The text of a string is NUL-terminated here. */
REC_API rec_scalar rec_value_scalar(const rec_value *value);
/** @return the number of items, entries or numbers; 1 for a variant with payload; 0 for scalars and tensors. */
REC_API uint64_t rec_value_count(const rec_value *value);
/** @return item, entry or payload `index`; NULL out of range and for packed numbers. */
REC_API const rec_value *rec_value_item(const rec_value *value, uint64_t index);
/** @return the key of entry `index` of a map, or the name of a variant (index 0), as a scalar. */
REC_API rec_scalar rec_value_key(const rec_value *value, uint64_t index);
/** @return the index of a variant in the file, or `REC_UNKNOWN`. */
REC_API uint64_t rec_value_variant(const rec_value *value);
/** @return number `index` of packed numbers as a scalar (bool, int, uint or float); REC_KIND_NIL out of range. */
REC_API rec_scalar rec_value_number(const rec_value *value, uint64_t index);
/** @return the tensor of a tensor value, else NULL. */
REC_API const rec_tensor *rec_value_tensor(const rec_value *value);
/** @param size (out, may be NULL) the length. @return the bytes of a bytes value, also in a record loaded with `data` =
 * skip, borrowed from the record; NULL for other values. */
REC_API const void *rec_value_bytes(const rec_value *value, uint64_t *size);

/** Walks all leaves (tensors, scalars, bytes, packed numbers, empty lists and maps) in file order. */
typedef struct rec_iterator rec_iterator;
/** @return an iterator before the first leaf, to be freed; NULL if out of memory. The record must not be edited
 * meanwhile. */
REC_API rec_iterator *rec_iterate(const rec_record *record);
/** @param path (out, may be NULL) the leaf's path, valid until the next step. @return the next leaf, NULL at the end.
 */
REC_API const rec_value *rec_iterator_next(rec_iterator *iterator, const char **path);
/** Like `rec_iterator_next`, for tensors only. */
REC_API const rec_tensor *rec_iterator_next_tensor(rec_iterator *iterator, const char **path);
REC_API void rec_iterator_free(rec_iterator *iterator);

/* Editing. Missing levels of a path are created. Index n of a list of n items appends. A level created from indices is
 * a list as soon as 0 to N are complete, in any order; until then, and if other names join them, it is a map. A setter
 * replaces a value or an empty list or map. If anything is below the path it fails with REC_E_ARGUMENT: call
 * rec_clear() or rec_remove() first. */

/** Sets a scalar. @return REC_E_ARGUMENT if the path leads through a value that is not a list or map. */
REC_API rec_status rec_set_scalar(rec_record *record, const char *path, rec_scalar scalar);
REC_API rec_status rec_set_bool(rec_record *record, const char *path, int32_t value);
REC_API rec_status rec_set_int(rec_record *record, const char *path, int64_t value);
REC_API rec_status rec_set_uint(rec_record *record, const char *path, uint64_t value);
REC_API rec_status rec_set_float(rec_record *record, const char *path, double value);
REC_API rec_status rec_set_string(rec_record *record, const char *path, const char *value);
REC_API rec_status rec_set_nil(rec_record *record, const char *path);
/** Sets an empty list or map (REC_KIND_LIST, REC_KIND_MAP). */
REC_API rec_status rec_set_empty(rec_record *record, const char *path, int32_t kind);
/** Sets a deep copy of a value of this or another record; tensors share their bytes. */
REC_API rec_status rec_set_value(rec_record *record, const char *path, const rec_value *value);
/** Removes everything below a value and sets it to nil, for a setter after it. REC_E_NOT_FOUND if it is missing. */
REC_API rec_status rec_clear(rec_record *record, const char *path);
/** Removes a value; later list items move up. REC_E_NOT_FOUND if it is missing. */
REC_API rec_status rec_remove(rec_record *record, const char *path);
/** Moves a value with all below it to another path, or renames it: an entry that stays in its map keeps its place.
 * Later items of a list that it leaves move up. Missing levels of `to` are created. Takes constant time for each level.
 * @return REC_E_NOT_FOUND: nothing is at `from`; REC_E_ARGUMENT: something is at `to`, or `to` is below `from`. */
REC_API rec_status rec_move(rec_record *record, const char *from, const char *to);
/** Inserts nil into a list before the item at a path, for a setter after it: that item and later ones move down. */
REC_API rec_status rec_insert(rec_record *record, const char *path);

/** The owner of the bytes passed to `rec_set_tensor`. */
enum {
    REC_COPY = 0,   /**< copied now */
    REC_BORROW = 1, /**< used in place; the caller must not change them until the record and its copies are freed */
    REC_TAKE = 2,   /**< allocated by malloc, freed with the record; also if the call fails */
    REC_PRODUCE = 3 /**< computed by `produce` on request */
};

/** A new tensor. Zero the struct, set `size`, fill in. */
typedef struct rec_tensor_spec {
    uint32_t size;         /**< sizeof(rec_tensor_spec) */
    rec_dtype dtype;       /**< an element type of fixed size */
    uint32_t rank;         /**< at most 32 */
    int32_t ownership;     /**< REC_COPY, REC_BORROW, REC_TAKE, REC_PRODUCE */
    const uint64_t *shape; /**< `rank` dimensions, outermost first */
    const void *data;      /**< little-endian elements, row-major; NULL with REC_PRODUCE */
    uint64_t data_size;    /**< bytes at `data`: shape × element size */
    const char *id; /**< parameter id; "" creates one (13 characters, like Burn); NULL: no id, and a bare tensor unless
                         `parameter` is set or it replaces a parameter of a file without ids */
    /** Except with REC_TAKE: called once, on any thread, when `data` and `user` are not needed any more, also if the
     * call fails. May be NULL. */
    void (*release)(void *user, const void *data);
    void *user; /**< for `release` and `produce` */
    /** REC_PRODUCE: writes `size` bytes of the tensor from `offset` on. Returns 0 or an errno, like the functions of
     * rec_output; one thread calls it at a time. A save requests each byte once and in order, in chunks of at most 4
     * MiB; zip archives (npz, pt) request them twice if the output cannot be patched (a codec, a stream). The record
     * keeps bytes requested by rec_tensor_bytes() and typed access. */
    int32_t (*produce)(void *user, uint64_t offset, void *target, uint64_t size);
    int32_t parameter; /**< nonzero, with `id` NULL: a parameter of unknown id, which a save derives from its path */
} rec_tensor_spec;

/** Sets a tensor. */
REC_API rec_status rec_set_tensor(rec_record *record, const char *path, const rec_tensor_spec *spec);
/** Sets an f32 parameter with a new id from an array in host byte order, copied.
 * @param shape `rank` dimensions; the data must have as many elements. */
REC_API rec_status rec_set_f32(rec_record *record, const char *path, const float *data, uint32_t rank,
                               const uint64_t *shape);
/** Sets the id of a tensor; NULL removes it. */
REC_API rec_status rec_set_id(rec_record *record, const char *path, const char *id);

/* ----------------------------------------------------------------------------------------------------- tensors -- */

/** @return the element type at the precision of the load. */
REC_API rec_dtype rec_tensor_dtype(const rec_tensor *tensor);
/** @return the element type of the stored bytes. */
REC_API rec_dtype rec_tensor_stored_dtype(const rec_tensor *tensor);
/** @return the name of `rec_tensor_dtype`; of opaque and quantised tensors the file's name. Borrowed. */
REC_API const char *rec_tensor_dtype_name(const rec_tensor *tensor);
/** @return how the file names the type of an opaque or quantised tensor, for example the scheme of its quantisation;
 * NULL: it has a type of librecord's. Borrowed from the record. */
REC_API const rec_value *rec_tensor_dtype_value(const rec_tensor *tensor);
REC_API uint32_t rec_tensor_rank(const rec_tensor *tensor);
/** @return `rank` dimensions, outermost first; borrowed, never NULL. */
REC_API const uint64_t *rec_tensor_shape(const rec_tensor *tensor);
/** @return the number of elements, the product of the shape. */
REC_API uint64_t rec_tensor_count(const rec_tensor *tensor);
/** @return bytes at the precision of the load. */
REC_API uint64_t rec_tensor_nbytes(const rec_tensor *tensor);
/** @return the parameter id, or NULL; borrowed. */
REC_API const char *rec_tensor_id(const rec_tensor *tensor);
/** @return 1 if the tensor is a parameter of a module: it has an id, or its file has no ids and a writer of ids creates
 * one. 0 for a bare tensor, such as those of an optimizer's state. */
REC_API int32_t rec_tensor_is_parameter(const rec_tensor *tensor);
/** @return 1 if the element type is not in the file and was assumed (V1 at half precision). */
REC_API int32_t rec_tensor_assumed(const rec_tensor *tensor);
/** @return the offset of the tensor's bytes in the (decompressed) file, `REC_UNKNOWN` if they are not stored as such.
 */
REC_API uint64_t rec_tensor_offset(const rec_tensor *tensor);

/** Returns the name that a scheme gives the way a tensor is stored, "FP8 E4M3, 128x128 blocks", or NULL. Copies and the
 * results of plans without a precision keep it. */
REC_API const char *rec_tensor_scheme(const rec_tensor *tensor);
/** Returns the element type that a tensor has as numbers: `rec_tensor_dtype`, or what a scheme decodes it to.
 * REC_DTYPE_NONE if there are no numbers. */
REC_API rec_dtype rec_tensor_numbers_dtype(const rec_tensor *tensor);
/** Returns 1 if a scheme decodes the tensor together with another one, whose part it is: a scale. Else 0. */
REC_API int32_t rec_tensor_is_part(const rec_tensor *tensor);

/** Returns the stored bytes, little-endian, at any alignment; without a copy if they are mapped or in memory.
 * @param size (out, may be NULL). @return borrowed from the record; NULL with an error. */
REC_API const void *rec_tensor_bytes(const rec_tensor *tensor, uint64_t *size);

/** Returns the stored bytes if they are mapped or in memory, else NULL without an error; use rec_tensor_read() then.
 * Performs no I/O and no copy. @param size (out, may be NULL) 0 with NULL. @return borrowed from the record, at any
 * alignment. */
REC_API const void *rec_tensor_at_hand(const rec_tensor *tensor, uint64_t *size);

/* Typed access: aligned elements in host byte order, borrowed from the record: the stored bytes if type, alignment and
 * byte order match, else converted once and kept. Values have the precision of the load. NULL with an error:
 * REC_E_RANGE names tensor, index, value and limit. Conversion between floats and ints is REC_E_MISMATCH. For a tensor
 * without elements the pointer is not NULL. */
REC_API const float *rec_tensor_f32(const rec_tensor *tensor);
REC_API const double *rec_tensor_f64(const rec_tensor *tensor);
REC_API const uint16_t *rec_tensor_f16(const rec_tensor *tensor); /**< bit patterns of IEEE binary16 */
REC_API const int64_t *rec_tensor_i64(const rec_tensor *tensor);
REC_API const int32_t *rec_tensor_i32(const rec_tensor *tensor);
REC_API const uint8_t *rec_tensor_bool(const rec_tensor *tensor); /**< 0 or 1 */

/** Reads elements `first` … `first + count - 1`, converted to `dtype` (host byte order), into the caller's memory. The
 * record keeps nothing. @param target room for count elements; may be NULL for none. */
REC_API rec_status rec_tensor_read(const rec_tensor *tensor, rec_dtype dtype, uint64_t first, uint64_t count,
                                   void *target);

/** Hints that elements `first` … `first + count - 1` are no longer needed, so that their pages can be dropped (compare
 * `madvise(MADV_DONTNEED)`). A program that reads a large mapped file in chunks then needs the memory of one chunk.
 * Pointers stay valid, and the bytes are read again on access. Data in other memory and converted data are kept.
 * Cheap, also for small tensors; any thread may call it at any time; it cannot fail and does not change the last
 * error.
 * @param tensor NULL is ignored. @param count elements beyond the last are ignored: REC_UNKNOWN means all. */
REC_API void rec_tensor_release(const rec_tensor *tensor, uint64_t first, uint64_t count);

/* --------------------------------------------------------------------------------------------------- recorders -- */

/** A format at a precision, with options. */
typedef struct rec_recorder rec_recorder;

/**
 * Opens a recorder of the default context.
 * @param name a plugin's name or alias ("NamedMpkGz", "mpk-gz", "mpk.gz", "NamedMpkGzFileRecorder"); a format and a
 * codec joined by a dot ("mpk.zst", "Safetensors.gzip"); the name of a `[recorder …]` section, which takes precedence
 * over a plugin; "Default"; or "Auto": loads by content and saves by extension.
 * @return to be closed; NULL with REC_E_NOT_FOUND and the existing names.
 */
REC_API rec_recorder *rec_open_recorder(const char *name, rec_precision precision);
/** Opens a recorder of a context (NULL: the default one). */
REC_API rec_recorder *rec_open_recorder_in(rec_context *context, const char *name, rec_precision precision);
/** Closes a recorder; its records stay. NULL is ignored. */
REC_API void rec_close_recorder(rec_recorder *recorder);
/** @return the plugin's name, "NamedMpkGz"; "Auto". Borrowed. */
REC_API const char *rec_recorder_name(const rec_recorder *recorder);
/** @return the extension without dot, "" for memory only and for Auto. Borrowed. */
REC_API const char *rec_recorder_extension(const rec_recorder *recorder);
/**
 * Sets an option before use. Every recorder has these; `rec_plugin_info.options` lists those of the plugin.
 * - `as` = burn|file: file loads exactly what the file has, now and in later versions: its names, layouts and element
 *   types, whatever the recorder's precision and type and the INI file say. Load arguments are then REC_E_ARGUMENT. For
 *   programs and bindings that are not about Burn. Default burn.
 * - `map` = yes|no: maps local files (default) or copies them into memory.
 * - `data` = read|skip: skip loads no tensor data, for listings. Tensors have element type, shape, size and id;
 *   accessing or saving their data is REC_E_ARGUMENT. Other values are complete. Of most formats only the headers are
 *   read; the rest of a pipe may stay unread. Files are checked less: a truncated one may pass. Default read.
 * - `sync` = yes|no: syncs the file before renaming it, and its directory after, which is REC_E_SYNC if it fails.
 *   Default yes.
 * - `check` = auto|yes|no: reads the file back before it replaces the old one, and compares every value and the bytes
 *   of every tensor with the record. A difference is REC_E_FORMAT with its path, and the old file stays. Output that
 *   cannot be read back is a REC_NOTE_CHECK. Default auto: where it costs less than a tenth of the time, which means
 *   files with `sync` in formats that store tensors as bytes (MessagePack, bincode and safetensors from Burn 0.14 on).
 * - `clamp` = yes|no: integers out of range become the nearest limit instead of an error. Default no.
 * - `modules` = yes|no: checks loaded modules; notes report tensors that do not fit together, and layers that lack
 *   tensors of their siblings. Default no; rec_convert() always does.
 * - `layout` = keep|burn-0.7 … burn-0.23: writes the layout of the loaded record, or that of a Burn version with its
 *   form of ids. Default: the format's, with unchanged ids.
 */
REC_API rec_status rec_recorder_set(rec_recorder *recorder, const char *option, const char *value);
/** Reads an option or load argument. @return its value, or its default if it is not set ("" if that depends on the
 * file); of one that is set repeatedly the last value. Borrowed until an option of the recorder is set or unset. NULL
 * with REC_E_ARGUMENT if there is no such option. */
REC_API const char *rec_recorder_get(const rec_recorder *recorder, const char *option);
/** Unsets an option or load argument, also one of an INI file, and all values of one that was set repeatedly. Unsetting
 * what is not set is REC_OK. */
REC_API rec_status rec_recorder_unset(rec_recorder *recorder, const char *option);
/** Sets the callback for progress and cancellation of this recorder's loads, saves and conversions (rec_convert() uses
 * that of `to`, else that of `from`), in the place of its context's. NULL: the context's again. */
REC_API void rec_recorder_set_progress(rec_recorder *recorder, rec_progress_fn callback, void *user);
/** @return a recorder of the same name, precision, options, type and callback, to be closed; NULL with an error. */
REC_API rec_recorder *rec_recorder_copy(const rec_recorder *recorder);

/** @return the file name for `path`: `path` itself if it ends in the recorder's extension, else with the extension
 * appended. To be freed with rec_free(). NULL for memory-only recorders. */
REC_API char *rec_recorder_path(const rec_recorder *recorder, const char *path);

/**
 * Loads a file. If `path` with the extension appended exists, that is loaded, else `path` itself. A path with a scheme
 * and "://" is opened by the plugin for that scheme, verbatim. With `map` the record borrows from the mapped file: if
 * another process may truncate it, call rec_guard_maps() or set `map` to no. Replacing the file by rename, as rec_save
 * does, is safe.
 * @return the record, to be freed; NULL with the error.
 */
REC_API rec_record *rec_load(rec_recorder *recorder, const char *path);
/** Loads from memory, which must stay unchanged until the record and its copies are freed: tensors point into it.
 * @param data may be NULL if there are no bytes. */
REC_API rec_record *rec_load_bytes(rec_recorder *recorder, const void *data, uint64_t size);
/** Loads from memory and releases it. @param release called once with `user` and `data`, on any thread: when the record
 * and all copies that share the bytes are freed, or before the function returns if it fails. NULL: as
 * rec_load_bytes(). */
REC_API rec_record *rec_load_bytes_with(rec_recorder *recorder, const void *data, uint64_t size,
                                        void (*release)(void *user, const void *data), void *user);

/** Functions of the program to read from and write to: librecord/io.h. */
typedef struct rec_input rec_input;
typedef struct rec_output rec_output;

/** Loads from an open file descriptor, from its position to its end (pipes too; not closed).
 * @param name the name in errors. */
REC_API rec_record *rec_load_fd(rec_recorder *recorder, int fd, const char *name);

/**
 * Saves to a file atomically: writes, syncs and renames a temporary file next to it. Keeps the file's mode (without
 * set-user-ID bits), access control list and user attributes, and its owner if permitted. Attributes that cannot be
 * kept are a REC_NOTE_DROPPED, and never give access to additional users. Follows a symbolic link; writes directly to
 * an existing FIFO or device. Does not create missing directories. Does not change the record.
 * @param path as in `rec_recorder_path`; an existing FIFO or device is used verbatim.
 */
REC_API rec_status rec_save(rec_recorder *recorder, const rec_record *record, const char *path);
/** Saves to memory. @param data (out) to be freed with rec_free(). */
REC_API rec_status rec_save_bytes(rec_recorder *recorder, const rec_record *record, void **data, uint64_t *size);
/** Frees the result of rec_save_bytes(), rec_recorder_path(), rec_record_describe() or rec_record_families(). NULL is
 * ignored. */
REC_API void rec_free(void *memory);
/** Saves to an open file descriptor (not synced, not closed). @param name the name in errors. */
REC_API rec_status rec_save_fd(rec_recorder *recorder, const rec_record *record, int fd, const char *name);

/* Load arguments. A foreign file (safetensors made by PyTorch) loads as if Burn had recorded it: rules rename its
 * keys, an adapter converts its layouts, and the result is fitted to the destination's type, if there is one. Set them
 * with rec_recorder_set() on the loading recorder, in an INI file's [recorder] section, or in a profile. They apply to
 * every format (docs/reference/rules.md):
 * - `adapter` = pytorch|foreign|none: default: the file's (safetensors: pytorch, detected for Burn's files; others:
 *   none). foreign: another framework's layout, which only rules change
 * - `profile` = NAME, FILE.ini:NAME, auto: rules for a model family; auto: the only ones that match the file
 * - `rename`, `remap` = PATTERN => REPLACEMENT, and the other rules of a profile (`drop`, `module`, …): each call adds
 *   one
 * - `prefix` = PATH: is put before every destination key
 * - `gaps` = close|keep: gaps in list indices; default: the plugin's (safetensors: close)
 * - `partial` = yes|no: leaves out values that the type requires and the file lacks (default no: an error)
 * - `strict` = yes|no: unexpected keys, unused rules and missing values are errors (default no: notes)
 * - `debug` = yes|no: a REC_NOTE_KEY for each tensor, like Burn's debug print
 * - `set` = NAME=NUMBER: a number used by rules; otherwise it is read from the model's config.json
 * - `config` = FILE: that configuration, if it has another name
 * - `reverse` = yes|no: applies the profile backwards, from the record to the foreign file's names and layouts
 * The type of the loading recorder is the destination's type, unless the file needs one to be read. */

/** What happens to each tensor between one or several sources and a destination, known before reading data:
 * librecord/plan.h. */
typedef struct rec_plan rec_plan;

/** Loads `in` with `from` and saves it as `out` with `to`, tensor by tensor. Values are converted to `from`'s precision
 * (open it with REC_PRECISION_KEEP to keep them) and then to `to`'s.
 * @param plan the plan to carry out; `from` and `in` are then ignored and may be NULL. NULL: the plan of `from`'s load
 * arguments. */
REC_API rec_status rec_convert(rec_recorder *from, const char *in, rec_recorder *to, const char *out, rec_plan *plan);

/** Recognises a file by content and name, also inside a codec. @param context NULL: the default one. @return the
 * plugin's name, borrowed from the context; NULL with an error. */
REC_API const char *rec_recognise(rec_context *context, const char *path);

#ifdef __cplusplus
}
#endif

#include <librecord/bind.h>
#include <librecord/bindings.h>
#include <librecord/io.h>
#include <librecord/plan.h>
#include <librecord/registry.h>
#include <librecord/types.h>

#endif

/* Short names, for programs. After plugin.h, which is without them, an include of this header adds them. */
#if !defined REC_NO_SHORT_NAMES && !defined LIBRECORD_SHORT_NAMES
#define LIBRECORD_SHORT_NAMES
enum { DOUBLE = REC_PRECISION_DOUBLE, FULL = REC_PRECISION_FULL, HALF = REC_PRECISION_HALF };
#endif
