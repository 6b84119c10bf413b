/* SPDX-License-Identifier: MIT OR Apache-2.0
 * MessagePack, read and written as Burn's rmp-serde does it: structs are maps with the names of their fields. */
#ifndef LR_MSGPACK_H
#define LR_MSGPACK_H

#include <stdbool.h>

#include <librecord/plugin.h>

/** Whether a map begins with this byte, as a record does. */
static inline bool lr_msgpack_is_map(uint8_t first)
{
    return (first & 0xf0) == 0x80 || first == 0xde || first == 0xdf;
}

/** @return how sure it is that bytes begin a record: 80 for a map that begins with `metadata`, less for other maps. */
int32_t lr_msgpack_probe(const uint8_t *data, uint64_t length);

/** Reads a record, a MessagePack map, and tells the visitor. Strings and bytes are lent from the source's view.
 *  Bytes after it are an error, or by the option `trailing` a note. */
int32_t lr_msgpack_read(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);

/** The option of every recorder in MessagePack. */
extern const rec_option lr_msgpack_trailing;

/** Walks the record that is saved and writes it. */
int32_t lr_msgpack_write(rec_job *job, rec_sink *sink);

/** A writer, the `self` of `lr_msgpack_visitor`. It gathers small writes: what it holds back comes with flush. */
typedef struct lr_msgpack_writer {
    rec_job *job;
    rec_sink *sink;
    int32_t status; /**< of the last write, for a packer whose functions know only zero and not zero */
    uint32_t used;
    uint8_t buffer[4096];
} lr_msgpack_writer;

void lr_msgpack_writer_init(lr_msgpack_writer *writer, rec_job *job, rec_sink *sink);
/** Hands on what was held back. To be called after the last event. */
int32_t lr_msgpack_writer_flush(lr_msgpack_writer *writer);
extern const rec_visitor lr_msgpack_visitor;

#endif
