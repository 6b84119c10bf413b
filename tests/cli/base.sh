#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# --base: a record whose values stay where no input gives any, and which the inputs must fit.
# shellcheck disable=SC2119 # torch_net without argument is meant
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

# values NAME FILE KEY <<EXPECTED
values() {
    cat >"$scratch/expected"
    run show "$2" "$3"
    same "$1" "$scratch/expected" "$scratch/out"
}

# fresh: what --base gets; the shapes of body's modules, a head, a square layer before the others
fresh() {
    st_begin
    st_tensor square.weight "4, 4" 16 200
    st_tensor square.bias 4 4 210
    st_tensor norm.weight 4 4 130
    st_tensor norm.bias 4 4 140
    st_tensor fc1.weight "4, 3" 12 101
    st_tensor fc1.bias 4 4 120
    st_tensor embed.weight "7, 4" 28 150
    st_tensor head.weight "5, 4" 20 160
    st_tensor head.bias 5 5 180
    st_end >fresh.safetensors
    "$record" convert -q fresh.safetensors fresh.mpk
}

# body: in another order, with a square layer whose transposition shows in its values alone
body() {
    st_begin
    st_tensor fc1.weight "4, 3" 12 1
    st_tensor fc1.bias 4 4 20
    st_tensor norm.weight 4 4 30
    st_tensor norm.bias 4 4 40
    st_tensor square.weight "4, 4" 16 50
    st_tensor square.bias 4 4 70
    st_end >body.safetensors
}

fresh
body

# ------------------------------------------------------------------------------------------------ the manual's example

run convert --partial --base fresh.mpk body.safetensors model.mpk
status_is "a trained body below a fresh head" 0
same "without a word of doubt" /dev/null "$scratch/err"
sed -e 's/ in [0-9.]* s$//' -e 's/: 9 tensors, .*/: 9 tensors/' "$scratch/out" >"$scratch/line"
cat >"$scratch/expected" <<END
body.safetensors -> model.mpk: 9 tensors
  6 tensors: 6 mapped, 0 dropped; 0 unexpected, 0 missing, 3 kept from the base
  2 renamed (LayerNorm, as in the base); 2 transpose (Linear, as in the base)
  6 of the base replaced: square.{weight,bias}, norm.{gamma,beta}, fc1.{weight,bias}
  3 of the base kept: embed.weight, head.{weight,bias}
END
same "which tells what was replaced and what was kept" "$scratch/expected" "$scratch/line"
values "a square weight is transposed, as the base's Linear says" model.mpk 'square.weight[0]' <<END
[50.0, 54.0, 58.0, 62.0]          f32 [4]
END
values "what came" model.mpk 'fc1.weight[0]' <<END
[ 1.0,  4.0,  7.0, 10.0]          f32 [4]
END
values "what stayed" model.mpk 'head.weight[0]' <<END
[160.0, 164.0, 168.0, 172.0, 176.0]          f32 [5]
END
"$record" types fresh.mpk >"$scratch/expected"
"$record" types model.mpk >"$scratch/second"
same "the model is of the base's type, in its order" "$scratch/expected" "$scratch/second"
run convert --base model.mpk fresh.mpk again.mpk
status_is "a record of Burn can have a base too" 0
check "which it replaces whole" grep -q '^  9 of the base replaced: ' "$scratch/out"
check "so that nothing stays" grep -q '^  0 of the base kept$' "$scratch/out"
run plan --base fresh.mpk body.safetensors
check "plan tells it as well" grep -q '^3 of the base kept: embed.weight, head' "$scratch/out"

# --------------------------------------------------------------------------------------------------- what does not fit

# one KEY SHAPE COUNT...: a file of these tensors
one() {
    st_begin
    while [ $# -ge 3 ]; do
        st_tensor "$1" "$2" "$3"
        shift 3
    done
    st_end >one.safetensors
}

# refused NAME OPTIONS... <<EXPECTED: one.safetensors over fresh.mpk
refused() {
    refused_name=$1
    shift
    rm -f refused.mpk
    fails "$refused_name" convert --base fresh.mpk "$@" one.safetensors refused.mpk
    check "and nothing is written" [ ! -e refused.mpk ]
}

one head.weight "3, 4" 12 head.bias 3 3
refused "another number of classes" <<'END'
record: head.weight is [4, 3], but the base's is [4, 5]: another number of outputs, such as classes
record: head.bias is [3], but the base's is [5]: a module of another size
  Drop it to keep the base's: drop = ^head\.
  As an option: --drop PATTERN.
END
one embed.weight "9, 4" 36
refused "another vocabulary" <<'END'
record: embed.weight is [9, 4], but the base's is [7, 4]: another size of vocabulary, number of positions or of inputs
  Drop it to keep the base's: drop = ^embed\.
  As an option: --drop PATTERN.
END
one head.weight "4, 5" 20 head.bias 5 5
run plan --base fresh.mpk one.safetensors
check "a Linear that is [in, out] in the file already is told by the base" \
    grep -q "Conv1D, by the base's shape\$" "$scratch/out"
run convert --base fresh.mpk one.safetensors conv1d.mpk
values "and stays as it is" conv1d.mpk 'head.weight[0]' <<END
[1.0, 2.0, 3.0, 4.0, 5.0]          f32 [5]
END
refused "a transposed one" --module 'head => Linear' <<'END'
record: head.weight is [5, 4], but the base's is [4, 5]: it was transposed, and the file has it as Burn does
  Keep it as in the file: module = PATTERN => Conv1D.
record: head: weight [4, 5] with bias [5]: a Conv1D, which is not transposed
  Set: module = PATTERN => Conv1D.
  As an option: --module 'PATTERN => TYPE'.
END
one norm.weight "2, 2" 4
refused "another rank" <<'END'
record: norm.gamma is [2, 2], but the base's is [4]: as many elements in another shape
  A rule changes it: squeeze = PATTERN, or reshape = PATTERN | [SIZES].
END
st_begin
st_entry norm.bias I64 4 32
st_bytes="\\001\\000\\000\\000\\000\\000\\000\\000$st_bytes\\001\\000\\000\\000\\000\\000\\000\\000"
st_bytes="$st_bytes\\001\\000\\000\\000\\000\\000\\000\\000\\001\\000\\000\\000\\000\\000\\000\\000"
st_end >one.safetensors
refused "another kind of elements" <<'END'
record: norm.beta has integers, but the base's has floats
  Drop it to keep the base's: drop = ^norm\.
  As an option: --drop PATTERN.
END
one x.weight 4 4 model.head.weight "5, 4" 20 model.head.bias 5 5
refused "what has no place in the base" <<'END'
record: none of 3 tensors is mapped: the destination would be the base itself
  Have they other names there? Rules change them: rename, prefix, select.
END
run convert --base fresh.mpk --rename '^model\. => ' one.safetensors part.mpk
status_is "a part of it is left out" 0
check "and told" grep -q '^record: note: 1 key is not in the base, and left out: x.weight$' "$scratch/err"
run convert --strict --base fresh.mpk --rename '^model\. => ' one.safetensors part.mpk
status_is "an error where it is strict" 2
printf 'pub struct Net<B: Backend> {\n    embed: Embedding<B>,\n    head: Linear<B>,\n}\n' >net.rs
one head.weight "3, 4" 12 head.bias 3 3
run convert --base fresh.mpk --type net.rs:Net one.safetensors x.mpk
status_is "with a type the base's shapes count as well" 2
check "each of them" [ "$(grep -c "but the base's is" "$scratch/err")" = 2 ]
one other.weight "3, 4" 12
run convert --partial --base fresh.mpk --type net.rs:Net one.safetensors x.mpk
status_is "and so does that nothing is mapped" 2

# layers NUMBER >FILE
layers() {
    st_begin
    st_layer=0
    while [ $st_layer -lt "$1" ]; do
        st_tensor layers.$st_layer.weight "2, 3" 6
        st_tensor layers.$st_layer.bias 2 2
        st_layer=$((st_layer + 1))
    done
    st_end
}
layers 2 >two.safetensors
layers 3 >three.safetensors
"$record" convert -q two.safetensors two.mpk
"$record" convert -q three.safetensors three.mpk
fails "more layers than the base has" convert --base two.mpk three.safetensors x.mpk <<'END'
record: layers has 3 elements, but the base's has 2
  Is the base a model of another size? Drop what it lacks, or make a base as large.
END
cat >layers.rs <<'END'
pub struct Net<B: Backend> { layers: Vec<Linear<B>> }
END
fails "also with a type, that leaves their number open" convert --base two.mpk --type layers.rs:Net three.safetensors x.mpk <<'END'
record: layers has 3 elements, but the base's has 2
  Is the base a model of another size? Drop what it lacks, or make a base as large.
END
run convert --base two.mpk --type layers.rs:Net two.safetensors x.mpk
status_is "as many fit" 0
printf 'pub struct Net<B: Backend> { layers: Vec<Linear<B>>, more: Vec<Linear<B>> }\n' >more.rs
"$record" edit -q two.mpk set more '[]' -o open.mpk
st_begin
st_tensor more.0.weight "2, 3" 6
st_tensor more.0.bias 2 2
st_end >more.safetensors
run convert --base open.mpk --type more.rs:Net more.safetensors x.mpk
status_is "and an empty list of the base is open" 0
run convert --base three.mpk --type layers.rs:Net two.safetensors x.mpk
check "with a type, too, what the base has more stays" grep -q '^  2 of the base kept: layers.2' "$scratch/out"
run convert --base three.mpk two.safetensors x.mpk
status_is "fewer stay as they are" 0
check "which is told" grep -q '^  2 of the base kept: layers.2' "$scratch/out"

# ------------------------------------------------------------------------------------------------- between foreign files

run convert --base fresh.safetensors body.safetensors merged.safetensors
status_is "a foreign file can be the base of a foreign file" 0
values "in which nothing is adapted" merged.safetensors 'square.weight[0]' <<END
[50.0, 51.0, 52.0, 53.0]          f32 [4]
END
values "the base neither" merged.safetensors 'head.weight[0]' <<END
[160.0, 161.0, 162.0, 163.0]          f32 [4]
END
run convert --base fresh.mpk body.safetensors merged.safetensors
status_is "a record of Burn cannot" 2
check "since its layouts are others" grep -q 'the base is a record of Burn, and body.safetensors is not' "$scratch/err"

finish
