/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The sum of archives (CRC-32), by the instructions of the processor for it where it has some. */
#ifndef LR_ZIP_CRC32_H
#define LR_ZIP_CRC32_H

#include <stddef.h>
#include <stdint.h>

/** As zlib's crc32_z(), which does what is short and what no instruction helps with. @param crc of the bytes before; 0
 * of none. */
uint32_t lr_crc32(uint32_t crc, const void *data, size_t size);

#endif
