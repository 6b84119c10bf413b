/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A loaded record and the type its caller gave: what the file could not say is settled, what does not fit is refused. */
#ifndef LR_ADOPT_H
#define LR_ADOPT_H

#include "core/burn/layout.h"

/** Goes through a record and the layout of its type. Assumed element types become the type's; a tensor of another rank
 *  or kind is REC_E_MISMATCH with its path. Fields that are missing or unexpected are left to rec_bind and to saving. */
int32_t lr_adopt(rec_job *job, rec_record *record, rec_precision precision, const rec_layout *layout);

#endif
