/* SPDX-License-Identifier: MIT OR Apache-2.0
 * An event as a value, for who stands between the walk or a reader and a visitor and treats most events alike. */
#ifndef LR_EVENT_H
#define LR_EVENT_H

#include "burn/layout/layout.h"

typedef enum lr_event_kind {
    LR_EVENT_METADATA,
    LR_EVENT_METADATA_VALUE,
    LR_EVENT_SCALAR,
    LR_EVENT_NUMBERS,
    LR_EVENT_BYTES,
    LR_EVENT_LIST,
    LR_EVENT_LIST_OF,
    LR_EVENT_MAP,
    LR_EVENT_KEY,
    LR_EVENT_VARIANT,
    LR_EVENT_END,
    LR_EVENT_OPTION,
    LR_EVENT_TENSOR,
} lr_event_kind;

/** What the event of a visitor has as arguments; the others are 0. */
typedef struct lr_event {
    lr_event_kind kind;
    uint64_t at;
    const rec_scalar *key;    /**< or the name of a variant */
    const rec_scalar *scalar; /**< or the value of metadata */
    const rec_blob *blob;
    const rec_tensor_event *tensor;
    const char *type; /**< of a list */
    rec_dtype dtype;  /**< of numbers */
    const void *data;
    uint64_t count; /**< of numbers, a list or a map; the index of a variant */
    int32_t form;   /**< of a list or a map; `payload` of a variant; `present` of an option */
} lr_event;

/** Somebody who hears all events; the first member of what he knows. */
typedef struct lr_listener {
    int32_t (*event)(struct lr_listener *self, const lr_event *event);
} lr_listener;

/** Its `self` is a listener. */
extern const rec_visitor lr_listener_visitor;
/** The same without the events that `to` lacks: whoever sends them sends others in their place. */
rec_visitor lr_listener_like(const rec_visitor *to);

/** What `to` lacks it is not sent. */
int32_t lr_event_send(const rec_visitor *to, void *self, const lr_event *event);

#endif
