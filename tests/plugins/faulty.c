/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A format whose writer makes one mistake, by its option `fault`, for the tests of the check of what was saved. A file
 * is a row of events: a letter, the size of what follows, and that. */
#include <string.h>

#include <librecord/plugin.h>

typedef struct writer {
    rec_job *job;
    rec_sink *sink;
    const char *fault; /* what is done wrong, once */
    int done, lost;    /* `lost`: the value of a key that was left out is left out, too */
} writer;

static int32_t put(writer *w, char letter, const void *data, uint64_t size)
{
    int32_t status = rec_sink_write(w->sink, &letter, 1);
    status = status == REC_OK ? rec_sink_write(w->sink, &size, sizeof size) : status;
    return status == REC_OK ? rec_sink_write(w->sink, data, size) : status;
}

/* Whether it is time for a mistake. */
static int is_now(writer *w, const char *fault)
{
    int now = !w->done && strcmp(w->fault, fault) == 0;
    w->done |= now;
    return now;
}

static int32_t put_scalar(writer *w, const rec_scalar *scalar)
{
    struct {
        int32_t kind, bits;
        int64_t value;
    } number = {.kind = scalar->kind, .bits = scalar->bits, .value = scalar->v.i};
    if (scalar->kind == REC_KIND_STRING) {
        return put(w, 's', scalar->text, scalar->v.length);
    }
    if ((scalar->kind == REC_KIND_INT || scalar->kind == REC_KIND_UINT) && is_now(w, "integer")) {
        number.value++;
    }
    if (scalar->kind == REC_KIND_FLOAT && is_now(w, "float")) {
        number.value ^= 1 << 30; /* within what a float of 32 bits has */
    }
    if (scalar->kind == REC_KIND_BOOL && is_now(w, "bool")) {
        number.value ^= 1;
    }
    if (scalar->kind != REC_KIND_NIL && is_now(w, "nil")) {
        number.kind = REC_KIND_NIL;
    }
    return put(w, 'n', &number, sizeof number);
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    writer *w = self;
    (void)at;
    if (w->lost) {
        w->lost = 0;
        return REC_OK;
    }
    if (scalar->kind == REC_KIND_STRING && scalar->v.length == 5 && memcmp(scalar->text, "hello", 5) == 0 &&
        is_now(w, "text")) {
        return put(w, 's', "hullo", 5);
    }
    return put_scalar(w, scalar);
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    writer *w = self;
    uint8_t buffer[256];
    uint64_t done = 0;
    int32_t status = rec_sink_write(w->sink, "b", 1);
    (void)at;
    status = status == REC_OK ? rec_sink_write(w->sink, &blob->length, sizeof blob->length) : status;
    while (done < blob->length && status == REC_OK) {
        uint64_t n = blob->length - done < sizeof buffer ? blob->length - done : sizeof buffer;
        status = rec_blob_read(w->job, blob, done, buffer, n);
        if (done + n == blob->length && blob->length > 300 && is_now(w, "byte")) {
            buffer[n - 1] ^= 1;
        }
        status = status == REC_OK ? rec_sink_write(w->sink, buffer, n) : status;
        done += n;
    }
    return status;
}

static int32_t on_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at;
    (void)form;
    (void)count;
    return put(self, '[', "", 0);
}

static int32_t on_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at;
    (void)form;
    (void)count;
    return put(self, '{', "", 0);
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    writer *w = self;
    int32_t status = REC_OK;
    (void)at;
    if (key->v.length == 4 && memcmp(key->text, "five", 4) == 0) {
        if (is_now(w, "lost")) {
            w->lost = 1;
            return REC_OK;
        }
        if (is_now(w, "name")) {
            return put(w, 'k', "fives", 5);
        }
        if (is_now(w, "added")) {
            status = put(w, 'k', "sixth", 5);
            status = status == REC_OK ? put(w, 's', "6", 1) : status;
        }
    }
    return status == REC_OK ? put(w, 'k', key->text, key->v.length) : status;
}

static int32_t on_end(void *self, uint64_t at)
{
    (void)at;
    return put(self, 'e', "", 0);
}

static const rec_visitor on_write = {
    .size = sizeof(rec_visitor),
    .scalar = on_scalar,
    .bytes = on_bytes,
    .list_begin = on_list,
    .map_begin = on_map,
    .key = on_key,
    .end = on_end,
};

static int32_t save(rec_job *job, rec_sink *sink)
{
    writer w = {.job = job, .sink = sink, .fault = rec_job_option_text(job, "fault")};
    int32_t status = rec_job_walk(job, &on_write, &w);
    return status == REC_OK && is_now(&w, "unread") ? rec_sink_write(sink, "?", 1) : status;
}

/* ----------------------------------------------------------------------------------------------------- reading -- */

/* @param list the event is in a list, whose integers a reader reports as numbers. */
static int32_t load_event(rec_job *job, const char *data, uint64_t size, char letter, int list,
                          const rec_visitor *visitor, void *self)
{
    rec_scalar scalar = {.kind = REC_KIND_STRING, .text = data, .v.length = size};
    rec_blob blob = {.size = sizeof blob, .kind = REC_BLOB_TEMPORARY, .length = size, .data = data};
    int32_t kind[2];
    switch (letter) {
    case '{':
        return visitor->map_begin(self, REC_UNKNOWN, REC_FORM_UNKNOWN, REC_UNKNOWN);
    case '[':
        return visitor->list_begin(self, REC_UNKNOWN, REC_FORM_UNKNOWN, REC_UNKNOWN);
    case 'e':
        return visitor->end(self, REC_UNKNOWN);
    case 'k':
        return visitor->key(self, REC_UNKNOWN, &scalar);
    case 's':
        return visitor->scalar(self, REC_UNKNOWN, &scalar);
    case 'b':
        return visitor->bytes(self, REC_UNKNOWN, &blob);
    case 'n':
        memcpy(kind, data, sizeof kind);
        scalar.kind = kind[0];
        scalar.bits = (uint16_t)kind[1];
        memcpy(&scalar.v.i, data + sizeof kind, sizeof scalar.v.i);
        return list && scalar.kind == REC_KIND_UINT ? visitor->numbers(self, REC_UNKNOWN, REC_DTYPE_U64, &scalar.v.u, 1)
                                                    : visitor->scalar(self, REC_UNKNOWN, &scalar);
    default:
        return rec_fail(job, REC_E_FORMAT, REC_UNKNOWN, "an event of no kind");
    }
}

static int32_t load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    const void *view;
    uint64_t size, at = 0, lists = 0; /* lists: a bit for each container that is open */
    int32_t status = rec_source_view(job, source, &view, &size);
    while (status == REC_OK && at < size) {
        const char *data = (const char *)view + at;
        uint64_t length;
        if (size - at < 9) {
            return rec_fail(job, REC_E_FORMAT, at, "half an event");
        }
        memcpy(&length, data + 1, sizeof length);
        if (length > size - at - 9) {
            return rec_fail(job, REC_E_FORMAT, at, "an event that goes on beyond the file");
        }
        status = load_event(job, data + 9, length, *data, lists & 1, visitor, self);
        if (*data == '[' || *data == '{') {
            lists = lists << 1 | (*data == '[');
        } else if (*data == 'e') {
            lists >>= 1;
        }
        at += 9 + length;
    }
    return status;
}

static const rec_option fault = {
    .size = sizeof(rec_option),
    .type = REC_OPTION_TEXT,
    .name = "fault",
    .initial = "none",
    .help = "what is written wrong",
};

static const rec_plugin faulty = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof faulty,
    .name = "Faulty",
    .extension = "faulty",
    .description = "a format that is written wrong",
    .options = (const rec_option *const[]){&fault, NULL},
    .load = load,
    .save = save,
};

static const rec_plugin mute = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof mute,
    .name = "Mute",
    .extension = "mute",
    .description = "a format that cannot be read",
    .options = (const rec_option *const[]){&fault, NULL},
    .save = save,
};

REC_PLUGINS(faulty, &faulty, &mute);
