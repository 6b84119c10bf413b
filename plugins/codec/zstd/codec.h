/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Zstandard (RFC 8878) around a source or a sink, by libzstd. */
#ifndef LR_ZSTD_H
#define LR_ZSTD_H

#include <librecord/plugin.h>

/** The decoded bytes of a compressed file. Every frame is read, skippable ones are skipped, and checksums are verified
 * where present; other data between or after frames are an error. A frame that needs a window of more than 128 MiB, or
 * a dictionary, is rejected. Errors have their offset in the compressed file. @param out retained. */
int32_t lr_zstd_source(rec_job *job, rec_source *parent, rec_source **out);

/** One frame with a checksum. @param level 1 to 19. @return the sink; NULL with the failure reported. */
rec_sink *lr_zstd_sink(rec_job *job, rec_sink *target, int level);

#endif
