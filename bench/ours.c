/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord's operations on records: load, save, convert, check. What is freed afterwards is freed outside the time, as
 * the others do. Words with a `=` are arguments of the recorder; "typed" gives it the model's type. */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <librecord.h>

#include "bench.h"
#include "ours.h"

static volatile uint64_t used;

/* What the records are, for formats without names and for the adapter, which goes by the names of types. */
#define LINEAR_FIELDS(F, T) F(T, PARAM, weight, 2) F(T, OPTION_PARAM, bias, 1)
REC_DEFINE_STRUCT(Linear, LINEAR_FIELDS)
#define NET_FIELDS(F, T) F(T, LIST, layers, Linear)
REC_DEFINE_STRUCT(Net, NET_FIELDS)

void must(rec_status status)
{
    if (status != REC_OK) {
        errx(2, "%s", rec_error_message());
    }
}

rec_context *context_with(size_t threads)
{
    rec_context *context = rec_context_new(NULL);

    if (!context) {
        errx(2, "%s", rec_error_message());
    }
    if (threads) {
        must(rec_context_set_threads(context, (uint32_t)threads));
    }
    return context;
}

/* The words with a `=`; with a prefix ("in." of "in.gaps=keep") those that have it. */
static void set_arguments(rec_recorder *recorder, char *const *words, const char *prefix)
{
    for (size_t i = 1; i < WORDS; i++) {
        const char *equals = strchr(words[i], '='), *name = words[i] + strlen(prefix);
        char argument[64];
        if (!equals || strncmp(words[i], prefix, strlen(prefix)) != 0) {
            continue;
        }
        (void)snprintf(argument, sizeof argument, "%.*s", (int)(equals - name), name);
        must(rec_recorder_set(recorder, argument, equals + 1));
    }
}

rec_recorder *open_recorder(rec_context *context, const char *name, rec_precision precision, char *const *words,
                            const char *prefix)
{
    rec_recorder *recorder = rec_open_recorder_in(context, name, precision);

    if (!recorder) {
        errx(2, "%s", rec_error_message());
    }
    /* fsync stands outside the time: bench/run asks for it after each save */
    must(rec_recorder_set(recorder, "map", has_word(words, "map") ? "yes" : "no"));
    must(rec_recorder_set(recorder, "sync", has_word(words, "durable") ? "yes" : "no"));
    if (has_word(words, "typed")) {
        must(rec_recorder_set_type(recorder, &Net_type));
    }
    set_arguments(recorder, words, prefix);
    return recorder;
}

/* -------------------------------------------------------------------------------------------------------- load -- */

typedef void visit_fn(const rec_tensor *tensor, const char *key);

static void look(const rec_tensor *tensor, const char *key)
{
    used += strlen(key) + rec_tensor_rank(tensor) + rec_tensor_nbytes(tensor) + rec_tensor_offset(tensor);
}

static void make(const rec_tensor *tensor, const char *key)
{
    const unsigned char *bytes = rec_tensor_bytes(tensor, NULL);

    (void)key;
    if (!bytes) {
        errx(2, "%s", rec_error_message());
    }
    used += bytes[0];
}

static void touch(const rec_tensor *tensor, const char *key)
{
    uint64_t size;
    const void *bytes = rec_tensor_bytes(tensor, &size);

    (void)key;
    if (!bytes) {
        errx(2, "%s", rec_error_message());
    }
    used += sum_words(bytes, size);
}

static void as_f32(const rec_tensor *tensor, const char *key)
{
    const float *values = rec_tensor_f32(tensor);

    (void)key;
    if (!values) {
        errx(2, "%s", rec_error_message());
    }
    used += (uint64_t)(values[0] != 0);
}

static visit_fn *visit_of(char *const *words)
{
    return has_word(words, "touch") ? touch : has_word(words, "make") ? make : has_word(words, "f32") ? as_f32 : look;
}

/* Opens a recorder, loads a file and visits each of its tensors. Opening counts: it is part of what a program does. */
static span load_in(rec_context *context, char *const *words)
{
    visit_fn *visit = visit_of(words);
    span start = begin(), took;
    rec_recorder *recorder =
        open_recorder(context, words[2], has_word(words, "f32") ? REC_PRECISION_FULL : REC_PRECISION_KEEP, words, "");
    rec_record *record = rec_load(recorder, words[1]);
    rec_iterator *iterator = record ? rec_iterate(record) : NULL;
    const rec_tensor *tensor;
    const char *key;
    uint64_t count = 0;

    if (!iterator) {
        errx(2, "%s", rec_error_message());
    }
    while ((tensor = rec_iterator_next_tensor(iterator, &key)) != NULL) {
        visit(tensor, key);
        count++;
    }
    took = since(start);
    live_anonymous = status_mib("RssAnon");
    if (count == 0) {
        errx(2, "%s: no tensors", words[1]);
    }
    rec_iterator_free(iterator);
    rec_record_free(record);
    rec_close_recorder(recorder);
    return took;
}

/* load FILE RECORDER THREADS [map] [look|make|touch|f32] [typed] [ARGUMENT=VALUE...]: THREADS 0: as many as it
 * likes. look: every tensor's name, shape and place; make: its bytes, lazy ones too; touch: reads every byte; f32: as
 * such. */
static span load(const model *m, char *const *words)
{
    rec_context *context = context_with(number_of(words[3], 0));
    span took;

    (void)m;
    took = load_in(context, words);
    rec_context_free(context);
    return took;
}

/* -------------------------------------------------------------------------------------------------------- save -- */

/* save FILE RECORDER full|half|keep [durable] [flat] [typed] [ARGUMENT=VALUE...]: the payload, borrowed; making the
 * record counts. durable: until it is on the disk, as is the default. flat: tensors alone, without an empty bias for
 * each. */
static span save(const model *m, char *const *words)
{
    const char *path = words[1];
    bool flat = has_word(words, "flat");
    rec_context *context = context_with(0);
    rec_recorder *recorder = open_recorder(context, words[2], rec_precision_from_name(words[3]), words, "");
    const uint64_t shape[] = {SIDE, SIDE};
    span start, took;
    rec_record *record;
    char key[64];

    (void)unlink(path);
    start = begin();
    record = rec_record_new(context);
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
        must(rec_set_tensor(record, key, &spec));
        (void)snprintf(key, sizeof key, "layers.%zu.bias", i);
        must(flat ? REC_OK : rec_set_nil(record, key));
    }
    if (!record || rec_save(recorder, record, path) != REC_OK) {
        errx(2, "%s", rec_error_message());
    }
    took = since(start);
    live_anonymous = status_mib("RssAnon");
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_context_free(context);
    sync_file(path);
    return took;
}

/* ----------------------------------------------------------------------------------------------------- convert -- */

/* The most anonymous memory while an operation runs; live_anonymous at its end. */
static int32_t watch(void *user, const rec_progress *progress)
{
    double mib = status_mib("RssAnon");
    (void)user;
    (void)progress;
    live_anonymous = mib > live_anonymous ? mib : live_anonymous;
    return 0;
}

/* convert FROM RECORDER TO RECORDER [map] [watched] [adapted] [in.ARGUMENT=VALUE...] [out.ARGUMENT=VALUE...]: watched:
 * the answer's last number is the most anonymous memory. adapted: the first recorder gets the model's type. */
static span convert(const model *m, char *const *words)
{
    rec_context *context = context_with(0);
    span start, took;
    rec_recorder *in, *out;

    (void)m;
    (void)unlink(words[3]);
    start = begin();
    in = open_recorder(context, words[2], REC_PRECISION_KEEP, words, "in.");
    out = open_recorder(context, words[4], REC_PRECISION_KEEP, words, "out.");
    if (has_word(words, "watched")) {
        rec_context_set_progress(context, watch, NULL);
    }
    if (has_word(words, "adapted")) {
        must(rec_recorder_set_type(in, &Net_type));
    }
    must(rec_convert(in, words[1], out, words[3], NULL));
    took = since(start);
    rec_close_recorder(in);
    rec_close_recorder(out);
    rec_context_free(context);
    sync_file(words[3]);
    return took;
}

static int32_t write_nothing(void *user, const void *data, uint64_t size)
{
    (void)data;
    *(uint64_t *)user += size;
    return 0;
}

/* drain FILE RECORDER PRECISION [map] [ARGUMENT=VALUE...]: loads a file unchanged and writes it at a precision to
 * nowhere; the answer's last number is the most anonymous memory. */
static span drain(const model *m, char *const *words)
{
    const rec_output output = {.size = sizeof output, .write = write_nothing};
    rec_context *context = context_with(0);
    rec_recorder *in = open_recorder(context, words[2], REC_PRECISION_KEEP, words, "");
    rec_recorder *out = open_recorder(context, words[2], rec_precision_from_name(words[3]), words, "");
    uint64_t written = 0;
    span start = begin(), took;
    rec_record *record;

    (void)m;
    rec_context_set_progress(context, watch, NULL);
    record = rec_load(in, words[1]);
    if (!record) {
        errx(2, "%s", rec_error_message());
    }
    must(rec_save_to(out, record, &output, &written));
    took = since(start);
    rec_record_free(record);
    rec_close_recorder(in);
    rec_close_recorder(out);
    rec_context_free(context);
    return took;
}

/* ------------------------------------------------------------------------------------------------------- check -- */

/* An f16 is within 2^-11 of what it was made from, or within the least subnormal. */
static bool differs(float value, float was, bool half)
{
    float off = value - was, size = was < 0 ? -was : was;

    return (off < 0 ? -off : off) > (half ? 0.00048829F * size + 6e-8F : 0);
}

/* check FILE RECORDER [half] [transposed] [typed] [ARGUMENT=VALUE...]: that a file holds the model's values, rounded if
 * it is f16, each matrix the other way round if it is transposed. */
static span check(const model *m, char *const *words)
{
    bool half = has_word(words, "half"), transposed = has_word(words, "transposed");
    rec_context *context = context_with(0);
    rec_recorder *recorder = open_recorder(context, words[2], REC_PRECISION_KEEP, words, "");
    rec_record *record = rec_load(recorder, words[1]);
    char key[64];

    if (!record) {
        errx(2, "%s", rec_error_message());
    }
    for (size_t i = 0; i < m->count; i++) {
        (void)snprintf(key, sizeof key, "layers.%zu.weight", i);
        const rec_tensor *tensor = rec_tensor_at(record, key);
        const float *values = tensor ? rec_tensor_f32(tensor) : NULL;
        if (!values || rec_tensor_count(tensor) != LAYER_COUNT) {
            errx(2, "%s: %s: %s", words[1], key, rec_error_message());
        }
        for (size_t k = 0; k < LAYER_COUNT; k++) {
            float was = m->layers[i][transposed ? k % SIDE * SIDE + k / SIDE : k];
            if (differs(values[k], was, half)) {
                errx(2, "%s: %s: element %zu is %g, it was %g", words[1], key, k, (double)values[k], (double)was);
            }
        }
    }
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_context_free(context);
    return (span){0};
}

const operation ours_operations[] = {{"load", load},   {"save", save},   {"convert", convert},
                                     {"drain", drain}, {"check", check}, {0}};
