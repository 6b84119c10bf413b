/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Starting threads. Signals stay the program's: none is handled on a thread of ours but SIGBUS, which a thread meets
 * itself when a mapped file was truncated; blocked, it would end the process. */
#ifndef LR_COMMON_THREADS_H
#define LR_COMMON_THREADS_H

#include <pthread.h>
#include <stdint.h>

/** Starts threads. @return how many were started; fewer than `wanted` is no failure. */
uint32_t lr_threads_start(pthread_t *threads, uint32_t wanted, void *(*run)(void *user), void *user);
void lr_threads_join(const pthread_t *threads, uint32_t count);

#endif
