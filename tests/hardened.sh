#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# What is built is hardened, as far as configure found that compiler and linker can: read in the ELF files themselves.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
if [ -z "${HARDENED:-}" ]; then
    skip "a hardened build" "it was configured with sanitizers, for fuzzing or with --disable-hardening"
    finish
fi
if ! command -v readelf >/dev/null || ! command -v objdump >/dev/null; then
    skip "a hardened build" "readelf and objdump are not installed"
    finish
fi

# The programs and the libraries that libtool's scripts stand for.
program=$top_builddir/tools/.libs/record
[ -e "$program" ] || program=$top_builddir/tools/record
libraries=
for file in "$top_builddir"/mpi/.libs/record-mpi "$top_builddir"/.libs/librecord*.so "$top_builddir"/plugins/.libs/*.so; do
    [ -e "$file" ] && libraries="$libraries $file"
done

has() { # WORD: configure found it
    case " $HARDENED " in *" $1 "*) ;; *)
        skip "$1" "the compiler, the linker or its flags do not have it"
        return 1
        ;;
    esac
}
each() { # NAME PATTERN OPTION FILE...: what readelf says with OPTION of each file has the pattern
    each_name=$1 each_pattern=$2 each_option=$3
    shift 3
    for each_file; do
        case $each_name in
        indirect*) objdump -d "$each_file" ;;
        *) readelf -W "$each_option" "$each_file" ;;
        esac 2>/dev/null | grep -qE "$each_pattern" || echo "$each_file"
    done >"$scratch/lack"
    check "$each_name" test ! -s "$scratch/lack"
}

# shellcheck disable=SC2016 # the inner shell expands it
check "gcc and clang on Linux have at least a stack protector and full RELRO" \
    sh -c 'case $HARDENED in *stack-protector*relro*) ;; *) exit 1 ;; esac'
# shellcheck disable=SC2086 # lists of files
{
    has relro && {
        each "tables are read-only" GNU_RELRO -l "$program" $libraries
        each "… before the program begins" 'BIND_NOW|FLAGS_1.*NOW' -d "$program" $libraries
    }
    has pie && each "the programs can lie anywhere" 'Type:.*DYN' -h "$program" $libraries
    core=
    [ ! -e "$top_builddir/.libs/librecord.so" ] || core=$top_builddir/.libs/librecord.so
    has stack-protector && each "stacks are protected" __stack_chk_fail -s "$program" $core
    has fortify && each "functions of the C library are checked" '_chk(@|$| )' -s "$program" $core
    # In the code itself: the mark of a file needs a C library that was built so, too.
    targets=
    has cet && targets=endbr
    has branch-protection && targets='bti|paciasp'
    [ -z "$targets" ] || each "indirect jumps have targets" "$targets" -d "$program" $libraries
    for file in "$program" $libraries; do
        readelf -W -l "$file" | grep GNU_STACK | grep -q E && echo "$file"
    done >"$scratch/run"
    check "no stack can be executed" test ! -s "$scratch/run"
}

finish
