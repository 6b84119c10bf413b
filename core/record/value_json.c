/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A value as a line of JSON, for those who ask for text. */
#include <inttypes.h>
#include <stdio.h>

#include "common/json.h"
#include "core/record/record.h"

static void put(lr_json_line *json, const char *text, size_t length)
{
    if (json->used + length < json->room) {
        memcpy(json->text + json->used, text, length);
    }
    json->used += length;
}

void lr_line_word(lr_json_line *json, const char *word)
{
    put(json, word, strlen(word));
}

void lr_line_string(lr_json_line *json, const char *text, uint64_t length)
{
    lr_line_word(json, "\"");
    for (uint64_t i = 0; i < length; i++) {
        uint8_t c = (uint8_t)text[i];
        char escape[6];
        if (c < 0x20 || c == '"' || c == '\\') {
            put(json, escape, lr_json_escape(c, "", escape));
        } else {
            put(json, text + i, 1);
        }
    }
    lr_line_word(json, "\"");
}

/* As few digits as give it back. JSON has no NaN and no infinities: null. */
static void put_float(lr_json_line *w, double number, unsigned bits)
{
    char digits[40];
    if (w->exact) {
        lr_line_word(w, lr_number_put(digits, sizeof digits, 'e', bits == 32 ? 8 : 16, number));
        lr_line_word(w, bits == 32 ? "f" : "");
        return;
    }
    if (number - number != 0) {
        lr_line_word(w, "null");
        return;
    }
    for (int count = 1; count <= 17; count++) {
        double read;
        (void)lr_number_put(digits, sizeof digits, 'g', count, number);
        (void)lr_number_read(digits, strlen(digits), &read);
        if (bits == 32 ? (float)read == (float)number : read == number) {
            break;
        }
    }
    lr_line_word(w, digits);
    lr_line_word(w, strpbrk(digits, ".e") ? "" : ".0");
}

static void put_scalar(lr_json_line *w, const rec_scalar *scalar)
{
    char digits[24];
    switch (scalar->kind) {
    case REC_KIND_BOOL:
        lr_line_word(w, scalar->v.i ? "true" : "false");
        break;
    case REC_KIND_INT:
        (void)snprintf(digits, sizeof digits, "%" PRId64, scalar->v.i);
        lr_line_word(w, digits);
        break;
    case REC_KIND_UINT:
        (void)snprintf(digits, sizeof digits, "%" PRIu64, scalar->v.u);
        lr_line_word(w, digits);
        break;
    case REC_KIND_FLOAT:
        put_float(w, scalar->v.f, scalar->bits);
        break;
    case REC_KIND_STRING:
        lr_line_string(w, scalar->text, scalar->v.length);
        break;
    default:
        lr_line_word(w, "null");
        break;
    }
}

/* JSON's keys are strings. */
static void put_key(lr_json_line *w, const rec_value *key)
{
    rec_scalar scalar = lr_to_scalar(key);
    bool bare = key->kind != REC_KIND_STRING;
    lr_line_word(w, bare ? "\"" : "");
    put_scalar(w, &scalar);
    lr_line_word(w, bare ? "\":" : ":");
}

void lr_line_value(lr_json_line *w, const rec_value *value)
{
    uint64_t count = rec_value_count(value), size;
    const uint8_t *bytes;
    rec_scalar scalar;
    char digits[8];
    switch (value->kind) {
    case REC_KIND_LIST:
    case REC_KIND_NUMBERS:
        lr_line_word(w, "[");
        for (uint64_t i = 0; i < count; i++) {
            lr_line_word(w, i ? "," : "");
            if (value->kind == REC_KIND_LIST) {
                lr_line_value(w, &value->v.list->items[i]);
            } else {
                scalar = lr_packed_number(value->v.run, i);
                put_scalar(w, &scalar);
            }
        }
        lr_line_word(w, "]");
        break;
    case REC_KIND_MAP:
        lr_line_word(w, "{");
        for (uint64_t i = 0; i < count; i++) {
            lr_line_word(w, i ? "," : "");
            put_key(w, &value->v.map->entries[i].key);
            lr_line_value(w, &value->v.map->entries[i].value);
        }
        lr_line_word(w, "}");
        break;
    case REC_KIND_VARIANT:
        lr_line_word(w, value->v.variant->has_payload ? "{" : "");
        scalar = lr_to_scalar(&value->v.variant->name);
        put_scalar(w, &scalar);
        if (value->v.variant->has_payload) {
            lr_line_word(w, ":");
            lr_line_value(w, &value->v.variant->payload);
            lr_line_word(w, "}");
        }
        break;
    case REC_KIND_BYTES:
        bytes = rec_value_bytes(value, &size);
        lr_line_word(w, "[");
        for (uint64_t i = 0; bytes && i < size; i++) {
            (void)snprintf(digits, sizeof digits, i ? ",%u" : "%u", (unsigned)bytes[i]);
            lr_line_word(w, digits);
        }
        lr_line_word(w, "]");
        break;
    default:
        scalar = lr_to_scalar(value);
        put_scalar(w, &scalar);
        break;
    }
}

uint64_t lr_value_json(const rec_value *value, char *text, uint64_t room)
{
    lr_json_line w = {.text = text, .room = room};
    lr_line_value(&w, value);
    if (w.used < room) {
        text[w.used] = '\0';
    }
    return w.used;
}
