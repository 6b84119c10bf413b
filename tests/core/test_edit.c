/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Removing from maps, through librecord.h: beside a list that does the same the plain way, in every order, mixed with
 * look-ups and insertions; what it takes of work and memory; and reading by many threads right after. */
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
#include <pthread.h>

#include "tests/counted.h"
#include "tests/test_meter.h"
#include "librecord.h"

/* What the map has to be: keys in their order, each a number whose value is twice that. */
typedef struct model {
    uint32_t *keys;
    size_t count, room;
    uint32_t next; /* key that was not there yet */
    uint64_t random;
} model;

static uint32_t draw(model *m, uint32_t below)
{
    m->random = m->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)((m->random >> 33) % below);
}

static const char *name_of(uint32_t key)
{
    static _Thread_local char name[48];
    (void)snprintf(name, sizeof name, "m.layers of some length: %u", (unsigned)key);
    return name;
}

static void insert(rec_record *record, model *m)
{
    if (m->count == m->room) {
        m->room = m->room ? m->room * 2 : 64;
        m->keys = realloc(m->keys, m->room * sizeof *m->keys);
        assert_non_null(m->keys);
    }
    m->keys[m->count++] = m->next;
    assert_int_equal(rec_set_uint(record, name_of(m->next), 2 * (uint64_t)m->next), REC_OK);
    m->next++;
}

static void take_out(rec_record *record, model *m, size_t at)
{
    assert_int_equal(rec_remove(record, name_of(m->keys[at])), REC_OK);
    assert_null(rec_value_at(record, name_of(m->keys[at])));
    memmove(m->keys + at, m->keys + at + 1, (m->count - at - 1) * sizeof *m->keys);
    m->count--;
}

static void look_up(const rec_record *record, const model *m, size_t at)
{
    const rec_value *value = rec_value_at(record, name_of(m->keys[at]));
    assert_non_null(value);
    assert_int_equal(rec_value_scalar(value).v.u, 2 * (uint64_t)m->keys[at]);
}

/* All of it: by number, by path, and what is not there any more. */
static void compare(const rec_record *record, const model *m)
{
    const rec_value *map = rec_value_at(record, "m"), *held = NULL;
    rec_iterator *iterator;
    const char *path;
    assert_int_equal(rec_value_count(map), m->count);
    if (m->count) {
        held = rec_value_at(record, name_of(m->keys[m->count / 2]));
    }
    for (size_t i = 0; i < m->count; i++) {
        rec_scalar key = rec_value_key(map, i);
        assert_string_equal(key.text, name_of(m->keys[i]) + 2);
        assert_int_equal(rec_value_scalar(rec_value_item(map, i)).v.u, 2 * (uint64_t)m->keys[i]);
        look_up(record, m, i);
    }
    assert_null(rec_value_item(map, m->count));
    assert_int_equal(rec_value_key(map, m->count).kind, REC_KIND_NIL);
    if (held) { /* reading moves nothing that was handed out */
        assert_int_equal(rec_value_scalar(held).v.u, 2 * (uint64_t)m->keys[m->count / 2]);
    }
    iterator = rec_iterate(record);
    for (size_t i = 0; i < m->count; i++) {
        assert_int_equal(rec_value_scalar(rec_iterator_next(iterator, &path)).v.u, 2 * (uint64_t)m->keys[i]);
        assert_string_equal(path, name_of(m->keys[i]));
    }
    assert_int_equal(rec_value_kind(rec_iterator_next(iterator, &path)), m->count ? REC_KIND_NIL : REC_KIND_MAP);
    rec_iterator_free(iterator);
}

/* What a save and a copy make of it. */
static void compare_saved(const rec_record *record, const model *m)
{
    rec_recorder *r = rec_open_recorder_in(meter_context, "NamedMpk", REC_PRECISION_KEEP);
    rec_record *copy = rec_record_copy(record), *loaded;
    void *data = NULL;
    uint64_t size = 0;
    assert_non_null(r);
    assert_non_null(copy);
    compare(copy, m);
    if (rec_save_bytes(r, record, &data, &size) != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    loaded = rec_load_bytes(r, data, size);
    assert_non_null(loaded);
    compare(loaded, m);
    rec_record_free(loaded);
    rec_record_free(copy);
    rec_free(data);
    rec_close_recorder(r);
}

static rec_record *make(model *m, uint32_t count)
{
    rec_record *record = rec_record_new(meter_context);
    *m = (model){.random = count};
    assert_non_null(record);
    assert_int_equal(rec_set_empty(record, "m", REC_KIND_MAP), REC_OK);
    for (uint32_t i = 0; i < count; i++) {
        insert(record, m);
    }
    return record;
}

static void a_map_stays_what_a_list_would_be(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 60; round++) {
        uint32_t count = round < 40 ? round : round * 9;
        uint32_t more = round % 3, bias = round % 5; /* grows, stays or shrinks; at the ends or anywhere */
        model m;
        rec_record *record = make(&m, count);
        for (uint32_t step = 0; step < 600; step++) {
            if (m.count && draw(&m, 4) >= more) {
                uint32_t where = draw(&m, 5) < bias ? draw(&m, 2) : 2;
                take_out(record, &m, where == 0 ? 0 : where == 1 ? m.count - 1 : draw(&m, (uint32_t)m.count));
            } else {
                insert(record, &m);
            }
            if (m.count) {
                look_up(record, &m, draw(&m, (uint32_t)m.count));
            }
            if (draw(&m, 40) == 0) {
                compare(record, &m);
            }
        }
        compare(record, &m);
        compare_saved(record, &m);
        while (m.count) {
            take_out(record, &m, draw(&m, (uint32_t)m.count));
        }
        compare(record, &m);
        insert(record, &m);
        compare(record, &m);
        rec_record_free(record);
        free(m.keys);
    }
}

enum { FORWARD, BACKWARD, ANYHOW, EVERY_OTHER, ORDERS };

/* A permutation of the keys 0 to count - 1. */
static uint32_t *order_of(int order, uint32_t count)
{
    uint32_t *keys = malloc(count * sizeof *keys);
    model m = {.random = 7};
    assert_non_null(keys);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = order == ANYHOW ? draw(&m, i + 1) : i;
        keys[i] = keys[other];
        keys[other] = order == BACKWARD      ? count - 1 - i
                      : order != EVERY_OTHER ? i
                      : i < count / 2        ? 2 * i + 1
                                             : 2 * (i - count / 2);
    }
    return keys;
}

/* Removes all of `count` entries, with a look-up and an insertion here and there. @return the work. */
static uint64_t remove_all(int order, uint32_t count, uint64_t *grown)
{
    uint32_t *keys = order_of(order, count);
    model m;
    rec_record *record = make(&m, count);
    uint64_t before = meter_counted.now, kept = 0;
    uint64_t work = map_work;
    meter_counted.peak = before;
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(rec_remove(record, name_of(keys[i])), REC_OK);
        assert_null(rec_value_at(record, name_of(keys[i])));
        if (i % 16 == 0) {
            assert_int_equal(rec_set_nil(record, name_of(count + i)), REC_OK);
            kept++;
        }
        if (i + 1 < count) {
            assert_non_null(rec_value_at(record, name_of(keys[i + 1])));
        }
        assert_int_equal(rec_value_count(rec_value_at(record, "m")), count - 1 - i + kept);
    }
    work = map_work - work;
    *grown = meter_counted.peak - before;
    for (uint32_t i = 0; i < kept; i++) {
        assert_string_equal(rec_value_key(rec_value_at(record, "m"), i).text, name_of(count + 16 * i) + 2);
    }
    rec_record_free(record);
    free(m.keys);
    free(keys);
    return work;
}

/* The work of each is the same, however many there are: a search or a new index for each would be thousands. */
static void removals_take_linear_work_and_no_memory(void **state)
{
    enum { FEW = 2500, MANY = 16 * FEW, WORK_MOST = 40 };
    (void)state;
    for (int order = 0; order < ORDERS; order++) {
        uint64_t grown = 0, few = remove_all(order, FEW, &grown), many = remove_all(order, MANY, &grown);
        if (few > WORK_MOST * (uint64_t)FEW || many > WORK_MOST * (uint64_t)MANY) {
            fail_msg("order %d: %d removals hash and compare %" PRIu64 " keys, %d %" PRIu64, order, (int)FEW, few,
                     (int)MANY, many);
        }
        /* Another array of 32 bytes an entry, of which up to twice as many have room; and the texts of what came. */
        if (grown > (64 + 16) * (uint64_t)MANY) {
            fail_msg("order %d: %llu bytes more", order, (unsigned long long)grown);
        }
    }
}

/* A queue: what comes in at one end leaves at the other, or anywhere. */
static void a_map_that_stays_as_large_takes_no_more_memory(void **state)
{
    (void)state;
    for (int anywhere = 0; anywhere < 2; anywhere++) {
        model m;
        rec_record *record = make(&m, 1000);
        uint64_t at_first, texts = 48;
        for (int i = 0; i < 3000; i++) {
            take_out(record, &m, anywhere ? draw(&m, (uint32_t)m.count) : 0);
            insert(record, &m);
        }
        at_first = meter_counted.now;
        for (int i = 0; i < 30000; i++) {
            take_out(record, &m, anywhere ? draw(&m, (uint32_t)m.count) : 0);
            insert(record, &m);
            if (i % 100 == 0) {
                compare(record, &m);
            }
        }
        if (meter_counted.now > at_first + 30000 * texts) { /* names are kept as long as the record */
            fail_msg("%llu bytes more", (unsigned long long)(meter_counted.now - at_first));
        }
        rec_record_free(record);
        free(m.keys);
    }
}

struct reading {
    const rec_record *record;
    const model *model;
};

static void *read_all(void *user)
{
    const struct reading *r = user;
    const rec_value *map = rec_value_at(r->record, "m");
    uintptr_t faults = 0;
    for (size_t i = 0; i < r->model->count; i++) {
        const rec_value *value = rec_value_at(r->record, name_of(r->model->keys[i]));
        faults += !value || rec_value_scalar(value).v.u != 2 * (uint64_t)r->model->keys[i];
        faults += rec_value_count(map) != r->model->count;
        if (i >= r->model->count / 2) {
            faults += rec_value_scalar(rec_value_item(map, i)).v.u != 2 * (uint64_t)r->model->keys[i];
        }
        faults += value && rec_value_scalar(value).v.u != 2 * (uint64_t)r->model->keys[i];
    }
    return (void *)faults;
}

static void many_threads_may_read_what_was_edited(void **state)
{
    (void)state;
    for (int round = 0; round < 30; round++) {
        model m;
        rec_record *record = make(&m, 400);
        struct reading reading = {record, &m};
        pthread_t threads[4];
        for (int i = 0; i < 100; i++) {
            take_out(record, &m, draw(&m, (uint32_t)m.count));
        }
        for (int i = 0; i < 4; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, read_all, &reading), 0);
        }
        for (int i = 0; i < 4; i++) {
            void *faults;
            assert_int_equal(pthread_join(threads[i], &faults), 0);
            assert_null(faults);
        }
        rec_record_free(record);
        free(m.keys);
    }
}

/* Without memory for holes entries are moved at once: removing never fails for that. */
static void removing_needs_no_memory(void **state)
{
    (void)state;
    for (int64_t left = 0; left < 3; left++) {
        model m;
        rec_record *record = make(&m, 2000);
        for (int i = 0; i < 200; i++) {
            size_t at = draw(&m, (uint32_t)m.count);
            meter_left = left + 1; /* the call's own */
            assert_int_equal(rec_remove(record, name_of(m.keys[at])), REC_OK);
            meter_left = -1;
            memmove(m.keys + at, m.keys + at + 1, (m.count - at - 1) * sizeof *m.keys);
            m.count--;
        }
        compare(record, &m);
        rec_record_free(record);
        free(m.keys);
    }
}

/* ------------------------------------------------------------------------------------------------------ moving -- */

static void assert_leaves(const rec_record *record, const char *expected)
{
    char text[512] = "";
    size_t used = 0;
    const char *path;
    const rec_value *value;
    rec_iterator *iterator = rec_iterate(record);
    while ((value = rec_iterator_next(iterator, &path))) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%d", used ? " " : "", path,
                                 rec_value_kind(value) == REC_KIND_NIL ? -1 : (int)rec_value_scalar(value).v.u);
    }
    rec_iterator_free(iterator);
    assert_string_equal(text, expected);
}

static rec_record *make_tree(void)
{
    static const char *const paths[] = {"a.x", "a.y", "b", "l.0.w", "l.1.w", "l.2.w"};
    rec_record *record = rec_record_new(meter_context);
    assert_non_null(record);
    for (uint64_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_int_equal(rec_set_uint(record, paths[i], i), REC_OK);
    }
    return record;
}

static void test_move(void **state)
{
    static const struct {
        const char *from, *to, *leaves;
    } cases[] = {
        {"a", "c", "c.x=0 c.y=1 b=2 l.0.w=3 l.1.w=4 l.2.w=5"}, /* renamed in its place */
        {"a.x", "a.z.w", "a.y=1 a.z.w=0 b=2 l.0.w=3 l.1.w=4 l.2.w=5"},
        {"a.y", "y", "a.x=0 b=2 l.0.w=3 l.1.w=4 l.2.w=5 y=1"},
        {"b", "l.3", "a.x=0 a.y=1 l.0.w=3 l.1.w=4 l.2.w=5 l.3=2"},
        {"l.0", "a.l", "a.x=0 a.y=1 a.l.w=3 b=2 l.0.w=4 l.1.w=5"},
        {"l.0", "l.2.z", "a.x=0 a.y=1 b=2 l.0.w=4 l.1.w=5 l.1.z.w=3"},
        {"l", "a\\.b", "a.x=0 a.y=1 b=2 a\\.b.0.w=3 a\\.b.1.w=4 a\\.b.2.w=5"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rec_record *record = make_tree();
        if (rec_move(record, cases[i].from, cases[i].to) != REC_OK) {
            fail_msg("%s", rec_error_message());
        }
        assert_leaves(record, cases[i].leaves);
        rec_record_free(record);
    }
}

static void test_wrong_move(void **state)
{
    static const struct {
        const char *from, *to;
        rec_status status;
        const char *message;
    } cases[] = {
        {"none", "c", REC_E_NOT_FOUND, "none: the record has no such key"},
        {"a", "b", REC_E_ARGUMENT, "b: there is an unsigned integer here already"},
        {"a", "a", REC_E_ARGUMENT, "a: `a` is this value, or below it"},
        {"a", "a.z", REC_E_ARGUMENT, "a: `a.z` is this value, or below it"},
        {"a", "a.x.z", REC_E_ARGUMENT, "a: `a.x.z` is this value, or below it"},
        {"back\\slash", "back\\\\slash.z", REC_E_ARGUMENT, "is this value, or below it"},
        {"a", "b.z", REC_E_ARGUMENT, "b.z: `z` cannot be put into an unsigned integer"},
        {"a", "l.9", REC_E_ARGUMENT, "l.9: "},
        {"", "c", REC_E_ARGUMENT, "the root cannot be moved"},
        {"a", "", REC_E_ARGUMENT, "the root cannot be moved"},
    };
    rec_record *record = make_tree();
    (void)state;
    assert_int_equal(rec_set_empty(record, "back\\slash", REC_KIND_MAP), REC_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rec_status status = rec_move(record, cases[i].from, cases[i].to);
        if (cases[i].message[0] == 'l' && status == REC_OK) { /* setters take it too: the list becomes a map */
            assert_int_equal(rec_move(record, "l.9", "a"), REC_OK);
            continue;
        }
        assert_int_equal(status, cases[i].status);
        if (!strstr(rec_error_message(), cases[i].message)) {
            fail_msg("%s", rec_error_message());
        }
    }
    rec_record_free(record);
}

/* Names stay known in maps with an index, whatever is renamed. */
static void test_rename_many(void **state)
{
    model m;
    rec_record *record = make(&m, 1000);
    char name[64];
    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 1000; i++) {
            char from[64];
            (void)snprintf(from, sizeof from, round ? "m.r%u_%u" : "m.layers of some length: %u", round ? round : i, i);
            (void)snprintf(name, sizeof name, "m.r%u_%u", round + 1, i);
            assert_int_equal(rec_move(record, from, name), REC_OK);
            assert_null(rec_value_at(record, from));
        }
    }
    for (unsigned i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "m.r3_%u", i);
        assert_int_equal(rec_value_scalar(rec_value_at(record, name)).v.u, 2 * i);
        assert_string_equal(rec_value_key(rec_value_at(record, "m"), i).text, name + 2);
    }
    assert_int_equal(rec_value_count(rec_value_at(record, "m")), 1000);
    rec_record_free(record);
    free(m.keys);
}

static void test_insert(void **state)
{
    rec_record *record = make_tree();
    (void)state;
    assert_int_equal(rec_insert(record, "l.1"), REC_OK);
    assert_int_equal(rec_set_uint(record, "l.1.w", 9), REC_OK);
    assert_int_equal(rec_insert(record, "l.0"), REC_OK);
    assert_leaves(record, "a.x=0 a.y=1 b=2 l.0=-1 l.1.w=3 l.2.w=9 l.3.w=4 l.4.w=5");
    assert_int_equal(rec_insert(record, "l.5"), REC_E_NOT_FOUND);
    assert_int_equal(rec_insert(record, "a.x"), REC_E_ARGUMENT);
    assert_string_equal(rec_error_message(), "a.x: expected an index of a list, found a name in a map");
    assert_string_equal(rec_error_found(), "a name in a map");
    rec_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_stays_what_a_list_would_be),
        cmocka_unit_test(removals_take_linear_work_and_no_memory),
        cmocka_unit_test(a_map_that_stays_as_large_takes_no_more_memory),
        cmocka_unit_test(many_threads_may_read_what_was_edited),
        cmocka_unit_test(removing_needs_no_memory),
        cmocka_unit_test(test_move),
        cmocka_unit_test(test_wrong_move),
        cmocka_unit_test(test_rename_many),
        cmocka_unit_test(test_insert),
    };
    return cmocka_run_group_tests_name("editing", tests, meter_set_up, meter_tear_down);
}
