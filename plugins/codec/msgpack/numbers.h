/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Numbers of MessagePack, many at once. What is read is native; nothing is looked at beyond what is said to be there.
 */
#ifndef LR_MSGPACK_NUMBERS_H
#define LR_MSGPACK_NUMBERS_H

#include <stdint.h>

/** Bytes of an object: the one that says what it is, and the number. */
enum { LR_MSGPACK_F32 = 5, LR_MSGPACK_F64 = 9 };

/** Reads floats of 32 bits, of which `count` would fit into `data` and into `out`. @return how many there are, up to
 * the first object that is none. Room behind the last of them may be written to. */
typedef uint64_t lr_msgpack_floats(const uint8_t *data, uint64_t count, float *out);
/** The plain one, which defines the result. */
lr_msgpack_floats lr_msgpack_floats_plain;
/** Those of this processor, best first, the plain one last. NULL behind the last. */
lr_msgpack_floats *lr_msgpack_floats_choice(unsigned index);

/** The same for floats of 64 bits. */
uint64_t lr_msgpack_doubles(const uint8_t *data, uint64_t count, double *out);

/** Reads integers up to INT64_MAX until there is something else, `room` is full, or fewer than 9 bytes are left.
 *  @param data (in, out) moves behind them. @return how many. */
uint64_t lr_msgpack_integers(const uint8_t **data, const uint8_t *end, int64_t *out, uint64_t room);

#endif
