/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Schemes: from a claim to a source of numbers. */
#ifndef LR_SCHEME_PRIVATE_H
#define LR_SCHEME_PRIVATE_H

#include "core/scheme/scheme.h"

/** Makes a source of the numbers of a claim. @param tensors its parts. NULL: the job has failed. */
rec_source *lr_scheme_source(rec_job *job, const rec_plugin *plugin, const rec_logical *logical,
                             rec_tensor *const *tensors, const char *path, uint64_t count);
/** Returns whether numbers are those of these parts. @param source made by lr_scheme_source(). */
bool lr_scheme_is_of(const rec_source *source, rec_tensor *const *tensors, uint32_t count);

#endif
