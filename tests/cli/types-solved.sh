#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record types of a file without names: the type that is made up reads all of it.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"

types=$srcdir/tests/data/types
case $types in /*) ;; *) types=$(cd "$OLDPWD" && cd "$types" && pwd) ;; esac

# solves NAME FILE PARAMETERS: a type is printed that reads the file, which --check agrees with, with the values it has
solves() {
    run types -q "$2"
    cp "$scratch/out" "$scratch/solved.rs"
    if ! grep -q "^// This type reads all of it, $3 parameter" "$scratch/solved.rs"; then
        not_ok "$1" "$scratch/solved.rs"
        return
    fi
    check "$1" "$record" types --check --type "$scratch/solved.rs:Model<B>" "$2"
}

# has NAME LINE: in the last type
has() {
    check "$1" grep -qF -- "$2" "$scratch/solved.rs"
}

convert() {
    case $1 in --burn) ;; *) set -- --option layout=keep "$@" ;; esac
    "$record" convert -q "$@" 2>"$scratch/err" || cat "$scratch/err" >&2
}

convert --type-of 0.18.0/mnist.mpk 0.18.0/mnist.mpk "$scratch/mnist.bin"
solves "a model of convolutions" "$scratch/mnist.bin" 24
has "its convolutions" 'conv2d_0: nn::conv::Conv2d<B>, // 0 [16, 1, 3, 3], 1 [16]'
has "its blocks" 'list_1: Vec<Block1<B>>, // 2 [16, 16, 3, 3], 3 [16]'
has "with their norms" 'batch_norm_1: nn::BatchNorm<B>, // 4 [16], 5 [16], 6 [16], 7 [16]'
has "what has no parameters is marked" 'constant_2: usize, // assumed:'
check "it is Rust from the first line" sh -c "head -1 '$scratch/solved.rs' | grep -q '^//'"
"$record" ls -q --json --type "$scratch/solved.rs:Model<B>" "$scratch/mnist.bin" | grep -o '"dtype.*' | sed '/"values/q' >"$scratch/first"
"$record" ls -q --json 0.18.0/mnist.mpk | grep -o '"dtype.*' | sed '/"values/q' >"$scratch/second"
same "by it the file has the same tensors" "$scratch/second" "$scratch/first"

# All kinds of fields, in each layout: options, lists, arrays, tuples, enums, numbers, int and bool parameters.
for file in 0.13.2/zoo-full 0.13.2/zoo-half 0.13.2/zoo-double 0.14.0/zoo-full 0.16.1/zoo-full 0.16.1/zoo-half 0.18.0/zoo-full 0.21.0/zoo-full; do
    convert --type-of $file.mpk $file.mpk "$scratch/zoo.bin"
    solves "$file" "$scratch/zoo.bin" 43
done
has "layers of a list share a struct" 'Vec<Block1<B>>, // 14 [3, 3]'
has "parameters of their own" 'Param<Tensor<B, 2, Int>>, // 41 [3, 2]'

cat >"$scratch/o.rs" <<END
#[derive(Module, Debug)]
pub struct O<B: Backend> { a: Option<nn::Linear<B>>, b: nn::LayerNorm<B>, c: Option<nn::Linear<B>>, d: [nn::Embedding<B>; 2] }
END
run edit new set a.weight 'f32[2, 3]=1' set a.bias null set b.gamma 'f32[3]=1' set b.beta 'f32[3]=0' set c null \
    set d.0.weight 'f32[4, 2]=1' set d.1.weight 'f32[4, 2]=1' -o "$scratch/o.mpk"
convert --burn 0.18 --type "$scratch/o.rs:O" "$scratch/o.mpk" "$scratch/o.bin"
solves "options" "$scratch/o.bin" 5
has "that are there" 'linear_0: Option<nn::Linear<B>>, // assumed: 0 [2, 3]'
has "or are not" 'constant_2: usize, // assumed: or anything without parameters, or an Option that is None'

# A change of one byte between parameters is not read over.
convert --type "$types/tiny.rs:Tiny" 0.18.0/tiny-full.mpk "$scratch/tiny.bin"
solves "the smallest" "$scratch/tiny.bin" 2
has "is a Linear" 'linear_0: nn::Linear<B>, // 0 [3, 2], 1 [2]'
{ cat "$scratch/tiny.bin"; printf '\007\377\300'; } >"$scratch/more.bin"
run types -q "$scratch/more.bin"
check "bytes that nothing explains: a type to complete" grep -q '^// A type to complete' "$scratch/out"
{ cat "$scratch/tiny.bin"; printf '\000\001\000\002\000\000'; } >"$scratch/more.bin"
solves "constants, an option of one, a list of two" "$scratch/more.bin" 2
has "as options" 'constant_2: Option<usize>, // assumed:'
has "and lists" 'constant_3: Vec<usize>, // assumed:'
{ cat "$scratch/tiny.bin"; printf '\003\000'; } >"$scratch/more.bin"
solves "the fourth variant of an enum" "$scratch/more.bin" 2
has "is marked" 'choice_1: Choice1<B>, // assumed: a variant by its index, 3;'

# Standard input, which is read three times.
"$record" types -q --positional "$scratch/mnist.bin" | sed 1d >"$scratch/first"
"$record" types -q --positional - <"$scratch/mnist.bin" | sed 1d >"$scratch/second"
check "a file as standard input gives the same type" cmp "$scratch/first" "$scratch/second"
# shellcheck disable=SC2002 # a pipe
cat "$scratch/mnist.bin" | "$record" types -q --positional - | sed 1d >"$scratch/second"
check "so does a pipe" cmp "$scratch/first" "$scratch/second"
check "which is a type that reads all" grep -q '^    list_1: Vec' "$scratch/second"
run types -q --positional - </dev/null
status_is "an empty input" 2
TMPDIR=$scratch/nothing "$record" types --no-sandbox -q --positional - 2>"$scratch/err" <<END
END
check "no directory for temporary files" grep -q 'cannot copy standard input to a temporary file: No such' "$scratch/err"

# Many, and hostile ones.
size=$(wc -c <"$scratch/tiny.bin")
for length in 100 $((size - 50)) $((size - 30)) $((size - 1)); do
    head -c "$length" "$scratch/tiny.bin" >"$scratch/cut.bin"
    run types -q "$scratch/cut.bin"
    case $status in
    0) check "cut at $length: nothing is claimed" sh -c "! grep -q 'reads all' '$scratch/out'" ;;
    *) status_is "cut at $length" 2 ;;
    esac
done
gzip -c "$scratch/tiny.bin" >"$scratch/tiny.bin.gz"
run types -q "$scratch/tiny.bin.gz"
check "compressed: a type to complete" grep -q '^// A type to complete' "$scratch/out"
{ cat "$scratch/tiny.bin"; head -c 3000 /dev/zero | tr '\000' '\002'; } >"$scratch/more.bin"
run types -q "$scratch/more.bin"
status_is "thousands of numbers of items" 0

# shellcheck disable=SC2046 # words
set -- $(awk 'BEGIN { for (i = 0; i < 300; i++) printf "set l.%d.fc.weight f32[4,8]=1 set l.%d.fc.bias f32[8]=0 set l.%d.n.gamma f32[8]=1 set l.%d.n.beta f32[8]=0 set l.%d.n.epsilon null ", i, i, i, i, i }')
run edit new "$@" -o "$scratch/many.mpk" -q
status_is "a model of 300 layers" 0
convert --type-of "$scratch/many.mpk" "$scratch/many.mpk" "$scratch/many.bin"
solves "is a list" "$scratch/many.bin" 1200
has "of a struct" 'list_0: Vec<Block1<B>>, // 0 [4, 8], 1 [8], 2 [8], 3 [8], 4 [4, 8], 5 [8], ...'

need_jq
run types -q --json "$scratch/mnist.bin"
answers "JSON" '[.named, .assumed > 0, (.source | contains("pub struct Model<B: Backend>"))]' '[false,true,true]'

finish
