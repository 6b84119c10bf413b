/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Memory of freed records that the next load takes: what is loaded is what was saved, whoever had the memory before. */
#include "tests/recorder/program.h"

enum { TENSORS = 3, SIDE = 1024 }; /* of f32: 4 MiB each */

static float value(int model, int tensor, int i)
{
    return (float)((i * 7 + tensor * 131 + model * 977) % 4096);
}

static void save(rec_recorder *recorder, const char *path, int model)
{
    static const uint64_t shape[] = {SIDE, SIDE};
    rec_record *record = rec_record_new(context);
    float *values = malloc(sizeof(float) * SIDE * SIDE);
    assert_non_null(values);
    for (int t = 0; t < TENSORS; t++) {
        const char key[] = {(char)('a' + t), 0};
        rec_tensor_spec spec = {.size = sizeof spec,
                                .dtype = REC_DTYPE_F32,
                                .rank = 2,
                                .ownership = REC_COPY,
                                .shape = shape,
                                .data = values,
                                .data_size = sizeof(float) * SIDE * SIDE,
                                .id = ""};
        for (int i = 0; i < SIDE * SIDE; i++) {
            values[i] = value(model, t, i);
        }
        little(values, sizeof *values, (size_t)SIDE * SIDE);
        assert_int_equal(rec_set_tensor(record, key, &spec), REC_OK);
    }
    assert_int_equal(rec_save(recorder, record, path), REC_OK);
    rec_record_free(record);
    free(values);
}

/* @return whether it holds that model; asserts are for one thread. */
static bool holds(const rec_record *record, int model)
{
    for (int t = 0; t < TENSORS; t++) {
        const char key[] = {(char)('a' + t), 0};
        const rec_tensor *tensor = record ? rec_tensor_at(record, key) : NULL;
        const float *values = tensor ? rec_tensor_f32(tensor) : NULL;
        const double *wide = tensor ? rec_tensor_f64(tensor) : NULL;
        for (int i = 0; values && wide && i < SIDE * SIDE; i++) {
            if (values[i] != value(model, t, i) || wide[i] != (double)values[i]) {
                values = NULL;
            }
        }
        if (!values || !wide) {
            return false;
        }
    }
    return true;
}

typedef struct loads {
    const char *path;
    rec_recorder *recorder;
    int model;
    bool well;
} loads;

static void *load_often(void *user)
{
    loads *l = user;
    l->well = true;
    for (int i = 0; i < 6; i++) {
        rec_record *record = rec_load(l->recorder, l->path);
        l->well = l->well && holds(record, l->model);
        rec_record_free(record);
    }
    return NULL;
}

static void records_take_turns(const char *name)
{
    scratch *folder = scratch_new();
    char *paths[2] = {scratch_path(folder, "one"), scratch_path(folder, "two")};
    rec_recorder *recorder = recorder_of(name);
    loads l[2];
    pthread_t thread;
    assert_int_equal(rec_recorder_set(recorder, "map", "no"), REC_OK);
    for (int i = 0; i < 2; i++) {
        save(recorder, paths[i], i);
        l[i] = (loads){.path = paths[i], .recorder = recorder, .model = i};
    }
    assert_int_equal(rec_context_keep_memory(context, 100 * MIB), REC_OK);
    for (int i = 0; i < 2; i++) {
        (void)load_often(&l[i]);
        assert_true(l[i].well);
    }
    assert_int_equal(pthread_create(&thread, NULL, load_often, &l[0]), 0);
    (void)load_often(&l[1]);
    assert_int_equal(rec_context_keep_memory(context, 5 * MIB), REC_OK); /* while another thread loads */
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(l[0].well && l[1].well);
    rec_close_recorder(recorder);
    for (int i = 0; i < 2; i++) {
        free(paths[i]);
    }
    scratch_free(folder);
}

static void files_take_turns(void **state)
{
    (void)state;
    records_take_turns("NamedMpk");
    records_take_turns("NamedMpkGz");
    records_take_turns("Safetensors");
}

/* The program's own allocator gets all of it back, whichever goes first. */
static void own_memory_comes_back(void **state)
{
    const rec_allocator own = {.size = sizeof own, .alloc = take, .resize = resize, .release = give};
    rec_context *before = context;
    (void)state;
    live = 0;
    for (int last = 0; last < 2; last++) {
        scratch *folder = scratch_new();
        char *path = scratch_path(folder, "model");
        rec_recorder *recorder;
        rec_record *record;
        int loaded;
        context = rec_context_new(&own);
        assert_non_null(context);
        recorder = recorder_of("NamedMpk");
        assert_int_equal(rec_recorder_set(recorder, "map", "no"), REC_OK);
        save(recorder, path, 5);
        assert_int_equal(rec_context_keep_memory(context, 100 * MIB), REC_OK);
        record = rec_load(recorder, path);
        assert_true(holds(record, 5));
        loaded = live;
        rec_record_free(record);
        assert_true(live > 0 && live < loaded);
        record = rec_load(recorder, path);
        assert_true(holds(record, 5));
        if (last) {
            rec_context_free(context);
        }
        rec_record_free(record);
        rec_close_recorder(recorder);
        if (!last) {
            assert_int_equal(rec_context_keep_memory(context, 0), REC_OK);
            rec_context_free(context);
        }
        assert_int_equal(live, 0);
        free(path);
        scratch_free(folder);
    }
    context = before;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_take_turns, enter, leave),
        cmocka_unit_test_setup_teardown(own_memory_comes_back, enter, leave),
    };
    return cmocka_run_group_tests_name("kept memory", tests, NULL, NULL);
}
