/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Contexts: made, configured, freed; and the default one behind rec_open_recorder. */
#include "core/config/config.h"

#include <string.h>

/* Depth is bounded by the C stack that edits, copies and walks of a tree may take. */
enum { DEPTH_MOST = 200, THREADS_MOST = 64, THREADS_DEFAULT_MOST = 8 };

static pthread_mutex_t default_lock = PTHREAD_MUTEX_INITIALIZER;
static rec_context *default_own;    /* made on first use, kept */
static rec_context *default_chosen; /* by rec_context_set_default */

static rec_context *context_new(const rec_allocator *allocator)
{
    lr_allocator memory = lr_standard_allocator;
    rec_context *context;
    if (allocator) {
        memory = (lr_allocator){.alloc = allocator->alloc,
                                .resize = allocator->resize,
                                .release = allocator->release,
                                .user = allocator->user};
    }
    context = lr_zalloc(&memory, sizeof *context);
    if (!context) {
        return NULL;
    }
    context->allocator = memory;
    context->limits = rec_limits_default();
    context->threads = lr_system_processors();
    context->threads = context->threads > THREADS_DEFAULT_MOST ? THREADS_DEFAULT_MOST : context->threads;
    context->plugins = REC_PLUGINS_ALL;
    context->sources = !lr_system_privileged(); /* with another's rights nothing is fetched unasked */
    if (pthread_mutex_init(&context->lock, NULL) != 0) {
        lr_release(&memory, context);
        return NULL;
    }
    context->config = lr_config_new(&context->allocator);
    atomic_init(&context->attached, NULL);
    atomic_init(&context->parallel, NULL);
    if (!context->config) {
        rec_context_free(context);
        return NULL;
    }
    return context;
}

rec_context *lr_context_retain(rec_context *context)
{
    (void)atomic_fetch_add_explicit(&context->held, 1, memory_order_relaxed);
    return context;
}

void lr_context_release(rec_context *context)
{
    lr_allocator memory;
    lr_attached *last;
    if (atomic_fetch_sub_explicit(&context->held, 1, memory_order_acq_rel) != 0) {
        return;
    }
    last = atomic_load_explicit(&context->attached, memory_order_acquire);
    while (last) {
        lr_attached *before = last->next;
        last->release(last);
        last = before;
    }
    if (context->config) {
        lr_config_free(context->config);
    }
    (void)pthread_mutex_destroy(&context->lock);
    memory = context->allocator;
    lr_release(&memory, context->data);
    lr_release(&memory, context);
}

void rec_context_free(rec_context *context)
{
    if (!context) {
        return;
    }
    (void)pthread_mutex_lock(&default_lock);
    if (default_chosen == context) {
        default_chosen = NULL;
    }
    (void)pthread_mutex_unlock(&default_lock);
    atomic_store_explicit(&context->given_up, true, memory_order_release);
    lr_context_release(context);
}

lr_attached *lr_context_attached(rec_context *context, void (*release)(lr_attached *what))
{
    lr_attached *one = atomic_load_explicit(&context->attached, memory_order_acquire);
    while (one && one->release != release) {
        one = one->next;
    }
    return one;
}

lr_attached *lr_context_attach(rec_context *context, lr_attached *what)
{
    lr_attached *first;
    (void)pthread_mutex_lock(&context->lock);
    first = lr_context_attached(context, what->release);
    if (!first) {
        what->next = atomic_load_explicit(&context->attached, memory_order_relaxed);
        atomic_store_explicit(&context->attached, what, memory_order_release);
    }
    (void)pthread_mutex_unlock(&context->lock);
    if (first) {
        what->release(what);
    }
    return first ? first : what;
}

/* What an allocator has at least. */
#define ALLOCATOR_LEAST (offsetof(rec_allocator, user) + sizeof(((rec_allocator *)0)->user))

rec_context *rec_context_new(const rec_allocator *allocator)
{
    rec_context *context;
    if (allocator &&
        (allocator->size < ALLOCATOR_LEAST || !allocator->alloc || !allocator->resize || !allocator->release)) {
        return LR_AS_NULL(
            lr_publish(REC_E_ARGUMENT, "rec_context_new: an allocator needs its size and all three functions"));
    }
    context = context_new(allocator);
    if (!context) {
        return LR_AS_NULL(lr_publish(REC_E_MEMORY, "out of memory while making a context"));
    }
    lr_publish_ok();
    return context;
}

/* Reads the configuration at `path` (NULL: where it is usually found) and applies what belongs to the context. */
static int32_t configure(rec_job *job, rec_context *context, const char *path)
{
    char *found = NULL;
    int32_t status = REC_OK;
    if (!path) {
        status = lr_config_find(job, &found);
        path = found;
    }
    if (status == REC_OK && path) {
        status = lr_config_read(job, context->config, path);
    }
    if (status == REC_OK) {
        lr_config_apply(context->config, context);
    }
    lr_release(job->allocator, found);
    return status;
}

/* A context with its configuration, or NULL with the failure on `job`, whose context it is meanwhile. */
static rec_context *open_configured(rec_job *job, const char *path)
{
    rec_context *context = context_new(NULL);
    if (!context) {
        return LR_AS_NULL(rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while making a context"));
    }
    job->context = context;
    job->allocator = &context->allocator;
    if (configure(job, context, path) != REC_OK) {
        job->context = NULL;
        job->allocator = &lr_standard_allocator;
        rec_context_free(context);
        return NULL;
    }
    return context;
}

/* The context behind NULL, made on first use. NULL: out of memory or a broken configuration, which the job tells. */
static rec_context *context_default(rec_job *job)
{
    rec_context *context;
    (void)pthread_mutex_lock(&default_lock);
    context = default_chosen ? default_chosen : default_own;
    (void)pthread_mutex_unlock(&default_lock);
    if (!context) {
        rec_context *made = open_configured(job, NULL);
        (void)pthread_mutex_lock(&default_lock);
        if (made && !default_own) {
            default_own = made;
            made = NULL;
        }
        context = default_chosen ? default_chosen : default_own;
        (void)pthread_mutex_unlock(&default_lock);
        rec_context_free(made); /* another thread was faster */
    }
    return lr_job_failed(job) ? NULL : context;
}

rec_context *rec_config_open(const char *path)
{
    rec_job job;
    rec_context *context;
    lr_job_begin(&job, NULL, "configure", NULL);
    context = open_configured(&job, path);
    (void)lr_job_end(&job);
    return context;
}

void lr_job_open(rec_job *job, rec_context *context, const char *operation, const char *file)
{
    lr_job_begin(job, context, operation, file);
    if (!context) {
        context = context_default(job);
        if (context) {
            lr_job_begin(job, context, operation, file);
        }
    }
}

void rec_context_set_default(rec_context *context)
{
    (void)pthread_mutex_lock(&default_lock);
    default_chosen = context;
    (void)pthread_mutex_unlock(&default_lock);
}

rec_status rec_context_set_limits(rec_context *context, const rec_limits *limits)
{
    if (LR_NULL(context) || LR_NULL(limits)) {
        return REC_E_ARGUMENT;
    }
    if (limits->size < LR_LIMITS_LEAST || limits->size > LR_STRUCT_MOST) {
        return lr_publish(REC_E_ARGUMENT, "rec_context_set_limits: the limits need their size");
    }
    if (limits->depth < 8 || limits->depth > DEPTH_MOST) {
        return lr_publish(REC_E_ARGUMENT, "rec_context_set_limits: depth must be from 8 to %d, not %u", DEPTH_MOST,
                          (unsigned)limits->depth);
    }
    /* Members that the caller's header lacks keep their values. */
    memcpy(&context->limits, limits, limits->size < sizeof *limits ? limits->size : sizeof *limits);
    context->limits.size = sizeof context->limits;
    lr_publish_ok();
    return REC_OK;
}

void rec_context_set_progress(rec_context *context, rec_progress_fn callback, void *user)
{
    if (!LR_NULL(context)) {
        context->progress = callback;
        context->progress_user = user;
    }
}

void rec_context_set_notes(rec_context *context, rec_note_fn callback, void *user)
{
    if (!LR_NULL(context)) {
        context->note = callback;
        context->note_user = user;
    }
}

rec_status rec_context_set_threads(rec_context *context, uint32_t threads)
{
    if (LR_NULL(context)) {
        return REC_E_ARGUMENT;
    }
    if (threads < 1 || threads > THREADS_MOST) {
        return lr_publish(REC_E_ARGUMENT, "rec_context_set_threads: from 1 to %d, not %u", THREADS_MOST,
                          (unsigned)threads);
    }
    context->threads = threads;
    lr_publish_ok();
    return REC_OK;
}

uint32_t rec_context_threads(const rec_context *context)
{
    return context ? context->threads : 0;
}

rec_status rec_context_set_spill(rec_context *context, uint64_t bytes)
{
    if (LR_NULL(context)) {
        return REC_E_ARGUMENT;
    }
    context->spill = bytes == REC_UNKNOWN ? 0 : bytes ? bytes : 1;
    lr_publish_ok();
    return REC_OK;
}

rec_status rec_context_set_data(rec_context *context, const char *folder)
{
    rec_job job;
    char *copy = NULL;
    lr_job_open(&job, context, "set", NULL);
    if (folder && *folder != '/') {
        (void)rec_fail_found(&job, REC_E_ARGUMENT, REC_UNKNOWN, "the absolute path of a directory", "\"%.200s\"",
                             folder);
    } else if (folder && !lr_job_failed(&job) && !(copy = lr_strdup(job.allocator, folder))) {
        (void)lr_fail_memory(&job, strlen(folder) + 1);
    }
    if (!lr_job_failed(&job)) {
        lr_release(job.allocator, job.context->data);
        job.context->data = copy;
    }
    return lr_job_end(&job);
}
