KEY                    DTYPE  SHAPE   PARAMETERS
mul                    f32    [2, 3]           6
gemm                   f32    [2, 3]           6
gemm_b                 f32    [2, 3]           6
turned                 f32    [2, 3]           6
left                   f32    [2, 3]           6
both                   f32    [2, 3]           6
twice                  f32    [2, 3]           6
table                  f32    [2, 3]           6
block.layers.0.weight  f32    [3]              3
again                  f32    [2, 3]           6
10 tensors, 57 parameters, 228 bytes
