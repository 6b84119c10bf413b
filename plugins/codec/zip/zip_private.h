/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Numbers of zip archives, for those that read and write them. */
#ifndef LR_ZIP_PRIVATE_H
#define LR_ZIP_PRIVATE_H

#include <stdint.h>

/* Signatures. */
#define LR_ZIP_HEADER UINT32_C(0x04034b50)
#define LR_ZIP_AFTER UINT32_C(0x08074b50)
#define LR_ZIP_ENTRY UINT32_C(0x02014b50)
#define LR_ZIP_END UINT32_C(0x06054b50)
#define LR_ZIP_END64 UINT32_C(0x06064b50)
#define LR_ZIP_LOCATOR UINT32_C(0x07064b50)

enum {
    LR_ZIP_EXTRA64 = 1,       /* the extra field with numbers of 64 bits */
    LR_ZIP_SIZES_AFTER = 8,   /* flag: checksum and sizes follow the member */
    LR_ZIP_NAME_UTF8 = 0x800, /* flag */
};

static inline uint16_t lr_zip_u16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t lr_zip_u32(const uint8_t *at)
{
    return (uint32_t)lr_zip_u16(at) | (uint32_t)lr_zip_u16(at + 2) << 16;
}

static inline uint64_t lr_zip_u64(const uint8_t *at)
{
    return (uint64_t)lr_zip_u32(at) | (uint64_t)lr_zip_u32(at + 4) << 32;
}

#endif
