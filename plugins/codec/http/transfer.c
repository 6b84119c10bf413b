/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Requests by libcurl. Only http and https are allowed, certificates are checked, and a redirection never leads from
 * https to http. Passwords come from the address, from ~/.netrc, or from LIBRECORD_HTTP_AUTHORIZATION, which is sent
 * only to the requested host, and without TLS only to this computer. */
#include "plugins/codec/http/transfer.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "common/sha256.h"

enum {
    TRIES = 5, /* of a request that breaks without a byte, one after the other */
    REDIRECTIONS_MOST = 10,
    CONNECT_SECONDS = 30,
    FIRST_PAUSE = 200 /* milliseconds; then twice as long each time */
};

/** A request under way. */
typedef struct request {
    lr_http *http;
    rec_job *job;
    lr_http_take take;
    void *user;
    uint64_t offset, size; /* the requested range */
    uint64_t got;          /* of that, over all tries */
    uint64_t total;        /* what this answer says: of the whole file; REC_UNKNOWN */
    uint64_t from;         /* where its bytes begin */
    uint64_t length;       /* of its body; REC_UNKNOWN */
    char tag[LR_HTTP_TAG], modified[LR_HTTP_TAG];
    long code;
    int32_t status; /* of what ended it from our side */
    bool judged;    /* the answer's headers were looked at */
    bool skipping;  /* it is no answer to keep: an error's page */
    char words[CURL_ERROR_SIZE];
} request;

/* ------------------------------------------------------------------------------------------------------ limits -- */

static const lr_http_limits standard = {.speed = 1024, .seconds = 60, .tries = 10, .bytes = UINT64_C(64) << 30};

/* Parses digits at `*text` and moves past them. Returns false for no digits, or a number larger than `most`. */
static bool read_digits(const char **text, uint64_t most, uint64_t *number)
{
    const char *begin = *text;
    *number = 0;
    for (; **text >= '0' && **text <= '9'; (*text)++) {
        uint64_t digit = (uint64_t)(**text - '0');
        if (*number > (most - digit) / 10) {
            return false;
        }
        *number = *number * 10 + digit;
    }
    return *text > begin;
}

static bool read_number(const char *text, uint64_t most, uint64_t *number)
{
    return read_digits(&text, most, number) && !*text;
}

/* BYTES or BYTES/SECONDS. */
static bool read_speed(const char *text, lr_http_limits *limits)
{
    if (!read_digits(&text, LONG_MAX, &limits->speed)) {
        return false;
    }
    if (*text == '/' && !(text++, read_digits(&text, LONG_MAX, &limits->seconds) && limits->seconds)) {
        return false;
    }
    limits->seconds = limits->speed ? limits->seconds : 0;
    return !*text;
}

static int32_t fail_value(rec_job *job, const char *variable, const char *value, const char *wanted)
{
    return rec_fail(job, REC_E_CONFIG, REC_UNKNOWN, "the environment variable %s is \"%.40s\"; expected %s", variable,
                    value, wanted);
}

/* Reads LIBRECORD_HTTP_SPEED, LIBRECORD_HTTP_TRIES, LIBRECORD_HTTP_SIZE and LIBRECORD_HTTP_TIME. A variable that is not
 * set leaves the default; one that is no such number is a failure. */
static int32_t read_limits(rec_job *job, lr_http_limits *limits)
{
    const struct {
        const char *name;
        uint64_t most, *number;
    } numbers[] = {{"LIBRECORD_HTTP_TRIES", UINT64_MAX, &limits->tries},
                   {"LIBRECORD_HTTP_SIZE", UINT64_MAX, &limits->bytes},
                   {"LIBRECORD_HTTP_TIME", LONG_MAX / 1000, &limits->time}};
    const char *speed = secure_getenv("LIBRECORD_HTTP_SPEED");
    *limits = standard;
    if (speed && *speed && !read_speed(speed, limits)) {
        return fail_value(job, "LIBRECORD_HTTP_SPEED", speed, "BYTES or BYTES/SECONDS, such as 1024/60");
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const char *value = secure_getenv(numbers[i].name);
        if (value && *value && !read_number(value, numbers[i].most, numbers[i].number)) {
            return fail_value(job, numbers[i].name, value, "a whole number");
        }
    }
    return REC_OK;
}

/* ----------------------------------------------------------------------------------------------------- handles -- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CURLcode ready;

/* libcurl's own tables; they stay, as the plugin does. */
static void begin(void)
{
    ready = curl_global_init(CURL_GLOBAL_DEFAULT);
}

static int32_t no_memory(rec_job *job)
{
    return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for a transfer");
}

/* The address to show in messages. */
static char *shown(const char *url)
{
    uint64_t room = rec_display_name(url, NULL, 0) + 1;
    char *name = malloc((size_t)room);
    if (name) {
        (void)rec_display_name(url, name, room);
    }
    return name;
}

static bool is_tls(const char *url)
{
    return strncasecmp(url, "https:", 6) == 0;
}

/* Whether a password may be sent there: by TLS, or to this computer. @param name the address without user and password,
 *  which may look like a host. */
static bool is_private(const char *name)
{
    static const char *const here[] = {"http://localhost", "http://127.0.0.1", "http://[::1]"};
    if (is_tls(name)) {
        return true;
    }
    for (size_t i = 0; i < sizeof here / sizeof here[0]; i++) {
        size_t length = strlen(here[i]);
        if (strncasecmp(name, here[i], length) == 0 && strchr(":/?#", name[length])) {
            return true;
        }
    }
    return false;
}

/* Whether every one of a value's characters may stand in a header. */
static bool is_header(const char *value)
{
    for (; *value; value++) {
        if ((unsigned char)*value < ' ' || *value == 0x7F) {
            return false;
        }
    }
    return true;
}

static int32_t authorize(lr_http *http, rec_job *job)
{
    const char *value = secure_getenv("LIBRECORD_HTTP_AUTHORIZATION");
    struct curl_slist *headers;
    char *header;
    size_t size;
    if (!value || !*value || !is_private(http->name)) {
        return REC_OK;
    }
    if (!is_header(value)) {
        return rec_fail(job, REC_E_CONFIG, REC_UNKNOWN,
                        "the environment variable LIBRECORD_HTTP_AUTHORIZATION holds a control character");
    }
    size = strlen(value) + sizeof "Authorization: ";
    header = malloc(size);
    if (!header) {
        return no_memory(job);
    }
    (void)snprintf(header, size, "Authorization: %s", value);
    headers = curl_slist_append(http->headers, header);
    free(header);
    http->headers = headers ? headers : http->headers;
    return headers ? REC_OK : no_memory(job);
}

static size_t on_body(char *data, size_t one, size_t size, void *user);
static size_t on_header(char *data, size_t one, size_t size, void *user);
static int on_progress(void *user, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up);

#define SET(option, value) (curl_easy_setopt(curl, option, value) == CURLE_OK)

static bool set_up(CURL *curl, const lr_http *http)
{
    const char *redirected = is_tls(http->url) ? "https" : "http,https";
    const char *bundle = secure_getenv("SSL_CERT_FILE");
    bool done =
        SET(CURLOPT_URL, http->url) && SET(CURLOPT_PROTOCOLS_STR, "http,https") &&
        SET(CURLOPT_REDIR_PROTOCOLS_STR, redirected) && SET(CURLOPT_FOLLOWLOCATION, 1L) &&
        SET(CURLOPT_MAXREDIRS, (long)REDIRECTIONS_MOST) && SET(CURLOPT_NOSIGNAL, 1L) &&
        SET(CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS) && SET(CURLOPT_LOW_SPEED_LIMIT, (long)http->limits.speed) &&
        SET(CURLOPT_LOW_SPEED_TIME, (long)http->limits.seconds) && SET(CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL) &&
        SET(CURLOPT_ACCEPT_ENCODING, NULL) && SET(CURLOPT_HTTP_CONTENT_DECODING, 0L) &&
        SET(CURLOPT_USERAGENT, "librecord") && SET(CURLOPT_WRITEFUNCTION, on_body) &&
        SET(CURLOPT_HEADERFUNCTION, on_header) && SET(CURLOPT_XFERINFOFUNCTION, on_progress) &&
        SET(CURLOPT_NOPROGRESS, 0L) && SET(CURLOPT_SSL_VERIFYPEER, 1L) && SET(CURLOPT_SSL_VERIFYHOST, 2L);
    if (done && http->headers) { /* a token that goes without TLS stays on this computer: no proxy sees it */
        done = SET(CURLOPT_HTTPHEADER, http->headers) && (is_tls(http->url) || SET(CURLOPT_PROXY, ""));
    }
    return done && (!bundle || !*bundle || SET(CURLOPT_CAINFO, bundle));
}

lr_http *lr_http_new(rec_job *job, const char *url)
{
    lr_http *http;
    (void)pthread_once(&once, begin);
    if (ready != CURLE_OK) {
        (void)rec_fail(job, REC_E_IO, REC_UNKNOWN, "libcurl cannot begin: %s", curl_easy_strerror(ready));
        return NULL;
    }
    http = calloc(1, sizeof *http);
    if (!http) {
        (void)no_memory(job);
        return NULL;
    }
    http->url = strdup(url);
    http->name = http->url ? shown(url) : NULL;
    http->curl = http->name ? curl_easy_init() : NULL;
    if (!http->curl) {
        (void)no_memory(job);
    } else if (read_limits(job, &http->limits) == REC_OK && authorize(http, job) == REC_OK) {
        if (set_up(http->curl, http)) {
            return http;
        }
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "this libcurl (%s) cannot be set up as it must be",
                       curl_version());
    }
    lr_http_free(http);
    return NULL;
}

void lr_http_free(lr_http *http)
{
    if (http) {
        curl_easy_cleanup(http->curl);
        curl_slist_free_all(http->headers);
        free(http->url);
        free(http->name);
        free(http);
    }
}

char *lr_http_beside(const lr_http *http, const char *name)
{
    static const char hex[] = "0123456789ABCDEF";
    const char *url = http->url, *path = strstr(url, "://") + 3, *tail, *slash;
    size_t before, room = strlen(url) + 3 * strlen(name) + 2, used;
    char *other = malloc(room);
    path += strcspn(path, "/?#");
    tail = path + strcspn(path, "?#"); /* what follows counts for all files: a token, a revision */
    slash = tail;
    while (slash > path && slash[-1] != '/') {
        slash--;
    }
    before = (size_t)(slash - url);
    if (!other) {
        return NULL;
    }
    used = (size_t)snprintf(other, room, "%.*s%s", (int)before, url, slash == path ? "/" : "");
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        bool plain =
            (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || strchr("-._~/", *c);
        if (plain) {
            other[used++] = (char)*c;
        } else {
            other[used++] = '%';
            other[used++] = hex[*c >> 4];
            other[used++] = hex[*c & 15];
        }
    }
    (void)snprintf(other + used, room - used, "%.*s", (int)strcspn(tail, "#"), tail);
    return other;
}

/* ----------------------------------------------------------------------------------------------------- answers -- */

/* The value of a header of that name, without the spaces around it. @return NULL: it is another header. */
static const char *value_of(const char *line, size_t length, const char *name, size_t *size)
{
    size_t at = strlen(name);
    if (length <= at || line[at] != ':' || strncasecmp(line, name, at) != 0) {
        return NULL;
    }
    at++;
    while (at < length && (line[at] == ' ' || line[at] == '\t')) {
        at++;
    }
    while (length > at && strchr(" \t\r\n", line[length - 1])) {
        length--;
    }
    *size = length - at;
    return line + at;
}

/* Parses digits at `*text` and moves past them. @return false: no digits, or too many. */
static bool digits(const char **text, const char *end, uint64_t *number)
{
    const char *begin = *text;
    *number = 0;
    while (*text < end && **text >= '0' && **text <= '9' && *text - begin < 19) {
        *number = *number * 10 + (uint64_t)(**text - '0');
        (*text)++;
    }
    return *text > begin && (*text == end || **text < '0' || **text > '9');
}

/* "bytes 0-99/1234", or of a range that is not there "bytes * /1234" (without the space). */
static void content_range(request *r, const char *text, size_t size)
{
    const char *end = text + size;
    uint64_t last;
    if (size < 6 || strncasecmp(text, "bytes ", 6) != 0) {
        return;
    }
    text += 6;
    if (text < end && *text == '*') {
        text++;
    } else if (!digits(&text, end, &r->from) || text == end || *text++ != '-' || !digits(&text, end, &last) ||
               last < r->from) {
        r->from = REC_UNKNOWN;
        return;
    }
    if (text == end || *text++ != '/' || !digits(&text, end, &r->total) || text != end) {
        r->total = REC_UNKNOWN;
    }
}

/* Keeps a validator, or the digest of one that is too long: different ones stay different. */
static void keep_text(char *target, const char *text, size_t size)
{
    if (size < LR_HTTP_TAG) {
        (void)snprintf(target, LR_HTTP_TAG, "%.*s", (int)size, text);
    } else {
        lr_sha256_hex(text, size, target);
    }
}

static size_t on_header(char *data, size_t one, size_t count, void *user)
{
    request *r = user;
    size_t size, length = one * count;
    const char *value;
    if (r->judged) { /* a trailer: the headers counted */
        return length;
    }
    if (length >= 5 && strncasecmp(data, "HTTP/", 5) == 0) { /* another answer: of a redirection came before */
        r->total = r->length = REC_UNKNOWN;
        r->from = REC_UNKNOWN;
        r->tag[0] = r->modified[0] = '\0';
    } else if ((value = value_of(data, length, "Content-Range", &size))) {
        content_range(r, value, size);
    } else if ((value = value_of(data, length, "Content-Length", &size))) {
        const char *end = value + size;
        if (!digits(&value, end, &r->length) || value != end) {
            r->length = REC_UNKNOWN;
        }
    } else if ((value = value_of(data, length, "ETag", &size))) {
        keep_text(r->tag, value, size);
    } else if ((value = value_of(data, length, "Last-Modified", &size))) {
        keep_text(r->modified, value, size);
    }
    return length;
}

static int on_progress(void *user, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up)
{
    request *r = user;
    (void)total, (void)now, (void)up_total, (void)up;
    if (r->status == REC_OK) {
        r->status = rec_job_progress(r->job, r->offset + r->got, r->http->known ? r->http->facts.total : REC_UNKNOWN);
    }
    return r->status != REC_OK;
}

static int32_t fail_changed(request *r)
{
    int32_t status = rec_fail(r->job, REC_E_IO, REC_UNKNOWN, "the file on the server changed while it was read");
    rec_fail_hint(r->job, "Data read so far belong to the old file: start again.");
    return status;
}

static int32_t fail_code(request *r)
{
    int32_t status;
    if (r->code == 404 || r->code == 410) {
        if (r->http->optional && !r->http->known) {
            r->http->absent = true;
            return REC_OK;
        }
        return rec_fail(r->job, REC_E_NOT_FOUND, REC_UNKNOWN, "the server has no such file (%ld)", r->code);
    }
    status = rec_fail(r->job, REC_E_IO, REC_UNKNOWN, "the server answers %ld%s", r->code,
                      r->code == 401   ? " (unauthorized)"
                      : r->code == 403 ? " (forbidden)"
                      : r->code == 429 ? " (too many requests)"
                      : r->code >= 500 ? " (an error of its own)"
                                       : "");
    if (r->code == 401 || r->code == 403) {
        rec_fail_hint(r->job,
                      "A password can stand in ~/.netrc, a token in LIBRECORD_HTTP_AUTHORIZATION (\"Bearer …\").");
    }
    return status;
}

/* What the first answer says of the file. */
static void learn(request *r)
{
    lr_http_facts *facts = &r->http->facts;
    facts->ranges = r->code == 206;
    facts->total = r->code == 200 ? r->length : r->total;
    (void)snprintf(facts->tag, sizeof facts->tag, "%s", r->tag[0] ? r->tag : r->modified);
    r->http->known = true;
}

/* The headers are complete: whether this is the answer to the request. @return a status that is not REC_OK ends it. */
static int32_t judge(request *r)
{
    const lr_http_facts *facts = &r->http->facts;
    const char *tag = r->tag[0] ? r->tag : r->modified;
    uint64_t at = r->offset + r->got, whole;
    (void)curl_easy_getinfo(r->http->curl, CURLINFO_RESPONSE_CODE, &r->code);
    r->judged = true;
    if (r->code != 200 && r->code != 206) {
        r->skipping = true;
        return REC_OK;
    }
    whole = r->code == 206 ? r->total : r->length;
    if (r->code == 206 && r->from != at) {
        return rec_fail_found(r->job, REC_E_IO, REC_UNKNOWN, "the requested bytes",
                              r->from == REC_UNKNOWN ? "an answer that does not say which they are"
                                                     : "an answer that begins at byte %" PRIu64,
                              r->from);
    }
    if (r->code == 206 && whole == REC_UNKNOWN) {
        return rec_fail(r->job, REC_E_IO, REC_UNKNOWN, "the server does not report the size of the file");
    }
    if (!r->http->known) {
        learn(r);
        if (facts->ranges && r->size > whole) {
            r->size = whole;
        }
        return REC_OK;
    }
    if (strcmp(tag, facts->tag) != 0 ||
        (whole != REC_UNKNOWN && facts->total != REC_UNKNOWN && whole != facts->total)) {
        return fail_changed(r);
    }
    if (r->code == 200 && facts->ranges) { /* there is room for a part alone, also at the beginning */
        return rec_fail(r->job, REC_E_IO, REC_UNKNOWN, "the server sends no parts of the file any more");
    }
    if (r->code == 206 && !facts->ranges) {
        return rec_fail(r->job, REC_E_IO, REC_UNKNOWN, "the server sends a part after all of the file");
    }
    return REC_OK;
}

static size_t on_body(char *data, size_t one, size_t count, void *user)
{
    request *r = user;
    uint64_t size = (uint64_t)one * count, left;
    if (r->status == REC_OK && !r->judged) {
        r->status = judge(r);
    }
    if (r->status != REC_OK) {
        return CURL_WRITEFUNC_ERROR;
    }
    if (r->skipping) {
        return (size_t)size;
    }
    left = r->code == 200 ? REC_UNKNOWN : r->size - r->got;
    if (size > left) {
        r->status = rec_fail(r->job, REC_E_IO, REC_UNKNOWN, "the server sends more bytes than requested");
        return CURL_WRITEFUNC_ERROR;
    }
    r->status = r->take(r->user, r->job, data, size);
    r->got += size;
    return r->status == REC_OK ? (size_t)size : CURL_WRITEFUNC_ERROR;
}

/* ---------------------------------------------------------------------------------------------------- requests -- */

/* Whether the server answers, but too slowly; else what timed out is the connection, which may go better. */
static bool is_slow(const request *r, CURLcode code)
{
    curl_off_t connected = 0;
    return code == CURLE_OPERATION_TIMEDOUT &&
           curl_easy_getinfo(r->http->curl, CURLINFO_PRETRANSFER_TIME_T, &connected) == CURLE_OK && connected > 0;
}

/* Whether another try may go better. */
static bool is_passing(const request *r, CURLcode code)
{
    if (is_slow(r, code)) {
        return false;
    }
    switch (code) {
    case CURLE_OK:
        return r->skipping && (r->code == 429 || r->code == 408 || r->code >= 500);
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_COULDNT_CONNECT:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_SSL_CONNECT_ERROR:
        return true;
    default:
        return false;
    }
}

static void pause_for(unsigned milliseconds)
{
    struct timespec time = {.tv_sec = milliseconds / 1000, .tv_nsec = (long)(milliseconds % 1000) * 1000000};
    while (nanosleep(&time, &time) != 0 && errno == EINTR) {
    }
}

/* Returns the time left for the requests of the file: 0 without a limit, negative if it is used up. */
static long time_left(const lr_http *http)
{
    uint64_t all = http->limits.time * 1000;
    return !all ? 0 : http->milliseconds < all ? (long)(all - http->milliseconds) : -1;
}

static CURLcode run(request *r)
{
    CURL *curl = r->http->curl;
    long left = time_left(r->http);
    curl_off_t took = 0;
    CURLcode code;
    if (left < 0) {
        return CURLE_OPERATION_TIMEDOUT;
    }
    if (!SET(CURLOPT_TIMEOUT_MS, left)) {
        return CURLE_OUT_OF_MEMORY;
    }
    code = curl_easy_perform(curl);
    if (curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME_T, &took) == CURLE_OK) {
        r->http->milliseconds += (uint64_t)took / 1000 + 1;
    }
    return code;
}

static CURLcode perform(request *r)
{
    CURL *curl = r->http->curl;
    char range[64];
    (void)snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, r->offset + r->got, r->offset + r->size - 1);
    r->total = r->length = r->from = REC_UNKNOWN;
    r->tag[0] = r->modified[0] = r->words[0] = '\0';
    r->code = 0;
    r->judged = r->skipping = false;
    if (!SET(CURLOPT_RANGE, range) || !SET(CURLOPT_WRITEDATA, r) || !SET(CURLOPT_HEADERDATA, r) ||
        !SET(CURLOPT_XFERINFODATA, r) || !SET(CURLOPT_ERRORBUFFER, r->words)) {
        return CURLE_OUT_OF_MEMORY;
    }
    return run(r);
}

/* A try ended. @return whether all is there. */
static bool is_complete(request *r, CURLcode code)
{
    if (r->status == REC_OK && r->judged && r->code == 206 && r->got == r->size) {
        return true; /* however the connection ended */
    }
    if (code != CURLE_OK || r->status != REC_OK) {
        return false;
    }
    if (!r->judged) { /* without a body */
        r->status = judge(r);
    }
    if (r->code == 416 && r->total == 0 && !r->http->known) { /* a file of no bytes has no part */
        r->http->facts = (lr_http_facts){.total = 0, .ranges = true};
        r->http->known = true;
        r->size = 0;
        return true;
    }
    if (r->status != REC_OK || r->skipping) {
        return false;
    }
    if (r->code == 200) {
        return r->length == REC_UNKNOWN || r->got == r->length;
    }
    return r->got == r->size;
}

/* libcurl's message, except for messages that quote an address: of a proxy with its password, or of a redirection. */
static const char *words_of(const request *r, CURLcode code)
{
    bool quotes = strstr(r->words, "://") || strchr(r->words, '@');
    return r->words[0] && !quotes ? r->words : curl_easy_strerror(code);
}

static int32_t fail_slow(request *r)
{
    const lr_http_limits *limits = &r->http->limits;
    if (time_left(r->http) < 0) {
        (void)rec_fail(r->job, REC_E_LIMIT, REC_UNKNOWN,
                       "the requests for the file took more than %" PRIu64 " seconds, the limit", limits->time);
        rec_fail_hint(r->job, "LIBRECORD_HTTP_TIME (record: --http-time) sets it; 0: no limit.");
    } else {
        (void)rec_fail(r->job, REC_E_LIMIT, REC_UNKNOWN,
                       "the server sends less than %" PRIu64 " bytes a second (over %" PRIu64 " s)", limits->speed,
                       limits->seconds);
        rec_fail_hint(r->job,
                      "LIBRECORD_HTTP_SPEED (record: --http-speed) sets the limit: BYTES/SECONDS; 0: no limit.");
    }
    return REC_E_LIMIT;
}

static int32_t fail_tries(request *r)
{
    (void)rec_fail(r->job, REC_E_LIMIT, REC_UNKNOWN, "%" PRIu64 " requests for the file failed, more than the limit",
                   r->http->failures);
    rec_fail_hint(r->job, "LIBRECORD_HTTP_TRIES (record: --http-tries) sets it.");
    return REC_E_LIMIT;
}

static int32_t fail_transfer(request *r, CURLcode code)
{
    int32_t status;
    if (r->status != REC_OK) {
        return r->status;
    }
    if (code == CURLE_OK && r->skipping) {
        return fail_code(r);
    }
    if (is_slow(r, code) || time_left(r->http) < 0) {
        return fail_slow(r);
    }
    if (r->http->failures > r->http->limits.tries) {
        return fail_tries(r);
    }
    if (code == CURLE_OUT_OF_MEMORY) {
        return no_memory(r->job);
    }
    if (code == CURLE_OK) {
        return rec_fail(r->job, REC_E_IO, REC_UNKNOWN,
                        "the server ends the file after %" PRIu64 " of %" PRIu64 " bytes", r->got, r->size);
    }
    status = rec_fail(r->job, REC_E_IO, REC_UNKNOWN, "the transfer failed: %s", words_of(r, code));
    if (code == CURLE_PEER_FAILED_VERIFICATION) {
        rec_fail_hint(r->job,
                      "Its certificate is not one that this computer trusts; SSL_CERT_FILE may name a file of others.");
    }
    return status;
}

int32_t lr_http_get(lr_http *http, rec_job *job, uint64_t offset, uint64_t size, lr_http_take take, void *user)
{
    request r = {.http = http, .job = job, .take = take, .user = user, .offset = offset, .size = size};
    unsigned pause = FIRST_PAUSE;
    CURLcode code = CURLE_OK;
    for (int tries = 0; tries < TRIES; tries++) {
        uint64_t before = r.got;
        code = perform(&r);
        if (is_complete(&r, code)) {
            return REC_OK;
        }
        if (r.status != REC_OK || !(is_passing(&r, code) || (code == CURLE_OK && !r.skipping))) {
            break;
        }
        if (++http->failures > http->limits.tries || time_left(http) < 0) {
            break;
        }
        if (r.got > before) { /* it went on: the tries in a row count from here */
            tries = 0;
            pause = FIRST_PAUSE;
        }
        if (r.got && http->known && !http->facts.ranges) {
            break; /* it would start from the beginning */
        }
        pause_for(pause);
        pause *= 2;
    }
    return fail_transfer(&r, code);
}
