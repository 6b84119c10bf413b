/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A codec that breaks its contract: it passes bytes on as they are, and its option `coding` says what it does wrong.
 * And where files are that are nowhere: what follows the scheme says what is done wrong with them. */
#include "breach.h"

#include <stddef.h>
#include <stdlib.h>

/** Bytes of a piece. */
enum { CODED = 4 };

/** One that is asked to stand before something. */
typedef struct coding {
    const char *breach;
    rec_source *parent;
    rec_job *job;
    rec_sink *own;
    uint64_t used; /**< bytes of the piece that is made */
    int32_t begun;
    void (*made)(void *user, const rec_piece *piece); /**< of a part of the whole, or NULL */
    void *user;
} coding;

static coding *coding_new(const char *breach, rec_source *parent)
{
    coding *self = calloc(1, sizeof *self);
    if (self) {
        *self = (coding){.breach = breach, .parent = parent};
    }
    return self;
}

static int32_t pass_read(void *self, rec_job *job, void *target, uint64_t room, uint64_t *got)
{
    const coding *x = self;
    if (IS("decoding that gives more than there is room for")) {
        *got = room * 2;
        return REC_OK;
    }
    if (IS("decoding that fails without a word")) {
        return REC_E_FORMAT;
    }
    return rec_source_read(job, x->parent, target, room, got);
}

static int32_t pass_rewind(void *self, rec_job *job)
{
    const coding *x = self;
    return rec_source_rewind(job, x->parent);
}

static const rec_source_ops source_ops = {
    .size = sizeof(rec_source_ops), .read = pass_read, .rewind = pass_rewind, .release = free};

static int32_t pass(const coding *x, rec_job *job, rec_source *stored, rec_source **out)
{
    return rec_source_filter(job, stored, &source_ops, coding_new(x->breach, stored), out);
}

static int32_t decode(rec_job *job, rec_source *stored, rec_source **out)
{
    coding here = {.breach = rec_job_option_text(job, "coding"), .parent = stored}, *x = &here;
    rec_source *other = NULL;
    int32_t status;
    if (IS("decode without a report")) {
        return 77;
    }
    if (IS("decode of nothing")) {
        return REC_OK;
    }
    if (IS("decode that gives what it was given")) {
        *out = stored;
        return REC_OK;
    }
    if (IS("decode that gives what it has given back")) {
        status = pass(x, job, stored, out);
        rec_source_release(*out);
        return status;
    }
    if (IS("decode that gives what is none")) {
        *out = (rec_source *)(void *)x;
        return REC_OK;
    }
    if (IS("decode that gives and fails")) {
        status = pass(x, job, stored, out);
        return status == REC_OK ? rec_fail(job, REC_E_FORMAT, 3, "not a file of this codec") : status;
    }
    if (IS("decode that gives and fails without a word")) {
        status = pass(x, job, stored, out);
        return status == REC_OK ? REC_E_FORMAT : status;
    }
    if (IS("decode that reports and gives")) {
        status = pass(x, job, stored, out);
        (void)rec_fail(job, REC_E_FORMAT, 3, "not a file of this codec");
        return status;
    }
    if (IS("decode that releases what it was given")) {
        rec_source_release(stored);
    }
    if (IS("decode that keeps another one")) {
        status = pass(x, job, stored, &other);
        if (status != REC_OK) {
            return status;
        }
    }
    if (IS("decode that makes a sink")) {
        (void)rec_sink_layout(job);
    }
    if (IS("decode that walks")) {
        (void)rec_job_walk(job, &breach_writer, nowhere);
    }
    return pass(x, job, stored, out);
}

/** Between a head and a tail of a byte each. */
static int32_t pass_write(void *self, rec_sink *target, const void *data, uint64_t size)
{
    coding *x = self;
    const char *from = data;
    int32_t status = REC_OK;
    if (IS("encoding that fails without a word")) {
        return REC_E_IO;
    }
    if (IS("encoding that closes its target")) {
        return rec_sink_close(target);
    }
    if (!x->begun && (!x->made || IS("part with a head"))) {
        status = rec_sink_write(target, "(", 1);
    }
    x->begun = 1;
    while (size && status == REC_OK) {
        uint64_t some = size < CODED - x->used ? size : CODED - x->used;
        status = rec_sink_write(target, from, some);
        x->used += some;
        from += some;
        size -= some;
        if (x->used == CODED && status == REC_OK) {
            const rec_piece piece = {.size = IS("piece of another size") ? CODED + 1 : CODED};
            x->used = 0;
            if (x->made && !IS("pieces that are not told")) {
                x->made(IS("piece for nobody")          ? NULL
                        : IS("piece for somebody else") ? x
                                                        : x->user,
                        IS("piece that is NULL") ? nowhere : &piece);
            }
        }
    }
    return status;
}

static int32_t pass_finish(void *self, rec_sink *target)
{
    (void)self;
    return rec_sink_write(target, ")", 1);
}

static void (*last_made)(void *user, const rec_piece *piece);
static void *last_user;

static int32_t pass_part(void *self, void (*made)(void *user, const rec_piece *piece), void *user)
{
    coding *x = self;
    const rec_piece piece = {.size = CODED};
    x->made = last_made = made;
    x->user = last_user = user;
    if (IS("part without a report")) {
        return 77;
    }
    if (IS("part that fails without a word")) {
        return REC_E_IO;
    }
    if (IS("part that reports and goes on")) {
        (void)rec_fail(x->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a codec that cannot do this");
    }
    if (IS("part that tells at once")) {
        made(user, &piece);
    }
    if (IS("part that writes to itself")) {
        return rec_sink_write(x->own, "(", 1);
    }
    if (IS("part that closes itself")) {
        return rec_sink_close(x->own);
    }
    return REC_OK;
}

static int32_t pass_finish_part(void *self, rec_sink *target, int32_t last)
{
    coding *x = self;
    const rec_piece piece = {.size = x->used};
    if (IS("end of a part without a report")) {
        return 77;
    }
    if (IS("end of a part that reports and goes on")) {
        (void)rec_fail(x->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a codec that cannot do this");
    }
    if (IS("end of a part that closes its target")) {
        return rec_sink_close(target);
    }
    if (IS("end of a part that writes to itself")) {
        return rec_sink_write(x->own, "(", 1);
    }
    if (IS("end of a part that closes itself")) {
        return rec_sink_close(x->own);
    }
    if (IS("end of a part with a tail") && last) {
        return rec_sink_write(target, ")", 1);
    }
    if (x->used) {
        x->made(x->user, &piece);
    }
    return REC_OK;
}

static int32_t pass_ends(void *self, rec_sink *target, uint64_t size, const rec_piece *pieces, uint64_t count,
                         int32_t tail)
{
    coding *x = self;
    const rec_piece piece = {.size = CODED};
    (void)pieces;
    if (IS("ends without a report")) {
        return 77;
    }
    if (IS("ends that fail without a word")) {
        return REC_E_IO;
    }
    if (IS("ends that report and go on")) {
        (void)rec_fail(x->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a codec that cannot do this");
    }
    if (IS("ends that close their target")) {
        return rec_sink_close(target);
    }
    if (IS("ends that close themselves")) {
        return rec_sink_close(x->own);
    }
    if (IS("ends that write to themselves")) {
        return rec_sink_write(x->own, "(", 1);
    }
    if (IS("ends that tell of a piece")) {
        last_made(last_user, &piece);
    }
    if (!size || (size - 1) / CODED + 1 != count) {
        return rec_fail(x->job, REC_E_ARGUMENT, REC_UNKNOWN, "pieces of another file");
    }
    return rec_sink_write(target, tail ? ")" : "(", 1);
}

static rec_sink *pass_through(const coding *x, rec_job *job, rec_sink *target)
{
    rec_sink_ops ops = {.size = sizeof ops,
                        .write = pass_write,
                        .finish = pass_finish,
                        .release = free,
                        .piece = IS("pieces of no bytes")    ? 0
                                 : IS("pieces of all bytes") ? UINT64_MAX
                                                             : CODED,
                        .part = IS("pieces without a part") ? NULL : pass_part,
                        .finish_part = IS("pieces without an end") ? NULL : pass_finish_part,
                        .ends = IS("pieces without ends") ? NULL : pass_ends};
    coding *self = coding_new(x->breach, NULL);
    rec_sink *sink;
    if (IS("functions of 0.1")) {
        ops.size = offsetof(rec_sink_ops, piece);
    }
    if (self) {
        self->job = job;
    }
    sink = rec_sink_filter(job, target, &ops, self);
    if (sink) {
        self->own = sink;
    }
    return sink;
}

static int32_t encode(rec_job *job, rec_sink *target, rec_sink **out)
{
    coding here = {.breach = rec_job_option_text(job, "coding")}, *x = &here;
    if (IS("encode without a report")) {
        return 77;
    }
    if (IS("encode of nothing")) {
        return REC_OK;
    }
    if (IS("encode that gives what it was given")) {
        *out = target;
        return REC_OK;
    }
    if (IS("encode that gives what is none")) {
        *out = (rec_sink *)(void *)x;
        return REC_OK;
    }
    if (IS("encode that gives what it has closed")) {
        *out = pass_through(x, job, target);
        return rec_sink_close(*out);
    }
    if (IS("encode that closes what it was given")) {
        return rec_sink_close(target);
    }
    if (IS("encode that keeps another one")) {
        (void)pass_through(x, job, target);
    }
    if (IS("encode that walks")) {
        int32_t status = rec_job_walk(job, &breach_writer, nowhere);
        if (status != REC_OK) {
            return status;
        }
    }
    *out = pass_through(x, job, target);
    if (*out && IS("encode that reports and gives")) {
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a codec that cannot do this");
    }
    return *out ? REC_OK : REC_E_MEMORY;
}

static const rec_option option = {
    .size = sizeof(rec_option),
    .type = REC_OPTION_TEXT,
    .name = "coding",
    .initial = "none",
    .help = "what is done wrong",
};

const rec_plugin breach_codec = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof(rec_plugin),
    .kind = REC_PLUGIN_CODEC,
    .name = "BreachCodec",
    .extension = "breachz",
    .description = "a codec that breaks its contract",
    .options = (const rec_option *const[]){&option, NULL},
    .decode = decode,
    .encode = encode,
};

/* ---------------------------------------------------------------------------------------------------- a scheme -- */

static int32_t far_read_at(void *self, rec_job *job, uint64_t offset, void *target, uint64_t size)
{
    const coding *x = self;
    (void)job, (void)offset;
    if (IS("bytes that fail without a word")) {
        return REC_E_IO;
    }
    memset(target, 'x', (size_t)size);
    return REC_OK;
}

static uint64_t far_total(void *self)
{
    (void)self;
    return 16;
}

static const rec_source_ops far_ops = {
    .size = sizeof(rec_source_ops), .release = free, .read_at = far_read_at, .total = far_total};

static int32_t far_make(const coding *x, rec_job *job, rec_source **out)
{
    return rec_source_make(job, "far", &far_ops, coding_new(x->breach, NULL), out);
}

static int32_t far_open(rec_job *job, const char *location, rec_source **out)
{
    coding here = {.breach = "none"}, *x = &here;
    static const char *const names[] = {"open without a report",       "open of nothing",
                                        "open that reports and gives", "open of what it has given back",
                                        "open of what is none",        "open that keeps another one",
                                        "open that gives and fails",   "bytes that fail without a word"};
    rec_source *other = NULL;
    int32_t status;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) { /* which outlive the location */
        x->breach = strcmp(location + strlen("breach://"), names[i]) == 0 ? names[i] : x->breach;
    }
    if (IS("open without a report")) {
        return 77;
    }
    if (IS("open of nothing")) {
        return REC_OK;
    }
    if (IS("open of what is none")) {
        *out = (rec_source *)(void *)x;
        return REC_OK;
    }
    if (IS("open that keeps another one")) {
        status = far_make(x, job, &other);
        if (status != REC_OK) {
            return status;
        }
    }
    status = far_make(x, job, out);
    if (status != REC_OK) {
        return status;
    }
    if (IS("open of what it has given back")) {
        rec_source_release(*out);
    }
    if (IS("open that reports and gives")) {
        (void)rec_fail(job, REC_E_IO, REC_UNKNOWN, "nobody is there");
    }
    return IS("open that gives and fails") ? REC_E_IO : REC_OK;
}

const rec_plugin breach_scheme = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof(rec_plugin),
    .kind = REC_PLUGIN_SOURCE,
    .name = "BreachScheme",
    .description = "a scheme that breaks its contract",
    .schemes = (const char *const[]){"breach", NULL},
    .open = far_open,
};
