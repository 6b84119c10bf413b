/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Models: one file, or several whose index says which tensor is where; by a file, by an index, or by the folder. What an
 * index names must be in the file that it names, and only there. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/codec/safetensors/safetensors.h"

enum { FILES_MOST = 10000 };

#define EXTENSION ".safetensors"
#define INDEX_EXTENSION ".safetensors.index.json"

/* ---------------------------------------------------------------------------------------------------------- names -- */

static bool ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

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
    if (length < sizeof tail - 1 || !ends_in(name, EXTENSION)) {
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
        if (ends_in(names[i], INDEX_EXTENSION) || ends_in(names[i], EXTENSION)) {
            return true;
        }
    }
    return false;
}

/* Names that end in something, for messages. */
static void list_names(char *text, size_t room, const char *const *names, uint64_t count, const char *end)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint64_t i = 0; i < count; i++) {
        if (ends_in(names[i], end)) {
            size_t length = strlen(names[i]);
            if (used + length + 8 > room) {
                (void)snprintf(text + used, room - used, ", ...");
                return;
            }
            used += (size_t)snprintf(text + used, room - used, "%s%s", used ? ", " : "", names[i]);
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------- index -- */

/* Moves behind a comma or the end of a map. @param more (out) whether there is another entry. */
static int32_t next_entry(lr_st_json *json, bool *more)
{
    *more = lr_st_json_comma(json);
    return *more ? REC_OK : lr_st_json_expect(json, '}', "`,` or `}`");
}

/* One entry of text by text, at the cursor. */
static int32_t text_entry(lr_st_json *json, lr_st_pair **pairs, uint64_t *count, uint64_t *room, const char *words)
{
    lr_st_pair *pair;
    int32_t status;
    if (!lr_st_grow(json->job, (void **)pairs, *count, room, 1, sizeof **pairs)) {
        return lr_st_no_memory(json->job);
    }
    pair = &(*pairs)[*count];
    lr_st_json_skip(json);
    pair->at = lr_st_json_at(json);
    status = lr_st_json_string(json, &pair->key, "a key in quotes");
    status = status == REC_OK ? lr_st_json_expect(json, ':', "`:` after a key") : status;
    status = status == REC_OK ? lr_st_json_string(json, &pair->value, words) : status;
    *count += status == REC_OK;
    return status;
}

static bool text_is(const lr_st_json *json, const lr_st_text *text, const char *word)
{
    return text->length == strlen(word) && memcmp(lr_st_json_text(json, text), word, text->length) == 0;
}

/* `metadata` of an index holds anything. Text is kept; what can be worked out from the tensors is not. */
static int32_t index_metadata(lr_st_index *x)
{
    lr_st_json *json = &x->json;
    int32_t status = REC_OK;
    bool more;
    if (!lr_st_json_next(json, '{')) {
        return lr_st_json_foreign(json);
    }
    json->in.at++;
    more = !lr_st_json_next(json, '}');
    json->in.at += !more;
    while (status == REC_OK && more) {
        const uint8_t *at;
        lr_st_text key;
        lr_st_json_skip(json);
        at = json->in.at;
        status = lr_st_json_string(json, &key, "a key in quotes");
        status = status == REC_OK ? lr_st_json_expect(json, ':', "`:` after a key") : status;
        if (status == REC_OK && lr_st_json_next(json, '"')) {
            json->in.at = at;
            status = text_entry(json, &x->pairs, &x->pair_count, &x->pair_room, "a string");
        } else if (status == REC_OK) {
            x->left_out += !text_is(json, &key, "total_size") && !text_is(json, &key, "total_parameters");
            status = lr_st_json_foreign(json);
        }
        status = status == REC_OK ? next_entry(json, &more) : status;
    }
    return status;
}

static int32_t weight_map(lr_st_index *x)
{
    lr_st_json *json = &x->json;
    int32_t status = lr_st_json_expect(json, '{', "`weight_map`, a map from tensors to files");
    bool more = status == REC_OK && !lr_st_json_next(json, '}');
    if (status == REC_OK && !more) {
        json->in.at++;
    }
    while (status == REC_OK && more) {
        status = text_entry(json, &x->weights, &x->count, &x->room, "the name of a file in quotes");
        status = status == REC_OK ? next_entry(json, &more) : status;
    }
    return status;
}

static int32_t parse_index(lr_st_index *x)
{
    lr_st_json *json = &x->json;
    int32_t status = lr_st_json_expect(json, '{', "an index, a JSON object with `weight_map`");
    bool more = status == REC_OK && !lr_st_json_next(json, '}'), seen_map = false, seen_metadata = false;
    if (status == REC_OK && !more) {
        json->in.at++;
    }
    while (status == REC_OK && more) {
        lr_st_text key;
        uint64_t at;
        bool is_map, is_metadata;
        lr_st_json_skip(json);
        at = lr_json_input_offset(&json->in);
        status = lr_st_json_string(json, &key, "a key in quotes");
        if (status != REC_OK) {
            break;
        }
        is_map = text_is(json, &key, "weight_map");
        is_metadata = text_is(json, &key, "metadata");
        if ((is_map && seen_map) || (is_metadata && seen_metadata)) {
            return lr_st_json_damaged(json->job, rec_fail(json->job, REC_E_FORMAT, at, "`%s` is there twice",
                                                          is_map ? "weight_map" : "metadata"));
        }
        seen_map |= is_map;
        seen_metadata |= is_metadata;
        status = lr_st_json_expect(json, ':', "`:` after a key");
        status = status != REC_OK ? status
                 : is_map         ? weight_map(x)
                 : is_metadata    ? index_metadata(x)
                                  : lr_st_json_foreign(json);
        status = status == REC_OK ? next_entry(json, &more) : status;
    }
    lr_st_json_skip(json);
    if (status == REC_OK && json->in.at < json->in.end) {
        status = lr_st_json_unexpected(json, "nothing but white space after the index");
    }
    if (status == REC_OK && !seen_map) {
        status = rec_fail(json->job, REC_E_FORMAT, REC_UNKNOWN,
                          "this JSON has no `weight_map`: it is no index of safetensors files");
        rec_fail_hint(json->job, "Load the .safetensors file itself, or open this one with another recorder.");
    }
    return status;
}

bool lr_st_is_index(const uint8_t *text, uint64_t length)
{
    static const char metadata[] = "\"metadata\"", map[] = "\"weight_map\"";
    const uint8_t *p = text, *end = text + length;
    unsigned depth = 0;
    while (p < end && lr_st_is_space(*p)) {
        p++;
    }
    if (p == end || *p++ != '{') {
        return false;
    }
    while (p < end && lr_st_is_space(*p)) {
        p++;
    }
    if ((size_t)(end - p) >= sizeof map - 1 && memcmp(p, map, sizeof map - 1) == 0) {
        return true;
    }
    if ((size_t)(end - p) < sizeof metadata - 1 || memcmp(p, metadata, sizeof metadata - 1) != 0) {
        return false;
    }
    /* Over the value of `metadata`, to the key behind it. */
    for (p += sizeof metadata - 1; p < end; p++) {
        if (*p == '"' && depth == 0) {
            return (size_t)(end - p) >= sizeof map - 1 && memcmp(p, map, sizeof map - 1) == 0;
        }
        if (*p == '"') {
            for (p++; p < end && *p != '"'; p++) {
                p += *p == '\\';
            }
        }
        if (p < end) {
            depth += *p == '{' || *p == '[';
            depth -= depth && (*p == '}' || *p == ']');
        }
    }
    return false;
}

static const char *weight_of(const void *self, uint64_t number, uint64_t *length)
{
    const lr_st_index *x = self;
    *length = x->weights[number].key.length;
    return lr_st_json_text(&x->json, &x->weights[number].key);
}

/* ---------------------------------------------------------------------------------------------------------- files -- */

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

/* Opens one more file. @param name beside the source; NULL: the source itself. */
static int32_t open_file(lr_st_model *m, rec_source *beside, const char *name)
{
    lr_st_file *f = &m->files[m->file_count];
    int32_t status = REC_OK;
    if (name) {
        status = rec_source_beside(m->job, beside, name, &f->source);
    }
    if (status == REC_OK) {
        m->file_count++;
        f->first = m->count;
        status = lr_st_header_open(&f->header, m->job, name ? f->source : m->source, name != NULL);
        m->count += f->header.count;
    }
    if (status == REC_OK && m->count >= INT32_MAX) {
        status = fail_limit(m, "more than 2^31 tensors");
    }
    return status;
}

/* The name of a file in an index. */
typedef struct named {
    const char *text;
    uint64_t length;
    uint64_t weight; /* number of the entry that names it */
    uint64_t file;
} named;

static int by_text(const void *a, const void *b)
{
    const named *x = a, *y = b;
    uint64_t least = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->text, y->text, (size_t)least);
    return order ? order : x->length < y->length ? -1 : x->length > y->length;
}

static int by_weight(const void *a, const void *b)
{
    const named *x = a, *y = b;
    return x->weight < y->weight ? -1 : x->weight > y->weight;
}

/* Opens the files that the index names, in the order of their names, and notes for each weight which it is. */
static int32_t open_named(lr_st_model *m, named *names, rec_source *beside)
{
    const lr_st_index *x = &m->index;
    lr_st_buffer name = {.job = m->job};
    uint64_t distinct = 0;
    int32_t status;
    for (uint64_t i = 0; i < x->count; i++) {
        const lr_st_text *text = &x->weights[i].value;
        names[i] = (named){lr_st_json_text(&x->json, text), text->length, i, 0};
    }
    qsort(names, x->count, sizeof *names, by_text);
    for (uint64_t i = 0; i < x->count; i++) {
        distinct += i == 0 || by_text(&names[i - 1], &names[i]) != 0;
        names[i].file = distinct - 1;
    }
    if (distinct > FILES_MOST) {
        return fail_limit(m, "more than 10,000 files");
    }
    status = make_files(m, distinct);
    for (uint64_t i = 0; i < x->count && status == REC_OK; i++) {
        if (i && names[i].file == names[i - 1].file) {
            continue;
        }
        if (memchr(names[i].text, 0, (size_t)names[i].length)) {
            lr_st_excerpt brief;
            status =
                rec_fail(m->job, REC_E_FORMAT, x->weights[names[i].weight].at, "it names the file \"%s\", with a NUL",
                         lr_st_shown(&brief, names[i].text, names[i].length));
            break;
        }
        name.size = 0;
        lr_st_put(&name, names[i].text, names[i].length);
        lr_st_put(&name, "", 1);
        status = name.status == REC_OK ? open_file(m, beside, name.data) : name.status;
    }
    rec_job_free(m->job, name.data);
    qsort(names, x->count, sizeof *names, by_weight);
    return status;
}

/* Fails about a weight of the index. */
static int32_t fail_weight(lr_st_model *m, uint64_t number, const char *what, const char *file)
{
    const lr_st_index *x = &m->index;
    const lr_st_text *key = &x->weights[number].key;
    lr_st_excerpt brief;
    int32_t status = rec_fail(m->job, REC_E_FORMAT, x->weights[number].at, "the tensor `%s` %s%s",
                              lr_st_shown(&brief, lr_st_json_text(&x->json, key), key->length), what, file);
    rec_fail_hint(m->job, "The index and the files are not of one model, or not all were copied.");
    if (x->source) {
        rec_fail_source(m->job, x->source);
    }
    return status;
}

static const char *own_name(const rec_source *source)
{
    const char *name = rec_source_name(source), *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* Whatever the index names must be where it says; what it does not name is left out. */
static int32_t check_weights(lr_st_model *m, const lr_st_keys *weights, const named *names, uint8_t *seen)
{
    uint64_t left_out = 0;
    lr_st_excerpt first;
    int32_t status = REC_OK;
    for (uint64_t f = 0; f < m->file_count; f++) {
        lr_st_header *h = &m->files[f].header;
        for (uint64_t i = 0; i < h->count; i++) {
            lr_st_entry *e = &h->entries[i];
            const char *key = lr_st_text_at(h, &e->key);
            uint64_t weight = lr_st_keys_find(weights, key, e->key.length);
            if (weight == REC_UNKNOWN) {
                e->mark = LR_ST_LEFT_OUT;
                if (left_out++ == 0) {
                    (void)lr_st_shown(&first, key, e->key.length);
                }
            } else if (names[weight].file != f) {
                return fail_weight(m, weight, "is, against the index, also in ", own_name(m->files[f].source));
            } else {
                seen[weight] = 1;
            }
        }
    }
    for (uint64_t i = 0; i < m->index.count && status == REC_OK; i++) {
        if (!seen[i]) {
            status = fail_weight(m, i, "is not in ", own_name(m->files[names[i].file].source));
        }
    }
    if (status == REC_OK && left_out) {
        rec_job_note(m->job, REC_NOTE_DROPPED, "",
                     "%" PRIu64 " tensor%s of the files that the index does not name: left out; the first is `%s`",
                     left_out, left_out == 1 ? "" : "s", first.text);
    }
    return status;
}

static int32_t open_weights(lr_st_model *m, rec_source *beside)
{
    lr_st_index *x = &m->index;
    lr_st_keys weights = {.text = weight_of, .self = x};
    named *names = rec_job_alloc(m->job, (x->count ? x->count : 1) * sizeof *names);
    uint8_t *seen = rec_job_alloc(m->job, x->count ? x->count : 1);
    int32_t status = names && seen ? lr_st_keys_open(&weights, m->job, x->count) : lr_st_no_memory(m->job);
    for (uint64_t i = 0; i < x->count && status == REC_OK; i++) {
        seen[i] = 0;
        const lr_st_text *key = &x->weights[i].key;
        if (lr_st_keys_add(&weights, i, lr_st_json_text(&x->json, key), key->length) != REC_UNKNOWN) {
            status = fail_weight(m, i, "is in the index twice", "");
        }
    }
    status = status == REC_OK ? open_named(m, names, beside) : status;
    status = status == REC_OK ? check_weights(m, &weights, names, seen) : status;
    lr_st_keys_close(&weights);
    rec_job_free(m->job, names);
    rec_job_free(m->job, seen);
    return status;
}

/* @param source of the index. @param counted to be released with the model. */
static int32_t open_index(lr_st_model *m, rec_source *source, bool counted)
{
    lr_st_index *x = &m->index;
    const void *data = NULL;
    uint64_t size = rec_source_size(source);
    int32_t status = REC_OK;
    m->indexed = true;
    x->source = counted ? source : NULL;
    if (size == REC_UNKNOWN || size <= LR_ST_HEADER_MOST) { /* else there is no need to read it */
        status = rec_source_view(m->job, source, &data, &size);
    }
    if (status == REC_OK && size > LR_ST_HEADER_MOST) {
        status = rec_fail(m->job, REC_E_LIMIT, REC_UNKNOWN, "an index of %" PRIu64 " bytes; at most 100,000,000", size);
    }
    if (status == REC_OK) {
        lr_st_json_open(&x->json, m->job, source, data, size, 0, "the index");
        status = parse_index(x);
    }
    if (status != REC_OK && counted) {
        rec_fail_source(m->job, source);
    }
    return status == REC_OK ? open_weights(m, source) : status;
}

/* -------------------------------------------------------------------------------------------------------- folders -- */

static int32_t fail_folder(lr_st_model *m, const char *const *names, uint64_t count, const char *end, const char *what,
                           const char *todo)
{
    char list[700];
    int32_t status = rec_fail(m->job, REC_E_NOT_FOUND, REC_UNKNOWN, "%s", what);
    list_names(list, sizeof list, names, count, end);
    rec_fail_hint(m->job, "%s", todo);
    if (list[0]) {
        rec_fail_hint(m->job, "There are: %s", list);
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
            return fail_folder(m, names, count, EXTENSION, "the folder holds the parts of several models, and no index",
                               "Move all but one model elsewhere, or load the index of one.");
        }
        if (part != expected++) {
            break;
        }
        status = open_file(m, m->source, names[i]);
    }
    if (status == REC_OK && m->file_count < first_parts) {
        char what[128];
        (void)snprintf(what, sizeof what, "part %" PRIu64 " of the %" PRIu64 " parts of the model is not in the folder",
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
        if (ends_in(names[i], INDEX_EXTENSION)) {
            indexes++;
            index = names[i];
        } else if (lr_st_is_part(names[i], &a, &b, &c)) {
            parts++;
        } else if (ends_in(names[i], EXTENSION)) {
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
        return fail_folder(m, names, count, INDEX_EXTENSION, "the folder holds several models",
                           "Load one by its index.");
    }
    if (parts && !singles) {
        if (parts > FILES_MOST) {
            return fail_limit(m, "more than 10,000 files");
        }
        return open_parts(m, names, count, parts);
    }
    if (singles == 1 && !parts) {
        status = make_files(m, 1);
        return status == REC_OK ? open_file(m, m->source, single) : status;
    }
    return fail_folder(m, names, count, EXTENSION,
                       singles ? "the folder holds several safetensors files, and no index"
                               : "the folder holds no safetensors file",
                       singles ? "Load one by its name." : "Give the name of a file.");
}

/* ---------------------------------------------------------------------------------------------------------- model -- */

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
    int32_t status = lr_st_keys_open(&m->keys, m->job, m->count);
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
                lr_st_excerpt brief;
                const char *key = lr_st_shown(&brief, lr_st_text_at(&file->header, &e->key), e->key.length);
                status = other == file ? rec_fail(m->job, REC_E_FORMAT, lr_st_location(e->at),
                                                  "the header has the tensor `%s` twice", key)
                                       : rec_fail(m->job, REC_E_FORMAT, lr_st_location(e->at),
                                                  "the tensor `%s` is in %s, too", key, own_name(other->source));
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
    uint64_t size = rec_source_size(m->source), at = 0;
    const void *data;
    int32_t status = REC_OK;
    if (size == REC_UNKNOWN) {
        status = rec_source_view(m->job, m->source, &data, &size);
    }
    size = size < sizeof first ? size : sizeof first;
    status = status == REC_OK ? rec_source_read_at(m->job, m->source, 0, first, size) : status;
    while (at < size && status == REC_OK && lr_st_is_space(first[at])) {
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
            status = status == REC_OK ? open_file(m, NULL, NULL) : status;
        }
    }
    return status == REC_OK ? index_tensors(m) : status;
}

void lr_st_model_close(lr_st_model *m)
{
    for (uint64_t i = 0; i < m->file_count; i++) {
        lr_st_header_close(&m->files[i].header);
        rec_source_release(m->files[i].source);
    }
    rec_job_free(m->job, m->files);
    lr_st_keys_close(&m->keys);
    rec_job_free(m->job, m->index.weights);
    rec_job_free(m->job, m->index.pairs);
    lr_st_json_close(&m->index.json);
    rec_source_release(m->index.source);
}
