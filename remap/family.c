/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Whether a profile is the one of the model's family: its rules act, and what the family always has is there. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "remap/remap.h"

#define ANOTHER "Is it another family's model? `record profiles` lists them."

/* Whether a key of the foreign file matches. @return 1 or 0; -1: the job has failed. */
static int is_there(rec_job *job, const rec_plan *plan, uint64_t number, const lr_rule *rule, lr_matcher *matcher)
{
    const lr_plan_source *source = &plan->sources[number];
    int found = 0;
    if (source->reverse) { /* what it goes back to */
        for (const lr_piece *piece = plan->pieces; piece && found == 0; piece = piece->next) {
            uint64_t length = piece->length;
            const char *key = piece->source == number ? lr_place_without_prefix(source, piece->key, &length) : NULL;
            found = key ? lr_regex_match(job, rule->regex, matcher, key, (size_t)length) : 0;
        }
        return found;
    }
    for (uint64_t i = 0; i < source->key_count && found == 0; i++) {
        size_t length = source->keys[i].length;
        const char *key = source->keys[i].text;
        found = lr_key_below(source->rules->select, &key, &length)
                    ? lr_regex_match(job, rule->regex, matcher, key, length)
                    : 0;
    }
    return found;
}

/* What a family always has may be in another of several inputs. */
static int is_elsewhere(rec_job *job, const rec_plan *plan, uint64_t number, const lr_rule *rule, lr_matcher *matcher)
{
    int found = 0;
    for (uint64_t s = 0; s < plan->source_count && found == 0; s++) {
        const lr_rules *rules = plan->sources[s].rules;
        for (uint64_t i = 0; s != number && i < rules->count && found == 0; i++) {
            const lr_rule *other = &rules->rules[i];
            if (other->kind == LR_RULE_REQUIRE && strcmp(other->text, rule->text) == 0) {
                found = is_there(job, plan, s, other, matcher);
            }
        }
    }
    return found;
}

/* ------------------------------------------------------------------------------------------ what it looks like -- */

/* The families that a source may be of, none if that cannot be found out. To be given back with lr_families_free(). */
static void find_families(const rec_plan *plan, const lr_plan_source *source, lr_families *found)
{
    lr_families_guess(plan->context, source->record, source->path, source->numbers.config_file, source->rules->select,
                      source->rules->name, false, found);
}

/* "`profile = llama` and `select = model`" */
static const char *options_of(const lr_family *f, char text[400])
{
    (void)snprintf(text, 400, "`profile = %.64s`%s%.200s%s", f->profile, *f->select ? " and `select = " : "", f->select,
                   *f->select ? "`" : "");
    return text;
}

/* "It looks like Llama: `profile = llama`." Empty if there is no telling. */
static void hint_family(rec_job *job, const rec_plan *plan, const lr_plan_source *source, char *text, size_t room)
{
    lr_families found;
    find_families(plan, source, &found);
    text[0] = '\0';
    if (found.fits && found.count == 1) {
        char options[400];
        (void)snprintf(text, room, "It looks like %.100s: %.380s.\n", found.at[0].name,
                       options_of(&found.at[0], options));
    }
    lr_families_free(job, &found);
}

static int32_t report_requires(rec_job *job, rec_plan *plan, uint64_t number, lr_matcher *matcher)
{
    lr_plan_source *source = &plan->sources[number];
    int32_t status = REC_OK;
    for (uint64_t i = 0; source->key_count && i < source->rules->count && status == REC_OK; i++) {
        const lr_rule *rule = &source->rules->rules[i];
        int found = rule->kind != LR_RULE_REQUIRE ? 1 : is_there(job, plan, number, rule, matcher);
        found = found ? found : is_elsewhere(job, plan, number, rule, matcher);
        if (found < 0) {
            return job->error.status;
        }
        source->rules->rules[i].hits += rule->kind == LR_RULE_REQUIRE && found;
        if (!found && rule->profile) {
            char like[500] = "", hint[700];
            if (!source->partial && !source->reverse) {
                hint_family(job, plan, source, like, sizeof like);
            }
            (void)snprintf(hint, sizeof hint, "%sA part of a model is a partial load (partial).",
                           *like ? like : ANOTHER "\n");
            status =
                lr_plan_problem(job, plan, REC_PROBLEM_DEAD_RULE, !source->partial, "", source->partial ? "" : hint,
                                "the profile %.64s is for a model that has `%.200s`, and %.200s %s", rule->profile,
                                rule->pattern, source->name, source->reverse ? "becomes none" : "has no such key");
        } else if (!found) {
            status = lr_plan_problem(job, plan, REC_PROBLEM_DEAD_RULE, !source->partial, "", "",
                                     "rule %u requires `%.200s`, and %.200s %s", (unsigned)rule->number, rule->pattern,
                                     source->name, source->reverse ? "becomes none" : "has no such key");
        }
    }
    return status;
}

/* Whether rules or modules of a source that goes backwards changed anything. */
static bool is_changed(const rec_plan *plan, uint64_t number)
{
    for (const lr_piece *piece = plan->pieces; piece; piece = piece->next) {
        const lr_key *key = piece->input_count ? lr_piece_inputs(piece)[0] : NULL;
        if (piece->source == number &&
            (!key || piece->input_count > 1 || *piece->operations || key->length != piece->length ||
             memcmp(key->text, piece->key, (size_t)key->length))) {
            return true;
        }
    }
    return false;
}

/* A profile of which not one rule acted is another family's. */
static int32_t report_dead(rec_job *job, rec_plan *plan, uint64_t number)
{
    const lr_plan_source *source = &plan->sources[number];
    const char *profile = NULL;
    uint64_t acted = 0;
    for (uint64_t i = 0; i < source->rules->count; i++) {
        const lr_rule *rule = &source->rules->rules[i];
        bool idle = rule->kind == LR_RULE_BACK || rule->kind == LR_RULE_EXPORT || rule->kind == LR_RULE_REQUIRE ||
                    (rule->kind == LR_RULE_MODULE && source->adapter == LR_ADAPTER_NONE);
        if (rule->profile && !idle && strcmp(rule->profile, LR_MEMORY_KEY) != 0) {
            profile = rule->profile;
            acted += rule->hits;
        }
    }
    acted = source->reverse ? is_changed(plan, number) : acted;
    if (!profile || acted || source->key_count == 0) {
        return REC_OK;
    }
    return lr_plan_problem(job, plan, REC_PROBLEM_DEAD_RULE, true, "", ANOTHER,
                           "no rule of the profile %.64s matched anything in %.200s", profile, source->name);
}

/* Reports a number that was set but that no rule of any source uses. */
static int32_t report_numbers(rec_job *job, rec_plan *plan, uint64_t number)
{
    const lr_plan_source *source = &plan->sources[number];
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < source->numbers.set_count && status == REC_OK && !plan->totals.fatal; i++) {
        const char *name = source->numbers.set[i].name;
        bool used = false, told = false;
        for (uint64_t s = 0; s < plan->source_count && !used; s++) {
            const lr_variables *numbers = &plan->sources[s].numbers;
            for (uint64_t k = 0; k < numbers->set_count; k++) {
                bool same = strcmp(numbers->set[k].name, name) == 0;
                used = used || (same && numbers->set[k].used);
                told = told || (same && (s < number || (s == number && k < i)));
            }
        }
        if (!used && !told) {
            status = lr_plan_problem(job, plan, REC_PROBLEM_DEAD_RULE, source->strict, "", "",
                                     "no rule uses the number `%.100s`, which was set", name);
        }
    }
    return status;
}

/* Removes the hints for missing places, which are based on names alone: the family explains them better. */
static void withdraw_hints(rec_plan *plan)
{
    for (uint64_t i = 0; i < plan->problem_count; i++) {
        if (plan->problems[i].kind == REC_PROBLEM_MISSING) {
            plan->problems[i].hint = "";
        }
    }
}

/* A type that does not fit a file of a known family: its profile leads there. */
static int32_t explain(rec_job *job, rec_plan *plan, uint64_t number)
{
    const lr_plan_source *source = &plan->sources[number];
    lr_families found;
    int32_t status = REC_OK;
    if (plan->trial || source->reverse || source->rules->count || !plan->type.layout ||
        source->record->root.form != REC_FORM_PATHS) {
        return REC_OK;
    }
    find_families(plan, source, &found);
    if (found.fits && found.count == 1) {
        const lr_family *f = &found.at[0];
        char options[400], hint[420];
        withdraw_hints(plan);
        (void)snprintf(hint, sizeof hint, "Use this: %.390s", options_of(f, options));
        status = lr_plan_problem(job, plan, REC_PROBLEM_FAMILY, true, "", hint,
                                 "%.200s looks like %.100s, whose names the type does not have", source->name, f->name);
    }
    lr_families_free(job, &found);
    return status;
}

/* The first rope rule that acted. @param whole it permutes whole heads. NULL: none. */
static const lr_rule *acting_rope(const lr_plan_source *source, bool whole)
{
    for (uint64_t i = 0; i < source->rules->count; i++) {
        const lr_rule *rule = &source->rules->rules[i];
        if (rule->kind == LR_RULE_ROPE && (!whole || rule->amount_count == 1) && rule->hits) {
            return rule;
        }
    }
    return NULL;
}

/* A share of a head other than 1 that the configuration rotates. NULL: none is named. */
static const char *partial_rotary(const lr_plan_source *source)
{
    static const char *const names[] = {"partial_rotary_factor", "rope_parameters.partial_rotary_factor", "rotary_pct"};
    double factor;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (lr_number_find(source->numbers.config, source->numbers.config_count, names[i], &factor) && factor != 1) {
            return names[i];
        }
    }
    return NULL;
}

/* The rows of heads are permuted, and the configuration rotates a part of them alone, or not in each layer. */
static int32_t check_rotary(rec_job *job, rec_plan *plan, uint64_t number)
{
    lr_plan_source *source = &plan->sources[number];
    const char *name = source->reverse ? NULL : partial_rotary(source);
    const lr_rule *rule = name ? acting_rope(source, true) : NULL;
    double layers;
    if (rule) {
        return lr_plan_problem(job, plan, REC_PROBLEM_FAMILY, true, "",
                               "Remove the rope rules (less = rope) and give others with the number of rotary "
                               "dimensions: rope = PATTERN | HEADS DIMS.",
                               "the configuration says %s, and rule %u (rope = %.200s) permutes the rows of whole "
                               "heads",
                               name, (unsigned)rule->number, rule->text);
    }
    rule = source->reverse ? NULL : acting_rope(source, false);
    if (rule && lr_variables_ask(&source->numbers, LR_NUMBER_NO_ROPE, &layers) && layers > 0) {
        return lr_plan_problem(job, plan, REC_PROBLEM_FAMILY, true, "",
                               "Does Burn's model leave them unrotated, too? Then the order of their rows does not "
                               "matter: --set no_rope_layers=0",
                               "the configuration says %s: %.0f without rotary positions, and rule %u (rope = "
                               "%.200s) permutes their rows",
                               LR_NUMBER_NO_ROPE, layers, (unsigned)rule->number, rule->text);
    }
    return REC_OK;
}

/* Names of configurations for whether layers have biases, and the layers. */
static const struct {
    const char *name;
    const char *layers[5];
} biases[] = {
    {"attention_bias", {"q_proj", "k_proj", "v_proj", "o_proj"}},
    {"mlp_bias", {"gate_proj", "up_proj", "down_proj"}},
    {"qkv_bias", {"query", "key", "value"}},
};

/* Whether a key is that of one of some layers. @param field of the layer. */
static bool is_field_of(const lr_key *key, const char *const *layers, const char *field)
{
    const char *last = lr_path_last(key->text, (size_t)key->length);
    for (size_t i = 0; layers[i] && strcmp(last, field) == 0 && last > key->text; i++) {
        size_t length = strlen(layers[i]), head = (size_t)(last - key->text) - 1;
        if (head >= length && memcmp(last - 1 - length, layers[i], length) == 0 &&
            (head == length || last[-2 - (ptrdiff_t)length] == '.')) {
            return true;
        }
    }
    return false;
}

/* The configuration says that layers have biases, or have none, and the file has it otherwise. */
static int32_t check_biases(rec_job *job, rec_plan *plan, uint64_t number)
{
    lr_plan_source *source = &plan->sources[number];
    int32_t status = REC_OK;
    for (size_t i = 0; i < sizeof biases / sizeof *biases && !source->reverse && status == REC_OK; i++) {
        const lr_key *weight = NULL, *bias = NULL;
        double value;
        if (!lr_variables_ask(&source->numbers, biases[i].name, &value)) {
            continue;
        }
        for (uint64_t k = 0; k < source->key_count; k++) {
            const lr_key *key = &source->keys[k];
            weight = !weight && is_field_of(key, biases[i].layers, "weight") ? key : weight;
            bias = !bias && is_field_of(key, biases[i].layers, "bias") ? key : bias;
        }
        if (weight && (value != 0) != (bias != NULL)) {
            char hint[200];
            (void)snprintf(hint, sizeof hint, "If the model computes %s: --set %s=%d",
                           bias ? "with them" : "without biases", biases[i].name, bias != NULL);
            status = lr_plan_problem(job, plan, REC_PROBLEM_FAMILY, !source->partial, "", hint,
                                     "the configuration says %s: %s, and %.200s has %s%.200s", biases[i].name,
                                     bias ? "false" : "true", source->name,
                                     bias ? "" : "none: ", bias ? bias->text : weight->text);
        }
    }
    return status;
}

/* What the family of a named profile does not have. */
static int32_t check_family(rec_job *job, rec_plan *plan, uint64_t number)
{
    const lr_plan_source *source = &plan->sources[number];
    rec_job own; /* what cannot be compared is no reason to fail */
    lr_family_rest rest = {0};
    int32_t status = REC_OK;
    if (plan->trial || source->reverse || source->chosen || !source->rules->name ||
        source->record->root.form != REC_FORM_PATHS) {
        return REC_OK;
    }
    lr_job_begin(&own, plan->context, "families", NULL);
    (void)lr_family_compare(&own, source->record, source->path, source->numbers.config_file, source->rules->select,
                            source->rules->name, &rest);
    lr_job_drop(&own);
    if (rest.known && *rest.model_type) {
        status = lr_plan_problem(job, plan, REC_PROBLEM_FAMILY, source->strict, "", "Is there a profile for it?",
                                 "the configuration says model_type \"%s\", and the profile %.64s is for %s",
                                 rest.model_type, source->rules->name, rest.types);
    }
    if (rest.known && rest.strangers && status == REC_OK) {
        status = lr_plan_problem(job, plan, REC_PROBLEM_UNEXPECTED, source->strict, "", "",
                                 "%" PRIu64 " key%s none of %s's: %s%s", rest.strangers,
                                 rest.strangers == 1 ? " is" : "s are", rest.name, rest.stranger,
                                 rest.strangers > 1 ? ", …" : "");
    }
    return status;
}

/* Reports the profile for the file, and whether another one fits better. */
static int32_t advise(rec_job *job, rec_plan *plan, uint64_t number)
{
    const lr_plan_source *source = &plan->sources[number];
    const char *given = source->rules->name;
    bool alone = source->presumed && source->rules->count == 0 && !plan->type.layout && !plan->base, same = false;
    char names[600] = "", hint[700] = "", options[400];
    size_t used = 0, hinted = 0;
    lr_families found;
    int32_t status = REC_OK;
    if (!plan->advises || plan->trial || source->reverse || source->chosen || (!given && !alone) ||
        source->record->root.form != REC_FORM_PATHS) {
        return REC_OK;
    }
    find_families(plan, source, &found);
    for (uint64_t i = 0; found.fits && i < found.count && used < sizeof names && hinted < sizeof hint; i++) {
        const lr_family *f = &found.at[i];
        same = same || (given && lr_family_has(f->profile, f->others, given));
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? " or " : "", f->name);
        hinted += (size_t)snprintf(hint + hinted, sizeof hint - hinted, "%s%s",
                                   i ? ", or " : "Use this: ", options_of(f, options));
    }
    if (given && same && found.count == 1 && *found.at[0].select && !source->rules->select) {
        status = lr_plan_problem(job, plan, REC_PROBLEM_FAMILY, !source->partial, "", hint,
                                 "%.200s is %.300s below %.200s", source->name, names, found.at[0].select);
    } else if (used && given && found.known && !same) {
        status = lr_plan_problem(job, plan, REC_PROBLEM_FAMILY, false, "", hint,
                                 "%.200s looks like %.300s: another profile fits it better than %.64s", source->name,
                                 names, given);
    } else if (used && !given) { /* its names are no model's of Burn, and nothing says how its rows are ordered */
        (void)snprintf(hint + hinted, hinted < sizeof hint ? sizeof hint - hinted : 0,
                       "\nOr keep its names: `adapter = pytorch`.");
        status = lr_plan_problem(job, plan, REC_PROBLEM_FAMILY, !source->partial, "", hint, "%.200s looks like %.300s",
                                 source->name, names);
    }
    lr_families_free(job, &found);
    return status;
}

int32_t lr_plan_report_family(rec_job *job, rec_plan *plan)
{
    lr_matcher *matcher = lr_matcher_new(job);
    int32_t status = matcher ? REC_OK : job->error.status;
    for (uint64_t s = 0; s < plan->source_count && status == REC_OK; s++) {
        uint64_t before = plan->totals.fatal;
        if (plan->base && s == plan->base_source) {
            continue;
        }
        status = report_requires(job, plan, s, matcher);
        status = status == REC_OK && plan->totals.fatal == before ? report_dead(job, plan, s) : status;
        status = status == REC_OK ? check_rotary(job, plan, s) : status;
        status = status == REC_OK ? check_biases(job, plan, s) : status;
        status = status == REC_OK ? report_numbers(job, plan, s) : status;
        status = status == REC_OK && plan->totals.fatal == before ? check_family(job, plan, s) : status;
        status = status == REC_OK && plan->totals.fatal == before ? advise(job, plan, s) : status;
        status = status == REC_OK && plan->totals.fatal ? explain(job, plan, s) : status;
    }
    lr_matcher_free(matcher);
    return status;
}
