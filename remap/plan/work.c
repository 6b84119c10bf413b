/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the rules of a source ask for at a place of the destination: operations by its path, and what module it is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "remap/plan/plan.h"

/* -------------------------------------------------------------------------------------------------------- path -- */

bool lr_place_enter(rec_job *job, lr_place_path *path, const char *name, uint64_t length, size_t *before)
{
    bool plain = !memchr(name, '.', (size_t)length) && !memchr(name, '\\', (size_t)length);
    uint64_t size = 0;
    if (!lr_place_enter_path(job, path, name, plain ? length : 0, before) ||
        (!plain && !lr_job_grow(job, &path->text, path->used + 2 * length + 1, &path->room, 1))) {
        return false;
    }
    for (; !plain && size < length; path->text[path->used++] = name[size++]) {
        if (name[size] == '.' || name[size] == '\\') {
            path->text[path->used++] = '\\';
        }
    }
    path->text[path->used] = '\0';
    return true;
}

bool lr_place_enter_path(rec_job *job, lr_place_path *path, const char *name, uint64_t length, size_t *before)
{
    size_t need = path->used + (size_t)length + 2;
    *before = path->used;
    if (!lr_job_grow(job, &path->text, need, &path->room, 1)) {
        return false;
    }
    if (path->levels++) {
        path->text[path->used++] = '.';
    }
    memcpy(path->text + path->used, name, (size_t)length);
    path->used += (size_t)length;
    path->text[path->used] = '\0';
    return true;
}

void lr_place_leave(lr_place_path *path, size_t before)
{
    path->levels--;
    path->used = before;
    path->text[before] = '\0';
}

const char *lr_place_without_prefix(const lr_plan_source *source, const char *path, uint64_t *length)
{
    size_t head = source->prefix ? strlen(source->prefix) : 0;
    if (head && *length >= head && memcmp(path, source->prefix, head) == 0 && (*length == head || path[head] == '.')) {
        size_t skip = *length == head ? head : head + 1;
        *length -= skip;
        return path + skip;
    }
    return path;
}

/* ------------------------------------------------------------------------------------------------------- rules -- */

int lr_source_rule(rec_job *job, const lr_plan_source *source, lr_matcher *matcher, int32_t kind, const char *text,
                   size_t length, uint64_t *at)
{
    int found = 0;
    for (; *at < source->rules->count; ++*at) {
        const lr_rule *rule = &source->rules->rules[*at];
        found = rule->kind == kind ? lr_regex_match(job, rule->regex, matcher, text, length) : 0;
        if (found) {
            break;
        }
    }
    return found;
}

const char *lr_rules_words(char text[512], const uint64_t *numbers, uint64_t count)
{
    size_t used = 0, room = 512;
    text[0] = '\0';
    for (uint64_t i = 0; i < count && used < room; i++) {
        const char *before = i ? ", " : count > 1 ? "rules " : "rule ";
        used += (size_t)snprintf(text + used, room - used, "%s%" PRIu64, before, numbers[i]);
    }
    return text;
}

const char *lr_module_rule(rec_job *job, lr_plan_source *source, lr_matcher *matcher, const char *path, uint64_t length)
{
    uint64_t i = 0;
    if (lr_source_rule(job, source, matcher, LR_RULE_MODULE, path, (size_t)length, &i) != 1) {
        return NULL;
    }
    source->rules->rules[i].hits++;
    return source->rules->rules[i].replacement;
}

int32_t lr_source_amount(rec_job *job, const lr_plan_source *source, const lr_rule *rule, const lr_amount *amount,
                         int64_t *value)
{
    *value = 1;
    return amount ? lr_amount_value(job, source->rules, &source->numbers, amount, &rule->place, value) : REC_OK;
}

/* -------------------------------------------------------------------------------------------------- operations -- */

static lr_op *squeeze(rec_job *job, lr_plan_source *source, const lr_rule *rule, lr_op *op)
{
    uint64_t shape[LR_RANK_MOST];
    bool leave[LR_RANK_MOST] = {false};
    uint32_t rank = 0, from = lr_op_rank(op);
    for (uint64_t i = 0; i < rule->amount_count; i++) {
        int64_t axis;
        if (lr_source_amount(job, source, rule, &rule->amounts[i], &axis) != REC_OK) {
            return NULL;
        }
        axis += axis < 0 ? from : 0;
        if (axis < 0 || axis >= (int64_t)from || lr_op_shape(op)[axis] != 1) {
            return LR_AS_NULL(rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN,
                                       "axis %" PRId64 " is not there, or its length is not 1", axis));
        }
        leave[axis] = true;
    }
    for (uint32_t i = 0; i < from; i++) {
        if (rule->amount_count ? !leave[i] : lr_op_shape(op)[i] != 1) {
            shape[rank++] = lr_op_shape(op)[i];
        }
    }
    return lr_op_reshape(job, op, shape, rank);
}

/* Whether the heads of a rope rule have as many rows as the configuration says. */
static bool has_heads(rec_job *job, lr_plan_source *source, const lr_op *op, int64_t heads)
{
    double head;
    if (!lr_variables_ask(&source->numbers, LR_NUMBER_HEAD, &head) || heads <= 0 || !lr_op_rank(op) ||
        (double)heads * head == (double)lr_op_shape(op)[0]) {
        return true;
    }
    return LR_AS_FALSE(rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN,
                                "%" PRIu64 " rows are not those of %" PRId64
                                " heads with the %s of the configuration, %g",
                                lr_op_shape(op)[0], heads, LR_NUMBER_HEAD, head));
}

lr_op *lr_rule_rope(rec_job *job, const lr_plan_source *source, const lr_rule *rule, lr_op *op, bool back)
{
    int64_t heads = 0, dims = 0;
    if (lr_source_amount(job, source, rule, &rule->amounts[0], &heads) != REC_OK ||
        (rule->amount_count > 1 && lr_source_amount(job, source, rule, &rule->amounts[1], &dims) != REC_OK)) {
        return NULL;
    }
    return lr_op_rope(job, op, heads < 0 ? 0 : (uint64_t)heads, dims < 0 ? 0 : (uint64_t)dims, back);
}

/* The same forwards, with heads that have as many rows as the configuration says. */
static lr_op *rope(rec_job *job, lr_plan_source *source, const lr_rule *rule, lr_op *op)
{
    int64_t heads;
    return lr_source_amount(job, source, rule, &rule->amounts[0], &heads) == REC_OK && has_heads(job, source, op, heads)
               ? lr_rule_rope(job, source, rule, op, false)
               : NULL;
}

/* The rules that act at the destination, in this order. "transpose" is what adapters do, which an import remembers. */
static const struct {
    int32_t kind;
    const char *word;
} works[] = {{LR_RULE_SQUEEZE, "squeeze"}, {LR_RULE_RESHAPE, "reshape"}, {LR_RULE_TRANSPOSE, "permute"},
             {LR_RULE_PERMUTE, "permute"}, {LR_RULE_ROPE, "rope"},       {LR_RULE_ADD, "add"}};

bool lr_rule_works(int32_t kind)
{
    for (size_t w = 0; w < sizeof works / sizeof *works; w++) {
        if (works[w].kind == kind) {
            return true;
        }
    }
    return false;
}

static lr_op *act(rec_job *job, lr_plan_source *source, const lr_rule *rule, lr_op *op)
{
    switch (rule->kind) {
    case LR_RULE_SQUEEZE:
        return squeeze(job, source, rule, op);
    case LR_RULE_RESHAPE:
        return lr_rule_reshape(job, source, rule, op, false);
    case LR_RULE_TRANSPOSE:
        return lr_op_transpose(job, op);
    case LR_RULE_PERMUTE:
        return lr_op_permute(job, op, rule->order, rule->order_count);
    case LR_RULE_ROPE:
        return rope(job, source, rule, op);
    default:
        return lr_op_add(job, op, rule->number_value);
    }
}

int32_t lr_place_work(rec_job *job, rec_plan *plan, lr_matcher *matcher, lr_piece *piece, const char *path,
                      uint64_t length, bool transpose, lr_op **op, const char **operations)
{
    lr_plan_source *source = &plan->sources[piece->source];
    const char *key = lr_place_without_prefix(source, path, &length);
    int32_t turned = lr_piece_turned(plan, piece);
    lr_op *next;
    *operations = "";
    transpose = turned == REC_TRANSPOSED_YES || (transpose && turned != REC_TRANSPOSED_NO);
    *op = lr_piece_op(job, piece);
    if (!*op) {
        return job->error.status;
    }
    for (size_t w = 0; source->works && !piece->adapted && w < sizeof works / sizeof *works; w++) {
        for (uint64_t i = 0; i < source->rules->count; i++) {
            const lr_rule *rule = &source->rules->rules[i];
            int found =
                rule->kind == works[w].kind ? lr_regex_match(job, rule->regex, matcher, key, (size_t)length) : 0;
            if (found < 0) {
                goto failed;
            }
            if (found && lr_rule_fits(rule, lr_op_rank(*op), false)) {
                source->rules->rules[i].hits++;
                next = act(job, source, rule, *op);
                if (!next) {
                    char doing[200];
                    (void)snprintf(doing, sizeof doing, "rule %u (%.150s)", (unsigned)rule->number, rule->text);
                    (void)lr_plan_refused(job, plan, path, doing);
                    goto failed;
                }
                lr_op_release(*op);
                *op = next;
                *operations = lr_plan_and(job, plan, *operations, works[w].word);
                if (!*operations) {
                    goto failed;
                }
            }
        }
    }
    if (transpose) {
        if (lr_op_rank(*op) != 2) {
            char shape[160];
            (void)lr_plan_problem(job, plan, REC_PROBLEM_SHAPE, true, path, "Is it a Linear?",
                                  "%.300s: the weight of a Linear has two axes, found the shape %s", path,
                                  lr_shape_words(shape, sizeof shape, lr_op_shape(*op), lr_op_rank(*op)));
            goto failed;
        }
        next = lr_op_transpose(job, *op);
        if (!next) {
            (void)lr_plan_refused(job, plan, path, "transposing");
            goto failed;
        }
        lr_op_release(*op);
        *op = next;
        *operations = lr_plan_and(job, plan, *operations, "transpose");
    }
    return job->error.status;

failed:
    lr_op_release(*op);
    *op = NULL;
    return job->error.status;
}
