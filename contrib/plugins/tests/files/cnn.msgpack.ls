KEY                           DTYPE  SHAPE         PARAMETERS
batch_stats.BatchNorm_0.mean  f32    [4]                    4
batch_stats.BatchNorm_0.var   f32    [4]                    4
params.BatchNorm_0.bias       f32    [4]                    4
params.BatchNorm_0.scale      f32    [4]                    4
params.Conv_0.bias            f32    [4]                    4
params.Conv_0.kernel          f32    [3, 3, 3, 4]         108
params.Dense_0.bias           f32    [5]                    5
params.Dense_0.kernel         f32    [4, 5]                20
params.LayerNorm_0.bias       f32    [4]                    4
params.LayerNorm_0.scale      f32    [4]                    4
10 tensors, 161 parameters, 644 bytes
