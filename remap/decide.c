/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Whether a file of Burn's own store is in Burn's layout or, by the store's adapter, in PyTorch's. Its metadata are the
 * same, so the plan is made both ways, for trial: what goes together one way alone decides, with the names of norms and
 * with the shapes of the base. What contradicts itself, and what says nothing, is asked about. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "remap/remap.h"

/* ------------------------------------------------------------------------------------------------------ trials -- */

/* The plan with that adapter where it is doubted. NULL: the job has failed. */
static rec_plan *try_with(rec_job *job, const rec_plan *plan, int32_t adapter)
{
    rec_plan *trial = lr_plan_new(job, plan->type, plan->minor, plan->written, plan->foreign);
    if (!trial) {
        return NULL;
    }
    trial->trial = true;
    trial->base = plan->base;
    trial->precision = plan->precision;
    trial->clamp = plan->clamp;
    for (uint64_t i = 0; i < plan->source_count && !lr_job_failed(job); i++) {
        lr_plan_source *source = lr_plan_source_new(job, trial);
        if (source) {
            *source = plan->sources[i];
            source->owned = NULL;
            source->lent = true;
            source->adapter = source->doubted ? adapter : source->adapter;
            source->keys = NULL;
            source->key_count = 0;
            source->sorted = NULL;
        }
    }
    if (lr_job_failed(job) || lr_plan_make(job, trial) != REC_OK) {
        rec_plan_free(trial);
        return NULL;
    }
    return trial;
}

/* Notes where a trial's weights are not those of the base. */
static int32_t compare_base(rec_job *job, rec_plan *trial)
{
    int32_t status = REC_OK;
    const rec_plan_line *lines = trial->base ? lr_plan_lines(trial) : NULL;
    if (trial->base && !lines) {
        return lr_fail_memory(job, trial->line_count * sizeof *lines);
    }
    for (uint64_t i = 0; lines && i < trial->line_count && status == REC_OK; i++) {
        const rec_plan_line *line = &lines[i];
        lr_plan_source *base = &trial->sources[trial->base_source];
        const lr_key *key = line->action == REC_PLAN_MAPPED && line->rank_after == 2
                                ? lr_plan_find_key(job, base, line->to, strlen(line->to))
                                : NULL;
        const rec_tensor *old = key ? rec_value_tensor(key->value) : NULL;
        if (old && old->rank == 2 && memcmp(old->shape, line->shape_after, 2 * sizeof *old->shape) != 0) {
            char there[160], here[160];
            status = lr_plan_sign(job, trial, LR_SIGN_CLASH, line->to, "%.300s %s, where the base has %s", line->to,
                                  lr_shape_words(here, sizeof here, line->shape_before, line->rank_before),
                                  lr_shape_words(there, sizeof there, old->shape, old->rank));
        }
    }
    return lr_job_failed(job) ? job->error.status : status;
}

/* ---------------------------------------------------------------------------------------------------- weighing -- */

typedef struct evidence {
    const char *first; /* what speaks for it; NULL: nothing */
    uint64_t count;
} evidence;

/* Signs are listed the last one first. */
static void add(evidence *e, const lr_sign *sign)
{
    e->first = sign->text;
    e->count++;
}

/* What clashes in `trial` and not in the other one. */
static int32_t clashes_alone(rec_job *job, const rec_plan *trial, const rec_plan *other, evidence *e)
{
    lr_memory_list there = {0};
    for (const lr_sign *s = other->signs; s; s = s->next) {
        if (s->kind == LR_SIGN_CLASH) {
            (void)lr_memory_add(job, &there, s->path, NULL);
        }
    }
    lr_memory_sort(&there);
    for (const lr_sign *s = trial->signs; s; s = s->next) {
        if (s->kind == LR_SIGN_CLASH && !lr_memory_find(&there, s->path, strlen(s->path))) {
            add(e, s);
        }
    }
    lr_release(job->allocator, there.at);
    return job->error.status;
}

static void names(const rec_plan *trial, int32_t kind, evidence *e)
{
    for (const lr_sign *s = trial->signs; s; s = s->next) {
        if (s->kind == kind) {
            add(e, s);
        }
    }
}

/* How many tensors the adapter would make something else of; 0 if the job has failed. @param first (out) the first. */
static uint64_t differences(rec_job *job, rec_plan *with, rec_plan *without, const rec_plan_line **first)
{
    const rec_plan_line *lines = lr_plan_lines(with), *others = lines ? lr_plan_lines(without) : NULL;
    uint64_t count = 0, of_with = with->line_count + with->lost_count;
    uint64_t of_without = without->line_count + without->lost_count;
    *first = NULL;
    if (!others) {
        (void)lr_fail_memory(job, of_with * sizeof *lines);
        return 0;
    }
    for (uint64_t i = 0; i < of_with; i++) {
        const rec_plan_line *a = &lines[i], *b = i < of_without ? &others[i] : NULL;
        bool small = a->rank_after == 2 && a->shape_after[0] <= 1 && a->shape_after[1] <= 1;
        if (!b || a->action != b->action || strcmp(a->to, b->to) != 0 ||
            (!small && strcmp(a->operations, b->operations) != 0)) {
            *first = *first ? *first : a;
            count++;
        }
    }
    for (uint64_t i = 0; i < with->problem_count && !count; i++) {
        count += with->problems[i].fatal && with->problems[i].kind == REC_PROBLEM_AMBIGUOUS;
    }
    return count;
}

/* ---------------------------------------------------------------------------------------------------- deciding -- */

static const char *const hint = "Choose with --adapter: none for Burn's layout, pytorch for PyTorch's.";

static const char *more(const evidence *e, char *text, size_t room)
{
    text[0] = '\0';
    if (e->count > 1) {
        (void)snprintf(text, room, ", and %" PRIu64 " more", e->count - 1);
    }
    return text;
}

static int32_t told(rec_job *job, rec_plan *plan, int32_t adapter, const evidence *e)
{
    char rest[48];
    return lr_plan_problem(
        job, plan, REC_PROBLEM_AMBIGUOUS, false, "", "",
        adapter == LR_ADAPTER_NONE
            ? "Burn's store wrote it, in Burn's layout (%.500s%s): nothing is transposed or renamed"
            : "Burn's store wrote it, with its adapter for PyTorch (%.500s%s): it is read as PyTorch's",
        e->first, more(e, rest, sizeof rest));
}

static int32_t contradicted(rec_job *job, rec_plan *plan, const evidence *burn, const evidence *torch)
{
    char rest[48], other[48];
    return lr_plan_problem(job, plan, REC_PROBLEM_AMBIGUOUS, true, "", hint,
                           "Burn's store wrote it, in Burn's layout (%.400s%s) or in PyTorch's (%.400s%s)", burn->first,
                           more(burn, rest, sizeof rest), torch->first, more(torch, other, sizeof other));
}

static int32_t unknown(rec_job *job, rec_plan *plan, const rec_plan_line *first)
{
    char shape[160];
    return lr_plan_problem(
        job, plan, REC_PROBLEM_AMBIGUOUS, true, "", hint,
        "Burn's store wrote it, in Burn's layout or in PyTorch's: no shape and no name shows which%s%.300s%s%s%s",
        first ? ", nor whether " : "", first ? first->from : "", first && first->rank_before ? " " : "",
        first && first->rank_before ? lr_shape_words(shape, sizeof shape, first->shape_before, first->rank_before) : "",
        first ? " is to be transposed" : "");
}

/* @param with,without the plan with the adapter, and without it. */
static int32_t weigh(rec_job *job, rec_plan *plan, rec_plan *with, rec_plan *without, int32_t *adapter)
{
    evidence burn = {0}, torch = {0};
    const rec_plan_line *first;
    int32_t status = compare_base(job, with);
    status = status == REC_OK ? compare_base(job, without) : status;
    names(with, LR_SIGN_BURN, &burn);
    names(with, LR_SIGN_TORCH, &torch);
    status = status == REC_OK ? clashes_alone(job, with, without, &burn) : status;
    status = status == REC_OK ? clashes_alone(job, without, with, &torch) : status;
    if (!burn.count && !torch.count) {
        names(with, LR_SIGN_HINT, &burn);
    }
    *adapter = with->totals.fatal <= without->totals.fatal ? LR_ADAPTER_PYTORCH : LR_ADAPTER_NONE;
    if (status != REC_OK) {
        return status;
    }
    if (burn.count && torch.count) {
        return contradicted(job, plan, &burn, &torch);
    }
    if (burn.count || torch.count) {
        *adapter = burn.count ? LR_ADAPTER_NONE : LR_ADAPTER_PYTORCH;
        return told(job, plan, *adapter, burn.count ? &burn : &torch);
    }
    if (differences(job, with, without, &first)) {
        *adapter = LR_ADAPTER_NONE;
        return unknown(job, plan, first);
    }
    return job->error.status; /* it is the same either way */
}

static int32_t decide(rec_job *job, rec_plan *plan)
{
    int32_t status = REC_OK, adapter = LR_ADAPTER_PYTORCH;
    rec_plan *with = NULL, *without = NULL;
    bool any = false;
    for (uint64_t i = 0; i < plan->source_count; i++) {
        any = any || plan->sources[i].doubted;
    }
    if (!any || plan->trial) {
        return REC_OK;
    }
    with = try_with(job, plan, LR_ADAPTER_PYTORCH);
    without = with ? try_with(job, plan, LR_ADAPTER_NONE) : NULL;
    status = without ? weigh(job, plan, with, without, &adapter) : job->error.status;
    for (uint64_t i = 0; i < plan->source_count; i++) {
        plan->sources[i].adapter = plan->sources[i].doubted ? adapter : plan->sources[i].adapter;
    }
    rec_plan_free(with);
    rec_plan_free(without);
    return status;
}

/* Tells where a file was taken for PyTorch's against the names in it. */
static int32_t doubt_presumed(rec_job *job, rec_plan *plan)
{
    evidence burn = {0}, torch = {0};
    const rec_plan_line *first = NULL, *lines;
    uint64_t count = 0;
    char rest[48] = "";
    names(plan, LR_SIGN_BURN, &burn);
    names(plan, LR_SIGN_HINT, &burn);
    names(plan, LR_SIGN_TORCH, &torch);
    if (!burn.count || torch.count) {
        return REC_OK;
    }
    lines = lr_plan_lines(plan);
    if (!lines) {
        return lr_fail_memory(job, plan->line_count * sizeof *lines);
    }
    for (uint64_t i = 0; i < plan->line_count; i++) {
        if (strstr(lines[i].operations, "transpose")) {
            first = first ? first : &lines[i];
            count++;
        }
    }
    if (!count) {
        return REC_OK;
    }
    if (count > 1) {
        (void)snprintf(rest, sizeof rest, " and %" PRIu64 " more", count - 1);
    }
    return lr_plan_problem(
        job, plan, REC_PROBLEM_AMBIGUOUS, false, "", hint,
        "read as PyTorch's: %.300s%s %s transposed, although %.300s is Burn's name of it and no shape shows the layout",
        first->from, rest, count > 1 ? "are" : "is", burn.first);
}

int32_t lr_plan_work(rec_job *job, rec_plan *plan)
{
    if (!plan->made) {
        plan->made = true;
        plan->failed = lr_plan_check_types(job, plan);
        plan->failed = plan->failed == REC_OK ? decide(job, plan) : plan->failed;
        plan->failed = plan->failed == REC_OK ? lr_plan_make(job, plan) : plan->failed;
        plan->failed = plan->failed == REC_OK ? doubt_presumed(job, plan) : plan->failed;
    } else if (plan->failed != REC_OK) {
        (void)rec_fail(job, plan->failed, REC_UNKNOWN, "the plan could not be made");
    }
    return job->error.status;
}
