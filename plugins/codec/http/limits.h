/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a server may cost: time, tries and bytes. The environment sets the limits. */
#ifndef LR_HTTP_LIMITS_H
#define LR_HTTP_LIMITS_H

#include <librecord/plugin.h>

typedef struct lr_http_limits {
    uint64_t speed;   /**< bytes a second, at least, on the average of… */
    uint64_t seconds; /**< …so many seconds; 0: any speed will do */
    uint64_t tries;   /**< requests for a file that may fail, over all */
    uint64_t bytes;   /**< of a file whose size the server does not say */
    uint64_t time;    /**< seconds that the requests for a file may take together; 0: any */
} lr_http_limits;

/** Reads LIBRECORD_HTTP_SPEED, LIBRECORD_HTTP_TRIES, LIBRECORD_HTTP_SIZE and LIBRECORD_HTTP_TIME. A variable that is
 *  not set leaves the default; one that is no such number is a failure. */
int32_t lr_http_limits_read(rec_job *job, lr_http_limits *limits);

#endif
