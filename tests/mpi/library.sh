#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# librecord-mpi from a program (tests/mpi/library.c): what each of 1, 2, 3, 4 and 7 ranks loads is its part of the whole; what they save
# together, in parts, is the file that one process makes; and what is wrong on one rank ends all, in the same words.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/mpi/mpi.sh
. "${srcdir:=.}/tests/mpi/mpi.sh"
library=${tools%/*}/tests/mpi/library
library_directory=${library%/*}

# with N ARGUMENT...: leaves $status, $scratch/out and $scratch/err; no hang
with() {
    with_n=$1
    shift
    timeout -k 60 600 "$mpirun" -n "$with_n" "$library" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
}

# good NAME N ARGUMENT...
good() {
    good_name=$1
    shift
    with "$@"
    if [ "$status" = 0 ]; then
        ok "$good_name"
    else
        cat "$scratch/out" >>"$scratch/err"
        not_ok "$good_name" "$scratch/err"
    fi
}

# refused NAME WORDS N ARGUMENT...: said once, by rank 0, in words that all have
refused() {
    refused_name=$1 refused_words=$2
    shift 2
    with "$@"
    if [ "$status" = 1 ] && [ "$(grep -c -e "$refused_words" "$scratch/out")" = 1 ]; then
        ok "$refused_name"
    else
        echo "status $status, expected: $refused_words" >>"$scratch/err"
        cat "$scratch/out" >>"$scratch/err"
        not_ok "$refused_name" "$scratch/err"
    fi
}

good "a model is made" 1 make model.mpk
for type in safetensors json bpk mpk.gz; do
    good "as .$type" 1 save model.mpk keep "model.$type" keep
done

# ------------------------------------------------------------------------------------------------------------- loading

for n in 1 2 3 4 7; do
    good "$n ranks load their parts" "$n" share model.mpk keep 0
    good "$n ranks at half precision, nothing sent" "$n" share model.mpk half 18446744073709551615
done
good "everything small and large is sent" 3 share model.mpk keep 100000000
for type in safetensors json bpk mpk.gz; do
    good "parts of a .$type" 3 share "model.$type" double 0
done
LIBRARY_SET=map=no
export LIBRARY_SET
good "parts of a file that is not mapped" 3 share model.mpk keep 0
good "and of one that is converted" 3 share model.mpk half 0
LIBRARY_SET='module=(wide|far) => Linear'
good "parts of tensors that are transposed while they are read" 3 share model.safetensors keep 0
unset LIBRARY_SET
refused "a file that is not there" "REC_E_NOT_FOUND: rank 0 (.*): .*gone.mpk" 3 share gone.mpk keep 0

for case in 'apart|REC_E_MISMATCH: rank 1 (.*): where tensors go: wide.weight (f32 \[1100, 1001\], in 3 parts along dimension 1) here, .*dimension 0) on rank 0' \
    'parts|REC_E_ARGUMENT: rank 0 (.*): wide.weight: it is split into 2 parts, of which this rank has number 2' \
    'dimension|REC_E_ARGUMENT: rank 0 (.*): wide.weight: it is split along dimension 2, and its shape is \[1100, 1001\]' \
    'owner|REC_E_ARGUMENT: rank 0 (.*): wide.weight: it is placed on rank 3 of 3' \
    'how|REC_E_ARGUMENT: rank 0 (.*): wide.weight: its place has an unknown .how. (9)' \
    'function|REC_E_CANCELLED: rank 1 (.*): wide.weight: the program.s function for its place failed (REC_E_CANCELLED)'; do
    refused "placed badly: ${case%%|*}" "${case#*|}" 3 placing "${case%%|*}" model.mpk
done
refused "a tensor without dimensions cannot be split" "REC_E_ARGUMENT: .*: one: it is split along dimension 0, and its shape is \[\]" \
    2 placing split model.mpk
quantised=$srcdir/tests/data/burn/0.21.0/quantised-full.mpk
if [ -e "$quantised" ]; then
    refused "nor can a quantised one" "REC_E_UNSUPPORTED: .*a tensor of .* cannot be split: its elements are encoded" \
        2 placing split "$quantised"
fi

# -------------------------------------------------------------------------------------------------------------- saving

# saved N IN PRECISION TYPE PRECISION
saved() {
    with 1 save "$2" "$3" "one.$4" "$5"
    saved_one=$status
    rm -f "out.$4"
    with "$1" round "$2" "$3" "out.$4" "$5"
    if [ "$status$saved_one" = 00 ] && cmp "one.$4" "out.$4" >>"$scratch/err"; then
        ok "$1 ranks save $2 at $3 as .$4 at $5"
    else
        cat "$scratch/out" >>"$scratch/err"
        not_ok "$1 ranks save $2 at $3 as .$4 at $5" "$scratch/err"
    fi
}
for n in 1 2 3 4 7; do
    saved "$n" model.mpk keep mpk keep
done
for type in mpk.gz json json.gz safetensors bpk pt npz mpk.zst; do
    saved 3 model.mpk keep "$type" keep
done
saved 2 model.safetensors keep safetensors half
saved 3 model.json full mpk half
saved 4 model.mpk.gz half bpk double
saved 3 model.bpk keep safetensors keep

# What Burn wrote: optimizers, layouts of old, all kinds of values.
for file in 0.21.0/adam-full 0.21.0/composed-half 0.21.0/zoo-double 0.13.2/zoo-full; do
    cp "$srcdir/tests/data/burn/$file.mpk" "burn.mpk" || exit 99
    saved 2 burn.mpk keep mpk keep
done

for n in 1 2 3 4 7; do
    for type in mpk safetensors pt; do
        good "the whole of a record that is built, as .$type" 1 whole "built.$type" "$n"
        rm -f "out.$type"
        good "what $n ranks built" "$n" built "out.$type"
        check "is the same" cmp "built.$type" "out.$type"
    done
done

for type in mpk safetensors; do
    cp "model.$type" "again.$type"
    good "a .$type that is saved over is loaded anew" 2 again "again.$type"
done

# ---------------------------------------------------------------------------------------------------- what goes wrong

echo "the old file" >old.mpk
untouched() {
    cp old.mpk out.mpk
    refused "$@" out.mpk
    check "the old file is as it was" cmp old.mpk out.mpk
}
untouched "parts that overlap" \
    'REC_E_MISMATCH: rank 1 (.*): w: parts overlap: expected none of indices 0 to before 3, which rank 0 (.*) has; found indices 2 to before 6 of dimension 1 of \[4, 6\]' \
    2 saving overlap
untouched "a hole" 'REC_E_MISMATCH: rank 0 (.*): w: expected indices 3 to before 4 of dimension 1 of \[4, 6\] on some rank; found on none' 2 saving hole
untouched "another dimension" \
    'REC_E_MISMATCH: rank 1 (.*): w: expected parts along dimension 1, as on rank 0 (.*); found indices 1 to before 4 of dimension 0' 2 saving dimension
untouched "another type" \
    'REC_E_MISMATCH: rank 1 (.*): w: expected a tensor of f32 \[4, 6\], as on rank 0 (.*); found a tensor of f16 \[4, 6\]' 2 saving type
untouched "another shape" \
    'REC_E_MISMATCH: rank 1 (.*): w: expected a tensor of f32 \[4, 6\], as on rank 0 (.*); found a tensor of f32 \[4, 7\]' 2 saving shape
untouched "what the table does not say" \
    'REC_E_MISMATCH: rank 1 (.*): w: expected indices 3 to before 6 of dimension 1 of \[4, 6\], found a tensor of the shape \[4, 2\]' 2 saving slice
untouched "a tensor that is not there" 'REC_E_MISMATCH: rank 1 (.*): gone: expected a tensor, as the table of slices says; found none' 2 saving gone
untouched "a tensor that nobody has" 'REC_E_MISMATCH: rank 0 (.*): w: expected a tensor on some rank, as the table of slices says; found none on any' \
    2 saving nobody
untouched "another value" 'REC_E_MISMATCH: rank 1 (.*): step: expected 1, as on rank 0 (.*); found 2$' 2 saving scalar
untouched "a value where another rank has a tensor" \
    'REC_E_MISMATCH: rank 1 (.*): w: expected a tensor, as on rank 0 (.*); found 3$' 2 saving kind
untouched "a value where another rank has a map" \
    'REC_E_MISMATCH: rank 0 (.*): a: a value on one rank, and on another a list or a map' 2 saving structure
untouched "other metadata" 'REC_E_MISMATCH: rank 1 (.*): metadata: expected author = A, as on rank 0 (.*); found author = B' 2 saving metadata
untouched "no memory on one rank" 'REC_E_MEMORY: rank 1 (.*)' 3 saving memory
untouched "a tensor that one rank cannot read" 'REC_E_IO: rank [01] (.*): w: .*Input/output error' 2 saving unread
untouched "a key that one rank lacks, of a record that was loaded" \
    'REC_E_MISMATCH: rank 1 (.*): epoch: expected this key, as in the record of rank 0' 3 keys model.mpk
refused "a folder that there is not" "REC_E_[A-Z_]*: rank 0 (.*): .*nowhere" 2 round model.mpk keep nowhere/out.mpk keep

with 2 arguments
printf 'REC_E_ARGUMENT: rank %s (HOST): %s: an argument is invalid\n' 1 rec_mpi_load 0 rec_mpi_share 0 rec_mpi_save_share 0 rec_mpi_convert >expected
sed 's/(.*)/(HOST)/' "$scratch/out" >found
same "arguments that make no sense" expected found
check "in the end all is well" [ "$status" = 0 ]

# ---------------------------------------------------------------------------------------------------------- converting

# converted N IN PRECISION TYPE PRECISION
converted() {
    with 1 one "$2" "$3" "one.$4" "$5"
    converted_one=$status
    rm -f "out.$4"
    with "$1" convert "$2" "$3" "out.$4" "$5"
    if [ "$status$converted_one" = 00 ] && cmp "one.$4" "out.$4" >>"$scratch/err"; then
        ok "$1 ranks convert $2 at $3 to .$4 at $5"
    else
        cat "$scratch/out" >>"$scratch/err"
        not_ok "$1 ranks convert $2 at $3 to .$4 at $5" "$scratch/err"
    fi
}
tiny=$srcdir/tests/data/burn/0.21.0/tiny-full.mpk
weights=$srcdir/examples/weights.safetensors
for n in 1 3; do
    converted "$n" model.mpk keep bpk half
    converted "$n" "$tiny" keep safetensors keep
    converted "$n" "$tiny" keep mpk.gz half
    converted "$n" "$weights" keep mpk full
    converted "$n" "$weights" keep safetensors half
    converted "$n" "$weights" keep pt keep
done
refused "to convert what is not there" "REC_E_NOT_FOUND: rank 0 (.*): .*gone.mpk" 2 convert gone.mpk keep out.mpk keep

# ------------------------------------------------------------------------------------------------------ the example

python3 - <<'END'
import json, struct
header, data = {}, b""
for key, shape in (("up.weight", [3, 8]), ("down.weight", [8, 3])):
    raw = struct.pack("<24f", *((i * 7 % 11 - 5) / 8 for i in range(24)))
    header[key] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
    data += raw
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
open("two.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)
up, down = ([(i * 7 % 11 - 5) / 8 for i in range(24)],) * 2
between = [max(0, sum(i * up[i * 8 + k] for i in range(3))) for k in range(8)]
to = [sum(between[i] * down[i * 3 + k] for i in range(8)) for k in range(3)]
open("two.expected", "w").write("%g %g\n" % (to[0], to[2]))
END
"$record" convert -q --adapter none two.safetensors two.mpk || exit 99
for n in 1 2 3 4; do
    rm -f out.mpk
    timeout -k 60 600 "$mpirun" -n "$n" "$library_directory/parallel" two.mpk out.mpk >"$scratch/out" 2>"$scratch/err" </dev/null
    same "the example by $n ranks" two.expected "$scratch/out"
    check "it saves what it loaded" cmp two.mpk out.mpk
done

# The examples of the manual's section 3.
mkdir -p manual
for n in 1 3; do
    (cd manual && timeout -k 60 600 "$mpirun" -n "$n" "$library_directory/manual") >"$scratch/out" 2>&1 </dev/null
    check "the manual's examples by $n ranks" [ $? = 0 ]
done

# A rank that sees another file.
mkdir -p elsewhere
cp -p model.mpk elsewhere
printf x >>elsewhere/model.mpk
cat >apart <<'END'
#!/bin/sh
if [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 1 ]; then
    cd elsewhere
fi
exec "$@"
END
chmod +x apart
# apart NAME ARGUMENT...
apart() {
    apart_name=$1
    shift
    timeout -k 60 600 "$mpirun" -n 3 ./apart "$library" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    ranks_have_ended
    if [ "$status" = 1 ] && grep -q 'REC_E_MISMATCH: rank 1 (.*): model.mpk: .* bytes of .* here, .* on rank 0' "$scratch/out"; then
        ok "$apart_name"
    else
        echo "status $status" >>"$scratch/err"
        cat "$scratch/out" >>"$scratch/err"
        not_ok "$apart_name" "$scratch/err"
    fi
}
apart "a rank that loads another file" share model.mpk keep 0
apart "that converts another file" convert model.mpk keep out.mpk keep
finish
