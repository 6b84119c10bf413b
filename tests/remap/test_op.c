/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Operations on tensors: what each maker refuses, what comes to the same, tensors in and out, permuted rows. */
#include "tests/test_op.h"

/* ------------------------------------------------------------------------------------------------------ makers -- */

static lr_op *numbers(world *w, rec_dtype dtype, uint32_t rank, const uint64_t *shape, naive *n)
{
    uint64_t seed = 99;
    *n = naive_random(&seed, dtype, rank, shape);
    return source_op(w, n, IN_ARENA);
}

#define SHAPE(...)     \
    (const uint64_t[]) \
    {                  \
        __VA_ARGS__    \
    }
#define NUMBERS(w, n, dtype, ...) \
    numbers((w), (dtype), sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), SHAPE(__VA_ARGS__), (n))

static void what_does_not_fit_is_refused(void **state)
{
    world *w = *state;
    naive a, b, c, d;
    lr_op *vector = NUMBERS(w, &a, REC_DTYPE_F32, 3), *matrix = NUMBERS(w, &b, REC_DTYPE_F32, 4, 3);
    lr_op *half = NUMBERS(w, &c, REC_DTYPE_F16, 4, 3), *whole = NUMBERS(w, &d, REC_DTYPE_I32, 4, 3);
    lr_op *pair[2] = {matrix, vector}, *types[2] = {matrix, half}, *others[2] = {whole, vector};
    lr_span span = {2, 3}, wild = {UINT64_MAX, UINT64_MAX};
    rec_record *record = lr_record_new(&w->context);
    rec_tensor *opaque = tensor_new(record, REC_DTYPE_OPAQUE, 1, SHAPE(3), lr_data_copy(record, "abcd", 4));
    rec_tensor *wrong = tensor_new(record, REC_DTYPE_F32, 1, SHAPE(3), lr_data_copy(record, "abcd", 4));
    lr_op *carried = lr_op_tensor(&w->job, opaque);
    assert_non_null(carried);

    assert_null(lr_op_tensor(&w->job, wrong));
    assert_failed(w, REC_E_FORMAT, "12 bytes of data for f32 [3]");
    assert_null(lr_op_transpose(&w->job, vector));
    assert_failed(w, REC_E_MISMATCH, "a tensor of shape [3] cannot be transposed: it has no two axes");
    assert_null(lr_op_transpose(&w->job, carried));
    assert_failed(w, REC_E_UNSUPPORTED, "a tensor of opaque cannot be transposed");
    assert_null(lr_op_permute(&w->job, matrix, (const uint32_t[]){2, 1, 0}, 3));
    assert_failed(w, REC_E_MISMATCH, "a tensor of shape [4, 3] cannot be permuted: it does not have 3 axes");
    assert_null(lr_op_permute(&w->job, carried, (const uint32_t[]){0}, 1));
    assert_failed(w, REC_E_UNSUPPORTED, "a tensor of opaque cannot be permuted");
    assert_null(lr_op_slice(&w->job, matrix, 1, &span, 1));
    assert_failed(w, REC_E_MISMATCH, "indices 2 to 5 of axis 1 do not exist in shape [4, 3]");
    assert_null(lr_op_slice(&w->job, matrix, 1, &wild, 1));
    assert_failed(w, REC_E_MISMATCH, "do not exist in shape [4, 3]");
    assert_null(lr_op_slice(&w->job, matrix, 2, &span, 1));
    assert_failed(w, REC_E_MISMATCH, "a tensor of shape [4, 3] cannot be cut along axis 2");
    assert_null(lr_op_slice(&w->job, carried, 0, &span, 1));
    assert_failed(w, REC_E_UNSUPPORTED, "a tensor of opaque cannot be cut");
    assert_null(lr_op_join(&w->job, pair, 2, 0));
    assert_failed(w, REC_E_MISMATCH,
                  "tensors of different shapes cannot be joined: the first has [4, 3], number 2 has [3]");
    assert_null(lr_op_join(&w->job, types, 2, 0));
    assert_failed(w, REC_E_MISMATCH, "tensors to be joined are of one type each: the first has f32, number 2 has f16");
    assert_null(lr_op_join(&w->job, pair, 1, 2));
    assert_failed(w, REC_E_MISMATCH, "a tensor of shape [4, 3] cannot be joined along axis 2");
    assert_null(lr_op_join(&w->job, pair, 0, 0));
    assert_failed(w, REC_E_MISMATCH, "no tensors to be joined");
    assert_null(lr_op_stack(&w->job, pair, 2));
    assert_failed(w, REC_E_MISMATCH,
                  "tensors of different shapes cannot be stacked: the first has [4, 3], number 2 has [3]");
    assert_null(lr_op_reshape(&w->job, matrix, SHAPE(5, 2), 2));
    assert_failed(w, REC_E_MISMATCH, "a tensor of shape [4, 3] cannot be reshaped to [5, 2]");
    assert_null(lr_op_reshape(&w->job, matrix, SHAPE(UINT64_MAX, 7), 2));
    assert_failed(w, REC_E_MISMATCH, "there are not as many elements");
    assert_null(lr_op_add(&w->job, whole, 1));
    assert_failed(w, REC_E_MISMATCH, "a number can be added to floats, not to a tensor of i32");
    assert_null(lr_op_cast(&w->job, carried, REC_DTYPE_F32));
    assert_failed(w, REC_E_UNSUPPORTED, "a tensor of opaque cannot be converted");
    assert_null(lr_op_cast(&w->job, matrix, REC_DTYPE_QFLOAT));
    assert_failed(w, REC_E_UNSUPPORTED, "a tensor of f32 cannot become qfloat");
    assert_null(lr_op_weight_norm(&w->job, vector, matrix));
    assert_failed(w, REC_E_MISMATCH,
                  "a magnitude of shape [3] does not fit a direction of shape [4, 3]: it must have length 1");
    assert_null(lr_op_weight_norm(&w->job, half, matrix));
    assert_failed(w, REC_E_MISMATCH, "a magnitude of shape [4, 3] does not fit");
    assert_null(lr_op_weight_norm(&w->job, others[0], matrix));
    assert_failed(w, REC_E_MISMATCH, "a weight is normed in floats, not in i32 and f32");
    assert_null(lr_op_rope(&w->job, matrix, 3, 0, false));
    assert_failed(w, REC_E_MISMATCH, "the 4 rows of shape [4, 3] are not those of 3 heads");
    assert_null(lr_op_rope(&w->job, matrix, 0, 0, false));
    assert_failed(w, REC_E_MISMATCH, "are not those of 0 heads");
    assert_null(lr_op_rope(&w->job, matrix, 2, 4, false));
    assert_failed(w, REC_E_MISMATCH, "4 rotary dims, but a head of shape [4, 3] has only 2 rows");
    assert_null(lr_op_rope(&w->job, vector, 1, 0, false));
    assert_failed(w, REC_E_MISMATCH, "3 rotary dims of a head cannot be taken in pairs");

    rec_record_free(record);
    for (size_t i = 0; i < 4; i++) {
        lr_op_release((lr_op *[]){vector, matrix, half, whole}[i]);
        free((void *[]){a.data, b.data, c.data, d.data}[i]);
    }
    lr_op_release(carried);
}

static void shapes_that_no_memory_holds_are_refused(void **state)
{
    world *w = *state;
    rec_record *record = lr_record_new(&w->context);
    uint64_t huge[LR_RANK_MOST];
    lr_op *empty = lr_op_tensor(
        &w->job, tensor_new(record, REC_DTYPE_F64, 2, SHAPE(UINT64_MAX, 0), lr_data_copy(record, NULL, 0)));
    lr_op *pair[2] = {empty, empty}, *deep, *more;
    lr_span twice[2] = {{0, UINT64_MAX}, {0, UINT64_MAX}};
    assert_non_null(empty);
    assert_int_equal(lr_op_nbytes(empty), 0);
    assert_null(lr_op_join(&w->job, pair, 2, 0));
    assert_failed(w, REC_E_RANGE, "more than 2^64 indices");
    assert_null(lr_op_slice(&w->job, empty, 0, twice, 2));
    assert_failed(w, REC_E_RANGE, "more than 2^64 indices");
    more = lr_op_rope(&w->job, empty, 1, 2, false); /* 2^64 rows of nothing: no table of them is made */
    assert_non_null(more);
    lr_op_release(more);
    deep = lr_op_transpose(&w->job, empty); /* of no bytes at all */
    assert_int_equal(lr_op_shape(deep)[0], 0);
    assert_int_equal(lr_op_read(&w->job, deep, 0, NULL, lr_op_nbytes(deep)), REC_OK);
    lr_op_release(deep);
    lr_op_release(empty);

    for (uint32_t i = 0; i < LR_RANK_MOST; i++) {
        huge[i] = 1;
    }
    deep = lr_op_tensor(&w->job, tensor_new(record, REC_DTYPE_U8, LR_RANK_MOST, huge, lr_data_copy(record, "x", 1)));
    pair[0] = pair[1] = deep;
    assert_null(lr_op_stack(&w->job, pair, 2));
    assert_failed(w, REC_E_UNSUPPORTED, "a tensor of 33 axes: 32 are the most");
    for (int i = 0; deep; i++) { /* one element again and again: nothing grows but the work */
        assert_true(i < 64);
        pair[0] = pair[1] = deep;
        more = lr_op_join(&w->job, pair, 2, 0);
        lr_op_release(deep);
        deep = more ? lr_op_slice(&w->job, more, 0, &(lr_span){1, 1}, 1) : NULL;
        lr_op_release(more);
    }
    assert_failed(w, REC_E_LIMIT, "operations one upon the other");
    rec_record_free(record);
}

static void what_comes_to_the_same_is_the_same(void **state)
{
    world *w = *state;
    naive n;
    lr_op *op = NUMBERS(w, &n, REC_DTYPE_F32, 6, 4), *other, *again;
    lr_span halves[3] = {{0, 2}, {2, 0}, {2, 4}};
    other = lr_op_transpose(&w->job, op);
    again = lr_op_transpose(&w->job, other);
    assert_ptr_equal(again, op);
    lr_op_release(again);
    again = lr_op_slice(&w->job, op, 0, halves, 3);
    assert_ptr_equal(again, op);
    lr_op_release(again);
    again = lr_op_reshape(&w->job, op, SHAPE(6, 4), 2);
    assert_ptr_equal(again, op);
    lr_op_release(again);
    again = lr_op_cast(&w->job, op, REC_DTYPE_F32);
    assert_ptr_equal(again, op);
    lr_op_release(again);
    again = lr_op_join(&w->job, &op, 1, 1);
    assert_ptr_equal(again, op);
    lr_op_release(again);
    lr_op_release(other);
    other = lr_op_reshape(&w->job, op, SHAPE(24, 1), 2);
    again = lr_op_transpose(&w->job, other);
    assert_int_equal(lr_op_kind(again), LR_OP_RESHAPE);
    assert_int_equal(lr_op_shape(again)[1], 24);
    lr_op_release(again);
    lr_op_release(other);
    again = lr_op_permute(&w->job, op, (const uint32_t[]){0, 1}, 2);
    assert_ptr_equal(again, op);
    lr_op_release(again);
    other = lr_op_permute(&w->job, op, (const uint32_t[]){1, 0}, 2);
    assert_int_equal(lr_op_kind(other), LR_OP_TRANSPOSE);
    again = lr_op_permute(&w->job, other, (const uint32_t[]){1, 0}, 2);
    assert_ptr_equal(again, op);
    lr_op_release(again);
    lr_op_release(other);
    other = lr_op_reshape(&w->job, op, SHAPE(1, 6, 1, 4), 4);
    again = lr_op_permute(&w->job, other, (const uint32_t[]){2, 1, 0, 3}, 4); /* two axes of length 1 */
    assert_ptr_equal(again, other);
    lr_op_release(again);
    lr_op_release(other);
    lr_op_release(op);
    free(n.data);
}

/* -------------------------------------------------------------------------------------------------------- rope -- */

static void check_rope(world *w, uint64_t heads, uint64_t d, uint64_t rotary, uint64_t columns)
{
    uint64_t r = rotary ? rotary : d, indices[256], rows = heads * d, shape[2] = {rows, columns};
    uint64_t seed = rows * 31 + columns;
    uint32_t rank = columns ? 2 : 1; /* 0: a bias */
    naive n = naive_random(&seed, REC_DTYPE_F32, rank, shape), expected;
    lr_op *op = source_op(w, &n, IN_VIEW), *there, *back;
    for (uint64_t h = 0; h < heads; h++) {
        for (uint64_t j = 0; j < d; j++) {
            indices[h * d + j] = h * d + (j < r ? j % 2 * (r / 2) + j / 2 : j);
        }
    }
    expected = naive_take(&n, 0, indices, rows);
    there = lr_op_rope(&w->job, op, heads, rotary, false);
    assert_non_null(there);
    check_made(w, there, &expected);
    back = lr_op_rope(&w->job, there, heads, rotary, true);
    assert_non_null(back);
    check_made(w, back, &n);
    lr_op_release(back);
    back = lr_op_rope(&w->job, op, heads, rotary, true);
    lr_op_release(there);
    there = lr_op_rope(&w->job, back, heads, rotary, false);
    check_made(w, there, &n);
    lr_op_release(there);
    lr_op_release(back);
    lr_op_release(op);
    free(n.data);
    free(expected.data);
}

static void rows_are_permuted_for_rotary_pairs_and_back(void **state)
{
    static const uint64_t cases[][4] = {{2, 4, 0, 3}, {1, 8, 0, 0},   {4, 6, 0, 5}, {3, 6, 4, 2},
                                        {2, 8, 2, 7}, {6, 16, 10, 0}, {1, 2, 0, 1}, {2, 5, 4, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_rope(*state, cases[i][0], cases[i][1], cases[i][2], cases[i][3]);
    }
}

/* ----------------------------------------------------------------------------------------- tensors and sources -- */

static void packed_integers_come_in_their_stored_type(void **state)
{
    world *w = *state;
    rec_record *record = lr_record_new(&w->context);
    rec_tensor *tensor =
        tensor_new(record, REC_DTYPE_I64, 1, SHAPE(3), lr_data_copy(record, ((int8_t[]){1, -2, 3}), 3));
    int64_t made[3];
    lr_op *op;
    tensor->packed = REC_DTYPE_I8;
    tensor->dtype = REC_DTYPE_I32; /* loaded at full precision: that is the reader's affair */
    op = lr_op_tensor(&w->job, tensor);
    rec_record_free(record);
    assert_int_equal(lr_op_dtype(op), REC_DTYPE_I64);
    assert_int_equal(lr_op_read(&w->job, op, 0, made, lr_op_nbytes(op)), REC_OK);
    little(made, sizeof *made, 3);
    assert_true(made[0] == 1 && made[1] == -2 && made[2] == 3);
    lr_op_release(op);
}

static void a_dtype_of_its_own_words_is_carried(void **state)
{
    world *w = *state;
    rec_record *record = lr_record_new(&w->context);
    rec_tensor *tensor = tensor_new(record, REC_DTYPE_OPAQUE, 2, SHAPE(2, 3), lr_data_copy(record, "12345", 5));
    rec_value words;
    lr_op *op, *flat;
    char made[5];
    assert_true(lr_string(&record->arena, "F8_E4M3", 7, &words));
    assert_non_null(lr_encoding_make(tensor));
    tensor->encoding->words = &words;
    op = lr_op_tensor(&w->job, tensor);
    rec_record_free(record);
    flat = lr_op_reshape(&w->job, op, SHAPE(6), 1);
    assert_non_null(flat);
    lr_op_release(op);
    assert_int_equal(lr_op_nbytes(flat), 5);
    assert_string_equal(lr_op_dtype_value(flat)->v.text, "F8_E4M3");
    assert_int_equal(lr_op_read(&w->job, flat, 0, made, lr_op_nbytes(flat)), REC_OK);
    assert_memory_equal(made, "12345", 5);
    lr_op_release(flat);
}

static void a_tensor_lends_its_own_bytes(void **state)
{
    world *w = *state;
    naive n;
    rec_record *record = lr_record_new(&w->context);
    uint64_t seed = 1;
    lr_op *op, *flat;
    lr_data *data;
    n = naive_random(&seed, REC_DTYPE_F32, 2, SHAPE(3, 4));
    op = source_op(w, &n, IN_VIEW);
    flat = lr_op_reshape(&w->job, op, SHAPE(12), 1);
    data = lr_op_data(&w->job, record, flat);
    assert_ptr_equal(data->data, n.data);
    lr_op_release(flat);
    lr_op_release(op);
    op = source_op(w, &n, IN_FILE);
    data = lr_op_data(&w->job, record, op);
    assert_null(data->data);
    assert_int_equal(data->offset, 3);
    lr_op_release(op);
    rec_record_free(record);
    free(n.data);
}

static void an_operation_is_deferred_data_like_any_other(void **state)
{
    world *w = *state;
    naive n, turned;
    rec_record *record = lr_record_new(&w->context);
    rec_tensor *tensor;
    lr_op *in = NUMBERS(w, &n, REC_DTYPE_F32, 50, 70), *op = lr_op_transpose(&w->job, in);
    lr_data *data = lr_op_data(&w->job, record, op);
    float part[10];
    uint64_t size, got;
    const void *view;
    uint8_t *bytes;
    rec_blob blob;
    turned = naive_transpose(&n);
    tensor = tensor_new(record, REC_DTYPE_F32, 2, SHAPE(70, 50), data);
    lr_op_release(op);
    lr_op_release(in);
    assert_null(data->data);
    assert_int_equal(rec_tensor_offset(tensor), REC_UNKNOWN); /* it is in no file */
    assert_int_equal(rec_source_size(data->source), 70 * 50 * 4);
    assert_int_equal(rec_tensor_read(tensor, REC_DTYPE_F32, 123, 10, part), REC_OK);
    little(part, sizeof *part, 10);
    assert_memory_equal(part, turned.data + 123 * 4, sizeof part);
    assert_int_equal(rec_source_read(&w->job, data->source, part, sizeof part, &got), REC_OK);
    assert_int_equal(got, sizeof part);
    assert_memory_equal(part, turned.data, sizeof part);
    assert_int_equal(rec_source_read_at(&w->job, data->source, 70 * 50 * 4 - 3, part, 4), REC_E_FORMAT);
    assert_failed(w, REC_E_FORMAT, "bytes are needed");
    blob = (rec_blob){.size = sizeof blob, .kind = REC_BLOB_RANGE, .length = data->size, .source = data->source};
    assert_int_equal(rec_blob_read(&w->job, &blob, 400, part, sizeof part), REC_OK);
    assert_memory_equal(part, turned.data + 400, sizeof part);
    {
        rec_sink *sink = lr_sink_memory(&w->job);
        void *written;
        uint64_t length;
        assert_int_equal(rec_sink_write(sink, "head", 4), REC_OK);
        assert_int_equal(rec_sink_put(sink, &blob), REC_OK);
        assert_int_equal(lr_sink_take(sink, &written, &length), REC_OK);
        assert_int_equal(lr_sink_commit(sink), REC_OK);
        assert_int_equal(length, 4 + 70 * 50 * 4);
        assert_memory_equal((char *)written + 4, turned.data, 70 * 50 * 4);
        free(written);
    }
    bytes = (uint8_t *)(uintptr_t)rec_tensor_bytes(tensor, &size);
    assert_memory_equal(bytes, turned.data, (size_t)size);
    assert_int_equal(rec_source_view(&w->job, data->source, &view, &size), REC_OK);
    assert_int_equal(size, 70 * 50 * 4);
    assert_memory_equal(view, turned.data, (size_t)size);
    assert_int_equal(rec_source_read_at(&w->job, data->source, 8, part, 8), REC_OK);
    assert_memory_equal(part, turned.data + 8, 8);
    lr_tensor_free_views(tensor);
    rec_record_free(record);
    free(n.data);
    free(turned.data);
}

static void a_part_outside_is_refused(void **state)
{
    world *w = *state;
    naive n;
    lr_op *op = NUMBERS(w, &n, REC_DTYPE_F32, 2, 2);
    char room[32];
    assert_int_equal(lr_op_read(&w->job, op, 10, room, 7), REC_E_ARGUMENT);
    assert_failed(w, REC_E_ARGUMENT, "7 bytes were requested from byte 10 on, of a tensor of 16 bytes");
    assert_int_equal(lr_op_read(&w->job, op, UINT64_MAX, room, 2), REC_E_ARGUMENT);
    assert_failed(w, REC_E_ARGUMENT, "2 bytes were requested");
    lr_op_release(op);
    free(n.data);
}

static void a_file_that_lost_its_end_is_told(void **state)
{
    world *w = *state;
    uint64_t seed = 8;
    naive n = naive_random(&seed, REC_DTYPE_F32, 2, SHAPE(60, 50));
    lr_op *in, *op;
    uint8_t made[60 * 50 * 4];
    write_file("short", n.data, 60 * 50 * 4);
    {
        rec_record *record = lr_record_new(&w->context);
        rec_source *source = lr_source_open(&w->job, "short", false);
        in = lr_op_tensor(&w->job, tensor_new(record, REC_DTYPE_F32, 2, SHAPE(60, 50),
                                              lr_data_lent(record, source, NULL, 60 * 50 * 4, 0)));
        rec_source_release(source);
        rec_record_free(record);
    }
    op = lr_op_transpose(&w->job, in);
    assert_int_equal(truncate("short", 100), 0);
    assert_int_equal(lr_op_read(&w->job, op, 0, made, lr_op_nbytes(op)), REC_E_IO);
    assert_failed(w, REC_E_IO, "short");
    lr_op_release(op);
    lr_op_release(in);
    free(n.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_does_not_fit_is_refused),
        TEST(shapes_that_no_memory_holds_are_refused),
        TEST(what_comes_to_the_same_is_the_same),
        TEST(rows_are_permuted_for_rotary_pairs_and_back),
        TEST(packed_integers_come_in_their_stored_type),
        TEST(a_dtype_of_its_own_words_is_carried),
        TEST(a_tensor_lends_its_own_bytes),
        TEST(an_operation_is_deferred_data_like_any_other),
        TEST(a_part_outside_is_refused),
        TEST(a_file_that_lost_its_end_is_told),
    };
    return cmocka_run_group_tests_name("operations", tests, NULL, NULL);
}
