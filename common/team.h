/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A pool of threads that carry out tasks in the order in which they are posted. A thread that waits for a task carries
 * out others meanwhile. One thread posts and waits: the caller's. */
#ifndef LR_COMMON_TEAM_H
#define LR_COMMON_TEAM_H

#include <stdbool.h>
#include <stdint.h>

/** The threads of a team at most, the caller's included. More wait for memory, not for each other. */
enum { LR_TEAM_WORKERS = 16 };

typedef struct lr_team lr_team;

/** A piece of work; whoever posts it owns it until it was waited for. */
typedef struct lr_task {
    /** @param worker which thread runs it, below LR_TEAM_WORKERS; 0 is the caller's. No two tasks run as one worker at
     * the same time, so that a task may use what it keeps for each worker. */
    void (*run)(struct lr_task *self, unsigned worker);
    struct lr_task *next; /* the team's */
    bool posted, done;
} lr_task;

/** From malloc. @return NULL: memory is lacking. */
lr_team *lr_team_new(void);
/** All posted work must be finished. NULL is ignored. */
void lr_team_free(lr_team *team);
/** Has it done by somebody. @param threads that may work, the caller's included; as many less one are started when they
 *  are first wanted, and fewer if the system has no more. @return false: there is only the caller's. It is posted all
 * the same. */
bool lr_team_post(lr_team *team, lr_task *task, uint32_t threads);
/** @return whether it is done, or was not posted. */
bool lr_team_done(lr_team *team, const lr_task *task);
/** Returns when it is done, at once if it was not posted. */
void lr_team_wait(lr_team *team, lr_task *task);

#endif
