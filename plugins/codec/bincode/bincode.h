/* SPDX-License-Identifier: MIT OR Apache-2.0
 * bincode 2 with its standard configuration, as Burn's Bin recorders use it: no names, no kinds, little-endian,
 * integers as varints. What the bytes mean comes from the record's type. */
#ifndef LR_BINCODE_H
#define LR_BINCODE_H

#include <librecord/plugin.h>

#include <stdbool.h>

/** @return how sure it is that bytes begin a record: its metadata are five strings, the first the name of a float. */
int32_t lr_bincode_probe(const uint8_t *data, uint64_t length);

/**
 * Reads a record by the caller's type, else by the type that the file carries (`self-describing`), else, with
 * `positional`, the parameters that are found by their signature, named by their position; with `head` there may be
 * none. */
int32_t lr_bincode_read(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);

/** Walks the record that is saved and writes it; with the option `self-describing` its type follows. */
int32_t lr_bincode_write(rec_job *job, rec_sink *sink);

/** The options of every recorder in bincode. */
extern const rec_option lr_bincode_self_describing;
extern const rec_option lr_bincode_positional;
extern const rec_option lr_bincode_trailing;

#endif
