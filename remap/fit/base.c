/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Compares the placed tensors with the base model: modules, shapes, kinds of elements. */
#include <inttypes.h>

#include "remap/fit/fit_private.h"

/* ----------------------------------------------------------------------------------------------------- modules -- */

const char *lr_fit_base_module(const lr_node *node, bool by_shape, const char **why)
{
    const lr_node *weight = lr_node_child(node, "weight", 6);
    const lr_piece *base = weight ? weight->base : NULL;
    const rec_tensor *kept = base && base->input_count ? rec_value_tensor(lr_piece_inputs(base)[0]->value) : NULL;
    const lr_piece *piece = weight && !weight->first ? weight->piece : NULL;
    bool comes = piece && !piece->kept && lr_piece_is_tensor(piece);
    const char *module = NULL;
    for (const lr_node *child = node->first; child && !module; child = child->next) {
        module = child->base && child->base->input_count ? lr_piece_inputs(child->base)[0]->module : NULL;
    }
    module = module && lr_adapt_known(module) ? module : NULL;
    *why = "as in the base";
    if (by_shape && kept && comes && kept->rank == 2 && lr_piece_rank(piece) == 2 && kept->shape[0] != kept->shape[1] &&
        (!module || strcmp(module, "Linear") == 0)) {
        const uint64_t *shape = lr_piece_shape(piece);
        if (shape[0] == kept->shape[1] && shape[1] == kept->shape[0]) {
            *why = module ? *why : "by the base's shape";
            return "Linear";
        }
        if (shape[0] == kept->shape[0] && shape[1] == kept->shape[1]) {
            *why = "by the base's shape";
            return module ? "Conv1D" : "Param";
        }
    }
    return module;
}

bool lr_fit_is_nothing(const rec_value *value)
{
    return value->kind == REC_KIND_NIL || (value->kind == REC_KIND_LIST && value->v.list->count == 0) ||
           (value->kind == REC_KIND_MAP && value->v.map->count == 0);
}

/* ------------------------------------------------------------------------------------------------------ shapes -- */

/* A rule that drops the module of a piece: "fc2." of "fc2.weight". */
static const char *drop_option(const lr_fitter *f, const lr_piece *piece)
{
    const char *key = piece->input_count ? lr_piece_inputs(piece)[0]->text : piece->key,
               *last = lr_path_last(key, strlen(key));
    char pattern[400];
    (void)lr_regex_quote(key, last > key ? (size_t)(last - key) : strlen(key), pattern, sizeof pattern);
    return lr_plan_text(f->job, f->plan, "Drop it to keep the base's: drop = ^%s%s", pattern, last > key ? "" : "$");
}

/* The axis that alone differs; the rank: none, or more than one. */
static uint32_t other_axis(const rec_tensor *a, const rec_tensor *b)
{
    uint32_t axis = a->rank;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->shape[i] != b->shape[i]) {
            if (axis != a->rank) {
                return a->rank;
            }
            axis = i;
        }
    }
    return axis;
}

/* The likely cause of another shape, and what to do about it. */
static const char *cause(const lr_fitter *f, const lr_piece *piece, const char *why, const rec_tensor *tensor,
                         const rec_tensor *kept, const char **hint)
{
    bool adapted = f->plan->sources[piece->source].adapter == LR_ADAPTER_PYTORCH;
    uint32_t axis = tensor->rank == kept->rank ? other_axis(tensor, kept) : tensor->rank;
    *hint = drop_option(f, piece);
    if (tensor->rank == 2 && kept->rank == 2 && tensor->shape[0] == kept->shape[1] &&
        tensor->shape[1] == kept->shape[0]) {
        bool linear = strncmp(why, "Linear", 6) == 0;
        *hint = !adapted ? "The adapter pytorch transposes the weights of Linear."
                : linear ? "Keep it as in the file: module = PATTERN => Conv1D."
                         : "Transpose it: module = PATTERN => Linear.";
        return linear ? "it was transposed, and the file has it as Burn does" : "it is transposed";
    }
    if (tensor->rank != kept->rank) {
        if (tensor->count == kept->count) {
            *hint = "A rule changes it: squeeze = PATTERN, or reshape = PATTERN | [SIZES].";
            return "as many elements in another shape";
        }
        return "another module";
    }
    if (axis < tensor->rank && tensor->rank == 2) {
        return axis == 0 ? "another size of vocabulary, number of positions or of inputs"
                         : "another number of outputs, such as classes";
    }
    return tensor->rank < 2 ? "a module of another size" : "a model of another size";
}

int32_t lr_fit_against_base(lr_fitter *f, const lr_piece *piece, const char *why, const rec_tensor *tensor)
{
    rec_plan *plan = f->plan;
    const char *path = lr_fit_here(f), *hint, *likely;
    const lr_key *key;
    const rec_tensor *kept;
    char shapes[2][160];
    if (!plan->base || piece->kept) {
        return REC_OK;
    }
    key = lr_plan_find_key(f->job, &plan->sources[plan->base_source], path, f->path.used);
    kept = key ? rec_value_tensor(key->value) : NULL;
    if (!kept) {
        return f->job->error.status;
    }
    if (lr_elements_of(tensor->stored) != lr_elements_of(kept->stored)) {
        hint = drop_option(f, piece);
        return !hint ? f->job->error.status
                     : LR_FIT_PROBLEM(f, REC_PROBLEM_KIND, true, hint, "%.300s has %s, but the base's has %s", path,
                                      lr_elements_words(lr_elements_of(tensor->stored)),
                                      lr_elements_words(lr_elements_of(kept->stored)));
    }
    if (tensor->rank == kept->rank &&
        (tensor->rank == 0 || memcmp(tensor->shape, kept->shape, tensor->rank * sizeof *tensor->shape) == 0)) {
        return REC_OK;
    }
    likely = cause(f, piece, why, tensor, kept, &hint);
    return !hint ? f->job->error.status
                 : LR_FIT_PROBLEM(f, REC_PROBLEM_SHAPE, true, hint, "%.300s is %s, but the base's is %s: %s", path,
                                  lr_shape_words(shapes[0], sizeof shapes[0], tensor->shape, tensor->rank),
                                  lr_shape_words(shapes[1], sizeof shapes[1], kept->shape, kept->rank), likely);
}

int32_t lr_fit_list_against_base(lr_fitter *f, uint64_t count, uint64_t known)
{
    const char *path = lr_fit_here(f);
    return !f->plan->base || known >= count
               ? REC_OK
               : LR_FIT_PROBLEM(f, REC_PROBLEM_SHAPE, true,
                                "Is the base a model of another size? Drop what it lacks, or make a base as large.",
                                "%.300s has %" PRIu64 " elements, but the base's has %" PRIu64, path, count, known);
}
