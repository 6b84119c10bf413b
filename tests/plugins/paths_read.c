/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The reader of the flat format: what stands in the file is told as it comes, data where they lie. */

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "paths.h"

struct reader {
    rec_job *job;
    const rec_visitor *visitor;
    void *self;
    rec_source *source;
    const uint8_t *data;
    uint64_t size, at;
    bool begun; /**< the map of tensors */
    char *key;  /**< as core is told it */
    uint64_t room;
    uint64_t hint; /* of the next tensor */
};

/** @param out (out) the next `size` bytes. */
static int32_t take(struct reader *r, uint64_t size, const uint8_t **out)
{
    if (size > r->size - r->at) {
        return rec_fail_found(r->job, REC_E_FORMAT, r->at, "more of an entry", "the end of the file");
    }
    *out = r->data + r->at;
    r->at += size;
    return REC_OK;
}

static int32_t number(struct reader *r, unsigned bytes, uint64_t *out)
{
    const uint8_t *from;
    int32_t status = take(r, bytes, &from);

    *out = 0;
    for (unsigned i = bytes; i > 0 && status == REC_OK; i--) {
        *out = *out << 8 | from[i - 1];
    }
    return status;
}

static int32_t text(struct reader *r, rec_scalar *out)
{
    const uint8_t *from = NULL;
    uint64_t at = r->at, length;
    int32_t status = number(r, 4, &length);

    if (status == REC_OK && length > TEXT_MOST) {
        return rec_fail(r->job, REC_E_FORMAT, at, "a text of %" PRIu64 " bytes", length);
    }
    status = status == REC_OK ? take(r, length, &from) : status;
    *out = (rec_scalar){.kind = REC_KIND_STRING, .v.length = length, .text = (const char *)from};
    return status;
}

/** A key. With the option `verbatim` the file has names as they are, whose backslashes have to be escaped. */
static int32_t tell_key(struct reader *r, uint64_t at, rec_scalar key)
{
    if (rec_job_option_int(r->job, "verbatim")) {
        uint64_t length = rec_path_escape(key.text, key.v.length, r->key, r->room);
        if (length >= r->room) {
            char *wider = rec_job_resize(r->job, r->key, length + 1);
            if (wider == NULL) {
                return REC_E_MEMORY;
            }
            r->key = wider;
            r->room = length + 1;
            (void)rec_path_escape(key.text, key.v.length, r->key, r->room);
        }
        key.text = r->key;
        key.v.length = length;
    }
    return r->visitor->key(r->self, at, &key);
}

static int32_t begin(struct reader *r, uint64_t at)
{
    bool first = !r->begun;

    r->begun = true;
    return first ? r->visitor->map_begin(r->self, at, REC_FORM_PATHS, REC_UNKNOWN) : REC_OK;
}

static int32_t tensor(struct reader *r, uint64_t at)
{
    uint64_t shape[RANK_MOST], dtype, rank, size, offset;
    const uint8_t *data;
    char id[65];
    rec_scalar key, about;
    rec_tensor_event event = {.size = sizeof event, .shape = shape};
    int32_t status = text(r, &key);

    status = status == REC_OK ? text(r, &about) : status;
    status = status == REC_OK ? number(r, 4, &dtype) : status;
    status = status == REC_OK ? number(r, 4, &rank) : status;
    if (status != REC_OK) {
        return status;
    }
    if (about.v.length >= sizeof id || rank > RANK_MOST || dtype > REC_DTYPE_BOOL) {
        return rec_fail(r->job, REC_E_FORMAT, at, "a tensor of rank %" PRIu64 " and type %" PRIu64, rank, dtype);
    }
    memcpy(id, about.text, (size_t)about.v.length);
    id[about.v.length] = '\0';
    for (uint64_t i = 0; i < rank && status == REC_OK; i++) {
        status = number(r, 8, &shape[i]);
    }
    status = status == REC_OK ? number(r, 8, &size) : status;
    offset = r->at;
    status = status == REC_OK ? take(r, size, &data) : status;
    status = status == REC_OK ? begin(r, at) : status;
    status = status == REC_OK ? tell_key(r, at, key) : status;
    if (status != REC_OK) {
        return status;
    }
    event.dtype = (rec_dtype)dtype;
    event.rank = (uint32_t)rank;
    event.transposed = (int32_t)r->hint;
    r->hint = 0;
    event.id = id[0] != '\0' ? id : NULL;
    event.data = (rec_blob){.size = sizeof event.data,
                            .kind = REC_BLOB_VIEW,
                            .length = size,
                            .data = data,
                            .source = r->source,
                            .offset = offset};
    return r->visitor->tensor(r->self, at, &event);
}

static int32_t metadata(struct reader *r, uint64_t at)
{
    rec_scalar key, value;
    int32_t status = text(r, &key);

    status = status == REC_OK ? text(r, &value) : status;
    return status == REC_OK ? r->visitor->metadata(r->self, at, &key, &value) : status;
}

/** What core refuses: a map of paths that is not the outermost value. */
static int32_t nested(struct reader *r, uint64_t at)
{
    rec_scalar key;
    int32_t status = text(r, &key);

    status = status == REC_OK ? begin(r, at) : status;
    status = status == REC_OK ? tell_key(r, at, key) : status;
    status = status == REC_OK ? r->visitor->map_begin(r->self, at, REC_FORM_PATHS, 0) : status;
    return status == REC_OK ? r->visitor->end(r->self, at) : status;
}

static int32_t read_all(struct reader *r)
{
    const uint8_t *letter;
    uint64_t adapter;
    int32_t status = take(r, MAGIC, &letter);

    if (status == REC_OK && memcmp(letter, "RECPATHS", MAGIC) != 0) {
        return rec_fail(r->job, REC_E_FORMAT, 0, "no RECPATHS");
    }
    while (status == REC_OK) {
        uint64_t at = r->at;
        status = take(r, 1, &letter);
        if (status != REC_OK) {
            break;
        }
        switch (*letter) {
        case 'm':
            status = metadata(r, at);
            break;
        case 'a':
            status = number(r, 1, &adapter);
            status = status == REC_OK
                         ? rec_job_set_adapter(r->job, adapter < PATHS_ADAPTERS ? paths_adapters[adapter] : "no name")
                         : status;
            break;
        case 'h':
            status = number(r, 1, &r->hint);
            break;
        case 't':
            status = tensor(r, at);
            break;
        case 'n':
            status = nested(r, at);
            break;
        case 'e':
            if (r->at != r->size) {
                return rec_fail(r->job, REC_E_FORMAT, r->at, "bytes after the end");
            }
            status = begin(r, at);
            return status == REC_OK ? r->visitor->end(r->self, at) : status;
        default:
            return rec_fail(r->job, REC_E_FORMAT, at, "an entry of kind 0x%02x", *letter);
        }
    }
    return status;
}

int32_t paths_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    struct reader r = {.job = job, .visitor = visitor, .self = self, .source = source};
    const void *data;
    int32_t status = rec_source_view(job, source, &data, &r.size);

    r.data = data;
    status = status == REC_OK ? read_all(&r) : status;
    rec_job_free(job, r.key);
    return status;
}
