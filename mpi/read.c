/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Reading a tensor's bytes in part: any of them, and those of a part along a dimension. */
#include <stdlib.h>
#include <string.h>

#include "common/little.h"
#include "mpi/mpi_private.h"

enum {
    PANEL = 1 << 20,   /* bytes that are read at once where what lies between two runs is read as well */
    GAP_MOST = 4096,   /* which is done if it is no more than a page */
    RELEASE = 16 << 20 /* a mapped file's pages are given back when so many bytes were read */
};

static rec_status read_elements(const rec_tensor *tensor, uint64_t first, uint64_t count, uint8_t *target)
{
    rec_dtype dtype = rec_tensor_dtype(tensor);
    uint32_t width = rec_dtype_bits(dtype) / 8;
    rec_status status = rec_tensor_read(tensor, dtype, first, count, target);
    if (status == REC_OK) {
        lr_to_little(target, width, count * width);
    }
    return status;
}

rec_status lr_mpi_read(const rec_tensor *tensor, uint64_t offset, uint64_t size, uint8_t *target)
{
    rec_dtype dtype = rec_tensor_dtype(tensor);
    uint32_t width = rec_dtype_bits(dtype) / 8;
    bool as_stored = dtype == rec_tensor_stored_dtype(tensor);
    const uint8_t *bytes = as_stored ? rec_tensor_at_hand(tensor, NULL) : NULL;
    uint64_t element[1], part;
    rec_status status = REC_OK;
    if (size == 0) {
        return REC_OK;
    }
    if (!bytes && as_stored && (dtype == REC_DTYPE_BOOL || dtype == REC_DTYPE_BOOL8 || dtype == REC_DTYPE_BOOL32)) {
        bytes = rec_tensor_bytes(tensor, NULL); /* a conversion would make 1 of whatever is not 0 */
        if (!bytes) {
            return rec_error_status();
        }
    }
    if (bytes) {
        memcpy(target, bytes + offset, (size_t)size);
        return REC_OK;
    }
    while (size && status == REC_OK) {
        uint64_t skip = offset % width;
        if (skip == 0 && size >= width) {
            part = size - size % width;
            status = read_elements(tensor, offset / width, part / width, target);
        } else {
            part = width - skip < size ? width - skip : size;
            status = read_elements(tensor, offset / width, 1, (uint8_t *)element);
            memcpy(target, (const uint8_t *)element + skip, (size_t)part);
        }
        target += part;
        offset += part;
        size -= part;
    }
    return status;
}

/* How many rows of a part are read at once. */
static uint64_t rows_of(uint64_t row, uint64_t run)
{
    return row - run <= GAP_MOST && row <= PANEL ? PANEL / row : 1;
}

rec_status lr_mpi_read_part(const rec_tensor *tensor, uint32_t dimension, uint64_t offset, uint64_t length,
                            uint8_t *target)
{
    const uint64_t *shape = rec_tensor_shape(tensor);
    uint32_t rank = rec_tensor_rank(tensor), width = rec_dtype_bits(rec_tensor_dtype(tensor)) / 8;
    uint64_t outer = lr_mpi_product(shape, 0, dimension), inner = lr_mpi_product(shape, dimension + 1, rank) * width;
    uint64_t row = shape[dimension] * inner, run = length * inner, at = offset * inner, released = 0, rows;
    uint8_t *panel = NULL;
    rec_status status = REC_OK;
    if (outer == 0 || run == 0) {
        return REC_OK;
    }
    rows = run == row ? outer : rows_of(row, run);
    if (run == row || outer == 1) { /* one run, in pieces */
        for (uint64_t done = 0, size = run * outer; done < size && status == REC_OK;) {
            uint64_t some = size - done < RELEASE ? size - done : RELEASE;
            status = lr_mpi_read(tensor, at + done, some, target + done);
            rec_tensor_release(tensor, (at + done) / width, some / width);
            done += some;
        }
        return status;
    }
    rows = rows < outer ? rows : outer;
    if (rows > 1 && !(panel = malloc((size_t)(rows * row)))) {
        return lr_mpi_say(REC_E_MEMORY, "out of memory");
    }
    for (uint64_t r = 0; r < outer && status == REC_OK; r += rows) {
        uint64_t some = outer - r < rows ? outer - r : rows, span = (some - 1) * row + run;
        status = lr_mpi_read(tensor, r * row + at, span, panel ? panel : target + r * run);
        for (uint64_t i = 0; panel && status == REC_OK && i < some; i++) {
            memcpy(target + (r + i) * run, panel + i * row, (size_t)run);
        }
        if ((r + some) * row - released >= RELEASE || r + some == outer) {
            rec_tensor_release(tensor, released / width, ((r + some) * row - released) / width);
            released = (r + some) * row;
        }
    }
    free(panel);
    return status;
}
