/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A recorder's type by name. */
#include <string.h>

#include "recorder/recorder.h"
#include "types/types.h"

rec_status rec_recorder_set_type_name(rec_recorder *recorder, const rec_types *types, const char *expression)
{
    rec_job job;
    const lr_expr *expr = NULL;
    lr_job_begin(&job, recorder->context, "set", NULL);
    if (expression && types) {
        expr = lr_expr_parse(&job, &recorder->arena, expression, strlen(expression), NULL, 0);
    } else if (expression) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "a type by name needs a set of definitions");
    }
    if (!lr_job_failed(&job)) {
        recorder->type = lr_type_of_expr(types, expr);
    }
    return lr_job_end(&job);
}
