/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Each format under what may fail: every call of a function that takes or gives bytes, every allocation, bytes that
 * come one by one. Whatever fails is the status, everything is given back, and what went well is what it was. */
#include "tests/recorder/program.h"

/* What a format writes, and whether it holds more than tensors. */
static const struct {
    const char *name;
    bool values;
} formats[] = {
    {"NamedMpk", true}, {"NamedMpkGz", true}, {"PrettyJson", true}, {"JsonGz", true},    {"Safetensors", true},
    {"PyTorch", true},  {"Gguf", false},      {"Npz", false},       {"Burnpack", false},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static rec_recorder *open_format(rec_context *in, size_t i)
{
    rec_recorder *recorder = rec_open_recorder_in(in, formats[i].name, REC_PRECISION_KEEP);
    if (recorder) {
        (void)rec_recorder_set(recorder, "adapter", "none"); /* where there is one */
    }
    return recorder;
}

/* A model: parameters of several types in a list and a map, text beside them, and values where the format has them. */
static rec_record *model(rec_context *in, size_t i)
{
    static const rec_dtype dtypes[] = {REC_DTYPE_F32, REC_DTYPE_F64, REC_DTYPE_I64, REC_DTYPE_F16};
    static const uint64_t shape[] = {2, 3};
    static const uint8_t zeros[48];
    rec_record *record = rec_record_new(in);
    bool well = record && rec_metadata_set(record, "note", "a text") == REC_OK;
    for (unsigned k = 0; k < 4 && well; k++) {
        char path[32];
        rec_tensor_spec spec = {.size = sizeof spec,
                                .dtype = dtypes[k],
                                .rank = 2,
                                .ownership = REC_COPY,
                                .shape = shape,
                                .data = zeros,
                                .data_size = 6 * (uint64_t)(rec_dtype_bits(dtypes[k]) / 8),
                                .id = "0123456789abc"};
        (void)snprintf(path, sizeof path, k < 2 ? "blocks.%u.weight" : "part%u.weight", k);
        well = rec_set_tensor(record, path, &spec) == REC_OK;
    }
    if (formats[i].values) {
        well = well && rec_set_int(record, "steps", -7) == REC_OK &&
               rec_set_string(record, "name", "x\"\n") == REC_OK && rec_set_bool(record, "flag", 1) == REC_OK &&
               rec_set_nil(record, "nothing") == REC_OK && rec_set_float(record, "rate", 0.1) == REC_OK &&
               rec_set_float(record, "sizes.0", 1) == REC_OK && rec_set_uint(record, "more.a", UINT64_MAX) == REC_OK;
    }
    if (!well) {
        rec_record_free(record);
        record = NULL;
    }
    return record;
}

/* @return whether a record has what the model has; a failure to read is told. */
static bool same(const rec_record *record, size_t i)
{
    const rec_tensor *tensor = rec_tensor_at(record, "blocks.1.weight");
    uint64_t size;
    const uint8_t *data = tensor ? rec_tensor_bytes(tensor, &size) : NULL;
    if (!data) {
        return false;
    }
    assert_int_equal(rec_tensor_dtype(tensor), REC_DTYPE_F64);
    assert_int_equal(size, 48);
    assert_int_equal(rec_tensor_shape(tensor)[1], 3);
    if (formats[i].values) {
        assert_int_equal(rec_value_scalar(rec_value_at(record, "steps")).v.i, -7);
        assert_true(rec_value_scalar(rec_value_at(record, "rate")).v.f == 0.1);
    }
    return true;
}

static line save_model(size_t i)
{
    rec_record *record = model(context, i);
    rec_recorder *recorder = open_format(context, i);
    line l = {.fail_at = -1};
    void *data = NULL;
    assert_true(record && recorder);
    if (rec_save_bytes(recorder, record, &data, &l.size) != REC_OK) {
        fail_msg("%s: %s", formats[i].name, rec_error_message());
    }
    l.data = data;
    rec_record_free(record);
    rec_close_recorder(recorder);
    return l;
}

static void each_write_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORMATS; i++) {
        rec_record *record = model(context, i);
        rec_recorder *recorder = open_format(context, i);
        line whole = save_model(i);
        for (int at = 0;; at++) {
            line l = {.fail_at = at, .error = ENOSPC};
            rec_status status = rec_save_to(recorder, record, &output, &l);
            assert_int_equal(l.released, 1);
            assert_int_equal(l.finished, 1);
            if (l.calls <= at) {
                assert_int_equal(status, REC_OK);
                assert_int_equal(l.good, 1);
                assert_int_equal(l.size, whole.size);
                assert_memory_equal(l.data, whole.data, (size_t)whole.size);
                free(l.data);
                assert_true(at > 0);
                break;
            }
            free(l.data);
            if (status != REC_E_IO || rec_error_errno() != ENOSPC) {
                fail_msg("%s, call %d: %s: %s", formats[i].name, at, rec_status_name(status), rec_error_message());
            }
        }
        rec_free(whole.data);
        rec_record_free(record);
        rec_close_recorder(recorder);
    }
}

static void each_read_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORMATS; i++) {
        rec_recorder *recorder = open_format(context, i);
        line whole = save_model(i);
        for (int streamed = 0; streamed < 2; streamed++) {
            for (int at = 0;; at++) {
                line l = {.data = whole.data, .size = whole.size, .fail_at = at, .error = EIO, .most = 100};
                rec_input lent = streamed ? stream : anywhere(&l);
                rec_record *record = rec_load_from(recorder, &lent, &l);
                bool well = record && same(record, i);
                if (!well && (rec_error_status() != REC_E_IO || rec_error_errno() != EIO)) {
                    fail_msg("%s, call %d: %s", formats[i].name, at, rec_error_message());
                }
                rec_record_free(record);
                assert_int_equal(l.released, 1);
                if (l.calls <= at) {
                    assert_true(well && at > 0);
                    break;
                }
                assert_false(well && streamed);
            }
        }
        rec_free(whole.data);
        rec_close_recorder(recorder);
    }
}

static void bytes_may_come_one_by_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORMATS; i++) {
        for (uint64_t most = 1; most <= 7; most += 6) {
            rec_recorder *recorder = open_format(context, i);
            line l = save_model(i);
            rec_record *record;
            l.most = most;
            record = rec_load_from(recorder, &stream, &l);
            if (!record || !same(record, i)) {
                fail_msg("%s: %s", formats[i].name, rec_error_message());
            }
            rec_record_free(record);
            rec_free(l.data);
            rec_close_recorder(recorder);
        }
    }
}

/* Makes, saves and loads the model in a context of its own. @return whether all of it went well. */
static bool go_round(size_t i)
{
    static const rec_allocator allocator = {.size = sizeof allocator, .alloc = take, .resize = resize, .release = give};
    int64_t fails = fail_alloc;
    rec_context *own;
    rec_record *record = NULL, *again = NULL;
    rec_recorder *recorder;
    void *data = NULL;
    uint64_t size = 0;
    bool well;
    fail_alloc = -1;
    own = rec_context_new(&allocator);
    assert_non_null(own);
    made = 0;
    fail_alloc = fails;
    recorder = open_format(own, i);
    record = recorder ? model(own, i) : NULL;
    well = record && rec_save_bytes(recorder, record, &data, &size) == REC_OK;
    again = well ? rec_load_bytes(recorder, data, size) : NULL;
    well = again && same(again, i);
    if (!well && rec_error_status() != REC_E_MEMORY) {
        fail_msg("%s, allocation %d: %s", formats[i].name, (int)fails, rec_error_message());
    }
    fail_alloc = -1;
    rec_free(data);
    rec_record_free(again);
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_context_free(own);
    assert_int_equal(live, 0);
    fail_alloc = fails;
    return well;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORMATS; i++) {
        int64_t n = 0;
        for (;; n++) {
            bool well;
            fail_alloc = n;
            well = go_round(i);
            if (well && made <= n) {
                break;
            }
        }
        assert_true(n > 20);
    }
    fail_alloc = -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_write_may_fail, enter, leave),
        cmocka_unit_test_setup_teardown(each_read_may_fail, enter, leave),
        cmocka_unit_test_setup_teardown(bytes_may_come_one_by_one, enter, leave),
        cmocka_unit_test_setup_teardown(each_allocation_may_fail, enter, leave),
    };
    return cmocka_run_group_tests_name("each format, whatever fails", tests, NULL, NULL);
}
