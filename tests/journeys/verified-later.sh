#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Checkpoints are archived with checksums of their values. Years later the disk flips a bit, and the checksums find it.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy msgpack

step "the archive" <<'END'
cp -R "$journeys/training" archive
record verify --sums write archive/first/checkpoint/model-1.mpk archive/first/checkpoint/optim-1.mpk
ls archive/first/checkpoint
END
prints "model-1.mpk.sums"
step "the sums hold in another format, too" <<'END'
record convert archive/first/checkpoint/model-1.mpk model.json.gz
record verify --sums check --sums-file archive/first/checkpoint/model-1.mpk.sums model.json.gz
END
python "a bit flips in the weights of b" <<'END'
from journey import tensors
data = bytearray(open("archive/first/checkpoint/model-1.mpk", "rb").read())
at = data.index(tensors("archive/first/checkpoint/model-1.mpk")["b.weight"].tobytes())
data[at + 2] ^= 1
open("archive/first/checkpoint/model-1.mpk", "wb").write(data)
END
fails 1 "the checksum sees it, where nothing else does" <<'END'
cd archive/first/checkpoint
record verify model-1.mpk && record verify --sums check {model,optim}-1.mpk
END
prints "b.weight"

python "the checksums are SHA-256 of shape and values, as hashlib computes them" <<'END'
import hashlib, os
from journey import tensors
for name in "model-1.mpk", "optim-1.mpk":
    original = tensors(os.environ["journeys"] + "/training/first/checkpoint/" + name)
    lines = open(f"archive/first/checkpoint/{name}.sums").read().splitlines()
    sums = {key: value for value, key in (line.split("  ") for line in lines)}
    for key, value in original.items():
        head = f"f32 [{', '.join(map(str, value.shape))}]\n".encode()
        assert sums.pop(key) == hashlib.sha256(head + value.tobytes()).hexdigest(), key
    assert not sums, sums
END
finish
