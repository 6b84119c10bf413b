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

enum { TURNED, NOT_TURNED, UNREAD, NO_MEMORY };

typedef struct panels {
    panel *at;
    uint64_t *costs;
    uint8_t *made;
    size_t count;
} panels;

/* On any thread. @return TURNED, … */
static uint8_t look_at(const panel *x)
{
    size_t width = rec_dtype_bits(rec_tensor_dtype(x->a)) / 8;
    unsigned char *tile = malloc(TILE * TILE * ELEMENT), *turned = malloc(TILE * TILE * ELEMENT);
    uint64_t line = rec_tensor_shape(x->a)[1];
    uint8_t found = tile && turned ? TURNED : NO_MEMORY;

    for (uint64_t i = x->row; i < x->row + x->rows && found == TURNED; i += TILE) {
        uint64_t rows = x->row + x->rows - i < TILE ? x->row + x->rows - i : TILE;
        for (uint64_t j = 0; j < line && found == TURNED; j += TILE) {
            uint64_t columns = line - j < TILE ? line - j : TILE;
            found = !read_tile(x->a, i, rows, j, columns, tile) || !read_tile(x->b, j, columns, i, rows, turned)
                        ? UNREAD
                    : same_turned(tile, turned, rows, columns, width) ? TURNED
                                                                      : NOT_TURNED;
        }
    }
    free(tile);
    free(turned);
    return found;
}

static void look_at_panel(void *user, uint64_t i)
{
    panels *all = user;

    all->made[i] = look_at(&all->at[i]);
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
        const rec_tensor *a = c->sides[SIDE_A].tensors[p->index[SIDE_A]].tensor;
        const rec_tensor *b = c->sides[SIDE_B].tensors[p->index[SIDE_B]].tensor;
        if (p->verdict == PAIR_SHAPE && may_be_turned(a, b)) {
            p->transposed = true;
            add_panels(&all, p, a, b);
        }
    }
    all.made = xmalloc(all.count + 1);
    status = tool_parallel_across(s, all.costs, all.count, look_at_panel, &all, all.made, sizeof *all.made);
    for (size_t i = 0; i < all.count && status == EXIT_OK; i++) {
        if (s->shared->ranks > 1 && all.made[i] > NOT_TURNED) {
            look_at_panel(&all, i);
            status = tool_shared_failed(s, all.made[i] == UNREAD      ? rec_error_message()
                                           : all.made[i] == NO_MEMORY ? "out of memory"
                                                                      : NULL);
        }
        if (all.made[i] == NO_MEMORY && status == EXIT_OK) {
            status = tool_fail("out of memory");
        }
        all.at[i].p->transposed = all.at[i].p->transposed && all.made[i] == TURNED;
    }
    free(all.made);
    free(all.costs);
    free(all.at);
    return status;
}

/* ------------------------------------------------------------------------------------------------ another name -- */

/* Whether a tensor was matched by its name: no hint is needed. */
static bool by_name(const comparison *c, int which, size_t index)
{
    const item *it = &c->sides[which].tensors[index];

    return it->twin != NO_TWIN && strcmp(it->key, c->sides[!which].tensors[it->twin].key) == 0;
}

/* @return the prefix, without its dot, that the other side's key has before the key of this side's first unmatched
 * tensor; freed by the caller. NULL: no such key. */
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

/* @return how many unmatched tensors have a match below a prefix. @param wanted (out) number of unmatched tensors. */
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
