#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A model that the Hub has in three files is renamed, halved and kept in one file, with checksums for later.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy safetensors

python "the Hub has a model in three files" <<'END'
import json, numpy, os
from safetensors.numpy import save_file
os.mkdir("tiny-lm")
random = numpy.random.default_rng(1)
draw = lambda *shape: random.standard_normal(shape, dtype="f4")
shards = [{"transformer.wte.weight": draw(32, 8)},
          {f"transformer.h.{i}.mlp.{name}": draw(*shape)
           for i in range(2) for name, shape in (("weight", (8, 16)), ("bias", (16,)))},
          {"transformer.ln_f.weight": draw(8), "lm_head.weight": draw(32, 8)}]
names = [f"model-0000{i + 1}-of-00003.safetensors" for i in range(3)]
for name, shard in zip(names, shards):
    save_file(shard, f"tiny-lm/{name}", metadata={"format": "pt"})
index = {"metadata": {"total_size": sum(t.nbytes for s in shards for t in s.values())},
         "weight_map": {key: name for name, shard in zip(names, shards) for key in shard}}
json.dump(index, open("tiny-lm/model.safetensors.index.json", "w"))
json.dump({"model_type": "tiny"}, open("tiny-lm/config.json", "w"))
END

step "it is edited into one file" <<'END'
record ls tiny-lm
record edit tiny-lm mv '^transformer\.' '' rm lm_head cast '!ln_f.*' f16 -o tiny-lm-half.safetensors
record verify --sums write tiny-lm-half.safetensors
END
step "and is the same file a year later" <<'END'
record verify --sums check tiny-lm-half.safetensors
END

python "Python's safetensors has the renamed model" <<'END'
import glob, hashlib, numpy
from journey import same
from safetensors import safe_open
from safetensors.numpy import load_file
expected = {}
for shard in glob.glob("tiny-lm/*.safetensors"):
    for key, value in load_file(shard).items():
        expected[key.replace("transformer.", "")] = value if "ln_f" in key else value.astype("f2")
del expected["lm_head.weight"]
same(load_file("tiny-lm-half.safetensors"), expected)
assert safe_open("tiny-lm-half.safetensors", "np").metadata() == {"format": "pt"}
sums = dict(line.rstrip("\n").split("  ")[::-1] for line in open("tiny-lm-half.safetensors.sums"))
assert set(sums) == set(expected), sums
for key, value in expected.items():
    head = f"{'f16' if value.dtype == 'f2' else 'f32'} [{', '.join(map(str, value.shape))}]\n"
    assert sums[key] == hashlib.sha256(head.encode() + value.tobytes()).hexdigest(), key
END
finish
