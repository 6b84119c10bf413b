/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A set of type definitions: adding to it, and finding the definition of a Burn version. */
#include "common/names.h"
#include "types/types.h"

int32_t lr_types_add(rec_job *job, rec_types *types, const lr_def *def)
{
    lr_def *copy = lr_arena_alloc(&types->arena, sizeof *copy, sizeof(void *));
    if (!copy) {
        return lr_fail_memory(job, sizeof *copy);
    }
    *copy = *def;
    copy->next = types->defs;
    types->defs = copy;
    return REC_OK;
}

/* @param burn only those that come with a version: Burn's own. */
static const lr_def *find(const rec_types *types, const char *name, int32_t minor, bool burn)
{
    const lr_def *best = NULL;
    for (const lr_def *def = types->defs; def; def = def->next) {
        if (def->since > minor || strcmp(def->name, name) != 0) {
            continue;
        }
        if (def->since == 0 && !burn) {
            return def;
        }
        if (def->since > 0 && (!best || def->since > best->since)) {
            best = def;
        }
    }
    return best;
}

const lr_def *lr_types_find(const rec_types *types, const char *name, int32_t minor)
{
    return find(types, name, minor, false);
}

/* `burn::…`, `burn_core::…`; and `nn::…`, which burn::prelude gives. */
static bool is_burns(const char *path)
{
    size_t length = path ? strcspn(path, ":") : 0;
    return lr_text_is(path ? path : "", length, "burn") || lr_text_is(path ? path : "", length, "nn") ||
           (length > 5 && memcmp(path, "burn_", 5) == 0);
}

const lr_def *lr_types_find_path(const rec_types *types, const lr_expr *expr, int32_t minor)
{
    const lr_def *def = is_burns(expr->path) ? find(types, expr->name, minor, true) : NULL;
    return def ? def : find(types, expr->name, minor, false);
}
