/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Bytes in and out: sources, which are read, and sinks, which are written as a whole or not at all; several files of
 * one model. plugin.h has what plugins see of them. It never looks at what the bytes mean, and follows no name out of
 * the folder of the file that was asked for. A source is counted: who keeps it gives its count back. A sink is its
 * maker's until lr_sink_commit(); the files beside either are given back with it, or with the job. */
#ifndef LR_IO_H
#define LR_IO_H

#include "core/base/base.h"

/** Makes a lock that tells the thread which has it. @return whether there is one. */
bool lr_lock_init(pthread_mutex_t *lock);

/* Sources. Each is born with one count. NULL: the job has failed. */

/** A regular file whose bytes are read when somebody asks for them: as a whole for the view, which is mapped (`map`) or
 *  in page memory, read by several threads if it is large; in pieces by rec_source_read. A folder has no bytes and the
 *  names of its files (rec_source_names). Anything else (FIFO, device) is read to its end now. */
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
/** Its bytes are needed as they lie: maps one that was left unmapped until then (source_seen.c). Others stay as they
 * are. */
int32_t lr_source_map_late(rec_job *job, rec_source *source);
/** The program is given bytes of it: lr_watch_lend(). NULL is ignored. */
void lr_source_lend(const rec_source *source);
/** @return whether it was, as far as somebody met that. */
bool lr_source_is_cut(const rec_source *source);
/** At the end of a load: if a record keeps the source, later nothing may depend on what becomes of the file. */
int32_t lr_source_settle(rec_job *job, rec_source *source);
/** The same with the view at once. */
rec_source *lr_source_file(rec_job *job, const char *path, bool map);
/** The program's memory with a way to give it back, and what its functions give. Either is given back once, also if
 * that fails. */
rec_source *lr_source_lent(rec_job *job, const void *data, uint64_t size, const char *name,
                           void (*release)(void *user, const void *data), void *user);
rec_source *lr_source_input(rec_job *job, const rec_input *input, void *user);
/** Gives back what no source and no sink came of. */
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
/** What stands for the data of a load that skips them, whose bytes nobody gets; the job's. NULL: the job has failed. */
rec_source *lr_source_absent(rec_job *job);
/** The job's count of it is given back. */
void lr_source_absent_end(rec_job *job);
/** Whether so many bytes that were made are to be in a temporary file, as the context says. */
bool lr_spill_wanted(const rec_job *job, uint64_t size);
/** Pages that were filled as a source: a temporary file with their bytes, if that is wanted, so that they can be filled
 * again; else themselves, and they are empty then. NULL: the job has failed, and they are as they were. */
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
/** What was looked at so far will hardly be again: the pages of a mapped file need not stay. NULL is ignored. */
void lr_source_forget(const rec_source *source);
/** The bytes of a place were read, and will hardly be again for now: where they lie in the map of a file, the caller's
 * or a temporary one, their pages need not stay. Who looks at them again gets them again, so it may be done at any time
 * by any thread. @param source NULL is ignored. @param data NULL: they were made, perhaps of such a map. */
void lr_source_behind(const rec_source *source, const void *data, uint64_t size);
/** A reader of headers stepped over these bytes, if it is a temporary file that it reads: the pages around need not
 * stay. */
void lr_source_stepped_over(const rec_source *source, const void *data, uint64_t size);
/** What is only handed on by the job (a conversion) was: the pages of a mapped file that lie in it need not stay. Who
 * looks at them again gets them again. @param source,data as above. */
void lr_source_pass(const rec_job *job, const rec_source *source, const void *data, uint64_t size);
/** A plugin begins to read it: of a file that is mapped meanwhile a page at a time is read from the disk, as who steps
 * over tensors needs no more. */
void lr_source_step_begin(rec_job *job, rec_source *source);
/** That ends, or the reader turned out to take all that it passes. */
void lr_source_step_end(rec_job *job);
/** Whether it is a mapped file, for `record info`. */
bool lr_source_mapped(const rec_source *source);
/** Bytes of a place if they are in memory already. NULL: they are not, or the source ends before. */
const uint8_t *lr_source_in_memory(const rec_source *source, uint64_t offset, uint64_t size);
/** Whether its bytes are made or fetched each time somebody asks: better once than twice. NULL: no. */
bool lr_source_is_far(const rec_source *source);
/** Whether its bytes lie somewhere, so that their offsets say something; false of computed ones. NULL: yes. */
bool lr_source_is_stored(const rec_source *source);

/** A kind of source: what is asked of it as long as its bytes are not in memory in one piece. Who has the view needs
 * none of this any more. */
typedef struct lr_source_ops {
    bool stored;  /**< its bytes lie somewhere: they need not be kept to be had again, and their offsets may be told */
    bool lasting; /**< who gives them promised that they stay: a record that keeps it may read them later */
    /** Its size; REC_UNKNOWN if only who reads it knows. */
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
    /** Of a folder, which has no bytes: the names of its files. NULL: it is none. */
    const char *const *(*names)(const rec_source *source, uint64_t *count);
    /** What is beside it; of one whose path was opened, core's functions know that. `optional`: that it is not there is
     *  NULL without a failure. NULL: nothing is beside it. */
    int32_t (*beside)(rec_job *job, rec_source *source, const char *name, bool optional, rec_source **out);
    /** Whether it was read to its end. NULL: its size is known. */
    bool (*ended)(const rec_source *source);
    /** A reader of headers is done with it (lr_source_step_end). NULL: nothing to do. */
    void (*stepped)(rec_source *source);
    /** Frees what `self` is. Called once, also if the view was made. */
    void (*release)(rec_source *source);
} lr_source_ops;

/** Files that one process looks at for others (source_seen.c). Begins to write down what a job looks at… NULL: the job
 * has failed. */
typedef struct lr_seen lr_seen;
lr_seen *lr_seen_begin(rec_job *job);
/** …and ends that, also of a job that has failed, once nobody has its sources any more. @param data (out) from malloc.
 */
int32_t lr_seen_end(rec_job *job, void **data, uint64_t *size);
/** Shows that to the job's context: REC_E_ARGUMENT if these are no such bytes. Without any: what was shown counts no
 * more. */
int32_t lr_seen_show(rec_job *job, const void *data, uint64_t size);
/** Makes a source, which has its path as name, that of a file that is looked at or was shown. @param missing (out)
 * true: there is none. NULL: that is not to be. @param map it may be mapped. @param done (out) false: neither; it is to
 * be opened. */
int32_t lr_seen_open(rec_job *job, rec_source *source, bool map, bool *missing, bool *done);
/** Whether a file was shown by that path. */
bool lr_seen_has(const rec_job *job, const char *path);

/** A source of a kind of its own. @param self what its functions find by lr_source_self(); taken unless it fails. */
rec_source *lr_source_of(rec_job *job, const char *name, const lr_source_ops *ops, void *self);
void *lr_source_self(const rec_source *source);

/** Copies a blob that a reader lends, as far as the other side knows its members, and checks that it has what its kind
 *  needs and lies where it says. */
int32_t lr_blob_lent(rec_job *job, uint64_t at, const rec_blob *blob, rec_blob *copy);

/* The files of rec_source_beside(). A job keeps count of them, so that those that a record keeps are settled too. */

/** lr_source_settle() for all of them; those that nobody else keeps are released. */
int32_t lr_siblings_settle(rec_job *job);
/** Whether all that somebody keeps are mapped files, once they were settled. @param any (out) whether any is kept. */
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
/** The program's own functions. They are told of the end and given back once, also if that fails. */
rec_sink *lr_sink_output(rec_job *job, const rec_output *output, void *user);
/** A range of what is written, and what the whole came to. Files beside the first count as if they were one with it,
 * which is last. */
typedef struct lr_window {
    uint64_t from, to; /**< bytes of the file */
    uint64_t total;    /**< (out) bytes of all of it… */
    uint64_t
        sum; /**< …and a sum of all that is no blob: who has the same would write the same, but for tensors' data */
    const char *letters; /**< what is put into the names of a set's files; NULL: nothing */
    rec_file *files;     /**< (out) in the order of their bytes, to be freed by lr_window_end() */
    uint64_t count, room;
} lr_window;
void lr_window_end(rec_job *job, lr_window *window);
/** One that hands on a window of what it is given, whose other bytes are neither read nor made where they can be
 * stepped over (lr_stepping). @param name the file's, of which this is a part; "": it is none, and can have none beside
 * it. @param target taken, also if that fails; NULL: all that is wanted is what `window` then says. @param window
 * filled in when it is finished. */
rec_sink *lr_sink_window(rec_job *job, const char *name, rec_sink *target, lr_window *window);
bool lr_sink_is_window(const rec_sink *sink);
/** Saves files that others write: rec_save_filled(). */
int32_t lr_save_filled(rec_job *job, const char *path, bool sync, const rec_filling *filling, rec_fill_fn fill,
                       void *user);
/** Memory that grows. */
rec_sink *lr_sink_memory(rec_job *job);
/** One that counts what is written as rec_sink_layout(), for a first walk over what `sink` will get: it has its name,
 *  and files beside it if that can have them. To be closed with rec_sink_close() before `sink`. */
rec_sink *lr_sink_layout_of(rec_job *job, rec_sink *sink);
/** Bytes given to it and to those beside it. */
uint64_t lr_sink_tell_all(const rec_sink *sink);
/** Any sink for tests: `write` may fail. */
typedef int32_t (*lr_sink_write_fn)(void *user, rec_job *job, const void *data, uint64_t size);
rec_sink *lr_sink_custom(rec_job *job, lr_sink_write_fn write, void *user);
/** Prepares for what a layout of the save came to. Of a single file the space is reserved: a full disk shows here. */
int32_t lr_sink_expect(rec_sink *sink, const rec_sink *layout);
/** Reserves space for the whole file. */
int32_t lr_sink_reserve(rec_sink *sink, uint64_t size);
/** Ends the writing: all of it and of those beside it is with the system, which may still be writing it to the disk,
 * and nothing has its name yet. */
int32_t lr_sink_end(rec_sink *sink);
/** What was written, to be read back after lr_sink_end(): it has its name to be already, and those beside it theirs.
 * The sink must outlive it. NULL: what was written can only be read by somebody else, or the job has failed. */
rec_source *lr_sink_reopen(rec_sink *sink);
/** Flushes, syncs, renames, with those beside it; frees the sink. After a failed job: removes what is temporary and
 *  leaves the targets. */
int32_t lr_sink_commit(rec_sink *sink);
/** Takes the bytes of a memory sink before lr_sink_commit: from malloc, at least one byte. */
int32_t lr_sink_take(rec_sink *sink, void **data, uint64_t *size);

#endif
