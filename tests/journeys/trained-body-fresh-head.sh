#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Transfer learning: a record of Burn takes the body of a PyTorch model and keeps its own fresh head.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy msgpack safetensors

python "PyTorch's pretrained model, of another number of classes" <<'END'
import numpy
from safetensors.numpy import save_file
random = numpy.random.default_rng(6)
draw = lambda *shape: random.standard_normal(shape, dtype="f4")
save_file({"stem.weight": draw(16, 1, 3, 3), "stem.bias": draw(16), "fc1.weight": draw(32, 256), "fc1.bias": draw(32),
           "fc2.weight": draw(1000, 32), "fc2.bias": draw(1000)}, "pretrained.safetensors", metadata={"format": "pt"})
END
step "Burn's freshly initialised model, and the plan of each key" <<'END'
cp "$srcdir/tests/data/burn/0.18.0/mnist.mpk" fresh.mpk
record plan --partial --base fresh.mpk --drop '^fc2' pretrained.safetensors
END
prints "fc1.weight"
step "the body is taken, the rest stays" <<'END'
record convert --partial --base fresh.mpk --drop '^fc2' pretrained.safetensors start.mpk
record ls start.mpk fc2
END
prints "fc2.weight f32 [32, 10]"
step "the head alone, and the body alone, in one command" <<'END'
record edit start.mpk split --by key -o 'part-{}.mpk'
record edit part-stem.mpk merge part-blocks.mpk merge part-fc1.mpk -o body.mpk
record edit body.mpk merge part-fc2.mpk -o whole.mpk
ls
END
prints "part-fc2.mpk"

python "each tensor is whose it should be" <<'END'
from journey import ids, same, tensors
from safetensors.numpy import load_file
fresh, body = tensors("fresh.mpk"), load_file("pretrained.safetensors")
expected = {**fresh, "stem.weight": body["stem.weight"], "stem.bias": body["stem.bias"],
            "fc1.weight": body["fc1.weight"].T, "fc1.bias": body["fc1.bias"]}
same(tensors("start.mpk"), expected)
same(tensors("whole.mpk"), expected)
same(tensors("part-fc2.mpk"), {key: value for key, value in fresh.items() if key.startswith("fc2")})
assert ids("whole.mpk") == ids("start.mpk")
END
finish
