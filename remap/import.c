/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Applies load arguments to a record that was read, or builds the tree from the keys of a foreign file. */
#include <string.h>

#include "remap/remap.h"

bool lr_import_needed(const lr_plan_input *input)
{
    const rec_record *raw = input->record;
    return raw->root.form == REC_FORM_PATHS || lr_arguments_any(input->arguments) ||
           (raw->dotted && input->type.layout != NULL);
}

/* Keeps the record's origin: it is still that file. */
static bool keep_origin(rec_record *record, const rec_record *raw)
{
    const char *file = lr_arena_text(&record->arena, raw->origin.file, strlen(raw->origin.file));
    const char *name = lr_arena_text(&record->arena, raw->origin.recorder, strlen(raw->origin.recorder));
    record->origin = raw->origin;
    record->origin.file = file;
    record->origin.recorder = name;
    return file && name;
}

static rec_record *by_plan(rec_job *job, const lr_plan_input *input, const char *file)
{
    rec_plan *plan = lr_plan_new(job, (lr_type_ref){0}, 0, REC_PRECISION_KEEP, false);
    rec_record *record = NULL;
    if (!plan) {
        rec_record_free(input->owned);
    } else if (lr_plan_add(job, plan, input) == REC_OK && lr_plan_carry_out(job, plan, file) == REC_OK) {
        if (keep_origin(plan->result, input->record)) {
            record = plan->result;
            plan->result = NULL;
        } else {
            (void)lr_fail_memory(job, sizeof *record);
        }
    }
    rec_plan_free(plan);
    return record;
}

/* Whether the keys are used unchanged, so that no plan is needed. */
static bool is_plain(const lr_plan_input *input)
{
    const rec_value *root = &input->record->root;
    const lr_arguments *a = input->arguments;
    const lr_rules *r = a->rules;
    return root->form == REC_FORM_PATHS && root->kind == REC_KIND_MAP && r && r->count == 0 &&
           r->adapter == LR_ADAPTER_NONE && r->gaps == LR_SWITCH_NO && !r->select && !a->profile && !a->prefix &&
           !a->debug && !a->reverse && !input->type.layout;
}

rec_record *lr_import(rec_job *job, const lr_plan_input *input, const char *file)
{
    if (!is_plain(input)) {
        return by_plan(job, input, file);
    }
    if (lr_unflatten(job, input->owned) != REC_OK) {
        rec_record_free(input->owned);
        return NULL;
    }
    return input->owned;
}
