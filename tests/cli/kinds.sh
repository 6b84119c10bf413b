#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record show, ls and diff: each kind of value, bytes and variants too, and how two of them are told apart.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
cd "$scratch" || exit 99

head='\202\250metadata\205\245float\243f32\243int\243i32\246format\241x\247version\2460.18.0\250settings\241x\244item\203'
# shellcheck disable=SC2059 # octal
{
    printf "$head"'\243raw\304\010abcdefgh\245empty\304\000\244nums\223\001\002\003' >bytes-a.mpk
    printf "$head"'\243raw\304\011abcXefghi\245empty\304\000\244nums\223\001\002\004' >bytes-b.mpk
}
long=abcdefghijklmnopqrstuvwxyz
run edit -o a.mpk new set n 5u8 set x 2.5f32 set big 18446744073709551615u64 set l '[1,2,3,4,5,6,7,8,9,10]' set f '[1.5,2.5]' \
    set flags '[true,false]' set s abc set long "$long-1" set nil null set e '[]' set m '{}' set gone 1 set k true \
    set u 'u64[1, 2]' set w 'f32[1, 9]' set same 'f32[1, 2]' set shape 'f32[1, 2]' set type 'f32[1, 2]' meta note one meta gone yes
run edit -o b.mpk new set n 6u8 set x 3.5f32 set big 18446744073709551614u64 set l '[1,2,3,4,5,6,7,8,9,11]' set f '[1.5,2.25]' \
    set flags '[true,true]' set s abd set long "$long-2" set nil 1 set e '[1]' set m '{"a":1}' set new 1 set k 1 \
    set u 'u64[1, 3]' set w 'f32[1, 2]' set same 'f32[1, 2]' set shape 'f32[1, 2, 3]' set type 'f16[1, 2]' meta note two meta new yes
cat >t.rs <<'EOT'
enum E { A, B(f32), C { v: u32 } }
struct T { e: E, n: u32, o: Option<E> }
EOT
meta='"metadata":{"float":"f32","int":"i32","format":"x","version":"0.18.0","settings":"x"}'
echo "{$meta,\"item\":{\"e\":{\"B\":1.5},\"n\":3,\"o\":\"A\"}}" >va.json
echo "{$meta,\"item\":{\"e\":{\"C\":{\"v\":7}},\"n\":3,\"o\":\"A\"}}" >vb.json
run convert -q --type t.rs:T va.json va.bin
run convert -q --type t.rs:T vb.json vb.bin
check "the files to try it on" [ -s b.mpk ]

transcript "bytes" <<'END'
$ show bytes-a.mpk
raw: 8 bytes: 61 62 63 64 65 66 67 68
empty: 0 bytes
nums: [1, 2, 3]
$ show bytes-a.mpk raw
8 bytes: 61 62 63 64 65 66 67 68
$ ls bytes-a.mpk --all
KEY    KIND     VALUE
raw    bytes    8 bytes: 61 62 63 64 65 66 67 68
empty  bytes    0 bytes
nums   numbers  [1, 2, 3]
3 values
$ show bytes-a.mpk --json
{
  "key": "",
  "kind": "map",
  "value": {"raw": "YWJjZGVmZ2g=", "empty": "", "nums": [1, 2, 3]}
}
$ diff bytes-a.mpk bytes-b.mpk
A  bytes-a.mpk
   NamedMpk, Burn 0.18.0: 0 tensors, 0 parameters; 3 values
B  bytes-b.mpk
   NamedMpk, Burn 0.18.0: 0 tensors, 0 parameters; 3 values

       KEY   A                          B
value  raw   8 bytes: 61 62 63 64 65 …  9 bytes: 61 62 63 58 65 …
value  nums  [1, 2, 3]                  [1, 2, 4]

1 value equal, 2 values differ
status 1
END

transcript "variants" <<'END'
$ show --type t.rs:T va.bin
e:
  B: 1.5
n: 3
o: A
$ show --type t.rs:T vb.bin --json
{
  "key": "",
  "kind": "map",
  "value": {"e": {"C": {"v": 7}}, "n": 3, "o": "A"}
}
$ ls --type t.rs:T va.bin
KEY  KIND     VALUE
e.B  float    1.5
n    uint     3
o    variant  A
3 values
$ show --type t.rs:T vb.bin e.C.v
7
$ diff --type t.rs:T va.bin vb.bin
A  va.bin
   BinFile, Burn 0.21.0: 0 tensors, 0 parameters; 3 values
B  vb.bin
   BinFile, Burn 0.21.0: 0 tensors, 0 parameters; 3 values

         KEY    A    B
removed  e.B    1.5  -
added    e.C.v  -    7

2 values equal, 2 values differ
status 1
$ diff --type t.rs:T va.bin va.bin
equal: 0 tensors, 0 parameters, 3 values
END

transcript "each kind of value that differs" <<'END'
$ diff a.mpk b.mpk
A  a.mpk
   NamedMpk, Burn 0.21.0: 5 tensors, 10 parameters; 12 values
B  b.mpk
   NamedMpk, Burn 0.21.0: 5 tensors, 11 parameters; 13 values

       KEY    A        B
shape  shape  f32 [2]  f32 [3]
dtype  type   f32 [2]  f16 [2]

          KEY    A                     B
value     n      5                     6
value     x      2.5                   3.5
value     big    18446744073709551615  18446744073709551614
value     l      [9] 10 of 10          [9] 11 of 10
value     f      [1.5, 2.5]            [1.5, 2.25]
value     flags  [true, false]         [true, true]
value     s      "abc"                 "abd"
value     long   …tuvwxyz-1"           …tuvwxyz-2"
value     e      []                    [1]
removed   m      {}                    -
removed   gone   1                     -
value     k      true                  1
added     nil    -                     1
added     m.a    -                     1
added     new    -                     1
metadata  note   "one"                 "two"
metadata  gone   "yes"                 -
metadata  new    -                     "yes"

KEY  CHANGE    COSINE  LARGEST  DIFFER
w     0.773  0.938343        7    50 %
u     0.316  0.989949        1    50 %

largest     w[1]: 9.0 | 2.0 (apart by 7)
frozen      same (1 tensor, 2 parameters)
            type (1 tensor, 2 parameters)
2 tensors equal, 3 tensors differ, 15 values differ, 3 lines of metadata differ
status 1
$ diff b.mpk a.mpk --ids --ignore values --ignore metadata
A  b.mpk
   NamedMpk, Burn 0.21.0: 5 tensors, 11 parameters; 13 values
B  a.mpk
   NamedMpk, Burn 0.21.0: 5 tensors, 10 parameters; 12 values

       KEY    A        B
shape  shape  f32 [3]  f32 [2]
dtype  type   f16 [2]  f32 [2]
id     u               another id
id     w               another id
id     same            another id
id     shape           another id
id     type            another id

          KEY    A                     B
value     n      6                     5
value     x      3.5                   2.5
value     big    18446744073709551614  18446744073709551615
value     l      [9] 11 of 10          [9] 10 of 10
value     f      [1.5, 2.25]           [1.5, 2.5]
value     flags  [true, true]          [true, false]
value     s      "abd"                 "abc"
value     long   …tuvwxyz-2"           …tuvwxyz-1"
removed   nil    1                     -
value     e      [1]                   []
removed   m.a    1                     -
removed   new    1                     -
value     k      1                     true
added     m      -                     {}
added     gone   -                     1
metadata  note   "two"                 "one"
metadata  new    "yes"                 -
metadata  gone   -                     "yes"

KEY  CHANGE    COSINE  LARGEST  DIFFER
w     0.773  0.938343        7    50 %
u     0.316  0.989949        1    50 %

largest     w[1]: 2.0 | 9.0 (apart by 7)
frozen      same (1 tensor, 2 parameters)
            type (1 tensor, 2 parameters)
2 tensors equal, 3 tensors differ, 15 values differ, 3 lines of metadata differ
status 1
$ diff a.mpk b.mpk --atol 10 --ignore values --ignore metadata --ignore dtype
A  a.mpk
   NamedMpk, Burn 0.21.0: 5 tensors, 10 parameters; 12 values
B  b.mpk
   NamedMpk, Burn 0.21.0: 5 tensors, 11 parameters; 13 values

       KEY    A        B
shape  shape  f32 [2]  f32 [3]
dtype  type   f32 [2]  f16 [2]

          KEY   A            B
value     s     "abc"        "abd"
value     long  …tuvwxyz-1"  …tuvwxyz-2"
value     e     []           [1]
removed   m     {}           -
removed   gone  1            -
value     k     true         1
added     nil   -            1
added     m.a   -            1
added     new   -            1
metadata  note  "one"        "two"
metadata  gone  "yes"        -
metadata  new   -            "yes"

KEY  CHANGE    COSINE  LARGEST  DIFFER
w     0.773  0.938343        7    50 %  within
u     0.316  0.989949        1    50 %  within

largest     w[1]: 9.0 | 2.0 (apart by 7)
frozen      same (1 tensor, 2 parameters)
            type (1 tensor, 2 parameters)
2 tensors equal, 1 tensor differs, 2 within the tolerance, 6 values equal, 9 values differ, 3 lines of metadata differ
status 1
$ diff a.mpk b.mpk --all --ignore values --ignore metadata --ulp 1
A  a.mpk
   NamedMpk, Burn 0.21.0: 5 tensors, 10 parameters; 12 values
B  b.mpk
   NamedMpk, Burn 0.21.0: 5 tensors, 11 parameters; 13 values

       KEY    A        B
shape  shape  f32 [2]  f32 [3]
dtype  type   f32 [2]  f16 [2]

          KEY    A                     B
value     n      5                     6
value     x      2.5                   3.5
value     big    18446744073709551615  18446744073709551614
value     l      [9] 10 of 10          [9] 11 of 10
value     f      [1.5, 2.5]            [1.5, 2.25]
value     flags  [true, false]         [true, true]
value     s      "abc"                 "abd"
value     long   …tuvwxyz-1"           …tuvwxyz-2"
value     e      []                    [1]
removed   m      {}                    -
removed   gone   1                     -
value     k      true                  1
added     nil    -                     1
added     m.a    -                     1
added     new    -                     1
metadata  note   "one"                 "two"
metadata  gone   "yes"                 -
metadata  new    -                     "yes"

KEY  CHANGE    COSINE  LARGEST  DIFFER  AT
w     0.773  0.938343        7    50 %  [1]
u     0.316  0.989949        1    50 %  [1]

largest     w[1]: 9.0 | 2.0 (apart by 7)
frozen      same (1 tensor, 2 parameters)
            type (1 tensor, 2 parameters)
2 tensors equal, 3 tensors differ, 15 values differ, 3 lines of metadata differ
status 1
$ diff a.mpk b.mpk --brief
a.mpk and b.mpk differ
status 1
$ diff a.mpk b.mpk --json
{
  "equal": false,
  "a": {
    "file": "a.mpk",
    "recorder": "NamedMpk",
    "burn": "0.21.0",
    "tensors": 5,
    "parameters": 10,
    "values": 12,
    "named": true
  },
  "b": {
    "file": "b.mpk",
    "recorder": "NamedMpk",
    "burn": "0.21.0",
    "tensors": 5,
    "parameters": 11,
    "values": 13,
    "named": true
  },
  "removed": [],
  "added": [],
  "renamed": [],
  "tensors": [
    {"key": "w", "verdict": "differs", "dtype": "f32", "shape": [2], "count": 2, "differing": 1, "beyond": 1, "change": 0.7730206825239258, "cosine": 0.9383431168171099, "nmse": 0.5975609756097561, "sqnr": 2.2361777235520304, "norm_difference": 7.0, "norm_a": 9.055385138137417, "norm_b": 2.23606797749979, "max_abs": {"value": 7.0, "at": [1], "a": 9.0, "b": 2.0}, "max_rel": {"value": 0.7777777777777778, "at": [1], "a": 9.0, "b": 2.0}, "nan": [0, 0], "inf": [0, 0]},
    {"key": "u", "verdict": "differs", "dtype": "u64", "shape": [2], "count": 2, "differing": 1, "beyond": 1, "change": 0.31622776601683794, "cosine": 0.9899494936611664, "nmse": 0.2, "sqnr": 6.9897000433601875, "norm_difference": 1.0, "norm_a": 2.23606797749979, "norm_b": 3.1622776601683795, "max_abs": {"value": 1.0, "at": [1], "a": 2, "b": 3}, "max_rel": {"value": 0.3333333333333333, "at": [1], "a": 2, "b": 3}, "nan": [0, 0], "inf": [0, 0]},
    {"key": "shape", "verdict": "shape", "dtype": "f32", "shape": [2], "shape_b": [3], "transposed": false, "count": 2},
    {"key": "type", "verdict": "equal", "dtype": "f32", "shape": [2], "dtype_b": "f16", "count": 2}
  ],
  "values": [
    {"key": "n", "a": 5, "b": 6},
    {"key": "x", "a": 2.5, "b": 3.5},
    {"key": "big", "a": 18446744073709551615, "b": 18446744073709551614},
    {"key": "l", "a": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "b": [1, 2, 3, 4, 5, 6, 7, 8, 9, 11]},
    {"key": "f", "a": [1.5, 2.5], "b": [1.5, 2.25]},
    {"key": "flags", "a": [true, false], "b": [true, true]},
    {"key": "s", "a": "abc", "b": "abd"},
    {"key": "long", "a": "abcdefghijklmnopqrstuvwxyz-1", "b": "abcdefghijklmnopqrstuvwxyz-2"},
    {"key": "e", "a": [], "b": [1]},
    {"key": "m", "a": {}},
    {"key": "gone", "a": 1},
    {"key": "k", "a": true, "b": 1},
    {"key": "nil", "b": 1},
    {"key": "m.a", "b": 1},
    {"key": "new", "b": 1}
  ],
  "metadata": [
    {"key": "note", "a": "one", "b": "two"},
    {"key": "gone", "a": "yes"},
    {"key": "new", "b": "yes"}
  ],
  "frozen": [
    {"key": "same", "tensors": 1, "parameters": 2},
    {"key": "type", "tensors": 1, "parameters": 2}
  ],
  "totals": {
    "pairs": 5,
    "equal": 2,
    "within": 0,
    "rounded": 0,
    "differs": 2,
    "not read": 0,
    "shape": 1,
    "dtype": 0,
    "removed": 0,
    "added": 0,
    "renamed": 0,
    "dtypes": 1,
    "moved": 0,
    "ids": 5,
    "values": 15,
    "values_equal": 0,
    "metadata": 3
  },
  "hint": null,
  "notes": []
}
status 1
END

transcript "what cannot be asked" <<'END'
$ diff a.mpk b.mpk --bits --atol 1
record: --bits and a tolerance exclude each other
status 2
$ diff a.mpk b.mpk --by nonsense
record: --by: expected name, position or id, found "nonsense"
status 2
$ diff a.mpk
record: expected record diff A B [KEY]..., found 1 operand
  record diff --help shows how it is used.
status 2
$ diff a.mpk none.mpk
record: none.mpk: cannot open the file: No such file or directory
status 2
$ diff none.mpk a.mpk
record: none.mpk: cannot open the file: No such file or directory
status 2
$ diff a.mpk b.mpk --rtol x
record: --rtol: expected a number, 0 or more, found "x"
status 2
$ diff a.mpk b.mpk --ulp -1
record: --ulp: expected a number, 0 or more, found "-1"
status 2
$ diff a.mpk b.mpk --ignore nonsense
record: --ignore: expected dtype, metadata, data, values, added, removed or renamed, found "nonsense"
status 2
END

# Bytes values that are longer than what a listing shows.
{
    # shellcheck disable=SC2059 # octal
    printf "$head"'\243raw\305\001\054'
    printf '%0300d' 0
    # shellcheck disable=SC2059
    printf '\243two\202\245bytes\304\106%070d\245shape\300\243nil\300' 0
} >long.mpk
gzip -c long.mpk >long.mpk.gz
for file in long.mpk long.mpk.gz; do
    for option in '' -l --all; do
        # shellcheck disable=SC2086 # an option or none
        run ls $file $option
        check "ls $file $option" grep -q '^raw  *bytes  *300 bytes: 30 30 30' "$scratch/out"
    done
    run ls $file --json
    cp "$scratch/out" listed
    run show $file raw --json
    shown=$(sed -n 's/.*"value": "\(.*\)".*/\1/p' "$scratch/out")
    check "show --json $file gives all bytes" [ ${#shown} = 400 ]
    check "and so does ls --json" [ "$(sed -n 's/.*"key": "raw",.*"value": "\(.*\)"}.*/\1/p' listed)" = "$shown" ]
done

finish
