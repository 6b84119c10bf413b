#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The data files in the library: the command does the same without a directory of data.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
data=$(cd "$srcdir" && pwd)/tests/data
cd "$scratch" || exit 99

mkdir with without
each() { # DIRECTORY: prints and converts what needs types and profiles
    "$record" convert -q "$data/burn/0.21.0/zoo-full.mpk" "$1/zoo.bpk" &&
        "$record" convert -q "$data/burn/0.21.0/zoo-full.mpk" "$1/zoo.safetensors" &&
        "$record" convert -q "$1/zoo.safetensors" "$1/again.mpk" &&
        "$record" profiles >"$1/profiles" &&
        "$record" profiles gemma | sed 's|^\(file  *\).*/|\1|' >"$1/gemma"
}
check "conversions with a directory" each with
unset LIBRECORD_DATA
check "conversions without one" each without
for file in zoo.bpk zoo.safetensors again.mpk profiles gemma; do
    check "$file is the same" cmp "with/$file" "without/$file"
done
"$record" profiles llama >"$scratch/llama"
if grep -q '^file  */' "$scratch/llama"; then
    skip "a profile of the library is printed" "librecord is installed on this machine"
else
    check "a profile of the library is printed" grep -q '^file  *librecord:profiles/llama.ini$' "$scratch/llama"
fi
LIBRECORD_DATA=$scratch/nowhere
export LIBRECORD_DATA
fails "a directory that is not there is an error" convert "$data/burn/0.21.0/zoo-full.mpk" zoo.bpk <<END
record: $scratch/nowhere/modules: cannot read the directory of Burn's own types: No such file or directory
  The environment variable LIBRECORD_DATA names the directory above it. Without it, librecord uses its own files.
END

finish
