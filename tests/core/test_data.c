/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The INI files that come with librecord: those of a directory and those in the library. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/config/config.h"
#include "tests/scratch.h"

static const char *const kinds[] = {"modules", "profiles"};

/** A job and a list that it made. */
typedef struct fixture {
    rec_context *context;
    rec_job job;
    lr_arena arena;
    lr_ini_files data;
} fixture;

static void list(fixture *f, const char *kind)
{
    f->context = rec_context_new(NULL);
    assert_non_null(f->context);
    lr_job_begin(&f->job, f->context, "data", NULL);
    lr_arena_init(&f->arena, f->job.allocator);
    (void)lr_ini_files_find(&f->job, &f->arena, kind, &f->data);
}

static void release(fixture *f)
{
    lr_arena_free(&f->arena);
    (void)lr_job_end(&f->job);
    rec_context_free(f->context);
}

/* Sets LIBRECORD_DATA until restore(). */
static char *data_before;

static void set_data(const char *folder)
{
    const char *now = getenv("LIBRECORD_DATA");
    data_before = now ? strdup(now) : NULL;
    assert_int_equal(folder ? setenv("LIBRECORD_DATA", folder, 1) : unsetenv("LIBRECORD_DATA"), 0);
}

static void restore(void)
{
    assert_int_equal(data_before ? setenv("LIBRECORD_DATA", data_before, 1) : unsetenv("LIBRECORD_DATA"), 0);
    free(data_before);
}

static char *read_all(fixture *f, const char *path)
{
    size_t length = 0;
    char *text = lr_text_file(&f->job, path, "a configuration file", &length);
    assert_non_null(text);
    assert_int_equal(strlen(text), length);
    return text;
}

/* etc/ is the directory LIBRECORD_DATA of the tests. */
static void test_library_has_the_files_of_etc(void **state)
{
    uint64_t in_table = 0, in_etc = 0;
    (void)state;
    while (lr_builtin_files[in_table].path) {
        in_table++;
    }
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        fixture f;
        list(&f, kinds[k]);
        assert_int_equal(f.job.error.status, REC_OK);
        for (uint64_t i = 0; i < f.data.count; i++) {
            char path[128], *here = read_all(&f, f.data.files[i]), *there;
            (void)snprintf(path, sizeof path, "librecord:%s%s", kinds[k], strrchr(f.data.files[i], '/'));
            there = read_all(&f, path);
            assert_string_equal(there, here);
            assert_string_equal(lr_builtin_find(path)->text, here);
            lr_release(f.job.allocator, here);
            lr_release(f.job.allocator, there);
        }
        in_etc += f.data.count;
        release(&f);
    }
    assert_true(in_etc > 0);
    assert_int_equal(in_table, in_etc);
}

static void test_library_is_used_without_a_directory(void **state)
{
    struct stat installed;
    (void)state;
    if (stat(LR_DATA_DIR, &installed) == 0) {
        print_message("# %s exists: not tested\n", LR_DATA_DIR);
        return;
    }
    set_data(NULL);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        fixture f;
        char folder[64];
        list(&f, kinds[k]);
        (void)snprintf(folder, sizeof folder, "librecord:%s", kinds[k]);
        assert_string_equal(f.data.folder, folder);
        assert_true(f.data.count > 5);
        for (uint64_t i = 0; i < f.data.count; i++) {
            assert_non_null(lr_builtin_find(f.data.files[i]));
            assert_true(i == 0 || strcmp(f.data.files[i - 1], f.data.files[i]) < 0);
        }
        release(&f);
    }
    restore();
}

static void test_given_directory_overrides_the_library(void **state)
{
    scratch *s = *state;
    fixture f;
    char *data = scratch_path(s, "data"), *a;
    free(scratch_folder(s, "data/profiles"));
    a = scratch_text(s, "data/profiles/a.ini", "[profile a]\n");
    set_data(data);
    list(&f, "profiles");
    assert_int_equal(f.data.count, 1);
    assert_string_equal(f.data.files[0], a);
    release(&f);
    list(&f, "modules"); /* which is not there */
    assert_int_equal(f.job.error.status, REC_OK);
    assert_int_equal(f.data.count, 0);
    release(&f);
    restore();
    free(a);
    free(data);
}

static void test_only_exact_paths_name_files_of_the_library(void **state)
{
    (void)state;
    assert_non_null(lr_builtin_find("librecord:profiles/llama.ini"));
    assert_null(lr_builtin_find("librecord:profiles/../profiles/llama.ini"));
    assert_null(lr_builtin_find("librecord:profiles"));
    assert_null(lr_builtin_find("profiles/llama.ini"));
    assert_null(lr_builtin_find(""));
}

static int setup(void **state)
{
    *state = scratch_new();
    return 0;
}

static int teardown(void **state)
{
    scratch_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_library_has_the_files_of_etc),
        cmocka_unit_test(test_library_is_used_without_a_directory),
        cmocka_unit_test_setup_teardown(test_given_directory_overrides_the_library, setup, teardown),
        cmocka_unit_test(test_only_exact_paths_name_files_of_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
