/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Rules: how keys and layouts of one model family become another's. A profile is a named list of rules in an INI file,
 * including those that it includes; load arguments are a list without a name. docs/guide/plans.md has the grammar.
 * This room acts on no keys or tensors: it provides the rules and the numbers that they use. The caller owns a list of
 * rules with all its contents. The table of adapters is constant. */
#ifndef LR_RULES_H
#define LR_RULES_H

#include "core/config/config.h"
#include "remap/regex/regex.h"

/** Kinds of rules, which are words of an INI file (core/config/words.c). All rules of one kind are in the order in
 * which they were given. */
enum {
    LR_RULE_DROP = LR_WORD_DROP, /**< drop = RE [| rank N] [| dtype NAME…] [| needed [unless zero]]  source keys */
    LR_RULE_SPLIT =
        LR_WORD_SPLIT, /**< split = RE | rows|last|AXIS NAME[*E]… [in E] => TEXT  source keys; % is the part */
    LR_RULE_WEIGHT_NORM = LR_WORD_WEIGHT_NORM, /**< weight_norm = RE [| AXIS]  bases of source keys */
    LR_RULE_RENAME = LR_WORD_RENAME,           /**< rename = RE => TEXT */
    LR_RULE_ADD = LR_WORD_ADD,                 /**< add = RE | NUMBER  destination keys, as all that follow */
    LR_RULE_ROPE = LR_WORD_ROPE,               /**< rope = RE | E [E]  heads, rotary dims */
    LR_RULE_SQUEEZE = LR_WORD_SQUEEZE,         /**< squeeze = RE [| AXIS…] */
    LR_RULE_RESHAPE = LR_WORD_RESHAPE,         /**< reshape = RE | [E, E, …] [to [E, E, …]]  -1: the rest */
    LR_RULE_TRANSPOSE = LR_WORD_TRANSPOSE,     /**< transpose = RE  tensors of two axes */
    LR_RULE_PERMUTE = LR_WORD_PERMUTE,         /**< permute = RE | AXIS…  axis i of the result is the i-th named */
    LR_RULE_STACK = LR_WORD_STACK, /**< stack = RE => TEXT  first all-digits group that TEXT lacks: the index */
    LR_RULE_JOIN = LR_WORD_JOIN,   /**< join = RE | rows|last|AXIS NAME[*E]… => TEXT  % in RE: the part; E: backwards */
    LR_RULE_TIE = LR_WORD_TIE,     /**< tie = DST = SRC */
    LR_RULE_MODULE = LR_WORD_MODULE,   /**< module = RE => TYPE  paths of destination modules */
    LR_RULE_VARIANT = LR_WORD_VARIANT, /**< variant = RE => NAME  paths of destination enums */
    LR_RULE_BACK = LR_WORD_BACK,       /**< back = RE => TEXT  only going backwards: keys before all else */
    LR_RULE_EXPORT = LR_WORD_EXPORT,   /**< export = RE  only going backwards: source keys; see lr_retrace_choose() */
    LR_RULE_MERGE = LR_WORD_MERGE,     /**< merge = RE | rows|last|AXIS|same  one key of several sources */
    LR_RULE_REQUIRE = LR_WORD_REQUIRE, /**< require = RE  source keys: one of them must match */
    LR_RULE_LAST = LR_RULE_REQUIRE
};

/** A whole number that may need the model's configuration: product and quotient of names and numbers, `q*H/K`. */
typedef struct lr_amount {
    const char *text;
} lr_amount;

typedef struct lr_part {
    const char *name;
    const lr_amount *amount; /**< NULL: 1 */
} lr_part;

typedef struct lr_rule {
    int32_t kind;    /**< LR_RULE_… */
    uint32_t number; /**< position among all rules of the list, from 1: "rule 2" */
    lr_location place;
    const char *text;        /**< the source text of the value, without its key */
    const char *pattern;     /**< RE as written; of TIE: DST */
    lr_regex *regex;         /**< NULL for TIE, and for a JOIN, which has one for each part */
    const char *replacement; /**< TEXT, TYPE, NAME; of TIE: SRC; NULL for those without */
    lr_template *template;   /**< of SPLIT, RENAME, STACK, JOIN, BACK */
    int32_t axis; /**< of SPLIT, JOIN, MERGE, WEIGHT_NORM: 0 rows; -1 last; also LR_MERGE_SAME, LR_AXIS_WHOLE */
    const lr_amount *groups; /**< of SPLIT: `in E`, or NULL */
    uint64_t part_count;
    const lr_part *parts;    /**< of SPLIT, JOIN */
    lr_regex **part_regexes; /**< of JOIN: one for each part */
    uint64_t amount_count;
    const lr_amount *amounts; /**< of ROPE: heads[, dims]; of RESHAPE: the shape; of SQUEEZE: axes */
    uint64_t before_count;
    const lr_amount *before; /**< of RESHAPE with `to`: the shape before; its names are lengths of the tensor */
    const uint32_t *order;   /**< of PERMUTE: `order_count` axes, each below that and once */
    uint32_t order_count;
    double number_value; /**< of ADD */
    int32_t rank;        /**< of DROP: -1 any */
    uint64_t dtype_count;
    const rec_dtype *dtypes; /**< of DROP: none is any */
    int32_t needed;          /**< of DROP: LR_NEEDED_… */
    const char *profile;     /**< the profile it stands in, or NULL */
    uint64_t hits;           /**< of the rules of a plan's source: how many keys it acted on */
} lr_rule;

/** Whether the model uses the dropped tensor, so that dropping it is an error. */
enum { LR_NEEDED_NOT = 0, LR_NEEDED = 1, LR_NEEDED_UNLESS_ZERO = 2 };

/** MERGE: every source has the whole of it; WEIGHT_NORM: the length is that of the whole weight. */
enum { LR_MERGE_SAME = -2, LR_AXIS_WHOLE = -3 };

/** FOREIGN: another framework's layout, of which nothing is assumed; a source acts by NONE then. */
enum { LR_ADAPTER_UNSET = 0, LR_ADAPTER_NONE = 1, LR_ADAPTER_PYTORCH = 2, LR_ADAPTER_FOREIGN = 3 };
enum { LR_SWITCH_UNSET = 0, LR_SWITCH_NO = 1, LR_SWITCH_YES = 2 };

/** A number of a profile: `let = H heads | num_attention_heads | hidden_size / d if flag`. */
typedef struct lr_definition {
    const char *name;
    const char *text;
    const struct lr_choice *choices; /**< expression.c */
    uint64_t choice_count;
    lr_location place;
} lr_definition;

/** Rules, switches and numbers together: those of a profile with what it includes, or load arguments. */
typedef struct lr_rules {
    const lr_allocator *allocator;
    lr_arena arena; /**< of everything but the regular expressions */
    lr_rule *rules;
    uint64_t count, room;
    lr_definition *lets;
    uint64_t let_count, let_room;
    int32_t adapter;    /**< LR_ADAPTER_… */
    int32_t gaps;       /**< LR_SWITCH_YES: closed */
    const char *select; /**< keys below this path alone, without it; NULL: all. "." (all, whatever a profile
                             says) is never in what lr_arguments_rules() gives */
    const char *name;   /**< of a profile; NULL: load arguments */
    const char *description, *source, *destination; /**< of a profile: one line each, or NULL */
} lr_rules;

lr_rules *lr_rules_new(rec_job *job);
void lr_rules_free(lr_rules *rules); /**< NULL is ignored */
/** The kind of rule that a key gives, LR_RULE_…; 0: none (adapter, gaps, select, let, and what is no key at all). */
int32_t lr_rule_kind(const char *key);
/** Adds a line `key = value`. `remap` is another word for `rename`. The last `let` of a name, `adapter`, `gaps` and
 *  `select` count.
 *  @param place file NULL: an argument, then `what` is made here ("rule 2"). Copied. @param profile what the rule's
 *         `profile` becomes, or NULL. @param strict as in lr_template_new(). */
int32_t lr_rules_add(rec_job *job, lr_rules *rules, const char *key, const char *value, bool strict,
                     const lr_location *place, const char *profile);
/** Whether a list has a rule of a kind. */
bool lr_rules_have(const lr_rules *rules, int32_t kind);
/** Whether a rule drops tensors of a type and a rank, by its conditions. */
bool lr_rule_drops(const lr_rule *rule, rec_dtype dtype, uint32_t rank);
/** Takes a path and its dot off the front of a key, as `select` and `prefix` do. @param path NULL, "": all keys are
 *  below it. @return false: the key is not below it. */
bool lr_key_below(const char *path, const char **key, size_t *length);
/** Appends what another list has; regular expressions are compiled again. */
int32_t lr_rules_append(rec_job *job, lr_rules *rules, const lr_rules *other, bool strict);
/** Appends one rule of another list. */
int32_t lr_rules_append_one(rec_job *job, lr_rules *rules, const lr_rule *rule, bool strict);
/** Takes a rule out. The numbers of those after it become one less. */
void lr_rules_remove(lr_rules *rules, uint64_t index);

/** Loads the rules of a profile with its includes. @param name "NAME": from the context's INI file, else from the
 * profiles of the library (NAME.ini of lr_ini_files_find(), or any *.ini that has it); "FILE.ini:NAME", or "FILE.ini"
 * if it has only one. @param beside the file that a relative FILE.ini starts from; NULL: the working directory. NULL:
 * the job has failed (with similar names). */
lr_rules *lr_profile_load(rec_job *job, const char *name, const char *beside);

/* profile.c: the profiles that can be named, those of the context's INI file and those that come with the library. */

/** Files with profiles, each read once, for one operation. */
typedef struct lr_library {
    rec_job *job;
    const lr_config *own;         /**< the context's */
    struct lr_profile_ini *files; /**< read so far */
    lr_arena arena;               /**< of the paths */
    lr_ini_files data;            /**< the files that come with the library, once they are listed */
    bool listed;
    uint32_t includes;
} lr_library;

void lr_library_begin(lr_library *library, rec_job *job);
void lr_library_end(lr_library *library);
/** Calls for each profile: first the context's in the order of its file, then the others in the order of their files.
 * The arguments live as long as the library. @return the first status that was not REC_OK. */
int32_t lr_library_each(lr_library *library,
                        int32_t (*call)(void *user, const lr_config *config, const lr_profile_section *section),
                        void *user);

/* Values of a model's configuration (settings.c). */

enum { LR_SETTING_PATH = 512, LR_SETTING_DEPTH = 256 };

/** Receives a value. @param path names and indices of lists with dots. @param listed it is in a list, somewhere. */
typedef int32_t lr_setting_take(void *user, const char *path, bool listed, const rec_scalar *value);

/** A list or map that is open. */
typedef struct lr_setting_level {
    size_t length;  /**< of its own path */
    uint64_t index; /**< of the next element of a list */
    bool list;
} lr_setting_level;

/** The user data of lr_setting_visitor, for a plugin that loads a configuration. Zero except for the first members. */
typedef struct lr_setting_reader {
    rec_job *job;
    lr_setting_take *take;
    void *user;
    char path[LR_SETTING_PATH]; /**< of the value that comes next */
    size_t length;
    uint32_t depth, lists;
    lr_setting_level levels[LR_SETTING_DEPTH];
} lr_setting_reader;
extern const rec_visitor lr_setting_visitor;

/* Numbers (expression.c, variables.c). */

/** Whether some rule asks for a number by name, or is compared with the configuration. */
bool lr_rules_names_variables(const lr_rules *rules);

typedef struct lr_number {
    char *name;
    double value;
    bool used; /**< used by some rule */
} lr_number;

/** Where numbers come from: those that were set, then the model's configuration, then the metadata of its file. */
typedef struct lr_variables {
    const lr_allocator *allocator;
    lr_number *set, *config, *own;
    uint64_t set_count, set_room, config_count, config_room, own_count, own_room;
    char *config_file;  /**< NULL: none was found */
    char *model_type;   /**< what the configuration calls itself; NULL: it does not say */
    char *config_tried; /**< the last place that was looked at, where none was found; NULL: there was nowhere to look */
} lr_variables;
void lr_variables_init(lr_variables *numbers, const lr_allocator *allocator);
void lr_variables_free(lr_variables *numbers);
/** A number of a configuration: whether the head is the embedding. */
#define LR_NUMBER_TIED "tie_word_embeddings"
/** Of a configuration's list of that name: the number of layers without rotary positions. */
#define LR_NUMBER_NO_ROPE "no_rope_layers"
/** A number of a configuration: the rows of one head. */
#define LR_NUMBER_HEAD "head_dim"
/** A number that is given: whether transformer layers apply their norms first. */
#define LR_NUMBER_NORM_FIRST "norm_first"
/** A number by its name alone: one that was set, else of the configuration, else of the metadata. */
bool lr_variables_find(const lr_variables *numbers, const char *name, double *value);
/** The same for a number that no rule names: one that was set counts as used. */
bool lr_variables_ask(lr_variables *numbers, const char *name, double *value);
/** Finds the last number of that name. */
bool lr_number_find(const lr_number *numbers, uint64_t count, const char *name, double *value);
/** Copies the numbers that were set. `to` is initialised here. */
int32_t lr_variables_copy(rec_job *job, lr_variables *to, const lr_variables *from);
/** `NAME=NUMBER`; true and false are 1 and 0. */
int32_t lr_variables_set(rec_job *job, lr_variables *numbers, const char *assignment);
/** Reads the numbers and bools of a configuration: `explicit_path`, else NAME.config.json (NAME: the model's file
 * without extensions) or config.json next to the model, or in it if it is a directory. A missing file is no error, an
 * unreadable one is. Nested ones have dotted names. The recorder of the file's extension reads it. @param model_path
 * NULL: a record in memory. */
int32_t lr_variables_read(rec_job *job, lr_variables *numbers, const char *model_path, const char *explicit_path);
/** Takes the numbers and bools of a record's metadata, by their keys: GGUF has a model's configuration there. */
int32_t lr_variables_take(rec_job *job, lr_variables *numbers, const rec_record *record);
/** `NAME=NUMBER`, which counts where nothing else gives the name: what an import left in the record's metadata. */
int32_t lr_variables_remember(rec_job *job, lr_variables *numbers, const char *assignment);
/** The value of an amount. A name is one that was set, a `let` of the rules, else one of the configuration, else one of
 * the metadata; one that is nowhere is REC_E_NOT_FOUND, and the message names it, what was tried, and `--set`. A result
 * that is no whole number (by more than a millionth of it), or below 0 (but -1 in RESHAPE), or 0 in a SPLIT or ROPE, is
 * REC_E_ARGUMENT. */
int32_t lr_amount_value(rec_job *job, const lr_rules *rules, const lr_variables *numbers, const lr_amount *amount,
                        const lr_location *place, int64_t *value);

/* adapter.c: what PyTorch's and Burn's layouts of a module have different. */

enum {
    LR_ADAPT_NONE = 0,   /**< unchanged under its own name */
    LR_ADAPT_RENAME = 1, /**< another name */
    LR_ADAPT_TRANSPOSE = 2,
    LR_ADAPT_DROP = 3, /**< Burn's module has no such field, and computes without it */
    LR_ADAPT_LACKS = 4 /**< Burn's module has no such field, and PyTorch's computes with it */
};
/**
 * What a module type does to a field of PyTorch's.
 * @param type "Linear", "LayerNorm", "Conv1D", "Param"…; by name only. @param field "weight".
 * @param burn (out) Burn's name of it. */
int lr_adapt_field(const char *type, const char *field, uint64_t length, const char **burn);
/** The reverse: a field of Burn's module. @param torch (out) PyTorch's name of it. */
int lr_adapt_back(const char *type, const char *field, uint64_t length, const char **torch);
/** Whether the word names a module that rules can speak of. */
bool lr_adapt_known(const char *type);
/** The names there are, NULL-terminated, for messages. */
extern const char *const lr_adapt_types[];

#endif
