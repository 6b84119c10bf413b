/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Work that is shared out among the session's threads. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "tools/measure/measure.h"

enum { THREADS_MOST = 64 };

struct work {
    void (*work)(void *user, uint64_t i);
    void *user;
    uint64_t count;
    atomic_uint_fast64_t next;
};

static void *run(void *user)
{
    struct work *w = user;
    uint64_t i;

    while ((i = atomic_fetch_add(&w->next, 1)) < w->count) {
        w->work(w->user, i);
    }
    return NULL;
}

uint32_t tool_threads(const session *s)
{
    uint32_t threads = rec_context_threads(s->context);

    return threads < 1 ? 1 : threads < THREADS_MOST ? threads : THREADS_MOST;
}

void tool_parallel(session *s, uint64_t count, void (*work)(void *user, uint64_t i), void *user)
{
    struct work w = {.work = work, .user = user, .count = count};
    uint32_t wanted = tool_threads(s), started = 0;
    pthread_t others[THREADS_MOST];
    sigset_t all, before;

    if (wanted > count) {
        wanted = count ? (uint32_t)count : 1;
    }
    /* Signals are the main thread's. A thread that cannot be started leaves its share to the others. */
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGBUS); /* of a file that was cut: the thread meets it itself */
    if (wanted > 1 && pthread_sigmask(SIG_SETMASK, &all, &before) == 0) {
        while (started < wanted - 1 && pthread_create(&others[started], NULL, run, &w) == 0) {
            started++;
        }
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    (void)run(&w);
    for (uint32_t i = 0; i < started; i++) {
        (void)pthread_join(others[i], NULL);
    }
}
