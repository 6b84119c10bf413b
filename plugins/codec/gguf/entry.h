/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a writer gathers for the header: bytes and metadata entries. */
#ifndef LR_GGUF_ENTRY_H
#define LR_GGUF_ENTRY_H

#include "plugins/codec/buffer.h"
#include "plugins/codec/gguf/gguf.h"

/** Writes a string: first its length. */
void lr_gguf_put_text(lr_buffer *b, const char *text, uint64_t length);
enum { LR_GGUF_NESTED_MOST = 8, LR_GGUF_BYTES_MOST = 1 << 30 };

/** A list of metadata on its way. */
typedef struct lr_gguf_list {
    uint64_t start;   /**< of its type in the text */
    uint64_t count;   /**< elements so far */
    int32_t type;     /**< LR_GGUF_… of its elements; -1: none came yet. Integers and floats: the widest so far */
    int32_t of;       /**< LR_GGUF_… that was announced; -1: none was */
    uint64_t largest; /**< of integers that are not negative */
    int64_t smallest; /**< of those that are */
} lr_gguf_list;

/** The metadata. */
typedef struct lr_gguf_entries {
    rec_job *job;
    lr_buffer text;
    uint64_t count;
    uint64_t left_out;  /**< that GGUF has no words for */
    lr_buffer lost;     /**< their keys, the first few: "`a`, `b`" */
    uint64_t alignment; /**< of tensors: what the metadata say, or the default */
    bool open;          /**< a value's events are expected */
    bool bad;           /**< it is left out */
    bool aligning;      /**< it is the alignment */
    uint32_t skipped;   /**< containers of it that are open */
    uint64_t entry;     /**< where it begins in the text */
    uint64_t key_length;
    uint32_t depth;
    lr_gguf_list lists[LR_GGUF_NESTED_MOST];
    lr_buffer numbers; /**< of the innermost list: eight bytes each */
} lr_gguf_entries;

void lr_gguf_entries_open(lr_gguf_entries *e, rec_job *job);
void lr_gguf_entries_close(lr_gguf_entries *e);
/** An entry whose value is a text. Those by which a record of Burn says how it is written are passed over. */
int32_t lr_gguf_entries_pair(lr_gguf_entries *e, const rec_scalar *key, const rec_scalar *value);
/** An entry whose value comes as events, each of which is given to the functions that follow. */
int32_t lr_gguf_entries_begin(lr_gguf_entries *e, const rec_scalar *key);
int32_t lr_gguf_entries_scalar(lr_gguf_entries *e, const rec_scalar *scalar);
int32_t lr_gguf_entries_numbers(lr_gguf_entries *e, rec_dtype dtype, const void *data, uint64_t count);
int32_t lr_gguf_entries_list(lr_gguf_entries *e);
/** What the list that has just begun is of. */
int32_t lr_gguf_entries_list_of(lr_gguf_entries *e, const char *type);
/** Bytes: a text that is not in UTF-8. Others GGUF has no words for. */
int32_t lr_gguf_entries_bytes(lr_gguf_entries *e, const rec_blob *blob);
/** What GGUF has no words for: a map, a variant (both end with lr_gguf_entries_end), … */
int32_t lr_gguf_entries_map(lr_gguf_entries *e);
/** …a tensor, nil. */
int32_t lr_gguf_entries_other(lr_gguf_entries *e);
int32_t lr_gguf_entries_end(lr_gguf_entries *e);

#endif
