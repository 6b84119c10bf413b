# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# Makes small safetensors files, as PyTorch's users have them.
#   st_begin; st_tensor KEY SHAPE COUNT [FIRST]...; [st_metadata JSON]; st_end >FILE
# Tensors are f32 and hold FIRST, FIRST + 1, …

st_header=
st_bytes=
st_offset=0

# st_octal NUMBER: adds a byte in printf's octal form. A model has thousands: no process is started for one.
st_octal() {
    st_bytes="$st_bytes\\$(($1 / 64))$(($1 / 8 % 8))$(($1 % 8))"
}

# st_f32 NUMBER: a whole number below 2^24
st_f32() {
    st_bits=0
    if [ "$1" != 0 ]; then
        st_exponent=0
        while [ $(($1 >> st_exponent)) -gt 1 ]; do
            st_exponent=$((st_exponent + 1))
        done
        # The highest bit of the number is not stored.
        st_bits=$(((127 + st_exponent) * 8388608 + ($1 * 8388608 >> st_exponent) - 8388608))
    fi
    for st_shift in 0 8 16 24; do
        st_octal $((st_bits >> st_shift & 255))
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
