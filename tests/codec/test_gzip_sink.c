/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the gzip codec writes: the same bytes by any number of threads, no larger than zlib's, read by zlib, and an
 * index that is true. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "core/io/io.h"
#include "plugins/codec/gzip/encode.h"
#include "plugins/codec/gzip/gzip.h"
#include "plugins/codec/gzip/index.h"
#include "plugins/codec/gzip/probe.h"
#include "tests/custom_sink.h"
#include "tests/sparse.h"

enum { PIECE = LR_GZIP_PIECE, HEADER = 10, TRAILER = 8 };

typedef struct bytes {
    uint8_t *data;
    size_t size;
} bytes;

static int setup(void **state)
{
    *state = rec_context_new(NULL);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    rec_context_free(*state);
    return 0;
}

/* --------------------------------------------------------------------------------------------------- some data -- */

static uint32_t seed;

static uint32_t noise(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

/* Near to normal: of weights, what the sum of a few numbers is. */
static float weight(void)
{
    float sum = 0;
    for (int i = 0; i < 6; i++) {
        sum += (float)noise() / (float)(1 << 24);
    }
    return (sum - 3) * 0.05f;
}

typedef enum kind { WEIGHTS, SPARSE, NUMBERS, LINES, RANDOM, ZEROS, MIXED, KINDS } kind;

static void put_weights(bytes *b, size_t at, size_t end, bool sparse)
{
    for (; at + sizeof(float) <= end; at += sizeof(float)) {
        float value = sparse && noise() % 10 < 7 ? 0 : weight();
        memcpy(b->data + at, &value, sizeof value);
    }
}

/* The bytes of weights as text. */
static void put_numbers(bytes *b, size_t at, size_t end, const char *before)
{
    char text[64];
    uint8_t raw[4] = {0};
    for (unsigned n = 0; at < end; n++) {
        int length;
        if (n % 4 == 0) {
            float value = weight();
            memcpy(raw, &value, sizeof raw);
        }
        length = snprintf(text, sizeof text, "%s%u,", before, raw[n % 4]);
        memcpy(b->data + at, text, (size_t)length < end - at ? (size_t)length : end - at);
        at += (size_t)length;
    }
}

static bytes make(kind what, size_t size)
{
    bytes b = {calloc(size ? size : 1, 1), size};
    assert_non_null(b.data);
    seed = 7 + (uint32_t)what;
    switch (what) {
    case WEIGHTS:
    case SPARSE:
        put_weights(&b, 0, size, what == SPARSE);
        break;
    case NUMBERS:
        put_numbers(&b, 0, size, "");
        break;
    case LINES:
        put_numbers(&b, 0, size, "\n              ");
        break;
    case RANDOM:
        for (size_t i = 0; i < size; i++) {
            b.data[i] = (uint8_t)noise();
        }
        break;
    case MIXED: /* what looks like numbers where the sample is taken, and much else between */
        put_numbers(&b, 0, size, "");
        for (size_t i = 1000; i + 60000 < size; i += 70000) {
            for (size_t n = 0; n < 60000; n++) {
                b.data[i + n] = (uint8_t)noise();
            }
        }
        break;
    default:
        break;
    }
    return b;
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

static int32_t write_to(rec_sink *packed, bytes in, size_t step)
{
    int32_t status = REC_OK;
    for (size_t at = 0; at < in.size && status == REC_OK; at += step) {
        status = rec_sink_write(packed, in.data + at, in.size - at < step ? in.size - at : step);
    }
    return status;
}

static bytes pack(rec_context *context, bytes in, int level, uint32_t threads, size_t step)
{
    rec_job job;
    void *data = NULL;
    uint64_t size = 0;
    assert_int_equal(rec_context_set_threads(context, threads), REC_OK);
    lr_job_begin(&job, context, "save", "out.gz");
    job.budget.limit = UINT64_MAX;
    rec_sink *memory = lr_sink_memory(&job);
    rec_sink *packed = lr_gzip_sink(&job, memory, level);
    assert_non_null(packed);
    assert_int_equal(write_to(packed, in, step), REC_OK);
    assert_int_equal(rec_sink_close(packed), REC_OK);
    assert_int_equal(lr_sink_take(memory, &data, &size), REC_OK);
    assert_int_equal(lr_sink_commit(memory), REC_OK);
    assert_int_equal(lr_job_end(&job), REC_OK);
    return (bytes){data, (size_t)size};
}

/* Inflates by zlib. @param window as inflateInit2() has it. @return bytes of the input that it took, 0: it failed. */
static size_t unpack_as(const uint8_t *packed, size_t size, int window, bytes expected)
{
    uint8_t *out = malloc(expected.size + 1);
    z_stream stream = {.next_in = (z_const Bytef *)packed, .avail_in = (uInt)size, .next_out = out};
    stream.avail_out = (uInt)expected.size + 1;
    assert_non_null(out);
    assert_int_equal(inflateInit2(&stream, window), Z_OK);
    int result = inflate(&stream, Z_SYNC_FLUSH);
    bool good = (result == Z_STREAM_END || (window < 0 && result == Z_OK)) && stream.total_out == expected.size &&
                memcmp(out, expected.data, expected.size) == 0;
    size_t taken = good ? stream.total_in : 0;
    (void)inflateEnd(&stream);
    free(out);
    return taken;
}

static void assert_unpacks(bytes packed, bytes expected)
{
    assert_int_equal(unpack_as(packed.data, packed.size, 15 + 16, expected), packed.size);
}

/* As one stream without pieces. */
static size_t size_by_zlib(bytes in, int level)
{
    z_stream stream = {.next_in = in.data, .avail_in = (uInt)in.size};
    uint8_t buffer[65536];
    assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    do {
        stream.next_out = buffer;
        stream.avail_out = sizeof buffer;
    } while (deflate(&stream, Z_FINISH) == Z_OK);
    size_t size = stream.total_out;
    (void)deflateEnd(&stream);
    return size;
}

static void any_number_of_threads_writes_the_same(void **state)
{
    for (int what = 0; what < KINDS; what++) {
        bytes in = make((kind)what, 4 * PIECE + 12345);
        for (unsigned level = 0; level <= 9; level += 3 * sparsely()) {
            bytes one = pack(*state, in, (int)level, 1, SIZE_MAX);
            assert_unpacks(one, in);
            for (uint32_t threads = 2; threads <= 20; threads += 9) {
                bytes many = pack(*state, in, (int)level, threads, 100003);
                assert_int_equal(many.size, one.size);
                assert_memory_equal(many.data, one.data, one.size);
                free(many.data);
            }
            free(one.data);
        }
        free(in.data);
    }
}

/* By how many thousandths larger than zlib's level 6 in one stream. */
static void the_usual_level_is_as_small_as_zlibs(void **state)
{
    static const int more[KINDS] = {
        [SPARSE] = 2, [NUMBERS] = 6, [LINES] = 12, [RANDOM] = 1, [ZEROS] = 2000, [MIXED] = 5};
    for (int what = 0; what < KINDS; what++) {
        bytes in = make((kind)what, 6 * PIECE), packed = pack(*state, in, 6, 2, SIZE_MAX);
        size_t theirs = size_by_zlib(in, 6);
        print_message("kind %d: %zu bytes, zlib %zu\n", what, packed.size, theirs);
        assert_true((packed.size - LR_GZIP_HEADER) <= theirs + theirs * (size_t)more[what] / 1000);
        free(packed.data);
        free(in.data);
    }
}

/* Level 3, the default of .json.gz, beside zlib's level 6: hardly more than a tenth larger for the digits of weights.
 */
static void test_level_3_of_digits(void **state)
{
    bytes in = make(NUMBERS, 6 * PIECE), packed = pack(*state, in, 3, 2, SIZE_MAX);
    size_t theirs = size_by_zlib(in, 6);
    print_message("%zu bytes, zlib %zu\n", packed.size, theirs);
    assert_unpacks(packed, in);
    assert_true(packed.size - LR_GZIP_HEADER <= theirs + theirs / 9); /* zlib's own level 3, where there is no ISA-L */
    free(packed.data);
    free(in.data);
}

static void levels_are_what_they_were(void **state)
{
    bytes in = make(LINES, 2 * PIECE);
    size_t sizes[10];
    for (int level = 0; level <= 9; level++) {
        bytes packed = pack(*state, in, level, 2, SIZE_MAX);
        sizes[level] = packed.size;
        assert_unpacks(packed, in);
        free(packed.data);
    }
    assert_true(sizes[0] > in.size && sizes[0] < in.size + in.size / 1000);
    assert_true(sizes[1] < in.size / 4 && sizes[6] < sizes[1] && sizes[9] <= sizes[6]);
    free(in.data);
}

/* --------------------------------------------------------------------------------------------------- the index -- */

static void assert_index_is_true(bytes packed, bytes in)
{
    lr_gzip_index index;
    size_t at = LR_GZIP_HEADER;
    assert_true(lr_gzip_index_read(packed.data, packed.size, packed.size, &index));
    assert_int_equal(index.inflated, in.size);
    assert_int_equal(index.begin, LR_GZIP_HEADER);
    for (uint32_t i = 0; i < index.count; i++) {
        size_t from = (size_t)index.span * i, left = in.size - from;
        bytes part = {in.data + from, left < index.span ? left : (size_t)index.span};
        if (unpack_as(packed.data + at, index.sizes[i], -15, part) != index.sizes[i]) {
            fail_msg("stretch %u of %u cannot be inflated alone", i, index.count);
        }
        at += index.sizes[i];
    }
    assert_int_equal(at + TRAILER, packed.size);
}

static void files_of_some_size_have_an_index(void **state)
{
    static const uint8_t plain[HEADER] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};
    static const size_t sizes[] = {
        0,        1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE - 1, 3 * PIECE, 3 * PIECE + 1, 4 * PIECE, 4 * PIECE + 1,
        9 * PIECE};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i += sparsely()) {
        for (int what = 0; what < KINDS; what++) {
            bytes in = make((kind)what, sizes[i]);
            bytes packed = pack(*state, in, what == LINES ? 1 : 6, 3, SIZE_MAX);
            assert_unpacks(packed, in);
            if (sizes[i] > 3 * PIECE) {
                assert_index_is_true(packed, in);
            } else {
                assert_memory_equal(packed.data, plain, sizeof plain);
            }
            free(packed.data);
            free(in.data);
        }
    }
}

static void an_index_of_a_large_file_has_longer_stretches(void **state)
{
    bytes in = make(ZEROS, 501 * (size_t)PIECE + 3), packed = pack(*state, in, 1, 2, SIZE_MAX);
    lr_gzip_index index;
    assert_true(lr_gzip_index_read(packed.data, packed.size, packed.size, &index));
    assert_int_equal(index.span, 2 * PIECE);
    assert_int_equal(index.count, 251);
    assert_index_is_true(packed, in);
    free(packed.data);
    free(in.data);
}

/* A target that only takes bytes, and fails when it has taken so many. */
typedef struct pipe_end {
    bytes got;
    size_t room;
} pipe_end;

static int32_t take_bytes(void *user, rec_job *job, const void *data, uint64_t size)
{
    pipe_end *pipe = user;
    if (pipe->got.size + size > pipe->room) {
        return rec_fail(job, REC_E_IO, REC_UNKNOWN, "the other end is closed");
    }
    pipe->got.data = realloc(pipe->got.data, pipe->got.size + (size_t)size);
    assert_non_null(pipe->got.data);
    memcpy(pipe->got.data + pipe->got.size, data, (size_t)size);
    pipe->got.size += (size_t)size;
    return REC_OK;
}

static int32_t pack_into(rec_context *context, pipe_end *pipe, bytes in, size_t step)
{
    rec_job job;
    int32_t status, closed;
    lr_job_begin(&job, context, "save", "out.gz");
    job.budget.limit = UINT64_MAX;
    rec_sink *custom = sink_custom(&job, take_bytes, pipe);
    rec_sink *packed = lr_gzip_sink(&job, custom, 6);
    assert_non_null(packed);
    status = write_to(packed, in, step);
    closed = rec_sink_close(packed);
    (void)lr_sink_commit(custom);
    (void)lr_job_end(&job);
    return status != REC_OK ? status : closed;
}

static void a_stream_has_no_index_and_is_the_same_otherwise(void **state)
{
    bytes in = make(WEIGHTS, 5 * PIECE), file = pack(*state, in, 6, 2, SIZE_MAX);
    pipe_end pipe = {.room = SIZE_MAX};
    assert_int_equal(pack_into(*state, &pipe, in, 65536), REC_OK);
    assert_unpacks(pipe.got, in);
    assert_int_equal(pipe.got.size - HEADER, file.size - LR_GZIP_HEADER);
    assert_memory_equal(pipe.got.data + HEADER, file.data + LR_GZIP_HEADER, pipe.got.size - HEADER);
    free(pipe.got.data);
    free(file.data);
    free(in.data);
}

static void a_target_that_fails_ends_it_at_any_time(void **state)
{
    bytes in = make(WEIGHTS, 7 * PIECE);
    assert_int_equal(rec_context_set_threads(*state, 4), REC_OK);
    for (size_t room = 0; room < 6 * PIECE; room += PIECE - 1000) {
        pipe_end pipe = {.room = room};
        assert_int_equal(pack_into(*state, &pipe, in, 50000), REC_E_IO);
        assert_non_null(strstr(rec_error_message(), "the other end is closed"));
        free(pipe.got.data);
    }
    free(in.data);
}

static int32_t no_more(void *user, const rec_progress *progress)
{
    int *left = user;
    (void)progress;
    return --*left < 0;
}

static void it_can_be_cancelled(void **state)
{
    bytes in = make(WEIGHTS, 40 * PIECE);
    assert_int_equal(rec_context_set_threads(*state, 3), REC_OK);
    for (int calls = 0; calls < 4; calls++) {
        int left = calls;
        pipe_end pipe = {.room = SIZE_MAX};
        rec_context_set_progress(*state, no_more, &left);
        assert_int_equal(pack_into(*state, &pipe, in, 1 << 20), REC_E_CANCELLED);
        free(pipe.got.data);
    }
    free(in.data);
}

static void *nothing(void *user)
{
    return user;
}

static void threads_that_cannot_be_started_are_done_without(void **state)
{
    bytes in = make(WEIGHTS, 6 * PIECE), with, without;
    pthread_attr_t usual, greedy;
    pthread_t thread;
#ifndef __GLIBC__
    skip(); /* musl limits the size */
#endif
    with = pack(*state, in, 6, 8, SIZE_MAX);
    assert_int_equal(pthread_getattr_default_np(&usual), 0);
    assert_int_equal(pthread_attr_init(&greedy), 0);
    assert_int_equal(pthread_attr_setstacksize(&greedy, SIZE_MAX / 4 * 3), 0);
    assert_int_equal(pthread_setattr_default_np(&greedy), 0);
    assert_int_not_equal(pthread_create(&thread, NULL, nothing, NULL), 0);
    without = pack(*state, in, 6, 8, SIZE_MAX);
    assert_int_equal(pthread_setattr_default_np(&usual), 0);
    assert_unpacks(with, in);
    assert_unpacks(without, in);
    assert_int_equal(with.size, without.size);
    assert_memory_equal(with.data, without.data, with.size);
    (void)pthread_attr_destroy(&greedy);
    (void)pthread_attr_destroy(&usual);
    free(with.data);
    free(without.data);
    free(in.data);
}

/* --------------------------------------------------------------------------------------------------- the probe -- */

/* What a byte is called makes no difference: runs of it in noise are runs, few of them or many, and alone in noise it
 * is noise, until it stands nearly everywhere. */
static void no_byte_is_another_to_the_probe(void **state)
{
    enum { SIZE = 20000, SHARES = 3 };
    uint8_t *data = malloc(SIZE);
    (void)state;
    assert_non_null(data);
    for (unsigned byte = 0; byte < 256; byte++) {
        for (uint32_t share = 0; share < SHARES; share++) { /* of ten places, where a run begins */
            static const uint32_t places[SHARES] = {1, 5, 9};
            static const lr_gzip_kind scattered[SHARES] = {LR_GZIP_NOISE, LR_GZIP_NOISE, LR_GZIP_RUNS};
            lr_gzip_kind found;
            seed = 5;
            for (size_t at = 0; at < SIZE;) {
                bool run = noise() % 10 < places[share];
                size_t length = run ? 100 : 20;
                for (; length && at < SIZE; length--) {
                    data[at++] = (uint8_t)(run ? byte : noise());
                }
            }
            found = lr_gzip_probe(data, SIZE);
            if (found != LR_GZIP_RUNS) {
                fail_msg("runs of %u, %u: %d", byte, places[share], (int)found);
            }
            seed = 5;
            for (size_t at = 0; at < SIZE; at++) {
                data[at] = (uint8_t)(noise() % 10 < places[share] ? byte : noise());
            }
            found = lr_gzip_probe(data, SIZE);
            if (found != scattered[share]) {
                fail_msg("%u in noise, %u: %d", byte, places[share], (int)found);
            }
        }
    }
    free(data);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(any_number_of_threads_writes_the_same),
        TEST(the_usual_level_is_as_small_as_zlibs),
        TEST(test_level_3_of_digits),
        TEST(levels_are_what_they_were),
        TEST(files_of_some_size_have_an_index),
        TEST(an_index_of_a_large_file_has_longer_stretches),
        TEST(a_stream_has_no_index_and_is_the_same_otherwise),
        TEST(a_target_that_fails_ends_it_at_any_time),
        TEST(it_can_be_cancelled),
        TEST(threads_that_cannot_be_started_are_done_without),
        TEST(no_byte_is_another_to_the_probe),
    };
    return cmocka_run_group_tests_name("what gzip writes", tests, NULL, NULL);
}
