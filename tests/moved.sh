#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# An installation in another place than its prefix works without environment variables: 7 files become 8 formats, byte for
# byte as by the build. With --enable-relocatable the command finds the library; without, the dynamic linker gets its path.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
# shellcheck source=tests/staged.sh
. "$srcdir/tests/staged.sh"
# shellcheck source=tests/movable.sh
. "$srcdir/tests/movable.sh"

if [ ! -e "$libdir/librecord.so" ] || [ -n "${SANITIZERS:-}" ]; then
    skip "a moved installation" "this build has no shared library, or has sanitizers"
    finish
fi
if [ -e "$prefix/lib/librecord/plugins" ] || [ -e "$prefix/share/librecord" ]; then
    skip "a moved installation" "librecord is installed in $prefix"
    finish
fi

movable_expect
mv "$stage$prefix" "$scratch/moved" && rm -rf "$stage" || exit 99
command=$scratch/moved/bin/record
unset LD_LIBRARY_PATH
# shellcheck disable=SC2016 # the text of the file
if readelf -d "$command" | grep -qF '[$ORIGIN/../lib]'; then
    set -- "$command"
else
    set -- "$(readelf -p .interp "$command" | sed -n 's/^.* \(\/.*\)$/\1/p')" --library-path "$scratch/moved/lib" "$command"
fi
movable_check "$@"
env -i "$@" plugins --why >"$scratch/plugins" 2>&1
check "plugins come from the moved directory" grep -qF "$scratch/moved/lib/librecord/plugins/" "$scratch/plugins"
env -i "$@" profiles llama >"$scratch/profile" 2>&1
check "profiles come from the moved directory" grep -qF "$scratch/moved/share/librecord/profiles/llama.ini" "$scratch/profile"

# A directory that anybody can change is not used.
chmod 777 "$scratch/moved/share/librecord/profiles"
env -i "$@" profiles llama >"$scratch/profile" 2>&1
check "profiles of a directory that others can change are not used" grep -qF librecord:profiles/llama.ini "$scratch/profile"
chmod 755 "$scratch/moved/share/librecord/profiles"
chmod 777 "$scratch/moved/lib/librecord/plugins"
env -i "$@" plugins --why >"$scratch/plugins" 2>&1
check "nor are plugins" grep -q 'the directory is writable by others' "$scratch/plugins"
chmod 755 "$scratch/moved/lib/librecord/plugins"
rm -r "$scratch/moved/share/librecord"
env -i "$@" convert -q "$movable_first" "$scratch/without.bpk" >"$scratch/said" 2>&1
check "the library has the data of a missing directory" cmp "$scratch/without.bpk" "$scratch/expected/1.bpk"

finish
