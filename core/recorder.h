/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Recorders: a plugin at a precision, with its options. */
#ifndef LR_RECORDER_H
#define LR_RECORDER_H

#include "registry.h"

/** A plugin's option that was set. */
typedef struct lr_option_set {
    struct lr_option_set *next;
    const char *value;
    char name[];
} lr_option_set;

struct rec_recorder {
    rec_context *context;
    const lr_plugin *plugin; /**< NULL: Auto */
    rec_precision precision; /**< not DEFAULT */
    bool map, sync, clamp;
    int32_t target; /**< 0.MINOR whose layout and ids are written, or LR_TARGET_… */
    const rec_type *type;    /**< or */
    const rec_types *types;  /**< a type by name: */
    const struct lr_expr *expr;
    lr_arena arena; /**< of the expression */
    lr_option_set *options; /**< of the plugin; checked, for Auto when the plugin is known */
};

enum {
    LR_TARGET_KEEP = -1, /**< the layout the record came with */
    LR_TARGET_PLAIN = 0  /**< the last one, but ids stay as they are */
};

/** Checks a value against an option of a plugin. @param found where the fault is. @return false: `why` says it. */
bool lr_option_check(const rec_option *option, const char *value, char *why, size_t room);
const rec_option *lr_option_find(const rec_plugin *plugin, const char *name);
/** Sets any option of a recorder. */
int32_t lr_recorder_set(rec_job *job, rec_recorder *recorder, const char *name, const char *value);

/** Checks the options of an Auto recorder once its plugin is known. */
int32_t lr_recorder_check(rec_job *job, const rec_recorder *recorder, const rec_plugin *plugin);

/* load.c, save.c: within a job, so that a conversion is one operation. NULL or a status: the job has failed. */
rec_record *lr_load_file(rec_job *job, rec_recorder *recorder, const char *path);
rec_record *lr_load_source(rec_job *job, rec_recorder *recorder, rec_source *source, const char *path);
int32_t lr_save_file(rec_job *job, rec_recorder *recorder, const rec_record *record, const char *path);
/** The name a path stands for. @param path_out to be released with lr_release. */
int32_t lr_recorder_path(rec_job *job, const lr_plugin *plugin, const char *path, char **path_out);

#endif
