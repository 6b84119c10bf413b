/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Scalars in the text that tells a record. */
#include "plugins/codec/safetensors/structure_private.h"

#include <stdio.h>

void lr_st_put_hex(lr_buffer *b, const uint8_t *bytes, uint64_t size)
{
    static const char digits[] = "0123456789abcdef";
    for (uint64_t i = 0; i < size; i++) {
        char two[2] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
        lr_put(b, two, 2);
    }
}

/* The bits of a double, first the highest. */
static void put_bits(lr_buffer *b, double value)
{
    uint64_t bits;
    uint8_t bytes[8];
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    lr_put(b, "\"", 1);
    lr_st_put_hex(b, bytes, sizeof bytes);
    lr_put(b, "\"", 1);
}

/* A float by the fewest digits that read back to the bit, else by its bits. @param width 32 or 64. */
static void put_float(lr_st_structure_writer *t, lr_buffer *b, double value, unsigned width)
{
    char text[LR_NUMBER_ROOM];
    lr_decimal decimal;
    double again = 0;
    uint32_t length = width == 32 ? lr_float32_write(text, (float)value) : lr_float_write(text, value);
    bool same = false;
    if (text[0] != 'n' &&
        lr_decimal_scan((const uint8_t *)text, (const uint8_t *)text + length, &decimal) != LR_SCAN_BAD &&
        lr_float_read(&t->floats, &decimal, (const uint8_t *)text, length, &again) == REC_OK) {
        again = width == 32 ? (double)(float)again : again;
        same = memcmp(&again, &value, sizeof value) == 0;
    }
    if (same) {
        lr_put(b, text, length);
    } else {
        put_bits(b, value);
    }
}

const char *lr_st_nil_word(unsigned form)
{
    switch (form) {
    case REC_FORM_UNIT:
        return "[\"unit\"]";
    case REC_FORM_NONE:
        return "[\"none\"]";
    case REC_FORM_CONSTANT:
        return "[\"constant\"]";
    case REC_FORM_UNIT_STRUCT:
        return "[\"unit_struct\"]";
    default:
        return "null";
    }
}

void lr_st_put_number(lr_st_structure_writer *t, lr_buffer *b, const rec_scalar *s)
{
    char text[LR_NUMBER_ROOM];
    if (s->kind == REC_KIND_FLOAT) {
        put_float(t, b, s->v.f, s->bits == 32 ? 32 : 64);
    } else {
        lr_put(b, text, s->kind == REC_KIND_INT ? lr_int_write(text, s->v.i) : lr_uint_write(text, s->v.u));
    }
}

/* A number is bare where JSON says it all: an integer of unknown width, unsigned or negative, and a double. */
void lr_st_put_scalar(lr_st_structure_writer *t, lr_buffer *b, const rec_scalar *s)
{
    char tag[16];
    bool bare;
    switch (s->kind) {
    case REC_KIND_NIL:
        lr_put_word(b, lr_st_nil_word(s->form));
        return;
    case REC_KIND_BOOL:
        lr_put_word(b, s->v.i ? "true" : "false");
        return;
    case REC_KIND_STRING:
        lr_st_put_string(b, s->text, s->v.length);
        return;
    default:
        break;
    }
    bare = s->kind == REC_KIND_FLOAT  ? s->bits == 64 && s->v.f - s->v.f == 0 /* finite */
           : s->kind == REC_KIND_UINT ? s->bits == 0
                                      : s->bits == 0 && s->v.i < 0;
    if (!bare) {
        char letter = s->kind == REC_KIND_FLOAT ? 'f' : s->kind == REC_KIND_UINT ? 'u' : 'i';
        (void)snprintf(tag, sizeof tag, "[\"%c%u\",", letter, (unsigned)s->bits);
        lr_put_word(b, tag);
    }
    lr_st_put_number(t, b, s);
    if (!bare) {
        lr_put(b, "]", 1);
    }
}
