/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Burnpack: ten bytes, a map in CBOR that says where each tensor lies, and the tensors; scalars in the map, from Burn
 * 0.22 on. Written byte for byte as Burn's own writers do, read at least as strictly as the strictest Burn reads. */
#ifndef LR_BURNPACK_H
#define LR_BURNPACK_H

#include <stdbool.h>

#include <librecord/plugin.h>

#include "common/names.h"
#include "plugins/codec/buffer.h"
#include "plugins/codec/excerpt.h"

/* ------------------------------------------------------------------------------------ what plugins are made of -- */

int32_t lr_bpk_probe(const rec_head *head);
int32_t lr_bpk_read(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);
int32_t lr_bpk_write(rec_job *job, rec_sink *sink);

extern const rec_option lr_bpk_store, lr_bpk_trailing;

/* ----------------------------------------------------------------------------------------------- the container -- */

enum {
    LR_BPK_PREFIX = 10,     /**< magic, version, length of the metadata */
    LR_BPK_VERSION = 1,     /**< the last one that is known */
    LR_BPK_ALIGNMENT = 256, /**< of the data and of each tensor; before 0.20 there was none */
    LR_BPK_TENSORS_MOST = 100000,
    LR_BPK_METADATA_MOST = 100 << 20,
    LR_BPK_NESTING_MOST = 128,
    LR_BPK_RANK_MOST = 32 /**< of a record's tensor */
};
#define LR_BPK_TENSOR_MOST (UINT64_C(10) << 30) /* bytes */
extern const uint8_t lr_bpk_magic[4];

/** @return `size` rounded up to a multiple of LR_BPK_ALIGNMENT; UINT64_MAX on overflow. */
static inline uint64_t lr_bpk_aligned(uint64_t size)
{
    uint64_t gap = (LR_BPK_ALIGNMENT - size % LR_BPK_ALIGNMENT) % LR_BPK_ALIGNMENT;
    return size > UINT64_MAX - gap ? UINT64_MAX : size + gap;
}

/** Text, not terminated. */
typedef struct lr_bpk_text {
    const char *at;
    uint64_t length;
} lr_bpk_text;

/** The order of the names in a file. */
static inline int lr_bpk_compare(const lr_bpk_text *a, const lr_bpk_text *b)
{
    return lr_text_order(a->at, a->length, b->at, b->length);
}

static inline bool lr_bpk_is(const lr_bpk_text *text, const char *word)
{
    return lr_text_is(text->at, text->length, word);
}

static inline const char *lr_bpk_shown(lr_codec_excerpt *buffer, const lr_bpk_text *text)
{
    return lr_codec_shown(buffer, text->at, text->length);
}

/* ------------------------------------------------------------------------------------------------ reading CBOR -- */

enum {
    LR_CBOR_UINT = 0,
    LR_CBOR_NEGATIVE = 1, /**< -1 - value */
    LR_CBOR_BYTES = 2,
    LR_CBOR_TEXT = 3,
    LR_CBOR_ARRAY = 4,
    LR_CBOR_MAP = 5,
    LR_CBOR_FLOAT = 7,
    LR_CBOR_BOOL = 8,
    LR_CBOR_NULL = 9,   /**< also undefined */
    LR_CBOR_OTHER = 10, /**< a simple value without meaning */
    LR_CBOR_BREAK = 11
};

/** One item's head. The elements of a container follow it, the bytes of a string are in `text`. */
typedef struct lr_cbor_item {
    int kind;        /**< LR_CBOR_… */
    bool indefinite; /**< of unknown length: a container goes on to a break, a string was put together */
    bool wide;       /**< an integer that 64 bits do not hold */
    uint64_t value;  /**< of an integer or bool; elements or entries of a container that are to come */
    double number;
    lr_bpk_text text; /**< of bytes and text, which is UTF-8 */
    uint64_t at;      /**< place in the file */
} lr_cbor_item;

/** Where in the metadata reading is. */
typedef struct lr_cbor {
    rec_job *job;
    const uint8_t *data;
    uint64_t size, at;
    uint8_t *pool; /**< strings that were put together; NULL until there is one; room for `size` bytes */
    uint64_t pooled;
    unsigned depth; /**< open containers */
    bool quiet;     /**< of words of a record: unexpected items are not reported */
} lr_cbor;

void lr_cbor_close(lr_cbor *cbor);
/** The next item; tags are passed over. */
int32_t lr_cbor_next(lr_cbor *cbor, lr_cbor_item *item);
/** Opens a container that lr_cbor_next() gave: one level more. */
int32_t lr_cbor_enter(lr_cbor *cbor, const lr_cbor_item *container);
/** The next item, which has to be a container of this kind, and opens it. */
int32_t lr_cbor_begin(lr_cbor *cbor, lr_cbor_item *container, int kind, const char *expected);
/** Whether an open container has one more element or entry, which is counted in its `value`; if not, it is closed.
 * @param status (in, out) of reading: false after a failure. */
bool lr_cbor_each(lr_cbor *cbor, lr_cbor_item *container, int32_t *status);
/** Passes over what an item begins. */
int32_t lr_cbor_skip(lr_cbor *cbor, const lr_cbor_item *item);
/** "expected …, found a text": fails. @param what is not what was expected. */
int32_t lr_cbor_unexpected(lr_cbor *cbor, const lr_cbor_item *item, const char *expected);

/* ------------------------------------------------------------------------------------------------------ header -- */

typedef struct lr_bpk_entry {
    lr_bpk_text name;
    uint64_t begin, end; /**< of its bytes, from where the data begin */
    uint64_t id;
    uint64_t words; /**< of a quantised tensor: its element type's words, an offset in the header's `words` */
    uint64_t at;    /**< place of its name in the file */
    uint32_t dims;  /**< index of the first dimension */
    uint8_t rank;
    uint8_t dtype; /**< REC_DTYPE_… */
    bool has_id;
} lr_bpk_entry;

/** An entry of `metadata` or of `scalars`. */
typedef struct lr_bpk_pair {
    lr_bpk_text key, value;
    rec_scalar scalar;
    uint64_t at;
} lr_bpk_pair;

typedef struct lr_bpk_header {
    rec_job *job;
    rec_source *source;
    uint8_t *bytes; /**< the metadata from the file */
    lr_cbor cbor;
    uint64_t data;  /**< where the data begin */
    bool unaligned; /**< the layout of Burn 0.19 */
    lr_bpk_entry *entries;
    uint64_t count, room;
    uint64_t *dims;
    uint64_t dim_count, dim_room;
    char *words; /**< texts that end in NUL, one after the other */
    uint64_t word_size, word_room;
    lr_bpk_pair *pairs, *scalars;
    uint64_t pair_count, pair_room, scalar_count, scalar_room;
} lr_bpk_header;

/** Reads and checks everything except the data. Closed by the caller, also after a failure. */
int32_t lr_bpk_header_open(lr_bpk_header *header, rec_job *job, rec_source *source);
void lr_bpk_header_close(lr_bpk_header *header);

/* ----------------------------------------------------------------------------------------------- element types -- */

/** Reads an element type of either era. */
int32_t lr_bpk_dtype_read(lr_bpk_header *header, lr_bpk_entry *entry);

/** CBOR as ciborium writes it: all in the shortest form. @param kind LR_CBOR_UINT to LR_CBOR_MAP. */
void lr_cbor_put(lr_buffer *buffer, int kind, uint64_t value);
void lr_cbor_put_text(lr_buffer *buffer, const char *text, uint64_t length);
void lr_cbor_put_word(lr_buffer *buffer, const char *word);
void lr_cbor_put_float(lr_buffer *buffer, double number);
void lr_cbor_put_null(lr_buffer *buffer);
void lr_cbor_put_bool(lr_buffer *buffer, bool value);

/** Writes the element type of a tensor as Burn 0.`minor` does.
 *  @param name for messages. */
int32_t lr_bpk_dtype_write(lr_buffer *buffer, const rec_tensor_event *tensor, int32_t minor, const char *name);

#endif
