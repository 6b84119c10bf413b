#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Plugins built outside the tree against the installed headers: a typed binary format, a format of number arrays, a
# header-first format and a flat one. Real records go through them and back; names and layouts through the flat one.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
# shellcheck source=tests/staged.sh
. "$srcdir/tests/staged.sh"

if [ ! -e "$libdir/librecord.so" ]; then
    skip "plugins outside the tree" "this build has no shared library"
    finish
fi

cp -R "$srcdir/tests/plugins" "$scratch/work" || exit 1
chmod -R u+w "$scratch/work"
cd "$scratch/work" || exit 1
if make_with_installed all >"$scratch/log" 2>&1 && ! grep warning: "$scratch/log"; then
    ok "they build with installed headers and pkg-config alone, without a warning"
else
    not_ok "they build with installed headers and pkg-config alone, without a warning" "$scratch/log"
    finish
fi

for plugin in typed arrays header paths; do
    nm -D --defined-only "$plugin.so" | awk '{ print $3 }' | LC_ALL=C sort >"$scratch/symbols"
    printf '%s\n' librecord_plugins "${plugin}_LTX_librecord_plugins" | LC_ALL=C sort >"$scratch/expected"
    if [ -n "${SANITIZERS:-}" ] || diff "$scratch/expected" "$scratch/symbols" >"$scratch/log"; then
        ok "$plugin.so exports its table, and nothing else"
    else
        not_ok "$plugin.so exports its table, and nothing else" "$scratch/log"
    fi
done

mkdir "$scratch/plugins" && install -m 644 typed.so arrays.so header.so paths.so "$scratch/plugins" || exit 1
LIBRECORD_PLUGIN_PATH=$scratch/plugins:$plugindir
export LIBRECORD_PLUGIN_PATH

# run PROGRAM ARGUMENT...: its tests are ours
run() {
    "$@" >"$scratch/tap" 2>"$scratch/log"
    status=$?
    while IFS= read -r line; do
        case $line in
        "ok "*) ok "${line#ok * - }" ;;
        "not ok "*) not_ok "${line#not ok * - }" ;;
        "#"*) printf '%s\n' "$line" ;;
        esac
    done <"$scratch/tap"
    if [ "$status" = 0 ] && grep -q '^1\.\.' "$scratch/tap" && [ ! -s "$scratch/log" ]; then
        ok "${1#./} ends well and says nothing else"
    else
        not_ok "${1#./} ends well and says nothing else (status $status)" "$scratch/log"
    fi
}
run ./check "$srcdir/tests/data/burn"
run ./use_paths

# The command goes by the file, not by its format alone.
# shellcheck disable=SC2317 # check() calls it
goes_to() { # FILE NAMES: what the norm is in it
    "$record" ls --all "$1" && "$record" ls --all "$1" | grep -q "^norm\\.{*$2"
}
mkdir in || exit 1
cp foreign.paths in/foreign.paths || exit 1
LIBRECORD_DATA=$srcdir/etc
export LIBRECORD_DATA
check "record convert adapts a foreign file of a format of Burn's" "$record" convert foreign.paths out.mpk
check "so that it has Burn's names" goes_to out.mpk gamma
check "record convert leaves it as it is on its way to another foreign file" "$record" convert foreign.paths out.safetensors
check "so that it has PyTorch's" goes_to out.safetensors weight
check "record convert --recursive adapts it" "$record" convert --recursive --to NamedMpk in out
check "so that it has Burn's names, too" goes_to out/foreign.mpk gamma
finish
