/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A header-first format that speaks tensors, as safetensors is one: a header of text says where each tensor lies, the
 * data follows in an order of its own (widest elements first). Proves that plugin.h carries what such a format needs.
 *
 * "HEADER1\n", the header's length (u64, little-endian), the header, padding to a multiple of 64, the data.
 * The header has an event a line, its words separated by one space; texts are in %XX where they are no plain ASCII:
 *
 *     meta KEY VALUE
 *     map FORM | list FORM | end | key SCALAR | scalar SCALAR | option 0|1 | variant INDEX PAYLOAD NAME
 *     tensor DTYPE NAME ID RANK DIMS… BEGIN END         NAME and ID are "-" for none; BEGIN and END from the data on
 *
 * SCALAR is KIND BITS FORM VALUE, the value of a number its 64 bits in hexadecimal. */
#ifndef HEADER_H
#define HEADER_H

#include <librecord/plugin.h>

#define HEADER_MAGIC "HEADER1\n"
enum { PREFIX = 16, ALIGN = 64, RANK = 32 };

int32_t header_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);

/** @return `size` rounded up to where the data may begin. */
static inline uint64_t header_align(uint64_t size)
{
    return (size + ALIGN - 1) / ALIGN * ALIGN;
}

#endif
