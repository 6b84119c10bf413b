/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Types of metadata in text form: stored next to the values in formats without such types, and used to restore them. A
 * type is a word, "u32", "[u8]", "str"; or a map of the children that need one, where `""` is the type of list
 * elements. A float that JSON cannot express has its bits after the word: "f32:7fc00000". */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/record/record.h"

/* The words of numbers, bools and texts, and what a list of them is of. */
static const struct {
    const char *word;
    int32_t kind;
    uint16_t bits, of;
} words[] = {
    {"u8", REC_KIND_UINT, 8, REC_DTYPE_U8},
    {"u16", REC_KIND_UINT, 16, REC_DTYPE_U16},
    {"u32", REC_KIND_UINT, 32, REC_DTYPE_U32},
    {"u64", REC_KIND_UINT, 64, REC_DTYPE_U64},
    {"i8", REC_KIND_INT, 8, REC_DTYPE_I8},
    {"i16", REC_KIND_INT, 16, REC_DTYPE_I16},
    {"i32", REC_KIND_INT, 32, REC_DTYPE_I32},
    {"i64", REC_KIND_INT, 64, REC_DTYPE_I64},
    {"f32", REC_KIND_FLOAT, 32, REC_DTYPE_F32},
    {"f64", REC_KIND_FLOAT, 64, REC_DTYPE_F64},
    {"bool", REC_KIND_BOOL, 0, REC_DTYPE_BOOL},
    {"str", REC_KIND_STRING, 0, LR_OF_TEXTS},
    {"int", REC_KIND_UINT, 0, 0},
    {"float", REC_KIND_FLOAT, 0, 0},
    {"nil", REC_KIND_NIL, 0, 0},
    {"bytes", REC_KIND_BYTES, 0, 0},
    {"list", REC_KIND_LIST, 0, LR_OF_LISTS},
    {"map", REC_KIND_MAP, 0, 0},
};
enum { WORDS = sizeof words / sizeof *words };

static size_t find_word(const char *word, uint64_t length)
{
    size_t i = 0;
    while (i < WORDS && (strlen(words[i].word) != length || memcmp(words[i].word, word, (size_t)length) != 0)) {
        i++;
    }
    return i;
}

uint16_t lr_list_of(const char *word)
{
    size_t i = find_word(word, strlen(word));
    return i < WORDS ? words[i].of : 0;
}

const char *lr_list_of_word(uint16_t of)
{
    for (size_t i = 0; of && i < WORDS; i++) {
        if (words[i].of == of) {
            return words[i].word;
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- types told -- */

static const char *word_of(const rec_value *value)
{
    int32_t kind = value->kind;
    uint16_t bits = kind == REC_KIND_UINT || kind == REC_KIND_INT || kind == REC_KIND_FLOAT ? value->bits : 0;
    kind = kind == REC_KIND_INT && !bits ? REC_KIND_UINT : kind == REC_KIND_NUMBERS ? REC_KIND_LIST : kind;
    for (size_t i = 0; i < WORDS; i++) {
        if (words[i].kind == kind && words[i].bits == bits) {
            return words[i].word;
        }
    }
    return kind == REC_KIND_FLOAT ? "float" : "str";
}

static bool is_odd(double number)
{
    return number - number != 0;
}

/* The bits of a float that JSON lacks. */
static void put_bits(lr_json_line *line, double number, bool narrow)
{
    char text[24];
    uint64_t bits;
    uint32_t word;
    float single = (float)number;
    memcpy(&bits, &number, sizeof bits);
    memcpy(&word, &single, sizeof word);
    (void)(narrow ? snprintf(text, sizeof text, ":%08" PRIx32, word)
                  : snprintf(text, sizeof text, ":%016" PRIx64, bits));
    lr_line_word(line, text);
}

static void put_scalar_type(lr_json_line *line, const rec_value *value)
{
    lr_line_word(line, "\"");
    lr_line_word(line, word_of(value));
    if (value->kind == REC_KIND_FLOAT && is_odd(value->v.f)) {
        put_bits(line, value->v.f, value->bits == 32);
    }
    lr_line_word(line, "\"");
}

/* Element `index` of a list or run as a value of the type that the run has. */
static rec_value element(const rec_value *list, uint64_t index)
{
    rec_value value = {0};
    rec_scalar number;
    if (list->kind == REC_KIND_LIST) {
        return list->v.list->items[index];
    }
    number = lr_packed_number(list->v.run, index);
    value = (rec_value){.kind = (uint8_t)number.kind, .bits = number.bits, .v.u = number.v.u};
    return value;
}

/* Returns the element type of a list: the common width of floats or bools, or text. */
static uint16_t of_list(const rec_value *list)
{
    uint64_t texts = 0;
    if (list->bits) {
        return list->bits;
    }
    if (list->kind == REC_KIND_NUMBERS) {
        return lr_dtype_is_int(list->v.run->dtype) ? 0 : (uint16_t)list->v.run->dtype;
    }
    while (texts < list->v.list->count && list->v.list->items[texts].kind == REC_KIND_STRING) {
        texts++;
    }
    return texts && texts == list->v.list->count ? LR_OF_TEXTS : 0;
}

/* Whether the word of its list says all of an element. */
static bool follows(const rec_value *item, uint16_t of)
{
    if (of == LR_OF_TEXTS) {
        return item->kind == REC_KIND_STRING;
    }
    if (of && of != LR_OF_LISTS) {
        return item->kind != REC_KIND_FLOAT || !is_odd(item->v.f);
    }
    return !lr_value_needs_type(item, false);
}

static void put_child(lr_json_line *line, const char *name, uint64_t length, const rec_value *child, bool *first)
{
    lr_line_word(line, *first ? "" : ",");
    *first = false;
    lr_line_string(line, name, length);
    lr_line_word(line, ":");
    lr_value_put_type(line, child);
}

/* The word of a list whose elements all follow it, "[u8]". */
static bool put_plain_list(lr_json_line *line, const rec_value *value, uint16_t of)
{
    const char *word = lr_list_of_word(of);
    uint64_t count = rec_value_count(value);
    for (uint64_t i = 0; i < count; i++) {
        rec_value item = element(value, i);
        if (!follows(&item, of)) {
            return false;
        }
    }
    lr_line_word(line, word ? "\"[" : "\"list");
    lr_line_word(line, word ? word : "");
    lr_line_word(line, word ? "]\"" : "\"");
    return true;
}

static void put_list(lr_json_line *line, const rec_value *value)
{
    uint64_t count = rec_value_count(value);
    uint16_t of = of_list(value);
    const char *word = lr_list_of_word(of);
    bool first = false;
    if (put_plain_list(line, value, of)) {
        return;
    }
    lr_line_word(line, "{\"\":\"");
    lr_line_word(line, word ? word : "");
    lr_line_word(line, "\"");
    for (uint64_t i = 0; i < count; i++) {
        rec_value item = element(value, i);
        if (!follows(&item, of)) {
            char index[24];
            int length = snprintf(index, sizeof index, "%" PRIu64, i);
            put_child(line, index, (uint64_t)length, &item, &first);
        }
    }
    lr_line_word(line, "}");
}

static void put_map(lr_json_line *line, const rec_value *value)
{
    bool first = true;
    if (!lr_value_needs_type(value, false)) {
        lr_line_word(line, "\"map\"");
        return;
    }
    lr_line_word(line, "{");
    for (uint64_t i = 0; i < value->v.map->count; i++) {
        const lr_entry *entry = &value->v.map->entries[i];
        if (entry->key.kind == REC_KIND_STRING && lr_value_needs_type(&entry->value, false)) {
            put_child(line, entry->key.v.text, entry->key.length, &entry->value, &first);
        }
    }
    lr_line_word(line, "}");
}

void lr_value_put_type(lr_json_line *line, const rec_value *value)
{
    if (value->kind == REC_KIND_LIST || value->kind == REC_KIND_NUMBERS) {
        put_list(line, value);
    } else if (value->kind == REC_KIND_MAP) {
        put_map(line, value);
    } else {
        put_scalar_type(line, value);
    }
}

static bool has_odd(const lr_packed *run)
{
    bool odd = false;
    for (uint64_t i = 0; !lr_dtype_is_int(run->dtype) && i < run->count && !odd; i++) {
        odd = is_odd(lr_packed_number(run, i).v.f);
    }
    return odd && run->dtype != REC_DTYPE_BOOL;
}

static bool any_needs(const rec_value *value)
{
    if (value->kind == REC_KIND_NUMBERS) {
        return has_odd(value->v.run);
    }
    for (uint64_t i = 0; i < rec_value_count(value); i++) {
        if (lr_value_needs_type(rec_value_item(value, i), false)) {
            return true;
        }
    }
    return false;
}

bool lr_value_needs_type(const rec_value *value, bool texts)
{
    switch (value->kind) {
    case REC_KIND_STRING:
        return false;
    case REC_KIND_UINT:
    case REC_KIND_INT:
        return texts || value->bits;
    case REC_KIND_FLOAT:
        return texts || value->bits || is_odd(value->v.f);
    case REC_KIND_BYTES:
        return true;
    case REC_KIND_LIST:
    case REC_KIND_NUMBERS:
        return texts || (value->bits && value->bits != LR_OF_TEXTS) || (value->bits && !rec_value_count(value)) ||
               any_needs(value);
    case REC_KIND_MAP:
        return texts || any_needs(value);
    default:
        return texts;
    }
}

bool lr_value_is_json(const rec_value *value)
{
    if (value->kind == REC_KIND_VARIANT || value->kind == REC_KIND_TENSOR) {
        return false;
    }
    for (uint64_t i = 0; value->kind == REC_KIND_MAP && i < value->v.map->count; i++) {
        if (value->v.map->entries[i].key.kind != REC_KIND_STRING) {
            return false;
        }
    }
    for (uint64_t i = 0; value->kind != REC_KIND_NUMBERS && i < rec_value_count(value); i++) {
        if (!lr_value_is_json(rec_value_item(value, i))) {
            return false;
        }
    }
    return true;
}

/* ----------------------------------------------------------------------------------------------- types applied -- */

static bool as_float(const rec_value *value, double *number)
{
    *number = value->kind == REC_KIND_FLOAT  ? value->v.f
              : value->kind == REC_KIND_UINT ? (double)value->v.u
                                             : (double)value->v.i;
    return value->kind == REC_KIND_FLOAT || value->kind == REC_KIND_UINT || value->kind == REC_KIND_INT;
}

static bool to_float(rec_value *value, uint16_t bits)
{
    double number;
    if (!as_float(value, &number) || (bits == 32 && is_odd((double)(float)number) && !is_odd(number))) {
        return false;
    }
    *value = (rec_value){.kind = REC_KIND_FLOAT, .bits = bits, .v.f = bits == 32 ? (double)(float)number : number};
    return true;
}

/* @param dtype its limits; NONE: it becomes what it needs. */
static bool to_whole(rec_value *value, rec_dtype dtype)
{
    bool negative = value->kind == REC_KIND_INT && value->v.i < 0;
    uint64_t most = UINT64_MAX;
    int64_t least = INT64_MIN;
    if (value->kind != REC_KIND_INT && value->kind != REC_KIND_UINT) {
        return false;
    }
    if (lr_int_limits(dtype, &least, &most) && (negative ? value->v.i < least : value->v.u > most)) {
        return false;
    }
    value->kind = (dtype ? least < 0 : negative) ? REC_KIND_INT : REC_KIND_UINT;
    value->bits = (uint16_t)rec_dtype_bits(dtype);
    return true;
}

/* A float of the bits after its word. */
static bool of_bits(rec_value *value, uint16_t width, const char *hex, uint64_t length)
{
    uint64_t bits;
    uint32_t word;
    float single;
    if (length != width / 4u || strspn(hex, "0123456789abcdef") != length) {
        return false;
    }
    bits = strtoull(hex, NULL, 16);
    *value = (rec_value){.kind = REC_KIND_FLOAT, .bits = width};
    word = (uint32_t)bits;
    memcpy(&single, &word, sizeof single);
    memcpy(&value->v.f, &bits, sizeof bits);
    value->v.f = width == 32 ? (double)single : value->v.f;
    return true;
}

/* Integers that a format has for bytes. */
static int32_t to_bytes(rec_record *record, rec_value *value)
{
    uint64_t count = rec_value_count(value);
    uint8_t *bytes;
    if (value->kind == REC_KIND_BYTES) {
        return REC_OK;
    }
    if (value->kind != REC_KIND_LIST && value->kind != REC_KIND_NUMBERS) {
        return REC_E_FORMAT;
    }
    bytes = lr_arena_alloc(&record->arena, count, 8);
    for (uint64_t i = 0; bytes && i < count; i++) {
        rec_value item = element(value, i);
        if (!to_whole(&item, REC_DTYPE_U8)) {
            return REC_E_FORMAT;
        }
        bytes[i] = (uint8_t)item.v.u;
    }
    *value = (rec_value){.kind = REC_KIND_BYTES, .v.bytes = bytes ? lr_data_copy(record, bytes, count) : NULL};
    return value->v.bytes ? REC_OK : REC_E_MEMORY;
}

static int32_t to_scalar(rec_record *record, rec_value *value, const char *word, uint64_t length)
{
    const char *hex = memchr(word, ':', (size_t)length);
    uint64_t name = hex ? (uint64_t)(hex - word) : length;
    size_t i = find_word(word, name);
    bool fits;
    if (i == WORDS || (hex && (words[i].kind != REC_KIND_FLOAT))) {
        return REC_E_FORMAT;
    }
    if (hex) {
        return of_bits(value, words[i].bits ? words[i].bits : 64, hex + 1, length - name - 1) ? REC_OK : REC_E_FORMAT;
    }
    switch (words[i].kind) {
    case REC_KIND_BYTES:
        return to_bytes(record, value);
    case REC_KIND_FLOAT:
        fits = to_float(value, words[i].bits);
        break;
    case REC_KIND_UINT:
    case REC_KIND_INT:
        fits = to_whole(value, words[i].of);
        break;
    case REC_KIND_LIST:
        fits = value->kind == REC_KIND_LIST || value->kind == REC_KIND_NUMBERS;
        break;
    default:
        fits = value->kind == words[i].kind;
        break;
    }
    return fits ? REC_OK : REC_E_FORMAT;
}

/* Writes a number as an element of a run. */
static void put_element(uint8_t *to, rec_dtype dtype, const rec_value *value)
{
    uint32_t width = rec_dtype_bits(dtype) / 8, word;
    uint64_t bits = value->v.u;
    if (dtype == REC_DTYPE_F32) {
        float single = (float)value->v.f;
        memcpy(&word, &single, sizeof word);
        bits = word;
    } else if (dtype == REC_DTYPE_F64) {
        memcpy(&bits, &value->v.f, sizeof bits);
    }
    for (uint32_t i = 0; i < width; i++) {
        to[i] = (uint8_t)(bits >> 8 * i);
    }
}

/* Returns the type of element `index` in a map of types; may be NULL. */
static const rec_value *type_at(const rec_value *types, uint64_t index)
{
    char name[24];
    int length = snprintf(name, sizeof name, "%" PRIu64, index);
    const lr_entry *entry =
        types && types->kind == REC_KIND_MAP ? lr_map_find_text(types->v.map, name, (uint64_t)length) : NULL;
    return entry ? &entry->value : NULL;
}

/* A run of so many elements, all zero. NULL: no memory. */
static uint8_t *new_run(rec_record *record, rec_value *value, uint64_t count, rec_dtype dtype, int32_t form)
{
    uint64_t width = rec_dtype_bits(dtype) / 8;
    lr_packed *run = lr_arena_alloc(&record->arena, sizeof *run, 8);
    uint8_t *data = lr_arena_array(&record->arena, count, (size_t)width);
    if (!run || !data) {
        return NULL;
    }
    *run = (lr_packed){.count = count, .dtype = dtype, .form = form};
    memset(data, 0, (size_t)(count * width));
    run->data = (lr_data){.data = data, .size = count * width, .offset = REC_UNKNOWN};
    *value = (rec_value){.kind = REC_KIND_NUMBERS, .form = (uint8_t)form, .bits = (uint16_t)dtype, .v = {.run = run}};
    return data;
}

/* Where the numbers of a text go. */
typedef struct text_run {
    rec_record *record;
    uint8_t *next;
    rec_dtype dtype;
} text_run;

static int32_t take_number(void *self, rec_value *item)
{
    text_run *run = self;
    const char *word = lr_list_of_word((uint16_t)run->dtype);
    int32_t status = to_scalar(run->record, item, word, strlen(word));
    put_element(run->next, run->dtype, item);
    run->next += rec_dtype_bits(run->dtype) / 8;
    return status;
}

/* A run of the numbers of a text, which take many times their size as values. @return false: it is something else. */
static bool read_run(rec_record *record, const rec_value *text, const rec_value *type, rec_value *made)
{
    const char *word = type->v.text;
    size_t i = type->kind == REC_KIND_STRING && type->length > 2 && *word == '[' ? find_word(word + 1, type->length - 2)
                                                                                 : WORDS;
    text_run run = {.record = record};
    uint64_t count = 1;
    if (i == WORDS || !words[i].of || words[i].of >= LR_OF_TEXTS) {
        return false;
    }
    run.dtype = (rec_dtype)words[i].of;
    for (uint64_t at = 0; at < text->length; at++) {
        count += text->v.text[at] == ',';
    }
    run.next = new_run(record, made, count, run.dtype, REC_FORM_UNKNOWN);
    return run.next && lr_value_read_words(text->v.text, text->length, take_number, &run) == REC_OK;
}

/* A list of numbers or bools becomes a run of one element type. */
static int32_t to_run(rec_record *record, rec_value *value, rec_dtype dtype, const rec_value *types)
{
    uint64_t count = rec_value_count(value), width = rec_dtype_bits(dtype) / 8;
    const char *word = lr_list_of_word((uint16_t)dtype);
    rec_value made;
    uint8_t *data = new_run(record, &made, count, dtype, rec_value_form(value));
    if (!data) {
        return REC_E_MEMORY;
    }
    for (uint64_t i = 0; i < count; i++) {
        rec_value item = element(value, i);
        const rec_value *type = type_at(types, i);
        int32_t status = type && type->kind == REC_KIND_STRING ? to_scalar(record, &item, type->v.text, type->length)
                                                               : to_scalar(record, &item, word, strlen(word));
        if (status != REC_OK) {
            return status;
        }
        put_element(data + i * width, dtype, &item);
    }
    *value = made;
    return REC_OK;
}

/* The elements of a list that is no run. @param word of those that `types` has none for. */
static int32_t to_items(rec_record *record, rec_value *value, const char *word, uint64_t length, const rec_value *types)
{
    rec_value common = {.kind = REC_KIND_STRING, .length = (uint32_t)length, .v.text = word};
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < value->v.list->count && status == REC_OK; i++) {
        const rec_value *type = type_at(types, i);
        type = !type && length ? &common : type;
        status = type ? lr_value_apply_type(record, &value->v.list->items[i], type) : REC_OK;
    }
    return status;
}

/* @param word of the elements. */
static int32_t to_list(rec_record *record, rec_value *value, const char *word, uint64_t length, const rec_value *types)
{
    size_t i = find_word(word, length);
    uint16_t of = i < WORDS ? words[i].of : length && *word == '[' ? LR_OF_LISTS : 0;
    int32_t status;
    if (value->kind != REC_KIND_LIST && value->kind != REC_KIND_NUMBERS) {
        return REC_E_FORMAT;
    }
    if (of && of < LR_OF_TEXTS && rec_value_count(value)) {
        return to_run(record, value, (rec_dtype)of, types);
    }
    if (value->kind == REC_KIND_NUMBERS) {
        return of || types ? REC_E_FORMAT : REC_OK;
    }
    status = of && of < LR_OF_TEXTS ? REC_OK : to_items(record, value, word, length, types);
    value->bits = status == REC_OK ? of : 0;
    return status;
}

/* @param types of a list or map, by index or key. */
static int32_t to_children(rec_record *record, rec_value *value, const rec_value *types)
{
    const lr_entry *of = lr_map_find_text(types->v.map, "", 0);
    int32_t status = REC_OK;
    if (value->kind != REC_KIND_MAP) {
        return of && of->value.kind == REC_KIND_STRING
                   ? to_list(record, value, of->value.v.text, of->value.length, types)
                   : REC_E_FORMAT;
    }
    for (uint64_t i = 0; i < types->v.map->count && status == REC_OK; i++) {
        const lr_entry *type = &types->v.map->entries[i];
        lr_entry *entry = lr_map_find_text(value->v.map, type->key.v.text, type->key.length);
        status = entry ? lr_value_apply_type(record, &entry->value, &type->value) : REC_E_FORMAT;
    }
    return status;
}

/* Whether a type is one of texts as such. */
static bool is_text(const rec_value *type)
{
    return type->kind == REC_KIND_STRING && type->length == 3 && memcmp(type->v.text, "str", 3) == 0;
}

int32_t lr_value_apply_type(rec_record *record, rec_value *value, const rec_value *type)
{
    rec_value made;
    const char *word = type->v.text;
    int32_t status = REC_OK;
    if (value->kind == REC_KIND_STRING && read_run(record, value, type, &made)) {
        *value = made;
        return REC_OK;
    }
    made = *value;
    if (value->kind == REC_KIND_STRING && !is_text(type)) {
        status = lr_value_read_json(record, value->v.text, value->length, &made);
    }
    if (status != REC_OK) {
        return status;
    }
    if (type->kind == REC_KIND_MAP) {
        status = to_children(record, &made, type);
    } else if (type->kind != REC_KIND_STRING) {
        status = REC_E_FORMAT;
    } else if (type->length > 2 && word[0] == '[' && word[type->length - 1] == ']') {
        status = to_list(record, &made, word + 1, type->length - 2, NULL);
    } else {
        status = to_scalar(record, &made, word, type->length);
    }
    if (status == REC_OK) {
        *value = made;
    }
    return status;
}
