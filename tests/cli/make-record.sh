# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# Makes small records in MessagePack, as Burn 0.21 writes them, for shapes and names that no real file has.
#   record_begin ENTRIES; str NAME; VALUE…; record_end >FILE
# shellcheck disable=SC2154 # $scratch is tap.sh's

record_bytes=

# Everything is kept in printf's octal form until the end: a shell's variables hold no NUL.
byte() {
    record_bytes="$record_bytes\\$(($1 / 64))$(($1 / 8 % 8))$(($1 % 8))"
}

str() { # at most 255 bytes
    case $1 in
        *[!A-Za-z0-9_.-]*)
            str_length=$(printf %s "$1" | wc -c)
            str_bytes=$(printf %s "$1" | od -An -v -t o1 | tr -d '\n' | sed 's/ /\\/g')
            ;;
        *) # needs no process
            str_length=${#1}
            str_bytes=$1
            ;;
    esac
    if [ "$str_length" -lt 32 ]; then
        byte $((160 + str_length))
    else
        byte 217
        byte "$str_length"
    fi
    record_bytes="$record_bytes$str_bytes"
}

map() { # fewer than 65,536
    if [ "$1" -lt 16 ]; then
        byte $((128 + $1))
    else
        byte 222
        byte $(($1 / 256))
        byte $(($1 % 256))
    fi
}

list() { # fewer than 16
    byte $((144 + $1))
}

# tensor ROWS COLUMNS: f32, all zeros, fewer than 64 elements
tensor() {
    map 3
    str bytes
    byte 196
    byte $(($1 * $2 * 4))
    tensor_left=$(($1 * $2))
    while [ "$tensor_left" -gt 0 ]; do
        record_bytes="$record_bytes\\000\\000\\000\\000"
        tensor_left=$((tensor_left - 1))
    done
    str shape
    list 2
    byte "$1"
    byte "$2"
    str dtype
    str F32
}

record_begin() { # ENTRIES of the item
    record_bytes=
    map 3
    str metadata
    map 5
    for record_field in float f32 int i32 format NamedMpk version 0.21.0 settings FullPrecisionSettings; do
        str "$record_field"
    done
    str item
    map "$1"
}

record_end() {
    str _b
    list 0
    # shellcheck disable=SC2059
    printf "$record_bytes"
}

# many_tensors COUNT (a multiple of 1,000): m.0.w to m.COUNT-1.w, each f32 [32]
many_tensors() {
    record_begin 1
    str m
    byte 221
    for many_shift in 16777216 65536 256 1; do
        byte $(($1 / many_shift % 256))
    done
    # shellcheck disable=SC2059
    printf "$record_bytes"
    record_bytes=
    map 1
    str w
    map 3
    str bytes
    byte 196
    byte 128
    many_left=32
    while [ "$many_left" -gt 0 ]; do
        record_bytes="${record_bytes}aaaa"
        many_left=$((many_left - 1))
    done
    str shape
    list 1
    byte 32
    str dtype
    str F32
    # shellcheck disable=SC2059
    printf "$record_bytes" >"$scratch/one"
    many_left=$1
    : >"$scratch/block"
    # A thousand at a time, so that it does not take a process each.
    for _ in 1 2 3 4 5 6 7 8 9 10; do cat "$scratch/one" >>"$scratch/block"; done
    for _ in 1 2; do
        cp "$scratch/block" "$scratch/smaller"
        : >"$scratch/block"
        for _ in 1 2 3 4 5 6 7 8 9 10; do cat "$scratch/smaller" >>"$scratch/block"; done
    done
    while [ "$many_left" -ge 1000 ]; do
        cat "$scratch/block"
        many_left=$((many_left - 1000))
    done
    record_bytes=
    record_end
}
