#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Which files each rank of record-mpi opens and asks the system about: rank 0 looks at the headers of a model in several files for
# all, and the others open those alone that have bytes of their part.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/mpi/mpi.sh
. "${srcdir:=.}/tests/mpi/mpi.sh"

cat >calls.c <<'END_OF_C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static void note(const char *call, const char *path)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *last = strrchr(path, '/');
    char file[64], line[512];
    int fd, length;
    rank = rank ? rank : getenv("PMI_RANK");
    last = last ? last + 1 : path;
    if (!rank || !strstr(last, ".safetensors")) {
        return;
    }
    (void)snprintf(file, sizeof file, "calls.%s", rank);
    fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND, 0644);
    length = snprintf(line, sizeof line, "%s %s\n", call, last);
    if (fd < 0 || syscall(SYS_write, fd, line, (size_t)length) != length || close(fd) != 0) {
        abort();
    }
}
#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name);                \
        va_list more;                                                                                                  \
        int mode;                                                                                                      \
        va_start(more, flags);                                                                                         \
        mode = flags & O_CREAT ? va_arg(more, int) : 0;                                                                \
        va_end(more);                                                                                                  \
        note("open", path);                                                                                            \
        return next(path, flags, mode);                                                                                \
    }
OPEN(open)
OPEN(open64)
#define STAT(name, type)                                                                                               \
    int name(const char *path, struct type *is)                                                                        \
    {                                                                                                                  \
        int (*next)(const char *, struct type *) = (int (*)(const char *, struct type *))dlsym(RTLD_NEXT, #name);      \
        note("stat", path);                                                                                            \
        return next(path, is);                                                                                         \
    }
STAT(stat, stat)
STAT(stat64, stat64)
END_OF_C
if ! ${CC:-cc} -shared -fPIC -o calls.so calls.c -ldl 2>"$scratch/err"; then
    skip "what each rank opens" "no compiler makes a library here"
    finish
fi

python3 - <<'END' || exit 99
import json, os, struct
header, data = {}, 0
for i in range(24):
    header["layers.%02d.weight" % i] = {"dtype": "F32", "shape": [256, 256], "data_offsets": [data, data + 262144]}
    data += 262144
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open("in.safetensors", "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text)
    for i in range(24):
        f.write(struct.pack("<65536f", *range(i, i + 65536)))
END
mkdir set
"$record" convert -qy --max-shard-size 600kB in.safetensors set/in.safetensors || exit 99
shards=$(find set -name 'in-*' | wc -l)
check "the model is in twelve files" [ "$shards" = 12 ]

# counts RANKS ARGUMENT...: leaves calls.RANK
counts() {
    counts_n=$1
    shift
    rm -f calls.*[0-9]
    LD_PRELOAD=$scratch/calls.so timeout -k 60 600 "$mpirun" -n "$counts_n" "$record_mpi" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
}
# opened RANK, asked RANK: files of the model, each as often as that was done
opened() { grep -c '^open in-' "calls.$1"; }
asked() { grep -c '^stat in-' "calls.$1"; }

for n in 1 2 4 8; do
    counts "$n" convert -y --precision half --adapter none set/in.safetensors.index.json out.mpk
    status_is "$n ranks convert it" 0
    most=0 sum=0 rank=1
    while [ "$rank" -lt "$n" ]; do
        o=$(opened "$rank") a=$(asked "$rank")
        [ "$o" -le "$most" ] || most=$o
        sum=$((sum + o))
        [ "$a" = 0 ] || most=99
        rank=$((rank + 1))
    done
    echo "# $n ranks: rank 0 opened $(opened 0) files of the model, the others $sum, at most $most each"
    check "$n ranks: who looks at the headers opens each, and those of its part" [ "$(opened 0)" -le $((shards + shards / n + 2)) ]
    check "$n ranks: the others open those of their part, and ask about none" [ "$most" -le $((shards / n + 2)) ]
done
"$record" convert -qy --precision half --adapter none in.safetensors one.mpk
check "the file is right" cmp one.mpk out.mpk

# A file that a rank does not see, or sees another of, is told by who needs it.
cat >apart <<'END'
#!/bin/sh
if [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 1 ]; then
    cd elsewhere || exit 99
fi
exec "$@"
END
chmod +x apart
mkdir elsewhere
cp -a set elsewhere/
touch -d '2001-02-03 04:05:06 UTC' elsewhere/set/in-*00012-of-00012.safetensors
cp out.mpk old.mpk
convert_apart() {
    timeout -k 60 600 "$mpirun" -n 2 "$scratch/apart" "$record_mpi" convert -y --adapter none set/in.safetensors.index.json "$scratch/out.mpk" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
}
convert_apart
status_is "a rank that has another one of the files" 2
check "says so, with rank, host and file" grep -q 'rank 1 (.*): .*-00012-of-00012.*: this is not the file whose header was read: it has .* and is of 2001-02-03 04:05:06' "$scratch/err"
check "and the old file is as it was" cmp old.mpk out.mpk
rm elsewhere/set/in-*00012-of-00012.safetensors
convert_apart
status_is "and one that has none" 2
check "says so, too" grep -q 'rank 1 (.*): .*-00012-of-00012.*: cannot open the file: No such file' "$scratch/err"
check "and no stray files" [ -z "$(find . -name '.*librecord*')" ]

# Looking at it together is the same.
"$record" verify set/in.safetensors.index.json >expected
for n in 1 4; do
    counts "$n" verify set/in.safetensors.index.json
    status_is "$n ranks verify it" 0
    same "$n ranks say of it what one process says" expected "$scratch/out"
done
check "none but rank 0 asked about a file" [ "$(asked 1)$(asked 2)$(asked 3)" = 000 ]
finish
