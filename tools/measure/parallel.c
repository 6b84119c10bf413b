/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Work that is shared out among the session's threads, and among the processes that look at one file together. */
#include <stdatomic.h>
#include <stdlib.h>

#include "common/threads.h"
#include "tools/measure/measure.h"

enum { THREADS_MOST = 64 };

struct work {
    void (*work)(void *user, uint64_t i);
    void *user;
    uint64_t end;
    atomic_uint_fast64_t next;
};

static void *run(void *user)
{
    struct work *w = user;
    uint64_t i;

    while ((i = atomic_fetch_add(&w->next, 1)) < w->end) {
        w->work(w->user, i);
    }
    return NULL;
}

uint32_t tool_threads(const session *s)
{
    uint32_t threads = rec_context_threads(s->context);

    return threads < 1 ? 1 : threads < THREADS_MOST ? threads : THREADS_MOST;
}

static void do_run(session *s, uint64_t first, uint64_t end, void (*work)(void *user, uint64_t i), void *user)
{
    struct work w = {.work = work, .user = user, .next = first, .end = end};
    uint64_t count = end - first;
    uint32_t wanted = tool_threads(s), started;
    pthread_t others[THREADS_MOST];

    if (wanted > count) {
        wanted = count ? (uint32_t)count : 1;
    }
    /* A thread that cannot be started leaves its share to the others. */
    started = lr_threads_start(others, wanted - 1, run, &w);
    (void)run(&w);
    lr_threads_join(others, started);
}

void tool_parallel(session *s, uint64_t count, void (*work)(void *user, uint64_t i), void *user)
{
    do_run(s, 0, count, work, user);
}

/* ----------------------------------------------------------------------------------------- several processes -- */

void tool_shared_cut(const uint64_t *costs, uint64_t count, uint32_t ranks, uint64_t *ends)
{
    uint64_t before = 0, whole = 0;

    for (uint64_t i = 0; i < count; i++) {
        whole += costs[i];
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        ends[rank] = 0;
    }
    /* By the middle of each. */
    for (uint64_t i = 0; i < count; i++) {
        ends[(before + costs[i] / 2) / (whole / ranks + 1)] = i + 1;
        before += costs[i];
    }
    for (uint32_t rank = 1; rank < ranks; rank++) {
        ends[rank] = ends[rank] > ends[rank - 1] ? ends[rank] : ends[rank - 1];
    }
    ends[ranks - 1] = count;
}

int tool_parallel_across(session *s, const uint64_t *costs, uint64_t count, void (*work)(void *user, uint64_t i),
                         void *user, void *made, size_t size)
{
    uint64_t *ends;
    bool met;

    if (s->shared->ranks == 1 || !count) {
        do_run(s, 0, count, work, user);
        return EXIT_OK;
    }
    ends = xmalloc(s->shared->ranks * sizeof *ends);
    tool_shared_cut(costs, count, s->shared->ranks, ends);
    do_run(s, s->shared->rank ? ends[s->shared->rank - 1] : 0, ends[s->shared->rank], work, user);
    for (uint32_t i = 0; i < s->shared->ranks; i++) {
        ends[i] *= size;
    }
    met = s->shared->exchange(s->shared->self, made, ends);
    free(ends);
    return met ? EXIT_OK : EXIT_ERROR;
}

int tool_shared_failed(session *s, const char *said)
{
    return s->shared->together(s->shared->self, NULL, said != NULL, said) ? EXIT_OK : EXIT_ERROR;
}
