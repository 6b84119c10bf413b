#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# GGUF: read and written to the byte, blocks as numbers where a precision is asked for, models in several files, what it cannot
# hold refused or told, and Llama both ways. tests/interop/gguf_files.py made the golden files with llama.cpp's own package.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
top=$(pwd)/../../..
golden=$top/tests/data/gguf
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

# 1. What was read is written as it was, metadata with their types included.
run convert -q "$golden/types.gguf" same.gguf
check "GGUF to GGUF is the same file" cmp "$golden/types.gguf" same.gguf

# 2. At a precision blocks are the numbers that llama.cpp's package makes of them, and no others become anything else.
drop='drop = IQ1|IQ2|TQ1|plain\.(f64|i)'
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
run convert --adapter none --precision full "$golden/types.gguf" carried.mpk
status_is "what nobody can decode is carried" 0
check "… and told" grep -q 'Burn has no element type IQ1_S' "$scratch/err"

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

finish
