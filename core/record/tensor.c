/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Tensors: what they are, their bytes, and typed access that converts once and keeps the result. */
#include "core/record/record.h"
#include "core/io/io.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

char *lr_shape_words(char *text, size_t room, const uint64_t *shape, uint64_t rank)
{
    size_t used = (size_t)snprintf(text, room, "[");
    for (uint64_t i = 0; i < rank && used + 24 < room; i++) {
        used += (size_t)snprintf(text + used, room - used, "%s%" PRIu64, i ? ", " : "", shape[i]);
    }
    (void)snprintf(text + used, room - used, used + 24 < room ? "]" : "…]");
    return text;
}

bool lr_tensor_size(rec_dtype dtype, uint64_t count, uint64_t *size)
{
    uint32_t bits = rec_dtype_bits(dtype);
    return bits != 0 && lr_mul(count, bits / 8, size);
}

int32_t lr_fail_data(rec_job *job, uint64_t at, rec_dtype dtype, const uint64_t *shape, uint32_t rank, uint64_t found)
{
    char text[160], expected[256], digits[32];
    uint64_t count, size;
    bool fits = lr_shape_count(shape, rank, &count) && lr_tensor_size(dtype, count, &size);
    (void)snprintf(expected, sizeof expected, "%s bytes of data for %s %s",
                   fits ? lr_group_digits(size, digits, sizeof digits) : "more than 2^64", rec_dtype_name(dtype),
                   lr_shape_words(text, sizeof text, shape, rank));
    return rec_fail_found(job, REC_E_FORMAT, at, expected, "%s", lr_group_digits(found, digits, sizeof digits));
}

void lr_tensor_set_precision(rec_tensor *tensor, rec_precision precision)
{
    if (lr_encoding_of(tensor)->numbers && lr_precision_changes(precision)) {
        *tensor = *tensor->encoding->numbers;
    }
    tensor->dtype = (uint8_t)lr_dtype_at(tensor->stored, precision);
}

/* The tensor itself, or its numbers if it is read as a number type, has none itself, and has as many elements. */
static const rec_tensor *read_as(const rec_tensor *tensor, rec_dtype dtype)
{
    const rec_tensor *numbers = lr_encoding_of(tensor)->numbers;
    return numbers && rec_dtype_bits(dtype) && !rec_dtype_bits(tensor->stored) && numbers->count == tensor->count
               ? numbers
               : tensor;
}

/* ------------------------------------------------------------------------------------------------------- views -- */

enum { VIEW_ALIGNMENT = 64, PATH_SHOWN = 512 };

void lr_tensor_free_views(rec_tensor *tensor)
{
    const lr_allocator *allocator = &tensor->record->context->allocator;
    lr_view *view = atomic_load_explicit(&tensor->views, memory_order_relaxed);
    while (view) {
        lr_view *next = view->next;
        lr_pages_free(&view->pages);
        lr_release(allocator, view);
        view = next;
    }
    atomic_store_explicit(&tensor->views, NULL, memory_order_relaxed);
    if (lr_encoding_of(tensor)->numbers) {
        lr_tensor_free_views(tensor->encoding->numbers);
    }
}

static lr_view *find_view(const rec_tensor *tensor, rec_dtype dtype)
{
    lr_view *view = atomic_load_explicit(&((rec_tensor *)tensor)->views, memory_order_acquire);
    while (view && view->dtype != dtype) {
        view = view->next;
    }
    return view;
}

/* Room for a view of `size` bytes; not yet part of the tensor. NULL: the job has failed. */
static lr_view *new_view(rec_job *job, const rec_tensor *tensor, rec_dtype dtype, uint64_t size)
{
    const lr_allocator *allocator = &tensor->record->context->allocator;
    uint64_t gap = lr_pages_begin_page(allocator, size) ? 0 : VIEW_ALIGNMENT;
    lr_view *view = lr_alloc(allocator, sizeof *view);
    if (view) {
        *view = (lr_view){.dtype = dtype, .pages = {.allocator = allocator}};
        if (size <= UINT64_MAX - gap && lr_pages_grow(&view->pages, size + gap)) {
            uintptr_t at = (uintptr_t)view->pages.data;
            view->data = view->pages.data + ((VIEW_ALIGNMENT - at % VIEW_ALIGNMENT) % VIEW_ALIGNMENT);
            return view;
        }
        lr_release(allocator, view);
    }
    return LR_AS_NULL(lr_fail_memory(job, size));
}

static void keep_view(const rec_tensor *tensor, lr_view *view)
{
    rec_tensor *mine = (rec_tensor *)tensor;
    view->next = atomic_load_explicit(&mine->views, memory_order_relaxed);
    atomic_store_explicit(&mine->views, view, memory_order_release);
}

static void drop_view(const rec_tensor *tensor, lr_view *view)
{
    lr_pages_free(&view->pages);
    lr_release(&tensor->record->context->allocator, view);
}

/* Locks the record. A thread that has it already is in a function that gives bytes, and asks for more of them. */
static bool enter(rec_job *job, const rec_tensor *tensor)
{
    bool entered = pthread_mutex_lock(&tensor->record->lock) == 0;
    if (!entered) {
        (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN,
                       "the function that gives bytes of a record asks for numbers of the same record meanwhile");
    }
    return entered;
}

/* Fills a view of dtype NONE: deferred bytes are read, the narrow integers of a V1 file widened. */
static int32_t fill_stored(rec_job *job, const rec_tensor *tensor, void *target)
{
    lr_losses losses = {0};
    rec_tensor plain;
    int32_t status;
    if (!tensor->data->data) {
        return rec_source_read_at(job, tensor->data->source, tensor->data->offset, target, tensor->data->size);
    }
    plain = *tensor;
    plain.dtype = tensor->stored;
    status = lr_tensor_convert(job, &plain, "", tensor->stored, false, 0, tensor->count, target, &losses);
    lr_swap_if_big(target, rec_dtype_bits(tensor->stored) / 8, tensor->count);
    return status;
}

/* The bytes of the stored type, little-endian; deferred ones are read, once. NULL: the job has failed. */
static const uint8_t *view_of(rec_job *job, const rec_tensor *tensor, uint64_t *size)
{
    const uint8_t *bytes = lr_data_at_hand(tensor->data);
    lr_view *view;
    *size = tensor->data->size;
    if (tensor->packed != tensor->stored) {
        (void)lr_tensor_size(tensor->stored, tensor->count, size);
    } else if (bytes) {
        return bytes;
    }
    view = find_view(tensor, REC_DTYPE_NONE);
    if (!view) {
        if (!enter(job, tensor)) {
            return NULL;
        }
        view = find_view(tensor, REC_DTYPE_NONE);
        if (!view) {
            view = new_view(job, tensor, REC_DTYPE_NONE, *size);
            if (view && fill_stored(job, tensor, view->data) != REC_OK) {
                drop_view(tensor, view);
                view = NULL;
            }
            if (view) {
                keep_view(tensor, view);
            }
        }
        (void)pthread_mutex_unlock(&tensor->record->lock);
    }
    return view ? view->data : NULL;
}

void lr_tensor_path(const rec_tensor *tensor, char *path, size_t room)
{
    rec_iterator *iterator = rec_iterate(tensor->record);
    const rec_tensor *found = NULL;
    const char *at;
    path[0] = '\0';
    while (iterator && (found = rec_iterator_next_tensor(iterator, &at)) != NULL) {
        if (found == tensor) {
            size_t length = strlen(at);
            length = length < room ? length : room - 1;
            memcpy(path, at, length);
            path[length] = '\0';
            break;
        }
    }
    rec_iterator_free(iterator);
}

/* -------------------------------------------------------------------------------------------------- conversion -- */

/* The path that is known, or is looked for. */
static const char *path_of(const rec_tensor *tensor, const char *path, char found[PATH_SHOWN])
{
    if (!path) {
        lr_tensor_path(tensor, found, PATH_SHOWN);
    }
    return path ? path : found;
}

static int32_t fail_range(rec_job *job, const rec_tensor *tensor, const char *path, rec_dtype dtype, uint64_t index,
                          const rec_scalar *value)
{
    char found[PATH_SHOWN];
    int64_t minimum = 0;
    uint64_t maximum = 0;
    char digits[24];
    (void)lr_int_limits(dtype, &minimum, &maximum);
    if (value->kind == REC_KIND_UINT) {
        (void)snprintf(digits, sizeof digits, "%" PRIu64, value->v.u);
    } else {
        (void)snprintf(digits, sizeof digits, "%" PRId64, value->v.i);
    }
    (void)lr_fail_path(job, REC_E_RANGE, path_of(tensor, path, found),
                       "element %" PRIu64 " is %s, which does not fit %s (%" PRId64 " to %" PRIu64 ")", index, digits,
                       rec_dtype_name(dtype), minimum, maximum);
    return LR_HINT(job, "Choose a larger precision, or allow clamping (option clamp).");
}

static int32_t fail_refused(rec_job *job, const rec_tensor *tensor, const char *path, rec_dtype dtype)
{
    char found[PATH_SHOWN];
    return lr_fail_path(job, REC_E_MISMATCH, path_of(tensor, path, found), "a tensor of %s cannot be read as %s",
                        rec_tensor_dtype_name(tensor), rec_dtype_name(dtype));
}

static bool host_is_little(void)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

/* Types whose elements have the same bytes. */
static rec_dtype storage(rec_dtype dtype)
{
    return dtype == REC_DTYPE_FLEX32 ? REC_DTYPE_F32 : dtype;
}

/* Whether the stored bytes already have the requested type. */
static bool packed_as(const rec_tensor *tensor, rec_dtype dtype)
{
    return host_is_little() && storage(tensor->packed) == storage(dtype) && storage(tensor->dtype) == storage(dtype) &&
           !lr_dtype_is_bool(dtype);
}

enum { STEP = 4096 };           /* elements converted at a time where two steps are needed */
enum { FAR_STEP = 256 * 1024 }; /* elements per request for sources with a cost per request */

/* -------------------------------------------------------------------------------------------------- by threads -- */

/* From so many bytes on a thread's share takes longer than the thread takes to begin. */
enum { SHARE_FROM = 1 << 20, SHARES_MOST = 8 };

/* What the threads that convert a tensor share. Floats only: they cannot fail. */
struct shares {
    rec_dtype from_dtype, to_dtype;
    const uint8_t *from;
    uint8_t *to;
    uint64_t count, piece;
    atomic_uint_fast64_t next; /* the next element to assign to a thread */
    atomic_uint_fast64_t overflowed;
};

static void *convert_shares(void *user)
{
    struct shares *shares = user;
    uint64_t from_width = rec_dtype_bits(shares->from_dtype) / 8, to_width = rec_dtype_bits(shares->to_dtype) / 8;
    lr_converted result = {0};
    uint64_t at;
    while ((at = atomic_fetch_add(&shares->next, shares->piece)) < shares->count) {
        uint64_t n = shares->count - at < shares->piece ? shares->count - at : shares->piece;
        (void)lr_convert(shares->from_dtype, shares->from + at * from_width, shares->to_dtype,
                         shares->to + at * to_width, n, false, &result);
    }
    (void)atomic_fetch_add(&shares->overflowed, result.overflowed);
    return NULL;
}

/* How many threads are to convert so many elements. */
static uint32_t sharers(const rec_job *job, rec_dtype from, rec_dtype to, uint64_t count)
{
    uint64_t bytes = count * (rec_dtype_bits(from) + rec_dtype_bits(to)) / 16; /* half of the bytes read and written */
    uint64_t most = bytes / SHARE_FROM < SHARES_MOST ? bytes / SHARE_FROM : SHARES_MOST;
    if (!lr_dtype_is_float(from) || !lr_dtype_is_float(to) || most < 2) {
        return 1;
    }
    return job->context->threads < most ? job->context->threads : (uint32_t)most;
}

/* Converts by several threads, of which the caller's is one. */
static void convert_by(uint32_t threads, struct shares *shares, lr_converted *result)
{
    pthread_t others[SHARES_MOST];
    uint32_t started = lr_threads_start(others, threads - 1, convert_shares, shares);
    (void)convert_shares(shares);
    lr_threads_join(others, started);
    result->overflowed += atomic_load(&shares->overflowed);
}

/* As lr_convert. */
static int convert_all(const rec_job *job, rec_dtype from_dtype, const uint8_t *from, rec_dtype to_dtype, uint8_t *to,
                       uint64_t count, bool clamp, lr_converted *result)
{
    uint32_t threads = sharers(job, from_dtype, to_dtype, count);
    struct shares shares = {.from_dtype = from_dtype, .to_dtype = to_dtype, .from = from, .to = to, .count = count};
    if (threads < 2 || !lr_convertible(from_dtype, to_dtype)) {
        return lr_convert(from_dtype, from, to_dtype, to, count, clamp, result);
    }
    shares.piece = (count / threads / 2 | 4095) + 1; /* two for each: who begins late does one */
    convert_by(threads, &shares, result);
    return LR_CONVERT_OK;
}

/* --------------------------------------------------------------------------------------------------- in blocks -- */

/* One block of stored bytes, through the tensor's own dtype if that differs from both ends. */
static int32_t convert_block(rec_job *job, const rec_tensor *tensor, const char *path, rec_dtype dtype, bool clamp,
                             uint64_t first, uint64_t count, const uint8_t *from, uint8_t *to, lr_losses *losses)
{
    uint32_t to_width = rec_dtype_bits(dtype) / 8;
    uint32_t from_width = rec_dtype_bits(tensor->packed) / 8;
    bool two_steps = tensor->dtype != tensor->packed && tensor->dtype != dtype;
    lr_converted result = {0};
    rec_dtype reached = dtype;
    int outcome = LR_CONVERT_OK;
    uint64_t done = 0;
    if (!two_steps) {
        outcome = convert_all(job, tensor->packed, from, dtype, to, count, clamp, &result);
    }
    while (two_steps && done < count && outcome == LR_CONVERT_OK) {
        uint64_t step[STEP];
        uint64_t n = count - done < STEP ? count - done : STEP;
        reached = tensor->dtype;
        outcome = lr_convert(tensor->packed, from + done * from_width, tensor->dtype, step, n, clamp, &result);
        if (outcome == LR_CONVERT_OK) {
            /* lr_convert reads little-endian; what it wrote is in host order. */
            reached = dtype;
            lr_swap_if_big(step, rec_dtype_bits(tensor->dtype) / 8, n);
            outcome = lr_convert(tensor->dtype, step, dtype, to + done * to_width, n, clamp, &result);
        }
        if (outcome == LR_CONVERT_RANGE) {
            result.bad += done;
        }
        done += n;
    }
    losses->overflowed += result.overflowed;
    losses->clamped += result.clamped;
    if (outcome == LR_CONVERT_RANGE) {
        return fail_range(job, tensor, path, reached, first + result.bad, &result.value);
    }
    return outcome == LR_CONVERT_REFUSED ? fail_refused(job, tensor, path, dtype) : REC_OK;
}

int32_t lr_tensor_convert(rec_job *job, const rec_tensor *tensor, const char *path, rec_dtype dtype, bool clamp,
                          uint64_t first, uint64_t count, void *target, lr_losses *losses)
{
    uint32_t from_width, to_width = rec_dtype_bits(dtype) / 8;
    const uint8_t *bytes;
    uint8_t *to = target;
    void *large = NULL;
    uint64_t step;
    int32_t status = REC_OK;
    tensor = read_as(tensor, dtype);
    from_width = rec_dtype_bits(tensor->packed) / 8;
    bytes = lr_data_at_hand(tensor->data);
    if (!from_width || !to_width || !lr_convertible(tensor->packed, tensor->dtype) ||
        !lr_convertible(tensor->dtype, dtype)) {
        return fail_refused(job, tensor, path, dtype);
    }
    if (first > tensor->count || count > tensor->count - first) {
        char found[PATH_SHOWN];
        return lr_fail_path(job, REC_E_ARGUMENT, path_of(tensor, path, found),
                            "%" PRIu64 " elements from %" PRIu64 " on were requested, but there are %" PRIu64, count,
                            first, tensor->count);
    }
    if (!bytes) {
        const lr_view *view = find_view(tensor, REC_DTYPE_NONE);
        bytes = view ? view->data : NULL;
    }
    if (bytes) {
        return convert_block(job, tensor, path, dtype, clamp, first, count, bytes + first * from_width, to, losses);
    }
    if (packed_as(tensor, dtype)) {
        return rec_source_read_at(job, tensor->data->source, tensor->data->offset + first * from_width, target,
                                  count * from_width);
    }
    if (count > STEP && lr_source_is_far(tensor->data->source)) {
        large = lr_alloc(job->allocator, (uint64_t)FAR_STEP * from_width); /* without it the pieces are smaller */
    }
    step = large ? FAR_STEP : STEP;
    for (uint64_t done = 0; done < count && status == REC_OK;) {
        uint64_t small[STEP];
        void *block = large ? large : small;
        uint64_t n = count - done < step ? count - done : step;
        status = rec_source_read_at(job, tensor->data->source, tensor->data->offset + (first + done) * from_width,
                                    block, n * from_width);
        if (status == REC_OK) {
            status =
                convert_block(job, tensor, path, dtype, clamp, first + done, n, block, to + done * to_width, losses);
        }
        done += n;
    }
    lr_release(job->allocator, large);
    return status;
}

/* ------------------------------------------------------------------------------------------------ what it is -- */

rec_dtype rec_tensor_dtype(const rec_tensor *tensor)
{
    return tensor ? tensor->dtype : REC_DTYPE_NONE;
}

rec_dtype rec_tensor_stored_dtype(const rec_tensor *tensor)
{
    return tensor ? tensor->stored : REC_DTYPE_NONE;
}

const char *rec_tensor_dtype_name(const rec_tensor *tensor)
{
    const rec_value *value = rec_tensor_dtype_value(tensor);
    if (value && value->kind == REC_KIND_STRING) {
        return value->v.text;
    }
    if (value && value->kind == REC_KIND_MAP && value->v.map->count == 1 && tensor->dtype == REC_DTYPE_OPAQUE &&
        value->v.map->entries[0].key.kind == REC_KIND_STRING) {
        return value->v.map->entries[0].key.v.text;
    }
    return rec_dtype_name(rec_tensor_dtype(tensor));
}

const rec_value *rec_tensor_dtype_value(const rec_tensor *tensor)
{
    return tensor ? lr_encoding_of(tensor)->words : NULL;
}

const char *rec_tensor_scheme(const rec_tensor *tensor)
{
    return tensor && lr_encoding_of(tensor)->scheme ? tensor->encoding->scheme->label : NULL;
}

rec_dtype rec_tensor_numbers_dtype(const rec_tensor *tensor)
{
    return !tensor                           ? REC_DTYPE_NONE
           : rec_dtype_bits(tensor->dtype)   ? tensor->dtype
           : lr_encoding_of(tensor)->numbers ? read_as(tensor, REC_DTYPE_F32)->dtype
                                             : REC_DTYPE_NONE;
}

int32_t rec_tensor_is_part(const rec_tensor *tensor)
{
    return tensor && tensor->part;
}

uint32_t rec_tensor_rank(const rec_tensor *tensor)
{
    return tensor ? tensor->rank : 0;
}

const uint64_t *rec_tensor_shape(const rec_tensor *tensor)
{
    static const uint64_t none[1];
    return tensor ? tensor->shape : none;
}

uint64_t rec_tensor_count(const rec_tensor *tensor)
{
    return tensor ? tensor->count : 0;
}

uint64_t rec_tensor_nbytes(const rec_tensor *tensor)
{
    uint64_t size;
    if (!tensor) {
        return 0;
    }
    return lr_tensor_size(tensor->dtype, tensor->count, &size) ? size : tensor->data->size;
}

int32_t rec_tensor_is_parameter(const rec_tensor *tensor)
{
    return tensor && lr_tensor_is_parameter(tensor);
}

const char *rec_tensor_id(const rec_tensor *tensor)
{
    return tensor ? tensor->id : NULL;
}

int32_t rec_tensor_assumed(const rec_tensor *tensor)
{
    return tensor ? tensor->assumed : 0;
}

uint64_t rec_tensor_offset(const rec_tensor *tensor)
{
    const lr_data *data = tensor ? tensor->data : NULL;
    return data && tensor->packed == tensor->stored && lr_source_is_stored(data->source) ? data->offset : REC_UNKNOWN;
}

/* ------------------------------------------------------------------------------------------------ typed access -- */

/* What needs no job: nothing to convert, or converted before. */
static const void *typed_at_hand(const rec_tensor *tensor, rec_dtype dtype)
{
    static const uint64_t nothing;
    const uint8_t *bytes = lr_data_at_hand(tensor->data);
    const lr_view *view;
    if (tensor->count == 0 && lr_convertible(tensor->dtype, dtype)) {
        return &nothing;
    }
    if (bytes && packed_as(tensor, dtype) && (uintptr_t)bytes % (rec_dtype_bits(dtype) / 8) == 0) {
        return bytes;
    }
    view = find_view(tensor, dtype);
    return view ? view->data : NULL;
}

static void note_losses(rec_job *job, const rec_tensor *tensor, rec_dtype dtype, const lr_losses *losses)
{
    char path[512];
    if (losses->overflowed || losses->clamped) {
        lr_tensor_path(tensor, path, sizeof path);
        lr_note_losses(job, path, dtype, losses);
    }
}

static lr_view *make_typed(rec_job *job, const rec_tensor *tensor, rec_dtype dtype)
{
    lr_losses losses = {0};
    uint64_t size;
    lr_view *view;
    if (!lr_convertible(tensor->dtype, dtype)) {
        return LR_AS_NULL(fail_refused(job, tensor, NULL, dtype));
    }
    if (!lr_tensor_size(dtype, tensor->count, &size)) {
        return LR_AS_NULL(lr_fail_memory(job, UINT64_MAX));
    }
    view = new_view(job, tensor, dtype, size);
    if (view && lr_tensor_convert(job, tensor, NULL, dtype, tensor->record->clamp, 0, tensor->count, view->data,
                                  &losses) != REC_OK) {
        drop_view(tensor, view);
        view = NULL;
    }
    if (view) {
        note_losses(job, tensor, dtype, &losses);
    }
    return view;
}

const void *lr_tensor_typed(rec_job *job, const rec_tensor *tensor, rec_dtype dtype)
{
    const void *data;
    tensor = read_as(tensor, dtype);
    data = typed_at_hand(tensor, dtype);
    if (!data) {
        if (!enter(job, tensor)) {
            return NULL;
        }
        data = typed_at_hand(tensor, dtype);
        if (!data) {
            lr_view *view = make_typed(job, tensor, dtype);
            if (view) {
                keep_view(tensor, view);
                data = view->data;
            }
        }
        (void)pthread_mutex_unlock(&tensor->record->lock);
    }
    return data;
}

/* Failures name the file that the record came from. */
static void begin_read(rec_job *job, const rec_tensor *tensor)
{
    const char *file = tensor->record->origin.file;
    lr_job_begin(job, tensor->record->context, "read", *file ? file : NULL);
    job->progress.total = tensor->data->size;
}

static const void *access_typed(const rec_tensor *tensor, rec_dtype dtype)
{
    const void *data = typed_at_hand(read_as(tensor, dtype), dtype);
    rec_job job;
    lr_source_lend(tensor->data->source);
    if (data) {
        lr_publish_ok();
        return data;
    }
    begin_read(&job, tensor);
    data = lr_tensor_typed(&job, tensor, dtype);
    data = lr_watch_judge(&job, false) == REC_OK ? data : NULL;
    (void)lr_job_end(&job);
    return data;
}

const void *rec_tensor_bytes(const rec_tensor *tensor, uint64_t *size)
{
    rec_job job;
    uint64_t stored;
    const void *bytes;
    if (size) {
        *size = 0;
    }
    if (LR_NULL(tensor)) {
        return NULL;
    }
    begin_read(&job, tensor);
    lr_source_lend(tensor->data->source);
    bytes = view_of(&job, tensor, &stored);
    bytes = lr_watch_judge(&job, false) == REC_OK ? bytes : NULL;
    if (size) {
        *size = stored;
    }
    (void)lr_job_end(&job);
    return bytes;
}

const void *rec_tensor_at_hand(const rec_tensor *tensor, uint64_t *size)
{
    const void *bytes = tensor && tensor->packed == tensor->stored ? lr_data_at_hand(tensor->data) : NULL;
    lr_source_lend(bytes ? tensor->data->source : NULL);
    if (size) {
        *size = bytes ? tensor->data->size : 0;
    }
    return bytes;
}

const float *rec_tensor_f32(const rec_tensor *tensor)
{
    return LR_NULL(tensor) ? NULL : access_typed(tensor, REC_DTYPE_F32);
}

const double *rec_tensor_f64(const rec_tensor *tensor)
{
    return LR_NULL(tensor) ? NULL : access_typed(tensor, REC_DTYPE_F64);
}

const uint16_t *rec_tensor_f16(const rec_tensor *tensor)
{
    return LR_NULL(tensor) ? NULL : access_typed(tensor, REC_DTYPE_F16);
}

const int64_t *rec_tensor_i64(const rec_tensor *tensor)
{
    return LR_NULL(tensor) ? NULL : access_typed(tensor, REC_DTYPE_I64);
}

const int32_t *rec_tensor_i32(const rec_tensor *tensor)
{
    return LR_NULL(tensor) ? NULL : access_typed(tensor, REC_DTYPE_I32);
}

const uint8_t *rec_tensor_bool(const rec_tensor *tensor)
{
    return LR_NULL(tensor) ? NULL : access_typed(tensor, REC_DTYPE_BOOL);
}

/* The place of elements in bytes that hold `whole` of them; they need not be of a size of their own. */
static uint64_t place_of(uint64_t element, uint64_t whole, uint64_t size)
{
    return element >= whole
               ? size
               : size / whole * element + (uint64_t)((double)(size % whole) / (double)whole * (double)element);
}

void rec_tensor_release(const rec_tensor *tensor, uint64_t first, uint64_t count)
{
    const uint8_t *bytes = tensor ? lr_data_at_hand(tensor->data) : NULL;
    uint64_t begin, end;
    if (!tensor || count == 0 || first >= tensor->count) {
        return;
    }
    begin = place_of(first, tensor->count, tensor->data->size);
    end = place_of(count < tensor->count - first ? first + count : tensor->count, tensor->count, tensor->data->size);
    lr_source_behind(tensor->data->source, bytes ? bytes + begin : NULL, end - begin);
}

rec_status rec_tensor_read(const rec_tensor *tensor, rec_dtype dtype, uint64_t first, uint64_t count, void *target)
{
    rec_job job;
    lr_losses losses = {0};
    if (LR_NULL(tensor) || (count && LR_NULL(target))) {
        return REC_E_ARGUMENT;
    }
    begin_read(&job, tensor);
    lr_source_lend(tensor->data->source);
    if (lr_tensor_convert(&job, tensor, NULL, dtype, tensor->record->clamp, first, count, target, &losses) == REC_OK) {
        note_losses(&job, tensor, dtype, &losses);
    }
    (void)lr_watch_judge(&job, false);
    return lr_job_end(&job);
}
