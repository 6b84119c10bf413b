/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Words of Burn's recorders. */
#ifndef LR_CODEC_BURNS_H
#define LR_CODEC_BURNS_H

#include "common/names.h"
#include <librecord/plugin.h>

enum { LR_BURN_TYPES = 14 };
/** Element types that are a name. */
static const struct lr_burn_type {
    const char *name;
    rec_dtype dtype;
} lr_burn_types[LR_BURN_TYPES] = {
    {"F64", REC_DTYPE_F64},   {"F32", REC_DTYPE_F32},   {"Flex32", REC_DTYPE_FLEX32}, {"F16", REC_DTYPE_F16},
    {"BF16", REC_DTYPE_BF16}, {"I64", REC_DTYPE_I64},   {"I32", REC_DTYPE_I32},       {"I16", REC_DTYPE_I16},
    {"I8", REC_DTYPE_I8},     {"U64", REC_DTYPE_U64},   {"U32", REC_DTYPE_U32},       {"U16", REC_DTYPE_U16},
    {"U8", REC_DTYPE_U8},     {"Bool", REC_DTYPE_BOOL},
};

/** @return the element type of that name, or REC_DTYPE_NONE. */
static inline rec_dtype lr_burn_dtype(const char *name, uint64_t length)
{
    for (int i = 0; i < LR_BURN_TYPES; i++) {
        if (lr_text_is(name, length, lr_burn_types[i].name)) {
            return lr_burn_types[i].dtype;
        }
    }
    return REC_DTYPE_NONE;
}

/** Whether it is a key of their metadata: these describe a record of Burn, and mean nothing in other formats. */
static inline bool lr_is_burns(const char *key, uint64_t length)
{
    return lr_text_is(key, length, "float") || lr_text_is(key, length, "int") || lr_text_is(key, length, "format") ||
           lr_text_is(key, length, "version") || lr_text_is(key, length, "settings");
}

#endif
