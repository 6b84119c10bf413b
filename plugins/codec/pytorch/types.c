/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The element types of tensors in a pickle. */
#include "plugins/codec/pytorch/pickle.h"

const lr_pt_type lr_pt_types[LR_PT_TYPES] = {
    /* The first is LR_PT_UNTYPED. */
    {.name = "", .storage = "UntypedStorage", .dtype = REC_DTYPE_U8, .width = 1, .part = 1},
    {.name = "float32", .storage = "FloatStorage", .dtype = REC_DTYPE_F32, .width = 4, .part = 4},
    {.name = "float64", .storage = "DoubleStorage", .dtype = REC_DTYPE_F64, .width = 8, .part = 8},
    {.name = "float16", .storage = "HalfStorage", .dtype = REC_DTYPE_F16, .width = 2, .part = 2},
    {.name = "bfloat16", .storage = "BFloat16Storage", .dtype = REC_DTYPE_BF16, .width = 2, .part = 2},
    {.name = "int64", .storage = "LongStorage", .dtype = REC_DTYPE_I64, .width = 8, .part = 8},
    {.name = "int32", .storage = "IntStorage", .dtype = REC_DTYPE_I32, .width = 4, .part = 4},
    {.name = "int16", .storage = "ShortStorage", .dtype = REC_DTYPE_I16, .width = 2, .part = 2},
    {.name = "int8", .storage = "CharStorage", .dtype = REC_DTYPE_I8, .width = 1, .part = 1},
    {.name = "uint8", .storage = "ByteStorage", .dtype = REC_DTYPE_U8, .width = 1, .part = 1},
    {.name = "bool", .storage = "BoolStorage", .dtype = REC_DTYPE_BOOL, .width = 1, .part = 1},
    {.name = "uint64", .dtype = REC_DTYPE_U64, .width = 8, .part = 8},
    {.name = "uint32", .dtype = REC_DTYPE_U32, .width = 4, .part = 4},
    {.name = "uint16", .dtype = REC_DTYPE_U16, .width = 2, .part = 2},
    /* Under the names that safetensors has for them, so that they pass from one to the other. */
    {.name = "complex64",
     .storage = "ComplexFloatStorage",
     .opaque = "C64",
     .dtype = REC_DTYPE_OPAQUE,
     .width = 8,
     .part = 4},
    {.name = "complex128",
     .storage = "ComplexDoubleStorage",
     .opaque = "C128",
     .dtype = REC_DTYPE_OPAQUE,
     .width = 16,
     .part = 8},
    {.name = "complex32", .opaque = "C32", .dtype = REC_DTYPE_OPAQUE, .width = 4, .part = 2},
    {.name = "float8_e4m3fn", .opaque = "F8_E4M3", .dtype = REC_DTYPE_OPAQUE, .width = 1, .part = 1},
    {.name = "float8_e5m2", .opaque = "F8_E5M2", .dtype = REC_DTYPE_OPAQUE, .width = 1, .part = 1},
    {.name = "float8_e4m3fnuz", .opaque = "F8_E4M3FNUZ", .dtype = REC_DTYPE_OPAQUE, .width = 1, .part = 1},
    {.name = "float8_e5m2fnuz", .opaque = "F8_E5M2FNUZ", .dtype = REC_DTYPE_OPAQUE, .width = 1, .part = 1},
    {.name = "float8_e8m0fnu", .opaque = "F8_E8M0", .dtype = REC_DTYPE_OPAQUE, .width = 1, .part = 1},
};
