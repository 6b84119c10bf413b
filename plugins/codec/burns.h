/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Metadata keys of Burn's recorders: they describe a record of Burn, and mean nothing in other formats. */
#ifndef LR_CODEC_BURNS_H
#define LR_CODEC_BURNS_H

#include "common/names.h"

static inline bool lr_is_burns(const char *key, uint64_t length)
{
    return lr_text_is(key, length, "float") || lr_text_is(key, length, "int") || lr_text_is(key, length, "format") ||
           lr_text_is(key, length, "version") || lr_text_is(key, length, "settings");
}

#endif
