/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sources and blobs on loan to plugins. A table has each reference given to a plugin: a reference released twice is
 * rejected without access to freed memory, and one that is not released is found when the call ends. */
#include <inttypes.h>

#include "core/io/io_private.h"

/* Chains through the sources themselves: a table that needs no memory. */
enum { CHAINS = 256 };

static rec_source *chains[CHAINS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static rec_source **chain_of(const rec_source *source)
{
    return &chains[((uintptr_t)source >> 5) * UINT64_C(0x9e3779b97f4a7c15) >> 56];
}

/* The link that leads to a source, or NULL. Under the lock. */
static rec_source **find(const rec_source *source)
{
    rec_source **link = chain_of(source);
    while (*link && *link != source) {
        link = &(*link)->handed_next;
    }
    return *link ? link : NULL;
}

void lr_source_hand(rec_source *source, bool kept)
{
    lr_call *call = lr_call_now();
    (void)pthread_mutex_lock(&lock);
    if (!find(source)) {
        rec_source **chain = chain_of(source);
        source->handed = 0;
        source->handed_in = NULL;
        source->handed_next = *chain;
        *chain = source;
    }
    source->handed++;
    if (kept) {
        source->handed_in = NULL; /* whatever else it has of it may be in the same hands */
    } else if (call && call->kind == LR_CALL_LOAD) {
        source->handed_in = call;
        call->handed++;
    }
    (void)pthread_mutex_unlock(&lock);
}

bool lr_source_take_back(rec_source *source)
{
    rec_source **link;
    (void)pthread_mutex_lock(&lock);
    link = find(source);
    if (link && --source->handed == 0) {
        *link = source->handed_next;
    }
    (void)pthread_mutex_unlock(&lock);
    return link != NULL;
}

/* One that was handed out in a call and is still. */
static rec_source *left_of(const lr_call *call)
{
    rec_source *left = NULL;
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < CHAINS && !left; i++) {
        left = chains[i];
        while (left && left->handed_in != call) {
            left = left->handed_next;
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return left;
}

uint64_t lr_sources_left(const lr_call *call)
{
    rec_source *source;
    uint64_t count = 0;
    while (call->handed && (source = left_of(call)) != NULL) {
        count++;
        while (source->handed > 1) {
            (void)lr_source_take_back(source);
            lr_source_release(source);
        }
        (void)lr_source_take_back(source);
        lr_source_release(source);
    }
    return count;
}

rec_source *rec_source_retain(rec_source *source)
{
    if (LR_LACKS(NULL, source)) {
        return NULL;
    }
    lr_source_hand(source, true);
    return lr_source_retain(source);
}

void rec_source_release(rec_source *source)
{
    if (!source) {
        return;
    }
    if (!lr_source_take_back(source) && lr_call_now()) {
        (void)lr_breach(NULL, REC_UNKNOWN, "released a source that it does not own");
        return;
    }
    lr_source_release(source);
}

/* ------------------------------------------------------------------------------------------------------- blobs -- */

static bool lies_in_view(const rec_blob *blob)
{
    uint64_t whole = rec_source_size(blob->source);
    const uint8_t *view = lr_source_in_memory(blob->source, 0, 0);
    uintptr_t begin = (uintptr_t)view, at = (uintptr_t)blob->data;
    return blob->length == 0 || (view && at >= begin && at - begin <= whole && blob->length <= whole - (at - begin));
}

int32_t lr_blob_lent(rec_job *job, uint64_t at, const rec_blob *blob, rec_blob *copy)
{
    int32_t status = lr_blob_check(job, blob, copy);
    if (status != REC_OK) {
        return status;
    }
    if (copy->kind == REC_BLOB_VIEW && !copy->source) {
        return lr_breach(job, at, "gave a blob of REC_BLOB_VIEW without its source");
    }
    if (copy->kind == REC_BLOB_VIEW && !lies_in_view(copy)) {
        return lr_breach(job, at, "gave a blob of %" PRIu64 " bytes that do not lie in the view of its source",
                         copy->length);
    }
    if (copy->kind == REC_BLOB_RANGE) {
        uint64_t whole = rec_source_size(copy->source);
        if (whole != REC_UNKNOWN && (copy->offset > whole || copy->length > whole - copy->offset)) {
            return lr_io_fail(job, copy->source->name, REC_E_FORMAT, copy->offset, "The file is truncated or damaged.",
                              "%" PRIu64 " bytes are expected here, but the file has %" PRIu64, copy->length, whole);
        }
    }
    return REC_OK;
}
