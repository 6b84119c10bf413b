/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A job: one operation of the public API. It owns the error (the first one wins), the report, the memory budget and
 * the progress, and publishes error and report to the calling thread when it ends. */
#ifndef LR_JOB_H
#define LR_JOB_H

#include <stdarg.h>

#include "librecord/plugin.h"
#include "core/base/memory.h"

/** The published form of an error. Fixed in size, so that running out of memory can be told too. */
typedef struct lr_error {
    rec_status status;
    uint32_t line;
    uint64_t offset;
    char file[1024];
    char path[512];
    char expected[256];
    char found[256];
    char hint[1024];
    char what[2048];    /**< the middle part: words of rec_fail, or "expected …, found …" */
    char message[5120]; /**< all of it */
} lr_error;

typedef struct lr_report lr_report;
typedef struct lr_option_set lr_option_set; /* core/registry/registry.h */

/** A type, whatever it was given as. All zero: none. */
typedef struct lr_type_ref {
    /** Lays it out for the job's Burn version. NULL: there is no type. The result NULL: the job has failed. */
    const rec_layout *(*layout)(rec_job *job, const struct lr_type_ref *type);
    const void *what;       /**< for `layout`: a C type, an expression, a text; borrowed */
    const rec_types *types; /**< the definitions for what is known by name; NULL: none */
} lr_type_ref;

typedef struct lr_walk lr_walk; /* core/burn/walk_private.h: what is saved */

struct rec_job {
    rec_context *context;          /**< never NULL */
    const lr_allocator *allocator; /**< the context's */
    bool passing;                  /**< what is loaded is only handed on: files that are not mapped are read when needed */
    const char *operation;         /**< "load", "save"…; static */
    const char *file;              /**< what it works on, for messages; borrowed; may be NULL */
    const rec_plugin *plugin;      /**< whose code runs; may be NULL */
    const lr_option_set *options;  /**< of that plugin, as they were set; core/registry/option.c */
    lr_budget budget;
    uint64_t input;                /**< size of the (inflated) input seen so far */
    uint64_t beside;               /**< size of the files that were opened beside it */
    void (*at_end)(rec_job *job);  /**< gives back what a room above keeps in `kept`, and clears both; NULL: nothing */
    void *kept;                    /**< core/io/source_siblings.c: those files */
    rec_limits limits;             /**< the context's, copied at the beginning */
    uint64_t done, total;          /**< progress */
    /** Writes the place in the record where the events are, "" if nowhere; the whole length. NULL: nowhere. */
    uint64_t (*where)(void *user, char *path, size_t room);
    void *where_user;
    lr_type_ref type;              /**< of a typed load or save */
    struct lr_layouts *layouts;    /**< layout.h: what was made of it, NULL until it is asked for */
    int32_t burn_minor;            /**< load: by the metadata so far; save: what is written */
    rec_precision burn_precision;  /**< the same for the precision that V1 tensors are stored at */
    bool burn_known;
    bool burn_told;                /**< load: the metadata say which minor version wrote the file */
    int32_t burn_forced;           /**< load: taken for that version whatever they say; 0: not */
    lr_walk *walk;                 /**< of a save, or NULL */
    bool quiet;                    /**< no notes: a walk that only measures */
    lr_report *report;             /**< NULL until the first note */
    uint64_t notes;
    bool hinting;                  /**< the last failure reported was the first: hints are about it */
    bool named;                    /**< it says by itself which file it is about */
    lr_error error;
};

/** Begins an operation. `context` NULL: the default one (made on first use; on failure the job has failed already). */
void lr_job_begin(rec_job *job, rec_context *context, const char *operation, const char *file);
/** Begins an operation over that failed or did not do: no error, no report. */
void lr_job_again(rec_job *job);
/** Takes the failure back, and nothing else: it became something that the caller is told in another way. */
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
/** The input is at least this large: the budget follows. */
void lr_job_input(rec_job *job, uint64_t size);
/** The same for a file beside it, whose size is added. */
void lr_job_beside(rec_job *job, uint64_t size);

/** Failures of core, beside rec_fail and rec_fail_found. All return the status. */
int32_t lr_fail_memory(rec_job *job, uint64_t size);                    /**< budget or allocator, whichever it was */
int32_t lr_fail_allocator(rec_job *job, uint64_t size);                 /**< the allocator: no budget was asked */
int32_t lr_fail_errno(rec_job *job, int error, const char *doing);      /**< REC_E_IO: "cannot DOING: strerror" */
int32_t lr_fail_path(rec_job *job, int32_t status, const char *path, const char *format, ...) REC_PRINTF(4, 5);
/** Whose failure it is, if nobody has said so yet: the file's of that name instead of the job's. */
void lr_fail_file(rec_job *job, const char *name);
int32_t lr_fail_line(rec_job *job, int32_t status, const char *file, uint32_t line, const char *format, ...)
    REC_PRINTF(5, 6);

/** Where something stands that was written by a person, for messages: "FILE:LINE: " or "rule 2: ". Borrowed. */
typedef struct lr_place {
    const char *file; /**< INI file, or NULL */
    uint32_t line;    /**< in that file */
    const char *what; /**< "rule 2", "[profile llama]"; what the message calls it */
} lr_place;
/** Fails at that place. @return the status. */
int32_t lr_fail_place_as(rec_job *job, int32_t status, const lr_place *place, const char *format, ...)
    REC_PRINTF(4, 5);
/** REC_E_CONFIG with file and line, or REC_E_ARGUMENT without a file. @return the status. */
int32_t lr_fail_place(rec_job *job, const lr_place *place, const char *format, ...) REC_PRINTF(3, 4);
int32_t lr_vfail(rec_job *job, int32_t status, uint64_t at, const char *format, va_list args);
/** As rec_job_note, for `count` values. */
void lr_note(rec_job *job, int32_t kind, uint64_t count, const char *path, const char *format, ...) REC_PRINTF(5, 6);

/** An error of a function that needs no job, published at once. @return status. */
rec_status lr_publish(rec_status status, const char *format, ...) REC_PRINTF(2, 3);
/** What every public function does about a NULL that it needs something in place of: the thread's last error stays if
 *  there is one (what should have made the object failed, and says why); else it is REC_E_ARGUMENT. @return true. */
bool lr_null(const char *function, const char *argument);
#define LR_NULL(argument) (!(argument) && lr_null(__func__, #argument))
/** Publishes success. */
void lr_publish_ok(void);

/** The system's words for an errno, whatever the locale. @return text, or static words. */
const char *lr_errno_words(int error, char *text, size_t room);

/** "1,234,567". @param room at least 32. @return buffer. */
char *lr_group_digits(uint64_t number, char *buffer, size_t room);

#endif
