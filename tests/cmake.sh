#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A CMake project that finds the installed librecord: which versions it may ask for, that a program in C and one in C++ are
# built and run, that what was installed may be moved, and that a part of it is refused.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
command -v cmake >/dev/null || {
    skip "a CMake project" "cmake is not installed"
    finish
}
# shellcheck source=tests/staged.sh
. "$srcdir/tests/staged.sh"

version=$("$scratch/pkg-config" --modversion librecord)
cmakedir=$libdir/cmake/librecord
LIBRECORD_PLUGIN_PATH=$plugindir
export LIBRECORD_PLUGIN_PATH

mkdir "$scratch/project" || exit 1
cat >"$scratch/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.19)
project(look LANGUAGES C CXX)
foreach(name prefix exec_prefix libdir includedir plugindir)
    set(${name} "mine")
endforeach()
find_package(librecord ${ASK} CONFIG REQUIRED)
find_package(librecord CONFIG REQUIRED) # twice is no error
foreach(name prefix exec_prefix libdir includedir plugindir)
    if(NOT "${${name}}" STREQUAL "mine")
        message(FATAL_ERROR "find_package changed ${name}")
    endif()
endforeach()
message(STATUS "plugins in ${librecord_PLUGIN_DIR}")
if(NOT EXISTS "${librecord_PLUGIN_DIR}" AND ${SHARED})
    message(FATAL_ERROR "no folder: ${librecord_PLUGIN_DIR}")
endif()
add_executable(inc look.c)
target_link_libraries(inc PRIVATE librecord::librecord)
add_executable(incxx look.cpp)
target_link_libraries(incxx PRIVATE librecord::librecord)
END
cat >"$scratch/project/look.c" <<'END'
#include <librecord.h>
#include <stdio.h>
int main(void)
{
    rec_recorder *recorder = rec_open_recorder("NamedMpkGz", FULL);
    if (!recorder) {
        (void)puts(rec_error_message());
        return 1;
    }
    (void)printf("%s %s\n", rec_version_string(), rec_recorder_extension(recorder));
    rec_close_recorder(recorder);
    return 0;
}
END
cp "$scratch/project/look.c" "$scratch/project/look.cpp"

if [ -e "$libdir/librecord.so" ]; then shared=TRUE; else shared=FALSE; fi
# configured FOLDER ASKED: what cmake says is in $scratch/said
configured() {
    rm -rf "${scratch:?}/made"
    # A cache of the compiler's would be taken for the compiler.
    env -u CC -u CXX -u CFLAGS -u CXXFLAGS cmake -S "$scratch/project" -B "$scratch/made" -Dlibrecord_DIR="$1" -DASK="$2" \
        -DSHARED="$shared" -DCMAKE_C_COMPILER="${CC##* }" ${SANITIZERS:+"-DCMAKE_C_FLAGS=-fsanitize=$SANITIZERS"} \
        ${SANITIZERS:+"-DCMAKE_CXX_FLAGS=-fsanitize=$SANITIZERS"} >"$scratch/said" 2>&1 && return
    cat "$scratch/said"
    return 1
}
CC=${CC:-cc}
if [ -n "${SANITIZERS:-}" ]; then # g++ and clang's runtime are two
    sed -i -e '/incxx/d' -e 's/ LANGUAGES C CXX/ LANGUAGES C/' "$scratch/project/CMakeLists.txt"
elif ! command -v c++ >/dev/null; then
    skip "a program in C++" "there is no c++"
    sed -i -e '/incxx/d' -e 's/ LANGUAGES C CXX/ LANGUAGES C/' "$scratch/project/CMakeLists.txt"
fi

refused() { # FOLDER ASKED WORDS
    if configured "$1" "$2" >/dev/null; then
        echo "'$2' was taken"
        return 1
    fi
    tr -s '\n ' '  ' <"$scratch/said" | grep -q "$3" && return
    cat "$scratch/said"
    return 1
}
check "it finds librecord" configured "$cmakedir" ""
check "it finds the version that is there" configured "$cmakedir" "$version;EXACT"
check "it finds one that serves for 0.1" configured "$cmakedir" 0.1
check "it finds one of a range" configured "$cmakedir" 0.1...0.99
check "a newer one is refused" refused "$cmakedir" 0.99 "compatible with requested version \"0.99\""
check "another SONAME is refused" refused "$cmakedir" 1.0 "compatible with requested version \"1.0\""
check "another one than this is refused" refused "$cmakedir" "0.1;EXACT" "exactly matches requested version \"0.1\""
check "a range that ends before it is refused" refused "$cmakedir" "0.1...<$version" "compatible with requested"

built() { # FOLDER
    configured "$1" "" && cmake --build "$scratch/made" && for program in "$scratch"/made/inc*; do
        [ -x "$program" ] && [ ! -d "$program" ] || continue
        echo "$version mpk.gz" >"$scratch/expected"
        "$program" >"$scratch/ran" 2>&1
        diff "$scratch/expected" "$scratch/ran" || return 1
    done && [ -x "$scratch/made/inc" ]
}
check "its programs are built and run" built "$cmakedir"
if [ $shared = TRUE ]; then
    needs_soname() { readelf -d "$scratch/made/inc" | grep -q 'NEEDED.*\[librecord\.so\.0\]'; }
    check "they ask for librecord by its SONAME" needs_soname
fi

mv "$stage" "$scratch/elsewhere" || exit 1
LD_LIBRARY_PATH=$scratch/elsewhere${libdir#"$stage"}:$LD_LIBRARY_PATH
LIBRECORD_PLUGIN_PATH=$scratch/elsewhere${plugindir#"$stage"}
cmakedir=$scratch/elsewhere${cmakedir#"$stage"}
check "moved as a whole, they are built and run" built "$cmakedir"
ln -s "$scratch/elsewhere${libdir#"$stage"}" "$scratch/lib" || exit 1
check "by way of a link such as /lib, too" built "$scratch/lib/cmake/librecord"

find "$scratch/elsewhere" -name 'librecord.h' -delete
check "without its header it is refused" refused "$cmakedir" "" "librecord was not installed whole"
finish
