/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A server that lies. This file replaces libcurl: the input determines statuses, redirections, headers, trailers,
 * sizes, validators, bodies and the ends of connections. It begins with a head: flags, the size of the file, and reads.
 * Each answer follows; a zero byte, and the end of the input, is an honest answer. The bytes that the server sends
 * depend on the validator and on the position, so that a mixture of two files is noticed. */
#include "tests/fuzz/fuzz.h"

#ifdef LR_HAVE_CURL
#define CURL_DISABLE_TYPECHECK
#undef _FORTIFY_SOURCE /* nanosleep() is defined here */
#include <curl/curl.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "plugins/codec/http/http.h"
#undef curl_easy_setopt
#undef curl_easy_getinfo

enum {
    READS_MOST = 6,
    VERSIONS_MOST = 64,
    CHUNK = 1 << 14,
    PERIOD = 65521,
    LINE = 1024,
    TRIES = 10,
    READ_MOST = 1 << 21
};
enum { FLAG_CACHE = 1, FLAG_TLS = 2, FLAG_BESIDE = 4, FLAG_TWICE = 8 };
enum { WITH_REDIRECTION = 8, WITH_HEADERS = 16, WITH_TAG = 32, WITH_BODY = 64, WITH_END = 128 };
enum { BODY_SHORT = 1, BODY_LONG = 2, BODY_NO_LENGTH = 4, BODY_TOTAL = 8, BODY_FROM = 16, BODY_CHUNKS = 32 };
enum { END_TRAILER = 32, END_SLOW = 64 };

/* No part of these is ever shown. */
static const char *const secrets[] = {"USERQ", "PASSW", "SECRETQ", "TOKENQ"};
static const char *const tags[] = {"", "\"one\"", "\"two\"", "W/\"one\"", "%300d1", "%300d2", "%255d", "%256d"};

/* The server and the handle of libcurl: the input has one of each. */
static struct {
    const uint8_t *at, *end;
    uint64_t total;
    char tag[LINE]; /* that honest answers have */
    struct {
        uint32_t version;
        bool other;            /* than that of the bytes that were read */
    } versions[VERSIONS_MOST]; /* of the bodies that were sent since the file was opened */
    unsigned count;
    uint64_t performed;
    /* What the options set. */
    const char *range;
    size_t (*on_body)(char *, size_t, size_t, void *), (*on_header)(char *, size_t, size_t, void *);
    int (*on_progress)(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
    void *body_user, *header_user, *progress_user;
    char *words;
    /* What the last answer was. */
    long code;
    bool connected;
    char answer_tag[LINE], modified[LINE];
} server;

static uint8_t next(void)
{
    return server.at < server.end ? *server.at++ : 0;
}

/* A file repeats bytes with a period that no size here is a multiple of; its version says where it begins. */
static const uint8_t *pattern(uint32_t version, uint64_t at)
{
    static uint8_t bytes[PERIOD + CHUNK];
    uint64_t seed = UINT64_C(88172645463325252);
    for (size_t i = bytes[0] ? sizeof bytes : 0; i < sizeof bytes; i++) {
        bytes[i] = i < PERIOD ? (uint8_t)(fuzz_random(&seed) >> 24) | 1 : bytes[i - PERIOD];
    }
    return bytes + (at % PERIOD + version) % PERIOD;
}

static uint32_t version_of(const char *tag)
{
    uint32_t version = 0;
    while (*tag) {
        version = version * 31 + (uint8_t)*tag++;
    }
    return version;
}

/* ------------------------------------------------------------------------------------------ what libcurl is here -- */

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)wanted;
    (void)left;
    return 0;
}

CURLcode curl_global_init(long flags)
{
    (void)flags;
    return CURLE_OK;
}

CURL *curl_easy_init(void)
{
    return malloc(1);
}

void curl_easy_cleanup(CURL *curl)
{
    free(curl);
}

char *curl_version(void)
{
    static char version[] = "none";
    return version;
}

const char *curl_easy_strerror(CURLcode code)
{
    (void)code;
    return "an error of libcurl";
}

struct curl_slist *curl_slist_append(struct curl_slist *list, const char *text)
{
    struct curl_slist *item = malloc(sizeof *item);
    fuzz_must(!list && item, "one header");
    *item = (struct curl_slist){.data = strdup(text)};
    return item;
}

void curl_slist_free_all(struct curl_slist *list)
{
    if (list) {
        free(list->data);
        free(list);
    }
}

CURLcode curl_easy_setopt(CURL *curl, CURLoption option, ...)
{
    va_list values;
    (void)curl;
    va_start(values, option);
    switch (option) {
    case CURLOPT_RANGE:
        server.range = va_arg(values, const char *);
        break;
    case CURLOPT_WRITEFUNCTION:
        server.on_body = va_arg(values, size_t (*)(char *, size_t, size_t, void *));
        break;
    case CURLOPT_HEADERFUNCTION:
        server.on_header = va_arg(values, size_t (*)(char *, size_t, size_t, void *));
        break;
    case CURLOPT_XFERINFOFUNCTION:
        server.on_progress = va_arg(values, int (*)(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t));
        break;
    case CURLOPT_WRITEDATA:
        server.body_user = va_arg(values, void *);
        break;
    case CURLOPT_HEADERDATA:
        server.header_user = va_arg(values, void *);
        break;
    case CURLOPT_XFERINFODATA:
        server.progress_user = va_arg(values, void *);
        break;
    case CURLOPT_ERRORBUFFER:
        server.words = va_arg(values, char *);
        break;
    default:
        break;
    }
    va_end(values);
    return CURLE_OK;
}

CURLcode curl_easy_getinfo(CURL *curl, CURLINFO info, ...)
{
    va_list values;
    (void)curl;
    va_start(values, info);
    if (info == CURLINFO_RESPONSE_CODE) {
        *va_arg(values, long *) = server.code;
    } else {
        *va_arg(values, curl_off_t *) = server.connected;
    }
    va_end(values);
    return CURLE_OK;
}

/* ------------------------------------------------------------------------------------------------------ answers -- */

/* Sends a header without a NUL behind it. @return whether the callback takes it. */
static bool send_line(const char *text, size_t length)
{
    char *copy = malloc(length ? length : 1);
    bool taken;
    fuzz_must(copy != NULL, "memory");
    memcpy(copy, text, length);
    taken = server.on_header(copy, 1, length, server.header_user) == length;
    free(copy);
    return taken;
}

static bool send_header(const char *name, const char *value)
{
    char line[2 * LINE];
    int length = snprintf(line, sizeof line, "%s: %s\r\n", name, value);
    if (strcmp(name, "ETag") == 0) {
        (void)snprintf(server.answer_tag, LINE, "%s", value);
    } else if (strcmp(name, "Last-Modified") == 0) {
        (void)snprintf(server.modified, LINE, "%s", value);
    }
    return send_line(line, (size_t)length);
}

static bool send_number(const char *name, uint64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    return send_header(name, text);
}

static bool send_status(void)
{
    char line[64];
    int length = snprintf(line, sizeof line, "HTTP/1.1 %ld x\r\n", server.code);
    server.answer_tag[0] = server.modified[0] = '\0';
    return send_line(line, (size_t)length);
}

static bool send_range(uint64_t from, uint64_t size, uint64_t total)
{
    char text[96];
    (void)snprintf(text, sizeof text, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, from, from + size - 1, total);
    return send_header("Content-Range", text);
}

/* A header of the input: of any value, without NUL and line ends, which libcurl rejects, and without spaces around it.
 */
static bool send_any(void)
{
    static const char *const names[] = {"Content-Range", "content-length", "ETag",        "Last-Modified", "X",
                                        "HTTP/",         "Location",       "Content-Rang"};
    const char *name = names[next() % (sizeof names / sizeof *names)];
    char value[256];
    size_t length = next(), used = 0;
    for (size_t i = 0; i < length && server.at < server.end; i++) {
        uint8_t byte = next();
        if (!strchr("\r\n", byte) && (used || (byte != ' ' && byte != '\t'))) {
            value[used++] = (char)byte;
        }
    }
    while (used && (value[used - 1] == ' ' || value[used - 1] == '\t')) {
        used--;
    }
    value[used] = '\0';
    return send_header(name, value);
}

static bool send_some(void)
{
    bool going = true;
    for (unsigned n = next() % 4 + 1u; going && n; n--) {
        going = send_any();
    }
    return going;
}

/* Redirections have headers of their own, which do not count. */
static bool send_redirections(long code)
{
    bool going = true;
    for (unsigned n = next() % 3 + 1u; going && n; n--) {
        server.code = 302;
        going = send_status() && send_header("Location", "https://USERQ:PASSW@other/m?sig=SECRETQ") && send_some() &&
                send_line("\r\n", 2);
    }
    server.code = code;
    return going;
}

static void note_version(uint32_t version)
{
    unsigned i = 0;
    while (i < server.count && server.versions[i].version != version) {
        i++;
    }
    if (i == server.count) {
        fuzz_must(i < VERSIONS_MOST, "few answers");
        server.versions[i].version = version;
        server.versions[i].other = false;
        server.count++;
    }
}

static bool send_body(uint64_t from, uint64_t size, size_t chunk)
{
    uint32_t version = version_of(server.answer_tag[0] ? server.answer_tag : server.modified);
    char *data = malloc(chunk);
    bool going = true;
    fuzz_must(data != NULL, "memory");
    note_version(version);
    while (going && size) {
        size_t now = size < chunk ? (size_t)size : chunk;
        memcpy(data, pattern(version, from), now);
        going = server.on_progress(server.progress_user, 0, 0, 0, 0) == 0 &&
                server.on_body(data, 1, now, server.body_user) == now;
        from += now;
        size -= now;
    }
    free(data);
    return going;
}

static void choose_tag(void)
{
    const char *tag = tags[next() % (sizeof tags / sizeof *tags)];
    int width = 0;
    char last[8] = "";
    if (sscanf(tag, "%%%dd%7s", &width, last) > 0) { /* so long, and then that */
        (void)snprintf(server.tag, LINE, "%0*d%s", width, 0, last);
    } else {
        (void)snprintf(server.tag, LINE, "%s", tag);
    }
}

/* The range that is asked for, as far as the file has it. */
static void asked(uint64_t *from, uint64_t *size)
{
    uint64_t last = 0;
    fuzz_must(server.range && sscanf(server.range, "%" SCNu64 "-%" SCNu64, from, &last) == 2 && *from <= last,
              "every request has a range");
    last = last < server.total ? last : server.total - 1;
    *size = *from < server.total ? last - *from + 1 : 0;
}

/* Headers and body. @param how WITH_…, @return whether the client takes all of it. */
static bool send_file(uint8_t how, uint64_t from, uint64_t size)
{
    uint8_t body = how & WITH_BODY ? next() : 0;
    bool part = server.code == 206, going = true;
    uint64_t total = server.total + (body & BODY_TOTAL ? 1 : 0), sent;
    if (!part) {
        from = 0;
        size = server.total < 4 * CHUNK ? server.total : 4 * CHUNK;
    }
    from += part && body & BODY_FROM ? 1 : 0;
    sent = body & BODY_SHORT ? size / 2 : body & BODY_LONG ? size + 1 : size;
    if (part) {
        going = send_range(from, size, total);
    }
    if (going && !(body & BODY_NO_LENGTH)) {
        going = send_number("Content-Length", part ? size : total);
    }
    going = going && (!server.tag[0] || send_header("ETag", server.tag)) && (!(how & WITH_HEADERS) || send_some()) &&
            send_line("\r\n", 2);
    return going && send_body(from, sent, body & BODY_CHUNKS ? 1000 : CHUNK);
}

/* A page that is no file. */
static bool send_page(uint8_t how)
{
    char page[] = "page";
    return (server.code != 416 || send_header("Content-Range", server.total % 2 ? "bytes */0" : "bytes */7")) &&
           (!(how & WITH_HEADERS) || send_some()) && send_line("\r\n", 2) &&
           server.on_body(page, 1, sizeof page - 1, server.body_user) == sizeof page - 1;
}

static CURLcode end_of(uint8_t how, bool taken)
{
    static const CURLcode codes[] = {CURLE_OK,
                                     CURLE_PARTIAL_FILE,
                                     CURLE_RECV_ERROR,
                                     CURLE_OPERATION_TIMEDOUT,
                                     CURLE_TOO_MANY_REDIRECTS,
                                     CURLE_PEER_FAILED_VERIFICATION,
                                     CURLE_WEIRD_SERVER_REPLY,
                                     CURLE_OUT_OF_MEMORY};
    uint8_t end = how & WITH_END ? next() : 0;
    CURLcode code = codes[end % (sizeof codes / sizeof *codes)];
    server.connected = end & END_SLOW;
    if (taken && end & END_TRAILER) {
        taken = send_some();
    }
    if (!taken) {
        return CURLE_WRITE_ERROR;
    }
    if (code != CURLE_OK && end & END_SLOW) {
        (void)snprintf(server.words, CURL_ERROR_SIZE, "no host in https://USERQ:PASSW@other/m?sig=SECRETQ");
    }
    return code;
}

CURLcode curl_easy_perform(CURL *curl)
{
    static const long codes[] = {206, 200, 404, 416, 503, 429, 204, 401};
    uint64_t from = 0, size = 0;
    uint8_t how = next();
    bool taken;
    (void)curl;
    server.performed++;
    server.code = codes[how % (sizeof codes / sizeof *codes)];
    if (how & WITH_TAG) {
        choose_tag();
    }
    asked(&from, &size);
    if (server.code == 206 && size == 0) {
        server.code = 416;
    }
    taken = (!(how & WITH_REDIRECTION) || send_redirections(server.code)) && send_status() &&
            (server.code == 206 || server.code == 200 ? send_file(how, from, size) : send_page(how));
    return end_of(how, taken);
}

/* ------------------------------------------------------------------------------------------------------ readers -- */

static void must_be_silent(const char *text)
{
    for (size_t i = 0; text && i < sizeof secrets / sizeof *secrets; i++) {
        fuzz_must(!strstr(text, secrets[i]), "no secret is shown");
    }
}

static void must_end_silent(rec_job *job)
{
    if (lr_job_end(job) != REC_OK) {
        fuzz_must_say();
        must_be_silent(rec_error_message());
        must_be_silent(rec_error_file());
        must_be_silent(rec_error_hint());
    }
    for (uint64_t i = 0; i < rec_report_count(); i++) {
        must_be_silent(rec_report_note(i)->text);
    }
}

static bool is_of(uint32_t version, const uint8_t *data, uint64_t offset, uint64_t size)
{
    bool same = true;
    for (uint64_t done = 0; same && done < size; done += CHUNK) {
        size_t now = size - done < CHUNK ? (size_t)(size - done) : CHUNK;
        same = memcmp(data + done, pattern(version, offset + done), now) == 0;
    }
    return same;
}

/* Drops the versions that the bytes are not of. One stays. */
static void check_bytes(const uint8_t *data, uint64_t offset, uint64_t size)
{
    bool any = size == 0;
    for (unsigned i = 0; i < server.count; i++) {
        if (!server.versions[i].other && !is_of(server.versions[i].version, data, offset, size)) {
            server.versions[i].other = true;
        }
        any = any || !server.versions[i].other;
    }
    fuzz_must(any, "all bytes are of one version of the file");
}

static uint64_t pick(uint64_t most)
{
    static const uint64_t numbers[] = {0, 1, 2, 1000, 65535, 65536, 65537, 70000, (1 << 20), (1 << 20) + 1, 300, 100};
    uint8_t byte = next();
    uint64_t number = numbers[byte % (sizeof numbers / sizeof *numbers)];
    number = number < most ? number : most;
    return byte & 128 ? most - number : number;
}

/* @return whether it was read. */
static bool read_some(rec_job *job, rec_source *source, uint64_t offset, uint64_t size)
{
    uint8_t *data = malloc(size ? (size_t)size : 1);
    bool good;
    fuzz_must(data != NULL, "memory");
    good = rec_source_read_at(job, source, offset, data, size) == REC_OK;
    if (good) {
        check_bytes(data, offset, size);
    }
    free(data);
    return good;
}

/* One of the reads that the head of the input describes. */
static bool read_next(rec_job *job, rec_source *source, const uint8_t picks[2])
{
    const uint8_t *at = server.at, *end = server.end;
    uint64_t whole = rec_source_size(source), offset, count;
    server.at = picks;
    server.end = picks + 2;
    offset = pick(whole);
    count = pick(whole - offset < READ_MOST ? whole - offset : READ_MOST);
    server.at = at;
    server.end = end;
    return read_some(job, source, offset, count);
}

static void open_beside(rec_job *job, rec_source *source)
{
    rec_source *other = NULL;
    (void)rec_source_beside_maybe(job, source, "other file", &other);
    must_be_silent(other ? rec_source_name(other) : NULL);
    rec_source_release(other);
}

static void read_it(size_t size, uint8_t flags, const uint8_t picks[2 * READS_MOST], unsigned reads)
{
    const char *url = flags & FLAG_TLS ? "https://USERQ:PASSW@host/d/m.mpk?sig=SECRETQ"
                                       : "http://USERQ:PASSW@localhost/d/m.mpk?sig=SECRETQ";
    rec_source *source = NULL;
    bool good;
    rec_job job;
    lr_job_begin(&job, fuzz_context(size), "load", NULL);
    server.count = 0;
    server.performed = 0;
    good = lr_http_open(&job, url, &source) == REC_OK;
    fuzz_must(good == (source != NULL), "a source or a failure");
    must_be_silent(source ? rec_source_name(source) : NULL);
    for (unsigned i = 0; good && i < reads; i++) {
        good = read_next(&job, source, picks + 2 * (size_t)i);
    }
    fuzz_must(flags & FLAG_CACHE || server.performed <= reads + 1 + TRIES + 1, "the number of requests is limited");
    if (good && flags & FLAG_BESIDE) {
        open_beside(&job, source);
    }
    rec_source_release(source);
    must_end_silent(&job);
}

/* The cache has the files of two addresses at most, and no unfinished ones. */
static void remove_cache(const char *folder)
{
    DIR *list = opendir(folder);
    struct dirent *entry;
    while (list && (entry = readdir(list)) != NULL) {
        fuzz_must(!strstr(entry->d_name, ".new"), "no unfinished index stays");
        (void)unlinkat(dirfd(list), entry->d_name, 0);
    }
    if (list) {
        (void)closedir(list);
        fuzz_must(rmdir(folder) == 0, "the cache has no directories");
    }
}

int fuzz_server(const uint8_t *data, size_t size)
{
    static const uint64_t totals[] = {150000,
                                      1,
                                      100,
                                      65535,
                                      65536,
                                      65537,
                                      (1 << 20) + 1,
                                      3 << 20,
                                      0,
                                      UINT64_C(1) << 40,
                                      (UINT64_C(1) << 44) + 1,
                                      UINT64_MAX / 2,
                                      UINT64_MAX / 10};
    uint8_t flags, picks[2 * READS_MOST];
    char folder[128];
    unsigned reads;
    server.at = data;
    server.end = data + size;
    flags = next();
    server.total = totals[next() % (sizeof totals / sizeof *totals)];
    reads = next() % (READS_MOST + 1u);
    for (unsigned i = 0; i < 2 * reads; i++) {
        picks[i] = next();
    }
    (void)snprintf(server.tag, LINE, "%s", tags[1]);
    (void)snprintf(folder, sizeof folder, "%s/served", fuzz_folder());
    fuzz_must(setenv("LIBRECORD_HTTP_AUTHORIZATION", "Bearer TOKENQ", 1) == 0 &&
                  (flags & FLAG_CACHE ? setenv("LIBRECORD_CACHE", folder, 1) : unsetenv("LIBRECORD_CACHE")) == 0,
              "an environment");
    for (unsigned i = 0; i < (flags & FLAG_TWICE ? 2 : 1); i++) {
        read_it(size, flags, picks, reads);
    }
    remove_cache(folder);
    return 1;
}

#else

int fuzz_server(const uint8_t *data, size_t size)
{
    (void)data;
    (void)size;
    return 0;
}

#endif
