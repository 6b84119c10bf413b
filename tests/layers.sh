#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The order of the rooms, CONTRIBUTING.md: a file includes headers of its own room and the faces (room/room.h) of rooms below
# it, and any header of os/ and common/, which include headers of their own rooms alone, and those of os/ also those of
# common/; and, for what includes do not show, the objects: what one needs is defined in its own room or below.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"

# Each may use those before it; types and remap stand side by side.
rooms='common os core/base core/config core/io core/record core/registry core/scheme burn/layout burn/visit types remap/regex remap/ops remap/rules remap/plan
remap/forward remap/torch remap/fit remap/reverse remap recorder parallel'
# These see the public headers alone, and each other in this order.
outside='tools/print tools/session tools/look tools/plan tools/convert tools/embed tools/types tools/measure tools/stats tools/verify tools/diff tools/report tools/edit tools/browse tools/list tools mpi'

# includes FOLDER...: each include of a header in quotes, as FILE HEADER
# shellcheck disable=SC2016 # awk expands $2
includes() {
    (cd "$srcdir" && for folder; do
        for file in "$folder"/*.[ch]; do
            [ ! -e "$file" ] || echo "$file"
        done
    done | xargs awk -F '"' '/^ *# *include "/ { print FILENAME, $2 }')
}

# order ROOM... <INCLUDES: those that go against it
order() {
    awk -v rooms="$*" '
        function folder(path) { return sub(/\/[^\/]*$/, "", path) ? path : "." }
        BEGIN { n = split(rooms, list, " "); for (i = 1; i <= n; i++) floor[list[i]] = i }
        {
            mine = folder($1)
            its = folder($2)
            face = its "/" substr(its, match(its, /[^\/]*$/)) ".h"
            if (its == "tools") face = "tools/tool.h"
            if (($2 == "librecord.h" || $2 ~ /^librecord\//) && mine != "common" && mine != "os") next
            if (its == "common" || (its == "os" && mine != "common")) next # the floors: each of their headers is a face
            if (!(its in floor) || floor[its] > floor[mine] || (its == "types" && mine ~ /^remap/)) {
                print $1 " may not include " $2
            } else if (its != mine && $2 != face) {
                print $1 " includes " $2 ", which is no face"
            }
        }'
}

in_order() { # ROOM...
    includes "$@" | order "$@" >"$scratch/against"
    cat "$scratch/against"
    [ ! -s "$scratch/against" ]
}
# shellcheck disable=SC2086 # lists of words
{
    check "the library's files include their own room and the faces below it" in_order $rooms
    check "the command's files see the public headers and the faces below them" in_order $outside
}

no_private() { # FOLDER...: plugins see plugin.h and the codecs'
    includes "$@" | awk '$2 !~ /^plugins\/codec\// && $2 !~ /^librecord/ && $2 !~ /^(common|os)\// { print $1 " may not include " $2; bad = 1 } END { exit bad }'
}
codecs=$(cd "$srcdir" && find plugins/codec -type d | sort)
# shellcheck disable=SC2086 # a list of words
check "plugins see librecord/plugin.h, codecs, common and os alone" no_private plugins $codecs

only_in_remap() { # nobody else speaks PCRE2, libltdl is the registry's, inih the configuration's
    ! (cd "$srcdir" && grep -lE '# *include <(pcre2|ltdl|ini)\.h>' core/*/*.[ch] types/*.[ch] remap/*.[ch] remap/*/*.[ch] \
        recorder/*.[ch] parallel/*.[ch] plugins/*.c plugins/codec/*/*.[ch] tools/*.[ch] tools/*/*.[ch]) |
        grep -vE '^(remap/regex|core/registry|core/config)/'
}
check "PCRE2, libltdl and inih are each called from one room" only_in_remap

# Lengths: of files but for tests, whose cases stand side by side; of lines everywhere.
long_files() {
    (cd "$srcdir" && find . -name '*.[ch]' ! -path './tests/*' ! -path './build*' -exec wc -l {} +) |
        awk '$2 != "total" && $1 > 800 { print $2 " has " $1 " lines"; bad = 1 } END { exit bad }'
}
check "no file is longer than 800 lines" long_files
long_lines() {
    ! (cd "$srcdir" && find . -name '*.[ch]' ! -path './build*' -exec grep -nE '^.{121,}' {} +)
}
check "no line is longer than 120 columns" long_lines

# A room that does not see what it checks would pass: the check is shown something wrong.
mkdir -p "$scratch/tree/core/base" "$scratch/tree/remap"
echo '#include "remap/remap.h"' >"$scratch/tree/core/base/wrong.c"
echo '#include "core/base/text_private.h"' >"$scratch/tree/remap/wrong.c"
wrong() {
    real=$srcdir
    srcdir=$scratch/tree
    # shellcheck disable=SC2086 # a list of words
    includes core/base remap | order $rooms >"$scratch/against"
    srcdir=$real
    [ "$(wc -l <"$scratch/against")" = 2 ]
}
check "an include that goes against the order is found" wrong

# What each object defines and needs, by room: ROOM FILE LETTER NAME
objects() {
    for room in $rooms; do
        for object in "$top_builddir/$room"/.libs/*.o "$top_builddir/$room"/*.o; do
            [ ! -e "$object" ] || echo "$object"
        done
    done | xargs nm -A 2>/dev/null | awk -v top="$top_builddir/" '
        $NF ~ /^(lr|rec)_/ {
            file = substr($1, length(top) + 1)
            sub(/\.o:.*$/, "", file)
            sub(/\.libs\//, "", file)
            match(file, /[^\/]*$/)
            room = substr(file, 1, RSTART - 2)
            file = substr(file, RSTART)
            sub(/^lib[a-z]*_la-/, "", file)
            print room, file, $(NF - 1), $NF
        }' | sort -u
}
objects >"$scratch/objects"
if [ ! -s "$scratch/objects" ]; then
    skip "what objects need" "there are no objects of the library in $top_builddir"
    finish
fi
upwards() {
    # shellcheck disable=SC2086,SC2116 # one line of words
    awk -v rooms="$(echo $rooms)" '
        BEGIN { n = split(rooms, list, " "); for (i = 1; i <= n; i++) floor[list[i]] = i }
        $3 != "U" { home[$4] = $1; file[$4] = $2; next }
        { need[$1 " " $2 " " $4] = 1 }
        END {
            for (k in need) {
                split(k, p, " ")
                h = home[p[3]]
                if (h != "" && (floor[h] > floor[p[1]] || (h == "types" && p[1] ~ /^remap/))) {
                    print p[1] "/" p[2] ".c needs " p[3] " of " h "/" file[p[3]] ".c"
                    bad = 1
                }
            }
            exit bad
        }' "$scratch/objects"
}
check "no object needs what stands in a room above" upwards

# Files that need each other, the one the other, over however many steps: of the plugins, the command and record-mpi too.
circles() {
    "$srcdir/scripts/circles" "$top_builddir" >"$scratch/circles"
    cat "$scratch/circles"
    [ ! -s "$scratch/circles" ]
}
check "no files need each other" circles

finish
