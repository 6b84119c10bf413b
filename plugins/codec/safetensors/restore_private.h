/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files that read a record from its text share: the reader and its tokens. */
#ifndef LR_SAFETENSORS_RESTORE_PRIVATE_H
#define LR_SAFETENSORS_RESTORE_PRIVATE_H

#include "plugins/codec/json/number.h"
#include "plugins/codec/json/string.h"
#include "plugins/codec/safetensors/safetensors.h"

typedef struct lr_st_reader {
    lr_st_model *model;
    rec_job *job;
    const rec_visitor *visitor;
    void *self;
    uint64_t at;        /**< of the text in its file */
    rec_source *source; /**< that file, if it is not the one that is loaded */
    lr_json_input in;
    lr_json_text memory;
    lr_float_reader floats;
    lr_st_path path;
    lr_buffer dotted; /**< a key as a path */
    lr_buffer words;  /**< strings that have to stay while others are read */
    uint32_t depth, limit;
    bool paths;      /**< of a foreign model, whose tensors are parameters */
    const char *key; /**< of the text */
    bool values;     /**< metadata may be other than texts */
    bool aside;      /**< a value of the metadata is read */
    uint64_t taken;
    uint64_t ahead; /**< bytes that may still be read ahead */
} lr_st_reader;

/** Adds to a failure in which file it is and what to do. @return status. */
int32_t lr_st_hint(lr_st_reader *r, int32_t status);
/** Fails about what is at the cursor. */
int32_t lr_st_wrong(lr_st_reader *r, const char *expected);
int32_t lr_st_wrong_tensor(lr_st_reader *r, const char *key, uint64_t length, const char *what);

bool lr_st_next_is(const lr_st_reader *r, char c);
int32_t lr_st_expect(lr_st_reader *r, char c, const char *expected);
/** Moves behind `text`. @return false: something else is there. */
bool lr_st_pass(lr_st_reader *r, const char *text);
/** A string, which is valid until the next one. */
int32_t lr_st_string(lr_st_reader *r, const char **text, uint64_t *length);
/** A string that stays, with a NUL, at `*at` of the words. */
int32_t lr_st_word(lr_st_reader *r, uint64_t *at, uint64_t *length);
int32_t lr_st_number(lr_st_reader *r, rec_scalar *s);
/** A number of kind `letter` (f, i, u) in `bits` bits (0: unknown). */
int32_t lr_st_sized_number(lr_st_reader *r, char letter, unsigned bits, rec_scalar *s);
/** @return -1: none. */
int lr_st_hex_digit(char c);

/** After ["tensor": `,id,key,dtype,name,shape]`, possibly truncated. */
int32_t lr_st_restore_tensor(lr_st_reader *r);
/** Behind ["blob": bytes that are stored as a tensor. */
int32_t lr_st_restore_blob(lr_st_reader *r);
/** Behind ["bytes": those that stand in the text. */
int32_t lr_st_restore_bytes(lr_st_reader *r);

#endif
