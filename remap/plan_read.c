/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Read access to a plan: lines, problems and totals. The plan is made on first use. */
#include <string.h>

#include "remap/remap.h"

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
