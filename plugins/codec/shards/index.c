/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The index of a model in several files: its JSON, the files that it names, and whether these have what it says. */
#include "common/names.h"
#include "plugins/codec/room.h"
#include "plugins/codec/shards/index.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------- the JSON -- */

/* `metadata` of an index holds anything. Text is kept; what can be worked out from the tensors is not. */
static int32_t index_metadata(lr_index *x)
{
    lr_st_json *json = &x->json;
    lr_st_map map = {.key = "a key in quotes", .colon = "`:` after a key", .end = "`,` or `}`"};
    int32_t status = REC_OK;
    if (!lr_st_json_next(json, '{')) {
        return lr_st_json_foreign(json);
    }
    while (lr_st_json_each(json, &map, &status)) {
        if (lr_st_json_next(json, '"')) {
            status = lr_st_json_pair(json, &map.name, map.at, "a string", &x->pairs, &x->pair_count, &x->pair_room);
        } else {
            x->left_out +=
                !lr_st_json_is(json, &map.name, "total_size") && !lr_st_json_is(json, &map.name, "total_parameters");
            status = lr_st_json_foreign(json);
        }
    }
    return status;
}

static int32_t weight_map(lr_index *x)
{
    lr_st_map map = {.map = "`weight_map`, a map from tensors to files",
                     .key = "a key in quotes",
                     .colon = "`:` after a key",
                     .end = "`,` or `}`"};
    int32_t status = REC_OK;
    while (lr_st_json_each(&x->json, &map, &status)) {
        status = lr_st_json_pair(&x->json, &map.name, map.at, "the name of a file in quotes", &x->weights, &x->count,
                                 &x->room);
    }
    return status;
}

static int32_t parse(lr_index *x, const char *what, const char *extension)
{
    lr_st_json *json = &x->json;
    lr_st_map map = {.map = "an index, a JSON object with `weight_map`",
                     .key = "a key in quotes",
                     .colon = "`:` after a key",
                     .end = "`,` or `}`"};
    bool seen_map = false, seen_metadata = false;
    int32_t status = REC_OK;
    while (lr_st_json_each(json, &map, &status)) {
        bool is_map = lr_st_json_is(json, &map.name, "weight_map"),
             is_metadata = lr_st_json_is(json, &map.name, "metadata");
        if ((is_map && seen_map) || (is_metadata && seen_metadata)) {
            return lr_st_json_damaged(json->job, rec_fail(json->job, REC_E_FORMAT, map.at, "`%s` occurs twice",
                                                          is_map ? "weight_map" : "metadata"));
        }
        seen_map |= is_map;
        seen_metadata |= is_metadata;
        status = is_map ? weight_map(x) : is_metadata ? index_metadata(x) : lr_st_json_foreign(json);
    }
    lr_st_json_skip(json);
    if (status == REC_OK && json->in.at < json->in.end) {
        status = lr_st_json_unexpected(json, "nothing but white space after the index");
    }
    if (status == REC_OK && !seen_map) {
        status = rec_fail(json->job, REC_E_FORMAT, REC_UNKNOWN,
                          "this JSON has no `weight_map`: it is not an index of %s files", what);
        rec_fail_hint(json->job, "Load the %s file itself, or open this one with another recorder.", extension);
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------- what it names -- */

static const char *weight_of(const void *self, uint64_t number, uint64_t *length)
{
    const lr_index *x = self;
    *length = x->weights[number].key.length;
    return lr_st_json_text(&x->json, &x->weights[number].key);
}

/* Fails about a weight of the index. */
static int32_t fail_weight(const lr_index *x, uint64_t number, const char *what, const lr_st_text *file)
{
    const lr_st_text *key = &x->weights[number].key;
    lr_codec_excerpt brief, in = {""};
    int32_t status;
    if (file) {
        (void)lr_codec_shown(&in, lr_st_json_text(&x->json, file), file->length);
    }
    status = rec_fail(x->job, REC_E_FORMAT, x->weights[number].at, "the tensor `%s` %s%s",
                      lr_codec_shown(&brief, lr_st_json_text(&x->json, key), key->length), what, in.text);
    rec_fail_hint(x->job, "The index and the files are not of one model, or not all were copied.");
    if (x->source) {
        rec_fail_source(x->job, x->source);
    }
    return status;
}

/* The name of a file in an index. */
typedef struct named {
    const char *text;
    uint64_t length;
    uint64_t weight; /* number of the entry that names it */
} named;

static int by_text(const void *a, const void *b)
{
    const named *x = a, *y = b;
    return lr_text_order(x->text, x->length, y->text, y->length);
}

/* Numbers the files in the order of their names. */
static int32_t number_files(lr_index *x)
{
    uint64_t room = x->count ? x->count : 1;
    named *names = rec_job_alloc(x->job, room * sizeof *names);
    x->file_of = rec_job_alloc(x->job, room * sizeof *x->file_of);
    x->named_by = rec_job_alloc(x->job, room * sizeof *x->named_by);
    if (!names || !x->file_of || !x->named_by) {
        rec_job_free(x->job, names);
        return lr_st_no_memory(x->job);
    }
    for (uint64_t i = 0; i < x->count; i++) {
        const lr_st_text *text = &x->weights[i].value;
        names[i] = (named){lr_st_json_text(&x->json, text), text->length, i};
    }
    qsort(names, (size_t)x->count, sizeof *names, by_text);
    for (uint64_t i = 0; i < x->count; i++) {
        if (i == 0 || by_text(&names[i - 1], &names[i]) != 0) {
            x->named_by[x->file_count++] = names[i].weight;
        }
        x->file_of[names[i].weight] = (uint32_t)(x->file_count - 1);
    }
    rec_job_free(x->job, names);
    return x->file_count <= LR_INDEX_FILES_MOST
               ? REC_OK
               : rec_fail(x->job, REC_E_LIMIT, REC_UNKNOWN, "a model of more than 10,000 files");
}

static int32_t index_weights(lr_index *x)
{
    int32_t status;
    x->keys = (lr_st_keys){.text = weight_of, .self = x};
    x->seen = rec_job_alloc(x->job, x->count ? x->count : 1);
    status = x->seen ? lr_st_keys_reserve(&x->keys, x->job, x->count) : lr_st_no_memory(x->job);
    for (uint64_t i = 0; i < x->count && status == REC_OK; i++) {
        const lr_st_text *key = &x->weights[i].key;
        x->seen[i] = 0;
        if (lr_st_keys_add(&x->keys, i, lr_st_json_text(&x->json, key), key->length) != REC_UNKNOWN) {
            status = fail_weight(x, i, "is in the index twice", NULL);
        }
    }
    return status;
}

int32_t lr_index_open(lr_index *x, rec_job *job, rec_source *source, bool counted, const char *what,
                      const char *extension)
{
    const void *data = NULL;
    uint64_t size = rec_source_size(source);
    int32_t status = REC_OK;
    *x = (lr_index){.job = job, .source = counted ? source : NULL};
    if (size == REC_UNKNOWN || size <= LR_INDEX_SIZE_MOST) { /* else there is no need to read it */
        status = rec_source_view(job, source, &data, &size);
    }
    if (status == REC_OK && size > LR_INDEX_SIZE_MOST) {
        status = rec_fail(job, REC_E_LIMIT, REC_UNKNOWN, "an index of %" PRIu64 " bytes; at most 100,000,000", size);
    }
    if (status == REC_OK && size == 0) {
        status = rec_fail(job, REC_E_FORMAT, REC_UNKNOWN, "the index is empty");
        rec_fail_hint(job,
                      "A save that keeps the names of files (keep-names) was interrupted, or is under way: its files "
                      "may be of two models. Save again.");
    }
    if (status == REC_OK) {
        lr_st_json_open(&x->json, job, source, data, size, 0, "the index");
        status = parse(x, what, extension);
    }
    if (status != REC_OK && counted) {
        rec_fail_source(job, source);
    }
    status = status == REC_OK ? index_weights(x) : status;
    return status == REC_OK ? number_files(x) : status;
}

void lr_index_close(lr_index *x)
{
    if (x->job) {
        lr_st_keys_close(&x->keys);
        rec_job_free(x->job, x->weights);
        rec_job_free(x->job, x->pairs);
        rec_job_free(x->job, x->file_of);
        rec_job_free(x->job, x->named_by);
        rec_job_free(x->job, x->seen);
        rec_job_free(x->job, x->name);
        lr_st_json_close(&x->json);
        rec_source_release(x->source);
        *x = (lr_index){0};
    }
}

int32_t lr_index_file(lr_index *x, uint64_t number, const char **name)
{
    const lr_st_pair *pair = &x->weights[x->named_by[number]];
    const char *text = lr_st_json_text(&x->json, &pair->value);
    char *room;
    if (memchr(text, 0, pair->value.length)) {
        lr_codec_excerpt brief;
        return rec_fail(x->job, REC_E_FORMAT, pair->at, "it names the file \"%s\", with a NUL",
                        lr_codec_shown(&brief, text, pair->value.length));
    }
    room = rec_job_resize(x->job, x->name, (uint64_t)pair->value.length + 1);
    if (!room) {
        return lr_st_no_memory(x->job);
    }
    memcpy(room, text, pair->value.length);
    room[pair->value.length] = '\0';
    x->name = room;
    *name = room;
    return REC_OK;
}

int32_t lr_index_take(lr_index *x, uint64_t file, const char *key, uint64_t length, bool *wanted)
{
    uint64_t weight = lr_st_keys_find(&x->keys, key, length);
    *wanted = weight != REC_UNKNOWN;
    if (!*wanted) {
        if (x->not_named++ == 0) {
            (void)lr_codec_shown(&x->first, key, length);
        }
        return REC_OK;
    }
    if (x->file_of[weight] != file) {
        return fail_weight(x, weight, "is, against the index, also in ", &x->weights[x->named_by[file]].value);
    }
    x->seen[weight] = 1;
    return REC_OK;
}

int32_t lr_index_done(lr_index *x)
{
    for (uint64_t i = 0; i < x->count; i++) {
        if (!x->seen[i]) {
            return fail_weight(x, i, "is not in ", &x->weights[i].value);
        }
    }
    if (x->not_named) {
        rec_job_note(x->job, REC_NOTE_DROPPED, "",
                     "%" PRIu64 " tensor%s of the files that the index does not name: left out; the first is `%s`",
                     x->not_named, x->not_named == 1 ? "" : "s", x->first.text);
    }
    return REC_OK;
}

/* @param changed (out) whether it is another one than was read. */
static int32_t has_changed(rec_job *job, rec_source *was, rec_source *is, bool *changed)
{
    const void *old, *new;
    uint64_t old_size, new_size = rec_source_size(is);
    int32_t status = rec_source_view(job, was, &old, &old_size);
    *changed = status == REC_OK && new_size != REC_UNKNOWN && new_size != old_size;
    if (status == REC_OK && !*changed) {
        status = rec_source_view(job, is, &new, &new_size);
        *changed = status == REC_OK && (new_size != old_size || memcmp(old, new, (size_t)old_size) != 0);
    }
    return status;
}

/* Opens a file that an index names, or finds that there is another index now.
 * @param part (out) to be released. NULL if it failed, or… @param again (out) …the index that is there now, to be
 * released; else NULL. */
static int32_t open_part(rec_job *job, rec_source *source, const char *name, rec_source **part, rec_source **again)
{
    const char *own = lr_base_name(rec_source_name(source));
    rec_source *now = NULL;
    bool changed = false;
    int32_t status = rec_source_beside_maybe(job, source, name, part);
    *again = NULL;
    if (status != REC_OK || *part) {
        return status;
    }
    if (*own) {
        status = rec_source_beside_maybe(job, source, own, &now);
    }
    if (status == REC_OK && now) {
        status = has_changed(job, source, now, &changed);
    }
    if (status == REC_OK && changed) {
        *again = now;
        return REC_OK;
    }
    rec_source_release(now);
    return status == REC_OK ? rec_source_beside(job, source, name, part) : status;
}

/* @param again (out) as above. */
static int32_t open_parts(lr_index *x, rec_source *source, const lr_index_reader *reader, rec_source **again)
{
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < reader->ahead && i < x->file_count && status == REC_OK && !*again; i++) {
        rec_source *part = NULL;
        const char *name;
        status = lr_index_file(x, i, &name);
        status = status == REC_OK ? open_part(x->job, source, name, &part, again) : status;
        status = status == REC_OK && part ? reader->part(reader->self, i, part) : status;
    }
    return status;
}

int32_t lr_index_open_ahead(lr_index *index, rec_job *job, rec_source **source, bool counted, const char *what,
                            const char *extension, const lr_index_reader *reader)
{
    enum { AGAIN_MOST = 100 };
    for (int tries = 0;; tries++) {
        rec_source *again = NULL;
        int32_t status = lr_index_open(index, job, *source, counted, what, extension);
        status = status == REC_OK ? open_parts(index, *source, reader, &again) : status;
        if (!again) {
            return status;
        }
        reader->undo(reader->self);
        lr_index_close(index);
        if (tries == AGAIN_MOST) {
            rec_source_release(again);
            return rec_fail(job, REC_E_IO, REC_UNKNOWN, "the model was saved again and again while it was loaded");
        }
        *source = again;
        counted = true;
    }
}

/* ----------------------------------------------------------------------------------------------------- probing -- */

static const uint8_t *spaces(const uint8_t *p, const uint8_t *end)
{
    while (p < end && lr_json_is_space(*p)) {
        p++;
    }
    return p;
}

static bool begins(const uint8_t *p, const uint8_t *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - p) >= length && memcmp(p, word, length) == 0;
}

/* Behind the string whose quote is at `p`. @return `end`: it does not end before. */
static const uint8_t *behind_string(const uint8_t *p, const uint8_t *end)
{
    for (p++; p < end && *p != '"'; p++) {
        p += *p == '\\' && p + 1 < end;
    }
    return p < end ? p + 1 : end;
}

/* Skips a value to the key after it. */
static const uint8_t *next_key(const uint8_t *p, const uint8_t *end)
{
    unsigned depth = 0;
    while (p < end && (*p != '"' || depth)) {
        if (*p == '"') {
            p = behind_string(p, end);
        } else {
            depth += *p == '{' || *p == '[';
            depth -= depth && (*p == '}' || *p == ']');
            p++;
        }
    }
    return p;
}

/* Finds the value of the first entry of a map of texts, from after the map's name on. */
static void first_value(const uint8_t *p, const uint8_t *end, const char **file, uint64_t *size)
{
    static const char marks[] = ":{\":\"";
    for (const char *mark = marks; *mark; mark++) {
        p = spaces(p, end);
        if (p >= end || *p != (uint8_t)*mark) {
            return;
        }
        if (*mark == '"' && mark[1]) {
            p = behind_string(p, end);
        } else {
            p++;
        }
    }
    for (const uint8_t *from = p; p < end; p++) {
        if (*p == '"') {
            *file = (const char *)from;
            *size = (uint64_t)(p - from);
            return;
        }
    }
}

bool lr_index_probe(const uint8_t *text, uint64_t length, const char **file, uint64_t *size)
{
    static const char metadata[] = "\"metadata\"", map[] = "\"weight_map\"";
    const uint8_t *end = text + length, *p = spaces(text, end);
    *file = NULL;
    *size = 0;
    if (p == end || *p != '{') {
        return false;
    }
    p = spaces(p + 1, end);
    if (begins(p, end, metadata)) {
        p = next_key(p + sizeof metadata - 1, end);
    }
    if (!begins(p, end, map)) {
        return false;
    }
    first_value(p + sizeof map - 1, end, file, size);
    return true;
}
