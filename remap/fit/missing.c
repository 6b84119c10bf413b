/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a type asks for and the tree lacks, and what the tree has that the type does not ask for. */
#include "remap/fit/fit_private.h"
#include "remap/torch/torch.h"

#include <inttypes.h>
#include <stdio.h>

int32_t lr_fit_remember(lr_fit *t, const rec_layout *layout, const char *what, bool bare)
{
    rec_plan *plan = t->f->plan;
    lr_missing *m = lr_job_arena_alloc(t->f->job, &plan->arena, sizeof *m, 8);
    const char *path = lr_job_arena_text(t->f->job, &plan->arena, lr_fit_here(t->f), t->f->path.used);
    what = lr_plan_keep(t->f->job, plan, what, strlen(what));
    if (lr_job_failed(t->f->job)) {
        return t->f->job->error.status;
    }
    *m = (lr_missing){.layout = layout, .path = path, .what = what, .bare = bare};
    for (const char *c = path; *c; c++) {
        m->dots += *c == '.';
    }
    if (t->last_missing) {
        t->last_missing->next = m;
    } else {
        t->first_missing = m;
    }
    t->last_missing = m;
    return REC_OK;
}

int32_t lr_fit_miss(lr_fit *t, const rec_layout *layout, const char *what, int *how)
{
    *how = LR_FIT_OMITTED;
    if (!lr_fit_is_partial(t->f->plan) && lr_fit_remember(t, layout, what, false) != REC_OK) {
        return t->f->job->error.status;
    }
    return lr_place_line(t->f, REC_PLAN_MISSING, what);
}

/* Whether a name differs from another by white space around it alone. */
static bool same_trimmed(const char *name, const char *other)
{
    size_t length;
    name += strspn(name, " \t\r\n");
    length = strlen(name);
    while (length && strchr(" \t\r\n", name[length - 1])) {
        length--;
    }
    return length == strlen(other) && memcmp(name, other, length) == 0;
}

/* Where a missing path stands below another name: `fc1` in `model.fc1.weight`. @param below (out) the name, or left. */
static void find_below(const lr_piece *piece, const char *path, char *below, size_t room)
{
    size_t length = strlen(path);
    const char *at = piece->key;
    while (length && (at = strstr(at, path)) != NULL) {
        size_t head = (size_t)(at - piece->key);
        if (head > 1 && at[-1] == '.' && (at[length] == '.' || !at[length]) && head - 1 < room) {
            memcpy(below, piece->key, head - 1);
            below[head - 1] = '\0';
            return;
        }
        at += length;
    }
}

/* Results for a missing place after the unused keys were compared. */
typedef struct nearest {
    const char *same;          /* differs in case or by blanks */
    char below[200];           /* it stands below this name */
    uint64_t left;             /* keys */
    const lr_piece *neighbour; /* in the same module */
    const lr_piece *split;     /* has it with others in one tensor; of several the one that is nearest in the tree */
    size_t split_shared;
    const lr_piece *formed; /* the only one of its last name and rank */
    uint64_t formed_count;
    lr_suggestion by_name;
    const lr_piece *named; /* that `by_name` is of */
} nearest;

/* The begin of a piece's key with as many parts as the missing path has: a module is missed by its own name. */
static const char *part_of(rec_plan *plan, const lr_piece *piece, const lr_missing *m, bool *whole)
{
    const char *end = piece->key;
    for (unsigned dots = 0; *end; end++) {
        dots += *end == '.';
        if (dots > m->dots) {
            break;
        }
    }
    *whole = !*end;
    return lr_arena_text(&plan->arena, piece->key, (uint64_t)(end - piece->key));
}

/* Whether a tensor may stand where one of a rank is missing, or (rank 0) the weight of a module. */
static bool has_form(const lr_piece *piece, const lr_missing *m, const char *last)
{
    const char *name = lr_path_last(piece->key, (size_t)piece->length);
    bool tensor = lr_fit_is_tensor(m->layout);
    uint64_t weight;
    if (!lr_piece_is_tensor(piece)) {
        return false;
    }
    if (tensor) {
        return lr_piece_rank(piece) == m->layout->rank &&
               (strcmp(name, last) == 0 || (strcmp(name, "weight") == 0 && strcmp(last, "gamma") == 0) ||
                (strcmp(name, "bias") == 0 && strcmp(last, "beta") == 0));
    }
    weight = strcmp(name, "weight") == 0 && m->layout->kind == REC_LAYOUT_STRUCT ? lr_layout_named(m->layout, name, 6)
                                                                                 : REC_UNKNOWN;
    return weight != REC_UNKNOWN && lr_fit_is_tensor(m->layout->children[weight]) &&
           lr_piece_rank(piece) == m->layout->children[weight]->rank;
}

/* The length of the names that two paths have in common, from the first on. */
static size_t shared_begin(const char *key, const char *path)
{
    size_t shared = 0;
    for (size_t i = 0; key[i] && key[i] == path[i]; i++) {
        shared = key[i] == '.' ? i + 1 : shared;
    }
    return shared;
}

/* Looks at the keys that are left. */
static int32_t look(lr_fit *t, const lr_missing *m, nearest *n)
{
    /* Suggestions are useful for the first few places only: if everything is missing, the cost must not be keys times
     * paths. */
    enum { CANDIDATES_MOST = 20000, COMPARED_MOST = 200000 };
    rec_plan *plan = t->f->plan;
    const char *dot = strrchr(m->path, '.'), *last = dot ? dot + 1 : m->path;
    size_t parent = dot ? (size_t)(dot - m->path) + 1 : 0;
    char rule[800];
    uint64_t seen = 0;
    lr_suggestion_begin(&n->by_name, m->path);
    for (const lr_piece *piece = plan->pieces;
         piece && seen++ < CANDIDATES_MOST && t->compared < COMPARED_MOST && !n->same; piece = piece->next) {
        const char *part, *best = n->by_name.best;
        bool whole;
        if (piece->taken || piece->dead || piece->kept) {
            continue;
        }
        t->compared++;
        part = part_of(plan, piece, m, &whole);
        if (!part) {
            return lr_fail_memory(t->f->job, piece->length);
        }
        if (lr_name_same(part, m->path) || same_trimmed(part, m->path)) {
            n->same = part;
        }
        if (!n->below[0]) {
            find_below(piece, m->path, n->below, sizeof n->below);
        }
        if ((!n->split || shared_begin(piece->key, m->path) > n->split_shared) &&
            lr_suggest_split(piece, m->path, rule, sizeof rule)) {
            n->split = piece;
            n->split_shared = shared_begin(piece->key, m->path);
        }
        if (has_form(piece, m, last) && n->formed_count++ == 0) {
            n->formed = piece;
        }
        /* A tensor of another rank is no candidate for a similar name. */
        if (!lr_fit_is_tensor(m->layout) || !whole ||
            (lr_piece_is_tensor(piece) && lr_piece_rank(piece) == m->layout->rank)) {
            lr_suggestion_try(&n->by_name, part);
            n->named = n->by_name.best != best ? piece : n->named;
        }
        if (piece->length > parent && memcmp(piece->key, m->path, parent) == 0 && !strchr(piece->key + parent, '.') &&
            (!n->neighbour || strcmp(piece->key + parent, strcmp(last, "beta") == 0 ? "bias" : "weight") == 0)) {
            n->neighbour = parent || !dot ? piece : n->neighbour;
        }
    }
    return REC_OK;
}

/* Whether all keys there are stand below a name. */
static bool all_below(const rec_plan *plan, const char *name, uint64_t *count)
{
    size_t length = strlen(name);
    *count = 0;
    for (const lr_piece *piece = plan->pieces; piece; piece = piece->next) {
        if (!piece->kept &&
            (piece->length <= length || memcmp(piece->key, name, length) != 0 || piece->key[length] != '.')) {
            return false;
        }
        *count += !piece->kept;
    }
    return *count > 1;
}

/* Whether a module has a tensor of that name, if only after the adapter has renamed it. */
static bool has_field(const rec_layout *layout, const char *name)
{
    const char *other = strcmp(name, "weight") == 0 ? "gamma" : strcmp(name, "bias") == 0 ? "beta" : name;
    return layout->kind == REC_LAYOUT_STRUCT && (lr_layout_named(layout, name, strlen(name)) != REC_UNKNOWN ||
                                                 lr_layout_named(layout, other, strlen(other)) != REC_UNKNOWN);
}

/* "Nearest: lm_head.weight [5, 4]: `rename = ^lm_head\. => head.`" */
static void hint_near(const lr_missing *m, const lr_piece *piece, const char *part, const char *before, char *hint,
                      size_t room)
{
    size_t length = part ? strlen(part) : (size_t)piece->length;
    bool module = piece && length < piece->length;
    int32_t what = module ? LR_RENAME_MODULE : LR_RENAME_TENSOR;
    char shape[160] = "", rule[800] = "";
    if (!part) {
        part = piece->key;
    }
    if (piece && lr_piece_is_tensor(piece) && !module) {
        char words[150];
        (void)snprintf(shape, sizeof shape, " %s",
                       lr_shape_words(words, sizeof words, lr_piece_shape(piece), lr_piece_rank(piece)));
    }
    if (!module &&
        !lr_fit_is_tensor(m->layout)) { /* a tensor where a module is missing: it may be one of the module's */
        const char *end = strrchr(part, '.');
        what = LR_RENAME_LEAVES;
        length = end && has_field(m->layout, end + 1) ? (size_t)(end - part) : 0;
    }
    if (length) {
        (void)lr_suggest_rename(part, length, m->path, what, rule, sizeof rule);
    }
    (void)snprintf(hint, room, "%s%.400s%s%s%.700s", before, part, shape, *rule ? ": " : "", rule);
}

/* Returns the node at a path, or NULL. */
static lr_node *node_at(const rec_plan *plan, const char *path, size_t length)
{
    lr_node *node = plan->root;
    const char *part = path, *end = path + length;
    while (node && part < end) {
        const char *dot = lr_path_dot(part, end);
        node = lr_node_child(node, part, (uint64_t)((dot ? dot : end) - part));
        part = dot ? dot + 1 : end;
    }
    return node;
}

static bool is_left(const lr_node *node)
{
    const lr_piece *piece = node->piece;
    bool left = piece ? !piece->taken && !piece->dead && !piece->kept : node->first != NULL;
    for (const lr_node *c = node->first; c && left; c = c->next) {
        left = is_left(c);
    }
    return left;
}

/* The number that the place of a missing module has among those of its parent that are missing. @param count (out) */
static uint64_t order_of(const lr_fit *t, const lr_missing *m, size_t parent, uint64_t *count)
{
    uint64_t at = 0;
    *count = 0;
    for (const lr_missing *other = t->first_missing; other; other = other->next) {
        if (other->dots == m->dots && strncmp(other->path, m->path, parent) == 0) {
            at = other == m ? *count : at;
            ++*count;
        }
    }
    return at;
}

/* nn.Sequential numbers modules that a type names: if the number of unused numbered modules equals that of the missing
 * ones and each fits in order, suggests these. @return false: none found. */
static bool suggest_by_order(lr_fit *t, const lr_missing *m, size_t parent, char *rule, size_t room)
{
    enum { NUMBERED_MOST = 64 };
    const lr_node *node = node_at(t->f->plan, m->path, parent ? parent - 1 : 0);
    uint64_t wanted, at = order_of(t, m, parent, &wanted), left = 0;
    lr_node *list[NUMBERED_MOST], *mine;
    if (!node || m->layout->kind != REC_LAYOUT_STRUCT || node->child_count > NUMBERED_MOST) {
        return false;
    }
    for (lr_node *c = node->first; c; c = c->next) {
        if (c->index != REC_UNKNOWN && is_left(c)) {
            uint64_t to = left++;
            for (; to > 0 && list[to - 1]->index > c->index; to--) {
                list[to] = list[to - 1];
            }
            list[to] = c;
        }
    }
    mine = at < left ? list[at] : NULL;
    if (mine && left == wanted && lr_fit_fits(t, m->layout, mine)) {
        char key[400];
        int n = snprintf(key, sizeof key, "%.*s%.*s", (int)parent, m->path, (int)mine->length, mine->name);
        return n > 0 && (size_t)n < sizeof key &&
               lr_suggest_rename(key, (size_t)n, m->path, LR_RENAME_NUMBERED, rule, room);
    }
    return false;
}

/* The one Linear that is missing may be the embedding. */
static bool suggest_tie(const lr_fit *t, const lr_missing *m, char *rule, size_t room)
{
    const lr_plan_source *source = t->table ? &t->f->plan->sources[t->table->source] : NULL;
    double tied = 1;
    return source && !source->reverse && !(source->prefix && *source->prefix) && t->first_missing == t->last_missing &&
           m->layout->module && strcmp(m->layout->module, "Linear") == 0 &&
           (!lr_variables_find(&source->numbers, LR_NUMBER_TIED, &tied) || tied != 0) &&
           lr_suggest_tie(m->path, t->table->key, rule, room);
}

/* The key that was probably meant for a missing one: a neighbour, else one that is spelled nearly so, or is the only
 * one of that form. */
static int32_t report_missing(lr_fit *t, const lr_missing *m)
{
    rec_plan *plan = t->f->plan;
    const char *dot = strrchr(m->path, '.'), *last = dot ? dot + 1 : m->path;
    size_t parent = dot ? (size_t)(dot - m->path) + 1 : 0;
    nearest n = {0};
    char hint[1400] = "", rule[800];
    if (look(t, m, &n) != REC_OK) {
        return t->f->job->error.status;
    }
    if (n.same) {
        (void)lr_suggest_rename(n.same, strlen(n.same), m->path,
                                lr_fit_is_tensor(m->layout) ? LR_RENAME_TENSOR : LR_RENAME_MODULE, rule, sizeof rule);
        (void)snprintf(hint, sizeof hint, "Nearest: `%.400s`%s%s", n.same, *rule ? ": " : "", rule);
    } else if (n.below[0] && all_below(plan, n.below, &n.left)) {
        (void)snprintf(hint, sizeof hint, "All %" PRIu64 " keys begin with `%.200s.`: `select = %.200s`", n.left,
                       n.below, n.below);
    } else if (n.below[0]) {
        (void)snprintf(hint, sizeof hint, "It is there below %.200s: `select = %.200s` takes what is below that.",
                       n.below, n.below);
    } else if (n.split && lr_suggest_split(n.split, m->path, rule, sizeof rule)) {
        char shape[160];
        (void)snprintf(hint, sizeof hint, "%.400s %s may be queries, keys and values in one: %.700s", n.split->key,
                       lr_shape_words(shape, sizeof shape, lr_piece_shape(n.split), lr_piece_rank(n.split)), rule);
    } else if (suggest_by_order(t, m, parent, rule, sizeof rule)) {
        (void)snprintf(hint, sizeof hint, "By their order: %s", rule);
    } else if (lr_suggest_prefix(plan, m, rule, sizeof rule)) {
        (void)snprintf(hint, sizeof hint, "%s", rule);
    } else if (n.neighbour && parent) {
        bool torch = (strcmp(last, "gamma") == 0 && strcmp(n.neighbour->key + parent, "weight") == 0) ||
                     (strcmp(last, "beta") == 0 && strcmp(n.neighbour->key + parent, "bias") == 0);
        if (plan->sources[n.neighbour->source].adapter == LR_ADAPTER_NONE && torch) {
            (void)snprintf(hint, sizeof hint, "Nearest: %.400s (a norm of PyTorch's? `adapter = pytorch` renames it.)",
                           n.neighbour->key);
        } else if (has_form(n.neighbour, m, last) || !lr_fit_is_tensor(m->layout) ||
                   (lr_piece_is_tensor(n.neighbour) && lr_piece_rank(n.neighbour) == m->layout->rank)) {
            hint_near(m, n.neighbour, NULL, "Nearest: ", hint, sizeof hint);
        } else {
            (void)snprintf(hint, sizeof hint, "Nearest: %.400s", n.neighbour->key);
        }
    } else if (n.by_name.best) {
        hint_near(m, n.named, n.by_name.best, "Nearest: ", hint, sizeof hint);
    } else if (n.formed_count == 1) {
        static const char *const only = "The only one of that shape that is left: ";
        const char *end = strrchr(n.formed->key, '.');
        char part[400];
        if (lr_fit_is_tensor(m->layout) || !end) {
            hint_near(m, n.formed, NULL, only, hint, sizeof hint);
        } else {
            (void)snprintf(part, sizeof part, "%.*s", (int)(end - n.formed->key < 399 ? end - n.formed->key : 399),
                           n.formed->key);
            hint_near(m, n.formed, part, only, hint, sizeof hint);
        }
    } else if (suggest_tie(t, m, rule, sizeof rule)) {
        char shape[160];
        (void)snprintf(hint, sizeof hint, "If it is tied to the embedding %.300s %s: %.700s", t->table->key,
                       lr_shape_words(shape, sizeof shape, lr_piece_shape(t->table), lr_piece_rank(t->table)), rule);
    } else {
        (void)snprintf(hint, sizeof hint, "Is it the right type? A partial load (partial) leaves out what is missing.");
    }
    return lr_plan_problem(t->f->job, plan, REC_PROBLEM_MISSING, true, m->path, hint, "%.400s is missing: %.200s",
                           *m->path ? m->path : "the value", m->what);
}

/* The ranks of the tensors that are left, a bit each. */
static uint64_t ranks_left(const rec_plan *plan)
{
    uint64_t ranks = 0;
    for (const lr_piece *piece = plan->pieces; piece; piece = piece->next) {
        uint64_t rank = lr_piece_is_tensor(piece) ? lr_piece_rank(piece) : REC_UNKNOWN;
        ranks |= rank < 64 && !piece->taken && !piece->dead && !piece->kept ? (uint64_t)1 << rank : 0;
    }
    return ranks;
}

/* The ranks of what the Options of a module may hold. */
static uint64_t ranks_of(const rec_layout *layout)
{
    uint64_t ranks = 0;
    for (uint64_t i = 0; i < layout->count; i++) {
        const rec_layout *child = layout->children[i];
        const rec_layout *held = child->kind == REC_LAYOUT_OPTION ? rec_layout_child(child, 0) : NULL;
        ranks |= child->kind == REC_LAYOUT_STRUCT ? ranks_of(child) : 0;
        ranks |= held && held->rank < 64 ? (uint64_t)1 << held->rank : 0;
    }
    return ranks;
}

int32_t lr_fit_report_missing(lr_fit *t)
{
    uint64_t left = ranks_left(t->f->plan);
    int32_t status = REC_OK;
    for (const lr_missing *m = t->first_missing; m && status == REC_OK; m = m->next) {
        bool there = m->bare && !(ranks_of(m->layout) & left);
        status = there ? REC_OK : report_missing(t, m);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------- absent options -- */

int32_t lr_fit_note_absent(lr_fit *t, const rec_layout *layout)
{
    rec_plan *plan = t->f->plan;
    const char *dot = strrchr(lr_fit_here(t->f), '.');
    lr_absent *one;
    if (plan->quiet || t->assuming || lr_fit_is_partial(plan) ||
        (!lr_fit_is_tensor(layout) && layout->kind != REC_LAYOUT_LIST)) {
        return REC_OK;
    }
    one = lr_job_arena_alloc(t->f->job, &plan->tree, sizeof *one, 8);
    if (!one) {
        return t->f->job->error.status;
    }
    *one = (lr_absent){.next = t->absent, .layout = layout, .parent = dot ? (size_t)(dot - lr_fit_here(t->f)) + 1 : 0};
    one->path = lr_job_arena_text(t->f->job, &plan->tree, lr_fit_here(t->f), t->f->path.used);
    t->absent = one;
    return t->f->job->error.status;
}

/* Whether what is left at a node may be the tensor that an Option holds. */
static bool may_be(const lr_absent *one, const lr_node *node)
{
    return !node->first && is_left(node) && lr_piece_is_tensor(node->piece) &&
           lr_piece_rank(node->piece) == one->layout->rank;
}

/* The numbered children that are left where a list of the type has nothing. NULL: none, or not all fit. */
static const lr_node *left_for_list(lr_fit *t, const lr_absent *one)
{
    lr_node *parent = node_at(t->f->plan, one->path, one->parent ? one->parent - 1 : 0);
    const lr_node *first = NULL;
    const rec_layout *item = rec_layout_child(one->layout, 0);
    for (lr_node *c = parent ? parent->first : NULL; c && item; c = c->next) {
        if (c->index != REC_UNKNOWN && is_left(c)) {
            if (!lr_fit_fits(t, item, c)) {
                return NULL;
            }
            first = first ? first : c;
        }
    }
    return first;
}

static int32_t report_list(lr_fit *t, const lr_absent *one, const lr_node *left)
{
    char hint[900] = "", rule[800];
    if (lr_suggest_list(one->path, one->parent, rule, sizeof rule)) {
        (void)snprintf(hint, sizeof hint, "If they are its elements: %s. If not, drop them by a rule.", rule);
    }
    return lr_plan_problem(t->f->job, t->f->plan, REC_PROBLEM_UNEXPECTED, true, one->path, hint,
                           "%.300s is not in the type, and the list %.300s has nothing", lr_node_piece(left)->key,
                           one->path);
}

/* Whether the module has another absent Option of the kind. */
static bool has_rival(const lr_fit *t, const lr_absent *one)
{
    for (const lr_absent *other = t->absent; other; other = other->next) {
        if (other != one && lr_fit_is_tensor(other->layout) && other->parent == one->parent &&
            other->layout->rank == one->layout->rank && strncmp(other->path, one->path, one->parent) == 0) {
            return true;
        }
    }
    return false;
}

/* The only key of a module that is left and may be an Option of it; the module is there by others. */
static const lr_node *left_for(const lr_fit *t, const lr_absent *one)
{
    enum { FIELDS_MOST = 64 };
    const lr_node *parent = node_at(t->f->plan, one->path, one->parent ? one->parent - 1 : 0), *found = NULL;
    uint64_t count = 0, taken = 0;
    if (!parent || parent->child_count > FIELDS_MOST) {
        return NULL;
    }
    for (const lr_node *c = parent->first; c; c = c->next) {
        bool fits = may_be(one, c);
        taken += c->piece && c->piece->taken;
        found = fits ? c : found;
        count += fits;
    }
    return count == 1 && taken && !has_rival(t, one) ? found : NULL;
}

static int32_t report_absent(lr_fit *t, const lr_absent *one, const lr_node *left)
{
    const lr_piece *piece = left->piece;
    char hint[900] = "", rule[800];
    if (lr_suggest_rename(piece->key, (size_t)piece->length, one->path, LR_RENAME_TENSOR, rule, sizeof rule)) {
        (void)snprintf(hint, sizeof hint, "If it is: %s. If not, drop it by a rule.", rule);
    }
    return lr_plan_problem(
        t->f->job, t->f->plan, REC_PROBLEM_UNEXPECTED, true, one->path, hint,
        "%.300s is not in the type, and %.300s next to it, which may be absent, is: it is likely the "
        "same under another name",
        piece->key, one->path);
}

static bool any_left(const rec_plan *plan)
{
    for (const lr_piece *piece = plan->pieces; piece; piece = piece->next) {
        if (!piece->taken && !piece->dead && !piece->kept) {
            return true;
        }
    }
    return false;
}

int32_t lr_fit_report_absent(lr_fit *t)
{
    int32_t status = REC_OK;
    if (!t->absent || !any_left(t->f->plan)) {
        return REC_OK;
    }
    for (const lr_absent *one = t->absent; one && status == REC_OK; one = one->next) {
        bool list = one->layout->kind == REC_LAYOUT_LIST && !lr_fit_is_tensor(one->layout);
        const lr_node *left = list ? left_for_list(t, one) : left_for(t, one);
        status = !left ? REC_OK : list ? report_list(t, one, left) : report_absent(t, one, left);
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------- left over -- */

/* Tensors that a file has in one of PyTorch's modules of several tensors and Burn's has no field for: PyTorch's may
 * compute with them. Of other modules they are a note, since Burn's own import leaves them out. */

/* Whether the type, or the adapter in its place, has a field for a child. */
static bool is_field(const lr_fit *t, const rec_layout *layout, const char *type, const lr_node *node,
                     const lr_node *child)
{
    bool found = lr_layout_named(layout, child->name, child->length) != REC_UNKNOWN, transpose;
    for (uint64_t i = 0; i < layout->count && !found; i++) {
        found = lr_fit_field(t, type, node, layout->names[i], &transpose) == child;
    }
    return found;
}

/* Returns the first float tensor at or below a node that has no place, or NULL. */
static lr_piece *left_at(const lr_fit *t, const lr_node *node)
{
    lr_piece *piece = node->piece, *found = NULL;
    if (piece && lr_piece_is_tensor(piece) && !piece->taken && !piece->dead && !piece->kept &&
        lr_fit_adapts(t->f, piece) && !lr_dtype_is_int(lr_piece_dtype(piece)) &&
        !lr_dtype_is_bool(lr_piece_dtype(piece))) {
        return piece;
    }
    for (const lr_node *c = node->first; c && !found; c = c->next) {
        found = left_at(t, c);
    }
    return found;
}

int32_t lr_fit_note_foreign(lr_fit *t, const rec_layout *layout, const char *type, const lr_node *node)
{
    const lr_modules *modules = t->f->plan->context->modules;
    int own = -1;
    if (!modules || t->f->plan->quiet || t->f->plan->trial || !lr_torch_kind_find(layout->module)) {
        return REC_OK;
    }
    for (const lr_node *c = node->first; c && own; c = c->next) {
        lr_piece *piece = is_field(t, layout, type, node, c) ? NULL : left_at(t, c);
        lr_foreign *kept;
        own = piece && own < 0 ? modules->owns(t->f->job, layout) : own;
        if (!piece || own <= 0) {
            continue;
        }
        kept = lr_arena_alloc(&t->f->plan->arena, sizeof *kept, 8);
        if (!kept) {
            return lr_fail_memory(t->f->job, sizeof *kept);
        }
        *kept = (lr_foreign){NULL, piece, layout->module};
        *(t->foreign ? t->last_foreign : &t->foreign) = kept;
        t->last_foreign = &kept->next;
    }
    return t->f->job->error.status;
}

int32_t lr_fit_drop_foreign(lr_fit *t)
{
    int32_t status = REC_OK;
    for (const lr_foreign *at = t->f->plan->totals.fatal ? NULL : t->foreign; at && status == REC_OK; at = at->next) {
        status = at->piece->taken ? REC_OK : lr_fit_drop(t->f, at->piece, at->module, true);
    }
    return status;
}

int32_t lr_fit_report_left(lr_fitter *f, const char *where)
{
    rec_plan *plan = f->plan;
    uint64_t left = 0;
    char names[300] = "";
    size_t used = 0;
    bool strict = false, reverse = false;
    int32_t status = REC_OK;
    for (lr_piece *piece = plan->pieces; piece && status == REC_OK; piece = piece->next) {
        if (piece->taken || piece->dead || piece->kept || (piece->value && piece->value->kind == REC_KIND_NIL)) {
            continue;
        }
        for (uint64_t i = 0; i < piece->input_count && status == REC_OK; i++) {
            lr_key *key = lr_piece_inputs(piece)[i];
            bool renamed = key->length != piece->length || memcmp(key->text, piece->key, (size_t)key->length) != 0;
            const char *reason = renamed ? lr_plan_text(f->job, plan, "%s has no %.400s", where, piece->key)
                                         : lr_plan_text(f->job, f->plan, "not in %s", where);
            status = reason ? lr_plan_lost(f->job, plan, REC_PLAN_UNEXPECTED, key, reason) : f->job->error.status;
        }
        if (left++ < 3 && used < sizeof names) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%.80s", left > 1 ? ", " : "", piece->key);
        }
        strict = strict || plan->sources[piece->source].strict;
        reverse = reverse || (plan->sources[piece->source].reverse && !plan->sources[piece->source].partial);
    }
    if (left && status == REC_OK) {
        status = lr_plan_problem(f->job, plan, REC_PROBLEM_UNEXPECTED, strict || reverse, "",
                                 reverse  ? "The record's values would be lost. Which profile or rules made its names?"
                                 : strict ? "Drop them by rules, or do not ask for a strict load."
                                          : "",
                                 "%" PRIu64 " key%s not in %s, and left out: %.300s%s", left,
                                 left == 1 ? " is" : "s are", where, names, left > 3 ? ", …" : "");
    }
    return status;
}
