/* SPDX-License-Identifier: MIT OR Apache-2.0
 * FP8, MXFP4 and NVFP4 with random shapes, codes and scales: any range of numbers is that of a model which computes
 * them one by one, and files whose parts do not fit are rejected where numbers are needed. The seeds are fixed. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "librecord.h"

enum { CASES = 400, ROOM = 1 << 20 };

static rec_context *context;
static uint64_t seed;

/* Returns a number below `below` (splitmix64). */
static uint64_t chance(uint64_t below)
{
    uint64_t x = seed += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (x ^ (x >> 31)) % below;
}

/* ------------------------------------------------------------------------------------------------------ models -- */

enum { FP8, MXFP4, NVFP4, KINDS };

/** A weight. Scale (row / height, column / width) of element (row, column) is number row / height * across + …. */
typedef struct weight {
    int kind;
    bool e5m2;
    const char *scale_type; /* F32, BF16, F8_E8M0, F8_E4M3 */
    uint64_t rows, columns, height, width, down, across;
    uint64_t scale_rank, scale_shape[2];
    uint8_t data[ROOM];
    uint64_t code_bytes, scale_bytes; /* in `data`, one after the other; then a float of NVFP4 */
    char header[1024];
} weight;

static double small_float(uint8_t byte, int fraction, int bias)
{
    int exponent = (byte & 127) >> fraction, mantissa = byte & ((1 << fraction) - 1);
    double number =
        exponent ? ldexp(1 + ldexp(mantissa, -fraction), exponent - bias) : ldexp(mantissa, 1 - bias - fraction);
    if (fraction == 3 ? (byte & 127) == 127 : (byte & 127) > 0x7c) {
        return NAN;
    }
    number = fraction == 2 && (byte & 127) == 0x7c ? INFINITY : number;
    return byte & 128 ? -number : number;
}

static float read_f32(const uint8_t *at)
{
    float number;
    memcpy(&number, at, sizeof number);
    return number;
}

static float scale_at(const weight *w, uint64_t index)
{
    const uint8_t *scales = w->data + w->code_bytes;
    uint8_t wide[4] = {0};
    if (strcmp(w->scale_type, "F32") == 0) {
        return read_f32(scales + 4 * index);
    }
    if (strcmp(w->scale_type, "BF16") == 0) {
        memcpy(wide + 2, scales + 2 * index, 2);
        return read_f32(wide);
    }
    if (strcmp(w->scale_type, "F8_E8M0") == 0) {
        return scales[index] == 255 ? NAN : (float)ldexp(1, scales[index] - 127);
    }
    return (float)small_float(scales[index], 3, 7);
}

/* The number at a place. */
static float model(const weight *w, uint64_t element)
{
    static const float fp4[8] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    uint64_t row = element / w->columns, column = element % w->columns;
    float scale = scale_at(w, row / w->height * w->across + column / w->width), code;
    if (w->kind == FP8) {
        uint8_t byte = w->data[element];
        return (float)(w->e5m2 ? small_float(byte, 2, 15) : small_float(byte, 3, 7)) * scale;
    }
    code = (float)(w->data[element / 2] >> (element % 2 * 4) & 15);
    code = code < 8 ? fp4[(int)code] : -fp4[(int)code - 8];
    if (w->kind == NVFP4) {
        scale *= read_f32(w->data + w->code_bytes + w->scale_bytes);
    }
    return code * scale;
}

/* ------------------------------------------------------------------------------------------------------- files -- */

static uint64_t up(uint64_t number, uint64_t by)
{
    return (number + by - 1) / by;
}

/* Chooses where the scales of an FP8 weight lie. */
static void choose_grid(weight *w)
{
    switch (chance(4)) {
    case 0: /* one */
        w->height = w->rows;
        w->width = w->columns;
        w->scale_rank = chance(3);
        break;
    case 1: /* of rows */
        w->height = 1;
        w->width = w->columns;
        w->scale_rank = 1 + chance(2);
        break;
    default:
        w->height = w->width = 128;
        w->scale_rank = 2;
    }
    w->down = up(w->rows, w->height);
    w->across = up(w->columns, w->width);
    w->scale_shape[0] = w->down;
    w->scale_shape[1] = w->across;
    if (w->scale_rank == 1 && w->height == w->rows) {
        w->scale_shape[0] = 1;
    }
}

/* Chooses a scale whose products are finite now and then. */
static void put_scale(const weight *w, uint8_t *to)
{
    static const float numbers[] = {1, 0.0123F, 3e-5F, -2, 0, 1e30F, INFINITY, NAN};
    float number = numbers[chance(chance(4) ? 4 : 8)];
    if (strcmp(w->scale_type, "F32") == 0) {
        memcpy(to, &number, 4);
    } else if (strcmp(w->scale_type, "BF16") == 0) {
        memcpy(to, (const uint8_t *)&number + 2, 2);
    } else {
        *to = (uint8_t)(w->kind == NVFP4 ? chance(256) : chance(8) ? 100 + chance(50) : chance(256));
    }
}

static uint64_t scale_width(const weight *w)
{
    return strcmp(w->scale_type, "F32") == 0 ? 4 : strcmp(w->scale_type, "BF16") == 0 ? 2 : 1;
}

static void describe(weight *w, uint64_t scale_rows)
{
    static const char *const codes[] = {"F8_E4M3", "U8", "U8"};
    uint64_t end = w->code_bytes + w->scale_bytes;
    char shape[64] = "", whole[128] = "";
    if (w->scale_rank) {
        (void)snprintf(shape, sizeof shape, w->scale_rank == 1 ? "%" PRIu64 : "%" PRIu64 ",%" PRIu64, scale_rows,
                       w->scale_shape[1]);
    }
    if (w->kind == NVFP4) {
        (void)snprintf(whole, sizeof whole,
                       ",\"a.weight_scale_2\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[%" PRIu64 ",%" PRIu64
                       "]}",
                       end, end + 4);
    }
    (void)snprintf(w->header, sizeof w->header,
                   "{\"a.weight\":{\"dtype\":\"%s\",\"shape\":[%" PRIu64 ",%" PRIu64 "],\"data_offsets\":[0,%" PRIu64
                   "]},\"a.weight_scale\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%" PRIu64 ",%" PRIu64
                   "]}%s}",
                   w->e5m2 ? "F8_E5M2" : codes[w->kind], w->rows, w->kind == FP8 ? w->columns : w->columns / 2,
                   w->code_bytes, w->scale_type, shape, w->code_bytes, end, whole);
}

static void make(weight *w)
{
    static const char *const types[] = {"F32", "BF16", "F8_E8M0"};
    const float whole = 0.37F;
    *w = (weight){.kind = (int)chance(KINDS), .rows = 1 + chance(300), .columns = 1 + chance(300)};
    if (w->kind == FP8) {
        w->e5m2 = chance(2);
        w->scale_type = types[chance(3)];
        choose_grid(w);
    } else {
        w->width = w->kind == MXFP4 ? 32 : 16;
        w->columns = up(w->columns, w->width) * w->width;
        w->scale_type = w->kind == MXFP4 ? "F8_E8M0" : "F8_E4M3";
        w->height = 1;
        w->scale_rank = 2;
        w->down = w->scale_shape[0] = w->rows;
        w->across = w->scale_shape[1] = w->columns / w->width;
    }
    w->code_bytes = w->rows * w->columns / (w->kind == FP8 ? 1 : 2);
    w->scale_bytes = w->down * w->across * scale_width(w);
    for (uint64_t i = 0; i < w->code_bytes; i++) {
        w->data[i] = (uint8_t)chance(256);
    }
    for (uint64_t i = 0; i < w->down * w->across; i++) {
        put_scale(w, w->data + w->code_bytes + i * scale_width(w));
    }
    memcpy(w->data + w->code_bytes + w->scale_bytes, &whole, sizeof whole);
    describe(w, w->scale_shape[0]);
}

/* Loads the file of a weight. @param bytes (out) what the record borrows from. */
static rec_record *load(const weight *w, rec_precision precision, uint8_t **bytes)
{
    uint64_t length = strlen(w->header), data = w->code_bytes + w->scale_bytes + (w->kind == NVFP4 ? 4 : 0);
    rec_recorder *recorder = rec_open_recorder_in(context, "Safetensors", precision);
    rec_record *record;
    *bytes = calloc(1, 8 + length + data);
    assert_non_null(*bytes);
    assert_non_null(recorder);
    (*bytes)[0] = (uint8_t)length;
    (*bytes)[1] = (uint8_t)(length >> 8);
    memcpy(*bytes + 8, w->header, length);
    memcpy(*bytes + 8 + length, w->data, data);
    assert_int_equal(rec_recorder_set(recorder, "adapter", "none"), REC_OK);
    record = rec_load_bytes(recorder, *bytes, 8 + length + data);
    rec_close_recorder(recorder);
    return record;
}

/* ------------------------------------------------------------------------------------------------------- tests -- */

static bool same(float a, float b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static void compare(const weight *w, const rec_tensor *tensor, uint64_t first, uint64_t count)
{
    float *numbers = malloc((count + 1) * sizeof *numbers);
    assert_non_null(numbers);
    assert_int_equal(rec_tensor_read(tensor, REC_DTYPE_F32, first, count, numbers), REC_OK);
    for (uint64_t i = 0; i < count; i++) {
        float expected = model(w, first + i);
        if (!same(numbers[i], expected)) {
            fail_msg("%s: element %" PRIu64 " is %g, not %g", w->header, first + i, (double)numbers[i],
                     (double)expected);
        }
    }
    free(numbers);
}

static void test_numbers_are_those_of_the_model(void **state)
{
    static weight w;
    (void)state;
    seed = 30;
    for (int i = 0; i < CASES; i++) {
        uint8_t *bytes;
        rec_record *record;
        const rec_tensor *tensor;
        uint64_t count;
        make(&w);
        record = load(&w, REC_PRECISION_FULL, &bytes);
        if (!record) {
            fail_msg("%s: %s", w.header, rec_error_message());
        }
        assert_null(rec_tensor_at(record, "a.weight_scale"));
        tensor = rec_tensor_at(record, "a.weight");
        assert_non_null(tensor);
        count = w.rows * w.columns;
        assert_int_equal(rec_tensor_count(tensor), count);
        for (int window = 0; window < 4; window++) {
            uint64_t first = chance(count), most = count - first;
            compare(&w, tensor, first, 1 + chance(most < 3000 ? most : 3000));
        }
        compare(&w, tensor, 0, count);
        rec_record_free(record);
        free(bytes);
    }
}

/* A scale with one row more or less: the sizes of the file agree, the shapes do not. */
static void test_scales_of_another_shape_are_rejected(void **state)
{
    static weight w;
    (void)state;
    seed = 31;
    for (int i = 0; i < CASES; i++) {
        uint8_t *bytes;
        rec_record *record;
        uint64_t more;
        make(&w);
        more = w.scale_shape[0] + 1;
        if (w.scale_rank != 2 || w.down < 2 || more == w.rows || w.rows % more == 0 || 2 * w.rows > ROOM / 512) {
            continue;
        }
        w.scale_bytes = more * w.across * scale_width(&w);
        describe(&w, more);
        record = load(&w, REC_PRECISION_FULL, &bytes);
        if (record || rec_error_status() != REC_E_UNSUPPORTED || !strstr(rec_error_message(), "a.weight")) {
            fail_msg("%s: %s", w.header, record ? "was decoded" : rec_error_message());
        }
        free(bytes);
        record = load(&w, REC_PRECISION_KEEP, &bytes);
        assert_non_null(record);
        assert_int_equal(rec_tensor_count(rec_tensor_at(record, "a.weight_scale")), more * w.across);
        rec_record_free(record);
        free(bytes);
    }
}

static int enter(void **state)
{
    (void)state;
    context = rec_context_new(NULL);
    return context ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    rec_context_free(context);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_those_of_the_model),
        cmocka_unit_test(test_scales_of_another_shape_are_rejected),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
