/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the command shows of its progress: when, in which words, and what an interrupt does. The clock and the terminal
 * are the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static struct timespec the_time = {1000, 0};
static int terminal;

static int test_clock(clockid_t which, struct timespec *time)
{
    (void)which;
    *time = the_time;
    return 0;
}

static int test_isatty(int descriptor)
{
    return descriptor == STDERR_FILENO && terminal;
}

#define clock_gettime test_clock
#define isatty test_isatty
#include "tools/print/progress.c"
#undef clock_gettime
#undef isatty
#include "tools/print/text.c"

static rec_context *context;
static FILE *shown_file;
static int real_stderr;

/* From here on what is written on standard error can be read. */
static void capture(void)
{
    (void)fflush(stderr);
    shown_file = tmpfile();
    assert_non_null(shown_file);
    real_stderr = dup(STDERR_FILENO);
    assert_true(real_stderr >= 0);
    assert_true(dup2(fileno(shown_file), STDERR_FILENO) >= 0);
}

/* What was written on standard error since capture(), which ends. */
static const char *captured(void)
{
    static char what[512];
    size_t length;

    (void)fflush(stderr);
    assert_true(dup2(real_stderr, STDERR_FILENO) >= 0);
    (void)close(real_stderr);
    (void)fseek(shown_file, 0, SEEK_SET);
    length = fread(what, 1, sizeof what - 1, shown_file);
    what[length] = 0;
    (void)fclose(shown_file);
    return what;
}

static void wait_ms(unsigned ms)
{
    the_time.tv_sec += (time_t)(ms / 1000);
    the_time.tv_nsec += (long)(ms % 1000) * 1000000;
    if (the_time.tv_nsec >= 1000000000) {
        the_time.tv_sec++;
        the_time.tv_nsec -= 1000000000;
    }
}

/* What a step shows that comes so long after the beginning. */
static const char *after(unsigned ms, uint64_t done, uint64_t total)
{
    tool_progress_begin(context, false);
    wait_ms(ms);
    capture();
    (void)tool_progress_step("load", done, total);
    visible = false;
    return captured();
}

static int setup(void **state)
{
    (void)state;
    terminal = 1;
    context = rec_context_new(NULL);
    return context ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    visible = stopped = false;
    interrupted = 0;
    tool_progress_expect(0);
    rec_context_free(context);
    return 0;
}

static void the_line_says_how_far_how_fast_and_how_long(void **state)
{
    static const uint64_t mib = UINT64_C(1) << 20, gib = UINT64_C(1) << 30;
    (void)state;
    assert_string_equal(after(2000, 200 * mib, 400 * mib), "load: 200 MiB of 400 MiB, 50 %, 100 MiB/s, 2 s left");
    assert_string_equal(after(1000, 99 * mib, 100 * mib), "load: 99.0 MiB of 100 MiB, 99 %, 99.0 MiB/s");
    /* 98 seconds are seconds, more are minutes; 98 minutes are minutes, 99 are hours. */
    assert_string_equal(after(1000, gib, 99 * gib), "load: 1.00 GiB of 99.0 GiB, 1 %, 1.00 GiB/s, 98 s left");
    assert_string_equal(after(1000, gib, 121 * gib), "load: 1.00 GiB of 121 GiB, 1 %, 1.00 GiB/s, 2 min left");
    assert_string_equal(after(1000, gib, 5881 * gib), "load: 1.00 GiB of 5.74 TiB, 0 %, 1.00 GiB/s, 98 min left");
    assert_string_equal(after(1000, gib, 7201 * gib), "load: 1.00 GiB of 7.03 TiB, 0 %, 1.00 GiB/s, 2 h left");
    assert_string_equal(after(3000, 300 * mib, 300 * mib), "load: 300 MiB of 300 MiB, 100 %, 100 MiB/s");
}

static void what_is_not_known_is_not_said(void **state)
{
    (void)state;
    assert_string_equal(after(2000, 4096, REC_UNKNOWN), "load: 4.00 KiB, 2.00 KiB/s");
    assert_string_equal(after(2000, 4096, 0), "load: 4.00 KiB, 2.00 KiB/s");
    assert_string_equal(after(2000, 0, 8192), "load: 0 bytes of 8.00 KiB, 0 %");
    /* More was read than there should have been. */
    assert_string_equal(after(2000, 8192, 4096), "load: 8.00 KiB, 4.00 KiB/s");
    /* What the library cannot know the command may. */
    tool_progress_expect(8192);
    assert_string_equal(after(2000, 4096, REC_UNKNOWN), "load: 4.00 KiB of 8.00 KiB, 50 %, 2.00 KiB/s, 2 s left");
    assert_string_equal(after(2000, 4096, 16384), "load: 4.00 KiB of 16.0 KiB, 25 %, 2.00 KiB/s, 6 s left");
}

static void it_is_shown_on_terminals_that_wait(void **state)
{
    (void)state;
    assert_string_equal(after(999, 4096, 8192), "");
    assert_string_not_equal(after(1000, 4096, 8192), "");
    terminal = 0;
    assert_string_equal(after(2000, 4096, 8192), "");
    terminal = 1;
    tool_progress_begin(context, true);
    wait_ms(2000);
    capture();
    assert_false(tool_progress_step("load", 4096, 8192));
    assert_string_equal(captured(), "");
}

static void the_line_is_drawn_ten_times_a_second_and_wiped(void **state)
{
    (void)state;
    tool_progress_begin(context, false);
    wait_ms(1000);
    capture();
    assert_false(tool_progress_step("load", 1024, 8192));
    wait_ms(99);
    assert_false(tool_progress_step("load", 2048, 8192));
    wait_ms(2);
    assert_false(tool_progress_step("load", 4096, 8192));
    tool_progress_wipe();
    tool_progress_wipe();
    assert_string_equal(captured(), "load: 1.00 KiB of 8.00 KiB, 12 %, 1.00 KiB/s, 7 s left"
                                    "\r\033[Kload: 4.00 KiB of 8.00 KiB, 50 %, 3.63 KiB/s, 1 s left\r\033[K");
    capture();
    wait_ms(1000);
    assert_false(tool_progress_step("load", 8192, 8192));
    tool_progress_end();
    assert_string_equal(captured(), "load: 8.00 KiB of 8.00 KiB, 100 %, 3.81 KiB/s\r\033[K");
}

static void a_save_that_was_read_back_is_known(void **state)
{
    (void)state;
    tool_progress_begin(context, false);
    assert_false(tool_progress_checked());
    (void)tool_progress_step("save", 10, 10);
    assert_false(tool_progress_checked());
    (void)tool_progress_step("check", 5, 10);
    assert_false(tool_progress_checked());
    (void)tool_progress_step("check", 10, 10);
    assert_true(tool_progress_checked());
    tool_progress_begin(context, false);
    assert_false(tool_progress_checked());
}

static int caught;

static void catch (int number)
{
    caught = number;
}

static void (*handler_of(int number))(int)
{
    struct sigaction action;

    assert_int_equal(sigaction(number, NULL, &action), 0);
    return action.sa_handler;
}

static void an_interrupt_stops_the_work_and_then_the_command(void **state)
{
    struct sigaction catching = {.sa_handler = catch};
    sigset_t set, before, pending;
    (void)state;
    tool_progress_begin(context, true);
    tool_progress_guard();
    assert_false(tool_progress_step("save", 1, 2));
    (void)raise(SIGTERM);
    assert_true(handler_of(SIGTERM) == SIG_DFL); /* a second one does not wait */
    assert_true(handler_of(SIGINT) != SIG_DFL);
    assert_true(tool_progress_step("save", 1, 2));

    /* The signal comes back once all is cleaned up; here it is held back, and caught. */
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &set, &before);
    tool_progress_end();
    (void)sigpending(&pending);
    assert_true(sigismember(&pending, SIGTERM));
    assert_true(handler_of(SIGINT) == SIG_DFL && handler_of(SIGTERM) == SIG_DFL && handler_of(SIGHUP) == SIG_DFL);
    (void)sigaction(SIGTERM, &catching, NULL);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(caught, SIGTERM);
    (void)signal(SIGTERM, SIG_DFL);
}

static void an_interrupt_that_came_too_late_is_none(void **state)
{
    (void)state;
    tool_progress_begin(context, true);
    tool_progress_guard();
    (void)raise(SIGINT);
    /* No step asked any more: the work is done, and the command ends as it would have. */
    tool_progress_end();
    assert_true(handler_of(SIGINT) == SIG_DFL);
}

static void what_the_caller_ignores_stays_ignored(void **state)
{
    (void)state;
    (void)signal(SIGHUP, SIG_IGN);
    tool_progress_begin(context, true);
    tool_progress_guard();
    assert_true(handler_of(SIGHUP) == SIG_IGN);
    (void)raise(SIGHUP);
    assert_false(tool_progress_step("save", 1, 2));
    tool_progress_end();
    assert_true(handler_of(SIGHUP) == SIG_IGN);
    (void)signal(SIGHUP, SIG_DFL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_line_says_how_far_how_fast_and_how_long, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_known_is_not_said, setup, teardown),
        cmocka_unit_test_setup_teardown(it_is_shown_on_terminals_that_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(the_line_is_drawn_ten_times_a_second_and_wiped, setup, teardown),
        cmocka_unit_test_setup_teardown(a_save_that_was_read_back_is_known, setup, teardown),
        cmocka_unit_test_setup_teardown(an_interrupt_stops_the_work_and_then_the_command, setup, teardown),
        cmocka_unit_test_setup_teardown(an_interrupt_that_came_too_late_is_none, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_caller_ignores_stays_ignored, setup, teardown),
    };
    /* Whoever began the program may ignore them (nohup). */
    (void)signal(SIGHUP, SIG_DFL);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
