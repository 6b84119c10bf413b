#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record-mpi convert --resume: a conversion that was killed is gone on with, by other ranks, and what is left of another, or was damaged,
# is not taken. And --check: what is written is read back.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/mpi/mpi.sh
. "${srcdir:=.}/tests/mpi/mpi.sh"

# Twelve tensors of 2 MiB, as many rows as columns so that turned they have the same layout; some values are too large for f16.
make_input() { # FILE SEED
    python3 - "$1" "$2" <<'END_OF_PYTHON'
import json, struct, sys
name, seed = sys.argv[1], int(sys.argv[2])
header, data, each = {}, 0, 724 * 724 * 4
for i in range(12):
    header["layers.%d.weight" % i] = {"dtype": "F32", "shape": [724, 724], "data_offsets": [data, data + each]}
    data += each
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(name, "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text)
    for i in range(12):
        f.write(struct.pack("<524176f", *range(seed + i, seed + i + 524176)))
END_OF_PYTHON
}
make_input in.safetensors 0 || exit 99
"$record" convert -qy --adapter none in.safetensors full.mpk || exit 99
"$record" convert -qy --module 'layers.* => Linear' in.safetensors turned.mpk || exit 99
"$record" convert -y --precision half --adapter none in.safetensors half.mpk >out 2>half.err || exit 99
check "some values are lost" grep -q 'became infinite' half.err
echo old >old

# A rank that is killed when it has written so many pages about pieces: $KILLED_AT.
cat >killed.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>
#define WRITE(name, type)                                                                                              \
    ssize_t name(int fd, const void *data, size_t size, type at)                                                       \
    {                                                                                                                  \
        static int pages;                                                                                              \
        ssize_t n = ((ssize_t(*)(int, const void *, size_t, type))dlsym(RTLD_NEXT, #name))(fd, data, size, at);        \
        if (size == 4096 && at > 4096 && ++pages == atoi(getenv("KILLED_AT"))) {                                       \
            (void)kill(getpid(), SIGKILL);                                                                             \
        }                                                                                                              \
        return n;                                                                                                      \
    }
WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)
END
if ! ${CC:-cc} -shared -fPIC -o killed.so killed.c -ldl 2>"$scratch/err"; then
    skip "what was killed is gone on with" "no compiler makes a library here"
    finish
fi

KEPT_OF=out.mpk # what is made
# killed PAGES ARGUMENT...: by 3 ranks, of which one is killed when it has written so many
killed() {
    KILLED_AT=$1
    ON_RANK_1="LD_PRELOAD=$scratch/killed.so; export LD_PRELOAD"
    export KILLED_AT ON_RANK_1
    shift
    cp old "$KEPT_OF"
    rm -f ".$KEPT_OF.librecord-resume"
    timeout -k 60 600 "$mpirun" -n 3 ./apart "$record_mpi" convert -y --resume "$@" "$KEPT_OF" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    ranks_have_ended
    [ "$status" != 0 ] && cmp -s old "$KEPT_OF" && [ -s ".$KEPT_OF.librecord-resume" ]
}
# resumed NAME RANKS EXPECTED WORDS ARGUMENT...: what was left is gone on with: the bytes, and what is said of it
resumed() {
    resumed_name=$1 resumed_ranks=$2 resumed_file=$3 resumed_words=$4
    shift 4
    ranks "$resumed_ranks" convert -y --resume "$@" "$KEPT_OF"
    if [ "$status" = 0 ] && cmp "$KEPT_OF" "$resumed_file" 2>>"$scratch/err" && grep -q -e "$resumed_words" "$scratch/out" &&
        [ -z "$(find . -name '.*librecord*')" ]; then
        ok "$resumed_name"
    else
        { echo "status $status" && cat "$scratch/out" && ls -a; } >>"$scratch/err"
        not_ok "$resumed_name" "$scratch/err"
    fi
}
some='of that [1-9][0-9.]* [KM]iB were kept from an earlier conversion'
other="the partial output of another conversion was discarded"

rm -f out.mpk
resumed "nothing is left of an earlier one" 3 full.mpk '3 ranks: layout' --adapter none in.safetensors
check "nor is anything said of one" sh -c "! grep -q earlier '$scratch/out'"
for n in 1 2 3 4 7; do
    check "a rank is killed" killed 1 --adapter none in.safetensors
    resumed "$n ranks go on" "$n" full.mpk "$some" --adapter none in.safetensors
done
check "at half precision" killed 1 --precision half --adapter none in.safetensors
resumed "what is left has its losses" 2 half.mpk "$some" --precision half --adapter none in.safetensors
same "which are told as one process tells them" half.err "$scratch/err"
check "killed twice" killed 1 --adapter none in.safetensors
killed_once=$(wc -c <.out.mpk.librecord-resume)
timeout -k 60 600 "$mpirun" -n 3 ./apart "$record_mpi" convert -y --resume --adapter none in.safetensors out.mpk >"$scratch/out" 2>&1 </dev/null
ranks_have_ended
check "it is as long as it was" [ "$(wc -c <.out.mpk.librecord-resume)" = "$killed_once" ]
resumed "and gone on with" 2 full.mpk "$some" --adapter none in.safetensors
check "with what is checked" killed 1 --check --adapter none in.safetensors
resumed "it is checked, too" 2 full.mpk "$some" --check --adapter none in.safetensors
check "and says so" grep -q ', checked$' "$scratch/out"

# ------------------------------------------------------------------------------------------------------ what is another's

check "for another command" killed 1 --adapter none in.safetensors
resumed "all is made anew" 2 turned.mpk "$other" --module 'layers.* => Linear' in.safetensors
check "for another input" killed 1 --adapter none in.safetensors
make_input in.safetensors 5
"$record" convert -qy --adapter none in.safetensors later.mpk
resumed "all is made anew, too" 2 later.mpk "$other" --adapter none in.safetensors
make_input in.safetensors 0
echo '{"num_attention_heads": 4}' >config.json
check "with what says how it is built" killed 1 --adapter none in.safetensors
echo '{"num_attention_heads": 8}' >config.json
resumed "when that has changed" 2 full.mpk "$other" --adapter none in.safetensors
rm config.json

# Damage: of a piece, of what is known of it, of all.
cat >damage.py <<'END'
import random, struct, sys, zlib
path, what, total = ".out.mpk.librecord-resume", sys.argv[1], int(sys.argv[2])
data = bytearray(open(path, "rb").read())
pages = [at for at in range(total + 4096, len(data), 4096) if data[at + 16:at + 24] != b"\0" * 8]
assert pages
random.seed(3)
for at in pages:
    number = struct.unpack_from("<Q", data, at + 16)[0] - 1
    piece = struct.unpack_from("<Q", data, total + 48)[0]
    if what in ("piece", "forged"):
        data[number * piece + 1000] ^= 1
        print(number * piece + 1000)
    if what == "forged": # sums and all: only who makes it again can see that
        some = bytes(data[number * piece:min((number + 1) * piece, total)])
        struct.pack_into("<II", data, at, zlib.crc32(some), zlib.adler32(some))
        struct.pack_into("<I", data, at + 12, 0)
        struct.pack_into("<I", data, at + 12, zlib.crc32(bytes(data[at:at + 4096])))
    if what == "page":
        data[at + random.randrange(24)] ^= 1 << random.randrange(8)
    if what == "losses": # of a length that no memory has
        struct.pack_into("<I", data, at + 8, 4000)
        data[at + 24:at + 4096] = b"\xff" * 4072
        struct.pack_into("<I", data, at + 12, 0)
        struct.pack_into("<I", data, at + 12, zlib.crc32(bytes(data[at:at + 4096])))
if what == "head":
    data[total + 20] ^= 1
if what == "count":
    data[total + 56] ^= 0x40
if what == "cut":
    del data[total + 5000:]
if what == "short":
    del data[1000:]
if what == "random":
    data = bytearray(random.randbytes(len(data)))
open(path, "wb").write(data)
END
total=$(wc -c <full.mpk)
for what in piece page losses head count cut short random; do
    check "one that will be damaged ($what)" killed 1 --adapter none in.safetensors
    python3 damage.py "$what" "$total" >places || exit 99
    resumed "it is not taken" 2 full.mpk '2 ranks: layout' --adapter none in.safetensors
done
check "one that will be forged" killed 1 --adapter none in.safetensors
python3 damage.py forged "$total" >places || exit 99
ranks 2 convert -y --resume --adapter none in.safetensors out.mpk
status_is "what has its sums and is not what would be made" 2
sed -n "s/.*rank [01] (.*): out.mpk: byte \([0-9]*\): read back, it is not what was written: the partial output (.*out.mpk.librecord-resume) \
is of another save; save it without resuming.*/\1/p" "$scratch/err" >found
check "is told" [ "$(wc -l <found)" = 1 ]
check "with the byte" grep -qx -f found places
check "and the old file is as it was" cmp old out.mpk

# ------------------------------------------------------------------------------------------------------- what is refused

check "it is still there" [ -s .out.mpk.librecord-resume ]
python3 -c '
import fcntl, os, signal
fd = os.open(".out.mpk.librecord-resume", os.O_RDWR)
fcntl.flock(fd, fcntl.LOCK_EX)
open("locked", "w").close()
signal.pause()' &
holder=$!
wait_for test -e locked
ranks 2 convert -y --resume --adapter none in.safetensors out.mpk
status_is "two at once" 2
check "say so" grep -q "rank 0 (.*): out.mpk: another process resumes the partial output of an earlier save,  .out.mpk.librecord-resume" "$scratch/err"
ranks 2 convert -y --adapter none in.safetensors out.mpk
check "and who needs none leaves it alone" [ -e .out.mpk.librecord-resume ]
kill "$holder"
wait "$holder" 2>/dev/null
ranks 2 convert -y --adapter none in.safetensors out.mpk
check "but removes what nobody holds" [ ! -e .out.mpk.librecord-resume ]
check "and makes its own" cmp full.mpk out.mpk
check "one that is killed leaves some" killed 1 --adapter none in.safetensors
"$record" convert -qy --adapter none in.safetensors out.mpk
check "a save of one process removes it, too" [ ! -e .out.mpk.librecord-resume ]
ln -s elsewhere .out.mpk.librecord-resume
refused "a link in its place" "rank 0 (.*): out.mpk: cannot open the partial output of an earlier save" convert -y --resume --adapter none in.safetensors out.mpk
check "is not followed" [ ! -e elsewhere ]
rm .out.mpk.librecord-resume
mkfifo .out.mpk.librecord-resume
refused "nor a pipe" "rank 0 (.*): out.mpk: the partial output of an earlier save, .out.mpk.librecord-resume, is not a regular file" convert -y --resume --adapter none in.safetensors out.mpk
rm .out.mpk.librecord-resume
for to in gone.json gone.mpk.gz gone.pt; do
    refused "$to" "rank 0 (.*): $to: only one file whose tensors are plain bytes can be resumed, not a file that rank 0 writes alone" \
        convert -y --resume --adapter none in.safetensors $to
done
refused "several files" "rank 0 (.*): gone.safetensors: only one file .* can be resumed, not a model in several files" \
    convert -y --resume --adapter none --max-shard-size 5MB in.safetensors gone.safetensors
check "none of them is there" sh -c '! ls gone*'
refused "a folder" "resume is for convert to one file" convert -y --resume --recursive . elsewhere
refused "another command" "resume is for convert to one file" verify --resume in.safetensors
check "nothing is left of these" [ -z "$(find . -name '.*librecord*')" ]

# ---------------------------------------------------------------------------------------------------------------- --check

cat >flips.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
/* A disk that loses a bit of what is written into temporary files. */
static ssize_t after(int fd, ssize_t n, off_t at)
{
    char link[64], name[4096] = "", byte;
    FILE *file;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (n <= 5000 || readlink(link, name, sizeof name - 1) <= 0 || !strstr(name, "librecord-")) {
        return n;
    }
    file = fopen(link, "r+b");
    if (file && fseeko(file, at + 4000, SEEK_SET) == 0 && fread(&byte, 1, 1, file) == 1 && fseeko(file, at + 4000, SEEK_SET) == 0) {
        byte ^= 1;
        (void)fwrite(&byte, 1, 1, file);
    }
    if (file) {
        (void)fclose(file);
    }
    return n;
}
#define PIECE(name, data, count, type)                                                                                 \
    ssize_t name(int fd, data, count size, type at)                                                                    \
    {                                                                                                                  \
        return after(fd, ((ssize_t(*)(int, data, count, type))dlsym(RTLD_NEXT, #name))(fd, from, size, at), (off_t)at); \
    }
PIECE(pwrite, const void *from, size_t, off_t)
PIECE(pwrite64, const void *from, size_t, off64_t)
PIECE(pwritev, const struct iovec *from, int, off_t)
PIECE(pwritev64, const struct iovec *from, int, off64_t)
ssize_t write(int fd, const void *data, size_t size)
{
    off_t at = lseek(fd, 0, SEEK_CUR);
    return after(fd, ((ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(fd, data, size), at);
}
END
mkdir one set
for to in out.mpk out.mpk.gz out.safetensors out.json out.pt; do
    "$record" convert -qy --adapter none in.safetensors one/"$to" || exit 99
    rm -f "$to"
    for n in 1 3; do
        ranks "$n" convert -y --check --adapter none in.safetensors "$to"
        check "$to by $n ranks is checked" grep -q ', checked$' "$scratch/out"
        check "and right" cmp one/"$to" "$to"
    done
done
ranks 3 convert -y --check --adapter none --max-shard-size 5MB in.safetensors set/out.safetensors
status_is "several files are checked" 0
if ${CC:-cc} -shared -fPIC -o flips.so flips.c -ldl 2>"$scratch/err"; then
    ON_RANK_1="LD_PRELOAD=$scratch/flips.so; export LD_PRELOAD"
    export ON_RANK_1
    # flipped ARGUMENT...: leaves $status, $scratch/err
    flipped() {
        timeout -k 60 600 "$mpirun" -n 3 ./apart "$record_mpi" convert -y --check --adapter none "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
        status=$?
    }
    for to in out.mpk out.safetensors; do
        cp old "$to"
        flipped in.safetensors "$to"
        status_is "a disk that loses a bit of $to" 2
        check "is found out" grep -q "rank 1 (.*): $to: byte [0-9]*: read back, it is not what was written" "$scratch/err"
        check "and the old file is as it was" cmp old "$to"
    done
    cp set/out.safetensors.index.json old.json
    flipped --max-shard-size 6MB in.safetensors set/out.safetensors
    status_is "and of one of several files" 2
    check "which is named" grep -q 'rank 1 (.*): .*out-.*safetensors: byte [0-9]*: read back, it is not what was written' "$scratch/err"
    check "the old ones are there" cmp old.json set/out.safetensors.index.json
else
    skip "a disk that loses a bit" "no compiler makes a library here"
fi
check "and nothing else" [ -z "$(find . -name '.*librecord*')" ]
finish
