/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The list of profiles, for people to choose from. */
#include <stdlib.h>
#include <string.h>

#include "remap/rules/rules_private.h"

/** Made once for a context, and attached to it, so that what was handed out stays. */
typedef struct list {
    lr_attached attached; /**< the first member */
    const lr_allocator *allocator;
    lr_arena arena; /**< of the strings */
    rec_profile_info *infos;
    uint64_t count, room;
} list;

/** A list that is being filled. */
typedef struct filler {
    rec_job *job;
    list *list;
} filler;

static void release(lr_attached *what)
{
    list *l = (list *)what;
    lr_release(l->allocator, l->infos);
    lr_arena_free(&l->arena);
    lr_release(l->allocator, l);
}

static const char *copy(filler *f, const char *text)
{
    return lr_job_arena_text(f->job, &f->list->arena, text ? text : "", text ? strlen(text) : 0);
}

/* A profile of the context's file hides one of its name that comes with the library. */
static int32_t on_profile(void *user, const lr_config *config, const lr_profile_section *section)
{
    filler *f = user;
    list *l = f->list;
    const lr_builtin_file *builtin = lr_builtin_find(lr_config_file(config));
    for (uint64_t i = 0; i < l->count; i++) {
        if (lr_name_same(l->infos[i].name, section->name)) {
            return REC_OK;
        }
    }
    if (!lr_job_grow(f->job, &l->infos, l->count + 1, &l->room, sizeof *l->infos)) {
        return f->job->error.status;
    }
    l->infos[l->count] = (rec_profile_info){.size = sizeof(rec_profile_info),
                                            .name = copy(f, section->name),
                                            .description = copy(f, section->description),
                                            .source = copy(f, section->source),
                                            .destination = copy(f, section->destination),
                                            .file = copy(f, lr_config_file(config)),
                                            .text = builtin ? builtin->text : NULL};
    l->count += !lr_job_failed(f->job);
    return f->job->error.status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const rec_profile_info *)a)->name, ((const rec_profile_info *)b)->name);
}

/* NULL: the job has failed. */
static list *make(rec_job *job)
{
    list *l = lr_zalloc(job->allocator, sizeof *l);
    filler f = {.job = job, .list = l};
    lr_library library;
    if (!l) {
        return LR_AS_NULL(lr_fail_memory(job, sizeof *l));
    }
    l->attached.release = release;
    l->allocator = job->allocator;
    lr_arena_init(&l->arena, job->allocator);
    lr_library_begin(&library, job);
    (void)lr_library_each(&library, on_profile, &f);
    lr_library_end(&library);
    if (lr_job_failed(job)) {
        release(&l->attached);
        return NULL;
    }
    if (l->count) {
        qsort(l->infos, (size_t)l->count, sizeof *l->infos, by_name);
    }
    return l;
}

/* The context's list. Two threads may make it at once: the first one's counts. NULL: that failed. */
static const list *get(rec_context *context)
{
    rec_job job;
    lr_attached *have;
    lr_job_open(&job, context, "profiles", NULL);
    have = lr_job_failed(&job) ? NULL : lr_context_attached(job.context, release);
    if (!have && !lr_job_failed(&job)) {
        list *made = make(&job);
        have = made ? lr_context_attach(job.context, &made->attached) : NULL;
    }
    (void)lr_job_end(&job);
    return (const list *)have;
}

uint64_t rec_profile_count(rec_context *context)
{
    const list *l = get(context);
    return l ? l->count : 0;
}

const rec_profile_info *rec_profile_get(rec_context *context, uint64_t index)
{
    const list *l = get(context);
    return l && index < l->count ? &l->infos[index] : NULL;
}
