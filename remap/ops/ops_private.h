/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of operations share: the node, and how its bytes are made. */
#ifndef LR_OPS_PRIVATE_H
#define LR_OPS_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/io/io.h"
#include "remap/ops/ops.h"

/** A span of a slice, and the index of the result that it begins at. */
typedef struct lr_packed_span {
    uint64_t begin, count, at;
} lr_packed_span;

/** What a node keeps while it is read in pieces: all of itself (or of its input), or a block of rows. */
typedef struct lr_op_kept {
    pthread_mutex_t lock;
    lr_pages whole;
    bool has_whole; /**< `whole` is filled */
    lr_pages block;
    uint64_t first, count; /**< rows in `block`; count 0: none */
} lr_op_kept;

struct lr_op {
    atomic_uint_fast64_t count;
    const lr_allocator *allocator; /**< of the context, which outlives it */
    uint8_t kind;
    uint8_t dtype;
    uint8_t rank;
    uint8_t depth;   /**< nodes on the longest way down */
    uint32_t axis;   /**< SLICE, JOIN; of WEIGHT_NORM, NORM: the axis that g keeps, its rank: none */
    uint32_t weight; /**< nodes below it, counted once per path: bounds the work of evaluation */
    uint64_t nbytes;
    const uint64_t *shape;
    uint64_t input_count;
    lr_op **inputs;
    lr_op_kept *kept; /**< NULL: a node that never keeps anything */
    union {
        struct {
            lr_data data;      /**< its source is counted; never without */
            rec_record *words; /**< holds dtype_value, or NULL */
            const rec_value *dtype_value;
            lr_op *numbers; /**< its elements as numbers, or NULL */
        } tensor;
        struct {
            const lr_packed_span *runs;
            uint64_t count;
        } slice;
        double number;                   /**< ADD */
        const uint32_t *order;           /**< PERMUTE: an axis of the input for each of its own */
        atomic_uint_fast64_t overflowed; /**< CAST: floats that became infinite, not noted yet */
    } u;
};

/** Widths are 1, 2, 4, 8; 0 for types without an element size. */
static inline uint32_t lr_op_width(const lr_op *op)
{
    return rec_dtype_bits(op->dtype) / 8;
}

/* Evaluation (evaluate.c). */

/** The node's bytes if they are in memory already, in one piece; NULL if they have to be made or read. */
const uint8_t *lr_op_at_hand(const lr_op *op);
/** Makes rows of a permutation: indices [first, first + rows) of its outermost axis (permute.c).
 *  @param from the whole input. */
void lr_op_permute_rows(const lr_op *op, const uint8_t *from, uint64_t first, uint64_t rows, uint8_t *target);
/** As lr_op_read, but what was made on the way is kept until lr_op_forget. */
int32_t lr_op_part(rec_job *job, lr_op *op, uint64_t offset, void *target, uint64_t size);
/** Frees what this node and those below it keep. */
void lr_op_forget(lr_op *op);

/** Makes a node (op.c). Its size is that of its shape, 0 where elements have none. @param extra bytes after it, at
 *  `*behind`. @param keeps whether it keeps parts of itself. NULL: the job has failed. */
lr_op *lr_op_new(rec_job *job, int32_t kind, rec_dtype dtype, const uint64_t *shape, uint32_t rank,
                 lr_op *const *inputs, uint64_t input_count, uint64_t extra, bool keeps, void **behind);
/** Whether elements have a fixed size, so that they can be moved; else the job has failed. */
bool lr_op_has_elements(rec_job *job, const lr_op *op, const char *doing);

/* Numbers (math.c). All are little-endian, at any alignment. */

/** Adds to `count` elements, in place. */
void lr_op_add_numbers(const lr_op *op, void *data, uint64_t count);
/** Multiplies elements in place by those of the other input. */
void lr_op_multiply_numbers(const lr_op *op, void *data, const void *other, uint64_t count);
/** Adds the squares of all elements to the sums of their indices along an axis. @param axis the rank: to one sum. */
void lr_op_sum_squares(const lr_op *op, uint32_t axis, const void *data, double *sums);
/** The root of a sum of squares as an element of the dtype, little-endian. @param element 8 bytes. */
void lr_op_put_root(const lr_op *op, double sum, void *element);
/** Converts elements [first, first + count); what fails names the element. */
int32_t lr_op_cast_numbers(rec_job *job, lr_op *op, uint64_t first, const void *from, void *to, uint64_t count);
/** @param g all bytes of g. @param data all of v's, which become the weight's. */
int32_t lr_op_weigh(rec_job *job, const lr_op *op, const void *g, void *data);

/* Transposes (transpose.c, transpose_vectors.c). */

enum { LR_TRANSPOSE_LINE = 64 };

/** A version for whole blocks of `rows` x `columns` elements. */
typedef struct lr_transpose_kernel {
    uint32_t rows, columns;
    /** @param rows,columns multiples of the block's. @param stream the output lies on lines: write past the caches. */
    void (*run)(const uint8_t *from, uint64_t from_stride, uint8_t *to, uint64_t to_stride, uint64_t rows,
                uint64_t columns, bool stream);
    /** Copies, whole lines past the caches; to be followed, some time, by `fence`. */
    void (*copy)(uint8_t *to, const uint8_t *from, uint64_t size);
    void (*fence)(void);
} lr_transpose_kernel;

/* Elsewhere plain C is best; transpose.c says so. */
#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__has_builtin) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#if __has_builtin(__builtin_shufflevector)
#define LR_TRANSPOSE_HAS_VECTORS
#endif
#endif

/** @param width 1, 2, 4, 8. @return NULL if plain C is best. */
const lr_transpose_kernel *lr_transpose_fast(uint32_t width);

#endif
