/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Tensors that are made when they are asked for, saved without ever being in memory; and what functions of the program
 * meet there. Whatever happens, what was lent is given back once. */
#include "burn/visit/walk_private.h"
#include "tests/recorder/program.h"
#include "tests/sanitized.h"

/* ------------------------------------------------------------------------------------------------ made tensors -- */

static uint64_t anonymous_memory(void)
{
    char text[4096];
    FILE *file = fopen("/proc/self/status", "r");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    const char *at;
    text[size] = '\0';
    at = strstr(text, "RssAnon:");
    if (file) {
        (void)fclose(file);
    }
    return at ? strtoull(at + 8, NULL, 10) * 1024 : 0;
}

static uint64_t peak;

static int32_t big_produce(void *user, uint64_t offset, void *target, uint64_t size)
{
    uint64_t now = anonymous_memory();
    peak = now > peak ? now : peak;
    return line_read_at(user, offset, target, size);
}

static void models_larger_than_memory_are_saved(void **state)
{
    static const struct {
        const char *format;
        rec_precision precision;
        const char *check;
    } cases[] = {{"NamedMpk", REC_PRECISION_KEEP, "no"},
                 {"NamedMpk", REC_PRECISION_HALF, "yes"},
                 {"Safetensors", REC_PRECISION_KEEP, "yes"},
                 {"Safetensors", REC_PRECISION_HALF, "auto"},
                 {"Safetensors", REC_PRECISION_DOUBLE, "no"}};
    const uint64_t shape[1] = {50 * MIB};
    scratch *s = scratch_new();
    char *path = scratch_path(s, "big");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        line l = {.size = 200 * MIB, .fail_at = -1};
        rec_record *record = rec_record_new(context);
        rec_recorder *recorder = rec_open_recorder_in(context, cases[i].format, cases[i].precision);
        rec_tensor_spec spec = spec_of(&l, shape, 1);
        uint64_t before = anonymous_memory();
        assert_true(before > 0);
        peak = 0;
        spec.produce = big_produce;
        assert_int_equal(rec_recorder_set(recorder, "check", cases[i].check), REC_OK);
        assert_int_equal(rec_set_tensor(record, "a.weight", &spec), REC_OK);
        assert_int_equal(l.calls, 0);
        if (rec_save(recorder, record, path) != REC_OK) {
            fail_msg("%s", rec_error_message());
        }
        assert_int_equal(rec_report_count(), strcmp(cases[i].format, "Safetensors") == 0); /* whose layout it is */
        assert_int_equal(l.given, l.size);                                                 /* each byte once… */
        assert_false(l.jumped);                                                            /* …in order */
        assert_true(l.largest <= 4 * MIB && l.largest >= 128 * 1024);
        if (!SANITIZED && peak > before + 32 * MIB) { /* a sanitizer keeps what is freed */
            fail_msg("%s: %llu bytes more than before", cases[i].format, (unsigned long long)(peak - before));
        }
        rec_record_free(record);
        assert_int_equal(l.released, 1);
        record = rec_load(recorder, path);
        assert_non_null(record);
        assert_int_equal(rec_tensor_count(rec_tensor_at(record, "a.weight")), 50 * MIB);
        rec_record_free(record);
        rec_close_recorder(recorder);
    }
    free(path);
    scratch_free(s);
}

static void made_tensors_are_written_as_others_are(void **state)
{
    static const char *const formats[] = {"NamedMpk", "NamedMpkGz", "Safetensors", "PrettyJson", "JsonGz"};
    static const char *const layouts[] = {"burn-0.21", "burn-0.14", "burn-0.13"};
    line l = {.size = COUNT * 4, .fail_at = -1};
    rec_record *record = record_of(&l, true), *plain = record_of(&l, false);
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        for (int at = 0; at < 9; at++) {
            rec_recorder *recorder =
                rec_open_recorder_in(context, formats[i], at / 3 == 0 ? REC_PRECISION_KEEP : 1 + at / 3 * 1 + 1);
            void *one, *other;
            uint64_t one_size, other_size;
            assert_int_equal(rec_recorder_set(recorder, "layout", layouts[at % 3]), REC_OK);
            assert_int_equal(rec_recorder_set(recorder, "check", at % 2 ? "yes" : "no"), REC_OK);
            l.given = l.next = 0;
            l.jumped = false;
            assert_int_equal(rec_save_bytes(recorder, plain, &other, &other_size), REC_OK);
            if (rec_save_bytes(recorder, record, &one, &one_size) != REC_OK) {
                fail_msg("%s", rec_error_message());
            }
            assert_int_equal(one_size, other_size);
            assert_memory_equal(one, other, (size_t)one_size);
            if (l.given != l.size || l.jumped) {
                fail_msg("%s, %s: %llu of %llu bytes were asked for%s", formats[i], layouts[at % 3],
                         (unsigned long long)l.given, (unsigned long long)l.size, l.jumped ? ", not in order" : "");
            }
            rec_free(one);
            rec_free(other);
            rec_close_recorder(recorder);
        }
    }
    rec_record_free(record);
    assert_int_equal(l.released, 1);
    rec_record_free(plain);
}

/* Formats of others, which have no layouts of Burn's; and codecs. */
static void other_formats_ask_once_too(void **state)
{
    static const char *const formats[] = {"Burnpack", "PyTorch", "Gguf", "Npz", "safetensors.gz", "npz.zst"};
    line l = {.size = COUNT * 4, .fail_at = -1};
    rec_record *record = record_of(&l, true), *plain = record_of(&l, false);
    (void)state;
    assert_int_equal(rec_remove(record, "steps"), REC_OK);
    assert_int_equal(rec_remove(plain, "steps"), REC_OK);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        for (rec_precision precision = REC_PRECISION_KEEP; precision <= REC_PRECISION_HALF; precision++) {
            rec_recorder *recorder = rec_open_recorder_in(context, formats[i], precision);
            void *one, *other;
            uint64_t one_size, other_size, times;
            l.given = l.next = 0;
            l.jumped = false;
            assert_int_equal(rec_save_bytes(recorder, plain, &other, &other_size), REC_OK);
            if (rec_save_bytes(recorder, record, &one, &one_size) != REC_OK) {
                fail_msg("%s: %s", formats[i], rec_error_message());
            }
            assert_int_equal(one_size, other_size);
            assert_memory_equal(one, other, (size_t)one_size);
            /* A checksum that stands in front of the data, and cannot be put there afterwards, is worked out first. */
            times = strcmp(formats[i], "npz.zst") == 0 ? 2 : 1;
            assert_int_equal(l.given, times * l.size);
            assert_int_equal(l.jumped, times == 2);
            rec_free(one);
            rec_free(other);
            rec_close_recorder(recorder);
        }
    }
    rec_record_free(record);
    assert_int_equal(l.released, 1);
    rec_record_free(plain);
}

static void made_tensors_are_tensors(void **state)
{
    line l = {.size = COUNT * 4, .fail_at = -1}, none = {.fail_at = -1};
    rec_record *record = record_of(&l, true), *copy, *other = rec_record_new(context);
    const rec_tensor *tensor = rec_tensor_at(record, "a.weight");
    const uint64_t nothing[2] = {3, 0};
    rec_tensor_spec spec = spec_of(&none, nothing, 2);
    float few[3];
    (void)state;
    assert_int_equal(rec_tensor_offset(tensor), REC_UNKNOWN);
    assert_int_equal(rec_tensor_nbytes(tensor), l.size);
    assert_int_equal(rec_tensor_read(tensor, REC_DTYPE_F32, 2047, 3, few), REC_OK);
    assert_true(few[0] == 2047 && few[1] == 0 && few[2] == 1);
    assert_int_equal(l.given, sizeof few);
    assert_int_equal(rec_tensor_f64(tensor)[5], 5);
    assert_int_equal(rec_tensor_f32(tensor)[6], 6);
    l.given = 0;
    assert_int_equal(rec_tensor_f32(tensor)[7], 7); /* kept */
    assert_int_equal(l.given, 0);
    copy = rec_record_copy(record);
    assert_int_equal(rec_set_value(other, "x", rec_value_at(record, "a.weight")), REC_OK);
    assert_int_equal(rec_remove(record, "a.weight"), REC_OK);
    rec_record_free(record);
    rec_record_free(copy);
    assert_int_equal(l.released, 0);
    assert_int_equal(rec_tensor_f32(rec_tensor_at(other, "x"))[2049], 1);
    assert_int_equal(rec_set_tensor(other, "y", &spec), REC_OK);
    assert_int_equal(none.released, 1); /* there is nothing to be made */
    assert_non_null(rec_tensor_f32(rec_tensor_at(other, "y")));
    rec_record_free(other);
    assert_int_equal(l.released, 1);
    assert_int_equal(none.calls, 0);
}

static void test_parameter_of_unknown_id(void **state)
{
    const uint64_t shape[1] = {2};
    const float numbers[2] = {1, 2};
    rec_tensor_spec spec = {.size = sizeof spec,
                            .dtype = REC_DTYPE_F32,
                            .rank = 1,
                            .ownership = REC_COPY,
                            .shape = shape,
                            .data = numbers,
                            .data_size = sizeof numbers};
    rec_record *record = rec_record_new(context);
    (void)state;
    assert_int_equal(rec_set_tensor(record, "bare", &spec), REC_OK);
    spec.parameter = 1;
    assert_int_equal(rec_set_tensor(record, "parameter", &spec), REC_OK);
    spec.parameter = 0;
    assert_int_equal(rec_tensor_is_parameter(rec_tensor_at(record, "bare")), 0);
    assert_int_equal(rec_tensor_is_parameter(rec_tensor_at(record, "parameter")), 1);
    assert_null(rec_tensor_id(rec_tensor_at(record, "parameter")));
    assert_int_equal(rec_set_tensor(record, "parameter", &spec), REC_OK); /* replaced, it stays a parameter */
    assert_int_equal(rec_tensor_is_parameter(rec_tensor_at(record, "parameter")), 1);
    assert_int_equal(rec_set_id(record, "parameter", NULL), REC_OK);
    assert_int_equal(rec_tensor_is_parameter(rec_tensor_at(record, "parameter")), 0);
    rec_record_free(record);
}

static void what_cannot_be_made_is_told_and_the_old_file_stays(void **state)
{
    scratch *s = scratch_new();
    char *path = scratch_path(s, "old.mpk");
    rec_recorder *recorder = recorder_of("NamedMpk");
    line l = {.size = COUNT * 40, .error = ENODEV};
    rec_record *record = record_of(&l, true), *old;
    (void)state;
    l.fail_at = -1;
    assert_int_equal(rec_save(recorder, record, path), REC_OK);
    for (int at = 0; at < 12; at += 3) {
        l.calls = 0;
        l.fail_at = at;
        assert_int_equal(rec_save(recorder, record, path), REC_E_IO);
        assert_error(REC_E_IO, "old.mpk");
        assert_error(REC_E_IO, "cannot make the tensor's bytes: No such device");
        assert_int_equal(rec_error_errno(), ENODEV);
        assert_string_equal(rec_error_path(), "a.weight");
        l.fail_at = -1;
        old = rec_load(recorder, path);
        assert_loaded(old);
        rec_record_free(old);
    }
    l.calls = l.fail_at = 0;
    assert_null(rec_tensor_f32(rec_tensor_at(record, "a.weight")));
    assert_error(REC_E_IO, "cannot make the tensor's bytes: No such device");
    assert_non_null(rec_tensor_f32(rec_tensor_at(record, "a.weight")));
    rec_record_free(record);
    assert_int_equal(l.released, 1);
    rec_close_recorder(recorder);
    free(path);
    scratch_free(s);
}

static void what_is_lent_is_given_back_once(void **state)
{
    const uint64_t shape[1] = {10};
    float numbers[10] = {0};
    rec_record *record = rec_record_new(context);
    (void)state;
    for (int32_t ownership = REC_COPY; ownership <= REC_PRODUCE; ownership++) {
        line l = {.data = (uint8_t *)numbers, .size = 40, .fail_at = -1};
        rec_tensor_spec spec = spec_of(&l, shape, 1);
        if (ownership == REC_TAKE) {
            continue; /* whose release is free() */
        }
        spec.ownership = ownership;
        spec.data = numbers;
        assert_int_equal(rec_set_tensor(record, "x", &spec), REC_OK);
        assert_int_equal(l.released, ownership == REC_COPY);
        spec.data_size = 39;
        assert_int_equal(rec_set_tensor(record, "y", &spec), REC_E_ARGUMENT);
        assert_int_equal(l.released, ownership == REC_COPY ? 2 : 1);
        spec.data_size = 40;
        assert_int_equal(rec_set_tensor(NULL, "y", &spec), REC_E_ARGUMENT);
        assert_int_equal(l.released, ownership == REC_COPY ? 3 : 2);
        spec.size = 0;
        assert_int_equal(rec_set_tensor(record, "y", &spec), REC_E_ARGUMENT);
        spec.size = 5000;
        assert_int_equal(rec_set_tensor(record, "y", &spec), REC_E_ARGUMENT);
        assert_int_equal(l.released, ownership == REC_COPY ? 3 : 2); /* of a struct of no size nothing is known */
        spec.size = sizeof spec;
        spec.produce = NULL;
        assert_int_equal(rec_set_tensor(record, "z", &spec), ownership == REC_PRODUCE ? REC_E_ARGUMENT : REC_OK);
        rec_record_free(record);
        assert_int_equal(l.released, 4);
        record = rec_record_new(context);
    }
    { /* a program of an older librecord knows less of the struct */
        line l = {.data = (uint8_t *)numbers, .size = 40, .fail_at = -1};
        rec_tensor_spec spec = spec_of(&l, shape, 1);
        spec.size = offsetof(rec_tensor_spec, release);
        spec.ownership = REC_BORROW;
        spec.data = numbers;
        assert_int_equal(rec_set_tensor(record, "x", &spec), REC_OK);
        rec_record_free(record);
        assert_int_equal(l.released, 0);
    }
}

static void memory_that_is_refused_loses_nothing(void **state)
{
    const rec_allocator counting = {.size = sizeof counting, .alloc = take, .resize = resize, .release = give};
    const uint64_t shape[2] = {COUNT / 100, 100};
    line from = saved("Safetensors");
    (void)state;
    for (int what = 0; what < 4; what++) {
        bool whole = false;
        for (int64_t at = 0; !whole && at < 3000; at++) {
            line l = {.data = from.data, .size = from.size, .fail_at = -1};
            rec_input input = anywhere(&l);
            rec_context *own = rec_context_new(&counting);
            rec_recorder *recorder = rec_open_recorder_in(own, what == 3 ? "NamedMpk" : "Auto", REC_PRECISION_KEEP);
            rec_record *record = what >= 2 ? rec_record_new(own) : NULL;
            line numbers = {.size = COUNT * 4, .fail_at = -1}, out = {.fail_at = -1};
            rec_tensor_spec spec = spec_of(&numbers, shape, 2);
            made = 0;
            fail_alloc = at;
            switch (what) {
            case 0:
                record = rec_load_from(recorder, &input, &l);
                break;
            case 1:
                record = rec_load_bytes_with(recorder, l.data, l.size, line_release_data, &l);
                break;
            default:
                whole = rec_set_tensor(record, "x", &spec) == REC_OK &&
                        (what == 2 || rec_save_to(recorder, record, &output, &out) == REC_OK);
                break;
            }
            whole = what < 2 ? record != NULL : whole;
            if (!whole) {
                assert_int_equal(rec_error_status(), REC_E_MEMORY);
            }
            fail_alloc = -1;
            rec_record_free(record);
            rec_close_recorder(recorder);
            rec_context_free(own);
            assert_int_equal(what < 2 ? l.released : numbers.released, 1);
            assert_true(out.released == out.finished && out.released <= 1);
            assert_int_equal(live, 0);
            free(out.data);
        }
        assert_true(whole);
    }
    free(from.data);
}

/* -------------------------------------------------------------------------------------- meanwhile, and at once -- */

static rec_recorder *meanwhile;

static int32_t load_meanwhile(void *user, const rec_progress *progress)
{
    (void)user, (void)progress;
    assert_null(rec_load_bytes(meanwhile, "\xc1", 1));
    return 0;
}

static void callbacks_may_use_librecord(void **state)
{
    line l = {.size = COUNT * 80, .fail_at = -1}, out = {.fail_at = -1};
    rec_recorder *recorder = recorder_of("NamedMpk");
    rec_record *record = record_of(&l, true);
    (void)state;
    l.other = recorder;
    meanwhile = recorder_of("Auto");
    rec_context_set_progress(context, load_meanwhile, NULL);
    assert_int_equal(rec_save_to(recorder, record, &output, &out), REC_OK);
    rec_context_set_progress(context, NULL, NULL);
    assert_int_equal(rec_error_status(), REC_OK);
    l.other = NULL;
    l.own = rec_tensor_at(record, "a.weight");
    assert_non_null(
        rec_tensor_bytes(l.own, NULL)); /* it asks for its own bytes, is refused, and gives them all the same */
    assert_int_equal(rec_error_status(), REC_OK);
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_close_recorder(meanwhile);
    free(out.data);
}

static void *read_some(void *user)
{
    const rec_record *record = user;
    float few[500];
    uint64_t bad = 0;
    for (uint64_t at = 0; at < COUNT - 500; at += 7001) {
        bad += rec_tensor_read(rec_tensor_at(record, "a.weight"), REC_DTYPE_F32, at, 500, few) != REC_OK ||
               few[499] != (float)((at + 499) % 2048);
    }
    return bad ? NULL : user;
}

static void threads_take_turns(void **state)
{
    enum { THREADS = 4 };
    line l = {.size = COUNT * 4, .fail_at = -1};
    rec_record *record = record_of(&l, true);
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, read_some, record), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *answer;
        assert_int_equal(pthread_join(threads[i], &answer), 0);
        assert_non_null(answer);
    }
    assert_int_equal(l.worst, 1);
    rec_record_free(record);
}

/* ------------------------------------------------------------------------------------------------------- walks -- */

/* A codec that changes nothing and sees how often the record was walked. */
static uint64_t walks;

static int32_t pass_write(void *self, rec_sink *target, const void *data, uint64_t size)
{
    walks = ((const rec_job *)self)->walk->walks;
    return rec_sink_write(target, data, size);
}

static int32_t pass_encode(rec_job *job, rec_sink *target, rec_sink **out)
{
    static const rec_sink_ops ops = {.size = sizeof ops, .write = pass_write};
    *out = rec_sink_filter(job, target, &ops, job);
    return *out ? REC_OK : REC_E_MEMORY;
}

static const rec_plugin counting = {.abi = REC_PLUGIN_ABI,
                                    .size = sizeof counting,
                                    .kind = REC_PLUGIN_CODEC,
                                    .name = "Counting",
                                    .extension = "counting",
                                    .description = "counts walks",
                                    .encode = pass_encode};

/* The walks that a save takes of a tensor for each letter, l, s: large or small, to be made; L, S: the same in memory.
 * In the file they are in that order, in the record, too, or the other way round. */
static uint64_t walks_of(const char *letters, bool backwards)
{
    rec_record *record = rec_record_new(context);
    rec_recorder *recorder = recorder_of("safetensors.counting");
    line lines[16];
    void *data;
    uint64_t size;
    assert_true(strlen(letters) <= sizeof lines / sizeof *lines);
    for (size_t n = 0; letters[n]; n++) {
        size_t i = backwards ? strlen(letters) - 1 - n : n;
        char name[] = {(char)('a' + i), '\0'};
        uint64_t bytes = letters[i] == 'l' || letters[i] == 'L' ? 5 * MIB : 400, shape[1] = {bytes / 4};
        rec_tensor_spec spec;
        lines[i] = (line){.size = bytes, .fail_at = -1};
        spec = spec_of(&lines[i], shape, 1);
        spec.id = NULL;
        if (letters[i] == 'L' || letters[i] == 'S') {
            spec.ownership = REC_TAKE;
            spec.data = calloc(1, (size_t)bytes);
        }
        assert_int_equal(rec_set_tensor(record, name, &spec), REC_OK);
    }
    assert_int_equal(rec_recorder_set(recorder, "check", "no"), REC_OK);
    walks = 0;
    if (rec_save_bytes(recorder, record, &data, &size) != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    rec_free(data);
    rec_record_free(record);
    rec_close_recorder(recorder);
    return walks;
}

/* Those of a large model would take as long as its data. */
static void only_what_has_to_be_made_is_walked_for(void **state)
{
    uint64_t once;
    (void)state;
    assert_int_equal(rec_context_add_plugin(context, &counting), REC_OK);
    once = walks_of("L", false);
    assert_int_equal(walks_of("LSLLSL", false), once);
    assert_int_equal(walks_of("LLl", true), once + 1);
    assert_int_equal(walks_of("sLL", true), once + 1);
    assert_int_equal(walks_of("sSsLs", true), once + 2); /* a window, to the first that does not fit */
    assert_int_equal(walks_of("llll", false), once + 1);
    assert_int_equal(walks_of("llll", true), once + 4);
    assert_int_equal(walks_of("lLLS", true), once + 1); /* what is due next is written within the walk */
    assert_int_equal(walks_of("lLlL", true), once + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(models_larger_than_memory_are_saved, enter, leave),
        cmocka_unit_test_setup_teardown(made_tensors_are_written_as_others_are, enter, leave),
        cmocka_unit_test_setup_teardown(other_formats_ask_once_too, enter, leave),
        cmocka_unit_test_setup_teardown(made_tensors_are_tensors, enter, leave),
        cmocka_unit_test_setup_teardown(test_parameter_of_unknown_id, enter, leave),
        cmocka_unit_test_setup_teardown(what_cannot_be_made_is_told_and_the_old_file_stays, enter, leave),
        cmocka_unit_test_setup_teardown(what_is_lent_is_given_back_once, enter, leave),
        cmocka_unit_test_setup_teardown(memory_that_is_refused_loses_nothing, enter, leave),
        cmocka_unit_test_setup_teardown(callbacks_may_use_librecord, enter, leave),
        cmocka_unit_test_setup_teardown(threads_take_turns, enter, leave),
        cmocka_unit_test_setup_teardown(only_what_has_to_be_made_is_walked_for, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
