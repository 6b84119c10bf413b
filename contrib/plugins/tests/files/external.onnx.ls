KEY    DTYPE  SHAPE   PARAMETERS
one    f32    [2, 3]           6
two    f32    [2, 3]           6
three  f32    [2, 3]           6
3 tensors, 18 parameters, 72 bytes
