/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Chains of operations against an interpreter: made whole, read in pieces, by many threads, with little memory,
 * and with none. */
#include "tests/test_op.h"

#include <pthread.h>

/* ----------------------------------------------------------------------------------------------- random chains -- */

enum { HELD_MOST = 64 };

typedef struct chain {
    world *w;
    uint64_t seed;
    lr_op *op;
    naive n;               /* what it should make */
    void *held[HELD_MOST]; /* memory that views lie in */
    size_t held_count;
} chain;

static uint64_t below(chain *c, uint64_t most)
{
    return next_random(&c->seed) % most;
}

static void take_over(chain *c, lr_op *op, naive next)
{
    assert_non_null(op);
    release(&c->op, op);
    free(c->n.data);
    c->n = next;
}

static lr_op *random_source(chain *c, const naive *n)
{
    uint8_t *copy = malloc((size_t)(n->count * width_of(n->dtype) + 1));
    naive lent = *n;
    assert_true(c->held_count < HELD_MOST);
    memcpy(copy, n->data, (size_t)(n->count * width_of(n->dtype)));
    lent.data = copy;
    c->held[c->held_count++] = copy;
    return source_op(c->w, &lent, (int)below(c, PLACES));
}

static void random_slice(chain *c)
{
    uint32_t axis = (uint32_t)below(c, c->n.rank);
    uint64_t indices[4096], used = 0, length = c->n.shape[axis], spans = below(c, 12);
    bool one = length && below(c, 4) == 0; /* a single run may be at hand */
    lr_span span[12];
    spans = one ? 1 : spans;
    for (uint64_t i = 0; i < spans; i++) {
        uint64_t begin = below(c, length + 1), most = length - begin;
        span[i] = (lr_span){begin, most ? below(c, most + 1) : 0};
        if (span[i].count > 1 && !one && below(c, 3) == 0) {
            span[i].count = 1;
        }
        if (used + span[i].count > (one ? 4096 : 300)) {
            span[i].count = 0;
        }
        for (uint64_t k = 0; k < span[i].count; k++) {
            indices[used++] = begin + k;
        }
    }
    take_over(c, lr_op_slice(&c->w->job, c->op, axis, span, spans), naive_take(&c->n, axis, indices, used));
}

static void random_join(chain *c)
{
    uint32_t axis = (uint32_t)below(c, c->n.rank);
    uint64_t count = 1 + below(c, 3), mine = below(c, count);
    naive parts[3];
    lr_op *ops[3];
    for (uint64_t i = 0; i < count; i++) {
        uint64_t shape[8];
        if (i == mine) {
            parts[i] = c->n;
            ops[i] = lr_op_retain(c->op);
            continue;
        }
        memcpy(shape, c->n.shape, sizeof shape);
        shape[axis] = below(c, 9);
        parts[i] = naive_random(&c->seed, c->n.dtype, c->n.rank, shape);
        ops[i] = random_source(c, &parts[i]);
    }
    take_over(c, lr_op_join(&c->w->job, ops, count, axis), naive_join(parts, count, axis));
    for (uint64_t i = 0; i < count; i++) {
        lr_op_release(ops[i]);
        if (i != mine) {
            free(parts[i].data);
        }
    }
}

static void random_stack(chain *c)
{
    uint64_t count = 1 + below(c, 3), shape[8] = {count}, size = c->n.count * width_of(c->n.dtype);
    lr_op *ops[3];
    naive out;
    memcpy(shape + 1, c->n.shape, c->n.rank * sizeof *shape);
    out = naive_new(c->n.dtype, c->n.rank + 1, shape);
    for (uint64_t i = 0; i < count; i++) {
        naive part = i ? naive_random(&c->seed, c->n.dtype, c->n.rank, c->n.shape) : c->n;
        memcpy(out.data + i * size, part.data, (size_t)size);
        ops[i] = i ? random_source(c, &part) : lr_op_retain(c->op);
        if (i) {
            free(part.data);
        }
    }
    take_over(c, lr_op_stack(&c->w->job, ops, count), out);
    for (uint64_t i = 0; i < count; i++) {
        lr_op_release(ops[i]);
    }
}

static void random_reshape(chain *c)
{
    uint64_t shape[8];
    uint32_t rank = 0;
    const naive *n = &c->n;
    if (n->rank >= 2 && below(c, 2)) { /* two axes to one */
        uint32_t at = (uint32_t)below(c, n->rank - 1);
        for (uint32_t i = 0; i < n->rank; i++) {
            if (i == at + 1) {
                shape[rank - 1] *= n->shape[i];
            } else {
                shape[rank++] = n->shape[i];
            }
        }
    } else { /* one to two */
        for (uint32_t i = 0; i < n->rank; i++) {
            uint64_t by = 2 + below(c, 3);
            if (rank == i && n->shape[i] % by == 0 && n->rank < 5) {
                shape[rank++] = n->shape[i] / by;
                shape[rank++] = by;
            } else {
                shape[rank++] = n->shape[i];
            }
        }
    }
    release(&c->op, lr_op_reshape(&c->w->job, c->op, shape, rank));
    assert_non_null(c->op);
    c->n.rank = rank;
    memcpy(c->n.shape, shape, rank * sizeof *shape);
}

/* Element by element, by the definition. */
static naive naive_permute(const naive *n, const uint32_t *order)
{
    uint64_t shape[8], index[8] = {0}, width = width_of(n->dtype), strides[8];
    naive out;
    for (uint32_t i = n->rank; i-- > 0;) {
        strides[i] = i + 1 < n->rank ? strides[i + 1] * n->shape[i + 1] : 1;
        shape[i] = n->shape[order[i]];
    }
    out = naive_new(n->dtype, n->rank, shape);
    for (uint64_t at = 0; at < n->count; at++) {
        uint64_t from = 0;
        for (uint32_t i = 0; i < n->rank; i++) {
            from += index[i] * strides[order[i]];
        }
        memcpy(out.data + at * width, n->data + from * width, (size_t)width);
        for (uint32_t i = n->rank; i-- > 0 && ++index[i] == shape[i];) {
            index[i] = 0;
        }
    }
    return out;
}

static void random_permute(chain *c)
{
    uint32_t order[8];
    for (uint32_t i = 0; i < c->n.rank; i++) {
        uint32_t k = (uint32_t)below(c, i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    take_over(c, lr_op_permute(&c->w->job, c->op, order, c->n.rank), naive_permute(&c->n, order));
}

static void random_add(chain *c)
{
    for (uint64_t i = 0; i < c->n.count; i++) {
        double wide;
        float narrow;
        if (c->n.dtype == REC_DTYPE_F64) {
            memcpy(&wide, c->n.data + i * 8, 8);
            wide = 1 + *(double *)little(&wide, 8, 1);
            memcpy(c->n.data + i * 8, little(&wide, 8, 1), 8);
        } else {
            memcpy(&narrow, c->n.data + i * 4, 4);
            narrow = 1 + *(float *)little(&narrow, 4, 1);
            memcpy(c->n.data + i * 4, little(&narrow, 4, 1), 4);
        }
    }
    release(&c->op, lr_op_add(&c->w->job, c->op, 1));
    assert_non_null(c->op);
}

static void random_step(chain *c)
{
    switch (below(c, 10)) {
    case 8:
    case 9:
        random_permute(c);
        break;
    case 0:
    case 1:
        if (c->n.rank == 2) {
            take_over(c, lr_op_transpose(&c->w->job, c->op), naive_transpose(&c->n));
        }
        break;
    case 2:
    case 3:
        random_slice(c);
        break;
    case 4:
        random_join(c);
        break;
    case 5:
        if (c->n.rank < 4 && c->n.count < 10000) {
            random_stack(c);
        }
        break;
    case 6:
        random_reshape(c);
        break;
    default:
        if (c->n.dtype == REC_DTYPE_F32 || c->n.dtype == REC_DTYPE_F64) {
            random_add(c);
        }
        break;
    }
}

static void random_chain(world *w, uint64_t seed, uint64_t largest)
{
    static const rec_dtype dtypes[] = {REC_DTYPE_U8, REC_DTYPE_F16, REC_DTYPE_F32, REC_DTYPE_F64, REC_DTYPE_I16};
    chain c = {.w = w, .seed = seed};
    uint64_t shape[3], steps;
    for (int i = 0; i < 10; i++) {
        (void)next_random(&c.seed);
    }
    shape[0] = below(&c, largest);
    shape[1] = below(&c, largest);
    shape[2] = 1 + below(&c, 5);
    steps = below(&c, 8);
    c.n = naive_random(&c.seed, dtypes[below(&c, 5)], 1 + (uint32_t)below(&c, 3), shape);
    c.op = random_source(&c, &c.n);
    while (steps--) {
        random_step(&c);
    }
    check_made(w, c.op, &c.n);
    check_pieces(w, c.op, &c.n, &c.seed);
    check_made(w, c.op, &c.n);
    lr_op_release(c.op);
    free(c.n.data);
    for (size_t i = 0; i < c.held_count; i++) {
        free(c.held[i]);
    }
}

static void chains_equal_an_interpreter(void **state)
{
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        random_chain(*state, seed * UINT64_C(0x9E3779B97F4A7C15), seed % 50 ? 40 : 200);
    }
}

/* ----------------------------------------------------------------------------------------------------- threads -- */

enum { THREADS = 6 };

typedef struct reader {
    pthread_t thread;
    world *w;
    lr_op *op;
    const naive *n;
    uint64_t seed;
    bool equal;
} reader;

static void *read_over_and_over(void *argument)
{
    reader *r = argument;
    uint64_t size = r->n->count * width_of(r->n->dtype);
    uint8_t *made = malloc((size_t)size);
    rec_job job;
    lr_job_begin(&job, &r->w->context, "read", NULL);
    r->equal = true;
    for (int round = 0; round < 6 && r->equal; round++) {
        uint64_t most = 1 + next_random(&r->seed) % (round % 2 ? size : 5000);
        memset(made, 0, (size_t)size);
        for (uint64_t at = 0; at < size;) {
            uint64_t piece = most < size - at ? most : size - at;
            (void)lr_op_read(&job, r->op, at, made + at, piece);
            at += piece;
        }
        r->equal = memcmp(made, r->n->data, (size_t)size) == 0;
    }
    (void)lr_job_end(&job);
    free(made);
    return NULL;
}

static void many_threads_may_read_one_node(void **state)
{
    world *w = *state;
    uint64_t seed = 11;
    naive n = naive_random(&seed, REC_DTYPE_F32, 2, SHAPE(90, 120)), one, two, joined;
    lr_op *in = source_op(w, &n, IN_FILE), *turned = lr_op_transpose(&w->job, in), *sum = lr_op_add(&w->job, turned, 1);
    lr_op *cut = lr_op_slice(&w->job, sum, 1, (lr_span[]){{40, 50}, {0, 30}}, 2), *pair[2] = {cut, sum};
    lr_op *op = lr_op_join(&w->job, pair, 2, 1);
    reader readers[THREADS];
    uint64_t indices[80];
    w->context.progress = NULL;
    for (uint64_t i = 0; i < 80; i++) {
        indices[i] = i < 50 ? 40 + i : i - 50;
    }
    one = naive_transpose(&n);
    little(one.data, 4, (size_t)one.count);
    for (uint64_t i = 0; i < one.count; i++) {
        ((float *)(void *)one.data)[i] += 1;
    }
    little(one.data, 4, (size_t)one.count);
    two = naive_take(&one, 1, indices, 80);
    joined = naive_join((naive[]){two, one}, 2, 1);
    check_made(w, op, &joined);
    for (int i = 0; i < THREADS; i++) {
        readers[i] = (reader){.w = w, .op = i % 2 ? op : sum, .n = i % 2 ? &joined : &one, .seed = 77u + (uint64_t)i};
        assert_int_equal(pthread_create(&readers[i].thread, NULL, read_over_and_over, &readers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(readers[i].thread, NULL), 0);
        assert_true(readers[i].equal);
    }
    for (size_t i = 0; i < 5; i++) {
        lr_op_release((lr_op *[]){in, turned, sum, cut, op}[i]);
    }
    free(n.data);
    free(one.data);
    free(two.data);
    free(joined.data);
}

/* ------------------------------------------------------------------------------------------------------ memory -- */

/* An allocator that knows how much is in use. */
typedef struct meter {
    uint64_t now, peak;
} meter;

static void *metered_alloc(void *user, size_t size)
{
    meter *m = user;
    uint64_t *block = malloc(size + 16);
    if (block) {
        block[0] = size;
        m->now += size;
        m->peak = m->now > m->peak ? m->now : m->peak;
    }
    return block ? block + 2 : NULL;
}

static void metered_release(void *user, void *memory)
{
    uint64_t *block = (uint64_t *)memory - 2;
    ((meter *)user)->now -= block[0];
    free(block);
}

static void *metered_resize(void *user, void *old, size_t size)
{
    void *next = metered_alloc(user, size);
    if (next) {
        uint64_t had = ((uint64_t *)old)[-2];
        memcpy(next, old, (size_t)(had < size ? had : size));
        metered_release(user, old);
    }
    return next;
}

enum { ROWS = 1024, COLUMNS = 768, MATRIX = ROWS * COLUMNS * 4, PIECE = 10000 };

/* Reads all in pieces. @return the most that was in use meanwhile, beyond what was before. */
static uint64_t peak_of(world *w, meter *m, lr_op *op)
{
    uint64_t size = lr_op_nbytes(op), before = m->now;
    uint8_t piece[PIECE];
    m->peak = m->now;
    for (uint64_t at = 0; at < size;) {
        uint64_t n = size - at < PIECE ? size - at : PIECE;
        assert_int_equal(lr_op_read(&w->job, op, at, piece, n), REC_OK);
        at += n;
    }
    assert_int_equal(m->now, before); /* nothing is kept after the last byte */
    return m->peak - before;
}

static void reading_in_pieces_keeps_little(void **state)
{
    world *w = *state;
    meter m = {0};
    uint64_t seed = 4;
    naive n = naive_random(&seed, REC_DTYPE_F32, 2, SHAPE(ROWS, COLUMNS));
    lr_op *view, *file, *op, *other, *pair[2];
    w->context.allocator =
        (lr_allocator){.alloc = metered_alloc, .resize = metered_resize, .release = metered_release, .user = &m};
    begin_job(w);
    view = source_op(w, &n, IN_VIEW);
    file = source_op(w, &n, IN_FILE);

    op = lr_op_slice(&w->job, file, 0, (lr_span[]){{500, 100}, {0, 200}}, 2);
    assert_int_equal(peak_of(w, &m, op), 0); /* read from where it is to where it is wanted */
    release(&op, lr_op_transpose(&w->job, view));
    assert_true(peak_of(w, &m, op) <= 512 * 1024); /* a few rows */
    other = lr_op_slice(&w->job, view, 0, (lr_span[]){{100, 300}}, 1);
    release(&op, lr_op_transpose(&w->job, other));
    assert_true(peak_of(w, &m, op) <= 512 * 1024); /* a slice of what is at hand is at hand */
    release(&other, lr_op_slice(&w->job, view, 1, (lr_span[]){{100, 300}}, 1));
    release(&op, lr_op_transpose(&w->job, other));
    assert_true(peak_of(w, &m, op) <= 512 * 1024);
    release(&op, lr_op_slice(&w->job, file, 1, (lr_span[]){{5, 6}, {0, 1}, {70, 3}}, 3));
    assert_true(peak_of(w, &m, op) <= 512 * 1024);
    release(&op, lr_op_transpose(&w->job, file));
    assert_true(peak_of(w, &m, op) <= MATRIX + 512 * 1024); /* once, and a few rows */
    pair[0] = op;
    pair[1] = other = (lr_op_release(other), lr_op_transpose(&w->job, file));
    release(&op, lr_op_join(&w->job, pair, 2, 0));
    assert_true(peak_of(w, &m, op) <= MATRIX + 512 * 1024); /* one after the other */
    release(&op, lr_op_add(&w->job, op, 2));
    assert_true(peak_of(w, &m, op) <= MATRIX + 512 * 1024);
    release(&op, lr_op_cast(&w->job, op, REC_DTYPE_BF16));
    assert_true(peak_of(w, &m, op) <= MATRIX + 1024 * 1024);
    lr_op_release(op);
    lr_op_release(other);
    lr_op_release(view);
    lr_op_release(file);
    assert_int_equal(m.now, 0);
    free(n.data);
}

/* Everything at once, so that each allocation has its turn to fail. @return whether all went well. */
static bool make_all(world *w, const naive *g, rec_record *to, rec_source *file)
{
    rec_record *record = lr_record_new(&w->context);
    lr_op *ops[11] = {0}, *pair[2];
    uint8_t piece[999];
    rec_value words;
    lr_data *data = NULL;
    rec_tensor *tensor = NULL;
    bool well = false;
    if (!record) {
        (void)lr_fail_memory(&w->job, 1);
        return false;
    }
    data = lr_data_lent(record, file, NULL, 30 * 20 * 4, 0);
    if (!data || !lr_string(&record->arena, "X", 1, &words)) {
        (void)lr_fail_memory(&w->job, 1);
        goto done;
    }
    tensor = lr_arena_alloc(&record->arena, sizeof *tensor, 8);
    if (!tensor) {
        (void)lr_fail_memory(&w->job, 1);
        goto done;
    }
    *tensor = (rec_tensor){.record = record,
                           .data = data,
                           .shape = SHAPE(30, 20),
                           .count = 600,
                           .rank = 2,
                           .packed = REC_DTYPE_F32,
                           .stored = REC_DTYPE_F32,
                           .dtype = REC_DTYPE_F32,
                           .encoding = &(lr_encoding){.words = &words}};
    ops[0] = lr_op_tensor(&w->job, tensor);
    tensor->data = &(lr_data){.data = g->data, .size = 20 * 4, .offset = REC_UNKNOWN};
    tensor->shape = SHAPE(1, 20);
    tensor->count = 20;
    ops[1] = lr_op_tensor(&w->job, tensor);
    ops[2] = ops[0] && ops[1] ? lr_op_weight_norm(&w->job, ops[1], ops[0]) : NULL;
    ops[3] = ops[2] ? lr_op_rope(&w->job, ops[2], 3, 0, false) : NULL;
    ops[4] = ops[3] ? lr_op_transpose(&w->job, ops[3]) : NULL;
    ops[5] = ops[4] ? lr_op_slice(&w->job, ops[4], 1, (lr_span[]){{3, 4}, {20, 9}}, 2) : NULL;
    pair[0] = pair[1] = ops[5];
    ops[6] = ops[5] ? lr_op_join(&w->job, pair, 2, 1) : NULL;
    pair[0] = pair[1] = ops[6];
    ops[7] = ops[6] ? lr_op_stack(&w->job, pair, 2) : NULL;
    ops[8] = ops[7] ? lr_op_add(&w->job, ops[7], 1) : NULL;
    ops[9] = ops[8] ? lr_op_cast(&w->job, ops[8], REC_DTYPE_F64) : NULL;
    data = ops[9] ? lr_op_data(&w->job, to, ops[9]) : NULL;
    well = data != NULL;
    for (uint64_t at = 0; well && at < data->size;) {
        uint64_t n = data->size - at < sizeof piece ? data->size - at : sizeof piece;
        well = rec_source_read_at(&w->job, data->source, at, piece, n) == REC_OK;
        at += n;
    }
    if (well) {
        const void *view;
        uint64_t size;
        well = rec_source_view(&w->job, data->source, &view, &size) == REC_OK;
    }
done:
    for (size_t i = 0; i < 11; i++) {
        lr_op_release(ops[i]);
    }
    rec_record_free(record);
    return well;
}

static void each_allocation_may_fail(void **state)
{
    world *w = *state;
    uint64_t seed = 6;
    naive v = naive_random(&seed, REC_DTYPE_F32, 2, SHAPE(30, 20)),
          g = naive_random(&seed, REC_DTYPE_F32, 1, SHAPE(20));
    rec_source *file;
    bool well = false;
    int64_t most = 0;
    write_file("v", v.data, 30 * 20 * 4);
    file = lr_source_open(&w->job, "v", false);
    use_counted_allocator(w);
    for (int64_t n = 0; !well; n++) {
        rec_record *to;
        w->fail_at = -1;
        to = lr_record_new(&w->context);
        w->made = 0;
        w->fail_at = n;
        well = make_all(w, &g, to, file);
        w->fail_at = -1;
        rec_record_free(to);
        if (!well) {
            assert_failed(w, REC_E_MEMORY, "memory");
        }
        assert_int_equal(w->live, 0);
        most = n;
    }
    assert_true(most > 25);
    w->context.allocator = lr_standard_allocator;
    rec_source_release(file);
    free(v.data);
    free(g.data);
}

/* What is larger than what is kept of it: by rows whose columns are long enough to be read by themselves, and by whole
 * rows. */
static void large_files_are_turned_in_panels(void **state)
{
    static const struct {
        uint64_t rows, columns, kept; /* MiB at most, beside what malloc keeps */
    } cases[] = {{5000, 3600, 66}, {24000, 750, 66}, {9000001, 2, 72}};
    world *w = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        meter m = {0};
        uint64_t rows = cases[i].rows, columns = cases[i].columns, peak = 0, size = rows * columns * 4, at = 0;
        uint8_t *piece = malloc(4 << 20);
        naive n = naive_new(REC_DTYPE_F32, 2, SHAPE(rows, columns));
        lr_op *file, *op;
        for (uint64_t k = 0; k < rows * columns; k++) {
            uint32_t number = (uint32_t)k;
            little(&number, 4, 1);
            memcpy(n.data + k * 4, &number, 4);
        }
        w->context.allocator =
            (lr_allocator){.alloc = metered_alloc, .resize = metered_resize, .release = metered_release, .user = &m};
        begin_job(w);
        file = source_op(w, &n, IN_FILE);
        op = lr_op_transpose(&w->job, file);
        m.peak = m.now;
        peak = m.now;
        at = i ? 0 : 40000; /* a part of it, which begins within a row */
        while (at < size) {
            uint64_t some = size - at < (4 << 20) ? size - at : (4 << 20) - 12;
            assert_int_equal(lr_op_read(&w->job, op, at, piece, some), REC_OK);
            for (uint64_t k = 0; k < some / 4; k += 1 + k % 7) {
                uint64_t element = at / 4 + k, from = element % rows * columns + element / rows;
                uint32_t number;
                memcpy(&number, piece + k * 4, 4);
                little(&number, 4, 1);
                if (number != (uint32_t)from) {
                    fail_msg("%llu x %llu: element %llu is that at %llu", (unsigned long long)rows,
                             (unsigned long long)columns, (unsigned long long)element, (unsigned long long)number);
                }
            }
            at += some;
        }
        peak = m.peak - peak;
        if (peak > cases[i].kept << 20) {
            fail_msg("%llu x %llu: %llu bytes were in use", (unsigned long long)rows, (unsigned long long)columns,
                     (unsigned long long)peak);
        }
        lr_op_release(op);
        lr_op_release(file);
        free(n.data);
        free(piece);
    }
    w->context.allocator = lr_standard_allocator;
}

static void panels_may_lack_memory(void **state)
{
    world *w = *state;
    naive n = naive_new(REC_DTYPE_U8, 2, SHAPE(70000, 1000));
    lr_op *file, *op;
    uint8_t byte = 0;
    bool well = false;
    int failures = 0;
    memset(n.data, 7, 70000 * 1000);
    use_counted_allocator(w);
    file = source_op(w, &n, IN_FILE);
    op = lr_op_transpose(&w->job, file);
    for (int64_t at = 0; !well; at++) {
        w->made = 0;
        w->fail_at = at;
        well = lr_op_read(&w->job, op, 123456, &byte, 1) == REC_OK;
        w->fail_at = -1;
        if (!well) {
            assert_failed(w, REC_E_MEMORY, "memory");
            failures++;
        }
    }
    assert_int_equal(byte, 7);
    assert_true(failures >= 2);
    lr_op_release(op);
    lr_op_release(file);
    w->context.allocator = lr_standard_allocator;
    free(n.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(chains_equal_an_interpreter),    TEST(many_threads_may_read_one_node),
        TEST(reading_in_pieces_keeps_little), TEST(large_files_are_turned_in_panels),
        TEST(panels_may_lack_memory),         TEST(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("reading operations", tests, NULL, NULL);
}
