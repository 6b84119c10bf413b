/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Text of small numbers takes about three bits a character, so that few repetitions are worth their distance: which
 * ones is decided by what each would cost, along the cheapest way through the text. Repetitions are looked for where a
 * number begins, forwards and backwards from there; a search at each character would find little more and take thrice
 * as long. */
#include "plugins/codec/gzip/numbers.h"

#include <string.h>

#include "plugins/codec/gzip/huffman.h"

/* A block has codes of its own; the way is found segment by segment, which stay in the cache. */
enum { BLOCK = 32 << 10, SEGMENT = 2 << 10, FIRST_LOOK = 8 << 10 };
enum { SEPARATOR = ',', NUMBER_USUAL = 4 /* characters with the separator, at most */ };
/* Where five and seven characters were seen last. Positions are held modulo 64 KiB. */
enum { SHORT = 5, LONG = 7, SHORT_BITS = 12, LONG_BITS = 13, REACH = 32768 };
/* What is compared at once, and how far back. */
enum { WORD = 8, BACK = 4 };
/* So many numbers ahead. */
enum { AHEAD = 3 };
/* Costs are in sixteenths of a bit. */
enum { BIT = 16 };
/* What is not to be done, where a branch would cost more than doing it. */
#define FORBIDDEN (UINT32_C(1) << 28)
/* Shorter repetitions cost more than they are worth. */
enum { LEAST_MATCH = 7 };

/* What a way costs is counted against characters alone: only repetitions change it. The upper half of a word is that,
 * the lower one says how it came about, and the smaller of two words is the cheaper one. */
#define VALUE(word) ((word) >> 32)
#define UPPER (~(uint64_t)UINT32_MAX)
#define NOTHING_SAVED (UINT64_C(1) << 24)
/* A repetition: its length, and above these bits its distance. */
enum { LENGTH_BITS = 9, LENGTH = (1 << LENGTH_BITS) - 1 };
/* A code and what follows it: the bits, and in the lowest five their number. */
enum { COUNT_BITS = 5, COUNT = (1 << COUNT_BITS) - 1 };

/* A part of the way: a repetition, or 0, and so many characters. */
typedef struct part {
    uint32_t repetition, characters;
} part;

struct lr_number_text {
    uint16_t anchors[SEGMENT + 1];             /* where numbers begin */
    uint32_t costs[SEGMENT + 1];               /* of the characters up to a place */
    uint64_t ends[SEGMENT + NUMBER_USUAL + 1]; /* the best repetition that ends at a place */
    uint64_t best[SEGMENT + NUMBER_USUAL + 1]; /* the best way to a place, and where its last repetition ended */
    part parts[BLOCK], found[SEGMENT + 1];     /* of a block and a segment */
    uint32_t count;                            /* of a block */
    uint16_t shorts[1 << SHORT_BITS], longs[1 << LONG_BITS][2];
    uint32_t symbols[LR_DEFLATE_SYMBOLS], distances[LR_DEFLATE_DISTANCES]; /* how often each occurs in a block */
    uint32_t literal_costs[256], length_costs[LR_DEFLATE_MATCH + 1], distance_costs[LR_DEFLATE_DISTANCES];
    uint32_t literal_words[256], length_words[LR_DEFLATE_MATCH + 1];
    uint16_t length_symbols[LR_DEFLATE_MATCH + 1];
    lr_codes symbol_codes, distance_codes; /* of a block */
};

lr_number_text *lr_number_text_new(rec_job *job)
{
    lr_number_text *self = rec_job_alloc(job, sizeof *self);
    if (self) {
        memset(self, 0, sizeof *self);
        for (uint32_t length = 3, extra, bits; length <= LR_DEFLATE_MATCH; length++) {
            self->length_symbols[length] = (uint16_t)lr_length_symbol(length, &extra, &bits);
        }
    }
    return self;
}

bool lr_number_text_is(const uint8_t *data, size_t size)
{
    enum { SAMPLES = 4, SAMPLE = 512 };
    uint32_t separators = 0, digits = 0, all = SAMPLES * SAMPLE;
    if (size < LR_NUMBER_TEXT_LEAST) {
        return false;
    }
    for (size_t i = 0; i < SAMPLES; i++) {
        const uint8_t *at = data + (size - SAMPLE) / (SAMPLES - 1) * i;
        for (size_t n = 0; n < SAMPLE; n++) {
            separators += at[n] == SEPARATOR;
            digits += at[n] >= '0' && at[n] <= '9';
        }
    }
    /* Nothing else to speak of, and numbers of one to three digits. */
    return (separators + digits) * 8 >= all * 7 && separators * 6 >= all;
}

/* ----------------------------------------------------------------------------------------------- what it costs -- */

/* By the codes of the last block. A symbol that did not occur may well occur in the next one. */
static void learn(lr_number_text *self)
{
    enum { RARE_LITERAL = 14, RARE_LENGTH = 12, RARE_DISTANCE = 7 };
    const uint8_t *symbols = self->symbol_codes.bits, *distances = self->distance_codes.bits;
    lr_codes_make(&self->symbol_codes, self->symbols, LR_DEFLATE_SYMBOLS, LR_DEFLATE_BITS);
    lr_codes_make(&self->distance_codes, self->distances, LR_DEFLATE_DISTANCES, LR_DEFLATE_BITS);
    for (uint32_t i = 0; i < 256; i++) {
        self->literal_costs[i] = BIT * (uint32_t)(symbols[i] ? symbols[i] : RARE_LITERAL);
    }
    for (uint32_t length = 0, extra, bits; length <= LR_DEFLATE_MATCH; length++) {
        if (length < LEAST_MATCH) {
            self->length_costs[length] = FORBIDDEN;
        } else {
            uint32_t symbol = lr_length_symbol(length, &extra, &bits);
            self->length_costs[length] = BIT * ((symbols[symbol] ? symbols[symbol] : RARE_LENGTH) + bits);
        }
    }
    for (uint32_t i = 0; i < LR_DEFLATE_DISTANCES; i++) {
        self->distance_costs[i] = BIT * ((distances[i] ? distances[i] : RARE_DISTANCE) + lr_distance_bits(i));
    }
}

/* Before anything is known: all characters that there are, and a repetition now and then. */
static void guess(lr_number_text *self, const uint8_t *data, size_t size)
{
    memset(self->symbols, 0, sizeof self->symbols);
    memset(self->distances, 0, sizeof self->distances);
    for (size_t i = 0; i < size; i++) {
        self->symbols[data[i]]++;
    }
    for (uint32_t length = LEAST_MATCH; length <= LEAST_MATCH + 3; length++) {
        self->symbols[self->length_symbols[length]] = (uint32_t)size / 32 + 1;
    }
    for (uint32_t i = 0; i < LR_DEFLATE_DISTANCES; i++) {
        self->distances[i] = i;
    }
    self->symbols[LR_DEFLATE_END] = 1;
    learn(self);
}

/* -------------------------------------------------------------------------------------------------- the search -- */

static void forget(lr_number_text *self)
{
    memset(self->shorts, 0, sizeof self->shorts);
    memset(self->longs, 0, sizeof self->longs);
}

/* Eight characters, the first in the lowest byte. */
static uint64_t eight(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static uint32_t hash(uint64_t word, uint32_t characters, uint32_t bits)
{
    return (uint32_t)(((word << (64 - 8 * characters)) * UINT64_C(0x9e3779b185ebca87)) >> (64 - bits));
}

static uint32_t same_from(const uint8_t *a, const uint8_t *b, uint32_t length, uint32_t most)
{
    while (length < most && a[length] == b[length]) {
        length++;
    }
    return length;
}

static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A repetition of what stood `distance` before: as long as it may be, in both directions. Which of them help is beyond
 * all prediction, so nearly all is done without branches. @param at in the segment. @param left characters of it from
 * there. */
static inline void try(lr_number_text *self, const uint8_t *data, uint32_t position, uint32_t at, uint32_t left,
                       uint32_t distance)
{
    bool fits = distance - 1 < REACH && distance + WORD <= position;
    const uint8_t *now = data + position, *before = now - (distance = fits ? distance : WORD);
    uint64_t differ = eight(now) ^ eight(before), differ_back = eight(now - WORD) ^ eight(before - WORD), way;
    uint64_t further = eight(now + WORD) ^ eight(before + WORD);
    /* the bit that is set ends the search where nothing differs */
    uint32_t length = (uint32_t)__builtin_ctzll((differ ? differ : further) | UINT64_C(1) << 63) / 8;
    uint32_t back = (uint32_t)__builtin_clzll(differ_back | UINT64_C(1) << (63 - 8 * BACK)) / 8, cost;
    length += differ ? 0 : WORD;
    if ((differ | further) == 0) {
        length = same_from(now, before, 2 * WORD, left < LR_DEFLATE_MATCH - BACK ? left : LR_DEFLATE_MATCH - BACK);
    }
    back = back < at ? back : at;
    length = length < left ? length : left;
    cost = self->length_costs[length + back] + self->distance_costs[lr_distance_symbol(distance)];
    cost += fits ? 0 : FORBIDDEN;
    cost -= self->costs[at + length] - self->costs[at - back]; /* below zero, mostly: the sum is not */
    way = (uint64_t)((uint32_t)VALUE(self->best[at - back]) + cost) << 32;
    way |= distance << LENGTH_BITS | (length + back);
    self->ends[at + length] = smaller(self->ends[at + length], way);
}

/* All that is worth a try where a number begins. Sixteen characters can be read there. */
static void search(lr_number_text *self, const uint8_t *data, uint32_t position, uint32_t at, uint32_t left)
{
    uint64_t word = eight(data + position);
    uint16_t *near = &self->shorts[hash(word, SHORT, SHORT_BITS)], *far = self->longs[hash(word, LONG, LONG_BITS)];
    uint32_t first = (position - *near) & 0xffff, second = (position - far[0]) & 0xffff;
    uint32_t third = (position - far[1]) & 0xffff;
    *near = (uint16_t)position;
    far[1] = far[0];
    far[0] = (uint16_t)position;
    try(self, data, position, at, left, first);
    try(self, data, position, at, left, second);
    try(self, data, position, at, left, third);
}

/* ----------------------------------------------------------------------------------------------------- the way -- */

/* The tables are larger than the nearest cache: has what will be needed of them brought there. */
static inline void look_ahead(const lr_number_text *self, const uint8_t *segment, uint32_t at, uint32_t begin,
                              uint32_t all)
{
    if (begin + at + WORD <= all) {
        uint64_t word = eight(segment + at);
        __builtin_prefetch(&self->shorts[hash(word, SHORT, SHORT_BITS)], 1);
        __builtin_prefetch(self->longs[hash(word, LONG, LONG_BITS)], 1);
    }
}

static uint32_t find_anchors(lr_number_text *self, const uint8_t *data, uint32_t size)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < size; i++) {
        self->anchors[count] = (uint16_t)(i + 1);
        count += data[i] == SEPARATOR;
    }
    return count;
}

/* The best way to `at`, once that to the place before is known. @param before that. */
static inline uint64_t arrive(lr_number_text *self, uint32_t at, uint64_t before)
{
    return self->best[at] = smaller(before, (self->ends[at] & UPPER) | at);
}

/* The cheapest way through `size` characters from `begin` on, at most SEGMENT. @param all characters of the piece. */
static void search_segment(lr_number_text *self, const uint8_t *data, uint32_t begin, uint32_t size, uint32_t all)
{
    const uint8_t *segment = data + begin;
    uint32_t anchors = find_anchors(self, segment, size), at = 0;
    memset(self->ends, 0xff, sizeof self->ends);
    self->best[0] = NOTHING_SAVED << 32;
    self->costs[0] = 0;
    for (uint32_t i = 0; i < size; i++) {
        self->costs[i + 1] = self->costs[i] + self->literal_costs[segment[i]];
    }
    for (uint32_t i = 0; i < anchors; i++) {
        uint32_t anchor = self->anchors[i];
        uint64_t here = self->best[at];
        if (i + AHEAD < anchors) {
            look_ahead(self, segment, self->anchors[i + AHEAD], begin, all);
        }
        if (anchor - at <= NUMBER_USUAL && at + NUMBER_USUAL <= size) {
            /* A place too far does no harm: what comes of it now will be overtaken. */
            for (uint32_t n = 1; n <= NUMBER_USUAL; n++) {
                here = arrive(self, at + n, here);
            }
            at = anchor;
        } else {
            while (at < anchor) {
                here = arrive(self, ++at, here);
            }
        }
        if (begin + at >= 2 * WORD && begin + at + 2 * WORD <= all && at < size) {
            search(self, data, begin + at, at, size - at);
        }
    }
    for (uint64_t here = self->best[at]; at < size;) {
        here = arrive(self, ++at, here);
    }
}

/* Writes down the way through a segment, from its end, and counts what it is made of. */
static void follow(lr_number_text *self, const uint8_t *segment, uint32_t size)
{
    uint32_t at = size, taken = 0, repetition = 1;
    while (at > 0 && repetition) {
        uint32_t end = (uint32_t)self->best[at];
        repetition = end ? (uint32_t)self->ends[end] : 0;
        self->found[SEGMENT - taken++] = (part){repetition, at - end};
        for (uint32_t i = end; i < at; i++) {
            self->symbols[segment[i]]++;
        }
        at = end - (repetition & LENGTH);
        if (repetition) {
            self->symbols[self->length_symbols[repetition & LENGTH]]++;
            self->distances[lr_distance_symbol(repetition >> LENGTH_BITS)]++;
        }
    }
    memcpy(self->parts + self->count, self->found + SEGMENT + 1 - taken, taken * sizeof *self->found);
    self->count += taken;
}

static void walk(lr_number_text *self, const uint8_t *data, uint32_t begin, uint32_t size, uint32_t all)
{
    memset(self->symbols, 0, sizeof self->symbols);
    memset(self->distances, 0, sizeof self->distances);
    self->symbols[LR_DEFLATE_END] = 1;
    self->count = 0;
    for (uint32_t at = 0; at < size; at += SEGMENT) {
        uint32_t some = size - at < SEGMENT ? size - at : SEGMENT;
        search_segment(self, data, begin + at, some, all);
        follow(self, data + begin + at, some);
    }
}

/* --------------------------------------------------------------------------------------------------- the block -- */

/* What each symbol of the block becomes. @return bytes of it all, or a few more. */
static uint64_t make_words(lr_number_text *self)
{
    const lr_codes *symbols = &self->symbol_codes, *distances = &self->distance_codes;
    uint64_t all = 0;
    for (uint32_t i = 0; i < 256; i++) {
        self->literal_words[i] = (uint32_t)symbols->code[i] << COUNT_BITS | symbols->bits[i];
    }
    for (uint32_t length = LEAST_MATCH, extra, more; length <= LR_DEFLATE_MATCH; length++) {
        uint32_t symbol = lr_length_symbol(length, &extra, &more), count = symbols->bits[symbol];
        self->length_words[length] = (symbols->code[symbol] | extra << count) << COUNT_BITS | (count + more);
    }
    for (uint32_t i = 0; i < LR_DEFLATE_DISTANCES; i++) {
        all += (uint64_t)self->distances[i] * (distances->bits[i] + lr_distance_bits(i));
    }
    for (uint32_t i = 0; i < LR_DEFLATE_SYMBOLS; i++) {
        all += (uint64_t)self->symbols[i] * (symbols->bits[i] + (i < LR_DEFLATE_LENGTHS ? 0u : 5u));
    }
    return all / 8 + 1;
}

static inline void put_word(lr_bits *bits, uint32_t word)
{
    lr_bits_put(bits, word >> COUNT_BITS, word & COUNT);
}

/* All lr_bits_put() between two flushes have at most 56 bits together. */
static inline void put_repetition(const lr_number_text *self, lr_bits *bits, uint32_t repetition)
{
    uint32_t distance = repetition >> LENGTH_BITS, symbol = lr_distance_symbol(distance);
    uint32_t count = lr_distance_bits(symbol);
    put_word(bits, self->length_words[repetition & LENGTH]);
    lr_bits_put(bits, self->distance_codes.code[symbol], self->distance_codes.bits[symbol]);
    lr_bits_put(bits, (distance - 1) & ((UINT32_C(1) << count) - 1), count);
    lr_bits_flush(bits);
}

static inline void put_characters(const lr_number_text *self, lr_bits *bits, const uint8_t *data, uint32_t count)
{
    enum { TOGETHER = 3 };
    uint32_t n = 0;
    for (; n + TOGETHER <= count; n += TOGETHER) {
        put_word(bits, self->literal_words[data[n]]);
        put_word(bits, self->literal_words[data[n + 1]]);
        put_word(bits, self->literal_words[data[n + 2]]);
        lr_bits_flush(bits);
    }
    for (; n < count; n++) {
        put_word(bits, self->literal_words[data[n]]);
    }
    lr_bits_flush(bits);
}

static void put_parts(const lr_number_text *self, lr_bits *bits, const uint8_t *data)
{
    lr_bits held = *bits;
    for (uint32_t i = 0; i < self->count; i++) {
        part next = self->parts[i];
        if (next.repetition) {
            put_repetition(self, &held, next.repetition);
            data += next.repetition & LENGTH;
        }
        put_characters(self, &held, data, next.characters);
        data += next.characters;
    }
    lr_bits_put(&held, self->symbol_codes.code[LR_DEFLATE_END], self->symbol_codes.bits[LR_DEFLATE_END]);
    lr_bits_flush(&held);
    *bits = held;
}

size_t lr_number_text_deflate(lr_number_text *self, const uint8_t *data, size_t size, bool last, uint8_t *out,
                              size_t room)
{
    enum { HEADER = 400, END = 16 }; /* of a block; of all, and what is touched beyond */
    uint32_t all = (uint32_t)size, first = all < FIRST_LOOK ? all : FIRST_LOOK;
    lr_bits bits = {.next = out};
    forget(self);
    guess(self, data, first);
    walk(self, data, 0, first, all); /* for its costs alone */
    learn(self);
    forget(self);
    for (uint32_t at = 0; at < all; at += BLOCK) {
        walk(self, data, at, all - at < BLOCK ? all - at : BLOCK, all);
        learn(self);
        if ((uint64_t)(bits.next - out) + make_words(self) + HEADER + END > room) {
            return 0;
        }
        lr_codes_put(&bits, &self->symbol_codes, &self->distance_codes);
        put_parts(self, &bits, data + at);
    }
    lr_bits_put(&bits, last, 3); /* a stored block of nothing, to end at a byte */
    bits.count = (bits.count + 7) & ~7u;
    lr_bits_flush(&bits);
    memcpy(bits.next, (const uint8_t[]){0, 0, 0xff, 0xff}, 4);
    return (size_t)(bits.next + 4 - out);
}
