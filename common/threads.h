/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Starting threads. Signals stay the program's: none is handled on a thread of ours but those that a thread meets
 * itself: SIGBUS when a mapped file was truncated, which would end the process if it were blocked, and SIGXFSZ when it
 * writes. */
#ifndef LR_COMMON_THREADS_H
#define LR_COMMON_THREADS_H

#include <pthread.h>
#include <stdint.h>

/** Starts threads. @return how many were started; fewer than `wanted` is no failure. */
uint32_t lr_threads_start(pthread_t *threads, uint32_t wanted, void *(*run)(void *user), void *user);
void lr_threads_join(const pthread_t *threads, uint32_t count);

#endif
