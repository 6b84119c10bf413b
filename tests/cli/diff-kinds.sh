#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record diff: each element type beside itself and beside others, what is far out, and what is refused. What is told how is in diff.sh.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
cd "$scratch" || exit 99

run edit -q -o a.mpk new set f64 'f64[1, 2, 3]' set f32 'f32[1, 2, 3]' set bf 'bf16[1, 2, 3]' set h 'f16[1, 2, 3]' \
    set u 'u64[1, 18446744073709551615]' set i 'i64[-5, 7]' set b 'bool[1, 0, 1, 0]' set z 'f32[0, 0]' set e 'f32[0]=1' \
    set s 'f32 5' set m 'f32[[1, 2], [3, 4]]' set n null set j '[]' set x 1.5f32 set y 2.5
run edit -q -o b.mpk new set f64 'f64[1, 2.0000000000000004, 3]' set f32 'f32[1, 2.0000005, 3]' set bf 'bf16[1, 2.01, 3]' \
    set h 'f16[1, 2.001, -3]' set u 'u64[1, 18446744073709551614]' set i 'i64[-5, 9]' set b 'bool[1, 1, 0, 0]' set z 'f32[0, 1]' \
    set e 'f32[0]=1' set s 'f32 6' set m 'f32[[1, 3], [2, 4]]' set n null set j '[]' set x 1.6f32 set y 2.5
run edit -q -o c.mpk new set f64 'f32[1, 2, 3]' set f32 'f64[1, 2, 3.1]' set bf 'f16[1, 2, 3]' set h 'bf16[1, 2, 3]' \
    set u 'i64[1, -1]' set i 'f32[-5, 7]' set b 'u8[1, 0, 1, 0]' set z 'bool[0, 0]' set e 'f16[0]=1' set s 'f32 [5]' \
    set m 'f32[[1, 2, 3], [3, 4, 5]]' set n 1 set j '[1]' set x 1.5f64 set y 2.5f32
run edit -q -o few-a.mpk new set w 'f32[1000]=1' set v 'f32[1000]=1' set o 'f32[1, 2, 3]' set p 'f32[inf, 1]' \
    set q 'f64[1e300, 1e-300]' set c 'f32[4]=1' set d 'f32[4]=1' set deep.a 'f32[1, 2, 3]'
run edit -q -o few-b.mpk new set w 'f32[1000]=1' set 'w[7]' 2 set v 'f32[1000]=2' set 'v[7]' 1 set o 'f32[NaN, 2, 3]' \
    set p 'f32[-inf, 1]' set q 'f64[1e300, 2e-300]' set x 'f32[4]=1' set y 'f32[4]=1' set away.a 'f32[1, 2, 3]'
run edit -q -o wide-a.mpk new set q 'f64[1e300, 1e300]' set r 'f64[1e-300, 1e-300]' set t 'f64[1e308, -1e308]'
run edit -q -o wide-b.mpk new set q 'f64[1e300, 2e300]' set r 'f64[1e-300, 2e-300]' set t 'f64[-1e308, 1e308]'
run edit -q -o turned-a.mpk new set w 'f32[[1, 2, 3], [4, 5, 6]]' set x 'f32[[1, 2, 3]]' set y 'i8[[1, 2], [3, 4], [5, 6]]' \
    set z 'f32[[1, 2, 3], [4, 5, 6]]'
run edit -q -o turned-b.mpk new set w 'f32[[1, 4], [2, 5], [3, 6]]' set x 'f32[[1], [2], [3]]' set y 'i8[[1, 3, 5], [2, 4, 7]]' \
    set z 'f64[[1, 4], [2, 5], [3, 6]]'
run edit -q -o dots-a.mpk new set 'a\.b' 'f32[1, 2]' set 'x.y\.z' 'f32[3, 2]' set x.q 'f32[4, 2]'
run edit -q -o dots-b.mpk new set 'a\.b' 'f32[2, 2]' set 'x.k\.z' 'f32[3, 2]' set x.q 'f32[4, 2]'

check "the files to try it on" [ -s dots-b.mpk ]

transcript "each element type" <<'END'
$ diff a.mpk a.mpk
equal: 11 tensors, 27 parameters, 3 values
$ diff a.mpk b.mpk
A  a.mpk
   NamedMpk, Burn 0.21.0: 11 tensors, 27 parameters; 3 values
B  b.mpk
   NamedMpk, Burn 0.21.0: 11 tensors, 27 parameters; 3 values

       KEY  A    B
value  x    1.5  1.6

KEY    CHANGE     COSINE   LARGEST  DIFFER
h         1.6  -0.285356         6    67 %
b           1   0.500000         1    50 %
z           1          -         1    50 %
m       0.258   0.966667         1    50 %
i       0.194   0.993605         2    50 %
s       0.167   1.000000         1   100 %
bf    0.00417   0.999994    0.0156    33 %
f32  1.27e-07   0.999999  4.77e-07    33 %
f64  1.19e-16   0.999999  4.44e-16    33 %
u    5.42e-20   1.000000         1    50 %

largest     h[2]: 3.0 | -3.0 (apart by 6)
1 tensor equal, 10 tensors differ, 2 values equal, 1 value differs
status 1
$ diff a.mpk b.mpk --ulp 1
A  a.mpk
   NamedMpk, Burn 0.21.0: 11 tensors, 27 parameters; 3 values
B  b.mpk
   NamedMpk, Burn 0.21.0: 11 tensors, 27 parameters; 3 values

       KEY  A    B
value  x    1.5  1.6

KEY    CHANGE     COSINE   LARGEST  DIFFER
h         1.6  -0.285356         6    67 %
b           1   0.500000         1    50 %
z           1          -         1    50 %
m       0.258   0.966667         1    50 %
i       0.194   0.993605         2    50 %
s       0.167   1.000000         1   100 %
bf    0.00417   0.999994    0.0156    33 %  within
f32  1.27e-07   0.999999  4.77e-07    33 %
f64  1.19e-16   0.999999  4.44e-16    33 %  within
u    5.42e-20   1.000000         1    50 %

largest     h[2]: 3.0 | -3.0 (apart by 6)
1 tensor equal, 8 tensors differ, 2 within the tolerance, 2 values equal, 1 value differs
status 1
$ diff a.mpk b.mpk --atol 1 --rtol 0.5
A  a.mpk
   NamedMpk, Burn 0.21.0: 11 tensors, 27 parameters; 3 values
B  b.mpk
   NamedMpk, Burn 0.21.0: 11 tensors, 27 parameters; 3 values

KEY    CHANGE     COSINE   LARGEST  DIFFER
h         1.6  -0.285356         6    67 %
b           1   0.500000         1    50 %  within
z           1          -         1    50 %  within
m       0.258   0.966667         1    50 %  within
i       0.194   0.993605         2    50 %  within
s       0.167   1.000000         1   100 %  within
bf    0.00417   0.999994    0.0156    33 %  within
f32  1.27e-07   0.999999  4.77e-07    33 %  within
f64  1.19e-16   0.999999  4.44e-16    33 %  within
u    5.42e-20   1.000000         1    50 %  within

largest     h[2]: 3.0 | -3.0 (apart by 6)
1 tensor equal, 1 tensor differs, 9 within the tolerance, 3 values equal
status 1
$ diff a.mpk b.mpk --atol 0.5
A  a.mpk
   NamedMpk, Burn 0.21.0: 11 tensors, 27 parameters; 3 values
B  b.mpk
   NamedMpk, Burn 0.21.0: 11 tensors, 27 parameters; 3 values

KEY    CHANGE     COSINE   LARGEST  DIFFER
h         1.6  -0.285356         6    67 %
b           1   0.500000         1    50 %
z           1          -         1    50 %
m       0.258   0.966667         1    50 %
i       0.194   0.993605         2    50 %
s       0.167   1.000000         1   100 %
bf    0.00417   0.999994    0.0156    33 %  within
f32  1.27e-07   0.999999  4.77e-07    33 %  within
f64  1.19e-16   0.999999  4.44e-16    33 %  within
u    5.42e-20   1.000000         1    50 %

largest     h[2]: 3.0 | -3.0 (apart by 6)
1 tensor equal, 7 tensors differ, 3 within the tolerance, 3 values equal
status 1
$ diff a.mpk b.mpk --bits
A  a.mpk
   NamedMpk, Burn 0.21.0: 11 tensors, 27 parameters; 3 values
B  b.mpk
   NamedMpk, Burn 0.21.0: 11 tensors, 27 parameters; 3 values

       KEY  A    B
value  x    1.5  1.6

KEY    CHANGE     COSINE   LARGEST  DIFFER
h         1.6  -0.285356         6    67 %
b           1   0.500000         1    50 %
z           1          -         1    50 %
m       0.258   0.966667         1    50 %
i       0.194   0.993605         2    50 %
s       0.167   1.000000         1   100 %
bf    0.00417   0.999994    0.0156    33 %
f32  1.27e-07   0.999999  4.77e-07    33 %
f64  1.19e-16   0.999999  4.44e-16    33 %
u    5.42e-20   1.000000         1    50 %

largest     h[2]: 3.0 | -3.0 (apart by 6)
1 tensor equal, 10 tensors differ, 2 values equal, 1 value differs
status 1
END

transcript "another element type on each side" <<'END'
$ diff a.mpk c.mpk
A  a.mpk
   NamedMpk, Burn 0.21.0: 11 tensors, 27 parameters; 3 values
B  c.mpk
   NamedMpk, Burn 0.21.0: 11 tensors, 29 parameters; 4 values

       KEY  A           B
shape  s    f32 []      f32 [1]
shape  m    f32 [2, 2]  f32 [2, 3]
dtype  f64  f64 [3]     f32 [3]
dtype  f32  f32 [3]     f64 [3]
dtype  bf   bf16 [3]    f16 [3]
dtype  h    f16 [3]     bf16 [3]
dtype  u    u64 [2]     i64 [2]
dtype  i    i64 [2]     f32 [2]
dtype  b    bool [4]    u8 [4]
dtype  z    f32 [2]     bool [2]
dtype  e    f32 [0]     f16 [0]

       KEY  A   B
value  j    []  [1]
added  n    -   1

KEY  CHANGE     COSINE   LARGEST  DIFFER
u         1  -0.707107  1.84e+19    50 %
f32  0.0262   0.999878       0.1    33 %

largest     u[1]: 18446744073709551615 | -1 (apart by 1.84e+19)
frozen      b (1 tensor, 4 parameters)
            bf (1 tensor, 3 parameters)
            f64 (1 tensor, 3 parameters)
            h (1 tensor, 3 parameters)
            i (1 tensor, 2 parameters)
            z (1 tensor, 2 parameters)
7 tensors equal, 4 tensors differ, 2 values equal, 2 values differ
status 1
$ diff c.mpk a.mpk --ulp 1
A  c.mpk
   NamedMpk, Burn 0.21.0: 11 tensors, 29 parameters; 4 values
B  a.mpk
   NamedMpk, Burn 0.21.0: 11 tensors, 27 parameters; 3 values

       KEY  A           B
shape  s    f32 [1]     f32 []
shape  m    f32 [2, 3]  f32 [2, 2]
dtype  f64  f32 [3]     f64 [3]
dtype  f32  f64 [3]     f32 [3]
dtype  bf   f16 [3]     bf16 [3]
dtype  h    bf16 [3]    f16 [3]
dtype  u    i64 [2]     u64 [2]
dtype  i    f32 [2]     i64 [2]
dtype  b    u8 [4]      bool [4]
dtype  z    bool [2]    f32 [2]
dtype  e    f16 [0]     f32 [0]

         KEY  A    B
removed  n    1    -
value    j    [1]  []

KEY  CHANGE     COSINE   LARGEST  DIFFER
u         1  -0.707107  1.84e+19    50 %
f32  0.0262   0.999878       0.1    33 %

largest     u[1]: -1 | 18446744073709551615 (apart by 1.84e+19)
frozen      b (1 tensor, 4 parameters)
            bf (1 tensor, 3 parameters)
            f64 (1 tensor, 3 parameters)
            h (1 tensor, 3 parameters)
            i (1 tensor, 2 parameters)
            z (1 tensor, 2 parameters)
7 tensors equal, 4 tensors differ, 2 values equal, 2 values differ
status 1
$ diff a.mpk c.mpk --all --bits
A  a.mpk
   NamedMpk, Burn 0.21.0: 11 tensors, 27 parameters; 3 values
B  c.mpk
   NamedMpk, Burn 0.21.0: 11 tensors, 29 parameters; 4 values

       KEY  A           B
shape  s    f32 []      f32 [1]
shape  m    f32 [2, 2]  f32 [2, 3]
dtype  f64  f64 [3]     f32 [3]
dtype  f32  f32 [3]     f64 [3]
dtype  bf   bf16 [3]    f16 [3]
dtype  h    f16 [3]     bf16 [3]
dtype  u    u64 [2]     i64 [2]
dtype  i    i64 [2]     f32 [2]
dtype  b    bool [4]    u8 [4]
dtype  z    f32 [2]     bool [2]
dtype  e    f32 [0]     f16 [0]

       KEY  A   B
value  j    []  [1]
added  n    -   1

KEY  CHANGE     COSINE   LARGEST  DIFFER  AT
u         1  -0.707107  1.84e+19    50 %  [1]
f32  0.0262   0.999878       0.1    33 %  [2]

largest     u[1]: 18446744073709551615 | -1 (apart by 1.84e+19)
frozen      b (1 tensor, 4 parameters)
            bf (1 tensor, 3 parameters)
            f64 (1 tensor, 3 parameters)
            h (1 tensor, 3 parameters)
            i (1 tensor, 2 parameters)
            z (1 tensor, 2 parameters)
7 tensors equal, 4 tensors differ, 2 values equal, 2 values differ
status 1
$ diff -q a.mpk c.mpk --ignore dtype,values,added,removed
status 1
END

transcript "parts of a whole, names that are gone, numbers far out" <<'END'
$ diff few-a.mpk few-b.mpk
A  few-a.mpk
   NamedMpk, Burn 0.21.0: 8 tensors, 2,018 parameters
B  few-b.mpk
   NamedMpk, Burn 0.21.0: 8 tensors, 2,018 parameters

         KEY     A        B
removed  c       f32 [4]
removed  d       f32 [4]
added    x                f32 [4]
added    y                f32 [4]
renamed  deep.a  f32 [3]  as away.a

KEY  CHANGE    COSINE  LARGEST  DIFFER
o       NaN  1.000000        0    33 %
p       inf  1.000000        0    50 %
v       0.5  0.999875        1   >99 %
w    0.0316  0.999502        1    <1 %
q         0  1.000000   1e-300    50 %

not finite  o[0]: 1.0 | NaN (2 places)
largest     v[0]: 1.0 | 2.0 (apart by 1)
1 tensor equal, 5 tensors differ, 2 removed, 2 added, 1 renamed
status 1
$ diff few-a.mpk few-b.mpk --ignore added,removed,data
A  few-a.mpk
   NamedMpk, Burn 0.21.0: 8 tensors, 2,018 parameters
B  few-b.mpk
   NamedMpk, Burn 0.21.0: 8 tensors, 2,018 parameters

         KEY     A        B
removed  c       f32 [4]
removed  d       f32 [4]
removed  deep.a  f32 [3]
added    x                f32 [4]
added    y                f32 [4]
added    away.a           f32 [3]

equal: 5 not read, 3 removed, 3 added
$ diff --by position few-a.mpk few-b.mpk
A  few-a.mpk
   NamedMpk, Burn 0.21.0: 8 tensors, 2,018 parameters
B  few-b.mpk
   NamedMpk, Burn 0.21.0: 8 tensors, 2,018 parameters

KEY  CHANGE    COSINE  LARGEST  DIFFER
o       NaN  1.000000        0    33 %
p       inf  1.000000        0    50 %
v       0.5  0.999875        1   >99 %
w    0.0316  0.999502        1    <1 %
q         0  1.000000   1e-300    50 %

not finite  o[0]: 1.0 | NaN (2 places)
largest     v[0]: 1.0 | 2.0 (apart by 1)
frozen      c (1 tensor, 4 parameters)
            d (1 tensor, 4 parameters)
            deep (1 tensor, 3 parameters)
3 tensors equal, 5 tensors differ
status 1
$ diff --by id few-a.mpk few-b.mpk
A  few-a.mpk
   NamedMpk, Burn 0.21.0: 8 tensors, 2,018 parameters
B  few-b.mpk
   NamedMpk, Burn 0.21.0: 8 tensors, 2,018 parameters

         KEY     A           B
removed  w       f32 [1000]
removed  v       f32 [1000]
removed  o       f32 [3]
removed  p       f32 [2]
removed  q       f64 [2]
removed  c       f32 [4]
removed  d       f32 [4]
added    w                   f32 [1000]
added    v                   f32 [1000]
added    o                   f32 [3]
added    p                   f32 [2]
added    q                   f64 [2]
added    x                   f32 [4]
added    y                   f32 [4]
renamed  deep.a  f32 [3]     as away.a

1 tensor equal, 7 removed, 7 added, 1 renamed
status 1
$ diff wide-a.mpk wide-b.mpk
A  wide-a.mpk
   NamedMpk, Burn 0.21.0: 3 tensors, 6 parameters
B  wide-b.mpk
   NamedMpk, Burn 0.21.0: 3 tensors, 6 parameters

KEY  CHANGE     COSINE  LARGEST  DIFFER
t       inf  -1.000000      inf   100 %
r     0.447   0.948683   1e-300    50 %
q     0.447   0.948683   1e+300    50 %

largest     t[0]: 1e308 | -1e308 (apart by inf)
3 tensors differ
status 1
$ diff turned-a.mpk turned-b.mpk
A  turned-a.mpk
   NamedMpk, Burn 0.21.0: 4 tensors, 21 parameters
B  turned-b.mpk
   NamedMpk, Burn 0.21.0: 4 tensors, 21 parameters

       KEY  A           B
shape  w    f32 [2, 3]  f32 [3, 2], transposed
shape  x    f32 [1, 3]  f32 [3, 1], transposed
shape  y    i8 [3, 2]   i8 [2, 3]
shape  z    f32 [2, 3]  f64 [3, 2]

4 tensors differ
status 1
$ diff dots-a.mpk dots-b.mpk
A  dots-a.mpk
   NamedMpk, Burn 0.21.0: 3 tensors, 6 parameters
B  dots-b.mpk
   NamedMpk, Burn 0.21.0: 3 tensors, 6 parameters

         KEY     A        B
renamed  x.y\.z  f32 [2]  as x.k\.z

KEY   CHANGE    COSINE  LARGEST  DIFFER
a\.b   0.354  0.948683        1    50 %

largest     a\.b[0]: 1.0 | 2.0 (apart by 1)
frozen      x.q (1 tensor, 2 parameters)
2 tensors equal, 1 tensor differs, 1 renamed
status 1
END

transcript "what is refused" <<'END'
$ diff none.mpk few-a.mpk
record: none.mpk: cannot open the file: No such file or directory
status 2
$ diff few-a.mpk none.mpk
record: none.mpk: cannot open the file: No such file or directory
status 2
$ diff few-a.mpk
record: expected record diff A B [KEY]..., found 1 operand
  record diff --help shows how it is used.
status 2
$ diff few-a.mpk few-b.mpk few-a.mpk
record: no key matches "few-a.mpk"
status 2
$ diff few-a.mpk --from safetensors few-b.mpk
record: few-b.mpk: byte 0: expected the length of the header, at most 100,000,000 bytes, found 7017841271895861379
  This is not a safetensors file, or it is damaged.
  It looks like a NamedMpk record: open it with that recorder, or with Auto.
status 2
$ diff --by nonsense few-a.mpk few-b.mpk
record: --by: expected name, position or id, found "nonsense"
status 2
$ diff --atol -1 few-a.mpk few-b.mpk
record: --atol: expected a number, 0 or more, found "-1"
status 2
$ diff --rtol 1e999 few-a.mpk few-b.mpk
record: --rtol: expected a number, 0 or more, found "1e999"
status 2
$ diff --ulp 1x few-a.mpk few-b.mpk
record: --ulp: expected a number, 0 or more, found "1x"
status 2
$ diff --ignore dtype,,data few-a.mpk few-b.mpk
record: --ignore: expected dtype, metadata, data, values, added, removed or renamed, found ""
status 2
$ diff --bits --rtol 1 few-a.mpk few-b.mpk
record: --bits and a tolerance exclude each other
status 2
$ diff --bits --ulp 1 few-a.mpk few-b.mpk
record: --bits and a tolerance exclude each other
status 2
END


# ------------------------------------------------------------------------------------------------------ more than fits
# many FILE EXPRESSION: 40 values and 40 tensors
many() {
    many_file=$1
    set --
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40; do
        case $many_file in
            many-a*) set -- "$@" set "v$i" "$i" set "t$i" "f32[$((i + 1))]=$i" set "x$i" "f32[2]=$i" ;;
            many-b*) set -- "$@" set "w$i" "$i" set "t$i" "f32[$((i + 1))]=$((i + 2))" set "y$i" "f32[3]=$i" ;;
        esac
    done
    run edit -q -o "$many_file" new "$@"
}
many many-a.mpk
many many-b.mpk
run diff many-a.mpk many-b.mpk
check "of many names, values and tensors the first are shown, and how many more there are" \
    [ "$(grep -c '^… and [0-9]* more$' "$scratch/out")" = 1 ]
run diff --all many-a.mpk many-b.mpk
check "--all shows them all" sh -c "! grep -q ' more\$' '$scratch/out' && grep -q '^added    w40' '$scratch/out'"

# ---------------------------------------------------------------------------------------------------------- processors
# What a processor lacks makes no difference; where the C library cannot be told, all are the same.
{
    printf 'set\nlong\nf32 [1.5'
    for i in 2 3 4 5 6 7 8 9 10 11 12 13 14; do printf ', %s.5, 1e-%s, -%s, 0, 3%s' $i $i $i $i; done
    printf ']\n'
} >numbers
"$record" edit -q -o long-a.mpk new set long "$(sed -n 3p numbers)" set wide "$(sed -n '3s/f32/f64/p' numbers)"
"$record" edit -q -o long-b.mpk long-a.mpk set 'long[5]' 7 set 'long[64]' 8 set 'wide[63]' 0.1 set 'wide[0]' -1
for lacks in "" -AVX512F -AVX512F,-AVX2; do
    GLIBC_TUNABLES=glibc.cpu.hwcaps=$lacks "$record" diff --json long-a.mpk long-b.mpk >"long$lacks" 2>&1
done
check "long rows differ" grep -q '"differing": 2, "beyond": 2' long
check "and do so without AVX-512" cmp long long-AVX512F
check "and without AVX2" cmp long long-AVX512F,-AVX2

# ---------------------------------------------------------------------------------------------------------------- JSON
need_jq
run diff --json a.mpk b.mpk
answers "what stands there is told as what it is" '.tensors | map(select(.key == "i" or .key == "b") | [.max_abs.a, .max_abs.b])' '[[false,true],[7,9]]'
check "to its last digit" grep -q '"a": 18446744073709551615, "b": 18446744073709551614' "$scratch/out"
run diff --json a.mpk c.mpk --ids
answers "ids are told if asked for" '[.equal, (.ids | length), (.tensors | map(select(.shape_b) | .key))]' '[false,11,["s","m"]]'
answers "and which tensors are equal as other types" '[.tensors[] | select(.verdict == "equal") | .key]' '["f64","bf","h","i","b","z","e"]'
run diff --json few-a.mpk few-b.mpk
answers "what is not finite is named" '.tensors[0:2] | map([.first_not_finite.a, .first_not_finite.b])' '[[1,"NaN"],["Infinity","-Infinity"]]'

finish
