/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Burn's own quantised tensors (DType::QFloat): codes, then the scales of blocks, then the scale of the tensor, all in
 * one tensor's bytes. The numbers are those of Burn's CPU backends. docs/reference/foreign-formats.md lists what is
 * decoded; the forms of a scheme in each version of Burn are in burn/layout/dtype_text.c. */
#include <stdio.h>
#include <string.h>

#include "plugins/codec/json/number.h"
#include "plugins/codec/scheme/element.h"
#include "plugins/codec/scheme/grid.h"

/* What `state` holds. Offsets are in the tensor's bytes. */
enum { VALUE, BITS, SCALES_AT, SCALES_SIZE, GLOBAL_AT, OFFSET, GRID /* and what follows */ };

/* Codes that are no floats of their own. */
enum { INTEGERS = 100, FP4 };

/* What OFFSET holds beside an offset of 0.14: there is none, or an i32 before the scale. */
enum { NO_OFFSET = 1000, OFFSET_BEFORE_SCALE };

static const char no_layout[] = "its bytes do not have the size of its scheme";

/* -------------------------------------------------------------------------------------- the words of a scheme -- */

/* Where the value of a key begins, or NULL. Burn's words are JSON without white space. */
static const char *value_of(const char *words, const char *key)
{
    const char *found = strstr(words, key);
    return found ? found + strlen(key) : NULL;
}

static bool has(const char *words, const char *text)
{
    return strstr(words, text) != NULL;
}

/* Whether the value of a key begins with a text. */
static bool is(const char *words, const char *key, const char *text)
{
    const char *value = value_of(words, key);
    return value && strncmp(value, text, strlen(text)) == 0;
}

static uint64_t small_number(const char **at)
{
    uint64_t number = 0;
    for (; **at >= '0' && **at <= '9' && number < 1000; ++*at) {
        number = number * 10 + (uint64_t)(**at - '0');
    }
    return number;
}

/* A scale in the words themselves, as 0.14 and 0.15 have it. */
static bool read_float(const char *words, const char *key, float *number)
{
    const uint8_t *text = (const uint8_t *)value_of(words, key);
    lr_float_reader reader = {0};
    lr_decimal decimal;
    double wide = 0;
    bool read = text && (*text == '-' || (*text >= '0' && *text <= '9')) &&
                lr_decimal_scan(text, text + strlen((const char *)text), &decimal) == LR_SCAN_DONE &&
                lr_float_read(&reader, &decimal, text, (uint64_t)(decimal.end - text), &wide) == REC_OK;
    lr_float_reader_free(&reader);
    *number = (float)wide;
    return read;
}

/* ------------------------------------------------------------------------------------------------ finding out -- */

/* The type of the codes. @return false: unknown. */
static bool find_value(const char *words, uint64_t *state)
{
    static const struct {
        const char *name;
        uint64_t value, bits;
    } values[] = {{"Q8", INTEGERS, 8},          {"Q4", INTEGERS, 4},          {"Q2", INTEGERS, 2},
                  {"E4M3", LR_ELEMENT_E4M3, 8}, {"E5M2", LR_ELEMENT_E5M2, 8}, {"E2M1", FP4, 8}};
    state[BITS] = 8;
    state[VALUE] = INTEGERS;
    if (!has(words, "\"value\":")) {
        return has(words, "QInt8") || has(words, "Int8\":");
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "\"%s", values[i].name);
        if (is(words, "\"value\":", name)) {
            state[VALUE] = values[i].value;
            state[BITS] = is(words, "\"store\":", "\"Native") ? 8 : values[i].bits;
            return true;
        }
    }
    return false;
}

static int scale_element(const char *name)
{
    return strncmp(name, "\"F32", 4) == 0     ? LR_ELEMENT_F32
           : strncmp(name, "\"F16", 4) == 0   ? LR_ELEMENT_F16
           : strncmp(name, "\"BF16", 5) == 0  ? LR_ELEMENT_BF16
           : strncmp(name, "\"UE8M0", 6) == 0 ? LR_ELEMENT_E8M0
           : strncmp(name, "\"UE4M3", 6) == 0 ? LR_ELEMENT_E4M3
                                              : LR_ELEMENT_NONE;
}

/* A block is a list of sizes for the last dimensions. @return false: it has more than two that are not 1. */
static bool find_block(const char *words, uint64_t *height, uint64_t *width)
{
    const char *at = value_of(words, "\"storage\":["), *length = value_of(words, "\"len\":");
    uint64_t count = length ? small_number(&length) : 0, sizes[2] = {1, 1};
    for (uint64_t i = 0; at && i < count; i++) {
        uint64_t size = small_number(&at);
        if (sizes[0] != 1 || !size || (*at != ',' && *at != ']')) {
            return false;
        }
        sizes[0] = sizes[1];
        sizes[1] = size;
        at += *at == ',';
    }
    *height = sizes[0];
    *width = sizes[1];
    return at && count;
}

/* One scale for all, or one for each block. */
static const char *find_grid(const rec_part *part, const char *words, uint64_t *grid)
{
    uint64_t columns = part->rank ? part->shape[part->rank - 1] : 1;
    uint64_t rows = part->rank > 1 ? part->shape[part->rank - 2] : 1, height = 1, width = 1;
    bool blocks = has(words, "\"storage\":[");
    if (blocks && !find_block(words, &height, &width)) {
        return "blocks of more than two dimensions are not decoded";
    }
    if (blocks && has(words, "\"level\":") && height == 1 && columns % width != 0) {
        rows = 1; /* before 0.22 a block went on in the next row */
        columns = part->count;
    } else if (blocks && has(words, "\"level\":") && height != 1) {
        return "backends of Burn before 0.22 do not agree where its blocks lie";
    }
    grid[LR_GRID_ROWS] = rows;
    grid[LR_GRID_COLUMNS] = columns;
    grid[LR_GRID_MATRICES] = !blocks;
    grid[LR_GRID_HEIGHT] = blocks ? height : rows;
    grid[LR_GRID_WIDTH] = blocks ? width : columns;
    grid[LR_GRID_DOWN] = blocks ? lr_grid_blocks(rows, height) : 1;
    grid[LR_GRID_ACROSS] = blocks ? lr_grid_blocks(columns, width) : 1;
    return NULL;
}

/* Where scales lie: behind the codes, of the type that the words say. Up to 0.21 the CPU backends wrote f32 for all. */
static bool find_scales(const rec_part *part, const char *words, uint64_t *state)
{
    const char *block = value_of(words, "\"dtype\":"), *tensor = value_of(words, "\"tensor\":");
    const char *param = value_of(words, "\"param\":");
    uint64_t *grid = state + GRID, matrix = grid[LR_GRID_ROWS] * grid[LR_GRID_COLUMNS];
    uint64_t scales = grid[LR_GRID_MATRICES] ? 1 : grid[LR_GRID_DOWN] * grid[LR_GRID_ACROSS] * (part->count / matrix);
    uint64_t codes = lr_grid_blocks(part->count * state[BITS], 8), global = 0, size;
    int element = LR_ELEMENT_F32;
    if (block || param) {
        element = scale_element(block ? block : param);
        global = block && tensor && strncmp(tensor, "null", 4) != 0 ? 4 : 0;
    } else if (tensor && strncmp(tensor, "null", 4) != 0) {
        element = scale_element(tensor);
    }
    size = scales * lr_element_size(element);
    if (param && part->nbytes == codes + scales * 4) {
        element = LR_ELEMENT_F32;
        size = scales * 4;
    }
    grid[LR_GRID_ELEMENT] = (uint64_t)element;
    state[SCALES_SIZE] = size;
    if (!has(words, "\"value\":")) { /* up to 0.18 codes fill words of 32 bits */
        codes = lr_grid_blocks(codes, 4) * 4 + (state[OFFSET] == OFFSET_BEFORE_SCALE ? 4 : 0);
    }
    state[SCALES_AT] = codes;
    state[GLOBAL_AT] = global ? codes + size : 0;
    return element != LR_ELEMENT_NONE && part->nbytes == codes + size + global;
}

/* Why a tensor cannot be decoded, or NULL. */
static const char *find(const rec_part *part, const char *words, uint64_t *state)
{
    const char *fault;
    float scale;
    state[OFFSET] = has(words, "Affine") ? OFFSET_BEFORE_SCALE : NO_OFFSET;
    if (part->count / 4 > part->nbytes) {
        return no_layout;
    }
    if (!find_value(words, state) || has(words, "\"Lookup\"")) {
        return "librecord does not know its scheme";
    }
    if (has(words, "PackedNative") || (has(words, "PackedU32") && !has(words, "\"PackedU32\":0"))) {
        return "codes packed along another dimension than the last one are not decoded";
    }
    if (has(words, "\"store\":") && !is(words, "\"store\":", "\"Native") &&
        (!part->rank || part->shape[part->rank - 1] % (32 / state[BITS]) != 0)) {
        return "rows that do not fill their packed words are not decoded";
    }
    fault = find_grid(part, words, state + GRID);
    if (fault) {
        return fault;
    }
    if (!has(words, "Int8\":")) {
        return find_scales(part, words, state) ? NULL : no_layout;
    }
    if (!read_float(words, "\"scale\":", &scale) || part->nbytes != part->count) {
        return no_layout;
    }
    memcpy(&state[SCALES_AT], &scale, sizeof scale); /* the scale itself */
    if (state[OFFSET] == OFFSET_BEFORE_SCALE) {
        const char *offset = value_of(words, "\"offset\":");
        bool minus = offset && *offset == '-';
        int64_t number;
        offset = offset ? offset + minus : "";
        number = (int64_t)small_number(&offset);
        state[OFFSET] = (uint64_t)(minus ? -number : number);
    }
    return NULL;
}

static int32_t claim(rec_job *job, const rec_siblings *siblings, const rec_part *part, rec_logical *logical)
{
    char scales[48] = "one scale";
    (void)job;
    (void)siblings;
    if (part->dtype != REC_DTYPE_QFLOAT || !part->count || part->rank > REC_LOGICAL_RANK_MOST) {
        return REC_OK;
    }
    logical->unsupported = find(part, part->dtype_name, logical->state);
    logical->parts[logical->part_count++] = part;
    logical->dtype = REC_DTYPE_F32;
    logical->rank = part->rank;
    memcpy(logical->shape, part->shape, part->rank * sizeof *part->shape);
    if (!logical->unsupported) {
        logical->step = logical->state[BITS] < 8 ? 32 / logical->state[BITS] : 1;
        if (logical->state[SCALES_SIZE]) {
            logical->parts[logical->part_count++] = part;
        }
        if (logical->state[GLOBAL_AT]) {
            logical->parts[logical->part_count++] = part;
        }
        lr_grid_words(logical->state + GRID, scales, sizeof scales);
    }
    (void)snprintf(logical->label, sizeof logical->label, "Burn %s%s%s",
                   logical->state[VALUE] == INTEGERS ? "integers" : "small floats", logical->unsupported ? "" : ", ",
                   logical->unsupported ? "" : scales);
    return REC_OK;
}

/* --------------------------------------------------------------------------------------------------- decoding -- */

static void spans(const uint64_t *state, uint64_t first, uint64_t count, rec_span *spans)
{
    uint64_t bits = state[BITS], before = state[OFFSET] == OFFSET_BEFORE_SCALE ? 4 : 0;
    spans[0] = (rec_span){.offset = first * bits / 8, .length = lr_grid_blocks(count * bits, 8), .count = 1};
    if (!state[SCALES_SIZE]) {
        return;
    }
    spans[1] = (rec_span){.length = state[SCALES_SIZE], .count = 1};
    if (!state[GRID + LR_GRID_MATRICES]) {
        lr_grid_span(state + GRID, first, count, &spans[1]);
    }
    spans[1].offset += state[SCALES_AT] - before;
    spans[1].length += before;
    if (state[GLOBAL_AT]) {
        spans[2] = (rec_span){.offset = state[GLOBAL_AT], .length = 4, .count = 1};
    }
}

/* The integer of a code, which has a sign. */
static int32_t integer(const uint8_t *codes, uint64_t index, unsigned bits)
{
    uint32_t code = codes[index * bits / 8] >> (index * bits % 8) & ((1u << bits) - 1), sign = 1u << (bits - 1);
    return (int32_t)(code ^ sign) - (int32_t)sign;
}

/* Elements with one scale. */
static void decode(const uint64_t *state, const float *table, const uint8_t *codes, const lr_grid_run *run,
                   uint64_t from, int32_t offset, float scale, float *to)
{
    unsigned bits = (unsigned)state[BITS];
    if (state[VALUE] == INTEGERS && bits == 8) {
        for (uint64_t i = 0; i < run->length; i++) {
            to[i] = scale * (float)((int8_t)codes[from + i] - offset);
        }
        return;
    }
    for (uint64_t i = 0; i < run->length; i++) {
        to[i] = scale * (state[VALUE] == INTEGERS ? (float)(integer(codes, from + i, bits) - offset)
                         : state[VALUE] == FP4    ? lr_element_fp4[codes[from + i] & 15]
                                                  : table[codes[from + i]]);
    }
}

static int32_t tile(const uint64_t *state, uint64_t first, uint64_t count, const rec_span *spans,
                    const void *const *parts, void *numbers)
{
    float table[256], *to = numbers, factor = 1, inline_scale;
    const uint8_t *scales = state[SCALES_SIZE] ? parts[1] : NULL;
    int32_t offset = state[OFFSET] < NO_OFFSET || state[OFFSET] > OFFSET_BEFORE_SCALE ? (int32_t)state[OFFSET] : 0;
    uint64_t begin = 0;
    lr_grid_run run;
    if (scales) {
        begin = spans[1].offset - state[SCALES_AT];
        if (state[OFFSET] == OFFSET_BEFORE_SCALE) {
            offset = (int8_t)scales[0]; /* Burn takes its low byte */
            scales += 4;
            begin = 0;
        }
    }
    if (state[GLOBAL_AT]) {
        factor = lr_element_read(LR_ELEMENT_F32, parts[2], 0);
    }
    if (state[VALUE] < INTEGERS) {
        lr_element_table((int)state[VALUE], table);
    }
    memcpy(&inline_scale, &state[SCALES_AT], sizeof inline_scale);
    if (!scales) {
        run = (lr_grid_run){.length = count};
        decode(state, table, parts[0], &run, 0, offset, inline_scale, to);
        return REC_OK;
    }
    lr_grid_begin(&run, state + GRID, first, count, scales, begin);
    while (lr_grid_next(&run)) {
        decode(state, table, parts[0], &run, run.at - first, offset, factor * run.scale, to + (run.at - first));
    }
    return REC_OK;
}

static const rec_plugin burn = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof burn,
    .kind = REC_PLUGIN_SCHEME,
    .name = "qfloat",
    .description = "scheme: Burn's own quantised tensors",
    .claim = claim,
    .spans = spans,
    .tile = tile,
};

REC_PLUGINS(scheme_burn, &burn);
