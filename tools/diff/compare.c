/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The values of pairs of tensors, read side by side in pieces of fixed size: pieces may be done by several threads, and
 * are added up in their order, so that the result does not depend on how many there are. */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff_private.h"

/* Elements a piece: 1 MiB of f32 a side, which a core's cache holds; pieces and elements that are shared out at a time,
 * to one process, and how many times as much where there are several and nobody waits for the first difference. */
enum { PIECE = 1 << 18, PIECES_MOST = 1024, ELEMENTS_MOST = 48 * PIECE, AT_ONCE = 16 };
/* Fixed cost of a chunk, in bytes. */
enum { COST = 4096 };

/* Where one thread at a time puts what it reads. */
enum { SLOTS = 4 };
typedef struct desk {
    atomic_flag taken;
    void *slots[SLOTS];
    size_t room[SLOTS];
} desk;

/* One piece of a pair. */
typedef struct piece {
    const wishes *w;
    const pair *p;
    uint64_t first;
    size_t count;
    figures *f;
    desk *desk;
    bool bytes; /* data without a number type: one chunk, of any size */
    rec_status status;
} piece;

/* ------------------------------------------------------------------------------------------------------ pieces -- */

/* The piece of one side, on any thread. Copied, which is faster than to work on a map: the processor fetches ahead
 * better.
 * @param slot of the desk, where it stays as long as nobody else uses that.
 * @return NULL if it cannot be read. */
static const void *read_as(piece *x, int slot, int which, rec_dtype dtype)
{
    size_t size = x->count * (rec_dtype_bits(dtype) / 8);
    desk *d = x->desk;

    if (d->room[slot] < size) {
        free(d->slots[slot]);
        d->slots[slot] = xmalloc(size);
        d->room[slot] = size;
    }
    if (x->status == REC_OK) {
        x->status = rec_tensor_read(x->p->of[which]->tensor, dtype, x->first, x->count, d->slots[slot]);
    }
    return x->status == REC_OK ? d->slots[slot] : NULL;
}

static void number_at(rec_scalar *x, rec_dtype type, const void *data, size_t at)
{
    switch (type) {
    case REC_DTYPE_F64:
        *x = (rec_scalar){.kind = REC_KIND_FLOAT, .v.f = ((const double *)data)[at]};
        return;
    case REC_DTYPE_U64:
        *x = (rec_scalar){.kind = REC_KIND_UINT, .v.u = ((const uint64_t *)data)[at]};
        return;
    case REC_DTYPE_I64:
        *x = (rec_scalar){.kind = REC_KIND_INT, .v.i = ((const int64_t *)data)[at]};
        return;
    default:
        *x = (rec_scalar){.kind = REC_KIND_BOOL, .v.i = ((const uint8_t *)data)[at] != 0};
    }
}

/* Numbers of two types, or of a type without a loop. */
static void compare_mixed(piece *x, rec_dtype type_a, rec_dtype type_b, const tolerance *t)
{
    const void *a = read_as(x, 0, SIDE_A, type_a), *b = a ? read_as(x, 1, SIDE_B, type_b) : NULL;
    rec_scalar p, q;

    for (size_t i = 0; b && i < x->count; i++) {
        number_at(&p, type_a, a, i);
        number_at(&q, type_b, b, i);
        tool_diff_number(x->f, &p, &q, x->first + i, t);
    }
}

static void compare_as(piece *x, rec_dtype dtype, const tolerance *t)
{
    const void *a = read_as(x, 0, SIDE_A, dtype), *b = a ? read_as(x, 1, SIDE_B, dtype) : NULL;

    if (b && dtype == REC_DTYPE_F32) {
        tool_diff_f32(x->f, a, b, x->first, x->count, t);
    } else if (b && dtype == REC_DTYPE_F64) {
        tool_diff_f64(x->f, a, b, x->first, x->count, t);
    } else if (b) {
        tool_diff_i64(x->f, a, b, x->first, x->count, t);
    }
}

/* Bools are 0 and 1: they are counted. */
static void compare_bools(piece *x, const tolerance *t)
{
    const uint8_t *a = read_as(x, 0, SIDE_A, REC_DTYPE_BOOL), *b = a ? read_as(x, 1, SIDE_B, REC_DTYPE_BOOL) : NULL;
    uint64_t ones_a = 0, ones_b = 0, both = 0;
    size_t first = 0;

    if (!b) {
        return;
    }
    for (size_t i = 0; i < x->count; i++) {
        ones_a += a[i] != 0;
        ones_b += b[i] != 0;
        both += (a[i] != 0) & (b[i] != 0);
    }
    x->f->count = x->count;
    x->f->aa = (double)ones_a;
    x->f->bb = (double)ones_b;
    x->f->ab = (double)both;
    x->f->differing = ones_a + ones_b - 2 * both;
    x->f->dd = (double)x->f->differing;
    x->f->beyond = t->atol < 1 && t->rtol < 1 ? x->f->differing : 0;
    if (x->f->differing) {
        while ((a[first] != 0) == (b[first] != 0)) {
            first++;
        }
        x->f->max_abs = x->f->max_rel = 1;
        x->f->max_abs_at = x->f->max_rel_at = x->first + first;
    }
}

/* The bits of a float of 16, 32 or 64 bits as a number that grows with it, zeros in the middle; NaN: false. */
static bool steps_of(rec_dtype dtype, const void *data, size_t at, int64_t *steps)
{
    uint64_t bits, magnitude, infinity;
    unsigned width = rec_dtype_bits(dtype);

    if (width == 16) {
        bits = ((const uint16_t *)data)[at];
        infinity = dtype == REC_DTYPE_BF16 ? 0x7F80 : 0x7C00;
    } else if (width == 32) {
        bits = ((const uint32_t *)data)[at];
        infinity = 0x7F800000;
    } else {
        bits = ((const uint64_t *)data)[at];
        infinity = UINT64_C(0x7FF0000000000000);
    }
    magnitude = bits & (UINT64_MAX >> (65 - width));
    *steps = bits >> (width - 1) & 1 ? -(int64_t)magnitude : (int64_t)magnitude;
    return magnitude <= infinity;
}

/* @return the type of two floats that can tell fewer numbers apart; of f16 and bf16, where each is wider in one way,
 * that of the first side. */
static rec_dtype narrower(rec_dtype a, rec_dtype b)
{
    return rec_dtype_bits(b) < rec_dtype_bits(a) ? b : a;
}

/* Steps between neighbouring numbers of the narrower type: what is within so many is within the tolerances. */
static void compare_steps(piece *x, rec_dtype narrow, const tolerance *t, double most)
{
    const void *a = read_as(x, 0, SIDE_A, narrow), *b = a ? read_as(x, 1, SIDE_B, narrow) : NULL;
    const double *wide_a = b ? read_as(x, 2, SIDE_A, REC_DTYPE_F64) : NULL;
    const double *wide_b = wide_a ? read_as(x, 3, SIDE_B, REC_DTYPE_F64) : NULL;

    x->f->beyond = 0;
    for (size_t i = 0; wide_b && i < x->count; i++) {
        rec_scalar p = {.kind = REC_KIND_FLOAT, .v.f = wide_a[i]}, q = {.kind = REC_KIND_FLOAT, .v.f = wide_b[i]};
        figures one = {.scale = 1};
        int64_t steps_a, steps_b;
        tool_diff_number(&one, &p, &q, 0, t);
        if (one.beyond && !one.odd && steps_of(narrow, a, i, &steps_a) && steps_of(narrow, b, i, &steps_b)) {
            uint64_t apart =
                steps_a > steps_b ? (uint64_t)steps_a - (uint64_t)steps_b : (uint64_t)steps_b - (uint64_t)steps_a;
            one.beyond = (double)apart > most;
        }
        x->f->beyond += one.beyond;
    }
}

/* Places that differ once the one side is rounded to the other's type. NaN is NaN, zeros are equal. */
static void compare_rounded(piece *x, int to)
{
    rec_dtype dtype = rec_tensor_dtype(x->p->of[to]->tensor);
    const void *rounded = read_as(x, 0, !to, dtype), *own = rounded ? read_as(x, 1, to, dtype) : NULL;

    for (size_t i = 0; own && i < x->count; i++) {
        int64_t a, b;
        bool is_a = steps_of(dtype, rounded, i, &a), is_b = steps_of(dtype, own, i, &b);
        x->f->rounded[to] += is_a != is_b || (is_a && a != b);
    }
}

/* Places whose bits are not the same. */
static void compare_bits(piece *x, rec_dtype dtype)
{
    size_t width = rec_dtype_bits(dtype) / 8;
    const unsigned char *a = read_as(x, 0, SIDE_A, dtype), *b = a ? read_as(x, 1, SIDE_B, dtype) : NULL;
    uint64_t differing = 0;

    if (b && memcmp(a, b, x->count * width) != 0) {
        for (size_t i = 0; i < x->count; i++) {
            differing += memcmp(a + i * width, b + i * width, width) != 0;
        }
    }
    /* Different numbers have different bits as well. */
    x->f->beyond += differing - x->f->differing;
    x->f->differing = differing;
}

/* Compares the bytes of data without a number type. */
static void compare_bytes(piece *x)
{
    const rec_tensor *a = x->p->of[SIDE_A]->tensor, *b = x->p->of[SIDE_B]->tensor;
    uint64_t size_a, size_b;
    const unsigned char *in_a = rec_tensor_bytes(a, &size_a);
    const unsigned char *in_b = in_a || !size_a ? rec_tensor_bytes(b, &size_b) : NULL;

    x->f->count = rec_tensor_count(a);
    if ((!in_a && rec_tensor_nbytes(a)) || (!in_b && rec_tensor_nbytes(b))) {
        x->status = rec_error_status();
    } else {
        x->f->beyond = size_a != size_b || (size_a && memcmp(in_a, in_b, (size_t)size_a) != 0);
    }
}

static void compare_piece(piece *x)
{
    const wishes *w = x->w;
    const tolerance t = {w->bits ? 0 : w->atol, w->bits ? 0 : w->rtol, w->nan_differs && !w->bits};
    rec_dtype a = rec_tensor_dtype(x->p->of[SIDE_A]->tensor), b = rec_tensor_dtype(x->p->of[SIDE_B]->tensor);
    rec_dtype type_a = tool_exact_dtype(a), type_b = tool_exact_dtype(b);
    bool whole =
        (type_a == REC_DTYPE_I64 || type_a == REC_DTYPE_U64) && (type_b == REC_DTYPE_I64 || type_b == REC_DTYPE_U64);

    if (x->bytes) {
        compare_bytes(x);
        return;
    }
    if (type_a == REC_DTYPE_F64 && type_b == REC_DTYPE_F64) {
        bool wide = a == REC_DTYPE_F64 || b == REC_DTYPE_F64;
        compare_as(x, wide ? REC_DTYPE_F64 : REC_DTYPE_F32, &t);
        if (w->ulp > 0 && x->f->beyond) {
            compare_steps(x, narrower(a, b), &t, w->ulp);
        }
        for (int to = 0; x->p->dtype && to < SIDES; to++) {
            if (x->f->differing) {
                compare_rounded(x, to);
            }
        }
    } else if (whole && a != REC_DTYPE_U64 && b != REC_DTYPE_U64) {
        /* Steps between whole numbers are 1. */
        const tolerance steps = {t.atol > w->ulp ? t.atol : w->ulp, t.rtol, false};
        compare_as(x, REC_DTYPE_I64, &steps);
    } else if (type_a == REC_DTYPE_BOOL && type_b == REC_DTYPE_BOOL) {
        compare_bools(x, &t);
    } else {
        compare_mixed(x, type_a, type_b, &t);
    }
    if (w->bits && !x->p->dtype && x->status == REC_OK) {
        compare_bits(x, a);
    }
    for (int which = 0; which < SIDES; which++) {
        rec_tensor_release(x->p->of[which]->tensor, x->first, x->count);
    }
}

/* ------------------------------------------------------------------------------------------------------- pairs -- */

static bool same_shape(const rec_tensor *a, const rec_tensor *b)
{
    uint32_t rank = rec_tensor_rank(a);

    return rank == rec_tensor_rank(b) &&
           (rank == 0 || memcmp(rec_tensor_shape(a), rec_tensor_shape(b), rank * sizeof *rec_tensor_shape(a)) == 0);
}

static bool of_bytes(const pair *p)
{
    return tool_exact_dtype(rec_tensor_dtype(p->of[SIDE_A]->tensor)) == REC_DTYPE_NONE ||
           tool_exact_dtype(rec_tensor_dtype(p->of[SIDE_B]->tensor)) == REC_DTYPE_NONE;
}

/* Compares what the headers of a pair show. @return whether the data must be read. */
static bool look(const comparison *c, pair *p)
{
    const rec_tensor *a = p->of[SIDE_A]->tensor, *b = p->of[SIDE_B]->tensor;

    p->dtype =
        rec_tensor_dtype(a) != rec_tensor_dtype(b) || strcmp(rec_tensor_dtype_name(a), rec_tensor_dtype_name(b)) != 0;
    p->verdict = !same_shape(a, b)         ? PAIR_SHAPE
                 : of_bytes(p) && p->dtype ? PAIR_APART
                 : c->w->no_data           ? PAIR_UNREAD
                                           : PAIR_EQUAL;
    return p->verdict == PAIR_EQUAL;
}

/* The verdict, once all of a pair is read. */
static void judge(pair *p)
{
    const figures *f = p->figures;
    bool bytes = of_bytes(p);
    bool lossless = p->dtype && f->differing && (f->rounded[SIDE_A] == 0 || f->rounded[SIDE_B] == 0) &&
                    tool_exact_dtype(rec_tensor_dtype(p->of[SIDE_A]->tensor)) == REC_DTYPE_F64 &&
                    tool_exact_dtype(rec_tensor_dtype(p->of[SIDE_B]->tensor)) == REC_DTYPE_F64;

    p->verdict = bytes           ? f->beyond ? PAIR_DIFFERS : PAIR_EQUAL
                 : !f->differing ? PAIR_EQUAL
                 : !f->beyond    ? PAIR_WITHIN
                 : lossless      ? PAIR_ROUNDED
                                 : PAIR_DIFFERS;
    if (p->verdict == PAIR_EQUAL) {
        free(p->figures);
        p->figures = NULL;
    } else if (bytes) {
        *p->figures = (figures){.scale = 1, .count = f->count};
    }
    p->change = p->figures ? tool_diff_change(p->figures) : 0;
}

/* The squares of very large and of very small numbers leave the range of a double. @return a power of two that brings
 * them back, 1 if all is well. */
static double better_scale(const figures *f)
{
    static const double far = 0x1p600, least = 1e-200;
    double norm = f->aa > f->bb ? f->aa : f->bb;

    if (!__builtin_isfinite(f->dd) || !__builtin_isfinite(f->aa) || !__builtin_isfinite(f->bb) ||
        !__builtin_isfinite(f->ab)) {
        return 1 / far;
    }
    return f->differing && norm < least ? far : 1;
}

/* Chunks to compare, and their results. */
typedef struct works {
    session *s;
    comparison *c;
    piece *pieces;
    size_t count, elements;
    size_t count_most, elements_most;
    figures *made; /* of each piece */
    uint64_t *costs;
    desk *desks; /* as many as there are threads */
    size_t desk_count;
    uint64_t done, total; /* bytes of both sides */
} works;

static rec_status work(void *user, uint64_t index)
{
    works *k = user;
    piece *x = &k->pieces[index];
    desk *d = k->desks;

    /* There is one for each thread. */
    while (atomic_flag_test_and_set(&d->taken)) {
        d = d + 1 < k->desks + k->desk_count ? d + 1 : k->desks;
    }
    x->desk = d;
    x->status = REC_OK;
    *x->f = (figures){.scale = x->p->figures->scale};
    compare_piece(x);
    atomic_flag_clear(&d->taken);
    return x->status;
}

/* @return the bits of an element of both sides. */
static uint64_t bits_of(const pair *p)
{
    return rec_dtype_bits(rec_tensor_dtype(p->of[SIDE_A]->tensor)) +
           rec_dtype_bits(rec_tensor_dtype(p->of[SIDE_B]->tensor));
}

static uint64_t cost_of(const piece *x)
{
    const rec_tensor *a = x->p->of[SIDE_A]->tensor, *b = x->p->of[SIDE_B]->tensor;

    return COST + (x->bytes ? rec_tensor_nbytes(a) + rec_tensor_nbytes(b) : x->count * bits_of(x->p) / 8);
}

/* Does all pieces and adds them to the figures of their pairs. */
static int do_pieces(works *k)
{
    int status;

    for (size_t i = 0; i < k->count; i++) {
        k->costs[i] = cost_of(&k->pieces[i]);
    }
    status = tool_parallel_across(k->s, k->costs, k->count, work, k, k->made, sizeof *k->made);
    for (size_t i = 0; i < k->count && status == EXIT_OK; i++) {
        piece *x = &k->pieces[i];
        tool_diff_figures_add(x->p->figures, x->f);
        k->done += x->count * bits_of(x->p) / 8;
        /* Each chunk released its pages; the next chunk may have mapped the first pages again. */
        for (int which = 0; which < SIDES && x->count == PIECE && !x->bytes; which++) {
            rec_tensor_release(x->p->of[which]->tensor, x->first, x->count);
        }
    }
    k->count = k->elements = 0;
    (void)tool_progress_step("compare", k->done, k->total);
    return status;
}

/* Queues the chunks of a pair; processes the queue when it is full. */
static int add_pieces(works *k, pair *p, double scale)
{
    bool bytes = of_bytes(p);
    uint64_t count = bytes ? 1 : rec_tensor_count(p->of[SIDE_A]->tensor);
    int status = EXIT_OK;

    p->figures = xrealloc(p->figures, sizeof *p->figures);
    *p->figures = (figures){.scale = scale};
    for (uint64_t first = 0; first < count && status == EXIT_OK; first += PIECE) {
        size_t some = count - first < PIECE ? (size_t)(count - first) : PIECE;
        k->pieces[k->count] =
            (piece){.w = k->c->w, .p = p, .first = first, .count = some, .f = &k->made[k->count], .bytes = bytes};
        k->elements += some;
        k->count++;
        status = k->count == k->count_most || k->elements >= k->elements_most ? do_pieces(k) : EXIT_OK;
    }
    return status;
}

/* Ends pairs whose pieces are done. */
static int end_pairs(works *k, size_t from, size_t to)
{
    int status = EXIT_OK;

    for (size_t i = from; i < to && status == EXIT_OK; i++) {
        pair *p = &k->c->pairs[i];
        double scale;
        if (p->verdict != PAIR_EQUAL || !p->figures) {
            continue;
        }
        scale = better_scale(p->figures);
        if (scale != 1) {
            status = add_pieces(k, p, scale) == EXIT_OK ? do_pieces(k) : EXIT_ERROR;
        }
        judge(p);
    }
    return status;
}

static void begin(works *k)
{
    size_t times = k->s->shared->ranks;
    size_t elements = ELEMENTS_MOST * (size_t)(times > 1 && !k->c->w->hurry ? AT_ONCE : 1);

    k->count_most = PIECES_MOST * times;
    k->elements_most = times > SIZE_MAX / elements ? SIZE_MAX : elements * times;
    k->pieces = xmalloc(k->count_most * sizeof *k->pieces);
    k->made = xmalloc(k->count_most * sizeof *k->made);
    k->costs = xmalloc(k->count_most * sizeof *k->costs);
    memset(k->made, 0, k->count_most * sizeof *k->made); /* sent without conversion */
    for (size_t i = 0; i < k->c->pair_count; i++) {
        const pair *p = &k->c->pairs[i];
        k->total += rec_tensor_count(p->of[SIDE_A]->tensor) * bits_of(p) / 8;
    }
    k->desk_count = tool_threads(k->s);
    k->desks = xmalloc(k->desk_count * sizeof *k->desks);
    for (size_t i = 0; i < k->desk_count; i++) {
        k->desks[i] = (desk){.taken = ATOMIC_FLAG_INIT};
    }
}

static void end(works *k)
{
    for (size_t i = 0; i < k->desk_count; i++) {
        for (int slot = 0; slot < SLOTS; slot++) {
            free(k->desks[i].slots[slot]);
        }
    }
    free(k->desks);
    free(k->costs);
    free(k->made);
    free(k->pieces);
}

int tool_diff_tensors(session *s, comparison *c)
{
    works k = {.s = s, .c = c};
    size_t ended = 0;
    int status = EXIT_OK;

    begin(&k);
    for (size_t i = 0; i < c->pair_count && status == EXIT_OK; i++) {
        size_t before = k.count;
        if (look(c, &c->pairs[i])) {
            status = add_pieces(&k, &c->pairs[i], 1);
        }
        /* The pieces of earlier pairs are done as soon as some of this one are. */
        if (k.count < before && status == EXIT_OK) {
            status = end_pairs(&k, ended, i);
            ended = i;
            for (size_t n = 0; n < i && c->w->hurry; n++) {
                if (tool_diff_pair_counts(c, &c->pairs[n])) {
                    goto done;
                }
            }
        }
    }
    if (status == EXIT_OK && (status = do_pieces(&k)) == EXIT_OK) {
        status = end_pairs(&k, ended, c->pair_count);
    }
    if (status == EXIT_OK && !c->w->hurry && !c->w->no_data) {
        status = tool_diff_find_transposed(s, c);
    }

done:
    end(&k);
    return status;
}

/* -------------------------------------------------------------------------------------------------- for others -- */

static void take_found(diff_found *found, const pair *p)
{
    const figures *f = p->figures;

    found->known = p->verdict == PAIR_EQUAL || (f && f->differing);
    found->cosine = 1;
    if (found->known && f) {
        found->differing = f->differing;
        found->rounded = p->verdict == PAIR_ROUNDED;
        found->most = f->max_abs;
        found->at = f->max_abs > 0 ? f->max_abs_at : f->odd_at;
        found->change = p->change;
        found->cosine = tool_diff_cosine(f);
    }
}

int tool_diff_pairs(session *s, diff_found *const *found, size_t count)
{
    const wishes none = {0};
    comparison c = {.w = &none, .pairs = xmalloc(count * sizeof *c.pairs)};
    item *room = xmalloc(SIDES * count * sizeof *room);
    int status;

    for (size_t i = 0; i < count; i++) {
        item *of = room + SIDES * c.pair_count;
        of[SIDE_A] = (item){.tensor = found[i]->of[SIDE_A]};
        of[SIDE_B] = (item){.tensor = found[i]->of[SIDE_B]};
        if (of[SIDE_A].tensor && of[SIDE_B].tensor) {
            c.pairs[c.pair_count++] = (pair){.of = {&of[SIDE_A], &of[SIDE_B]}};
        }
    }
    status = tool_diff_tensors(s, &c);
    for (size_t i = 0, taken = 0; i < count; i++) {
        if (found[i]->of[SIDE_A] && found[i]->of[SIDE_B]) {
            take_found(found[i], &c.pairs[taken++]);
        }
    }
    tool_diff_free(&c);
    free(room);
    return status;
}
