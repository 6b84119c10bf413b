#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record show
set -u
# shellcheck source=tests/cli/cost.sh
. "${srcdir:=.}/tests/cli/cost.sh"

plain=0.21.0/plain-full.mpk
mnist=0.18.0/mnist.mpk

# --------------------------------------------------------------------------------------------------------- tensors --

prints "a matrix, its points aligned, floats as short as they read back" show $plain floats <<END
[[    0.0,           -0.0,            1.0,           -2.5],
 [65504.0,        65520.0,            6e-8,           2.9e-8],
 [    3e38,          -1e-40,          0.33333334,  1000.5]]          f32 [3, 4]
END
prints "the same in f64 needs more digits" show 0.21.0/plain-double.mpk 'floats[2, 2:]' <<END
[   0.3333333432674408, 1000.5]          f64 [2]
END
prints "in f16 fewer; what was too large is infinite" show 0.21.0/plain-half.mpk floats <<END
[[       0.0,          -0.0,           1.0,          -2.5],
 [   65500.0,    Infinity,             6e-8,          0.0],
 [Infinity,            -0.0,           0.3333,     1000.5]]          f16 [3, 4]
END
prints "an f32 file shown at half precision is what Burn wrote at half precision" \
    show --precision half $plain floats <<END
$("$record" show 0.21.0/plain-half.mpk floats)
END
prints "integers" show $plain ints <<END
[[-32768,     -1,      0],
 [     1,    255,  32767]]          i32 [2, 3]
END
prints "bools" show $plain bools <<END
[ true, false,  true]          bool [3]
END
prints "no elements" show $plain void <<END
[]          f32 [0, 3]
END
prints "four dimensions: an empty line between matrices" show 0.21.0/zoo-full.mpk 'up.weight[:2]' <<END
[[[[-0.25572312,  -0.19021775],
   [ 0.08882365,   0.33937266]],

  [[ 0.1599538,   -0.15375085],
   [ 0.28870305,   0.3139358]]],


 [[[-0.30590022,  -0.26058587],
   [ 0.030972272, -0.22868627]],

  [[ 0.12310141,   0.2498875],
   [ 0.1601617,    0.12841731]]]]          f32 [2, 2, 2, 2]
END
prints "a type that had to be assumed" show 0.13.2/zoo-half.mpk bn.gamma <<END
[1.0, 1.0, 1.0, 1.0]          f16 [4] (assumed)
END

# ----------------------------------------------------------------------------------------------------------- NumPy --

numpy= # a python3 that has it
for python in python3 /usr/bin/python3; do
    [ -n "$numpy" ] || ! "$python" -c 'import numpy' 2>/dev/null || numpy=$python
done
# numpy_has KEY TEXT: a tensor that was written, as numpy reads it
numpy_has() {
    run show $plain "$1" -o "$scratch/w.npy"
    status_is "$1 is written for NumPy" 0
    if [ -n "$numpy" ]; then
        found=$("$numpy" -c 'import numpy, sys
a = numpy.load(sys.argv[1])
print(a.dtype, a.shape, a.ravel()[-2:].tolist())' "$scratch/w.npy")
        check "NumPy reads $2" [ "$found" = "$2" ]
    fi
}
numpy_has floats 'float32 (3, 4) [0.3333333432674408, 1000.5]'
numpy_has ints 'int32 (2, 3) [255, 32767]'
numpy_has bools 'bool (3,) [False, True]'
numpy_has void 'float32 (0, 3) []'
for case in 'flots -o w.npy' 'floats[0] -o w.npy' 'floats ints -o w.npy' 'floats -o w.txt' '-o w.npy'; do
    # shellcheck disable=SC2086 # words
    run show $plain $case
    status_is "an error: $case" 2
done
"$record" edit $plain cast floats bf16 -o "$scratch/bf16.mpk" >"$scratch/edited" 2>&1
run show "$scratch/bf16.mpk" floats -o "$scratch/bf16.npy"
status_is "NumPy has no bf16" 2
check "and there is no file" [ ! -e "$scratch/bf16.npy" ]

# ---------------------------------------------------------------------------------------------------------- slices --

prints "the first filter" show $mnist 'stem.weight[0, 0]' <<END
[[-0.31712502,  -0.20080209,  -0.029607445],
 [ 0.24877754,  -0.3176086,   -0.13910174],
 [-0.1388681,    0.1054976,    0.24587515]]          f32 [3, 3]
END
prints "one element" show $mnist 'stem.weight[0,0,1,2]' <<END
-0.13910174          f32 []
END
prints "from the end" show $mnist 'stem.weight[-16,-1,-2,-1]' <<END
-0.13910174          f32 []
END
prints "a range" show $mnist 'stem.weight[0, 0, 1:3]' <<END
[[ 0.24877754, -0.3176086,  -0.13910174],
 [-0.1388681,   0.1054976,   0.24587515]]          f32 [2, 3]
END
prints "a step" show $mnist 'stem.weight[0, 0, ::2, ::2]' <<END
[[-0.31712502,  -0.029607445],
 [-0.1388681,    0.24587515]]          f32 [2, 2]
END
prints "a range beyond the end is cut" show $mnist 'stem.weight[0, 0, 2:99, -99:1]' <<END
[[-0.1388681]]          f32 [1, 1]
END
prints "a column of a large matrix" show $mnist 'fc1.weight[::64, 31]' <<END
[-0.031377748,  0.03268832,  -0.003213346, -0.015963808]          f32 [4]
END
prints "an empty range" show $mnist 'stem.weight[0, 0, 2:1]' <<END
[]          f32 [0, 3]
END
fails "too many parts" show $mnist 'fc1.bias[0, 0]' <<END
record: fc1.bias: the slice has 2 parts, the tensor has 1 dimension
END
fails "an index beyond the end" show $mnist 'fc1.weight[0, 32]' <<END
record: fc1.weight: index 32 is out of range: dimension 1 has 32 elements
END
fails "an index before the beginning" show $mnist 'fc1.weight[-257]' <<END
record: fc1.weight: index -257 is out of range: dimension 0 has 256 elements
END
fails "a step of zero" show $mnist 'fc1.bias[0:4:0]' <<END
record: slice [0:4:0]: expected indices and ranges like [0, 1:3, :, -1], found "0:4:0]"
END
fails "an empty part" show $mnist 'fc1.weight[0,,1]' <<END
record: slice [0,,1]: expected indices and ranges like [0, 1:3, :, -1], found ",1]"
END
fails "a number that no index can be" show $mnist 'fc1.bias[99999999999999999999]' <<END
record: slice [99999999999999999999]: expected indices and ranges like [0, 1:3, :, -1], found "99999999999999999999]"
END
fails "a slice of a string" show $plain 'name[0]' <<END
record: name: only tensors and lists of numbers have slices; this is a string
END

# --------------------------------------------------------------------------------------------------------- summary --

prints "a large tensor is shown by its edges" show $mnist fc1.weight <<END
[[ 0.036386475,   0.058153197,  …, -0.010344297,  -0.031377748],
 [-0.03709148,    0.05220048,   …, -0.021372318,   0.046588495],
 [-0.0586814,    -0.032592922,  …, -0.056543633,   0.003930971],
 …,
 [ 0.03359303,    0.060521603,  …,  0.061652035,   0.053085923],
 [ 0.0077035874, -0.034802377,  …, -0.0037464201,  0.01751493],
 [-0.032066733,  -0.0458028,    …, -0.029652655,  -0.00920178]]
f32 [256, 32]
END
run show --all $mnist fc1.weight
check "--all shows each element" [ "$(tr -cd . <"$scratch/out" | wc -c)" = 8192 ]
check "without an ellipsis" [ "$(grep -c … "$scratch/out")" = 0 ]
awk 'length > 80' "$scratch/out" >"$scratch/long"
same "in 80 columns" /dev/null "$scratch/long"
run show $mnist 'fc1.weight[:31]'
check "up to 1,000 elements all are shown" [ "$(tr -cd . <"$scratch/out" | wc -c)" = 992 ]

# big_tensor COUNT: the header of a safetensors file with COUNT f32 of one dimension, w; 128 bytes with the spaces behind it
big_tensor() {
    printf '\170\000\000\000\000\000\000\000%-120s' "{\"w\":{\"dtype\":\"F32\",\"shape\":[$1],\"data_offsets\":[0,$(($1 * 4))]}}"
}
# 1 GB, nothing of which is on the disk.
big_tensor 268435456 >"$scratch/big.safetensors"
truncate -s $((128 + 1073741824)) "$scratch/big.safetensors"
# shellcheck disable=SC2317 # what check() calls
first_lines() {
    {
        # All of the text takes more than 1 GB.
        sh -c '[ "$1" = yes ] || ulimit -d 200000; shift; exec "$@"' - "${SANITIZERS:+yes}" \
            "$record" show --all "$scratch/big.safetensors" w
        echo $? >"$scratch/status"
    } | head -n 2 >"$scratch/found"
    [ "$(tail -n 1 "$scratch/found")" = "$(printf ' 0.0,%.0s' $(seq 16))" ] && grep -qx 141 "$scratch/status"
}
check "of a tensor of 1 GB, the first lines come before the rest is made; then the signal ends it" first_lines
# 128 MB of it as JSON: of the file's pages, which the peak counts, only the last ones stay.
big_tensor 33554432 >"$scratch/large.safetensors"
truncate -s $((128 + 134217728)) "$scratch/large.safetensors"
peaks show --json "$scratch/large.safetensors" w
peak_is_below "a large tensor takes little memory" 48
rm "$scratch/large.safetensors" "$scratch/out"
# What is wider than all that was measured: the last of 262,144 elements is -1000.5.
big_tensor 262144 >"$scratch/wide.safetensors"
head -c $((262143 * 4)) /dev/zero >>"$scratch/wide.safetensors"
printf '\000\040\172\304' >>"$scratch/wide.safetensors"
run show --all "$scratch/wide.safetensors" w
check "an element that is wider than those before it is whole" grep -q '^  *-1000.5]  *f32 .262144.$' "$scratch/out"
check "each element is there" [ "$(tr -cd , <"$scratch/out" | wc -c)" = 262143 ]
awk 'length > 80' "$scratch/out" >"$scratch/long"
same "in 80 columns" /dev/null "$scratch/long"

# ---------------------------------------------------------------------------------------------------------- values --

prints "a counter" show $plain big <<END
18446744073709551615
END
prints "an f32" show $plain single <<END
0.1
END
prints "nil" show $plain never <<END
null
END
prints "a list of strings" show $plain couple <<END
0: 40000
1: "second"
END
prints "numbers" show $plain grid <<END
[2147483647, -1, -2147483648]
END
prints "one of them" show $plain 'grid[-1]' <<END
-2147483648
END
prints "some of them" show $plain 'grid[1:]' <<END
[-1, -2147483648]
END
prints "a record that is one value" show 0.21.0/constant-full.mpk <<END
0.001
END
prints "a tree" show 0.21.0/zoo-full.mpk head_a <<END
Dense:
  weight: f32 [2, 2]
  bias: f32 [2]
END
prints "the whole tree" show 0.21.0/composed-full.mpk <<END
schedulers:
  0:
    Linear: 46
  1:
    Exponential: 0.06561000000000002
END
run show $plain words.2
check "a long string is printed whole" [ "$(wc -c <"$scratch/out")" -gt 200 ]
fails "a key that is nearly one" show $mnist fc1.wieght <<END
record: fc1.wieght: the record has no such key
  Did you mean fc1.weight?
END
fails "a key that is nearly one, with a slice" show $mnist 'fc1.wieght[0]' <<END
record: fc1.wieght: the record has no such key
  Did you mean fc1.weight?
END
run show 0.13.2/zoo-half.mpk mask
same "notes on other tensors are left out" /dev/null "$scratch/err"

# ------------------------------------------------------------------------------------------------------------ JSON --

need_jq
"$record" show $plain name >"$scratch/found"
jq -r .item.name 0.21.0/plain-full.json >"$scratch/expected"
same "a string is printed as it is" "$scratch/expected" "$scratch/found"
run show --json $plain floats
answers "--json of a tensor" 'keys_unsorted, .key, .dtype, .shape' '["key","dtype","shape","values"]
"floats"
"f32"
[3,4]'
check "its floats are as short as they read back" grep -qF '[65504.0, 65520.0, 6e-8, 2.9e-8]' "$scratch/out"
run show --json 0.21.0/plain-half.mpk floats
answers "what JSON has no number for is a string" '[.values[][] | strings]' '["Infinity","Infinity"]'
run show --json $plain 'ints[1, :2]'
answers "--json of a slice" '[.shape, .values]' '[[2],[1,255]]'
run show --json $plain 'ints[1, 2]'
answers "--json of an element" '[.shape, .values]' '[[],32767]'
run show --json $plain void
answers "--json of no elements" '[.shape, .values]' '[[0,3],[]]'
run show --json 0.13.2/zoo-half.mpk bn.gamma
answers "--json of an assumed type" .assumed true
run show --json $plain big
check "--json of a counter is exact" grep -qF '"value": 18446744073709551615' "$scratch/out"
run show --json $plain
answers "--json of the tree" '.value.couple, .value.floats' '[40000,"second"]
{"dtype":"f32","shape":[3,4],"nbytes":48,"id":null}'
jq '.item | {name, count, tiny, short, single, double, yes, words, maybe, never, couple, grid, nested}' \
    0.21.0/plain-full.json >"$scratch/expected"
jq '.value | {name, count, tiny, short, single, double, yes, words, maybe, never, couple, grid, nested}' \
    "$scratch/out" >"$scratch/found"
same "its values are those of Burn's own JSON" "$scratch/expected" "$scratch/found"

# Each value of each f32 and f64 tensor that Burn wrote as V1 numbers in JSON.
for key in floats ints scalar_like; do
    for precision in full double; do
        json=0.13.2/plain-$precision.json
        [ -f $json ] || json=$json.gz
        case $json in *.gz) gzip -dc $json ;; *) cat $json ;; esac >"$scratch/twin"
        jq -c "[.item.$key.value[] | if . == null then \"?\" else . end]" "$scratch/twin" >"$scratch/expected"
        "$record" show --json 0.13.2/plain-$precision.mpk $key |
            jq -c '[.values | flatten[] | if type == "string" then "?" else . end]' >"$scratch/found"
        same "$key of 0.13 at $precision precision equals Burn's own JSON" "$scratch/expected" "$scratch/found"
    done
done

# ----------------------------------------------------------------------------------------------------- several keys --

prints "several keys, each below its name" show $plain count 'couple' <<END
count
123456

couple
$("$record" show $plain couple)
END
prints "a slice of one of them" show 0.18.0/mnist.mpk 'fc2.bias[0]' 'fc2.bias[:2]' <<END
fc2.bias[0]
$("$record" show 0.18.0/mnist.mpk 'fc2.bias[0]')

fc2.bias[:2]
$("$record" show 0.18.0/mnist.mpk 'fc2.bias[:2]')
END
run show 0.18.0/mnist.mpk 'fc*.bias'
check "what matches a pattern, in order" [ "$(grep '^fc' "$scratch/out" | tr '\n' ' ')" = "$("$record" ls --json 0.18.0/mnist.mpk 'fc*.bias' | grep -o '"fc[^"]*"' | tr -d '"' | tr '\n' ' ')" ]
"$record" show 0.18.0/mnist.mpk fc2.bias >"$scratch/expected"
sed '1,/^fc2.bias$/d' "$scratch/out" >"$scratch/found"
same "with its values" "$scratch/expected" "$scratch/found"
run show 0.18.0/mnist.mpk 'fc*.bias' '!fc2.*'
check "but for what is left out" [ "$(grep -c '^fc' "$scratch/out") $(grep -c fc2 "$scratch/out")" = "1 0" ]
run show --json 0.18.0/mnist.mpk 'fc*.bias'
jq -c .key "$scratch/out" >"$scratch/found"
check "--json is an object for each" [ "$(wc -l <"$scratch/found")" = 2 ]
fails "a pattern that nothing matches" show 0.18.0/mnist.mpk 'none*' <<END
record: no key matches "none*"
END
run show 0.18.0/mnist.mpk fc2.bias fc3.bias
status_is "a key that there is not is an error" 2
check "and named" grep -q fc3 "$scratch/err"

finish
