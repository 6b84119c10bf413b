/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Arrays whose elements lie in another order than a record's, or in the other byte order: a source that puts them in
 * order while it is read. */
#ifndef LR_CODEC_STRIDED_H
#define LR_CODEC_STRIDED_H

#include <stdbool.h>

#include <librecord/plugin.h>

typedef struct lr_strided {
    rec_source *from;
    uint64_t begin;          /**< place of the first element */
    uint64_t span;           /**< bytes from there that the elements are among; none is before */
    uint64_t count;          /**< of elements, not 0 */
    const uint64_t *dims;    /**< sizes, outermost first, none of them 0 */
    const uint64_t *strides; /**< of each dimension, in elements */
    uint8_t rank;
    uint8_t width; /**< bytes of an element, at most 16 */
    uint8_t part;  /**< bytes that are swapped together: half of a complex number */
    bool swapped;  /**< the byte order is the other one */
} lr_strided;

/** Makes the source of an array's elements. It keeps nothing of the job. @param out counted. */
int32_t lr_strided_open(rec_job *job, const lr_strided *array, rec_source **out);

#endif
