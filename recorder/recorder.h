/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The front door: a plugin at a precision, with its options, load arguments and a type; what loads, saves and converts.
 * It never looks into a format, and decides no key's way: plugins and remap do.
 * Who opens a recorder owns it, with its options and arguments; a plan keeps those that it was made with, a recorder
 * the definitions that its type is of. A record that a load gives is the caller's. */
#ifndef LR_RECORDER_H
#define LR_RECORDER_H

#include "core/registry/registry.h"
#include "remap/remap.h"

enum { LR_CHECK_AUTO = 0, LR_CHECK_NO = 1, LR_CHECK_YES = 2 };

/** An option with its value (options.c). */
typedef struct lr_kept_option lr_kept_option;

struct rec_recorder {
    rec_context *context;
    atomic_uint_fast64_t held; /**< plans that hold it, besides its owner */
    const lr_plugin *plugin;   /**< NULL: Auto */
    rec_precision precision;   /**< not DEFAULT */
    rec_progress_fn progress;  /**< takes the place of the context's; NULL: none */
    void *progress_user;
    lr_kept_option *kept; /**< all options, in the order they were set; what follows is made of them */
    bool map, sync, clamp;
    bool as_file;           /**< what is loaded is what the file has: no precision, no adapter, no type, no rules */
    bool skip;              /**< what is read are headers: tensors have no data */
    bool decode;            /**< encoded tensors become numbers at any precision, where they can */
    bool modules;           /**< what is read is looked over: its modules' shapes, its layers */
    int32_t check;          /**< LR_CHECK_…: whether what was saved is read back */
    int32_t target;         /**< 0.MINOR whose layout and ids are written, or LR_TARGET_… */
    lr_type_ref type;       /**< its set of definitions is held */
    const char *expression; /**< the text of a type by name; or NULL */
    lr_arena arena;         /**< of that */
    lr_option_set *options; /**< of the plugin; checked, for Auto when the plugin is known */
    lr_arguments arguments;
};

/** Lets a plan keep the recorder: rec_close_recorder() gives that up as well. */
int32_t lr_recorder_lend(rec_job *job, rec_recorder *recorder, rec_plan *plan);

/* options.c */

/** Begins a recorder without options. */
void lr_recorder_begin(rec_recorder *recorder);
/** Frees all options and what they made. */
void lr_recorder_forget(rec_recorder *recorder);
/** Sets any option of a recorder. @param place of an INI file's line, or NULL. */
int32_t lr_recorder_set_at(rec_job *job, rec_recorder *recorder, const char *name, const char *value,
                           const lr_location *place);
/** Gives a recorder without options those of another one of its context and plugin. */
int32_t lr_recorder_set_like(rec_job *job, rec_recorder *recorder, const rec_recorder *other);

/** Checks the options of an Auto recorder once its plugin is known. */
int32_t lr_recorder_check(rec_job *job, const rec_recorder *recorder, const rec_plugin *plugin);

/** Begins a job whose progress goes to the recorder's callback, if it has one. */
void lr_recorder_job(rec_job *job, const rec_recorder *recorder, const char *operation, const char *file);

/** Returns the precision of a load. */
static inline rec_precision lr_load_precision(const rec_recorder *recorder)
{
    return recorder->as_file ? REC_PRECISION_KEEP : recorder->precision;
}

/* Below: within a job, so that a conversion is one operation. NULL or a status: the job has failed. */

/** The name a path stands for. @param path_out to be released with lr_release. */
int32_t lr_recorder_path(rec_job *job, const lr_plugin *plugin, const char *path, char **path_out);

/* read.c: the contents of the file, before load arguments apply */

/** The plugin that loads a source. @param asked requested plugin; NULL: the one that recognises the source. */
const lr_plugin *lr_recorder_reader(rec_job *job, const lr_plugin *asked, rec_source *source, const char *path);
rec_record *lr_load_file(rec_job *job, rec_recorder *recorder, const char *path);
rec_record *lr_load_source(rec_job *job, rec_recorder *recorder, rec_source *source, const char *path);

/* schemes.c */

/** Asks the schemes about a record that was read, and decodes it as the recorder demands.
 * @param source the file it was read from. */
int32_t lr_decode_loaded(rec_job *job, const rec_recorder *recorder, rec_source *source, rec_record *record);
/** Returns the record that a recorder with a precision writes: without encoded tensors. @param copy (out) the caller's,
 * or NULL if it is the record itself. NULL: the job has failed. */
const rec_record *lr_decode_saved(rec_job *job, rec_precision precision, const rec_record *record, rec_record **copy);

/* write.c */

/** The plugin for saving. Auto chooses by the extension of `path`, which may be NULL. */
const lr_plugin *lr_recorder_writer(rec_job *job, const rec_recorder *recorder, const char *path);
/** Writes the record to a sink that core made, and ends the sink whatever happens.
 *  @param sink NULL: the job has failed. @param data,size (out) of a sink in memory; else NULL. */
int32_t lr_save_sink(rec_job *job, rec_recorder *recorder, const lr_plugin *plugin, const rec_record *record,
                     rec_sink *sink, void **data, uint64_t *size);
int32_t lr_save_file(rec_job *job, rec_recorder *recorder, const rec_record *record, const char *path);
/** Fails where a record to which no tensor was mapped would replace an existing file. */
int32_t lr_check_replaced(rec_job *job, const rec_record *record, const char *name);

/* convert.c */

/** Loads what a conversion without a plan saves. @param plan (out) which holds it; NULL: it is the caller's. */
rec_record *lr_load_for(rec_job *job, rec_recorder *from, const char *in, const rec_recorder *to, const char *out,
                        rec_plan **plan);

/* plan.c */

/** A record that was just loaded, as the input of a plan, which takes it. @param path from the caller. */
lr_plan_input lr_recorder_input(const rec_recorder *recorder, rec_record *raw, const char *path);
/** A plan for what the recorder will write. @param out the file; NULL: unknown. NULL: the job has failed. */
rec_plan *lr_recorder_plan(rec_job *job, const rec_recorder *to, const char *out);
/** Carries a plan out into a file. */
int32_t lr_save_plan(rec_job *job, rec_plan *plan, rec_recorder *to, const char *out);

#endif
