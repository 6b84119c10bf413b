#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Models in several files are saved as a whole: who is killed or fails on the way leaves the old set or the new one, two who
# save at once do not mix theirs, and who loads meanwhile finds one of them.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
cd "$scratch" || exit 99

# model FIRST: three tensors whose values begin there
model() {
    st_begin
    st_tensor a 4 4 "$1"
    st_tensor b 4 4 $(($1 + 10))
    st_tensor c 4 4 $(($1 + 20))
    st_end
}
model 0 >old.safetensors
model 100 >new.safetensors
model 200 >third.safetensors
mkdir whole
for each in old new third; do
    "$record" convert -q $each.safetensors whole/$each.safetensors
done

# save FILE FOLDER [ARGUMENT...]
save() {
    from=$1 to=$2
    shift 2
    "$record" convert -q --max-shard-size 16 "$@" "$from.safetensors" "$to/m.safetensors"
}

# holds FOLDER NAME...: by its index it is one of those, whole
holds() {
    holds_folder=$1
    shift
    "$record" convert -qy "$holds_folder/m.safetensors.index.json" found.safetensors 2>"$scratch/err" || return 1
    for holds_name; do
        if cmp -s found.safetensors "whole/$holds_name.safetensors"; then
            return 0
        fi
    done
    return 1
}

# files FOLDER: how many there are, hidden ones too
files() {
    find "$1" -type f | wc -l
}

# ---------------------------------------------------------------------------------------------------------------- names

mkdir m
save old m
check "a first set has the names as published" [ -e m/m-00001-of-00003.safetensors ]
check "it is whole" holds m old
save new m
check "another one over it is that" holds m new
check "its files have names of their own" \
    [ "$(find m -name 'm-??????-0000?-of-00003.safetensors' | wc -l)" = 3 ]
check "those of the old one are gone, and nothing else is there" [ "$(files m)" = 4 ]
save third m
check "and once more" holds m third
check "nothing is left" [ "$(files m)" = 4 ]
run convert -qy m third-by-folder.safetensors
check "the directory is the model" cmp third-by-folder.safetensors whole/third.safetensors
part=$(find m -name 'm-??????-00001-of-00003.safetensors')
run info "$part"
check "a file of it is known as a part" grep -q 'm.safetensors.index.json\|part 1 of a model' "$scratch/out" "$scratch/err"

# What is not of the old set stays, however alike its name is.
for other in m-latest-00001-of-00003.safetensors m-00001-of-00009.safetensors mm-00001-of-00003.safetensors \
    m-abcdef-00001-of-00003.safetensors .m.safetensors.abcdef.librecord-other notes.txt; do
    echo mine >"m/$other"
done
save old m
check "files that the old index did not name stay" [ "$(files m)" = 10 ]
check "as they were" [ "$(cat m/m-latest-00001-of-00003.safetensors m/m-00001-of-00009.safetensors m/notes.txt)" = "mine
mine
mine" ]
check "beside the new set" holds m old
rm -r m

mkdir m
save old m
chmod 600 m/*.safetensors
umask 022
save new m
check "what takes the place of private files is private" [ "$(find m -name '*of*' -perm 600 | wc -l)" = 3 ]
rm -r m

mkdir m
save old m
save new m --keep-names
check "--keep-names keeps the names" [ -e m/m-00003-of-00003.safetensors ]
check "with what is new" holds m new
check "and leaves nothing else" [ "$(files m)" = 4 ]
save third m
save new m --option keep-names=yes
check "the recorder's option does, too" [ -e m/m-00003-of-00003.safetensors ]
rm -r m

mkdir m
save old m
fails "--no-clobber sees the index" convert -n --max-shard-size 16 new.safetensors m/m.safetensors <<'END'
record: m/m.safetensors.index.json exists
  Remove --no-clobber to overwrite it.
END
fails "however the size is said" convert -n --option max-shard-size=16 new.safetensors m/m.safetensors <<'END'
record: m/m.safetensors.index.json exists
  Remove --no-clobber to overwrite it.
END
prints "--skip-existing, too" convert --skip-existing --max-shard-size 16 new.safetensors m/m.safetensors <<'END'
m/m.safetensors.index.json exists: skipped
END
check "the set is as it was" holds m old
# A set is written anew from itself.
run convert -q --max-shard-size 32 m m/m.safetensors
status_is "a set is divided anew in its place" 0
check "into two" [ "$(files m)" = 3 ]
check "with the same values" holds m old
rm -r m

# -------------------------------------------------------------------------------------------------------- kills, faults

if ! command -v strace >/dev/null || ! strace -qq -o /dev/null true 2>/dev/null || [ -n "${SANITIZERS:-}" ]; then
    skip "kills and failing calls" "strace is not installed, or may not trace"
    finish
fi

# injected WHAT FILE FOLDER [ARGUMENT...]: a save with a fault; status as it ended
injected() {
    what=$1
    shift
    from=$1 to=$2
    shift 2
    strace -f -qq -o calls -e trace="${what%%:*}" -e inject="$what" \
        "$record" convert -q --no-threads --max-shard-size 16 "$@" "$from.safetensors" "$to/m.safetensors" 2>said
}

# each FAULT NAME START STATES [ARGUMENT...]: a save of the new set into a copy of START with a fault at each of its calls;
# afterwards one of STATES is there, and the next save leaves nothing but its own
calls_tried="renameat2 unlinkat fsync fchmod"
each() {
    fault=$1 name=$2 start=$3 states=$4 bad='' runs=0
    shift 4
    for call in $calls_tried; do
        n=1
        while :; do
            rm -rf m
            cp -a "$start" m
            (injected "$call:$fault:when=$n" new m "$@") 2>/dev/null
            grep -q 'INJECTED\|killed by' calls || break
            runs=$((runs + 1))
            # shellcheck disable=SC2086 # states are words
            if ! { case $states in *none*) [ ! -e m/m.safetensors.index.json ] ;; *) false ;; esac; } &&
                ! holds m $states; then
                bad="$bad $call:$n"
            fi
            "$record" convert -q --max-shard-size 16 third.safetensors m/m.safetensors
            "$record" convert -q --max-shard-size 16 third.safetensors m/m.safetensors
            if ! holds m third || { [ "$states" = "old new" ] && [ "$(files m)" != 4 ]; }; then
                find m >"left-$call-$n"
                bad="$bad $call:$n:after"
            fi
            n=$((n + 1))
        done
    done
    echo "$runs faults, bad:$bad" >why
    echo "# $runs faults"
    if [ -z "$bad" ] && [ "$runs" -gt 4 ]; then
        ok "$name"
    else
        not_ok "$name" why
    fi
}

mkdir nothing first second
save old first
save new second
save old second
each signal=KILL "killed at each call of a first save: the set or none" nothing "none new"
each signal=KILL "killed at each call over a first set: the old one or the new one" first "old new"
each signal=KILL "killed at each call over a second set" second "old new"
each error=EIO "each call failing: the old one or the new one" second "old new"
calls_tried=renameat2
each error=EINVAL "a system without renameat2" second "old new"

# With --keep-names the index is taken away while there is a mix.
bad=
n=1
while :; do
    rm -rf m
    cp -a first m
    (injected "renameat:signal=KILL:when=$n" new m --keep-names) 2>/dev/null
    grep -q 'killed by' calls || break
    "$record" convert -qy m/m.safetensors.index.json found.safetensors 2>"$scratch/err" && ! holds m old new && bad="$bad $n"
    "$record" convert -qy m found.safetensors 2>"$scratch/err" && ! holds m old new && bad="$bad folder:$n"
    n=$((n + 1))
done
echo "$n:$bad" >why
if [ -z "$bad" ] && [ "$n" -gt 3 ]; then
    ok "killed between two renames with --keep-names: the model does not load, rather than mixed"
else
    not_ok "killed between two renames with --keep-names: the model does not load, rather than mixed" why
fi

# --------------------------------------------------------------------------------------------------- a load meanwhile

# stopped CALLS PART: a load that is stopped behind the first of these calls for the part, while another set is saved
stopped() {
    rm -rf m calls # those of the load before would name its process
    cp -a first m
    strace -f -qq -o calls -P "m/$2" -e trace="$1" -e inject="$1:signal=STOP:when=1" \
        "$record" convert -qy m/m.safetensors.index.json found.safetensors 2>said &
    tracer=$!
    wait_for grep -q SIGSTOP calls
    pid=$(awk '/SIGSTOP/ { print $1; exit }' calls)
    [ -n "$pid" ] || kill -KILL "$tracer" # or it would be waited for for ever
    save new m
    # More than once: the first may come before the tracer has let it stop.
    while [ -n "$pid" ] && kill -CONT "$pid" 2>/dev/null; do
        sleep 0.05
    done
    wait "$tracer" && [ -n "$pid" ] && cmp -s found.safetensors whole/new.safetensors
}
check "a file that goes away before it is looked for: the load begins again" \
    stopped openat m-00001-of-00003.safetensors
check "that goes away between the look and the open: too" \
    stopped '?stat,?newfstatat,?statx' m-00002-of-00003.safetensors
rm -rf m
cp -a first m
rm m/m-00002-of-00003.safetensors
run convert -q m/m.safetensors.index.json none.safetensors
status_is "a file that is not there is an error where nobody saved" 2
check "that names it" grep -qF 'm/m-00002-of-00003.safetensors: cannot open the file: No such file' "$scratch/err"

rm -rf m
cp -a first m
: >m/m.safetensors.index.json
fails "an index that is empty says what has happened" ls m <<'END'
record: m/m.safetensors.index.json: the index is empty
  A save that keeps the names of files (keep-names) was interrupted, or is under way: its files may be of two models. Save again.
END

# ------------------------------------------------------------------------------------------------------ several at once

rm -rf m
mkdir m
save old m
rounds=25
for each in new third; do
    (
        i=0
        while [ $i -lt $rounds ]; do
            save $each m --option sync=no || echo "$each" >>failed
            i=$((i + 1))
        done
        touch "done-$each"
    ) &
done
loads=0
mixed=0
while ! [ -e done-new ] || ! [ -e done-third ]; do
    holds m old new third || mixed=$((mixed + 1))
    loads=$((loads + 1))
done
wait
check "two save at once, and none fails" [ ! -e failed ]
check "who loads meanwhile finds one set, $loads times" [ "$mixed" = 0 ]
check "the last one is whole" holds m new third
check "and nothing of the others is left" [ "$(files m)" = 4 ]

# Two whose first set it is.
bad=0
for i in 1 2 3 4 5 6 7 8; do
    rm -rf m
    mkdir m
    save new m --option sync=no &
    save third m --option sync=no || bad=$((bad + 1))
    wait $! || bad=$((bad + 1))
    holds m new third || bad=$((bad + 1))
done
check "two make the first set at once, and one of them is there" [ "$bad" = 0 ]

finish
