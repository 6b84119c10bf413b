#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record-mpi convert while ranks are killed, a disk is full and a file of several is cut: the old file or the new one,
# whole; no hang; and the next save leaves no stray file. LIBRECORD_MPI_KILLS: how many are killed, 10 if it is not set, at
# calls from the first to the last of a save.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/mpi/mpi.sh
. "${srcdir:=.}/tests/mpi/mpi.sh"

python3 - <<'END' || exit 99
import json, os, struct
header, data = {}, 0
for i in range(12):
    header["layers.%d.weight" % i] = {"dtype": "F32", "shape": [1024, 512], "data_offsets": [data, data + 2097152]}
    data += 2097152
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open("in.safetensors", "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text)
    block = struct.pack("<65536f", *range(65536)) * 8
    for i in range(12):
        f.write(block)
END

# ------------------------------------------------------------------------------------------------------- ranks are killed

# Counts a rank's calls that open, read, write, sync, rename and close files, and kills it before the one that KILL_AT has.
cat >kill.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
static atomic_long calls;
static long begun; /* the call that opened the input first */
static void count(void)
{
    const char *at = getenv("KILL_AT");
    if (atomic_fetch_add(&calls, 1) + 1 == (at ? atol(at) : 0)) {
        FILE *file = fopen("was-killed", "w");
        if (file) {
            (void)fclose(file);
        }
        (void)kill(getpid(), SIGKILL);
    }
}
__attribute__((destructor)) static void tell(void)
{
    const char *rank = getenv("COUNTED_RANK");
    char name[64];
    FILE *file;
    if (rank && snprintf(name, sizeof name, "calls.%s", rank) > 0 && (file = fopen(name, "w"))) {
        (void)fprintf(file, "%ld %ld\n", begun, atomic_load(&calls));
        (void)fclose(file);
    }
}
#define COUNT(type, name, parameters, arguments)                        \
    type name parameters                                                \
    {                                                                   \
        type(*real) parameters = (type(*) parameters)dlsym(RTLD_NEXT, #name); \
        count();                                                        \
        return real arguments;                                          \
    }
COUNT(ssize_t, pread, (int fd, void *data, size_t size, off_t at), (fd, data, size, at))
COUNT(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
COUNT(ssize_t, pwrite64, (int fd, const void *data, size_t size, off64_t at), (fd, data, size, at))
COUNT(ssize_t, writev, (int fd, const struct iovec *parts, int count_), (fd, parts, count_))
COUNT(int, fsync, (int fd), (fd))
COUNT(int, ftruncate, (int fd, off_t size), (fd, size))
COUNT(int, fchmod, (int fd, mode_t mode), (fd, mode))
COUNT(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
COUNT(int, close, (int fd), (fd))
#define OPEN(name, parameters, arguments)                                  \
    int name parameters                                                    \
    {                                                                      \
        int(*real) parameters = (int(*) parameters)dlsym(RTLD_NEXT, #name); \
        mode_t mode;                                                       \
        va_list more;                                                      \
        va_start(more, flags);                                             \
        mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0; \
        va_end(more);                                                      \
        count();                                                           \
        if (begun == 0 && strcmp(path, "in.safetensors") == 0) {           \
            begun = atomic_load(&calls);                                   \
        }                                                                  \
        return real arguments;                                             \
    }
OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, (int fd, const char *path, int flags, ...), (fd, path, flags, mode))
END
echo "the old file" >old
"$record" convert -qy --precision half --adapter none in.safetensors new.mpk || exit 99
cat >victim <<'END'
#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
if [ "$VICTIM" = all ] || [ "$VICTIM" = "$rank" ]; then
    COUNTED_RANK=$rank LD_PRELOAD=./kill.so
    export COUNTED_RANK LD_PRELOAD
fi
exec ./apart "$@"
END
chmod +x victim
# save: by four ranks, with $VICTIM and $KILL_AT; leaves $status, which is "hung" if mpirun did not end
save() {
    export VICTIM KILL_AT ON_RANK_1=
    echo hung >ended
    # shellcheck disable=SC2016 # the words of the other shell
    timeout -k 60 600 sh -c '"$@"; echo $? >ended' - "$mpirun" -n 4 ./victim \
        "$record_mpi" convert -y --precision half --adapter none in.safetensors out.mpk >said 2>&1 </dev/null
    status=$(cat ended)
    ranks_have_ended
}

if ${CC:-cc} -shared -fPIC -o kill.so kill.c -ldl 2>"$scratch/err"; then
    VICTIM=all KILL_AT=0
    save
    status_is "a save of which none is killed" 0
    killed=0 finished=0 strays=0 bad=0 round=0
    wanted=${LIBRECORD_MPI_KILLS:-10}
    # Each rank in turn: before the ranks meet, and at calls from the first that opens the input to the last.
    while [ "$round" -lt "$wanted" ]; do
        rm -f was-killed
        cp old out.mpk
        VICTIM=$((round % 4))
        read -r begun calls <"calls.$VICTIM"
        KILL_AT=1
        [ "$round" = 0 ] || KILL_AT=$((begun + (calls - begun) * (round - 1) / (wanted - 1)))
        round=$((round + 1))
        save
        [ ! -e was-killed ] || killed=$((killed + 1))
        if [ "$status" = hung ]; then
            echo "rank $VICTIM, call $KILL_AT: it hung" >>why
            bad=$((bad + 1))
        elif cmp -s out.mpk new.mpk; then
            finished=$((finished + 1))
        elif ! cmp -s out.mpk old || [ "$status" = 0 ]; then
            echo "rank $VICTIM, call $KILL_AT: status $status, and neither file is there" >>why
            bad=$((bad + 1))
        fi
        [ -z "$(find . -name '.out.mpk.*librecord*')" ] || strays=$((strays + 1))
    done
    echo "# $killed ranks were killed in $round saves, $finished saves were done all the same, $strays left a temporary file"
    if [ "$bad" = 0 ]; then
        ok "whatever is killed, one of both files is there"
    else
        not_ok "whatever is killed, one of both files is there" why
    fi
    check "all were killed but for a few" [ "$killed" -gt $((wanted * 8 / 10)) ]
    ranks 2 convert -y --precision half --adapter none in.safetensors out.mpk
    check "the next save is done" cmp out.mpk new.mpk
    check "and sweeps what was left" [ -z "$(find . -name '.out.mpk.*librecord*')" ]
else
    skip "ranks are killed" "no compiler makes a library here"
fi

# ----------------------------------------------------------------------------------------------------------- a full disk

mkdir small
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=1m none small 2>"$scratch/err"; then
    cp old small/out.mpk
    ranks 3 convert -y --precision half --adapter none in.safetensors small/out.mpk
    status_is "a full disk" 2
    check "is told with rank and file" grep -q "rank 0 (.*): small/out.mpk: .*No space left" "$scratch/err"
    check "the old file is there" cmp old small/out.mpk
    cp old small/out.mpk.gz
    ranks 3 convert -y --option level=0 --adapter none in.safetensors small/out.mpk.gz
    status_is "a full disk where rank 0 writes alone" 2
    check "is told with rank and file, too" grep -q "rank 0 (.*): small/out.mpk.gz: .*No space left" "$scratch/err"
    check "and its old file is there" cmp old small/out.mpk.gz
    rm small/out.mpk.gz
    check "and nothing else" [ "$(find small -type f | wc -l)" = 1 ]
    umount small
else
    skip "a full disk" "no small one can be mounted"
fi

# ----------------------------------------------------------------------------------------------- one of several files is cut

mkdir set
"$record" convert -qy --max-shard-size 10MB in.safetensors set/in.safetensors || exit 99
ranks 3 convert -y --precision half --adapter none set/in.safetensors.index.json many.mpk
"$record" convert -qy --precision half --adapter none set/in.safetensors.index.json one.mpk || exit 99
check "several files are read by all ranks" cmp one.mpk many.mpk
shard=$(find set -name '*00002*')
truncate -s 3000000 "$shard"
cp old out.mpk
ranks 3 convert -y --precision half --adapter none set/in.safetensors.index.json out.mpk
status_is "a file of several that was cut" 2
check "is named" grep -q "rank 0 (.*): .*$(basename "$shard")" "$scratch/err"
check "and the old file is as it was" cmp old out.mpk
finish
