/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The reader: metadata and tensors of one file, or of a model split into several, as events. */
#include <inttypes.h>
#include <stdio.h>

#include "common/names.h"
#include "plugins/codec/gguf/header.h"
#include "plugins/codec/buffer.h"

/** The files to read: the given file, and further parts of a split model. */
typedef struct model {
    rec_job *job;
    lr_gguf_header *parts; /**< `count` of them */
    uint64_t count;
    lr_buffer path; /**< a name as a path */
} model;

/* ------------------------------------------------------------------------------------------------------- parts -- */

/* "model-00001-of-00003.gguf" is where the name of a first part ends: 5 digits, "-of-", 5 digits, the extension. */
static bool name_part(char *name, uint64_t part)
{
    static const char like[] = "-00001-of-";
    size_t length = strlen(name);
    char digits[24], *at;
    if (length < 20 || part + 1 > 99999) {
        return false;
    }
    at = name + length - 20;
    if (strncmp(at, like, sizeof like - 1) != 0 || strcmp(at + 15, ".gguf") != 0) {
        return false;
    }
    (void)snprintf(digits, sizeof digits, "%05" PRIu64, part + 1);
    memcpy(at + 1, digits, 5);
    return true;
}

static int32_t open_part(model *m, rec_source *first, uint64_t part)
{
    lr_gguf_header *h = &m->parts[part];
    const char *whole = rec_source_name(first);
    rec_source *source = NULL;
    char name[256];
    int32_t status;
    if (snprintf(name, sizeof name, "%s", lr_base_name(whole)) >= (int)sizeof name || !name_part(name, part)) {
        status = rec_fail_found(m->job, REC_E_FORMAT, REC_UNKNOWN, "the name of a first part, NAME-00001-of-0000N.gguf",
                                "%.200s, whose metadata say that it is one of %" PRIu64, whole, m->count);
        rec_fail_hint(m->job, "The other parts are found by that name: give the file its name back.");
        return status;
    }
    status = rec_source_beside(m->job, first, name, &source);
    if (status != REC_OK) {
        return status;
    }
    status = lr_gguf_header_read(h, m->job, source, NULL, NULL);
    if (status == REC_OK && (h->split_count != m->count || h->split_no != part)) {
        status = rec_fail_found(m->job, REC_E_FORMAT, REC_UNKNOWN, "the next part of a split model",
                                "part %" PRIu64 " of %" PRIu64 " where %" PRIu64 " of %" PRIu64 " was expected",
                                h->split_no + 1, h->split_count, part + 1, m->count);
    }
    if (status == REC_OK && h->others) {
        rec_job_note(m->job, REC_NOTE_DROPPED, "",
                     "%" PRIu64 " metadata entr%s of the part %s: those of the first part count", h->others,
                     h->others == 1 ? "y" : "ies", name);
    }
    if (status != REC_OK) {
        rec_fail_source(m->job, source);
    }
    if (h->source != source) {
        rec_source_release(source);
    }
    return status;
}

static int32_t open_parts(model *m)
{
    lr_gguf_header *first = &m->parts[0], *parts;
    rec_source *source = first->source;
    uint64_t count = first->split_count;
    int32_t status = REC_OK;
    if (count <= 1) {
        return REC_OK;
    }
    if (first->split_no) {
        rec_job_note(m->job, REC_NOTE_LAYOUT, "",
                     "this is part %" PRIu64 " of a model in %" PRIu64 " parts: its first part loads the whole",
                     first->split_no + 1, count);
        return REC_OK;
    }
    if (count > LR_GGUF_PARTS_MOST) {
        return rec_fail_found(m->job, REC_E_FORMAT, REC_UNKNOWN, "at most 99,999 parts", "%" PRIu64, count);
    }
    for (uint64_t i = 1; i < count && status == REC_OK; i++) {
        parts = rec_job_resize(m->job, m->parts, (i + 1) * sizeof *parts);
        if (!parts) {
            return rec_fail(m->job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for %" PRIu64 " parts", count);
        }
        m->parts = parts;
        memset(&parts[i], 0, sizeof *parts);
        m->count = count;
        status = open_part(m, source, i);
        m->count = i + 1;
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------------- tensors -- */

/* @param alone the tensor is the record: it has no key */
static int32_t tell_tensor(model *m, const lr_gguf_header *h, const lr_gguf_tensor *t, bool alone,
                           const rec_visitor *visitor, void *self)
{
    rec_tensor_event event = {.size = sizeof event,
                              .dtype = t->type->dtype,
                              .rank = t->rank,
                              .shape = t->shape,
                              .dtype_name = t->type->dtype == REC_DTYPE_OPAQUE ? t->type->name : NULL,
                              .data = {.size = sizeof(rec_blob),
                                       .kind = REC_BLOB_RANGE,
                                       .length = t->size,
                                       .source = h->source,
                                       .offset = h->data + t->offset}};
    rec_scalar key = {.kind = REC_KIND_STRING, .v.length = t->length, .text = h->names + t->name};
    int32_t status = alone ? REC_OK : lr_buffer_path(&m->path, &key.text, &key.v.length);
    status = status == REC_OK && !alone ? visitor->key(self, t->at, &key) : status;
    return status == REC_OK ? visitor->tensor(self, t->at, &event) : status;
}

static int32_t tell_tensors(model *m, const rec_visitor *visitor, void *self)
{
    const lr_gguf_header *first = &m->parts[0];
    uint64_t count = 0;
    int32_t status;
    for (uint64_t i = 0; i < m->count; i++) {
        count += m->parts[i].tensor_count;
    }
    if (count == 1 && first->tensor_count == 1 &&
        !first->tensors[0].length) { /* what nothing is the name of is the record */
        return tell_tensor(m, first, &first->tensors[0], true, visitor, self);
    }
    status = visitor->map_begin(self, REC_UNKNOWN, REC_FORM_PATHS, count);
    for (uint64_t i = 0; i < m->count && status == REC_OK; i++) {
        const lr_gguf_header *h = &m->parts[i];
        for (uint64_t j = 0; j < h->tensor_count && status == REC_OK; j++) {
            status = tell_tensor(m, h, &h->tensors[j], false, visitor, self);
        }
        if (status != REC_OK && i) {
            rec_fail_source(m->job, h->source);
        }
    }
    return status == REC_OK ? visitor->end(self, REC_UNKNOWN) : status;
}

int32_t lr_gguf_read(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    model m = {.job = job, .count = 1, .path.job = job};
    int32_t status = REC_OK;
    m.parts = rec_job_alloc(job, sizeof *m.parts);
    if (!m.parts) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for the header");
    }
    memset(m.parts, 0, sizeof *m.parts);
    status = lr_gguf_header_read(&m.parts[0], job, source, visitor, self);
    if (status == REC_OK && m.parts[0].burn) {
        status = rec_job_set_adapter(job, "burn");
    }
    status = status == REC_OK ? open_parts(&m) : status;
    status = status == REC_OK ? tell_tensors(&m, visitor, self) : status;
    for (uint64_t i = 0; i < m.count; i++) {
        lr_gguf_header_free(&m.parts[i], job);
        if (i) {
            rec_source_release(m.parts[i].source);
        }
    }
    rec_job_free(job, m.path.data);
    rec_job_free(job, m.parts);
    return status;
}

int32_t lr_gguf_probe(const rec_head *head)
{
    if (head->length < 8 || memcmp(head->data, LR_GGUF_MAGIC, 4) != 0) {
        return 0;
    }
    return 48;
}
