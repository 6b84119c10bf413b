/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Inflating: blocks and their codes, and the symbols near the ends of input and room. inflate_fast.h has the rest. */
#include "plugins/codec/gzip/inflate_private.h"

#include <string.h>

enum { LONGEST_CODE = 15, CODE_LENGTHS = 19, LITERAL_CODES = 288, DISTANCE_CODES = 32 };
/* What a symbol takes at most: two codes of 15 bits, 5 and 13 bits more. */
enum { SYMBOL_BITS = 48 };
enum { LANES = 4 };

/* ------------------------------------------------------------------------------------------------------ tables -- */

#define LENGTH(base, extra) ((uint32_t)(base) << 16 | (extra))

static uint32_t literal_entry(unsigned symbol)
{
    static const uint32_t lengths[] = {
        LENGTH(3, 0),   LENGTH(4, 0),   LENGTH(5, 0),   LENGTH(6, 0),   LENGTH(7, 0),   LENGTH(8, 0),
        LENGTH(9, 0),   LENGTH(10, 0),  LENGTH(11, 1),  LENGTH(13, 1),  LENGTH(15, 1),  LENGTH(17, 1),
        LENGTH(19, 2),  LENGTH(23, 2),  LENGTH(27, 2),  LENGTH(31, 2),  LENGTH(35, 3),  LENGTH(43, 3),
        LENGTH(51, 3),  LENGTH(59, 3),  LENGTH(67, 4),  LENGTH(83, 4),  LENGTH(99, 4),  LENGTH(115, 4),
        LENGTH(131, 5), LENGTH(163, 5), LENGTH(195, 5), LENGTH(227, 5), LENGTH(258, 0),
    };
    if (symbol < 256) {
        return (uint32_t)symbol << 16 | LR_ONE_LITERAL | LR_LITERAL;
    }
    if (symbol == 256) {
        return LR_OTHER | LR_BLOCK_END;
    }
    return symbol - 257 < sizeof lengths / sizeof *lengths ? lengths[symbol - 257] : LR_OTHER;
}

static uint32_t distance_entry(unsigned symbol)
{
    unsigned extra = symbol < 2 ? 0 : symbol / 2 - 1;
    uint32_t base = symbol < 2 ? symbol + 1 : ((2 + (symbol & 1)) << extra) + 1;
    return symbol < 30 ? LENGTH(base, extra) : LR_OTHER;
}

static uint32_t length_entry(unsigned symbol)
{
    return (uint32_t)symbol << 16;
}

/* With the bits that the code takes: in the lowest byte those with the bits behind it; those of the code alone are told
 * for what has bits behind it. */
static uint32_t entry_of(uint32_t entry, unsigned bits)
{
    return entry + (entry & LR_LITERAL ? bits : bits * 0x101u);
}

typedef struct table {
    uint32_t *entries;
    unsigned room; /* entries */
    unsigned most; /* bits of the table at most */
    uint32_t (*entry)(unsigned symbol);
    unsigned bits; /* (out) of the table */
} table;

/* The next code of `length` bits, the first bit lowest. All ones is the last. */
static uint32_t next_code(uint32_t code, unsigned length)
{
    uint32_t bit = UINT32_C(1) << (length - 1);
    while (code & bit) {
        bit >>= 1;
    }
    return bit ? (code & (bit - 1)) | bit : 0;
}

/* Symbols in the order of their codes; how many there are of each length. @return false for codes that are none. An
 * incomplete set is one code of one bit or none at all, as with zlib. */
static bool sort_codes(const uint8_t *lengths, unsigned symbols, uint16_t *counts, uint16_t *sorted, unsigned *longest)
{
    uint16_t next[LONGEST_CODE + 2] = {0};
    int32_t left = 1;
    memset(counts, 0, (LONGEST_CODE + 1) * sizeof *counts);
    for (unsigned i = 0; i < symbols; i++) {
        counts[lengths[i]]++;
    }
    *longest = LONGEST_CODE;
    while (*longest && counts[*longest] == 0) {
        --*longest;
    }
    for (unsigned i = 1; i <= LONGEST_CODE; i++) {
        left = left * 2 - counts[i];
        if (left < 0) {
            return false;
        }
        next[i + 1] = (uint16_t)(next[i] + counts[i]);
    }
    if (left > 0 && *longest > 1) {
        return false;
    }
    for (unsigned i = 0; i < symbols; i++) {
        if (lengths[i]) {
            sorted[next[lengths[i]]++] = (uint16_t)i;
        }
    }
    return true;
}

/* Bits of the table for codes that are longer than the first table's bits and begin alike, from the shortest of them
 * on. */
static unsigned second_bits(const uint16_t *counts, unsigned from, unsigned first, unsigned longest)
{
    unsigned length = from;
    uint32_t used = counts[length];
    while (length < longest && used < UINT32_C(1) << (length - first)) {
        length++;
        used = (used << 1) + counts[length];
    }
    return length - first;
}

static bool build(table *t, const uint8_t *lengths, unsigned symbols)
{
    uint16_t counts[LONGEST_CODE + 1], sorted[LITERAL_CODES];
    unsigned longest, at = 0;
    uint32_t code = 0, prefix = UINT32_MAX, start = 0, size;
    if (!sort_codes(lengths, symbols, counts, sorted, &longest)) {
        return false;
    }
    t->bits = longest < t->most ? longest : t->most;
    t->bits = t->bits ? t->bits : 1;
    size = UINT32_C(1) << t->bits;
    t->entries[0] = t->entries[1] = LR_OTHER;
    for (unsigned length = 1; length <= t->bits; length++) {
        if (length > 1) { /* what is known of shorter codes holds whatever the next bit is */
            memcpy(t->entries + (UINT32_C(1) << (length - 1)), t->entries, sizeof *t->entries << (length - 1));
        }
        for (unsigned i = 0; i < counts[length]; i++) {
            t->entries[code] = entry_of(t->entry(sorted[at++]), length);
            code = next_code(code, length);
        }
    }
    for (unsigned length = t->bits + 1, bits = 0; length <= longest; length++) {
        while (counts[length]) {
            uint32_t entry = entry_of(t->entry(sorted[at++]), length - t->bits);
            if ((code & ((UINT32_C(1) << t->bits) - 1)) != prefix) {
                prefix = code & ((UINT32_C(1) << t->bits) - 1);
                start = size;
                bits = second_bits(counts, length, t->bits, longest);
                size += UINT32_C(1) << bits;
                if (size > t->room) {
                    return false;
                }
                t->entries[prefix] = start << 16 | LR_OTHER | LR_SECOND | bits << 8 | t->bits;
            }
            for (uint32_t i = code >> t->bits; i < UINT32_C(1) << bits; i += UINT32_C(1) << (length - t->bits)) {
                t->entries[start + i] = entry;
            }
            code = next_code(code, length);
            counts[length]--;
        }
    }
    return true;
}

/* Where most literals are short, two of them are found in one look. */
static void pair_literals(uint32_t *entries, unsigned bits)
{
    uint32_t size = UINT32_C(1) << bits, some = 0;
    for (uint32_t i = 0; i < size; i += 16) { /* a sample */
        some += entries[i] & LR_LITERAL && (entries[i] & 0xff) * 2 <= bits;
    }
    if (some * 16 * 8 < size) {
        return;
    }
    for (uint32_t i = size; i-- > 0;) {
        uint32_t first = entries[i], second = entries[i >> (first & 0xff)]; /* not paired yet: it is below this one */
        if (first & second & LR_LITERAL && (first & 0xff) + (second & 0xff) <= bits) {
            entries[i] = (first & 0xff) + (second & 0xff) + LR_TWO_LITERALS + LR_LITERAL + ((first & 0xff) << 10) +
                         (first & 0xff0000) + ((second & 0xff0000) << 8);
        }
    }
}

static bool set_tables(lr_inflater *self, const uint8_t *literals, unsigned literal_count, const uint8_t *distances,
                       unsigned distance_count)
{
    table first = {self->literals, LR_INFLATE_LITERALS, LR_LITERAL_BITS, literal_entry, 0};
    table second = {self->distances, LR_INFLATE_DISTANCES, LR_DISTANCE_BITS, distance_entry, 0};
    if (!build(&first, literals, literal_count) || !build(&second, distances, distance_count)) {
        return false;
    }
    pair_literals(first.entries, first.bits);
    self->literal_bits = (uint8_t)first.bits;
    self->distance_bits = (uint8_t)second.bits;
    return true;
}

/* ------------------------------------------------------------------------------------------------------- input -- */

/* As many bits as there is room for. */
static void fill(lr_inflater *self)
{
    while (self->count <= 56 && self->in < self->in_end) {
        self->bits |= (uint64_t)*self->in++ << self->count;
        self->count += 8;
    }
}

/* At most 16 bits, which were seen to be there. */
static uint32_t take(lr_inflater *self, unsigned bits)
{
    uint32_t value = (uint32_t)(self->bits & ((UINT64_C(1) << bits) - 1));
    self->bits >>= bits;
    self->count -= bits;
    return value;
}

/* Gives back the bytes that were loaded and not used: the next ones may lie elsewhere. */
static void give_back(lr_inflater *self)
{
    self->in -= self->count / 8;
    self->count %= 8;
    self->bits &= (UINT64_C(1) << self->count) - 1;
}

/* What is left of a byte that was begun is lost. */
static void to_byte(lr_inflater *self)
{
    give_back(self);
    self->bits = 0;
    self->count = 0;
}

/* ------------------------------------------------------------------------------------------------------ blocks -- */

static bool fixed_codes(lr_inflater *self)
{
    uint8_t literals[LITERAL_CODES], distances[DISTANCE_CODES];
    memset(literals, 8, 144);
    memset(literals + 144, 9, 112);
    memset(literals + 256, 7, 24);
    memset(literals + 280, 8, 8);
    memset(distances, 5, sizeof distances);
    self->known = self->known || set_tables(self, literals, LITERAL_CODES, distances, DISTANCE_CODES);
    return self->known;
}

/* The lengths of both codes, themselves in a code. All of them are within LR_INFLATE_HEADER bytes. */
static bool own_codes(lr_inflater *self)
{
    static const uint8_t order[CODE_LENGTHS] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint8_t codes[CODE_LENGTHS] = {0}, lengths[LITERAL_CODES + DISTANCE_CODES + 138];
    uint32_t entries[1 << 7];
    table t = {entries, 1 << 7, 7, length_entry, 0};
    unsigned literals, distances, all, known = 0;
    fill(self);
    if (self->count < 14) {
        return false;
    }
    literals = take(self, 5) + 257;
    distances = take(self, 5) + 1;
    all = literals + distances;
    known = take(self, 4) + 4;
    if (literals > 286 || distances > 30) {
        return false;
    }
    for (unsigned i = 0; i < known; i++) {
        fill(self);
        if (self->count < 3) {
            return false;
        }
        codes[order[i]] = (uint8_t)take(self, 3);
    }
    if (!build(&t, codes, CODE_LENGTHS)) {
        return false;
    }
    for (unsigned i = 0; i < all;) {
        static const uint8_t behind[] = {2, 3, 7};
        uint32_t entry, symbol, times = 1;
        uint8_t value;
        fill(self);
        entry = entries[self->bits & ((1u << t.bits) - 1)];
        symbol = entry >> 16;
        if (entry & LR_OTHER || self->count < (entry & 0xff) + (symbol < 16 ? 0u : behind[symbol - 16])) {
            return false;
        }
        (void)take(self, entry & 0xff);
        value = symbol < 16 ? (uint8_t)symbol : 0;
        if (symbol == 16) {
            if (i == 0) {
                return false;
            }
            value = lengths[i - 1];
            times = 3 + take(self, 2);
        } else if (symbol > 16) {
            times = symbol == 17 ? 3 + take(self, 3) : 11 + take(self, 7);
        }
        memset(lengths + i, value, times);
        i += times;
        if (i > all) {
            return false;
        }
    }
    self->known = false;
    return lengths[256] != 0 && set_tables(self, lengths, literals, lengths + literals, distances);
}

static bool stop(lr_inflater *self, lr_inflate_stop why)
{
    self->stop = why;
    self->mode = why == LR_INFLATE_BAD ? LR_MODE_ENDED : self->mode; /* there may be no tables to go on with */
    give_back(self);
    return false;
}

/* @return whether to go on, as those below. */
static bool begin_block(lr_inflater *self)
{
    bool good = true;
    if (!self->last && self->in_end - self->in < LR_INFLATE_HEADER) {
        return stop(self, LR_INFLATE_INPUT);
    }
    fill(self);
    if (self->count < 3) {
        return stop(self, self->last && self->count == 0 ? LR_INFLATE_CUT : LR_INFLATE_BAD);
    }
    self->final = take(self, 1);
    switch (take(self, 2)) {
    case 0:
        to_byte(self);
        good =
            self->in_end - self->in >= 4 && (self->in[0] ^ self->in[2]) == 0xff && (self->in[1] ^ self->in[3]) == 0xff;
        self->length = good ? self->in[0] | (uint32_t)self->in[1] << 8 : 0;
        self->in += good ? 4 : 0;
        self->mode = LR_MODE_STORED;
        break;
    case 1:
        good = fixed_codes(self);
        self->mode = LR_MODE_CODES;
        break;
    case 2:
        good = own_codes(self);
        self->mode = LR_MODE_CODES;
        break;
    default:
        good = false;
    }
    return good || stop(self, LR_INFLATE_BAD);
}

static bool copy_stored(lr_inflater *self)
{
    size_t size = self->length, room = (size_t)(self->out_end - self->out), there = (size_t)(self->in_end - self->in);
    size = size < room ? size : room;
    size = size < there ? size : there;
    if (size) {
        memcpy(self->out, self->in, size);
    }
    self->out += size;
    self->in += size;
    self->length -= (uint32_t)size;
    if (self->length == 0) {
        self->mode = LR_MODE_BLOCK;
        return true;
    }
    if (self->out == self->out_end) {
        return stop(self, LR_INFLATE_ROOM);
    }
    return stop(self, self->last ? LR_INFLATE_BAD : LR_INFLATE_INPUT);
}

/* ----------------------------------------------------------------------------------------------------- symbols -- */

/* What is left of a match, if there is any, as far as there is room. */
static bool copy_match(lr_inflater *self)
{
    while (self->length && self->out < self->out_end) {
        size_t back = (size_t)(self->out - self->begin);
        if (self->distance <= back) {
            *self->out = *(self->out - self->distance);
        } else if (self->distance - back <= self->window_size) {
            *self->out = *(self->window - (self->distance - back));
        } else {
            return stop(self, LR_INFLATE_BAD);
        }
        self->out++;
        self->length--;
    }
    return self->length == 0 || stop(self, LR_INFLATE_ROOM);
}

/* One symbol. */
static bool one_symbol(lr_inflater *self)
{
    uint64_t before;
    uint32_t entry, used = 0;
    self->leaves = false;
    fill(self);
    if (self->count < SYMBOL_BITS && !self->last) {
        return stop(self, LR_INFLATE_INPUT);
    }
    before = self->bits;
    entry = self->literals[before & ((UINT64_C(1) << self->literal_bits) - 1)];
    if ((entry & LR_SECOND) == LR_SECOND) {
        used = entry & 0xff;
        before >>= used;
        entry = self->literals[(entry >> 16) + (before & ((UINT64_C(1) << (entry >> 8 & 0xf)) - 1))];
    }
    if (entry & LR_LITERAL) {
        size_t room = (size_t)(self->out_end - self->out), size = entry >> 8 & 3;
        uint32_t bits = entry & 0xff;
        if (room < size) {
            size = room;
            bits = entry >> 10 & 0xf;
        }
        if (size == 0) {
            return stop(self, LR_INFLATE_ROOM);
        }
        used += bits;
        if (used > self->count) {
            return stop(self, LR_INFLATE_BAD);
        }
        self->out[0] = (uint8_t)(entry >> 16);
        if (size > 1) {
            self->out[1] = (uint8_t)(entry >> 24);
        }
        self->out += size;
    } else if (entry & LR_OTHER) {
        used += entry & 0xff;
        if ((entry & LR_BLOCK_END) != LR_BLOCK_END || used > self->count) {
            return stop(self, LR_INFLATE_BAD);
        }
        self->mode = LR_MODE_BLOCK;
    } else {
        self->length = lr_entry_value(entry, before);
        used += entry & 0xff;
        before >>= entry & 0xff;
        entry = self->distances[before & ((UINT64_C(1) << self->distance_bits) - 1)];
        if ((entry & LR_SECOND) == LR_SECOND) {
            used += entry & 0xff;
            before >>= entry & 0xff;
            entry = self->distances[(entry >> 16) + (before & ((UINT64_C(1) << (entry >> 8 & 0xf)) - 1))];
        }
        used += entry & 0xff;
        if (entry & LR_OTHER || used > self->count) {
            return stop(self, LR_INFLATE_BAD);
        }
        self->distance = lr_entry_value(entry, before);
    }
    self->bits >>= used;
    self->count -= used;
    return copy_match(self);
}

/* ----------------------------------------------------------------------------------------------------- streams -- */

void lr_inflate_begin(lr_inflater *self)
{
    self->final = self->known = self->leaves = false;
    self->mode = LR_MODE_BLOCK;
    self->count = 0;
    self->bits = 0;
    self->length = self->distance = 0;
}

/* Through blocks up to symbols that can be taken in a hurry. @return false: it has stopped. */
static bool to_symbols(lr_inflater *self)
{
    bool go = true;
    while (go && !lr_inflate_is_far(self)) {
        if (self->mode == LR_MODE_ENDED) {
            go = false;
        } else if (self->mode == LR_MODE_CODES) {
            go = self->length ? copy_match(self) : one_symbol(self);
        } else if (self->mode == LR_MODE_STORED) {
            go = copy_stored(self);
        } else if (!self->final) {
            go = begin_block(self);
        } else {
            to_byte(self);
            go = stop(self, LR_INFLATE_END);
        }
    }
    return go;
}

lr_inflate_stop lr_inflate(lr_inflater *self)
{
    const lr_inflate_loops *loops = lr_inflate_loops_now();
    while (to_symbols(self)) {
        loops->one(self);
    }
    return self->stop;
}

void lr_inflate_four(lr_inflater *four, lr_inflate_stop *stops)
{
    const lr_inflate_loops *loops = lr_inflate_loops_now();
    bool go = true;
    while (go) {
        for (int i = 0; i < LANES; i++) {
            go = to_symbols(&four[i]) && go;
        }
        go = go && loops->four(four);
    }
    for (int i = 0; i < LANES; i++) { /* one has ended, and the others are soon there; or all are quicker alone */
        stops[i] = lr_inflate(&four[i]);
    }
}
