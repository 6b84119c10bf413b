/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A plan as its owner sees it: made of sources, worked out once, read line by line. */
#include "remap/remap.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------ what is in it -- */

/* Room for one more element of `size` bytes in an array. */
static bool more(rec_job *job, void **at, uint64_t count, uint64_t *room, uint64_t size)
{
    if (count == *room) {
        uint64_t wider = *room ? *room * 2 : 64;
        void *grown = lr_resize(job->allocator, *at, wider * size);
        if (!grown) {
            (void)lr_fail_allocator(job, wider * size);
            return false;
        }
        *at = grown;
        *room = wider;
    }
    return true;
}

static const char *keep(rec_job *job, rec_plan *plan, const char *text, uint64_t length)
{
    const char *kept = length ? lr_arena_text(&plan->arena, text, length) : "";
    if (!kept) {
        (void)lr_fail_allocator(job, length);
    }
    return kept;
}

const char *lr_plan_text(rec_job *job, rec_plan *plan, const char *format, ...)
{
    char text[1024], *whole;
    va_list args;
    int length;
    va_start(args, format);
    length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0) {
        length = 0;
    }
    if ((size_t)length < sizeof text) {
        return keep(job, plan, text, (uint64_t)length);
    }
    /* Keys are made here too: they may be long, and two of them must not become one. */
    whole = lr_arena_alloc(&plan->arena, (uint64_t)length + 1, 1);
    if (!whole) {
        (void)lr_fail_allocator(job, (uint64_t)length + 1);
        return NULL;
    }
    va_start(args, format);
    (void)vsnprintf(whole, (size_t)length + 1, format, args);
    va_end(args);
    return whole;
}

const char *lr_plan_and(rec_job *job, rec_plan *plan, const char *a, const char *b)
{
    return !*a ? b : !*b ? a : lr_plan_text(job, plan, "%s, %s", a, b);
}

/* A plan that goes wrong everywhere must not list every key of a hostile file: what is beyond is only counted. */
enum { PROBLEMS_MOST = 1000 };

int32_t lr_plan_problem(rec_job *job, rec_plan *plan, int32_t kind, bool fatal, const char *key, const char *hint,
                        const char *format, ...)
{
    char text[1024];
    rec_plan_problem *p;
    va_list args;
    if (plan->quiet) {
        return REC_OK;
    }
    if (fatal) {
        plan->totals.fatal++;
    } else {
        plan->totals.warnings++;
    }
    if (plan->problem_count >= PROBLEMS_MOST) {
        return REC_OK;
    }
    if (!more(job, (void **)&plan->problems, plan->problem_count, &plan->problem_room, sizeof *plan->problems)) {
        return job->error.status;
    }
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    p = &plan->problems[plan->problem_count];
    *p = (rec_plan_problem){.size = sizeof *p, .kind = kind, .fatal = fatal};
    p->key = keep(job, plan, key, strlen(key));
    p->text = keep(job, plan, text, strlen(text));
    p->hint = keep(job, plan, hint, strlen(hint));
    if (!p->key || !p->text || !p->hint) {
        return job->error.status;
    }
    plan->problem_count++;
    return REC_OK;
}

int32_t lr_plan_refused(rec_job *job, rec_plan *plan, const char *key, const char *doing)
{
    char text[600], hint[300];
    if (job->error.status != REC_E_MISMATCH && job->error.status != REC_E_ARGUMENT &&
        job->error.status != REC_E_UNSUPPORTED) {
        return job->error.status;
    }
    (void)snprintf(text, sizeof text, "%.500s", job->error.what);
    (void)snprintf(hint, sizeof hint, "%.290s", job->error.hint);
    lr_job_forgive(job);
    return lr_plan_problem(job, plan, REC_PROBLEM_SHAPE, true, key, hint, "%.200s: %.300s: %.400s", key, doing, text);
}

static void shape_before(rec_plan_line *line, const lr_key *key)
{
    const rec_tensor *tensor = key->value ? rec_value_tensor(key->value) : NULL;
    if (tensor) {
        line->dtype_before = rec_tensor_stored_dtype(tensor);
        line->rank_before = rec_tensor_rank(tensor);
        line->shape_before = rec_tensor_shape(tensor);
    }
}

int32_t lr_plan_lost(rec_job *job, rec_plan *plan, int32_t action, lr_key *key, const char *why)
{
    rec_plan_line *line;
    const char **input = lr_arena_alloc(&plan->arena, sizeof *input, 8);
    if (!input) {
        return lr_fail_allocator(job, sizeof *input);
    }
    if (!more(job, (void **)&plan->lost, plan->lost_count, &plan->lost_room, sizeof *plan->lost)) {
        return job->error.status;
    }
    line = &plan->lost[plan->lost_count];
    *input = key->text;
    *line = (rec_plan_line){.size = sizeof *line,
                            .action = action,
                            .source = plan->sources[key->source].name,
                            .from = key->text,
                            .to = "",
                            .operations = "",
                            .why = keep(job, plan, why, strlen(why)),
                            .inputs = input,
                            .input_count = 1};
    shape_before(line, key);
    key->used = true;
    if (!line->why) {
        return job->error.status;
    }
    plan->lost_count++;
    return REC_OK;
}

lr_piece *lr_plan_piece(rec_job *job, rec_plan *plan, uint32_t source, const char *key, uint64_t length, lr_op *op,
                        const rec_value *value, lr_key *const *inputs, uint64_t count, const char *operations,
                        const char *why)
{
    lr_piece *piece = lr_arena_alloc(&plan->arena, sizeof *piece, 8);
    lr_key **copy = lr_arena_alloc(&plan->arena, (count + 1) * sizeof *copy, 8);
    const char *text = lr_arena_text(&plan->arena, key, length);
    if (!piece || !copy || !text) {
        (void)lr_fail_allocator(job, sizeof *piece);
        return NULL;
    }
    for (uint64_t i = 0; i < count; i++) {
        copy[i] = inputs[i];
        copy[i]->used = true;
    }
    *piece = (lr_piece){.key = text,
                        .length = length,
                        .value = value,
                        .op = op ? lr_op_retain(op) : NULL,
                        .inputs = copy,
                        .input_count = count,
                        .source = source};
    /* Most pieces say the same as the one before. */
    piece->operations = plan->last_piece && strcmp(plan->last_piece->operations, operations) == 0
                            ? plan->last_piece->operations
                            : keep(job, plan, operations, strlen(operations));
    piece->why = plan->last_piece && strcmp(plan->last_piece->why, why) == 0 ? plan->last_piece->why
                                                                             : keep(job, plan, why, strlen(why));
    if (plan->last_piece) {
        plan->last_piece->next = piece;
    } else {
        plan->pieces = piece;
    }
    plan->last_piece = piece;
    plan->piece_count++;
    return piece->operations && piece->why ? piece : NULL;
}

/* ------------------------------------------------------------------------------------------------------------ sources -- */

rec_plan *lr_plan_new(rec_job *job, const rec_recorder *to, bool foreign)
{
    rec_plan *plan = lr_zalloc(job->allocator, sizeof *plan);
    if (!plan) {
        (void)lr_fail_allocator(job, sizeof *plan);
        return NULL;
    }
    plan->context = job->context;
    plan->to = to;
    plan->foreign = foreign;
    plan->precision = REC_PRECISION_KEEP;
    lr_arena_init(&plan->arena, job->allocator);
    plan->minor = to && to->target > 0 ? to->target : 0;
    if (to) {
        plan->type = to->type;
    }
    return plan;
}

rec_plan *rec_plan_new(rec_context *context, const rec_recorder *to)
{
    rec_job job;
    rec_plan *plan = NULL;
    lr_job_begin(&job, to ? to->context : context, "plan", NULL);
    if (!lr_job_failed(&job)) {
        plan = lr_plan_new(&job, to, to && to->plugin && to->plugin->d.adapter != REC_ADAPTER_NONE);
    }
    (void)lr_job_end(&job);
    return plan;
}

static void forget_source(const lr_allocator *allocator, lr_plan_source *source)
{
    lr_rules_free(source->rules);
    lr_numbers_free(&source->numbers);
    lr_release(allocator, source->keys);
    lr_release(allocator, source->hits);
    rec_record_free(source->owned);
}

/* Settles what a source's load arguments leave open. */
static void settle(const rec_plan *plan, const rec_recorder *from, lr_plan_source *source)
{
    bool foreign = source->record->root.form == REC_FORM_PATHS;
    bool asked = from && (from->arguments.profile || plan->type.layout);
    int32_t adapter = source->rules->adapter, gaps = source->rules->gaps;
    for (uint64_t i = 0; i < source->rules->count; i++) {
        asked = asked || source->rules->rules[i].kind == LR_RULE_MODULE;
    }
    /* By default a foreign file is taken for PyTorch's on its way to what is Burn's; between two foreign files nothing
     * is adapted unless something says to what. */
    source->adapter = adapter != LR_ADAPTER_UNSET            ? adapter
                      : foreign && (!plan->foreign || asked) ? LR_ADAPTER_PYTORCH
                                                             : LR_ADAPTER_NONE;
    source->gaps_given = gaps != LR_SWITCH_UNSET;
    source->close_gaps =
        source->gaps_given ? gaps == LR_SWITCH_YES : foreign && !plan->foreign && !(from && from->arguments.profile);
}

/* Adds a source whose record is known. Takes `owned`, also on failure. */
static int32_t add(rec_job *job, rec_plan *plan, const rec_recorder *from, const rec_record *record, rec_record *owned,
                   const char *name, const char *path)
{
    lr_plan_source *source;
    if (plan->made) {
        rec_record_free(owned);
        return rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "the plan is made: nothing can be added any more");
    }
    if (plan->source_count == UINT32_MAX ||
        !more(job, (void **)&plan->sources, plan->source_count, &plan->source_room, sizeof *plan->sources)) {
        rec_record_free(owned);
        return job->error.status;
    }
    source = &plan->sources[plan->source_count];
    *source = (lr_plan_source){.owned = owned, .record = record};
    lr_numbers_init(&source->numbers, job->allocator);
    source->name = keep(job, plan, name, strlen(name));
    source->path = path ? keep(job, plan, path, strlen(path)) : NULL;
    if (from) {
        source->rules = lr_arguments_rules(job, from);
        source->prefix =
            from->arguments.prefix ? keep(job, plan, from->arguments.prefix, strlen(from->arguments.prefix)) : NULL;
        source->partial = from->arguments.partial;
        source->strict = from->arguments.strict;
        source->debug = from->arguments.debug;
        source->reverse = from->arguments.reverse;
        source->type = from->type;
    } else {
        source->rules = lr_rules_new(job);
    }
    if (!lr_job_failed(job) && from) {
        lr_numbers_free(&source->numbers);
        (void)lr_arguments_numbers(job, from, source->rules, path, &source->numbers);
    }
    if (!lr_job_failed(job)) {
        source->hits = lr_zalloc(job->allocator, (source->rules->count + 1) * sizeof *source->hits);
        if (!source->hits) {
            (void)lr_fail_allocator(job, source->rules->count * sizeof *source->hits);
        }
    }
    if (lr_job_failed(job)) {
        forget_source(job->allocator, source);
        return job->error.status;
    }
    /* A type that the file was read by is the file's own. */
    if (from && !plan->type.layout && !plan->foreign && !source->reverse && !record->typed) {
        plan->type = from->type;
    }
    settle(plan, from, source);
    if (from && plan->minor <= 0 && from->target > 0) {
        plan->minor = from->target;
    }
    if (plan->source_count == 0) {
        plan->precision = record->precision;
        plan->clamp = record->clamp;
    }
    plan->source_count++;
    return REC_OK;
}

rec_status rec_plan_add(rec_plan *plan, rec_recorder *from, const char *path)
{
    rec_job job;
    lr_job_begin(&job, plan->context, "load", path);
    if (from->context != plan->context) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "the recorder must be of the plan's context");
    } else if (!path || !*path) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "no path was given");
    } else {
        rec_record *record;
        job.passing = true;
        record = lr_load_file(&job, from, path);
        if (record) {
            job.file = record->origin.file;
            (void)add(&job, plan, from, record, record, record->origin.file, record->origin.file);
            job.file = NULL;
        }
    }
    return lr_job_end(&job);
}

rec_status rec_plan_add_record(rec_plan *plan, const rec_recorder *arguments, const rec_record *record,
                               const char *name)
{
    rec_job job;
    lr_job_begin(&job, plan->context, "plan", name);
    if (!record || !name) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "no record was given, or no name for it");
    } else if (record->context != plan->context || (arguments && arguments->context != plan->context)) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "recorder and record must be of the plan's context");
    } else {
        (void)add(&job, plan, arguments, record, NULL, name, NULL);
    }
    return lr_job_end(&job);
}

rec_status rec_plan_set_base(rec_plan *plan, const rec_record *base)
{
    if (plan->made || (base && base->context != plan->context)) {
        return lr_publish(REC_E_ARGUMENT, plan->made ? "the plan is made: nothing can be added any more"
                                                     : "the base must be of the plan's context");
    }
    plan->base = base;
    lr_publish_ok();
    return REC_OK;
}

int32_t lr_plan_take(rec_job *job, rec_plan *plan, const rec_recorder *from, rec_record *record, const char *path)
{
    const char *file = *record->origin.file ? record->origin.file : NULL;
    return add(job, plan, from, record, record, file ? file : path, file);
}

void rec_plan_free(rec_plan *plan)
{
    if (plan) {
        const lr_allocator *allocator = &plan->context->allocator;
        for (lr_piece *piece = plan->pieces; piece; piece = piece->next) {
            lr_op_release(piece->op);
        }
        rec_record_free(plan->result);
        for (uint64_t i = 0; i < plan->source_count; i++) {
            forget_source(allocator, &plan->sources[i]);
        }
        lr_release(allocator, plan->sources);
        lr_release(allocator, plan->lines);
        lr_release(allocator, plan->lost);
        lr_release(allocator, plan->problems);
        lr_arena_free(&plan->arena);
        lr_release(allocator, plan);
    }
}

/* ------------------------------------------------------------------------------------------------------------- reading -- */

rec_status rec_plan_make(rec_plan *plan)
{
    rec_job job;
    lr_job_begin(&job, plan->context, "plan", NULL);
    (void)lr_plan_work(&job, plan);
    return lr_job_end(&job);
}

uint64_t rec_plan_count(rec_plan *plan)
{
    return rec_plan_make(plan) == REC_OK ? plan->line_count : 0;
}

const rec_plan_line *rec_plan_get(rec_plan *plan, uint64_t index)
{
    return plan->made && index < plan->line_count ? &plan->lines[index] : NULL;
}

uint64_t rec_plan_problem_count(rec_plan *plan)
{
    return rec_plan_make(plan) == REC_OK ? plan->problem_count : 0;
}

const rec_plan_problem *rec_plan_problem_get(rec_plan *plan, uint64_t index)
{
    return plan->made && index < plan->problem_count ? &plan->problems[index] : NULL;
}

rec_status rec_plan_total(rec_plan *plan, rec_plan_totals *totals)
{
    rec_status status = rec_plan_make(plan);
    if (status == REC_OK) {
        uint32_t size = totals->size < sizeof *totals ? totals->size : (uint32_t)sizeof *totals;
        rec_plan_totals all = plan->totals;
        all.size = totals->size;
        memcpy(totals, &all, size);
    }
    return status;
}
