#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck disable=SC2317 # functions that check() calls
# Reads the files of tests/files, which Flax and the package onnx wrote, and writes those of Flax again.
set -u
: "${srcdir:=.}" "${RECORD:=record}"
LIBRECORD_CONFIG=/dev/null
export LIBRECORD_CONFIG
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
files=$srcdir/tests/files
count=0
failed=0

# check NAME COMMAND...: the command must succeed
check() {
    name=$1
    shift
    count=$((count + 1))
    if "$@" >"$scratch/log" 2>&1; then
        echo "ok $count - $name"
    else
        failed=1
        echo "not ok $count - $name"
        sed 's/^/# /' "$scratch/log"
    fi
}

lists() { # FILE: its tensors are those of FILE.ls
    "$RECORD" ls --all "$files/$1" >"$scratch/found" 2>"$scratch/notes" && diff "$files/$1.ls" "$scratch/found"
}
for file in cnn.msgpack state.msgpack kinds.msgpack chunked.msgpack kinds.onnx nodes.onnx external.onnx; do
    check "$file: names, types and shapes" lists "$file"
done

again() { # FILE OPTION...: everything in it is written as Flax wrote it
    file=$1
    shift
    "$RECORD" convert -y --check --from-option values=all --option values=all "$@" "$files/$file" "$scratch/$file" &&
        cmp "$files/$file" "$scratch/$file"
}
check "cnn.msgpack: the same bytes again" again cnn.msgpack
check "state.msgpack: the same bytes again" again state.msgpack
check "chunked.msgpack: the same bytes again" again chunked.msgpack --option chunk=64
values() { # scalars of 64 bits become Python's
    "$RECORD" ls --all --from-option values=all "$1" | sed 's/ uint / int  /'
}
equal() {
    again kinds.msgpack
    values "$files/kinds.msgpack" >"$scratch/expected"
    values "$scratch/kinds.msgpack" | diff "$scratch/expected" -
}
check "kinds.msgpack: the same values again" equal

same_numbers() { # raw_data and the fields for numbers hold the same
    for type in FLOAT DOUBLE FLOAT16 BFLOAT16 INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 BOOL COMPLEX64 FLOAT8E4M3FN; do
        "$RECORD" show "$files/kinds.onnx" "raw.$type" >"$scratch/raw" &&
            "$RECORD" show "$files/kinds.onnx" "typed.$type" >"$scratch/typed" || return 1
        tail -n +2 "$scratch/raw" >"$scratch/raw.numbers"
        tail -n +2 "$scratch/typed" | diff "$scratch/raw.numbers" - || return 1
    done
}
check "kinds.onnx: numbers of every kind of field" same_numbers
single() {
    "$RECORD" show "$files/kinds.onnx" single >"$scratch/found" && grep -F "[5, 6, 7]" "$scratch/found"
}
check "kinds.onnx: numbers that are not packed" single

turned() { # gemm_b and turned have a row for each output; of `both` the nodes disagree
    "$RECORD" convert -y --check "$files/nodes.onnx" "$scratch/nodes.mpk" &&
        "$RECORD" ls --all "$scratch/nodes.mpk" | awk '/\[3, 2\]/ { print $1 }' >"$scratch/found" &&
        printf 'gemm_b\nturned\n' | diff - "$scratch/found"
}
check "nodes.onnx: weights with a row for each output are transposed" turned

rejected() { # WORDS FILE: it is rejected, with these words
    "$RECORD" verify "$2" >"$scratch/found" 2>&1
    status=$?
    cat "$scratch/found"
    [ "$status" -ne 0 ] && grep -F "$1" "$scratch/found"
}
printf '\201\241a\307\021\001\223\221\002\247float32\304\004\000\000\000\000' >"$scratch/few.msgpack"
check "an array with too few bytes" rejected "an array of 2 elements of float32 with 4 bytes" "$scratch/few.msgpack"
cp "$files/cnn.msgpack" "$scratch/more.msgpack"
printf 'x' >>"$scratch/more.msgpack"
check "bytes after the outermost map" rejected "1 more bytes" "$scratch/more.msgpack"

model() { # a model goes through paths and back into levels
    "$RECORD" convert -y --check "$files/cnn.msgpack" "$scratch/model.safetensors" &&
        "$RECORD" convert -y --check "$scratch/model.safetensors" "$scratch/model.msgpack" &&
        cmp "$files/cnn.msgpack" "$scratch/model.msgpack"
}
check "cnn.msgpack: the same bytes by way of another format" model
external() { # TENSOR FIRST: its first row
    "$RECORD" show "$files/external.onnx" "$1" >"$scratch/found" && grep -F "$2" "$scratch/found"
}
check "external.onnx: data in a subdirectory" external one "[0.0, 1.0, 2.0]"
check "external.onnx: from an offset, further below" external two "[ 8.0,  9.0, 10.0]"
cp -R "$files/external.onnx" "$files/w" "$scratch"
chmod -R u+w "$scratch/w"
head -c 40 "$files/w/one.bin" >"$scratch/w/one.bin"
check "external data that are truncated" rejected "one.bin: byte 24: expected the data of a tensor" "$scratch/external.onnx"
rm "$scratch/w/one.bin"
check "external data that are missing" rejected "one.bin" "$scratch/external.onnx"
sed 's|w/one\.bin|../ne.bin|g' "$files/external.onnx" >"$scratch/above.onnx"
check "external data above the directory" rejected "../ne.bin" "$scratch/above.onnx"

echo "1..$count"
exit "$failed"
