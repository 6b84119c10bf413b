#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A model of Burn 0.22 goes to a program that stays with Burn 0.21, is changed there, and comes back.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy msgpack store

step "what Burn 0.22 saved" <<'END'
cp "$srcdir/tests/data/burnpack/0.22.1/tiny.bpk" tiny.bpk
store read tiny core tiny.bpk >before.json
record info tiny.bpk
END
prints "Burnpack"
step "for Burn 0.21, which loads recorders' files" <<'END'
record convert --burn 0.21 tiny.bpk tiny.mpk
record edit tiny.mpk set 'linear.weight[1]' '[0.5, -0.5]' -o changed.mpk
END
step "and back to Burn 0.22" <<'END'
record convert --burn 0.22 changed.mpk changed.bpk
store read tiny core changed.bpk >after.json
END

python "Burn 0.22 has the change and nothing else; the record between is Burn 0.21's" <<'END'
import json
from journey import of_burn, parse, same, tensors
before, after = of_burn("before.json"), of_burn("after.json")
same(tensors("tiny.mpk"), before)
assert parse("tiny.mpk")["metadata"]["version"].startswith("0.21")
expected = before["linear.weight"].copy()
expected[1] = 0.5, -0.5
same(after, {**before, "linear.weight": expected})
ids = [{t["path"]: t["id"] for t in json.load(open(name))["tensors"]} for name in ("before.json", "after.json")]
assert ids[0] == ids[1], ids # an optimizer still finds its parameters
END
finish
