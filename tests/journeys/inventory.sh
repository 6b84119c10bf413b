#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A disk has models of many years. Which format, which Burn, how large? Old ones are converted into another directory.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy msgpack jq

step "the disk" <<'END'
mkdir -p disk/2024 disk/2025
cp "$srcdir/tests/data/burn/0.13.2/zoo-half.mpk.gz" disk/2024/zoo.mpk.gz
cp "$srcdir/tests/data/burn/0.14.0/tiny-full.mpk" disk/2024/tiny.mpk
cp "$srcdir/tests/data/burn/0.21.0/tiny-double.mpk" disk/2025/tiny.mpk
cp "$srcdir/tests/data/burnpack/0.22.1/words.bpk" disk/2025/words.bpk
cp "$srcdir/tests/data/gguf/types.gguf" disk/2025/types.gguf
echo 'to be sorted' >disk/notes.txt
END
step "a table of all of it" <<'END'
for file in $(find disk -type f ! -name '*.txt' | sort); do record info --json "$file"; done >info.json
jq -r '[.file, .recorder, .burn // "-", .parameters] | @tsv' info.json | tee inventory.tsv
END
step "what is older than Burn 0.21 is converted, in a tree of its own" <<'END'
jq -r 'select(.burn) | select(.burn | split(".")[1] | tonumber < 21) | .file' info.json >old
while read -r file; do
    mkdir -p "new/$(dirname "$file")"
    record convert --burn 0.21 "$file" "new/${file%.gz}"
done <old
find new -type f | sort
END
prints "new/disk/2024/zoo.mpk"

python "Python's msgpack agrees about versions and sizes, old and new" <<'END'
import csv, gzip, msgpack, os
from journey import parse, tensors
rows = {row[0]: row[1:] for row in csv.reader(open("inventory.tsv"), delimiter="\t")}
assert len(rows) == 5 and rows["disk/2025/types.gguf"][:2] == ["Gguf", "-"], rows
for name in "2024/tiny.mpk", "2025/tiny.mpk":
    assert rows[f"disk/{name}"][1] == parse(f"disk/{name}")["metadata"]["version"]
    assert int(rows[f"disk/{name}"][2]) == sum(t.size for t in tensors(f"disk/{name}").values()) == 8
assert rows["disk/2024/zoo.mpk.gz"][1] == msgpack.unpack(gzip.open("disk/2024/zoo.mpk.gz"))["metadata"]["version"]
new = [os.path.join(place, name) for place, _, names in os.walk("new") for name in names]
assert sorted(new) == ["new/disk/2024/tiny.mpk", "new/disk/2024/zoo.mpk"]
assert all(parse(name)["metadata"]["version"].startswith("0.21") for name in new)
assert sum(t.size for t in tensors("new/disk/2024/zoo.mpk").values()) == int(rows["disk/2024/zoo.mpk.gz"][2])
END
finish
