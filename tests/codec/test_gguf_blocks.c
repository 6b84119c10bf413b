/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Blocks of quantised numbers: the decoders of each level against the reference, bit for bit. tests/cli/gguf.sh
 * compares them with ggml. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/sha256.h"
#include "plugins/codec/gguf/blocks.h"
#include "plugins/codec/gguf/blocks_private.h"
#include "tests/codec/gguf_reference.h"

enum { MOST = 67, GUARD = 16 };

static const struct {
    const char *name;
    uint32_t count, size;
    uint32_t halves[2]; /* where the f16 of a block are, one of them twice if it is the only one; or other scales */
} kinds[LR_GGUF_KINDS] = {
    [LR_GGUF_Q4_0] = {"Q4_0", 32, 18, {0, 0}},        [LR_GGUF_Q4_1] = {"Q4_1", 32, 20, {0, 2}},
    [LR_GGUF_Q5_0] = {"Q5_0", 32, 22, {0, 0}},        [LR_GGUF_Q5_1] = {"Q5_1", 32, 24, {0, 2}},
    [LR_GGUF_Q8_0] = {"Q8_0", 32, 34, {0, 0}},        [LR_GGUF_Q2_K] = {"Q2_K", 256, 84, {80, 82}},
    [LR_GGUF_Q3_K] = {"Q3_K", 256, 110, {108, 108}},  [LR_GGUF_Q4_K] = {"Q4_K", 256, 144, {0, 2}},
    [LR_GGUF_Q5_K] = {"Q5_K", 256, 176, {0, 2}},      [LR_GGUF_Q6_K] = {"Q6_K", 256, 210, {208, 208}},
    [LR_GGUF_Q8_K] = {"Q8_K", 256, 292, {2, 2}},      [LR_GGUF_IQ4_NL] = {"IQ4_NL", 32, 18, {0, 0}},
    [LR_GGUF_IQ4_XS] = {"IQ4_XS", 256, 136, {0, 0}},  [LR_GGUF_TQ2_0] = {"TQ2_0", 256, 66, {64, 64}},
    [LR_GGUF_MXFP4] = {"MXFP4", 32, 17, {0, 0}},      [LR_GGUF_NVFP4] = {"NVFP4", 64, 36, {0, 2}},
    [LR_GGUF_Q1_0] = {"Q1_0", 128, 18, {0, 0}},       [LR_GGUF_Q2_0] = {"Q2_0", 64, 18, {0, 0}},
    [LR_GGUF_TQ1_0] = {"TQ1_0", 256, 54, {52, 52}},   [LR_GGUF_IQ1_S] = {"IQ1_S", 256, 50, {0, 0}},
    [LR_GGUF_IQ1_M] = {"IQ1_M", 256, 56, {48, 54}},   [LR_GGUF_IQ2_XXS] = {"IQ2_XXS", 256, 66, {0, 0}},
    [LR_GGUF_IQ2_XS] = {"IQ2_XS", 256, 74, {0, 0}},   [LR_GGUF_IQ2_S] = {"IQ2_S", 256, 82, {0, 0}},
    [LR_GGUF_IQ3_XXS] = {"IQ3_XXS", 256, 98, {0, 0}}, [LR_GGUF_IQ3_S] = {"IQ3_S", 256, 110, {0, 0}},
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
    gguf_reference(kind)(blocks, count, (float *)(void *)plain);
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

static void test_levels_equal_the_reference(void **state)
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

/* Each byte of a block takes each value, at each level; a sanitizer sees an index that is out of range. */
static void test_every_byte_decodes(void **state)
{
    enum { VALUES = 256 };
    uint64_t random = 3;
    (void)state;
    for (int kind = 0; kind < LR_GGUF_KINDS; kind++) {
        uint32_t size = kinds[kind].size;
        uint8_t *blocks = malloc((size_t)VALUES * size);
        assert_non_null(blocks);
        for (uint32_t place = 0; place < size; place++) {
            for (uint32_t i = 0; i < VALUES * size; i++) {
                blocks[i] = i % size == place ? (uint8_t)(i / size) : (uint8_t)(next_random(&random) >> 56);
            }
            for (int level = 0; level < LR_GGUF_LEVELS; level++) {
                if (lr_gguf_level(level, kind)) {
                    compare(kind, level, blocks, VALUES);
                }
            }
        }
        free(blocks);
    }
}

/* The checksums are those of the bytes that gguf-py 0.19 has as `grid_hex`. */
static void test_codebooks_are_those_of_gguf_py(void **state)
{
    static const struct {
        const uint16_t *codes;
        size_t count;
        const char *hash;
    } books[] = {
        {lr_gguf_book_iq1, 2048, "e9ffebfc997ad6023063a667c0bf4eedd8ebf7f56b3da399cbc7d1b1f7ea52c6"},
        {lr_gguf_book_iq2_xxs, 256, "915952ebc4af8ddba8113583ca1316fc818843f7b825bbf1a25ae1c39bf0e16d"},
        {lr_gguf_book_iq2_xs, 512, "f66435966ca8d64e9e4a6e3c91e64afcf9015e700ec85962f527283ebae207b9"},
        {lr_gguf_book_iq2_s, 1024, "e6e75e121b65e8afa5c1f92b71463cfbe217b83893f438acde22fd5db06a43f7"},
        {lr_gguf_book_iq3_xxs, 256, "15d5c59616fa93701383d1d45da633a378dab68ea2a7dce31b772c604e14dd7c"},
        {lr_gguf_book_iq3_s, 512, "881df6ab9508749ca9827814e44a01a4ab8fe8a4ae8d038d5b9d55d864ae135b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof books / sizeof books[0]; i++) {
        uint8_t bytes_of[4096];
        char hash[2 * LR_SHA256_BYTES + 1];
        for (size_t j = 0; j < books[i].count; j++) {
            bytes_of[2 * j] = (uint8_t)books[i].codes[j];
            bytes_of[2 * j + 1] = (uint8_t)(books[i].codes[j] >> 8);
        }
        lr_sha256_hex(bytes_of, 2 * books[i].count, hash);
        assert_string_equal(hash, books[i].hash);
    }
}

/* NVFP4's scales: 2 to the power of e - 8, times 1 + m / 8, or m / 1024 where e is 0; the code 0x7F is zero. */
static void test_every_scale_of_nvfp4(void **state)
{
    (void)state;
    for (int code = 0; code < 256; code++) {
        uint8_t block[36] = {(uint8_t)code};
        int exponent = code >> 3 & 15;
        float numbers[64], fraction = (float)(code & 7) / 8;
        float expected = code == 0x7F ? 0 : exponent ? (1 + fraction) * (float)(1 << exponent) / 256 : fraction / 128;
        block[4] = 0x21; /* the codes 1 (a half, doubled) and 2 (one, doubled), which stand eight numbers apart */
        lr_gguf_decoder(LR_GGUF_NVFP4)(block, 1, numbers);
        assert_true(numbers[0] == expected);
        assert_true(numbers[8] == 2 * expected);
        assert_true(numbers[1] == 0);
    }
}

static void test_decoder_is_of_its_kind(void **state)
{
    (void)state;
    for (int kind = 0; kind < LR_GGUF_KINDS; kind++) {
        lr_gguf_decode *decoder = lr_gguf_decoder(kind);
        int found = 0;
        for (int level = 0; level < LR_GGUF_LEVELS; level++) {
            found |= decoder == lr_gguf_level(level, kind);
        }
        assert_true(found);
        assert_non_null(decoder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_equal_the_reference), cmocka_unit_test(every_scale_gives_the_same),
        cmocka_unit_test(test_every_byte_decodes),         cmocka_unit_test(test_codebooks_are_those_of_gguf_py),
        cmocka_unit_test(test_every_scale_of_nvfp4),       cmocka_unit_test(test_decoder_is_of_its_kind),
    };
    return cmocka_run_group_tests_name("gguf blocks", tests, NULL, NULL);
}
