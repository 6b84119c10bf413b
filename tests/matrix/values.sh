#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Every kind of value, at sizes around each threshold of the code, in every format, through every subcommand:
# values.py. All take 30 s of one processor; LIBRECORD_TEST_EVERY and sanitizers leave some of the sizes out.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"

built=${top_builddir:-.}
record=${RECORD:-$built/tools/record}
if ! command -v python3 >/dev/null; then
    skip "every kind of value" "python3 is not installed"
    finish
fi
# The script of libtool takes as long as the command itself.
if [ -x "$built/tools/.libs/record" ]; then
    record=$built/tools/.libs/record
    LD_LIBRARY_PATH=$built/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
fi
sizes=
[ -n "${SANITIZERS:-}" ] && sizes='0 1 65 4097'
# shellcheck disable=SC2086 # a list, or nothing
PYTHONDONTWRITEBYTECODE=1 python3 "$srcdir/tests/matrix/values.py" "$record" "$scratch" $sizes
status=$?
trap - EXIT
rm -rf "$scratch"
exit $status
