/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Builds a plan's tree without a type: module rules name the modules; without rules their shapes are recognised. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/names.h"
#include "remap/fit/fit_private.h"

typedef struct shaper {
    lr_fitter *f;
    bool conv1d;       /* some weight of a source is plainly stored [in, out] */
    unsigned open;     /* levels above the place where the base has nothing, and so room for anything */
    lr_doubts doubts;  /* modules that could be two things, by their paths without numbers */
    uint64_t taken[3]; /* Linear, norms, Embedding by their shapes */
    bool ruled;        /* a module rule names others */
    uint64_t unknown;  /* unchanged tensors without any evidence */
    bool strict;       /* for some of them */
    char names[300];
    size_t named;
    uint64_t mixed; /* lists of different modules */
    const char *first_mixed, *mixed_of[2];
} shaper;

static bool adapts(const shaper *s, const lr_piece *piece)
{
    return lr_fit_adapts(s->f, piece) && lr_piece_is_tensor(piece);
}

static bool is_leaf(const lr_node *node)
{
    return node->piece && !node->first;
}

/* A nil of the base, or an empty list or map, gives way to what is put below it. */
static bool gives_way(const lr_piece *piece)
{
    return piece->kept && piece->value && lr_fit_is_nothing(piece->value);
}

/* ------------------------------------------------------------------------------------------------- recognising -- */

static bool is_float(const lr_piece *piece)
{
    rec_dtype dtype = lr_piece_dtype(piece);
    return !lr_dtype_is_int(dtype) && !lr_dtype_is_bool(dtype);
}

/* Whether a name holds one of some words, however it is spelled. */
static bool speaks_of(const char *name, uint64_t length, const char *const *words)
{
    for (size_t w = 0; words[w]; w++) {
        size_t n = strlen(words[w]);
        for (uint64_t i = 0; i + n <= length; i++) {
            size_t k = 0;
            while (k < n && (name[i + k] | 0x20) == words[w][k]) {
                k++;
            }
            if (k == n) {
                return true;
            }
        }
    }
    return false;
}

static const char *const embedding_words[] = {"embed", "wte", "wpe", NULL};
static const char *const norm_words[] = {"norm", "ln_", "_ln", NULL};
static const char *const linear_words[] = {"proj",  "linear", "dense",      "query", "key",
                                           "value", "head",   "classifier", "fc",    NULL};

#define IDENTIFY(type) \
    "Identify it by a type, a profile, or a rule, module = PATTERN => " type ". The adapter none changes nothing."

/* Recognises a module by its tensors. @param by (out) "by its shape", "by its name". @param doubtful (out) why it is
 * ambiguous, or NULL. @return the type, or NULL. */
static const char *recognise(const shaper *s, const lr_node *node, const char **by, const char **doubtful,
                             const char **hint)
{
    const lr_piece *w = lr_fit_tensor_of(node, "weight"), *b = lr_fit_tensor_of(node, "bias");
    const uint64_t *shape;
    uint64_t bias;
    *by = "by its shape";
    *doubtful = NULL;
    if (!w && lr_fit_tensor_of(node, "running_mean") && lr_fit_tensor_of(node, "running_var")) {
        return "BatchNorm"; /* without weights, which Burn's always has */
    }
    if (!w || !is_float(w) || (b && !is_float(b))) {
        return NULL;
    }
    shape = lr_piece_shape(w);
    bias = b && lr_piece_rank(b) == 1 ? lr_piece_shape(b)[0] : REC_UNKNOWN;
    if (lr_piece_rank(w) == 1) {
        if (lr_fit_tensor_of(node, "running_mean") && lr_fit_tensor_of(node, "running_var")) {
            return "BatchNorm";
        }
        if (bias == shape[0]) {
            return "LayerNorm"; /* or a GroupNorm: the same fields */
        }
        if (!b && speaks_of(node->name, node->length, norm_words)) {
            *by = "by its name";
            return "RmsNorm";
        }
        if (!b) {
            *doubtful =
                "a weight of rank 1 without a bias may be an RmsNorm (gamma), a PRelu (alpha) or a plain parameter";
            *hint = IDENTIFY("RmsNorm");
        }
        return NULL;
    }
    if (lr_piece_rank(w) != 2) {
        return NULL; /* convolutions are the same on both sides */
    }
    if (w->linear) {
        *by = "by its module";
        return "Linear";
    }
    if (lr_piece_turned(s->f->plan, w) != REC_TRANSPOSED_UNKNOWN) {
        *by = "by its file";
        return lr_piece_turned(s->f->plan, w) == REC_TRANSPOSED_YES ? "Linear" : "Conv1D";
    }
    if (b) {
        if (bias == shape[0] && bias == shape[1] && s->conv1d) {
            *doubtful =
                "a square weight may be a Linear (transposed) or a Conv1D like others in this file (not transposed)";
            *hint = IDENTIFY("Conv1D");
            return NULL;
        }
        return bias == shape[0] ? "Linear" : bias == shape[1] ? "Conv1D" : NULL;
    }
    *by = "by its name";
    if (speaks_of(node->name, node->length, embedding_words)) {
        return "Embedding";
    }
    if (speaks_of(node->name, node->length, linear_words)) {
        return "Linear";
    }
    *doubtful = "a weight of rank 2 without a bias may be a Linear (transposed) or an Embedding (not transposed)";
    *hint = IDENTIFY("Linear");
    return NULL;
}

/* Remembers a doubt about the module where the walk is. */
static int32_t doubt_it(shaper *s, const char *text, const char *hint)
{
    rec_plan *plan = s->f->plan;
    const char *path = lr_fit_here(s->f);
    char *pattern = lr_arena_alloc(&plan->arena, s->f->path.used + 1, 1);
    size_t used = 0;
    if (!pattern) {
        return lr_fail_memory(s->f->job, s->f->path.used);
    }
    for (size_t i = 0; i < s->f->path.used; i++) {
        bool digit = lr_is_digit(path[i]);
        if (!digit || used == 0 || pattern[used - 1] != '#') {
            pattern[used++] = digit ? '#' : path[i];
        }
    }
    pattern[used] = '\0';
    return lr_fit_doubt(s->f, &s->doubts, pattern, text, hint);
}

/* Whether a weight may be stored as others of the source plainly are: [in, out]. */
static bool may_be_conv1d(const shaper *s, const lr_piece *w)
{
    return s->conv1d && w && !w->linear && lr_piece_rank(w) == 2 && lr_piece_shape(w)[0] == lr_piece_shape(w)[1];
}

/* The type that the adapter goes by for the module at `node`; the job may have failed. @param why (out) for the lines.
 */
static const char *module_type(shaper *s, const lr_node *node, const char **why)
{
    const lr_piece *piece = NULL, *w;
    lr_plan_source *source;
    const char *type, *by, *doubtful, *path, *hint = "";
    uint64_t length;
    *why = "";
    for (const lr_node *child = node->first; child && !piece; child = child->next) {
        piece = is_leaf(child) && adapts(s, child->piece) ? child->piece : NULL;
    }
    if (!piece) {
        return NULL;
    }
    source = &s->f->plan->sources[piece->source];
    path = lr_place_rule_path(s->f, source, &length);
    type = lr_module_rule(s->f->job, source, s->f->matcher, path, length);
    if (type || lr_job_failed(s->f->job)) {
        s->ruled = true;
        *why = type;
        return type;
    }
    /* Where it is tried which layout a source has, the shapes must show it. */
    w = lr_fit_tensor_of(node, "weight");
    type = s->f->plan->base ? lr_fit_base_module(node, !(s->f->plan->trial && source->doubted), &by) : NULL;
    if (!type || (strcmp(type, "Linear") == 0 && may_be_conv1d(s, w))) {
        type = recognise(s, node, &by, &doubtful, &hint);
        if (doubtful) {
            (void)doubt_it(s, doubtful, hint);
        }
        if (type && strcmp(type, "Conv1D") == 0) {
            (void)lr_fit_sign_linear(s->f, node, lr_piece_shape(w), lr_piece_shape(lr_fit_tensor_of(node, "bias"))[0]);
        }
        if (type && (!w || !w->linear)) { /* the module around does not show it */
            s->taken[strcmp(type, "Linear") == 0                                     ? 0
                     : strcmp(type, "Embedding") == 0 || strcmp(type, "Conv1D") == 0 ? 2
                                                                                     : 1]++;
        }
    }
    *why = type ? lr_plan_text(s->f->job, s->f->plan, "%s, %s", type, by) : "";
    return type;
}

/* ---------------------------------------------------------------------------------------------------- building -- */

static int32_t build(shaper *s, lr_node *node, bool root, rec_value *out);

/* Whether a tensor is of a module with a weight: a convolution's, the same on both sides, or one that is doubted. */
static bool has_weight(const lr_node *node, const lr_node *leaf)
{
    const lr_piece *w = lr_text_is(leaf->name, leaf->length, "weight") || lr_text_is(leaf->name, leaf->length, "bias")
                            ? lr_fit_tensor_of(node, "weight")
                            : NULL;
    return w && is_float(w) && lr_piece_rank(w) > 0;
}

/* Remembers a tensor that is in no module that is known. */
static void note_unknown(shaper *s, const lr_node *node, const lr_node *leaf)
{
    const lr_piece *piece = leaf->piece;
    const lr_plan_source *source = &s->f->plan->sources[piece->source];
    if (!adapts(s, piece) || *piece->why || source->rules->name || s->f->plan->base || has_weight(node, leaf)) {
        return;
    }
    s->strict = s->strict || source->strict;
    if (s->unknown++ < 3 && s->named < sizeof s->names) {
        s->named += (size_t)snprintf(s->names + s->named, sizeof s->names - s->named, "%s%.80s", s->named ? ", " : "",
                                     piece->key);
    }
}

/* A tensor or value of the module `type`, into its map. */
static int32_t put_leaf(shaper *s, const lr_node *node, lr_node *leaf, const char *type, const char *why, lr_map *map)
{
    rec_plan *plan = s->f->plan;
    lr_piece *piece = leaf->piece;
    const char *name = leaf->name, *burn = NULL;
    const lr_node *place;
    uint64_t length = leaf->length;
    int change = type && adapts(s, piece) ? lr_adapt_field(type, name, length, &burn) : LR_ADAPT_NONE;
    rec_value value;
    size_t before;
    int32_t status = REC_OK;
    if (change == LR_ADAPT_DROP || change == LR_ADAPT_LACKS) {
        return lr_fit_drop(s->f, piece, type, change == LR_ADAPT_LACKS);
    }
    if (change == LR_ADAPT_RENAME) {
        const lr_node *other = lr_node_child(node, burn, strlen(burn));
        if (other && other->piece && !other->piece->kept) {
            piece->taken = true;
            return lr_plan_problem(s->f->job, plan, REC_PROBLEM_COLLISION, true, other->piece->key, "Drop one of them.",
                                   "2 sources for %.300s: %.200s, which the adapter renames, and %.200s",
                                   other->piece->key, piece->key, other->piece->key);
        }
        name = burn;
        length = strlen(burn);
    }
    place = !s->f->plan->base                            ? NULL
            : leaf->parent == node && name == leaf->name ? leaf
                                                         : lr_node_child(node, name, length);
    if (s->f->plan->base && !s->open && !piece->kept && !(place && place->in_base)) {
        return REC_OK; /* reported among what is left out */
    }
    if (!type) {
        note_unknown(s, node, leaf);
    }
    if (!lr_place_enter(s->f->job, &s->f->path, name, length, &before)) {
        return s->f->job->error.status;
    }
    status = lr_fit_put(s->f, piece, change == LR_ADAPT_TRANSPOSE, 0, false, why, &value);
    lr_place_leave(&s->f->path, before);
    return status == REC_OK ? lr_fit_append(s->f, map, name, length, &value) : status;
}

/* Keys below a tensor's own key cannot be below it in a tree: they become siblings with dotted names. */
static int32_t put_beside(shaper *s, const lr_node *node, const lr_node *below, lr_map *map)
{
    int32_t status = REC_OK;
    for (lr_node *child = below->first; child && status == REC_OK; child = child->next) {
        if (child->piece) {
            const char *rest = child->piece->key + node->offset;
            uint64_t length = child->piece->length - node->offset;
            lr_node leaf = {.name = rest, .length = (uint32_t)length, .piece = child->piece};
            if (memchr(rest, '\\', (size_t)length)) {
                char *name = lr_arena_alloc(&s->f->plan->arena, length, 1);
                if (!name) {
                    return lr_fail_memory(s->f->job, length);
                }
                leaf.length = (uint32_t)lr_path_name(rest, length, name);
                leaf.name = name;
            }
            status = put_leaf(s, node, &leaf, NULL, "", map);
        }
        if (status == REC_OK) {
            status = put_beside(s, node, child, map);
        }
    }
    return status;
}

/* Whether the children of a node are a list's, and in which order. @param list (out) to be released; NULL: a map. */
static int32_t as_list(shaper *s, const lr_node *node, lr_node ***list)
{
    const lr_piece *piece = lr_node_piece(node);
    const lr_plan_source *source = piece && !piece->kept ? &s->f->plan->sources[piece->source] : NULL;
    bool close = source && source->close_gaps && !s->f->plan->backward, dense = true, ok;
    char plain[24];
    *list = NULL;
    if (node->piece || node->child_count == 0 || node->index_count != node->child_count) {
        return REC_OK;
    }
    for (const lr_node *child = node->first; child; child = child->next) {
        int length = snprintf(plain, sizeof plain, "%" PRIu64, child->index);
        dense = dense && child->index < node->child_count && (uint64_t)length == child->length;
        if (child->piece && child->first && !gives_way(child->piece)) {
            return REC_OK; /* a name with dots will be among them */
        }
    }
    if (!dense && !close) {
        return REC_OK;
    }
    *list =
        lr_fit_in_order(s->f, node, "Let a rule give one of them another number, or keep the keys (gaps = keep).", &ok);
    if (!ok) {
        lr_release(s->f->job->allocator, *list);
        *list = NULL;
    }
    return s->f->job->error.status;
}

/* Finds two modules of a list that are not of one kind. */
static bool are_mixed(const lr_modules *modules, const lr_list *items, const char *names[2])
{
    names[0] = names[1] = NULL;
    for (uint64_t i = 0; modules && i < items->count; i++) {
        const rec_value *item = &items->items[i];
        const char *name = item->kind == REC_KIND_MAP ? modules->name((uint16_t)item->bits) : NULL;
        const char *other = item->kind == REC_KIND_LIST           ? "a list"
                            : item->kind == REC_KIND_MAP && !name ? "a module of the model's own"
                                                                  : NULL;
        names[0] = names[0] ? names[0] : name;
        names[1] = names[1] ? names[1] : other ? other : name && strcmp(name, names[0]) != 0 ? name : NULL;
    }
    return names[0] && names[1];
}

/* Notes a list whose modules are not of one kind: formats of paths do not take a list for a struct. */
static int32_t note_mixed(shaper *s, const lr_node *first, const lr_list *items)
{
    const rec_plan *plan = s->f->plan;
    const lr_piece *piece = lr_node_piece(first);
    const lr_plan_source *source = piece ? &plan->sources[piece->source] : NULL;
    const char *names[2];
    if (!source || !plan->paths || plan->foreign || plan->backward || plan->base || plan->trial ||
        source->adapter != LR_ADAPTER_PYTORCH || source->gaps_given || source->partial ||
        !are_mixed(plan->context->modules, items, names)) {
        return REC_OK;
    }
    if (s->mixed++ == 0) {
        s->mixed_of[0] = names[0];
        s->mixed_of[1] = names[1];
        s->first_mixed = lr_plan_keep(s->f->job, s->f->plan, lr_fit_here(s->f), s->f->path.used);
    }
    return s->f->job->error.status;
}

static int32_t build_list(shaper *s, lr_node *const *children, uint64_t count, const char *why, rec_value *out)
{
    lr_arena *arena = &s->f->record->arena;
    lr_list *items = lr_list_new(arena, count);
    uint64_t known = 0;
    int32_t status = REC_OK;
    for (uint64_t i = 0; items && i < count && status == REC_OK; i++) {
        rec_value *item = lr_list_append(arena, items);
        char text[24];
        int n = snprintf(text, sizeof text, "%" PRIu64, i);
        size_t before;
        if (!item || !lr_place_enter(s->f->job, &s->f->path, text, (uint64_t)n, &before)) {
            return item ? s->f->job->error.status : lr_fail_memory(s->f->job, sizeof *item);
        }
        s->f->moved += children[i]->index != i;
        known += children[i]->in_base;
        status = is_leaf(children[i]) ? lr_fit_put(s->f, children[i]->piece, false, 0, false, why, item)
                                      : build(s, children[i], false, item);
        s->f->moved -= children[i]->index != i;
        lr_place_leave(&s->f->path, before);
    }
    if (!items) {
        return lr_fail_memory(s->f->job, count);
    }
    *out = (rec_value){.kind = REC_KIND_LIST, .form = REC_FORM_UNKNOWN, .v.list = items};
    status = status == REC_OK && count ? note_mixed(s, children[0], items) : status;
    return status == REC_OK && !s->open ? lr_fit_list_against_base(s->f, count, known) : status;
}

/* The tensor that came for the place of one of the base's, under the name that the adapter renames. NULL: none. */
static lr_node *instead_of(const shaper *s, const lr_node *node, const lr_node *kept, const char *type)
{
    const char *torch;
    lr_node *other;
    if (!type || !kept->piece || !kept->piece->kept || kept->first ||
        lr_adapt_back(type, kept->name, kept->length, &torch) != LR_ADAPT_RENAME) {
        return NULL;
    }
    other = lr_node_child(node, torch, strlen(torch));
    return other && other != kept && is_leaf(other) && adapts(s, other->piece) ? other : NULL;
}

/* A child of a map that is no tensor and no value. */
static int32_t build_child(shaper *s, lr_node *child, lr_map *map)
{
    bool open = child->base && child->first && lr_fit_is_nothing(child->base->value);
    rec_value value;
    size_t before;
    int32_t status;
    if (s->f->plan->base && !s->open && !child->in_base && !child->piece) {
        return REC_OK; /* the base has no place for it and all below */
    }
    if (!lr_place_enter(s->f->job, &s->f->path, child->name, child->length, &before)) {
        return s->f->job->error.status;
    }
    s->open += open;
    status = build(s, child, false, &value);
    s->open -= open;
    lr_place_leave(&s->f->path, before);
    return status == REC_OK ? lr_fit_append(s->f, map, child->name, child->length, &value) : status;
}

static int32_t build_map(shaper *s, lr_node *node, const char *type, const char *why, rec_value *out)
{
    lr_map *map = lr_map_new(&s->f->record->arena, node->child_count);
    lr_entry *twice;
    int32_t status = REC_OK;
    for (lr_node *child = node->first; map && child && status == REC_OK; child = child->next) {
        lr_node *other = instead_of(s, node, child, type);
        if (other) {
            child->piece->taken = true;
            status = put_leaf(s, node, other, type, why, map);
        } else if (child->piece && child->piece->taken && is_leaf(child)) {
            continue; /* it went to the place of the base's */
        } else if (child->piece && !(child->first && gives_way(child->piece))) {
            status = put_leaf(s, node, child, type, why, map);
            if (status == REC_OK && child->first) {
                status = put_beside(s, child, child, map);
            }
        } else {
            status = build_child(s, child, map);
        }
    }
    if (!map || (status == REC_OK && !lr_map_index(&s->f->record->arena, map, &twice))) {
        return lr_fail_memory(s->f->job, node->child_count);
    }
    if (status == REC_OK && twice) {
        const char *path = lr_fit_here(s->f);
        status = lr_plan_problem(s->f->job, s->f->plan, REC_PROBLEM_COLLISION, true, path, "Drop one of them.",
                                 "2 sources for %.200s%s%.100s, once the adapter has renamed one", path,
                                 *path ? "." : "", twice->key.v.text);
    }
    *out = (rec_value){.kind = REC_KIND_MAP, .form = REC_FORM_UNKNOWN, .v.map = map};
    return status;
}

static int32_t build(shaper *s, lr_node *node, bool root, rec_value *out)
{
    const char *why, *type = module_type(s, node, &why);
    lr_node **list = NULL;
    int32_t status = s->f->job->error.status;
    *out = lr_nil(REC_FORM_UNKNOWN);
    if (status == REC_OK && type) {
        status = lr_fit_sign_names(s->f, node, type, true);
    }
    if (status == REC_OK && !root) {
        status = as_list(s, node, &list);
    }
    if (status == REC_OK) {
        status = list ? build_list(s, list, node->child_count, why, out) : build_map(s, node, type, why, out);
    }
    if (status == REC_OK && !type) {
        const char *here = lr_fit_here(s->f);
        const lr_memory_entry *shown = lr_memory_find(&s->f->plan->modules, here, strlen(here));
        type = shown ? shown->value : NULL;
    }
    if (status == REC_OK && !list && !s->f->plan->foreign && !s->f->plan->backward) {
        char name[64];
        size_t n = root ? 0 : strnlen(node->name, node->length < 60 ? (size_t)node->length : 60);
        memcpy(name, node->name, n);
        name[n] = '\0';
        status = lr_fit_module_built(s->f, node, type, name, out);
    }
    lr_release(s->f->job->allocator, list);
    return status;
}

/* Moves all that is below a value into a flat map, under dotted paths. */
static int32_t flatten(shaper *s, const rec_value *value, lr_map *map)
{
    bool list = value->kind == REC_KIND_LIST;
    uint64_t count = list ? value->v.list->count : value->kind == REC_KIND_MAP ? value->v.map->count : 0;
    int32_t status = REC_OK;
    if (count == 0) {
        return s->f->path.levels ? lr_fit_append(s->f, map, s->f->path.text, s->f->path.used, value) : REC_OK;
    }
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        const lr_entry *entry = list ? NULL : &value->v.map->entries[i];
        char index[24];
        int n = snprintf(index, sizeof index, "%" PRIu64, i);
        size_t before;
        if (!lr_place_enter(s->f->job, &s->f->path, entry ? entry->key.v.text : index,
                            entry ? entry->key.length : (uint64_t)n, &before)) {
            return s->f->job->error.status;
        }
        status = flatten(s, entry ? &entry->value : &value->v.list->items[i], map);
        lr_place_leave(&s->f->path, before);
    }
    return status;
}

/* A file of another framework that came from such files, or goes back to one, is a flat map: nothing of Burn's is in
 * it. */
static int32_t make_flat(shaper *s)
{
    lr_fitter *f = s->f;
    lr_map *map = lr_map_new(&f->record->arena, f->plan->piece_count);
    lr_entry *twice;
    int32_t status;
    if (!map) {
        return lr_fail_memory(s->f->job, sizeof *map);
    }
    status = flatten(s, &f->record->root, map);
    if (status == REC_OK && !lr_map_index(&f->record->arena, map, &twice)) {
        return lr_fail_memory(s->f->job, map->count);
    }
    f->record->root.v.map = map;
    f->record->flat = true;
    return status;
}

static int32_t report_unknown(shaper *s)
{
    return s->unknown == 0 || (!s->strict && !s->f->plan->advises)
               ? REC_OK
               : lr_plan_problem(s->f->job, s->f->plan, REC_PROBLEM_AMBIGUOUS, s->strict, "",
                                 s->strict ? "Set: module = PATTERN => Param keeps a tensor unchanged." : "",
                                 "%" PRIu64 " tensor%s not recognised: %s%s", s->unknown, s->unknown == 1 ? "" : "s",
                                 s->names, s->unknown > 3 ? ", …" : "");
}

/* A model whose fields are numbers: nn.Sequential itself. No struct of Rust has such fields. Where neither the format
 * nor a version says that it is for Burn to load, the record may be on its way to names, and it is a note. */
static int32_t report_numbered(shaper *s)
{
    const lr_node *root = s->f->plan->root;
    const lr_piece *piece = lr_node_piece(root);
    const lr_plan_source *source = piece ? &s->f->plan->sources[piece->source] : NULL;
    if (!source || !root->child_count || root->index_count != root->child_count || s->f->plan->foreign ||
        s->f->plan->backward || s->f->plan->base || source->adapter != LR_ADAPTER_PYTORCH || source->partial) {
        return REC_OK;
    }
    return lr_plan_problem(
        s->f->job, s->f->plan, REC_PROBLEM_KIND, s->f->plan->paths || s->f->plan->minor > 0, "",
        "Put them into a list of the model, `prefix = layers`, or give each a name: rename = "
        "^0\\. => first.",
        "the model's own fields are numbers (%.*s, …), as those of nn.Sequential: no struct has such "
        "fields",
        (int)(root->first->length < 64 ? root->first->length : 64), root->first->name);
}

static int32_t report_mixed(shaper *s)
{
    char more[64] = "";
    if (s->mixed > 1) {
        (void)snprintf(more, sizeof more, " and %" PRIu64 " more", s->mixed - 1);
    }
    return !s->mixed ? REC_OK
                     : lr_plan_problem(s->f->job, s->f->plan, REC_PROBLEM_KIND, true, s->first_mixed,
                                       "Give the type, or give each module its field's name by a rename. If it is a "
                                       "tuple in the model: gaps = close.",
                                       "%.300s%s: a list of different modules (%s, %s), as nn.Sequential is: in Burn "
                                       "it may be a struct, a tuple or a Vec of an enum",
                                       s->first_mixed, more, s->mixed_of[0], s->mixed_of[1]);
}

int32_t lr_plan_untyped(lr_fitter *f)
{
    shaper s = {.f = f};
    bool flat = f->plan->foreign, plain = true;
    int32_t status;
    s.conv1d = lr_fit_has_conv1d(f->plan);
    status = build(&s, f->plan->root, true, &f->record->root);
    if (status == REC_OK) {
        status = lr_fit_report_doubts(f, &s.doubts, REC_PROBLEM_AMBIGUOUS, "like it", "may be one thing or another");
    }
    status = status == REC_OK ? report_numbered(&s) : status;
    status = status == REC_OK ? report_mixed(&s) : status;
    status = status == REC_OK ? report_unknown(&s) : status;
    status = status == REC_OK && f->plan->base ? lr_fit_report_left(f, "the base") : status;
    for (uint64_t i = 0; i < f->plan->source_count; i++) {
        const lr_plan_source *source = &f->plan->sources[i];
        bool foreign = source->reverse || source->record->root.form == REC_FORM_PATHS;
        flat = flat && foreign;
        plain = plain && foreign &&
                (source->reverse || (source->adapter == LR_ADAPTER_NONE && !source->close_gaps &&
                                     !(source->foreign && source->rules->count)));
    }
    status = status == REC_OK && flat ? make_flat(&s) : status;
    /* Nothing of Burn's is in it: its names are still the paths of a foreign file. */
    f->record->root.form = flat || plain ? REC_FORM_PATHS : REC_FORM_UNKNOWN;
    if (status == REC_OK && (s.taken[0] || s.taken[1] || s.taken[2])) {
        f->plan->guessed = lr_plan_text(
            f->job, f->plan,
            "no type and no module rule names %s modules; recognised by name and shape: Linear (transposed) %" PRIu64
            ", norms (renamed) %" PRIu64 ", embeddings and the like (unchanged) %" PRIu64,
            s.ruled ? "some" : "the", s.taken[0], s.taken[1], s.taken[2]);
        status = f->plan->guessed ? REC_OK : f->job->error.status;
    }
    return status;
}
