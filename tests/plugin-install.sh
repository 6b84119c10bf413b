#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A third party's plugin, the installed tutorial: built outside the tree with nothing but the installed headers and
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
    (cd "$srcdir/examples" && find . -type f ! -name '.*' | sort) >"$scratch/ours"
    (cd "$examples" && find . -type f | sort) | diff "$scratch/ours" -
}
check "the examples are installed" same_files
cp -R "$examples/tutorial" "$scratch/flat" || exit 1
cp "$srcdir/tests/plugins/use_flat.c" "$scratch" || exit 1
chmod -R u+w "$scratch/flat"
umask 022
# The tutorial's format.
cd "$scratch/flat" || exit 1
check "it builds with pkg-config alone" make_with_installed flat.so
check "make install puts it into a directory" make_with_installed install plugindir="$scratch/mine"
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
listed() {
    grep -E '"name": "Flat".*mine/flat\.so' "$scratch/list" || { cat "$scratch/list"; false; }
}
check "record plugins lists it" listed

cd "$scratch" || exit 1
# shellcheck disable=SC2046,SC2086 # lists of words
check "a program that uses it by name builds" ${CC:-cc} -std=c11 -Wall -Wextra -Werror \
    ${SANITIZERS:+-fsanitize=$SANITIZERS} -o use_flat use_flat.c $("$scratch/pkg-config" --cflags --libs librecord)
check "from C: saved, loaded by name and content" ./use_flat made

refused() { # STATUS WORDS COMMAND...: it must end so and say that
    expected=$1 words=$2
    shift 2
    "$@" >said 2>&1
    status=$?
    cat said
    [ "$status" = "$expected" ] && grep -q "$words" said
}
LIBRECORD_PLUGIN_PATH=$scratch/mine
check "it stands alone, without any other plugin" "$record" convert made.flat again.flat
check "the bytes are those of the original" cmp made.flat again.flat
rm -r "$scratch/mine"
LIBRECORD_PLUGINS=none
export LIBRECORD_PLUGINS
check "without its directory it is unknown" refused 2 "Flat" "$record" convert --to Flat made.flat lost.flat
finish
