/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Metadata values in a file: told, or read over. */
#ifndef LR_GGUF_METADATA_H
#define LR_GGUF_METADATA_H

#include "plugins/codec/gguf/cursor.h"
#include "plugins/codec/gguf/gguf.h"

/** Reads one value of a type and tells it: a scalar, or the events of a list. @param visitor NULL: it is read over. */
int32_t lr_gguf_value(lr_gguf_cursor *c, uint32_t type, uint32_t depth, const rec_visitor *visitor, void *self);
/** Reads a value that is one whole number from 0 on; anything else is an error. */
int32_t lr_gguf_value_uint(lr_gguf_cursor *c, uint32_t type, uint64_t *number);
/** Reads a text or number as a scalar, valid until the next call. @param type none of LR_GGUF_ARRAY. */
int32_t lr_gguf_value_scalar(lr_gguf_cursor *c, uint32_t type, rec_scalar *scalar);
/** Tells a text: as a string, or, if it is no UTF-8, which tokens of a vocabulary need not be, as bytes. */
int32_t lr_gguf_tell_text(const rec_scalar *text, uint64_t at, const rec_visitor *visitor, void *self);
/** Checks that a type is known. */
int32_t lr_gguf_value_check(lr_gguf_cursor *c, uint64_t at, uint32_t type);

#endif
