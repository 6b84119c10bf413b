/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The SHA-256 of a tensor's values. */
#include <stdlib.h>
#include <string.h>

#include "common/little.h"
#include "common/sha256.h"
#include "tools/measure/measure_private.h"

/* Bytes that are read at a time. */
enum { PIECE = 128 * 1024 };

/* What stays the same when a record goes from one format or version to another. */
static rec_dtype canonical(const rec_tensor *tensor)
{
    rec_dtype dtype = rec_tensor_dtype(tensor);

    return dtype == REC_DTYPE_FLEX32                               ? REC_DTYPE_F32
           : dtype == REC_DTYPE_BOOL8 || dtype == REC_DTYPE_BOOL32 ? REC_DTYPE_BOOL
                                                                   : dtype;
}

static void add_form(lr_sha256 *h, const rec_tensor *tensor, rec_dtype dtype)
{
    text line = {0};

    tool_text_format(&line, "%s ", rec_dtype_bits(dtype) ? rec_dtype_name(dtype) : rec_tensor_dtype_name(tensor));
    tool_text_shape(&line, rec_tensor_shape(tensor), rec_tensor_rank(tensor));
    tool_text_put(&line, "\n");
    lr_sha256_add(h, line.at, line.length);
    tool_text_free(&line);
}

rec_status tool_tensor_sum(const rec_tensor *tensor, uint8_t sum[MEASURE_SUM_BYTES])
{
    rec_dtype dtype = canonical(tensor);
    size_t width = rec_dtype_bits(dtype) / 8;
    uint64_t count = rec_tensor_count(tensor), size;
    rec_status status = REC_OK;
    lr_sha256 h;

    lr_sha256_begin(&h);
    add_form(&h, tensor, dtype);
    if (!width) {
        const void *bytes = rec_tensor_bytes(tensor, &size);
        if (!bytes && size) {
            return rec_error_status();
        }
        lr_sha256_add(&h, bytes, (size_t)size);
    } else if (count) {
        uint64_t most = PIECE / width < count ? PIECE / width : count;
        uint8_t *piece = xmalloc((size_t)most * width);
        for (uint64_t first = 0; first < count && status == REC_OK;) {
            uint64_t n = count - first < most ? count - first : most;
            status = rec_tensor_read(tensor, dtype, first, n, piece);
            rec_tensor_release(tensor, first, n);
            if (status == REC_OK) {
                lr_to_little(piece, (uint32_t)width, (size_t)n * width);
                lr_sha256_add(&h, piece, (size_t)n * width);
            }
            first += n;
        }
        free(piece);
    }
    if (status == REC_OK) {
        lr_sha256_end(&h, sum);
    }
    return status;
}

void tool_bytes_sum(const void *bytes, size_t size, uint8_t sum[MEASURE_SUM_BYTES])
{
    lr_sha256 h;

    lr_sha256_begin(&h);
    lr_sha256_add(&h, bytes, size);
    lr_sha256_end(&h, sum);
}
