/* SPDX-License-Identifier: MIT OR Apache-2.0
 * JSON (RFC 8259), read strictly and written as Burn's serde_json does it. */
#ifndef LR_JSON_H
#define LR_JSON_H

#include <stdbool.h>

#include <librecord/plugin.h>

/** @return how sure it is that text begins a record: 88 for a map that begins with `metadata`, less for other maps. */
int32_t lr_json_probe(const uint8_t *text, uint64_t length);

/** Reads one value of any kind, surrounded by white space alone, and calls the visitor. Sources that are neither in
 * memory nor mapped are read in chunks. Numbers from 0 to 255 in lists come as U8, other integers as I64 or U64 (as
 * floats if they have more than 64 bits, and for -0), floats as F64. */
int32_t lr_json_read(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);

/** Walks the record that is saved and writes it. @param pretty a line for each value, indented by two spaces. */
int32_t lr_json_write(rec_job *job, rec_sink *sink, bool pretty);

/** A writer, the `self` of `lr_json_visitor`. It gathers its text: what it holds back comes with flush. */
typedef struct lr_json_writer lr_json_writer;
/** To be freed with lr_json_writer_free(). NULL with the failure reported. */
lr_json_writer *lr_json_writer_new(rec_job *job, rec_sink *sink, bool pretty);
/** Hands on what was held back. To be called after the last event. */
int32_t lr_json_writer_flush(lr_json_writer *writer);
void lr_json_writer_free(lr_json_writer *writer);
extern const rec_visitor lr_json_visitor;

#endif
