#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Single faults of the system as the command tells of them; scripts/faults tries them all.
# shellcheck disable=SC2016 # sh -c has words of its own
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"

# ------------------------------------------------------------------------------------------- saved, but not synced --

saved="saved, but cannot sync its directory: Input/output error"
# unsynced ARGUMENT...: as run, but the second fsync of each thread, that of a directory, fails
unsynced() {
    strace -qq -f -o "$scratch/calls" -e trace=fsync -e inject=fsync:error=EIO:when=2 \
        "$record" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
}

if command -v strace >/dev/null && strace -qq -o /dev/null true 2>/dev/null && [ -z "${SANITIZERS:-}" ]; then
    echo old >"$scratch/x.safetensors"
    "$record" convert 0.21.0/zoo-full.mpk "$scratch/good.safetensors" >/dev/null
    unsynced convert 0.21.0/zoo-full.mpk "$scratch/x.safetensors"
    status_is "a conversion that was saved but not synced has a status of its own" 3
    check "whose message begins with what is true" grep -qF "record: $scratch/x.safetensors: $saved" "$scratch/err"
    check "and says what that means" grep -q '^  Save again, or sync the directory: the new file is complete' "$scratch/err"
    check "the file is whole" cmp "$scratch/x.safetensors" "$scratch/good.safetensors"
    check "what was converted is told all the same" grep -q 'x.safetensors: [0-9]* tensors, ' "$scratch/out"
    check "nothing is left beside it" test -z "$(find "$scratch" -name '.*librecord-tmp')"
    unsynced convert --json 0.21.0/zoo-full.mpk "$scratch/x.safetensors"
    status_is "as JSON too" 3
    check "which is whole" grep -q '"out": ' "$scratch/out"

    cp 0.21.0/zoo-full.mpk "$scratch/edited.mpk"
    unsynced edit -i "$scratch/edited.mpk" meta note synced
    status_is "an edit has it, too" 3
    # shellcheck disable=SC2016 # the words of the other shell
    check "and is done" sh -c '"$1" info "$2" | grep -q synced' - "$record" "$scratch/edited.mpk"

    mkdir "$scratch/in"
    cp 0.21.0/zoo-full.mpk "$scratch/in/a.mpk"
    cp 0.21.0/zoo-full.mpk "$scratch/in/b.mpk"
    unsynced convert -r --to json "$scratch/in" "$scratch/out-of-many"
    status_is "so has a directory of which one file was not synced" 3
    check "which is named" grep -qF "record: $scratch/out-of-many/a.json: $saved" "$scratch/err"
    check "and converted" grep -q '^2 converted' "$scratch/out"

    # ------------------------------------------------------------------------------------------------------- a signal
    cp 0.21.0/zoo-full.mpk "$scratch/summed.mpk"
    strace -qq -f -o "$scratch/calls" -e trace=fsync -e inject=fsync:signal=TERM:when=1 \
        "$record" verify --sums write "$scratch/summed.mpk" >"$scratch/out" 2>"$scratch/err" </dev/null
    check "a signal leaves nothing of sums that are being written" test -z "$(find "$scratch" -name 'summed.mpk.sums*')"
    run verify --sums write "$scratch/summed.mpk"
    check "which can be written again" test -s "$scratch/summed.mpk.sums"

    unsynced convert --clamp "$scratch/no-such.mpk" "$scratch/x.safetensors"
    status_is "an error counts for more" 2
else
    skip "what is saved but not synced" "strace is not installed, may not trace, or this is built with sanitizers"
fi

# ------------------------------------------------------------------------------------- inputs that are cut meanwhile --

cd "$scratch" || exit 99
# A tensor of 40 MiB of which the file has nothing but its size.
make_input() {
    header='{"a":{"dtype":"F32","shape":[10485760],"data_offsets":[0,41943040]}}'
    rm -f cut.safetensors
    printf "\\$(printf %03o ${#header})\\0\\0\\0\\0\\0\\0\\0%s" "$header" >cut.safetensors
    truncate -s $((41943040 + 8 + ${#header})) cut.safetensors
}
mkfifo slow.mpk slow.out
told="record: cut.safetensors: the file was truncated while it was read"

# cut_at SIZE NAME FIFO ARGUMENT...: the input is cut when the first bytes have come out of the FIFO
cut_at() {
    size=$1
    name=$2
    fifo=$3
    shift 3
    make_input
    "$record" "$@" 2>err &
    {
        head -c 70000 >/dev/null
        truncate -s "$size" cut.safetensors
        cat >/dev/null
    } <"$fifo"
    if wait $!; then
        status=0
    else
        status=$?
    fi
    status_is "$name: an error" 2
    check "$name: it is told" grep -qxF "$told" err
}
cut_at 20000000 "a conversion that is cut" slow.mpk convert -q --adapter none cut.safetensors slow.mpk
cut_at 20000000 "one that makes other numbers" slow.mpk convert -q --precision half --adapter none cut.safetensors slow.mpk
cut_at 41943100 "a cut within the last page" slow.mpk convert -q --precision half --adapter none cut.safetensors slow.mpk
make_input
"$record" show --all cut.safetensors a >slow.out 2>err &
{
    head -c 70000 >/dev/null
    truncate -s 20000000 cut.safetensors
    cat >/dev/null
} <slow.out
wait $! && status=0 || status=$?
status_is "show of what is cut is an error" 2
check "which is told" grep -qxF "$told" err

# cut_when_mapped ARGUMENT...: cut.safetensors is cut when the command has mapped it
if command -v strace >/dev/null && strace -qq -o /dev/null true 2>/dev/null && [ -z "${SANITIZERS:-}" ]; then
    cut_when_mapped() {
        rm -f calls
        strace -f -qq -o calls -P cut.safetensors -e trace=mmap -e inject=mmap:signal=STOP:when=1 \
            "$record" "$@" >out 2>err &
        tracer=$!
        wait_for grep -q SIGSTOP calls
        truncate -s 100000 cut.safetensors
        child=$(awk '/SIGSTOP/ { print $1; exit }' calls)
        # More than once: the first may come before the tracer has let it stop.
        while [ -n "$child" ] && kill -CONT "$child" 2>/dev/null; do
            sleep 0.05
        done
        wait $tracer && status=0 || status=$?
    }
else
    cut_when_mapped() {
        "$record" "$@" >out 2>err &
        child=$!
        wait_for grep -q cut.safetensors "/proc/$child/maps"
        truncate -s 100000 cut.safetensors
        wait $child && status=0 || status=$?
    }
fi
# Large ones: addresses of 32 bits (the fifth byte of an ELF file is 1) reach less far.
elements=999900000
for file in "${top_builddir:-.}/.libs/librecord.so" "$record"; do
    if [ -e "$file" ]; then
        [ "$(od -An -tu1 -j4 -N1 "$file" | tr -d ' ')" != 1 ] || elements=400000000
        break
    fi
done
for command in "stats cut.safetensors" "stats --threads 1 cut.safetensors" "verify --nan cut.safetensors" \
    "convert -q --precision half --adapter none cut.safetensors old.mpk"; do
    make_input
    header='{"a":{"dtype":"F32","shape":['$elements'],"data_offsets":[0,'$((4 * elements))']}}'
    printf "\\$(printf %03o ${#header})\\0\\0\\0\\0\\0\\0\\0%s" "$header" >cut.safetensors
    truncate -s $((4 * elements + 8 + ${#header})) cut.safetensors
    echo old >old.mpk
    # shellcheck disable=SC2086 # it is several words
    cut_when_mapped $command
    status_is "$command: a file that is cut is an error" 2
    check "$command: which is told" grep -qxF "$told" err
    check "$command: what was there stays" grep -qx old old.mpk
done
check "nothing else is left" test -z "$(find . -name '.*librecord-tmp')"

finish
