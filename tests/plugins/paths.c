/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The writer of the flat format, and its descriptors: one for files that are laid out as Burn's modules are unless they
 * say otherwise, one for those that are laid out as PyTorch's. */

#include <stdbool.h>
#include <string.h>

#include "paths.h"

struct writer {
    rec_job *job;
    rec_sink *sink;
    uint32_t depth;
    bool map; /**< the outermost value is one */
    char *key, *name;
    uint64_t key_room, name_room;
};

static int32_t put_number(struct writer *w, uint64_t number, unsigned bytes)
{
    uint8_t little[8];

    for (unsigned i = 0; i < bytes; i++) {
        little[i] = (uint8_t)(number >> (8 * i));
    }
    return rec_sink_write(w->sink, little, bytes);
}

static int32_t put_text(struct writer *w, const char *text, uint64_t length)
{
    int32_t status = put_number(w, length, 4);

    return status == REC_OK && length > 0 ? rec_sink_write(w->sink, text, length) : status;
}

static bool make_room(struct writer *w, char **text, uint64_t *room, uint64_t length)
{
    if (length >= *room) {
        char *wider = rec_job_resize(w->job, *text, length + 1);
        if (wider == NULL) {
            return false;
        }
        *text = wider;
        *room = length + 1;
    }
    return true;
}

/** Where the walk is, as the file has it. */
static int32_t put_key(struct writer *w)
{
    uint64_t length = rec_job_path(w->job, w->key, w->key_room), plain;

    if (!make_room(w, &w->key, &w->key_room, length)) {
        return REC_E_MEMORY;
    }
    (void)rec_job_path(w->job, w->key, w->key_room);
    if (!rec_job_option_int(w->job, "verbatim")) {
        return put_text(w, w->key, length);
    }
    plain = rec_path_unescape(w->key, length, w->name, w->name_room);
    if (!make_room(w, &w->name, &w->name_room, plain)) {
        return REC_E_MEMORY;
    }
    (void)rec_path_unescape(w->key, length, w->name, w->name_room);
    return put_text(w, w->name, plain);
}

static int32_t on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    struct writer *w = self;
    int32_t status = rec_sink_write(w->sink, "m", 1);

    (void)at;
    status = status == REC_OK ? put_text(w, key->text, key->v.length) : status;
    return status == REC_OK ? put_text(w, value->text, value->v.length) : status;
}

static int32_t only_tensors(struct writer *w)
{
    return rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "this format holds only tensors");
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    (void)at;
    return scalar->kind == REC_KIND_NIL ? REC_OK : only_tensors(self);
}

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    (void)at, (void)dtype, (void)data, (void)count;
    return only_tensors(self);
}

static int32_t on_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    struct writer *w = self;

    (void)at, (void)form, (void)count;
    w->depth++;
    return REC_OK;
}

const char *const paths_adapters[PATHS_ADAPTERS] = {"burn", "pytorch", "either", "foreign", "turned", "absent"};

static uint64_t adapter_number(const char *name)
{
    uint64_t number = 0;
    while (number < PATHS_ADAPTERS && strcmp(paths_adapters[number], name) != 0) {
        number++;
    }
    return number;
}

/** What a file says of itself stands in front of its tensors. */
static int32_t on_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    struct writer *w = self;
    int32_t status = REC_OK;

    (void)at, (void)form, (void)count;
    if (w->depth++ == 0) {
        w->map = true;
        if (rec_job_option_int(w->job, "mark")) {
            status = rec_sink_write(w->sink, "a", 1);
            status = status == REC_OK ? put_number(w, adapter_number(rec_job_adapter(w->job)), 1) : status;
        }
    }
    return status;
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    (void)self, (void)at, (void)key;
    return REC_OK;
}

static int32_t on_end(void *self, uint64_t at)
{
    struct writer *w = self;

    (void)at;
    w->depth--;
    return REC_OK;
}

static int32_t on_tensor(void *self, uint64_t at, const rec_tensor_event *event)
{
    struct writer *w = self;
    int32_t status;

    (void)at;
    if (!w->map) {
        return rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a tensor without a name");
    }
    if (event->dtype > REC_DTYPE_BOOL) {
        return rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "elements of %s", rec_dtype_name(event->dtype));
    }
    status = rec_sink_write(w->sink, "t", 1);
    status = status == REC_OK ? put_key(w) : status;
    status = status == REC_OK ? put_text(w, event->id, event->id != NULL ? strlen(event->id) : 0) : status;
    status = status == REC_OK ? put_number(w, (uint64_t)event->dtype, 4) : status;
    status = status == REC_OK ? put_number(w, event->rank, 4) : status;
    for (uint32_t i = 0; i < event->rank && status == REC_OK; i++) {
        status = put_number(w, event->shape[i], 8);
    }
    status = status == REC_OK ? put_number(w, event->data.length, 8) : status;
    for (uint64_t i = 0; i < event->data.length && status == REC_OK && rec_job_option_int(w->job, "fault"); i++) {
        status = rec_sink_write(w->sink, "?", 1);
    }
    return status == REC_OK && !rec_job_option_int(w->job, "fault") ? rec_sink_put(w->sink, &event->data) : status;
}

static int32_t paths_save(rec_job *job, rec_sink *sink)
{
    static const rec_visitor visitor = {.size = sizeof visitor,
                                        .metadata = on_metadata,
                                        .scalar = on_scalar,
                                        .numbers = on_numbers,
                                        .list_begin = on_list,
                                        .map_begin = on_map,
                                        .key = on_key,
                                        .end = on_end,
                                        .tensor = on_tensor};
    struct writer w = {.job = job, .sink = sink};
    int32_t status = rec_sink_write(sink, "RECPATHS", MAGIC);

    status = status == REC_OK ? rec_job_walk(job, &visitor, &w) : status;
    rec_job_free(job, w.key);
    rec_job_free(job, w.name);
    return status == REC_OK ? rec_sink_write(sink, "e", 1) : status;
}

/* -------------------------------------------------------------------------------------------------- descriptor -- */

static int32_t probe(const rec_head *head)
{
    return head->length >= MAGIC && memcmp(head->data, "RECPATHS", MAGIC) == 0 ? 8 * MAGIC : 0;
}

static const rec_option mark = {.size = sizeof mark,
                                .type = REC_OPTION_BOOL,
                                .name = "mark",
                                .initial = "no",
                                .help = "say in the file how its modules are laid out"};
static const rec_option verbatim = {.size = sizeof verbatim,
                                    .type = REC_OPTION_BOOL,
                                    .name = "verbatim",
                                    .initial = "no",
                                    .help = "names in the file are as they are, with nothing escaped"};
static const rec_option fault = {.size = sizeof fault,
                                 .type = REC_OPTION_BOOL,
                                 .name = "fault",
                                 .initial = "no",
                                 .help = "write other elements than those of the record"};
static const rec_option *const options[] = {&mark, &verbatim, &fault, NULL};

static const rec_plugin paths = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof(rec_plugin),
    .name = "Paths",
    .extension = "paths",
    .description = "test: tensors under dotted keys, laid out as Burn's",
    .traits = REC_TRAIT_TENSORS | REC_TRAIT_EXACT_SIZE,
    .options = options,
    .probe = probe,
    .load = paths_load,
    .save = paths_save,
    .adapter = "burn",
};

static const rec_plugin torch = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof(rec_plugin),
    .name = "TorchPaths",
    .extension = "tpaths",
    .description = "test: tensors under dotted keys, laid out as PyTorch's",
    .traits = REC_TRAIT_TENSORS | REC_TRAIT_EXACT_SIZE,
    .options = options,
    .load = paths_load,
    .save = paths_save,
    .adapter = "pytorch",
};

REC_PLUGINS(paths, &paths, &torch);
