/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A plan's data: its texts, problems, pieces, lines and sources, made and freed. */
#include "core/config/config.h"
#include "remap/plan/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------- what is in it -- */

const char *lr_plan_keep(rec_job *job, rec_plan *plan, const char *text, uint64_t length)
{
    const char *kept = length ? lr_arena_text(&plan->arena, text, length) : "";
    if (!kept) {
        (void)lr_fail_memory(job, length);
    }
    return kept;
}

const char *lr_plan_and(rec_job *job, rec_plan *plan, const char *a, const char *b)
{
    return !*a ? b : !*b ? a : lr_plan_text(job, plan, "%s, %s", a, b);
}

const char *lr_plan_join(rec_job *job, rec_plan *plan, const char *a, const char *b)
{
    return a && *a ? lr_plan_text(job, plan, "%s.%s", a, b) : b;
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
    if (!lr_job_grow(job, &plan->problems, plan->problem_count + 1, &plan->problem_room, sizeof *plan->problems)) {
        return job->error.status;
    }
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    p = &plan->problems[plan->problem_count];
    *p = (rec_plan_problem){.size = sizeof *p, .kind = kind, .fatal = fatal};
    p->key = lr_plan_keep(job, plan, key, strlen(key));
    p->text = lr_plan_keep(job, plan, text, strlen(text));
    p->hint = lr_plan_keep(job, plan, hint, strlen(hint));
    if (!p->key || !p->text || !p->hint) {
        return job->error.status;
    }
    plan->problem_count++;
    return REC_OK;
}

int32_t lr_plan_sign(rec_job *job, rec_plan *plan, int32_t kind, const char *path, const char *format, ...)
{
    char text[600];
    lr_sign *sign = lr_arena_alloc(&plan->arena, sizeof *sign, 8);
    va_list args;
    if (!sign) {
        return lr_fail_memory(job, sizeof *sign);
    }
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    *sign = (lr_sign){.next = plan->signs,
                      .kind = kind,
                      .path = lr_plan_keep(job, plan, path, strlen(path)),
                      .text = lr_plan_keep(job, plan, text, strlen(text))};
    if (!sign->path || !sign->text) {
        return job->error.status;
    }
    plan->signs = sign;
    return REC_OK;
}

/* A problem of encoded tensors, of which a file has hundreds. */
struct lr_refusal {
    struct lr_refusal *next;
    const char *key, *reason; /* of the first */
    uint64_t problem, count;
};

/* Adds a tensor to the problem that others have for the same reason. */
static int32_t refuse_encoded(rec_job *job, rec_plan *plan, const char *key, const char *reason, const char *hint)
{
    struct lr_refusal *r = plan->refusals;
    uint64_t before = plan->problem_count;
    while (r && strcmp(r->reason, reason) != 0) {
        r = r->next;
    }
    if (r) {
        char text[1024];
        (void)snprintf(text, sizeof text, "%.300s and %" PRIu64 " more: %.600s", r->key, r->count++, reason);
        plan->problems[r->problem].text = lr_plan_keep(job, plan, text, strlen(text));
        return job->error.status;
    }
    r = lr_arena_alloc(&plan->arena, sizeof *r, 8);
    if (!r || lr_plan_problem(job, plan, REC_PROBLEM_SHAPE, true, key, hint, "%.300s: %.600s", key, reason) != REC_OK) {
        return r ? job->error.status : lr_fail_memory(job, sizeof *r);
    }
    *r = (struct lr_refusal){.next = plan->refusals, .count = 1, .problem = before};
    r->key = lr_plan_keep(job, plan, key, strlen(key));
    r->reason = lr_plan_keep(job, plan, reason, strlen(reason));
    plan->refusals = plan->problem_count > before && r->key && r->reason ? r : plan->refusals;
    return job->error.status;
}

int32_t lr_plan_refused(rec_job *job, rec_plan *plan, const char *key, const char *doing)
{
    bool encoded = job->error.status == REC_E_UNSUPPORTED;
    char text[600], hint[300];
    if (job->error.status != REC_E_MISMATCH && job->error.status != REC_E_ARGUMENT &&
        job->error.status != REC_E_UNSUPPORTED) {
        return job->error.status;
    }
    (void)snprintf(text, sizeof text, "%.500s", job->error.what);
    (void)snprintf(hint, sizeof hint, "%.290s", job->error.hint);
    lr_job_forgive(job);
    if (encoded) {
        return refuse_encoded(job, plan, key, text, hint);
    }
    return lr_plan_problem(job, plan, REC_PROBLEM_SHAPE, true, key, hint, "%.200s: %.300s: %.400s", key, doing, text);
}

int32_t lr_plan_lost(rec_job *job, rec_plan *plan, int32_t action, lr_key *key, const char *why)
{
    const lr_lost *before = plan->lost_count ? &plan->lost[plan->lost_count - 1] : NULL;
    const char *kept =
        before && strcmp(before->why, why) == 0 ? before->why : lr_plan_keep(job, plan, why, strlen(why));
    if (!kept || !lr_job_grow(job, &plan->lost, plan->lost_count + 1, &plan->lost_room, sizeof *plan->lost)) {
        return job->error.status;
    }
    plan->lost[plan->lost_count++] = (lr_lost){.key = key, .why = kept, .action = action};
    key->used = true;
    return REC_OK;
}

/* ------------------------------------------------------------------------------------------------------ pieces -- */

/* The text of a key if the destination key equals it or its end, so that no copy is needed where no rule acts. */
static const char *own_text(const char *text, uint64_t length, lr_key *const *inputs, uint64_t count)
{
    const char *end = count ? inputs[0]->text + inputs[0]->length : NULL;
    bool inside = count && (uintptr_t)text >= (uintptr_t)inputs[0]->text && (uintptr_t)text <= (uintptr_t)end;
    return inside && text + length == end ? text : NULL;
}

lr_piece *lr_plan_piece(rec_job *job, rec_plan *plan, uint32_t source, const char *key, uint64_t length, lr_op *op,
                        const rec_value *value, lr_key *const *inputs, uint64_t count, const char *operations,
                        const char *why)
{
    lr_piece *piece = lr_arena_alloc(&plan->arena, sizeof *piece, 8);
    lr_key **copy = piece && count > 1 ? lr_arena_alloc(&plan->arena, count * sizeof *copy, 8) : NULL;
    const char *text = own_text(key, length, inputs, count);
    text = text ? text : lr_arena_text(&plan->arena, key, length);
    if (!piece || (count > 1 && !copy) || !text) {
        return LR_AS_NULL(lr_fail_memory(job, sizeof *piece));
    }
    if (count > UINT32_MAX) {
        return LR_AS_NULL(rec_fail(job, REC_E_LIMIT, REC_UNKNOWN, "more than 4,294,967,295 tensors would make one"));
    }
    *piece = (lr_piece){.key = text,
                        .length = length,
                        .value = op ? NULL : value,
                        .op = op ? lr_op_retain(op) : NULL,
                        .input_count = (uint32_t)count,
                        .source = source & LR_SOURCES_MOST};
    for (uint64_t i = 0; i < count; i++) {
        inputs[i]->used = true;
        if (copy) {
            copy[i] = inputs[i];
        }
    }
    if (copy) {
        piece->of.many = copy;
    } else if (count) {
        piece->of.one = inputs[0];
    }
    /* Most pieces say the same as the one before. */
    piece->operations = plan->last_piece && strcmp(plan->last_piece->operations, operations) == 0
                            ? plan->last_piece->operations
                            : lr_plan_keep(job, plan, operations, strlen(operations));
    piece->why = plan->last_piece && strcmp(plan->last_piece->why, why) == 0
                     ? plan->last_piece->why
                     : lr_plan_keep(job, plan, why, strlen(why));
    if (plan->last_piece) {
        plan->last_piece->next = piece;
    } else {
        plan->pieces = piece;
    }
    plan->last_piece = piece;
    plan->piece_count++;
    return piece->operations && piece->why ? piece : NULL;
}

bool lr_tensor_is_plain(const rec_tensor *tensor)
{
    const lr_encoding *encoding = lr_encoding_of(tensor);
    uint64_t size;
    return tensor->packed == tensor->stored && tensor->data->source && !encoding->words && !encoding->numbers &&
           lr_tensor_size(tensor->stored, tensor->count, &size) && size == tensor->data->size;
}

int32_t lr_piece_turned(const rec_plan *plan, const lr_piece *piece)
{
    const rec_tensor *tensor = piece->input_count == 1 && !piece->adapted && plan->sources[piece->source].hints
                                   ? rec_value_tensor(piece->of.one->value)
                                   : NULL;
    return tensor && lr_piece_is_tensor(piece) && lr_piece_rank(piece) == 2 ? tensor->turned : REC_TRANSPOSED_UNKNOWN;
}

bool lr_piece_is_tensor(const lr_piece *piece)
{
    return piece->op || piece->value->kind == REC_KIND_TENSOR;
}

const rec_value *lr_piece_value(const lr_piece *piece)
{
    return lr_piece_is_tensor(piece) ? NULL : piece->value;
}

uint32_t lr_piece_rank(const lr_piece *piece)
{
    return piece->op ? lr_op_rank(piece->op) : piece->value->v.tensor->rank;
}

const uint64_t *lr_piece_shape(const lr_piece *piece)
{
    return piece->op ? lr_op_shape(piece->op) : piece->value->v.tensor->shape;
}

rec_dtype lr_piece_dtype(const lr_piece *piece)
{
    return piece->op ? lr_op_dtype(piece->op) : (rec_dtype)piece->value->v.tensor->stored;
}

lr_op *lr_piece_op(rec_job *job, const lr_piece *piece)
{
    return piece->op ? lr_op_retain(piece->op) : lr_op_tensor(job, piece->value->v.tensor);
}

const char *lr_piece_id(const lr_piece *piece)
{
    const rec_tensor *tensor = piece->named ? rec_value_tensor(lr_piece_inputs(piece)[0]->value) : NULL;
    return tensor ? tensor->id : NULL;
}

/* ------------------------------------------------------------------------------------------------------- lines -- */

/* Few plans are read line by line: the first access expands the lines. */

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

/* --------------------------------------------------------------------------------------------- making, freeing -- */

lr_plan_source *lr_plan_source_new(rec_job *job, rec_plan *plan)
{
    lr_plan_source *source;
    if (plan->source_count == LR_SOURCES_MOST) {
        return LR_AS_NULL(rec_fail(job, REC_E_LIMIT, REC_UNKNOWN, "the plan has more than 67,108,863 sources"));
    }
    if (!lr_job_grow(job, &plan->sources, plan->source_count + 1, &plan->source_room, sizeof *plan->sources)) {
        return NULL;
    }
    source = &plan->sources[plan->source_count++];
    *source = (lr_plan_source){.name = ""};
    lr_variables_init(&source->numbers, job->allocator);
    return source;
}

void lr_plan_source_drop(rec_plan *plan)
{
    const lr_allocator *allocator = &plan->context->allocator;
    lr_plan_source *source = &plan->sources[--plan->source_count];
    if (!source->lent) {
        lr_rules_free(source->rules);
        lr_variables_free(&source->numbers);
        lr_memory_free(allocator, source->memory);
    }
    lr_release(allocator, source->keys);
    lr_release(allocator, source->sorted);
    rec_record_free(source->owned);
}

rec_plan *lr_plan_new(rec_job *job, lr_type_ref type, int32_t minor, rec_precision written, bool foreign)
{
    rec_plan *plan = lr_job_zalloc(job, sizeof *plan);
    if (!plan) {
        return NULL;
    }
    plan->context = lr_context_retain(job->context);
    plan->type = type;
    plan->minor = minor > 0 ? minor : 0;
    plan->foreign = foreign;
    plan->precision = REC_PRECISION_KEEP;
    plan->written = written;
    lr_arena_init(&plan->arena, job->allocator);
    lr_arena_init(&plan->tree, job->allocator);
    return plan;
}

int32_t lr_plan_hold(rec_job *job, rec_plan *plan, void (*release)(void *what), void *what)
{
    if (!lr_job_grow(job, (void *)&plan->held, plan->held_count + 1, &plan->held_room, sizeof *plan->held)) {
        return job->error.status;
    }
    plan->held[plan->held_count++] = (struct lr_plan_held){.release = release, .what = what};
    return REC_OK;
}

void rec_plan_free(rec_plan *plan)
{
    if (plan) {
        rec_context *context = plan->context;
        const lr_allocator *allocator = &context->allocator;
        for (lr_piece *piece = plan->pieces; piece; piece = piece->next) {
            lr_op_release(piece->op);
        }
        rec_record_free(plan->result);
        while (plan->source_count) {
            lr_plan_source_drop(plan);
        }
        lr_release(allocator, plan->sources);
        lr_release(allocator, plan->modules.at);
        lr_release(allocator, plan->lines);
        lr_release(allocator, plan->lost);
        lr_release(allocator, plan->shown);
        lr_release(allocator, plan->problems);
        lr_arena_free(&plan->arena);
        lr_arena_free(&plan->tree);
        while (plan->held_count) {
            struct lr_plan_held *last = &plan->held[--plan->held_count];
            last->release(last->what);
        }
        lr_release(allocator, plan->held);
        lr_release(allocator, plan);
        lr_context_release(context);
    }
}
