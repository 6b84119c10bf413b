#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The rules transpose, permute and reshape with both shapes, with and without a type, and backwards: the expected
# values are computed from the definition, not by librecord.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

# permuted AXES SIZES: the numbers 1, 2, … of a tensor of the sizes, in the order of the permuted tensor
permuted() {
    awk -v axes="$1" -v sizes="$2" 'BEGIN {
        n = split(axes, axis, " "); split(sizes, size, " "); stride[n] = 1
        for (i = n - 1; i >= 1; i--) stride[i] = stride[i + 1] * size[i + 1]
        total = stride[1] * size[1]
        for (at = 0; at < total; at++) {
            rest = at; from = 0
            for (i = n; i >= 1; i--) {
                length_ = size[axis[i] + 1]
                from += (rest % length_) * stride[axis[i] + 1]
                rest = int(rest / length_)
            }
            print from + 1
        }
    }'
}

# numbers FILE KEY: a tensor, one number a line
numbers() {
    "$record" show --all "$1" "$2" | sed 's/ *f32 .*//' | tr -c '0-9.\n' ' ' | tr -s ' ' '\n' | sed -e '/^$/d' -e 's/\.0*$//'
}

st_begin
st_tensor conv.kernel "3, 2, 4, 5" 120 1
st_tensor dense.kernel "3, 4" 12 1
st_tensor query.kernel "3, 2, 4" 24 1
st_end >in.safetensors

cat >rules.ini <<'END'
[profile turned]
adapter = none
permute = ^conv\.weight$ | 3 2 0 1
transpose = ^dense\.weight$
reshape = ^query\.weight$ | [n, H, -1] to [n, -1]
rename = kernel$ => weight
END
run convert -q --profile rules.ini in.safetensors out.mpk
status_is "without a type" 0
numbers out.mpk conv.weight >got
permuted "3 2 0 1" "3 2 4 5" >expected
same "permute: element by element" expected got
numbers out.mpk dense.weight >got
permuted "1 0" "3 4" >expected
same "transpose: element by element" expected got
run ls out.mpk
grep -c 'conv.weight .*\[5, 4, 3, 2\]\|dense.weight .*\[4, 3\]\|query.weight .*\[3, 8\]' "$scratch/out" >got
echo 3 >expected
same "the shapes" expected got

cat >model.rs <<'END'
#[derive(Module)]
pub struct Model<B: Backend> { conv: Kernel<B, 4>, dense: Kernel<B, 2>, query: Kernel<B, 2> }
#[derive(Module)]
pub struct Kernel<B: Backend, const D: usize> { weight: Param<Tensor<B, D>> }
END
run convert -q --profile rules.ini --type model.rs:Model in.safetensors typed.mpk
status_is "with a type" 0
run diff out.mpk typed.mpk
status_is "the same as without one" 0

run convert -q --reverse --profile rules.ini out.mpk back.safetensors
status_is "backwards" 0
run diff in.safetensors back.safetensors
status_is "gives the file" 0
run convert -q --metadata librecord.import= out.mpk bare.mpk
run convert -q --reverse --profile rules.ini bare.mpk none.safetensors
status_is "a length that neither a tensor nor the import shows must be given" 2
check "the message names it" grep -q 'the number .H. is missing' "$scratch/err"

run plan --profile rules.ini --rule 'permute = query | 1 0 2' in.safetensors
check "a rule for another number of axes matches nothing" grep -q 'matched nothing' "$scratch/out"

finish
