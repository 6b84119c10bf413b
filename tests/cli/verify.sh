#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record verify
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/cli/cost.sh
. "${srcdir:=.}/tests/cli/cost.sh"
# shellcheck source=tests/cli/make-record.sh
. "$srcdir/tests/cli/make-record.sh"

# verdict NAME STATUS ARGUMENT...: the status, and that it is told
verdict() {
    name=$1
    wanted=$2
    shift 2
    run verify "$@"
    status_is "$name" "$wanted"
}
says() { # NAME TEXT: standard output has it
    check "$1" grep -qF -e "$2" "$scratch/out"
}

prints "a good file" verify 0.18.0/mnist.mpk <<END
0.18.0/mnist.mpk: ok: 24 tensors, 62.0 KiB
END
prints "good files, and a word for all" verify 0.18.0/mnist.mpk 0.21.0/plain-full.mpk.gz <<END
0.18.0/mnist.mpk: ok: 24 tensors, 62.0 KiB
0.21.0/plain-full.mpk.gz: ok: 5 tensors, 79 bytes
2 ok, 0 failed
END
prints "nothing is said with -q" verify -q 0.18.0/mnist.mpk 0.21.0/plain-full.mpk </dev/null
for version in 0.1[0-9].0 0.2*.0; do
    [ -d "$version" ] && verdict "every record of $version" 0 -q "$version"
done

# Broken files: each is told, and the others are looked at nevertheless.
head -c 9000 0.18.0/mnist.mpk >"$scratch/cut.mpk"
verdict "a file that is cut fails" 1 "$scratch/cut.mpk" 0.18.0/mnist.mpk
says "it is told" "cut.mpk: FAILED"
says "the other one is good" "0.18.0/mnist.mpk: ok"
says "and counted" "1 ok, 1 failed"
cp 0.21.0/plain-full.mpk.gz "$scratch/sum.mpk.gz"
size=$(wc -c <"$scratch/sum.mpk.gz")
printf '\0\1\2\3' | dd of="$scratch/sum.mpk.gz" bs=1 seek=$((size - 8)) conv=notrunc 2>/dev/null
verdict "a wrong checksum fails" 1 "$scratch/sum.mpk.gz"
verdict "what is no record fails" 1 "$srcdir/tests/cli/verify.sh"
check "why is said once" [ "$(cat "$scratch/out" "$scratch/err" | grep -c 'unknown format')" = 1 ]
mkdir "$scratch/folder" && cp 0.18.0/mnist.mpk "$scratch/folder" && echo '{"hidden_size": 8}' >"$scratch/folder/config.json"
verdict "what lies beside records in a directory is passed over" 0 "$scratch/folder"
says "and counted" "1 ok, 0 failed, 1 no record"
verdict "but not if it is named" 1 "$scratch/folder/config.json"
verdict "a file that is not there is an error" 2 "$scratch/nothing.mpk"
(cat 0.18.0/mnist.mpk && echo more) >"$scratch/long.mpk"
verdict "bytes behind the record fail" 1 "$scratch/long.mpk"
verdict "nothing to verify is an error" 2
verdict "an unknown word is an error" 2 --sums make 0.18.0/mnist.mpk
verdict "a place for sums without sums is an error" 2 --sums-file x 0.18.0/mnist.mpk

# st NAME HEADER OCTAL: a safetensors file
st() {
    # shellcheck disable=SC2059
    printf "\\$(printf %o $((${#2} % 256)))\\$(printf %o $((${#2} / 256)))\\0\\0\\0\\0\\0\\0%s$3" "$2" >"$scratch/$1"
}
st bool.safetensors '{"mask":{"dtype":"BOOL","shape":[4],"data_offsets":[0,4]}}' '\0\1\2\377'
verdict "bools that are neither 0 nor 1 fail" 1 "$scratch/bool.safetensors"
says "how many is told" "mask: 2 bytes of its bools are neither 0 nor 1"
st nan.safetensors '{"w":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}}' '\0\0\300\177\0\0\200\377\0\0\200\077'
verdict "NaN is no failure" 0 "$scratch/nan.safetensors"
says "but counted" "1 NaN, 1 infinite"
verdict "--nan makes it one" 1 --nan "$scratch/nan.safetensors"
says "and tells where" "w: 1 NaN, 1 infinite, of 3 numbers; the first NaN at [0]; infinite at [1]"
st places.safetensors '{"w":{"dtype":"F16","shape":[2,4],"data_offsets":[0,16]}}' \
    '\0\0\0\174\0\174\0\174\0\0\0\174\0\174\0\0'
verdict "of many" 1 --nan "$scratch/places.safetensors"
says "the first three are printed" "w: 0 NaN, 5 infinite, of 8 numbers; the first infinite at [0, 1], [0, 2], [0, 3]"
st var.safetensors '{"bn.running_var":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}' '\0\0\200\077\0\0\200\277'
verdict "a variance below zero fails" 1 "$scratch/var.safetensors"
says "with its value" "bn.running_var: a variance is less than zero: -1.0"
record_begin 0
record_end >"$scratch/empty.mpk"
verdict "a record without tensors is good" 0 "$scratch/empty.mpk"
"$record" verify - <0.18.0/mnist.mpk >"$scratch/out" 2>&1
says "standard input" "standard input: ok: 24 tensors"
"$record" convert -q --type-of 0.18.0/mnist.mpk 0.18.0/mnist.mpk "$scratch/mnist.bin"
verdict "a file without names is read by position" 0 "$scratch/mnist.bin"
says "and it is said what that passes over" "bytes between its parameters were not checked"
verdict "with its type it is read as a whole" 0 --type-of 0.18.0/mnist.mpk "$scratch/mnist.bin"
check "then nothing is passed over" [ "$(grep -c passed "$scratch/out")" = 0 ]

# Sums.
cp 0.18.0/mnist.mpk "$scratch/m.mpk"
verdict "no sums to check are an error" 2 --sums check "$scratch/m.mpk"
verdict "sums are written" 0 --sums write "$scratch/m.mpk"
says "it is said where" "sums written to $scratch/m.mpk.sums"
check "one a tensor" [ "$(grep -cE '^[0-9a-f]{64}  [a-z0-9_.]+$' "$scratch/m.mpk.sums")" = 24 ]
verdict "they agree" 0 --sums check "$scratch/m.mpk"
says "all of them" "24 sums agree"
for other in json.gz mpk.gz safetensors json; do
    "$record" convert -q "$scratch/m.mpk" "$scratch/other.$other"
    verdict "the sums hold in .$other" 0 --adapter none --sums check --sums-file "$scratch/m.mpk.sums" "$scratch/other.$other"
    says "each of them in .$other" "24 sums agree"
done
"$record" convert -q --type-of "$scratch/m.mpk" "$scratch/m.mpk" "$scratch/other.bin"
verdict "the sums hold in .bin" 0 --type-of "$scratch/m.mpk" --sums check --sums-file "$scratch/m.mpk.sums" "$scratch/other.bin"
verdict "another precision is another record" 1 --precision half --sums check "$scratch/m.mpk"
# One bit of the last weights, which no format would notice.
size=$(wc -c <"$scratch/m.mpk")
offset=$(LC_ALL=C grep -abo 'fc2' "$scratch/m.mpk" | head -1 | cut -d: -f1)
before=$(dd if="$scratch/m.mpk" bs=1 skip=$((offset + 200)) count=1 2>/dev/null | od -An -t u1 | tr -d ' ')
# shellcheck disable=SC2059
printf "\\$(printf %o $((before ^ 1)))" | dd of="$scratch/m.mpk" bs=1 seek=$((offset + 200)) conv=notrunc 2>/dev/null
verdict "a flipped bit is not seen without sums" 0 "$scratch/m.mpk"
verdict "and is with them" 1 --sums check "$scratch/m.mpk"
says "the tensor is named" "fc2.weight: its values, type or shape changed"
says "the others agree" "23 sums agree"
{ sed 's/  fc1.bias$/  fc1.other/' "$scratch/m.mpk.sums" && echo '# a remark'; } >"$scratch/changed.sums"
verdict "keys that are missing and new fail" 1 --sums check --sums-file "$scratch/changed.sums" 0.18.0/mnist.mpk
says "a new one" "fc1.bias: it has no checksum"
says "a missing one" "fc1.other: it has a checksum, but is not in the record"
echo 'deadbeef  fc1.weight' >"$scratch/bad.sums"
verdict "sums that are none are an error" 2 --sums check --sums-file "$scratch/bad.sums" 0.18.0/mnist.mpk
check "with their line" grep -qF 'bad.sums: line 1 of the checksums: expected 64' "$scratch/err"
sed -n 'p;1p' "$scratch/m.mpk.sums" >"$scratch/twice.sums"
verdict "two sums for one key are an error" 2 --sums check --sums-file "$scratch/twice.sums" 0.18.0/mnist.mpk
cp "$scratch/cut.mpk" "$scratch/gone.mpk"
verdict "a file that fails" 1 --sums write "$scratch/gone.mpk"
check "gets no sums" [ ! -e "$scratch/gone.mpk.sums" ]
st two.safetensors '{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}' '\0\0\200\077\0\0\0\100'
verdict "a sum can be made by hand" 0 --sums write "$scratch/two.safetensors"
check "it is that of a line and the values" grep -qF \
    "$(printf 'f32 [2]\n\0\0\200\077\0\0\0\100' | sha256sum | cut -d' ' -f1)  w" "$scratch/two.safetensors.sums"
record_begin 1
str "$(printf 'a\nb\\c')"
tensor 1 1
record_end >"$scratch/escaped.mpk"
verdict "keys with line feeds and backslashes" 0 --sums write "$scratch/escaped.mpk"
check "are escaped" [ "$(wc -l <"$scratch/escaped.mpk.sums")" = 1 ]
verdict "and found again" 0 --sums check "$scratch/escaped.mpk"
verdict "one place for several files is an error" 2 --sums check --sums-file "$scratch/m.mpk.sums" 0.18.0/mnist.mpk 0.18.0/mnist.mpk

# In the metadata.
for extension in mpk safetensors json mpk.gz; do
    "$record" convert -q 0.18.0/mnist.mpk "$scratch/meta.$extension"
    "$record" show --all --json "$scratch/meta.$extension" >"$scratch/before"
    verdict "sums in the metadata of .$extension" 0 --sums write --in-metadata "$scratch/meta.$extension"
    verdict "which agree" 0 --sums check --in-metadata "$scratch/meta.$extension"
    says "each in .$extension" "24 sums agree"
    "$record" show --all --json "$scratch/meta.$extension" >"$scratch/after"
    check "nothing else changed in .$extension" cmp "$scratch/before" "$scratch/after"
done
verdict "metadata without sums are an error" 2 --sums check --in-metadata 0.18.0/mnist.mpk

need_jq
run verify --nan --json "$scratch/places.safetensors"
answers "programs get them as numbers" '.problems[0] | [.nan_at, .inf_at]' '[[],[[0,1],[0,2],[0,3]]]'
run verify --json "$scratch/m.mpk" --sums check
status_is "JSON has the same status" 1
answers "JSON of one file" '[.ok, .tensors, .sums, .problems[0].kind, .problems[0].key]' '[false,24,23,"sum","fc2.weight"]'
run verify --json 0.18.0/mnist.mpk "$scratch/cut.mpk" "$scratch/nothing.mpk"
status_is "an error outweighs a failure" 2
answers "JSON of several" '[.files[] | [.ok, (.problems[0].kind), (.error != null)]]' '[[true,null,false],[false,"file",false],[null,null,true]]'
"$record" convert -q 0.18.0/mnist.mpk "$scratch/clash.json"
jq '.item.fc1.bias.param |= {bytes: .bytes[0:12], shape: [3], dtype}' "$scratch/clash.json" >"$scratch/odd.json"
run verify --json "$scratch/odd.json"
answers "modules of which parts do not go together fail" '[.ok, .problems[0].kind]' '[false,"module"]'

# One tensor of 256 MB with holes in it, of which little is in memory.
if [ -z "${SANITIZERS:-}" ] && [ "$(df -Pk "$scratch" | awk 'NR == 2 { print $4 }')" -gt 200000 ]; then
    header='{"w":{"dtype":"F32","shape":[8192,8192],"data_offsets":[0,268435456]}}   '
    # shellcheck disable=SC2059
    printf "\\$(printf %o ${#header})\\0\\0\\0\\0\\0\\0\\0%s" "$header" >"$scratch/large.safetensors"
    truncate -s $((8 + ${#header} + 268435456)) "$scratch/large.safetensors"
    peaks verify --threads 2 "$scratch/large.safetensors"
    says "a tensor of 256 MB is verified" "large.safetensors: ok: 1 tensor, 256 MiB"
    peak_is_below "in little memory" 64
    rm "$scratch/large.safetensors"
else
    skip "a tensor of 256 MB" "sanitizers, or too little room"
fi
count=100000
[ -n "${SANITIZERS:-}" ] && count=66000
many_tensors $count >"$scratch/many.mpk"
verdict "sums of very many tensors" 0 --sums write "$scratch/many.mpk"
verdict "agree" 0 --sums check "$scratch/many.mpk"
# A file without names that was cut shows its first parameters alone.
"$record" convert -q --type-of 0.18.0/mnist.mpk 0.18.0/mnist.mpk "$scratch/names.bin"
run verify "$scratch/names.bin"
status_is "a file without names and type is looked at" 0
head -c 40000 "$scratch/names.bin" >"$scratch/cut.bin"
run verify "$scratch/cut.bin"
status_is "one that was cut fails" 1
check "for the bytes that are no parameter" grep -q 'bytes belong to no parameter that was found' "$scratch/out"

cp 0.13.2/tiny-full.mpk "$scratch/old.mpk"
run verify --sums write --in-metadata "$scratch/old.mpk"
run info --json "$scratch/old.mpk"
check "sums in the metadata leave the version" [ "$(jq -r .burn "$scratch/out")" = 0.13.2 ]
run verify --sums check --in-metadata "$scratch/old.mpk"
status_is "and are found there" 0

mkdir "$scratch/crashed"
cp 0.21.0/tiny-full.mpk "$scratch/crashed/good.mpk"
: >"$scratch/crashed/empty.mpk"
head -c 1000 /dev/zero >"$scratch/crashed/zeros.mpk"
run verify "$scratch/crashed"
status_is "what a crash left of a record is no good one in a directory" 1
check "and each is told of" [ "$(grep -c FAILED "$scratch/out")" = 2 ]
ln -s "$PWD/0.21.0/tiny-full.mpk" "$scratch/no-extension"
run verify --sums write --in-metadata "$scratch/no-extension"
status_is "sums do not go into a file beside the one that was named" 2
check "which is not there" [ ! -e "$scratch/no-extension.mpk" ]

# ------------------------------------------------------------------------------------------- a model and its optimizer
# parameter ID: a parameter of one element, as JSON
parameter() {
    printf '{"id": "%s", "param": {"bytes": [0, 0, 128, 63], "shape": [1], "dtype": "F32"}}' "$1"
}
# record_of VERSION ITEM
record_of() {
    printf '{"metadata": {"float": "f32", "int": "i32", "format": "PrettyJsonFileRecorder", "version": "%s",
 "settings": "FullPrecisionSettings"}, "item": %s}\n' "$1" "$2"
}
state='{"V1": {"Rank1": {"moment": {"bytes": [0, 0, 128, 63], "shape": [1], "dtype": "F32"}}}}'
record_of 0.21.0 "{\"a\": $(parameter abcdefghi0000), \"b\": $(parameter abcdefghijk00)}" >"$scratch/model.json"
record_of 0.14.0 "{\"abcdefghi0\": $state}" >"$scratch/optim.json"
record_of 0.21.0 "{\"abcdefghi0000\": $state, \"0000000000000\": $state}" >"$scratch/other.json"
run verify "$scratch/model.json" "$scratch/optim.json"
status_is "states of a model's parameters, in either spelling of their ids" 0
check "a parameter without a state is noted" grep -q 'note: b: a parameter of .*model.json without a state here' "$scratch/err"
run verify "$scratch/optim.json" "$scratch/model.json"
check "in either order" grep -q 'note: b: a parameter without a state in .*optim.json' "$scratch/err"
run verify "$scratch/model.json" "$scratch/other.json"
status_is "a state without a parameter is a failure" 1
check "with its id" grep -q '0000000000000: the state of a parameter that is not in .*model.json' "$scratch/out"
run verify "$scratch/other.json" "$scratch/model.json"
check "in either order" grep -q '0000000000000: .*other.json has the state of a parameter that is not here' "$scratch/out"
run verify --json "$scratch/model.json" "$scratch/other.json"
answers "as JSON" '.files[1].problems' \
    "[{\"kind\":\"state\",\"key\":\"0000000000000\",\"text\":\"the state of a parameter that is not in $scratch/model.json\"}]"

finish
