#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Models in several files by many ranks: the files that record convert makes, byte for byte, under the same names; older sets are
# replaced as a whole; and what fails on one rank leaves the old set.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/mpi/mpi.sh
. "${srcdir:=.}/tests/mpi/mpi.sh"

python3 - <<'END' || exit 99
import json, random, struct
for name, seed in (("old", 1), ("in", 2)):
    random.seed(seed)
    header, data = {}, b""
    for i in range(17):
        shape = [23 + i, 61]
        raw = struct.pack("<%df" % (shape[0] * 61), *(random.choice((1e6, random.random(), -random.random()))
                                                      for _ in range(shape[0] * 61)))
        header["layers.%d.weight" % i] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    open(name + ".safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)
END
"$record" convert -q --adapter none in.safetensors in.mpk || exit 99

# ------------------------------------------------------------------------------------------------------- the same files

# What is in a folder, by names: letters that differ each time are taken out.
contents() {
    (cd "$1" && for c_file in *; do
        c_name=$(printf %s "$c_file" | sed "$2")
        printf '%s %s\n' "$c_name" "$(sed "$2" "$c_file" | cksum)"
    done | sort)
}
plain='s/x/x/' letters='s/-[a-z0-9]\{6\}-\([0-9]\{5\}-of\)/-\1/g'

# one NAME IN ARGUMENT...: what all counts of ranks make is what one process makes, over $old if there is one
old=''
one() {
    one_name=$1 one_in=$2
    shift 2
    rm -rf single
    mkdir single
    [ -z "$old" ] || cp "$old"/* single/
    if ! "$record" convert -y "$@" "$one_in" single/m.safetensors 2>single.err >said; then
        cat single.err
        return 1
    fi
    contents single "$same_but" >single.list
    for one_n in 1 2 3 4 7; do
        rm -rf many
        mkdir many
        [ -z "$old" ] || cp "$old"/* many/
        ranks "$one_n" convert -y "$@" "$one_in" many/m.safetensors
        if [ "$status" != 0 ]; then
            echo "$one_name: $one_n ranks: status $status"
            cat "$scratch/err"
            return 1
        fi
        contents many "$same_but" >many.list
        cmp single.list many.list || return 1
        diff single.err "$scratch/err" || return 1
        [ -z "$(find many -name '.*librecord*')" ] || return 1
        "$record" diff -q many/m.safetensors.index.json single/m.safetensors.index.json >said 2>&1 || return 1
    done
}
same_but=$plain
check "several files: 1, 2, 3, 4 and 7 ranks make the same ones" one several in.safetensors --max-shard-size 20KB
check "there are several" [ "$(find many -type f | wc -l)" -gt 5 ]
check "by an option of the recorder" one option in.safetensors --option max-shard-size=20KB
check "from a record" one record in.mpk --max-shard-size 30KB
check "a file for each tensor, and more than ranks" one each in.safetensors --max-shard-size 1KB
check "at half precision: what was lost is counted once" one half in.safetensors --max-shard-size 20KB --precision half
check "which there was" grep -q 'became infinite' single.err

mkdir older
"$record" convert -q --max-shard-size 25KB old.safetensors older/m.safetensors || exit 99
old=older same_but=$letters
check "over an older set, of other names" one over in.safetensors --max-shard-size 20KB
check "which is gone" [ -z "$(find many -name 'm-00001-of-*')" ]
rm -rf younger
cp -r many younger
old=younger
check "and over one with letters" one younger in.safetensors --max-shard-size 40KB
old=older same_but=$plain
check "with names that are kept" one kept in.safetensors --max-shard-size 25KB --keep-names
check "they are" [ -n "$(find many -name 'm-00001-of-*')" ]
old=''
rm -rf alone
mkdir alone
ranks 3 convert -y --max-shard-size 1GB in.safetensors alone/m.safetensors
status_is "a model that fits one file" 0
check "is one" [ "$(find alone -type f)" = alone/m.safetensors ]
"$record" convert -qy in.safetensors single.safetensors
check "the same" cmp single.safetensors alone/m.safetensors

# ---------------------------------------------------------------------------------------------------------- what goes wrong

# kept NAME WORDS: it failed in these words, once, and the older set is as it was
kept() {
    contents older "$plain" >older.list
    contents many "$plain" >many.list
    if [ "$status" != 0 ] && [ "$status" != 124 ] && { [ -z "$2" ] || [ "$(grep -c -e "$2" "$scratch/err")" = 1 ]; } &&
        cmp -s older.list many.list && { [ -z "$2" ] || [ -z "$(find . -name '.*librecord*')" ]; }; then
        ok "$1"
    else
        { echo "status $status"; diff older.list many.list; find . -name '.*librecord*'; } >>"$scratch/err"
        not_ok "$1" "$scratch/err"
    fi
}
# apart NAME WORDS COMMANDS: rank 1 of 3 does these first
apart() {
    ON_RANK_1=$3
    export ON_RANK_1
    rm -rf many
    cp -r older many
    timeout -k 60 600 "$mpirun" -n 3 "$scratch/apart" "$record_mpi" convert -y --max-shard-size 20KB in.safetensors many/m.safetensors \
        >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    ranks_have_ended
    kept "$1" "$2"
}
if make_full; then
    apart "a rank whose disk is full names the file" \
        "rank 1 (.*): many/m-[a-z0-9]*-[0-9]*-of-[0-9]*.safetensors: cannot write .* bytes at byte .* by MPI-IO" \
        "LD_PRELOAD=$scratch/full.so; export LD_PRELOAD"
    # What it may open for writing is what was made by others.
    cat >shut.c <<'END'
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static int shut(const char *path, int flags, int mode)
{
    if ((flags & O_ACCMODE) != O_RDONLY && strstr(path, "librecord-") && strstr(path, SHUT)) {
        errno = EACCES;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
#define OPEN(name)                          \
    int name(const char *path, int flags, ...) \
    {                                       \
        va_list more;                       \
        int mode = 0;                       \
        if (flags & (O_CREAT | O_TMPFILE)) { \
            va_start(more, flags);          \
            mode = va_arg(more, int);       \
            va_end(more);                   \
        }                                   \
        return shut(path, flags, mode);     \
    }
OPEN(open)
OPEN(open64)
END
    if ${CC:-cc} -shared -fPIC -D_GNU_SOURCE '-DSHUT="-00003."' -o shut.so shut.c 2>"$scratch/err"; then
        apart "a rank that cannot open its first file" \
            "rank 1 (.*): many/m-[a-z0-9]*-00003-of-.*: cannot open the temporary file .*-00003.*, which rank 0 made: Permission denied" \
            "LD_PRELOAD=$scratch/shut.so; export LD_PRELOAD"
    fi
    if ${CC:-cc} -shared -fPIC -D_GNU_SOURCE '-DSHUT="-00005."' -o later.so shut.c 2>"$scratch/err"; then
        apart "a rank that cannot open a later one" "rank 1 (.*): many/m-[a-z0-9]*-00005-of-.*: MPI cannot open the temporary file" \
            "LD_PRELOAD=$scratch/later.so; export LD_PRELOAD"
    fi
else
    skip "a rank whose disk is full" "no compiler makes a library here"
fi
apart "a rank that is killed" "" 'kill -9 $$'
ranks 2 convert -y --max-shard-size 20KB in.safetensors many/m.safetensors
status_is "the next save" 0
check "leaves nothing of that" [ -z "$(find . -name '.*librecord*')" ]
check "nor of the older set" [ "$(find many -type f | wc -l)" = "$(($(grep -o 'm-[^"]*' many/m.safetensors.index.json | sort -u | wc -l) + 1))" ]

rm -rf many
cp -r older many
mkfifo many/fifo.safetensors
ranks 3 convert -y --max-shard-size 20KB in.safetensors many/fifo.safetensors
rm many/fifo.safetensors
kept "a target that is not a file" "rank 0 (.*): many/fifo.safetensors: only regular files"
ranks 3 convert -y --max-shard-size 20KB in.safetensors many/m.safetensors.gz
kept "what is compressed has no files beside it" "rank 0 (.*): many/m.safetensors.gz: max-shard-size would make .* files"
"$record" convert -q --max-shard-size 20KB in.safetensors sound.safetensors || exit 99
truncate -s 9000 sound-00005-*
ranks 3 convert -y --max-shard-size 20KB sound.safetensors.index.json many/m.safetensors
kept "an input of several files of which one is cut" "rank 0 (.*): sound-00005-of-.*safetensors: "
mkdir small
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=180k none small 2>"$scratch/err"; then
    cp older/* small/ 2>/dev/null || rm -f small/*
    contents small "$plain" >small.list
    ranks 3 convert -y --max-shard-size 20KB in.safetensors small/m.safetensors
    status_is "a full disk" 2
    check "is told with rank and file" grep -q "rank 0 (.*): small/m-.*No space left" "$scratch/err"
    contents small "$plain" >after.list
    check "the old set is there" cmp small.list after.list
    check "and nothing else" [ -z "$(find small -name '.*librecord*')" ]
    umount small
else
    skip "a full disk" "no small one can be mounted"
fi
finish
