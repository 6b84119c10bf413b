/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord: what plugins for Burn's own formats need beyond plugin.h. docs/reference/plugin-interface.md describes it.
 */

/**
 * @file librecord/plugin_types.h
 *
 * Layouts of typed records and names of Rust. A format that stores names and tensors needs none of it.
 */
#ifndef LIBRECORD_PLUGIN_TYPES_H
#define LIBRECORD_PLUGIN_TYPES_H

#include <librecord/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------------- types -- */

/** A node of the layout of a typed record: a read-only cursor. */
typedef struct rec_layout rec_layout;

/**
 * Gets the layout of the record from the caller's type. While loading, the first call returns a struct whose only
 * field is `metadata`, with or without a type; after the events of `metadata`, a second call returns the whole:
 * `metadata`, `item` and, if the version has it, `_b`. Pass REC_UNKNOWN as the count of that outermost struct. A save
 * need not call this: the walk follows the type. V1 tensors at half precision are lists of 16-bit unsigned numbers, as
 * stored.
 * @param layout (out) NULL without a type; lives as long as the job.
 */
REC_API rec_status rec_job_layout(rec_job *job, const rec_layout **layout);
/** Gets the layout of a type expression in the version of the record, "Param<Tensor<B, 2>>"; call it after `metadata`.
 */
REC_API rec_status rec_job_layout_of(rec_job *job, const char *expression, const rec_layout **layout);
/**
 * Gets the type of a save in a text form of librecord, for files that store their type.
 * @param text (out) NUL-terminated, lives as long as the job; NULL without a type.
 */
REC_API rec_status rec_job_layout_text(rec_job *job, const char **text);
/** Sets the type from the text of rec_job_layout_text(); call it before `metadata`. A type given by the caller takes
 * precedence. */
REC_API rec_status rec_job_use_layout_text(rec_job *job, const char *text, uint64_t length);
/** @return the version of Burn, 0.N, that determines the layout: the target of a save; for a load the version in the
 * metadata so far, or the last one with recorders. */
REC_API int32_t rec_job_burn(const rec_job *job);
/** @return 1 if a Rust field of this name needs the prefix r#, else 0. */
REC_API int32_t rec_is_rust_word(const char *name, uint64_t length);

/** The kind of a layout node. */
enum {
    REC_LAYOUT_UNIT = 1, /**< no data */
    REC_LAYOUT_BOOL = 2,
    REC_LAYOUT_INT = 3, /**< signed, `bits` wide */
    REC_LAYOUT_UINT = 4,
    REC_LAYOUT_FLOAT = 5, /**< 32 or 64 bits */
    REC_LAYOUT_STRING = 6,
    REC_LAYOUT_BYTES = 7,
    REC_LAYOUT_LIST = 8,    /**< counted in the data; child 0 is the element */
    REC_LAYOUT_ARRAY = 9,   /**< `count` elements of child 0 */
    REC_LAYOUT_TUPLE = 10,  /**< `count` children */
    REC_LAYOUT_STRUCT = 11, /**< `count` named children */
    REC_LAYOUT_MAP = 12,    /**< counted in the data; child 0 is the key, 1 the value */
    REC_LAYOUT_OPTION = 13, /**< child 0 if present; NULL if always absent (a constant field of a module) */
    REC_LAYOUT_ENUM = 14,   /**< `count` variants with the stored index and name; child: the payload, or NULL */
    REC_LAYOUT_TENSOR = 15, /**< for tensor formats; others see its parts as structs */
    REC_LAYOUT_ID = 16      /**< a parameter id: a string of 1 to 64 letters, digits and dashes */
};
/** @return REC_LAYOUT_…; 0 for NULL. */
REC_API int32_t rec_layout_kind(const rec_layout *layout);
/** @return the width of a number in bits (64 for usize). */
REC_API uint32_t rec_layout_bits(const rec_layout *layout);
/** @return children of a struct, tuple or enum, elements of an array, rank of a tensor. */
REC_API uint64_t rec_layout_count(const rec_layout *layout);
/** @return the name of field or variant `index`, or "". Borrowed. */
REC_API const char *rec_layout_name(const rec_layout *layout, uint64_t index);
/** @return child `index`, or NULL; never fails. Borrowed; lives as long as the job. */
REC_API const rec_layout *rec_layout_child(const rec_layout *layout, uint64_t index);

#ifdef __cplusplus
}
#endif
#endif
