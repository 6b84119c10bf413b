#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The interface of this build against that of the last release: it may grow, but not change. docs/abi.md has the rules;
# `make abi-baseline` writes a new baseline.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"

library=$top_builddir/.libs/librecord.so
old=$srcdir/abi/librecord-0.1
new=$scratch/new

leave() { # REASON
    skip "the public interface is that of the last release, or more" "$1"
    finish
}
command -v abidiff >/dev/null || leave "abigail-tools is not installed"
[ -e "$library" ] || leave "a static build has no shared interface"
[ -z "${SANITIZERS:-}" ] || leave "built with sanitizers"
readelf -S "$library" | grep -q '\.debug_info' || leave "built without debugging information"

check "the interface can be described" "$srcdir/scripts/abi-dump" "$srcdir/include" "$library" "$new"

functions() { # OLD NEW
    abidiff --suppressions "$srcdir/abi/librecord.suppr" --no-added-syms "$1" "$2"
}

# Structs that begin with their size may be larger than they were.
frozen='rec_(blob|bools|floats|ints|limits|scalar)'
types() { # OLD NEW: prints what was lost
    grep -E "^(constant|member)|^size $frozen " "$1" | LC_ALL=C sort >"$scratch/before"
    [ -s "$scratch/before" ] || return 2
    LC_ALL=C sort "$2" | LC_ALL=C comm -23 "$scratch/before" - >"$scratch/lost"
    sed 's/^/not as released: /' "$scratch/lost"
    [ ! -s "$scratch/lost" ]
}

check "functions are as released" functions "$old.abi" "$new.abi"
check "types and constants are as released" types "$old-types.txt" "$new-types.txt"

# The comparison itself, on baselines of something else.
notices() { # NAME COMPARE FILE SED-SCRIPT
    sed "$4" "$old$3" >"$scratch/changed"
    if cmp -s "$old$3" "$scratch/changed"; then
        not_ok "$1: the baseline does not have it"
    elif "$2" "$scratch/changed" "$new$3" >/dev/null 2>&1; then
        not_ok "$1"
    else
        ok "$1"
    fi
}
notices "a lost function is noticed" functions .abi 's/rec_fail_hint/rec_fail_hunt/g'
notices "a moved member is noticed" types -types.txt 's/^\(member rec_plugin.load at \)[0-9]*/\10/'
notices "a changed constant is noticed" types -types.txt 's/^\(constant REC_E_IO = \).*/\199/'
notices "a grown frozen struct is noticed" types -types.txt 's/^\(size rec_scalar = \).*/\164/'

finish
