/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The directory of the cache. Each file has two: NAME.data, of the file's size with holes where nothing was fetched
 * yet, and NAME.index, a text: digest of the address, tag, size, and a bit for each block, in hexadecimal digits. The
 * index is written after its data, so that a crash loses blocks and never invents one. Addresses can contain secrets
 * and are not stored. */
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

#include "common/sha256.h"
#include "os/file.h"
#include "os/system.h"
#include "os/trust.h"

/* Blocks between two looks at the index. */
enum { STEP = 64 };

/* Of a file. The bits of its blocks are kept in memory, and written: a server that only says how large it is must not
 * fill either. */
#define KEPT_MOST (UINT64_C(1) << 44)

static const char format[] = "librecord cache 2";

enum { NAME = 32 }; /* digits of the digest that files are called by */

struct lr_http_cache {
    int folder, fd;
    char digest[2 * LR_SHA256_BYTES + 1];
    char index[NAME + 8], fresh[NAME + 24]; /* names: of the index, and of one that takes its place, "": none */
    lr_http_facts facts;
    uint64_t blocks, unsaved;
    uint8_t *bits;
};

static bool has(const lr_http_cache *c, uint64_t block)
{
    return c->bits[block / 8] >> block % 8 & 1;
}

/* Reads a line of the index without its newline. @return false: end of file, or not the `expected` line. */
static bool next_line(FILE *file, char **line, size_t *room, const char *expected)
{
    ssize_t length = getline(line, room, file);
    if (length <= 0 || (*line)[length - 1] != '\n') {
        return false;
    }
    (*line)[length - 1] = '\0';
    return !expected || strcmp(*line, expected) == 0;
}

/* Opens the index; others must not have written it. Returns NULL if it does not exist. */
static FILE *open_index(const lr_http_cache *c)
{
    int fd = lr_file_open(c->folder, c->index, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    FILE *file = fd >= 0 && lr_trust_private(fd) ? fdopen(fd, "r") : NULL;
    if (!file && fd >= 0) {
        (void)close(fd);
    }
    return file;
}

/* Which blocks are there. Whatever is not as it should be means: none. */
static void read_index(lr_http_cache *c)
{
    FILE *file = open_index(c);
    char *line = NULL, total[32];
    size_t room = 0, bytes = (size_t)((c->blocks + 7) / 8);
    struct stat about;
    bool good;
    (void)snprintf(total, sizeof total, "%" PRIu64, c->facts.total);
    good = file && next_line(file, &line, &room, format) && next_line(file, &line, &room, c->digest) &&
           next_line(file, &line, &room, c->facts.tag) && next_line(file, &line, &room, total) &&
           next_line(file, &line, &room, NULL) && strlen(line) == 2 * bytes && fstat(c->fd, &about) == 0 &&
           (uint64_t)about.st_size == c->facts.total;
    for (size_t i = 0; good && i < bytes; i++) {
        char two[3] = {line[2 * i], line[2 * i + 1], '\0'};
        good = strspn(two, "0123456789abcdef") == 2;
        c->bits[i] = good ? (uint8_t)strtoul(two, NULL, 16) : 0;
    }
    if (!good) {
        memset(c->bits, 0, bytes);
    }
    free(line);
    if (file) {
        (void)fclose(file);
    }
}

/* Makes a new file with an unpredictable name; an unfinished earlier one is removed. NULL: it cannot be made. */
static FILE *make_fresh(lr_http_cache *c)
{
    uint64_t random = 0;
    FILE *file;
    int fd;
    if (*c->fresh) {
        (void)unlinkat(c->folder, c->fresh, 0);
    }
    if (!lr_system_random(&random, sizeof random, true)) {
        return NULL;
    }
    (void)snprintf(c->fresh, sizeof c->fresh, "%.*s.%016" PRIx64 ".new", NAME, c->digest, random);
    fd = lr_file_open(c->folder, c->fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file && fd >= 0) {
        (void)close(fd);
    }
    return file;
}

static bool write_index(lr_http_cache *c)
{
    FILE *file;
    bool good;
    if (fdatasync(c->fd) != 0) {
        return false;
    }
    file = make_fresh(c);
    good = file && fprintf(file, "%s\n%s\n%s\n%" PRIu64 "\n", format, c->digest, c->facts.tag, c->facts.total) > 0;
    for (uint64_t i = 0; good && i < (c->blocks + 7) / 8; i++) {
        good = fprintf(file, "%02x", c->bits[i]) == 2;
    }
    good = good && fputc('\n', file) != EOF;
    good = file && fclose(file) == 0 && good;
    good = good && renameat(c->folder, c->fresh, c->folder, c->index) == 0;
    if (good) {
        c->fresh[0] = '\0';
    } else if (*c->fresh) {
        (void)unlinkat(c->folder, c->fresh, 0);
    }
    c->unsaved = 0;
    return good;
}

static void destroy(lr_http_cache *c)
{
    if (c) {
        if (c->fd >= 0) {
            (void)close(c->fd);
        }
        if (c->folder >= 0) {
            (void)close(c->folder);
        }
        free(c->bits);
        free(c);
    }
}

static void note_failure(rec_job *job, const char *folder, const char *why)
{
    rec_job_note(job, REC_NOTE_LAYOUT, "", "the directory %s (LIBRECORD_CACHE) caches nothing: %s", folder, why);
}

/* @return why a server's file cannot be kept; NULL: it can. */
static const char *refuse(const lr_http_facts *facts)
{
    if (!facts->tag[0]) {
        return "the server does not report which version of a file it sends";
    }
    return facts->total > KEPT_MOST ? "it keeps files of at most 16 TiB" : NULL;
}

/* @return false with the reason. */
static bool open_data(lr_http_cache *c, char *why, size_t room)
{
    char data[NAME + 8], words[128];
    const char *wrong = NULL;
    (void)snprintf(data, sizeof data, "%.*s.data", NAME, c->digest);
    c->fd = lr_file_open(c->folder, data, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (c->fd < 0) {
        wrong = lr_system_words(errno, words, sizeof words);
    } else if (!lr_trust_private(c->fd)) {
        wrong = "other users can change a file in it";
    } else if (flock(c->fd, LOCK_EX | LOCK_NB) != 0) {
        wrong = "another program is fetching the same file";
    }
    if (wrong) {
        (void)snprintf(why, room, "%s", wrong);
    }
    return !wrong;
}

static bool open_in(lr_http_cache *c, const char *folder, char *why, size_t room)
{
    char words[128];
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        (void)snprintf(why, room, "%s", lr_system_words(errno, words, sizeof words));
        return false;
    }
    c->folder = lr_trust_open(folder, why);
    if (c->folder < 0 || !open_data(c, why, room)) {
        return false;
    }
    read_index(c);
    if (ftruncate(c->fd, (off_t)c->facts.total) != 0) {
        (void)snprintf(why, room, "%s", lr_system_words(errno, words, sizeof words));
        return false;
    }
    return true;
}

static lr_http_cache *make(const lr_http *http)
{
    lr_http_cache *c = calloc(1, sizeof *c);
    if (c) {
        c->folder = c->fd = -1;
        c->facts = http->facts;
        c->blocks = (c->facts.total + LR_HTTP_BLOCK - 1) / LR_HTTP_BLOCK;
        c->bits = calloc(1, (size_t)((c->blocks + 7) / 8));
        lr_sha256_hex(http->url, strlen(http->url), c->digest);
        (void)snprintf(c->index, sizeof c->index, "%.*s.index", NAME, c->digest);
    }
    if (c && !c->bits) {
        destroy(c);
        c = NULL;
    }
    return c;
}

lr_http_cache *lr_http_cache_open(rec_job *job, const lr_http *http)
{
    const char *folder = secure_getenv("LIBRECORD_CACHE"), *wrong;
    lr_http_cache *c;
    char why[LR_REASON] = "out of memory";
    if (!folder || !*folder || !http->facts.total || !http->facts.ranges) {
        return NULL;
    }
    wrong = refuse(&http->facts);
    if (wrong) {
        note_failure(job, folder, wrong);
        return NULL;
    }
    c = make(http);
    if (!c || !open_in(c, folder, why, sizeof why)) {
        note_failure(job, folder, why);
        destroy(c);
        c = NULL;
    }
    return c;
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

int lr_http_cache_read(const lr_http_cache *cache, uint64_t offset, void *target, uint64_t size)
{
    return lr_file_read_at(cache->fd, target, size, offset);
}

int lr_http_cache_write(lr_http_cache *cache, uint64_t offset, const void *data, uint64_t size)
{
    return lr_file_write_at(cache->fd, data, size, offset);
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
