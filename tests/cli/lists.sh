#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Lists keep their places. In a flat file of Burn's an index is a place, and one that is not there holds no tensors;
# closing gaps is for nn.Sequential of other frameworks. What a list loses is noted when it is written.
# shellcheck disable=SC2016 # what an inner shell expands, or text with backquotes
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

cat >model.rs <<'END'
#[derive(Module, Debug)]
pub enum Layer<B: Backend> { Linear(Linear<B>), Relu, Dropout }
#[derive(Module, Debug)]
pub struct Enums<B: Backend> { layers: Vec<Layer<B>> }
#[derive(Module, Debug)]
pub struct Options<B: Backend> { blocks: Vec<Option<Param<Tensor<B, 1>>>> }
#[derive(Module, Debug)]
pub struct Plain<B: Backend> { layers: Vec<Linear<B>> }
END
# tensor ID: a parameter of one element
tensor() {
    printf '{"id": "%s", "param": {"bytes": [0, 0, 128, 63], "shape": [1], "dtype": "F32"}}' "$1"
}
# record ITEM: a record of Burn 0.21 as JSON
record_of() {
    printf '{"metadata": {"float": "f32", "int": "i32", "format": "PrettyJsonFileRecorder", "version": "0.21.0",
 "settings": "FullPrecisionSettings"}, "item": %s}\n' "$1"
}
record_of "{\"blocks\": [null, $(tensor abcdefghijk00), null, $(tensor abcdefghijk02)]}" >options.json
record_of "{\"blocks\": [$(tensor abcdefghijk00), null, null]}" >tail.json
linear='{"weight": {"id": "abcdefghijk00", "param": {"bytes": [0, 0, 128, 63], "shape": [1, 1], "dtype": "F32"}}, "bias": null}'
record_of "{\"layers\": [\"Relu\", {\"Linear\": $linear}]}" >enums.json
record_of '{"nested": [[], {}]}' >empty.json
record_of "{\"m\": {\"1\": $(tensor abcdefghijk00)}}" >numbers.json
record_of "{\"a.b\": $(tensor abcdefghijk00), \"\": {\"x\": $(tensor abcdefghijk02)}}" >dots.json
record_of "[$(tensor abcdefghijk00)]" >root-list.json
record_of "$(tensor abcdefghijk00)" >root-tensor.json

for format in bpk npz gguf; do
    # ------------------------------------------------------------------------------------------------------- options
    run convert -y options.json "options.$format"
    check "$format: a list without a loss is written without a note of one" \
        sh -c '! grep -q "at the end of a list" "$1"' - "$scratch/err"
    run convert -q -y "options.$format" back.json
    run diff options.json back.json
    status_is "$format: without a type, elements keep their places" 0
    run convert -q -y --type model.rs:Options "options.$format" back.json
    run diff options.json back.json
    status_is "$format: with the type, too" 0
    run ls --all "options.$format"
    check "$format: ls shows them" grep -q '^blocks\.3 ' "$scratch/out"

    # ---------------------------------------------------------------------------------------------------------- tails
    run convert -y tail.json "tail.$format"
    check "$format: what is lost at the end of a list is a note with its path" \
        grep -q 'blocks: .* at the end of a list .*: 2 of 3' "$scratch/err"
    run convert -y empty.json "empty.$format"
    check "$format: so is what is empty" grep -q 'empty values are left out' "$scratch/err"

    # ---------------------------------------------------------------------------------------------------------- names
    run convert -y numbers.json "numbers.$format"
    check "$format: a map whose keys are numbers is a note" grep -q 'm: keys that are numbers may be' "$scratch/err"
    run convert -y dots.json "dots.$format"
    status_is "$format: an empty name before another is written" 0
    check "$format: a name with a dot is a note" grep -q 'a dot in a name may be read back as a level' "$scratch/err"
    run ls --all "dots.$format"
    check "$format: the empty name is there" grep -q '^\.x ' "$scratch/out"
    run convert -y root-list.json "root.$format"
    check "$format: a list as the record is a note" grep -q 'read back as a map of numbers' "$scratch/err"

    # --------------------------------------------------------------------------------------------------------- enums
    [ "$format" = gguf ] && continue # it rejects values that are no tensors
    run convert -q -y --type model.rs:Enums enums.json "enums.$format"
    run convert -q -y --type model.rs:Enums "enums.$format" enums-back.json
    status_is "$format: an element whose variant is unknown is an error" 2
    check "$format: the message has its place" grep -q 'layers\.0' "$scratch/err"
    check "$format: nothing is written" [ ! -e enums-back.json ]
done

# ---------------------------------------------------------------------------------------------- of another framework
# -------------------------------------------------------------------------------------------------------------- a tensor

for format in bpk gguf pt safetensors; do
    run convert -q -y root-tensor.json "tensor.$format"
    run convert -q -y "tensor.$format" back.json
    run ls back.json
    check "$format: a tensor alone has no name" grep -q '^(root)' "$scratch/out"
done

st_begin
st_tensor "layers.0.weight" "1, 1" 1
st_tensor "layers.0.bias" "1" 1
st_tensor "layers.2.weight" "1, 1" 1
st_tensor "layers.2.bias" "1" 1
st_end >foreign.safetensors
run convert -q -y --type model.rs:Plain foreign.safetensors plain.json
status_is "gaps of nn.Sequential are closed" 0
run ls --all plain.json
check "as before" grep -q '^layers\.1\.weight' "$scratch/out"

finish
