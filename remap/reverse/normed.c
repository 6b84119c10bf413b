/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Going backwards: the spelling of PyTorch's modules that the file had, by what the import left or by the base: of what
 * weight_norm keeps of a weight, and of recurrent layers and cells. */
#include <stdio.h>

#include "remap/forward/forward.h"
#include "remap/reverse/reverse_private.h"

/* A tensor of a base that is another framework's file. NULL: it has none of that key. */
static const rec_tensor *in_base(rec_job *job, const rec_plan *plan, const char *text)
{
    const lr_key *key = plan->base && plan->base->root.form == REC_FORM_PATHS
                            ? lr_plan_find_key(job, &plan->sources[plan->base_source], text, strlen(text))
                            : NULL;
    return key ? rec_value_tensor(key->value) : NULL;
}

/* A rule for a key of such a base that is a direction and has its length there. */
static int32_t learn(rec_job *job, const rec_plan *plan, lr_rules *rules, const lr_key *direction)
{
    static const lr_location place = {.what = "the base"};
    const rec_tensor *v = rec_value_tensor(direction->value), *g;
    char text[2000], rule[1000], quoted[900];
    const char *name, *key = direction->text;
    size_t base, name_length, length = (size_t)direction->length;
    bool parametrized;
    if (!v || length >= sizeof text || !lr_is_direction(key, length, &base, &name, &name_length, &parametrized) ||
        !lr_regex_quote(key, base, quoted, sizeof quoted)) {
        return REC_OK;
    }
    memcpy(text, key, length + 1);
    text[length - 1] = parametrized ? '0' : 'g';
    g = in_base(job, plan, text);
    return g && lr_norm_rule(quoted, g, v, rule, sizeof rule)
               ? lr_rules_add(job, rules, "weight_norm", rule, false, &place, "the base")
               : job->error.status;
}

int32_t lr_back_learn(rec_job *job, rec_plan *plan, lr_plan_source *source)
{
    const lr_plan_source *base = plan->base && !plan->trial ? &plan->sources[plan->base_source] : NULL;
    int32_t status = REC_OK;
    for (uint64_t i = 0; base && i < base->key_count && status == REC_OK; i++) {
        status = learn(job, plan, source->rules, &base->keys[i]);
    }
    return status;
}

/* The key of the direction by one spelling. @return false: it is too long for any file's. */
static bool spell(const lr_candidate *weight, bool parametrized, bool direction, char *text, size_t room)
{
    const char *last = lr_path_last(weight->text, weight->length);
    int n = parametrized ? snprintf(text, room, "%.*sparametrizations.%s.original%c", (int)(last - weight->text),
                                    weight->text, last, direction ? '1' : '0')
                         : snprintf(text, room, "%s_%c", weight->text, direction ? 'v' : 'g');
    return n > 0 && (size_t)n < room;
}

/* Whether the file, or the base, had the direction by one spelling. */
static bool had(const lr_reverse *b, const lr_candidate *weight, bool parametrized)
{
    const lr_memory *memory = b->source->memory;
    const char *select = b->source->rules->select;
    char text[4096];
    size_t head = select ? (size_t)snprintf(text, sizeof text, "%.3000s.", select) : 0;
    return spell(weight, parametrized, true, text + head, sizeof text - head) &&
           ((memory && lr_memory_has(&memory->keys, text, strlen(text))) || in_base(b->job, b->plan, text + head));
}

bool lr_back_had_cell(const lr_reverse *b, const char *key)
{
    const lr_memory *memory = b->source->memory;
    const char *select = b->source->rules->select;
    char text[4096];
    int n = snprintf(text, sizeof text, "%.3000s%s%s", select ? select : "", select ? "." : "", key);
    return n > 0 && (size_t)n < sizeof text &&
           ((memory && lr_memory_has(&memory->cells, text, (uint64_t)n)) || in_base(b->job, b->plan, text));
}

bool lr_back_is_normed(const lr_reverse *b, const lr_candidate *weight)
{
    bool known = b->source->memory && b->source->memory->keys.count;
    return !known || had(b, weight, false) || had(b, weight, true);
}

int32_t lr_back_normed_names(lr_reverse *b, const lr_candidate *weight, const char *names[2])
{
    const lr_memory *memory = b->source->memory;
    bool parametrized =
        had(b, weight, true) || (memory && lr_memory_find(&memory->parametrized, weight->text, weight->length));
    char text[4096];
    for (int i = 0; i < 2; i++) {
        if (!spell(weight, parametrized, i == 1, text, sizeof text)) {
            return rec_fail(b->job, REC_E_LIMIT, REC_UNKNOWN, "the key %.100s… is too long", weight->text);
        }
        names[i] = lr_plan_keep(b->job, b->plan, text, strlen(text));
    }
    return b->job->error.status;
}
