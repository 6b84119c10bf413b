/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Burn's records: the form of a record, a parameter and an element type in a data tree, for each version. Layouts
 * describe the form of a type in one version. This room knows no format and no Rust: callers that know types by name
 * fill in a lr_type_ref. Layouts belong to the job until lr_layouts_free(). */
#ifndef LR_LAYOUT_H
#define LR_LAYOUT_H

#include <string.h>

#include "core/record/record.h"
#include "core/registry/registry.h"

enum {
    LR_BURN_NOW = 21,       /**< the last 0.x with recorders: what is written by default */
    LR_BURN_STATES = 22,    /**< the first without them, whose optimizers and schedulers are flat states */
    LR_BURN_LAST = 23,      /**< the last 0.x that is known */
    LR_BURN_V2 = 14,        /**< the first with {bytes, shape, dtype} */
    LR_BURN_UNIT_B = 12,    /**< the first with `_b` */
    LR_BURN_BOOL_STORE = 21 /**< the first with Bool(store) */
};

/** Layout and ids to write, in addition to 0.MINOR. */
enum {
    LR_TARGET_KEEP = -1, /**< the layout the record came with */
    LR_TARGET_PLAIN = 0  /**< the last one, but ids are unchanged */
};

/** What the metadata of a record says about its layout. */
typedef struct lr_burn {
    int32_t minor;           /**< 0.MINOR, -1 if unknown */
    rec_precision precision; /**< by the name of its float type, DEFAULT if unknown */
    bool known;              /**< metadata was seen */
} lr_burn;

/* Layouts: a type as one Burn version stores it. */

/** What Burn means by a struct in a layout. */
enum {
    LR_ROLE_NONE = 0,
    LR_ROLE_TENSOR = 1,
    LR_ROLE_PARAMETER = 2,
    LR_ROLE_IDS = 3 /**< a map whose keys are parameter ids */
};

/** Attributes of a field in a definition. */
typedef struct lr_field_note {
    const char *initial; /**< the value that a record gets which lacks it, or NULL: the name of a variant, or
                            "zeros(NAME)": a parameter of zeros in the shape of its sibling NAME */
    const char *from;    /**< path below the struct where another version keeps it, "." for the struct; or NULL */
} lr_field_note;

struct rec_layout {
    int32_t kind; /**< REC_LAYOUT_… */
    uint32_t bits;
    uint64_t count;
    const char *const *names;
    const rec_layout *const *children;
    int32_t role;          /**< LR_ROLE_… */
    int32_t elements;      /**< of a role: REC_FIELD_FLOATS, _INTS, _BOOLS */
    uint64_t rank;         /**< of a role */
    uint64_t fixed;        /**< of a list: that of an array, which up to 0.11 was counted like one; 0: none */
    uint64_t from_element; /**< one-based: the element of an older version's tuple that this is now; 0: none */
    uint64_t from_count;   /**< how many that tuple has */
    const char *module;    /**< of a struct or enum: the name of its type; NULL if it has none */
    bool unsure;           /**< of a number: whether it has a sign was not to be seen where the type was taken from */
    bool from_c;           /**< which is that of a C struct: LAYER_NORM, say */
    bool state;            /**< of a struct: a record of Burn's own, of an optimizer or scheduler */
    const char *file;      /**< where a struct or enum is defined, and each field on its line; NULL: nobody's file */
    const uint32_t *lines;
    const lr_field_note *notes; /**< of a struct: one for each field; NULL: none has any */
    /** Of a struct of one Burn version: the value that the first later version with that field assigns to records
     * without it; may return NULL. NULL: later versions are unknown. */
    const char *(*later_default)(const rec_job *job, const rec_layout *layout, const char *field);
};

/** The layouts of a job, made on demand. */
struct lr_layouts {
    lr_arena arena;
    lr_type_ref type;           /**< of the text that came with the file, in the arena; or none */
    const rec_layout *metadata; /**< a struct of metadata alone */
    const rec_layout *item;
    const rec_layout *whole;
    bool unsure;   /**< some number was laid out that is */
    void *modules; /**< types/modules.c: modules to recognise; NULL until first used */
};

/** Makes job->layouts, once. @return false: the job has failed. */
bool lr_layouts_begin(rec_job *job);

/* For those who make layouts. NULL: the job has failed. */

rec_layout *lr_layout_node(rec_job *job, int32_t kind, uint64_t count);
/** Sets child `index` (a NULL layout is ignored). The name is borrowed. */
void lr_layout_set(rec_layout *layout, uint64_t index, const char *name, const rec_layout *child);
rec_layout *lr_layout_number(rec_job *job, int32_t kind, uint32_t bits);
/** A list, option or array (whose count is to be set) of one child. */
rec_layout *lr_layout_wrap(rec_job *job, int32_t kind, const rec_layout *child);
/** A constant field of a module: an option that is always absent; in 0.7 nothing at all. */
rec_layout *lr_layout_constant(rec_job *job);
/** @param elements REC_FIELD_FLOATS, _INTS, _BOOLS. @param bare without parameter id. */
const rec_layout *lr_layout_tensor(rec_job *job, int32_t elements, uint64_t rank, bool bare);

/** A type that a C struct or enum describes; NULL: none. */
lr_type_ref lr_type_of_c(const rec_type *type);

/** The layout of a job's item at the version and precision of the job. NULL: the job has failed. */
const rec_layout *lr_layout_item(rec_job *job);
/** Finds the last field of a path that is defined in a file. @param path in the item, "norm.beta.id". @param line
 * (out). @return its name, and the file of its struct or enum; NULL: not found. */
const char *lr_layout_place(const rec_layout *item, const char *path, const char **file, uint32_t *line);
/** Frees all layouts of the job, and a type whose text came with a file. */
void lr_layouts_free(rec_job *job);

/** @return the version that a plugin writes for unless the caller names another. */
int32_t lr_burn_default(const rec_plugin *plugin);

/* A loaded record and the type its caller gave. */

/** @return whether a type has a tensor anywhere. One that has none does not fit a record with tensors. */
bool lr_layout_has_tensors(const rec_layout *layout);
enum { LR_NO_TENSORS_ROOM = 160 };
#define LR_NO_TENSORS_HINT "Is it the right type, and is its source of the same version of Burn as the model?"
/** Writes "the type Net has no tensors, but the record has 2". @param text LR_NO_TENSORS_ROOM bytes. @return text. */
const char *lr_no_tensors_words(char *text, const lr_type_ref *type, uint64_t tensors);
/** Fails if the job's type, of that layout, has no tensors and the record has some. */
int32_t lr_check_tensors(rec_job *job, const rec_record *record, const rec_layout *layout);

/** Goes through a record and the layout of its type. Assumed element types become the type's; a tensor of another rank
 *  or kind is REC_E_MISMATCH with its path. Fields that are missing or unexpected are left to rec_bind and to saving.
 */
int32_t lr_apply_type(rec_job *job, rec_record *record, rec_precision precision, const rec_layout *layout);

/* Knowledge about Burn's own modules, for rooms that cannot use types: imports, which recognise modules, and the walk,
 * which writes them for a version. The types room has the only table; the context points to it. */

enum { LR_MODULE_PATH = 256 }; /**< room for a path below a module */
/** Two tensors of a module that do not go together. */
typedef struct lr_module_clash {
    const char *module;
    char path[2][LR_MODULE_PATH]; /**< of both, below the module */
    const rec_tensor *tensor[2];
    uint32_t axis[2]; /**< that should be equal, or the second a multiple of the first */
} lr_module_clash;

/** Why a map is not a module: the first field that differs. */
typedef struct lr_module_misfit {
    const char *field;
    bool foreign, missing;
    uint64_t rank; /**< that the module's has; REC_UNKNOWN: it is not a tensor there */
} lr_module_misfit;

typedef struct lr_modules {
    /** The number by which a map is marked as a module (rec_value.bits); 0: it cannot be. The reverse of name(). */
    uint16_t (*number)(const char *module);
    const char *(*name)(uint16_t number);
    /** The layout of a module of Burn's at the job's version. NULL: the job has failed, or (without a failure) that
     *  version has none of that name. */
    const rec_layout *(*layout)(rec_job *job, const char *module);
    /** Recognises the module that a map is by the names and ranks of its tensors, in any order, with or without
     * constants. Only modules with parameters of their own, and recurrent ones: a custom attention looks like Burn's.
     * Of several it takes the one with matching shapes, a related field name, and the fewest missing fields. @param
     * field that holds the map. @param sure (out) false: it may be a Linear, or another module that PyTorch does not
     * transpose. @return a name that lives as long as the context; NULL: none, or the job has failed. */
    const char *(*recognise)(rec_job *job, const rec_value *value, const char *field, bool *sure);
    /** Whether a map has the fields of a module, in any order and with or without constants. */
    bool (*fits)(rec_job *job, const char *module, const rec_value *value);
    /** Why a map has not the fields of a module. @return false: it has, or no such module is known. */
    bool (*differs)(rec_job *job, const char *module, const rec_value *value, lr_module_misfit *why);
    /** Whether a layout is that of Burn's module of its name, and not of another struct of that name. */
    bool (*owns)(rec_job *job, const rec_layout *layout);
    /** Whether anything is known of a module's shapes. */
    bool (*knows)(rec_job *job, const char *module);
    /** Whether a module's tensors are consistent; unknown modules are. -1: the job has failed. */
    int (*hold)(rec_job *job, const char *module, const rec_value *value, lr_module_clash *clash);
} lr_modules;

/** @param text of the note. @return REC_OK to continue. */
typedef int32_t (*lr_module_told)(void *user, const char *text);
/** Looks for tensors of one module that do not go together (`shapes`), and for layers of a list that lack a tensor that
 *  their siblings have (modules.c). One text for all of a kind. */
int32_t lr_modules_look(rec_job *job, const rec_value *root, bool shapes, lr_module_told told, void *user);

/** Fails where a plugin cannot write for that version. @param target 0.MINOR or LR_TARGET_…. */
int32_t lr_burn_check(rec_job *job, const rec_plugin *plugin, int32_t target);
/* Names by version, and tensors in maps. */

/** @return whether a value is this text. */
static inline bool lr_value_is(const rec_value *value, const char *text)
{
    size_t length = strlen(text);
    return value->kind == REC_KIND_STRING && value->length == length && memcmp(value->v.text, text, length) == 0;
}

/* burn.c */

lr_burn lr_burn_of(const lr_map *metadata);

/** The element type by Burn's name ("F32"), REC_DTYPE_OPAQUE if unknown. */
rec_dtype lr_burn_dtype(const rec_value *value);
/** @return Burn's name of a dtype and its index in the enum of that version; NULL if that version lacks it. */
const char *lr_burn_dtype_name(rec_dtype dtype, int32_t minor, uint64_t *index);
/** @return the number of dtypes that version knows. */
uint64_t lr_burn_dtype_count(int32_t minor);
/** @return the name of dtype `index` in that version. */
const char *lr_burn_dtype_at(int32_t minor, uint64_t index);

/** @return whether a plugin writes for that version; NULL: a recorder's format. */
bool lr_burn_can(const rec_plugin *plugin, int32_t minor);

/* dtype_text.c */

enum { LR_DTYPE_TEXT_ROOM = 4200 };
/** Returns the text of a dtype for an event: a plain name, or JSON ({"QFloat":{"value":"Q8S",…}}), in which a 32-bit
 * float ends in f. @param buffer LR_DTYPE_TEXT_ROOM bytes. @return the text, or NULL: the job has failed. */
const char *lr_burn_dtype_text(rec_job *job, const rec_value *value, char *buffer);
/** The other way round, for REC_DTYPE_QFLOAT and REC_DTYPE_OPAQUE. REC_E_FORMAT: they are not such words. */
int32_t lr_burn_dtype_read(rec_job *job, rec_record *record, uint64_t at, rec_dtype dtype, const char *text,
                           rec_value *value);
/** @return whether a version has a quantised tensor's scheme in the form it is in. @param dtype its words.
 *  @param from 0.MINOR of the record it is of, -1 if unknown. */
bool lr_burn_scheme_fits(const rec_value *dtype, int32_t from, int32_t minor);

/* burn.c */

/** Converts a parameter id for a version. From 0.15 on ids are the base32 text of a u64; a UUID becomes that of its
 * first eight bytes, a 10-character id (0.14) that of its six bytes with two zeros, as in Burn itself. Models and
 * optimizers get the same ids, so that states are found again. Other ids are unchanged. @param buffer LR_ID_ROOM
 * bytes. @return id or buffer. */
const char *lr_burn_id(const char *id, int32_t minor, char *buffer);

/** "f32", "half::binary16::f16": what Burn writes into metadata. */
typedef struct lr_burn_precision {
    rec_precision precision;
    const char *float_name, *int_name, *settings;
} lr_burn_precision;
const lr_burn_precision *lr_burn_precision_of(rec_precision precision);

/* raise.c */

/**
 * Recognises a tensor or a parameter in the entries of a map that has just ended.
 * @param out the value it becomes. @return 1 if it is one, 0 if it is an ordinary map, -1: the job has failed. */
int lr_burn_raise(rec_job *job, rec_record *record, const lr_burn *burn, rec_precision precision, uint64_t at,
                  const lr_entry *entries, uint64_t count, rec_value *out);
/** @return whether a map with that many entries may be one. */
static inline bool lr_burn_may_raise(uint64_t count)
{
    return count == 2 || count == 3;
}

/* states.c: of optimizers and schedulers from Burn 0.22 on */

/** A scheduler of a Burn with recorders, and what its number is called since. */
typedef struct lr_scheduler {
    const char *type, *variant; /**< its type; what it is called in a composed one */
    const char *name;           /**< of its number */
    int32_t kind;               /**< REC_KIND_… of that */
} lr_scheduler;
/** By the name of its type, or as a variant, or by its number's name: the first that has what is not NULL. */
const lr_scheduler *lr_scheduler_find(const char *type, const char *variant, const char *name);
/** @return whether a record is that of a composed scheduler of a Burn with recorders. */
bool lr_scheduler_is_composed(const rec_value *root);
/** @return whether it is an optimizer's of Burn 0.14 to 0.21: ids of parameters, each with {"V1": {"RankN": …}}. */
bool lr_optimizer_is(const rec_value *root);
/** Marks the tensors of a state's record, which has no parameters. */
void lr_states_mark(rec_record *record);
/** What a scheduler's state is to a Burn with recorders. @param out in the job's layouts. */
int32_t lr_scheduler_lower(rec_job *job, const rec_value *state, rec_value *out);

/** Builds a tree from the flat state of an optimizer or scheduler; a model is unchanged. */
int32_t lr_states_raise(rec_job *job, rec_record *record);

#endif
