/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The configuration: an INI file, read whole and checked before any of it counts. */
#ifndef LR_CONFIG_H
#define LR_CONFIG_H

#include "core/config/context.h"

/** A `key = value` line. */
typedef struct lr_setting {
    const char *key;
    const char *value;
    uint32_t line;
} lr_setting;

/** A `[recorder NAME]` section. `plugin` is required; the rest are options, in order. */
typedef struct lr_recorder_section {
    const char *name;
    const char *plugin;
    uint32_t plugin_line;
    uint32_t line;
    rec_precision precision; /**< REC_PRECISION_DEFAULT if not given */
    const lr_setting *settings; /**< everything but plugin and precision */
    uint64_t setting_count;
} lr_recorder_section;

/** A `[profile NAME]` section: one model family's rules. remap/rules/profile.c makes rules of its lines. */
typedef struct lr_profile_section {
    const char *name;
    uint32_t line;
    const char *description, *source, *destination; /**< NULL if not given */
    const lr_setting *settings; /**< everything else, in order: rules, include, less, switches */
    uint64_t setting_count;
} lr_profile_section;

/** An empty configuration. NULL out of memory. */
lr_config *lr_config_new(const lr_allocator *allocator);
void lr_config_free(lr_config *config);
/** Reads a file into an empty configuration; on failure the configuration stays empty. */
int32_t lr_config_read(rec_job *job, lr_config *config, const char *path);
/** Finds the file to read by LIBRECORD_CONFIG, then $XDG_CONFIG_HOME/librecord/librecord.ini (~/.config), then the
 *  system's (SYSCONFDIR/librecord/librecord.ini).
 *  @param path (out) to be freed with lr_release, NULL if there is none. An unset or unsafe environment (setuid) is
 *  skipped; a file named by LIBRECORD_CONFIG that does not exist is a failure. */
int32_t lr_config_find(rec_job *job, char **path);

const char *lr_config_file(const lr_config *config);          /**< "" if none was read */
const char *lr_config_recorder(const lr_config *config);      /**< default recorder's name, NULL if not set */
rec_precision lr_config_precision(const lr_config *config);   /**< REC_PRECISION_DEFAULT if not set */
const char *lr_config_plugin_path(const lr_config *config);   /**< folders separated by ':', NULL if not set */
int32_t lr_config_plugins(const lr_config *config);           /**< REC_PLUGINS_…, -1 if not set */
uint32_t lr_config_threads(const lr_config *config);          /**< 0 if not set */
/** Applies memory_factor, memory_slack, inflated_factor, inflated_slack, depth, elements to `limits`. */
void lr_config_limits(const lr_config *config, rec_limits *limits);
/** NULL if there is no such section. */
const lr_recorder_section *lr_config_find_recorder(const lr_config *config, const char *name);
uint64_t lr_config_recorder_count(const lr_config *config);
const lr_recorder_section *lr_config_recorder_at(const lr_config *config, uint64_t index);
/** The same for profiles, whose names compare as those of recorders. */
const lr_profile_section *lr_config_find_profile(const lr_config *config, const char *name);
uint64_t lr_config_profile_count(const lr_config *config);
const lr_profile_section *lr_config_profile_at(const lr_config *config, uint64_t index);

#endif
