#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Safetensors that Burn's own store wrote, in Burn's layout or by its adapter in PyTorch's: their metadata are the same, so
# names, biases and shapes decide, and where they do not, it is asked.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
need_jq
top=$(pwd)/$srcdir
case $srcdir in /*) top=$srcdir ;; esac
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

# model VERSION NAME KEY SHAPE COUNT...: a file of tensors; of Burn's store, if it has a version
model() {
    version=$1
    name=$2
    shift 2
    st_begin
    [ "$version" = - ] || st_metadata "{\"format\":\"safetensors\",\"producer\":\"burn\",\"version\":\"$version\"}"
    while [ $# -ge 3 ]; do
        st_tensor "$1" "$2" "$3"
        shift 3
    done
    st_end >"$name.safetensors"
}

# takes NAME none|pytorch TEXT ARGUMENT...: it is imported as with that adapter, and what decided is told
takes() {
    name=$1
    adapter=$2
    text=$3
    shift 3
    rm -f as.mpk is.mpk
    run convert --adapter "$adapter" "$@" as.mpk
    status_is "$name: the adapter $adapter will do" 0
    run convert "$@" is.mpk
    status_is "$name: it is imported" 0
    check "$name: what decided is told" grep -qF "$text" "$scratch/err"
    check "$name: as with the adapter $adapter" cmp as.mpk is.mpk
}

# asks NAME TEXT ARGUMENT...: it is refused, says how to decide, and leaves no file
asks() {
    name=$1
    text=$2
    shift 2
    run convert "$@" out.mpk
    status_is "$name: it is asked" 2
    check "$name: and told what is not clear" grep -qF "$text" "$scratch/err"
    check "$name: and how to decide" grep -qF "with --adapter" "$scratch/err"
    check "$name: nothing is written" [ ! -e out.mpk ]
}

cat >types.rs <<'END'
pub struct Line<B: Backend> { fc: nn::Linear<B> }
pub struct Net<B: Backend> { fc: nn::Linear<B>, norm: nn::LayerNorm<B> }
pub struct Rms<B: Backend> { fc: nn::Linear<B>, norm: nn::RmsNorm<B> }
pub struct Inst<B: Backend> { fc: nn::Linear<B>, norm: nn::InstanceNorm<B> }
pub struct Own<B: Backend> { fc: nn::Linear<B>, low: Low<B> }
pub struct Low<B: Backend> { weight: Param<Tensor<B, 2>>, bias: Param<Tensor<B, 1>> }
pub enum Head<B: Backend> { Dense(nn::Linear<B>), Conv(nn::conv::Conv2d<B>) }
pub struct Heads<B: Backend> { a: Head<B>, b: Vec<Head<B>> }
END

# ------------------------------------------------------------------------------------------------------------------ biases

model 0.21.0 burn fc.weight "3, 2" 6 fc.bias 2 2
model 0.21.0 torch fc.weight "2, 3" 6 fc.bias 2 2
burns="Burn's store wrote it, in Burn's layout (fc: weight [3, 2] with bias [2]): nothing is transposed or renamed"
torchs="Burn's store wrote it, with its adapter for PyTorch (fc: weight [2, 3] with bias [2]): it is read as PyTorch's"
takes "Burn's layout" none "$burns" burn.safetensors
run convert burn.safetensors burn.json
check "it is as it was" [ "$(jq -c .item.fc.weight.param.shape burn.json)" = "[3,2]" ]
takes "Burn's layout, with a type" none "$burns" --type types.rs:Line burn.safetensors
takes "PyTorch's" pytorch "$torchs" torch.safetensors
run convert torch.safetensors torch.json
check "it is transposed" [ "$(jq -c .item.fc.weight.param.shape torch.json)" = "[3,2]" ]
takes "PyTorch's, with a type" pytorch "$torchs" --type types.rs:Line torch.safetensors
run plan burn.safetensors
check "a plan tells it too" grep -qF "note: $burns" "$scratch/out"
run convert --type types.rs:Line --adapter pytorch burn.safetensors out.mpk
status_is "an adapter that is given clashes" 2
check "with what the file shows" grep -qF "fc: weight [3, 2] with bias [2]: a Conv1D" "$scratch/err"
run convert burn.safetensors same.safetensors
check "between two such files nothing is decided" [ ! -s "$scratch/err" ]

model - other fc.weight "4, 4" 16 fc.bias 4 4
run convert --type types.rs:Line other.safetensors other.mpk
status_is "what others wrote is read as PyTorch's, as ever" 0
run convert --type types.rs:Line --adapter pytorch other.safetensors as.mpk
check "all of it" cmp other.mpk as.mpk

model - named fc.weight "4, 4" 16 fc.bias 4 4 norm.gamma 4 4 norm.beta 4 4
doubt="read as PyTorch's: fc.weight is transposed, although norm.gamma is Burn's name of it and no shape shows the layout"
for type in "" "--type types.rs:Net"; do
    # shellcheck disable=SC2086 # none or two words
    run convert $type named.safetensors named.mpk
    status_is "with Burn's names too ${type:-without a type}" 0
    check "but it is told" grep -qF "$doubt" "$scratch/err"
done
run convert --type types.rs:Net --adapter pytorch named.safetensors named.mpk
check "unless it was asked for" [ ! -s "$scratch/err" ]
model - certain fc.weight "4, 3" 12 fc.bias 4 4 norm.gamma 4 4 norm.beta 4 4
run convert --type types.rs:Net certain.safetensors certain.mpk
check "or a bias shows it" [ ! -s "$scratch/err" ]

# ------------------------------------------------------------------------------------------------------------------- names

square='fc.weight 4,4 16 fc.bias 4 4'
# shellcheck disable=SC2086
{
    model 0.21.0 gamma $square norm.gamma 4 4 norm.beta 4 4
    model 0.21.0 weight $square norm.weight 4 4 norm.bias 4 4
    model 0.21.0 rms21 $square norm.gamma 4 4
    model 0.22.1 rms22 $square norm.gamma 4 4
    model 0.21.0 batch $square norm.gamma 4 4 norm.beta 4 4 norm.running_mean 4 4 norm.running_var 4 4
    model 0.21.0 mixed $square norm.weight 4 4 norm.bias 4 4 inst.gamma 4 4 inst.beta 4 4
}
takes "Burn's names" none "(norm.gamma)" --type types.rs:Net gamma.safetensors
takes "Burn's names, without a type" none "(norm.gamma)" gamma.safetensors
takes "Burn's BatchNorm, without a type" none "(norm.gamma)" batch.safetensors
takes "PyTorch's names" pytorch "(norm.weight)" --type types.rs:Net weight.safetensors
takes "PyTorch's names, without a type" pytorch "(norm.weight)" weight.safetensors
takes "PyTorch's names beside an InstanceNorm, which has Burn's always" pytorch "(norm.weight)" mixed.safetensors
takes "an RmsNorm of 0.22" none "(norm.gamma)" --type types.rs:Rms rms22.safetensors
asks "an RmsNorm of 0.21, which its adapter left alone" "nor whether fc.weight [4, 4] is to be transposed" \
    --type types.rs:Rms rms21.safetensors
asks "an InstanceNorm" "no shape and no name shows which" --type types.rs:Inst gamma.safetensors
takes "a rule's names are not the file's" pytorch "(norm.weight)" --type types.rs:Net --rename 'weight$ => weight' \
    --rename '^norm\.weight$ => norm.gamma' --rename '^norm\.bias$ => norm.beta' weight.safetensors

# ------------------------------------------------------------------------------------------------------- nothing, or too much

model 0.21.0 square fc.weight "4, 4" 16 fc.bias 4 4
asks "a square weight" "Burn's store wrote it, in Burn's layout or in PyTorch's: no shape and no name shows which" \
    --type types.rs:Line square.safetensors
asks "a square weight without a type" "nor whether fc.weight [4, 4] is to be transposed" square.safetensors
model 0.21.0 bare fc.weight "5, 4" 20
asks "a weight without bias" "nor whether fc.weight [5, 4] is to be transposed" --type types.rs:Line bare.safetensors
asks "a weight without bias or type" "no shape and no name shows which" bare.safetensors
run convert --adapter none --type types.rs:Line bare.safetensors bare.json
check "who says none gets it as it is" [ "$(jq -c .item.fc.weight.param.shape bare.json)" = "[5,4]" ]
run convert --adapter pytorch --type types.rs:Line bare.safetensors bare.json
check "who says pytorch gets it transposed" [ "$(jq -c .item.fc.weight.param.shape bare.json)" = "[4,5]" ]
run plan bare.safetensors
status_is "a plan asks too" 1
model 0.21.0 clash fc.weight "3, 2" 6 fc.bias 2 2 norm.weight 3 3 norm.bias 3 3
asks "what contradicts itself" "in Burn's layout (fc: weight [3, 2] with bias [2]) or in PyTorch's (norm.weight)" \
    --type types.rs:Net clash.safetensors
asks "what contradicts itself without a type" "in Burn's layout (fc: weight [3, 2] with bias [2]) or in PyTorch's (norm.weight)" \
    clash.safetensors
model 0.21.0 own fc.weight "3, 2" 6 fc.bias 2 2 low.weight "2, 5" 10 low.bias 2 2
takes "what the type calls no Linear does not count" none "(fc: weight [3, 2] with bias [2])" --type types.rs:Own \
    own.safetensors
model 0.21.0 dot fc.weight "1, 1" 1 fc.bias 1 1
run convert --type types.rs:Line dot.safetensors dot.mpk
status_is "what is the same either way is not asked" 0
check "and not told" [ "$(grep -c store "$scratch/err")" = 0 ]
model 0.21.0 broken fc.weight "3, 2" 6 fc.bias 5 5
run convert --type types.rs:Line broken.safetensors out.mpk
status_is "what fits neither way is refused" 2

# ------------------------------------------------------------------------------------------------------------------- shapes

run convert --adapter none --type types.rs:Line bare.safetensors base.mpk
takes "the base's shapes" none "(fc.weight [5, 4], where the base has" --base base.mpk bare.safetensors 2>/dev/null
set --
for gate in input forget output cell; do
    set -- "$@" "l.${gate}_gate.input_transform.weight" "3, 2" 6 "l.${gate}_gate.hidden_transform.weight" "2, 2" 4
done
model 0.21.0 lstm "$@"
echo 'pub struct Lstm1<B: Backend> { l: nn::Lstm<B> }' >>types.rs
takes "widths within a module" none "in Burn's layout (l" --type types.rs:Lstm1 lstm.safetensors

# -------------------------------------------------------------------------------------------------------------------- enums

model 0.21.0 enums a.Dense.weight "3, 2" 6 a.Dense.bias 2 2 b.0.Conv.weight "1, 1, 2, 2" 4 b.0.Conv.bias 1 1 \
    b.1.Dense.weight "2, 1" 2 b.1.Dense.bias 1 1
takes "variants are parts of its keys" none "(a.Dense: weight [3, 2] with bias [2]" --type types.rs:Heads enums.safetensors
run convert enums.safetensors --type types.rs:Heads enums.json
check "and become variants" [ "$(jq -c '.item.b | map(keys)' enums.json)" = '[["Conv"],["Dense"]]' ]

# ----------------------------------------------------------------------------------------------------------- words of Rust

# header FILE, data FILE: the entries of the tensors, and their bytes
header() {
    tail -c +9 "$1" | head -c "$(od -An -tu8 -N8 "$1" | tr -d ' ')" | jq -cS 'del(.__metadata__)'
}
data() {
    tail -c "+$((9 + $(od -An -tu8 -N8 "$1" | tr -d ' ')))" "$1"
}
# names FILE: the tensors' names in a file
names() {
    header "$1" | jq -r 'keys | join(" ")'
}

echo 'pub struct Raw<B: Backend> { r#type: nn::Linear<B>, last: nn::Linear<B> }' >>types.rs
model 0.21.0 raw 'r#type.weight' "3, 2" 6 'r#type.bias' 2 2 last.weight "3, 2" 6 last.bias 2 2
takes "a field r#type" none "(type: weight [3, 2]" --type types.rs:Raw raw.safetensors
run convert raw.safetensors raw.json
check "is type in a record" [ "$(jq -c '.item | keys_unsorted' raw.json)" = '["type","last"]' ]
run convert --metadata librecord.import= --type types.rs:Raw raw.safetensors raw.mpk
run convert raw.mpk ours.safetensors
check "and in safetensors of librecord" [ "$(names ours.safetensors)" = "last.bias last.weight type.bias type.weight" ]
check "which is told" grep -qF "type.bias and 1 more: the name of a field that is a word of Rust" "$scratch/err"
run convert --burn 0.18 raw.mpk older.safetensors
check "also for a Burn that had no store" [ "$(names older.safetensors)" = "$(names ours.safetensors)" ]
burn_names='last.bias last.weight r#type.bias r#type.weight'
for version in 0.19 0.20 0.21; do
    run convert --burn "$version" raw.mpk "$version.safetensors"
    check "for Burn $version it is r#type" [ "$(names "$version.safetensors")" = "$burn_names" ]
    check "and nothing is to be told" [ ! -s "$scratch/err" ]
    run convert --burn "$version" "$version.safetensors" back.mpk
    run convert --burn "$version" raw.mpk same.mpk
    check "it is read as it was" cmp same.mpk back.mpk
done
run convert --option burn-store=yes --option record=no raw.mpk flat.safetensors
check "as an option" [ "$(names flat.safetensors)" = "$burn_names" ]
run convert --adapter none --type types.rs:Raw flat.safetensors back.mpk
run convert --adapter none --type types.rs:Raw raw.safetensors same.mpk
check "tensors alone are read too" cmp same.mpk back.mpk
run convert --option burn-store=no --burn 0.21 raw.mpk no.safetensors
check "or not" [ "$(names no.safetensors)" = "last.bias last.weight type.bias type.weight" ]
model 0.21.0 twice 'r#type.weight' "3, 2" 6 type.weight "3, 2" 6
run convert --adapter none twice.safetensors out.mpk
status_is "one field under both names is refused" 2
check "with both" grep -qF "2 sources for type.weight" "$scratch/err"

# -------------------------------------------------------------------------------------------------- what the store refuses

for type in U16 F8_E4M3; do
    st_begin
    st_entry a "$type" 4 $((${#type} == 3 ? 8 : 4))
    st_bytes="$st_bytes\\000\\000\\000\\000"
    [ "$type" = U16 ] && st_bytes="$st_bytes\\000\\000\\000\\000"
    st_tensor b 2 2
    st_end >odd.safetensors
    run convert --burn 0.21 odd.safetensors to.safetensors
    status_is "$type is written" 0
    check "$type is told, for Burn's store refuses it" \
        grep -qF "a: of an element type that Burn's store does not know; it rejects the whole file" "$scratch/err"
    run convert odd.safetensors to.safetensors
    check "$type is not spoken of otherwise" [ ! -s "$scratch/err" ]
done

# ----------------------------------------------------------------------------------------------- what Burn's own store wrote

golden=${LIBRECORD_SHARED:-$top/../shared}/data/golden/store
if [ -d "$golden" ]; then
    cat >golden.rs <<'END'
pub struct Tiny<B: Backend> { linear: nn::Linear<B> }
pub enum Head<B: Backend> { Dense(nn::Linear<B>), Conv(nn::conv::Conv2d<B>) }
pub struct Block<B: Backend> { fc: nn::Linear<B>, norm: nn::LayerNorm<B>, act: nn::Relu, drop: nn::Dropout, scale: f64 }
pub struct Zoo<B: Backend> {
    conv1: nn::conv::Conv1d<B>, conv2: nn::conv::Conv2d<B>, up: nn::conv::ConvTranspose2d<B>, bn: nn::BatchNorm<B>,
    gn: nn::GroupNorm<B>, emb: nn::Embedding<B>, no_bias: nn::Linear<B>, blocks: Vec<Block<B>>, empty: Vec<nn::Linear<B>>,
    some: Option<nn::Linear<B>>, none: Option<nn::Linear<B>>, array: [nn::Linear<B>; 2],
    pair: (nn::Linear<B>, nn::LayerNorm<B>), head_a: Head<B>, head_b: Head<B>, free: Param<Tensor<B, 3>>,
    ids: Param<Tensor<B, 2, Int>>, mask: Param<Tensor<B, 1, Bool>>, size: usize, ratio: f64, flag: bool,
}
pub struct Norms<B: Backend> {
    bn: nn::BatchNorm<B>, ln: nn::LayerNorm<B>, gn: nn::GroupNorm<B>, rms: nn::RmsNorm<B>, inst: nn::InstanceNorm<B>,
    prelu: nn::PRelu<B>, linear: nn::Linear<B>,
}
pub struct Plain<B: Backend> {
    floats: Param<Tensor<B, 2>>, ints: Param<Tensor<B, 2, Int>>, bools: Param<Tensor<B, 1, Bool>>,
    scalar_like: Param<Tensor<B, 1>>, void: Param<Tensor<B, 2>>,
}
END
    # equal NAME FILE TYPE REFERENCE: imported by the type, it has the tensors of the record that Burn wrote of the model
    equal() {
        rm -f got.mpk got.safetensors wanted.safetensors
        run convert --types golden.rs --type "$3" "$2" got.mpk
        status_is "$1 is imported" 0
        run convert --precision full --option record=no got.mpk got.safetensors
        run convert --precision full --option record=no "$4" wanted.safetensors
        check "$1 is the model" cmp wanted.safetensors got.safetensors
    }
    for of in Tiny Norms Plain Zoo; do
        case=$(echo "$of" | tr TNPZ tnpz)
        for file in "$golden"/*/"$case"/store.safetensors "$golden"/*/"$case"/torch.safetensors; do
            from=${file#"$golden"/}
            version=${from%%/*}
            reference=$golden/$version/$case/full.mpk
            [ -e "$reference" ] || reference=$golden/0.21.0/$case/full.mpk # values are the same in every version
            # 0.19 gave the elements of a tuple no part of the key: refused.
            if [ -e "$file" ] && [ "$version/$of" != 0.19.1/Zoo ]; then
                equal "$from" "$file" "$of" "$reference"
            fi
        done
    done
    for file in "$golden"/*/*/full.mpk; do
        stored=${file%full.mpk}store.safetensors
        from=${file#"$golden"/}
        version=${from%%/*}
        [ -e "$stored" ] || continue
        run convert --precision keep --burn "${version%.*}" "$file" ours.safetensors
        status_is "$from is written for its store" 0
        what=.
        case $from in
        0.19.1/zoo/*) continue ;; # a tuple, as above
        0.19.1/plain/* | 0.20.1/plain/* | 0.20.1/zoo/*) what='map_values(.shape)' ;; # the recorder had made I32 of I64
        esac
        header "$stored" | jq -c "$what" >wanted
        header ours.safetensors | jq -c "$what" >got
        check "$from: names, types, shapes and places are the store's" diff wanted got
        [ "$what" = . ] || continue
        data "$stored" >wanted
        data ours.safetensors >got
        check "$from: so are the bytes" cmp wanted got
    done
    for file in "$golden"/*/quant_*/full.mpk; do
        run convert --burn 0.21 "$file" ours.safetensors
        check "${file#"$golden"/}: the store refuses it" grep -qF "Burn's store cannot load it" "$scratch/err"
    done
    for file in "$golden"/*/lstm_coupled/*.safetensors; do
        run convert "$file" lstm.mpk
        case $file in
        */torch.safetensors) check "${file#"$golden"/} is PyTorch's" grep -q "adapter for PyTorch" "$scratch/err" ;;
        *) check "${file#"$golden"/} is Burn's" grep -q "in Burn's layout" "$scratch/err" ;;
        esac
    done
else
    skip "models that Burn's own store wrote" "$golden is not there"
fi

finish
