/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Why two records may look more different than they are: one lies the other way round, or stands below another name. */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff_private.h"

/* ----------------------------------------------------------------------------------------------- the other way -- */

/* PANEL: bytes of one side that are looked at as one, but ROWS at least, as of the other side that is so much of each
 * row. */
enum { TILE = 128, ELEMENT = 8, PANEL = 4 << 20, ROWS = 4 * TILE };

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

static bool may_be_turned(const rec_tensor *a, const rec_tensor *b)
{
    const uint64_t *shape = rec_tensor_shape(a), *other = rec_tensor_shape(b);
    unsigned width = rec_dtype_bits(rec_tensor_dtype(a)) / 8;

    return rec_tensor_rank(a) == 2 && rec_tensor_rank(b) == 2 && shape[0] == other[1] && shape[1] == other[0] &&
           rec_tensor_dtype(a) == rec_tensor_dtype(b) && width > 0 && width <= ELEMENT && rec_tensor_count(a) > 0;
}

/* Some rows of one, which are columns of the other. */
typedef struct panel {
    pair *p;
    const rec_tensor *a, *b;
    uint64_t row, rows;
} panel;

typedef struct panels {
    panel *at;
    uint64_t *costs;
    uint8_t *turned; /* of each: whether they are the same */
    size_t count;
} panels;

/* On any thread. Elements that cannot be read are not the same. */
static rec_status look_at(void *user, uint64_t index)
{
    const panels *all = user;
    const panel *x = &all->at[index];
    size_t width = rec_dtype_bits(rec_tensor_dtype(x->a)) / 8;
    unsigned char *tile = xmalloc(TILE * TILE * ELEMENT), *other = xmalloc(TILE * TILE * ELEMENT);
    uint64_t line = rec_tensor_shape(x->a)[1];
    bool turned = true;

    for (uint64_t i = x->row; i < x->row + x->rows && turned; i += TILE) {
        uint64_t rows = x->row + x->rows - i < TILE ? x->row + x->rows - i : TILE;
        for (uint64_t j = 0; j < line && turned; j += TILE) {
            uint64_t columns = line - j < TILE ? line - j : TILE;
            turned = read_tile(x->a, i, rows, j, columns, tile) && read_tile(x->b, j, columns, i, rows, other) &&
                     same_turned(tile, other, rows, columns, width);
        }
    }
    free(tile);
    free(other);
    all->turned[index] = turned;
    return REC_OK;
}

/* What a pair of the same shape turned round is looked at by. */
static void add_panels(panels *all, pair *p, const rec_tensor *a, const rec_tensor *b)
{
    uint64_t rows = rec_tensor_shape(a)[0], line = rec_tensor_nbytes(a) / rows;
    uint64_t most = PANEL / (line + 1) / TILE * TILE;

    most = most > ROWS ? most : ROWS;
    for (uint64_t row = 0; row < rows; row += most) {
        all->at = tool_grown(all->at, all->count, sizeof *all->at);
        all->costs = tool_grown(all->costs, all->count, sizeof *all->costs);
        all->at[all->count] = (panel){p, a, b, row, rows - row < most ? rows - row : most};
        all->costs[all->count] = 2 * line * all->at[all->count].rows + 1;
        all->count++;
    }
}

int tool_diff_find_transposed(session *s, comparison *c)
{
    panels all = {0};
    int status;

    for (size_t i = 0; i < c->pair_count; i++) {
        pair *p = &c->pairs[i];
        p->transposed = p->verdict == PAIR_SHAPE && may_be_turned(p->of[SIDE_A]->tensor, p->of[SIDE_B]->tensor);
        if (p->transposed) {
            add_panels(&all, p, p->of[SIDE_A]->tensor, p->of[SIDE_B]->tensor);
        }
    }
    all.turned = xmalloc(all.count);
    status = tool_parallel_across(s, all.costs, all.count, look_at, &all, all.turned, sizeof *all.turned);
    for (size_t i = 0; i < all.count; i++) {
        all.at[i].p->transposed = all.at[i].p->transposed && all.turned[i];
    }
    free(all.turned);
    free(all.costs);
    free(all.at);
    return status;
}

/* ------------------------------------------------------------------------------------------------ another name -- */

/* Whether a tensor was matched by its name: no hint is needed. */
static bool by_name(const item *it)
{
    return it->twin && strcmp(it->key, it->twin->key) == 0;
}

/* @return the prefix, without its dot, that the other side's key has before the key of this side's first unmatched
 * tensor; freed by the caller. NULL: no such key. */
static char *find_prefix(const items *own, const items *other)
{
    size_t first = 0, length;

    while (first < own->count && by_name(own->at[first])) {
        first++;
    }
    length = first < own->count ? strlen(own->at[first]->key) : 0;
    for (size_t i = 0; length && i < other->count; i++) {
        const char *key = other->at[i]->key;
        size_t before = strlen(key);
        if (before > length + 1 && key[before - length - 1] == '.' &&
            strcmp(key + before - length, own->at[first]->key) == 0) {
            return xasprintf("%.*s", (int)(before - length - 1), key);
        }
    }
    return NULL;
}

/* @return whether several tensors are unmatched and all of them have a match below a prefix. */
static bool all_below(const items *own, const rec_record *other, const char *prefix)
{
    size_t found = 0;
    bool all = true;
    text key = {0};

    for (size_t i = 0; i < own->count && all; i++) {
        if (!by_name(own->at[i])) {
            key.length = 0;
            tool_text_format(&key, "%s.%s", prefix, own->at[i]->key);
            all = rec_tensor_at(other, key.at) != NULL;
            found++;
        }
    }
    tool_text_free(&key);
    return all && found > 1;
}

char *tool_diff_hint(const comparison *c)
{
    static const char *const letters[] = {"A", "B"};
    char *hint = NULL;

    for (int which = 0; which < SIDES && !hint && !c->sides[SIDE_A].by_position && !c->sides[SIDE_B].by_position;
         which++) {
        const side *other = &c->sides[!which];
        char *prefix = find_prefix(&c->sides[which].tensors, &other->tensors);
        if (prefix && all_below(&c->sides[which].tensors, other->record, prefix)) {
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
