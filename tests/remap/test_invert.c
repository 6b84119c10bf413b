/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Rules backwards: all texts that a rule makes into a given one, and none that it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/config/config.h"
#include "remap/reverse/invert_private.h"

typedef struct fixture {
    rec_context *context;
    rec_job job;
    lr_matcher *matcher;
    lr_location place;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->context = rec_context_new(NULL);
    assert_non_null(f->context);
    lr_job_begin(&f->job, f->context, "test", NULL);
    f->matcher = lr_matcher_new(&f->job);
    assert_non_null(f->matcher);
    f->place = (lr_location){.what = "rule 1"};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    lr_matcher_free(f->matcher);
    lr_job_drop(&f->job);
    rec_context_free(f->context);
    free(f);
    return 0;
}

/** A rule with its inverse. */
typedef struct rule {
    lr_regex *regex;
    lr_template *replacement;
    lr_back *back;
} rule;

static rule rule_new(fixture *f, const char *pattern, const char *replacement, uint32_t fixed, int32_t makes)
{
    rule r = {.regex = lr_regex_new(&f->job, pattern, &f->place)};
    r.replacement = r.regex ? lr_template_new(&f->job, replacement, r.regex, true, &f->place) : NULL;
    r.back = r.replacement ? lr_back_new(&f->job, r.regex, r.replacement, fixed, makes) : NULL;
    if (!r.back) {
        (void)lr_job_end(&f->job);
        fail_msg("%s => %s: %s", pattern, replacement, rec_error_message());
    }
    return r;
}

static void rule_free(rule *r)
{
    lr_back_free(r->back);
    lr_template_free(r->replacement);
    lr_regex_free(r->regex);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All answers, sorted, with a blank between them. To be freed. */
static char *answers(const lr_origins *o)
{
    const char **list = calloc((size_t)(o->count + 1), sizeof *list);
    size_t size = 1;
    char *text;
    for (uint64_t i = 0; i < o->count; i++) {
        list[i] = o->text + o->list[i].at;
        assert_int_equal(strlen(list[i]), o->list[i].length);
        size += o->list[i].length + 1;
    }
    qsort(list, (size_t)o->count, sizeof *list, compare);
    text = calloc(size, 1);
    for (uint64_t i = 0; i < o->count; i++) {
        (void)strcat(strcat(text, i ? " " : ""), list[i]);
    }
    free(list);
    return text;
}

typedef struct expectation {
    const char *pattern, *replacement, *text, *expected;
} expectation;

static void check(fixture *f, const expectation *e, int32_t makes, const char *part, uint32_t fixed, const char *number)
{
    rule r = rule_new(f, e->pattern, e->replacement, fixed, makes);
    lr_origins o = {.allocator = f->job.allocator};
    char *found;
    assert_null(r.back->reason);
    assert_int_equal(lr_back_find(&f->job, r.back, f->matcher, e->text, strlen(e->text), part, number, &o), REC_OK);
    found = answers(&o);
    if (strcmp(found, e->expected) != 0 || o.overflow || o.lost) {
        fail_msg("%s => %s, from %s: expected \"%s\", found \"%s\"", e->pattern, e->replacement, e->text, e->expected,
                 found);
    }
    free(found);
    lr_origins_free(&o);
    rule_free(&r);
}

static void check_all(fixture *f, const expectation *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check(f, &list[i], LR_BACK_PLACES, NULL, 0, NULL);
    }
}
#define CHECK_ALL(list) check_all(*state, list, sizeof(list) / sizeof *(list))

static void renames_of_model_families_are_undone(void **state)
{
    static const expectation list[] = {
        {"lm_head\\.(.+)", "output.$1", "output.weight", "lm_head.weight"},
        {"(layers\\.[0-9]+)\\.self_attn\\.([kqvo])_proj\\.(.+)", "$1.attention.w$2.$3", "layers.12.attention.wq.weight",
         "layers.12.self_attn.q_proj.weight"},
        {"(layers\\.[0-9]+)\\.self_attn\\.([kqvo])_proj\\.(.+)", "$1.attention.w$2.$3", "layers.12.attention.wx.weight",
         ""},
        {"(.*)norm\\.weight", "${1}norm.gamma", "layers.0.attention_norm.gamma", "layers.0.attention_norm.weight"},
        {"(ln_1|ln_2|ln_f)\\.weight$", "${1}.gamma", "transformer.h.0.ln_1.gamma", "transformer.h.0.ln_1.weight"},
        {"(ln_1|ln_2|ln_f)\\.weight$", "${1}.gamma", "transformer.h.0.ln_3.gamma", ""},
        {"^h\\.([0-9]+)\\.", "encoder.layers.$1.", "encoder.layers.11.norm_1.gamma", "h.11.norm_1.gamma"},
        {"^h\\.([0-9]+)\\.", "encoder.layers.$1.", "x.encoder.layers.11.norm_1.gamma", ""},
        {"attn\\.c_proj", "mha.output", "h.0.mha.output.bias", "h.0.attn.c_proj.bias"},
        {"\\.fc([12])\\.", ".mlp.lin$1.", "encoder.blocks.0.mlp.lin2.bias", "encoder.blocks.0.fc2.bias"},
        {"(.+)\\.downsample\\.0\\.(.+)", "$1.downsample.conv.$2", "layer2.0.downsample.conv.weight",
         "layer2.0.downsample.0.weight"},
        {"(layer[1-4])\\.([0-9]+)\\.(.+)", "$1.blocks.$2.$3", "layer1.blocks.0.bn1.gamma", "layer1.0.bn1.gamma"},
        {"encoder\\.layers\\.encoder_layer_([0-9]+)\\.", "encoder.layers.$1.", "encoder.layers.3.norm_1.beta",
         "encoder.layers.encoder_layer_3.norm_1.beta"},
        {"(layers\\.[0-9]+)\\.block_sparse_moe\\.", "$1.feed_forward.", "layers.1.feed_forward.gate.weight",
         "layers.1.block_sparse_moe.gate.weight"},
        {"layer\\.ffn\\b", "layer.pwff.linear_inner", "encoder.layer.pwff.linear_inner.bias", "encoder.layer.ffn.bias"},
        {"backbone\\.C3_(.+)", "backbone.c3_$1", "backbone.c3_p4.conv1", "backbone.C3_p4.conv1"},
        {"(head\\.(cls|reg)_convs\\.[0-9]+)\\.([0-9]+)\\.(.+)", "$1.conv$3.$4", "head.cls_convs.1.conv0.conv.weight",
         "head.cls_convs.1.0.conv.weight"},
        {"^([^\\d\\D]|x)\\.w$", "$1.v", "x.v", "x.w"}, /* a class of no character */
        {"^rnn\\.(weight|bias)_ih_l0$", "rnn.gate.input_transform.$1", "rnn.gate.input_transform.bias",
         "rnn.bias_ih_l0"},
    };
    CHECK_ALL(list);
}

static void what_the_replacement_lacks_is_tried(void **state)
{
    static const expectation list[] = {
        {"^(?:bert|roberta)\\.(.+)", "$1", "pooler.bias", "bert.pooler.bias roberta.pooler.bias"},
        {"predictions\\.(decoder\\.)?bias", "mlm_decoder_bias", "mlm_decoder_bias",
         "predictions.bias predictions.decoder.bias"},
        {"^w[123]$", "w", "w", "w1 w2 w3"},
        {"a{1,3}b", "x", "x", "aaab aab ab"},
        {"^(?i)abc", "x", "x", "abc"},
        {"(a)|(b)", "<$1$2>", "<b>", "b"},
    };
    CHECK_ALL(list);
}

static void a_dot_outside_of_groups_stands_for_a_dot(void **state)
{
    static const expectation list[] = {
        {"features\\.(0|18)\\.0.(.+)", "features.$1.conv.$2", "features.18.conv.weight", "features.18.0.weight"},
        {"features\\.([2-9]|1[0-7])\\.conv.0.1.(.+)", "features.$1.pw.norm.$2", "features.17.pw.norm.bias",
         "features.17.conv.0.1.bias"},
        {"features\\.([2-9]|1[0-7])\\.conv.0.1.(.+)", "features.$1.pw.norm.$2", "features.18.pw.norm.bias", ""},
    };
    CHECK_ALL(list);
}

static void a_rule_without_a_trace_is_put_between_names_only(void **state)
{
    static const expectation list[] = {
        {"^model\\.", "", "norm.weight", "model.norm.weight"},
        {"model\\.(.+)", "$1", "a.b", "a.model.b model.a.b"},
        {"\\.module", "", "a.b", "a.b.module a.module.b"},
        {"^text_model\\.(embeddings\\.|encoder\\.)?", "", "x",
         "text_model.embeddings.x text_model.encoder.x text_model.x"},
        {"_orig$", "", "a.w", "a.w_orig"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        rule r = rule_new(*state, list[i].pattern, list[i].replacement, 0, LR_BACK_PLACES);
        assert_false(r.back->trace);
        rule_free(&r);
    }
    CHECK_ALL(list);
}

static void every_place_and_all_places_are_tried(void **state)
{
    static const expectation list[] = {
        {"a", "b", "x.b.b", "x.a.a x.a.b x.b.a"},
        {"l([0-9])", "layer$1", "layer1.layer2", "l1.l2 l1.layer2 layer1.l2"},
        {"^a", "b", "b.b", "a.b"},
        {"a$", "b", "b.b", "b.a"},
        {"(.+)\\.a", "$1.b", "x.b.b", "x.a.b x.b.a"},
    };
    CHECK_ALL(list);
}

static void an_answer_comes_out_as_the_text_when_it_is_tried_forwards(void **state)
{
    static const expectation list[] = {
        /* `a` would be replaced twice: aa never comes from a single one. */
        {"a+", "b", "bb", ""},
        {"x", "xx", "xx", "x"},
        {"x", "xx", "xxx", ""},
        /* The word has to end there. */
        {"ffn\\b", "f", "f_output", ""},
        {"(a*)b", "${1}c", "aac", "aab"},
        /* Greedy: the first group takes all it can. */
        {"(.*)\\.(.*)", "$2.$1", "c.a.b", "a.b.c"},
        {"(.*)\\.(.*)", "$2.$1", "a.b.c", "b.c.a"},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        rule r = rule_new(f, list[i].pattern, list[i].replacement, 0, LR_BACK_PLACES);
        lr_origins o = {.allocator = f->job.allocator};
        if (!r.back->reason) {
            check(f, &list[i], LR_BACK_PLACES, NULL, 0, NULL);
        } else { /* a+: of any length */
            assert_int_equal(
                lr_back_find(&f->job, r.back, f->matcher, list[i].text, strlen(list[i].text), NULL, NULL, &o), REC_OK);
            assert_true(o.lost);
            assert_int_equal(o.count, 0);
        }
        lr_origins_free(&o);
        rule_free(&r);
    }
}

static void a_group_that_stands_twice_is_one_text(void **state)
{
    static const expectation list[] = {
        {"^([a-z]+)\\.w$", "$1.$1", "ab.ab", "ab.w"},
        {"^([a-z]+)\\.w$", "$1.$1", "ab.ac", ""},
        {"^(?<name>[a-z]+)_([0-9])$", "${name}.$2.${name}", "q.1.q", "q_1"},
        {"^b$", "<$0>", "<b>", "b"},
    };
    CHECK_ALL(list);
}

static void parts_of_a_split_lead_to_the_whole(void **state)
{
    static const struct {
        expectation e;
        const char *part;
    } list[] = {
        {{"(.*)\\.attn\\.c_attn\\.(weight|bias)$", "$1.attn.%.$2", "h.0.attn.key.weight", "h.0.attn.c_attn.weight"},
         "key"},
        {{"(.*)\\.attn\\.c_attn\\.(weight|bias)$", "$1.attn.%.$2", "h.0.attn.key.weight", ""}, "query"},
        {{"(.*)\\.attn\\.c_attn\\.(weight|bias)$", "$1.attn.%.$2", "h.0.attn.key.scale", ""}, "key"},
        {{"^(.*)\\.(weight|bias)_ih_(l[0-9]+(?:_reverse)?)$", "$1.$3.%.input_transform.$2",
          "deep.l1_reverse.cell_gate.input_transform.bias", "deep.bias_ih_l1_reverse"},
         "cell_gate"},
        {{"(.*)\\.in_proj_(weight|bias)$", "$1.%.$2", "attn.value.bias", "attn.in_proj_bias"}, "value"},
        {{"^qkv$", "%", "q", "qkv"}, "q"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        check(*state, &list[i].e, LR_BACK_PARTS, list[i].part, 0, NULL);
    }
}

static void the_index_of_a_stack_is_given(void **state)
{
    static const expectation e = {"(.*)\\.experts\\.([0-9]+)\\.(w[123])\\.weight$", "$1.experts.$3",
                                  "layers.0.feed_forward.experts.w2", "layers.0.feed_forward.experts.11.w2.weight"};
    fixture *f = *state;
    rule r = rule_new(f, e.pattern, e.replacement, 2, LR_BACK_WHOLE);
    check(f, &e, LR_BACK_WHOLE, NULL, 2, "11");
    assert_true(lr_back_group_fits(r.back, 2, "0", 1));
    assert_false(lr_back_group_fits(r.back, 3, "0", 1));
    rule_free(&r);
}

static void what_cannot_be_told_has_a_reason(void **state)
{
    static const struct {
        const char *pattern, *replacement, *reason;
    } list[] = {
        {"layers\\.[0-9]+\\.x", "x", "what [0-9]+ matched is not in the replacement, and may be of any length"},
        {"^(.+)\\.x$", "x", "what .+ matched is not in the replacement, and may be of any length"},
        {"[a-z]\\.x", "x", "what [a-z] matched is not in the replacement, and may be one of many characters"},
        {"([0-9][0-9])([0-9][0-9])\\.x", "x", "what ([0-9][0-9])([0-9][0-9])\\.x matched may be too many things"},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        rule r = rule_new(f, list[i].pattern, list[i].replacement, 0, LR_BACK_PLACES);
        lr_origins o = {.allocator = f->job.allocator};
        assert_non_null(r.back->reason);
        assert_string_equal(r.back->reason, list[i].reason);
        assert_int_equal(lr_back_find(&f->job, r.back, f->matcher, "x", 1, NULL, NULL, &o), REC_OK);
        assert_true(o.lost);
        assert_int_equal(lr_back_find(&f->job, r.back, f->matcher, "y", 1, NULL, NULL, &o), REC_OK);
        assert_false(o.lost);
        lr_origins_free(&o);
        rule_free(&r);
    }
}

static void a_rule_leaves_what_it_does_not_match(void **state)
{
    fixture *f = *state;
    rule r = rule_new(f, "a([0-9])", "a$1", 0, LR_BACK_PLACES), s = rule_new(f, "a([0-9])", "b$1", 0, LR_BACK_PLACES);
    assert_int_equal(lr_back_leaves(&f->job, r.back, f->matcher, "x.a1", 4), 2); /* by itself */
    assert_int_equal(lr_back_leaves(&f->job, s.back, f->matcher, "x.a1", 4), 0);
    assert_int_equal(lr_back_leaves(&f->job, s.back, f->matcher, "x.ab", 4), 1);
    assert_int_equal(lr_back_leaves(&f->job, s.back, f->matcher, "x.b1", 4), 1);
    rule_free(&r);
    rule_free(&s);
}

static void matches_within_a_name_are_counted(void **state)
{
    fixture *f = *state;
    rule r = rule_new(f, "self_attn\\.", "attn.", 0, LR_BACK_PLACES);
    lr_origins o = {.allocator = f->job.allocator};
    assert_int_equal(lr_back_find(&f->job, r.back, f->matcher, "a.attn.q", 8, NULL, NULL, &o), REC_OK);
    assert_int_equal(o.count, 1);
    assert_int_equal(o.list[0].inside, 0);
    assert_int_equal(lr_back_find(&f->job, r.back, f->matcher, "a.cross_attn.q", 14, NULL, NULL, &o), REC_OK);
    assert_int_equal(o.count, 1);
    assert_string_equal(o.text + o.list[0].at, "a.cross_self_attn.q");
    assert_int_equal(o.list[0].inside, 1);
    lr_origins_free(&o);
    rule_free(&r);
}

static void long_and_hostile_texts_end(void **state)
{
    fixture *f = *state;
    rule r = rule_new(f, "(.*)(.*)(.*)(.*)x", "$1$2$3${4}y", 0, LR_BACK_PLACES);
    rule empty = rule_new(f, "(?:(?:){30}){30}a", "b", 0, LR_BACK_PLACES);
    lr_origins o = {.allocator = f->job.allocator};
    char text[LR_BACK_TEXT_MOST + 8];
    memset(text, 'y', sizeof text);
    assert_int_equal(lr_back_find(&f->job, r.back, f->matcher, text, 60, NULL, NULL, &o), REC_OK);
    assert_true(o.overflow);
    assert_int_equal(lr_back_find(&f->job, r.back, f->matcher, text, sizeof text, NULL, NULL, &o), REC_OK);
    assert_true(o.overflow);
    assert_int_equal(o.count, 0);
    assert_int_equal(lr_back_find(&f->job, empty.back, f->matcher, "b", 1, NULL, NULL, &o), REC_OK);
    assert_int_equal(o.count, 1);
    lr_origins_free(&o);
    rule_free(&r);
    rule_free(&empty);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(renames_of_model_families_are_undone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_the_replacement_lacks_is_tried, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_dot_outside_of_groups_stands_for_a_dot, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_rule_without_a_trace_is_put_between_names_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_place_and_all_places_are_tried, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_answer_comes_out_as_the_text_when_it_is_tried_forwards, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_group_that_stands_twice_is_one_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_of_a_split_lead_to_the_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_index_of_a_stack_is_given, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_told_has_a_reason, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_rule_leaves_what_it_does_not_match, set_up, tear_down),
        cmocka_unit_test_setup_teardown(matches_within_a_name_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_and_hostile_texts_end, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
