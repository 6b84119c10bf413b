/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The checksum of gzip, by whichever library is there. */
#include "plugins/codec/gzip/sum.h"

#include <zlib.h>

#ifdef LR_HAVE_ISAL
#include <isa-l/crc.h>
#endif

uint32_t lr_gzip_crc(uint32_t crc, const uint8_t *data, size_t size)
{
#ifdef LR_HAVE_ISAL
    return crc32_gzip_refl(crc, data, size);
#else
    return (uint32_t)crc32_z(crc, data, size);
#endif
}
