#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# GGUF: read and written to the byte, blocks as numbers where a precision is asked for, models in several files, what it cannot
# hold refused or told, and Llama both ways. tests/interop/gguf_files.py made the golden files with llama.cpp's own package.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
top=$(pwd)/../../..
golden=$top/tests/data/gguf
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

# 1. What was read is written as it was, metadata with their types included.
run convert -q "$golden/types.gguf" same.gguf
check "GGUF to GGUF is the same file" cmp "$golden/types.gguf" same.gguf

# 2. At a precision blocks are the numbers that llama.cpp's package makes of them, and no others become anything else.
drop='drop = plain\.(f64|i)'
run convert -q --adapter none --precision full --rule "$drop" "$golden/types.gguf" full.safetensors
status_is "blocks become numbers" 0
data_of() { # FILE.safetensors: what stands behind its header
    tail -c +$((9 + $(od -An -tu8 -N8 "$1"))) "$1"
}
data_of full.safetensors >found
data_of "$golden/types.numbers.safetensors" >expected
check "they are the numbers of llama.cpp's package" cmp expected found
run convert -q --adapter none --rule "$drop" "$golden/types.gguf" kept.mpk
status_is "kept, they are refused where Burn is to read them" 2
check "… with what to do" grep -q 'Convert to a precision' "$scratch/err"
check "… and nothing is written" test ! -e kept.mpk
run convert --adapter none --precision full "$golden/types.gguf" full.mpk
status_is "at a precision every kind of block becomes numbers" 0
if grep -q 'no element type' "$scratch/err"; then
    not_ok "… and no note says that one stays encoded" "$scratch/err"
else
    ok "… and no note says that one stays encoded"
fi

run show "$golden/types.gguf" 'blocks.IQ3_S[1, :2]'
check "show prints the numbers of blocks" grep -qxF '[-46294.875,  46294.875]          IQ3_S [2]' "$scratch/out"
run show --json "$golden/types.gguf" 'blocks.IQ3_S[1, :2]'
check "… and writes them as JSON" grep -qF '"values": [-46294.875, 46294.875]' "$scratch/out"

# 3. A model in several files.
run ls "$golden/split-00001-of-00003.gguf"
check "the first part loads the whole" grep -q '^5 tensors, 15 parameters' "$scratch/out"
run convert -q "$golden/split-00001-of-00003.gguf" whole.gguf
check "what is written of it is no part any more" sh -c '! grep -q split.count whole.gguf'
cp "$golden/split-00001-of-00003.gguf" "$golden/split-00003-of-00003.gguf" .
run ls split-00001-of-00003.gguf
status_is "a part that is missing is an error" 2
check "… named" grep -q 'split-00002-of-00003.gguf' "$scratch/err"
cp "$golden/split-00003-of-00003.gguf" split-00002-of-00003.gguf
run ls split-00001-of-00003.gguf
check "so is one in another's place" grep -q 'part 3 of 3 where 2 of 3 was expected' "$scratch/err"
run ls "$golden/split-00002-of-00003.gguf"
check "a part alone is told as one" grep -q 'part 2 of a model in 3 parts' "$scratch/err"

# 4. What it does not hold.
run convert -q "$data/0.21.0/adam-full.mpk" adam.gguf
status_is "an optimizer's numbers are refused" 2
check "… in words" grep -q 'GGUF holds tensors and metadata' "$scratch/err"
check "… and nothing is written" test ! -e adam.gguf

# 5. A record of Burn stays one: its layout is marked, and is not taken for PyTorch's when it comes back.
run convert "$data/0.18.0/mnist.mpk" mnist.gguf
status_is "a record is written" 0
check "ids that are left out are told" grep -q 'the ids of' "$scratch/err"
run convert -q --option record=no mnist.gguf again.safetensors
run convert -q --option record=no "$data/0.18.0/mnist.mpk" mnist.safetensors
check "it comes back as it was" cmp again.safetensors mnist.safetensors

# 6. Qwen3 by llama.cpp's names is Qwen3 by Hugging Face's, both ways.
# qwen3 EMBED NORM QUERY KEY VALUE OUT QNORM KNORM POST GATE UP DOWN LAST: a small one under these names
qwen3() {
    st_begin
    st_tensor "$1" 6,4 24 1
    st_tensor "$2" 4 4 2
    st_tensor "$3" 8,4 32 3
    st_tensor "$4" 4,4 16 4
    st_tensor "$5" 4,4 16 5
    st_tensor "$6" 4,8 32 6
    st_tensor "$7" 2 2 7
    st_tensor "$8" 2 2 8
    st_tensor "$9" 4 4 9
    shift 9
    st_tensor "$1" 3,4 12 10
    st_tensor "$2" 3,4 12 11
    st_tensor "$3" 4,3 12 12
    st_tensor "$4" 4 4 13
    st_end
}
b=blk.0
l=model.layers.0
qwen3 token_embd.weight $b.attn_norm.weight $b.attn_q.weight $b.attn_k.weight $b.attn_v.weight $b.attn_output.weight \
    $b.attn_q_norm.weight $b.attn_k_norm.weight $b.ffn_norm.weight $b.ffn_gate.weight $b.ffn_up.weight $b.ffn_down.weight \
    output_norm.weight >llama.safetensors
qwen3 model.embed_tokens.weight $l.input_layernorm.weight $l.self_attn.q_proj.weight $l.self_attn.k_proj.weight \
    $l.self_attn.v_proj.weight $l.self_attn.o_proj.weight $l.self_attn.q_norm.weight $l.self_attn.k_norm.weight \
    $l.post_attention_layernorm.weight $l.mlp.gate_proj.weight $l.mlp.up_proj.weight $l.mlp.down_proj.weight \
    model.norm.weight >hf.safetensors
run convert -q --adapter none llama.safetensors qwen3.gguf
status_is "a model under llama.cpp's names" 0
run convert -q --adapter none qwen3.gguf plain.safetensors
for profile in qwen3-split:qwen3-gguf-split qwen3:qwen3-gguf; do
    run convert -q --set H=4 --set K=2 --option record=no --profile "${profile#*:}" qwen3.gguf "one.safetensors"
    status_is "${profile#*:} imports it" 0
    run convert -q --set H=4 --set K=2 --option record=no --profile "${profile%:*}" hf.safetensors "two.safetensors"
    status_is "${profile%:*} the other" 0
    check "they are the same" cmp one.safetensors two.safetensors
    run convert -q --profile "${profile#*:}" qwen3.gguf one.mpk
    run convert -q --set H=4 --set K=2 --reverse --profile "${profile#*:}" one.mpk back.gguf
    status_is "${profile#*:} goes back" 0
    run convert -q --adapter none back.gguf back.safetensors
    check "to what came" cmp back.safetensors plain.safetensors
done

run convert -y --adapter none "$srcdir/tests/data/gguf/types.gguf" types.safetensors
check "tensors that others see as bytes are counted" \
    grep -q 'tensors of .*: stored as bytes, which other programs see as U8' "$scratch/err"
run convert -y --adapter none --precision full "$srcdir/tests/data/gguf/types.gguf" types.safetensors
check "numbers get no note" [ "$(grep -c 'stored as bytes' "$scratch/err")" = 0 ]

finish
