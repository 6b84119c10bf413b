/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What checks a reader's events: lr_plugin_load() puts it before its visitor, tests before theirs. */
#ifndef LR_GUARD_H
#define LR_GUARD_H

#include "burn/visit/order.h"

/** One call of `load`. */
typedef struct lr_guard {
    lr_order order;
    const rec_visitor *inner;
    void *inner_self;
    lr_call call;
} lr_guard;

/** The visitor of a guard. */
extern const rec_visitor lr_guard_visitor;

/** Begins a call of the job's plugin. NULL: the job has failed. */
lr_guard *lr_guard_open(rec_job *job, const rec_visitor *inner, void *inner_self);
/** Ends it and frees the guard. @param status what `load` returned. @return the job's status. */
int32_t lr_guard_close(lr_guard *guard, int32_t status);

#endif
