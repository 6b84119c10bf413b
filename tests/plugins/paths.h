/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A flat format: metadata and tensors under dotted keys, as formats of other frameworks have them. Proves that plugin.h
 * carries a name to a file and back, and who decides whether a file's modules are laid out as PyTorch's.
 *
 *     "RECPATHS", then entries, each with a letter in front; numbers are little-endian:
 *     m  key, value                      metadata; a text is a length of 4 bytes and its bytes
 *     a  a byte                          how modules are laid out, by its number in paths_adapters; else it is not said
 *     h  a byte                          of the next tensor: REC_TRANSPOSED_…
 *     t  key, id, dtype, rank, shape, size, data
 *                                        a tensor; dtype and rank of 4 bytes, shape and size of 8; an id may be empty
 *     n  key                             a map of paths where a tensor should be, which no reader may tell
 *     e                                  the end */
#ifndef PATHS_H
#define PATHS_H

#include <librecord/plugin.h>

enum { MAGIC = 8, TEXT_MOST = 1 << 20, RANK_MOST = 32, PATHS_ADAPTERS = 6 };

extern const char *const paths_adapters[PATHS_ADAPTERS];

int32_t paths_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);

#endif
