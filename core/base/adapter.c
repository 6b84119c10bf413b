/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The names of module layouts: the library's own, and those of profiles. */
#include <string.h>

#include "core/base/base.h"

static const char *const adapters[] = {
    [LR_FILE_BURN] = "burn", [LR_FILE_PYTORCH] = "pytorch", [LR_FILE_EITHER] = "either", [LR_FILE_FOREIGN] = "foreign"};

int32_t lr_adapter_kind(const char *name)
{
    int32_t kind = LR_FILE_BURN;
    while (name && kind < LR_FILE_FOREIGN && strcmp(adapters[kind], name) != 0) {
        kind++;
    }
    return kind;
}

bool lr_adapter_valid(const char *name)
{
    size_t length = strlen(name);
    return length && length <= LR_NAME_MOST &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == length;
}

const char *rec_job_adapter(const rec_job *job)
{
    if (LR_LACKS(NULL, job)) {
        return adapters[LR_FILE_BURN];
    }
    return job->adapter == LR_FILE_FOREIGN && job->adapter_name ? job->adapter_name : adapters[job->adapter];
}

int32_t rec_job_set_adapter(rec_job *job, const char *adapter)
{
    char *copy;
    if (LR_LACKS(job, job) || LR_LACKS(job, adapter)) {
        return lr_breach_status(job);
    }
    if (!lr_adapter_valid(adapter)) {
        return lr_breach(job, REC_UNKNOWN, "set an adapter whose name is not 1 to 64 letters, digits, -, _ and .");
    }
    if (!job->adapting) {
        return lr_breach(job, REC_UNKNOWN, "called rec_job_set_adapter() after the first value, or outside of a load");
    }
    copy = rec_job_alloc(job, strlen(adapter) + 1);
    if (!copy) {
        return job->error.status;
    }
    job->adapter = lr_adapter_kind(adapter);
    job->adapter_name = strcpy(copy, adapter);
    return REC_OK;
}
