/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord: for bindings of other languages. Included by librecord.h. */

/**
 * @file librecord/bindings.h
 *
 * Values without structs by value, many tensors in one call, ids as numbers, errors to keep.
 */
#ifndef LIBRECORD_BINDINGS_H
#define LIBRECORD_BINDINGS_H

#include <librecord.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------- values -- */

/* The same for callers that cannot take a struct as a value (bindings of other languages), and with an error. */

/** @param scalar (out) the scalar of a scalar value. @return REC_E_MISMATCH: the value is not a scalar. */
REC_API rec_status rec_value_get(const rec_value *value, rec_scalar *scalar);
/** @param scalar (out) what rec_value_key() returns. @return REC_E_ARGUMENT: there is no such entry. */
REC_API rec_status rec_value_get_key(const rec_value *value, uint64_t index, rec_scalar *scalar);
/** @param scalar (out) what rec_value_number() returns. @return REC_E_ARGUMENT: there is no such number. */
REC_API rec_status rec_value_get_number(const rec_value *value, uint64_t index, rec_scalar *scalar);
/** Reads packed numbers `first` … `first + count - 1`, converted to `dtype`.
 *  @param target room for `count` elements, host byte order; may be NULL for none.
 *  @return REC_E_MISMATCH: the value has no packed numbers, or numbers of another kind (floats, integers, bools);
 *  REC_E_RANGE: one does not fit `dtype`; REC_E_ARGUMENT: there are not so many. */
REC_API rec_status rec_value_numbers(const rec_value *value, rec_dtype dtype, uint64_t first, uint64_t count,
                                     void *target);
/** @param name one name, nothing in it is escaped. @return the value below a map, a list (its index) or a variant;
 *  NULL: not found (no error is set). */
REC_API const rec_value *rec_value_child(const rec_value *value, const char *name);

enum {
    REC_ROW_ASSUMED = 1,   /**< as rec_tensor_assumed() */
    REC_ROW_CONVERTED = 2, /**< `dtype` is not `stored_dtype`: `data` must be converted, rec_tensor_read() does it */
    REC_ROW_ALIGNED = 4    /**< `data` is aligned for elements of `stored_dtype` */
};

/** One tensor of a table. All pointers but `path` belong to the record. The layout of the first members is frozen. */
typedef struct rec_row {
    const char *path;         /**< as rec_tensor_at() takes it; NUL-terminated; belongs to the table */
    uint64_t path_length;     /**< bytes of `path` */
    const rec_tensor *tensor; /**< the tensor itself */
    const uint64_t *shape;    /**< `rank` dimensions, outermost first */
    const char *id;           /**< the parameter id, or NULL */
    const void *data;         /**< as rec_tensor_at_hand(): the stored bytes, little-endian; NULL: not in memory */
    uint64_t data_size;       /**< bytes at `data`, 0 with NULL */
    uint64_t count;           /**< elements */
    uint64_t nbytes;          /**< bytes at `dtype` */
    uint64_t offset;          /**< as rec_tensor_offset() */
    rec_dtype dtype;          /**< as rec_tensor_dtype() */
    rec_dtype stored_dtype;   /**< as rec_tensor_stored_dtype() */
    uint32_t rank;            /**< dimensions of `shape` */
    uint32_t flags;           /**< REC_ROW_… */
} rec_row;

/** All tensors of a record, in file order: one call instead of many for each tensor. */
typedef struct rec_table {
    uint32_t size;       /**< sizeof(rec_table) of the library */
    uint32_t row_size;   /**< bytes from one row to the next: sizeof(rec_row) of the library */
    uint64_t count;      /**< rows */
    const rec_row *rows; /**< `count` rows of `row_size` bytes */
} rec_table;

/** @return a table, to be freed before the record is edited or freed; NULL with an error. */
REC_API const rec_table *rec_record_table(const rec_record *record);
/** NULL is ignored. */
REC_API void rec_table_free(const rec_table *table);

enum {
    REC_NAMES_KEEP_GAPS = 0, /**< indices with gaps become a map, as the load argument `gaps` = keep has it */
    REC_NAMES_CLOSE_GAPS = 1 /**< they become a list without the gaps: `gaps` = close */
};
/** Sets many tensors by their flat names, in any order: each dot of a name is a level, and a level is a list if its
 * names are the indices 0 to N. Lists are in the order of their indices, maps in the order of the names. Two tensors of
 * one name, and a name below another one, are REC_E_ARGUMENT with both; so is a first level that the record has
 * already. If the function fails, the record is unchanged.
 * @param names `count` of them. @param specs as many, all of the same `size`. The bytes are released as in
 * rec_set_tensor().
 * @param flags REC_NAMES_… */
REC_API rec_status rec_set_tensors(rec_record *record, const char *const *names, const rec_tensor_spec *specs,
                                   uint64_t count, uint32_t flags);

/** Gets a parameter id as a number: of an id of Burn 0.15 and later (13 characters) its 64 bits, of one of 0.14 (10)
 * its 48 bits, of a UUID (36, before 0.14) the first half. Ids with one number name one parameter; Burnpack files store
 * it.
 * @param number (out). @return REC_E_NOT_FOUND if the tensor has no id, REC_E_MISMATCH if it has another form. */
REC_API rec_status rec_tensor_id_number(const rec_tensor *tensor, uint64_t *number);
/** Room for a parameter id of Burn 0.15 or later, with its NUL. */
#define REC_ID_ROOM 16
/** Converts an id from a number to the text of Burn 0.15 and later. @param text room for REC_ID_ROOM. @return text. */
REC_API const char *rec_id_text(uint64_t number, char *text);
/** Converts an id of any version of Burn from text to a number, as rec_tensor_id_number() does.
 * @param number (out). @return 1, or 0 if it is not an id of Burn. */
REC_API int32_t rec_id_number(const char *id, uint64_t *number);

/** An error with its report, to be kept or handed to another thread. */
typedef struct rec_error rec_error;
/** Copies the calling thread's last error and report (of a success the report), which stay. @return to be freed; NULL
 * if out of memory, which leaves the last error alone too. */
REC_API rec_error *rec_error_copy(void);
/** Makes a copy the calling thread's last error and report, for the getters. NULL is ignored. */
REC_API void rec_error_restore(const rec_error *error);
/** NULL is ignored. */
REC_API void rec_error_free(rec_error *error);

#ifdef __cplusplus
}
#endif
#endif
