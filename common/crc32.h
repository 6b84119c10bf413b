/* SPDX-License-Identifier: MIT OR Apache-2.0
 * the CRC-32 of zip and gzip, by the processor's instructions for it where it has some. */
#ifndef LR_COMMON_CRC32_H
#define LR_COMMON_CRC32_H

#include <stddef.h>
#include <stdint.h>

/** @param crc of the bytes before; 0 for none. */
uint32_t lr_crc32(uint32_t crc, const void *data, size_t size);

#endif
