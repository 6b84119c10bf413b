/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What librecord.h promises of errors: an errno exactly if the system reported one, expected and found wherever the
 * message has them, freeing functions that leave the last error alone, copies for other threads; and the data
 * directory of a context. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "librecord.h"
#include "tests/scratch.h"

static const float number[] = {1};
static const uint64_t one[] = {1};

/* A record with a tensor, a scalar and a list. */
static rec_record *make(void)
{
    rec_record *record = rec_record_new(NULL);
    assert_int_equal(rec_set_f32(record, "weight", number, 1, one), REC_OK);
    assert_int_equal(rec_set_int(record, "steps", 3), REC_OK);
    assert_int_equal(rec_set_string(record, "list.0", "a"), REC_OK);
    return record;
}

static void assert_failed(rec_status status, int32_t number_of_error)
{
    if (rec_error_status() != status || rec_error_errno() != number_of_error) {
        fail_msg("%s, errno %d: %s", rec_status_name(rec_error_status()), (int)rec_error_errno(), rec_error_message());
    }
}

/* ------------------------------------------------------------------------------------------------------- errno -- */

static int32_t fail_to_read(void *user, void *target, uint64_t room, uint64_t *got)
{
    (void)target;
    (void)room;
    *got = 0;
    return *(int32_t *)user;
}

static void test_errno_of_missing_files(void **state)
{
    scratch *folder = scratch_new();
    char *path = scratch_path(folder, "none.mpk"), *deep = scratch_path(folder, "none/model.mpk");
    rec_recorder *r = rec_open_recorder("NamedMpk", FULL), *of_auto = rec_open_recorder("Auto", FULL);
    rec_record *record = make();
    rec_types *types = rec_types_new(NULL);
    (void)state;
    assert_null(rec_load(r, path));
    assert_failed(REC_E_NOT_FOUND, ENOENT);
    assert_null(rec_load(of_auto, path));
    assert_failed(REC_E_NOT_FOUND, ENOENT);
    assert_null(rec_recognise(NULL, path));
    assert_failed(REC_E_NOT_FOUND, ENOENT);
    assert_null(rec_config_open(path));
    assert_int_equal(rec_error_errno(), ENOENT);
    assert_int_not_equal(rec_save(r, record, deep), REC_OK);
    assert_int_equal(rec_error_errno(), ENOENT);
    assert_int_not_equal(rec_types_add_file(types, path), REC_OK);
    assert_int_equal(rec_error_errno(), ENOENT);
    assert_null(rec_load_fd(r, -1, "fd"));
    assert_int_equal(rec_error_errno(), EBADF);
    rec_types_free(types);
    rec_record_free(record);
    rec_close_recorder(r);
    rec_close_recorder(of_auto);
    free(path);
    free(deep);
    scratch_free(folder);
}

/* A missing name in memory has no errno, even after a failure that had one. */
static void test_no_errno_of_missing_names(void **state)
{
    rec_recorder *r = rec_open_recorder("NamedMpk", FULL);
    rec_record *record = make();
    int32_t error = EACCES;
    rec_input input = {.size = sizeof input, .read = fail_to_read};
    (void)state;
    assert_null(rec_load_from(r, &input, &error));
    assert_failed(REC_E_IO, EACCES);
    assert_null(rec_tensor_at(record, "wieght"));
    assert_failed(REC_E_NOT_FOUND, 0);
    error = ECANCELED;
    assert_null(rec_load_from(r, &input, &error));
    assert_failed(REC_E_CANCELLED, 0);
    assert_int_equal(rec_remove(record, "none"), REC_E_NOT_FOUND);
    assert_failed(REC_E_NOT_FOUND, 0);
    assert_null(rec_open_recorder("NoSuchRecorder", FULL));
    assert_failed(REC_E_NOT_FOUND, 0);
    assert_null(rec_plugin_find(NULL, "none"));
    assert_failed(REC_E_NOT_FOUND, 0);
    assert_int_not_equal(rec_recorder_set(r, "profile", "no-such-profile"), REC_OK);
    assert_int_equal(rec_error_errno(), 0);
    assert_null(rec_load_bytes(r, "x", 1));
    assert_failed(REC_E_FORMAT, 0);
    rec_record_free(record);
    rec_close_recorder(r);
}

/* ------------------------------------------------------------------------------------------ expected and found -- */

static void assert_parts(const char *expected, const char *found)
{
    const char *message = rec_error_message();
    if (strcmp(rec_error_expected(), expected) != 0 || strcmp(rec_error_found(), found) != 0 ||
        !strstr(message, "expected ") || !strstr(message, ", found ")) {
        fail_msg("expected \"%s\", found \"%s\" of: %s", rec_error_expected(), rec_error_found(), message);
    }
}

#define TEXT_FIELDS(F, T) F(T, STRING, steps)
REC_DEFINE_STRUCT(TEXT, TEXT_FIELDS)
#define SHAPE_FIELDS(F, T) F(T, PARAM, weight, 1, 7)
REC_DEFINE_STRUCT(SHAPE, SHAPE_FIELDS)

static void test_expected_and_found(void **state)
{
    rec_recorder *r = rec_open_recorder("NamedMpk", FULL);
    rec_record *record = make();
    rec_types *types = rec_types_new(NULL);
    rec_scalar scalar;
    int64_t whole;
    TEXT text;
    SHAPE shape;
    (void)state;
    assert_int_equal(rec_recorder_set(r, "adapter", "nope"), REC_E_ARGUMENT);
    assert_parts("pytorch, foreign or none", "\"nope\"");
    assert_int_equal(rec_recorder_set(r, "map", "nope"), REC_E_ARGUMENT);
    assert_parts("yes or no for the option map", "`nope`");
    assert_int_equal(rec_recorder_set(r, "set", "x"), REC_E_ARGUMENT);
    assert_parts("NAME=NUMBER for set", "\"x\"");
    assert_int_equal(rec_value_get(rec_value_at(record, "weight"), &scalar), REC_E_MISMATCH);
    assert_parts("a scalar", "a tensor");
    assert_int_equal(rec_value_numbers(rec_value_at(record, "steps"), REC_DTYPE_I64, 0, 1, &whole), REC_E_MISMATCH);
    assert_parts("a list of numbers", "an integer");
    assert_null(rec_bind_at(record, "", &TEXT_type, &text, REC_BIND_ALLOW_UNEXPECTED));
    assert_parts("a string", "an integer");
    assert_null(rec_bind_at(record, "", &SHAPE_type, &shape, REC_BIND_ALLOW_UNEXPECTED));
    assert_parts("shape [7]", "[1]");
    assert_int_not_equal(rec_types_add_rust(types, "struct A { x: f32 ", "a.rs"), REC_OK);
    assert_true(*rec_error_expected() && *rec_error_found());
    assert_null(rec_load_bytes(r, "\x93", 1));
    assert_true(*rec_error_expected() && *rec_error_found());
    assert_null(rec_open_recorder("NamedMpk", 9));
    assert_parts("one of REC_PRECISION_...", "9");
    assert_null(rec_open_recorder("", FULL));
    assert_parts("the name of a recorder", "an empty one");
    assert_null(rec_tensor_at(record, "none")); /* a message without them */
    assert_true(!*rec_error_expected() && !*rec_error_found());
    rec_types_free(types);
    rec_record_free(record);
    rec_close_recorder(r);
}

/* ----------------------------------------------------------------------------------------------------- freeing -- */

/* Garbage collectors free between a failure and the reading of its error. */
static void test_freeing_keeps_the_error(void **state)
{
    rec_context *context = rec_context_new(NULL);
    rec_recorder *r = rec_open_recorder("NamedMpk", FULL);
    rec_record *record = make();
    rec_iterator *iterator = rec_iterate(record);
    rec_plan *plan = rec_plan_new(NULL, r);
    rec_types *types = rec_types_new(NULL);
    const rec_table *table = rec_record_table(record);
    rec_binding *binding;
    void *memory = rec_recorder_path(r, "a");
    SHAPE shape;
    static const uint64_t seven[] = {7};
    static const float numbers[7] = {0};
    rec_record *bound = rec_record_new(NULL);
    (void)state;
    assert_int_equal(rec_set_f32(bound, "weight", numbers, 1, seven), REC_OK);
    binding = rec_bind(bound, &SHAPE_type, &shape);
    assert_true(context && r && record && iterator && plan && types && table && binding && memory);
    assert_null(rec_tensor_at(record, "none"));
    rec_tensor_release(rec_value_tensor(rec_value_at(record, "weight")), 0, REC_UNKNOWN);
    rec_iterator_free(iterator);
    rec_table_free(table);
    rec_plan_free(plan);
    rec_types_free(types);
    rec_binding_free(binding);
    rec_free(memory);
    rec_record_free(record);
    rec_record_free(bound);
    rec_close_recorder(r);
    rec_context_free(context);
    rec_error_free(rec_error_copy());
    assert_failed(REC_E_NOT_FOUND, 0);
    assert_string_equal(rec_error_path(), "none");
}

/* Of a chain the first error is kept, until a call succeeds. */
static void test_first_error_of_a_chain(void **state)
{
    rec_recorder *r = rec_open_recorder("NoSuchRecorder", FULL);
    rec_record *record;
    (void)state;
    record = rec_load(r, "model");
    assert_null(rec_tensor_f32(rec_tensor_at(record, "weight")));
    assert_non_null(strstr(rec_error_message(), "NoSuchRecorder"));
    rec_record_free(rec_record_new(NULL));
    assert_null(rec_load(r, "model"));
    assert_string_equal(rec_error_message(), "rec_load: `recorder` is NULL");
}

/* ------------------------------------------------------------------------------------------------------ copies -- */

static void *read_there(void *user)
{
    assert_int_equal(rec_error_status(), REC_OK);
    rec_error_restore(user);
    rec_error_free(user);
    return rec_error_status() == REC_E_MISMATCH && strcmp(rec_error_expected(), "a string") == 0 &&
                   rec_report_count() == 1 && rec_report_note(0)->kind == REC_NOTE_KIND
               ? user
               : NULL;
}

static void test_copy_for_another_thread(void **state)
{
    rec_record *record = make();
    rec_error *copy;
    pthread_t thread;
    void *result;
    TEXT text;
    (void)state;
    assert_null(rec_bind_at(record, "", &TEXT_type, &text, REC_BIND_ALLOW_UNEXPECTED));
    copy = rec_error_copy();
    assert_non_null(copy);
    assert_int_equal(rec_error_status(), REC_E_MISMATCH); /* it stays */
    assert_int_equal(rec_set_int(record, "steps", 4), REC_OK);
    assert_int_equal(rec_error_status(), REC_OK);
    assert_int_equal(pthread_create(&thread, NULL, read_there, copy), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, copy);
    rec_record_free(record);
}

/* A success has a report too, and its copy outlives the next operation. */
static void test_copy_of_a_report(void **state)
{
    rec_record *record = make(), *loaded;
    rec_recorder *r = rec_open_recorder("NamedMpk", FULL);
    rec_error *copy;
    void *data;
    char *longer;
    uint64_t size;
    (void)state;
    assert_int_equal(rec_recorder_set(r, "trailing", "ignore"), REC_OK);
    assert_int_equal(rec_save_bytes(r, record, &data, &size), REC_OK);
    longer = calloc(1, (size_t)size + 4);
    memcpy(longer, data, (size_t)size);
    loaded = rec_load_bytes(r, longer, size + 4);
    assert_non_null(loaded);
    assert_int_equal(rec_report_count(), 1);
    copy = rec_error_copy();
    assert_int_equal(rec_set_int(record, "other", 1), REC_OK);
    assert_int_equal(rec_report_count(), 0);
    rec_error_restore(copy);
    assert_int_equal(rec_error_status(), REC_OK);
    assert_int_equal(rec_report_count(), 1);
    assert_int_equal(rec_report_note(0)->kind, REC_NOTE_TRAILING);
    rec_error_free(copy);
    rec_record_free(loaded);
    rec_record_free(record);
    rec_close_recorder(r);
    rec_free(data);
    free(longer);
}

/* --------------------------------------------------------------------------------------------- data directory -- */

static void test_data_directory(void **state)
{
    const char *data = getenv("LIBRECORD_DATA");
    char *kept = strdup(data ? data : "");
    rec_context *context = rec_context_new(NULL);
    rec_types *types;
    (void)state;
    assert_true(*kept);
    assert_int_equal(rec_context_set_data(context, "relative/path"), REC_E_ARGUMENT);
    assert_string_equal(rec_error_found(), "\"relative/path\"");
    assert_int_equal(rec_context_set_data(context, "/no such directory"), REC_OK);
    types = rec_types_new(context);
    assert_null(types);
    assert_non_null(strstr(rec_error_message(), "/no such directory/modules"));
    assert_int_equal(rec_profile_count(context), 0);
    rec_context_free(context);
    context = rec_context_new(NULL); /* it has read nothing yet */
    assert_int_equal(setenv("LIBRECORD_DATA", "/no such directory", 1), 0);
    assert_int_equal(rec_context_set_data(context, kept), REC_OK);
    types = rec_types_new(context);
    assert_non_null(types);
    rec_types_free(types);
    assert_true(rec_profile_count(context) > 5);
    assert_int_equal(setenv("LIBRECORD_DATA", kept, 1), 0);
    assert_int_equal(rec_context_set_data(context, NULL), REC_OK);
    rec_context_free(context);
    free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errno_of_missing_files), cmocka_unit_test(test_no_errno_of_missing_names),
        cmocka_unit_test(test_expected_and_found),     cmocka_unit_test(test_freeing_keeps_the_error),
        cmocka_unit_test(test_first_error_of_a_chain), cmocka_unit_test(test_copy_for_another_thread),
        cmocka_unit_test(test_copy_of_a_report),       cmocka_unit_test(test_data_directory),
    };
    return cmocka_run_group_tests_name("promises", tests, NULL, NULL);
}
