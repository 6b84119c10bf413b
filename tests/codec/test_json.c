/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The JSON codec: what its reader says of text, what its writer makes of events. */
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
#include "plugins/codec/json/json.h"
#include "plugins/codec/json/input.h"
#include "tests/codec/listener.h"
#include "tests/shared.h"

static listener json_listener(void)
{
    listener l = new_listener();
    l.offsets = l.like_json = true;
    return l;
}

/* A source of unknown size that gives what another one has, a few bytes at a time. */
typedef struct dripping {
    rec_source *parent;
    uint64_t most;
} dripping;

static int32_t drip(void *self, rec_job *job, void *target, uint64_t room, uint64_t *got)
{
    dripping *d = self;
    return rec_source_read(job, d->parent, target, room < d->most ? room : d->most, got);
}

static int32_t drip_rewind(void *self, rec_job *job)
{
    return rec_source_rewind(job, ((dripping *)self)->parent);
}

static const rec_source_ops drips = {.size = sizeof drips, .read = drip, .rewind = drip_rewind, .release = free};

/* Reads `size` bytes; the message is then the thread's last error. @param most bytes a time, 0: all in one view. */
static int32_t read_by(rec_context *context, const void *data, size_t size, uint64_t most, listener *l)
{
    rec_job job;
    rec_source *dripped = NULL;
    /* An exact copy, so that a sanitizer sees the first byte that is read beyond it. */
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    if (size) {
        memcpy(copy, data, size);
    }
    lr_job_begin(&job, context, "load", "test.json");
    rec_source *source = lr_source_memory(&job, copy, size, "test.json");
    assert_non_null(source);
    if (most) {
        dripping *d = malloc(sizeof *d);
        assert_non_null(d);
        *d = (dripping){.parent = source, .most = most};
        assert_int_equal(rec_source_filter(&job, source, &drips, d, &dripped), REC_OK);
    }
    hear_anew(l);
    int32_t status = lr_json_read(&job, dripped ? dripped : source, &listening, l);
    rec_source_release(dripped);
    rec_source_release(source);
    free(copy);
    assert_int_equal(lr_job_end(&job), status);
    return status;
}

static int32_t read_text(rec_context *context, const char *text, listener *l)
{
    return read_by(context, text, strlen(text), 0, l);
}

/* ------------------------------------------------------------------------------------------------ what is read -- */

static void a_nested_text_is_read_with_its_offsets(void **state)
{
    listener l = json_listener();
    assert_int_equal(read_text(*state,
                               " {\"a\": 1,\n \"b\" : [\"hi\", null, \"\"],\"c\":{},\"d\":[[],[5,-32768]],"
                               "\"e\":[0.5,true,false]}\n",
                               &l),
                     REC_OK);
    assert_string_equal(l.text,
                        "1:{ 2:\"a\"= 7:1 11:\"b\"= 17:[ 18:\"hi\" 24:null 30:\"\" 32:end 34:\"c\"= 38:{ 39:end "
                        "41:\"d\"= 45:[ 46:[ 47:end 49:[ 50:u8 5 52:i64 -32768 58:end 59:end 61:\"e\"= 65:[ "
                        "66:f64 0.5 70:bool true,false 80:end 81:end");
    free(l.text);
}

static void any_value_is_a_text(void **state)
{
    static const struct {
        const char *text, *heard;
    } cases[] = {
        {"null", "0:null"},
        {" true ", "1:true"},
        {"\"x\"", "0:\"x\""},
        {"12", "0:12"},
        {"-7", "0:-7"},
        {"-0", "0:-0f"},
        {"1e2", "0:100f"},
        {"18446744073709551615", "0:18446744073709551615"},
        {"[]", "0:[ 1:end"},
        {"{}", "0:{ 1:end"},
        {"18446744073709551616", "0:18446744073709552000f"},
        {"-9223372036854775809", "0:-9223372036854775800f"},
        {"-9223372036854775808", "0:-9223372036854775808"},
    };
    listener l = json_listener();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_text(*state, cases[i].text, &l), REC_OK);
        if (!strstr(cases[i].heard, "000f") && !strstr(cases[i].heard, "800f")) {
            assert_string_equal(l.text, cases[i].heard);
        } else { /* more digits than the double has: by value */
            assert_true(strtod(l.text + 2, NULL) == strtod(cases[i].heard + 2, NULL));
        }
    }
    free(l.text);
}

static void runs_hold_one_type_each_and_change_where_the_type_does(void **state)
{
    static const struct {
        const char *text, *heard;
    } cases[] = {
        {"[1,2,255]", "0:[ 1:u8 1,2,255 8:end"},
        {"[1,256,3]", "0:[ 1:u8 1 3:i64 256,3 8:end"},
        {"[300,-2,18446744073709551615,1,-1]", "0:[ 1:i64 300,-2 8:u64 18446744073709551615,1 31:i64 -1 33:end"},
        {"[1,1.5,2]", "0:[ 1:u8 1 3:f64 1.5 7:u8 2 8:end"},
        {"[true,1,false]", "0:[ 1:bool true 6:u8 1 8:bool false 13:end"},
        {"[1.5,null,2.5]", "0:[ 1:f64 1.5 5:null 10:f64 2.5 13:end"},
        {"[1,[],2]", "0:[ 1:u8 1 3:[ 4:end 6:u8 2 7:end"},
        {"[1e400000000000000000000,2]", NULL},
        {"[-0,0]", "0:[ 1:f64 -0 4:u8 0 5:end"},
    };
    listener l = json_listener();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t status = read_text(*state, cases[i].text, &l);
        assert_int_equal(status, cases[i].heard ? REC_OK : REC_E_RANGE);
        if (cases[i].heard) {
            assert_string_equal(l.text, cases[i].heard);
        }
    }
    free(l.text);
}

static void strings_are_taken_out_of_their_escapes(void **state)
{
    static const struct {
        const char *text, *meant;
    } cases[] = {
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "0:\"\"\\/\b\f\n\r\t\""},
        {"\"a\\u0041\\u00e9\\u20AC\\ud83d\\uDD25z\"", "0:\"aA\xc3\xa9\xe2\x82\xac\xf0\x9f\x94\xa5z\""},
        {"\"\\u0000x\"", "0:\"<0>x\""},
        {"\"na\xc3\xafve \xf0\x9f\x94\xa5 \x7f\"", "0:\"na\xc3\xafve \xf0\x9f\x94\xa5 \x7f\""},
        {"\"\\u007f\\u0080\\u07ff\\u0800\\uffff\"", "0:\"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\""},
        {"{\"k\\u0065y\":\"v\"}", "0:{ 1:\"key\"= 12:\"v\" 15:end"},
        {"\"\\ud7ff\\ud800\\udc00\\udbff\\udfff\\ue000\"",
         "0:\"\xed\x9f\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\xee\x80\x80\""},
    };
    listener l = json_listener();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_text(*state, cases[i].text, &l), REC_OK);
        assert_string_equal(l.text, cases[i].meant);
    }
    free(l.text);
}

static void long_lists_of_bytes_come_in_runs_without_a_gap(void **state)
{
    enum { COUNT = 300000 };
    static const char *const forms[] = {"%s%u", "%s\n                %u", "%s %u"};
    listener l = json_listener();
    char *text = malloc(COUNT * 24 + 16);
    assert_non_null(text);
    for (size_t form = 0; form < 3; form++) {
        uint64_t sum = 0;
        size_t used = 1;
        text[0] = '[';
        for (unsigned i = 0; i < COUNT; i++) {
            unsigned value = i * 2654435761u >> 24;
            used += (size_t)snprintf(text + used, 32, forms[form], i ? "," : "", value);
            sum += (uint64_t)value * (i + 1);
        }
        text[used++] = ']';
        for (uint64_t most = 0; most <= 100000; most += 100000) {
            assert_int_equal(read_by(*state, text, used, most, &l), REC_OK);
            assert_true(l.bytes == COUNT && l.sum == sum);
            assert_true(l.runs > 3 && l.runs < 200);
        }
    }
    free(text);
    free(l.text);
}

/* All that can stand at the edge of a window stands there once. */
static void text_in_pieces_reads_as_the_whole(void **state)
{
    static const char tail[] =
        "{\"key with \xf0\x9f\x94\xa5\":[1,22,333,-4.5e-3,null,true,false,12345678901234567890,0.1],"
        "\"\\ud83d\\udd25\\n\":\"\xc3\xa9\xe2\x82\xac plain \\u0041\"}   ";
    listener whole = new_listener(), pieces = new_listener();
    size_t room = LR_JSON_WINDOW + sizeof tail;
    char *text = malloc(room);
    assert_non_null(text);
    for (size_t back = 0; back < sizeof tail; back++) {
        size_t lead = LR_JSON_WINDOW - back;
        memset(text, ' ', lead);
        memcpy(text + lead, tail, sizeof tail - 1);
        assert_int_equal(read_by(*state, text, lead + sizeof tail - 1, 0, &whole), REC_OK);
        assert_int_equal(read_by(*state, text, lead + sizeof tail - 1, 4096, &pieces), REC_OK);
        assert_string_equal(whole.text, pieces.text);
    }
    /* A string longer than any window. */
    room = LR_JSON_WINDOW * 3;
    text = realloc(text, room);
    assert_non_null(text);
    memset(text, 'x', room);
    text[0] = text[room - 1] = '"';
    memcpy(text + room - 10, "\xc3\xa9\\n", 4);
    assert_int_equal(read_by(*state, text, room, 0, &whole), REC_OK);
    assert_int_equal(read_by(*state, text, room, 1000, &pieces), REC_OK);
    assert_int_equal(whole.length, pieces.length);
    assert_memory_equal(whole.text, pieces.text, whole.length);
    free(text);
    free(whole.text);
    free(pieces.text);
}

static void a_callback_that_says_stop_is_obeyed_at_every_event(void **state)
{
    static const char text[] = "{\"a\":[1,2,null,true,[1.5]],\"b\":{\"c\":\"d\"},\"e\":-1}";
    listener l = json_listener();
    assert_int_equal(read_text(*state, text, &l), REC_OK);
    int events = l.events;
    rec_job job;
    for (int i = 0; i < events; i++) {
        l.stop_at = i;
        l.events = 0;
        l.depth = 0;
        lr_job_begin(&job, *state, "load", "test.json");
        rec_source *source = lr_source_memory(&job, text, strlen(text), "test.json");
        assert_int_equal(lr_json_read(&job, source, &listening, &l), REC_E_CANCELLED);
        assert_int_equal(l.events, i + 1);
        rec_source_release(source);
        lr_job_end(&job);
    }
    free(l.text);
}

/* --------------------------------------------------------------------------------------------------- the suite -- */

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *data;
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    data = malloc(*size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *size, file), *size);
    (void)fclose(file);
    return data;
}

static void the_test_suite_is_accepted_and_refused_as_it_says(void **state)
{
    char pattern[4096];
    int counts[3] = {0};
    glob_t found;
    listener l = json_listener();
    if (!shared_path(pattern, sizeof pattern, "suites/JSONTestSuite/test_parsing/*.json")) {
        return;
    }
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i], *name = strrchr(path, '/') + 1;
        size_t size;
        char *text = read_file(path, &size);
        int32_t status = read_by(*state, text, size, 0, &l);
        if ((name[0] == 'y') != (status == REC_OK) && name[0] != 'i') {
            fail_msg("%s: %s", name, status == REC_OK ? "accepted" : rec_error_message());
        }
        if (status != REC_OK) {
            assert_true(status == REC_E_FORMAT || status == REC_E_LIMIT || status == REC_E_RANGE);
            assert_true(strlen(rec_error_message()) > 20);
        }
        assert_int_equal(read_by(*state, text, size, 7, &l), status);
        counts[name[0] == 'y' ? 0 : name[0] == 'n' ? 1 : 2]++;
        free(text);
    }
    assert_true(counts[0] >= 95 && counts[1] >= 188 && counts[2] >= 35);
    globfree(&found);
    free(l.text);
}

/* --------------------------------------------------------------------------------------------- what is refused -- */

static void errors_say_what_was_expected_and_found_and_where(void **state)
{
    static const struct {
        const char *text;
        int32_t status;
        const char *message;
    } cases[] = {
        {"", REC_E_FORMAT, "byte 0: expected a JSON text, found an empty file"},
        {" \n", REC_E_FORMAT, "byte 2: expected a JSON text, found nothing but white space"},
        {"[1,2", REC_E_FORMAT, "byte 4: the data end inside a list"},
        {"{\"a\":", REC_E_FORMAT, "byte 5: the data end inside a map"},
        {"{\"a", REC_E_FORMAT, "byte 3: the data end inside a string"},
        {"\"\\u00", REC_E_FORMAT, "byte 5: the data end inside a string"},
        {"[-", REC_E_FORMAT, "byte 2: the data end inside a number"},
        {"[tru", REC_E_FORMAT, "byte 4: the data end inside a word"},
        {"[1 2]", REC_E_FORMAT, "byte 3: expected a comma or ], found `2`"},
        {"{\"a\" 1}", REC_E_FORMAT, "byte 5: expected a colon, found `1`"},
        {"{\"a\":1 \"b\"}", REC_E_FORMAT, "byte 7: expected a comma or }, found `\"`"},
        {"{1:2}", REC_E_FORMAT, "byte 1: expected a key (in quotes) or }, found `1`"},
        {"{\"a\":1,}", REC_E_FORMAT, "byte 7: expected a key (in quotes), found `}`"},
        {"[1,]", REC_E_FORMAT, "byte 3: expected a value, found `]`"},
        {"[NaN]", REC_E_FORMAT, "byte 1: expected a value or ], found `N`"},
        {"[nul]", REC_E_FORMAT, "byte 4: expected `null`, found `]`"},
        {"{} {}", REC_E_FORMAT, "byte 3: expected the end of the text, found `{`"},
        {"[01]", REC_E_FORMAT, "byte 2: expected a comma or ], found `1`"},
        {"[1.]", REC_E_FORMAT, "byte 3: expected a digit, found `]`"},
        {"[1e999]", REC_E_RANGE, "byte 1: a number beyond the range of 64-bit floats"},
        {"\"a\tb\"", REC_E_FORMAT, "byte 2: expected a string, in which control characters are escaped, found 0x09"},
        {"\"a\\xb\"", REC_E_FORMAT,
         "byte 2: expected an escape of JSON (\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u), found `\\xb\"`"},
        {"\"\\u12g4 \"", REC_E_FORMAT, "byte 1: expected \\u and four hexadecimal digits, found `\\u12g4`"},
        {"\"\\udc00 \"", REC_E_FORMAT, "byte 1: expected a high surrogate and a low one after it, found `\\udc00`"},
        {"\"\\ud800\\u0041\"", REC_E_FORMAT,
         "byte 1: expected a high surrogate and a low one after it, found `\\ud800`"},
        {"\"\\udbff\\udbff\"", REC_E_FORMAT, "byte 1: expected a high surrogate and a low one after it"},
        {"\"\\udbff\\ue000\"", REC_E_FORMAT, "byte 1: expected a high surrogate and a low one after it"},
        {"\"\\udfff\\udc00\"", REC_E_FORMAT, "byte 1: expected a high surrogate and a low one after it"},
        {"\"\\ud83d\\udd25", REC_E_FORMAT, "byte 13: the data end inside a string"},
        {"\"ab\xc3(\"", REC_E_FORMAT, "byte 3: expected a string in UTF-8, found 0xc3"},
        {"\"\xed\xa0\x80 \"", REC_E_FORMAT, "byte 1: expected a string in UTF-8, found 0xed"},
        {"\xef\xbb\xbf{}", REC_E_FORMAT,
         "byte 0: expected a value, found a byte order mark, which JSON does not allow"},
        {"\x1f\x8b\x08", REC_E_FORMAT, "byte 0: expected a value, found 0x1f"},
    };
    listener l = json_listener();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint64_t most = 0; most < 2; most++) {
            assert_int_equal(read_by(*state, cases[i].text, strlen(cases[i].text), most, &l), cases[i].status);
            if (!strstr(rec_error_message(), cases[i].message)) {
                fail_msg("%s\ninstead of\n%s", rec_error_message(), cases[i].message);
            }
        }
    }
    free(l.text);
}

/* What lies behind the bytes in memory is not theirs: here it would make them whole. */
static void a_cut_escape_is_not_completed_from_beyond_its_end(void **state)
{
    static const char text[] = "\"\\ud83d\\udd25\"";
    static const size_t cuts[] = {6, 7, 8, 9, 12};
    listener l = json_listener();
    rec_job job;
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        lr_job_begin(&job, *state, "load", "test.json");
        rec_source *source = lr_source_memory(&job, text, cuts[i], "test.json");
        assert_non_null(source);
        hear_anew(&l);
        assert_int_equal(lr_json_read(&job, source, &listening, &l), REC_E_FORMAT);
        rec_source_release(source);
        assert_int_equal(lr_job_end(&job), REC_E_FORMAT);
        assert_string_equal(l.text, "");
    }
    free(l.text);
}

static void nesting_is_limited(void **state)
{
    enum { LIMIT = 128 };
    char text[1000];
    listener l = json_listener();
    memset(text, '[', LIMIT);
    memset(text + LIMIT, ']', LIMIT);
    assert_int_equal(read_by(*state, text, 2 * LIMIT, 0, &l), REC_OK);
    memset(text, '[', LIMIT + 1);
    assert_int_equal(read_by(*state, text, 2 * LIMIT + 1, 0, &l), REC_E_LIMIT);
    free(l.text);
}

static void a_number_of_more_than_4096_characters_is_refused(void **state)
{
    size_t size = LR_JSON_WINDOW * 2;
    char *text = malloc(size);
    listener l = json_listener();
    assert_non_null(text);
    memset(text, '7', size);
    assert_int_equal(read_by(*state, text, 4096, 0, &l), REC_E_RANGE);
    text[1] = '.';
    assert_int_equal(read_by(*state, text, 4096, 0, &l), REC_OK);
    assert_int_equal(read_by(*state, text, 4097, 0, &l), REC_E_UNSUPPORTED);
    assert_int_equal(read_by(*state, text, size, 0, &l), REC_E_UNSUPPORTED);
    assert_int_equal(read_by(*state, text, size, 1000, &l), REC_E_UNSUPPORTED);
    free(text);
    free(l.text);
}

static void a_record_is_recognised_by_its_first_key(void **state)
{
    static const struct {
        const char *text;
        int32_t bits;
    } cases[] = {
        {"{\"metadata\":{\"float\"", 88},
        {" {\n  \"metadata\": {\n \"settings\" :", 88},
        {"{\"metadata\":{\"total_size\"", 31}, /* an index of files */
        {"{\"metadata\":{}", 31},
        {"{\"metadata\":{\"floats\"", 31},
        {"{\"metadata\":{", 31},
        {"{\"metadata\"", 31},
        {"{\"item\":1", 7},
        {"{}", 7},
        {"{1", 1},
        {"[\"metadata\"", 0},
        {"", 0},
        {"  ", 0},
        {"{\"metadat", 7},
        {"{", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(lr_json_probe((const uint8_t *)cases[i].text, strlen(cases[i].text)), cases[i].bits);
    }
}

/* --------------------------------------------------------------------------------------------- what is written -- */

/* A writer into memory, and its text. */
typedef struct scribe {
    rec_job job;
    rec_sink *sink;
    lr_json_writer *writer;
    const rec_visitor *v;
    char *text;
} scribe;

static scribe *begin_writing(rec_context *context, bool pretty)
{
    scribe *s = calloc(1, sizeof *s);
    assert_non_null(s);
    lr_job_begin(&s->job, context, "save", NULL);
    s->sink = lr_sink_memory(&s->job);
    assert_non_null(s->sink);
    s->writer = lr_json_writer_new(&s->job, s->sink, pretty);
    assert_non_null(s->writer);
    s->v = &lr_json_visitor;
    return s;
}

/* @return the text, to be freed. */
static char *end_writing(scribe *s)
{
    void *data;
    uint64_t size;
    assert_int_equal(lr_json_writer_flush(s->writer), REC_OK);
    lr_json_writer_free(s->writer);
    assert_int_equal(lr_sink_take(s->sink, &data, &size), REC_OK);
    assert_int_equal(lr_sink_commit(s->sink), REC_OK);
    assert_int_equal(lr_job_end(&s->job), REC_OK);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    memcpy(text, data, (size_t)size);
    text[size] = '\0';
    free(data);
    free(s);
    return text;
}

static rec_scalar text_of(const char *text)
{
    return (rec_scalar){.kind = REC_KIND_STRING, .v.length = strlen(text), .text = text};
}

#define CALL(event, ...) assert_int_equal(s->v->event(s->writer, REC_UNKNOWN, __VA_ARGS__), REC_OK)
#define END() assert_int_equal(s->v->end(s->writer, REC_UNKNOWN), REC_OK)
#define KEY(name) CALL(key, &(rec_scalar){.kind = REC_KIND_STRING, .v.length = strlen(name), .text = (name)})

static void write_all_kinds(scribe *s)
{
    static const float floats[] = {0.1f, 1e13f};
    static const int16_t shorts[] = {-1, 300};
    static const uint8_t bools[] = {1, 0};
    static const uint8_t bytes[] = {0, 10, 255};
    rec_blob blob = {.size = sizeof blob, .kind = REC_BLOB_TEMPORARY, .length = 3, .data = bytes};
    rec_scalar name = text_of("Dense"), unit = text_of("Relu");
    CALL(map_begin, REC_FORM_STRUCT, 12);
    KEY("text");
    CALL(scalar,
         &(rec_scalar){.kind = REC_KIND_STRING, .v.length = 17, .text = "q\" b\\ /\n\x01\x1f\x7f \xf0\x9f\x94\xa5\0"});
    KEY("f32");
    CALL(scalar, &(rec_scalar){.kind = REC_KIND_FLOAT, .bits = 32, .v.f = 0.1f});
    KEY("f64");
    CALL(scalar, &(rec_scalar){.kind = REC_KIND_FLOAT, .bits = 64, .v.f = 0.1f});
    KEY("nil");
    CALL(option, 0);
    KEY("some");
    CALL(option, 1);
    CALL(scalar, &(rec_scalar){.kind = REC_KIND_INT, .v.i = -5});
    KEY("variant");
    CALL(variant_begin, 0, &name, 1);
    CALL(list_begin, REC_FORM_LIST, 2);
    CALL(numbers, REC_DTYPE_F32, floats, 2);
    END();
    END();
    KEY("unit");
    CALL(variant_begin, 1, &unit, 0);
    END();
    KEY("bytes");
    CALL(bytes, &blob);
    KEY("none");
    blob.length = 0;
    CALL(bytes, &blob);
    KEY("empty");
    CALL(map_begin, REC_FORM_MAP, 0);
    END();
    KEY("list");
    CALL(list_begin, REC_FORM_LIST, 5);
    CALL(numbers, REC_DTYPE_I16, shorts, 2);
    CALL(numbers, REC_DTYPE_BOOL, bools, 2);
    CALL(list_begin, REC_FORM_LIST, 0);
    END();
    END();
    KEY("keys");
    CALL(map_begin, REC_FORM_MAP, 2);
    CALL(key, &(rec_scalar){.kind = REC_KIND_UINT, .v.u = 7});
    CALL(scalar, &(rec_scalar){.kind = REC_KIND_BOOL, .v.i = 1});
    CALL(key, &(rec_scalar){.kind = REC_KIND_BOOL, .v.i = 0});
    CALL(scalar, &(rec_scalar){.kind = REC_KIND_NIL, .form = REC_FORM_UNIT_STRUCT});
    END();
    END();
}

static void every_kind_is_written_as_serde_json_does(void **state)
{
    scribe *s = begin_writing(*state, false);
    write_all_kinds(s);
    char *text = end_writing(s);
    assert_string_equal(text,
                        "{\"text\":\"q\\\" b\\\\ /\\n\\u0001\\u001f\x7f \xf0\x9f\x94\xa5\\u0000\",\"f32\":0.1,"
                        "\"f64\":0.10000000149011612,\"nil\":null,\"some\":-5,\"variant\":{\"Dense\":[0.1,1e+13]},"
                        "\"unit\":\"Relu\",\"bytes\":[0,10,255],\"none\":[],\"empty\":{},"
                        "\"list\":[-1,300,true,false,[]],\"keys\":{\"7\":true,\"false\":null}}");
    free(text);
    s = begin_writing(*state, true);
    write_all_kinds(s);
    text = end_writing(s);
    assert_string_equal(
        text, "{\n  \"text\": \"q\\\" b\\\\ /\\n\\u0001\\u001f\x7f \xf0\x9f\x94\xa5\\u0000\",\n  \"f32\": 0.1,\n"
              "  \"f64\": 0.10000000149011612,\n  \"nil\": null,\n  \"some\": -5,\n  \"variant\": {\n"
              "    \"Dense\": [\n      0.1,\n      1e+13\n    ]\n  },\n  \"unit\": \"Relu\",\n"
              "  \"bytes\": [\n    0,\n    10,\n    255\n  ],\n  \"none\": [],\n  \"empty\": {},\n"
              "  \"list\": [\n    -1,\n    300,\n    true,\n    false,\n    []\n  ],\n"
              "  \"keys\": {\n    \"7\": true,\n    \"false\": null\n  }\n}");
    free(text);
}

static void bytes_are_written_alike_at_every_depth(void **state)
{
    enum { COUNT = 70000 };
    uint8_t *bytes = malloc(COUNT);
    assert_non_null(bytes);
    for (size_t i = 0; i < COUNT; i++) {
        bytes[i] = (uint8_t)(i * 2654435761u >> 24);
    }
    for (int pretty = 0; pretty < 2; pretty++) {
        for (uint32_t depth = 0; depth < 100; depth = depth * 2 + 1) {
            uint32_t count = depth % 7 == 3 ? COUNT : 700;
            rec_blob blob = {.size = sizeof blob, .kind = REC_BLOB_TEMPORARY, .length = count, .data = bytes};
            scribe *s = begin_writing(*state, pretty);
            for (uint32_t i = 0; i < depth; i++) {
                CALL(list_begin, REC_FORM_LIST, 1);
            }
            CALL(bytes, &blob);
            for (uint32_t i = 0; i < depth; i++) {
                END();
            }
            char *text = end_writing(s),
                 *expected = malloc((size_t)count * (depth * 2 + 8) + depth * (depth + 1) * 8 + 64);
            size_t used = 0;
            assert_non_null(expected);
            for (uint32_t i = 0; i <= depth; i++) {
                used += (size_t)sprintf(expected + used, "[");
                if (pretty) {
                    used += (size_t)sprintf(expected + used, "\n%*s", (int)(i + 1) * 2, "");
                }
            }
            for (uint32_t i = 0; i < count; i++) {
                if (i) {
                    used += (size_t)sprintf(expected + used, pretty ? ",\n%*s" : ",%.*s", (int)(depth + 1) * 2 * pretty,
                                            "");
                }
                used += (size_t)sprintf(expected + used, "%d", bytes[i]);
            }
            for (uint32_t i = depth + 1; i-- > 0;) {
                if (pretty) {
                    used += (size_t)sprintf(expected + used, "\n%*s", (int)i * 2, "");
                }
                used += (size_t)sprintf(expected + used, "]");
            }
            assert_string_equal(text, expected);
            free(text);
            free(expected);
        }
    }
    free(bytes);
}

static void what_json_has_no_numbers_for_is_refused(void **state)
{
    scribe *s = begin_writing(*state, false);
    CALL(list_begin, REC_FORM_LIST, 1);
    assert_int_equal(s->v->numbers(s->writer, REC_UNKNOWN, REC_DTYPE_QFLOAT, "x", 1), REC_E_UNSUPPORTED);
    lr_json_writer_free(s->writer);
    (void)lr_sink_commit(s->sink);
    assert_int_equal(lr_job_end(&s->job), REC_E_UNSUPPORTED);
    assert_non_null(strstr(rec_error_message(), "JSON has no numbers of type"));
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_nested_text_is_read_with_its_offsets, setup, teardown),
        cmocka_unit_test_setup_teardown(any_value_is_a_text, setup, teardown),
        cmocka_unit_test_setup_teardown(runs_hold_one_type_each_and_change_where_the_type_does, setup, teardown),
        cmocka_unit_test_setup_teardown(strings_are_taken_out_of_their_escapes, setup, teardown),
        cmocka_unit_test_setup_teardown(long_lists_of_bytes_come_in_runs_without_a_gap, setup, teardown),
        cmocka_unit_test_setup_teardown(text_in_pieces_reads_as_the_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(a_callback_that_says_stop_is_obeyed_at_every_event, setup, teardown),
        cmocka_unit_test_setup_teardown(the_test_suite_is_accepted_and_refused_as_it_says, setup, teardown),
        cmocka_unit_test_setup_teardown(errors_say_what_was_expected_and_found_and_where, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cut_escape_is_not_completed_from_beyond_its_end, setup, teardown),
        cmocka_unit_test_setup_teardown(nesting_is_limited, setup, teardown),
        cmocka_unit_test_setup_teardown(a_number_of_more_than_4096_characters_is_refused, setup, teardown),
        cmocka_unit_test(a_record_is_recognised_by_its_first_key),
        cmocka_unit_test_setup_teardown(every_kind_is_written_as_serde_json_does, setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_are_written_alike_at_every_depth, setup, teardown),
        cmocka_unit_test_setup_teardown(what_json_has_no_numbers_for_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests_name("JSON", tests, NULL, NULL);
}
