/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a rank of record-mpi asks of the system and of MPI: preloaded by bench/mpi, which has it built. At the end each
 * rank appends a line to $BENCH_CALLS/RANK. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_llong opens, stats, maps, got, put, calls, sent;

/* What of a path counts: the model ($BENCH_IN is in it), and the file that is made ($BENCH_OUT, or a temporary one of
 * it). Taken at the beginning: MPI's threads call these while others change the environment. */
static char in[256], out[256];

__attribute__((constructor)) static void begin(void)
{
    const char *model = getenv("BENCH_IN"), *made = getenv("BENCH_OUT");
    (void)snprintf(in, sizeof in, "%s", model ? model : "?");
    (void)snprintf(out, sizeof out, "%s", made ? made : "?");
}

static int has(const char *path, const char *part)
{
    return path && *part && strstr(path, part) != NULL;
}

static int is(int fd, const char *part)
{
    char link[64], path[4096] = "";
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return readlink(link, path, sizeof path - 1) > 0 && has(path, part);
}

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* -------------------------------------------------------------------------------------------------- the system -- */

#define OPEN(name)                                                                \
    int name(const char *path, int flags, ...)                                    \
    {                                                                             \
        va_list more;                                                             \
        int mode;                                                                 \
        va_start(more, flags);                                                    \
        mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, int) : 0;           \
        va_end(more);                                                             \
        opens += has(path, in);                                                   \
        return ((int (*)(const char *, int, ...))next(#name))(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

#define STAT(name, type)                                                         \
    int name(const char *path, struct type *about)                               \
    {                                                                            \
        stats += has(path, in);                                                  \
        return ((int (*)(const char *, struct type *))next(#name))(path, about); \
    }
STAT(stat, stat)
STAT(stat64, stat64)

#define READ(name, offset_type)                                                                        \
    ssize_t name(int fd, void *target, size_t size, offset_type at)                                    \
    {                                                                                                  \
        ssize_t n = ((ssize_t(*)(int, void *, size_t, offset_type))next(#name))(fd, target, size, at); \
        got += n > 0 && is(fd, in) ? n : 0;                                                            \
        return n;                                                                                      \
    }
READ(pread, off_t)
READ(pread64, off64_t)

#define WRITE(name, offset_type)                                                                           \
    ssize_t name(int fd, const void *data, size_t size, offset_type at)                                    \
    {                                                                                                      \
        ssize_t n = ((ssize_t(*)(int, const void *, size_t, offset_type))next(#name))(fd, data, size, at); \
        put += n > 0 && is(fd, out) ? n : 0;                                                               \
        return n;                                                                                          \
    }
WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)

#define WRITE_PARTS(name, offset_type)                                                                            \
    ssize_t name(int fd, const struct iovec *parts, int count, offset_type at)                                    \
    {                                                                                                             \
        ssize_t n = ((ssize_t(*)(int, const struct iovec *, int, offset_type))next(#name))(fd, parts, count, at); \
        put += n > 0 && is(fd, out) ? n : 0;                                                                      \
        return n;                                                                                                 \
    }
WRITE_PARTS(pwritev, off_t)
WRITE_PARTS(pwritev64, off64_t)

ssize_t write(int fd, const void *data, size_t size)
{
    ssize_t n = ((ssize_t(*)(int, const void *, size_t))next("write"))(fd, data, size);
    put += n > 0 && is(fd, out) ? n : 0;
    return n;
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    ssize_t n = ((ssize_t(*)(int, const struct iovec *, int))next("writev"))(fd, parts, count);
    put += n > 0 && is(fd, out) ? n : 0;
    return n;
}

#define MAP(name, offset_type)                                                                                   \
    void *name(void *at, size_t size, int access, int flags, int fd, offset_type offset)                         \
    {                                                                                                            \
        maps += fd >= 0 && is(fd, in);                                                                           \
        return ((void *(*)(void *, size_t, int, int, int, offset_type))next(#name))(at, size, access, flags, fd, \
                                                                                    offset);                     \
    }
MAP(mmap, off_t)
MAP(mmap64, off64_t)

/* --------------------------------------------------------------------------------------------------------- MPI -- */

static void message(long long count, MPI_Datatype type)
{
    int size = 0;
    (void)MPI_Type_size(type, &size);
    calls++;
    sent += count * size;
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    message(count, type);
    return PMPI_Allreduce(from, to, count, type, op, comm);
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    message(count, type);
    return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Gather(const void *from, int count, MPI_Datatype type, void *to, int each, MPI_Datatype other, int root,
               MPI_Comm comm)
{
    message(count, type);
    return PMPI_Gather(from, count, type, to, each, other, root, comm);
}

int MPI_Gatherv(const void *from, int count, MPI_Datatype type, void *to, const int *each, const int *places,
                MPI_Datatype other, int root, MPI_Comm comm)
{
    message(count, type);
    return PMPI_Gatherv(from, count, type, to, each, places, other, root, comm);
}

int MPI_Allgatherv(const void *from, int count, MPI_Datatype type, void *to, const int *each, const int *places,
                   MPI_Datatype other, MPI_Comm comm)
{
    message(from == MPI_IN_PLACE ? 0 : count, type);
    return PMPI_Allgatherv(from, count, type, to, each, places, other, comm);
}

int MPI_Exscan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    message(count, type);
    return PMPI_Exscan(from, to, count, type, op, comm);
}

int MPI_Barrier(MPI_Comm comm)
{
    calls++;
    return PMPI_Barrier(comm);
}

int MPI_Finalize(void)
{
    struct rusage used;
    char path[4096];
    int rank = 0;
    FILE *file;
    (void)PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)snprintf(path, sizeof path, "%s/%d", getenv("BENCH_CALLS"), rank);
    (void)getrusage(RUSAGE_SELF, &used);
    file = fopen(path, "w");
    if (!file ||
        fprintf(file, "%lld %lld %lld %lld %lld %lld %lld %ld\n", atomic_load(&opens), atomic_load(&stats),
                atomic_load(&maps), atomic_load(&got), atomic_load(&put), atomic_load(&calls), atomic_load(&sent),
                used.ru_maxrss) < 0 ||
        fclose(file) != 0) {
        abort();
    }
    return PMPI_Finalize();
}
