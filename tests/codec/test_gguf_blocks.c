/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Blocks of quantised numbers: every version with vectors against the plain one, bit for bit. That the plain one gives
 * what ggml gives is seen by tests/cli/gguf.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "plugins/codec/gguf/blocks.h"

enum { MOST = 67, GUARD = 16 };

static const struct {
    const char *name;
    uint32_t count, size;
    uint32_t halves[2]; /* where the f16 of a block are, one of them twice if it is the only one */
} kinds[LR_GGUF_KINDS] = {
    [LR_GGUF_Q4_0] = {"Q4_0", 32, 18, {0, 0}},       [LR_GGUF_Q4_1] = {"Q4_1", 32, 20, {0, 2}},
    [LR_GGUF_Q5_0] = {"Q5_0", 32, 22, {0, 0}},       [LR_GGUF_Q5_1] = {"Q5_1", 32, 24, {0, 2}},
    [LR_GGUF_Q8_0] = {"Q8_0", 32, 34, {0, 0}},       [LR_GGUF_Q2_K] = {"Q2_K", 256, 84, {80, 82}},
    [LR_GGUF_Q3_K] = {"Q3_K", 256, 110, {108, 108}}, [LR_GGUF_Q4_K] = {"Q4_K", 256, 144, {0, 2}},
    [LR_GGUF_Q5_K] = {"Q5_K", 256, 176, {0, 2}},     [LR_GGUF_Q6_K] = {"Q6_K", 256, 210, {208, 208}},
    [LR_GGUF_Q8_K] = {"Q8_K", 256, 292, {2, 2}},     [LR_GGUF_IQ4_NL] = {"IQ4_NL", 32, 18, {0, 0}},
    [LR_GGUF_IQ4_XS] = {"IQ4_XS", 256, 136, {0, 0}}, [LR_GGUF_TQ2_0] = {"TQ2_0", 256, 66, {64, 64}},
    [LR_GGUF_MXFP4] = {"MXFP4", 32, 17, {0, 0}},
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Two numbers: the same bits, or two NaNs. */
static int same(uint32_t a, uint32_t b)
{
    return a == b || ((a & 0x7fffffff) > 0x7f800000 && (b & 0x7fffffff) > 0x7f800000);
}

static void compare(int kind, int level, const uint8_t *blocks, uint64_t count)
{
    uint64_t n = count * kinds[kind].count;
    uint32_t *plain = malloc((size_t)((n + GUARD) * 4)), *fast = malloc((size_t)((n + GUARD) * 4));
    assert_true(plain && fast);
    memset(plain, 0x5a, (size_t)((n + GUARD) * 4));
    memset(fast, 0x5a, (size_t)((n + GUARD) * 4));
    lr_gguf_plain(kind)(blocks, count, (float *)(void *)plain);
    lr_gguf_level(level, kind)(blocks, count, (float *)(void *)fast);
    for (uint64_t i = 0; i < n + GUARD; i++) {
        if (!same(plain[i], fast[i]) || (i >= n && plain[i] != 0x5a5a5a5a)) {
            fail_msg("%s, level %d, %u blocks, number %u: %08x, not %08x", kinds[kind].name, level, (unsigned)count,
                     (unsigned)i, (unsigned)fast[i], (unsigned)plain[i]);
        }
    }
    free(plain);
    free(fast);
}

static void every_version_equals_the_plain_one(void **state)
{
    uint64_t random = 1;
    int versions = 0;
    (void)state;
    for (int kind = 0; kind < LR_GGUF_KINDS; kind++) {
        for (int level = 0; level < LR_GGUF_LEVELS; level++) {
            if (!lr_gguf_level(level, kind)) {
                continue;
            }
            versions++;
            for (unsigned round = 0; round < 300; round++) {
                uint64_t count = round % MOST, size = count * kinds[kind].size;
                /* of its own size, so that a sanitizer sees what is read beyond it, and at any alignment */
                uint8_t *memory = malloc((size_t)(size + round % 5));
                uint8_t *blocks = memory + round % 5;
                assert_true(memory || size == 0);
                for (uint64_t i = 0; i < size; i++) {
                    blocks[i] = (uint8_t)(next_random(&random) >> 56);
                }
                compare(kind, level, blocks, count);
                free(memory);
            }
        }
    }
    print_message("%d versions of %d kinds on this processor\n", versions, LR_GGUF_KINDS);
    if (versions == 0) {
        skip();
    }
}

/* Subnormal, infinite and no numbers, too. */
static void every_scale_gives_the_same(void **state)
{
    enum { EACH = 64 };
    uint64_t random = 2;
    uint8_t *blocks = malloc(EACH * 292);
    (void)state;
    assert_non_null(blocks);
    for (int kind = 0; kind < LR_GGUF_KINDS; kind++) {
        for (uint32_t scale = 0; scale < 65536; scale += EACH) {
            for (uint64_t i = 0; i < EACH * kinds[kind].size; i++) {
                blocks[i] = (uint8_t)(next_random(&random) >> 56);
            }
            for (uint32_t i = 0; i < EACH; i++) {
                uint8_t *at = blocks + i * kinds[kind].size;
                at[kinds[kind].halves[scale / EACH % 2]] = (uint8_t)(scale + i);
                at[kinds[kind].halves[scale / EACH % 2] + 1] = (uint8_t)((scale + i) >> 8);
            }
            for (int level = 0; level < LR_GGUF_LEVELS; level++) {
                if (lr_gguf_level(level, kind)) {
                    compare(kind, level, blocks, EACH);
                }
            }
        }
    }
    free(blocks);
}

static void the_fast_one_is_of_the_same_kind(void **state)
{
    (void)state;
    for (int kind = 0; kind < LR_GGUF_KINDS; kind++) {
        lr_gguf_decode *fast = lr_gguf_fast(lr_gguf_plain(kind));
        int found = fast == lr_gguf_plain(kind);
        for (int level = 0; level < LR_GGUF_LEVELS; level++) {
            found |= fast == lr_gguf_level(level, kind);
        }
        assert_true(found);
        assert_non_null(fast);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_equals_the_plain_one),
        cmocka_unit_test(every_scale_gives_the_same),
        cmocka_unit_test(the_fast_one_is_of_the_same_kind),
    };
    return cmocka_run_group_tests_name("gguf blocks", tests, NULL, NULL);
}
