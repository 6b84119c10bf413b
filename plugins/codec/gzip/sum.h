/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The checksum of gzip. */
#ifndef LR_GZIP_SUM_H
#define LR_GZIP_SUM_H

#include <stddef.h>
#include <stdint.h>

/** CRC-32 going on. Calls nothing of librecord. @param crc of what stands before; 0: nothing does. */
uint32_t lr_gzip_crc(uint32_t crc, const uint8_t *data, size_t size);

#endif
