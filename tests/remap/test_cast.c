/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Every element type to every other, at the edges of both: exact, or rounded once to nearest even, or refused. What is
 * expected is worked out in whole numbers, digit by digit; no floating-point arithmetic takes part. */
#include "tests/test_op.h"

/* ----------------------------------------------------------------------------------------------------- numbers -- */

enum { FLOATS, INTS, BOOLS };

typedef struct element_type {
    rec_dtype dtype;
    int kind, bits;
    int fraction, least; /* floats: bits of the fraction, exponent of the least normal number */
    bool is_signed;
} element_type;

static const element_type types[] = {
    {REC_DTYPE_F64, FLOATS, 64, 52, -1022, true},
    {REC_DTYPE_F32, FLOATS, 32, 23, -126, true},
    {REC_DTYPE_FLEX32, FLOATS, 32, 23, -126, true},
    {REC_DTYPE_F16, FLOATS, 16, 10, -14, true},
    {REC_DTYPE_BF16, FLOATS, 16, 7, -126, true},
    {REC_DTYPE_I64, INTS, 64, 0, 0, true},
    {REC_DTYPE_I32, INTS, 32, 0, 0, true},
    {REC_DTYPE_I16, INTS, 16, 0, 0, true},
    {REC_DTYPE_I8, INTS, 8, 0, 0, true},
    {REC_DTYPE_U64, INTS, 64, 0, 0, false},
    {REC_DTYPE_U32, INTS, 32, 0, 0, false},
    {REC_DTYPE_U16, INTS, 16, 0, 0, false},
    {REC_DTYPE_U8, INTS, 8, 0, 0, false},
    {REC_DTYPE_BOOL, BOOLS, 8, 0, 0, false},
    {REC_DTYPE_BOOL8, BOOLS, 8, 0, 0, false},
    {REC_DTYPE_BOOL32, BOOLS, 32, 0, 0, false},
};
enum { TYPES = sizeof types / sizeof *types };

/* A number: digits * 2^exponent. */
typedef struct number {
    enum { FINITE, INFINITE, NAN_NUMBER } sort;
    bool negative;
    uint64_t digits; /* of a NaN: the payload from an f64's highest bit of the fraction down */
    int exponent;
} number;

static uint64_t bits_below(int count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

static uint64_t infinity_of(const element_type *t)
{
    return bits_below(t->bits - 1) & ~bits_below(t->fraction);
}

static number decode(const element_type *t, uint64_t code)
{
    number n = {.negative = t->is_signed && code >> (t->bits - 1)};
    if (t->kind == BOOLS) {
        n.digits = code != 0;
    } else if (t->kind == INTS) {
        n.digits = (n.negative ? 0 - code : code) & bits_below(t->bits);
    } else {
        uint64_t magnitude = code & bits_below(t->bits - 1), field = magnitude >> t->fraction;
        n.digits = magnitude & bits_below(t->fraction);
        n.exponent = t->least - t->fraction;
        if (magnitude >= infinity_of(t)) {
            n.sort = n.digits ? NAN_NUMBER : INFINITE;
            n.digits <<= 52 - t->fraction;
        } else if (field) {
            n.digits |= UINT64_C(1) << t->fraction;
            n.exponent += (int)field - 1;
        }
    }
    return n;
}

static int length_of(uint64_t digits)
{
    int length = 0;
    while (digits >> length && ++length < 64) {
    }
    return length;
}

static uint64_t encode_float(const element_type *t, number n)
{
    uint64_t sign = (uint64_t)n.negative << (t->bits - 1), code, whole, rest, half;
    int top, drop;
    if (n.sort == NAN_NUMBER) { /* quiet, with the upper bits of the payload */
        return sign | infinity_of(t) | (n.digits | UINT64_C(1) << 51) >> (52 - t->fraction);
    }
    if (n.sort == INFINITE || n.digits == 0) {
        return sign | (n.sort == INFINITE ? infinity_of(t) : 0);
    }
    top = n.exponent + length_of(n.digits) - 1;
    top = top < t->least ? t->least : top;
    if (top > 2000) {
        return sign | infinity_of(t);
    }
    drop = top - t->fraction - n.exponent; /* how many digits there is no room for */
    if (drop <= 0) {
        whole = n.digits << -drop;
    } else {
        whole = drop > 63 ? 0 : n.digits >> drop;
        rest = drop > 63 ? n.digits : n.digits & bits_below(drop);
        half = drop > 64 ? 0 : UINT64_C(1) << (drop - 1);
        whole += half && (rest > half || (rest == half && whole & 1));
    }
    code = ((uint64_t)(top - t->least) << t->fraction) + whole;
    return sign | (code < infinity_of(t) ? code : infinity_of(t));
}

/* Toward zero. @return false: it does not fit. */
static bool encode_int(const element_type *t, number n, uint64_t *code)
{
    uint64_t whole = n.exponent <= -64 ? 0 : n.exponent < 0 ? n.digits >> -n.exponent : n.digits;
    uint64_t most = bits_below(t->bits - t->is_signed);
    if (n.sort != FINITE || (n.exponent > 0 && n.digits && length_of(n.digits) + n.exponent > 64)) {
        return false;
    }
    whole = n.exponent > 0 && whole ? whole << n.exponent : whole;
    if (n.negative ? whole > (t->is_signed ? most + 1 : 0) : whole > most) {
        return false;
    }
    *code = (n.negative ? 0 - whole : whole) & bits_below(t->bits);
    return true;
}

static bool expected(const element_type *from, uint64_t x, const element_type *to, uint64_t *code, uint64_t *overflows)
{
    number n = decode(from, x);
    *overflows = 0;
    if (from->kind == to->kind && (from->dtype == to->dtype || (from->kind == FLOATS && from->bits == to->bits &&
                                                                from->fraction == to->fraction))) {
        *code = x;
        return true;
    }
    if (to->kind == BOOLS) {
        *code = n.sort != FINITE || n.digits != 0;
        return true;
    }
    if (to->kind == INTS) {
        return encode_int(to, n, code);
    }
    *code = encode_float(to, n);
    *overflows = n.sort == FINITE && (*code & bits_below(to->bits - 1)) == infinity_of(to);
    return true;
}

/* ------------------------------------------------------------------------------------------------------- edges -- */

enum { EDGES = 24, MOST = TYPES * EDGES * 12 + 64 };

/* Where something happens to a number on its way to a type. @return how many. */
static size_t edges_of(const element_type *t, number *edges)
{
    size_t count = 0;
    if (t->kind != FLOATS) {
        int bits = t->bits - t->is_signed;
        edges[count++] = (number){.digits = bits_below(bits)};                                 /* the largest */
        edges[count++] = (number){.digits = 1, .exponent = bits};                              /* one more */
        edges[count++] = (number){.digits = (bits_below(bits) >> 1 << 1) | 1, .exponent = -1}; /* halves */
        edges[count++] = (number){.digits = 1, .exponent = -1};
        return count;
    }
    const int p = t->fraction + 1, tiny = t->least - t->fraction;
    const int greatest = (int)(infinity_of(t) >> t->fraction) - 2 + t->least - t->fraction; /* of the last digit */
    edges[count++] = (number){.digits = bits_below(p), .exponent = greatest};               /* the largest */
    edges[count++] = (number){.digits = bits_below(p + 1), .exponent = greatest - 1};       /* half-way to infinity */
    edges[count++] = (number){.digits = 1, .exponent = greatest + p};                       /* beyond */
    edges[count++] = (number){.digits = 1, .exponent = t->least};                           /* the least normal one */
    edges[count++] = (number){.digits = bits_below(p), .exponent = tiny - 1}; /* between it and the next */
    edges[count++] = (number){.digits = 1, .exponent = tiny};                 /* the least of all */
    edges[count++] = (number){.digits = 1, .exponent = tiny - 1};             /* half of it: a tie to 0 */
    edges[count++] = (number){.digits = 3, .exponent = tiny - 1};             /* a tie upwards */
    edges[count++] = (number){.digits = 5, .exponent = tiny - 1};             /* a tie downwards */
    edges[count++] = (number){.digits = 1};
    edges[count++] = (number){.digits = (UINT64_C(1) << p) + 1, .exponent = -p}; /* 1 and half a step: down */
    edges[count++] = (number){.digits = (UINT64_C(1) << p) + 3, .exponent = -p}; /* a tie upwards */
    edges[count++] = (number){.digits = (UINT64_C(1) << p) + 1};                 /* 2^24 + 1, 2^53 + 1 */
    edges[count++] = (number){.digits = (UINT64_C(1) << p) + 3};
    edges[count++] = (number){.digits = (UINT64_C(1) << (62 - p)) * ((UINT64_C(1) << p) + 1) + 1}; /* a tie and a bit */
    edges[count++] = (number){.digits = (UINT64_C(1) << (62 - p)) * ((UINT64_C(1) << p) + 1) - 1};
    /* What is rounded to nearest on the way, at an f32's or an f16's digits, becomes a tie. */
    for (int way = 10; way < 53 && way + 1 < 62; way += way < 23 ? 13 : 29) {
        if (way > p) {
            edges[count++] = (number){.digits = ((UINT64_C(1) << p) + 1) << (60 - p) | UINT64_C(1) << (60 - way - 5),
                                      .exponent = -60};
            edges[count++] = (number){
                .digits = (((UINT64_C(1) << p) + 1) << (60 - p)) - (UINT64_C(1) << (60 - way - 5)), .exponent = -60};
        }
    }
    assert_true(count <= EDGES);
    return count;
}

/* The codes of a type next to everything's edges, with both signs. @return how many. */
static size_t codes_of(const element_type *t, uint64_t *codes)
{
    size_t count = 0;
    if (t->kind == BOOLS) {
        codes[count++] = 0;
        codes[count++] = 1;
        codes[count++] = 2;
        codes[count++] = bits_below(t->bits);
        return count;
    }
    for (int other = 0; other < TYPES; other++) {
        number edges[EDGES];
        size_t n = edges_of(&types[other], edges);
        for (size_t e = 0; e < n; e++) {
            for (int negative = 0; negative <= t->is_signed; negative++) {
                uint64_t code = 0;
                edges[e].negative = negative != 0;
                if (t->kind == FLOATS) {
                    code = encode_float(t, edges[e]);
                } else if (!encode_int(t, edges[e], &code)) {
                    continue;
                }
                for (int beside = -2; beside <= 2;
                     beside++) { /* past infinity: NaNs; past the largest integer: others */
                    codes[count++] = (code + (uint64_t)(int64_t)beside) & bits_below(t->bits);
                }
            }
        }
    }
    if (t->kind == FLOATS) {
        for (uint64_t sign = 0; sign < 2; sign++) {
            const uint64_t special[] = {0,
                                        1,
                                        infinity_of(t),
                                        infinity_of(t) + 1,
                                        infinity_of(t) | UINT64_C(1) << (t->fraction - 1),
                                        bits_below(t->bits - 1),
                                        infinity_of(t) | bits_below(t->fraction) >> 1};
            for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
                codes[count++] = special[i] | sign << (t->bits - 1);
            }
        }
    }
    assert_true(count <= MOST);
    return count;
}

/* ------------------------------------------------------------------------------------------------------- tests -- */

static void put(uint8_t *at, const element_type *t, uint64_t code)
{
    for (int i = 0; i < t->bits / 8; i++) {
        at[i] = (uint8_t)(code >> (8 * i));
    }
}

static uint64_t get(const uint8_t *at, const element_type *t)
{
    uint64_t code = 0;
    for (int i = 0; i < t->bits / 8; i++) {
        code |= (uint64_t)at[i] << (8 * i);
    }
    return code;
}

static void compare(const char *how, const element_type *from, const element_type *to, const uint8_t *got,
                    const uint64_t *codes, const uint64_t *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t code = get(got + i * ((size_t)to->bits / 8), to);
        if (code != wanted[i]) {
            fail_msg("%s, %s to %s: %llx became %llx, not %llx", how, rec_dtype_name(from->dtype),
                     rec_dtype_name(to->dtype), (unsigned long long)codes[i], (unsigned long long)code,
                     (unsigned long long)wanted[i]);
        }
    }
}

static naive elements(const element_type *t, const uint64_t *codes, size_t count)
{
    naive n = naive_new(t->dtype, 1, SHAPE(count));
    for (size_t i = 0; i < count; i++) {
        put(n.data + i * ((size_t)t->bits / 8), t, codes[i]);
    }
    return n;
}

/* The codes that fit at once, as tensors come, by the operation and by what it stands on. */
static void check_together(world *w, const element_type *from, const element_type *to, const uint64_t *codes,
                           const uint64_t *wanted, size_t count, uint64_t overflows)
{
    naive n = elements(from, codes, count);
    uint8_t *got = malloc(count * ((size_t)to->bits / 8) + 1);
    lr_op *source = source_op(w, &n, IN_ARENA), *op = lr_op_cast(&w->job, source, to->dtype);
    assert_non_null(op);
    assert_int_equal(lr_op_read(&w->job, op, 0, got, lr_op_nbytes(op)), REC_OK);
    compare("cast", from, to, got, codes, wanted, count);
    if (from->kind == to->kind) {
        lr_converted result = {0};
        assert_int_equal(lr_convert(from->dtype, n.data, to->dtype, got, count, false, &result), LR_CONVERT_OK);
        lr_swap_if_big(got, (uint32_t)to->bits / 8, count);
        compare("lr_convert", from, to, got, codes, wanted, count);
        assert_int_equal(result.overflowed, overflows);
    }
    lr_op_release(op);
    lr_op_release(source);
    free(got);
    free(n.data);
}

static void check_refused(world *w, const element_type *from, const element_type *to, uint64_t code)
{
    naive n = elements(from, &code, 1);
    uint8_t got[8];
    lr_op *source = source_op(w, &n, IN_ARENA), *op = lr_op_cast(&w->job, source, to->dtype);
    assert_non_null(op);
    if (lr_op_read(&w->job, op, 0, got, lr_op_nbytes(op)) != REC_E_RANGE) {
        fail_msg("%s to %s: %llx is not refused", rec_dtype_name(from->dtype), rec_dtype_name(to->dtype),
                 (unsigned long long)code);
    }
    assert_failed(w, REC_E_RANGE, "element 0 is ");
    lr_op_release(op);
    lr_op_release(source);
    free(n.data);
}

static void each_pair_is_exact_or_rounded_once_or_refused(void **state)
{
    world *w = *state;
    uint64_t *codes = malloc(MOST * sizeof *codes), *fitting = malloc(MOST * sizeof *fitting);
    uint64_t *wanted = malloc(MOST * sizeof *wanted);
    size_t total = 0, refused = 0;
    for (int f = 0; f < TYPES; f++) {
        size_t count = codes_of(&types[f], codes);
        for (int t = 0; t < TYPES; t++) {
            uint64_t overflows = 0, one;
            size_t fit = 0;
            for (size_t i = 0; i < count; i++) {
                if (expected(&types[f], codes[i], &types[t], &wanted[fit], &one)) {
                    fitting[fit++] = codes[i];
                    overflows += one;
                } else {
                    check_refused(w, &types[f], &types[t], codes[i]);
                    refused++;
                }
            }
            assert_true(fit > 0);
            check_together(w, &types[f], &types[t], fitting, wanted, fit, overflows);
            total += fit;
        }
    }
    print_message("%zu elements in %d pairs of types, %zu refused\n", total, TYPES * TYPES, refused);
    free(codes);
    free(fitting);
    free(wanted);
}

/* The oracle itself, at numbers that are known. */
static void the_oracle_is_right(void **state)
{
    static const struct {
        rec_dtype from;
        uint64_t code;
        rec_dtype to;
        uint64_t wanted;
    } known[] = {
        {REC_DTYPE_I64, 16777217, REC_DTYPE_F32, 0x4b800000},
        {REC_DTYPE_I64, 16777217, REC_DTYPE_F64, UINT64_C(0x4170000010000000)},
        {REC_DTYPE_U64, UINT64_C(9007199254740993), REC_DTYPE_F64, UINT64_C(0x4340000000000000)},
        {REC_DTYPE_U64, UINT64_C(0x8000008000000001), REC_DTYPE_F32, 0x5f000001}, /* by way of f64: 5f000000 */
        {REC_DTYPE_I64, UINT64_MAX, REC_DTYPE_BF16, 0xbf80},
        {REC_DTYPE_F64, UINT64_C(0x3ff0020000001000), REC_DTYPE_F16, 0x3c01}, /* by way of f32: 3c00 */
        {REC_DTYPE_F64, UINT64_C(0x3fb999999999999a), REC_DTYPE_F32, 0x3dcccccd},
        {REC_DTYPE_F32, 0x7f800001, REC_DTYPE_F16, 0x7e00},
        {REC_DTYPE_F32, 0x33000000, REC_DTYPE_F16, 0},
        {REC_DTYPE_F32, 0x33000001, REC_DTYPE_F16, 1},
        {REC_DTYPE_F64, UINT64_C(0xbfefffffffffffff), REC_DTYPE_I8, 0},
        {REC_DTYPE_F64, UINT64_C(0xc060000000000000), REC_DTYPE_I8, 0x80},
        {REC_DTYPE_F64, 1, REC_DTYPE_BOOL, 1},
        {REC_DTYPE_F64, UINT64_C(1) << 63, REC_DTYPE_BOOL, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint64_t code = 0, overflows;
        int from = 0, to = 0;
        while (types[from].dtype != known[i].from) {
            from++;
        }
        while (types[to].dtype != known[i].to) {
            to++;
        }
        assert_true(expected(&types[from], known[i].code, &types[to], &code, &overflows));
        assert_int_equal(code, known[i].wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oracle_is_right),
        TEST(each_pair_is_exact_or_rounded_once_or_refused),
    };
    return cmocka_run_group_tests_name("cast", tests, NULL, NULL);
}
