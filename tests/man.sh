#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The manual page names every command and every option that --help names, and is well-formed.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"

record=${RECORD:-$top_builddir/tools/record}
page=$srcdir/docs/record.1

# Hyphens are \- in the page; fonts do not matter; mdoc's `Fl -all` is --all.
sed 's/\\-/-/g; s/\\f[BIRP]//g; s/\\&//g; s/Fl -/--/g; s/Fl \([A-Za-z]\)/-\1/g' "$page" >"$scratch/page"

# Commands are the first words of the indented lines of --help that have a --help of their own.
"$record" --help >"$scratch/help" 2>&1 || not_ok "record --help succeeds" "$scratch/help"
commands=$(sed -n 's/^ \{1,8\}\([a-z][a-z-]*\) .*/\1/p' "$scratch/help" | sort -u)

documented() { # WHAT HELP-FILE
    grep -oE -e '(^|[^A-Za-z0-9-])--?[A-Za-z][a-z0-9-]*' "$2" | grep -oE -e '--?[A-Za-z][a-z0-9-]*$' | sort -u >"$scratch/options"
    if ! [ -s "$scratch/options" ]; then
        not_ok "$1 names options" "$2"
        return
    fi
    : >"$scratch/missing"
    while read -r option; do
        grep -qE -e "(^|[^A-Za-z0-9-])$option([^A-Za-z0-9-]|\$)" "$scratch/page" ||
            echo "not in record.1: $option" >>"$scratch/missing"
    done <"$scratch/options"
    check "record.1 has every option of $1" diff /dev/null "$scratch/missing"
}

documented "record --help" "$scratch/help"
found=0
for command in $commands; do
    "$record" "$command" --help >"$scratch/command" 2>&1 || continue
    found=$((found + 1))
    documented "record $command --help" "$scratch/command"
    check "record.1 has the command $command" grep -qw -e "$command" "$scratch/page"
done
check "record --help lists commands" [ "$found" -ge 5 ]

if command -v mandoc >/dev/null; then
    check "record.1 is well-formed" mandoc -T lint -W warning "$page"
else
    skip "record.1 is well-formed" "mandoc is not installed"
fi

finish
