#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record embed: what it makes is compiled, run, and compared with what `record show` prints; the examples; mistakes.
# shellcheck disable=SC2016,SC2317 # text for make and C that only looks like the shell's; functions that check() calls
set -u
: "${top_builddir:=.}"
: "${CC:=cc}"
export CC
srcdir=$(cd "${srcdir:-.}" && pwd)
top_builddir=$(cd "$top_builddir" && pwd)
RECORD=$(cd "$(dirname "${RECORD:-$top_builddir/tools/record}")" && pwd)/record
# shellcheck source=tests/cli/cli.sh
. "$srcdir/tests/cli/cli.sh"
data=$srcdir/tests/data/burn
tiny=$data/0.21.0/tiny-full.mpk
examples=$srcdir/examples
record=$RECORD
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

libs=
if [ ! -e "$top_builddir/.libs/librecord.so" ]; then
    libs=$(sed -n 's/^Libs.private: //p' "$top_builddir/librecord.pc")
fi
strict="-Wall -Wextra -pedantic -Werror"
cxx=
for compiler in ${CXX:-c++ g++ clang++}; do
    if command -v "$compiler" >/dev/null; then
        cxx=$compiler
        break
    fi
done

# with_library OUTPUT SOURCE...
with_library() {
    output=$1
    shift
    # shellcheck disable=SC2086 # lists of words
    $CC -std=c11 $strict ${SANITIZERS:+-fsanitize=$SANITIZERS} -I. -I "$srcdir/include" -o "$output" "$@" \
        -L "$top_builddir/.libs" -Wl,-rpath,"$top_builddir/.libs" -lrecord $libs
}

# compiles FILE: as C99, C11 and C++17, without a warning
compiles() {
    # shellcheck disable=SC2086 # lists of words
    $CC -std=c99 $strict -c -o c99.o "$1" && $CC -std=c11 $strict -c -o c11.o "$1" || return 1
    # shellcheck disable=SC2086
    [ -z "$cxx" ] || $cxx -std=c++17 $strict -x c++ -c -o cxx.o "$1"
}

# numbers FILE KEY: of a tensor, a line each
numbers() {
    "$record" show -q --json "$1" "$2" | jq -r '.values | flatten[]'
}

# ------------------------------------------------------------------------------------------------------------ bytes

run embed "$tiny" --output tiny.c
status_is "embedding as C succeeds" 0
echo "$tiny -> tiny.h, tiny.c: tiny_record, $(wc -c <"$tiny") bytes for NamedMpk" >"$scratch/expected"
same "one line says what was made" "$scratch/expected" "$scratch/out"
echo '#include "tiny.h"
int use(void); int use(void) { return tiny_record[0] + (int)tiny_record_size; }' >use.c
check "the header is C99, C11 and C++17" compiles use.c
check "the source is C99, C11 and C++17" compiles tiny.c
check "the example builds with the source" with_library from_c "$examples/embed_bytes.c" tiny.c
./from_c >from_c.out 2>&1
check "it loads the array, aligned and in place" grep -q "^$(wc -c <"$tiny") bytes, aligned to 64: yes" from_c.out
check "nothing was copied" sh -c '! grep copied from_c.out'
if [ -n "$cxx" ]; then
    cat >bytes.cc <<'END'
#include "tiny.h"
#include <cstdio>
int main() { return std::fwrite(tiny_record, 1, tiny_record_size, stdout) != tiny_record_size; }
END
    through_cxx() { # OBJECT
        $cxx -std=c++17 -o bytes_cc bytes.cc "$1" && ./bytes_cc | cmp - "$tiny"
    }
    $CC -c -o tiny_c.o tiny.c
    check "C++ links the C source" through_cxx tiny_c.o
    $cxx -std=c++17 -x c++ -c -o tiny_cc.o tiny.c
    check "the source may be C++ too" through_cxx tiny_cc.o
else
    skip "C++" "there is no C++ compiler"
fi

exact() { # the example's numbers are those of `record show`
    for key in linear.weight linear.bias; do
        sed -n "s/^$key lies in the program: //p" "$1" | tr ' ' '\n' >found
        numbers "$tiny" "$key" >expected
        [ -s found ] && paste found expected | ./same_f32 || return 1
    done
}
cat >same_f32.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    char a[64], b[64];
    int read;
    while ((read = scanf("%63s %63s", a, b)) == 2 && strtof(a, NULL) == strtof(b, NULL)) {
    }
    return read != EOF;
}
END
$CC -o same_f32 same_f32.c
if command -v jq >/dev/null; then
    check "the numbers are the file's" exact from_c.out
else
    skip "the numbers are the file's" "jq is not installed"
fi

run embed --quiet "$tiny" --output=object/../tiny.o
check "a directory that is not there is an error" [ "$status" = 2 ]
mkdir obj
run embed --quiet "$tiny" --output obj/tiny.o
status_is "embedding as an object file succeeds" 0
same "it says nothing with --quiet" /dev/null "$scratch/out"
same "its header is that of the C form" tiny.h obj/tiny.h
check "the example builds with the object file" with_library from_o "$examples/embed_bytes.c" obj/tiny.o
./from_o >from_o.out 2>&1
same "and prints the same" from_c.out from_o.out

again() { # FILE ARGUMENT...: the same bytes, wherever and whenever
    cp "$1" first
    mkdir -p elsewhere
    made=$1
    shift
    (cd elsewhere && TMPDIR=$scratch/work/elsewhere "$record" embed -q "$tiny" "$@" --output "$made") || return 1
    cmp first "elsewhere/$made"
    [ "$(find elsewhere -name 'record-embed*')" = "" ]
}
cp obj/tiny.o tiny.o
check "the source is the same each time" again tiny.c
check "the header is the same each time" again tiny.h
check "the object file is the same each time" again tiny.o
run embed -q "$tiny" --structs --output t.h
check "structs are the same each time" again t.h --structs

# dump SYMBOL OBJECT: the array
dump() {
    printf '#include <stddef.h>\n#include <stdio.h>\nextern const unsigned char %s[];\nextern const size_t %s_size;\nint main(void) { return fwrite(%s, 1, %s_size, stdout) != %s_size || (size_t)%s %% 64 != 0; }\n' \
        "$1" "$1" "$1" "$1" "$1" "$1" >dump.c
    $CC -o dump dump.c "$2" && ./dump
}
embedded() { # FILE SYMBOL OBJECT
    dump "$2" "$3" >dumped && cmp dumped "$1"
}
run embed -q "$tiny" --output a.o --name other
check "--name changes what the symbols begin with" embedded "$tiny" other_record a.o
run embed -q "$tiny" --output a.o --as blob
check "--as names the symbol itself" embedded "$tiny" blob a.o
"$record" convert -q --precision half --to mpk-gz "$tiny" half
run embed -q --precision half --to mpk-gz "$tiny" --output a.o
check "--to and --precision convert as record convert does" embedded half.mpk.gz a_record a.o
run embed -q --precision half --to mpk-gz "$tiny" --output b.c
check "in C, too" embedded half.mpk.gz b_record b.c
"$record" convert -q --to NamedMpkBytes "$data/0.18.0/mnist.mpk" - >mnist.bytes
run embed -q --to NamedMpkBytes "$data/0.18.0/mnist.mpk" --output a.o
check "recorders of memory alone can be asked for" embedded mnist.bytes a_record a.o
"$record" embed -q - --output a.o <"$tiny"
check "standard input is embedded" embedded "$tiny" a_record a.o
"$record" embed -q --precision half --to mpk-gz - --output a.o <"$tiny"
check "and converted" embedded half.mpk.gz a_record a.o
cp "$tiny" 'odd "name"\ $x.mpk'
run embed -q 'odd "name"\ $x.mpk' --output a.o
check "any file name can be embedded" embedded "$tiny" a_record a.o
if command -v "${AS:-as}" >/dev/null; then
    (unset CC && AS=${AS:-as} "$record" embed -q "$tiny" --output a.o)
    check "AS will do" embedded "$tiny" a_record a.o
fi
dd if=/dev/urandom of=large bs=1048576 count=24 2>/dev/null
if command -v prlimit >/dev/null && [ -z "${SANITIZERS:-}" ]; then
    small() { # data beyond 16 MB are refused: 24 MB cannot be held
        prlimit --data=16777216 "$record" embed -q --from mpk large --output "large$1"
    }
    check "large files go through little memory as C" small .c
    small_object() {
        "$record" embed -q --from mpk large --output large.o && embedded large large_record large.o
    }
    check "and into an object file whole" small_object
else
    skip "large files" "prlimit is missing, or a sanitizer runs"
fi
rm -f large*

ln -s tiny.c link.c
run embed -q "$tiny" --output link.c --as linked
check "a symbolic link stays one" [ -L link.c ]
check "and its target is written" grep -q linked tiny.c
if command -v jq >/dev/null; then
    run embed --json "$tiny" --output a.o
    answers "--json says what was made" . \
        "{\"in\":\"$tiny\",\"out\":[\"a.h\",\"a.o\"],\"symbol\":\"a_record\",\"recorder\":\"NamedMpk\",\"size\":$(wc -c <"$tiny"),\"alignment\":64}"
fi

# ---------------------------------------------------------------------------------------------------------- structs

for file in 0.21.0/zoo-full 0.21.0/plain-full 0.21.0/adam-full 0.21.0/constant-full 0.13.2/zoo-half 0.18.0/noam-double \
    0.21.0/zoo-half; do
    run embed -q --structs "$data/$file.mpk" --output model.h
    printf '#include "model.h"\nint use(void); int use(void) { return (int)sizeof model; }\n' >use.c
    check "structs of $file.mpk are C99, C11 and C++17" compiles use.c
done

# Compares a tensor with the numbers on standard input, bit by bit.
cat >compare.h <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int differs(const float *data, int count)
{
    char word[64];
    for (int i = 0; i < count; i++) {
        float read;
        if (scanf("%63s", word) != 1 || (read = strtof(word, NULL), memcmp(&read, &data[i], sizeof read) != 0)) {
            return 1;
        }
    }
    return scanf("%63s", word) == 1;
}
END
bit_by_bit() { # FILE KEY EXPRESSION COUNT
    printf '#include "compare.h"\n#include "model.h"\nint main(void) { return differs(%s, %s); }\n' "$3" "$4" >compare.c
    $CC -o compare compare.c && numbers "$1" "$2" >expected && [ -s expected ] && ./compare <expected
}
if command -v jq >/dev/null; then
    zoo=$data/0.21.0/zoo-full.mpk
    run embed -q --structs "$zoo" --output model.h
    check "a tensor has the file's numbers" \
        bit_by_bit "$zoo" conv1.weight model.conv1.weight.data MODEL_CONV1_WEIGHT_COUNT
    check "in a list, too" \
        bit_by_bit "$zoo" blocks.2.fc.weight 'model.blocks[2].fc.weight.data' MODEL_BLOCKS_ITEM_FC_WEIGHT_COUNT
    check "in a tuple, too" \
        bit_by_bit "$zoo" pair.1.gamma model.pair.item1.gamma.data MODEL_PAIR_ITEM1_GAMMA_COUNT
    check "in a variant, too" \
        bit_by_bit "$zoo" head_a.Dense.weight model.head_a.Dense.weight.data MODEL_HEAD_A_DENSE_WEIGHT_COUNT
    plain=$data/0.21.0/plain-full.mpk
    run embed -q --structs "$plain" --output model.h
    check "at the edges of f32, too" bit_by_bit "$plain" floats model.floats.data MODEL_FLOATS_COUNT
    run embed -q --structs --precision full "$data/0.21.0/zoo-double.mpk" --output model.h
    "$record" convert -q --precision full "$data/0.21.0/zoo-double.mpk" full.mpk
    check "--precision rounds them" \
        bit_by_bit full.mpk conv1.weight model.conv1.weight.data MODEL_CONV1_WEIGHT_COUNT
else
    skip "numbers of structs" "jq is not installed"
fi
run embed -q --structs --precision half "$tiny" --output model.h
check "f16 is bit patterns" grep -q 'uint16_t data\[6\];' model.h
run embed -q --structs "$tiny" --output model.h
"$record" embed -q --structs --name model --output - "$tiny" >stdout.h
same "structs can go to standard output" model.h stdout.h

cat >tiny.rs <<'END'
#[derive(Module, Debug)]
pub struct Tiny<B: Backend> {
    linear: Linear<B>,
}

#[derive(Module, Debug)]
pub enum Choice<B: Backend> {
    Other(Linear<B>),
    Linear(Linear<B>),
}
END
run convert -q --type tiny.rs:Tiny "$tiny" typed.bin
run embed -q --structs --type tiny.rs:Tiny typed.bin --output typed.h --name model
same "a .bin with its type gives the same structs" model.h typed.h
run embed -q --structs typed.bin --output typed.h
status_is "without one it gives none" 2
run embed -q --type tiny.rs:Tiny --to bin "$tiny" --output a.o
check "a conversion to bin takes the type" embedded typed.bin a_record a.o
sed 's/linear/Linear/g' <"$tiny" >choice.mpk
run convert -q --type tiny.rs:Choice choice.mpk choice.bin
status_is "a variant becomes a .bin" 0
run embed -q --structs --type tiny.rs:Choice choice.bin --output choice.h
cat >choice.c <<'END'
#include "choice.h"
int main(void) { return choice.variant != CHOICE_IS_LINEAR || CHOICE_IS_LINEAR != 1 || choice.Linear.bias.data[0] == 0; }
END
variant() {
    $CC -o choice choice.c && ./choice
}
check "a variant has its index and its payload" variant

check "embed_edge.c builds with the library" with_library make_edge -DMAKE "$srcdir/tests/embed_edge.c"
check "and makes a record" ./make_edge edge.mpk
run embed -q --structs edge.mpk --output edge.h
status_is "its structs are made" 0
edge() { # COMPILER...
    # shellcheck disable=SC2086 # a list of words
    "$@" $strict -I. -o edge "$srcdir/tests/embed_edge.c" && ./edge
}
# shellcheck disable=SC2086 # CC may have words
check "NaN, infinities, limits, odd names: to the bit in C99" edge $CC -std=c99
# shellcheck disable=SC2086
check "optimized" edge $CC -O2
if [ -n "$cxx" ]; then
    check "to the bit in C++17" edge "$cxx" -std=c++17 -x c++
fi

# ----------------------------------------------------------------------------------------------------- freestanding

run embed -q --structs "$tiny" --output tiny_structs.h --name tiny
# shellcheck disable=SC2086 # a list of words
check "freestanding.c compiles without a hosted environment" \
    $CC -std=c99 $strict -Os -ffreestanding -fno-stack-protector -fno-asynchronous-unwind-tables -I. -I "$examples" \
    -c -o freestanding.o "$examples/freestanding.c"
nm -u freestanding.o >undefined 2>&1
same "the object file needs nothing from outside" /dev/null undefined
# shellcheck disable=SC2086
check "it links statically with no library at all" $CC -nostdlib -static -Wl,-e,forward -o alone freestanding.o
size freestanding.o >size.out 2>&1
sed 's/^/# /' size.out
# 8 numbers of 4 bytes and a loop: text, data and bss of a 64-bit machine
check "it has at most 512 bytes, no data to be written and none to be cleared" \
    awk 'NR == 2 { exit !($1 <= 512 && $2 == 0 && $3 == 0) }' size.out
# shellcheck disable=SC2086
check "freestanding_main.c builds" $CC -std=c99 $strict -o freestanding "$examples/freestanding_main.c" freestanding.o
if command -v jq >/dev/null; then
    forward() { # the layer, from the numbers of `record show`
        ./freestanding 1 2 3 >found || return 1
        {
            numbers "$tiny" linear.weight
            numbers "$tiny" linear.bias
        } | awk '{ v[NR] = $1 } END { printf "%.5f %.5f\n", v[1] + 2 * v[3] + 3 * v[5] + v[7], v[2] + 2 * v[4] + 3 * v[6] + v[8] }' >expected
        awk '{ printf "%.5f %.5f\n", $1, $2 }' found | diff expected -
    }
    check "it computes what the record says" forward
else
    skip "it computes what the record says" "jq is not installed"
fi
for file in embed_bytes freestanding freestanding_main; do
    check "$file.c has less than 100 lines" [ "$(wc -l <"$examples/$file.c")" -lt 100 ]
done

# --------------------------------------------------------------------------------------------------------- mistakes

fails "no output" embed "$tiny" <<END
record: --output is needed: a name that ends in .h, .c or .o
  record embed --help shows how it is used.
END
fails "an output of another kind" embed "$tiny" --output tiny.rs <<END
record: --output: expected a name that ends in .h, .c or .o, found "tiny.rs"
  record embed --help shows how it is used.
END
fails "structs that are no header" embed "$tiny" --structs --output tiny.c <<END
record: --output: structs are a header, so expected a name that ends in .h, found "tiny.c"
  record embed --help shows how it is used.
END
fails "a name that is not an identifier" embed "$tiny" --output tiny.c --name my-model <<END
record: --name: expected an identifier of C and C++, found "my-model"
  record embed --help shows how it is used.
END
fails "a keyword of C++" embed "$tiny" --output tiny.c --as class <<END
record: --as: expected an identifier of C and C++, found "class"
  record embed --help shows how it is used.
END
fails "an output whose name is not an identifier" embed "$tiny" --output my-model.c <<END
record: "my-model" is not an identifier of C and C++ that symbols could begin with: give --name NAME
  record embed --help shows how it is used.
END
fails "options of a conversion without one" embed "$tiny" --output tiny.c --clamp <<END
record: --clamp needs --to or --precision: without them the bytes are copied
  record embed --help shows how it is used.
END
fails "structs with a format" embed "$tiny" --structs --to mpk --output tiny.h <<END
record: --to does not go with --structs: they have no format
  record embed --help shows how it is used.
END
fails "an option without its value" embed "$tiny" --output <<END
record: --output needs a value: --output OUT
END
fails "its options elsewhere" show "$tiny" embed --structs <<END
record: --structs is not an option of \`record show\`
  record show --help shows how it is used.
END
fails "a file that is not there" embed nowhere.mpk --output tiny.c <<END
record: nowhere.mpk: cannot be read: No such file or directory
END
: >void.mpk
fails "an empty file" embed void.mpk --output tiny.c <<END
record: void.mpk: expected a file with a record in it, found an empty one
END
echo "not a record" >other.txt
run embed other.txt --output other.c
check "a file that is no record" grep -q 'other.txt: .*unknown format' "$scratch/err"
check "leaves no output" [ ! -e other.c ]
run embed --from mpk -q other.txt --output other.c
status_is "unless its recorder is named" 0
cp tiny.c before
CC=no-such-compiler "$record" embed "$tiny" --output tiny.o >"$scratch/out" 2>"$scratch/err"
cat >"$scratch/expected" <<END
record: an object file needs an assembler, and no-such-compiler (named by CC) could not be started: No such file or directory
  Name a compiler by CC or an assembler by AS, or embed as C: --output FILE.c
END
same "no assembler" "$scratch/expected" "$scratch/err"
CC=false "$record" embed "$tiny" --output tiny.o >"$scratch/out" 2>"$scratch/err"
check "an assembler that fails" grep -q '^record: false did not make the object file (status 1)' "$scratch/err"
same "old files stay as they were" before tiny.c
check "nothing is left behind" sh -c '[ -z "$(find . -name "*.??????" -newer before)" ]'
finish
