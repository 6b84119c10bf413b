#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# scripts/count-tests, which makes the totals, on made-up logs.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"

log() { # FOLDER RESULT: the log is standard input
    mkdir -p "$scratch/$1"
    cat >"$scratch/$1/program.log"
    echo ":test-result: $2" >"$scratch/$1/program.trs"
}
counts() { # NAME FOLDER "PASSED FAILED SKIPPED"
    said=$("$srcdir/scripts/count-tests" "$scratch/$2" 2>"$scratch/err")
    if [ "$said" = "$3" ]; then
        ok "$1"
    else
        echo "said $said, expected $3" >>"$scratch/err"
        not_ok "$1" "$scratch/err"
    fi
}

log good PASS <<'EOF'
1..3
ok 1 - one
# a remark: not ok
ok 2 - two # SKIP not here
ok 3 - three
PASS program (exit status: 0)
EOF
counts "passed and skipped tests" good "2 0 1"

log cmocka FAIL <<'EOF'
1..4
ok 1 - one
not ok 2 # SKIP two
not ok 3 - three
# 0x1 != 0x2
ok 4 - four
FAIL program (exit status: 1)
EOF
counts "cmocka's way to say skip, and a failure" cmocka "2 1 1"

printf 'ok 1 - one\nok 2 - two\n1..2' | log plan_last PASS
counts "a plan at the end, without an end of line" plan_last "2 0 0"

log crash FAIL <<'EOF'
1..3
ok 1 - one
FAIL program (exit status: 139)
EOF
counts "a program that ended early" crash "1 1 0"

log short PASS <<'EOF'
1..3
ok 1 - one
ok 2 - two
EOF
counts "fewer tests than announced" short "2 1 0"

log silent PASS </dev/null
counts "a program without tests" silent "0 1 0"

log teardown FAIL <<'EOF'
1..1
ok 1 - one
FAIL program (exit status: 1)
EOF
counts "a failure that no test shows" teardown "1 1 0"

echo "SKIP program (exit status: 77)" | log left_out SKIP
counts "a program that is skipped as a whole" left_out "0 0 1"

mkdir "$scratch/both"
cp -r "$scratch/good" "$scratch/cmocka" "$scratch/both"
counts "several programs" both "4 1 2"

mkdir "$scratch/none"
counts "no logs at all" none "0 0 0"

finish
