/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Decisions before a plan is made: whether a record that goes backwards has its type; and whether a file of
 * Burn's own store is in Burn's layout or, by the store's adapter, in PyTorch's. The metadata of both are the same, so
 * the plan is made both ways, for trial: what goes together one way alone decides, with the names of norms and with the
 * shapes of the base. What contradicts itself, and what says nothing, is asked about. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "burn/visit/visit.h"
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

static const char *const choose = "Choose with --adapter: none for Burn's layout, pytorch for PyTorch's.";

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
    return lr_plan_problem(job, plan, REC_PROBLEM_AMBIGUOUS, true, "", choose,
                           "Burn's store wrote it, in Burn's layout (%.400s%s) or in PyTorch's (%.400s%s)", burn->first,
                           more(burn, rest, sizeof rest), torch->first, more(torch, other, sizeof other));
}

static int32_t unknown(rec_job *job, rec_plan *plan, const rec_plan_line *first)
{
    char shape[160];
    return lr_plan_problem(
        job, plan, REC_PROBLEM_AMBIGUOUS, true, "", choose,
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
        job, plan, REC_PROBLEM_AMBIGUOUS, false, "", choose,
        "read as PyTorch's: %.300s%s %s transposed, although %.300s is Burn's name of it and no shape shows the layout",
        first->from, rest, count > 1 ? "are" : "is", burn.first);
}

/* ------------------------------------------------------------------------------------------------ the own type -- */

/* The first fatal problem of a plan that fits the record to its type becomes one of the plan that goes backwards. */
static int32_t hand_on(rec_job *job, rec_plan *plan, const char *name, const rec_plan *fitted)
{
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < fitted->problem_count && status == REC_OK; i++) {
        const rec_plan_problem *p = &fitted->problems[i];
        if (p->fatal) {
            status = lr_plan_problem(job, plan, p->kind, true, p->key, "Is it the right type of this record?",
                                     "%.200s: %s", name, p->text);
        }
    }
    return status;
}

/* A record whose names were flat says nothing of lists and options: it is fitted to the type first.
 * @param fitted (out) the plan that holds the result; NULL: the job has failed. */
static int32_t fit(rec_job *job, const lr_plan_source *source, rec_plan **fitted)
{
    lr_plan_input input = {.record = source->record, .name = source->name, .type = source->type};
    lr_arguments arguments;
    int32_t status;
    lr_arguments_init(&arguments, job->allocator);
    status =
        source->prefix && *source->prefix ? lr_arguments_set(job, &arguments, "select", source->prefix, NULL) : REC_OK;
    status = status == REC_OK ? lr_arguments_set(job, &arguments, "adapter", "none", NULL) : status;
    status = status == REC_OK ? lr_arguments_set(job, &arguments, "strict", "yes", NULL) : status;
    input.arguments = &arguments;
    input.minor = source->record->burn_minor;
    *fitted = status == REC_OK ? lr_plan_new(job, source->type, input.minor, REC_PRECISION_KEEP, false) : NULL;
    if (*fitted) {
        status = lr_plan_add(job, *fitted, &input) == REC_OK ? lr_plan_make(job, *fitted) : job->error.status;
    }
    lr_arguments_free(&arguments);
    return job->error.status;
}

/* What the walk over the record by its type finds. */
static int32_t walk(rec_job *job, rec_plan *plan, const lr_plan_source *source, const rec_record *record,
                    const rec_value *value)
{
    const rec_layout *layout = lr_plan_layout(job, source->type, record->burn_minor);
    char path[256], text[600], hint[300];
    if (!layout || lr_check_tensors(job, record, layout) != REC_OK ||
        lr_check_type(job, record, value, layout) == REC_OK) {
        return job->error.status;
    }
    if (job->error.status != REC_E_MISMATCH && job->error.status != REC_E_RANGE &&
        job->error.status != REC_E_UNSUPPORTED) {
        return job->error.status;
    }
    (void)snprintf(path, sizeof path, "%.250s", job->error.path);
    (void)snprintf(text, sizeof text, "%.590s", job->error.what);
    (void)snprintf(hint, sizeof hint, "%.290s",
                   *job->error.hint ? job->error.hint : "Is it the right type of this record?");
    lr_job_forgive(job);
    return lr_plan_problem(job, plan, REC_PROBLEM_KIND, true, path, hint, "%.200s: %s%s%s", source->name, path,
                           *path ? ": " : "", text);
}

static int32_t check(rec_job *job, rec_plan *plan, lr_plan_source *source)
{
    rec_plan *fitted = NULL;
    const rec_record *record = source->record;
    const rec_value *value = &record->root;
    int32_t status = REC_OK;
    job->file = source->name;
    if (record->dotted || record->root.form == REC_FORM_PATHS) {
        status = fit(job, source, &fitted);
        record = fitted ? fitted->result : NULL;
        status = status == REC_OK && fitted->totals.fatal ? hand_on(job, plan, source->name, fitted) : status;
        value = record ? &record->root : NULL;
    } else if (source->prefix && *source->prefix) {
        value = lr_at(record, source->prefix);
    }
    if (status == REC_OK && !fitted && !value) {
        status =
            lr_plan_problem(job, plan, REC_PROBLEM_MISSING, true, source->prefix, "",
                            "%.200s: %.300s: the record has nothing below this prefix", source->name, source->prefix);
    }
    if (status == REC_OK && value && !(fitted && fitted->totals.fatal)) {
        status = walk(job, plan, source, record, value);
    }
    rec_plan_free(fitted);
    lr_layouts_free(job);
    job->type = (lr_type_ref){0};
    job->file = NULL;
    return status;
}

/* Checks each record that goes backwards against its type, if it has one, as `record types --check` does. */
static int32_t check_types(rec_job *job, rec_plan *plan)
{
    int32_t status = REC_OK;
    for (uint64_t s = 0; s < plan->source_count && status == REC_OK; s++) {
        if (plan->sources[s].reverse && plan->sources[s].type.layout) {
            status = check(job, plan, &plan->sources[s]);
        }
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------------- all -- */

int32_t lr_plan_work(rec_job *job, rec_plan *plan)
{
    if (!plan->made) {
        plan->made = true;
        plan->failed = check_types(job, plan);
        plan->failed = plan->failed == REC_OK ? decide(job, plan) : plan->failed;
        plan->failed = plan->failed == REC_OK ? lr_plan_make(job, plan) : plan->failed;
        plan->failed = plan->failed == REC_OK ? doubt_presumed(job, plan) : plan->failed;
    } else if (plan->failed != REC_OK) {
        (void)rec_fail(job, plan->failed, REC_UNKNOWN, "the plan could not be made");
    }
    return job->error.status;
}
