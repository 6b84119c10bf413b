/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord's operations. What is freed afterwards is freed outside the time, as the others do. */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include <librecord.h>

#include "bench.h"

static volatile uint64_t used;

/* What the records are, for formats without names. */
#define LINEAR_FIELDS(F, T) F(T, PARAM, weight, 2) F(T, OPTION_PARAM, bias, 1)
REC_DEFINE_STRUCT(LINEAR, LINEAR_FIELDS)
#define NET_FIELDS(F, T) F(T, LIST, layers, LINEAR)
REC_DEFINE_STRUCT(NET, NET_FIELDS)

static rec_recorder *opened(rec_context *context, const char *name, rec_precision precision, const char *map)
{
    rec_recorder *recorder = rec_open_recorder_in(context, name, precision);

    /* fsync stands outside the time: bench/run asks for it after each save */
    if (!recorder || rec_recorder_set(recorder, "map", map) != REC_OK ||
        rec_recorder_set(recorder, "sync", "no") != REC_OK) {
        errx(2, "%s", rec_error_message());
    }
    if (strncmp(name, "Bin", 3) == 0 && rec_recorder_set_type(recorder, &NET_type) != REC_OK) {
        errx(2, "%s", rec_error_message());
    }
    return recorder;
}

static rec_context *context_with(unsigned threads)
{
    rec_context *context = rec_context_new(NULL);

    if (!context || (threads && rec_context_set_threads(context, threads) != REC_OK)) {
        errx(2, "%s", rec_error_message());
    }
    return context;
}

typedef void (*visit_fn)(const rec_tensor *tensor);

static void look(const rec_tensor *tensor)
{
    used += rec_tensor_offset(tensor) + rec_tensor_shape(tensor)[0];
}

static void touch(const rec_tensor *tensor)
{
    uint64_t size;
    const void *bytes = rec_tensor_bytes(tensor, &size);

    if (!bytes) {
        errx(2, "%s", rec_error_message());
    }
    used += sum_words(bytes, size);
}

static void as_f32(const rec_tensor *tensor)
{
    const float *values = rec_tensor_f32(tensor);

    if (!values) {
        errx(2, "%s", rec_error_message());
    }
    used += (uint64_t)(values[0] != 0);
}

/* A .bin without a type: what `record ls` does. */
static rec_recorder *by_position(rec_context *context)
{
    rec_recorder *recorder = rec_open_recorder_in(context, "BinFile", REC_PRECISION_KEEP);

    if (!recorder || rec_recorder_set(recorder, "positional", "yes") != REC_OK) {
        errx(2, "%s", rec_error_message());
    }
    return recorder;
}

/* Opens a recorder, loads a file and visits each of its tensors. Opening counts: it is part of what a program does. */
static double load(const char *path, const char *name, rec_precision precision, const char *map, unsigned threads,
                   visit_fn visit)
{
    rec_context *context = context_with(threads);
    double start = now(), end;
    rec_recorder *recorder =
        strcmp(name, "positional") == 0 ? by_position(context) : opened(context, name, precision, map);
    rec_record *record = rec_load(recorder, path);
    rec_iterator *iterator = record ? rec_iterate(record) : NULL;
    const rec_tensor *tensor;
    const char *key;
    uint64_t count = 0;

    if (!iterator) {
        errx(2, "%s", rec_error_message());
    }
    while ((tensor = rec_iterator_next_tensor(iterator, &key)) != NULL) {
        visit(tensor);
        count++;
    }
    end = now();
    live_anonymous = status_mib("RssAnon");
    if (count == 0) {
        errx(2, "%s: no tensors", path);
    }
    rec_iterator_free(iterator);
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_context_free(context);
    return end - start;
}

double ours_open(const char *path)
{
    return load(path, "NamedMpk", REC_PRECISION_KEEP, "yes", 0, look);
}

double ours_scan(const char *path)
{
    return load(path, "positional", REC_PRECISION_KEEP, "yes", 0, look);
}

double ours_touch(const char *path)
{
    return load(path, "NamedMpk", REC_PRECISION_KEEP, "yes", 0, touch);
}

double ours_load(const char *path, const char *recorder, unsigned threads)
{
    return load(path, recorder, REC_PRECISION_KEEP, "no", threads, look);
}

double ours_load_f32(const char *path, unsigned threads)
{
    return load(path, "NamedMpk", REC_PRECISION_FULL, "yes", threads, as_f32);
}

double ours_load_scalars(const char *path)
{
    return load(path, "NamedMpk", REC_PRECISION_KEEP, "yes", 0, touch);
}

double ours_save(const model *m, const char *path, const char *name, const char *precision)
{
    rec_context *context = context_with(0);
    rec_recorder *recorder = opened(context, name, rec_precision_from_name(precision), "yes");
    const uint64_t shape[] = {SIDE, SIDE};
    double start = now(), end;
    rec_record *record = rec_record_new(context);
    char key[64];

    for (size_t i = 0; record && i < m->count; i++) {
        rec_tensor_spec spec = {
            .size = sizeof spec,
            .dtype = REC_DTYPE_F32,
            .rank = 2,
            .ownership = REC_BORROW,
            .shape = shape,
            .data = m->layers[i],
            .data_size = LAYER_BYTES,
            .id = "",
        };
        (void)snprintf(key, sizeof key, "layers.%zu.weight", i);
        if (rec_set_tensor(record, key, &spec) != REC_OK) {
            errx(2, "%s", rec_error_message());
        }
        (void)snprintf(key, sizeof key, "layers.%zu.bias", i);
        if (rec_set_nil(record, key) != REC_OK) {
            errx(2, "%s", rec_error_message());
        }
    }
    if (!record || rec_save(recorder, record, path) != REC_OK) {
        errx(2, "%s", rec_error_message());
    }
    end = now();
    live_anonymous = status_mib("RssAnon");
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_context_free(context);
    return end - start;
}

void ours_check(const model *m, const char *path, const char *name, bool half)
{
    rec_context *context = context_with(0);
    rec_recorder *recorder = opened(context, name, REC_PRECISION_KEEP, "yes");
    rec_record *record = rec_load(recorder, path);
    char key[64];

    if (!record) {
        errx(2, "%s", rec_error_message());
    }
    for (size_t i = 0; i < m->count; i++) {
        (void)snprintf(key, sizeof key, "layers.%zu.weight", i);
        const rec_tensor *tensor = rec_tensor_at(record, key);
        const float *values = tensor ? rec_tensor_f32(tensor) : NULL;
        if (!values || rec_tensor_count(tensor) != LAYER_COUNT) {
            errx(2, "%s: %s: %s", path, key, rec_error_message());
        }
        for (size_t k = 0; k < LAYER_COUNT; k++) {
            /* an f16 is within 2^-11 of what it was made from, or within the least subnormal */
            float off = values[k] - m->layers[i][k], limit = half ? 0.00048829F : 0;
            float size = m->layers[i][k] < 0 ? -m->layers[i][k] : m->layers[i][k];
            if ((off < 0 ? -off : off) > limit * size + (half ? 6e-8F : 0)) {
                errx(2, "%s: %s: element %zu is %g, it was %g", path, key, k, (double)values[k],
                     (double)m->layers[i][k]);
            }
        }
    }
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_context_free(context);
}
