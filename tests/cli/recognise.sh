#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Files that are no records are rejected by name, with what to do; names that are there twice with both places; hints speak of
# Burn only for Burn's formats; NumPy's element types in all their spellings.
# shellcheck disable=SC2016 # what an inner shell expands, or text with backquotes
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
cp 0.18.0/mnist.mpk "$scratch/m.mpk"
cd "$scratch" || exit 99

is() { # WHAT BYTES (for printf) WORDS
    # shellcheck disable=SC2059 # the bytes are a format
    printf "$2" >file
    run ls file
    check "$1 is rejected" [ "$status" = 2 ]
    check "… by name" grep -qF "$3" "$scratch/err"
}
is "a pickle of protocol 0" '(dp0\nVa\np1\nI1\ns.' 'It is a Python pickle'
is "a pickle of protocol 1" '}q\000X\001\000\000\000aK\001s.' 'It is a Python pickle'
for protocol in 2 3 4 5; do
    is "a pickle of protocol $protocol" "\\200\\00$protocol}q\\000X\\001\\000\\000\\000aK\\001s." 'It is a Python pickle'
done
is "a model of ONNX" '\010\010\022\007pytorch\032\0052.1.0:\000' 'It is a model of ONNX'
is "a model of TensorFlow Lite" '\034\000\000\000TFL3\000\000\000\000' 'It is a TensorFlow Lite model'
for magic in lmgg tjgg fmgg algg; do
    is "ggml's $magic" "$magic\\001\\000\\000\\000" 'ggml'
done
is "a map of MessagePack without Burn's keys" '\201\246params\201\241w\307\004\001\000\001\002\003' 'unknown format'
check "… and without a word of Burn" sh -c '! grep -q Burn "$1"' - "$scratch/err"

safetensors() { # HEADER (a multiple of 8 bytes) DATA (for printf)
    # shellcheck disable=SC2059 # the length is a format
    printf "\\$(printf %03o ${#1})\\000\\000\\000\\000\\000\\000\\000"
    printf '%s' "$1"
    head -c "$2" /dev/zero
}
header='{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}     '
safetensors "$header" 8 >twice.safetensors
run ls twice.safetensors
check "a tensor twice, of the same bytes" grep -qF 'byte 62: the header has the tensor `a` twice, at bytes 9 and 62' "$scratch/err"
header='{"__metadata__":{"k":"1","k":"2"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}} '
safetensors "$header" 8 >metadata.safetensors
run ls metadata.safetensors
check "metadata twice" grep -qF 'the metadata key `k` occurs twice, as entries 1 and 2' "$scratch/err"
check "the hint names who read it" grep -q '^  It was read as Safetensors' "$scratch/err"
check "and not Burn" sh -c '! grep -q Burn "$1"' - "$scratch/err"

npy() { # TYPE BYTES
    text=$(printf "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }" "$1")
    printf '\223NUMPY\001\000\166\000%-117s\n' "$text"
    head -c "$2" /dev/zero
}
for case in f4=f32=4 =f4=f32=4 '|u1=u8=1' u1=u8=1 '?=bool=1' b1=bool=1 =i8=i64=8 f2=f16=2 '>f8=f64=8' '<i2=i16=2'; do
    bytes=${case##*=} rest=${case%=*}
    npy "${rest%=*}" "$bytes" >"$scratch/a.npy"
    run ls a.npy
    check "NumPy's ${rest%=*} is ${rest##*=}" grep -q "(root) *${rest##*=} " "$scratch/out"
done
npy '|f4' 4 >a.npy
run ls a.npy
status_is "an order of bytes that several bytes do not have is rejected" 2

# What keeps a file from being written is printed as the system says it, whatever came in between.
sh -c 'ulimit -f 1; trap "" XFSZ; exec "$1" verify --sums write m.mpk' - "$record" >"$scratch/out" 2>"$scratch/err"
status=$?
status_is "sums that cannot be written are an error" 2
check "the reason is the system's" grep -q 'm.mpk.sums: cannot be written: File too large' "$scratch/err"
check "nothing is left" [ ! -e m.mpk.sums ]
finish
