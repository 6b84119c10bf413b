/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Tokens of the text that describes a record, and their error messages. structure.c writes it without white space. */
#include "plugins/codec/safetensors/restore_private.h"

#include <inttypes.h>

/* ----------------------------------------------------------------------------------------------------- failing -- */

int32_t lr_st_hint(lr_st_reader *r, int32_t status)
{
    if (r->source) {
        rec_fail_source(r->job, r->source);
    }
    rec_fail_hint(
        r->job,
        "Load it with the option `record = no`, which ignores this text: another program may have changed the file.");
    return status;
}

int32_t lr_st_wrong(lr_st_reader *r, const char *expected)
{
    const uint8_t *p = r->in.at;
    int shown = 0;
    while (p + shown < r->in.end && shown < 16 && p[shown] > ' ' && p[shown] < 0x7f) {
        shown++;
    }
    return lr_st_hint(r, rec_fail_found(r->job, REC_E_FORMAT, r->at, expected,
                                        "%s%.*s%s at byte %" PRIu64 " of the text `%s`",
                                        p == r->in.end ? "its end"
                                        : shown        ? "`"
                                                       : "something else",
                                        shown, (const char *)p, shown ? "`" : "", (uint64_t)(p - r->in.start), r->key));
}

int32_t lr_st_wrong_tensor(lr_st_reader *r, const char *key, uint64_t length, const char *what)
{
    lr_codec_excerpt brief;
    return lr_st_hint(
        r, rec_fail(r->job, REC_E_FORMAT, r->at, "the tensor `%s` %s", lr_codec_shown(&brief, key, length), what));
}

/* ------------------------------------------------------------------------------------------------------ tokens -- */

bool lr_st_next_is(const lr_st_reader *r, char c)
{
    return r->in.at < r->in.end && *r->in.at == (uint8_t)c;
}

/* The text is written without white space. */
int32_t lr_st_expect(lr_st_reader *r, char c, const char *expected)
{
    if (!lr_st_next_is(r, c)) {
        return lr_st_wrong(r, expected);
    }
    r->in.at++;
    return REC_OK;
}

bool lr_st_pass(lr_st_reader *r, const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(r->in.end - r->in.at) < length || memcmp(r->in.at, text, length) != 0) {
        return false;
    }
    r->in.at += length;
    return true;
}

/* A string, which is valid until the next one. */
int32_t lr_st_string(lr_st_reader *r, const char **text, uint64_t *length)
{
    int32_t status;
    if (!lr_st_next_is(r, '"')) {
        return lr_st_wrong(r, "a string");
    }
    status = lr_json_string(&r->in, &r->memory, text, length);
    return status == REC_OK ? REC_OK : lr_st_hint(r, status);
}

/* A string that stays, with a NUL, at `*at` of the words. */
int32_t lr_st_word(lr_st_reader *r, uint64_t *at, uint64_t *length)
{
    const char *text;
    int32_t status = lr_st_string(r, &text, length);
    *at = r->words.size;
    if (status == REC_OK) {
        lr_put(&r->words, text, *length);
        lr_put(&r->words, "", 1);
        status = r->words.status;
    }
    return status;
}

int32_t lr_st_number(lr_st_reader *r, rec_scalar *s)
{
    lr_decimal decimal;
    int32_t status = REC_OK;
    int scan;
    if (!lr_st_next_is(r, '-') && (r->in.at == r->in.end || (uint8_t)(*r->in.at - '0') > 9)) {
        return lr_st_wrong(r, "a number");
    }
    scan = lr_decimal_scan(r->in.at, r->in.end, &decimal);
    if (scan == LR_SCAN_BAD || (scan == LR_SCAN_MORE && (uint8_t)(decimal.end[-1] - '0') > 9) ||
        decimal.end - r->in.at > LR_NUMBER_MOST) { /* MORE: it ends with the text */
        return lr_st_wrong(r, "a number");
    }
    *s = (rec_scalar){.kind = REC_KIND_UINT, .v.u = decimal.digits};
    if (decimal.real) {
        *s = (rec_scalar){.kind = REC_KIND_FLOAT, .bits = 64};
        status = lr_float_read(&r->floats, &decimal, r->in.at, (uint64_t)(decimal.end - r->in.at), &s->v.f);
    } else if (decimal.negative) {
        *s = (rec_scalar){.kind = REC_KIND_INT, .v.i = -(int64_t)(decimal.digits - 1) - 1};
    }
    if (status != REC_OK) {
        return lr_st_hint(r, rec_fail(r->job, status, r->at, "a number of the text `%s` cannot be read", r->key));
    }
    r->in.at = decimal.end;
    return REC_OK;
}

int lr_st_hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A float as digits, or as the bits of a double. */
static int32_t real(lr_st_reader *r, double *value)
{
    const char *text;
    uint64_t length, bits = 0;
    rec_scalar s;
    int32_t status;
    if (!lr_st_next_is(r, '"')) {
        status = lr_st_number(r, &s);
        *value = s.v.f;
        return status != REC_OK || s.kind == REC_KIND_FLOAT ? status : lr_st_wrong(r, "a float");
    }
    status = lr_st_string(r, &text, &length);
    if (status != REC_OK) {
        return status;
    }
    for (uint64_t i = 0; i < length && i < 16; i++) {
        int digit = lr_st_hex_digit(text[i]);
        length = digit < 0 ? 0 : length;
        bits = bits << 4 | (uint64_t)(digit < 0 ? 0 : digit);
    }
    memcpy(value, &bits, sizeof bits);
    return length == 16 ? REC_OK : lr_st_wrong(r, "a float's bits as 16 hexadecimal digits before this");
}

/* A number of kind `letter` in `bits` bits (0: unknown). */
int32_t lr_st_sized_number(lr_st_reader *r, char letter, unsigned bits, rec_scalar *s)
{
    int32_t status;
    if (letter == 'f') {
        *s = (rec_scalar){.kind = REC_KIND_FLOAT, .bits = (uint16_t)bits};
        status = real(r, &s->v.f);
        if (bits == 32) {
            s->v.f = (double)(float)s->v.f;
        }
        return status;
    }
    status = lr_st_number(r, s);
    if (status == REC_OK && (s->kind == REC_KIND_FLOAT || (letter == 'u' && s->kind != REC_KIND_UINT))) {
        status = lr_st_wrong(r, "an integer before this");
    }
    if (status == REC_OK && letter == 'i') {
        uint64_t most = bits ? (UINT64_C(1) << (bits - 1)) - 1 : INT64_MAX;
        if (s->kind == REC_KIND_INT ? s->v.i < -(int64_t)most - 1 : s->v.u > most) {
            return lr_st_wrong(r, "an integer in the range of its type before this");
        }
        s->kind = REC_KIND_INT;
    } else if (status == REC_OK && bits && bits < 64 && s->v.u >> bits) {
        return lr_st_wrong(r, "an integer in the range of its type before this");
    }
    s->bits = (uint16_t)bits;
    return status;
}
