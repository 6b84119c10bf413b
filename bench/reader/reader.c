/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A plugin that times the reader of safetensors alone: as much as the safetensors crate does, without the record that
 * core makes of it. It "loads" a file as how long that took. bench/run makes it of this and the codec, for itself. */
#include <string.h>
#include <time.h>

#include "plugins/codec/safetensors/safetensors.h"

typedef struct seen {
    uint64_t entries, sum;
} seen;

static int32_t on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    (void)self, (void)at, (void)key, (void)value;
    return REC_OK;
}

static int32_t on_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)self, (void)at, (void)form, (void)count;
    return REC_OK;
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    (void)at;
    ((seen *)self)->sum += key->v.length;
    return REC_OK;
}

static int32_t on_tensor(void *self, uint64_t at, const rec_tensor_event *event)
{
    (void)at;
    ((seen *)self)->entries++;
    ((seen *)self)->sum += event->rank + event->data.length;
    return REC_OK;
}

static int32_t on_end(void *self, uint64_t at)
{
    (void)self, (void)at;
    return REC_OK;
}

static double clock_of(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int32_t load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    static const rec_visitor nobody = {.size = sizeof nobody,
                                       .metadata = on_metadata,
                                       .map_begin = on_map,
                                       .key = on_key,
                                       .tensor = on_tensor,
                                       .end = on_end};
    static const struct {
        const char *name;
        clockid_t clock;
    } figures[] = {{"seconds", CLOCK_MONOTONIC}, {"cpu", CLOCK_PROCESS_CPUTIME_ID}};
    double begun[2], took[2];
    seen s = {0};
    int32_t status;

    for (int i = 0; i < 2; i++) {
        begun[i] = clock_of(figures[i].clock);
    }
    status = lr_st_read(job, source, &nobody, &s);
    for (int i = 0; i < 2; i++) {
        took[i] = clock_of(figures[i].clock) - begun[i];
    }
    if (status == REC_OK && (s.entries == 0 || s.sum == 0)) {
        status = rec_fail(job, REC_E_FORMAT, REC_UNKNOWN, "no tensors");
    }
    status = status == REC_OK ? visitor->map_begin(self, 0, REC_FORM_STRUCT, 2) : status;
    for (int i = 0; i < 2; i++) {
        rec_scalar name = {.kind = REC_KIND_STRING, .v.length = strlen(figures[i].name), .text = figures[i].name};
        rec_scalar figure = {.kind = REC_KIND_FLOAT, .bits = 64, .v.f = took[i]};
        status = status == REC_OK ? visitor->key(self, 0, &name) : status;
        status = status == REC_OK ? visitor->scalar(self, 0, &figure) : status;
    }
    return status == REC_OK ? visitor->end(self, 0) : status;
}

static const rec_option *const options[] = {&lr_st_max_shard_size, &lr_st_record, &lr_st_keep_names, NULL};

static const rec_plugin plugin = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof plugin,
    .name = "ReaderAlone",
    .extension = "safetensors",
    .description = "how long reading the header of a safetensors file takes",
    .traits = REC_TRAIT_TENSORS,
    .options = options,
    .load = load,
};

REC_PLUGINS(reader, &plugin);
