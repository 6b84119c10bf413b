#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Each module that a rule or a type names is checked as a whole: every field of the modules in etc/modules that import
# rules know, missing, in another rank, and next to a tensor that is none of them (with a type a note, as Burn's own
# import leaves such tensors out). What Burn has no field for and PyTorch computes with is an error.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
modules=$(cd "$srcdir/etc/modules" && pwd)
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

# fields MODULE: `NAME RANK needed|optional` for each tensor of its last version, under PyTorch's names
fields() {
    cat "$modules"/*.ini | awk -v module="$1" '
        /^\[/ { inside = $1 == "[module" && $2 == module; if (inside) count = 0 }
        inside && /Tensor<B, [0-9]>/ {
            name = $1
            sub(/^(gamma|alpha)$/, "weight", name)
            sub(/^beta$/, "bias", name)
            rank = $0
            sub(/.*Tensor<B, /, "", rank)
            sub(/>.*/, "", rank)
            list[count++] = name " " rank " " (/Option</ ? "optional" : "needed")
        }
        END { for (i = 0; i < count; i++) print list[i] }'
}

# tensor NAME RANK: all sizes are 2, but for a bias of a Linear that fits any way
tensor() {
    shape='' count=1 rank=$2
    while [ "$rank" -gt 0 ]; do
        shape="$shape${shape:+, }2"
        count=$((count * 2))
        rank=$((rank - 1))
    done
    st_tensor "m.$1" "$shape" "$count"
}

# model [FIELD missing|rank]: the module in model.safetensors
model() {
    st_begin
    while read -r name rank _; do
        case "${1-}:${2-}" in
        "$name:missing") ;;
        "$name:rank") tensor "$name" $((rank + 1)) ;;
        *) tensor "$name" "$rank" ;;
        esac
    done <list
    if [ "${1-}" = foreign ]; then
        tensor scale 1
    fi
    st_tensor other.weight '2, 2' 4
    st_tensor other.bias 2 2
    st_end >model.safetensors
}

# rejected NAME WORD: by rule and by type, nothing is written
rejected() {
    ruled_out "$1" "$2"
    run convert --type net.rs:Net model.safetensors none.bpk
    status_is "$module by its type, $1" 2
    check "$module by its type, $1: the message names it" grep -q "$2" "$scratch/err"
    check "$module, $1: nothing is written" [ ! -e none.bpk ]
}

# ruled_out NAME WORD: the same by a rule alone
ruled_out() {
    run convert --module "^m\$ => $module" model.safetensors none.bpk
    status_is "$module by a rule, $1" 2
    check "$module by a rule, $1: the message names it" grep -q "$2" "$scratch/err"
}

for module in BatchNorm Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Embedding GroupNorm \
    InstanceNorm LayerNorm Linear PRelu RmsNorm; do
    fields "$module" >list
    check "$module has fields" [ -s list ]
    printf 'use burn::nn::*;\n#[derive(Module, Debug)]\npub struct Net { m: %s, other: Linear }\n' "$module" >net.rs
    model
    run convert -y --module "^m\$ => $module" model.safetensors whole.bpk
    status_is "$module by a rule" 0
    run convert -y --type net.rs:Net model.safetensors typed.bpk
    status_is "$module by its type" 0
    check "$module: the same" "$record" diff whole.bpk typed.bpk
    model foreign
    ruled_out "with a tensor that is none of its fields" scale
    run convert -y --module "^m\$ => $module" --drop '^m\.scale$' model.safetensors whole.bpk
    status_is "$module without that tensor" 0
    run convert -y --type net.rs:Net model.safetensors typed.bpk
    status_is "$module by its type, with a tensor that is none of its fields" 0
    check "$module by its type: a note names that tensor" grep -q 'left out: m.scale' "$scratch/err"
    while read -r field _ needed; do
        model "$field" rank
        rejected "with $field of another rank" "rank\|two axes"
        # Without its only tensor nothing is left of a module.
        if [ "$needed" = optional ] || [ "$(wc -l <list)" = 1 ]; then
            continue
        fi
        model "$field" missing
        rejected "without $field" "$field\|gamma\|beta\|alpha"
    done <list
done

# InstanceNorm: PyTorch computes with running statistics that it tracks, and Burn's has none.
instance() { # NAME...
    st_begin
    for name; do
        st_tensor "m.$name" 2 2
    done
    st_counter m.num_batches_tracked
    st_tensor other.weight '2, 2' 4
    st_tensor other.bias 2 2
    st_end >model.safetensors
}
# statistics NAME OPTION...: they are an error unless they are dropped
statistics() {
    name="InstanceNorm $1"
    shift
    run convert "$@" model.safetensors none.bpk
    status_is "$name" 2
    check "$name: the message names the statistics" grep -q 'm.running_mean and 1 more' "$scratch/err"
    check "$name: and how to drop them" grep -q -e '--drop' "$scratch/err"
    run convert -y --drop '\.running_(mean|var)$' "$@" model.safetensors there.bpk
    status_is "$name without them" 0
}
printf 'use burn::nn::*;\n#[derive(Module, Debug)]\npub struct Net { m: InstanceNorm, other: Linear }\n' >net.rs
instance weight bias running_mean running_var
statistics "by its type" --type net.rs:Net
statistics "by a rule" --module '^m$ => InstanceNorm'
instance running_mean running_var
statistics "without weights, by its type" --type net.rs:Net
statistics "without weights, by a rule" --module '^m$ => InstanceNorm'

# A BatchNorm without weights (affine=False), whatever it is called: Burn's always has them.
instance running_mean running_var
run convert model.safetensors none.bpk
status_is "BatchNorm without weights" 2
check "BatchNorm without weights: the message says so" grep -q "^record: m: no BatchNorm of Burn's: its \`weight\` is missing" "$scratch/err"

# Modules of several tensors.
printf 'use burn::nn::*;\n#[derive(Module, Debug)]\npub struct Net { m: MultiHeadAttention }\n' >net.rs
st_begin
st_tensor m.in_proj_weight '6, 2' 12
st_tensor m.in_proj_bias 6 6
st_tensor m.out_proj.weight '2, 2' 4
st_tensor m.out_proj.bias 2 2
st_tensor m.relative '2, 2' 4
st_end >model.safetensors
for way in '' '--type net.rs:Net'; do
    # shellcheck disable=SC2086 # a list of words
    run convert $way model.safetensors none.bpk
    status_is "attention with a tensor of its own ${way:-without a type}" 2
    check "attention with a tensor of its own ${way:-without a type}: the message names it" grep -q relative "$scratch/err"
done
printf 'use burn::nn::*;\n#[derive(Module, Debug)]\npub struct Net { m: Lstm }\n' >net.rs
st_begin
st_tensor m.weight_ih_l0 '8, 2' 16
st_tensor m.weight_hh_l0 '8, 2' 16
st_tensor m.peephole 2 2
st_end >model.safetensors
for way in '' '--type net.rs:Net'; do
    # shellcheck disable=SC2086 # a list of words
    run convert $way model.safetensors none.bpk
    status_is "a recurrent module with a tensor of its own ${way:-without a type}" 2
    check "a recurrent module with a tensor of its own ${way:-without a type}: the message names it" grep -q peephole "$scratch/err"
done

finish
