/* SPDX-License-Identifier: MIT OR Apache-2.0
 * An index of names by number: each is there once, and found in a step. */
#ifndef LR_CODEC_KEYS_H
#define LR_CODEC_KEYS_H

#include <librecord/plugin.h>

/** An index of texts by number. `text` and `self` are set before the first use, the rest is zero. */
typedef struct lr_st_keys {
    rec_job *job;
    const char *(*text)(const void *self, uint64_t number, uint64_t *length);
    const void *self;
    uint64_t *slots; /* hash << 32 | number + 1 */
    uint64_t mask, seed;
} lr_st_keys;
/** Makes room for `most` texts, fewer than 2^31; those that are there stay. To be closed, also after a failure. */
int32_t lr_st_keys_reserve(lr_st_keys *keys, rec_job *job, uint64_t most);
void lr_st_keys_close(lr_st_keys *keys);
/** Adds number `number`, whose text that is; there is room. @return REC_UNKNOWN, or the number that has the same:
 * nothing is added. */
uint64_t lr_st_keys_add(lr_st_keys *keys, uint64_t number, const char *text, uint64_t length);
/** @return the number of a text, or REC_UNKNOWN. */
uint64_t lr_st_keys_find(const lr_st_keys *keys, const char *text, uint64_t length);

#endif
