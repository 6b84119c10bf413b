#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A .bin of an old project has no names. Its Rust source gives them, and the file goes back into a .bin for the program.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy msgpack

step "the old project: src/model.rs and model.bin, which Burn 0.14 wrote" <<'END'
mkdir -p project/src project/assets
cp "$journeys/training/model.rs" project/src/model.rs
cp "$journeys/training/first/model.bin" project/assets/model.bin
END
fails 2 "a type is needed" <<'END'
record convert project/assets/model.bin model.mpk
END
step "the source has it" <<'END'
cd project
record types --check --type src/model.rs:Model assets/model.bin
record convert --burn 0.14 --type src/model.rs:Model assets/model.bin ../model.mpk
END
step "its bias is changed in place, for the same old program" <<'END'
record edit --in-place --type project/src/model.rs:Model project/assets/model.bin set a.bias '[0.5, 0.25, -0.5, -1]'
END

python "Burn's own .mpk of the same model says the same, and the .bin differs in the bias alone" <<'END'
import os, struct
from journey import ids, same, tensors
training = os.environ["journeys"] + "/training/first/"
same(tensors("model.mpk"), tensors(training + "checkpoint/model-1.mpk"))
assert ids("model.mpk") == ids(training + "checkpoint/model-1.mpk")
before, after = open(training + "model.bin", "rb").read(), open("project/assets/model.bin", "rb").read()
bias = tensors("model.mpk")["a.bias"].tobytes()
assert before.count(bias) == 1 and after == before.replace(bias, struct.pack("<4f", 0.5, 0.25, -0.5, -1))
END
finish
