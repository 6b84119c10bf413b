#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record-mpi convert: 1, 2, 3, 4 and 7 ranks make the bytes that record convert makes, and what fails on one of them fails on
# all, with its rank, and leaves the old file.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/mpi/mpi.sh
. "${srcdir:=.}/tests/mpi/mpi.sh"

check "--version is said once" [ "$(grep -c librecord "$scratch/out")" = 1 ]

# --------------------------------------------------------------------------------------------------------- the same bytes

python3 - <<'END' || exit 99
import json, random, struct
random.seed(16)
header, data = {}, b""
for key, shape in (("embed.weight", (211, 67)), ("fc1.weight", (67, 129)), ("fc1.bias", (67,)), ("norm.weight", (67,)),
                   ("norm.bias", (67,)), ("fc2.weight", (5, 67)), ("fc2.bias", (5,))):
    count = 1
    for d in shape:
        count *= d
    # every third one is too large for a half
    raw = struct.pack("<%df" % count, *(random.choice((1e6, random.random(), -random.random())) for _ in range(count)))
    header[key] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
    data += raw
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
open("in.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)
END
"$record" convert -q in.safetensors in.mpk || exit 99

# one NAME IN OUT ARGUMENT...: what all counts of ranks make is what one process makes
one() {
    one_name=$1 one_in=$2 one_out=$3
    shift 3
    rm -rf single many
    mkdir single many
    if ! "$record" convert -qy "$@" "$one_in" "single/$one_out" 2>single.err; then
        cat single.err
        return 1
    fi
    for one_n in 1 2 3 4 7; do
        ranks "$one_n" convert -y "$@" "$one_in" "many/$one_out"
        if [ "$status" != 0 ]; then
            echo "$one_name: $one_n ranks: status $status"
            cat "$scratch/err"
            return 1
        fi
        cmp "single/$one_out" "many/$one_out" || return 1
        [ "$(find many -type f | wc -l)" = 1 ] || return 1
    done
}
for to in model.mpk model.json model.safetensors model.bpk model.mpk.gz model.json.gz model.pt model.npz; do
    case $to in
        *.pt | *.npz) set -- in.safetensors ;;
        *) set -- in.mpk ;;
    esac
    check "$to: 1, 2, 3, 4 and 7 ranks make the same bytes" one "$to" "$1" "$to"
done
check "from a foreign model, transposed" one foreign in.safetensors model.mpk
# alone OUT ARGUMENT...: what rank 0 writes alone has the words of record convert, after a note that says so
alone() {
    alone_out=$1
    shift
    "$record" convert -y "$@" "one.$alone_out" 2>expected >out || return
    ranks 3 convert -y "$@" "alone.$alone_out"
    [ "$status" = 0 ] && [ "$(head -n 1 "$scratch/err")" = "$alone_note" ] && sed 1d "$scratch/err" | diff expected - &&
        cmp "one.$alone_out" "alone.$alone_out" && grep -q '^  1 rank: ' "$scratch/out"
}
alone_note='record: note: written by rank 0 alone: only files whose tensors are plain bytes are written by all ranks'
for to in mpk.gz safetensors.gz json pt npz; do
    check ".$to is written by rank 0 alone" alone $to --adapter none in.safetensors
    check "and at half precision" alone $to --adapter none --precision half in.safetensors
    check "there are losses" grep -q 'became infinite' expected
done
check "so is .mpk for a Burn that had numbers" alone mpk --burn 0.13 in.mpk
check "and what is read back" alone json --check in.mpk
ranks 3 convert -qy in.mpk alone.json
check "quietly nothing is said" [ ! -s "$scratch/err" ]

for precision in half full double; do
    check "at $precision precision" one $precision in.mpk model.mpk --precision $precision
    check "at $precision precision, in another order" one $precision in.safetensors other.safetensors --precision $precision
done
check "for an older Burn" one older in.mpk model.mpk --burn 0.13
check "in JSON without spaces" one compact in.mpk model.json --option style=compact
# A plan's problems are a list, the same on all ranks.
python3 - <<'END' || exit 99
import json, struct
names = {f"layers.{i}.weight": {"dtype": "F32", "shape": [4, 5], "data_offsets": [80 * i, 80 * i + 80]} for i in range(3)}
text = json.dumps(names).encode()
text += b" " * (-len(text) % 8)
open("weights.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + bytes(240))
END
"$record" convert -y weights.safetensors single.mpk 2>expected >out
grep '^record: ' expected >refused
ranks 3 convert -y weights.safetensors many.mpk
status_is "a plan that cannot be is refused" 2
grep '^record: ' "$scratch/err" >found
check "in the words of record convert, once" cmp refused found
check "and nothing is written" [ ! -e many.mpk ]
# ------------------------------------------------------------------------------------------------------------ what is said

"$record" convert -y --precision half in.mpk single.mpk 2>expected >out
ranks 3 convert -y --precision half in.mpk many.mpk
same "losses are added up over the ranks" expected "$scratch/err"
rm -f many.mpk
"$record" convert -y --dry-run --precision half in.mpk many.mpk 2>expected.err >expected
ranks 3 convert -y --dry-run --precision half in.mpk many.mpk
same "a dry run tells how much it would be" expected "$scratch/out"
same "and what would be lost" expected.err "$scratch/err"
check "and writes nothing" [ ! -e many.mpk ]
"$record" convert -y --precision half in.safetensors single.safetensors 2>expected >out
ranks 3 convert -y --precision half in.safetensors many.safetensors
same "and not of what each of them makes" expected "$scratch/err"
check "there were some" grep -q 'became infinite' expected
ranks 2 convert -y in.mpk many.mpk
check "a report says how long it took" grep -q '^  2 ranks: layout .* written in ' "$scratch/out"
check "and who was slowest" grep -q '^  slowest: rank [01] (' "$scratch/out"
ranks 2 convert -y --hint cb_nodes=1 --hint=romio_cb_write=disable in.mpk many.mpk
status_is "hints for MPI-IO are taken" 0

# ---------------------------------------------------------------------------------------------------------- what goes wrong

echo old >kept.mpk
cp kept.mpk kept
# refused NAME WORDS ARGUMENT...: status 2, told once and in these words, and nothing is written
refused() {
    refused_name=$1 refused_words=$2
    shift 2
    ranks 3 "$@"
    if [ "$status" = 2 ] && [ "$(grep -c -e "$refused_words" "$scratch/err")" = 1 ] && cmp -s kept kept.mpk &&
        [ -z "$(find . -name '.*librecord*')" ]; then
        ok "$refused_name"
    else
        echo "status $status" >>"$scratch/err"
        not_ok "$refused_name" "$scratch/err"
    fi
}
refused "an input that is not there" "rank 0 (.*): gone.mpk: cannot open" convert -y gone.mpk kept.mpk
refused "an option that there is not" "unknown option" convert -y --nonsense in.mpk kept.mpk
refused "standard input" "not by record-mpi: standard input" convert -y - kept.mpk
refused "another command" "record-mpi has the commands convert, diff, verify and stats" ls in.mpk
refused "a hint without a value" "hint takes KEY=VALUE" convert -y --hint cb_nodes in.mpk kept.mpk
head -c 30000 in.safetensors >cut.safetensors
refused "an input that was cut off" "rank 0 (.*): cut.safetensors: " convert -y cut.safetensors kept.mpk
refused "a file that is there already" "kept.mpk exists" convert --no-clobber in.mpk kept.mpk
mkdir folder
refused "no folder to write to" "none/out.mpk: " convert in.mpk none/out.mpk

# One rank of three sees, has or does something else than the others.
# apart NAME WORDS COMMANDS: rank 1 does these first; $apart_old is what the target is afterwards
apart_old=kept
apart() {
    apart_name=$1 apart_words=$2
    ON_RANK_1=$3
    export ON_RANK_1
    timeout -k 60 600 "$mpirun" -n 3 ./apart "$record_mpi" convert -y "${apart_in:-in.mpk}" "${apart_to:-kept.mpk}" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    ranks_have_ended
    if [ "$status" != 0 ] && [ "$status" != 124 ] && { [ -z "$apart_words" ] || grep -q -e "$apart_words" "$scratch/err"; } &&
        { [ -z "$apart_old" ] || cmp -s "$apart_old" "${apart_to:-kept.mpk}"; }; then
        ok "$apart_name"
    else
        echo "status $status" >>"$scratch/err"
        not_ok "$apart_name" "$scratch/err"
    fi
}
mkdir elsewhere
"$record" convert -q --precision half in.mpk elsewhere/in.mpk
cp "$scratch/apart" "$scratch/in.safetensors" elsewhere/
apart "a rank that sees another file" "rank 1 (.*): in.mpk: .* bytes of .* here, .* on rank 0" 'cd elsewhere || exit 99'
rm elsewhere/in.mpk
apart "a rank that does not see it" "rank 1 (.*): in.mpk: there is no such file here" 'cd elsewhere || exit 99'
cp -p in.mpk elsewhere/
apart "a rank whose folder is another one" "rank 1 (.*): kept.mpk: cannot open the temporary file" 'cd elsewhere || exit 99'
# A disk that is full for one node alone.
if make_full; then
    apart "a rank whose disk is full" "rank 1 (.*): kept.mpk: cannot write .* bytes at byte .* by MPI-IO" \
        "LD_PRELOAD=$scratch/full.so; export LD_PRELOAD"
    # What can be no file is rejected before anything is written.
    mkfifo pipe.mpk
    apart_to=pipe.mpk apart_old=''
    apart "a target that is not a file" "rank 0 (.*): pipe.mpk: " "LD_PRELOAD=$scratch/full.so; export LD_PRELOAD"
    check "it is still there" [ -p pipe.mpk ]
    apart_in='' apart_to='' apart_old=kept
else
    skip "a rank whose disk is full" "no compiler makes a library here"
fi
apart "a rank that is killed" "" 'kill -9 $$'
check "nothing is left behind by ranks that told" [ -z "$(find . -name '.*librecord*')" ]
ranks 3 convert -y in.mpk kept.mpk
"$record" convert -qy in.mpk alone.mpk
check "after all of that it is converted" cmp alone.mpk kept.mpk
finish
