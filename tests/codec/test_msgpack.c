/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The MessagePack codec: what its reader says of bytes, what its writer makes of events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <glob.h>
#include <cmocka.h>

#include "core/io/io.h"
#include "plugins/codec/msgpack/msgpack.h"
#include "plugins/codec/msgpack/numbers.h"
#include "tests/codec/listener.h"
#include "tests/custom_sink.h"
#include "tests/shared.h"

/* Reads `size` bytes; the message and report are then in the thread's last error and report. */
static int32_t read_with(rec_context *context, const void *data, size_t size, const rec_visitor *visitor, void *self)
{
    rec_job job;
    /* An exact copy, so that a sanitizer sees the first byte that is read beyond it. */
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    lr_job_begin(&job, context, "load", "test.mpk");
    rec_source *source = lr_source_memory(&job, copy, size, "test.mpk");
    assert_non_null(source);
    int32_t status = lr_msgpack_read(&job, source, visitor, self);
    rec_source_release(source);
    free(copy);
    assert_int_equal(lr_job_end(&job), status);
    return status;
}

static int32_t read_text(rec_context *context, const void *data, size_t size, listener *l)
{
    hear_anew(l);
    return read_with(context, data, size, &listening, l);
}

/* Bytes written as "c4 01-ff": hex digits with anything between the pairs. @return how many. */
static size_t from_hex(const char *hex, uint8_t *out, size_t room)
{
    size_t count = 0;
    while (*hex && *hex != '"') {
        unsigned value;
        if (strchr(" -", *hex)) {
            hex++;
            continue;
        }
        assert_int_equal(sscanf(hex, "%2x", &value), 1);
        assert_true(count < room);
        out[count++] = (uint8_t)value;
        hex += 2;
    }
    return count;
}

/* ------------------------------------------------------------------------------------------------ what is read -- */

static void a_nested_record_is_read_with_its_offsets(void **state)
{
    static const char hex[] = "84 a1 61 01"                                   /* "a": 1 */
                              "   a1 62 93 c4 02 68 69 c0 a0"                 /* "b": [bytes, nil, ""] */
                              "   01 de 00 01 c3 ff"                          /* 1: {true: -1} */
                              "   d9 01 64 92 90 dd 00 00 00 02 05 d1 80 00"; /* "d": [[], [5, -32768]] */
    uint8_t data[64];
    size_t size = from_hex(hex, data, sizeof data);
    listener l = new_listener();
    l.offsets = true;
    assert_int_equal(read_text(*state, data, size, &l), REC_OK);
    assert_string_equal(l.text, "0:{4 1:\"a\"= 3:1 4:\"b\"= 6:[3 7:@9 \"68-69\" 11:null 12:\"\" 13:end "
                                "13:1= 14:{1 17:true= 18:-1 19:end 19:\"d\"= 22:[2 23:[0 24:end 24:[2 29:i64 5,-32768 "
                                "33:end 33:end 33:end");
    free(l.text);
}

static void bytes_are_lent_from_the_view_of_the_source(void **state)
{
    static const uint8_t data[] = {0x81, 0xa1, 'k', 0xc5, 0, 3, 1, 2, 3};
    listener l = new_listener();
    rec_job job;
    lr_job_begin(&job, *state, "load", "test.mpk");
    rec_source *source = lr_source_memory(&job, data, sizeof data, "test.mpk");
    assert_int_equal(lr_msgpack_read(&job, source, &listening, &l), REC_OK);
    assert_ptr_equal(l.data, data + 6);
    assert_ptr_equal(l.source, source);
    rec_source_release(source);
    lr_job_end(&job);
    free(l.text);
}

static void runs_hold_one_type_each_and_change_where_the_type_does(void **state)
{
    static const struct {
        const char *hex, *text; /* the value, and what is heard between `"v"` and the end of the map */
    } cases[] = {
        {"93 01 cc 80 e0", "3:[3 4:i64 1,128,-32 8:end"},
        {"92 01 cf ff ff ff ff ff ff ff ff", "3:[2 4:u64 1,18446744073709551615 14:end"},
        {"93 cf 80 00 00 00 00 00 00 00 07 06", "3:[3 4:u64 9223372036854775808,7,6 15:end"},
        {"93 ff cf 80 00 00 00 00 00 00 00 ff", "3:[3 4:i64 -1 5:u64 9223372036854775808 14:i64 -1 15:end"},
        {"92 ca 3f 80 00 00 cb 3f f0 00 00 00 00 00 00", "3:[2 4:f32 1 9:f64 1 18:end"},
        {"94 c2 c3 01 c3", "3:[4 4:bool false,true 6:i64 1 7:bool true 8:end"},
        {"95 01 c0 02 a0 03", "3:[5 4:i64 1 5:null 6:i64 2 7:\"\" 8:i64 3 9:end"},
        {"93 01 90 02", "3:[3 4:i64 1 5:[0 6:end 6:i64 2 7:end"},
    };
    listener l = new_listener();
    l.offsets = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t data[64] = {0x81, 0xa1, 'v'};
        char expected[256];
        size_t size = 3 + from_hex(cases[i].hex, data + 3, sizeof data - 3);
        assert_int_equal(read_text(*state, data, size, &l), REC_OK);
        snprintf(expected, sizeof expected, "0:{1 1:\"v\"= %s %zu:end", cases[i].text, size);
        assert_string_equal(l.text, expected);
    }
    free(l.text);
}

static void a_long_list_comes_in_runs_without_a_gap(void **state)
{
    enum { COUNT = 10000 };
    uint8_t *data = malloc(8 + COUNT * 3);
    listener l = new_listener(), expected = new_listener();
    memcpy(data, "\x81\xa1v\xdd\0\0\x27\x10", 8);
    say(&expected, "{\"v\":[");
    for (unsigned i = 0; i < COUNT; i++) {
        data[8 + 3 * i] = 0xcd;
        data[9 + 3 * i] = (uint8_t)(i >> 8);
        data[10 + 3 * i] = (uint8_t)i;
        say(&expected, i ? ",%u" : "%u", i);
    }
    say(&expected, "]}");
    assert_int_equal(read_text(*state, data, 8 + COUNT * 3, &l), REC_OK);
    assert_string_equal(l.text, expected.text);
    assert_true(l.runs > 1 && l.runs < 20);
    free(l.text);
    free(expected.text);
    free(data);
}

enum { MIXED_ROOM = 40000, MIXED_MOST = 3000 };

/* A list of stretches of one kind each, as bytes and as what is to be heard. */
typedef struct mixed {
    uint8_t data[MIXED_ROOM];
    size_t size, count;
    size_t starts[MIXED_MOST + 1]; /* of the values */
    uint64_t random;
} mixed;

static uint64_t draw(mixed *m)
{
    m->random = m->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return m->random >> 20;
}

static void put_big(mixed *m, uint8_t first, uint64_t bits, unsigned width)
{
    m->data[m->size++] = first;
    for (unsigned i = width; i-- > 0;) {
        m->data[m->size++] = (uint8_t)(bits >> 8 * i);
    }
}

static void put_mixed(mixed *m, unsigned kind, listener *expected)
{
    static const uint8_t firsts[] = {0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd1, 0xd2, 0xd3};
    uint64_t bits = draw(m) << (draw(m) % 30);
    unsigned width;
    uint32_t narrow;
    float single = (float)(int32_t)bits / 64;
    double number = (double)(int64_t)bits / 3;
    say(expected, m->count ? "," : "");
    m->starts[m->count++] = m->size;
    switch (kind) {
    case 0:
        memcpy(&narrow, &single, 4);
        put_big(m, 0xca, narrow, 4);
        say(expected, "%.17g", (double)single);
        break;
    case 1:
        memcpy(&bits, &number, 8);
        put_big(m, 0xcb, bits, 8);
        say(expected, "%.17g", number);
        break;
    case 2: /* one byte */
        m->data[m->size++] = (uint8_t)(bits % 160 - 32);
        say(expected, "%d", (int)(bits % 160) - 32);
        break;
    case 3: /* a width and a sign */
        kind = (unsigned)(draw(m) % 8);
        width = 1u << kind % 4;
        bits &= width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * width) - 1;
        put_big(m, firsts[kind], bits, width);
        if (kind < 4) {
            say(expected, "%llu", (unsigned long long)bits);
        } else {
            say(expected, "%lld", (long long)(int64_t)(bits << (64 - 8 * width)) >> (64 - 8 * width));
        }
        break;
    case 4:
        put_big(m, 0xcf, bits | UINT64_C(1) << 63, 8);
        say(expected, "%llu", (unsigned long long)(bits | UINT64_C(1) << 63));
        break;
    case 5:
        m->data[m->size++] = 0xc0;
        say(expected, "null");
        break;
    case 6:
        m->data[m->size++] = 0xc3;
        say(expected, "true");
        break;
    default:
        m->data[m->size++] = 0x90;
        say(expected, "[]");
    }
}

static void long_lists_of_any_numbers_are_what_their_values_are(void **state)
{
    mixed *m = malloc(sizeof *m);
    listener l = new_listener(), expected = new_listener();
    assert_non_null(m);
    for (unsigned round = 0; round < 300; round++) {
        unsigned count = round * 7 % 500 + (round % 10 == 0 ? 2000u : 0u) + 1;
        *m = (mixed){.size = 6, .random = round};
        memcpy(m->data, "\x81\xa1v\xdc", 4);
        m->data[4] = (uint8_t)(count >> 8);
        m->data[5] = (uint8_t)count;
        hear_anew(&expected);
        say(&expected, "{\"v\":[");
        while (m->count < count) {
            unsigned kind = (unsigned)(draw(m) % (draw(m) % 4 ? 4 : 8));
            unsigned stretch = kind > 4 ? 1 : (unsigned)(draw(m) % (round % 3 ? 20 : 600)) + 1;
            while (stretch-- > 0 && m->count < count) {
                put_mixed(m, kind, &expected);
            }
        }
        say(&expected, "]}");
        assert_int_equal(read_text(*state, m->data, m->size, &l), REC_OK);
        assert_string_equal(l.text, expected.text);
        /* Cut short anywhere, it is told where. */
        for (unsigned i = 0; i < 40; i++) {
            size_t value = (size_t)draw(m) % m->count, at = m->starts[value];
            size_t next = value + 1 < m->count ? m->starts[value + 1] : m->size;
            l.depth = 0;
            assert_int_equal(read_text(*state, m->data, (size_t)(at + draw(m) % (next - at)), &l), REC_E_FORMAT);
            /* What lists announce, also empty ones within, is compared with what is left of the file first. */
            if (rec_error_offset() != at && !strstr(rec_error_message(), "left")) {
                fail_msg("%zu: at %llu, %s", at, (unsigned long long)rec_error_offset(), rec_error_message());
            }
            l.depth = 0;
        }
    }
    free(l.text);
    free(expected.text);
    free(m);
}

static void floats_are_the_same_by_vectors(void **state)
{
    enum { COUNT = 100 };
    uint8_t data[COUNT * LR_MSGPACK_F32];
    lr_msgpack_floats *floats;
    (void)state;
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = i % LR_MSGPACK_F32 ? (uint8_t)(i * 37 ^ i >> 3) : 0xca;
    }
    for (unsigned choice = 0; (floats = lr_msgpack_floats_choice(choice)) != NULL; choice++) {
        for (size_t count = 0; count <= COUNT; count++) {
            for (size_t bad = 0; bad <= count; bad++) {
                /* Exact copies, so that a sanitizer sees the first byte beyond them. */
                uint8_t *from = malloc(count * LR_MSGPACK_F32 + 1);
                uint32_t *to = malloc(count * sizeof *to + 1);
                memcpy(from, data, count * LR_MSGPACK_F32);
                from[bad * LR_MSGPACK_F32] = 0xcb;
                uint8_t *exact = bad < count ? from : realloc(from, count ? count * LR_MSGPACK_F32 : 1);
                assert_int_equal(floats(exact, count, (float *)(void *)to), bad);
                for (size_t i = 0; i < bad; i++) {
                    const uint8_t *p = data + i * LR_MSGPACK_F32;
                    assert_int_equal(to[i], (uint32_t)p[1] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 8 | p[4]);
                }
                free(exact);
                free(to);
            }
        }
    }
}

/* --------------------------------------------------------------------------------------------------- the suite -- */

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    if (file) {
        assert_int_equal(fseek(file, 0, SEEK_END), 0);
        long length = ftell(file);
        assert_true(length >= 0);
        rewind(file);
        data = malloc((size_t)length + 1);
        assert_non_null(data);
        *size = fread(data, 1, (size_t)length, file);
        assert_int_equal(*size, length);
        data[*size] = '\0';
        fclose(file);
    }
    return data;
}

/* One value of the suite in each of its encodings, as the value of a record's only entry. */
static void check_encodings(rec_context *context, const char *kind, const char *value, const char *encodings,
                            int *count)
{
    listener l = new_listener();
    char expected[512];
    snprintf(expected, sizeof expected, "{\"v\":%s}", value);
    for (const char *at = strchr(encodings, '['), *stop = strchr(encodings, ']');;) {
        uint8_t data[256] = {0x81, 0xa1, 'v'};
        at = strchr(at, '"');
        if (!at || at > stop) {
            break;
        }
        size_t size = 3 + from_hex(at + 1, data + 3, sizeof data - 3);
        int32_t status = read_text(context, data, size, &l);
        if (strcmp(kind, "timestamp") == 0 || strcmp(kind, "ext") == 0) {
            assert_int_equal(status, REC_E_UNSUPPORTED);
            assert_int_equal(rec_error_offset(), 3);
        } else {
            assert_int_equal(status, REC_OK);
            assert_string_equal(l.text, expected);
        }
        at = strchr(at + 1, '"') + 1;
        ++*count;
    }
    free(l.text);
}

static void every_encoding_of_the_suite_reads_as_its_value(void **state)
{
    char path[4096];
    size_t size;
    int count = 0;
    if (!shared_path(path, sizeof path, "suites/msgpack-test-suite/msgpack-test-suite.json")) {
        skip();
    }
    char *text = read_file(path, &size);
    assert_non_null(text);
    for (char *at = text, *encodings; (encodings = strstr(at, "\"msgpack\"")) != NULL; at = strchr(encodings, ']')) {
        /* The last `"kind": value,` before the encodings, white space outside of strings dropped. */
        char value[256], kind[32];
        size_t length = 0;
        char *start = encodings - 4; /* the end of the line before */
        while (start[-1] != '\n' || strncmp(start, "   \"", 4) != 0) {
            start--;
        }
        assert_int_equal(sscanf(start, " \"%31[a-z]\":", kind), 1);
        for (char *c = strchr(start, ':') + 1, quoted = 0; c < encodings; c++) {
            quoted ^= *c == '"';
            if (quoted || !strchr(" \n", *c)) {
                assert_true(length + 1 < sizeof value);
                value[length++] = *c;
            }
        }
        value[length - 1] = '\0';          /* the comma */
        if (strcmp(kind, "bignum") == 0) { /* in quotes, as JSON's readers would round it */
            memmove(value, value + 1, length - 3);
            value[length - 3] = '\0';
        }
        check_encodings(*state, kind, value, encodings, &count);
    }
    assert_true(count > 200);
    free(text);
}

/* ---------------------------------------------------------------------------------------------------- refusals -- */

static void what_is_refused_says_what_and_where(void **state)
{
    static const struct {
        const char *hex;
        int32_t status;
        const char *message;
    } cases[] = {
        {"", REC_E_FORMAT, "test.mpk: byte 0: expected a MessagePack map, found an empty file"},
        {"03", REC_E_FORMAT, "test.mpk: byte 0: expected a MessagePack map, found 0x03"},
        {"90", REC_E_FORMAT, "test.mpk: byte 0: expected a MessagePack map, found 0x90"},
        {"1f 8b 08", REC_E_FORMAT,
         "test.mpk: byte 0: expected a MessagePack map, found 0x1f 0x8b, which is how gzip begins"},
        {"81 a1 61 c1", REC_E_FORMAT,
         "test.mpk: byte 3: expected a MessagePack value, found 0xc1, which none begins with"},
        {"81 c0 01", REC_E_FORMAT,
         "test.mpk: byte 1: expected a string, an integer or a bool as the key of a map, found nil"},
        {"81 ca 00 00 00 00 01", REC_E_FORMAT,
         "test.mpk: byte 1: expected a string, an integer or a bool as the key of a map, found a float"},
        {"81 cb 00 00 00 00 00 00 00 00 01", REC_E_FORMAT,
         "test.mpk: byte 1: expected a string, an integer or a bool as the key of a map, found a float"},
        {"81 c4 00 01", REC_E_FORMAT,
         "test.mpk: byte 1: expected a string, an integer or a bool as the key of a map, found a byte string"},
        {"81 90 01", REC_E_FORMAT,
         "test.mpk: byte 1: expected a string, an integer or a bool as the key of a map, found a list"},
        {"81 80 01", REC_E_FORMAT,
         "test.mpk: byte 1: expected a string, an integer or a bool as the key of a map, found a map"},
        {"81 a1 61 d4 01 10", REC_E_UNSUPPORTED,
         "test.mpk: byte 3: expected a value that a Burn record can hold, found a MessagePack extension (0xd4)"},
        {"81 a1 61 c7 ff", REC_E_UNSUPPORTED,
         "test.mpk: byte 3: expected a value that a Burn record can hold, found a MessagePack extension (0xc7)"},
        {"81 a1 61", REC_E_FORMAT, "test.mpk: byte 3: the data end inside a map: at least 1 more byte is needed"},
        {"82 a1 61 93 01", REC_E_FORMAT, "test.mpk: byte 3: 3 elements are announced, but only 1 byte is left"},
        {"81 a1 61 93 01 02 cd 01", REC_E_FORMAT,
         "test.mpk: byte 6: the data end inside a number: at least 1 more byte is needed"},
        {"82 a1 61 c4 05 01 02 03", REC_E_FORMAT,
         "test.mpk: byte 3: the data end inside a byte string: at least 4 more bytes are needed"},
        {"81 a3 61 62", REC_E_FORMAT,
         "test.mpk: byte 1: the data end inside a string: at least 2 more bytes are needed"},
        {"81 a1 61 db 00 00", REC_E_FORMAT,
         "test.mpk: byte 3: the data end inside a string: at least 2 more bytes are needed"},
        {"81 a1 61 dd 00", REC_E_FORMAT,
         "test.mpk: byte 3: the data end inside a list: at least 3 more bytes are needed"},
        {"81 a1 61 c6 ff ff ff ff", REC_E_FORMAT,
         "test.mpk: byte 3: the data end inside a byte string: at least 4,294,967,295 more bytes are needed"},
        {"81 a1 61 dd ff ff ff ff 00", REC_E_FORMAT,
         "test.mpk: byte 3: 4,294,967,295 elements are announced, but only 1 byte is left"},
        {"df ff ff ff ff 00 00", REC_E_FORMAT,
         "test.mpk: byte 0: 4,294,967,295 elements are announced, but only 2 bytes are left"},
        /* Each list alone would fit into what is left; together they do not. */
        {"81 a1 61 93 93 93 00 00 00", REC_E_FORMAT,
         "test.mpk: byte 4: 5 values are announced by this list and what is around it, but only 4 bytes are left"},
        {"81 a1 61 a2 61 ff", REC_E_FORMAT, "test.mpk: byte 5: expected a string in UTF-8, found 0xff at its byte 1"},
        {"81 a2 c3 28 00", REC_E_FORMAT, "test.mpk: byte 2: expected a string in UTF-8, found 0xc3 at its byte 0"},
    };
    listener l = new_listener();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t data[64];
        char first[512];
        size_t size = from_hex(cases[i].hex, data, sizeof data);
        assert_int_equal(read_text(*state, data, size, &l), cases[i].status);
        snprintf(first, sizeof first, "%.*s", (int)strcspn(rec_error_message(), "\n"), rec_error_message());
        assert_string_equal(first, cases[i].message);
        l.depth = 0;
    }
    free(l.text);
}

static void text_must_be_utf8(void **state)
{
    static const struct {
        const char *text;
        int bad; /* index of the bad byte, -1: none */
    } cases[] = {
        {"plain ascii of more than eight bytes", -1},
        {"\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf", -1},
        {"\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf", -1},
        {"12345678\xc3\xa9", -1},
        {"12345678\x80", 8}, /* a continuation alone */
        {"a\xc0\xaf", 1},    /* overlong */
        {"a\xc1\xbf", 1},
        {"\xe0\x9f\xbf", 0},
        {"\xf0\x8f\xbf\xbf", 0},
        {"\xed\xa0\x80", 0},     /* a surrogate */
        {"\xf4\x90\x80\x80", 0}, /* beyond U+10FFFF */
        {"\xf5\x80\x80\x80", 0},
        {"ab\xe2\x82", 2}, /* cut */
        {"ab\xe2\x82 ", 2},
        {"\xf0\x9f\x8d", 0},
        {"\xf0\x9f\x8d ", 0},
    };
    listener l = new_listener();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t data[64] = {0x81, 0xa1, 'v', 0xd9};
        size_t length = strlen(cases[i].text);
        data[4] = (uint8_t)length;
        memcpy(data + 5, cases[i].text, length);
        int32_t status = read_text(*state, data, 5 + length, &l);
        assert_int_equal(status, cases[i].bad < 0 ? REC_OK : REC_E_FORMAT);
        if (cases[i].bad >= 0) {
            assert_int_equal(rec_error_offset(), 5 + cases[i].bad);
        }
        l.depth = 0;
    }
    free(l.text);
}

static void nesting_stops_at_the_limit(void **state)
{
    uint8_t data[300] = {0x81, 0xa1, 'v'};
    listener l = new_listener();
    rec_limits limits = rec_limits_default();
    for (uint32_t depth = 100; depth <= 200; depth += 100) {
        limits.depth = depth;
        assert_int_equal(rec_context_set_limits(*state, &limits), REC_OK);
        memset(data + 3, 0x91, depth - 2);
        data[depth + 1] = 0x90; /* with the map: `depth` levels */
        assert_int_equal(read_text(*state, data, depth + 2, &l), REC_OK);
        data[depth + 1] = 0x91;
        data[depth + 2] = 0x80;
        assert_int_equal(read_text(*state, data, depth + 3, &l), REC_E_LIMIT);
        assert_int_equal(rec_error_offset(), depth + 2);
        assert_non_null(strstr(rec_error_message(), "nested deeper than the limit of"));
        l.depth = 0;
    }
    free(l.text);
}

/* A record with a value of each kind. */
static const char zoo[] =
    "86 a1 61 01 a1 62 93 c4 02 68 69 c0 a0 a1 63 81 c3 ff a1 64 92 90 dc 00 03 05 d1 80 00 cf 80 00"
    "00 00 00 00 00 00 a1 65 94 ca 3f 80 00 00 cb 3f f0 00 00 00 00 00 00 c2 c3 d9 02 c3 a9 da 00"
    "02 68 69";

static void every_prefix_is_refused_as_cut_short(void **state)
{
    uint8_t data[128];
    size_t size = from_hex(zoo, data, sizeof data);
    listener l = new_listener();
    assert_int_equal(read_text(*state, data, size, &l), REC_OK);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(read_text(*state, data, i, &l), REC_E_FORMAT);
        assert_true(rec_error_offset() <= i);
        l.depth = 0;
    }
    free(l.text);
}

static void every_changed_byte_ends_with_events_in_order_or_a_status(void **state)
{
    uint8_t data[128];
    size_t size = from_hex(zoo, data, sizeof data);
    listener l = new_listener();
    for (size_t i = 0; i < size; i++) {
        uint8_t good = data[i];
        for (unsigned value = 0; value < 256; value++) {
            data[i] = (uint8_t)value;
            if (read_text(*state, data, size, &l) == REC_OK) {
                assert_int_equal(l.depth, 0);
            } else {
                assert_true(rec_error_offset() <= size);
                assert_true(strlen(rec_error_message()) > 20);
            }
            l.depth = 0;
        }
        data[i] = good;
    }
    free(l.text);
}

static void a_callbacks_answer_stops_the_reader_and_is_passed_up(void **state)
{
    uint8_t data[128];
    size_t size = from_hex(zoo, data, sizeof data);
    listener l = new_listener();
    assert_int_equal(read_text(*state, data, size, &l), REC_OK);
    int events = l.events;
    assert_true(events > 20);
    for (int i = 0; i < events; i++) {
        rec_job job;
        free(l.text);
        l = new_listener();
        l.stop_at = i;
        l.answer = 4711;
        lr_job_begin(&job, *state, "load", "test.mpk");
        rec_source *source = lr_source_memory(&job, data, size, "test.mpk");
        assert_int_equal(lr_msgpack_read(&job, source, &listening, &l), 4711);
        assert_int_equal(l.events, i + 1);
        rec_source_release(source);
        lr_job_end(&job);
    }
    free(l.text);
}

static void bytes_after_the_record_are_refused(void **state)
{
    static const uint8_t data[] = {0x81, 0xa1, 'v', 0x01, 0xc1, 0x00, 0x00};
    listener l = new_listener();
    assert_int_equal(read_text(*state, data, 4, &l), REC_OK);
    assert_int_equal(read_text(*state, data, sizeof data, &l), REC_E_FORMAT);
    assert_non_null(strstr(rec_error_message(), "byte 4: the record ends here, and 3 bytes follow\n"));
    free(l.text);
}

static int32_t cancel_after(void *user, const rec_progress *progress)
{
    uint64_t *limit = user;
    assert_true(progress->done <= progress->total);
    return progress->done > *limit;
}

static void long_work_can_be_cancelled(void **state)
{
    enum { COUNT = 12 << 20 };
    uint64_t limit = 5 << 20;
    uint8_t *data = malloc(8 + COUNT);
    listener l = new_listener();
    rec_job job;
    memcpy(data, "\x81\xa1v\xdd\0\xc0\0\0", 8);
    memset(data + 8, 7, COUNT);
    rec_context_set_progress(*state, cancel_after, &limit);
    lr_job_begin(&job, *state, "load", "test.mpk");
    rec_source *source = lr_source_memory(&job, data, 8 + COUNT, "test.mpk");
    assert_int_equal(lr_msgpack_read(&job, source, &listening, &l), REC_E_CANCELLED);
    assert_true(l.runs > 0);
    rec_source_release(source);
    lr_job_end(&job);
    free(l.text);
    free(data);
}

/* ------------------------------------------------------------------------------------------------- recognition -- */

static void a_probe_is_sure_of_records_only(void **state)
{
    static const struct {
        const char *hex;
        int32_t bits;
    } cases[] = {
        {"", 0},
        {"03", 0},
        {"93 01 02 03", 0},
        {"7b 22 6d", 0},
        {"83 a8 6d 65 74 61 64 61 74 61 85", 80},
        {"de 00 03 a8 6d 65 74 61 64 61 74 61", 80},
        {"df 00 00 00 03 a8 6d 65 74 61 64 61 74 61", 80},
        {"83 a8 6d 65 74 61 64 61 74", 1},
        {"81 a4 69 74 65 6d c0", 7},
        {"81 a2 5f 62 c0", 7},
        {"81 a2 ff fe c0", 0},
        {"81 a6 70 61 72 61 6d 73 80", 0}, /* a map of other keys is not Burn's: Flax's begins with `params` */
        {"80", 0},
        {"88 01 00 00 00 00 00 00 7b", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t data[32];
        size_t size = from_hex(cases[i].hex, data, sizeof data);
        assert_int_equal(lr_msgpack_probe(data, size), cases[i].bits);
    }
}

/* --------------------------------------------------------------------------------------------- what is written -- */

/* What a writer makes of the events that `tell` sends it. */
typedef struct writing {
    rec_job job;
    rec_sink *sink;
    lr_msgpack_writer writer;
} writing;

static void write_begin(writing *w, rec_context *context)
{
    lr_job_begin(&w->job, context, "save", "out.mpk");
    w->sink = lr_sink_memory(&w->job);
    assert_non_null(w->sink);
    lr_msgpack_writer_init(&w->writer, &w->job, w->sink);
}

/* @return what was written, to be freed; NULL after a failure. */
static uint8_t *write_end(writing *w, size_t *size)
{
    void *data = NULL;
    uint64_t made = 0;
    if (!lr_job_failed(&w->job)) {
        assert_int_equal(lr_msgpack_writer_flush(&w->writer), REC_OK);
        assert_int_equal(lr_sink_take(w->sink, &data, &made), REC_OK);
    }
    *size = (size_t)made;
    (void)lr_sink_commit(w->sink);
    lr_job_end(&w->job);
    return data;
}

static void expect_hex(writing *w, const char *hex)
{
    uint8_t expected[512];
    size_t length = from_hex(hex, expected, sizeof expected), size;
    uint8_t *data = write_end(w, &size);
    assert_non_null(data);
    assert_int_equal(size, length);
    assert_memory_equal(data, expected, length);
    free(data);
}

static void scalars_take_their_shortest_form(void **state)
{
#define I(value) {.kind = REC_KIND_INT, .v.i = (value)}
#define U(value) {.kind = REC_KIND_UINT, .v.u = (value)}
#define F(width, value) {.kind = REC_KIND_FLOAT, .bits = (width), .v.f = (value)}
    static const struct {
        rec_scalar scalar;
        const char *hex;
    } cases[] = {
        {{.kind = REC_KIND_NIL}, "c0"},
        {{.kind = REC_KIND_NIL, .form = REC_FORM_UNIT}, "c0"},
        {{.kind = REC_KIND_NIL, .form = REC_FORM_NONE}, "c0"},
        {{.kind = REC_KIND_NIL, .form = REC_FORM_CONSTANT}, "c0"},
        {{.kind = REC_KIND_NIL, .form = REC_FORM_UNIT_STRUCT}, "90"},
        {{.kind = REC_KIND_BOOL, .v.i = 0}, "c2"},
        {{.kind = REC_KIND_BOOL, .v.i = 1}, "c3"},
        {U(0), "00"},
        {U(127), "7f"},
        {U(128), "cc 80"},
        {U(255), "cc ff"},
        {U(256), "cd 01 00"},
        {U(65535), "cd ff ff"},
        {U(65536), "ce 00 01 00 00"},
        {U(UINT32_MAX), "ce ff ff ff ff"},
        {U(UINT64_C(4294967296)), "cf 00 00 00 01 00 00 00 00"},
        {U(UINT64_MAX), "cf ff ff ff ff ff ff ff ff"},
        {I(0), "00"}, /* not negative: the unsigned forms, as rmp writes an i64 */
        {I(127), "7f"},
        {I(128), "cc 80"},
        {I(32768), "cd 80 00"},
        {I(INT64_C(2147483648)), "ce 80 00 00 00"},
        {I(INT64_MAX), "cf 7f ff ff ff ff ff ff ff"},
        {I(-1), "ff"},
        {I(-32), "e0"},
        {I(-33), "d0 df"},
        {I(-128), "d0 80"},
        {I(-129), "d1 ff 7f"},
        {I(-32768), "d1 80 00"},
        {I(-32769), "d2 ff ff 7f ff"},
        {I(INT32_MIN), "d2 80 00 00 00"},
        {I(INT64_C(-2147483649)), "d3 ff ff ff ff 7f ff ff ff"},
        {I(INT64_MIN), "d3 80 00 00 00 00 00 00 00"},
        {F(32, 0.1f), "ca 3d cc cc cd"},
        {F(16, 0.5), "ca 3f 00 00 00"},
        {F(64, 0.1), "cb 3f b9 99 99 99 99 99 9a"},
        {F(0, 1.0), "cb 3f f0 00 00 00 00 00 00"},
        {{.kind = REC_KIND_STRING, .v.length = 0, .text = NULL}, "a0"},
        {{.kind = REC_KIND_STRING, .v.length = 2, .text = "hi"}, "a2 68 69"},
        {{.kind = REC_KIND_STRING, .v.length = 32, .text = "                                "},
         "d9 20 2020202020202020 2020202020202020 2020202020202020 2020202020202020"},
    };
#undef I
#undef U
#undef F
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        writing w;
        write_begin(&w, *state);
        assert_int_equal(lr_msgpack_visitor.scalar(&w.writer, REC_UNKNOWN, &cases[i].scalar), REC_OK);
        expect_hex(&w, cases[i].hex);
    }
}

static void numbers_are_written_one_by_one_whatever_their_type(void **state)
{
    static const struct {
        rec_dtype dtype;
        const char *data, *hex; /* two elements, little-endian */
    } cases[] = {
        {REC_DTYPE_U8, "07 ff", "07 cc ff"},
        {REC_DTYPE_I8, "07 ff", "07 ff"},
        {REC_DTYPE_U16, "80 00 ff ff", "cc 80 cd ff ff"},
        {REC_DTYPE_F16, "00 3c 00 00", "cd 3c 00 00"},
        {REC_DTYPE_BF16, "80 3f 00 00", "cd 3f 80 00"},
        {REC_DTYPE_I16, "80 00 00 80", "cc 80 d1 80 00"},
        {REC_DTYPE_U32, "01 00 00 00 ff ff ff ff", "01 ce ff ff ff ff"},
        {REC_DTYPE_I32, "01 00 00 00 df ff ff ff", "01 d0 df"},
        {REC_DTYPE_U64, "01 00 00 00 00 00 00 00 ff ff ff ff ff ff ff ff", "01 cf ff ff ff ff ff ff ff ff"},
        {REC_DTYPE_I64, "01 00 00 00 00 00 00 00 ff ff ff ff ff ff ff ff", "01 ff"},
        {REC_DTYPE_F32, "00 00 80 3f cd cc cc 3d", "ca 3f 80 00 00 ca 3d cc cc cd"},
        {REC_DTYPE_FLEX32, "00 00 80 3f cd cc cc 3d", "ca 3f 80 00 00 ca 3d cc cc cd"},
        {REC_DTYPE_F64, "00 00 00 00 00 00 f0 3f 9a 99 99 99 99 99 b9 3f",
         "cb 3f f0 00 00 00 00 00 00 cb 3f b9 99 99 99 99 99 9a"},
        {REC_DTYPE_BOOL, "00 01", "c2 c3"},
        {REC_DTYPE_BOOL8, "01 00", "c3 c2"},
        {REC_DTYPE_BOOL32, "01 00 00 00 00 00 00 00", "c3 c2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        writing w;
        uint8_t data[32], *odd = data + 1; /* of any alignment */
        uint32_t width = rec_dtype_bits(cases[i].dtype) / 8;
        assert_int_equal(from_hex(cases[i].data, odd, sizeof data - 1), 2 * width);
        if (*(const uint8_t *)&(uint16_t){1} == 0) { /* visitors get numbers in host byte order */
            for (uint32_t element = 0; element < 2; element++) {
                for (uint32_t j = 0; j < width / 2; j++) {
                    uint8_t *first = odd + element * width + j, *last = odd + (element + 1) * width - 1 - j,
                            kept = *first;
                    *first = *last;
                    *last = kept;
                }
            }
        }
        write_begin(&w, *state);
        assert_int_equal(lr_msgpack_visitor.numbers(&w.writer, REC_UNKNOWN, cases[i].dtype, odd, 2), REC_OK);
        expect_hex(&w, cases[i].hex);
    }
}

static void enums_and_options_are_written_as_serde_does(void **state)
{
    const rec_visitor *v = &lr_msgpack_visitor;
    rec_scalar name = {.kind = REC_KIND_STRING, .v.length = 2, .text = "V1"};
    rec_scalar one = {.kind = REC_KIND_UINT, .v.u = 1};
    writing w;
    write_begin(&w, *state);
    assert_int_equal(v->list_begin(&w.writer, REC_UNKNOWN, REC_FORM_TUPLE, 4), REC_OK);
    assert_int_equal(v->variant_begin(&w.writer, REC_UNKNOWN, 0, &name, 1), REC_OK);
    assert_int_equal(v->scalar(&w.writer, REC_UNKNOWN, &one), REC_OK);
    assert_int_equal(v->end(&w.writer, REC_UNKNOWN), REC_OK);
    assert_int_equal(v->variant_begin(&w.writer, REC_UNKNOWN, 0, &name, 0), REC_OK);
    assert_int_equal(v->end(&w.writer, REC_UNKNOWN), REC_OK);
    assert_int_equal(v->option(&w.writer, REC_UNKNOWN, 1), REC_OK);
    assert_int_equal(v->scalar(&w.writer, REC_UNKNOWN, &one), REC_OK);
    assert_int_equal(v->option(&w.writer, REC_UNKNOWN, 0), REC_OK);
    assert_int_equal(v->end(&w.writer, REC_UNKNOWN), REC_OK);
    expect_hex(&w, "94 81 a2 56 31 01 a2 56 31 01 c0");
}

static void headers_of_containers_and_bytes_are_minimal(void **state)
{
    static const struct {
        uint64_t count;
        const char *list, *map, *bytes;
    } cases[] = {
        {0, "90", "80", "c4 00"},
        {15, "9f", "8f", "c4 0f"},
        {16, "dc 00 10", "de 00 10", "c4 10"},
        {255, "dc 00 ff", "de 00 ff", "c4 ff"},
        {256, "dc 01 00", "de 01 00", "c5 01 00"},
        {65535, "dc ff ff", "de ff ff", "c5 ff ff"},
        {65536, "dd 00 01 00 00", "df 00 01 00 00", "c6 00 01 00 00"},
        {UINT32_MAX, "dd ff ff ff ff", "df ff ff ff ff", NULL},
    };
    uint8_t *payload = calloc(1, 65536);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        writing w;
        size_t size;
        uint8_t header[8];
        write_begin(&w, *state);
        assert_int_equal(lr_msgpack_visitor.list_begin(&w.writer, REC_UNKNOWN, REC_FORM_LIST, cases[i].count), REC_OK);
        expect_hex(&w, cases[i].list);
        write_begin(&w, *state);
        assert_int_equal(lr_msgpack_visitor.map_begin(&w.writer, REC_UNKNOWN, REC_FORM_MAP, cases[i].count), REC_OK);
        expect_hex(&w, cases[i].map);
        if (cases[i].bytes) {
            rec_blob blob = {
                .size = sizeof blob, .kind = REC_BLOB_TEMPORARY, .length = cases[i].count, .data = payload};
            size_t length = from_hex(cases[i].bytes, header, sizeof header);
            write_begin(&w, *state);
            assert_int_equal(lr_msgpack_visitor.bytes(&w.writer, REC_UNKNOWN, &blob), REC_OK);
            uint8_t *data = write_end(&w, &size);
            assert_int_equal(size, length + cases[i].count);
            assert_memory_equal(data, header, length);
            free(data);
        }
    }
    free(payload);
}

static void what_messagepack_cannot_hold_is_refused(void **state)
{
    rec_blob blob = {.size = sizeof blob, .kind = REC_BLOB_TEMPORARY, .length = UINT64_C(1) << 32, .data = ""};
    rec_scalar text = {.kind = REC_KIND_STRING, .v.length = UINT64_C(1) << 32, .text = ""};
    size_t size;
    writing w;
    write_begin(&w, *state);
    assert_int_equal(lr_msgpack_visitor.bytes(&w.writer, REC_UNKNOWN, &blob), REC_E_UNSUPPORTED);
    assert_null(write_end(&w, &size));
    assert_string_equal(rec_error_message(),
                        "out.mpk: expected at most 4,294,967,295 bytes or elements, the limit of MessagePack, "
                        "found bytes of 4294967296\n  Save it in another format.");
    write_begin(&w, *state);
    assert_int_equal(lr_msgpack_visitor.scalar(&w.writer, REC_UNKNOWN, &text), REC_E_UNSUPPORTED);
    assert_null(write_end(&w, &size));
    write_begin(&w, *state);
    assert_int_equal(lr_msgpack_visitor.list_begin(&w.writer, REC_UNKNOWN, REC_FORM_LIST, UINT64_C(1) << 32),
                     REC_E_UNSUPPORTED);
    assert_null(write_end(&w, &size));
    write_begin(&w, *state);
    assert_int_equal(lr_msgpack_visitor.map_begin(&w.writer, REC_UNKNOWN, REC_FORM_MAP, REC_UNKNOWN), REC_E_PLUGIN);
    assert_null(write_end(&w, &size));
    write_begin(&w, *state);
    assert_int_equal(lr_msgpack_visitor.numbers(&w.writer, REC_UNKNOWN, REC_DTYPE_QFLOAT, "", 1), REC_E_UNSUPPORTED);
    assert_null(write_end(&w, &size));
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

static void a_sinks_failure_reaches_the_caller(void **state)
{
    int64_t numbers[1000] = {0};
    for (uint64_t room = 0; room < 9000; room += 500) {
        writing w;
        uint64_t left = room;
        memset(numbers, 0x80, sizeof numbers); /* nine bytes each */
        lr_job_begin(&w.job, *state, "save", "out.mpk");
        w.sink = sink_custom(&w.job, full_disk, &left);
        lr_msgpack_writer_init(&w.writer, &w.job, w.sink);
        int32_t status = lr_msgpack_visitor.numbers(&w.writer, REC_UNKNOWN, REC_DTYPE_I64, numbers, 1000);
        if (status == REC_OK) {
            status = lr_msgpack_writer_flush(&w.writer);
        }
        if (status == REC_OK) {
            status = lr_sink_commit(w.sink); /* a sink may hold back what it was given */
        } else {
            (void)lr_sink_commit(w.sink);
        }
        assert_int_equal(status, REC_E_IO);
        lr_job_end(&w.job);
    }
}

/* ------------------------------------------------------------------------------------------------ real records -- */

/* Reads each file straight into a writer. @return how many files there were. */
static size_t write_again(rec_context *context, const char *pattern)
{
    glob_t found;
    size_t files;
    if (glob(pattern, 0, NULL, &found) != 0) {
        return 0;
    }
    files = found.gl_pathc;
    for (size_t i = 0; i < files; i++) {
        writing w;
        size_t size, made;
        char *data = read_file(found.gl_pathv[i], &size);
        assert_non_null(data);
        write_begin(&w, context);
        rec_source *source = lr_source_memory(&w.job, data, size, found.gl_pathv[i]);
        int32_t status = lr_msgpack_read(&w.job, source, &lr_msgpack_visitor, &w.writer);
        rec_source_release(source);
        uint8_t *again = write_end(&w, &made);
        if (status != REC_OK || made != size || memcmp(data, again, size) != 0) {
            fail_msg("%s: %s", found.gl_pathv[i], status == REC_OK ? "other bytes" : rec_error_message());
        }
        free(again);
        free(data);
    }
    globfree(&found);
    return files;
}

static void files_of_burn_are_written_again_byte_by_byte(void **state)
{
    const char *srcdir = getenv("srcdir");
    char pattern[4096];
    snprintf(pattern, sizeof pattern, "%s/tests/data/burn/*/*.mpk", srcdir ? srcdir : ".");
    assert_true(write_again(*state, pattern) > 50);
}

static void shared_files_of_burn_are_written_again_byte_by_byte(void **state)
{
    static const char *const patterns[] = {"golden/records/*/*/mpk-*.mpk", "golden/modules/*/*.mpk",
                                           "golden/modules/*/*/*.mpk", "burn/*/*.mpk"};
    size_t files = 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        char pattern[4096];
        if (!shared_path(pattern, sizeof pattern, patterns[i])) {
            skip();
        }
        files += write_again(*state, pattern);
    }
    assert_true(files > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_nested_record_is_read_with_its_offsets, setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_are_lent_from_the_view_of_the_source, setup, teardown),
        cmocka_unit_test_setup_teardown(runs_hold_one_type_each_and_change_where_the_type_does, setup, teardown),
        cmocka_unit_test_setup_teardown(a_long_list_comes_in_runs_without_a_gap, setup, teardown),
        cmocka_unit_test_setup_teardown(long_lists_of_any_numbers_are_what_their_values_are, setup, teardown),
        cmocka_unit_test(floats_are_the_same_by_vectors),
        cmocka_unit_test_setup_teardown(every_encoding_of_the_suite_reads_as_its_value, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_refused_says_what_and_where, setup, teardown),
        cmocka_unit_test_setup_teardown(text_must_be_utf8, setup, teardown),
        cmocka_unit_test_setup_teardown(nesting_stops_at_the_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(every_prefix_is_refused_as_cut_short, setup, teardown),
        cmocka_unit_test_setup_teardown(every_changed_byte_ends_with_events_in_order_or_a_status, setup, teardown),
        cmocka_unit_test_setup_teardown(a_callbacks_answer_stops_the_reader_and_is_passed_up, setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_after_the_record_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(long_work_can_be_cancelled, setup, teardown),
        cmocka_unit_test(a_probe_is_sure_of_records_only),
        cmocka_unit_test_setup_teardown(scalars_take_their_shortest_form, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_are_written_one_by_one_whatever_their_type, setup, teardown),
        cmocka_unit_test_setup_teardown(enums_and_options_are_written_as_serde_does, setup, teardown),
        cmocka_unit_test_setup_teardown(headers_of_containers_and_bytes_are_minimal, setup, teardown),
        cmocka_unit_test_setup_teardown(what_messagepack_cannot_hold_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_sinks_failure_reaches_the_caller, setup, teardown),
        cmocka_unit_test_setup_teardown(files_of_burn_are_written_again_byte_by_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(shared_files_of_burn_are_written_again_byte_by_byte, setup, teardown),
    };
    return cmocka_run_group_tests_name("msgpack", tests, NULL, NULL);
}
