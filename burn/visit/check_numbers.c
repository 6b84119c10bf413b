/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The numbers of a list as one hash. A list of bytes is hashed as bytes up to its first other number; from there on
 * each is a word of 64 bits, with a mark where the kind changes. */
#include <math.h>

#include "burn/visit/check_private.h"

enum { KIND_NIL = 1, KIND_BOOL, KIND_INT, KIND_HUGE /* beyond int64_t */, KIND_FLOAT, KIND_BYTES };
enum { TOGETHER = 512, EACH = 63 };

void lr_numbers_begin(lr_variables *n)
{
    memset(n, 0, sizeof *n);
    lr_hash_begin(&n->hash);
}

uint64_t lr_float_bits(double value, bool narrow)
{
    uint64_t bits;
    float single = (float)value;
    uint32_t half;
    if (isnan(value)) {
        return narrow ? UINT64_C(0x7fc00000) : UINT64_C(0x7ff8000000000000);
    }
    memcpy(&half, &single, sizeof half);
    memcpy(&bits, &value, sizeof bits);
    return narrow ? half : bits;
}

static void mark(lr_hash *hash, int32_t *now, int32_t kind)
{
    if (*now != kind) {
        uint64_t word = UINT64_C(0xA5A5A5A5A5A5A500) + (uint64_t)kind;
        lr_swap_if_big(&word, 8, 1);
        lr_hash_add(hash, &word, sizeof word);
        *now = kind;
    }
}

/* Ends the bytes at the beginning. */
static void widen(lr_variables *n)
{
    if (!n->wide) {
        uint64_t words[2] = {n->count, lr_hash_end(&n->hash)};
        n->wide = true;
        lr_hash_begin(&n->hash);
        if (n->count) {
            lr_swap_if_big(words, 8, 2);
            mark(&n->hash, &n->kind, KIND_BYTES);
            lr_hash_add(&n->hash, words, sizeof words);
        }
    }
}

static void put_words(lr_variables *n, int32_t kind, uint64_t *words, uint64_t count)
{
    if (!count) {
        return;
    }
    widen(n);
    lr_swap_if_big(words, 8, count);
    mark(&n->hash, &n->kind, kind);
    lr_hash_add(&n->hash, words, count * 8);
    if (n->loose) {
        mark(&n->loose_hash, &n->loose_kind, kind);
        lr_hash_add(&n->loose_hash, words, count * 8);
    }
    n->count += count;
}

/* A NaN or an infinity. */
static void put_loose(lr_variables *n, uint64_t word)
{
    const uint64_t nil = 0;
    widen(n);
    if (!n->loose) {
        n->loose = true;
        n->loose_hash = n->hash;
        n->loose_kind = n->kind;
    }
    lr_swap_if_big(&word, 8, 1);
    mark(&n->hash, &n->kind, KIND_FLOAT);
    lr_hash_add(&n->hash, &word, 8);
    mark(&n->loose_hash, &n->loose_kind, KIND_NIL);
    lr_hash_add(&n->loose_hash, &nil, 8);
    n->count++;
}

/* Whether float number `index` counts at 32 bits; the first time it is what it came with. */
static bool is_narrow(lr_variables *n, uint64_t index, bool mine)
{
    uint64_t bit = UINT64_C(1) << (index < EACH ? index : EACH);
    if (!n->given && (index < EACH || !n->after)) {
        n->narrow |= mine ? bit : 0;
        n->after = n->after || index >= EACH;
    }
    return (n->narrow & bit) != 0;
}

static void put_floats(lr_variables *n, rec_dtype dtype, const uint8_t *data, uint64_t count)
{
    uint64_t words[TOGETHER], used = 0;
    bool mine = dtype == REC_DTYPE_F32;
    for (uint64_t i = 0; i < count; i++) {
        double value;
        uint64_t word;
        if (mine) {
            float single;
            memcpy(&single, data + i * 4, 4);
            value = single;
        } else {
            memcpy(&value, data + i * 8, 8);
        }
        word = lr_float_bits(value, is_narrow(n, n->count + used, mine));
        if (!isfinite(value)) {
            put_words(n, KIND_FLOAT, words, used);
            used = 0;
            put_loose(n, word);
            continue;
        }
        words[used++] = word;
        if (used == TOGETHER) {
            put_words(n, KIND_FLOAT, words, used);
            used = 0;
        }
    }
    put_words(n, KIND_FLOAT, words, used);
}

static int32_t kind_of(const rec_scalar *number)
{
    return number->kind == REC_KIND_BOOL                              ? KIND_BOOL
           : number->kind == REC_KIND_UINT && number->v.u > INT64_MAX ? KIND_HUGE
                                                                      : KIND_INT;
}

/* Integers or bools of host byte order. */
static void put_whole(lr_variables *n, rec_dtype dtype, const uint8_t *data, uint64_t count)
{
    uint64_t words[TOGETHER], used = 0;
    uint32_t width = rec_dtype_bits(dtype) / 8;
    int32_t kind = 0;
    for (uint64_t i = 0; i < count; i++) {
        rec_scalar number = lr_host_element(dtype, data + i * width);
        int32_t mine = kind_of(&number);
        uint64_t word = number.v.u;
        if (!n->wide && !used && mine == KIND_INT && word <= UINT8_MAX) {
            uint8_t byte = (uint8_t)word;
            lr_hash_add(&n->hash, &byte, 1);
            n->count++;
            continue;
        }
        if (used == TOGETHER || (used && mine != kind)) {
            put_words(n, kind, words, used);
            used = 0;
        }
        kind = mine;
        words[used++] = word;
    }
    put_words(n, kind, words, used);
}

void lr_numbers_add(lr_variables *n, rec_dtype dtype, const void *data, uint64_t count)
{
    if (dtype == REC_DTYPE_F32 || dtype == REC_DTYPE_F64) {
        put_floats(n, dtype, data, count);
    } else if (dtype == REC_DTYPE_U8 && !n->wide) {
        lr_hash_add(&n->hash, data, count);
        n->count += count;
    } else {
        put_whole(n, dtype, data, count);
    }
}

void lr_numbers_scalar(lr_variables *n, const rec_scalar *scalar)
{
    uint64_t nil = 0;
    float single;
    uint8_t truth;
    switch (scalar->kind) {
    case REC_KIND_FLOAT:
        single = (float)scalar->v.f;
        put_floats(n, scalar->bits == 32 ? REC_DTYPE_F32 : REC_DTYPE_F64,
                   scalar->bits == 32 ? (const uint8_t *)&single : (const uint8_t *)&scalar->v.f, 1);
        break;
    case REC_KIND_INT:
        put_whole(n, REC_DTYPE_I64, (const uint8_t *)&scalar->v.i, 1);
        break;
    case REC_KIND_UINT:
        put_whole(n, REC_DTYPE_U64, (const uint8_t *)&scalar->v.u, 1);
        break;
    case REC_KIND_BOOL:
        truth = scalar->v.i != 0;
        put_whole(n, REC_DTYPE_BOOL, &truth, 1);
        break;
    default:
        put_words(n, KIND_NIL, &nil, 1);
        break;
    }
}
