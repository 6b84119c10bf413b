#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A notebook looks at a model as NumPy's arrays, prunes one of them, and the model gets it back.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy msgpack jq

step "the model as arrays" <<'END'
cp "$srcdir/tests/data/burn/0.18.0/mnist.mpk" mnist.mpk
record convert mnist.mpk mnist.npz
END
python "the notebook prunes the smallest half of fc1's weights" <<'END'
import numpy
arrays = numpy.load("mnist.npz")
weight = arrays["fc1.weight"].copy()
weight[numpy.abs(weight) < numpy.median(numpy.abs(weight))] = 0
numpy.save("pruned.npy", weight)
numpy.savez("mask.npz", mask=weight != 0)
END
step "the model gets the array, and a mask below a name of its own" <<'END'
record edit mnist.mpk set fc1.weight @pruned.npy -o pruned.mpk
record edit new set fc1.mask @mask.npz:mask set kept 0.5f32 -o masks.mpk
record stats --json pruned.mpk fc1.weight | jq '.tensors[0].zeros'
END
prints "4096"
fails 1 "only that changed" <<'END'
record diff --json mnist.mpk pruned.mpk >diff.json
END

check "jq finds one tensor" jq -e '[.tensors[].key] == ["fc1.weight"]' diff.json
python "NumPy has the pruned weights in Burn's record, and everything else as it was" <<'END'
import numpy
from journey import ids, parse, same, tensors
mnist, arrays, pruned = tensors("mnist.mpk"), numpy.load("mnist.npz"), numpy.load("pruned.npy")
same(dict(arrays), mnist)
same(tensors("pruned.mpk"), {**mnist, "fc1.weight": pruned})
assert (pruned == 0).sum() == 4096 and ids("pruned.mpk") == ids("mnist.mpk")
same(tensors("masks.mpk"), {"fc1.mask": pruned != 0})
assert parse("masks.mpk")["item"]["kept"] == 0.5
END
finish
