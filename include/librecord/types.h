/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord: types by name. Included by librecord.h. */

/**
 * @file librecord/types.h
 *
 * Types of records by their names: from Rust source, from INI files, and Burn's, which are built in.
 */
#ifndef LIBRECORD_TYPES_H
#define LIBRECORD_TYPES_H

#include <librecord.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------------- names -- */

/** A set of type definitions. */
typedef struct rec_types rec_types;
/** @return a set with Burn's types, to be freed; NULL with an error. `context` NULL: the default one. */
REC_API rec_types *rec_types_new(rec_context *context);
/** Frees a set. Recorders that use it keep what they need. NULL is ignored. */
REC_API void rec_types_free(rec_types *types);
/** Adds the `struct`, `enum` and `type` items of a Rust file, or (*.ini) the type sections of an INI file
 * (docs/reference/types.md). A later definition hides an earlier one of the same name. */
REC_API rec_status rec_types_add_file(rec_types *types, const char *path);
/** Adds Rust source in memory. @param name the name in messages. */
REC_API rec_status rec_types_add_rust(rec_types *types, const char *text, const char *name);
/** Lists the names defined in a set. A name that differs between versions of Burn occurs once for each.
 * @return name `index`, the last added first, borrowed until something is added; NULL after the last. Listing all
 * takes quadratic time; there are some hundreds. */
REC_API const char *rec_types_name(const rec_types *types, uint64_t index);
/** Sets the type of a recorder's records, an expression in Rust's grammar with the names of `types`: "Model",
 * "Vec<nn::Linear<B>>", "Adam", "f64". The recorder keeps the set and sees later additions, which must not be made
 * while another thread uses the recorder. A NULL `expression` removes the type. */
REC_API rec_status rec_recorder_set_type_name(rec_recorder *recorder, const rec_types *types, const char *expression);

/** Returns the type of a record as Rust source for rec_types_add_rust(), with Burn's modules by their names in the
 * version that wrote it. Facts that a record does not store (whether a list is a Vec or an array, the width of a
 * number in JSON, which Option is absent…) are assumed, and marked by `// assumed: …` at the end of the line. An
 * integer of unknown signedness is followed by the comment `or i64`; with such a type, files without names are neither
 * read nor written (REC_E_TYPE).
 * @param name of the type; NULL: "Model".
 * @return to be freed with rec_free(); NULL with an error. */
REC_API char *rec_record_describe(const rec_record *record, const rec_types *types, const char *name);

#ifdef __cplusplus
}
#endif
#endif
