/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Shared by the files of bincode: the reader's state, values, and the type after a record. */
#ifndef LR_BINCODE_PRIVATE_H
#define LR_BINCODE_PRIVATE_H

#include <librecord/plugin_types.h>
#include "plugins/codec/bincode/bincode.h"

typedef struct lr_bincode_reader {
    rec_job *job;
    rec_source *source;
    const rec_visitor *visitor;
    void *self;
    const uint8_t *data;
    uint64_t size; /**< of the value, without the type after it */
    uint64_t at;
    uint64_t reported; /**< progress */
    unsigned depth;
    bool quiet; /**< a trial: no events, no failures reported; a status other than REC_OK says that it does not fit */
    uint64_t tried; /**< bytes that trials have looked at */
} lr_bincode_reader;

/** Reads a value and tells the visitor of it; in a trial it only finds out whether one is there. */
int32_t lr_bincode_value(lr_bincode_reader *r, const rec_layout *layout);
/** Tells the visitor of a key of a struct. */
int32_t lr_bincode_key(lr_bincode_reader *r, const char *name);
/** Finds parameters by their signature and reports them as a map by position (scan.c). @param none succeeds without
 * parameters too: the caller needs the metadata. */
int32_t lr_bincode_scan(lr_bincode_reader *r, bool none);

/** The type after a record: its text, the length of that as a u64, then this. */
#define LR_BINCODE_MAGIC "\x00RECTYPE"
enum { LR_BINCODE_TAIL = 16 };

#endif
