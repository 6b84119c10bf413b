/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Scales in a grid over the last two dimensions of a tensor: one for all of it, for a row, for a block. */
#ifndef LR_SCHEME_GRID_H
#define LR_SCHEME_GRID_H

#include <stdbool.h>

#include <librecord/plugin.h>

/** Words of a scheme's state that describe a grid. */
enum {
    LR_GRID_ELEMENT,  /**< LR_ELEMENT_… of the scales */
    LR_GRID_ROWS,     /**< of a matrix */
    LR_GRID_COLUMNS,  /**< of a matrix */
    LR_GRID_DOWN,     /**< scales from top to bottom, of a matrix */
    LR_GRID_ACROSS,   /**< scales from left to right */
    LR_GRID_HEIGHT,   /**< rows of a block */
    LR_GRID_WIDTH,    /**< columns of a block */
    LR_GRID_MATRICES, /**< 1 if all matrices have the same scale */
    LR_GRID_WORDS
};

/** Returns a number of blocks, of which the last may be smaller. */
static inline uint64_t lr_grid_blocks(uint64_t size, uint64_t side)
{
    return size / side + (size % side != 0);
}
/** Returns a value of the quantisation's settings in config.json, wherever they are: "quant_method". May be NULL. */
const char *lr_grid_setting(rec_job *job, const rec_siblings *siblings, const char *name);
/** Finds how the scales lie over a tensor, by their shapes and the model's settings. @param grid (out).
 * @return false: they do not fit. */
bool lr_grid_find(rec_job *job, const rec_siblings *siblings, const rec_part *part, const rec_part *scale,
                  uint64_t *grid);
/** Writes "128x128 blocks", "one scale a row", "one scale". */
void lr_grid_words(const uint64_t *grid, char *text, size_t room);
/** Writes the type and shape of scales that do not fit, "f32 [3, 1]". */
void lr_grid_misfit(const rec_part *scale, char *text, size_t room);
/** Sets which bytes of the scales a run of elements needs. */
void lr_grid_span(const uint64_t *grid, uint64_t first, uint64_t count, rec_span *span);

/** Runs of elements with the same scale. */
typedef struct lr_grid_run {
    float scale;
    uint64_t length; /**< elements */
    const uint64_t *grid;
    uint64_t at, end;
    const uint8_t *scales; /**< from `offset` on */
    uint64_t offset;
} lr_grid_run;

/** Begins at element `first`. @param scales,offset bytes of lr_grid_span(), and where they begin. */
void lr_grid_begin(lr_grid_run *run, const uint64_t *grid, uint64_t first, uint64_t count, const void *scales,
                   uint64_t offset);
/** Finds the next run. @return false: that was the last one. */
bool lr_grid_next(lr_grid_run *run);

#endif
