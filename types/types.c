/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sets of type definitions: making one, and Burn's own. */
#include <errno.h>

#include "common/names.h"
#include "core/config/config.h"
#include "types/types.h"

static int32_t no_files(rec_job *job, const char *folder)
{
    char text[256];
    (void)lr_fail_line(job, REC_E_IO, folder, 0, "cannot read the directory of Burn's own types: %s",
                       lr_system_words(ENOENT, text, sizeof text));
    (void)lr_job_errno(job, ENOENT);
    return LR_HINT(job, "The environment variable LIBRECORD_DATA names the directory above it. Without it, librecord "
                        "uses its own files.");
}

int32_t lr_types_add_builtin(rec_job *job, rec_types *types)
{
    lr_ini_files data;
    int32_t status;
    if (types->builtin) {
        return REC_OK;
    }
    status = lr_ini_files_find(job, &types->arena, "modules", &data);
    if (status == REC_OK) {
        status = data.count ? lr_types_add_inis(job, types, data.files, data.count) : no_files(job, data.folder);
    }
    types->builtin = status == REC_OK;
    return status;
}

/* ------------------------------------------------------------------------------------------------------ public -- */

rec_types *lr_types_new(rec_job *job)
{
    rec_types *types = lr_job_failed(job) ? NULL : lr_job_zalloc(job, sizeof *types);
    if (!types) {
        return NULL;
    }
    types->context = job->context;
    lr_arena_init(&types->arena, job->allocator);
    if (lr_types_add_builtin(job, types) != REC_OK) {
        rec_types_free(types);
        return NULL;
    }
    return types;
}

rec_types *rec_types_new(rec_context *context)
{
    rec_types *types;
    rec_job job;
    lr_job_open(&job, context, "types", NULL);
    types = lr_types_new(&job);
    if (types) {
        types->context = lr_context_retain(types->context);
        types->holds = true;
    }
    if (lr_job_end(&job) != REC_OK) {
        rec_types_free(types);
        return NULL;
    }
    return types;
}

const rec_types *lr_types_retain(const rec_types *types)
{
    (void)atomic_fetch_add_explicit(&((rec_types *)(uintptr_t)types)->held, 1, memory_order_relaxed);
    return types;
}

void rec_types_free(rec_types *types)
{
    rec_context *context;
    bool holds;
    if (!types || atomic_fetch_sub_explicit(&types->held, 1, memory_order_acq_rel) != 0) {
        return;
    }
    context = types->context;
    holds = types->holds;
    lr_arena_free(&types->arena);
    lr_release(&context->allocator, types);
    if (holds) {
        lr_context_release(context);
    }
}

rec_status rec_types_add_file(rec_types *types, const char *path)
{
    size_t length = path ? strlen(path) : 0;
    rec_job job;
    if (LR_NULL(types) || LR_NULL(path)) {
        return REC_E_ARGUMENT;
    }
    if (!length) {
        return lr_publish(REC_E_ARGUMENT, "rec_types_add_file: no path was given");
    }
    lr_job_begin(&job, types->context, "types", path);
    if (length > 4 && strcmp(path + length - 4, ".ini") == 0) {
        (void)lr_types_add_inis(&job, types, &path, 1);
    } else {
        size_t size = 0;
        char *text = lr_text_file(&job, path, "a file of Rust source", &size);
        if (text) {
            (void)lr_types_add_rust(&job, types, text, size, path);
        }
        lr_release(job.allocator, text);
    }
    return lr_job_end(&job);
}

rec_status rec_types_add_rust(rec_types *types, const char *text, const char *name)
{
    rec_job job;
    if (LR_NULL(types) || LR_NULL(text) || LR_NULL(name)) {
        return REC_E_ARGUMENT;
    }
    lr_job_begin(&job, types->context, "types", name);
    (void)lr_types_add_rust(&job, types, text, strlen(text), name);
    return lr_job_end(&job);
}

const char *rec_types_name(const rec_types *types, uint64_t index)
{
    const lr_def *def = types ? types->defs : NULL;

    while (def && index) {
        def = def->next;
        index--;
    }
    return def ? def->name : NULL;
}
