/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Layouts: what a type looks like in the data of one Burn version. */
#ifndef LR_LAYOUT_H
#define LR_LAYOUT_H

#include "core/burn/burn.h"

/** What Burn means by a struct in a layout. */
enum {
    LR_ROLE_NONE = 0,
    LR_ROLE_TENSOR = 1,
    LR_ROLE_PARAMETER = 2,
    LR_ROLE_IDS = 3 /**< a map whose keys are parameter ids */
};

/** What a definition says of a field beside its type. */
typedef struct lr_field_note {
    const char *initial; /**< the value that a record gets which lacks it, or NULL: the name of a variant, or "zeros(NAME)":
                              a parameter of zeros in the shape of its sibling NAME */
    const char *from;    /**< path below the struct where another version keeps it, "." for the struct; or NULL */
} lr_field_note;

struct rec_layout {
    int32_t kind; /**< REC_LAYOUT_… */
    uint32_t bits;
    uint64_t count;
    const char *const *names;
    const rec_layout *const *children;
    int32_t role;      /**< LR_ROLE_… */
    int32_t elements;  /**< of a role: REC_FIELD_FLOATS, _INTS, _BOOLS */
    uint64_t rank;     /**< of a role */
    uint64_t fixed;    /**< of a list: that of an array, which up to 0.11 was counted like one; 0: none */
    uint64_t from_element; /**< one-based: the element of an older version's tuple that this is now; 0: none */
    const char *module; /**< of a struct or enum: the name of its type; NULL if it has none */
    bool from_c;        /**< which is that of a C struct: LAYER_NORM, say */
    const lr_field_note *notes; /**< of a struct: one for each field; NULL: none has any */
    /** Of a struct of one Burn version: the value that the first later one with that field gives to records which lack
     *  it; NULL if there is none. NULL: nobody knows of later versions. */
    const char *(*later_default)(const rec_job *job, const rec_layout *layout, const char *field);
};

/** The layouts of a job, made as they are asked for. */
struct lr_layouts {
    lr_arena arena;
    lr_type_ref type; /**< of the text that came with the file, in the arena; or none */
    const rec_layout *metadata; /**< a struct of metadata alone */
    const rec_layout *item;
    const rec_layout *whole;
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
/** A type as text (layout_text.c), which is borrowed. */
lr_type_ref lr_type_of_text(const char *text);

/** Field `index` of a type, whatever the size of the caller's rec_field. */
static inline const rec_field *lr_c_field(const rec_type *type, uint64_t index)
{
    return (const rec_field *)(const void *)((const char *)type->fields + index * type->field_size);
}

/** The layout of a job's item at the version and precision of the job. NULL: the job has failed. */
const rec_layout *lr_layout_item(rec_job *job);
/** Frees all layouts of the job, and a type whose text came with a file. */
void lr_layouts_free(rec_job *job);

#endif
