/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Scales in a grid. */
#include "plugins/codec/scheme/grid.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/codec/scheme/element.h"

/* The side of a block where nothing says otherwise: DeepSeek's, which all checkpoints in blocks took over. */
enum { SIDE = 128 };

const char *lr_grid_setting(rec_job *job, const rec_siblings *siblings, const char *name)
{
    /* Files of earlier versions of compressed-tensors have the second one; models with parts for images the others. */
    static const char *const places[] = {"quantization_config", "compression_config", "text_config.quantization_config",
                                         "text_config.compression_config", "llm_config.quantization_config"};
    const char *text = NULL;
    char path[96];
    for (size_t i = 0; i < sizeof places / sizeof *places && !text; i++) {
        (void)snprintf(path, sizeof path, "%s.%s", places[i], name);
        text = rec_sibling_setting(job, siblings, path);
    }
    return text;
}

/* A side of a block from config.json, 0: it does not say. */
static uint64_t side_by_setting(rec_job *job, const rec_siblings *siblings, const char *name)
{
    const char *text = lr_grid_setting(job, siblings, name);
    return text ? strtoull(text, NULL, 10) : 0;
}

/* A block side that tensor and grid determine: the whole tensor, or a power of two. 0: undetermined. */
static uint64_t side_by_size(uint64_t size, uint64_t blocks)
{
    uint64_t side = size % blocks ? 0 : size / blocks;
    return side == size || (side & (side - 1)) == 0 ? side : 0;
}

/* Sizes of a block, by the settings, as 128x128, or by the sizes of tensor and grid. */
static bool find_block(rec_job *job, const rec_siblings *siblings, uint64_t *grid)
{
    uint64_t rows = grid[LR_GRID_ROWS], columns = grid[LR_GRID_COLUMNS];
    uint64_t down = grid[LR_GRID_DOWN], across = grid[LR_GRID_ACROSS];
    uint64_t height = 0, width = 0;
    if (!rows || !columns || !down || !across) {
        return rows == 0 || columns == 0;
    }
    if (across > 1 || (down > 1 && down != rows)) {
        height = side_by_setting(job, siblings, "weight_block_size.0");
        width = side_by_setting(job, siblings, "weight_block_size.1");
    }
    if (!height || !width) {
        bool usual =
            lr_grid_blocks(rows, SIDE) == down && lr_grid_blocks(columns, SIDE) == across && (down > 1 || across > 1);
        height = usual ? SIDE : side_by_size(rows, down);
        width = usual ? SIDE : side_by_size(columns, across);
    }
    grid[LR_GRID_HEIGHT] = height;
    grid[LR_GRID_WIDTH] = width;
    return height && width && lr_grid_blocks(rows, height) == down && lr_grid_blocks(columns, width) == across;
}

static uint64_t product(const uint64_t *shape, uint32_t rank)
{
    uint64_t product = 1;
    for (uint32_t i = 0; i < rank; i++) {
        product *= shape[i]; /* no overflow: core has counted the elements, or one is 0 */
    }
    return product;
}

/* Finds how many scales cover a matrix, down and across, and whether there are several matrices. */
static bool find_size(const rec_part *part, const rec_part *scale, uint64_t *grid)
{
    uint32_t lead = part->rank > 2 ? part->rank - 2 : 0, rank = scale->rank;
    const uint64_t *shape = part->shape;
    grid[LR_GRID_COLUMNS] = part->rank ? shape[part->rank - 1] : 1;
    grid[LR_GRID_ROWS] = part->rank > 1 ? shape[part->rank - 2] : 1;
    grid[LR_GRID_DOWN] = grid[LR_GRID_ACROSS] = grid[LR_GRID_MATRICES] = 1;
    if (scale->count == 1) {
        return true;
    }
    if (rank && part->rank && scale->shape[0] == shape[0] && scale->count == shape[0] && part->rank != 1) {
        /* One for each of the outermost dimension: rows of a matrix, channels of a convolution, experts. */
        grid[LR_GRID_ROWS] = grid[LR_GRID_DOWN] = shape[0];
        grid[LR_GRID_COLUMNS] = product(shape + 1, part->rank - 1);
        return true;
    }
    if (rank < lead || rank > part->rank || memcmp(shape, scale->shape, lead * sizeof *shape) != 0) {
        return false;
    }
    if (rank == lead + 1 && part->rank > 1 && scale->shape[lead] != grid[LR_GRID_ROWS]) {
        return false; /* of columns, perhaps: nothing says so */
    }
    grid[LR_GRID_MATRICES] = 0;
    if (part->rank == 1) {
        grid[LR_GRID_ACROSS] = scale->shape[0];
    } else {
        grid[LR_GRID_DOWN] = rank > lead ? scale->shape[lead] : 1;
        grid[LR_GRID_ACROSS] = rank > lead + 1 ? scale->shape[lead + 1] : 1;
    }
    return true;
}

bool lr_grid_find(rec_job *job, const rec_siblings *siblings, const rec_part *part, const rec_part *scale,
                  uint64_t *grid)
{
    int element = scale->dtype == REC_DTYPE_U8 ? LR_ELEMENT_E8M0 : lr_element_of(scale);
    bool fits = element >= LR_ELEMENT_E8M0 && scale->nbytes == scale->count * lr_element_size(element);
    grid[LR_GRID_ELEMENT] = (uint64_t)element;
    return fits && find_size(part, scale, grid) && find_block(job, siblings, grid);
}

void lr_grid_words(const uint64_t *grid, char *text, size_t room)
{
    if (grid[LR_GRID_DOWN] == 1 && grid[LR_GRID_ACROSS] == 1) {
        (void)snprintf(text, room, "one scale");
    } else if (grid[LR_GRID_HEIGHT] == 1 && grid[LR_GRID_ACROSS] == 1) {
        (void)snprintf(text, room, "a scale for each row");
    } else {
        (void)snprintf(text, room, "%" PRIu64 "x%" PRIu64 " blocks", grid[LR_GRID_HEIGHT], grid[LR_GRID_WIDTH]);
    }
}

void lr_grid_misfit(const rec_part *scale, char *text, size_t room)
{
    bool brief = strlen(scale->dtype_name) <= 12; /* a label must not end within a character */
    size_t used = (size_t)snprintf(text, room, "%s [", brief ? scale->dtype_name : "of another type");
    for (uint32_t i = 0; i < scale->rank && used < room; i++) {
        used += (size_t)snprintf(text + used, room - used, "%s%" PRIu64, i ? ", " : "", scale->shape[i]);
    }
    if (used < room) {
        (void)snprintf(text + used, room - used, "]");
    }
}

/* The first scale of the row of blocks that an element lies in. */
static uint64_t row_at(const uint64_t *grid, uint64_t element)
{
    uint64_t row = element / grid[LR_GRID_COLUMNS], matrix = row / grid[LR_GRID_ROWS];
    uint64_t down =
        matrix * (grid[LR_GRID_MATRICES] ? 0 : grid[LR_GRID_DOWN]) + row % grid[LR_GRID_ROWS] / grid[LR_GRID_HEIGHT];
    return down * grid[LR_GRID_ACROSS];
}

void lr_grid_span(const uint64_t *grid, uint64_t first, uint64_t count, rec_span *span)
{
    uint64_t size = lr_element_size((int)grid[LR_GRID_ELEMENT]);
    if (grid[LR_GRID_DOWN] * grid[LR_GRID_ACROSS] > 1 || !grid[LR_GRID_MATRICES]) {
        uint64_t begin = row_at(grid, first), end = row_at(grid, first + count - 1) + grid[LR_GRID_ACROSS];
        *span = (rec_span){.offset = begin * size, .length = (end - begin) * size, .count = 1};
    }
}

void lr_grid_begin(lr_grid_run *run, const uint64_t *grid, uint64_t first, uint64_t count, const void *scales,
                   uint64_t offset)
{
    *run = (lr_grid_run){.grid = grid,
                         .at = first,
                         .end = first + count,
                         .scales = scales,
                         .offset = offset / lr_element_size((int)grid[LR_GRID_ELEMENT])};
}

bool lr_grid_next(lr_grid_run *run)
{
    const uint64_t *grid = run->grid;
    uint64_t column, width = grid[LR_GRID_WIDTH], left;
    run->at += run->length;
    if (run->at >= run->end) {
        return false;
    }
    column = run->at % grid[LR_GRID_COLUMNS];
    left = grid[LR_GRID_COLUMNS] - column;
    run->length = width - column % width < left ? width - column % width : left;
    run->length = run->length < run->end - run->at ? run->length : run->end - run->at;
    run->scale =
        lr_element_read((int)grid[LR_GRID_ELEMENT], run->scales, row_at(grid, run->at) + column / width - run->offset);
    return true;
}
