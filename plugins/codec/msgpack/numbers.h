/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Numbers of MessagePack in bulk. Results are in native byte order; nothing is read beyond the given size. */
#ifndef LR_MSGPACK_NUMBERS_H
#define LR_MSGPACK_NUMBERS_H

#include <stdint.h>

/** A number of `width` bytes, the highest first. */
static inline uint64_t lr_msgpack_big(const uint8_t *data, unsigned width)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < width; i++) {
        number = number << 8 | data[i];
    }
    return number;
}

/** Bytes of an object: the one that says what it is, and the number. */
enum { LR_MSGPACK_F32 = 5, LR_MSGPACK_F64 = 9 };

/** Reads 32-bit floats; `data` and `out` have room for `count`. @return how many there are before the first other
 * object. The room after the last may be overwritten. */
typedef uint64_t lr_msgpack_floats(const uint8_t *data, uint64_t count, float *out);
/** The plain one, which defines the result. */
lr_msgpack_floats lr_msgpack_floats_plain;
/** The readers of this processor, best first, the plain one last. NULL after the last. */
lr_msgpack_floats *lr_msgpack_floats_choice(unsigned index);

/** The same for floats of 64 bits. */
uint64_t lr_msgpack_doubles(const uint8_t *data, uint64_t count, double *out);

/** Reads integers up to INT64_MAX until another object, `room` numbers, or fewer than 9 bytes are left. @param data
 * (in, out) moves after them. @return how many. */
uint64_t lr_msgpack_integers(const uint8_t **data, const uint8_t *end, int64_t *out, uint64_t room);

#endif
