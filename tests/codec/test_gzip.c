/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The gzip codec: what is inflated, what is refused, and that the two sides and gzip(1) agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <zlib.h>

#include "core/io/io.h"
#include "plugins/codec/gzip/gzip.h"
#include "tests/custom_sink.h"

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

/* Data that deflate finds something to do in: noise between repetitions. */
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

/* As recorders begin one. */
static void begin_save(rec_job *job, rec_context *context)
{
    lr_job_begin(job, context, "save", "out.gz");
    job->budget.limit = UINT64_MAX;
}

static bytes deflate_with(rec_context *context, bytes in, int level, size_t step)
{
    rec_job job;
    void *data = NULL;
    uint64_t size = 0;
    begin_save(&job, context);
    rec_sink *memory = lr_sink_memory(&job);
    rec_sink *packed = lr_gzip_sink(&job, memory, level);
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
    return deflate_with(context, in, 6, SIZE_MAX);
}

/* Appends `more`, which stays the caller's. */
static void append(bytes *all, const void *more, size_t size)
{
    all->data = realloc(all->data, all->size + size);
    assert_non_null(all->data);
    memcpy(all->data + all->size, more, size);
    all->size += size;
}

/* Inflates and compares with `expected`. @return the status; message and report are in the thread's last ones. */
static int32_t inflate_as(rec_context *context, bytes in, bytes expected)
{
    rec_job job;
    rec_source *parent, *source = NULL;
    const void *data = NULL;
    uint64_t size = 0;
    /* An exact copy, so that a sanitizer sees the first byte that is read beyond it. */
    uint8_t *copy = malloc(in.size ? in.size : 1);
    memcpy(copy, in.data, in.size);
    lr_job_begin(&job, context, "load", "test.gz");
    parent = lr_source_memory(&job, copy, in.size, "test.gz");
    int32_t status = lr_gzip_source(&job, parent, &source);
    if (status == REC_OK) {
        status = rec_source_view(&job, source, &data, &size);
    }
    if (status == REC_OK && (size != expected.size || memcmp(data, expected.data, (size_t)size) != 0)) {
        status = -1; /* accepted, and not what it was */
    }
    rec_source_release(source);
    rec_source_release(parent);
    free(copy);
    lr_job_end(&job);
    return status;
}

/* ------------------------------------------------------------------------------------------------- round trips -- */

static void data_of_any_size_come_back_at_every_level(void **state)
{
    static const size_t sizes[] = {0, 1, 100, 65535, 65536, 65537, 300000, 5 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bytes data = make_data(sizes[i]);
        for (int level = 0; level <= 9; level += sizes[i] > 300000 ? 3 : 1) {
            bytes packed = deflate_with(*state, data, level, level % 2 ? 1000 : SIZE_MAX);
            assert_int_equal(inflate_as(*state, packed, data), REC_OK);
            if (sizes[i] >= 65535) {
                assert_true(level == 0 ? packed.size > data.size : packed.size < data.size);
            }
            free(packed.data);
        }
        free(data.data);
    }
}

static void the_header_is_that_of_burn(void **state)
{
    static const uint8_t header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};
    bytes data = make_data(1000);
    bytes packed = pack(*state, data);
    assert_memory_equal(packed.data, header, sizeof header);
    free(packed.data);
    free(data.data);
}

static void a_source_is_read_in_pieces_and_again(void **state)
{
    bytes data = make_data(100000), packed = pack(*state, data);
    rec_job job;
    rec_source *source = NULL;
    uint8_t *out = malloc(data.size);
    lr_job_begin(&job, *state, "load", "test.gz");
    rec_source *parent = lr_source_memory(&job, packed.data, packed.size, "test.gz");
    assert_int_equal(lr_gzip_source(&job, parent, &source), REC_OK);
    for (uint64_t step = 1; step < 100000; step = step * 7 + 1) {
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

static void gzip_reads_what_is_written_and_the_other_way_round(void **state)
{
    char folder[] = "/tmp/librecord-gzip.XXXXXX", command[256], path[128];
    bytes data = make_data(200000), packed = pack(*state, data), again = {malloc(300000), 0};
    if (system("gzip --version >/dev/null 2>&1") != 0) {
        print_message("gzip(1) is not there\n");
        free(packed.data);
        free(data.data);
        free(again.data);
        skip();
    }
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.gz", folder);
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(packed.data, 1, packed.size, file), packed.size);
    fclose(file);
    snprintf(command, sizeof command, "gzip -t %s/a.gz && gzip -d %s/a.gz && gzip -9 -c %s/a >%s/b.gz", folder, folder,
             folder, folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/b.gz", folder);
    file = fopen(path, "rb");
    again.size = fread(again.data, 1, 300000, file);
    fclose(file);
    assert_int_equal(inflate_as(*state, again, data), REC_OK);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    free(packed.data);
    free(again.data);
    free(data.data);
}

/* ----------------------------------------------------------------------------------------- members and padding -- */

static void all_members_are_read_and_more_than_one_is_noted(void **state)
{
    bytes whole = make_data(1000), first = {whole.data, 600}, second = {whole.data + 600, 400}, none = {whole.data, 0};
    bytes a = pack(*state, first), b = pack(*state, second), empty = pack(*state, none), all = {NULL, 0};
    append(&all, empty.data, empty.size);
    append(&all, a.data, a.size);
    append(&all, empty.data, empty.size);
    assert_int_equal(inflate_as(*state, all, first), REC_OK);
    assert_int_equal(rec_report_count(), 0); /* empty members hold nothing that Burn would lose */
    append(&all, b.data, b.size);
    assert_int_equal(inflate_as(*state, all, whole), REC_OK);
    assert_int_equal(rec_report_count(), 1);
    assert_int_equal(rec_report_note(0)->kind, REC_NOTE_LAYOUT);
    assert_string_equal(rec_report_note(0)->text, "2 gzip members with data; Burn reads only the first");
    free(a.data);
    free(b.data);
    free(empty.data);
    free(all.data);
    free(whole.data);
}

/* A name whose last letter, with the NUL behind it and the first bytes of the data, begins another block that is
 * stored, and data in which more of them follow: who begins one byte too early reads those, and the first megabytes are
 * out before anything shows what they are. */
static void a_name_may_look_like_data(void **state)
{
    enum { FIRST = 0x07ff, WHOLE = 0xffff, BLOCKS = 64, HEAD = 5, STEP = 300000 };
    static const uint8_t begin[] = {0x1f, 0x8b, 8, 8 /* a name */, 0, 0, 0, 0, 0, 3, 'm', 'x', 0},
                         one[] = {0xf8 /* stored; five bits that say nothing */, 0xff, 0x07, 0x00, 0xf8},
                         more[] = {0, 0xff, 0xff, 0, 0};
    bytes data = make_data(FIRST + BLOCKS * (size_t)WHOLE), packed = {NULL, 0};
    uint8_t trailer[8], *found = malloc(data.size);
    uint32_t crc;
    rec_job job;
    rec_source *parent, *source = NULL;
    uint64_t got = 1;
    append(&packed, begin, sizeof begin);
    append(&packed, one, sizeof one);
    append(&packed, data.data, FIRST);
    for (int i = 0; i < BLOCKS; i++) {
        uint8_t head[HEAD] = {i == BLOCKS - 1, 0xff, 0xff, 0, 0};
        append(&packed, head, sizeof head);
        append(&packed, data.data + FIRST + (size_t)i * WHOLE, WHOLE);
    }
    for (size_t at = sizeof begin + 3 + 0xf800; at + HEAD < packed.size; at += HEAD + WHOLE) { /* the others */
        memcpy(packed.data + at, more, HEAD);
    }
    memcpy(data.data, packed.data + sizeof begin + HEAD, FIRST);
    for (size_t i = 0; i < BLOCKS; i++) {
        memcpy(data.data + FIRST + i * WHOLE, packed.data + sizeof begin + HEAD + FIRST + i * (HEAD + WHOLE) + HEAD,
               WHOLE);
    }
    crc = (uint32_t)crc32(0, data.data, (uInt)data.size);
    for (int i = 0; i < 4; i++) {
        trailer[i] = (uint8_t)(crc >> (8 * i));
        trailer[4 + i] = (uint8_t)(data.size >> (8 * i));
    }
    append(&packed, trailer, sizeof trailer);
    assert_non_null(found);
    lr_job_begin(&job, *state, "load", "test.gz");
    parent = lr_source_memory(&job, packed.data, packed.size, "test.gz");
    assert_int_equal(lr_gzip_source(&job, parent, &source), REC_OK);
    for (size_t at = 0; got && at < data.size; at += (size_t)got) {
        uint64_t room = data.size - at < STEP ? data.size - at : STEP;
        assert_int_equal(rec_source_read(&job, source, found + at, room, &got), REC_OK);
        assert_true(got > 0);
    }
    assert_memory_equal(found, data.data, data.size);
    rec_source_release(source);
    rec_source_release(parent);
    assert_int_equal(lr_job_end(&job), REC_OK);
    free(found);
    free(packed.data);
    free(data.data);
}

/* The reader takes the file in pieces of 128 KiB: members, padding and what does not belong may begin at any of them.
 */
static void members_may_end_where_a_piece_does(void **state)
{
    enum { READ = 128 * 1024 };
    for (size_t end = READ - 3; end <= READ + 2; end++) {
        for (size_t zeros = 0; zeros <= READ; zeros += READ / 2) {
            /* Stored blocks have a known size: 10 bytes of header, 5 for each block, 8 of trailer. */
            bytes data = make_data(end + 500), first = {data.data, end - 100}, packed = {NULL, 0};
            while (packed.size != end) {
                free(packed.data);
                packed = deflate_with(*state, first, 0, SIZE_MAX);
                assert_true(packed.size > end ? packed.size - end < 200 : end - packed.size < 200);
                first.size -= packed.size > end ? packed.size - end : 0;
                first.size += packed.size < end ? end - packed.size : 0;
            }
            bytes second = {data.data + first.size, 300}, both = {data.data, first.size + 300};
            bytes more = pack(*state, second), padding = make_data(0);
            append(&packed, more.data, more.size);
            padding.data = realloc(padding.data, READ + 1);
            memset(padding.data, 0, READ + 1);
            append(&packed, padding.data, zeros);
            assert_int_equal(inflate_as(*state, packed, both), REC_OK);
            append(&packed, "x1234", 5);
            assert_int_equal(inflate_as(*state, packed, both), REC_E_FORMAT);
            assert_non_null(strstr(rec_error_message(), "5 bytes more that are not gzip"));
            free(padding.data);
            free(more.data);
            free(packed.data);
            free(data.data);
        }
    }
}

static void zeros_may_follow_and_nothing_else(void **state)
{
    static const uint8_t zeros[512] = {0};
    static const uint8_t others[] = {0x1f, 0x20, 0x8b, 0xff};
    bytes data = make_data(1000), packed = pack(*state, data), padded = {NULL, 0};
    append(&padded, packed.data, packed.size);
    append(&padded, zeros, sizeof zeros);
    assert_int_equal(inflate_as(*state, padded, data), REC_OK);
    for (size_t i = 0; i < sizeof others; i++) {
        char expected[192];
        padded.data[packed.size + 7] = others[i];
        assert_int_equal(inflate_as(*state, padded, data), REC_E_FORMAT);
        assert_int_equal(rec_error_offset(), packed.size + 7);
        snprintf(expected, sizeof expected,
                 "test.gz: byte %zu: expected the end of the compressed file, "
                 "found 505 bytes more that are not gzip\n"
                 "  Remove them if they do not belong to it.",
                 packed.size + 7);
        assert_string_equal(rec_error_message(), expected);
    }
    free(packed.data);
    free(padded.data);
    free(data.data);
}

/* ------------------------------------------------------------------------------------------------------ damage -- */

static void every_truncation_is_found(void **state)
{
    bytes data = make_data(3000), packed = pack(*state, data);
    for (size_t i = 0; i < packed.size; i++) {
        bytes cut = {packed.data, i};
        assert_int_equal(inflate_as(*state, cut, data), REC_E_FORMAT);
        assert_int_equal(rec_error_offset(), i);
        assert_non_null(strstr(rec_error_message(), i ? "ends before its data do" : "found an empty file"));
    }
    free(packed.data);
    free(data.data);
}

static void every_changed_byte_is_found_or_changes_nothing(void **state)
{
    bytes data = make_data(500), packed = pack(*state, data);
    int refused = 0;
    for (size_t i = 0; i < packed.size; i++) {
        uint8_t good = packed.data[i];
        for (unsigned value = 0; value < 256; value++) {
            if (value == good) {
                continue;
            }
            packed.data[i] = (uint8_t)value;
            int32_t status = inflate_as(*state, packed, data);
            if (status == REC_OK) { /* the same data: header bytes that say nothing of them, padding bits, and matches
                                       that could have been taken from elsewhere */
                assert_true(i >= 3 && i < packed.size - 8);
            } else {
                assert_int_equal(status, REC_E_FORMAT);
                assert_true(rec_error_offset() <= packed.size);
                refused++;
            }
        }
        packed.data[i] = good;
    }
    assert_true(refused > 240 * (int)(packed.size - 6));
    free(packed.data);
    free(data.data);
}

static void damage_is_named_with_its_place(void **state)
{
    bytes data = make_data(1000), packed = pack(*state, data);
    char expected[256];
    packed.data[packed.size - 5] ^= 1;
    assert_int_equal(inflate_as(*state, packed, data), REC_E_FORMAT);
    snprintf(expected, sizeof expected,
             "test.gz: byte %zu: the checksum of the compressed file does not fit the data: one of them is damaged\n"
             "  Copy the file again from its source.",
             packed.size - 4);
    assert_string_equal(rec_error_message(), expected);
    packed.data[packed.size - 5] ^= 1;
    packed.data[packed.size - 1] ^= 1;
    assert_int_equal(inflate_as(*state, packed, data), REC_E_FORMAT);
    assert_non_null(strstr(rec_error_message(), "the length at the end of the compressed file does not fit the data"));
    packed.data[packed.size - 1] ^= 1;
    packed.data[10] |= 6; /* a block of a type that does not exist */
    assert_int_equal(inflate_as(*state, packed, data), REC_E_FORMAT);
    assert_non_null(strstr(rec_error_message(), "the compressed data are damaged (zlib: invalid block type)"));
    packed.data[1] = 0x8c;
    assert_int_equal(inflate_as(*state, packed, data), REC_E_FORMAT);
    assert_string_equal(rec_error_message(), "test.gz: byte 0: expected a gzip file (0x1f 0x8b), found 0x1f 0x8c");
    free(packed.data);
    free(data.data);
}

static void a_lying_length_costs_no_memory(void **state)
{
    /* An empty member whose length says 4 GiB - 1. */
    static const uint8_t bomb[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 3, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
    bytes in = {(uint8_t *)(uintptr_t)bomb, sizeof bomb}, nothing = {NULL, 0};
    assert_int_equal(inflate_as(*state, in, nothing), REC_E_FORMAT);
    assert_non_null(strstr(rec_error_message(), "the length at the end"));
}

static void a_bomb_meets_the_limit(void **state)
{
    bytes zeros = {calloc(1, 8 << 20), 8 << 20};
    bytes packed = pack(*state, zeros);
    rec_limits limits = rec_limits_default();
    limits.inflated_factor = 64;
    limits.inflated_slack = 0;
    assert_int_equal(rec_context_set_limits(*state, &limits), REC_OK);
    assert_int_equal(inflate_as(*state, packed, zeros), REC_E_LIMIT);
    assert_non_null(strstr(rec_error_message(), "inflates to more than"));
    free(packed.data);
    free(zeros.data);
}

/* ---------------------------------------------------------------------------------------------------- failures -- */

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
        begin_save(&job, *state);
        rec_sink *disk = sink_custom(&job, full_disk, &left);
        rec_sink *sink = lr_gzip_sink(&job, disk, 6);
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

/* An allocator that fails at one allocation. */
typedef struct miser {
    int count, fail_at;
} miser;

static void *miser_alloc(void *user, size_t size)
{
    miser *m = user;
    return m->count++ == m->fail_at ? NULL : malloc(size);
}

static void *miser_resize(void *user, void *old, size_t size)
{
    miser *m = user;
    return m->count++ == m->fail_at ? NULL : realloc(old, size);
}

static void miser_release(void *user, void *memory)
{
    (void)user;
    free(memory);
}

static void each_failed_allocation_of_the_compressor_is_reported(void **state)
{
    miser m = {0, -1};
    rec_allocator allocator = {sizeof allocator, 0, miser_alloc, miser_resize, miser_release, &m};
    rec_context *context = rec_context_new(&allocator);
    int failures = 0, success = 0;
    bytes data = make_data(500000);
    (void)state;
    assert_non_null(context);
    assert_int_equal(rec_context_set_threads(context, 2), REC_OK);
    for (int i = 0; !success; i++) {
        rec_job job;
        begin_save(&job, context);
        rec_sink *count = rec_sink_layout(&job);
        assert_non_null(count);
        m = (miser){0, i};
        rec_sink *sink = lr_gzip_sink(&job, count, 6);
        for (int n = 0; sink && n < 3 && !job.error.status; n++) { /* two threads, from the second piece on */
            (void)rec_sink_write(sink, data.data, data.size);
        }
        success = rec_sink_close(sink) == REC_OK && sink;
        if (!success) {
            assert_int_equal(job.error.status, REC_E_MEMORY);
            failures++;
        }
        m.fail_at = -1;
        (void)rec_sink_close(count);
        lr_job_end(&job);
    }
    assert_true(failures > 3);
    free(data.data);
    rec_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(data_of_any_size_come_back_at_every_level, setup, teardown),
        cmocka_unit_test_setup_teardown(the_header_is_that_of_burn, setup, teardown),
        cmocka_unit_test_setup_teardown(a_source_is_read_in_pieces_and_again, setup, teardown),
        cmocka_unit_test_setup_teardown(gzip_reads_what_is_written_and_the_other_way_round, setup, teardown),
        cmocka_unit_test_setup_teardown(all_members_are_read_and_more_than_one_is_noted, setup, teardown),
        cmocka_unit_test_setup_teardown(a_name_may_look_like_data, setup, teardown),
        cmocka_unit_test_setup_teardown(members_may_end_where_a_piece_does, setup, teardown),
        cmocka_unit_test_setup_teardown(zeros_may_follow_and_nothing_else, setup, teardown),
        cmocka_unit_test_setup_teardown(every_truncation_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(every_changed_byte_is_found_or_changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(damage_is_named_with_its_place, setup, teardown),
        cmocka_unit_test_setup_teardown(a_lying_length_costs_no_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(a_bomb_meets_the_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_disk_is_reported_wherever_it_shows, setup, teardown),
        cmocka_unit_test(each_failed_allocation_of_the_compressor_is_reported),
    };
    return cmocka_run_group_tests_name("gzip", tests, NULL, NULL);
}
