#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A third party's plugin (examples/plugin): built outside the tree with nothing but the installed headers and
# pkg-config, put into a folder, used by name from the command line and from C.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
# shellcheck source=tests/staged.sh
. "$srcdir/tests/staged.sh"

if [ ! -e "$libdir/librecord.so" ]; then
    skip "a plugin outside the tree" "this build has no shared library"
    finish
fi

cp -R "$srcdir/examples/plugin" "$scratch/npz" || exit 1
cp "$srcdir/tests/plugins/use_npy.c" "$scratch" || exit 1
chmod -R u+w "$scratch/npz"
cd "$scratch/npz" || exit 1
check "it builds with pkg-config alone" make_with_installed npz.so
umask 022
check "make install puts it into a folder of one's own" make_with_installed install plugindir="$scratch/mine"

LIBRECORD_PLUGIN_PATH=$scratch/mine:$plugindir
export LIBRECORD_PLUGIN_PATH
"$record" plugins --json >"$scratch/list" 2>&1
listed() { # and it, not the one that is installed, has the name
    grep -E '"name": "Npy".*mine/npz\.so' "$scratch/list" || { cat "$scratch/list"; false; }
}
check "record plugins lists it" listed

cd "$scratch" || exit 1
# shellcheck disable=SC2046,SC2086 # lists of words
check "a program that uses it by name builds" ${CC:-cc} -std=c11 -Wall -Wextra -Werror \
    ${SANITIZERS:+-fsanitize=$SANITIZERS} -o use_npy use_npy.c $("$scratch/pkg-config" --cflags --libs librecord)
check "from C: saved, loaded by name, alias and content" ./use_npy made

# What NumPy would write: the header's length makes the data begin at a multiple of 64.
header="{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
data_begins_at_128() {
    [ "$(wc -c <made.npy)" = 152 ] && dd if=made.npy bs=1 skip=10 count=${#header} 2>/dev/null | grep -F "$header"
}
check "the file is what NumPy expects" data_begins_at_128
check "from the command line: .npy to .mpk" "$record" convert made.npy made.mpk
check "from the command line: .mpk to .npy by name" "$record" convert --to npy made.mpk again.npy
check "the bytes are those of the original" cmp made.npy again.npy
"$record" show made.npy '' >shown 2>&1
check "record show" grep -q '2.5' shown

refused() { # STATUS WORDS COMMAND...: it must end so and say that
    expected=$1 words=$2
    shift 2
    "$@" >said 2>&1
    status=$?
    cat said
    [ "$status" = "$expected" ] && grep -q "$words" said
}
tiny=$srcdir/tests/data/burn/0.21.0/tiny-full.mpk
check "a record of two tensors is refused, with advice" refused 2 "save it as .npz" \
    "$record" convert "$tiny" tiny.npy
absent() {
    [ ! -e tiny.npy ] && [ -z "$(find . -maxdepth 1 -name '*tiny*')" ]
}
check "and leaves nothing behind" absent
head -c 140 made.npy >cut.npy
check "a file that was cut is refused" refused 2 "the shape asks for 24" "$record" info cut.npy

# The same sources are what librecord installs.
LIBRECORD_PLUGIN_PATH=$plugindir
check "the installed one reads what it wrote" "$record" convert again.npy third.npy
check "and writes the same" cmp again.npy third.npy
LIBRECORD_PLUGIN_PATH=$scratch/mine
check "it stands alone, without any other plugin" "$record" convert again.npy fourth.npy
rm -r "$scratch/mine"
LIBRECORD_PLUGINS=none
export LIBRECORD_PLUGINS
check "without its folder it is unknown" refused 2 "Npy" "$record" convert --to Npy made.mpk lost.npy
finish
