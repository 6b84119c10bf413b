/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sources whose bytes a plugin or the application gives: memory with a release function, and functions that read at any
 * offset on demand where possible, otherwise to their end at once. They are called in order and released exactly
 * once. */
#include <string.h>

#include "core/io/io_private.h"

/* The sizes of the first versions of the structs: none was ever smaller. */
#define OPS_LEAST (offsetof(rec_source_ops, release) + sizeof(((rec_source_ops *)0)->release))
#define INPUT_LEAST (offsetof(rec_input, release) + sizeof(((rec_input *)0)->release))

struct given {
    rec_source_ops ops; /**< of a plugin; members that it does not know are NULL */
    /* Of the program. */
    int32_t (*read_at)(void *user, uint64_t offset, void *target, uint64_t size);
    int32_t (*read)(void *user, void *target, uint64_t room, uint64_t *got);
    void (*release)(void *user);
    void (*release_data)(void *user, const void *data);
    const void *data;
    bool named; /**< failures are in what its source is called, not in the file that is written */
    void *user; /**< for the functions of either */
    uint64_t total;
    pthread_mutex_t calls; /**< its functions are called by one thread at a time */
};

/* Releases what either gave. */
static void give_back(const struct given *g)
{
    lr_call call;
    lr_source_release_self(&g->ops, g->user);
    lr_call_begin(&call, NULL, LR_CALL_PROGRAM, NULL);
    if (g->release) {
        g->release(g->user);
    }
    if (g->release_data) {
        g->release_data(g->user, g->data);
    }
    lr_call_end(&call);
}

static uint64_t given_size(const rec_source *source)
{
    return ((const struct given *)source->self)->total;
}

/* Failures of a plugin's functions are about this source: a job may work on several. */
static int32_t say_whose(rec_job *job, const rec_source *source, int32_t status)
{
    status = lr_said_why(job, status, "the function that gives a source's bytes");
    if (status != REC_OK && status != REC_E_CANCELLED) {
        lr_fail_file(job, source->name);
    }
    return status;
}

static int32_t read_piece(rec_job *job, rec_source *source, uint64_t at, void *target, uint64_t size)
{
    const struct given *g = source->self;
    lr_call call;
    int32_t status;
    if (source->programs) {
        lr_call_begin(&call, job, LR_CALL_PROGRAM, NULL);
        status = g->read_at(g->user, at, target, size);
        lr_call_end(&call);
        return lr_io_program(job, g->named ? source->name : NULL, at, status,
                             g->named ? "read" : "make the tensor's bytes", g->named);
    }
    lr_call_begin(&call, job, LR_CALL_SOURCE, source);
    status = g->ops.read_at(g->user, job, at, target, size);
    lr_call_end(&call);
    return say_whose(job, source, status);
}

static int32_t given_read_at(rec_job *job, rec_source *source, uint64_t at, void *target, uint64_t size)
{
    struct given *g = source->self;
    uint8_t *to = target;
    int32_t status = lr_source_enter(job, source, &g->calls);
    if (status != REC_OK) {
        return status;
    }
    while (size && status == REC_OK) {
        uint64_t piece = size < LR_IO_PIECE ? size : LR_IO_PIECE;
        status = read_piece(job, source, at, to, piece);
        at += piece;
        to += piece;
        size -= piece;
        if (status == REC_OK && size) {
            status = lr_io_moved(job, piece);
        }
    }
    (void)pthread_mutex_unlock(&g->calls);
    return status;
}

static int32_t given_beside(rec_job *job, rec_source *source, const char *name, bool optional, rec_source **out)
{
    struct given *g = source->self;
    lr_excerpt brief;
    lr_call call;
    int32_t status = lr_source_enter(job, source, &g->calls);
    if (status != REC_OK) {
        return status;
    }
    lr_call_begin(&call, job, LR_CALL_SOURCE, NULL);
    status = g->ops.beside(g->user, job, name, optional, out);
    lr_call_end(&call);
    status = say_whose(job, source, status);
    (void)pthread_mutex_unlock(&g->calls);
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

static void given_release(rec_source *source)
{
    struct given *g = source->self;
    give_back(g);
    (void)pthread_mutex_destroy(&g->calls);
    lr_release(source->allocator, g);
}

static const lr_source_ops given_ops = {
    .stored = true,
    .lasting = true,
    .size = given_size,
    .read_at = given_read_at,
    .release = given_release,
};

static const lr_source_ops given_ops_beside = {
    .stored = true,
    .lasting = true,
    .size = given_size,
    .read_at = given_read_at,
    .beside = given_beside,
    .release = given_release,
};

/* Bytes that are made lie nowhere. */
static const lr_source_ops produced_ops = {
    .lasting = true,
    .size = given_size,
    .read_at = given_read_at,
    .release = given_release,
};

/* @param programs it is the program's. NULL: the job has failed, and nothing was given back. */
static rec_source *make(rec_job *job, const lr_source_ops *ops, const char *name, const struct given *given,
                        bool programs)
{
    rec_source *source = lr_source_new(job, name);
    struct given *g = source ? lr_alloc(job->allocator, sizeof *g) : NULL;
    if (g) {
        *g = *given;
        if (!lr_lock_init(&g->calls)) {
            lr_release(job->allocator, g);
            g = NULL;
        }
    }
    if (!g) {
        (void)lr_fail_memory(job, sizeof *g);
        lr_source_release(source);
        return NULL;
    }
    source->ops = ops;
    source->self = g;
    source->far = true;
    source->programs = programs;
    if (g->total == 0) {
        lr_source_ready(source, NULL, 0);
    }
    return source;
}

/* ------------------------------------------------------------------------------------------------- to their end -- */

/* The lr_stream_fn of one that is read to its end. */
static int32_t next(rec_job *job, const rec_source *source, void *user, uint64_t at, void *target, uint64_t room,
                    uint64_t *got)
{
    const struct given *g = user;
    uint64_t piece = room < LR_IO_PIECE ? room : LR_IO_PIECE, given = 0;
    lr_call call;
    int32_t status;
    lr_call_begin(&call, job, source->programs ? LR_CALL_PROGRAM : LR_CALL_SOURCE, NULL);
    status =
        source->programs ? g->read(g->user, target, piece, &given) : g->ops.read(g->user, job, target, piece, &given);
    lr_call_end(&call);
    status =
        source->programs ? lr_io_program(job, source->name, at, status, "read", true) : say_whose(job, source, status);
    if (status == REC_OK && given > piece && source->programs) {
        status = lr_io_fail(job, source->name, REC_E_ARGUMENT, at, NULL,
                            "the program's `read` gave more bytes than there was room for");
    } else if (status == REC_OK && given > piece) {
        status = lr_breach(job, at, "has a function that gives a source's bytes and gave more than there was room for");
        lr_fail_file(job, source->name);
    }
    *got = status == REC_OK ? given : 0;
    return status;
}

/* Reads to the end. It must be where it was announced. */
static int32_t read_all(rec_job *job, rec_source *source, const char *hint)
{
    char said[32], was[32];
    uint64_t total = given_size(source);
    const lr_stream stream = {.read = next, .user = source->self, .total = total};
    int32_t status = lr_source_drain(job, source, &stream);
    if (status == REC_OK && total != REC_UNKNOWN && total != source->size) {
        status =
            lr_io_fail(job, source->name, REC_E_IO, source->size, hint, "expected %s bytes, found the end after %s",
                       lr_group_digits(total, said, sizeof said), lr_group_digits(source->size, was, sizeof was));
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------- by a plugin -- */

int32_t rec_source_make(rec_job *job, const char *name, const rec_source_ops *ops, void *self, rec_source **out)
{
    struct given g = {.user = self, .total = REC_UNKNOWN};
    rec_source *source = NULL;
    char *shown = NULL;
    bool anywhere;
    lr_call call;
    if (out) {
        *out = NULL;
    }
    if (LR_LACKS(job, ops) || !lr_size_check(job, "the functions of a source", ops->size, OPS_LEAST)) {
        return lr_breach_status(job);
    }
    memcpy(&g.ops, ops, ops->size < sizeof g.ops ? ops->size : sizeof g.ops);
    if (LR_LACKS(job, job) || LR_LACKS(job, out) || LR_LACKS(job, name)) {
        give_back(&g);
        return lr_breach_status(job);
    }
    if (!lr_job_failed(job) && g.ops.total) {
        lr_call_begin(&call, job, LR_CALL_SOURCE, NULL);
        g.total = g.ops.total(self);
        lr_call_end(&call);
    }
    anywhere = g.ops.read_at && g.total != REC_UNKNOWN;
    if (!lr_job_failed(job) && !anywhere && !g.ops.read) {
        (void)lr_breach(job, REC_UNKNOWN,
                        "made a source without `read`, and without `read_at` and a `total` that is known");
    }
    shown = lr_job_failed(job) ? NULL : lr_display_name(job, name);
    source = shown ? make(job, g.ops.beside ? &given_ops_beside : &given_ops, shown, &g, false) : NULL;
    lr_release(job->allocator, shown);
    if (!source) {
        give_back(&g);
    } else if (g.total != 0 && !anywhere && read_all(job, source, "Load it again.") != REC_OK) {
        lr_source_release(source);
    } else {
        lr_source_hand(source, false);
        *out = source;
    }
    return job->error.status;
}

/* --------------------------------------------------------------------------------------------- by the application --
 */

void lr_input_give_back(const rec_input *input, void *user)
{
    if (input->size >= INPUT_LEAST && input->size <= LR_STRUCT_MOST) {
        give_back(&(struct given){.release = input->release, .user = user});
    }
}

rec_source *lr_source_input(rec_job *job, const rec_input *input, void *user)
{
    rec_input known = {0};
    struct given g = {.user = user, .named = true};
    rec_source *source = NULL;
    bool anywhere;
    if (input->size < INPUT_LEAST || input->size > LR_STRUCT_MOST) {
        return LR_AS_NULL(
            rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "the input's `size` is invalid (%u)", (unsigned)input->size));
    }
    memcpy(&known, input, input->size < sizeof known ? input->size : sizeof known);
    if (known.total == 0 && known.read && !known.read_at) {
        known.total = REC_UNKNOWN; /* nobody filled it in; what is empty ends at once */
    }
    anywhere = known.read_at && known.total != REC_UNKNOWN;
    g.total = known.total;
    g.read_at = known.read_at;
    g.read = known.read;
    g.release = known.release;
    if (!known.read && !anywhere) {
        (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "the input needs `read`, or `read_at` with its `total`");
    }
    source = lr_job_failed(job) ? NULL : make(job, &given_ops, known.name ? known.name : "(input)", &g, true);
    if (!source) {
        give_back(&g);
        return NULL;
    }
    if (known.total != 0 && !anywhere) {
        struct given *own = source->self;
        if (read_all(job, source, NULL) != REC_OK) {
            lr_source_release(source);
            return NULL;
        }
        give_back(own); /* its functions are not called again */
        own->release = NULL;
    }
    lr_job_input(job, rec_source_size(source));
    return source;
}

rec_source *lr_source_produced(rec_job *job, const rec_tensor_spec *spec)
{
    const struct given g = {.read_at = spec->produce,
                            .release_data = spec->release,
                            .data = spec->data,
                            .user = spec->user,
                            .total = spec->data_size};
    return make(job, &produced_ops, "a tensor that the program makes", &g, true);
}

rec_source *lr_source_lent(rec_job *job, const void *data, uint64_t size, const char *name,
                           void (*release)(void *user, const void *data), void *user)
{
    const struct given g = {.release_data = release, .data = data, .user = user, .total = size};
    rec_source *source = make(job, &given_ops, name, &g, true);
    if (!source) {
        give_back(&g);
        return NULL;
    }
    source->far = false;
    lr_source_ready(source, data, size);
    lr_job_input(job, size);
    return source;
}
