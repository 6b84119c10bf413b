#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The public headers, each alone, and every macro in them: as C99, C11 and C++17, by each compiler that is there.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"

include=$srcdir/include
warnings="-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror"

# Each header alone and twice, with and without the short names.
for header in librecord.h librecord/bind.h librecord/bindings.h librecord/io.h librecord/parallel.h librecord/plan.h librecord/plugin.h librecord/plugin_types.h librecord/registry.h librecord/static.h librecord/types.h; do
    printf '#include <%s>\n#include <%s>\nextern int lr_nothing;\n' "$header" "$header" \
        >"$scratch/$(basename "$header" .h).c"
done

# A plugin has its own FULL; a program has the short names, whichever header comes first.
printf '#include <librecord/plugin.h>\nenum mode { FULL = 77 };\nextern int lr_nothing;\n' >"$scratch/own-name.c"
printf '#include <librecord/plugin.h>\n#include <librecord.h>\nextern int lr_full[FULL + 1];\n' >"$scratch/plugin-first.c"
printf '#include <librecord.h>\n#include <librecord/plugin.h>\nextern int lr_full[FULL + 1];\n' >"$scratch/plugin-last.c"

# That of librecord-mpi where there is MPI: with the flags that configure found.
mpi=$(sed -n 's/^MPI_CFLAGS = //p' "${top_builddir:-.}/Makefile" 2>/dev/null)
# Open MPI's C++ has a DOUBLE of its own.
[ -z "$mpi" ] || mpi="$mpi -DOMPI_SKIP_MPICXX=1"
headers="librecord bind bindings io parallel plan plugin plugin_types registry static types"
if [ -n "$mpi" ]; then
    printf '#include <librecord/mpi.h>\n#include <librecord/mpi.h>\nextern int lr_nothing;\n' >"$scratch/mpi.c"
    headers="$headers mpi"
else
    skip "librecord/mpi.h" "configured without MPI"
fi

compile_all() { # COMPILER LANGUAGE STANDARD
    compiler=$1
    what="$1 $3"
    flags="-x $2 -std=$3 -I $include $warnings"
    # C alone has prototypes to be strict about; clang takes a .c file in C++ mode for an old habit.
    [ "$2" != c ] || flags="$flags -Wstrict-prototypes"
    for header in $headers; do
        # shellcheck disable=SC2086 # a list of words
        check "$header.h alone: $what" "$compiler" $flags $mpi -fsyntax-only "$scratch/$header.c"
        # shellcheck disable=SC2086
        check "$header.h without short names: $what" "$compiler" $flags $mpi -DREC_NO_SHORT_NAMES -DDOUBLE=double \
            -fsyntax-only "$scratch/$header.c"
    done
    for order in own-name plugin-first plugin-last; do
        # shellcheck disable=SC2086
        check "$order: $what" "$compiler" $flags -fsyntax-only "$scratch/$order.c"
    done
    # shellcheck disable=SC2086
    check "every macro: $what" "$compiler" $flags -o "$scratch/macros" "$srcdir/tests/header_macros.c"
    check "what the macros made: $what" "$scratch/macros"
    rm -f "$scratch/macros"
}

# A compiler may be there without its standard library.
works() { # COMPILER LANGUAGE
    printf '#include <stdio.h>\nint main(void) { return puts("") < 0; }\n' |
        "$1" -x "$2" -o "$scratch/works" - 2>/dev/null
}
# Of the pairs of compiler and standard, each language has one in the quick tier.
c99="gcc clang" c11="gcc clang" cxx="g++ clang++"
slow || c99=gcc c11=clang cxx=g++
for compiler in gcc clang; do
    if ! works "$compiler" c; then
        skip "headers: $compiler" "$compiler is not installed"
        continue
    fi
    case " $c99 " in *" $compiler "*) compile_all "$compiler" c c99 ;; esac
    case " $c11 " in *" $compiler "*) compile_all "$compiler" c c11 ;; esac
done
for compiler in $cxx; do
    if works "$compiler" c++; then
        compile_all "$compiler" c++ c++17
    else
        skip "headers: $compiler" "$compiler is not installed"
    fi
done

# Two files of plugins, with different numbers of them, in one program that is optimised at its link.
printf '#include <librecord/plugin.h>\nstatic const rec_plugin a;\nREC_PLUGINS(one, &a);\n' >"$scratch/one.c"
printf '#include <librecord/plugin.h>\nstatic const rec_plugin a, b;\nREC_PLUGINS(two, &a, &b);\n' >"$scratch/two.c"
cat >"$scratch/both.c" <<'END'
#include <librecord/plugin.h>
extern const rec_plugin *const one_LTX_librecord_plugins[];
extern const rec_plugin *const two_LTX_librecord_plugins[];
int main(void)
{
    return !one_LTX_librecord_plugins[0] || one_LTX_librecord_plugins[1] || !two_LTX_librecord_plugins[1];
}
END
linked() { # COMPILER
    # shellcheck disable=SC2086 # a list of words
    "$1" -flto -std=c11 -I "$include" $warnings -o "$scratch/both" "$scratch/both.c" "$scratch/one.c" "$scratch/two.c" &&
        "$scratch/both"
}
if works gcc c; then
    check "plugins of two files in one program, by gcc with -flto" linked gcc
else
    skip "plugins with -flto" "gcc is not installed"
fi

# A macro of the headers is used by the test: by its name, by the kind of field that it is for, or by other macros.
cat "$include/librecord.h" "$include/librecord/"*.h >"$scratch/headers"
missing=
sed -n 's/^ *# *define \(REC_[A-Za-z0-9_]*\).*/\1/p' "$scratch/headers" | sort -u >"$scratch/macros.txt"
while read -r macro; do
    case $macro in
    REC_MEMBER_*) word=${macro#REC_MEMBER_} ;;
    REC_FIELD_OF_*) word=${macro#REC_FIELD_OF_} ;;
    *) word=$macro ;;
    esac
    grep -qw "$word" "$srcdir/tests/header_macros.c" ||
        grep -v "# *define $macro\b" "$scratch/headers" | grep -w "$macro" | grep -qv '^ *\*' ||
        missing="$missing $macro"
done <"$scratch/macros.txt"
echo "not used in tests/header_macros.c:$missing" >"$scratch/missing"
if [ -z "$missing" ]; then
    ok "every macro of the headers is in header_macros.c"
else
    not_ok "every macro of the headers is in header_macros.c" "$scratch/missing"
fi

finish
