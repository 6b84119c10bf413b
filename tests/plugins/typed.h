/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A typed binary format without names, as bincode is one: nothing in the file says what it holds, the type does.
 * Proves that plugin.h carries what such a format needs.
 *
 * Numbers are little-endian in their own width, bools and options one byte, counts and lengths u64, variants u32. Unit,
 * structs, tuples and arrays take no bytes of their own. The file begins with "TYPED\0\0\1". */
#ifndef TYPED_H
#define TYPED_H

#include <librecord/plugin.h>

extern const uint8_t typed_magic[8];

int32_t typed_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);

#endif
