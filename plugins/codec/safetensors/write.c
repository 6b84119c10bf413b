/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The writer: lays out the collected tensors like the reference implementation, so that a file saved again has the
 * same bytes; in one file, or in several with an index, as Hugging Face's tools do. */
#include <librecord/parallel.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plugins/codec/pass.h"
#include "plugins/codec/safetensors/safetensors.h"
#include "plugins/codec/little.h"

const rec_option lr_st_max_shard_size = {
    .size = sizeof lr_st_max_shard_size,
    .type = REC_OPTION_TEXT,
    .name = "max-shard-size",
    .initial = "",
    .help = "save in files of at most so many bytes of tensors (5GB, 300MB, 1GiB), with an index; default: one file",
};

const rec_option lr_st_keep_names = {
    .size = sizeof lr_st_keep_names,
    .type = REC_OPTION_BOOL,
    .name = "keep-names",
    .initial = "no",
    .help = "shards reuse the names of older ones: an interrupted save leaves a model that does not load",
};

/* Tensors whose bytes are made while they are read have to be met on a walk. Those that are larger than the window go
 * straight into the file; of the others as many as fit it are made on one walk. */
enum { WINDOW_LEAST = 4 << 20, WINDOW_MOST = 32 << 20, WINDOWS = 256 };

typedef struct writer {
    rec_job *job;
    lr_st_tree tree;
    uint64_t limit; /* bytes of a shard, REC_UNKNOWN for none */
    uint32_t file_count;
    uint64_t total;  /* bytes of all tensors */
    uint64_t *order; /* for each tensor of the walk its place in tree.tensors */
    /* While data are written: */
    rec_sink *sink;
    uint64_t next, end; /* tensors of tree.tensors that are due */
    uint64_t walked;    /* tensors that the walk has met */
    uint64_t aside;     /* byte strings of the metadata that it has met */
    uint8_t *window;    /* the bytes of tensors from `first` to before `last`, one after another */
    uint64_t window_room, first, last;
    uint64_t read;  /* bytes of the tensor that is due that were taken from it */
    bool gathering; /* the walk fills the window */
} writer;

static int32_t no_memory(rec_job *job)
{
    return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for the tensors' places"); /* the first counts */
}

/* ------------------------------------------------------------------------------------------------------- sizes -- */

/* "5GB", "300 MB", "1GiB", "1000": as Hugging Face's tools read them, and units of 1024. */
static bool parse_size(const char *text, uint64_t *size)
{
    static const char units[] = "KMGT";
    uint64_t number = 0, unit = 1;
    const char *p = text, *found;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(number, 10u, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*p - '0'), &number)) {
            return false;
        }
    }
    if (p == text || number == 0) {
        return false;
    }
    p += *p == ' ';
    found = *p ? strchr(units, *p & ~0x20) : NULL;
    if (found) {
        uint64_t base = (p[1] | 0x20) == 'i' ? 1024 : 1000;
        for (const char *u = units; u <= found; u++) {
            unit *= base;
        }
        p += base == 1024 ? 2 : 1;
    }
    p += (*p | 0x20) == 'b';
    return *p == '\0' && !__builtin_mul_overflow(number, unit, size);
}

static int32_t read_limit(writer *w)
{
    const char *text = rec_job_option_text(w->job, "max-shard-size");
    int32_t status;
    w->limit = REC_UNKNOWN;
    if (!*text || parse_size(text, &w->limit)) {
        return REC_OK;
    }
    status = rec_fail_found(w->job, REC_E_ARGUMENT, REC_UNKNOWN, "a number of bytes as max-shard-size", "`%s`", text);
    rec_fail_hint(w->job, "For example 5GB, 300MB, 1GiB.");
    return status;
}

/* ------------------------------------------------------------------------------------------------------ places -- */

/* Spreads the tensors over files as Hugging Face's tools do: in the record's order, a new file where one more would be
 * too much; what is too large for any gets its own, at once. */
static int32_t spread(writer *w)
{
    lr_st_tree *tree = &w->tree;
    uint64_t used = 0, alone = 0, count;
    uint32_t group = 0, groups = 0, next = 0; /* numbers are given when a file is complete, in that order */
    uint32_t *files;
    int32_t status = REC_OK;
    bool open = false;
    if (w->limit == REC_UNKNOWN) {
        w->file_count = 1;
        return REC_OK;
    }
    files = rec_job_alloc(w->job, (tree->count + 1) * sizeof *files);
    if (!files) {
        return no_memory(w->job);
    }
    for (uint64_t i = 0; i < tree->count; i++) {
        lr_st_tensor *t = &tree->tensors[i];
        if (t->size > w->limit) {
            t->file = groups++;
            files[t->file] = next++;
            alone++;
            continue;
        }
        if (open && t->size > w->limit - used) {
            files[group] = next++;
            open = false;
        }
        if (!open) {
            group = groups++;
            used = 0;
            open = true;
        }
        t->file = group;
        used += t->size;
    }
    if (open) {
        files[group] = next++;
    }
    count = next;
    for (uint64_t i = 0; i < tree->count; i++) {
        tree->tensors[i].file = files[tree->tensors[i].file];
    }
    rec_job_free(w->job, files);
    if (count > LR_INDEX_FILES_MOST) {
        status = rec_fail(w->job, REC_E_LIMIT, REC_UNKNOWN,
                          "%" PRIu64 " files would be needed; at most 10,000 are written, as many as are read", count);
        rec_fail_hint(w->job, "Raise max-shard-size.");
    } else if (alone && count > 1) {
        rec_job_note(w->job, REC_NOTE_LAYOUT, "",
                     "%" PRIu64 " tensor%s larger than max-shard-size: a file of its own for each", alone,
                     alone == 1 ? " is" : "s are");
    }
    w->file_count = count ? (uint32_t)count : 1;
    return status;
}

/* By file, then as the reference implementation: the largest alignment first, then by name. */
static int by_place(const void *a, const void *b)
{
    const lr_st_tensor *x = a, *y = b;
    if (x->file != y->file) {
        return x->file < y->file ? -1 : 1;
    }
    if (x->type != y->type) {
        return x->type > y->type ? -1 : 1;
    }
    return lr_text_order(x->key, x->key_length, y->key, y->key_length);
}

static int32_t place(writer *w)
{
    lr_st_tree *tree = &w->tree;
    uint64_t at = 0;
    w->order = rec_job_alloc(w->job, (tree->count ? tree->count : 1) * sizeof *w->order);
    if (!w->order) {
        return no_memory(w->job);
    }
    if (tree->count) {
        qsort(tree->tensors, (size_t)tree->count, sizeof *tree->tensors, by_place);
    }
    for (uint64_t i = 0; i < tree->count; i++) {
        lr_st_tensor *t = &tree->tensors[i];
        w->order[t->number] = i;
        at = i && t->file == tree->tensors[i - 1].file ? at : 0;
        t->begin = at;
        if (__builtin_add_overflow(at, t->size, &at)) {
            return rec_fail(w->job, REC_E_RANGE, REC_UNKNOWN, "the tensors have more bytes than 64 bits can count");
        }
        w->total += t->size; /* overflows only with several files; it is reported as a number */
    }
    return REC_OK;
}

/* ------------------------------------------------------------------------------------------------------ header -- */

/* The entries of `__metadata__`. In several files the text about the record is in the index. */
static void put_metadata(const writer *w, lr_buffer *b)
{
    const lr_st_tree *tree = &w->tree;
    bool text = !tree->plain && w->file_count == 1;
    lr_buffer typed = {.job = w->job};
    lr_put(b, "{", 1);
    if (text || (tree->plain && (tree->metadata.size || tree->typed.size))) {
        lr_put_word(b, "\"__metadata__\":{");
        if (text) {
            lr_put_word(b, "\"" LR_ST_RECORD_KEY "\":");
            lr_st_put_string(b, tree->text.data, tree->text.size);
        } else {
            lr_put(b, tree->metadata.data, tree->metadata.size);
        }
        if (!text && tree->typed.size) {
            lr_put_word(&typed, "[1,{");
            lr_put(&typed, tree->typed.data, tree->typed.size);
            lr_put_word(&typed, "}]");
            lr_put_word(b, tree->metadata.size ? "," : "");
            lr_put_word(b, "\"" LR_ST_TYPED_KEY "\":");
            lr_st_put_string(b, typed.data ? typed.data : "", typed.size);
        }
        lr_put(b, "},", 2);
    }
    b->status = b->status == REC_OK ? typed.status : b->status;
    rec_job_free(w->job, typed.data);
}

static void put_entry(const writer *w, lr_buffer *b, const lr_st_tensor *t)
{
    lr_st_put_string(b, t->key, t->key_length);
    lr_put_word(b, ":{\"dtype\":\"");
    lr_put_word(b, lr_st_types[t->type].name);
    lr_put_word(b, "\",\"shape\":[");
    for (uint32_t i = 0; i < t->rank; i++) {
        lr_put(b, ",", i > 0);
        lr_st_put_uint(b, w->tree.dims[t->dims + i]);
    }
    lr_put_word(b, "],\"data_offsets\":[");
    lr_st_put_uint(b, t->begin);
    lr_put(b, ",", 1);
    lr_st_put_uint(b, t->begin + t->size);
    lr_put_word(b, "]},");
}

/* The length and the header of the file of tensors from `first` to before `end`. */
static int32_t write_header(writer *w, rec_sink *sink, uint64_t first, uint64_t end)
{
    lr_buffer b = {.job = w->job};
    uint8_t length[8];
    int32_t status;
    put_metadata(w, &b);
    for (uint64_t i = first; i < end; i++) {
        put_entry(w, &b, &w->tree.tensors[i]);
    }
    b.size -= b.status == REC_OK && b.size > 1; /* the last comma */
    lr_put(&b, "}", 1);
    lr_put(&b, "       ", (8 - b.size % 8) % 8);
    status = b.status;
    if (status == REC_OK && b.size > LR_ST_HEADER_MOST) {
        status = rec_fail(w->job, REC_E_LIMIT, REC_UNKNOWN,
                          "the header would have %" PRIu64 " bytes; readers of safetensors accept at most 100,000,000",
                          b.size);
        rec_fail_hint(w->job, "Save it in several files (max-shard-size), or without what a flat map does not hold "
                              "(record = no), or in another format.");
    }
    lr_little_put(length, b.size, sizeof length);
    status = status == REC_OK ? rec_sink_write(sink, length, sizeof length) : status;
    status = status == REC_OK ? rec_sink_write(sink, b.data, b.size) : status;
    rec_job_free(w->job, b.data);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- data -- */

static bool is_stream(const lr_st_tensor *t)
{
    return t->blob.kind == REC_BLOB_STREAM && t->size > 0;
}

/* Writes the tensors that are due and lie somewhere. */
static int32_t put_kept(writer *w)
{
    int32_t status = REC_OK;
    while (status == REC_OK && w->next < w->end && !is_stream(&w->tree.tensors[w->next])) {
        const lr_st_tensor *t = &w->tree.tensors[w->next++];
        status = t->size ? rec_sink_put(w->sink, &t->blob) : REC_OK;
    }
    return status;
}

/* A tensor that a walk meets. */
static int32_t met(writer *w, const rec_blob *blob)
{
    uint64_t i = w->walked++ < w->tree.count ? w->order[w->walked - 1] : REC_UNKNOWN;
    const lr_st_tensor *t = i == REC_UNKNOWN ? NULL : &w->tree.tensors[i];
    int32_t status = REC_OK;
    if (!t || t->size != blob->length) {
        return rec_fail(w->job, REC_E_PLUGIN, REC_UNKNOWN, "the record changed while it was saved");
    }
    if (w->gathering) {
        if (i >= w->first && i < w->last && is_stream(t)) {
            status = rec_blob_read(w->job, blob, 0, w->window + (t->begin - w->tree.tensors[w->first].begin), t->size);
        }
    } else if (i == w->next && i < w->end) {
        status = rec_sink_put(w->sink, blob);
        w->next++;
        status = status == REC_OK ? put_kept(w) : status;
    }
    return status;
}

static int32_t met_tensor(void *self, uint64_t at, const rec_tensor_event *event)
{
    (void)at;
    return met(self, &event->data);
}

static int32_t met_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    writer *w = self;
    (void)at;
    if (blob->length > LR_ST_INLINE_BYTES && w->aside < w->tree.aside) {
        w->aside++; /* the metadata come first */
        return REC_OK;
    }
    return blob->length > LR_ST_INLINE_BYTES ? met(self, blob) : REC_OK;
}

static int32_t walk(writer *w)
{
    rec_visitor visitor = lr_pass_all_but(met_tensor);
    visitor.bytes = w->tree.only_tensors ? lr_pass_bytes : met_bytes;
    w->walked = w->aside = 0;
    return rec_job_walk(w->job, &visitor, w);
}

/* The bytes of a small tensor that are made while they are read. When a sink asks for them, which one that only counts
 * does not, a walk makes those of its neighbours, too. */
static int32_t read_small(void *user, void *target, uint64_t size)
{
    writer *w = user;
    const lr_st_tensor *t = &w->tree.tensors[w->next];
    if (w->next < w->first || w->next >= w->last) {
        uint64_t bytes = 0;
        int32_t status;
        if (!w->window) {
            w->window = rec_job_alloc(w->job, w->window_room);
            if (!w->window) {
                return no_memory(w->job);
            }
        }
        for (w->first = w->last = w->next; w->last < w->end; w->last++) {
            if (w->tree.tensors[w->last].size > w->window_room - bytes) {
                break;
            }
            bytes += w->tree.tensors[w->last].size;
        }
        w->gathering = true;
        status = walk(w);
        w->gathering = false;
        if (status != REC_OK) {
            return status;
        }
    }
    memcpy(target, w->window + (t->begin - w->tree.tensors[w->first].begin) + w->read, (size_t)size);
    w->read += size;
    return REC_OK;
}

/* The same for skipped bytes. */
static int32_t read_nothing(void *user, void *target, uint64_t size)
{
    (void)user;
    memset(target, 0, (size_t)size);
    return REC_OK;
}

/* The data of the file of tensors from `first` to before `end`. */
static int32_t write_data(writer *w, rec_sink *sink, uint64_t first, uint64_t end)
{
    int32_t status;
    w->sink = sink;
    w->next = first;
    w->end = end;
    w->first = w->last = 0;
    w->window_room = w->total / WINDOWS;
    w->window_room = w->window_room < WINDOW_LEAST ? WINDOW_LEAST : w->window_room;
    w->window_room = w->window_room > WINDOW_MOST ? WINDOW_MOST : w->window_room;
    status = put_kept(w);
    while (status == REC_OK && w->next < end) {
        const lr_st_tensor *t = &w->tree.tensors[w->next];
        if (t->size > w->window_room) {
            uint64_t before = w->next;
            status = walk(w);
            if (status == REC_OK && w->next == before) {
                status = rec_fail(w->job, REC_E_PLUGIN, REC_UNKNOWN, "the record changed while it was saved");
            }
        } else {
            rec_blob blob = t->blob;
            blob.read = rec_sink_wants(sink, t->size) ? read_small : read_nothing;
            blob.user = w;
            w->read = 0;
            status = rec_sink_put(sink, &blob);
            w->next++;
            status = status == REC_OK ? put_kept(w) : status;
        }
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------- files -- */

static int32_t write_file(writer *w, rec_sink *sink, uint64_t first, uint64_t end)
{
    int32_t status = write_header(w, sink, first, end);
    return status == REC_OK ? write_data(w, sink, first, end) : status;
}

/* "00001-of-00003.safetensors", and a NUL. */
static void put_tail(lr_buffer *b, uint32_t part, uint32_t parts)
{
    char numbers[48];
    (void)snprintf(numbers, sizeof numbers, "%05" PRIu32 "-of-%05" PRIu32 ".safetensors", part, parts);
    lr_put_word(b, numbers);
    lr_put(b, "", 1);
}

/* A tensor by its name, for the index. */
typedef struct named {
    const char *key;
    uint64_t length;
    uint32_t file;
} named;

static int by_key(const void *a, const void *b)
{
    const named *x = a, *y = b;
    return lr_text_order(x->key, x->length, y->key, y->length);
}

/* As Python's json.dumps(index, indent=2, sort_keys=True), and a newline. */
static int32_t write_index(writer *w, rec_sink *sink, const lr_buffer *stem)
{
    const lr_st_tree *tree = &w->tree;
    lr_buffer b = {.job = w->job}, name = {.job = w->job};
    named *names = rec_job_alloc(w->job, (tree->count ? tree->count : 1) * sizeof *names);
    int32_t status = names ? REC_OK : no_memory(w->job);
    lr_put_word(&b, "{\n  \"metadata\": {\n");
    if (!tree->plain) {
        lr_put_word(&b, "    \"" LR_ST_RECORD_KEY "\": ");
        lr_st_put_string(&b, tree->text.data, tree->text.size);
        lr_put_word(&b, ",\n");
    }
    lr_put_word(&b, "    \"total_size\": ");
    lr_st_put_uint(&b, w->total);
    lr_put_word(&b, "\n  },\n  \"weight_map\": {");
    if (status == REC_OK) {
        for (uint64_t i = 0; i < tree->count; i++) {
            const lr_st_tensor *t = &tree->tensors[i];
            names[i] = (named){t->key, t->key_length, t->file};
        }
        qsort(names, (size_t)tree->count, sizeof *names, by_key);
        for (uint64_t i = 0; i < tree->count; i++) {
            lr_put_word(&b, i ? ",\n    " : "\n    ");
            lr_st_put_string(&b, names[i].key, names[i].length);
            lr_put_word(&b, ": ");
            name.size = 0;
            lr_put(&name, stem->data, stem->size);
            put_tail(&name, names[i].file + 1, w->file_count);
            lr_st_put_string(&b, name.data ? name.data : "", name.size ? name.size - 1 : 0);
        }
    }
    lr_put_word(&b, "\n  }\n}\n");
    status = status != REC_OK ? status : name.status != REC_OK ? name.status : b.status;
    if (status == REC_OK && b.size > LR_ST_HEADER_MOST) {
        status = rec_fail(w->job, REC_E_LIMIT, REC_UNKNOWN,
                          "the index would have %" PRIu64 " bytes; at most 100,000,000 are read again", b.size);
    }
    status = status == REC_OK ? rec_sink_write(sink, b.data, b.size) : status;
    rec_job_free(w->job, names);
    rec_job_free(w->job, b.data);
    rec_job_free(w->job, name.data);
    return status;
}

/* Opens another file, and finds the prefix of its number: the first file decides for all. @param stem without core's
 * letters. @param got (out) with them. */
static int32_t open_part(writer *w, rec_sink *sink, uint32_t number, const lr_buffer *stem, lr_buffer *got,
                         rec_sink **part)
{
    lr_buffer name = {.job = w->job};
    bool keep = rec_job_option_int(w->job, "keep-names") != 0;
    uint64_t length = keep ? stem->size : 0; /* that of the stem is with a NUL, where a dash comes */
    int32_t status;
    lr_put(&name, stem->data, length);
    put_tail(&name, number, w->file_count);
    status = name.status != REC_OK ? name.status : stem->status;
    if (status == REC_OK && keep) {
        name.data[length - 1] = '-';
        status = rec_sink_beside(w->job, sink, name.data, part);
    } else if (status == REC_OK) {
        status = rec_sink_part(w->job, sink, stem->data, name.data, part);
    }
    if (status == REC_OK && !got->size) {
        const char *own = rec_sink_name(*part);
        lr_put(got, own, strlen(own) - (size_t)(name.size - 1 - length));
        status = got->status;
    }
    rec_job_free(w->job, name.data);
    return status;
}

static int32_t write_files(writer *w, rec_sink *sink)
{
    const lr_st_tree *tree = &w->tree;
    const char *own = rec_sink_name(sink);
    size_t length = strlen(own) - (lr_ends_in(own, ".safetensors") ? sizeof ".safetensors" - 1 : 0);
    lr_buffer stem = {.job = w->job}, name = {.job = w->job}, got = {.job = w->job};
    uint64_t first = 0;
    int32_t status;
    if (!*own) {
        status =
            rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                     "max-shard-size would make %" PRIu32 " files, and what is saved to is not a file", w->file_count);
        rec_fail_hint(w->job, "Save to a file that is not compressed, or without max-shard-size.");
        return status;
    }
    lr_put(&stem, own, length); /* the sink's name changes */
    lr_put(&stem, "", 1);
    lr_put(&name, own, length);
    lr_put_word(&name, ".safetensors.index.json");
    lr_put(&name, "", 1);
    status = stem.status != REC_OK ? stem.status : name.status;
    status = status == REC_OK ? rec_sink_rename(w->job, sink, name.data) : status;
    for (uint32_t file = 0; file < w->file_count && status == REC_OK; file++) {
        uint64_t end = first;
        rec_sink *part = NULL;
        while (end < tree->count && tree->tensors[end].file == file) {
            end++;
        }
        status = open_part(w, sink, file + 1, &stem, &got, &part);
        status = status == REC_OK ? write_file(w, part, first, end) : status;
        if (status == REC_OK) {
            status = rec_sink_close(part);
        }
        first = end;
    }
    status = status == REC_OK ? write_index(w, sink, &got) : status;
    rec_job_free(w->job, stem.data);
    rec_job_free(w->job, name.data);
    rec_job_free(w->job, got.data);
    return status;
}

/* Reports values left out on request. */
static void note_left_out(const writer *w)
{
    const lr_st_tree *tree = &w->tree;
    if (tree->only_tensors && tree->left_out) {
        rec_job_note(w->job, REC_NOTE_DROPPED, "",
                     "%" PRIu64 " value%s other than tensors: left out because of record = no", tree->left_out,
                     tree->left_out == 1 ? "" : "s");
    }
    if (tree->encoded) {
        rec_job_note(w->job, REC_NOTE_LAYOUT, "",
                     "%" PRIu64 " tensor%s of %s: stored as bytes, which other programs see as U8; a precision makes "
                     "numbers of encoded elements",
                     tree->encoded, tree->encoded == 1 ? "" : "s", tree->of.text);
    }
    if (tree->plain && tree->ids) {
        rec_job_note(w->job, REC_NOTE_DROPPED, "", "the id%s of %" PRIu64 " tensor%s: left out, %s",
                     tree->ids == 1 ? "" : "s", tree->ids, tree->ids == 1 ? "" : "s",
                     tree->only_tensors ? "because of record = no" : "because this file is to hold only flat names");
    }
}

int32_t lr_st_write(rec_job *job, rec_sink *sink)
{
    writer w = {.job = job};
    int32_t status = read_limit(&w);
    status = status == REC_OK ? lr_st_tree_open(&w.tree, job, !rec_job_option_int(job, "record")) : status;
    status = status == REC_OK ? spread(&w) : status;
    status = status == REC_OK ? place(&w) : status;
    if (status == REC_OK) {
        note_left_out(&w);
        lr_st_note_store(&w.tree);
        status = w.file_count > 1 ? write_files(&w, sink) : write_file(&w, sink, 0, w.tree.count);
    }
    rec_job_free(job, w.order);
    rec_job_free(job, w.window);
    lr_st_tree_close(&w.tree);
    return status;
}
