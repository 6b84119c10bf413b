/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Pieces with new keys: moved, split, computed. */
#include <inttypes.h>

#include "remap/torch/torch_private.h"

static bool acts_on(const lr_torch_run *r, const lr_piece *piece)
{
    return piece && !piece->kept && !piece->adapted && !piece->dead &&
           r->plan->sources[piece->source].adapter == LR_ADAPTER_PYTORCH;
}

bool lr_torch_adapts(const lr_torch_run *r, const lr_node *node)
{
    return acts_on(r, lr_node_piece(node));
}

lr_piece *lr_torch_leaf(const lr_torch_run *r, const lr_node *node, const char *name)
{
    const lr_node *child = lr_node_child(node, name, strlen(name));
    lr_piece *piece = child && !child->first ? child->piece : NULL;
    return acts_on(r, piece) && lr_piece_is_tensor(piece) ? piece : NULL;
}

const char *lr_torch_path(lr_torch_run *r, const lr_node *node)
{
    const lr_piece *piece = node->first ? lr_node_piece(node->first) : NULL;
    uint64_t end = piece && node->first->offset ? node->first->offset - 1 : 0;
    if (!piece || (end && (piece->length <= end || piece->key[end] != '.'))) {
        return NULL;
    }
    return lr_plan_keep(r->job, r->plan, piece->key, node->parent ? end : 0);
}

/* Remembers a piece with a new key. */
static int32_t note(lr_torch_run *r, lr_piece *piece, const char *why)
{
    const char *both = lr_plan_and(r->job, r->plan, piece->why, why);
    if (!both || !lr_job_grow(r->job, &r->made, r->made_count + 1, &r->made_room, sizeof *r->made)) {
        return r->job->error.status;
    }
    piece->why = both;
    r->made[r->made_count++] = piece;
    r->changed = true;
    return REC_OK;
}

static bool ends_in_weight(const lr_piece *piece)
{
    return strcmp(lr_path_last(piece->key, (size_t)piece->length), "weight") == 0;
}

static int32_t move_piece(lr_torch_run *r, const lr_node *child, lr_piece *piece, const char *to, const char *name,
                          const char *why, bool linear)
{
    uint64_t head = child->offset + (name ? child->length : 0);
    const char *key;
    if (!acts_on(r, piece) || piece->length < head) {
        return REC_OK;
    }
    piece->linear = piece->linear || (linear && ends_in_weight(piece));
    key = lr_plan_text(r->job, r->plan, "%s%s%s%s", to, *to ? "." : "", name ? name : "", piece->key + head);
    if (!key || strcmp(key, piece->key) == 0) {
        return r->job->error.status;
    }
    piece->key = key;
    piece->length = strlen(key);
    return note(r, piece, why);
}

static int32_t move_all(lr_torch_run *r, const lr_node *child, const lr_node *node, const char *to, const char *name,
                        const char *why, bool linear)
{
    int32_t status = node->piece ? move_piece(r, child, node->piece, to, name, why, linear) : REC_OK;
    for (const lr_node *below = node->first; below && status == REC_OK; below = below->next) {
        status = move_all(r, child, below, to, name, why, linear);
    }
    return status;
}

int32_t lr_torch_move(lr_torch_run *r, const lr_node *child, const char *to, const char *name, const char *why,
                      bool linear)
{
    return move_all(r, child, child, to, name, why, linear);
}

/* Moves the last piece of the list to the place after another. */
static void put_after(rec_plan *plan, lr_piece *at, lr_piece *before_last)
{
    lr_piece *last = plan->last_piece;
    if (at != before_last) {
        before_last->next = NULL;
        plan->last_piece = before_last;
        last->next = at->next;
        at->next = last;
    }
}

/* Makes a piece with a new key next to another. Takes the count of `op`. @param like whose rules made it. */
static lr_piece *make_after(lr_torch_run *r, lr_piece *after, const lr_piece *like, const char *key, lr_op *op,
                            lr_key *const *inputs, uint64_t count, const char *operation, const char *why)
{
    lr_piece *before = r->plan->last_piece, *piece = NULL;
    const char *operations = op && operation ? lr_plan_and(r->job, r->plan, like->operations, operation) : NULL;
    if (operations) {
        piece = lr_plan_piece(r->job, r->plan, like->source, key, strlen(key), op, NULL, inputs, count, operations,
                              like->why);
    }
    lr_op_release(op);
    if (!piece || note(r, piece, why) != REC_OK) {
        return NULL;
    }
    put_after(r->plan, after, before);
    return piece;
}

lr_piece *lr_torch_make(lr_torch_run *r, const char *key, lr_op *op, lr_piece *const *from, uint64_t count,
                        const char *operation, const char *why)
{
    lr_key *inputs[LR_TORCH_INPUTS_MOST];
    uint64_t used = 0;
    for (uint64_t i = 0; i < count; i++) {
        from[i]->dead = true;
        for (uint64_t k = 0; k < from[i]->input_count && used < LR_TORCH_INPUTS_MOST; k++) {
            inputs[used++] = lr_piece_inputs(from[i])[k];
        }
    }
    return make_after(r, from[count - 1], from[0], key, op, inputs, used, operation, why);
}

/* ----------------------------------------------------------------------------------------------------- splitting -- */

/* The place of a part: "a" and "%.b" with the part's name. */
static const char *part_path(lr_torch_run *r, const char *to, const char *pattern, const char *part)
{
    const char *sign = strchr(pattern, '%');
    int head = sign ? (int)(sign - pattern) : (int)strlen(pattern);
    return lr_plan_text(r->job, r->plan, "%s%s%.*s%s%s", to, *to ? "." : "", head, pattern, sign ? part : "",
                        sign ? sign + 1 : "");
}

int32_t lr_torch_split(lr_torch_run *r, lr_piece *piece, const lr_torch_kind *kind, const lr_torch_field *field,
                       const char *to)
{
    uint64_t count = lr_torch_part_count(kind), rows = lr_piece_rank(piece) ? lr_piece_shape(piece)[0] : 0;
    lr_piece *after = piece;
    lr_op *op;
    char shape[160];
    if (!count || !rows || rows % count) {
        return lr_plan_problem(r->job, r->plan, REC_PROBLEM_SHAPE, true, piece->key, "Is the type right?",
                               "%.300s: %s has %" PRIu64 " parts of equal rows here, found the shape %s", piece->key,
                               kind->name, count,
                               lr_shape_words(shape, sizeof shape, lr_piece_shape(piece), lr_piece_rank(piece)));
    }
    if (count == 1) { /* the whole is the part */
        piece->linear = field->linear;
        piece->key = part_path(r, to, field->burn, kind->parts[0]);
        piece->length = piece->key ? strlen(piece->key) : 0;
        return piece->key ? note(r, piece, kind->name) : r->job->error.status;
    }
    op = lr_piece_op(r->job, piece);
    if (!op) {
        return lr_plan_refused(r->job, r->plan, piece->key, "splitting");
    }
    for (uint64_t i = 0; i < count && after; i++) { /* the parts follow the whole in the list in their order */
        lr_span part = {.begin = i * (rows / count), .count = rows / count};
        const char *key = part_path(r, to, field->burn, kind->parts[i]);
        after =
            key ? make_after(r, after, piece, key, lr_op_slice(r->job, op, 0, &part, 1), lr_piece_inputs(piece),
                             piece->input_count, lr_plan_text(r->job, r->plan, "split %s", kind->parts[i]), kind->name)
                : NULL;
        if (after) {
            after->linear = field->linear;
        }
    }
    lr_op_release(op);
    piece->dead = true;
    return after ? REC_OK : lr_plan_refused(r->job, r->plan, piece->key, "splitting");
}

/* ------------------------------------------------------------------------------------------------------ renaming -- */

/* Whether a rename acts on the file's own name of a piece. @return 1, 0, -1: the job has failed. */
static int acted(lr_torch_run *r, const lr_piece *piece, uint64_t rule, lr_matcher *matcher)
{
    const lr_plan_source *source = &r->plan->sources[piece->source];
    const lr_key *key = lr_piece_inputs(piece)[0];
    const char *own = key->text;
    size_t length = key->length;
    (void)lr_key_below(source->rules->select, &own, &length);
    return lr_regex_match(r->job, source->rules->rules[rule].regex, matcher, own, length);
}

static int32_t rename_by(lr_torch_run *r, lr_piece *piece, uint64_t number, lr_matcher *matcher)
{
    lr_plan_source *source = &r->plan->sources[piece->source];
    const lr_rule *rule = &source->rules->rules[number];
    uint64_t length = piece->length;
    const char *path = lr_place_without_prefix(source, piece->key, &length), *output;
    size_t size, head = (size_t)(path - piece->key);
    int before = acted(r, piece, number, matcher);
    int64_t n = before == 0 ? lr_regex_replace(r->job, rule->regex, matcher, path, (size_t)length, rule->template) : 0;
    if (before < 0 || n < 0) {
        return r->job->error.status;
    }
    if (n == 0) {
        return REC_OK;
    }
    output = lr_matcher_output(matcher, &size);
    piece->key = lr_plan_text(r->job, r->plan, "%.*s%s", (int)head, piece->key, output);
    if (!piece->key) {
        return r->job->error.status;
    }
    piece->length = strlen(piece->key);
    source->rules->rules[number].hits++;
    return REC_OK;
}

int32_t lr_torch_rename(lr_torch_run *r)
{
    lr_matcher *matcher = lr_matcher_new(r->job);
    int32_t status = matcher ? REC_OK : r->job->error.status;
    for (uint64_t i = 0; i < r->made_count && status == REC_OK; i++) {
        lr_piece *piece = r->made[i];
        const lr_rules *rules = r->plan->sources[piece->source].rules;
        for (uint64_t k = 0; !piece->dead && k < rules->count && status == REC_OK; k++) {
            if (rules->rules[k].kind == LR_RULE_RENAME && !rules->rules[k].profile) {
                status = rename_by(r, piece, k, matcher);
            }
        }
    }
    lr_matcher_free(matcher);
    return status;
}
