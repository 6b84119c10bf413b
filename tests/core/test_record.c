/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The record tree through librecord.h: paths, editing, copies, who owns bytes, iterating, metadata, ids. */
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

#include <librecord/plugin.h>

#include "tests/counted.h"
#include "tests/craft.h"
#include "librecord.h"
#include "tests/little.h"

static rec_record *empty(void)
{
    rec_record *record = rec_record_new(NULL);
    assert_non_null(record);
    return record;
}

/* A record with that item, read from MessagePack; `c` is to be freed after it. */
static rec_record *loaded(const craft *c)
{
    rec_record *record = craft_load(c, REC_PRECISION_KEEP);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    return record;
}

static void put_f32(rec_record *record, const char *path, float value)
{
    uint64_t shape[] = {1};
    assert_int_equal(rec_set_f32(record, path, &value, 1, shape), REC_OK);
}

static float first_f32(const rec_record *record, const char *path)
{
    const rec_tensor *tensor = rec_tensor_at(record, path);
    const float *data = tensor ? rec_tensor_f32(tensor) : NULL;
    if (!data) {
        fail_msg("%s: %s", path, rec_error_message());
    }
    return data[0];
}

static uint64_t uint_at(const rec_record *record, const char *path)
{
    const rec_value *value = rec_value_at(record, path);
    if (!value || rec_value_kind(value) != REC_KIND_UINT) {
        fail_msg("%s is not an unsigned integer", path);
    }
    return rec_value_scalar(value).v.u;
}

static void assert_error(rec_status status, const char *message)
{
    assert_int_equal(rec_error_status(), status);
    assert_string_equal(rec_error_message(), message);
}

/* ------------------------------------------------------------------------------------------------------- paths -- */

static void a_new_record_is_an_empty_map_of_no_origin(void **state)
{
    rec_record *record = empty();
    (void)state;
    assert_int_equal(rec_value_kind(rec_root(record)), REC_KIND_MAP);
    assert_int_equal(rec_value_count(rec_root(record)), 0);
    assert_ptr_equal(rec_value_at(record, ""), rec_root(record));
    assert_int_equal(rec_metadata_count(record), 0);
    assert_string_equal(rec_record_origin(record)->recorder, "");
    assert_string_equal(rec_record_origin(record)->file, "");
    assert_int_equal(rec_record_origin(record)->layout, 0);
    assert_true(rec_record_origin(record)->stored == REC_UNKNOWN);
    rec_record_free(record);
    rec_record_free(NULL);
}

static void dots_and_backslashes_in_names_are_escaped(void **state)
{
    static const char *const paths[] = {"a\\.b", "c\\\\d.e", "f\\\\\\.g.0", "h.\\\\", "i\\..\\.j"};
    static const char *const names[] = {"a.b", "c\\d", "f\\.g", "h", "i."};
    rec_record *record = empty();
    rec_iterator *iterator;
    const char *path;
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(rec_set_uint(record, paths[i], i), REC_OK);
    }
    for (size_t i = 0; i < 5; i++) {
        rec_scalar key = rec_value_key(rec_root(record), i);
        assert_int_equal(uint_at(record, paths[i]), i);
        assert_string_equal(key.text, names[i]);
    }
    assert_null(rec_value_at(record, "a.b"));
    iterator = rec_iterate(record);
    for (size_t i = 0; i < 5; i++) {
        assert_non_null(rec_iterator_next(iterator, &path));
        assert_string_equal(path, paths[i]);
    }
    assert_null(rec_iterator_next(iterator, &path));
    rec_iterator_free(iterator);
    rec_record_free(record);
}

/* Names that are empty, wherever they stand, and backslashes that escape nothing. */
static void every_path_leads_to_its_own_value(void **state)
{
    static const char *const paths[] = {".a", "b.", "..c", "d..e", "f\\\\g", "h\\\\\\.i", "j\\\\.k"};
    rec_record *record = empty();
    rec_iterator *iterator;
    const rec_value *value;
    const char *path;
    unsigned seen = 0;
    (void)state;
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(rec_set_uint(record, paths[i], i), REC_OK);
    }
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(uint_at(record, paths[i]), i);
    }
    assert_int_equal(uint_at(record, "f\\g"), 4); /* it stands for itself */
    iterator = rec_iterate(record);
    while ((value = rec_iterator_next(iterator, &path)) != NULL) {
        bool one = false;
        for (size_t i = 0; i < 7; i++) {
            one = one || strcmp(path, paths[i]) == 0;
        }
        assert_true(one);
        assert_ptr_equal(rec_value_at(record, path), value);
        seen++;
    }
    assert_int_equal(seen, 7);
    rec_iterator_free(iterator);
    rec_record_free(record);
}

static void names_of_others_are_escaped_and_back(void **state)
{
    static const struct {
        const char *name, *path;
    } cases[] = {{"", ""},         {"a.b", "a.b"},         {"x\\y", "x\\\\y"}, {"\\", "\\\\"},
                 {"\\.", "\\\\."}, {"a\\\\", "a\\\\\\\\"}, {"..", ".."},       {"\xc3\xa4", "\xc3\xa4"}};
    char text[16], back[16];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length = strlen(cases[i].path), plain = strlen(cases[i].name);
        assert_int_equal(rec_path_escape(cases[i].name, plain, NULL, 0), length);
        assert_int_equal(rec_path_escape(cases[i].name, plain, text, sizeof text), length);
        assert_string_equal(text, cases[i].path);
        assert_int_equal(rec_path_unescape(text, length, NULL, 0), plain);
        assert_int_equal(rec_path_unescape(text, length, back, sizeof back), plain);
        assert_string_equal(back, cases[i].name);
    }
    assert_int_equal(rec_path_escape("a\\bcd", 5, text, 4), 6); /* cut, with its end */
    assert_string_equal(text, "a\\\\");
    assert_int_equal(rec_path_unescape("a\\.b\\\\c\\d\\", 10, text, sizeof text), 8);
    assert_string_equal(text, "a.b\\c\\d\\");
    assert_int_equal(rec_path_unescape("a\\.b", 4, text, 3), 3);
    assert_string_equal(text, "a.");
    assert_int_equal(rec_path_escape(NULL, 3, text, sizeof text), 0);
    assert_int_equal(rec_path_unescape("abc", 3, NULL, 3), 0);
}

static void keys_that_are_numbers_or_bools_are_reached_by_their_text(void **state)
{
    static const char *const paths[] = {
        "7", "-3", "true", "false", "18446744073709551615", "-9223372036854775808", "9223372036854775808"};
    craft c = {0};
    rec_record *record;
    rec_iterator *iterator;
    const char *path;
    (void)state;
    craft_begin(&c, "0.21.0", CRAFT_FULL);
    craft_map(&c, 7);
    for (unsigned i = 0; i < 7; i++) {
        if (i == 0) {
            craft_uint(&c, 7);
        } else if (i == 1) {
            craft_int(&c, -3);
        } else if (i < 4) {
            craft_bool(&c, i == 2);
        } else if (i == 4) {
            craft_uint(&c, UINT64_MAX);
        } else if (i == 5) {
            craft_int(&c, INT64_MIN);
        } else {
            craft_uint(&c, (uint64_t)INT64_MAX + 1);
        }
        craft_uint(&c, i);
    }
    record = loaded(&c);
    iterator = rec_iterate(record);
    for (unsigned i = 0; i < 7; i++) {
        assert_non_null(rec_iterator_next(iterator, &path));
        assert_string_equal(path, paths[i]);
        assert_int_equal(uint_at(record, path), i);
    }
    rec_iterator_free(iterator);
    assert_int_equal(rec_value_key(rec_root(record), 0).kind, REC_KIND_UINT);
    assert_int_equal(rec_value_key(rec_root(record), 1).kind, REC_KIND_INT);
    assert_int_equal(rec_value_key(rec_root(record), 2).kind, REC_KIND_BOOL);
    assert_null(rec_value_at(record, "07"));
    assert_null(rec_value_at(record, "18446744073709551616"));
    assert_null(rec_value_at(record, "-9223372036854775809"));
    assert_null(rec_value_at(record, "99999999999999999999999"));
    /* An edit reaches the key that is there instead of adding its text. */
    assert_int_equal(rec_set_uint(record, "7", 70), REC_OK);
    assert_int_equal(rec_value_count(rec_root(record)), 7);
    assert_int_equal(rec_remove(record, "-3"), REC_OK);
    assert_int_equal(rec_value_count(rec_root(record)), 6);
    rec_record_free(record);
    craft_free(&c);
}

static void lists_are_reached_by_plain_indices(void **state)
{
    rec_record *record = empty();
    (void)state;
    for (uint64_t i = 0; i < 12; i++) {
        char path[32];
        (void)snprintf(path, sizeof path, "l.%u", (unsigned)i);
        assert_int_equal(rec_set_uint(record, path, i), REC_OK);
    }
    assert_int_equal(rec_value_kind(rec_value_at(record, "l")), REC_KIND_LIST);
    assert_int_equal(rec_value_count(rec_value_at(record, "l")), 12);
    assert_int_equal(uint_at(record, "l.11"), 11);
    assert_null(rec_value_at(record, "l.12"));
    assert_null(rec_value_at(record, "l.01"));
    assert_null(rec_value_at(record, "l.-1"));
    assert_null(rec_value_at(record, "l."));
    assert_null(rec_value_at(record, "l.1.2"));
    assert_null(rec_value_item(rec_value_at(record, "l"), 12));
    rec_record_free(record);
}

static void a_path_longer_than_any_buffer_works(void **state)
{
    enum { LEVELS = 60, NAME = 50 };
    char path[LEVELS * (NAME + 1) + 1];
    rec_record *record = empty();
    rec_iterator *iterator;
    const char *found;
    (void)state;
    for (size_t i = 0; i < LEVELS * (NAME + 1); i++) {
        path[i] = i % (NAME + 1) == NAME ? '.' : 'x';
    }
    path[sizeof path - 2] = '\0';
    put_f32(record, path, 4);
    assert_true(first_f32(record, path) == 4.0f);
    iterator = rec_iterate(record);
    assert_non_null(rec_iterator_next(iterator, &found));
    assert_string_equal(found, path);
    rec_iterator_free(iterator);
    rec_record_free(record);
}

static void what_is_not_there_is_named_with_what_is(void **state)
{
    rec_record *record = empty();
    (void)state;
    put_f32(record, "layers.0.weight", 1);
    assert_int_equal(rec_set_uint(record, "layers.0.steps", 1), REC_OK);
    assert_null(rec_tensor_at(record, "layers.0.wieght"));
    assert_error(REC_E_NOT_FOUND, "layers.0.wieght: the record has no such key\n  Did you mean layers.0.weight?");
    assert_string_equal(rec_error_path(), "layers.0.wieght");
    assert_string_equal(rec_error_hint(), "Did you mean layers.0.weight?");
    assert_null(rec_tensor_at(record, "layers.0.running_mean"));
    assert_error(REC_E_NOT_FOUND, "layers.0.running_mean: the record has no such key\n  layers.0 has: weight, steps");
    assert_null(rec_tensor_at(record, "layers.3.weight"));
    assert_error(REC_E_NOT_FOUND, "layers.3.weight: the record has no such key\n  layers is a list of 1 item.");
    assert_null(rec_tensor_at(record, "layers.0.steps.x"));
    assert_error(REC_E_NOT_FOUND,
                 "layers.0.steps.x: the record has no such key\n  layers.0.steps has nothing below it.");
    assert_null(rec_tensor_at(record, "layers.0.steps"));
    assert_error(REC_E_NOT_FOUND, "layers.0.steps: there is an unsigned integer here, not a tensor");
    assert_true(first_f32(record, "layers.0.weight") == 1.0f);
    assert_int_equal(rec_error_status(), REC_OK); /* success clears it */
    assert_string_equal(rec_error_message(), "");
    rec_record_free(record);
    record = empty();
    assert_null(rec_tensor_at(record, "a"));
    assert_error(REC_E_NOT_FOUND, "a: the record has no such key\n  The record has nothing below it.");
    rec_record_free(record);
}

/* ----------------------------------------------------------------------------------------------------- editing -- */

static void missing_levels_are_made(void **state)
{
    rec_record *record = empty();
    (void)state;
    put_f32(record, "a.0.b.c", 1);
    assert_int_equal(rec_value_kind(rec_value_at(record, "a")), REC_KIND_LIST);
    assert_int_equal(rec_value_kind(rec_value_at(record, "a.0.b")), REC_KIND_MAP);
    assert_int_equal(rec_set_uint(record, "m.1", 5), REC_OK); /* not "0": a map */
    assert_int_equal(rec_value_kind(rec_value_at(record, "m")), REC_KIND_MAP);
    assert_int_equal(rec_set_uint(record, "0", 6), REC_OK); /* the root stays a map */
    assert_int_equal(rec_value_kind(rec_root(record)), REC_KIND_MAP);
    assert_int_equal(rec_set_nil(record, "none"), REC_OK); /* an absent option can be filled */
    assert_int_equal(rec_set_bool(record, "none.0", 7), REC_OK);
    assert_int_equal(rec_value_kind(rec_value_at(record, "none")), REC_KIND_LIST);
    assert_int_equal(rec_value_scalar(rec_value_at(record, "none.0")).v.i, 1);
    rec_record_free(record);
}

static void a_path_that_cannot_be_made_is_refused_and_changes_nothing(void **state)
{
    rec_record *record = empty();
    (void)state;
    assert_int_equal(rec_set_empty(record, "l", REC_KIND_LIST), REC_OK);
    assert_int_equal(rec_set_uint(record, "l.1", 1), REC_E_ARGUMENT);
    assert_error(REC_E_ARGUMENT, "l.1: index 1 is beyond the end of a list of 0 items");
    assert_int_equal(rec_set_uint(record, "l.x", 1), REC_E_ARGUMENT);
    assert_error(REC_E_ARGUMENT, "l.x: `x` cannot be put into a list");
    assert_int_equal(rec_set_uint(record, "n", 1), REC_OK);
    assert_int_equal(rec_set_uint(record, "n.x", 1), REC_E_ARGUMENT);
    assert_error(REC_E_ARGUMENT, "n.x: `x` cannot be put into an unsigned integer");
    put_f32(record, "t", 1);
    assert_int_equal(rec_set_uint(record, "t.0", 1), REC_E_ARGUMENT);
    assert_error(REC_E_ARGUMENT, "t.0: `0` cannot be put into a tensor");
    assert_int_equal(rec_set_empty(record, "e", REC_KIND_TENSOR), REC_E_ARGUMENT);
    assert_error(REC_E_ARGUMENT, "e: only a list or a map can be empty, not a tensor");
    assert_int_equal(rec_set_scalar(record, "e", (rec_scalar){.kind = REC_KIND_LIST}), REC_E_ARGUMENT);
    assert_error(REC_E_ARGUMENT, "e: a list is not a scalar");
    assert_int_equal(rec_set_scalar(record, "e", (rec_scalar){.kind = -1}), REC_E_ARGUMENT);
    assert_int_equal(rec_value_count(rec_root(record)), 3);
    assert_int_equal(rec_value_count(rec_value_at(record, "l")), 0);
    rec_record_free(record);
}

static void test_setters_replace_no_subtree(void **state)
{
    rec_record *record = empty();
    const rec_value *root = rec_root(record);
    (void)state;
    put_f32(record, "a.b", 1);
    put_f32(record, "a.c", 2);
    assert_int_equal(rec_set_uint(record, "a", 1), REC_E_ARGUMENT);
    assert_error(REC_E_ARGUMENT, "a: a map of 2 entries is here, which would be lost\n"
                                 "  Remove it first: rec_clear(), rec_remove().");
    assert_int_equal(rec_set_nil(record, "a"), REC_E_ARGUMENT);
    assert_int_equal(rec_set_empty(record, "a", REC_KIND_LIST), REC_E_ARGUMENT);
    assert_int_equal(rec_set_value(record, "a", rec_value_at(record, "a.b")), REC_E_ARGUMENT);
    assert_int_equal(rec_set_uint(record, "", 1), REC_E_ARGUMENT);
    assert_int_equal(rec_value_count(rec_value_at(record, "a")), 2);
    assert_int_equal(rec_value_count(root), 1);
    put_f32(record, "a.b", 3); /* a value may be replaced */
    assert_true(first_f32(record, "a.b") == 3.0f);
    put_f32(record, "l.0", 1);
    assert_int_equal(rec_set_uint(record, "l", 1), REC_E_ARGUMENT);
    assert_int_equal(rec_remove(record, "l"), REC_OK);
    assert_int_equal(rec_set_uint(record, "l", 1), REC_OK);
    assert_int_equal(rec_set_empty(record, "e", REC_KIND_MAP), REC_OK);
    assert_int_equal(rec_set_uint(record, "e", 1), REC_OK); /* nothing is below it */
    assert_int_equal(rec_clear(record, "b"), REC_E_NOT_FOUND);
    assert_int_equal(rec_clear(record, "a"), REC_OK);
    assert_int_equal(rec_value_kind(rec_value_at(record, "a")), REC_KIND_NIL);
    assert_int_equal(rec_set_uint(record, "a", 1), REC_OK);
    rec_record_free(record);
}

/* Names in the order that maps of other languages have them: 0, 1, 10, 11, …, 2, … */
static void test_order_of_indices_does_not_matter(void **state)
{
    enum { LAYERS = 12 };
    static const int orders[][LAYERS] = {{0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9},
                                         {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
                                         {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
                                         {5, 0, 11, 1, 10, 2, 9, 3, 8, 4, 7, 6}};
    char path[40];
    (void)state;
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        rec_record *record = empty();
        for (int i = 0; i < LAYERS; i++) {
            (void)snprintf(path, sizeof path, "l.%d.w", orders[o][i]);
            put_f32(record, path, (float)orders[o][i]);
            (void)snprintf(path, sizeof path, "l.%d.b", orders[o][i]);
            put_f32(record, path, 0);
        }
        assert_int_equal(rec_value_kind(rec_value_at(record, "l")), REC_KIND_LIST);
        assert_int_equal(rec_value_count(rec_value_at(record, "l")), LAYERS);
        for (int i = 0; i < LAYERS; i++) {
            (void)snprintf(path, sizeof path, "l.%d.w", i);
            assert_true(first_f32(record, path) == (float)i);
        }
        rec_record_free(record);
    }
}

static void test_indices_with_gaps_stay_a_map(void **state)
{
    rec_record *record = empty(), *other = empty();
    (void)state;
    put_f32(record, "l.0", 0);
    put_f32(record, "l.10", 10);
    assert_int_equal(rec_value_kind(rec_value_at(record, "l")), REC_KIND_MAP);
    assert_true(first_f32(record, "l.0") == 0.0f && first_f32(record, "l.10") == 10.0f);
    put_f32(other, "l.10", 10);
    put_f32(other, "l.0", 0);
    assert_int_equal(rec_value_kind(rec_value_at(other, "l")), REC_KIND_MAP);
    put_f32(other, "n.0", 0); /* an index and another name, in either order */
    put_f32(other, "n.x", 1);
    put_f32(other, "n.1", 1);
    assert_int_equal(rec_value_kind(rec_value_at(other, "n")), REC_KIND_MAP);
    assert_int_equal(rec_value_count(rec_value_at(other, "n")), 3);
    put_f32(other, "o.x", 1);
    put_f32(other, "o.0", 0);
    assert_int_equal(rec_value_kind(rec_value_at(other, "o")), REC_KIND_MAP);
    assert_int_equal(rec_set_uint(other, "huge.18446744073709551615", 1), REC_OK);
    assert_int_equal(rec_value_kind(rec_value_at(other, "huge")), REC_KIND_MAP);
    rec_record_free(record);
    rec_record_free(other);
}

static void scalars_keep_their_kinds(void **state)
{
    static const char text[] = "a\0b";
    rec_record *record = empty();
    rec_scalar scalar;
    (void)state;
    assert_int_equal(rec_set_int(record, "i", -5), REC_OK);
    assert_int_equal(rec_set_float(record, "f", 0.1), REC_OK);
    assert_int_equal(rec_set_string(record, "s", "grün"), REC_OK);
    assert_int_equal(rec_set_nil(record, "n"), REC_OK);
    assert_int_equal(
        rec_set_scalar(record, "z", (rec_scalar){.kind = REC_KIND_STRING, .v = {.length = 3}, .text = text}), REC_OK);
    assert_int_equal(rec_set_scalar(record, "w", (rec_scalar){.kind = REC_KIND_FLOAT, .bits = 32, .v = {.f = 0.5}}),
                     REC_OK);
    scalar = rec_value_scalar(rec_value_at(record, "i"));
    assert_int_equal(scalar.kind, REC_KIND_INT);
    assert_int_equal(scalar.v.i, -5);
    scalar = rec_value_scalar(rec_value_at(record, "f"));
    assert_int_equal(scalar.kind, REC_KIND_FLOAT);
    assert_true(scalar.v.f == 0.1);
    assert_int_equal(scalar.bits, 64);
    scalar = rec_value_scalar(rec_value_at(record, "s"));
    assert_string_equal(scalar.text, "grün");
    assert_int_equal(scalar.v.length, 5);
    assert_int_equal(rec_value_scalar(rec_value_at(record, "n")).kind, REC_KIND_NIL);
    scalar = rec_value_scalar(rec_value_at(record, "z"));
    assert_int_equal(scalar.v.length, 3);
    assert_memory_equal(scalar.text, text, 4);
    assert_int_equal(rec_value_scalar(rec_value_at(record, "w")).bits, 32);
    assert_int_equal(rec_value_scalar(rec_root(record)).kind, REC_KIND_NIL); /* of what is no scalar */
    rec_record_free(record);
}

static void removing_closes_lists_and_keeps_the_order_of_maps(void **state)
{
    enum { KEYS = 50 };
    rec_record *record = empty();
    char path[32];
    (void)state;
    for (unsigned i = 0; i < KEYS; i++) {
        (void)snprintf(path, sizeof path, "m.k%u", i);
        assert_int_equal(rec_set_uint(record, path, i), REC_OK);
        (void)snprintf(path, sizeof path, "l.%u", i);
        assert_int_equal(rec_set_uint(record, path, i), REC_OK);
    }
    for (unsigned i = 0; i < KEYS; i += 2) {
        (void)snprintf(path, sizeof path, "m.k%u", i);
        assert_int_equal(rec_remove(record, path), REC_OK);
        (void)snprintf(path, sizeof path, "l.%u", i / 2);
        assert_int_equal(rec_remove(record, path), REC_OK);
    }
    for (unsigned i = 0; i < KEYS / 2; i++) {
        (void)snprintf(path, sizeof path, "k%u", i * 2 + 1);
        assert_string_equal(rec_value_key(rec_value_at(record, "m"), i).text, path);
        (void)snprintf(path, sizeof path, "m.k%u", i * 2 + 1);
        assert_int_equal(uint_at(record, path), i * 2 + 1);
        (void)snprintf(path, sizeof path, "m.k%u", i * 2);
        assert_null(rec_value_at(record, path));
        (void)snprintf(path, sizeof path, "l.%u", i);
        assert_int_equal(uint_at(record, path), i * 2 + 1);
    }
    assert_int_equal(rec_set_uint(record, "m.k0", 100), REC_OK); /* again, at the end now */
    assert_string_equal(rec_value_key(rec_value_at(record, "m"), KEYS / 2).text, "k0");
    assert_int_equal(rec_remove(record, "m.k2"), REC_E_NOT_FOUND);
    assert_non_null(strstr(rec_error_message(), "m.k2: the record has no such key\n  Did you mean m.k"));
    assert_int_equal(rec_remove(record, "l.99"), REC_E_NOT_FOUND);
    assert_int_equal(rec_remove(record, ""), REC_E_ARGUMENT);
    assert_error(REC_E_ARGUMENT, "the root cannot be removed");
    rec_record_free(record);
}

static void a_value_may_be_copied_into_itself(void **state)
{
    rec_record *record = empty();
    (void)state;
    put_f32(record, "a.w", 3);
    assert_true(first_f32(record, "a.w") == 3.0f);
    assert_int_equal(rec_set_value(record, "a.again", rec_value_at(record, "a")), REC_OK);
    assert_true(first_f32(record, "a.again.w") == 3.0f);
    assert_int_equal(rec_set_value(record, "a.again.w", rec_value_at(record, "a.again.w")), REC_OK);
    assert_true(first_f32(record, "a.again.w") == 3.0f);
    assert_int_equal(rec_value_count(rec_value_at(record, "a")), 2);
    rec_record_free(record);
}

static void a_value_moves_to_a_record_that_outlives_its_own(void **state)
{
    craft c = {0};
    float numbers[] = {1, 2, 3};
    rec_record *from, *to = empty();
    const rec_value *list;
    (void)state;
    craft_begin(&c, "0.21.0", CRAFT_FULL);
    craft_map(&c, 3);
    craft_str(&c, "w");
    craft_v2(&c, "F32", 3, little(numbers, sizeof *numbers, 3), sizeof numbers);
    craft_str(&c, "bytes");
    craft_bin(&c, "raw", 3);
    craft_str(&c, "numbers");
    craft_list(&c, 2000);
    for (unsigned i = 0; i < 2000; i++) {
        craft_uint(&c, i * 50);
    }
    from = loaded(&c);
    assert_int_equal(rec_set_value(to, "moved", rec_root(from)), REC_OK);
    rec_record_free(from);
    assert_true(first_f32(to, "moved.w") == 1.0f);
    list = rec_value_at(to, "moved.numbers");
    assert_int_equal(rec_value_kind(list), REC_KIND_NUMBERS);
    assert_int_equal(rec_value_number(list, 1999).v.u, 99950);
    assert_int_equal(rec_value_number(list, 2000).kind, REC_KIND_NIL);
    {
        uint64_t size = 0;
        assert_memory_equal(rec_value_bytes(rec_value_at(to, "moved.bytes"), &size), "raw", 3);
        assert_int_equal(size, 3);
    }
    rec_record_free(to);
    craft_free(&c);
}

/* ------------------------------------------------------------------------------------------------------ copies -- */

static rec_record *filled(void)
{
    rec_record *record = empty();
    char key[16];
    put_f32(record, "w", 1);
    put_f32(record, "list.0", 2);
    for (unsigned i = 0; i < 12; i++) {
        (void)snprintf(key, sizeof key, "key%u", i);
        assert_int_equal(rec_metadata_set(record, key, key), REC_OK);
    }
    return record;
}

static void assert_filled(const rec_record *record)
{
    char key[16];
    assert_true(first_f32(record, "w") == 1.0f);
    assert_true(first_f32(record, "list.0") == 2.0f);
    for (unsigned i = 0; i < 12; i++) {
        (void)snprintf(key, sizeof key, "key%u", i);
        assert_non_null(rec_metadata(record, key));
        assert_string_equal(rec_metadata(record, key), key);
    }
}

static void either_of_two_copies_may_go_first(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        rec_record *records[2] = {filled(), NULL};
        records[1] = rec_record_copy(records[0]);
        assert_non_null(records[1]);
        assert_string_equal(rec_tensor_id(rec_tensor_at(records[0], "w")),
                            rec_tensor_id(rec_tensor_at(records[1], "w")));
        assert_filled(records[0]);
        rec_record_free(records[first]);
        assert_filled(records[!first]);
        rec_record_free(records[!first]);
    }
}

static void copies_share_bytes_and_are_edited_apart(void **state)
{
    static const float data[] = {1, 2, 3, 4};
    uint64_t shape[] = {4};
    rec_tensor_spec spec = {.size = sizeof spec,
                            .dtype = REC_DTYPE_F32,
                            .rank = 1,
                            .ownership = REC_BORROW,
                            .shape = shape,
                            .data = data,
                            .data_size = sizeof data,
                            .id = "0123456789"};
    rec_record *record = empty();
    rec_record *copy;
    (void)state;
    assert_int_equal(rec_set_tensor(record, "w", &spec), REC_OK);
    copy = rec_record_copy(record);
    assert_ptr_equal(rec_tensor_bytes(rec_tensor_at(copy, "w"), NULL), data);
    assert_true(!host_is_little() || rec_tensor_f32(rec_tensor_at(copy, "w")) == data);
    assert_int_equal(rec_set_id(copy, "w", "abcdefghij"), REC_OK);
    assert_int_equal(rec_metadata_set(copy, "note", "9"), REC_OK);
    assert_int_equal(rec_set_uint(copy, "new", 1), REC_OK);
    assert_string_equal(rec_tensor_id(rec_tensor_at(record, "w")), "0123456789");
    assert_int_equal(rec_remove(copy, "w"), REC_OK);
    assert_null(rec_metadata(record, "note"));
    assert_null(rec_value_at(record, "new"));
    assert_true(!host_is_little() || rec_tensor_f32(rec_tensor_at(record, "w")) == data);
    rec_record_free(copy);
    rec_record_free(record);
}

/* -------------------------------------------------------------------------------------------------------- work -- */

/* @return the work of looking up so many keys. */
static uint64_t work_of_lookups(const rec_record *record, unsigned keys, unsigned lookups)
{
    uint64_t before = map_work;
    for (unsigned i = 0; i < lookups; i++) {
        char path[32];
        (void)snprintf(path, sizeof path, "t.key%u", i * 7919u % keys);
        if (!rec_tensor_at(record, path)) {
            fail_msg("%s", rec_error_message());
        }
    }
    return map_work - before;
}

/* A search from the front would compare 50,000 keys for each. */
static void a_lookup_compares_few_of_100000_keys(void **state)
{
    enum { LOOKUPS = 10000, WORK_MOST = 10 };
    static const unsigned sizes[] = {100, 100000};
    (void)state;
    for (size_t s = 0; s < 2; s++) {
        rec_record *record = empty();
        uint64_t work;
        for (unsigned i = 0; i < sizes[s]; i++) {
            char path[32];
            (void)snprintf(path, sizeof path, "t.key%u", i);
            put_f32(record, path, (float)i);
        }
        assert_true(first_f32(record, "t.key77") == 77.0f);
        work = work_of_lookups(record, sizes[s], LOOKUPS);
        if (work > WORK_MOST * (uint64_t)LOOKUPS) {
            fail_msg("%d look-ups among %u keys hash and compare %" PRIu64, (int)LOOKUPS, sizes[s], work);
        }
        rec_record_free(record);
    }
}

/* --------------------------------------------------------------------------------------------------- iterating -- */

static void leaves_come_in_the_order_they_were_put(void **state)
{
    static const char *const expected[] = {"z", "a.0.w", "a.0.empty", "a.1", "none", "m.list", "b"};
    rec_record *record = empty();
    rec_iterator *iterator;
    const char *path;
    (void)state;
    put_f32(record, "z", 1);
    put_f32(record, "a.0.w", 2);
    assert_int_equal(rec_set_empty(record, "a.0.empty", REC_KIND_MAP), REC_OK);
    assert_int_equal(rec_set_uint(record, "a.1", 3), REC_OK);
    assert_int_equal(rec_set_nil(record, "none"), REC_OK);
    assert_int_equal(rec_set_empty(record, "m.list", REC_KIND_LIST), REC_OK);
    put_f32(record, "b", 4);
    put_f32(record, "z", 5); /* keeps its place */
    iterator = rec_iterate(record);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_non_null(rec_iterator_next(iterator, &path));
        assert_string_equal(path, expected[i]);
    }
    assert_null(rec_iterator_next(iterator, &path));
    assert_null(rec_iterator_next(iterator, &path)); /* and stays there */
    rec_iterator_free(iterator);
    iterator = rec_iterate(record);
    assert_non_null(rec_iterator_next_tensor(iterator, &path));
    assert_string_equal(path, "z");
    assert_non_null(rec_iterator_next_tensor(iterator, NULL));
    assert_non_null(rec_iterator_next_tensor(iterator, &path));
    assert_string_equal(path, "b");
    assert_null(rec_iterator_next_tensor(iterator, &path));
    rec_iterator_free(iterator);
    rec_iterator_free(NULL);
    rec_record_free(record);
}

static void a_record_that_is_one_leaf_has_one_step(void **state)
{
    rec_record *record = empty();
    rec_iterator *iterator;
    const char *path = NULL;
    (void)state;
    assert_int_equal(rec_set_float(record, "", 0.5), REC_OK);
    iterator = rec_iterate(record);
    assert_ptr_equal(rec_iterator_next(iterator, &path), rec_root(record));
    assert_string_equal(path, "");
    assert_null(rec_iterator_next(iterator, &path));
    rec_iterator_free(iterator);
    rec_record_free(record);
}

/* -------------------------------------------------------------------------------------------- metadata and ids -- */

static void metadata_keeps_its_order(void **state)
{
    rec_record *record = empty();
    const char *key, *value;
    (void)state;
    assert_null(rec_metadata(record, "his"));
    assert_int_equal(rec_metadata_set(record, "his", "0.21.0"), REC_OK);
    assert_int_equal(rec_metadata_set(record, "mine", "1"), REC_OK);
    assert_int_equal(rec_metadata_set(record, "hers", "f32"), REC_OK);
    assert_int_equal(rec_metadata_set(record, "mine", "2"), REC_OK);
    assert_int_equal(rec_metadata_count(record), 3);
    assert_int_equal(rec_metadata_get(record, 1, &key, &value), REC_OK);
    assert_string_equal(key, "mine");
    assert_string_equal(value, "2");
    assert_int_equal(rec_metadata_set(record, "his", NULL), REC_OK);
    assert_int_equal(rec_metadata_set(record, "never", NULL), REC_OK);
    assert_int_equal(rec_metadata_get(record, 0, &key, NULL), REC_OK);
    assert_string_equal(key, "mine");
    assert_int_equal(rec_metadata_get(record, 2, &key, &value), REC_E_ARGUMENT);
    assert_error(REC_E_ARGUMENT, "rec_metadata_get: there is no entry 2 among 2");
    assert_int_equal(rec_metadata_get(record, 0, NULL, &value), REC_OK);
    assert_int_equal(rec_error_status(), REC_OK); /* success clears the error */
    rec_record_free(record);
}

static void what_tells_how_a_record_is_written_is_not_set(void **state)
{
    static const char *const keys[] = {"version", "format", "settings", "float", "int"};
    rec_record *record = empty();
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(rec_metadata_set(record, keys[i], "0.21.0"), REC_E_ARGUMENT);
        assert_null(rec_metadata(record, keys[i]));
        assert_int_equal(rec_metadata_set(record, keys[i], NULL), REC_OK); /* it is not there */
    }
    (void)rec_metadata_set(record, "version", "0.13.2");
    assert_error(REC_E_ARGUMENT,
                 "the metadata `version` describe how the record is written and cannot be set: set the option "
                 "layout of the recorder that saves");
    rec_record_free(record);
}

static void ids_are_made_kept_changed_and_taken_away(void **state)
{
    enum { MANY = 200 };
    rec_record *record = empty();
    char path[16];
    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        const char *id;
        (void)snprintf(path, sizeof path, "l.%u", i);
        put_f32(record, path, 0);
        id = rec_tensor_id(rec_tensor_at(record, path));
        assert_int_equal(strlen(id), 13);
        assert_int_equal(strspn(id, "0123456789abcdefghijklmnopqrstuv"), 13);
        for (unsigned j = 0; j < i; j++) {
            (void)snprintf(path, sizeof path, "l.%u", j);
            assert_string_not_equal(rec_tensor_id(rec_tensor_at(record, path)), id);
        }
    }
    assert_int_equal(rec_set_id(record, "l.0", "my own id"), REC_OK);
    assert_string_equal(rec_tensor_id(rec_tensor_at(record, "l.0")), "my own id");
    assert_int_equal(rec_set_id(record, "l.0", NULL), REC_OK);
    assert_null(rec_tensor_id(rec_tensor_at(record, "l.0")));
    assert_int_equal(rec_set_id(record, "l", "x"), REC_E_NOT_FOUND);
    assert_error(REC_E_NOT_FOUND, "l: there is a list here, not a tensor");
    assert_int_equal(rec_set_id(record, "nowhere", "x"), REC_E_NOT_FOUND);
    assert_error(REC_E_NOT_FOUND, "nowhere: the record has no such key\n  The record has: l");
    rec_record_free(record);
}

/* --------------------------------------------------------------------------------------------------- ownership -- */

static void bytes_are_copied_borrowed_or_taken(void **state)
{
    uint64_t shape[] = {2, 1};
    float borrowed[] = {1, 2};
    float *taken = malloc(sizeof borrowed);
    rec_tensor_spec spec = {.size = sizeof spec,
                            .dtype = REC_DTYPE_F32,
                            .rank = 2,
                            .shape = shape,
                            .data = borrowed,
                            .data_size = sizeof borrowed};
    rec_record *record = empty();
    const rec_tensor *tensor;
    uint64_t size;
    (void)state;
    assert_non_null(taken);
    memcpy(taken, little(borrowed, sizeof *borrowed, 2), sizeof borrowed);
    spec.ownership = REC_COPY;
    assert_int_equal(rec_set_tensor(record, "copied", &spec), REC_OK);
    spec.ownership = REC_BORROW;
    assert_int_equal(rec_set_tensor(record, "borrowed", &spec), REC_OK);
    spec.ownership = REC_TAKE;
    spec.data = taken;
    assert_int_equal(rec_set_tensor(record, "taken", &spec), REC_OK);
    borrowed[0] = 9;
    little(borrowed, sizeof *borrowed, 1);
    shape[0] = 77; /* the shape is always copied */
    assert_true(first_f32(record, "copied") == 1.0f);
    assert_true(first_f32(record, "borrowed") == 9.0f);
    assert_ptr_equal(rec_tensor_bytes(rec_tensor_at(record, "borrowed"), &size), borrowed);
    assert_int_equal(size, 8);
    assert_ptr_equal(rec_tensor_bytes(rec_tensor_at(record, "taken"), NULL), taken);
    tensor = rec_tensor_at(record, "taken");
    assert_int_equal(rec_tensor_rank(tensor), 2);
    assert_int_equal(rec_tensor_shape(tensor)[0], 2);
    assert_int_equal(rec_tensor_count(tensor), 2);
    assert_int_equal(rec_tensor_nbytes(tensor), 8);
    assert_null(rec_tensor_id(tensor));
    assert_true(rec_tensor_offset(tensor) == REC_UNKNOWN);
    rec_record_free(record);
}

static void bytes_are_taken_even_if_the_call_fails(void **state)
{
    /* What is not freed here, the leak sanitizer or valgrind tells. */
    uint64_t shape[] = {2}, too_many[33];
    rec_tensor_spec good = {
        .size = sizeof good, .dtype = REC_DTYPE_F32, .rank = 1, .ownership = REC_TAKE, .shape = shape, .data_size = 8};
    rec_record *record = empty();
    (void)state;
    for (size_t i = 0; i < 33; i++) {
        too_many[i] = 1;
    }
    assert_int_equal(rec_set_uint(record, "n", 1), REC_OK);
    for (int fault = 0; fault < 6; fault++) {
        rec_tensor_spec spec = good;
        spec.data = malloc(8);
        spec.dtype = fault == 1 ? REC_DTYPE_QFLOAT : fault == 2 ? 99 : REC_DTYPE_F32;
        spec.data_size = fault == 3 ? 7 : 8;
        spec.rank = fault == 4 ? 33 : 1;
        spec.shape = fault == 4 ? too_many : fault == 5 ? NULL : shape;
        assert_int_equal(rec_set_tensor(record, fault == 0 ? "n.x" : "w", &spec), REC_E_ARGUMENT);
        assert_null(rec_value_at(record, "w"));
    }
    rec_record_free(record);
}

static void a_tensor_without_elements_needs_no_data(void **state)
{
    static const rec_dtype dtypes[] = {REC_DTYPE_F32, REC_DTYPE_I64, REC_DTYPE_BOOL};
    uint64_t shape[] = {3, 0};
    rec_recorder *recorder = rec_open_recorder("NamedMpk", REC_PRECISION_HALF);
    (void)state;
    for (int ownership = REC_COPY; ownership <= REC_TAKE; ownership++) {
        for (size_t d = 0; d < 3; d++) {
            rec_tensor_spec spec = {
                .size = sizeof spec, .dtype = dtypes[d], .rank = 2, .ownership = ownership, .shape = shape};
            rec_record *record = empty(), *again, *copy;
            const rec_tensor *tensor;
            void *bytes;
            uint64_t stored = 1;
            uint64_t size;
            assert_int_equal(rec_set_tensor(record, "w", &spec), REC_OK);
            tensor = rec_tensor_at(record, "w");
            assert_non_null(rec_tensor_bytes(tensor, &stored));
            assert_int_equal(stored, 0);
            assert_non_null(dtypes[d] == REC_DTYPE_F32   ? (const void *)rec_tensor_f32(tensor)
                            : dtypes[d] == REC_DTYPE_I64 ? (const void *)rec_tensor_i64(tensor)
                                                         : (const void *)rec_tensor_bool(tensor));
            copy = rec_record_copy(record);
            assert_non_null(copy);
            rec_record_free(record);
            if (rec_save_bytes(recorder, copy, &bytes, &size) != REC_OK) {
                fail_msg("%s", rec_error_message());
            }
            rec_record_free(copy);
            again = rec_load_bytes(recorder, bytes, size);
            assert_int_equal(rec_tensor_count(rec_tensor_at(again, "w")), 0);
            assert_int_equal(rec_tensor_rank(rec_tensor_at(again, "w")), 2);
            rec_record_free(again);
            rec_free(bytes);
        }
    }
    {
        rec_record *record = empty();
        assert_int_equal(rec_set_f32(record, "e", NULL, 2, shape), REC_OK);
        assert_non_null(rec_tensor_f32(rec_tensor_at(record, "e")));
        rec_record_free(record);
    }
    rec_close_recorder(recorder);
}

static void a_bad_tensor_is_refused_in_words(void **state)
{
    uint64_t shape[] = {2, 3}, large[] = {UINT64_MAX / 2, 3};
    float data[6] = {0};
    rec_tensor_spec spec = {
        .size = sizeof spec, .dtype = REC_DTYPE_F32, .rank = 2, .shape = shape, .data = data, .data_size = 20};
    rec_record *record = empty();
    (void)state;
    assert_int_equal(rec_set_tensor(record, "w", &spec), REC_E_ARGUMENT);
    assert_error(REC_E_ARGUMENT, "w: f32 [2, 3] takes 24 bytes, but 20 were given");
    spec.shape = large;
    assert_int_equal(rec_set_tensor(record, "w", &spec), REC_E_ARGUMENT);
    assert_error(REC_E_ARGUMENT, "w: the shape [9223372036854775807, 3] has more elements than can be counted");
    spec.shape = shape;
    spec.dtype = REC_DTYPE_OPAQUE;
    assert_int_equal(rec_set_tensor(record, "w", &spec), REC_E_ARGUMENT);
    assert_error(REC_E_ARGUMENT, "w: a tensor cannot be made of dtype opaque");
    assert_int_equal(rec_set_f32(record, "w", data, 2, large), REC_E_ARGUMENT);
    assert_error(REC_E_ARGUMENT, "w: the shape [9223372036854775807, 3] has more elements than can be counted");
    assert_int_equal(rec_set_f32(record, "w", data, 40, large), REC_E_ARGUMENT);
    assert_error(REC_E_ARGUMENT, "w: a tensor of rank 40; at most 32 are supported");
    assert_int_equal(rec_value_count(rec_root(record)), 0);
    rec_record_free(record);
}

/* ----------------------------------------------------------------------------------------- for other languages -- */

static void a_table_has_all_tensors(void **state)
{
    static const float numbers[6] = {1, 2, 3, 4, 5, 6};
    const uint64_t shape[] = {2, 3}, none[] = {0};
    rec_record *record = empty();
    const rec_table *table;
    const char *row;
    const rec_row *first, *second;
    (void)state;
    table = rec_record_table(record);
    assert_non_null(table);
    assert_int_equal(table->count, 0);
    rec_table_free(table);
    assert_int_equal(rec_set_f32(record, "a.b\\.c", numbers, 2, shape), REC_OK);
    assert_int_equal(rec_set_int(record, "n", 5), REC_OK);
    assert_int_equal(rec_set_f32(record, "z", numbers, 1, none), REC_OK);
    assert_int_equal(rec_set_id(record, "z", NULL), REC_OK);
    table = rec_record_table(record);
    assert_non_null(table);
    assert_int_equal(table->size, sizeof *table);
    assert_int_equal(table->row_size, sizeof *first);
    assert_int_equal(table->count, 2);
    row = (const char *)table->rows;
    first = (const rec_row *)row;
    second = (const rec_row *)(row + table->row_size);
    assert_string_equal(first->path, "a.b\\.c");
    assert_int_equal(first->path_length, 6);
    assert_ptr_equal(first->tensor, rec_tensor_at(record, first->path));
    assert_int_equal(first->rank, 2);
    assert_int_equal(first->shape[1], 3);
    assert_string_equal(first->id, rec_tensor_id(first->tensor));
    assert_int_equal(first->dtype, REC_DTYPE_F32);
    assert_int_equal(first->stored_dtype, REC_DTYPE_F32);
    assert_int_equal(first->count, 6);
    assert_int_equal(first->nbytes, 24);
    assert_int_equal(first->data_size, 24);
    assert_int_equal(first->offset, REC_UNKNOWN);
    assert_int_equal(first->flags & ~(uint32_t)REC_ROW_ALIGNED, 0);
    assert_ptr_equal(first->data, rec_tensor_bytes(first->tensor, NULL));
    assert_string_equal(second->path, "z");
    assert_null(second->id);
    assert_int_equal(second->count, 0);
    rec_table_free(table);
    rec_table_free(NULL);
    rec_record_free(record);
    assert_null(rec_record_table(NULL));
    assert_error(REC_E_ARGUMENT, "rec_record_table: `record` is NULL");
}

static void scalars_are_given_by_pointer(void **state)
{
    rec_record *record = empty();
    rec_scalar scalar = {.kind = -1};
    (void)state;
    assert_int_equal(rec_set_int(record, "map.n", -5), REC_OK);
    put_f32(record, "map.w", 1);
    assert_int_equal(rec_value_get(rec_value_at(record, "map.n"), &scalar), REC_OK);
    assert_int_equal(scalar.v.i, -5);
    assert_int_equal(rec_value_get(rec_value_at(record, "map"), &scalar), REC_E_MISMATCH);
    assert_error(REC_E_MISMATCH, "expected a scalar, found a map");
    assert_int_equal(rec_value_get_key(rec_value_at(record, "map"), 1, &scalar), REC_OK);
    assert_string_equal(scalar.text, "w");
    assert_int_equal(rec_value_get_key(rec_value_at(record, "map"), 2, &scalar), REC_E_ARGUMENT);
    assert_error(REC_E_ARGUMENT, "there is no entry 2 among 2");
    assert_int_equal(rec_value_get_key(rec_value_at(record, "map.w"), 0, &scalar), REC_E_MISMATCH);
    assert_int_equal(rec_value_get_number(rec_value_at(record, "map"), 0, &scalar), REC_E_MISMATCH);
    assert_int_equal(rec_value_get(NULL, &scalar), REC_E_ARGUMENT);
    assert_int_equal(rec_value_get(rec_root(record), NULL), REC_E_ARGUMENT);
    assert_ptr_equal(rec_value_child(rec_value_child(rec_root(record), "map"), "n"), rec_value_at(record, "map.n"));
    assert_null(rec_value_child(rec_root(record), "map.n"));
    assert_null(rec_value_child(NULL, "map"));
    rec_record_free(record);
}

static void packed_numbers_are_read_in_one_call(void **state)
{
    craft c = {0};
    rec_record *record;
    const rec_value *list;
    int64_t wide[5] = {0};
    uint8_t narrow[3] = {0};
    double floats[1];
    rec_scalar scalar;
    (void)state;
    craft_begin(&c, "0.18.0", 1);
    craft_map(&c, 1);
    craft_str(&c, "l");
    craft_list(&c, 5);
    for (uint64_t i = 0; i < 5; i++) {
        craft_uint(&c, 100 * i);
    }
    record = loaded(&c);
    list = rec_value_at(record, "l");
    assert_int_equal(rec_value_kind(list), REC_KIND_NUMBERS);
    assert_int_equal(rec_value_numbers(list, REC_DTYPE_I64, 0, 5, wide), REC_OK);
    assert_int_equal(wide[4], 400);
    assert_int_equal(rec_value_numbers(list, REC_DTYPE_U8, 1, 2, narrow), REC_OK);
    assert_int_equal(narrow[1], 200);
    assert_int_equal(rec_value_numbers(list, REC_DTYPE_U8, 1, 3, narrow), REC_E_RANGE);
    assert_error(REC_E_RANGE, "number 3 does not fit u8");
    assert_int_equal(rec_value_numbers(list, REC_DTYPE_F64, 0, 1, floats), REC_E_MISMATCH);
    assert_int_equal(rec_value_numbers(list, REC_DTYPE_U8, 4, 2, narrow), REC_E_ARGUMENT);
    assert_error(REC_E_ARGUMENT, "cannot read 2 numbers from number 4 on: the list has 5");
    assert_int_equal(rec_value_numbers(list, REC_DTYPE_U8, 5, 0, NULL), REC_OK);
    assert_int_equal(rec_value_get_number(list, 2, &scalar), REC_OK);
    assert_int_equal(scalar.v.u, 200);
    assert_int_equal(rec_value_get_number(list, 5, &scalar), REC_E_ARGUMENT);
    rec_record_free(record);
    craft_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_record_is_an_empty_map_of_no_origin),
        cmocka_unit_test(dots_and_backslashes_in_names_are_escaped),
        cmocka_unit_test(every_path_leads_to_its_own_value),
        cmocka_unit_test(names_of_others_are_escaped_and_back),
        cmocka_unit_test(keys_that_are_numbers_or_bools_are_reached_by_their_text),
        cmocka_unit_test(lists_are_reached_by_plain_indices),
        cmocka_unit_test(a_path_longer_than_any_buffer_works),
        cmocka_unit_test(what_is_not_there_is_named_with_what_is),
        cmocka_unit_test(missing_levels_are_made),
        cmocka_unit_test(a_path_that_cannot_be_made_is_refused_and_changes_nothing),
        cmocka_unit_test(test_setters_replace_no_subtree),
        cmocka_unit_test(test_order_of_indices_does_not_matter),
        cmocka_unit_test(test_indices_with_gaps_stay_a_map),
        cmocka_unit_test(scalars_keep_their_kinds),
        cmocka_unit_test(removing_closes_lists_and_keeps_the_order_of_maps),
        cmocka_unit_test(a_value_may_be_copied_into_itself),
        cmocka_unit_test(a_value_moves_to_a_record_that_outlives_its_own),
        cmocka_unit_test(either_of_two_copies_may_go_first),
        cmocka_unit_test(copies_share_bytes_and_are_edited_apart),
        cmocka_unit_test(a_lookup_compares_few_of_100000_keys),
        cmocka_unit_test(leaves_come_in_the_order_they_were_put),
        cmocka_unit_test(a_record_that_is_one_leaf_has_one_step),
        cmocka_unit_test(metadata_keeps_its_order),
        cmocka_unit_test(what_tells_how_a_record_is_written_is_not_set),
        cmocka_unit_test(ids_are_made_kept_changed_and_taken_away),
        cmocka_unit_test(bytes_are_copied_borrowed_or_taken),
        cmocka_unit_test(bytes_are_taken_even_if_the_call_fails),
        cmocka_unit_test(a_tensor_without_elements_needs_no_data),
        cmocka_unit_test(a_bad_tensor_is_refused_in_words),
        cmocka_unit_test(a_table_has_all_tensors),
        cmocka_unit_test(scalars_are_given_by_pointer),
        cmocka_unit_test(packed_numbers_are_read_in_one_call),
    };
    return cmocka_run_group_tests_name("records", tests, NULL, NULL);
}
