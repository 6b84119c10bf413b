/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The loops of the inflater, far from the ends of input and room. A symbol's code is known when the one before it is:
 * in one stream each waits for the other, in four there is always something to do. */
#include "plugins/codec/gzip/inflate_private.h"

#include <stdatomic.h>
#include <string.h>

#include "plugins/codec/cpu.h"

#define ALWAYS static inline __attribute__((always_inline))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* A round of symbols and a match behind it: two loads of eight bytes; ten bytes of literals, a match of 258 and what is
 * copied beyond it. */
enum { IN_NEAR = 32, OUT_NEAR = 320, ROUND_IN = 8, ROUND_OUT = 10 };
/* Streams side by side wait for each other where one has no literal. After MET_MOST times it is asked whether there
 * were so many rounds of literals in between that it is worth it; a few times tell nothing. */
enum { MET_MOST = 1024, MET_LEAST = 128, WORTH = 2 };

bool lr_inflate_is_far(const lr_inflater *self)
{
    return self->mode == LR_MODE_CODES && self->length == 0 && !self->leaves && self->in_end - self->in >= IN_NEAR &&
           self->out_end - self->out >= OUT_NEAR;
}

ALWAYS uint64_t load(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* One literal or two; the byte behind them may be written over. */
ALWAYS uint8_t *put(uint8_t *out, uint32_t entry)
{
    uint16_t two = (uint16_t)(entry >> 16);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    two = __builtin_bswap16(two);
#endif
    memcpy(out, &two, sizeof two);
    return out + (entry >> 8 & 3);
}

/* To 56 bits at least. Those above `count` are the ones that come next, and are loaded once more. Only the lowest six
 * bits of `count` have a meaning. */
#define REFILL(in, bits, count)           \
    do {                                  \
        bits |= load(in) << (count & 63); \
        in += 7 - ((count >> 3) & 7);     \
        count |= 56;                      \
    } while (0)
#define TAKE(bits, count, entry) (bits >>= (entry & 63), count -= entry)

/* Copies a match; up to 15 bytes behind it may be written over. */
ALWAYS void copy(uint8_t *out, uint32_t distance, uint32_t length)
{
    const uint8_t *from = out - distance;
    uint8_t *end = out + length;
    if (distance >= 16) {
        do {
            memcpy(out, from, 16);
            out += 16;
            from += 16;
        } while (out < end);
    } else if (distance == 1) {
        memset(out, *from, length);
    } else {
        /* What is repeated is laid out until it is 16 bytes long or more: from there on it is copied from itself. */
        uint32_t laid = distance;
        while (laid < 16) {
            laid += distance;
        }
        for (uint32_t i = 0; i < laid && out < end; i++) {
            *out++ = *from++;
        }
        from = out - laid;
        while (out < end) {
            memcpy(out, from, 16);
            out += 16;
            from += 16;
        }
    }
}

/* What a loop needs of a stream; bytes are written through pointers that may point anywhere, so it has it for itself.
 */
typedef struct codes {
    const uint32_t *literals, *distances;
    uint64_t literal_mask, distance_mask;
    const uint8_t *begin;
} codes;

/* A place in a stream. */
typedef struct lane {
    const uint8_t *in;
    uint8_t *out;
    uint64_t bits;
    uint32_t count;
} lane;

ALWAYS codes codes_of(const lr_inflater *self)
{
    return (codes){self->literals, self->distances, (UINT64_C(1) << self->literal_bits) - 1,
                   (UINT64_C(1) << self->distance_bits) - 1, self->begin};
}

ALWAYS lane lane_of(const lr_inflater *self)
{
    return (lane){self->in, self->out, self->bits, self->count};
}

ALWAYS void keep(lr_inflater *self, const lane *l, bool leaves)
{
    self->in = l->in;
    self->out = l->out;
    self->bits = l->bits;
    self->count = l->count & 63;
    self->leaves = leaves;
}

/* What is no literal, of which at least 20 bits are there; `entry` is the one of the next bits. Leaves 28 bits at
 * least.
 * @return false, with nothing done: it is none for the loops. */
ALWAYS bool other(const codes *c, lane *place, uint32_t entry)
{
    lane l = *place;
    uint64_t before = l.bits;
    uint32_t length, distance;
    if (UNLIKELY(entry & LR_OTHER)) {
        if ((entry & LR_SECOND) == LR_SECOND) {
            uint64_t mask = (UINT64_C(1) << (entry >> 8 & 0xf)) - 1;
            TAKE(l.bits, l.count, entry);
            entry = c->literals[(entry >> 16) + (l.bits & mask)];
            before = l.bits;
        }
        if (entry & LR_LITERAL) {
            TAKE(l.bits, l.count, entry);
            l.out = put(l.out, entry);
            REFILL(l.in, l.bits, l.count);
            *place = l;
            return true;
        }
        if (entry & LR_OTHER) {
            return false; /* a block's end, or nothing that there is */
        }
    }
    TAKE(l.bits, l.count, entry);
    length = lr_entry_value(entry, before);
    REFILL(l.in, l.bits, l.count);
    entry = c->distances[l.bits & c->distance_mask];
    if (UNLIKELY(entry & LR_OTHER)) {
        uint64_t mask = (UINT64_C(1) << (entry >> 8 & 0xf)) - 1;
        if ((entry & LR_SECOND) != LR_SECOND) {
            return false;
        }
        TAKE(l.bits, l.count, entry);
        entry = c->distances[(entry >> 16) + (l.bits & mask)];
        if (entry & LR_OTHER) {
            return false;
        }
    }
    before = l.bits;
    TAKE(l.bits, l.count, entry);
    distance = lr_entry_value(entry, before);
    if (UNLIKELY(distance > (size_t)(l.out - c->begin))) {
        return false;
    }
    copy(l.out, distance, length);
    l.out += length;
    *place = l;
    return true;
}

ALWAYS void one(lr_inflater *self)
{
    const codes c = codes_of(self);
    const uint8_t *const in_near = self->in_end - IN_NEAR;
    const uint8_t *const out_near = self->out_end - OUT_NEAR;
    lane l = lane_of(self);
    bool go = true;
    uint32_t entry;
    REFILL(l.in, l.bits, l.count);
    entry = c.literals[l.bits & c.literal_mask];
#define ONE_LITERAL               \
    TAKE(l.bits, l.count, entry); \
    l.out = put(l.out, entry);    \
    entry = c.literals[l.bits & c.literal_mask];
    while (go && l.in <= in_near && l.out <= out_near) {
        REFILL(l.in, l.bits, l.count); /* the entry stays that of the next bits */
        if (entry & LR_LITERAL) {
            ONE_LITERAL
            if (entry & LR_LITERAL) {
                ONE_LITERAL
                if (entry & LR_LITERAL) {
                    ONE_LITERAL
                    if (entry & LR_LITERAL) {
                        ONE_LITERAL /* of four times 11 bits; 12 are left, enough to find the next entry */
                            continue;
                    }
                }
            }
        }
        go = other(&c, &l, entry);
        entry = c.literals[l.bits & c.literal_mask];
    }
    keep(self, &l, !go);
}

/* How many rounds of literals can be done for sure. */
ALWAYS size_t rounds(const lr_inflater *self, const lane *l)
{
    size_t in = (size_t)(self->in_end - l->in), out = (size_t)(self->out_end - l->out);
    if (in < IN_NEAR || out < OUT_NEAR) {
        return 0;
    }
    in = (in - IN_NEAR) / ROUND_IN;
    out = (out - OUT_NEAR) / ROUND_OUT;
    return 1 + (in < out ? in : out);
}

#define EACH(DO) DO(0) DO(1) DO(2) DO(3)

ALWAYS bool four(lr_inflater *all)
{
    bool leaves = false;
    size_t met = 0, done = 0;
#define OPEN(i)                           \
    const codes c##i = codes_of(&all[i]); \
    lane l##i = lane_of(&all[i]);         \
    bool leaves##i = false;
#define LEAST(i)                              \
    {                                         \
        size_t some = rounds(&all[i], &l##i); \
        left = some < left ? some : left;     \
    }
#define LOAD(i) REFILL(l##i.in, l##i.bits, l##i.count);
#define LOOK(i) uint32_t e##i = c##i.literals[l##i.bits & c##i.literal_mask];
#define TOOK(i)                        \
    TAKE(l##i.bits, l##i.count, e##i); \
    l##i.out = put(l##i.out, e##i);
/* A symbol of each, if all are literals. */
#define STEP                                               \
    {                                                      \
        EACH(LOOK)                                         \
        if (UNLIKELY(!(e0 & e1 & e2 & e3 & LR_LITERAL))) { \
            break;                                         \
        }                                                  \
        EACH(TOOK)                                         \
    }
/* What is no literal, of one of which others may have one next. */
#define MEET(i)                                                                           \
    while (l##i.in <= all[i].in_end - IN_NEAR && l##i.out <= all[i].out_end - OUT_NEAR) { \
        uint32_t e;                                                                       \
        LOAD(i)                                                                           \
        e = c##i.literals[l##i.bits & c##i.literal_mask];                                 \
        leaves##i = !(e & LR_LITERAL) && !other(&c##i, &l##i, e);                         \
        if (e & LR_LITERAL || leaves##i) {                                                \
            break;                                                                        \
        }                                                                                 \
    }                                                                                     \
    leaves = leaves || leaves##i;
#define CLOSE(i) keep(&all[i], &l##i, leaves##i);
    EACH(OPEN)
    while (!leaves && met < MET_MOST) {
        size_t left = SIZE_MAX;
        EACH(LEAST)
        if (left == 0) {
            break;
        }
        for (; left; left--, done++) {
            EACH(LOAD)
            STEP STEP STEP STEP STEP
        }
        if (left) {
            met++;
            EACH(MEET)
        }
    }
    EACH(CLOSE)
    return met < MET_LEAST || met <= done * WORTH;
}

static void one_plain(lr_inflater *self)
{
    one(self);
}

static bool four_plain(lr_inflater *all)
{
    return four(all);
}

static const lr_inflate_loops plain = {one_plain, four_plain};
static atomic_int chosen;

void lr_inflate_choose(int way)
{
    atomic_store(&chosen, way);
}

#if defined(__x86_64__) && defined(__GNUC__)

/* The same code: shifts by a register cost a third. */
__attribute__((target("bmi,bmi2"))) static void one_bmi2(lr_inflater *self)
{
    one(self);
}

__attribute__((target("bmi,bmi2"))) static bool four_bmi2(lr_inflater *all)
{
    return four(all);
}

const lr_inflate_loops *lr_inflate_loops_now(void)
{
    static const lr_inflate_loops bmi2 = {one_bmi2, four_bmi2};
    return !atomic_load(&chosen) && LR_CPU_HAS(BMI2, "bmi2") ? &bmi2 : &plain;
}

#else

const lr_inflate_loops *lr_inflate_loops_now(void)
{
    return &plain;
}

#endif
