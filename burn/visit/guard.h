/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What checks a reader's events: lr_plugin_load() puts it before its visitor, tests before theirs. */
#ifndef LR_GUARD_H
#define LR_GUARD_H

#include "burn/layout/layout.h"

/** A container that is open. */
typedef struct lr_order_frame {
    int32_t kind;       /**< REC_KIND_LIST, _MAP, _VARIANT */
    bool keyed;         /**< of a map: a key came, and its value has not begun */
    uint64_t announced; /**< elements, entries or payloads; REC_UNKNOWN */
    uint64_t count;     /**< so far */
} lr_order_frame;

/** Where the events are. */
typedef struct lr_order {
    rec_job *job;
    bool tensors; /**< the format has REC_TRAIT_TENSORS */
    bool rooted;  /**< the record's value has begun */
    bool owed;    /**< an option is present, and its value has not begun */
    bool entry;   /**< the next value at the top is that of a metadata entry, or it is open */
    lr_order_frame *frames;
    uint64_t depth, room;
    uint64_t at; /**< of the last event */
} lr_order;

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
