/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The fast path for valid gzip data: librecord's own files on all threads by their index, others in one stream, which
 * is inflated ahead of a reader that takes small parts. All checksums and lengths are checked. On anything unexpected
 * it gives up: zlib then starts from the beginning and reports the error, if there is one. */
#ifndef LR_GZIP_QUICK_H
#define LR_GZIP_QUICK_H

#include <librecord/plugin.h>
#include <stdbool.h>

typedef struct lr_quick lr_quick;

/** From malloc, as all that it needs later. The parent is at its first byte, and stays the caller's. @return NULL:
 * memory is lacking, which is not reported. */
lr_quick *lr_quick_new(rec_source *parent);
/** Ends its threads. NULL is ignored. */
void lr_quick_free(lr_quick *self);
/** Reads the next bytes, like rec_source_read(): they are correct whatever follows, except that the checksums come
 * last. @param gives_up (out) this call returned nothing, and later calls will not either. */
int32_t lr_quick_read(lr_quick *self, rec_job *job, uint8_t *target, uint64_t room, uint64_t *got, bool *gives_up);
/** @param full (out) members that had data. @return whether the end was reached and all is well. */
bool lr_quick_ended(const lr_quick *self, uint64_t *full);
/** @return how often pieces were inflated by an index; for tests. */
uint64_t lr_quick_pieces(const lr_quick *self);

#endif
