/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Marks modules as Burn's, so that they are written in Burn's layout, and checks that their tensors are consistent.
 * Knowledge about modules comes through the context, since the rooms types and remap are independent. */
#include <inttypes.h>
#include <stdio.h>

#include "remap/fit/fit_private.h"

/* Each is compared with those before it. */
enum { DOUBTS_MOST = 256 };

typedef struct lr_doubt {
    struct lr_doubt *next;
    const char *key, *path, *text, *hint; /* `path` of the first module */
    uint64_t count;
} doubt;

int32_t lr_fit_doubt(lr_fitter *f, lr_doubts *doubts, const char *key, const char *text, const char *hint)
{
    doubt *d = doubts->last;
    while (d && strcmp(d->key, key) != 0) {
        d = d->next;
    }
    if (d) {
        d->count++;
    } else if (doubts->count == DOUBTS_MOST) {
        doubts->more++;
    } else if ((d = lr_job_arena_alloc(f->job, &f->plan->arena, sizeof *d, 8))) {
        *d = (doubt){.next = doubts->last, .hint = hint, .count = 1};
        d->key = lr_plan_keep(f->job, f->plan, key, strlen(key));
        d->text = text ? text : d->key;
        d->path = lr_plan_keep(f->job, f->plan, lr_fit_here(f), f->path.used);
        doubts->last = d;
        doubts->count++;
    }
    return f->job->error.status;
}

int32_t lr_fit_report_doubts(lr_fitter *f, const lr_doubts *doubts, int32_t kind, const char *more, const char *others)
{
    int32_t status = REC_OK;
    for (const doubt *d = doubts->last; d && status == REC_OK; d = d->next) {
        char count[64] = "";
        if (d->count > 1) {
            (void)snprintf(count, sizeof count, " and %" PRIu64 " %s", d->count - 1, more);
        }
        status = lr_plan_problem(f->job, f->plan, kind, true, d->path, d->hint, "%.300s%s%s%s", d->path, count,
                                 *d->path ? ": " : "", d->text);
    }
    return status != REC_OK || !doubts->more ? status
                                             : lr_plan_problem(f->job, f->plan, kind, true, "", "",
                                                               "%" PRIu64 " more modules %s", doubts->more, others);
}

/* What the adapter's word is in Burn: a Conv1D is a Linear that needed no transposition. NULL: no module. */
static const char *burns_word(const char *type)
{
    return !type || strcmp(type, "Param") == 0 ? NULL : strcmp(type, "Conv1D") == 0 ? "Linear" : type;
}

/* The likely cause, and what to do about it. */
static const char *cause(const lr_module_clash *clash, bool transposed, const char **hint)
{
    const rec_tensor *weight = clash->tensor[0], *bias = clash->tensor[1];
    bool linear = strcmp(clash->module, "Linear") == 0 && weight->rank == 2 && bias->rank == 1;
    *hint = "Is the file damaged, or the module another one? The adapter none changes nothing.";
    if (linear && bias->shape[0] == weight->shape[0]) {
        *hint = transposed ? "Set: module = PATTERN => Conv1D." : "Set: module = PATTERN => Linear.";
        return transposed ? "a Conv1D, which is not transposed" : "a Linear of PyTorch's, which was not transposed";
    }
    return linear ? "neither a Linear nor a Conv1D has these" : NULL;
}

static int32_t report_clash(lr_fitter *f, const lr_module_clash *clash, bool transposed, bool fatal)
{
    const char *path = lr_fit_here(f), *hint, *why = cause(clash, transposed, &hint);
    char shapes[2][160], what[900], own[160], rule[500], named[600];
    uint64_t turned[2];
    for (int i = 0; i < 2; i++) {
        const rec_tensor *tensor = clash->tensor[i];
        const uint64_t *shape = tensor->shape;
        if (transposed && tensor->rank == 2) { /* in the file's layout */
            turned[0] = shape[1];
            turned[1] = shape[0];
            shape = turned;
        }
        (void)lr_shape_words(shapes[i], sizeof shapes[i], shape, tensor->rank);
    }
    (void)snprintf(what, sizeof what, "%.300s%s%.128s %s with %.128s %s", path, *path ? ": " : "", clash->path[0],
                   shapes[0], clash->path[1], shapes[1]);
    if (f->plan->trial) {
        return lr_plan_sign(f->job, f->plan, LR_SIGN_CLASH, path, "%s", what);
    }
    if (why && f->plan->type.layout && lr_suggest_module(path, transposed ? "Conv1D" : "Linear", rule, sizeof rule) &&
        hint[0] == 'S') {
        (void)snprintf(named, sizeof named, "Set: %s", rule);
        hint = named;
    }
    (void)snprintf(own, sizeof own, "they do not go together in a %.64s", clash->module);
    if (!fatal) {
        if (f->clashes++ == 0) {
            f->first_clash = lr_plan_text(f->job, f->plan, "%s: %s", what, why ? why : own);
        }
        return f->first_clash ? REC_OK : f->job->error.status;
    }
    return LR_FIT_PROBLEM(f, REC_PROBLEM_SHAPE, fatal, hint, "%s: %s", what, why ? why : own);
}

int32_t lr_fit_report_clashes(lr_fitter *f)
{
    char more[64] = "";
    if (!f->clashes) {
        return REC_OK;
    }
    if (f->clashes > 1) {
        (void)snprintf(more, sizeof more, " (and %" PRIu64 " more)", f->clashes - 1);
    }
    return lr_plan_problem(f->job, f->plan, REC_PROBLEM_SHAPE, false, "", "", "%s%s", f->first_clash, more);
}

bool lr_fit_is_partial(const rec_plan *plan)
{
    for (uint64_t i = 0; i < plan->source_count; i++) {
        if (plan->sources[i].partial) {
            return true;
        }
    }
    return false;
}

int32_t lr_fit_drop(lr_fitter *f, lr_piece *piece, const char *type, bool needed)
{
    const char *reason = lr_plan_text(f->job, f->plan, "%s has no such field", type);
    bool fatal = needed && !f->plan->sources[piece->source].partial;
    int32_t status = reason ? REC_OK : f->job->error.status;
    piece->taken = true;
    for (uint64_t i = 0; i < piece->input_count && status == REC_OK; i++) {
        status = lr_plan_lost(f->job, f->plan, needed ? REC_PLAN_UNEXPECTED : REC_PLAN_DROPPED,
                              lr_piece_inputs(piece)[i], reason);
    }
    if (fatal && f->lacking++ == 0) {
        f->first_lacking = piece;
        f->lacking_module = type;
    }
    return status;
}

int32_t lr_fit_report_lacking(lr_fitter *f)
{
    const char *key = f->lacking ? f->first_lacking->key : "", *last = lr_path_last(key, strlen(key));
    char more[64] = "", pattern[500], hint[1100];
    if (!f->lacking) {
        return REC_OK;
    }
    if (f->lacking > 1) {
        (void)snprintf(more, sizeof more, " and %" PRIu64 " more", f->lacking - 1);
    }
    if (strncmp(last, "running_", 8) == 0) {
        (void)snprintf(hint, sizeof hint,
                       "With running statistics the model computes what a BatchNorm does: make it one. If the model "
                       "does not use them, drop them: drop = \\.running_(mean|var)$");
    } else if (lr_regex_quote(key, strlen(key), pattern, sizeof pattern)) {
        (void)snprintf(hint, sizeof hint, "If the model computes the same without it, drop it: drop = ^%s$", pattern);
    } else {
        (void)snprintf(hint, sizeof hint, "If the model computes the same without it, drop it by a rule.");
    }
    return lr_plan_problem(f->job, f->plan, REC_PROBLEM_UNEXPECTED, true, f->first_lacking->key, hint,
                           "%.300s%s: PyTorch may compute with it, and Burn's %s has no such field", key, more,
                           f->lacking_module);
}

/* Whether the adapter acts on what stands below a node. */
static bool is_adapted(const lr_fitter *f, const lr_node *node)
{
    const lr_piece *piece = lr_node_piece(node);
    return piece && !piece->kept && f->plan->sources[piece->source].adapter == LR_ADAPTER_PYTORCH;
}

/* Remembers a module that has not the fields of what a rule or its tensors say that it is. */
static int32_t note_misfit(lr_fitter *f, const char *type, const char *module, const lr_module_misfit *why)
{
    const char *torch, *field;
    char rank[40], text[400];
    const char *what = rank;
    (void)lr_adapt_back(type, why->field, strlen(why->field), &torch);
    field = torch && !why->foreign ? torch : why->field;
    if (why->foreign) {
        what = "is none of its fields";
    } else if (why->missing) {
        what = "is missing";
    } else if (why->rank == REC_UNKNOWN) {
        what = "is not a tensor";
    } else {
        (void)snprintf(rank, sizeof rank, "has rank %" PRIu64, why->rank);
    }
    (void)snprintf(text, sizeof text, "no %.64s of Burn's: %s`%.100s` %s", module, why->foreign ? "" : "its ", field,
                   what);
    return lr_fit_doubt(f, &f->misfits, text, NULL,
                        why->foreign ? "Drop what the model computes without, or set its module: module = PATTERN => "
                                       "TYPE. Param keeps its tensors unchanged."
                                     : "Set the module: module = PATTERN => TYPE. Param keeps its tensors unchanged.");
}

int32_t lr_fit_report_misfits(lr_fitter *f)
{
    /* A tensor that was rejected is missing from its module. */
    return f->plan->refusals ? REC_OK
                             : lr_fit_report_doubts(f, &f->misfits, REC_PROBLEM_SHAPE, "more",
                                                    "are not the modules of Burn's that they are named");
}

int32_t lr_fit_module_built(lr_fitter *f, const lr_node *node, const char *type, const char *name, rec_value *value)
{
    const lr_modules *modules = f->plan->context->modules;
    const char *module = burns_word(type);
    lr_module_clash clash;
    lr_module_misfit why;
    bool sure = true;
    int holds;
    if (!modules || value->kind != REC_KIND_MAP || value->v.map->count == 0) {
        return REC_OK;
    }
    /* Not where the base or the caller has the rest of it. */
    if (module && is_adapted(f, node) && !f->plan->base && !f->plan->trial && !lr_fit_is_partial(f->plan) &&
        modules->differs(f->job, module, value, &why)) {
        return note_misfit(f, type, module, &why);
    }
    if (!module || !modules->fits(f->job, module, value)) {
        module = lr_job_failed(f->job) ? NULL : modules->recognise(f->job, value, name, &sure);
    }
    if (!module || !sure) {
        return f->job->error.status;
    }
    if (!type && is_adapted(f, node) && lr_fit_sign_names(f, node, module, false) != REC_OK) {
        return f->job->error.status;
    }
    holds = modules->hold(f->job, module, value, &clash);
    if (holds != 0) {
        value->bits = modules->number(module);
        return holds > 0 && type && strcmp(type, "Linear") == 0 ? lr_fit_sign_held(f, node, module, value)
                                                                : f->job->error.status;
    }
    if (f->plan->trial) {
        return lr_fit_doubted(f, node) ? report_clash(f, &clash, type && strcmp(type, "Linear") == 0, false) : REC_OK;
    }
    /* Without the adapter an inconsistent module is not Burn's, and stays unchanged. */
    return is_adapted(f, node) ? report_clash(f, &clash, type && strcmp(type, "Linear") == 0, true) : REC_OK;
}

int32_t lr_fit_module_typed(lr_fitter *f, const lr_node *node, const char *type, const char *named,
                            const rec_value *value, bool transposed)
{
    const lr_modules *modules = f->plan->context->modules;
    const char *module = burns_word(type ? type : named);
    lr_module_clash clash;
    bool sure = true, own = false;
    int holds;
    if (!modules || !node || f->plan->quiet) {
        return REC_OK;
    }
    if (!module || !modules->knows(f->job, module)) {
        /* A custom struct, whose name the adapter does not know. */
        own = true;
        module = lr_job_failed(f->job) ? NULL : modules->recognise(f->job, value, "", &sure);
    }
    if (!module || !sure) {
        return f->job->error.status;
    }
    if (f->plan->trial && (own || !lr_fit_doubted(f, node))) {
        return REC_OK;
    }
    holds = modules->hold(f->job, module, value, &clash);
    if (holds != 0) {
        return holds > 0 && transposed ? lr_fit_sign_held(f, node, module, value) : f->job->error.status;
    }
    return report_clash(f, &clash, transposed, !own && is_adapted(f, node));
}
