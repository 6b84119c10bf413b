/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The quick way through gzip files beside zlib alone: the same bytes, verdict, message and notes, with any number of
 * threads, by an index that tells the truth or lies, in large parts or small ones. */
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
#include "plugins/codec/gzip/gzip.h"
#include "plugins/codec/gzip/index.h"
#include "plugins/codec/gzip/quick.h"
#include "tests/sparse.h"

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

static uint64_t seed = 88172645463325252u;

static uint32_t random_below(uint32_t most)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 20) % most);
}

/* Like weights, then like text, then zeros. */
static bytes make_data(size_t size)
{
    bytes made = {malloc(size ? size : 1), size};
    assert_non_null(made.data);
    for (size_t i = 0; i < size; i++) {
        uint32_t part = (uint32_t)(i * 8 / size);
        made.data[i] = part < 5   ? (uint8_t)(i % 4 == 3 ? 0x3c + random_below(3) : random_below(256))
                       : part < 7 ? (uint8_t)("0123456789, "[random_below(12)])
                                  : 0;
    }
    return made;
}

static void append(bytes *all, const void *more, size_t size)
{
    all->data = realloc(all->data, all->size + size);
    assert_non_null(all->data);
    memcpy(all->data + all->size, more, size);
    all->size += size;
}

static void append_sums(bytes *all, bytes data)
{
    uint32_t crc = (uint32_t)crc32_z(0, data.data, data.size), length = (uint32_t)data.size;
    uint8_t sums[8];
    for (int i = 0; i < 4; i++) {
        sums[i] = (uint8_t)(crc >> (8 * i));
        sums[4 + i] = (uint8_t)(length >> (8 * i));
    }
    append(all, sums, sizeof sums);
}

enum { PIECE = 512 << 10 };

/* A member, with an index of stretches of `merged` pieces if there are any. @param piece bytes, each of which ends in a
 * full flush. @param begins where deflated pieces begin, or NULL. */
static bytes pack(bytes data, size_t piece, size_t merged, lr_gzip_index *index, size_t *begins)
{
    static const uint8_t plain[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};
    z_stream stream = {0};
    bytes made = {malloc(LR_GZIP_HEADER), merged ? LR_GZIP_HEADER : sizeof plain};
    size_t room, before = 0;
    memcpy(made.data, plain, sizeof plain);
    assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    room = deflateBound(&stream, data.size) + 64 * (data.size / piece + 1);
    uint8_t *packed = malloc(room);
    stream.next_out = packed;
    stream.avail_out = (uInt)room;
    lr_gzip_index_begin(index, piece * (merged ? merged : 1));
    for (size_t at = 0, n = 0; n == 0 || at < data.size; at += piece) {
        bool last = data.size - at <= piece;
        stream.next_in = data.data + at;
        stream.avail_in = (uInt)(last ? data.size - at : piece);
        if (begins) {
            begins[n] = made.size + stream.total_out;
        }
        assert_int_equal(deflate(&stream, last ? Z_FINISH : Z_FULL_FLUSH), last ? Z_STREAM_END : Z_OK);
        n++;
        if (last || (merged && n % merged == 0)) {
            size_t whole = piece * (merged ? merged : 1), from = (n - 1) / (merged ? merged : 1) * whole;
            if (merged) {
                size_t holds = data.size - from < whole ? data.size - from : whole;
                assert_true(lr_gzip_index_add(index, holds, stream.total_out - before));
                before = stream.total_out;
            }
        }
        if (last) {
            break;
        }
    }
    if (merged) {
        lr_gzip_index_put(index, made.data);
    }
    append(&made, packed, stream.total_out);
    assert_int_equal(deflateEnd(&stream), Z_OK);
    append_sums(&made, data);
    free(packed);
    return made;
}

/* What came of it. */
typedef struct outcome {
    int32_t status;
    char message[1024];
    uint64_t offset, notes;
    bytes data;
} outcome;

/* How it is read. */
typedef struct way {
    bool quick, streams; /* …and the input's size is not known */
    uint32_t threads;
    uint64_t part; /* 0: as a whole */
} way;

/* The input as a stream whose size nobody knows: a filter that hands on. */
static int32_t hand_on(void *self, rec_job *job, void *target, uint64_t room, uint64_t *got)
{
    return rec_source_read(job, self, target, room < 1000 ? room : 1000 + (room - 1000) / 3, got);
}

static int32_t hand_on_again(void *self, rec_job *job)
{
    return rec_source_rewind(job, self);
}

static const rec_source_ops handing_on = {.size = sizeof handing_on, .read = hand_on, .rewind = hand_on_again};

static outcome inflate_by(rec_context *context, bytes in, way how)
{
    rec_job job;
    rec_source *parent, *stream = NULL, *source = NULL;
    outcome out = {0};
    uint8_t *copy = malloc(in.size ? in.size : 1);
    memcpy(copy, in.data, in.size);
    assert_int_equal(rec_context_set_threads(context, how.threads), REC_OK);
    lr_job_begin(&job, context, "load", "test.gz");
    parent = lr_source_memory(&job, copy, in.size, "test.gz");
    if (how.streams) {
        assert_int_equal(rec_source_filter(&job, parent, &handing_on, parent, &stream), REC_OK);
    }
    out.status = lr_gzip_source_by(&job, stream ? stream : parent, how.quick, &source);
    if (out.status == REC_OK && how.part == 0) {
        const void *data = NULL;
        uint64_t size = 0;
        out.status = rec_source_view(&job, source, &data, &size);
        if (out.status == REC_OK) {
            append(&out.data, data, (size_t)size);
        }
    }
    for (uint64_t got = 1, room = 0; out.status == REC_OK && how.part && got;) {
        uint8_t *part = malloc((size_t)how.part); /* of its own, for what is written behind it to be found out */
        out.status = rec_source_read(&job, source, part, how.part, &got);
        if (out.status == REC_OK && got) {
            if (out.data.size + got > room) { /* seldom: the sanitizers move all of it each time */
                room = 2 * room + how.part;
                out.data.data = realloc(out.data.data, (size_t)room);
                assert_non_null(out.data.data);
            }
            memcpy(out.data.data + out.data.size, part, (size_t)got);
            out.data.size += (size_t)got;
        }
        free(part);
    }
    rec_source_release(source);
    rec_source_release(stream);
    rec_source_release(parent);
    free(copy);
    (void)lr_job_end(&job);
    snprintf(out.message, sizeof out.message, "%s", out.status == REC_OK ? "" : rec_error_message());
    out.offset = out.status == REC_OK ? 0 : rec_error_offset();
    out.notes = rec_report_count();
    return out;
}

/* All ways agree with zlib's. @return its status. */
static int32_t compare(rec_context *context, bytes in, const bytes *expected, bool thorough)
{
    static const way ways[] = {
        {true, false, 2, 0},      {true, false, 1, 0},      {true, false, 2, 100000}, {true, false, 5, 0},
        {true, false, 1, 5000},   {true, true, 2, 0},       {true, true, 2, 300},     {true, false, 1, 262144},
        {true, false, 3, 262144}, {true, true, 1, 1 << 20},
    };
    outcome good = inflate_by(context, in, (way){false, false, 1, 0});
    if (expected) {
        assert_int_equal(good.status, REC_OK);
        assert_int_equal(good.data.size, expected->size);
        assert_memory_equal(good.data.data, expected->data, expected->size);
    }
    for (size_t i = 0; i < (thorough ? sizeof ways / sizeof *ways : 3); i += sparsely()) {
        outcome one = inflate_by(context, in, ways[i]);
        assert_int_equal(one.status, good.status);
        assert_string_equal(one.message, good.message);
        assert_int_equal(one.offset, good.offset);
        assert_int_equal(one.notes, good.notes);
        if (good.status == REC_OK) {
            assert_int_equal(one.data.size, good.data.size);
            assert_memory_equal(one.data.data, good.data.data, good.data.size);
        }
        free(one.data.data);
    }
    free(good.data.data);
    return good.status;
}

/* @return pieces that were inflated by an index. */
static uint64_t pieces_of(rec_context *context, bytes in, uint64_t part)
{
    rec_job job;
    uint8_t *out = malloc((size_t)part);
    uint64_t got = 1, full, pieces;
    bool gives_up = false;
    assert_int_equal(rec_context_set_threads(context, 2), REC_OK);
    lr_job_begin(&job, context, "load", "test.gz");
    rec_source *parent = lr_source_memory(&job, in.data, in.size, "test.gz");
    lr_quick *quick = lr_quick_new(parent);
    assert_non_null(quick);
    while (got && !gives_up) {
        assert_int_equal(lr_quick_read(quick, &job, out, part, &got, &gives_up), REC_OK);
    }
    assert_int_equal(lr_quick_ended(quick, &full), !gives_up);
    pieces = gives_up ? 0 : lr_quick_pieces(quick);
    lr_quick_free(quick);
    rec_source_release(parent);
    assert_int_equal(lr_job_end(&job), REC_OK);
    free(out);
    return pieces;
}

/* --------------------------------------------------------------------------------------------------- good ones -- */

static void files_of_any_size_are_the_same_either_way(void **state)
{
    static const size_t sizes[] = {0, 1, 1000, 40000, 65536, 300000, PIECE, PIECE + 1, 3 * PIECE - 1, 9 * PIECE + 77};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i += sparsely()) {
        lr_gzip_index index;
        bytes data = make_data(sizes[i]);
        for (size_t merged = 0; merged <= (sizes[i] ? 8 : 0); merged = merged * 2 + !merged) {
            bytes packed = pack(data, PIECE, merged, &index, NULL);
            (void)compare(*state, packed, &data, true);
            if (merged == 1) {
                assert_int_equal(pieces_of(*state, packed, 4 << 20), (sizes[i] + PIECE - 1) / PIECE);
                assert_int_equal(pieces_of(*state, packed, 262144), (sizes[i] + PIECE - 1) / PIECE);
            } else if (merged) { /* pieces of very different sizes are not found in their stretch */
                assert_true(pieces_of(*state, packed, 4 << 20) > 0);
            }
            free(packed.data);
        }
        free(data.data);
    }
}

static void pieces_may_have_any_size(void **state)
{
    static const size_t pieces[] = {1000, 65536, 200000, PIECE + 1, 3 << 20, 5 << 20};
    bytes data = make_data(11 << 20);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i += sparsely()) {
        lr_gzip_index index;
        size_t merged = (data.size / pieces[i] + LR_GZIP_STRETCHES) / LR_GZIP_STRETCHES;
        bytes packed = pack(data, pieces[i], merged, &index, NULL);
        (void)compare(*state, packed, &data, true);
        free(packed.data);
    }
    free(data.data);
}

static void members_and_padding_are_the_same_either_way(void **state)
{
    static const uint8_t zeros[600] = {0};
    static const uint8_t named[] = {
        0x1f, 0x8b, 8, 8 + 16 + 4 + 1, 1, 2, 3, 4, 0, 3, 3, 0, 'a', 'b', 'c', 'm', 'o', 'd', 'e', 'l', 0, '!', 0};
    static const uint8_t odd[] = {0x1f, 0x8b, 8, 0x20, 0, 0, 0, 0, 0, 3};
    lr_gzip_index index;
    bytes data = make_data(700000), packed = pack(data, PIECE, 0, &index, NULL), all = {NULL, 0}, twice = {NULL, 0};
    append(&all, packed.data, packed.size);
    append(&all, named, sizeof named);
    append(&all, packed.data + 10, packed.size - 10);
    append(&twice, data.data, data.size);
    append(&twice, data.data, data.size);
    (void)compare(*state, all, &twice, true);
    append(&all, zeros, sizeof zeros);
    (void)compare(*state, all, &twice, true);
    append(&all, "x", 1);
    assert_int_equal(compare(*state, all, NULL, true), REC_E_FORMAT);
    all.size = packed.size;
    append(&all, odd, sizeof odd);
    append(&all, packed.data + 10, packed.size - 10);
    assert_int_equal(compare(*state, all, NULL, true), REC_E_FORMAT);
    for (size_t cut = 0; cut < sizeof named; cut++) {
        all.size = packed.size;
        append(&all, named, cut);
        (void)compare(*state, all, NULL, false);
    }
    free(all.data);
    free(twice.data);
    free(packed.data);
    free(data.data);
}

/* ------------------------------------------------------------------------------------------------------ damage -- */

static void every_cut_is_the_same_either_way(void **state)
{
    lr_gzip_index index;
    size_t begins[8];
    bytes data = make_data(3 * PIECE + 5000), packed = pack(data, PIECE, 1, &index, begins);
    for (size_t cut = 0; cut < packed.size; cut += 1 + random_below(60000 * sparsely())) {
        assert_int_equal(compare(*state, (bytes){packed.data, cut}, NULL, false), REC_E_FORMAT);
    }
    for (size_t i = 0; i < 4; i++) {
        for (size_t off = 0; off < 7; off++) {
            assert_int_equal(compare(*state, (bytes){packed.data, begins[i] + off - 3}, NULL, false), REC_E_FORMAT);
        }
    }
    for (size_t left = 1; left < 12; left++) {
        assert_int_equal(compare(*state, (bytes){packed.data, packed.size - left}, NULL, true), REC_E_FORMAT);
    }
    free(packed.data);
    free(data.data);
}

static void every_flipped_byte_is_the_same_either_way(void **state)
{
    lr_gzip_index index;
    bytes data = make_data(4 * PIECE + 9000), packed = pack(data, PIECE, 1, &index, NULL);
    size_t at = 0;
    while (at < packed.size) {
        uint8_t was = packed.data[at];
        packed.data[at] ^= (uint8_t)(1 + random_below(255));
        (void)compare(*state, packed, NULL, false);
        packed.data[at] = was;
        /* the header and the index, then here and there, then the sums */
        at += at < 80                 ? sparsely()
              : at + 12 < packed.size ? 1 + random_below((at < 2048 ? 200 : 40000) * sparsely())
                                      : 1;
        at = at > packed.size - 12 && at < packed.size - 8 ? packed.size - 8 : at;
    }
    free(packed.data);
    free(data.data);
}

/* The file is good, the index is not: it is the same file. */
static void a_lying_index_changes_nothing(void **state)
{
    lr_gzip_index index, lie;
    bytes data = make_data(5 * PIECE + 100), packed = pack(data, PIECE, 1, &index, NULL);
    for (unsigned i = 0; i < 60; i += sparsely()) {
        uint32_t one = random_below(index.count - 1), other = one + 1, by = 1 + random_below(i % 2 ? 5 : 200000);
        lie = index;
        if (i % 5 == 4) { /* pieces of another size */
            lie.span = PIECE * 2;
            lie.count = 3;
            lie.sizes[0] += lie.sizes[1] - by;
            lie.sizes[1] = lie.sizes[2] + lie.sizes[3] + by;
            lie.sizes[2] = lie.sizes[4] + lie.sizes[5];
        } else if (i % 5 == 3) { /* more bytes than there are, and fewer */
            lie.inflated += i % 2 ? 1 + by % (PIECE - 100) : (uint64_t)0 - 50;
        } else { /* a piece begins elsewhere */
            by = by < lie.sizes[other] ? by : lie.sizes[other] - 1;
            lie.sizes[one] += by;
            lie.sizes[other] -= by;
        }
        lr_gzip_index_put(&lie, packed.data);
        (void)compare(*state, packed, &data, i < 10);
    }
    free(packed.data);
    free(data.data);
}

/* Pieces that are none: nothing is flushed, or matches reach over the border that the index says there is. */
static void an_index_of_one_stream_changes_nothing(void **state)
{
    lr_gzip_index index;
    bytes data = make_data(3 * PIECE), packed = pack(data, SIZE_MAX / 2, 0, &index, NULL),
          all = {malloc(LR_GZIP_HEADER), LR_GZIP_HEADER};
    size_t third = (packed.size - 18) / 3;
    lr_gzip_index_begin(&index, PIECE);
    assert_true(lr_gzip_index_add(&index, PIECE, third) && lr_gzip_index_add(&index, PIECE, third) &&
                lr_gzip_index_add(&index, PIECE, packed.size - 18 - 2 * third));
    lr_gzip_index_put(&index, all.data);
    append(&all, packed.data + 10, packed.size - 10);
    (void)compare(*state, all, &data, true);
    assert_int_equal(pieces_of(*state, all, 4 << 20), 0);
    free(all.data);
    free(packed.data);
    free(data.data);
}

/* Marks of a flush within the data of a stretch must not be taken for the end of a piece. */
static void marks_in_the_data_are_no_ends_of_pieces(void **state)
{
    bytes data = {calloc(1, 4 * PIECE), 4 * PIECE}, packed = {malloc(LR_GZIP_HEADER), LR_GZIP_HEADER};
    lr_gzip_index index;
    size_t stored = 0;
    for (size_t i = 0; i + 4 <= data.size; i += 4) { /* all of it is marks */
        memcpy(data.data + i, "\0\0\xff\xff", 4);
    }
    lr_gzip_index_begin(&index, 2 * PIECE);
    for (size_t at = 0; at < data.size; at += 32768) {
        bool last = at + 32768 == data.size;
        uint8_t header[5] = {last, 0, 0x80, 0xff, 0x7f};
        append(&packed, header, sizeof header);
        append(&packed, data.data + at, 32768);
        stored += sizeof header + 32768;
    }
    assert_true(lr_gzip_index_add(&index, 2 * PIECE, stored / 2) &&
                lr_gzip_index_add(&index, 2 * PIECE, stored - stored / 2));
    lr_gzip_index_put(&index, packed.data);
    append_sums(&packed, data);
    (void)compare(*state, packed, &data, true);
    assert_int_equal(pieces_of(*state, packed, 4 << 20), 2);
    free(packed.data);
    free(data.data);
}

static void bombs_meet_the_limit_either_way(void **state)
{
    lr_gzip_index index;
    bytes data = {calloc(1, 12 << 20), 12 << 20};
    rec_limits limits = rec_limits_default();
    limits.inflated_factor = 64;
    for (uint64_t slack = 0; slack < 3; slack++) {
        for (size_t merged = 0; merged < 3; merged++) {
            bytes packed = pack(data, PIECE, merged, &index, NULL);
            /* nothing above it; all but a byte; all */
            limits.inflated_slack = slack ? data.size - packed.size * limits.inflated_factor - 2 + slack : 0;
            assert_int_equal(rec_context_set_limits(*state, &limits), REC_OK);
            /* not as a stream: the filter in front counts, too, as far as it has been read */
            assert_int_equal(compare(*state, packed, slack == 2 ? &data : NULL, false),
                             slack == 2 ? REC_OK : REC_E_LIMIT);
            free(packed.data);
        }
    }
    free(data.data);
}

/* Read in part, again from the beginning, as a whole, and released while threads are at work. */
static void reading_may_begin_again_anywhere(void **state)
{
    lr_gzip_index index;
    bytes data = make_data(6 * PIECE + 3);
    assert_int_equal(rec_context_set_threads(*state, 3), REC_OK);
    for (size_t merged = 0; merged < 2; merged++) {
        bytes packed = pack(data, PIECE, merged, &index, NULL);
        for (unsigned i = 0; i < 40; i += sparsely()) {
            rec_job job;
            rec_source *source = NULL;
            uint8_t *out = malloc(data.size);
            uint64_t got, at = 0;
            lr_job_begin(&job, *state, "load", "test.gz");
            rec_source *parent = lr_source_memory(&job, packed.data, packed.size, "test.gz");
            assert_int_equal(lr_gzip_source(&job, parent, &source), REC_OK);
            for (int parts = (int)random_below(12); parts >= 0; parts--) {
                uint64_t room = 1 + random_below(parts % 3 ? 300000 : 3 << 20);
                room = room < data.size - at ? room : data.size - at;
                if (random_below(8) == 0) {
                    assert_int_equal(rec_source_rewind(&job, source), REC_OK);
                    at = 0;
                }
                if (room) {
                    assert_int_equal(rec_source_read(&job, source, out, room, &got), REC_OK);
                    assert_true(got > 0 && got <= room);
                    assert_memory_equal(out, data.data + at, (size_t)got);
                    at += got;
                }
            }
            if (i % 2) {
                const void *view;
                assert_int_equal(rec_source_view(&job, source, &view, &got), REC_OK);
                assert_int_equal(got, data.size);
                assert_memory_equal(view, data.data, data.size);
            }
            rec_source_release(source);
            rec_source_release(parent);
            assert_int_equal(lr_job_end(&job), REC_OK);
            free(out);
        }
        free(packed.data);
    }
    free(data.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_of_any_size_are_the_same_either_way, setup, teardown),
        cmocka_unit_test_setup_teardown(pieces_may_have_any_size, setup, teardown),
        cmocka_unit_test_setup_teardown(members_and_padding_are_the_same_either_way, setup, teardown),
        cmocka_unit_test_setup_teardown(every_cut_is_the_same_either_way, setup, teardown),
        cmocka_unit_test_setup_teardown(every_flipped_byte_is_the_same_either_way, setup, teardown),
        cmocka_unit_test_setup_teardown(a_lying_index_changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(an_index_of_one_stream_changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(marks_in_the_data_are_no_ends_of_pieces, setup, teardown),
        cmocka_unit_test_setup_teardown(bombs_meet_the_limit_either_way, setup, teardown),
        cmocka_unit_test_setup_teardown(reading_may_begin_again_anywhere, setup, teardown),
    };
    return cmocka_run_group_tests_name("gunzip", tests, NULL, NULL);
}
