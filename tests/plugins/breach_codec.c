/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A codec that breaks its contract: it passes bytes on as they are, and its option `coding` says what it does wrong.
 * And where files are that are nowhere: what follows the scheme says what is done wrong with them. */
#include "breach.h"

#include <stdlib.h>

/** One that is asked to stand before something. */
typedef struct coding {
    const char *breach;
    rec_source *parent;
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

static int32_t pass_write(void *self, rec_sink *target, const void *data, uint64_t size)
{
    const coding *x = self;
    if (IS("encoding that fails without a word")) {
        return REC_E_IO;
    }
    if (IS("encoding that closes its target")) {
        return rec_sink_close(target);
    }
    return rec_sink_write(target, data, size);
}

static rec_sink *pass_through(const coding *x, rec_job *job, rec_sink *target)
{
    static const rec_sink_ops ops = {.size = sizeof ops, .write = pass_write, .release = free};
    return rec_sink_filter(job, target, &ops, coding_new(x->breach, NULL));
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
