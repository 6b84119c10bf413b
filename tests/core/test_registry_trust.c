/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Which folders of plugins are trusted: what lies above them, and the one that librecord was installed with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/wait.h>

#include "core/registry/index_private.h"
#include "core/registry/open_private.h"
#include "tests/core/registry.h"

enum { STRANGER = 12345 };

/* A folder in a folder: the reason why the inner one is not trusted, or "". */
static const char *nested(scratch *s, mode_t outer_mode, mode_t inner_mode, bool installed, char *reason)
{
    static int number;
    char name[32], *outer, *inner;
    struct stat state;
    (void)snprintf(name, sizeof name, "outer-%d", number++);
    outer = scratch_folder(s, name);
    assert_true(asprintf(&inner, "%s/inner", outer) > 0);
    assert_int_equal(mkdir(inner, 0755), 0);
    assert_int_equal(chmod(inner, inner_mode) | chmod(outer, outer_mode) | stat(inner, &state), 0);
    (void)lr_trust_folder(inner, &state, installed, reason);
    free(inner);
    free(outer);
    return reason;
}

static void a_folder_counts_with_those_above_it(void **state)
{
    char reason[LR_REASON];
    for (int installed = 0; installed <= 1; installed++) {
        assert_string_equal(nested(*state, 0755, 0755, installed, reason), "");
        assert_string_equal(nested(*state, 0775, 0755, installed, reason), "");
        assert_string_equal(nested(*state, 01777, 0755, installed, reason), "");
        assert_non_null(strstr(nested(*state, 0777, 0755, installed, reason), ", which is writable by others"));
        assert_non_null(strstr(nested(*state, 0757, 0700, installed, reason), ", which is writable by others"));
    }
}

static void the_installed_folder_is_trusted_as_the_library_is(void **state)
{
    char reason[LR_REASON];
    assert_string_equal(nested(*state, 0755, 0775, false, reason), "the folder is writable by its group");
    assert_string_equal(nested(*state, 0755, 0775, true, reason), "");
    assert_string_equal(nested(*state, 0775, 0775, true, reason), "");
    assert_string_equal(nested(*state, 0755, 0777, true, reason), "the folder is writable by others");
    assert_string_equal(nested(*state, 0755, 01777, true, reason), "the folder is writable by others");
    assert_non_null(strstr(nested(*state, 0777, 0775, true, reason), ", which is writable by others"));
}

static void files_of_the_installed_folder_too(void **state)
{
    char reason[LR_REASON], *file = scratch_text(*state, "a.so", "");
    struct stat about;
    assert_int_equal(chmod(file, 0664), 0);
    assert_string_equal(lr_trust_file(file, false, &about, reason), "the file is writable by its group");
    assert_string_equal(lr_trust_file(file, true, &about, reason), "");
    assert_int_equal(chmod(file, 0666), 0);
    assert_string_equal(lr_trust_file(file, true, &about, reason), "the file is writable by others");
    free(file);
}

static void what_a_stranger_owns_is_trusted_where_nobody_else_could_have_put_it(void **state)
{
    static const char words[] = " belongs to user 12345, neither root nor the one who runs this program";
    scratch *s = *state;
    char reason[LR_REASON], *shared = scratch_folder(s, "shared"), *theirs = scratch_folder(s, "shared/theirs");
    char *inner = scratch_folder(s, "shared/theirs/inner"), *file = scratch_text(s, "shared/theirs/a.so", "");
    struct stat about;
    if (geteuid() != 0) {
        print_message("# needs root to give folders away: owners are not tested\n");
    } else {
        assert_int_equal(chown(theirs, STRANGER, 0) | chown(file, STRANGER, 0) | stat(theirs, &about), 0);
        (void)lr_trust_folder(theirs, &about, false, reason);
        assert_non_null(strstr(reason, words));
        assert_string_equal(lr_trust_folder(theirs, &about, true, reason), "");
        assert_string_equal(lr_trust_file(file, true, &about, reason), "");
        /* In a folder as /tmp is anyone could have made it, and what lies in it. */
        assert_int_equal(chmod(shared, 01777) | stat(theirs, &about), 0);
        assert_non_null(strstr(lr_trust_folder(theirs, &about, true, reason), words));
        assert_int_equal(stat(inner, &about), 0);
        assert_non_null(strstr(lr_trust_folder(inner, &about, true, reason), words));
        assert_non_null(strstr(lr_trust_folder(inner, &about, false, reason), words));
        /* A stranger's sticky folder keeps nothing from the stranger. */
        assert_int_equal(chown(theirs, 0, 0) | chown(shared, STRANGER, 0) | stat(inner, &about), 0);
        assert_non_null(strstr(lr_trust_folder(inner, &about, false, reason), words));
    }
    free(file);
    free(inner);
    free(theirs);
    free(shared);
}

static void a_plugin_below_a_folder_that_anyone_may_write_is_refused(void **state)
{
    scratch *s = *state;
    char *outer = scratch_folder(s, "outer"), *inner = scratch_folder(s, "outer/inner"), *expected = NULL;
    rec_context *context = context_new();
    make(inner, "good.so", "");
    assert_int_equal(chmod(outer, 0777), 0);
    if (lr_static_build()) { /* which opens none */
        print_message("# a static librecord: not tested\n");
        rec_context_free(context);
        free(inner);
        free(outer);
        return;
    }
    assert_int_equal(rec_context_add_plugin_path(context, inner), REC_OK);
    assert_string_equal(file_of(context, "Good"), "");
    assert_int_equal(rec_error_status(), REC_E_PLUGIN);
    assert_true(
        asprintf(&expected,
                 "the recorder \"Good\" cannot be used: %s/good.so was refused: the folder lies in %s, which is "
                 "writable by others",
                 inner, outer) > 0);
    assert_string_equal(rec_error_message(), expected);
    rec_context_free(context);
    free(expected);
    free(inner);
    free(outer);
}

/* ------------------------------------------------------------------------------------------- writing an index -- */

enum { CODE_RAN = 100 };
static const char index_command[] = "--index";

/* What the program does when it runs itself as `test --index FOLDER`. @return a status, or that the plugin's code ran.
 */
static int index_in_process(const char *folder)
{
    int status = rec_index_plugins(NULL, folder);
    return getenv("LIBRECORD_TEST_MARK") ? CODE_RAN : status;
}

/* Runs this program anew with the real user `user`, and so with AT_SECURE unless that is root. @return its exit status.
 */
static int index_as(uid_t user, const char *folder)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (setreuid(user, 0) == 0) {
            (void)execl("/proc/self/exe", "test", index_command, folder, (char *)NULL);
        }
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_index_rejects_directory_of_another_user(void **state)
{
    scratch *s = *state;
    char *folder = scratch_folder(s, "theirs"), *file = scratch_path(s, "theirs/good.so");
    char *index = scratch_path(s, "theirs/" LR_INDEX_NAME);
    if (geteuid() != 0 || lr_static_build()) {
        print_message("# needs root, and a shared librecord: not tested\n");
    } else {
        make(folder, "good.so", "-DMARK='\"LIBRECORD_TEST_MARK\"'");
        assert_int_equal(index_as(0, folder), CODE_RAN);
        assert_int_equal(access(index, F_OK), 0);
        assert_int_equal(unlink(index) | chown(folder, STRANGER, 0), 0);
        assert_int_equal(index_as(0, folder), REC_E_PLUGIN);
        assert_int_equal(rec_index_plugins(NULL, folder), REC_E_PLUGIN);
        assert_non_null(strstr(rec_error_message(), "the folder belongs to user 12345, neither root nor"));
        assert_int_equal(access(index, F_OK), -1);
        /* A directory of root's with another user's file: the index omits the file. */
        assert_int_equal(chown(folder, 0, 0) | chown(file, STRANGER, 0), 0);
        assert_int_equal(index_as(0, folder), REC_OK);
    }
    free(index);
    free(file);
    free(folder);
}

static void test_index_rejects_directory_that_others_may_write(void **state)
{
    scratch *s = *state;
    char *folder = scratch_folder(s, "shared"), *index = scratch_path(s, "shared/" LR_INDEX_NAME);
    if (lr_static_build()) {
        print_message("# a static librecord: not tested\n");
    } else {
        make(folder, "good.so", "-DMARK='\"LIBRECORD_TEST_MARK\"'");
        assert_int_equal(chmod(folder, 0775), 0);
        assert_int_equal(index_in_process(folder), REC_E_PLUGIN);
        assert_non_null(strstr(rec_error_message(), "the folder is writable by its group"));
        assert_int_equal(access(index, F_OK), -1);
    }
    free(index);
    free(folder);
}

static void test_set_user_id_program_indexes_installed_directory_only(void **state)
{
    char *folder = scratch_folder(*state, "mine");
    if (geteuid() != 0 || lr_static_build()) {
        print_message("# needs root, and a shared librecord: not tested\n");
    } else {
        make(folder, "good.so", "-DMARK='\"LIBRECORD_TEST_MARK\"'");
        assert_int_equal(index_as(0, folder), CODE_RAN);
        assert_int_equal(index_as(STRANGER, folder), REC_E_PLUGIN);
    }
    free(folder);
}

static int blocks; /* of the test's allocator that are in use */

static void *count_alloc(void *user, size_t size)
{
    (void)user;
    blocks++;
    return malloc(size);
}

static void *count_resize(void *user, void *old, size_t size)
{
    (void)user;
    blocks += !old;
    return realloc(old, size);
}

static void count_release(void *user, void *memory)
{
    (void)user;
    blocks -= memory != NULL;
    free(memory);
}

/* Files of /sys say that they have 4096 bytes. An index is read before it is known whether it is one. */
static void an_index_that_ends_before_its_size_is_passed_over(void **state)
{
    static const char shorter[] = "/sys/kernel/mm/transparent_hugepage/enabled";
    const rec_allocator counted = {
        .size = sizeof counted, .alloc = count_alloc, .resize = count_resize, .release = count_release};
    char *folder = scratch_folder(*state, "indexed"), *link = scratch_path(*state, "indexed/" LR_INDEX_NAME);
    rec_context *context = rec_context_new(&counted);
    int before = blocks;
    struct stat about;
    lr_index index = {.count = 9};
    lr_arena arena;
    rec_job job;
    if (stat(shorter, &about) != 0 || about.st_size != 4096) {
        print_message("# needs %s: not tested\n", shorter);
    } else {
        assert_int_equal(symlink(shorter, link), 0);
        lr_job_begin(&job, context, "test", NULL);
        lr_arena_init(&arena, job.allocator);
        assert_int_equal(lr_index_read(&job, &arena, folder, false, &index), REC_OK);
        assert_int_equal(index.count, 0);
        lr_arena_free(&arena);
        (void)lr_job_end(&job);
        assert_int_equal(blocks, before);
    }
    rec_context_free(context);
    free(link);
    free(folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_folder_counts_with_those_above_it),
        TEST(the_installed_folder_is_trusted_as_the_library_is),
        TEST(files_of_the_installed_folder_too),
        TEST(what_a_stranger_owns_is_trusted_where_nobody_else_could_have_put_it),
        TEST(a_plugin_below_a_folder_that_anyone_may_write_is_refused),
        TEST(an_index_that_ends_before_its_size_is_passed_over),
        TEST(test_index_rejects_directory_of_another_user),
        TEST(test_index_rejects_directory_that_others_may_write),
        TEST(test_set_user_id_program_indexes_installed_directory_only),
    };
    if (argc == 3 && strcmp(argv[1], index_command) == 0) {
        return index_in_process(argv[2]);
    }
    return cmocka_run_group_tests_name("registry, trust", tests, NULL, NULL);
}
