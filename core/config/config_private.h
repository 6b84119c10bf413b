/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a configuration is made of, and what is shared by those who read one. */
#ifndef LR_CONFIG_PRIVATE_H
#define LR_CONFIG_PRIVATE_H

#include "core/config/config.h"

/** The keys of [librecord], by which its values are kept. */
enum {
    KEY_RECORDER,
    KEY_PRECISION,
    KEY_PLUGIN_PATH,
    KEY_PLUGINS,
    KEY_SOURCES,
    KEY_THREADS,
    KEY_MEMORY_FACTOR,
    KEY_MEMORY_SLACK,
    KEY_INFLATED_FACTOR,
    KEY_INFLATED_SLACK,
    KEY_DEPTH,
    KEY_ELEMENTS,
    KEYS
};

struct lr_config {
    const lr_allocator *allocator;
    lr_arena arena;
    const char *file;
    struct {
        const char *text;
        uint64_t number;
        uint32_t line; /**< 0: not set */
    } values[KEYS];
    lr_recorder_section *sections;
    uint64_t section_count, section_room;
    lr_profile_section *profiles;
    uint64_t profile_count, profile_room;
};

/** What [librecord] has a key for. */
typedef struct lr_config_key {
    const char *name;
    int value; /**< how it is read */
    uint64_t minimum, maximum;
} lr_config_key;

/** A file on its way into a configuration. */
typedef struct lr_config_parser {
    rec_job *job;
    lr_config *config;            /**< the draft */
    uint32_t main_line;           /**< where [librecord] stands, 0 if nowhere yet */
    lr_recorder_section *section; /**< the recorder that is read, or */
    lr_profile_section *profile;  /**< the profile; both NULL: [librecord] */
    lr_setting *settings;         /**< its settings */
    uint64_t setting_room;
    uint32_t precision_line; /**< where its precision stands, 0 if nowhere */
} lr_config_parser;

#define MISTAKE(p, line, ...) lr_fail_line((p)->job, REC_E_CONFIG, (p)->config->file, (line), __VA_ARGS__)

/** Makes it empty. What it had is not freed. */
void lr_config_reset(lr_config *config, const lr_allocator *allocator);

/* value.c. An invalid value is reported with its line. */

/** NULL: the job has failed. */
char *lr_config_copy(lr_config_parser *p, const char *text);
/** @param all the words that may stand there. */
int32_t lr_config_hint_suggestion(lr_config_parser *p, const lr_suggestion *near, const char *all);
/** @param words all that may stand there, NULL-terminated. @param number (out) its index. */
int32_t lr_config_read_word(lr_config_parser *p, const char *key, const char *value, uint32_t line,
                            const char *const *words, uint64_t *number);
int32_t lr_config_read_precision(lr_config_parser *p, const char *value, uint32_t line, rec_precision *precision);
/** @param sized whether it may end in KiB, MiB or GiB. */
int32_t lr_config_read_number(lr_config_parser *p, const lr_config_key *key, bool sized, const char *value,
                              uint32_t line, uint64_t *number);
/** @param what it names: "recorder". */
int32_t lr_config_check_name(lr_config_parser *p, const char *what, const char *name, uint32_t line);
int32_t lr_config_check_folders(lr_config_parser *p, const char *value, uint32_t line);

#endif
