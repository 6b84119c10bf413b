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
check "the files to try it on" [ -s k.mpk ]
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
  There are: f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, bool.
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
  record --help lists all options.
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
record: set t: k2.mpk holds 7 tensors: @FILE:KEY says which
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
record: split is the last operation, found rm behind it
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
record: standard output has no extension: say with --to which recorder is to write
  record edit --help shows how it is used.
status 2
$ edit k.mpk rm x -o y.nonesuch --dry-run
record: y.nonesuch: its name does not end in the extension of any recorder
  Name the recorder; `record plugins` lists those there are with their extensions.
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
  Drop one of them, or give one a key of its own.
status 2
$ edit k.mpk meta nope '' --dry-run
record: meta nope: there is no such metadata to remove
status 2
$ edit k.mpk meta version 1 --dry-run
record: meta version: it tells how the record is written, which --burn chooses
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
record: several files go to a folder: --output FOLDER/, or --in-place
  record edit --help shows how it is used.
status 2
$ edit k.mpk
record: expected FILE, then operations: set, rm, mv, cast, meta, merge, split
  record edit --help shows how it is used.
status 2
$ edit none.mpk rm x
record: where to? --output OUT, or --in-place to write none.mpk itself
  record edit --help shows how it is used.
status 2
END

check "nothing of all this was written" cmp k.mpk before.mpk
check "nor anywhere else" sh -c '! ls y* out* 2>/dev/null'
finish
