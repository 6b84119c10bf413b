/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What was opened keeps what it needs: contexts, sets of types and recorders may be freed first, in any order. Every
 * byte comes from an allocator that counts and poisons what is given back. To be run under AddressSanitizer and
 * valgrind too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <malloc.h>
#include <pthread.h>

#include "librecord.h"
#include "tests/scratch.h"

typedef struct world {
    rec_allocator allocator;
    rec_context *context;
    atomic_int live; /* blocks in use */
    atomic_int told; /* calls of the callbacks */
} world;

static void *take(void *user, size_t size)
{
    world *w = user;
    void *memory = malloc(size);
    w->live += memory != NULL;
    return memory;
}

static void *resize(void *user, void *old, size_t size)
{
    (void)user;
    return realloc(old, size);
}

static void give(void *user, void *memory)
{
    world *w = user;
    w->live--;
    memset(memory, 0xA5, malloc_usable_size(memory));
    free(memory);
}

static int32_t on_progress(void *user, const rec_progress *progress)
{
    (void)progress;
    ((world *)user)->told++;
    return 0;
}

static void on_note(void *user, const rec_note *note)
{
    (void)note;
    ((world *)user)->told++;
}

static int enter(void **state)
{
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->allocator =
        (rec_allocator){.size = sizeof w->allocator, .alloc = take, .resize = resize, .release = give, .user = w};
    w->context = rec_context_new(&w->allocator);
    assert_non_null(w->context);
    rec_context_set_progress(w->context, on_progress, w);
    rec_context_set_notes(w->context, on_note, w);
    *state = w;
    return 0;
}

static int leave(void **state)
{
    free(*state);
    return 0;
}

static void golden(char *path, size_t room, const char *name)
{
    const char *srcdir = getenv("srcdir");
    (void)snprintf(path, room, "%s/tests/data/burn/%s", srcdir ? srcdir : ".", name);
}

static rec_recorder *reader(world *w, const char *name)
{
    rec_recorder *recorder = rec_open_recorder_in(w->context, name, REC_PRECISION_FULL);
    if (!recorder) {
        fail_msg("%s", rec_error_message());
    }
    return recorder;
}

static rec_record *load(rec_recorder *recorder, const char *name)
{
    char path[600];
    rec_record *record;
    golden(path, sizeof path, name);
    record = rec_load(recorder, path);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    return record;
}

static void records_outlive_their_context(void **state)
{
    world *w = *state;
    static const char *const files[] = {"0.21.0/zoo-full.mpk", "0.21.0/zoo-full.mpk.gz", "0.13.2/zoo-full.mpk",
                                        "0.21.0/zoo-full.json"};
    static const float numbers[2] = {1.5F, -2};
    const uint64_t shape[1] = {2};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        rec_context *own = i ? rec_context_new(&w->allocator) : w->context;
        rec_recorder *recorder;
        rec_record *record, *copy;
        rec_iterator *iterator;
        const rec_tensor *tensor;
        int told;
        w->context = own;
        rec_context_set_progress(own, on_progress, w);
        rec_context_set_notes(own, on_note, w);
        recorder = reader(w, "Auto");
        record = load(recorder, files[i]);
        rec_close_recorder(recorder);
        rec_context_free(own);
        told = w->told;
        assert_true(w->live > 0);
        iterator = rec_iterate(record);
        for (tensor = rec_iterator_next_tensor(iterator, NULL); tensor;
             tensor = rec_iterator_next_tensor(iterator, NULL)) {
            uint64_t size;
            assert_non_null(rec_tensor_bytes(tensor, &size));
            if (rec_tensor_dtype(tensor) == REC_DTYPE_F32) {
                assert_non_null(rec_tensor_f64(tensor)); /* made now, kept by the record */
            }
        }
        rec_iterator_free(iterator);
        assert_int_equal(rec_set_f32(record, "more.weight", numbers, 1, shape), REC_OK);
        copy = rec_record_copy(record);
        assert_non_null(copy);
        rec_record_free(record);
        assert_non_null(rec_tensor_f64(rec_tensor_at(copy, "more.weight")));
        assert_null(rec_tensor_at(copy, "nothing.like.it"));
        assert_int_equal(rec_error_status(), REC_E_NOT_FOUND);
        rec_record_free(copy);
        assert_int_equal(w->told, told); /* who freed it is told nothing more */
        assert_int_equal(w->live, 0);
    }
}

static void recorders_outlive_their_context(void **state)
{
    world *w = *state;
    rec_recorder *from = reader(w, "Auto"), *to = reader(w, "NamedMpkGz");
    rec_record *record, *made;
    scratch *s = scratch_new();
    char *path = scratch_path(s, "model");
    void *bytes;
    uint64_t size;
    rec_context_free(w->context);
    record = load(from, "0.21.0/zoo-full.mpk");
    assert_int_equal(rec_recorder_set(to, "layout", "burn-0.21"), REC_OK);
    assert_int_equal(rec_save(to, record, path), REC_OK);
    assert_int_equal(rec_save_bytes(to, record, &bytes, &size), REC_OK);
    rec_free(bytes);
    assert_int_equal(w->told, 0);
    rec_close_recorder(to);
    rec_close_recorder(from);
    rec_record_free(record);
    assert_int_equal(w->live, 0);
    w->context = rec_context_new(&w->allocator);
    made = rec_record_new(w->context);
    rec_context_free(w->context);
    assert_int_equal(rec_set_int(made, "a.b", 3), REC_OK);
    rec_record_free(made);
    assert_int_equal(w->live, 0);
    free(path);
    scratch_free(s);
}

#define LINEAR_FIELDS(F, T) F(T, PARAM, weight, 2) F(T, OPTION_PARAM, bias, 1)
REC_DEFINE_STRUCT(LINEAR, LINEAR_FIELDS)

static rec_record *linear(rec_context *context)
{
    static const float numbers[6] = {1, 2, 3, 4, 5, 6};
    const uint64_t shape[2] = {3, 2};
    rec_record *record = rec_record_new(context);
    assert_int_equal(rec_set_f32(record, "weight", numbers, 2, shape), REC_OK);
    assert_int_equal(rec_set_f32(record, "bias", numbers, 1, shape + 1), REC_OK);
    return record;
}

static void types_go_with_the_last_recorder(void **state)
{
    world *w = *state;
    rec_types *types = rec_types_new(w->context), *others = rec_types_new(w->context);
    rec_recorder *one = reader(w, "BinBytes"), *two = reader(w, "BinBytes");
    rec_record *record = linear(w->context), *again;
    void *bytes;
    uint64_t size;
    assert_non_null(types);
    assert_int_equal(rec_types_add_rust(types,
                                        "struct Mine<B> { weight: Param<Tensor<B, 2>>, "
                                        "bias: Option<Param<Tensor<B, 1>>> }",
                                        "mine.rs"),
                     REC_OK);
    assert_int_equal(rec_recorder_set_type_name(one, others, "f64"), REC_OK);
    assert_int_equal(rec_recorder_set_type_name(one, types, "Mine"), REC_OK); /* in place of the other */
    assert_int_equal(rec_recorder_set_type_name(two, types, "Mine"), REC_OK);
    rec_types_free(others);
    rec_types_free(types);
    rec_context_free(w->context);
    assert_int_equal(rec_save_bytes(one, record, &bytes, &size), REC_OK);
    rec_close_recorder(one);
    again = rec_load_bytes(two, bytes, size);
    assert_non_null(again);
    assert_int_equal(rec_tensor_count(rec_tensor_at(again, "weight")), 6);
    rec_record_free(again);
    assert_int_equal(rec_recorder_set_type_name(two, NULL, NULL), REC_OK);
    assert_null(rec_load_bytes(two, bytes, size));
    assert_int_equal(rec_error_status(), REC_E_TYPE);
    rec_free(bytes);
    rec_close_recorder(two);
    rec_record_free(record);
    assert_int_equal(w->live, 0);
}

static void plans_keep_what_they_were_made_with(void **state)
{
    world *w = *state;
    for (int forms = 0; forms < 8;
         forms++) { /* a bit each: typed, loaded by the plan, the plan freed before the record */
        rec_types *types;
        rec_recorder *from, *to;
        rec_plan *plan;
        rec_record *result = NULL, *base;
        rec_plan_totals totals = {.size = sizeof totals};
        char path[600];
        scratch *s = scratch_new();
        char *out = scratch_path(s, "out");
        w->context = forms ? rec_context_new(&w->allocator) : w->context;
        from = reader(w, "Auto");
        to = reader(w, "NamedMpk");
        types = rec_types_new(w->context);
        base = linear(w->context);
        assert_int_equal(rec_save(to, base, out), REC_OK);
        rec_record_free(base);
        assert_int_equal(rec_recorder_set(from, "rename", "^weight$ => weights"), REC_OK);
        assert_int_equal(rec_types_add_rust(types,
                                            "struct Mine<B> { weights: Param<Tensor<B, 2>>, "
                                            "bias: Option<Param<Tensor<B, 1>>> }",
                                            "mine.rs"),
                         REC_OK);
        if (forms & 1) {
            assert_int_equal(rec_recorder_set_type_name(to, types, "Mine"), REC_OK);
        }
        plan = rec_plan_new(NULL, to);
        (void)snprintf(path, sizeof path, "%s.mpk", out);
        assert_int_equal(rec_plan_add(plan, from, path), REC_OK);
        rec_types_free(types);
        rec_close_recorder(from);
        if (!(forms & 2)) {
            rec_close_recorder(to);
            to = NULL;
        }
        rec_context_free(w->context);
        assert_int_equal(rec_plan_total(plan, &totals), REC_OK);
        assert_int_equal(totals.fatal, 0);
        if (forms & 2) {
            assert_int_equal(rec_convert(NULL, NULL, to, out, plan), REC_OK);
            rec_close_recorder(to);
        } else {
            result = rec_plan_load(plan);
            assert_non_null(result);
        }
        if (forms & 4) {
            rec_plan_free(plan);
            plan = NULL;
        }
        if (result) {
            assert_non_null(rec_tensor_f32(rec_tensor_at(result, "weights")));
            rec_record_free(result);
        }
        rec_plan_free(plan);
        assert_int_equal(w->live, 0);
        free(out);
        scratch_free(s);
    }
}

static void bindings_outlive_their_context(void **state)
{
    world *w = *state;
    rec_record *record = linear(w->context);
    LINEAR target;
    rec_binding *binding = rec_bind(record, &LINEAR_type, &target);
    assert_non_null(binding);
    rec_context_free(w->context);
    assert_int_equal(target.weight.count, 6);
    rec_record_free(record);
    rec_binding_free(binding);
    assert_int_equal(w->live, 0);
}

static void the_default_one_is_replaced_when_it_is_freed(void **state)
{
    world *w = *state;
    rec_recorder *recorder;
    rec_record *record;
    rec_context_set_default(w->context);
    recorder = rec_open_recorder("NamedMpk", REC_PRECISION_FULL);
    record = rec_record_new(NULL);
    rec_context_free(w->context);
    assert_true(w->live > 0);
    rec_record_free(record);
    rec_close_recorder(recorder);
    assert_int_equal(w->live, 0);
    recorder = rec_open_recorder("NamedMpk", REC_PRECISION_FULL);
    assert_non_null(recorder);
    rec_close_recorder(recorder);
    assert_int_equal(w->live, 0); /* it was the library's own context */
}

static void *use_and_free(void *user)
{
    rec_record *record = user;
    const rec_tensor *tensor = rec_tensor_at(record, "weight");
    const double *numbers = tensor ? rec_tensor_f64(tensor) : NULL;
    void *answer = numbers && numbers[5] == 6 ? record : NULL;
    rec_record_free(record);
    return answer;
}

static void the_last_thread_frees_it(void **state)
{
    world *w = *state;
    enum { THREADS = 8 };
    for (int round = 0; round < 25; round++) {
        pthread_t threads[THREADS];
        w->context = round ? rec_context_new(&w->allocator) : w->context;
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, use_and_free, linear(w->context)), 0);
        }
        rec_context_free(w->context);
        for (int i = 0; i < THREADS; i++) {
            void *answer;
            assert_int_equal(pthread_join(threads[i], &answer), 0);
            assert_non_null(answer);
        }
        assert_int_equal(w->live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(records_outlive_their_context, enter, leave),
        cmocka_unit_test_setup_teardown(recorders_outlive_their_context, enter, leave),
        cmocka_unit_test_setup_teardown(types_go_with_the_last_recorder, enter, leave),
        cmocka_unit_test_setup_teardown(plans_keep_what_they_were_made_with, enter, leave),
        cmocka_unit_test_setup_teardown(bindings_outlive_their_context, enter, leave),
        cmocka_unit_test_setup_teardown(the_default_one_is_replaced_when_it_is_freed, enter, leave),
        cmocka_unit_test_setup_teardown(the_last_thread_frees_it, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
