/* SPDX-License-Identifier: MIT OR Apache-2.0
 * rec_set_tensors(): flat names in any order become the tree that setters in the right order would make; names that
 * exclude each other are rejected, and then nothing has changed. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/test_meter.h"
#include "librecord.h"

enum { MOST = 4096 };

static unsigned released;

static void count_release(void *user, const void *data)
{
    (void)user;
    (void)data;
    released++;
}

/* Tensor i holds the number i. */
static rec_status set_with(rec_record *record, const char *const *names, uint64_t count, uint32_t flags)
{
    static float data[MOST];
    static rec_tensor_spec specs[MOST];
    released = 0;
    for (uint64_t i = 0; i < count; i++) {
        data[i] = (float)i;
        specs[i] = (rec_tensor_spec){.size = sizeof specs[i],
                                     .dtype = REC_DTYPE_F32,
                                     .ownership = REC_BORROW,
                                     .data = &data[i],
                                     .data_size = 4,
                                     .id = i % 2 ? "" : NULL,
                                     .release = count_release};
    }
    return rec_set_tensors(record, names, specs, count, flags);
}

#define SET(record, flags, ...)                                                                                       \
    set_with(record, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), \
             flags)

static rec_record *empty(void)
{
    rec_record *record = rec_record_new(meter_context);
    assert_non_null(record);
    return record;
}

/* Paths and numbers of all leaves in their order: "a=0 b.0=1". */
static void assert_tree(const rec_record *record, const char *expected)
{
    char text[1024] = "";
    size_t used = 0;
    const char *path;
    const rec_tensor *tensor;
    rec_iterator *iterator = rec_iterate(record);
    while ((tensor = rec_iterator_next_tensor(iterator, &path))) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%.0f", used ? " " : "", path,
                                 (double)*rec_tensor_f32(tensor));
    }
    rec_iterator_free(iterator);
    assert_string_equal(text, expected);
}

static int32_t kind_at(const rec_record *record, const char *path)
{
    return rec_value_kind(rec_value_at(record, path));
}

static void test_indices_in_any_order(void **state)
{
    rec_record *record = empty();
    (void)state;
    assert_int_equal(SET(record, 0, "l.10.w", "l.0.w", "l.2.w", "l.1.w", "l.3.w", "l.9.w", "l.8.w", "l.7.w", "l.6.w",
                         "l.5.w", "l.4.w", "head"),
                     REC_OK);
    assert_int_equal(kind_at(record, "l"), REC_KIND_LIST);
    assert_tree(record, "l.0.w=1 l.1.w=3 l.2.w=2 l.3.w=4 l.4.w=10 l.5.w=9 l.6.w=8 l.7.w=7 l.8.w=6 l.9.w=5 l.10.w=0 "
                        "head=11");
    assert_null(rec_tensor_id(rec_tensor_at(record, "l.10.w")));
    assert_int_equal(strlen(rec_tensor_id(rec_tensor_at(record, "head"))), 13);
    rec_record_free(record);
    assert_int_equal(released, 12);
}

static void test_names_in_callers_order(void **state)
{
    rec_record *record = empty();
    (void)state;
    assert_int_equal(SET(record, 0, "z.b", "a", "z.a", "a-b.c", "a-b.a", "m"), REC_OK);
    assert_tree(record, "z.b=0 z.a=2 a=1 a-b.c=3 a-b.a=4 m=5");
    rec_record_free(record);
}

static void test_gaps(void **state)
{
    rec_record *record = empty();
    (void)state;
    assert_int_equal(SET(record, REC_NAMES_KEEP_GAPS, "l.3.w", "l.1.w"), REC_OK);
    assert_int_equal(kind_at(record, "l"), REC_KIND_MAP);
    assert_tree(record, "l.3.w=0 l.1.w=1");
    assert_int_equal(SET(record, REC_NAMES_CLOSE_GAPS, "k.30.w", "k.4.w", "k.4.b", "m.0", "m.01"), REC_OK);
    assert_int_equal(kind_at(record, "k"), REC_KIND_LIST);
    assert_int_equal(kind_at(record, "m"), REC_KIND_MAP);
    assert_tree(record, "l.3.w=0 l.1.w=1 k.0.w=1 k.0.b=2 k.1.w=0 m.0=3 m.01=4");
    rec_record_free(record);
}

/* The root has names, also where they are numbers: no struct of Rust is a list. */
static void test_root_stays_a_map(void **state)
{
    rec_record *record = empty();
    (void)state;
    assert_int_equal(SET(record, 0, "1", "0"), REC_OK);
    assert_int_equal(rec_value_kind(rec_root(record)), REC_KIND_MAP);
    assert_tree(record, "1=0 0=1");
    rec_record_free(record);
}

static void test_escapes(void **state)
{
    rec_record *record = empty();
    (void)state;
    assert_int_equal(SET(record, 0, "a", "a\\.b", "a\\.b\\.c", "d..e", "back\\slash"), REC_OK);
    assert_int_equal(rec_value_count(rec_root(record)), 5);
    assert_tree(record, "a=0 a\\.b=1 a\\.b\\.c=2 d..e=3 back\\\\slash=4");
    rec_record_free(record);
}

static void test_names_that_exclude_each_other(void **state)
{
    static const struct {
        const char *names[3], *message, *path;
    } cases[] = {
        {{"a.b", "x", "a"}, "`a.b` would be below `a`, which is a tensor itself", "a.b"},
        {{"a", "a-c", "a.b.c"}, "`a.b.c` would be below `a`, which is a tensor itself", "a.b.c"},
        {{"l.0", "l.1", "l.0"}, "two tensors of one name: `l.0` is name 0 and `l.0` is name 2", "l.0"},
        {{"back\\slash", "b", "back\\\\slash"},
         "two tensors of one name: `back\\slash` is name 0 and `back\\\\slash` is name 2",
         "back\\\\slash"},
        {{"a", "", "b"}, "name 1 is empty: the root itself cannot be one of many tensors", ""},
        {{"a", "b", NULL}, "name 2 is NULL", ""},
        {{"c", "here.w", "b"}, "the record has `here` already", "here.w"},
    };
    rec_record *record = empty();
    (void)state;
    assert_int_equal(rec_set_int(record, "here", 7), REC_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(set_with(record, cases[i].names, 3, 0), REC_E_ARGUMENT);
        assert_non_null(strstr(rec_error_message(), cases[i].message));
        assert_string_equal(rec_error_path(), cases[i].path);
        assert_int_equal(released, 3);
        assert_int_equal(rec_value_count(rec_root(record)), 1);
    }
    rec_record_free(record);
}

static void test_bad_arguments(void **state)
{
    static const char *const names[] = {"a", "b"};
    char deep[2 * 201 + 1];
    const char *deep_name = deep;
    float number = 1;
    rec_tensor_spec specs[2] = {
        {.size = sizeof *specs, .dtype = REC_DTYPE_F32, .data = &number, .data_size = 4, .release = count_release},
        {.size = sizeof *specs, .dtype = REC_DTYPE_F32, .data = &number, .data_size = 5, .release = count_release}};
    rec_record *record = empty();
    (void)state;
    released = 0;
    assert_int_equal(rec_set_tensors(record, names, specs, 2, 0), REC_E_ARGUMENT);
    assert_string_equal(rec_error_message(), "b: f32 [] takes 4 bytes, but 5 were given");
    assert_int_equal(released, 2);
    assert_int_equal(rec_set_tensors(record, names, specs, 2, 2), REC_E_ARGUMENT);
    assert_string_equal(rec_error_message(), "rec_set_tensors: unknown flags 0x2");
    assert_int_equal(released, 4);
    assert_int_equal(rec_set_tensors(record, NULL, specs, 2, 0), REC_E_ARGUMENT);
    assert_int_equal(released, 6);
    specs[1].data_size = 4;
    specs[1].size = 0;
    assert_int_equal(rec_set_tensors(record, names, specs, 2, 0), REC_E_ARGUMENT);
    assert_non_null(strstr(rec_error_message(), "b: the tensor's `size`"));
    for (size_t i = 0; i < sizeof deep; i++) {
        deep[i] = i % 2 ? '.' : 'a';
    }
    deep[sizeof deep - 1] = '\0';
    assert_int_equal(rec_set_tensors(record, &deep_name, specs, 1, 0), REC_E_LIMIT);
    assert_non_null(strstr(rec_error_message(), "levels; at most 200 are supported"));
    assert_int_equal(rec_set_tensors(record, NULL, NULL, 0, 0), REC_OK);
    assert_int_equal(rec_value_count(rec_root(record)), 0);
    rec_record_free(record);
}

/* All tensors or none, and the bytes of all are released once, whichever allocation fails. */
static void test_without_memory(void **state)
{
    rec_status status = REC_E_MEMORY;
    (void)state;
    for (int64_t left = 0; status != REC_OK; left++) {
        rec_record *record = empty();
        uint64_t before;
        assert_int_equal(rec_set_int(record, "n", 1), REC_OK);
        before = rec_value_count(rec_root(record));
        meter_left = left;
        status = SET(record, 0, "l.1.w", "l.0.w", "c", "d.e.f", "d.e.g", "h", "i", "j", "k");
        meter_left = -1;
        assert_true(status == REC_OK || status == REC_E_MEMORY);
        assert_int_equal(rec_value_count(rec_root(record)), before + (status == REC_OK ? 7 : 0));
        rec_record_free(record);
        assert_int_equal(released, 9);
    }
}

/* Any order gives the tree that the setters make of the natural one. */
static void test_against_setters(void **state)
{
    static char texts[MOST][48];
    static const char *names[MOST];
    uint64_t random = 7;
    rec_record *record = empty(), *other = empty();
    (void)state;
    for (uint64_t i = 0; i < MOST; i++) {
        float number = (float)i;
        (void)snprintf(texts[i], sizeof texts[i], "block.%" PRIu64 ".layer.%" PRIu64 ".w%" PRIu64, i / 64, i / 8 % 8,
                       i % 8);
        assert_int_equal(rec_set_f32(other, texts[i], &number, 0, NULL), REC_OK);
        names[i] = texts[i];
    }
    for (uint64_t i = MOST - 1; i > 0; i--) {
        uint64_t j = (random = random * UINT64_C(6364136223846793005) + 1442695040888963407u) >> 33;
        const char *swap = names[i];
        names[i] = names[j % (i + 1)];
        names[j % (i + 1)] = swap;
    }
    assert_int_equal(set_with(record, names, MOST, 0), REC_OK);
    for (uint64_t i = 0; i < MOST; i++) {
        assert_int_equal((uint64_t)*rec_tensor_f32(rec_tensor_at(record, names[i])), i);
        assert_non_null(rec_tensor_at(other, names[i]));
    }
    assert_int_equal(kind_at(record, "block"), REC_KIND_LIST);
    assert_int_equal(kind_at(record, "block.63.layer"), REC_KIND_LIST);
    assert_int_equal(rec_value_count(rec_value_at(record, "block")), 64);
    rec_record_free(record);
    rec_record_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_indices_in_any_order),
        cmocka_unit_test(test_names_in_callers_order),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_root_stays_a_map),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_names_that_exclude_each_other),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_against_setters),
    };
    return cmocka_run_group_tests_name("many tensors", tests, meter_set_up, meter_tear_down);
}
