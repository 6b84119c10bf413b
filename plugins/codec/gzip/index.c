/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The index of a gzip file: gathering it, and its form in the header. */
#include "plugins/codec/gzip/index.h"
#include "plugins/codec/little.h"

#include <string.h>

/* The header: ten bytes like Burn's except for the flag, the length of the extra field, and one field in it. All
 * numbers are little-endian. */
enum { FLAG_EXTRA = 4, EXTRA_AT = 10, FIELD_AT = 12, DATA_AT = 16 };
/* The field's data: version, stretches, span, inflated, stored, sizes. */
enum { FORM = 1, VERSION_AT = 16, COUNT_AT = 20, SPAN_AT = 24, INFLATED_AT = 32, STORED_AT = 40, SIZES_AT = 48 };
/* CRC-32 and length. */
enum { TRAILER = 8 };
/* Deflate cannot do better than this (zlib's technical notes). */
enum { BEST_RATIO = 1032 };

_Static_assert(SIZES_AT + 4 * LR_GZIP_STRETCHES == LR_GZIP_HEADER, "the index fills the header");
_Static_assert(LR_GZIP_STRETCHES % 2 == 0, "stretches are merged two by two");

void lr_gzip_index_begin(lr_gzip_index *index, uint64_t piece)
{
    memset(index, 0, sizeof *index);
    index->span = piece;
}

static bool merge(lr_gzip_index *index)
{
    for (uint32_t i = 0; i < LR_GZIP_STRETCHES / 2; i++) {
        uint64_t both = (uint64_t)index->sizes[2 * i] + index->sizes[2 * i + 1];
        if (both > UINT32_MAX) {
            return false;
        }
        index->sizes[i] = (uint32_t)both;
    }
    index->count = LR_GZIP_STRETCHES / 2;
    index->span *= 2;
    return true;
}

bool lr_gzip_index_add(lr_gzip_index *index, uint64_t inflated, uint64_t stored)
{
    if (index->inflated == index->span * index->count) { /* the last stretch is full */
        if (index->count == LR_GZIP_STRETCHES && !merge(index)) {
            return false;
        }
        index->sizes[index->count++] = 0;
    }
    if (stored > UINT32_MAX - index->sizes[index->count - 1]) {
        return false;
    }
    index->sizes[index->count - 1] += (uint32_t)stored;
    index->inflated += inflated;
    index->stored += stored;
    return true;
}

void lr_gzip_index_put(const lr_gzip_index *index, uint8_t *header)
{
    static const uint8_t fixed[EXTRA_AT] = {0x1f, 0x8b, 8, FLAG_EXTRA, 0, 0, 0, 0, 0, 0xff};
    memset(header, 0, LR_GZIP_HEADER);
    memcpy(header, fixed, sizeof fixed);
    lr_little_put(header + EXTRA_AT, LR_GZIP_HEADER - FIELD_AT, 2);
    header[FIELD_AT] = 'L';
    header[FIELD_AT + 1] = 'R';
    lr_little_put(header + FIELD_AT + 2, LR_GZIP_HEADER - DATA_AT, 2);
    lr_little_put(header + VERSION_AT, FORM, 4);
    if (index) {
        lr_little_put(header + COUNT_AT, index->count, 4);
        lr_little_put(header + SPAN_AT, index->span, 8);
        lr_little_put(header + INFLATED_AT, index->inflated, 8);
        lr_little_put(header + STORED_AT, index->stored, 8);
        for (uint32_t i = 0; i < index->count; i++) {
            lr_little_put(header + SIZES_AT + 4 * (size_t)i, index->sizes[i], 4);
        }
    }
}

bool lr_gzip_index_read(const uint8_t *header, uint64_t size, uint64_t total, lr_gzip_index *index)
{
    uint8_t begun[LR_GZIP_HEADER];
    uint64_t sum = 0;
    memset(index, 0, sizeof *index);
    lr_gzip_index_put(NULL, begun);
    if (size < LR_GZIP_HEADER || total < LR_GZIP_HEADER + TRAILER || memcmp(header, begun, COUNT_AT) != 0) {
        return false;
    }
    index->begin = LR_GZIP_HEADER;
    index->count = (uint32_t)lr_little(header + COUNT_AT, 4);
    index->span = lr_little(header + SPAN_AT, 8);
    index->inflated = lr_little(header + INFLATED_AT, 8);
    index->stored = lr_little(header + STORED_AT, 8);
    if (index->count == 0 || index->count > LR_GZIP_STRETCHES || index->span == 0 || index->inflated == 0 ||
        (index->inflated - 1) / index->span != index->count - 1 ||
        index->stored != total - (LR_GZIP_HEADER + TRAILER)) {
        return false;
    }
    for (uint32_t i = 0; i < index->count; i++) {
        uint64_t holds = i + 1 < index->count ? index->span : index->inflated - index->span * i;
        index->sizes[i] = (uint32_t)lr_little(header + SIZES_AT + 4 * (size_t)i, 4);
        if (index->sizes[i] == 0 || holds / BEST_RATIO > index->sizes[i]) {
            return false;
        }
        sum += index->sizes[i];
    }
    return sum == index->stored;
}
