#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# tests/coverage.py, which makes the table of scripts/coverage, on a source of a few lines.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
if ! command -v gcov >/dev/null || ! command -v python3 >/dev/null; then
    skip "the table of coverage" "gcov or python3 is not installed"
    finish
fi

mkdir -p "$scratch/src/core/room" "$scratch/src/tests" "$scratch/build/core/room"
cat >"$scratch/src/core/room/once.h" <<'EOS'
static inline int once(int number)
{
    while (number < 1) {
        number++;
    }
    return number;
}
EOS
cat >"$scratch/src/core/room/half.c" <<'EOS'
#include "once.h"
int half(int number);
int half(int number)
{
    if (number > 3) {
        return once(number);
    }
    return number / 2;
}
EOS
cat >"$scratch/src/core/room/never.c" <<'EOS'
#include "once.h"
int never(int number);
int never(int number)
{
    return once(number + 1);
}
EOS
cat >"$scratch/src/tests/main.c" <<'EOS'
int half(int number);
int main(void)
{
    return half(2) - 1;
}
EOS
build() {
    cd "$scratch/build" && for name in core/room/half core/room/never tests/main; do
        mkdir -p "${name%/*}" && gcc --coverage -O0 -c -o "$name.o" "../src/$name.c" || return
    done
    gcc --coverage -o main tests/main.o core/room/half.o core/room/never.o && ./main
}
if ! command -v gcc >/dev/null || ! (build) >"$scratch/err" 2>&1; then
    skip "the table of coverage" "gcc does not count here"
    finish
fi
table() {
    python3 "$srcdir/tests/coverage.py" "$@" >"$scratch/out" 2>"$scratch/err"
    status=$?
}
# says NAME: the table is standard input
says() {
    cat >"$scratch/expected"
    if [ -s "$scratch/err" ]; then
        not_ok "$1" "$scratch/err"
    else
        check "$1" diff -u "$scratch/expected" "$scratch/out"
    fi
}

table "$scratch/src" "$scratch/build"
says "a table by folder, of the source and not of the tests; an inline function is there once" <<'EOS'
folder      lines       run  branches     taken
core/room      10    30.0 %         4    25.0 %  *
together       10    30.0 %         4    25.0 %  *
EOS
check "without --check it is no failure to have too little" [ "$status" = 0 ]
table --check "$scratch/src" "$scratch/build"
check "with it it is" [ "$status" = 1 ]
table "$scratch/src" "$scratch/build" core/room/half.c
says "of a file it tells which lines never ran, and where not all ways were gone" <<'EOS'
core/room/half.c:5: 1 of 2 never taken:     if (number > 3) {
core/room/half.c:6: never run:         return once(number);
core/room/half.c   lines       run  branches     taken
core/room/half.c       4    75.0 %         2    50.0 %  *
together               4    75.0 %         2    50.0 %  *

folder      lines       run  branches     taken
core/room      10    30.0 %         4    25.0 %  *
together       10    30.0 %         4    25.0 %  *
EOS
table "$scratch/src" "$scratch/build" core/other
check "a folder that is not there is told" grep -q "core/other: no source" "$scratch/err"
check "and is a failure" [ "$status" = 1 ]
mkdir "$scratch/empty"
table "$scratch/src" "$scratch/empty"
check "so is a build that was not made to count" grep -q "nothing there was built with --coverage" "$scratch/err"
finish
