KEY                       DTYPE  SHAPE   PARAMETERS
params.Dense_0.bias       f32    [5]              5
params.Embed_0.embedding  f32    [8, 5]          40
2 tensors, 45 parameters, 180 bytes
