#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# What the shared objects export and need: the public functions with their version nodes, one table a plugin, and no
# library that is not used; and how the names of the command begin.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"

# What the command's files share, by its own prefix and the usual names of what cannot fail: nothing of it can be taken for
# a name of a library that is linked into the same program. Names that begin with __ are the compiler's.
(cd "$srcdir" && find tools -name '*.c') | sed "s|^|$top_builddir/|; s|c\$|o|" >"$scratch/objects"
# With or without ncurses.
if [ -e "$top_builddir/tools/browse/none.o" ]; then
    without='gauge|page|screen|tensor|terminal'
else
    without=none
fi
sed -i -E "\\:/tools/browse/($without)\\.o\$:d" "$scratch/objects"
check "the command's objects are there" xargs ls <"$scratch/objects"
xargs nm -g --defined-only <"$scratch/objects" | awk 'NF == 3 { print $3 }' |
    grep -vxE 'tool_[a-z0-9_]+|x(malloc|realloc|strdup|v?asprintf)|main|__.*' >"$scratch/foreign"
check "global names of the command begin with tool_" diff /dev/null "$scratch/foreign"

library=$top_builddir/.libs/librecord.so
if [ ! -e "$library" ]; then
    skip "exported symbols" "a static build exports nothing"
    finish
fi

# 1. symbols.txt lists what the headers declare; those of librecord-mpi are another library's
# shellcheck disable=SC2046 # names without blanks
sed -n 's/^REC_API .*[ *]\(rec_[a-z0-9_]*\)(.*/\1/p' "$srcdir/include/librecord.h" \
    $(find "$srcdir/include/librecord" -name '*.h' ! -name mpi.h) | sort >"$scratch/declared"
sed -n 's/^\(rec_[a-z0-9_]*\) .*/\1/p' "$srcdir/tests/symbols.txt" | sort >"$scratch/listed"
check "symbols.txt lists the functions of the public headers" diff "$scratch/declared" "$scratch/listed"

# 2. the library exports them, in the node they came with, and nothing else
nm -D --defined-only "$library" | awk '$2 != "A" { sub("@@", " ", $3); print $3 }' | sort >"$scratch/exported"
grep -v '^#' "$srcdir/tests/symbols.txt" | sort >"$scratch/expected"
check "librecord.so exports what symbols.txt lists" diff "$scratch/expected" "$scratch/exported"

# Sanitizers export symbols and bring libraries of their own.
if [ -n "${SANITIZERS:-}" ]; then
    skip "what plugins export, and who links what" "built with sanitizers"
    finish
fi

# 3. a plugin exports one table, under the name of its file and under one that every file has
for plugin in "$top_builddir"/plugins/.libs/*.so; do
    module=$(basename "$plugin" .so)
    printf 'V librecord_plugins\nD %s_LTX_librecord_plugins\n' "$(printf %s "$module" | tr -c A-Za-z0-9 _)" |
        LC_ALL=C sort >"$scratch/expected"
    nm -D --defined-only "$plugin" | awk '{ print $2, $3 }' | LC_ALL=C sort >"$scratch/exported"
    check "$module.so exports its table alone" diff "$scratch/expected" "$scratch/exported"
done

# 4. who links what, the C library's own parts aside; and nobody links what it does not use
links() { # FILE ALLOWED: the names a file may need, as a pattern
    readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(lib[A-Za-z0-9_+-]*\)\.so.*/\1/p' |
        grep -vxE "libc|libm|libpthread|libgcc_s|$2" >"$scratch/foreign"
    check "$(basename "$1") links nothing but $2" diff /dev/null "$scratch/foreign"
    # Prints what is linked and not used, and says so by its status.
    LD_LIBRARY_PATH=$top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
        check "$(basename "$1") uses all that it links" ldd -u "$1"
}
links "$library" 'libinih|libltdl|libpcre2-8'
for plugin in "$top_builddir"/plugins/.libs/*.so; do
    case $plugin in
    *-gz.so) links "$plugin" 'nothing' ;; # names alone
    */source-https.so) links "$plugin" 'librecord|libcurl' ;;
    */zst.so) links "$plugin" 'librecord|libzstd' ;;
    */gz.so | *json.so) links "$plugin" 'librecord|libz|libisal' ;;
    */npz.so | */pt.so) links "$plugin" 'librecord|libz' ;;
    *) links "$plugin" librecord ;;
    esac
done
links "$top_builddir/tools/.libs/record" librecord

finish
