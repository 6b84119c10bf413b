#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Signals leave no temporary file, a file that grows too large is an error in words, and a report that cannot be printed does
# not look like a save that failed.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
cp 0.18.0/mnist.mpk "$scratch/in.mpk" || exit 99
cd "$scratch" || exit 99
mkdir out

# 1. Each signal that ends a command, at calls of a save: the old file or the new one, and nothing else.
if command -v strace >/dev/null && strace -qq -o /dev/null true 2>/dev/null && [ -z "${SANITIZERS:-}" ]; then
    "$record" convert -q in.mpk new.mpk.gz
    for signal in INT TERM HUP QUIT PIPE ALRM XCPU VTALRM PROF USR1 USR2; do
        for moment in writev:1 fchmod:1 fsync:1 renameat:1; do
            echo old >out/x.mpk.gz
            (
                # shellcheck disable=SC3045 # dash, bash and ksh have it
                ulimit -c 0
                strace -f -qq -o calls -e "trace=${moment%:*}" -e "inject=${moment%:*}:signal=$signal:when=${moment#*:}" \
                    "$record" convert -q in.mpk out/x.mpk.gz 2>>said
            )
            echo old | cmp -s - out/x.mpk.gz || cmp -s new.mpk.gz out/x.mpk.gz ||
                echo "$signal at $moment: neither the old file nor the new one"
            find out -type f ! -name x.mpk.gz
        done >harm 2>/dev/null
        same "SIG$signal leaves a whole file and nothing else" /dev/null harm
    done
    same "and nothing is said" /dev/null said
    echo old >sums
    (
        # shellcheck disable=SC3045
        ulimit -c 0
        strace -f -qq -o calls -e trace=fsync -e inject=fsync:signal=USR1:when=1 \
            "$record" verify -q --sums write --sums-file sums in.mpk 2>/dev/null >&2
    ) 2>/dev/null
    check "a file of sums leaves nothing, too" [ -z "$(find . -name 'sums.?*')" ]
else
    skip "signals at calls of a save" "strace is not installed, may not trace, or this is built with sanitizers"
fi

# 2. A file that grows beyond the limit of the process.
rm -rf out && mkdir out
echo old >out/x.mpk
(
    ulimit -f 16
    "$record" convert -q in.mpk out/x.mpk 2>"$scratch/err"
)
status=$?
status_is "a file that would be larger than the limit is an error" 2
check "… in words" grep -q 'File too large' "$scratch/err"
check "… which leaves the old file" grep -qx old out/x.mpk
check "… and nothing else" [ "$(find out -type f | wc -l)" = 1 ]

# 3. The file is written, its report is not.
if [ -c /dev/full ]; then
    for command in "convert in.mpk out/y.mpk" "edit in.mpk meta a b -o out/e.mpk" "report in.mpk -o out/page.html" \
        "embed in.mpk -o out/net.c" "verify --sums write --sums-file out/sums in.mpk"; do
        # shellcheck disable=SC2086 # words
        "$record" $command >/dev/full 2>"$scratch/err"
        status=$?
        status_is "record ${command%% *}: a report that cannot be printed has a status of its own" 3
        check "… and is told" grep -q 'standard output: cannot write' "$scratch/err"
    done
    check "… the file is there" "$record" verify out/y.mpk
    "$record" ls in.mpk >/dev/full 2>"$scratch/err"
    status=$?
    status_is "without a file it is an error" 2
    "$record" convert none.mpk out/z.mpk >/dev/full 2>"$scratch/err"
    status=$?
    status_is "so is a save that failed" 2
else
    skip "a report that cannot be printed" "there is no /dev/full"
fi

finish
