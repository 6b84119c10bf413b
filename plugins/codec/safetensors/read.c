/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The reader: the tensors of one or several files as events. Only headers are read. */
#include <inttypes.h>
#include <stdlib.h>

#include "plugins/codec/safetensors/safetensors.h"
#include "plugins/codec/little.h"

const rec_option lr_st_record = {
    .size = sizeof lr_st_record,
    .type = REC_OPTION_BOOL,
    .name = "record",
    .initial = "yes",
    .help = "keep what a flat map of tensors does not hold (ids, scalars, lists) in the metadata; no: leave it out",
};

/* ---------------------------------------------------------------------------------------------------- metadata -- */

/* An entry of `__metadata__` in one of the files, or of an index. */
typedef struct entry {
    const char *key, *value;
    uint64_t key_length, length;
    uint64_t order;
    uint64_t at;
    rec_source *source; /* to be named in failures, or NULL */
    bool again;         /* another file has it */
    bool typed;         /* the text of those that are no texts */
} entry;

static int by_key(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int order = lr_text_order(x->key, x->key_length, y->key, y->key_length);
    return order ? order : x->order < y->order ? -1 : 1;
}

static int by_order(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->order < y->order ? -1 : 1;
}

static uint64_t gather(entry *entries, uint64_t count, const lr_st_json *json, const lr_st_pair *pairs,
                       uint64_t pair_count, rec_source *source, uint64_t place)
{
    for (uint64_t i = 0; i < pair_count; i++) {
        if (!lr_st_json_is(json, &pairs[i].key, LR_ST_RECORD_KEY)) {
            entries[count] = (entry){.key = lr_st_json_text(json, &pairs[i].key),
                                     .value = lr_st_json_text(json, &pairs[i].value),
                                     .key_length = pairs[i].key.length,
                                     .length = pairs[i].value.length,
                                     .order = count,
                                     .at = place + pairs[i].at,
                                     .source = source,
                                     .typed = lr_st_json_is(json, &pairs[i].key, LR_ST_TYPED_KEY)};
            count++;
        }
    }
    return count;
}

/* The files of a model repeat their metadata: reported once. Of differing entries the first counts. */
static void drop_repeated(lr_st_model *m, entry *entries, uint64_t count)
{
    qsort(entries, (size_t)count, sizeof *entries, by_key);
    for (uint64_t i = 1, first = 0; i < count; i++) {
        const entry *before = &entries[first];
        entry *e = &entries[i];
        if (e->key_length != before->key_length || memcmp(e->key, before->key, (size_t)e->key_length) != 0) {
            first = i;
        } else if (e->source != before->source) {
            e->again = true;
            if (e->length != before->length || memcmp(e->value, before->value, (size_t)e->length) != 0) {
                lr_codec_excerpt brief;
                rec_job_note(m->job, REC_NOTE_DROPPED, "",
                             "the files of the model differ in the metadata entry `%s`: that of the first is used",
                             lr_codec_shown(&brief, e->key, e->key_length));
            }
        }
    }
    qsort(entries, (size_t)count, sizeof *entries, by_order);
}

/* What a file says in words of librecord's. */
static int32_t tell_typed(lr_st_model *m, const entry *e, const rec_visitor *visitor, void *self)
{
    if (!rec_job_option_int(m->job, "record")) {
        rec_job_note(m->job, REC_NOTE_DROPPED, "", "metadata that are not texts: left out because of record = no");
        return REC_OK;
    }
    return lr_st_metadata_read(m, e->source, e->value, e->length, e->at, visitor, self);
}

static int32_t tell_metadata(lr_st_model *m, const rec_visitor *visitor, void *self)
{
    uint64_t count = m->index.pair_count, used;
    entry *entries;
    int32_t status = REC_OK;
    for (uint64_t f = 0; f < m->file_count; f++) {
        count += m->files[f].header.pair_count;
    }
    if (!count) {
        return REC_OK;
    }
    entries = rec_job_alloc(m->job, count * sizeof *entries);
    if (!entries) {
        return lr_st_no_memory(m->job);
    }
    used = gather(entries, 0, &m->index.json, m->index.pairs, m->index.pair_count, m->index.source, 0);
    for (uint64_t f = 0; f < m->file_count; f++) {
        const lr_st_header *h = &m->files[f].header;
        used = gather(entries, used, &h->json, h->pairs, h->pair_count, m->files[f].source, 8);
    }
    if (m->file_count + m->indexed > 1) {
        drop_repeated(m, entries, used);
    }
    for (uint64_t i = 0; i < used && status == REC_OK; i++) {
        const entry *e = &entries[i];
        rec_scalar key = {.kind = REC_KIND_STRING, .v.length = e->key_length, .text = e->key};
        rec_scalar value = {.kind = REC_KIND_STRING, .v.length = e->length, .text = e->value};
        if (e->again) {
            continue;
        }
        if (e->typed) {
            status = tell_typed(m, e, visitor, self);
        } else {
            status = lr_st_set_adapter(m->job, &key, &value);
            status = status == REC_OK ? visitor->metadata(self, e->at, &key, &value) : status;
        }
        if (status != REC_OK && e->source) {
            rec_fail_source(m->job, e->source);
        }
    }
    rec_job_free(m->job, entries);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- tensors -- */

static int32_t tell_tensors(lr_st_model *m, const rec_visitor *visitor, void *self)
{
    lr_buffer path = {.job = m->job};
    int32_t status = visitor->map_begin(self, m->file_count ? 8 : REC_UNKNOWN, REC_FORM_PATHS, m->taken);
    for (uint64_t f = 0; f < m->file_count && status == REC_OK; f++) {
        const lr_st_file *file = &m->files[f];
        const lr_st_header *h = &file->header;
        for (uint64_t i = 0; i < h->count && status == REC_OK; i++) {
            const lr_st_entry *e = &h->entries[i];
            rec_scalar key = {.kind = REC_KIND_STRING, .v.length = e->key.length};
            rec_tensor_event event;
            if (e->mark) {
                continue;
            }
            key.text = lr_st_text_at(h, &e->key);
            event = lr_st_event(h, e);
            status = lr_buffer_path(&path, &key.text, &key.v.length);
            status = status == REC_OK ? visitor->key(self, lr_st_location(e->at), &key) : status;
            status = status == REC_OK ? visitor->tensor(self, lr_st_location(e->at), &event) : status;
        }
        if (status != REC_OK && file->source) {
            rec_fail_source(m->job, file->source);
        }
    }
    rec_job_free(m->job, path.data);
    return status == REC_OK ? visitor->end(self, REC_UNKNOWN) : status;
}

/* --------------------------------------------------------------------------------------------------- the whole -- */

/* The text that tells the whole record, of the index or of the file. */
static bool find_text(const lr_st_model *m, const lr_st_json **json, const lr_st_pair **pair)
{
    const lr_st_json *where = m->indexed ? &m->index.json : m->file_count == 1 ? &m->files[0].header.json : NULL;
    const lr_st_pair *pairs = m->indexed ? m->index.pairs : where ? m->files[0].header.pairs : NULL;
    uint64_t count = m->indexed ? m->index.pair_count : where ? m->files[0].header.pair_count : 0;
    for (uint64_t i = 0; i < count; i++) {
        if (lr_st_json_is(where, &pairs[i].key, LR_ST_RECORD_KEY)) {
            *json = where;
            *pair = &pairs[i];
            return true;
        }
    }
    return false;
}

/* Says what a caller may have missed. */
static void note_oddities(lr_st_model *m)
{
    uint64_t stem, part, parts;
    if (m->index.left_out) {
        rec_job_note(m->job, REC_NOTE_DROPPED, "",
                     "%" PRIu64 " entr%s of the index's metadata other than text: left out", m->index.left_out,
                     m->index.left_out == 1 ? "y" : "ies");
    }
    if (m->file_count == 1 && !m->files[0].source &&
        lr_st_is_part(lr_base_name(rec_source_name(m->source)), &stem, &part, &parts) && parts > 1) {
        rec_job_note(m->job, REC_NOTE_LAYOUT, "",
                     "this is part %" PRIu64 " of a model in %" PRIu64
                     " parts: its index, or the directory, loads the whole",
                     part, parts);
    }
}

int32_t lr_st_read(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    lr_st_model model;
    const lr_st_json *json = NULL;
    const lr_st_pair *pair = NULL;
    int32_t status = lr_st_model_open(&model, job, source);
    if (status == REC_OK) {
        bool wanted = rec_job_option_int(job, "record") != 0, there = find_text(&model, &json, &pair);
        note_oddities(&model);
        if (wanted && there) {
            uint64_t at = (model.indexed ? 0 : 8) + (uint64_t)pair->at;
            status =
                lr_st_record_read(&model, lr_st_json_text(json, &pair->value), pair->value.length, at, visitor, self);
        } else {
            if (there) {
                rec_job_note(job, REC_NOTE_DROPPED, "",
                             "the structure of the record: left out because of the option record = no");
            }
            status = tell_metadata(&model, visitor, self);
            status = status == REC_OK ? tell_tensors(&model, visitor, self) : status;
        }
    }
    lr_st_model_close(&model);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- probing -- */

/* Whether an index is one of safetensors files, by the first that it names, or if that is too far behind, by its own
 * name: "pytorch_model.bin.index.json" is another's. */
static bool names_ours(const rec_head *head, const char *file, uint64_t size)
{
    return file ? lr_text_ends(file, size, ".safetensors")
                : !head->name || !lr_text_ends(head->name, strlen(head->name), ".bin.index.json");
}

/* By the content: bits that agree. */
static int32_t probe_content(const rec_head *head)
{
    uint64_t length, at = 8, size;
    const char *file;
    if (lr_index_probe(head->data, head->length, &file, &size)) {
        return names_ours(head, file, size) ? 160 : 0; /* more than JSON, which it is, too */
    }
    if (head->length < 10) {
        return 0;
    }
    length = lr_little(head->data, 8);
    if (length < 2 || length > LR_ST_HEADER_MOST) {
        return 0;
    }
    while (at < head->length && lr_json_is_space(head->data[at])) {
        at++;
    }
    if (at == head->length || head->data[at++] != '{') {
        return 0;
    }
    while (at < head->length && lr_json_is_space(head->data[at])) {
        at++;
    }
    if (at == head->length || (head->data[at] != '"' && head->data[at] != '}')) {
        return 0;
    }
    return head->total != REC_UNKNOWN && length > head->total - 8 ? 48 : 80;
}

int32_t lr_st_probe(const rec_head *head)
{
    int32_t bits;
    if (head->names) {
        return lr_st_is_folder(head->names, head->name_count) ? 100 : 0;
    }
    bits = probe_content(head);
    if (!bits && head->length && head->name && lr_ends_in(head->name, ".safetensors")) {
        return 20; /* the reader of the format has the better message */
    }
    return bits;
}
