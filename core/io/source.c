/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sources: reference-counted, named bytes. Functions for all kinds, memory sources, and blobs in sources. */
#include <inttypes.h>
#include <string.h>

#include "core/io/io_private.h"
#include "os/map.h"

enum { HEAD_MOST = 64 * 1024 };

/* ------------------------------------------------------------------------------------------------------ memory -- */

static void memory_release(rec_source *source)
{
    if (source->free_data) {
        source->free_data(source->free_user, source->data);
    }
}

/* Born ready: nothing is asked of it. */
static const lr_source_ops memory_ops = {.stored = true, .release = memory_release};

bool lr_lock_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t kind;
    bool made;
    if (pthread_mutexattr_init(&kind) != 0) {
        return false;
    }
    made = pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK) == 0 && pthread_mutex_init(lock, &kind) == 0;
    (void)pthread_mutexattr_destroy(&kind);
    return made;
}

/* Numbers of sources, of which none is given twice: an address may be. */
static atomic_uint_fast64_t last_number;

static rec_source *source_alloc(const lr_allocator *allocator, const char *name)
{
    size_t length = strlen(name) + 1;
    rec_source *source = lr_zalloc(allocator, sizeof *source + length);
    if (source && !lr_lock_init(&source->lock)) {
        lr_release(allocator, source);
        source = NULL;
    }
    if (source) {
        atomic_init(&source->count, 1);
        atomic_init(&source->ready, false);
        source->file = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed);
        source->ops = &memory_ops;
        source->allocator = allocator;
        source->pages.allocator = allocator;
        memcpy(source->name, name, length);
    }
    return source;
}

rec_source *lr_source_new(rec_job *job, const char *name)
{
    rec_source *source = source_alloc(job->allocator, name ? name : "");
    if (!source) {
        (void)lr_fail_memory(job, sizeof *source);
    }
    return source;
}

uint64_t lr_source_size_unknown(const rec_source *source)
{
    (void)source;
    return REC_UNKNOWN;
}

void lr_source_derive(rec_source *source, const rec_source *from)
{
    source->file = from->file;
    source->file_size = lr_source_file_size(from);
    source->derived = true;
}

uint64_t lr_source_file_size(const rec_source *source)
{
    return source->derived ? source->file_size : rec_source_size(source);
}

void lr_source_ready(rec_source *source, const void *data, uint64_t size)
{
    source->data = data ? data : (const uint8_t *)"";
    source->size = size;
    atomic_store_explicit(&source->ready, true, memory_order_release);
}

rec_source *lr_source_memory(rec_job *job, const void *data, uint64_t size, const char *name)
{
    rec_source *source = lr_source_new(job, name);
    if (source) {
        lr_source_ready(source, data, size);
        lr_job_input(job, size);
    }
    return source;
}

/* Without a job: NULL is out of memory, and the data stay the caller's. */
rec_source *lr_source_owned(const lr_allocator *allocator, const void *data, uint64_t size,
                            void (*free_data)(void *user, const void *data), void *user)
{
    rec_source *source = source_alloc(allocator, "memory");
    if (source) {
        source->free_data = free_data;
        source->free_user = user;
        lr_source_ready(source, data, size);
    }
    return source;
}

/* ---------------------------------------------------------------------------------------------- any kind of it -- */

rec_source *lr_source_of(rec_job *job, const char *name, const lr_source_ops *ops, void *self)
{
    rec_source *source = lr_source_new(job, name);
    if (source) {
        source->ops = ops;
        source->self = self;
    }
    return source;
}

void lr_source_become(rec_source *source, const lr_source_ops *ops, void *self)
{
    source->ops = ops;
    source->self = self;
    source->located = source->far = true;
}

void *lr_source_self(const rec_source *source)
{
    return source->self;
}

rec_source *lr_source_retain(rec_source *source)
{
    if (!source) {
        return NULL;
    }
    (void)atomic_fetch_add_explicit(&source->count, 1, memory_order_relaxed);
    return source;
}

static bool is_ready(const rec_source *source)
{
    return atomic_load_explicit(&source->ready, memory_order_acquire);
}

/* Whether its bytes can be had in parts, none of which is kept. */
static bool is_deferred(const rec_source *source)
{
    return !is_ready(source) && source->ops->read_at;
}

bool lr_source_is_readable(const rec_source *source)
{
    return is_ready(source) || is_deferred(source);
}

bool lr_source_ended(const rec_source *source)
{
    return is_ready(source) || !source->ops->ended || source->ops->ended(source);
}

bool lr_source_mapped(const rec_source *source)
{
    return source->mapped;
}

bool lr_source_is_stored(const rec_source *source)
{
    return !source || source->ops->stored;
}

bool lr_source_is_far(const rec_source *source)
{
    return source && is_deferred(source) && (source->far || !source->ops->stored);
}

bool lr_source_is_folder(const rec_source *source)
{
    return source->ops->names != NULL;
}

const uint8_t *lr_source_in_memory(const rec_source *source, uint64_t offset, uint64_t size)
{
    return is_ready(source) && offset <= source->size && size <= source->size - offset ? source->data + offset : NULL;
}

int32_t lr_source_enter(rec_job *job, const rec_source *source, pthread_mutex_t *lock)
{
    if (pthread_mutex_lock(lock) == 0) {
        return REC_OK;
    }
    if (source->programs) {
        return lr_io_fail(job, source->name, REC_E_ARGUMENT, REC_UNKNOWN, NULL,
                          "the program's function that supplies these bytes requests them itself");
    }
    return lr_breach(job, REC_UNKNOWN, "has a source, %s, that reads itself", source->name);
}

int32_t lr_source_read_whole(rec_job *job, rec_source *source)
{
    uint64_t size = source->ops->size(source);
    int32_t status;
    if (!lr_pages_grow(&source->pages, size)) {
        return lr_fail_memory(job, size);
    }
    status = source->ops->read_at(job, source, 0, source->pages.data, size);
    if (status == REC_OK) {
        lr_source_ready(source, source->pages.data, size);
    } else {
        lr_pages_free(&source->pages);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------- failures -- */

/* Remembers a failure of the bytes or of their maker: later reads fail the same way, without waiting for a server
 * or filling a disk once more. What the system, memory or the caller is short of may pass. */
static int32_t remember(const rec_job *job, rec_source *source, int32_t status)
{
    bool lasts = status == REC_E_FORMAT || status == REC_E_LIMIT || status == REC_E_IO || status == REC_E_PLUGIN;
    lr_error *none = NULL, *copy;
    if (!lasts || job->error.number || atomic_load(&source->failure)) {
        return status;
    }
    copy = lr_alloc(source->allocator, sizeof *copy);
    if (copy) {
        *copy = job->error;
    }
    if (copy && !atomic_compare_exchange_strong(&source->failure, &none, copy)) {
        lr_release(source->allocator, copy); /* another thread was faster */
    }
    return status;
}

/* Fails again as it failed before. */
static int32_t recall(rec_job *job, rec_source *source)
{
    const lr_error *failure = atomic_load(&source->failure);
    if (failure && !lr_job_failed(job)) {
        job->error = *failure;
    }
    return job->error.status;
}

/* Bytes that are fetched or computed when a reader requests them. */
static int32_t read_part(rec_job *job, rec_source *source, uint64_t offset, void *target, uint64_t size)
{
    int32_t status = source->far ? recall(job, source) : REC_OK;
    if (status == REC_OK) {
        status = source->ops->read_at(job, source, offset, target, size);
    }
    return source->far ? remember(job, source, status) : status;
}

/* Makes the view, unless it cannot be read. */
static int32_t view_it(rec_job *job, rec_source *source)
{
    int32_t status = recall(job, source);
    if (status == REC_OK) {
        status = source->ops->view ? source->ops->view(job, source) : lr_source_read_whole(job, source);
        status = remember(job, source, status);
    }
    return status;
}

/* Calls a function that makes it ready, unless another thread was faster. */
static int32_t make_ready(rec_job *job, rec_source *source, int32_t (*make)(rec_job *job, rec_source *source))
{
    int32_t status = lr_source_enter(job, source, &source->lock);
    if (status != REC_OK) {
        return status;
    }
    if (!is_ready(source)) {
        status = make(job, source);
    }
    (void)pthread_mutex_unlock(&source->lock);
    return status;
}

static int32_t make_view(rec_job *job, rec_source *source)
{
    return make_ready(job, source, view_it);
}

/* Reads bytes for inspection from a source that is not read otherwise; they live as long as the source. */
static int32_t look_at(rec_job *job, rec_source *source, uint64_t at, uint64_t size, uint8_t **kept)
{
    uint8_t *bytes;
    int32_t status;
    if (*kept) {
        return REC_OK;
    }
    bytes = lr_alloc(source->allocator, size);
    status = bytes ? source->ops->read_at(job, source, at, bytes, size) : lr_fail_memory(job, size);
    if (status == REC_OK) {
        *kept = bytes;
    } else {
        lr_release(source->allocator, bytes);
    }
    return status;
}

int32_t lr_source_head(rec_job *job, rec_source *source, rec_head *head)
{
    int32_t status = REC_OK;
    const void *data = "";
    *head = (rec_head){.size = sizeof *head, .total = rec_source_size(source), .name = ""};
    if (source->located || source->ops->beside) {
        head->name = lr_own_name(source->name);
    }
    if (source->ops->names) {
        head->data = data;
        status = rec_source_names(job, source, &head->names, &head->name_count);
    } else if (!is_ready(source) && source->ops->head) {
        status = source->ops->head(job, source, HEAD_MOST, &head->data, &head->length);
    } else if (is_deferred(source)) {
        uint64_t length = head->total < HEAD_MOST ? head->total : HEAD_MOST;
        status = look_at(job, source, 0, length, &source->head);
        head->data = source->head;
        head->length = status == REC_OK ? length : 0;
    } else {
        status = rec_source_view(job, source, &data, &head->length);
        head->data = data;
        head->length = head->length < HEAD_MOST ? head->length : HEAD_MOST;
    }
    return status;
}

int32_t lr_source_tail(rec_job *job, rec_source *source, rec_head *head)
{
    uint64_t size = is_ready(source) || is_deferred(source) ? rec_source_size(source) : 0;
    uint64_t length = size < HEAD_MOST ? size : HEAD_MOST;
    int32_t status = REC_OK;
    head->tail = NULL;
    head->tail_length = 0;
    if (length && is_ready(source)) {
        head->tail = source->data + (size - length);
    } else if (length) {
        status = look_at(job, source, size - length, length, &source->tail);
        head->tail = source->tail;
    }
    head->tail_length = head->tail ? length : 0;
    return status;
}

int32_t lr_source_settle(rec_job *job, rec_source *source)
{
    bool shared = atomic_load_explicit(&source->count, memory_order_acquire) > 1;
    bool settles = source->ops->stored && !source->ops->lasting;
    return shared && is_deferred(source) && settles ? make_view(job, source) : REC_OK;
}

int32_t lr_source_at_hand(rec_job *job, rec_source *source, uint64_t offset, uint64_t size, const uint8_t **data)
{
    int32_t status = REC_OK;
    uint64_t end;
    if (source->may_map && is_deferred(source)) {
        status = make_view(job, source);
    }
    if (status == REC_OK && is_ready(source) && (status = lr_source_check_whole(job, source, false)) == REC_OK) {
        if (!lr_add(offset, size, &end) || end > source->size) {
            return lr_io_fail(job, source->name, REC_E_FORMAT, offset, NULL,
                              "%" PRIu64 " bytes are expected here, but the file has %" PRIu64, size, source->size);
        }
        *data = source->data + offset;
    }
    return status;
}

int32_t lr_source_map_late(rec_job *job, rec_source *source)
{
    return !is_ready(source) && source->ops->map_late ? make_ready(job, source, source->ops->map_late) : REC_OK;
}

/* ----------------------------------------------------------------------------------- the functions of plugin.h -- */

/* What a save may not do: the sources of what it saves are those of a record that others read, too. */
static bool reads_in_save(rec_job *job, const char *function)
{
    bool saves = lr_call_is(LR_CALL_SAVE);
    if (saves) {
        (void)lr_breach(job, REC_UNKNOWN, "called %s() while it saves", function);
    }
    return saves;
}

const char *rec_source_name(const rec_source *source)
{
    return LR_LACKS(NULL, source) ? "" : source->name;
}

void rec_fail_source(rec_job *job, const rec_source *source)
{
    if (!LR_LACKS(job, job) && !LR_LACKS(job, source)) {
        lr_fail_file(job, source->name);
    }
}

uint64_t rec_source_size(const rec_source *source)
{
    if (LR_LACKS(NULL, source)) {
        return REC_UNKNOWN;
    }
    return is_ready(source) ? source->size : source->ops->size(source);
}

int32_t rec_source_names(rec_job *job, rec_source *source, const char *const **names, uint64_t *count)
{
    if (LR_LACKS(job, job) || LR_LACKS(job, source) || LR_LACKS(job, names) || LR_LACKS(job, count)) {
        return lr_breach_status(job);
    }
    *count = 0;
    *names = source->ops->names ? source->ops->names(source, count) : NULL;
    return job->error.status;
}

int32_t rec_source_view(rec_job *job, rec_source *source, const void **data, uint64_t *size)
{
    int32_t status;
    if (LR_LACKS(job, job) || LR_LACKS(job, source) || LR_LACKS(job, data) || LR_LACKS(job, size)) {
        return lr_breach_status(job);
    }
    status = is_ready(source) ? lr_source_check_whole(job, source, false) : make_view(job, source);
    lr_source_step(job, source);
    if (status == REC_OK) {
        lr_source_feeds(source);
    }
    *data = status == REC_OK ? source->data : NULL;
    *size = status == REC_OK ? source->size : 0;
    return status;
}

int32_t rec_source_read(rec_job *job, rec_source *source, void *target, uint64_t room, uint64_t *got)
{
    bool ready;
    uint64_t left, whole;
    int32_t status = REC_OK;
    if (LR_LACKS(job, job) || LR_LACKS(job, source) || LR_LACKS(job, got) || (room && LR_LACKS(job, target)) ||
        reads_in_save(job, __func__)) {
        return lr_breach_status(job);
    }
    ready = is_ready(source);
    if (!ready && source->ops->next) {
        return source->ops->next(job, source, target, room, got);
    }
    whole = ready ? source->size : source->ops->size(source);
    /* A filter that gave more before it was spooled than while it was has broken its word. */
    left = source->position < whole ? whole - source->position : 0;
    *got = room < left ? room : left;
    if (!ready) {
        status = read_part(job, source, source->position, target, *got);
        *got = status == REC_OK ? *got : 0;
    } else if (*got) {
        memcpy(target, source->data + source->position, (size_t)*got);
    }
    source->position += *got;
    return status;
}

int32_t rec_source_rewind(rec_job *job, rec_source *source)
{
    if (LR_LACKS(job, job) || LR_LACKS(job, source) || reads_in_save(job, __func__)) {
        return lr_breach_status(job);
    }
    if (source->ops->rewind && !is_ready(source)) {
        return source->ops->rewind(job, source);
    }
    source->position = 0;
    return REC_OK;
}

int32_t lr_source_check_place(rec_job *job, const rec_source *source, uint64_t offset, uint64_t size, uint64_t whole)
{
    char need[32], have[32], from[32];
    if (offset > whole || size > whole - offset) {
        return lr_io_fail(job, source->name, REC_E_FORMAT, offset, "The file is truncated or damaged.",
                          "%s bytes are needed from byte %s on, but there are only %s bytes",
                          lr_group_digits(size, need, sizeof need), lr_group_digits(offset, from, sizeof from),
                          lr_group_digits(whole, have, sizeof have));
    }
    return REC_OK;
}

/* Returns a range of the view, and makes the view first. */
static int32_t view_at(rec_job *job, rec_source *source, uint64_t offset, uint64_t size, const uint8_t **at)
{
    const void *data;
    uint64_t whole;
    int32_t status = rec_source_view(job, source, &data, &whole);
    if (status == REC_OK) {
        status = lr_source_check_place(job, source, offset, size, whole);
    }
    if (status == REC_OK) {
        *at = (const uint8_t *)data + offset;
    }
    return status;
}

/* For a large file a window is better than the whole view where memory is limited. */
static bool wants_no_map(const rec_job *job, const rec_source *source, uint64_t size)
{
    return job->context->spill && size >= job->context->spill && size == source->ops->size(source);
}

int32_t rec_source_at_hand(rec_job *job, rec_source *source, uint64_t offset, uint64_t size, const void **data)
{
    int32_t status = REC_OK;
    uint64_t whole;
    bool ready;
    if (LR_LACKS(job, job) || LR_LACKS(job, source) || LR_LACKS(job, data)) {
        return lr_breach_status(job);
    }
    *data = NULL;
    if (!is_ready(source) && source->ops->map && !wants_no_map(job, source, size)) {
        status = make_ready(job, source, source->ops->map);
    }
    if (status != REC_OK) {
        return status;
    }
    ready = is_ready(source); /* another thread may make it so while this one looks */
    whole = ready ? source->size : source->ops->size(source);
    if (whole != REC_UNKNOWN) {
        status = lr_source_check_place(job, source, offset, size, whole);
    }
    if (status == REC_OK && ready) {
        status = lr_source_check_whole(job, source, false);
    }
    if (status == REC_OK && ready) {
        lr_source_feeds(source);
        *data = source->data + offset;
    }
    return status;
}

int32_t rec_source_read_at(rec_job *job, rec_source *source, uint64_t offset, void *target, uint64_t size)
{
    const uint8_t *at;
    int32_t status;
    if (LR_LACKS(job, job) || LR_LACKS(job, source) || (size && LR_LACKS(job, target))) {
        return lr_breach_status(job);
    }
    /* Between headers of a mapped file no page is touched: headers are read. */
    if (is_deferred(source) || (job->stepped == source && source->mapped && source->ops->read_at)) {
        uint64_t whole = source->ops->size(source);
        status = whole == REC_UNKNOWN ? REC_OK : lr_source_check_place(job, source, offset, size, whole);
        return status == REC_OK ? read_part(job, source, offset, target, size) : status;
    }
    status = view_at(job, source, offset, size, &at);
    if (status == REC_OK && size) {
        memcpy(target, at, (size_t)size);
    }
    return status;
}

void lr_source_release(rec_source *source)
{
    if (!source || atomic_fetch_sub_explicit(&source->count, 1, memory_order_acq_rel) != 1) {
        return;
    }
    if (source->ops->release) {
        source->ops->release(source);
    }
    lr_source_release(atomic_load(&source->fed_by));
    lr_watch_end(source->watch);
    lr_map_end(source->map, source->map_size);
    lr_pages_free(&source->pages);
    lr_release(source->allocator, source->head);
    lr_release(source->allocator, source->tail);
    lr_release(source->allocator, atomic_load(&source->failure));
    (void)pthread_mutex_destroy(&source->lock);
    lr_release(source->allocator, source);
}

/* ------------------------------------------------------------------------------------------------------- blobs -- */

/* What the first version of the struct had: none was ever smaller. */
#define BLOB_LEAST (offsetof(rec_blob, user) + sizeof(void *))

int32_t lr_blob_check(rec_job *job, const rec_blob *blob, rec_blob *copy)
{
    bool sound;
    *copy = (rec_blob){0};
    if (!lr_size_check(job, "a blob", blob->size, BLOB_LEAST)) {
        return job->error.status;
    }
    memcpy(copy, blob,
           blob->size < sizeof *copy ? blob->size
                                     : sizeof *copy); /* members that the other side does not know count as zero */
    switch (copy->kind) {
    case REC_BLOB_VIEW:
    case REC_BLOB_TEMPORARY:
        sound = copy->data || copy->length == 0;
        break;
    case REC_BLOB_RANGE:
        sound = copy->source != NULL;
        break;
    case REC_BLOB_STREAM:
        sound = copy->read != NULL;
        break;
    default:
        sound = false;
        break;
    }
    return sound ? REC_OK
                 : lr_breach(job, REC_UNKNOWN, "gave a blob of kind %d without what that kind needs", (int)copy->kind);
}

bool lr_blob_in_parts(const rec_blob *blob)
{
    const rec_source *source = blob->source;
    return blob->kind == REC_BLOB_RANGE && !source->may_map && is_deferred(source);
}

int32_t lr_blob_view(rec_job *job, const rec_blob *blob, const uint8_t **data)
{
    if (blob->kind == REC_BLOB_RANGE) {
        return view_at(job, blob->source, blob->offset, blob->length, data);
    }
    *data = blob->kind == REC_BLOB_STREAM ? NULL : blob->data;
    return REC_OK;
}

int32_t lr_blob_next(rec_job *job, const rec_blob *blob, void *target, uint64_t size)
{
    lr_call call;
    int32_t status;
    lr_call_begin(&call, job, LR_CALL_BLOB, NULL);
    status = blob->read(blob->user, target, size);
    lr_call_end(&call);
    return lr_said_why(job, status, "a blob's read function");
}

int32_t rec_blob_read(rec_job *job, const rec_blob *blob, uint64_t offset, void *target, uint64_t size)
{
    rec_blob b;
    const uint8_t *data;
    int32_t status;
    if (LR_LACKS(job, job) || LR_LACKS(job, blob) || (size && LR_LACKS(job, target))) {
        return lr_breach_status(job);
    }
    status = lr_blob_check(job, blob, &b);
    if (status != REC_OK) {
        return status;
    }
    if (offset > b.length || size > b.length - offset) {
        char need[32], have[32], from[32];
        return lr_breach(job, REC_UNKNOWN, "requested %s bytes from byte %s on, of a blob of %s bytes",
                         lr_group_digits(size, need, sizeof need), lr_group_digits(offset, from, sizeof from),
                         lr_group_digits(b.length, have, sizeof have));
    }
    if (size == 0) {
        return REC_OK;
    }
    if (b.kind == REC_BLOB_STREAM) {
        return lr_blob_next(job, &b, target, size);
    }
    if (lr_blob_in_parts(&b)) {
        return rec_source_read_at(job, b.source, b.offset + offset, target, size);
    }
    status = lr_blob_view(job, &b, &data);
    if (status == REC_OK) {
        memcpy(target, data + offset, (size_t)size);
    }
    return status;
}
