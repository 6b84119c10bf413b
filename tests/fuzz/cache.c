/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The cache of files of servers, with an index that somebody else wrote. Odd first byte: the rest is all of the index;
 * else it is its line of blocks, behind a head that is right. What the index says of blocks stays within the file, and
 * what is kept is there at the next time. */
#include "tests/fuzz/fuzz.h"

#ifdef LR_HAVE_CURL
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/sha256.h"
#include "plugins/codec/http/cache.h"

enum { BLOCKS_MOST = 64, NAME = 32 };

static char url[] = "https://host/m.mpk";

static lr_http_cache *open_cache(const lr_http *http, size_t size)
{
    lr_http_cache *cache;
    rec_job job;
    lr_job_begin(&job, fuzz_context(size), "load", NULL);
    cache = lr_http_cache_open(&job, http);
    fuzz_must(!lr_job_failed(&job), "a cache is never a failure");
    lr_job_drop(&job);
    fuzz_must(cache != NULL, "the directory is trusted");
    return cache;
}

/* The blocks that are there, as bits. */
static uint64_t blocks_of(const lr_http_cache *cache, uint64_t blocks)
{
    uint64_t bits = 0;
    for (uint64_t i = 0; i < blocks; i++) {
        uint64_t there = lr_http_cache_run(cache, i, UINT64_MAX, true);
        fuzz_must(there <= blocks - i, "no block beyond the file is there");
        fuzz_must((there > 0) != (lr_http_cache_run(cache, i, 1, false) > 0), "a block is there or is not");
        bits |= (uint64_t)(there > 0) << i;
    }
    return bits;
}

static void write_index(const char *path, const char *digest, const lr_http_facts *facts, const uint8_t *data,
                        size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    fuzz_must(fd >= 0, "an index");
    if (!(data[0] & 1)) {
        (void)dprintf(fd, "librecord cache 2\n%s\n%s\n%llu\n", digest, facts->tag, (unsigned long long)facts->total);
    }
    fuzz_must(write(fd, data + 1, size - 1) == (ssize_t)size - 1 && close(fd) == 0, "an index");
}

int fuzz_cache(const uint8_t *data, size_t size)
{
    char folder[128], path[256], digest[2 * LR_SHA256_BYTES + 1];
    uint64_t blocks = size ? data[0] / 2 % BLOCKS_MOST + 1 : 1, before, kept = blocks / 2, last = blocks - 1;
    lr_http http = {.url = url, .name = url, .facts = {.tag = "t", .ranges = true}};
    lr_http_cache *cache;
    uint8_t byte = 1;
    if (!size) {
        return 0;
    }
    http.facts.total = last * LR_HTTP_BLOCK + 1;
    (void)snprintf(folder, sizeof folder, "%s/cache", fuzz_folder());
    (void)mkdir(folder, 0700);
    fuzz_must(setenv("LIBRECORD_CACHE", folder, 1) == 0, "an environment");
    lr_sha256_hex(url, strlen(url), digest);
    (void)snprintf(path, sizeof path, "%s/%.*s.index", folder, NAME, digest);
    write_index(path, digest, &http.facts, data, size);
    cache = open_cache(&http, size);
    before = blocks_of(cache, blocks);
    fuzz_must(lr_http_cache_read(cache, last * LR_HTTP_BLOCK, &byte, 1) == 0, "the file has its size");
    fuzz_must(lr_http_cache_write(cache, kept * LR_HTTP_BLOCK, &byte, 1) == 0, "a block is written");
    lr_http_cache_keep(cache, kept, 1);
    lr_http_cache_close(cache);
    cache = open_cache(&http, size);
    fuzz_must(blocks_of(cache, blocks) == (before | UINT64_C(1) << kept), "what was kept is there, and nothing else");
    lr_http_cache_close(cache);
    (void)unlink(path);
    (void)snprintf(path, sizeof path, "%s/%.*s.data", folder, NAME, digest);
    (void)unlink(path);
    fuzz_must(rmdir(folder) == 0, "nothing else stays");
    return 0;
}

#else

int fuzz_cache(const uint8_t *data, size_t size)
{
    (void)data;
    (void)size;
    return 0;
}

#endif
