/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Foreign models: headers, lazy opening, the PyTorch adapter, conversion and plans, and the limits beside them. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <err.h>
#include <fcntl.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <librecord.h>

#include "bench.h"

static volatile uint64_t used;

/* The adapter goes by the names of types. */
#define LINEAR_FIELDS(F, T) F(T, PARAM, weight, 2) F(T, OPTION_PARAM, bias, 1)
REC_DEFINE_STRUCT(Linear, LINEAR_FIELDS)
#define NET_FIELDS(F, T) F(T, LIST, layers, Linear)
REC_DEFINE_STRUCT(Net, NET_FIELDS)

/* ---------------------------------------------------------------------------------------------------- what is loaded -- */

/* A safetensors file of `count` tensors that `name` gives names to; nothing but its header, or the model's layers. */
static void write_file(const char *path, size_t count, size_t rows, size_t columns, const model *m,
                       void (*name)(char *key, size_t room, size_t i))
{
    FILE *file = fopen(path, "wb");
    size_t bytes = rows * columns * sizeof(float), size = 0, room = 0;
    char *header = NULL, key[128];
    FILE *text = open_memstream(&header, &room);

    for (size_t i = 0; i < count; i++) {
        name(key, sizeof key, i);
        (void)fprintf(text, "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%zu,%zu],\"data_offsets\":[%zu,%zu]}",
                      i ? "," : "{", key, rows, columns, i * bytes, (i + 1) * bytes);
    }
    (void)fprintf(text, "}");
    while (fflush(text) == 0 && room % 8 != 0) {
        (void)fputc(' ', text);
    }
    (void)fclose(text);
    size = room;
    if (!file || fwrite(&size, sizeof size, 1, file) != 1 || fwrite(header, 1, size, file) != size) {
        err(2, "%s", path);
    }
    for (size_t i = 0; m && i < count * bytes / LAYER_BYTES; i++) {
        if (fwrite(m->layers[i], LAYER_BYTES, 1, file) != 1) {
            err(2, "%s", path);
        }
    }
    if (fflush(file) != 0 || ftruncate(fileno(file), (off_t)(8 + size + count * bytes)) != 0 ||
        fsync(fileno(file)) != 0) {
        err(2, "%s", path);
    }
    (void)fclose(file);
    free(header);
}

/* As long as those of real models: 100,000 of them are a header of 11 MB. */
static void key_of_model(char *key, size_t room, size_t i)
{
    static const char *const parts[] = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
                                        "mlp.gate_proj",    "mlp.up_proj",      "mlp.down_proj",    "input_layernorm"};

    (void)snprintf(key, room, "model.layers.%zu.%s.weight", i / 8, parts[i % 8]);
}

static void key_of_layer(char *key, size_t room, size_t i)
{
    (void)snprintf(key, room, "layers.%zu.weight", i);
}

void write_header(const char *path, size_t count)
{
    write_file(path, count, 2, 2, NULL, key_of_model);
}

void write_sparse(const char *path, size_t megabytes)
{
    write_file(path, 16, megabytes * 64, 256, NULL, key_of_layer);
}

void write_layers(const model *m, const char *path)
{
    write_file(path, m->count, SIDE, SIDE, m, key_of_layer);
}

void write_sixteen(const model *m, const char *path)
{
    write_file(path, 16, SIDE * (m->count / 16), SIDE, m, key_of_layer);
}

/* ------------------------------------------------------------------------------------------------------------ limits -- */

double raw_copy_memory(const char *path)
{
    double start = now(), end;
    int fd = must_open(path, O_RDONLY);
    size_t size = file_size(fd);
    const char *view = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    char *memory = fresh_pages(size);

    close(fd);
    if (view == MAP_FAILED) {
        err(2, "%s", path);
    }
    memcpy(memory, view, size);
    used += (uint64_t)memory[size / 2];
    end = now();
    munmap(memory, size);
    munmap((void *)(uintptr_t)view, size);
    return end - start;
}

double raw_copy_file(const char *from, const char *to)
{
    enum { PIECE = 1 << 20 };
    char *piece = malloc(PIECE);
    double start = now(), end;
    int in = must_open(from, O_RDONLY), out = must_open(to, O_WRONLY | O_CREAT | O_TRUNC);
    ssize_t got;

    while ((got = read(in, piece, PIECE)) > 0) {
        if (write(out, piece, (size_t)got) != got) {
            err(2, "%s", to);
        }
    }
    if (got < 0) {
        err(2, "%s", from);
    }
    close(in);
    close(out);
    end = now();
    free(piece);
    return end - start;
}

/* Fifty rules, as a profile of several dialects has them: most keys are met by one or two. */
enum { RULES = 50 };

static void rule_of(char *pattern, size_t room, size_t i)
{
    static const char *const parts[] = {"self_attn\\.q_proj", "self_attn\\.k_proj", "self_attn\\.v_proj",
                                        "mlp\\.gate_proj", "mlp\\.up_proj"};

    if (i < 5) {
        (void)snprintf(pattern, room, "(layers\\.[0-9]+)\\.%s\\.(.+)", parts[i]);
    } else {
        (void)snprintf(pattern, room, "(layers\\.[0-9]+)\\.block_%zu\\.(dense|norm)\\.(.+)", i);
    }
}

double raw_match(size_t count)
{
    pcre2_code *codes[RULES];
    pcre2_match_data *data = pcre2_match_data_create(8, NULL);
    char pattern[128], key[128];
    double start;
    uint64_t hits = 0;

    start = now();
    for (size_t i = 0; i < RULES; i++) {
        int number;
        PCRE2_SIZE at;
        rule_of(pattern, sizeof pattern, i);
        codes[i] = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                                 PCRE2_UTF | PCRE2_UCP | PCRE2_DOLLAR_ENDONLY, &number, &at, NULL);
        if (!codes[i] || pcre2_jit_compile(codes[i], PCRE2_JIT_COMPLETE) != 0) {
            errx(2, "%s: no regular expression, or no JIT", pattern);
        }
    }
    for (size_t k = 0; k < count; k++) {
        key_of_model(key, sizeof key, k);
        for (size_t i = 0; i < RULES; i++) {
            hits += pcre2_match(codes[i], (PCRE2_SPTR)key, strlen(key), 0, PCRE2_NO_UTF_CHECK, data, NULL) > 0;
        }
    }
    start = now() - start;
    used += hits;
    for (size_t i = 0; i < RULES; i++) {
        pcre2_code_free(codes[i]);
    }
    pcre2_match_data_free(data);
    return start;
}

/* --------------------------------------------------------------------------------------------------------- librecord -- */

static rec_recorder *opened(rec_context *context, const char *name, const char *map)
{
    rec_recorder *recorder = rec_open_recorder_in(context, name, REC_PRECISION_KEEP);

    if (!recorder || rec_recorder_set(recorder, "map", map) != REC_OK ||
        rec_recorder_set(recorder, "sync", "no") != REC_OK) {
        errx(2, "%s", rec_error_message());
    }
    return recorder;
}

static void set(rec_recorder *recorder, const char *argument, const char *value)
{
    if (rec_recorder_set(recorder, argument, value) != REC_OK) {
        errx(2, "%s", rec_error_message());
    }
}

static void typed(rec_recorder *recorder)
{
    if (rec_recorder_set_type(recorder, &Net_type) != REC_OK) {
        errx(2, "%s", rec_error_message());
    }
}

double foreign_open(const char *path)
{
    rec_context *context = rec_context_new(NULL);
    double start = now(), end;
    rec_recorder *recorder = opened(context, "Safetensors", "yes");
    rec_record *record;
    rec_iterator *all;
    const rec_tensor *tensor;
    const char *key;

    set(recorder, "adapter", "none");
    set(recorder, "gaps", "keep");
    record = rec_load(recorder, path);
    all = record ? rec_iterate(record) : NULL;
    if (!all) {
        errx(2, "%s", rec_error_message());
    }
    while ((tensor = rec_iterator_next_tensor(all, &key)) != NULL) {
        used += strlen(key) + rec_tensor_rank(tensor) + rec_tensor_nbytes(tensor);
    }
    end = now();
    live_anonymous = status_mib("RssAnon");
    rec_iterator_free(all);
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_context_free(context);
    return end - start;
}

double foreign_reader(const char *path, const char *plugins)
{
    rec_context *context = rec_context_new(NULL);
    rec_recorder *recorder;
    rec_record *record;
    double seconds;

    if (rec_context_add_plugin_path(context, plugins) != REC_OK) {
        errx(2, "%s", rec_error_message());
    }
    recorder = opened(context, "ReaderAlone", "yes");
    record = rec_load(recorder, path);
    if (!record) {
        errx(2, "%s", rec_error_message());
    }
    seconds = rec_value_scalar(rec_value_at(record, "seconds")).v.f;
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_context_free(context);
    return seconds;
}

double foreign_load(const char *path)
{
    rec_context *context = rec_context_new(NULL);
    double start = now(), end;
    rec_recorder *recorder = opened(context, "Safetensors", "yes");
    rec_record *record;
    rec_iterator *all;
    const rec_tensor *tensor;
    const char *key;

    typed(recorder);
    record = rec_load(recorder, path);
    all = record ? rec_iterate(record) : NULL;
    if (!all) {
        errx(2, "%s", rec_error_message());
    }
    while ((tensor = rec_iterator_next_tensor(all, &key)) != NULL) {
        const unsigned char *bytes = rec_tensor_bytes(tensor, NULL);
        if (!bytes) {
            errx(2, "%s", rec_error_message());
        }
        used += bytes[0];
    }
    end = now();
    rec_iterator_free(all);
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_context_free(context);
    return end - start;
}

void foreign_check(const model *m, const char *path)
{
    rec_context *context = rec_context_new(NULL);
    rec_recorder *recorder = opened(context, "Safetensors", "yes");
    rec_record *record;

    typed(recorder);
    record = rec_load(recorder, path);
    for (size_t i = 0; i < m->count; i++) {
        char key[64];
        const rec_tensor *tensor;
        const float *values;
        key_of_layer(key, sizeof key, i);
        tensor = record ? rec_tensor_at(record, key) : NULL;
        values = tensor ? rec_tensor_f32(tensor) : NULL;
        if (!values) {
            errx(2, "%s", rec_error_message());
        }
        for (size_t r = 0; r < SIDE; r++) {
            for (size_t c = 0; c < SIDE; c++) {
                if (memcmp(&values[c * SIDE + r], &m->layers[i][r * SIDE + c], sizeof(float)) != 0) {
                    errx(2, "%s: %s is not transposed", path, key);
                }
            }
        }
    }
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_context_free(context);
}

/* The most anonymous memory while an operation runs; live_anonymous at its end. */
static int32_t watch(void *user, const rec_progress *progress)
{
    double mib = status_mib("RssAnon");
    (void)user;
    (void)progress;
    live_anonymous = mib > live_anonymous ? mib : live_anonymous;
    return 0;
}

double foreign_convert(const char *from, const char *to, bool adapt, const char *map, bool watched)
{
    rec_context *context = rec_context_new(NULL);
    double start = now(), end;
    rec_recorder *in = opened(context, "Safetensors", map), *out = opened(context, "NamedMpk", map);

    if (watched) {
        rec_context_set_progress(context, watch, NULL);
    }
    if (adapt) {
        typed(in);
    } else {
        set(in, "adapter", "none");
    }
    if (rec_convert(in, from, out, to, NULL) != REC_OK) {
        errx(2, "%s", rec_error_message());
    }
    end = now();
    rec_close_recorder(in);
    rec_close_recorder(out);
    rec_context_free(context);
    return end - start;
}

double foreign_plan(const char *path)
{
    rec_context *context = rec_context_new(NULL);
    double start = now(), end;
    rec_recorder *recorder = opened(context, "Safetensors", "yes");
    rec_plan *plan = rec_plan_new(context, NULL);
    rec_plan_totals totals = {.size = sizeof totals};

    set(recorder, "adapter", "none");
    for (size_t i = 0; i < RULES; i++) {
        char rule[256];
        rule_of(rule, sizeof rule, i);
        (void)strcat(rule, i < 5 ? " => $1.attention.w.$2" : " => $1.$2.$3");
        if (i < 5) {
            char *end_of = rule + strlen(rule);
            (void)snprintf(end_of - 4, 16, "w%zu.$2", i);
        }
        set(recorder, "rename", rule);
    }
    if (!plan || rec_plan_add(plan, recorder, path) != REC_OK || rec_plan_total(plan, &totals) != REC_OK) {
        errx(2, "%s", rec_error_message());
    }
    end = now();
    if (totals.mapped < 1000 || totals.fatal > 0) {
        errx(2, "%s: a plan that maps %llu tensors", path, (unsigned long long)totals.mapped);
    }
    rec_plan_free(plan);
    rec_close_recorder(recorder);
    rec_context_free(context);
    return end - start;
}
