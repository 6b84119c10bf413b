#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Every profile on made models of its family, beside a second opinion in Python that takes its rules from the reference's
# text and not from etc/profiles (tests/families/); and every
# profile on the models of all other families.
set -u
: "${top_builddir:=.}"
srcdir=$(cd "${srcdir:-.}" && pwd)
RECORD=${RECORD:-$top_builddir/tools/record}
# The program itself: the script that libtool puts before it takes longer to start than many commands run.
if [ -x "${RECORD%/*}/.libs/record" ]; then
    LD_LIBRARY_PATH=$top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    RECORD=${RECORD%/*}/.libs/record
fi
# shellcheck source=tests/tap.sh
. "$srcdir/tests/tap.sh"
text=${LIBRECORD_SHARED:-$srcdir/../shared}/reference/families.md

# opinion FILE ARGUMENTS...: a program that prints TAP
opinion() {
    opinion_status=0
    opinion_program=$1
    shift
    PYTHONDONTWRITEBYTECODE=1 python3 "$srcdir/tests/families/$opinion_program" "$@" >"$scratch/said" 2>"$scratch/wrong" || opinion_status=$?
    while read -r line; do
        case $line in
        "ok - "*) ok "${line#ok - }" ;;
        "not ok - "*) not_ok "${line#not ok - }" ;;
        *) echo "$line" ;;
        esac
    done <"$scratch/said"
    if [ "$opinion_status" != 0 ]; then
        not_ok "$opinion_program comes to its end" "$scratch/wrong"
    fi
}

mkdir "$scratch/models"
if ! command -v python3 >/dev/null; then
    skip "profiles and models" "python3 is missing"
else
    if [ -r "$text" ]; then
        opinion check.py "$RECORD" "$text" "$scratch/models"
    else
        skip "profiles beside the text" "the reference is not there: set LIBRECORD_SHARED"
    fi
    opinion matrix.py "$RECORD" "$scratch/models"
    opinion auto.py "$RECORD" "$scratch/models"
fi
finish
