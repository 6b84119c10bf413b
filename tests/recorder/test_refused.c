/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the public functions refuse before they begin: recorders, plans and records of two contexts, no path, windows
 * that cannot be, options, ids and types; each in its words, with nothing kept that was lent. */
#include "librecord/parallel.h"
#include "tests/recorder/program.h"

typedef struct scene {
    rec_context *other;
    rec_recorder *here, *there; /* of `context`, and of the other one */
    rec_plan *plan;
    rec_record *record, *stranger;
} scene;

static void begin_scene(scene *s)
{
    *s = (scene){.other = rec_context_new(NULL)};
    assert_non_null(s->other);
    s->here = recorder_of("NamedMpk");
    s->there = rec_open_recorder_in(s->other, "NamedMpk", REC_PRECISION_KEEP);
    s->plan = rec_plan_new(context, s->here);
    s->record = rec_record_new(context);
    s->stranger = rec_record_new(s->other);
    assert_true(s->there && s->plan && s->record && s->stranger);
    assert_int_equal(rec_set_int(s->record, "n", 1), REC_OK);
    assert_int_equal(rec_set_int(s->stranger, "n", 1), REC_OK);
}

static void end_scene(scene *s)
{
    rec_record_free(s->stranger);
    rec_record_free(s->record);
    rec_plan_free(s->plan);
    rec_close_recorder(s->there);
    rec_close_recorder(s->here);
    rec_context_free(s->other);
}

/* A status that must be REC_E_ARGUMENT, whose message ends with these words. */
static void refused(rec_status status, const char *words)
{
    const char *message = rec_error_message();
    size_t length = strlen(message), tail = strlen(words);
    if (status != REC_E_ARGUMENT || rec_error_status() != REC_E_ARGUMENT || length < tail ||
        strcmp(message + length - tail, words) != 0) {
        fail_msg("expected: %s\nfound %s: %s", words, rec_status_name(status), message);
    }
}

static void contexts_do_not_mix(void **state)
{
    line l = {.fail_at = -1};
    scene s;
    (void)state;
    begin_scene(&s);
    refused(rec_convert(s.here, "in.mpk", s.there, "out.mpk", NULL), "both recorders must be of one context");
    refused(rec_convert(NULL, NULL, s.there, "out.mpk", s.plan), "plan and recorder must be of one context");
    refused(rec_plan_add(s.plan, s.there, "in.mpk"), "the recorder must be of the plan's context");
    refused(rec_plan_add_from(s.plan, s.there, &stream, &l), "the recorder must be of the plan's context");
    assert_int_equal(l.released, 1);
    refused(rec_plan_add_record(s.plan, NULL, s.stranger, "it"), "recorder and record must be of the plan's context");
    refused(rec_plan_add_record(s.plan, s.there, s.record, "it"), "recorder and record must be of the plan's context");
    assert_int_equal(rec_plan_add_record(s.plan, s.here, s.record, "it"), REC_OK);
    end_scene(&s);
}

static int32_t never(void *user, rec_filling *told)
{
    (void)user;
    fail_msg("%s was to be filled", told->files[0].temporary);
    return 0;
}

static void no_path_is_none(void **state)
{
    const rec_file one = {.size = 1};
    const rec_filling filling = {.size = sizeof filling, .files = &one, .count = 1};
    scene s;
    (void)state;
    begin_scene(&s);
    refused(rec_convert(s.here, "", s.here, "out.mpk", NULL), "no path was given");
    refused(rec_convert(s.here, "in.mpk", s.here, "", NULL), "no path was given");
    refused(rec_convert(NULL, NULL, s.here, "", s.plan), "no path was given");
    refused(rec_plan_add(s.plan, s.here, ""), "no path was given");
    refused(rec_save_filled(s.here, "", &filling, never, NULL), "no path was given");
    refused(rec_save(s.here, s.record, ""), "no path was given");
    assert_null(rec_load(s.here, ""));
    refused(rec_error_status(), "no path was given");
    end_scene(&s);
}

static void a_window_has_bounds(void **state)
{
    rec_window windows[] = {{.size = 0, .to = 10},
                            {.size = 8, .to = 10},
                            {.size = 1 << 20, .to = 10},
                            {.size = sizeof(rec_window), .from = 11, .to = 10}};
    scene s;
    (void)state;
    begin_scene(&s);
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        for (int lent = 0; lent < 2; lent++) {
            line l = {.fail_at = -1};
            refused(rec_save_window(s.here, s.record, "out.mpk", &windows[i], lent ? &output : NULL, &l),
                    "the window's size or bounds are invalid");
            assert_int_equal(l.released, lent);
            assert_int_equal(l.good, 0);
        }
    }
    end_scene(&s);
}

static void options_have_their_values(void **state)
{
    static const struct {
        const char *option, *value, *words;
    } cases[] = {
        {"map", "maybe", "expected yes or no for the option map, found `maybe`"},
        {"sync", "", "expected yes or no for the option sync, found ``"},
        {"clamp", "2", "expected yes or no for the option clamp, found `2`"},
        {"modules", "Yes!", "expected yes or no for the option modules, found `Yes!`"},
        {"data", "skipped", "expected read or skip for the option data, found `skipped`"},
        {"check", "perhaps", "expected yes, no or auto for the option check, found `perhaps`"},
        {"layout", "burn-0.6",
         "expected keep, or one of burn-0.7 to burn-0.23, for the option layout, found `burn-0.6`"},
        {"layout", "burn-0.24",
         "expected keep, or one of burn-0.7 to burn-0.23, for the option layout, found `burn-0.24`"},
        {"layout", "burn-0.", "expected keep, or one of burn-0.7 to burn-0.23, for the option layout, found `burn-0.`"},
        {"layout", "Burn", "expected keep, or one of burn-0.7 to burn-0.23, for the option layout, found `Burn`"},
        {"renam", "a => b",
         "NamedMpk has no option `renam`\n  Its options: as, map, data, decode, sync, check, clamp, modules, layout, "
         "trailing\n  "
         "The load argument `rename` has nearly that name."},
        {"level", "1",
         "NamedMpk has no option `level`\n  Its options: as, map, data, decode, sync, check, clamp, modules, layout, "
         "trailing"},
    };
    scene s;
    (void)state;
    begin_scene(&s);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        refused(rec_recorder_set(s.here, cases[i].option, cases[i].value), cases[i].words);
    }
    end_scene(&s);
}

static void a_recorder_has_a_name_and_a_precision(void **state)
{
    (void)state;
    assert_null(rec_open_recorder_in(context, "", REC_PRECISION_FULL));
    refused(rec_error_status(), "expected the name of a recorder, found an empty one");
    assert_null(rec_open_recorder_in(context, "NamedMpk", (rec_precision)(REC_PRECISION_DEFAULT - 1)));
    refused(rec_error_status(), "expected one of REC_PRECISION_..., found -1");
    assert_null(rec_open_recorder_in(context, "NamedMpk", (rec_precision)(REC_PRECISION_CONFIGURED + 1)));
    refused(rec_error_status(), "expected one of REC_PRECISION_..., found 6");
}

static void a_type_is_one_that_was_made(void **state)
{
    static const rec_type none = {.size = 0}, narrow = {.size = sizeof narrow, .field_size = 4};
    scene s;
    (void)state;
    begin_scene(&s);
    refused(rec_recorder_set_type(s.here, &none), "the type is not one that REC_DEFINE_STRUCT or REC_DEFINE_ENUM made");
    refused(rec_recorder_set_type(s.here, &narrow),
            "the type is not one that REC_DEFINE_STRUCT or REC_DEFINE_ENUM made");
    assert_int_equal(rec_recorder_set_type(s.here, NULL), REC_OK);
    end_scene(&s);
}

static void a_tensor_is_whole(void **state)
{
    static const uint64_t shape[] = {2}, huge[] = {UINT64_MAX, UINT64_MAX};
    static const float data[2];
    const rec_tensor_spec good = {
        .size = sizeof good, .dtype = REC_DTYPE_F32, .rank = 1, .shape = shape, .data = data, .data_size = sizeof data};
    rec_tensor_spec specs[9];
    static const char *const words[9] = {
        "t: the tensor's id has more than 256 bytes",
        "t: the tensor's id has a control character",
        "t: the tensor has no data",
        "t: the tensor's `size` or `ownership` is not set",
        "t: the tensor's `size` or `ownership` is not set",
        "t: a tensor of rank 1 needs a shape",
        "t: the shape [18446744073709551615, 18446744073709551615] has more elements than can be counted",
        "t: f32 [2] takes 8 bytes, but 7 were given",
        "t: the tensor's `size` or `ownership` is not set",
    };
    char wide[258];
    scene s;
    (void)state;
    begin_scene(&s);
    memset(wide, 'a', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    for (size_t i = 0; i < 9; i++) {
        specs[i] = good;
    }
    specs[0].id = wide;
    specs[1].id = "a\tb";
    specs[2].data = NULL;
    specs[3].ownership = 4;
    specs[4].ownership = -1;
    specs[5].shape = NULL;
    specs[6].shape = huge;
    specs[6].rank = 2;
    specs[7].data_size = 7;
    specs[8].size = 0;
    for (size_t i = 0; i < 9; i++) {
        refused(rec_set_tensor(s.record, "t", &specs[i]), words[i]);
        assert_null(rec_value_at(s.record, "t"));
    }
    wide[256] = '\0';
    assert_int_equal(rec_set_tensor(s.record, "t", &good), REC_OK);
    assert_int_equal(rec_set_id(s.record, "t", wide), REC_OK);
    wide[256] = 'a';
    refused(rec_set_id(s.record, "t", wide), "t: the tensor's id has more than 256 bytes");
    refused(rec_set_id(s.record, "t", ""), "t: the tensor's id is empty");
    refused(rec_set_id(s.record, "t", "\xff"), "t: the tensor's id is not UTF-8");
    assert_int_equal(strlen(rec_tensor_id(rec_tensor_at(s.record, "t"))), 256);
    assert_int_equal(rec_set_id(s.record, "n", "0123456789abc"), REC_E_NOT_FOUND);
    assert_error(REC_E_NOT_FOUND, "n: there is an integer here, not a tensor");
    assert_int_equal(rec_set_id(s.record, "none", "0123456789abc"), REC_E_NOT_FOUND);
    assert_error(REC_E_NOT_FOUND, "none: the record has no such key");
    end_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(contexts_do_not_mix, enter, leave),
        cmocka_unit_test_setup_teardown(no_path_is_none, enter, leave),
        cmocka_unit_test_setup_teardown(a_window_has_bounds, enter, leave),
        cmocka_unit_test_setup_teardown(options_have_their_values, enter, leave),
        cmocka_unit_test_setup_teardown(a_recorder_has_a_name_and_a_precision, enter, leave),
        cmocka_unit_test_setup_teardown(a_type_is_one_that_was_made, enter, leave),
        cmocka_unit_test_setup_teardown(a_tensor_is_whole, enter, leave),
    };
    return cmocka_run_group_tests_name("what is refused", tests, NULL, NULL);
}
