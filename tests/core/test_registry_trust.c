/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Which folders of plugins are trusted: what lies above them, and the one that librecord was installed with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/wait.h>

#include "core/registry/open_private.h"
#include "tests/core/registry.h"

enum { STRANGER = 12345 };

/* A folder in a directory: the reason why the inner one is not trusted, or "". */
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
    assert_string_equal(nested(*state, 0755, 0775, false, reason), "the directory is writable by its group");
    assert_string_equal(nested(*state, 0755, 0775, true, reason), "");
    assert_string_equal(nested(*state, 0775, 0775, true, reason), "");
    assert_string_equal(nested(*state, 0755, 0777, true, reason), "the directory is writable by others");
    assert_string_equal(nested(*state, 0755, 01777, true, reason), "the directory is writable by others");
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
        /* In a directory as /tmp is anyone could have made it, and what lies in it. */
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
                 "the recorder \"Good\" cannot be used: %s/good.so was rejected: the directory lies in %s, which is "
                 "writable by others",
                 inner, outer) > 0);
    assert_string_equal(rec_error_message(), expected);
    rec_context_free(context);
    free(expected);
    free(inner);
    free(outer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_folder_counts_with_those_above_it),
        TEST(the_installed_folder_is_trusted_as_the_library_is),
        TEST(files_of_the_installed_folder_too),
        TEST(what_a_stranger_owns_is_trusted_where_nobody_else_could_have_put_it),
        TEST(a_plugin_below_a_folder_that_anyone_may_write_is_refused),
    };
    return cmocka_run_group_tests_name("registry, trust", tests, NULL, NULL);
}
