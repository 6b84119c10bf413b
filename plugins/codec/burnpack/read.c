/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The reader: tensors and scalars under their paths, in the order of their data. No byte of the data is touched. */
#include <string.h>

#include "plugins/codec/burnpack/burnpack.h"

static int32_t tell_metadata(const lr_bpk_header *h, const rec_visitor *visitor, void *self)
{
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < h->pair_count && status == REC_OK; i++) {
        const lr_bpk_pair *pair = &h->pairs[i];
        rec_scalar key = {.kind = REC_KIND_STRING, .v.length = pair->key.length, .text = pair->key.at};
        rec_scalar value = {.kind = REC_KIND_STRING, .v.length = pair->value.length, .text = pair->value.at};
        status = visitor->metadata(self, pair->at, &key, &value);
    }
    return status;
}

static int32_t tell_key(lr_buffer *path, const lr_bpk_text *name, uint64_t at, const rec_visitor *visitor, void *self)
{
    rec_scalar key = {.kind = REC_KIND_STRING, .v.length = name->length, .text = name->at};
    int32_t status = lr_buffer_path(path, &key.text, &key.v.length);
    return status == REC_OK ? visitor->key(self, at, &key) : status;
}

static int32_t tell_tensor(const lr_bpk_header *h, const lr_bpk_entry *e, lr_buffer *path, const rec_visitor *visitor,
                           void *self)
{
    char id[REC_ID_ROOM];
    rec_tensor_event event = {
        .size = sizeof event,
        .dtype = e->dtype,
        .rank = e->rank,
        .shape = e->rank ? h->dims + e->dims : NULL, /* NULL without any dimensions */
        .id = e->has_id ? rec_id_text(e->id, id) : NULL,
        .dtype_name = e->dtype == REC_DTYPE_QFLOAT ? h->words + e->words : NULL,
        .data = {.size = sizeof event.data,
                 .kind = REC_BLOB_RANGE,
                 .length = e->end - e->begin,
                 .source = h->source,
                 .offset = h->data + e->begin},
    };
    int32_t status = tell_key(path, &e->name, e->at, visitor, self);
    return status == REC_OK ? visitor->tensor(self, e->at, &event) : status;
}

int32_t lr_bpk_read(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    lr_bpk_header h;
    lr_buffer path = {.job = job};
    int32_t status = lr_bpk_header_open(&h, job, source);
    status = status == REC_OK ? tell_metadata(&h, visitor, self) : status;
    if (status == REC_OK) {
        status = visitor->map_begin(self, LR_BPK_PREFIX, REC_FORM_PATHS, h.count + h.scalar_count);
    }
    for (uint64_t i = 0; i < h.count && status == REC_OK; i++) {
        status = tell_tensor(&h, &h.entries[i], &path, visitor, self);
    }
    for (uint64_t i = 0; i < h.scalar_count && status == REC_OK; i++) {
        const lr_bpk_pair *pair = &h.scalars[i];
        status = tell_key(&path, &pair->key, pair->at, visitor, self);
        status = status == REC_OK ? visitor->scalar(self, pair->at, &pair->scalar) : status;
    }
    status = status == REC_OK ? visitor->end(self, REC_UNKNOWN) : status;
    rec_job_free(job, path.data);
    lr_bpk_header_close(&h);
    return status;
}

int32_t lr_bpk_probe(const rec_head *head)
{
    return head->length >= sizeof lr_bpk_magic && memcmp(head->data, lr_bpk_magic, sizeof lr_bpk_magic) == 0
               ? head->length >= 6 && head->data[4] <= LR_BPK_VERSION && head->data[5] == 0 ? 48 : 32
               : 0;
}
