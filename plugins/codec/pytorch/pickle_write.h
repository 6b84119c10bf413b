/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Writes pickles: one function for each kind of object. */
#ifndef LR_PICKLE_WRITE_H
#define LR_PICKLE_WRITE_H

#include <stdbool.h>

#include <librecord/plugin.h>

#include "plugins/codec/buffer.h"
#include "plugins/codec/pytorch/pickle.h"

/** Objects that are written once, and referenced by number after that. */
enum {
    LR_PW_ENCODE,
    LR_PW_LATIN1,
    LR_PW_STORAGE,
    LR_PW_CPU,
    LR_PW_DICT,
    LR_PW_REBUILD_V2,
    LR_PW_REBUILD_V3,
    LR_PW_STORAGES,                              /**< and the element type */
    LR_PW_DTYPES = LR_PW_STORAGES + LR_PT_TYPES, /**< the same */
    LR_PW_SLOTS = LR_PW_DTYPES + LR_PT_TYPES
};

/** A pickle in memory; the first failure stays. */
typedef struct lr_pickle_writer {
    lr_buffer out;
    uint8_t memo[LR_PW_SLOTS]; /**< number + 1 */
    uint8_t remembered;
} lr_pickle_writer;

void lr_pw_uint(lr_pickle_writer *w, uint64_t number);
void lr_pw_int(lr_pickle_writer *w, int64_t number);
void lr_pw_float(lr_pickle_writer *w, double number);
void lr_pw_bool(lr_pickle_writer *w, bool value);
void lr_pw_string(lr_pickle_writer *w, const char *text, uint64_t length);
/** Bytes, as Python writes them in protocol 2: as text of which each character is one. */
void lr_pw_bytes(lr_pickle_writer *w, const uint8_t *bytes, uint64_t length);
/** A name of Python's. */
void lr_pw_global(lr_pickle_writer *w, uint32_t slot, const char *module, const char *name);
/** A string that comes often. */
void lr_pw_name(lr_pickle_writer *w, uint32_t slot, const char *text);

#endif
