/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Profiles backwards: real models there and back to the bit, each kind of rule undone, and what cannot be undone said
 * in so many words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "librecord.h"
#include "tests/remap/plans.h"
#include "tests/scratch.h"
#include "tests/shared.h"

/* ----------------------------------------------------------------------------------------------------- helpers -- */

/** Where the key goes: "" if nowhere. */
static const char *goes_to(rec_plan *plan, const char *key)
{
    for (uint64_t i = 0; i < rec_plan_count(plan); i++) {
        const rec_plan_line *line = rec_plan_get(plan, i);
        for (uint64_t k = 0; k < line->input_count; k++) {
            if (strcmp(line->inputs[k], key) == 0) {
                return line->to;
            }
        }
    }
    return "";
}

static void expect_no_problem(rec_plan *plan)
{
    if (rec_plan_problem_count(plan)) {
        fail_msg("%s", rec_plan_problem_get(plan, 0)->text);
    }
}

/** All tensors of one are in the other, the same to the bit; except for those whose path ends so. */
static uint64_t compare(const rec_record *from, const rec_record *to, const char *except)
{
    rec_iterator *all = rec_iterate(from);
    const rec_tensor *tensor;
    const char *path;
    uint64_t count = 0;
    while ((tensor = rec_iterator_next_tensor(all, &path)) != NULL) {
        const rec_tensor *other = rec_tensor_at(to, path);
        const void *a, *b;
        uint64_t size, other_size;
        if (except && strlen(path) > strlen(except) && strcmp(path + strlen(path) - strlen(except), except) == 0) {
            assert_null(other);
            continue;
        }
        if (!other) {
            fail_msg("%s is not there", path);
        }
        a = rec_tensor_bytes(tensor, &size);
        b = rec_tensor_bytes(other, &other_size);
        if (!a || !b) {
            fail_msg("%s: %s", path, rec_error_message());
        }
        assert_int_equal(rec_tensor_stored_dtype(tensor), rec_tensor_stored_dtype(other));
        assert_int_equal(rec_tensor_rank(tensor), rec_tensor_rank(other));
        for (uint32_t i = 0; i < rec_tensor_rank(tensor); i++) {
            assert_int_equal(rec_tensor_shape(tensor)[i], rec_tensor_shape(other)[i]);
        }
        if (size != other_size || memcmp(a, b, (size_t)size) != 0) {
            fail_msg("%s: other bytes", path);
        }
        count++;
    }
    rec_iterator_free(all);
    return count;
}

/** Takes a record there and back, and compares. Pairs of rules, NULL-terminated. */
static void there_and_back(const rec_record *record, const char *except, const char *const *rules)
{
    rec_recorder *there = open_with("NamedMpk", "adapter", "pytorch", NULL);
    rec_recorder *back = open_with("NamedMpk", "reverse", "yes", NULL);
    rec_plan *first, *second;
    rec_record *burn, *torch;
    for (; *rules; rules += 2) {
        ok(rec_recorder_set(there, rules[0], rules[1]));
        ok(rec_recorder_set(back, rules[0], rules[1]));
    }
    first = plan_of(there, record);
    burn = load(first);
    second = plan_of(back, burn);
    expect_no_problem(second);
    torch = load(second);
    assert_int_equal(compare(torch, record, NULL), compare(record, torch, except));
    rec_record_free(torch);
    rec_record_free(burn);
    rec_plan_free(second);
    rec_plan_free(first);
    rec_close_recorder(there);
    rec_close_recorder(back);
}

#define THERE_AND_BACK(record, except, ...) there_and_back(record, except, (const char *const[]){__VA_ARGS__, NULL})

static rec_record *new_record(void)
{
    rec_record *record = rec_record_new(NULL);
    assert_non_null(record);
    return record;
}

/* ---------------------------------------------------------------------------------------------- kinds of rules -- */

static void renames_and_modules_are_undone(void **state)
{
    rec_record *r = new_record();
    (void)state;
    put(r, "h.0.fc.weight", 1, 2, 2, 3);
    put(r, "h.0.fc.bias", 1, 1, 2, 0);
    put(r, "h.0.ln.weight", 5, 1, 3, 0);
    put(r, "h.0.ln.bias", 6, 1, 3, 0);
    put(r, "h.1.fc.weight", 7, 2, 2, 3);
    put(r, "emb.weight", 8, 2, 4, 3);
    THERE_AND_BACK(r, NULL, "rename", "^h\\.([0-9]+)\\. => layers.$1.", "rename", "\\.fc\\. => .linear.", "module",
                   "linear$ => Linear", "module", "ln$ => LayerNorm", "module", "emb$ => Embedding");
    rec_record_free(r);
}

static void a_norm_whose_rename_made_gamma_is_not_renamed_twice(void **state)
{
    rec_record *r = new_record();
    (void)state;
    put(r, "in_norm.weight", 5, 1, 3, 0);
    THERE_AND_BACK(r, NULL, "rename", "(.*)norm\\.weight => ${1}norm.gamma", "module", "norm$ => RmsNorm");
    rec_record_free(r);
}

static void splits_are_joined(void **state)
{
    rec_record *r = new_record();
    (void)state;
    put(r, "a.qkv.weight", 1, 2, 6, 2);
    put(r, "a.qkv.bias", 2, 1, 6, 0);
    put(r, "b.c_attn.weight", 3, 2, 2, 9);
    put(r, "c.fused.weight", 4, 2, 16, 2); /* 2 groups of 4 + 2 + 2 rows */
    put(r, "d.gates.weight", 4, 2, 2, 4);
    THERE_AND_BACK(r, NULL, "split", "(.*)\\.qkv\\.(weight|bias)$ | rows q k v => $1.%.$2", "split",
                   "(.*)\\.c_attn\\.weight$ | last query key value => $1.%.weight", "split",
                   "(.*)\\.fused\\.weight$ | rows many*2 one two in G => $1.%.weight", "set", "G=2", "split",
                   "(.*)\\.gates\\.weight$ | 1 inner out*N => $1.%.weight", "set", "N=3", "module",
                   "^[acd]\\.[a-z]+$ => Linear", "module", "^b\\. => Param");
    rec_record_free(r);
}

static void a_part_that_is_missing_is_named(void **state)
{
    rec_record *r = new_record();
    rec_recorder *back = open_with("NamedMpk", "reverse", "yes", "adapter", "none", "split",
                                   "^qkv\\.(weight|bias)$ | rows q k v => %.$1", "drop", "^[qkv]\\.", NULL);
    rec_plan *plan;
    (void)state;
    put(r, "q.weight", 1, 2, 2, 2);
    put(r, "v.weight", 1, 2, 2, 2);
    plan = plan_of(back, r);
    expect_problem(plan, REC_PROBLEM_MISSING, 1,
                   "qkv.weight cannot be joined by rule 1: the part k is missing (and 1 more key)",
                   "All parts must be in the record.");
    rec_plan_free(plan);
    put(r, "k.weight", 1, 2, 2, 3);
    plan = plan_of(back, r);
    expect_problem(plan, REC_PROBLEM_MISSING, 1,
                   "qkv.weight cannot be joined by rule 1: its parts do not fit each other (and 2 more keys)",
                   "All parts must be in the record.");
    rec_plan_free(plan);
    rec_close_recorder(back);
    rec_record_free(r);
}

static void parts_are_compared_with_the_first(void **state)
{
    rec_record *r = new_record();
    rec_recorder *back =
        open_with("NamedMpk", "reverse", "yes", "adapter", "none", "split", "^w$ | 1 a b => %", "drop", "^[ab]$", NULL);
    rec_plan *plan;
    (void)state;
    put(r, "a", 1, 2, 2, 2);
    put(r, "b", 1, 1, 2, 0); /* which has no axis 1 */
    plan = plan_of(back, r);
    expect_problem(plan, REC_PROBLEM_MISSING, 1,
                   "w cannot be joined by rule 1: its parts do not fit each other (and 1 more key)",
                   "All parts must be in the record.");
    rec_plan_free(plan);
    rec_close_recorder(back);
    rec_record_free(r);
}

static void parts_of_other_sizes_stay_apart_where_a_rule_renames_them(void **state)
{
    rec_record *r = new_record();
    (void)state;
    put(r, "a.in_proj_weight", 1, 2, 6, 2);
    put(r, "b.q_proj_weight", 2, 2, 2, 2);
    put(r, "b.k_proj_weight", 3, 2, 2, 3);
    put(r, "b.v_proj_weight", 4, 2, 2, 4);
    THERE_AND_BACK(r, NULL, "split", "(.*)\\.in_proj_weight$ | rows q k v => $1.%.weight", "rename",
                   "\\.([qkv])_proj_weight$ => .$1.weight", "export", "in_proj", "module", "[qkv]$ => Linear");
    rec_record_free(r);
}

static void rotary_rows_go_back(void **state)
{
    rec_record *r = new_record();
    (void)state;
    put(r, "q.weight", 1, 2, 8, 3);
    put(r, "q.bias", 1, 1, 8, 0);
    put(r, "k.weight", 1, 2, 8, 3);
    THERE_AND_BACK(r, NULL, "rope", "^q\\.(weight|bias)$ | H", "rope", "^k\\. | H 2", "set", "H=2", "module",
                   "^[qk]$ => Linear");
    rec_record_free(r);
}

static void squeezed_axes_come_back_where_the_rule_names_them(void **state)
{
    static const uint64_t shape[] = {1, 3, 1};
    static const float data[] = {1, 2, 3};
    rec_record *r = new_record();
    rec_recorder *back = open_with("NamedMpk", "reverse", "yes", "squeeze", "scale$", "adapter", "none", NULL);
    rec_plan *plan;
    (void)state;
    ok(rec_set_f32(r, "a.scale", data, 3, shape));
    THERE_AND_BACK(r, NULL, "squeeze", "scale$ | 0 2");
    plan = plan_of(back, r);
    expect_problem(plan, REC_PROBLEM_NO_INVERSE, 1,
                   "a.scale: rule 1 (squeeze = scale$) has no inverse: which axes of length 1 there were is not in it",
                   "Name the axes: squeeze = PATTERN | 1 2.");
    rec_plan_free(plan);
    rec_close_recorder(back);
    rec_record_free(r);
}

static void test_permutations_are_undone(void **state)
{
    static const uint64_t shape[] = {2, 1, 3, 4};
    rec_record *r = new_record();
    float data[24];
    (void)state;
    for (int i = 0; i < 24; i++) {
        data[i] = (float)i;
    }
    ok(rec_set_f32(r, "conv.kernel", data, 4, shape));
    put(r, "dense.kernel", 1, 2, 4, 3);
    THERE_AND_BACK(r, NULL, "permute", "conv\\.kernel$ | 3 2 0 1", "transpose", "dense\\.kernel$", "adapter", "none");
    rec_record_free(r);
}

static void test_shapes_are_restored_where_the_rule_has_both(void **state)
{
    static const uint64_t wide[] = {3, 2, 4}, bias[] = {2, 4};
    rec_record *r = new_record();
    float data[24];
    (void)state;
    for (int i = 0; i < 24; i++) {
        data[i] = (float)i;
    }
    ok(rec_set_f32(r, "query.kernel", data, 3, wide));
    ok(rec_set_f32(r, "query.bias", data, 2, bias));
    THERE_AND_BACK(r, NULL, "reshape", "kernel$ | [n, H, -1] to [n, -1]", "reshape", "bias$ | [H, -1] to [-1]",
                   "adapter", "none", "set", "H=2");
    THERE_AND_BACK(r, NULL, "reshape", "kernel$ | [n, H, d] to [n, H*d]", "reshape", "bias$ | [H, d] to [H*d]",
                   "adapter", "none", "set", "H=2", "set", "d=4");
    rec_record_free(r);
}

static void test_shapes_that_do_not_fit_both_ways_are_problems(void **state)
{
    rec_record *r = new_record();
    rec_recorder *on = open_with("NamedMpk", "adapter", "none", "reshape", "a$ | [n, 4] to [n, 2, 2]", NULL);
    rec_recorder *set = open_with("NamedMpk", "adapter", "none", "reshape", "a$ | [H, d] to [-1]", "set", "H=3", NULL);
    rec_plan *plan;
    (void)state;
    put(r, "a", 1, 2, 2, 3);
    plan = plan_of(on, r);
    expect_problem(plan, REC_PROBLEM_SHAPE, 1,
                   "a: rule 1 (a$ | [n, 4] to [n, 2, 2]): the shape [2, 3] is not the one that the rule expects", "");
    rec_plan_free(plan);
    plan = plan_of(set, r);
    expect_problem(plan, REC_PROBLEM_SHAPE, 1, "a: rule 1 (a$ | [H, d] to [-1]): axis 0 has length 2, and H=3", "");
    rec_plan_free(plan);
    rec_close_recorder(on);
    rec_close_recorder(set);
    rec_record_free(r);
}

static void stacks_are_taken_apart(void **state)
{
    rec_record *r = new_record();
    (void)state;
    for (int i = 0; i < 12; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "l.0.experts.%d.w1.weight", i);
        put(r, path, (float)(10 * i), 2, 2, 3);
        (void)snprintf(path, sizeof path, "l.0.experts.%d.w2.weight", i);
        put(r, path, (float)(20 * i), 2, 3, 2);
    }
    THERE_AND_BACK(r, NULL, "stack", "(.*)\\.experts\\.([0-9]+)\\.(w[12])\\.weight$ => $1.experts.$3", "module",
                   "experts\\.[0-9]+\\.w[12]$ => Linear");
    rec_record_free(r);
}

static void joins_are_taken_apart_by_their_shares(void **state)
{
    rec_record *r = new_record();
    rec_recorder *back = open_with("NamedMpk", "reverse", "yes", "adapter", "none", "join",
                                   "^(.*)\\.(%)\\.weight$ | last q k v => $1.qkv", NULL);
    rec_plan *plan;
    (void)state;
    put(r, "a.q.weight", 1, 2, 4, 3);
    put(r, "a.k.weight", 50, 2, 2, 3);
    put(r, "a.v.weight", 90, 2, 2, 3);
    THERE_AND_BACK(r, NULL, "join", "^(.*)\\.(%)\\.weight$ | last q*2 k v*1 => $1.qkv", "module", "[qkv]$ => Linear");
    rec_record_free(r);
    r = new_record();
    put(r, "a.qkv", 1, 2, 3, 6);
    plan = plan_of(back, r);
    expect_problem(plan, REC_PROBLEM_NO_INVERSE, 1,
                   "a.qkv: rule 1 (join = ^(.*)\\.(%)\\.weight$ | last q k v => $1.qkv) has no inverse: the rule does "
                   "not have the length of each part along the axis",
                   "Give the parts their shares: gate*1 up*1, q*H k*K v*K.");
    rec_plan_free(plan);
    rec_close_recorder(back);
    rec_record_free(r);
}

static void rules_without_an_inverse_are_named(void **state)
{
    static const struct {
        const char *kind, *rule, *text, *hint;
    } list[] = {
        {"reshape", "gamma$ | [-1]",
         "n.gamma: rule 1 (reshape = gamma$ | [-1]) has no inverse: the shape before is not in it",
         "Give both shapes: reshape = PATTERN | [n, H, -1] to [n, -1]."},
        {"rename", "x[0-9]+\\.n => n",
         "n.gamma: rule 1 (rename = x[0-9]+\\.n => n) has no inverse: what [0-9]+ matched is not in the replacement, "
         "and may be "
         "of any length (and 1 more key)",
         ""},
        {"gaps", "close", "l.0.x: gaps = close has no inverse: the original numbers are not in the record",
         "Give gaps = keep, and back rules that put the numbers back, the highest first."},
        {"drop", "gamma", "n.gamma: the rules make it of no key that they do not drop",
         "A back rule gives it a name that they make, or is it another profile's record?"},
        {"rename", "^n\\.gamma$ => m.gamma", "n.gamma: the rules make it of no key",
         "A back rule gives it a name that they make, or is it another profile's record?"},
    };
    rec_record *r = new_record();
    (void)state;
    put(r, "n.gamma", 1, 1, 3, 0);
    put(r, "n.weight", 1, 2, 3, 3);
    put(r, "l.0.x", 1, 1, 3, 0);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        rec_recorder *back =
            open_with("NamedMpk", "reverse", "yes", "adapter", "none", list[i].kind, list[i].rule, NULL);
        rec_plan *plan = plan_of(back, r);
        expect_problem(plan, REC_PROBLEM_NO_INVERSE, 1, list[i].text, list[i].hint);
        assert_null(rec_plan_load(plan));
        rec_plan_free(plan);
        rec_close_recorder(back);
    }
    rec_record_free(r);
}

static void what_is_undone_to_a_rounding_is_told_and_refused_under_strict(void **state)
{
    static const struct {
        const char *kind, *rule, *text;
    } list[] = {
        {"add", "gamma$ | 1",
         "n.gamma: rule 1 (add = gamma$ | 1) is undone in function, not to the last bit: the sum was rounded, so the "
         "number cannot be removed exactly"},
        {"weight_norm", "^n$",
         "n.weight: rule 1 (weight_norm = ^n$) is undone in function, not to the last bit: the weight becomes the "
         "direction, with the lengths of its rows"},
    };
    rec_record *r = new_record();
    (void)state;
    ok(rec_set_f32(r, "n.gamma", (const float[]){1, 2, 3}, 1, (const uint64_t[]){3}));
    ok(rec_set_f32(r, "n.weight", (const float[]){3, 4, 0, 0, 6, 8}, 2, (const uint64_t[]){3, 2}));
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        rec_recorder *back =
            open_with("NamedMpk", "reverse", "yes", "adapter", "none", list[i].kind, list[i].rule, NULL);
        rec_plan *plan = plan_of(back, r);
        rec_record *torch;
        expect_problem(plan, REC_PROBLEM_NO_INVERSE, 0, list[i].text, "");
        torch = load(plan);
        if (i == 0) {
            assert_memory_equal(rec_tensor_f32(rec_tensor_at(torch, "n.gamma")), ((const float[]){0, 1, 2}), 12);
        } else {
            const rec_tensor *lengths = rec_tensor_at(torch, "n.weight_g");
            assert_int_equal(rec_tensor_rank(lengths), 2);
            assert_int_equal(rec_tensor_shape(lengths)[0], 3);
            assert_int_equal(rec_tensor_shape(lengths)[1], 1);
            assert_memory_equal(rec_tensor_f32(lengths), ((const float[]){5, 0, 10}), 12);
            assert_memory_equal(rec_tensor_f32(rec_tensor_at(torch, "n.weight_v")), ((const float[]){3, 4, 0, 0, 6, 8}),
                                24);
            assert_null(rec_tensor_at(torch, "n.weight"));
        }
        rec_record_free(torch);
        rec_plan_free(plan);
        ok(rec_recorder_set(back, "strict", "yes"));
        plan = plan_of(back, r);
        expect_problem(plan, REC_PROBLEM_NO_INVERSE, 1, list[i].text, "Without strict it is done, with a note.");
        rec_plan_free(plan);
        rec_close_recorder(back);
    }
    rec_record_free(r);
}

static void a_missing_number_is_named(void **state)
{
    rec_record *r = new_record();
    rec_recorder *back = open_with("NamedMpk", "reverse", "yes", "adapter", "none", "rope", "q | heads", NULL);
    rec_plan *plan = rec_plan_new(NULL, NULL);
    (void)state;
    put(r, "q", 1, 1, 8, 0);
    ok(rec_plan_add_record(plan, back, r, "model"));
    assert_int_equal(rec_plan_make(plan), REC_E_NOT_FOUND);
    assert_non_null(strstr(rec_error_message(), "heads"));
    rec_plan_free(plan);
    rec_close_recorder(back);
    rec_record_free(r);
}

static void a_tied_tensor_is_left_out_only_if_it_is_the_same(void **state)
{
    for (int same = 0; same < 2; same++) {
        rec_record *r = new_record();
        rec_recorder *back = open_with("NamedMpk", "reverse", "yes", "tie", "head.weight = emb.weight", "module",
                                       "^head$ => Linear", "module", "^emb$ => Embedding", NULL);
        rec_plan *plan;
        (void)state;
        put(r, "emb.weight", 1, 2, 2, 2); /* 1 2, 3 4 */
        put(r, "head.weight", 1, 2, 2, 2);
        if (same) {
            ok(rec_set_f32(r, "head.weight", (const float[]){1, 3, 2, 4}, 2, (const uint64_t[]){2, 2}));
        }
        plan = plan_of(back, r);
        expect_no_problem(plan);
        assert_string_equal(goes_to(plan, "head.weight"), same ? "" : "head.weight");
        assert_string_equal(goes_to(plan, "emb.weight"), "emb.weight");
        int dropped = 0;
        for (uint64_t i = 0; i < rec_plan_count(plan); i++) {
            const rec_plan_line *line = rec_plan_get(plan, i);
            if (line->action == REC_PLAN_DROPPED) {
                assert_string_equal(line->why, "tied to emb.weight, rule 3");
                assert_int_equal(line->input_count, 1);
                assert_string_equal(line->inputs[0], "head.weight");
                dropped++;
            }
        }
        assert_int_equal(dropped, same);
        rec_plan_free(plan);
        rec_close_recorder(back);
        rec_record_free(r);
    }
}

static void prefix_select_and_back_rules_are_undone(void **state)
{
    rec_record *r = new_record();
    rec_recorder *back =
        open_with("NamedMpk", "reverse", "yes", "adapter", "none", "prefix", "net", "select", "state.model", "rename",
                  "^b\\. => basic.", "back", "\\.(Basic|Bottleneck)\\. => .", NULL);
    rec_plan *plan;
    (void)state;
    put(r, "net.basic.Basic.w", 1, 1, 2, 0);
    put(r, "other", 1, 1, 2, 0);
    plan = plan_of(back, r);
    expect_no_problem(plan);
    assert_string_equal(goes_to(plan, "net.basic.Basic.w"), "state.model.b.w");
    assert_string_equal(goes_to(plan, "other"), "");
    assert_string_equal(line_to(plan, "state.model.b.w")->why, "rule 1");
    rec_plan_free(plan);
    rec_close_recorder(back);
    rec_record_free(r);
}

static void what_is_no_tensor_has_no_place_in_the_file(void **state)
{
    rec_record *r = new_record();
    rec_recorder *back = open_with("NamedMpk", "reverse", "yes", "adapter", "none", NULL);
    rec_plan_totals totals = {.size = sizeof totals};
    rec_plan *plan;
    (void)state;
    put(r, "w", 1, 1, 2, 0);
    ok(rec_set_float(r, "epsilon", 1e-5));
    ok(rec_set_nil(r, "constant"));
    plan = plan_of(back, r);
    expect_no_problem(plan);
    ok(rec_plan_total(plan, &totals));
    assert_int_equal(totals.mapped, 1);
    assert_int_equal(totals.dropped, 1); /* of the constant not a word */
    rec_plan_free(plan);
    rec_close_recorder(back);
    rec_record_free(r);
}

/* ---------------------------------------------------------------------------------------------------- choosing -- */

static void a_rule_without_a_trace_is_never_guessed(void **state)
{
    rec_record *r = new_record();
    rec_recorder *back =
        open_with("NamedMpk", "reverse", "yes", "adapter", "none", "rename", "^(?:bert|roberta)\\. =>", NULL);
    rec_plan *plan;
    (void)state;
    put(r, "pooler.w", 1, 1, 2, 0);
    plan = plan_of(back, r);
    expect_problem(
        plan, REC_PROBLEM_AMBIGUOUS, 1,
        "pooler.w may come from bert.pooler.w, roberta.pooler.w or pooler.w: rule 1 (rename = ^(?:bert|roberta)\\. =>) "
        "makes one key of them",
        "Add an export rule for the file's keys: export = PATTERN.");
    rec_plan_free(plan);
    ok(rec_recorder_set(back, "export", "^nothing"));
    ok(rec_recorder_set(back, "export", "^roberta\\."));
    ok(rec_recorder_set(back, "export", "^bert\\."));
    plan = plan_of(back, r);
    expect_problem(plan, REC_PROBLEM_DEAD_RULE, 0, "rule 2 (`^nothing`) matched nothing",
                   "Rules act in order, each on the result of the one before.");
    assert_int_equal(rec_plan_problem_count(plan), 1);
    assert_string_equal(goes_to(plan, "pooler.w"), "roberta.pooler.w"); /* the first that matches */
    rec_plan_free(plan);
    rec_close_recorder(back);
    rec_record_free(r);
}

static bool has_problem(rec_plan *plan, int32_t kind)
{
    for (uint64_t i = 0; i < rec_plan_problem_count(plan); i++) {
        if (rec_plan_problem_get(plan, i)->kind == kind) {
            return true;
        }
    }
    return false;
}

/* What is carried over is a trace where it is spelled out in every match. */
static void what_may_be_nothing_is_no_trace(void **state)
{
    static const struct {
        const char *rule, *from; /* `from`: NULL: it cannot be told */
    } list[] = {
        {"^h\\.((?:xy)+) => $1", "h.xy.w"},     {"^h\\.((?:xy)*) => $1", NULL},    {"^h\\.((?:xy)?) => $1", NULL},
        {"^h\\.((?:xy){1,2}) => $1", "h.xy.w"}, {"^h\\.(xy|xz) => $1", "h.xy.w"},  {"^h\\.(xy|[a-z]+) => $1", NULL},
        {"^h\\.([a-z]y) => $1", "h.xy.w"},      {"^h\\.([a-z][a-z]) => $1", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        rec_record *r = new_record();
        rec_recorder *back = open_with("NamedMpk", "reverse", "yes", "adapter", "none", "rename", list[i].rule, NULL);
        rec_plan *plan;
        put(r, "xy.w", 1, 1, 2, 0);
        plan = plan_of(back, r);
        assert_string_equal(goes_to(plan, "xy.w"), list[i].from ? list[i].from : "");
        assert_int_equal(has_problem(plan, REC_PROBLEM_AMBIGUOUS), !list[i].from);
        rec_plan_free(plan);
        rec_close_recorder(back);
        rec_record_free(r);
    }
}

static void a_trace_shows_which_rule_acted(void **state)
{
    rec_record *r = new_record();
    rec_recorder *back =
        open_with("NamedMpk", "reverse", "yes", "adapter", "none", "rename", "encoder_attn\\. => cross_attn.", "rename",
                  "self_attn\\. => attn.", "rename", "attn\\.q_proj => attn.query", NULL);
    rec_plan *plan;
    (void)state;
    put(r, "cross_attn.query.w", 1, 1, 2, 0);
    put(r, "attn.query.w", 1, 1, 2, 0);
    plan = plan_of(back, r);
    expect_no_problem(plan);
    assert_string_equal(goes_to(plan, "cross_attn.query.w"), "encoder_attn.q_proj.w");
    assert_string_equal(goes_to(plan, "attn.query.w"), "self_attn.q_proj.w");
    assert_string_equal(line_to(plan, "encoder_attn.q_proj.w")->why, "rules 1, 3");
    rec_plan_free(plan);
    rec_close_recorder(back);
    rec_record_free(r);
}

static void two_rules_that_may_have_acted_are_ambiguous(void **state)
{
    rec_record *r = new_record();
    rec_recorder *back = open_with("NamedMpk", "reverse", "yes", "adapter", "none", "rename", "^a\\. => x.", "rename",
                                   "^b\\. => x.", NULL);
    rec_plan *plan;
    (void)state;
    put(r, "x.w", 1, 1, 2, 0);
    put(r, "x.v", 1, 1, 2, 0);
    plan = plan_of(back, r);
    expect_problem(plan, REC_PROBLEM_AMBIGUOUS, 1,
                   "x.w may come from b.w or a.w: rule 1 (rename = ^a\\. => x.) makes one key of them (and 1 more key)",
                   "Add an export rule for the file's keys: export = PATTERN.");
    rec_plan_free(plan);
    rec_close_recorder(back);
    rec_record_free(r);
}

static void nothing_tells_a_linear_from_an_embedding_without_rules_or_type(void **state)
{
    rec_record *r = new_record();
    rec_recorder *back = open_with("NamedMpk", "reverse", "yes", NULL);
    rec_plan *plan;
    (void)state;
    put(r, "a.weight", 1, 2, 2, 2);
    put(r, "n.gamma", 1, 1, 2, 0);
    put(r, "n.beta", 1, 1, 2, 0);
    plan = plan_of(back, r);
    expect_problem(plan, REC_PROBLEM_AMBIGUOUS, 1,
                   "a.weight: nothing says whether it is a Linear's, which is transposed, or an Embedding's",
                   "Give the record's type, module rules (module = PATTERN => Linear) or --adapter none.");
    assert_string_equal(goes_to(plan, "n.gamma"), "n.weight");
    assert_string_equal(goes_to(plan, "n.beta"), "n.bias");
    rec_plan_free(plan);
    rec_close_recorder(back);
    rec_record_free(r);
}

static void a_rule_that_tells_numbers_apart_is_heeded(void **state)
{
    rec_record *r = new_record();
    (void)state;
    for (int i = 0; i < 24; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, i == 3 ? "stem.x%d.w" : i == 12 ? "tail.x%d.w" : "body.x%d.w", i);
        put(r, path, (float)i, 1, 2, 0);
    }
    THERE_AND_BACK(r, NULL, "rename", "^stem\\.x3\\. => layers.3.", "rename", "^tail\\.x12\\. => layers.12.", "rename",
                   "^body\\.x([0-24-9]|1[013-9]|2[0-9])\\. => layers.$1.");
    THERE_AND_BACK(r, NULL, "rename", "^stem\\.x3\\. => layers.3.", "rename", "^tail\\.x12\\. => layers.12.", "rename",
                   "^body\\.x([0-9]+)\\. => layers.$1.", "export", "^stem\\.x3\\.", "export", "^tail\\.x12\\.",
                   "export", "^body");
    rec_record_free(r);
}

/* ------------------------------------------------------------------------------------------------------- types -- */

static const char source_of_types[] =
    "#[derive(Module, Debug)] pub struct Net<B: Backend> { norm: LayerNorm<B>, blocks: Vec<Block<B>>, head: Linear<B> "
    "}\n"
    "#[derive(Module, Debug)] pub enum Block<B: Backend> { Basic(Basic<B>), Other(Other<B>) }\n"
    "#[derive(Module, Debug)] pub struct Basic<B: Backend> { fc: Linear<B> }\n"
    "#[derive(Module, Debug)] pub struct Other<B: Backend> { fc: Linear<B>, norm: LayerNorm<B> }\n";

static void a_type_tells_modules_and_variants(void **state)
{
    rec_types *types = rec_types_new(NULL);
    rec_record *r = new_record(), *burn, *torch;
    rec_recorder *there = open_with("NamedMpk", "adapter", "pytorch", "rename", "^layer([0-9]+)\\. => blocks.$1.",
                                    "variant", "^blocks\\.1$ => Other", NULL);
    rec_recorder *back = open_with("NamedMpk", "reverse", "yes", "rename", "^layer([0-9]+)\\. => blocks.$1.", NULL);
    rec_plan *first, *second;
    (void)state;
    ok(rec_types_add_rust(types, source_of_types, "net.rs"));
    ok(rec_recorder_set_type_name(there, types, "Net"));
    ok(rec_recorder_set_type_name(back, types, "Net"));
    put(r, "norm.weight", 1, 1, 3, 0);
    put(r, "norm.bias", 2, 1, 3, 0);
    put(r, "layer0.fc.weight", 3, 2, 2, 3);
    put(r, "layer1.fc.weight", 4, 2, 2, 3);
    put(r, "layer1.norm.weight", 5, 1, 2, 0);
    put(r, "layer1.norm.bias", 6, 1, 2, 0);
    put(r, "head.weight", 7, 2, 2, 3);
    put(r, "head.bias", 8, 1, 2, 0);
    first = plan_of(there, r);
    burn = load(first);
    assert_non_null(rec_tensor_at(burn, "blocks.0.Basic.fc.weight"));
    second = plan_of(back, burn);
    expect_no_problem(second);
    torch = load(second);
    assert_int_equal(compare(r, torch, NULL), 8);
    assert_int_equal(compare(torch, r, NULL), 8);
    rec_record_free(torch);
    rec_record_free(burn);
    rec_plan_free(second);
    rec_plan_free(first);
    rec_close_recorder(there);
    rec_close_recorder(back);
    rec_record_free(r);
    rec_types_free(types);
}

/* ------------------------------------------------------------------------------------------------- real models -- */

/** What goes where, the same for both plans. */
static void same_lines(rec_plan *a, rec_plan *b)
{
    assert_int_equal(rec_plan_count(a), rec_plan_count(b));
    for (uint64_t i = 0; i < rec_plan_count(a); i++) {
        const rec_plan_line *x = rec_plan_get(a, i), *y = rec_plan_get(b, i);
        assert_int_equal(x->action, y->action);
        assert_string_equal(x->from, y->from);
        assert_string_equal(x->to, y->to);
        assert_string_equal(x->operations, y->operations);
    }
}

typedef struct family {
    const char *profile, *model, *config, *except;
} family;

static const family families[] = {
    {"llama", "llama/model.safetensors.index.json", "llama/config.json", NULL},
    {"llama-norope", "llama/model.safetensors.index.json", "llama/config.json", NULL},
    {"llama", "llama/tied/model.safetensors", "llama/tied/config.json", NULL},
    {"gpt2", "gpt2/model.safetensors", NULL, NULL},
    {"gpt2-split", "gpt2/model.safetensors", NULL, NULL},
    {"bert", "bert/model.safetensors", NULL, NULL},
    {"bert-mlm", "bert/mlm/model.safetensors", NULL, NULL},
    {"vit", "vit/model.safetensors", NULL, NULL},
    {"vit-torchvision", "vit/torchvision/vit-torchvision.safetensors", NULL, NULL},
    {"resnet", "resnet/resnet.safetensors", NULL, ".num_batches_tracked"},
    {"whisper", "whisper/model.safetensors", NULL, NULL},
    {"lstm", "lstm/lstm.safetensors", NULL, NULL},
    {"gru", "gru/gru.safetensors", NULL, NULL},
    {"mha", "mha/mha.safetensors", NULL, NULL},
};

static char *shared_file(const char *name)
{
    char below[256], path[512];
    (void)snprintf(below, sizeof below, "families/%s", name);
    return shared_path(path, sizeof path, below) ? strdup(path) : NULL;
}

/** transformers loads a file only if its metadata say so; and nothing of Burn's is in it. */
static bool begins_as_pytorch_wants(const char *path)
{
    char head[4096] = "";
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(head, 1, sizeof head - 1, file) : 0;
    if (!file || size < 9 || fclose(file) != 0) {
        scratch_die(path);
    }
    return strstr(head + 8, "\"__metadata__\":{\"format\":\"pt\"}") != NULL;
}

/** A model of a family becomes a record of Burn, and that a file of PyTorch's again. */
static void family_there_and_back(const scratch *s, const family *f, const char *model)
{
    char *burn_path = scratch_path(s, "burn.mpk"), *torch_path = scratch_path(s, "torch.safetensors");
    char *config = f->config ? shared_file(f->config) : NULL;
    rec_recorder *there = open_with("safetensors", "profile", f->profile, NULL), *mpk = open_with("NamedMpk", NULL);
    rec_recorder *back = open_with("NamedMpk", "profile", f->profile, "reverse", "yes", NULL);
    rec_recorder *slowly = open_with("NamedMpk", "profile", f->profile, "reverse", "yes", "drop", "\\.[0-4]zzz", NULL);
    rec_recorder *raw = open_with("safetensors", "adapter", "none", "gaps", "keep", NULL);
    rec_record *record, *again;
    rec_plan *plan, *slow_plan;
    if (strcmp(f->profile, "mha") == 0) { /* no tensor shows the order of its norms */
        ok(rec_recorder_set(there, "set", "norm_first=0"));
        ok(rec_recorder_set(there, "drop", "bias_[kv]$"));
        ok(rec_recorder_set(back, "set", "norm_first=0"));
        ok(rec_recorder_set(slowly, "set", "norm_first=0"));
    }
    if (config) {
        ok(rec_recorder_set(there, "config", config));
        ok(rec_recorder_set(back, "config", config));
        ok(rec_recorder_set(slowly, "config", config));
    }
    ok(rec_convert(there, model, mpk, burn_path, NULL));
    plan = rec_plan_new(NULL, raw);
    ok(rec_plan_add(plan, back, burn_path));
    ok(rec_convert(NULL, NULL, raw, torch_path, plan));
    /* Keys that differ in their numbers are worked out once; with a rule that looks at digits each is by itself. */
    slow_plan = rec_plan_new(NULL, raw);
    ok(rec_plan_add(slow_plan, slowly, burn_path));
    ok(rec_plan_make(slow_plan));
    same_lines(plan, slow_plan);
    record = rec_load(raw, model);
    again = rec_load(raw, torch_path);
    if (!record || !again) {
        fail_msg("%s", rec_error_message());
    }
    if (strcmp(f->profile, "mha") == 0) { /* Burn has no field for them */
        ok(rec_remove(record, "extra.bias_k"));
        ok(rec_remove(record, "extra.bias_v"));
    }
    assert_int_equal(compare(again, record, NULL), compare(record, again, f->except));
    assert_true(begins_as_pytorch_wants(torch_path));
    rec_record_free(record);
    rec_record_free(again);
    rec_plan_free(plan);
    rec_plan_free(slow_plan);
    rec_close_recorder(there);
    rec_close_recorder(back);
    rec_close_recorder(slowly);
    rec_close_recorder(raw);
    rec_close_recorder(mpk);
    free(config);
    free(burn_path);
    free(torch_path);
}

static void real_models_come_back_to_the_bit(void **state)
{
    scratch *s;
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        char *model = shared_file(families[i].model);
        if (!model) {
            skip();
        }
        s = scratch_new();
        family_there_and_back(s, &families[i], model);
        scratch_free(s);
        free(model);
    }
}

static void closed_gaps_have_no_inverse_unless_the_record_says_so(void **state)
{
    char *model = shared_file("sequential-gaps/sequential-gaps.safetensors");
    scratch *s;
    char *path, *again;
    rec_recorder *there, *mpk, *back;
    rec_record *record;
    (void)state;
    if (!model) {
        skip();
    }
    s = scratch_new();
    path = scratch_path(s, "burn.mpk");
    again = scratch_path(s, "again.safetensors");
    there = open_with("safetensors", "profile", "sequential-gaps", NULL);
    mpk = open_with("NamedMpk", NULL);
    back = open_with("NamedMpk", "profile", "sequential-gaps", "reverse", "yes", NULL);
    ok(rec_convert(there, model, mpk, path, NULL));
    ok(rec_convert(back, path, there, again, NULL)); /* the record says what was closed */
    record = rec_load(mpk, path);
    ok(rec_metadata_set(record, "librecord.import", NULL));
    ok(rec_save(mpk, record, path));
    rec_record_free(record);
    assert_int_equal(rec_convert(back, path, there, again, NULL), REC_E_UNSUPPORTED);
    assert_non_null(strstr(rec_error_message(), "gaps = close has no inverse"));
    rec_close_recorder(there);
    rec_close_recorder(back);
    rec_close_recorder(mpk);
    free(again);
    free(path);
    free(model);
    scratch_free(s);
}

/* --------------------------------------------------------------------------------------------------- no memory -- */

static uint64_t allowed, given;

static void *give(void *user, size_t size)
{
    (void)user;
    return ++given > allowed ? NULL : malloc(size);
}

static void *give_more(void *user, void *old, size_t size)
{
    (void)user;
    return ++given > allowed ? NULL : realloc(old, size);
}

static void take_back(void *user, void *memory)
{
    (void)user;
    free(memory);
}

static void each_allocation_may_fail(void **state)
{
    static const rec_allocator allocator = {
        .size = sizeof allocator, .alloc = give, .resize = give_more, .release = take_back};
    static const char *const rules[][2] = {
        {"reverse", "yes"},
        {"split", "(.*)\\.qkv\\.weight$ | rows q k v => $1.%.weight"},
        {"stack", "(.*)\\.e\\.([0-9]+)\\.weight$ => $1.e"},
        {"rename", "^h\\.([0-9]+)\\. => layers.$1."},
        {"rename", "^a\\. => x."},
        {"rename", "^b\\. => x."},
        {"tie", "head.weight = emb.weight"},
        {"module", "[qkv]$|head$ => Linear"},
        {"module", "emb$ => Embedding"},
    };
    rec_context *context;
    rec_record *record;
    uint64_t most = 0;
    bool failed = true;
    (void)state;
    allowed = UINT64_MAX;
    context = rec_context_new(&allocator);
    record = rec_record_new(context);
    put(record, "layers.0.q.weight", 1, 2, 2, 2);
    put(record, "layers.0.k.weight", 1, 2, 2, 2);
    put(record, "layers.0.v.weight", 1, 2, 2, 2);
    put(record, "layers.1.e", 1, 2, 2, 2);
    put(record, "x.w", 1, 1, 2, 0);
    put(record, "emb.weight", 1, 2, 1, 1);
    put(record, "head.weight", 1, 2, 1, 1);
    for (uint64_t room = 0; failed; room++) {
        rec_recorder *r;
        rec_plan *plan;
        bool planned = false;
        allowed = UINT64_MAX;
        r = rec_open_recorder_in(context, "NamedMpk", REC_PRECISION_KEEP);
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
            ok(rec_recorder_set(r, rules[i][0], rules[i][1]));
        }
        given = 0;
        allowed = room;
        plan = rec_plan_new(context, NULL);
        if (plan && rec_plan_add_record(plan, r, record, "model") == REC_OK && rec_plan_make(plan) == REC_OK) {
            planned = true;
        } else {
            assert_int_equal(rec_error_status(), REC_E_MEMORY);
        }
        allowed = UINT64_MAX;
        failed = !planned;
        most = given;
        if (planned) {
            assert_string_equal(goes_to(plan, "layers.0.k.weight"), "h.0.qkv.weight");
            assert_string_equal(goes_to(plan, "head.weight"), "");
            assert_int_equal(rec_plan_problem_count(plan), 1);
        }
        rec_plan_free(plan);
        rec_close_recorder(r);
    }
    assert_true(most > 50);
    rec_record_free(record);
    rec_context_free(context);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(renames_and_modules_are_undone),
        cmocka_unit_test(a_norm_whose_rename_made_gamma_is_not_renamed_twice),
        cmocka_unit_test(splits_are_joined),
        cmocka_unit_test(a_part_that_is_missing_is_named),
        cmocka_unit_test(parts_are_compared_with_the_first),
        cmocka_unit_test(parts_of_other_sizes_stay_apart_where_a_rule_renames_them),
        cmocka_unit_test(rotary_rows_go_back),
        cmocka_unit_test(squeezed_axes_come_back_where_the_rule_names_them),
        cmocka_unit_test(test_permutations_are_undone),
        cmocka_unit_test(test_shapes_are_restored_where_the_rule_has_both),
        cmocka_unit_test(test_shapes_that_do_not_fit_both_ways_are_problems),
        cmocka_unit_test(stacks_are_taken_apart),
        cmocka_unit_test(joins_are_taken_apart_by_their_shares),
        cmocka_unit_test(rules_without_an_inverse_are_named),
        cmocka_unit_test(what_is_undone_to_a_rounding_is_told_and_refused_under_strict),
        cmocka_unit_test(a_missing_number_is_named),
        cmocka_unit_test(a_tied_tensor_is_left_out_only_if_it_is_the_same),
        cmocka_unit_test(prefix_select_and_back_rules_are_undone),
        cmocka_unit_test(what_is_no_tensor_has_no_place_in_the_file),
        cmocka_unit_test(a_rule_without_a_trace_is_never_guessed),
        cmocka_unit_test(what_may_be_nothing_is_no_trace),
        cmocka_unit_test(a_trace_shows_which_rule_acted),
        cmocka_unit_test(two_rules_that_may_have_acted_are_ambiguous),
        cmocka_unit_test(nothing_tells_a_linear_from_an_embedding_without_rules_or_type),
        cmocka_unit_test(a_rule_that_tells_numbers_apart_is_heeded),
        cmocka_unit_test(a_type_tells_modules_and_variants),
        cmocka_unit_test(real_models_come_back_to_the_bit),
        cmocka_unit_test(closed_gaps_have_no_inverse_unless_the_record_says_so),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
