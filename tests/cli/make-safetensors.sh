# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# Makes small safetensors files, as PyTorch's users have them.
#   st_begin; st_tensor KEY SHAPE COUNT [FIRST]...; [st_metadata JSON]; st_end >FILE
# Tensors are f32 and hold FIRST, FIRST + 1, …: whole numbers from 0 to 255.

st_header=
st_bytes=
st_offset=0

# One f32 in printf's octal form: whole numbers from 0 to 255 have their exponent and their bits in the upper half.
st_f32() {
    if [ "$1" = 0 ]; then
        st_bytes="$st_bytes\\000\\000\\000\\000"
        return
    fi
    st_exponent=127
    st_value=$(($1 * 128))
    while [ "$st_value" -ge 256 ]; do
        st_value=$((st_value / 2))
        st_exponent=$((st_exponent + 1))
    done
    # The highest bit of the value is not stored; bits that the halving would lose are taken from the number itself.
    st_bits=$(($1 * 65536 * 128 / (1 << (st_exponent - 127)) - 8388608 + st_exponent * 8388608))
    for st_shift in 1 256 65536 16777216; do
        st_bytes="$st_bytes\\$(printf %03o $((st_bits / st_shift % 256)))"
    done
}

st_begin() {
    st_header=
    st_bytes=
    st_offset=0
}

# st_entry KEY DTYPE SHAPE SIZE: SHAPE as in JSON, `2, 3`
st_entry() {
    st_header="$st_header${st_header:+,}\"$1\":{\"dtype\":\"$2\",\"shape\":[$3],\"data_offsets\":[$st_offset,$((st_offset + $4))]}"
    st_offset=$((st_offset + $4))
}

# st_tensor KEY SHAPE COUNT [FIRST]
st_tensor() {
    st_entry "$1" F32 "$2" $(($3 * 4))
    st_at=0
    while [ "$st_at" -lt "$3" ]; do
        st_f32 $((${4:-1} + st_at))
        st_at=$((st_at + 1))
    done
}

# st_counter KEY: an i64 without dimensions, 7
st_counter() {
    st_entry "$1" I64 "" 8
    st_bytes="$st_bytes\\007\\000\\000\\000\\000\\000\\000\\000"
}

# st_metadata JSON: an object of strings
st_metadata() {
    st_header="$st_header${st_header:+,}\"__metadata__\":$1"
}

st_end() {
    st_header="{$st_header}"
    st_length=$(printf %s "$st_header" | wc -c) # bytes, whatever a character is
    while [ $((st_length % 8)) != 0 ]; do
        st_header="$st_header "
        st_length=$((st_length + 1))
    done
    # shellcheck disable=SC2059
    printf "\\$(printf %03o $((st_length % 256)))\\$(printf %03o $((st_length / 256)))\\000\\000\\000\\000\\000\\000"
    printf %s "$st_header"
    # shellcheck disable=SC2059
    printf "$st_bytes"
}

# torch_net [FIRST]: two layers with a norm between them, as torch.nn names them
torch_net() {
    st_begin
    st_tensor fc1.weight "4, 3" 12 "${1:-1}"
    st_tensor fc1.bias 4 4 20
    st_tensor norm.weight 4 4 30
    st_tensor norm.bias 4 4 40
    st_tensor fc2.weight "2, 4" 8 50
    st_tensor fc2.bias 2 2 60
    st_end
}
