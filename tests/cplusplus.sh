#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# librecord.hpp: compiles without a warning by each compiler as C++17 and C++20, and does what its comments say. In the
# quick tier g++ takes the header alone and builds the program as C++17, and clang++ has librecord.h first, as C++20.
# tests/documents.sh compiles and runs the README's program.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
srcdir=$(cd "$srcdir" && pwd)
top_builddir=$(cd "$top_builddir" && pwd)
tiny=$srcdir/tests/data/burn/0.21.0/tiny-full.mpk
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror"

libs=
if [ ! -e "$top_builddir/.libs/librecord.so" ]; then
    libs=$(sed -n 's/^Libs.private: //p' "$top_builddir/librecord.pc")
fi
cd "$scratch" || exit 1

# The header alone and twice, then after librecord.h, which has the short names.
printf '#include <librecord.hpp>\n#include <librecord.hpp>\nint FULL;\n' >alone.cpp
printf '#include <librecord.h>\n#include <librecord.hpp>\nstatic_assert(static_cast<int>(FULL) == REC_PRECISION_FULL);\n' >after.cpp

compiles() { # COMPILER STANDARD ARGUMENT...
    compiler=$1
    standard=$2
    shift 2
    # shellcheck disable=SC2086 # lists of words
    $compiler -std="$standard" $warnings ${SANITIZERS:+-fsanitize=$SANITIZERS} -I "$srcdir/include" "$@"
}
builds() { # COMPILER STANDARD
    # shellcheck disable=SC2086 # a list of words
    compiles "$1" "$2" -o program "$srcdir/tests/cplusplus.cpp" -L "$top_builddir/.libs" \
        -Wl,-rpath,"$top_builddir/.libs" -lrecord $libs
}
# A compiler may be there without its standard library.
works() {
    printf '#include <filesystem>\nint main() { return std::filesystem::path("a").empty(); }\n' >works.cpp
    if slow; then
        "$1" -std=c++20 -o works works.cpp 2>/dev/null && ./works
    else
        "$1" -std=c++20 -fsyntax-only works.cpp 2>/dev/null
    fi
}

for compiler in g++ clang++; do
    if ! works "$compiler"; then
        skip "librecord.hpp: $compiler" "$compiler is not installed"
        continue
    fi
    case $compiler:${CC:-cc}:${SANITIZERS:-} in
    *:) ;;
    g++:*clang*:* | clang++:*gcc*:*)
        skip "librecord.hpp: $compiler" "its sanitizers are not those of $CC"
        continue
        ;;
    esac
    # Of four pairs of compiler and standard, two are in the quick tier.
    standards="c++17 c++20"
    slow || case $compiler in
    g++) standards=c++17 ;;
    *) standards=c++20 ;;
    esac
    for standard in $standards; do
        files="alone after"
        slow || case $compiler in
        g++) files=alone ;;
        *) files=after ;;
        esac
        for file in $files; do
            check "librecord.hpp $file: $compiler $standard" compiles "$compiler" "$standard" -fsyntax-only "$file.cpp"
        done
        if [ "$compiler" = clang++ ] && ! slow; then
            continue
        fi
        rm -f program
        check "a program builds: $compiler $standard" builds "$compiler" "$standard"
        check "and does what it should: $compiler $standard" ./program "$tiny"
    done
done

finish
