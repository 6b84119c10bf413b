/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files of a server: what is asked for, every answer that is none, other addresses, and who sees a token. The server is
 * a thread of this program. */
#undef _FORTIFY_SOURCE /* nanosleep() is defined here */
#include "tests/codec/http_scene.h"

/* ------------------------------------------------------------------------------------------- what is asked for -- */

static void a_window_follows_who_reads(void **state)
{
    world *w = *state;
    rec_source *source;
    SCRIPT(5 * MIB, PART);
    source = open_good(w);
    assert_int_equal(rec_source_size(source), 5 * MIB);
    assert_range(0, "bytes=0-65535");
    assert_bytes(w, source, 10, 1000);
    assert_int_equal(server_asked(&server), 1);
    assert_bytes(w, source, FIRST - 10, 100); /* 10 bytes of what is there, and on: twice as much each time */
    assert_range(1, "bytes=65536-196607");
    assert_bytes(w, source, 196608, 1);
    assert_range(2, "bytes=196608-458751");
    assert_bytes(w, source, 100, 10); /* elsewhere: as much as at first */
    assert_range(3, "bytes=100-65635");
    assert_bytes(w, source, 4 * MIB, 100000); /* more than that */
    assert_range(4, "bytes=4194304-4294303");
    assert_bytes(w, source, 5 * MIB - 5, 5); /* no more than there is */
    assert_range(5, "bytes=5242875-5242879");
    assert_bytes(w, source, 5, 2 * MIB); /* much goes where it is wanted */
    assert_range(6, "bytes=5-2097156");
    assert_int_equal(server_asked(&server), 7);
    rec_source_release(source);
}

static void a_file_of_no_bytes_is_one(void **state)
{
    world *w = *state;
    rec_source *source;
    uint64_t got;
    uint8_t byte;
    SCRIPT(0, "HTTP/1.1 416 x\r\nContent-Range: bytes */0\r\nContent-Length: 0\r\n\r\n");
    source = open_good(w);
    assert_int_equal(rec_source_size(source), 0);
    assert_int_equal(rec_source_read(&w->job, source, &byte, 1, &got), REC_OK);
    assert_int_equal(got, 0);
    rec_source_release(source);
    SCRIPT(0, "HTTP/1.1 200 x\r\nContent-Length: 0\r\n\r\n");
    source = open_good(w);
    assert_int_equal(rec_source_size(source), 0);
    rec_source_release(source);
}

#define FIFTY "01234567890123456789012345678901234567890123456789"
#define LONG FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY

/* Answers, the last of them for all that follow, and what becomes of a file that is opened and read whole. */
static const struct {
    const char *answers[3];
    int32_t status; /* REC_OK: it has its bytes */
    const char *words;
    int asked;
    unsigned paused; /* milliseconds */
} answers[] = {
    {{PART}, REC_OK, NULL, 2, 0},
    /* broken off, and gone on with */
    {{HALF, PART}, REC_OK, NULL, 3, 200},
    {{PART, NONE, PART}, REC_OK, NULL, 3, 200},
    {{HALF, NONE, PART}, REC_OK, NULL, 4, 600},
    {{NONE}, REC_E_IO, "the transfer failed: transfer closed with 65536 bytes remaining to read", 5, 6200},
    {{"%X"}, REC_E_IO, "the transfer failed: Empty reply from server", 5, 6200},
    {{HEAD_206 "Content-Range: bytes %F-%L/%T\r\nContent-Length: 0\r\n" TAG "\r\n"},
     REC_E_IO,
     "the server ends the file after 0 of 65536 bytes",
     5,
     6200},
    {{HEAD_206 "Content-Range: bytes %F-%L/%T\r\nContent-Length: 1\r\n" TAG "\r\n%O", PART}, REC_OK, NULL, 3, 200},
    /* errors of the server's */
    {{ERROR_PAGE("401")}, REC_E_IO, "the server answers 401 (unauthorized)", 1, 0},
    {{ERROR_PAGE("403")}, REC_E_IO, "the server answers 403 (forbidden)", 1, 0},
    {{ERROR_PAGE("404")}, REC_E_NOT_FOUND, "the server has no such file (404)", 1, 0},
    {{ERROR_PAGE("410")}, REC_E_NOT_FOUND, "the server has no such file (410)", 1, 0},
    {{ERROR_PAGE("416")}, REC_E_IO, "the server answers 416", 1, 0},
    {{ERROR_PAGE("418")}, REC_E_IO, "the server answers 418", 1, 0},
    {{ERROR_PAGE("408"), PART}, REC_OK, NULL, 3, 200},
    {{ERROR_PAGE("429")}, REC_E_IO, "the server answers 429 (too many requests)", 5, 6200},
    {{ERROR_PAGE("503")}, REC_E_IO, "the server answers 503 (an error of its own)", 5, 6200},
    {{PART, ERROR_PAGE("404")}, REC_E_NOT_FOUND, "the server has no such file (404)", 2, 0},
    /* which part it is */
    {{HEAD_206 "Content-Length: %N\r\n\r\n%B"},
     REC_E_IO,
     "expected the requested bytes, found an answer that does not say which they are",
     1,
     0},
    {{HEAD_206 "Content-Range: octets 0-9/10\r\nContent-Length: %N\r\n\r\n%B"}, REC_E_IO, "does not say which", 1, 0},
    {{HEAD_206 "Content-Range: bytes\r\nContent-Length: %N\r\n\r\n%B"}, REC_E_IO, "does not say which", 1, 0},
    {{HEAD_206 "Content-Range: bytes \r\nContent-Length: %N\r\n\r\n%B"}, REC_E_IO, "does not say which", 1, 0},
    {{HEAD_206 "Content-Range: bytes x-1/%T\r\nContent-Length: %N\r\n\r\n%B"}, REC_E_IO, "does not say which", 1, 0},
    {{HEAD_206 "Content-Range: bytes 0\r\nContent-Length: %N\r\n\r\n%B"}, REC_E_IO, "does not say which", 1, 0},
    {{HEAD_206 "Content-Range: bytes 0+9/%T\r\nContent-Length: %N\r\n\r\n%B"}, REC_E_IO, "does not say which", 1, 0},
    {{HEAD_206 "Content-Range: bytes 0-/%T\r\nContent-Length: %N\r\n\r\n%B"}, REC_E_IO, "does not say which", 1, 0},
    {{HEAD_206 "Content-Range: bytes 9-8/%T\r\nContent-Length: %N\r\n\r\n%B"}, REC_E_IO, "does not say which", 1, 0},
    {{HEAD_206 "Content-Range: bytes 00000000000000000000-1/%T\r\nContent-Length: %N\r\n\r\n%B"},
     REC_E_IO,
     "does not say which",
     1,
     0},
    {{HEAD_206 "Content-Range: bytes 7-9/%T\r\nContent-Length: %N\r\n\r\n%B"},
     REC_E_IO,
     "expected the requested bytes, found an answer that begins at byte 7",
     1,
     0},
    /* how large the file is */
    {{HEAD_206 "Content-Range: bytes %F-%L\r\nContent-Length: %N\r\n\r\n%B"},
     REC_E_IO,
     "the server does not report the size of the file",
     1,
     0},
    {{HEAD_206 "Content-Range: bytes %F-%L;%T\r\nContent-Length: %N\r\n\r\n%B"},
     REC_E_IO,
     "the size of the file",
     1,
     0},
    {{HEAD_206 "Content-Range: bytes %F-%L/*\r\nContent-Length: %N\r\n\r\n%B"}, REC_E_IO, "the size of the file", 1, 0},
    {{HEAD_206 "Content-Range: bytes %F-%L/%Tx\r\nContent-Length: %N\r\n\r\n%B"},
     REC_E_IO,
     "the size of the file",
     1,
     0},
    {{HEAD_206 "Content-Range: bytes %F-%L/12345678901234567890\r\nContent-Length: %N\r\n\r\n%B"},
     REC_E_IO,
     "the size of the file",
     1,
     0},
    {{HEAD_206 "CONTENT-RANGE:\tBytes %F-%L/%T \t\r\nContent-Length: %N\r\n\r\n%B"}, REC_OK, NULL, 2, 0},
    {{HEAD_206 "Content-Range: bytes %F-%L/%T\r\nContent-Length: %T\r\n\r\n%W"},
     REC_E_IO,
     "the server sends more bytes than requested",
     1,
     0},
    /* another file */
    {{HEAD_206 "Content-Range: bytes %F-%L/%T\r\nContent-Length: %N\r\nETag: \"%A\"\r\n\r\n%B"},
     REC_E_IO,
     "the file on the server changed while it was read",
     2,
     0},
    {{HEAD_206 "Content-Range: bytes %F-%L/%T\r\nContent-Length: %N\r\nLast-Modified: %A\r\n\r\n%B"},
     REC_E_IO,
     "the file on the server changed while it was read",
     2,
     0},
    {{HEAD_206 "Content-Range: bytes %F-%L/%T\r\nContent-Length: %N\r\nLast-Modified: %A\r\n" TAG "\r\n%B"},
     REC_OK,
     NULL,
     2,
     0},
    /* validators that are longer than what is kept of one */
    {{HEAD_206 "Content-Range: bytes %F-%L/%T\r\nContent-Length: %N\r\nETag: \"" LONG "\"\r\n\r\n%B"},
     REC_OK,
     NULL,
     2,
     0},
    {{HEAD_206 "Content-Range: bytes %F-%L/%T\r\nContent-Length: %N\r\nETag: \"" LONG "%A\"\r\n\r\n%B"},
     REC_E_IO,
     "the file on the server changed while it was read",
     2,
     0},
    {{PART, HEAD_206 "Content-Range: bytes %F-%L/150001\r\nContent-Length: %N\r\n" TAG "\r\n%B"},
     REC_E_IO,
     "the file on the server changed while it was read",
     2,
     0},
    {{HEAD_206 "Content-Range: bytes %F-%L/10\r\nContent-Length: %N\r\n" TAG "\r\n%B"},
     REC_E_IO,
     "the server sends more bytes than requested",
     1,
     0},
    /* trailers say nothing, and neither does the end of a connection that comes after all bytes */
    {{PART,
      HEAD_206 "Content-Range: bytes %F-%L/%T\r\nTransfer-Encoding: chunked\r\n" TAG
               "\r\n1\r\n%O\r\n0\r\nContent-Range: bytes 0-0/65537\r\n\r\n",
      PART},
     REC_OK,
     NULL,
     3,
     200},
    {{HEAD_206 "Content-Range: bytes %F-%L/%T\r\nContent-Length: %T\r\n" TAG "\r\n%B%X"}, REC_OK, NULL, 2, 0},
    {{PART, WHOLE}, REC_E_IO, "the server sends no parts of the file any more", 2, 0},
    /* no parts */
    {{WHOLE}, REC_OK, NULL, 1, 0},
    {{"HTTP/1.1 200 OK\r\n\r\n%W%X"}, REC_OK, NULL, 1, 0},
    {{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345%X"}, REC_E_IO, "the transfer failed: ", 1, 0},
    {{"HTTP/1.1 200 OK\r\nContent-Length: %T\r\n\r\n%H%X"},
     REC_E_IO,
     "the transfer failed: transfer closed with 117232 bytes remaining to read",
     1,
     0},
    {{"HTTP/1.1 200 OK\r\nContent-Length: %T\r\n" TAG "\r\n%X", WHOLE}, REC_OK, NULL, 2, 200},
    /* elsewhere */
    {{"HTTP/1.1 302 x\r\nContent-Range: bytes 0-9/10\r\nETag: \"x\"\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n",
      PART},
     REC_OK,
     NULL,
     3,
     0},
    {{"HTTP/1.1 302 x\r\nLocation: /m\r\nContent-Length: 0\r\n\r\n"},
     REC_E_IO,
     "Maximum (10) redirects followed",
     11,
     0},
    {{"HTTP/1.1 302 x\r\nLocation: file:///etc/hosts\r\nContent-Length: 0\r\n\r\n"},
     REC_E_IO,
     "the transfer failed: ",
     1,
     0},
    {{"FTP/1.1 200\r\n\r\n%X"}, REC_E_IO, "the transfer failed: ", 1, 0},
};

static void each_answer_is_taken_as_what_it_is(void **state)
{
    world *w = *state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        size_t count = 0;
        rec_source *source;
        while (count < 3 && answers[i].answers[count]) {
            count++;
        }
        server_script(&server, TOTAL, answers[i].answers, count);
        paused = 0;
        interrupted = 1;
        source = open_url(w, url_of("/m"));
        if (source && answers[i].status == REC_OK) {
            assert_int_equal(rec_source_size(source), TOTAL);
            assert_bytes(w, source, 0, TOTAL);
        } else if (source) {
            (void)read_all(w, source, 0, TOTAL);
        }
        rec_source_release(source);
        if (lr_job_end(&w->job) != answers[i].status) {
            fail_msg("%zu: %s: %s", i, rec_status_name(rec_error_status()), rec_error_message());
        }
        if (answers[i].words && !strstr(rec_error_message(), answers[i].words)) {
            fail_msg("%zu: expected %s, found %s", i, answers[i].words, rec_error_message());
        }
        if (server_asked(&server) != answers[i].asked || paused != answers[i].paused) {
            fail_msg("%zu: it was asked %d times, %u ms were waited", i, server_asked(&server), paused);
        }
        begin_job(w);
    }
}

static void hints_say_what_helps(void **state)
{
    world *w = *state;
    SCRIPT(TOTAL, ERROR_PAGE("401"));
    assert_null(open_url(w, url_of("/m")));
    assert_failed(w, REC_E_IO, "401");
    assert_string_equal(rec_error_hint(),
                        "A password can stand in ~/.netrc, a token in LIBRECORD_HTTP_AUTHORIZATION (\"Bearer …\").");
    SCRIPT(TOTAL, ERROR_PAGE("418"));
    assert_null(open_url(w, url_of("/m")));
    assert_failed(w, REC_E_IO, "418");
    assert_string_equal(rec_error_hint(), "");
    SCRIPT(TOTAL, PART, HEAD_206 "Content-Range: bytes %F-%L/%T\r\nContent-Length: %N\r\nETag: \"x\"\r\n\r\n%B");
    rec_source *source = open_good(w);
    assert_int_equal(read_all(w, source, 0, TOTAL), REC_E_IO);
    assert_failed(w, REC_E_IO, "changed");
    assert_string_equal(rec_error_hint(), "Data read so far belong to the old file: start again.");
    rec_source_release(source);
}

/* Who was asked for ten bytes at the beginning of a file that it sends in parts must not send all of it: it would go
 * into a window that holds less. */
static void the_whole_is_no_part_even_at_the_beginning(void **state)
{
    world *w = *state;
    rec_source *source;
    SCRIPT(3 * MIB, PART, PART, WHOLE);
    source = open_good(w);
    assert_bytes(w, source, 2 * MIB, 10);
    assert_int_equal(read_all(w, source, 0, 10), REC_E_IO);
    assert_range(2, "bytes=0-65535");
    assert_failed(w, REC_E_IO, "the server sends no parts of the file any more");
    rec_source_release(source);
}

static void who_waits_may_stop(void **state)
{
    world *w = *state;
    w->cancel_at = 1;
    SCRIPT(TOTAL, PART);
    assert_null(open_url(w, url_of("/m")));
    assert_int_equal(end_job(w), REC_E_CANCELLED);
}

static void nobody_there_is_an_error(void **state)
{
    world *w = *state;
    http_server gone;
    char url[64];
    server_begin(&gone);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d/m", gone.port);
    server_end(&gone);
    assert_null(open_url(w, url));
    assert_failed(w, REC_E_IO, "the transfer failed: ");
    assert_int_equal(paused, 6200);
}

/* --------------------------------------------------------------------------------------------- other addresses -- */

static void a_name_beside_keeps_what_follows(void **state)
{
    static const struct {
        const char *url, *name, *path;
    } cases[] = {
        {"/a/m.json", "x.bin", "/a/x.bin"},
        {"/m.json", "x.bin", "/x.bin"},
        {"/", "x", "/x"},
        {"", "x", "/x"},
        {"?token=1/2", "x", "/x?token=1/2"},
        {"/a/b/m?v=/1#f", "x", "/a/b/x?v=/1"},
        {"/a/", "0 \xc3\xa9%?#&@azAZ09-._~", "/a/0%20%C3%A9%25%3F%23%26%40azAZ09-._~"},
    };
    world *w = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rec_source *source, *other = NULL;
        SCRIPT(100, PART);
        source = open_url(w, url_of(cases[i].url));
        assert_non_null(source);
        assert_int_equal(rec_source_beside(&w->job, source, cases[i].name, &other), REC_OK);
        assert_string_equal(server_request(&server, 1).path, cases[i].path);
        assert_bytes(w, other, 0, 100);
        rec_source_release(other);
        rec_source_release(source);
    }
}

static void a_name_beside_may_be_missing(void **state)
{
    world *w = *state;
    rec_source *source, *other = NULL;
    SCRIPT(100, PART, ERROR_PAGE("404"));
    source = open_good(w);
    assert_int_equal(rec_source_beside_maybe(&w->job, source, "x", &other), REC_OK);
    assert_null(other);
    assert_int_equal(end_job(w), REC_OK);
    assert_int_equal(rec_source_beside(&w->job, source, "x", &other), REC_E_NOT_FOUND);
    assert_null(other);
    assert_failed(w, REC_E_NOT_FOUND, "the server has no such file (404)");
    rec_source_release(source);
}

static void messages_have_no_secrets(void **state)
{
    static const char *const users[] = {"", "me@", "me:secret@"};
    world *w = *state;
    for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
        char url[128], plain[128], note[256];
        rec_source *source;
        SCRIPT(100, WHOLE);
        (void)snprintf(url, sizeof url, "http://%s127.0.0.1:%d/a@b%s", users[i], server.port,
                       i ? "?token=secret#secret" : "");
        (void)snprintf(plain, sizeof plain, "http://127.0.0.1:%d/a@b", server.port);
        (void)snprintf(note, sizeof note, "the server of %s sends no parts of a file: all of it was fetched, 100 bytes",
                       plain);
        source = open_url(w, url);
        assert_non_null(source);
        assert_noted(w, note);
        assert_string_equal(rec_source_name(source), plain);
        rec_source_release(source);
    }
}

static void test_words_about_a_proxy_have_no_password(void **state)
{
    static const char *const proxies[] = {"strange://me:PASSW@127.0.0.1:1", "http://me:PASSW@127.0.0.1:x"};
    world *w = *state;
    for (size_t i = 0; i < sizeof proxies / sizeof *proxies; i++) {
        assert_int_equal(setenv("http_proxy", proxies[i], 1), 0);
        assert_null(open_url(w, url_of("/m")));
        assert_failed(w, REC_E_IO, "the transfer failed: ");
        assert_null(strstr(rec_error_message(), "PASSW"));
    }
}

static void a_token_is_for_who_may_see_it(void **state)
{
    /* %d: the server's port. What is not this computer is reached through a proxy, which is the server, too. */
    static const struct {
        const char *url;
        bool sent;
    } cases[] = {
        {"http://127.0.0.1:%d/m", true},
        {"http://127.0.0.1:%d?m", true},
        {"http://user@127.0.0.1:%d/m", true},
        {"http://localhost.example:%d/m", false},
        {"http://other.example/m", false},
        {"http://localhost@other.example:%d/m", false},
        {"http://localhost:%d@other.example/m", false},
        {"http://other.example/@127.0.0.1:%d/m", false},
    };
    world *w = *state;
    char proxy[64];
    (void)snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", server.port);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char url[128];
        bool other = strstr(cases[i].url, "example") != NULL;
        rec_source *source;
        SCRIPT(100, PART);
        assert_int_equal(setenv("LIBRECORD_HTTP_AUTHORIZATION", "Bearer secret", 1), 0);
        assert_int_equal(setenv("http_proxy", proxy, 1), 0);
        (void)snprintf(url, sizeof url, cases[i].url, server.port);
        source = open_url(w, url);
        if (!source) {
            (void)lr_job_end(&w->job);
            fail_msg("%s: %s", url, rec_error_message());
        }
        /* Nor does a proxy see the token of this computer: a request to a proxy names the host. */
        if ((strcmp(server_request(&server, 0).authorization, "Bearer secret") == 0) != cases[i].sent ||
            (strncmp(server_request(&server, 0).path, "http:", 5) == 0) != other) {
            fail_msg("%s: %s, %s", url, server_request(&server, 0).path, server_request(&server, 0).authorization);
        }
        rec_source_release(source);
    }
    SCRIPT(100, PART);
    assert_int_equal(setenv("LIBRECORD_HTTP_AUTHORIZATION", "", 1), 0);
    rec_source_release(open_good(w));
    assert_string_equal(server_request(&server, 0).authorization, "");
}

static void a_token_is_one_line(void **state)
{
    static const char *const tokens[] = {"Bearer a\r\nHost: other", "a\x7f", "\x01"};
    world *w = *state;
    SCRIPT(100, PART);
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        assert_int_equal(setenv("LIBRECORD_HTTP_AUTHORIZATION", tokens[i], 1), 0);
        assert_null(open_url(w, url_of("/m")));
        assert_failed(w, REC_E_CONFIG,
                      "the environment variable LIBRECORD_HTTP_AUTHORIZATION holds a control character");
        assert_int_equal(server_asked(&server), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_window_follows_who_reads),
        TEST(a_file_of_no_bytes_is_one),
        TEST(each_answer_is_taken_as_what_it_is),
        TEST(hints_say_what_helps),
        TEST(the_whole_is_no_part_even_at_the_beginning),
        TEST(who_waits_may_stop),
        TEST(nobody_there_is_an_error),
        TEST(a_name_beside_keeps_what_follows),
        TEST(a_name_beside_may_be_missing),
        TEST(messages_have_no_secrets),
        TEST(test_words_about_a_proxy_have_no_password),
        TEST(a_token_is_for_who_may_see_it),
        TEST(a_token_is_one_line),
    };
    return cmocka_run_group_tests_name("files of servers", tests, begin_server, end_server);
}
