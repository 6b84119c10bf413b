/* SPDX-License-Identifier: MIT OR Apache-2.0
 * PyTorch's own files by torch.save(): a zip archive with a pickle and the storages, or (before 1.6, and still
 * optional) a stream of pickles followed by the storages. */
#ifndef LR_PYTORCH_H
#define LR_PYTORCH_H

#include <stdbool.h>

#include <librecord/plugin.h>

#include "plugins/codec/pytorch/pickle.h"
#include "plugins/codec/shards/index.h"
#include "plugins/codec/zip/zip.h"

/* ------------------------------------------------------------------------------------ what plugins are made of -- */

/** @return how sure it is: of a file or an index of several by the content, of a folder by the names in it. */
int32_t lr_pt_probe(const rec_head *head);
/** Reads a file, an index with the files it names, or a folder with either. */
int32_t lr_pt_read(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);
int32_t lr_pt_write(rec_job *job, rec_sink *sink);

extern const rec_option lr_pt_top_level_key, lr_pt_crc, lr_pt_trailing;

/** A member of librecord's archives that hold values other than a model: they are read as plain values, whatever they
 * look like. PyTorch ignores it. */
#define LR_PT_OWN_MEMBER ".data/librecord"
#define LR_PT_OWN_VALUES "values 1\n"
/** A member that says of dotted names that their layout is not PyTorch's. */
#define LR_PT_NAMES_MEMBER ".data/librecord-names"
#define LR_PT_OWN_NAMES "names 1\n"

/* --------------------------------------------------------------------------------------------- a file (file.c) -- */

/** The bytes that tensors share. */
typedef struct lr_pt_storage {
    rec_source *source; /**< counted, unless it is the file's */
    uint64_t offset;    /**< of its bytes in the source */
    uint64_t size;      /**< of them */
    uint32_t key;       /**< node */
    uint8_t width;      /**< of an element of the first tensor */
    bool found;
} lr_pt_storage;

/** A file whose pickle was read and whose storages were found. */
typedef struct lr_pt_file {
    rec_job *job;
    rec_source *source; /**< borrowed */
    lr_zip zip;
    lr_buffer name; /**< of the member that is looked for */
    bool big_endian;
    bool values;         /**< librecord wrote it, and it is no model */
    bool names;          /**< librecord wrote it, and nothing adapts it */
    rec_source *pickled; /**< counted: the member that the pickle is */
    lr_pickle pickle;
    uint32_t root;
    lr_pt_storage *storages;
    uint64_t storage_count;
} lr_pt_file;

/** Opens a file. Of the storages nothing is read, unless they are verified. To be closed, also after a failure. */
int32_t lr_pt_file_open(lr_pt_file *file, rec_job *job, rec_source *source);
void lr_pt_file_close(lr_pt_file *file);

/** Whether the beginning of a file is that of the old stream. */
bool lr_pt_is_stream(const uint8_t *data, uint64_t length);

/* ------------------------------------------------------------------------------------------ tensors (tensor.c) -- */

/** Makes the event of a tensor after checking its place in the storage. Bytes that need rearranging (strides, byte
 * order) are produced on demand. @param shape,made (out) kept until the visitor returns; then `made` is released. */
int32_t lr_pt_event(const lr_pt_file *file, const lr_pt_tensor *tensor, rec_tensor_event *event, rec_source **made);

/* ------------------------------------------------------------------------ which part of it is meant (choose.c) -- */

/** Marks of containers, in addition to those of pickle.h. */
enum {
    LR_PT_SEEN = 4,
    LR_PT_TENSORS = 8,    /**< there is a tensor in it */
    LR_PT_OPTIMIZER = 16, /**< it is the state of an optimizer, or has one in it */
    LR_PT_TAKEN = 64,     /**< a module was made of it */
    LR_PT_OTHERS = 32     /**< there is something in it that is neither tensor nor None */
};

/** The part of a file to report. */
typedef struct lr_pt_choice {
    uint32_t node;
    uint32_t beside; /**< the dictionary that the model was found in; 0: none */
    bool paths;      /**< as a model: names and tensors */
} lr_pt_choice;
/** Whether an entry next to a model is reported as metadata. */
bool lr_pt_is_metadata(const lr_pickle *p, const lr_pt_node *key, const lr_pt_node *value);
/** Finds the part of the file by the option `top-level-key`, or by its contents. */
int32_t lr_pt_choose(const lr_pt_file *file, lr_pt_choice *choice);

#endif
