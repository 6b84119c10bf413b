#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The work of record-mpi is split: what each rank reads of the input is about its share, counted in bytes.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/mpi/mpi.sh
. "${srcdir:=.}/tests/mpi/mpi.sh"

# Counts what is read of *.safetensors: a number of 64 bits, reads.RANK, which is there though mpirun ends a rank that is not done.
cat >reads.c <<'END_OF_C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
static int64_t *counted;
__attribute__((constructor)) static void begin(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    char name[64];
    int fd;
    rank = rank ? rank : getenv("PMI_RANK");
    (void)snprintf(name, sizeof name, "reads.%s", rank ? rank : "");
    fd = rank ? open(name, O_RDWR | O_CREAT, 0644) : -1;
    if (fd >= 0 && ftruncate(fd, sizeof *counted) == 0) {
        counted = mmap(NULL, sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        counted = counted == MAP_FAILED ? NULL : counted;
    }
}
static ssize_t count(int fd, ssize_t got)
{
    char link[64], name[4096] = "";
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (counted && got > 0 && readlink(link, name, sizeof name - 1) > 0 && strstr(name, ".safetensors")) {
        __atomic_fetch_add(counted, (int64_t)got, __ATOMIC_RELAXED);
    }
    return got;
}
ssize_t read(int fd, void *to, size_t size) { return count(fd, syscall(SYS_read, fd, to, size)); }
ssize_t pread(int fd, void *to, size_t size, off_t at) { return count(fd, syscall(SYS_pread64, fd, to, size, at)); }
ssize_t pread64(int fd, void *to, size_t size, off_t at) { return count(fd, syscall(SYS_pread64, fd, to, size, at)); }
END_OF_C
if ! ${CC:-cc} -shared -fPIC -o reads.so reads.c 2>"$scratch/err"; then
    skip "what each rank reads" "no compiler makes a library here"
    finish
fi

# 40 tensors of 256 KiB and one of 22 MiB, as an embedding is; the other one has each a little different, has one under another
# name and one the other way round.
python3 - <<'END' || exit 99
import json, struct
shapes = [("embed.weight", (11264, 512))] + [("layers.%02d.weight" % i, (256, 256)) for i in range(40)]
block = struct.pack("<65536f", *range(65536))
def write(name, by, turned, renamed):
    header, data = {}, 0
    for key, shape in shapes:
        size = 4 * shape[0] * shape[1]
        if turned and key == "embed.weight":
            shape = (512, 11264)
        if renamed:
            key = "other." + key
        header[key] = {"dtype": "F32", "shape": shape, "data_offsets": [data, data + size]}
        data += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(name, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        f.write((struct.pack("<f", by) + block[4:]) * (data // len(block)))
write("a.safetensors", 0, False, False)
write("b.safetensors", 1, False, False)
write("renamed.safetensors", 0, False, True)
# All numbers alike, so that it is its own transpose.
block = struct.pack("<f", 1) * 65536
write("ones.safetensors", 1, False, False)
write("turned.safetensors", 1, True, False)
END
size=$(wc -c <a.safetensors)
mkdir folder
python3 - <<'END' || exit 99
import json, struct
text = json.dumps({"table": {"dtype": "F32", "shape": [262144], "data_offsets": [0, 1048576]}}).encode()
text += b" " * (-len(text) % 8)
for i in range(14):
    open("folder/%d.safetensors" % i, "wb").write(struct.pack("<Q", len(text)) + text + struct.pack("<f", i) * 262144)
END

# shared NAME LEAST BYTES ARGUMENT...: all ranks together read so many bytes at least; of several none more than its share of BYTES,
# a tenth and 2 MiB, which are headers, what files are compared by, and what is read ahead of a part
shared() {
    shared_name=$1 shared_least=$2 shared_bytes=$3
    shift 3
    for shared_n in 1 2 4 7; do
        rm -f reads.*[0-9]
        LD_PRELOAD=$scratch/reads.so timeout -k 60 600 "$mpirun" -n "$shared_n" "$record_mpi" "$@" >"$scratch/said" 2>"$scratch/err" </dev/null
        cat reads.*[0-9] | od -An -v -w8 -td8 >reads
        most=$(sort -n reads | tail -n 1 | tr -d ' ') all=$(awk '{ n += $1 } END { printf "%d", n }' reads)
        echo "# $shared_name, $shared_n ranks: $most of $shared_bytes bytes, all of them $all"
        if [ "$(wc -l <reads)" != "$shared_n" ] || [ "$all" -lt "$shared_least" ] ||
            { [ "$shared_n" != 1 ] && [ "$most" -gt $((shared_bytes * 11 / shared_n / 10 + 2097152)) ]; }; then
            not_ok "$shared_name, $shared_n ranks" "$scratch/err"
        else
            ok "$shared_name, $shared_n ranks"
        fi
    done
}
threads='--threads 1'
for command in "verify" "verify --nan --json" "stats --json"; do
    # shellcheck disable=SC2086 # words
    shared "$command" "$size" "$size" $command $threads --no-map a.safetensors
done
# shellcheck disable=SC2086
{
    shared "diff" $((2 * size)) $((2 * size)) diff $threads --no-map --atol 1 a.safetensors b.safetensors
    # It is read to be found, in parts of 8 MiB that cannot be split as evenly, and to be compared.
    shared "diff of what was renamed" $((2 * size)) $((5 * size)) diff $threads --no-map a.safetensors renamed.safetensors
    # Six panels of 8 MiB cannot be split as evenly.
    shared "diff of what lies the other way round" $((2 * size)) $((3 * size)) diff $threads --no-map ones.safetensors turned.safetensors
    for to in model.mpk model.bpk other.gguf; do
        shared "convert to $to" "$size" "$size" convert -qy $threads --no-map --adapter none a.safetensors $to
    done
    # What is saved is compared with what is read once more.
    shared "convert of a folder" $((14 << 20)) $((28 << 20)) convert -qy -r $threads --no-map --adapter none --to mpk folder into
    shared "convert, at half precision" "$size" "$size" convert -qy $threads --no-map --adapter none --precision half a.safetensors model.mpk
}
finish
