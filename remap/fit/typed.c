/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A plan's tree fitted to the destination's type, by the rules of Burn's import; where Burn panics or draws lots, there
 * is a problem of the plan instead, or the sound result. */
#include <inttypes.h>
#include <stdio.h>

#include "remap/fit/fit_private.h"

static int32_t build(lr_fit *t, const rec_layout *layout, lr_node *node, bool transpose, const char *why,
                     rec_value *out, int *how);

/* ----------------------------------------------------------------------------------------------------- tensors -- */

static int32_t build_tensor(lr_fit *t, const rec_layout *layout, lr_node *node, bool transpose, const char *why,
                            rec_value *out, int *how)
{
    int32_t status;
    char what[96];
    if (!lr_fit_has_content(node)) {
        (void)snprintf(what, sizeof what, "a tensor of %s of rank %" PRIu64, lr_elements_words(layout->elements),
                       layout->rank);
        return lr_fit_miss(t, layout, what, how);
    }
    if (!node->piece || !lr_piece_is_tensor(node->piece)) {
        char rules[900], hint[1000] = "Does a rule put too much below this key, or is the type another one?";
        if (lr_suggest_stack(node, lr_fit_here(t->f), layout->rank, rules, sizeof rules)) {
            (void)snprintf(hint, sizeof hint, "One tensor of all: %s", rules);
        }
        *how = LR_FIT_OMITTED;
        return LR_FIT_PROBLEM(t->f, REC_PROBLEM_KIND, true, hint, "%.300s: expected a tensor, found %s",
                              lr_fit_here(t->f),
                              node->piece ? lr_kind_words(node->piece->value->kind) : "keys below it");
    }
    status = lr_fit_put(t->f, node->piece, transpose, layout->elements, layout->role == LR_ROLE_PARAMETER, why, out);
    if (status == REC_OK && out->kind == REC_KIND_TENSOR && out->v.tensor->rank != layout->rank) {
        char shape[160];
        status = LR_FIT_PROBLEM(t->f, REC_PROBLEM_SHAPE, true, "Is the type another one than the file's model?",
                                "%.300s: a tensor of rank %" PRIu64 " is expected, found %s", lr_fit_here(t->f),
                                layout->rank,
                                lr_shape_words(shape, sizeof shape, out->v.tensor->shape, out->v.tensor->rank));
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------------- structs -- */

static int32_t build_below(lr_fit *t, const rec_layout *layout, lr_node *node, const char *name, uint64_t length,
                           bool transpose, const char *why, rec_value *out, int *how)
{
    size_t before;
    int32_t status;
    if (!lr_place_enter(t->f->job, &t->f->path, name, length, &before)) {
        return t->f->job->error.status;
    }
    status = build(t, layout, node, transpose, why, out, how);
    lr_place_leave(&t->f->path, before);
    return status;
}

/* What the adapter says about a module's other keys. */
static int32_t left_behind(lr_fit *t, const char *type, const lr_node *node)
{
    const char *burn;
    int32_t status = REC_OK;
    for (lr_node *c = node->first; type && c && status == REC_OK; c = c->next) {
        lr_piece *piece = c->piece;
        if (!piece || piece->taken || c->first || !lr_fit_adapts(t->f, piece)) {
            continue;
        }
        int change = lr_adapt_field(type, c->name, c->length, &burn);
        if (change == LR_ADAPT_DROP || change == LR_ADAPT_LACKS) {
            status = lr_fit_drop(t->f, piece, type, change == LR_ADAPT_LACKS);
        }
    }
    return status;
}

/* Makes a problem of a Linear that may be a Conv1D. */
static int32_t doubt_linear(lr_fit *t)
{
    char hint[600] = "", rule[500];
    const char *path = lr_fit_here(t->f);
    if (lr_suggest_module(path, "Conv1D", rule, sizeof rule)) {
        (void)snprintf(hint, sizeof hint, "If it is a Conv1D like the others: %s. If not, the same with Linear.", rule);
    }
    return lr_plan_problem(t->f->job, t->f->plan, REC_PROBLEM_AMBIGUOUS, true, path, hint,
                           "%.300s: a square weight may be a Linear (transposed) or a Conv1D like others in this file "
                           "(not transposed)",
                           *path ? path : "the model");
}

/* A head that is missing may be the largest table. */
static void note_table(lr_fit *t, const char *type, const lr_node *node)
{
    const lr_node *weight = type && strcmp(type, "Embedding") == 0 ? lr_node_child(node, "weight", 6) : NULL;
    const lr_piece *piece = weight ? weight->piece : NULL;
    if (piece && lr_piece_is_tensor(piece) && lr_piece_rank(piece) == 2 &&
        (!t->table || lr_piece_shape(piece)[0] > lr_piece_shape(t->table)[0])) {
        t->table = piece;
    }
}

static int32_t build_struct(lr_fit *t, const rec_layout *layout, lr_node *node, rec_value *out, int *how)
{
    lr_map *map = lr_map_new(&t->f->record->arena, layout->count);
    bool transpose, transposed = false, ruled;
    const char *type, *why;
    int32_t status = REC_OK;
    char what[160];
    if (!node && !lr_fit_holds_nothing(layout)) {
        (void)snprintf(what, sizeof what, "a module%s%.100s", layout->module ? " of type " : "",
                       layout->module ? layout->module : "");
        if (!lr_fit_may_be_bare(layout) || lr_fit_is_partial(t->f->plan)) {
            return lr_fit_miss(t, layout, what, how);
        }
        status = lr_fit_remember(t, layout, what, true);
        if (status != REC_OK) {
            return status;
        }
    }
    type = lr_fit_module(t, layout, node, &ruled);
    status = !ruled && lr_fit_doubts_linear(t, type, node) ? doubt_linear(t) : REC_OK;
    why = type && lr_adapt_known(type) ? type : "";
    note_table(t, type, node);
    t->states += layout->state;
    for (uint64_t i = 0; map && i < layout->count && status == REC_OK && !lr_job_failed(t->f->job); i++) {
        const char *name = layout->names[i];
        const lr_field_note *note = layout->notes ? &layout->notes[i] : NULL;
        lr_node *child = lr_fit_field(t, type, node, name, &transpose);
        transposed = transposed || transpose;
        rec_value value = lr_nil(REC_FORM_UNKNOWN);
        int filled = LR_FIT_FILLED;
        size_t before;
        if (note && note->initial && !lr_fit_has_content(child)) {
            /* The writer gives it its value, as for a record of an older version. */
            if (!lr_place_enter(t->f->job, &t->f->path, name, strlen(name), &before)) {
                return t->f->job->error.status;
            }
            status = lr_place_line(t->f, REC_PLAN_DEFAULT, note->initial);
            lr_place_leave(&t->f->path, before);
            continue;
        }
        status = build_below(t, layout->children[i], child, name, strlen(name), transpose, why, &value, &filled);
        if (status == REC_OK && filled != LR_FIT_OMITTED) {
            status = lr_fit_append(t->f, map, name, strlen(name), &value);
            if (status == REC_OK && filled == LR_FIT_ASSUMED) {
                map->entries[map->count - 1].key.form = LR_KEY_ASSUMED;
            }
        }
    }
    t->states -= layout->state;
    if (!map) {
        return lr_fail_memory(t->f->job, sizeof *map);
    }
    if (node && status == REC_OK && !lr_job_failed(t->f->job)) {
        status = left_behind(t, type, node);
        status = status == REC_OK ? lr_fit_note_foreign(t, layout, type, node) : status;
    }
    *out = (rec_value){.kind = REC_KIND_MAP, .form = REC_FORM_STRUCT, .v.map = map};
    if (status == REC_OK && node && type && !lr_job_failed(t->f->job)) {
        status = lr_fit_sign_names(t->f, node, type, true);
    }
    if (status == REC_OK && !lr_job_failed(t->f->job)) {
        status = lr_fit_module_typed(t->f, node, type, layout->module, out, transposed);
    }
    return lr_job_failed(t->f->job) ? t->f->job->error.status : status;
}

/* ------------------------------------------------------------------------------------------------------- lists -- */

static int32_t not_a_list(lr_fit *t, const lr_node *node, int *how)
{
    const lr_node *name = node->first;
    while (name && name->index != REC_UNKNOWN) {
        name = name->next;
    }
    *how = LR_FIT_OMITTED;
    if (!name) {
        return LR_FIT_PROBLEM(t->f, REC_PROBLEM_KIND, true, "Is the type right?", "%.300s: expected a list, found %s",
                              lr_fit_here(t->f),
                              !node->piece                      ? "nothing"
                              : lr_piece_is_tensor(node->piece) ? "a tensor"
                                                                : lr_kind_words(lr_piece_value(node->piece)->kind));
    }
    return LR_FIT_PROBLEM(t->f, REC_PROBLEM_KIND, true, "Let rules give every element a number, or drop the others.",
                          "%.300s: expected a list, but %.*s is not an index", lr_fit_here(t->f),
                          (int)(name->length < 100 ? name->length : 100), name->name);
}

/* Burn closes gaps in lists; this reports it if the user wanted to keep them. */
static int32_t check_holes(lr_fit *t, lr_node *const *list, uint64_t count)
{
    const lr_piece *piece = count ? lr_node_piece(list[0]) : NULL;
    const lr_plan_source *s = piece ? &t->f->plan->sources[piece->source] : NULL;
    for (uint64_t i = 0; s && s->gaps_given && !s->close_gaps && i < count; i++) {
        if (list[i]->index != i) {
            return LR_FIT_PROBLEM(t->f, REC_PROBLEM_KIND, true, "Close them (gaps = close).",
                                  "%.300s: a list has no holes, but index %" PRIu64 " is missing", lr_fit_here(t->f),
                                  i);
        }
    }
    return REC_OK;
}

static int32_t build_list(lr_fit *t, const rec_layout *layout, lr_node *node, rec_value *out, int *how)
{
    lr_arena *arena = &t->f->record->arena;
    bool listed = layout->kind == REC_LAYOUT_LIST;
    uint64_t count = node ? node->child_count : 0;
    lr_list *items;
    lr_node **list = NULL, **slots = NULL;
    int32_t status = REC_OK;
    bool ok = true;
    if (node && lr_fit_holds_nothing(layout)) {
        node = NULL; /* an array of constants: what has its name is not for it */
    }
    if (node && node->piece && lr_piece_value(node->piece) && !node->first &&
        (lr_piece_value(node->piece)->kind == REC_KIND_NIL || lr_piece_value(node->piece)->kind > REC_KIND_STRING)) {
        return lr_fit_put(t->f, node->piece, false, 0, false, "",
                          out); /* a record's own list of numbers, or an empty one */
    }
    if (node && (node->index_count != node->child_count || !node->first)) {
        return not_a_list(t, node, how);
    }
    if (!listed) {
        count = layout->count;
    } else if (layout->fixed && count != layout->fixed) {
        count = layout->fixed;
        listed = false;
    }
    items = lr_list_new(arena, count);
    if (!items) {
        return lr_fail_memory(t->f->job, count);
    }
    if (node) {
        list = lr_fit_in_order(t->f, node, "Let a rule give one of them another number.", &ok);
        status = !list || lr_job_failed(t->f->job) ? t->f->job->error.status
                 : listed                          ? check_holes(t, list, count)
                                                   : REC_OK;
        if (status == REC_OK && ok && !listed && !lr_fit_elements(t, layout, list, node->child_count, &slots)) {
            ok = false;
            status = lr_job_failed(t->f->job)
                         ? t->f->job->error.status
                         : LR_FIT_PROBLEM(t->f, REC_PROBLEM_KIND, true, "Is the type right?",
                                          "%.300s: %" PRIu64 " elements are expected, found %" PRIu64
                                          ", the last of index %" PRIu64,
                                          lr_fit_here(t->f), count, (uint64_t)node->child_count,
                                          list[node->child_count - 1]->index);
        }
    }
    if (status == REC_OK && ok && list && listed && node->in_base) {
        uint64_t known = 0;
        for (uint64_t i = 0; i < count; i++) {
            known += list[i]->in_base;
        }
        status = known ? lr_fit_list_against_base(t->f, count, known) : REC_OK;
    }
    for (uint64_t i = 0; ok && i < count && status == REC_OK; i++) {
        char text[24];
        int n = snprintf(text, sizeof text, "%" PRIu64, i);
        lr_node *child = NULL;
        rec_value *item = lr_list_append(arena, items);
        int filled = LR_FIT_FILLED;
        if (!item) {
            status = lr_fail_memory(t->f->job, sizeof *item);
            break;
        }
        if (list) {
            child = slots ? slots[i] : list[i];
        }
        t->f->moved += child && child->index != i;
        status = build_below(t, rec_layout_child(layout, layout->kind == REC_LAYOUT_TUPLE ? i : 0), child, text,
                             (uint64_t)n, false, "", item, &filled);
        t->f->moved -= child && child->index != i;
    }
    lr_release(t->f->job->allocator, slots);
    lr_release(t->f->job->allocator, list);
    *out = (rec_value){.kind = REC_KIND_LIST,
                       .form = layout->kind == REC_LAYOUT_LIST    ? REC_FORM_LIST
                               : layout->kind == REC_LAYOUT_ARRAY ? REC_FORM_ARRAY
                                                                  : REC_FORM_TUPLE,
                       .v.list = items};
    return status;
}

/* ------------------------------------------------------------------------------------------------------- enums -- */

static int32_t build_variant(lr_fit *t, const rec_layout *layout, uint64_t index, lr_node *node, bool level,
                             rec_value *out, int *how)
{
    lr_arena *arena = &t->f->record->arena;
    lr_variant *variant = lr_arena_alloc(arena, sizeof *variant, 8);
    const char *name = layout->names[index];
    int32_t status = REC_OK;
    if (!variant || !lr_string(arena, name, strlen(name), &variant->name)) {
        return lr_fail_memory(t->f->job, sizeof *variant);
    }
    variant->index = index;
    variant->has_payload = layout->children[index] != NULL;
    variant->payload = lr_nil(REC_FORM_UNKNOWN);
    if (variant->has_payload) {
        /* In a record the variant's name is a level of the path. */
        status = build_below(t, layout->children[index], level ? lr_node_child(node, name, strlen(name)) : node, name,
                             strlen(name), false, "", &variant->payload, how);
    }
    *out = (rec_value){.kind = REC_KIND_VARIANT, .v.variant = variant};
    return status;
}

/* The variant that rules name for this path. @return its index, REC_UNKNOWN if none does. */
static uint64_t ruled_variant(lr_fit *t, const rec_layout *layout, const lr_node *node)
{
    const lr_piece *piece = lr_node_piece(node);
    lr_plan_source *source = piece ? &t->f->plan->sources[piece->source] : NULL;
    uint64_t length;
    const char *path = source ? lr_place_rule_path(t->f, source, &length) : NULL;
    for (uint64_t i = 0;
         source && lr_source_rule(t->f->job, source, t->f->matcher, LR_RULE_VARIANT, path, (size_t)length, &i) == 1;
         i++) {
        const lr_rule *rule = &source->rules->rules[i];
        uint64_t variant = lr_layout_named(layout, rule->replacement, strlen(rule->replacement));
        source->rules->rules[i].hits++;
        if (variant != REC_UNKNOWN) {
            return variant;
        }
        (void)LR_FIT_PROBLEM(t->f, REC_PROBLEM_KIND, true, "",
                             "%.300s: rule %u names the variant %.64s, which %s lacks", lr_fit_here(t->f),
                             (unsigned)rule->number, rule->replacement, layout->module ? layout->module : "the enum");
    }
    return REC_UNKNOWN;
}

static int32_t none_fits(lr_fit *t, const rec_layout *layout, lr_node *node)
{
    char text[800] = "";
    size_t used = 0;
    for (uint64_t i = 0; i < layout->count && used < sizeof text; i++) {
        (void)lr_fit_variant(t, layout, i, node);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.64s (%.200s)", i ? ", " : "", layout->names[i],
                                 t->why_not[0] ? t->why_not : "it holds no data");
    }
    return LR_FIT_PROBLEM(t->f, REC_PROBLEM_KIND, true, "", "%.200s: no variant%s%.64s fits: %.600s", lr_fit_here(t->f),
                          layout->module ? " of " : "", layout->module ? layout->module : "", text);
}

static int32_t build_enum(lr_fit *t, const rec_layout *layout, lr_node *node, rec_value *out, int *how)
{
    uint64_t chosen = REC_UNKNOWN, tensors = 0, empty = REC_UNKNOWN;
    bool level = false;
    char what[160];
    int32_t status = REC_OK;
    if (!lr_fit_has_content(node)) {
        (void)snprintf(what, sizeof what, "a variant%s%.100s", layout->module ? " of " : "",
                       layout->module ? layout->module : "");
        return lr_fit_miss(t, layout, what, how);
    }
    if (node->piece && lr_piece_value(node->piece) && !node->first) {
        int32_t kind = lr_piece_value(node->piece)->kind;
        if (kind == REC_KIND_NIL || kind == REC_KIND_STRING || kind == REC_KIND_VARIANT || kind == REC_KIND_MAP) {
            return lr_fit_put(t->f, node->piece, false, 0, false, "", out); /* a record's own unit variant */
        }
        *how = LR_FIT_OMITTED;
        return LR_FIT_PROBLEM(t->f, REC_PROBLEM_KIND, true, "Is the type right?",
                              "%.300s: a variant%s%.100s is expected, found %s", lr_fit_here(t->f),
                              layout->module ? " of " : "", layout->module ? layout->module : "", lr_kind_words(kind));
    }
    chosen = ruled_variant(t, layout, node);
    if (chosen == REC_UNKNOWN) {
        chosen = lr_fit_level(t, layout, node);
        level = chosen != REC_UNKNOWN;
    }
    for (uint64_t i = 0; chosen == REC_UNKNOWN && i < layout->count && !lr_job_failed(t->f->job); i++) {
        tensors = lr_fit_variant(t, layout, i, node);
        if (tensors == 0 && lr_node_piece(node) && lr_piece_is_tensor(lr_node_piece(node))) {
            empty = empty == REC_UNKNOWN ? i : empty; /* without parameters: only if no other takes any */
            continue;
        }
        chosen = tensors == REC_UNKNOWN ? REC_UNKNOWN : i;
        for (uint64_t k = i + 1; chosen == i && k < layout->count && status == REC_OK; k++) {
            uint64_t more = lr_fit_variant(t, layout, k, node);
            if (more != REC_UNKNOWN && more > tensors) {
                status = LR_FIT_PROBLEM(t->f, REC_PROBLEM_AMBIGUOUS, false,
                                        "A variant rule chooses: variant = PATTERN => NAME.",
                                        "%.200s is read as %.64s, the first variant that fits, as in Burn; %.64s fits "
                                        "too, and would take %" PRIu64 " tensor%s more",
                                        lr_fit_here(t->f), layout->names[i], layout->names[k], more - tensors,
                                        more - tensors == 1 ? "" : "s");
                break;
            }
        }
    }
    if (lr_job_failed(t->f->job) || status != REC_OK) {
        return t->f->job->error.status;
    }
    chosen = chosen == REC_UNKNOWN ? empty : chosen;
    if (chosen == REC_UNKNOWN) {
        *how = LR_FIT_OMITTED;
        return none_fits(t, layout, node);
    }
    return build_variant(t, layout, chosen, node, level, out, how);
}

/* ----------------------------------------------------------------------------------------------------- scalars -- */

/* Parses a name as a number of a map's key type. @return false: another text, or another spelling. */
static bool number_key(const rec_layout *layout, const lr_node *node, rec_value *key)
{
    bool negative = layout->kind == REC_LAYOUT_INT && node->length > 1 && node->name[0] == '-';
    uint64_t skip = negative, room = layout->bits - (layout->kind == REC_LAYOUT_INT), number;
    uint64_t most = room >= 64 ? UINT64_MAX : (UINT64_C(1) << room) - 1;
    if (!lr_node_index(node->name + skip, node->length - skip, &number) || number > most + negative ||
        node->name[skip] == '+' || (node->name[skip] == '0' && node->length > 1)) {
        return false;
    }
    *key = (rec_value){.kind = negative ? REC_KIND_INT : REC_KIND_UINT, .bits = (uint16_t)layout->bits};
    if (negative) {
        key->v.i = (int64_t)(0 - number);
    } else {
        key->v.u = number;
    }
    return true;
}

static int32_t build_map(lr_fit *t, const rec_layout *layout, lr_node *node, rec_value *out)
{
    lr_arena *arena = &t->f->record->arena;
    lr_map *map = lr_map_new(arena, node ? node->child_count : 0);
    const rec_layout *key_layout = rec_layout_child(layout, 0);
    bool by_number = key_layout && (key_layout->kind == REC_LAYOUT_UINT || key_layout->kind == REC_LAYOUT_INT);
    int32_t status = REC_OK;
    for (lr_node *child = node ? node->first : NULL; map && child && status == REC_OK; child = child->next) {
        rec_value key, value;
        lr_entry *entry;
        int how = LR_FIT_FILLED;
        if (by_number && !number_key(key_layout, child, &key)) {
            status = LR_FIT_PROBLEM(t->f, REC_PROBLEM_KIND, true, "Drop the key, or let a rule give it a number.",
                                    "%.300s: a map by numbers of %u bits is expected, but %.*s is not a number",
                                    lr_fit_here(t->f), (unsigned)key_layout->bits,
                                    (int)(child->length < 100 ? child->length : 100), child->name);
            continue;
        }
        t->states += layout->role == LR_ROLE_IDS;
        status = build_below(t, layout->children[1], child, child->name, child->length, false, "", &value, &how);
        t->states -= layout->role == LR_ROLE_IDS;
        if (status != REC_OK || how == LR_FIT_OMITTED) {
            continue;
        }
        if (!by_number && lr_fit_name(t->f, child->name, child->length, &key) != REC_OK) {
            return lr_fail_memory(t->f->job, child->length);
        }
        entry = lr_map_append(arena, map, key);
        if (!entry) {
            return lr_fail_memory(t->f->job, sizeof *entry);
        }
        entry->value = value;
    }
    if (!map) {
        return lr_fail_memory(t->f->job, sizeof *map);
    }
    *out = (rec_value){.kind = REC_KIND_MAP, .form = REC_FORM_MAP, .v.map = map};
    return status;
}

/* Whether a value has the kind that a layout requires; a save with that type would reject others. */
static bool is_value_of(const rec_layout *layout, int32_t kind)
{
    const lr_fit_value *value = lr_fit_value_of(layout);
    bool integer = layout->kind == REC_LAYOUT_INT || layout->kind == REC_LAYOUT_UINT;
    return !value || !value->kind || kind == value->kind ||
           (integer && (kind == REC_KIND_UINT || kind == REC_KIND_INT));
}

static int32_t build_scalar(lr_fit *t, const rec_layout *layout, lr_node *node, rec_value *out, int *how)
{
    const lr_fit_value *kinds = lr_fit_value_of(layout);
    rec_value zero = {.kind = (uint8_t)(kinds ? kinds->kind : 0), .bits = (uint16_t)layout->bits};
    if (lr_fit_has_content(node)) {
        const rec_value *value = node->piece ? lr_piece_value(node->piece) : NULL;
        const char *wanted = value && kinds && kinds->kind ? kinds->wanted : "a plain value";
        if (value && is_value_of(layout, value->kind)) {
            return lr_fit_put(t->f, node->piece, false, 0, false, "", out);
        }
        *how = LR_FIT_OMITTED;
        return LR_FIT_PROBLEM(t->f, REC_PROBLEM_KIND, true, "Drop the key, or let a rule give it another name.",
                              "%.300s: %s is expected, found %s", lr_fit_here(t->f), wanted,
                              value         ? lr_kind_words(value->kind)
                              : node->piece ? "a tensor"
                                            : "keys below it");
    }
    if ((!zero.kind || zero.kind == REC_KIND_STRING) && !lr_string(&t->f->record->arena, "", 0, &zero)) {
        return lr_fail_memory(t->f->job, 1);
    }
    *out = zero;
    return lr_place_line(t->f, REC_PLAN_DEFAULT, layout->kind == REC_LAYOUT_STRING ? "empty" : "zero");
}

static int32_t build(lr_fit *t, const rec_layout *layout, lr_node *node, bool transpose, const char *why,
                     rec_value *out, int *how)
{
    *out = lr_nil(REC_FORM_UNKNOWN);
    *how = LR_FIT_FILLED;
    if (!t->assuming && !lr_fit_is_tensor(layout) && (!node || (!node->first && !node->piece))) {
        int32_t status = lr_fit_absent(t, layout, how);
        if (status == REC_OK && *how == LR_FIT_ASSUMED) {
            int built;
            t->assuming++;
            status = build(t, layout, NULL, false, "", out, &built);
            t->assuming--;
        }
        if (status != REC_OK || *how != LR_FIT_FILLED) {
            return status;
        }
    }
    if (lr_fit_is_tensor(layout)) {
        return build_tensor(t, layout, node, transpose, why, out, how);
    }
    switch (layout->kind) {
    case REC_LAYOUT_UNIT:
        *out = lr_nil(REC_FORM_UNIT);
        return REC_OK;
    case REC_LAYOUT_OPTION:
        if (!rec_layout_child(layout, 0)) {
            *out = lr_nil(REC_FORM_CONSTANT);
            return REC_OK;
        }
        if (!lr_fit_has_content(node)) {
            *out = lr_nil(REC_FORM_NONE);
            *how = lr_fit_is_partial(t->f->plan) ? LR_FIT_OMITTED : LR_FIT_FILLED;
            return lr_fit_note_absent(t, layout->children[0]);
        }
        return build(t, layout->children[0], node, transpose, why, out, how);
    case REC_LAYOUT_STRUCT:
        return build_struct(t, layout, node, out, how);
    case REC_LAYOUT_LIST:
        if (!node && lr_fit_is_partial(t->f->plan)) {
            *how = LR_FIT_OMITTED;
            return REC_OK;
        }
        if (!node && !layout->fixed && !t->assuming && lr_layout_has_tensors(layout) &&
            lr_fit_note_absent(t, layout) != REC_OK) {
            return t->f->job->error.status;
        }
        return build_list(t, layout, node, out, how);
    case REC_LAYOUT_ARRAY:
    case REC_LAYOUT_TUPLE:
        return build_list(t, layout, node, out, how);
    case REC_LAYOUT_ENUM:
        return build_enum(t, layout, node, out, how);
    case REC_LAYOUT_MAP:
        return build_map(t, layout, node, out);
    default:
        return build_scalar(t, layout, node, out, how);
    }
}

/* A type without tensors takes nothing of what the rules left to be mapped. */
static int32_t check_tensors(const lr_fitter *f, const rec_layout *layout)
{
    char words[LR_NO_TENSORS_ROOM];
    uint64_t tensors = 0;
    if (lr_layout_has_tensors(layout)) {
        return REC_OK;
    }
    for (const lr_piece *piece = f->plan->pieces; piece; piece = piece->next) {
        tensors += !piece->dead && !piece->kept && lr_piece_is_tensor(piece);
    }
    return tensors ? lr_plan_problem(f->job, f->plan, REC_PROBLEM_EMPTY, true, "", LR_NO_TENSORS_HINT, "%s",
                                     lr_no_tensors_words(words, &f->plan->type, tensors))
                   : REC_OK;
}

int32_t lr_plan_typed(lr_fitter *f, const rec_layout *layout)
{
    lr_fit t = {.f = f, .conv1d = lr_fit_has_conv1d(f->plan)};
    int how = LR_FIT_FILLED;
    int32_t status = build(&t, layout, f->plan->root, false, "", &f->record->root, &how);
    status = status == REC_OK ? lr_fit_report_missing(&t) : status;
    status = status == REC_OK ? lr_fit_report_absent(&t) : status;
    status = status == REC_OK ? lr_fit_drop_foreign(&t) : status;
    status = status == REC_OK && !f->plan->totals.fatal ? check_tensors(f, layout) : status;
    return status == REC_OK ? lr_fit_report_left(f, "the type") : status;
}
