/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The inflater beside zlib: the same bytes and the same verdict, whatever the data, the damage and the parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <zlib.h>

#include "plugins/codec/gzip/inflate.h"

typedef struct bytes {
    uint8_t *data;
    size_t size;
} bytes;

static uint64_t seed = 88172645463325252u;

static uint32_t random_below(uint32_t most)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 20) % most);
}

enum { NOISE, ZEROS, NUMBERS, SPARSE, TEXT, PERIODS, DISTANT, KINDS };

static bytes make_data(int kind, size_t size)
{
    bytes made = {malloc(size + 1), size};
    assert_non_null(made.data);
    for (size_t i = 0; i < size;) {
        switch (kind) {
        case ZEROS:
            made.data[i++] = 0;
            break;
        case NUMBERS: /* three bytes of noise, one of few values */
            made.data[i] =
                i % 4 == 3 ? (uint8_t)(0x3c + random_below(3) * random_below(2)) : (uint8_t)random_below(256);
            i++;
            break;
        case SPARSE:
            made.data[i] = (i / 4 * 2654435761u >> 7) % 10 < 7 ? 0 : (uint8_t)random_below(256);
            i++;
            break;
        case TEXT:
            i += (size_t)snprintf((char *)made.data + i, size - i + 1, "%u,", random_below(256));
            break;
        case PERIODS: { /* of every length that a match has a way of its own for, and longer ones */
            size_t period = 1 + random_below(40), times = 1 + random_below(30), from = i;
            while (i < size && i < from + period) {
                made.data[i++] = (uint8_t)random_below(256);
            }
            for (size_t end = i + period * times; i < size && i < end; i++) {
                made.data[i] = made.data[i - period];
            }
            break;
        }
        case DISTANT: /* as far back as zlib goes */
            made.data[i] = i < 32506 || random_below(100) == 0 ? (uint8_t)random_below(256) : made.data[i - 32506];
            i++;
            break;
        default:
            made.data[i++] = (uint8_t)random_below(256);
        }
    }
    return made;
}

/* Raw Deflate data. @param flush how each part of `piece` bytes but the last ends. @param ends (out) where, or NULL. */
static bytes deflate_raw(bytes in, int level, int strategy, size_t piece, int flush, size_t *ends)
{
    z_stream stream = {0};
    bytes made;
    assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, -15, 8, strategy), Z_OK);
    made.size = deflateBound(&stream, in.size) + 64 * (in.size / piece + 1);
    made.data = malloc(made.size);
    stream.next_out = made.data;
    stream.avail_out = (uInt)made.size;
    for (size_t at = 0, i = 0; i == 0 || at < in.size; at += piece, i++) {
        bool last = in.size - at <= piece;
        stream.next_in = in.data + at;
        stream.avail_in = (uInt)(last ? in.size - at : piece);
        assert_int_equal(deflate(&stream, last ? Z_FINISH : flush), last ? Z_STREAM_END : Z_OK);
        if (ends) {
            ends[i] = stream.total_out;
        }
    }
    made.size = stream.total_out;
    assert_int_equal(deflateEnd(&stream), Z_OK);
    made.data = realloc(made.data, made.size);
    return made;
}

static lr_inflater *inflater_new(void)
{
    lr_inflater *self = malloc(sizeof *self);
    assert_non_null(self);
    memset(self, 0xa5, sizeof *self); /* what is not set is not used */
    lr_inflate_begin(self);
    return self;
}

/* All at once, into room for exactly `room` bytes. @return why it stopped; END only without input left. */
static lr_inflate_stop all_at_once(bytes in, size_t room, bytes *out)
{
    lr_inflater *self = inflater_new();
    uint8_t *exact = malloc(in.size ? in.size : 1);
    lr_inflate_stop stop;
    memcpy(exact, in.data, in.size);
    out->data = malloc(room ? room : 1);
    self->in = exact;
    self->in_end = exact + in.size;
    self->last = true;
    self->out = out->data;
    self->begin = out->data;
    self->out_end = out->data + room;
    self->window = NULL;
    self->window_size = 0;
    stop = lr_inflate(self);
    out->size = (size_t)(self->out - out->data);
    assert_true(self->in <= self->in_end && self->out <= self->out_end);
    if (stop == LR_INFLATE_END) {
        assert_ptr_equal(self->in, self->in_end);
    }
    free(exact);
    free(self);
    return stop;
}

/* Input and room come in parts of any size; each part of the output is elsewhere. */
static lr_inflate_stop in_parts(bytes in, bytes expected, uint32_t most_in, uint32_t most_out)
{
    lr_inflater *self = inflater_new();
    uint8_t *window = malloc(LR_INFLATE_WINDOW), *part = NULL, *input = NULL;
    size_t given = 0, made = 0, window_size = 0, held = 0;
    lr_inflate_stop stop = LR_INFLATE_INPUT;
    self->in = self->in_end = NULL;
    self->out = self->out_end = NULL;
    self->begin = NULL;
    self->last = false;
    while (stop == LR_INFLATE_INPUT || stop == LR_INFLATE_ROOM) {
        if (stop == LR_INFLATE_INPUT) {
            size_t left = (size_t)(self->in_end - self->in), more = 1 + random_below(most_in);
            assert_false(self->last);
            more = more < in.size - given ? more : in.size - given;
            uint8_t *next = malloc(left + more ? left + more : 1);
            if (left) {
                memcpy(next, self->in, left);
            }
            memcpy(next + left, in.data + given, more);
            given += more;
            free(input);
            input = next;
            held = left + more;
            self->in = input;
            self->in_end = input + held;
            self->last = given == in.size;
        }
        {
            size_t room = 1 + random_below(most_out), size;
            free(part);
            part = malloc(room);
            self->out = part;
            self->begin = part;
            self->out_end = part + room;
            /* exactly as much as there is, so that a sanitizer sees what is read before it */
            uint8_t *before = malloc(window_size ? window_size : 1);
            memcpy(before, window, window_size);
            self->window = before + window_size;
            self->window_size = (uint32_t)window_size;
            stop = lr_inflate(self);
            free(before);
            size = (size_t)(self->out - part);
            if (stop == LR_INFLATE_ROOM) {
                assert_int_equal(size, room);
            }
            assert_true(size <= expected.size - made);
            assert_memory_equal(part, expected.data + made, size);
            made += size;
            window_size = made < LR_INFLATE_WINDOW ? made : LR_INFLATE_WINDOW;
            memcpy(window, expected.data + made - window_size, window_size);
        }
    }
    assert_int_equal(made, expected.size);
    free(window);
    free(part);
    free(input);
    free(self);
    return stop;
}

static const struct {
    int level, strategy;
} ways[] = {{0, Z_DEFAULT_STRATEGY},
            {1, Z_DEFAULT_STRATEGY},
            {6, Z_DEFAULT_STRATEGY},
            {9, Z_DEFAULT_STRATEGY},
            {6, Z_HUFFMAN_ONLY},
            {6, Z_RLE},
            {6, Z_FIXED},
            {6, Z_FILTERED}};
enum { WAYS = sizeof ways / sizeof *ways };

static void what_zlib_deflates_is_inflated(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 100, 319, 320, 321, 5000, 70000, 400000};
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            bytes data = make_data(kind, sizes[s]);
            for (int way = 0; way < WAYS; way++) {
                bytes packed = deflate_raw(data, ways[way].level, ways[way].strategy, SIZE_MAX, Z_NO_FLUSH, NULL), out;
                for (int plain = 0; plain < 2; plain++) {
                    lr_inflate_choose(plain);
                    for (size_t spare = 0; spare < 1000; spare = spare * 20 + 19) {
                        assert_int_equal(all_at_once(packed, data.size + spare, &out), LR_INFLATE_END);
                        assert_int_equal(out.size, data.size);
                        assert_memory_equal(out.data, data.data, data.size);
                        free(out.data);
                    }
                    assert_int_equal(in_parts(packed, data, 3000, 9000), LR_INFLATE_END);
                    if (data.size <= 5000) {
                        assert_int_equal(in_parts(packed, data, 1, 1), LR_INFLATE_END);
                        assert_int_equal(in_parts(packed, data, 7, 400), LR_INFLATE_END);
                    }
                }
                if (data.size) { /* one byte of room is missing */
                    assert_int_equal(all_at_once(packed, data.size - 1, &out), LR_INFLATE_ROOM);
                    assert_int_equal(out.size, data.size - 1);
                    assert_memory_equal(out.data, data.data, data.size - 1);
                    free(out.data);
                }
                free(packed.data);
            }
            free(data.data);
        }
    }
    lr_inflate_choose(0);
}

/* zlib's opinion of raw data. @return whether they are good, and end with the input. */
static bool zlib_takes(bytes in, size_t room, bytes *out)
{
    z_stream stream = {0};
    int result;
    assert_int_equal(inflateInit2(&stream, -15), Z_OK);
    out->data = malloc(room ? room : 1);
    stream.next_in = in.data;
    stream.avail_in = (uInt)in.size;
    stream.next_out = out->data;
    stream.avail_out = (uInt)room;
    result = inflate(&stream, Z_FINISH);
    out->size = stream.total_out;
    in.size = stream.avail_in;
    assert_int_equal(inflateEnd(&stream), Z_OK);
    return result == Z_STREAM_END && in.size == 0;
}

/* The same verdict, and the same bytes if they are good. @return whether they are. */
static bool compare(bytes in, size_t room)
{
    bytes ours, theirs;
    lr_inflater *self = inflater_new();
    lr_inflate_stop stop;
    bool good = zlib_takes(in, room, &theirs), end;
    ours.data = malloc(room);
    uint8_t *exact = malloc(in.size ? in.size : 1);
    memcpy(exact, in.data, in.size);
    self->in = exact;
    self->in_end = exact + in.size;
    self->last = true;
    self->out = ours.data;
    self->begin = ours.data;
    self->out_end = ours.data + room;
    self->window = NULL;
    self->window_size = 0;
    stop = lr_inflate(self);
    ours.size = (size_t)(self->out - ours.data);
    end = stop == LR_INFLATE_END && self->in == self->in_end;
    assert_int_equal(end, good);
    if (good) {
        assert_int_equal(ours.size, theirs.size);
        assert_memory_equal(ours.data, theirs.data, ours.size);
    }
    free(exact);
    free(ours.data);
    free(theirs.data);
    free(self);
    return good;
}

static void damage_is_seen_where_zlib_sees_it(void **state)
{
    int good = 0, bad = 0;
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int way = 0; way < WAYS; way++) {
            bytes data = make_data(kind, 1500), packed;
            packed = deflate_raw(data, ways[way].level, ways[way].strategy, SIZE_MAX, Z_NO_FLUSH, NULL);
            for (size_t i = 0; i < packed.size; i++) {
                /* the codes are at the beginning: each of their bits; elsewhere one bit a byte */
                for (unsigned bit = 0; bit < 8; bit += i < 120 ? 1 : 8) {
                    unsigned one = i < 120 ? bit : random_below(8);
                    packed.data[i] ^= (uint8_t)(1u << one);
                    *(compare(packed, 4000) ? &good : &bad) += 1;
                    packed.data[i] ^= (uint8_t)(1u << one);
                }
            }
            for (size_t cut = 0; cut < packed.size; cut += cut < 120 ? 1 : 13) {
                assert_false(compare((bytes){packed.data, cut}, 4000));
            }
            free(packed.data);
            free(data.data);
        }
    }
    assert_true(good > 1000 && bad > 10000);
}

/* Noise behind the first bits of each kind of block; most of it ends soon. */
static void noise_is_what_zlib_says_it_is(void **state)
{
    uint8_t noise[400];
    int good = 0;
    (void)state;
    for (int i = 0; i < 60000; i++) {
        size_t size = 1 + random_below(i % 10 ? 40 : sizeof noise);
        for (size_t k = 0; k < size; k++) {
            noise[k] = (uint8_t)random_below(256);
        }
        if (i % 3) {
            noise[0] = (uint8_t)((noise[0] & 0xf8) | (i % 3 == 1 ? 5 : 3)); /* own codes, Deflate's codes */
        }
        /* zlib tells where good data end: what is behind is none of them */
        z_stream stream = {.next_in = noise, .avail_in = (uInt)size};
        uint8_t out[4096];
        assert_int_equal(inflateInit2(&stream, -15), Z_OK);
        stream.next_out = out;
        stream.avail_out = sizeof out;
        if (inflate(&stream, Z_FINISH) == Z_STREAM_END) {
            size -= stream.avail_in;
            good++;
        }
        assert_int_equal(inflateEnd(&stream), Z_OK);
        (void)compare((bytes){noise, size}, sizeof out);
    }
    assert_true(good > 100);
}

static void four_streams_are_inflated_side_by_side(void **state)
{
    enum { PIECE = 100000, COUNT = 4 };
    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        lr_inflate_choose(plain);
        for (int kinds = 0; kinds < KINDS * KINDS; kinds++) {
            lr_inflater *four = malloc(COUNT * sizeof *four);
            lr_inflate_stop stops[COUNT];
            bytes data[COUNT], packed[COUNT];
            uint8_t *out[COUNT];
            memset(four, 0x5a, COUNT * sizeof *four);
            for (int i = 0; i < COUNT; i++) {
                size_t ends[2], size = PIECE - (size_t)random_below(i == 3 && kinds % 5 == 0 ? PIECE : 1000);
                data[i] = make_data(i % 2 ? kinds % KINDS : kinds / KINDS, size + 1);
                /* what is there of the first piece, which does not end the stream, or all */
                packed[i] = deflate_raw(data[i], ways[(kinds + i) % WAYS].level, ways[(kinds + i) % WAYS].strategy,
                                        i < 3 ? size : SIZE_MAX, Z_FULL_FLUSH, ends);
                packed[i].size = ends[0];
                packed[i].data = realloc(packed[i].data, ends[0]);
                data[i].size = i < 3 ? size : size + 1;
                out[i] = malloc(data[i].size);
                lr_inflate_begin(&four[i]);
                four[i].in = packed[i].data;
                four[i].in_end = packed[i].data + packed[i].size;
                four[i].last = true;
                four[i].out = out[i];
                four[i].begin = out[i];
                four[i].out_end = out[i] + data[i].size;
                four[i].window_size = 0;
            }
            int bad = kinds % 3 == 0 ? (int)random_below(COUNT) : -1;
            if (bad >= 0) { /* one that is damaged does the others no harm */
                packed[bad].data[packed[bad].size / 2] ^= 0x55;
            }
            lr_inflate_four(four, stops);
            for (int i = 0; i < COUNT; i++) {
                assert_true(four[i].in <= four[i].in_end && four[i].out <= four[i].out_end);
                if (i != bad) {
                    assert_int_equal(stops[i], i < 3 ? LR_INFLATE_CUT : LR_INFLATE_END);
                    assert_ptr_equal(four[i].in, four[i].in_end);
                    assert_ptr_equal(four[i].out, four[i].out_end);
                    assert_memory_equal(out[i], data[i].data, data[i].size);
                }
                free(out[i]);
                free(data[i].data);
                free(packed[i].data);
            }
            free(four);
        }
    }
    lr_inflate_choose(0);
}

/* A match may not begin before the first byte that there is. */
static void nothing_before_the_beginning_is_read(void **state)
{
    bytes data = make_data(DISTANT, 66000);
    size_t ends[2];
    bytes packed = deflate_raw(data, 9, Z_DEFAULT_STRATEGY, 33000, Z_SYNC_FLUSH, ends), out;
    bytes second = {packed.data + ends[0], packed.size - ends[0]};
    (void)state;
    assert_int_equal(all_at_once(second, 66000, &out), LR_INFLATE_BAD);
    free(out.data);
    assert_false(zlib_takes(second, 66000, &out));
    free(out.data);
    free(packed.data);
    free(data.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_zlib_deflates_is_inflated),
        cmocka_unit_test(damage_is_seen_where_zlib_sees_it),
        cmocka_unit_test(noise_is_what_zlib_says_it_is),
        cmocka_unit_test(four_streams_are_inflated_side_by_side),
        cmocka_unit_test(nothing_before_the_beginning_is_read),
    };
    return cmocka_run_group_tests_name("inflate", tests, NULL, NULL);
}
