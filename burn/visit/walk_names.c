/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The names of a foreign model that is written in a format whose names are the fields of a struct. There a tensor `a`
 * leaves no place for `a.b`. */
#include <stdlib.h>
#include <string.h>

#include "burn/visit/walk_private.h"

/* A path of `texts`. */
typedef struct path {
    const char *text; /* NULL until all are there: `texts` moves */
    uint64_t at, length;
} path;

struct lr_names {
    rec_job *job;
    char *texts;
    uint64_t used, text_room;
    path *paths;
    uint64_t count, room;
};

lr_names *lr_names_new(rec_job *job)
{
    lr_names *n = lr_zalloc(job->allocator, sizeof *n);
    if (n) {
        n->job = job;
    } else {
        (void)lr_fail_memory(job, sizeof *n);
    }
    return n;
}

int32_t lr_names_add(lr_names *n, const char *text, uint64_t length)
{
    if (!lr_job_grow(n->job, &n->texts, n->used + length + 1, &n->text_room, 1) ||
        !lr_job_grow(n->job, &n->paths, n->count + 1, &n->room, sizeof *n->paths)) {
        return n->job->error.status;
    }
    if (length) {
        memcpy(n->texts + n->used, text, (size_t)length);
    }
    n->paths[n->count++] = (path){.at = n->used, .length = length};
    n->used += length;
    return REC_OK;
}

/* By parts: `a.b` comes right after `a`, whatever other characters sort before a dot. */
static int by_parts(const void *a, const void *b)
{
    const path *x = a, *y = b;
    uint64_t most = x->length < y->length ? x->length : y->length, i = 0;
    while (i < most && x->text[i] == y->text[i]) {
        i++;
    }
    if (i < most) {
        unsigned char c = (unsigned char)x->text[i], d = (unsigned char)y->text[i];
        return c == '.' ? -1 : d == '.' ? 1 : c < d ? -1 : 1;
    }
    return x->length < y->length ? -1 : x->length > y->length;
}

static bool is_below(const path *upper, const path *lower)
{
    return lower->length > upper->length && lower->text[upper->length] == '.' &&
           memcmp(upper->text, lower->text, (size_t)upper->length) == 0;
}

int32_t lr_names_check(lr_names *n)
{
    enum { SHOWN = 200 };
    for (uint64_t i = 0; i < n->count; i++) {
        n->paths[i].text = n->texts + n->paths[i].at;
    }
    if (n->count) {
        qsort(n->paths, (size_t)n->count, sizeof *n->paths, by_parts);
    }
    for (uint64_t i = 1; i < n->count; i++) {
        const path *upper = &n->paths[i - 1], *lower = &n->paths[i];
        if (is_below(upper, lower)) {
            (void)rec_fail(n->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                           "`%.*s` is below `%.*s`, which is a tensor: %s cannot hold both",
                           (int)(lower->length < SHOWN ? lower->length : SHOWN), lower->text,
                           (int)(upper->length < SHOWN ? upper->length : SHOWN), upper->text, n->job->plugin->name);
            rec_fail_hint(n->job, "Give one of them another name with a rename rule, or choose another format.");
            break;
        }
    }
    return n->job->error.status;
}

void lr_names_free(lr_names *n)
{
    if (n) {
        rec_job *job = n->job;
        lr_release(job->allocator, n->texts);
        lr_release(job->allocator, n->paths);
        lr_release(job->allocator, n);
    }
}
