#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A record as JSON is edited by jq and becomes a record again, smaller or compressed, without a change of anything else.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy msgpack jq zstd

step "a model as JSON" <<'END'
cp "$srcdir/tests/data/burn/0.14.0/tiny-full.mpk" net.mpk
record convert --burn 0.14 net.mpk net.json
jq -r '.metadata.version, .item.linear.bias.param.dtype' net.json
END
prints "F32"
step "jq sets the bias to 1 and -2" <<'END'
jq '.item.linear.bias.param.bytes = [0, 0, 128, 63, 0, 0, 0, 192]' net.json >edited.json
record show edited.json linear.bias
END
prints "[ 1.0, -2.0]"
step "back into a record, for a program and for the archive" <<'END'
record convert edited.json edited.mpk
record convert edited.json edited.mpk.zst
zstd -dq edited.mpk.zst -o unpacked.mpk
zstd -q edited.mpk -o packed-by-hand.mpk.zst
record diff edited.mpk packed-by-hand.mpk.zst
END
fails 1 "what changed" <<'END'
record diff --json net.mpk edited.mpk >diff.json
END

check "jq sees one tensor" jq -e '[.tensors[].key] == ["linear.bias"]' diff.json
python "Python's msgpack sees jq's values, and what zstd unpacks is the same" <<'END'
import numpy
from journey import ids, same, tensors
expected = tensors("net.mpk")
expected["linear.bias"] = numpy.array([1, -2], "f4")
for name in "edited.mpk", "unpacked.mpk":
    same(tensors(name), expected)
    assert ids(name) == ids("net.mpk")
END
finish
