#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# scripts/sources: it names every file. In `make check-slow` a compiler and its output alone build a command, and a shared
# library with plugins inside; that takes 20 seconds on two idle cores.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
# shellcheck source=tests/movable.sh
. "$srcdir/tests/movable.sh"
cd "$srcdir" || exit 99
echo 'int main(void) { return 0; }' >"$scratch/empty.c"
sources=$scratch/sources
data=$PWD/tests/data/burn/0.21.0

scripts/sources >"$sources"
list() { # KIND: the values of all lines of that kind
    sed -n "s/^$1 [^ ]* [^ ]* //p" "$sources"
}
# shellcheck disable=SC2016 # awk's fields
check "each line has four words" awk 'NF < 4 || $1 !~ /^(source|generated|header|include|define|flag|needs|link|uses)$/ { print; bad = 1 }
    END { exit bad || !NR }' "$sources"
all_listed() { # each C file and header of the library and the command; none twice
    find common os core burn types remap recorder parallel plugins tools -name '*.[ch]' | sort >"$scratch/there"
    { list source; list header; } | sort -u >"$scratch/listed"
    comm -23 "$scratch/there" "$scratch/listed" | grep -vE '^(core/registry/module|tools/browse/(gauge|page|screen|tensor|terminal))\.c$' \
        >"$scratch/left" && cat "$scratch/left" && return 1
    list source | sort | uniq -d | grep . && return 1
    comm -13 "$scratch/there" "$scratch/listed" | grep -v '^include/' && return 1
    return 0
}
check "every file is listed, but those for plugin files and ncurses" all_listed
uses_listed() { # the parts with which the build links the command
    expected=$(sed -n 's/^tools_record_LDADD = //p' tools/Makefile.inc | tr ' ' '\n' | sed -n 's/^lib\(.*\)\.la$/\1/p' | grep -v '^record$')
    [ -n "$expected" ] && [ "$(list uses)" = "$expected" ]
}
check "the parts that the command is linked with" uses_listed
check "blocks of GGUF are computed without contraction" grep -qx 'flag codec-gguf - -ffp-contract=off' "$sources"
check "the generated files are made" scripts/sources --generate "$scratch/made"
made_all() {
    list generated | while read -r file; do
        [ -s "$scratch/made/$file" ] || exit 1
    done
}
check "all of them" made_all
slow || finish

# compile OPTION...: writes a script that compiles all files, with those options, and runs it
compile() {
    options="- $*"
    awk -v options="$options" -v made="$scratch/made" -v objects="$scratch/objects" -v cc="${CC:-cc}" '
        BEGIN { count = split(options, list, " "); for (i = 1; i <= count; i++) wanted[list[i]] = 1 }
        !($3 in wanted) { next }
        { value = $0; sub(/^[^ ]+ [^ ]+ [^ ]+ /, "", value); quoted = "\047" value "\047" }
        $1 == "include" { flags["-"] = flags["-"] " -I" quoted }
        $1 == "define" { flags[$2] = flags[$2] " -D" quoted }
        $1 == "flag" { flags[$2] = flags[$2] " " quoted }
        $1 == "source" || $1 == "generated" { part[value] = $2; file[value] = ($1 == "generated" ? made "/" : "") value }
        END {
            for (name in part) {
                object = part[name] "-" name
                gsub(/[\/.]/, "_", object)
                folder = part[name] == "record" ? "command" : "library"
                print cc " -O0 -fPIC -c -o \047" objects "/" folder "/" object ".o\047" flags["-"] flags[part[name]] " \047" file[name] "\047"
            }
        }' "$sources" >"$scratch/commands"
    mkdir -p "$scratch/objects/command" "$scratch/objects/library"
    tr '\n' '\0' <"$scratch/commands" | xargs -0 -n 1 -P "$(nproc)" sh -c
}
check "each file is compiled" compile zstd
libraries=$(pkg-config --libs inih libpcre2-8 zlib libzstd)
for library in $(list link); do
    libraries="$libraries -l$library"
done
# shellcheck disable=SC2086 # lists of words
{
    check "the command is linked" ${CC:-cc} -o "$scratch/record" "$scratch"/objects/*/*.o $libraries
    check "a shared library with plugins is linked" ${CC:-cc} -shared -Wl,--no-undefined \
        -Wl,--version-script=packaging/librecord.map -o "$scratch/librecord.so" "$scratch"/objects/library/*.o $libraries
}
# The static command: an archive has what the shared libraries need of others, too.
libraries=$(pkg-config --static --libs inih libpcre2-8 zlib libzstd)
# shellcheck disable=SC2086 # lists of words
if ${CC:-cc} -static -o "$scratch/static" -x c - -Wl,--start-group -lz -lpcre2-8 -linih -lzstd -Wl,--end-group \
    >"$scratch/log" 2>&1 <"$scratch/empty.c"; then
    check "a static command is linked" ${CC:-cc} -static -o "$scratch/static" "$scratch"/objects/*/*.o $libraries -lm
    movable_gzip=mpk.zst # this build has no ISA-L
    movable_expect
    movable_check "$scratch/static"
else
    skip "a static command" "there are no static libraries"
fi
unset LIBRECORD_DATA LIBRECORD_PLUGIN_PATH
cd "$scratch" || exit 99
check "the command converts a file" ./record convert -q "$data/zoo-full.mpk" out.safetensors
check "and back" ./record convert -q out.safetensors back.mpk
check "to the bytes of the original" cmp "$data/zoo-full.mpk" back.mpk
cat >program.c <<'END'
#include <librecord.h>
int main(int count, char **arguments)
{
    rec_recorder *recorder = count == 3 ? rec_open_recorder("Auto", FULL) : 0;
    rec_record *record = recorder ? rec_load(recorder, arguments[1]) : 0;
    return !record || rec_save(recorder, record, arguments[2]) != REC_OK;
}
END
# shellcheck disable=SC2086 # may be a list of words
check "a program is linked with the library" ${CC:-cc} -o program program.c -I "$OLDPWD/include" "$scratch/librecord.so"
check "it converts" ./program "$data/zoo-full.mpk" program.mpk
check "to the bytes of the original" cmp "$data/zoo-full.mpk" program.mpk

finish
