/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Mapped files that are cut: with rec_guard_maps() who reads there goes on with zeros, and fails before anything comes
 * of it. */
#include "tests/test_io.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { PAGES = 40, MANY = 150 };

static size_t page;

/* A file of some pages of the letter, mapped. */
static rec_source *map_file(world *w, const char *path, char letter)
{
    char *data = malloc(PAGES * page);
    rec_source *source;
    assert_non_null(data);
    memset(data, letter, PAGES * page);
    write_file(path, data, PAGES * page);
    free(data);
    source = source_of_file(&w->job, path, true);
    assert_non_null(source);
    assert_true(lr_source_mapped(source));
    return source;
}

static const volatile char *bytes_of(world *w, rec_source *source)
{
    const void *data;
    uint64_t size;
    assert_int_equal(rec_source_view(&w->job, source, &data, &size), REC_OK);
    assert_int_equal(size, PAGES * page);
    return data;
}

/* Runs it in a child. @return how that ended, as waitpid has it. */
static int in_child(world *w, void (*what)(world *w))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0};
        (void)setrlimit(RLIMIT_CORE, &none);
        what(w);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void read_what_is_cut(world *w)
{
    rec_source *source = map_file(w, "a.bin", 'a');
    const volatile char *data = bytes_of(w, source);
    (void)signal(SIGBUS, SIG_DFL); /* a sanitizer has one of its own */
    (void)!truncate("a.bin", (off_t)page);
    _exit(data[2 * page] == 'a');
}

/* The first test: later ones have the guard. */
static void without_consent_it_is_a_signal(void **state)
{
    int status = in_child(*state, read_what_is_cut);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGBUS);
}

static volatile sig_atomic_t earlier_calls;

static void earlier_handler(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    earlier_calls++;
    _exit(42);
}

/* A map that is not librecord's. */
static void read_foreign_map(world *w)
{
    int fd = open("foreign.bin", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const volatile char *map;
    (void)w;
    assert_int_equal(ftruncate(fd, (off_t)page), 0);
    map = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
    assert_int_equal(ftruncate(fd, 0), 0);
    _exit(map[0]);
}

static void guard_and_read_foreign_map(world *w)
{
    struct sigaction action = {.sa_sigaction = earlier_handler, .sa_flags = SA_SIGINFO};
    assert_int_equal(sigaction(SIGBUS, &action, NULL), 0);
    assert_int_equal(rec_guard_maps(), REC_OK);
    read_foreign_map(w);
}

static void guard_over_nothing_and_read_foreign_map(world *w)
{
    (void)signal(SIGBUS, SIG_DFL);
    assert_int_equal(rec_guard_maps(), REC_OK);
    read_foreign_map(w);
}

static void guard_over_ignored_and_read_foreign_map(world *w)
{
    (void)signal(SIGBUS, SIG_IGN);
    assert_int_equal(rec_guard_maps(), REC_OK);
    (void)raise(SIGBUS); /* nobody minds */
    read_foreign_map(w); /* but this cannot be passed over */
}

static void what_is_not_ours_goes_to_the_earlier_handler(void **state)
{
    int status = in_child(*state, guard_and_read_foreign_map);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
    status = in_child(*state, guard_over_nothing_and_read_foreign_map);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGBUS);
    status = in_child(*state, guard_over_ignored_and_read_foreign_map);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGBUS);
}

/* ------------------------------------------------------------------------------------------------ with consent -- */

/* cmocka has handlers of its own during each test: ours is put back, as a program would that changes them. */
static void guard(void)
{
    static struct sigaction ours;
    static bool there;
    assert_int_equal(rec_guard_maps(), REC_OK);
    assert_int_equal(sigaction(SIGBUS, there ? &ours : NULL, there ? NULL : &ours), 0);
    there = true;
    assert_int_equal(rec_guard_maps(), REC_OK); /* once more is nothing */
}

static void zeros_take_the_place_of_what_is_gone(void **state)
{
    world *w = *state;
    rec_source *source, *other;
    const volatile char *data;
    const void *again;
    uint64_t size;
    uint8_t byte;
    guard();
    source = map_file(w, "a.bin", 'a');
    other = map_file(w, "b.bin", 'b');
    data = bytes_of(w, source);
    assert_int_equal(truncate("a.bin", (off_t)(3 * page)), 0);
    assert_int_equal(data[3 * page - 1], 'a');
    assert_false(lr_source_is_cut(source));
    assert_int_equal(data[3 * page], 0);
    assert_true(lr_source_is_cut(source));
    assert_int_equal(data[PAGES * page - 1], 0);
    assert_int_equal(data[0], 'a');
    assert_int_equal(lr_watch_judge(&w->job, false), REC_E_IO);
    assert_failed(w, REC_E_IO, "a.bin: the file was truncated while it was read\n");
    /* What begins later and asks for these bytes fails as well... */
    assert_int_equal(lr_watch_judge(&w->job, true), REC_OK);
    assert_int_equal(rec_source_view(&w->job, source, &again, &size), REC_E_IO);
    assert_failed(w, REC_E_IO, "a.bin: the file was truncated while it was read\n");
    assert_int_equal(rec_source_read_at(&w->job, source, 0, &byte, 1), REC_E_IO);
    assert_failed(w, REC_E_IO, "a.bin: the file was truncated while it was read\n");
    assert_int_equal(rec_source_at_hand(&w->job, source, 0, 1, &again), REC_E_IO);
    assert_failed(w, REC_E_IO, "a.bin: the file was truncated while it was read\n");
    /* ...and nothing else does. */
    assert_int_equal(bytes_of(w, other)[5 * page], 'b');
    assert_int_equal(end_job(w), REC_OK);
    rec_source_release(source);
    rec_source_release(other);
    assert_int_equal(rec_guard_check(NULL), REC_E_IO);
    assert_string_equal(rec_error_file(), "a.bin");
}

/* A failure that came of the zeros is not told, but what they came of. */
static void the_cause_is_told(void **state)
{
    world *w = *state;
    rec_source *source;
    guard();
    source = map_file(w, "a.bin", 'a');
    assert_int_equal(truncate("a.bin", 0), 0);
    assert_int_equal(bytes_of(w, source)[0], 0);
    (void)rec_fail(&w->job, REC_E_FORMAT, 0, "expected an a");
    assert_failed(w, REC_E_IO, "a.bin: the file was truncated while it was read\n");
    rec_source_release(source);
}

/* Within a page there is no signal; who asked for the guard has the sizes looked at. */
static void a_cut_within_a_page_is_seen_by_the_size(void **state)
{
    world *w = *state;
    rec_source *source;
    guard();
    source = map_file(w, "a.bin", 'a');
    assert_int_equal(truncate("a.bin", (off_t)(PAGES * page - 1)), 0);
    assert_int_equal(bytes_of(w, source)[PAGES * page - 1], 0);
    assert_int_equal(lr_watch_judge(&w->job, false), REC_OK);
    assert_int_equal(lr_watch_judge(&w->job, true), REC_E_IO);
    assert_failed(w, REC_E_IO, "a.bin: the file was truncated while it was read\n");
    rec_source_release(source);
    /* Another file of that name is another file. */
    source = map_file(w, "b.bin", 'b');
    assert_int_equal(unlink("b.bin"), 0);
    write_file("b.bin", "b", 1);
    assert_int_equal(lr_watch_judge(&w->job, true), REC_OK);
    assert_int_equal(bytes_of(w, source)[PAGES * page - 1], 'b');
    rec_source_release(source);
}

struct reading {
    const volatile char *data;
    atomic_uint next, zeros;
};

static void *read_pages(void *user)
{
    struct reading *r = user;
    unsigned at;
    while ((at = atomic_fetch_add(&r->next, 1)) < PAGES) {
        atomic_fetch_add(&r->zeros, r->data[at * page] == 0);
    }
    return NULL;
}

/* Threads of the library's own have signals blocked: of this one that would end the process. */
static void threads_may_meet_it(void **state)
{
    world *w = *state;
    struct reading r = {.zeros = 0};
    pthread_t threads[4];
    uint32_t count;
    rec_source *source;
    guard();
    source = map_file(w, "a.bin", 'a');
    r.data = bytes_of(w, source);
    assert_int_equal(truncate("a.bin", (off_t)(7 * page)), 0);
    count = lr_threads_start(threads, 4, read_pages, &r);
    assert_int_equal(count, 4);
    lr_threads_join(threads, count);
    assert_int_equal(atomic_load(&r.zeros), PAGES - 7);
    assert_failed(w, lr_watch_judge(&w->job, false), "a.bin: the file was truncated while it was read\n");
    rec_source_release(source);
}

/* Bytes that the system takes out of a map itself: it says EFAULT, and no signal is sent. */
static void what_the_system_cannot_read_is_not_saved(void **state)
{
    world *w = *state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        rec_source *source;
        rec_sink *sink;
        guard();
        w->context.threads = threads;
        source = map_file(w, "a.bin", 'a');
        write_file("out.bin", "old", 3);
        sink = lr_sink_file(&w->job, "out.bin", true);
        assert_int_equal(rec_sink_put(sink, &(rec_blob){.size = sizeof(rec_blob),
                                                        .kind = REC_BLOB_RANGE,
                                                        .source = source,
                                                        .length = PAGES * page}),
                         REC_OK);
        assert_int_equal(truncate("a.bin", (off_t)(2 * page)), 0);
        assert_int_equal(lr_sink_commit(sink), REC_E_IO);
        assert_failed(w, REC_E_IO, "a.bin: the file was truncated while it was read\n");
        assert_file("out.bin", "old", 3);
        rec_source_release(source);
    }
}

/* What was copied out of it before is not saved either. */
static void what_was_made_of_zeros_is_not_saved(void **state)
{
    world *w = *state;
    rec_source *source;
    rec_sink *sink;
    char byte;
    guard();
    source = map_file(w, "a.bin", 'a');
    write_file("out.bin", "old", 3);
    sink = lr_sink_file(&w->job, "out.bin", true);
    assert_int_equal(truncate("a.bin", (off_t)(2 * page)), 0);
    byte = bytes_of(w, source)[9 * page];
    assert_int_equal(rec_sink_write(sink, &byte, 1), REC_OK);
    assert_int_equal(lr_sink_commit(sink), REC_E_IO);
    assert_failed(w, REC_E_IO, "a.bin: the file was truncated while it was read\n");
    assert_file("out.bin", "old", 3);
    assert_int_equal(count_files(".", ".librecord-tmp"), 0);
    rec_source_release(source);
}

static void any_number_of_maps_is_watched(void **state)
{
    world *w = *state;
    rec_source *sources[MANY];
    char name[32];
    guard();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) {
            (void)snprintf(name, sizeof name, "%d.bin", i);
            sources[i] = map_file(w, name, 'm');
        }
        for (int i = round; i < MANY; i += 7) {
            (void)snprintf(name, sizeof name, "%d.bin", i);
            assert_int_equal(truncate(name, 0), 0);
            assert_int_equal(bytes_of(w, sources[i])[page], 0);
        }
        for (int i = 0; i < MANY; i++) {
            assert_int_equal(lr_source_is_cut(sources[i]), i % 7 == round);
            rec_source_release(sources[i]);
        }
        (void)end_job(w);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_world, leave_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_consent_it_is_a_signal),
        TEST(what_is_not_ours_goes_to_the_earlier_handler),
        TEST(zeros_take_the_place_of_what_is_gone),
        TEST(the_cause_is_told),
        TEST(a_cut_within_a_page_is_seen_by_the_size),
        TEST(threads_may_meet_it),
        TEST(what_the_system_cannot_read_is_not_saved),
        TEST(what_was_made_of_zeros_is_not_saved),
        TEST(any_number_of_maps_is_watched),
    };
    page = (size_t)sysconf(_SC_PAGESIZE);
    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
