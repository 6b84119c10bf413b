#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Two trainings of Burn 0.14, one of them in half precision, are resumed in Burn 0.22: model, Adam and Noam scheduler.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy msgpack store

step "the old trainings" <<'END'
cp -R "$journeys/training" runs
record info runs/first/checkpoint/model-1.mpk
END
prints "0.14"
step "the directory becomes one for Burn 0.22" <<'END'
record convert -r --burn 0.22 --include '*.mpk' --type 'scheduler*=NoamLrScheduler' runs runs-0.22
find runs-0.22 -type f | sort
END
prints "runs-0.22/second/checkpoint/scheduler-1.bpk"
prints "half precision was written as full"
step "Burn 0.22 loads each checkpoint and takes one more step" <<'END'
for run in first second; do
    mkdir -p resumed/$run
    for part in model optim scheduler; do
        cp runs-0.22/$run/checkpoint/$part-1.bpk resumed/$run/$part.bpk
    done
    store resume adam resumed/$run >$run-adam.json
    store resume noam resumed/$run >$run-noam.json
done
END

python "that is the step that Adam and Noam would have taken in Burn 0.14" <<'END'
import json, numpy
from journey import ids, of_burn, parse, tensors
def gradient(shape, which): # those of the program in tests/interop/store
    i = numpy.arange(numpy.prod(shape))
    return ((i * 7 + 2 * 5 + which * 3) % 19 / 16 - 0.5).reshape(shape)
for run in "first", "second":
    folder = f"runs/{run}/checkpoint/"
    model, optim, names = tensors(folder + "model-1.mpk"), tensors(folder + "optim-1.mpk"), ids(folder + "model-1.mpk")
    found = of_burn(f"{run}-adam.json")
    assert len(found) == len(model) == 3
    for which, key in enumerate(("a.weight", "a.bias", "b.weight")):
        value, g = model[key].astype("f8"), gradient(model[key].shape, which)
        state = f"{names[key]}.V1.Rank{value.ndim}.momentum.moment_"
        first = 0.9 * optim[state + "1"].astype("f8") + 0.1 * g
        second = 0.999 * optim[state + "2"].astype("f8") + 0.001 * g * g
        time = parse(folder + "optim-1.mpk")["item"][names[key]]["V1"][f"Rank{value.ndim}"]["momentum"]["time"] + 1
        assert time == 4
        value -= 0.01 * first / (1 - 0.9**time) / (numpy.sqrt(second / (1 - 0.999**time)) + 1e-5)
        assert numpy.allclose(found[key], value, rtol=1e-5, atol=1e-6), (run, key, found[key], value)
    steps = parse(folder + "scheduler-1.mpk")["item"] + 1
    rate = 0.1 * 512**-0.5 * min(steps**-0.5, steps * 4000**-1.5)
    assert numpy.isclose(json.load(open(f"{run}-noam.json"))["rate"], rate, rtol=1e-9), run
END
finish
