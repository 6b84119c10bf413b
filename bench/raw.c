/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The limits: what the system and zlib need for the same bytes, with nothing around them. And what is done before a
 * time: inputs read again or dropped from the page cache, memory warmed. */
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
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

/* ----------------------------------------------------------------------------------------- before an operation -- */

/* warm MIB: touches memory and gives it back. A virtual machine may have handed its free pages to its host, and the
 * next one to want them would pay ten times for each: everyone shall find them as warm as everyone else. */
static span warm(const model *m, char *const *words)
{
    size_t size = number_of(words[1], 1) << 20;
    char *memory = fresh_pages(size);

    (void)m;
    for (size_t i = 0; i < size; i += 4096) {
        memory[i] = 1;
    }
    munmap(memory, size);
    return (span){0};
}

/* The share of a file's pages that are in the page cache. */
static double resident(int fd, size_t size)
{
    size_t pages = (size + 4095) / 4096, there = 0;
    unsigned char *map = malloc(pages);
    const void *view = mapped(fd, size);

    if (!map || mincore((void *)(uintptr_t)view, size, map) != 0) {
        err(2, "mincore");
    }
    for (size_t i = 0; i < pages; i++) {
        there += map[i] & 1;
    }
    unmap(view, size);
    free(map);
    return (double)there / (double)pages;
}

/* again FILE: reads it, as kernels drop page cache that nobody touches; answers with the share that is resident then.
 */
static span again(const model *m, char *const *words)
{
    enum { PIECE = 1 << 20 };
    int fd = must_open(words[1], O_RDONLY);
    char *piece = malloc(PIECE);
    span found;

    (void)m;
    while (piece && read(fd, piece, PIECE) > 0) {
    }
    found = (span){resident(fd, file_size(fd)), 0};
    free(piece);
    close(fd);
    return found;
}

/* cold FILE: drops it from the page cache; answers with the share that is resident still. */
static span cold(const model *m, char *const *words)
{
    int fd = must_open(words[1], O_RDONLY);
    span found;

    (void)m;
    if (fsync(fd) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0) {
        err(2, "%s", words[1]);
    }
    found = (span){resident(fd, file_size(fd)), 0};
    close(fd);
    return found;
}

/* ------------------------------------------------------------------------------------------------------ limits -- */

/* raw-open FILE: open, map, unmap */
static span raw_open(const model *m, char *const *words)
{
    span start = begin();
    int fd = must_open(words[1], O_RDONLY);
    size_t size = file_size(fd);
    const void *view = mapped(fd, size);

    (void)m;
    close(fd);
    unmap(view, size);
    return since(start);
}

/* raw-scan FILE: map and read every byte */
static span raw_scan(const model *m, char *const *words)
{
    span start = begin(), took;
    int fd = must_open(words[1], O_RDONLY);
    size_t size = file_size(fd);
    const void *view = mapped(fd, size);

    (void)m;
    close(fd);
    used += sum_words(view, size);
    took = since(start);
    unmap(view, size);
    return took;
}

/* raw-write FILE [half] [durable]: fallocate and one write a layer; half as many bytes; fsync within the time */
static span raw_write(const model *m, char *const *words)
{
    const char *path = words[1];
    bool durable = has_word(words, "durable");
    size_t piece = has_word(words, "half") ? LAYER_BYTES / 2 : LAYER_BYTES;
    span start, took;
    int fd;

    (void)unlink(path);
    start = begin();
    fd = must_open(path, O_WRONLY | O_CREAT | O_TRUNC);
    if (fallocate(fd, 0, 0, (off_t)(piece * m->count)) != 0) {
        err(2, "%s: fallocate", path);
    }
    for (size_t i = 0; i < m->count; i++) {
        if (write(fd, m->layers[i], piece) != (ssize_t)piece) {
            err(2, "%s: write", path);
        }
    }
    if (durable && fsync(fd) != 0) {
        err(2, "%s: fsync", path);
    }
    close(fd);
    took = since(start);
    sync_file(path);
    return took;
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

/* raw-read FILE THREADS: pread into fresh pages */
static span raw_read(const model *m, char *const *words)
{
    span start = begin(), took;
    int fd = must_open(words[1], O_RDONLY);
    size_t threads = number_of(words[2], 1) % 8, size = file_size(fd), share = size / threads;
    char *memory = fresh_pages(size);
    pthread_t thread[8];
    part parts[8];

    (void)m;
    for (size_t i = 0; i < threads; i++) {
        size_t from = i * share;
        parts[i] = (part){fd, memory + from, from, i + 1 == threads ? size - from : share};
        if (i > 0 && pthread_create(&thread[i], NULL, read_part, &parts[i]) != 0) {
            err(2, "thread");
        }
    }
    read_part(&parts[0]);
    for (size_t i = 1; i < threads; i++) {
        pthread_join(thread[i], NULL);
    }
    took = since(start);
    close(fd);
    munmap(memory, size);
    return took;
}

/* raw-copy-memory FILE: map, memcpy into fresh pages */
static span raw_copy_memory(const model *m, char *const *words)
{
    span start = begin(), took;
    int fd = must_open(words[1], O_RDONLY);
    size_t size = file_size(fd);
    const void *view = mapped(fd, size);
    char *memory = fresh_pages(size);

    (void)m;
    close(fd);
    memcpy(memory, view, size);
    used += (uint64_t)memory[size / 2];
    took = since(start);
    munmap(memory, size);
    unmap(view, size);
    return took;
}

/* raw-copy-file FROM TO: read and write in turns, a MiB each */
static span raw_copy_file(const model *m, char *const *words)
{
    enum { PIECE = 1 << 20 };
    char *piece = malloc(PIECE);
    span start, took;
    int in, out;
    ssize_t got;

    (void)m;
    (void)unlink(words[2]);
    start = begin();
    in = must_open(words[1], O_RDONLY);
    out = must_open(words[2], O_WRONLY | O_CREAT | O_TRUNC);
    while ((got = read(in, piece, PIECE)) > 0) {
        if (write(out, piece, (size_t)got) != got) {
            err(2, "%s", words[2]);
        }
    }
    if (got < 0) {
        err(2, "%s", words[1]);
    }
    close(in);
    close(out);
    took = since(start);
    free(piece);
    sync_file(words[2]);
    return took;
}

/* The last four bytes of a gzip file are its length: enough for files of our own below 4 GiB. */
static size_t inflated_size(const unsigned char *view, size_t size)
{
    const unsigned char *tail = view + size - 4;

    return (size_t)tail[0] | (size_t)tail[1] << 8 | (size_t)tail[2] << 16 | (size_t)tail[3] << 24;
}

/* raw-inflate FILE: zlib alone, mapped file to fresh pages */
static span raw_inflate(const model *m, char *const *words)
{
    const char *path = words[1];
    z_stream z = {0};
    span start = begin(), took;
    int fd = must_open(path, O_RDONLY), status;
    size_t size = file_size(fd), room;
    const unsigned char *view = mapped(fd, size);
    unsigned char *memory;

    (void)m;
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
    took = since(start);
    if (status != Z_STREAM_END) {
        errx(2, "%s: inflate: %d", path, status);
    }
    inflateEnd(&z);
    munmap(memory, room);
    unmap(view, size);
    return took;
}

/* squeeze FILE TO: inflates a gzip file and writes what zlib's level 6 makes of it, for its size. */
static span squeeze(const model *m, char *const *words)
{
    enum { PIECE = 1 << 20 };
    gzFile in = gzopen(words[1], "rb"), out = gzopen(words[2], "wb6");
    char *piece = malloc(PIECE);
    int got = -1;

    (void)m;
    while (in && out && piece && (got = gzread(in, piece, PIECE)) > 0) {
        if (gzwrite(out, piece, (unsigned)got) != got) {
            errx(2, "%s cannot be written", words[2]);
        }
    }
    if (got != 0 || gzclose(in) != Z_OK || gzclose(out) != Z_OK) {
        errx(2, "%s cannot be squeezed", words[1]);
    }
    free(piece);
    return (span){0};
}

const operation raw_operations[] = {
    {"warm", warm},
    {"again", again},
    {"cold", cold},
    {"raw-open", raw_open},
    {"raw-scan", raw_scan},
    {"raw-write", raw_write},
    {"raw-read", raw_read},
    {"raw-copy-memory", raw_copy_memory},
    {"raw-copy-file", raw_copy_file},
    {"raw-inflate", raw_inflate},
    {"squeeze", squeeze},
    {0},
};
