/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The element types of tensors in a pickle. */
#include "plugins/codec/pytorch/pickle.h"

const lr_pt_type lr_pt_types[LR_PT_TYPES] = {
    /* The first is LR_PT_UNTYPED. */
    {"", "UntypedStorage", NULL, NULL, REC_DTYPE_U8, 1, 1},
    {"float32", "FloatStorage", "f4", NULL, REC_DTYPE_F32, 4, 4},
    {"float64", "DoubleStorage", "f8", NULL, REC_DTYPE_F64, 8, 8},
    {"float16", "HalfStorage", "f2", NULL, REC_DTYPE_F16, 2, 2},
    {"bfloat16", "BFloat16Storage", NULL, NULL, REC_DTYPE_BF16, 2, 2},
    {"int64", "LongStorage", "i8", NULL, REC_DTYPE_I64, 8, 8},
    {"int32", "IntStorage", "i4", NULL, REC_DTYPE_I32, 4, 4},
    {"int16", "ShortStorage", "i2", NULL, REC_DTYPE_I16, 2, 2},
    {"int8", "CharStorage", "i1", NULL, REC_DTYPE_I8, 1, 1},
    {"uint8", "ByteStorage", "u1", NULL, REC_DTYPE_U8, 1, 1},
    {"bool", "BoolStorage", "b1", NULL, REC_DTYPE_BOOL, 1, 1},
    {"uint64", NULL, "u8", NULL, REC_DTYPE_U64, 8, 8},
    {"uint32", NULL, "u4", NULL, REC_DTYPE_U32, 4, 4},
    {"uint16", NULL, "u2", NULL, REC_DTYPE_U16, 2, 2},
    /* Under the names that safetensors has for them, so that they pass from one to the other. */
    {"complex64", "ComplexFloatStorage", "c8", "C64", REC_DTYPE_OPAQUE, 8, 4},
    {"complex128", "ComplexDoubleStorage", "c16", "C128", REC_DTYPE_OPAQUE, 16, 8},
    {"complex32", NULL, NULL, "C32", REC_DTYPE_OPAQUE, 4, 2},
    {"float8_e4m3fn", NULL, NULL, "F8_E4M3", REC_DTYPE_OPAQUE, 1, 1},
    {"float8_e5m2", NULL, NULL, "F8_E5M2", REC_DTYPE_OPAQUE, 1, 1},
    {"float8_e4m3fnuz", NULL, NULL, "F8_E4M3FNUZ", REC_DTYPE_OPAQUE, 1, 1},
    {"float8_e5m2fnuz", NULL, NULL, "F8_E5M2FNUZ", REC_DTYPE_OPAQUE, 1, 1},
    {"float8_e8m0fnu", NULL, NULL, "F8_E8M0", REC_DTYPE_OPAQUE, 1, 1},
};
