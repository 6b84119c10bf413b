#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A small model goes into the flash memory of a device as constants in a C header, without a library or a file. Later it
# gets the weights of another training.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy msgpack cmp

cat >firmware.c <<'END'
#include "model.h"
#include <math.h>
#include <stdio.h>

int main(void)
{
    const float input[MODEL_A_WEIGHT_DIM_0] = {1, -0.5F, 0.25F};
    float output[MODEL_B_WEIGHT_DIM_1] = {0};
    for (int j = 0; j < MODEL_A_WEIGHT_DIM_1; j++) {
        float sum = model.a.bias.data[j];
        for (int i = 0; i < MODEL_A_WEIGHT_DIM_0; i++) {
            sum += input[i] * model.a.weight.data[MODEL_A_WEIGHT_DIM_1 * i + j];
        }
        for (int k = 0; k < MODEL_B_WEIGHT_DIM_1; k++) {
            output[k] += tanhf(sum) * model.b.weight.data[MODEL_B_WEIGHT_DIM_1 * j + k];
        }
    }
    printf("%.9g %.9g\n", (double)output[0], (double)output[1]);
    return 0;
}
END
step "the model as a header" <<'END'
cp -R "$journeys/training" runs
record embed --structs --output model.h runs/first/checkpoint/model-1.mpk
grep 'static const' model.h
END
step "the firmware computes with it" <<'END'
cc -std=c11 -Wall -Wextra -Werror firmware.c -lm -o firmware
./firmware >first
END
step "and with another training's, which are halves made full" <<'END'
record embed --structs --precision full --output model.h runs/second/checkpoint/model-1.mpk
cc -std=c11 -Wall -Wextra -Werror firmware.c -lm -o firmware
./firmware >second
END
step "a header made again is the same file" <<'END'
cp model.h before.h
record embed --structs --precision full --output model.h runs/second/checkpoint/model-1.mpk
cmp model.h before.h
END

python "NumPy computes the same" <<'END'
import numpy
from journey import tensors
for run in "first", "second":
    model = {key: value.astype("f4") for key, value in tensors(f"runs/{run}/checkpoint/model-1.mpk").items()}
    output = numpy.tanh(numpy.array([1, -0.5, 0.25], "f4") @ model["a.weight"] + model["a.bias"]) @ model["b.weight"]
    assert numpy.allclose(numpy.loadtxt(run), output, atol=1e-6), (run, output)
END
finish
