#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record show and its kin: elements of each type, numbers of a list, slices, and an element type that is not known.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
cd "$scratch" || exit 99

# F4 without a scale is of an element type that librecord copies and does not decode.
header='{"a":{"dtype":"F4","shape":[2,4],"data_offsets":[0,4]},"b":{"dtype":"U64","shape":[2],"data_offsets":[4,20]},"c":{"dtype":"BF16","shape":[2],"data_offsets":[20,24]}}'
{
    # shellcheck disable=SC2059 # octal
    printf "\\$(printf %03o "${#header}")\\0\\0\\0\\0\\0\\0\\0"
    printf '%s' "$header"
    printf '\070\100\104\110\1\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377\200\77\200\300'
} >f8.safetensors
run edit -o k.mpk new set l '[1,2,3,4,5,6,7,8,9,10,11,12]' set f '[1.5, 2.5]' set t '[true, false]' \
    set u 'u64[1, 18446744073709551615]' set u32 'u32[1, 4294967295]' set i 'i16[[-1, 2], [3, 4]]' set b 'bool[1, 0]' \
    set h 'f16[1.5, -2]' set s '"text"' set e '[]' set z 'f32[0]=1'

transcript "an element type that is not known" <<'END'
$ ls --adapter none f8.safetensors
KEY  DTYPE  SHAPE   PARAMETERS
a    F4     [2, 4]           8
b    u64    [2]              2
c    bf16   [2]              2
3 tensors, 12 parameters, 24 bytes
$ show --adapter none f8.safetensors a
38 40 44 48           F4 [2, 4], 4 bytes as stored
$ show --adapter none f8.safetensors a --json
{
  "key": "a",
  "dtype": "F4",
  "shape": [2, 4],
  "bytes": "OEBESA=="
}
$ show --adapter none f8.safetensors 'a[0]'
record: a: a F4 tensor has no elements that could be shown one by one
status 2
$ show --adapter none f8.safetensors b
[                   1, 18446744073709551615]          u64 [2]
$ show --adapter none f8.safetensors b --json
{
  "key": "b",
  "dtype": "u64",
  "shape": [2],
  "values": [1, 18446744073709551615]
}
$ show --adapter none f8.safetensors c
[ 1.0, -4.0]          bf16 [2]
$ stats --adapter none f8.safetensors
KEY  MIN       MAX      MEAN       STD      NORM  HISTOGRAM
a                                                 no numbers
b      1  1.84e+19  9.22e+18  9.22e+18  1.84e+19  █▁▁▁▁▁▁█
c     -4         1      -1.5       2.5      4.12  █▁▁▁▁▁▁█

KEY  OVER HALF
b            1
3 tensors, 1 without numbers; 4 numbers from -4 to 1.84e+19:
mean 4.61e+18, standard deviation 7.99e+18, norm 1.84e+19  (--all: every one)
$ diff --adapter none f8.safetensors f8.safetensors
equal: 3 tensors, 12 parameters
$ verify f8.safetensors
f8.safetensors: ok: 3 tensors, 24 bytes
$ edit f8.safetensors cast a f32 --dry-run
record: cast a: F4 cannot be cast
status 2
$ edit f8.safetensors cast '**' f32 --dry-run
f8.safetensors -> f8.safetensors: 3 tensors, not written: --dry-run
  cast ** f32  1 tensor bf16 -> f32, 2 of other kinds left as they are
$ edit f8.safetensors set a '[1]' --dry-run
record: set a: elements of F4 cannot be set
status 2
END

transcript "elements and numbers" <<'END'
$ show k.mpk
l: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
f: [1.5, 2.5]
t: [true, false]
u: u64 [2]
u32: u32 [2]
i: i16 [2, 2]
b: bool [2]
h: f16 [2]
s: "text"
e: []
z: f32 [0]
$ show k.mpk 'l[2:4]'
[3, 4]
$ show k.mpk 'l[2:4]' --json
{
  "key": "l",
  "kind": "numbers",
  "value": [3, 4]
}
$ show k.mpk 'l[-1]' --json
{
  "key": "l",
  "kind": "uint",
  "value": 12
}
$ show k.mpk 'l[99]'
record: l: index 99 is out of range: dimension 0 has 12 elements
status 2
$ show k.mpk 'f[0]'
1.5
$ show k.mpk 't[::-1]'
record: slice [::-1]: expected indices and ranges like [0, 1:3, :, -1], found "::-1]"
status 2
$ show k.mpk u
[                   1, 18446744073709551615]          u64 [2]
$ show k.mpk 'u[1]' --json
{
  "key": "u",
  "dtype": "u64",
  "shape": [],
  "values": 18446744073709551615
}
$ show k.mpk u32
[         1, 4294967295]          u32 [2]
$ show k.mpk i
[[-1,  2],
 [ 3,  4]]          i16 [2, 2]
$ show k.mpk 'i[:, 1]' --json
{
  "key": "i",
  "dtype": "i16",
  "shape": [2],
  "values": [2, 4]
}
$ show k.mpk 'i[0'
record: i[0: the record has no such key
  Did you mean i?
status 2
$ show k.mpk 'i[0, 0, 0]'
record: i: the slice has 3 parts, the tensor has 2 dimensions
status 2
$ show k.mpk 'i[x]'
record: no key matches "i[x]"
status 2
$ show k.mpk b
[ true, false]          bool [2]
$ show k.mpk h --json
{
  "key": "h",
  "dtype": "f16",
  "shape": [2],
  "values": [1.5, -2.0]
}
$ show k.mpk s
text
$ show k.mpk 's[0]'
record: s: only tensors and lists of numbers have slices; this is a string
status 2
$ show k.mpk e
[]
$ show k.mpk z
[]          f32 [0]
$ show k.mpk z --json
{
  "key": "z",
  "dtype": "f32",
  "shape": [0],
  "values": []
}
$ show k.mpk nope
record: nope: the record has no such key
  Did you mean e?
status 2
$ show k.mpk l u
l
[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

u
[                   1, 18446744073709551615]          u64 [2]
$ stats k.mpk
KEY  MIN       MAX      MEAN       STD      NORM  HISTOGRAM
u      1  1.84e+19  9.22e+18  9.22e+18  1.84e+19  █▁▁▁▁▁▁█
u32    1  4.29e+09  2.15e+09  2.15e+09  4.29e+09  █▁▁▁▁▁▁█
i     -1         4         2      1.87      5.48  █▁▁▁█▁██
b      0         1       0.5       0.5         1  █▁▁▁▁▁▁█
h     -2       1.5     -0.25      1.75       2.5  █▁▁▁▁▁▁█
z                                                 empty

KEY  ZEROS  OVER HALF
u                   1
u32                 1
b        1
6 tensors; 12 numbers from -2 to 1.84e+19:
mean 1.54e+18, standard deviation 5.1e+18, norm 1.84e+19  (--all: every one)
END

# A precision rejects what cannot be decoded.
for precision in full half double; do
    for output in carried.safetensors carried.pt carried.mpk; do
        run convert --adapter none --drop '^b$' --precision $precision f8.safetensors "$output"
        check "$precision, $output: a type that no scheme decodes is rejected" \
            grep -q 'a: stored as F4, which no scheme decodes' "$scratch/err"
    done
done
run convert --adapter none f8.safetensors carried.safetensors
# shellcheck disable=SC2016 # for another shell
check "without a precision nothing is asked for" sh -c '! grep -q carried: "$1"' - "$scratch/err"

finish
