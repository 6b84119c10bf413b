/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Starting threads with the signals that are theirs, and waiting for their end. */
#include "common/threads.h"

#include <signal.h>

uint32_t lr_threads_start(pthread_t *threads, uint32_t wanted, void *(*run)(void *user), void *user)
{
    sigset_t all, before;
    uint32_t count = 0;
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGBUS);
    if (pthread_sigmask(SIG_BLOCK, NULL, &before) != 0) {
        return 0;
    }
    if (!sigismember(&before, SIGXFSZ)) {
        (void)sigdelset(&all, SIGXFSZ);
    }
    (void)pthread_sigmask(SIG_SETMASK, &all, NULL);
    while (count < wanted && pthread_create(&threads[count], NULL, run, user) == 0) {
        count++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return count;
}

void lr_threads_join(const pthread_t *threads, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}
