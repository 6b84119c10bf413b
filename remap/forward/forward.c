/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Applies rules forwards: maps each key of a source, before the destination's modules are known. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "remap/forward/rules_run_private.h"

static void fire(lr_rules_run *r, uint64_t rule)
{
    r->source->rules->rules[rule].hits++;
    if (r->fired_count < sizeof r->fired / sizeof *r->fired) {
        r->fired[r->fired_count++] = r->source->rules->rules[rule].number;
    }
}

/* What acted on the key. */
static const char *why(lr_rules_run *r)
{
    uint64_t one = r->fired_count == 1 ? r->fired[0] : 0;
    if (one && one == r->why_one) {
        return r->why;
    }
    r->why_one = one;
    return lr_rules_words(r->why, r->fired, r->fired_count);
}

static const rec_tensor *tensor_of(const lr_key *key)
{
    return rec_value_tensor(key->value);
}

/* ---------------------------------------------------------------------------------------------------- renaming -- */

/* Puts a text through all renames. @param text,length in and out; what comes out lives until the matcher is used. */
static int32_t rename_key(lr_rules_run *r, const char **text, size_t *length)
{
    const lr_rules *rules = r->source->rules;
    for (uint64_t i = 0; i < rules->count; i++) {
        const lr_rule *rule = &rules->rules[i];
        if (rule->kind == LR_RULE_RENAME) {
            int64_t n = lr_regex_replace(r->job, rule->regex, r->matcher, *text, *length, rule->template);
            if (n < 0) {
                return LR_HINT(r->job, "It was tried on the key %.200s.", *text);
            }
            if (n) {
                *text = lr_matcher_output(r->matcher, length);
                fire(r, i);
            }
        }
    }
    return REC_OK;
}

/* The rest of a key's way: renamed, prefixed, a piece. @param op retained by the piece. */
static int32_t emit(lr_rules_run *r, const char *text, size_t length, lr_op *op, const rec_value *value,
                    lr_key *const *inputs, uint64_t count, const char *operations)
{
    const char *prefix = r->source->prefix;
    char *joined = NULL;
    lr_piece *piece = NULL;
    int32_t status = rename_key(r, &text, &length);
    if (status == REC_OK && prefix && *prefix) {
        size_t head = strlen(prefix);
        joined = lr_alloc(r->job->allocator, head + 1 + length + 1);
        if (!joined) {
            return lr_fail_memory(r->job, head + length);
        }
        memcpy(joined, prefix, head);
        joined[head] = '.';
        memcpy(joined + head + 1, text, length);
        text = joined;
        length += head + 1;
    }
    if (status == REC_OK) {
        piece = lr_plan_piece(r->job, r->plan, r->number, text, length, op, value, inputs, count, operations, why(r));
        status = piece ? REC_OK : r->job->error.status;
    }
    lr_release(r->job->allocator, joined);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- dropping -- */

/* Whether a rule drops such a key, which is no tensor where the rule has no conditions. */
static bool drops(const lr_rule *rule, const rec_tensor *tensor)
{
    return tensor ? lr_rule_drops(rule, rec_tensor_stored_dtype(tensor), rec_tensor_rank(tensor))
                  : rule->kind == LR_RULE_DROP && rule->rank < 0 && !rule->dtype_count;
}

/* Whether all elements of a tensor are zero, whatever their type. @return 1, 0, -1: the job has failed. */
static int is_zero(rec_job *job, const lr_key *key)
{
    enum { PIECE = 1 << 16 };
    lr_op *op = lr_op_tensor(job, rec_value_tensor(key->value));
    uint8_t *bytes = op ? lr_alloc(job->allocator, PIECE) : NULL;
    uint64_t size = op ? lr_op_nbytes(op) : 0;
    int zero = 1;
    if (op && !bytes) {
        (void)lr_fail_memory(job, PIECE);
    }
    for (uint64_t at = 0, n; bytes && at < size && zero == 1; at += n) {
        n = size - at < PIECE ? size - at : PIECE;
        zero = lr_op_read(job, op, at, bytes, n) == REC_OK ? 1 : -1;
        for (uint64_t i = 0; i < n && zero == 1; i++) {
            zero = bytes[i] == 0;
        }
    }
    lr_release(job->allocator, bytes);
    lr_op_release(op);
    return lr_job_failed(job) ? -1 : zero;
}

/* A tensor that the model computes with is dropped by a profile: an error, unless the user drops it too or loads a
 * part. @return false: the job has failed. */
static bool allow_drop(lr_rules_run *r, const lr_key *key, const lr_rule *rule, const char *text, size_t length)
{
    const lr_rules *rules = r->source->rules;
    int zero = rule->needed == LR_NEEDED_UNLESS_ZERO && tensor_of(key) ? is_zero(r->job, key) : 0;
    for (uint64_t i = 0; i < rules->count && zero == 0; i++) {
        const lr_rule *other = &rules->rules[i];
        if (!other->needed && drops(other, tensor_of(key))) {
            zero = lr_regex_match(r->job, other->regex, r->matcher, text, length);
            r->source->rules->rules[i].hits += zero == 1;
        }
    }
    if (zero) {
        return zero > 0;
    }
    return lr_plan_problem(r->job, r->plan, REC_PROBLEM_UNEXPECTED, !r->source->partial, key->text,
                           "Drop it by a rule (drop = PATTERN) if the output may differ, or load a part (partial).",
                           "%.300s: the model computes with it, and Burn's module has no place for it (rule %u)",
                           key->text, (unsigned)rule->number) == REC_OK;
}

/* @param text of a key. @return 1 if the key is dropped (its line is made), 0 if not, -1: the job has failed. */
static int drop(lr_rules_run *r, lr_key *key, const char *text, size_t length)
{
    const lr_rules *rules = r->source->rules;
    for (uint64_t i = 0; i < rules->count; i++) {
        const lr_rule *rule = &rules->rules[i];
        if (drops(rule, tensor_of(key))) {
            int found = lr_regex_match(r->job, rule->regex, r->matcher, text, length);
            if (found < 0) {
                return -1;
            }
            if (found && rule->needed && !allow_drop(r, key, rule, text, length)) {
                return -1;
            }
            if (found) {
                fire(r, i);
                return lr_plan_lost(r->job, r->plan, REC_PLAN_DROPPED, key, why(r)) == REC_OK ? 1 : -1;
            }
        }
    }
    return 0;
}

/* --------------------------------------------------------------------------------------------------- splitting -- */

/* The indices of each part along the axis. @return false: there is a problem or a failure. */
static bool part_spans(lr_rules_run *r, const lr_key *key, const lr_rule *rule, uint64_t length, int64_t *amounts,
                       uint64_t *groups, uint64_t *unit)
{
    int64_t sum = 0, value;
    if (lr_source_amount(r->job, r->source, rule, rule->groups, &value) != REC_OK) {
        return false;
    }
    *groups = length ? (uint64_t)value : 1; /* of nothing, one group says all */
    for (uint64_t i = 0; i < rule->part_count; i++) {
        if (lr_source_amount(r->job, r->source, rule, rule->parts[i].amount, &amounts[i]) != REC_OK) {
            return false;
        }
        if (amounts[i] < 0 || __builtin_add_overflow(sum, amounts[i], &sum)) {
            sum = 0;
            break;
        }
    }
    if (value <= 0 || sum <= 0 || length % (uint64_t)value || length / (uint64_t)value % (uint64_t)sum) {
        return LR_AS_FALSE(
            lr_plan_problem(r->job, r->plan, REC_PROBLEM_SHAPE, true, key->text,
                            "Are the numbers those of this model? See its config.json, or give them with --set.",
                            "%.200s: rule %u cuts %" PRIu64 " into %" PRId64 " group%s of %" PRId64
                            " equal shares, which does not come out even",
                            key->text, (unsigned)rule->number, length, value, value == 1 ? "" : "s", sum));
    }
    *unit = length / (uint64_t)value / (uint64_t)sum;
    return true;
}

static int32_t split_part(lr_rules_run *r, lr_key *key, const char *text, const lr_rule *rule, lr_op *whole,
                          uint32_t axis, uint64_t offset, uint64_t size, uint64_t group, uint64_t groups,
                          const char *name)
{
    uint64_t bytes;
    lr_span *spans = lr_mul(groups, sizeof *spans, &bytes) ? lr_alloc(r->job->allocator, bytes) : NULL;
    lr_op *op = NULL;
    const char *target;
    size_t length;
    uint32_t fired = r->fired_count;
    int32_t status;
    if (!spans) {
        return lr_fail_memory(r->job, bytes);
    }
    for (uint64_t g = 0; g < groups; g++) {
        spans[g] = (lr_span){.begin = g * group + offset, .count = size};
    }
    op = lr_op_slice(r->job, whole, axis, spans, groups);
    lr_release(r->job->allocator, spans);
    if (!op) {
        return lr_rules_refused(r, key->text, rule);
    }
    lr_matcher_clear(r->matcher);
    status = lr_match_expand(r->job, r->matcher, text, rule->template, name);
    if (status == REC_OK) {
        char operation[96];
        (void)snprintf(operation, sizeof operation, "split %.80s", name);
        target = lr_matcher_output(r->matcher, &length);
        status = emit(r, target, length, op, NULL, &key, 1, operation);
    }
    r->fired_count = fired;
    lr_op_release(op);
    return status;
}

static int32_t split_key(lr_rules_run *r, lr_key *key, const char *text, size_t length, const lr_rule *rule,
                         uint64_t number)
{
    const rec_tensor *tensor = tensor_of(key);
    uint32_t rank = tensor ? rec_tensor_rank(tensor) : 0;
    uint32_t axis = rule->axis < 0 ? rank - 1 : (uint32_t)rule->axis;
    int64_t *amounts = NULL;
    uint64_t groups = 1, unit = 0, offset = 0, sum = 0;
    lr_op *whole = NULL;
    int32_t status = REC_OK;
    fire(r, number);
    if (!tensor || axis >= rank) {
        key->used = true;
        return lr_plan_problem(r->job, r->plan, REC_PROBLEM_SHAPE, true, key->text,
                               "Let the rule's pattern leave it out.", "%.200s: rule %u splits it, but it %s",
                               key->text, (unsigned)rule->number, tensor ? "has no such axis" : "is not a tensor");
    }
    amounts = lr_alloc(r->job->allocator, (rule->part_count + 1) * sizeof *amounts);
    whole = amounts ? lr_op_tensor(r->job, tensor) : NULL;
    if (whole && part_spans(r, key, rule, rec_tensor_shape(tensor)[axis], amounts, &groups, &unit)) {
        for (uint64_t i = 0; i < rule->part_count; i++) {
            sum += (uint64_t)amounts[i];
        }
        for (uint64_t i = 0; i < rule->part_count && status == REC_OK; i++) {
            uint64_t size = (uint64_t)amounts[i] * unit;
            /* The renames of the part before have used the matcher: the match is made again. */
            if (lr_regex_match(r->job, rule->regex, r->matcher, text, length) != 1) {
                break;
            }
            status = split_part(r, key, text, rule, whole, axis, offset, size, sum * unit, groups, rule->parts[i].name);
            offset += size;
        }
    } else if (!amounts) {
        (void)lr_fail_memory(r->job, rule->part_count);
    }
    key->used = true;
    lr_op_release(whole);
    lr_release(r->job->allocator, amounts);
    return lr_job_failed(r->job) ? r->job->error.status : status;
}

/* ------------------------------------------------------------------------------------------------- weight_norm -- */

bool lr_is_direction(const char *text, size_t length, size_t *base, const char **name, size_t *name_length,
                     bool *parametrized)
{
    static const char middle[] = "parametrizations.", end[] = ".original1";
    const size_t tail = sizeof end - 1;
    *parametrized = length > tail && memcmp(text + length - tail, end, tail) == 0;
    if (*parametrized) {
        size_t dot = (size_t)(lr_path_last(text, length - tail) - text);
        *name = text + dot;
        *name_length = length - tail - dot;
        if (dot < sizeof middle - 1 || memcmp(text + dot - (sizeof middle - 1), middle, sizeof middle - 1) != 0) {
            return false;
        }
        *base = dot - (sizeof middle - 1);
        if (*base == 0) {
            return true;
        }
        *base -= 1; /* its dot */
        return text[*base] == '.';
    }
    if (length > 2 && memcmp(text + length - 2, "_v", 2) == 0) {
        size_t dot = (size_t)(lr_path_last(text, length) - text);
        *name = text + dot;
        *name_length = length - 2 - dot;
        *base = dot > 0 ? dot - 1 : 0;
        return *name_length > 0;
    }
    return false;
}

/* The axis along which a direction has its length; of several that come to the same, the first. LR_AXIS_WHOLE: none. */
static int32_t norm_axis(const rec_tensor *length, const rec_tensor *direction)
{
    int32_t one = LR_AXIS_WHOLE;
    for (uint32_t i = 0; length->rank == direction->rank && i < length->rank; i++) {
        if (length->shape[i] != 1) {
            return (int32_t)i;
        }
        one = direction->shape[i] == 1 && one < 0 ? (int32_t)i : one;
    }
    return one;
}

bool lr_norm_rule(const char *base, const rec_tensor *length, const rec_tensor *direction, char *text, size_t room)
{
    int32_t axis = norm_axis(length, direction);
    char end[24] = "";
    int n;
    if (axis) {
        (void)(axis < 0 ? snprintf(end, sizeof end, " | whole") : snprintf(end, sizeof end, " | %d", (int)axis));
    }
    n = snprintf(text, room, "^%s$%s", base, end);
    return n > 0 && (size_t)n < room;
}

/* Makes a weight of a direction and its length. @param weight its key. */
static int32_t make_weight(lr_rules_run *r, lr_key *key, lr_key *length, uint64_t rule, const char *weight, size_t size)
{
    lr_key *inputs[2] = {length, key};
    lr_op *a, *b, *op;
    int32_t status;
    r->fired_count = 0;
    fire(r, rule);
    a = lr_op_tensor(r->job, tensor_of(length));
    b = a ? lr_op_tensor(r->job, tensor_of(key)) : NULL;
    op = b ? lr_op_weight_norm(r->job, a, b) : NULL;
    if (op) {
        status = emit(r, weight, size, op, NULL, inputs, 2, "weight_norm");
    } else {
        key->used = length->used = true;
        status = lr_rules_refused(r, key->text, &r->source->rules->rules[rule]);
    }
    lr_op_release(a);
    lr_op_release(b);
    lr_op_release(op);
    return status;
}

/* The weights that are fused come first; their two keys are used then. */
static int32_t fuse(lr_rules_run *r, lr_key *key)
{
    const char *name, *own = key->text;
    size_t base, name_length, own_length = (size_t)key->length;
    uint64_t rule = 0;
    bool new_style;
    char *text, *weight;
    lr_key *g;
    int found;
    if (!tensor_of(key) || !lr_is_direction(key->text, (size_t)key->length, &base, &name, &name_length, &new_style) ||
        !lr_key_below(r->source->rules->select, &own, &own_length) || base < (size_t)(own - key->text)) {
        return REC_OK;
    }
    base -= (size_t)(own - key->text);
    r->fired_count = 0;
    if (drop(r, key, own, own_length) != 0) {
        return r->job->error.status;
    }
    found = lr_source_rule(r->job, r->source, r->matcher, LR_RULE_WEIGHT_NORM, own, base, &rule);
    if (found <= 0) {
        return r->job->error.status;
    }
    text = lr_job_arena_text(r->job, &r->plan->arena, key->text, key->length);
    weight = text ? lr_job_arena_text(r->job, &r->plan->arena, own, own_length) : NULL;
    if (!weight) {
        return r->job->error.status;
    }
    base += base ? 1 : 0; /* its dot */
    memcpy(weight + base, name, name_length);
    text[key->length - 1] = new_style ? '0' : 'g';
    g = lr_plan_find_key(r->job, r->source, text, key->length);
    if (g && drop(r, g, g->text + (own - key->text), own_length) != 0) {
        g = NULL;
    }
    if (g && tensor_of(g)) {
        return make_weight(r, key, g, rule, weight, base + name_length);
    }
    key->used = key->used || !lr_job_failed(r->job);
    return lr_job_failed(r->job)
               ? r->job->error.status
               : lr_plan_problem(r->job, r->plan, REC_PROBLEM_MISSING, true, text, "Drop the direction, or the rule.",
                                 "%.300s: the length to its direction %.300s is missing", text, key->text);
}

/* ----------------------------------------------------------------------------------------------------- one key -- */

static int32_t run_key(lr_rules_run *r, lr_key *key)
{
    const lr_rules *rules = r->source->rules;
    const char *text = key->text;
    size_t length = (size_t)key->length;
    const rec_tensor *tensor = tensor_of(key);
    lr_op *op = NULL;
    uint64_t number = 0;
    int32_t status;
    int dropped, split;
    if (key->used) {
        return REC_OK; /* of a weight_norm */
    }
    r->fired_count = 0;
    if (!lr_key_below(rules->select, &text, &length)) {
        char reason[128];
        (void)snprintf(reason, sizeof reason, "not below %.100s", rules->select);
        return lr_plan_lost(r->job, r->plan, REC_PLAN_DROPPED, key, reason);
    }
    dropped = drop(r, key, text, length);
    if (dropped) {
        return dropped < 0 ? r->job->error.status : REC_OK;
    }
    split = lr_source_rule(r->job, r->source, r->matcher, LR_RULE_SPLIT, text, length, &number);
    if (split) {
        return split < 0 ? r->job->error.status : split_key(r, key, text, length, &rules->rules[number], number);
    }
    if (tensor && !lr_tensor_is_plain(tensor)) {
        op = lr_op_tensor(r->job, tensor);
        if (!op) {
            return r->job->error.status;
        }
    }
    status = emit(r, text, length, op, key->value, &key, 1, "");
    if (status == REC_OK && tensor) {
        r->plan->last_piece->named = true;
    }
    lr_op_release(op);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- ties -- */

static lr_piece *find_piece(const lr_rules_run *r, const char *text)
{
    size_t wanted = strlen(text), length;
    for (lr_piece *piece = lr_rules_pieces(r); piece; piece = piece->next) {
        const char *key = lr_rules_key_of(r, piece, &length);
        if (length == wanted && memcmp(key, text, length) == 0) {
            return piece;
        }
    }
    return NULL;
}

/* Both tensors are there. A configuration that ties them has the second in the place of the first. */
static int32_t check_tied(lr_rules_run *r, const lr_rule *rule, lr_piece *tied, lr_piece *from)
{
    double value = 0;
    lr_op *a, *b;
    int same;
    if (!lr_variables_ask(&r->source->numbers, LR_NUMBER_TIED, &value) || value == 0 || r->plan->trial ||
        !lr_piece_is_tensor(tied)) {
        return REC_OK;
    }
    a = lr_piece_op(r->job, tied);
    b = a ? lr_piece_op(r->job, from) : NULL;
    same = b ? lr_op_same(r->job, a, b) : -1;
    lr_op_release(a);
    lr_op_release(b);
    if (same) {
        return same > 0 ? REC_OK : r->job->error.status;
    }
    return lr_plan_problem(r->job, r->plan, REC_PROBLEM_AMBIGUOUS, true, rule->pattern,
                           "Choose: --set tie_word_embeddings=0 keeps both; without the first (drop) the second is "
                           "taken for both, as PyTorch does.",
                           "%.200s and %.200s differ, and the configuration says %s", rule->pattern, rule->replacement,
                           LR_NUMBER_TIED);
}

/* A configuration by which the head is no embedding, where the profile would make it of one. */
static bool is_parted(lr_rules_run *r, const lr_rule *rule)
{
    double value = 1;
    return rule->profile && lr_variables_ask(&r->source->numbers, LR_NUMBER_TIED, &value) && value == 0;
}

static int32_t make_tied(lr_rules_run *r, const lr_rule *rule, const lr_piece *from)
{
    const char *key = lr_plan_join(r->job, r->plan, r->source->prefix, rule->pattern);
    const lr_piece *piece = NULL;
    char text[64];
    lr_op *op;
    (void)snprintf(text, sizeof text, "rule %u", (unsigned)rule->number);
    op = key ? lr_piece_op(r->job, from) : NULL;
    if (op) {
        piece = lr_plan_piece(r->job, r->plan, r->number, key, strlen(key), op, NULL, lr_piece_inputs(from),
                              from->input_count, "tie", text);
        lr_op_release(op);
    }
    return piece ? REC_OK : r->job->error.status;
}

static int32_t tie(lr_rules_run *r, const lr_rule *rule, uint64_t number)
{
    lr_piece *from = find_piece(r, rule->replacement), *tied = find_piece(r, rule->pattern);
    r->source->rules->rules[number].hits += from != NULL; /* the rule speaks of this model */
    if (!from || !lr_piece_is_tensor(from)) {
        return REC_OK;
    }
    if (tied) {
        return check_tied(r, rule, tied, from);
    }
    if (is_parted(r, rule)) {
        return lr_plan_problem(r->job, r->plan, REC_PROBLEM_MISSING, r->source->strict, rule->pattern,
                               "If it is the embedding: --set tie_word_embeddings=1",
                               "%.200s is not there, and not made of %.200s: the configuration says %s is false",
                               rule->pattern, rule->replacement, LR_NUMBER_TIED);
    }
    return make_tied(r, rule, from);
}

int32_t lr_plan_forward(rec_job *job, rec_plan *plan, uint32_t source)
{
    lr_rules_run r = {
        .job = job, .plan = plan, .source = &plan->sources[source], .number = source, .before = plan->last_piece};
    const lr_rules *rules = r.source->rules;
    int32_t status = REC_OK;
    bool weights;
    r.matcher = lr_matcher_new(job);
    if (!r.matcher) {
        return job->error.status;
    }
    weights = lr_rules_have(rules, LR_RULE_WEIGHT_NORM);
    for (uint64_t i = 0; weights && i < r.source->key_count && status == REC_OK; i++) {
        status = fuse(&r, &r.source->keys[i]);
    }
    for (uint64_t i = 0; i < r.source->key_count && status == REC_OK; i++) {
        status = run_key(&r, &r.source->keys[i]);
    }
    for (uint64_t i = 0; i < rules->count && status == REC_OK; i++) {
        if (rules->rules[i].kind == LR_RULE_TIE) {
            status = tie(&r, &rules->rules[i], i);
        }
    }
    for (uint64_t i = 0; i < rules->count && status == REC_OK; i++) {
        if (rules->rules[i].kind == LR_RULE_STACK || rules->rules[i].kind == LR_RULE_JOIN) {
            status = lr_rules_gather(&r, &rules->rules[i], i);
        }
    }
    lr_matcher_free(r.matcher);
    return status;
}
