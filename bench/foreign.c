/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Foreign models: files that are only headers, the reader of safetensors alone, plans, and PCRE2 beside them. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <err.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "ours.h"

static volatile uint64_t used;

/* ---------------------------------------------------------------------------------------------- what is loaded -- */

/* A safetensors file of `count` tensors of that shape, which is JSON for so many elements, that `name` gives names to;
 * nothing but its header, or the model's layers. */
static void write_file(const char *path, size_t count, const char *shape, size_t elements, const model *m,
                       void (*name)(char *key, size_t room, size_t i))
{
    FILE *file = fopen(path, "wb");
    size_t bytes = elements * sizeof(float), size = 0, room = 0;
    char *header = NULL, key[128];
    FILE *text = open_memstream(&header, &room);

    for (size_t i = 0; i < count; i++) {
        name(key, sizeof key, i);
        (void)fprintf(text, "%s\"%s\":{\"dtype\":\"F32\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}", i ? "," : "{", key,
                      shape, i * bytes, (i + 1) * bytes);
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
    for (size_t i = 0; m && i < m->count; i++) {
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

static const char *const parts_of_layer[] = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                             "self_attn.o_proj", "mlp.gate_proj",    "mlp.up_proj",
                                             "mlp.down_proj",    "input_layernorm"};

/* As long as those of real models: 100,000 of them are a header of 11 MB. */
static void key_of_model(char *key, size_t room, size_t i)
{
    (void)snprintf(key, room, "model.layers.%zu.%s.weight", i / 8, parts_of_layer[i % 8]);
}

static void short_key(char *key, size_t room, size_t i)
{
    (void)snprintf(key, room, "layers.%zu.%s.w", i / 8, parts_of_layer[i % 8]);
}

static void key_of_layer(char *key, size_t room, size_t i)
{
    (void)snprintf(key, room, "layers.%zu.weight", i);
}

/* write-header FILE COUNT: so many small tensors */
static span write_header(const model *m, char *const *words)
{
    (void)m;
    write_file(words[1], number_of(words[2], 1), "[2,2]", 4, NULL, key_of_model);
    return (span){0};
}

/* write-million FILE: a million numbers with short names, as a header has 100 MB at most */
static span write_million(const model *m, char *const *words)
{
    (void)m;
    write_file(words[1], 1000000, "[1]", 1, NULL, short_key);
    return (span){0};
}

/* write-sparse FILE MIB: 16 tensors, a hole where data would be */
static span write_sparse(const model *m, char *const *words)
{
    size_t rows = number_of(words[2], 1) * 64;
    char shape[64];

    (void)m;
    (void)snprintf(shape, sizeof shape, "[%zu,256]", rows);
    write_file(words[1], 16, shape, rows * 256, NULL, key_of_layer);
    return (span){0};
}

/* write-layers FILE: the payload as PyTorch has it */
static span write_layers(const model *m, char *const *words)
{
    write_file(words[1], m->count, "[1024,1024]", LAYER_COUNT, m, key_of_layer);
    return (span){0};
}

/* Writes `count` matrices of FP8 (E4M3), then their scales for blocks of 128x128. @param codes of a matrix; NULL: a
 * hole. */
static void write_codes(const char *path, size_t count, size_t side, const uint8_t *codes)
{
    size_t bytes = side * side, blocks = (side + 127) / 128, scales = blocks * blocks, at = 0, room = 0;
    char *header = NULL;
    FILE *file = fopen(path, "wb"), *text = open_memstream(&header, &room);
    uint64_t length;

    for (size_t i = 0; i < 2 * count; i++) {
        bool scale = i >= count;
        size_t size = scale ? scales * sizeof(float) : bytes, edge = scale ? blocks : side;
        (void)fprintf(
            text, "%s\"layers.%zu.weight%s\":{\"dtype\":\"%s\",\"shape\":[%zu,%zu],\"data_offsets\":[%zu,%zu]}",
            i ? "," : "{", i % count, scale ? "_scale_inv" : "", scale ? "F32" : "F8_E4M3", edge, edge, at, at + size);
        at += size;
    }
    (void)fprintf(text, "}");
    (void)fclose(text);
    length = room;
    if (!file || fwrite(&length, sizeof length, 1, file) != 1 || fwrite(header, 1, room, file) != room) {
        err(2, "%s", path);
    }
    for (size_t i = 0; codes && i < count; i++) {
        (void)fwrite(codes, 1, bytes, file);
    }
    for (size_t i = 0; codes && i < count * scales; i++) {
        (void)fwrite(&(float){1.5f}, sizeof(float), 1, file);
    }
    if (fflush(file) != 0 || ferror(file) || ftruncate(fileno(file), (off_t)(8 + room + at)) != 0) {
        err(2, "%s", path);
    }
    (void)fclose(file);
    free(header);
}

/* write-fp8 FILE [MIB]: FP8 whose numbers are as many bytes as the payload; or four times so many MiB of codes that are
 * zeros, in a hole */
static span write_fp8(const model *m, char *const *words)
{
    size_t mib = number_of(words[2], 0);
    uint8_t *codes = mib ? NULL : malloc(LAYER_COUNT);

    for (size_t i = 0; codes && i < LAYER_COUNT; i++) {
        codes[i] = (uint8_t)(i * 37 % 0x78);
    }
    write_codes(words[1], mib ? mib / 4 : m->count, mib ? (size_t)4096 : SIDE, codes);
    free(codes);
    return (span){0};
}

/* write-sixteen FILE: the payload as 16 tensors */
static span write_sixteen(const model *m, char *const *words)
{
    size_t rows = SIDE * m->count / 16;
    char shape[64];

    (void)snprintf(shape, sizeof shape, "[%zu,%d]", rows, SIDE);
    write_file(words[1], 16, shape, rows * SIDE, m, key_of_layer);
    return (span){0};
}

/* ------------------------------------------------------------------------------------------------------ limits -- */

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

/* raw-match COUNT: 50 regular expressions on so many keys, PCRE2 alone */
static span raw_match(const model *m, char *const *words)
{
    size_t count = number_of(words[1], 1);
    pcre2_code *codes[RULES];
    pcre2_match_data *data = pcre2_match_data_create(8, NULL);
    char pattern[128], key[128];
    span start = begin(), took;
    uint64_t hits = 0;

    (void)m;
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
    took = since(start);
    used += hits;
    for (size_t i = 0; i < RULES; i++) {
        pcre2_code_free(codes[i]);
    }
    pcre2_match_data_free(data);
    return took;
}

/* --------------------------------------------------------------------------------------------------- librecord -- */

/* reader FILE FOLDER: the plugin's reader alone, by the plugin of reader/, which is in that folder */
static span reader_alone(const model *m, char *const *words)
{
    rec_context *context = context_with(0);
    rec_recorder *recorder;
    rec_record *record;
    span took;

    (void)m;
    must(rec_context_add_plugin_path(context, words[2]));
    recorder = open_recorder(context, "ReaderAlone", REC_PRECISION_KEEP, words, "");
    record = rec_load(recorder, words[1]);
    if (!record) {
        errx(2, "%s", rec_error_message());
    }
    took = (span){rec_value_scalar(rec_value_at(record, "seconds")).v.f,
                  rec_value_scalar(rec_value_at(record, "cpu")).v.f};
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_context_free(context);
    return took;
}

/* plan FILE COUNT: 50 rules on every key of a file of so many tensors */
static span plan_file(const model *m, char *const *words)
{
    rec_context *context = context_with(0);
    span start = begin(), took;
    rec_recorder *recorder = open_recorder(context, "Safetensors", REC_PRECISION_KEEP, words, "");
    rec_plan *plan = rec_plan_new(context, NULL);
    rec_plan_totals totals = {.size = sizeof totals};

    (void)m;
    must(rec_recorder_set(recorder, "adapter", "none"));
    for (size_t i = 0; i < RULES; i++) {
        char rule[256];
        rule_of(rule, sizeof rule, i);
        (void)strcat(rule, i < 5 ? " => $1.attention.w.$2" : " => $1.$2.$3");
        if (i < 5) {
            char *end_of = rule + strlen(rule);
            (void)snprintf(end_of - 4, 16, "w%zu.$2", i);
        }
        must(rec_recorder_set(recorder, "rename", rule));
    }
    if (!plan || rec_plan_add(plan, recorder, words[1]) != REC_OK || rec_plan_total(plan, &totals) != REC_OK) {
        errx(2, "%s", rec_error_message());
    }
    took = since(start);
    live_anonymous = status_mib("RssAnon");
    if (totals.mapped < number_of(words[2], 0) / 100 || totals.fatal > 0) {
        errx(2, "%s: a plan that maps %llu tensors", words[1], (unsigned long long)totals.mapped);
    }
    rec_plan_free(plan);
    rec_close_recorder(recorder);
    rec_context_free(context);
    return took;
}

const operation foreign_operations[] = {
    {"write-header", write_header},
    {"write-million", write_million},
    {"write-sparse", write_sparse},
    {"write-layers", write_layers},
    {"write-sixteen", write_sixteen},
    {"write-fp8", write_fp8},
    {"raw-match", raw_match},
    {"reader", reader_alone},
    {"plan", plan_file},
    {0},
};
