/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The lines of a plan. They are stored compactly while the plan is made, for there may be millions and few plans are
 * read line by line; the first access expands them. */
#include "remap/plan/plan.h"

#include <string.h>

int32_t lr_plan_line(rec_job *job, rec_plan *plan, int32_t action, const lr_piece *piece, const rec_tensor *tensor,
                     const char *to, uint64_t length, const char *operations, const char *why)
{
    bool same = piece && piece->length == length && memcmp(piece->key, to, (size_t)length) == 0;
    const char *kept = same ? piece->key : lr_arena_text(&plan->arena, to, length);
    if (!kept) {
        return lr_fail_memory(job, length);
    }
    if (lr_job_grow(job, &plan->lines, plan->line_count + 1, &plan->line_room, sizeof *plan->lines)) {
        plan->lines[plan->line_count++] = (lr_line){piece, tensor, kept, operations, why, action};
    }
    return job->error.status;
}

/* ------------------------------------------------------------------------------------------------- written out -- */

static void shape_before(rec_plan_line *line, const lr_key *key)
{
    const rec_tensor *tensor = key->value ? rec_value_tensor(key->value) : NULL;
    if (tensor) {
        line->dtype_before = rec_tensor_stored_dtype(tensor);
        line->rank_before = rec_tensor_rank(tensor);
        line->shape_before = rec_tensor_shape(tensor);
    }
}

static uint64_t count_inputs(const rec_plan *plan)
{
    uint64_t count = plan->lost_count;
    for (uint64_t i = 0; i < plan->line_count; i++) {
        count += plan->lines[i].piece ? plan->lines[i].piece->input_count : 0;
    }
    return count;
}

/* @param next (in, out) where the names of its inputs go. */
static void write_out(const rec_plan *plan, const lr_line *from, const char ***next, rec_plan_line *line)
{
    const lr_piece *piece = from->piece;
    *line = (rec_plan_line){.size = sizeof *line,
                            .action = from->action,
                            .source = "",
                            .from = "",
                            .to = from->to,
                            .operations = from->operations,
                            .why = from->why};
    if (piece) {
        lr_key *const *inputs = lr_piece_inputs(piece);
        line->source = piece->kept ? "the base" : plan->sources[piece->source].name;
        line->inputs = *next;
        line->input_count = piece->input_count;
        for (uint32_t i = 0; i < piece->input_count; i++) {
            *(*next)++ = inputs[i]->text;
        }
        if (piece->input_count) {
            line->from = inputs[0]->text;
            shape_before(line, inputs[0]);
        }
    }
    if (from->tensor) {
        line->dtype_after = from->tensor->dtype;
        line->rank_after = from->tensor->rank;
        line->shape_after = from->tensor->shape;
    }
}

static void write_out_lost(const rec_plan *plan, const lr_lost *from, const char ***next, rec_plan_line *line)
{
    **next = from->key->text;
    *line = (rec_plan_line){.size = sizeof *line,
                            .action = from->action,
                            .source = plan->sources[from->key->source].name,
                            .from = from->key->text,
                            .to = "",
                            .operations = "",
                            .why = from->why,
                            .inputs = (*next)++,
                            .input_count = 1};
    shape_before(line, from->key);
}

const rec_plan_line *lr_plan_lines(rec_plan *plan)
{
    uint64_t count = plan->line_count + plan->lost_count, inputs, size, lines_size;
    rec_plan_line *lines;
    const char **next;
    if (plan->shown) {
        return plan->shown;
    }
    inputs = count_inputs(plan);
    /* The names of the inputs follow the lines. */
    if (!lr_mul(count + 1, sizeof *lines, &lines_size) || !lr_mul(inputs, sizeof *next, &size) ||
        !lr_add(size, lines_size, &size)) {
        size = UINT64_MAX;
    }
    lines = lr_alloc(&plan->context->allocator, size);
    if (!lines) {
        return NULL;
    }
    next = (const char **)(void *)(lines + count + 1);
    for (uint64_t i = 0; i < plan->line_count; i++) {
        write_out(plan, &plan->lines[i], &next, &lines[i]);
    }
    for (uint64_t i = 0; i < plan->lost_count; i++) {
        write_out_lost(plan, &plan->lost[i], &next, &lines[plan->line_count + i]);
    }
    plan->shown = lines;
    return lines;
}
