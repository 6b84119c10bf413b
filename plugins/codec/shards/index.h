/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The index of a model of several files, "model.safetensors.index.json" or "pytorch_model.bin.index.json": JSON that
 * maps tensors to files. It is parsed and compared with the files; the caller reads these. */
#ifndef LR_SHARDS_INDEX_H
#define LR_SHARDS_INDEX_H

#include <stdbool.h>

#include "plugins/codec/shards/json_text.h"
#include "plugins/codec/keys.h"

enum { LR_INDEX_FILES_MOST = 10000, LR_INDEX_SIZE_MOST = 100000000 };

/** An index, and what was seen of the files that it names. */
typedef struct lr_index {
    rec_job *job;
    lr_st_json json;
    rec_source *source;  /**< counted if it lies in the folder that is loaded, else NULL */
    lr_st_pair *weights; /**< tensor, file */
    uint64_t count, room;
    lr_st_pair *pairs; /**< of its `metadata`, those that are text */
    uint64_t pair_count, pair_room;
    uint64_t left_out; /**< of its `metadata`: neither text nor derived */
    uint64_t file_count;
    /* its own */
    uint32_t *file_of;  /**< number of the file of each weight */
    uint64_t *named_by; /**< for each file a weight that it is named by, in the order of the names */
    uint8_t *seen;      /**< of each weight: a file has it */
    lr_st_keys keys;    /**< of the weights */
    char *name;         /**< that lr_index_file() gave last */
    uint64_t not_named; /**< tensors of the files that it does not name; the first is… */
    lr_codec_excerpt first;
} lr_index;

/** Reads an index: each tensor is in it once. To be closed, also after a failure. @param counted `source` is released
 * with it, and named in failures. @param what,extension its files are and have, for messages: "safetensors",
 * ".safetensors". */
int32_t lr_index_open(lr_index *index, rec_job *job, rec_source *source, bool counted, const char *what,
                      const char *extension);
void lr_index_close(lr_index *index);
/** The reader of the files that an index names, some of which are opened before the first event. */
typedef struct lr_index_reader {
    void *self;
    uint64_t ahead; /**< so many at most */
    /** Is given file `number`, to be released, also after a failure. */
    int32_t (*part)(void *self, uint64_t number, rec_source *part);
    void (*undo)(void *self); /**< gives back all that it was given */
} lr_index_reader;
/** Like lr_index_open(), and opens files ahead. Another process that saves the model removes the files of the old
 * index: if a file is missing and the index has changed, it starts again with the new one. @param source (in, out) of
 * the index; finally the one that was read, valid while the index is open. */
int32_t lr_index_open_ahead(lr_index *index, rec_job *job, rec_source **source, bool counted, const char *what,
                            const char *extension, const lr_index_reader *reader);
/** The name of file `number` of `file_count`; they are in the order of their names. @param name (out) NUL-terminated,
 * valid until the next call. */
int32_t lr_index_file(lr_index *index, uint64_t number, const char **name);
/** A file has a tensor. Fails if the index has it in another one. @param wanted (out) whether the index names it. */
int32_t lr_index_take(lr_index *index, uint64_t file, const char *key, uint64_t length, bool *wanted);
/** All files were gone through: fails unless all that is named is there, and tells what is not named. */
int32_t lr_index_done(lr_index *index);

/** Whether text begins an index: a JSON object with `weight_map` after `metadata` or nothing. @param file,size (out)
 * the name of the first file that it names, as it stands in the JSON; NULL if the text does not go so far. */
bool lr_index_probe(const uint8_t *text, uint64_t length, const char **file, uint64_t *size);

#endif
