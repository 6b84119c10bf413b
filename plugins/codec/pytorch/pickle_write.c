/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A pickle of protocol 2 that torch.load(weights_only=True) takes: the same values always give the same bytes. */
#include "plugins/codec/pytorch/pickle_write.h"
#include "plugins/codec/room.h"

void lr_pw_put(lr_pickle_writer *w, const void *data, uint64_t size)
{
    if (w->status == REC_OK) {
        w->status = lr_codec_grow(w->job, &w->data, w->size + size, &w->room, 1);
    }
    if (w->status == REC_OK && size) {
        memcpy(w->data + w->size, data, (size_t)size);
        w->size += size;
    }
}

void lr_pw_word(lr_pickle_writer *w, const char *text)
{
    lr_pw_put(w, text, strlen(text));
}

static void put_number(lr_pickle_writer *w, uint64_t number, unsigned width)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < width; i++) {
        bytes[i] = (uint8_t)(number >> 8 * i);
    }
    lr_pw_put(w, bytes, width);
}

void lr_pw_uint(lr_pickle_writer *w, uint64_t number)
{
    if (number <= UINT8_MAX) {
        lr_pw_word(w, "K");
        put_number(w, number, 1);
    } else if (number <= UINT16_MAX) {
        lr_pw_word(w, "M");
        put_number(w, number, 2);
    } else if (number <= INT32_MAX) {
        lr_pw_word(w, "J");
        put_number(w, number, 4);
    } else { /* a byte more than it needs is 0, so that it is not negative */
        unsigned width = 4;
        while (width < 8 && number >> (8 * width - 1)) {
            width++;
        }
        lr_pw_put(w, "\x8a", 1);
        put_number(w, width + (number >> 63), 1);
        put_number(w, number, width);
        put_number(w, 0, (unsigned)(number >> 63));
    }
}

void lr_pw_int(lr_pickle_writer *w, int64_t number)
{
    if (number >= 0) {
        lr_pw_uint(w, (uint64_t)number);
    } else if (number >= INT32_MIN) {
        lr_pw_word(w, "J");
        put_number(w, (uint64_t)number, 4);
    } else {
        unsigned width = 5;
        while (width < 8 && number < -(INT64_C(1) << (8 * width - 1))) {
            width++;
        }
        lr_pw_put(w, "\x8a", 1);
        put_number(w, width, 1);
        put_number(w, (uint64_t)number, width);
    }
}

void lr_pw_float(lr_pickle_writer *w, double number)
{
    uint64_t bits;
    uint8_t bytes[9] = {'G'};
    memcpy(&bits, &number, sizeof bits);
    for (unsigned i = 0; i < 8; i++) {
        bytes[1 + i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    lr_pw_put(w, bytes, sizeof bytes);
}

void lr_pw_bool(lr_pickle_writer *w, bool value)
{
    lr_pw_put(w, value ? "\x88" : "\x89", 1);
}

void lr_pw_string(lr_pickle_writer *w, const char *text, uint64_t length)
{
    if (length > UINT32_MAX && w->status == REC_OK) {
        w->status =
            rec_fail(w->job, REC_E_LIMIT, REC_UNKNOWN, "a text of more than 4 GiB, which a pickle has no room for");
    }
    lr_pw_word(w, "X");
    put_number(w, length, 4);
    lr_pw_put(w, text, length);
}

void lr_pw_bytes(lr_pickle_writer *w, const uint8_t *bytes, uint64_t length)
{
    uint64_t size = length;
    for (uint64_t i = 0; i < length; i++) {
        size += bytes[i] >> 7;
    }
    if (size > UINT32_MAX && w->status == REC_OK) {
        w->status =
            rec_fail(w->job, REC_E_LIMIT, REC_UNKNOWN, "bytes of more than 4 GiB, which a pickle has no room for");
    }
    lr_pw_global(w, LR_PW_ENCODE, "_codecs", "encode");
    lr_pw_word(w, "X");
    put_number(w, size, 4);
    for (uint64_t i = 0, from = 0; i <= length; i++) {
        if (i == length || bytes[i] & 0x80) {
            lr_pw_put(w, bytes + from, i - from);
            from = i + 1;
        }
        if (i < length && bytes[i] & 0x80) {
            const uint8_t two[2] = {(uint8_t)(0xc0 | bytes[i] >> 6), (uint8_t)(0x80 | (bytes[i] & 0x3f))};
            lr_pw_put(w, two, 2);
        }
    }
    lr_pw_name(w, LR_PW_LATIN1, "latin1");
    lr_pw_put(w, "\x86R", 2);
}

/* @return whether it is in the memo, and was referenced. */
static bool recall(lr_pickle_writer *w, uint32_t slot)
{
    if (w->memo[slot]) {
        lr_pw_word(w, "h");
        put_number(w, w->memo[slot] - 1u, 1);
    }
    return w->memo[slot] != 0;
}

static void remember(lr_pickle_writer *w, uint32_t slot)
{
    lr_pw_word(w, "q");
    put_number(w, w->remembered, 1);
    w->memo[slot] = ++w->remembered;
}

void lr_pw_global(lr_pickle_writer *w, uint32_t slot, const char *module, const char *name)
{
    if (!recall(w, slot)) {
        lr_pw_word(w, "c");
        lr_pw_word(w, module);
        lr_pw_word(w, "\n");
        lr_pw_word(w, name);
        lr_pw_word(w, "\n");
        remember(w, slot);
    }
}

void lr_pw_name(lr_pickle_writer *w, uint32_t slot, const char *text)
{
    if (!recall(w, slot)) {
        lr_pw_string(w, text, strlen(text));
        remember(w, slot);
    }
}
