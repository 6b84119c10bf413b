/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A format of number arrays, a subset of JSON: maps with text keys, lists, numbers, strings, true, false, null; the
 * bytes of tensors are arrays of numbers. Proves that plugin.h carries what such a format needs.
 *
 * Subset: a \u escape stands for a character below U+0080 only. Floats that are not finite are written as null. */
#ifndef ARRAYS_H
#define ARRAYS_H

#include <librecord/plugin.h>

enum { DEPTH = 256 };

int32_t arrays_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);

#endif
