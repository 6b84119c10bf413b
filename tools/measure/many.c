/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Measuring many tensors: small ones are shared out among the threads, a large one by its pieces.
 *
 * Of several processes all have the same list of tensors, and each measures a run of them that is about as many bytes
 * as those of the others. One that is much of a process's share by itself is measured by all, each some of its
 * pieces. */
#include <stdlib.h>
#include <string.h>

#include "tools/measure/measure_private.h"

/* Fixed cost of a tensor, in bytes; a tensor above 1/PART of a process's share is measured by all processes. */
enum { COST = 4096, PART = 8 };
/* A tensor of more elements than LARGE is measured by all threads; tensors, and elements, that are measured at a time:
 * few enough that progress shows. */
enum { LARGE = 1 << 19, BATCH = 256, TOGETHER = 1 << 23, TOGETHER_HASHED = 1 << 25 };

/* ----------------------------------------------------------------------------------------------------- batches -- */

struct batch {
    measured_tensor *made;
    unsigned what;
};

/* Measures one on the calling thread: its status is set. */
static void measure_one(measured_tensor *t, unsigned what)
{
    t->status = what & MEASURE_NUMBERS ? tool_measure_tensor(NULL, t->tensor, &t->m, &t->numeric, false) : REC_OK;
    if (t->status == REC_OK && what & MEASURE_SUM) {
        t->status = tool_tensor_sum(t->tensor, t->sum);
    }
}

static void measure_in_batch(void *user, uint64_t i)
{
    struct batch *b = user;

    measure_one(&b->made[i], b->what);
    rec_tensor_release(b->made[i].tensor, 0, REC_UNKNOWN);
}

/* Measures the first tensors of a list, as many as form a batch: threads share small tensors, and the chunks of a large
 * one. Pages of mapped files are dropped. @param made (out) room for BATCH. @return how many, at least one of `count`.
 */
static size_t measure_batch(session *s, const rec_tensor *const *tensors, size_t count, unsigned what,
                            measured_tensor *made)
{
    struct batch b = {made, what};
    uint64_t elements = 0, most = what & MEASURE_SUM ? TOGETHER_HASHED : TOGETHER;
    bool large = false;
    size_t taken = 0;

    while (taken < count && taken < BATCH && elements < most && !large) {
        uint64_t own = rec_tensor_count(tensors[taken]);
        /* A hash is one thread's work, however large the tensor: then all are shared out. */
        large = own > LARGE && !(what & MEASURE_SUM);
        if (large && taken) {
            break;
        }
        made[taken] = (measured_tensor){.tensor = tensors[taken]};
        elements += own;
        taken++;
    }
    if (taken == 1 && !(what & MEASURE_SUM)) {
        made->status = tool_measure_tensor(s, made->tensor, &made->m, &made->numeric, false);
        rec_tensor_release(made->tensor, 0, REC_UNKNOWN);
    } else if (taken) {
        tool_parallel(s, taken, measure_in_batch, &b);
    }
    return taken;
}

/* ------------------------------------------------------------------------------------------- several processes -- */

struct measured_ahead {
    measured_tensor *made;
    size_t count, next;
};

static uint64_t cost_of(const rec_tensor *tensor)
{
    return rec_tensor_nbytes(tensor) + COST;
}

static bool is_split(const rec_tensor *tensor, uint64_t total, uint32_t ranks, unsigned what)
{
    /* A hash is one thread's work. */
    return !(what & MEASURE_SUM) && rec_tensor_count(tensor) > LARGE && cost_of(tensor) > total / ranks / PART;
}

/* Where the runs of all processes end. Those that all measure are in some run, and cost it nothing. */
static void cut(const measured_tensor *made, size_t count, uint64_t total, uint32_t ranks, unsigned what,
                uint64_t *ends)
{
    uint64_t *costs = xmalloc((count + 1) * sizeof *costs);

    for (size_t i = 0; i < count; i++) {
        costs[i] = is_split(made[i].tensor, total, ranks, what) ? 0 : cost_of(made[i].tensor);
    }
    tool_shared_cut(costs, count, ranks, ends);
    free(costs);
}

/* This process's run. */
static void measure_run(session *s, struct measured_ahead *a, uint64_t first, uint64_t end, uint64_t total,
                        unsigned what)
{
    const rec_tensor **tensors = xmalloc((size_t)(end - first + 1) * sizeof *tensors);
    measured_tensor *made = xmalloc(BATCH * sizeof *made);
    uint64_t *places = xmalloc((size_t)(end - first + 1) * sizeof *places), all = 0, done = 0;
    size_t count = 0;

    for (uint64_t i = first; i < end; i++) {
        if (!is_split(a->made[i].tensor, total, s->shared->ranks, what)) {
            all += rec_tensor_nbytes(a->made[i].tensor);
            places[count] = i;
            tensors[count++] = a->made[i].tensor;
        }
    }
    for (size_t i = 0, taken; i < count; i += taken) {
        (void)tool_progress_step("measure", done, all);
        taken = measure_batch(s, tensors + i, count - i, what, made);
        for (size_t k = 0; k < taken; k++) {
            a->made[places[i + k]] = made[k];
            done += rec_tensor_nbytes(tensors[i + k]);
        }
    }
    free(places);
    free(made);
    free(tensors);
}

/* What any process could not read each tries again by itself: that is the file's fault if none can, and else that of
 * who cannot. */
static bool try_again(session *s, struct measured_ahead *a, unsigned what)
{
    uint64_t failed = 0;
    char *said = NULL;
    bool any = false, met;

    for (size_t i = 0; i < a->count; i++) {
        measured_tensor *t = &a->made[i];
        if (t->status == REC_OK) {
            continue;
        }
        any = true;
        measure_one(t, what);
        failed += t->status != REC_OK;
        said = t->status != REC_OK && !said ? xstrdup(rec_error_message()) : said;
    }
    met = !any || s->shared->together(s->shared->self, NULL, failed, said);
    free(said);
    return met;
}

static bool measure_all(session *s, struct measured_ahead *a, unsigned what)
{
    const tool_shared *shared = s->shared;
    uint64_t *ends = xmalloc(shared->ranks * sizeof *ends), total = 0;
    const rec_tensor **tensors = xmalloc((a->count + 1) * sizeof *tensors);
    bool met;

    for (size_t i = 0; i < a->count; i++) {
        tensors[i] = a->made[i].tensor;
        total += cost_of(tensors[i]);
    }
    cut(a->made, a->count, total, shared->ranks, what, ends);
    measure_run(s, a, shared->rank ? ends[shared->rank - 1] : 0, ends[shared->rank], total, what);
    for (uint32_t i = 0; i < shared->ranks; i++) {
        ends[i] *= sizeof *a->made;
    }
    met = shared->exchange(shared->self, a->made, ends);
    for (size_t i = 0; i < a->count && met; i++) {
        measured_tensor *t = &a->made[i];
        t->tensor = tensors[i]; /* where it is here */
        if (is_split(tensors[i], total, shared->ranks, what)) {
            t->status = tool_measure_tensor(s, t->tensor, &t->m, &t->numeric, true);
            met = t->status != REC_E_CANCELLED;
        }
    }
    free(tensors);
    free(ends);
    return met && try_again(s, a, what);
}

uint64_t tool_measure_mark(uint64_t sum, const rec_tensor *tensor)
{
    return (sum ^ rec_tensor_nbytes(tensor)) * UINT64_C(0x100000001b3) + rec_tensor_count(tensor);
}

int tool_measure_together(session *s, const char *path, uint64_t outcome, const rec_tensor *const *tensors,
                          size_t count, unsigned what)
{
    struct measured_ahead *a;
    uint64_t sum = outcome;

    if (s->shared->ranks == 1) {
        return EXIT_OK;
    }
    for (size_t i = 0; outcome == 0 && i < count; i++) {
        sum = tool_measure_mark(sum, tensors[i]);
    }
    if (!s->shared->together(s->shared->self, path, sum, NULL)) {
        return EXIT_ERROR;
    }
    if (outcome) {
        return EXIT_OK;
    }
    a = xmalloc(sizeof *a);
    *a = (struct measured_ahead){.made = xmalloc((count + 1) * sizeof *a->made), .count = count};
    for (size_t i = 0; i < count; i++) {
        memset(&a->made[i], 0, sizeof a->made[i]); /* sent without conversion */
        a->made[i].tensor = tensors[i];
    }
    s->ahead = a;
    return measure_all(s, a, what) ? EXIT_OK : EXIT_ERROR;
}

/* The next ones that were measured together. @return how many, at most BATCH. */
static size_t take(session *s, size_t count, measured_tensor *made)
{
    struct measured_ahead *a = s->ahead;
    size_t left = a->count - a->next, some = count < BATCH ? count : BATCH;

    some = some < left ? some : left;
    memcpy(made, a->made + a->next, some * sizeof *made);
    a->next += some;
    return some;
}

void tool_measure_end(session *s)
{
    if (s->ahead) {
        free(s->ahead->made);
        free(s->ahead);
        s->ahead = NULL;
    }
}

int tool_measure_each(session *s, const char *operation, uint64_t total, const rec_tensor *const *tensors, size_t count,
                      unsigned what, int (*each)(void *user, size_t i, const measured_tensor *made), void *user)
{
    measured_tensor *made = xmalloc(BATCH * sizeof *made);
    uint64_t done = 0;
    int status = EXIT_OK;

    for (size_t i = 0, taken; i < count && status == EXIT_OK; i += taken) {
        (void)tool_progress_step(operation, done, total);
        taken = s->ahead ? take(s, count - i, made) : measure_batch(s, tensors + i, count - i, what, made);
        for (size_t k = 0; k < taken && status == EXIT_OK; k++) {
            if (made[k].status != REC_OK) { /* perhaps on another thread */
                measure_one(&made[k], what);
            }
            done += rec_tensor_nbytes(tensors[i + k]);
            status = each(user, i + k, &made[k]);
        }
    }
    tool_progress_wipe();
    free(made);
    return status;
}
