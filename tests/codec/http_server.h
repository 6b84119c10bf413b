/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A server on this computer, in a thread, that answers as it is told: its answers are written out, with what depends on
 * the request filled in. It keeps what it was asked. */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include "tests/test_io.h"

enum { SERVED_ANSWERS = 8, SERVED_CLIENTS = 8, SERVED_REQUESTS = 64 };

/** A request: what follows "GET ", the range, and what it says of who asks; "" where it says nothing. */
typedef struct asked {
    char path[128], range[64], authorization[128];
} asked;

/** In an answer stand %F, %L for the first and last byte of the part, %N for how many those are, %T for the file's
 * size, %A for the number of the answer, %B for the part itself, %O for one byte of it, %H for the first half of it, %W
 * for the whole file, %X for the end of the connection, %P for the server's port. */
typedef struct http_server {
    int listener, port, wake[2];
    pthread_t thread;
    pthread_mutex_t lock;
    const char *answers[SERVED_ANSWERS]; /**< the last that is given counts for all requests that follow */
    uint64_t total;                      /**< bytes of the file: pattern() */
    int count;
    asked asked[SERVED_REQUESTS];
} http_server;

static inline void served_send(int fd, const void *data, size_t size)
{
    const uint8_t *from = data;
    while (size) {
        ssize_t sent = send(fd, from, size, MSG_NOSIGNAL);
        if (sent <= 0) {
            return; /* who asked has gone: some tests are about that */
        }
        from += sent;
        size -= (size_t)sent;
    }
}

static inline void served_bytes(int fd, uint64_t from, uint64_t count)
{
    uint8_t piece[4096];
    while (count) {
        size_t n = count < sizeof piece ? (size_t)count : sizeof piece;
        for (size_t i = 0; i < n; i++) {
            piece[i] = pattern(from + i);
        }
        served_send(fd, piece, n);
        from += n;
        count -= n;
    }
}

/** @return whether the connection stays. */
static inline bool served_answer(const http_server *s, int fd, const char *answer, const char *range, int number)
{
    uint64_t first = 0, last = UINT64_MAX, n;
    char text[32];
    (void)sscanf(range, "bytes=%" SCNu64 "-%" SCNu64, &first, &last);
    last = last < s->total ? last : s->total - 1;
    n = s->total && first <= last ? last - first + 1 : 0;
    for (size_t plain; *answer; answer++) {
        plain = strcspn(answer, "%");
        served_send(fd, answer, plain);
        answer += plain;
        if (!*answer) {
            break;
        }
        text[0] = '\0';
        switch (*++answer) {
        case 'F':
            (void)snprintf(text, sizeof text, "%" PRIu64, first);
            break;
        case 'L':
            (void)snprintf(text, sizeof text, "%" PRIu64, last);
            break;
        case 'N':
            (void)snprintf(text, sizeof text, "%" PRIu64, n);
            break;
        case 'T':
            (void)snprintf(text, sizeof text, "%" PRIu64, s->total);
            break;
        case 'A':
            (void)snprintf(text, sizeof text, "%d", number);
            break;
        case 'P':
            (void)snprintf(text, sizeof text, "%d", s->port);
            break;
        case 'B':
            served_bytes(fd, first, n);
            break;
        case 'O':
            served_bytes(fd, first, n ? 1 : 0);
            break;
        case 'H':
            served_bytes(fd, first, n / 2);
            break;
        case 'W':
            served_bytes(fd, 0, s->total);
            break;
        default:
            return false;
        }
        served_send(fd, text, strlen(text));
    }
    return true;
}

/** The value of a request's line of that name. */
static inline void served_header(const char *request, const char *name, char *value, size_t room)
{
    const char *at = strcasestr(request, name);
    value[0] = '\0';
    if (at) {
        at += strlen(name);
        (void)snprintf(value, room, "%.*s", (int)strcspn(at, "\r\n"), at);
    }
}

/** What is in `request` is whole. @return whether the connection stays. */
static inline bool served_request(http_server *s, int fd, const char *request)
{
    char range[64];
    const char *answer;
    int number;
    served_header(request, "\r\nRange: ", range, sizeof range);
    (void)pthread_mutex_lock(&s->lock);
    number = s->count++;
    if (number < SERVED_REQUESTS) {
        asked *a = &s->asked[number];
        (void)snprintf(a->path, sizeof a->path, "%.*s", (int)strcspn(request + 4, " "), request + 4);
        (void)snprintf(a->range, sizeof a->range, "%s", range);
        served_header(request, "\r\nAuthorization: ", a->authorization, sizeof a->authorization);
    }
    answer = s->answers[0];
    for (int i = 1; i <= number && i < SERVED_ANSWERS && s->answers[i]; i++) {
        answer = s->answers[i];
    }
    (void)pthread_mutex_unlock(&s->lock);
    return served_answer(s, fd, answer, range, number);
}

static inline void *served_loop(void *user)
{
    http_server *s = user;
    struct pollfd on[2 + SERVED_CLIENTS] = {{.fd = s->wake[0], .events = POLLIN},
                                            {.fd = s->listener, .events = POLLIN}};
    static char heard[2 + SERVED_CLIENTS][4096];
    size_t lengths[2 + SERVED_CLIENTS] = {0};
    nfds_t count = 2;
    while (poll(on, count, -1) > 0 && !on[0].revents) {
        for (nfds_t i = 2; i < count; i++) {
            ssize_t got = 0;
            bool stays = true;
            if (!on[i].revents) {
                continue;
            }
            got = recv(on[i].fd, heard[i] + lengths[i], sizeof heard[i] - 1 - lengths[i], 0);
            lengths[i] += got > 0 ? (size_t)got : 0;
            heard[i][lengths[i]] = '\0';
            if (got > 0 && strstr(heard[i], "\r\n\r\n")) {
                stays = served_request(s, on[i].fd, heard[i]);
                lengths[i] = 0;
            }
            if (got <= 0 || !stays) {
                (void)close(on[i].fd);
                on[i] = on[count - 1];
                memcpy(heard[i], heard[count - 1], sizeof heard[i]);
                lengths[i--] = lengths[--count];
            }
        }
        if (on[1].revents && count < 2 + SERVED_CLIENTS) {
            static const int yes = 1; /* what is written in pieces goes at once */
            on[count] = (struct pollfd){.fd = accept(s->listener, NULL, NULL), .events = POLLIN};
            (void)setsockopt(on[count].fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
            lengths[count++] = 0;
        }
    }
    for (nfds_t i = 2; i < count; i++) {
        (void)close(on[i].fd);
    }
    return NULL;
}

static inline void server_begin(http_server *s)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    memset(s, 0, sizeof *s);
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(s->listener >= 0);
    assert_int_equal(bind(s->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(s->listener, SERVED_CLIENTS), 0);
    assert_int_equal(getsockname(s->listener, (struct sockaddr *)&address, &size), 0);
    s->port = ntohs(address.sin_port);
    assert_int_equal(pipe(s->wake), 0);
    assert_int_equal(pthread_mutex_init(&s->lock, NULL), 0);
    assert_int_equal(pthread_create(&s->thread, NULL, served_loop, s), 0);
}

/** From now on it answers so. @param answers as many as `count`. */
static inline void server_script(http_server *s, uint64_t total, const char *const *answers, size_t count)
{
    assert_true(count <= SERVED_ANSWERS);
    (void)pthread_mutex_lock(&s->lock);
    s->total = total;
    s->count = 0;
    memset(s->answers, 0, sizeof s->answers);
    memcpy(s->answers, answers, count * sizeof *answers);
    (void)pthread_mutex_unlock(&s->lock);
}

static inline int server_asked(http_server *s)
{
    int count;
    (void)pthread_mutex_lock(&s->lock);
    count = s->count;
    (void)pthread_mutex_unlock(&s->lock);
    return count;
}

/** Request `number`, a copy. */
static inline asked server_request(http_server *s, int number)
{
    asked a;
    assert_true(number < server_asked(s) && number < SERVED_REQUESTS);
    (void)pthread_mutex_lock(&s->lock);
    a = s->asked[number];
    (void)pthread_mutex_unlock(&s->lock);
    return a;
}

static inline void server_end(http_server *s)
{
    assert_int_equal(close(s->wake[1]), 0);
    assert_int_equal(pthread_join(s->thread, NULL), 0);
    (void)close(s->wake[0]);
    (void)close(s->listener);
    (void)pthread_mutex_destroy(&s->lock);
}

#endif
