/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A plan carried out: the record it leads to, and what there is to say about it; and read: lines, problems and totals.
 * It is made on first use. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remap/remap.h"

static rec_status status_of(int32_t problem)
{
    return problem == REC_PROBLEM_NO_INVERSE ? REC_E_UNSUPPORTED : REC_E_MISMATCH;
}

/* The fatal problems of a plan as one error: all that fit, with what to do about the first. */
static int32_t fail_problems(rec_job *job, const rec_plan *plan)
{
    enum { LISTED = 8 };
    char text[1800];
    size_t used = 0;
    uint64_t listed = 0;
    const rec_plan_problem *first = NULL;
    for (uint64_t i = 0; i < plan->problem_count && listed < LISTED && used + 300 < sizeof text; i++) {
        const rec_plan_problem *p = &plan->problems[i];
        if (p->fatal) {
            first = first ? first : p;
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%.400s", listed++ ? "\n  " : "", p->text);
            used = used < sizeof text ? used : sizeof text - 1;
        }
    }
    if (plan->totals.fatal > listed && used < sizeof text) {
        (void)snprintf(text + used, sizeof text - used, "\n  and %" PRIu64 " more", plan->totals.fatal - listed);
    }
    (void)rec_fail(job, first ? status_of(first->kind) : REC_E_MISMATCH, REC_UNKNOWN, "%s", text);
    if (first && *first->hint) {
        rec_fail_hint(job, "%s", first->hint);
    }
    return job->error.status;
}

static int32_t note_kind(int32_t problem)
{
    switch (problem) {
    case REC_PROBLEM_DEAD_RULE:
        return REC_NOTE_RULE;
    case REC_PROBLEM_UNEXPECTED:
    case REC_PROBLEM_EMPTY:
        return REC_NOTE_DROPPED;
    case REC_PROBLEM_ASSUMED:
        return REC_NOTE_ASSUMED;
    default:
        return REC_NOTE_LAYOUT;
    }
}

static int by_key(const void *a, const void *b)
{
    return strcmp((*(const lr_piece *const *)a)->key, (*(const lr_piece *const *)b)->key);
}

/* As Burn's debug print has it: every tensor by its new key, with the dtype after widening. */
static const char *dtype_words(rec_dtype dtype)
{
    static const struct {
        rec_dtype dtype;
        const char *word;
    } words[] = {{REC_DTYPE_F64, "F64"},  {REC_DTYPE_F32, "F32"}, {REC_DTYPE_F16, "F16"}, {REC_DTYPE_BF16, "BF16"},
                 {REC_DTYPE_I64, "I64"},  {REC_DTYPE_I32, "I64"}, {REC_DTYPE_U16, "U32"}, {REC_DTYPE_U32, "U32"},
                 {REC_DTYPE_U8, "U8"},    {REC_DTYPE_I16, "I16"}, {REC_DTYPE_I8, "I8"},   {REC_DTYPE_U64, "U64"},
                 {REC_DTYPE_BOOL, "BOOL"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i].dtype == dtype) {
            return words[i].word;
        }
    }
    return rec_dtype_name(dtype);
}

static int32_t debug_notes(rec_job *job, const rec_plan *plan)
{
    uint64_t count = 0;
    const lr_piece **list = lr_alloc(job->allocator, (plan->piece_count + 1) * sizeof *list);
    if (!list) {
        return lr_fail_memory(job, plan->piece_count * sizeof *list);
    }
    for (const lr_piece *piece = plan->pieces; piece; piece = piece->next) {
        if (lr_piece_is_tensor(piece) && !piece->dead && !piece->kept && plan->sources[piece->source].debug) {
            list[count++] = piece;
        }
    }
    qsort(list, (size_t)count, sizeof *list, by_key);
    for (uint64_t i = 0; i < count; i++) {
        const lr_piece *piece = list[i];
        const char *from = piece->input_count ? lr_piece_inputs(piece)[0]->text : piece->key;
        char shape[160], keys[1200];
        bool same = strcmp(from, piece->key) == 0;
        if (same) {
            (void)snprintf(keys, sizeof keys, "Key: %.1000s", from);
        } else {
            (void)snprintf(keys, sizeof keys, "Original Key: %.500s\nRemapped Key: %.500s", from, piece->key);
        }
        lr_note(job, REC_NOTE_KEY, 1, piece->key, "%s\nShape: %s\nDtype: %s\n---", keys,
                lr_shape_words(shape, sizeof shape, lr_piece_shape(piece), lr_piece_rank(piece)),
                dtype_words(lr_piece_dtype(piece)));
    }
    lr_release(job->allocator, list);
    return REC_OK;
}

/* What a plan has to say, as notes of the operation that carries it out. */
static int32_t say(rec_job *job, const rec_plan *plan)
{
    for (uint64_t i = 0; i < plan->problem_count; i++) {
        const rec_plan_problem *p = &plan->problems[i];
        if (!p->fatal) {
            /* Most texts begin with the key they are about. */
            size_t length = strlen(p->key);
            bool told = strncmp(p->text, p->key, length) == 0;
            if (p->kind == REC_PROBLEM_ASSUMED && told) {
                lr_note(job, REC_NOTE_ASSUMED, 1, p->key, "%s", p->text + length + strlen(" is "));
            } else {
                lr_note(job, note_kind(p->kind), 1, told ? "" : p->key, "%s", p->text);
            }
        }
    }
    if (plan->guessed) {
        lr_note(job, REC_NOTE_ADAPTED, 1, "", "%s", plan->guessed);
    }
    return debug_notes(job, plan);
}

int32_t lr_plan_carry_out(rec_job *job, rec_plan *plan, const char *file)
{
    if (lr_plan_work(job, plan) == REC_OK && say(job, plan) == REC_OK && plan->totals.fatal) {
        job->file = file;
        (void)fail_problems(job, plan);
    }
    return job->error.status;
}

rec_record *rec_plan_load(rec_plan *plan)
{
    rec_job job;
    rec_record *record = NULL;
    if (LR_NULL(plan)) {
        return NULL;
    }
    lr_job_begin(&job, plan->context, "load", NULL);
    if (lr_plan_carry_out(&job, plan, NULL) == REC_OK && lr_watch_judge(&job, false) == REC_OK) {
        record = rec_record_copy(plan->result);
        if (!record) {
            (void)lr_fail_memory(&job, sizeof *record);
        }
    }
    (void)lr_job_end(&job);
    return record;
}

/* ----------------------------------------------------------------------------------------------------- reading -- */

/* @param function the public one. */
static rec_status make_plan(const char *function, rec_plan *plan)
{
    rec_job job;
    if (LR_NULL_OF(function, plan)) {
        return REC_E_ARGUMENT;
    }
    lr_job_begin(&job, plan->context, "plan", NULL);
    (void)lr_plan_work(&job, plan);
    return lr_job_end(&job);
}

/* The same for the functions that return one line each: on a finished plan they are no operations, which would replace
 * the error and report. */
static bool is_made(const char *function, rec_plan *plan)
{
    return (plan && plan->made && plan->failed == REC_OK) || make_plan(function, plan) == REC_OK;
}

rec_status rec_plan_make(rec_plan *plan)
{
    return make_plan(__func__, plan);
}

uint64_t rec_plan_count(rec_plan *plan)
{
    return make_plan(__func__, plan) == REC_OK ? plan->line_count + plan->lost_count : 0;
}

const rec_plan_line *rec_plan_get(rec_plan *plan, uint64_t index)
{
    const rec_plan_line *lines;
    uint64_t count;
    if (!is_made(__func__, plan)) {
        return NULL;
    }
    count = plan->line_count + plan->lost_count;
    lines = lr_plan_lines(plan);
    if (!lines) {
        rec_job job;
        lr_job_begin(&job, plan->context, "plan", NULL);
        (void)lr_fail_memory(&job, count * sizeof *lines);
        (void)lr_job_end(&job);
    }
    return lines && index < count ? &lines[index] : NULL;
}

uint64_t rec_plan_problem_count(rec_plan *plan)
{
    return make_plan(__func__, plan) == REC_OK ? plan->problem_count : 0;
}

const rec_plan_problem *rec_plan_problem_get(rec_plan *plan, uint64_t index)
{
    return is_made(__func__, plan) && index < plan->problem_count ? &plan->problems[index] : NULL;
}

rec_status rec_plan_total(rec_plan *plan, rec_plan_totals *totals)
{
    rec_status status = LR_NULL(totals) ? REC_E_ARGUMENT : make_plan(__func__, plan);
    if (status == REC_OK) {
        uint32_t size = totals->size < sizeof *totals ? totals->size : (uint32_t)sizeof *totals;
        rec_plan_totals all = plan->totals;
        all.size = totals->size;
        memcpy(totals, &all, size);
    }
    return status;
}
