#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# tests/matrix/expected.py: how the list of expected failures is read and what it makes of cells.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"

if ! command -v python3 >/dev/null; then
    skip "the list of expected failures" "python3 is not installed"
    finish
fi

# report LIST CELLS: each cell is NAME=1 (passes) or NAME=0; leaves $scratch/out and $status
report() {
    printf '%b' "$1" >"$scratch/list"
    shift
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$srcdir/tests/matrix python3 - "$scratch/list" "$@" \
        >"$scratch/out" 2>"$scratch/err" <<'END'
import sys
from expected import Expected

expected = Expected("values", sys.argv[1])
for word in sys.argv[2:]:
    cell, passes = word.split("=")
    expected.check(cell, passes == "1", "why")
sys.exit(expected.finish())
END
    status=$?
}

report '# none\n' a=1 b=0
check "without a list a failure fails" [ "$status" = 1 ]
check "each cell is a line, and a failure has its message" \
    [ "$(cat "$scratch/out")" = "$(printf 'ok 1 - a\nnot ok 2 - b\n#   why\n1..2')" ]
report 'values\tb*\tMend it\nother\t*\tElsewhere\n' a=1 b/1=0 b/2=0
check "listed failures pass" [ "$status" = 0 ]
check "the title is printed" grep -qx 'ok 3 - b/2: fails as expected (Mend it)' "$scratch/out"
report 'values\tb*\tMend it\n' b/1=0 b/2=1
check "a listed cell that passes is a failure" grep -qx 'not ok 2 - b/2: passes, but is listed' "$scratch/out"
check "and fails the run" [ "$status" = 1 ]
report 'values\tc\tMend it\n' a=1
check "a line that matches no cell is a failure" grep -qx 'not ok 2 - list:1: c: matches no cell' "$scratch/out"
report 'values\tc\n' a=1
check "a line without three fields is an error with its place" \
    grep -q "list:1: expected MATRIX, CELL and ISSUE TITLE" "$scratch/err"

finish
