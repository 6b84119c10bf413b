#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Rust source of either dialect: of Burn up to 0.21 with a backend parameter, of 0.22 and later without one.
# Both describe the same model in any version.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

cat >old.rs <<'END'
use burn::tensor::{Tensor, backend::Backend};
#[derive(Module, Debug)]
pub struct Act { slope: f64, relu: Relu }
#[derive(Config, Debug)]
pub enum Mode { Fast, Slow }
#[derive(Module, Debug)]
pub struct Block<B: Backend, M> { inner: M, norm: LayerNorm<B>, act: Act }
#[derive(Module, Debug)]
pub enum Head<B: Backend> { Wide(Linear<B>), Flat(nn::conv::Conv2d<B>), None(Relu) }
type Fc<B> = Linear<B>;
#[derive(Module, Debug)]
pub struct Net<B: Backend, const N: usize = 2> {
    fc: Fc<B>,
    layers: Vec<Linear<B>>,
    maybe: Option<Linear<B>>,
    pair: (Linear<B>, LayerNorm<B>),
    array: [Linear<B>; N],
    block: Block<B, Linear<B>>,
    head: Head<B>,
    table: Param<Tensor<B, 2>>,
    freq: Tensor<B, 2>,
    act: Relu,
    own: Act,
    drops: Vec<Dropout>,
    sizes: [usize; 2],
    rate: f64,
    names: Vec<String>,
    mode: Mode,
    none: Option<usize>,
    pad: PaddingConfig2d,
    phantom: PhantomData<B>,
}
END
cat >new.rs <<'END'
use burn::tensor::Tensor;
#[derive(Module, Debug)]
pub struct Act { slope: f64, relu: Relu }
#[derive(Config, Debug)]
pub enum Mode { Fast, Slow }
#[derive(Module, Debug)]
pub struct Block<M> { inner: M, norm: LayerNorm, act: Act }
#[derive(Module, Debug)]
pub enum Head { Wide(Linear), Flat(nn::conv::Conv2d), None(Relu) }
type Fc = Linear;
#[derive(Module, Debug)]
pub struct Net<const N: usize = 2> {
    fc: Fc,
    layers: Vec<Linear>,
    maybe: Option<Linear>,
    pair: (Linear, LayerNorm),
    array: [Linear; N],
    block: Block<Linear>,
    head: Head,
    table: Param<Tensor<2>>,
    freq: Tensor<2>,
    act: Relu,
    own: Act,
    drops: Vec<Dropout>,
    sizes: [usize; 2],
    rate: f64,
    names: Vec<String>,
    #[module(skip)]
    mode: Mode,
    none: Option<usize>,
    #[module(skip)]
    pad: PaddingConfig2d,
    phantom: PhantomData<f32>,
}
END

# linear KEY IN OUT, norm KEY WIDTH
linear() {
    st_tensor "$1.weight" "$3, $2" $(($2 * $3))
    st_tensor "$1.bias" "$3" "$3"
}
norm() {
    st_tensor "$1.weight" "$2" "$2"
    st_tensor "$1.bias" "$2" "$2" 7
}
st_begin
linear fc 3 2
linear layers.0 2 2
linear layers.1 2 1
linear pair.0 2 3
norm pair.1 3
linear array.0 1 2
linear array.1 2 1
linear block.inner 2 2
norm block.norm 2
linear head 2 3
st_tensor table "2, 2" 4
st_end >net.safetensors

for burn in 0.7 0.11 0.12 0.13 0.14 0.18 0.20 0.21 0.22; do
    formats="mpk bin json"
    [ "$burn" = 0.22 ] && formats=bpk
    for format in $formats; do
        for dialect in old new; do
            run convert -y --burn "$burn" --metadata librecord.import= --type "$dialect.rs:Net" net.safetensors "$dialect.$format"
            status_is "Burn $burn, $format, $dialect source" 0
        done
        check "Burn $burn, $format: both are the same" cmp "old.$format" "new.$format"
    done
    run convert -q -y --burn 0.21 --type new.rs:Net "old.${formats#mpk }" again.mpk 2>/dev/null
done
run convert -q -y --type new.rs:Net old.bin again.json
status_is "a file without names is read by new source" 0
check "as the file with names" cmp old.json again.json
run types --check --type new.rs:Net old.bpk
status_is "a Burnpack is of the type" 0
run types --check --type new.rs:Net old.mpk
status_is "so is a record" 0
run convert -q -y --type new.rs:Net old.bpk old.bpk
status_is "in place" 0
check "nothing is lost" cmp new.bpk old.bpk

# `record types` prints the dialect of the file's version, and reads what it prints.
run types new.bpk
status_is "the type of a Burnpack is printed" 0
cp "$scratch/out" printed.rs
check "for Burn 0.22" grep -q 'assumed to be of Burn 0.22' printed.rs
check "without a backend" sh -c '! grep -q "Backend\|<B" printed.rs'
check "with tensors as 0.22 has them" grep -q 'table: Param<Tensor<2>>' printed.rs
check "and modules" grep -q 'fc: nn::Linear,' printed.rs
run types --check --type printed.rs:Model new.bpk
status_is "it is read again" 0
run types old.mpk
check "of a record of 0.21 with a backend" grep -q 'fc: nn::Linear<B>' "$scratch/out"

# what the elements of tensors are, and their rank by a constant
cat >ints.rs <<'END'
#[derive(Module, Debug)]
pub struct Ints<const D: usize> { ids: Param<Tensor<D, Int>>, mask: Param<Tensor<1, Bool>>, w: Param<Tensor<D>> }
END
st_begin
st_entry ids I64 1 8
st_bytes="$st_bytes\\003\\000\\000\\000\\000\\000\\000\\000"
st_entry mask BOOL 1 1
st_bytes="$st_bytes\\001"
st_tensor w 2 2
st_end >ints.safetensors
run convert -q --adapter none --type 'ints.rs:Ints<1>' ints.safetensors ints.mpk
status_is "tensors of integers and bools" 0
run ls ints.mpk
check "are that" grep -q '^ids *i' "$scratch/out"

# Only what is skipped or a primitive is a constant: all else is a module, or a mistake.
cat >wrong.rs <<'END'
#[derive(Module, Debug)]
pub struct Typo { fc: Liner }
#[derive(Module, Debug)]
pub struct Config { fc: Linear, pad: Padding }
#[derive(Module, Debug)]
pub struct Skipped { fc: Linear, #[module(skip)] pad: Padding, map: HashMap<String, Vec<f32>>, text: &'static str }
#[derive(Module, Debug)]
pub struct Loop { next: Option<Box<Loop>>, w: Param<Tensor<1>> }
END
st_begin
linear fc 3 2
st_end >fc.safetensors
transcript "a type that is not there is no constant" <<'END'
$ convert --type wrong.rs:Typo fc.safetensors none.mpk
record: wrong.rs: line 2: Typo: cannot find the type `Liner`
  Did you mean `Linear`?
  Add the Rust file that defines it, or an INI file with [type Liner].
  If it is not a module, mark its field with #[module(skip)], as Burn asks for.
status 2
$ convert --type wrong.rs:Config fc.safetensors none.mpk
record: wrong.rs: line 4: Config: cannot find the type `Padding`
  Add the Rust file that defines it, or an INI file with [type Padding].
  If it is not a module, mark its field with #[module(skip)], as Burn asks for.
status 2
$ convert -q --type wrong.rs:Skipped fc.safetensors skipped.mpk
END
run convert --type wrong.rs:Loop fc.safetensors none.mpk
status_is "a type that contains itself has no layout" 2
check "which is said" grep -q 'A type that contains itself has no layout' "$scratch/err"

# A module of an INI file whose parameters are said to be none is one constant, as before.
cat >constant.ini <<'END'
[module Part<>]
rate = f64
mode = Mode

[type Whole]
fc = Linear
part = Part
END
run convert -q --burn 0.21 --type constant.ini:Whole fc.safetensors whole.json
status_is "an INI file may say that a module has no data" 0
check "which is one constant" grep -q '"part": null' whole.json
finish
