#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record embed --structs and types --c of records with each kind of value and element type: what they make is compiled, and
# holds the values.
set -u
: "${top_builddir:=.}"
: "${CC:=cc}"
srcdir=$(cd "${srcdir:-.}" && pwd)
top_builddir=$(cd "$top_builddir" && pwd)
RECORD=$(cd "$(dirname "${RECORD:-$top_builddir/tools/record}")" && pwd)/record
# shellcheck source=tests/cli/cli.sh
. "$srcdir/tests/cli/cli.sh"
record=$RECORD
cd "$scratch" || exit 99

# F8_E4M3 is of an element type that librecord carries and does not know.
header='{"a":{"dtype":"F8_E4M3","shape":[2,2],"data_offsets":[0,4]},"c":{"dtype":"BF16","shape":[2],"data_offsets":[4,8]}}'
{
    # shellcheck disable=SC2059 # octal
    printf "\\$(printf %03o "${#header}")\\0\\0\\0\\0\\0\\0\\0"
    printf '%s\070\100\104\110\200\77\200\300' "$header"
} >f8.safetensors
{
    printf '\202\250metadata\205\245float\243f32\243int\243i32\246format\241x\247version\2460.18.0\250settings\241x\244item\203'
    printf '\243raw\304\010abcdefgh\245empty\304\000\244nums\223\001\002\003'
} >bytes.mpk
run edit -o kinds.mpk new set l '[1,2,3,4,5,6,7,8,9,10,11,12]' set f '[1.5, 2.5]' set t '[true, false]' set u 'u64[1, 18446744073709551615]' \
    set u32 'u32[1, 4294967295]' set i 'i16[[-1, 2], [3, 4]]' set i64 'i64[-1]' set b 'bool[1, 0]' set h 'f16[1.5, -2]' set d 'f64[0.1]' \
    set s '"a\"b"' set e '[]' set z 'f32[0]=1' set n 5u8 set x 2.5f32 set yes true set nil null set m '{"while": 1, "two words": 2}'
cat >t.rs <<'EOT'
enum E { A, B(f32), C { v: u32 } }
struct T { e: E, n: u32, o: Option<E> }
EOT
echo '{"metadata":{"float":"f32","int":"i32","format":"x","version":"0.18.0","settings":"x"},"item":{"e":{"C":{"v":7}},"n":3,"o":"A"}}' >v.json
run convert -q --type t.rs:T v.json variants.bin

made=yes
for name in kinds bytes f8 variants; do
    file=$(ls $name.[mbs]*)
    set -- "$file"
    [ $name = f8 ] && set -- --adapter none "$@"
    [ $name = variants ] && set -- --type t.rs:T "$@"
    run embed -q --structs "$@" -o $name.h
    [ "$status" = 0 ] || made=$(cat err)
    run types -q --c "$@"
    [ "$status" = 0 ] || made=$(cat err)
    cp out type-$name.h
done
check "headers of each" [ "$made" = yes ]

cat >holds.c <<'EOT'
#include <stdio.h>
#include <string.h>
#include "bytes.h"
#include "f8.h"
#include "kinds.h"
#include "variants.h"
#define HOLDS(what) ((what) ? (void)0 : (void)(printf("not so: %s\n", #what), wrong = 1))
int main(void)
{
    int wrong = 0;
    HOLDS(KINDS_L_COUNT == 12 && kinds.l[11] == 12);
    HOLDS(kinds.f[0] == 1.5 && kinds.f[1] == 2.5);
    HOLDS(kinds.t[0] == 1 && kinds.t[1] == 0);
    HOLDS(kinds.u.data[1] == UINT64_MAX && kinds.u32.data[1] == UINT32_MAX);
    HOLDS(KINDS_I_RANK == 2 && kinds.i.data[0] == -1 && kinds.i.data[3] == 4 && kinds.i64.data[0] == -1);
    HOLDS(kinds.b.data[0] == 1 && kinds.b.data[1] == 0);
    HOLDS(kinds.h.data[0] == 0x3e00 && kinds.h.data[1] == 0xc000 && kinds.d.data[0] == 0.1);
    HOLDS(strcmp(kinds.s, "a\"b") == 0 && KINDS_S_LENGTH == 3);
    HOLDS(KINDS_E_COUNT == 0 && KINDS_Z_COUNT == 0);
    HOLDS(kinds.n == 5 && kinds.x == 2.5f && kinds.yes == 1);
    HOLDS(BYTES_RAW_COUNT == 8 && memcmp(bytes.raw, "abcdefgh", 8) == 0 && BYTES_EMPTY_COUNT == 0 && bytes.nums[2] == 3);
    HOLDS(memcmp(&f8.a, "\070\100\104\110", 4) == 0 && f8.c.data[0] == 0x3f80);
    HOLDS(variants.e.variant == 2 && variants.e.C.v == 7 && variants.n == 3 && variants.o.variant == VARIANTS_O_IS_A);
    return wrong;
}
EOT
# -------------------------------------------------------------------------------------------------------- what it refuses

cp "$data/0.21.0/tiny-full.mpk" tiny.mpk
mkdir folder.h
fails "a directory where a file is to be" embed tiny.mpk -o folder.h <<END
record: folder.h: expected a file to write to, found something else of that name
END
fails "a directory that is not there" embed tiny.mpk -o none/x.h <<END
record: none/x.h: cannot be written: No such file or directory
END
compiler=$CC
CC='  '
export CC
fails "CC without a word" embed tiny.mpk -o refused.o <<END
record: CC: expected a command, found "  "
END
CC=no-such-compiler
fails "CC that is not there" embed tiny.mpk -o refused.o <<END
record: an object file needs an assembler, and no-such-compiler (named by CC) could not be started: No such file or directory
  Name a compiler by CC or an assembler by AS, or embed as C: --output FILE.c
END
CC=false
fails "CC that fails" embed tiny.mpk -o refused.o <<END
record: false did not make the object file (status 1)
  It was given a few lines of assembly with .incbin. To embed as C: --output FILE.c
END
temporary=${TMPDIR:-/tmp}
TMPDIR=$scratch/none
export TMPDIR
run embed tiny.mpk -o refused.o
TMPDIR=$temporary
status_is "no folder for temporary files" 2
check "is told, and what names another one" grep -qx '  Another one can be named by TMPDIR.' "$scratch/err"
check "nothing is left of what was refused" test -z "$(find . -name 'refused.*')"
fails "--type without a name" ls --type model.rs: tiny.mpk <<END
record: --type model.rs:: a type's name must follow the colon
END
CC=$compiler

if ! command -v "${CC%% *}" >/dev/null; then
    skip "what they hold" "there is no C compiler"
    finish
fi
# shellcheck disable=SC2086 # CC is a list of words
check "constants compile" $CC -std=c11 -Wall -Wextra -Werror -I. -o holds holds.c
check "and hold the values" ./holds
for name in kinds bytes variants; do
    printf '#include "type-%s.h"\nint main(void)\n{\n    return MODEL_type.size == 0;\n}\n' $name >try.c
    # shellcheck disable=SC2086
    check "the type of $name compiles" $CC -std=c11 -Wall -Wextra -Werror -I. -I "$srcdir/include" -c -o try.o try.c
done
check "bytes are values of their own kind" grep -q 'F(T, VALUE, raw) /\* bytes \*/' type-bytes.h
check "variants are enums" grep -q 'F(T, VARIANT, C, MODEL_E_C)' type-variants.h
run types bytes.mpk
check "as Rust bytes are assumed to be a Vec" grep -qF 'raw: Vec<u8>, // assumed: bytes' out
finish
