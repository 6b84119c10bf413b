# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# What the tests of the command share. They run among the records in tests/data/burn, so that messages name them shortly.

# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"

data=$srcdir/tests/data/burn
record=${RECORD:-${top_builddir:-.}/tools/record}
# Of a build, libtool's script starts the program. The script takes ten times as long as the program.
tools=${record%/*}
if [ -x "$tools/.libs/${record##*/}" ]; then
    record=$tools/.libs/${record##*/}
    LD_LIBRARY_PATH=${tools%/*}/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
fi
cd "$data" || exit 99
unset NO_COLOR

# run ARGUMENT...: leaves $status, $scratch/out and $scratch/err
run() {
    "$record" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
}

# same NAME FILE FILE
same() {
    check "$1" diff -u "$2" "$3"
}

# status_is NAME STATUS
status_is() {
    if [ "$status" = "$2" ]; then
        ok "$1"
    else
        echo "expected status $2, found $status" >"$scratch/why"
        cat "$scratch/err" >>"$scratch/why"
        not_ok "$1" "$scratch/why"
    fi
}

# prints NAME ARGUMENT... <<EXPECTED: the command succeeds, prints exactly that, and has nothing to complain about
prints() {
    name=$1
    shift
    cat >"$scratch/expected"
    run "$@"
    if [ "$status" != 0 ] || [ -s "$scratch/err" ]; then
        echo "status $status" >>"$scratch/err"
        not_ok "$name" "$scratch/err"
    else
        same "$name" "$scratch/expected" "$scratch/out"
    fi
}

# fails NAME ARGUMENT... <<EXPECTED: the command ends with status 2, prints nothing, and complains in these words
fails() {
    name=$1
    shift
    cat >"$scratch/expected"
    run "$@"
    if [ "$status" != 2 ] || [ -s "$scratch/out" ]; then
        echo "status $status" >>"$scratch/out"
        not_ok "$name" "$scratch/out"
    else
        same "$name" "$scratch/expected" "$scratch/err"
    fi
}

# transcript NAME <<EXPECTED: each line "$ ARGUMENTS" (words of the shell) is run as `record ARGUMENTS`; what it says, output
# before errors, and its exit status unless that is 0, stand below it
transcript() {
    cat >"$scratch/expected"
    while IFS= read -r line; do
        case $line in
            '$ '*)
                eval "run ${line#??}"
                printf '%s\n' "$line"
                cat "$scratch/out" "$scratch/err"
                [ "$status" = 0 ] || echo "status $status"
                ;;
        esac
    done <"$scratch/expected" >"$scratch/said"
    same "$1" "$scratch/expected" "$scratch/said"
}

# answers NAME FILTER VALUE: jq's answer to the JSON in $scratch/out
answers() {
    jq -c "$2" "$scratch/out" >"$scratch/answer" 2>&1
    printf '%s\n' "$3" >"$scratch/expected"
    same "$1" "$scratch/expected" "$scratch/answer"
}

# need_jq: JSON is checked with it; without it the script is one skipped test
need_jq() {
    if ! command -v jq >/dev/null; then
        skip "JSON output" "jq is not installed"
        finish
    fi
}
