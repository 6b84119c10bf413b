/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sources: memory, owned bytes, filters, and the blobs in them. Files and descriptors are in test_source_file.c. */
#include "tests/test_io.h"

#include <pthread.h>

#define MIB ((size_t)1 << 20)

/* ----------------------------------------------------------------------------------------------------- helpers -- */

/* A toy compression: pairs of a count (0 stands for 256) and a byte. */
struct runs {
    rec_source *parent;
    uint8_t pair[2];
    int left; /* repetitions of the pair that are still to come */
    uint64_t hint;
    int rewinds;
    int *released;
    int fail_after; /* reads, -1: never */
    int how;
};
enum { FAIL_WELL = 1, FAIL_MUTE = 2, FAIL_GREEDY = 3 };

static int32_t runs_read(void *self, rec_job *job, void *target, uint64_t room, uint64_t *got)
{
    struct runs *runs = self;
    uint8_t *out = target;
    uint64_t at = 0;
    if (runs->fail_after >= 0 && runs->fail_after-- == 0) {
        switch (runs->how) {
        case FAIL_WELL:
            return rec_fail(job, REC_E_FORMAT, 17, "a damaged run");
        case FAIL_MUTE:
            return REC_E_FORMAT;
        default:
            *got = room + 1;
            return REC_OK;
        }
    }
    while (at < room) {
        uint64_t piece;
        if (runs->left == 0) {
            uint64_t have = 0;
            int32_t status = rec_source_read(job, runs->parent, runs->pair, 2, &have);
            if (status != REC_OK) {
                return status;
            }
            if (have == 0) {
                break;
            }
            if (have == 1) {
                return rec_fail_found(job, REC_E_FORMAT, REC_UNKNOWN, "a pair", "one byte");
            }
            runs->left = runs->pair[0] ? runs->pair[0] : 256;
        }
        piece = room - at < (uint64_t)runs->left ? room - at : (uint64_t)runs->left;
        memset(out + at, runs->pair[1], (size_t)piece);
        at += piece;
        runs->left -= (int)piece;
    }
    *got = at;
    return REC_OK;
}

static int32_t runs_rewind(void *self, rec_job *job)
{
    struct runs *runs = self;
    runs->left = 0;
    runs->rewinds++;
    return rec_source_rewind(job, runs->parent);
}

static uint64_t runs_hint(void *self)
{
    return ((struct runs *)self)->hint;
}

static void runs_release(void *self)
{
    struct runs *runs = self;
    ++*runs->released;
    free(runs);
}

static const rec_source_ops runs_ops = {
    .size = sizeof runs_ops,
    .read = runs_read,
    .rewind = runs_rewind,
    .size_hint = runs_hint,
    .release = runs_release,
};

static struct runs *new_runs(rec_source *parent, int *released)
{
    struct runs *runs = calloc(1, sizeof *runs);
    assert_non_null(runs);
    *runs = (struct runs){.parent = parent, .hint = REC_UNKNOWN, .released = released, .fail_after = -1};
    return runs;
}

/* A filter over memory, alone: the parent's count is given back. @param out (out) its state, may be NULL. */
static rec_source *runs_over(world *w, const void *data, size_t size, int *released, struct runs **out)
{
    rec_source *parent = lr_source_memory(&w->job, data, size, "packed");
    rec_source *source = NULL;
    struct runs *runs;
    assert_non_null(parent);
    runs = new_runs(parent, released);
    assert_int_equal(rec_source_filter(&w->job, parent, &runs_ops, runs, &source), REC_OK);
    rec_source_release(parent);
    if (out) {
        *out = runs;
    }
    return source;
}

/* Packs `runs` random runs. @param plain (out) what they unpack to, to be freed. */
static uint8_t *make_runs(size_t runs, size_t *packed_size, uint8_t **plain, size_t *plain_size)
{
    uint8_t *packed = malloc(runs * 2);
    size_t size = 0, at = 0;
    assert_non_null(packed);
    for (size_t i = 0; i < runs; i++) {
        packed[2 * i] = pattern(i);
        packed[2 * i + 1] = pattern(i + 1000003);
        size += packed[2 * i] ? packed[2 * i] : 256;
    }
    *plain = malloc(size);
    assert_non_null(*plain);
    for (size_t i = 0; i < runs; i++) {
        size_t length = packed[2 * i] ? packed[2 * i] : 256;
        memset(*plain + at, packed[2 * i + 1], length);
        at += length;
    }
    *packed_size = runs * 2;
    *plain_size = size;
    return packed;
}

/* ------------------------------------------------------------------------------------------------------ memory -- */

static void memory_is_viewed_in_place_and_read_in_pieces(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(100000);
    rec_source *source = lr_source_memory(&w->job, data, 100000, "some memory");
    const void *view;
    uint64_t size;
    assert_non_null(source);
    assert_string_equal(rec_source_name(source), "some memory");
    assert_int_equal(rec_source_view(&w->job, source, &view, &size), REC_OK);
    assert_ptr_equal(view, data);
    assert_int_equal(w->job.input, 100000);
    assert_reads(w, source, data, 100000, 777);
    assert_int_equal(rec_source_rewind(&w->job, source), REC_OK);
    assert_reads(w, source, data, 100000, 200000);
    assert_false(lr_source_mapped(source));
    rec_source_release(source);
    rec_source_release(NULL);
    free(data);
}

static void memory_of_no_bytes_is_a_source_too(void **state)
{
    world *w = *state;
    rec_source *source = lr_source_memory(&w->job, NULL, 0, "nothing");
    rec_head head;
    assert_non_null(source);
    assert_view(w, source, "", 0);
    assert_reads(w, source, (const uint8_t *)"", 0, 10);
    assert_int_equal(lr_source_head(&w->job, source, &head), REC_OK);
    assert_int_equal(head.length, 0);
    assert_int_equal(head.total, 0);
    rec_source_release(source);
}

static void reading_at_a_place_leaves_the_position_alone(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(1000);
    rec_source *source = lr_source_memory(&w->job, data, 1000, "m");
    uint8_t room[8];
    uint64_t got;
    assert_int_equal(rec_source_read(&w->job, source, room, 8, &got), REC_OK);
    assert_int_equal(rec_source_read_at(&w->job, source, 992, room, 8), REC_OK);
    assert_memory_equal(room, data + 992, 8);
    assert_int_equal(rec_source_read_at(&w->job, source, 1000, room, 0), REC_OK);
    assert_int_equal(rec_source_read(&w->job, source, room, 8, &got), REC_OK);
    assert_memory_equal(room, data + 8, 8);
    rec_source_release(source);
    free(data);
}

static void reading_beyond_the_end_says_how_much_there_is(void **state)
{
    world *w = *state;
    rec_source *source = lr_source_memory(&w->job, "0123456789", 10, "short.bin");
    uint8_t room[8];
    assert_int_equal(rec_source_read_at(&w->job, source, 8, room, 3), REC_E_FORMAT);
    assert_failed(w, REC_E_FORMAT,
                  "short.bin: byte 8: 3 bytes are needed from byte 8 on, but there are only 10 bytes\n"
                  "  The file is truncated or damaged.");
    assert_int_equal(rec_source_read_at(&w->job, source, UINT64_MAX, room, 2), REC_E_FORMAT);
    (void)end_job(w);
    assert_int_equal(rec_source_read_at(&w->job, source, 2, room, UINT64_MAX - 1), REC_E_FORMAT);
    (void)end_job(w);
    rec_source_release(source);
}

static void count_free(void *user, const void *data)
{
    ++*(int *)user;
    free((void *)(uintptr_t)data);
}

static void owned_bytes_are_freed_with_the_last_count(void **state)
{
    world *w = *state;
    int freed = 0;
    uint8_t *data = make_pattern(10);
    rec_source *source = lr_source_owned(&w->context.allocator, data, 10, count_free, &freed);
    assert_non_null(source);
    assert_ptr_equal(rec_source_retain(source), source);
    rec_source_release(source);
    assert_int_equal(freed, 0);
    assert_view(w, source, data, 10);
    rec_source_release(source);
    assert_int_equal(freed, 1);
}

static void *retain_and_release(void *user)
{
    for (int i = 0; i < 20000; i++) {
        rec_source_release(rec_source_retain(user));
    }
    rec_source_release(user);
    return NULL;
}

static void counts_survive_many_threads(void **state)
{
    world *w = *state;
    enum { THREADS = 6 };
    pthread_t threads[THREADS];
    int freed = 0;
    rec_source *source = lr_source_owned(&w->context.allocator, make_pattern(10), 10, count_free, &freed);
    for (int i = 0; i < THREADS; i++) {
        (void)rec_source_retain(source);
        assert_int_equal(pthread_create(&threads[i], NULL, retain_and_release, source), 0);
    }
    rec_source_release(source);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(freed, 1);
}

/* ----------------------------------------------------------------------------------------------------- filters -- */

static void a_filter_is_read_in_pieces_and_again(void **state)
{
    world *w = *state;
    uint8_t *plain, *packed;
    size_t packed_size, size;
    int released = 0;
    struct runs *runs;
    rec_source *source;
    packed = make_runs(3000, &packed_size, &plain, &size);
    source = runs_over(w, packed, packed_size, &released, &runs);
    assert_string_equal(rec_source_name(source), "packed");
    assert_int_equal(rec_source_size(source), REC_UNKNOWN);
    assert_reads(w, source, plain, size, 1001);
    assert_int_equal(w->job.input, size);
    assert_int_equal(rec_source_rewind(&w->job, source), REC_OK);
    assert_int_equal(runs->rewinds, 1);
    assert_reads(w, source, plain, size, 1 << 20);
    assert_int_equal(released, 0);
    rec_source_release(source);
    assert_int_equal(released, 1);
    free(packed);
    free(plain);
}

static void the_view_of_a_filter_is_spooled_and_sets_all_else_free(void **state)
{
    world *w = *state;
    uint8_t *plain, *packed;
    size_t packed_size, size;
    int released = 0, freed = 0;
    rec_source *parent, *source = NULL;
    uint8_t room[100];
    uint64_t got;
    packed = make_runs(100000, &packed_size, &plain, &size); /* 12 MB: the pages grow */
    parent = lr_source_owned(&w->context.allocator, packed, packed_size, count_free, &freed);
    assert_int_equal(rec_source_filter(&w->job, parent, &runs_ops, new_runs(parent, &released), &source), REC_OK);
    rec_source_release(parent);
    assert_int_equal(rec_source_read(&w->job, source, room, 100, &got), REC_OK);
    assert_int_equal(got, 100);
    assert_int_equal(freed, 0);
    assert_view(w, source, plain, size);
    assert_int_equal(released, 1);
    assert_int_equal(freed, 1);
    assert_int_equal(w->job.input, size);
    assert_true(w->progress_calls >= 2);
    assert_reads(w, source, plain + 100, size - 100, 999); /* from where it stood */
    assert_int_equal(rec_source_read_at(&w->job, source, size - 1, room, 1), REC_OK);
    assert_int_equal(room[0], plain[size - 1]);
    rec_source_release(source);
    assert_int_equal(released, 1);
    free(plain);
}

static void a_filter_shows_its_head_without_moving(void **state)
{
    world *w = *state;
    uint8_t *plain, *packed;
    size_t packed_size, size;
    int released = 0;
    struct runs *runs;
    rec_source *source;
    rec_head head;
    packed = make_runs(3000, &packed_size, &plain, &size);
    source = runs_over(w, packed, packed_size, &released, &runs);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(lr_source_head(&w->job, source, &head), REC_OK);
        assert_int_equal(head.length, 65536);
        assert_int_equal(head.total, REC_UNKNOWN);
        assert_memory_equal(head.data, plain, 65536);
    }
    assert_reads(w, source, plain, size, 5000);
    assert_int_equal(runs->rewinds, 0); /* the head was kept, nothing was unpacked twice */
    assert_int_equal(lr_source_head(&w->job, source, &head), REC_OK);
    assert_memory_equal(head.data, plain, 65536);
    rec_source_release(source);
    /* and then the view, which begins with what was kept */
    source = runs_over(w, packed, packed_size, &released, &runs);
    assert_int_equal(lr_source_head(&w->job, source, &head), REC_OK);
    assert_view(w, source, plain, size);
    rec_source_release(source);
    assert_int_equal(released, 2);
    free(packed);
    free(plain);
}

static void a_short_filter_shows_all_of_it_as_head(void **state)
{
    world *w = *state;
    const uint8_t packed[] = {3, 'a', 2, 'b'};
    int released = 0;
    rec_source *source = runs_over(w, packed, sizeof packed, &released, NULL);
    rec_head head;
    assert_int_equal(lr_source_head(&w->job, source, &head), REC_OK);
    assert_int_equal(head.length, 5);
    assert_memory_equal(head.data, "aaabb", 5);
    assert_reads(w, source, (const uint8_t *)"aaabb", 5, 2);
    rec_source_release(source);
    assert_int_equal(released, 1);
}

static void a_filter_of_nothing_gives_nothing(void **state)
{
    world *w = *state;
    int released = 0;
    rec_source *source = runs_over(w, "", 0, &released, NULL);
    assert_view(w, source, "", 0);
    rec_source_release(source);
    assert_int_equal(released, 1);
}

static void filters_stand_on_filters(void **state)
{
    world *w = *state;
    const uint8_t packed[] = {2, 1, 2, 7}; /* 1 1 7 7, that is one 1 and seven 7 */
    int released = 0;
    rec_source *inner = runs_over(w, packed, sizeof packed, &released, NULL);
    rec_source *outer = NULL;
    assert_int_equal(rec_source_filter(&w->job, inner, &runs_ops, new_runs(inner, &released), &outer), REC_OK);
    rec_source_release(inner);
    assert_view(w, outer, "\1\7\7\7\7\7\7\7", 8);
    rec_source_release(outer);
    assert_int_equal(released, 2);
}

static void a_bomb_meets_the_limit(void **state)
{
    world *w = *state;
    uint8_t *bomb = calloc(1, 20000); /* 10,000 runs of 256 zeros */
    uint8_t *room = malloc(3 * MIB);
    uint64_t got = 1, sum = 0;
    int released = 0;
    rec_source *source;
    w->context.limits.inflated_factor = 100;
    w->context.limits.inflated_slack = 1000;
    begin_job(w);
    source = runs_over(w, bomb, 20000, &released, NULL);
    {
        const void *data;
        uint64_t size;
        assert_int_equal(rec_source_view(&w->job, source, &data, &size), REC_E_LIMIT);
        assert_null(data);
        assert_failed(
            w, REC_E_LIMIT,
            "packed: byte 2,001,000: the file of 20,000 bytes inflates to more than 2,001,000 bytes, the limit for its "
            "size\n  If the file can be trusted, raise inflated_factor or inflated_slack");
    }
    rec_source_release(source);
    source = runs_over(w, bomb, 20000, &released, NULL);
    while (got && rec_source_read(&w->job, source, room, 10000, &got) == REC_OK) {
        sum += got;
    }
    assert_true(sum <= 2001000);
    assert_int_equal(end_job(w), REC_E_LIMIT);
    rec_source_release(source);
    /* what ends exactly at the limit is no bomb */
    w->context.limits.inflated_factor = 128;
    w->context.limits.inflated_slack = 0;
    begin_job(w);
    source = runs_over(w, bomb, 20000, &released, NULL);
    assert_int_equal(rec_source_view(&w->job, source, &(const void *){NULL}, &got), REC_OK);
    assert_int_equal(got, 2560000);
    rec_source_release(source);
    assert_int_equal(end_job(w), REC_OK);
    /* a filter over a filter counts from the file, not from what the first one made of it */
    w->context.limits.inflated_factor = 200;
    begin_job(w);
    source = runs_over(w, bomb, 20000, &released, NULL);
    {
        rec_source *outer = NULL;
        const void *data;
        assert_int_equal(rec_source_filter(&w->job, source, &runs_ops, new_runs(source, &released), &outer), REC_OK);
        assert_int_equal(rec_source_view(&w->job, outer, &data, &got), REC_E_LIMIT);
        rec_source_release(outer);
        assert_int_equal(end_job(w), REC_E_LIMIT);
    }
    rec_source_release(source);
    assert_int_equal(released, 5);
    free(bomb);
    free(room);
}

/* One member of an archive, decoded. */
static rec_source *member_of(world *w, rec_source *archive, uint64_t at, uint64_t size, int *released)
{
    rec_source *part = NULL, *decoded = NULL;
    assert_int_equal(rec_source_part(&w->job, archive, at, size, &part), REC_OK);
    assert_int_equal(rec_source_filter(&w->job, part, &runs_ops, new_runs(part, released), &decoded), REC_OK);
    rec_source_release(part);
    return decoded;
}

static void members_of_one_file_share_what_it_may_inflate_to(void **state)
{
    enum { MEMBERS = 10, EACH = 2000 };
    world *w = *state;
    uint8_t *bomb = calloc(MEMBERS, EACH); /* each inflates to 256,000 zeros */
    rec_source *archive, *members[MEMBERS];
    const void *data;
    uint64_t size, got;
    uint8_t room[5000];
    int released = 0;
    w->context.limits.inflated_factor = 100;
    w->context.limits.inflated_slack = 0;
    begin_job(w);
    archive = lr_source_memory(&w->job, bomb, MEMBERS * EACH, "archive");
    for (int i = 0; i < MEMBERS; i++) {
        members[i] = member_of(w, archive, (uint64_t)i * EACH, EACH, &released);
    }
    for (int again = 0; again < 50; again++) { /* what is read again is no more than it was */
        do {
            assert_int_equal(rec_source_read(&w->job, members[0], room, sizeof room, &got), REC_OK);
        } while (got);
        assert_int_equal(rec_source_rewind(&w->job, members[0]), REC_OK);
    }
    for (int i = 0; i < 7; i++) {
        assert_int_equal(rec_source_view(&w->job, members[i], &data, &size), REC_OK);
        assert_int_equal(size, 256000);
    }
    /* the job ends, and what is left of its members is read in another one: a record does that */
    assert_int_equal(end_job(w), REC_OK);
    begin_job(w);
    assert_int_equal(rec_source_view(&w->job, members[7], &data, &size), REC_E_LIMIT);
    assert_failed(
        w, REC_E_LIMIT,
        "archive: byte 208,000: the file of 20,000 bytes inflates to more than 2,000,000 bytes, the limit for "
        "its size\n  If the file can be trusted, raise inflated_factor or inflated_slack");
    for (int i = 0; i < MEMBERS; i++) {
        rec_source_release(members[i]);
    }
    /* another job begins anew, and each file adds its size, once */
    begin_job(w);
    {
        rec_source *other = lr_source_memory(&w->job, bomb, MEMBERS * EACH, "other");
        for (int i = 0; i < MEMBERS; i++) {
            members[i] = member_of(w, i % 2 ? other : archive, (uint64_t)i * EACH, EACH, &released);
            assert_int_equal(rec_source_view(&w->job, members[i], &data, &size), REC_OK);
        }
        rec_source_release(other);
    }
    for (int i = 0; i < MEMBERS; i++) {
        rec_source_release(members[i]);
    }
    for (int i = 0; i < 6; i++) { /* 1,440,000 are left of 4,000,000 */
        members[i] = member_of(w, archive, 0, EACH, &released);
        assert_int_equal(rec_source_view(&w->job, members[i], &data, &size), i < 5 ? REC_OK : REC_E_LIMIT);
    }
    for (int i = 0; i < 6; i++) {
        rec_source_release(members[i]);
    }
    rec_source_release(archive);
    assert_int_equal(end_job(w), REC_E_LIMIT);
    assert_int_equal(released, MEMBERS * 2 + 6);
    free(bomb);
}

static void a_hint_may_lie(void **state)
{
    world *w = *state;
    const uint64_t hints[] = {0, 1, 100, 1000000, 1000001, UINT64_C(1) << 40, UINT64_MAX - 1};
    uint8_t *plain, *packed;
    size_t packed_size, size;
    packed = make_runs(30000, &packed_size, &plain, &size);
    for (int counted = 0; counted < 2; counted++) {
        for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
            int released = 0;
            struct runs *runs;
            rec_source *source = runs_over(w, packed, packed_size, &released, &runs);
            rec_head head;
            runs->hint = i == 0 ? size : hints[i];
            if (i % 2) { /* what was kept for the head may be more than what is hinted at */
                assert_int_equal(lr_source_head(&w->job, source, &head), REC_OK);
            }
            assert_view(w, source, plain, size);
            rec_source_release(source);
        }
        lr_siblings_drop(&w->job); /* what filters share */
        use_counted_allocator(w);
    }
    assert_int_equal(w->live, 0);
    free(packed);
    free(plain);
}

static void failures_of_a_filter_are_passed_up_or_named(void **state)
{
    world *w = *state;
    uint8_t *plain, *packed;
    size_t packed_size, size;
    packed = make_runs(100000, &packed_size, &plain, &size);
    for (int how = FAIL_WELL; how <= FAIL_GREEDY; how++) {
        int released = 0;
        struct runs *runs;
        rec_source *source = runs_over(w, packed, packed_size, &released, &runs);
        const void *data;
        uint64_t got;
        runs->fail_after = 1;
        runs->how = how;
        assert_int_not_equal(rec_source_view(&w->job, source, &data, &got), REC_OK);
        switch (how) {
        case FAIL_WELL:
            assert_failed(w, REC_E_FORMAT, "packed: byte 17: a damaged run");
            break;
        case FAIL_MUTE:
            assert_failed(w, REC_E_PLUGIN,
                          "packed: the plugin in use has a source filter that failed with status 4 and gave no reason");
            break;
        default:
            assert_failed(w, REC_E_PLUGIN, "has a source filter that gave more bytes than there was room for");
            break;
        }
        /* another job, another try: it has failed for good, and is not asked again */
        runs->fail_after = -1;
        assert_int_not_equal(rec_source_view(&w->job, source, &data, &got), REC_OK);
        assert_failed(w, how == FAIL_WELL ? REC_E_FORMAT : REC_E_PLUGIN,
                      how == FAIL_WELL ? "a damaged run" : "a source filter that");
        rec_source_release(source);
        assert_int_equal(released, 1);
    }
    free(packed);
    free(plain);
}

static void spooling_can_be_cancelled(void **state)
{
    world *w = *state;
    uint8_t *bomb = calloc(1, 200000);
    int released = 0;
    rec_source *source = runs_over(w, bomb, 200000, &released, NULL);
    const void *data;
    uint64_t size;
    w->cancel_at = 3;
    assert_int_equal(rec_source_view(&w->job, source, &data, &size), REC_E_CANCELLED);
    assert_int_equal(end_job(w), REC_E_CANCELLED);
    rec_source_release(source);
    free(bomb);
}

static void a_filter_without_what_it_needs_is_refused(void **state)
{
    world *w = *state;
    rec_source_ops ops = runs_ops;
    rec_source *parent = lr_source_memory(&w->job, "\1a", 2, "packed");
    rec_source *source = parent;
    int released = 0;
    ops.read = NULL;
    assert_int_equal(rec_source_filter(&w->job, parent, &ops, new_runs(parent, &released), &source), REC_E_PLUGIN);
    assert_null(source);
    assert_int_equal(released, 1); /* taken, also on failure */
    assert_failed(w, REC_E_PLUGIN, "made a source filter without `read` and `rewind`");
    rec_source_release(parent);
}

static void a_filter_of_no_sensible_size_is_refused(void **state)
{
    static const uint32_t sizes[] = {0, (uint32_t)offsetof(rec_source_ops, release), 5000, UINT32_MAX};
    world *w = *state;
    rec_source_ops ops = runs_ops;
    rec_source *parent = lr_source_memory(&w->job, "\2a", 2, "packed");
    rec_source *source = NULL;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ops.size = sizes[i];
        assert_int_equal(rec_source_filter(&w->job, parent, &ops, &ops, &source), REC_E_PLUGIN);
        assert_null(source);
        assert_true(strstr(w->job.error.what, "gave the size of the functions of a source filter as") != NULL);
        lr_job_forgive(&w->job);
    }
    rec_source_release(parent);
    assert_int_equal(end_job(w), REC_OK);
}

struct viewer {
    world *w;
    rec_source *source;
    const uint8_t *plain;
    size_t size;
    bool equal;
};

static void *view_in_thread(void *user)
{
    struct viewer *v = user;
    rec_job job;
    const void *data;
    uint64_t size;
    lr_job_begin(&job, &v->w->context, "look", "thread");
    v->equal = rec_source_view(&job, v->source, &data, &size) == REC_OK && size == v->size &&
               memcmp(data, v->plain, v->size) == 0;
    rec_source_release(v->source);
    (void)lr_job_end(&job);
    return NULL;
}

static void many_threads_may_ask_for_the_view(void **state)
{
    world *w = *state;
    enum { THREADS = 4 };
    struct viewer viewers[THREADS];
    pthread_t threads[THREADS];
    uint8_t *plain, *packed;
    size_t packed_size, size;
    int released = 0;
    rec_source *source;
    packed = make_runs(20000, &packed_size, &plain, &size);
    w->context.progress = NULL;
    source = runs_over(w, packed, packed_size, &released, NULL);
    for (int i = 0; i < THREADS; i++) {
        viewers[i] = (struct viewer){.w = w, .source = rec_source_retain(source), .plain = plain, .size = size};
        assert_int_equal(pthread_create(&threads[i], NULL, view_in_thread, &viewers[i]), 0);
    }
    rec_source_release(source);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(viewers[i].equal);
    }
    assert_int_equal(released, 1);
    free(packed);
    free(plain);
}

/* ------------------------------------------------------------------------------------------------------- blobs -- */

struct stream {
    const uint8_t *data;
    size_t at;
};

static int32_t stream_read(void *user, void *target, uint64_t size)
{
    struct stream *stream = user;
    memcpy(target, stream->data + stream->at, (size_t)size);
    stream->at += (size_t)size;
    return REC_OK;
}

static void blobs_of_every_kind_are_read(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(1000);
    rec_source *source = lr_source_memory(&w->job, data, 1000, "m");
    struct stream stream = {.data = data + 100};
    const rec_blob blobs[] = {
        {.size = sizeof(rec_blob), .kind = REC_BLOB_VIEW, .length = 800, .data = data + 100, .offset = REC_UNKNOWN},
        {.size = sizeof(rec_blob), .kind = REC_BLOB_TEMPORARY, .length = 800, .data = data + 100},
        {.size = sizeof(rec_blob), .kind = REC_BLOB_RANGE, .length = 800, .source = source, .offset = 100},
        {.size = sizeof(rec_blob), .kind = REC_BLOB_STREAM, .length = 800, .read = stream_read, .user = &stream},
    };
    for (size_t i = 0; i < sizeof blobs / sizeof *blobs; i++) {
        uint8_t room[800];
        assert_int_equal(rec_blob_read(&w->job, &blobs[i], 0, room, 300), REC_OK);
        assert_int_equal(rec_blob_read(&w->job, &blobs[i], 300, room + 300, 500), REC_OK);
        assert_memory_equal(room, data + 100, 800);
        assert_int_equal(rec_blob_read(&w->job, &blobs[i], 800, room, 0), REC_OK);
        assert_int_equal(rec_blob_read(&w->job, &blobs[i], 799, room, 2), REC_E_PLUGIN);
        assert_failed(w, REC_E_PLUGIN, "requested 2 bytes from byte 799 on, of a blob of 800 bytes");
        assert_int_equal(rec_blob_read(&w->job, &blobs[i], 801, room, 0), REC_E_PLUGIN);
        (void)end_job(w);
    }
    rec_source_release(source);
    free(data);
}

static int32_t stream_fails(void *user, void *target, uint64_t size)
{
    (void)user;
    (void)target;
    (void)size;
    return REC_E_IO;
}

static void broken_blobs_are_refused(void **state)
{
    world *w = *state;
    rec_source *source = lr_source_memory(&w->job, "abc", 3, "m");
    const rec_blob blobs[] = {
        {.size = sizeof(rec_blob), .kind = 0, .length = 1, .data = "a"},
        {.size = sizeof(rec_blob), .kind = 5, .length = 1, .data = "a"},
        {.size = sizeof(rec_blob), .kind = REC_BLOB_VIEW, .length = 1},
        {.size = sizeof(rec_blob), .kind = REC_BLOB_RANGE, .length = 1},
        {.size = sizeof(rec_blob), .kind = REC_BLOB_STREAM, .length = 1},
    };
    const rec_blob sizeless = {.kind = REC_BLOB_VIEW, .length = 1, .data = "a"};
    rec_blob beyond = {.size = sizeof(rec_blob), .kind = REC_BLOB_RANGE, .length = 2, .source = source, .offset = 2};
    rec_blob mute = {.size = sizeof(rec_blob), .kind = REC_BLOB_STREAM, .length = 1, .read = stream_fails};
    char room[4];
    for (size_t i = 0; i < sizeof blobs / sizeof *blobs; i++) {
        assert_int_equal(rec_blob_read(&w->job, &blobs[i], 0, room, 1), REC_E_PLUGIN);
        assert_failed(w, REC_E_PLUGIN, "without what that kind needs");
    }
    assert_int_equal(rec_blob_read(&w->job, &sizeless, 0, room, 1), REC_E_PLUGIN);
    assert_failed(w, REC_E_PLUGIN, "gave the size of a blob as 0");
    assert_int_equal(rec_blob_read(&w->job, &beyond, 0, room, 1), REC_E_FORMAT);
    assert_failed(w, REC_E_FORMAT, "m: byte 2: 2 bytes are needed from byte 2 on, but there are only 3 bytes");
    assert_int_equal(rec_blob_read(&w->job, &mute, 0, room, 1), REC_E_PLUGIN);
    assert_failed(w, REC_E_PLUGIN, "has a blob's read function that failed with status 3 and gave no reason");
    rec_source_release(source);
}

/* ----------------------------------------------------------------------------------------------- out of memory -- */

/* Does a bit of everything. @return false if the job failed. */
static bool use_sources(world *w, int *released)
{
    static const uint8_t packed[] = {200, 1, 100, 2};
    const void *data;
    uint64_t size;
    rec_head head;
    rec_source *memory = NULL, *file = NULL, *filter = NULL, *stream = NULL;
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    memory = lr_source_memory(&w->job, packed, sizeof packed, "packed");
    if (memory) {
        file = source_of_file(&w->job, "a.bin", false);
    }
    if (file) {
        stream = lr_source_fd(&w->job, fd, "stdin", true);
    }
    if (stream && rec_source_filter(&w->job, memory, &runs_ops, new_runs(memory, released), &filter) == REC_OK &&
        lr_source_head(&w->job, filter, &head) == REC_OK) {
        (void)rec_source_view(&w->job, filter, &data, &size);
    } else if (!stream) {
        ++*released; /* was never made */
    }
    rec_source_release(filter);
    rec_source_release(stream);
    rec_source_release(file);
    rec_source_release(memory);
    (void)close(fd);
    return !lr_job_failed(&w->job);
}

static void each_allocation_may_fail(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(5000);
    bool done = false;
    write_file("a.bin", data, 5000);
    use_counted_allocator(w);
    for (int64_t n = 0; !done; n++) {
        int released = 0;
        assert_true(n < 100);
        w->made = 0;
        w->fail_at = n;
        if (use_sources(w, &released)) {
            done = w->made <= n; /* else it was one that may fail: memory that is not given back is no harm */
            assert_true(!done || n > 8);
            assert_int_equal(end_job(w), REC_OK);
        } else {
            assert_failed(w, REC_E_MEMORY, "out of memory");
        }
        assert_int_equal(w->live, 0);
        assert_int_equal(released, 1);
    }
    free(data);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_world, leave_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(memory_is_viewed_in_place_and_read_in_pieces),
        TEST(memory_of_no_bytes_is_a_source_too),
        TEST(reading_at_a_place_leaves_the_position_alone),
        TEST(reading_beyond_the_end_says_how_much_there_is),
        TEST(owned_bytes_are_freed_with_the_last_count),
        TEST(counts_survive_many_threads),
        TEST(a_filter_is_read_in_pieces_and_again),
        TEST(the_view_of_a_filter_is_spooled_and_sets_all_else_free),
        TEST(a_filter_shows_its_head_without_moving),
        TEST(a_short_filter_shows_all_of_it_as_head),
        TEST(a_filter_of_nothing_gives_nothing),
        TEST(filters_stand_on_filters),
        TEST(a_bomb_meets_the_limit),
        TEST(members_of_one_file_share_what_it_may_inflate_to),
        TEST(a_hint_may_lie),
        TEST(failures_of_a_filter_are_passed_up_or_named),
        TEST(spooling_can_be_cancelled),
        TEST(a_filter_without_what_it_needs_is_refused),
        TEST(a_filter_of_no_sensible_size_is_refused),
        TEST(many_threads_may_ask_for_the_view),
        TEST(blobs_of_every_kind_are_read),
        TEST(broken_blobs_are_refused),
        TEST(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
