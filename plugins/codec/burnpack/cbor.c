/* SPDX-License-Identifier: MIT OR Apache-2.0
 * CBOR item by item: any length and form that ciborium takes, and nothing that it does not. */
#include <math.h>

#include "plugins/codec/burnpack/burnpack.h"
#include "common/utf8.h"

enum { INDEFINITE = 31 };

static uint64_t place(uint64_t at)
{
    return LR_BPK_PREFIX + at;
}

static int32_t cut_short(lr_cbor *c, const char *expected)
{
    return rec_fail_found(c->job, REC_E_FORMAT, place(c->size), expected, "the end of the metadata");
}

void lr_cbor_close(lr_cbor *c)
{
    rec_job_free(c->job, c->pool);
    c->pool = NULL;
}

static double half(uint64_t bits)
{
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023);
    double value = exponent == 31  ? (fraction > 0 ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -value : value;
}

/* Reads the first byte with the number in it or after it. */
static int32_t head(lr_cbor *c, int *major, int *low, uint64_t *value)
{
    unsigned width;
    if (c->at == c->size) {
        return cut_short(c, "a value of CBOR");
    }
    *major = c->data[c->at] >> 5;
    *low = c->data[c->at++] & 31;
    *value = (uint64_t)*low;
    if (*low < 24 || *low == INDEFINITE) {
        return REC_OK;
    }
    if (*low > 27) {
        return rec_fail(c->job, REC_E_FORMAT, place(c->at - 1), "the byte 0x%02x begins no value of CBOR",
                        (unsigned)c->data[c->at - 1]);
    }
    width = 1u << (*low - 24);
    if (c->size - c->at < width) {
        return cut_short(c, "a number of CBOR");
    }
    *value = 0;
    for (unsigned i = 0; i < width; i++) {
        *value = *value << 8 | c->data[c->at++];
    }
    return REC_OK;
}

static int32_t check_text(lr_cbor *c, const lr_cbor_item *item, const lr_bpk_text *text)
{
    return item->kind == LR_CBOR_TEXT && lr_utf8_until((const uint8_t *)text->at, text->length) != text->length
               ? rec_fail(c->job, REC_E_FORMAT, item->at, "a text that is not UTF-8")
               : REC_OK;
}

static int32_t string(lr_cbor *c, uint64_t length, lr_bpk_text *text)
{
    if (length > c->size - c->at) {
        return cut_short(c, "a string of CBOR");
    }
    *text = (lr_bpk_text){.at = (const char *)c->data + c->at, .length = length};
    c->at += length;
    return REC_OK;
}

/* The pieces of a string up to the break, one after the other. */
static int32_t pieces(lr_cbor *c, lr_cbor_item *item)
{
    int32_t status = REC_OK;
    item->indefinite = true;
    if (!c->pool) {
        c->pool = rec_job_alloc(c->job, c->size);
        if (!c->pool) {
            return rec_fail(c->job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for the metadata");
        }
    }
    item->text = (lr_bpk_text){.at = (const char *)c->pool + c->pooled};
    while (status == REC_OK) {
        uint64_t at = c->at, value;
        lr_bpk_text piece = {0};
        int major, low;
        status = head(c, &major, &low, &value);
        if (status != REC_OK || (major == 7 && low == INDEFINITE)) {
            break;
        }
        if (major != item->kind || low == INDEFINITE) {
            return rec_fail(c->job, REC_E_FORMAT, place(at), "a string of unknown length whose pieces are not strings");
        }
        status = string(c, value, &piece);
        status = status == REC_OK ? check_text(c, item, &piece) : status;
        if (status == REC_OK) {
            memcpy(c->pool + c->pooled, piece.at, (size_t)piece.length); /* together less than the metadata */
            c->pooled += piece.length;
            item->text.length += piece.length;
        }
    }
    return status;
}

/* Reads an integer of any length: a byte string after tag 2 or 3. */
static void big_number(lr_cbor_item *item, bool negative)
{
    const uint8_t *from = (const uint8_t *)item->text.at;
    uint64_t length = item->text.length;
    item->value = 0;
    for (; length && *from == 0; from++, length--) {
    }
    item->wide = length > 8;
    for (; length && !item->wide; length--) {
        item->value = item->value << 8 | *from++;
    }
    item->kind = negative ? LR_CBOR_NEGATIVE : LR_CBOR_UINT;
}

static int32_t simple(lr_cbor *c, int low, uint64_t value, lr_cbor_item *item)
{
    uint32_t single = (uint32_t)value;
    float narrow;
    switch (low) {
    case 20:
    case 21:
        item->kind = LR_CBOR_BOOL;
        item->value = low == 21;
        return REC_OK;
    case 22:
    case 23:
        item->kind = LR_CBOR_NULL;
        return REC_OK;
    case 25:
        item->number = half(value);
        return REC_OK;
    case 26:
        memcpy(&narrow, &single, sizeof narrow);
        item->number = (double)narrow;
        return REC_OK;
    case 27:
        memcpy(&item->number, &value, sizeof item->number);
        return REC_OK;
    case INDEFINITE:
        item->kind = LR_CBOR_BREAK;
        return REC_OK;
    case 24:
        if (value < 32) {
            return rec_fail(c->job, REC_E_FORMAT, item->at, "a simple value of CBOR in a form that it may not have");
        }
        /* fall through */
    default:
        item->kind = LR_CBOR_OTHER;
        return REC_OK;
    }
}

int32_t lr_cbor_next(lr_cbor *c, lr_cbor_item *item)
{
    uint64_t tag = REC_UNKNOWN, value;
    int major, low;
    int32_t status;
    do {
        *item = (lr_cbor_item){.at = place(c->at)};
        status = head(c, &major, &low, &value);
        if (status != REC_OK) {
            return status;
        }
        if (major == 6) {
            if (low == INDEFINITE) {
                return rec_fail(c->job, REC_E_FORMAT, item->at, "the byte 0xdf begins no value of CBOR");
            }
            tag = value;
        }
    } while (major == 6);
    item->kind = major;
    item->value = value;
    if (major < LR_CBOR_BYTES && low == INDEFINITE) {
        return rec_fail(c->job, REC_E_FORMAT, item->at, "an integer of unknown length");
    }
    if (major == 7) {
        return simple(c, low, value, item);
    }
    if (major == LR_CBOR_BYTES || major == LR_CBOR_TEXT) {
        status = low == INDEFINITE ? pieces(c, item) : string(c, value, &item->text);
        status = status == REC_OK ? check_text(c, item, &item->text) : status;
        if (status == REC_OK && major == LR_CBOR_BYTES && (tag == 2 || tag == 3)) {
            big_number(item, tag == 3);
        }
        return status;
    }
    item->indefinite = low == INDEFINITE && major > LR_CBOR_NEGATIVE;
    return REC_OK;
}

int32_t lr_cbor_enter(lr_cbor *c, const lr_cbor_item *container)
{
    uint64_t least = container->kind == LR_CBOR_MAP ? 2 : 1;
    if (c->depth == LR_BPK_NESTING_MOST) {
        return rec_fail(c->job, REC_E_LIMIT, container->at, "the metadata are nested deeper than %d levels",
                        LR_BPK_NESTING_MOST);
    }
    c->depth++;
    return container->indefinite ? REC_OK
                                 : rec_job_check_count(c->job, container->at, container->value, least, c->size - c->at);
}

int32_t lr_cbor_begin(lr_cbor *c, lr_cbor_item *container, int kind, const char *expected)
{
    int32_t status = lr_cbor_next(c, container);
    if (status == REC_OK && container->kind != kind) {
        status = lr_cbor_unexpected(c, container, expected);
    }
    return status == REC_OK ? lr_cbor_enter(c, container) : status;
}

bool lr_cbor_each(lr_cbor *c, lr_cbor_item *container, int32_t *status)
{
    bool more = !container->indefinite && container->value > 0;
    if (*status == REC_OK && container->indefinite && c->at == c->size) {
        *status = cut_short(c, "an element or the end of a list or map");
    }
    if (*status != REC_OK) {
        return false;
    }
    if (container->indefinite) {
        more = c->data[c->at] != 0xff;
        c->at += !more;
    } else {
        container->value -= more;
    }
    c->depth -= !more;
    return more;
}

int32_t lr_cbor_skip(lr_cbor *c, const lr_cbor_item *item)
{
    lr_cbor_item container = *item, inner;
    int32_t status;
    if (item->kind == LR_CBOR_BREAK) {
        return rec_fail(c->job, REC_E_FORMAT, item->at, "a break where a value of CBOR was expected");
    }
    if (item->kind != LR_CBOR_ARRAY && item->kind != LR_CBOR_MAP) {
        return REC_OK;
    }
    status = lr_cbor_enter(c, item);
    while (lr_cbor_each(c, &container, &status)) {
        for (int i = 0; i < (item->kind == LR_CBOR_MAP ? 2 : 1) && status == REC_OK; i++) {
            status = lr_cbor_next(c, &inner);
            status = status == REC_OK ? lr_cbor_skip(c, &inner) : status;
        }
    }
    return status;
}

int32_t lr_cbor_unexpected(lr_cbor *c, const lr_cbor_item *item, const char *expected)
{
    static const char *const words[] = {"an unsigned integer",
                                        "a negative integer",
                                        "bytes",
                                        "a text",
                                        "a list",
                                        "a map",
                                        "a tag",
                                        "a float",
                                        "a bool",
                                        "null",
                                        "a simple value",
                                        "the end of a list or map"};
    const char *found = item->wide                                        ? "an integer of more than 64 bits"
                        : item->kind == LR_CBOR_TEXT && item->indefinite  ? "a text in pieces"
                        : item->kind == LR_CBOR_ARRAY && item->indefinite ? "a list of unknown length"
                                                                          : words[item->kind];
    return c->quiet ? REC_E_FORMAT : rec_fail_found(c->job, REC_E_FORMAT, item->at, expected, "%s", found);
}
