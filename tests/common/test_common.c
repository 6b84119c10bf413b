/* SPDX-License-Identifier: MIT OR Apache-2.0
 * common/: SHA-256, digits in groups, the distance between words, UTF-8, escapes of JSON, a team of threads. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/json.h"
#include "common/sha256.h"
#include "common/team.h"
#include "common/text.h"
#include "os/moved.h"
#include "os/system.h"
#include "common/utf8.h"

/* Vectors of FIPS 180-4, and the hash of nothing. */
static void test_known_hashes(void **state)
{
    enum { MANY = 1000000 };
    char hex[65], *many = malloc(MANY);
    (void)state;
    assert_non_null(many);
    memset(many, 'a', MANY);
    lr_sha256_hex("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    lr_sha256_hex("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    lr_sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, hex);
    assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    lr_sha256_hex(many, MANY, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(many);
}

/* Each implementation, on chunks of any size, gives the hash of plain C on the whole. */
static void test_all_ways_hash_alike(void **state)
{
    enum { MOST = 3000 };
    static uint8_t bytes[MOST];
    uint32_t seed = 7;
    (void)state;
    for (size_t i = 0; i < MOST; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(seed >> 24);
    }
    for (size_t size = 0; size <= MOST; size += size < 300 ? 1 : 97) {
        uint8_t expected[LR_SHA256_BYTES], found[LR_SHA256_BYTES];
        lr_sha256 h;
        lr_sha256_begin(&h);
        h.blocks = lr_sha256_plain;
        lr_sha256_add(&h, bytes, size);
        lr_sha256_end(&h, expected);
        for (size_t way = 0; lr_sha256_way(way); way++) {
            for (size_t step = 1; step <= 1 + size; step = step * 5 + 3) {
                lr_sha256_begin(&h);
                h.blocks = lr_sha256_way(way);
                for (size_t at = 0; at < size; at += step) {
                    lr_sha256_add(&h, bytes + at, size - at < step ? size - at : step);
                }
                lr_sha256_end(&h, found);
                assert_memory_equal(found, expected, sizeof expected);
            }
        }
    }
}

static void test_digits_in_groups(void **state)
{
    char text[32];
    (void)state;
    assert_string_equal(lr_group_digits(0, text, sizeof text), "0");
    assert_string_equal(lr_group_digits(999, text, sizeof text), "999");
    assert_string_equal(lr_group_digits(1000, text, sizeof text), "1,000");
    assert_string_equal(lr_group_digits(UINT64_MAX, text, sizeof text), "18,446,744,073,709,551,615");
    assert_string_equal(lr_group_digits(123456, text, 6), "123,4");
}

static size_t between(const char *a, const char *b)
{
    return lr_distance(a, strlen(a), b, strlen(b));
}

static void test_distance_of_words(void **state)
{
    char word[LR_DISTANCE_MOST + 2];
    (void)state;
    assert_int_equal(between("", ""), 0);
    assert_int_equal(between("abc", ""), 3);
    assert_int_equal(between("weight", "wieght"), 1);
    assert_int_equal(between("weight", "weigh"), 1);
    assert_int_equal(between("weight", "weighty"), 1);
    assert_int_equal(between("weight", "height"), 1);
    assert_int_equal(between("abc", "xyz"), 3);
    memset(word, 'a', sizeof word);
    word[sizeof word - 1] = '\0';
    assert_true(between(word, "a") == SIZE_MAX);
    word[LR_DISTANCE_MOST] = '\0';
    assert_int_equal(between(word, "a"), LR_DISTANCE_MOST - 1);
}

static void test_utf8_ends_at_the_first_bad_byte(void **state)
{
    static const struct {
        const char *text;
        uint64_t good;
    } cases[] = {{"", 0},
                 {"plain text, more than eight bytes", 33},
                 {"12345678\xff", 8},
                 {"\xc3\xa9", 2},
                 {"\xc3", 0},
                 {"\xc0\x80", 0},
                 {"\xe0\x9f\x80", 0},
                 {"\xed\xa0\x80", 0},
                 {"\xf4\x8f\xbf\xbf", 4},
                 {"\xf4\x90\x80\x80", 0},
                 {"a\xf0\x9f\x92\xa9\x80", 5}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        assert_int_equal(lr_utf8_until((const uint8_t *)text, strlen(text)), cases[i].good);
    }
}

static void test_escapes_of_json(void **state)
{
    static const struct {
        uint8_t byte;
        const char *letters, *escape;
    } cases[] = {{'"', "", "\\\""},       {'\\', "bfnrt", "\\\\"}, {'\n', "nt", "\\n"},     {'\n', "", "\\u000a"},
                 {'\r', "nt", "\\u000d"}, {'\b', "bfnrt", "\\b"},  {0, "bfnrt", "\\u0000"}, {0x7f, "nt", "\\u007f"}};
    char escape[7];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        escape[lr_json_escape(cases[i].byte, cases[i].letters, escape)] = '\0';
        assert_string_equal(escape, cases[i].escape);
    }
}

typedef struct square {
    lr_task task; /* first, so that it is known by it */
    uint64_t number, made;
    unsigned worker;
} square;

static void make_square(lr_task *task, unsigned worker)
{
    square *self = (square *)task;
    self->made = self->number * self->number;
    self->worker = worker;
}

/* Each task is carried out once, by a worker below the number of threads. */
static void test_team_does_what_is_posted(void **state)
{
    enum { TASKS = 500 };
    static square squares[TASKS];
    (void)state;
    for (uint32_t threads = 1; threads <= 20; threads = threads * 2 + 1) {
        lr_team *team = lr_team_new();
        assert_non_null(team);
        for (uint64_t i = 0; i < TASKS; i++) {
            squares[i] = (square){.task.run = make_square, .number = i};
            assert_true(lr_team_done(team, &squares[i].task)); /* not posted */
            (void)lr_team_post(team, &squares[i].task, threads);
        }
        for (uint64_t i = TASKS; i-- > 0;) { /* the last one first */
            lr_team_wait(team, &squares[i].task);
            assert_true(lr_team_done(team, &squares[i].task));
            assert_int_equal(squares[i].made, i * i);
            assert_true(squares[i].worker < threads && squares[i].worker < LR_TEAM_WORKERS);
        }
        lr_team_free(team);
    }
}

static void test_words_for_an_errno(void **state)
{
    char text[128];
    (void)state;
    assert_string_equal(lr_system_words(ENOENT, text, sizeof text), "No such file or directory");
    assert_string_equal(lr_system_words(EACCES, text, sizeof text), "Permission denied");
    assert_true(*lr_system_words(123456, text, sizeof text) != '\0');
}

static void test_moved_directories(void **state)
{
    static const struct {
        const char *at, *from, *to, *path; /**< NULL: there is none */
    } cases[] = {
        {"/opt/x/lib", "/usr/local/lib", "/usr/local/lib/librecord/plugins", "/opt/x/lib/librecord/plugins"},
        {"/opt/x/lib64", "/usr/local/lib", "/usr/local/lib/librecord/plugins", "/opt/x/lib64/librecord/plugins"},
        {"/opt/x/lib", "/usr/local/lib", "/usr/local/share/librecord", "/opt/x/share/librecord"},
        {"/opt/lib/aarch64", "/usr/lib/aarch64", "/usr/share/librecord", "/opt/share/librecord"},
        {"/lib", "/usr/lib", "/usr/share/librecord", "/share/librecord"},
        {"/opt/x/lib64", "/usr/local/lib", "/usr/local/share/librecord", NULL},
        {"/opt/xlib", "/usr/local/lib", "/usr/local/share/librecord", NULL},
        {"/opt/lib", "/usr/lib", "/usr/liberty", "/opt/liberty"},
        {"lib", "/usr/local/lib", "/usr/local/lib/librecord/plugins", NULL},
        {"", "/usr/local/lib", "/usr/local/lib/librecord/plugins", NULL},
        {"/opt/lib", "", "/usr/share", NULL},
        {"/opt/lib", "/usr/lib", "", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[PATH_MAX];
        bool found = lr_moved_path(cases[i].at, cases[i].from, cases[i].to, path);
        assert_int_equal(found, cases[i].path != NULL);
        assert_string_equal(found ? path : "", cases[i].path ? cases[i].path : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_hashes),
        cmocka_unit_test(test_all_ways_hash_alike),
        cmocka_unit_test(test_digits_in_groups),
        cmocka_unit_test(test_distance_of_words),
        cmocka_unit_test(test_utf8_ends_at_the_first_bad_byte),
        cmocka_unit_test(test_escapes_of_json),
        cmocka_unit_test(test_team_does_what_is_posted),
        cmocka_unit_test(test_words_for_an_errno),
        cmocka_unit_test(test_moved_directories),
    };
    return cmocka_run_group_tests_name("common", tests, NULL, NULL);
}
