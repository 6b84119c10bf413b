/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Threads that wait for work, and the queue it stands in. */
#include "common/team.h"

#include <stdlib.h>

#include "common/threads.h"

typedef struct helper {
    lr_team *team;
    pthread_t thread;
    unsigned worker;
} helper;

struct lr_team {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    lr_task *first, **last; /* posted, and taken on by nobody */
    bool end;
    bool alone; /* no thread could be started */
    uint32_t count;
    helper helpers[LR_TEAM_WORKERS - 1];
};

/* The lock is held, and given away meanwhile. */
static void do_first(lr_team *team, unsigned worker)
{
    lr_task *task = team->first;
    team->first = task->next;
    if (!team->first) {
        team->last = &team->first;
    }
    (void)pthread_mutex_unlock(&team->lock);
    task->run(task, worker);
    (void)pthread_mutex_lock(&team->lock);
    task->done = true;
    (void)pthread_cond_broadcast(&team->done);
}

static void *help(void *user)
{
    helper *self = user;
    lr_team *team = self->team;
    (void)pthread_mutex_lock(&team->lock);
    while (!team->end) {
        if (team->first) {
            do_first(team, self->worker);
        } else {
            (void)pthread_cond_wait(&team->work, &team->lock);
        }
    }
    (void)pthread_mutex_unlock(&team->lock);
    return NULL;
}

static bool start(lr_team *team)
{
    helper *next = &team->helpers[team->count];
    *next = (helper){.team = team, .worker = team->count + 1};
    team->count += lr_threads_start(&next->thread, 1, help, next);
    return team->count == next->worker;
}

lr_team *lr_team_new(void)
{
    lr_team *team = calloc(1, sizeof *team);
    if (!team) {
        return NULL;
    }
    team->last = &team->first;
    if (pthread_mutex_init(&team->lock, NULL) != 0) {
        goto no_lock;
    }
    if (pthread_cond_init(&team->work, NULL) != 0) {
        goto no_work;
    }
    if (pthread_cond_init(&team->done, NULL) != 0) {
        goto no_done;
    }
    return team;
no_done:
    (void)pthread_cond_destroy(&team->work);
no_work:
    (void)pthread_mutex_destroy(&team->lock);
no_lock:
    free(team);
    return NULL;
}

void lr_team_free(lr_team *team)
{
    if (!team) {
        return;
    }
    (void)pthread_mutex_lock(&team->lock);
    team->end = true;
    (void)pthread_cond_broadcast(&team->work);
    (void)pthread_mutex_unlock(&team->lock);
    for (uint32_t i = 0; i < team->count; i++) {
        (void)pthread_join(team->helpers[i].thread, NULL);
    }
    (void)pthread_cond_destroy(&team->done);
    (void)pthread_cond_destroy(&team->work);
    (void)pthread_mutex_destroy(&team->lock);
    free(team);
}

bool lr_team_post(lr_team *team, lr_task *task, uint32_t threads)
{
    threads = threads < LR_TEAM_WORKERS ? threads : LR_TEAM_WORKERS;
    while (!team->alone && team->count + 1 < threads) {
        team->alone = !start(team);
    }
    task->next = NULL;
    task->posted = true;
    task->done = false;
    (void)pthread_mutex_lock(&team->lock);
    *team->last = task;
    team->last = &task->next;
    (void)pthread_cond_signal(&team->work);
    (void)pthread_mutex_unlock(&team->lock);
    return team->count > 0;
}

bool lr_team_done(lr_team *team, const lr_task *task)
{
    bool done;
    (void)pthread_mutex_lock(&team->lock);
    done = !task->posted || task->done;
    (void)pthread_mutex_unlock(&team->lock);
    return done;
}

void lr_team_wait(lr_team *team, lr_task *task)
{
    if (!task->posted) {
        return;
    }
    (void)pthread_mutex_lock(&team->lock);
    while (!task->done) {
        if (team->first) {
            do_first(team, 0);
        } else {
            (void)pthread_cond_wait(&team->done, &team->lock);
        }
    }
    (void)pthread_mutex_unlock(&team->lock);
    task->posted = false;
}
