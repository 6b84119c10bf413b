/* SPDX-License-Identifier: MIT OR Apache-2.0
 * One file of a server: requests for parts of it. */
#ifndef LR_HTTP_TRANSFER_H
#define LR_HTTP_TRANSFER_H

#include <curl/curl.h>

#include "plugins/codec/http/http.h"

enum { LR_HTTP_TAG = 256 };

/** What a server said of a file. */
typedef struct lr_http_facts {
    uint64_t total;        /**< its size; REC_UNKNOWN if it did not say */
    char tag[LR_HTTP_TAG]; /**< its ETag, else its Last-Modified; "": neither */
    bool ranges;           /**< it sends parts */
} lr_http_facts;

/** What a server may cost: time, tries and bytes. */
typedef struct lr_http_limits {
    uint64_t speed;   /**< bytes a second, at least, on the average of… */
    uint64_t seconds; /**< …so many seconds; 0: any speed will do */
    uint64_t tries;   /**< requests for a file that may fail, over all */
    uint64_t bytes;   /**< of a file whose size the server does not say */
    uint64_t time;    /**< seconds that the requests for a file may take together; 0: any */
} lr_http_limits;

/** A file. Its connection is kept from one request to the next. */
typedef struct lr_http {
    CURL *curl;
    struct curl_slist *headers;
    char *url;  /**< as requested */
    char *name; /**< as messages call it: without user, password and query */
    lr_http_facts facts;
    lr_http_limits limits;
    uint64_t failures;     /**< requests that failed, over all */
    uint64_t milliseconds; /**< that its requests took */
    bool known;            /**< `facts` are: every further answer must agree */
    bool optional;         /**< that it is not there is no failure: `absent` then says so */
    bool absent;
} lr_http;

/** @return to be freed; NULL: the failure is reported. */
lr_http *lr_http_new(rec_job *job, const char *url);
void lr_http_free(lr_http *http);

/** Takes bytes as they come, in order. @return a status; what is not REC_OK ends the request. */
typedef int32_t (*lr_http_take)(void *user, rec_job *job, const void *data, uint64_t size);

/** The address of another file in the same folder, to be freed. @param name a plain file name. NULL: out of memory. */
char *lr_http_beside(const lr_http *http, const char *name);

/** Asks for `size` bytes at `offset`. A transfer that breaks is resumed where it broke, a few times.
 *  The first request tells the facts. If the server has no ranges and `offset` is 0, all of the file comes. */
int32_t lr_http_get(lr_http *http, rec_job *job, uint64_t offset, uint64_t size, lr_http_take take, void *user);

#endif
