#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A build with --enable-static-command: plugins and libraries are part of the command and nothing is opened at run time.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"

# A configure and a make of their own, not a part of the one that runs this.
unset MAKEFLAGS MFLAGS MAKELEVEL LIBRECORD_PLUGIN_PATH
source=$(cd "$srcdir" && pwd)
build=$scratch/build
sample=$scratch/sample
mkdir "$build" "$sample"
cd "$build" || exit 1

if [ -e "$source/config.status" ] || [ -n "${SANITIZERS:-}" ]; then
    skip "static build" "this is an in-tree build, or one with sanitizers"
    finish
fi

quiet() { # COMMAND...: its output only if it fails
    "$@" >"$scratch/log" 2>&1 && return
    tail -n 40 "$scratch/log"
    return 1
}
rejected() { # DIRECTORY ARGUMENT...: configure stops in a line about the space
    mkdir -p "$1" && cd "$1" || return 1
    shift
    ! "$source/configure" --quiet "$@" >"$scratch/log" 2>&1 && grep 'has a space in its path' "$scratch/log"
}
check "configure rejects a prefix with a space" rejected "$build" --prefix="$scratch/a b"
check "configure rejects a build directory with a space" rejected "$scratch/a b"
cd "$build" || exit 1
# shellcheck disable=SC2086 # may be a list of words
check "configure --enable-static-command" quiet "$source/configure" --quiet --enable-static-command --with-https=no \
    CC="${CC:-cc}" CFLAGS=-O2
check "make" quiet make -j2

nothing_shared() {
    ! find . -name '*.so*' | grep . && ! readelf -d tools/record | grep -i 'librecord'
}
check "no shared object is made" nothing_shared

not_dynamic() {
    ! readelf -lW tools/record | grep INTERP && ! readelf -d tools/record | grep NEEDED
}
check "the command needs no shared library" not_dynamic
small() { # at most 4.4 MB without symbols
    strip -o "$scratch/stripped" tools/record && ls -l "$scratch/stripped" && [ "$(wc -c <"$scratch/stripped")" -le 4400000 ]
}
check "it is small" small
no_ltdl() { # configure does not ask for it
    ! grep ltdl config.log
}
check "libltdl is not needed" no_ltdl

tools/record plugins --why >"$scratch/plugins" 2>&1
for name in NamedMpk NamedMpkGz NamedMpkBytes PrettyJson JsonGz; do
    check "$name is built in" grep -qE "^ *$name .*built in" "$scratch/plugins"
done

# A record from the program that a user writes first, to a file and through both plugins.
cat >"$sample/make.c" <<'EOF'
#include <librecord.h>
#include <stdio.h>
int main(void)
{
    const float data[] = {1.0f, 2.5f, -3.0f, 0.1f, 5.0f, 6.0f};
    const uint64_t shape[] = {2, 3};
    rec_recorder *recorder = rec_open_recorder("NamedMpk", FULL);
    rec_record *record = rec_record_new(NULL);
    int ok = recorder && record && rec_set_f32(record, "fc.weight", data, 2, shape) == REC_OK &&
             rec_save(recorder, record, "made") == REC_OK;
    if (!ok) {
        (void)puts(rec_error_message());
    }
    rec_record_free(record);
    rec_close_recorder(recorder);
    return !ok;
}
EOF
libs=$(sed -n 's/^Libs.private: //p' librecord.pc)
# shellcheck disable=SC2086 # lists of words
check "a program links with Libs.private" ${CC:-cc} -o "$sample/make" "$sample/make.c" -I "$source/include" \
    -L .libs -lrecord $libs
record=$build/tools/record
cd "$sample" || exit 1
check "it saves a record" ./make
check "convert to .mpk.gz" "$record" convert made.mpk made.mpk.gz
check "convert back" "$record" convert made.mpk.gz again.mpk
check "the bytes are those of the original" cmp made.mpk again.mpk
check "a format in a codec" "$record" convert made.mpk made.safetensors.gz
check "which comes back" "$record" convert made.safetensors.gz back.mpk
"$record" ls made.mpk.gz >ls.out 2>&1
check "record ls shows the tensor" grep -q 'fc.weight.*f32.*2, 3' ls.out

# A program that names its plugins has no others, and none of their code.
cd "$build" || exit 1
check "record embed" "$record" embed "$sample/made.mpk" --name tiny --output "$sample/tiny.c"
link_example() { # NAME FLAGS...
    example=$sample/$1
    shift
    # shellcheck disable=SC2086 # lists of words
    ${CC:-cc} -O1 "$@" -Wl,--gc-sections -o "$example" "$source/examples/embed_bytes.c" "$sample/tiny.c" -I "$sample" \
        -I "$source/include" -L .libs -lrecord $libs
}
check "a program with all plugins" link_example all
check "a program with one plugin" link_example one -DSTATIC_LIBRECORD
"$sample/all" >"$sample/all.out" 2>&1
"$sample/one" >"$sample/one.out" 2>&1
check "each has its plugin" grep -q 'lies in the program' "$sample/one.out"
check "they do the same" cmp "$sample/all.out" "$sample/one.out"
without() { # SYMBOL
    nm "$sample/all" | grep -qw "$1" && ! nm "$sample/one" | grep -w "$1"
}
for symbol in lr_st_write lr_json_write lr_gguf_write lr_pt_write; do
    check "one plugin is without $symbol" without "$symbol"
done

finish
