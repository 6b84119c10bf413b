/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A format of several files for the tests of sources and sinks beside one another. NAME.parts is an index, a line
 * "KEY FILE\n" for each tensor of bytes; the FILEs lie beside it, and begin with their size, a byte.
 * A folder is read by the one index in it. */
#include <string.h>

#include <librecord/plugin.h>

static const char magic[] = "PARTS\n";
enum { NAME_ROOM = 300 };

/* ----------------------------------------------------------------------------------------------------- reading -- */

/** One tensor: the whole of a file but its first byte, which must be right. */
static int32_t load_part(rec_job *job, rec_source *part, const rec_visitor *visitor, void *self)
{
    uint64_t whole = rec_source_size(part), shape = whole - 1;
    uint8_t first = 0;
    rec_tensor_event event = {.size = sizeof event, .dtype = REC_DTYPE_U8, .rank = 1, .shape = &shape};
    int32_t status = rec_source_read_at(job, part, 0, &first, 1);
    if (status == REC_OK && first != (uint8_t)whole) {
        status = rec_fail(job, REC_E_FORMAT, 0, "it says that it has %u bytes", (unsigned)first);
    }
    event.data =
        (rec_blob){.size = sizeof(rec_blob), .kind = REC_BLOB_RANGE, .length = shape, .source = part, .offset = 1};
    return status == REC_OK ? visitor->tensor(self, 1, &event) : status;
}

static int32_t load_line(rec_job *job, rec_source *index, const char *line, size_t length, uint64_t at,
                         const rec_visitor *visitor, void *self)
{
    const char *space = memchr(line, ' ', length);
    size_t key_length = space ? (size_t)(space - line) : 0;
    char name[NAME_ROOM];
    rec_scalar key = {.kind = REC_KIND_STRING, .text = line, .v.length = key_length};
    rec_source *part = NULL;
    int32_t status;
    if (!space || length - key_length >= sizeof name) {
        return rec_fail(job, REC_E_FORMAT, at, "a line is not \"KEY FILE\"");
    }
    memcpy(name, space + 1, length - key_length - 1);
    name[length - key_length - 1] = '\0';
    status = rec_source_beside(job, index, name, &part);
    if (status == REC_OK) {
        status = visitor->key(self, at, &key);
    }
    if (status == REC_OK) {
        status = load_part(job, part, visitor, self);
        if (status != REC_OK) {
            rec_fail_source(job, part);
        }
    }
    rec_source_release(part);
    return status;
}

static int32_t load_index(rec_job *job, rec_source *index, const rec_visitor *visitor, void *self)
{
    const void *data;
    uint64_t size, at = sizeof magic - 1;
    int32_t status = rec_source_view(job, index, &data, &size);
    if (status != REC_OK) {
        return status;
    }
    if (size < at || memcmp(data, magic, (size_t)at) != 0) {
        return rec_fail(job, REC_E_FORMAT, 0, "this is not an index of parts");
    }
    status = visitor->map_begin(self, at, REC_FORM_STRUCT, REC_UNKNOWN);
    while (status == REC_OK && at < size) {
        const char *line = (const char *)data + at;
        const char *end = memchr(line, '\n', (size_t)(size - at));
        size_t length = end ? (size_t)(end - line) : (size_t)(size - at);
        status = load_line(job, index, line, length, at, visitor, self);
        at += length + 1;
    }
    return status == REC_OK ? visitor->end(self, at) : status;
}

static int is_index(const char *name)
{
    size_t length = strlen(name);
    return length > 6 && strcmp(name + length - 6, ".parts") == 0;
}

static int32_t load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    const char *const *names, *found = NULL;
    uint64_t count;
    rec_source *index = NULL;
    int32_t status = rec_source_names(job, source, &names, &count);
    if (status != REC_OK || !names) {
        return status != REC_OK ? status : load_index(job, source, visitor, self);
    }
    for (uint64_t i = 0; i < count; i++) {
        found = is_index(names[i]) ? names[i] : found;
    }
    if (!found) {
        return rec_fail(job, REC_E_FORMAT, REC_UNKNOWN, "there is no index in the folder");
    }
    status = rec_source_beside(job, source, found, &index);
    if (status == REC_OK) {
        status = load_index(job, index, visitor, self);
        if (status != REC_OK) {
            rec_fail_source(job, index);
        }
    }
    rec_source_release(index);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

struct writer {
    rec_job *job;
    rec_sink *sink;
    char stem[NAME_ROOM];
    int32_t close; /**< whether parts are closed when they are written */
    unsigned count;
};

static int32_t put(struct writer *w, const char *text, size_t length)
{
    return rec_sink_write(w->sink, text, length);
}

static int32_t on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    (void)self, (void)at, (void)key, (void)value;
    return REC_OK;
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    struct writer *w = self;
    (void)scalar;
    return rec_fail(w->job, REC_E_UNSUPPORTED, at, "only tensors have parts");
}

static int32_t on_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)self, (void)at, (void)form, (void)count;
    return REC_OK;
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    (void)at;
    return put(self, key->text, (size_t)key->v.length);
}

static int32_t on_end(void *self, uint64_t at)
{
    (void)self, (void)at;
    return REC_OK;
}

static int32_t on_tensor(void *self, uint64_t at, const rec_tensor_event *tensor)
{
    struct writer *w = self;
    size_t length = strlen(w->stem);
    char name[NAME_ROOM + 16];
    uint8_t first = (uint8_t)(tensor->data.length + 1);
    rec_sink *part = NULL;
    int32_t status;
    (void)at;
    memcpy(name, w->stem, length);
    name[length++] = '-';
    for (unsigned digit = 1000, n = w->count++; digit; n %= digit, digit /= 10) {
        name[length++] = (char)('0' + n / digit);
    }
    memcpy(name + length, ".part", 6);
    status = rec_sink_beside(w->job, w->sink, name, &part);
    if (status == REC_OK) {
        status = rec_sink_write(part, &first, 1);
    }
    if (status == REC_OK) {
        status = rec_sink_put(part, &tensor->data);
    }
    if (status == REC_OK && w->close) {
        status = rec_sink_close(part);
    }
    status = status == REC_OK ? put(w, " ", 1) : status;
    status = status == REC_OK ? put(w, name, strlen(name)) : status;
    return status == REC_OK ? put(w, "\n", 1) : status;
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
    struct writer w = {.job = job, .sink = sink, .close = (int32_t)rec_job_option_int(job, "close")};
    char index[NAME_ROOM + 8];
    size_t length = strcspn(rec_sink_name(sink), ".");
    int32_t status;
    memcpy(w.stem, rec_sink_name(sink), length < NAME_ROOM ? length : 0);
    memcpy(index, w.stem, length + 1);
    memcpy(index + length, ".parts", 7);
    status = *rec_sink_name(sink) ? rec_sink_rename(job, sink, index) : REC_OK;
    status = status == REC_OK ? rec_sink_write(sink, magic, sizeof magic - 1) : status;
    return status == REC_OK ? rec_job_walk(job, &visitor, &w) : status;
}

/* -------------------------------------------------------------------------------------------------- descriptor -- */

static int32_t probe(const rec_head *head)
{
    for (uint64_t i = 0; i < head->name_count; i++) {
        if (is_index(head->names[i])) {
            return 16;
        }
    }
    return !head->names && head->length >= 6 && memcmp(head->data, magic, 6) == 0 && is_index(head->name) ? 48 : 0;
}

static const rec_option option_close = {.size = sizeof option_close,
                                        .type = REC_OPTION_BOOL,
                                        .name = "close",
                                        .initial = "yes",
                                        .help = "close each part when it is written"};
static const rec_option *const options[] = {&option_close, NULL};

static const rec_plugin plugin = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof(rec_plugin),
    .name = "Parts",
    .extension = "prt",
    .description = "test: an index and a file for each tensor",
    .traits = REC_TRAIT_TENSORS | REC_TRAIT_EXACT_SIZE | REC_TRAIT_FOLDER,
    .options = options,
    .probe = probe,
    .load = load,
    .save = save,
    .adapter = "pytorch",
};

REC_PLUGINS(parts, &plugin);
