#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Formats x formats x kinds x (untyped, typed, reversed), there and back: back.py. One size, and every
# second of untyped and typed; with make check-slow all sizes and ways, and compressed formats.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"

built=${top_builddir:-.}
record=${RECORD:-$built/tools/record}
if ! command -v python3 >/dev/null; then
    skip "there and back" "python3 is not installed"
    finish
fi
# The script of libtool takes as long as the command itself.
if [ -x "$built/tools/.libs/record" ]; then
    record=$built/tools/.libs/record
    LD_LIBRARY_PATH=$built/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
fi
# Readers that are there; the others are skipped.
for package in msgpack numpy safetensors gguf; do
    found=$("$srcdir/tests/interop/packages" --offline "$package" 2>/dev/null) || continue
    PYTHONPATH=${PYTHONPATH:+$PYTHONPATH:}$found
done
export PYTHONPATH
all=
slow && all=--full
# shellcheck disable=SC2086 # a word, or nothing
PYTHONDONTWRITEBYTECODE=1 python3 "$srcdir/tests/matrix/back.py" "$record" "$scratch" $all
status=$?
trap - EXIT
rm -rf "$scratch"
exit $status
