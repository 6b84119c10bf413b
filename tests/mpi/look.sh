#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record-mpi verify and stats: 1, 2, 3, 4 and 7 ranks say what record says, to the letter, with its exit status; and what is wrong
# for one of them ends all.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/mpi/mpi.sh
. "${srcdir:=.}/tests/mpi/mpi.sh"

# -------------------------------------------------------------------------------------------------------------- the files

# Small tensors, one that all ranks measure, one whose values are so extreme that it is gone over again, and odd ones.
python3 - <<'END' || exit 99
import json, random, struct
random.seed(19)
def write(name, tensors):
    header, data = {}, b""
    for key, dtype, shape, raw in tensors:
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    open(name, "wb").write(struct.pack("<Q", len(text)) + text + data)
def floats(count):
    return struct.pack("<%df" % count, *(random.choice((1e6, 0.0, random.gauss(0, 1), random.gauss(3, 1e-3))) for _ in range(count)))
tensors = [("layers.%d.%s" % (i, k), "F32", [n], floats(n)) for i in range(40) for k, n in (("weight", 700 + i), ("bias", 7))]
tensors += [("embed.weight", "F32", [1300, 500], floats(650000)),
            ("far.weight", "F64", [600000], struct.pack("<d", 1e300) * 300000 + struct.pack("<d", -2e300) * 300000),
            ("near.weight", "F32", [700, 1000], struct.pack("<f", 1000.5) * 699999 + struct.pack("<f", 7)),
            ("odd.weight", "F32", [4], struct.pack("<4f", float("nan"), float("inf"), 1e-40, -0.0)),
            ("none.weight", "F32", [0, 3], b""), ("index", "I64", [3], struct.pack("<3q", -5, 0, 1 << 40)),
            ("mask", "BOOL", [5], bytes((0, 1, 2, 3, 1))),
            ("norm.running_var", "F32", [3], struct.pack("<3f", 1, -1, 2))]
write("odd.safetensors", tensors)
write("good.safetensors", tensors[:-2])
END
"$record" convert -q --adapter none good.safetensors good.mpk || exit 99
"$record" convert -q --adapter none good.safetensors good.mpk.gz || exit 99
head -c 3000000 good.mpk >cut.mpk
mkdir folder several
cp good.mpk cut.mpk folder
"$record" convert -qy --adapter none --max-shard-size 3MB good.safetensors several/model.safetensors || exit 99

counts="1 2 3 4 7"
same_words "verify a good file" verify good.mpk
same_words "verify one that fails, in JSON" verify --nan --json odd.safetensors
check "it fails" [ "$words_status" = 1 ]
same_words "stats" stats odd.safetensors
same_words "stats in JSON" stats --json odd.safetensors
counts=3
for file in good.safetensors good.mpk.gz several/model.safetensors.index.json; do
    same_words "verify $file" verify "$file"
    same_words "stats --json $file" stats --json "$file"
done
same_words "verify of several files, one of which is cut" verify good.mpk cut.mpk odd.safetensors
same_words "and in JSON" verify --json good.mpk cut.mpk odd.safetensors
same_words "verify of a folder" verify folder
same_words "stats of several files, one of which is cut" stats good.mpk cut.mpk odd.safetensors
same_words "stats of some keys" stats --all good.safetensors 'layers.{0-3}.*' embed.weight
same_words "and of keys that there are not" stats good.safetensors 'nothing.*'
same_words "a file that is not there" verify gone.mpk good.mpk
same_words "a file without tensors" stats "$srcdir/tests/cli/verify.sh"
for n in 1 3; do
    rm -f good.mpk.sums
    "$record" verify --sums write good.mpk >expected
    mv good.mpk.sums sums
    ranks "$n" verify --sums write good.mpk
    same "sums written by $n ranks" expected "$scratch/out"
    check "are the same" cmp sums good.mpk.sums
done
cp good.mpk alone.mpk
"$record" verify --sums write --in-metadata alone.mpk alone.mpk >expected
cp good.mpk many.mpk
ranks 3 verify --sums write --in-metadata many.mpk many.mpk
sed 's/alone/many/' expected >expected.many
same "sums in the metadata, of a file that is named twice" expected.many "$scratch/out"
check "are the same, too" cmp alone.mpk many.mpk
same_words "and are checked" verify --sums check --in-metadata many.mpk
mkdir many.bpk.sums
"$record" convert -q good.mpk many.bpk
same_words "sums that cannot be written" verify --sums write many.bpk
check "are an error" [ "$words_status" = 2 ]
same_words "sums are checked" verify --sums check good.mpk
sed 's/^./0/' sums >wrong.sums
same_words "and told when they are wrong" verify --sums check --sums-file wrong.sums good.mpk

# ---------------------------------------------------------------------------------------------------------- what goes wrong

refused "standard input" "not by record-mpi: standard input" verify -
refused "nothing to look at" "expected record-mpi stats FILE" stats
refused "an option that there is not" "unknown option" verify --nonsense good.mpk

mkdir elsewhere elsewhere/folder
cp "$scratch/apart" elsewhere
cp -p good.mpk elsewhere
cp -p good.mpk elsewhere/folder
printf x >>elsewhere/good.mpk
for command in verify stats; do
    one_apart "$command: a rank that sees another file" "rank 1 (.*): good.mpk: .* bytes of .* here, .* on rank 0" 'cd elsewhere' \
        "$command" good.mpk
    one_apart "$command: that sees it not" "rank 1 (.*): cut.mpk: there is no such file here" 'cd elsewhere' "$command" cut.mpk
    one_apart "$command: that finds fewer files in a folder" "rank 1 (.*): the files found here differ from those of rank 0" \
        'cd elsewhere' "$command" folder
done
cp sums good.mpk.sums
cp -p good.mpk elsewhere
one_apart "a rank that has no sums" "rank 1 (.*): .*good.mpk.sums: cannot read the checksums" 'cd elsewhere' verify --sums check good.mpk
sed 's/^./0/' sums >elsewhere/good.mpk.sums
one_apart "a rank that has others" "rank 1 (.*): the files found here differ from those of rank 0" 'cd elsewhere' verify --sums check good.mpk
# Other plugins: one that is not there, one that rank 0 has not, one of another version.
here=$LIBRECORD_PLUGIN_PATH
mkdir fewer flat other
for plugin in "$here"/*.so; do
    case $plugin in
        */gguf.so) ;;
        *) ln -s "$plugin" fewer/ ;;
    esac
done
sed 's/\.version = "1\.0"/.version = "2.0"/' "$srcdir/examples/tutorial/flat.c" >other.c
${CC:-cc} -shared -fPIC -I "$srcdir/include" -o flat/flat.so "$srcdir/examples/tutorial/flat.c" 2>"$scratch/err" &&
    ${CC:-cc} -shared -fPIC -I "$srcdir/include" -o other/flat.so other.c 2>"$scratch/err"
compiled=$?
for command in "verify good.mpk" "stats good.mpk" "diff good.mpk good.mpk" "convert -y good.mpk copy.mpk"; do
    # shellcheck disable=SC2086 # operands are words
    one_apart "${command%% *}: a rank without a plugin" "rank 1 (.*): plugin Gguf .* on rank 0, which is not here" \
        "LIBRECORD_PLUGIN_PATH=$scratch/fewer; export LIBRECORD_PLUGIN_PATH" $command
    if [ "$compiled" != 0 ]; then
        skip "${command%% *}: a rank with another plugin" "no compiler makes a library here"
        continue
    fi
    # shellcheck disable=SC2086
    one_apart "${command%% *}: a rank with one more" "rank 1 (.*): plugin Flat 1.0 here, which rank 0 has not" \
        "LIBRECORD_PLUGIN_PATH=$here:$scratch/flat; export LIBRECORD_PLUGIN_PATH" $command
    LIBRECORD_PLUGIN_PATH=$here:$scratch/flat
    # shellcheck disable=SC2086
    one_apart "${command%% *}: a rank with another version of it" "rank 1 (.*): plugin Flat 2.0 here, plugin Flat 1.0 on rank 0" \
        "LIBRECORD_PLUGIN_PATH=$here:$scratch/other; export LIBRECORD_PLUGIN_PATH" $command
    LIBRECORD_PLUGIN_PATH=$here
done
check "nothing is written then" [ ! -e copy.mpk ]
if make_unread; then
    for command in verify stats; do
        one_apart "$command: a rank that cannot read a part" "rank 1 (.*): .*good.safetensors: .*Input/output error" \
            "LD_PRELOAD=$scratch/unread.so; export LD_PRELOAD" "$command" --no-map good.safetensors
    done
else
    skip "a rank that cannot read a part" "no compiler makes a library here"
fi
finish
