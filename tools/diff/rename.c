/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Tensors that have another name in each record and the same content. Only those are read that have one of the same
 * form on the other side; their content is summed, and what has the same sum is compared later as any pair is. */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff_private.h"

enum { LANES = 4, PIECE_BYTES = 1 << 20, PART_BYTES = 8 << 20, COST = 4096 };

/* A tensor that has no twin. */
typedef struct loner {
    const item *it;
    int side;
    size_t index;
    uint64_t sum[2];
    bool constant; /* all its elements are the same: that many tensors are */
    bool taken, known;
} loner;

/* ----------------------------------------------------------------------------------------------------- sorting -- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_forms(const loner *x, const loner *y)
{
    const rec_tensor *a = x->it->tensor, *b = y->it->tensor;
    uint32_t rank = rec_tensor_rank(a);
    int order = strcmp(rec_tensor_dtype_name(a), rec_tensor_dtype_name(b));

    order = order ? order : compare_numbers(rank, rec_tensor_rank(b));
    for (uint32_t i = 0; i < rank && !order; i++) {
        order = compare_numbers(rec_tensor_shape(a)[i], rec_tensor_shape(b)[i]);
    }
    return order ? order : compare_numbers(rec_tensor_nbytes(a), rec_tensor_nbytes(b));
}

static int compare_places(const loner *x, const loner *y)
{
    return x->side != y->side ? x->side - y->side : compare_numbers(x->index, y->index);
}

static int by_form(const void *a, const void *b)
{
    int order = compare_forms(a, b);

    return order ? order : compare_places(a, b);
}

static int compare_contents(const loner *x, const loner *y)
{
    int order = x->known != y->known ? y->known - x->known : compare_forms(x, y);

    order = order ? order : compare_numbers(x->sum[0], y->sum[0]);
    return order ? order : compare_numbers(x->sum[1], y->sum[1]);
}

static int by_content(const void *a, const void *b)
{
    int order = compare_contents(a, b);

    return order ? order : compare_places(a, b);
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

/* A part of a tensor, which is summed by itself. */
typedef struct part {
    loner *of;
    uint64_t first, count; /* elements; data without a number type are one part */
    char *error;           /* what the library said if it failed; NULL: it was no more than memory */
} part;

/* The hash of one part, as sent between processes. */
typedef struct part_sum {
    uint64_t lanes[LANES];
    unsigned char first[8];
    uint64_t constant, failed;
} part_sum;

typedef struct parts {
    part *at;
    uint64_t *costs;
    part_sum *made;
    size_t count;
} parts;

static void sum_numbers(part *x, part_sum *made, size_t width)
{
    const rec_tensor *tensor = x->of->it->tensor;
    uint64_t size = x->count * width, end = x->first + x->count;
    unsigned char *buffer = malloc(size < PIECE_BYTES ? (size_t)size : PIECE_BYTES);

    made->failed = !buffer;
    for (uint64_t at = x->first; at < end && !made->failed;) {
        uint64_t n = end - at < PIECE_BYTES / width ? end - at : PIECE_BYTES / width;
        made->failed = rec_tensor_read(tensor, rec_tensor_dtype(tensor), at, n, buffer) != REC_OK;
        if (made->failed) {
            x->error = strdup(rec_error_message());
            break;
        }
        if (at == x->first) {
            memcpy(made->first, buffer, width);
        }
        made->constant = made->constant && repeats(buffer, (size_t)n * width, made->first, width);
        mix_bytes(made->lanes, buffer, (size_t)n * width);
        rec_tensor_release(tensor, at, n);
        at += n;
    }
    free(buffer);
}

/* On any thread. */
static void sum_up(void *user, uint64_t i)
{
    const parts *all = user;
    part *x = &all->at[i];
    part_sum *made = &all->made[i];
    const rec_tensor *tensor = x->of->it->tensor;
    size_t width = rec_dtype_bits(rec_tensor_dtype(tensor)) / 8;
    uint64_t size = 0;
    const unsigned char *bytes;

    *made = (part_sum){.lanes = {1, 2, 3, 4}, .constant = true};
    if (width) {
        sum_numbers(x, made, width);
        return;
    }
    bytes = rec_tensor_bytes(tensor, &size);
    made->failed = !bytes && rec_tensor_nbytes(tensor);
    made->constant = size == 0;
    if (made->failed) {
        x->error = strdup(rec_error_message());
    } else if (bytes) {
        mix_bytes(made->lanes, bytes, (size_t)size);
    }
}

static void add_parts(parts *all, loner *l)
{
    const rec_tensor *tensor = l->it->tensor;
    unsigned width = rec_dtype_bits(rec_tensor_dtype(tensor)) / 8;
    uint64_t count = width ? rec_tensor_count(tensor) : 1, most = width ? PART_BYTES / width : 1;

    for (uint64_t first = 0; first < count; first += most) {
        all->at = tool_grown(all->at, all->count, sizeof *all->at);
        all->costs = tool_grown(all->costs, all->count, sizeof *all->costs);
        all->at[all->count] = (part){.of = l, .first = first, .count = count - first < most ? count - first : most};
        all->costs[all->count] = COST + (width ? all->at[all->count].count * width : rec_tensor_nbytes(tensor));
        all->count++;
    }
}

/* The sums of all parts of a tensor become its own. @return how many parts that are. */
static size_t end_sum(loner *l, const part *own, const part_sum *made, size_t count)
{
    uint64_t lanes[LANES] = {1, 2, 3, 4};
    size_t done = 0;

    l->known = l->constant = true;
    for (; done < count && own[done].of == l; done++) {
        mix_bytes(lanes, (const unsigned char *)made[done].lanes, sizeof made[done].lanes);
        l->constant =
            l->constant && made[done].constant && memcmp(made[done].first, made[0].first, sizeof made->first) == 0;
    }
    l->sum[0] = lanes[0] ^ lanes[1] * UINT64_C(0xA0761D6478BD642F);
    l->sum[1] = lanes[2] ^ lanes[3] * UINT64_C(0xE7037ED1A0B428DB);
    return done;
}

/* What went wrong with any part, for any process. @return EXIT_OK, or EXIT_ERROR with the error printed, or known to
 * all. */
static int check_parts(session *s, parts *all)
{
    int status = EXIT_OK;

    for (size_t i = 0; i < all->count && status == EXIT_OK; i++) {
        part *x = &all->at[i];
        if (all->made[i].failed && s->shared->ranks > 1) {
            free(x->error);
            x->error = NULL;
            sum_up(all, i);
            status = tool_shared_failed(s, !all->made[i].failed ? NULL : x->error ? x->error : "out of memory");
        }
        if (all->made[i].failed && status == EXIT_OK) {
            status = tool_fail("%s", x->error ? x->error : "out of memory");
        }
    }
    return status;
}

/* Sums up what has one of its form on the other side. @return EXIT_OK, or EXIT_ERROR with the error printed. */
static int sum_candidates(session *s, loner *loners, size_t count)
{
    loner **candidates = xmalloc(count * sizeof *candidates);
    parts all = {0};
    size_t found = 0;
    int status;

    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && compare_forms(&loners[i], &loners[end]) == 0; end++) {
        }
        for (size_t n = i; n < end && loners[i].side != loners[end - 1].side; n++) {
            candidates[found++] = &loners[n];
            add_parts(&all, &loners[n]);
        }
    }
    all.made = xmalloc((all.count + 1) * sizeof *all.made);
    status = tool_parallel_across(s, all.costs, all.count, sum_up, &all, all.made, sizeof *all.made);
    status = status == EXIT_OK ? check_parts(s, &all) : status;
    for (size_t i = 0, at = 0; i < found && status == EXIT_OK; i++) {
        at += end_sum(candidates[i], all.at + at, all.made + at, all.count - at);
    }
    for (size_t i = 0; i < all.count; i++) {
        free(all.at[i].error);
    }
    free(all.made);
    free(all.costs);
    free(all.at);
    free(candidates);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- pairing -- */

/* @return the last part of a key. A dot after a backslash belongs to a name. */
static const char *last_part(const char *key)
{
    const char *last = key;

    for (; *key; key++) {
        if (*key == '\\' && key[1]) {
            key++;
        } else if (*key == '.') {
            last = key + 1;
        }
    }
    return last;
}

static void pair_up(comparison *c, loner *a, loner *b)
{
    a->taken = b->taken = true;
    c->sides[SIDE_A].tensors[a->index].twin = b->index;
    c->sides[SIDE_B].tensors[b->index].twin = a->index;
}

/* Pairs tensors of equal content: first those with the same last name, then in order. Content of zeros or ones
 * identifies nothing: such a tensor is paired by its last name within the module that its own module became. */
static void pair_content(comparison *c, loner *loners, size_t count)
{
    size_t middle = 0;

    while (middle < count && loners[middle].side == SIDE_A) {
        middle++;
    }
    for (int pass = 0; pass < (loners[0].constant ? 0 : 2); pass++) {
        size_t next = middle;
        for (size_t i = 0; i < middle; i++) {
            const char *name = last_part(loners[i].it->key);
            if (loners[i].taken) {
                continue;
            }
            while (next < count && loners[next].taken) {
                next++;
            }
            /* In the first pass only the next one is looked at: names come in the same order, or it does not matter. */
            if (next < count && (pass || strcmp(last_part(loners[next].it->key), name) == 0)) {
                pair_up(c, &loners[i], &loners[next++]);
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

static const loner *find_key(loner *const *sorted, size_t count, const char *key)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(sorted[middle]->it->key, key);
        if (order == 0) {
            return sorted[middle];
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return NULL;
}

static int by_key(const void *a, const void *b)
{
    return strcmp((*(loner *const *)a)->it->key, (*(loner *const *)b)->it->key);
}

/* Constant tensors go where their module went. */
static void pair_constants(comparison *c, loner *loners, size_t count)
{
    move *moves = xmalloc(count * sizeof *moves);
    loner **targets = xmalloc(count * sizeof *targets);
    size_t move_count = 0, target_count = 0;
    text key = {0};

    for (size_t i = 0; i < count; i++) {
        loner *l = &loners[i];
        if (l->side == SIDE_A && l->taken) {
            const char *to = c->sides[SIDE_B].tensors[l->it->twin].key;
            moves[move_count++] =
                (move){l->it->key, to, (size_t)(last_part(l->it->key) - l->it->key), (size_t)(last_part(to) - to)};
        } else if (l->side == SIDE_B && !l->taken && l->known && l->constant) {
            targets[target_count++] = l;
        }
    }
    qsort(moves, move_count, sizeof *moves, by_from);
    qsort(targets, target_count, sizeof *targets, by_key);
    for (size_t i = 0; i < count && move_count && target_count; i++) {
        loner *l = &loners[i], *twin;
        const char *name = last_part(l->it->key);
        const move wanted = {.from = l->it->key, .from_length = (size_t)(name - l->it->key)};
        const move *m;
        if (l->side != SIDE_A || l->taken || !l->known || !l->constant ||
            !(m = bsearch(&wanted, moves, move_count, sizeof *moves, by_from))) {
            continue;
        }
        key.length = 0;
        tool_text_add(&key, m->to, m->to_length);
        tool_text_put(&key, name);
        twin = (loner *)find_key(targets, target_count, key.at);
        if (twin && !twin->taken && compare_contents(l, twin) == 0) {
            pair_up(c, l, twin);
        }
    }
    tool_text_free(&key);
    free(targets);
    free(moves);
}

/* ------------------------------------------------------------------------------------------------------ public -- */

static int by_first_side(const void *a, const void *b)
{
    return compare_numbers(((const pair *)a)->index[SIDE_A], ((const pair *)b)->index[SIDE_A]);
}

/* Inserts the pairs found, in the order of the first side. */
static void add_pairs(comparison *c, const loner *loners, size_t count)
{
    size_t before = c->pair_count;

    c->pairs = xrealloc(c->pairs, (before + count) * sizeof *c->pairs);
    for (size_t i = 0; i < count; i++) {
        if (loners[i].side == SIDE_A && loners[i].taken) {
            c->pairs[c->pair_count++] = (pair){.index = {loners[i].index, loners[i].it->twin}, .renamed = true};
        }
    }
    if (c->pair_count > before) {
        qsort(c->pairs, c->pair_count, sizeof *c->pairs, by_first_side);
    }
}

int tool_diff_find_renamed(session *s, comparison *c)
{
    size_t room = c->sides[SIDE_A].tensor_count + c->sides[SIDE_B].tensor_count - 2 * c->pair_count, count = 0;
    loner *loners = xmalloc(room * sizeof *loners);
    int status;

    for (int which = 0; which < SIDES; which++) {
        const side *d = &c->sides[which];
        for (size_t i = 0; i < d->tensor_count; i++) {
            if (d->tensors[i].twin == NO_TWIN) {
                loners[count++] = (loner){.it = &d->tensors[i], .side = which, .index = i};
            }
        }
    }
    qsort(loners, count, sizeof *loners, by_form);
    status = sum_candidates(s, loners, count);
    qsort(loners, count, sizeof *loners, by_content);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && compare_contents(&loners[i], &loners[end]) == 0; end++) {
        }
        if (loners[i].known && loners[i].side != loners[end - 1].side) {
            pair_content(c, &loners[i], end - i);
        }
    }
    pair_constants(c, loners, count);
    add_pairs(c, loners, count);
    free(loners);
    return status;
}
