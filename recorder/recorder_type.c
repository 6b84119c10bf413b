/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A recorder's type by name. */

#include "recorder/recorder.h"
#include "types/types.h"

void lr_recorder_take_type(rec_recorder *recorder, lr_type_ref type)
{
    const rec_types *before = recorder->type.types;
    if (type.types) {
        (void)lr_types_retain(type.types);
    }
    recorder->type = type;
    recorder->expression = NULL;
    rec_types_free((rec_types *)(uintptr_t)before); /* sheds the const: it is given up */
}

int32_t lr_recorder_type_name(rec_job *job, rec_recorder *recorder, const rec_types *types, const char *expression)
{
    const lr_expr *expr = NULL;
    const char *text = NULL;
    if (expression) {
        expr = lr_expr_parse(job, &recorder->arena, expression, strlen(expression), NULL, 0);
        text = expr ? lr_arena_text(&recorder->arena, expression, strlen(expression)) : NULL;
        if (expr && !text) {
            (void)lr_fail_memory(job, strlen(expression) + 1);
        }
    }
    if (!lr_job_failed(job)) {
        lr_recorder_take_type(recorder, expr ? lr_type_of_expr(types, expr) : (lr_type_ref){0});
        recorder->expression = text;
    }
    return job->error.status;
}

rec_status rec_recorder_set_type_name(rec_recorder *recorder, const rec_types *types, const char *expression)
{
    rec_job job;
    if (LR_NULL(recorder) || (expression && LR_NULL(types))) {
        return REC_E_ARGUMENT;
    }
    lr_job_begin(&job, recorder->context, "set", NULL);
    (void)lr_recorder_type_name(&job, recorder, types, expression);
    return lr_job_end(&job);
}
