#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Files that nobody here wrote: the MNIST model of Burn 0.7 to 0.21 by a type from Rust source, and .bin files beside the
# PyTorch files that they were made from.
# shellcheck disable=SC2154,SC2317 # the environment is make check's; functions are called by check
set -u
# shellcheck source=tests/tap.sh
. "$srcdir/tests/tap.sh"
shared=${LIBRECORD_SHARED:-$srcdir/../shared}/data/burn
types=$srcdir/tests/data/types/mnist.rs
if [ ! -d "$shared" ]; then
    skip "real files" "there is no $shared"
    finish
fi

loads() { # FILE TYPE TENSORS
    "$RECORD" convert -q --burn 0.21 --type "$types:$2" "$1" "$scratch/out.mpk" &&
        "$RECORD" info "$scratch/out.mpk" | grep -q "contents  *$3 tensors"
}
for version in 0.7 0.8 0.14; do
    check "the MNIST model of tag $version" loads "$shared/tracel-ai-burn/mnist-tag$version.bin" Model 20
done
for version in 0.19 0.21; do
    check "the MNIST model of tag $version" loads "$shared/tracel-ai-burn/mnist-tag$version.bin" Model19 18
done
web=$shared/rust-mnist-web-app
check "a model of Burn 0.13" loads "$web/model-0.13.bin" Model 20

# The half precision twin holds the same weights, rounded.
twins() {
    "$RECORD" convert -q --type "$types:Model" --precision half "$web/model-0.13.bin" "$scratch/a.mpk" &&
        "$RECORD" convert -q "$web/model-6-0.13-half.mpk" "$scratch/b.mpk" || return 1
    for key in conv1.conv.weight fc1.weight fc2.weight; do
        "$RECORD" show --all --json "$scratch/a.mpk" "$key" >"$scratch/a" &&
            "$RECORD" show --all --json "$scratch/b.mpk" "$key" >"$scratch/b" && cmp "$scratch/a" "$scratch/b" || return 1
    done
}
check "and its twin at half precision" twins

refused() { # FILE WORDS
    ! "$RECORD" ls "$1" >"$scratch/log" 2>&1 && grep -q "$2" "$scratch/log"
}
check "a state of Burn 0.6 is told" refused "$shared/tracel-ai-burn/mnist-tag0.6.json.gz" "Burn 0.6 or older"
burnpack() {
    "$RECORD" ls "$shared/tracel-ai-burn/mnist-tag0.22pre.bpk" >"$scratch/log" 2>&1 && grep -q '^[0-9]* tensors' "$scratch/log"
}
check "burnpack of Burn 0.22 is read" burnpack

# The values of each storage of a .pt (a zip archive) are in the record, bit by bit and as often; Burn keeps them in
# another order where PyTorch's tensor was transposed or its gates were fused.
cat >"$scratch/storages.py" <<'END'
import collections, json, sys, zipfile

def words(data):
    return collections.Counter(data[i:i + 4] for i in range(0, len(data), 4))

record, seen = collections.Counter(), 0
for tensor in json.load(open(sys.argv[2]))["item"].values():
    record += words(bytes(tensor.get("param", tensor)["bytes"]))
with zipfile.ZipFile(sys.argv[1]) as archive:
    for name in archive.namelist():
        data = archive.read(name) if "/data/" in name else b""
        if len(data) >= 32 and len(data) % 4 == 0:
            seen += 1
            if words(data) - record:
                sys.exit(f"{name}: some of its {len(data) // 4} values are not in the record")
sys.exit(0 if seen else "no storage was compared")
END
twin() { # NAME
    "$RECORD" convert -q --positional "$shared/cherry-lip-sync/$1.bin" "$scratch/twin.json" &&
        python3 "$scratch/storages.py" "$shared/cherry-lip-sync/$1.pt" "$scratch/twin.json"
}
if command -v python3 >/dev/null; then
    for name in melbank model; do # the others' twins hold other numbers
        check "$name.bin has the values of $name.pt" twin "$name"
    done
else
    skip "values of .pt files" "python3 is not installed"
fi
finish
