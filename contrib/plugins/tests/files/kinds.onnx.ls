KEY                 DTYPE    SHAPE   PARAMETERS
raw.FLOAT           f32      [2, 3]           6
raw.DOUBLE          f64      [2, 3]           6
raw.FLOAT16         f16      [2, 3]           6
raw.BFLOAT16        bf16     [2, 3]           6
raw.INT8            i8       [2, 3]           6
raw.INT16           i16      [2, 3]           6
raw.INT32           i32      [2, 3]           6
raw.INT64           i64      [2, 3]           6
raw.UINT8           u8       [2, 3]           6
raw.UINT16          u16      [2, 3]           6
raw.UINT32          u32      [2, 3]           6
raw.UINT64          u64      [2, 3]           6
raw.BOOL            bool     [2, 3]           6
raw.COMPLEX64       C64      [2, 3]           6
raw.FLOAT8E4M3FN    F8_E4M3  [2, 3]           6
typed.FLOAT         f32      [2, 3]           6
typed.DOUBLE        f64      [2, 3]           6
typed.FLOAT16       f16      [2, 3]           6
typed.BFLOAT16      bf16     [2, 3]           6
typed.INT8          i8       [2, 3]           6
typed.INT16         i16      [2, 3]           6
typed.INT32         i32      [2, 3]           6
typed.INT64         i64      [2, 3]           6
typed.UINT8         u8       [2, 3]           6
typed.UINT16        u16      [2, 3]           6
typed.UINT32        u32      [2, 3]           6
typed.UINT64        u64      [2, 3]           6
typed.BOOL          bool     [2, 3]           6
typed.COMPLEX64     C64      [2, 3]           6
typed.FLOAT8E4M3FN  F8_E4M3  [2, 3]           6
single              i64      [3]              3
31 tensors, 183 parameters, 696 bytes
