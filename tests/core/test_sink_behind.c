/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sinks of descriptors that write on a second thread while bytes are made on the caller's: what they may not change. */
#include "tests/killing.h"
#include "tests/test_io.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define MIB ((size_t)1 << 20)
/* Exit status of a child that could not set up what it was to test. */
enum { CANNOT = 77 };
/* A save that is long enough for the thread, and a part of it that is not. */
#define LONG (24 * MIB + 11)
#define SHORT (1 * MIB)

/* ----------------------------------------------------------------------------------------------------- helpers -- */

static int threads_now(void)
{
    DIR *list = opendir("/proc/self/task");
    int count = 0;
    assert_non_null(list);
    while (readdir(list)) {
        count++;
    }
    (void)closedir(list);
    return count - 2; /* . and .. */
}

/* Whether as many are left as there were. One that was joined may be seen for a moment longer. */
static bool threads_are(int count)
{
    for (int tries = 0; tries < 300000 && threads_now() != count; tries++) { /* 300 s */
        (void)usleep(1000);
    }
    return threads_now() == count;
}

struct maker {
    size_t at; /* of the whole file */
    size_t fail_at;
    int most_threads;
};

static int32_t make_bytes(void *user, void *target, uint64_t size)
{
    struct maker *maker = user;
    int threads = threads_now();
    maker->most_threads = threads > maker->most_threads ? threads : maker->most_threads;
    if (maker->at + size > maker->fail_at) {
        return REC_E_RANGE;
    }
    for (uint64_t i = 0; i < size; i++) {
        ((uint8_t *)target)[i] = pattern(maker->at++);
    }
    return REC_OK;
}

struct freed {
    pthread_t thread;
    int count;
    bool elsewhere; /* on another thread than the test's */
};

static void free_part(void *user, const void *data)
{
    struct freed *freed = user;
    freed->count++;
    freed->elsewhere = freed->elsewhere || !pthread_equal(freed->thread, pthread_self());
    free((void *)(uintptr_t)data);
}

static uint8_t *made(size_t at, size_t size)
{
    uint8_t *data = malloc(size);
    assert_non_null(data);
    for (size_t i = 0; i < size; i++) {
        data[i] = pattern(at + i);
    }
    return data;
}

/* Writes `size` bytes: most of them as streams, between them what is copied, kept with its source, and gone at once. */
static int32_t write_made(world *w, rec_sink *sink, size_t size, struct maker *maker, struct freed *freed)
{
    static const size_t pieces[] = {3 * MIB + 13, 100, 300 * 1024, 5000, 70001, 2 * MIB, 1};
    int32_t status = REC_OK;
    for (size_t i = 0; maker->at < size && status == REC_OK; i++) {
        size_t piece = pieces[i % (sizeof pieces / sizeof *pieces)];
        rec_blob blob = {.size = sizeof blob, .kind = REC_BLOB_STREAM, .read = make_bytes, .user = maker};
        uint8_t *data;
        piece = piece < size - maker->at ? piece : size - maker->at;
        blob.length = piece;
        if (piece > 100 * 1024) {
            status = rec_sink_put(sink, &blob);
            continue;
        }
        data = made(maker->at, piece);
        maker->at += piece;
        if (piece == 5000) {
            blob.kind = REC_BLOB_VIEW;
            blob.data = data;
            blob.source = lr_source_owned(&w->context.allocator, data, piece, free_part, freed);
            assert_non_null(blob.source);
            status = rec_sink_put(sink, &blob);
            rec_source_release(blob.source);
        } else {
            status = rec_sink_write(sink, data, piece);
            memset(data, 0xEE, piece);
            free(data);
        }
    }
    return status;
}

/* Saves to a.mpk. @return the job's status, which is still to be ended. */
static int32_t save_made_so(world *w, size_t size, struct maker *maker, struct freed *freed, bool sync)
{
    rec_sink *sink = lr_sink_file(&w->job, "a.mpk", sync);
    freed->thread = pthread_self();
    if (sink) {
        (void)write_made(w, sink, size, maker, freed);
        (void)lr_sink_commit(sink);
    }
    return w->job.error.status;
}

static int32_t save_made(world *w, size_t size, struct maker *maker, struct freed *freed)
{
    return save_made_so(w, size, maker, freed, false);
}

static void assert_made(const char *path, size_t size)
{
    uint8_t *data = made(0, size);
    assert_file(path, data, size);
    free(data);
}

/* ---------------------------------------------------------------------------------------------------- the good -- */

static void a_second_thread_writes_what_is_made(void **state)
{
    world *w = *state;
    int before = threads_now(), calls[3];
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct maker maker = {.fail_at = SIZE_MAX};
        struct freed freed = {0};
        w->context.threads = threads;
        w->progress_calls = 0;
        assert_int_equal(save_made(w, LONG, &maker, &freed), REC_OK);
        calls[threads] = w->progress_calls;
        assert_int_equal(maker.most_threads, before + (int)threads - 1);
        assert_true(threads_are(before)); /* it ends with the sink */
        assert_made("a.mpk", LONG);
        assert_true(freed.count > 3);
        assert_false(freed.elsewhere); /* what frees a caller's bytes need not be safe on another thread */
    }
    assert_int_equal(calls[1], calls[2]);
    assert_true(calls[1] >= 5);
    assert_int_equal(count_files(".", ""), 1);
}

/* What is converted is written by the thread that converts it. */
static void what_is_converted_stays_on_its_processor(void **state)
{
    world *w = *state;
    struct maker maker = {.fail_at = SIZE_MAX};
    struct freed freed = {0};
    int before = threads_now();
    w->context.threads = 2;
    w->job.converting = true;
    assert_int_equal(save_made(w, LONG, &maker, &freed), REC_OK);
    assert_int_equal(maker.most_threads, before);
    assert_made("a.mpk", LONG);
    w->job.converting = false;
}

static off_t out_to, out_gaps;
static int out_calls, out_other;

/* In place of the system's, which nobody can look at. */
int sync_file_range(int fd, off64_t from, off64_t count, unsigned int flags)
{
    (void)fd;
    out_other += flags != SYNC_FILE_RANGE_WRITE;
    if (count) { /* 0: all that is left, at the end */
        out_calls++;
        out_gaps += from != out_to;
        out_to = from + count;
    }
    errno = EIO; /* a wish: whatever it says, fsync tells */
    return -1;
}

/* What is to be synced goes to the disk while the rest is made; what is not is left to the system. */
static void the_disk_begins_early(void **state)
{
    world *w = *state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        for (int sync = 0; sync <= 1; sync++) {
            struct maker maker = {.fail_at = SIZE_MAX};
            struct freed freed = {0};
            w->context.threads = threads;
            out_to = out_gaps = 0;
            out_calls = out_other = 0;
            assert_int_equal(save_made_so(w, 3 * LONG, &maker, &freed, sync), REC_OK);
            assert_made("a.mpk", 3 * LONG);
            assert_int_equal(out_other, 0);
            assert_int_equal(out_gaps, 0);
            if (sync) {
                assert_in_range(out_calls, 3, 4);
                assert_in_range(out_to, 2 * LONG, 3 * LONG);
            } else {
                assert_int_equal(out_calls, 0);
            }
        }
    }
}

static void short_files_and_devices_are_written_without_one(void **state)
{
    world *w = *state;
    struct maker maker = {.fail_at = SIZE_MAX}, long_maker = maker;
    struct freed freed = {0};
    int before = threads_now(), fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    rec_sink *sink;
    assert_int_equal(save_made(w, SHORT, &maker, &freed), REC_OK);
    assert_made("a.mpk", SHORT);
    assert_int_equal(maker.most_threads, before);
    sink = lr_sink_fd(&w->job, fd);
    assert_non_null(sink);
    assert_int_equal(write_made(w, sink, LONG, &long_maker, &freed), REC_OK);
    assert_int_equal(lr_sink_commit(sink), REC_OK);
    assert_int_equal(long_maker.most_threads, before);
    (void)close(fd);
}

static void a_descriptor_gets_all_before_the_commit_returns(void **state)
{
    world *w = *state;
    struct maker maker = {.fail_at = SIZE_MAX};
    struct freed freed = {0};
    int fd = open("out", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    rec_sink *sink = lr_sink_fd(&w->job, fd);
    assert_non_null(sink);
    assert_int_equal(write_made(w, sink, LONG, &maker, &freed), REC_OK);
    assert_int_equal(lr_sink_commit(sink), REC_OK);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), LONG);
    (void)close(fd);
    assert_made("out", LONG);
}

/* ----------------------------------------------------------------------------------------------------- the bad -- */

static void a_write_that_fails_behind_is_told_with_its_byte(void **state)
{
    world *w = *state;
    const rlim_t limits[] = {0, MIB, 3 * MIB, 4 * MIB + 1, 9 * MIB - 1, 17 * MIB + 4096, LONG - 1};
    struct rlimit before, limit;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    int threads = threads_now();
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    write_file("a.mpk", "old", 3);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct maker maker = {.fail_at = SIZE_MAX};
        struct freed freed = {0};
        char words[128], digits[32];
        limit = before;
        limit.rlim_cur = limits[i];
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_int_equal(save_made(w, LONG, &maker, &freed), REC_E_IO);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        (void)snprintf(words, sizeof words, "a.mpk: byte %s: cannot write: File too large\n  Files of this size",
                       lr_group_digits(limits[i], digits, sizeof digits));
        assert_failed(w, REC_E_IO, words);
        assert_true(maker.at < limits[i] + 8 * MIB); /* it shows soon */
        assert_false(freed.elsewhere);
        assert_true(threads_are(threads));
        assert_file("a.mpk", "old", 3);
        assert_int_equal(count_files(".", ""), 1);
    }
    (void)signal(SIGXFSZ, handler);
}

/* Of too large a file the system tells by a signal, to the thread that wrote it; the application's handler gets it. */
static atomic_int struck;

static void count_signal(int number)
{
    (void)number;
    (void)atomic_fetch_add(&struck, 1);
}

static void the_signal_of_a_size_limit_arrives(void **state)
{
    world *w = *state;
    struct maker maker = {.fail_at = SIZE_MAX};
    struct freed freed = {0};
    struct rlimit before, limit;
    void (*handler)(int) = signal(SIGXFSZ, count_signal);
    atomic_store(&struck, 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 9 * MIB;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(save_made(w, LONG, &maker, &freed), REC_E_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, handler);
    assert_int_equal(atomic_load(&struck), 1);
    assert_failed(w, REC_E_IO, "a.mpk: byte 9,437,184: cannot write: File too large");
}

/* In a mount namespace of its own, on a file system of 8 MiB. */
static int save_to_full_disk(world *w)
{
    struct maker maker = {.fail_at = SIZE_MAX};
    struct freed freed = {0};
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "disk", "tmpfs", 0, "size=8m") != 0 || chdir("disk") != 0) {
        return CANNOT;
    }
    write_file("a.mpk", "old", 3);
    if (save_made(w, LONG, &maker, &freed) != REC_E_IO) {
        return 1;
    }
    (void)end_job(w);
    if (!strstr(rec_error_message(), "a.mpk: byte 8,384,512: cannot write: No space left on device\n"
                                     "  It needs at least 8,384,513 bytes, 8,384,512 are free there.")) {
        (void)fprintf(stderr, "%s\n", rec_error_message());
        return 2;
    }
    assert_file("a.mpk", "old", 3);
    return count_files(".", "") == 1 ? 0 : 3;
}

static void a_full_disk_is_told_with_its_byte(void **state)
{
    world *w = *state;
    int status;
    pid_t child;
    assert_int_equal(mkdir("disk", 0755), 0);
    child = fork();
    if (child == 0) {
        _exit(save_to_full_disk(w));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT) {
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void what_fails_or_is_cancelled_meanwhile_leaves_the_old_file(void **state)
{
    world *w = *state;
    int threads = threads_now();
    write_file("a.mpk", "old", 3);
    for (int at = 0; at < 10; at++) {
        bool cancel = at >= 6;
        struct maker maker = {.fail_at = cancel ? SIZE_MAX : 1 + (size_t)at * 4 * MIB};
        struct freed freed = {0};
        w->progress_calls = 0;
        w->cancel_at = cancel ? at - 5 : 0;
        assert_int_equal(save_made(w, LONG, &maker, &freed), cancel ? REC_E_CANCELLED : REC_E_PLUGIN);
        (void)end_job(w);
        assert_false(freed.elsewhere);
        assert_true(threads_are(threads));
        assert_file("a.mpk", "old", 3);
        assert_int_equal(count_files(".", ""), 1);
    }
}

/* Saves in a child that is killed at its n-th call, of either thread. @return whether the save was done before. */
static bool save_and_die(world *w, long n)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct maker maker = {.fail_at = SIZE_MAX};
        struct freed freed = {0};
        begin_job(w);
        atomic_store(&kill_at, n);
        _exit(save_made(w, LONG, &maker, &freed) != REC_OK);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGKILL);
    return WIFEXITED(status);
}

static void a_save_killed_at_any_call_leaves_a_whole_file(void **state)
{
    world *w = *state;
    int old = 0, new = 0;
    bool done = false;
    for (long n = 1; !done; n++) {
        struct stat info;
        write_file("a.mpk", "old", 3);
        done = save_and_die(w, n);
        assert_int_equal(stat("a.mpk", &info), 0);
        if (info.st_size == 3) {
            assert_file("a.mpk", "old", 3);
            old++;
        } else {
            assert_made("a.mpk", LONG);
            new ++;
        }
        assert_true(count_files(".", "") <= 2);
    }
    assert_true(old > 5 && new > 1);
    assert_int_equal(count_files(".", ""), 1);
}

/* Without memory for the thread's own batches the save goes on without it. */
static void each_allocation_may_fail(void **state)
{
    world *w = *state;
    bool done = false;
    int saved = 0;
    use_counted_allocator(w);
    for (int64_t n = 0; !done; n++) {
        struct maker maker = {.fail_at = SIZE_MAX};
        rec_sink *sink;
        int fd = open("out", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        assert_true(n < 50);
        w->made = 0;
        w->fail_at = n;
        sink = lr_sink_fd(&w->job, fd);
        if (sink) {
            rec_blob blob = {
                .size = sizeof blob, .kind = REC_BLOB_STREAM, .length = LONG, .read = make_bytes, .user = &maker};
            (void)rec_sink_put(sink, &blob);
            (void)lr_sink_commit(sink);
        }
        (void)close(fd);
        assert_int_equal(w->live, 0);
        done = w->made <= n;
        if (end_job(w) == REC_OK) {
            assert_made("out", LONG);
            saved++;
        } else {
            assert_contains(rec_error_message(), "out of memory");
            assert_int_equal(maker.at, 0);
        }
    }
    assert_int_equal(saved, 4); /* three of them, and when none failed */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_world, leave_world)

static void *nothing(void *user)
{
    return user;
}

int main(void)
{
    pthread_t first;
    const struct CMUnitTest tests[] = {
        TEST(a_second_thread_writes_what_is_made),
        TEST(what_is_converted_stays_on_its_processor),
        TEST(the_disk_begins_early),
        TEST(short_files_and_devices_are_written_without_one),
        TEST(a_descriptor_gets_all_before_the_commit_returns),
        TEST(a_write_that_fails_behind_is_told_with_its_byte),
        TEST(the_signal_of_a_size_limit_arrives),
        TEST(a_full_disk_is_told_with_its_byte),
        TEST(what_fails_or_is_cancelled_meanwhile_leaves_the_old_file),
        TEST(a_save_killed_at_any_call_leaves_a_whole_file),
        TEST(each_allocation_may_fail),
    };
    /* Sanitizers start a thread of their own beside the first: it is not to be counted later. */
    if (pthread_create(&first, NULL, nothing, NULL) != 0 || pthread_join(first, NULL) != 0) {
        return 1;
    }
    return cmocka_run_group_tests_name("sink-behind", tests, NULL, NULL);
}
