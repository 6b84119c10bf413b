/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Operations that compute: sums, weight_norm, casts. */
#include "tests/test_op.h"

#include <float.h>
#include <math.h>

/* ----------------------------------------------------------------------------------------------------- numbers -- */

static lr_op *floats(world *w, rec_dtype dtype, uint32_t rank, const uint64_t *shape, const void *values)
{
    naive n = naive_new(dtype, rank, shape);
    lr_op *op;
    memcpy(n.data, values, (size_t)(n.count * width_of(dtype)));
    little(n.data, width_of(dtype), (size_t)n.count);
    op = source_op(w, &n, IN_ARENA);
    free(n.data);
    return op;
}

/* What an operation makes, as numbers of this processor. */
static int32_t make(world *w, lr_op *op, void *target)
{
    int32_t status = lr_op_read(&w->job, op, 0, target, lr_op_nbytes(op));
    if (status == REC_OK) {
        little(target, width_of(lr_op_dtype(op)), (size_t)(lr_op_nbytes(op) / width_of(lr_op_dtype(op))));
    }
    return status;
}

static void a_number_is_added_in_the_type_that_counts(void **state)
{
    world *w = *state;
    float f32[3] = {1.0f, -0.5f, 16777216.0f}, got32[3];
    double f64[2] = {0.1, 1e300}, got64[2];
    uint16_t f16[3] = {0x3c00, 0x3555, 0x7bff}, got16[3]; /* 1, 0.33325, 65504 */
    uint16_t bf16[2] = {0x3f80, 0x3eab}, gotb[2];         /* 1, 0.333984375 */
    lr_op *in = floats(w, REC_DTYPE_F32, 1, SHAPE(3), f32), *op = lr_op_add(&w->job, in, 1.0);
    assert_int_equal(make(w, op, got32), REC_OK);
    assert_true(got32[0] == 2.0f && got32[1] == 0.5f && got32[2] == 16777216.0f);
    lr_op_release(in);
    release(&op, NULL);
    in = floats(w, REC_DTYPE_F64, 1, SHAPE(2), f64);
    op = lr_op_add(&w->job, in, 0.2);
    assert_int_equal(make(w, op, got64), REC_OK);
    assert_true(got64[0] == 0.1 + 0.2 && got64[1] == 1e300);
    lr_op_release(in);
    release(&op, NULL);
    in = floats(w, REC_DTYPE_F16, 1, SHAPE(3), f16);
    op = lr_op_add(&w->job, in, 1.0);
    assert_int_equal(make(w, op, got16), REC_OK);
    assert_int_equal(got16[0], 0x4000);
    assert_int_equal(got16[1], 0x3d55);
    assert_int_equal(got16[2], 0x7bff);
    lr_op_release(in);
    release(&op, NULL);
    in = floats(w, REC_DTYPE_BF16, 1, SHAPE(2), bf16);
    op = lr_op_add(&w->job, in, 1.0);
    assert_int_equal(make(w, op, gotb), REC_OK);
    assert_int_equal(gotb[0], 0x4000);
    assert_int_equal(gotb[1], 0x3fab); /* 1.333984375 is 0x3faac000: to nearest */
    lr_op_release(in);
    lr_op_release(op);
}

/* By the definition, in f64; the result must be the nearest f32 or the one beside it. */
static void check_weight_norm(world *w, uint32_t g_rank, const uint64_t *g_shape, uint32_t rank, const uint64_t *shape,
                              uint32_t dim)
{
    uint64_t seed = dim + 7 * rank, length = dim < rank ? shape[dim] : 1;
    naive v = naive_random(&seed, REC_DTYPE_F32, rank, shape);
    naive g = naive_random(&seed, REC_DTYPE_F32, g_rank, g_shape);
    lr_op *g_op = source_op(w, &g, IN_VIEW), *v_op = source_op(w, &v, IN_FILE);
    lr_op *op = lr_op_weight_norm(&w->job, g_op, v_op);
    float *values = calloc((size_t)v.count, sizeof *values), *made = calloc((size_t)v.count, sizeof *made);
    double *norms = calloc((size_t)length, sizeof *norms);
    uint64_t index[8];
    assert_non_null(op);
    memcpy(values, v.data, (size_t)(v.count * sizeof *values));
    little(values, sizeof *values, (size_t)v.count);
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) {
            assert_int_equal(make(w, op, made), REC_OK);
        }
        for (uint64_t at = 0; at < v.count; at++) {
            uint64_t k;
            float magnitude;
            double wanted;
            unravel(at, rank, shape, index);
            k = dim < rank ? index[dim] : 0;
            if (pass == 0) {
                norms[k] += (double)values[at] * (double)values[at];
                continue;
            }
            memcpy(&magnitude, g.data + k * 4, 4);
            little(&magnitude, 4, 1);
            wanted = (double)values[at] * ((double)magnitude / sqrt(norms[k]));
            assert_true(fabs((double)made[at] - wanted) <= fabs(wanted) * 3 * FLT_EPSILON / 2);
        }
    }
    free(v.data);
    v.data = little(made, sizeof *made, (size_t)v.count);
    check_pieces(w, op, &v, &seed);
    lr_op_release(op);
    lr_op_release(g_op);
    lr_op_release(v_op);
    free(values);
    free(made);
    free(norms);
    free(g.data);
}

static void a_weight_is_its_magnitude_times_its_direction(void **state)
{
    world *w = *state;
    check_weight_norm(w, 3, SHAPE(1, 1, 9), 3, SHAPE(6, 5, 9), 2);
    check_weight_norm(w, 3, SHAPE(6, 1, 1), 3, SHAPE(6, 5, 9), 0);
    check_weight_norm(w, 3, SHAPE(1, 5, 1), 3, SHAPE(6, 5, 9), 1);
    check_weight_norm(w, 2, SHAPE(1, 1), 2, SHAPE(40, 3000), 2);
    check_weight_norm(w, 0, SHAPE(0), 2, SHAPE(4, 3), 2);
    check_weight_norm(w, 1, SHAPE(1), 3, SHAPE(4, 3, 2), 3);
    check_weight_norm(w, 2, SHAPE(1, 3000), 2, SHAPE(40, 3000), 1);
    check_weight_norm(w, 1, SHAPE(5), 1, SHAPE(5), 0);
}

static void weight_norm_is_exact_where_it_can_be(void **state)
{
    world *w = *state;
    double v64[4] = {3, 4, 5, 12}, g64[2] = {2, 13}, made64[4];
    uint16_t v16[2] = {0x4200, 0x4400}, g16[1] = {0x4900}, made16[2]; /* 3, 4; 10 */
    lr_op *v = floats(w, REC_DTYPE_F64, 2, SHAPE(2, 2), v64), *g = floats(w, REC_DTYPE_F64, 2, SHAPE(2, 1), g64);
    lr_op *op = lr_op_weight_norm(&w->job, g, v);
    assert_int_equal(make(w, op, made64), REC_OK);
    assert_true(made64[0] == 3 * (2.0 / 5) && made64[1] == 4 * (2.0 / 5) && made64[2] == 5 && made64[3] == 12);
    release(&op, NULL);
    release(&v, floats(w, REC_DTYPE_F16, 2, SHAPE(1, 2), v16));
    release(&g, floats(w, REC_DTYPE_F16, 2, SHAPE(1, 1), g16));
    op = lr_op_weight_norm(&w->job, g, v);
    assert_int_equal(make(w, op, made16), REC_OK);
    assert_int_equal(made16[0], 0x4600); /* 6 */
    assert_int_equal(made16[1], 0x4800); /* 8 */
    lr_op_release(op);
    lr_op_release(v);
    lr_op_release(g);
}

/* The norm of one number is its magnitude, if the square root is right. */
static void a_norm_of_one_number_is_that_number(void **state)
{
    world *w = *state;
    uint64_t seed = 5;
    for (int i = 0; i < 2000; i++) {
        double v = ldexp((double)(next_random(&seed) >> 8 & 0xfffffff) + 1, (int)(next_random(&seed) % 400) - 230);
        double g = 1, made;
        lr_op *v_op = floats(w, REC_DTYPE_F64, 1, SHAPE(1), &v), *g_op = floats(w, REC_DTYPE_F64, 1, SHAPE(1), &g);
        lr_op *op = lr_op_weight_norm(&w->job, g_op, v_op);
        assert_int_equal(make(w, op, &made), REC_OK);
        assert_true(made == v * (1 / sqrt(v * v)));
        lr_op_release(op);
        lr_op_release(v_op);
        lr_op_release(g_op);
    }
}

/* ------------------------------------------------------------------------------------------------------- casts -- */

static int32_t cast(world *w, rec_dtype from, const void *values, uint64_t count, rec_dtype to, void *made)
{
    lr_op *in = floats(w, from, 1, &count, values), *op = lr_op_cast(&w->job, in, to);
    int32_t status;
    assert_non_null(op);
    assert_int_equal(lr_op_dtype(op), to);
    status = make(w, op, made);
    lr_op_release(in);
    lr_op_release(op);
    return status;
}

static void floats_become_integers_toward_zero(void **state)
{
    world *w = *state;
    float f32[6] = {1.9f, -1.9f, -0.9f, 127.9f, -128.9f, 0}, bad[3] = {0, 0, 128.0f};
    double f64[2] = {9223372036854774784.0, -9223372036854775808.0}, u64[2] = {18446744073709549568.0, -0.5};
    int8_t i8[6];
    int64_t i64[2];
    uint64_t u[2];
    assert_int_equal(cast(w, REC_DTYPE_F32, f32, 6, REC_DTYPE_I8, i8), REC_OK);
    assert_memory_equal(i8, ((int8_t[]){1, -1, 0, 127, -128, 0}), 6);
    assert_int_equal(cast(w, REC_DTYPE_F64, f64, 2, REC_DTYPE_I64, i64), REC_OK);
    assert_true(i64[0] == 9223372036854774784 && i64[1] == INT64_MIN);
    assert_int_equal(cast(w, REC_DTYPE_F64, u64, 2, REC_DTYPE_U64, u), REC_OK);
    assert_true(u[0] == UINT64_C(18446744073709549568) && u[1] == 0);
    assert_int_equal(cast(w, REC_DTYPE_F32, bad, 3, REC_DTYPE_I8, i8), REC_E_RANGE);
    assert_failed(w, REC_E_RANGE, "element 2 is 128, which does not fit i8 (-128 to 127)");
    bad[1] = NAN;
    assert_int_equal(cast(w, REC_DTYPE_F32, bad, 3, REC_DTYPE_U16, i8), REC_E_RANGE);
    assert_failed(w, REC_E_RANGE, "element 1 is not a number (NaN), which u16 cannot hold");
    bad[1] = -1;
    assert_int_equal(cast(w, REC_DTYPE_F32, bad, 3, REC_DTYPE_U16, i8), REC_E_RANGE);
    assert_failed(w, REC_E_RANGE, "element 1 is -1, which does not fit u16 (0 to 65535)");
    f64[0] = 9223372036854775808.0;
    assert_int_equal(cast(w, REC_DTYPE_F64, f64, 2, REC_DTYPE_I64, i64), REC_E_RANGE);
    assert_failed(w, REC_E_RANGE, "element 0 is 9.22337204e+18, which does not fit i64");
    f64[0] = INFINITY;
    assert_int_equal(cast(w, REC_DTYPE_F64, f64, 2, REC_DTYPE_U64, i64), REC_E_RANGE);
    assert_failed(w, REC_E_RANGE, "element 0 is inf");
}

static void numbers_become_bools_by_not_being_zero(void **state)
{
    world *w = *state;
    float f32[5] = {0, -0.0f, NAN, 1e-45f, -2};
    int16_t i16[3] = {0, -1, 256};
    uint8_t bools[5];
    uint32_t wide[3];
    assert_int_equal(cast(w, REC_DTYPE_F32, f32, 5, REC_DTYPE_BOOL, bools), REC_OK);
    assert_memory_equal(bools, ((uint8_t[]){0, 0, 1, 1, 1}), 5);
    assert_int_equal(cast(w, REC_DTYPE_I16, i16, 3, REC_DTYPE_BOOL32, wide), REC_OK);
    assert_memory_equal(wide, ((uint32_t[]){0, 1, 1}), sizeof wide);
    assert_int_equal(cast(w, REC_DTYPE_I16, i16, 3, REC_DTYPE_BOOL8, bools), REC_OK);
    assert_memory_equal(bools, ((uint8_t[]){0, 1, 1}), 3);
}

static void bools_count_as_nought_and_one(void **state)
{
    world *w = *state;
    uint8_t bools[3] = {0, 1, 2};
    uint32_t wide[2] = {0, 0x100};
    float f32[3];
    int64_t i64[2];
    assert_int_equal(cast(w, REC_DTYPE_BOOL, bools, 3, REC_DTYPE_F32, f32), REC_OK);
    assert_true(f32[0] == 0 && f32[1] == 1 && f32[2] == 1);
    assert_int_equal(cast(w, REC_DTYPE_BOOL32, wide, 2, REC_DTYPE_I64, i64), REC_OK);
    assert_true(i64[0] == 0 && i64[1] == 1);
    assert_int_equal(cast(w, REC_DTYPE_BOOL32, wide, 2, REC_DTYPE_BOOL, bools), REC_OK);
    assert_true(bools[0] == 0 && bools[1] == 1);
}

static void integers_become_the_nearest_floats(void **state)
{
    world *w = *state;
    int64_t i64[6] = {16777217, 16777219, -16777217, INT64_MAX, (INT64_C(1) << 62) + (INT64_C(1) << 38) + 1, 3};
    uint64_t u64[2] = {UINT64_MAX, (UINT64_C(1) << 63) + (UINT64_C(1) << 55) + 1};
    int32_t i32[3] = {65519, 65520, -70000};
    float f32[6];
    double f64[2];
    uint16_t bits[3];
    assert_int_equal(cast(w, REC_DTYPE_I64, i64, 6, REC_DTYPE_F32, f32), REC_OK);
    for (int i = 0; i < 6; i++) {
        assert_true(f32[i] == (float)i64[i]); /* the processor's own, which rounds once */
    }
    assert_int_equal(cast(w, REC_DTYPE_U64, u64, 2, REC_DTYPE_F64, f64), REC_OK);
    assert_true(f64[0] == 0x1p64 && f64[1] == 0x1p63 + 0x1p55);
    assert_int_equal(cast(w, REC_DTYPE_U64, u64 + 1, 1, REC_DTYPE_BF16, bits), REC_OK);
    assert_int_equal(bits[0], 0x5f01); /* just above half-way between 0x5f00 and 0x5f01: f64 alone would lose that */
    assert_int_equal(cast(w, REC_DTYPE_I32, i32, 3, REC_DTYPE_F16, bits), REC_OK);
    assert_memory_equal(bits, ((uint16_t[]){0x7bff, 0x7c00, 0xfc00}), 6);
    assert_int_equal(end_job(w), REC_OK);
    assert_int_equal(rec_report_count(), 1); /* of the two that became infinite */
}

static void the_same_kind_is_converted_as_everywhere(void **state)
{
    world *w = *state;
    double f64[2] = {0.1, 1e39};
    float f32[2];
    int32_t i32[2] = {5, -129};
    int8_t i8[2];
    assert_int_equal(cast(w, REC_DTYPE_F64, f64, 2, REC_DTYPE_F32, f32), REC_OK);
    assert_true(f32[0] == 0.1f && isinf(f32[1]));
    assert_int_equal(end_job(w), REC_OK);
    assert_int_equal(rec_report_count(), 1);
    assert_int_equal(cast(w, REC_DTYPE_I32, i32, 2, REC_DTYPE_I8, i8), REC_E_RANGE);
    assert_failed(w, REC_E_RANGE, "element 1 is -129, which does not fit i8 (-128 to 127)");
}

static void casts_are_read_in_pieces(void **state)
{
    world *w = *state;
    uint64_t seed = 3;
    for (int place = 0; place < PLACES; place++) {
        naive n = naive_random(&seed, REC_DTYPE_I16, 1, SHAPE(300000)),
              expected = naive_new(REC_DTYPE_F32, 1, SHAPE(300000));
        lr_op *in = source_op(w, &n, place), *op = lr_op_cast(&w->job, in, REC_DTYPE_F32);
        for (uint64_t i = 0; i < n.count; i++) {
            int16_t x;
            float y;
            memcpy(&x, n.data + 2 * i, 2);
            little(&x, 2, 1);
            y = (float)x;
            memcpy(expected.data + 4 * i, little(&y, 4, 1), 4);
        }
        check_made(w, op, &expected);
        check_pieces(w, op, &expected, &seed);
        lr_op_release(in);
        lr_op_release(op);
        free(n.data);
        free(expected.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_number_is_added_in_the_type_that_counts),
        TEST(a_weight_is_its_magnitude_times_its_direction),
        TEST(weight_norm_is_exact_where_it_can_be),
        TEST(a_norm_of_one_number_is_that_number),
        TEST(floats_become_integers_toward_zero),
        TEST(numbers_become_bools_by_not_being_zero),
        TEST(bools_count_as_nought_and_one),
        TEST(integers_become_the_nearest_floats),
        TEST(the_same_kind_is_converted_as_everywhere),
        TEST(casts_are_read_in_pieces),
    };
    return cmocka_run_group_tests_name("operations that compute", tests, NULL, NULL);
}
