#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The profile flax: variables of a Flax model become a record and come back. The expected values follow from the
# definition of the layouts: Dense [in, out] as in Burn, convolutions WIO and HWIO, attention by heads.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

# model [METADATA]
model() {
    st_begin
    st_tensor params.Conv_0.kernel "3, 2, 2, 4" 48 1
    st_tensor params.Conv_0.bias 4 4 50
    st_tensor params.BatchNorm_0.scale 4 4 60
    st_tensor params.BatchNorm_0.bias 4 4 64
    st_tensor batch_stats.BatchNorm_0.mean 4 4 68
    st_tensor batch_stats.BatchNorm_0.var 4 4 72
    st_tensor params.down.kernel "5, 2, 3" 30 80
    st_tensor params.Dense_0.kernel "4, 3" 12 110
    st_tensor params.Dense_0.bias 3 3 122
    st_tensor params.Embed_0.embedding "5, 4" 20 130
    st_tensor params.encoder.ln1.scale 4 4 150
    st_tensor params.encoder.ln1.bias 4 4 154
    for part in query key value; do
        st_tensor params.SelfAttention_0.$part.kernel "4, 2, 3" 24 160
        st_tensor params.SelfAttention_0.$part.bias "2, 3" 6 190
    done
    st_tensor params.SelfAttention_0.out.kernel "2, 3, 4" 24 200
    st_tensor params.SelfAttention_0.out.bias 4 4 230
    [ $# = 0 ] || st_metadata "$1"
    st_end
}

# values FILE KEY: the elements in a line
values() {
    "$record" show --all "$1" "$2" | sed 's/ *f32 .*//' | tr -c '0-9.\n' ' ' | tr -s ' ' '\n' |
        sed -e '/^$/d' -e 's/\.0*$//' | tr '\n' ' '
}

# has NAME FILE KEY EXPECTED
has() {
    values "$2" "$3" >got
    echo "$4" | tr -s ' \n' ' ' >expected
    same "$1" expected got
}

# HWIO to OIHW, by the definition
oihw() { # H W I O FIRST
    awk -v h="$1" -v w="$2" -v i="$3" -v o="$4" -v first="$5" 'BEGIN {
        for (a = 0; a < o; a++) for (b = 0; b < i; b++) for (c = 0; c < h; c++) for (d = 0; d < w; d++)
            printf "%d ", first + ((c * w + d) * i + b) * o + a
    }'
}

model >m.safetensors
run convert -q --profile flax m.safetensors m.mpk
status_is "a model is converted" 0
has "Conv: HWIO becomes OIHW" m.mpk Conv_0.weight "$(oihw 3 2 2 4 1)"
has "a convolution of one axis: WIO becomes OIW" m.mpk down.weight "$(oihw 5 1 2 3 80)"
has "Dense: [in, out], as Burn's Linear" m.mpk Dense_0.weight "$(seq 110 121)"
has "BatchNorm: scale" m.mpk BatchNorm_0.gamma "60 61 62 63"
has "BatchNorm: bias" m.mpk BatchNorm_0.beta "64 65 66 67"
has "BatchNorm: mean" m.mpk BatchNorm_0.running_mean "68 69 70 71"
has "BatchNorm: var" m.mpk BatchNorm_0.running_var "72 73 74 75"
has "LayerNorm" m.mpk encoder.ln1.beta "154 155 156 157"
has "Embed" m.mpk Embed_0.weight "$(seq 130 149)"
has "attention: the kernel's heads become one axis" m.mpk SelfAttention_0.query.weight "$(seq 160 183)"
has "attention: out is Burn's output" m.mpk SelfAttention_0.output.weight "$(seq 200 223)"
"$record" ls --all m.mpk >shapes
check "attention: shapes" grep -q 'SelfAttention_0.query.weight .*\[4, 6\]' shapes
check "attention: shape of output" grep -q 'SelfAttention_0.output.weight .*\[6, 4\]' shapes

run convert -q --reverse m.mpk back.safetensors
status_is "an import comes back" 0
run diff m.safetensors back.safetensors
status_is "as it was" 0
run convert -q --metadata librecord.import= m.mpk bare.mpk
run convert -q --reverse --profile flax --set heads=2 bare.mpk other.safetensors
status_is "a record that nobody imported goes back with its number of heads" 0
run diff m.safetensors other.safetensors
status_is "to the same" 0
run info other.safetensors
check "the file says whose layout it has" grep -q 'format = flax' "$scratch/out"
run convert -q --reverse --profile flax bare.mpk none.safetensors
status_is "without the number it is an error" 2
check "that names it" grep -q 'the number .heads. is missing' "$scratch/err"

model '{"format":"flax"}' >marked.safetensors
run convert -q marked.safetensors marked.mpk
status_is "a file that says so needs no option" 0
run diff m.mpk marked.mpk
status_is "and becomes the same" 0
run convert -q --adapter foreign marked.safetensors raw.mpk
has "adapter foreign changes nothing" raw.mpk params.Conv_0.kernel "$(seq 1 48)"

cat >model.rs <<'END'
#[derive(Module)]
pub struct Model<B: Backend> {
    Conv_0: Conv2d<B>, BatchNorm_0: BatchNorm<B>, down: Conv1d<B>, Dense_0: Linear<B>, Embed_0: Embedding<B>,
    encoder: Encoder<B>, SelfAttention_0: MultiHeadAttention<B>,
}
#[derive(Module)]
pub struct Encoder<B: Backend> { ln1: LayerNorm<B> }
END
run convert -q --profile flax --type model.rs:Model m.safetensors typed.mpk
status_is "with a type" 0
has "the same values" typed.mpk Conv_0.weight "$(oihw 3 2 2 4 1)"

st_begin
st_tensor params.ConvTranspose_0.kernel "3, 3, 2, 4" 72 1
st_end >mirrored.safetensors
run convert -q --profile flax mirrored.safetensors mirrored.mpk
status_is "a transposed convolution is an error" 2

finish
