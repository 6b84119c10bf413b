/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sources that the program provides: memory with a release function, read functions, and tensors produced on demand.
 * They are released exactly once. */
#include <string.h>

#include "core/io/io_private.h"

/* The program's functions. */
struct program {
    int32_t (*read_at)(void *user, uint64_t offset, void *target, uint64_t size);
    int32_t (*read)(void *user, void *target, uint64_t room, uint64_t *got);
    void (*release)(void *user);
    void (*release_data)(void *user, const void *data);
    const void *data;
    void *user;
    uint64_t total;
    bool named; /* failures are in what its source is called, not in the file that is written */
    pthread_mutex_t calls;
};

static void give_back(const struct program *p)
{
    lr_call call;
    lr_call_begin(&call, NULL, LR_CALL_PROGRAM, NULL);
    if (p->release) {
        p->release(p->user);
    }
    if (p->release_data) {
        p->release_data(p->user, p->data);
    }
    lr_call_end(&call);
}

static uint64_t program_size(const rec_source *source)
{
    return ((const struct program *)source->self)->total;
}

static int32_t program_read_at(rec_job *job, rec_source *source, uint64_t at, void *target, uint64_t size)
{
    struct program *p = source->self;
    uint8_t *to = target;
    int32_t status = lr_source_enter(job, source, &p->calls);
    if (status != REC_OK) {
        return status;
    }
    while (size && status == REC_OK) {
        uint64_t piece = size < LR_IO_PIECE ? size : LR_IO_PIECE;
        lr_call call;
        int32_t error;
        lr_call_begin(&call, job, LR_CALL_PROGRAM, NULL);
        error = p->read_at(p->user, at, to, piece);
        lr_call_end(&call);
        status = lr_io_program(job, p->named ? source->name : NULL, at, error,
                               p->named ? "read" : "make the tensor's bytes", p->named);
        at += piece;
        to += piece;
        size -= piece;
        if (status == REC_OK && size) {
            status = lr_io_moved(job, piece);
        }
    }
    (void)pthread_mutex_unlock(&p->calls);
    return status;
}

/* The lr_stream_fn of one that is read to its end. */
static int32_t next(rec_job *job, const rec_source *source, void *user, uint64_t at, void *target, uint64_t room,
                    uint64_t *got)
{
    struct program *p = user;
    uint64_t piece = room < LR_IO_PIECE ? room : LR_IO_PIECE, given = 0;
    lr_call call;
    int32_t status;
    lr_call_begin(&call, job, LR_CALL_PROGRAM, NULL);
    status = p->read(p->user, target, piece, &given);
    lr_call_end(&call);
    status = lr_io_program(job, source->name, at, status, "read", true);
    if (status == REC_OK && given > piece) {
        status = lr_io_fail(job, source->name, REC_E_ARGUMENT, at, NULL,
                            "the program's `read` gave more bytes than there was room for");
    }
    *got = status == REC_OK ? given : 0;
    return status;
}

static void program_release(rec_source *source)
{
    struct program *p = source->self;
    give_back(p);
    (void)pthread_mutex_destroy(&p->calls);
    lr_release(source->allocator, p);
}

static const lr_source_ops program_ops = {
    .stored = true,
    .lasting = true,
    .size = program_size,
    .read_at = program_read_at,
    .release = program_release,
};

/* Bytes that are made lie nowhere. */
static const lr_source_ops produced_ops = {
    .lasting = true,
    .size = program_size,
    .read_at = program_read_at,
    .release = program_release,
};

/* NULL: the job has failed, and nothing was given back. */
static rec_source *make(rec_job *job, const lr_source_ops *ops, const char *name, const struct program *program)
{
    rec_source *source = lr_source_new(job, name);
    struct program *p = source ? lr_alloc(job->allocator, sizeof *p) : NULL;
    if (p) {
        *p = *program;
        if (!lr_lock_init(&p->calls)) {
            lr_release(job->allocator, p);
            p = NULL;
        }
    }
    if (!p) {
        (void)lr_fail_memory(job, sizeof *p);
        lr_source_release(source);
        return NULL;
    }
    source->ops = ops;
    source->self = p;
    source->far = source->programs = true;
    if (p->total == 0) {
        lr_source_ready(source, NULL, 0);
    }
    return source;
}

/* ------------------------------------------------------------------------------------------ what programs give -- */

/* What a struct is at least: its first version. */
#define INPUT_LEAST (offsetof(rec_input, release) + sizeof(((rec_input *)0)->release))

int32_t lr_source_check_total(rec_job *job, const rec_source *source, uint64_t total, const char *hint)
{
    char said[32], was[32];
    return total == REC_UNKNOWN || total == source->size
               ? REC_OK
               : lr_io_fail(job, source->name, REC_E_IO, source->size, hint,
                            "expected %s bytes, found the end after %s", lr_group_digits(total, said, sizeof said),
                            lr_group_digits(source->size, was, sizeof was));
}

/* Reads to the end; the functions are not called again. */
static int32_t read_all(rec_job *job, rec_source *source)
{
    struct program *p = source->self;
    int32_t status = lr_source_drain(job, source, next, p, p->total);
    status = status == REC_OK ? lr_source_check_total(job, source, p->total, NULL) : status;
    if (status == REC_OK) {
        give_back(p);
        p->release = NULL;
    }
    return status;
}

void lr_input_give_back(const rec_input *input, void *user)
{
    if (input->size >= INPUT_LEAST && input->size <= LR_STRUCT_MOST) {
        give_back(&(struct program){.release = input->release, .user = user});
    }
}

rec_source *lr_source_input(rec_job *job, const rec_input *input, void *user)
{
    rec_input known = {0};
    struct program p = {.user = user, .named = true};
    rec_source *source = NULL;
    const char *name;
    bool anywhere;
    if (input->size < INPUT_LEAST || input->size > LR_STRUCT_MOST) {
        (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "the input's `size` is invalid (%u)", (unsigned)input->size);
        return NULL;
    }
    memcpy(&known, input, input->size < sizeof known ? input->size : sizeof known);
    name = known.name ? known.name : "(input)";
    if (known.total == 0 && known.read && !known.read_at) {
        known.total = REC_UNKNOWN; /* nobody filled it in; what is empty ends at once */
    }
    anywhere = known.read_at && known.total != REC_UNKNOWN;
    p.total = known.total;
    p.read_at = known.read_at;
    p.read = known.read;
    p.release = known.release;
    if (lr_job_failed(job)) {
        goto done;
    }
    if (!known.read && !anywhere) {
        (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "the input needs `read`, or `read_at` with its `total`");
        goto done;
    }
    source = make(job, &program_ops, name, &p);
    if (source) {
        p.release = NULL; /* the source's */
    }
    if (source && known.total != 0 && !anywhere && read_all(job, source) != REC_OK) {
        lr_source_release(source);
        source = NULL;
    }
    if (source) {
        lr_job_input(job, rec_source_size(source));
    }
done:
    give_back(&p);
    return source;
}

rec_source *lr_source_produced(rec_job *job, const rec_tensor_spec *spec)
{
    const struct program p = {.read_at = spec->produce,
                              .release_data = spec->release,
                              .data = spec->data,
                              .user = spec->user,
                              .total = spec->data_size};
    return make(job, &produced_ops, "a tensor that the program makes", &p);
}

rec_source *lr_source_lent(rec_job *job, const void *data, uint64_t size, const char *name,
                           void (*release)(void *user, const void *data), void *user)
{
    const struct program p = {.release_data = release, .data = data, .user = user, .total = size};
    rec_source *source = make(job, &program_ops, name, &p);
    if (!source) {
        give_back(&p);
        return NULL;
    }
    source->far = false;
    lr_source_ready(source, data, size);
    lr_job_input(job, size);
    return source;
}
