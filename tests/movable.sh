# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154 # variables of tap.sh, make check and those who read this
# For tests of a `record` in another place: 7 files, converted to 8 formats by the build and by that command without any
# environment variable. To be read after tap.sh.

movable_data=$srcdir/tests/data
movable_shared=${LIBRECORD_SHARED:-$srcdir/../shared}/data
# movable_file OF-SHARED OF-TREE: the first that exists
movable_file() {
    if [ -e "$movable_shared/$1" ]; then
        echo "$movable_shared/$1"
    else
        echo "$movable_data/$2"
    fi
}
movable_files() {
    movable_file safetensors/mnist.safetensors burn/0.21.0/zoo-full.mpk
    movable_file safetensors/multi_layer.safetensors burn/0.21.0/tiny-full.mpk
    movable_file burn/burn_dino/face_pca-0.15.mpk burn/0.21.0/adam-full.mpk
    movable_file burn/burn_dino/person_pca-0.15.mpk burn/0.21.0/adam-double.mpk
    movable_file burn/cherry-lip-sync/model.pt burn/0.21.0/adam-full.json
    movable_file burn/cherry-lip-sync/melbank.pt burn/0.21.0/adam-half.json.gz
    movable_file families/gru/gru.safetensors burn/0.21.0/composed-double.json.gz
}
movable_first=$(movable_files | head -n 1)

# ISA-L and zlib compress to different bytes: a command that may have the other one sets this to mpk.zst.
movable_gzip=mpk.gz

# movable_all DIRECTORY COMMAND...: N.FORMAT and N.FORMAT.said for each file and format
movable_all() {
    movable_to=$1
    shift
    mkdir -p "$movable_to"
    movable_number=0
    movable_files >"$scratch/files"
    while read -r movable_from; do
        movable_number=$((movable_number + 1))
        for movable_format in mpk json bpk safetensors npz gguf "$movable_gzip" pt; do
            movable_out=$movable_to/$movable_number.$movable_format
            "$@" convert -q --option sync=no "$movable_from" "$movable_out" >"$movable_out.said" 2>&1 </dev/null ||
                echo "status $?" >>"$movable_out.said"
            sed "s|$movable_to/||g" "$movable_out.said" >"$movable_out.words" && rm "$movable_out.said"
        done
    done <"$scratch/files"
}

# movable_expect: what the build makes, in $scratch/expected
movable_expect() {
    movable_all "$scratch/expected" "$RECORD"
    # A file that needs an option, such as a type, fails for each command in the same words.
    check "the build converts files" test "$(find "$scratch/expected" -type f ! -name '*.words' | wc -l)" -ge 40
}

# movable_check COMMAND...: the command makes the same
movable_check() {
    movable_all "$scratch/found" env -i "$@"
    check "7 files become 8 formats, byte for byte" diff -r "$scratch/expected" "$scratch/found"
}
