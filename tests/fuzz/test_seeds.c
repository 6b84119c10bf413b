/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The entries of the fuzzers, given what is in tests/fuzz/seeds, what was found (tests/fuzz/found), and each of these
 * cut and with single bits changed: so that they are built and run by every `make check`, whatever the compiler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

static const struct {
    const char *name;
    fuzz_entry *entry;
} targets[] = {
#define FUZZ_LINE(name) {#name, fuzz_##name},
    FUZZ_TARGETS(FUZZ_LINE)};
enum { TARGETS = sizeof targets / sizeof *targets, SIZE_MOST = 1 << 20, CHANGES = 24 };

static uint64_t inputs;

static void give(size_t target, const uint8_t *data, size_t size)
{
    /* An exact copy, so that a sanitizer sees the first byte that is read beyond it. */
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    fuzz_begin();
    (void)targets[target].entry(copy, size);
    free(copy);
    inputs++;
}

static void give_file(size_t target, const char *path, bool changed)
{
    static uint8_t data[SIZE_MOST];
    FILE *file = fopen(path, "rb");
    uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);
    size_t size;
    assert_non_null(file);
    size = fread(data, 1, sizeof data, file);
    (void)fclose(file);
    give(target, data, size);
    for (size_t i = 0; changed && size && i < CHANGES; i++) {
        size_t at = (size_t)fuzz_random(&seed) % size;
        uint8_t bit = (uint8_t)(1u << fuzz_random(&seed) % 8);
        data[at] ^= bit;
        give(target, data, i % 4 ? size : at + 1);
        data[at] ^= bit;
    }
}

/* @return how many files there are for it. */
static unsigned give_folder(size_t target, const char *kind, bool changed)
{
    char folder[4096], path[8192];
    const char *source = getenv("srcdir");
    struct dirent *entry;
    unsigned count = 0;
    DIR *list;
    (void)snprintf(folder, sizeof folder, "%s/tests/fuzz/%s/%s", source ? source : ".", kind, targets[target].name);
    list = opendir(folder);
    while (list && (entry = readdir(list)) != NULL) {
        struct stat state;
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (stat(path, &state) == 0 && S_ISREG(state.st_mode)) {
            give_file(target, path, changed);
            count++;
        }
    }
    if (list) {
        (void)closedir(list);
    }
    return count;
}

static void nothing_and_bytes_at_random(void **state)
{
    uint64_t seed = UINT64_C(88172645463325252);
    uint8_t data[256];
    (void)state;
    for (size_t i = 0; i < TARGETS; i++) {
        give(i, data, 0);
        for (size_t n = 0; n < 50; n++) {
            size_t size = fuzz_random(&seed) % sizeof data;
            for (size_t k = 0; k < size; k++) {
                data[k] = (uint8_t)(fuzz_random(&seed) >> 24);
            }
            give(i, data, size);
        }
    }
}

static void every_entry_takes_its_seeds(void **state)
{
    (void)state;
    for (size_t i = 0; i < TARGETS; i++) {
        if (give_folder(i, "seeds", true) == 0) {
            fail_msg("no seeds for %s", targets[i].name);
        }
    }
}

static void what_was_found_stays_mended(void **state)
{
    (void)state;
    for (size_t i = 0; i < TARGETS; i++) {
        (void)give_folder(i, "found", false);
    }
}

/* A mutator makes what has room, of anything. */
static size_t no_mutation(uint8_t *data, size_t size, size_t room)
{
    (void)data;
    (void)room;
    return size;
}

static void mutators_keep_to_their_room(void **state)
{
    fuzz_mutator *const mutators[] = {fuzz_mutate_bin, fuzz_mutate_command, fuzz_mutate_mpk};
    static const char start[] = "\x82\xa8metadata\x85\xa5"
                                "float\xa3"
                                "f32\xa3int\xa3i32\xa6"
                                "format\xa1x\xa7version\xa6"
                                "0.21.0\xa8settings\xa0\xa4item\x81\xa1"
                                "a\x93\1\2\3";
    (void)state;
    fuzz_mutate_bytes = no_mutation;
    for (size_t i = 0; i < sizeof mutators / sizeof *mutators; i++) {
        for (unsigned seed = 0; seed < 3000; seed++) {
            size_t room = sizeof start - 1 + seed % 300, size = sizeof start - 1;
            uint8_t *data = malloc(room);
            assert_non_null(data);
            memcpy(data, start, size);
            for (unsigned n = 0; n < 4; n++) {
                size = mutators[i](data, size, room, seed * 4 + n);
                assert_true(size <= room);
            }
            give(0, data, size);
            free(data);
        }
    }
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_and_bytes_at_random),
        cmocka_unit_test(mutators_keep_to_their_room),
        cmocka_unit_test(every_entry_takes_its_seeds),
        cmocka_unit_test(what_was_found_stays_mended),
    };
    fuzz_set_up(count > 0 ? words[0] : NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
