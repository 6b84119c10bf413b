/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What was fetched of a file, kept in a folder: blocks of it, and which of them are there. It counts as long as the
 * server's file has the size and the tag that it had. Of one process at a time; others do without. */
#ifndef LR_HTTP_CACHE_H
#define LR_HTTP_CACHE_H

#include "plugins/codec/http/transfer.h"

#define LR_HTTP_BLOCK (UINT64_C(1) << 20)

typedef struct lr_http_cache lr_http_cache;

/** Opens the cache of a file in the directory LIBRECORD_CACHE. Returns NULL if the variable is not set or the server
 * gives no size or no ranges; and with a note that says why, if the file cannot be kept or the directory cannot be
 * trusted. */
lr_http_cache *lr_http_cache_open(rec_job *job, const lr_http *http);
/** Writes down what is there. NULL is ignored. */
void lr_http_cache_close(lr_http_cache *cache);
/** @return how many blocks from `first` on are there (`there`) or are not, at most `most`. */
uint64_t lr_http_cache_run(const lr_http_cache *cache, uint64_t first, uint64_t most, bool there);
/** Reads bytes of blocks that are there. @return 0 or an errno. */
int lr_http_cache_read(const lr_http_cache *cache, uint64_t offset, void *target, uint64_t size);
/** Writes bytes of a block that is being fetched. @return as above. */
int lr_http_cache_write(lr_http_cache *cache, uint64_t offset, const void *data, uint64_t size);
/** Blocks are whole. */
void lr_http_cache_keep(lr_http_cache *cache, uint64_t first, uint64_t count);

#endif
