/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The configuration: INI files read whole and checked before any of them counts, and the context that is made of one.
 * It opens no plugin and reads no rule: it knows which words may stand where, others what they mean.
 * A configuration and all its texts belong to the context, and live as long as that. */
#ifndef LR_CONFIG_H
#define LR_CONFIG_H

#include "core/base/base.h"

/* ---------------------------------------------------------------------------------------------------- contexts -- */

/** Retains a context for longer than one operation; attachments do not. @return `context`. */
rec_context *lr_context_retain(rec_context *context);
/** Gives that up; the last one frees it. */
void lr_context_release(rec_context *context);

/** Returns the attachment with that release function; NULL: none yet. */
lr_attached *lr_context_attached(rec_context *context, void (*release)(lr_attached *what));
/** Leaves something with the context, which releases what was attached to it when it goes, the last first.
 *  @return `what`; or, if another thread attached one of its kind meanwhile, that one, and `what` is released. */
lr_attached *lr_context_attach(rec_context *context, lr_attached *what);

/** Begins an operation of a public function with an optional context. NULL means the default context, made on first
 * use; if that fails (out of memory, an invalid configuration file), the job has failed and has no context. */
void lr_job_open(rec_job *job, rec_context *context, const char *operation, const char *file);

/* ------------------------------------------------------------------------------------------- the configuration -- */

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
    rec_precision precision;    /**< REC_PRECISION_DEFAULT if not given */
    const lr_setting *settings; /**< everything but plugin and precision */
    uint64_t setting_count;
} lr_recorder_section;

/** A `[profile NAME]` section: one model family's rules. remap/rules/profile.c makes rules of its lines. */
typedef struct lr_profile_section {
    const char *name;
    uint32_t line;
    const char *description, *source, *destination; /**< NULL if not given */
    const char *family, *others, *doubt;            /**< the same, of the family that its files are of */
    const char *model_type, *architecture;
    const lr_setting *settings; /**< everything else, in order: rules, include, less, switches, has and knows */
    uint64_t setting_count;
} lr_profile_section;

/** An empty configuration. NULL out of memory. */
lr_config *lr_config_new(const lr_allocator *allocator);
void lr_config_free(lr_config *config);
/** Reads a file into an empty configuration; on failure the configuration stays empty. */
int32_t lr_config_read(rec_job *job, lr_config *config, const char *path);
/** Finds the configuration file: LIBRECORD_CONFIG, then $XDG_CONFIG_HOME/librecord/librecord.ini (~/.config), then the
 * system's (SYSCONFDIR/librecord/librecord.ini). @param path (out) freed with lr_release; NULL: no file. An unset or
 * unsafe environment (setuid) is skipped. A missing file named by LIBRECORD_CONFIG is a failure. If this process has
 * the rights of another user than the one who started it (sudo, doas, pkexec, set-user-ID), so is a file that others
 * than root and its own user can change. */
int32_t lr_config_find(rec_job *job, char **path);
/** Returns the directory of librecord's data (modules/, profiles/) that the context or LIBRECORD_DATA names; NULL:
 * none, and the installed one counts (data.c). */
const char *lr_config_data(const rec_context *context);
/** Rejects a file of librecord's data by the same rule: those that were installed with librecord are not judged. */
int32_t lr_config_judge_data(rec_job *job, const char *path);

const char *lr_config_file(const lr_config *config); /**< "" if none was read */
/** Returns the default recorder's name, NULL if not set. @param line (out) where it is set, 0 if not. */
const char *lr_config_recorder(const lr_config *config, uint32_t *line);
rec_precision lr_config_precision(const lr_config *config); /**< REC_PRECISION_DEFAULT if not set */
const char *lr_config_plugin_path(const lr_config *config); /**< folders separated by ':', NULL if not set */
/** Sets what a file says of the context: limits, threads, plugins, sources. */
void lr_config_apply(const lr_config *config, rec_context *context);
/** NULL if there is no such section. */
const lr_recorder_section *lr_config_find_recorder(const lr_config *config, const char *name);
uint64_t lr_config_recorder_count(const lr_config *config);
const lr_recorder_section *lr_config_recorder_at(const lr_config *config, uint64_t index);
/** The same for profiles, whose names compare as those of recorders. */
const lr_profile_section *lr_config_find_profile(const lr_config *config, const char *name);
uint64_t lr_config_profile_count(const lr_config *config);
const lr_profile_section *lr_config_profile_at(const lr_config *config, uint64_t index);

/* ------------------------------------------------------------------------------------------------------- words -- */

/** What a word means. Rules first: remap/rules counts their kinds by these numbers. */
enum {
    LR_WORD_DROP = 1,
    LR_WORD_SPLIT,
    LR_WORD_WEIGHT_NORM,
    LR_WORD_RENAME,
    LR_WORD_ADD,
    LR_WORD_ROPE,
    LR_WORD_SQUEEZE,
    LR_WORD_RESHAPE,
    LR_WORD_TRANSPOSE,
    LR_WORD_PERMUTE,
    LR_WORD_STACK,
    LR_WORD_JOIN,
    LR_WORD_TIE,
    LR_WORD_MODULE,
    LR_WORD_VARIANT,
    LR_WORD_BACK,
    LR_WORD_EXPORT,
    LR_WORD_MERGE,
    LR_WORD_REQUIRE,
    LR_WORD_LET,
    LR_WORD_ADAPTER,
    LR_WORD_GAPS,
    LR_WORD_SELECT,
    LR_WORD_DESCRIPTION,
    LR_WORD_SOURCE,
    LR_WORD_DESTINATION,
    LR_WORD_INCLUDE,
    LR_WORD_LESS,
    LR_WORD_FAMILY,
    LR_WORD_OTHERS,
    LR_WORD_DOUBT,
    LR_WORD_MODEL_TYPE,
    LR_WORD_ARCHITECTURE,
    LR_WORD_HAS,
    LR_WORD_KNOWS,
    LR_WORD_PROFILE,
    LR_WORD_PREFIX,
    LR_WORD_CONFIG,
    LR_WORD_SET,
    LR_WORD_PARTIAL,
    LR_WORD_STRICT,
    LR_WORD_DEBUG,
    LR_WORD_REVERSE,
    LR_WORD_PLUGIN,
    LR_WORD_PRECISION,
    LR_WORD_AS,
    LR_WORD_MAP,
    LR_WORD_DATA,
    LR_WORD_DECODE,
    LR_WORD_SYNC,
    LR_WORD_CHECK,
    LR_WORD_CLAMP,
    LR_WORD_MODULES,
    LR_WORD_LAYOUT
};

/** Where a word may stand. */
enum {
    LR_FOR_RULES = 1,    /**< in a profile and as a load argument */
    LR_FOR_PROFILE = 2,  /**< in a profile only */
    LR_FOR_LOAD = 4,     /**< as a load argument only */
    LR_FOR_RECORDER = 8, /**< in a recorder's section or as an option, whatever its plugin is */
    LR_FOR_FAMILY = 16,  /**< in a profile only: by what its family's files are known (remap/recognise.c) */
    LR_IN_PROFILE = LR_FOR_RULES | LR_FOR_PROFILE | LR_FOR_FAMILY,
    LR_IN_ARGUMENTS = LR_FOR_RULES | LR_FOR_LOAD
};

typedef struct lr_word {
    const char *name;
    int32_t which;  /**< LR_WORD_… */
    uint32_t where; /**< LR_FOR_… */
    bool adds;      /**< to those before of its name, rather than replacing the last one */
} lr_word;

/** @param where LR_FOR_…, LR_IN_…. NULL: no such word may stand there. */
const lr_word *lr_word_find(const char *name, uint32_t where);
/** "rename"; "" for no word. */
const char *lr_word_name(int32_t which);
/** Tries all words that may stand there. */
void lr_words_suggest(lr_suggestion *near, uint32_t where);
/** Writes "drop, split, …": all words that may stand there, and of two for the same the first. @return text. */
const char *lr_words_list(char *text, size_t room, uint32_t where);

/* ------------------------------------------------------------------------------------------------------- files -- */

enum { LR_TEXT_FILE_MOST = 16 << 20 };

/** Reads a text file of at most LR_TEXT_FILE_MOST bytes, or one built into the library. @param wanted "a configuration
 * file", for messages. @return its text with a terminating NUL, from the job's allocator. NULL: the job has failed. */
char *lr_text_file(rec_job *job, const char *path, const char *wanted, size_t *length);

/** A file of librecord's data in the library. The last one of lr_builtin_files has no path. */
typedef struct lr_builtin_file {
    const char *path; /**< "librecord:profiles/llama.ini" */
    const char *text;
} lr_builtin_file;
/** Made from etc/ by data_files.awk. */
extern const lr_builtin_file lr_builtin_files[];
/** Begins the paths of these files. */
#define LR_BUILTIN "librecord:"
/** Returns the file in the library that has this path, or NULL. */
const lr_builtin_file *lr_builtin_find(const char *path);

/** The INI files of one kind that come with librecord, in the order of their names. */
typedef struct lr_ini_files {
    const char *folder;
    const char **files; /**< their paths */
    uint64_t count;
} lr_ini_files;
/** Lists them in the directory lr_config_data()/`kind`, which may not exist. Without that directory it lists the
 * installed files or, without these, the built-in ones. @param kind "modules" or "profiles". @param arena holds the
 * paths. */
int32_t lr_ini_files_find(rec_job *job, lr_arena *arena, const char *kind, lr_ini_files *data);

/** Receives the contents of an INI file. Texts are trimmed, valid UTF-8, and live during the call only. A function that
 * returns a status other than REC_OK has reported the failure on the job, and parsing stops. */
typedef struct lr_ini_reader {
    /** `[kind name]`: what stands between the brackets. */
    int32_t (*section)(void *user, const char *text, uint32_t line);
    /** A key (A-Z a-z 0-9 . _ -, at most 64 bytes) and its value, which is not empty. Never before a section. */
    int32_t (*setting)(void *user, const char *key, const char *value, uint32_t line);
    const char *begin;    /**< hint about a key before any section */
    const char *no_value; /**< hint about a key without value */
} lr_ini_reader;

/** Reads a file of at most 16 MiB, to its end or to the first mistake. */
int32_t lr_ini_read(rec_job *job, const char *path, const lr_ini_reader *reader, void *user);

#endif
