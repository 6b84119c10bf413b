#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# What `make install` puts where, what pkg-config says about it, whether a program can be built and run with nothing
# else, and that `make uninstall` takes all of it away.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"

# shellcheck source=tests/staged.sh
. "$srcdir/tests/staged.sh"
moved() {
    "$scratch/pkg-config" "$@"
}
version=$(moved --modversion librecord)

find "$stage" ! -type d | sed "s|^$stage||" | sort >"$scratch/files"
absent() { # PATTERN: no installed file is like that
    ! grep "$1" "$scratch/files"
}
present() { # FILE...: each is there
    for file; do
        if ! [ -e "$file" ]; then
            echo "missing: $file"
            cat "$scratch/files"
            return 1
        fi
    done
}
check "no libtool files are installed" absent '\.la$'
check "headers are installed" present "$stage$prefix/include/librecord.h" "$stage$prefix/include/librecord.hpp" \
    "$stage$prefix/include/librecord/bind.h" "$stage$prefix/include/librecord/bindings.h" \
    "$stage$prefix/include/librecord/io.h" "$stage$prefix/include/librecord/parallel.h" \
    "$stage$prefix/include/librecord/plan.h" "$stage$prefix/include/librecord/plugin.h" \
    "$stage$prefix/include/librecord/plugin_types.h" "$stage$prefix/include/librecord/registry.h" \
    "$stage$prefix/include/librecord/static.h" "$stage$prefix/include/librecord/types.h"
check "what CMake reads is installed" present "$libdir/cmake/librecord/librecordConfig.cmake" \
    "$libdir/cmake/librecord/librecordConfigVersion.cmake"
check "what completes words is installed" present "$stage$prefix/share/bash-completion/completions/record" \
    "$stage$prefix/share/zsh/site-functions/_record" "$stage$prefix/share/fish/vendor_completions.d/record.fish"
check "the manual pages are installed" present "$stage$prefix/share/man/man1/record.1" "$stage$prefix/share/man/man3/rec_load.3"
case $plugindir in
"$libdir"/librecord/plugins) ok "pkg-config says where plugins are" ;;
*) not_ok "pkg-config says where plugins are: $plugindir" ;;
esac

cat >"$scratch/program.c" <<'EOF'
#include <librecord.h>
#include <stdio.h>
int main(void)
{
    rec_recorder *recorder = rec_open_recorder("NamedMpkGz", FULL);
    if (!recorder) {
        (void)puts(rec_error_message());
        return 1;
    }
    (void)printf("%s %s %d\n", rec_version_string(), rec_recorder_extension(recorder),
                 rec_version() == REC_VERSION_NUMBER);
    rec_close_recorder(recorder);
    return 0;
}
EOF

if [ -e "$libdir/librecord.so" ]; then
    if [ -e "$top_builddir/plugins/.libs/mpk.so" ]; then
        check "plugins are installed" present "$plugindir/mpk.so" "$plugindir/mpk-gz.so"
    else
        check "no plugins are installed, they are in the library" absent '/plugins/.*\.so$'
    fi
    check "the library is installed with its SONAME" present "$libdir/librecord.so.0"
    flags=$(moved --cflags --libs librecord)
else
    check "the static library is installed" present "$libdir/librecord.a"
    flags=$(moved --static --cflags --libs librecord)
fi

# shellcheck disable=SC2086 # lists of words
check "a program is built with pkg-config alone" ${CC:-cc} -std=c11 -Wall -Wextra -Werror \
    ${SANITIZERS:+-fsanitize=$SANITIZERS} -o "$scratch/program" "$scratch/program.c" $flags
# Where plugins are is compiled in; the staged tree is elsewhere.
LIBRECORD_PLUGIN_PATH=$plugindir
LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LIBRECORD_PLUGIN_PATH LD_LIBRARY_PATH
echo "$version mpk.gz 1" >"$scratch/expected"
runs() {
    "$scratch/program" >"$scratch/said" 2>&1
    diff "$scratch/expected" "$scratch/said"
}
check "it runs with the installed library and plugins" runs
check "the installed record command runs" "$record" plugins
only_what_is_used() {
    [ ! -d "$plugindir" ] && return # they are in the library
    LD_DEBUG=files LD_DEBUG_OUTPUT=$scratch/opened "$record" ls "$srcdir/tests/data/burn/0.21.0/tiny-full.mpk" >/dev/null || return 1
    cat "$scratch"/opened.* >"$scratch/opened"
    grep -q '/mpk\.so' "$scratch/opened" || return 1
    ! grep -E '/(safetensors|json|bin|source-https)\.so' "$scratch/opened"
}
check "plugins of formats that are not used are not opened" only_what_is_used

check "make uninstall" make -C "$top_builddir" uninstall DESTDIR="$stage"
find "$stage" ! -type d >"$scratch/left"
check "make uninstall leaves no file" diff /dev/null "$scratch/left"
find "$stage$prefix" -type d -name '*librecord*' >"$scratch/left"
check "make uninstall leaves no folder of ours" diff /dev/null "$scratch/left"

finish
