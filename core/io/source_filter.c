/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sources that give their bytes in order. Filters are made from others (decompression), and obey the limit on inflated
 * bytes. Streams are pipes that are read as far as requested: their first bytes are kept, so that a reader that has
 * read no further can start again. The view of either reads to the end. */
#include <string.h>
#include <unistd.h>

#include "core/io/io_private.h"

static uint64_t inflation_limit(const lr_inflation *all)
{
    uint64_t limit;
    return lr_mul(atomic_load(&all->stored), all->factor, &limit) && lr_add(limit, all->slack, &limit) ? limit
                                                                                                       : UINT64_MAX;
}

static uint64_t inflation_left(const lr_inflation *all)
{
    uint64_t limit = inflation_limit(all), used = atomic_load(&all->used);
    return used < limit ? limit - used : 0;
}

/* ------------------------------------------------------------------------------------------------------ filters -- */

struct filter {
    lr_stream_fn stream; /**< of a stream: reads `fd`; else NULL */
    int fd;
    bool own;           /**< the descriptor is closed with it */
    rec_source *parent; /**< of a filter, until it is spooled; else NULL */
    rec_source_ops ops; /**< members that the plugin does not know are NULL */
    void *self;
    uint64_t input;          /**< size of what it is made from */
    lr_inflation *inflation; /**< what it may give, together with others */
    uint64_t at;             /**< bytes taken from ops.read since it began… */
    uint64_t counted;        /**< …and the most that there ever were: those have been counted */
    bool ended;
    bool busy;     /**< a function of it is running */
    bool failed;   /**< it must begin again before it is used by another job */
    lr_pages kept; /**< the first `peeked` bytes */
    uint64_t peeked;
};

/* Bytes of a stream that are kept, and read at a time. */
#define KEPT_MOST (UINT64_C(4) << 20)
#define KEPT_STEP (UINT64_C(128) << 10)
/* First reservation without a good hint. */
#define SPOOL_FIRST (UINT64_C(4) << 20)
/* A hint may lie: at first no more than this many times the input is believed. */
enum { HINT_BELIEVED = 16 };

void lr_source_release_self(const rec_source_ops *ops, void *self)
{
    lr_call call;
    if (ops->release) {
        lr_call_begin(&call, NULL, LR_CALL_SOURCE, NULL);
        ops->release(self);
        lr_call_end(&call);
    }
}

/* Frees what makes the bytes; what has been made stays. */
static void dismantle(struct filter *filter)
{
    lr_source_release_self(&filter->ops, filter->self);
    filter->ops.release = NULL;
    lr_pages_free(&filter->kept);
    if (filter->own) {
        (void)close(filter->fd);
    }
    filter->own = false;
    lr_source_release(filter->parent);
    filter->parent = NULL;
    lr_inflation_release(filter->inflation);
    filter->inflation = NULL;
}

static void filter_release(rec_source *source)
{
    dismantle(source->self);
    lr_release(source->allocator, source->self);
}

static const lr_source_ops filter_ops;

/* A filter over a filter is measured by the bytes that really came in; of a stream nothing has yet. */
static uint64_t input_size(const rec_source *source)
{
    uint64_t size = rec_source_size(source);
    if (size != REC_UNKNOWN) {
        return size;
    }
    return source->ops == &filter_ops ? ((const struct filter *)source->self)->input : 0;
}

/* A filter must not read from itself: endless recursion. */
static int32_t call_begin(rec_job *job, struct filter *filter, lr_call *call)
{
    if (filter->busy) {
        return lr_breach(job, filter->at, "has a source filter that reads itself");
    }
    filter->busy = true;
    lr_call_begin(call, job, LR_CALL_SOURCE, NULL);
    return REC_OK;
}

static int32_t call_end(rec_job *job, struct filter *filter, const lr_call *call, int32_t status)
{
    lr_call_end(call);
    filter->busy = false;
    return lr_said_why(job, status, "a source filter");
}

/* How far it may go from where it is: over what it has given before, and over what is left. */
static uint64_t allowed_to(const struct filter *filter)
{
    uint64_t again = filter->at < filter->counted ? filter->counted - filter->at : 0, allowed;
    return lr_add(again, inflation_left(filter->inflation), &allowed) ? allowed : UINT64_MAX;
}

/* Reads the next bytes of the filter. It requests one byte beyond the limit: a bomb is detected at once, and data that
 * end exactly at the limit pass. */
static int32_t take(rec_job *job, rec_source *source, void *target, uint64_t room, uint64_t *got)
{
    struct filter *filter = source->self;
    uint64_t allowed = filter->stream ? UINT64_MAX : allowed_to(filter);
    int32_t status;
    char input[32], limit[32];
    lr_call call;
    *got = 0;
    if (filter->ended || room == 0) {
        return REC_OK;
    }
    if (allowed < room) {
        room = allowed + 1;
    }
    status = filter->stream ? filter->stream(job, source, &filter->fd, filter->at, target, room, got)
                            : call_begin(job, filter, &call);
    if (status == REC_OK && !filter->stream) {
        status = call_end(job, filter, &call, filter->ops.read(filter->self, job, target, room, got));
    }
    if (status == REC_OK && *got > room) {
        status = lr_breach(job, filter->at, "has a source filter that gave more bytes than there was room for");
    }
    if (status == REC_OK && *got > allowed) {
        status = lr_io_fail(
            job, source->name, REC_E_LIMIT, filter->at + allowed,
            "If the file can be trusted, raise inflated_factor or inflated_slack (rec_limits, or the INI file).",
            "the file of %s bytes inflates to more than %s bytes, the limit for its size",
            lr_group_digits(atomic_load(&filter->inflation->stored), input, sizeof input),
            lr_group_digits(inflation_limit(filter->inflation), limit, sizeof limit));
    }
    if (status != REC_OK) {
        if (status != REC_E_CANCELLED) {
            lr_fail_file(job, source->name); /* a job that converts works on two files; the place is one of this */
        }
        filter->failed = true;
        *got = 0;
        return status;
    }
    filter->ended = *got == 0;
    filter->at += *got;
    if (!filter->stream && filter->at > filter->counted) {
        (void)atomic_fetch_add_explicit(&filter->inflation->used, filter->at - filter->counted, memory_order_relaxed);
        filter->counted = filter->at;
    }
    return REC_OK;
}

/* Back to the first byte, unless only those were taken that are kept. */
static int32_t begin_again(rec_job *job, const rec_source *source)
{
    struct filter *filter = source->self;
    int32_t status;
    lr_call call;
    if (filter->at <= filter->peeked && (filter->stream || (!filter->failed && !filter->busy))) {
        return REC_OK;
    }
    if (filter->stream) {
        return lr_io_fail(job, source->name, REC_E_UNSUPPORTED, REC_UNKNOWN, "Write it to a file first.",
                          "it must be read twice, but only the beginning of a stream is kept");
    }
    status = call_begin(job, filter, &call);
    if (status == REC_OK) {
        status = call_end(job, filter, &call, filter->ops.rewind(filter->self, job));
    }
    if (status == REC_OK) {
        filter->at = 0;
        filter->ended = filter->failed = false;
        filter->peeked = 0;
    }
    return status;
}

/* More of the first bytes, up to `most` of them. */
static int32_t keep_more(rec_job *job, rec_source *source, uint64_t most)
{
    struct filter *filter = source->self;
    uint64_t size = filter->kept.size, got;
    int32_t status;
    if (filter->peeked == size) {
        size += size > KEPT_STEP ? size : KEPT_STEP;
        size = size < most ? size : most;
        if (!lr_pages_grow(&filter->kept, size)) {
            return lr_fail_memory(job, size);
        }
    }
    size = filter->kept.size < most ? filter->kept.size : most;
    status = take(job, source, filter->kept.data + filter->peeked, size - filter->peeked, &got);
    filter->peeked += got;
    return status;
}

/* @return false: the bytes there are not kept. */
static bool give_kept(const struct filter *filter, uint64_t at, void *target, uint64_t room, uint64_t *got)
{
    if (at < filter->peeked) {
        *got = filter->peeked - at < room ? filter->peeked - at : room;
        memcpy(target, filter->kept.data + at, (size_t)*got);
    }
    return at < filter->peeked;
}

static int32_t filter_next(rec_job *job, rec_source *source, void *target, uint64_t room, uint64_t *got)
{
    struct filter *filter = source->self;
    int32_t status = REC_OK;
    *got = 0;
    if (filter->stream && room && source->position == filter->peeked && filter->at == filter->peeked &&
        !filter->ended && filter->peeked < KEPT_MOST) {
        status = keep_more(job, source, KEPT_MOST);
    }
    if (status == REC_OK && !give_kept(filter, source->position, target, room, got)) {
        status = take(job, source, target, room, got);
    }
    source->position += *got;
    if (status == REC_OK) {
        lr_job_input(job, source->position);
    }
    return status;
}

static int32_t filter_rewind(rec_job *job, rec_source *source)
{
    int32_t status = begin_again(job, source);
    if (status == REC_OK) {
        source->position = 0;
    }
    return status;
}

/* Returns the first bytes. If more of a filter were already read, the whole is spooled instead. */
static int32_t filter_head(rec_job *job, rec_source *source, uint64_t most, const uint8_t **data, uint64_t *size)
{
    struct filter *filter = source->self;
    const void *all;
    int32_t status = REC_OK;
    if (!filter->stream && (filter->at > filter->peeked || filter->failed)) {
        status = rec_source_view(job, source, &all, size);
        *data = all;
        *size = *size < most ? *size : most;
        return status;
    }
    while (filter->peeked < most && !filter->ended && filter->at == filter->peeked && status == REC_OK) {
        status = keep_more(job, source, most);
    }
    *data = filter->kept.data ? filter->kept.data : (const uint8_t *)"";
    *size = filter->peeked < most ? filter->peeked : most;
    return status;
}

static uint64_t first_reservation(const struct filter *filter, uint64_t hint)
{
    uint64_t believed;
    if (hint == REC_UNKNOWN) {
        return SPOOL_FIRST;
    }
    if (lr_mul(filter->input, HINT_BELIEVED, &believed) && hint > believed + SPOOL_FIRST) {
        hint = believed + SPOOL_FIRST;
    }
    /* One byte more than expected: the end is detected when nothing comes. */
    believed = filter->counted + inflation_left(filter->inflation);
    return (hint < believed ? hint : believed) + 1;
}

static uint64_t size_hint(const struct filter *filter)
{
    uint64_t hint = REC_UNKNOWN;
    lr_call call;
    if (filter->ops.size_hint) {
        lr_call_begin(&call, NULL, LR_CALL_SOURCE, NULL);
        hint = filter->ops.size_hint(filter->self);
        lr_call_end(&call);
    }
    return hint;
}

/* The lr_stream_fn of the whole. */
static int32_t next_of(rec_job *job, const rec_source *source, void *user, uint64_t at, void *target, uint64_t room,
                       uint64_t *got)
{
    if (give_kept(user, at, target, room, got)) {
        return REC_OK;
    }
    return take(job, (rec_source *)source, target, room < LR_IO_PIECE ? room : LR_IO_PIECE, got);
}

static int32_t filter_view(rec_job *job, rec_source *source)
{
    struct filter *filter = source->self;
    uint64_t hint = size_hint(filter);
    const lr_stream all = {.read = next_of,
                           .user = filter,
                           .total = REC_UNKNOWN,
                           .first = job->context->spill || filter->stream ? 0 : first_reservation(filter, hint),
                           .hint = hint};
    int32_t status = begin_again(job, source);
    status = status == REC_OK ? lr_source_drain(job, source, &all) : status;
    if (status == REC_OK) {
        dismantle(filter);
        lr_job_input(job, source->size);
    }
    return status;
}

static bool filter_ended(const rec_source *source)
{
    return ((const struct filter *)source->self)->ended;
}

static const lr_source_ops filter_ops = {
    .stored = true,
    .size = lr_source_size_unknown,
    .view = filter_view,
    .next = filter_next,
    .rewind = filter_rewind,
    .head = filter_head,
    .ended = filter_ended,
    .release = filter_release,
};

int32_t lr_source_stream(rec_job *job, rec_source *source, lr_stream_fn read, int fd, bool own)
{
    struct filter *filter = lr_job_zalloc(job, sizeof *filter);
    if (!filter) {
        return job->error.status;
    }
    *filter = (struct filter){.stream = read, .fd = fd, .own = own, .kept = {.allocator = source->allocator}};
    source->ops = &filter_ops;
    source->self = filter;
    return REC_OK;
}

/* What the first version of the struct had: none was ever smaller. */
#define OPS_LEAST (offsetof(rec_source_ops, release) + sizeof(void (*)(void)))

int32_t rec_source_filter(rec_job *job, rec_source *parent, const rec_source_ops *ops, void *self, rec_source **out)
{
    rec_source *source = NULL;
    struct filter *filter = NULL;
    rec_source_ops known = {0};
    int32_t status = REC_OK;
    if (out) {
        *out = NULL;
    }
    if (LR_LACKS(job, ops) || !lr_size_check(job, "the functions of a source filter", ops->size, OPS_LEAST)) {
        return lr_breach_status(job);
    }
    memcpy(&known, ops, ops->size < sizeof known ? ops->size : sizeof known);
    if (LR_LACKS(job, job) || LR_LACKS(job, out) || LR_LACKS(job, parent)) {
        lr_source_release_self(&known, self);
        return lr_breach_status(job);
    }
    if (!known.read || !known.rewind) {
        status = lr_breach(job, REC_UNKNOWN, "made a source filter without `read` and `rewind`");
        goto done;
    }
    if (lr_call_is(LR_CALL_SAVE)) {
        status = lr_breach(job, REC_UNKNOWN, "called rec_source_filter() while it saves");
        goto done;
    }
    source = lr_source_new(job, parent->name);
    filter = lr_zalloc(job->allocator, sizeof *filter);
    if (!source || !filter) {
        status = lr_fail_memory(job, sizeof *filter);
        goto done;
    }
    filter->inflation = lr_inflation_of(job, parent);
    if (!filter->inflation) {
        status = job->error.status;
        goto done;
    }
    filter->parent = lr_source_retain(parent);
    filter->ops = known;
    filter->self = self;
    filter->kept.allocator = job->allocator;
    filter->input = input_size(parent);
    lr_source_derive(source, parent);
    source->ops = &filter_ops;
    source->self = filter;
    lr_source_hand(source, false);
    *out = source;
    source = NULL;
    filter = NULL;
    known.release = NULL;
done:
    lr_release(job->allocator, filter);
    lr_source_release(source);
    lr_source_release_self(&known, self);
    return status;
}
