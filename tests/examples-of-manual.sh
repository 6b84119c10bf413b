#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The examples of the manual pages and of the help are run, each in a folder with the files that they speak of.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
srcdir=$(cd "$srcdir" && pwd)
real=$(cd "$(dirname "${RECORD:-$top_builddir/tools/record}")" && pwd)/record
mkdir "$scratch/bin" "$scratch/folder"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$real" >"$scratch/bin/record"
chmod +x "$scratch/bin/record"
PATH=$scratch/bin:$PATH
burn=$srcdir/tests/data/burn

if ! command -v python3 >/dev/null || ! command -v jq >/dev/null; then
    skip "the examples of the manual" "python3 or jq is missing"
    finish
fi

# The files. A name means the same in every page: model.* is a tiny Llama, mnist.* what Burn's example made.
cd "$scratch/folder" || exit 1
PYTHONPATH=$srcdir/tests/families PYTHONDONTWRITEBYTECODE=1 python3 - <<'END'
import json, struct, models
from reference import Tensor
def save(name, shapes):
    header, data = {}, b""
    for number, (key, shape) in enumerate(shapes.items()):
        count = 1
        for size in shape:
            count *= size
        header[key] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * count]}
        data += struct.pack(f"<{count}f", *((7 * (i + number) % 31 - 15) / 64 for i in range(count)))
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    open(name, "wb").write(struct.pack("<Q", len(text)) + text + data)
save("model.safetensors", models.llama())
save("a.safetensors", models.linear("fc", 4, 3))
save("b.safetensors", models.linear("fc", 2, 4))
save("body.safetensors", models.linear("fc1", 4, 3))
save("net.safetensors", models.linear("fc1", 4, 3) | models.linear("head", 2, 4))
END
printf '{"num_attention_heads": 4, "num_key_value_heads": 2}' >config.json
prepare() (
    set -e
    cp "$burn/0.18.0/mnist.mpk" mnist.mpk
    cp "$burn/0.18.0/mnist.mpk" epoch-20.mpk
    record convert -q --precision half mnist.mpk mnist-half.mpk
    cp "$burn/0.13.2/tiny-full.mpk" model-0.13.mpk
    record convert -q --profile llama model.safetensors model.mpk
    record convert -q model.mpk model.mpk.gz
    record convert -q net.safetensors fresh.mpk
    record convert -q net.safetensors net.mpk
    record edit -q net.mpk rm head -o body.mpk
    record edit -q net.mpk rm fc1 -o head.mpk
    record convert -q --prefix encoder a.safetensors part-encoder.mpk
    record convert -q --prefix head b.safetensors part-head.mpk
    record convert -q --prefix encoder a.safetensors --prefix decoder b.safetensors autoencoder.mpk
    cp mnist.mpk before.mpk
    cp mnist-half.mpk after.mpk
    record convert -q mnist-half.mpk after.safetensors
    record edit -q mnist.mpk rm fc2 -o smaller.mpk
    record convert -q --to npz a.safetensors a.npz
    python3 -c 'import zipfile; open("table.npy", "wb").write(zipfile.ZipFile("a.npz").read("fc.weight.npy"))'
    record types model.mpk >model.rs
    record verify -q --sums write model.mpk
    record convert -q model.mpk model.json.gz
    mkdir epoch-20
    cp mnist.mpk epoch-20/model.mpk
    mkdir old checkpoints checkpoint
    cp model.mpk old/model-1.mpk
    cp "$burn/0.18.0/adam-full.mpk" old/optim-1.mpk
    cp "$burn/0.18.0/noam-full.mpk" old/scheduler-1.mpk
    for epoch in 1 2 3; do cp mnist.mpk "checkpoints/epoch-$epoch.mpk" && cp mnist.mpk "checkpoint/model-$epoch.mpk" && cp "$burn/0.18.0/adam-full.mpk" "checkpoint/optim-$epoch.mpk"; done
    record convert -q --type model.rs:Model model.mpk model.bin
)
check "the files are there" prepare

# Commands of a page behind `.Dl $`, as roff shows them, and of the help's lines that begin with two spaces and `record`.
: >"$scratch/examples"
for page in "$srcdir"/docs/record*.1; do
    sed -n 's/^\.Dl \$ //p' "$page" | sed 's/\\(dq/"/g; s/\\e/\\/g; s/\\-/-/g; s/\\&//g' | sed "s/^/$(basename "$page")	/" >>"$scratch/examples"
done
record --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' | while read -r command; do
    record help "$command" | sed -n 's/^  \(record .*\)$/\1/p' | sed "s/^/help $command	/"
done | grep -v '	record completion ' >>"$scratch/examples"

# What needs a server, another computer or a terminal is not run.
runs() { # COMMAND
    cp -r "$scratch/folder" "$scratch/run"
    (cd "$scratch/run" && bash -o pipefail -euc "$1" </dev/null) >"$scratch/said" 2>&1
    example_status=$?
    rm -rf "$scratch/run"
    # 1 is what a comparison says of two files that differ, and a plan that needs a decision.
    [ "$example_status" -le 1 ] && return 0
    cat "$scratch/said"
    return 1
}
count=0
while IFS='	' read -r page example; do
    case $example in
    *https://* | ssh\ * | *"record browse"*) continue ;;
    esac
    check "$page: $example" runs "$example"
    count=$((count + 1))
done <"$scratch/examples"
check "there are examples" [ "$count" -ge 20 ]
finish
