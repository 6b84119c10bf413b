#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The loss is NaN since some epoch. Which checkpoint, which tensor, which place? It is mended there.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy msgpack jq

step "a training leaves three checkpoints, the last with a NaN" <<'END'
mkdir checkpoints
cp "$srcdir/tests/data/burn/0.18.0/mnist.mpk" checkpoints/model-1.mpk
record edit checkpoints/model-1.mpk set 'fc2.bias[1]' 0.5 -o checkpoints/model-2.mpk
record convert checkpoints/model-2.mpk model.json
jq '.item.blocks[1].conv.weight.param.bytes[40:44] = [0, 0, 192, 127]' model.json >nan.json
record convert nan.json checkpoints/model-3.mpk
END
fails 1 "a checkpoint is bad" <<'END'
record verify --nan checkpoints/
END
prints "model-3.mpk"
step "its tensor" <<'END'
record stats --json checkpoints/*.mpk | jq -r '.tensors[] | select(.nan > 0) | .file + " " + .key' >bad
test "$(cat bad)" = "checkpoints/model-3.mpk blocks.1.conv.weight"
record show checkpoints/model-3.mpk 'blocks.1.conv.weight[0, 1]'
END
prints "NaN"
step "it takes the values of the epoch before" <<'END'
key=$(cut -d ' ' -f 2 bad)
record edit --in-place checkpoints/model-3.mpk set "$key" "@checkpoints/model-2.mpk:$key"
record verify --nan checkpoints/
record diff checkpoints/model-2.mpk checkpoints/model-3.mpk
END

python "NumPy finds no NaN, and nothing else changed" <<'END'
from journey import ids, same, tensors
same(tensors("checkpoints/model-3.mpk"), tensors("checkpoints/model-2.mpk"))
assert ids("checkpoints/model-3.mpk") == ids("checkpoints/model-2.mpk")
END
finish
