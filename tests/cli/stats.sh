#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record stats
# shellcheck disable=SC2317 # functions that check() calls
# shellcheck disable=SC1007 # a variable that is empty for one command
set -u
# shellcheck source=tests/cli/cost.sh
. "${srcdir:=.}/tests/cli/cost.sh"
# shellcheck source=tests/cli/make-record.sh
. "$srcdir/tests/cli/make-record.sh"
export LC_ALL=C.UTF-8

prints "layers that are alike are one line" stats 0.18.0/mnist.mpk <<'END'
KEY                                 MIN     MAX       MEAN     STD   NORM  HISTOGRAM
stem.weight                      -0.331   0.326   -0.00427   0.191   2.29  ▇▆▅▆▇█▆▆
stem.bias                        -0.306   0.325    -0.0187   0.189  0.761  ▅▅█▆▁▁▆▅
blocks.#.conv.weight        ×3  -0.0833  0.0833  -0.000463  0.0483   4.01  ███▇████
blocks.#.conv.bias          ×3  -0.0827  0.0804    0.00126  0.0513  0.356  ▅▄▅▅▆▂▃█
blocks.#.norm.gamma         ×3        1       1          1       0   6.93  ▁▁▁▁█▁▁▁
blocks.#.norm.beta          ×3        0       0          0       0      0  ▁▁▁▁█▁▁▁
blocks.#.norm.running_mean  ×3        0       0          0       0      0  ▁▁▁▁█▁▁▁
blocks.#.norm.running_var   ×3        1       1          1       0   6.93  ▁▁▁▁█▁▁▁
fc1.weight                      -0.0625  0.0625   0.000601  0.0358   3.24  ▇▇▇▇█▇█▇
fc1.bias                        -0.0614  0.0538   -0.00761  0.0383  0.221  █▇▇▃▆▁▆█
fc2.weight                       -0.177   0.176    0.00169  0.0996   1.78  ▆▅▅▅█▅▆▅
fc2.bias                          -0.15  0.0991    -0.0237  0.0942  0.307  ▆▆▃▁▁▃▃█

KEY                             ZEROS
blocks.#.norm.beta          ×3     48
blocks.#.norm.running_mean  ×3     48
24 tensors; 15,866 numbers from -0.331 to 1:
mean 0.00611, standard deviation 0.091, norm 11.5  (--all: every one)
END
prints "what is odd is counted" stats 0.21.0/plain-full.mpk <<'END'
KEY             MIN     MAX     MEAN       STD      NORM  HISTOGRAM
floats         -2.5   3e+38  2.5e+37  8.29e+37     3e+38  █▁▂▁▁▁▁▄
ints         -32768   32767     42.3  1.89e+04  4.63e+04  ▃▁▁█▃▁▁▃
bools             0       1    0.667     0.471      1.41  ▅▁▁▁▁▁▁█
scalar_like  -0.618  -0.618   -0.618         0     0.618  ▁▁▁▁█▁▁▁
void                                                      empty

KEY     ZEROS  SUBNORMAL  OVER HALF  UNDER HALF
floats      2          1          2           2
ints        1
bools       1
5 tensors; 22 numbers from -32768 to 3e+38:
mean 1.36e+37, standard deviation 6.25e+37, norm 3e+38  (--all: every one)
END
check "no line is wider than 80 columns" [ "$(wc -L <"$scratch/out")" -le 80 ]

# Keys.
prints "keys are patterns, and may leave out" stats -a 0.18.0/mnist.mpk 'blocks.{0-1}.norm' '!*.running_*' <<'END'
KEY                  MIN  MAX  MEAN  STD  NORM  HISTOGRAM
blocks.0.norm.gamma    1    1     1    0     4  ▁▁▁▁█▁▁▁
blocks.0.norm.beta     0    0     0    0     0  ▁▁▁▁█▁▁▁
blocks.1.norm.gamma    1    1     1    0     4  ▁▁▁▁█▁▁▁
blocks.1.norm.beta     0    0     0    0     0  ▁▁▁▁█▁▁▁

KEY                 ZEROS
blocks.0.norm.beta     16
blocks.1.norm.beta     16
4 tensors; 64 numbers from 0 to 1:
mean 0.5, standard deviation 0.5, norm 5.66
END
keys() { # PATTERN...: the keys that they match
    "$record" stats --json 0.18.0/mnist.mpk "$@" | sed -n 's/.*"key": "\([^"]*\)".*/\1/p' | tr '\n' ' '
}
for case in 'fc1:fc1.weight fc1.bias ' 'fc?.bias:fc1.bias fc2.bias ' '*s?em.bias:stem.bias ' \
    'blocks.#.conv.bias:blocks.0.conv.bias blocks.1.conv.bias blocks.2.conv.bias ' \
    'blocks.{2,0}.norm.{gamma,beta}:blocks.0.norm.gamma blocks.0.norm.beta blocks.2.norm.gamma blocks.2.norm.beta ' \
    'blocks.{1-9}.norm.gamma:blocks.1.norm.gamma blocks.2.norm.gamma ' '*stem*w*t:stem.weight '; do
    check "${case%%:*} matches ${case#*:}" [ "$(keys "${case%%:*}")" = "${case#*:}" ]
done
check "!KEY alone takes from everything" [ "$(keys '!blocks' '!stem.weight' '!fc2')" = "stem.bias fc1.weight fc1.bias " ]
run stats 0.18.0/mnist.mpk fc1 'stem.wait' 'fc2'
status_is "a key that matches nothing is an error" 2
check "which says so" grep -qF 'no key matches "stem.wait"' "$scratch/err"
run stats 0.18.0/mnist.mpk 0.18.0/mnist.mpkk
status_is "so is a file that does not exist" 2
check "and it says that there is none" grep -qF 'there is no file of that name' "$scratch/err"

# Files that are none, and broken ones.
run stats nothing.mpk
status_is "a first operand that does not exist is an error" 2
head -c 3000 0.18.0/mnist.mpk >"$scratch/cut.mpk"
run stats "$scratch/cut.mpk" 0.18.0/mnist.mpk
status_is "a file that is cut is an error" 2
check "the others are told nevertheless" grep -q '^fc2.bias' "$scratch/out"
run stats "$srcdir/tests/cli/cli.sh"
status_is "what is no record is an error" 2
record_begin 0
record_end >"$scratch/empty.mpk"
prints "a record without tensors" stats "$scratch/empty.mpk" <<END
0 tensors; 0 numbers
END
"$record" stats - <0.18.0/mnist.mpk >"$scratch/out" 2>"$scratch/err"
check "standard input is read" grep -q '^24 tensors' "$scratch/out"
"$record" convert -q --type-of 0.18.0/mnist.mpk 0.18.0/mnist.mpk "$scratch/mnist.bin"
run stats "$scratch/mnist.bin"
status_is "a file without names is read by position" 0

# st NAME DTYPE COUNT OCTAL [DTYPE COUNT OCTAL]: a safetensors file with tensors a, b, the bytes as printf's escapes
st() {
    st_header='{' st_at=0 st_bytes= st_key=a
    st_file=$1
    shift
    while [ $# -gt 0 ]; do
        # shellcheck disable=SC2059
        st_size=$(printf "$3" | wc -c)
        st_header="$st_header\"$st_key\":{\"dtype\":\"$1\",\"shape\":[$2],\"data_offsets\":[$st_at,$((st_at + st_size))]},"
        st_bytes="$st_bytes$3" st_at=$((st_at + st_size)) st_key=b
        shift 3
    done
    st_header="${st_header%,}}"
    # shellcheck disable=SC2059
    printf "\\$(printf %o $((${#st_header} % 256)))\\$(printf %o $((${#st_header} / 256)))\\0\\0\\0\\0\\0\\0%s$st_bytes" \
        "$st_header" >"$scratch/$st_file.safetensors"
}
need_jq
# 1, -2, NaN, Infinity, 65520, 65519.996, 2^-25, the next one, the least subnormal, -0
st odd F32 10 '\0\0\200\077\0\0\0\300\0\0\300\177\0\0\200\177\0\360\177\107\377\357\177\107\0\0\0\063\1\0\0\063\1\0\0\0\0\0\0\200'
run stats --json "$scratch/odd.safetensors"
status_is "odd numbers are measured" 0
answers "each is counted where it belongs" \
    '.tensors[0] | [.count, .zeros, .nan, .inf, .subnormal, .half_overflow, .half_underflow, .min, .max]' \
    '[10,1,1,1,1,1,2,-2,65520]'
answers "the histogram has the finite values" '.tensors[0].histogram | [length, add]' '[32,8]'
answers "the places of those that are not finite, too" '.tensors[0] | [.nan_at, .inf_at]' '[[[2]],[[3]]]'
answers "its edges are there" '.tensors[0] | .low < .high' true
answers "there is no file where there is one" '.tensors[0] | has("file")' false
# the same as f16: 1, -2, NaN, Infinity, 65504, subnormal; bf16: 1, 3e38
st half F16 6 '\0\074\0\300\0\176\0\174\377\173\1\0' BF16 2 '\200\077\142\177'
run stats --json "$scratch/half.safetensors"
answers "f16 knows its own subnormals, and loses nothing at half" \
    '.tensors[0] | [.nan, .inf, .subnormal, .half_overflow, .half_underflow, .max]' '[1,1,1,0,0,65500]'
answers "bf16 overflows" '.tensors[1] | [.half_overflow, .min]' '[1,1]'
# 3, 4 and nothing else; i16 extremes and one beyond
st sums F64 2 '\0\0\0\0\0\0\010\100\0\0\0\0\0\0\020\100' I32 4 '\0\200\377\377\377\177\0\0\0\200\0\0\0\0\0\0'
run stats --json "$scratch/sums.safetensors"
answers "mean, deviation and norm" '.tensors[0] | [.mean, .std, .norm]' '[3.5,0.5,5]'
answers "integers beyond i16 are over half" '.tensors[1] | [.min, .max, .zeros, .half_overflow]' '[-32768,32768,1,1]'
answers "the sum is of both" '.sum | [.tensors, .count, .min, .max]' '[2,6,-32768,32768]'
answers "which has no histogram" '.sum | [has("low", "high", "histogram")] | any' false
st none F32 2 '\0\0\300\177\0\0\200\377' F32 0 ''
run stats --json "$scratch/none.safetensors" "$scratch/sums.safetensors"
answers "what there is not is null" '.tensors[:2][] | [.min, .mean, .norm, .low]' '[null,null,null,null]
[null,null,null,null]'
answers "several files are told apart" '[.tensors[].file | sub(".*/"; "")]' \
    '["none.safetensors","none.safetensors","sums.safetensors","sums.safetensors"]'
prints "what is not finite has no histogram" stats "$scratch/none.safetensors" <<END
KEY  HISTOGRAM
a    none finite
b    empty

KEY  NAN  INF
a      1    1

KEY            FIRST AT
a    NaN       [0]
a    infinite  [1]
2 tensors; 2 numbers  (--all: every one)
END
# 1e300, -1e300; 1e-300, 3e-300: squares of which no double holds
st far F64 2 '\234\165\000\210\074\344\067\176\234\165\000\210\074\344\067\376' \
    F64 2 '\131\363\370\302\037\156\245\001\103\66\73\22\030\25\300\001'
run stats --json "$scratch/far.safetensors"
answers "norms of extreme numbers are not lost" \
    '[.tensors[] | .norm / .max | (. > 1) and (. < 1.5)]' '[true,true]'
for dtype in BOOL U8 I8; do
    st small $dtype 3 '\0\1\1'
    run stats --json "$scratch/small.safetensors"
    answers "$dtype is measured" '.tensors[0] | [.min, .max, .zeros]' '[0,1,1]'
done
for threads in 1 2 3 8; do
    "$record" stats --json --threads $threads 0.18.0/mnist.mpk 0.21.0/*-full.mpk >"$scratch/threads.$threads"
    check "$threads threads: the same to the last digit" cmp "$scratch/threads.1" "$scratch/threads.$threads"
done

# One tensor of 256 MB with holes in it, of which little is in memory.
if [ -z "${SANITIZERS:-}" ] && [ "$(df -Pk "$scratch" | awk 'NR == 2 { print $4 }')" -gt 200000 ]; then
    header='{"w":{"dtype":"F32","shape":[8192,8192],"data_offsets":[0,268435456]}}   '
    # shellcheck disable=SC2059
    printf "\\$(printf %o ${#header})\\0\\0\\0\\0\\0\\0\\0%s" "$header" >"$scratch/large.safetensors"
    truncate -s $((8 + ${#header} + 268435456)) "$scratch/large.safetensors"
    peaks stats --json --threads 2 "$scratch/large.safetensors"
    answers "a tensor of 256 MB is measured" '.sum.zeros' 67108864
    peak_is_below "in little memory" 64
    rm "$scratch/large.safetensors"
else
    skip "a tensor of 256 MB" "sanitizers, or too little room"
fi

count=100000
[ -n "${SANITIZERS:-}" ] && count=66000
many_tensors $count >"$scratch/many.mpk"
run stats "$scratch/many.mpk"
status_is "very many tensors" 0
check "are one line" grep -q "^m\\.#\\.w  ×$(echo $count | sed 's/000$/,000/')  " "$scratch/out"
finish
