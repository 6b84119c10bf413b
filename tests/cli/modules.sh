#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Models without a type: modules that are recognised are written as Burn has them, told by `types`, and go back; modules
# whose tensors do not go together are refused, by whatever they were named.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
need_jq
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

# model NAME KEY SHAPE COUNT...: a file of tensors
model() {
    name=$1
    shift
    st_begin
    while [ $# -ge 3 ]; do
        st_tensor "$1" "$2" "$3"
        shift 3
    done
    st_end >"$name.safetensors"
}

# fields FILE PATH: the names of a map's fields in a JSON record
fields() {
    jq -c ".item.$2 | keys_unsorted" "$1"
}

# ------------------------------------------------------------------------------------------------------------ as Burn has it

model net bn.bias 3 3 bn.running_mean 3 3 bn.running_var 3 3 bn.weight 3 3 conv.bias 3 3 conv.weight "3, 2, 2, 1" 12 \
    fc.bias 4 4 fc.weight "4, 3" 12 norm.bias 4 4 norm.weight 4 4
run convert net.safetensors net.json --burn 0.20
status_is "a model is imported without a type" 0
check "a Linear in Burn's order" [ "$(fields net.json fc)" = '["weight","bias"]' ]
check "a convolution with its constants" \
    [ "$(fields net.json conv)" = '["weight","bias","stride","kernel_size","dilation","groups","padding"]' ]
check "as that version has them" [ "$(jq -c .item.conv.stride net.json)" = '[null,null]' ]
check "a norm with its constants" \
    [ "$(fields net.json bn)" = '["gamma","beta","running_mean","running_var","momentum","epsilon"]' ]
run convert net.safetensors net.mpk
run convert net.mpk net21.json
check "or as the last one has them" [ "$(jq -c .item.conv.stride net21.json)" = null ]

for file in net.mpk net.safetensors; do
    run types "$file"
    sed -n '/^pub struct/,$p' "$scratch/out" >"$scratch/types"
    cat >"$scratch/expected" <<END
pub struct Model<B: Backend> {
    bn: nn::BatchNorm<B>,
    conv: nn::conv::Conv2d<B>,
    fc: nn::Linear<B>,
    norm: nn::LayerNorm<B>,
}
END
    same "types names the modules of $file" "$scratch/expected" "$scratch/types"
done
run convert net.safetensors again.mpk --type-of net.mpk
check "a record's type imports the same" cmp net.mpk again.mpk
run convert --type-of net.mpk net.safetensors net.bin
run convert net.bin back.mpk --type-of net.mpk
check "a .bin has all that its type needs" "$record" diff -q net.mpk back.mpk
run convert --reverse net.mpk back.safetensors
status_is "what was recognised goes back" 0
run convert back.safetensors once.mpk
check "to what it came from" cmp net.mpk once.mpk

# ----------------------------------------------------------------------------------------------- what does not go together

# refused NAME TEXT ARGUMENT...: convert fails, says so, and leaves no file
refused() {
    name=$1
    text=$2
    shift 2
    run convert "$@" out.mpk
    status_is "$name is refused" 2
    check "$name: with both shapes and the cause" grep -qF "$text" "$scratch/err"
    check "$name: nothing is written" [ ! -e out.mpk ]
}
model linear fc.weight "6, 2" 12 fc.bias 5 5
refused "a Linear's bias" "fc: weight [6, 2] with bias [5]: neither a Linear nor a Conv1D has these" linear.safetensors
model conv c.weight "4, 2, 1, 1" 8 c.bias 3 3
refused "a Conv2d's bias" "c: weight [4, 2, 1, 1] with bias [3]: they do not go together in a Conv2d" conv.safetensors
model batch b.weight 4 4 b.bias 4 4 b.running_mean 4 4 b.running_var 5 5
refused "a BatchNorm's variance" "b: gamma [4] with running_var [5]: they do not go together in a BatchNorm" batch.safetensors
model layer n.weight 4 4 n.bias 5 5
cat >types.rs <<END
pub struct Layer<B: Backend> { n: nn::LayerNorm<B> }
pub struct Line<B: Backend> { c: nn::Linear<B> }
pub struct Att<B: Backend> { a: nn::attention::MultiHeadAttention<B> }
END
refused "a LayerNorm's bias" "n: gamma [4] with beta [5]: they do not go together in a LayerNorm" \
    --type types.rs:Layer layer.safetensors
model conv1d c.weight "4, 5" 20 c.bias 5 5
refused "a Conv1D that is declared a Linear" "c: weight [4, 5] with bias [5]: a Conv1D, which is not transposed" \
    --type types.rs:Line conv1d.safetensors
model turned c.weight "5, 4" 20 c.bias 5 5
refused "a Linear that is declared a Conv1D" "c: weight [5, 4] with bias [5]: a Linear of PyTorch's, which was not" \
    --module '^c$ => Conv1D' turned.safetensors
model att a.query.weight "4, 4" 16 a.query.bias 4 4 a.key.weight "4, 4" 16 a.key.bias 4 4 a.value.weight "3, 4" 12 \
    a.value.bias 3 3 a.output.weight "4, 4" 16 a.output.bias 4 4
refused "an attention of two widths" "they do not go together in a MultiHeadAttention" --type types.rs:Att att.safetensors

# ------------------------------------------------------------------------------------------------- what a field is called

model alike a.group_norm.gamma 4 4 a.group_norm.beta 4 4 b.layer_norm2.gamma 4 4 b.layer_norm2.beta 4 4 \
    c.ln.gamma 4 4 c.ln.beta 4 4
run types alike.safetensors
check "of modules that are alike the one that the field speaks of" grep -q 'group_norm: nn::GroupNorm<B>' "$scratch/out"
check "with a number behind it" grep -q 'layer_norm2: nn::LayerNorm<B>' "$scratch/out"
check "else the usual one" grep -q 'ln: nn::LayerNorm<B>' "$scratch/out"

# ------------------------------------------------------------------------------------------------------- what is told

model layers l.0.fc.weight "4, 3" 12 l.0.fc.bias 4 4 l.1.fc.weight "4, 3" 12 l.2.fc.weight "4, 3" 12 l.2.fc.bias 4 4
run convert layers.safetensors layers.mpk
status_is "a layer may lack a bias" 0
check "which is told" grep -q 'l.1.fc has no bias, which its siblings have' "$scratch/err"
run convert layers.mpk layers.json
check "of a record too" grep -q 'l.1.fc has no bias, which its siblings have' "$scratch/err"
jq '.item.l[0].fc.bias.param |= {bytes: .bytes[0:12], shape: [3], dtype}' layers.json >odd.json
run convert odd.json odd.mpk
status_is "a record of Burn's with such a module is converted" 0
check "and told" grep -q 'l.0.fc: weight \[3, 4\] with bias \[3\]: they do not go together in a Linear' "$scratch/err"
jq '.item.l[0, 2].fc.bias.param |= {bytes: .bytes[0:12], shape: [3], dtype}' layers.json >two.json
run convert two.json two.mpk
check "of two the second is counted" grep -q 'they do not go together in a Linear (and 1 more)' "$scratch/err"
run convert odd.json odd.mpk -q --json
check "in JSON too" grep -q 'do not go together' "$scratch/out"

finish
