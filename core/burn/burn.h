/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Burn's records: how a record, a parameter and an element type look in a data tree, version by version.
 * The builder makes a record of the events of a reader, the walk makes events of a record, and layouts say what a type
 * looks like in one version. No format is known here, and no Rust: who has a type by name fills in its lr_type_ref.
 * A record that the builder finished is the caller's; layouts and the walk are the job's, until lr_layouts_free() and
 * lr_walk_free(). */
#ifndef LR_BURN_H
#define LR_BURN_H

#include "core/record/record.h"

enum {
    LR_BURN_FIRST = 7,      /**< the first with recorders that are known */
    LR_BURN_NOW = 21,       /**< the last 0.x with recorders: what is written by default */
    LR_BURN_STATES = 22,    /**< the first without them, whose optimizers and schedulers are flat states */
    LR_BURN_LAST = 23,      /**< the last 0.x that is known */
    LR_BURN_V2 = 14,        /**< the first with {bytes, shape, dtype} */
    LR_BURN_UNIT_B = 12,    /**< the first with `_b` */
    LR_BURN_BOOL_STORE = 21 /**< the first with Bool(store) */
};

/** Which layout and ids are written, beside 0.MINOR. */
enum {
    LR_TARGET_KEEP = -1, /**< the layout the record came with */
    LR_TARGET_PLAIN = 0  /**< the last one, but ids stay as they are */
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

/** What a definition says of a field beside its type. */
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
    /** Of a struct of one Burn version: the value that the first later one with that field gives to records which lack
     *  it; NULL if there is none. NULL: nobody knows of later versions. */
    const char *(*later_default)(const rec_job *job, const rec_layout *layout, const char *field);
};

/** The layouts of a job, made as they are asked for. */
struct lr_layouts {
    lr_arena arena;
    lr_type_ref type;           /**< of the text that came with the file, in the arena; or none */
    const rec_layout *metadata; /**< a struct of metadata alone */
    const rec_layout *item;
    const rec_layout *whole;
    bool unsure;   /**< some number was laid out that is */
    void *modules; /**< types/modules.c: those that may be recognised; NULL until somebody asks */
};

/** Makes job->layouts if there are none yet. @return false: the job has failed. */
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
/** The last field of a path that stands in a file. @param path in the item, "norm.beta.id". @param line (out).
 *  @return its name, and its struct's or enum's file; NULL: there is none. */
const char *lr_layout_place(const rec_layout *item, const char *path, const char **file, uint32_t *line);
/** Frees all layouts of the job, and a type whose text came with a file. */
void lr_layouts_free(rec_job *job);

/* The builder: a visitor that makes a record of the events of a reader. */

typedef struct lr_builder lr_builder;

extern const rec_visitor lr_builder_visitor;

/** Calls the job's plugin to load. What it tells is looked at before the visitor gets it, and what it leaves behind is
 *  given back. @return the job's status. */
int32_t lr_plugin_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);
/** Calls it to save, within lr_walk_begin(): it must walk the record and close what it made. @return the same. */
int32_t lr_plugin_save(rec_job *job, rec_sink *sink);

/**
 * A builder for one load. The job's `where` is its until it is freed.
 * @param tensors the format speaks tensors itself (REC_TRAIT_TENSORS).
 * @param burn what is known of the layout from a first pass, NULL in the first.
 * NULL: the job has failed.
 */
lr_builder *lr_builder_new(rec_job *job, rec_precision precision, bool tensors, const lr_burn *burn);
/** What the metadata said so far. */
const lr_burn *lr_builder_burn(const lr_builder *builder);
/** True if metadata came too late to read the tensors before it: rewind and build again with lr_builder_burn(). */
bool lr_builder_again(const lr_builder *builder);
/** Ends the load. @return the record, NULL: the job has failed. */
rec_record *lr_builder_finish(lr_builder *builder);
void lr_builder_free(lr_builder *builder);

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

/* What is known of Burn's own modules, for those that may not know of types: imports, which recognise them, and the
 * walk, which writes them as a version has them. The types room has the one table there is; it stands in the context.
 */

enum { LR_MODULE_PATH = 256 }; /**< room for a path below a module */
/** Two tensors of a module that do not go together. */
typedef struct lr_module_clash {
    const char *module;
    char path[2][LR_MODULE_PATH]; /**< of both, below the module */
    const rec_tensor *tensor[2];
    uint32_t axis[2]; /**< that should be equal, or the second a multiple of the first */
} lr_module_clash;

typedef struct lr_modules {
    /** The number by which a map is marked as a module (rec_value.bits); 0: it cannot be. The reverse of name(). */
    uint16_t (*number)(const char *module);
    const char *(*name)(uint16_t number);
    /** The layout of a module of Burn's at the job's version. NULL: the job has failed, or (without a failure) that
     *  version has none of that name. */
    const rec_layout *(*layout)(rec_job *job, const char *module);
    /**
     * What module a map is by the names and ranks of its tensors, whatever their order and whether or not constants
     * are there. Only modules whose parameters are their own, and recurrent ones: an attention of one's own looks like
     * Burn's. Of several, the one whose shapes hold, that the field's name speaks of, that lacks least.
     * @param field that holds it. @param sure (out) false: it may be a Linear, or something else that PyTorch
     * does not keep transposed.
     * @return a name that lives as long as the context; NULL: none, or the job has failed.
     */
    const char *(*recognise)(rec_job *job, const rec_value *value, const char *field, bool *sure);
    /** Whether a map has the fields of a module, in any order and with or without constants. */
    bool (*fits)(rec_job *job, const char *module, const rec_value *value);
    /** Whether anything is known of a module's shapes. */
    bool (*knows)(rec_job *job, const char *module);
    /** Whether a module's tensors go together. What nobody knows anything of does. -1: the job has failed. */
    int (*hold)(rec_job *job, const char *module, const rec_value *value, lr_module_clash *clash);
} lr_modules;

/** @param text what is to be told. @return REC_OK to go on. */
typedef int32_t (*lr_module_told)(void *user, const char *text);
/** Looks for tensors of one module that do not go together (`shapes`), and for layers of a list that lack a tensor that
 *  their siblings have (modules.c). One text for all of a kind. */
int32_t lr_modules_look(rec_job *job, const rec_value *root, bool shapes, lr_module_told told, void *user);

/* The walk: a record to the events of a writer (rec_job_walk), at a precision, in the layout of a Burn version. */

/** Fails where a plugin cannot write for that version. @param target 0.MINOR or LR_TARGET_…. */
int32_t lr_burn_check(rec_job *job, const rec_plugin *plugin, int32_t target);
/** Prepares a save: layout, metadata's version and precision. The job's walk until lr_walk_free().
 *  @param target 0.MINOR or LR_TARGET_…. */
int32_t lr_walk_begin(rec_job *job, const rec_record *record, rec_precision precision, bool clamp, int32_t target);
void lr_walk_free(rec_job *job);

/* The check: what a walk gives the writer, held against what the reader finds in the result. Of each value its place,
 * its kind and itself; of bytes that stay during the save all of them, of those that were made on the way a hash. */

typedef struct lr_check lr_check;

/** For the walks of a job that follow. To be freed before the walk. NULL: the job has failed. */
lr_check *lr_check_new(rec_job *job);
/** Reads what was written. Anything that is not as it was given: the job fails with its path. */
int32_t lr_check_read(lr_check *check, rec_source *source);
void lr_check_free(lr_check *check);

#endif
