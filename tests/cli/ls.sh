#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record ls
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-record.sh
. "$srcdir/tests/cli/make-record.sh"

prints "repeated layers and siblings are folded" ls 0.18.0/mnist.mpk <<END
KEY                                           DTYPE  SHAPE           PARAMETERS
stem.weight                                   f32    [16, 1, 3, 3]          144
stem.bias                                     f32    [16]                    16
blocks.#.conv.weight                      ×3  f32    [16, 16, 3, 3]       2,304
blocks.#.conv.bias                        ×3  f32    [16]                    16
blocks.#.norm.{gamma,beta}                ×3  f32    [16]                2 × 16
blocks.#.norm.{running_mean,running_var}  ×3  f32    [16]                2 × 16
fc1.weight                                    f32    [256, 32]            8,192
fc1.bias                                      f32    [32]                    32
fc2.weight                                    f32    [32, 10]               320
fc2.bias                                      f32    [10]                    10
24 tensors, 15,866 parameters, 62.0 KiB; 43 nil      (--all lists every one)
END
run ls --all 0.18.0/mnist.mpk
check "--all lists each tensor" [ "$(grep -cE '^[a-z0-9_.]+  +f32    \[' "$scratch/out")" = 24 ]
check "--all lists what is nil" [ "$(grep -cE '^[a-z0-9_.]+ +nil   null$' "$scratch/out")" = 43 ]
check "--all says the totals" grep -qx '24 tensors, 15,866 parameters, 62.0 KiB; 43 nil' "$scratch/out"
prints "values stand in a table of their own" ls --all 0.21.0/plain-full.mpk <<'END'
KEY          DTYPE  SHAPE   PARAMETERS
floats       f32    [3, 4]          12
ints         i32    [2, 3]           6
bools        bool   [3]              3
scalar_like  f32    [1]              1
void         f32    [0, 3]           0

KEY       KIND     VALUE
name      string   "café \"open\" C:\\dir\x0d\n\ttab 🛰 \x07 nul\x…
count     uint     123456
tiny      uint     255
short     int      -32768
long      int      -9223372036854775808
big       uint     18446744073709551615
single    float    0.1
double    float    0.1
yes       bool     true
words.0   string   ""
words.1   string   "key.with.dots"
words.2   string   "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww…
maybe     uint     65536
never     nil      null
couple.0  uint     40000
couple.1  string   "second"
grid      numbers  [2147483647, -1, -2147483648]
nested.0  numbers  [0, 127, 128, 255]
nested.1  nil      null
nested.2  list     []
5 tensors, 22 parameters, 79 bytes; 18 values; 2 nil
END
prints "a record that is one value" ls 0.21.0/constant-full.mpk <<END
KEY     KIND   VALUE
(root)  float  0.001
1 value
END
prints "optimizer state" ls 0.21.0/composed-full.mpk <<END
KEY                       KIND   VALUE
schedulers.0.Linear       uint   46
schedulers.1.Exponential  float  0.06561000000000002
2 values
END
for case in tiny zoo plain composed; do
    "$record" ls 0.21.0/$case-full.mpk >"$scratch/expected"
    run ls 0.21.0/$case-full.mpk.gz
    same "compressed or not, $case is the same" "$scratch/expected" "$scratch/out"
done

# Layers of one name that differ in shape.
record_begin 1
str layers
list 8
for rows in 4 4 4 2 2 4 1 3; do
    map 1
    str weight
    tensor $rows 2
done
record_end >"$scratch/layers.mpk"
prints "layers that differ in shape are told by their indices" ls "$scratch/layers.mpk" <<END
KEY                        DTYPE  SHAPE   PARAMETERS
layers.{0-2,5}.weight  ×4  f32    [4, 2]           8
layers.{3-4}.weight    ×2  f32    [2, 2]           4
layers.6.weight            f32    [1, 2]           2
layers.7.weight            f32    [3, 2]           6
8 tensors, 48 parameters, 192 bytes      (--all lists every one)
END

# Two levels of lists, of which one index is always the same.
record_begin 1
str a
list 3
for _ in 0 1 2; do
    map 1
    str b
    list 1
    map 4
    for name in q k v o; do
        str $name
        tensor 2 2
    done
done
record_end >"$scratch/nested.mpk"
prints "only the index that varies is a hash sign" ls "$scratch/nested.mpk" <<END
KEY                    DTYPE  SHAPE   PARAMETERS
a.#.b.0.{q,k,v,o}  ×3  f32    [2, 2]       4 × 4
12 tensors, 48 parameters, 192 bytes      (--all lists every one)
END

# Names that could steer a terminal, hold dots and backslashes, or nothing.
record_begin 1
str m
map 5
str "$(printf 'red\033[31m')"
tensor 1 1
str 'a.b'
tensor 1 2
str 'c\d'
tensor 1 3
str "$(printf 'right\342\200\256left')"
tensor 1 4
str 'naïve'
tensor 1 5
record_end >"$scratch/names.mpk"
prints "names are printed so that they cannot steer a terminal" ls "$scratch/names.mpk" <<'END'
KEY                      DTYPE  SHAPE   PARAMETERS
m.red\x1b[31m            f32    [1, 1]           1
m.a\.b                   f32    [1, 2]           2
m.c\\d                   f32    [1, 3]           3
m.right\xe2\x80\xaeleft  f32    [1, 4]           4
m.naïve                  f32    [1, 5]           5
5 tensors, 15 parameters, 60 bytes
END

# 26 scalars: the first 20 are listed, unless all are asked for.
record_begin 1
str s
map 26
for letter in a b c d e f g h i j k l m n o p q r s t u v w x y z; do
    str $letter
    byte 7
done
record_end >"$scratch/many.mpk"
run ls "$scratch/many.mpk"
check "of many values the first are listed" grep -qx '… and 6 more' "$scratch/out"
check "how to list them all is said" grep -qx '26 values      (--all lists every one)' "$scratch/out"
run ls --all "$scratch/many.mpk"
check "--all lists all of them" [ "$(grep -c ' uint  7$' "$scratch/out")" = 26 ]

head -c 40000 0.18.0/mnist.mpk >"$scratch/cut.mpk"
run ls "$scratch/cut.mpk"
status_is "a file that ends early is an error" 2
check "it says where" grep -qF "record: $scratch/cut.mpk: byte 31,041: fc1.weight" "$scratch/err"
same "and prints nothing of it" /dev/null "$scratch/out"

need_jq
run ls --json 0.21.0/zoo-full.mpk
answers "--json is an object of tensors and values" keys '["tensors","values"]'
answers "a tensor has these members, in this order" '.tensors[0] | keys_unsorted' '["key","dtype","shape","nbytes","id"]'
answers "the first tensor" '.tensors[0] | del(.id)' '{"key":"conv1.weight","dtype":"f32","shape":[3,2,3],"nbytes":72}'
answers "ids are strings" '[.tensors[].id | length] | unique' '[13]'
answers "all tensors, in the file's order" '.tensors | length, .[-1].key' '43
"mask"'
answers "a value has these members, in this order" '.values[0] | keys_unsorted' '["key","kind","value"]'
run ls --json 0.21.0/plain-full.mpk
answers "a tensor without id has null" '.tensors[0].id' null
check "integers are exact" grep -qF '{"key": "big", "kind": "uint", "value": 18446744073709551615}' "$scratch/out"
check "negative ones too" grep -qF '{"key": "long", "kind": "int", "value": -9223372036854775808}' "$scratch/out"
jq -r '.item.name' 0.21.0/plain-full.json >"$scratch/expected"
jq -r '.values[] | select(.key == "name").value' "$scratch/out" >"$scratch/found"
same "strings are those of Burn's own JSON" "$scratch/expected" "$scratch/found"
answers "kinds" '[.values[].kind] | unique' '["bool","float","int","list","nil","numbers","string","uint"]'
answers "packed numbers are lists" '.values[] | select(.key == "grid").value' '[2147483647,-1,-2147483648]'
run ls --json 0.13.2/zoo-half.mpk
answers "what was assumed is marked" '[.tensors[] | select(.assumed)] | length' 20
answers "what was not assumed is not" '[.tensors[] | has("assumed")] | map(select(. == false)) | length' 23
for file in 0.*/*.mpk; do
    "$record" ls --quiet --json "$file" >"$scratch/out" 2>"$scratch/err" || echo "$file"
    jq -e '.tensors and .values' "$scratch/out" >/dev/null || echo "$file"
done >"$scratch/bad"
same "--json of every record is valid" /dev/null "$scratch/bad"

# 100,000 tensors: a time that only something quadratic would miss.
many_tensors 100000 >"$scratch/hundred.mpk"
check "100,000 tensors are folded in time" timeout 60 "$record" ls "$scratch/hundred.mpk"
run ls "$scratch/hundred.mpk"
cat >"$scratch/expected" <<END
KEY              DTYPE  SHAPE  PARAMETERS
m.#.w  ×100,000  f32    [32]           32
100,000 tensors, 3,200,000 parameters, 12.2 MiB      (--all lists every one)
END
same "they are one line" "$scratch/expected" "$scratch/out"
check "they are listed in time" timeout 60 "$record" ls --all "$scratch/hundred.mpk"
run ls --all "$scratch/hundred.mpk"
check "a line each" [ "$(wc -l <"$scratch/out")" = 100002 ]

finish
