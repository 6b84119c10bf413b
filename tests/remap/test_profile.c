/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Profiles: the grammar of rules, numbers, includes, and every mistake with its exact message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorder/recorder.h"
#include "remap/rules/rules_private.h"
#include "tests/scratch.h"

/** A context of a test's own, with an operation in it. */
typedef struct fixture {
    scratch *folder;
    rec_context *context;
    rec_job job;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->folder = scratch_new();
    f->context = rec_context_new(NULL);
    assert_non_null(f->context);
    lr_job_begin(&f->job, f->context, "test", NULL);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    lr_job_drop(&f->job);
    rec_context_free(f->context);
    scratch_free(f->folder);
    free(f);
    return 0;
}

/* Ends the operation and begins the next. @return its message. */
static const char *outcome(fixture *f)
{
    (void)lr_job_end(&f->job);
    lr_job_begin(&f->job, f->context, "test", NULL);
    return rec_error_message();
}

static lr_rules *rules_new(fixture *f)
{
    lr_rules *rules = lr_rules_new(&f->job);
    assert_non_null(rules);
    return rules;
}

/* Adds a rule that is right. @return it. */
static const lr_rule *add(fixture *f, lr_rules *rules, const char *key, const char *value)
{
    int32_t status = lr_rules_add(&f->job, rules, key, value, false, NULL, NULL);
    if (status != REC_OK) {
        fail_msg("%s = %s: %s", key, value, outcome(f));
    }
    return rules->count ? &rules->rules[rules->count - 1] : NULL;
}

/* ----------------------------------------------------------------------------------------------------- grammar -- */

static void the_first_arrow_with_blanks_around_it_ends_the_pattern(void **state)
{
    static const struct {
        const char *value, *pattern, *replacement;
    } cases[] = {
        {"a => b", "a", "b"},         {"  a\\.b \t=>  c  ", "a\\.b", "c"}, {"^model\\. =>", "^model\\.", ""},
        {"a=>b => c", "a=>b", "c"},   {"a => b => c", "a", "b => c"},      {"a|b => c | d", "a|b", "c | d"},
        {"a | b => c", "a | b", "c"},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lr_rules *rules = rules_new(f);
        const lr_rule *rule = add(f, rules, i % 2 ? "rename" : "remap", cases[i].value);
        assert_int_equal(rule->kind, LR_RULE_RENAME);
        assert_string_equal(rule->text, cases[i].value);
        assert_string_equal(rule->pattern, cases[i].pattern);
        assert_string_equal(rule->replacement, cases[i].replacement);
        assert_non_null(rule->regex);
        assert_non_null(rule->template);
        lr_rules_free(rules);
    }
}

static void the_first_bar_with_blanks_around_it_ends_the_pattern(void **state)
{
    fixture *f = *state;
    lr_rules *rules = rules_new(f);
    const lr_rule *rule = add(f, rules, "drop", "a|b");
    assert_string_equal(rule->pattern, "a|b");
    assert_int_equal(rule->rank, -1);
    assert_int_equal(rule->dtype_count, 0);
    rule = add(f, rules, "drop", "\\.bias$|x | rank 4 | dtype F32 bool8 bf16");
    assert_string_equal(rule->pattern, "\\.bias$|x");
    assert_int_equal(rule->rank, 4);
    assert_int_equal(rule->dtype_count, 3);
    assert_int_equal(rule->dtypes[0], REC_DTYPE_F32);
    assert_int_equal(rule->dtypes[1], REC_DTYPE_BOOL8);
    assert_int_equal(rule->dtypes[2], REC_DTYPE_BF16);
    rule = add(f, rules, "drop", "a | dtype i64 | rank 0");
    assert_int_equal(rule->rank, 0);
    assert_int_equal(rule->dtypes[0], REC_DTYPE_I64);
    rule = add(f, rules, "drop", "a\\x20|\\x20b");
    assert_string_equal(rule->pattern, "a\\x20|\\x20b");
    assert_int_equal(rule->number, 4);
    assert_string_equal(rule->place.what, "rule 4");
    assert_null(rule->place.file);
    lr_rules_free(rules);
}

static void split_has_an_axis_parts_shares_and_groups(void **state)
{
    fixture *f = *state;
    lr_rules *rules = rules_new(f);
    const lr_rule *rule = add(f, rules, "split", "(.*)\\.qkv\\.weight$ | rows q*H/K k v in K => $1.%.weight");
    assert_string_equal(rule->pattern, "(.*)\\.qkv\\.weight$");
    assert_string_equal(rule->replacement, "$1.%.weight");
    assert_int_equal(rule->axis, 0);
    assert_int_equal(rule->part_count, 3);
    assert_string_equal(rule->parts[0].name, "q");
    assert_string_equal(rule->parts[0].amount->text, "H/K");
    assert_null(rule->parts[1].amount);
    assert_string_equal(rule->parts[2].name, "v");
    assert_string_equal(rule->groups->text, "K");
    rule = add(f, rules, "split", "a | last x.y-1 z => %");
    assert_int_equal(rule->axis, -1);
    assert_string_equal(rule->parts[0].name, "x.y-1");
    assert_null(rule->groups);
    rule = add(f, rules, "split", "a | 2 b c*(H+1)/2 in 2 * K => %");
    assert_int_equal(rule->axis, 2);
    assert_string_equal(rule->parts[1].amount->text, "(H+1)/2");
    assert_string_equal(rule->groups->text, "2 * K");
    lr_rules_free(rules);
}

static void join_puts_the_parts_names_into_its_pattern(void **state)
{
    fixture *f = *state;
    lr_rules *rules = rules_new(f);
    const lr_rule *rule = add(f, rules, "join", "(.*)\\.%_proj\\.(w|\\%)$ | last q*H a.b-c => $1.qkv.$2");
    assert_null(rule->regex);
    assert_int_equal(rule->part_count, 2);
    assert_string_equal(lr_regex_pattern(rule->part_regexes[0]), "(.*)\\.q_proj\\.(w|%)$");
    assert_string_equal(lr_regex_pattern(rule->part_regexes[1]), "(.*)\\.a\\.b\\-c_proj\\.(w|%)$");
    assert_string_equal(rule->parts[0].amount->text, "H");
    assert_int_equal(rule->axis, -1);
    lr_rules_free(rules);
}

static void every_other_kind_is_taken_apart(void **state)
{
    fixture *f = *state;
    lr_rules *rules = rules_new(f);
    const lr_rule *rule = add(f, rules, "weight_norm", "conv$");
    assert_string_equal(rule->pattern, "conv$");
    rule = add(f, rules, "add", "norm$ | -1.5e-1");
    assert_true(rule->number_value == -0.15);
    rule = add(f, rules, "rope", "wq$ | H");
    assert_int_equal(rule->amount_count, 1);
    rule = add(f, rules, "rope", "wq$|wk$ | H R/2");
    assert_int_equal(rule->amount_count, 2);
    assert_string_equal(rule->amounts[1].text, "R/2");
    rule = add(f, rules, "squeeze", "scale$");
    assert_int_equal(rule->amount_count, 0);
    rule = add(f, rules, "squeeze", "scale$ | 1 2");
    assert_int_equal(rule->amount_count, 2);
    rule = add(f, rules, "reshape", "w$ | [ C, -1 , H*2]");
    assert_int_equal(rule->amount_count, 3);
    assert_string_equal(rule->amounts[1].text, "-1");
    assert_string_equal(rule->amounts[2].text, "H*2");
    assert_int_equal(rule->before_count, 0);
    rule = add(f, rules, "reshape", "w$ | [n, H, -1] to [n, -1]");
    assert_int_equal(rule->before_count, 3);
    assert_string_equal(rule->before[1].text, "H");
    assert_int_equal(rule->amount_count, 2);
    rule = add(f, rules, "transpose", "w$");
    assert_string_equal(rule->pattern, "w$");
    rule = add(f, rules, "permute", "w$ | 3 2 0 1");
    assert_int_equal(rule->order_count, 4);
    assert_int_equal(rule->order[0], 3);
    assert_int_equal(rule->order[3], 1);
    rule = add(f, rules, "reshape", "w$ | []");
    assert_int_equal(rule->amount_count, 0);
    rule = add(f, rules, "stack", "(.*)\\.([0-9]+)\\.w => $1.w");
    assert_string_equal(rule->replacement, "$1.w");
    rule = add(f, rules, "tie", "a.weight = b.weight");
    assert_string_equal(rule->pattern, "a.weight");
    assert_string_equal(rule->replacement, "b.weight");
    assert_null(rule->regex);
    rule = add(f, rules, "module", "fc$ => Conv1D");
    assert_string_equal(rule->replacement, "Conv1D");
    rule = add(f, rules, "variant", "blocks\\.\\d+$ => Basic");
    assert_string_equal(rule->replacement, "Basic");
    rule = add(f, rules, "back", "\\.(Basic|Bottleneck)\\. => .");
    assert_string_equal(rule->replacement, ".");
    rule = add(f, rules, "export", "^model\\.");
    assert_int_equal(rule->kind, LR_RULE_EXPORT);
    rule = add(f, rules, "require", "^model\\.");
    assert_int_equal(rule->kind, LR_RULE_REQUIRE);
    assert_int_equal(rule->number, rules->count);
    assert_int_equal(rules->adapter, LR_ADAPTER_UNSET);
    assert_int_equal(rules->gaps, LR_SWITCH_UNSET);
    (void)add(f, rules, "adapter", "NoAdapter");
    assert_int_equal(rules->adapter, LR_ADAPTER_NONE);
    (void)add(f, rules, "adapter", "PyTorch");
    assert_int_equal(rules->adapter, LR_ADAPTER_PYTORCH);
    (void)add(f, rules, "gaps", "keep");
    assert_int_equal(rules->gaps, LR_SWITCH_NO);
    (void)add(f, rules, "gaps", "close");
    assert_int_equal(rules->gaps, LR_SWITCH_YES);
    (void)add(f, rules, "select", "model.state_dict");
    assert_string_equal(rules->select, "model.state_dict");
    (void)add(f, rules, "let", "H heads | n_head");
    assert_int_equal(rules->let_count, 1);
    lr_rules_free(rules);
}

static void keys_are_known(void **state)
{
    (void)state;
    assert_non_null(lr_word_find("remap", LR_FOR_RULES));
    assert_non_null(lr_word_find("let", LR_FOR_RULES));
    assert_non_null(lr_word_find("adapter", LR_FOR_RULES));
    assert_null(lr_word_find("include", LR_FOR_RULES));
    assert_null(lr_word_find("plugin", LR_FOR_RULES));
    assert_int_equal(lr_rule_kind("remap"), LR_RULE_RENAME);
    assert_int_equal(lr_rule_kind("gaps"), 0);
    assert_string_equal(lr_word_name(LR_RULE_RENAME), "rename");
    assert_non_null(lr_word_find("reverse", LR_IN_ARGUMENTS));
    assert_true(lr_word_find("set", LR_IN_ARGUMENTS)->adds);
    assert_false(lr_word_find("profile", LR_IN_ARGUMENTS)->adds);
}

/* ---------------------------------------------------------------------------------------------------- mistakes -- */

#define WRITE_RENAME "\n  Write rename = PATTERN => REPLACEMENT."
#define WRITE_DROP "\n  Write drop = PATTERN, or drop = PATTERN | rank N | dtype NAME | needed unless zero."
#define WRITE_SPLIT "\n  Write split = PATTERN | rows NAME NAME => KEY, where % in KEY is the part's name."
#define WRITE_JOIN "\n  Write join = PATTERN | rows NAME NAME => KEY, where % in PATTERN is the part's name."
#define WRITE_ROPE "\n  Write rope = PATTERN | HEADS, or rope = PATTERN | HEADS DIMS."
#define WRITE_RESHAPE "\n  Write reshape = PATTERN | [SIZE, SIZE], or reshape = PATTERN | [SIZE, SIZE] to [SIZE]."
#define WRITE_PERMUTE "\n  Write permute = PATTERN | AXIS AXIS, with all axes from 0 on."
#define PART_HINT "\n  A part is NAME, or NAME*SHARE without blanks: q*H/K."
#define AMOUNT_HINT "\n  Amounts are names and numbers with + - * / and parentheses between them: H/K."
#define LET_HINT \
    "\n  Write let = NAME AMOUNT | AMOUNT | AMOUNT if NAME: the first one whose names are all there counts."

static const struct {
    const char *key, *value, *message;
} mistakes[] = {
    {"rename", "a", "rule 1: rename has no \" => \" in \"a\"" WRITE_RENAME},
    {"remap", "a=>b", "rule 1: rename has no \" => \" in \"a=>b\"" WRITE_RENAME},
    {"rename", "=> b", "rule 1: rename has no pattern" WRITE_RENAME},
    {"drop", "", "rule 1: drop has no pattern" WRITE_DROP},
    {"drop", "a => b", "rule 1: drop has a \" => \" in \"a => b\"" WRITE_DROP},
    {"drop", "a | b",
     "rule 1: drop has \"b\" after a \" | \"" WRITE_DROP
     "\n  A pattern with \" | \" in it is written with \\x20 for the blanks."},
    {"drop", "a |",
     "rule 1: drop has \"\" after a \" | \"" WRITE_DROP
     "\n  A pattern with \" | \" in it is written with \\x20 for the blanks."},
    {"drop", "a | rank", "rule 1: drop has the rank \"\"" WRITE_DROP},
    {"drop", "a | rank -1", "rule 1: drop has the rank \"-1\"" WRITE_DROP},
    {"drop", "a | rank 65", "rule 1: drop has the rank \"65\"" WRITE_DROP},
    {"drop", "a | rank 1 | rank 2",
     "rule 1: drop has \"rank\" after a \" | \"" WRITE_DROP
     "\n  A pattern with \" | \" in it is written with \\x20 for the blanks."},
    {"drop", "a | dtype", "rule 1: drop has no name after \"dtype\"" WRITE_DROP},
    {"drop", "a | dtype float",
     "rule 1: unknown dtype \"float\"\n  They are written f32, bf16, i64, u8, bool and so on."},
    {"split", "a | rows b c", "rule 1: split has no \" => \" in \"a | rows b c\"" WRITE_SPLIT},
    {"split", "a => %", "rule 1: split has no \" | \" in \"a => %\"" WRITE_SPLIT},
    {"split", "a | => %", "rule 1: split has no parts" WRITE_SPLIT},
    {"split", "a | columns b c => %",
     "rule 1: split has the axis \"columns\"" WRITE_SPLIT "\n  The axis is \"rows\" (0), \"last\", or its number."},
    {"split", "a | rows b => %", "rule 1: split has fewer than two parts" WRITE_SPLIT},
    {"split", "a | rows b b => %", "rule 1: split has the part \"b\" twice" WRITE_SPLIT},
    {"split", "a | rows b c+2 => %", "rule 1: split has the part \"c+2\"" WRITE_SPLIT PART_HINT},
    {"split", "a | rows *2 c => %", "rule 1: split has the part \"*2\"" WRITE_SPLIT PART_HINT},
    {"split", "a | rows b c*-2 => %", "rule 1: \"-2\" is below 0"},
    {"split", "a | rows b c*2x => %", "rule 1: \"2x\" is not an amount: expected + - * or /, found \"x\"" AMOUNT_HINT},
    {"split", "a | rows b c* => %",
     "rule 1: \"\" is not an amount: expected a name or a number, found its end" AMOUNT_HINT},
    {"split", "a | rows b c in => %", "rule 1: split has no number of groups after \"in\"" WRITE_SPLIT},
    {"split", "a | rows b c => d", "rule 1: split has no % in its key: the parts would have one name" WRITE_SPLIT},
    {"join", "a | rows b c => d", "rule 1: join has no % in its pattern" WRITE_JOIN},
    {"join", "\\% | rows b c => d", "rule 1: join has no % in its pattern" WRITE_JOIN},
    {"join", "% | rows b => d", "rule 1: join has fewer than two parts" WRITE_JOIN},
    {"rope", "a", "rule 1: rope has no \" | \" in \"a\"" WRITE_ROPE},
    {"rope", "a |", "rule 1: rope has no argument" WRITE_ROPE},
    {"rope", "a | 1 2 3", "rule 1: rope has too many arguments: \"1 2 3\"" WRITE_ROPE},
    {"rope", "a | H/(K", "rule 1: \"H/(K\" is not an amount: expected \")\", found its end" AMOUNT_HINT},
    {"rope", "a | H%2", "rule 1: \"H%2\" is not an amount: expected + - * or /, found \"%2\"" AMOUNT_HINT},
    {"add", "a | one", "rule 1: add has the number \"one\"\n  Write add = PATTERN | NUMBER."},
    {"add", "a | 1e999", "rule 1: add has the number \"1e999\"\n  Write add = PATTERN | NUMBER."},
    {"add", "a | nan", "rule 1: add has the number \"nan\"\n  Write add = PATTERN | NUMBER."},
    {"squeeze", "a |", "rule 1: squeeze has no argument\n  Write squeeze = PATTERN, or squeeze = PATTERN | AXIS AXIS."},
    {"reshape", "a | 1, 2", "rule 1: reshape has the shape \"1, 2\"" WRITE_RESHAPE},
    {"reshape", "a | [-1, 2, -1]", "rule 1: reshape has -1, what is left, twice" WRITE_RESHAPE},
    {"reshape", "a | [1,]", "rule 1: \"\" is not an amount: expected a name or a number, found its end" AMOUNT_HINT},
    {"reshape", "a | [-2]", "rule 1: \"-2\" is below 0"},
    {"reshape", "a | [2, 3] to 6", "rule 1: reshape has the shape \"6\"" WRITE_RESHAPE},
    {"permute", "a", "rule 1: permute has no \" | \" in \"a\"" WRITE_PERMUTE},
    {"permute", "a |", "rule 1: permute has the axes \"\"" WRITE_PERMUTE},
    {"permute", "a | 0 2", "rule 1: permute has the axes \"0 2\"" WRITE_PERMUTE},
    {"permute", "a | 0 1 1", "rule 1: permute has the axes \"0 1 1\"" WRITE_PERMUTE},
    {"permute", "a | 1 x", "rule 1: permute has the axes \"1 x\"" WRITE_PERMUTE},
    {"permute", "a | 64 0", "rule 1: permute has the axes \"64 0\"" WRITE_PERMUTE},
    {"stack", "a\\.[0-9]+ => a",
     "rule 1: stack has no group in its pattern for the index\n"
     "  Write stack = PATTERN => KEY, where a group of the pattern is the index."},
    {"tie", "a.b", "rule 1: tie is \"a.b\"\n  Write tie = KEY = KEY."},
    {"tie", "a =", "rule 1: tie is \"a =\"\n  Write tie = KEY = KEY."},
    {"tie", "a = a", "rule 1: tie ties \"a\" to itself\n  Write tie = KEY = KEY."},
    {"module", "a => Linaer", "rule 1: unknown module type \"Linaer\"\n  Did you mean Linear?"},
    {"module", "a", "rule 1: module has no \" => \" in \"a\"\n  Write module = PATTERN => TYPE."},
    {"variant", "a => b.c", "rule 1: variant has the name \"b.c\"\n  Write variant = PATTERN => NAME."},
    {"variant", "a =>", "rule 1: variant has the name \"\"\n  Write variant = PATTERN => NAME."},
    {"adapter", "torch", "adapter: expected pytorch, foreign or none, found \"torch\"\n  Did you mean \"pytorch\"?"},
    {"adapter", "keras", "adapter: expected pytorch, foreign or none, found \"keras\""},
    {"gaps", "closed", "gaps: expected close or keep, found \"closed\"\n  Did you mean \"close\"?"},
    {"select", "model.",
     "select: select is \"model.\", which is not a path\n"
     "  It names what the wanted keys stand below, without a dot at its ends: select = model."},
    {"let", "H", "let: let has no amount: \"H\"" LET_HINT},
    {"let", "= 2", "let: let has no name: \"= 2\"" LET_HINT},
    {"let", "H a | | b", "let: let has an empty alternative: \"H a | | b\"" LET_HINT},
    {"let", "H a if", "let: \"a if\" is not an amount: expected + - * or /, found \"if\"" AMOUNT_HINT},
    {"let", "H a if 2", "let: let has no name after \"if\": \"H a if 2\"" LET_HINT},
    {"let", "H a if b c", "let: let has no name after \"if\": \"H a if b c\"" LET_HINT},
    {"let", "H if b", "let: \"if b\" is not an amount: expected + - * or /, found \"b\"" AMOUNT_HINT},
};

static void each_mistake_has_its_message_and_leaves_the_rules_as_they_were(void **state)
{
    fixture *f = *state;
    lr_rules *rules = rules_new(f);
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        assert_int_not_equal(lr_rules_add(&f->job, rules, mistakes[i].key, mistakes[i].value, false, NULL, NULL),
                             REC_OK);
        assert_string_equal(outcome(f), mistakes[i].message);
        assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
        assert_int_equal(rules->count, 0);
        assert_int_equal(rules->let_count, 0);
        assert_null(rules->select);
    }
    lr_rules_free(rules);
}

static void in_a_file_a_mistake_has_its_line(void **state)
{
    static const lr_location place = {.file = "my.ini", .line = 7, .what = "[profile a]"};
    fixture *f = *state;
    lr_rules *rules = rules_new(f);
    assert_int_equal(lr_rules_add(&f->job, rules, "rename", "a", true, &place, "a"), REC_E_CONFIG);
    assert_string_equal(outcome(f), "my.ini: line 7: [profile a]: rename has no \" => \" in \"a\"" WRITE_RENAME);
    assert_int_equal(rec_error_line(), 7);
    assert_string_equal(rec_error_file(), "my.ini");
    lr_rules_free(rules);
}

static void texts_have_bounds(void **state)
{
    fixture *f = *state;
    lr_rules *rules = rules_new(f);
    char *text = malloc(70000), *value = malloc(71000);
    assert_non_null(text);
    assert_non_null(value);
    memset(text, 'a', 69999);
    text[69999] = '\0';
    (void)snprintf(value, 71000, "%s => b", text);
    assert_int_not_equal(lr_rules_add(&f->job, rules, "rename", value, false, NULL, NULL), REC_OK);
    assert_string_equal(outcome(f), "rule 1: the pattern is longer than 64 KiB");
    (void)snprintf(value, 71000, "x | %.300s", text);
    assert_int_not_equal(lr_rules_add(&f->job, rules, "rope", value, false, NULL, NULL), REC_OK);
    assert_string_equal(outcome(f), "rule 1: an amount is longer than 256 bytes");
    (void)snprintf(value, 71000, "x | %.65s", text);
    assert_int_not_equal(lr_rules_add(&f->job, rules, "rope", value, false, NULL, NULL), REC_OK);
    (void)outcome(f);
    memset(text, '(', 40);
    (void)snprintf(value, 71000, "x | %.40s1", text);
    assert_int_not_equal(lr_rules_add(&f->job, rules, "rope", value, false, NULL, NULL), REC_OK);
    assert_string_equal(outcome(f), "rule 1: more than 32 parentheses in one another");
    for (int i = 0; i < 10000; i++) {
        (void)add(f, rules, "tie", "a = b");
    }
    assert_int_not_equal(lr_rules_add(&f->job, rules, "tie", "a = b", false, NULL, NULL), REC_OK);
    assert_string_equal(outcome(f), "rule 10001: more than 10000 rules");
    lr_rules_free(rules);
    free(text);
    free(value);
}

static void rules_are_appended_renumbered_and_taken_out(void **state)
{
    static const lr_location place = {.file = "p.ini", .line = 3, .what = "[profile p]"};
    fixture *f = *state;
    lr_rules *one = rules_new(f), *two = rules_new(f);
    (void)add(f, one, "rename", "a => b");
    assert_int_equal(lr_rules_add(&f->job, two, "join", "% | rows a b => c", true, &place, "p"), REC_OK);
    (void)add(f, two, "drop", "x");
    (void)add(f, two, "let", "H 2");
    (void)add(f, two, "gaps", "close");
    (void)add(f, two, "select", "m");
    assert_int_equal(lr_rules_append(&f->job, one, two, false), REC_OK);
    lr_rules_free(two);
    assert_int_equal(one->count, 3);
    assert_int_equal(one->rules[1].number, 2);
    assert_string_equal(one->rules[1].place.file, "p.ini");
    assert_int_equal(one->rules[1].place.line, 3);
    assert_string_equal(one->rules[1].profile, "p");
    assert_string_equal(one->rules[2].place.what, "rule 3");
    assert_int_equal(one->let_count, 1);
    assert_int_equal(one->gaps, LR_SWITCH_YES);
    assert_string_equal(one->select, "m");
    lr_rules_remove(one, 1);
    assert_int_equal(one->count, 2);
    assert_int_equal(one->rules[1].kind, LR_RULE_DROP);
    assert_int_equal(one->rules[1].number, 2);
    lr_rules_free(one);
}

/* ----------------------------------------------------------------------------------------------------- numbers -- */

/* The value of an amount. @return -1 with the message in rec_error_message(). */
static int64_t amount(fixture *f, lr_rules *rules, const lr_variables *numbers, const char *text)
{
    int64_t value = -1;
    const lr_amount *a = lr_amount_new(&f->job, rules, text, strlen(text), &(lr_location){.what = "test"});
    if (!a || lr_amount_value(&f->job, rules, numbers, a, &(lr_location){.what = "test"}, &value) != REC_OK) {
        value = -1;
    }
    (void)outcome(f);
    return value;
}

static void amounts_are_computed(void **state)
{
    fixture *f = *state;
    lr_rules *rules = rules_new(f);
    lr_variables numbers;
    lr_variables_init(&numbers, &f->context->allocator);
    assert_int_equal(lr_variables_set(&f->job, &numbers, "H=8"), REC_OK);
    assert_int_equal(lr_variables_set(&f->job, &numbers, "K = 2"), REC_OK);
    assert_int_equal(lr_variables_set(&f->job, &numbers, "part=0.4"), REC_OK);
    assert_int_equal(lr_variables_set(&f->job, &numbers, "yes=true"), REC_OK);
    assert_int_equal(lr_variables_set(&f->job, &numbers, "K=4"), REC_OK);
    assert_int_equal(amount(f, rules, &numbers, "12"), 12);
    assert_int_equal(amount(f, rules, &numbers, "H/K"), 2);
    assert_int_equal(amount(f, rules, &numbers, "2*H/K*3"), 12);
    assert_int_equal(amount(f, rules, &numbers, "H - K - 1"), 3);
    assert_int_equal(amount(f, rules, &numbers, "H + K * 2"), 16);
    assert_int_equal(amount(f, rules, &numbers, "(H + K) * 2"), 24);
    assert_int_equal(amount(f, rules, &numbers, "part*80"), 32);
    assert_int_equal(amount(f, rules, &numbers, "yes"), 1);
    assert_int_equal(amount(f, rules, &numbers, "1000000.5/1000000*1000000"), 1000001);
    assert_int_equal(amount(f, rules, &numbers, "part"), -1);
    assert_string_equal(rec_error_message(), "part is needed, which is 0.4: no whole number");
    assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
    assert_int_equal(amount(f, rules, &numbers, "K-H"), -1);
    assert_string_equal(rec_error_message(), "K-H is needed, which is -4: below 0");
    assert_int_equal(amount(f, rules, &numbers, "H/(K-4)"), -1);
    assert_string_equal(rec_error_message(), "the amount \"H/(K-4)\" divides by 0");
    assert_int_equal(amount(f, rules, &numbers, "9007199254740992*2"), -1);
    assert_string_equal(rec_error_message(),
                        "9007199254740992*2 is needed, which is 1.8014398509482e+16: out of range");
    lr_variables_free(&numbers);
    lr_rules_free(rules);
}

static void zero_heads_are_a_mistake(void **state)
{
    fixture *f = *state;
    lr_rules *rules = rules_new(f);
    const lr_rule *rule = add(f, rules, "rope", "q$ | H-8 0");
    lr_variables numbers;
    int64_t value;
    lr_variables_init(&numbers, &f->context->allocator);
    assert_int_equal(lr_variables_set(&f->job, &numbers, "H=8"), REC_OK);
    assert_int_equal(lr_amount_value(&f->job, rules, &numbers, &rule->amounts[0], &rule->place, &value),
                     REC_E_ARGUMENT);
    assert_string_equal(outcome(f), "rule 1 (rope = q$ | H-8 0) needs H-8, which is 0");
    rule = add(f, rules, "reshape", "w$ | [0, -1]");
    assert_int_equal(lr_amount_value(&f->job, rules, &numbers, &rule->amounts[0], &rule->place, &value), REC_OK);
    assert_int_equal(value, 0);
    assert_int_equal(lr_amount_value(&f->job, rules, &numbers, &rule->amounts[1], &rule->place, &value), REC_OK);
    assert_int_equal(value, -1);
    lr_variables_free(&numbers);
    lr_rules_free(rules);
}

static void the_first_alternative_that_is_all_there_counts(void **state)
{
    fixture *f = *state;
    lr_rules *rules = rules_new(f);
    lr_variables numbers;
    lr_variables_init(&numbers, &f->context->allocator);
    (void)add(f, rules, "let", "H heads | n_head");
    (void)add(f, rules, "let", "K kv_heads if grouped | 1 if multi | H");
    (void)add(f, rules, "let", "d head_dim | hidden / H");
    (void)add(f, rules, "let", "head_dim head_dim | 3");
    assert_int_equal(lr_variables_set(&f->job, &numbers, "n_head=8"), REC_OK);
    assert_int_equal(lr_variables_set(&f->job, &numbers, "kv_heads=5"), REC_OK);
    assert_int_equal(amount(f, rules, &numbers, "H"), 8);
    assert_int_equal(amount(f, rules, &numbers, "K"), 8);
    assert_int_equal(lr_variables_set(&f->job, &numbers, "multi=true"), REC_OK);
    assert_int_equal(amount(f, rules, &numbers, "K"), 1);
    assert_int_equal(lr_variables_set(&f->job, &numbers, "grouped=1"), REC_OK);
    assert_int_equal(amount(f, rules, &numbers, "K"), 5);
    assert_int_equal(lr_variables_set(&f->job, &numbers, "grouped=0"), REC_OK);
    assert_int_equal(amount(f, rules, &numbers, "K"), 1);
    assert_int_equal(amount(f, rules, &numbers, "d"), 3);
    assert_int_equal(lr_variables_set(&f->job, &numbers, "H=2"), REC_OK);
    assert_int_equal(amount(f, rules, &numbers, "H"), 2);
    (void)add(f, rules, "let", "K 7");
    assert_int_equal(amount(f, rules, &numbers, "K"), 7);
    lr_variables_free(&numbers);
    lr_rules_free(rules);
}

static void a_missing_number_is_named_with_all_that_would_give_it(void **state)
{
    fixture *f = *state;
    lr_rules *rules = rules_new(f);
    const lr_rule *rule;
    lr_variables numbers;
    int64_t value;
    lr_variables_init(&numbers, &f->context->allocator);
    (void)add(f, rules, "let", "H heads | num_attention_heads | n_head | num_heads");
    rule = add(f, rules, "rope", "wq$ | H");
    assert_int_equal(lr_amount_value(&f->job, rules, &numbers, &rule->amounts[0], &rule->place, &value),
                     REC_E_NOT_FOUND);
    assert_string_equal(
        outcome(f),
        "the number `heads` is missing: rule 1 (rope = wq$ | H) needs H; neither --set heads=NUMBER nor a config.json "
        "(there is no file next to which it could be) gives num_attention_heads, n_head or num_heads\n"
        "  Put the model's config.json next to it, or use --config-json FILE, or give the number: --set heads=NUMBER.");
    rule = add(f, rules, "split", "a | rows q*groups k => %");
    assert_int_equal(lr_variables_read(&f->job, &numbers, "/no/such/folder/model.safetensors", NULL), REC_OK);
    assert_int_equal(lr_amount_value(&f->job, rules, &numbers, rule->parts[0].amount, &rule->place, &value),
                     REC_E_NOT_FOUND);
    assert_string_equal(
        outcome(f), "the number `groups` is missing: rule 2 (split = a | rows q*groups k => %) needs groups; neither "
                    "--set groups=NUMBER nor config.json (/no/such/folder/config.json: not found) gives groups\n"
                    "  Put the model's config.json next to it, or use --config-json FILE, or give the numbers: --set "
                    "groups=NUMBER --set heads=NUMBER.");
    lr_variables_free(&numbers);
    lr_rules_free(rules);
}

static void lets_that_need_each_other_end(void **state)
{
    fixture *f = *state;
    lr_rules *rules = rules_new(f);
    lr_variables numbers;
    char text[64];
    lr_variables_init(&numbers, &f->context->allocator);
    (void)add(f, rules, "let", "a b | 5");
    (void)add(f, rules, "let", "b a + 1");
    assert_int_equal(amount(f, rules, &numbers, "a"), 5);
    assert_int_equal(amount(f, rules, &numbers, "b"), 6);
    for (int i = 0; i < 30; i++) {
        (void)snprintf(text, sizeof text, "x%d x%d | x%d | x%d", i, i + 1, i + 1, i + 1);
        (void)add(f, rules, "let", text);
    }
    assert_int_equal(amount(f, rules, &numbers, "x0"), -1);
    assert_string_equal(rec_error_message(), "test: the lets of the amount \"x0\" need each other too often");
    for (int i = 0; i < 9; i++) { /* each level takes stack, of which a thread may have 128 KiB */
        (void)snprintf(text, sizeof text, "y%d ((((((((((((((((y%d))))))))))))))))", i, i + 1);
        (void)add(f, rules, "let", text);
    }
    (void)add(f, rules, "let", "y9 3");
    assert_int_equal(amount(f, rules, &numbers, "y1"), 3);
    assert_int_equal(amount(f, rules, &numbers, "y0"), -1);
    assert_string_equal(rec_error_message(), "test: more than 128 parentheses in one another in the lets of \"y0\"");
    lr_variables_free(&numbers);
    lr_rules_free(rules);
}

static void set_wants_a_name_and_a_number(void **state)
{
    static const char *const wrong[] = {"heads", "heads=", "=3",       "heads=many",
                                        "2x=3",  "a b=3",  "heads==3", "heads=3 4"};
    fixture *f = *state;
    lr_variables numbers;
    char expected[256];
    lr_variables_init(&numbers, &f->context->allocator);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(lr_variables_set(&f->job, &numbers, wrong[i]), REC_E_ARGUMENT);
        (void)snprintf(expected, sizeof expected,
                       "expected NAME=NUMBER for set, found \"%s\"\n"
                       "  It gives a number that rules ask for: heads=32, partial_rotary_factor=0.4.",
                       wrong[i]);
        assert_string_equal(outcome(f), expected);
    }
    assert_int_equal(numbers.set_count, 0);
    lr_variables_free(&numbers);
}

/* ----------------------------------------------------------------------------------------------- configuration -- */

static double config_number(const lr_variables *numbers, const char *name)
{
    double value = -1;
    (void)lr_number_find(numbers->config, numbers->config_count, name, &value);
    return value;
}

static void numbers_and_bools_of_a_configuration_have_dotted_names(void **state)
{
    fixture *f = *state;
    lr_variables numbers;
    char *path = scratch_text(
        f->folder, "config.json",
        "{\"num_heads\": 4, \"rope_pct\": 0.25, \"tied\": true, \"none\": null, \"text\": \"7\",\n"
        " \"vision\": {\"num_heads\": 12, \"deep\": {\"er\": -3}, \"flags\": [1, {\"x\": 2}], \"off\": false},\n"
        " \"list\": [8, 9, [true]], \"empty\": {}, \"after\": 18446744073709551615}\n");
    char *model = scratch_path(f->folder, "model.safetensors");
    lr_variables_init(&numbers, &f->context->allocator);
    assert_int_equal(lr_variables_read(&f->job, &numbers, model, NULL), REC_OK);
    assert_string_equal(numbers.config_file, path);
    assert_int_equal(numbers.config_count, 7);
    assert_true(config_number(&numbers, "num_heads") == 4);
    assert_true(config_number(&numbers, "rope_pct") == 0.25);
    assert_true(config_number(&numbers, "tied") == 1);
    assert_true(config_number(&numbers, "vision.num_heads") == 12);
    assert_true(config_number(&numbers, "vision.deep.er") == -3);
    assert_true(config_number(&numbers, "vision.off") == 0);
    assert_true(config_number(&numbers, "after") == 18446744073709551615.0);
    lr_variables_free(&numbers);
    free(model);
    free(path);
}

static void the_models_own_configuration_comes_before_the_folders(void **state)
{
    fixture *f = *state;
    lr_variables numbers;
    char *folder = scratch_folder(f->folder, "m"), *found;
    char *model = scratch_path(f->folder, "m/gru.safetensors.index.json");
    lr_variables_init(&numbers, &f->context->allocator);
    assert_int_equal(lr_variables_read(&f->job, &numbers, folder, NULL), REC_OK);
    assert_null(numbers.config_file);
    found = scratch_path(f->folder, "m/config.json");
    assert_string_equal(numbers.config_tried, found);
    free(found);
    found = scratch_text(f->folder, "m/config.json", "{\"a\": 1}");
    assert_int_equal(lr_variables_read(&f->job, &numbers, folder, NULL), REC_OK);
    assert_string_equal(numbers.config_file, found);
    assert_true(config_number(&numbers, "a") == 1);
    free(found);
    lr_variables_free(&numbers);
    lr_variables_init(&numbers, &f->context->allocator);
    found = scratch_text(f->folder, "m/gru.config.json", "{\"a\": 2}");
    assert_int_equal(lr_variables_read(&f->job, &numbers, model, NULL), REC_OK);
    assert_string_equal(numbers.config_file, found);
    assert_true(config_number(&numbers, "a") == 2);
    free(found);
    lr_variables_free(&numbers);
    lr_variables_init(&numbers, &f->context->allocator);
    found = scratch_text(f->folder, "m/other.json", "{\"a\": 3}");
    assert_int_equal(lr_variables_read(&f->job, &numbers, model, found), REC_OK);
    assert_true(config_number(&numbers, "a") == 3);
    free(found);
    lr_variables_free(&numbers);
    free(model);
    free(folder);
}

static void a_configuration_that_cannot_be_read_is_an_error(void **state)
{
    fixture *f = *state;
    lr_variables numbers;
    char *path = scratch_text(f->folder, "config.json", "{\"a\": 1, \"b\": }"), *expected = NULL;
    lr_variables_init(&numbers, &f->context->allocator);
    assert_int_equal(lr_variables_read(&f->job, &numbers, f->folder->path, NULL), REC_E_FORMAT);
    (void)outcome(f);
    assert_string_equal(rec_error_file(), path);
    assert_int_equal(rec_error_offset(), 14);
    free(path);
    path = scratch_path(f->folder, "missing.json");
    assert_int_equal(lr_variables_read(&f->job, &numbers, NULL, path), REC_E_IO);
    assert_true(asprintf(&expected, "%s: cannot open: No such file or directory", path) > 0);
    assert_string_equal(outcome(f), expected);
    free(expected);
    free(path);
    path = scratch_text(f->folder, "numbers.txt", "a = 1");
    assert_int_equal(lr_variables_read(&f->job, &numbers, NULL, path), REC_E_UNSUPPORTED);
    assert_true(asprintf(&expected,
                         "%s: no recorder reads configurations of this name\n"
                         "  Numbers can also be given one by one: --set heads=32.",
                         path) > 0);
    assert_string_equal(outcome(f), expected);
    free(expected);
    free(path);
    assert_int_equal(lr_variables_read(&f->job, &numbers, NULL, f->folder->path), REC_E_IO);
    (void)outcome(f);
    lr_variables_free(&numbers);
}

static void a_configuration_has_bounds(void **state)
{
    fixture *f = *state;
    lr_variables numbers;
    char *text = NULL, *path, *expected = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    (void)fputc('{', stream);
    for (int i = 0; i <= 100000; i++) {
        (void)fprintf(stream, "%s\"n%d\":%d", i ? "," : "", i, i);
    }
    (void)fputc('}', stream);
    assert_int_equal(fclose(stream), 0);
    path = scratch_write(f->folder, "many.json", text, size);
    lr_variables_init(&numbers, &f->context->allocator);
    assert_int_equal(lr_variables_read(&f->job, &numbers, NULL, path), REC_E_LIMIT);
    assert_true(asprintf(&expected, "%s: more than 100,000 numbers: this is not a configuration", path) > 0);
    assert_string_equal(outcome(f), expected);
    free(expected);
    free(path);
    free(text);
    path = scratch_text(f->folder, "large.json", "");
    assert_int_equal(truncate(path, (16 << 20) + 1), 0);
    assert_int_equal(lr_variables_read(&f->job, &numbers, NULL, path), REC_E_LIMIT);
    assert_true(asprintf(&expected, "%s: larger than 16 MiB: this is not a configuration of a model", path) > 0);
    assert_string_equal(outcome(f), expected);
    free(expected);
    free(path);
    lr_variables_free(&numbers);
}

/* ---------------------------------------------------------------------------------------------- load arguments -- */

static void a_recorder_keeps_what_it_was_given_in_order(void **state)
{
    fixture *f = *state;
    rec_recorder *r = rec_open_recorder_in(f->context, "Auto", REC_PRECISION_KEEP);
    lr_variables numbers;
    lr_rules *rules;
    assert_non_null(r);
    assert_false(lr_arguments_any(&r->arguments));
    assert_int_equal(rec_recorder_set(r, "set", "H=4"), REC_OK);
    assert_int_equal(rec_recorder_set(r, "adapter", "none"), REC_OK);
    assert_false(lr_arguments_any(&r->arguments));
    assert_int_equal(rec_recorder_set(r, "rename", "a => b"), REC_OK);
    assert_int_equal(rec_recorder_set(r, "remap", "b => c"), REC_OK);
    assert_int_equal(rec_recorder_set(r, "module", "x => Linear"), REC_OK);
    assert_true(lr_arguments_any(&r->arguments));
    assert_int_equal(rec_recorder_set(r, "prefix", "encoder"), REC_OK);
    assert_int_equal(rec_recorder_set(r, "prefix", "decoder.first"), REC_OK);
    assert_int_equal(rec_recorder_set(r, "partial", "yes"), REC_OK);
    assert_int_equal(rec_recorder_set(r, "strict", "on"), REC_OK);
    assert_int_equal(rec_recorder_set(r, "debug", "1"), REC_OK);
    assert_int_equal(rec_recorder_set(r, "reverse", "true"), REC_OK);
    assert_int_equal(rec_recorder_set(r, "reverse", "no"), REC_OK);
    assert_string_equal(r->arguments.prefix, "decoder.first");
    assert_true(r->arguments.partial && r->arguments.strict && r->arguments.debug && !r->arguments.reverse);
    rules = lr_arguments_rules(&f->job, &r->arguments);
    assert_non_null(rules);
    assert_int_equal(rules->count, 3);
    assert_int_equal(rules->rules[0].kind, LR_RULE_MODULE);
    assert_string_equal(rules->rules[1].pattern, "a");
    assert_string_equal(rules->rules[2].pattern, "b");
    assert_string_equal(rules->rules[2].place.what, "rule 3");
    assert_int_equal(rules->adapter, LR_ADAPTER_NONE);
    assert_int_equal(lr_arguments_variables(&f->job, &r->arguments, rules, NULL, &numbers), REC_OK);
    assert_int_equal(numbers.set_count, 1);
    lr_variables_free(&numbers);
    lr_rules_free(rules);
    rec_close_recorder(r);
}

static void a_wrong_argument_is_refused_when_it_is_set(void **state)
{
    static const struct {
        const char *name, *value, *message;
    } cases[] = {
        {"rename", "a", "rule 1: rename has no \" => \" in \"a\"" WRITE_RENAME},
        {"prefix", "a..b",
         "expected a path for the prefix, found \"a..b\"\n  It is put before all keys, with a dot between: prefix = "
         "encoder."},
        {"prefix", "",
         "expected a path for the prefix, found \"\"\n  It is put before all keys, with a dot between: prefix = "
         "encoder."},
        {"partial", "maybe", "expected yes or no for the option partial, found `maybe`"},
        {"config", "", "config names no file"},
        {"profile", "nothing-like-it/..", "unknown profile \"nothing-like-it/..\"\n  "},
    };
    fixture *f = *state;
    rec_recorder *r = rec_open_recorder_in(f->context, "Auto", REC_PRECISION_KEEP);
    assert_non_null(r);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_not_equal(rec_recorder_set(r, cases[i].name, cases[i].value), REC_OK);
        assert_int_equal(strncmp(rec_error_message(), cases[i].message, strlen(cases[i].message)), 0);
        assert_false(lr_arguments_any(&r->arguments));
    }
    rec_close_recorder(r);
}

static void the_recorders_own_rules_come_after_the_profiles_but_for_those_where_the_first_decides(void **state)
{
    fixture *f = *state;
    char *path = scratch_text(f->folder, "p.ini",
                              "[profile p]\n"
                              "adapter = pytorch\ngaps = close\nselect = model\n"
                              "module = . => Linear\nrename = a => b\nrope = q | H\n"
                              "let = H 4\n");
    rec_recorder *r = rec_open_recorder_in(f->context, "Auto", REC_PRECISION_KEEP);
    lr_rules *rules;
    assert_non_null(r);
    assert_int_equal(rec_recorder_set(r, "rename", "b => c"), REC_OK);
    assert_int_equal(rec_recorder_set(r, "module", "x => Conv1D"), REC_OK);
    assert_int_equal(rec_recorder_set(r, "gaps", "keep"), REC_OK);
    assert_int_equal(rec_recorder_set(r, "let", "H 8"), REC_OK);
    assert_int_equal(rec_recorder_set(r, "select", "."), REC_OK);
    assert_int_equal(rec_recorder_set(r, "profile", path), REC_OK);
    rules = lr_arguments_rules(&f->job, &r->arguments);
    assert_non_null(rules);
    assert_int_equal(rules->count, 5);
    assert_string_equal(rules->rules[0].replacement, "Conv1D");
    assert_string_equal(rules->rules[1].replacement, "Linear");
    assert_string_equal(rules->rules[1].profile, "p");
    assert_string_equal(rules->rules[2].pattern, "a");
    assert_string_equal(rules->rules[4].pattern, "b");
    assert_null(rules->rules[4].profile);
    assert_int_equal(rules->rules[4].number, 5);
    assert_int_equal(rules->adapter, LR_ADAPTER_PYTORCH);
    assert_int_equal(rules->gaps, LR_SWITCH_NO);
    assert_null(rules->select);
    assert_string_equal(rules->name, "p");
    assert_string_equal(rules->lets[rules->let_count - 1].text, "H 8");
    lr_rules_free(rules);
    rec_close_recorder(r);
    free(path);
}

static void a_load_argument_that_is_misspelt_is_told(void **state)
{
    fixture *f = *state;
    rec_recorder *r = rec_open_recorder_in(f->context, "mpk", REC_PRECISION_KEEP);
    assert_non_null(r);
    assert_int_equal(rec_recorder_set(r, "adpater", "none"), REC_E_ARGUMENT);
    assert_string_equal(rec_error_message(),
                        "NamedMpk has no option `adpater`\n"
                        "  Its options: as, map, data, decode, sync, check, clamp, modules, layout, trailing\n"
                        "  The load argument `adapter` has nearly that name.");
    rec_close_recorder(r);
}

static void strictness_counts_whenever_it_is_set(void **state)
{
    fixture *f = *state;
    rec_recorder *r = rec_open_recorder_in(f->context, "Auto", REC_PRECISION_KEEP);
    assert_non_null(r);
    assert_int_equal(rec_recorder_set(r, "rename", "(a) => $1x"), REC_OK);
    assert_int_equal(rec_report_count(), 1);
    assert_int_equal(rec_recorder_set(r, "strict", "yes"), REC_OK);
    assert_null(lr_arguments_rules(&f->job, &r->arguments));
    (void)outcome(f);
    assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
    rec_close_recorder(r);
}

/* --------------------------------------------------------------------------------------------------- INI files -- */

/* A context whose configuration is that text. */
static rec_context *configured(fixture *f, const char *text)
{
    char *path = scratch_text(f->folder, "app.ini", text);
    rec_context *context = rec_config_open(path);
    if (!context) {
        fail_msg("%s", rec_error_message());
    }
    free(path);
    return context;
}

static lr_rules *load(rec_context *context, const char *name)
{
    rec_job job;
    lr_rules *rules;
    lr_job_begin(&job, context, "test", NULL);
    rules = lr_profile_load(&job, name, NULL);
    (void)lr_job_end(&job);
    return rules;
}

static void a_recorder_section_may_have_rules_several_times(void **state)
{
    fixture *f = *state;
    rec_context *context =
        configured(f, "[recorder llama]\nplugin = Auto\nrename = a => b\nset = H=2\nrename = b => c\n"
                      "set = K=1\nprofile = mine\nconfig = numbers.json\n"
                      "[profile mine]\ndrop = x\n");
    rec_recorder *r = rec_open_recorder_in(context, "llama", REC_PRECISION_KEEP);
    char *config = scratch_path(f->folder, "numbers.json");
    lr_rules *rules;
    if (!r) {
        fail_msg("%s", rec_error_message());
    }
    rules = lr_arguments_rules(&f->job, &r->arguments);
    assert_non_null(rules);
    assert_int_equal(rules->count, 3);
    assert_string_equal(rules->rules[1].pattern, "a");
    assert_string_equal(rules->rules[2].pattern, "b");
    assert_int_equal(rules->rules[2].place.line, 5);
    assert_int_equal(r->arguments.numbers.set_count, 2);
    assert_string_equal(r->arguments.config, config);
    lr_rules_free(rules);
    rec_close_recorder(r);
    rec_context_free(context);
    free(config);
}

static void a_wrong_rule_in_a_recorder_section_has_its_line(void **state)
{
    fixture *f = *state;
    rec_context *context = configured(f, "[recorder a]\nplugin = Auto\n\nrename = a\n"
                                         "[recorder b]\nplugin = Auto\nprofile = c\n[profile c]\ndrop = (\n"
                                         "[recorder d]\nplugin = Auto\npartial = so\n");
    char *path = scratch_path(f->folder, "app.ini"), *expected = NULL;
    assert_null(rec_open_recorder_in(context, "a", REC_PRECISION_KEEP));
    assert_true(asprintf(&expected, "%s: line 4: [recorder a]: rename has no \" => \" in \"a\"" WRITE_RENAME, path) >
                0);
    assert_string_equal(rec_error_message(), expected);
    assert_int_equal(rec_error_status(), REC_E_CONFIG);
    free(expected);
    assert_null(rec_open_recorder_in(context, "b", REC_PRECISION_KEEP));
    assert_int_equal(rec_error_line(), 9);
    assert_null(rec_open_recorder_in(context, "d", REC_PRECISION_KEEP));
    assert_int_equal(rec_error_line(), 12);
    assert_int_equal(rec_error_status(), REC_E_CONFIG);
    rec_context_free(context);
    free(path);
}

static void a_profile_is_built_on_others(void **state)
{
    fixture *f = *state;
    rec_context *context = configured(f, "[profile base]\nlet = H 1\nadapter = none\nrename = a => b\nrename = c => d\n"
                                         "rope = x | H\nrope = y | H\nmodule = m => Linear\n"
                                         "[profile next]\ndescription = what it is\nsource = from\ndestination = to\n"
                                         "let = H 2\nadapter = pytorch\nmodule = n => Param\n"
                                         "include = base\nless = rename 1\nless = rope\nrename = e => f\n"
                                         "[profile last]\ninclude = next\ngaps = keep\n");
    lr_rules *rules = load(context, "last");
    if (!rules) {
        fail_msg("%s", rec_error_message());
    }
    assert_string_equal(rules->name, "last");
    assert_null(rules->description);
    assert_int_equal(rules->count, 4);
    assert_string_equal(rules->rules[0].pattern, "n");
    assert_string_equal(rules->rules[0].profile, "next");
    assert_string_equal(rules->rules[1].pattern, "c");
    assert_string_equal(rules->rules[1].profile, "base");
    assert_string_equal(rules->rules[2].pattern, "m");
    assert_string_equal(rules->rules[3].pattern, "e");
    for (uint64_t i = 0; i < rules->count; i++) {
        assert_int_equal(rules->rules[i].number, i + 1);
    }
    assert_string_equal(rules->lets[rules->let_count - 1].text, "H 2");
    assert_int_equal(rules->adapter, LR_ADAPTER_PYTORCH);
    assert_int_equal(rules->gaps, LR_SWITCH_NO);
    lr_rules_free(rules);
    rules = load(context, "NE_XT");
    assert_non_null(rules);
    assert_string_equal(rules->name, "next");
    assert_string_equal(rules->description, "what it is");
    assert_string_equal(rules->source, "from");
    assert_string_equal(rules->destination, "to");
    lr_rules_free(rules);
    rec_context_free(context);
}

static void a_profile_may_extend_the_librarys_of_its_name(void **state)
{
    fixture *f = *state;
    char *folder = scratch_folder(f->folder, "data/profiles"), *data = scratch_path(f->folder, "data"), *file;
    rec_context *context = configured(f, "[profile llama]\ninclude = llama\nrename = b => c\n");
    lr_rules *rules;
    file = scratch_text(f->folder, "data/profiles/many.ini",
                        "[profile other]\nrename = x => y\n"
                        "[profile llama]\nrename = a => b\n");
    assert_int_equal(setenv("LIBRECORD_DATA", data, 1), 0);
    rules = load(context, "llama");
    if (!rules) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(rules->count, 2);
    assert_string_equal(rules->rules[0].pattern, "a");
    assert_string_equal(rules->rules[1].pattern, "b");
    lr_rules_free(rules);
    assert_int_equal(rec_profile_count(context), 2);
    assert_string_equal(rec_profile_get(context, 0)->name, "llama");
    assert_string_equal(rec_profile_get(context, 0)->description, "");
    assert_non_null(strstr(rec_profile_get(context, 0)->file, "app.ini"));
    assert_string_equal(rec_profile_get(context, 1)->name, "other");
    assert_string_equal(rec_profile_get(context, 1)->file, file);
    assert_null(rec_profile_get(context, 2));
    rec_context_free(context);
    free(file);
    free(folder);
    free(data);
}

static void a_file_can_be_named_with_or_without_its_profile(void **state)
{
    fixture *f = *state;
    char *folder = scratch_folder(f->folder, "sub"), *one, *two, *text = NULL;
    lr_rules *rules;
    one = scratch_text(f->folder, "one.ini", "[profile only]\ninclude = sub/two.ini:b\n");
    two = scratch_text(f->folder, "sub/two.ini", "[profile a]\nrename = a => b\n[profile b]\ninclude = a\n");
    rules = load(f->context, one);
    if (!rules) {
        fail_msg("%s", rec_error_message());
    }
    assert_string_equal(rules->name, "only");
    assert_int_equal(rules->count, 1);
    assert_string_equal(rules->rules[0].place.file, two);
    lr_rules_free(rules);
    assert_null(load(f->context, two));
    assert_true(asprintf(&text, "%s: it has more than one profile: a, b\n  Say which one: %s:a.", two, two) > 0);
    assert_string_equal(rec_error_message(), text);
    free(text);
    assert_true(asprintf(&text, "%s:A", two) > 0);
    rules = load(f->context, text);
    assert_non_null(rules);
    lr_rules_free(rules);
    free(text);
    assert_true(asprintf(&text, "%s:aa", two) > 0);
    assert_null(load(f->context, text));
    free(text);
    assert_true(asprintf(&text, "%s: it has no [profile aa] in it\n  Known: a, b.", two) > 0);
    assert_string_equal(rec_error_message(), text);
    assert_int_equal(rec_error_status(), REC_E_NOT_FOUND);
    free(text);
    free(one);
    one = scratch_text(f->folder, "none.ini", "[librecord]\nthreads = 1\n");
    assert_null(load(f->context, one));
    assert_true(asprintf(&text, "%s: it has no [profile NAME] in it", one) > 0);
    assert_string_equal(rec_error_message(), text);
    free(text);
    free(one);
    free(two);
    free(folder);
}

static void names_that_are_nearly_right_are_told(void **state)
{
    fixture *f = *state;
    char *path, *expected = NULL, *empty = scratch_path(f->folder, "no-data");
    rec_context *context = configured(f, "[profile llama]\nrename = a => b\n[profile x]\n\ninclude = lama\n");
    assert_int_equal(setenv("LIBRECORD_DATA", empty, 1), 0);
    path = scratch_path(f->folder, "app.ini");
    assert_null(load(context, "llamma"));
    assert_true(asprintf(&expected,
                         "unknown profile \"llamma\"\n  librecord's own ones are not in %s/profiles.\n  The "
                         "environment variable LIBRECORD_DATA names the directory above it.\n  Did you mean \"llama\"?",
                         empty) > 0);
    assert_string_equal(rec_error_message(), expected);
    assert_int_equal(rec_error_status(), REC_E_NOT_FOUND);
    free(expected);
    assert_null(load(context, "x"));
    assert_true(asprintf(&expected, "%s: line 5: unknown profile \"lama\"\n", path) > 0);
    assert_int_equal(strncmp(rec_error_message(), expected, strlen(expected)), 0);
    assert_non_null(strstr(rec_error_message(), "Did you mean \"llama\"?"));
    assert_int_equal(rec_error_status(), REC_E_CONFIG);
    free(expected);
    free(path);
    free(empty);
    rec_context_free(context);
}

static const struct {
    const char *text, *message; /**< of the profile x */
} wrong_profiles[] = {
    {"[profile x]\ninclude = x\n", ": line 2: [profile x] includes itself, and no other profile has that name"},
    {"[profile x]\ninclude = y\n[profile y]\ninclude = z\n[profile z]\ninclude = y\n",
     ": line 6: y includes z includes y"},
    {"[profile x]\ninclude = y\n[profile y]\nrename = a => b\n\ninclude = x\n", ": line 6: x includes y includes x"},
    {"[profile x]\nless = rope\n", ": line 2: \"less\" precedes any include"},
    {"[profile x]\ninclude = y\nless = rope\n[profile y]\nrename = a => b\n",
     ": line 3: less is \"rope\", but what is included before it has 0 such rules"},
    {"[profile x]\ninclude = y\nless = rename 2\n[profile y]\nrename = a => b\n",
     ": line 3: less is \"rename 2\", but what is included before it has 1 such rules"},
    {"[profile x]\ninclude = y\nless = rename 0\n[profile y]\nrename = a => b\n",
     ": line 3: less is \"rename 0\": \"0\" is not a number from 1 on"},
    {"[profile x]\ninclude = y\nless = rename +1\n[profile y]\nrename = a => b\n",
     ": line 3: less is \"rename +1\": \"+1\" is not a number from 1 on"},
    {"[profile x]\ninclude = y\nless = rename 01\n[profile y]\nrename = a => b\n",
     ": line 3: less is \"rename 01\": \"01\" is not a number from 1 on"},
    {"[profile x]\ninclude = y\nless = rename 99999999999999999999\n[profile y]\nrename = a => b\n",
     ": line 3: less is \"rename 99999999999999999999\", but what is included before it has 1 such rules"},
    {"[profile x]\ninclude = y\nless = ropes\n[profile y]\nrename = a => b\n",
     ": line 3: less is \"ropes\", which is not a kind of rules\n  Did you mean \"rope\"?"},
    {"[profile x]\ninclude = y\nless = gaps\n[profile y]\nrename = a => b\n",
     ": line 3: less is \"gaps\", which is not a kind of rules\n"
     "  Write less = rope, or less = rename 1 for the first one of them."},
    {"[profile x]\nmodule = a => Liner\n",
     ": line 2: [profile x]: unknown module type \"Liner\"\n  Did you mean Linear?"},
    {"[profile x]\ninclude = y\n[profile y]\ndrop = a | b\n",
     ": line 4: [profile y]: drop has \"b\" after a \" | \"" WRITE_DROP
     "\n  A pattern with \" | \" in it is written with \\x20 for the blanks."},
};

static void each_mistake_in_a_profile_has_its_line(void **state)
{
    fixture *f = *state;
    char *path = scratch_path(f->folder, "app.ini"), *empty = scratch_path(f->folder, "no-data");
    assert_int_equal(setenv("LIBRECORD_DATA", empty, 1), 0);
    for (size_t i = 0; i < sizeof wrong_profiles / sizeof wrong_profiles[0]; i++) {
        rec_context *context = configured(f, wrong_profiles[i].text);
        const char *message = wrong_profiles[i].message;
        assert_null(load(context, "x"));
        assert_int_equal(strncmp(rec_error_message(), path, strlen(path)), 0);
        assert_string_equal(rec_error_message() + strlen(path), message);
        assert_int_equal(rec_error_status(), REC_E_CONFIG);
        rec_context_free(context);
    }
    free(empty);
    free(path);
}

static const struct {
    const char *text, *message;
} wrong_sections[] = {
    {"[profile]\n", ": line 1: [profile] has no name\n  Give it one: [profile NAME]."},
    {"[profile a b]\n", ": line 1: \"a b\" cannot name a profile: it may have letters, digits, \".\", \"_\" and \"-\""},
    {"[profile a]\n[profile A]\n", ": line 2: [profile A] occurs twice, first in line 1 as [profile a]"},
    {"[profile a]\nrenam = a => b\n", ": line 2: [profile a] has no key \"renam\"\n  Did you mean \"rename\"?"},
    {"[profile a]\ninclud = b\n", ": line 2: [profile a] has no key \"includ\"\n  Did you mean \"include\"?"},
    {"[profile a]\nthreads = 2\n",
     ": line 2: [profile a] has no key \"threads\"\n"
     "  Known: description, source, destination, include, less, family, others, doubt, model_type, architecture, has, "
     "knows, drop, split, weight_norm, rename, add, rope, squeeze, reshape, transpose, permute, stack, join, merge, "
     "tie, module, variant, "
     "back, export, require, let, adapter, gaps, select."},
    {"[profile a]\nsource = b\nsource = c\n", ": line 3: \"source\" occurs twice in [profile a]"},
    {"[profile a]\ngaps = keep\ngaps = keep\n", ": line 3: \"gaps\" occurs twice in [profile a], first in line 2"},
    {"[recorder a]\nplugin = b\nrename = a => b\nprofile = c\nprofile = c\n",
     ": line 5: \"profile\" occurs twice in [recorder a], first in line 4"},
};

static void each_mistake_in_how_a_section_is_written_has_its_line(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < sizeof wrong_sections / sizeof wrong_sections[0]; i++) {
        char *path = scratch_text(f->folder, "app.ini", wrong_sections[i].text);
        assert_null(rec_config_open(path));
        assert_int_equal(strncmp(rec_error_message(), path, strlen(path)), 0);
        assert_string_equal(rec_error_message() + strlen(path), wrong_sections[i].message);
        free(path);
    }
}

static void hostile_files_end_soon(void **state)
{
    fixture *f = *state;
    char *text = NULL, *path, *expected = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    rec_context *context;
    assert_non_null(stream);
    (void)fprintf(stream, "[profile x]\n");
    for (int i = 0; i < 100000; i++) {
        (void)fprintf(stream, "drop = (a|b)*c{1,9}\n");
    }
    assert_int_equal(fclose(stream), 0);
    path = scratch_write(f->folder, "app.ini", text, size);
    assert_null(rec_config_open(path));
    assert_true(asprintf(&expected, "%s: line 10002: more than 10000 lines in [profile x]", path) > 0);
    assert_string_equal(rec_error_message(), expected);
    free(expected);
    free(text);
    free(path);
    /* one in another, too deep */
    stream = open_memstream(&text, &size);
    assert_non_null(stream);
    for (int i = 0; i < 100; i++) {
        (void)fprintf(stream, "[profile p%d]\ninclude = p%d\n", i, i + 1);
    }
    (void)fprintf(stream, "[profile p100]\n");
    assert_int_equal(fclose(stream), 0);
    context = configured(f, text);
    path = scratch_path(f->folder, "app.ini");
    assert_null(load(context, "p0"));
    assert_true(asprintf(&expected, "%s: line 34: more than 16 includes in one another", path) > 0);
    assert_string_equal(rec_error_message(), expected);
    free(expected);
    free(text);
    rec_context_free(context);
    /* each twice the one below it */
    stream = open_memstream(&text, &size);
    assert_non_null(stream);
    for (int i = 0; i < 15; i++) {
        (void)fprintf(stream, "[profile p%d]\ninclude = p%d\ninclude = p%d\n", i, i + 1, i + 1);
    }
    (void)fprintf(stream, "[profile p15]\n");
    assert_int_equal(fclose(stream), 0);
    context = configured(f, text);
    assert_null(load(context, "p0"));
    assert_non_null(strstr(rec_error_message(), ": more than 256 includes"));
    free(text);
    rec_context_free(context);
    free(path);
}

/* ---------------------------------------------------------------------------------------- memory that runs out -- */

/** Allocations until one fails, and pieces that were not given back. */
typedef struct shortage {
    long countdown, held;
} shortage;

static void *give(void *user, size_t size)
{
    shortage *s = user;
    void *memory = s->countdown-- == 0 ? NULL : malloc(size);
    s->held += memory != NULL;
    return memory;
}

static void *give_more(void *user, void *old, size_t size)
{
    shortage *s = user;
    return s->countdown-- == 0 ? NULL : realloc(old, size);
}

static void take_back(void *user, void *memory)
{
    shortage *s = user;
    s->held--;
    free(memory);
}

/* Everything of this file, once. @return the status. */
static rec_status work(rec_context *context, const char *file, const char *config)
{
    rec_recorder *r = rec_open_recorder_in(context, "Auto", REC_PRECISION_KEEP);
    rec_job job;
    lr_rules *rules = NULL;
    lr_variables numbers;
    bool ok = r && rec_recorder_set(r, "profile", file) == REC_OK && rec_recorder_set(r, "config", config) == REC_OK &&
              rec_recorder_set(r, "join", "% | rows a b*H => c") == REC_OK &&
              rec_recorder_set(r, "set", "H=2") == REC_OK && rec_recorder_set(r, "prefix", "a.b") == REC_OK &&
              rec_profile_count(context) > 0;
    rec_status status = rec_error_status();
    if (ok) {
        lr_job_begin(&job, context, "test", NULL);
        rules = lr_arguments_rules(&job, &r->arguments);
        if (rules) {
            (void)lr_arguments_variables(&job, &r->arguments, rules, NULL, &numbers);
            lr_variables_free(&numbers);
        }
        lr_rules_free(rules);
        status = lr_job_end(&job);
    }
    rec_close_recorder(r);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    fixture *f = *state;
    char *folder = scratch_folder(f->folder, "data/profiles"), *data = scratch_path(f->folder, "data");
    char *file = scratch_text(f->folder, "data/profiles/p.ini",
                              "[profile base]\nrename = (a) => $1.b\n"
                              "[profile p]\ndescription = d\nlet = H heads | 1 if x\ninclude = q\nless = drop\n"
                              "split = (a)b | rows x*H y => $1%\nselect = m\n[profile q]\ndrop = a\ntie = a = b\n");
    char *config = scratch_text(f->folder, "config.json", "{\"a\": {\"b\": 1}, \"c\": [1, 2.5]}"), *name = NULL;
    long ran_out = 0;
    assert_true(asprintf(&name, "%s:p", file) > 0);
    assert_int_equal(setenv("LIBRECORD_DATA", data, 1), 0);
    for (long n = 0;; n++) {
        shortage s = {.countdown = -1};
        const rec_allocator allocator = {
            .size = sizeof allocator, .alloc = give, .resize = give_more, .release = take_back, .user = &s};
        rec_context *context = rec_context_new(&allocator);
        rec_status status;
        assert_non_null(context);
        assert_true(rec_plugin_count(context) > 0);
        s.countdown = n;
        status = work(context, name, config);
        s.countdown = -1;
        rec_context_free(context);
        assert_int_equal(s.held, 0);
        if (status == REC_OK) {
            break;
        }
        assert_int_equal(status, REC_E_MEMORY);
        ran_out++;
    }
    assert_true(ran_out > 50);
    free(name);
    free(config);
    free(file);
    free(data);
    free(folder);
}

static void plugins_cannot_take_the_names_of_load_arguments(void **state)
{
    static const char *const taken[] = {"adapter", "profile", "remap",  "rename", "prefix", "gaps",
                                        "partial", "strict",  "debug",  "set",    "config", "reverse",
                                        "drop",    "let",     "select", "export"};
    (void)state;
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        assert_non_null(lr_word_find(taken[i], LR_IN_ARGUMENTS));
    }
    assert_null(lr_word_find("level", LR_IN_ARGUMENTS));
    assert_null(lr_word_find("map", LR_IN_ARGUMENTS));
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH(the_first_arrow_with_blanks_around_it_ends_the_pattern),
        EACH(the_first_bar_with_blanks_around_it_ends_the_pattern),
        EACH(split_has_an_axis_parts_shares_and_groups),
        EACH(join_puts_the_parts_names_into_its_pattern),
        EACH(every_other_kind_is_taken_apart),
        EACH(keys_are_known),
        EACH(each_mistake_has_its_message_and_leaves_the_rules_as_they_were),
        EACH(in_a_file_a_mistake_has_its_line),
        EACH(texts_have_bounds),
        EACH(rules_are_appended_renumbered_and_taken_out),
        EACH(amounts_are_computed),
        EACH(zero_heads_are_a_mistake),
        EACH(the_first_alternative_that_is_all_there_counts),
        EACH(a_missing_number_is_named_with_all_that_would_give_it),
        EACH(lets_that_need_each_other_end),
        EACH(set_wants_a_name_and_a_number),
        EACH(numbers_and_bools_of_a_configuration_have_dotted_names),
        EACH(the_models_own_configuration_comes_before_the_folders),
        EACH(a_configuration_that_cannot_be_read_is_an_error),
        EACH(a_configuration_has_bounds),
        EACH(a_recorder_keeps_what_it_was_given_in_order),
        EACH(a_wrong_argument_is_refused_when_it_is_set),
        EACH(the_recorders_own_rules_come_after_the_profiles_but_for_those_where_the_first_decides),
        EACH(a_load_argument_that_is_misspelt_is_told),
        EACH(strictness_counts_whenever_it_is_set),
        EACH(a_recorder_section_may_have_rules_several_times),
        EACH(a_wrong_rule_in_a_recorder_section_has_its_line),
        EACH(a_profile_is_built_on_others),
        EACH(a_profile_may_extend_the_librarys_of_its_name),
        EACH(a_file_can_be_named_with_or_without_its_profile),
        EACH(names_that_are_nearly_right_are_told),
        EACH(each_mistake_in_a_profile_has_its_line),
        EACH(each_mistake_in_how_a_section_is_written_has_its_line),
        EACH(hostile_files_end_soon),
        EACH(each_allocation_may_fail),
        EACH(plugins_cannot_take_the_names_of_load_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
