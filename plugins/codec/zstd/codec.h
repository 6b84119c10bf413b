/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Zstandard (RFC 8878) around a source or a sink, by libzstd. */
#ifndef LR_ZSTD_H
#define LR_ZSTD_H

#include <librecord/plugin.h>

/** What a compressed file decodes to. Every frame is read, skippable ones are passed over, and each one's checksum is
 *  verified where it has one; anything else between or behind frames is an error. A frame that needs a window of more
 * than 128 MiB, or a dictionary, is refused. Errors have their place in the compressed file. @param out counted. */
int32_t lr_zstd_source(rec_job *job, rec_source *parent, rec_source **out);

/** One frame with a checksum. @param level 1 to 19. @return the sink; NULL with the failure reported. */
rec_sink *lr_zstd_sink(rec_job *job, rec_sink *target, int level);

#endif
