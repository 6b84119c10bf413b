#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The interface of this build against that of the last release: it may grow, but not change. docs/reference/abi.md has the rules;
# `make abi-baseline` writes a new baseline.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"

library=$top_builddir/.libs/librecord.so
new=$scratch/new

leave() { # REASON
    skip "the public interface is that of the last release, or more" "$1"
    finish
}
command -v abidw >/dev/null || leave "abigail-tools is not installed"
[ -e "$library" ] || leave "a static build has no shared interface"
[ -z "${SANITIZERS:-}" ] || leave "built with sanitizers"
readelf -S "$library" | grep -q '\.debug_info' || leave "built without debugging information"

check "the interface can be described" "$srcdir/scripts/abi-dump" "$srcdir/include" "$library" "$new"

# Structs that begin with their size may be larger than they were; these may not.
frozen='rec_(blob|bools|floats|ints|limits|scalar)'

# kept OLD: what it has is there in the new interface; else prints what is not
kept() {
    grep -E "^(function|typedef|constant|member) |^size $frozen " "$1" |
        LC_ALL=C sort >"$scratch/before"
    [ -s "$scratch/before" ] || return 2
    LC_ALL=C comm -23 "$scratch/before" "$new" >"$scratch/lost"
    sed 's/^/not as released: /' "$scratch/lost"
    [ ! -s "$scratch/lost" ]
}
for released in "$srcdir"/packaging/abi/librecord-*.txt; do
    [ -e "$released" ] || continue
    check "all that $(basename "$released" .txt) had is as it was" kept "$released"
done

# The comparison itself, on releases that never were.
cp "$new" "$scratch/now"
notices() { # NAME SED-SCRIPT
    sed -E "$2" "$scratch/now" >"$scratch/changed"
    if cmp -s "$scratch/now" "$scratch/changed"; then
        not_ok "$1: the baseline does not have it"
    elif kept "$scratch/changed" >/dev/null; then
        not_ok "$1"
    else
        ok "$1"
    fi
}
notices "a lost function is noticed" 's/rec_fail_hint@/rec_fail_hunt@/'
notices "another parameter is noticed" 's/^(function rec_load@.*)\)/\1, int32_t)/'
notices "a moved member is noticed" 's/^(member rec_plugin.load at )[0-9]+/\10/'
notices "a changed constant is noticed" 's/^(constant REC_E_IO = ).*/\199/'
notices "a frozen struct that grew is noticed" 's/^(size rec_scalar = ).*/\164/'

finish
