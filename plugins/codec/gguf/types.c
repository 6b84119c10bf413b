/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What GGUF's element types and metadata types are. */
#include <string.h>

#include "plugins/codec/gguf/blocks.h"
#include "plugins/codec/gguf/gguf.h"

#define PLAIN(name, dtype, size) {name, dtype, 1, size, LR_GGUF_KINDS}
#define BLOCKS(name, count, size, kind) {name, REC_DTYPE_OPAQUE, count, size, LR_GGUF_##kind}

/* By ggml's numbers. Those that are missing were given up before version 2, or are of results on their way (Q8_1),
 * which no file holds. */
static const lr_gguf_type types[] = {
    [0] = PLAIN("F32", REC_DTYPE_F32, 4),      [1] = PLAIN("F16", REC_DTYPE_F16, 2),
    [2] = BLOCKS("Q4_0", 32, 18, Q4_0),        [3] = BLOCKS("Q4_1", 32, 20, Q4_1),
    [6] = BLOCKS("Q5_0", 32, 22, Q5_0),        [7] = BLOCKS("Q5_1", 32, 24, Q5_1),
    [8] = BLOCKS("Q8_0", 32, 34, Q8_0),        [10] = BLOCKS("Q2_K", 256, 84, Q2_K),
    [11] = BLOCKS("Q3_K", 256, 110, Q3_K),     [12] = BLOCKS("Q4_K", 256, 144, Q4_K),
    [13] = BLOCKS("Q5_K", 256, 176, Q5_K),     [14] = BLOCKS("Q6_K", 256, 210, Q6_K),
    [15] = BLOCKS("Q8_K", 256, 292, Q8_K),     [16] = BLOCKS("IQ2_XXS", 256, 66, IQ2_XXS),
    [17] = BLOCKS("IQ2_XS", 256, 74, IQ2_XS),  [18] = BLOCKS("IQ3_XXS", 256, 98, IQ3_XXS),
    [19] = BLOCKS("IQ1_S", 256, 50, IQ1_S),    [20] = BLOCKS("IQ4_NL", 32, 18, IQ4_NL),
    [21] = BLOCKS("IQ3_S", 256, 110, IQ3_S),   [22] = BLOCKS("IQ2_S", 256, 82, IQ2_S),
    [23] = BLOCKS("IQ4_XS", 256, 136, IQ4_XS), [24] = PLAIN("I8", REC_DTYPE_I8, 1),
    [25] = PLAIN("I16", REC_DTYPE_I16, 2),     [26] = PLAIN("I32", REC_DTYPE_I32, 4),
    [27] = PLAIN("I64", REC_DTYPE_I64, 8),     [28] = PLAIN("F64", REC_DTYPE_F64, 8),
    [29] = BLOCKS("IQ1_M", 256, 56, IQ1_M),    [30] = PLAIN("BF16", REC_DTYPE_BF16, 2),
    [34] = BLOCKS("TQ1_0", 256, 54, TQ1_0),    [35] = BLOCKS("TQ2_0", 256, 66, TQ2_0),
    [39] = BLOCKS("MXFP4", 32, 17, MXFP4),     [40] = BLOCKS("NVFP4", 64, 36, NVFP4),
    [41] = BLOCKS("Q1_0", 128, 18, Q1_0),      [42] = BLOCKS("Q2_0", 64, 18, Q2_0),
};

enum { TYPE_COUNT = sizeof types / sizeof types[0] };

const lr_gguf_type *lr_gguf_type_of(uint32_t number)
{
    return number < TYPE_COUNT && types[number].name ? &types[number] : NULL;
}

int32_t lr_gguf_type_number(rec_dtype dtype, const char *name)
{
    dtype = dtype == REC_DTYPE_FLEX32 ? REC_DTYPE_F32 : dtype;
    for (int32_t i = 0; i < TYPE_COUNT; i++) {
        if (types[i].name && types[i].dtype == dtype &&
            (dtype != REC_DTYPE_OPAQUE || (name && strcmp(types[i].name, name) == 0))) {
            return i;
        }
    }
    return -1;
}

bool lr_gguf_type_size(const lr_gguf_type *type, uint64_t row, uint64_t count, uint64_t *size)
{
    uint64_t blocks = count / type->count;
    if (row % type->count != 0 || blocks > UINT64_MAX / type->size) {
        return false;
    }
    *size = blocks * type->size;
    return true;
}

rec_dtype lr_gguf_value_dtype(uint32_t type)
{
    static const uint8_t dtypes[LR_GGUF_VALUES] = {
        [LR_GGUF_U8] = REC_DTYPE_U8,   [LR_GGUF_I8] = REC_DTYPE_I8,     [LR_GGUF_U16] = REC_DTYPE_U16,
        [LR_GGUF_I16] = REC_DTYPE_I16, [LR_GGUF_U32] = REC_DTYPE_U32,   [LR_GGUF_I32] = REC_DTYPE_I32,
        [LR_GGUF_F32] = REC_DTYPE_F32, [LR_GGUF_BOOL] = REC_DTYPE_BOOL, [LR_GGUF_U64] = REC_DTYPE_U64,
        [LR_GGUF_I64] = REC_DTYPE_I64, [LR_GGUF_F64] = REC_DTYPE_F64,
    };
    return type < LR_GGUF_VALUES ? dtypes[type] : REC_DTYPE_NONE;
}

const char *lr_gguf_value_word(uint32_t type)
{
    return type == LR_GGUF_STRING ? "str" : type == LR_GGUF_ARRAY ? "list" : rec_dtype_name(lr_gguf_value_dtype(type));
}

int32_t lr_gguf_value_of_word(const char *word)
{
    int32_t type = 0;
    while (type < LR_GGUF_VALUES && strcmp(lr_gguf_value_word((uint32_t)type), word) != 0) {
        type++;
    }
    return type < LR_GGUF_VALUES ? type : -1;
}
