/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "flax/counts.h"

enum { LEAST = 64 };

static rec_status begin(counts *c, uint64_t map)
{
    uint32_t most = rec_job_depth_limit(c->job);
    if (c->depth == most) {
        return rec_fail(c->job, REC_E_LIMIT, REC_UNKNOWN, "maps and lists are nested more than %u deep", most);
    }
    c->stack[c->depth++] = map;
    return REC_OK;
}

static rec_status on_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    counts *c = self;
    (void)at, (void)form, (void)count;
    if (c->count == c->room) {
        uint64_t wider = c->room ? 2 * c->room : LEAST;
        uint64_t *maps = rec_job_resize(c->job, c->maps, wider * sizeof *maps);
        if (!maps) {
            return rec_fail(c->job, REC_E_MEMORY, REC_UNKNOWN, "no memory for the sizes of maps");
        }
        c->maps = maps;
        c->room = wider;
    }
    c->maps[c->count] = 0;
    return begin(c, c->count++);
}

static rec_status on_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at, (void)form, (void)count;
    return begin(self, REC_UNKNOWN);
}

static rec_status on_key(void *self, uint64_t at, const rec_scalar *key)
{
    counts *c = self;
    (void)at, (void)key;
    c->maps[c->stack[c->depth - 1]]++;
    return REC_OK;
}

static rec_status on_end(void *self, uint64_t at)
{
    (void)at;
    ((counts *)self)->depth--;
    return REC_OK;
}

/* What is no container has no size. */
static rec_status on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    (void)self, (void)at, (void)key, (void)value;
    return REC_OK;
}

static rec_status on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    (void)self, (void)at, (void)scalar;
    return REC_OK;
}

static rec_status on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    (void)self, (void)at, (void)blob;
    return REC_OK;
}

static rec_status on_tensor(void *self, uint64_t at, const rec_tensor_event *event)
{
    (void)self, (void)at, (void)event;
    return REC_OK;
}

rec_status counts_take(counts *c, rec_job *job)
{
    static const rec_visitor visitor = {.size = sizeof visitor,
                                        .metadata = on_metadata,
                                        .scalar = on_scalar,
                                        .bytes = on_bytes,
                                        .list_begin = on_list,
                                        .map_begin = on_map,
                                        .key = on_key,
                                        .end = on_end,
                                        .tensor = on_tensor};
    *c = (counts){.job = job, .stack = rec_job_alloc(job, rec_job_depth_limit(job) * sizeof *c->stack)};
    return c->stack ? rec_job_walk_levels(job, &visitor, c)
                    : rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "no memory for the sizes of maps");
}

void counts_free(counts *c)
{
    rec_job_free(c->job, c->maps);
    rec_job_free(c->job, c->stack);
}
