/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The figures of tensors, computed on a separate thread: a large tensor takes a while, and keys must work meanwhile. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tools/browse/browse_private.h"

enum { KEPT = 64, AT_ONCE = 4 << 20 /* bytes that are measured before anybody notices */ };

struct gauge {
    session *s;
    pthread_t thread;
    bool running;
    atomic_bool done;
    atomic_bool stop;      /* nobody waits for it any more */
    reading_of now;        /* being measured */
    reading_of kept[KEPT]; /* the last ones */
    size_t kept_count, next;
};

gauge *tool_gauge_new(session *s)
{
    gauge *g = xmalloc(sizeof *g);

    memset(g, 0, sizeof *g);
    g->s = s;
    s->stop = &g->stop;
    return g;
}

static void *work(void *user)
{
    gauge *g = user;

    g->now.status = tool_measure(g->s, g->now.tensor, &g->now.m, &g->now.numeric);
    /* A look at each of many tensors must not keep all of a large file in memory. */
    rec_tensor_release(g->now.tensor, 0, rec_tensor_count(g->now.tensor));
    atomic_store(&g->done, true);
    return NULL;
}

/* Adds the result to the others, with its error message. */
static const reading_of *keep(gauge *g)
{
    reading_of *r = &g->kept[g->next];

    free(r->why);
    *r = g->now;
    r->why = r->status == EXIT_OK ? NULL : tool_terminal_said(true);
    g->next = (g->next + 1) % KEPT;
    g->kept_count += g->kept_count < KEPT;
    return r;
}

void tool_gauge_stop(gauge *g)
{
    if (g->running) {
        bool done = atomic_load(&g->done);
        atomic_store(&g->stop, true);
        (void)pthread_join(g->thread, NULL);
        atomic_store(&g->stop, false);
        g->running = false;
        if (done || g->now.status == EXIT_OK) { /* else it was given up */
            (void)keep(g);
        }
    }
}

void tool_gauge_free(gauge *g)
{
    tool_gauge_stop(g);
    g->s->stop = NULL;
    for (size_t i = 0; i < g->kept_count; i++) {
        free(g->kept[i].why);
    }
    free(g);
}

const reading_of *tool_gauge_read(gauge *g, const rec_tensor *tensor)
{
    if (g->running && atomic_load(&g->done)) {
        tool_gauge_stop(g);
    }
    for (size_t i = 0; i < g->kept_count; i++) {
        if (g->kept[i].tensor == tensor) {
            return &g->kept[i];
        }
    }
    if (g->running && g->now.tensor == tensor) {
        return NULL;
    }
    tool_gauge_stop(g); /* another one is looked at now */
    g->now = (reading_of){.tensor = tensor};
    atomic_store(&g->done, false);
    g->running = rec_tensor_nbytes(tensor) > AT_ONCE && pthread_create(&g->thread, NULL, work, g) == 0;
    if (g->running) {
        return NULL;
    }
    (void)work(g);
    return keep(g);
}
