#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# What is paid before main() whether or not it is used, by what the objects hold and not by the clock.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"

library=$top_builddir/.libs/librecord.so
if [ ! -e "$library" ] || [ -n "${SANITIZERS:-}" ]; then
    skip "what is paid at the start" "this is a static build, or one with sanitizers"
    finish
fi

asks() { # NAME: who has it, of the library, the command and the plugins
    for file in "$library" "$top_builddir/tools/.libs/record" "$top_builddir"/plugins/.libs/*.so; do
        [ -e "$file" ] && nm "$file" | sed -n "s|.* \($1\)\$|${file##*/} has \1|p"
    done
}
asks_nobody() {
    asks '__cpu_indicator_init' | tee "$scratch/asks"
    [ ! -s "$scratch/asks" ]
}
if [ -e /usr/include/sys/platform/x86.h ] || [ -e "/usr/include/$(uname -m)-linux-gnu/sys/platform/x86.h" ]; then
    check "no constructor asks the processor what it can do" asks_nobody
    printf 'int main(void) { return __builtin_cpu_supports("avx2"); }\n' >"$scratch/asks.c"
    ${CC:-cc} -o "$scratch/asks.so" "$scratch/asks.c" &&
        check "one that did would be found" sh -c "nm '$scratch/asks.so' | grep -q ' __cpu_indicator_init\$'"
else
    skip "no constructor asks the processor what it can do" "this C library or processor has no answers of its own"
fi

finish
