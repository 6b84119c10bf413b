KEY                    DTYPE  SHAPE   PARAMETERS
params.Dense_0.kernel  f32    [3, 2]           6
params.Dense_0.bias    f32    [2]              2
2 tensors, 8 parameters, 32 bytes
