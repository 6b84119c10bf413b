/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Reverse conversion: joins the tensors that Burn splits or renames into those of PyTorch's modules. A type names
 * these modules; without one the record must show them by gates, or by a layer's fields. A custom attention looks like
 * Burn's unless the record has Burn's constants. */
#include <stdio.h>
#include <stdlib.h>

#include "common/names.h"
#include "remap/reverse/reverse_private.h"
#include "remap/torch/torch.h"

/* ------------------------------------------------------------------------------------------------- by the record -- */

/* The texts of all items, sorted. */
static bool make_texts(lr_reverse *b, lr_memory_list *t)
{
    t->at = lr_job_zalloc(b->job, (b->count + 1) * sizeof *t->at);
    for (uint64_t i = 0; t->at && i < b->count; i++) {
        if (!b->items[i].gone) {
            t->at[t->count++].text = b->items[i].text;
        }
    }
    lr_memory_sort(t);
    return t->at != NULL;
}

/* Whether there is an item of that text below the first `head` bytes of another. */
static bool has(const lr_memory_list *t, const char *text, size_t head, const char *below)
{
    char name[LR_BACK_NAME_ROOM];
    int n = snprintf(name, sizeof name, "%.*s%s", (int)head, text, below);
    return n > 0 && (size_t)n < sizeof name && lr_memory_find(t, name, (uint64_t)n);
}

/* Whether a text continues with one of some names and a dot. */
static bool goes_on(const char *text, const char *const *names)
{
    for (size_t i = 0; names[i]; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(text, names[i], length) == 0 && text[length] == '.') {
            return true;
        }
    }
    return false;
}

/* Whether all gates of a kind stand below a path. */
static bool has_gates(const lr_memory_list *t, const lr_torch_kind *kind, const char *text, size_t head,
                      const char *direction)
{
    static const char *const ends[] = {"input_transform.weight", "hidden_transform.weight"};
    for (uint64_t i = 0; kind->parts[i / 2]; i++) {
        char below[LR_BACK_NAME_ROOM];
        (void)snprintf(below, sizeof below, "%s%s.%s", direction, kind->parts[i / 2], ends[i % 2]);
        if (!has(t, text, head, below)) {
            return false;
        }
    }
    return true;
}

/* The recurrent kind whose gate begins at `at` in a text. @param begin (out) where the path below it begins. */
static const lr_torch_kind *recurrent_at(const lr_memory_list *t, const char *text, size_t at, size_t *begin)
{
    static const char *const names[] = {"Lstm", "Gru", "Rnn"}, *const both[] = {"BiLstm", "BiGru", "BiRnn"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const lr_torch_kind *kind = lr_torch_kind_find(names[i]);
        size_t head = at >= 8 ? at - 8 : 0;
        bool inside = at >= 8 && (strncmp(text + head, "forward.", 8) == 0 || strncmp(text + head, "reverse.", 8) == 0);
        if (!goes_on(text + at, kind->parts) || !has_gates(t, kind, text, at, "")) {
            continue;
        }
        if (inside && has_gates(t, kind, text, head, "forward.") && has_gates(t, kind, text, head, "reverse.")) {
            *begin = head;
            return lr_torch_kind_find(both[i]);
        }
        *begin = at;
        return kind;
    }
    return NULL;
}

/* What shows other kinds: how paths in them go on, and some of their tensors. */
static const struct {
    const char *kind, *begins[7], *tensors[9];
} layers[] = {
    {"TransformerEncoderLayer",
     {"mha", "pwff", "norm_1", "norm_2"},
     {"pwff.linear_inner.weight", "pwff.linear_outer.weight", "norm_1.gamma", "norm_2.gamma", "mha.query.weight",
      "mha.output.weight"}},
    {"TransformerDecoderLayer",
     {"self_attn", "cross_attn", "pwff", "norm_1", "norm_2", "norm_3"},
     {"pwff.linear_inner.weight", "pwff.linear_outer.weight", "norm_1.gamma", "norm_2.gamma", "norm_3.gamma",
      "self_attn.query.weight", "cross_attn.query.weight"}},
    {"MultiHeadAttention",
     {"query", "key", "value", "output"},
     {"query.weight", "key.weight", "value.weight", "output.weight"}},
};

static bool has_all(const lr_memory_list *t, const char *text, size_t head, const char *const *tensors)
{
    while (*tensors && has(t, text, head, *tensors)) {
        tensors++;
    }
    return !*tensors;
}

/* Whether the record shows Burn's attention below a path, by its constants or by what an import left. */
static bool has_constants(lr_reverse *b, const char *text, size_t head)
{
    static const char *const constants[] = {"n_heads", "d_k", "min_float"};
    const char *prefix = b->source->prefix ? b->source->prefix : "";
    char path[LR_BACK_NAME_ROOM];
    int length =
        snprintf(path, sizeof path, "%s%s%.*s", prefix, *prefix && head ? "." : "", (int)(head ? head - 1 : 0), text);
    if (b->source->memory && length >= 0 && (size_t)length < sizeof path &&
        lr_memory_find(&b->source->memory->attention, path, (uint64_t)length)) {
        return true; /* the import left it */
    }
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        char name[LR_BACK_NAME_ROOM];
        int n = snprintf(name, sizeof name, "%s%s%.*s%s", prefix, *prefix ? "." : "", (int)head, text, constants[i]);
        if (n <= 0 || (size_t)n >= sizeof name || !lr_plan_find_key(b->job, b->source, name, (uint64_t)n)) {
            return false;
        }
    }
    return true;
}

static const lr_torch_kind *shown_at(lr_reverse *b, const lr_memory_list *t, const char *text, size_t at, size_t *begin)
{
    const lr_torch_kind *kind = recurrent_at(t, text, at, begin);
    for (size_t i = 0; !kind && i < sizeof layers / sizeof *layers; i++) {
        bool attention = strcmp(layers[i].kind, "MultiHeadAttention") == 0;
        *begin = at;
        if (goes_on(text + at, layers[i].begins) && has_all(t, text, at, layers[i].tensors) &&
            (!attention || has_constants(b, text, at))) {
            kind = lr_torch_kind_find(layers[i].kind);
        }
    }
    return kind;
}

/* ------------------------------------------------------------------------------------------------ where they are -- */

/* A list's layers of one recurrent module: `deep.0` is layer 0 of `deep`. */
static void take_layer(lr_back_item *one, bool listed)
{
    enum { DIGITS_MOST = 6 };
    size_t end = one->site.below ? one->site.below - 1 : 0;
    const char *last = lr_path_last(one->text, end);
    uint64_t index, digits = end - (size_t)(last - one->text);
    if (listed && digits <= DIGITS_MOST && lr_memory_is_digits(last, digits) && lr_node_index(last, digits, &index)) {
        one->site.layer = (uint32_t)index;
        one->site.length = (uint32_t)(last > one->text ? last - one->text - 1 : 0);
    }
}

static void set_site(lr_back_item *one, const lr_torch_kind *kind, size_t below, bool listed)
{
    one->site = (lr_back_site){.kind = kind, .below = (uint32_t)below, .length = (uint32_t)(below ? below - 1 : 0)};
    if (kind->recurrent) {
        take_layer(one, listed);
    }
}

static void find_by_record(lr_reverse *b, const lr_memory_list *t, lr_back_item *one)
{
    const char *text = one->text;
    for (const char *part = text; part; part = strchr(part, '.') ? strchr(part, '.') + 1 : NULL) {
        size_t begin;
        const lr_torch_kind *kind = shown_at(b, t, text, (size_t)(part - text), &begin);
        if (kind) {
            set_site(one, kind, begin, true);
            return;
        }
    }
}

/* What the module around it says a tensor is a field of. */
static void name_module(lr_reverse *b, lr_back_item *one)
{
    char text[LR_BACK_NAME_ROOM] = "";
    lr_torch_place place = {.text = text, .room = sizeof text};
    const char *last = lr_path_last(one->text, strlen(one->text));
    if (lr_module_rule(b->job, b->source, b->matcher, one->text,
                       last > one->text ? (uint64_t)(last - one->text) - 1 : 0)) {
        return; /* the rule's way of laying it out */
    }
    if (one->site.kind && !one->module && lr_torch_back(one->site.kind, one->text + one->site.below, 0, 0, &place) &&
        place.linear) {
        one->module = "Linear";
    }
}

int32_t lr_back_find_sites(lr_reverse *b)
{
    lr_memory_list t = {0};
    if (b->torch && !b->type && !make_texts(b, &t)) {
        return b->job->error.status;
    }
    for (uint64_t i = 0; i < b->count && !lr_job_failed(b->job); i++) {
        lr_back_item *one = &b->items[i];
        lr_back_site typed = one->site;
        one->site = (lr_back_site){0};
        if (!b->torch || one->gone || strlen(one->text) >= LR_BACK_NAME_ROOM) {
            continue;
        }
        if (typed.kind && typed.below <= strlen(one->text)) {
            set_site(one, typed.kind, typed.below, typed.listed);
        } else if (!b->type) {
            find_by_record(b, &t, one);
        }
        name_module(b, one);
    }
    lr_release(b->job->allocator, t.at);
    return b->job->error.status;
}

/* ---------------------------------------------------------------------------------------------- putting together -- */

/* Whether a key ends in the path that an item has below its module, under PyTorch's or Burn's name of its field. */
static bool keeps_path(const lr_back_item *one, const lr_candidate *key)
{
    for (uint32_t i = 0; i < one->start_count; i++) {
        const char *rest = one->starts[i] + one->site.below;
        size_t size = strlen(rest);
        if (key->length >= size && memcmp(key->text + key->length - size, rest, size) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether rules make the names inside a module: then they know what PyTorch's are. @return 1, 0, -1: the job has
 * failed. */
static int rules_speak(lr_reverse *b, const lr_back_item *one)
{
    lr_candidates found;
    if (lr_retrace(b->retracer, one->starts, one->start_count, one->op, &found) != REC_OK) {
        return -1;
    }
    for (uint64_t i = 0; i < found.count; i++) {
        if (found.list[i].split || !keeps_path(one, &found.list[i])) {
            return 1;
        }
    }
    return found.count == 0;
}

/* The parts of one tensor. */
typedef struct whole {
    const char *text;
    const lr_torch_kind *kind;
    uint64_t items[8]; /* by number + 1; 0: it is missing */
    uint64_t count;
} whole;

typedef struct wholes {
    whole *list;
    uint64_t count, room;
} wholes;

enum { PARTS_MOST = sizeof((whole){0}).items / sizeof *(whole){0}.items };

static whole *whole_of(lr_reverse *b, wholes *all, const char *text, const lr_torch_place *place)
{
    enum { OF_ONE_MODULE = 16 };
    for (uint64_t i = all->count; i-- > 0 && all->count - i <= OF_ONE_MODULE;) { /* items are sorted by their texts */
        if (strcmp(all->list[i].text, text) == 0) {
            return &all->list[i];
        }
    }
    if (!lr_job_grow(b->job, &all->list, all->count + 1, &all->room, sizeof *all->list)) {
        return NULL;
    }
    all->list[all->count] = (whole){.text = text, .kind = place->kind, .count = place->part_count};
    return &all->list[all->count++];
}

/* "deep" and "weight_ih_l0" */
static const char *file_path(lr_reverse *b, const lr_back_item *one, const char *below)
{
    return lr_plan_text(b->job, b->plan, "%.*s%s%s", (int)one->site.length, one->text, one->site.length ? "." : "",
                        below);
}

static int32_t unsure(lr_reverse *b, const lr_back_item *one)
{
    char text[500];
    (void)snprintf(text, sizeof text,
                   "%.300s: nothing says whether the layer applies its norms first (norm_first), and Burn numbers them "
                   "by that",
                   one->text);
    return lr_back_issue(b, REC_PROBLEM_AMBIGUOUS, 0, one->text, "norm_first", text,
                         "Give the model's own norm_first, 0 for False and 1 for True: --set norm_first=0|1");
}

/* The key of a recurrent module's tensor: that of a cell if the file had one there, else that of a layer, `text`. NULL:
 * the job has failed. */
static const char *as_cell(lr_reverse *b, const lr_back_item *one, const char *below, const char *text)
{
    const char *number = strrchr(below, '_');
    const char *cell = number && number[1] == 'l' ? lr_plan_text(b->job, b->plan, "%.*s%.*s", (int)one->site.below,
                                                                 one->text, (int)(number - below), below)
                                                  : NULL;
    return cell && lr_back_had_cell(b, cell) ? cell : lr_job_failed(b->job) ? NULL : text;
}

/* Moves an item to PyTorch's name, or notes it as a part of a whole. */
static int32_t move_item(lr_reverse *b, uint64_t number, wholes *all)
{
    lr_back_item *one = &b->items[number];
    char below[LR_BACK_NAME_ROOM] = "";
    lr_torch_place place = {.text = below, .room = sizeof below};
    const char *text;
    whole *w;
    if (!lr_torch_back(one->site.kind, one->starts[0] + one->site.below, one->site.layer,
                       lr_torch_norm_first(b->source), &place)) {
        return REC_OK;
    }
    if (place.unsure) {
        return unsure(b, one);
    }
    text = file_path(b, one, below);
    if (text && one->site.kind->recurrent && !one->site.kind->both) {
        text = as_cell(b, one, below, text);
    }
    if (!text) {
        return b->job->error.status;
    }
    one->why = one->site.kind->name;
    if (place.part_count == 1 && !place.whole) {
        one->starts[0] = text;
        one->start_count = 1;
        return REC_OK;
    }
    w = place.part < PARTS_MOST ? whole_of(b, all, text, &place) : NULL;
    if (w) {
        w->items[place.part] = number + 1;
    }
    return b->job->error.status;
}

/* Parts of different sizes stay apart: keys and values from elsewhere. */
static bool stay_apart(lr_reverse *b, const whole *w)
{
    const lr_op *first = w->items[0] ? b->items[w->items[0] - 1].op : NULL;
    for (uint64_t i = 0; i < w->count && first; i++) {
        const lr_op *op = w->items[i] ? b->items[w->items[i] - 1].op : NULL;
        if (op && lr_op_rank(op) == 2 && lr_op_rank(first) == 2 && lr_op_shape(op)[1] != lr_op_shape(first)[1]) {
            return !w->kind->recurrent;
        }
    }
    return false;
}

static int32_t name_apart(lr_reverse *b, const whole *w)
{
    static const char *const names[] = {"q_proj_weight", "k_proj_weight", "v_proj_weight"};
    const char *last = lr_path_last(w->text, strlen(w->text));
    for (uint64_t i = 0; i < w->count && i < sizeof names / sizeof *names; i++) {
        lr_back_item *one = w->items[i] ? &b->items[w->items[i] - 1] : NULL;
        if (one) {
            one->starts[0] = lr_plan_text(b->job, b->plan, "%.*s%s", (int)(last - w->text), w->text, names[i]);
            one->start_count = 1;
        }
    }
    return b->job->error.status;
}

static int32_t incomplete(lr_reverse *b, const whole *w, uint64_t part)
{
    char text[500];
    (void)snprintf(text, sizeof text, "%.300s cannot be put together: the part %.64s is missing", w->text,
                   w->kind->parts[part]);
    return lr_back_issue(b, REC_PROBLEM_MISSING, 0, w->text, w->text, text, "Is the record damaged?");
}

/* Makes one item of the parts. */
static int32_t join_whole(lr_reverse *b, const whole *w)
{
    lr_op *ops[PARTS_MOST], *op;
    lr_key **inputs = lr_arena_alloc(&b->plan->arena, w->count * sizeof *inputs, 8);
    lr_back_item *made;
    if (!inputs) {
        return lr_fail_memory(b->job, w->count * sizeof *inputs);
    }
    for (uint64_t i = 0; i < w->count; i++) {
        if (!w->items[i]) {
            return incomplete(b, w, i);
        }
        ops[i] = b->items[w->items[i] - 1].op;
        inputs[i] = b->items[w->items[i] - 1].inputs[0];
    }
    op = lr_op_join(b->job, ops, w->count, 0);
    made = op ? lr_back_item_new(b) : NULL;
    if (!made) {
        lr_op_release(op);
        return lr_plan_refused(b->job, b->plan, w->text, "putting the parts together");
    }
    made->text = w->text;
    made->starts[0] = w->text;
    made->start_count = 1;
    made->op = op;
    made->inputs = inputs;
    made->input_count = w->count;
    made->why = w->kind->name;
    made->operations = lr_plan_and(b->job, b->plan, b->items[w->items[0] - 1].operations, w->count > 1 ? "join" : "");
    for (uint64_t i = 0; i < w->count; i++) {
        b->items[w->items[i] - 1].gone = true;
    }
    return made->operations ? REC_OK : b->job->error.status;
}

/* An item that is a part of a module. */
typedef struct member {
    const char *text;
    const lr_torch_kind *kind;
    uint64_t length, item;
} member;

/* By the paths of their modules, then by their texts. */
static int by_site(const void *x, const void *y)
{
    const member *a = x, *b = y;
    int order = lr_text_order(a->text, a->length, b->text, b->length);
    order = order ? order : a->kind < b->kind ? -1 : a->kind > b->kind;
    return order ? order : strcmp(a->text, b->text);
}

static bool same_site(const member *a, const member *b)
{
    return a->kind == b->kind && a->length == b->length && memcmp(a->text, b->text, (size_t)a->length) == 0;
}

/* Handles the items of one site. */
static int32_t put_site(lr_reverse *b, const member *members, uint64_t count, wholes *all)
{
    bool asks = lr_rules_have(b->source->rules, LR_RULE_RENAME) || lr_rules_have(b->source->rules, LR_RULE_SPLIT);
    int32_t status = REC_OK;
    all->count = 0;
    for (uint64_t i = 0; i < count && asks; i++) {
        int spoken = rules_speak(b, &b->items[members[i].item]);
        if (spoken) {
            return spoken < 0 ? b->job->error.status : REC_OK;
        }
    }
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        status = move_item(b, members[i].item, all);
    }
    for (uint64_t i = 0; i < all->count && status == REC_OK; i++) {
        status = stay_apart(b, &all->list[i]) ? name_apart(b, &all->list[i]) : join_whole(b, &all->list[i]);
    }
    return status;
}

/* The items that are parts of modules, sorted. @return how many. */
static uint64_t collect(const lr_reverse *b, member *members)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < b->count; i++) {
        const lr_back_item *one = &b->items[i];
        if (!one->gone && one->site.kind && one->start_count) {
            members[count++] =
                (member){.text = one->text, .kind = one->site.kind, .length = one->site.length, .item = i};
        }
    }
    qsort(members, (size_t)count, sizeof *members, by_site);
    return count;
}

int32_t lr_back_put_together(lr_reverse *b)
{
    member *members = lr_alloc(b->job->allocator, (b->count + 1) * sizeof *members);
    wholes all = {0};
    uint64_t count;
    int32_t status = REC_OK;
    if (!members) {
        return lr_fail_memory(b->job, b->count * sizeof *members);
    }
    count = collect(b, members);
    for (uint64_t i = 0, n; i < count && status == REC_OK; i += n) {
        for (n = 1; i + n < count && same_site(&members[i], &members[i + n]); n++) {
        }
        status = put_site(b, members + i, n, &all);
    }
    lr_release(b->job->allocator, all.list);
    lr_release(b->job->allocator, members);
    return status;
}
