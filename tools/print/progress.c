/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Progress on the terminal, and interrupts that leave no half-written file behind. */
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/print/print.h"

/* The command is one program with one operation, and a signal handler can only reach what is global. */
static volatile sig_atomic_t interrupted;
static double begun, shown;
static bool visible, stopped, silent;
static bool checked; /* the last save was read back */
static rec_context *watched;
static uint64_t all; /* bytes, where the library cannot know them; 0: unknown */

double tool_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void on_signal(int number)
{
    interrupted = number;
}

void tool_progress_wipe(void)
{
    if (visible) {
        fputs("\r\033[K", stderr);
        visible = false;
    }
}

/* How fast it goes, and how long it will. */
static void print_rate(uint64_t done, uint64_t bytes)
{
    double took = tool_now() - begun, left = done && bytes > done ? took / (double)done * (double)(bytes - done) : 0;
    char rate[NUMBER_ROOM];

    if (done) {
        fprintf(stderr, ", %s/s", tool_sized((uint64_t)((double)done / took), rate));
    }
    if (left >= 5940) {
        fprintf(stderr, ", %.0f h left", left / 3600);
    } else if (left >= 99) {
        fprintf(stderr, ", %.0f min left", left / 60);
    } else if (left >= 1) {
        fprintf(stderr, ", %.0f s left", left);
    }
}

/* Of the whole operation, which does not go back, where that is known. */
static double percent(const rec_progress *progress, uint64_t bytes)
{
    return progress->overall_done ? 100.0 * (double)progress->overall_done / (double)progress->overall_total
                                  : 100.0 * (double)progress->done / (double)bytes;
}

static int32_t on_progress(void *user, const rec_progress *progress)
{
    char done[NUMBER_ROOM], total[NUMBER_ROOM];
    uint64_t bytes = progress->total;
    double now = tool_now();

    (void)user;
    checked = strcmp(progress->operation, "check") == 0 && progress->done == progress->total;
    if (interrupted) {
        stopped = true;
        return 1;
    }
    if (silent || !isatty(STDERR_FILENO) || now - begun < 1 || now - shown < 0.1) {
        return 0;
    }
    shown = now;
    tool_progress_wipe();
    visible = true;
    if (bytes == REC_UNKNOWN || bytes == 0) {
        bytes = all;
    }
    if (progress->phases > 1) {
        fprintf(stderr, "%s, %s: ", progress->operation, progress->step);
    } else {
        fprintf(stderr, "%s: ", progress->operation);
    }
    if (bytes < progress->done || bytes == 0) {
        fputs(tool_sized(progress->done, done), stderr);
    } else {
        fprintf(stderr, "%s of %s, %.0f %%", tool_sized(progress->done, done), tool_sized(bytes, total),
                percent(progress, bytes));
    }
    print_rate(progress->done, bytes);
    (void)fflush(stderr);
    return 0;
}

const int tool_signals[TOOL_SIGNALS] = {SIGINT,  SIGTERM,   SIGHUP,  SIGQUIT, SIGPIPE, SIGALRM,
                                        SIGXCPU, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2};

/* What waits for another program, as the open of a FIFO, is interrupted: the library then asks on_progress. A second
 * signal of the same kind ends the program at once. */
void tool_signals_watch(void (*handler)(int))
{
    for (size_t i = 0; i < TOOL_SIGNALS; i++) {
        struct sigaction action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND}, old;
        if (sigaction(tool_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
            (void)sigaction(tool_signals[i], &action, NULL);
        }
    }
}

void tool_progress_begin(rec_context *context, bool quiet)
{
    watched = context;
    silent = quiet;
    begun = shown = tool_now();
    checked = false;
    rec_context_set_progress(context, on_progress, NULL);
}

bool tool_progress_step(const char *operation, uint64_t done, uint64_t total)
{
    rec_progress progress = {.size = sizeof progress, .operation = operation, .file = "", .done = done, .total = total};

    return on_progress(NULL, &progress) != 0;
}

void tool_progress_expect(uint64_t bytes)
{
    all = bytes;
}

bool tool_progress_checked(void)
{
    return checked;
}

bool tool_progress_stopped(void)
{
    return stopped;
}

bool tool_progress_unread(void)
{
    return interrupted == SIGPIPE;
}

void tool_progress_guard(void)
{
    tool_signals_watch(on_signal);
}

void tool_progress_end(void)
{
    rec_context_set_progress(watched, NULL, NULL);
    tool_signals_watch(SIG_DFL);
    tool_progress_wipe();
    if (stopped || tool_progress_unread()) {
        (void)raise(interrupted);
    }
}
