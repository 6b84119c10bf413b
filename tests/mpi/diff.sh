#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record-mpi diff: 1, 2, 3, 4 and 7 ranks say what record diff says, to the letter, with its exit status; and what is wrong for one of
# them ends all.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/mpi/mpi.sh
. "${srcdir:=.}/tests/mpi/mpi.sh"

# Pairs of one piece and of many; sums that leave the range of a double; element types that differ; what was renamed, large and small,
# and constant; what lies the other way round; what is odd.
python3 - <<'END' || exit 99
import json, random, struct
def write(name, tensors):
    header, data = {}, b""
    for key, dtype, shape, raw in tensors:
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    open(name, "wb").write(struct.pack("<Q", len(text)) + text + data)
def numbers(seed, count):
    random.seed(seed)
    return [random.choice((1e3, 0.0, random.gauss(0, 1), random.gauss(3, 1e-3))) for _ in range(count)]
def f32(values):
    return struct.pack("<%df" % len(values), *values)
def changed(values, every):
    return [v + (1e-3 * v if i % every == 0 else 0) for i, v in enumerate(values)]
a, b = [], []
for i in range(30):
    v = numbers(i, 700 + i)
    a.append(("layers.%d.weight" % i, "F32", [len(v)], f32(v)))
    b.append(("layers.%d.weight" % i, "F32", [len(v)], f32(v if i % 3 else changed(v, i + 2))))
    a.append(("layers.%d.bias" % i, "F32", [7], f32(v[:7])))
    b.append(("layers.%d.bias" % i, "F32", [7], f32(v[:7])))
v = numbers(50, 650000)
a.append(("embed.weight", "F32", [1300, 500], f32(v)))
b.append(("embed.weight", "F32", [1300, 500], f32(changed(v, 777))))
a.append(("far.weight", "F64", [600000], struct.pack("<d", 1e300) * 300000 + struct.pack("<d", -2e300) * 300000))
b.append(("far.weight", "F64", [600000], struct.pack("<d", 1e300) * 299999 + struct.pack("<d", -2e300) * 300001))
a.append(("half.weight", "F32", [20000], f32(v[:20000])))
b.append(("half.weight", "F16", [20000], struct.pack("<20000e", *v[:20000])))
a.append(("old.name.weight", "F32", [300000], f32(v[1000:301000])))
b.append(("new.name.weight", "F32", [300000], f32(v[1000:301000])))
a.append(("old.name.bias", "F32", [9], f32([0.0] * 9)))
b.append(("new.name.bias", "F32", [9], f32([0.0] * 9)))
a.append(("turned.weight", "F32", [300, 200], f32(v[:60000])))
b.append(("turned.weight", "F32", [200, 300], f32([v[j * 200 + i] for i in range(200) for j in range(300)])))
a.append(("nearly.weight", "F32", [200, 300], f32(v[:60000])))
b.append(("nearly.weight", "F32", [300, 200], f32(v[:60000])))
a.append(("odd.weight", "F32", [5], f32([float("nan"), float("inf"), 1e-40, -0.0, 1.0])))
b.append(("odd.weight", "F32", [5], f32([float("nan"), 1.0, 2e-40, 0.0, float("nan")])))
a.append(("index", "I64", [3], struct.pack("<3q", -5, 0, 1 << 40)))
b.append(("index", "I64", [3], struct.pack("<3q", -5, 1, 1 << 41)))
a.append(("mask", "BOOL", [5], bytes((0, 1, 0, 1, 1))))
b.append(("mask", "BOOL", [5], bytes((0, 1, 1, 1, 0))))
a.append(("none.weight", "F32", [0, 3], b""))
b.append(("none.weight", "F32", [0, 3], b""))
a.append(("gone.weight", "F32", [3], f32([1, 2, 3])))
b.append(("come.weight", "F32", [4], f32([1, 2, 3, 4])))
write("a.safetensors", a)
write("b.safetensors", b)
END
"$record" convert -q --adapter none a.safetensors a.mpk || exit 99
"$record" convert -q --adapter none b.safetensors b.mpk.gz || exit 99

counts="1 2 3 4 7"
same_words "two that differ" diff a.safetensors b.safetensors
check "they do" [ "$words_status" = 1 ]
check "something was renamed" grep -q 'new.name.weight' expected
check "and something lies the other way round" grep -q transpose expected
same_words "in JSON, all of it" diff --json --all a.safetensors b.safetensors
same_words "two that do not" diff a.safetensors a.safetensors
check "they do not" [ "$words_status" = 0 ]
counts=3
for options in '--all' '--brief' '-q' '--atol 1e-2' '--rtol 1e-2 --all' '--ulp 4 --json' '--bits' '--nan-differs' '--ids --order' \
    '--by position' '--by id' '--ignore dtype,renamed' '--ignore data' '--ignore added --ignore removed,values'; do
    # shellcheck disable=SC2086 # options are words
    same_words "diff $options" diff $options a.safetensors b.safetensors
done
same_words "of other formats" diff a.mpk b.mpk.gz
same_words "in the other direction" diff --json b.safetensors a.mpk
same_words "quietly, of what is the same" diff -q a.safetensors a.mpk
same_words "without maps" diff --no-map a.safetensors b.safetensors
# Blocks of quantised numbers and records with other values than tensors, as the other tests have them.
data=$srcdir/tests/data
first='' second='' count=0
for file in "$data"/burn/*/*.mpk "$data"/gguf/*.gguf; do
    first=$second second=$file count=$((count + 1))
    [ -z "$first" ] || { [ $((count % 4)) != 0 ] && [ "${file##*.}" = mpk ]; } || same_words "$(basename "$first") and $(basename "$second")" diff "$first" "$second"
done
same_words "a file that is not there" diff a.mpk gone.mpk
same_words "nor the first" diff gone.mpk a.mpk
head -c 2000000 a.mpk >cut.mpk
same_words "one that was cut" diff a.mpk cut.mpk
same_words "a wrong word" diff --ignore nonsense a.mpk a.mpk

# ---------------------------------------------------------------------------------------------------------- what goes wrong

refused "standard input" "not by record-mpi: standard input" diff - a.mpk
refused "one alone" "expected record-mpi diff A B, found 1 operand" diff a.mpk
refused "a key that no tensor has" 'no key matches "a.mpk"' diff a.mpk a.mpk a.mpk
mkdir elsewhere
cp -p a.mpk a.safetensors elsewhere
cp a.mpk elsewhere/b.mpk
cp a.mpk b.mpk
printf x >>elsewhere/b.mpk
cp apart elsewhere
one_apart "a rank that sees another second file" "rank 1 (.*): b.mpk: .* bytes of .* here, .* on rank 0" 'cd elsewhere' diff a.mpk b.mpk
one_apart "that does not see it" "rank 1 (.*): cut.mpk: there is no such file here" 'cd elsewhere' diff a.mpk cut.mpk
if make_unread; then
    for file in b.safetensors a.safetensors; do
        one_apart "a rank that cannot read a part of what is compared with $file" "rank 1 (.*): .*a.safetensors: .*Input/output error" \
            "LD_PRELOAD=$scratch/unread.so; export LD_PRELOAD" diff --no-map a.safetensors $file
    done
    LD_PRELOAD=$scratch/unread.so
    export LD_PRELOAD
    ranks 3 diff --no-map a.safetensors b.safetensors
    status_is "what no rank can read" 2
    check "is told as by one" grep -q '^record: a.safetensors: byte .*: cannot read the file: Input/output error' "$scratch/err"
    unset LD_PRELOAD
else
    skip "a rank that cannot read a part" "no compiler makes a library here"
fi
finish
