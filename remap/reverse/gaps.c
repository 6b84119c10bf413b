/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Going backwards: the numbers that lists gave up when gaps were closed, by a base that is another framework's file. */
#include <stdlib.h>

#include "remap/reverse/reverse_private.h"

/* More levels than a record may have. */
enum { LEVELS_MOST = 200 };

/* Keys of one side that are the same up to an offset, sorted by their texts. */
typedef struct side {
    lr_key *const *at;
    uint64_t count;
    size_t offset;
} side;

/* Those of them whose next part is the same, too. */
typedef struct group {
    side keys;
    const char *name;
    uint64_t length, index; /* REC_UNKNOWN: the name is no number */
} group;

typedef struct groups {
    group *at;
    uint64_t count, room;
} groups;

typedef struct learner {
    rec_job *job;
    rec_plan *plan;
    lr_memory_list moved;
} learner;

static int32_t split(const learner *l, const side *keys, groups *g)
{
    for (uint64_t i = 0; i < keys->count; i++) {
        const lr_key *key = keys->at[i];
        const char *part = key->text + keys->offset, *end = key->text + key->length;
        const char *dot = lr_path_dot(part, end);
        uint64_t length = (uint64_t)((dot ? dot : end) - part), index;
        group *last = g->count ? &g->at[g->count - 1] : NULL;
        if (key->value->kind != REC_KIND_TENSOR || key->length <= keys->offset) {
            continue;
        }
        if (last && last->length == length && memcmp(last->name, part, (size_t)length) == 0) {
            last->keys.count = (uint64_t)(&keys->at[i] - last->keys.at) + 1;
            continue;
        }
        if (!lr_job_grow(l->job, &g->at, g->count + 1, &g->room, sizeof *g->at)) {
            return l->job->error.status;
        }
        index = length <= LR_MEMORY_DIGITS && lr_node_index(part, length, &index) ? index : REC_UNKNOWN;
        g->at[g->count++] = (group){{&keys->at[i], 1, keys->offset + (size_t)length + 1}, part, length, index};
    }
    return REC_OK;
}

static int by_index(const void *a, const void *b)
{
    const group *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Sorts the groups by their numbers, names last. @return how many have one. */
static uint64_t sort(groups *g)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < g->count; i++) {
        count += g->at[i].index != REC_UNKNOWN;
    }
    if (g->count) {
        qsort(g->at, (size_t)g->count, sizeof *g->at, by_index);
    }
    return count;
}

/* Whether the record has a list of as many elements as the base has numbers there. */
static bool is_list_of(groups *record, groups *base)
{
    uint64_t count = sort(record);
    return sort(base) == count && count == record->count && count && record->at[count - 1].index == count - 1;
}

static int32_t move(learner *l, const group *to, const group *from)
{
    const char *text = to->keys.at[0]->text;
    const char *place = lr_plan_keep(l->job, l->plan, text, (size_t)(to->name - text) + to->length);
    const char *number = lr_plan_keep(l->job, l->plan, from->name, from->length);
    return place && number ? lr_memory_add(l->job, &l->moved, place, number) : l->job->error.status;
}

/* The group of the base under a name. */
static const group *find(const groups *base, const group *of)
{
    for (uint64_t i = 0; i < base->count; i++) {
        if (base->at[i].length == of->length && memcmp(base->at[i].name, of->name, (size_t)of->length) == 0) {
            return &base->at[i];
        }
    }
    return NULL;
}

static int32_t compare(learner *l, const side *record, const side *base, unsigned depth);

static int32_t compare_groups(learner *l, groups *record, groups *base, unsigned depth)
{
    bool listed = is_list_of(record, base);
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < record->count && status == REC_OK; i++) {
        const group *to = &record->at[i], *from = listed ? &base->at[i] : find(base, to);
        if (listed && to->index != from->index) {
            status = move(l, to, from);
        }
        status = status == REC_OK && from ? compare(l, &to->keys, &from->keys, depth + 1) : status;
    }
    return status;
}

/* Compares the parts after those that both sides have had so far. */
static int32_t compare(learner *l, const side *record, const side *base, unsigned depth)
{
    groups of_record = {0}, of_base = {0};
    int32_t status = depth < LEVELS_MOST ? split(l, record, &of_record) : REC_OK;
    status = status == REC_OK && of_record.count ? split(l, base, &of_base) : status;
    status = status == REC_OK && of_base.count ? compare_groups(l, &of_record, &of_base, depth) : status;
    lr_release(l->job->allocator, of_record.at);
    lr_release(l->job->allocator, of_base.at);
    return status;
}

/* The keys of a source below a name. */
static side keys_below(rec_job *job, lr_plan_source *source, const char *name)
{
    side keys = {.offset = name && *name ? strlen(name) + 1 : 0};
    uint64_t first = 0, end;
    (void)lr_plan_find_key(job, source, "", 0); /* sorts them */
    if (lr_job_failed(job)) {
        return keys;
    }
    while (keys.offset && first < source->key_count &&
           (source->sorted[first]->length < keys.offset || source->sorted[first]->text[keys.offset - 1] != '.' ||
            memcmp(source->sorted[first]->text, name, keys.offset - 1) != 0)) {
        first++;
    }
    for (end = first;
         end < source->key_count && source->sorted[end]->length >= keys.offset &&
         (!keys.offset || memcmp(source->sorted[end]->text, source->sorted[first]->text, keys.offset) == 0);
         end++) {
    }
    keys.at = source->sorted + first;
    keys.count = end - first;
    return keys;
}

int32_t lr_back_learn_gaps(rec_job *job, rec_plan *plan, lr_plan_source *source)
{
    learner l = {.job = job, .plan = plan};
    side record, base;
    int32_t status;
    if (source->memory || plan->trial || !plan->base || plan->base->root.form != REC_FORM_PATHS ||
        lr_rules_have(source->rules, LR_RULE_BACK)) {
        return REC_OK;
    }
    record = keys_below(job, source, source->prefix);
    base = keys_below(job, &plan->sources[plan->base_source], source->rules->select);
    status = lr_job_failed(job) ? job->error.status : compare(&l, &record, &base, 0);
    if (status == REC_OK && l.moved.count) {
        source->memory = lr_zalloc(job->allocator, sizeof *source->memory);
        status = source->memory ? REC_OK : lr_fail_memory(job, sizeof *source->memory);
    }
    if (status != REC_OK || !l.moved.count) {
        lr_release(job->allocator, l.moved.at);
        return status;
    }
    lr_memory_sort(&l.moved);
    source->memory->moved = l.moved;
    return REC_OK;
}
