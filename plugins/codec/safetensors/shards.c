/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Models: one file, or several whose index says which tensor is where; by a file, by an index, or by the folder. What
 * an index names must be in the file that it names, and only there. */
#include <inttypes.h>
#include <stdio.h>

#include "common/names.h"
#include "plugins/codec/beginning.h"

#include "plugins/codec/safetensors/safetensors.h"

#define EXTENSION ".safetensors"
#define INDEX_EXTENSION ".safetensors.index.json"

/* ------------------------------------------------------------------------------------------------------- names -- */

/* Five digits. */
static bool five(const char *text, uint64_t *number)
{
    *number = 0;
    for (int i = 0; i < 5; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        *number = *number * 10 + (uint64_t)(text[i] - '0');
    }
    return true;
}

bool lr_st_is_part(const char *name, uint64_t *stem, uint64_t *part, uint64_t *parts)
{
    static const char tail[] = "-00001-of-00001" EXTENSION;
    size_t length = strlen(name);
    if (length < sizeof tail - 1 || !lr_ends_in(name, EXTENSION)) {
        return false;
    }
    *stem = length - (sizeof tail - 1);
    name += *stem;
    return name[0] == '-' && five(name + 1, part) && memcmp(name + 6, "-of-", 4) == 0 && five(name + 10, parts) &&
           *part >= 1 && *part <= *parts;
}

bool lr_st_is_folder(const char *const *names, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (lr_ends_in(names[i], INDEX_EXTENSION) || lr_ends_in(names[i], EXTENSION)) {
            return true;
        }
    }
    return false;
}

/* Names that end in something, for messages. @param text empty. */
static void list_names(char *text, size_t room, const char *const *names, uint64_t count, const char *end)
{
    size_t used = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (lr_ends_in(names[i], end)) {
            size_t length = strlen(names[i]);
            if (used + length + 8 > room) {
                (void)snprintf(text + used, room - used, ", ...");
                return;
            }
            used += (size_t)snprintf(text + used, room - used, "%s%s", used ? ", " : "", names[i]);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------- files -- */

static int32_t fail_limit(lr_st_model *m, const char *what)
{
    return rec_fail(m->job, REC_E_LIMIT, REC_UNKNOWN, "a model of %s", what);
}

/* Room for the files of a model. */
static int32_t make_files(lr_st_model *m, uint64_t count)
{
    m->files = rec_job_alloc(m->job, (count ? count : 1) * sizeof *m->files);
    if (!m->files) {
        return lr_st_no_memory(m->job);
    }
    memset(m->files, 0, (size_t)(count ? count : 1) * sizeof *m->files);
    return REC_OK;
}

/* Opens one more file. @param source of a companion file, taken; NULL: the model's own. */
static int32_t open_file(lr_st_model *m, rec_source *source)
{
    lr_st_file *f = &m->files[m->file_count++];
    int32_t status;
    f->source = source;
    f->first = m->count;
    status = lr_st_header_open(&f->header, m->job, source ? source : m->source, source != NULL);
    m->count += f->header.count;
    return status == REC_OK && m->count >= INT32_MAX ? fail_limit(m, "more than 2^31 tensors") : status;
}

static int32_t open_beside(lr_st_model *m, const char *name)
{
    rec_source *source;
    int32_t status = rec_source_beside(m->job, m->source, name, &source);
    return status == REC_OK ? open_file(m, source) : status;
}

static void close_files(lr_st_model *m)
{
    for (uint64_t i = 0; i < m->file_count; i++) {
        lr_st_header_close(&m->files[i].header);
        rec_source_release(m->files[i].source);
    }
    rec_job_free(m->job, m->files);
    m->files = NULL;
    m->file_count = m->count = 0;
}

static int32_t open_part(void *self, uint64_t number, rec_source *part)
{
    lr_st_model *m = self;
    int32_t status = number ? REC_OK : make_files(m, m->index.file_count);
    if (status != REC_OK) {
        rec_source_release(part);
        return status;
    }
    return open_file(m, part);
}

static void undo_parts(void *self)
{
    close_files(self);
}

/* Opens the files that the index names. Whatever it names must be where it says; what it does not name is left out.
 * @param source of the index. @param counted to be released with the model. */
static int32_t open_index(lr_st_model *m, rec_source *source, bool counted)
{
    const lr_index_reader reader = {m, LR_INDEX_FILES_MOST, open_part, undo_parts};
    lr_index *x = &m->index;
    int32_t status;
    m->indexed = true;
    status = lr_index_open_ahead(x, m->job, &source, counted, "safetensors", EXTENSION, &reader);
    for (uint64_t f = 0; f < m->file_count && status == REC_OK; f++) {
        lr_st_header *h = &m->files[f].header;
        for (uint64_t i = 0; i < h->count && status == REC_OK; i++) {
            lr_st_entry *e = &h->entries[i];
            bool wanted = false;
            status = lr_index_take(x, f, lr_st_text_at(h, &e->key), e->key.length, &wanted);
            e->mark = wanted ? e->mark : LR_ST_LEFT_OUT;
        }
    }
    return status == REC_OK ? lr_index_done(x) : status;
}

/* ----------------------------------------------------------------------------------------------------- folders -- */

static int32_t fail_folder(lr_st_model *m, const char *const *names, uint64_t count, const char *end, const char *what,
                           const char *todo)
{
    char list[700] = "";
    int32_t status = rec_fail(m->job, REC_E_NOT_FOUND, REC_UNKNOWN, "%s", what);
    list_names(list, sizeof list, names, count, end);
    rec_fail_hint(m->job, "%s", todo);
    if (list[0]) {
        rec_fail_hint(m->job, "Known: %s", list);
    }
    return status;
}

/* All parts, if those that are there are of one model and complete. The names are sorted. */
static int32_t open_parts(lr_st_model *m, const char *const *names, uint64_t count, uint64_t found)
{
    uint64_t stem, part, parts, first_stem = 0, first_parts = 0, expected = 1;
    const char *first = NULL;
    int32_t status = make_files(m, found);
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        if (!lr_st_is_part(names[i], &stem, &part, &parts)) {
            continue;
        }
        if (!first) {
            first = names[i];
            first_stem = stem;
            first_parts = parts;
        }
        if (stem != first_stem || memcmp(names[i], first, (size_t)stem) != 0 || parts != first_parts) {
            return fail_folder(m, names, count, EXTENSION,
                               "the directory holds the parts of several models, and no index",
                               "Move the other models elsewhere, or load the index of one.");
        }
        if (part != expected++) {
            break;
        }
        status = open_beside(m, names[i]);
    }
    if (status == REC_OK && m->file_count < first_parts) {
        char what[128];
        (void)snprintf(what, sizeof what,
                       "part %" PRIu64 " of the %" PRIu64 " parts of the model is not in the directory",
                       m->file_count + 1, first_parts);
        status = fail_folder(m, names, count, EXTENSION, what, "Get the missing parts.");
    }
    return status;
}

static int32_t open_folder(lr_st_model *m, const char *const *names, uint64_t count)
{
    uint64_t indexes = 0, parts = 0, singles = 0, a, b, c;
    const char *index = NULL, *single = NULL;
    int32_t status;
    for (uint64_t i = 0; i < count; i++) {
        if (lr_ends_in(names[i], INDEX_EXTENSION)) {
            indexes++;
            index = names[i];
        } else if (lr_st_is_part(names[i], &a, &b, &c)) {
            parts++;
        } else if (lr_ends_in(names[i], EXTENSION)) {
            singles++;
            single = names[i];
        }
    }
    if (indexes == 1) {
        rec_source *source;
        status = rec_source_beside(m->job, m->source, index, &source);
        return status == REC_OK ? open_index(m, source, true) : status;
    }
    if (indexes > 1) {
        return fail_folder(m, names, count, INDEX_EXTENSION, "the directory holds several models",
                           "Load one by its index.");
    }
    if (parts && !singles) {
        if (parts > LR_INDEX_FILES_MOST) {
            return fail_limit(m, "more than 10,000 files");
        }
        return open_parts(m, names, count, parts);
    }
    if (singles == 1 && !parts) {
        status = make_files(m, 1);
        return status == REC_OK ? open_beside(m, single) : status;
    }
    return fail_folder(m, names, count, EXTENSION,
                       singles ? "the directory holds several safetensors files, and no index"
                               : "the directory holds no safetensors file",
                       singles ? "Load one by its name." : "Give the name of a file.");
}

/* ------------------------------------------------------------------------------------------------------- model -- */

static const char *tensor_of(const void *self, uint64_t number, uint64_t *length)
{
    const lr_st_model *m = self;
    const lr_st_file *f = lr_st_model_file(m, number);
    const lr_st_entry *e = &f->header.entries[number - f->first];
    *length = e->key.length;
    return lr_st_text_at(&f->header, &e->key);
}

const lr_st_file *lr_st_model_file(const lr_st_model *m, uint64_t number)
{
    uint64_t low = 0, high = m->file_count;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (m->files[middle].first <= number) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &m->files[low];
}

/* Each name once, over all files. */
static int32_t index_tensors(lr_st_model *m)
{
    int32_t status = lr_st_keys_reserve(&m->keys, m->job, m->count);
    for (uint64_t f = 0; f < m->file_count && status == REC_OK; f++) {
        const lr_st_file *file = &m->files[f];
        for (uint64_t i = 0; i < file->header.count; i++) {
            const lr_st_entry *e = &file->header.entries[i];
            uint64_t twin = REC_UNKNOWN;
            if (!e->mark) {
                twin = lr_st_keys_add(&m->keys, file->first + i, lr_st_text_at(&file->header, &e->key), e->key.length);
                m->taken++;
            }
            if (twin != REC_UNKNOWN) {
                const lr_st_file *other = lr_st_model_file(m, twin);
                lr_codec_excerpt brief;
                const char *key = lr_codec_shown(&brief, lr_st_text_at(&file->header, &e->key), e->key.length);
                status = other == file
                             ? lr_st_fail_twice(&file->header, &other->header.entries[twin - file->first], e)
                             : rec_fail(m->job, REC_E_FORMAT, lr_st_location(e->at), "the tensor `%s` is in %s, too",
                                        key, lr_base_name(rec_source_name(other->source)));
                status = lr_st_json_damaged(m->job, status);
                if (file->source) {
                    rec_fail_source(m->job, file->source);
                }
                return status;
            }
        }
    }
    return status;
}

/* Whether what is given is text rather than a length: as a length it would be far too large. */
static int32_t looks_like_text(lr_st_model *m, bool *text)
{
    uint8_t first[64];
    uint64_t size, at = 0;
    int32_t status = lr_beginning_at(m->job, m->source, 0, first, sizeof first, &size);
    if (status == REC_OK && lr_beginning_is_all(m->job, m->source)) {
        status = rec_source_rewind(m->job, m->source);
    }
    while (at < size && status == REC_OK && lr_json_is_space(first[at])) {
        at++;
    }
    *text =
        status == REC_OK && at < size && first[at] == '{' && size > 8 && (first[4] | first[5] | first[6] | first[7]);
    return status;
}

int32_t lr_st_model_open(lr_st_model *m, rec_job *job, rec_source *source)
{
    const char *const *names;
    uint64_t count;
    bool text = false;
    int32_t status;
    *m = (lr_st_model){.job = job, .source = source};
    m->keys.text = tensor_of;
    m->keys.self = m;
    status = rec_source_names(job, source, &names, &count);
    if (status == REC_OK && names) {
        status = open_folder(m, names, count);
    } else if (status == REC_OK) {
        status = looks_like_text(m, &text);
        if (status == REC_OK && text) {
            status = open_index(m, source, false);
        } else if (status == REC_OK) {
            status = make_files(m, 1);
            status = status == REC_OK ? open_file(m, NULL) : status;
        }
    }
    return status == REC_OK ? index_tensors(m) : status;
}

void lr_st_model_close(lr_st_model *m)
{
    close_files(m);
    lr_st_keys_close(&m->keys);
    lr_index_close(&m->index);
}
