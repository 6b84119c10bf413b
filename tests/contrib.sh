#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The plugins of contrib/plugins: built outside the tree with an installed librecord, then tested there. In `make check-slow`
# their own project builds them, and the test of damaged files has sanitizers.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
# shellcheck source=tests/staged.sh
. "$srcdir/tests/staged.sh"

if [ ! -e "$libdir/librecord.so" ]; then
    skip "plugins outside the tree" "this build has no shared library"
    finish
fi
# A compiler alone, and their test of files.
compiled() { # PLUGIN
    mkdir -p "$scratch/plugins"
    # shellcheck disable=SC2046,SC2086 # lists of words
    ${CC:-cc} -std=c11 -fPIC -shared -fvisibility=hidden -Wall -Wextra -Werror ${SANITIZERS:+-fsanitize=$SANITIZERS} \
        -I "$contrib" -o "$scratch/plugins/$1.so" "$contrib/$1"/*.c "$contrib"/common/*.c \
        $("$scratch/pkg-config" --cflags --libs librecord)
}
files_pass() {
    srcdir=$contrib RECORD=$record LIBRECORD_PLUGIN_PATH=$scratch/plugins:$plugindir sh "$contrib/tests/files.sh"
}
if ! slow; then
    contrib=$(cd "$srcdir" && pwd)/contrib/plugins
    check "the compiler makes flax.so" compiled flax
    check "the compiler makes onnx.so" compiled onnx
    check "their test of files passes" files_pass
    finish
fi

if ! command -v autoreconf >/dev/null; then
    skip "plugins outside the tree" "there is no autoreconf"
    finish
fi

cp -R "$srcdir/contrib/plugins" "$scratch/contrib" || exit 99
chmod -R u+w "$scratch/contrib"
cd "$scratch/contrib" || exit 99

# The sanitizers of this build, or those that the compiler has.
sanitizers=${SANITIZERS:-}
if [ -z "$sanitizers" ] && echo 'int main(void) { return 0; }' >"$scratch/try.c" &&
    ${CC:-cc} -fsanitize=address,undefined -o "$scratch/try" "$scratch/try.c" 2>/dev/null && "$scratch/try"; then
    sanitizers=address,undefined
fi
configured() {
    ./configure --disable-dependency-tracking --prefix="$scratch/installed" --with-plugindir="$scratch/installed/plugins" \
        ${sanitizers:+--enable-sanitizers="$sanitizers"} CC="${CC:-cc}" CFLAGS="-O1 -g -Werror" \
        PKG_CONFIG="$scratch/pkg-config" RECORD="$record" "$@"
}
installed_headers_only() { # nothing of the tree
    ! grep -rn '#include "\(librecord\|core\|common/io\|plugins\|tests\)' --include='*.[ch]' . &&
        ! grep -rn "$1" Makefile config.log
}
tested() {
    LIBRECORD_PLUGIN_PATH=$plugindir make -k check "$@" >check.log 2>&1 && return
    cat check.log tests/*.log
    return 1
}
check "autoreconf" autoreconf -fi
check "configure" configured
check "make" make
check "it includes installed headers alone" installed_headers_only "$(cd "$srcdir" && pwd)/include"
check "make check" tested
check "make install" make install
LIBRECORD_PLUGIN_PATH=$scratch/installed/plugins
export LIBRECORD_PLUGIN_PATH
listed() {
    "$record" plugins >"$scratch/list" 2>&1
    if ! grep -q '^Flax ' "$scratch/list" || ! grep -q '^Onnx ' "$scratch/list"; then
        cat "$scratch/list"
        return 1
    fi
}
check "record plugins lists them" listed
finish
