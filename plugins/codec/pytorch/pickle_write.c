/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A pickle of protocol 2 that torch.load(weights_only=True) takes: the same values always give the same bytes. */
#include "plugins/codec/pytorch/pickle_write.h"

void lr_pw_uint(lr_pickle_writer *w, uint64_t number)
{
    if (number <= UINT8_MAX) {
        lr_put_word(&w->out, "K");
        lr_put_little(&w->out, number, 1);
    } else if (number <= UINT16_MAX) {
        lr_put_word(&w->out, "M");
        lr_put_little(&w->out, number, 2);
    } else if (number <= INT32_MAX) {
        lr_put_word(&w->out, "J");
        lr_put_little(&w->out, number, 4);
    } else { /* a byte more than it needs is 0, so that it is not negative */
        unsigned width = 4;
        while (width < 8 && number >> (8 * width - 1)) {
            width++;
        }
        lr_put(&w->out, "\x8a", 1);
        lr_put_little(&w->out, width + (number >> 63), 1);
        lr_put_little(&w->out, number, width);
        lr_put_little(&w->out, 0, (unsigned)(number >> 63));
    }
}

void lr_pw_int(lr_pickle_writer *w, int64_t number)
{
    if (number >= 0) {
        lr_pw_uint(w, (uint64_t)number);
    } else if (number >= INT32_MIN) {
        lr_put_word(&w->out, "J");
        lr_put_little(&w->out, (uint64_t)number, 4);
    } else {
        unsigned width = 5;
        while (width < 8 && number < -(INT64_C(1) << (8 * width - 1))) {
            width++;
        }
        lr_put(&w->out, "\x8a", 1);
        lr_put_little(&w->out, width, 1);
        lr_put_little(&w->out, (uint64_t)number, width);
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
    lr_put(&w->out, bytes, sizeof bytes);
}

void lr_pw_bool(lr_pickle_writer *w, bool value)
{
    lr_put(&w->out, value ? "\x88" : "\x89", 1);
}

void lr_pw_string(lr_pickle_writer *w, const char *text, uint64_t length)
{
    if (length > UINT32_MAX && w->out.status == REC_OK) {
        w->out.status =
            rec_fail(w->out.job, REC_E_LIMIT, REC_UNKNOWN, "a text of more than 4 GiB, which a pickle has no room for");
    }
    lr_put_word(&w->out, "X");
    lr_put_little(&w->out, length, 4);
    lr_put(&w->out, text, length);
}

void lr_pw_bytes(lr_pickle_writer *w, const uint8_t *bytes, uint64_t length)
{
    uint64_t size = length;
    for (uint64_t i = 0; i < length; i++) {
        size += bytes[i] >> 7;
    }
    if (size > UINT32_MAX && w->out.status == REC_OK) {
        w->out.status =
            rec_fail(w->out.job, REC_E_LIMIT, REC_UNKNOWN, "bytes of more than 4 GiB, which a pickle has no room for");
    }
    lr_pw_global(w, LR_PW_ENCODE, "_codecs", "encode");
    lr_put_word(&w->out, "X");
    lr_put_little(&w->out, size, 4);
    for (uint64_t i = 0, from = 0; i <= length; i++) {
        if (i == length || bytes[i] & 0x80) {
            lr_put(&w->out, bytes + from, i - from);
            from = i + 1;
        }
        if (i < length && bytes[i] & 0x80) {
            const uint8_t two[2] = {(uint8_t)(0xc0 | bytes[i] >> 6), (uint8_t)(0x80 | (bytes[i] & 0x3f))};
            lr_put(&w->out, two, 2);
        }
    }
    lr_pw_name(w, LR_PW_LATIN1, "latin1");
    lr_put(&w->out, "\x86R", 2);
}

/* @return whether it is in the memo, and was referenced. */
static bool recall(lr_pickle_writer *w, uint32_t slot)
{
    if (w->memo[slot]) {
        lr_put_word(&w->out, "h");
        lr_put_little(&w->out, w->memo[slot] - 1u, 1);
    }
    return w->memo[slot] != 0;
}

static void remember(lr_pickle_writer *w, uint32_t slot)
{
    lr_put_word(&w->out, "q");
    lr_put_little(&w->out, w->remembered, 1);
    w->memo[slot] = ++w->remembered;
}

void lr_pw_global(lr_pickle_writer *w, uint32_t slot, const char *module, const char *name)
{
    if (!recall(w, slot)) {
        lr_put_word(&w->out, "c");
        lr_put_word(&w->out, module);
        lr_put_word(&w->out, "\n");
        lr_put_word(&w->out, name);
        lr_put_word(&w->out, "\n");
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
