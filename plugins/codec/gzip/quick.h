/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The quick way through good gzip data: what librecord wrote itself on all threads by its index, the rest in one
 * stream, which is inflated ahead of whoever reads it in small parts. All sums and lengths are checked. What it does
 * not understand it gives up, whatever it was: zlib then has a look at it from the beginning, and says what is wrong,
 * if anything is. */
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
/** The next bytes, as rec_source_read(): those that were given are right, whatever comes later, but for the sums.
 *  @param gives_up (out) nothing was given by this call, and nothing more will be. */
int32_t lr_quick_read(lr_quick *self, rec_job *job, uint8_t *target, uint64_t room, uint64_t *got, bool *gives_up);
/** @param full (out) members that had data. @return whether the end was reached and all is well. */
bool lr_quick_ended(const lr_quick *self, uint64_t *full);
/** @return how often pieces were inflated by an index; for tests. */
uint64_t lr_quick_pieces(const lr_quick *self);

#endif
