/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of sources and sinks share: the two structs, and the system's failures put into words. */
#ifndef LR_IO_PRIVATE_H
#define LR_IO_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/uio.h>

#include "core/io/io.h"

/** Bytes between two looks at progress and cancellation; no piece that is handed on is larger. */
#define LR_IO_PIECE (UINT64_C(4) << 20)

/* ----------------------------------------------------------------------------------------------------- failing -- */

/** A call was interrupted by a signal: asks whether to go on. @return REC_OK or REC_E_CANCELLED. */
int32_t lr_io_interrupted(rec_job *job);
/** Fails because a file of `size` bytes ended at byte `at`. */
int32_t lr_io_shrank(rec_job *job, const char *file, uint64_t at, uint64_t size);
/** Waits until a descriptor that does not block is ready, or the caller cancels. @param events POLLIN or POLLOUT. */
int32_t lr_io_wait(rec_job *job, int fd, short events);
/** For what plugins return: a failure that was not reported is, in the name of `whose`. @return the job's status. */
int32_t lr_said_why(rec_job *job, int32_t status, const char *whose);

/* ------------------------------------------------------------------------------------------------------- names -- */

/** The path of a file in the folder of another one, or (`inside`) in a folder. From the job's allocator. NULL: the job
 *  has failed. */
char *lr_path_sibling(rec_job *job, const char *path, bool inside, const char *name);

/* ----------------------------------------------------------------------------------------------------- sources -- */

/** A source: contiguous bytes, or the means to make them for the view. */
struct rec_source {
    const lr_source_ops *ops;      /**< how it gets its bytes until it is ready */
    void *self;                    /**< what those functions work on */
    const lr_allocator *allocator; /**< of the context, which outlives the records that keep the source */
    atomic_uint_fast64_t count;
    atomic_bool ready;   /**< `data` and `size` are final */
    bool mapped;         /**< the caller's own file is mapped */
    bool located;        /**< `name` is the path that was opened: companion files can be opened… */
    bool stepped;        /**< its map is read a page at a time */
    bool programs;       /**< the application gives the bytes, not a plugin */
    bool far;            /**< each read fetches the bytes */
    bool may_map;        /**< …and these, as the file itself, are to be mapped: their views cost nothing */
    bool may_map_late;   /**< the same, but only when the bytes are needed in place (parallel/seen.c) */
    const uint8_t *data; /**< never NULL when ready */
    uint64_t size;
    rec_source *handed_next;  /**< lent.c: of the same chain… */
    uint64_t handed;          /**< …how many counts plugins have of it… */
    const lr_call *handed_in; /**< …and the call of `load` that gave them, or NULL */
    rec_sink *written;    /**< the sink that is read back, whose companion files are also this source's; else NULL */
    uint64_t file;        /**< number of the source whose bytes it is made of: its own, if of none… */
    bool derived;         /**< …else it is a part of that, or what that is decoded to… */
    uint64_t file_size;   /**< …and this is its size */
    uint64_t position;    /**< of rec_source_read */
    pthread_mutex_t lock; /**< of making the view: deferred tensors of one record may ask for it from several threads */
    uint8_t *head, *tail; /**< the first and the last bytes, once somebody looked at them and the view was not there */
    void *map;            /**< what to unmap, or NULL */
    uint64_t map_size;
    lr_watch *watch;     /**< of that map */
    rec_source *lies_in; /**< whose map of a file its bytes lie in: its own, or that of what it is a part of; or NULL */
    _Atomic(rec_source *) fed_by; /**< of one that a plugin makes: whose map it was seen to read, counted; or NULL */
    atomic_uint_fast64_t
        passed;     /**< bytes of that map that were passed, in pieces too small to be given back by themselves */
    lr_pages pages; /**< what to free if it was read */
    _Atomic(lr_error *) failure; /**< with which it cannot be read, now or later; or NULL */
    void (*free_data)(void *user, const void *data);
    void *free_user;
    char name[];
};

/** @return a source without bytes, of memory until it is made another, with one count; NULL: the job has failed. */
rec_source *lr_source_new(rec_job *job, const char *name);
/** Its bytes were requested: if they lie in a map, a plugin's source that is being read takes its bytes from there. */
void lr_source_feeds(const rec_source *source);
/** A page that is missing brings as many more as the disk's read-ahead has, MiB of them, and a reader of headers steps
 * over all of that to the next one. Smaller files are read by the first. */
#define LR_STEP_FROM (UINT64_C(8) << 20)
/** Its view was requested: see lr_source_step_begin(). */
void lr_source_step(const rec_job *job, rec_source *source);
/** The `size` of sources that do not know theirs. */
uint64_t lr_source_size_unknown(const rec_source *source);
/** Says that it is made of another one's bytes. */
void lr_source_derive(rec_source *source, const rec_source *from);
/** The size of the underlying file, REC_UNKNOWN if unknown. */
uint64_t lr_source_file_size(const rec_source *source);

/** What the filters of a job may give together. Counted: filters outlive their job. */
typedef struct lr_inflation {
    const lr_allocator *allocator; /* of the context, as that of sources */
    atomic_uint_fast64_t count;    /* the job and each filter, which outlives it */
    atomic_uint_fast64_t stored;   /* size of the files */
    atomic_uint_fast64_t used;     /* bytes that were given; those that were read again count once */
    uint64_t factor, slack;
    uint64_t *files; /* the numbers of those that are counted */
    uint64_t file_count, file_room;
} lr_inflation;
/** What the job keeps. */
typedef struct lr_kept {
    rec_source **sources; /* companion files */
    uint64_t count, room;
    uint64_t waiting;        /* opened since they were last settled */
    lr_inflation *inflation; /* NULL without filters */
} lr_kept;
/** NULL: the job has failed. */
lr_kept *lr_kept_of(rec_job *job);
/** The inflation of the job, in which the file counts that `source` is made of; to be released. NULL: the job has
 * failed. */
lr_inflation *lr_inflation_of(rec_job *job, const rec_source *source);
void lr_inflation_release(lr_inflation *inflation);

/** Locks it, or one of its maker's: a thread that has it already is called by what it does there and asks for the same
 *  bytes once more, which is a failure. */
int32_t lr_source_enter(rec_job *job, const rec_source *source, pthread_mutex_t *lock);
/** Fails unless `size` bytes from `offset` on are within `whole`. */
int32_t lr_source_check_place(rec_job *job, const rec_source *source, uint64_t offset, uint64_t size, uint64_t whole);

/** The next bytes of a stream. @param got (out) 0 at the end only. */
typedef int32_t (*lr_stream_fn)(rec_job *job, const rec_source *source, void *user, uint64_t at, void *target,
                                uint64_t room, uint64_t *got);
/** A stream that is to be read to its end. */
typedef struct lr_stream {
    lr_stream_fn read;
    void *user;
    uint64_t total; /**< announced size: a byte beyond it is a failure. REC_UNKNOWN: not announced */
    uint64_t first; /**< all stays in memory, where so many bytes are reserved first; 0: a long one goes to a temporary
                         file */
    uint64_t hint;  /**< the size to report with the progress; 0: none */
} lr_stream;
/** Reads it and makes the source ready. */
int32_t lr_source_drain(rec_job *job, rec_source *source, const lr_stream *stream);

/** Makes it a stream that is read as far as requested. @param own it takes the descriptor, except on failure. */
int32_t lr_source_stream(rec_job *job, rec_source *source, lr_stream_fn read, int fd, bool own);

/** Maps [begin, end) of a file, which may begin anywhere in a page. @return false if the system cannot. */
bool lr_source_map(rec_source *source, int fd, uint64_t begin, uint64_t end);

/** What a source of a path is made of. The descriptor is taken. */
int32_t lr_path_begin(rec_job *job, rec_source *source, int fd, bool map);

/** Makes it a folder, whose names are listed now. The descriptor is taken, also on failure. */
int32_t lr_source_list(rec_job *job, rec_source *source, int fd);
/** Makes it a file that is read when it is needed. The descriptor is taken, also on failure. */
int32_t lr_source_defer(rec_job *job, rec_source *source, int fd, uint64_t size);

/** Copies a blob as far as the other side knows its members, and checks that it has what its kind needs. */
int32_t lr_blob_check(rec_job *job, const rec_blob *blob, rec_blob *copy);
/** The next bytes of a checked blob that is a stream. */
int32_t lr_blob_next(rec_job *job, const rec_blob *blob, void *target, uint64_t size);
/** Whether a checked blob is better read in parts: its view would be kept, and is neither there nor for nothing. */
bool lr_blob_in_parts(const rec_blob *blob);
/** The bytes of a checked blob in one piece; NULL for a stream. */
int32_t lr_blob_view(rec_job *job, const rec_blob *blob, const uint8_t **data);

/* ------------------------------------------------------------------------------------------------------- sinks -- */

/** Companion sinks. */
typedef struct lr_sinks {
    rec_sink **sinks;
    uint64_t count, room;
} lr_sinks;

/** The beginning of every sink. */
struct rec_sink {
    const lr_sink_ops *ops; /**< NULL: it only counts */
    void *self;             /**< of lr_sink_of(): what its functions work on */
    rec_job *job;
    const char *name; /**< what messages call it; lives as long as the sink */
    uint64_t written; /**< bytes given to it */
    uint64_t total;   /**< bytes that will be, REC_UNKNOWN if nobody said so */
    char *own_name;   /**< of a file: its name without the path; else NULL */
    uint8_t *tile;    /**< of one without `space`: room for bytes that are made, once there were some */
    rec_sink *first;  /**< of a companion file: the main file */
    lr_sinks *beside; /**< of a main file: its companion files; may be NULL */
    rec_sink *like;   /**< of one that only counts: for which it does; NULL for none */
    uint64_t all;     /**< of a main file: `written` plus that of its companion files… */
    uint64_t whole;   /**< …and what that will be, or REC_UNKNOWN */
    uint64_t told;    /**< `all` at the last progress report */
    bool fresh;       /**< of a part of a set: it takes the place of no file */
    bool finished;    /**< nothing more may be written */
    bool secured;     /**< and it is where it has to be */
    bool quiet;       /**< the sink before it reports the progress */
    bool closable;    /**< a plugin made it and closes it */
    bool closed;      /**< which it has done: nothing of it is left but this */
    bool lent;        /**< a plugin saves to it */
    bool busy;        /**< of a filter: a function of it is running */
    rec_sink *older;  /**< of those that plugins made and have not closed: the one before */
};

/** Allocates a sink's struct of `size` bytes and zeroes it except for the common members. NULL: the failure is
 * reported. */
void *lr_sink_new(rec_job *job, const lr_sink_ops *ops, uint64_t size);
/** A sink that a plugin makes, by its public function. @return whether it may. */
bool lr_sink_may_make(rec_job *job, const char *function);
/** The plugin has to close it. */
void lr_sink_remember(rec_sink *sink);

/** Frees it and its companion files; removes uncommitted files. */
void lr_sink_free(rec_sink *sink);
int32_t lr_sink_set_own_name(rec_sink *sink, const char *name);
uint64_t lr_sink_sibling_count(const rec_sink *sink);
const rec_sink *lr_sink_sibling_at(const rec_sink *sink, uint64_t index);
/** The sink of that name: this one or a companion of it; NULL: none. */
rec_sink *lr_sink_named(rec_sink *first, const char *name);
/** Of a sink that is read back: its companion file of that name, or itself. NULL: the job has failed, or (`optional`)
 * the file is missing. */
rec_source *lr_sink_reopen_beside(rec_sink *sink, const char *name, bool optional);

/** A piece that is made in the buffer fits behind some small ones. */
enum { LR_FD_PARTS = 128, LR_FD_PIECE = 1 << 20, LR_FD_BUFFER = LR_FD_PIECE + (16 << 10) };

/** A batch of parts in file order; some are copied to, or produced in, the buffer. */
typedef struct lr_fd_batch {
    uint64_t used;   /**< bytes in the buffer; each is in some part */
    uint64_t queued; /**< bytes in all parts */
    uint64_t done;   /**< bytes that the system has taken and `flushed` does not count yet */
    uint32_t count;  /**< of parts */
    uint32_t first;  /**< the first part that has bytes left to be written */
    struct iovec parts[LR_FD_PARTS];
    rec_source *held[LR_FD_PARTS]; /**< what a part lies in; NULL for the buffer */
    uint8_t buffer[LR_FD_BUFFER];
} lr_fd_batch;

typedef struct lr_fd_behind lr_fd_behind; /* sink_fd.c: the thread that writes batches while the next is filled */

/** A sink that writes to a descriptor: parts are queued in a batch and written together. */
typedef struct lr_fd_sink {
    rec_sink sink;
    int fd;
    bool temporary;       /**< what the file holds already is free again after a failure */
    bool alone;           /**< there will be no second thread */
    bool early;           /**< the file is to be synced: the disk is to begin while it is written */
    uint64_t made;        /**< bytes that went through the buffer */
    uint64_t flushed;     /**< bytes that the system has taken */
    uint64_t out;         /**< bytes whose writing to disk has been started */
    lr_fd_batch *batch;   /**< the one that is being filled */
    lr_fd_behind *behind; /**< NULL until it pays */
} lr_fd_sink;

int32_t lr_fd_write(rec_sink *sink, const uint8_t *data, uint64_t size);
int32_t lr_fd_view(rec_sink *sink, const uint8_t *data, uint64_t size, rec_source *source);
int32_t lr_fd_space(rec_sink *sink, uint64_t want, uint8_t **room, uint64_t *size);
int32_t lr_fd_filled(rec_sink *sink, uint64_t size);
/** Returns when all is written: everything that was given to the sink so far has been taken by the system. */
int32_t lr_fd_flush(lr_fd_sink *self);
/** Makes the first batch. */
int32_t lr_fd_init(lr_fd_sink *self, int fd);
/** Ends the second thread; frees the batches and what was queued and not written. */
void lr_fd_free(lr_fd_sink *self);
/** Fails as the system did, with what to do about a full disk and the like. @param at byte offset or REC_UNKNOWN. */
int32_t lr_fd_errno(lr_fd_sink *self, uint64_t at, int error, const char *doing);

/** Calls a plugin's `release`, if it has one. */
void lr_source_release_self(const rec_source_ops *ops, void *self);

#endif
