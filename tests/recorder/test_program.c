/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Loading from and saving to the program's own functions, and memory that is given back. Whatever happens, what was
 * lent is given back once. */
#include "tests/recorder/program.h"

#include "tests/scratch.h"

/* ----------------------------------------------------------------------------------------------------- loading -- */

static void loads_what_is_needed(void **state)
{
    line l = saved("Safetensors");
    rec_recorder *recorder = recorder_of("Auto");
    rec_input input = anywhere(&l);
    rec_record *record = rec_load_from(recorder, &input, &l), *copy;
    float few[2];
    (void)state;
    assert_non_null(record);
    assert_string_equal(rec_record_origin(record)->file, "(input)");
    assert_true(l.given < 200000);
    rec_close_recorder(recorder);
    rec_context_free(context);
    context = NULL;
    l.given = 0;
    assert_int_equal(rec_tensor_read(rec_tensor_at(record, "a.weight"), REC_DTYPE_F32, 1000, 2, few), REC_OK);
    assert_int_equal(few[1], 1001);
    assert_int_equal(l.given, sizeof few);
    copy = rec_record_copy(record);
    rec_record_free(record);
    assert_loaded(copy);
    assert_int_equal(l.released, 0);
    rec_record_free(copy);
    assert_int_equal(l.released, 1);
    free(l.data);
}

static void loads_streams_and_all_formats(void **state)
{
    static const char *const formats[] = {"Safetensors", "NamedMpk", "NamedMpkGz", "PrettyJson", "JsonGz"};
    rec_recorder *recorder = recorder_of("Auto");
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        line l = saved(formats[i]);
        rec_input input = anywhere(&l);
        rec_record *record = rec_load_from(recorder, &input, &l);
        assert_loaded(record);
        rec_record_free(record);
        assert_int_equal(l.released, 1);
        l.most = 4099;
        record = rec_load_from(recorder, &stream, &l);
        assert_int_equal(l.released, 2); /* it is not needed any more */
        assert_loaded(record);
        assert_string_equal(rec_record_origin(record)->file, "the line");
        rec_record_free(record);
        free(l.data);
    }
    rec_close_recorder(recorder);
}

/* Loads headers alone, by a pipe, of which the file is never whole in memory. */
static rec_record *headers_by_a_pipe(rec_recorder *recorder, const char *path)
{
    char command[700];
    FILE *pipe;
    rec_record *record;
    assert_int_equal(rec_recorder_set(recorder, "data", "skip"), REC_OK);
    (void)snprintf(command, sizeof command, "exec cat '%s'", path);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    record = rec_load_fd(recorder, fileno(pipe), "pipe");
    (void)pclose(pipe);
    return record;
}

/* What follows the record does not fit into the window: all of it is counted. */
static void what_follows_in_a_pipe_is_read_to_its_end(void **state)
{
    enum { MORE = 600000 };
    line l = saved("NamedMpk");
    uint64_t size = l.size;
    rec_recorder *recorder = recorder_of("NamedMpk");
    scratch *s = scratch_new();
    rec_record *record;
    char words[128], *path;
    (void)state;
    l.data = realloc(l.data, (size_t)size + MORE);
    assert_non_null(l.data);
    memset(l.data + size, 0, MORE);
    path = scratch_write(s, "long.mpk", l.data, (size_t)size + MORE);
    assert_null(headers_by_a_pipe(recorder, path));
    (void)snprintf(words, sizeof words, "the record ends here, and %d bytes follow", MORE);
    assert_error(REC_E_FORMAT, words);
    assert_int_equal(rec_error_offset(), size);
    assert_int_equal(rec_recorder_set(recorder, "trailing", "ignore"), REC_OK);
    record = headers_by_a_pipe(recorder, path);
    assert_non_null(record);
    assert_int_equal(rec_value_kind(rec_value_at(record, "a.weight")), REC_KIND_TENSOR);
    rec_record_free(record);
    rec_close_recorder(recorder);
    free(path);
    scratch_free(s);
    free(l.data);
}

static void loading_fails_as_the_functions_do(void **state)
{
    static const struct {
        int32_t error;
        bool greedy;
        rec_status status;
        const char *words;
        int32_t number;
    } cases[] = {
        {EIO, false, REC_E_IO, "cannot read: Input/output error", EIO},
        {ETIMEDOUT, false, REC_E_IO, "cannot read: Connection timed out", ETIMEDOUT},
        {-3, false, REC_E_IO, "cannot read: the program's function returned -3, which is not an errno", 0},
        {ENOENT, false, REC_E_NOT_FOUND, "cannot read: No such file", ENOENT},
        {ENOTDIR, false, REC_E_NOT_FOUND, "cannot read: Not a directory", ENOTDIR},
        {ENOMEM, false, REC_E_MEMORY, "cannot read: Cannot allocate memory", ENOMEM},
        {ECANCELED, false, REC_E_CANCELLED, "cancelled by the caller", 0},
        {0, true, REC_E_ARGUMENT, "gave more bytes than there was room for", 0},
    };
    line l = saved("NamedMpk");
    rec_recorder *recorder = recorder_of("NamedMpk");
    rec_input input = anywhere(&l);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        l.error = cases[i].error;
        l.greedy = cases[i].greedy;
        for (int at = 0; at < 4; at++) {
            l.released = l.calls = 0;
            l.at = 0;
            l.most = 100000;
            l.fail_at = at;
            assert_null(rec_load_from(recorder, &stream, &l));
            assert_error(cases[i].status, cases[i].words);
            assert_int_equal(rec_error_errno(), cases[i].number);
            assert_string_equal(rec_error_file(), cases[i].greedy ? rec_error_file() : "the line");
            assert_int_equal(l.released, 1);
        }
        if (!cases[i].greedy) {
            l.released = l.calls = l.fail_at = 0;
            assert_null(rec_load_from(recorder, &input, &l));
            assert_error(cases[i].status, cases[i].words);
            assert_int_equal(l.released, 1);
        }
    }
    rec_close_recorder(recorder);
    free(l.data);
}

static void inputs_that_cannot_be_are_refused(void **state)
{
    rec_recorder *recorder = recorder_of("Auto");
    line l = {.fail_at = -1, .data = (uint8_t *)"\xc1", .size = 1};
    const struct {
        rec_input input;
        const char *words;
        int released;
    } cases[] = {
        {{.size = 0, .read = line_read, .release = line_release}, "the input's `size` is invalid (0)", 0},
        {{.size = offsetof(rec_input, release), .read = line_read, .release = line_release}, "`size` is invalid", 0},
        {{.size = 5000, .read = line_read, .release = line_release}, "`size` is invalid", 0},
        {{.size = sizeof(rec_input), .release = line_release}, "the input needs `read`", 1},
        {{.size = sizeof(rec_input), .total = REC_UNKNOWN, .read_at = line_read_at, .release = line_release},
         "the input needs `read`",
         1},
    };
    rec_input lies = {.size = sizeof lies, .total = 5, .read = line_read, .release = line_release};
    rec_plan *plan = rec_plan_new(context, NULL);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        l.released = 0;
        assert_null(rec_load_from(recorder, &cases[i].input, &l));
        assert_error(REC_E_ARGUMENT, cases[i].words);
        assert_int_equal(l.released, cases[i].released);
        assert_int_equal(rec_plan_add_from(plan, recorder, &cases[i].input, &l), REC_E_ARGUMENT);
        assert_int_equal(l.released, 2 * cases[i].released);
    }
    l.released = 0;
    assert_null(rec_load_from(recorder, &lies, &l));
    assert_error(REC_E_IO, "expected 5 bytes, found the end after 1");
    assert_null(rec_load_from(NULL, &stream, &l));
    assert_null(rec_load_from(recorder, NULL, &l));
    assert_int_equal(rec_plan_add_from(NULL, recorder, &stream, &l), REC_E_ARGUMENT);
    assert_int_equal(rec_plan_add_from(plan, NULL, &stream, &l), REC_E_ARGUMENT);
    assert_int_equal(rec_plan_add_from(plan, recorder, NULL, &l), REC_E_ARGUMENT);
    assert_int_equal(l.released, 4);
    l.at = l.size; /* nothing comes at all */
    assert_null(rec_load_from(recorder, &stream, &l));
    assert_error(REC_E_UNSUPPORTED, "the file is empty");
    assert_int_equal(l.released, 5);
    rec_plan_free(plan);
    rec_close_recorder(recorder);
}

/* A struct of which only the size and `read` were filled in, and one that says less than comes. */
static void a_total_is_unknown_or_a_bound(void **state)
{
    line l = saved("NamedMpk");
    rec_recorder *recorder = recorder_of("NamedMpk");
    rec_input input = {.size = sizeof input, .read = line_read, .release = line_release};
    rec_record *record = rec_load_from(recorder, &input, &l);
    const uint64_t totals[] = {1, 1000, l.size - 1};
    (void)state;
    assert_non_null(record);
    assert_loaded(record);
    rec_record_free(record);
    for (size_t i = 0; i < 3; i++) {
        l.at = 0;
        l.released = 0;
        input.total = totals[i];
        assert_null(rec_load_from(recorder, &input, &l));
        assert_error(REC_E_IO, "bytes, found more");
        assert_int_equal(rec_error_offset(), totals[i]);
        assert_int_equal(l.at, totals[i] + 1); /* and no further */
        assert_int_equal(l.released, 1);
    }
    input.total = l.size;
    l.at = 0;
    record = rec_load_from(recorder, &input, &l);
    assert_loaded(record);
    rec_record_free(record);
    rec_close_recorder(recorder);
    free(l.data);
}

static void plans_take_inputs(void **state)
{
    line l = saved("Safetensors"), out = {.fail_at = -1};
    rec_recorder *from = recorder_of("Auto"), *to = recorder_of("NamedMpk");
    rec_input input = anywhere(&l);
    rec_plan *plan = rec_plan_new(context, to);
    rec_record *record;
    (void)state;
    assert_int_equal(rec_recorder_set(from, "rename", "^a\\. => b."), REC_OK);
    assert_int_equal(rec_recorder_set(from, "adapter", "none"), REC_OK);
    assert_int_equal(rec_plan_add_from(plan, from, &input, &l), REC_OK);
    record = rec_plan_load(plan);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    rec_plan_free(plan);
    assert_true(l.given < 200000);
    assert_int_equal(rec_save_to(to, record, &output, &out), REC_OK);
    assert_true(l.given < l.size + 200000); /* once */
    assert_int_equal(l.released, 0);
    rec_record_free(record);
    assert_int_equal(l.released, 1);
    assert_true(out.finished == 1 && out.good == 1 && out.released == 1);
    record = rec_load_bytes(to, out.data, out.size);
    assert_non_null(rec_tensor_at(record, "b.weight"));
    rec_record_free(record);
    rec_close_recorder(from);
    rec_close_recorder(to);
    free(out.data);
    free(l.data);
}

static void memory_is_given_back(void **state)
{
    line l = saved("Safetensors");
    rec_recorder *recorder = recorder_of("Auto");
    rec_record *record = rec_load_bytes_with(recorder, l.data, l.size, line_release_data, &l), *copy;
    (void)state;
    assert_non_null(record);
    assert_true((const uint8_t *)rec_tensor_bytes(rec_tensor_at(record, "a.weight"), NULL) < l.data + l.size);
    assert_true((const uint8_t *)rec_tensor_bytes(rec_tensor_at(record, "a.weight"), NULL) > l.data);
    copy = rec_record_copy(record);
    rec_record_free(record);
    assert_int_equal(l.released, 0);
    assert_loaded(copy);
    rec_record_free(copy);
    assert_int_equal(l.released, 1);
    assert_null(rec_load_bytes_with(recorder, l.data, 7, line_release_data, &l));
    assert_int_equal(l.released, 2);
    assert_null(rec_load_bytes_with(NULL, l.data, l.size, line_release_data, &l));
    assert_int_equal(l.released, 3);
    record = rec_load_bytes_with(recorder, l.data, l.size, NULL, NULL);
    assert_loaded(record);
    rec_record_free(record);
    rec_close_recorder(recorder);
    free(l.data);
}

/* ------------------------------------------------------------------------------------------------------ saving -- */

static void saves_what_a_file_would_have(void **state)
{
    static const char *const formats[] = {"Safetensors", "NamedMpk", "NamedMpkGz", "PrettyJson"};
    line numbers = {.size = COUNT * 4, .fail_at = -1};
    rec_record *record = record_of(&numbers, false);
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        rec_recorder *recorder = recorder_of(formats[i]);
        line out = {.fail_at = -1};
        void *bytes;
        uint64_t size;
        assert_int_equal(rec_save_bytes(recorder, record, &bytes, &size), REC_OK);
        assert_int_equal(rec_recorder_set(recorder, "check", "yes"), REC_OK);
        assert_int_equal(rec_save_to(recorder, record, &output, &out), REC_OK);
        /* A safetensors file has a note that names and layout are Burn's. */
        assert_int_equal(rec_report_count(), i == 0 ? 2 : 1);
        assert_int_equal(rec_report_note(rec_report_count() - 1)->kind, REC_NOTE_CHECK);
        assert_int_equal(out.size, size);
        assert_memory_equal(out.data, bytes, (size_t)size);
        assert_true(out.finished == 1 && out.good == 1 && out.released == 1);
        rec_free(bytes);
        free(out.data);
        rec_close_recorder(recorder);
    }
    rec_record_free(record);
}

static void saving_fails_as_the_functions_do(void **state)
{
    line numbers = {.size = COUNT * 40, .fail_at = -1};
    rec_record *record = record_of(&numbers, false);
    rec_recorder *recorder = recorder_of("NamedMpk"), *any = recorder_of("Auto");
    bool whole = false;
    int last = 0;
    const rec_output bad[] = {{.size = 0, .write = line_write, .release = line_release},
                              {.size = 4097, .write = line_write, .release = line_release},
                              {.size = sizeof output, .finish = line_finish, .release = line_release}};
    (void)state;
    for (int at = 0; !whole && at < 200; at++) {
        line out = {.fail_at = at, .error = ENOSPC};
        whole = rec_save_to(recorder, record, &output, &out) == REC_OK;
        assert_int_equal(out.released, 1);
        assert_int_equal(out.finished, 1);
        if (!whole) {
            assert_error(REC_E_IO, "the line: ");
            assert_error(REC_E_IO, "No space left on device");
            assert_int_equal(rec_error_errno(), ENOSPC);
            last = out.good; /* the last call of all is that which says that all went well */
        }
        free(out.data);
    }
    assert_true(whole);
    assert_int_equal(last, 1);
    for (int at = 0; at <= 1; at++) { /* what is written is never what is not found */
        line out = {.fail_at = at, .error = at ? ENOTDIR : ENOENT};
        assert_int_equal(rec_save_to(recorder, record, &output, &out), REC_E_IO);
        assert_int_equal(rec_error_errno(), out.error);
        free(out.data);
    }
    for (size_t i = 0; i < 3; i++) {
        line out = {.fail_at = -1};
        assert_int_equal(rec_save_to(recorder, record, &bad[i], &out), REC_E_ARGUMENT);
        assert_int_equal(out.released, i == 2);
        assert_int_equal(out.finished, i == 2);
        assert_int_equal(out.good, 0);
    }
    {
        line out = {.fail_at = -1};
        assert_int_equal(rec_save_to(any, record, &output, &out), REC_E_ARGUMENT);
        assert_error(REC_E_ARGUMENT, "Auto cannot tell which format to save in");
        assert_true(out.released == 1 && out.finished == 1);
        out.released = 0;
        assert_int_equal(rec_save_to(NULL, record, &output, &out), REC_E_ARGUMENT);
        assert_true(out.released == 1 && out.finished == 2);
        out.released = 0;
        assert_int_equal(rec_save_to(recorder, NULL, &output, &out), REC_E_ARGUMENT);
        assert_true(out.released == 1 && out.finished == 3 && out.good == 0 && !out.data);
        assert_int_equal(rec_save_to(recorder, record, NULL, &out), REC_E_ARGUMENT);
    }
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_close_recorder(any);
}

/* A format whose first bytes show last. */
static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    (void)self, (void)at, (void)scalar;
    return REC_OK;
}

static int32_t on_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)self, (void)at, (void)form, (void)count;
    return REC_OK;
}

static int32_t on_end(void *self, uint64_t at)
{
    (void)self, (void)at;
    return REC_OK;
}

static const rec_visitor visitor = {.size = sizeof visitor,
                                    .scalar = on_scalar,
                                    .list_begin = on_list,
                                    .map_begin = on_list,
                                    .key = on_scalar,
                                    .end = on_end};

static int32_t late_save(rec_job *job, rec_sink *sink)
{
    uint64_t size;
    int32_t status = rec_job_walk(job, &visitor, NULL);
    status = status == REC_OK ? rec_sink_write(sink, "????????body", 12) : status;
    size = rec_sink_tell(sink);
    return status == REC_OK ? rec_sink_patch(sink, 0, little(&size, sizeof size, 1), sizeof size) : status;
}

static const rec_plugin late = {
    .abi = REC_PLUGIN_ABI, .size = sizeof late, .name = "Late", .description = "for a test", .save = late_save};

static void bytes_can_be_written_over(void **state)
{
    static const uint8_t expected[] = "\x0c\0\0\0\0\0\0\0body";
    rec_output streaming = output;
    line out = {.fail_at = -1}, none = {.fail_at = -1};
    rec_recorder *recorder;
    rec_record *record;
    (void)state;
    assert_int_equal(rec_context_add_plugin(context, &late), REC_OK);
    recorder = recorder_of("Late");
    record = rec_record_new(context);
    assert_int_equal(rec_save_to(recorder, record, &output, &out), REC_OK);
    assert_int_equal(out.size, 12);
    assert_memory_equal(out.data, expected, 12);
    streaming.patch = NULL;
    assert_int_equal(rec_save_to(recorder, record, &streaming, &none), REC_E_UNSUPPORTED);
    assert_true(none.finished == 1 && none.good == 0 && none.released == 1);
    rec_record_free(record);
    rec_close_recorder(recorder);
    free(out.data);
    free(none.data);
}

static int32_t walked;

static int32_t sorry_save(rec_job *job, rec_sink *sink)
{
    (void)sink;
    (void)rec_fail(job, REC_E_RANGE, REC_UNKNOWN, "it is not in the mood");
    walked = rec_job_walk(job, &visitor, NULL);
    return walked;
}

static const rec_plugin sorry = {
    .abi = REC_PLUGIN_ABI, .size = sizeof sorry, .name = "Sorry", .description = "for a test", .save = sorry_save};

static void after_a_failure_a_walk_is_that_failure(void **state)
{
    line out = {.fail_at = -1};
    rec_recorder *recorder;
    rec_record *record;
    (void)state;
    assert_int_equal(rec_context_add_plugin(context, &sorry), REC_OK);
    recorder = recorder_of("Sorry");
    record = rec_record_new(context);
    walked = REC_OK;
    assert_int_equal(rec_save_to(recorder, record, &output, &out), REC_E_RANGE);
    assert_int_equal(walked, REC_E_RANGE);
    assert_non_null(strstr(rec_error_message(), "it is not in the mood"));
    rec_record_free(record);
    rec_close_recorder(recorder);
    free(out.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(loads_what_is_needed, enter, leave),
        cmocka_unit_test_setup_teardown(loads_streams_and_all_formats, enter, leave),
        cmocka_unit_test_setup_teardown(what_follows_in_a_pipe_is_read_to_its_end, enter, leave),
        cmocka_unit_test_setup_teardown(loading_fails_as_the_functions_do, enter, leave),
        cmocka_unit_test_setup_teardown(inputs_that_cannot_be_are_refused, enter, leave),
        cmocka_unit_test_setup_teardown(a_total_is_unknown_or_a_bound, enter, leave),
        cmocka_unit_test_setup_teardown(plans_take_inputs, enter, leave),
        cmocka_unit_test_setup_teardown(memory_is_given_back, enter, leave),
        cmocka_unit_test_setup_teardown(saves_what_a_file_would_have, enter, leave),
        cmocka_unit_test_setup_teardown(saving_fails_as_the_functions_do, enter, leave),
        cmocka_unit_test_setup_teardown(bytes_can_be_written_over, enter, leave),
        cmocka_unit_test_setup_teardown(after_a_failure_a_walk_is_that_failure, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
