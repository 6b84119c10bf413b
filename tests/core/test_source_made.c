/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sources of rec_source_make() and rec_source_part(), what is beside them, heads and tails, and sinks that are patched.
 */
#include "tests/test_io.h"
#include "tests/custom_sink.h"

#include <pthread.h>

#define MIB ((size_t)1 << 20)

/* Bytes that a plugin gives, and what it does wrong. */
struct giver {
    const uint8_t *data;
    uint64_t size;
    uint64_t at;   /* of read */
    uint64_t most; /* bytes that one read gives, 0: all that fits */
    int calls;
    int released;
    int fail_at;     /* the call that fails, -1: none */
    int how;         /* MUTE, TOLD, GREEDY, SELF */
    rec_source *own; /* SELF: asks for this */
    _Atomic int inside;
    int worst; /* threads that were inside at once */
    uint64_t largest;
};
enum { MUTE = 1, TOLD, GREEDY, SELF, SELF_VIEW };

static int32_t fault(struct giver *g, rec_job *job, uint64_t room, uint64_t *got)
{
    const void *data;
    uint64_t size;
    uint8_t byte;
    if (g->calls++ != g->fail_at) {
        return -1;
    }
    switch (g->how) {
    case MUTE:
        return 77;
    case TOLD:
        return rec_fail(job, REC_E_IO, 5, "the line is down");
    case SELF:
        return rec_source_read_at(job, g->own, 0, &byte, 1);
    case SELF_VIEW:
        return rec_source_view(job, g->own, &data, &size);
    default:
        *got = room + 1;
        return REC_OK;
    }
}

static int32_t give(void *self, rec_job *job, void *target, uint64_t room, uint64_t *got)
{
    struct giver *g = self;
    uint64_t left = g->size - g->at;
    int32_t status = fault(g, job, room, got);
    if (status != -1) {
        return status;
    }
    *got = left < room ? left : room;
    if (g->most && *got > g->most) {
        *got = g->most;
    }
    memcpy(target, g->data + g->at, (size_t)*got);
    g->at += *got;
    return REC_OK;
}

static int32_t begin_again(void *self, rec_job *job)
{
    (void)job;
    ((struct giver *)self)->at = 0;
    return REC_OK;
}

static int32_t give_at(void *self, rec_job *job, uint64_t offset, void *target, uint64_t size)
{
    struct giver *g = self;
    uint64_t unused;
    int32_t status;
    int inside = atomic_fetch_add(&g->inside, 1) + 1;
    g->worst = inside > g->worst ? inside : g->worst;
    g->largest = size > g->largest ? size : g->largest;
    assert_true(size > 0 && offset <= g->size && size <= g->size - offset);
    status = fault(g, job, size, &unused);
    if (status == -1) {
        memcpy(target, g->data + offset, (size_t)size);
        status = REC_OK;
    }
    (void)atomic_fetch_sub(&g->inside, 1);
    return status;
}

static uint64_t total_of(void *self)
{
    return ((struct giver *)self)->size;
}

static uint64_t total_unknown(void *self)
{
    (void)self;
    return REC_UNKNOWN;
}

static uint64_t total_more(void *self)
{
    return ((struct giver *)self)->size + 1;
}

static uint64_t total_less(void *self)
{
    return ((struct giver *)self)->size - 1;
}

static void let_go(void *self)
{
    ((struct giver *)self)->released++;
}

static struct giver beside_it; /* what is beside every source of these tests, as "beside" */

static int32_t open_beside(void *self, rec_job *job, const char *name, int32_t optional, rec_source **out);

static const rec_source_ops anywhere = {
    .size = sizeof anywhere, .release = let_go, .read_at = give_at, .total = total_of, .beside = open_beside};
static const rec_source_ops stream = {
    .size = sizeof stream, .read = give, .release = let_go, .read_at = give_at, .total = total_unknown};

static int32_t open_beside(void *self, rec_job *job, const char *name, int32_t optional, rec_source **out)
{
    (void)self;
    if (strcmp(name, "beside") == 0) {
        return rec_source_make(job, "far/beside", &anywhere, &beside_it, out);
    }
    if (strcmp(name, "silent") == 0 || optional) {
        return REC_OK;
    }
    return rec_fail(job, REC_E_NOT_FOUND, REC_UNKNOWN, "nobody knows %s", name);
}

static struct giver giver_of(const uint8_t *data, uint64_t size)
{
    return (struct giver){.data = data, .size = size, .fail_at = -1};
}

static rec_source *make(world *w, const rec_source_ops *ops, struct giver *g)
{
    rec_source *source = NULL;
    assert_int_equal(rec_source_make(&w->job, "far/model", ops, g, &source), REC_OK);
    assert_non_null(source);
    return source;
}

/* ----------------------------------------------------------------------------------------------------- reading -- */

static void a_source_with_places_is_read_where_it_is_asked(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(10 * MIB + 3), piece[1000];
    struct giver g = giver_of(data, 10 * MIB + 3);
    rec_source *source = make(w, &anywhere, &g);
    assert_int_equal(g.calls, 0); /* nobody has asked for a byte yet */
    assert_int_equal(rec_source_size(source), g.size);
    assert_int_equal(rec_source_read_at(&w->job, source, 7 * MIB, piece, sizeof piece), REC_OK);
    assert_memory_equal(piece, data + 7 * MIB, sizeof piece);
    assert_int_equal(g.calls, 1);
    assert_int_equal(g.largest, sizeof piece);
    assert_reads(w, source, data, (size_t)g.size, 999983);
    assert_int_equal(rec_source_rewind(&w->job, source), REC_OK);
    assert_reads(w, source, data, (size_t)g.size, 12 * MIB);
    assert_true(g.largest <= 4 * MIB); /* pieces that can be cancelled */
    assert_view(w, source, data, (size_t)g.size);
    assert_int_equal(g.released, 0);
    rec_source_release(source);
    assert_int_equal(g.released, 1);
    assert_int_equal(end_job(w), REC_OK);
    free(data);
}

static void a_stream_is_read_to_its_end_at_once(void **state)
{
    world *w = *state;
    static const size_t sizes[] = {0, 1, MIB, 3 * MIB + 17, 70 * MIB + 5}; /* the last goes to a temporary file */
    uint8_t *data = make_pattern(70 * MIB + 5);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct giver g = giver_of(data, sizes[i]);
        rec_source *source;
        g.most = i % 2 ? 65521 : 0;
        source = make(w, &stream, &g);
        assert_int_equal(g.at, g.size);
        assert_view(w, source, data, sizes[i]);
        assert_reads(w, source, data, sizes[i], 4096);
        rec_source_release(source);
        assert_int_equal(g.released, 1);
    }
    assert_int_equal(end_job(w), REC_OK);
    free(data);
}

static int nothings;

static void let_nothing_go(void *self)
{
    assert_null(self);
    nothings++;
}

static int32_t give_nothing(void *self, rec_job *job, void *target, uint64_t room, uint64_t *got)
{
    (void)self, (void)job, (void)target, (void)room;
    *got = 0;
    return REC_OK;
}

static int32_t pass_on(void *self, rec_sink *target, const void *data, uint64_t size)
{
    (void)self;
    return rec_sink_write(target, data, size);
}

/* NULL is a `self` as well; and it is taken whatever else is missing. */
static void nothing_is_released_once_too(void **state)
{
    static const rec_source_ops ops = {
        .size = sizeof ops, .read = give_nothing, .rewind = begin_again, .release = let_nothing_go};
    static const rec_sink_ops sink_ops = {.size = sizeof sink_ops, .write = pass_on, .release = let_nothing_go};
    world *w = *state;
    rec_source *parent = lr_source_memory(&w->job, "", 0, "packed"), *source = NULL;
    rec_sink *target = lr_sink_memory(&w->job), *sink;
    const void *view;
    uint64_t size;
    nothings = 0;
    assert_int_equal(rec_source_filter(&w->job, parent, &ops, NULL, &source), REC_OK);
    assert_int_equal(nothings, 0);
    assert_int_equal(rec_source_view(&w->job, source, &view, &size), REC_OK); /* it is not needed any more */
    rec_source_release(source);
    assert_int_equal(nothings, 1);
    assert_int_equal(rec_source_make(&w->job, "far", &ops, NULL, &source), REC_OK);
    rec_source_release(source);
    assert_int_equal(nothings, 2);
    sink = rec_sink_filter(&w->job, target, &sink_ops, NULL);
    assert_non_null(sink);
    assert_int_equal(rec_sink_close(sink), REC_OK);
    assert_int_equal(nothings, 3);
    assert_null(rec_sink_filter(NULL, target, &sink_ops, NULL));
    assert_int_equal(nothings, 4);
    assert_int_equal(rec_source_filter(NULL, parent, &ops, NULL, &source), REC_E_PLUGIN);
    assert_int_equal(rec_source_make(NULL, "far", &ops, NULL, &source), REC_E_PLUGIN);
    assert_int_equal(nothings, 6);
    assert_int_equal(rec_source_filter(&w->job, NULL, &ops, NULL, &source), REC_E_PLUGIN);
    assert_failed(w, REC_E_PLUGIN, "with NULL as `parent`");
    assert_int_equal(rec_source_make(&w->job, NULL, &ops, NULL, &source), REC_E_PLUGIN);
    assert_failed(w, REC_E_PLUGIN, "with NULL as `name`");
    assert_int_equal(nothings, 8);
    (void)lr_sink_commit(target);
    rec_source_release(parent);
}

static void what_cannot_be_a_source_is_refused_and_released_once(void **state)
{
    world *w = *state;
    const uint8_t data[4] = "abc";
    const struct {
        rec_source_ops ops;
        rec_status status;
        const char *words;
        int released;
    } cases[] = {
        {{.size = 0, .read = give, .release = let_go},
         REC_E_PLUGIN,
         "gave the size of the functions of a source as",
         0},
        {{.size = 100000, .read = give, .release = let_go},
         REC_E_PLUGIN,
         "gave the size of the functions of a source as",
         0},
        {{.size = sizeof(rec_source_ops), .release = let_go}, REC_E_PLUGIN, "made a source without `read`", 1},
        {{.size = sizeof(rec_source_ops), .release = let_go, .read_at = give_at},
         REC_E_PLUGIN,
         "made a source without `read`",
         1},
        {{.size = sizeof(rec_source_ops), .release = let_go, .read_at = give_at, .total = total_unknown},
         REC_E_PLUGIN,
         "made a source without `read`",
         1},
        {{.size = offsetof(rec_source_ops, read_at), .release = let_go, .read_at = give_at, .total = total_of},
         REC_E_PLUGIN,
         "made a source without `read`",
         1}, /* an older one has no places: what lies there is not looked at */
        {{.size = sizeof(rec_source_ops), .read = give, .release = let_go, .total = total_more},
         REC_E_IO,
         "expected 5 bytes, found the end after 4",
         1},
        {{.size = sizeof(rec_source_ops), .read = give, .release = let_go, .total = total_less},
         REC_E_IO,
         "expected 3 bytes, found more",
         1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct giver g = giver_of(data, sizeof data);
        rec_source *source = (rec_source *)&g;
        assert_int_equal(rec_source_make(&w->job, "far/model", &cases[i].ops, &g, &source), cases[i].status);
        assert_null(source);
        assert_int_equal(g.released, cases[i].released);
        assert_failed(w, cases[i].status, cases[i].words);
    }
    {
        rec_source *source = NULL;
        assert_int_equal(rec_source_make(&w->job, "far/model", NULL, NULL, &source), REC_E_PLUGIN);
        assert_null(source);
        assert_failed(w, REC_E_PLUGIN, "called rec_source_make() with NULL as `ops`");
    }
}

static void failures_of_its_functions_name_it_and_leave_nothing(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(6 * MIB), byte;
    static const struct {
        int how;
        rec_status status;
        const char *words;
    } cases[] = {{MUTE, REC_E_PLUGIN, "failed with status 77 and gave no reason"},
                 {TOLD, REC_E_IO, "far/model: byte 5: the line is down"},
                 {GREEDY, REC_E_PLUGIN, "gave more than there was room for"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int call = 0; call < 3; call++) {
            struct giver g = giver_of(data, 6 * MIB);
            rec_source *source = NULL;
            g.fail_at = call;
            g.how = cases[i].how;
            assert_int_equal(rec_source_make(&w->job, "far/model", &stream, &g, &source), cases[i].status);
            assert_null(source);
            assert_int_equal(g.released, 1);
            assert_failed(w, cases[i].status, cases[i].words);
            assert_string_equal(rec_error_file(), "far/model");
        }
    }
    for (size_t i = 0; i < 2; i++) { /* by places: a failure is remembered, and nothing is asked for again */
        struct giver g = giver_of(data, 6 * MIB);
        rec_source *source = make(w, &anywhere, &g);
        const void *view;
        uint64_t size;
        int calls;
        g.fail_at = 1;
        g.how = cases[i].how;
        assert_int_equal(rec_source_view(&w->job, source, &view, &size), cases[i].status);
        assert_null(view);
        assert_failed(w, cases[i].status, cases[i].words);
        calls = g.calls;
        assert_int_equal(rec_source_read_at(&w->job, source, 1, &byte, 1), cases[i].status);
        assert_failed(w, cases[i].status, cases[i].words);
        assert_int_equal(rec_source_view(&w->job, source, &view, &size), cases[i].status);
        assert_failed(w, cases[i].status, cases[i].words);
        assert_int_equal(g.calls, calls);
        rec_source_release(source);
        assert_int_equal(g.released, 1);
    }
    free(data);
}

static void who_gives_bytes_cannot_ask_for_them(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(100), byte;
    for (int how = SELF; how <= SELF_VIEW; how++) {
        for (int by_view = 0; by_view < 2; by_view++) {
            struct giver g = giver_of(data, 100);
            const void *view;
            uint64_t size;
            g.fail_at = 0;
            g.how = how;
            g.own = make(w, &anywhere, &g);
            assert_int_equal(by_view ? rec_source_view(&w->job, g.own, &view, &size)
                                     : rec_source_read_at(&w->job, g.own, 3, &byte, 1),
                             REC_E_PLUGIN);
            assert_failed(w, REC_E_PLUGIN, "has a source, far/model, that reads itself");
            assert_int_equal(rec_source_view(&w->job, g.own, &view, &size), REC_E_PLUGIN); /* no lock is left behind */
            assert_failed(w, REC_E_PLUGIN, "that reads itself");
            rec_source_release(g.own);
            assert_int_equal(g.released, 1);
        }
    }
    free(data);
}

struct asker {
    world *w;
    rec_source *source;
    const uint8_t *data;
    int bad;
};

static void *ask(void *user)
{
    struct asker *a = user;
    rec_job job;
    lr_job_begin(&job, &a->w->context, "read", NULL);
    for (uint64_t i = 0; i < 300; i++) {
        uint8_t bytes[64];
        uint64_t at = i * 7919 % (MIB - sizeof bytes);
        a->bad += rec_source_read_at(&job, a->source, at, bytes, sizeof bytes) != REC_OK ||
                  memcmp(bytes, a->data + at, sizeof bytes) != 0;
    }
    (void)lr_job_end(&job);
    rec_source_release(a->source);
    return NULL;
}

static void threads_take_turns(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(MIB);
    struct giver g = giver_of(data, MIB);
    rec_source *source = make(w, &anywhere, &g);
    pthread_t threads[4];
    struct asker askers[4];
    w->context.progress = NULL; /* the world's is not made for threads */
    for (int i = 0; i < 4; i++) {
        askers[i] = (struct asker){.w = w, .source = rec_source_retain(source), .data = data};
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
    }
    assert_view(w, source, data, MIB);
    rec_source_release(source);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(askers[i].bad, 0);
    }
    assert_int_equal(g.worst, 1);
    assert_int_equal(g.released, 1);
    free(data);
}

static void memory_that_is_refused_leaves_nothing(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(100000), byte;
    use_counted_allocator(w);
    for (int kind = 0; kind < 2; kind++) {
        bool made = false;
        for (int64_t fail = 0; !made && fail < 50; fail++) {
            struct giver g = giver_of(data, 100000);
            rec_source *source = NULL, *part = NULL;
            rec_head head;
            w->made = 0;
            w->fail_at = fail;
            made = rec_source_make(&w->job, "far/model", kind ? &stream : &anywhere, &g, &source) == REC_OK &&
                   lr_source_head(&w->job, source, &head) == REC_OK &&
                   lr_source_tail(&w->job, source, &head) == REC_OK &&
                   rec_source_part(&w->job, source, 5, 90000, &part) == REC_OK &&
                   rec_source_read_at(&w->job, part, 1, &byte, 1) == REC_OK;
            assert_int_equal(lr_job_end(&w->job), made ? REC_OK : REC_E_MEMORY);
            begin_job(w);
            rec_source_release(source);
            assert_int_equal(g.released, source && part ? 0 : 1);
            rec_source_release(part);
            assert_int_equal(g.released, 1);
            assert_int_equal(w->live, 0);
        }
        assert_true(made);
    }
    free(data);
}

/* ----------------------------------------------------------------------------------------------- head and tail -- */

static void heads_and_tails_are_had_without_the_middle(void **state)
{
    world *w = *state;
    static const size_t sizes[] = {1, 65535, 65536, 65537, 5 * MIB};
    uint8_t *data = make_pattern(5 * MIB);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size = sizes[i], most = size < 65536 ? size : 65536;
        for (int kind = 0; kind < 4; kind++) {
            struct giver g = giver_of(data, size);
            rec_source *source;
            rec_head head;
            write_file("file", data, size);
            source = kind == 0   ? make(w, &anywhere, &g)
                     : kind == 1 ? lr_source_memory(&w->job, data, size, "memory")
                                 : lr_source_open(&w->job, "file", kind == 3);
            assert_int_equal(lr_source_head(&w->job, source, &head), REC_OK);
            assert_int_equal(head.total, size);
            assert_int_equal(head.length, most);
            assert_memory_equal(head.data, data, most);
            assert_null(head.tail); /* only when it is wanted */
            for (int twice = 0; twice < 2; twice++) {
                assert_int_equal(lr_source_tail(&w->job, source, &head), REC_OK);
                assert_int_equal(head.tail_length, most);
                assert_memory_equal(head.tail, data + size - most, most);
            }
            assert_true(kind || g.calls == 2);
            assert_string_equal(head.name, kind == 0 ? "model" : kind == 1 ? "" : "file");
            rec_source_release(source);
        }
    }
    { /* none of what is inflated, of a directory, and of nothing */
        static const rec_source_ops filter = {.size = sizeof filter, .read = give, .rewind = begin_again};
        struct giver g = giver_of(data, 10);
        rec_source *memory = lr_source_memory(&w->job, "", 0, "memory"), *source = NULL;
        rec_head head;
        assert_int_equal(rec_source_filter(&w->job, memory, &filter, &g, &source), REC_OK);
        assert_int_equal(lr_source_head(&w->job, source, &head), REC_OK);
        assert_int_equal(lr_source_tail(&w->job, source, &head), REC_OK);
        assert_null(head.tail);
        assert_int_equal(lr_source_tail(&w->job, memory, &head), REC_OK);
        assert_null(head.tail);
        rec_source_release(source);
        rec_source_release(memory);
        assert_int_equal(mkdir("folder", 0700), 0);
        source = lr_source_open(&w->job, "folder", false);
        assert_int_equal(lr_source_head(&w->job, source, &head), REC_OK);
        assert_int_equal(lr_source_tail(&w->job, source, &head), REC_OK);
        assert_null(head.tail);
        rec_source_release(source);
    }
    assert_int_equal(end_job(w), REC_OK);
    free(data);
}

/* ------------------------------------------------------------------------------------------------------- parts -- */

static void parts_are_windows(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(MIB), bytes[16];
    write_file("file", data, MIB);
    for (int kind = 0; kind < 4; kind++) {
        struct giver g = giver_of(data, MIB);
        rec_source *source = kind == 0   ? make(w, &anywhere, &g)
                             : kind == 1 ? lr_source_memory(&w->job, data, MIB, "memory")
                                         : lr_source_open(&w->job, "file", kind == 3);
        rec_source *part, *inner, *none, *out;
        const void *view, *whole;
        uint64_t size;
        assert_int_equal(rec_source_part(&w->job, source, 1000, 5000, &part), REC_OK);
        assert_int_equal(rec_source_part(&w->job, part, 100, 200, &inner), REC_OK);
        assert_int_equal(rec_source_part(&w->job, source, MIB, 0, &none), REC_OK);
        rec_source_release(source); /* the parts keep it */
        assert_int_equal(rec_source_size(part), 5000);
        assert_int_equal(rec_source_read_at(&w->job, part, 4984, bytes, 16), REC_OK);
        assert_memory_equal(bytes, data + 5984, 16);
        assert_reads(w, part, data + 1000, 5000, 333);
        assert_int_equal(rec_source_rewind(&w->job, part), REC_OK);
        assert_reads(w, inner, data + 1100, 200, 7);
        assert_view(w, inner, data + 1100, 200);
        assert_view(w, part, data + 1000, 5000);
        assert_view(w, none, "", 0);
        if (kind == 3 || kind == 1) { /* what is at hand is not copied */
            assert_int_equal(rec_source_view(&w->job, source, &whole, &size), REC_OK);
            assert_int_equal(rec_source_view(&w->job, part, &view, &size), REC_OK);
            assert_ptr_equal(view, (const uint8_t *)whole + 1000);
        }
        assert_int_equal(end_job(w), REC_OK);
        assert_int_equal(rec_source_read_at(&w->job, part, 4985, bytes, 16), REC_E_FORMAT);
        assert_failed(w, REC_E_FORMAT, "16 bytes are needed from byte 4,985 on, but there are only 5,000 bytes");
        out = part;
        assert_int_equal(rec_source_part(&w->job, part, 4000, 1001, &out), REC_E_FORMAT);
        assert_null(out);
        assert_failed(w, REC_E_FORMAT, "1,001 bytes are needed from byte 4,000 on");
        assert_int_equal(rec_source_part(&w->job, part, UINT64_MAX, 2, &out), REC_E_FORMAT);
        assert_failed(w, REC_E_FORMAT, "there are only 5,000 bytes");
        rec_source_release(part);
        rec_source_release(none);
        rec_source_release(inner);
        assert_int_equal(g.released, kind == 0);
    }
    free(data);
}

static void what_costs_nothing_is_at_hand(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(MIB);
    write_file("file", data, MIB);
    for (int kind = 0; kind < 4; kind++) {
        bool free_of_cost = kind == 1 || kind == 3;
        struct giver g = giver_of(data, MIB);
        rec_source *source = kind == 0   ? make(w, &anywhere, &g)
                             : kind == 1 ? lr_source_memory(&w->job, data, MIB, "memory")
                                         : lr_source_open(&w->job, "file", kind == 3);
        rec_source *part;
        const void *at = data, *whole;
        uint64_t size;
        assert_int_equal(rec_source_part(&w->job, source, 1000, 5000, &part), REC_OK);
        assert_int_equal(rec_source_at_hand(&w->job, part, 100, 4900, &at), REC_OK);
        assert_int_equal(at != NULL, free_of_cost);
        if (at) {
            assert_memory_equal(at, data + 1100, 4900);
        }
        assert_int_equal(rec_source_at_hand(&w->job, source, 77, MIB - 77, &at), REC_OK);
        assert_int_equal(at != NULL, free_of_cost);
        assert_int_equal(lr_source_mapped(source), kind == 3);
        /* What is read all the same, and what was viewed. */
        assert_reads(w, source, data, MIB, 100000);
        assert_int_equal(rec_source_view(&w->job, source, &whole, &size), REC_OK);
        assert_true(!at || at == (const uint8_t *)whole + 77);
        assert_int_equal(rec_source_at_hand(&w->job, source, 0, MIB, &at), REC_OK);
        assert_ptr_equal(at, whole);
        assert_int_equal(rec_source_at_hand(&w->job, part, 0, 5000, &at), REC_OK);
        assert_ptr_equal(at, (const uint8_t *)whole + 1000);
        assert_int_equal(end_job(w), REC_OK);
        assert_int_equal(rec_source_at_hand(&w->job, part, 4000, 1001, &at), REC_E_FORMAT);
        assert_null(at);
        assert_failed(w, REC_E_FORMAT, "1,001 bytes are needed from byte 4,000 on, but there are only 5,000 bytes");
        assert_int_equal(rec_source_at_hand(&w->job, source, UINT64_MAX, 2, &at), REC_E_FORMAT);
        assert_null(at);
        assert_failed(w, REC_E_FORMAT, "there are only 1,048,576 bytes");
        rec_source_release(part);
        rec_source_release(source);
    }
    free(data);
}

/* ------------------------------------------------------------------------------------------------------ beside -- */

static void what_is_beside_is_asked_of_who_made_it(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(5000);
    struct giver g = giver_of(data, 10);
    rec_source *source = make(w, &anywhere, &g), *out = NULL;
    beside_it = giver_of(data, 5000);
    assert_int_equal(rec_source_beside(&w->job, source, "beside", &out), REC_OK);
    assert_string_equal(rec_source_name(out), "far/beside");
    assert_view(w, out, data, 5000);
    assert_int_equal(w->job.beside, 5000); /* its memory may be used */
    rec_source_release(out);
    assert_int_equal(rec_source_beside_maybe(&w->job, source, "beside", &out), REC_OK);
    assert_non_null(out);
    rec_source_release(out);
    assert_int_equal(rec_source_beside_maybe(&w->job, source, "else", &out), REC_OK);
    assert_null(out);
    lr_siblings_drop(&w->job);
    assert_int_equal(beside_it.released, 2);
    assert_int_equal(rec_source_beside(&w->job, source, "else", &out), REC_E_NOT_FOUND);
    assert_null(out);
    assert_failed(w, REC_E_NOT_FOUND, "far/model: nobody knows else");
    assert_int_equal(rec_source_beside(&w->job, source, "silent", &out), REC_E_PLUGIN);
    assert_failed(w, REC_E_PLUGIN, "reported no error for \"silent\"");
    assert_int_equal(rec_source_beside(&w->job, source, "../beside", &out), REC_E_FORMAT);
    assert_failed(w, REC_E_FORMAT, "not a path below its own directory");
    rec_source_release(source);
    free(data);
}

static void a_file_beside_may_be_absent(void **state)
{
    world *w = *state;
    rec_source *source, *out;
    write_file("index", "i", 1);
    write_file("a", "a", 1);
    assert_int_equal(mkdir("folder", 0700), 0);
    source = lr_source_open(&w->job, "index", true);
    assert_int_equal(rec_source_beside_maybe(&w->job, source, "a", &out), REC_OK);
    assert_view(w, out, "a", 1);
    rec_source_release(out);
    assert_int_equal(rec_source_beside_maybe(&w->job, source, "b", &out), REC_OK);
    assert_null(out);
    assert_int_equal(rec_source_beside_maybe(&w->job, source, "folder", &out), REC_E_FORMAT); /* there, and no file */
    assert_null(out);
    assert_failed(w, REC_E_FORMAT, "this is a directory, not a file");
    assert_int_equal(rec_source_beside_maybe(&w->job, source, "a/../b", &out), REC_E_FORMAT);
    assert_failed(w, REC_E_FORMAT, "not a path below its own directory");
    assert_int_equal(rec_source_beside_maybe(&w->job, source, "a/b", &out), REC_OK); /* below a file: absent */
    assert_null(out);
    lr_siblings_drop(&w->job);
    rec_source_release(source);
    source = lr_source_memory(&w->job, "i", 1, "memory");
    assert_int_equal(rec_source_beside_maybe(&w->job, source, "a", &out), REC_OK);
    assert_null(out);
    rec_source_release(source);
    assert_int_equal(end_job(w), REC_OK);
}

/* ---------------------------------------------------------------------------------------------------- patching -- */

static void files_and_memory_can_be_written_over(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(9 * MIB);
    for (int memory = 0; memory < 2; memory++) {
        rec_sink *sink = memory ? lr_sink_memory(&w->job) : lr_sink_file(&w->job, "out", false);
        rec_sink *layout = lr_sink_layout_of(&w->job, sink);
        void *bytes = NULL;
        uint64_t size = 0;
        assert_int_equal(rec_sink_can_patch(sink), 1);
        assert_int_equal(rec_sink_can_patch(layout), 1);
        assert_int_equal(rec_sink_write(layout, data, 9 * MIB), REC_OK);
        assert_int_equal(rec_sink_patch(layout, 8, data, MIB), REC_OK);
        assert_int_equal(rec_sink_tell(layout), 9 * MIB);
        assert_int_equal(lr_sink_expect(sink, layout), REC_OK);
        assert_int_equal(rec_sink_close(layout), REC_OK);
        for (size_t at = 0; at < 9 * MIB; at += 9 * 1024) { /* enough for the second thread of a file's sink */
            assert_int_equal(rec_sink_write(sink, at / (9 * 1024) % 2 ? data : data + at, 9 * 1024), REC_OK);
        }
        for (size_t at = 9 * 1024; at < 9 * MIB; at += 2 * 9 * 1024) { /* those that were written wrongly */
            assert_int_equal(rec_sink_patch(sink, at, data + at, 9 * 1024), REC_OK);
        }
        assert_int_equal(rec_sink_patch(sink, 9 * MIB, data, 0), REC_OK);
        assert_int_equal(rec_sink_patch(sink, 9 * MIB - 3, "xyz", 3), REC_OK);
        assert_int_equal(rec_sink_tell(sink), 9 * MIB);
        if (memory) {
            assert_int_equal(lr_sink_take(sink, &bytes, &size), REC_OK);
        }
        assert_int_equal(lr_sink_commit(sink), REC_OK);
        if (!memory) {
            size_t found;
            bytes = read_file("out", &found);
            size = found;
        }
        assert_int_equal(size, 9 * MIB);
        assert_memory_equal(bytes, data, 9 * MIB - 3);
        assert_memory_equal((uint8_t *)bytes + 9 * MIB - 3, "xyz", 3);
        free(bytes);
    }
    assert_int_equal(end_job(w), REC_OK);
    free(data);
}

static int32_t pass(void *self, rec_sink *target, const void *data, uint64_t size)
{
    (void)self;
    return rec_sink_write(target, data, size);
}

static int32_t swallow(void *user, rec_job *job, const void *data, uint64_t size)
{
    (void)user, (void)job, (void)data, (void)size;
    return REC_OK;
}

static void streams_and_filters_cannot_be_written_over(void **state)
{
    world *w = *state;
    static const rec_sink_ops ops = {.size = sizeof ops, .write = pass};
    for (int kind = 0; kind < 4; kind++) {
        int fd = open("out", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        rec_sink *target = kind == 0   ? lr_sink_fd(&w->job, fd)
                           : kind == 1 ? lr_sink_file(&w->job, "/dev/null", false)
                           : kind == 2 ? lr_sink_memory(&w->job)
                                       : sink_custom(&w->job, swallow, NULL);
        rec_sink *sink = kind == 2 ? rec_sink_filter(&w->job, target, &ops, NULL) : target;
        rec_sink *layout = lr_sink_layout_of(&w->job, sink);
        assert_int_equal(rec_sink_can_patch(sink), 0);
        assert_int_equal(rec_sink_can_patch(layout), 0); /* known in the first walk */
        assert_int_equal(rec_sink_close(layout), REC_OK);
        assert_int_equal(rec_sink_write(sink, "abc", 3), REC_OK);
        assert_int_equal(rec_sink_patch(sink, 0, "x", 1), REC_E_UNSUPPORTED);
        if (kind == 2) {
            (void)rec_sink_close(sink);
        }
        assert_int_equal(lr_sink_commit(target), REC_E_UNSUPPORTED);
        assert_failed(w, REC_E_UNSUPPORTED, "bytes written to a stream or to compressed output cannot be overwritten");
        (void)close(fd);
    }
}

static void only_what_was_written_is_written_over(void **state)
{
    world *w = *state;
    static const uint64_t bad[][2] = {{3, 1}, {0, 4}, {2, 2}, {UINT64_MAX, 1}, {1, UINT64_MAX}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rec_sink *sink = lr_sink_memory(&w->job);
        assert_int_equal(rec_sink_write(sink, "abc", 3), REC_OK);
        assert_int_equal(rec_sink_patch(sink, bad[i][0], "xyzw", bad[i][1]), REC_E_PLUGIN);
        assert_int_equal(lr_sink_commit(sink), REC_E_PLUGIN);
        assert_failed(w, REC_E_PLUGIN, "where only 3 bytes were written");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_source_with_places_is_read_where_it_is_asked, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(a_stream_is_read_to_its_end_at_once, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(nothing_is_released_once_too, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(what_cannot_be_a_source_is_refused_and_released_once, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(failures_of_its_functions_name_it_and_leave_nothing, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(who_gives_bytes_cannot_ask_for_them, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(threads_take_turns, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(memory_that_is_refused_leaves_nothing, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(heads_and_tails_are_had_without_the_middle, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(parts_are_windows, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(what_costs_nothing_is_at_hand, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(what_is_beside_is_asked_of_who_made_it, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(a_file_beside_may_be_absent, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(files_and_memory_can_be_written_over, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(streams_and_filters_cannot_be_written_over, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(only_what_was_written_is_written_over, enter_world, leave_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
