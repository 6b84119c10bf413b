#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Numbers and text are the same whatever the language of the user: a comma for the point (German), two bytes for it (Pashto), an I without and an i
# with a dot that are no pair (Turkish), bytes (C). A library that is put before all others sets the locale in every
# program, as an application does that librecord is linked to.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"

what="numbers and text in other languages"
if [ -n "${SANITIZERS:-}" ]; then
    skip "$what" "sanitizers do not stand behind what is put before them"
    finish
fi
for language in de_DE tr_TR ps_AF; do
    localedef -i $language -f UTF-8 "$scratch/$language.UTF-8" >"$scratch/log" 2>&1
    if [ ! -e "$scratch/$language.UTF-8/LC_NUMERIC" ]; then
        skip "$what" "localedef or its sources are not there (Debian: locales)"
        finish
    fi
done
cat >"$scratch/locale.c" <<'END'
#include <locale.h>
#include <stdlib.h>
__attribute__((constructor)) static void speak(void)
{
    if (!setlocale(LC_ALL, "")) {
        abort();
    }
}
END
cat >"$scratch/point.c" <<'END'
#include <locale.h>
#include <stdio.h>
int main(void)
{
    printf("%.1f\n", 1.5);
    return 0;
}
END
if ! { ${CC:-cc} -shared -fPIC -o "$scratch/locale.so" "$scratch/locale.c" &&
    ${CC:-cc} -o "$scratch/point" "$scratch/point.c"; } >"$scratch/log" 2>&1; then
    not_ok "the library that sets the locale is built" "$scratch/log"
    finish
fi
LOCPATH=$scratch
export LOCPATH
top=$(cd "$top_builddir" && pwd)

# in_language LANGUAGE COMMAND...
in_language() {
    language=$1
    shift
    LC_ALL=$language LD_PRELOAD=$scratch/locale.so "$@"
}
if [ "$(in_language de_DE.UTF-8 "$scratch/point" 2>&1)" != 1,5 ]; then
    skip "$what" "programs of this build cannot be told their locale"
    finish
fi

for language in de_DE.UTF-8 tr_TR.UTF-8 ps_AF.UTF-8 C; do
    # Those that print or read no numbers with a point themselves: what fails is the library's.
    for program in cli/test_numbers core/test_config remap/test_op_math remap/test_regex \
        types/test_types_ini types/test_types_rust recorder/test_json_files; do
        check "$language: $program" in_language "$language" "$top/tests/$program"
    done
    # What the library writes and reads in an application's language, and what the command prints in the user's.
    for words in "convert --to json adam-full.mpk" "convert --to pretty-json composed-half.mpk" \
        "convert --to mpk adam-full.json" "show composed-full.json" "info adam-full.mpk" "stats adam-double.mpk" \
        "ls -l composed-half.mpk" "diff adam-full.mpk adam-half.mpk" "types composed-full.mpk"; do
        (
            cd "$srcdir/tests/data/burn/0.21.0" || exit 1
            target=
            preload=
            if [ "${words%% *}" = convert ]; then
                target=-
                preload=$scratch/locale.so
            fi
            # shellcheck disable=SC2086 # words
            LC_ALL=C "$RECORD" $words $target >"$scratch/expected" 2>"$scratch/err"
            # shellcheck disable=SC2086 # words
            LC_ALL=$language LD_PRELOAD=$preload "$RECORD" $words $target >"$scratch/found" 2>"$scratch/err"
        )
        check "$language: record $words" diff -u "$scratch/expected" "$scratch/found"
        [ -s "$scratch/expected" ] || not_ok "$language: record $words prints something"
    done
done
finish
