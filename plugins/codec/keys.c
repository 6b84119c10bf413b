/* SPDX-License-Identifier: MIT OR Apache-2.0
 * An index of the names of tensors: open addressing, with part of the hash next to each number, so that few names are
 * compared. */
#include <string.h>
#include <sys/random.h>

#include "plugins/codec/keys.h"

static uint64_t mix(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    /* The halves of the product, by those of the factors. */
    const uint64_t half = UINT32_MAX;
    uint64_t low = (a & half) * (b & half), one = (a >> 32) * (b & half) + (low >> 32);
    uint64_t other = (a & half) * (b >> 32) + (one & half);
    return (other << 32 | (low & half)) ^ ((a >> 32) * (b >> 32) + (one >> 32) + (other >> 32));
#endif
}

/* The seed is random: names cannot be chosen to collide. */
static uint64_t hash_of(const lr_st_keys *keys, const char *text, uint64_t length)
{
    static const uint64_t odd[] = {UINT64_C(0xa0761d6478bd642f), UINT64_C(0xe7037ed1a0b428db)};
    uint64_t hash = keys->seed ^ mix(length ^ odd[0], odd[1]), a, b;
    const char *end = text + length;
    if (length >= 16) {
        for (; end - text > 16; text += 16) {
            memcpy(&a, text, 8);
            memcpy(&b, text + 8, 8);
            hash = mix(a ^ odd[0] ^ hash, b ^ odd[1] ^ keys->seed);
        }
        memcpy(&a, end - 16, 8);
        memcpy(&b, end - 8, 8);
    } else if (length >= 8) {
        memcpy(&a, text, 8);
        memcpy(&b, end - 8, 8);
    } else {
        a = b = 0;
        memcpy(&a, text, (size_t)length);
    }
    return mix(a ^ odd[0] ^ hash, b ^ odd[1] ^ keys->seed);
}

void lr_st_keys_close(lr_st_keys *keys)
{
    if (keys->job) {
        rec_job_free(keys->job, keys->slots);
        keys->slots = NULL;
    }
}

/* The slot of a text, or the free one where it belongs. */
static uint64_t slot_of(const lr_st_keys *keys, const char *text, uint64_t length, uint64_t hash)
{
    const uint64_t tops = UINT64_C(0xffffffff) << 32;
    uint64_t slot = hash & keys->mask, other_length;
    for (; keys->slots[slot]; slot = (slot + 1) & keys->mask) {
        if ((keys->slots[slot] & tops) == (hash & tops)) {
            const char *other = keys->text(keys->self, (uint32_t)keys->slots[slot] - 1u, &other_length);
            if (other_length == length && memcmp(other, text, (size_t)length) == 0) {
                break;
            }
        }
    }
    return slot;
}

uint64_t lr_st_keys_find(const lr_st_keys *keys, const char *text, uint64_t length)
{
    uint64_t hash = hash_of(keys, text, length), slot = slot_of(keys, text, length, hash);
    return keys->slots[slot] ? (uint32_t)keys->slots[slot] - 1u : REC_UNKNOWN;
}

uint64_t lr_st_keys_add(lr_st_keys *keys, uint64_t number, const char *text, uint64_t length)
{
    uint64_t hash = hash_of(keys, text, length), slot = slot_of(keys, text, length, hash);
    if (keys->slots[slot]) {
        return (uint32_t)keys->slots[slot] - 1u;
    }
    keys->slots[slot] = (hash & UINT64_C(0xffffffff) << 32) | (number + 1);
    return REC_UNKNOWN;
}

int32_t lr_st_keys_reserve(lr_st_keys *keys, rec_job *job, uint64_t most)
{
    lr_st_keys larger = *keys;
    uint64_t slots = 16, had = keys->slots ? keys->mask + 1 : 0;
    while (slots < most * 2) {
        slots *= 2;
    }
    if (slots <= had) {
        return REC_OK;
    }
    slots *= had ? 2 : 1;
    larger.job = job;
    larger.mask = slots - 1;
    larger.slots = rec_job_alloc(job, slots * sizeof *keys->slots);
    if (!larger.slots) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for names"); /* the first failure counts */
    }
    memset(larger.slots, 0, (size_t)slots * sizeof *keys->slots);
    if (!had && getrandom(&larger.seed, sizeof larger.seed, GRND_NONBLOCK) != (ssize_t)sizeof larger.seed) {
        /* An address, which has some of it. */
        larger.seed = mix((uint64_t)(uintptr_t)larger.slots ^ UINT64_C(0x8ebc6af09c88c6e3), (uint64_t)(uintptr_t)job);
    }
    for (uint64_t i = 0; i < had; i++) {
        if (keys->slots[i]) {
            uint64_t number = (uint32_t)keys->slots[i] - 1u, length;
            const char *text = keys->text(keys->self, number, &length);
            (void)lr_st_keys_add(&larger, number, text, length);
        }
    }
    rec_job_free(job, keys->slots);
    *keys = larger;
    return REC_OK;
}
