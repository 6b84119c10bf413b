/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sources whose bytes a plugin or the application provides: read at any offset on demand where possible, otherwise to
 * their end at once. Their functions are called in order and released exactly once. */
#include <string.h>

#include "core/io/io_private.h"

/* The size of the least table of functions. */
#define OPS_LEAST (offsetof(rec_source_ops, release) + sizeof(((rec_source_ops *)0)->release))

struct made {
    rec_source_ops ops; /**< members that the plugin does not know are NULL */
    void *self;
    uint64_t total;
    pthread_mutex_t calls; /**< its functions are called by one thread at a time */
};

static uint64_t made_size(const rec_source *source)
{
    return ((const struct made *)source->self)->total;
}

/* Failures of its functions are about this source: a job may work on several. */
static int32_t say_whose(rec_job *job, const rec_source *source, int32_t status)
{
    status = lr_said_why(job, status, "the function that gives a source's bytes");
    if (status != REC_OK && status != REC_E_CANCELLED) {
        lr_fail_file(job, source->name);
    }
    return status;
}

static int32_t made_read_at(rec_job *job, rec_source *source, uint64_t at, void *target, uint64_t size)
{
    struct made *made = source->self;
    uint8_t *to = target;
    lr_call call;
    int32_t status = lr_source_enter(job, source, &made->calls);
    if (status != REC_OK) {
        return status;
    }
    while (size && status == REC_OK) {
        uint64_t piece = size < LR_IO_PIECE ? size : LR_IO_PIECE;
        lr_call_begin(&call, job, LR_CALL_SOURCE, source);
        status = made->ops.read_at(made->self, job, at, to, piece);
        lr_call_end(&call);
        status = say_whose(job, source, status);
        at += piece;
        to += piece;
        size -= piece;
        if (status == REC_OK && size) {
            status = lr_io_moved(job, piece);
        }
    }
    (void)pthread_mutex_unlock(&made->calls);
    return status;
}

static int32_t made_beside(rec_job *job, rec_source *source, const char *name, bool optional, rec_source **out)
{
    struct made *made = source->self;
    lr_excerpt brief;
    lr_call call;
    int32_t status = lr_source_enter(job, source, &made->calls);
    if (status != REC_OK) {
        return status;
    }
    lr_call_begin(&call, job, LR_CALL_SOURCE, NULL);
    status = made->ops.beside(made->self, job, name, optional, out);
    lr_call_end(&call);
    status = say_whose(job, source, status);
    (void)pthread_mutex_unlock(&made->calls);
    if (*out && !lr_source_take_back(*out)) {
        *out = NULL;
        return lr_breach(job, REC_UNKNOWN, "returned an invalid or released source as a companion file");
    }
    if (status == REC_OK && !*out && !optional) {
        status = lr_breach(job, REC_UNKNOWN, "opened no companion file and reported no error for \"%s\"",
                           lr_excerpt_text(&brief, name));
    }
    if (status == REC_OK && *out) {
        lr_job_sibling(job, rec_source_size(*out));
    }
    return status;
}

static void made_free(struct made *made, const lr_allocator *allocator)
{
    lr_source_release_self(&made->ops, made->self);
    (void)pthread_mutex_destroy(&made->calls);
    lr_release(allocator, made);
}

static void made_release(rec_source *source)
{
    made_free(source->self, source->allocator);
}

static const lr_source_ops made_ops = {
    .stored = true,
    .lasting = true,
    .size = made_size,
    .read_at = made_read_at,
    .release = made_release,
};

static const lr_source_ops made_ops_beside = {
    .stored = true,
    .lasting = true,
    .size = made_size,
    .read_at = made_read_at,
    .beside = made_beside,
    .release = made_release,
};

/* The lr_stream_fn of one that is read to its end. */
static int32_t next(rec_job *job, const rec_source *source, void *user, uint64_t at, void *target, uint64_t room,
                    uint64_t *got)
{
    struct made *made = user;
    uint64_t piece = room < LR_IO_PIECE ? room : LR_IO_PIECE, given = 0;
    lr_call call;
    int32_t status;
    lr_call_begin(&call, job, LR_CALL_SOURCE, NULL);
    status = made->ops.read(made->self, job, target, piece, &given);
    lr_call_end(&call);
    status = say_whose(job, source, status);
    if (status == REC_OK && given > piece) {
        status = lr_breach(job, at, "has a function that gives a source's bytes and gave more than there was room for");
        lr_fail_file(job, source->name);
    }
    *got = status == REC_OK ? given : 0;
    return status;
}

int32_t rec_source_make(rec_job *job, const char *name, const rec_source_ops *ops, void *self, rec_source **out)
{
    rec_source_ops known = {0};
    rec_source *source = NULL;
    struct made *made = NULL;
    char *shown = NULL;
    bool anywhere, locked = false;
    uint64_t total = REC_UNKNOWN;
    lr_call call;
    int32_t status;
    if (out) {
        *out = NULL;
    }
    if (LR_LACKS(job, ops) || !lr_size_check(job, "the functions of a source", ops->size, OPS_LEAST)) {
        return lr_breach_status(job);
    }
    memcpy(&known, ops, ops->size < sizeof known ? ops->size : sizeof known);
    if (LR_LACKS(job, job) || LR_LACKS(job, out) || LR_LACKS(job, name)) {
        lr_source_release_self(&known, self);
        return lr_breach_status(job);
    }
    status = job->error.status;
    if (status == REC_OK && known.total) {
        lr_call_begin(&call, job, LR_CALL_SOURCE, NULL);
        total = known.total(self);
        lr_call_end(&call);
    }
    anywhere = known.read_at && total != REC_UNKNOWN;
    if (status == REC_OK && !anywhere && !known.read) {
        status = lr_breach(job, REC_UNKNOWN,
                           "made a source without `read`, and without `read_at` and a `total` that is known");
    }
    if (status == REC_OK) {
        shown = lr_display_name(job, name);
        source = shown ? lr_source_new(job, shown) : NULL;
        made = lr_zalloc(job->allocator, sizeof *made);
        locked = made && lr_lock_init(&made->calls);
        if (!source || !locked) {
            status = lr_fail_memory(job, sizeof *made);
        }
    }
    if (status != REC_OK) {
        goto done;
    }
    made->ops = known;
    made->self = self;
    made->total = total;
    source->ops = known.beside ? &made_ops_beside : &made_ops;
    source->self = made;
    source->far = true;
    self = NULL;
    known.release = NULL;
    if (total == 0) {
        lr_source_ready(source, NULL, 0);
    } else if (!anywhere) {
        status = lr_source_drain(job, source, next, made, total);
        if (status == REC_OK) {
            status = lr_source_check_total(job, source, total, "Load it again.");
        }
    }
    made = NULL; /* the source's */
    if (status == REC_OK) {
        lr_source_hand(source, false);
        *out = source;
        source = NULL;
    }
done:
    if (made) {
        if (locked) {
            (void)pthread_mutex_destroy(&made->calls);
        }
        lr_release(job->allocator, made);
    }
    lr_source_release(source);
    lr_release(job->allocator, shown);
    lr_source_release_self(&known, self);
    return status;
}
