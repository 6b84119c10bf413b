/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A small format, whole: docs/guide/plugins.md explains it line by line.
 *
 * A file is "FLAT", the version (u32), and tensors until its end. A tensor is the length of its path, its element type,
 * its rank (u32 each), its dimensions (u64 each), its path, its elements. All numbers are little-endian. */
#include <string.h>

#include <librecord/plugin.h>

enum { VERSION = 1, BEGIN = 8, FIXED = 12, RANK = 8, PATH = 1024 };

static uint64_t get(const uint8_t *at, int bytes)
{
    uint64_t number = 0;
    while (bytes-- > 0) {
        number = number << 8 | at[bytes];
    }
    return number;
}

static void put(uint8_t *at, int bytes, uint64_t number)
{
    for (int i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(number >> (8 * i));
    }
}

/* ----------------------------------------------------------------------------------------------------- reading -- */

/* One tensor at `*at`, which moves behind it. Nothing that the file says is believed before it was checked. */
static int32_t read_tensor(rec_job *job, rec_source *source, uint64_t size, uint64_t *at, const rec_visitor *visitor,
                           void *self)
{
    uint8_t fixed[FIXED], dims[RANK * 8];
    uint64_t begin = *at, shape[RANK], length, count = 1;
    char path[PATH];
    rec_tensor_event event = {.size = sizeof event, .shape = shape};
    rec_scalar key = {.kind = REC_KIND_STRING, .text = path};
    int32_t status = rec_source_read_at(job, source, begin, fixed, sizeof fixed);
    if (status != REC_OK) {
        return status; /* the file ends here: reported already */
    }
    length = get(fixed, 4);
    event.dtype = (rec_dtype)get(fixed + 4, 4);
    event.rank = (uint32_t)get(fixed + 8, 4);
    if (length > PATH || event.rank > RANK || rec_dtype_bits(event.dtype) == 0) {
        return rec_fail_found(job, REC_E_FORMAT, begin, "a tensor of at most 8 dimensions and a known element type",
                              "element type %d, %u dimensions, a path of %u bytes", (int)event.dtype,
                              (unsigned)event.rank, (unsigned)length);
    }
    status = rec_source_read_at(job, source, begin + FIXED, dims, event.rank * 8u);
    status = status == REC_OK ? rec_source_read_at(job, source, begin + FIXED + event.rank * 8u, path, length) : status;
    if (status == REC_OK && !rec_is_utf8(path, length)) {
        status = rec_fail(job, REC_E_FORMAT, begin, "a path that is not UTF-8");
    }
    for (uint32_t i = 0; i < event.rank && status == REC_OK; i++) {
        shape[i] = get(dims + 8 * i, 8);
        if (__builtin_mul_overflow(count, shape[i], &count)) {
            status = rec_fail(job, REC_E_FORMAT, begin, "a shape with more elements than can be counted");
        }
    }
    *at = begin + FIXED + event.rank * 8u + length;
    status =
        status == REC_OK ? rec_job_check_count(job, begin, count, rec_dtype_bits(event.dtype) / 8, size - *at) : status;
    if (status != REC_OK) {
        return status;
    }
    /* Not read: the record takes a count of the source, and its bytes when somebody asks for them. */
    event.data = (rec_blob){.size = sizeof(rec_blob),
                            .kind = REC_BLOB_RANGE,
                            .length = count * (rec_dtype_bits(event.dtype) / 8),
                            .source = source,
                            .offset = *at};
    *at += event.data.length;
    key.v.length = length;
    status = visitor->key(self, begin, &key);
    return status == REC_OK ? visitor->tensor(self, begin, &event) : status;
}

static int32_t load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    uint64_t size = rec_source_size(source), at = BEGIN;
    uint8_t begin[BEGIN];
    const void *view;
    int32_t status = REC_OK;
    if (size == REC_UNKNOWN) { /* a stream: read to its end now */
        status = rec_source_view(job, source, &view, &size);
    }
    status = status == REC_OK ? rec_source_read_at(job, source, 0, begin, sizeof begin) : status;
    if (status == REC_OK && (memcmp(begin, "FLAT", 4) != 0 || get(begin + 4, 4) != VERSION)) {
        status = rec_fail_found(job, REC_E_FORMAT, 0, "FLAT, version 1", "something else");
    }
    status = status == REC_OK ? visitor->map_begin(self, 0, REC_FORM_PATHS, REC_UNKNOWN) : status;
    while (status == REC_OK && at < size) {
        status = read_tensor(job, source, size, &at, visitor, self);
    }
    return status == REC_OK ? visitor->end(self, at) : status;
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

typedef struct writer {
    rec_job *job;
    rec_sink *sink;
    uint64_t depth, ids, metadata;
} writer;

static int32_t on_tensor(void *self, uint64_t at, const rec_tensor_event *event)
{
    writer *w = self;
    uint8_t head[FIXED + RANK * 8];
    char path[PATH + 1];
    uint64_t length = rec_job_path(w->job, path, sizeof path);
    int32_t status;
    (void)at;
    w->ids += event->id && !(event->flags & REC_EVENT_ID_MADE);
    if (!w->depth || length > PATH || event->rank > RANK || rec_dtype_bits(event->dtype) == 0) {
        status = rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                          "a tensor without a path, or of more than 8 dimensions, or of the element type %s",
                          rec_dtype_name(event->dtype));
        rec_fail_hint(w->job, "Save it as safetensors, which holds any record.");
        return status;
    }
    put(head, 4, length);
    put(head + 4, 4, (uint64_t)event->dtype);
    put(head + 8, 4, event->rank);
    for (uint32_t i = 0; i < event->rank; i++) {
        put(head + FIXED + 8 * i, 8, event->shape[i]);
    }
    status = rec_sink_write(w->sink, head, FIXED + event->rank * 8u);
    status = status == REC_OK ? rec_sink_write(w->sink, path, length) : status;
    return status == REC_OK ? rec_sink_put(w->sink, &event->data) : status; /* wherever the bytes are */
}

/* What the file has no place for is refused, but for nil, which is nothing. */
static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    writer *w = self;
    int32_t status = REC_OK;
    (void)at;
    if (scalar->kind != REC_KIND_NIL) {
        status = rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a value that is not a tensor");
        rec_fail_hint(w->job, "Save it as safetensors, which holds any record.");
    }
    return status;
}

static int32_t on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    static const char burns[] = " float int format version settings "; /* its own words about its files */
    char word[12];
    (void)at, (void)value;
    if (key->v.length < 9) {
        word[0] = word[key->v.length + 1] = ' ';
        memcpy(word + 1, key->text, (size_t)key->v.length);
        word[key->v.length + 2] = '\0';
    }
    ((writer *)self)->metadata += key->v.length >= 9 || !strstr(burns, word);
    return REC_OK;
}

static int32_t on_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at, (void)form, (void)count;
    ((writer *)self)->depth++;
    return REC_OK;
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    (void)self, (void)at, (void)key; /* rec_job_path() tells it */
    return REC_OK;
}

static int32_t on_end(void *self, uint64_t at)
{
    (void)at;
    ((writer *)self)->depth--;
    return REC_OK;
}

static int32_t save(rec_job *job, rec_sink *sink)
{
    static const rec_visitor visitor = {.size = sizeof visitor,
                                        .metadata = on_metadata,
                                        .scalar = on_scalar,
                                        .list_begin = on_begin,
                                        .map_begin = on_begin,
                                        .key = on_key,
                                        .end = on_end,
                                        .tensor = on_tensor};
    writer w = {.job = job, .sink = sink};
    uint8_t begin[BEGIN] = "FLAT";
    int32_t status;
    put(begin + 4, 4, VERSION);
    status = rec_sink_write(sink, begin, sizeof begin);
    status = status == REC_OK ? rec_job_walk(job, &visitor, &w) : status;
    if (status == REC_OK && w.ids + w.metadata) {
        rec_job_note(job, REC_NOTE_DROPPED, "", "the ids of %u tensors and %u entries of metadata: left out",
                     (unsigned)w.ids, (unsigned)w.metadata);
    }
    return status;
}

/* -------------------------------------------------------------------------------------------------- descriptor -- */

static const rec_magic magic = {.size = sizeof magic, .length = 4, .bytes = (const uint8_t *)"FLAT"};

static int32_t probe(const rec_head *head)
{
    return head->length >= BEGIN && get(head->data + 4, 4) == VERSION ? 64 : 0; /* core has looked at the magic */
}

static const rec_plugin flat = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof flat,
    .name = "Flat",
    .extension = "flat",
    .description = "tensors by their paths: the tutorial's format",
    .traits = REC_TRAIT_TENSORS | REC_TRAIT_EXACT_SIZE,
    .probe = probe,
    .load = load,
    .save = save,
    .adapter = "burn", /* paths are only how names are written */
    .magic = (const rec_magic *const[]){&magic, NULL},
    .version = "1.0",
    .license = "MIT OR Apache-2.0",
};

/* The file is flat.so, so the name here is flat. */
REC_PLUGINS(flat, &flat);
