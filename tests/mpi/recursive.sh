#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record-mpi convert --recursive, and of several files into a folder: 1, 2, 3, 4 and 7 ranks leave the files, say the words and end
# with the status of record convert, each file by one of them.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/mpi/mpi.sh
. "${srcdir:=.}/tests/mpi/mpi.sh"

# A folder of records and of other things: Burn's and foreign ones, names that clash, a model in several files, a file without names,
# one that is cut, a link, a folder that is excluded, values that half precision does not hold.
data=$srcdir/tests/data
mkdir -p in/deep/er in/skipped in/set
python3 - <<'END' || exit 99
import json, random, struct
random.seed(23)
for name, count in (("in/a.safetensors", 700), ("in/deep/b.safetensors", 20000), ("in/deep/er/c.safetensors", 90), ("in/clash.safetensors", 64),
                    ("in/skipped/d.safetensors", 9), ("large.safetensors", 60000)):
    values = [random.choice((1e6, random.random())) for _ in range(count)]
    text = json.dumps({"fc.table": {"dtype": "F32", "shape": [count], "data_offsets": [0, 4 * count]}}).encode()
    text += b" " * (-len(text) % 8)
    open(name, "wb").write(struct.pack("<Q", len(text)) + text + struct.pack("<%df" % count, *values))
END
cp "$data"/burn/0.1[0-9].[0-9]/*.mpk in/ 2>/dev/null
cp "$data"/burn/0.14.0/*.bin in/deep/ 2>/dev/null
"$record" convert -qy --adapter none in/a.safetensors in/clash.mpk || exit 99
"$record" convert -qy --adapter none in/a.safetensors in/clash.json || exit 99
"$record" convert -qy --adapter none --max-shard-size 100k large.safetensors in/set/model.safetensors || exit 99
head -c 1000 in/a.safetensors >in/cut.safetensors
echo nothing >in/deep/readme.txt
ln -s a.safetensors in/link.safetensors
check "there is something to convert" [ "$(find in -type f | wc -l)" -gt 15 ]

# tree FOLDER: its files with what is in them
tree() {
    (cd "$1" 2>/dev/null && find . -type f -exec sha256sum {} + | sort -k 2)
    (cd "$1" 2>/dev/null && find . -type d | sort)
}

# alike NAME OUT ARGUMENT...: as record does it into the same folder, which is as "before" has it, or is not there
counts=3
alike() {
    alike_name=$1 alike_out=$2
    shift 2
    rm -rf "$alike_out"
    [ ! -d before ] || cp -Rp before "$alike_out"
    "$record" "$@" >expected 2>expected.err </dev/null
    alike_status=$?
    tree "$alike_out" >expected.tree
    grep -v '^  ' expected.err | sed 's/^record: //' >lines # perhaps none
    for alike_n in $counts; do
        rm -rf "$alike_out"
        [ ! -d before ] || cp -Rp before "$alike_out"
        ranks "$alike_n" "$@"
        tree "$alike_out" >found.tree
        if [ "$status" != "$alike_status" ] || ! cmp -s expected "$scratch/out" || ! cmp -s expected.tree found.tree; then
            {
                echo "$alike_n ranks: status $status, not $alike_status"
                diff expected "$scratch/out"
                diff expected.tree found.tree
            } >>"$scratch/err"
            not_ok "$alike_name" "$scratch/err"
            return
        fi
        # The lines in their order, among those of mpirun.
        grep -F -x -f expected.err "$scratch/err" >found.err
        if [ -s expected.err ] && ! cmp -s expected.err found.err; then
            diff expected.err found.err >>"$scratch/err"
            not_ok "$alike_name: what is said" "$scratch/err"
            return
        fi
    done
    ok "$alike_name"
}
counts="1 2 3 4 7"
alike "a folder" into convert --recursive --to mpk in into
check "some are converted, some skipped and some failed" [ "$alike_status" = 2 ]
check "more than ten" [ "$(wc -l <expected.tree)" -gt 10 ]
alike "to half precision, with notes" into convert -r --precision half --to mpk in into
check "there are notes" [ -s expected.err ]
counts=3
alike "in JSON" into convert -r --json --to bpk in into
alike "quietly" into convert -rq --to mpk.gz in into
alike "each in its own format" into convert -r --precision half in into
alike "in a dry run" into convert -r --dry-run --to mpk in into
check "which writes nothing" [ ! -e into ]
alike "read back" into convert -r --check --to mpk in into
check "each is" grep -q 'converted ([0-9]* checked)' expected
alike "some of them" into convert -r --include '*.safetensors' --exclude skipped --exclude 'cut*' --to mpk in into
check "those go well" [ "$alike_status" = 0 ]
alike "with types" into convert -r --include '*.bin' --type '*.bin=Linear' --to mpk in into
alike "with a wrong type" into convert -r --include '*.bin' --type '*.bin=none.rs:T' --to mpk in into
alike "with load arguments" into convert -r --prefix fc --to mpk in into
alike "with load arguments that are for none" into convert -r --include clash.mpk --prefix fc --to mpk in into
alike "into the folder itself" in/into convert -r --to mpk in in/into
mkdir before
"$record" convert -qy --adapter none large.safetensors before/a.mpk
echo kept >before/other
for policy in '' -y --no-clobber --skip-existing; do
    # shellcheck disable=SC2086 # options are words, or none
    alike "over what is there: ${policy:-no option}" into convert -r $policy --to mpk in into
done
rm -r before
alike "several files into a folder" into/ convert in/a.safetensors in/clash.mpk in/deep/b.safetensors in/clash.json into/ --to mpk
alike "one that is not there among them" into/ convert in/a.safetensors in/cut.safetensors into/ --to mpk
alike "of --recursive and a file" into convert -r in/a.safetensors into
alike "a folder that is not there" into convert -r gone into
alike "one folder into itself" none convert -r in in
rm -rf into

# ---------------------------------------------------------------------------------------------------------- what goes wrong

refused "what is for one output" "type-of gives the type of one record" convert -r --type-of large.safetensors in into
refused "three folders" "takes one directory to read and one to write" convert -r in in into
mkdir elsewhere
cp apart elsewhere
cp -Rp in elsewhere/in
one_apart "a rank that has another folder to write to" "rank 1 (.*): into: this is not the directory that rank 0 sees" 'cd elsewhere' convert \
    -r --to mpk in into
check "which stays as it is" [ ! -e elsewhere/into ]
check "as does that of the others" [ -z "$(find into -type f)" ]
rm -r into
printf x >>elsewhere/in/deep/b.safetensors
for file in in/a.safetensors in/clash.json in/deep/b.safetensors in/link.safetensors; do
    [ "$file" = in/deep/b.safetensors ] || rm "elsewhere/$file"
done
one_apart "a rank that sees another file" "rank 1 (.*): in/.*: this is not the file that rank 0 sees" 'cd elsewhere' convert \
    -r --include '*a.safetensors' --include '*b.safetensors' --include clash.json --to mpk in into
check "nothing is written then" [ ! -e into ]
finish
