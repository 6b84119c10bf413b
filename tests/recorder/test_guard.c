/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Records whose mapped file is cut: what reads them fails by rec_guard_maps(), and so does what begins later; a record
 * of another file does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <signal.h>

#include "librecord.h"

enum { ELEMENTS = 65536 };

static char folder[] = "/tmp/librecord-guard-XXXXXX";
static struct sigaction ours;

static const char *path_of(const char *name)
{
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static rec_record *make(rec_context *context)
{
    static float numbers[ELEMENTS];
    const uint64_t shape[] = {ELEMENTS};
    rec_record *record = rec_record_new(context);
    assert_non_null(record);
    for (int i = 0; i < ELEMENTS; i++) {
        numbers[i] = 1.0F + (float)i;
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rec_set_f32(record, i ? "b" : "a", numbers, 1, shape), REC_OK);
    }
    return record;
}

static void assert_told(rec_status status, const char *name)
{
    char words[256];
    (void)snprintf(words, sizeof words, "%s: the file was truncated while it was read\n", path_of(name));
    assert_int_equal(status, REC_E_IO);
    assert_int_equal(rec_error_status(), REC_E_IO);
    assert_memory_equal(rec_error_message(), words, strlen(words));
    assert_string_equal(rec_error_file(), path_of(name));
}

static const rec_tensor *tensor_of(const rec_record *record, const char *name)
{
    const rec_tensor *tensor = rec_value_tensor(rec_value_at(record, name));
    assert_non_null(tensor);
    return tensor;
}

static void a_record_of_a_file_that_is_cut(void **state)
{
    rec_context *context = rec_context_new(NULL);
    rec_recorder *recorder;
    rec_record *record, *other;
    float numbers[16];
    uint64_t size;
    const float *pointer;
    (void)state;
    assert_non_null(context);
    assert_int_equal(rec_context_set_plugins(context, REC_PLUGINS_ALL), REC_OK);
    recorder = rec_open_recorder_in(context, "Safetensors", REC_PRECISION_KEEP);
    assert_non_null(recorder);
    assert_int_equal(rec_recorder_set(recorder, "adapter", "none"), REC_OK);
    record = make(context);
    assert_int_equal(rec_save(recorder, record, path_of("cut.safetensors")), REC_OK);
    assert_int_equal(rec_save(recorder, record, path_of("whole.safetensors")), REC_OK);
    assert_int_equal(rec_save(recorder, record, path_of("old.safetensors")), REC_OK);
    rec_record_free(record);

    assert_int_equal(rec_guard_maps(), REC_OK);
    assert_int_equal(sigaction(SIGBUS, &ours, NULL), 0);
    record = rec_load(recorder, path_of("cut.safetensors"));
    other = rec_load(recorder, path_of("whole.safetensors"));
    assert_non_null(record);
    assert_non_null(other);
    assert_true(rec_record_origin(record)->mapped);
    pointer = rec_tensor_f32(tensor_of(record, "b"));
    assert_non_null(pointer);
    assert_int_equal(rec_guard_check(record), REC_OK);
    assert_int_equal(rec_guard_check(NULL), REC_OK);

    /* Half of it goes: with the size alone the record is no longer what it was, and with the first read everybody is
     * told. */
    assert_int_equal(truncate(path_of("cut.safetensors"), (off_t)ELEMENTS * 4), 0);
    assert_int_equal(rec_guard_check(other), REC_OK);
    assert_true(pointer[ELEMENTS - 1] == 0);
    assert_told(rec_guard_check(record), "cut.safetensors");
    assert_told(rec_guard_check(NULL), "cut.safetensors");
    assert_int_equal(rec_guard_check(other), REC_OK);

    assert_told(rec_tensor_read(tensor_of(record, "b"), REC_DTYPE_F32, ELEMENTS - 16, 16, numbers), "cut.safetensors");
    assert_null(rec_tensor_f32(tensor_of(record, "b")));
    assert_told(rec_error_status(), "cut.safetensors");
    assert_null(rec_tensor_f64(tensor_of(record, "a")));
    assert_told(rec_error_status(), "cut.safetensors");
    assert_null(rec_tensor_bytes(tensor_of(record, "a"), &size));
    assert_told(rec_error_status(), "cut.safetensors");
    assert_null(rec_tensor_at_hand(tensor_of(record, "a"), &size));
    assert_told(rec_save(recorder, record, path_of("old.safetensors")), "cut.safetensors");

    /* The others are as they were. */
    assert_int_equal(rec_tensor_read(tensor_of(other, "b"), REC_DTYPE_F32, ELEMENTS - 16, 16, numbers), REC_OK);
    assert_true(numbers[15] == (float)ELEMENTS);
    assert_int_equal(rec_save(recorder, other, path_of("copy.safetensors")), REC_OK);
    rec_record_free(record);
    record = rec_load(recorder, path_of("old.safetensors"));
    assert_non_null(record);
    assert_int_equal(rec_guard_check(record), REC_OK);
    assert_true(rec_tensor_f32(tensor_of(record, "b"))[ELEMENTS - 1] == (float)ELEMENTS);
    assert_told(rec_guard_check(NULL), "cut.safetensors");
    rec_record_free(record);
    rec_record_free(other);
    rec_close_recorder(recorder);
    rec_context_free(context);
    for (const char *const *name = (const char *const[]){"cut", "whole", "old", "copy", NULL}; *name; name++) {
        char file[64];
        (void)snprintf(file, sizeof file, "%s.safetensors", *name);
        assert_int_equal(unlink(path_of(file)), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_of_a_file_that_is_cut),
    };
    if (!mkdtemp(folder) || rec_guard_maps() != REC_OK || sigaction(SIGBUS, NULL, &ours) != 0) {
        return 99;
    }
    return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
