/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The zstd codec: what is decoded, what is refused, and that nothing of a damaged file gets through. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <zstd.h>

#include "core/io/io.h"
#include "plugins/codec/zstd/codec.h"
#include "tests/custom_sink.h"
#include "tests/sanitized.h"

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

/* Noise between repetitions. */
static bytes make_data(size_t size)
{
    bytes made = {malloc(size ? size : 1), size};
    uint32_t seed = 1;
    assert_non_null(made.data);
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525 + 1013904223;
        made.data[i] = (uint8_t)(i % 64 < 32 ? seed >> 24 : i / 64);
    }
    return made;
}

/* Appends `more`, which stays the caller's. */
static void append(bytes *all, const void *more, size_t size)
{
    all->data = realloc(all->data, all->size + size + 1);
    assert_non_null(all->data);
    memcpy(all->data + all->size, more, size);
    all->size += size;
}

static bytes encode_with(rec_context *context, bytes in, int level, size_t step)
{
    rec_job job;
    void *data = NULL;
    uint64_t size = 0;
    lr_job_begin(&job, context, "save", "out.zst");
    rec_sink *memory = lr_sink_memory(&job);
    rec_sink *packed = lr_zstd_sink(&job, memory, level);
    assert_non_null(packed);
    for (size_t at = 0; at < in.size; at += step) {
        uint64_t piece = in.size - at < step ? in.size - at : step;
        assert_int_equal(rec_sink_write(packed, in.data + at, piece), REC_OK);
    }
    assert_int_equal(rec_sink_close(packed), REC_OK);
    assert_int_equal(lr_sink_take(memory, &data, &size), REC_OK);
    assert_int_equal(lr_sink_commit(memory), REC_OK);
    assert_int_equal(lr_job_end(&job), REC_OK);
    return (bytes){data, (size_t)size};
}

static bytes pack(rec_context *context, bytes in)
{
    return encode_with(context, in, 3, SIZE_MAX);
}

/* A frame by the library itself. */
static bytes frame_with(bytes in, ZSTD_cParameter what, int value)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    bytes made = {malloc(ZSTD_compressBound(in.size)), 0};
    assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(context, what, value)));
    made.size = ZSTD_compress2(context, made.data, ZSTD_compressBound(in.size), in.data, in.size);
    assert_false(ZSTD_isError(made.size));
    ZSTD_freeCCtx(context);
    return made;
}

/* Decodes and compares with `expected`. @return the status; -1: accepted, and not what it was. */
static int32_t decode_as(rec_context *context, bytes in, bytes expected)
{
    rec_job job;
    rec_source *parent, *source = NULL;
    const void *data = NULL;
    uint64_t size = 0;
    /* An exact copy, so that a sanitizer sees the first byte that is read beyond it. */
    uint8_t *copy = malloc(in.size ? in.size : 1);
    if (in.size) {
        memcpy(copy, in.data, in.size);
    }
    lr_job_begin(&job, context, "load", "test.zst");
    parent = lr_source_memory(&job, copy, in.size, "test.zst");
    int32_t status = lr_zstd_source(&job, parent, &source);
    if (status == REC_OK) {
        status = rec_source_view(&job, source, &data, &size);
    }
    if (status == REC_OK && (size != expected.size || (size && memcmp(data, expected.data, (size_t)size) != 0))) {
        status = -1;
    }
    rec_source_release(source);
    rec_source_release(parent);
    free(copy);
    lr_job_end(&job);
    return status;
}

static void data_of_any_size_come_back_at_every_level(void **state)
{
    static const size_t sizes[] = {0, 1, 100, 65536, 131071, 131072, 131073, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bytes data = make_data(sizes[i]);
        for (int level = 1; level <= 19; level += sizes[i] > 200000 ? 6 : 3) {
            bytes packed = encode_with(*state, data, level, level % 2 ? 1000 : SIZE_MAX);
            assert_int_equal(decode_as(*state, packed, data), REC_OK);
            assert_true(sizes[i] < 65536 || packed.size < data.size);
            assert_true(packed.data[4] & 4); /* it has a checksum */
            free(packed.data);
        }
        free(data.data);
    }
}

static void a_source_is_read_in_pieces_and_again(void **state)
{
    bytes data = make_data(300000), packed = pack(*state, data);
    rec_job job;
    rec_source *source = NULL;
    uint8_t *out = malloc(data.size);
    lr_job_begin(&job, *state, "load", "test.zst");
    rec_source *parent = lr_source_memory(&job, packed.data, packed.size, "test.zst");
    assert_int_equal(lr_zstd_source(&job, parent, &source), REC_OK);
    for (uint64_t step = 1; step < 300000; step = step * 7 + 1) {
        uint64_t at = 0, got;
        do {
            uint64_t room = data.size - at < step ? data.size - at : step;
            uint8_t beyond;
            assert_int_equal(rec_source_read(&job, source, room ? out + at : &beyond, room ? room : 1, &got), REC_OK);
            at += got;
        } while (got > 0);
        assert_int_equal(at, data.size);
        assert_memory_equal(out, data.data, data.size);
        assert_int_equal(rec_source_rewind(&job, source), REC_OK);
    }
    rec_source_release(source);
    rec_source_release(parent);
    assert_int_equal(lr_job_end(&job), REC_OK);
    free(out);
    free(packed.data);
    free(data.data);
}

static void frames_follow_each_other_and_skippable_ones_are_passed_over(void **state)
{
    static const uint8_t skippable[] = {0x5b, 0x2a, 0x4d, 0x18, 5, 0, 0, 0, 'h', 'e', 'l', 'l', 'o'};
    bytes whole = make_data(400000), first = {whole.data, 150000}, second = {whole.data + 150000, 250000},
          none = {NULL, 0};
    bytes a = pack(*state, first), b = frame_with(second, ZSTD_c_checksumFlag, 0), empty = pack(*state, none);
    bytes all = {NULL, 0};
    append(&all, skippable, sizeof skippable);
    assert_int_equal(decode_as(*state, all, none), REC_OK); /* a file of nothing */
    append(&all, a.data, a.size);
    append(&all, empty.data, empty.size);
    append(&all, skippable, sizeof skippable);
    append(&all, b.data, b.size); /* without a checksum */
    append(&all, skippable, sizeof skippable);
    assert_int_equal(decode_as(*state, all, whole), REC_OK);
    for (size_t cut = 1; cut < sizeof skippable; cut++) {
        bytes less = {all.data, all.size - cut};
        assert_int_equal(decode_as(*state, less, whole), REC_E_FORMAT);
    }
    free(a.data);
    free(b.data);
    free(empty.data);
    free(all.data);
    free(whole.data);
}

static void nothing_else_may_follow(void **state)
{
    static const uint8_t zeros[600] = {0};
    bytes data = make_data(1000), packed = pack(*state, data);
    for (size_t more = 1; more <= sizeof zeros; more = more * 3 + 1) {
        char expected[160];
        bytes longer = {NULL, 0};
        append(&longer, packed.data, packed.size);
        append(&longer, zeros, more);
        assert_int_equal(decode_as(*state, longer, data), REC_E_FORMAT);
        assert_int_equal(rec_error_offset(), packed.size);
        (void)snprintf(expected, sizeof expected, "found %zu bytes more that are not zstd", more);
        assert_non_null(strstr(rec_error_message(), expected));
        free(longer.data);
    }
    free(packed.data);
    free(data.data);
}

static void every_truncation_is_found(void **state)
{
    bytes data = make_data(3000), packed = pack(*state, data);
    for (size_t i = 0; i < packed.size; i++) {
        bytes cut = {packed.data, i};
        assert_int_equal(decode_as(*state, cut, data), REC_E_FORMAT);
        assert_non_null(strstr(rec_error_message(), i == 0  ? "found an empty file"
                                                    : i < 4 ? "bytes in all"
                                                            : "ends before its data do"));
        assert_int_equal(rec_error_offset(), i < 4 ? 0 : i);
    }
    free(packed.data);
    free(data.data);
}

static void every_changed_byte_is_found_or_changes_nothing(void **state)
{
    bytes data = make_data(500), packed = pack(*state, data);
    for (size_t i = 0; i < packed.size; i++) {
        uint8_t good = packed.data[i];
        for (unsigned value = 0; value < 256; value += i > 20 ? 2 : 1) {
            packed.data[i] = (uint8_t)value;
            assert_true(decode_as(*state, packed, data) != -1);
        }
        packed.data[i] = good;
    }
    packed.data[packed.size - 1] ^= 1;
    assert_int_equal(decode_as(*state, packed, data), REC_E_FORMAT);
    assert_non_null(strstr(rec_error_message(), "the checksum of the compressed file does not fit the data"));
    free(packed.data);
    free(data.data);
}

static void what_needs_too_much_or_what_is_not_there_is_refused(void **state)
{
    /* A header alone: no content size, a window of 2 GiB; then 128 MiB, which is allowed, and the file is cut short. */
    uint8_t wide[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 1, 0, 0};
    uint8_t dictionary[] = {0x28, 0xb5, 0x2f, 0xfd, 0x01, 0x00, 7, 1, 0, 0};
    bytes in = {wide, sizeof wide}, nothing = {NULL, 0};
    assert_int_equal(decode_as(*state, in, nothing), REC_E_LIMIT);
    assert_non_null(strstr(rec_error_message(), "decoding needs a window of more than 128 MiB"));
    wide[5] = 17 << 3;
    assert_int_equal(decode_as(*state, in, nothing), REC_OK);
    in = (bytes){dictionary, sizeof dictionary};
    assert_int_equal(decode_as(*state, in, nothing), REC_E_UNSUPPORTED);
    assert_non_null(strstr(rec_error_message(), "compressed with a dictionary"));
}

static void what_is_no_zstd_is_named(void **state)
{
    bytes in = {(uint8_t *)(uintptr_t)"\x1f\x8b\x08\0", 4}, nothing = {NULL, 0};
    assert_int_equal(decode_as(*state, in, nothing), REC_E_FORMAT);
    assert_string_equal(rec_error_message(), "test.zst: byte 0: expected a zstd file (0x28 0xb5 0x2f 0xfd), found 0x1f "
                                             "0x8b 0x08 0x00");
}

static void a_bomb_meets_the_limit(void **state)
{
    bytes zeros = {calloc(1, 8 << 20), 8 << 20};
    bytes packed = pack(*state, zeros), sized = frame_with(zeros, ZSTD_c_checksumFlag, 1);
    rec_limits limits = rec_limits_default();
    limits.inflated_factor = 64;
    limits.inflated_slack = 0;
    assert_int_equal(rec_context_set_limits(*state, &limits), REC_OK);
    assert_int_equal(decode_as(*state, packed, zeros), REC_E_LIMIT);
    assert_int_equal(decode_as(*state, sized, zeros), REC_E_LIMIT);
    assert_non_null(strstr(rec_error_message(), "inflates to more than"));
    free(packed.data);
    free(sized.data);
    free(zeros.data);
}

static int32_t full_disk(void *user, rec_job *job, const void *data, uint64_t size)
{
    uint64_t *left = user;
    (void)data;
    if (size > *left) {
        return rec_fail(job, REC_E_IO, REC_UNKNOWN, "the disk is full");
    }
    *left -= size;
    return REC_OK;
}

static void a_full_disk_is_reported_wherever_it_shows(void **state)
{
    bytes data = make_data(400000), packed = pack(*state, data);
    for (uint64_t room = 0; room < packed.size; room += packed.size / 10) {
        rec_job job;
        uint64_t left = room;
        lr_job_begin(&job, *state, "save", "out.zst");
        rec_sink *disk = sink_custom(&job, full_disk, &left);
        rec_sink *sink = lr_zstd_sink(&job, disk, 3);
        assert_non_null(sink);
        int32_t status = rec_sink_write(sink, data.data, data.size);
        int32_t closed = rec_sink_close(sink);
        assert_int_equal(status != REC_OK ? status : closed, REC_E_IO);
        (void)lr_sink_commit(disk);
        assert_int_equal(lr_job_end(&job), REC_E_IO);
    }
    free(packed.data);
    free(data.data);
}

/* A file that cannot be read from some byte on. */
typedef struct broken {
    bytes data;
    uint64_t good;
} broken;

static int32_t read_broken(void *self, rec_job *job, uint64_t offset, void *target, uint64_t size)
{
    const broken *b = self;
    if (offset + size > b->good) {
        return rec_fail(job, REC_E_IO, offset, "the disk is broken");
    }
    memcpy(target, b->data.data + offset, (size_t)size);
    return REC_OK;
}

static uint64_t size_of_broken(void *self)
{
    return ((const broken *)self)->data.size;
}

static void a_source_that_fails_is_told_wherever_it_does(void **state)
{
    static const rec_source_ops ops = {.size = sizeof ops, .read_at = read_broken, .total = size_of_broken};
    bytes data = make_data(500000), packed = pack(*state, data);
    broken b = {.data = packed};
    assert_true(packed.size > 200000);
    for (; b.good < packed.size; b.good += 60000) {
        rec_job job;
        rec_source *parent = NULL, *source = NULL;
        const void *view;
        uint64_t size;
        int32_t status;
        lr_job_begin(&job, *state, "load", "test.zst");
        assert_int_equal(rec_source_make(&job, "test.zst", &ops, &b, &parent), REC_OK);
        status = lr_zstd_source(&job, parent, &source);
        status = status == REC_OK ? rec_source_view(&job, source, &view, &size) : status;
        assert_int_equal(status, REC_E_IO);
        rec_source_release(source);
        rec_source_release(parent);
        assert_int_equal(lr_job_end(&job), REC_E_IO);
        assert_non_null(strstr(rec_error_message(), "the disk is broken"));
    }
    free(packed.data);
    free(data.data);
}

/* ------------------------------------------------------------------------------------------- memory that fails -- */

static _Thread_local long countdown = -1; /* allocations until one fails; negative: none does */
static bool failed;

static bool REC_MAYBE_UNUSED fails_now(void)
{
    if (countdown < 0 || countdown-- > 0) {
        return false;
    }
    failed = true;
    errno = ENOMEM;
    return true;
}

#include "tests/failing_malloc.h"

/* Compresses and decompresses. @return the status. */
static int32_t go_round(rec_context *context, bytes data)
{
    rec_job job;
    rec_sink *memory, *packed = NULL;
    rec_source *parent = NULL, *source = NULL;
    const void *view = NULL;
    void *file = NULL;
    uint64_t size = 0;
    int32_t status;
    lr_job_begin(&job, context, "save", "out.zst");
    memory = lr_sink_memory(&job);
    packed = memory ? lr_zstd_sink(&job, memory, 3) : NULL;
    status = packed ? rec_sink_write(packed, data.data, data.size) : REC_E_MEMORY;
    if (packed) {
        int32_t closed = rec_sink_close(packed);
        status = status == REC_OK ? closed : status;
    }
    status = status == REC_OK ? lr_sink_take(memory, &file, &size) : status;
    parent = status == REC_OK ? lr_source_memory(&job, file, size, "test.zst") : NULL;
    status = status == REC_OK && !parent ? REC_E_MEMORY : status;
    status = status == REC_OK ? lr_zstd_source(&job, parent, &source) : status;
    status = status == REC_OK ? rec_source_view(&job, source, &view, &size) : status;
    countdown = -1;
    if (status == REC_OK) {
        assert_int_equal(size, data.size);
        assert_memory_equal(view, data.data, data.size);
    }
    rec_source_release(source);
    rec_source_release(parent);
    if (memory) {
        (void)lr_sink_commit(memory);
    }
    rec_free(file);
    return lr_job_end(&job);
}

static void any_allocation_may_fail(void **state)
{
    bytes data;
#if !REPLACES_MALLOC
    print_message("malloc belongs to the sanitizer\n");
    skip();
#endif
    data = make_data(100000);
    for (long n = 0;; n++) {
        int32_t status;
        failed = false;
        countdown = n;
        status = go_round(*state, data);
        countdown = -1;
        if (!failed) {
            assert_int_equal(status, REC_OK);
            assert_true(n > 5);
            break;
        }
        if (status != REC_E_MEMORY) {
            fail_msg("allocation %ld: %s", n, status == REC_OK ? "it went well" : rec_error_message());
        }
    }
    free(data.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(data_of_any_size_come_back_at_every_level, setup, teardown),
        cmocka_unit_test_setup_teardown(a_source_is_read_in_pieces_and_again, setup, teardown),
        cmocka_unit_test_setup_teardown(frames_follow_each_other_and_skippable_ones_are_passed_over, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_else_may_follow, setup, teardown),
        cmocka_unit_test_setup_teardown(every_truncation_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(every_changed_byte_is_found_or_changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(what_needs_too_much_or_what_is_not_there_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_zstd_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(a_bomb_meets_the_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_disk_is_reported_wherever_it_shows, setup, teardown),
        cmocka_unit_test_setup_teardown(a_source_that_fails_is_told_wherever_it_does, setup, teardown),
        cmocka_unit_test_setup_teardown(any_allocation_may_fail, setup, teardown),
    };
    return cmocka_run_group_tests_name("zstd", tests, NULL, NULL);
}
