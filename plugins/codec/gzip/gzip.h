/* SPDX-License-Identifier: MIT OR Apache-2.0
 * gzip (RFC 1952) around a source or a sink, by zlib. */
#ifndef LR_GZIP_H
#define LR_GZIP_H

#include <librecord/plugin.h>

/** What a compressed file inflates to. Every member is read, and each one's checksum and length are verified before
 *  the end is reported; zeros may follow, anything else is an error. Errors have their place in the compressed file.
 *  @param out to be given back with rec_source_release(). */
int32_t lr_gzip_source(rec_job *job, rec_source *parent, rec_source **out);

/** One member with the header that Burn writes. @param level 0 to 9. @return the sink, to be closed with
 *  rec_sink_close(); NULL with the failure reported. */
rec_sink *lr_gzip_sink(rec_job *job, rec_sink *target, int level);

/** Inflates the beginning of a file for a probe. @return how many bytes of `out` were filled; 0 if it is not gzip. */
uint64_t lr_gzip_peek(const rec_head *head, uint8_t *out, uint32_t room);

/** The reader and the writer of the format that is compressed. */
typedef int32_t (*lr_gzip_reader)(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);
typedef int32_t (*lr_gzip_writer)(rec_job *job, rec_sink *sink);
/** `load` and `save` of a recorder in gzip. */
int32_t lr_gzip_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self, lr_gzip_reader read);
int32_t lr_gzip_save(rec_job *job, rec_sink *sink, lr_gzip_writer write);
/** The option `level` of every recorder in gzip. */
extern const rec_option lr_gzip_level;

#endif
