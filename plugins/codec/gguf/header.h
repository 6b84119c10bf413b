/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The header of one file: counts, metadata, and where each tensor is. */
#ifndef LR_GGUF_HEADER_H
#define LR_GGUF_HEADER_H

#include "plugins/codec/gguf/gguf.h"

enum { LR_GGUF_PARTS_MOST = 99999 };

typedef struct lr_gguf_tensor {
    const lr_gguf_type *type;
    uint64_t name, length; /**< in the header's names */
    uint64_t at;           /**< place of its entry in the file */
    uint64_t count;        /**< elements */
    uint64_t size;         /**< bytes */
    uint64_t offset;       /**< from the beginning of the data */
    uint32_t rank;
    uint64_t shape[LR_GGUF_RANK_MOST]; /**< outermost dimension first: the other way round than in the file */
} lr_gguf_tensor;

typedef struct lr_gguf_header {
    rec_source *source; /**< from the caller; not retained */
    lr_gguf_tensor *tensors;
    uint64_t tensor_count;
    char *names;                    /**< one after the other */
    uint64_t data;                  /**< where the data begin */
    uint64_t alignment;             /**< of each tensor */
    uint64_t split_no, split_count; /**< which part of how many it says it is; 0 of 0 if it says nothing */
    uint64_t others;                /**< metadata entries that were not told */
    bool burn;                      /**< its modules are laid out as Burn's */
} lr_gguf_header;

/** Reads a header. @param h zeroed. Freed by the caller, also on failure. @param visitor receives the metadata; NULL:
 * they are skipped and counted. */
int32_t lr_gguf_header_read(lr_gguf_header *h, rec_job *job, rec_source *source, const rec_visitor *visitor,
                            void *self);
void lr_gguf_header_free(lr_gguf_header *h, rec_job *job);

#endif
