/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The folder of what was fetched. For each file two: NAME.data, of the file's size with holes where nothing was fetched yet, and
 * NAME.index, a text: address, tag, size, and a bit for each block, in hexadecimal digits. The index is written after the data
 * that it speaks of, so that a crash loses blocks and never invents one. */
#include "plugins/codec/http/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Blocks between two looks at the index. */
enum { STEP = 64 };

/* Of a file. The bits of its blocks are kept in memory, and written: a server that only says how large it is must not fill either. */
#define KEPT_MOST (UINT64_C(1) << 44)

struct lr_http_cache {
    int fd;
    char *index, *fresh; /* paths: of the index, and of one that takes its place */
    char *url;
    lr_http_facts facts;
    uint64_t blocks, unsaved;
    uint8_t *bits;
};

static bool has(const lr_http_cache *c, uint64_t block)
{
    return c->bits[block / 8] >> block % 8 & 1;
}

/* Two hashes of an address that differ: a name for it. The index says whose it really is. */
static void name_of(const char *url, char *name, size_t room)
{
    uint64_t a = UINT64_C(0xcbf29ce484222325), b = UINT64_C(0x84222325cbf29ce4);
    for (const unsigned char *c = (const unsigned char *)url; *c; c++) {
        a = (a ^ *c) * UINT64_C(0x100000001b3);
        b = (b + *c) * UINT64_C(0x9e3779b97f4a7c15);
        b ^= b >> 29;
    }
    (void)snprintf(name, room, "%016" PRIx64 "%016" PRIx64, a, b);
}

static char *path_of(const char *folder, const char *name, const char *end)
{
    size_t room = strlen(folder) + strlen(name) + strlen(end) + 2;
    char *path = malloc(room);
    if (path) {
        (void)snprintf(path, room, "%s/%s%s", folder, name, end);
    }
    return path;
}

/* A line of the index without its end. @return false: there is none, or it is another one than `expected`. */
static bool next_line(FILE *file, char **line, size_t *room, const char *expected)
{
    ssize_t length = getline(line, room, file);
    if (length <= 0 || (*line)[length - 1] != '\n') {
        return false;
    }
    (*line)[length - 1] = '\0';
    return !expected || strcmp(*line, expected) == 0;
}

/* Which blocks are there. Whatever is not as it should be means: none. */
static void read_index(lr_http_cache *c)
{
    FILE *file = fopen(c->index, "re");
    char *line = NULL, total[32];
    size_t room = 0, bytes = (size_t)((c->blocks + 7) / 8);
    struct stat about;
    bool good;
    (void)snprintf(total, sizeof total, "%" PRIu64, c->facts.total);
    good = file && next_line(file, &line, &room, "librecord cache 1") && next_line(file, &line, &room, c->url) &&
           next_line(file, &line, &room, c->facts.tag) && next_line(file, &line, &room, total) &&
           next_line(file, &line, &room, NULL) && strlen(line) == 2 * bytes && fstat(c->fd, &about) == 0 &&
           (uint64_t)about.st_size == c->facts.total;
    for (size_t i = 0; good && i < bytes; i++) {
        unsigned byte;
        char two[3] = {line[2 * i], line[2 * i + 1], '\0'};
        good = strspn(two, "0123456789abcdef") == 2 && sscanf(two, "%2x", &byte) == 1;
        c->bits[i] = good ? (uint8_t)byte : 0;
    }
    if (!good) {
        memset(c->bits, 0, bytes);
    }
    free(line);
    if (file) {
        (void)fclose(file);
    }
}

static bool write_index(lr_http_cache *c)
{
    FILE *file;
    bool good;
    if (fdatasync(c->fd) != 0) {
        return false;
    }
    file = fopen(c->fresh, "we");
    good = file && fprintf(file, "librecord cache 1\n%s\n%s\n%" PRIu64 "\n", c->url, c->facts.tag, c->facts.total) > 0;
    for (uint64_t i = 0; good && i < (c->blocks + 7) / 8; i++) {
        good = fprintf(file, "%02x", c->bits[i]) == 2;
    }
    good = good && fputc('\n', file) != EOF;
    good = file && fclose(file) == 0 && good;
    good = good && rename(c->fresh, c->index) == 0;
    c->unsaved = 0;
    return good;
}

static void destroy(lr_http_cache *c)
{
    if (c) {
        if (c->fd >= 0) {
            (void)close(c->fd);
        }
        free(c->index);
        free(c->fresh);
        free(c->url);
        free(c->bits);
        free(c);
    }
}

static void tell(rec_job *job, const char *folder, const char *why)
{
    rec_job_note(job, REC_NOTE_LAYOUT, "", "the folder %s (LIBRECORD_CACHE) keeps nothing: %s", folder, why);
}

lr_http_cache *lr_http_cache_open(rec_job *job, const lr_http *http)
{
    const char *folder = secure_getenv("LIBRECORD_CACHE");
    lr_http_cache *c;
    char name[40], words[128], *data;
    if (!folder || !*folder || !http->facts.total || !http->facts.ranges) {
        return NULL;
    }
    if (!http->facts.tag[0]) {
        tell(job, folder, "the server does not say which version of a file it sends");
        return NULL;
    }
    if (http->facts.total > KEPT_MOST) {
        tell(job, folder, "it keeps files of at most 16 TiB");
        return NULL;
    }
    c = calloc(1, sizeof *c);
    if (!c) {
        tell(job, folder, "out of memory");
        return NULL;
    }
    name_of(http->url, name, sizeof name);
    c->facts = http->facts;
    c->blocks = (c->facts.total + LR_HTTP_BLOCK - 1) / LR_HTTP_BLOCK;
    c->url = strdup(http->url);
    c->index = path_of(folder, name, ".index");
    c->fresh = path_of(folder, name, ".index.new");
    c->bits = calloc(1, (size_t)((c->blocks + 7) / 8));
    data = path_of(folder, name, ".data");
    c->fd = -1;
    if (!c->url || !c->index || !c->fresh || !c->bits || !data) {
        tell(job, folder, "out of memory");
    } else if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        tell(job, folder, strerror_r(errno, words, sizeof words));
    } else if ((c->fd = open(data, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) < 0) {
        tell(job, folder, strerror_r(errno, words, sizeof words));
    } else if (flock(c->fd, LOCK_EX | LOCK_NB) != 0) {
        tell(job, folder, "another program is fetching the same file");
    } else {
        read_index(c);
        if (ftruncate(c->fd, (off_t)c->facts.total) == 0) {
            free(data);
            return c;
        }
        tell(job, folder, strerror_r(errno, words, sizeof words));
    }
    free(data);
    destroy(c);
    return NULL;
}

void lr_http_cache_close(lr_http_cache *cache)
{
    if (cache && cache->unsaved) {
        (void)write_index(cache); /* what it does not say is fetched again */
    }
    destroy(cache);
}

uint64_t lr_http_cache_run(const lr_http_cache *cache, uint64_t first, uint64_t most, bool there)
{
    uint64_t count = 0;
    while (count < most && first + count < cache->blocks && has(cache, first + count) == there) {
        count++;
    }
    return count;
}

bool lr_http_cache_read(const lr_http_cache *cache, uint64_t offset, void *target, uint64_t size)
{
    uint8_t *to = target;
    while (size) {
        ssize_t got = pread(cache->fd, to, (size_t)size, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            errno = got ? errno : EIO;
            return false;
        }
        to += got;
        offset += (uint64_t)got;
        size -= (uint64_t)got;
    }
    return true;
}

bool lr_http_cache_write(lr_http_cache *cache, uint64_t offset, const void *data, uint64_t size)
{
    const uint8_t *from = data;
    while (size) {
        ssize_t put = pwrite(cache->fd, from, (size_t)size, (off_t)offset);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            errno = put ? errno : EIO;
            return false;
        }
        from += put;
        offset += (uint64_t)put;
        size -= (uint64_t)put;
    }
    return true;
}

void lr_http_cache_keep(lr_http_cache *cache, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        cache->bits[i / 8] = (uint8_t)(cache->bits[i / 8] | 1u << i % 8);
    }
    cache->unsaved += count;
    if (cache->unsaved >= STEP) {
        (void)write_index(cache);
    }
}
