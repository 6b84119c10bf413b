#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record convert where files are there already, into folders, with a choice of files, and without writing.
# shellcheck disable=SC2317,SC2016 # functions that check() calls, and what the shell it calls expands
set -u
# shellcheck source=tests/cli/cost.sh
. "${srcdir:=.}/tests/cli/cost.sh"

tiny=0.21.0/tiny-full.mpk
half=0.21.0/tiny-half.mpk
out=$scratch/out.mpk
is_same() { # FILE FILE
    cmp -s "$1" "$2"
}

# --------------------------------------------------------------------------------------------------- what is there --

run convert $tiny "$out"
status_is "what is not there is written" 0
cp "$out" "$scratch/kept"
fails "--no-clobber: what is there is an error" convert --no-clobber $half "$out" <<END
record: $out exists
  Remove --no-clobber to overwrite it.
END
fails "also where the extension is appended" convert -n --to mpk $half "$scratch/out" <<END
record: $out exists
  Remove --no-clobber to overwrite it.
END
check "and is what it was" is_same "$out" "$scratch/kept"
run convert --no-clobber $half "$scratch/other.mpk"
status_is "--no-clobber: what is not there is written" 0
prints "--skip-existing: what is there is left, which is no error" convert --skip-existing $half "$out" <<END
$out exists: skipped
END
prints "--quiet says nothing of it" convert -q --skip-existing $half "$out" </dev/null
check "it is what it was" is_same "$out" "$scratch/kept"
run convert --skip-existing "$scratch/none.mpk" "$out"
status_is "what is skipped is not read" 0
run convert $half "$out"
status_is "without a terminal it is overwritten, as ever" 0
check "and is another one" sh -c '! cmp -s "$1" "$2"' - "$out" "$scratch/kept"
run convert --force $tiny "$out"
check "--force overwrites it" is_same "$out" "$scratch/kept"
fails "one of them is enough" convert --force --no-clobber $tiny "$out" <<END
record: --force and --no-clobber contradict each other
  record convert --help shows how it is used.
END
run convert --no-clobber --to mpk $tiny /dev/null
status_is "a device is not overwritten" 0

# A terminal, on which it is asked. ANSWER is what is typed.
if command -v python3 >/dev/null; then
    cat >"$scratch/terminal.py" <<'END'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
seen, answered = b"", False
while True:
    try:
        more = os.read(fd, 65536)
    except OSError:
        break
    if not more:
        break
    seen += more
    if not answered and seen.endswith(b"[a]ll: "):
        os.write(fd, sys.argv[1].encode().replace(b"^D", b"\x04"))
        answered = True
status = os.waitpid(pid, 0)[1]
sys.stdout.buffer.write(seen.replace(b"\r\n", b"\n"))
sys.exit(os.WEXITSTATUS(status))
END
    typed() { # ANSWER ARGUMENT...
        answer=$1
        shift
        python3 "$scratch/terminal.py" "$answer" "$record" "$@" >"$scratch/out" 2>&1
        status=$?
    }
    typed "n
" convert $half "$out"
    status_is "it is asked, and no is status 1" 1
    check "the question says what is there" grep -qF "$out exists (346 bytes). Overwrite it? [y]es, [N]o, [a]ll: " "$scratch/out"
    check "no leaves it as it is" is_same "$out" "$scratch/kept"
    typed "
" convert $half "$out"
    status_is "an empty line is no" 1
    typed "^D" convert $half "$out"
    status_is "the end of the input is no" 1
    check "it is still there" is_same "$out" "$scratch/kept"
    typed "y
" convert $half "$out"
    status_is "yes is yes" 0
    check "it was overwritten" sh -c '! cmp -s "$1" "$2"' - "$out" "$scratch/kept"
    typed "n
" convert -y $tiny "$out"
    check "-y is no question" sh -c '! grep -q Overwrite "$1"' - "$scratch/out"
    check "it overwrites" is_same "$out" "$scratch/kept"
    typed "$(printf '%0100d' 0 | tr 0 n)
" convert $half "$out"
    status_is "a long line that begins with an n is no" 1
    typed "Yes, all of it
" convert $half "$out"
    status_is "a word that begins with a large y is yes" 0
    cp "$out" "$scratch/kept"
    mkdir "$scratch/from" "$scratch/both"
    cp $half "$scratch/from/a.mpk"
    cp $half "$scratch/from/b.mpk"
    cp $tiny "$scratch/both/a.mpk"
    cp $tiny "$scratch/both/b.mpk"
    typed "A
" convert "$scratch/from/a.mpk" "$scratch/from/b.mpk" "$scratch/both/"
    status_is "all is yes for each file" 0
    check "which is asked once" [ "$(grep -c 'Overwrite it?' "$scratch/out")" = 1 ]
    check "and they were overwritten" sh -c 'cmp -s "$1/a.mpk" "$2" && cmp -s "$1/b.mpk" "$2"' - "$scratch/both" $half
    "$record" convert -q --max-shard-size 30 $tiny "$scratch/several.safetensors"
    typed "n
" convert --max-shard-size 30 $half "$scratch/several.safetensors"
    status_is "a model in several files is there, too" 1
    check "its index is what is asked for" grep -qF \
        "$scratch/several.safetensors.index.json exists. Overwrite it and remove the files that it names?" "$scratch/out"
    typed "y
" convert -q --max-shard-size 30 $half "$scratch/several.safetensors"
    status_is "and is overwritten" 0
else
    skip "the question" "python3 is not installed"
fi

# --------------------------------------------------------------------------------------------------------- dry runs --

prints "--dry-run does all but write" convert --dry-run $tiny "$scratch/dry.mpk" <<END
$tiny (Burn 0.21.0, full) -> $scratch/dry.mpk: 2 tensors, $("$record" convert -q --to mpk $tiny - | wc -c) bytes; a dry run, nothing was written
END
check "there is nothing" [ ! -e "$scratch/dry.mpk" ]
run convert --dry-run --no-clobber $half "$out"
status_is "a file that is there is an error then, too" 2
run convert --dry-run --burn 0.99 $half "$scratch/dry.mpk"
status_is "so is what cannot be written" 2
run convert --dry-run "$scratch/none.mpk" "$scratch/dry.mpk"
status_is "and what is not there" 2
head -c 200 $tiny >"$scratch/cut.mpk"
run convert --dry-run "$scratch/cut.mpk" "$scratch/dry.mpk"
status_is "and what is cut" 2
check "nothing came of all that" [ ! -e "$scratch/dry.mpk" ]
# 1 GB, nothing of which is on the disk, nor then.
printf '\170\000\000\000\000\000\000\000%-120s' '{"w":{"dtype":"F32","shape":[16384,16384],"data_offsets":[0,1073741824]}}' \
    >"$scratch/big.safetensors"
truncate -s $((128 + 1073741824)) "$scratch/big.safetensors"
run convert --dry-run "$scratch/big.safetensors" "$scratch/dry.mpk"
check "1 GB is tried without writing it" grep -q ': 1 tensor, 1.00 GiB; a dry run, nothing was written$' "$scratch/out"
peaks convert --dry-run "$scratch/big.safetensors" "$scratch/dry.mpk"
peak_is_below "in little memory" 32

# ----------------------------------------------------------------------------------------------------------- folders --

mkdir "$scratch/into"
run convert --to safetensors $tiny 0.18.0/mnist.mpk "$scratch/into"
status_is "into a directory each goes by itself" 0
cat >"$scratch/expected" <<END
mnist.safetensors
tiny-full.safetensors
END
ls "$scratch/into" >"$scratch/found"
same "under its own name" "$scratch/expected" "$scratch/found"
check "with a report" grep -q '^2 converted' "$scratch/out"
run convert $tiny "$scratch/new/below/"
check "a directory that is not there is made" is_same "$tiny" "$scratch/new/below/tiny-full.mpk"
run convert $tiny 0.21.0/tiny-full.mpk.gz --to mpk "$scratch/new/"
status_is "two of one name are an error" 2
check "that names the first" grep -q 'tiny-full.mpk was written from another file already' "$scratch/out"
run convert $tiny "$scratch/none.mpk" $half "$scratch/some/"
status_is "one that cannot be read is an error" 2
check "the others are converted" [ "$(find "$scratch/some" -name '*.mpk' | wc -l)" = 2 ]
fails "a file is not a directory" convert $tiny "$out/" <<END
record: $out: it is not a directory, which files could go into
END
run convert - "$scratch/into/"
status_is "standard input has no name" 2
run convert --base $tiny $half "$scratch/into/"
status_is "a base is for one output" 2
run convert -n $tiny "$scratch/new/below/"
status_is "--no-clobber holds there, too" 2
run convert --skip-existing $tiny $half "$scratch/new/below/"
status_is "so does --skip-existing" 0
check "what is not there is converted" grep -q '^1 converted (1 checked), 1 skipped, 0 failed$' "$scratch/out"
run convert --dry-run $tiny $half "$scratch/never/"
check "--dry-run makes no folder" [ ! -e "$scratch/never" ]
check "and says what would be" grep -q '^2 to be converted, 0 skipped, 0 failed; a dry run, nothing was written$' "$scratch/out"

mkdir -p "$scratch/in/old" "$scratch/in/b"
cp $tiny "$scratch/in/a.mpk"
cp $tiny "$scratch/in/old/c.mpk"
cp $half "$scratch/in/b/a.mpk"
cp 0.21.0/tiny-full.json "$scratch/in/a.json" 2>/dev/null || cp $tiny "$scratch/in/a2.mpk"
run convert -r --include '*.mpk' --exclude old "$scratch/in" "$scratch/chosen"
(cd "$scratch/chosen" && find . -type f | sort) >"$scratch/found"
check "--include and --exclude choose" [ "$(grep -c -e '^./a.mpk$' -e '^./b/a.mpk$' "$scratch/found")" = "$(grep -c . "$scratch/found")" ]
run convert -r -y --include '*.mpk' --include 'a.mkp' --type 'sched*=Noam' "$scratch/in" "$scratch/chosen"
check "a glob of --include that fits no file is a note" grep -q 'note: --include a\.mkp: no file has such a name' "$scratch/err"
check "so is one of --type" grep -q 'note: --type sched\*: no file has such a name' "$scratch/err"
check "other names match no file" [ "$(grep -c 'no file has such a name' "$scratch/err")" = 2 ]
mkdir "$scratch/steps"
cp $tiny "$scratch/steps/s-10.mpk"
cp $tiny "$scratch/steps/s-9.mpk"
run convert -r "$scratch/steps" "$scratch/chosen"
check "numbers in names count as numbers" [ "$(grep -o '^s-[0-9]*' "$scratch/out" | paste -sd ' ')" = 's-9 s-10' ]
fails "they are for folders" convert --include '*' $tiny "$out" <<END
record: --include and --exclude choose files of a directory: they need --recursive
  record convert --help shows how it is used.
END
# What is written is never read: the output lies in the directory, and is there from before.
run convert -r --to safetensors "$scratch/in" "$scratch/in/new"
run convert -r --to safetensors "$scratch/in" "$scratch/in/new"
check "an output in the directory is not read" [ ! -e "$scratch/in/new/new" ]
# The folder lies in the output: b/a.mpk would become in/b/a.mpk, and a.mpk take its place.
mkdir -p "$scratch/up/b"
cp $tiny "$scratch/up/b/a.mpk"
mkdir "$scratch/up/b/b"
cp $half "$scratch/up/b/b/a.mpk"
run convert -r "$scratch/up/b" "$scratch/up"
status_is "an input is not overwritten by another one" 2
check "which is said" grep -q 'it would replace a.mpk, which is converted too' "$scratch/out"
check "and is what it was" is_same "$scratch/up/b/a.mpk" $tiny

need_jq
run convert --json --skip-existing $half "$out"
answers "--json of what was skipped" '.result' '"skipped"'
run convert --json --dry-run $tiny "$scratch/dry.mpk"
answers "--json of a dry run" '[.dry_run, .tensors, .written, .checked]' '[true,2,346,false]'
run convert --json $tiny $half "$scratch/into"
answers "--json of files in a directory" '.in, (.files | map([.file, .result, .out]))' "null
[[\"$tiny\",\"converted\",\"tiny-full.mpk\"],[\"$half\",\"converted\",\"tiny-half.mpk\"]]"

finish
