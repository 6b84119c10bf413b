#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Fine-tuning should leave the body of a model frozen. Two epochs are compared, and a report is made for colleagues.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy msgpack jq

step "a trained model is fine-tuned: its head changes" <<'END'
mkdir checkpoints
cp "$srcdir/tests/data/burn/0.18.0/mnist.mpk" checkpoints/epoch-1.mpk
record edit checkpoints/epoch-1.mpk set 'fc2.weight[0]' 0.25 set 'fc2.bias[3]' -1.5 -o checkpoints/epoch-2.mpk
END
fails 1 "the epochs differ" <<'END'
record diff checkpoints/epoch-1.mpk checkpoints/epoch-2.mpk
END
prints "fc2.bias"
fails 1 "for a program" <<'END'
record diff --json checkpoints/epoch-1.mpk checkpoints/epoch-2.mpk >diff.json
END
step "what changed, and what did not, by jq" <<'END'
jq -r '.tensors[].key' diff.json | sort >changed
jq -r '.frozen[].key' diff.json | sort >frozen
record report checkpoints/epoch-1.mpk checkpoints/epoch-2.mpk -o report.html
END

python "NumPy says the same" <<'END'
import json, numpy
from journey import tensors
before, after = tensors("checkpoints/epoch-1.mpk"), tensors("checkpoints/epoch-2.mpk")
changed = sorted(key for key in before if (before[key] != after[key]).any())
assert open("changed").read().split() == changed == ["fc2.bias", "fc2.weight"], changed
frozen = open("frozen").read().split()
for key in before:
    assert any((key + ".").startswith(part + ".") for part in frozen) == (key not in changed), key
bias = next(t for t in json.load(open("diff.json"))["tensors"] if t["key"] == "fc2.bias")
assert numpy.isclose(bias["norm_difference"], abs(before["fc2.bias"][3] + 1.5), rtol=1e-6)
END
python "the page stands alone, and is well-formed" <<'END'
import html.parser
class Page(html.parser.HTMLParser):
    empty = {"meta", "link", "br", "hr", "img", "input", "col", "wbr"}
    open, text = [], ""
    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            assert name not in ("src", "href") or (value or "").startswith(("#", "data:")), (tag, name, value)
        if tag not in self.empty:
            self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
    def handle_data(self, data):
        self.text += data
page = Page()
page.feed(open("report.html", encoding="utf-8").read())
assert not page.open and "fc2.bias" in page.text and "epoch-1" in page.text and "epoch-2" in page.text
END
finish
