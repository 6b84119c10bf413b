/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A TensorProto: its shape, its type, and where its data are. */
#ifndef ONNX_TENSOR_H
#define ONNX_TENSOR_H

#include "onnx/protobuf.h"

enum { TENSOR_RANK = 32 };

/** An element type. */
typedef struct tensor_type {
    const char *name; /**< ONNX's */
    rec_dtype dtype;  /**< REC_DTYPE_NONE: records cannot hold it */
    uint32_t width;   /**< bytes of an element */
    uint32_t field;   /**< the field of TensorProto that has its numbers, unless they are raw */
    uint32_t numbers; /**< of that field for each element: 2 of a complex number */
    const char *opaque;
} tensor_type;

/** Fields of TensorProto that hold numbers. */
enum { FLOAT_DATA = 4, INT32_DATA = 5, INT64_DATA = 7, DOUBLE_DATA = 10, UINT64_DATA = 11 };

typedef struct tensor {
    uint64_t at, end; /**< of the message */
    const tensor_type *type;
    uint32_t rank;
    uint64_t shape[TENSOR_RANK];
    uint64_t size; /**< bytes of the elements */
    int raw;       /**< `data` is raw_data */
    int external;
    uint64_t data, data_size;                         /**< raw_data; the packed numbers if there is one run of them */
    uint64_t runs;                                    /**< fields with numbers */
    uint64_t location, location_size, offset, length; /**< of external data; `length` may be REC_UNKNOWN */
} tensor;

/** Reads the message in the range of the cursor. Checks that size and number of the data are those of the shape. */
rec_status tensor_read(pb_cursor c, tensor *t);
/** Gets the range of a name: of a TensorProto, whose field 8 it is. */
rec_status tensor_name(pb_cursor c, uint64_t *at, uint64_t *size);

/** Gets the elements of a tensor that has data, in the order of records. @param source (out) counted. @param offset
 * (out) of the elements in it. */
rec_status tensor_data(rec_job *job, rec_source *file, const tensor *t, rec_source **source, uint64_t *offset);

#endif
