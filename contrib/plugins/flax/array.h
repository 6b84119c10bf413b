/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Arrays as flax.serialization stores them: an extension that holds shape, element type and data; a large one is a map
 * of a mark, the shape, and such extensions. */
#ifndef FLAX_ARRAY_H
#define FLAX_ARRAY_H

#include "flax/msgpack.h"

/** The types of extensions. */
enum { FLAX_ARRAY = 1, FLAX_COMPLEX = 2, FLAX_SCALAR = 3 };
/** The most dimensions of a tensor in a record, and room for the longest name of a type. */
enum { ARRAY_RANK = 32, TYPE_ROOM = 20 };

/** The first key of a chunked array, which has three entries. */
#define FLAX_CHUNKED "__msgpack_chunked_array__"

/** An element type. */
typedef struct array_type {
    const char *name; /**< NumPy's */
    rec_dtype dtype;
    uint32_t width;     /**< bytes of an element */
    const char *opaque; /**< of REC_DTYPE_OPAQUE: the name in records */
} array_type;

/** Finds a type by NumPy's name, or by the dtype of a record. @return NULL if unknown. */
const array_type *array_type_named(const char *name);
const array_type *array_type_of(rec_dtype dtype, const char *opaque);

typedef struct array {
    const array_type *type;
    uint32_t rank;
    uint64_t shape[ARRAY_RANK];
    uint64_t size;            /**< bytes */
    uint64_t offset;          /**< of the data of an array in one extension */
    rec_source_piece *chunks; /**< of a chunked one, of rec_job_alloc; else NULL */
    uint64_t chunk_count;
} array;

/** Reads an extension of the type FLAX_ARRAY or FLAX_SCALAR. */
rec_status array_read(window *w, const mp_value *ext, array *a);
/** Reads a chunked array, whose first key, the mark, has been read. @param a (out) to be freed with array_free(). */
rec_status array_read_chunked(mp_cursor *c, const mp_value *map, array *a);
void array_free(array *a, rec_job *job);

/** Reads an extension of the type FLAX_COMPLEX. @param parts (out) real and imaginary part. */
rec_status array_read_complex(window *w, const mp_value *ext, double *parts);

#endif
