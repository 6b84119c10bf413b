/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Texts that are files: configurations, types in INI files, the index of a model in several files. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/config.h"
#include "core/io/io.h"
#include "plugins/codec/shards/index.h"
#include "remap/recognise_private.h"
#include "tests/fuzz/fuzz.h"
#include "types/types.h"

/* librecord.ini: its recorders and its profiles, with what these say of their families' files. */
int fuzz_ini(const uint8_t *data, size_t size)
{
    rec_context *context = rec_config_open(fuzz_file("some.ini", data, size));
    if (!context) {
        fuzz_must_say();
        return 0;
    }
    for (uint64_t i = 0; i < lr_config_recorder_count(context->config) && i < 8; i++) {
        rec_close_recorder(rec_open_recorder_in(context, lr_config_recorder_at(context->config, i)->name, 0));
    }
    for (uint64_t i = 0; i < lr_config_profile_count(context->config) && i < 8; i++) {
        const lr_profile_section *section = lr_config_profile_at(context->config, i);
        static lr_looks looks;
        rec_job job;
        lr_job_begin(&job, context, "plan", NULL);
        lr_rules_free(lr_profile_load(&job, section->name, NULL));
        lr_job_again(&job);
        looks = (lr_looks){.count = 0};
        (void)lr_looks_read(&job, &looks, "some.ini", section, false);
        lr_looks_free(&job, &looks);
        (void)lr_job_end(&job);
    }
    rec_context_free(context);
    return 1;
}

static int32_t add_ini(rec_job *job, rec_types *types, const char *path)
{
    return lr_types_add_inis(job, types, &path, 1);
}

/* Types in an INI file. */
int fuzz_types(const uint8_t *data, size_t size)
{
    fuzz_layouts(size, add_ini, fuzz_file("some.ini", data, size), 21, UINT_MAX);
    return 1;
}

/* The index of a model in several files: read, and held against two files, "a" in the first and "b" in the second. */
int fuzz_index(const uint8_t *data, size_t size)
{
    static const char *const keys[] = {"a", "b"};
    rec_job job;
    lr_index index;
    rec_source *source;
    const char *name;
    uint64_t length;
    lr_job_begin(&job, fuzz_context(size), "load", "fuzz");
    lr_job_input(&job, size);
    source = lr_source_memory(&job, data, size, "fuzz");
    fuzz_must(source != NULL, "a source");
    (void)lr_index_probe(data, size, &name, &length);
    if (lr_index_open(&index, &job, source, false, "safetensors", ".safetensors") == REC_OK) {
        int32_t status = REC_OK;
        for (uint64_t file = 0; file < index.file_count && file < 2 && status == REC_OK; file++) {
            bool wanted;
            status = lr_index_file(&index, file, &name);
            status = status == REC_OK ? lr_index_take(&index, file, keys[file], 1, &wanted) : status;
        }
        if (status == REC_OK) {
            (void)lr_index_done(&index);
        }
    }
    lr_index_close(&index);
    lr_source_release(source);
    if (lr_job_end(&job) != REC_OK) {
        fuzz_must_say();
    }
    return 1;
}
