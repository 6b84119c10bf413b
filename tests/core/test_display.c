/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Names to show: an address without its user, password, query and fragment, wherever the library shows one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

#define PLAIN "https://host/model.mpk"

static const struct {
    const char *path, *shown;
} cases[] = {
    {"", ""},
    {"model.mpk", "model.mpk"},
    {"a@b/c?d#e.mpk", "a@b/c?d#e.mpk"},
    {"./https://host/name?x", "./https://host/name?x"}, /* a file of this computer */
    {PLAIN, PLAIN},
    {"https://user:password@host/model.mpk", PLAIN},
    {"https://token@host/model.mpk", PLAIN},
    {"https://host/model.mpk?sig=secret", PLAIN},
    {"https://host/model.mpk#secret", PLAIN},
    {"https://user:pass@word@host/model.mpk?a=b/c@d#e", PLAIN},
    {"HTTPS://user:password@host:8080?secret", "HTTPS://host:8080"},
    {"https://user:password@[::1]:80/m.mpk", "https://[::1]:80/m.mpk"},
    {"https://user:password@[::1]/m.mpk", "https://[::1]/m.mpk"},
    {"https://host/@scope/m.mpk", "https://host/@scope/m.mpk"},
    {"https://host:/m.mpk", "https://host:/m.mpk"},
    {"any+scheme://user:password@", "any+scheme://"},
    /* Passwords that are not escaped as an address needs it. */
    {"https://user:pass/word@host/m.mpk", "https://..."},
    {"https://user:pass?word@host/m.mpk", "https://..."},
    {"https://user:pass#word@host/m.mpk", "https://..."},
    {"https://[::1]x:1/m.mpk", "https://..."},
};

static void test_addresses_have_no_secrets(void **state)
{
    char name[128];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(rec_display_name(cases[i].path, name, sizeof name), strlen(cases[i].shown));
        assert_string_equal(name, cases[i].shown);
    }
}

static void test_name_is_cut_to_its_room(void **state)
{
    char name[8] = "1234567";
    (void)state;
    assert_int_equal(rec_display_name("https://user@host/m", NULL, 0), 14);
    assert_int_equal(rec_display_name("https://user@host/m", name, 0), 14);
    assert_string_equal(name, "1234567");
    assert_int_equal(rec_display_name("https://user@host/m", name, 1), 14);
    assert_string_equal(name, "");
    assert_int_equal(rec_display_name("abcdefgh", name, sizeof name), 8);
    assert_string_equal(name, "abcdefg");
    assert_int_equal(rec_display_name(NULL, name, sizeof name), 0);
    assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
}

static char told[256];

static int32_t on_progress(void *user, const rec_progress *progress)
{
    (void)user;
    (void)snprintf(told, sizeof told, "%s", progress->file);
    return 0;
}

static void test_errors_and_progress_show_names(void **state)
{
    static const char secret[] = "https://user:password@host/model.mpk?sig=secret";
    rec_context *context = rec_context_new(NULL);
    char *longer = malloc(3000);
    rec_job job;
    (void)state;
    assert_non_null(longer);
    rec_context_set_progress(context, on_progress, NULL);
    lr_job_begin(&job, context, "load", secret);
    assert_int_equal(rec_job_progress(&job, 1, 2), REC_OK);
    assert_string_equal(told, PLAIN);
    (void)rec_fail(&job, REC_E_IO, REC_UNKNOWN, "broken");
    assert_int_equal(lr_job_end(&job), REC_E_IO);
    assert_string_equal(rec_error_file(), PLAIN);
    assert_string_equal(rec_error_message(), PLAIN ": broken");
    (void)snprintf(longer, 3000, "https://user:password@host/%02000d?secret", 0);
    lr_job_begin(&job, context, "load", longer);
    (void)rec_fail(&job, REC_E_IO, REC_UNKNOWN, "broken");
    assert_int_equal(lr_job_end(&job), REC_E_IO);
    assert_memory_equal(rec_error_file(), "https://host/000", 16);
    assert_string_equal(rec_error_file() + strlen(rec_error_file()) - 4, "0...");
    rec_context_free(context);
    free(longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_have_no_secrets),
        cmocka_unit_test(test_name_is_cut_to_its_room),
        cmocka_unit_test(test_errors_and_progress_show_names),
    };
    return cmocka_run_group_tests_name("display", tests, NULL, NULL);
}
