/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What one process saw of a model's files, shown to another: a context of its own, as it would be there. */
#include "librecord/parallel.h"
#include "tests/recorder/program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

enum { LAYERS = 70, ROWS = 64, COLUMNS = 100 }; /* more files than are open at once */

typedef struct model {
    scratch *s;
    char *path; /* of its index, or of all of it */
} model;

/* What does not become smaller. */
static float number_of(int layer, int at)
{
    uint32_t bits = (uint32_t)(layer * 10000 + at + 1) * 2654435761u;
    bits ^= bits >> 15;
    return (float)(bits * 2246822519u >> 8);
}

static rec_record *make_record(void)
{
    static float numbers[ROWS * COLUMNS];
    const uint64_t shape[] = {ROWS, COLUMNS};
    rec_record *record = rec_record_new(context);
    assert_non_null(record);
    for (int i = 0; i < LAYERS; i++) {
        rec_tensor_spec spec = {.size = sizeof spec,
                                .dtype = REC_DTYPE_F32,
                                .rank = 2,
                                .shape = shape,
                                .data = numbers,
                                .data_size = sizeof numbers};
        char path[32];
        (void)snprintf(path, sizeof path, "layer%d.weight", i);
        for (int k = 0; k < ROWS * COLUMNS; k++) {
            numbers[k] = number_of(i, k);
        }
        little(numbers, 4, ROWS * COLUMNS);
        assert_int_equal(rec_set_tensor(record, path, &spec), REC_OK);
    }
    return record;
}

/* In one file, or in one for each layer and an index. */
static model make_model(const char *recorder, const char *name, bool in_files)
{
    model m = {.s = scratch_new()};
    rec_recorder *to = recorder_of(recorder);
    rec_record *record = make_record();
    char *path = scratch_path(m.s, name);
    if (in_files) {
        assert_int_equal(rec_recorder_set(to, "max-shard-size", "30KB"), REC_OK);
    }
    if (rec_save(to, record, path) != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    m.path = path;
    if (in_files) {
        m.path = malloc(strlen(path) + sizeof ".index.json");
        (void)sprintf(m.path, "%s.index.json", path);
        free(path);
    }
    assert_int_equal(access(m.path, R_OK), 0);
    rec_record_free(record);
    rec_close_recorder(to);
    return m;
}

static void end_model(model *m)
{
    free(m->path);
    scratch_free(m->s);
}

static void look(const char *name, const char *path, void **seen, uint64_t *size)
{
    rec_recorder *recorder = recorder_of(name);
    if (rec_files_look(recorder, path, seen, size) != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    assert_non_null(*seen);
    rec_close_recorder(recorder);
}

/* The recorder of a process that was shown them. */
static rec_recorder *shown(rec_context *other, const char *name, const void *seen, uint64_t size)
{
    rec_recorder *recorder = rec_open_recorder_in(other, name, REC_PRECISION_KEEP);
    assert_non_null(recorder);
    assert_int_equal(rec_files_show(recorder, seen, size), REC_OK);
    return recorder;
}

/* Files of the model but its index. @return how many. */
static int move_all(const model *m, const char *from, const char *to)
{
    int count = 0;
    for (int i = 1; i <= LAYERS; i++) {
        char one[600], other[600];
        (void)snprintf(one, sizeof one, "%s/%smodel-%05d-of-%05d.safetensors", m->s->path, from, i, LAYERS);
        (void)snprintf(other, sizeof other, "%s/%smodel-%05d-of-%05d.safetensors", m->s->path, to, i, LAYERS);
        count += rename(one, other) == 0;
    }
    return count;
}

static void assert_layers(const rec_record *record)
{
    for (int i = 0; i < LAYERS; i++) {
        char path[32];
        float number = 0;
        (void)snprintf(path, sizeof path, "layer%d.weight", i);
        if (rec_tensor_read(rec_tensor_at(record, path), REC_DTYPE_F32, 77, 1, &number) != REC_OK) {
            fail_msg("%s", rec_error_message());
        }
        assert_float_equal(number, number_of(i, 77), 0);
    }
}

static void a_model_is_loaded_without_its_files(void **state)
{
    model m = make_model("SafeTensors", "model.safetensors", true);
    rec_context *other = rec_context_new(NULL);
    rec_recorder *recorder;
    rec_record *record;
    void *seen;
    uint64_t size;
    float number;
    char *index;
    (void)state;
    look("SafeTensors", m.path, &seen, &size);
    assert_true(size < 300 * LAYERS + 70000); /* headers, and the ends of the index */
    recorder = shown(other, "SafeTensors", seen, size);
    rec_free(seen);
    assert_int_equal(move_all(&m, "", "away-"), LAYERS);
    index = scratch_path(m.s, "away");
    assert_int_equal(rename(m.path, index), 0);
    record = rec_load(recorder, m.path);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(rec_tensor_shape(rec_tensor_at(record, "layer69.weight"))[1], COLUMNS);
    assert_int_not_equal(rec_tensor_read(rec_tensor_at(record, "layer69.weight"), REC_DTYPE_F32, 0, 1, &number),
                         REC_OK);
    assert_error(REC_E_NOT_FOUND, "safetensors: cannot open the file: No such file");
    assert_int_equal(move_all(&m, "away-", ""), LAYERS);
    assert_layers(record); /* which have been where they were */
    assert_layers(record);
    assert_non_null(rec_tensor_f32(rec_tensor_at(record, "layer3.weight")));
    rec_close_recorder(recorder);
    rec_context_free(other); /* the record keeps what it needs */
    assert_layers(record);
    rec_record_free(record);
    free(index);
    end_model(&m);
}

static void another_file_is_refused(void **state)
{
    model m = make_model("SafeTensors", "model.safetensors", false);
    rec_context *other = rec_context_new(NULL);
    rec_recorder *recorder;
    rec_record *record;
    void *seen;
    uint64_t size;
    float number;
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000000000}};
    FILE *file;
    (void)state;
    assert_int_equal(utimensat(AT_FDCWD, m.path, times, 0), 0);
    look("SafeTensors", m.path, &seen, &size);
    recorder = shown(other, "SafeTensors", seen, size);
    record = rec_load(recorder, m.path);
    assert_non_null(record);
    times[1].tv_sec++;
    assert_int_equal(utimensat(AT_FDCWD, m.path, times, 0), 0);
    assert_int_equal(rec_tensor_read(rec_tensor_at(record, "layer35.weight"), REC_DTYPE_F32, 0, 1, &number),
                     REC_E_MISMATCH);
    assert_error(REC_E_MISMATCH, "this is not the file whose header was read: it has 1,");
    assert_error(REC_E_MISMATCH, " bytes and is of 2001-09-09 01:46:41, that had 1,");
    assert_error(REC_E_MISMATCH, " and was of 2001-09-09 01:46:40");
    times[1].tv_sec--;
    assert_int_equal(utimensat(AT_FDCWD, m.path, times, 0), 0);
    assert_int_equal(rec_tensor_read(rec_tensor_at(record, "layer35.weight"), REC_DTYPE_F32, 0, 1, &number), REC_OK);
    rec_record_free(record);
    /* A larger one, of the same time. */
    record = rec_load(recorder, m.path);
    assert_non_null(record);
    file = fopen(m.path, "ab");
    assert_true(file && fputc('x', file) == 'x' && fclose(file) == 0);
    assert_int_equal(utimensat(AT_FDCWD, m.path, times, 0), 0);
    assert_int_equal(rec_tensor_read(rec_tensor_at(record, "layer35.weight"), REC_DTYPE_F32, 0, 1, &number),
                     REC_E_MISMATCH);
    rec_record_free(record);
    rec_free(seen);
    rec_close_recorder(recorder);
    rec_context_free(other);
    end_model(&m);
}

/* Each looks at those by itself: nothing of them is shown, and they load as ever. */
static void what_has_no_header_is_left_to_each(void **state)
{
    static const struct {
        const char *recorder, *name;
        bool headers; /* it has some after all */
    } cases[] = {{"NamedMpk", "model.mpk", false},
                 {"NamedMpkGz", "model.mpk.gz", false},
                 {"PrettyJson", "model.json", false},
                 {"BurnPack", "model.bpk", true},
                 {"PyTorch", "model.pt", true},
                 {"Npz", "model.npz", true},
                 {"SafeTensors", "model.safetensors", true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        model m = make_model(cases[i].recorder, cases[i].name, false);
        rec_context *other = rec_context_new(NULL);
        rec_recorder *recorder;
        rec_record *record;
        void *seen;
        uint64_t size;
        look(cases[i].recorder, m.path, &seen, &size);
        recorder = shown(other, cases[i].recorder, seen, size);
        print_message("%s: %llu bytes are shown\n", cases[i].name, (unsigned long long)size);
        assert_true(cases[i].headers ? size > 1000 && size < 600000 : size < 1000);
        record = rec_load(recorder, m.path);
        if (!record) {
            fail_msg("%s: %s", cases[i].name, rec_error_message());
        }
        assert_layers(record);
        rec_record_free(record);
        rec_free(seen);
        rec_close_recorder(recorder);
        rec_context_free(other);
        end_model(&m);
    }
}

static void what_cannot_be_loaded_is_told_by_who_loads_it(void **state)
{
    scratch *s = scratch_new();
    char *path = scratch_path(s, "gone.safetensors"), *damaged = scratch_path(s, "damaged.safetensors");
    rec_recorder *recorder = recorder_of("SafeTensors");
    void *seen;
    uint64_t size;
    FILE *file = fopen(damaged, "wb");
    (void)state;
    assert_true(file && fputs("no safetensors", file) >= 0 && fclose(file) == 0);
    look("SafeTensors", path, &seen, &size);
    assert_int_equal(rec_files_show(recorder, seen, size), REC_OK);
    assert_null(rec_load(recorder, path));
    assert_error(REC_E_NOT_FOUND, "gone.safetensors: cannot open the file");
    rec_free(seen);
    look("SafeTensors", damaged, &seen, &size);
    assert_int_equal(rec_files_show(recorder, seen, size), REC_OK);
    assert_null(rec_load(recorder, damaged));
    assert_error(REC_E_FORMAT, "damaged.safetensors: ");
    rec_free(seen);
    rec_close_recorder(recorder);
    free(path);
    free(damaged);
    scratch_free(s);
}

static void what_was_shown_may_be_forgotten(void **state)
{
    model m = make_model("SafeTensors", "model.safetensors", true);
    rec_context *other = rec_context_new(NULL);
    rec_recorder *recorder;
    rec_record *record, *after;
    void *seen;
    uint64_t size;
    (void)state;
    look("SafeTensors", m.path, &seen, &size);
    recorder = shown(other, "SafeTensors", seen, size);
    assert_int_equal(rec_files_show(recorder, seen, size), REC_OK); /* once more: that counts */
    record = rec_load(recorder, m.path);
    assert_non_null(record);
    assert_int_equal(rec_files_show(recorder, NULL, 0), REC_OK);
    assert_layers(record);
    assert_int_equal(move_all(&m, "", "away-"), LAYERS);
    assert_null(rec_load(recorder, m.path));
    assert_error(REC_E_NOT_FOUND, "safetensors: cannot open the file: No such file");
    assert_int_equal(rec_files_show(recorder, seen, size), REC_OK);
    after = rec_load(recorder, m.path);
    assert_non_null(after);
    assert_int_equal(move_all(&m, "away-", ""), LAYERS);
    assert_layers(after);
    assert_layers(record);
    rec_record_free(record);
    rec_record_free(after);
    rec_free(seen);
    rec_close_recorder(recorder);
    rec_context_free(other);
    end_model(&m);
}

static void other_bytes_are_refused(void **state)
{
    model m = make_model("SafeTensors", "model.safetensors", true);
    rec_recorder *recorder;
    void *seen;
    uint64_t size;
    uint8_t *cut;
    (void)state;
    look("SafeTensors", m.path, &seen, &size);
    for (uint64_t length = 1; length < size; length += 1 + length / 40) {
        rec_context *other = rec_context_new(NULL);
        rec_status status;
        recorder = rec_open_recorder_in(other, "SafeTensors", REC_PRECISION_KEEP);
        cut = malloc((size_t)length); /* so that no byte too many is read unseen */
        memcpy(cut, seen, (size_t)length);
        status = rec_files_show(recorder, cut, length);
        assert_true(status == REC_E_ARGUMENT || (status == REC_OK && length >= 8)); /* a whole number of files */
        cut[length / 2] ^= 0x80;
        (void)rec_files_show(recorder, cut, length);
        free(cut);
        rec_close_recorder(recorder);
        rec_context_free(other);
    }
    recorder = recorder_of("SafeTensors");
    memset((uint8_t *)seen + 8 + 8, 0xff, 8); /* a size that no file has is one that this has not */
    (void)rec_files_show(recorder, seen, size);
    memset((uint8_t *)seen + 8 + 32, 0xff, 8);
    assert_int_equal(rec_files_show(recorder, seen, size), REC_E_ARGUMENT);
    assert_error(REC_E_ARGUMENT, "these are not the bytes of rec_files_look()");
    rec_free(seen);
    rec_close_recorder(recorder);
    end_model(&m);
}

static void any_allocation_may_fail(void **state)
{
    const rec_allocator counted = {.size = sizeof counted, .alloc = take, .resize = resize, .release = give};
    model m = make_model("SafeTensors", "model.safetensors", true);
    int failures = 0;
    bool well = false;
    (void)state;
    fail_alloc = -1;
    live = 0;
    for (int64_t at = 0; !well; at += 1 + at / 16) {
        rec_context *other = rec_context_new(&counted);
        rec_recorder *recorder = rec_open_recorder_in(other, "SafeTensors", REC_PRECISION_KEEP);
        void *seen = NULL;
        uint64_t size = 0;
        rec_record *record = NULL;
        made = 0;
        fail_alloc = at;
        well = rec_files_look(recorder, m.path, &seen, &size) == REC_OK &&
               rec_files_show(recorder, seen, size) == REC_OK && (record = rec_load(recorder, m.path)) != NULL;
        fail_alloc = -1;
        if (!well) {
            assert_int_equal(rec_error_status(), REC_E_MEMORY);
            failures++;
        } else {
            assert_layers(record);
        }
        rec_record_free(record);
        rec_free(seen);
        rec_close_recorder(recorder);
        rec_context_free(other);
        assert_int_equal(live, 0);
    }
    assert_true(failures > 50);
    end_model(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_model_is_loaded_without_its_files, enter, leave),
        cmocka_unit_test_setup_teardown(another_file_is_refused, enter, leave),
        cmocka_unit_test_setup_teardown(what_has_no_header_is_left_to_each, enter, leave),
        cmocka_unit_test_setup_teardown(what_cannot_be_loaded_is_told_by_who_loads_it, enter, leave),
        cmocka_unit_test_setup_teardown(what_was_shown_may_be_forgotten, enter, leave),
        cmocka_unit_test_setup_teardown(other_bytes_are_refused, enter, leave),
        cmocka_unit_test_setup_teardown(any_allocation_may_fail, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
