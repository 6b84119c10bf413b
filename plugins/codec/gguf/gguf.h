/* SPDX-License-Identifier: MIT OR Apache-2.0
 * GGUF, versions 2 and 3, little-endian: metadata with types, then tensors, each at a multiple of the alignment.
 * Element types that come in blocks are kept unchanged (REC_DTYPE_OPAQUE, under ggml's name). Their numbers come with
 * them and are decoded when they are read. */
#ifndef LR_GGUF_H
#define LR_GGUF_H

#include <stdbool.h>

#include <librecord/plugin.h>

/** Element types and blocks of them. ggml's numbers are the indices of the table; holes have no name. */
typedef struct lr_gguf_type {
    const char *name; /**< "Q4_0" */
    rec_dtype dtype;  /**< REC_DTYPE_OPAQUE for blocks */
    uint32_t count;   /**< elements of a block, 1 for plain types */
    uint32_t size;    /**< bytes of a block */
    int kind;         /**< of blocks.h, which decodes them; LR_GGUF_KINDS for plain types */
} lr_gguf_type;

/** @return the type of a number in a file, NULL if it is unknown. */
const lr_gguf_type *lr_gguf_type_of(uint32_t number);
/** The number of a type by element type, or, of blocks, by name; -1: GGUF has none. */
int32_t lr_gguf_type_number(rec_dtype dtype, const char *name);
/** Bytes of `count` elements in rows of `row`. @return false: they are no whole blocks, or too many. */
bool lr_gguf_type_size(const lr_gguf_type *type, uint64_t row, uint64_t count, uint64_t *size);

/** Types of metadata values. */
enum {
    LR_GGUF_U8 = 0,
    LR_GGUF_I8 = 1,
    LR_GGUF_U16 = 2,
    LR_GGUF_I16 = 3,
    LR_GGUF_U32 = 4,
    LR_GGUF_I32 = 5,
    LR_GGUF_F32 = 6,
    LR_GGUF_BOOL = 7,
    LR_GGUF_STRING = 8,
    LR_GGUF_ARRAY = 9,
    LR_GGUF_U64 = 10,
    LR_GGUF_I64 = 11,
    LR_GGUF_F64 = 12,
    LR_GGUF_VALUES = 13 /**< how many there are */
};

enum {
    LR_GGUF_VERSION_LEAST = 2, /**< 1 had lengths of 32 bits */
    LR_GGUF_VERSION = 3,
    LR_GGUF_ALIGNMENT = 32, /**< unless the metadata say otherwise */
    LR_GGUF_RANK_MOST = 4,  /**< of llama.cpp */
    LR_GGUF_NAME_MOST = 63  /**< bytes of a tensor's name that llama.cpp takes */
};
#define LR_GGUF_MAGIC "GGUF"
#define LR_GGUF_KEY_ALIGNMENT "general.alignment"
#define LR_GGUF_KEY_LAYOUT "librecord.layout" /**< "burn": the modules are laid out as Burn's, not as PyTorch's */

/** Where a number of a metadata type is held: its element type; REC_DTYPE_NONE for strings and arrays. */
rec_dtype lr_gguf_value_dtype(uint32_t type);
/** The word of a metadata type, as rec_visitor.list_of has it; and the reverse, -1: no type has it. */
const char *lr_gguf_value_word(uint32_t type);
int32_t lr_gguf_value_of_word(const char *word);
static inline uint32_t lr_gguf_u32(const uint8_t *data)
{
    return (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}
static inline uint64_t lr_gguf_u64(const uint8_t *data)
{
    return lr_gguf_u32(data) | (uint64_t)lr_gguf_u32(data + 4) << 32;
}

/** Bytes after the tensors. */
extern const rec_option lr_gguf_trailing;

int32_t lr_gguf_probe(const rec_head *head);
int32_t lr_gguf_read(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);
int32_t lr_gguf_write(rec_job *job, rec_sink *sink);

#endif
