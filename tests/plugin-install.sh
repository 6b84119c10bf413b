#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Third parties' plugins, the installed examples: built outside the tree with nothing but the installed headers and
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

examples=$(find "$stage" -type d -path '*/doc/*' -name examples)
same_files() { # all that is in the tree, and no more
    (cd "$srcdir/examples" && find . -type f | sort) >"$scratch/ours"
    (cd "$examples" && find . -type f | sort) | diff "$scratch/ours" -
}
check "the examples are installed" same_files
cp -R "$examples/plugin" "$scratch/npz" || exit 1
cp -R "$examples/tutorial" "$scratch/flat" || exit 1
cp "$srcdir/tests/plugins/use_npy.c" "$scratch" || exit 1
chmod -R u+w "$scratch/npz" "$scratch/flat"
cd "$scratch/npz" || exit 1
check "it builds with pkg-config alone" make_with_installed npz.so
umask 022
check "make install puts it into a folder of one's own" make_with_installed install plugindir="$scratch/mine"

# The tutorial's format.
cd "$scratch/flat" || exit 1
check "the tutorial's plugin builds" make_with_installed install plugindir="$scratch/mine"
LIBRECORD_PLUGIN_PATH=$scratch/mine:$plugindir
export LIBRECORD_PLUGIN_PATH
tiny=$(cd "$srcdir" && pwd)/tests/data/burn/0.21.0/tiny-full.mpk
for file in tiny.flat again.flat tiny.mpk; do
    "$record" convert --check --option layout=keep "$tiny" "$file" >>said 2>&1 ||
        "$record" convert --check "$tiny" "$file" >>said 2>&1 || cat said
    tiny=$file
done
check "a record goes through it and back" cmp tiny.flat again.flat
for path in linear.weight linear.bias; do
    "$record" show "$srcdir/tests/data/burn/0.21.0/tiny-full.mpk" "$path" >expected
    "$record" show tiny.mpk "$path" >found
    check "$path is what it was" cmp expected found
done
: >refused
for size in 0 3 7 8 9 19 30 45 111; do # a prefix is refused, but for what is a whole file of fewer tensors
    head -c "$size" tiny.flat >cut.flat
    "$record" ls cut.flat >said 2>&1 || echo "$size" >>refused
done
check "a file that was cut is refused" diff - refused <<END
0
3
7
9
19
30
45
111
END
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
