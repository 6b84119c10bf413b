/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What bytes say of MessagePack: how it begins, and what its end cuts. */
#ifndef CODEC_MSGPACK_CUT_H
#define CODEC_MSGPACK_CUT_H

#include <stdbool.h>
#include <stdint.h>

/** Whether a map begins with this byte, as a record does. */
bool lr_msgpack_is_map(uint8_t first);
/** An object that the end of the data cuts. @param left bytes there are of it, one at least. @param size (out) how many
 * it has, as far as they tell. @return what it is, "string". */
const char *lr_msgpack_cut_object(const uint8_t *data, uint64_t left, uint64_t *size);

#endif
