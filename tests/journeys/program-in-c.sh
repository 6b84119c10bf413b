#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# An application in C computes with a model: the struct of the record as a header, pkg-config's flags, and no Rust.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy msgpack pkg-config
with_library

cp "$journeys/training/first/checkpoint/model-1.mpk" model.mpk
cat >run.c <<'END'
#include "model.h"
#include <err.h>
#include <math.h>
#include <stdio.h>

int main(void)
{
    rec_recorder *recorder = rec_open_recorder("NamedMpk", FULL);
    rec_record *record = recorder ? rec_load(recorder, "model") : NULL;
    MODEL model;
    rec_binding *binding = record ? rec_bind(record, &MODEL_type, &model) : NULL;
    if (!binding) {
        errx(1, "%s", rec_error_message());
    }
    const float input[3] = {1, -0.5F, 0.25F};
    float output[2] = {0, 0};
    for (int j = 0; j < 4; j++) {
        float sum = model.a.bias.data[j];
        for (int i = 0; i < 3; i++) {
            sum += input[i] * model.a.weight.data[4 * i + j];
        }
        for (int k = 0; k < 2; k++) {
            output[k] += tanhf(sum) * model.b.weight.data[2 * j + k];
        }
    }
    printf("%.9g %.9g\n", (double)output[0], (double)output[1]);
    rec_binding_free(binding);
    rec_record_free(record);
    rec_close_recorder(recorder);
    return 0;
}
END
step "the record's struct as a header" <<'END'
record types --c --name MODEL model.mpk >model.h
cat model.h
END
prints "#include <librecord.h>"
step "the program is compiled" <<'END'
cc -std=c11 -Wall -Wextra -Werror run.c $(pkg-config --cflags --libs librecord) -lm -o run
END
step "and computes" <<'END'
./run >answer
cat answer
END
step "with other weights, too" <<'END'
record edit --in-place model.mpk set a.bias 0.5
./run >other-answer
cat other-answer
END

python "NumPy has the same answers" <<'END'
import numpy, os
from journey import tensors
model = tensors(os.environ["journeys"] + "/training/first/checkpoint/model-1.mpk")
for name, bias in ("answer", model["a.bias"]), ("other-answer", numpy.full(4, 0.5, "f4")):
    output = numpy.tanh(numpy.array([1, -0.5, 0.25], "f4") @ model["a.weight"] + bias) @ model["b.weight"]
    assert numpy.allclose(numpy.loadtxt(name), output, atol=1e-6), (name, output)
END
finish
