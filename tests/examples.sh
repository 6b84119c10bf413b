#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds the examples as a reader would, with the public header and the library, and runs each on a record that Burn
# wrote. What they print is compared where it is the same everywhere.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
srcdir=$(cd "$srcdir" && pwd)
top_builddir=$(cd "$top_builddir" && pwd)
examples=$srcdir/examples
tiny=$srcdir/tests/data/burn/0.21.0/tiny-full.mpk

libs=
if [ ! -e "$top_builddir/.libs/librecord.so" ]; then
    libs=$(sed -n 's/^Libs.private: //p' "$top_builddir/librecord.pc")
fi
cd "$scratch" || exit 1

builds() { # NAME
    # shellcheck disable=SC2086 # lists of words
    ${CC:-cc} -std=c11 -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Werror \
        ${SANITIZERS:+-fsanitize=$SANITIZERS} -I . -I "$srcdir/include" -o "${1##*/}" "$examples/$1.c" \
        -L "$top_builddir/.libs" -Wl,-rpath,"$top_builddir/.libs" -lrecord $libs -lm
}
for name in load bind build bytes config convert embed import io; do
    check "$name.c builds" builds "$name"
done

# says NAME EXPECTED COMMAND...: it ends well and prints just that
says() {
    says_name=$1
    printf '%s\n' "$2" >expected
    shift 2
    if "$@" >said 2>said.err && diff expected said >said.diff; then
        ok "$says_name"
    else
        cat said.err >>said.diff
        not_ok "$says_name" said.diff
    fi
}

says "load: looks at the tensors and saves them compressed" "written by Burn 0.21.0
linear.weight            f32   [3, 2]  starts with -0.533392
linear.bias              f32   [2]  starts with 0.0490994
2 tensors, 8 elements
saved as out.mpk.gz" ./load "$tiny" out
check "load: the file is there" test -s out.mpk.gz

./bind "$tiny" >bind.out 2>&1
mistakes() {
    cat bind.out
    [ "$(head -n 1 bind.out)" = 'linear(1, 2, 3) = -1.0338, -0.0269' ] &&
        [ "$(sed -n 2p bind.out)" = 'a type that does not fit: 4 mistakes' ] &&
        for path in linear.weight linear.bias norm steps; do
            grep -q "^  $path: [^ ]" bind.out || return 1
        done
}
check "bind: fills structs, and lists all mistakes of another type" mistakes

./build made >build.out 2>&1
check "build: makes a record and loads it again" grep -q '^linear.weight\[1, 1\] = 2, id [0-9a-v]\{13\}$' build.out
says "build: load.c sees what was made" "written by Burn 0.21.0
linear.weight            f32   [3, 2]  starts with 0.5
linear.bias              f32   [2]  starts with 0.1
2 tensors, 8 elements
saved as seen.mpk.gz" ./load made.mpk seen

./embed tiny_mpk <"$tiny" >tiny_mpk.h
check "embed: bytes.c's header is up to date" cmp tiny_mpk.h "$examples/tiny_mpk.h"
./bytes >bytes.out 2>&1
check "bytes: the tensors lie in the array" grep -q '^linear.weight lies in the array, at byte' bytes.out

says "config: recorders from an INI file" "careful is NamedMpk, checkpoint is NamedMpkGz
linear.weight was f64, is f16
linear.bias was f64, is f16" ./config "$examples/config.ini" "$tiny" half
says "convert: by content and by name" "$tiny -> c.mpk.gz at half precision, 0 notes" ./convert "$tiny" c.mpk.gz half

# linked.c does the same with a model that is linked: tests/documents.sh builds it by the rule of docs/guide/embedding.md.
says "import: computes with a PyTorch model" 'net(1, 2, 3) = -0.322311, 1.142360' ./import "$examples/weights.safetensors"
if command -v python3 >/dev/null; then
    python3 "$examples/weights.py" >weights.again
    check "weights.safetensors is up to date" cmp weights.again "$examples/weights.safetensors"
fi
for name in net.h import.c linked.c; do
    check "$name has less than 100 lines" [ "$(wc -l <"$examples/$name")" -lt 100 ]
done

# The examples of the manual's section 3; tests/mpi/library.sh runs mpi.c.
for name in librecord headers plugin; do
    check "manual/$name.c builds" builds "manual/$name"
    mkdir -p manual.out
    (cd manual.out && "../$name") >said 2>&1
    status=$?
    check "manual/$name.c runs" [ $status = 0 ]
    [ $status = 0 ] || sed 's/^/# /' said
done

wrong() { # WORDS COMMAND...: fails and says why
    words=$1
    shift
    ! "$@" >said 2>&1 && grep -q "$words" said
}
check "errors reach the user" wrong 'nowhere.mpk' ./load nowhere.mpk out
check "a foreign file's, too" wrong 'nowhere.safetensors' ./import nowhere.safetensors
# A record that begins at byte 7 of another file.
{ printf '1234567' && cat "$tiny"; } >pack
says "io: loads and saves by functions of its own" "the packed record's weight starts with -0.533392
the pack is closed
all of it is written
1000000 numbers, the last one 499999.5" ./io pack 7 device.mpk

finish
