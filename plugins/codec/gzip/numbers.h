/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Deflates lists of small numbers as text, "33,141,60,": what JSON makes of weights. */
#ifndef LR_GZIP_NUMBERS_H
#define LR_GZIP_NUMBERS_H

#include <librecord/plugin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Fewer bytes are not worth it. */
enum { LR_NUMBER_TEXT_LEAST = 4096 };

/** The memory of one thread. */
typedef struct lr_number_text lr_number_text;

/** @return NULL with the failure reported. To be given back with rec_job_free(). */
lr_number_text *lr_number_text_new(rec_job *job);

/** @return whether a sample of the data is such a text. */
bool lr_number_text_is(const uint8_t *data, size_t size);
/** Raw deflate data that end at a byte. @param size LR_NUMBER_TEXT_LEAST to 2^20. @param last they end the stream; else
 *  they end in a full flush. @param room of `out`. @return bytes, 0: there might not be room. */
size_t lr_number_text_deflate(lr_number_text *self, const uint8_t *data, size_t size, bool last, uint8_t *out,
                              size_t room);

#endif
