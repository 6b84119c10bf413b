/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The sample: what its bytes would take by their frequency, and what its repetitions would save of that. */
#include "plugins/codec/gzip/probe.h"

#include <string.h>

/* Two stretches are looked at, each with a memory of its own. */
enum { STRETCHES = 2, STRETCH = 16 << 10, LEAST = 1024 };
enum { HASH_BITS = 12, LEAST_MATCH = 4, MOST_MATCH = 258 };
/* A length and the class of a distance take about so many bits, in sixteenths. */
enum { BIT = 16, MATCH_COST = 9 * BIT };

/* log2 of a number above 0, in sixteenths of a bit, by a line between powers of two. */
static uint32_t logarithm(uint32_t number)
{
    uint32_t whole = 31 - (uint32_t)__builtin_clz(number);
    return whole * BIT + (((number - (UINT32_C(1) << whole)) * BIT) >> whole);
}

static uint32_t four(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* What each byte takes, in sixteenths of a bit. @return all of them. */
static uint64_t weigh(const uint8_t *data, uint32_t size, uint16_t *costs)
{
    uint32_t counts[256] = {0};
    uint64_t all = 0;
    for (uint32_t i = 0; i < size; i++) {
        counts[data[i]]++;
    }
    for (int i = 0; i < 256; i++) {
        costs[i] = counts[i] ? (uint16_t)(logarithm(size) - logarithm(counts[i])) : 0;
        costs[i] = counts[i] && costs[i] < BIT ? BIT : costs[i]; /* no code is shorter than a bit */
        all += (uint64_t)counts[i] * costs[i];
    }
    return all;
}

/* What repetitions of the byte before save. */
static uint64_t saving_of_runs(const uint8_t *data, uint32_t size, const uint16_t *costs)
{
    uint64_t saved = 0;
    for (uint32_t i = 1, length; i < size; i += length + 1) {
        for (length = 0; i + length < size && length < MOST_MATCH && data[i + length] == data[i - 1]; length++) {
        }
        saved += length * (uint32_t)costs[data[i]] > MATCH_COST ? length * (uint32_t)costs[data[i]] - MATCH_COST : 0;
    }
    return saved;
}

/* What all repetitions save. */
static uint64_t saving(const uint8_t *data, uint32_t size, const uint16_t *costs)
{
    uint16_t heads[1 << HASH_BITS] = {0};
    uint64_t saved = 0;
    for (uint32_t i = 1; i + LEAST_MATCH <= size;) {
        uint32_t hash = (four(data + i) * UINT32_C(0x9e3779b1)) >> (32 - HASH_BITS), from = heads[hash], length = 0;
        uint32_t worth = 0;
        heads[hash] = (uint16_t)i;
        if (four(data + from) == four(data + i)) {
            while (length < MOST_MATCH && i + length < size && data[from + length] == data[i + length]) {
                worth += costs[data[i + length]];
                length++;
            }
        }
        if (length && worth > MATCH_COST + logarithm(i - from)) {
            saved += worth - MATCH_COST - logarithm(i - from);
            i += length;
        } else {
            i++;
        }
    }
    return saved;
}

lr_gzip_kind lr_gzip_probe(const uint8_t *data, size_t size)
{
    uint64_t all = 0, saved = 0, runs = 0;
    if (size < LEAST) {
        return LR_GZIP_TEXT;
    }
    for (size_t i = 0; i < STRETCHES; i++) {
        size_t length = size < STRETCH ? size : STRETCH, at = (size - length) / STRETCHES * i + (size - length) / 4;
        uint16_t costs[256];
        all += weigh(data + at, (uint32_t)length, costs);
        saved += saving(data + at, (uint32_t)length, costs);
        runs += saving_of_runs(data + at, (uint32_t)length, costs);
    }
    if (saved * 100 <= all) {
        return LR_GZIP_NOISE;
    }
    return runs >= saved ? LR_GZIP_RUNS : LR_GZIP_TEXT;
}
