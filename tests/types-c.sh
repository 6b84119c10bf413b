#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record types --c: the header compiles, and rec_bind() fills in its struct.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"

: "${CC:=cc}"
: "${top_builddir:=.}"
builddir=$(cd "$OLDPWD" && cd "$top_builddir" && pwd)
include=$(cd "$OLDPWD" && cd "$srcdir/include" && pwd)
libs=
if [ ! -e "$builddir/.libs/librecord.so" ]; then
    libs=$(sed -n 's/^Libs.private: //p' "$builddir/librecord.pc")
fi
strict="-Wall -Wextra -pedantic -Werror"

# compiles FILE: as C99, C11 and, if there is a compiler, C++
compiles() {
    # shellcheck disable=SC2086 # lists of words
    $CC -std=c99 $strict -I "$include" -fsyntax-only -x c "$1" && $CC -std=c11 $strict -I "$include" -fsyntax-only -x c "$1" || return 1
    # shellcheck disable=SC2086
    ! command -v c++ >/dev/null || c++ -std=c++17 -Wall -Wextra -Werror -I "$include" -fsyntax-only -x c++ "$1"
}

# builds OUTPUT SOURCE
builds() {
    # shellcheck disable=SC2086 # lists of words
    $CC -std=c11 $strict ${SANITIZERS:+-fsanitize=$SANITIZERS} -I "$include" -I "$scratch" -o "$1" "$2" -L "$builddir/.libs" \
        -Wl,-rpath,"$builddir/.libs" -lrecord $libs
}

run types --c 0.18.0/zoo-full.mpk
status_is "the type of a model" 0
cp "$scratch/out" "$scratch/zoo.h"
check "is C and C++" compiles "$scratch/zoo.h"
sed -n '/define MODEL_BLOCKS_FIELDS/,/^REC/p' "$scratch/zoo.h" >"$scratch/out"
cat >"$scratch/expected" <<'END'
#define MODEL_BLOCKS_FIELDS(F, T) \
    F(T, CHILD, fc, MODEL_BLOCKS_FC) \
    F(T, CHILD, norm, MODEL_BLOCKS_NORM) \
    F(T, CONSTANT, act) \
    F(T, CONSTANT, drop) \
    F(T, CONSTANT, scale)
REC_DEFINE_STRUCT(MODEL_BLOCKS, MODEL_BLOCKS_FIELDS)
END
same "layers of a list have one struct" "$scratch/expected" "$scratch/out"

cat >"$scratch/program.c" <<'END'
#include <stdio.h>
#include "zoo.h"

int main(int argc, char **argv)
{
    rec_recorder *recorder = rec_open_recorder("Auto", REC_PRECISION_KEEP);
    rec_record *record = recorder && argc > 1 ? rec_load(recorder, argv[1]) : NULL;
    MODEL model;
    rec_binding *binding = record ? rec_bind(record, &MODEL_type, &model) : NULL;

    if (!binding) {
        fprintf(stderr, "%s\n", rec_error_message());
        return 1;
    }
    printf("%llu blocks, %llu of [%llu, %llu]\n", (unsigned long long)model.blocks_count,
           (unsigned long long)model.blocks[2].fc.weight.count, (unsigned long long)model.blocks[2].fc.weight.shape[0],
           (unsigned long long)model.blocks[2].fc.weight.shape[1]);
    printf("variant %d: %.8g\n", model.head_a.variant, model.head_a.Dense->bias.data[1]);
    printf("ids %lld, mask %d\n", (long long)model.ids.data[5], model.mask.data[0]);
    rec_binding_free(binding);
    rec_record_free(record);
    rec_close_recorder(recorder);
    return 0;
}
END
check "a program with it builds" builds "$scratch/program" "$scratch/program.c"
"$scratch/program" 0.18.0/zoo-full.mpk >"$scratch/said" 2>&1
{
    echo "3 blocks, 9 of [3, 3]"
    echo "variant 0: $("$record" show 0.18.0/zoo-full.mpk 'head_a.Dense.bias[1]' | sed 's/ .*//')"
    echo "ids $("$record" show 0.18.0/zoo-full.mpk 'ids[2, 1]' | sed 's/ .*//'), mask $("$record" show \
        0.18.0/zoo-full.mpk 'mask[0]' | sed 's/true.*/1/; s/false.*/0/')"
} >"$scratch/expected"
same "and finds what record show finds" "$scratch/expected" "$scratch/said"
"$scratch/program" 0.18.0/tiny-full.mpk >"$scratch/said" 2>&1
check "another model is refused" grep -q 'conv1' "$scratch/said"
check "the type is that of every version" "$scratch/program" 0.14.0/zoo-full.mpk

# Files of many kinds, those without names by their type.
made=0
for file in 0.1*/zoo-*.mpk 0.1*/plain-*.mpk.gz 0.21.0/*-full.json 0.18.0/mnist.mpk; do
    run types --c --name RECORD "$file"
    [ "$status" = 0 ] || continue
    made=$((made + 1))
    cp "$scratch/out" "$scratch/each.h"
    compiles "$scratch/each.h" >"$scratch/why" 2>&1 || not_ok "the header of $file compiles" "$scratch/why"
done
check "headers of $made files compile" [ "$made" -ge 20 ]

# What C has no words for.
run types --c 0.18.0/plain-full.mpk
check "words of C are left out" grep -q '/\* short: no name in C \*/' "$scratch/out"
check "and the way to bind it says so" grep -q REC_BIND_ALLOW_UNEXPECTED "$scratch/out"
run edit new set F 'f32 [1]' set T 5 set linux 1 set NULL 1 set REC_M_EXPAND 1 set l '[{"a": 1}, {"a": 2, "b": 1}]' set ok 1 \
    set l_count 3 set e '[{"x": {"V": 1}}]' set 'a b' 1 -o "$scratch/hostile.mpk"
fails "a key of two words" types --c "$scratch/hostile.mpk" <<END
record: $scratch/hostile.mpk: its root is a map by ids, or has a key that is not an identifier of C's
  A struct of C's has named fields; rec_value_at() and rec_iterate() read any record.
END
run edit -i "$scratch/hostile.mpk" rm 'a b'
run types --c "$scratch/hostile.mpk"
cp "$scratch/out" "$scratch/hostile.h"
check "keys that are the macro's own, or others'" compiles "$scratch/hostile.h"
check "are fields where they can be" grep -q 'F_(T_, PARAM, F, 1, 1)' "$scratch/hostile.h"
fails "an optimizer" types --c 0.18.0/adam-full.mpk <<END
record: 0.18.0/adam-full.mpk: its root is a map by ids, or has a key that is not an identifier of C's
  A struct of C's has named fields; rec_value_at() and rec_iterate() read any record.
END
run types --c 0.18.0/noam-full.mpk
status_is "a number" 2
fails "a name that is none" types --c --name 'a b' 0.18.0/tiny-full.mpk <<END
record: --name: expected an identifier of C, found "a b"
END
cp 0.18.0/tiny-full.mpk "$scratch/*##*.mpk"
run types --c "$scratch/"'*##*.mpk'
cp "$scratch/out" "$scratch/named.h"
check "a file's name does not end a comment" compiles "$scratch/named.h"
head -c 100 0.18.0/tiny-full.mpk >"$scratch/cut.mpk"
run types --c "$scratch/cut.mpk"
status_is "a file that was cut" 2

need_jq
run types --c --json 0.18.0/tiny-full.mpk
answers "JSON" '[.named, .assumed, (.source | contains("REC_DEFINE_STRUCT(MODEL, MODEL_FIELDS)"))]' '[true,0,true]'

finish
