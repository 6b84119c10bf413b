/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Input and output of bytes: sources are read, sinks are written completely or not at all; models of several files.
 * The plugin interface to both is in plugin.h. This room does not interpret bytes, and follows no name out of the
 * directory of the opened file. Sources are reference-counted. A sink belongs to its maker until lr_sink_commit();
 * companion files are released with the file, or with the job. */
#ifndef LR_IO_H
#define LR_IO_H

#include "core/base/base.h"

/** Makes a lock that tells the thread which has it. @return whether there is one. */
bool lr_lock_init(pthread_mutex_t *lock);

/* Sources. Each is born with one count. NULL: the job has failed. */

/** A regular file, read on demand: for the view it is mapped (`map`), or read into page memory, by several threads if
 * large; rec_source_read reads chunks. A directory has no bytes, but the names of its files (rec_source_names).
 * Anything else (FIFO, device) is read to its end at once. */
rec_source *lr_source_open(rec_job *job, const char *path, bool map);
/** The name to show for a path, rec_display_name(), to be released. NULL: the job has failed. */
char *lr_display_name(rec_job *job, const char *path);
/** @return whether it is a folder. */
bool lr_source_is_folder(const rec_source *source);
/** Bytes of a place where they can be had without reading: in memory, or in a file that is to be mapped. @param data
 *  (out) left alone where they must be read. */
int32_t lr_source_at_hand(rec_job *job, rec_source *source, uint64_t offset, uint64_t size, const uint8_t **data);
/** Fails if the file that its bytes lie in was cut while it was mapped. @param sizes_too as in lr_watch_check(). NULL:
 * not. */
int32_t lr_source_check_whole(rec_job *job, const rec_source *source, bool sizes_too);
/** Maps a source that was left unmapped (parallel/seen.c), since its bytes are needed in place. Others stay. */
int32_t lr_source_map_late(rec_job *job, rec_source *source);
/** The program is given bytes of it: lr_watch_lend(). NULL is ignored. */
void lr_source_lend(const rec_source *source);
/** @return whether it was, as far as somebody met that. */
bool lr_source_is_cut(const rec_source *source);
/** At the end of a load: makes a source that a record keeps independent of later changes to the file. */
int32_t lr_source_settle(rec_job *job, rec_source *source);
/** The program's memory with a way to give it back, and what its functions give. Either is given back once, also if
 * that fails. */
rec_source *lr_source_lent(rec_job *job, const void *data, uint64_t size, const char *name,
                           void (*release)(void *user, const void *data), void *user);
rec_source *lr_source_input(rec_job *job, const rec_input *input, void *user);
/** Releases inputs and outputs that were not used. */
void lr_input_give_back(const rec_input *input, void *user);
void lr_output_give_back(const rec_output *output, void *user);
/** A tensor's bytes that the program makes (REC_PRODUCE). @param spec of which it is; not given back if it fails. */
rec_source *lr_source_produced(rec_job *job, const rec_tensor_spec *spec);
/** The caller's memory. */
rec_source *lr_source_memory(rec_job *job, const void *data, uint64_t size, const char *name);
/** A descriptor from its position on: mapped or read as a file if it is regular, else read to its end; what does not
 *  fit the threshold (64 MiB) is spilled to an unlinked temporary file and mapped. */
rec_source *lr_source_fd(rec_job *job, int fd, const char *name, bool map);
/** Owned bytes with a way to free them; for tensors of built records. `free_data(user, data)` may be NULL. */
rec_source *lr_source_owned(const lr_allocator *allocator, const void *data, uint64_t size,
                            void (*free_data)(void *user, const void *data), void *user);
/** Whether it was read to its end, where that is not known otherwise. */
bool lr_source_ended(const rec_source *source);
/** Whether any of its bytes can be read, now and again. */
bool lr_source_is_readable(const rec_source *source);
/** Placeholder for the data of a load that skips data; belongs to the job. NULL: the job has failed. */
rec_source *lr_source_absent(rec_job *job);
/** The job's count of it is given back. */
void lr_source_absent_end(rec_job *job);
/** Turns filled pages into a source. If requested, their bytes move to a temporary file and the pages can be filled
 * again; otherwise the source takes the pages, and they are empty. NULL: the job has failed, and the pages are
 * unchanged. */
rec_source *lr_source_kept(rec_job *job, lr_pages *pages, uint64_t size);
rec_source *lr_source_retain(rec_source *source);
/** Gives one count back; NULL is ignored. Plugins have rec_source_release(), which gives back what they were handed. */
void lr_source_release(rec_source *source);
/** One count of a source becomes a plugin's, which it has to give back: before `load` returns, unless it is `kept`… */
void lr_source_hand(rec_source *source, bool kept);
/** …or that core takes over. @return false: no plugin had one. */
bool lr_source_take_back(rec_source *source);
/** Releases what was handed out in a call of `load` that has ended. @return how many sources that were. */
uint64_t lr_sources_left(const lr_call *call);
/** The first bytes without moving the position, at most 64 KiB. */
int32_t lr_source_head(rec_job *job, rec_source *source, rec_head *head);
/** The last bytes, at most 64 KiB, for a head that was filled: where they can be had without reading all of it. */
int32_t lr_source_tail(rec_job *job, rec_source *source, rec_head *head);
/** Hints that the pages read so far are no longer needed. `source` may be NULL. */
void lr_source_forget(const rec_source *source);
/** Hints that a range was read and is not needed soon, so that the pages of a mapped, caller's or temporary file can be
 * dropped (compare madvise). Later reads fetch them again: callable at any time from any thread. @param source may be
 * NULL. @param data NULL: they were produced, perhaps from such a map. */
void lr_source_behind(const rec_source *source, const void *data, uint64_t size);
/** A reader of headers stepped over these bytes, if it is a temporary file that it reads: the pages around need not
 * stay. */
void lr_source_stepped_over(const rec_source *source, const void *data, uint64_t size);
/** The same for a range that a conversion has copied to the output. @param source,data as above. */
void lr_source_pass(const rec_job *job, const rec_source *source, const void *data, uint64_t size);
/** A plugin begins to read headers: pages of a mapped file are then read from disk one at a time, since the reader
 * steps over tensors. */
void lr_source_step_begin(rec_job *job, rec_source *source);
/** That ends, or the reader turned out to take all that it passes. */
void lr_source_step_end(rec_job *job);
/** Whether it is a mapped file, for `record info`. */
bool lr_source_mapped(const rec_source *source);
/** Bytes of a place if they are in memory already. NULL: they are not, or the source ends before. */
const uint8_t *lr_source_in_memory(const rec_source *source, uint64_t offset, uint64_t size);
/** Whether each read produces or fetches the bytes again, so that callers should read once. NULL: no. */
bool lr_source_is_far(const rec_source *source);
/** Whether its bytes lie somewhere, so that their offsets say something; false of computed ones. NULL: yes. */
bool lr_source_is_stored(const rec_source *source);

/** Reports progress between the parts of a range that is read: `size` bytes more count where a tensor is all that is
 * read. @return REC_OK or REC_E_CANCELLED. */
int32_t lr_io_moved(rec_job *job, uint64_t size);

/** A kind of source: its functions serve requests until the view exists. */
typedef struct lr_source_ops {
    bool stored;  /**< the bytes are stored somewhere: callers need no copy, and offsets can be reported */
    bool lasting; /**< who gives them promised that they stay: a record that keeps it may read them later */
    /** Its size; REC_UNKNOWN if it shows only at the end. */
    uint64_t (*size)(const rec_source *source);
    /** Makes the view, by lr_source_ready(). The source is locked. NULL: `read_at` does, into page memory. */
    int32_t (*view)(rec_job *job, rec_source *source);
    /** Makes the view if that neither reads nor copies, and else leaves it. The source is locked. NULL: it would. */
    int32_t (*map)(rec_job *job, rec_source *source);
    /** As `map`, of one that is better not mapped while it is loaded. The source is locked. NULL: nothing to do. */
    int32_t (*map_late)(rec_job *job, rec_source *source);
    /** Bytes of a place that is within the size, which are not kept. NULL: they are taken from the view. */
    int32_t (*read_at)(rec_job *job, rec_source *source, uint64_t at, void *target, uint64_t size);
    /** rec_source_read() and rec_source_rewind(). NULL: `read_at` does; only the position is set. */
    int32_t (*next)(rec_job *job, rec_source *source, void *target, uint64_t room, uint64_t *got);
    int32_t (*rewind)(rec_job *job, rec_source *source);
    /** The first bytes, at most `most`, without moving the position. NULL: `read_at` gives them, or the view. */
    int32_t (*head)(rec_job *job, rec_source *source, uint64_t most, const uint8_t **data, uint64_t *size);
    /** Of a directory, which has no bytes: the names of its files. NULL: not a directory. */
    const char *const *(*names)(const rec_source *source, uint64_t *count);
    /** Opens a companion file; for a source opened by its path core does so itself. `optional`: a missing file is NULL
     * and no failure. NULL: no companion files. */
    int32_t (*beside)(rec_job *job, rec_source *source, const char *name, bool optional, rec_source **out);
    /** Whether it was read to its end. NULL: its size is known. */
    bool (*ended)(const rec_source *source);
    /** A reader of headers is done with it (lr_source_step_end). NULL: nothing to do. */
    void (*stepped)(rec_source *source);
    /** Frees what `self` is. Called once, also if the view was made. */
    void (*release)(rec_source *source);
} lr_source_ops;

/** A source of a kind of its own. @param self what its functions find by lr_source_self(); taken unless it fails. */
rec_source *lr_source_of(rec_job *job, const char *name, const lr_source_ops *ops, void *self);
void *lr_source_self(const rec_source *source);
/** Makes a new source, named after its path, a source of this kind: reads fetch bytes on demand, and companion files
 * can be opened. */
void lr_source_become(rec_source *source, const lr_source_ops *ops, void *self);

/* What kinds of sources are made of. */

/** Makes it ready. `data` may be NULL if `size` is 0. */
void lr_source_ready(rec_source *source, const void *data, uint64_t size);

/** Reads all of it by `read_at` into page memory and makes it ready. */
int32_t lr_source_read_whole(rec_job *job, rec_source *source);
/** Opens a path; of a FIFO: waits for the other end. @param flags O_RDONLY, O_WRONLY. @param fd (out) -1 if it failed.
 * @param error (out) the errno if the system refused, which is for lr_path_refused() to report; else 0. @return
 * REC_E_CANCELLED or REC_OK. */
int32_t lr_path_open(rec_job *job, const char *path, int flags, int *fd, int *error);
int32_t lr_path_refused(rec_job *job, const char *path, int error);
/** Reads bytes of a place that is within the size of a file. */
int32_t lr_io_read_at(rec_job *job, const char *name, int fd, uint64_t whole, uint64_t at, uint8_t *target,
                      uint64_t size);

/** Maps [begin, end) of a regular file, or copies it by several threads, and makes the source ready. */
int32_t lr_source_fill(rec_job *job, rec_source *source, int fd, uint64_t begin, uint64_t end, bool map);
/** Maps [begin, end) of the caller's own regular file. @return false: it is on a server, or the system cannot. */
bool lr_source_map_file(rec_source *source, int fd, uint64_t begin, uint64_t end);

/** Copies a blob that a reader lends, as far as the other side knows its members, and checks that it has what its kind
 *  needs and lies where it says. */
int32_t lr_blob_lent(rec_job *job, uint64_t at, const rec_blob *blob, rec_blob *copy);

/* The files of rec_source_beside(). A job keeps count of them, so that those that a record keeps are settled too. */

/** lr_source_settle() for all of them; those that nobody else keeps are released. */
int32_t lr_siblings_settle(rec_job *job);
/** Whether all sources that are kept are mapped files, after they were settled. @param any (out) whether one is. */
bool lr_siblings_mapped(const rec_job *job, bool *any);
/** At the end of a load, or before its second pass: gives the job's counts back. */
void lr_siblings_drop(rec_job *job);

/* Sinks. NULL: the job has failed. */

/** A file, atomically: see rec_save(). Sweeps stale temporaries of the same target. */
rec_sink *lr_sink_file(rec_job *job, const char *path, bool sync);
/** Those that a plugin made since `before` was the newest, and did not close: frees them without finishing them.
 *  @return whether there were any. */
bool lr_sinks_left(rec_job *job, const rec_sink *before);
/** @return whether it is one that a plugin made and has not closed. */
bool lr_sink_is_made(const rec_job *job, const rec_sink *sink);
/** Of the sink that a plugin saves to: it is not the plugin's to close. */
void lr_sink_lend(rec_sink *sink, bool lent);
/** A descriptor, straight. */
rec_sink *lr_sink_fd(rec_job *job, int fd);
/** The program's own functions. They are called for the end, and then released, exactly once, also after a failure. */
rec_sink *lr_sink_output(rec_job *job, const rec_output *output, void *user);
/** Memory that grows. */
rec_sink *lr_sink_memory(rec_job *job);
/** Makes a sink that only counts, like rec_sink_layout(), for a first walk over the bytes of `sink`: it has the same
 * name, and companion files if `sink` can have them. Close it with rec_sink_close() before `sink`. */
rec_sink *lr_sink_layout_of(rec_job *job, rec_sink *sink);
/** Bytes written to it and its companion files. */
uint64_t lr_sink_tell_all(const rec_sink *sink);
/** Prepares for the sizes that the layout found. Reserves the space of a single file: a full disk is detected here. */
int32_t lr_sink_expect(rec_sink *sink, const rec_sink *layout);
/** Reserves space for the whole file. */
int32_t lr_sink_reserve(rec_sink *sink, uint64_t size);
/** Ends the writing: the system has all bytes of the files, though not necessarily on disk, and no file has its final
 * name yet. */
int32_t lr_sink_end(rec_sink *sink);
/** Opens the written bytes after lr_sink_end(), under the final names, companion files included. The sink must outlive
 * it. NULL: this process cannot read them, or the job has failed. */
rec_source *lr_sink_reopen(rec_sink *sink);
/** Flushes, syncs and renames the file and its companion files, and frees the sink. After a failed job: removes the
 * temporary files and leaves the targets unchanged. */
int32_t lr_sink_commit(rec_sink *sink);
/** Takes the bytes of a memory sink before lr_sink_commit: from malloc, at least one byte. */
int32_t lr_sink_take(rec_sink *sink, void **data, uint64_t *size);

/** A kind of sink. */
typedef struct lr_sink_ops {
    /** At most LR_IO_PIECE bytes, which may be gone afterwards. */
    int32_t (*write)(rec_sink *sink, const uint8_t *data, uint64_t size);
    /** The same for bytes that stay as long as `source` lives; the sink may keep them until it is committed, and the
     *  source with them. NULL: `write` does. */
    int32_t (*view)(rec_sink *sink, const uint8_t *data, uint64_t size, rec_source *source);
    /** Writes a checked blob in one call, where that is better than the functions above and below; the caller counts
     * its bytes. NULL: not available. */
    int32_t (*put)(rec_sink *sink, const rec_blob *blob);
    /** Room for bytes that are made in place: `*size` of them, from 1 to `want`. NULL, as `filled` then: `write` gets
     * them. */
    int32_t (*space)(rec_sink *sink, uint64_t want, uint8_t **room, uint64_t *size);
    /** The first `size` bytes of that room were filled. */
    int32_t (*filled)(rec_sink *sink, uint64_t size);
    /** NULL: nothing to reserve. */
    int32_t (*reserve)(rec_sink *sink, uint64_t size);
    /** Brings everything out. Called once, and only for a job that has not failed; nothing is written after it. NULL:
     *  nothing to do. */
    int32_t (*finish)(rec_sink *sink);
    /** Makes a finished file durable, as requested, and reports earlier failures. Called once after it. NULL: nothing
     * to do. */
    int32_t (*secure)(rec_sink *sink);
    /** Gives a finished file its name, and makes that last: what fails then is REC_E_SYNC. Both or neither are NULL. */
    int32_t (*place)(rec_sink *sink);
    int32_t (*settle)(rec_sink *sink);
    /** Opens the finished file for reading. NULL, or returns NULL: not readable, or the job has failed. */
    rec_source *(*reopen)(rec_sink *sink);
    /** Frees everything except the struct; removes uncommitted files. NULL: nothing to do. */
    void (*release)(rec_sink *sink);
    /** Another sink of its kind, whose `first` it is, and another name before the first byte. Names are plain ones that
     *  nobody else has; a `fresh` one is that of no file that is there. Both or neither are NULL. */
    rec_sink *(*beside)(rec_sink *sink, const char *name, bool fresh);
    int32_t (*rename)(rec_sink *sink, const char *name);
    /** The letters in the file names of a set, STEM-LETTERS-TAIL; "": none. Each call returns the same length. NULL if
     * `beside` is. @param index the name of the sink, now or later. @param writes they will be written next. */
    int32_t (*letters)(rec_sink *sink, const char *index, const char *stem, const char *tail, bool writes,
                       const char **letters);
    /** Writes over bytes that were given to it already. NULL: it cannot. */
    int32_t (*patch)(rec_sink *sink, uint64_t offset, const uint8_t *data, uint64_t size);
    /** Whether the next bytes are used at all. NULL: yes. */
    bool (*wants)(const rec_sink *sink, uint64_t size);
    /** Whether it can after all. NULL: if there is `patch`. */
    bool (*patches)(const rec_sink *sink);
} lr_sink_ops;

/** Makes a sink of a custom kind. @param name file name; "": no file, without companion files. @param self for its
 * functions, by lr_sink_self(); taken except on failure. */
rec_sink *lr_sink_of(rec_job *job, const char *name, const lr_sink_ops *ops, void *self);
void *lr_sink_self(const rec_sink *sink);
rec_job *lr_sink_job(const rec_sink *sink);
/** Another sink reports the progress. */
void lr_sink_hush(rec_sink *sink);

/* A file whose bytes others write. */

/** A sink for the file `name` in the directory of `path`; its temporary files are those of `path`. @param name that of
 * the path, or another. */
rec_sink *lr_sink_file_as(rec_job *job, const char *path, const char *name, bool sync);
/** Whether it is a FIFO or a device, which has no temporary file. */
bool lr_sink_is_straight(const rec_sink *file);
/** The path of its temporary file, to be released. NULL: the job has failed. */
char *lr_sink_temporary(const rec_sink *file);
/** The letters in the names of its parts (rec_sink_part()); "": none. */
const char *lr_sink_letters(const rec_sink *file);
/** Closes the descriptor of a companion file and frees its memory… */
void lr_sink_leave(rec_sink *file);
/** …and opens it again. Of any file: fails unless it has so many bytes. */
int32_t lr_sink_resume(rec_sink *file, uint64_t size);
/** Whether the temporary file stays if the save fails. */
bool lr_sink_keeps(const rec_sink *file);
void lr_sink_keep(rec_sink *file, bool keep);

/* Names and failures of files. */

/** Fails in words about `file`, which need not be the job's. @param hint what to do, or NULL. @return the status. */
int32_t lr_io_fail(rec_job *job, const char *file, int32_t status, uint64_t at, const char *hint, const char *format,
                   ...) REC_PRINTF(6, 7);
/** The last part of a path; "" if it ends in a slash. */
const char *lr_own_name(const char *path);
/** Checks that a name stays in its folder. @param file what names it, for the message. @param status of the failure. */
int32_t lr_check_own_name(rec_job *job, const char *file, int32_t status, const char *name);
/** The same for a path of plain names: without `.`, `..` and empty ones. */
int32_t lr_check_own_path(rec_job *job, const char *file, int32_t status, const char *path);
/** Fails as the system did: "cannot DOING: …". A file that is not there is REC_E_NOT_FOUND, the rest REC_E_IO. */
int32_t lr_io_errno(rec_job *job, const char *file, uint64_t at, const char *hint, int error, const char *doing);
/** A function of the program's returned an errno, or 0: fails as the system did. @param file NULL: the job's. @param
 * opens the function opens or reads an input, which may be REC_E_NOT_FOUND; with others ENOENT is REC_E_IO like the
 * rest. */
int32_t lr_io_program(rec_job *job, const char *file, uint64_t at, int32_t error, const char *doing, bool opens);

/* --------------------------------------------------------------------------------------------- several processes -- */

/** How many values of a tensor a conversion changed. */
typedef struct lr_loss {
    const char *path;
    rec_dtype dtype; /**< converted to */
    int32_t kind;    /**< REC_NOTE_OVERFLOW, REC_NOTE_CLAMPED */
    uint64_t count;
    bool part; /**< only a part of the tensor was converted */
} lr_loss;
/** A stream of core's own (a blob's `read` and `user`) whose next bytes can be passed without being made. */
typedef struct lr_stepping {
    int32_t (*read)(void *user, void *target, uint64_t size);
    void *user;
    int32_t (*over)(void *user, uint64_t size);
} lr_stepping;
/** Hooks for several processes that work on one model: the only connection of core to parallel/, which fills them in. A
 * job has them during a function of that room; a context has them after it received another process's notes. Functions
 * may be NULL. */
typedef struct lr_parallel {
    void *user;
    /** Makes a source, which has its path as name, that of a file that is noted or was read by another process. @param
     * missing (out) true: there is no such file. NULL: it must be there. @param done (out) false: it must be opened. */
    int32_t (*open)(const struct lr_parallel *self, rec_job *job, rec_source *source, bool map, bool *missing,
                    bool *done);
    /** Whether another process read that file. */
    bool (*has)(const struct lr_parallel *self, const char *path);
    /** Takes what a tensor lost, instead of the report. */
    void (*lost)(const struct lr_parallel *self, rec_job *job, const lr_loss *loss);
    bool headers;     /**< of a load: tensors are to have no data */
    bool window;      /**< of a save: writes only a range of the file */
    bool resumes;     /**< of a save: its temporary file may be what an earlier save left, and may stay if this fails */
    lr_stepping step; /**< of a save: the stream that can be passed over, if there is one */
} lr_parallel;
/** `open` of the job or of its context. */
int32_t lr_parallel_open(rec_job *job, rec_source *source, bool map, bool *missing, bool *done);
bool lr_parallel_has(const rec_job *job, const char *path);
/** The stream of the tensor that is written next. */
static inline void lr_parallel_step(const rec_job *job, lr_stepping step)
{
    if (job->parallel) {
        job->parallel->step = step;
    }
}

#endif
