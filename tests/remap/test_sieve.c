/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Many rules at once: what one pass over a key lets through must be all that can match it, whatever the patterns are;
 * and plans of random rules and keys must be what the rules make one after the other. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/record/record.h"
#include "remap/regex/regex.h"
#include "tests/remap/plans.h"

static const lr_location place = {.what = "rule 1"};
static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

static size_t below(size_t most)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state >> 11) % most;
}

enum { TEXT = 256, RULES = 70 };

static void add(char *text, const char *piece)
{
    size_t used = strlen(text);
    (void)snprintf(text + used, TEXT - used, "%s", piece);
}

/* Of few letters and words, so that literals overlap, begin and end alike, and are parts of each other. */
static void random_pattern(char *pattern)
{
    static const char *const pieces[] = {"a",         "ab",
                                         "abc",       "bc",
                                         "b",         "\\.",
                                         "layer",     "layers",
                                         "yer",       "(a|b)",
                                         "a?",        "(b+)",
                                         "[abc]",     ".*",
                                         "(?i:ab)",   "(ab)*",
                                         "(?:abc)+",  "[0-9]+",
                                         "(\\.ab)",   "\\bab",
                                         "ü",         "(bc){2}",
                                         "ab|bc",     "()",
                                         "self_attn", "self_attn\\.q_proj\\.and_more_than_32"};
    pattern[0] = '\0';
    if (below(6) == 0) {
        add(pattern, "^");
    }
    for (size_t n = 1 + below(4); n > 0; n--) {
        add(pattern, pieces[below(sizeof pieces / sizeof *pieces)]);
    }
    if (below(6) == 0) {
        add(pattern, "$");
    }
}

static void random_text(char *text)
{
    static const char *const pieces[] = {"a",    "b", "c",         "ab",      "bc",
                                         "abc",  ".", "layer",     "layers",  "AB",
                                         "1",    "ü", "self_attn", ".q_proj", ".and_more_than_32",
                                         "laye", "x"};
    text[0] = '\0';
    for (size_t n = below(12); n > 0; n--) {
        add(text, pieces[below(sizeof pieces / sizeof *pieces)]);
    }
}

static void nothing_that_matches_is_held_back(void **unused)
{
    uint64_t held = 0, passed = 0, matched = 0;
    rec_context *context = rec_context_new(NULL);
    (void)unused;
    for (unsigned round = 0; round < 150; round++) {
        lr_regex *regexes[RULES];
        size_t count = below(RULES + 1);
        lr_matcher *matcher;
        lr_sieve *sieve;
        rec_job job;
        lr_job_begin(&job, context, "try", NULL);
        matcher = lr_matcher_new(&job);
        for (size_t i = 0; i < count; i++) {
            char pattern[TEXT];
            random_pattern(pattern);
            regexes[i] = below(10) ? lr_regex_new(&job, pattern, &place) : NULL;
        }
        sieve = lr_sieve_new(&job, (const lr_regex *const *)regexes, count);
        assert_int_equal(job.error.status, REC_OK);
        for (unsigned t = 0; t < 200; t++) {
            char text[TEXT];
            uint64_t next;
            random_text(text);
            lr_sieve_pass(sieve, text, strlen(text));
            next = lr_sieve_next(sieve, 0);
            for (size_t i = 0; i < count; i++) {
                int found = regexes[i] ? lr_regex_match(&job, regexes[i], matcher, text, strlen(text)) : 0;
                assert_true(next >= i);
                if (next > i && found) {
                    fail_msg("`%s` matches \"%s\", but was held back", lr_regex_pattern(regexes[i]), text);
                }
                if (!regexes[i]) {
                    assert_true(next > i);
                } else {
                    held += next > i;
                    passed += next == i;
                    matched += found == 1;
                }
                next = next == i ? lr_sieve_next(sieve, i + 1) : next;
            }
            assert_int_equal(next, count);
        }
        for (size_t i = 0; i < count; i++) {
            lr_regex_free(regexes[i]);
        }
        lr_sieve_free(sieve);
        lr_matcher_free(matcher);
        lr_job_drop(&job);
    }
    /* It is worth something: many are held back, and most of the others match. */
    assert_true(held > passed);
    assert_true(matched > passed / 3);
    rec_context_free(context);
}

/* More literals than it has states for: those beyond are tried. */
static void more_than_fits(void **unused)
{
    enum { MANY = 2000 };
    static lr_regex *regexes[MANY];
    rec_context *context = rec_context_new(NULL);
    lr_matcher *matcher;
    lr_sieve *sieve;
    rec_job job;
    (void)unused;
    lr_job_begin(&job, context, "try", NULL);
    matcher = lr_matcher_new(&job);
    for (size_t i = 0; i < MANY; i++) {
        char pattern[TEXT];
        (void)snprintf(pattern, sizeof pattern, "%zu_abcdefghijklmnopqrstuvwxyz%zu", i * 7919 % 100000, i);
        regexes[i] = lr_regex_new(&job, pattern, &place);
        assert_non_null(regexes[i]);
    }
    sieve = lr_sieve_new(&job, (const lr_regex *const *)regexes, MANY);
    assert_non_null(sieve);
    for (size_t i = 0; i < MANY; i += 37) {
        const char *text = lr_regex_pattern(regexes[i]);
        lr_sieve_pass(sieve, text, strlen(text));
        assert_int_equal(lr_sieve_next(sieve, i), i);
        assert_int_equal(lr_regex_match(&job, regexes[i], matcher, text, strlen(text)), 1);
    }
    for (size_t i = 0; i < MANY; i++) {
        lr_regex_free(regexes[i]);
    }
    lr_sieve_free(sieve);
    lr_matcher_free(matcher);
    lr_job_drop(&job);
    rec_context_free(context);
}

/* ------------------------------------------------------------------------------------------------- whole plans -- */

typedef struct rule {
    bool drop;
    char pattern[TEXT], replacement[TEXT];
    lr_regex *regex;
    lr_template *made;
} rule;

/* What becomes of a key by one rule after the other. @return false: it is dropped. */
static bool one_by_one(rec_job *job, lr_matcher *m, const rule *rules, size_t count, const char *key, char to[1024])
{
    (void)snprintf(to, 1024, "%s", key);
    for (size_t i = 0; i < count; i++) {
        if (rules[i].drop && lr_regex_match(job, rules[i].regex, m, key, strlen(key)) == 1) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        size_t length;
        if (!rules[i].drop && lr_regex_replace(job, rules[i].regex, m, to, strlen(to), rules[i].made) > 0) {
            const char *output = lr_matcher_output(m, &length);
            (void)snprintf(to, 1024, "%s", output);
        }
    }
    return true;
}

static rec_record *random_record(void)
{
    static const char *const parts[] = {"layers",    "a",      "ab",     "abc",  "bc",
                                        "self_attn", "q_proj", "weight", "bias", "x1"};
    rec_record *record = rec_record_new(NULL);
    for (size_t i = 0; i < 30; i++) {
        char path[TEXT] = "";
        for (size_t n = 1 + below(4); n > 0; n--) {
            add(path, parts[below(10)]);
            add(path, ".");
        }
        (void)snprintf(path + strlen(path), TEXT - strlen(path), "t%zu", i); /* no tensor is where others are below */
        put(record, path, (float)i, 1, 2, 0);
    }
    return record;
}

static void plans_are_as_one_by_one(void **unused)
{
    static const char *const patterns[] = {"a",
                                           "ab",
                                           "abc",
                                           "layers",
                                           "(layers)\\.(.+)",
                                           "self_attn",
                                           "\\.q_proj\\.",
                                           "bc",
                                           "^a\\.",
                                           "(a|b)c",
                                           "weight\\.",
                                           "x[0-9]",
                                           "(?i)AB",
                                           "zzz",
                                           "yy",
                                           "new_a",
                                           "n1",
                                           "(self)_(attn)",
                                           "t2",
                                           "(.+)\\.t7"};
    static const char *const replacements[] = {"n1", "$2", "${1}_x", "new_a", "zzz", "ab", "$0$0", "yy"};
    rec_context *context = rec_context_new(NULL);
    uint64_t compared = 0, dropped = 0, renamed = 0;
    (void)unused;
    for (unsigned round = 0; round < 400; round++) {
        rule rules[RULES];
        size_t count = 1 + below(20);
        rec_recorder *recorder = rec_open_recorder("Safetensors", REC_PRECISION_KEEP);
        rec_record *record = random_record();
        rec_plan_totals totals = {.size = sizeof totals};
        rec_plan *plan;
        lr_matcher *matcher;
        rec_job job;
        lr_job_begin(&job, context, "try", NULL);
        matcher = lr_matcher_new(&job);
        ok(rec_recorder_set(recorder, "adapter", "none"));
        ok(rec_recorder_set(recorder, "gaps", "keep"));
        for (size_t i = 0; i < count; i++) {
            rule *r = &rules[i];
            char text[3 * TEXT];
            *r = (rule){.drop = below(8) == 0};
            (void)snprintf(r->pattern, TEXT, "%s", patterns[below(20)]);
            (void)snprintf(r->replacement, TEXT, "%s", replacements[below(8)]);
            r->regex = lr_regex_new(&job, r->pattern, &place);
            r->made = lr_template_new(&job, r->replacement, r->regex, false, &place);
            assert_non_null(r->made);
            (void)snprintf(text, sizeof text, "%s => %s", r->pattern, r->replacement);
            ok(rec_recorder_set(recorder, r->drop ? "drop" : "rename", r->drop ? r->pattern : text));
        }
        plan = plan_of(recorder, record);
        ok(rec_plan_total(plan, &totals));
        for (uint64_t i = 0; i < rec_plan_count(plan) && totals.fatal == 0; i++) {
            const rec_plan_line *line = rec_plan_get(plan, i);
            char to[1024];
            bool stays = one_by_one(&job, matcher, rules, count, line->from, to);
            assert_int_equal(line->action, stays ? REC_PLAN_MAPPED : REC_PLAN_DROPPED);
            if (stays) {
                char plain[1024];
                plain[lr_path_name(line->to, strlen(line->to), plain)] = '\0'; /* below a tensor: a name with dots */
                assert_string_equal(plain, to);
            }
            compared++;
            dropped += !stays;
            renamed += stays && strcmp(line->from, to) != 0;
        }
        for (size_t i = 0; i < count; i++) {
            lr_template_free(rules[i].made);
            lr_regex_free(rules[i].regex);
        }
        rec_plan_free(plan);
        rec_record_free(record);
        rec_close_recorder(recorder);
        lr_matcher_free(matcher);
        lr_job_drop(&job);
    }
    assert_true(compared > 3000);
    assert_true(dropped > 300);
    assert_true(renamed > 1000);
    rec_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_that_matches_is_held_back),
        cmocka_unit_test(more_than_fits),
        cmocka_unit_test(plans_are_as_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
