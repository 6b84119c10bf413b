# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# For test scripts: `. "$srcdir/tests/tap.sh"`, then ok, not_ok, skip or check, and `finish` as the last line. A script
# that ends early has failed. `$scratch` is a folder of its own that goes with it.

tap_count=0
tap_failed=0
tap_finished=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/librecord-test.XXXXXX") || exit 99

tap_end() {
    tap_status=$?
    rm -rf "$scratch"
    if [ "$tap_finished" = 0 ]; then
        tap_count=$((tap_count + 1))
        echo "not ok $tap_count - the script ended early (status $tap_status)"
        exit 1
    fi
}
trap tap_end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# ok NAME
ok() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1"
}

# not_ok NAME [FILE]: the file says more
not_ok() {
    tap_count=$((tap_count + 1))
    tap_failed=$((tap_failed + 1))
    echo "not ok $tap_count - $1"
    if [ -n "${2:-}" ]; then
        sed 's/^/#   /' "$2"
    fi
}

# slow: whether this run takes its time (make check-slow). Parts that take long ask: `if slow; then ... fi`
slow() {
    [ -n "${LIBRECORD_TEST_SLOW:-}" ]
}

# skip NAME REASON
skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# check NAME COMMAND...: the command must succeed; what it prints is shown if it does not
check() {
    tap_name=$1
    shift
    if "$@" >"$scratch/check.out" 2>&1; then
        ok "$tap_name"
    else
        not_ok "$tap_name" "$scratch/check.out"
    fi
}

# wait_for COMMAND...: until it succeeds. It fails after 300 s, so that what never happens ends the test.
wait_for() {
    wait_for_tries=0
    until "$@" >/dev/null 2>&1; do
        [ "$wait_for_tries" -lt 6000 ] || return 1
        wait_for_tries=$((wait_for_tries + 1))
        sleep 0.05
    done
}

# finish: the plan, and the exit status
finish() {
    tap_finished=1
    echo "1..$tap_count"
    [ "$tap_failed" = 0 ]
    exit
}
