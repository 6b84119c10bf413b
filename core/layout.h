/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Layouts: what a type looks like in the data of one Burn version. */
#ifndef LR_LAYOUT_H
#define LR_LAYOUT_H

#include "burn.h"

/** What Burn means by a struct in a layout. */
enum { LR_ROLE_NONE = 0, LR_ROLE_TENSOR = 1, LR_ROLE_PARAMETER = 2 };

struct rec_layout {
    int32_t kind; /**< REC_LAYOUT_… */
    uint32_t bits;
    uint64_t count;
    const char *const *names;
    const rec_layout *const *children;
    int32_t role;      /**< LR_ROLE_… */
    int32_t elements;  /**< of a role: REC_FIELD_FLOATS, _INTS, _BOOLS */
    uint64_t rank;     /**< of a role */
};

/** Field `index` of a type, whatever the size of the caller's rec_field. */
static inline const rec_field *lr_type_field(const rec_type *type, uint64_t index)
{
    return (const rec_field *)(const void *)((const char *)type->fields + index * type->field_size);
}

/** The layout of a job's item at the version and precision of the job. NULL: the job has failed. */
const rec_layout *lr_layout_item(rec_job *job);
void lr_layouts_free(rec_job *job);

#endif
