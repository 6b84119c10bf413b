/* SPDX-License-Identifier: MIT OR Apache-2.0
 * gzip (RFC 1952) around a source or a sink, by zlib. */
#ifndef LR_GZIP_H
#define LR_GZIP_H

#include <librecord/plugin.h>
#include <stdbool.h>

/** What a compressed file inflates to. Every member is read, and each one's checksum and length are verified before
 *  the end is reported; zeros may follow, anything else is an error. Errors have their place in the compressed file.
 *  @param out to be given back with rec_source_release(). */
int32_t lr_gzip_source(rec_job *job, rec_source *parent, rec_source **out);
/** For tests: by zlib alone, or as above. */
int32_t lr_gzip_source_by(rec_job *job, rec_source *parent, bool quick, rec_source **out);

/** One member with the header that Burn writes. @param level 0 to 9. @return the sink, to be closed with
 *  rec_sink_close(); NULL with the failure reported. */
rec_sink *lr_gzip_sink(rec_job *job, rec_sink *target, int level);

#endif
