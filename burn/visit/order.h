/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The order of a reader's events, checked in one place: the builder and the check rely on it. The record's value is one
 * tree; metadata come before it; a map has a key before each value; a container has as many elements as it announced.
 * Each function takes one event. It returns REC_OK, or the job has failed. */
#ifndef LR_ORDER_H
#define LR_ORDER_H

#include "burn/layout/layout.h"

/** A container that is open. */
typedef struct lr_order_frame {
    int32_t kind;       /**< REC_KIND_LIST, _MAP, _VARIANT */
    bool keyed;         /**< of a map: a key came, and its value has not begun */
    uint64_t announced; /**< elements, entries or payloads; REC_UNKNOWN */
    uint64_t count;     /**< so far */
} lr_order_frame;

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

/** A value that is complete at once: a scalar, bytes, a tensor, an option that is absent. */
int32_t lr_order_value(lr_order *order, uint64_t at);
int32_t lr_order_tensor(lr_order *order, uint64_t at);
int32_t lr_order_option(lr_order *order, uint64_t at, bool present);
/** @param count numbers that follow one another in a list. */
int32_t lr_order_numbers(lr_order *order, uint64_t at, uint64_t count);
/** @param announced elements of a list, entries of a map, payloads of a variant (0 or 1). */
int32_t lr_order_begin(lr_order *order, uint64_t at, int32_t kind, int32_t form, uint64_t announced);
/** Of a list of metadata that has just begun. */
int32_t lr_order_list_of(lr_order *order, uint64_t at);
int32_t lr_order_key(lr_order *order, uint64_t at, const rec_scalar *key);
int32_t lr_order_end(lr_order *order, uint64_t at);
/** @param value NULL: it follows as a value of its own. */
int32_t lr_order_metadata(lr_order *order, uint64_t at, const rec_scalar *key, const rec_scalar *value);
/** The reader has returned. */
int32_t lr_order_finish(lr_order *order);

#endif
