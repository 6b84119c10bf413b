/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Calls of the system that fail, or that a signal interrupts: each place that makes one does so once, while files are
 * saved over others, loaded, listed and read back. The linker puts the functions below in front of the C library's.
 * What was interrupted comes out as if nothing had been; what failed does too, or is an error, and the file is the old
 * or the new one. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/failing.h"
#include "tests/scratch.h"

static int fault;          /* the errno of the call that fails */
static bool interruptible; /* only calls that POSIX lets a signal interrupt */

static bool refuses(bool may_be_interrupted)
{
    if ((interruptible && !may_be_interrupted) || !fails_now()) {
        return false;
    }
    errno = fault;
    return true;
}

#define WRAPPED(type, name, parameters, arguments, interrupted, refused)   \
    type __real_##name parameters;                                         \
    type __wrap_##name parameters;                                         \
    type __wrap_##name parameters                                          \
    {                                                                      \
        return refuses(interrupted) ? (refused) : __real_##name arguments; \
    }

WRAPPED(ssize_t, read, (int fd, void *data, size_t size), (fd, data, size), true, -1)
WRAPPED(ssize_t, pread, (int fd, void *data, size_t size, off_t at), (fd, data, size, at), true, -1)
WRAPPED(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size), true, -1)
WRAPPED(ssize_t, writev, (int fd, const struct iovec *pieces, int count), (fd, pieces, count), true, -1)
WRAPPED(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at), true, -1)
WRAPPED(int, fsync, (int fd), (fd), false, -1)
WRAPPED(int, ftruncate, (int fd, off_t size), (fd, size), false, -1)
WRAPPED(int, fallocate, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size), true, -1)
WRAPPED(int, fstat, (int fd, struct stat *info), (fd, info), false, -1)
WRAPPED(int, fstatat, (int fd, const char *path, struct stat *info, int flags), (fd, path, info, flags), false, -1)
WRAPPED(int, stat, (const char *path, struct stat *info), (path, info), false, -1)
WRAPPED(int, lstat, (const char *path, struct stat *info), (path, info), false, -1)
WRAPPED(int, fchmod, (int fd, mode_t mode), (fd, mode), false, -1)
WRAPPED(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), false, -1)
WRAPPED(int, faccessat, (int fd, const char *path, int mode, int flags), (fd, path, mode, flags), false, -1)
WRAPPED(DIR *, fdopendir, (int fd), (fd), false, NULL)
WRAPPED(struct dirent *, readdir, (DIR * folder), (folder), false, NULL)
WRAPPED(void *, mmap, (void *at, size_t size, int protection, int flags, int fd, off_t from),
        (at, size, protection, flags, fd, from), false, MAP_FAILED)

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;
    va_start(args, flags);
    mode = (flags & (O_CREAT | O_TMPFILE)) ? (mode_t)va_arg(args, int) : 0;
    va_end(args);
    return refuses(!(flags & (O_DIRECTORY | O_PATH))) ? -1 : __real_open(path, flags, mode);
}

int __real_openat(int fd, const char *path, int flags, ...);
int __wrap_openat(int fd, const char *path, int flags, ...);
int __wrap_openat(int fd, const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;
    va_start(args, flags);
    mode = (flags & (O_CREAT | O_TMPFILE)) ? (mode_t)va_arg(args, int) : 0;
    va_end(args);
    return refuses(!(flags & (O_DIRECTORY | O_PATH))) ? -1 : __real_openat(fd, path, flags, mode);
}

/* -------------------------------------------------------------------------------------------------- operations -- */

typedef struct scene {
    scratch *folder;
    rec_context *context;
    rec_record *record;
    const char *recorder, *name, *loaded; /* what it is saved as, and what is loaded then */
    const char *option, *value;           /* of the recorder, or NULL */
    const char *map;
} scene;

enum { VALUES = 1 << 16 };

static rec_record *record_of(rec_context *context, float first)
{
    static float numbers[VALUES];
    const uint64_t shape[2] = {256, VALUES / 256};
    rec_record *record = rec_record_new(context);
    assert_non_null(record);
    for (size_t i = 0; i < VALUES; i++) {
        numbers[i] = first + (float)i;
    }
    assert_int_equal(rec_set_f32(record, "a.weight", numbers, 2, shape), REC_OK);
    assert_int_equal(rec_set_f32(record, "b.weight", numbers, 2, shape), REC_OK);
    return record;
}

static rec_recorder *recorder_of(const scene *s)
{
    rec_recorder *r = rec_open_recorder_in(s->context, s->recorder, REC_PRECISION_KEEP);
    assert_non_null(r);
    assert_int_equal(rec_recorder_set(r, "map", s->map), REC_OK);
    if (s->option) {
        assert_int_equal(rec_recorder_set(r, s->option, s->value), REC_OK);
    }
    return r;
}

/* The first element of the file, 0: it cannot be loaded. */
static float first_of(rec_recorder *r, const char *path)
{
    rec_record *record = rec_load(r, path);
    const rec_value *value = record ? rec_value_at(record, "b.weight") : NULL;
    const float *data = value ? rec_tensor_f32(rec_value_tensor(value)) : NULL;
    float first = data && data[VALUES - 1] == data[0] + (float)(VALUES - 1) ? data[0] : 0;
    rec_record_free(record);
    return first;
}

/* Saves 2… over 1…, or loads it: @return what came of it. */
static rec_status once(const scene *s, rec_recorder *r, const char *path, bool save)
{
    rec_status status;
    armed = true;
    if (save) {
        status = rec_save(r, s->record, path);
    } else {
        float first = first_of(r, path);
        status = first > 0 ? REC_OK : rec_error_status();
        assert_true(first == 0 || first == 1);
        assert_int_not_equal(first > 0 ? REC_OK : status, first > 0 ? REC_E_IO : REC_OK);
    }
    armed = false;
    return status;
}

/* @return how many calls failed. */
static long each_call(scene *s, bool save, int error)
{
    rec_recorder *r = recorder_of(s);
    rec_record *old = record_of(s->context, 1);
    char *path = scratch_path(s->folder, s->name), *loaded = scratch_path(s->folder, s->loaded);
    long failures = 0, before;
    by_place = true;
    fault = error;
    interruptible = error == EINTR;
    place_count = 0;
    memset(places_seen, 0, sizeof places_seen);
    do {
        rec_status status;
        before = failed;
        if (failures == 0 || save) {
            assert_int_equal(rec_save(r, old, path), REC_OK);
        }
        status = once(s, r, save ? path : loaded, save);
        if (failed == before && status != REC_OK) {
            fail_msg("%s: %s although no call failed: %s", s->name, save ? "save" : "load", rec_error_message());
        }
        if (error == EINTR && status != REC_OK) {
            fail_msg("%s: call %ld: %s", s->name, failures, rec_error_message());
        }
        if (save) { /* what is there is the new one, or the old one where that was said */
            float first = first_of(r, loaded);
            if (first != 1 && first != 2) {
                fail_msg("%s: call %ld: what is there is neither the old file nor the new one", s->name, failures);
            }
            if ((status == REC_OK || status == REC_E_SYNC) != (first == 2)) {
                fail_msg("%s: call %ld: %s, and the file begins with %g: %s", s->name, failures,
                         rec_status_name(status), (double)first, rec_error_message());
            }
        }
        failures += failed - before;
    } while (failed != before);
    by_place = false;
    free(loaded);
    free(path);
    rec_record_free(old);
    rec_close_recorder(r);
    return failures;
}

static void each_error(const char *recorder, const char *name, const char *loaded, const char *option,
                       const char *value, uint64_t spill)
{
    static const int errors[] = {EINTR, EIO, ENOSPC, ENOENT, EMFILE};
    scene s = {.folder = scratch_new(),
               .recorder = recorder,
               .name = name,
               .loaded = loaded,
               .option = option,
               .value = value};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        for (int map = 0; map < 2; map++) {
            s.context = rec_context_new(NULL);
            assert_non_null(s.context);
            s.map = map ? "yes" : "no";
            assert_int_equal(rec_context_set_threads(s.context, 1), REC_OK);
            if (spill) {
                assert_int_equal(rec_context_set_spill(s.context, spill), REC_OK);
            }
            s.record = record_of(s.context, 2);
            assert_true(each_call(&s, true, errors[i]) > 0);
            assert_true(each_call(&s, false, errors[i]) > 0);
            rec_record_free(s.record);
            rec_context_free(s.context);
        }
    }
    scratch_free(s.folder);
}

static void a_file(void **state)
{
    (void)state;
    each_error("NamedMpk", "m.mpk", "m.mpk", "check", "yes", 0);
}

static void a_compressed_file(void **state)
{
    (void)state;
    each_error("NamedMpkGz", "m.mpk.gz", "m.mpk.gz", "check", "yes", 4096);
}

static void several_files(void **state)
{
    (void)state;
    each_error("Safetensors", "m.safetensors", "m.safetensors.index.json", "max-shard-size", "300000", 0);
}

int main(void)
{
    /* The linker knows these calls by their names, and those that take an offset have others there. */
    if (sizeof(off_t) > sizeof(long)) {
        printf("1..0 # SKIP offsets are longer than an address: the calls have other names\n");
        return 0;
    }
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file),
        cmocka_unit_test(a_compressed_file),
        cmocka_unit_test(several_files),
    };
    return cmocka_run_group_tests_name("calls of the system that fail", tests, NULL, NULL);
}
