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
# Large enough to be deflated in many pieces, some of noise and some not.
python3 - <<'END' || exit 99
import json, random, struct
random.seed(17)
noise, flat = random.randbytes(1300000), b"\0\0\200\077" * 400000
header = {"noise.weight": {"dtype": "F32", "shape": [1300, 250], "data_offsets": [0, 1300000]},
          "flat.weight": {"dtype": "F32", "shape": [400, 1000], "data_offsets": [1300000, 2900000]},
          "noise.bias": {"dtype": "F16", "shape": [650000], "data_offsets": [2900000, 4200000]}}
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
open("large.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + noise + flat + noise)
END
"$record" convert -q --adapter none large.safetensors large.mpk || exit 99
for to in model.mpk.gz model.safetensors.gz model.bpk.gz; do
    check "$to, large: in pieces of all ranks" one "$to" large.mpk "$to"
done
check "at another level" one level large.mpk model.mpk.gz --option level=1
check "at half precision, from another format" one half large.safetensors model.mpk.gz --precision half --adapter none
"$record" convert -y --precision half large.mpk single.mpk.gz 2>expected >out
ranks 3 convert -y --precision half large.mpk many.mpk.gz
same "losses of them are added up" expected "$scratch/err"
check "which there were" grep -q 'became infinite' expected
check "gzip reads it" gzip -t many.mpk.gz
for precision in half full double; do
    check "at $precision precision" one $precision in.mpk model.mpk --precision $precision
    check "at $precision precision, in another order" one $precision in.safetensors other.safetensors --precision $precision
done
check "for an older Burn" one older in.mpk model.mpk --burn 0.13
check "in JSON without spaces" one compact in.mpk model.json --option style=compact
check "in JSON at half precision" one half in.mpk model.json --precision half
check "in JSON from a foreign model" one foreign in.safetensors model.json
check "in JSON for an older Burn, with infinities" one older in.mpk model.json --burn 0.13 --precision half
check "in JSON, large" one large large.safetensors model.json --adapter none --precision half
check "and read back" one check large.safetensors model.json --adapter none --check
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
check "with sums of its data, large" one pt large.safetensors model.pt --adapter none
check "at half precision" one pt large.safetensors model.pt --adapter none --precision half
check "from a record, read back" one pt large.mpk model.pt --check
"$record" convert -y --precision half in.mpk single.json 2>expected >out
ranks 3 convert -y --precision half in.mpk many.json
same "losses in JSON are added up" expected "$scratch/err"
check "which there were" grep -q 'became infinite' expected
python3 - <<'END' || exit 99
import json, struct
data = struct.pack("<f", float("inf")) * 3 + struct.pack("<20000f", *range(20000)) + struct.pack("<f", float("nan"))
text = json.dumps({"w": {"dtype": "F32", "shape": [20004], "data_offsets": [0, len(data)]}}).encode()
text += b" " * (-len(text) % 8)
open("odd.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)
END
"$record" convert -y --adapter none --burn 0.13 odd.safetensors single.json 2>expected >out
ranks 3 convert -y --adapter none --burn 0.13 odd.safetensors many.json
same "and what JSON has no numbers for is counted once" expected "$scratch/err"
check "which there was" grep -q '4 numbers were written as null' expected
check "with the same bytes" cmp single.json many.json

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
refused "a file that is there already" "kept.mpk: it is there already" convert --no-clobber in.mpk kept.mpk
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
    cp kept kept.mpk.gz
    apart_in=large.mpk apart_to=kept.mpk.gz # each rank has some
    apart "and before the pieces of all are put together" "rank 1 (.*): kept.mpk.gz: .*cannot write: No space left" \
        "LD_PRELOAD=$scratch/full.so; export LD_PRELOAD"
    # What can be no file is refused before anything is compressed, which fails on rank 1.
    mkfifo pipe.mpk.gz
    apart_in=large.mpk apart_to=pipe.mpk.gz apart_old=''
    apart "a target that is no file" "rank 0 (.*): pipe.mpk.gz: " "LD_PRELOAD=$scratch/full.so; export LD_PRELOAD"
    check "it is still there" [ -p pipe.mpk.gz ]
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
