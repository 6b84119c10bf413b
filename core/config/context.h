/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The context: what recorders share. */
#ifndef LR_CONTEXT_H
#define LR_CONTEXT_H

#include <pthread.h>

#include "core/base/job.h"

typedef struct lr_config lr_config;     /* config.h */
typedef struct lr_registry lr_registry; /* registry.h */

struct rec_context {
    lr_allocator allocator;
    rec_limits limits;
    uint32_t threads;
    int32_t plugins; /**< REC_PLUGINS_… */
    rec_progress_fn progress;
    void *progress_user;
    rec_note_fn note;
    void *note_user;
    lr_config *config;     /**< never NULL; empty without a file */
    lr_registry *registry; /**< never NULL; filled at the first look-up */
    struct lr_profile_list *profiles; /**< profile_list.c; NULL until somebody asks */
    pthread_mutex_t lock;  /**< of the registry, the list of profiles and typed tensor access */
};

/** The context behind NULL, made on first use. NULL: out of memory or a broken default configuration, which is
 *  reported on `job`. */
rec_context *lr_context_default(rec_job *job);

#endif
