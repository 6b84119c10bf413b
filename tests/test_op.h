/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the tests of operations share: tensors that lie somewhere, and an interpreter that goes index by index. */
#ifndef TEST_OP_H
#define TEST_OP_H

#include "tests/little.h"
#include "tests/test_io.h"

#include "remap/ops/ops.h"
#include "core/record/record.h"

/* ----------------------------------------------------------------------------------------------------- helpers -- */

/* A tensor with its bytes, as the interpreter has it. */
typedef struct naive {
    rec_dtype dtype;
    uint32_t rank;
    uint64_t shape[8];
    uint64_t count;
    uint8_t *data; /* from malloc */
} naive;

static uint32_t width_of(rec_dtype dtype)
{
    return rec_dtype_bits(dtype) / 8;
}

static inline naive naive_new(rec_dtype dtype, uint32_t rank, const uint64_t *shape)
{
    naive n = {.dtype = dtype, .rank = rank, .count = 1};
    for (uint32_t i = 0; i < rank; i++) {
        n.shape[i] = shape[i];
        n.count *= shape[i];
    }
    n.data = calloc((size_t)(n.count * width_of(dtype) + 1), 1);
    assert_non_null(n.data);
    return n;
}

/* Where a tensor's bytes are. */
enum { IN_ARENA, IN_VIEW, IN_FILE, PLACES };

static inline rec_tensor *tensor_new(rec_record *record, rec_dtype dtype, uint32_t rank, const uint64_t *shape,
                                     lr_data *data)
{
    rec_tensor *tensor = lr_arena_alloc(&record->arena, sizeof *tensor, 8);
    uint64_t *own = lr_arena_alloc(&record->arena, (rank ? rank : 1u) * sizeof *own, 8);
    assert_true(tensor && own && data);
    memset(tensor, 0, sizeof *tensor);
    memcpy(own, shape, rank * sizeof *own);
    tensor->record = record;
    tensor->data = data;
    tensor->shape = own;
    tensor->rank = (uint8_t)rank;
    tensor->packed = tensor->stored = tensor->dtype = (uint8_t)dtype;
    assert_true(lr_shape_count(shape, rank, &tensor->count));
    return tensor;
}

/* An operation that gives bytes which lie somewhere; the record is freed before anybody reads them. */
static inline lr_op *source_op(world *w, const naive *n, int place)
{
    static int number;
    uint64_t size = n->count * width_of(n->dtype);
    rec_record *record = lr_record_new(&w->context);
    rec_source *source = NULL;
    lr_data *data;
    lr_op *op;
    char name[32];
    assert_non_null(record);
    if (place == IN_ARENA) {
        data = lr_data_copy(record, n->data, size);
    } else if (place == IN_VIEW) {
        source = lr_source_memory(&w->job, n->data, size, "view");
        data = lr_data_lent(record, source, n->data, size, 0);
    } else {
        uint8_t *file = calloc((size_t)(size + 3), 1); /* it begins at byte 3 */
        memcpy(file + 3, n->data, (size_t)size);
        (void)snprintf(name, sizeof name, "tensor%d", number++);
        write_file(name, file, (size_t)(size + 3));
        free(file);
        source = lr_source_open(&w->job, name, false);
        assert_non_null(source);
        data = lr_data_lent(record, source, NULL, size, 3);
    }
    op = lr_op_tensor(&w->job, tensor_new(record, n->dtype, n->rank, n->shape, data));
    rec_source_release(source);
    rec_record_free(record);
    assert_non_null(op);
    return op;
}

static inline void release(lr_op **op, lr_op *next)
{
    lr_op_release(*op);
    *op = next;
}

static inline void check_shape(const lr_op *op, const naive *n)
{
    assert_int_equal(lr_op_dtype(op), n->dtype);
    assert_int_equal(lr_op_rank(op), n->rank);
    assert_memory_equal(lr_op_shape(op), n->shape, n->rank * sizeof(uint64_t));
    assert_int_equal(lr_op_nbytes(op), n->count * width_of(n->dtype));
}

static inline void check_made(world *w, lr_op *op, const naive *n)
{
    uint64_t size = n->count * width_of(n->dtype);
    uint8_t *made = malloc((size_t)(size + 2));
    check_shape(op, n);
    made[0] = made[size + 1] = 0xA5;
    assert_int_equal(lr_op_read(&w->job, op, 0, made + 1, size), REC_OK); /* at an odd place */
    assert_memory_equal(made + 1, n->data, (size_t)size);
    assert_true(made[0] == 0xA5 && made[size + 1] == 0xA5);
    free(made);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x2545f4914f6cdd1d) >> 8;
}

/* In pieces of any size, in order, and then some more from anywhere. */
static inline void check_pieces(world *w, lr_op *op, const naive *n, uint64_t *seed)
{
    uint64_t size = n->count * width_of(n->dtype), at = 0;
    uint64_t most = next_random(seed) % 3 == 0 ? 16 : next_random(seed) % 2 ? 700 : 20000;
    uint8_t *made = calloc((size_t)(size + 1), 1);
    while (at < size) {
        uint64_t piece = 1 + next_random(seed) % most;
        piece = piece < size - at ? piece : size - at;
        assert_int_equal(lr_op_read(&w->job, op, at, made + at, piece), REC_OK);
        at += piece;
    }
    assert_memory_equal(made, n->data, (size_t)size);
    for (int i = 0; i < 8 && size; i++) {
        uint64_t from = next_random(seed) % size, piece = next_random(seed) % (size - from + 1);
        memset(made, 0, (size_t)size);
        assert_int_equal(lr_op_read(&w->job, op, from, made, piece), REC_OK);
        assert_memory_equal(made, n->data + from, (size_t)piece);
    }
    free(made);
}

/* --------------------------------------------------------------------------------------------- the interpreter -- */

static inline void unravel(uint64_t at, uint32_t rank, const uint64_t *shape, uint64_t *index)
{
    for (uint32_t i = rank; i-- > 0;) {
        index[i] = at % shape[i];
        at /= shape[i];
    }
}

static uint64_t ravel(uint32_t rank, const uint64_t *shape, const uint64_t *index)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < rank; i++) {
        at = at * shape[i] + index[i];
    }
    return at;
}

static inline void copy_element(naive *to, uint64_t at, const naive *from, uint64_t from_at)
{
    uint32_t width = width_of(to->dtype);
    memcpy(to->data + at * width, from->data + from_at * width, width);
}

static inline naive naive_transpose(const naive *n)
{
    naive out = naive_new(n->dtype, 2, (const uint64_t[]){n->shape[1], n->shape[0]});
    for (uint64_t i = 0; i < n->shape[0]; i++) {
        for (uint64_t j = 0; j < n->shape[1]; j++) {
            copy_element(&out, j * n->shape[0] + i, n, i * n->shape[1] + j);
        }
    }
    return out;
}

/* @param indices of the axis, in order. */
static inline naive naive_take(const naive *n, uint32_t axis, const uint64_t *indices, uint64_t count)
{
    uint64_t shape[8];
    naive out;
    memcpy(shape, n->shape, sizeof shape);
    shape[axis] = count;
    out = naive_new(n->dtype, n->rank, shape);
    for (uint64_t at = 0; at < out.count; at++) {
        uint64_t index[8];
        unravel(at, n->rank, shape, index);
        index[axis] = indices[index[axis]];
        copy_element(&out, at, n, ravel(n->rank, n->shape, index));
    }
    return out;
}

static inline naive naive_join(const naive *parts, uint64_t count, uint32_t axis)
{
    uint64_t shape[8], done = 0;
    naive out;
    memcpy(shape, parts[0].shape, sizeof shape);
    for (uint64_t i = 1; i < count; i++) {
        shape[axis] += parts[i].shape[axis];
    }
    out = naive_new(parts[0].dtype, parts[0].rank, shape);
    for (uint64_t i = 0; i < count; i++) {
        for (uint64_t at = 0; at < parts[i].count; at++) {
            uint64_t index[8];
            unravel(at, parts[i].rank, parts[i].shape, index);
            index[axis] += done;
            copy_element(&out, ravel(out.rank, out.shape, index), &parts[i], at);
        }
        done += parts[i].shape[axis];
    }
    return out;
}

static inline naive naive_random(uint64_t *seed, rec_dtype dtype, uint32_t rank, const uint64_t *shape)
{
    naive n = naive_new(dtype, rank, shape);
    for (uint64_t i = 0; i < n.count * width_of(dtype); i++) {
        n.data[i] = (uint8_t)next_random(seed);
    }
    if (dtype == REC_DTYPE_F32 || dtype == REC_DTYPE_F64) { /* numbers that are equal to themselves */
        for (uint64_t i = 0; i < n.count; i++) {
            double value = (double)(int64_t)(next_random(seed) % 20001) / 64 - 150;
            float narrow = (float)value;
            memcpy(n.data + i * width_of(dtype), dtype == REC_DTYPE_F64 ? (void *)&value : (void *)&narrow,
                   width_of(dtype));
            little(n.data + i * width_of(dtype), width_of(dtype), 1);
        }
    }
    return n;
}

/* A shape's numbers, and how many they are. */
#define SHAPE(...)     \
    (const uint64_t[]) \
    {                  \
        __VA_ARGS__    \
    }

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_world, leave_world)

#endif
