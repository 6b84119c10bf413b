#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The last epoch is released in half precision and compressed, after a look at what that costs.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy msgpack jq gzip

step "would half precision do?" <<'END'
mkdir checkpoints release
cp "$srcdir/tests/data/burn/0.18.0/mnist.mpk" checkpoints/epoch-20.mpk
test "$(record stats --json checkpoints/epoch-20.mpk | jq '[.tensors[].half_overflow] | add')" = 0
END
step "it is halved, twice as small before compression" <<'END'
record convert --precision half checkpoints/epoch-20.mpk release/mnist.mpk
record convert --precision half checkpoints/epoch-20.mpk release/mnist.mpk.gz
test $(stat -c %s release/mnist.mpk) -lt $(($(stat -c %s checkpoints/epoch-20.mpk) * 55 / 100))
END
fails 1 "nothing is equal" <<'END'
record diff checkpoints/epoch-20.mpk release/mnist.mpk.gz
END
step "but for rounding it is" <<'END'
record diff --ignore dtype checkpoints/epoch-20.mpk release/mnist.mpk.gz
END
step "gzip's own program unpacks it" <<'END'
gzip -dk release/mnist.mpk.gz -c >unpacked.mpk
END

python "NumPy rounds to the same halves" <<'END'
from journey import ids, same, tensors
halves = {key: value.astype("f2") for key, value in tensors("checkpoints/epoch-20.mpk").items()}
for name in "release/mnist.mpk", "unpacked.mpk":
    same(tensors(name), halves)
    assert ids(name) == ids("checkpoints/epoch-20.mpk")
END
finish
