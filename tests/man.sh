#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The manual page names every command and every option that --help names, and is well-formed.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"

record=${RECORD:-$top_builddir/tools/record}
pages=$srcdir/man

# Hyphens are \- in the page; fonts do not matter; mdoc's `Fl -all` is --all.
read_pages() { # PAGE...
    sed 's/\\-/-/g; s/\\f[BIRP]//g; s/\\&//g; s/Fl -/--/g; s/Fl \([A-Za-z]\)/-\1/g' "$@" >"$scratch/page"
}
read_pages "$pages/record.1"

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
            echo "not in the manual page: $option" >>"$scratch/missing"
    done <"$scratch/options"
    check "the manual page has every option of $1" diff /dev/null "$scratch/missing"
}

documented "record --help" "$scratch/help"
"$record" help options >"$scratch/options-help" 2>&1
read_pages "$pages"/record*.1
documented "record help options" "$scratch/options-help"
read_pages "$pages/record.1"
found=0
for command in $commands; do
    "$record" "$command" --help >"$scratch/command" 2>&1 || continue
    found=$((found + 1))
    # A subcommand with a page of its own has its own options there, and those of all in record.1.
    if [ -e "$pages/record-$command.1" ]; then
        read_pages "$pages/record.1" "$pages/record-$command.1"
    else
        read_pages "$pages/record.1"
    fi
    documented "record $command --help" "$scratch/command"
    read_pages "$pages/record.1"
    check "record.1 has the command $command" grep -qw -e "$command" "$scratch/page"
done
check "record --help lists commands" [ "$found" -ge 5 ]

for page in "$pages"/record*.1 "$pages"/record.5; do
    if command -v mandoc >/dev/null; then
        check "$(basename "$page") is well-formed" mandoc -T lint -W warning "$page"
    else
        skip "$(basename "$page") is well-formed" "mandoc is not installed"
    fi
done

# Section 3: each exported function is on exactly one page, which has at most five functions and an example.
section3=${top_builddir:-.}/man3
sed -n 's/^\(rec_[a-z0-9_]*\) .*/\1/p' "$srcdir/tests/symbols.txt" >"$scratch/functions"
sed -n 's/^REC_API .*[ *]\(rec_[a-z0-9_]*\)(.*/\1/p' "$srcdir/include/librecord/mpi.h" >>"$scratch/functions"
# shellcheck disable=SC2046 # names of files
set -- $(grep -L '^\.so ' "$section3"/*.3)
grep -h '^\.Fo rec_' "$@" | sed 's/^\.Fo //' | sort >"$scratch/on-pages"
echo rec_limits_default >>"$scratch/functions" # in the header alone
sort "$scratch/functions" >"$scratch/expected"
check "each function is on one page" diff "$scratch/expected" "$scratch/on-pages"
check "there are more than a hundred" [ "$(wc -l <"$scratch/expected")" -gt 100 ]

: >"$scratch/wrong"
while read -r function; do
    page=$(sed -n 's|^\.so man3/||p' "$section3/$function.3" 2>/dev/null)
    grep -qx "\.Fo $function" "$section3/${page:-$function.3}" || echo "no page or link: $function" >>"$scratch/wrong"
done <"$scratch/functions"
for page; do
    case $page in
    */librecord.3 | */librecord-plugin.3) continue ;;
    esac
    [ "$(grep -c '^\.Fo rec_' "$page")" -le 5 ] || echo "more than five functions: $page" >>"$scratch/wrong"
    grep -qx '\.Sh EXAMPLES' "$page" || echo "no example: $page" >>"$scratch/wrong"
    name=$(basename "$page" .3)
    grep -qx "\.It Xr $name 3" "$section3/librecord.3" "$section3/librecord-plugin.3" || echo "in no overview: $page" >>"$scratch/wrong"
done
check "each page has up to five functions, an example, and a line of an overview" diff /dev/null "$scratch/wrong"
if command -v mandoc >/dev/null; then
    check "section 3 is well-formed" mandoc -T lint -W warning "$@"
else
    skip "section 3 is well-formed" "mandoc is not installed"
fi

finish
