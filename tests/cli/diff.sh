#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record diff
# shellcheck disable=SC2016,SC2059 # text that only looks like the shell's; formats are made
set -u
# shellcheck source=tests/cli/cost.sh
. "${srcdir:=.}/tests/cli/cost.sh"
# shellcheck source=tests/cli/make-record.sh
. "$srcdir/tests/cli/make-record.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"

# differs NAME ARGUMENT... <<EXPECTED: status 1, exactly that, and nothing to complain about
differs() {
    name=$1
    shift
    cat >"$scratch/expected"
    run diff "$@"
    if [ "$status" != 1 ] || [ -s "$scratch/err" ]; then
        echo "status $status" >>"$scratch/err"
        not_ok "$name" "$scratch/err"
    else
        same "$name" "$scratch/expected" "$scratch/out"
    fi
}

# f32 HEX...: elements of a tensor by their bits, as st_end takes them
f32() {
    for f32_bits; do
        for f32_shift in 0 8 16 24; do
            st_octal $((0x$f32_bits >> f32_shift & 255))
        done
    done
}

# ----------------------------------------------------------------------------------------------------------- equal
prints "a file and itself" diff 0.18.0/mnist.mpk 0.18.0/mnist.mpk <<END
equal: 24 tensors, 15,866 parameters
END
# Keys: a pair of two names stays if either is selected.
run edit -q 0.21.0/zoo-full.mpk set 'conv1.weight[0, 0, 0]' 9 meta hello world -o "$scratch/keys.mpk"
run diff 0.21.0/zoo-full.mpk "$scratch/keys.mpk" 'conv2.*' '!*.bias'
status_is "what differs elsewhere does not count, nor do metadata" 0
run diff "$scratch/keys.mpk" 0.21.0/zoo-full.mpk conv1
status_is "a key stands for all below it" 1
check "and nothing else is listed" [ "$(grep -c 'conv1.weight' "$scratch/out")$(grep -c 'hello' "$scratch/out")" != 00 ]
for by in name position id; do
    run diff --json --by $by --all 0.21.0/zoo-full.mpk "$scratch/keys.mpk" 'conv1.weight'
    check "--json --by $by" [ "$status$(grep -c '"verdict"' "$scratch/out")$(grep -c '"metadata": \[\]' "$scratch/out")" = 111 ]
done
fails "a pattern that matches nothing" diff 0.21.0/zoo-full.mpk "$scratch/keys.mpk" conv1 'nope*' <<END
record: no key matches "nope*"
END
run edit -q 0.21.0/zoo-full.mpk mv '^conv1\.' 'stem.' -o "$scratch/keys.mpk"
for key in conv1 stem; do
    run diff --json 0.21.0/zoo-full.mpk "$scratch/keys.mpk" $key
    check "renamed: $key" [ "$(grep -c '"from": "conv1.weight"' "$scratch/out")$(grep -c '"removed": \[\]' "$scratch/out")" = 11 ]
done
run diff --by id 0.21.0/zoo-full.mpk "$scratch/keys.mpk" stem.weight
status_is "by id either name selects" 0
run convert -q --max-shard-size 200 0.21.0/zoo-full.mpk "$scratch/keys.safetensors"
run diff 0.21.0/zoo-full.mpk "$scratch"/keys.safetensors.index.json conv1.weight
status_is "shards" 0
for pair in "0.21.0/plain-full.mpk 0.21.0/plain-full.json" "0.21.0/plain-full.mpk 0.21.0/plain-full.mpk.gz" \
    "0.21.0/plain-full.mpk 0.13.2/plain-full.mpk" "0.21.0/zoo-full.mpk 0.21.0/zoo-full.json" "0.16.1/adam-full.json 0.16.1/adam-full.mpk"; do
    # shellcheck disable=SC2086 # two words
    run diff $pair
    status_is "$pair: formats and versions differ, the record is the same" 0
done
run diff -q 0.18.0/mnist.mpk 0.18.0/mnist.mpk
check "--quiet says nothing of equal ones" [ "$status$(wc -c <"$scratch/out")" = 00 ]
for to in safetensors npz pt bpk json; do
    run convert -q 0.18.0/mnist.mpk "$scratch/mnist.$to"
    [ "$status" = 0 ] || continue
    run diff 0.18.0/mnist.mpk "$scratch/mnist.$to"
    status_is "a record and what $to makes of it are equal" 0
    run diff "$scratch/mnist.$to" 0.18.0/mnist.mpk
    status_is "and the other way round" 0
done
run convert -q --type-of 0.21.0/zoo-full.mpk 0.21.0/zoo-full.mpk "$scratch/zoo.bin"
run diff 0.21.0/zoo-full.mpk "$scratch/zoo.bin"
status_is "a file without names is read with the type that the other one shows" 0
check "which is told" grep -q 'zoo.bin has no names: it was read with the type that 0.21.0/zoo-full.mpk shows' "$scratch/err"
run diff "$scratch/zoo.bin" 0.21.0/zoo-full.mpk
status_is "on either side" 0
prints "two of them are compared by position" diff "$scratch/zoo.bin" "$scratch/zoo.bin" <<END
equal: 43 tensors, 260 parameters
END
sed '/"item":/ { s/: .*/: null,/; }' 0.21.0/constant-full.json >"$scratch/nothing.json"
run convert -q --type Relu "$scratch/nothing.json" "$scratch/relu.bin"
run convert -q "--type=()" "$scratch/nothing.json" "$scratch/constant.bin"
check "a module without data is a byte, a constant scheduler none" [ "$(($(wc -c <"$scratch/relu.bin") - $(wc -c <"$scratch/constant.bin")))" = 1 ]
for file in relu constant; do
    run diff "$scratch/nothing.json" "$scratch/$file.bin"
    status_is "nothing is equal to nothing: $file.bin" 0
    run diff "$scratch/$file.bin" "$scratch/nothing.json"
    status_is "on either side" 0
done
printf x >>"$scratch/relu.bin"
run diff "$scratch/nothing.json" "$scratch/relu.bin"
status_is "something is not" 2
run diff --type-of 0.21.0/zoo-full.mpk "$scratch/zoo.bin" "$scratch/zoo.bin"
status_is "a type that stands before one is for the other, too, as that has no names" 0
run diff --positional 0.16.1/zoo-full.json "$scratch/zoo.bin"
check "by position a record with names has those of its own" grep -q "^conv1.weight" "$scratch/out"
run diff 0.18.0/mnist.mpk "$scratch/zoo.bin"
status_is "a type that does not fit is an error" 2
check "that says whose the type was" grep -q 'it was read with the type that 0.18.0/mnist.mpk shows' "$scratch/err"
"$record" convert -q 0.18.0/mnist.mpk - --to json 2>/dev/null | "$record" diff 0.18.0/mnist.mpk - >"$scratch/out" 2>&1
check "standard input may be one of them" grep -q '^equal: 24 tensors' "$scratch/out"

# ------------------------------------------------------------------------------------------------- what differs how
differs "another precision" 0.21.0/plain-full.mpk 0.21.0/plain-half.mpk <<END
A  0.21.0/plain-full.mpk
   NamedMpk, Burn 0.21.0: 5 tensors, 22 parameters; 18 values
B  0.21.0/plain-half.mpk
   NamedMpk, Burn 0.21.0: 5 tensors, 22 parameters; 18 values

       KEY                   A           B
dtype  all 3 tensors of f32  f32         f16
dtype  ints                  i32 [2, 3]  i16 [2, 3]

KEY            CHANGE    COSINE   LARGEST  DIFFER
floats            inf  1.000000  8.14e-05    50 %  rounded
scalar_like  0.000265  1.000000  0.000164   100 %  rounded

not finite  floats[1, 1]: 65520.0 | Infinity (2 places)
largest     scalar_like[0]: -0.618 | -0.618 (apart by 0.000164)
relative    floats[1, 3]: 2.9e-8 | 0.0 (relative: 1)
frozen      bools (1 tensor, 3 parameters)
            ints (1 tensor, 6 parameters)
3 tensors equal, 2 equal once rounded, 18 values equal
(--all lists every one)
END
run diff -q --ignore dtype 0.21.0/plain-full.mpk 0.21.0/plain-half.mpk
status_is "what is equal once rounded is equal if dtypes do not count" 0
run diff -q --ignore dtype 0.21.0/plain-half.mpk 0.21.0/plain-full.mpk
status_is "in either order" 0
run diff -q --ignore dtype 0.21.0/plain-full.mpk 0.21.0/plain-double.mpk
status_is "of double precision, too" 0

st_begin
st_metadata '{"note":"one","same":"x","left":"a"}'
for layer in 0 1 2 3; do
    st_tensor "layers.$layer.wq" "2, 2" 4 $((10 * layer + 1))
    st_tensor "layers.$layer.wk" "2, 2" 4 $((10 * layer + 5))
done
st_tensor old.weight "2, 3" 6 100
st_tensor old.bias 1 1 0
st_tensor head.weight "4, 2" 8 50
st_tensor gone 2 2 7
st_end >"$scratch/a.safetensors"
st_begin
st_metadata '{"note":"two","same":"x","new":"b"}'
for layer in 0 1 2 3; do
    st_tensor "layers.$layer.wq" "2, 2" 4 $((10 * layer + 1 + layer / 2))
    st_tensor "layers.$layer.wk" "2, 2" 4 $((10 * layer + 5))
done
st_tensor new.weight "2, 3" 6 100
st_tensor new.bias 1 1 0
st_tensor head.weight "4, 3" 12 50
st_tensor extra 2 2 9
st_end >"$scratch/b.safetensors"
differs "structure, values and metadata" "$scratch/a.safetensors" "$scratch/b.safetensors" <<END
A  $scratch/a.safetensors
   Safetensors: 12 tensors, 49 parameters
B  $scratch/b.safetensors
   Safetensors: 12 tensors, 53 parameters

         KEY          A           B
removed  gone         f32 [2]
added    extra                    f32 [2]
renamed  old.weight   f32 [2, 3]  as new.weight
renamed  old.bias     f32 [1]     as new.bias
shape    head.weight  f32 [4, 2]  f32 [4, 3]

          KEY   A      B
metadata  note  "one"  "two"
metadata  left  "a"    -
metadata  new   -      "b"

KEY                  CHANGE    COSINE  LARGEST  DIFFER
layers.{2-3}.wq  ×2  0.0425  0.999998        1   100 %

largest     layers.2.wq[0, 0]: 21.0 | 22.0 (apart by 1)
frozen      layers.{0-1} (4 tensors, 16 parameters)
            layers.{2-3}.wk (2 tensors, 8 parameters)
8 tensors equal, 3 tensors differ, 1 removed, 1 added, 2 renamed, 3 lines of metadata differ
(--all lists every one)
END
run diff --all "$scratch/a.safetensors" "$scratch/b.safetensors"
check "--all has each tensor and where it differs most" grep -qx 'layers.3.wq  0.0298  0.999999        1   100 %  \[0, 0\]' "$scratch/out"
run diff "$scratch/b.safetensors" "$scratch/a.safetensors"
check "the other way round the same changes are found" grep -qx 'layers.{2-3}.wq  ×2  0.0425  0.999998        1   100 %' "$scratch/out"
run diff --brief "$scratch/a.safetensors" "$scratch/b.safetensors"
echo "$scratch/a.safetensors and $scratch/b.safetensors differ" >"$scratch/expected"
same "--brief says only that" "$scratch/expected" "$scratch/out"
for ignored in renamed,metadata,added,removed renamed dtype; do
    run diff -q --ignore "$ignored" "$scratch/a.safetensors" "$scratch/b.safetensors"
    status_is "what is left after $ignored still differs" 1
done
run diff --ignore data "$scratch/a.safetensors" "$scratch/b.safetensors"
check "without data nothing is renamed, and nothing compared" grep -q '11 removed\|3 removed' "$scratch/out"

# What lies the other way round, and what stands below a path.
st_begin
st_tensor a "2, 3" 6 1
st_tensor b 2 2 10
st_end >"$scratch/plain.safetensors"
st_begin
st_entry model.a F32 "3, 2" 24
f32 3f800000 40800000 40000000 40a00000 40400000 40c00000
st_tensor model.b 2 2 10
st_end >"$scratch/below.safetensors"
run diff "$scratch/plain.safetensors" "$scratch/below.safetensors"
check "all names below a path are noticed" grep -qx 'names       all of them stand below `model` in B: --prefix model before A' "$scratch/out"
# A weight of rank 2 alone is asked about when it is adapted: the adapter none for one file does not adapt the other.
st_begin
st_tensor w.weight "2, 3" 6 1
st_end >"$scratch/weight.safetensors"
run convert -q --adapter none "$scratch/weight.safetensors" "$scratch/weight.npz"
for operands in "--adapter none weight.safetensors weight.npz" "weight.npz --adapter none weight.safetensors" \
    "weight.npz weight.safetensors --adapter none"; do
    # shellcheck disable=SC2086 # several words
    (cd "$scratch" && exec "$record" diff --ignore metadata $operands) >"$scratch/out" 2>"$scratch/err"
    status=$?
    status_is "two files of other frameworks as they are, $operands" 0
done
run diff --adapter none --prefix model "$scratch/plain.safetensors" --adapter none "$scratch/below.safetensors"
check "rows and columns that were exchanged, too" grep -q '^shape  model.a  f32 \[2, 3\]  f32 \[3, 2\], transposed$' "$scratch/out"
st_begin
st_entry a F4 8 4
st_bytes="$st_bytes\\001\\002\\003\\004"
st_tensor b 2 2 10
st_end >"$scratch/f8.safetensors"
sed 's/\x04/\x05/' "$scratch/f8.safetensors" >"$scratch/f8-b.safetensors"
run diff -q "$scratch/f8.safetensors" "$scratch/f8.safetensors"
status_is "element types without numbers are compared by their bytes" 0
run diff "$scratch/f8.safetensors" "$scratch/f8-b.safetensors"
check "which differ or not" grep -qx 'a     bytes' "$scratch/out"
run diff -q "$scratch/f8.safetensors" "$scratch/plain.safetensors"
status_is "and differ from numbers" 1

# -------------------------------------------------------------------------------------------------- odd numbers
# 1 2 3 NaN Inf -0 1e-45 65520 against 1 2.0000002 3.5 NaN -Inf 0 0 NaN
st_begin
st_entry w F32 8 32
f32 3f800000 40000000 40400000 7fc00000 7f800000 80000000 00000001 477ff000
st_end >"$scratch/x.safetensors"
st_begin
st_entry w F32 8 32
f32 3f800000 40000001 40600000 7fc00001 ff800000 00000000 00000000 7fc00000
st_end >"$scratch/y.safetensors"
run diff --json "$scratch/x.safetensors" "$scratch/y.safetensors"
status_is "odd numbers differ" 1
need_jq
answers "NaN is NaN and 0 is -0; what is not finite is counted apart" \
    '.tensors[0] | [.verdict, .differing, .beyond, .not_finite, .first_not_finite.at, .nan, .inf, .max_abs.value, .max_abs.at, .max_rel.value]' \
    '["differs",5,5,2,[4],[1,2],[1,1],0.5,[2],1]'
answers "what stands there is told, infinities as words" '.tensors[0].first_not_finite | [.a, .b]' '["Infinity","-Infinity"]'
run diff --json --nan-differs "$scratch/x.safetensors" "$scratch/y.safetensors"
answers "unless NaN is to differ from NaN" '.tensors[0] | [.differing, .not_finite, .first_not_finite.at]' '[6,3,[3]]'
run diff --json --bits "$scratch/x.safetensors" "$scratch/y.safetensors"
answers "or all bits count" '.tensors[0].differing' '7'
run diff --json --ulp 1 "$scratch/x.safetensors" "$scratch/y.safetensors"
answers "a step of the type" '.tensors[0] | [.differing, .beyond]' '[5,3]'
run diff --json --atol 0.5 "$scratch/x.safetensors" "$scratch/y.safetensors"
answers "an absolute tolerance" '.tensors[0] | [.differing, .beyond]' '[5,2]'
run diff --json --rtol 0.1 "$scratch/x.safetensors" "$scratch/y.safetensors"
answers "a relative one" '.tensors[0] | [.differing, .beyond]' '[5,4]'
run diff -q --rtol 0.1 "$scratch/y.safetensors" "$scratch/y.safetensors"
status_is "a file that is half NaN is equal to itself" 0
run diff -q --nan-differs "$scratch/y.safetensors" "$scratch/y.safetensors"
status_is "or not" 1
run diff --json --bits "$scratch/y.safetensors" "$scratch/y.safetensors"
answers "its bits are the same" '[.equal, .tensors]' '[true,[]]'

# ------------------------------------------------------------------------------------------------------- noise
# Of each of two layers [10, 0] in A: [11, 0] and [10, 0.5] in B; zero has nothing that noise could be compared with.
st_begin
for key in layers.0.w layers.1.w; do
    st_entry "$key" F32 2 8
    f32 41200000 00000000
done
st_entry zero F32 1 4
f32 00000000
st_end >"$scratch/clean.safetensors"
st_begin
st_entry layers.0.w F32 2 8
f32 41300000 00000000
st_entry layers.1.w F32 2 8
f32 41200000 3f000000
st_entry zero F32 1 4
f32 3f800000
st_end >"$scratch/noisy.safetensors"
run diff --noise "$scratch/clean.safetensors" "$scratch/noisy.safetensors"
check "--noise adds the error relative to A, the worst of several layers" grep -q '^layers.#.w .* 0.01  20.0 dB$' "$scratch/out"
check "an error where A is zero is infinite" grep -q '^zero .* inf  -inf dB$' "$scratch/out"
run diff --noise --all "$scratch/noisy.safetensors" "$scratch/clean.safetensors"
check "the order of the files decides what the error is relative to" grep -q '^zero .*  1   0.0 dB  \[0\]$' "$scratch/out"
check "--all has both columns of each tensor" grep -q '^layers.0.w .*  0.00826  20.8 dB  \[0\]$' "$scratch/out"
run diff "$scratch/clean.safetensors" "$scratch/noisy.safetensors"
check "without the option there are no such columns" sh -c "! grep -q SQNR '$scratch/out'"
run diff --json "$scratch/clean.safetensors" "$scratch/noisy.safetensors"
answers "JSON always has both" '[.tensors[] | [.key, .nmse, (.sqnr | if type == "number" then . * 1e9 | round / 1e9 else . end)]]' \
    '[["zero","Infinity","-Infinity"],["layers.0.w",0.01,20],["layers.1.w",0.0025,26.020599913]]'
run diff --json "$scratch/x.safetensors" "$scratch/y.safetensors"
answers "a number that is finite on one side only is an infinite error" '.tensors[0] | [.nmse, .sqnr]' '["Infinity","-Infinity"]'

# ------------------------------------------------------------------------------------------------- values, ids, order
printf '{"zero": 0.0, "one": 1.5}' >"$scratch/plus.json"
printf '{"zero": -0.0, "one": 1.5}' >"$scratch/minus.json"
for side in plus minus; do
    sed '/"item":/,$d' 0.21.0/constant-full.json >"$scratch/$side.record.json"
    printf '  "item": %s,\n  "_b": null\n}\n' "$(cat "$scratch/$side.json")" >>"$scratch/$side.record.json"
done
run diff "$scratch/plus.record.json" "$scratch/minus.record.json"
status_is "-0 is 0 in a number that is not a tensor" 0
run diff --bits "$scratch/plus.record.json" "$scratch/minus.record.json"
status_is "but its bits differ" 1
check "in that one" grep -q zero "$scratch/out"
run diff --bits "$scratch/plus.record.json" "$scratch/plus.record.json"
status_is "those of the same are the same" 0
run convert -q "$scratch/minus.record.json" "$scratch/minus.mpk"
run diff --bits "$scratch/minus.mpk" "$scratch/minus.record.json"
status_is "in another format, too" 0
run diff --json 0.21.0/plain-full.mpk 0.21.0/tiny-full.mpk
answers "what is not a tensor is there, too" '[.values[] | select(.key == "count")] | .[0]' '{"key":"count","a":123456}'
answers "tensors of one side" '[.removed[].key], [.added[] | [.key, .dtype, .shape]]' \
    '["floats","ints","bools","scalar_like","void"]
[["linear.weight","f32",[3,2]],["linear.bias","f32",[2]]]'
run diff --json 0.14.0/plain-full.mpk 0.21.0/plain-full.mpk
answers "ids are not told unless asked for" '[.equal, has("ids")]' '[true,false]'
for layout in a b; do
    record_begin 2
    [ $layout = a ] && order='x y' || order='y x'
    for key in $order; do
        str "$key"
        if [ "$key" = x ]; then tensor 2 2; else tensor 1 3; fi
    done
    record_end >"$scratch/order-$layout.mpk"
done
prints "another order is told" diff "$scratch/order-a.mpk" "$scratch/order-b.mpk" <<END
order       1 tensor stands elsewhere in B, which counts only with --order
equal: 2 tensors, 7 parameters
END
run diff -q --order "$scratch/order-a.mpk" "$scratch/order-b.mpk"
status_is "and counts if asked for" 1
record_begin 1
str a
byte 195
record_end >"$scratch/bool.mpk"
record_begin 1
str a
byte 1
record_end >"$scratch/uint.mpk"
run diff --json "$scratch/bool.mpk" "$scratch/uint.mpk"
answers "true is not 1" '.values' '[{"key":"a","a":true,"b":1}]'

# ---------------------------------------------------------------------------------------------- wrong use, bad files
fails "a word that is nearly one" diff --ignore dtypes 0.18.0/mnist.mpk 0.18.0/mnist.mpk <<END
record: --ignore: expected dtype, metadata, data, values, added, removed or renamed, found "dtypes"
  Did you mean dtype?
END
fails "a tolerance that is not a number" diff --atol tiny 0.18.0/mnist.mpk 0.18.0/mnist.mpk <<END
record: --atol: expected a number, 0 or more, found "tiny"
END
fails "standard input twice" diff - - <<END
record: standard input can be read only once
END
fails "a file that is not there" diff 0.18.0/mnist.mpk "$scratch/none.mpk" <<END
record: $scratch/none.mpk: cannot open the file: No such file or directory
END
head -c 3000 0.18.0/mnist.mpk >"$scratch/cut.mpk"
run diff 0.18.0/mnist.mpk "$scratch/cut.mpk"
status_is "a file that is cut short" 2
check "its error names it" grep -q "cut.mpk: byte" "$scratch/err"
fails "one file alone" diff 0.18.0/mnist.mpk <<END
record: expected record diff A B [KEY]..., found 1 operand
  record diff --help shows how it is used.
END

# Keys that could steer a terminal.
record_begin 1
str "$(printf 'red\033[31m')"
tensor 1 1
record_end >"$scratch/steer.mpk"
run diff "$scratch/steer.mpk" "$scratch/order-a.mpk"
check "keys do not steer the terminal" [ "$(grep -c "$(printf '\033')" "$scratch/out")" = 0 ]

# As many levels as a key may have.
{ printf %s '{"'; head -c 199 /dev/zero | tr '\0' .; printf %s '":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}} '; } >"$scratch/header"
while [ $(($(wc -c <"$scratch/header") % 8)) != 0 ]; do printf ' ' >>"$scratch/header"; done
size=$(wc -c <"$scratch/header")
for last in 0 1; do
    { printf "\\$(printf %o $((size % 256)))\\$(printf %o $((size / 256)))\\0\\0\\0\\0\\0\\0"; cat "$scratch/header"; printf "\\0\\0\\0\\0\\0\\0\\0\\$last"; } >"$scratch/dots-$last.safetensors"
done
run diff --json "$scratch/dots-0.safetensors" "$scratch/dots-1.safetensors"
status_is "a key of many levels" 1
answers "did not change" '[.totals.equal, .totals.differs]' '[1,1]'

# Formats with numbers of their own: the same values as whole numbers, floats and bools.
st_begin
st_entry w U8 4 4
st_bytes="$st_bytes\\001\\002\\003\\377"
st_end >"$scratch/u8.safetensors"
st_begin
st_tensor w 4 4
st_end >"$scratch/f32.safetensors"
run diff --json "$scratch/u8.safetensors" "$scratch/f32.safetensors"
answers "whole numbers and floats are compared as numbers" \
    '.tensors[0] | [.verdict, .dtype, .dtype_b, .differing, .max_abs.value, .max_abs.a, .max_abs.b]' '["differs","u8","f32",1,251,255,4]'
st_begin
st_entry w I64 2 16
st_bytes="\\377\\377\\377\\377\\377\\377\\377\\177\\376\\377\\377\\377\\377\\377\\377\\177"
st_end >"$scratch/i64.safetensors"
st_begin
st_entry w U64 2 16
st_bytes="\\377\\377\\377\\377\\377\\377\\377\\177\\377\\377\\377\\377\\377\\377\\377\\177"
st_end >"$scratch/u64.safetensors"
run diff --json "$scratch/i64.safetensors" "$scratch/u64.safetensors"
answers "neighbours that no float tells apart differ" '.tensors[0] | [.differing, .dtype_b, .max_abs.value, .norm_difference]' \
    '[1,"u64",1,1]'
run diff -q --ignore dtype --atol 1 "$scratch/i64.safetensors" "$scratch/u64.safetensors"
status_is "by 1" 0
run diff -q --ignore dtype --atol 0.5 "$scratch/i64.safetensors" "$scratch/u64.safetensors"
status_is "and no less" 1
run diff -q --by id "$scratch/i64.safetensors" "$scratch/u64.safetensors"
status_is "without ids nothing belongs together" 1

st_begin
st_entry w BOOL 5 5
st_bytes="\\000\\001\\001\\000\\001"
st_end >"$scratch/bools-a.safetensors"
st_begin
st_entry w BOOL 5 5
st_bytes="\\000\\001\\000\\001\\001"
st_end >"$scratch/bools-b.safetensors"
run diff --json "$scratch/bools-a.safetensors" "$scratch/bools-b.safetensors"
answers "bools are 0 and 1" '.tensors[0] | [.differing, .max_abs.at, .max_abs.a, (.norm_difference * .norm_difference | round)]' '[2,[2],true,2]'

for threads in 1 2 3 8; do
    "$record" diff --json --all --threads $threads 0.16.1/zoo-full.mpk 0.21.0/zoo-full.mpk >"$scratch/threads.$threads"
    check "$threads threads: the same to the last digit" cmp "$scratch/threads.1" "$scratch/threads.$threads"
done

# Two tensors of 256 MB with holes in them, of which little is in memory.
if [ -z "${SANITIZERS:-}" ] && [ "$(df -Pk "$scratch" | awk 'NR == 2 { print $4 }')" -gt 200000 ]; then
    header='{"w":{"dtype":"F32","shape":[8192,8192],"data_offsets":[0,268435456]}}   '
    for large in one two; do
        # shellcheck disable=SC2059
        printf "\\$(printf %o ${#header})\\0\\0\\0\\0\\0\\0\\0%s" "$header" >"$scratch/$large.safetensors"
        truncate -s $((8 + ${#header} + 268435452)) "$scratch/$large.safetensors"
        printf '\0\0\0%s' "$([ $large = one ] && echo @ || echo A)" >>"$scratch/$large.safetensors"
    done
    peaks diff --json --threads 2 "$scratch/one.safetensors" "$scratch/two.safetensors"
    answers "the last element of two tensors of 256 MB" '.tensors[0] | [.differing, .max_abs.at, .max_abs.a, .max_abs.b]' \
        '[1,[8191,8191],2,8]'
    peak_is_below "in little memory" 64
    rm "$scratch/one.safetensors" "$scratch/two.safetensors"
else
    skip "two tensors of 256 MB" "sanitizers, or too little room"
fi

count=100000
[ -n "${SANITIZERS:-}" ] && count=66000
many_tensors $count >"$scratch/many.mpk"
sed 's/aaaa/aaab/' "$scratch/many.mpk" >"$scratch/many-b.mpk"
run diff "$scratch/many.mpk" "$scratch/many-b.mpk"
status_is "very many tensors" 1
check "are one line, or two" [ "$(wc -l <"$scratch/out")" -lt 16 ]
run diff --prefix other "$scratch/many.mpk" "$scratch/many-b.mpk"
status_is "of other names, too" 1

finish
