/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Evaluates operations: computes any range of a node from ranges of its inputs, recursively. Most operations move
 * elements, so ranges are copied from their place; data that are not in memory are read in chunks. A node caches data
 * for the next range: a few rows of a transpose, a few rows of a strided slice, or the whole input of a transpose that
 * is small and not in memory. */
#include <string.h>

#include "remap/ops/ops_private.h"

/* A run that is shorter is no good piece to read from a file or to ask of another operation: rows are read whole. */
enum { RUN_LEAST = 4096 };
/* Bytes read, produced or converted at a time. */
enum { BLOCK = 256 * 1024 };

/* Bytes of the second factor of a product that are read at a time: a multiple of all widths. */
enum { BLOCK_OF_FACTORS = 8192 };
/* An input of a transpose that is not in memory is cached whole up to this size; for a larger one, rows of the result
 * of about half that size are produced at a time. */
enum { WHOLE_MOST = 64 << 20, PANEL_MOST = 32 << 20 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Bytes of one index of an axis: all that is right of it. Only of nodes that have bytes, whose products fit. */
static uint64_t inner_bytes(const lr_op *op, uint32_t axis)
{
    uint64_t bytes = lr_op_width(op);
    for (uint32_t i = axis + 1; i < op->rank; i++) {
        bytes *= op->shape[i];
    }
    return bytes;
}

/* Whether everything left of an axis has length 1: its indices then lie one after the other. */
static bool is_outermost(const lr_op *op, uint32_t axis)
{
    for (uint32_t i = 0; i < axis; i++) {
        if (op->shape[i] != 1) {
            return false;
        }
    }
    return true;
}

/* ----------------------------------------------------------------------------------------------------- at hand -- */

const uint8_t *lr_op_at_hand(const lr_op *op)
{
    uint64_t skip = 0;
    const uint8_t *at;
    while (op->kind == LR_OP_RESHAPE ||
           (op->kind == LR_OP_SLICE && op->u.slice.count == 1 && is_outermost(op, op->axis))) {
        if (op->kind == LR_OP_SLICE) {
            skip += op->u.slice.runs[0].begin * inner_bytes(op, op->axis);
        }
        op = op->inputs[0];
    }
    at = op->kind == LR_OP_TENSOR ? lr_data_at_hand(&op->u.tensor.data) : NULL;
    return at ? at + skip : NULL;
}

/* The same for a matrix whose rows need not be next to each other. */
static const uint8_t *matrix_at_hand(const lr_op *op, uint64_t *stride)
{
    const uint8_t *at = lr_op_at_hand(op);
    uint32_t width = lr_op_width(op);
    *stride = op->shape[1] * width;
    if (!at && op->kind == LR_OP_SLICE && op->axis == 1 && op->u.slice.count == 1) {
        at = lr_op_at_hand(op->inputs[0]);
        *stride = op->inputs[0]->shape[1] * width;
        return at ? at + op->u.slice.runs[0].begin * width : NULL;
    }
    return at;
}

/* --------------------------------------------------------------------------------------------- moving elements -- */

static int32_t tensor_part(rec_job *job, const lr_op *op, uint64_t offset, void *target, uint64_t size)
{
    const lr_data *data = &op->u.tensor.data;
    uint64_t at;
    if (!lr_add(data->offset, offset, &at)) {
        at = UINT64_MAX; /* the source says that it does not go that far */
    }
    return rec_source_read_at(job, data->source, at, target, size);
}

/* A run of the slice that index `index` of its axis lies in. */
static const lr_packed_span *find_run(const lr_op *op, uint64_t index)
{
    const lr_packed_span *runs = op->u.slice.runs;
    uint64_t low = 0, high = op->u.slice.count;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (runs[middle].at <= index) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &runs[low];
}

/* Bytes [within, within + size) of a slice's row. The input's row is at `row`; NULL: it is read, from `row_at` on. */
static int32_t slice_row(rec_job *job, const lr_op *op, uint64_t inner, const uint8_t *row, uint64_t row_at,
                         uint64_t within, uint8_t *target, uint64_t size)
{
    const lr_packed_span *run = find_run(op, within / inner);
    uint64_t skip = within - run->at * inner;
    int32_t status = REC_OK;
    for (; size && status == REC_OK; run++) {
        uint64_t n = least(run->count * inner - skip, size);
        uint64_t at = run->begin * inner + skip;
        if (row) {
            memcpy(target, row + at, (size_t)n);
        } else {
            status = lr_op_part(job, op->inputs[0], row_at + at, target, n);
        }
        target += n;
        size -= n;
        skip = 0;
    }
    return status;
}

/* Where a row is that a node keeps, or NULL. */
static uint8_t *kept_row(const lr_op *op, uint64_t row, uint64_t row_bytes)
{
    const lr_op_kept *kept = op->kept;
    return row >= kept->first && row - kept->first < kept->count ? kept->block.data + (row - kept->first) * row_bytes
                                                                 : NULL;
}

/* How many rows are made at a time, of those from number `row` on. */
static uint64_t some_rows(uint64_t row_bytes, uint64_t left)
{
    return least(row_bytes < BLOCK ? BLOCK / row_bytes : 1, left);
}

/* Room for so many rows to be kept, which replace those that are. */
static int32_t begin_rows(rec_job *job, lr_op *op, uint64_t count, uint64_t row_bytes)
{
    op->kept->count = 0;
    return lr_pages_grow(&op->kept->block, count * row_bytes) ? REC_OK : lr_fail_memory(job, count * row_bytes);
}

/* Makes part of a node in pages, which grow to hold it. */
static int32_t part_into(rec_job *job, lr_op *op, uint64_t offset, lr_pages *pages, uint64_t size)
{
    return lr_pages_grow(pages, size) ? lr_op_part(job, op, offset, pages->data, size) : lr_fail_memory(job, size);
}

/* They are made. @return the status. */
static int32_t end_rows(lr_op *op, uint64_t first, uint64_t count, int32_t status)
{
    op->kept->first = first;
    op->kept->count = status == REC_OK ? count : 0;
    return status;
}

/* Reads the rows around number `row` of the input of a slice, unless they are there. */
static int32_t slice_block(rec_job *job, lr_op *op, uint64_t row, uint64_t row_bytes)
{
    uint64_t count = some_rows(row_bytes, op->inputs[0]->nbytes / row_bytes - row);
    if (kept_row(op, row, row_bytes)) {
        return REC_OK;
    }
    return begin_rows(job, op, count, row_bytes) == REC_OK
               ? end_rows(op, row, count,
                          lr_op_part(job, op->inputs[0], row * row_bytes, op->kept->block.data, count * row_bytes))
               : job->error.status;
}

/* Part of a row of a join, from each input in turn. Those of a stack lack its axis. */
static int32_t join_row(rec_job *job, lr_op *op, uint64_t row, uint64_t within, uint8_t *target, uint64_t size)
{
    bool once = is_outermost(op, op->axis);
    int32_t status = REC_OK;
    for (uint64_t i = 0; size && status == REC_OK && i < op->input_count; i++) {
        lr_op *input = op->inputs[i];
        uint64_t bytes = once ? input->nbytes : input->shape[op->axis] * inner_bytes(op, op->axis), n;
        if (within >= bytes) {
            within -= bytes;
            continue;
        }
        n = least(bytes - within, size);
        status = lr_op_part(job, input, row * bytes + within, target, n);
        if (once && within + n == bytes) {
            lr_op_forget(input); /* the next one may need as much */
        }
        target += n;
        size -= n;
        within = 0;
    }
    return status;
}

/* Makes the rows from number `row` on of a join of short pieces, unless they are there. */
static int32_t join_block(rec_job *job, lr_op *op, uint64_t row, uint64_t row_bytes)
{
    lr_pages part = {.allocator = op->allocator};
    uint64_t inner = inner_bytes(op, op->axis), at = 0, count = some_rows(row_bytes, op->nbytes / row_bytes - row);
    int32_t status;
    if (kept_row(op, row, row_bytes)) {
        return REC_OK;
    }
    status = begin_rows(job, op, count, row_bytes);
    for (uint64_t i = 0; i < op->input_count && status == REC_OK; i++) {
        uint64_t bytes = op->inputs[i]->shape[op->axis] * inner;
        status = part_into(job, op->inputs[i], row * bytes, &part, count * bytes);
        for (uint64_t k = 0; k < count && bytes && status == REC_OK; k++) {
            memcpy(op->kept->block.data + k * row_bytes + at, part.data + k * bytes, (size_t)bytes);
        }
        at += bytes;
    }
    lr_pages_free(&part);
    return end_rows(op, row, count, status);
}

static bool all_at_hand(const lr_op *op)
{
    for (uint64_t i = 0; i < op->input_count; i++) {
        if (op->inputs[i]->nbytes && !lr_op_at_hand(op->inputs[i])) {
            return false;
        }
    }
    return true;
}

/* Rows of a slice or a join. Short runs of inputs that are not in memory are taken from whole rows. */
static int32_t rows_part(rec_job *job, lr_op *op, uint64_t offset, uint8_t *target, uint64_t size)
{
    bool slice = op->kind == LR_OP_SLICE;
    const uint8_t *base = slice ? lr_op_at_hand(op->inputs[0]) : NULL, *at;
    uint64_t inner = inner_bytes(op, op->axis), row_bytes = op->shape[op->axis] * inner;
    uint64_t kept_bytes = slice ? op->inputs[0]->shape[op->axis] * inner : row_bytes;
    uint64_t run = row_bytes / (slice ? op->u.slice.count : op->input_count);
    bool blocks = !is_outermost(op, op->axis) && run < RUN_LEAST && !all_at_hand(op);
    int32_t status = REC_OK;
    if (blocks) {
        (void)pthread_mutex_lock(&op->kept->lock);
    }
    while (size && status == REC_OK) {
        uint64_t row = offset / row_bytes, within = offset % row_bytes;
        uint64_t n = least(row_bytes - within, size);
        at = base ? base + row * kept_bytes : NULL;
        if (blocks) {
            status = slice ? slice_block(job, op, row, kept_bytes) : join_block(job, op, row, kept_bytes);
            at = kept_row(op, row, kept_bytes);
        }
        if (status == REC_OK && slice) {
            status = slice_row(job, op, inner, at, row * kept_bytes, within, target, n);
        } else if (status == REC_OK && blocks) {
            memcpy(target, at + within, (size_t)n);
        } else if (status == REC_OK) {
            status = join_row(job, op, row, within, target, n);
        }
        offset += n;
        target += n;
        size -= n;
    }
    if (blocks) {
        (void)pthread_mutex_unlock(&op->kept->lock);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------- transposing -- */

/* Makes rows of a transpose or a permutation, whose input is in memory. */
static void turn(const lr_op *op, const uint8_t *from, uint64_t stride, uint64_t row, uint64_t count, uint8_t *to)
{
    uint32_t width = lr_op_width(op);
    if (op->kind == LR_OP_PERMUTE) {
        lr_op_permute_rows(op, from, row, count, to);
    } else {
        lr_transpose(from + row * width, stride, to, op->shape[1] * width, op->shape[1], count, width);
    }
}

/* The rows of a transpose around number `row`, turned together: one alone would touch as many lines of input. */
static int32_t transpose_block(rec_job *job, lr_op *op, const uint8_t *from, uint64_t stride, uint64_t row)
{
    uint64_t group = LR_TRANSPOSE_LINE / lr_op_width(op), row_bytes = op->nbytes / op->shape[0], count = group;
    if (row_bytes < BLOCK / group) {
        count = BLOCK / row_bytes / group * group;
    }
    row -= row % group;
    count = least(count, op->shape[0] - row);
    if (begin_rows(job, op, count, row_bytes) != REC_OK) {
        return job->error.status;
    }
    turn(op, from, stride, row, count, op->kept->block.data);
    return end_rows(op, row, count, REC_OK);
}

/* Columns of a matrix that is not in memory, from `first` on: each row's next to the one before. */
static int32_t read_columns(rec_job *job, lr_op *input, uint64_t first, uint64_t count, uint8_t *target)
{
    uint32_t width = lr_op_width(input);
    uint64_t rows = input->shape[0], row_bytes = input->shape[1] * width, some = count * width;
    uint64_t step = some >= RUN_LEAST || row_bytes >= BLOCK ? 1 : BLOCK / row_bytes;
    lr_pages whole = {.allocator = input->allocator};
    int32_t status = REC_OK;
    for (uint64_t row = 0; row < rows && status == REC_OK; row += step) {
        uint64_t n = least(step, rows - row);
        if (some >= RUN_LEAST) {
            status = lr_op_part(job, input, row * row_bytes + first * width, target + row * some, some);
            continue;
        }
        status = part_into(job, input, row * row_bytes, &whole, n * row_bytes);
        for (uint64_t i = 0; i < n && status == REC_OK; i++) {
            memcpy(target + (row + i) * some, whole.data + i * row_bytes + first * width, (size_t)some);
        }
    }
    lr_pages_free(&whole);
    return status;
}

/* The rows of a transpose from number `row` on, of a large input that is not in memory. */
static int32_t transpose_panel(rec_job *job, lr_op *op, uint64_t row)
{
    uint32_t width = lr_op_width(op);
    uint64_t group = LR_TRANSPOSE_LINE / width, row_bytes = op->shape[1] * width;
    uint64_t count = row_bytes < PANEL_MOST / group ? PANEL_MOST / row_bytes / group * group : 1;
    lr_pages panel = {.allocator = op->allocator};
    int32_t status;
    count = least(count, op->shape[0] - row);
    status = begin_rows(job, op, count, row_bytes);
    if (status == REC_OK) {
        status = lr_pages_grow(&panel, count * row_bytes) ? read_columns(job, op->inputs[0], row, count, panel.data)
                                                          : lr_fail_memory(job, count * row_bytes);
    }
    if (status == REC_OK) {
        lr_transpose(panel.data, count * width, op->kept->block.data, row_bytes, op->shape[1], count, width);
    }
    lr_pages_free(&panel);
    return end_rows(op, row, count, status);
}

/* @param from the input; NULL: it is large, and not in memory. */
static int32_t transpose_rows(rec_job *job, lr_op *op, const uint8_t *from, uint64_t stride, uint64_t offset,
                              uint8_t *target, uint64_t size)
{
    lr_op_kept *kept = op->kept;
    uint64_t group = LR_TRANSPOSE_LINE / lr_op_width(op), row_bytes = op->nbytes / op->shape[0];
    int32_t status = REC_OK;
    while (size && status == REC_OK) {
        uint64_t row = offset / row_bytes, within = offset % row_bytes, n = 0;
        uint64_t rows = within || !from ? 0 : size / row_bytes;
        if (rows && row + rows < op->shape[0]) {
            rows -= rows % group;
        }
        if (kept_row(op, row, row_bytes)) {
            n = least((kept->first + kept->count - row) * row_bytes - within, size);
            memcpy(target, kept_row(op, row, row_bytes) + within, (size_t)n);
        } else if (rows) {
            n = rows * row_bytes;
            turn(op, from, stride, row, rows, target);
        } else {
            status = from ? transpose_block(job, op, from, stride, row) : transpose_panel(job, op, row);
        }
        offset += n;
        target += n;
        size -= n;
    }
    return status;
}

/* Maps the parts of its input that lie in mappable files, if that was postponed. */
static int32_t map_input(rec_job *job, const lr_op *op)
{
    while (op->kind == LR_OP_RESHAPE || op->kind == LR_OP_SLICE) {
        op = op->inputs[0];
    }
    return op->kind == LR_OP_TENSOR ? lr_source_map_late(job, op->u.tensor.data.source) : REC_OK;
}

/* The input of a transpose or a permutation, if it is in memory. */
static const uint8_t *turned_at_hand(const lr_op *op, uint64_t *stride)
{
    return op->kind == LR_OP_PERMUTE ? lr_op_at_hand(op->inputs[0]) : matrix_at_hand(op->inputs[0], stride);
}

static int32_t transpose_part(rec_job *job, lr_op *op, uint64_t offset, uint8_t *target, uint64_t size)
{
    lr_op_kept *kept = op->kept;
    lr_op *input = op->inputs[0];
    uint64_t stride = 0;
    const uint8_t *from = turned_at_hand(op, &stride);
    int32_t status = REC_OK;
    (void)pthread_mutex_lock(&kept->lock);
    if (!from && (status = map_input(job, input)) == REC_OK) {
        from = turned_at_hand(op, &stride);
    }
    if (status == REC_OK && !from && (op->kind == LR_OP_PERMUTE || input->nbytes <= WHOLE_MOST)) {
        stride = input->shape[1] * lr_op_width(input);
        if (!kept->has_whole) {
            status = part_into(job, input, 0, &kept->whole, input->nbytes);
            kept->has_whole = status == REC_OK;
            lr_op_forget(input);
        }
        from = kept->whole.data;
    }
    if (status == REC_OK) {
        status = transpose_rows(job, op, from, stride, offset, target, size);
    }
    (void)pthread_mutex_unlock(&kept->lock);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- numbers -- */

/* Makes whole elements from number `first` on. */
typedef int32_t (*elements_fn)(rec_job *job, lr_op *op, uint64_t first, uint8_t *target, uint64_t count);

/* Makes bytes, of which the first and the last may be part of an element. */
static int32_t elements_part(rec_job *job, lr_op *op, elements_fn make, uint64_t offset, uint8_t *target, uint64_t size)
{
    uint32_t width = lr_op_width(op);
    int32_t status = REC_OK;
    while (size && status == REC_OK) {
        uint64_t within = offset % width, n = size - size % width;
        if (within || n == 0) {
            uint8_t element[8];
            n = least(width - within, size);
            status = make(job, op, offset / width, element, 1);
            if (status == REC_OK) {
                memcpy(target, element + within, (size_t)n);
            }
        } else {
            status = make(job, op, offset / width, target, n / width);
        }
        offset += n;
        target += n;
        size -= n;
    }
    return status;
}

/* A sum or a product is made in place. */
static int32_t compute(rec_job *job, lr_op *op, uint64_t first, uint8_t *target, uint64_t count)
{
    uint32_t width = lr_op_width(op);
    uint64_t offset = first * width, size = count * width;
    int32_t status = lr_op_part(job, op->inputs[0], offset, target, size);
    if (op->kind == LR_OP_ADD && status == REC_OK) {
        lr_op_add_numbers(op, target, count);
    }
    while (op->kind == LR_OP_MULTIPLY && size && status == REC_OK) {
        uint8_t other[BLOCK_OF_FACTORS];
        uint64_t n = least(size, sizeof other);
        status = lr_op_part(job, op->inputs[1], offset, other, n);
        if (status == REC_OK) {
            lr_op_multiply_numbers(op, target, other, n / width);
        }
        offset += n;
        target += n;
        size -= n;
    }
    return status;
}

/* Elements [first, first + count) converted, by way of memory if they are not in it yet. */
static int32_t cast_elements(rec_job *job, lr_op *op, uint64_t first, uint8_t *target, uint64_t count)
{
    lr_op *input = op->inputs[0];
    lr_pages middle = {.allocator = op->allocator};
    const uint8_t *from = lr_op_at_hand(input);
    uint32_t width = lr_op_width(input);
    int32_t status = REC_OK;
    if (from) {
        return lr_op_cast_numbers(job, op, first, from + first * width, target, count);
    }
    while (count && status == REC_OK) {
        uint64_t n = least(count, BLOCK / width);
        status = part_into(job, input, first * width, &middle, n * width);
        if (status == REC_OK) {
            status = lr_op_cast_numbers(job, op, first, middle.data, target, n);
        }
        first += n;
        target += n * lr_op_width(op);
        count -= n;
    }
    lr_pages_free(&middle);
    return status;
}

static int32_t cast_part(rec_job *job, lr_op *op, uint64_t offset, uint8_t *target, uint64_t size)
{
    int32_t status = elements_part(job, op, cast_elements, offset, target, size);
    if (status == REC_OK && offset + size == op->nbytes) {
        uint64_t overflowed = atomic_exchange(&op->u.overflowed, 0);
        lr_losses losses = {.overflowed = overflowed};
        lr_note_losses(job, "", op->dtype, &losses);
    }
    return status;
}

/* v is read to where the result will be. */
static int32_t weight_norm_whole(rec_job *job, lr_op *op, uint8_t *target)
{
    lr_op *g = op->inputs[0];
    lr_pages bytes = {.allocator = op->allocator};
    int32_t status = part_into(job, g, 0, &bytes, g->nbytes);
    if (status == REC_OK) {
        status = lr_op_part(job, op->inputs[1], 0, target, op->nbytes);
    }
    if (status == REC_OK) {
        lr_op_forget(op->inputs[1]);
        status = lr_op_weigh(job, op, bytes.data, target);
    }
    lr_pages_free(&bytes);
    return status;
}

/* Reads the whole input and computes the requested norms. */
static int32_t norm_part(rec_job *job, lr_op *op, uint64_t offset, uint8_t *target, uint64_t size)
{
    lr_op *input = op->inputs[0];
    lr_pages bytes = {.allocator = op->allocator};
    uint64_t width = lr_op_width(op), count = op->nbytes / width, need;
    double *sums = lr_mul(count, sizeof *sums, &need) ? lr_zalloc(job->allocator, need) : NULL;
    int32_t status = sums ? part_into(job, input, 0, &bytes, input->nbytes) : lr_fail_memory(job, count);
    if (status == REC_OK) {
        lr_op_sum_squares(input, op->axis, bytes.data, sums);
    }
    for (uint64_t n; size && status == REC_OK; offset += n, target += n, size -= n) {
        uint8_t element[8];
        uint64_t within = offset % width;
        n = least(width - within, size);
        lr_op_put_root(op, sums[offset / width], element);
        memcpy(target, element + within, (size_t)n);
    }
    lr_release(job->allocator, sums);
    lr_pages_free(&bytes);
    return status;
}

static int32_t weight_norm_part(rec_job *job, lr_op *op, uint64_t offset, uint8_t *target, uint64_t size)
{
    lr_op_kept *kept = op->kept;
    int32_t status = REC_OK;
    if (size == op->nbytes) {
        return weight_norm_whole(job, op, target);
    }
    (void)pthread_mutex_lock(&kept->lock);
    if (!kept->has_whole) {
        status = lr_pages_grow(&kept->whole, op->nbytes) ? weight_norm_whole(job, op, kept->whole.data)
                                                         : lr_fail_memory(job, op->nbytes);
        kept->has_whole = status == REC_OK;
    }
    if (status == REC_OK) {
        memcpy(target, kept->whole.data + offset, (size_t)size);
    }
    (void)pthread_mutex_unlock(&kept->lock);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- parts -- */

int32_t lr_op_part(rec_job *job, lr_op *op, uint64_t offset, void *target, uint64_t size)
{
    const uint8_t *at;
    if (size == 0) {
        return REC_OK;
    }
    at = lr_op_at_hand(op);
    if (at) {
        memcpy(target, at + offset, (size_t)size);
        return REC_OK;
    }
    switch (op->kind) {
    case LR_OP_TENSOR:
        return tensor_part(job, op, offset, target, size);
    case LR_OP_TRANSPOSE:
    case LR_OP_PERMUTE:
        return transpose_part(job, op, offset, target, size);
    case LR_OP_SLICE:
    case LR_OP_JOIN:
        return rows_part(job, op, offset, target, size);
    case LR_OP_RESHAPE:
        return lr_op_part(job, op->inputs[0], offset, target, size);
    case LR_OP_ADD:
    case LR_OP_MULTIPLY:
        return elements_part(job, op, compute, offset, target, size);
    case LR_OP_WEIGHT_NORM:
        return weight_norm_part(job, op, offset, target, size);
    case LR_OP_NORM:
        return norm_part(job, op, offset, target, size);
    default:
        return cast_part(job, op, offset, target, size);
    }
}

void lr_op_forget(lr_op *op)
{
    lr_op_kept *kept = op->kept;
    if (kept) {
        (void)pthread_mutex_lock(&kept->lock);
        lr_pages_free(&kept->whole);
        lr_pages_free(&kept->block);
        kept->has_whole = false;
        kept->count = 0;
        (void)pthread_mutex_unlock(&kept->lock);
    }
    for (uint64_t i = 0; i < op->input_count; i++) {
        lr_op_forget(op->inputs[i]);
    }
}

/* All of it was made: of a file that is only handed on the pages may go. */
static void pass(const rec_job *job, const lr_op *op)
{
    if (op->kind == LR_OP_TENSOR) {
        lr_source_pass(job, op->u.tensor.data.source, lr_data_at_hand(&op->u.tensor.data), op->u.tensor.data.size);
    }
    for (uint64_t i = 0; i < op->input_count; i++) {
        pass(job, op->inputs[i]);
    }
}

int32_t lr_op_read(rec_job *job, lr_op *op, uint64_t offset, void *target, uint64_t size)
{
    int32_t status;
    char need[32], from[32], have[32];
    if (offset > op->nbytes || size > op->nbytes - offset) {
        return rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN,
                        "%s bytes were requested from byte %s on, of a tensor of %s bytes",
                        lr_group_digits(size, need, sizeof need), lr_group_digits(offset, from, sizeof from),
                        lr_group_digits(op->nbytes, have, sizeof have));
    }
    status = lr_op_part(job, op, offset, target, size);
    if (status != REC_OK || offset + size == op->nbytes) {
        lr_op_forget(op);
        pass(job, op);
    }
    return status;
}
