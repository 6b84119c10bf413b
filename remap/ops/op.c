/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Operations: nodes, their inputs and shapes. Trivial operations are simplified: a slice of everything is its input, a
 * transpose of a transpose is the original. */
#include <string.h>

#include "remap/ops/ops_private.h"

/* Evaluation goes down by calling itself, and reaches a node as often as there are ways to it. */
enum { DEPTH_MOST = 64, WEIGHT_MOST = 1 << 22 };

enum { WORDS = 160 }; /* room for a shape in a message */

/* ------------------------------------------------------------------------------------------------------- nodes -- */

static uint64_t aligned(uint64_t size)
{
    return (size + 7) & ~UINT64_C(7);
}

lr_op *lr_op_new(rec_job *job, int32_t kind, rec_dtype dtype, const uint64_t *shape, uint32_t rank,
                 lr_op *const *inputs, uint64_t input_count, uint64_t extra, bool keeps, void **behind)
{
    uint64_t count, nbytes = 0, size, weight = 1, shape_at = aligned(sizeof(lr_op)), inputs_at, extra_at, kept_at;
    uint32_t depth = 0;
    char words[WORDS];
    uint64_t *own_shape;
    uint8_t *memory;
    lr_op *op;
    if (rank > LR_RANK_MOST) {
        return LR_AS_NULL(rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a tensor of %u axes: %d are the most",
                                   (unsigned)rank, LR_RANK_MOST));
    }
    if (!lr_shape_count(shape, rank, &count) || (rec_dtype_bits(dtype) && !lr_tensor_size(dtype, count, &nbytes))) {
        return LR_AS_NULL(rec_fail(job, REC_E_RANGE, REC_UNKNOWN, "a tensor of %s %s would have more than 2^64 bytes",
                                   rec_dtype_name(dtype), lr_shape_words(words, sizeof words, shape, rank)));
    }
    for (uint64_t i = 0; i < input_count; i++) {
        depth = inputs[i]->depth > depth ? inputs[i]->depth : depth;
        weight += inputs[i]->weight; /* at most 2^22 each, and the sum is looked at each time */
        if (weight > WEIGHT_MOST) {
            break;
        }
    }
    if (depth >= DEPTH_MOST || weight > WEIGHT_MOST) {
        return LR_AS_NULL(rec_fail(job, REC_E_LIMIT, REC_UNKNOWN,
                                   "more than %d operations one upon the other, or %d in all, "
                                   "would make one tensor",
                                   DEPTH_MOST, WEIGHT_MOST));
    }
    inputs_at = shape_at + rank * sizeof *shape;
    extra_at = inputs_at + input_count * sizeof *inputs; /* both arrays are in memory: no overflow */
    if (!lr_add(extra_at, extra, &kept_at) || kept_at > PTRDIFF_MAX - sizeof(lr_op_kept) - 8) {
        return LR_AS_NULL(lr_fail_memory(job, extra));
    }
    kept_at = aligned(kept_at);
    size = kept_at + (keeps ? sizeof(lr_op_kept) : 0);
    memory = lr_job_zalloc(job, size);
    if (!memory) {
        return NULL;
    }
    op = (lr_op *)(void *)memory;
    own_shape = (uint64_t *)(void *)(memory + shape_at);
    atomic_init(&op->count, 1);
    op->allocator = job->allocator;
    op->kind = (uint8_t)kind;
    op->dtype = (uint8_t)dtype;
    op->rank = (uint8_t)rank;
    op->depth = (uint8_t)(depth + 1);
    op->weight = (uint32_t)weight;
    op->nbytes = nbytes;
    if (rank) {
        memcpy(own_shape, shape, rank * sizeof *shape);
    }
    op->shape = own_shape;
    if (keeps) {
        op->kept = (lr_op_kept *)(void *)(memory + kept_at);
        if (pthread_mutex_init(&op->kept->lock, NULL) != 0) {
            (void)lr_fail_memory(job, size);
            lr_release(job->allocator, memory);
            return NULL;
        }
        op->kept->whole.allocator = op->kept->block.allocator = job->allocator;
    }
    op->inputs = (lr_op **)(void *)(memory + inputs_at);
    op->input_count = input_count;
    for (uint64_t i = 0; i < input_count; i++) {
        op->inputs[i] = lr_op_retain(inputs[i]);
    }
    if (behind) {
        *behind = memory + extra_at;
    }
    return op;
}

lr_op *lr_op_retain(lr_op *op)
{
    (void)atomic_fetch_add_explicit(&op->count, 1, memory_order_relaxed);
    return op;
}

void lr_op_release(lr_op *op)
{
    if (!op || atomic_fetch_sub_explicit(&op->count, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (uint64_t i = 0; i < op->input_count; i++) {
        lr_op_release(op->inputs[i]); /* as deep as nodes may be */
    }
    if (op->kind == LR_OP_TENSOR) {
        lr_source_release(op->u.tensor.data.source);
        rec_record_free(op->u.tensor.words);
        lr_op_release(op->u.tensor.numbers);
    }
    if (op->kept) {
        lr_pages_free(&op->kept->whole);
        lr_pages_free(&op->kept->block);
        (void)pthread_mutex_destroy(&op->kept->lock);
    }
    lr_release(op->allocator, op);
}

int32_t lr_op_kind(const lr_op *op)
{
    return op->kind;
}

rec_dtype lr_op_dtype(const lr_op *op)
{
    return op->dtype;
}

uint32_t lr_op_rank(const lr_op *op)
{
    return op->rank;
}

const uint64_t *lr_op_shape(const lr_op *op)
{
    return op->shape;
}

uint64_t lr_op_nbytes(const lr_op *op)
{
    return op->nbytes;
}

const lr_op *lr_op_reshaped(const lr_op *op)
{
    while (op->kind == LR_OP_RESHAPE) {
        op = op->inputs[0];
    }
    return op;
}

const rec_value *lr_op_dtype_value(const lr_op *op)
{
    op = lr_op_reshaped(op);
    return op->kind == LR_OP_TENSOR ? op->u.tensor.dtype_value : NULL;
}

lr_op *lr_op_numbers(const lr_op *op)
{
    return op->kind == LR_OP_TENSOR ? op->u.tensor.numbers : NULL;
}

/* ----------------------------------------------------------------------------------------------------- tensors -- */

/* Memory of the node's own, as a source. NULL: the job has failed. */
static uint8_t *own_bytes(rec_job *job, lr_op *op)
{
    lr_pages *pages = lr_alloc(job->allocator, sizeof *pages);
    rec_source *source = NULL;
    if (pages) {
        *pages = (lr_pages){.allocator = job->allocator};
        if (lr_pages_grow(pages, op->nbytes)) {
            source = lr_source_owned(job->allocator, pages->data, op->nbytes, lr_pages_release, pages);
        }
        if (!source) {
            lr_pages_release(pages, NULL);
        }
    }
    if (!source) {
        return LR_AS_NULL(lr_fail_memory(job, op->nbytes));
    }
    op->u.tensor.data = (lr_data){.data = pages->data, .size = op->nbytes, .offset = REC_UNKNOWN, .source = source};
    return pages->data;
}

/* The integers of a V1 file are packed in less than their type: they are widened now. */
static int32_t widen(rec_job *job, lr_op *op, const rec_tensor *tensor)
{
    lr_losses losses = {0};
    rec_tensor plain = *tensor;
    uint8_t *target = own_bytes(job, op);
    int32_t status;
    if (!target) {
        return job->error.status;
    }
    plain.dtype = tensor->stored;
    status = lr_tensor_convert(job, &plain, "", tensor->stored, false, 0, tensor->count, target, &losses);
    lr_swap_if_big(target, rec_dtype_bits(tensor->stored) / 8, status == REC_OK ? tensor->count : 0);
    return status;
}

/* The words of a dtype of its own: in a record that only holds them, for the tensor's may go away. */
static int32_t keep_words(rec_job *job, lr_op *op, const rec_value *value)
{
    rec_record *record = lr_record_new(job->context);
    rec_value *copy = record ? lr_arena_alloc(&record->arena, sizeof *copy, 8) : NULL;
    op->u.tensor.words = record;
    op->u.tensor.dtype_value = copy;
    if (!copy || !lr_value_copy(record, value, copy)) {
        return lr_fail_memory(job, sizeof *copy);
    }
    return REC_OK;
}

lr_op *lr_op_tensor(rec_job *job, const rec_tensor *tensor)
{
    const lr_encoding *encoding = lr_encoding_of(tensor);
    const lr_data *data = tensor->data;
    int32_t status = REC_OK;
    uint8_t *copy;
    lr_op *op = lr_op_new(job, LR_OP_TENSOR, tensor->stored, tensor->shape, tensor->rank, NULL, 0, 0, false, NULL);
    if (!op) {
        return NULL;
    }
    if (!lr_op_width(op)) {
        op->nbytes = data->size;
    }
    if (tensor->packed != tensor->stored) {
        status = widen(job, op, tensor);
    } else if (data->size != op->nbytes) {
        status = lr_fail_data(job, data->offset, tensor->stored, tensor->shape, tensor->rank, data->size);
    } else if (data->source) {
        op->u.tensor.data = (lr_data){
            .data = data->data, .size = data->size, .offset = data->offset, .source = lr_source_retain(data->source)};
    } else {
        copy = own_bytes(job, op);
        if (copy && data->size) {
            memcpy(copy, data->data, (size_t)data->size);
        }
    }
    if (status == REC_OK && encoding->words) {
        status = keep_words(job, op, encoding->words);
    }
    if (status == REC_OK && encoding->numbers) {
        op->u.tensor.numbers = lr_op_tensor(job, encoding->numbers);
    }
    if (status != REC_OK || lr_job_failed(job)) {
        lr_op_release(op);
        return NULL;
    }
    return op;
}

/* ------------------------------------------------------------------------------------ where elements come from -- */

bool lr_op_has_elements(rec_job *job, const lr_op *op, const char *doing)
{
    if (!lr_op_width(op)) {
        const rec_value *words = lr_op_dtype_value(op); /* the file's own */
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a tensor of %s cannot be %s: its elements are encoded",
                       words && words->kind == REC_KIND_STRING ? words->v.text : rec_dtype_name(op->dtype), doing);
        if (op->dtype == REC_DTYPE_OPAQUE && !lr_op_numbers(op)) {
            rec_fail_hint(job, "Elements of this type are only copied. Convert them to numbers first (in Python: "
                               "tensor.float(), with their scales), or keep the tensor unchanged (--adapter none).");
        }
        if (lr_op_numbers(op)) {
            rec_fail_hint(job, "Convert to a precision, which makes numbers of its elements: full, half or double.");
        }
        return false;
    }
    return true;
}

static bool check_axis(rec_job *job, const lr_op *op, uint32_t axis, const char *doing)
{
    char words[WORDS];
    if (axis >= op->rank) {
        return LR_AS_FALSE(rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "a tensor of shape %s cannot be %s along axis %u",
                                    lr_shape_words(words, sizeof words, op->shape, op->rank), doing, (unsigned)axis));
    }
    return true;
}

lr_op *lr_op_reshape(rec_job *job, lr_op *input, const uint64_t *shape, uint32_t rank)
{
    uint64_t before = 0, after = 0;
    char from[WORDS], to[WORDS];
    lr_op *op;
    bool fits = lr_shape_count(shape, rank, &after);
    (void)lr_shape_count(input->shape, input->rank, &before); /* fits: it is a node */
    if (!fits || before != after) {
        return LR_AS_NULL(rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN,
                                   "a tensor of shape %s cannot be reshaped to %s: there are not as many elements",
                                   lr_shape_words(from, sizeof from, input->shape, input->rank),
                                   lr_shape_words(to, sizeof to, shape, rank)));
    }
    if (rank == input->rank && (!rank || memcmp(shape, input->shape, rank * sizeof *shape) == 0)) {
        return lr_op_retain(input);
    }
    if (input->kind == LR_OP_RESHAPE) {
        input = input->inputs[0];
    }
    op = lr_op_new(job, LR_OP_RESHAPE, input->dtype, shape, rank, &input, 1, 0, false, NULL);
    if (op) {
        op->nbytes = input->nbytes;
    }
    return op;
}

lr_op *lr_op_transpose(rec_job *job, lr_op *input)
{
    uint64_t shape[2];
    char words[WORDS];
    if (!lr_op_has_elements(job, input, "transposed")) {
        return NULL;
    }
    if (input->rank != 2) {
        return LR_AS_NULL(rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN,
                                   "a tensor of shape %s cannot be transposed: it has no two axes",
                                   lr_shape_words(words, sizeof words, input->shape, input->rank)));
    }
    if (input->kind == LR_OP_TRANSPOSE) {
        return lr_op_retain(input->inputs[0]);
    }
    shape[0] = input->shape[1];
    shape[1] = input->shape[0];
    if (shape[0] <= 1 || shape[1] <= 1) { /* the elements stay where they are */
        return lr_op_reshape(job, input, shape, 2);
    }
    return lr_op_new(job, LR_OP_TRANSPOSE, input->dtype, shape, 2, &input, 1, 0, true, NULL);
}

/* Takes the spans of a slice, neighbours as one. */
static void take_runs(lr_op *op, const lr_span *spans, uint64_t count, lr_packed_span *runs)
{
    uint64_t used = 0, at = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (spans[i].count && used && runs[used - 1].begin + runs[used - 1].count == spans[i].begin) {
            runs[used - 1].count += spans[i].count;
        } else if (spans[i].count) {
            runs[used++] = (lr_packed_span){.begin = spans[i].begin, .count = spans[i].count, .at = at};
        }
        at += spans[i].count;
    }
    op->u.slice.runs = runs;
    op->u.slice.count = used;
}

lr_op *lr_op_slice(rec_job *job, lr_op *input, uint32_t axis, const lr_span *spans, uint64_t count)
{
    uint64_t shape[LR_RANK_MOST], total = 0, size, next = 0;
    char words[WORDS], begin[32], end[32];
    lr_op *op;
    void *behind;
    bool fits = true, joined = true;
    if (!lr_op_has_elements(job, input, "cut") || !check_axis(job, input, axis, "cut")) {
        return NULL;
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t length = input->shape[axis];
        if (spans[i].begin > length || spans[i].count > length - spans[i].begin) {
            (void)lr_shape_words(words, sizeof words, input->shape, input->rank);
            if (!lr_add(spans[i].begin, spans[i].count, &size)) {
                size = UINT64_MAX;
            }
            return LR_AS_NULL(rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN,
                                       "indices %s to %s of axis %u do not exist in shape %s",
                                       lr_group_digits(spans[i].begin, begin, sizeof begin),
                                       lr_group_digits(size, end, sizeof end), (unsigned)axis, words));
        }
        joined = joined && (!spans[i].count || !total || spans[i].begin == next);
        next = spans[i].count ? spans[i].begin + spans[i].count : next;
        fits = fits && lr_add(total, spans[i].count, &total);
    }
    if (!fits || !lr_mul(count, sizeof(lr_packed_span), &size)) {
        return LR_AS_NULL(rec_fail(job, REC_E_RANGE, REC_UNKNOWN, "a tensor would have more than 2^64 indices"));
    }
    memcpy(shape, input->shape, input->rank * sizeof *shape);
    if (joined && total == input->shape[axis]) {
        return lr_op_retain(input); /* everything, in order */
    }
    shape[axis] = total;
    op = lr_op_new(job, LR_OP_SLICE, input->dtype, shape, input->rank, &input, 1, size, true, &behind);
    if (op) {
        op->axis = axis;
        take_runs(op, spans, count, behind);
    }
    return op;
}

/* How messages tell inputs apart: the first is number 1. */
static bool check_alike(rec_job *job, lr_op *const *inputs, uint64_t count, uint32_t free_axis, const char *doing)
{
    const lr_op *first;
    char one[WORDS], other[WORDS], number[32];
    if (count == 0) {
        return LR_AS_FALSE(rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "no tensors to be %s", doing));
    }
    first = inputs[0];
    for (uint64_t i = 0; i < count; i++) {
        const lr_op *op = inputs[i];
        bool same = op->rank == first->rank;
        if (!lr_op_has_elements(job, op, doing)) {
            return false;
        }
        if (op->dtype != first->dtype) {
            return LR_AS_FALSE(rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN,
                                        "tensors to be %s are of one type each: the first has %s, number %s has %s",
                                        doing, rec_dtype_name(first->dtype),
                                        lr_group_digits(i + 1, number, sizeof number), rec_dtype_name(op->dtype)));
        }
        for (uint32_t axis = 0; same && axis < op->rank; axis++) {
            same = axis == free_axis || op->shape[axis] == first->shape[axis];
        }
        if (!same) {
            return LR_AS_FALSE(rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN,
                                        "tensors of different shapes cannot be %s: the first has %s, number %s has %s",
                                        doing, lr_shape_words(one, sizeof one, first->shape, first->rank),
                                        lr_group_digits(i + 1, number, sizeof number),
                                        lr_shape_words(other, sizeof other, op->shape, op->rank)));
        }
    }
    return true;
}

lr_op *lr_op_join(rec_job *job, lr_op *const *inputs, uint64_t count, uint32_t axis)
{
    uint64_t shape[LR_RANK_MOST];
    bool fits = true;
    lr_op *op;
    if (!check_alike(job, inputs, count, axis, "joined") || !check_axis(job, inputs[0], axis, "joined")) {
        return NULL;
    }
    if (count == 1) {
        return lr_op_retain(inputs[0]);
    }
    memcpy(shape, inputs[0]->shape, inputs[0]->rank * sizeof *shape);
    for (uint64_t i = 1; i < count; i++) {
        fits = fits && lr_add(shape[axis], inputs[i]->shape[axis], &shape[axis]);
    }
    if (!fits) {
        return LR_AS_NULL(rec_fail(job, REC_E_RANGE, REC_UNKNOWN, "a tensor would have more than 2^64 indices"));
    }
    op = lr_op_new(job, LR_OP_JOIN, inputs[0]->dtype, shape, inputs[0]->rank, inputs, count, 0, true, NULL);
    if (op) {
        op->axis = axis;
    }
    return op;
}

lr_op *lr_op_stack(rec_job *job, lr_op *const *inputs, uint64_t count)
{
    uint64_t shape[LR_RANK_MOST + 1];
    if (!check_alike(job, inputs, count, UINT32_MAX, "stacked")) {
        return NULL;
    }
    shape[0] = count;
    memcpy(shape + 1, inputs[0]->shape, inputs[0]->rank * sizeof *shape);
    if (count == 1 && inputs[0]->rank < LR_RANK_MOST) {
        return lr_op_reshape(job, inputs[0], shape, inputs[0]->rank + 1u);
    }
    return lr_op_new(job, LR_OP_JOIN, inputs[0]->dtype, shape, inputs[0]->rank + 1u, inputs, count, 0, false, NULL);
}

/* New row j of a head of `d` rows, of which `r` rotate. Forward: pairs (2i, 2i+1) are made of halves (i, i + r/2). */
static uint64_t rope_row(uint64_t j, uint64_t r, bool inverse)
{
    if (j >= r) {
        return j;
    }
    return inverse ? 2 * (j % (r / 2)) + j / (r / 2) : j % 2 * (r / 2) + j / 2;
}

lr_op *lr_op_rope(rec_job *job, lr_op *input, uint64_t heads, uint64_t rotary, bool inverse)
{
    uint64_t rows, d, r, size;
    char words[WORDS], a[32], b[32];
    lr_span *spans;
    lr_op *op;
    if (!lr_op_has_elements(job, input, "permuted") || !check_axis(job, input, 0, "permuted")) {
        return NULL;
    }
    rows = input->shape[0];
    (void)lr_shape_words(words, sizeof words, input->shape, input->rank);
    if (heads == 0 || rows % heads != 0) {
        return LR_AS_NULL(rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN,
                                   "the %s rows of shape %s are not those of %s heads",
                                   lr_group_digits(rows, a, sizeof a), words, lr_group_digits(heads, b, sizeof b)));
    }
    d = rows / heads;
    r = rotary ? rotary : d;
    if (r > d) {
        return LR_AS_NULL(rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN,
                                   "%s rotary dims, but a head of shape %s has only %s rows",
                                   lr_group_digits(r, a, sizeof a), words, lr_group_digits(d, b, sizeof b)));
    }
    if (r % 2 != 0) {
        return LR_AS_NULL(rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN,
                                   "%s rotary dims of a head cannot be taken in pairs: shape %s",
                                   lr_group_digits(r, a, sizeof a), words));
    }
    if (input->nbytes == 0 || r <= 2) {
        return lr_op_retain(input); /* nothing to move; and a shape with a 0 may have any number of rows */
    }
    spans = lr_mul(rows, sizeof *spans, &size) ? lr_alloc(job->allocator, size) : NULL;
    if (!spans) {
        return LR_AS_NULL(lr_fail_memory(job, rows));
    }
    for (uint64_t head = 0; head < heads; head++) {
        for (uint64_t j = 0; j < d; j++) {
            spans[head * d + j] = (lr_span){.begin = head * d + rope_row(j, r, inverse), .count = 1};
        }
    }
    op = lr_op_slice(job, input, 0, spans, rows);
    lr_release(job->allocator, spans);
    return op;
}

/* ----------------------------------------------------------------------------------------------------- numbers -- */

lr_op *lr_op_add(rec_job *job, lr_op *input, double number)
{
    lr_op *op;
    if (!lr_dtype_is_float(input->dtype)) {
        return LR_AS_NULL(rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN,
                                   "a number can be added to floats, not to a tensor of %s",
                                   rec_dtype_name(input->dtype)));
    }
    op = lr_op_new(job, LR_OP_ADD, input->dtype, input->shape, input->rank, &input, 1, 0, false, NULL);
    if (op) {
        op->u.number = number;
    }
    return op;
}

lr_op *lr_op_multiply(rec_job *job, lr_op *a, lr_op *b)
{
    lr_op *inputs[2] = {a, b};
    char one[WORDS], other[WORDS];
    bool same = a->rank == b->rank && (!a->rank || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0);
    if (!same || a->dtype != b->dtype || !lr_dtype_is_float(a->dtype)) {
        return LR_AS_NULL(rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "%s %s and %s %s have no product",
                                   rec_dtype_name(a->dtype), lr_shape_words(one, sizeof one, a->shape, a->rank),
                                   rec_dtype_name(b->dtype), lr_shape_words(other, sizeof other, b->shape, b->rank)));
    }
    return lr_op_new(job, LR_OP_MULTIPLY, a->dtype, a->shape, a->rank, inputs, 2, 0, false, NULL);
}

lr_op *lr_op_cast(rec_job *job, lr_op *input, rec_dtype dtype)
{
    if (!lr_op_has_elements(job, input, "converted")) {
        return NULL;
    }
    if (!rec_dtype_bits(dtype)) {
        return LR_AS_NULL(rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a tensor of %s cannot become %s",
                                   rec_dtype_name(input->dtype), rec_dtype_name(dtype)));
    }
    if (dtype == input->dtype) {
        return lr_op_retain(input);
    }
    return lr_op_new(job, LR_OP_CAST, dtype, input->shape, input->rank, &input, 1, 0, false, NULL);
}

/* The axis that g keeps; v's rank: none, the norm is over everything. @return false if g is nothing of that kind. */
static bool kept_axis(const lr_op *g, const lr_op *v, uint32_t *axis)
{
    uint64_t count = 0;
    *axis = v->rank;
    (void)lr_shape_count(g->shape, g->rank, &count); /* fits: it is a node */
    if (count == 1) {
        return true; /* of whatever rank; an axis of length 1 that is kept comes to the same */
    }
    if (g->rank != v->rank) {
        return false;
    }
    for (uint32_t i = 0; i < g->rank; i++) {
        if (g->shape[i] == 1) {
            continue;
        }
        if (g->shape[i] != v->shape[i] || *axis != v->rank) {
            return false;
        }
        *axis = i;
    }
    return true;
}

lr_op *lr_op_norm(rec_job *job, lr_op *input, uint32_t axis)
{
    uint64_t shape[LR_RANK_MOST];
    uint32_t rank = axis == input->rank ? 0 : input->rank;
    lr_op *op;
    if (!lr_dtype_is_float(input->dtype) || axis > input->rank) {
        return LR_AS_NULL(rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN,
                                   "the rows of a tensor of floats have lengths, not %s of rank %u",
                                   rec_dtype_name(input->dtype), (unsigned)input->rank));
    }
    for (uint32_t i = 0; i < rank; i++) {
        shape[i] = i == axis ? input->shape[i] : 1;
    }
    op = lr_op_new(job, LR_OP_NORM, input->dtype, shape, rank, &input, 1, 0, false, NULL);
    if (op) {
        op->axis = axis;
    }
    return op;
}

lr_op *lr_op_weight_norm(rec_job *job, lr_op *g, lr_op *v)
{
    lr_op *inputs[2] = {g, v};
    char one[WORDS], other[WORDS];
    uint32_t axis;
    lr_op *op;
    if (!lr_dtype_is_float(g->dtype) || !lr_dtype_is_float(v->dtype)) {
        return LR_AS_NULL(rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "a weight is normed in floats, not in %s and %s",
                                   rec_dtype_name(g->dtype), rec_dtype_name(v->dtype)));
    }
    if (!kept_axis(g, v, &axis)) {
        return LR_AS_NULL(
            rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN,
                     "a magnitude of shape %s does not fit a direction of shape %s: it must have length 1 along all "
                     "axes but one, or be one number",
                     lr_shape_words(one, sizeof one, g->shape, g->rank),
                     lr_shape_words(other, sizeof other, v->shape, v->rank)));
    }
    op = lr_op_new(job, LR_OP_WEIGHT_NORM, v->dtype, v->shape, v->rank, inputs, 2, 0, true, NULL);
    if (op) {
        op->axis = axis;
    }
    return op;
}
