/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Loads with the option `data` = skip: tensors have no data, but bytes values are complete, whatever their size and
 * wherever the file comes from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librecord.h>

#include "tests/scratch.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

static const uint64_t sizes[] = {0, 1, 64, 65, 300, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, MIB};

/* ------------------------------------------------------------------------------------------------- the records -- */

typedef struct message {
    uint8_t *at;
    size_t length;
} message;

static void put(message *m, const void *bytes, size_t length)
{
    m->at = realloc(m->at, m->length + length + 1);
    assert_non_null(m->at);
    memcpy(m->at + m->length, bytes, length);
    m->length += length;
}

static void put_byte(message *m, unsigned byte)
{
    put(m, &(uint8_t){(uint8_t)byte}, 1);
}

static void put_text(message *m, const char *text)
{
    put_byte(m, 0xa0 + (unsigned)strlen(text));
    put(m, text, strlen(text));
}

static uint8_t byte_at(uint64_t index)
{
    return (uint8_t)(index * 7 + index / 251 + 1);
}

/* A byte string of MessagePack. */
static void put_bytes(message *m, uint64_t size)
{
    put_byte(m, 0xc6);
    for (int shift = 24; shift >= 0; shift -= 8) {
        put_byte(m, (unsigned)(size >> shift & 255));
    }
    m->at = realloc(m->at, m->length + (size_t)size + 1);
    assert_non_null(m->at);
    for (uint64_t i = 0; i < size; i++) {
        m->at[m->length++] = byte_at(i);
    }
}

/* A map that has the key of a tensor's data and is no tensor. */
static void put_lookalike(message *m, uint64_t size)
{
    put_byte(m, 0x83);
    put_text(m, "bytes");
    put_bytes(m, size);
    put_text(m, "shape");
    put_byte(m, 3);
    put_text(m, "dtype");
    put_text(m, "F32");
}

static void put_tensor(message *m)
{
    put_byte(m, 0x83);
    put_text(m, "bytes");
    put_bytes(m, 400);
    put_text(m, "shape");
    put(m, "\x91\x64", 2);
    put_text(m, "dtype");
    put_text(m, "F32");
}

static void put_item(message *m, uint64_t size, bool lookalike)
{
    put_text(m, "item");
    put_byte(m, 0x84);
    put_text(m, "raw");
    put_bytes(m, size);
    put_text(m, "list");
    put_byte(m, 0x92);
    put_bytes(m, size);
    put_byte(m, 0xc0);
    put_text(m, "map");
    if (lookalike) {
        put_lookalike(m, size);
    } else {
        put_byte(m, 0x81);
        put_text(m, "bytes");
        put_bytes(m, size);
    }
    put_text(m, "weight");
    put_tensor(m);
}

static void put_metadata(message *m)
{
    static const char *const pairs[] = {"float", "f32",     "int",    "i32",      "format",
                                        "x",     "version", "0.21.0", "settings", "x"};
    put_text(m, "metadata");
    put_byte(m, 0x85);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        put_text(m, pairs[i]);
    }
}

/* @param late the metadata come after the item, so that the file is read twice. */
static message make(uint64_t size, bool lookalike, bool late)
{
    message m = {0};
    put_byte(&m, 0x82);
    if (!late) {
        put_metadata(&m);
    }
    put_item(&m, size, lookalike);
    if (late) {
        put_metadata(&m);
    }
    return m;
}

/* ----------------------------------------------------------------------------------------------------- loading -- */

enum { MAPPED, UNMAPPED, PIPED, INFLATED, SPILLED, WAYS };
static const char *const way_names[] = {"mapped", "read", "from a pipe", "inflated", "spilled"};

static rec_recorder *headers_recorder(rec_context *context, int way)
{
    rec_recorder *r = rec_open_recorder_in(context, "Auto", REC_PRECISION_KEEP);
    assert_non_null(r);
    assert_int_equal(rec_recorder_set(r, "adapter", "none"), REC_OK);
    assert_int_equal(rec_recorder_set(r, "data", "skip"), REC_OK);
    assert_int_equal(rec_recorder_set(r, "map", way == UNMAPPED ? "no" : "yes"), REC_OK);
    return r;
}

static rec_record *load_by(const char *path, int way)
{
    rec_context *context = rec_context_new(NULL);
    rec_recorder *r;
    rec_record *record;
    char command[700];
    assert_non_null(context);
    if (way == SPILLED) {
        assert_int_equal(rec_context_set_spill(context, 0), REC_OK);
    }
    r = headers_recorder(context, way);
    if (way == PIPED || way == INFLATED) {
        FILE *pipe;
        (void)snprintf(command, sizeof command, way == PIPED ? "cat '%s'" : "gzip -1 -c '%s' >'%s.gz'", path, path);
        pipe = popen(command, "r");
        assert_non_null(pipe);
        if (way == INFLATED) {
            assert_int_equal(pclose(pipe), 0);
            (void)snprintf(command, sizeof command, "%s.gz", path);
            record = rec_load(r, command);
        } else {
            record = rec_load_fd(r, fileno(pipe), "a pipe");
            (void)pclose(pipe);
        }
    } else {
        record = rec_load(r, path);
    }
    rec_close_recorder(r);
    rec_context_free(context);
    return record;
}

static void assert_bytes(const char *what, const rec_record *record, const char *path, uint64_t size)
{
    const rec_value *value = rec_value_at(record, path);
    uint64_t found = 1234567, wrong = 0;
    const uint8_t *bytes = rec_value_bytes(value, &found);
    assert_int_equal(rec_value_kind(value), REC_KIND_BYTES);
    if (!bytes || found != size) {
        fail_msg("%s, %s: %llu bytes at %p in place of %llu", what, path, (unsigned long long)found,
                 (const void *)bytes, (unsigned long long)size);
        return;
    }
    while (wrong < size && bytes[wrong] == byte_at(wrong)) {
        wrong++;
    }
    if (wrong < size) {
        fail_msg("%s, %s: byte %llu of %llu differs", what, path, (unsigned long long)wrong, (unsigned long long)size);
    }
}

static void assert_values(const char *path, uint64_t size)
{
    for (int way = 0; way < WAYS; way++) {
        rec_record *record = load_by(path, way);
        const rec_tensor *tensor;
        if (!record) {
            fail_msg("%llu bytes, %s: %s", (unsigned long long)size, way_names[way], rec_error_message());
            return;
        }
        assert_bytes(way_names[way], record, "raw", size);
        assert_bytes(way_names[way], record, "list.0", size);
        assert_bytes(way_names[way], record, "map.bytes", size);
        tensor = rec_tensor_at(record, "weight");
        assert_non_null(tensor);
        assert_int_equal(rec_tensor_nbytes(tensor), 400);
        assert_null(rec_tensor_bytes(tensor, NULL));
        assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
        rec_record_free(record);
    }
}

static void assert_all_sizes(bool lookalike, bool late)
{
    scratch *s = scratch_new();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        message m = make(sizes[i], lookalike, late);
        char *path = scratch_write(s, "values.mpk", m.at, m.length);
        assert_values(path, sizes[i]);
        free(path);
        free(m.at);
    }
    scratch_free(s);
}

static void test_bytes_values_are_complete(void **state)
{
    (void)state;
    assert_all_sizes(false, false);
}

static void test_bytes_of_maps_like_tensors_are_complete(void **state)
{
    (void)state;
    assert_all_sizes(true, false);
}

static void test_bytes_before_metadata_are_complete(void **state)
{
    (void)state;
    assert_all_sizes(false, true);
    assert_all_sizes(true, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_values_are_complete),
        cmocka_unit_test(test_bytes_of_maps_like_tensors_are_complete),
        cmocka_unit_test(test_bytes_before_metadata_are_complete),
    };
    return cmocka_run_group_tests_name("data = skip", tests, NULL, NULL);
}
