#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The blocks of docs/from-burn.md in their order: `sh` is run, `c` is compiled with model.h in front and run, a block with the name of
# a file becomes it, `text` must be in what the block before it printed, line by line. Rust is tests/interop's.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
srcdir=$(cd "$srcdir" && pwd)
top_builddir=$(cd "$top_builddir" && pwd)
page=$srcdir/docs/from-burn.md

libs=
if [ ! -e "$top_builddir/.libs/librecord.so" ]; then
    libs=$(sed -n 's/^Libs.private: //p' "$top_builddir/librecord.pc")
fi
mkdir "$scratch/bin" "$scratch/blocks"
printf '#!/bin/sh\nexec "%s" "$@"\n' "${RECORD:-$top_builddir/tools/record}" >"$scratch/bin/record"
chmod +x "$scratch/bin/record"
PATH=$scratch/bin:$PATH
awk -v folder="$scratch/blocks" '
    /^```/ && !inside { inside = 1; count++; name = sprintf("%s/%03d", folder, count); print substr($0, 4) " " NR >name ".kind"; printf "" >name; next }
    /^```/ { inside = 0; close(name); close(name ".kind"); next }
    inside { print >name }' "$page"
mkdir "$scratch/folder"
cd "$scratch/folder" || exit 1
cp "$srcdir/examples/weights.safetensors" .

# builds BLOCK: lines of the preprocessor stay outside of main()
builds() {
    {
        echo '#include "model.h"'
        grep '^#' "$1"
        echo 'int main(void) {'
        grep -v '^#' "$1"
        echo 'return 0; }'
    } >block.c
    # shellcheck disable=SC2086 # lists of words
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror -Wno-unused-const-variable ${SANITIZERS:+-fsanitize=$SANITIZERS} -I . -I "$srcdir/include" -o block block.c \
        -L "$top_builddir/.libs" -Wl,-rpath,"$top_builddir/.libs" -lrecord $libs -lm
}
lines_are_there() { # TEXT OUTPUT: spaces do not matter
    while read -r line; do
        tr -s ' ' <"$2" | grep -qF -e "$(tr -s ' ' <<<"$line")" || { echo "not there: $line"; cat "$2"; return 1; }
    done <"$1"
}

ran=0
: >output
for block in "$scratch"/blocks/???; do
    read -r language rest <"$block.kind"
    name="line ${rest##* }: $language"
    case "$language $rest" in
    "rust "*.* | "c "*.*)
        cp "$block" "${rest% *}"
        continue
        ;;
    esac
    case $language in
    sh)
        check "$name" sh -eu "$block"
        cp "$scratch/check.out" output
        ran=$((ran + 1))
        ;;
    c)
        check "$name is compiled" builds "$block"
        check "$name runs" ./block
        cp "$scratch/check.out" output
        ran=$((ran + 1))
        ;;
    text) check "$name: that was printed" lines_are_there "$block" output ;;
    python) check "$name is well-formed" python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$block" ;;
    rust) ;;
    *) not_ok "$name is a language that this script knows" ;;
    esac
done
check "the page has blocks" [ "$ran" -gt 20 ]
finish
