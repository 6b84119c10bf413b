# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# What a command costs: the most memory that it has, and the instructions that it executes. Unlike time, they do not
# depend on the load of the machine.

# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"

# peaks ARGUMENT...: as run, and leaves the most memory of the process in $peak, in KiB, or nothing if python3 is not
# installed. Mapped pages of files count. A command that takes ten minutes is killed.
peaks() {
    if ! command -v python3 >/dev/null; then
        run "$@"
        peak=
        return
    fi
    python3 -c 'import resource, subprocess, sys
status = subprocess.call(sys.argv[2:], timeout=600)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=open(sys.argv[1], "w"))
sys.exit(status if status >= 0 else 128 - status)' "$scratch/peak.kib" "$record" "$@" \
        >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    peak=$(cat "$scratch/peak.kib")
}

# instructions ARGUMENT...: as run, and leaves the number of instructions in $instructions, or nothing if valgrind
# cannot count them here
instructions() {
    instructions=
    if [ -n "${SANITIZERS:-}" ] || ! command -v valgrind >/dev/null; then
        return
    fi
    # shellcheck disable=SC2086 # words
    $counting "$record" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    counted
}
counting="valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-file=$scratch/instructions"
# counted: leaves in $instructions what a command found that was run by $counting
counted() {
    instructions=$(sed -n 's/,//g; s/.*I *refs: *\([0-9]*\)$/\1/p' "$scratch/instructions")
}

# is_below NAME COUNT LIMIT
is_below() {
    if [ "$2" -lt "$3" ]; then
        ok "$1"
    else
        echo "$2 is not below $3" >"$scratch/why"
        not_ok "$1" "$scratch/why"
    fi
}

# peak_is_below NAME MIB: of the command that peaks ran
peak_is_below() {
    if [ -z "$peak" ] || [ -n "${SANITIZERS:-}" ]; then
        skip "$1: less than $2 MiB" "python3 is not installed, or a sanitizer takes memory of its own"
    else
        is_below "$1: less than $2 MiB" "$peak" $(($2 * 1024))
    fi
}

# instructions_are_below NAME MILLIONS: of the command that instructions ran
instructions_are_below() {
    if [ -z "$instructions" ]; then
        skip "$1: less than $2 million instructions" "valgrind is not installed, or this build has sanitizers"
    else
        is_below "$1: less than $2 million instructions" "$instructions" "${2}000000"
    fi
}
