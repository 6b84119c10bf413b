/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Tensors that have another name in each record and the same content. Only those are read that have one of the same
 * form on the other side; their content is summed, and what has the same sum is compared later as any pair is. */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff_private.h"

enum { LANES = 4, PIECE_BYTES = 1 << 20, PART_BYTES = 8 << 20, COST = 4096 };

/* What a tensor, or a part of it, has. It is sent between processes. */
typedef struct content {
    uint64_t lanes[LANES]; /* a hash */
    uint64_t constant;     /* all its elements are the same: that many tensors are */
    unsigned char first[sizeof(uint64_t)];
} content;

/* A tensor that has no twin. */
typedef struct loner {
    item *it;
    int side;
    bool known;
    content is;
} loner;

/* ----------------------------------------------------------------------------------------------------- sorting -- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_contents(const loner *x, const loner *y)
{
    int order = x->known != y->known ? y->known - x->known : tool_compare_forms(x->it->tensor, y->it->tensor);

    return order ? order : memcmp(x->is.lanes, y->is.lanes, sizeof x->is.lanes);
}

/* By their forms as long as no content is known. */
static int by_content(const void *a, const void *b)
{
    const loner *x = a, *y = b;
    int order = compare_contents(x, y);

    order = order ? order : x->side - y->side;
    return order ? order : compare_numbers(x->it->place, y->it->place);
}

/* ----------------------------------------------------------------------------------------------------- summing -- */

/* Adds bytes to lanes, which are mixed at the end. It need not resist collisions: equal hashes are compared in full. */
static void mix_bytes(uint64_t lanes[LANES], const unsigned char *bytes, size_t size)
{
    uint64_t next[LANES];

    for (; size >= sizeof next; bytes += sizeof next, size -= sizeof next) {
        memcpy(next, bytes, sizeof next);
        for (int i = 0; i < LANES; i++) {
            lanes[i] = (lanes[i] ^ next[i]) * UINT64_C(0x9E3779B97F4A7C15);
            lanes[i] ^= lanes[i] >> 32;
        }
    }
    memset(next, 0, sizeof next);
    memcpy(next, bytes, size);
    for (int i = 0; i < LANES; i++) {
        lanes[i] = (lanes[i] ^ next[i] ^ size) * UINT64_C(0xD1342543DE82EF95);
        lanes[i] ^= lanes[i] >> 29;
    }
}

/* Whether all elements are the first one. */
static bool repeats(const unsigned char *bytes, size_t size, const unsigned char *first, size_t width)
{
    return memcmp(bytes, first, width) == 0 && memcmp(bytes, bytes + width, size - width) == 0;
}

/* A part of a tensor, which is hashed by itself. */
typedef struct part {
    loner *of;
    uint64_t first, count; /* elements; data without a number type are one part */
} part;
typedef struct parts {
    part *at;
    uint64_t *costs;
    content *made;
    size_t count;
} parts;

static rec_status sum_numbers(const part *x, content *made, size_t width)
{
    const rec_tensor *tensor = x->of->it->tensor;
    uint64_t most = PIECE_BYTES / width < x->count ? PIECE_BYTES / width : x->count, end = x->first + x->count;
    unsigned char *buffer = xmalloc((size_t)most * width);
    rec_status status = REC_OK;

    for (uint64_t at = x->first, n; at < end && status == REC_OK; at += n) {
        n = end - at < most ? end - at : most;
        status = rec_tensor_read(tensor, rec_tensor_dtype(tensor), at, n, buffer);
        if (status == REC_OK) {
            if (at == x->first) {
                memcpy(made->first, buffer, width);
            }
            made->constant = made->constant && repeats(buffer, (size_t)n * width, made->first, width);
            mix_bytes(made->lanes, buffer, (size_t)n * width);
            rec_tensor_release(tensor, at, n);
        }
    }
    free(buffer);
    return status;
}

/* On any thread. */
static rec_status sum_up(void *user, uint64_t i)
{
    const parts *all = user;
    content *made = &all->made[i];
    const rec_tensor *tensor = all->at[i].of->it->tensor;
    size_t width = rec_dtype_bits(rec_tensor_dtype(tensor)) / 8;
    uint64_t size = 0;
    const unsigned char *bytes = width ? NULL : rec_tensor_bytes(tensor, &size);

    *made = (content){.lanes = {1, 2, 3, 4}, .constant = width || size == 0};
    if (width) {
        return sum_numbers(&all->at[i], made, width);
    }
    if (bytes) {
        mix_bytes(made->lanes, bytes, (size_t)size);
    }
    return bytes || !rec_tensor_nbytes(tensor) ? REC_OK : rec_error_status();
}

static void add_parts(parts *all, loner *l)
{
    const rec_tensor *tensor = l->it->tensor;
    unsigned width = rec_dtype_bits(rec_tensor_dtype(tensor)) / 8;
    uint64_t count = width ? rec_tensor_count(tensor) : 1, most = width ? PART_BYTES / width : 1;

    l->known = true;
    l->is = (content){.lanes = {1, 2, 3, 4}, .constant = true};
    for (uint64_t first = 0; first < count; first += most) {
        uint64_t some = count - first < most ? count - first : most;
        all->at = tool_grown(all->at, all->count, sizeof *all->at);
        all->costs = tool_grown(all->costs, all->count, sizeof *all->costs);
        all->at[all->count] = (part){l, first, some};
        all->costs[all->count++] = COST + (width ? some * width : rec_tensor_nbytes(tensor));
    }
}

/* Adds a part to its tensor, in order. */
static void take_part(const part *x, const content *made)
{
    content *is = &x->of->is;

    if (x->first == 0) {
        memcpy(is->first, made->first, sizeof is->first);
    }
    is->constant = is->constant && made->constant && memcmp(made->first, is->first, sizeof is->first) == 0;
    mix_bytes(is->lanes, (const unsigned char *)made->lanes, sizeof made->lanes);
}

/* Sums up what has one of its form on the other side. @return EXIT_OK, or EXIT_ERROR with the error printed. */
static int sum_candidates(session *s, loner *loners, size_t count)
{
    parts all = {0};
    int status;

    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && tool_compare_forms(loners[i].it->tensor, loners[end].it->tensor) == 0; end++) {
        }
        for (size_t n = i; n < end && loners[i].side != loners[end - 1].side; n++) {
            add_parts(&all, &loners[n]);
        }
    }
    all.made = xmalloc(all.count * sizeof *all.made);
    status = tool_parallel_across(s, all.costs, all.count, sum_up, &all, all.made, sizeof *all.made);
    for (size_t i = 0; i < all.count && status == EXIT_OK; i++) {
        take_part(&all.at[i], &all.made[i]);
    }
    free(all.made);
    free(all.costs);
    free(all.at);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- pairing -- */

/* @return the last part of a key. */
static const char *last_part(const char *key)
{
    for (size_t length; key[length = tool_level_length(key)]; key += length + 1) {
    }
    return key;
}

static void pair_up(loner *a, loner *b)
{
    a->it->twin = b->it;
    b->it->twin = a->it;
}

/* Pairs tensors of equal content: first those with the same last name, then in order. Content of zeros or ones
 * identifies nothing: such a tensor is paired by its last name within the module that its own module became. */
static void pair_content(loner *loners, size_t count)
{
    size_t middle = 0;

    while (middle < count && loners[middle].side == SIDE_A) {
        middle++;
    }
    for (int pass = 0; pass < (loners->is.constant ? 0 : 2); pass++) {
        size_t next = middle;
        for (size_t i = 0; i < middle; i++) {
            if (loners[i].it->twin) {
                continue;
            }
            while (next < count && loners[next].it->twin) {
                next++;
            }
            /* In the first pass only the next one is looked at: names come in the same order, or it does not matter. */
            if (next < count && (pass || strcmp(last_part(loners[next].it->key), last_part(loners[i].it->key)) == 0)) {
                pair_up(&loners[i], &loners[next++]);
            }
        }
    }
}

/* A module that became another one. */
typedef struct move {
    const char *from, *to;
    size_t from_length, to_length;
} move;

static int by_from(const void *a, const void *b)
{
    const move *x = a, *y = b;
    size_t least = x->from_length < y->from_length ? x->from_length : y->from_length;
    int order = memcmp(x->from, y->from, least);

    return order ? order : compare_numbers(x->from_length, y->from_length);
}

static int by_key(const void *a, const void *b)
{
    return strcmp((*(loner *const *)a)->it->key, (*(loner *const *)b)->it->key);
}

static bool is_free_constant(const loner *l, int which)
{
    return l->side == which && !l->it->twin && l->known && l->is.constant;
}

/* Constant tensors go where their module went. */
static void pair_constants(loner *loners, size_t count)
{
    move *moves = xmalloc(count * sizeof *moves);
    loner **targets = xmalloc(count * sizeof *targets);
    size_t move_count = 0, target_count = 0;
    text key = {0};

    for (size_t i = 0; i < count; i++) {
        const item *it = loners[i].it;
        if (loners[i].side == SIDE_A && it->twin) {
            const char *to = it->twin->key;
            moves[move_count++] =
                (move){it->key, to, (size_t)(last_part(it->key) - it->key), (size_t)(last_part(to) - to)};
        } else if (is_free_constant(&loners[i], SIDE_B)) {
            targets[target_count++] = &loners[i];
        }
    }
    qsort(moves, move_count, sizeof *moves, by_from);
    qsort(targets, target_count, sizeof *targets, by_key);
    for (size_t i = 0; i < count && move_count && target_count; i++) {
        const char *from = loners[i].it->key, *name = last_part(from);
        const move wanted = {.from = from, .from_length = (size_t)(name - from)};
        const move *m =
            is_free_constant(&loners[i], SIDE_A) ? bsearch(&wanted, moves, move_count, sizeof *moves, by_from) : NULL;
        loner **twin;
        if (!m) {
            continue;
        }
        key.length = 0;
        tool_text_add(&key, m->to, m->to_length);
        tool_text_put(&key, name);
        twin =
            bsearch(&(loner *){&(loner){.it = &(item){.key = key.at}}}, targets, target_count, sizeof(loner *), by_key);
        if (twin && !(*twin)->it->twin && compare_contents(&loners[i], *twin) == 0) {
            pair_up(&loners[i], *twin);
        }
    }
    tool_text_free(&key);
    free(targets);
    free(moves);
}

/* ------------------------------------------------------------------------------------------------------ public -- */

static int by_first_side(const void *a, const void *b)
{
    return compare_numbers(((const pair *)a)->of[SIDE_A]->place, ((const pair *)b)->of[SIDE_A]->place);
}

/* Inserts the pairs found, in the order of the first side. */
static void add_pairs(comparison *c, const loner *loners, size_t count)
{
    size_t before = c->pair_count;

    c->pairs = xrealloc(c->pairs, (before + count) * sizeof *c->pairs);
    for (size_t i = 0; i < count; i++) {
        if (loners[i].side == SIDE_A && loners[i].it->twin) {
            c->pairs[c->pair_count++] = (pair){.of = {loners[i].it, loners[i].it->twin}, .renamed = true};
        }
    }
    if (c->pair_count > before) {
        qsort(c->pairs, c->pair_count, sizeof *c->pairs, by_first_side);
    }
}

int tool_diff_find_renamed(session *s, comparison *c)
{
    size_t room = c->sides[SIDE_A].tensors.count + c->sides[SIDE_B].tensors.count - 2 * c->pair_count, count = 0;
    loner *loners = xmalloc(room * sizeof *loners);
    int status;

    for (int which = 0; which < SIDES; which++) {
        const items *list = &c->sides[which].tensors;
        for (size_t i = 0; i < list->count; i++) {
            if (!list->at[i]->twin) {
                loners[count++] = (loner){.it = list->at[i], .side = which};
            }
        }
    }
    qsort(loners, count, sizeof *loners, by_content);
    status = sum_candidates(s, loners, count);
    qsort(loners, count, sizeof *loners, by_content);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && compare_contents(&loners[i], &loners[end]) == 0; end++) {
        }
        if (loners[i].known && loners[i].side != loners[end - 1].side) {
            pair_content(&loners[i], end - i);
        }
    }
    pair_constants(loners, count);
    add_pairs(c, loners, count);
    free(loners);
    return status;
}
