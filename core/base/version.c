/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The version of the library that runs. */
#include "librecord.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

uint32_t rec_version(void)
{
    return REC_VERSION_NUMBER;
}

const char *rec_version_string(void)
{
    return TEXT(REC_VERSION_MAJOR) "." TEXT(REC_VERSION_MINOR) "." TEXT(REC_VERSION_PATCH);
}
