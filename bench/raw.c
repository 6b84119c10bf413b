/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The limits: what the system and zlib need for the same bytes, with nothing around them. */
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "bench.h"

static volatile uint64_t used;

static const void *mapped(int fd, size_t size)
{
    void *view = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

    if (view == MAP_FAILED) {
        err(2, "mmap");
    }
    return view;
}

static void unmap(const void *view, size_t size)
{
    munmap((void *)(uintptr_t)view, size);
}

double raw_open(const char *path)
{
    double start = now();
    int fd = must_open(path, O_RDONLY);
    size_t size = file_size(fd);
    const void *view = mapped(fd, size);

    close(fd);
    unmap(view, size);
    return now() - start;
}

double raw_scan(const char *path)
{
    double start = now(), end;
    int fd = must_open(path, O_RDONLY);
    size_t size = file_size(fd);
    const void *view = mapped(fd, size);

    close(fd);
    used += sum_words(view, size);
    end = now();
    unmap(view, size);
    return end - start;
}

double raw_write(const model *m, const char *path, bool half)
{
    size_t piece = half ? LAYER_BYTES / 2 : LAYER_BYTES;
    double start = now(), end;
    int fd = must_open(path, O_WRONLY | O_CREAT | O_TRUNC);

    if (fallocate(fd, 0, 0, (off_t)(piece * m->count)) != 0) {
        err(2, "%s: fallocate", path);
    }
    for (size_t i = 0; i < m->count; i++) {
        if (write(fd, m->layers[i], piece) != (ssize_t)piece) {
            err(2, "%s: write", path);
        }
    }
    close(fd);
    end = now();
    return end - start;
}

typedef struct part {
    int fd;
    char *to;
    size_t from, size;
} part;

static void *read_part(void *argument)
{
    part *p = argument;
    size_t done = 0;

    while (done < p->size) {
        size_t want = p->size - done < INT_MAX / 2 ? p->size - done : INT_MAX / 2;
        ssize_t got = pread(p->fd, p->to + done, want, (off_t)(p->from + done));
        if (got <= 0) {
            err(2, "pread");
        }
        done += (size_t)got;
    }
    return NULL;
}

double raw_read(const char *path, unsigned threads)
{
    double start = now(), end;
    int fd = must_open(path, O_RDONLY);
    size_t size = file_size(fd), share = size / threads;
    char *memory = fresh_pages(size);
    pthread_t thread[8];
    part parts[8];

    for (unsigned i = 0; i < threads; i++) {
        size_t from = i * share;
        parts[i] = (part){fd, memory + from, from, i + 1 == threads ? size - from : share};
        if (i > 0 && pthread_create(&thread[i], NULL, read_part, &parts[i]) != 0) {
            err(2, "thread");
        }
    }
    read_part(&parts[0]);
    for (unsigned i = 1; i < threads; i++) {
        pthread_join(thread[i], NULL);
    }
    end = now();
    close(fd);
    munmap(memory, size);
    return end - start;
}

/* The last four bytes of a gzip file are its length: enough for files of our own below 4 GiB. */
static size_t inflated_size(const unsigned char *view, size_t size)
{
    const unsigned char *tail = view + size - 4;

    return (size_t)tail[0] | (size_t)tail[1] << 8 | (size_t)tail[2] << 16 | (size_t)tail[3] << 24;
}

double raw_inflate(const char *path)
{
    z_stream z = {0};
    double start = now(), end;
    int fd = must_open(path, O_RDONLY), status;
    size_t size = file_size(fd), room;
    const unsigned char *view = mapped(fd, size);
    unsigned char *memory;

    close(fd);
    room = inflated_size(view, size);
    memory = fresh_pages(room);
    if (inflateInit2(&z, 15 + 16) != Z_OK || size > UINT_MAX || room > UINT_MAX) {
        errx(2, "%s: cannot be inflated at once", path);
    }
    z.next_in = (unsigned char *)(uintptr_t)view;
    z.avail_in = (unsigned)size;
    z.next_out = memory;
    z.avail_out = (unsigned)room;
    status = inflate(&z, Z_FINISH);
    end = now();
    if (status != Z_STREAM_END) {
        errx(2, "%s: inflate: %d", path, status);
    }
    inflateEnd(&z);
    munmap(memory, room);
    unmap(view, size);
    return end - start;
}
