/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Why two records may look more different than they are: one lies the other way round, or stands below another name. */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff_private.h"

/* -------------------------------------------------------------------------------------------------- the other way -- */

enum { TILE = 128, ELEMENT = 8 };

/* Columns [column, column + width) of `rows` rows. */
static bool read_tile(const rec_tensor *tensor, uint64_t row, uint64_t rows, uint64_t column, uint64_t width,
                      unsigned char *to)
{
    size_t size = (size_t)width * (rec_dtype_bits(rec_tensor_dtype(tensor)) / 8);
    uint64_t line = rec_tensor_shape(tensor)[1];

    for (uint64_t i = 0; i < rows; i++) {
        if (rec_tensor_read(tensor, rec_tensor_dtype(tensor), (row + i) * line + column, width, to + i * size) !=
            REC_OK) {
            return false;
        }
    }
    return true;
}

static bool same_turned(const unsigned char *a, const unsigned char *b, uint64_t rows, uint64_t columns, size_t width)
{
    for (uint64_t i = 0; i < rows; i++) {
        for (uint64_t j = 0; j < columns; j++) {
            if (memcmp(a + (i * columns + j) * width, b + (j * rows + i) * width, width) != 0) {
                return false;
            }
        }
    }
    return true;
}

bool tool_diff_is_transposed(const rec_tensor *a, const rec_tensor *b)
{
    const uint64_t *shape = rec_tensor_shape(a), *other = rec_tensor_shape(b);
    size_t width = rec_dtype_bits(rec_tensor_dtype(a)) / 8;
    unsigned char *tile, *turned;
    bool same = rec_tensor_rank(a) == 2 && rec_tensor_rank(b) == 2 && shape[0] == other[1] && shape[1] == other[0] &&
                rec_tensor_dtype(a) == rec_tensor_dtype(b) && width > 0 && width <= ELEMENT && rec_tensor_count(a) > 0;

    if (!same) {
        return false;
    }
    tile = xmalloc(TILE * TILE * ELEMENT);
    turned = xmalloc(TILE * TILE * ELEMENT);
    for (uint64_t i = 0; i < shape[0] && same; i += TILE) {
        uint64_t rows = shape[0] - i < TILE ? shape[0] - i : TILE;
        for (uint64_t j = 0; j < shape[1] && same; j += TILE) {
            uint64_t columns = shape[1] - j < TILE ? shape[1] - j : TILE;
            same = read_tile(a, i, rows, j, columns, tile) && read_tile(b, j, columns, i, rows, turned) &&
                   same_turned(tile, turned, rows, columns, width);
        }
    }
    free(tile);
    free(turned);
    return same;
}

/* --------------------------------------------------------------------------------------------------- another name -- */

/* Whether a tensor was found by its name: then nothing is to be told of it. */
static bool by_name(const comparison *c, int which, size_t index)
{
    const item *it = &c->sides[which].tensors[index];

    return it->twin != NO_TWIN && strcmp(it->key, c->sides[!which].tensors[it->twin].key) == 0;
}

/* @return the path that stands before the key of the first nameless tensor of that side on the other one, without its dot; to
 * be freed. NULL if there is none. */
static char *find_prefix(const comparison *c, int which)
{
    const side *d = &c->sides[which], *other = &c->sides[!which];
    size_t first = 0, length;

    while (first < d->tensor_count && by_name(c, which, first)) {
        first++;
    }
    length = first < d->tensor_count ? strlen(d->tensors[first].key) : 0;
    for (size_t i = 0; length && i < other->tensor_count; i++) {
        const char *key = other->tensors[i].key;
        size_t before = strlen(key);
        if (before > length + 1 && key[before - length - 1] == '.' &&
            strcmp(key + before - length, d->tensors[first].key) == 0) {
            return xasprintf("%.*s", (int)(before - length - 1), key);
        }
    }
    return NULL;
}

/* @return how many of the tensors that have no namesake have one below a path; all of them is what is wanted. */
static size_t count_below(const comparison *c, int which, const char *prefix, size_t *wanted)
{
    const side *d = &c->sides[which];
    size_t found = 0;
    text key = {0};

    *wanted = 0;
    for (size_t i = 0; i < d->tensor_count; i++) {
        if (by_name(c, which, i)) {
            continue;
        }
        key.length = 0;
        tool_text_format(&key, "%s.%s", prefix, d->tensors[i].key);
        found += rec_value_tensor(rec_value_at(c->sides[!which].record, key.at)) != NULL;
        ++*wanted;
    }
    tool_text_free(&key);
    return found;
}

char *tool_diff_hint(const comparison *c)
{
    static const char *const letters[] = {"A", "B"};
    char *hint = NULL;

    for (int which = 0; which < SIDES && !hint && !c->sides[SIDE_A].by_position && !c->sides[SIDE_B].by_position;
         which++) {
        char *prefix = find_prefix(c, which);
        size_t wanted, found = prefix ? count_below(c, which, prefix, &wanted) : 0;
        if (found > 1 && found == wanted) {
            text quoted = {0};
            tool_text_quoted(&quoted, prefix);
            hint = xasprintf("all of them stand below `%s` in %s: --prefix %s before %s", prefix, letters[!which],
                             quoted.at, letters[which]);
            tool_text_free(&quoted);
        }
        free(prefix);
    }
    return hint;
}
