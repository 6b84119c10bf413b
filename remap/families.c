/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The families of a record for programs, and the profile that a load chooses by them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remap/remap.h"

/* ---------------------------------------------------------------------------------------------------- programs -- */

static char *put(char **at, const char *text)
{
    size_t size = strlen(text) + 1;
    char *put = memcpy(*at, text, size);
    *at += size;
    return put;
}

struct rec_families {
    uint64_t count;
    rec_family at[];
};

/* The list and its texts as one block, which rec_free() frees. NULL: the job has failed. */
static rec_families *as_block(rec_job *job, const lr_families *found)
{
    size_t size = sizeof(rec_families);
    rec_families *list;
    char *text;
    for (uint64_t i = 0; i < found->count; i++) {
        const lr_family *f = &found->at[i];
        size += sizeof(rec_family) + strlen(f->profile) + strlen(f->name) + strlen(f->others) + strlen(f->select) +
                strlen(f->but) + 5;
    }
    list = malloc(size);
    if (!list) {
        return LR_AS_NULL(lr_fail_memory(job, size));
    }
    memset(list, 0, size);
    list->count = found->count;
    text = (char *)(list->at + found->count);
    for (uint64_t i = 0; i < found->count; i++) {
        const lr_family *f = &found->at[i];
        list->at[i] = (rec_family){.size = sizeof(rec_family), .fits = found->fits};
        list->at[i].profile = put(&text, f->profile);
        list->at[i].name = put(&text, f->name);
        list->at[i].others = put(&text, f->others);
        list->at[i].select = put(&text, f->select);
        list->at[i].but = put(&text, f->but);
    }
    return list;
}

rec_families *rec_record_families(const rec_record *record, const char *path, uint64_t *count)
{
    rec_job job;
    lr_families found;
    rec_families *list = NULL;
    if (LR_NULL(record) || LR_NULL(count)) {
        return NULL;
    }
    *count = 0;
    lr_job_begin(&job, record->context, "families", path);
    if (lr_families_find(&job, record, path, NULL, NULL, NULL, false, &found) == REC_OK) {
        list = as_block(&job, &found);
        *count = list ? found.count : 0;
        lr_families_free(&job, &found);
    }
    if (lr_job_end(&job) != REC_OK) {
        free(list);
        list = NULL;
        *count = 0;
    }
    return list;
}

const rec_family *rec_families_get(const rec_families *families, uint64_t index)
{
    return families && index < families->count ? &families->at[index] : NULL;
}

/* ---------------------------------------------------------------------------------------------------- choosing -- */

/* "llama, gemma" */
static void list_profiles(const lr_families *found, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint64_t i = 0; i < found->count && used < room; i++) {
        used += (size_t)snprintf(text + used, room - used, "%s%s", i ? ", " : "", found->at[i].profile);
    }
}

static int32_t refuse(rec_job *job, const lr_families *found)
{
    char names[400];
    list_profiles(found, names, sizeof names);
    if (found->count && found->fits && !*found->at[0].select) {
        (void)rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "profile auto: several profiles fit: %s", names);
        rec_fail_hint(job, "Name one of them. %s",
                      found->typed ? "" : "A companion config.json with its model_type would decide.");
    } else if (found->count && found->fits) {
        (void)rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "profile auto: no profile fits the whole file");
        rec_fail_hint(job, "Below %.200s it is %.100s: `select = %.200s` and `profile = %.64s`.", found->at[0].select,
                      found->at[0].name, found->at[0].select, found->at[0].profile);
    } else if (found->count) {
        (void)rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "profile auto: no profile fits");
        rec_fail_hint(job, "%.64s nearly does, but %.600s.\nIf it is the right one, name it: `profile = %.64s`.",
                      found->at[0].profile, found->at[0].but, found->at[0].profile);
    } else {
        (void)rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "profile auto: no profile fits");
        rec_fail_hint(job, "Name a profile, or write rules: no profile is for its family.");
    }
    return job->error.status;
}

lr_rules *lr_profile_choose(rec_job *job, const rec_record *record, const lr_arguments *arguments, const char *path,
                            lr_family *family)
{
    const char *select = arguments->rules && arguments->rules->select && strcmp(arguments->rules->select, ".") != 0
                             ? arguments->rules->select
                             : NULL;
    lr_families found = {0};
    lr_rules *rules = NULL;
    *family = (lr_family){0};
    if (arguments->reverse) {
        (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "profile auto cannot choose for a reverse load");
        rec_fail_hint(job, "A record does not show which file it came from: name the profile.");
    } else if (lr_families_find(job, record, path, arguments->config, select, NULL, false, &found) == REC_OK) {
        const lr_family *only = found.count == 1 && found.fits ? &found.at[0] : NULL;
        /* Rules for a deeper level count only if that level was requested. */
        if (!only || (*only->select && !select)) {
            (void)refuse(job, &found);
        } else if ((rules = lr_profile_load(job, only->profile, NULL)) != NULL) {
            family->profile = rules->name;
            family->name = lr_arena_text(&rules->arena, only->name, strlen(only->name));
            family->others = lr_arena_text(&rules->arena, only->others, strlen(only->others));
            if (!family->name || !family->others) {
                (void)lr_fail_memory(job, strlen(only->name) + strlen(only->others));
            }
        }
    }
    lr_families_free(job, &found);
    if (lr_job_failed(job)) {
        lr_rules_free(rules);
        rules = NULL;
    }
    return rules;
}
