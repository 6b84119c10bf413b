#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The plugin that breaks its contract, under valgrind: all its breaches in one process, which must end well without an
# invalid access or a leak. tests/recorder/test_breach does each in a process of its own, under sanitizers too.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"

program=$top_builddir/tests/recorder/test_breach
if [ -n "${SANITIZERS:-}" ]; then
    skip "breaches under valgrind" "this build has sanitizers of its own"
    finish
fi
if ! command -v valgrind >/dev/null; then
    skip "breaches under valgrind" "valgrind is not installed"
    finish
fi
if [ ! -x "$program" ]; then
    skip "breaches under valgrind" "tests/recorder/test_breach was not built"
    finish
fi
valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,indirect,possible \
    "$program" --together >"$scratch/out" 2>&1
status=$?
if grep -q 'debuginfo reader: ensure_valid failed' "$scratch/out"; then
    skip "breaches under valgrind" "this valgrind cannot read the debugging information of the compiler"
    finish
fi
grep -v '^ok ' "$scratch/out" | head -n 100 >"$scratch/log"
if [ "$status" = 0 ] && grep -q '^1\.\.[1-9]' "$scratch/out"; then
    ok "$(grep -c '^ok ' "$scratch/out") breaches without an invalid access or a leak"
else
    not_ok "breaches without an invalid access or a leak (status $status)" "$scratch/log"
fi
finish
