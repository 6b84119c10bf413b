/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Recorders: a plugin at a precision, with its options. */
#ifndef LR_RECORDER_H
#define LR_RECORDER_H

#include "remap/rules/rules.h"
#include "core/registry/registry.h"

/** Load arguments, as they were set (remap/arguments.c; docs/plans.md). Rules and profile are parsed by then. */
typedef struct lr_arguments {
    lr_rules *rules;     /**< rules, lets, adapter, gaps and select of its own; NULL: none */
    lr_rules *profile;   /**< the profile with what it includes; NULL: none */
    char *prefix;        /**< in front of destination keys; NULL: none */
    char *config;        /**< the model's configuration; NULL: what lies beside the model */
    lr_numbers numbers;  /**< those that were set; without a configuration */
    bool partial, strict, debug, reverse;
} lr_arguments;

struct rec_recorder {
    rec_context *context;
    const lr_plugin *plugin; /**< NULL: Auto */
    rec_precision precision; /**< not DEFAULT */
    bool map, sync, clamp;
    int32_t target; /**< 0.MINOR whose layout and ids are written, or LR_TARGET_… */
    lr_type_ref type;
    lr_arena arena; /**< of its expression, if it is one by name */
    lr_option_set *options; /**< of the plugin; checked, for Auto when the plugin is known */
    lr_arguments arguments;
};

/** Sets any option of a recorder. */
int32_t lr_recorder_set(rec_job *job, rec_recorder *recorder, const char *name, const char *value);

/** Checks the options of an Auto recorder once its plugin is known. */
int32_t lr_recorder_check(rec_job *job, const rec_recorder *recorder, const rec_plugin *plugin);

/* remap/arguments.c */

void lr_arguments_init(lr_arguments *arguments, const lr_allocator *allocator);
void lr_arguments_free(lr_arguments *arguments);
/** Whether the word is a load argument; plugins have no options of these names. */
bool lr_argument_key(const char *name);
/** Tries the names of all load arguments. */
void lr_argument_near(lr_near *near);
/** Whether the load argument adds to those of its name (`rename`, `set`, …) rather than replacing the one before. */
bool lr_argument_adds(const char *name);
/** @param place of an INI file's line, or NULL. */
int32_t lr_arguments_set(rec_job *job, rec_recorder *recorder, const char *name, const char *value,
                         const lr_place *place);
/** Whether anything was given that a load without a plan would not do. The plugin's default adapter does not count. */
bool lr_arguments_any(const lr_arguments *arguments);
/** All rules that count, in order: the profile's, then the recorder's own; adapter, gaps and select are the recorder's
 *  own where it has them, else the profile's, else unset. `strict` counts as it is now. To be freed with
 *  lr_rules_free(); empty if there are none. NULL: the job has failed. */
lr_rules *lr_arguments_rules(rec_job *job, const rec_recorder *recorder);
/** All numbers that count: those that were set, and (if some rule needs a name that was not set, or a file was named)
 *  the model's configuration. @param rules of lr_arguments_rules(). @param model_path NULL: a record in memory.
 *  @param numbers (out) initialised here, to be freed with lr_numbers_free() also on failure. */
int32_t lr_arguments_numbers(rec_job *job, const rec_recorder *recorder, const lr_rules *rules, const char *model_path,
                             lr_numbers *numbers);

/* read.c, write.c: within a job, so that a conversion is one operation. NULL or a status: the job has failed. */
rec_record *lr_load_file(rec_job *job, rec_recorder *recorder, const char *path);
rec_record *lr_load_source(rec_job *job, rec_recorder *recorder, rec_source *source, const char *path);
int32_t lr_save_file(rec_job *job, rec_recorder *recorder, const rec_record *record, const char *path);
/** The name a path stands for. @param path_out to be released with lr_release. */
int32_t lr_recorder_path(rec_job *job, const lr_plugin *plugin, const char *path, char **path_out);

#endif
