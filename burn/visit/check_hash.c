/* SPDX-License-Identifier: MIT OR Apache-2.0
 * XXH64 of Yann Collet, with the seed 0: 64 bits at the speed of memory. It finds mistakes and damage, not an enemy. */
#include "burn/visit/check_private.h"

static const uint64_t p1 = UINT64_C(0x9E3779B185EBCA87), p2 = UINT64_C(0xC2B2AE3D27D4EB4F),
                      p3 = UINT64_C(0x165667B19E3779F9), p4 = UINT64_C(0x85EBCA77C2B2AE63),
                      p5 = UINT64_C(0x27D4EB2F165667C5);

static uint64_t rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static uint64_t mix(uint64_t lane, uint64_t word)
{
    return rotate(lane + word * p2, 31) * p1;
}

static uint64_t merge(uint64_t sum, uint64_t lane)
{
    return (sum ^ mix(0, lane)) * p1 + p4;
}

static uint64_t word_at(const uint8_t *data, uint32_t width)
{
    uint64_t word = 0;
    memcpy(&word, data, width);
    lr_swap_if_big(&word, 8, 1);
    return word;
}

void lr_hash_begin(lr_hash *hash)
{
    *hash = (lr_hash){.lanes = {p1 + p2, p2, 0, 0 - p1}};
}

/* Whole blocks of 32 bytes. */
static void add_blocks(lr_hash *hash, const uint8_t *data, uint64_t blocks)
{
    uint64_t a = hash->lanes[0], b = hash->lanes[1], c = hash->lanes[2], d = hash->lanes[3];
    for (uint64_t i = 0; i < blocks; i++, data += 32) {
        a = mix(a, word_at(data, 8));
        b = mix(b, word_at(data + 8, 8));
        c = mix(c, word_at(data + 16, 8));
        d = mix(d, word_at(data + 24, 8));
    }
    hash->lanes[0] = a;
    hash->lanes[1] = b;
    hash->lanes[2] = c;
    hash->lanes[3] = d;
}

void lr_hash_add(lr_hash *hash, const void *data, uint64_t size)
{
    const uint8_t *from = data;
    uint64_t held = hash->total % 32;
    hash->total += size;
    if (held && size >= 32 - held) {
        memcpy(hash->held + held, from, (size_t)(32 - held));
        add_blocks(hash, hash->held, 1);
        from += 32 - held;
        size -= 32 - held;
        held = 0;
    }
    if (!held && size >= 32) {
        add_blocks(hash, from, size / 32);
        from += size / 32 * 32;
        size %= 32;
    }
    if (size) {
        memcpy(hash->held + held, from, (size_t)size);
    }
}

uint64_t lr_hash_end(const lr_hash *hash)
{
    const uint8_t *at = hash->held, *end = at + hash->total % 32;
    const uint64_t *lanes = hash->lanes;
    uint64_t sum = p5;
    if (hash->total >= 32) {
        sum = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
        for (int i = 0; i < 4; i++) {
            sum = merge(sum, lanes[i]);
        }
    }
    sum += hash->total;
    for (; end - at >= 8; at += 8) {
        sum = rotate(sum ^ mix(0, word_at(at, 8)), 27) * p1 + p4;
    }
    for (; end - at >= 4; at += 4) {
        sum = rotate(sum ^ word_at(at, 4) * p1, 23) * p2 + p3;
    }
    for (; at < end; at++) {
        sum = rotate(sum ^ *at * p5, 11) * p1;
    }
    sum = (sum ^ sum >> 33) * p2;
    sum = (sum ^ sum >> 29) * p3;
    return sum ^ sum >> 32;
}
