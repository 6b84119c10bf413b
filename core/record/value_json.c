/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A value as a line of JSON, for those who ask for text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/record/record.h"

/* What does not fit is counted and left out. */
typedef struct writer {
    char *text;
    size_t room;
    uint64_t used;
} writer;

static void put(writer *w, const char *text, size_t length)
{
    if (w->used + length < w->room) {
        memcpy(w->text + w->used, text, length);
    }
    w->used += length;
}

static void put_word(writer *w, const char *word)
{
    put(w, word, strlen(word));
}

static void put_string(writer *w, const char *text, uint64_t length)
{
    put_word(w, "\"");
    for (uint64_t i = 0; i < length; i++) {
        uint8_t c = (uint8_t)text[i];
        char escaped[8];
        if (c == '"' || c == '\\') {
            put_word(w, "\\");
        }
        if (c < 0x20) {
            (void)snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)c);
            put_word(w, escaped);
        } else {
            put(w, text + i, 1);
        }
    }
    put_word(w, "\"");
}

/* As few digits as give it back. JSON has no NaN and no infinities: null. */
static void put_float(writer *w, double number, unsigned bits)
{
    char digits[40];
    bool whole = true;
    if (number - number != 0) {
        put_word(w, "null");
        return;
    }
    for (int count = 1; count <= 17; count++) {
        double read;
        (void)snprintf(digits, sizeof digits, "%.*g", count, number);
        read = strtod(digits, NULL);
        if (bits == 32 ? (float)read == (float)number : read == number) {
            break;
        }
    }
    for (char *c = digits; *c; c++) {
        bool part = lr_is_digit(*c) || *c == '-' || *c == '+' || *c == 'e';
        *c = part ? *c : '.'; /* the locale's point */
        whole = whole && part && *c != 'e';
    }
    put_word(w, digits);
    put_word(w, whole ? ".0" : "");
}

static void put_scalar(writer *w, const rec_scalar *scalar)
{
    char digits[24];
    switch (scalar->kind) {
    case REC_KIND_BOOL:
        put_word(w, scalar->v.i ? "true" : "false");
        break;
    case REC_KIND_INT:
        (void)snprintf(digits, sizeof digits, "%" PRId64, scalar->v.i);
        put_word(w, digits);
        break;
    case REC_KIND_UINT:
        (void)snprintf(digits, sizeof digits, "%" PRIu64, scalar->v.u);
        put_word(w, digits);
        break;
    case REC_KIND_FLOAT:
        put_float(w, scalar->v.f, scalar->bits);
        break;
    case REC_KIND_STRING:
        put_string(w, scalar->text, scalar->v.length);
        break;
    default:
        put_word(w, "null");
        break;
    }
}

/* JSON's keys are strings. */
static void put_key(writer *w, const rec_value *key)
{
    rec_scalar scalar = lr_to_scalar(key);
    bool bare = key->kind != REC_KIND_STRING;
    put_word(w, bare ? "\"" : "");
    put_scalar(w, &scalar);
    put_word(w, bare ? "\":" : ":");
}

static void put_value(writer *w, const rec_value *value)
{
    uint64_t count = rec_value_count(value), size;
    const uint8_t *bytes;
    rec_scalar scalar;
    char digits[8];
    switch (value->kind) {
    case REC_KIND_LIST:
    case REC_KIND_NUMBERS:
        put_word(w, "[");
        for (uint64_t i = 0; i < count; i++) {
            put_word(w, i ? "," : "");
            if (value->kind == REC_KIND_LIST) {
                put_value(w, &value->v.list->items[i]);
            } else {
                scalar = lr_packed_number(value->v.run, i);
                put_scalar(w, &scalar);
            }
        }
        put_word(w, "]");
        break;
    case REC_KIND_MAP:
        put_word(w, "{");
        for (uint64_t i = 0; i < count; i++) {
            put_word(w, i ? "," : "");
            put_key(w, &value->v.map->entries[i].key);
            put_value(w, &value->v.map->entries[i].value);
        }
        put_word(w, "}");
        break;
    case REC_KIND_VARIANT:
        put_word(w, value->v.variant->has_payload ? "{" : "");
        scalar = lr_to_scalar(&value->v.variant->name);
        put_scalar(w, &scalar);
        if (value->v.variant->has_payload) {
            put_word(w, ":");
            put_value(w, &value->v.variant->payload);
            put_word(w, "}");
        }
        break;
    case REC_KIND_BYTES:
        bytes = rec_value_bytes(value, &size);
        put_word(w, "[");
        for (uint64_t i = 0; bytes && i < size; i++) {
            (void)snprintf(digits, sizeof digits, i ? ",%u" : "%u", (unsigned)bytes[i]);
            put_word(w, digits);
        }
        put_word(w, "]");
        break;
    default:
        scalar = lr_to_scalar(value);
        put_scalar(w, &scalar);
        break;
    }
}

uint64_t lr_value_json(const rec_value *value, char *text, uint64_t room)
{
    writer w = {.text = text, .room = room};
    put_value(&w, value);
    if (w.used < room) {
        text[w.used] = '\0';
    }
    return w.used;
}
