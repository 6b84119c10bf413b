/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Schemes: asks the scheme plugins which tensors of a record belong together, and decodes them to numbers, tile by
 * tile. This room knows no particular scheme, and reads no bytes before numbers are requested. The record owns the
 * description of its encoded tensors; the sources of numbers hold the sources of the stored parts. */
#ifndef LR_SCHEME_H
#define LR_SCHEME_H

#include "core/record/record.h"

/** Where the model's settings come from. */
typedef struct lr_settings {
    /** Returns a value of config.json as text by its path, or NULL. Valid as long as `user`. Never fails. */
    const char *(*find)(void *user, const char *path);
    void *user;
} lr_settings;

/** Asks the schemes about each tensor of a record, if any could be encoded. A tensor that was claimed before keeps its
 * numbers unless the scheme finds other parts now. @param settings may be NULL. */
int32_t lr_schemes_find(rec_job *job, rec_record *record, const lr_settings *settings);

/** Returns whether a record has tensors that a precision has to decode: encoded ones, or parts. */
bool lr_schemes_needed(const rec_record *record);

/** Puts the numbers in the place of encoded tensors and removes their other parts. Fails where a tensor cannot be
 * decoded, and where no scheme uses a scale. */
int32_t lr_schemes_decode(rec_job *job, rec_record *record);

/** The same for inspection: tensors that cannot be decoded stay encoded. */
int32_t lr_schemes_try(rec_job *job, rec_record *record);

#endif
