/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sources of a plan: a record with the load arguments that count for it, and what these leave open. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/scheme/scheme.h"
#include "remap/remap.h"

/* Settles what a source's load arguments leave open. */
static void settle(const rec_plan *plan, const lr_arguments *arguments, lr_plan_source *source)
{
    bool foreign = source->record->root.form == REC_FORM_PATHS;
    bool profiled = arguments && arguments->profile && arguments->profile->count;
    bool ruled = lr_rules_have(source->rules, LR_RULE_MODULE), asked;
    int32_t adapter = source->rules->adapter, gaps = source->rules->gaps;
    if (adapter == LR_ADAPTER_UNSET && foreign && source->record->adapter == LR_FILE_FOREIGN) {
        adapter = LR_ADAPTER_FOREIGN;
    }
    asked = profiled || ruled || (arguments && plan->type.layout);
    /* By default a foreign file is taken for PyTorch's on its way to what is Burn's; between two foreign files nothing
     * is adapted unless something says to what. */
    source->foreign = adapter == LR_ADAPTER_FOREIGN;
    source->hints = foreign && adapter != LR_ADAPTER_NONE && !plan->foreign && !source->reverse;
    adapter = source->foreign ? LR_ADAPTER_NONE : adapter;
    source->adapter = adapter != LR_ADAPTER_UNSET            ? adapter
                      : foreign && (!plan->foreign || asked) ? LR_ADAPTER_PYTORCH
                                                             : LR_ADAPTER_NONE;
    source->stored = foreign && source->record->adapter == LR_FILE_EITHER;
    source->doubted =
        source->stored && adapter == LR_ADAPTER_UNSET && source->adapter == LR_ADAPTER_PYTORCH && !source->reverse;
    source->presumed = !source->stored && adapter == LR_ADAPTER_UNSET && source->adapter == LR_ADAPTER_PYTORCH &&
                       !profiled && !ruled && !source->reverse;
    source->gaps_given = gaps != LR_SWITCH_UNSET;
    if (source->gaps_given) {
        source->close_gaps = gaps == LR_SWITCH_YES;
    } else {
        bool torch = foreign || (source->record->dotted && source->adapter == LR_ADAPTER_PYTORCH);
        source->close_gaps = torch && !plan->foreign && !profiled && !source->foreign;
    }
}

/* Whether nothing says what to do with a foreign file, and its configuration names the one family that fits it. */
static bool is_confirmed(const rec_job *job, const rec_plan *plan, const lr_plan_input *input)
{
    const lr_arguments *a = input->arguments;
    bool open = !a || (!a->profile && !a->reverse &&
                       (!a->rules || (!a->rules->count && a->rules->adapter == LR_ADAPTER_UNSET && !a->rules->select)));
    bool foreign = input->record->root.form == REC_FORM_PATHS && input->record->adapter != LR_FILE_EITHER;
    lr_families found;
    bool confirmed;
    if (!open || !foreign || !plan->advises || plan->trial || plan->foreign || plan->base || plan->type.layout ||
        input->type.layout || !input->path) {
        return false;
    }
    lr_families_guess(plan->context, input->record, input->path, a ? a->config : NULL, NULL, NULL, true, &found);
    confirmed = found.fits && found.count == 1 && found.at[0].confirmed && !*found.at[0].select;
    lr_families_free(job, &found);
    return confirmed;
}

/* The profile that fits, where it is left open which. @param own the arguments, which get it. */
static int32_t choose_profile(rec_job *job, rec_plan *plan, const lr_plan_input *input, lr_arguments *own)
{
    bool asked = own->automatic;
    lr_family family;
    own->profile = lr_profile_choose(job, input->record, own, input->path, &family);
    if (!own->profile) {
        return job->error.status;
    }
    return lr_plan_problem(
        job, plan, REC_PROBLEM_FAMILY, false, "", asked ? "" : "To keep its names: `adapter = pytorch`.",
        *family.others ? "%.200s is %.100s%s: converted with the profile %.64s (another destination: %.200s)"
                       : "%.200s is %.100s%s: converted with the profile %.64s",
        input->name, family.name, asked ? "" : " by its configuration", family.profile, family.others);
}

static bool has_rule(const lr_rules *rules, const lr_rule *rule)
{
    for (uint64_t i = 0; i < rules->count; i++) {
        if (rules->rules[i].kind == rule->kind && strcmp(rules->rules[i].text, rule->text) == 0) {
            return true;
        }
    }
    return false;
}

/* The rules of the profile that a file's layout names, where the load arguments choose neither a profile nor a layout.
 * @param own (out) the arguments with it. */
static int32_t resolve_layout(rec_job *job, const lr_plan_input *input, lr_arguments *own)
{
    *own = *input->arguments;
    own->profile = lr_profile_load(job, input->record->adapter_name, NULL);
    if (!own->profile) {
        rec_fail_hint(job,
                      "The reader of %.200s reports this layout of modules. Select "
                      "another profile, or adapter = foreign to load without one.",
                      input->name);
    }
    return job->error.status;
}

/* Whether a file's layout names a profile that is to be applied. */
static bool has_layout(const rec_plan *plan, const lr_plan_input *input)
{
    const lr_arguments *a = input->arguments;
    return input->record->adapter == LR_FILE_FOREIGN && input->record->adapter_name && !plan->foreign && a &&
           !a->profile && !a->automatic && !a->reverse && !(a->rules && a->rules->adapter != LR_ADAPTER_UNSET);
}

/* Tells of rules of the import that the given ones lack: what those rules did is not undone. */
static int32_t compare_rules(rec_job *job, rec_plan *plan, const lr_plan_source *source, const lr_rules *import)
{
    const lr_rule *first = NULL;
    uint64_t count = 0;
    char more[48] = "";
    for (uint64_t i = 0; i < import->count; i++) {
        if (import->rules[i].kind != LR_RULE_WEIGHT_NORM && /* its weights are known by themselves */
            !has_rule(source->rules, &import->rules[i])) {
            first = first ? first : &import->rules[i];
            count++;
        }
    }
    if (!first) {
        return REC_OK;
    }
    if (count > 1) {
        (void)snprintf(more, sizeof more, " and %" PRIu64 " more rule%s", count - 1, count > 2 ? "s" : "");
    }
    return lr_plan_problem(job, plan, REC_PROBLEM_FAMILY, source->strict, "",
                           "Without a profile and rules, reverse undoes the import.",
                           "the import of this record used %s = %.200s%s, which %s not given and not undone",
                           lr_word_name(first->kind), first->text, more, count > 1 ? "are" : "is");
}

/* For a reverse conversion, uses the rules that the import stored in the record, if the load arguments have neither a
 * profile nor rules, and what it recognised. */
static int32_t recall(rec_job *job, rec_plan *plan, const lr_arguments *arguments, lr_plan_source *source)
{
    lr_rules *rules = source->rules;
    int32_t adapter = rules->adapter;
    const char *select = rules->select;
    bool own = arguments->profile || (arguments->rules && arguments->rules->count);
    const lr_memory *memory;
    if (!source->reverse ||
        lr_memory_read(job, &plan->arena, source->record, &source->numbers, &source->memory) != REC_OK ||
        !source->memory) {
        return job->error.status;
    }
    memory = source->memory;
    if ((own ? compare_rules(job, plan, source, memory->rules) : lr_rules_append(job, rules, memory->rules, false)) !=
            REC_OK ||
        lr_rules_append(job, rules, memory->recognised, false) != REC_OK) {
        return job->error.status;
    }
    rules->adapter = adapter ? adapter : memory->rules->adapter;
    rules->select = select ? select : memory->rules->select;
    source->prefix = source->prefix ? source->prefix : memory->prefix;
    return REC_OK;
}

/* Takes over load arguments, with what they need of the model's configuration. */
static int32_t take_arguments(rec_job *job, rec_plan *plan, const lr_plan_input *input, const lr_arguments *arguments,
                              lr_plan_source *source)
{
    source->rules = lr_arguments_rules(job, arguments);
    source->prefix = arguments->prefix ? lr_plan_keep(job, plan, arguments->prefix, strlen(arguments->prefix)) : NULL;
    source->partial = arguments->partial;
    source->strict = arguments->strict;
    source->debug = arguments->debug;
    source->reverse = arguments->reverse;
    source->type = input->type;
    if (!lr_job_failed(job)) {
        lr_variables_free(&source->numbers);
        (void)lr_arguments_variables(job, arguments, source->rules, input->path, &source->numbers);
    }
    if (!lr_job_failed(job)) {
        (void)recall(job, plan, arguments, source);
    }
    if (!lr_job_failed(job) && lr_rules_names_variables(source->rules)) {
        (void)lr_variables_take(job, &source->numbers, source->record);
    }
    return job->error.status;
}

int32_t lr_fail_burns(rec_job *job)
{
    (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN,
                   "reverse makes a file of another framework, and the output is a format of Burn");
    return LR_HINT(job, "Choose another format for the output, or leave reverse out.");
}

/* Fails if a source is to go backwards that cannot: it is a foreign file already, or the destination is Burn's. */
static int32_t check_direction(rec_job *job, const rec_plan *plan, const lr_plan_source *source)
{
    if (!source->reverse) {
        return REC_OK;
    }
    if (source->record->root.form == REC_FORM_PATHS && source->record->adapter != LR_FILE_EITHER) {
        (void)rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN,
                       "not a record of Burn: reverse goes from a record to the file of another framework");
        rec_fail_hint(job, "Leave reverse out.");
    } else if (plan->burns) {
        (void)lr_fail_burns(job);
    }
    return job->error.status;
}

int32_t lr_plan_add(rec_job *job, rec_plan *plan, const lr_plan_input *input)
{
    lr_plan_source *source = NULL;
    const lr_arguments *arguments = input->arguments;
    lr_arguments chosen;
    if (plan->made) {
        (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "the plan is computed: nothing can be added");
    } else {
        source = lr_plan_source_new(job, plan);
    }
    if (!source) {
        rec_record_free(input->owned);
        return job->error.status;
    }
    source->record = input->record;
    source->owned = input->owned;
    source->name = lr_plan_keep(job, plan, input->name, strlen(input->name));
    source->path = input->path ? lr_plan_keep(job, plan, input->path, strlen(input->path)) : NULL;
    lr_arguments_init(&chosen, job->allocator);
    if ((arguments && arguments->automatic) || is_confirmed(job, plan, input)) {
        chosen = arguments ? *arguments : chosen;
        arguments = choose_profile(job, plan, input, &chosen) == REC_OK ? &chosen : arguments;
    } else if (has_layout(plan, input) && resolve_layout(job, input, &chosen) == REC_OK) {
        arguments = &chosen;
    }
    if (lr_job_failed(job)) {
        source->rules = NULL;
    } else if (arguments) {
        (void)take_arguments(job, plan, input, arguments, source);
    } else {
        source->rules = lr_rules_new(job);
    }
    if (!lr_job_failed(job) && input->owned && lr_precision_changes(plan->written)) {
        (void)lr_schemes_decode(job, input->owned); /* rules and adapters work on logical tensors */
    }
    if (lr_job_failed(job) || check_direction(job, plan, source) != REC_OK) {
        lr_plan_source_drop(plan);
        goto done;
    }
    /* A type that the file was read by is the file's own. */
    if (!plan->type.layout && !plan->foreign && !source->reverse && !source->record->typed) {
        plan->type = input->type;
    }
    source->chosen = arguments == &chosen && input->arguments->automatic;
    settle(plan, arguments, source);
    if (plan->minor <= 0 && input->minor > 0) {
        plan->minor = input->minor;
    }
    if (plan->source_count == 1) {
        plan->precision = source->record->precision;
        plan->clamp = source->record->clamp;
    }

done:
    if (arguments == &chosen) {
        lr_rules_free(chosen.profile);
    }
    return job->error.status;
}

rec_status rec_plan_set_base(rec_plan *plan, const rec_record *base)
{
    if (LR_NULL(plan)) {
        return REC_E_ARGUMENT;
    }
    if (plan->made || (base && base->context != plan->context)) {
        return lr_publish(REC_E_ARGUMENT, plan->made ? "the plan is computed: nothing can be added"
                                                     : "the base must be of the plan's context");
    }
    plan->base = base;
    lr_publish_ok();
    return REC_OK;
}
