/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Signatures of the records of zip archives. */
#ifndef LR_ZIP_PRIVATE_H
#define LR_ZIP_PRIVATE_H

#include <stdint.h>

#define LR_ZIP_HEADER UINT32_C(0x04034b50)
#define LR_ZIP_AFTER UINT32_C(0x08074b50)
#define LR_ZIP_ENTRY UINT32_C(0x02014b50)
#define LR_ZIP_END UINT32_C(0x06054b50)
#define LR_ZIP_END64 UINT32_C(0x06064b50)
#define LR_ZIP_LOCATOR UINT32_C(0x07064b50)

#endif
