/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord: save, load, convert and inspect model records. The whole API for applications. */

/**
 * @file librecord.h
 *
 * A *record* is the saved state of a model: a tree of named values whose leaves are tensors and scalars.
 * A *recorder* reads and writes records in one format (a plugin) at one precision.
 *
 * Conventions
 * - A function that can fail returns a `rec_status` (`REC_OK` is 0) or a pointer that is NULL on failure. What went
 *   wrong is then in the calling thread's last error (`rec_error_message()` and friends), what was worth a word
 *   without being an error in its last report (`rec_report_count()`).
 * - Strings are UTF-8 and NUL-terminated. `const` pointers that a function returns are borrowed: the comment says
 *   from whom. Functions that copy their arguments say nothing; functions that keep or take one say so.
 * - NULL may be given where a comment says what it means, and to what frees. Elsewhere it is refused, never followed: a
 *   function that can fail returns REC_E_ARGUMENT (or NULL, or 0), one that only looks a neutral value: 0, NULL, "",
 *   REC_KIND_NIL, REC_UNKNOWN, a shape and an origin with nothing in them. The last error stays if there is one, for it
 *   says why the object is not there; else it says which argument was NULL. So one check behind several calls is
 * enough.
 * - Thread safety: contexts and recorders may be shared between threads once they are set up. A record may be read by
 *   many threads at once (typed tensor access included); editing or freeing it needs exclusive access.
 * - Shapes are row-major, outermost dimension first. Tensor data is little-endian where it is stored and in host
 *   byte order where it is handed out as typed numbers.
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
#define REC_VERSION_MINOR 2
#define REC_VERSION_PATCH 0
/** The version as one number that can be compared: 0.2.0 is 200. */
#define REC_VERSION_NUMBER (REC_VERSION_MAJOR * 10000 + REC_VERSION_MINOR * 100 + REC_VERSION_PATCH)

/** @return the version of the library that runs, in the form of `REC_VERSION_NUMBER`. */
REC_API uint32_t rec_version(void);
/** @return the same as text, "0.2.0"; static. */
REC_API const char *rec_version_string(void);

/* ---------------------------------------------------------------------------------------------- status, errors -- */

/** What a function that can fail returns. Values are fixed for ever; new ones may be added. */
typedef int32_t rec_status;
enum {
    REC_OK = 0,
    REC_E_ARGUMENT = 1,    /**< the caller passed something that makes no sense */
    REC_E_MEMORY = 2,      /**< an allocation failed */
    REC_E_IO = 3,          /**< the system refused to open, read, write, sync or rename */
    REC_E_FORMAT = 4,      /**< the input is not what its format demands */
    REC_E_UNSUPPORTED = 5, /**< well-formed, but this library or this recorder cannot do it */
    REC_E_NOT_FOUND = 6,   /**< no such recorder, key, section or file */
    REC_E_MISMATCH = 7,    /**< a record does not fit the type it was bound to */
    REC_E_RANGE = 8,       /**< a number does not fit the type it has to become */
    REC_E_LIMIT = 9,       /**< a limit of `rec_limits` was met */
    REC_E_PLUGIN = 10,     /**< a plugin could not be used or broke its contract */
    REC_E_CONFIG = 11,     /**< the configuration is wrong; the error has file and line */
    REC_E_CANCELLED = 12,  /**< the progress callback asked to stop */
    REC_E_TYPE = 13,       /**< the format has no names: rec_recorder_set_type() or its like is needed first */
    REC_E_SYNC = 14 /**< of a save alone: it was done, and the new file is in its place and whole, but its folder could
                         not be synced: a crash of the system may still bring the old file back */
};

/** @return the name of a status, "REC_E_FORMAT"; static. */
REC_API const char *rec_status_name(rec_status status);

/** An offset or a count that is not known. */
#define REC_UNKNOWN UINT64_MAX

/* The last error of the calling thread. Each public function that fails sets all of it (but NULL in place of an object
 * leaves the first error be); one that succeeds clears it; getters leave it alone. The strings are valid until the
 * thread's next call that can fail; they are "" where that part does not apply. No other thread and no callback changes
 * them. */

/** @return the status of the last operation. */
REC_API rec_status rec_error_status(void);
/** @return the whole message as a person should read it: what and where, expected and found, what to do. */
REC_API const char *rec_error_message(void);
/** @return the file (or the name of the stream or memory) in which the error is. */
REC_API const char *rec_error_file(void);
/** @return the byte offset in that file, or in what it inflates to; `REC_UNKNOWN` if there is none. */
REC_API uint64_t rec_error_offset(void);
/** @return the line in that file for configuration errors, else 0. */
REC_API uint32_t rec_error_line(void);
/** @return the path in the record, "layers.0.weight". */
REC_API const char *rec_error_path(void);
/** @return what was expected. */
REC_API const char *rec_error_expected(void);
/** @return what was found. */
REC_API const char *rec_error_found(void);
/** @return what to do about it. */
REC_API const char *rec_error_hint(void);
/** @return the system's errno where it refused something (REC_E_IO, REC_E_NOT_FOUND of a file, REC_E_MEMORY), else 0.
 */
REC_API int32_t rec_error_errno(void);

/** What a line of a report is about. */
enum {
    REC_NOTE_ASSUMED = 1,  /**< what is not in the file was assumed: a tensor's type, a value that a version or the type
                            *   asks for */
    REC_NOTE_OVERFLOW = 2, /**< a finite float became infinite at a smaller precision; counted by tensor */
    REC_NOTE_CLAMPED = 3,  /**< an integer was clamped, as the recorder was told to */
    REC_NOTE_DROPPED = 4,  /**< something was left out, or is less than it was */
    REC_NOTE_MISSING = 5,  /**< bind: a required field has no value */
    REC_NOTE_UNEXPECTED = 6, /**< bind: a value has no field */
    REC_NOTE_SHAPE = 7,      /**< bind: wrong rank or dimensions */
    REC_NOTE_KIND = 8,       /**< bind: a value of another kind than the field's */
    REC_NOTE_TRAILING = 9,   /**< bytes after the record, ignored by the option `trailing` */
    REC_NOTE_LAYOUT = 10,    /**< something unusual in how the file is built */
    REC_NOTE_KEY = 11,       /**< load argument `debug`: a tensor's keys, shape and dtype, in Burn's words */
    REC_NOTE_ADAPTED = 12,   /**< how the adapter took a module that no type or rule names */
    REC_NOTE_RULE = 13,      /**< a rule that matched nothing, or reads otherwise than it was probably meant */
    REC_NOTE_CHECK = 14      /**< what was saved could not be read back, though the option `check` asks for it */
};

/** One line of a report. The strings live as long as the report. */
typedef struct rec_note {
    uint32_t size;    /**< sizeof(rec_note) of the library */
    int32_t kind;     /**< REC_NOTE_… */
    uint64_t count;   /**< how many values or elements it speaks of, 1 if it is about one thing */
    const char *path; /**< path in the record, "" for the whole */
    const char *text; /**< one sentence */
} rec_note;

/** @return how many notes the last operation of the calling thread made; the report lives until its next one. */
REC_API uint64_t rec_report_count(void);
/** @return note `index` of that report (the first 1,000 are kept, the rest only counted), or NULL. */
REC_API const rec_note *rec_report_note(uint64_t index);

/* ------------------------------------------------------------------------------------------------------ dtypes -- */

/** Element types. Values are fixed for ever; new ones may be added. */
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
    REC_DTYPE_BOOL = 14,   /**< one byte an element, 0 or 1 */
    REC_DTYPE_BOOL8 = 15,  /**< Burn 0.21's Bool(U8): the same bytes, another name */
    REC_DTYPE_BOOL32 = 16, /**< Burn 0.21's Bool(U32): four bytes an element */
    REC_DTYPE_QFLOAT = 17, /**< Burn's quantised tensors: bytes and scheme carried as they are */
    REC_DTYPE_OPAQUE = 18  /**< a type this library does not know, carried as it is under its own name */
};

/** @return the field's short name, "f32", "bool"; "unknown" for a number that is none. Static. */
REC_API const char *rec_dtype_name(rec_dtype dtype);
/** @return the dtype of a short name, `REC_DTYPE_NONE` if there is none. */
REC_API rec_dtype rec_dtype_from_name(const char *name);
/** @return the size of one element in bits, 0 where elements have no size of their own (qfloat, opaque). */
REC_API uint32_t rec_dtype_bits(rec_dtype dtype);

/** What the float and int tensors of a record become. Bool and quantised tensors are never converted. */
typedef int32_t rec_precision;
enum {
    REC_PRECISION_DEFAULT = 0, /**< what the configuration says for this recorder; Full if it says nothing */
    REC_PRECISION_KEEP = 1,    /**< as stored */
    REC_PRECISION_DOUBLE = 2,  /**< f64, i64 */
    REC_PRECISION_FULL = 3,    /**< f32, i32 */
    REC_PRECISION_HALF = 4     /**< f16, i16 */
};
#ifndef REC_NO_SHORT_NAMES
enum { DOUBLE = REC_PRECISION_DOUBLE, FULL = REC_PRECISION_FULL, HALF = REC_PRECISION_HALF };
#endif

/** @return "default", "keep", "double", "full", "half"; "unknown" for a number that is none. Static. */
REC_API const char *rec_precision_name(rec_precision precision);
/** @param name as `rec_precision_name` gives it. @return the precision, -1 if there is none of that name. */
REC_API rec_precision rec_precision_from_name(const char *name);

/* ----------------------------------------------------------------------------------------------------- context -- */

/** Configuration, plugin folders, allocator, limits and callbacks of a group of recorders. */
typedef struct rec_context rec_context;

/** Where memory comes from. All three are needed; `user` is handed to each. Alignment as malloc's. */
typedef struct rec_allocator {
    uint32_t size;                                       /**< sizeof(rec_allocator) */
    uint32_t reserved;                                   /**< 0 */
    void *(*alloc)(void *user, size_t size);             /**< size is never 0; NULL on failure */
    void *(*resize)(void *user, void *old, size_t size); /**< as realloc; old is never NULL, size never 0 */
    void (*release)(void *user, void *memory);           /**< memory is never NULL */
    void *user;
} rec_allocator;

/** Bounds on what an input may cost. Start from `rec_limits_default()`, or set `size` and call rec_limits_init(). */
typedef struct rec_limits {
    uint32_t size;            /**< sizeof(rec_limits) */
    uint32_t depth;           /**< nesting of lists and maps; default 128, at most 200 */
    uint64_t memory_factor;   /**< loading allocates at most factor × input + slack bytes beside the input itself… */
    uint64_t memory_slack;    /**< …where the input is what the file inflates to. Defaults 4 and 1 MiB */
    uint64_t inflated_factor; /**< compressed input, an archive's members together, may inflate to factor × the size of
                                   its files + slack bytes. Default 64… */
    uint64_t inflated_slack;  /**< …and 1 GiB */
    uint64_t elements;        /**< elements of a list whose elements take no bytes; default 65,536 */
} rec_limits;

/** How far an operation is. Handed to the progress callback on the thread that called the operation. */
typedef struct rec_progress {
    uint32_t size;         /**< sizeof(rec_progress) of the library */
    uint32_t reserved;     /**< 0 */
    const char *operation; /**< "load", "save", "convert"; "check" while what was saved is read back; static */
    const char *file;      /**< the file or stream */
    uint64_t done;         /**< bytes */
    uint64_t total;        /**< bytes, `REC_UNKNOWN` where it cannot be known */
} rec_progress;

/** @return non-zero to stop: the operation ends with `REC_E_CANCELLED` and leaves files as they were. */
typedef int32_t (*rec_progress_fn)(void *user, const rec_progress *progress);
/** Called for each note at the time it is made, on the thread that called the operation. */
typedef void (*rec_note_fn)(void *user, const rec_note *note);

/** Fills in the limits that a new context has. @param limits its `size` is to be set before the call. @return REC_OK,
 * or REC_E_ARGUMENT for a size that they cannot have. */
REC_API rec_status rec_limits_init(rec_limits *limits);
/** @return the limits a new context has. */
static inline rec_limits rec_limits_default(void)
{
    rec_limits limits;
    limits.size = (uint32_t)sizeof limits;
    (void)rec_limits_init(&limits);
    return limits;
}

/**
 * A context of one's own, without configuration file.
 * @param allocator where its memory comes from, copied; NULL: malloc.
 * @return the context, to be freed; NULL out of memory.
 */
REC_API rec_context *rec_context_new(const rec_allocator *allocator);
/**
 * A context configured by an INI file (docs/reference/configuration.md).
 * @param path the file; NULL: the first of LIBRECORD_CONFIG, the user's configuration folder, the system's; none of
 *        them is no error.
 * @return the context; NULL with file and line of the first mistake.
 */
REC_API rec_context *rec_config_open(const char *path);
/** Gives a context up: at once or later, in any order with what was made from it. Recorders, records, plans, bindings
 * and sets of types keep what they need of it, the allocator included; the last of them frees it. Its callbacks are not
 * called any more. Strings borrowed from the context itself (plugins, profiles) must not be used after it. NULL is
 * ignored. */
REC_API void rec_context_free(rec_context *context);
/** Makes `rec_open_recorder` use this context (NULL: the built-in default one again). Not for use while other threads
 *  open recorders. The context stays the caller's. */
REC_API void rec_context_set_default(rec_context *context);
/** @return REC_OK, or REC_E_ARGUMENT if a limit is out of its own bounds. Affects operations that begin later. */
REC_API rec_status rec_context_set_limits(rec_context *context, const rec_limits *limits);
/** Sets the callback for progress and cancellation; NULL for none. */
REC_API void rec_context_set_progress(rec_context *context, rec_progress_fn callback, void *user);
/** Sets the callback for notes; NULL for none. */
REC_API void rec_context_set_notes(rec_context *context, rec_note_fn callback, void *user);
/** @param threads how many threads one operation may use, 1 to 64; default: the number of processors that
 *  this one may run on, at most 8. */
REC_API rec_status rec_context_set_threads(rec_context *context, uint32_t threads);
/** @return that number; 0 for NULL. For programs whose own threads are to be as many. */
REC_API uint32_t rec_context_threads(const rec_context *context);
/** For programs that read a record of any size once, tensor by tensor: what has to be inflated, and numbers that stand
 * in a file as text or one by one, goes to a temporary file without a name (in the folder TMPDIR, /tmp without it)
 * instead of memory. Its pages are the system's to take back, and rec_tensor_release() gives them back at once. It
 * takes as much space as is inflated; where there is not enough, the load fails with REC_E_IO. Affects loads that begin
 * later.
 *  @param bytes from how many on, of what a file inflates to or of one tensor; pieces of less than 256 KiB stay in
 * memory. REC_UNKNOWN, the default: never, but for what comes by a pipe, of which 64 MiB are the most that is in
 * memory. */
REC_API rec_status rec_context_set_spill(rec_context *context, uint64_t bytes);

/**
 * Guards the process against files that are cut while librecord has them mapped: who reads where a file was is sent
 * SIGBUS, which ends the process. This installs a handler, for all threads and for good: where such a signal comes from
 * a map of librecord's, zeros take the place of what is gone, and operations that read there fail with REC_E_IO that
 * names the file ("the file was cut while it was read") before anything of theirs is kept or renamed; so do others of
 * the same context that ran at that moment. From then on loads and saves also look at the files' sizes. Any other
 * SIGBUS goes to the handler that was there before. A handler that the program installs later takes this one's place
 * and should call it. Threads that read what rec_tensor_bytes() and its like gave must not block SIGBUS. Without this
 * call librecord leaves signals alone. The option `map` = no does without maps altogether.
 * @return REC_OK, also if it was done before; REC_E_IO: the system refused.
 */
REC_API rec_status rec_guard_maps(void);
/** Which plugin folders a context looks into. */
enum {
    REC_PLUGINS_ALL = 0,       /**< LIBRECORD_PLUGIN_PATH, the INI file's plugin_path, the installed folder */
    REC_PLUGINS_INSTALLED = 1, /**< the installed folder alone */
    REC_PLUGINS_NONE = 2       /**< no folder: only plugins linked into the program */
};
/** The switch for plugin folders of a context (NULL: the default one); the environment's
 * LIBRECORD_PLUGINS=all|installed|none can only narrow it. */
REC_API rec_status rec_context_set_plugins(rec_context *context, int32_t which);
/** Whether paths that begin with a scheme (https://host/model.safetensors) are opened by the plugin of that scheme
 * (NULL: in the default context). @param yes 1 or 0; the default is 1, in a setuid program 0, and what the INI file's
 * `sources` says. */
REC_API rec_status rec_context_set_sources(rec_context *context, int32_t yes);
/** Adds a folder (an absolute path) in front of the others of a context (NULL: the default one). Plugins are opened at
 * the first look-up after that. */
REC_API rec_status rec_context_add_plugin_path(rec_context *context, const char *folder);

/* -------------------------------------------------------------------------------------- plugins that are there -- */

enum { REC_OPTION_BOOL = 1, REC_OPTION_INT = 2, REC_OPTION_FLOAT = 3, REC_OPTION_CHOICE = 4, REC_OPTION_TEXT = 5 };
/** An option of a recorder; the library checks values against it. Named in INI files and on the command line. */
typedef struct rec_option {
    uint32_t size;              /**< sizeof(rec_option) */
    int32_t type;               /**< REC_OPTION_… */
    const char *name;           /**< [a-z0-9_-]+ */
    const char *initial;        /**< the default, as text */
    const char *help;           /**< one line */
    int64_t minimum, maximum;   /**< of an INT */
    const char *const *choices; /**< of a CHOICE: the words, NULL-terminated */
} rec_option;

/** What a plugin is. Kinds that a librecord does not know are refused. */
enum {
    REC_PLUGIN_FORMAT = 0, /**< a recorder */
    REC_PLUGIN_CODEC = 1,  /**< bytes made of bytes, compression say, in front of any format */
    REC_PLUGIN_STACK = 2,  /**< a recorder: a format in a codec, under a name of its own */
    REC_PLUGIN_SOURCE = 3  /**< where files are that are not in a folder */
};

/** A plugin as the registry sees it. Strings live as long as the context. */
typedef struct rec_plugin_info {
    uint32_t size;           /**< sizeof(rec_plugin_info) of the library */
    int32_t usable;          /**< 1, or 0 and `refused` says why */
    const char *name;        /**< "NamedMpk"; for a file that could not be opened its base name */
    const char *aliases;     /**< separated by ", " */
    const char *extension;   /**< "mpk", without dot; "" for memory only */
    const char *description; /**< one line */
    const char *file;        /**< the shared object, "built in" or "the program" (rec_context_add_plugin) */
    const char *refused;     /**< "" or the reason */
    const char *options;     /**< a line "name (type, default): help" each, "" without options */
    const char *adapter; /**< default of the load argument: "pytorch" for files of foreign modules, "either" where that
                            is found out, else "none". A file may say otherwise of itself */
    /* From 0.2 on. Of what was refused numbers are 0 and strings "". */
    int32_t kind;     /**< REC_PLUGIN_… */
    int32_t can_load; /**< 1 or 0, like those that follow; a codec decodes, a source opens */
    int32_t can_save;
    int32_t needs_type;     /**< cannot be read without a type */
    int32_t has_names;      /**< its data carry the names of fields; else a type is needed to tell them */
    int32_t reads_folders;  /**< a folder can be loaded like a file */
    const char *version;    /**< of the plugin, "" if it does not say */
    const char *license;    /**< SPDX expression, "" if it does not say */
    const char *extensions; /**< all that are recognised, `extension` first: "pt, pth"; "" for memory only */
    uint64_t option_count;
    const rec_option *const *option_list; /**< `option_count` of them, with type, default and bounds */
    const char *hidden;  /**< "", or a line each: what others that come before it do in its place, and whose they are */
    int32_t burn_first;  /**< the first version of Burn that has the format, 0.N as N; 0: those that have recorders,
                              0.7 to 0.21 */
    int32_t burn_last;   /**< the last one; 0 with a `burn_first`: every later one */
    const char *schemes; /**< of a source what it opens: "https, http"; else "" */
    const char *format;  /**< of a stack the names of the two that it is made of; else "" */
    const char *codec;
} rec_plugin_info;

/** Opens what has not been opened yet. @return the number of plugins and refused files, 0 if there are none. */
REC_API uint64_t rec_plugin_count(rec_context *context);
/** @return plugin `index`, or NULL. NULL for `context`, here and in rec_plugin_count(), is the default context. */
REC_API const rec_plugin_info *rec_plugin_get(rec_context *context, uint64_t index);
/** The plugin that a name or alias stands for, as rec_open_recorder() takes it (recorders of the INI file aside), or a
 * codec or source of that name. Opens no more files than it needs to, and leaves `hidden` empty. @return NULL with the
 * error if there is none. */
REC_API const rec_plugin_info *rec_plugin_find(rec_context *context, const char *name);
/** The plugin that saves under a name, by its extension; in all else as rec_plugin_find(). */
REC_API const rec_plugin_info *rec_plugin_for_path(rec_context *context, const char *path);

/* ----------------------------------------------------------------------------------------------------- records -- */

/** A loaded or built record. It owns its whole tree; values and tensors are borrowed from it and die with it. */
typedef struct rec_record rec_record;
/** A value in a record's tree. Borrowed; valid until the list or map that holds it is edited. */
typedef struct rec_value rec_value;
/** A tensor in a record. Borrowed; valid until it is replaced or removed or the record is freed. */
typedef struct rec_tensor rec_tensor;

enum {
    REC_KIND_NIL = 0,
    REC_KIND_BOOL = 1,
    REC_KIND_INT = 2,  /**< a signed integer */
    REC_KIND_UINT = 3, /**< an unsigned integer (non-negative ones of unknown type are this) */
    REC_KIND_FLOAT = 4,
    REC_KIND_STRING = 5,
    REC_KIND_BYTES = 6,
    REC_KIND_LIST = 7,
    REC_KIND_MAP = 8,      /**< ordered; keys are unique */
    REC_KIND_VARIANT = 9,  /**< of an enum, where the format tells variants from maps */
    REC_KIND_NUMBERS = 10, /**< a list of numbers or of bools, packed */
    REC_KIND_TENSOR = 11
};

/** What else is known of a value's form; 0 where the format does not say. */
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
    REC_FORM_PATHS = 10 /**< of the root map: a foreign model, whose keys came as dotted paths; nothing is known of its
                           lists and structs */
};

/** A scalar, as values and plugins exchange it. Its layout is frozen. */
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
/** @return a deep copy whose tensors share their bytes with the original's, or NULL. Either may be freed first. */
REC_API rec_record *rec_record_copy(const rec_record *record);
/** Frees a record and all that was borrowed from it. NULL is ignored. */
REC_API void rec_record_free(rec_record *record);
/** For programs that asked for rec_guard_maps() and read bytes by pointers that librecord gave them: whether these were
 * the file's.
 *  @param record whose bytes; NULL: of any record of this process so far, also freed ones.
 *  @return REC_OK; REC_E_IO that names a mapped file that was cut: what was read of it since may have been zeros. */
REC_API rec_status rec_guard_check(const rec_record *record);

/** Where a record came from. The strings live as long as the record. */
typedef struct rec_origin {
    uint32_t size;        /**< sizeof(rec_origin) of the library */
    int32_t mapped;       /**< 1 if its tensors point into a mapped file */
    int32_t layout;       /**< how Burn stored its parameters: 1 (up to 0.13), 2 (from 0.14 on), 0 if unknown */
    uint32_t reserved;    /**< 0 */
    const char *recorder; /**< the plugin that read it, "NamedMpk"; "" for a record that was built */
    const char *file;     /**< the file or stream it was read from, an address without its secrets (rec_display_name());
                               "" for memory and for a record that was built */
    uint64_t stored;      /**< bytes of that file, `REC_UNKNOWN` where they were not counted */
    uint64_t inflated;    /**< bytes of what it inflates to: `stored` if it is not compressed, `REC_UNKNOWN` if that was
                             not    read to its end (option `data`) */
} rec_origin;
/** @return where the record came from; borrowed from it, never NULL. */
REC_API const rec_origin *rec_record_origin(const rec_record *record);

/** @return metadata `key` ("version", "float", "int", "format", "settings"), or NULL if there is none; borrowed, as
 * long as the record. What is no text (rec_metadata_value()) is given as a line of JSON; NULL with an error out of
 * memory. */
REC_API const char *rec_metadata(const rec_record *record, const char *key);
/** @return the number of metadata entries, known and unknown. */
REC_API uint64_t rec_metadata_count(const rec_record *record);
/** @param key,value (out, may be NULL) entry `index`, in the file's order. */
REC_API rec_status rec_metadata_get(const rec_record *record, uint64_t index, const char **key, const char **value);
/** Sets or (value NULL) removes a metadata entry. The five that tell how a record of Burn is written ("version" …
 *  "settings") are REC_E_ARGUMENT: recorder, precision and the option `layout` choose them when it is saved. */
REC_API rec_status rec_metadata_set(rec_record *record, const char *key, const char *value);
/** @return metadata `key` as it is: a string, a number, a list, a map; NULL if there is none (no error is set).
 * Borrowed until the metadata are edited. */
REC_API const rec_value *rec_metadata_value(const rec_record *record, const char *key);
/** As rec_metadata_set(), of any value without tensors, copied from the same or another record. NULL removes. Formats
 *  that cannot hold it leave it out when the record is saved, and tell. */
REC_API rec_status rec_metadata_set_value(rec_record *record, const char *key, const rec_value *value);

/** @return the root of the tree. */
REC_API const rec_value *rec_root(const rec_record *record);

/* Paths: names and list indices joined by dots, `layers.0.attention.weight`; a variant is a level (its name). A dot or
 * a backslash inside a name is written `\.` and `\\`; any other backslash stands for itself. Names may be empty: `a..b`
 * has three. The empty path is the root. */

/** @return the value at a path, NULL if there is none (no error is set). Constant time for each level. */
REC_API const rec_value *rec_value_at(const rec_record *record, const char *path);
/** @return the tensor at a path, NULL with an error (near misses named) if there is none or it is something else. */
REC_API const rec_tensor *rec_tensor_at(const rec_record *record, const char *path);

/** @return REC_KIND_… */
REC_API int32_t rec_value_kind(const rec_value *value);
/** @return REC_FORM_… */
REC_API int32_t rec_value_form(const rec_value *value);
/** @return the scalar of a scalar value; kind REC_KIND_NIL for others. A string's text is NUL-terminated here. */
REC_API rec_scalar rec_value_scalar(const rec_value *value);
/** @return how many items, entries or numbers it has; 1 for a variant with payload; 0 for scalars and tensors. */
REC_API uint64_t rec_value_count(const rec_value *value);
/** @return item or entry or payload `index`; NULL out of range and for packed numbers. */
REC_API const rec_value *rec_value_item(const rec_value *value, uint64_t index);
/** @return the key of entry `index` of a map, or the name of a variant (index 0), as a scalar. */
REC_API rec_scalar rec_value_key(const rec_value *value, uint64_t index);
/** @return the index of a variant as the file has it, `REC_UNKNOWN` if it has none. */
REC_API uint64_t rec_value_variant(const rec_value *value);
/** @return number `index` of packed numbers as a scalar (bool, int, uint or float); REC_KIND_NIL out of range. */
REC_API rec_scalar rec_value_number(const rec_value *value, uint64_t index);
/** @return the tensor of a tensor value, else NULL. */
REC_API const rec_tensor *rec_value_tensor(const rec_value *value);
/** @param size (out, may be NULL) its length. @return the bytes of a bytes value, also of a record loaded with `data` =
 * skip, borrowed from the record; NULL for others. */
REC_API const void *rec_value_bytes(const rec_value *value, uint64_t *size);

/** Walks all leaves (tensors, scalars, bytes, packed numbers, empty lists and maps) in file order. */
typedef struct rec_iterator rec_iterator;
/** @return an iterator before the first leaf, to be freed; NULL out of memory. The record must not be edited. */
REC_API rec_iterator *rec_iterate(const rec_record *record);
/** @param path (out, may be NULL) the leaf's path, valid until the next step. @return the next leaf, NULL at the end.
 */
REC_API const rec_value *rec_iterator_next(rec_iterator *iterator, const char **path);
/** As `rec_iterator_next`, tensors only. */
REC_API const rec_tensor *rec_iterator_next_tensor(rec_iterator *iterator, const char **path);
REC_API void rec_iterator_free(rec_iterator *iterator);

/* Editing. Missing levels above a path are made: a list where the next part is "0", else a map. Index n of a list of
 * n items appends. */

/** Sets a scalar. @return REC_E_ARGUMENT for a path through something that is neither list nor map. */
REC_API rec_status rec_set_scalar(rec_record *record, const char *path, rec_scalar scalar);
REC_API rec_status rec_set_bool(rec_record *record, const char *path, int32_t value);
REC_API rec_status rec_set_int(rec_record *record, const char *path, int64_t value);
REC_API rec_status rec_set_uint(rec_record *record, const char *path, uint64_t value);
REC_API rec_status rec_set_float(rec_record *record, const char *path, double value);
REC_API rec_status rec_set_string(rec_record *record, const char *path, const char *value);
REC_API rec_status rec_set_nil(rec_record *record, const char *path);
/** Puts an empty list or map (REC_KIND_LIST, REC_KIND_MAP). */
REC_API rec_status rec_set_empty(rec_record *record, const char *path, int32_t kind);
/** Deep copy of a value of the same or another record; tensors share their bytes. */
REC_API rec_status rec_set_value(rec_record *record, const char *path, const rec_value *value);
/** Removes a value; later list items move up. REC_E_NOT_FOUND if there is none. */
REC_API rec_status rec_remove(rec_record *record, const char *path);

/** Who owns the bytes given to `rec_set_tensor`. */
enum {
    REC_COPY = 0,   /**< copied now */
    REC_BORROW = 1, /**< used in place; the caller keeps them unchanged until the record and its copies are freed */
    REC_TAKE = 2,   /**< from malloc, freed with the record; also if the call fails */
    REC_PRODUCE = 3 /**< nowhere yet: made by `produce` each time they are asked for */
};

/** A tensor to be put into a record. Zero the struct, set `size`, fill in. */
typedef struct rec_tensor_spec {
    uint32_t size;         /**< sizeof(rec_tensor_spec) */
    rec_dtype dtype;       /**< one with a size of its own */
    uint32_t rank;         /**< at most 32 */
    int32_t ownership;     /**< REC_COPY, REC_BORROW, REC_TAKE, REC_PRODUCE */
    const uint64_t *shape; /**< `rank` dimensions, outermost first */
    const void *data;   /**< little-endian elements, row-major, as many bytes as the shape asks for; NULL to be made */
    uint64_t data_size; /**< bytes at `data`: must be shape × element size */
    const char *id;     /**< parameter id; "" makes one (13 characters, as Burn's); NULL: a tensor without id */
    /** Of all but REC_TAKE: `data` and `user` are not needed any more. Called once, also if the call fails, on any
     * thread; or NULL. */
    void (*release)(void *user, const void *data);
    void *user; /**< for `release` and `produce` */
    /** REC_PRODUCE: `size` of the tensor's bytes from `offset` on. Returns 0 or an errno, as rec_output's functions do,
     * and is called by one thread at a time. A save asks for each byte once and in order, in pieces of at most 4 MiB;
     * zip archives (npz, pt) once more before where what was written cannot be written over (a codec, a stream). What
     *  rec_tensor_bytes() and typed access asked for is kept by the record, and not asked for again. */
    int32_t (*produce)(void *user, uint64_t offset, void *target, uint64_t size);
} rec_tensor_spec;

/** Sets a tensor from its parts. */
REC_API rec_status rec_set_tensor(rec_record *record, const char *path, const rec_tensor_spec *spec);
/** Sets an f32 parameter with a new id from an array in host byte order, copied.
 *  @param shape `rank` dimensions; the data must have as many elements. */
REC_API rec_status rec_set_f32(rec_record *record, const char *path, const float *data, uint32_t rank,
                               const uint64_t *shape);
/** Gives a tensor another id; NULL for none. */
REC_API rec_status rec_set_id(rec_record *record, const char *path, const char *id);

/* ----------------------------------------------------------------------------------------------------- tensors -- */

/** @return the element type it has at the precision it was loaded with. */
REC_API rec_dtype rec_tensor_dtype(const rec_tensor *tensor);
/** @return the element type of the stored bytes. */
REC_API rec_dtype rec_tensor_stored_dtype(const rec_tensor *tensor);
/** @return the name of `rec_tensor_dtype`; for opaque and quantised ones with the file's own name. Borrowed. */
REC_API const char *rec_tensor_dtype_name(const rec_tensor *tensor);
REC_API uint32_t rec_tensor_rank(const rec_tensor *tensor);
/** @return `rank` dimensions, outermost first; borrowed, never NULL. */
REC_API const uint64_t *rec_tensor_shape(const rec_tensor *tensor);
/** @return the number of elements, the product of the shape. */
REC_API uint64_t rec_tensor_count(const rec_tensor *tensor);
/** @return bytes at the precision it was loaded with. */
REC_API uint64_t rec_tensor_nbytes(const rec_tensor *tensor);
/** @return the parameter id, or NULL; borrowed. */
REC_API const char *rec_tensor_id(const rec_tensor *tensor);
/** @return 1 if the element type was not in the file and had to be assumed (V1 at half precision). */
REC_API int32_t rec_tensor_assumed(const rec_tensor *tensor);
/** @return where the tensor's bytes are in its (inflated) file, `REC_UNKNOWN` if they are not stored as such. */
REC_API uint64_t rec_tensor_offset(const rec_tensor *tensor);

/** The stored bytes, little-endian, of any alignment: no copy where they lie in a mapping or in memory.
 *  @param size (out, may be NULL). @return borrowed from the record; NULL with an error. */
REC_API const void *rec_tensor_bytes(const rec_tensor *tensor, uint64_t *size);

/** The same where the bytes lie in a mapping or in memory already, and else NULL without an error: then
 * rec_tensor_read() is what keeps nothing. @param size (out, may be NULL) 0 with NULL. @return borrowed from the
 * record, of any alignment. */
REC_API const void *rec_tensor_at_hand(const rec_tensor *tensor, uint64_t *size);

/* Typed access: aligned elements in host byte order, borrowed from the record: the stored bytes themselves where type,
 * alignment and byte order fit, else converted once and kept. Values pass through the precision the record was loaded
 * with. NULL with an error: REC_E_RANGE names tensor, index, value and limit. Floats from ints and ints from floats
 * are refused (REC_E_MISMATCH). For a tensor without elements a non-NULL pointer to nothing. */
REC_API const float *rec_tensor_f32(const rec_tensor *tensor);
REC_API const double *rec_tensor_f64(const rec_tensor *tensor);
REC_API const uint16_t *rec_tensor_f16(const rec_tensor *tensor); /**< bit patterns of IEEE binary16 */
REC_API const int64_t *rec_tensor_i64(const rec_tensor *tensor);
REC_API const int32_t *rec_tensor_i32(const rec_tensor *tensor);
REC_API const uint8_t *rec_tensor_bool(const rec_tensor *tensor); /**< 0 or 1 */

/** Reads elements `first` … `first + count - 1` converted to `dtype` (host byte order) into the caller's memory,
 *  keeping nothing. @param target room for count elements; may be NULL for none. */
REC_API rec_status rec_tensor_read(const rec_tensor *tensor, rec_dtype dtype, uint64_t first, uint64_t count,
                                   void *target);

/** Says that elements `first` … `first + count - 1` were read, and will hardly be again for now: where they lie in a
 * mapped file, its pages need no longer be in memory, so that who reads a large file piece by piece needs no more than
 * a piece. Nothing is lost: pointers to the bytes stay good, and who looks there again has them read again. Of what is
 * in memory in another way nothing goes, nor what typed access has converted and kept. Costs little, also of small
 * tensors; any thread may call it at any time; it cannot fail and leaves the last error alone.
 *  @param tensor NULL is ignored. @param count what is beyond the last element is ignored: REC_UNKNOWN is all the rest.
 */
REC_API void rec_tensor_release(const rec_tensor *tensor, uint64_t first, uint64_t count);

/* --------------------------------------------------------------------------------------------------- recorders -- */

/** A format at a precision, with its options. */
typedef struct rec_recorder rec_recorder;

/**
 * Opens a recorder of the default context.
 * @param name a plugin's name or alias ("NamedMpkGz", "mpk-gz", "mpk.gz", "NamedMpkGzFileRecorder"), a format and a
 * codec with a dot between, each by name or extension ("mpk.zst", "Safetensors.gzip"), the name of a `[recorder …]`
 * section (which wins over a plugin of that name), "Default", or "Auto": loading recognises the file by its content,
 * saving by the extension of its name.
 * @return to be closed; NULL with REC_E_NOT_FOUND and the names that exist.
 */
REC_API rec_recorder *rec_open_recorder(const char *name, rec_precision precision);
/** The same in a context of one's own (NULL: the default one). */
REC_API rec_recorder *rec_open_recorder_in(rec_context *context, const char *name, rec_precision precision);
/** Closes a recorder; its records stay. NULL is ignored. */
REC_API void rec_close_recorder(rec_recorder *recorder);
/** @return the plugin's name, "NamedMpkGz"; "Auto". Borrowed. */
REC_API const char *rec_recorder_name(const rec_recorder *recorder);
/** @return the extension without dot, "" for memory only and for Auto. Borrowed. */
REC_API const char *rec_recorder_extension(const rec_recorder *recorder);
/**
 * Sets an option before use. Those every recorder has:
 * `map` = yes|no (map local files, default yes; no: copy them into memory),
 * `data` = read|skip (skip: for listings. Tensors have their element type, shape, size and id, and asking for their
 * bytes or values, or saving them, is REC_E_ARGUMENT. Values that are no tensors are complete, bytes too. Headers and
 * values are all that is kept, and of most formats all that is read: of what is compressed or comes by a pipe no more
 * is in memory, and the rest of a pipe may be left unread. Files are looked at less closely: one that is cut short may
 * pass. Default read), `sync` = yes|no (fsync before renaming, and the folder after it, which is REC_E_SYNC if that
 * alone fails, default yes), `check` = auto|yes|no (read back what was saved, before it takes the old file's place, and
 * hold every value and every tensor's bytes against what was given to the writer: what differs is REC_E_FORMAT with its
 * path, and the old file stays. What cannot be read back is a REC_NOTE_CHECK. Default auto: where it costs less than a
 * tenth of the time, which is files with `sync` in formats that hold tensors as bytes: MessagePack, bincode and
 * safetensors from Burn 0.14 on), `clamp` = yes|no (integers that do not fit become the nearest limit instead of an
 * error, default no), `modules` = yes|no (loading looks the record over: a note tells of tensors of one module that do
 * not go together, and of layers that lack what their siblings have; default no, rec_convert() always does), `layout` =
 * keep|burn-0.7 … burn-0.21 (write the layout the record was loaded with, or that of a Burn version up to the last that
 * is known, with parameter ids in its form; default: the format's, ids as they are); and the plugin's own
 * (`rec_plugin_info.options`).
 */
REC_API rec_status rec_recorder_set(rec_recorder *recorder, const char *option, const char *value);

/** @return the name that `path` stands for: itself if it ends in the recorder's extension, else with the extension
 *  appended (never replaced). To be freed with rec_free(). NULL for memory-only recorders. */
REC_API char *rec_recorder_path(const rec_recorder *recorder, const char *path);

/**
 * Loads a file. If `path` with the extension appended exists it is taken, else `path` itself. A path that begins with a
 * scheme and "://" is what the plugin for that scheme opens; nothing is appended to it. With `map` the record borrows
 * from the mapped file: a file that another process truncates meanwhile ends the program with SIGBUS; call
 * rec_guard_maps() or turn `map` off where that may happen. Files replaced by rename (as rec_save does) are safe.
 * @return the record, to be freed; NULL with the error.
 */
REC_API rec_record *rec_load(rec_recorder *recorder, const char *path);
/** Loads from memory, which must stay unchanged until the record and its copies are freed: tensors point into it.
 *  @param data may be NULL if there are no bytes. */
REC_API rec_record *rec_load_bytes(rec_recorder *recorder, const void *data, uint64_t size);
/** The same with a way to give the memory back. @param release called once with `user` and `data`, on any thread: when
 * the record and all that shares its bytes was freed, or before the function returns if it fails. NULL: as above. */
REC_API rec_record *rec_load_bytes_with(rec_recorder *recorder, const void *data, uint64_t size,
                                        void (*release)(void *user, const void *data), void *user);

/** Where a program has bytes that are neither a file nor memory. Zero the struct, set `size`, fill in. The functions
 * return 0 or an errno, which becomes rec_error_errno(): ENOENT and ENOTDIR are REC_E_NOT_FOUND, ENOMEM is
 * REC_E_MEMORY, ECANCELED is REC_E_CANCELLED, others are REC_E_IO. A negative number is REC_E_IO without an errno. One
 * is called at a time. They may use librecord, but not what they are giving the bytes of. */
typedef struct rec_input {
    uint32_t size;     /**< sizeof(rec_input) */
    uint32_t reserved; /**< 0 */
    const char *name;  /**< what messages call it, copied; NULL: "(input)" */
    uint64_t total; /**< its exact size in bytes: more or fewer are an error. REC_UNKNOWN, and 0 where there is `read`
                       and no `read_at`: it ends where `read` says so */
    /** The next bytes. @param got (out) how many, at most `room`; 0 at the end only. */
    int32_t (*read)(void *user, void *target, uint64_t room, uint64_t *got);
    /** All of `size` bytes at `offset`, which lie within `total`; or NULL. */
    int32_t (*read_at)(void *user, uint64_t offset, void *target, uint64_t size);
    void (*release)(void *user); /**< gives `user` back: once, whatever happens, on any thread; or NULL */
} rec_input;
/** Loads from the program's own functions. With `read_at` and `total` only what is needed is read; tensors of formats
 * that hold them as bytes are read when they are asked for, so that the functions may be called as long as the record
 * lives. Else `read` is called to the end at once; what is longer than 64 MiB goes to a temporary file. @param input
 * copied. */
REC_API rec_record *rec_load_from(rec_recorder *recorder, const rec_input *input, void *user);

/** Loads from an open file descriptor from where it stands to its end (pipes too; not closed).
 *  @param name what errors call it. */
REC_API rec_record *rec_load_fd(rec_recorder *recorder, int fd, const char *name);

/**
 * Saves to a file, whole or not at all: a temporary file beside it is written, synced and renamed. The file's mode
 * (without set-user-ID bits), access control list and user attributes are kept, its owner where that is allowed. What
 * of these cannot be kept is a REC_NOTE_DROPPED, and grants nobody more than the old file did. A symbolic link is
 * followed; a FIFO or a device is written straight. Missing folders are not made. The record is not changed. @param
 * path as in `rec_recorder_path`; a FIFO or device that exists is taken as it is.
 */
REC_API rec_status rec_save(rec_recorder *recorder, const rec_record *record, const char *path);
/** Saves to memory. @param data (out) to be freed with rec_free(). */
REC_API rec_status rec_save_bytes(rec_recorder *recorder, const rec_record *record, void **data, uint64_t *size);
/** Where a program wants bytes that go neither to a file nor to memory. Zero the struct, set `size`, fill in. What its
 *  functions return is as in rec_input, but that ENOENT and ENOTDIR are REC_E_IO like the rest. */
typedef struct rec_output {
    uint32_t size;                                                 /**< sizeof(rec_output) */
    uint32_t reserved;                                             /**< 0 */
    const char *name;                                              /**< what messages call it; NULL: "(output)" */
    int32_t (*write)(void *user, const void *data, uint64_t size); /**< the next bytes, all of them */
    /** Writes over bytes that were written already, for formats that need it; or NULL. */
    int32_t (*patch)(void *user, uint64_t offset, const void *data, uint64_t size);
    /** Called once. @param ok 1: that was all of it, to be put in its place; 0: the save failed, what was written
     * counts for nothing. What it returns counts with 1 only. NULL: nothing to do. */
    int32_t (*finish)(void *user, int32_t ok);
    void (*release)(void *user); /**< after that: gives `user` back, once, whatever happens; or NULL */
} rec_output;
/** Saves to the program's own functions, in pieces of at most 4 MiB. What was saved is not read back (option `check`).
 *  @param output copied. */
REC_API rec_status rec_save_to(rec_recorder *recorder, const rec_record *record, const rec_output *output, void *user);
/** Frees what rec_save_bytes(), rec_recorder_path(), rec_record_describe() or rec_record_families()
 *  gave. NULL is ignored. */
REC_API void rec_free(void *memory);
/** Saves to an open file descriptor (not synced, not closed). @param name what errors call it. */
REC_API rec_status rec_save_fd(rec_recorder *recorder, const rec_record *record, int fd, const char *name);

/* Load arguments. A foreign file (safetensors made by PyTorch) loads as if it had been recorded: its keys go through
 * rules, its layouts through an adapter, and the result is fitted to the destination's type where there is one. They
 * are set with rec_recorder_set() on the recorder that loads, in an INI file's [recorder] section, or by a profile, and
 * work for every format (docs/reference/rules.md): `adapter` = pytorch|none      default: the file's (safetensors:
 * pytorch, found out where Burn wrote them; others: none) `profile` = NAME, FILE.ini:NAME, auto   rules for a model
 * family; auto: the only ones that fit the file `rename`, `remap` = PATTERN => REPLACEMENT   and the other rules of a
 * profile
 * (`drop`, `module`, …); each call adds one `prefix` = PATH               in front of every destination key `gaps` =
 * close|keep holes in the numbers of lists; default: the plugin's (safetensors: close) `partial` = yes|no what the type
 * asks for and the file lacks is left out (default no: an error) `strict` = yes|no             keys that nothing asks
 * for, rules that match nothing and values that the type asks for and the file lacks are errors (default no: notes)
 * `debug` = yes|no              a REC_NOTE_KEY for each tensor, as Burn's debug print
 * `set` = NAME=NUMBER           a number that rules ask for; else it comes from the model's config.json
 * `config` = FILE               that configuration, if it has another name
 * `reverse` = yes|no            the profile backwards: from the record to the foreign file's names and layouts
 * A type on the loading recorder is the destination's type, if the file does not need one to be read. */

/** What becomes of each tensor on its way from one or several sources to a destination, known before data is read. */
typedef struct rec_plan rec_plan;

/** @param to the recorder that will save: the plan then leads to its type if it has one, and to its kind of file (no
 *         adapter by default between two foreign files). NULL: the plan is for rec_plan_load().
 *  @param context where there is no `to`; NULL: the default one.
 *  @return an empty plan, to be freed; the recorders may be closed before. NULL with an error. */
REC_API rec_plan *rec_plan_new(rec_context *context, const rec_recorder *to);
/** Adds a source, read by `from` with the load arguments it has now. Only what comes before the data is read: the file
 *  must stay as it is until the plan was carried out, and what was loaded by it is freed.
 *  The first source that has a type sets the destination's, if `to` has none. */
REC_API rec_status rec_plan_add(rec_plan *plan, rec_recorder *from, const char *path);
/** The same with the program's own functions as the source: see rec_load_from(). */
REC_API rec_status rec_plan_add_from(rec_plan *plan, rec_recorder *from, const rec_input *input, void *user);
/** The same with a record in memory, which must outlive the plan and what is loaded from it. `arguments` may be NULL.
 *  @param name what messages call it. */
REC_API rec_status rec_plan_add_record(rec_plan *plan, const rec_recorder *arguments, const rec_record *record,
                                       const char *name);
/** A record whose values stand wherever no source gives one (a partial load into it). Without a type it says what the
 *  sources' modules are; a tensor of another shape or kind of elements than its own is a problem, and so is that
 * nothing of the sources has a place in it. It must outlive the plan and what is loaded from it. */
REC_API rec_status rec_plan_set_base(rec_plan *plan, const rec_record *base);
/** Works the plan out. Problems do not make it fail: they are in the plan; what fails is what cannot be planned at all
 *  (a number that is missing, a limit). After this nothing can be added. Called by what needs it. */
REC_API rec_status rec_plan_make(rec_plan *plan);
REC_API void rec_plan_free(rec_plan *plan); /**< NULL is ignored */

/** What happens to a tensor or value. */
enum {
    REC_PLAN_MAPPED = 1,     /**< it goes there */
    REC_PLAN_DROPPED = 2,    /**< by a rule */
    REC_PLAN_UNEXPECTED = 3, /**< nothing at the destination asks for it: left out */
    REC_PLAN_MISSING = 4,    /**< the destination asks for it and nothing gives it */
    REC_PLAN_KEPT = 5,       /**< the base's value stays */
    REC_PLAN_DEFAULT = 6 /**< nothing gives it: the type's default, or a zero that is assumed (REC_PROBLEM_ASSUMED) */
};

/** One line of a plan. Strings and shapes live as long as the plan; "" and NULL where there is none. */
typedef struct rec_plan_line {
    uint32_t size;             /**< sizeof(rec_plan_line) of the library */
    int32_t action;            /**< REC_PLAN_… */
    const char *source;        /**< the file (or name) it comes from */
    const char *from;          /**< its key there; of several (join, stack) the first */
    const char *to;            /**< its path at the destination; several for a tensor that is split: a line each */
    const char *operations;    /**< "rope, transpose"; "" if the bytes stay as they are */
    const char *why;           /**< what decided: "Linear", "rules 2, 4", "num_batches_tracked of a BatchNorm" */
    const char *const *inputs; /**< all keys it is made of; `from` is the first */
    uint64_t input_count;
    rec_dtype dtype_before, dtype_after; /**< REC_DTYPE_NONE for what is no tensor */
    uint32_t rank_before, rank_after;
    const uint64_t *shape_before, *shape_after;
} rec_plan_line;

enum {
    REC_PROBLEM_COLLISION = 1,  /**< several sources for one destination */
    REC_PROBLEM_DEAD_RULE = 2,  /**< a rule that matched nothing */
    REC_PROBLEM_MISSING = 3,    /**< required and not there */
    REC_PROBLEM_UNEXPECTED = 4, /**< there and not asked for */
    REC_PROBLEM_SHAPE = 5,      /**< another rank, or a shape that an operation cannot work on */
    REC_PROBLEM_KIND = 6, /**< a tensor where a module is wanted, names where a list is, two spellings of an index… */
    REC_PROBLEM_AMBIGUOUS = 7,  /**< it could be this or that: a rule or a type must say */
    REC_PROBLEM_EMPTY = 8,      /**< no tensor is mapped; fatal unless the load is `partial` */
    REC_PROBLEM_NO_INVERSE = 9, /**< going backwards: a rule that has no inverse */
    REC_PROBLEM_FAMILY = 10,    /**< which family of models it is of, or that a profile is for another one */
    REC_PROBLEM_ASSUMED = 11    /**< a value that the type asks for and the file lacks was assumed */
};

/** Something a plan's reader should know. */
typedef struct rec_plan_problem {
    uint32_t size;    /**< sizeof(rec_plan_problem) of the library */
    int32_t kind;     /**< REC_PROBLEM_… */
    int32_t fatal;    /**< 1: needs a decision, the plan cannot be carried out; 0: worth a word */
    int32_t reserved; /**< 0 */
    const char *key;  /**< the key or path it is about, "" for the whole */
    const char *text; /**< one sentence */
    const char *hint; /**< what to do, or "" */
} rec_plan_problem;

/** How many lines and problems of each sort a plan has. */
typedef struct rec_plan_totals {
    uint32_t size;     /**< sizeof(rec_plan_totals) of the caller, to be set before the call */
    uint32_t reserved; /**< 0 */
    uint64_t tensors;  /**< of the sources */
    uint64_t mapped, dropped, unexpected, missing, kept, defaults; /**< lines by action */
    uint64_t fatal, warnings;                                      /**< problems */
} rec_plan_totals;

/** All of these make the plan if that was not done; 0 and NULL with the error if it fails. */
REC_API uint64_t rec_plan_count(rec_plan *plan);
/** @return line `index`: the destination's order, then what is dropped and unexpected in the sources' order. The first
 * call writes all lines out. */
REC_API const rec_plan_line *rec_plan_get(rec_plan *plan, uint64_t index);
REC_API uint64_t rec_plan_problem_count(rec_plan *plan);
REC_API const rec_plan_problem *rec_plan_problem_get(rec_plan *plan, uint64_t index);
REC_API rec_status rec_plan_total(rec_plan *plan, rec_plan_totals *totals);
/** Carries it out: a record whose tensors are made when they are asked for, one at a time. Fatal problems are the
 * error. The sources' data live as long as the record needs them. @return to be freed; NULL with an error. */
REC_API rec_record *rec_plan_load(rec_plan *plan);

/** Loads `in` with `from` and saves it as `out` with `to`, tensor by tensor: the values pass through `from`'s
 *  precision (open it with REC_PRECISION_KEEP to change nothing) and then `to`'s.
 *  @param plan what to do; then `from` and `in` are not used and may be NULL, the plan has its sources. NULL: the one
 *         that `from`'s load arguments make. */
REC_API rec_status rec_convert(rec_recorder *from, const char *in, rec_recorder *to, const char *out, rec_plan *plan);

/** A profile that can be named in a load argument. Strings live as long as the context. */
typedef struct rec_profile_info {
    uint32_t size;           /**< sizeof(rec_profile_info) of the library */
    uint32_t reserved;       /**< 0 */
    const char *name;        /**< "llama" */
    const char *description; /**< one line */
    const char *source;      /**< what files it is for */
    const char *destination; /**< what it makes of them */
    const char *file;        /**< the INI file it stands in */
} rec_profile_info;
/** @return the number of profiles in the context's INI file and of those that come with the library; 0 with an error.
 */
REC_API uint64_t rec_profile_count(rec_context *context);
/** @return profile `index` in the order of names, or NULL. NULL for `context` is the default context. */
REC_API const rec_profile_info *rec_profile_get(rec_context *context, uint64_t index);

/** A family of models that a foreign file's tensors are of. Strings live as long as the list; "" where there is none.
 */
typedef struct rec_family {
    uint32_t size;       /**< sizeof(rec_family) of the library */
    int32_t fits;        /**< 1: each tensor is one of the family's, in its shape; 0: nearly, see `but` */
    const char *profile; /**< the profile for it: "llama" */
    const char *name;    /**< "Llama" */
    const char *others;  /**< profiles for the same files with another destination, separated by blanks */
    const char *select;  /**< the path that the tensors stand below, for the load argument `select` */
    const char *but;     /**< why it is not for sure, half a sentence */
} rec_family;
/** Finds the families that a record's tensors are of, by their keys and shapes, and by the model's configuration beside
 *  its file. Of several that fit the tensors do not tell which; of a file that nothing fits, those that nearly do.
 *  @param record loaded as it is: not adapted. @param path of its file, for the configuration; NULL: none.
 *  @param count (out) @return the list, to be freed with rec_free(), also where it is empty; NULL with an error. */
REC_API rec_family *rec_record_families(const rec_record *record, const char *path, uint64_t *count);

/** Recognises a file by its content and its name, and behind codecs by what they decode to. @param context NULL: the
 *  default one. @return the plugin's name, borrowed from the context; NULL with an error. */
REC_API const char *rec_recognise(rec_context *context, const char *path);

/** Writes the name to show for a path. An address, scheme://…, holds secrets: its user, password, query and fragment
 *  are left out ("https://user:password@host/name?token" becomes "https://host/name"); any other path is copied. The
 *  library's messages, notes, progress and rec_record_origin() have such names already; show, log and store no other.
 *  @param name (out) NUL-terminated, cut to `room`. @return its whole length, without the NUL. */
REC_API uint64_t rec_display_name(const char *path, char *name, uint64_t room);

/* ------------------------------------------------------------------------------------------------------- types -- */

/* A type is the mirror of a Rust struct with derive(Module) or derive(Record). One definition makes the C struct and
 * the `rec_type`:
 *
 *     #define LINEAR_FIELDS(F, T)  F(T, PARAM, weight, 2)  F(T, OPTION_PARAM, bias, 1)
 *     REC_DEFINE_STRUCT(LINEAR, LINEAR_FIELDS)
 *     #define MODEL_FIELDS(F, T)   F(T, CHILD, fc1, LINEAR)  F(T, LIST, blocks, LINEAR)  F(T, USIZE, steps)
 *     REC_DEFINE_STRUCT(MODEL, MODEL_FIELDS)          // makes `MODEL` and `MODEL_type`
 *
 * Fields, with the member each makes:
 *   PARAM, OPTION_PARAM, TENSOR, OPTION_TENSOR (name, rank[, dims…])       rec_floats name
 *   INT_PARAM, OPTION_INT_PARAM, INT_TENSOR, OPTION_INT_TENSOR (the same)  rec_ints name
 *   BOOL_PARAM, OPTION_BOOL_PARAM, BOOL_TENSOR, OPTION_BOOL_TENSOR         rec_bools name
 *   CHILD (name, TYPE)          TYPE name
 *   OPTION_CHILD (name, TYPE)   TYPE *name       NULL if absent
 *   LIST (name, TYPE)           TYPE *name; uint64_t name##_count
 *   ARRAY (name, TYPE, n)       TYPE name[n]
 *   BOOL U8 U16 U32 U64 USIZE I8 I16 I32 I64 F32 F64 (name)   the C type of that width; bool is int32_t
 *   STRING (name)               const char *name
 *   VALUE (name)                const rec_value *name: whatever is there
 *   CONSTANT (name)             no member: the field exists in Rust and holds no data
 * dims: sizes that must match, 0 for any. An enum module:
 *     #define HEAD_VARIANTS(F, T)  F(T, VARIANT, Dense, LINEAR)  F(T, UNIT_VARIANT, Act)
 *     REC_DEFINE_ENUM(HEAD, HEAD_VARIANTS)   // struct { int32_t variant; LINEAR *Dense; }
 */

/** Numbers as a field has them. The layout of this and the next two is frozen. */
typedef struct rec_floats {
    const float *data;     /**< as rec_tensor_f32(); NULL if absent */
    uint64_t count;        /**< elements */
    const uint64_t *shape; /**< rank dimensions */
    const rec_tensor *tensor;
} rec_floats;
typedef struct rec_ints {
    const int64_t *data;
    uint64_t count;
    const uint64_t *shape;
    const rec_tensor *tensor;
} rec_ints;
typedef struct rec_bools {
    const uint8_t *data;
    uint64_t count;
    const uint64_t *shape;
    const rec_tensor *tensor;
} rec_bools;

/** What a field is. Values are fixed for ever. */
enum {
    REC_FIELD_CONSTANT = 1,
    REC_FIELD_FLOATS = 2,
    REC_FIELD_INTS = 3,
    REC_FIELD_BOOLS = 4,
    REC_FIELD_CHILD = 5,
    REC_FIELD_LIST = 6,
    REC_FIELD_ARRAY = 7,
    REC_FIELD_BOOL = 8,
    REC_FIELD_U8 = 9,
    REC_FIELD_U16 = 10,
    REC_FIELD_U32 = 11,
    REC_FIELD_U64 = 12,
    REC_FIELD_I8 = 13,
    REC_FIELD_I16 = 14,
    REC_FIELD_I32 = 15,
    REC_FIELD_I64 = 16,
    REC_FIELD_F32 = 17,
    REC_FIELD_F64 = 18,
    REC_FIELD_STRING = 19,
    REC_FIELD_VALUE = 20,
    REC_FIELD_VARIANT = 21
};
enum {
    REC_FIELD_IS_OPTION = 1, /**< may be absent */
    REC_FIELD_IS_BARE = 2    /**< of tensors: without a parameter id */
};

typedef struct rec_type rec_type;
/** One field of a struct or variant of an enum. Made by the macros; only its meaning is API. */
typedef struct rec_field {
    const char *name;
    int32_t kind;         /**< REC_FIELD_… */
    uint32_t flags;       /**< REC_FIELD_IS_OPTION, REC_FIELD_IS_BARE */
    uint64_t offset;      /**< of the member in the C struct */
    const rec_type *type; /**< of a child, list, array or variant; NULL for others and for unit variants */
    uint64_t length;      /**< of an array */
    uint64_t shape[10];   /**< of a tensor: the rank, then up to 8 dimensions that must match (0: any), then 0 */
} rec_field;

enum { REC_TYPE_STRUCT = 1, REC_TYPE_ENUM = 2 };
/** A struct or enum with its fields. `size` and `field_size` let a library of another version read it. */
struct rec_type {
    uint32_t size;       /**< sizeof(rec_type) */
    uint32_t field_size; /**< sizeof(rec_field) */
    int32_t kind;        /**< REC_TYPE_STRUCT, REC_TYPE_ENUM */
    uint32_t reserved;   /**< 0 */
    const char *name;
    uint64_t c_size; /**< sizeof the C struct */
    uint64_t field_count;
    const rec_field *fields;
};

#define REC_M_EXPAND(x) x
#define REC_MEMBER(self, kind, ...) REC_M_EXPAND(REC_MEMBER_##kind(__VA_ARGS__, 0))
#define REC_MEMBER_PARAM(name, ...) rec_floats name;
#define REC_MEMBER_OPTION_PARAM(name, ...) rec_floats name;
#define REC_MEMBER_TENSOR(name, ...) rec_floats name;
#define REC_MEMBER_OPTION_TENSOR(name, ...) rec_floats name;
#define REC_MEMBER_INT_PARAM(name, ...) rec_ints name;
#define REC_MEMBER_OPTION_INT_PARAM(name, ...) rec_ints name;
#define REC_MEMBER_INT_TENSOR(name, ...) rec_ints name;
#define REC_MEMBER_OPTION_INT_TENSOR(name, ...) rec_ints name;
#define REC_MEMBER_BOOL_PARAM(name, ...) rec_bools name;
#define REC_MEMBER_OPTION_BOOL_PARAM(name, ...) rec_bools name;
#define REC_MEMBER_BOOL_TENSOR(name, ...) rec_bools name;
#define REC_MEMBER_OPTION_BOOL_TENSOR(name, ...) rec_bools name;
#define REC_MEMBER_CHILD(name, type, ...) type name;
#define REC_MEMBER_OPTION_CHILD(name, type, ...) type *name;
#define REC_MEMBER_LIST(name, type, ...) \
    type *name;                          \
    uint64_t name##_count;
#define REC_MEMBER_ARRAY(name, type, n, ...) type name[n];
#define REC_MEMBER_BOOL(name, ...) int32_t name;
#define REC_MEMBER_U8(name, ...) uint8_t name;
#define REC_MEMBER_U16(name, ...) uint16_t name;
#define REC_MEMBER_U32(name, ...) uint32_t name;
#define REC_MEMBER_U64(name, ...) uint64_t name;
#define REC_MEMBER_USIZE(name, ...) uint64_t name;
#define REC_MEMBER_I8(name, ...) int8_t name;
#define REC_MEMBER_I16(name, ...) int16_t name;
#define REC_MEMBER_I32(name, ...) int32_t name;
#define REC_MEMBER_I64(name, ...) int64_t name;
#define REC_MEMBER_F32(name, ...) float name;
#define REC_MEMBER_F64(name, ...) double name;
#define REC_MEMBER_STRING(name, ...) const char *name;
#define REC_MEMBER_VALUE(name, ...) const rec_value *name;
#define REC_MEMBER_CONSTANT(name, ...)
#define REC_MEMBER_VARIANT(name, type, ...) type *name;
#define REC_MEMBER_UNIT_VARIANT(name, ...)

#define REC_FIELD(self, kind, ...) REC_M_EXPAND(REC_FIELD_OF_##kind(self, __VA_ARGS__, 0))
#define REC_F_TENSOR(self, kind, flags, name, ...) {#name, kind, flags, offsetof(self, name), NULL, 0, {__VA_ARGS__}},
#define REC_F_SCALAR(self, kind, name) {#name, kind, 0, offsetof(self, name), NULL, 0, {0}},
#define REC_FIELD_OF_PARAM(self, name, ...) REC_F_TENSOR(self, REC_FIELD_FLOATS, 0, name, __VA_ARGS__)
#define REC_FIELD_OF_OPTION_PARAM(self, name, ...) \
    REC_F_TENSOR(self, REC_FIELD_FLOATS, REC_FIELD_IS_OPTION, name, __VA_ARGS__)
#define REC_FIELD_OF_TENSOR(self, name, ...) REC_F_TENSOR(self, REC_FIELD_FLOATS, REC_FIELD_IS_BARE, name, __VA_ARGS__)
#define REC_FIELD_OF_OPTION_TENSOR(self, name, ...) \
    REC_F_TENSOR(self, REC_FIELD_FLOATS, REC_FIELD_IS_BARE | REC_FIELD_IS_OPTION, name, __VA_ARGS__)
#define REC_FIELD_OF_INT_PARAM(self, name, ...) REC_F_TENSOR(self, REC_FIELD_INTS, 0, name, __VA_ARGS__)
#define REC_FIELD_OF_OPTION_INT_PARAM(self, name, ...) \
    REC_F_TENSOR(self, REC_FIELD_INTS, REC_FIELD_IS_OPTION, name, __VA_ARGS__)
#define REC_FIELD_OF_INT_TENSOR(self, name, ...) \
    REC_F_TENSOR(self, REC_FIELD_INTS, REC_FIELD_IS_BARE, name, __VA_ARGS__)
#define REC_FIELD_OF_OPTION_INT_TENSOR(self, name, ...) \
    REC_F_TENSOR(self, REC_FIELD_INTS, REC_FIELD_IS_BARE | REC_FIELD_IS_OPTION, name, __VA_ARGS__)
#define REC_FIELD_OF_BOOL_PARAM(self, name, ...) REC_F_TENSOR(self, REC_FIELD_BOOLS, 0, name, __VA_ARGS__)
#define REC_FIELD_OF_OPTION_BOOL_PARAM(self, name, ...) \
    REC_F_TENSOR(self, REC_FIELD_BOOLS, REC_FIELD_IS_OPTION, name, __VA_ARGS__)
#define REC_FIELD_OF_BOOL_TENSOR(self, name, ...) \
    REC_F_TENSOR(self, REC_FIELD_BOOLS, REC_FIELD_IS_BARE, name, __VA_ARGS__)
#define REC_FIELD_OF_OPTION_BOOL_TENSOR(self, name, ...) \
    REC_F_TENSOR(self, REC_FIELD_BOOLS, REC_FIELD_IS_BARE | REC_FIELD_IS_OPTION, name, __VA_ARGS__)
#define REC_FIELD_OF_CHILD(self, name, type, ...) \
    {#name, REC_FIELD_CHILD, 0, offsetof(self, name), &type##_type, 0, {0}},
#define REC_FIELD_OF_OPTION_CHILD(self, name, type, ...) \
    {#name, REC_FIELD_CHILD, REC_FIELD_IS_OPTION, offsetof(self, name), &type##_type, 0, {0}},
#define REC_FIELD_OF_LIST(self, name, type, ...) {#name, REC_FIELD_LIST, 0, offsetof(self, name), &type##_type, 0, {0}},
#define REC_FIELD_OF_ARRAY(self, name, type, n, ...) \
    {#name, REC_FIELD_ARRAY, 0, offsetof(self, name), &type##_type, n, {0}},
#define REC_FIELD_OF_BOOL(self, name, ...) REC_F_SCALAR(self, REC_FIELD_BOOL, name)
#define REC_FIELD_OF_U8(self, name, ...) REC_F_SCALAR(self, REC_FIELD_U8, name)
#define REC_FIELD_OF_U16(self, name, ...) REC_F_SCALAR(self, REC_FIELD_U16, name)
#define REC_FIELD_OF_U32(self, name, ...) REC_F_SCALAR(self, REC_FIELD_U32, name)
#define REC_FIELD_OF_U64(self, name, ...) REC_F_SCALAR(self, REC_FIELD_U64, name)
#define REC_FIELD_OF_USIZE(self, name, ...) REC_F_SCALAR(self, REC_FIELD_U64, name)
#define REC_FIELD_OF_I8(self, name, ...) REC_F_SCALAR(self, REC_FIELD_I8, name)
#define REC_FIELD_OF_I16(self, name, ...) REC_F_SCALAR(self, REC_FIELD_I16, name)
#define REC_FIELD_OF_I32(self, name, ...) REC_F_SCALAR(self, REC_FIELD_I32, name)
#define REC_FIELD_OF_I64(self, name, ...) REC_F_SCALAR(self, REC_FIELD_I64, name)
#define REC_FIELD_OF_F32(self, name, ...) REC_F_SCALAR(self, REC_FIELD_F32, name)
#define REC_FIELD_OF_F64(self, name, ...) REC_F_SCALAR(self, REC_FIELD_F64, name)
#define REC_FIELD_OF_STRING(self, name, ...) REC_F_SCALAR(self, REC_FIELD_STRING, name)
#define REC_FIELD_OF_VALUE(self, name, ...) REC_F_SCALAR(self, REC_FIELD_VALUE, name)
#define REC_FIELD_OF_CONSTANT(self, name, ...) {#name, REC_FIELD_CONSTANT, 0, 0, NULL, 0, {0}},
#define REC_FIELD_OF_VARIANT(self, name, type, ...) \
    {#name, REC_FIELD_VARIANT, 0, offsetof(self, name), &type##_type, 0, {0}},
#define REC_FIELD_OF_UNIT_VARIANT(self, name, ...) {#name, REC_FIELD_VARIANT, 0, 0, NULL, 0, {0}},

#if defined(__GNUC__) || defined(__clang__)
#define REC_MAYBE_UNUSED __attribute__((unused))
#else
#define REC_MAYBE_UNUSED
#endif
#define REC_DEFINE_TYPE(NAME, KIND, FIELDS)                                                                  \
    REC_MAYBE_UNUSED static const rec_field NAME##_rec_fields[] = {                                          \
        FIELDS(REC_FIELD, NAME){NULL, 0, 0, 0, NULL, 0, {0}}};                                               \
    REC_MAYBE_UNUSED static const rec_type NAME##_type = {sizeof(rec_type),                                  \
                                                          sizeof(rec_field),                                 \
                                                          KIND,                                              \
                                                          0,                                                 \
                                                          #NAME,                                             \
                                                          sizeof(NAME),                                      \
                                                          sizeof(NAME##_rec_fields) / sizeof(rec_field) - 1, \
                                                          NAME##_rec_fields};
/** Makes the C struct `NAME` and its `NAME_type`. A struct without members (constants only) is not C: add a VALUE. */
#define REC_DEFINE_STRUCT(NAME, FIELDS) \
    typedef struct NAME {               \
        FIELDS(REC_MEMBER, NAME)        \
    } NAME;                             \
    REC_DEFINE_TYPE(NAME, REC_TYPE_STRUCT, FIELDS)
/** Makes the C struct `NAME` of an enum module (index of the variant, one pointer each) and its `NAME_type`. */
#define REC_DEFINE_ENUM(NAME, FIELDS) \
    typedef struct NAME {             \
        int32_t variant;              \
        FIELDS(REC_MEMBER, NAME)      \
    } NAME;                           \
    REC_DEFINE_TYPE(NAME, REC_TYPE_ENUM, FIELDS)

/* Types can also be given by name: from the model's Rust source, from INI files, and Burn's own modules, optimizers and
 * schedulers, which are always known. */

/** A set of type definitions. */
typedef struct rec_types rec_types;
/** @return a set that knows Burn's own types, to be freed; NULL with an error. `context` NULL: the default one. */
REC_API rec_types *rec_types_new(rec_context *context);
/** Recorders that use it keep what they need. NULL is ignored. */
REC_API void rec_types_free(rec_types *types);
/** Adds the `struct`, `enum` and `type` items of a Rust file, or (*.ini) the type sections of an INI file
 *  (docs/reference/types.md). A later definition hides an earlier one of its name. */
REC_API rec_status rec_types_add_file(rec_types *types, const char *path);
/** The same for Rust source in memory. @param name what messages call it. */
REC_API rec_status rec_types_add_rust(rec_types *types, const char *text, const char *name);
/** The names that are defined in a set. A name that differs between versions of Burn is there once for each.
 *  @return name `index`, those added last first, borrowed until something is added; NULL behind the last. Asking for
 * all in order takes time in proportion to the square of their number, which is some hundreds. */
REC_API const char *rec_types_name(const rec_types *types, uint64_t index);
/** Gives a recorder the type of its records as an expression in Rust's grammar over what `types` knows: "Model",
 *  "Vec<nn::Linear<B>>", "Adam", "f64". The recorder keeps the set; what is added to it later counts too, but not while
 *  another thread uses the recorder. NULL for `expression`: no type. */
REC_API rec_status rec_recorder_set_type_name(rec_recorder *recorder, const rec_types *types, const char *expression);

/** The type of a record as Rust source, as far as the record shows it: `name` and what it is made of, Burn's own
 * modules by their names in the version that wrote it. What is not in a record (whether a list is a Vec or an array,
 * the width of a number in JSON, which Option is absent…) is assumed, and marked by `// assumed: …` at the end of its
 * line. Behind an integer that may as well have a sign stands `or i64` as a comment: with such a type, files without
 * names are neither read nor written (REC_E_TYPE), since they keep both differently. rec_types_add_rust() reads it.
 * @param name of the type; NULL: "Model".
 *  @return to be freed with rec_free(); NULL with an error. */
REC_API char *rec_record_describe(const rec_record *record, const rec_types *types, const char *name);

/** Flags of `rec_bind_at`. */
enum {
    REC_BIND_STRICT = 0,
    REC_BIND_ALLOW_MISSING = 1,   /**< what is not in the record stays as the caller had it */
    REC_BIND_ALLOW_UNEXPECTED = 2 /**< what the type does not name is left alone */
};

/** What a bound struct points to. */
typedef struct rec_binding rec_binding;

/**
 * Fills a C struct from a record, as Burn's load_record does. Every mistake is found before it returns: each is a note
 * of the report (REC_NOTE_MISSING, _UNEXPECTED, _SHAPE, _KIND) and a line of the error's message. Nil values
 * (constants) are never unexpected. A value that a typed load assumed (REC_NOTE_ASSUMED), since the file lacks it, is
 * missing.
 * @param target the C struct of `type`; left untouched on failure. Its pointers live until the binding is freed; the
 *        record must outlive the binding.
 * @return to be freed; NULL with REC_E_MISMATCH.
 */
REC_API rec_binding *rec_bind(const rec_record *record, const rec_type *type, void *target);
/** The same from a path in the record on, and with REC_BIND_… flags. */
REC_API rec_binding *rec_bind_at(const rec_record *record, const char *path, const rec_type *type, void *target,
                                 uint32_t flags);
REC_API void rec_binding_free(rec_binding *binding);
/** Gives a recorder the type of the records it loads, for formats that cannot be read without one. Static storage:
 *  the type is used, not copied. NULL for none. A type without tensors does not fit a record with tensors: loading and
 *  converting fail with REC_E_MISMATCH. */
REC_API rec_status rec_recorder_set_type(rec_recorder *recorder, const rec_type *type);

#ifdef __cplusplus
}
#endif
#endif
