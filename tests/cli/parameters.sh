#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Parameters and bare tensors. A parameter that comes from a format without ids gets a new one, however its reader
# reports it. A bare tensor stays one, or a note says that it does not. An id that librecord made is never reported as
# lost.
# shellcheck disable=SC2016 # what an inner shell expands, or text with backquotes
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
top=$(pwd)/../../..
case $srcdir in /*) top=$srcdir ;; esac
data=$top/tests/data/burn
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

# parameters FILE: how many maps of `id` and `param` a JSON record has
parameters() {
    grep -o '"param"' "$1" | wc -l | tr -d ' '
}

# ------------------------------------------------------------------------------------- there and back, without a type
mnist=$data/0.18.0/mnist.mpk
for format in pt npz gguf safetensors bpk; do
    run convert -q -y "$mnist" "mnist.$format"
    run convert -q -y "mnist.$format" mnist.json
    status_is "$format: a module comes back" 0
    check "$format: its 24 tensors are parameters" [ "$(parameters mnist.json)" = 24 ]
    run diff "$mnist" mnist.json
    status_is "$format: with the same values" 0
done

cat >net.rs <<'END'
#[derive(Record)]
pub struct Mixed<B: Backend> { w: Param<Tensor<B, 1>>, moment: Tensor<B, 1> }
END
cat >mixed.json <<'END'
{"metadata": {"float": "f32", "int": "i32", "format": "PrettyJsonFileRecorder", "version": "0.21.0",
 "settings": "FullPrecisionSettings"}, "item": {
 "w": {"id": "abcdefghijk00", "param": {"bytes": [0, 0, 128, 63], "shape": [1], "dtype": "F32"}},
 "moment": {"bytes": [0, 0, 0, 64], "shape": [1], "dtype": "F32"}}}
END

# --------------------------------------------------------------------------------------------------------- bare tensors
for format in pt npz gguf bpk; do
    run convert -y mixed.json "mixed.$format"
    status_is "$format: a bare tensor is written" 0
    check "$format: a note names it" grep -q 'moment: .* does not record that a tensor is not a parameter' "$scratch/err"
    run convert -q -y "mixed.$format" back.json
    check "$format: without a type it comes back as a parameter" [ "$(parameters back.json)" = 2 ]
    run convert -q -y --type net.rs:Mixed "mixed.$format" back.json
    status_is "$format: its type says what it is" 0
    check "$format: with its type it is bare again" [ "$(parameters back.json)" = 1 ]
done

# -------------------------------------------------------------------- modules that an import recognises by their shapes
st_begin
st_tensor l.weight '2, 1' 2
st_tensor l.bias 2 2
st_end >net.safetensors
for type in '' 'nn::Linear<B>'; do
    run convert -y ${type:+--type "$type" --select l} net.safetensors net.bpk
    status_is "bpk: an import${type:+ with its type} is written" 0
    check "bpk: its tensors are parameters" sh -c '! grep -q "no parameter" "$1"' - "$scratch/err"
    run info net.bpk
    check "bpk: with ids" grep -q 'parameter ids of 13' "$scratch/out"
done

run convert -y mixed.json mixed.safetensors
check "safetensors: no note says that it is not kept" sh -c '! grep -q "no parameter" "$1"' - "$scratch/err"
run convert -q -y mixed.safetensors back.json
check "safetensors: it stays bare" [ "$(parameters back.json)" = 1 ]

# ------------------------------------------------------------------------------------------------------------ optimizers
adam=$data/0.21.0/adam-full.mpk
for format in pt safetensors; do
    run convert -y "$adam" "adam.$format"
    status_is "$format: an optimizer is written" 0
    check "$format: without a note of bare tensors" sh -c '! grep -q "no parameter" "$1"' - "$scratch/err"
    run convert -q -y "adam.$format" adam.json
    check "$format: it comes back without parameters" [ "$(parameters adam.json)" = 0 ]
    run diff "$adam" adam.json
    status_is "$format: and equal" 0
done

# ---------------------------------------------------------------------------------------------------- ids that were made
run convert -q -y mnist.npz one.mpk
run convert -y mnist.npz two.npz
check "npz to npz loses no ids" [ ! -s "$scratch/err" ]
for format in pt gguf; do
    run convert -y mnist.npz "two.$format"
    check "npz to $format loses no ids" sh -c '! grep -q "the id" "$1"' - "$scratch/err"
done
run convert -y one.mpk two.npz
check "those of a file are lost" grep -q 'the ids of 24 parameters' "$scratch/err"

# ------------------------------------------------------------------------------------------------------------------ diff
sed 's/"w": {"id": "abcdefghijk00", "param": \(.*}\)},/"w": \1,/' mixed.json >bare.json
prints "a parameter that became a bare tensor" ls --all bare.json <<'END'
KEY     DTYPE  SHAPE  PARAMETERS
w       f32    [1]             1
moment  f32    [1]             1
2 tensors, 2 parameters, 8 bytes
END
run diff mixed.json bare.json
status_is "diff: a parameter is no bare tensor" 1
check "diff: which is told" grep -Eq '^id +w +parameter +bare tensor' "$scratch/out"
run diff bare.json mixed.json
check "diff: of either side" grep -Eq '^id +w +bare tensor +parameter' "$scratch/out"
run diff mixed.json mixed.npz
status_is "diff: a file without ids does not say what is a parameter" 0
if command -v jq >/dev/null; then
    run diff --json mixed.json bare.json
    answers "diff --json: with its id" .ids '[{"key":"w","a":"abcdefghijk00","b":null}]'
fi

# ---------------------------------------------------------------------------------------------- ids of three versions
sed 's/abcdefghijk00/abcdefghi0/; s/0\.21\.0/0.14.0/' mixed.json >short.json
run convert -q -y --burn 0.21 short.json current.mpk
run diff --ids short.json current.mpk
status_is "diff --ids: 10 and 13 characters are one id" 0
for version in 0.13.2 0.14.0; do
    run convert -q -y --burn 0.22 --to bpk "$data/$version/adam-full.mpk" adam.bpk
    status_is "an optimizer of Burn $version becomes one of 0.22" 0
    run diff --by id "$data/$version/adam-full.mpk" adam.bpk
    status_is "diff --by id: nothing of it was lost" 0
done

finish
