#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# bench/run with payloads so small that its figures say nothing: every operation of librecord's works, what it loads is what was
# saved, and the rows come out with a verdict each. Beside nobody else: that is built by cargo.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"

bench=$(cd "$srcdir" && pwd)/bench/run
if [ ! -e "$bench" ]; then
    skip "bench" "this is a release, which has none"
    finish
fi
if ! command -v python3 >/dev/null || [ ! -e "$top_builddir/.libs/librecord.so" ] || [ -n "${SANITIZERS:-}" ]; then
    skip "bench" "it wants python3, a shared library and no sanitizers"
    finish
fi

run() { # FILE OPTIONS...: what it prints to the file
    file=$1
    shift
    python3 "$bench" --build "$top_builddir" --dir "$scratch" --mb 4 --gz-mb 4 --json-mb 4 --rounds 1 --no-burn "$@" >"$file" 2>&1
}
rows() { # FILE: how many rows have a verdict
    grep -cE ' (met|by least|MISSED)$' "$1"
}

# What takes long whatever the payload is left out.
check "all rows work" run "$scratch/all" --row '^(?!.*(million|160,000|100,000))'
check "more than twenty of them have an aim" [ "$(rows "$scratch/all")" -gt 20 ]
check "none failed" grep -q ', 0 rows failed' "$scratch/all"
check "what the machine did beside is told" grep -q '^# others took .* CPUs, .* in the page cache' "$scratch/all"

check "one row alone, as JSON" run "$scratch/one" --row 'save gz' --json "$scratch/one.json"
check "its size is beside zlib's" grep -q "its size, of zlib-6's" "$scratch/one"
check "the JSON has the part and the row" python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
assert rows and all(row["part"] == "gz" and row["cells"] for row in rows)' "$scratch/one.json"
check "beside itself as another build" run "$scratch/two" --row 'find the parameters' --against "$top_builddir"
check "which has a column" grep -qE 'now is$' "$scratch/two"

unknown() {
    ! run "$scratch/unknown" --row 'no such row' && grep -q 'no row is called' "$scratch/unknown"
}
check "a pattern that meets no row is refused" unknown

# An operation that fails is a row that says why, and exit status 1.
failing() {
    ! LIBRECORD_PLUGINS=none run "$scratch/failing" --row 'find the parameters' && grep -q 'failed: ' "$scratch/failing"
}
check "an operation that fails says why" failing
finish
