/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Threads that a plugin starts (rec_job_threads). */
#ifndef LR_CODEC_THREADS_H
#define LR_CODEC_THREADS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/** Starts one. Signals stay the program's: none is handled on a thread that it does not know. @return whether it runs;
 * that it does not is no failure. */
static inline bool lr_codec_thread(pthread_t *thread, void *(*run)(void *user), void *user)
{
    sigset_t all, before;
    bool started;
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) {
        return false;
    }
    started = pthread_create(thread, NULL, run, user) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

#endif
