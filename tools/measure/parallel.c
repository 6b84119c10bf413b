/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Work that is shared out among the session's threads, and among the processes that look at one file together. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/threads.h"
#include "tools/measure/measure.h"

enum { THREADS_MOST = 64 };

struct work {
    void (*work)(void *user, uint64_t i);
    void *user;
    uint64_t end;
    atomic_uint_fast64_t next;
};

/* Work of which some may fail. */
struct attempt {
    rec_status (*work)(void *user, uint64_t i);
    void *user;
    uint8_t *left;      /* of each: whether it is still to be done */
    atomic_bool failed; /* one did: the others are not tried */
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

static void attempt_one(void *user, uint64_t i)
{
    struct attempt *a = user;

    if (!atomic_load_explicit(&a->failed, memory_order_relaxed)) {
        a->left[i] = a->work(a->user, i) != REC_OK;
        if (a->left[i]) {
            atomic_store_explicit(&a->failed, true, memory_order_relaxed);
        }
    }
}

/* Does this process's run and exchanges the results. @return false: all processes know that they are at their end. */
static bool attempt_across(session *s, const uint64_t *costs, uint64_t count, struct attempt *a, void *made,
                           size_t size)
{
    const tool_shared *shared = s->shared;
    uint64_t *ends = xmalloc(2 * shared->ranks * sizeof *ends);
    bool met;

    tool_shared_cut(costs, count, shared->ranks, ends);
    do_run(s, shared->rank ? ends[shared->rank - 1] : 0, ends[shared->rank], attempt_one, a);
    for (uint32_t i = 0; i < shared->ranks; i++) {
        ends[shared->ranks + i] = ends[i] * size;
    }
    met = shared->exchange(shared->self, a->left, ends) && shared->exchange(shared->self, made, ends + shared->ranks);
    free(ends);
    return met;
}

int tool_parallel_across(session *s, const uint64_t *costs, uint64_t count, rec_status (*work)(void *user, uint64_t i),
                         void *user, void *made, size_t size)
{
    struct attempt a = {.work = work, .user = user, .left = xmalloc((size_t)count)};
    int status = EXIT_OK;

    memset(a.left, 1, (size_t)count);
    if (s->shared->ranks == 1 || !count) {
        do_run(s, 0, count, attempt_one, &a);
    } else {
        status = attempt_across(s, costs, count, &a, made, size) ? EXIT_OK : EXIT_ERROR;
    }
    /* The thread that prints the error must be the one that meets it. It is the file's fault if no process can do it,
     * and else that of the process that cannot. */
    for (uint64_t i = 0; i < count && status == EXIT_OK; i++) {
        rec_status met = a.left[i] ? work(user, i) : REC_OK;
        if (a.left[i] && s->shared->ranks > 1 &&
            !s->shared->together(s->shared->self, NULL, met != REC_OK, met == REC_OK ? NULL : rec_error_message())) {
            status = EXIT_ERROR;
        } else if (met != REC_OK) {
            status = tool_fail_library();
        }
    }
    free(a.left);
    return status;
}
