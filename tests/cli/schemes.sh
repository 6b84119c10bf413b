#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Quantised checkpoints: numbers at a precision, bit for bit those of tests/data/schemes/make.py; unchanged without one; and
# what cannot be decoded is rejected by name.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
top=$(pwd)/../../..
golden=$top/tests/data/schemes
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

# 1. Golden files.
for name in fp8 nvfp4 mxfp4; do
    run convert -q --adapter none --precision full "$golden/$name.safetensors" "$name.full.safetensors"
    status_is "$name becomes numbers" 0
    run diff --bits "$name.full.safetensors" "$golden/$name.expected.safetensors"
    status_is "… which are those of the reference" 0
    run convert -q --adapter none --threads 1 --no-map --precision full "$golden/$name.safetensors" "$name.read.safetensors"
    check "… also on one thread, of a file that is not mapped" cmp "$name.full.safetensors" "$name.read.safetensors"
    run convert -q "$golden/$name.safetensors" "$name.kept.safetensors"
    run diff --bits "$name.kept.safetensors" "$golden/$name.safetensors"
    status_is "… and without a precision nothing changes" 0
    run diff "$golden/$name.safetensors" "$golden/$name.expected.safetensors"
    status_is "… diff compares the numbers" 0
    run diff --bits "$golden/$name.safetensors" "$golden/$name.expected.safetensors"
    status_is "… and with --bits what is stored" 1
    run convert -q --adapter none --precision half "$golden/$name.safetensors" "$name.half.npz"
    run convert -q --adapter none --precision half "$golden/$name.expected.safetensors" "$name.expected.npz"
    run diff --bits "$name.half.npz" "$name.expected.npz"
    status_is "… half rounds the numbers once more" 0
    run diff --noise "$name.half.npz" "$golden/$name.safetensors"
    check "… diff --noise has the error of the decoded numbers" grep -q '^KEY .*  NMSE  *SQNR' "$scratch/out"
done

# Burn's own quantised tensors: real Burn made both files.
run convert -q --precision full "$golden/burn.bpk" burn.full.bpk
status_is "Burn's quantised tensors become numbers" 0
run diff --bits burn.full.bpk "$golden/burn.expected.bpk"
status_is "… which are those of Burn" 0
run convert -q --threads 1 --no-map --precision full "$golden/burn.bpk" burn.read.bpk
check "… also on one thread, of a file that is not mapped" cmp burn.full.bpk burn.read.bpk
run convert -q "$golden/burn.bpk" burn.kept.bpk
run diff --bits burn.kept.bpk "$golden/burn.bpk"
status_is "… and without a precision nothing changes" 0
run show "$golden/burn.bpk" 'tensors.0[0, 0, :1]'
check "… show has their numbers" grep -q 'qfloat \[1\]' "$scratch/out"

# 2. Rules, adapters and types see the decoded tensor: an FP8 weight is transposed for Burn.
drop='^(comfy|experts|fnuz|norm|plain|tensor)'
run convert -q --precision full --drop "$drop" "$golden/fp8.safetensors" fp8.mpk --module '. => Linear'
run convert -q --precision full --drop "$drop" "$golden/fp8.expected.safetensors" expected.mpk --module '. => Linear'
run diff --bits fp8.mpk expected.mpk
status_is "a transposed weight is right" 0
run convert -q --adapter none --precision full --rule 'rename = ^rows => lines' "$golden/fp8.safetensors" renamed.safetensors
run ls renamed.safetensors
check "rules see one tensor" sh -c "grep -q 'lines.weight' '$scratch/out' && ! grep -q 'lines.weight_scale' '$scratch/out'"
run convert -q --adapter none "$golden/fp8.safetensors" kept.mpk
status_is "without a precision Burn has no place for it" 2
check "… with what to do" grep -q 'Convert to a precision' "$scratch/err"

run convert --drop "$drop|scale" "$golden/fp8.safetensors" folded.mpk --module '. => Linear'
check "… without a precision it cannot be transposed, which one message says of all" \
    [ "$(grep -c 'and [0-9]* more: a tensor of F8_E4M3 cannot be transposed: its elements are encoded' "$scratch/err")" = 1 ]
check "… with what to do" grep -q '^  Convert to a precision' "$scratch/err"

# 3. Commands that look at numbers.
run info "$golden/fp8.safetensors"
check "info names the schemes" grep -q 'FP8 E4M3, 128x128 blocks, 3 tensors' "$scratch/out"
run info "$golden/fp8.safetensors"
check "… and counts encoded tensors" grep -q '^tensors .* 2 bf16, 12 encoded$' "$scratch/out"
run info --json "$golden/nvfp4.safetensors"
check "… for programs, too" grep -q '"scheme": *"NVFP4, blocks of 16"' "$scratch/out"
run stats "$golden/nvfp4.safetensors"
check "stats shows the logical tensor" grep -q '^ct.weight ' "$scratch/out"
run show "$golden/nvfp4.safetensors" ct.weight
check "show has its numbers" grep -q '^\[\[-0.45086136' "$scratch/out"
run show "$golden/fp8.safetensors" 'rows.weight[0, :1]'
check "… and the name of the stored type" grep -q 'F8_E4M3 \[1\]' "$scratch/out"
run show "$golden/nvfp4.safetensors" ct.weight_packed
check "… and by its own key what is stored" grep -q '^\[\[ 76, 120' "$scratch/out"
run ls "$golden/nvfp4.safetensors"
check "ls lists what is stored" grep -q '^ct.weight_packed ' "$scratch/out"

# 4. What is rejected. @param words of the message, then tensors as st_tensor takes them.
rejected() { # NAME WORDS FILE
    run convert -q --adapter none --precision full "$3" no.npz
    status_is "$1 is rejected at a precision" 2
    check "… by name" grep -q "$2" "$scratch/err"
    check "… and nothing is written" test ! -e no.npz
    run convert -q "$3" carried.safetensors
    status_is "… and carried without one" 0
}
typed() { # KEY DTYPE SHAPE BYTES
    st_entry "$1" "$2" "$3" "$4"
    at=0
    while [ "$at" -lt "$4" ]; do
        st_octal $((at % 64 + 1))
        at=$((at + 1))
    done
}
# A file with these tensors is rejected with the name of its scheme.
known() { # NAME WORDS FILE "KEY DTYPE SHAPE BYTES"...
    name=$1
    words=$2
    file=$3
    shift 3
    st_begin
    for entry; do
        # shellcheck disable=SC2086 # four words
        typed $entry
    done
    st_end >"$file"
    rejected "$name" "$words" "$file"
}
known GPTQ 'a.qweight: stored as GPTQ' gptq.safetensors \
    'a.qweight I32 2,16 128' 'a.qzeros I32 1,2 8' 'a.scales F16 1,16 32'
known AWQ 'a.qweight: stored as AWQ' awq.safetensors \
    'a.qweight I32 16,2 128' 'a.qzeros I32 1,2 8' 'a.scales F16 1,16 32'
known "bitsandbytes" 'a.weight: stored as bitsandbytes, 4 bits' nf4.safetensors \
    'a.weight U8 32,1 32' 'a.weight.absmax F32 1 4' 'a.weight.quant_map F32 16 64'
known "compressed-tensors" 'a.weight_packed: stored as compressed-tensors, packed integers' ct.safetensors \
    'a.weight_packed I32 4,2 32' 'a.weight_scale BF16 4,1 8' 'a.weight_shape I64 2 16'
known quanto 'a.weight._data: stored as quanto' quanto.safetensors \
    'a.weight._data I8 4,4 16' 'a.weight._scale F32 4,1 16'
known HQQ 'a.W_q: stored as HQQ' hqq.safetensors \
    'a.W_q U8 4,4 16' 'a.scale F16 4,1 8' 'a.zero F16 4,1 8'
known EETQ 'a.qweight: stored as EETQ' eetq.safetensors \
    'a.qweight I8 4,4 16' 'a.weight_scales F16 4 8'
known AQLM 'a.codes: stored as AQLM' aqlm.safetensors \
    'a.codes I8 4,2,2 16' 'a.codebooks F16 1,2,1,4 16' 'a.scales F16 4 8'
for lost in 'w_blocks U8 2,4,16 128' 'w.blocks U8 2,4,16 128' 'weight_packed U8 4,16 64'; do
    st_begin
    # shellcheck disable=SC2086 # the words are separate
    typed a.$lost
    st_end >lost.safetensors
    rejected "${lost%% *} without scales" "a.${lost%% *}: stored as FP4, .* its scales are not there" lost.safetensors
done
st_begin
typed a.qweight I32 2,16 128
st_end >lost.safetensors
rejected "GPTQ without scales" 'a.qweight: stored as GPTQ' lost.safetensors
st_begin
typed a.weight_packed I32 4,2 32
st_end >lost.safetensors
rejected "compressed-tensors without scales" 'a.weight_packed: stored as compressed-tensors' lost.safetensors
st_begin
typed a.weight F8_E4M3 4,4 16
typed a.weight_scale F32 3,1 12
st_end >odd.safetensors
rejected "a scale of another shape" 'FP8 E4M3, scale f32 \[3, 1\], which .* its scale has a shape or type that does not fit' odd.safetensors
st_begin
typed a.codes U8 4,4 16
typed a.codes_scale F32 4,1 16
st_end >unknown.safetensors
rejected "a scale that no scheme uses" 'a.codes_scale: a scale of a.codes that no scheme uses' unknown.safetensors
st_begin
typed a.weight F6_E3M2 4,4 12
st_end >f6.safetensors
rejected "a type that no scheme decodes" 'a.weight: stored as F6_E3M2, which no scheme decodes' f6.safetensors

# 5. config.json says how large blocks are, and that a scale must be there.
mkdir model
st_begin
typed a.weight F8_E4M3 40,40 1600
typed a.weight_scale_inv F32 2,2 16
st_end >model/blocks.safetensors
rejected "a block of unknown size" 'does not fit' model/blocks.safetensors
echo '{"quantization_config": {"quant_method": "fp8", "weight_block_size": [32, 32]}}' >model/config.json
run convert -q --adapter none --precision full model/blocks.safetensors blocks.npz
status_is "config.json says the size of blocks" 0
st_begin
typed a.weight F8_E4M3 4,4 16
st_end >model/alone.safetensors
rejected "a weight without the scale that config.json asks for" 'its scale is missing' model/alone.safetensors
for place in '"compression_config": {"quant_method": "compressed-tensors"}' \
    '"text_config": {"quantization_config": {"quant_method": "fp8"}}'; do
    echo "{$place}" >model/config.json
    rejected "… also as ${place%%:*}" 'its scale is missing' model/alone.safetensors
done

# Parts in several files, the scale of a weight in another one than the weight.
mkdir shards
st_begin
typed a.weight F8_E4M3 130,40 5200
typed b.weight_scale_inv F32 1,1 4
st_end >shards/model-00001-of-00002.safetensors
st_begin
typed a.weight_scale_inv F32 2,1 8
typed b.weight F8_E4M3 8,8 64
st_end >shards/model-00002-of-00002.safetensors
cat >shards/model.safetensors.index.json <<'END'
{"metadata": {"total_size": 5276}, "weight_map": {
"a.weight": "model-00001-of-00002.safetensors", "b.weight_scale_inv": "model-00001-of-00002.safetensors",
"a.weight_scale_inv": "model-00002-of-00002.safetensors", "b.weight": "model-00002-of-00002.safetensors"}}
END
st_begin
typed a.weight F8_E4M3 130,40 5200
typed b.weight F8_E4M3 8,8 64
typed a.weight_scale_inv F32 2,1 8
typed b.weight_scale_inv F32 1,1 4
st_end >one.safetensors
run convert -q --adapter none --precision full one.safetensors one.npz
for map in "" --no-map; do
    run convert -q --adapter none --precision full ${map:+"$map"} shards/model.safetensors.index.json shards.npz
    status_is "scales in other shards are found${map:+, $map}" 0
    run diff --bits shards.npz one.npz
    status_is "… and the numbers are those of one file" 0
    rm -f shards.npz
done

# 6. record plugins.
run plugins fp8
check "record plugins tells the kind" grep -q '^  kind  *scheme$' "$scratch/out"

finish
