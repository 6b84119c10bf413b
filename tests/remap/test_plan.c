/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Plans through the public API, over records made here: what goes where, what is refused and in which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "librecord.h"
#include "tests/remap/plans.h"

/* ----------------------------------------------------------------------------------------------------- helpers -- */

static rec_recorder *torch(void)
{
    return open_with("NamedMpk", "adapter", "pytorch", NULL);
}

static const rec_plan_line *line_from(rec_plan *plan, const char *key)
{
    for (uint64_t i = 0; i < rec_plan_count(plan); i++) {
        const rec_plan_line *line = rec_plan_get(plan, i);
        if (strcmp(line->from, key) == 0) {
            return line;
        }
    }
    fail_msg("no line from %s", key);
    return NULL;
}

static float number(const rec_record *record, const char *path, uint64_t index)
{
    const rec_tensor *tensor = rec_tensor_at(record, path);
    if (!tensor || !rec_tensor_f32(tensor)) {
        fail_msg("%s", rec_error_message());
    }
    return rec_tensor_f32(tensor)[index];
}

/* ------------------------------------------------------------------------------------------------------- types -- */

#define LINEAR_FIELDS(F, T) F(T, PARAM, weight, 2) F(T, OPTION_PARAM, bias, 1)
REC_DEFINE_STRUCT(LINEAR, LINEAR_FIELDS)
#define LAYER_NORM_FIELDS(F, T) F(T, PARAM, gamma, 1) F(T, OPTION_PARAM, beta, 1)
REC_DEFINE_STRUCT(LAYER_NORM, LAYER_NORM_FIELDS)
#define NET_FIELDS(F, T) F(T, CHILD, norm, LAYER_NORM) F(T, LIST, layers, LINEAR) F(T, USIZE, steps)
REC_DEFINE_STRUCT(NET, NET_FIELDS)
#define WIDE_FIELDS(F, T) F(T, PARAM, weight, 3)
REC_DEFINE_STRUCT(WIDE, WIDE_FIELDS)
#define HEAD_VARIANTS(F, T) F(T, VARIANT, Wide, WIDE) F(T, VARIANT, Flat, LINEAR)
REC_DEFINE_ENUM(HEAD, HEAD_VARIANTS)
#define BODY_FIELDS(F, T) F(T, CHILD, head, HEAD) F(T, ARRAY, pair, LINEAR, 2)
REC_DEFINE_STRUCT(BODY, BODY_FIELDS)

/* ------------------------------------------------------------------------------------------------- with a type -- */

static void a_type_says_what_is_transposed_and_renamed(void **state)
{
    rec_record *in = rec_record_new(NULL), *out;
    rec_recorder *r = torch();
    rec_plan *plan;
    NET net;
    rec_binding *binding;
    (void)state;
    put(in, "norm.weight", 1, 1, 3, 0);
    put(in, "norm.bias", 5, 1, 3, 0);
    ok(rec_set_empty(in, "layers", REC_KIND_MAP));
    put(in, "layers.4.weight", 10, 2, 2, 3);
    put(in, "layers.10.weight", 20, 2, 2, 3);
    put(in, "layers.10.bias", 30, 1, 2, 0);
    put(in, "other", 0, 0, 0, 0);
    ok(rec_recorder_set_type(r, &NET_type));
    plan = plan_of(r, in);
    assert_string_equal(line_from(plan, "norm.weight")->to, "norm.gamma");
    assert_string_equal(line_from(plan, "norm.weight")->why, "LayerNorm");
    assert_string_equal(line_from(plan, "layers.4.weight")->to, "layers.0.weight");
    assert_string_equal(line_from(plan, "layers.4.weight")->operations, "gap, transpose");
    assert_int_equal(line_from(plan, "other")->action, REC_PLAN_UNEXPECTED);
    assert_int_equal(line_to(plan, "steps")->action, REC_PLAN_DEFAULT);
    expect_problem(plan, REC_PROBLEM_UNEXPECTED, 0, "1 key is not in the type, and left out: other", "");
    out = load(plan);
    rec_plan_free(plan);
    rec_record_free(in);
    assert_null(rec_bind(out, &NET_type, &net));
    assert_non_null(strstr(rec_error_message(), "steps: is missing"));
    binding = rec_bind_at(out, "", &NET_type, &net, REC_BIND_ALLOW_MISSING);
    if (!binding) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(net.layers_count, 2);
    assert_float_equal(net.layers[0].weight.data[1], 13, 0); /* [1, 0] of the source */
    assert_float_equal(net.layers[1].bias.data[1], 31, 0);
    assert_float_equal(net.norm.beta.data[2], 7, 0);
    assert_non_null(rec_tensor_id(net.norm.gamma.tensor));
    rec_binding_free(binding);
    rec_record_free(out);
    rec_close_recorder(r);
}

static void what_is_missing_is_told_with_what_is_near(void **state)
{
    rec_record *in = rec_record_new(NULL);
    rec_recorder *r = torch();
    rec_plan *plan;
    (void)state;
    put(in, "norm.weight", 1, 1, 3, 0);
    put(in, "layers.0.wieght", 1, 2, 2, 3);
    ok(rec_recorder_set(r, "adapter", "none"));
    ok(rec_recorder_set_type(r, &NET_type));
    plan = plan_of(r, in);
    expect_problem(plan, REC_PROBLEM_MISSING, 1, "norm.gamma is missing: a tensor of floats of rank 1",
                   "Nearest: norm.weight (a norm of PyTorch's? `adapter = pytorch` renames it.)");
    assert_null(rec_plan_load(plan));
    assert_int_equal(rec_error_status(), REC_E_MISMATCH);
    assert_non_null(strstr(rec_error_message(), "layers.0.weight is missing"));
    rec_plan_free(plan);

    ok(rec_recorder_set(r, "partial", "yes"));
    plan = plan_of(r, in);
    assert_int_equal(line_to(plan, "norm.gamma")->action, REC_PLAN_MISSING);
    {
        rec_plan_totals totals = {.size = sizeof totals};
        ok(rec_plan_total(plan, &totals));
        assert_int_equal(totals.missing, 3);
        assert_int_equal(totals.tensors, 2);
        assert_int_equal(totals.unexpected, 2);
    }
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
}

static void weights_are_fused_from_both_spellings(void **state)
{
    static const float direction[] = {3, 4, 0, 2}, lengths[] = {10, 6}, fused[] = {6, 8, 0, 6};
    static const char *const pairs[][3] = {
        {"conv.weight_v", "conv.weight_g", "conv.weight"},
        {"w_v", "w_g", "w"},
        {"fc.parametrizations.weight.original1", "fc.parametrizations.weight.original0", "fc.weight"},
        {"parametrizations.b.original1", "parametrizations.b.original0", "b"},
    };
    /* No pairs, though they look like it. */
    static const char *const single[] = {"other.weight_g", "ln.weight.original1", "original1", "_v", "x._v"};
    rec_record *in = rec_record_new(NULL), *out;
    rec_recorder *r = open_with("NamedMpk", "adapter", "none", "weight_norm", ".*", NULL);
    rec_plan *plan;
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        ok(rec_set_f32(in, pairs[i][0], direction, 2, (const uint64_t[]){2, 2}));
        ok(rec_set_f32(in, pairs[i][1], lengths, 2, (const uint64_t[]){2, 1}));
    }
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        put(in, single[i], (float)i, 2, 2, 2);
    }
    plan = plan_of(r, in);
    if (rec_plan_problem_count(plan)) {
        fail_msg("%s", rec_plan_problem_get(plan, 0)->text);
    }
    out = load(plan);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        uint64_t size;
        const float *made = rec_tensor_f32(rec_tensor_at(out, pairs[i][2]));
        assert_non_null(made);
        assert_non_null(rec_tensor_bytes(rec_tensor_at(out, pairs[i][2]), &size));
        assert_int_equal(size, sizeof fused);
        assert_memory_equal(made, fused, sizeof fused);
        assert_null(rec_tensor_at(out, pairs[i][0]));
        assert_null(rec_tensor_at(out, pairs[i][1]));
        assert_int_equal(line_to(plan, pairs[i][2])->input_count, 2);
        assert_string_equal(line_to(plan, pairs[i][2])->why, "rule 1");
    }
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        uint64_t size;
        const float *kept = rec_tensor_f32(rec_tensor_at(out, single[i]));
        assert_non_null(rec_tensor_bytes(rec_tensor_at(out, single[i]), &size));
        assert_non_null(kept);
        assert_true(kept[0] == (float)i && kept[3] == (float)i + 3);
    }
    rec_plan_free(plan);
    rec_record_free(out);
    rec_close_recorder(r);
    rec_record_free(in);
}

static void a_rule_that_takes_too_long_names_the_key(void **state)
{
    static const char *const rules[][3] = {{"no", "rename", "(a+)+$ => x"},
                                           {"yes", "back", "(a+)+$ => x"},
                                           {"yes", "rename", "^((?:a+)+)$ => x.$1"},
                                           {"no", "stack", "([0-9]*)(a+)+$ => x"},
                                           {"no", "weight_norm", "(a+)+$"}};
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        rec_record *in = rec_record_new(NULL);
        rec_recorder *r =
            open_with("NamedMpk", "adapter", "none", "reverse", rules[i][0], rules[i][1], rules[i][2], NULL);
        rec_plan *plan = rec_plan_new(NULL, NULL);
        if (i == 2) { /* the key as it was before the last rule */
            ok(rec_recorder_set(r, "rename", "!$ => !!"));
        }
        put(in,
            i == 2   ? "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!!"
            : i == 4 ? "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!.w_v"
                     : "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
            1, 1, 2, 0);
        ok(rec_plan_add_record(plan, r, in, "model"));
        assert_int_equal(rec_plan_make(plan), REC_E_LIMIT);
        assert_non_null(strstr(rec_error_message(), "takes more than 100,000 steps"));
        if (i < 3) {
            assert_non_null(strstr(rec_error_hint(), "It was tried on the key aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!."));
        }
        rec_plan_free(plan);
        rec_close_recorder(r);
        rec_record_free(in);
    }
}

static void a_variant_is_chosen_by_names_and_ranks(void **state)
{
    rec_record *in = rec_record_new(NULL), *out;
    rec_recorder *r = torch();
    rec_plan *plan;
    BODY body;
    rec_binding *binding;
    (void)state;
    put(in, "head.weight", 1, 2, 2, 3); /* Wide comes first and has the name, but not the rank */
    put(in, "pair.0.weight", 1, 2, 2, 2);
    put(in, "pair.1.weight", 5, 2, 2, 2);
    ok(rec_recorder_set_type(r, &BODY_type));
    plan = plan_of(r, in);
    out = load(plan);
    assert_string_equal(line_from(plan, "head.weight")->to, "head.Flat.weight");
    binding = rec_bind(out, &BODY_type, &body);
    if (!binding) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(body.head.variant, 1);
    assert_float_equal(body.head.Flat->weight.data[1], 4, 0);
    assert_float_equal(body.pair[1].weight.data[1], 7, 0);
    rec_binding_free(binding);
    rec_record_free(out);
    rec_plan_free(plan);

    ok(rec_remove(in, "head.weight"));
    put(in, "head.weight", 1, 1, 2, 0);
    plan = plan_of(r, in);
    expect_problem(
        plan, REC_PROBLEM_KIND, 1,
        "head: no variant of HEAD fits: Wide (head.weight has rank 1, expected 3), Flat (head.weight has rank 1, "
        "expected 2)",
        "");
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
}

static void a_base_keeps_what_no_source_gives(void **state)
{
    rec_record *base = rec_record_new(NULL), *in = rec_record_new(NULL), *out;
    rec_recorder *r = torch();
    rec_plan *plan = rec_plan_new(NULL, NULL);
    (void)state;
    put(base, "norm.gamma", 100, 1, 3, 0);
    put(base, "norm.beta", 200, 1, 3, 0);
    put(base, "layers.0.weight", 300, 2, 3, 2);
    ok(rec_set_uint(base, "steps", 7));
    put(in, "norm.weight", 1, 1, 3, 0);
    ok(rec_recorder_set_type(r, &NET_type));
    ok(rec_plan_add_record(plan, r, in, "encoder"));
    ok(rec_plan_set_base(plan, base));
    out = load(plan);
    assert_float_equal(number(out, "norm.gamma", 0), 1, 0);
    assert_float_equal(number(out, "norm.beta", 0), 200, 0);
    assert_float_equal(number(out, "layers.0.weight", 1), 301, 0); /* in Burn's layout already */
    assert_int_equal(rec_value_scalar(rec_value_at(out, "steps")).v.u, 7);
    assert_int_equal(line_to(plan, "norm.beta")->action, REC_PLAN_KEPT);
    rec_record_free(out);
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
    rec_record_free(base);
}

static void a_base_gives_way_to_what_the_adapter_renames(void **state)
{
    rec_record *base = rec_record_new(NULL), *in = rec_record_new(NULL), *out;
    rec_recorder *r = torch();
    rec_plan *plan = rec_plan_new(NULL, NULL);
    (void)state;
    put(base, "norm.gamma", 100, 1, 3, 0);
    put(base, "norm.beta", 200, 1, 3, 0);
    put(base, "head.weight", 300, 2, 3, 2);
    put(in, "norm.weight", 1, 1, 3, 0);
    put(in, "norm.bias", 5, 1, 3, 0);
    ok(rec_plan_add_record(plan, r, in, "encoder"));
    ok(rec_plan_set_base(plan, base));
    out = load(plan);
    assert_int_equal(rec_value_count(rec_value_at(out, "norm")), 2);
    assert_float_equal(number(out, "norm.gamma", 0), 1, 0);
    assert_float_equal(number(out, "norm.beta", 0), 5, 0);
    assert_float_equal(number(out, "head.weight", 1), 301, 0);
    rec_record_free(out);
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
    rec_record_free(base);
}

/* ---------------------------------------------------------------------------------------------- without a type -- */

static void modules_are_known_by_their_shapes(void **state)
{
    rec_record *in = rec_record_new(NULL), *out;
    rec_recorder *r = torch();
    rec_plan *plan;
    (void)state;
    put(in, "fc.weight", 1, 2, 2, 3);
    put(in, "fc.bias", 1, 1, 2, 0);
    put(in, "norm.weight", 1, 1, 3, 0);
    put(in, "norm.bias", 1, 1, 3, 0);
    put(in, "out_norm.weight", 1, 1, 3, 0);
    put(in, "out_norm.bias", 1, 1, 3, 0);
    put(in, "tok_embed.weight", 1, 2, 5, 3);
    put(in, "pos_embed.weight", 1, 2, 4, 3);
    put(in, "type_embed.weight", 1, 2, 2, 3);
    put(in, "scale", 1, 0, 0, 0);
    plan = plan_of(r, in);
    assert_string_equal(line_from(plan, "fc.weight")->why, "Linear, by its shape");
    assert_string_equal(line_from(plan, "fc.weight")->operations, "transpose");
    assert_string_equal(line_from(plan, "norm.bias")->to, "norm.beta");
    assert_string_equal(line_from(plan, "tok_embed.weight")->why, "Embedding, by its name");
    assert_string_equal(line_from(plan, "tok_embed.weight")->operations, "");
    out = load(plan);
    assert_int_equal(rec_report_count(), 2);
    assert_string_equal(rec_report_note(0)->text, "1 tensor not recognised: scale");
    assert_int_equal(rec_report_note(1)->kind, REC_NOTE_ADAPTED);
    assert_non_null(strstr(rec_report_note(1)->text,
                           "shape: Linear (transposed) 1, norms (renamed) 2, embeddings and the "
                           "like (unchanged) 3"));
    assert_float_equal(number(out, "fc.weight", 1), 4, 0);
    assert_int_equal(rec_tensor_shape(rec_tensor_at(out, "fc.weight"))[0], 3);
    rec_record_free(out);
    rec_plan_free(plan);

    put(in, "layers.0.w.weight", 1, 2, 2, 3);
    put(in, "layers.1.w.weight", 1, 2, 2, 3);
    plan = plan_of(r, in);
    expect_problem(
        plan, REC_PROBLEM_AMBIGUOUS, 1,
        "layers.0.w and 1 like it: a weight of rank 2 without a bias may be a Linear (transposed) or an Embedding "
        "(not transposed)",
        "Identify it by a type, a profile, or a rule, module = PATTERN => Linear. The adapter none changes nothing.");
    rec_plan_free(plan);
    ok(rec_recorder_set(r, "module", "\\.w$|fc => Linear"));
    plan = plan_of(r, in);
    assert_string_equal(line_from(plan, "layers.1.w.weight")->operations, "transpose");
    assert_string_equal(line_from(plan, "norm.weight")->to, "norm.gamma"); /* rules add to recognition */
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
}

static void without_a_type_a_base_gives_way_to_what_is_renamed(void **state)
{
    rec_record *base = rec_record_new(NULL), *in = rec_record_new(NULL), *out;
    rec_recorder *r = torch();
    rec_plan *plan = rec_plan_new(NULL, NULL);
    (void)state;
    put(base, "norm.gamma", 100, 1, 3, 0);
    put(base, "norm.beta", 200, 1, 3, 0);
    put(base, "other.weight", 300, 1, 3, 0);
    put(in, "norm.weight", 1, 1, 3, 0);
    put(in, "norm.bias", 5, 1, 3, 0);
    ok(rec_plan_add_record(plan, r, in, "model"));
    ok(rec_plan_set_base(plan, base));
    out = load(plan);
    assert_float_equal(number(out, "norm.gamma", 0), 1, 0);
    assert_float_equal(number(out, "norm.beta", 0), 5, 0);
    assert_float_equal(number(out, "other.weight", 0), 300, 0);
    assert_int_equal(rec_value_count(rec_value_at(out, "norm")), 2);
    assert_int_equal(rec_plan_count(plan), 3);
    rec_record_free(out);
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
    rec_record_free(base);
}

static void what_is_dropped_may_have_to_be_of_a_rank(void **state)
{
    rec_record *in = rec_record_new(NULL), *out;
    rec_recorder *r = open_with("NamedMpk", "adapter", "none", "drop", ".* | rank 2", NULL);
    rec_plan *plan;
    (void)state;
    put(in, "a", 1, 1, 2, 0);
    put(in, "b", 1, 2, 2, 2);
    plan = plan_of(r, in);
    out = load(plan);
    assert_non_null(rec_tensor_at(out, "a"));
    assert_null(rec_tensor_at(out, "b"));
    rec_record_free(out);
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
}

static void a_shape_of_too_many_sizes_is_refused(void **state)
{
    rec_record *in = rec_record_new(NULL);
    rec_recorder *r;
    rec_plan *plan = rec_plan_new(NULL, NULL);
    char rule[256] = "^a$ | [1";
    (void)state;
    for (int i = 1; i < 33; i++) {
        (void)strcat(rule, ", 1");
    }
    (void)strcat(rule, "]");
    r = open_with("NamedMpk", "adapter", "none", "reshape", rule, NULL);
    put(in, "a", 1, 1, 1, 0);
    ok(rec_plan_add_record(plan, r, in, "model"));
    ok(rec_plan_make(plan));
    assert_int_equal(rec_plan_problem_count(plan), 1);
    assert_int_equal(rec_plan_problem_get(plan, 0)->kind, REC_PROBLEM_SHAPE);
    assert_non_null(strstr(rec_plan_problem_get(plan, 0)->text, "]): a shape has at most 32 dimensions"));
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
}

/* Told once, with its reason: not among what the base has no place for, too. */
static void without_a_type_a_base_does_not_miss_what_the_adapter_drops(void **state)
{
    rec_record *base = rec_record_new(NULL), *in = rec_record_new(NULL), *out;
    rec_recorder *r = torch();
    rec_plan *plan = rec_plan_new(NULL, NULL);
    (void)state;
    put(base, "norm.gamma", 100, 1, 3, 0);
    put(base, "norm.beta", 200, 1, 3, 0);
    put(base, "norm.running_mean", 300, 1, 3, 0);
    put(base, "norm.running_var", 400, 1, 3, 0);
    put(in, "norm.weight", 1, 1, 3, 0);
    put(in, "norm.bias", 5, 1, 3, 0);
    put(in, "norm.running_mean", 10, 1, 3, 0);
    put(in, "norm.running_var", 15, 1, 3, 0);
    put(in, "norm.num_batches_tracked", 20, 0, 0, 0);
    ok(rec_plan_add_record(plan, r, in, "model"));
    ok(rec_plan_set_base(plan, base));
    ok(rec_plan_make(plan));
    assert_int_equal(rec_plan_problem_count(plan), 0);
    assert_int_equal(rec_plan_count(plan), 5);
    assert_int_equal(line_to(plan, "")->action, REC_PLAN_DROPPED);
    assert_string_equal(line_to(plan, "")->why, "BatchNorm has no such field");
    out = load(plan);
    assert_float_equal(number(out, "norm.running_var", 0), 15, 0);
    assert_int_equal(rec_value_count(rec_value_at(out, "norm")), 4);
    rec_record_free(out);
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
    rec_record_free(base);
}

/* Each doubt is compared with those before it, each missing path with the keys: a large file must not make that a
 * square. */
static void doubts_and_guesses_have_an_end(void **state)
{
    rec_record *in = rec_record_new(NULL);
    rec_recorder *r = torch(), *typed = torch();
    rec_types *types = rec_types_new(NULL);
    rec_plan *plan;
    rec_plan_totals totals = {.size = sizeof totals};
    char key[64];
    uint64_t count;
    (void)state;
    for (int i = 0; i < 300; i++) {
        (void)snprintf(key, sizeof key, "x%cy%c.weight", 'a' + i / 26, 'a' + i % 26);
        put(in, key, 1, 2, 2, 3);
    }
    plan = plan_of(r, in);
    ok(rec_plan_total(plan, &totals));
    assert_int_equal(totals.fatal, 257);
    assert_string_equal(rec_plan_problem_get(plan, 256)->text, "44 more modules may be one thing or another");
    rec_plan_free(plan);
    rec_record_free(in);

    in = rec_record_new(NULL);
    ok(rec_types_add_rust(types, "struct Net<B: Backend> { layers: Vec<Linear<B>> }", "types"));
    ok(rec_recorder_set_type_name(typed, types, "Net<B>"));
    ok(rec_set_empty(in, "layers", REC_KIND_MAP));
    for (int i = 0; i < 500; i++) {
        (void)snprintf(key, sizeof key, "layers.%d.wieght", i);
        put(in, key, 1, 2, 2, 3);
    }
    plan = plan_of(typed, in);
    count = rec_plan_problem_count(plan);
    assert_int_equal(count, 501); /* and one for the keys that are left */
    assert_string_equal(rec_plan_problem_get(plan, 0)->hint,
                        "Nearest: layers.0.wieght [2, 3]: `rename = ^layers\\.([0-9]+)\\.wieght$ => layers.$1.weight`");
    assert_string_equal(rec_plan_problem_get(plan, 499)->hint,
                        "Is it the right type? A partial load (partial) leaves out what is missing.");
    rec_plan_free(plan);
    rec_record_free(in);
    rec_close_recorder(r);
    rec_close_recorder(typed);
    rec_types_free(types);
}

/* Up to 0.11 an array was counted like a list: it still has as many elements as its type says. */
static void an_array_of_an_old_version_has_its_own_length(void **state)
{
    rec_record *in = rec_record_new(NULL);
    rec_recorder *r = torch();
    rec_types *types = rec_types_new(NULL);
    rec_plan *plan;
    (void)state;
    assert_non_null(types);
    ok(rec_types_add_rust(types, "struct Net<B: Backend> { a: [Linear<B>; 4] }", "types"));
    ok(rec_recorder_set_type_name(r, types, "Net<B>"));
    ok(rec_recorder_set(r, "layout", "burn-0.11"));
    put(in, "a.3.weight", 1, 2, 2, 3);
    plan = plan_of(r, in);
    assert_string_equal(line_from(plan, "a.3.weight")->to, "a.3.weight");
    expect_problem(plan, REC_PROBLEM_MISSING, 1, "a.0 is missing: a module of type Linear",
                   "Is it the right type? A partial load (partial) leaves out what is missing.");
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_types_free(types);
    rec_record_free(in);
}

static void a_long_key_is_stacked_whole(void **state)
{
    rec_record *in = rec_record_new(NULL), *out;
    rec_recorder *r = torch();
    rec_plan *plan;
    char key[1600];
    (void)state;
    memset(key, 'k', sizeof key);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(key + 1500, sizeof key - 1500, ".%d.weight", i);
        put(in, key, (float)i, 1, 3, 0);
    }
    ok(rec_recorder_set(r, "stack", "(.*)\\.([0-9]+)\\.weight$ => ${1}.tail"));
    plan = plan_of(r, in);
    out = load(plan);
    (void)snprintf(key + 1500, sizeof key - 1500, ".tail");
    assert_float_equal(number(out, key, 3), 1, 0);
    rec_record_free(out);
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
}

static void what_a_stack_cannot_adapt_is_a_problem(void **state)
{
    rec_record *in = rec_record_new(NULL);
    rec_recorder *r = torch();
    rec_plan *plan;
    (void)state;
    put(in, "e.0.weight", 1, 1, 3, 0);
    put(in, "e.1.weight", 1, 2, 3, 2);
    ok(rec_recorder_set(r, "module", ". => Linear"));
    ok(rec_recorder_set(r, "stack", "^e\\.([0-9]+)\\.weight$ => e"));
    plan = plan_of(r, in);
    expect_problem(plan, REC_PROBLEM_SHAPE, 1, "e.0.weight: the weight of a Linear has two axes, found the shape [3]",
                   "Is it a Linear?");
    assert_null(rec_plan_load(plan));
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
}

static void what_has_no_number_is_not_stacked(void **state)
{
    rec_record *in = rec_record_new(NULL), *out;
    rec_recorder *r =
        open_with("NamedMpk", "adapter", "none", "stack", "^s\\.(?:([0-9]+)|([a-z]+)|([0-9]+x))\\.w$ => s.w", NULL);
    rec_plan *plan;
    (void)state;
    put(in, "s.1.w", 10, 1, 2, 0);
    put(in, "s.0.w", 20, 1, 2, 0);
    put(in, "s.abc.w", 30, 1, 2, 0);
    put(in, "s.2x.w", 40, 1, 2, 0);
    plan = plan_of(r, in);
    assert_int_equal(rec_plan_problem_count(plan), 0);
    out = load(plan);
    assert_int_equal(rec_tensor_rank(rec_tensor_at(out, "s.w")), 2);
    assert_float_equal(number(out, "s.w", 0), 20, 0);
    assert_float_equal(number(out, "s.w", 2), 10, 0);
    assert_int_equal(rec_tensor_rank(rec_tensor_at(out, "s.abc.w")), 1);
    assert_int_equal(rec_tensor_rank(rec_tensor_at(out, "s.2x.w")), 1);
    assert_null(rec_tensor_at(out, "s.0.w"));
    rec_record_free(out);
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
}

static void weight_norm_sees_what_is_selected_and_not_dropped(void **state)
{
    rec_record *in = rec_record_new(NULL);
    rec_recorder *r = torch();
    rec_plan *plan;
    (void)state;
    put(in, "model.q.weight_g", 1, 2, 2, 1);
    put(in, "model.q.weight_v", 1, 2, 2, 3);
    put(in, "model.out.weight_g", 1, 2, 2, 1);
    put(in, "model.out.weight_v", 1, 2, 2, 3);
    put(in, "other.weight_g", 1, 2, 2, 1);
    put(in, "other.weight_v", 1, 2, 2, 3);
    ok(rec_recorder_set(r, "adapter", "none"));
    ok(rec_recorder_set(r, "select", "model"));
    ok(rec_recorder_set(r, "drop", "^out"));
    ok(rec_recorder_set(r, "weight_norm", "^q$|^out$|other"));
    plan = plan_of(r, in);
    assert_string_equal(line_from(plan, "model.q.weight_g")->to, "q.weight");
    assert_int_equal(line_from(plan, "model.out.weight_g")->action, REC_PLAN_DROPPED);
    assert_int_equal(line_from(plan, "model.out.weight_v")->action, REC_PLAN_DROPPED);
    assert_int_equal(line_from(plan, "other.weight_g")->action, REC_PLAN_DROPPED);
    assert_int_equal(line_from(plan, "other.weight_v")->action, REC_PLAN_DROPPED);
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
}

/* Numbers so large that their product is none, and an axis without indices that is many groups. */
static void numbers_of_any_size_are_refused_or_harmless(void **state)
{
    rec_record *in = rec_record_new(NULL);
    rec_recorder *r = torch(), *s = torch();
    rec_plan *plan;
    (void)state;
    put(in, "a.weight", 1, 2, 0, 4);
    ok(rec_recorder_set(r, "adapter", "none"));
    ok(rec_recorder_set(r, "let", "H heads"));
    ok(rec_recorder_set(r, "set", "heads=4503599627370496"));
    ok(rec_recorder_set(r, "reshape", ". | [H, H, 2, 2, 0]"));
    plan = plan_of(r, in);
    expect_problem(plan, REC_PROBLEM_SHAPE, 1,
                   "a.weight: rule 1 (. | [H, H, 2, 2, 0]): the shape would have more than 2^64 elements", "");
    rec_plan_free(plan);
    ok(rec_recorder_set(s, "adapter", "none"));
    ok(rec_recorder_set(s, "let", "H heads"));
    ok(rec_recorder_set(s, "set", "heads=4503599627370496"));
    ok(rec_recorder_set(s, "split", "weight$ | rows q k in H => %"));
    plan = plan_of(s, in);
    assert_int_equal(line_to(plan, "q")->shape_after[0], 0);
    assert_int_equal(line_to(plan, "k")->shape_after[0], 0);
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_close_recorder(s);
    rec_record_free(in);
}

static void two_sources_for_one_key_are_refused(void **state)
{
    rec_record *in = rec_record_new(NULL);
    rec_recorder *r = torch();
    rec_plan *plan;
    (void)state;
    put(in, "encoder.w", 1, 1, 3, 0);
    put(in, "decoder.w", 1, 1, 3, 0);
    ok(rec_recorder_set(r, "rename", "^nothing => x"));
    ok(rec_recorder_set(r, "rename", "^(encoder|decoder)\\. => layers."));
    plan = plan_of(r, in);
    expect_problem(plan, REC_PROBLEM_COLLISION, 1, "2 sources for layers.w: encoder.w and decoder.w (both by rule 2)",
                   "Drop one of them, or give one another key.");
    expect_problem(plan, REC_PROBLEM_DEAD_RULE, 0, "rule 1 (`^nothing`) matched nothing",
                   "Rules act in order, each on the result of the one before.");
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
}

static void a_rule_that_matched_nothing_names_what_is_near(void **state)
{
    rec_record *in = rec_record_new(NULL);
    rec_recorder *r = torch();
    rec_plan *plan;
    (void)state;
    put(in, "model.a", 1, 1, 3, 0);
    put(in, "model.b", 1, 1, 3, 0);
    ok(rec_recorder_set(r, "rename", "^modle\\. => "));
    plan = plan_of(r, in);
    expect_problem(plan, REC_PROBLEM_DEAD_RULE, 0, "rule 1 (`^modle\\.`) matched nothing",
                   "2 keys have the part `model`.");
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
}

static void several_sources_fill_one_destination(void **state)
{
    rec_record *a = rec_record_new(NULL), *b = rec_record_new(NULL), *out;
    rec_recorder *first = torch(), *second = torch();
    rec_plan *plan = rec_plan_new(NULL, NULL);
    (void)state;
    put(a, "fc.weight", 1, 2, 2, 3);
    put(a, "fc.bias", 1, 1, 2, 0);
    put(b, "fc.weight", 10, 2, 2, 3);
    put(b, "fc.bias", 10, 1, 3, 0);
    ok(rec_recorder_set(first, "prefix", "body"));
    ok(rec_recorder_set(second, "prefix", "head"));
    ok(rec_recorder_set(second, "module", "^fc$ => Conv1D")); /* rules see keys without the prefix */
    ok(rec_plan_add_record(plan, first, a, "a"));
    ok(rec_plan_add_record(plan, second, b, "b"));
    out = load(plan);
    assert_string_equal(line_to(plan, "head.fc.weight")->source, "b");
    assert_float_equal(number(out, "body.fc.weight", 1), 4, 0);
    assert_float_equal(number(out, "head.fc.weight", 1), 11, 0);
    rec_record_free(out);
    rec_plan_free(plan);
    rec_close_recorder(first);
    rec_close_recorder(second);
    rec_record_free(a);
    rec_record_free(b);
}

static void rules_split_stack_join_and_tie(void **state)
{
    rec_record *in = rec_record_new(NULL), *out;
    rec_recorder *r = torch();
    rec_plan *plan;
    (void)state;
    put(in, "attn.qkv.weight", 0, 2, 8, 2);
    put(in, "experts.0.w1.weight", 100, 2, 2, 3);
    put(in, "experts.1.w1.weight", 200, 2, 2, 3);
    put(in, "emb.weight", 50, 2, 4, 2);
    ok(rec_recorder_set(r, "split", "(.*)\\.qkv\\.weight$ | rows q*H k v => $1.%.weight"));
    ok(rec_recorder_set(r, "let", "H heads | num_attention_heads"));
    ok(rec_recorder_set(r, "stack", "(.*)experts\\.([0-9]+)\\.(w1)\\.weight$ => ${1}experts.$3"));
    ok(rec_recorder_set(r, "join", "^attn\\.%\\.weight$ | last k v => attn.kv"));
    ok(rec_recorder_set(r, "tie", "out.weight = emb.weight"));
    ok(rec_recorder_set(r, "module", "^attn\\.|w1$|^out$ => Linear"));
    ok(rec_recorder_set(r, "module", "^emb$ => Embedding"));
    plan = rec_plan_new(NULL, NULL);
    ok(rec_plan_add_record(plan, r, in, "model"));
    assert_int_equal(rec_plan_make(plan), REC_E_NOT_FOUND); /* no number of heads */
    assert_non_null(strstr(rec_error_message(), "num_attention_heads"));
    rec_plan_free(plan);

    ok(rec_recorder_set(r, "set", "heads=2"));
    plan = plan_of(r, in);
    assert_string_equal(line_from(plan, "attn.qkv.weight")->operations, "split q, transpose");
    assert_string_equal(line_to(plan, "out.weight")->operations, "tie, transpose");
    assert_string_equal(line_to(plan, "experts.w1")->operations, "transpose, stack");
    assert_int_equal(line_to(plan, "experts.w1")->input_count, 2);
    out = load(plan);
    assert_int_equal(rec_tensor_shape(rec_tensor_at(out, "attn.q.weight"))[1], 4);
    assert_float_equal(number(out, "attn.q.weight", 1), 2, 0);
    assert_int_equal(rec_tensor_shape(rec_tensor_at(out, "attn.kv"))[1], 4); /* [2, 2] and [2, 2] */
    assert_float_equal(number(out, "attn.kv", 2), 12, 0);
    assert_int_equal(rec_tensor_rank(rec_tensor_at(out, "experts.w1")), 3);
    assert_float_equal(number(out, "experts.w1", 6), 200, 0);
    assert_float_equal(number(out, "experts.w1", 1), 103, 0);
    assert_float_equal(number(out, "out.weight", 1), 52, 0);
    rec_record_free(out);
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
}

static void nothing_mapped_is_an_error(void **state)
{
    rec_record *in = rec_record_new(NULL);
    rec_recorder *r = torch();
    rec_plan *plan;
    (void)state;
    put(in, "a.weight", 1, 1, 3, 0);
    ok(rec_recorder_set(r, "drop", "."));
    plan = plan_of(r, in);
    assert_string_equal(line_from(plan, "a.weight")->why, "rule 1");
    expect_problem(plan, REC_PROBLEM_EMPTY, 1, "none of 1 tensors is mapped: the destination stays empty",
                   "Is it the right profile, or the right type?");
    assert_null(rec_plan_load(plan));
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
}

static void a_key_below_a_tensor_stands_beside_it(void **state)
{
    rec_record *in = rec_record_new(NULL), *out;
    rec_recorder *r = torch();
    rec_plan *plan;
    (void)state;
    put(in, "m.x", 1, 1, 3, 0);
    put(in, "m.x\\.id", 5, 1, 3, 0); /* a name with a dot: the key m.x.id */
    ok(rec_recorder_set(r, "adapter", "none"));
    plan = plan_of(r, in);
    out = load(plan);
    assert_float_equal(number(out, "m.x", 0), 1, 0);
    assert_float_equal(number(out, "m.x\\.id", 0), 5, 0);
    rec_record_free(out);
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
}

static void gaps_are_closed_or_kept_as_asked(void **state)
{
    rec_record *in = rec_record_new(NULL), *out;
    rec_recorder *r = torch();
    rec_plan *plan;
    (void)state;
    ok(rec_set_empty(in, "seq", REC_KIND_MAP));
    put(in, "seq.3.w", 3, 1, 2, 0);
    put(in, "seq.10.w", 10, 1, 2, 0);
    ok(rec_recorder_set(r, "gaps", "close"));
    plan = plan_of(r, in);
    out = load(plan);
    assert_int_equal(rec_value_kind(rec_value_at(out, "seq")), REC_KIND_LIST);
    assert_float_equal(number(out, "seq.1.w", 0), 10, 0);
    rec_record_free(out);
    rec_plan_free(plan);
    ok(rec_recorder_set(r, "gaps", "keep"));
    plan = plan_of(r, in);
    out = load(plan);
    assert_int_equal(rec_value_kind(rec_value_at(out, "seq")), REC_KIND_MAP);
    assert_float_equal(number(out, "seq.10.w", 0), 10, 0);
    rec_record_free(out);
    rec_plan_free(plan);

    put(in, "seq.03.w", 4, 1, 2, 0);
    ok(rec_recorder_set(r, "gaps", "close"));
    plan = plan_of(r, in);
    expect_problem(plan, REC_PROBLEM_KIND, 1, "seq: two spellings of the index 3: 3 and 03",
                   "Let a rule give one of them another number, or keep the keys (gaps = keep).");
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
}

static void gaps_in_a_tuple_are_closed_over_what_holds_data(void **state)
{
    rec_types *types = rec_types_new(NULL);
    rec_record *in = rec_record_new(NULL), *out;
    rec_recorder *r = torch();
    rec_plan *plan;
    (void)state;
    ok(rec_types_add_rust(
        types, "#[derive(Module)] pub struct Net<B: Backend> { seq: (Linear<B>, Relu, Linear<B>, BatchNorm<B>) }",
        "net.rs"));
    ok(rec_recorder_set_type_name(r, types, "Net"));
    put(in, "seq.a0.weight", 0, 2, 2, 3);
    put(in, "seq.a2.weight", 10, 2, 3, 2);
    put(in, "seq.a5.weight", 1, 1, 3, 0);
    put(in, "seq.a5.bias", 2, 1, 3, 0);
    put(in, "seq.a5.running_mean", 3, 1, 3, 0);
    put(in, "seq.a5.running_var", 4, 1, 3, 0);
    ok(rec_recorder_set(r, "rename", "\\.a => ."));
    plan = plan_of(r, in);
    assert_string_equal(line_from(plan, "seq.a2.weight")->to, "seq.2.weight");
    assert_string_equal(line_from(plan, "seq.a5.weight")->to, "seq.3.gamma");
    out = load(plan);
    assert_float_equal(number(out, "seq.2.weight", 1), 12, 0);
    rec_record_free(out);
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_types_free(types);
    rec_record_free(in);
}

static void a_type_of_data_without_names_is_the_files_own(void **state)
{
    rec_types *types = rec_types_new(NULL);
    rec_record *in = rec_record_new(NULL), *out, *bin;
    rec_recorder *r = rec_open_recorder("BinBytes", REC_PRECISION_KEEP);
    void *data;
    uint64_t size;
    (void)state;
    ok(rec_types_add_rust(types, "#[derive(Module)] pub struct Net<B: Backend> { a: Linear<B> }", "net.rs"));
    ok(rec_recorder_set_type_name(r, types, "Net"));
    put(in, "a.weight", 0, 2, 2, 3);
    ok(rec_save_bytes(r, in, &data, &size));
    bin = rec_load_bytes(r, data, size);
    assert_non_null(bin);
    rec_record_free(bin);
    ok(rec_recorder_set(r, "rename", "^a => b"));
    out = rec_load_bytes(r, data, size);
    if (!out) {
        fail_msg("%s", rec_error_message());
    }
    assert_float_equal(number(out, "b.weight", 1), 1, 0);
    rec_record_free(out);
    rec_free(data);
    rec_close_recorder(r);
    rec_types_free(types);
    rec_record_free(in);
}

static void what_is_asked_of_a_plan_makes_it(void **state)
{
    (void)state;
    for (int how = 0; how < 2; how++) {
        rec_record *in = rec_record_new(NULL);
        rec_plan *plan = rec_plan_new(NULL, NULL);
        put(in, "a.weight", 0, 2, 2, 3);
        ok(rec_plan_add_record(plan, NULL, in, "in"));
        if (how == 0) {
            assert_non_null(rec_plan_get(plan, 0));
            assert_string_equal(rec_plan_get(plan, 0)->from, "a.weight");
        } else {
            assert_null(rec_plan_problem_get(plan, 0));
            assert_int_equal(rec_plan_add_record(plan, NULL, in, "in"), REC_E_ARGUMENT); /* it is made */
        }
        rec_plan_free(plan);
        plan = rec_plan_new(NULL, NULL);
        for (int again = 0; again < 2; again++) {
            assert_null(rec_plan_get(plan, 0)); /* it has no source */
            assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
        }
        rec_plan_free(plan);
        rec_record_free(in);
    }
}

static void a_profile_that_matches_nothing_is_refused(void **state)
{
    rec_record *in = rec_record_new(NULL);
    rec_recorder *r = torch();
    rec_plan *plan;
    (void)state;
    put(in, "a", 1, 1, 3, 0);
    ok(rec_recorder_set(r, "profile", "gpt-neox"));
    plan = plan_of(r, in);
    expect_problem(
        plan, REC_PROBLEM_DEAD_RULE, 1,
        "the profile gpt-neox is for a model that has `\\.attention\\.query_key_value\\.weight$`, and model has "
        "no such key",
        "Is it another family's model? `record profiles` lists them.\nA part of a model is a partial load (partial).");
    rec_plan_free(plan);
    ok(rec_recorder_set(r, "partial", "yes"));
    plan = plan_of(r, in);
    expect_problem(
        plan, REC_PROBLEM_DEAD_RULE, 0,
        "the profile gpt-neox is for a model that has `\\.attention\\.query_key_value\\.weight$`, and model has "
        "no such key",
        "");
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(in);
}

static void what_several_files_have_of_a_tensor_is_merged(void **state)
{
    rec_record *a = rec_record_new(NULL), *b = rec_record_new(NULL), *out;
    rec_recorder *r = torch();
    rec_plan *plan = rec_plan_new(NULL, NULL);
    (void)state;
    put(a, "layers.0.attention.wq.weight", 0, 2, 2, 2);
    put(b, "layers.0.attention.wq.weight", 10, 2, 2, 2);
    put(a, "layers.0.attention.wo.weight", 0, 2, 2, 2);
    put(b, "layers.0.attention.wo.weight", 10, 2, 2, 2);
    put(a, "layers.0.feed_forward.w1.weight", 0, 2, 2, 2);
    put(b, "layers.0.feed_forward.w1.weight", 0, 2, 2, 2);
    put(a, "norm.weight", 1, 1, 2, 0);
    put(b, "norm.weight", 1, 1, 2, 0);
    ok(rec_recorder_set(r, "profile", "llama-meta"));
    ok(rec_plan_add_record(plan, r, a, "consolidated.00"));
    ok(rec_plan_add_record(plan, r, b, "consolidated.01"));
    out = load(plan);
    assert_int_equal(rec_tensor_shape(rec_tensor_at(out, "layers.0.attention.wq.weight"))[1], 4); /* [in, out] */
    assert_float_equal(number(out, "layers.0.attention.wq.weight", 2), 10, 0);
    assert_int_equal(rec_tensor_shape(rec_tensor_at(out, "layers.0.attention.wo.weight"))[0], 4);
    assert_float_equal(number(out, "layers.0.attention.wo.weight", 4), 10, 0);
    assert_string_equal(line_to(plan, "layers.0.attention.wo.weight")->operations, "merge, transpose");
    assert_int_equal(line_to(plan, "layers.0.attention.wo.weight")->input_count, 2);
    assert_float_equal(number(out, "norm.gamma", 1), 2, 0);
    rec_record_free(out);
    rec_plan_free(plan);

    put(b, "norm.weight", 7, 1, 2, 0);
    plan = rec_plan_new(NULL, NULL);
    ok(rec_plan_add_record(plan, r, a, "consolidated.00"));
    ok(rec_plan_add_record(plan, r, b, "consolidated.01"));
    expect_problem(
        plan, REC_PROBLEM_COLLISION, 1,
        "norm.gamma: rule 9 says that it is the same in every file, but consolidated.00 and consolidated.01 differ",
        "Let the rule name the axis they were cut along.");
    rec_plan_free(plan);
    rec_close_recorder(r);
    rec_record_free(a);
    rec_record_free(b);
}

/* GGUF keeps a model's configuration in the file. What stands nearer to the user counts first. */
static void numbers_are_found_in_the_metadata(void **state)
{
    static const float pairs[] = {0, 2, 1, 3, 4, 6, 5, 7}; /* of the two halves of each of two heads */
    rec_record *in = rec_record_new(NULL), *numbers = rec_record_new(NULL), *out;
    (void)state;
    put(in, "q.weight", 0, 2, 8, 1);
    ok(rec_set_uint(numbers, "heads", 2));
    ok(rec_set_string(numbers, "text", "2"));
    for (int set = 0; set < 2; set++) {
        rec_recorder *r =
            open_with("Safetensors", "adapter", "none", "let", "H x.heads", "rope", "q\\.weight | H", NULL);
        rec_plan *plan = rec_plan_new(NULL, NULL);
        if (set == 0) { /* a text is no number */
            ok(rec_metadata_set_value(in, "x.heads", rec_value_at(numbers, "text")));
        } else {
            ok(rec_metadata_set_value(in, "x.heads", rec_value_at(numbers, "heads")));
        }
        ok(rec_plan_add_record(plan, r, in, "model"));
        if (set == 0) {
            assert_int_equal(rec_plan_make(plan), REC_E_NOT_FOUND);
            assert_non_null(strstr(rec_error_message(), "x.heads"));
        } else {
            ok(rec_plan_make(plan));
            out = load(plan);
            for (uint64_t i = 0; i < 8; i++) {
                assert_float_equal(number(out, "q.weight", i), pairs[i], 0);
            }
            rec_record_free(out);
            ok(rec_recorder_set(r, "set", "x.heads=3"));
            rec_plan_free(plan);
            plan = rec_plan_new(NULL, NULL);
            ok(rec_plan_add_record(plan, r, in, "model"));
            ok(rec_plan_make(plan));
            assert_null(rec_plan_load(plan));
            assert_non_null(strstr(rec_error_message(), "3 heads"));
        }
        rec_plan_free(plan);
        rec_close_recorder(r);
    }
    rec_record_free(in);
    rec_record_free(numbers);
}

static void a_plan_that_is_made_takes_nothing_more(void **state)
{
    rec_record *in = rec_record_new(NULL);
    rec_recorder *r = torch();
    rec_plan *plan;
    (void)state;
    put(in, "a", 1, 1, 3, 0);
    plan = plan_of(r, in);
    assert_int_equal(rec_plan_add_record(plan, r, in, "again"), REC_E_ARGUMENT);
    assert_int_equal(rec_plan_set_base(plan, in), REC_E_ARGUMENT);
    rec_plan_free(plan);
    plan = rec_plan_new(NULL, NULL);
    assert_int_equal(rec_plan_make(plan), REC_E_ARGUMENT);
    assert_int_equal(rec_plan_count(plan), 0);
    rec_plan_free(plan);
    rec_plan_free(NULL);
    rec_close_recorder(r);
    rec_record_free(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_type_says_what_is_transposed_and_renamed),
        cmocka_unit_test(what_is_missing_is_told_with_what_is_near),
        cmocka_unit_test(weights_are_fused_from_both_spellings),
        cmocka_unit_test(a_rule_that_takes_too_long_names_the_key),
        cmocka_unit_test(a_variant_is_chosen_by_names_and_ranks),
        cmocka_unit_test(a_base_keeps_what_no_source_gives),
        cmocka_unit_test(a_base_gives_way_to_what_the_adapter_renames),
        cmocka_unit_test(modules_are_known_by_their_shapes),
        cmocka_unit_test(without_a_type_a_base_gives_way_to_what_is_renamed),
        cmocka_unit_test(what_is_dropped_may_have_to_be_of_a_rank),
        cmocka_unit_test(a_shape_of_too_many_sizes_is_refused),
        cmocka_unit_test(without_a_type_a_base_does_not_miss_what_the_adapter_drops),
        cmocka_unit_test(doubts_and_guesses_have_an_end),
        cmocka_unit_test(an_array_of_an_old_version_has_its_own_length),
        cmocka_unit_test(a_long_key_is_stacked_whole),
        cmocka_unit_test(what_a_stack_cannot_adapt_is_a_problem),
        cmocka_unit_test(what_has_no_number_is_not_stacked),
        cmocka_unit_test(weight_norm_sees_what_is_selected_and_not_dropped),
        cmocka_unit_test(numbers_of_any_size_are_refused_or_harmless),
        cmocka_unit_test(two_sources_for_one_key_are_refused),
        cmocka_unit_test(a_rule_that_matched_nothing_names_what_is_near),
        cmocka_unit_test(several_sources_fill_one_destination),
        cmocka_unit_test(rules_split_stack_join_and_tie),
        cmocka_unit_test(nothing_mapped_is_an_error),
        cmocka_unit_test(a_key_below_a_tensor_stands_beside_it),
        cmocka_unit_test(gaps_are_closed_or_kept_as_asked),
        cmocka_unit_test(gaps_in_a_tuple_are_closed_over_what_holds_data),
        cmocka_unit_test(a_type_of_data_without_names_is_the_files_own),
        cmocka_unit_test(what_is_asked_of_a_plan_makes_it),
        cmocka_unit_test(a_profile_that_matches_nothing_is_refused),
        cmocka_unit_test(what_several_files_have_of_a_tensor_is_merged),
        cmocka_unit_test(numbers_are_found_in_the_metadata),
        cmocka_unit_test(a_plan_that_is_made_takes_nothing_more),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
