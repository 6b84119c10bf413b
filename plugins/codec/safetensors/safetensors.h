/* SPDX-License-Identifier: MIT OR Apache-2.0
 * safetensors: a length, a header of JSON that says where each tensor lies, and the tensors; alone or in several files.
 * The rules are those of the reference implementation (the Rust crate `safetensors`, up to 0.8). */
#ifndef LR_SAFETENSORS_H
#define LR_SAFETENSORS_H

#include <stdbool.h>

#include <librecord/plugin.h>

#include "common/names.h"
#include "plugins/codec/buffer.h"
#include "plugins/codec/shards/index.h"

/* ------------------------------------------------------------------------------------ what plugins are made of -- */

/** @return how sure it is: of a file, of an index of several, or of a folder with either. */
int32_t lr_st_probe(const rec_head *head);
/** Reads a file, an index with the files it names, or a folder with either. */
int32_t lr_st_read(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);
/** Writes one file, or several and an index. */
int32_t lr_st_write(rec_job *job, rec_sink *sink);

extern const rec_option lr_st_max_shard_size, lr_st_keep_names, lr_st_record, lr_st_burn_store;

/* ----------------------------------------------------------------------------------------------- element types -- */

enum {
    LR_ST_TYPES = 22,
    LR_ST_HEADER_MOST = 100000000, /**< bytes of a header, as in the reference implementation */
    LR_ST_RANK_MOST = 32           /**< of a record's tensor */
};
/** An element type. What the library cannot compute with is REC_DTYPE_OPAQUE, under the format's name. */
typedef struct lr_st_type {
    char name[12];
    uint8_t length; /**< of the name */
    uint8_t bits;
    rec_dtype dtype;
} lr_st_type;
/** All there are, in the order of the reference implementation: files have the last first. */
extern const lr_st_type lr_st_types[LR_ST_TYPES];
/** @return the index of a name, -1 if unknown. */
int lr_st_type_find(const char *name, uint64_t length);

/* ----------------------------------------------------------------------------------------------------- headers -- */

enum { LR_ST_LEFT_OUT = 1, LR_ST_TAKEN = 2 };
/** A tensor of a header. */
typedef struct lr_st_entry {
    uint64_t begin, end; /**< of its bytes, from where the data begin */
    lr_st_text key;
    uint32_t at;   /**< of the key's quote in the header */
    uint32_t dims; /**< index of its first dimension */
    uint8_t rank;
    uint8_t type; /**< index in lr_st_types */
    uint8_t mark; /**< LR_ST_… */
} lr_st_entry;

/** One file. */
typedef struct lr_st_header {
    rec_job *job;
    rec_source *source; /**< borrowed */
    bool beside;        /**< not the file that is loaded, so that failures have to name it */
    uint8_t *text;      /**< the header; NULL if it is in memory already: of a map, of memory, of a stream */
    uint64_t length;    /**< of the header; the data begin at 8 + length */
    uint64_t size;      /**< of the file */
    lr_st_entry *entries;
    uint64_t count, room;
    uint64_t *dims;
    uint64_t dim_count, dim_room;
    lr_st_pair *pairs;
    uint64_t pair_count, pair_room;
    lr_st_json json; /**< of the header */
} lr_st_header;

/** Reads and checks the header of a file; of the rest only the size. Keys may still be there twice. To be closed, also
 *  after a failure. */
int32_t lr_st_header_open(lr_st_header *header, rec_job *job, rec_source *source, bool beside);
void lr_st_header_close(lr_st_header *header);
static inline const char *lr_st_text_at(const lr_st_header *header, const lr_st_text *text)
{
    return lr_st_json_text(&header->json, text);
}
/** Fails: both entries have one name. @return status. */
int32_t lr_st_fail_twice(const lr_st_header *h, const lr_st_entry *a, const lr_st_entry *b);
/** Place of something of the header in the file. */
static inline uint64_t lr_st_location(uint32_t at)
{
    return 8 + (uint64_t)at;
}
/** Makes the event of an entry. */
rec_tensor_event lr_st_event(const lr_st_header *header, const lr_st_entry *entry);
/* ------------------------------------------------------------------------------------- models of several files -- */

/** A file of a model. */
typedef struct lr_st_file {
    rec_source *source; /**< counted; NULL: not opened */
    lr_st_header header;
    uint64_t first; /**< number of its first tensor among those of all files */
} lr_st_file;

/** All that is loaded. */
typedef struct lr_st_model {
    rec_job *job;
    rec_source *source; /**< what was given */
    lr_st_file *files;  /**< in the order of their names */
    uint64_t file_count;
    uint64_t count;  /**< tensors of all files */
    uint64_t taken;  /**< of those the ones that are not left out */
    lr_st_keys keys; /**< of these, by number */
    lr_index index;
    bool indexed; /**< whether there is one */
} lr_st_model;

/** Opens the files. To be closed, also after a failure. */
int32_t lr_st_model_open(lr_st_model *model, rec_job *job, rec_source *source);
void lr_st_model_close(lr_st_model *model);
/** @return the file of tensor `number`. */
const lr_st_file *lr_st_model_file(const lr_st_model *model, uint64_t number);
/** Whether the names of a folder promise a model. */
bool lr_st_is_folder(const char *const *names, uint64_t count);
/** Whether the name of a file is that of part `*part` of `*parts`, "model-00001-of-00003.safetensors". @param stem
 * (out) the length of the prefix before the numbers. */
bool lr_st_is_part(const char *name, uint64_t *stem, uint64_t *part, uint64_t *parts);

/* ---------------------------------------------------------------------------- what a flat map of tensors lacks -- */

/** The key of `__metadata__`, or of an index's `metadata`, under which it stands. */
#define LR_ST_RECORD_KEY "librecord"
/** The key of `__metadata__` of a file of flat names under which its metadata stand that are no texts. */
#define LR_ST_TYPED_KEY "librecord.metadata"

/** Reports the record that `text` (UTF-8, with references to tensors) describes. It must contain each selected tensor
 * of the model once. @param at file offset for messages. */
int32_t lr_st_record_read(lr_st_model *model, const char *text, uint64_t length, uint64_t at,
                          const rec_visitor *visitor, void *self);

/** As lr_st_record_read(), of metadata alone. @param source the file it is in, if not the one that is loaded. */
int32_t lr_st_metadata_read(lr_st_model *model, rec_source *source, const char *text, uint64_t length, uint64_t at,
                            const rec_visitor *visitor, void *self);

void lr_st_put_uint(lr_buffer *buffer, uint64_t number);
/** As a string of JSON, in quotes, as serde_json writes it. */
void lr_st_put_string(lr_buffer *buffer, const char *text, uint64_t length);

/** Bytes that are short stand in the text; longer ones are stored as a tensor is. */
enum { LR_ST_INLINE_BYTES = 64 };
/** How a key is made of a path: the names joined with dots; what has no path is "item". */
#define LR_ST_ROOT_KEY "item"
/** A path that grows and shrinks with the events. */
typedef struct lr_st_path {
    lr_buffer text;
    uint64_t parts;
} lr_st_path;
/** Appends a part. @return what to give to lr_st_path_leave(). */
uint64_t lr_st_path_enter(lr_st_path *path, const rec_scalar *part);
void lr_st_path_leave(lr_st_path *path, uint64_t size);

/** A tensor, or bytes, that is to be written. */
typedef struct lr_st_tensor {
    const char *key; /**< valid when all were seen */
    uint64_t key_at, key_length;
    uint64_t size;   /**< bytes */
    uint64_t dims;   /**< index of the first dimension */
    uint64_t number; /**< in the order of the events */
    uint64_t begin;  /**< in its file */
    rec_blob blob;   /**< VIEW or RANGE, which stay to the end of the save; else STREAM without what reads it */
    uint32_t rank;
    uint32_t file;
    int32_t type;   /**< index in lr_st_types */
    bool quantised; /**< of Burn, kept as bytes */
} lr_st_tensor;

/** What a walk over the record finds: the tensors, and the text that says what they alone do not. */
typedef struct lr_st_tree {
    rec_job *job;
    bool plain;          /**< names and tensors are all there is: the text is not needed */
    bool paths;          /**< the record's names came as dotted paths */
    bool only_tensors;   /**< the rest is left out, as asked */
    bool for_store;      /**< names are those of Burn's own store */
    uint64_t left_out;   /**< values that are no tensors… */
    uint64_t ids;        /**< …and parameter ids that were */
    uint64_t encoded;    /**< tensors of element types that other programs see as bytes */
    lr_codec_excerpt of; /**< the type of the first */
    lr_buffer text;      /**< what lr_st_record_read() reads */
    lr_buffer metadata;  /**< the record's own as entries of a JSON map, without the braces */
    lr_buffer typed;     /**< those that are no texts, as lr_st_metadata_read() reads them, without what is around */
    uint64_t aside;      /**< byte strings among them that a walk meets before those that are data */
    lr_st_tensor *tensors;
    uint64_t count, room;
    uint64_t *dims;
    uint64_t dim_count, dim_room;
    lr_buffer names; /**< of keys */
} lr_st_tree;

/** Walks the record. To be closed, also after a failure. @param only_tensors without what a flat map does not hold. */
int32_t lr_st_tree_open(lr_st_tree *tree, rec_job *job, bool only_tensors);
void lr_st_tree_close(lr_st_tree *tree);

/* ---------------------------------------------------------------------------------- Burn's own store (store.c) -- */

/** Whether a part of a path is a word of Rust's, which its source has as r#type. */
bool lr_st_has_word(const char *path, uint64_t length);
/** Writes a path with raw identifiers, like Burn's store. */
void lr_st_put_raw(lr_buffer *b, const char *path, uint64_t length);
/** Says how a file is laid out whose metadata have that entry: Burn's store says that it wrote it, and not whether its
 *  adapter for PyTorch was at work. */
int32_t lr_st_set_adapter(rec_job *job, const rec_scalar *key, const rec_scalar *value);
/** Notes what Burn's store has otherwise, or refuses. */
void lr_st_note_store(const lr_st_tree *tree);

#endif
