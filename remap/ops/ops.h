/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Operations on tensors, for plans. An operation is a node with inputs; its dtype and shape are known at once, its
 * bytes are computed on demand, one tensor at a time. It knows no keys, rules or modules: the caller reports which
 * tensor failed. Nodes are reference-counted. A finished node becomes a source (lr_op_data), so that a tensor made by
 * a plan is deferred data like any other: readers, writers and copies of the record do not know operations. */
#ifndef LR_OPS_H
#define LR_OPS_H

#include "core/record/record.h"

enum {
    LR_OP_TENSOR = 1,      /**< the stored bytes of a tensor */
    LR_OP_TRANSPOSE = 2,   /**< rank 2: rows become columns */
    LR_OP_SLICE = 3,       /**< runs of indices along one axis, in order */
    LR_OP_JOIN = 4,        /**< inputs one after the other along one axis; a stack: along an axis 0 that they lack */
    LR_OP_RESHAPE = 5,     /**< another shape of as many elements */
    LR_OP_ADD = 6,         /**< plus a number */
    LR_OP_WEIGHT_NORM = 7, /**< g · v / norm(v) */
    LR_OP_CAST = 8,        /**< another kind of number */
    LR_OP_MULTIPLY = 9,    /**< element by element */
    LR_OP_NORM = 10,       /**< lengths along an axis: g of torch's weight_norm */
    LR_OP_PERMUTE = 11     /**< axes in another order */
};

typedef struct lr_op lr_op;

/** Indices [begin, begin + count) of an axis. */
typedef struct lr_span {
    uint64_t begin, count;
} lr_span;

/* Makers. NULL: the job has failed, with a message that says what does not fit (shape, rank, dtype); no keys, the
 * caller adds them. Inputs are retained. Element types without a size of their own can be carried by TENSOR and RESHAPE
 * only. What changes nothing gives the input itself with one count more; what comes to the same as something simpler is
 * that (a transpose of a transpose, a transpose of one row), so that the kind of the result may be another. */

/** The tensor's bytes as stored; takes a count of what they lie in, so the tensor's record may be freed.
 *  For a tensor whose bytes are in its record's arena they are copied. */
lr_op *lr_op_tensor(rec_job *job, const rec_tensor *tensor);
lr_op *lr_op_transpose(rec_job *job, lr_op *input);
/** Axis i of the result is axis order[i] of the input. @param count the rank; each axis once. */
lr_op *lr_op_permute(rec_job *job, lr_op *input, const uint32_t *order, uint32_t count);
/** @param axis below the rank. Spans lie within the axis; an index may come once, twice or never. Neighbours are joined
 *  to one span. This is splitting, taking groups apart and permuting in one. */
lr_op *lr_op_slice(rec_job *job, lr_op *input, uint32_t axis, const lr_span *spans, uint64_t count);
/** All shapes must agree except in `axis`; all dtypes too. */
lr_op *lr_op_join(rec_job *job, lr_op *const *inputs, uint64_t count, uint32_t axis);
lr_op *lr_op_stack(rec_job *job, lr_op *const *inputs, uint64_t count);
lr_op *lr_op_reshape(rec_job *job, lr_op *input, const uint64_t *shape, uint32_t rank);
/** Floats only: computed in f64 for f64, else in f32, and rounded to the dtype. */
lr_op *lr_op_add(rec_job *job, lr_op *input, double number);
/** torch's weight_norm: g has length 1 along all axes but one (`dim`); or one element: the norm over everything. The
 *  norm is summed in f64, the product computed in f32 (f64 for f64) and rounded to v's dtype. */
lr_op *lr_op_weight_norm(rec_job *job, lr_op *g, lr_op *v);
/** The product of two tensors of one shape and one float type, computed and rounded as a sum is. */
lr_op *lr_op_multiply(rec_job *job, lr_op *a, lr_op *b);
/** The length of each row along an axis, over all other axes, which have length 1 then: what weight_norm of it and the
 *  input makes the input of again. Summed in f64 and rounded to the dtype. @param axis the rank: one number, the length
 *  of the whole. */
lr_op *lr_op_norm(rec_job *job, lr_op *input, uint32_t axis);
/** Between floats, integers and bools as Burn's import does: floats to integers truncate toward zero (NaN and what does
 *  not fit are REC_E_RANGE with the element), numbers to bool by "not zero", bools count as 0 and 1. Finite floats that
 *  become infinite are noted once all is read. */
lr_op *lr_op_cast(rec_job *job, lr_op *input, rec_dtype dtype);

/** Rotary permutation of `heads` heads of rows (axis 0), `rotary` dims of each (0: all): new row h·d + j is old row
 *  h·d + (j mod 2)·(r/2) + floor(j/2) for j < r, the same row for j >= r.
 *  @param inverse the other way. A slice. */
lr_op *lr_op_rope(rec_job *job, lr_op *input, uint64_t heads, uint64_t rotary, bool inverse);

lr_op *lr_op_retain(lr_op *op);
void lr_op_release(lr_op *op); /**< NULL is ignored */

int32_t lr_op_kind(const lr_op *op);
rec_dtype lr_op_dtype(const lr_op *op);
uint32_t lr_op_rank(const lr_op *op);
const uint64_t *lr_op_shape(const lr_op *op);
uint64_t lr_op_nbytes(const lr_op *op);
/** The dtype name of an LR_OP_TENSOR without a number type (opaque, qfloat), or NULL. */
const rec_value *lr_op_dtype_value(const lr_op *op);
/** The input of a chain of reshapes; the node itself without one (op.c). */
const lr_op *lr_op_reshaped(const lr_op *op);
/** Its elements as numbers, where the tensor is kept in blocks and has these: another LR_OP_TENSOR, borrowed; else
 * NULL. */
lr_op *lr_op_numbers(const lr_op *op);

/** Makes part of its bytes, little-endian: for reading in order. @param target any alignment. What it had to make
 * beyond that is kept until the last byte was read. Safe to be called by several threads for one node. */
int32_t lr_op_read(rec_job *job, lr_op *op, uint64_t offset, void *target, uint64_t size);

/** Whether two tensors are the same to the bit. Reads both. @return 1 or 0; -1: the job has failed. */
int lr_op_same(rec_job *job, lr_op *a, lr_op *b);

/** The data of a node for a tensor of `record`: the tensor's own bytes (a view or a range) for an LR_OP_TENSOR or a
 *  reshape of one, else deferred data whose source makes them. NULL: the job has failed. */
lr_data *lr_op_data(rec_job *job, rec_record *record, lr_op *op);

/* transpose.c: the plain version defines the result, the others must equal it. */

/** Transposes `rows` x `columns` elements of `width` bytes (1, 2, 4, 8), on the calling thread alone.
 *  @param from_stride,to_stride bytes between rows of the input and of the output. */
void lr_transpose(const void *from, uint64_t from_stride, void *to, uint64_t to_stride, uint64_t rows, uint64_t columns,
                  uint32_t width);
void lr_transpose_plain(const void *from, uint64_t from_stride, void *to, uint64_t to_stride, uint64_t rows,
                        uint64_t columns, uint32_t width);

#endif
