/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Huffman codes of limited length, and how deflate writes them down. */
#include "plugins/codec/gzip/huffman.h"

/* Symbols by which lengths of codes are told: 0 to 15, and runs. */
enum { TOLD = 19, COPY = 16, ZEROS = 17, MANY_ZEROS = 18, TOLD_BITS = 7 };
enum { COPY_MOST = 6, ZEROS_MOST = 10, MANY_MOST = 138, RUN_LEAST = 3, MANY_LEAST = 11 };

/* The symbols that occur, the rarest first. @return how many. */
static uint32_t sort(const uint32_t *counts, uint32_t symbols, uint16_t *sorted)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < symbols; i++) {
        if (counts[i]) {
            uint32_t at = used++;
            for (; at > 0 && counts[sorted[at - 1]] > counts[i]; at--) {
                sorted[at] = sorted[at - 1];
            }
            sorted[at] = (uint16_t)i;
        }
    }
    return used;
}

/* How deep each leaf is, where the two lightest trees become one again and again: leaves are 0 to used - 1, by weight,
 * and each new tree is heavier than those before it. */
static void measure(const uint32_t *counts, const uint16_t *sorted, uint32_t used, uint16_t *depths)
{
    uint64_t weights[2 * LR_DEFLATE_SYMBOLS];
    uint16_t parents[2 * LR_DEFLATE_SYMBOLS];
    uint32_t leaf = 0, tree = used;
    for (uint32_t i = 0; i < used; i++) {
        weights[i] = counts[sorted[i]];
    }
    for (uint32_t next = used; next < 2 * used - 1; next++) {
        weights[next] = 0;
        for (int two = 0; two < 2; two++) {
            uint32_t lightest = leaf < used && (tree == next || weights[leaf] <= weights[tree]) ? leaf++ : tree++;
            weights[next] += weights[lightest];
            parents[lightest] = (uint16_t)next;
        }
    }
    depths[2 * used - 2] = 0;
    for (uint32_t i = 2 * used - 2; i-- > 0;) {
        depths[i] = (uint16_t)(depths[parents[i]] + 1);
    }
}

/* How many codes there are of each length. Those that are too long become as long as may be, and what they take then is
 * made up for by the longest of the others, which become a bit longer. */
static void limit(const uint16_t *depths, uint32_t used, uint32_t most, uint32_t *lengths)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < used; i++) {
        uint32_t depth = depths[i] < most ? depths[i] : most;
        lengths[depth]++;
        taken += UINT32_C(1) << (most - depth);
    }
    for (; taken > UINT32_C(1) << most; taken--) {
        uint32_t length = most - 1;
        while (lengths[length] == 0) {
            length--;
        }
        lengths[length]--;
        lengths[length + 1] += 2;
        lengths[most]--;
    }
}

static void number(lr_codes *codes, const uint32_t *lengths, uint32_t symbols)
{
    uint32_t next[LR_DEFLATE_BITS + 2] = {0};
    for (uint32_t length = 1; length <= LR_DEFLATE_BITS; length++) {
        next[length + 1] = (next[length] + lengths[length]) << 1;
    }
    for (uint32_t i = 0; i < symbols; i++) {
        uint32_t straight, turned = 0;
        if (codes->bits[i]) {
            straight = next[codes->bits[i]]++;
            for (uint32_t bit = 0; bit < codes->bits[i]; bit++) {
                turned = turned << 1 | ((straight >> bit) & 1);
            }
            codes->code[i] = (uint16_t)turned;
        }
    }
}

void lr_codes_make(lr_codes *codes, const uint32_t *counts, uint32_t symbols, uint32_t most)
{
    uint16_t sorted[LR_DEFLATE_SYMBOLS], depths[2 * LR_DEFLATE_SYMBOLS];
    uint32_t lengths[LR_DEFLATE_BITS + 1] = {0}, used = sort(counts, symbols, sorted), at = 0;
    memset(codes, 0, sizeof *codes);
    if (used == 1) {
        lengths[1] = 1; /* a code of no bits cannot be told */
    } else if (used > 1) {
        measure(counts, sorted, used, depths);
        limit(depths, used, most, lengths);
    }
    for (uint32_t length = most; length > 0; length--) {
        for (uint32_t i = 0; i < lengths[length]; i++) {
            codes->bits[sorted[at++]] = (uint8_t)length;
        }
    }
    number(codes, lengths, symbols);
}

/* One word of the header: a symbol of TOLD, and what follows it. */
typedef struct word {
    uint8_t symbol, extra, bits;
} word;

static uint32_t tell_run(uint32_t length, uint32_t run, word *words)
{
    uint32_t count = 0;
    if (length > 0) { /* once in full, then as a copy of it */
        words[count++] = (word){(uint8_t)length, 0, 0};
        run--;
    }
    while (run >= RUN_LEAST) {
        uint32_t most = length > 0 ? COPY_MOST : run < MANY_LEAST ? ZEROS_MOST : MANY_MOST;
        uint32_t some = run < most ? run : most;
        words[count++] = length > 0          ? (word){COPY, (uint8_t)(some - RUN_LEAST), 2}
                         : some < MANY_LEAST ? (word){ZEROS, (uint8_t)(some - RUN_LEAST), 3}
                                             : (word){MANY_ZEROS, (uint8_t)(some - MANY_LEAST), 7};
        run -= some;
    }
    for (; run > 0; run--) {
        words[count++] = (word){(uint8_t)length, 0, 0};
    }
    return count;
}

static uint32_t used_of(const lr_codes *codes, uint32_t symbols, uint32_t least)
{
    while (symbols > least && codes->bits[symbols - 1] == 0) {
        symbols--;
    }
    return symbols;
}

void lr_codes_put(lr_bits *bits, const lr_codes *symbols, const lr_codes *distances)
{
    static const uint8_t order[TOLD] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint32_t first = used_of(symbols, LR_DEFLATE_SYMBOLS, LR_DEFLATE_LENGTHS);
    uint32_t second = used_of(distances, LR_DEFLATE_DISTANCES, 1), all = first + second, count = 0, told = TOLD;
    uint8_t lengths[LR_DEFLATE_SYMBOLS + LR_DEFLATE_DISTANCES];
    word words[LR_DEFLATE_SYMBOLS + LR_DEFLATE_DISTANCES];
    uint32_t counts[TOLD] = {0};
    lr_codes codes;
    memcpy(lengths, symbols->bits, first);
    memcpy(lengths + first, distances->bits, second);
    for (uint32_t i = 0, run; i < all; i += run) {
        for (run = 1; i + run < all && lengths[i + run] == lengths[i]; run++) {
        }
        count += tell_run(lengths[i], run, words + count);
    }
    for (uint32_t i = 0; i < count; i++) {
        counts[words[i].symbol]++;
    }
    lr_codes_make(&codes, counts, TOLD, TOLD_BITS);
    while (told > 4 && codes.bits[order[told - 1]] == 0) {
        told--;
    }
    lr_bits_put(bits, 2 << 1, 3); /* not the last one; codes of its own */
    lr_bits_put(bits, first - LR_DEFLATE_LENGTHS, 5);
    lr_bits_put(bits, second - 1, 5);
    lr_bits_put(bits, told - 4, 4);
    lr_bits_flush(bits);
    for (uint32_t i = 0; i < told; i++) {
        lr_bits_put(bits, codes.bits[order[i]], 3);
        lr_bits_flush(bits);
    }
    for (uint32_t i = 0; i < count; i++) {
        lr_bits_put(bits, codes.code[words[i].symbol], codes.bits[words[i].symbol]);
        lr_bits_put(bits, words[i].extra, words[i].bits);
        lr_bits_flush(bits);
    }
}

uint32_t lr_length_symbol(uint32_t length, uint32_t *extra, uint32_t *bits)
{
    uint32_t more = length - 3, log;
    *extra = *bits = 0;
    if (length == LR_DEFLATE_MATCH) {
        return LR_DEFLATE_LENGTHS + 28;
    }
    if (more < 8) {
        return LR_DEFLATE_LENGTHS + more;
    }
    log = 31 - (uint32_t)__builtin_clz(more); /* four symbols for each power of two */
    *bits = log - 2;
    *extra = more & ((UINT32_C(1) << *bits) - 1);
    return LR_DEFLATE_LENGTHS + 4 * (log - 1) + ((more >> *bits) & 3);
}
