#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record edit: each kind of value and element type, what fits and what is refused in which words. What is done is in edit.sh.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
cd "$scratch" || exit 99

run edit -o k.mpk new set w 'f32[2, 3]=0.1' set h 'f16[1.5, 2]' set i 'i64[1, 2, 300]' set big 'i64[9007199254740993, 70000]' set u 'u64[1, 18446744073709551615]' set b 'bool[1, 0, 1]' set e 'f64[2]=1e300' set s '"text"' set n 5u8 set j -7i16 set x 2.5f32 set whole 4.0 set flag true set l '[1, 2]' set m '{"a": 1, "b": {"c.d": "x"}}' set nothing null
cp k.mpk k2.mpk
run edit -o k3.mpk new set w 'f32[2, 3]=0.1' set h 'f16[1.5, 3]' set s '"text"' set n 6u8 set zz 1 set l '[1, 3]' set nothing null set m '{"a": 1, "z": {}}'
run edit -q -o p.mpk new set l '[1, 2]' set m '{"a": 1, "b": {}}' set t 'f32[1, 2]' set k true set x 2.5
run edit -q -o q.mpk new set l '[1, 3]' set m '{"a": {}, "b": {}}' set t 'f32[1, 2, 3]' set k 1 set x 2.5
run edit -q -o r.mpk new set l '[1, 2, 3]' set m '{"c": 1}' set t 'f16[1, 2]' set k '{}' set x 2.25
run edit -q -o t.mpk new set t.a 1 set l.x 5 set m 5
# What edit does not make: bytes, keys that are numbers, empty or with a NUL, roots that are no maps, variants.
head='\202\250metadata\205\245float\243f32\243int\243i32\246format\241x\247version\2460.18.0\250settings\241x\244item'
# shellcheck disable=SC2059 # octal
{
    printf "$head"'\203\243raw\304\010abcdefgh\245empty\304\000\244nums\223\001\002\003' >bytes-a.mpk
    printf "$head"'\203\243raw\304\011abcXefghi\245empty\304\000\244nums\223\001\002\004' >bytes-b.mpk
    printf "$head"'\202\241m\202\001\005\002\006\241q\002' >numbered.mpk
    printf "$head"'\202\240\005\241q\002' >no-key.mpk
    printf "$head"'\202\243a\000b\005\241q\002' >nul.mpk
    printf "$head"'\223\001\002\003' >list.mpk
    printf "$head"'\200' >empty.mpk
}
cat >t.rs <<'EOT'
enum E { A, B(f32), C { v: u32 } }
struct T { e: E, n: u32, o: Option<E> }
EOT
meta='"metadata":{"float":"f32","int":"i32","format":"x","version":"0.18.0","settings":"x"}'
echo "{$meta,\"item\":{\"e\":{\"B\":1.5},\"n\":3,\"o\":\"A\"}}" >va.json
echo "{$meta,\"item\":{\"e\":{\"C\":{\"v\":7}},\"n\":3,\"o\":\"A\"}}" >vb.json
run convert -q --type t.rs:T va.json va.bin
run convert -q --type t.rs:T vb.json vb.bin
check "the files to try it on" [ -s k.mpk -a -s vb.bin ]
cp k.mpk before.mpk

transcript "casts: what is lost is counted, what cannot be held is refused" <<'END'
$ edit k.mpk cast u f64 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast u f64  1 tensor u64 -> f64; 1 of 2 values rounded
$ edit k.mpk cast u u8 --dry-run
record: u: element 1 is 18446744073709551615, which does not fit u8 (0 to 255)
  Choose a larger precision, or allow clamping (option clamp).
status 2
$ edit k.mpk cast big f64 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast big f64  1 tensor i64 -> f64; 1 of 2 values rounded
$ edit k.mpk cast i f16 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast i f16  1 tensor i64 -> f16
$ edit k.mpk cast i bool --dry-run
record: cast i: bool takes 0 and 1, and it holds other values
status 2
$ edit k.mpk cast b u8 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast b u8  1 tensor bool -> u8
$ edit k.mpk cast b f32 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast b f32  1 tensor bool -> f32
$ edit k.mpk cast h f32 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast h f32  1 tensor f16 -> f32
$ edit k.mpk cast h bf16 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast h bf16  1 tensor f16 -> bf16
$ edit k.mpk cast h i32 --dry-run
record: cast h: i32 takes whole numbers, and it holds others
status 2
$ edit k.mpk cast w f32 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast w f32  nothing to do: f32 already
$ edit k.mpk cast w bool --dry-run
record: cast w: bool takes 0 and 1, and it holds other values
status 2
$ edit k.mpk cast e f32 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast e f32  1 tensor f64 -> f32; 2 of 2 values rounded, 2 became infinite
$ edit k.mpk cast n i32 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast n i32  now i32
$ edit k.mpk cast n f32 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast n f32  now f32
$ edit k.mpk cast n bool --dry-run
record: cast n: a number cannot be bool
status 2
$ edit k.mpk cast x i32 --dry-run
record: x: expected a whole number before the suffix of one, found "i32"
status 2
$ edit k.mpk cast whole i32 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast whole i32  now i32
$ edit k.mpk cast s f32 --dry-run
record: cast s: expected a tensor or a number, found string
status 2
$ edit k.mpk cast flag f32 --dry-run
record: cast flag: expected a tensor or a number, found bool
status 2
$ edit k.mpk cast '**' f16 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast ** f16  2 tensors floats -> f16, 4 of other kinds left as they are; 8 of 8 values rounded, 2 became infinite, first in e
$ edit k.mpk cast m f16 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast m f16  nothing to do: f16 already
$ edit k.mpk cast w q4 --dry-run
record: cast: expected an element type, found "q4"
  Known: f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, bool.
status 2
$ edit k.mpk cast nonesuch f16 --dry-run
record: nonesuch: the record has no such key
  The record has: w, h, i, big, u, b, e, s, …
status 2
END

transcript "elements of tensors" <<'END'
$ edit k.mpk set b '[1, 0, 2]' --dry-run
record: set b: a bool takes true and false, or 1 and 0
status 2
$ edit k.mpk set b '[0, 1, 0]' --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set b [0, 1, 0]  3 elements of bool [3]
$ edit k.mpk set 'b[1]' true --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set b[1] true  1 element of bool [3]
$ edit k.mpk set 'b[1]' '"x"' --dry-run
record: set b[1]: it is a tensor: a number, or numbers in lists were expected, found ""x""
status 2
$ edit k.mpk set u '[1, 2]' --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set u [1, 2]  2 elements of u64 [2]
$ edit k.mpk set 'u[0]' 9 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set u[0] 9  1 element of u64 [2]
$ edit k.mpk set 's[0]' 9 --dry-run
record: s: there is a string here, not a tensor
status 2
$ edit k.mpk set 'i[5]' 9 --dry-run
record: i: index 5 is out of range: dimension 0 has 3 elements
status 2
$ edit k.mpk set 'w[0]' '[1, 2, 3]' --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set w[0] [1, 2, 3]  3 elements of f32 [2, 3]
$ edit k.mpk set 'w[0]' '[[1, 2], [3]]' --dry-run
record: set w: expected numbers, in lists of one length at each level
status 2
$ edit k.mpk set w '[1, "a"]' --dry-run
record: set w: expected numbers, in lists of one length at each level
status 2
$ edit k.mpk set t 'bool[1, 2]' --dry-run
record: set t: a bool takes true and false, or 1 and 0
status 2
$ edit k.mpk set t 'u8[1, 300]' --dry-run
record: set t: numbers: element 1 is 300, which does not fit u8 (0 to 255)
  Choose a larger precision, or allow clamping (option clamp).
status 2
$ edit k.mpk set t 'f16[1, 1e30]' --dry-run
record: set t: number 2 of those given is too large for f16
status 2
$ edit k.mpk set t 'u32[2]=7' --dry-run
k.mpk -> k.mpk: 8 tensors, not written: --dry-run
  set t u32[2]=7  new: u32 [2]
$ edit k.mpk set t 'u32[2]=-7' --dry-run
record: set t: numbers: element 0 is -7, which does not fit u32 (0 to 4294967295)
  Choose a larger precision, or allow clamping (option clamp).
status 2
$ edit k.mpk set j -8 set x -0.5e1 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set j -8      was -7
  set x -0.5e1  was 2.5
$ edit k.mpk set n -x --dry-run
record: unknown option -x
  record help options lists all options.
status 2
$ edit k.mpk set t 'f32[[1,2],[3]]' --dry-run
record: set t: expected numbers, in lists of one length at each level
status 2
$ edit k.mpk set t 'f32[2, 1.5]=3' --dry-run
record: set t: whole numbers that fit the tensor's type were expected
status 2
$ edit k.mpk set t 'f32[[1]]=3' --dry-run
record: set t: expected a shape of at most 32 sizes, found "[[1]]"
status 2
$ edit k.mpk set t @k2.mpk:h --dry-run
k.mpk -> k.mpk: 8 tensors, not written: --dry-run
  set t @k2.mpk:h  new: f16 [2]
$ edit k.mpk set w @k2.mpk:h --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set w @k2.mpk:h  now f16 [2]
$ edit k.mpk set t @k2.mpk:nope --dry-run
record: nope: the record has no such key
  Did you mean e?
status 2
$ edit k.mpk set t @k2.mpk:s --dry-run
record: s: there is a string here, not a tensor
status 2
$ edit k.mpk set t @k2.mpk --dry-run
record: set t: k2.mpk holds 7 tensors: @FILE:KEY selects one
status 2
$ edit k.mpk set t @none.mpk --dry-run
record: none.mpk: cannot open the file: No such file or directory
status 2
END

transcript "values, and what is none" <<'END'
$ edit k.mpk set flag 1 --dry-run
record: set flag: it is a bool: true or false
status 2
$ edit k.mpk set flag '"x"' --dry-run
record: set flag: it is a bool, found ""x""
  To make it another kind remove it first (rm).
status 2
$ edit k.mpk set flag false --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set flag false  was true
$ edit k.mpk set n 300 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set n 300  was 5
$ edit k.mpk set n 1.5 --dry-run
record: set n: 1.5 does not fit uint of 64 bits
  A suffix gives it another type: 5i64, 1.5f32.
status 2
$ edit k.mpk set n 1.5u8 --dry-run
record: n: expected a whole number before the suffix of one, found "u8"
status 2
$ edit k.mpk set n 300u8 --dry-run
record: n: expected a number that fits its suffix, found "u8"
status 2
$ edit k.mpk set n 5u99 --dry-run
record: set n: it is a uint, found "5u99"
  To make it another kind remove it first (rm).
status 2
$ edit k.mpk set j 200i8 --dry-run
record: j: expected a number that fits its suffix, found "i8"
status 2
$ edit k.mpk set x '"a"' --dry-run
record: set x: it is a float, found ""a""
  To make it another kind remove it first (rm).
status 2
$ edit k.mpk set x 1e999 --dry-run
record: x: expected a number that a double holds, found "1e999"
status 2
$ edit k.mpk set s abc --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set s abc  was "text"
$ edit k.mpk set s 5 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set s 5  was "text"
$ edit k.mpk set s null --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set s null  was "text"
$ edit k.mpk set s '"\u00e9\ud83d\ude00\u0001\/"' --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set s "\u00e9\ud83d\ude00\u0001\/"  was "text"
$ edit k.mpk set s '"\ud83d"' --dry-run
record: s: expected a pair of surrogates, found """
status 2
$ edit k.mpk set s '"\ud83d\u0041"' --dry-run
record: s: expected a pair of surrogates, found """
status 2
$ edit k.mpk set s '"\u12g4"' --dry-run
record: s: expected four hexadecimal digits, found "g4""
status 2
$ edit k.mpk set s '"\q"' --dry-run
record: s: expected an escape of JSON, found "q""
status 2
$ edit k.mpk set s '"abc' --dry-run
record: s: expected the end of a string, found ""
status 2
$ edit k.mpk set m '{"a": 1' --dry-run
record: m: expected a comma or }, found ""
status 2
$ edit k.mpk set m '{a: 1}' --dry-run
record: m: expected a key in quotes, found "a: 1}"
status 2
$ edit k.mpk set m '{"a" 1}' --dry-run
record: m: expected a colon, found "1}"
status 2
$ edit k.mpk set m '{}' --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set m {}  was a map
$ edit k.mpk set m 5 --dry-run
record: set m: it is a map, which one value cannot replace
  Remove it first (rm), or name what is in it.
status 2
$ edit k.mpk set l '[1, 2] x' --dry-run
record: l: expected the end, found "x"
status 2
$ edit k.mpk set l '[]' --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set l []  was [1, 2]
$ edit k.mpk set nothing 5 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set nothing 5  was null
$ edit k.mpk set 'm.b.c\.d' '"y"' --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set m.b.c\.d "y"  was "x"
$ edit k.mpk set t '{"p.q": [1, {"r\\s": true}]}' --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set t {"p.q": [1, {"r\\s": true}]}  added
END

transcript "operations that are none, or not at this place" <<'END'
$ edit k.mpk frob x --dry-run
record: expected an operation, found "frob": set, rm, mv, cast, meta, merge, split
  record edit --help shows how it is used.
status 2
$ edit k.mpk st x 1 --dry-run
record: expected an operation, found "st": did you mean set?
  record edit --help shows how it is used.
status 2
$ edit k.mpk split --by key rm x --dry-run
record: split must be the last operation, found rm after it
  record edit --help shows how it is used.
status 2
$ edit k.mpk split --dry-run
record: split needs --by: key, a number of levels, or dtype
  record edit --help shows how it is used.
status 2
$ edit k.mpk rm x --by key --dry-run
record: --by is for split
  record edit --help shows how it is used.
status 2
$ edit k.mpk rm x --strip --dry-run
record: --strip is for split
  record edit --help shows how it is used.
status 2
$ edit k.mpk rm x -o y.mpk --in-place --dry-run
record: either --output or --in-place
  record edit --help shows how it is used.
status 2
$ edit k.mpk rm x -o - --dry-run
record: standard output has no extension: name the recorder with --to
  record edit --help shows how it is used.
status 2
$ edit k.mpk rm x -o y.nonesuch --dry-run
record: y.nonesuch: its name does not end in the extension of any recorder
  Name the recorder; `record plugins` lists them with their extensions.
status 2
$ edit k.mpk rm x -o y --to BinBytes --dry-run
record: BinBytes has no files: write to standard output, or name another recorder
status 2
$ edit k.mpk rm 'nope*' --dry-run
record: no key matches nope*
  In patterns * is any text, dots too, # a number, {a,b} alternatives.
status 2
$ edit k.mpk rm m.b rm l --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  rm m.b  1 value removed
  rm l    1 value removed
$ edit k.mpk split --by 0 -o 'out-{}.mpk' --dry-run
record: --by: expected key, dtype, or a number of levels, found "0"
  By size: record convert --max-shard-size SIZE IN OUT.
status 2
$ edit k.mpk split --by 65 -o 'out-{}.mpk' --dry-run
record: --by: expected key, dtype, or a number of levels, found "65"
  By size: record convert --max-shard-size SIZE IN OUT.
status 2
$ edit k.mpk split --by dtype --strip -o 'out-{}.mpk' --dry-run
record: --strip is for a split by keys
status 2
$ edit k.mpk split --by 1 --strip -o 'out-{}.mpk' --dry-run
record: split: w is a single value, whose name cannot be stripped
status 2
$ edit k.mpk split --by key -o out.mpk --dry-run
record: split writes several files: {} in --output is the name of the part
  record edit --help shows how it is used.
status 2
$ edit k.mpk mv 'a => b' c --dry-run
record: mv: the pattern holds " => ", which ends one
  Write \x20 for a blank in it.
status 2
$ edit k.mpk mv '(' c --dry-run
record: rule 1: the pattern `(`, character 1: the group that begins here has no end: write `)`
status 2
$ edit k.mpk mv w h --dry-run
record: 2 sources for h: w and h (rule 1; as it is)
  Drop one of them, or give one another key.
status 2
$ edit k.mpk meta nope '' --dry-run
record: meta nope: there is no such metadata to remove
status 2
$ edit k.mpk meta version 1 --dry-run
record: meta version: it describes how the record is written; use --burn
status 2
$ edit k.mpk meta note 'x y' meta note '' --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  meta note x y  added
  meta note ''   was x y, removed
$ edit k.mpk merge k3.mpk --dry-run
record: merge k3.mpk: 3 keys are in both, and not the same: h, n, l
  With --overwrite the later record's count; a --prefix before the file puts its keys elsewhere.
status 2
$ edit k.mpk merge k3.mpk --overwrite --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  merge k3.mpk  1 tensor, 4 bytes added; 4 the same in both
$ edit k.mpk merge k2.mpk --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  merge k2.mpk  0 tensors, 0 bytes added; 17 the same in both
$ edit k.mpk merge none.mpk --dry-run
record: none.mpk: cannot open the file: No such file or directory
status 2
END

transcript "more casts: what floats, ints and bools lose" <<'END'
$ edit k.mpk cast u f32 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast u f32  1 tensor u64 -> f32; 1 of 2 values rounded
$ edit k.mpk cast i f32 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast i f32  1 tensor i64 -> f32
$ edit k.mpk cast b bool32 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast b bool32  1 tensor bool -> bool32
$ edit k.mpk cast b i64 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast b i64  1 tensor bool -> i64
$ edit k.mpk cast w flex32 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast w flex32  1 tensor f32 -> flex32
$ edit k.mpk cast e flex32 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast e flex32  1 tensor f64 -> flex32; 2 of 2 values rounded, 2 became infinite
$ edit k.mpk set x 0.1f64 cast x f32 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set x 0.1f64  was 2.5
  cast x f32    now f32; 1 of 1 values rounded
$ edit k.mpk set x NaN cast x f32 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set x NaN   was 2.5
  cast x f32  now f32
$ edit k.mpk set x 1e300f64 cast x f32 --dry-run
record: x: expected a number that fits its suffix, found "f32"
status 2
$ edit k.mpk set x 1e17f64 cast x i64 --dry-run
record: x: expected a whole number before the suffix of one, found "i64"
status 2
$ edit k.mpk cast j u8 --dry-run
record: j: expected a number that fits its suffix, found "u8"
status 2
$ edit k.mpk cast n u8 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast n u8  now u8
$ edit k.mpk set n 300 cast n u8 --dry-run
record: n: expected a number that fits its suffix, found "u8"
status 2
$ edit k.mpk set n 40000 cast n i16 --dry-run
record: n: expected a number that fits its suffix, found "i16"
status 2
$ edit k.mpk set j -40000 cast j i16 --dry-run
record: j: expected a number that fits its suffix, found "i16"
status 2
$ edit k.mpk cast j f64 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast j f64  now f64
$ edit k.mpk cast n f16 --dry-run
record: cast n: a number cannot be f16
status 2
$ edit k.mpk set i 'i64[0, 1]' cast i bool32 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set i i64[0, 1]  now i64 [2]
  cast i bool32    1 tensor i64 -> bool32
$ edit k.mpk set i 'i64[0, -1]' cast i bool --dry-run
record: cast i: bool takes 0 and 1, and it holds other values
status 2
$ edit k.mpk set w 'f32[1, 0]' cast w bool --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set w f32[1, 0]  now f32 [2]
  cast w bool      1 tensor f32 -> bool
$ edit k.mpk set w 'f32[1, 2]' cast w i8 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set w f32[1, 2]  now f32 [2]
  cast w i8        1 tensor f32 -> i8
$ edit k.mpk set w 'f32[1e30]' cast w i64 --dry-run
record: cast w: i64 takes whole numbers, and it holds others
status 2
$ edit k.mpk set w 'f32[-1e30]' cast w i64 --dry-run
record: cast w: i64 takes whole numbers, and it holds others
status 2
$ edit k.mpk set w 'f32[NaN]' cast w i64 --dry-run
record: cast w: i64 takes whole numbers, and it holds others
status 2
$ edit k.mpk set w 'f64[NaN, 0.1]' cast w f16 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set w f64[NaN, 0.1]  now f64 [2]
  cast w f16           1 tensor f64 -> f16; 1 of 2 values rounded
$ edit k.mpk set u 'i64[-9223372036854775808, 9223372036854775807]' cast u f64 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set u i64[-922337203…72036854775807]  now i64 [2]
  cast u f64                            1 tensor i64 -> f64; 1 of 2 values rounded
$ edit k.mpk set u 'i64[70000]' cast u f16 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set u i64[70000]  now i64 [1]
  cast u f16        1 tensor i64 -> f16; 1 of 1 values rounded, 1 became infinite
$ edit k.mpk set u 'f32[0]=1' cast u f16 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set u f32[0]=1  now f32 [0]
  cast u f16      1 tensor f32 -> f16
$ edit k.mpk cast '{w,i}' f16 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  cast {w,i} f16  1 tensor f32 -> f16, 1 of other kinds left as it is; 6 of 6 values rounded
$ edit k.mpk cast '{i,big}' i32 --dry-run
record: big: element 0 is 9007199254740993, which does not fit i32 (-2147483648 to 2147483647)
  Choose a larger precision, or allow clamping (option clamp).
status 2
$ edit --type t.rs:T vb.bin cast e f64 --dry-run
vb.bin -> vb.bin: 0 tensors, not written: --dry-run
  cast e f64  nothing to do: f64 already
END

transcript "more tensors: shapes, and numbers of other kinds" <<'END'
$ edit k.mpk set t 'bool32[1, 0]' --dry-run
k.mpk -> k.mpk: 8 tensors, not written: --dry-run
  set t bool32[1, 0]  new: bool32 [2]
$ edit k.mpk set t 'bool8[1, 0]' --dry-run
k.mpk -> k.mpk: 8 tensors, not written: --dry-run
  set t bool8[1, 0]  new: bool8 [2]
$ edit k.mpk set t 'f32[2]=[1]' --dry-run
record: set t: expected TYPE[SHAPE]=NUMBER, found "[2]=[1]"
status 2
$ edit k.mpk set t 'f32[2]=null' --dry-run
record: set t: expected numbers, in lists of one length at each level
status 2
$ edit k.mpk set t 'f32[2] x=1' --dry-run
record: t: expected the end, found "x"
status 2
$ edit k.mpk set t 'f32[]=1' --dry-run
k.mpk -> k.mpk: 8 tensors, not written: --dry-run
  set t f32[]=1  new: f32 []
$ edit k.mpk set t 'f32[0, 3]=1' --dry-run
k.mpk -> k.mpk: 8 tensors, not written: --dry-run
  set t f32[0, 3]=1  new: f32 [0, 3]
$ edit k.mpk set t 'f32[-1]=1' --dry-run
record: set t: whole numbers that fit the tensor's type were expected
status 2
$ edit k.mpk set t 'f32[9223372036854775807, 9]=1' --dry-run
record: set t: this shape has more elements than fit into memory
status 2
$ edit k.mpk set t 'f32[2]=1' set t.x 5 --dry-run
record: t.x: `x` cannot be put into a tensor
status 2
$ edit k.mpk set t 'f32 1' --dry-run
k.mpk -> k.mpk: 8 tensors, not written: --dry-run
  set t f32 1  new: f32 []
$ edit k.mpk set t 'f32 "x"' --dry-run
record: set t: expected numbers, in lists of one length at each level
status 2
$ edit k.mpk set t 'i64[18446744073709551615]' --dry-run
record: set t: whole numbers that fit the tensor's type were expected
status 2
$ edit k.mpk set t 'u64[-1]' --dry-run
record: set t: whole numbers that fit the tensor's type were expected
status 2
$ edit k.mpk set t 'u64[1.0]' --dry-run
record: set t: whole numbers that fit the tensor's type were expected
status 2
$ edit k.mpk set t 'u64[true]' --dry-run
k.mpk -> k.mpk: 8 tensors, not written: --dry-run
  set t u64[true]  new: u64 [1]
$ edit k.mpk set t 'f64[18446744073709551615, -3, true]' --dry-run
k.mpk -> k.mpk: 8 tensors, not written: --dry-run
  set t f64[1844674407…1615, -3, true]  new: f64 [3]
$ edit k.mpk set t 'f32[NaN, -Infinity, inf, nan]' --dry-run
record: t: expected a value, found "nan]"
status 2
$ edit k.mpk set w '[]' --dry-run
record: set w: expected one number or [2, 3], found [0]
status 2
$ edit k.mpk set w '[[], []]' --dry-run
record: set w: expected one number or [2, 3], found [2, 0]
status 2
$ edit k.mpk set w '[[1, 2, 3], [4, 5, 6]]' --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set w [[1, 2, 3], [4, 5, 6]]  6 elements of f32 [2, 3]
$ edit k.mpk set 'w[:, 1]' '[7, 8, 9]' --dry-run
record: set w: expected one number or [2], found [3]
status 2
$ edit k.mpk set 'w[0, 0, 0]' 1 --dry-run
record: w: the slice has 3 parts, the tensor has 2 dimensions
status 2
$ edit k.mpk set 'w[5:2]' 1 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set w[5:2] 1  0 elements of f32 [2, 3]
$ edit k.mpk set nothing 'f32[1]' --dry-run
k.mpk -> k.mpk: 8 tensors, not written: --dry-run
  set nothing f32[1]  new: f32 [1]
$ edit k.mpk set s 'f32[1]' --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set s f32[1]  was "text"
$ edit k.mpk set t @p.mpk:t set y @k2.mpk:u --dry-run
k.mpk -> k.mpk: 9 tensors, not written: --dry-run
  set t @p.mpk:t   new: f32 [2]
  set y @k2.mpk:u  new: u64 [2]
END

transcript "more values: another kind is asked for by removing the old one" <<'END'
$ edit k.mpk set x 1e39 --dry-run
record: set x: 1e39 does not fit float of 32 bits
  A suffix gives it another type: 5i64, 1.5f32.
status 2
$ edit k.mpk set x 5 set whole -7 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set x 5       was 2.5
  set whole -7  was 4.0
$ edit k.mpk set x inf --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set x inf  was 2.5
$ edit k.mpk set x 1.5f16 --dry-run
record: set x: it is a float, found "1.5f16"
  To make it another kind remove it first (rm).
status 2
$ edit k.mpk set n -1 --dry-run
record: set n: -1 does not fit uint of 64 bits
  A suffix gives it another type: 5i64, 1.5f32.
status 2
$ edit k.mpk set n 9u16 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set n 9u16  was 5
$ edit k.mpk set n true --dry-run
record: set n: it is a uint, found "true"
  To make it another kind remove it first (rm).
status 2
$ edit k.mpk set j true --dry-run
record: set j: it is an int, found "true"
  To make it another kind remove it first (rm).
status 2
$ edit -o o.mpk new set w 'f32[70000]=1' set 'w[69999]' 300 cast w i8 --dry-run
record: cast w: element 69999 is 300, which does not fit i8
status 2
$ edit -o o.mpk new set w 'f32[3]=-1' cast w u64 --dry-run
record: cast w: element 0 is -1, which does not fit u64
status 2
$ edit k.mpk set 'w[x]' 1 --dry-run
record: set w[x]: it is a tensor: indices and ranges like [0, 1:3, :, -1] were expected, found "[x]"
status 2
$ edit k.mpk set 'w[+1]' 1 --dry-run
record: set w[+1]: it is a tensor: indices and ranges like [0, 1:3, :, -1] were expected, found "[+1]"
status 2
$ edit k.mpk set .a 1 --dry-run
record: k.mpk: a key would be empty at the root: paths cannot name it
status 2
$ edit k.mpk set n '[1]' --dry-run
record: set n: it is a uint, found "[1]"
  To make it another kind remove it first (rm).
status 2
$ edit k.mpk set j 9223372036854775808 --dry-run
record: set j: 9223372036854775808 does not fit int of 64 bits
  A suffix gives it another type: 5i64, 1.5f32.
status 2
$ edit k.mpk set j 18446744073709551616 --dry-run
record: j: expected a number of 64 bits, found "18446744073709551616"
status 2
$ edit k.mpk set j 3 --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set j 3  was -7
$ edit k.mpk set j 1.5 --dry-run
record: set j: 1.5 does not fit int of 64 bits
  A suffix gives it another type: 5i64, 1.5f32.
status 2
$ edit k.mpk set flag null --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set flag null  was true
$ edit k.mpk set l 5 --dry-run
record: set l: it is a list, which one value cannot replace
  Remove it first (rm), or name what is in it.
status 2
$ edit k.mpk set l null --dry-run
record: set l: it is a list, which one value cannot replace
  Remove it first (rm), or name what is in it.
status 2
$ edit k.mpk set l '[1, [2, {"q": null}], "s"]' --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set l [1, [2, {"q": null}], "s"]  was [1, 2]
$ edit k.mpk set l.0 5 --dry-run
record: l.0: `0` cannot be put into a list of numbers
status 2
$ edit k.mpk set m '[1]' --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set m [1]  was a map
$ edit k.mpk set m.b null --dry-run
record: set m.b: it is a map, which one value cannot replace
  Remove it first (rm), or name what is in it.
status 2
$ edit k.mpk set s.x 1 --dry-run
record: s.x: `x` cannot be put into a string
status 2
$ edit k.mpk set '' '{"a": [1], "b": 2}' --dry-run
k.mpk -> k.mpk: 0 tensors, not written: --dry-run
  set '' {"a": [1], "b": 2}  was a map
$ edit bytes-a.mpk set raw 5 --dry-run
record: set raw: it is bytes, found "5"
  To make it another kind remove it first (rm).
status 2
$ edit bytes-a.mpk set empty '[1]' --dry-run
record: set empty: it is bytes, found "[1]"
  To make it another kind remove it first (rm).
status 2
$ edit bytes-a.mpk set empty null --dry-run
bytes-a.mpk -> bytes-a.mpk: 0 tensors, not written: --dry-run
  set empty null  was 0 bytes
$ edit numbered.mpk set m.1 7 --dry-run
numbered.mpk -> numbered.mpk: 0 tensors, not written: --dry-run
  set m.1 7  was 5
$ edit no-key.mpk set q 1 --dry-run
record: no-key.mpk: a key is empty at the root: paths cannot name it, so it is not edited
status 2
$ edit nul.mpk set q 1 --dry-run
record: nul.mpk: byte 70: a key has a NUL byte after "a"
  No name can have one. Rename it with the program that wrote the file.
status 2
$ edit --type t.rs:T va.bin set e.B 7 --dry-run
va.bin -> va.bin: 0 tensors, not written: --dry-run
  set e.B 7  was 1.5
$ edit --type t.rs:T va.bin rm e.B --dry-run
record: e.B: the payload of a variant cannot be removed
status 2
$ edit --type t.rs:T vb.bin cast e.C.v f64 --dry-run
record: e.C.v: expected an unsigned integer, found a float
status 2
END

transcript "merges: what is the same, what is not, and what holds nothing" <<'END'
$ edit p.mpk merge q.mpk --dry-run
record: merge q.mpk: 4 keys are in both, and not the same: l, m.a, t, ...
  With --overwrite the later record's count; a --prefix before the file puts its keys elsewhere.
status 2
$ edit p.mpk merge r.mpk --dry-run
record: merge r.mpk: 4 keys are in both, and not the same: l, t, k, ...
  With --overwrite the later record's count; a --prefix before the file puts its keys elsewhere.
status 2
$ edit p.mpk merge t.mpk --dry-run
record: merge t.mpk: 3 keys are in both, and not the same: t, l, m
  With --overwrite the later record's count; a --prefix before the file puts its keys elsewhere.
status 2
$ edit p.mpk merge t.mpk --overwrite --dry-run
p.mpk -> p.mpk: 0 tensors, not written: --dry-run
  merge t.mpk  0 tensors, 0 bytes added
$ edit t.mpk merge p.mpk --overwrite --dry-run
t.mpk -> t.mpk: 1 tensor, not written: --dry-run
  merge p.mpk  1 tensor, 8 bytes added
$ edit bytes-a.mpk merge bytes-b.mpk --dry-run
record: merge bytes-b.mpk: 2 keys are in both, and not the same: raw, nums
  With --overwrite the later record's count; a --prefix before the file puts its keys elsewhere.
status 2
$ edit bytes-a.mpk merge bytes-a.mpk --dry-run
bytes-a.mpk -> bytes-a.mpk: 0 tensors, not written: --dry-run
  merge bytes-a.mpk  0 tensors, 0 bytes added; 3 the same in both
$ edit numbered.mpk merge numbered.mpk --dry-run
numbered.mpk -> numbered.mpk: 0 tensors, not written: --dry-run
  merge numbered.mpk  0 tensors, 0 bytes added; 3 the same in both
$ edit --type t.rs:T va.bin merge va.bin --dry-run
va.bin -> va.bin: 0 tensors, not written: --dry-run
  merge va.bin  0 tensors, 0 bytes added; 3 the same in both
$ edit --type t.rs:T va.bin merge vb.bin --dry-run
record: merge vb.bin: 1 key is in both, and not the same: e
  With --overwrite the later record's count; a --prefix before the file puts its keys elsewhere.
status 2
$ edit --type t.rs:T va.bin merge vb.bin --overwrite -o out.json --dry-run
va.bin -> out.json: 0 tensors, not written: --dry-run
  merge vb.bin  0 tensors, 0 bytes added; 2 the same in both
$ edit k.mpk merge empty.mpk --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  merge empty.mpk  0 tensors, 0 bytes added
$ edit k.mpk merge empty.mpk --overwrite --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  merge empty.mpk  0 tensors, 0 bytes added
$ edit empty.mpk merge p.mpk --dry-run
empty.mpk -> empty.mpk: 1 tensor, not written: --dry-run
  merge p.mpk  1 tensor, 8 bytes added
$ edit list.mpk merge k.mpk --dry-run
record: merge k.mpk: a record that is not a map of names cannot be merged
status 2
$ edit k.mpk merge list.mpk --dry-run
record: merge list.mpk: a record that is not a map of names cannot be merged
status 2
$ edit k.mpk --adapter none merge k2.mpk --dry-run
record: --adapter stands before a word that is not a file: put it before the file it is for
  record edit --help shows how it is used.
status 2
$ edit k.mpk merge --adapter none k2.mpk --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  merge k2.mpk  0 tensors, 0 bytes added; 17 the same in both
END

transcript "splits" <<'END'
$ edit numbered.mpk split --by 2 -o 'out-{}.mpk' --dry-run
numbered.mpk -> 3 files, not written: --dry-run
  out-m.1.mpk: 0 tensors
  out-m.2.mpk: 0 tensors
  out-q.mpk: 0 tensors
$ edit new set 'a\.b' 1 set '\.c' 2 set 'x y' 3 set d 'f32[1]' split --by 2 -o 'out-{}.mpk' --dry-run
new -> 4 files, not written: --dry-run
  set a\.b 1    added
  set \.c 2     added
  set x y 3     added
  set d f32[1]  new: f32 [1]
  out-a_.b.mpk: 0 tensors
  out-_.c.mpk: 0 tensors
  out-x_y.mpk: 0 tensors
  out-d.mpk: 1 tensor
$ edit list.mpk split --by key -o 'out-{}.mpk' --dry-run
record: split: the record is not a map of names
status 2
$ edit empty.mpk split --by key -o 'out-{}.mpk' --dry-run
record: split: the record is empty
status 2
$ edit empty.mpk split --by dtype -o 'out-{}.mpk' --dry-run
record: split: the record is empty
status 2
$ edit --type t.rs:T vb.bin split --by key --strip -o 'out-{}.json' --dry-run
record: split: e is a list or a variant, whose name cannot be stripped
status 2
$ edit k.mpk split --by key -o '{}.nonesuch' --dry-run
record: {}.nonesuch: its name does not end in the extension of any recorder
  Name the recorder; `record plugins` lists them with their extensions.
status 2
$ edit k.mpk split --by key -o '{}' --to BinBytes --dry-run
record: BinBytes has no files: write to standard output, or name another recorder
status 2
END

transcript "more of patterns and files" <<'END'
$ edit k.mpk rm '[' --dry-run
record: no key matches [
  In patterns * is any text, dots too, # a number, {a,b} alternatives.
status 2
$ edit k.mpk rm '{w' --dry-run
record: no key matches {w
  In patterns * is any text, dots too, # a number, {a,b} alternatives.
status 2
$ edit k.mpk rm '!w' --dry-run
k.mpk -> k.mpk: 1 tensor, not written: --dry-run
  rm !w  6 tensors, 79 bytes, and 10 values removed
$ edit k.mpk rm 'm.{a,b}' --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  rm m.{a,b}  2 values removed
$ edit k.mpk rm '?' --dry-run
k.mpk -> k.mpk: 1 tensor, not written: --dry-run
  rm ?  6 tensors, 87 bytes, and 7 values removed
$ edit k.mpk meta a "$(printf 'x\ny')" --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  meta a x\ny  added
$ edit rm
record: expected FILE, then operations: set, rm, mv, cast, meta, merge, split
  record edit --help shows how it is used.
status 2
$ edit k.mpk none.mpk
record: expected an operation, found "none.mpk": set, rm, mv, cast, meta, merge, split
  record edit --help shows how it is used.
status 2
$ edit k.mpk cast w
record: cast needs 2 operands, found 1
  record edit --help shows how it is used.
status 2
$ edit - rm w --dry-run
record: no output: use --output OUT, or --in-place to replace -
  record edit --help shows how it is used.
status 2
$ edit new set a 1 --dry-run
record: no output: use --output OUT, or --in-place to replace new
  record edit --help shows how it is used.
status 2
$ edit . rm w -i
record: .: unknown format: no recorder reads a directory with these names
  Give the name of a file.
  Directories are read by: PyTorch, Safetensors.
status 2
$ edit https://localhost/x.mpk rm w -i
record: --in-place needs a file to be written: name one with --output
  record edit --help shows how it is used.
status 2
$ edit k.mpk set n 6 -i --to mpk --dry-run
k.mpk -> k.mpk: 7 tensors, not written: --dry-run
  set n 6  was 5
$ edit k.mpk set n 6 -i --to safetensors --dry-run
record: k.mpk: it lacks the extension of its recorder, so k.mpk.safetensors would be written
  Use --output OUT.
status 2
$ edit k.mpk set n 6 -o y.json --option layout=paths --dry-run
record: expected keep, or one of burn-0.7 to burn-0.23, for the option layout, found `paths`
status 2
$ edit k.mpk set n 6 -o y.json --option layout=keep --dry-run
k.mpk -> y.json: 7 tensors, not written: --dry-run
  set n 6  was 5
$ edit k.mpk set n 6 -o y.bpk --dry-run
k.mpk -> y.bpk: 7 tensors, not written: --dry-run
  set n 6  was 5
$ edit k.mpk set n 6 -o y.npz --dry-run
k.mpk -> y.npz: 7 tensors, not written: --dry-run
  set n 6  was 5
$ edit k.mpk set n 6 -o y.pt --dry-run
k.mpk -> y.pt: 7 tensors, not written: --dry-run
  set n 6  was 5
$ edit k.mpk set n 6 -o y.mpk.gz --dry-run
k.mpk -> y.mpk.gz: 7 tensors, not written: --dry-run
  set n 6  was 5
$ edit k.mpk set n 6 -o y.gguf --dry-run
record: u: expected an element type that GGUF has, found u64 at `u`
  It has f64, f32, f16, bf16, i64, i32, i16, i8 and ggml's own blocks.
status 2
$ edit k.mpk set n 1 -o nowhere/y.mpk
record: nowhere/y.mpk: cannot open its directory: No such file or directory
  Create the directory first.
status 2
END

transcript "files" <<'END'
$ edit - rm x --in-place
record: --in-place needs a file to be written: name one with --output
  record edit --help shows how it is used.
status 2
$ edit new set a 1 --in-place
record: --in-place needs a file to be written: name one with --output
  record edit --help shows how it is used.
status 2
$ edit new k.mpk set a 1 -o y.mpk
record: new stands for one empty record: to edit a file of that name write ./new
  record edit --help shows how it is used.
status 2
$ edit k.mpk k2.mpk split --by key -o 'out-{}.mpk'
record: split takes one file, found 2
  record edit --help shows how it is used.
status 2
$ edit k.mpk k2.mpk rm x -o y.mpk
record: several files go to a directory: --output DIRECTORY/, or --in-place
  record edit --help shows how it is used.
status 2
$ edit k.mpk
record: expected FILE, then operations: set, rm, mv, cast, meta, merge, split
  record edit --help shows how it is used.
status 2
$ edit none.mpk rm x
record: no output: use --output OUT, or --in-place to replace none.mpk
  record edit --help shows how it is used.
status 2
END

check "nothing of all this was written" cmp k.mpk before.mpk
check "nor anywhere else" sh -c '! ls y* out* 2>/dev/null'
finish
