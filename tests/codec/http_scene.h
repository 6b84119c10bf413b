/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the tests of files of a server share: answers, the server, sources that are opened and read, and pauses that
 * take no time. */
#ifndef HTTP_SCENE_H
#define HTTP_SCENE_H

#include <stdbool.h>
#include <time.h>

#include "plugins/codec/http/http.h"
#include "tests/codec/http_server.h"

#define HEAD_206 "HTTP/1.1 206 Partial Content\r\n"
#define TAG "ETag: \"one\"\r\n"
#define PART HEAD_206 "Content-Range: bytes %F-%L/%T\r\nContent-Length: %N\r\n" TAG "\r\n%B"
#define HALF HEAD_206 "Content-Range: bytes %F-%L/%T\r\nContent-Length: %N\r\n" TAG "\r\n%H%X"
#define NONE HEAD_206 "Content-Range: bytes %F-%L/%T\r\nContent-Length: %N\r\n" TAG "\r\n%X"
#define WHOLE "HTTP/1.1 200 OK\r\nContent-Length: %T\r\n" TAG "\r\n%W"
#define ERROR_PAGE(code) "HTTP/1.1 " code " x\r\nContent-Length: 4\r\n\r\npage"

enum { TOTAL = 150000, FIRST = 65536, MIB = 1 << 20 };

/* --------------------------------------------------------------------------------------------------- the scene -- */

static unsigned paused;                  /* milliseconds that were waited for, in no time */
static REC_MAYBE_UNUSED int interrupted; /* pauses that a signal ends */

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    if (interrupted) {
        interrupted--;
        *left = *wanted;
        errno = EINTR;
        return -1;
    }
    paused += (unsigned)(wanted->tv_sec * 1000 + wanted->tv_nsec / 1000000);
    return 0;
}

static http_server server;

static REC_MAYBE_UNUSED int begin_server(void **state)
{
    static const char *const names[] = {"http_proxy", "all_proxy",       "no_proxy",     "LIBRECORD_HTTP_AUTHORIZATION",
                                        "ALL_PROXY",  "LIBRECORD_CACHE", "SSL_CERT_FILE"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)unsetenv(names[i]);
    }
    server_begin(&server);
    return 0;
}

static REC_MAYBE_UNUSED int end_server(void **state)
{
    (void)state;
    server_end(&server);
    return 0;
}

static REC_MAYBE_UNUSED int enter(void **state)
{
    paused = 0;
    return enter_world(state);
}

static REC_MAYBE_UNUSED int leave(void **state)
{
    (void)unsetenv("LIBRECORD_CACHE");
    (void)unsetenv("LIBRECORD_HTTP_AUTHORIZATION");
    (void)unsetenv("http_proxy");
    return leave_world(state);
}

#define SCRIPT(total, ...)                                                          \
    do {                                                                            \
        static const char *const script_[] = {__VA_ARGS__};                         \
        server_script(&server, (total), script_, sizeof script_ / sizeof *script_); \
    } while (0)

static REC_MAYBE_UNUSED const char *url_of(const char *path)
{
    static char url[256];
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d%s", server.port, path);
    return url;
}

/* NULL: it failed, and the job says how. */
static REC_MAYBE_UNUSED rec_source *open_url(world *w, const char *url)
{
    rec_source *source = NULL;
    int32_t status = lr_http_open(&w->job, url, &source);
    assert_true((status == REC_OK) == (source != NULL));
    return source;
}

static REC_MAYBE_UNUSED rec_source *open_good(world *w)
{
    rec_source *source = open_url(w, url_of("/m"));
    if (!source) {
        (void)lr_job_end(&w->job);
        fail_msg("%s", rec_error_message());
    }
    return source;
}

static REC_MAYBE_UNUSED void assert_bytes(world *w, rec_source *source, uint64_t offset, uint64_t size)
{
    uint8_t *data = malloc((size_t)size);
    assert_non_null(data);
    if (rec_source_read_at(&w->job, source, offset, data, size) != REC_OK) {
        (void)lr_job_end(&w->job);
        fail_msg("%s", rec_error_message());
    }
    for (uint64_t i = 0; i < size; i++) {
        if (data[i] != pattern(offset + i)) {
            fail_msg("byte %" PRIu64 " differs", offset + i);
        }
    }
    free(data);
}

static REC_MAYBE_UNUSED int32_t read_all(world *w, rec_source *source, uint64_t offset, uint64_t size)
{
    uint8_t *data = malloc((size_t)size);
    int32_t status;
    assert_non_null(data);
    status = rec_source_read_at(&w->job, source, offset, data, size);
    free(data);
    return status;
}

static REC_MAYBE_UNUSED void assert_range(int number, const char *range)
{
    assert_string_equal(server_request(&server, number).range, range);
}

/* Ends the job, which must have gone well and noted that. NULL: nothing. */
static REC_MAYBE_UNUSED void assert_noted(world *w, const char *words)
{
    assert_int_equal(lr_job_end(&w->job), REC_OK);
    assert_int_equal(rec_report_count(), words ? 1 : 0);
    if (words) {
        assert_contains(rec_report_note(0)->text, words);
    }
    begin_job(w);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

#endif
