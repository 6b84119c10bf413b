/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The base of core: memory with budgets, text input, errors and reports, and the job, which is one operation of the
 * API. It opens no files and knows no formats, records or configuration; other rooms fill the members of the context.
 * Memory from an allocator belongs to the caller; memory of an arena is freed with the arena. A job lives on the
 * caller's stack and owns its error and report until lr_job_end passes both to the calling thread. A context belongs
 * to the application and outlives all objects opened in it. */
#ifndef LR_BASE_H
#define LR_BASE_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/text.h"
#include "common/threads.h"
#include "common/utf8.h"
#include "librecord/parallel.h"
#include "librecord/plugin_types.h"
#include "os/system.h"
#include "os/watch.h"

/* ------------------------------------------------------------------------------------------------------ memory -- */

/** Three functions and a user pointer; never NULL inside. */
typedef struct lr_allocator {
    void *(*alloc)(void *user, size_t size);
    void *(*resize)(void *user, void *old, size_t size);
    void (*release)(void *user, void *memory);
    void *user;
    bool standard; /**< malloc's: payloads may then use mmap */
} lr_allocator;

extern const lr_allocator lr_standard_allocator;

void *lr_alloc(const lr_allocator *allocator, uint64_t size);  /**< NULL on failure; size 0 gives a real pointer */
void *lr_zalloc(const lr_allocator *allocator, uint64_t size); /**< zeroed */
void *lr_resize(const lr_allocator *allocator, void *old, uint64_t size); /**< old may be NULL */
void lr_release(const lr_allocator *allocator, void *memory);             /**< NULL is ignored */
char *lr_strdup(const lr_allocator *allocator, const char *text);

/** Checked size arithmetic. @return false on overflow. */
static inline bool lr_mul(uint64_t a, uint64_t b, uint64_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}
static inline bool lr_add(uint64_t a, uint64_t b, uint64_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

/** Grows an array to at least `need` elements of `each` bytes: at least to twice its size, to 4 elements and to 64
 * bytes. Its contents stay. @param array address of its pointer, which may be NULL while `room` is 0. @return false:
 * out of memory, or the size overflows; the array and its room are unchanged. */
bool lr_grow(const lr_allocator *allocator, void *array, uint64_t need, uint64_t *room, size_t each);
/** What such an array is to grow to. @return its bytes, UINT64_MAX if they cannot be counted. */
uint64_t lr_grow_size(uint64_t need, uint64_t *room, size_t each);

/** How much an operation may allocate. `limit` grows with the input that was seen. */
typedef struct lr_budget {
    uint64_t used;
    uint64_t limit;
} lr_budget;

bool lr_budget_take(lr_budget *budget, uint64_t size); /**< NULL budget: always true */
void lr_budget_give(lr_budget *budget, uint64_t size);

/** Memory that is freed as a whole. Chunks double from 1 KiB to 256 KiB, and are pages once there is much; large pieces
 * get a chunk of their own. */
typedef struct lr_arena {
    const lr_allocator *allocator;
    struct lr_chunk *chunks;
    uint8_t *next, *end;
    uint64_t chunk_size; /**< of the next one */
    uint64_t taken;      /**< by all of them */
    lr_budget *budget;   /**< during a load, else NULL */
    bool refused;        /**< why the last NULL was: true the budget, false the allocator */
} lr_arena;

void lr_arena_init(lr_arena *arena, const lr_allocator *allocator);
void lr_arena_free(lr_arena *arena);
void *lr_arena_alloc(lr_arena *arena, uint64_t size, uint64_t alignment); /**< alignment: a power of two up to 16 */
/** An array, aligned to 8. NULL also if its size overflows. */
void *lr_arena_array(lr_arena *arena, uint64_t count, size_t each);
/** As lr_grow, in an arena, for elements that are aligned to 8 or less. It keeps the smaller arrays too: together they
 *  are no larger than the last one. */
bool lr_arena_grow(lr_arena *arena, void *array, uint64_t need, uint64_t *room, size_t each);
/** Takes back the last allocations, from `memory` on, if nothing else was allocated after them: `end` is where the last
 *  of them ended. Does nothing otherwise. */
void lr_arena_rewind(lr_arena *arena, void *memory, const void *end);
/** Releases the unused rest of the current chunk if it consists of pages: for an arena that will not grow. */
void lr_arena_trim(lr_arena *arena);
char *lr_arena_text(lr_arena *arena, const char *text, uint64_t length); /**< NUL-terminated copy */

/** Page memory for payloads: grows without copying where the system can, in huge pages where it has them. */
typedef struct lr_pages {
    const lr_allocator *allocator;
    uint8_t *data;
    uint64_t size; /**< bytes reserved */
    bool mapped;
} lr_pages;

/** At least `size` bytes; contents kept; what is new holds anything */
bool lr_pages_grow(lr_pages *pages, uint64_t size);
void lr_pages_trim(lr_pages *pages, uint64_t size); /**< gives back what is beyond `size` */
void lr_pages_free(lr_pages *pages);
/** Frees pages and the struct itself, which is of their allocator: for those who lend them (lr_source_owned). */
void lr_pages_release(void *pages, const void *data);
/** @return whether so many bytes would begin at a page of the system's: there is no need to align them further. */
bool lr_pages_begin_page(const lr_allocator *allocator, uint64_t size);

/* ----------------------------------------------------------------------------------------------- maps of files -- */

/** Fails if the mapped file was truncated. @param watch may be NULL. @param sizes_too also compares the size of the
 * file, which shows a truncation that no read has met. @return the job's status. */
int32_t lr_watch_check(rec_job *job, lr_watch *watch, bool sizes_too);
/** Fails if a mapped file of the job's context was truncated since the job began: called after the last read, before
 * the result is used. It replaces an earlier failure of the job, which may come from zeros in place of the lost bytes.
 * @return the job's status. */
int32_t lr_watch_judge(rec_job *job, bool sizes_too);
/** Fails if any map of the process was cut and somebody met that. */
int32_t lr_watch_any(rec_job *job);

/* -------------------------------------------------------------------------------------------------------- text -- */

/** The longest name of a recorder, an alias, an option or a key, in bytes. */
enum { LR_NAME_MOST = 64 };

/** Recorder names compare without case and without `-`, `_` and `.`. */
bool lr_name_same(const char *a, const char *b);
/** @return whether it can name a recorder: 1 to 64 of A-Z a-z 0-9 . _ - with a letter or digit among them. */
bool lr_name_valid(const char *name);
/** @return whether it can name an option: 1 to 64 of a-z 0-9 _ -. */
bool lr_key_valid(const char *key);

/** Two or more candidates are shown to it; `best` is the nearest that is near enough to be meant, or NULL. */
typedef struct lr_suggestion {
    const char *asked;
    const char *best; /**< borrowed from the candidates */
    size_t distance;
} lr_suggestion;

void lr_suggestion_begin(lr_suggestion *near, const char *asked);
void lr_suggestion_try(lr_suggestion *near, const char *candidate);

/** A hash for tables of keys from files. The key is drawn per process, so that a file cannot be made with colliding
 * keys. */
uint64_t lr_key_hash(const void *data, size_t size);
/** The same by a key of the caller's: SipHash-1-3. */
uint64_t lr_key_hash_with(const uint64_t secret[2], const void *data, size_t size);

/** @return the offset of the first byte that is not valid UTF-8 (no surrogates, nothing overlong), or `length`. */
size_t lr_utf8_valid(const char *text, size_t length);

/** Reads yes, true, on, 1 or no, false, off, 0, in any case. @return whether it is one of these. */
bool lr_bool_read(const char *text, bool *value);
/** Reads a whole decimal number with or without a sign. @return whether it is one. */
bool lr_int_read(const char *text, int64_t *value);
/** Reads a whole number without a sign, of bytes or of KiB, MiB or GiB. @return whether it is one of 64 bits. */
bool lr_size_read(const char *text, uint64_t *bytes);
/** Parses a decimal number: 0.25, .5, 1e-5, -3. Rounds to the nearest double in any locale. @return false: not a
 * number, or out of the range of double. */
bool lr_number_read(const char *text, size_t length, double *value);
/** A number as `%.*g`, or `%.*e`, has it, with a point in every language. @return text. */
const char *lr_number_put(char *text, size_t room, char form, int digits, double number);
/** @return the length of the name that text begins with: a letter or _, then letters, digits, _ and dots; 0: none. */
size_t lr_number_name(const char *text, size_t length);

/** 0 to 9, whatever the locale. */
static inline bool lr_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/** Text for a message: at most 64 bytes, cut at a character and closed with "..." if it is longer. @return buffer. */
typedef struct lr_excerpt {
    char text[LR_NAME_MOST + 4];
} lr_excerpt;
const char *lr_excerpt_text(lr_excerpt *brief, const char *text);

/* ------------------------------------------------------------------------------------------- contexts and jobs -- */

typedef struct lr_config lr_config;

/** The public form of an error. Its size is fixed, so that it can report out of memory. */
typedef struct lr_error {
    rec_status status;
    uint32_t line;
    int32_t number; /**< errno of a failure of the system's, else 0 */
    uint64_t offset;
    char file[1024];
    char path[512];
    char expected[256];
    char found[256];
    char hint[1024];
    char what[2048];    /**< the middle part: words of rec_fail, or "expected …, found …" */
    char message[5120]; /**< all of it */
    bool truncated;     /**< what was found was the end of the file */
} lr_error;

/** What a room above keeps with a context: the first member of a struct of its own (config.h: lr_context_attach). */
typedef struct lr_attached {
    struct lr_attached *next;
    void (*release)(struct lr_attached *what); /**< its own: says what it is, too */
} lr_attached;

/** What recorders, records and plans of one context share, in all threads. core/config/context.c makes it. */
struct rec_context {
    atomic_uint_fast64_t held; /**< references besides the owner's: config.h, lr_context_retain */
    atomic_bool given_up;      /**< its owner has freed it: callbacks are no longer called */
    lr_allocator allocator;
    rec_limits limits;
    uint32_t threads;
    int32_t plugins; /**< REC_PLUGINS_… */
    uint64_t spill; /**< what is inflated or made of a file's numbers goes to a temporary file from so many bytes on; 0:
                       never */
    char *data;     /**< the directory of modules and profiles; may be NULL */
    bool sources;   /**< paths with a scheme are opened by plugins */
    rec_progress_fn progress;
    void *progress_user;
    rec_note_fn note;
    void *note_user;
    lr_config *config;                          /**< config.h: never NULL; empty without a file */
    _Atomic(const struct lr_modules *) modules; /**< burn.h: what is known of Burn's own modules; NULL until a recorder
                                                     is opened */
    _Atomic(lr_attached *) attached;            /**< the last one first */
    _Atomic(struct lr_parallel *) parallel;     /**< core/io/io.h: of files that another process read; NULL: none */
    pthread_mutex_t lock;                       /**< protects attachments and typed tensor access */
};

/** @return whether it has callbacks that may be called. NULL: no. */
static inline bool lr_context_tells(const rec_context *context)
{
    return context && !atomic_load_explicit(&context->given_up, memory_order_acquire);
}

/** The last of the numbers that a plugin may give; what comes behind (REC_E_SYNC) is core's alone to say. */
enum { LR_STATUS_LAST = REC_E_TYPE, LR_NOTE_LAST = REC_NOTE_CHECK };

typedef struct lr_report lr_report;
typedef struct lr_option_set lr_option_set; /* core/registry/registry.h */

/** A type, whatever it was given as. All zero: none. */
typedef struct lr_type_ref {
    /** Lays it out for the job's Burn version. NULL: there is no type. The result NULL: the job has failed. */
    const rec_layout *(*layout)(rec_job *job, const struct lr_type_ref *type);
    const void *what;       /**< for `layout`: a C type, an expression, a text; borrowed */
    const rec_types *types; /**< type definitions by name; may be NULL */
    const char *name;       /**< of a type by name: that, without path and arguments; borrowed; or NULL */
} lr_type_ref;

typedef struct lr_walk lr_walk; /* burn/visit/walk_private.h: what is saved */

/** The version of Burn whose layout counts, and how that is known. */
typedef struct lr_job_burn {
    int32_t minor;           /**< load: by the metadata so far; save: what is written */
    rec_precision precision; /**< the same for the precision that V1 tensors are stored at */
    bool known;              /**< the version and layout are known */
    bool told;               /**< load: the metadata say which minor version wrote the file */
    int32_t forced;          /**< load: taken for that version whatever they say; 0: not */
} lr_job_burn;

typedef struct lr_job_progress {
    uint64_t done, total;   /**< in bytes; REC_UNKNOWN: not known yet */
    rec_progress_fn tell;   /**< of the recorder; NULL: the context's */
    void *user;             /**< for it */
    const char *step;       /**< the name of the phase; NULL: "read" */
    uint32_t phase, phases; /**< 0: the only one */
    uint64_t overall;       /**< the largest that was reported */
} lr_job_progress;

/** The share of one phase in rec_progress.overall_total. */
enum { LR_PHASE_SHARE = 1000000 };

/** Memory of rec_job_alloc() that was not freed yet. */
typedef struct lr_pieces {
    struct lr_piece *slots;
    uint64_t room, count;
} lr_pieces;

/** Module layouts of files whose names are paths: the names of rec_plugin.adapter. */
enum { LR_FILE_BURN, LR_FILE_PYTORCH, LR_FILE_EITHER, LR_FILE_FOREIGN };
/** @param name NULL: Burn's. @return LR_FILE_…; LR_FILE_FOREIGN for names unknown to the library. */
int32_t lr_adapter_kind(const char *name);
/** Whether a text may be a layout's name: 1 to 64 bytes of letters, digits, `-`, `_` and `.`. */
bool lr_adapter_valid(const char *name);

/** A job in parts of one concern each. */
struct rec_job {
    /* What it is. */
    rec_context *context;          /**< NULL only while one is made */
    const lr_allocator *allocator; /**< the context's */
    rec_limits limits;             /**< the context's, copied at the beginning */
    const char *operation;         /**< "load", "save"…; static */
    const char *file;              /**< what it works on, for messages; borrowed; may be NULL */
    const rec_plugin *plugin;      /**< whose code runs; may be NULL */
    const lr_option_set *options;  /**< options of that plugin; core/registry/option.c */
    int32_t adapter;               /**< LR_FILE_… of the file, from its plugin or reader; for a save, of the output */
    const char *adapter_name;      /**< of LR_FILE_FOREIGN: its name; NULL: "foreign" */
    bool adapting;                 /**< the reader may still say so */
    bool skip;                     /**< of a load: tensors are to have no data */
    bool missed;                   /**< of such a load: bytes that belong to no tensor were passed over and are gone… */
    bool whole;                    /**< …so this is a second one, whose reader passes over nothing */
    bool partly;                   /**< of such a load: what was read is not the whole */
    rec_source *absent;            /**< core/io/source_absent.c: in their place, or NULL */
    uint32_t cuts;                 /**< maps of files that had been cut when it began (watch.c) */
    bool placed;   /**< of a save: what was written has its name, and nothing that fails later undoes that */
    bool passing;  /**< what is loaded or saved is only handed on: files that are not mapped are read when
                        needed, pages of those that are need not stay */
    lr_walk *walk; /**< of a save, or NULL */
    struct lr_parallel *parallel; /**< core/io/io.h: of one of several processes that work together; else NULL */
    rec_source *stepped;          /**< of a load: what a reader steps through (core/io/source_map.c), or NULL */
    bool converting;              /**< of a save: what is streamed are numbers in memory that only change their type */
    void (*at_end)(rec_job *job); /**< gives back what a room above keeps in `kept`, and clears both; NULL: nothing */
    void *kept;                   /**< core/io/source_siblings.c: the companion files that were opened */

    /* What it may take, and what it gave. */
    lr_budget budget;
    lr_pieces pieces;
    uint64_t buried;       /**< of those: what lr_job_bury() keeps */
    struct rec_sink *made; /**< core/io/sink.c: the newest sink that a plugin made and has not closed */
    uint64_t input;        /**< size of the (inflated) input seen so far */
    uint64_t inflated;     /**< bytes that plugins inflated on their own (rec_job_check_inflated) */
    uint64_t beside;       /**< total size of the companion files */

    /* The type, if the caller gave one, and the version of Burn whose layout counts. */
    lr_type_ref type;           /**< of a typed load or save */
    struct lr_layouts *layouts; /**< burn.h: computed on first use, NULL until then */
    lr_job_burn burn;

    /* How far it is, and where. */
    lr_job_progress progress;
    /** Writes the place in the record where the events are, "" if nowhere; the whole length. NULL: nowhere. */
    uint64_t (*where)(void *user, char *path, size_t room);
    void *where_user;

    /* What it has to say. Last: lr_job_begin() does not clear the texts. */
    bool quiet;        /**< no notes: a walk that only measures */
    lr_report *report; /**< NULL until the first note */
    uint64_t notes;
    bool hinting; /**< the last failure reported was the first: hints are about it */
    bool named;   /**< it says by itself which file it is about */
    lr_error error;
};

/** rec_limits is never smaller than this, and no struct of a caller larger than LR_STRUCT_MOST. */
#define LR_LIMITS_LEAST (offsetof(rec_limits, elements) + sizeof(((rec_limits *)0)->elements))
enum { LR_STRUCT_MOST = 4096 };

/** Begins an operation. A NULL `context` makes a new one (lr_job_open in config.h is for calls without a context). */
void lr_job_begin(rec_job *job, rec_context *context, const char *operation, const char *file);
/** Begins an operation over that failed or did not do: no error, no report. */
void lr_job_again(rec_job *job);
/** Says which line of a file the failure is about, unless it names one itself. @param status what it then is. */
void lr_job_locate(rec_job *job, int32_t status, const char *file, uint32_t line);
/** Says that the failure that was just reported is the system's. @return the status. */
int32_t lr_job_errno(rec_job *job, int error);
/** Takes back what there is to do about the failure: another hint follows. */
void lr_job_clear_hint(rec_job *job);
/** Clears the failure and keeps everything else: the caller reports it in another way. */
void lr_job_forgive(rec_job *job);
/** Drops an operation: nothing is published. */
void lr_job_drop(rec_job *job);
/** Ends it: publishes the error (or success) and the report to this thread. @return the job's status. */
rec_status lr_job_end(rec_job *job);
/** @return true if a failure was reported. */
static inline bool lr_job_failed(const rec_job *job)
{
    return job->error.status != REC_OK;
}
/** @return whether the caller gave a type. */
static inline bool lr_job_typed(const rec_job *job)
{
    return job->type.layout != NULL;
}
/** Begins a phase: its progress starts at 0, and the overall progress continues. @param step "read", "write", "check";
 * static. */
void lr_job_phase(rec_job *job, uint32_t phase, const char *step);
/** Returns the shares of all phases. */
static inline uint64_t lr_job_whole(const rec_job *job)
{
    uint32_t phase = job->progress.phase ? job->progress.phase : 1;
    return (uint64_t)(job->progress.phases > phase ? job->progress.phases : phase) * LR_PHASE_SHARE;
}
/** The input is at least this large: the budget follows. */
void lr_job_input(rec_job *job, uint64_t size);
/** The same for a companion file, whose size is added. */
void lr_job_sibling(rec_job *job, uint64_t size);

/* ------------------------------------------------------------------------------------------ calls into plugins -- */

/** What of a plugin is called. */
enum {
    LR_CALL_LOAD = 1,
    LR_CALL_SAVE = 2,
    LR_CALL_SOURCE = 3, /**< a function of a source that a plugin made */
    LR_CALL_SINK = 4,   /**< the same of a sink */
    LR_CALL_BLOB = 5,   /**< a blob's read function */
    LR_CALL_PROGRAM = 6 /**< no plugin's: a function of the application's, which may begin operations of its own */
};

/** A call into a plugin, on the caller's stack. */
typedef struct lr_call {
    struct lr_call *outer; /**< that which this one was made in, or NULL */
    rec_job *job;          /**< may be NULL */
    int32_t kind;          /**< LR_CALL_… */
    void *self;            /**< the handle that the plugin passes to callbacks, or NULL */
    uint64_t handed;       /**< core/io/lent.c: counts of sources that it was given */
} lr_call;

void lr_call_begin(lr_call *call, rec_job *job, int32_t kind, void *self);
void lr_call_end(const lr_call *call);
/** @return the innermost call of this thread, NULL: it is in no plugin. */
lr_call *lr_call_now(void);
/** @return whether that is of this kind. */
bool lr_call_is(int32_t kind);

/** A plugin broke its contract: REC_E_PLUGIN, "the plugin NAME " and what it did. @param job NULL: that of the
 * innermost call, if there is one. @return the job's status. */
int32_t lr_breach(rec_job *job, uint64_t at, const char *format, ...) REC_PRINTF(3, 4);
/** The same for a public function that was given a NULL. */
void lr_breach_null(rec_job *job, const char *function, const char *argument);
#define LR_LACKS(job, argument) (!(argument) && (lr_breach_null((job), __func__, #argument), true))
/** The same for a struct whose size cannot be. @return whether it can. */
bool lr_size_check(rec_job *job, const char *what, uint64_t size, uint64_t least);
/** Keeps the memory of a handle that a plugin has closed, so that later use can be reported. Of many such handles the
 * later ones are freed. */
void lr_job_bury(rec_job *job, void *memory);
/** @return what a function gives that broke off because of such a thing. */
int32_t lr_breach_status(const rec_job *job);

/** lr_alloc and the like with the job's allocator, and allocations in an arena. NULL: the job has failed. */
void *lr_job_alloc(rec_job *job, uint64_t size);
void *lr_job_zalloc(rec_job *job, uint64_t size);
char *lr_job_strdup(rec_job *job, const char *text);
void *lr_job_arena_alloc(rec_job *job, lr_arena *arena, uint64_t size, uint64_t alignment);
char *lr_job_arena_text(rec_job *job, lr_arena *arena, const char *text, uint64_t length);
char *lr_job_arena_format(rec_job *job, lr_arena *arena, const char *format, ...) REC_PRINTF(3, 4);
/** lr_grow with the job's allocator, with rec_job_resize, which counts against the budget, and lr_arena_grow.
 *  @return false: the job has failed. */
bool lr_job_grow(rec_job *job, void *array, uint64_t need, uint64_t *room, size_t each);
bool lr_job_grow_counted(rec_job *job, void *array, uint64_t need, uint64_t *room, size_t each);
bool lr_job_arena_grow(rec_job *job, lr_arena *arena, void *array, uint64_t need, uint64_t *room, size_t each);

/** Failures of core, in addition to rec_fail and rec_fail_found. All return the status. */
int32_t lr_fail_memory(rec_job *job, uint64_t size); /**< the allocator gave nothing */
/** REC_E_LIMIT: too much for such an input */
int32_t lr_fail_budget(rec_job *job, const char *what);
/** An arena gave nothing, because of its budget (which is the job's) or of the allocator. */
int32_t lr_fail_arena(rec_job *job, const lr_arena *arena, uint64_t size);
int32_t lr_fail_path(rec_job *job, int32_t status, const char *path, const char *format, ...) REC_PRINTF(4, 5);
/** A failure as the result of a function that returns a pointer, or whether it was successful. */
#define LR_AS_NULL(failure) ((void)(failure), NULL)
#define LR_AS_FALSE(failure) ((void)(failure), false)
/** Adds to a failure what to do about it. @return the status. */
#define LR_HINT(job, ...) (rec_fail_hint((job), __VA_ARGS__), (job)->error.status)
/** Attributes the failure to this file instead of the job's, unless a file is set. */
void lr_fail_file(rec_job *job, const char *name);
int32_t lr_fail_line(rec_job *job, int32_t status, const char *file, uint32_t line, const char *format, ...)
    REC_PRINTF(5, 6);

/** Where something stands that was written by a person, for messages: "FILE:LINE: " or "rule 2: ". Borrowed. */
typedef struct lr_location {
    const char *file; /**< INI file, or NULL */
    uint32_t line;    /**< in that file */
    const char *what; /**< "rule 2", "[profile llama]"; what the message calls it */
} lr_location;
/** Fails at that place. @return the status. */
int32_t lr_fail_location_as(rec_job *job, int32_t status, const lr_location *place, const char *format, ...)
    REC_PRINTF(4, 5);
/** REC_E_CONFIG with file and line, or REC_E_ARGUMENT without a file. @return the status. */
#define lr_fail_location(job, place, ...) \
    lr_fail_location_as((job), (place)->file ? REC_E_CONFIG : REC_E_ARGUMENT, (place), __VA_ARGS__)
int32_t lr_vfail(rec_job *job, int32_t status, uint64_t at, const char *format, va_list args);
/** As rec_job_note, for `count` values. */
void lr_note(rec_job *job, int32_t kind, uint64_t count, const char *path, const char *format, ...) REC_PRINTF(5, 6);
/** A path in a record as errors and reports show it. @return place. */
const char *lr_place_text(char *place, size_t room, const char *path);

/** An error of a function that needs no job, published at once. @return status. */
rec_status lr_publish(rec_status status, const char *format, ...) REC_PRINTF(2, 3);
/** Handles a NULL argument of a public function. An error that is already set is kept, since the failed constructor set
 * it; otherwise the error is REC_E_ARGUMENT and names the argument. */
void lr_null(const char *function, const char *argument);
#define LR_NULL_OF(function, argument) (!(argument) && (lr_null((function), #argument), true))
#define LR_NULL(argument) LR_NULL_OF(__func__, argument)
/** Publishes success. */
void lr_publish_ok(void);

/** rec_display_name() (display.c). */
uint64_t lr_display(const char *path, char *name, uint64_t room);

#endif
