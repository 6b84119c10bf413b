/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Plans: the tensors of a foreign model, a line `NAME: F32 2 3` each, and load arguments, a line `rename = a => b`
 * each; `type = EXPRESSION` gives the destination's, `shard = SIZE` has it saved in several files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

enum { TENSORS_MOST = 64, ELEMENTS_MOST = 4096, ARGUMENTS_MOST = 24 };

/* A safetensors file that grows: its header, and how many bytes of data there are. */
typedef struct model {
    char header[65536];
    size_t used;
    uint64_t data;
    unsigned count;
} model;

static const struct {
    const char *name;
    unsigned width;
} dtypes[] = {{"F32", 4}, {"F16", 2}, {"BF16", 2}, {"F64", 8}, {"I64", 8}, {"I32", 4}, {"U8", 1}, {"BOOL", 1}};

static void add_tensor(model *m, const char *name, const char *words)
{
    char shape[128] = "";
    uint64_t elements = 1, size;
    unsigned rank = 0, kind = 0;
    for (unsigned i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        size_t length = strlen(dtypes[i].name);
        if (strncmp(words, dtypes[i].name, length) == 0 && (words[length] == ' ' || words[length] == '\0')) {
            kind = i;
        }
    }
    words += strcspn(words, " ");
    while (*words && rank < 5) {
        char *end;
        unsigned long n = strtoul(words, &end, 10) % 97;
        if (end == words) {
            break;
        }
        elements *= n;
        (void)snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%s%lu", rank++ ? "," : "", n);
        words = end;
    }
    size = elements * dtypes[kind].width;
    for (const char *c = name; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == '"' || *c == '\\') {
            return;
        }
    }
    if (elements > ELEMENTS_MOST || m->count == TENSORS_MOST || strlen(name) > 200 || strstr(m->header, name) ||
        lr_utf8_valid(name, strlen(name)) != strlen(name)) {
        return;
    }
    m->used += (size_t)snprintf(m->header + m->used, sizeof m->header - m->used,
                                "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%llu,%llu]}",
                                m->count++ ? "," : "", name, dtypes[kind].name, shape, (unsigned long long)m->data,
                                (unsigned long long)(m->data + size));
    m->data += size;
}

/* The file's bytes. */
static uint8_t *finish(model *m, size_t *size)
{
    uint8_t *file;
    uint64_t length;
    (void)snprintf(m->header + m->used, sizeof m->header - m->used, "}");
    length = ++m->used;
    *size = (size_t)(8 + length + m->data);
    file = malloc(*size);
    fuzz_must(file != NULL, "memory");
    for (unsigned i = 0; i < 8; i++) {
        file[i] = (uint8_t)(length >> 8 * i);
    }
    memcpy(file + 8, m->header, (size_t)length);
    for (uint64_t i = 0; i < m->data; i++) {
        file[8 + length + i] = (uint8_t)(i * 37 % 61); /* small numbers of any type; of bools most are none */
    }
    return file;
}

static void look_at_plan(rec_plan *plan)
{
    for (uint64_t i = 0; i < rec_plan_count(plan); i++) {
        const rec_plan_line *line = rec_plan_get(plan, i);
        fuzz_must(line && line->from && line->to && line->operations && line->why, "a line of the plan");
    }
    for (uint64_t i = 0; i < rec_plan_problem_count(plan); i++) {
        const rec_plan_problem *problem = rec_plan_problem_get(plan, i);
        fuzz_must(problem && problem->text[0], "a problem has words");
    }
}

static void carry_out(rec_plan *plan, rec_context *context, const char *shard)
{
    rec_plan_totals totals = {.size = sizeof totals};
    rec_record *record;
    if (rec_plan_total(plan, &totals) != REC_OK) {
        fuzz_must_say();
        return;
    }
    record = rec_plan_load(plan);
    fuzz_must(!record || totals.fatal == 0, "fatal problems are");
    if (!record) {
        fuzz_must_say();
        return;
    }
    (void)fuzz_look(record);
    if (shard) {
        rec_recorder *recorder = rec_open_recorder_in(context, "Safetensors", REC_PRECISION_KEEP);
        void *saved = NULL;
        uint64_t size;
        if (rec_recorder_set(recorder, "max-shard-size", shard) == REC_OK) {
            (void)rec_save_bytes(recorder, record, &saved, &size);
        }
        rec_free(saved);
        rec_close_recorder(recorder);
    }
    rec_record_free(record);
}

int fuzz_plan(const uint8_t *data, size_t size)
{
    static model m;
    static rec_types *types[2];
    rec_context *context = fuzz_context(size);
    bool standard = size % 8 == 7;
    char *text = fuzz_text(data, size), *next = text;
    const char *shard = NULL;
    rec_recorder *recorder = rec_open_recorder_in(context, "Safetensors", REC_PRECISION_KEEP);
    rec_plan *plan;
    rec_record *record;
    unsigned arguments = 0;
    uint8_t *file;
    size_t length;
    if (!types[standard]) {
        types[standard] = rec_types_new(context);
    }
    fuzz_must(recorder && types[standard], "a recorder");
    m.used = 1;
    memcpy(m.header, "{", 2);
    m.data = m.count = 0;
    for (char *line; (line = next) != NULL;) {
        char *value = strstr(line, " = "), *words;
        next = strchr(line, '\n');
        if (next) {
            *next++ = '\0';
        }
        value = value && (!next || value < next - 1) ? value : NULL;
        if (value && arguments++ < ARGUMENTS_MOST) {
            *value = '\0';
            value += 3;
            if (strcmp(line, "type") == 0) {
                (void)rec_recorder_set_type_name(recorder, types[standard], value);
            } else if (strcmp(line, "shard") == 0) {
                shard = value;
            } else if (strcmp(line, "profile") != 0 && strcmp(line, "config") != 0 && strcmp(line, "map") != 0) {
                (void)rec_recorder_set(recorder, line, value);
            }
        } else if (!value && (words = strstr(line, ": ")) != NULL) {
            *words = '\0';
            add_tensor(&m, line, words + 2);
        }
    }
    file = finish(&m, &length);
    record = rec_load_bytes(recorder, file, length);
    if (!record) {
        fuzz_must_say();
    }
    rec_record_free(record);
    plan = rec_plan_new(context, NULL);
    fuzz_must(plan != NULL, "a plan");
    rec_recorder *plain = rec_open_recorder_in(context, "Safetensors", REC_PRECISION_KEEP);
    (void)rec_recorder_set(plain, "adapter", "none");
    record = rec_load_bytes(plain, file, length);
    if (record && rec_plan_add_record(plan, recorder, record, "model") == REC_OK && rec_plan_make(plan) == REC_OK) {
        look_at_plan(plan);
        carry_out(plan, context, shard);
    }
    rec_plan_free(plan);
    rec_record_free(record);
    rec_close_recorder(plain);
    rec_close_recorder(recorder);
    free(file);
    free(text);
    return 1;
}
