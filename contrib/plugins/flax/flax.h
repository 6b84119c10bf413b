/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The format of flax.serialization: nested maps in MessagePack, whose leaves are arrays. */
#ifndef FLAX_FLAX_H
#define FLAX_FLAX_H

#include <librecord/plugin.h>

/** Reads the model of a file, or with the option `values` = all every value of it. */
rec_status flax_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);
rec_status flax_save(rec_job *job, rec_sink *sink);

/** @return whether the option `values` is `all`. */
int flax_reads_all(const rec_job *job);

#endif
