/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A server's file as a source. Small reads use a window, which grows while they are sequential; large reads go
 * directly to the target. With a cache both go through its file. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "os/file.h"
#include "os/system.h"
#include "plugins/codec/http/cache.h"

#define FIRST (UINT64_C(64) << 10) /* bytes of the first request: most headers */
#define WINDOW_MOST (UINT64_C(16) << 20)
#define DIRECT (UINT64_C(1) << 20) /* reads of this size need no window */

typedef struct remote {
    lr_http *http;
    lr_http_cache *cache;
    int whole; /* a file without a name that holds all of it, where the server has no ranges; else -1 */
    uint64_t size;
    uint64_t free; /* bytes that there were where `whole` is, before it */
    uint8_t *window;
    uint64_t begin, count, room, ahead;
} remote;

static int32_t no_memory(rec_job *job, uint64_t size)
{
    return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for %" PRIu64 " bytes of a file", size);
}

/* @param error 0: no failure. */
static int32_t fail_file(rec_job *job, int error, const char *doing)
{
    char words[128];
    const char *text = lr_system_words(error, words, sizeof words);
    if (!error) {
        return REC_OK;
    }
    return rec_fail(job, REC_E_IO, REC_UNKNOWN, "cannot %s: %s", doing, text);
}

static void release(void *self)
{
    remote *r = self;
    if (r) {
        lr_http_cache_close(r->cache);
        lr_http_free(r->http);
        if (r->whole >= 0) {
            (void)close(r->whole);
        }
        free(r->window);
        free(r);
    }
}

/* ------------------------------------------------------------------------------------------------------ taking -- */

static bool make_room(remote *r, uint64_t size)
{
    uint8_t *larger;
    if (size <= r->room) {
        return true;
    }
    larger = realloc(r->window, (size_t)size);
    if (larger) {
        r->window = larger;
        r->room = size;
    }
    return larger != NULL;
}

/* The file on the server may have so many bytes: as many as are free where it goes, and, if the server does not say how
 * large it is, no more than the limit. */
static int32_t check_size(const remote *r, rec_job *job, uint64_t size)
{
    uint64_t most = r->http->facts.total == REC_UNKNOWN ? r->http->limits.bytes : REC_UNKNOWN;
    bool full = r->free < most;
    most = full ? r->free : most;
    if (size <= most) {
        return REC_OK;
    }
    (void)rec_fail(job, REC_E_LIMIT, REC_UNKNOWN,
                   "the server sends no parts of the file, and more than %" PRIu64 " bytes of it, %s", most,
                   full ? "as many as are free in the temporary directory" : "the limit");
    rec_fail_hint(job, full ? "TMPDIR names another directory."
                            : "LIBRECORD_HTTP_SIZE (record: --http-size) sets it, in bytes.");
    return REC_E_LIMIT;
}

/* Makes the file that all of it goes into. */
static int32_t begin_whole(remote *r, rec_job *job)
{
    struct statvfs space;
    r->whole = lr_file_nameless();
    if (r->whole < 0) {
        return fail_file(job, errno, "make a temporary file");
    }
    r->free = fstatvfs(r->whole, &space) == 0 ? (uint64_t)space.f_bavail * space.f_frsize : REC_UNKNOWN;
    return r->http->facts.total == REC_UNKNOWN ? REC_OK : check_size(r, job, r->http->facts.total);
}

/* The first bytes: into the window, or, if all of the file comes, into a file. */
static int32_t take_first(void *user, rec_job *job, const void *data, uint64_t size)
{
    remote *r = user;
    int32_t status;
    if (r->http->facts.ranges) {
        if (!make_room(r, FIRST) || size > r->room - r->count) {
            return no_memory(job, FIRST);
        }
        memcpy(r->window + r->count, data, (size_t)size);
        r->count += size;
        return REC_OK;
    }
    status = r->whole < 0 ? begin_whole(r, job) : REC_OK;
    status = status == REC_OK ? check_size(r, job, r->size + size) : status;
    if (status == REC_OK) {
        status = fail_file(job, lr_file_write_at(r->whole, data, size, r->size), "write a temporary file");
        r->size += size;
    }
    return status;
}

/* Receives the bytes of a request. */
typedef struct target {
    remote *r;
    uint8_t *to;     /* or NULL: */
    uint64_t offset; /* into the cache, from there on */
} target;

static int32_t take(void *user, rec_job *job, const void *data, uint64_t size)
{
    target *t = user;
    int error = 0;
    if (t->to) {
        memcpy(t->to, data, (size_t)size);
        t->to += size;
    } else {
        error = lr_http_cache_write(t->r->cache, t->offset, data, size);
    }
    t->offset += size;
    return fail_file(job, error, "write into the directory LIBRECORD_CACHE");
}

/* ----------------------------------------------------------------------------------------------------- reading -- */

static int32_t read_cached(remote *r, rec_job *job, uint64_t offset, uint8_t *to, uint64_t size)
{
    uint64_t first = offset / LR_HTTP_BLOCK, end = (offset + size + LR_HTTP_BLOCK - 1) / LR_HTTP_BLOCK;
    for (uint64_t block = first; block < end;) {
        uint64_t there = lr_http_cache_run(r->cache, block, end - block, true), missing, from, bytes;
        target t = {.r = r};
        int32_t status;
        block += there;
        if (block == end) {
            break;
        }
        missing = lr_http_cache_run(r->cache, block, end - block, false);
        from = t.offset = block * LR_HTTP_BLOCK;
        bytes = missing * LR_HTTP_BLOCK < r->size - from ? missing * LR_HTTP_BLOCK : r->size - from;
        status = lr_http_get(r->http, job, from, bytes, take, &t);
        if (status != REC_OK) {
            return status;
        }
        lr_http_cache_keep(r->cache, block, missing);
        block += missing;
    }
    return fail_file(job, lr_http_cache_read(r->cache, offset, to, size), "read the directory LIBRECORD_CACHE");
}

/* Fills the window from `offset` on, with `size` bytes at least. */
static int32_t fill(remote *r, rec_job *job, uint64_t offset, uint64_t size)
{
    target t = {.r = r};
    int32_t status;
    bool follows = offset == r->begin + r->count;
    r->ahead = follows && r->ahead < WINDOW_MOST ? r->ahead * 2 : follows ? r->ahead : FIRST;
    size = size < r->ahead ? r->ahead : size;
    size = size < r->size - offset ? size : r->size - offset;
    if (!make_room(r, size)) {
        return no_memory(job, size);
    }
    r->count = 0;
    t.to = r->window;
    status = lr_http_get(r->http, job, offset, size, take, &t);
    r->begin = offset;
    r->count = status == REC_OK ? size : 0;
    return status;
}

static int32_t read_at(void *self, rec_job *job, uint64_t offset, void *data, uint64_t size)
{
    remote *r = self;
    uint8_t *to = data;
    int32_t status = REC_OK;
    if (r->whole >= 0) {
        return fail_file(job, lr_file_read_at(r->whole, to, size, offset), "read a temporary file");
    }
    while (size && status == REC_OK) {
        if (offset >= r->begin && offset - r->begin < r->count) {
            uint64_t n = r->count - (offset - r->begin) < size ? r->count - (offset - r->begin) : size;
            memcpy(to, r->window + (offset - r->begin), (size_t)n);
            to += n;
            offset += n;
            size -= n;
        } else if (r->cache) {
            return read_cached(r, job, offset, to, size);
        } else if (size >= DIRECT) {
            target t = {.r = r, .to = to};
            return lr_http_get(r->http, job, offset, size, take, &t);
        } else {
            status = fill(r, job, offset, size);
        }
    }
    return status;
}

static uint64_t total(void *self)
{
    return ((remote *)self)->size;
}

/* ----------------------------------------------------------------------------------------------------- opening -- */

static int32_t open_one(rec_job *job, const char *url, bool optional, rec_source **out);

static int32_t beside(void *self, rec_job *job, const char *name, int32_t optional, rec_source **out)
{
    const remote *r = self;
    char *url = lr_http_beside(r->http, name);
    int32_t status;
    if (!url) {
        return no_memory(job, strlen(name));
    }
    status = open_one(job, url, optional != 0, out);
    free(url);
    return status;
}

static const rec_source_ops ops = {
    .size = sizeof ops, .release = release, .read_at = read_at, .total = total, .beside = beside};

static int32_t open_one(rec_job *job, const char *url, bool optional, rec_source **out)
{
    remote *r = calloc(1, sizeof *r);
    int32_t status;
    *out = NULL;
    if (!r) {
        return no_memory(job, sizeof *r);
    }
    r->whole = -1;
    r->ahead = FIRST;
    r->http = lr_http_new(job, url);
    if (!r->http) {
        release(r);
        return REC_E_IO; /* it said why */
    }
    r->http->optional = optional;
    status = lr_http_get(r->http, job, 0, FIRST, take_first, r);
    if (status != REC_OK || r->http->absent) {
        release(r);
        return status;
    }
    if (r->http->facts.ranges) {
        r->size = r->http->facts.total;
        r->cache = lr_http_cache_open(job, r->http);
    } else {
        rec_job_note(job, REC_NOTE_LAYOUT, "",
                     "the server of %s sends no parts of a file: all of it was fetched, %" PRIu64 " bytes",
                     r->http->name, r->size);
    }
    return rec_source_make(job, r->http->name, &ops, r, out);
}

int32_t lr_http_open(rec_job *job, const char *location, rec_source **out)
{
    return open_one(job, location, false, out);
}
