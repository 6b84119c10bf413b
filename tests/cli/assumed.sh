#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Values that a type asks for and the file lacks are never zero in silence: a note with path and value, an error under
# --strict and in the state of an optimizer or scheduler.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
top=$(pwd)/../../..
case $srcdir in /*) top=$srcdir ;; esac
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

st_begin
st_tensor w "4" 4
st_end >foreign.safetensors
cat >net.rs <<'END'
#[derive(Record)]
pub struct Bare<B: Backend> { w: Param<Tensor<B, 1>> }
#[derive(Record)]
pub struct State<B: Backend> { w: Param<Tensor<B, 1>>, steps: usize, lr: f64, name: String, on: bool }
#[derive(Record)]
pub struct Lists<B: Backend> {
    w: Param<Tensor<B, 1>>,
    rates: Vec<f64>,
    pair: (usize, f64),
    fixed: [u8; 3],
    best: Option<f64>,
    names: HashMap<String, usize>,
    layers: Vec<Linear<B>>,
    bias: Option<Param<Tensor<B, 1>>>,
}
END
run convert -q --type net.rs:Bare foreign.safetensors bare.mpk
for format in bpk npz gguf; do
    run convert -q bare.mpk "bare.$format"
done
run convert -q --reverse --type net.rs:Bare bare.mpk foreign.pt

# A plan's notes say "KEY is not …", those of a load "KEY: not …".
for file in bare.bpk bare.npz bare.gguf foreign.safetensors foreign.pt; do
    run convert -y --type net.rs:State "$file" out.mpk
    status_is "$file is converted" 0
    sed 's/\([a-z]\): not in/\1 is not in/' "$scratch/err" >"$scratch/notes"
    cat >"$scratch/expected" <<'END'
record: note: steps is not in the file: 0 is assumed
record: note: lr is not in the file: 0.0 is assumed
record: note: name is not in the file: "" is assumed
record: note: on is not in the file: false is assumed
END
    same "$file: each assumed value is a note" "$scratch/expected" "$scratch/notes"
    run convert -y --strict --type net.rs:State "$file" strict.mpk
    status_is "$file: --strict is an error" 2
    check "$file: for each value" [ "$(grep -c ' is missing: ' "$scratch/err")" = 4 ]
    check "$file: nothing is written" [ ! -e strict.mpk ]
    run convert -y --type net.rs:Lists "$file" out.json
    status_is "$file is converted with lists" 0
    sed 's/\([a-z]\): not in/\1 is not in/' "$scratch/err" >"$scratch/notes"
    cat >"$scratch/expected" <<'END'
record: note: rates is not in the file: [] is assumed
record: note: pair is not in the file: (0, 0.0) is assumed
record: note: fixed is not in the file: [0, 0, 0] is assumed
record: note: best is not in the file: None is assumed
record: note: names is not in the file: {} is assumed
END
    # A flat file of Burn's says so that a list of modules is empty; in a foreign one it may have another name.
    case $file in foreign.*) echo "record: note: layers is not in the file: [] is assumed" >>"$scratch/expected" ;; esac
    same "$file: so are lists, maps and options" "$scratch/expected" "$scratch/notes"
done

# What has values and lacks one is an error anyway.
for format in mpk json safetensors; do
    run convert -q -y bare.mpk "bare.$format"
    run convert -y --type net.rs:State "bare.$format" none.mpk
    status_is "bare.$format lacks values that it could hold" 2
    check "bare.$format: the message has the path" grep -q 'steps: the record lacks this field' "$scratch/err"
done

run types --check --type net.rs:State bare.bpk
status_is "a file that lacks values is not of the type" 1
cat >"$scratch/expected" <<'END'
record: bare.bpk: the type has steps, which the file lacks
END
same "as is said" "$scratch/expected" "$scratch/err"
run types --check --type net.rs:Bare bare.bpk
status_is "one that has all is" 0

# Optimizers and schedulers.
adam=$top/tests/data/burn/0.18.0/adam-full.mpk
run convert -q -y "$adam" adam.npz
status_is "the tensors of an optimizer leave" 0
run convert -y --type Adam adam.npz adam.mpk
status_is "its number of steps is never made up" 2
check "is said with its path" grep -q '\.time is missing: an unsigned integer' "$scratch/err"
check "and nothing is written" [ ! -e adam.mpk ]
cat >noam.json <<'END'
{"metadata": {"float": "f32", "int": "i32", "format": "PrettyJsonFileRecorder", "version": "0.21.0",
 "settings": "FullPrecisionSettings"}, "item": 7}
END
run convert -q -y noam.json noam.npz
run convert -y --type NoamLrScheduler noam.npz noam.mpk
status_is "nor is the number of a scheduler" 2
check "which is the whole record" grep -q 'the value is missing: an unsigned integer' "$scratch/err"
finish
