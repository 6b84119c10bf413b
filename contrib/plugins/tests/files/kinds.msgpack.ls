KEY                    DTYPE    SHAPE   PARAMETERS
arrays.bfloat16        bf16     [2, 3]           6
arrays.bool            bool     [2, 3]           6
arrays.complex128      C128     [2, 3]           6
arrays.complex64       C64      [2, 3]           6
arrays.float16         f16      [2, 3]           6
arrays.float32         f32      [2, 3]           6
arrays.float64         f64      [2, 3]           6
arrays.float8_e4m3fn   F8_E4M3  [2, 3]           6
arrays.float8_e5m2     F8_E5M2  [2, 3]           6
arrays.int16           i16      [2, 3]           6
arrays.int32           i32      [2, 3]           6
arrays.int64           i64      [2, 3]           6
arrays.int8            i8       [2, 3]           6
arrays.uint16          u16      [2, 3]           6
arrays.uint32          u32      [2, 3]           6
arrays.uint64          u64      [2, 3]           6
arrays.uint8           u8       [2, 3]           6
rest.a\.b.c\\d         f32      [0, 3]           0
rest.complex           complex  []               1
rest.list.3            f32      [2]              2
rest.rank 0            f32      []               1
scalars.bfloat16       bf16     []               1
scalars.bool           bool     []               1
scalars.complex128     C128     []               1
scalars.complex64      C64      []               1
scalars.float16        f16      []               1
scalars.float32        f32      []               1
scalars.float64        f64      []               1
scalars.float8_e4m3fn  F8_E4M3  []               1
scalars.float8_e5m2    F8_E5M2  []               1
scalars.int16          i16      []               1
scalars.int32          i32      []               1
scalars.int64          i64      []               1
scalars.int8           i8       []               1
scalars.uint16         u16      []               1
scalars.uint32         u32      []               1
scalars.uint64         u64      []               1
scalars.uint8          u8       []               1
38 tensors, 123 parameters, 539 bytes
