#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Every profile on made models of its family, beside a second opinion in Python that takes its rules from the reference's
# text and not from etc/profiles (tests/families/).
set -u
: "${top_builddir:=.}"
srcdir=$(cd "${srcdir:-.}" && pwd)
RECORD=${RECORD:-$top_builddir/tools/record}
# shellcheck source=tests/tap.sh
. "$srcdir/tests/tap.sh"
text=${LIBRECORD_SHARED:-$srcdir/../shared}/reference/families.md

if [ ! -r "$text" ]; then
    skip "profiles beside the text" "the reference is not there: set LIBRECORD_SHARED"
elif ! command -v python3 >/dev/null; then
    skip "profiles beside the text" "python3 is missing"
else
    mkdir "$scratch/models"
    status=0
    PYTHONDONTWRITEBYTECODE=1 python3 "$srcdir/tests/families/check.py" "$RECORD" "$text" "$scratch/models" \
        >"$scratch/said" 2>"$scratch/wrong" || status=$?
    while read -r line; do
        case $line in
        "ok - "*) ok "${line#ok - }" ;;
        "not ok - "*) not_ok "${line#not ok - }" ;;
        *) echo "$line" ;;
        esac
    done <"$scratch/said"
    if [ "$status" != 0 ]; then
        not_ok "the second opinion comes to its end" "$scratch/wrong"
    fi
fi
finish
