/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Regular expressions of rules: what they match and what they make of it is what Rust's `regex` crate does
 * (tests/interop compares the two on thousands), what Rust refuses is refused, in these words, and no pattern can hang
 * or eat memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "remap/regex/regex.h"

/* ----------------------------------------------------------------------------------------------------- fixture -- */

static const lr_location place = {.what = "rule 2"};
static const lr_location in_file = {.file = "rules.ini", .line = 7, .what = "[profile x]"};

/* Memory that is counted, and that can run out. */
static struct {
    size_t now, most, left; /* `left`: allocations until one fails; 0: none does */
} memory;

static void *count_in(void *block, size_t size)
{
    size_t *head = block;
    if (head) {
        *head = size;
        memory.now += size;
        memory.most = memory.now > memory.most ? memory.now : memory.most;
        return head + 2;
    }
    return NULL;
}

static bool runs_out(void)
{
    return memory.left && --memory.left == 0;
}

static void *take(void *user, size_t size)
{
    (void)user;
    return runs_out() ? NULL : count_in(malloc(size + 16), size);
}

static void give(void *user, void *old)
{
    (void)user;
    if (old) {
        memory.now -= ((size_t *)old)[-2];
        free((size_t *)old - 2);
    }
}

static void *change(void *user, void *old, size_t size)
{
    void *made = take(user, size);
    if (made && old) {
        size_t before = ((size_t *)old)[-2];
        memcpy(made, old, before < size ? before : size);
    }
    if (made) {
        give(user, old);
    }
    return made;
}

static rec_context *context;

static int set_up(void **state)
{
    const rec_allocator counted = {.size = sizeof counted, .alloc = take, .resize = change, .release = give};
    (void)state;
    context = rec_context_new(&counted);
    return context ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    rec_context_free(context);
    return memory.now ? -1 : 0; /* nothing is leaked */
}

/* A rule on a text. @return matches, -1: refused; then `error` is the message. */
static int64_t apply(const char *pattern, const char *replacement, const char *text, char *result, size_t room,
                     char *error, size_t error_room)
{
    rec_job job;
    size_t length = strlen(text);
    int64_t matches = -1;
    lr_regex *regex;
    lr_template *made = NULL;
    lr_matcher *matcher = NULL;
    lr_job_begin(&job, context, "load", NULL);
    regex = lr_regex_new(&job, pattern, &place);
    made = regex ? lr_template_new(&job, replacement, regex, false, &place) : NULL;
    matcher = made ? lr_matcher_new(&job) : NULL;
    if (matcher) {
        matches = lr_regex_replace(&job, regex, matcher, text, length, made);
        (void)snprintf(result, room, "%s", matches > 0 ? lr_matcher_output(matcher, &length) : text);
        assert_int_equal(strlen(result), length);
    }
    assert_int_equal(matches < 0, lr_job_failed(&job)); /* a failure has words, and success has none */
    lr_matcher_free(matcher);
    lr_template_free(made);
    lr_regex_free(regex);
    (void)lr_job_end(&job);
    (void)snprintf(error, error_room, "%s", matches < 0 ? rec_error_message() : "");
    return matches;
}

/* ----------------------------------------------------------------------------------------------------- results -- */

typedef struct result {
    const char *pattern, *text, *replacement, *expected;
} result;

static const result results[] = {
    /* rules of real profiles */
    {"(.*)norm\\.weight", "layers.0.norm.weight", "${1}norm.gamma", "layers.0.norm.gamma"},
    {"(layers\\.[0-9]+)\\.self_attn\\.([kqvo])_proj\\.(.+)", "model.layers.12.self_attn.q_proj.weight",
     "$1.attention.w$2.$3", "model.layers.12.attention.wq.weight"},
    {"^(?:bert|roberta)\\.(.+)", "roberta.pooler", "$1", "pooler"},
    {"model\\.", "text_model.x", "", "text_x"},
    {"layer\\.ffn\\b", "layer.ffn.weight", "layer.pwff", "layer.pwff.weight"},
    {"layer\\.ffn\\b", "layer.ffn_output", "layer.pwff", "layer.ffn_output"},
    {"features\\.(0|18)\\.0.(.+)", "features.18.0.weight", "features.$1.conv.$2", "features.18.conv.weight"},
    {"_ih_(l[0-9]+(?:_reverse)?)$", "x_ih_l0_reverse", ".$1", "x.l0_reverse"},
    /* replacements */
    {"(a)(b)", "ab", "$2$1", "ba"},
    {"(a)(b)", "ab", "$1_$2", "b"},
    {"(a)(b)", "ab", "${1}_$2", "a_b"},
    {"(a)", "a", "$1a", ""},
    {"(a)", "a", "$$1", "$1"},
    {"(a)", "a", "$", "$"},
    {"(a)", "a", "$-", "$-"},
    {"(a)", "a", "${1", "${1"},
    {"(a)", "a", "${}x", "x"},
    {"(a)", "a", "${+1}", "a"},
    {"(a)", "a", "\\1", "\\1"},
    {"(a)", "a", "$0$0", "aa"},
    {"(a)", "a", "$7.${nope}.$nope", ".."},
    {"(a)", "a", "$99999999999999999999", ""},
    {"(?P<x>a)(?<y.z[0]>b)", "ab", "$x${y.z[0]}", "ab"},
    {"(a)|(b)", "ab", "[$1|$2]", "[a|][|b]"},
    {"(a){0}b", "b", "<$1>", "<>"},
    {"((a)|b)*", "ab", "<$1$2>", "<ba>"},
    {"a", "a", "%", "%"},
    /* empty matches */
    {"x*", "axb", "-", "-a-b-"},
    {"", "a\xC3\xA9", "-", "-a-\xC3\xA9-"},
    {"a*", "baaac", "<$0>", "<>b<aaa>c<>"},
    {"a||b", "ab", "-", "-b-"},
    {"()", "ab", "-", "-a-b-"},
    {"$", "a\n", "-", "a\n-"},
    /* anchors */
    {"^a", "aa", "-", "-a"},
    {"\\Aa\\z", "a\n", "-", "a\n"},
    {"(?m)^", "a\nb\n", ">", ">a\n>b\n>"},
    {"(?m)$", "a\nb\n", "<", "a<\nb<\n<"},
    {"\\b", "ab c", "|", "|ab| |c|"},
    {"\\B", "ab", "|", "a|b"},
    {"\\b", "e\xCC\x81 \xD9\xA3", "|", "|e\xCC\x81| |\xD9\xA3|"},
    /* classes */
    {".", "a\n\r", "-", "-\n-"},
    {"(?s).", "a\n", "-", "--"},
    {"\\d", "5\xD9\xA3x", "-", "--x"},
    {"\\D", "5\xD9\xA3x", "-", "5\xD9\xA3-"},
    {"\\w", "e\xCC\x81_\xE2\x80\x8D-", ".", "....-"},
    {"\\s", "\x0B\xC2\x85\xE1\xA0\x8E", "-", "--\xE1\xA0\x8E"},
    {"\\v", "\n\x0B", "-", "\n-"},
    {"[^\\W\\d]", "a1\xC3\xA9.", "-", "-1-."},
    {"[\\W_]", "a_.\xC3\xA9", "-", "a--\xC3\xA9"},
    {"[^\\W]", "a_.\xC3\xA9", "-", "--.-"},
    {"[\\W]", "a_.\xC3\xA9", "-", "a_-\xC3\xA9"},
    {"[^\\D5]", "45\xD9\xA3x", "-", "-5-x"},
    {"[\\S ]", "a \t", "-", "--\t"},
    {"[^\\W\\S]x|[\\W\\w]", "ab", "-", "--"},
    {"\\W+", "a..\xC3\xA9", "-", "a-\xC3\xA9"},
    {"[]a]", "]a", "-", "--"},
    {"[^]a]", "]ab", "-", "]a-"},
    {"[-a]", "-a", ".", ".."},
    {"[a-]", "-a", ".", ".."},
    {"[.]", "a.", "-", "a-"},
    /* escapes */
    {"\\x41\\x{42}\\u0043\\u{44}\\U00000045", "ABCDE", "-", "-"},
    {"\\a\\f\\n\\r\\t", "\a\f\n\r\t", "-", "-"},
    {"\\.\\-\\%\\/\\#\\_", ".-%/#_", "-", "-"},
    {"a{2}b{1,}c{0,1}d{ 1 , 2 }", "aabd", "-", "-"},
    {"}]", "}]", "-", "-"},
    /* flags */
    {"(?i)k", "kK\xE2\x84\xAA", "-", "---"},
    {"(?i)[k]", "kK\xE2\x84\xAA", "-", "---"},
    {"(?i)[^k]", "kK\xE2\x84\xAAx", "-", "kK\xE2\x84\xAA-"},
    {"(?i)\xC3\x89", "\xC3\xA9\xC3\x89", "-", "--"},
    {"a(?i)b|c", "aBC", "-", "--"},
    {"(?i:a)b", "AbAB", "-", "-AB"},
    {"(?i)a(?-i)b", "AbAB", "-", "-AB"},
    /* repetitions */
    {"a++", "aab", "-", "-b"},
    {"x**", "xxa", "-", "-a-"},
    {"a??b", "ab", "-", "-"},
    {"(a+?)(a*)", "aaa", "$1.$2", "a.aa"},
    {"a|ab", "ab", "-", "-b"},
    {"(?:a?){2,}", "aaab", "-", "-b-"},
    /* alternatives that begin alike in one way alone */
    {"(.*)a|(.*)b", "xaxb", "<$1$2>", "<x><x>"},
    {"[a-x]*a|[a-y]*b", "xaxb", "-", "--"},
    {"[a-x]*a|[a-x0]*b", "xaxb", "-", "--"},
    {"[^0-9]*a|[^0-8]*b", "xaxb", "-", "--"},
    {"[a-x]*a|[^0-9]*b", "xaxb", "-", "--"},
    {".*?a|.*b", "xbxa", "-", "-"},
    {".{0,3}a|.{0,4}b", "xaxb", "-", "--"},
    {".{1,3}a|.{0,3}b", "xaxb", "-", "--"},
    {"\\b.*a|\\B.*b", "xaxb", "-", "--"},
};

static void rules_give_what_rusts_engine_gives(void **state)
{
    char text[256], error[2048];
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        const result *r = &results[i];
        int64_t matches = apply(r->pattern, r->replacement, r->text, text, sizeof text, error, sizeof error);
        if (matches < 0 || strcmp(text, r->expected) != 0) {
            print_error("%s on %s by %s: expected %s, found %s\n", r->pattern, r->text, r->replacement, r->expected,
                        matches < 0 ? error : text);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* ---------------------------------------------------------------------------------------------------- refusals -- */

static const struct {
    const char *pattern;
    unsigned character;
    const char *words;
} refusals[] = {
    {"a(?=b)", 2,
     "look-ahead `(?=` is not part of Rust's regex syntax, which rules are written in: put what follows "
     "into a group and write it into the replacement again"},
    {"a(?!b)", 2,
     "look-ahead `(?!` is not part of Rust's regex syntax, which rules are written in: write a rule before this one "
     "for the excluded keys, or list what may follow"},
    {"(?<=a)b", 1,
     "look-behind `(?<=` is not part of Rust's regex syntax, which rules are written in: put what comes "
     "before into a group and write it into the replacement again"},
    {"(?<!a)b", 1,
     "look-behind `(?<!` is not part of Rust's regex syntax, which rules are written in: write a rule before this one "
     "for the excluded keys, or list what may come before"},
    {"(?>a)", 1, "the atomic group `(?>` is not part of Rust's regex syntax, which rules are written in: write `(?:`"},
    {"(?|a)", 1,
     "the group `(?|` is not part of Rust's regex syntax, which rules are written in: give each "
     "alternative groups of its own and write all of them into the replacement: those that took no part "
     "are empty"},
    {"(?#a)", 1,
     "the comment `(?#` is not part of Rust's regex syntax, which rules are written in: leave it out, or "
     "write `(?x)` at the beginning and `# …` at the end"},
    {"(?P=n)", 1,
     "the back-reference `(?P=` is not part of Rust's regex syntax, which rules are written in: write out "
     "what the group may match once more"},
    {"(?P>n)", 1,
     "the call `(?P>` is not part of Rust's regex syntax, which rules are written in: write out what the "
     "group may match once more"},
    {"(?&n)", 1,
     "the call `(?&` is not part of Rust's regex syntax, which rules are written in: write out what the "
     "group may match once more"},
    {"(?(1)a)", 1,
     "the condition `(?(` is not part of Rust's regex syntax, which rules are written in: write "
     "alternatives, `(?:a|b)`"},
    {"(?'n'a)", 1, "the name `(?'` is not part of Rust's regex syntax, which rules are written in: write `(?<name>`"},
    {"(*UTF)a", 1,
     "`(*` is not part of Rust's regex syntax, which rules are written in: write `\\*` for the character "
     "itself"},
    {"(a)\\1", 4,
     "the back-reference `\\1` is not part of Rust's regex syntax, which rules are written in: write out "
     "what the group may match once more"},
    {"\\07", 1, "the octal escape `\\0` is not part of Rust's regex syntax, which rules are written in: write `\\x00`"},
    {"a\\Z", 2,
     "`\\Z` is not part of Rust's regex syntax, which rules are written in: write `\\z` for the end of "
     "the text"},
    {"\\Ga", 1,
     "`\\G` is not part of Rust's regex syntax, which rules are written in: leave it out: a search continues where the "
     "last match ended"},
    {"a\\Kb", 2,
     "`\\K` is not part of Rust's regex syntax, which rules are written in: put what it keeps into a "
     "group, `(…)`, and write the group into the replacement"},
    {"\\Qa.b\\E", 1,
     "`\\Q` is not part of Rust's regex syntax, which rules are written in: write a `\\` before each special "
     "character"},
    {"\\R", 1, "`\\R` is not part of Rust's regex syntax, which rules are written in: write `(?:\\r\\n|\\n|\\r)`"},
    {"\\h", 1, "`\\h` is not part of Rust's regex syntax, which rules are written in: write `[ \\t]`"},
    {"\\N", 1, "`\\N` is not part of Rust's regex syntax, which rules are written in: write `.`"},
    {"\\X", 1, "`\\X` is not part of Rust's regex syntax, which rules are written in: write `.`"},
    {"\\cA", 1,
     "`\\c` is not part of Rust's regex syntax, which rules are written in: write the character as `\\x` "
     "and two digits"},
    {"\\é", 1,
     "`\\é` is not part of Rust's regex syntax, which rules are written in: write `é` for the character "
     "itself"},
    {"\\y", 1,
     "`\\y` is not part of Rust's regex syntax, which rules are written in: write `y` for the character "
     "itself"},
    {"\\", 1, "nothing follows the `\\`: write `\\\\` for the character itself"},
    {"a**?*|*", 7, "nothing stands before the `*` that it could repeat: write `\\*` for the character itself"},
    {"+a", 1, "nothing stands before the `+` that it could repeat: write `\\+` for the character itself"},
    {"a|?", 3, "nothing stands before the `?` that it could repeat: write `\\?` for the character itself"},
    {"(?i)*", 5, "nothing stands before the `*` that it could repeat: write `\\*` for the character itself"},
    {"{2}", 1, "nothing stands before the `{` that it could repeat: write `\\{` for the character itself"},
    {"a{2", 2, "expected a number of repetitions, `{2}`, `{2,}` or `{2,5}`: write `\\{` for the character itself"},
    {"a{x}", 2, "expected a number of repetitions, `{2}`, `{2,}` or `{2,5}`: write `\\{` for the character itself"},
    {"a{,3}", 2, "expected a number of repetitions, `{2}`, `{2,}` or `{2,5}`: write `\\{` for the character itself"},
    {"a{2,1}", 2, "the repetition goes backwards: at least 2 times, at most 1"},
    {"a{4294967296}", 13, "the number of repetitions is too large"},
    {"(a", 1, "the group that begins here has no end: write `)`"},
    {"a)", 2, "no group is open that the `)` could close: write `\\)` for the character itself"},
    {"(?", 3, "the group has no end: write `)`"},
    {"(?i", 4, "the group has no end: write `)`"},
    {"(?y)", 3, "`y` is not a flag of a group: the flags are i, m and s"},
    {"(?ii)", 4, "the flag `i` occurs twice"},
    {"(?i-)", 5, "expected a flag after the `-`"},
    {"(?--i)", 4, "the flag `-` occurs twice"},
    {"(?)", 1, "the group `(?)` has neither flags nor contents"},
    {"(?<>a)", 4, "expected the name of a group and `>`"},
    {"(?<1a>b)", 4,
     "the name of a group is up to 64 letters of ASCII, digits, `_`, `.`, `[` and `]`, the first a letter or `_`"},
    {"(?<a", 4, "expected the name of a group and `>`"},
    {"(?<n>a)(?<n>b)", 11, "another group is called `n`"},
    {"[a", 1, "the class that begins here has no end: write `]`, or `\\[` for the character itself"},
    {"[", 1, "the class that begins here has no end: write `]`, or `\\[` for the character itself"},
    {"[z-a]", 2, "the range goes backwards: its first character comes after its last"},
    {"[a-\\d]", 4, "a range goes from one character to another, `a-z`: write `\\-` for the character `-`"},
    {"[\\b]", 2, "`\\b` is not a character: it cannot stand in a class"},
    {"\\x4", 1, "the escape that begins here has no end: write `\\x41` or `\\x{41}`"},
    {"\\x{}", 1, "the escape that begins here is not a character of Unicode"},
    {"\\x{110000}", 1, "the escape that begins here is not a character of Unicode"},
    {"\\x{d800}", 1, "the escape that begins here is not a character of Unicode"},
    {"\\xZZ", 3, "expected a hexadecimal digit of `\\x`"},
    {"(a{1000}){1000}", 1, "its repetitions make it too large, as they do for Rust's engine: write fewer"},
    {"(?:a{60000}){2}b{70000}", 1, "its repetitions make it too large, as they do for Rust's engine: write fewer"},
    {"é[z-a]", 3, "the range goes backwards: its first character comes after its last"},
    {".*a|.*b", 1,
     "the alternatives begin with the same part, which can match in several ways: write this part once, before a group "
     "of the rest, `.*(?:a|b)`"},
    {".*ax|.*ay", 1,
     "the alternatives begin with the same part, which can match in several ways: write this part once, before a group "
     "of the rest, `.*(?:a|b)`"},
    {"[a-x]*a|[a-x]*b", 1,
     "the alternatives begin with the same part, which can match in several ways: write this part once, before a group "
     "of the rest, `.*(?:a|b)`"},
    {"[^0-9]*a|[^0-9]*b", 1,
     "the alternatives begin with the same part, which can match in several ways: write this part once, before a group "
     "of the rest, `.*(?:a|b)`"},
    {".*?a|.*?b", 1,
     "the alternatives begin with the same part, which can match in several ways: write this part once, before a group "
     "of the rest, `.*(?:a|b)`"},
    {".{0,3}a|.{0,3}b", 1,
     "the alternatives begin with the same part, which can match in several ways: write this part once, before a group "
     "of the rest, `.*(?:a|b)`"},
    {"(?:..)*a|(?:..)*b", 1,
     "the alternatives begin with the same part, which can match in several ways: write this part once, before a group "
     "of the rest, `.*(?:a|b)`"},
    {"(?:x|a)*a|(?:x|a)*b", 1,
     "the alternatives begin with the same part, which can match in several ways: write this part once, before a group "
     "of the rest, `.*(?:a|b)`"},
    {"\\b.*a|\\b.*b", 1,
     "the alternatives begin with the same part, which can match in several ways: write this part once, before a group "
     "of the rest, `.*(?:a|b)`"},
    {"x*[0-9]+y*a|x*[0-9]+y*b", 1,
     "the alternatives begin with the same part, which can match in several ways: write this part once, before a group "
     "of the rest, `.*(?:a|b)`"},
    {".*1+.a|.*1+.b|.*1+.c", 1,
     "the alternatives begin with the same part, which can match in several ways: write this part once, before a group "
     "of the rest, `.*(?:a|b)`"},
    {"(?:.*1a|.*1b)|.*1c", 4,
     "the alternatives begin with the same part, which can match in several ways: write this part once, before a group "
     "of the rest, `.*(?:a|b)`"},
    {"(?:.*1){1}a|.*1b", 1,
     "the alternatives begin with the same part, which can match in several ways: write this part once, before a group "
     "of the rest, `.*(?:a|b)`"},
    {"(?:a)b.*x|ab.*y", 1,
     "the alternatives begin with the same part, which can match in several ways: write this part once, before a group "
     "of the rest, `.*(?:a|b)`"},
    {"(?i)(?:.*a|.*b)", 8,
     "the alternatives begin with the same part, which can match in several ways: write this part once, before a group "
     "of the rest, `.*(?:a|b)`"},
    {"(a*)*", 1,
     "what is repeated without a limit may match the empty text, and has groups or tries that first: repeat what is "
     "never empty"},
    {"(a*)+", 1,
     "what is repeated without a limit may match the empty text, and has groups or tries that first: repeat what is "
     "never empty"},
    {"(|a)*", 1,
     "what is repeated without a limit may match the empty text, and has groups or tries that first: repeat what is "
     "never empty"},
    {"(|a)+", 1,
     "what is repeated without a limit may match the empty text, and has groups or tries that first: repeat what is "
     "never empty"},
    {"(?:b||a)*", 1,
     "what is repeated without a limit may match the empty text, and has groups or tries that first: repeat what is "
     "never empty"},
    {"(a*){2,}", 1,
     "what is repeated without a limit may match the empty text, and has groups or tries that first: repeat what is "
     "never empty"},
    {"(?:a*?b?)*", 1,
     "what is repeated without a limit may match the empty text, and has groups or tries that first: repeat what is "
     "never empty"},
    {"(?-u).", 4, "the flag `u` is not supported: the flags are i, m and s"},
    {"(?x)a", 3, "the flag `x` is not supported: the flags are i, m and s"},
    {"(?mR)^", 4, "the flag `R` is not supported: the flags are i, m and s"},
    {"(?U)a+", 3, "the flag `U` is not supported: the flags are i, m and s"},
    {"\\p", 1, "the Unicode property `\\p` is not supported: write `\\w`, `\\d`, `\\s` or the characters themselves"},
    {"a\\p{Greek}", 2,
     "the Unicode property `\\p` is not supported: write `\\w`, `\\d`, `\\s` or the characters themselves"},
    {"[\\PL]", 2,
     "the Unicode property `\\P` is not supported: write `\\w`, `\\d`, `\\s` or the characters themselves"},
    {"\\b{start}", 1, "the word boundary `\\b{…}` is not supported: write `\\b`"},
    {"\\b{", 1, "the word boundary `\\b{…}` is not supported: write `\\b`"},
    {"\\<a", 1, "the word boundary `\\<` is not supported: write `\\b`"},
    {"a\\>", 2, "the word boundary `\\>` is not supported: write `\\b`"},
    {"[a-c&&b]", 5,
     "the operator `&&` between classes is not supported: write the characters of the result, or `\\&` for the "
     "character itself"},
    {"[\\w--\\d]", 4,
     "the operator `--` between classes is not supported: write the characters of the result, or `\\-` for the "
     "character itself"},
    {"[a~~b]", 3,
     "the operator `~~` between classes is not supported: write the characters of the result, or `\\~` for the "
     "character itself"},
    {"[[:alpha:]]", 2,
     "a class in a class, such as `[:alpha:]`, is not supported: write its characters, or `\\[` for the character "
     "itself"},
    {"[a[b-c]]", 3,
     "a class in a class, such as `[:alpha:]`, is not supported: write its characters, or `\\[` for the character "
     "itself"},
    {"(?i)[é]", 5,
     "a class of `(?i)` with characters beyond ASCII is not supported: write both cases of each without `(?i)`"},
    {"(?<é>a)", 4,
     "the name of a group is up to 64 letters of ASCII, digits, `_`, `.`, `[` and `]`, the first a letter or `_`"},
};

static void what_rust_refuses_is_refused_in_these_words(void **state)
{
    char text[256], error[2048], expected[2048];
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        (void)snprintf(expected, sizeof expected, "rule 2: the pattern `%s`, character %u: %s", refusals[i].pattern,
                       refusals[i].character, refusals[i].words);
        if (apply(refusals[i].pattern, "-", "a", text, sizeof text, error, sizeof error) >= 0 ||
            strcmp(error, expected) != 0) {
            print_error("expected %s\nfound    %s\n", expected, error);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* Compiles, and gives the message where it is refused. */
static rec_status compile(const char *pattern, const lr_location *where)
{
    rec_job job;
    lr_job_begin(&job, context, "load", NULL);
    lr_regex_free(lr_regex_new(&job, pattern, where));
    return lr_job_end(&job);
}

static void a_refusal_says_where_the_rule_stands(void **state)
{
    (void)state;
    assert_int_equal(compile("a(?=b)", &place), REC_E_ARGUMENT);
    assert_memory_equal(rec_error_message(), "rule 2: the pattern `a(?=b)`", 28);
    assert_int_equal(compile("[", &in_file), REC_E_CONFIG);
    assert_string_equal(
        rec_error_message(),
        "rules.ini: line 7: [profile x]: the pattern `[`, character 1: the class that begins here has no "
        "end: write `]`, or `\\[` for the character itself");
    assert_int_equal(compile("\xFF", &place), REC_E_ARGUMENT);
    assert_string_equal(rec_error_message(), "rule 2: the pattern is not UTF-8 at its byte 1");
}

static void a_long_pattern_is_shown_around_the_mistake(void **state)
{
    char pattern[1024];
    (void)state;
    memset(pattern, 'a', sizeof pattern);
    memcpy(pattern + 500, "\n(?=b)", 6);
    pattern[1000] = '\0';
    assert_int_equal(compile(pattern, &place), REC_E_ARGUMENT);
    assert_non_null(strstr(rec_error_message(), "rule 2: the pattern `...aaaaaa"));
    assert_non_null(strstr(rec_error_message(), "aaa (?=b)aaa"));
    assert_non_null(strstr(rec_error_message(), "aaa...`, character 502: look-ahead"));
    assert_null(strchr(rec_error_message(), '\n'));
    assert_true(strlen(rec_error_message()) < 500);
}

/* ------------------------------------------------------------------------------------------------ replacements -- */

static const struct {
    const char *pattern, *replacement, *words; /* `words` behind "rule 2: the replacement `…`: " */
} doubts[] = {
    {"(a)", "$1x",
     "`$1x` is the group called `1x`, which the pattern lacks, so it is empty: write `${1}x` for group 1 and `x`"},
    {"(.*)norm\\.weight", "$1norm.gamma",
     "`$1norm` is the group called `1norm`, which the pattern lacks, so it is empty: write `${1}norm` for group 1 and "
     "`norm`"},
    {"(a)", "$1_2.b",
     "`$1_2` is the group called `1_2`, which the pattern lacks, so it is empty: write `${1}_2` for group 1 and `_2`"},
    {"(?<n>a)", "$nx",
     "`$nx` is the group called `nx`, which the pattern lacks, so it is empty: write `${n}x` for group n and `x`"},
    {"(a)", "$2", "`$2` is empty: the pattern has 1 group; write `$$` for a dollar sign"},
    {"a", "$1", "`$1` is empty: the pattern has 0 groups; write `$$` for a dollar sign"},
    {"(a)", "${x}", "`${x}` is empty: the pattern has no group of that name; write `$$` for a dollar sign"},
    {"(a)", "${1x}", "`${1x}` is empty: the pattern has no group of that name; write `$$` for a dollar sign"},
    {"(a)", "${}", "`${}` is empty: the pattern has no group of that name; write `$$` for a dollar sign"},
    {"(a)", "b\\1", "`\\1` is text, not a group: write `$1`"},
    {"(a)", "\\1_b", "`\\1` is text, not a group: write `${1}`"}};

static void a_group_that_the_pattern_lacks_is_noted_or_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof doubts / sizeof *doubts; i++) {
        for (int strict = 0; strict < 2; strict++) {
            char expected[512];
            const rec_note *note;
            rec_job job;
            lr_regex *regex;
            lr_template *made;
            (void)snprintf(expected, sizeof expected, "rule 2: the replacement `%s`: %s", doubts[i].replacement,
                           doubts[i].words);
            lr_job_begin(&job, context, "load", NULL);
            regex = lr_regex_new(&job, doubts[i].pattern, &place);
            made = lr_template_new(&job, doubts[i].replacement, regex, strict, &place);
            assert_int_equal(made == NULL, strict);
            lr_template_free(made);
            lr_regex_free(regex);
            assert_int_equal(lr_job_end(&job), strict ? REC_E_ARGUMENT : REC_OK);
            if (strict) {
                assert_string_equal(rec_error_message(), expected);
                continue;
            }
            note = rec_report_note(0);
            assert_non_null(note);
            assert_int_equal(note->kind, REC_NOTE_RULE);
            assert_string_equal(note->text, expected);
            assert_int_equal(rec_report_count(), 1);
        }
    }
}

static void what_is_meant_is_not_noted(void **state)
{
    static const char *const fine[] = {"$1", "${1}x", "$1.x", "$$1", "$0",  "$n", "${n}",
                                       "$",  "a$",    "$-",   "${1", "\\n", "%"};
    rec_job job;
    lr_regex *regex;
    (void)state;
    lr_job_begin(&job, context, "load", NULL);
    regex = lr_regex_new(&job, "(?<n>a)", &place);
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        lr_template *made = lr_template_new(&job, fine[i], regex, true, &place);
        assert_non_null(made);
        lr_template_free(made);
    }
    lr_regex_free(regex);
    assert_int_equal(job.notes, 0);
    assert_int_equal(lr_job_end(&job), REC_OK);
}

static void a_replacement_is_known_by_its_pieces(void **state)
{
    rec_job job;
    uint32_t count;
    const lr_template_piece *pieces;
    lr_regex *regex;
    lr_template *made;
    (void)state;
    lr_job_begin(&job, context, "load", NULL);
    regex = lr_regex_new(&job, "(a)(?<n>b)(c)", &place);
    made = lr_template_new(&job, "x$$y${n}$1", regex, true, &place);
    assert_non_null(made);
    pieces = lr_template_pieces(made, &count);
    assert_int_equal(count, 4);
    assert_memory_equal(pieces[0].text, "x$", pieces[0].length);
    assert_memory_equal(pieces[1].text, "y", pieces[1].length);
    assert_null(pieces[2].text);
    assert_int_equal(pieces[2].group, 2);
    assert_int_equal(pieces[3].group, 1);
    assert_true(lr_template_uses(made, 1) && lr_template_uses(made, 2));
    assert_false(lr_template_uses(made, 3) || lr_template_uses(made, 0));
    lr_template_free(made);
    lr_regex_free(regex);
    assert_int_equal(lr_job_end(&job), REC_OK);
}

/* ---------------------------------------------------------------------------------------------------- matching -- */

static void a_quoted_key_matches_itself_alone(void **state)
{
    static const char *const keys[] = {"layers.0.weight", "a-b_c\\d", "größe.$1+(x)"};
    char pattern[64], made[64], error[256];
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_true(lr_regex_quote(keys[i], strlen(keys[i]), pattern, sizeof pattern));
        assert_int_equal(apply(pattern, "-", keys[i], made, sizeof made, error, sizeof error), 1);
        assert_string_equal(made, "-");
        assert_int_equal(apply(pattern, "-", "layersX0Xweight", made, sizeof made, error, sizeof error), 0);
    }
    assert_false(lr_regex_quote(keys[0], strlen(keys[0]), pattern, 8));
}

static void a_match_has_its_groups_and_is_expanded_with_parts(void **state)
{
    const char *text = "x.qkv.bias";
    size_t begin = 0, end = 0, length = 0;
    rec_job job;
    lr_regex *regex;
    lr_template *made;
    lr_matcher *matcher;
    (void)state;
    lr_job_begin(&job, context, "load", NULL);
    regex = lr_regex_new(&job, "(.*)\\.qkv\\.(?:(?<w>weight)|(?<b>bias))$", &place);
    made = lr_template_new(&job, "%.$1.%_proj.$w$b", regex, true, &place);
    matcher = lr_matcher_new(&job);
    assert_int_equal(lr_regex_groups(regex), 3);
    assert_int_equal(lr_regex_group(regex, "b", 1), 3);
    assert_int_equal(lr_regex_group(regex, "bx", 1), 3);
    assert_int_equal(lr_regex_group(regex, "x", 1), 0);
    assert_string_equal(lr_regex_pattern(regex), "(.*)\\.qkv\\.(?:(?<w>weight)|(?<b>bias))$");
    assert_false(lr_match_group(matcher, 0, &begin, &end)); /* nothing was matched yet */
    assert_int_equal(lr_regex_match(&job, regex, matcher, text, strlen(text)), 1);
    assert_true(lr_match_group(matcher, 1, &begin, &end) && begin == 0 && end == 1);
    assert_false(lr_match_group(matcher, 2, &begin, &end));
    assert_true(lr_match_group(matcher, 3, &begin, &end) && begin == 6 && end == 10);
    assert_false(lr_match_group(matcher, 4, &begin, &end));
    assert_int_equal(lr_match_expand(&job, matcher, text, made, "q"), REC_OK);
    assert_int_equal(lr_match_expand(&job, matcher, text, made, NULL), REC_OK);
    assert_string_equal(lr_matcher_output(matcher, &length), "q.x.q_proj.bias%.x.%_proj.bias");
    assert_int_equal(length, 30);
    lr_matcher_clear(matcher);
    assert_string_equal(lr_matcher_output(matcher, &length), "");
    assert_int_equal(lr_regex_match(&job, regex, matcher, "x.qkv.bia", 9), 0);
    assert_false(lr_match_group(matcher, 0, &begin, &end));
    lr_matcher_free(matcher);
    lr_template_free(made);
    lr_regex_free(regex);
    assert_int_equal(lr_job_end(&job), REC_OK);
}

static void a_result_goes_through_the_next_rule(void **state)
{
    static const char *const rules[][2] = {{"a", "bb"}, {"x", "never"}, {"b", "cc"}, {"c$", ""}, {"^", "<"}};
    const char *text = "a.a";
    size_t length = 3;
    rec_job job;
    lr_matcher *matcher;
    (void)state;
    lr_job_begin(&job, context, "load", NULL);
    matcher = lr_matcher_new(&job);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        lr_regex *regex = lr_regex_new(&job, rules[i][0], &place);
        lr_template *made = lr_template_new(&job, rules[i][1], regex, true, &place);
        if (lr_regex_replace(&job, regex, matcher, text, length, made) > 0) {
            text = lr_matcher_output(matcher, &length);
        }
        lr_template_free(made);
        lr_regex_free(regex);
    }
    assert_string_equal(text, "<cccc.ccc");
    lr_matcher_free(matcher);
    assert_int_equal(lr_job_end(&job), REC_OK);
}

/* A pattern's literals are looked for before it is searched: nothing may get lost by that. The same pattern as an
 * alternative to one that never matches has none. */
static void what_must_be_in_a_text_is_found_there(void **state)
{
    static const char *const patterns[] = {"^ab",       "ab$",       "^ab$",      "^abc?$", "x*abx*",   "(ab)+c",
                                           "(?:ab){0}", "(?:ab){2}", "(ab|b)c",   "(?i)ab", "^(?i)ab",  "a(?i:b)c",
                                           "(?m)^b",    "(?m)b$",    "a\\b",      "^a*",    "^(ab|c)$", "(?:)^ab",
                                           "(?:^ab)c",  "^ab|c",     "\xC3\xA9$", "^^ab$$"};
    static const char *const texts[] = {"",      "a",    "ab",  "abc", "AB",       "xabx",      "ab\nb", "bc",   "c",
                                        "b\nab", "abab", "aBc", "Abc", "\xC3\xA9", "x\xC3\xA9", "abb",   "ababc"};
    char plain[64], other[64], error[512], pattern[64];
    (void)state;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        (void)snprintf(pattern, sizeof pattern, "(?:%s|[^\\d\\D])", patterns[i]);
        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++) {
            int64_t matches = apply(patterns[i], "<$0>", texts[j], plain, sizeof plain, error, sizeof error);
            assert_int_equal(matches, apply(pattern, "<$0>", texts[j], other, sizeof other, error, sizeof error));
            assert_true(matches >= 0);
            assert_string_equal(plain, other);
        }
    }
}

static void a_pattern_is_a_tree(void **state)
{
    rec_job job;
    lr_regex *regex;
    const lr_re_node *tree;
    (void)state;
    lr_job_begin(&job, context, "load", NULL);
    regex = lr_regex_new(&job, "^(?i:ab)(?<n>[^.\\d]+?)(x|\\w)$", &place);
    tree = lr_regex_tree(regex);
    assert_int_equal(tree->kind, LR_RE_SEQUENCE);
    assert_int_equal(tree->count, 5);
    assert_int_equal(tree->nodes[0]->anchor, LR_RE_TEXT_START);
    assert_int_equal(tree->nodes[1]->kind, LR_RE_GROUP);
    assert_int_equal(tree->nodes[1]->group, 0);
    assert_true(tree->nodes[1]->nodes[0]->icase);
    assert_memory_equal(tree->nodes[1]->nodes[0]->text, "ab", 2);
    assert_int_equal(tree->nodes[2]->group, 1);
    assert_string_equal(tree->nodes[2]->name, "n");
    tree = tree->nodes[2]->nodes[0];
    assert_int_equal(tree->kind, LR_RE_REPEAT);
    assert_true(tree->lazy && tree->least == 1 && tree->most == LR_RE_UNLIMITED);
    assert_int_equal(lr_re_set_has(tree->nodes[0]->set, 'a'), 1);
    assert_int_equal(lr_re_set_has(tree->nodes[0]->set, '5'), 0);
    assert_int_equal(lr_re_set_has(tree->nodes[0]->set, '.'), 0);
    assert_int_equal(lr_re_set_has(tree->nodes[0]->set, 0xE9), -1);
    tree = lr_regex_tree(regex)->nodes[3];
    assert_int_equal(tree->group, 2);
    assert_int_equal(tree->nodes[0]->kind, LR_RE_CHOICE);
    assert_int_equal(tree->begin, 22);
    assert_int_equal(tree->end, 28);
    lr_regex_free(regex);
    assert_int_equal(lr_job_end(&job), REC_OK);
}

/* ------------------------------------------------------------------------------------------------------ limits -- */

/* A pattern on `count` times a character and an end. @return matches or -1. */
static int64_t hang(const char *pattern, size_t count, const char *end)
{
    char *text = malloc(count + strlen(end) + 1);
    int64_t matches;
    rec_job job;
    lr_regex *regex;
    lr_template *made;
    lr_matcher *matcher;
    assert_non_null(text);
    memset(text, 'a', count);
    memcpy(text + count, end, strlen(end) + 1);
    lr_job_begin(&job, context, "load", NULL);
    regex = lr_regex_new(&job, pattern, &place);
    made = lr_template_new(&job, "", regex, true, &place);
    matcher = lr_matcher_new(&job);
    memory.most = memory.now;
    matches = lr_regex_replace(&job, regex, matcher, text, strlen(text), made);
    assert_true(memory.most < 64 << 20);
    lr_matcher_free(matcher);
    lr_template_free(made);
    lr_regex_free(regex);
    (void)lr_job_end(&job);
    free(text);
    return matches;
}

static void no_pattern_hangs(void **state)
{
    (void)state;
    assert_int_equal(hang("(a+)+$", 31, "!"), -1);
    assert_int_equal(rec_error_status(), REC_E_LIMIT);
    assert_string_equal(
        rec_error_message(),
        "rule 2: the pattern `(a+)+$` takes more than 100,000 steps on \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\": "
        "write it so that no two parts of it can match the same characters, such as `[^.]+` for `.+`");
    assert_int_equal(hang("(a|aa)+$", 60000, "!"), -1);
    assert_int_equal(rec_error_status(), REC_E_LIMIT);
    assert_int_equal(hang("(?:a|b)*c", 3000, "cx"), 1);
    assert_int_equal(hang("(?:(?:(?:(?:(?:a+)+)+)+)+)+[bc]", 100, ""), -1);
    /* What is only slow is done: each beginning of a key, to its end. */
    assert_int_equal(hang("(.+)\\.[xy]", 700, ".z"), 0);
    assert_int_equal(hang("a", 60000, ""), 60000);
}

static void a_text_beyond_all_keys_is_refused(void **state)
{
    (void)state;
    assert_int_equal(hang("a", 70000, ""), -1);
    assert_int_equal(rec_error_status(), REC_E_LIMIT);
    assert_non_null(strstr(rec_error_message(), "has 70,000 bytes: rules are for keys of up to 65,536"));
}

static void a_key_does_not_grow_without_end(void **state)
{
    char replacement[401];
    char *text = malloc(60001);
    rec_job job;
    lr_regex *regex;
    lr_template *made;
    lr_matcher *matcher;
    (void)state;
    assert_non_null(text);
    memset(text, 'a', 60000);
    memset(text + 59900, 'b', 100);
    for (int i = 0; i < 400; i += 2) {
        memcpy(replacement + i, "$0", 3);
    }
    lr_job_begin(&job, context, "load", NULL);
    /* Nothing after the limit is matched: the end of the key takes too many steps. */
    regex = lr_regex_new(&job, "a|(b+)+c", &place);
    made = lr_template_new(&job, replacement, regex, true, &place);
    matcher = lr_matcher_new(&job);
    assert_int_equal(lr_regex_replace(&job, regex, matcher, text, 60000, made), -1);
    lr_matcher_free(matcher);
    lr_template_free(made);
    lr_regex_free(regex);
    free(text);
    assert_int_equal(lr_job_end(&job), REC_E_LIMIT);
    assert_string_equal(rec_error_message(), "a rule makes a key of more than 1,048,576 bytes");
}

static void a_text_that_is_not_utf8_is_an_error(void **state)
{
    rec_job job;
    lr_regex *regex;
    lr_matcher *matcher;
    (void)state;
    lr_job_begin(&job, context, "load", NULL);
    regex = lr_regex_new(&job, "a.", &place);
    matcher = lr_matcher_new(&job);
    assert_int_equal(lr_regex_match(&job, regex, matcher, "a\xFF", 2), -1);
    lr_matcher_free(matcher);
    lr_regex_free(regex);
    assert_int_equal(lr_job_end(&job), REC_E_FORMAT);
    assert_string_equal(rec_error_message(), "rule 2: the pattern `a.` was tried on a text that is not UTF-8");
}

/* Patterns that grow when they are taken apart. `unit` is repeated up to 64 KiB. */
static void no_pattern_eats_memory(void **state)
{
    static const char *const units[] = {"a",
                                        "a.",
                                        "(",
                                        "(?:",
                                        "[",
                                        "[^",
                                        "a*",
                                        "*",
                                        "|",
                                        "a|",
                                        ".*a|",
                                        "[a&&",
                                        "\xC3\xA9--",
                                        "[\\w~~",
                                        "\\w",
                                        "\\pL",
                                        "(?i)\xC3\xA9[\xC3\xA9]",
                                        "[\\w&&\\d]",
                                        "(a)",
                                        "(?x: #\n",
                                        "{2}",
                                        "a{9}",
                                        "(?<n>",
                                        "(?i)\\pL",
                                        "()",
                                        "\\b",
                                        "a?",
                                        "(?:a?"};
    static const char *const more[] = {"(a{1000}){1000}", "((((((a{9}){9}){9}){9}){9}){9}){9}",
                                       "(?:\\w{99}){99}", "(?:(?:(?:a{0,99}){0,99}){0,99}){0,99}",
                                       "a{65535}",        "(?:ab){65535}",
                                       "\\w{65535}",      "(((((((a?){9}){9}){9}){9}){9}){9}){9}"};
    char *pattern = malloc(70000);
    (void)state;
    assert_non_null(pattern);
    for (size_t i = 0; i < sizeof units / sizeof *units + sizeof more / sizeof *more; i++) {
        size_t fixed = sizeof units / sizeof *units;
        const char *unit = i < fixed ? units[i] : more[i - fixed];
        size_t length = strlen(unit), used = 0;
        const char *head = i < fixed && strcmp(unit, "\xC3\xA9--") == 0 ? "[" : "";
        used = (size_t)snprintf(pattern, 70000, "%s", head);
        do {
            memcpy(pattern + used, unit, length + 1);
            used += length;
        } while (i < fixed && used + length <= 65536);
        memory.most = memory.now;
        (void)compile(pattern, &place); /* refused or not */
        if (memory.most > 128 << 20) {
            fail_msg("%s...: %zu bytes", unit, memory.most);
        }
    }
    memset(pattern, 'a', 65537);
    pattern[65537] = '\0';
    assert_int_equal(compile(pattern, &place), REC_E_ARGUMENT);
    assert_string_equal(rec_error_message(), "rule 2: the pattern is longer than 65,536 bytes");
    free(pattern);
}

static void levels_in_one_another_are_limited_as_in_rust(void **state)
{
    char pattern[1024];
    (void)state;
    for (size_t levels = 249; levels < 253; levels++) {
        memset(pattern, '(', levels);
        pattern[levels] = 'a';
        memset(pattern + levels + 1, ')', levels);
        pattern[2 * levels + 1] = '\0';
        assert_int_equal(compile(pattern, &place), levels <= 250 ? REC_OK : REC_E_ARGUMENT);
        memset(pattern, '*', levels + 1);
        pattern[0] = 'a';
        pattern[levels + 1] = '\0';
        assert_int_equal(compile(pattern, &place), levels <= 250 ? REC_OK : REC_E_ARGUMENT);
    }
    assert_non_null(strstr(rec_error_message(), "more than 250 levels in one another"));
}

/* ------------------------------------------------------------------------------------------------------ damage -- */

static const char nasty[] = "^(?P<a>x{ 2 ,3}?|\\x{e9}[^\\W\\d-]*)(?i-s:\\b[a-f\\D]+\xC3\xA9)?(?:a?\?){0,2}"
                            "\\u{41}?(?<b.c[0]>\\S|)[\\]\\-\\x41-\\x5a\xCE\xB1]$(?m)$^(?:\\w)?\\B?(a+)*";

static void every_part_of_a_pattern_is_read_or_refused(void **state)
{
    char part[sizeof nasty + 1], text[256], error[2048];
    size_t length = sizeof nasty - 1;
    (void)state;
    assert_true(apply(nasty, "$a$b", "xx\xC3\xA9\xCE\xB1", text, sizeof text, error, sizeof error) >= 0);
    for (size_t i = 0; i < length; i++) {
        (void)snprintf(part, sizeof part, "%.*s", (int)i, nasty); /* a prefix */
        (void)apply(part, "$a$b", "xx\xC3\xA9\xCE\xB1", text, sizeof text, error, sizeof error);
        (void)apply(nasty + i, "$a$b", "xx\xC3\xA9\xCE\xB1", text, sizeof text, error, sizeof error);
        memcpy(part, nasty, sizeof nasty); /* without a byte */
        memmove(part + i, part + i + 1, length - i);
        (void)apply(part, "$1$2", "xx", text, sizeof text, error, sizeof error);
        for (const char *c = "([]-\xFF"; *c; c++) { /* with another */
            memcpy(part, nasty, sizeof nasty);
            part[i] = *c;
            (void)apply(part, "$1", "xx", text, sizeof text, error, sizeof error);
        }
    }
}

static void any_text_is_a_pattern_or_refused(void **state)
{
    static const char alphabet[] = "ab\\()[]{}*+?^$.|&-~:=!<>P xiuUsmR019,#\n\xC3\xA9pLdwWzAbB";
    char pattern[32], text[256], error[2048];
    uint64_t seed = 12345;
    int compiled = 0;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        size_t length = 1 + (size_t)(seed >> 33) % 24;
        for (size_t j = 0; j < length; j++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            pattern[j] = alphabet[(seed >> 33) % (sizeof alphabet - 1)];
        }
        pattern[length] = '\0';
        compiled += apply(pattern, "$1", "ab\xC3\xA9 \n", text, sizeof text, error, sizeof error) >= 0;
    }
    assert_true(compiled > 500 && compiled < 19500);
}

static void memory_that_runs_out_is_told(void **state)
{
    char text[256], error[2048];
    size_t n = 0;
    int64_t matches = -1;
    (void)state;
    for (; matches < 0 && n < 5000; n++) {
        memory.left = n + 1;
        matches = apply("(?<n>[\xC3\xA0-\xC3\xBF]+|[^\\W\\d]{2}|.+a|x|.*b)[a-z-]", "${n}x$$y",
                        "\xC3\xA9"
                        "a-ab",
                        text, sizeof text, error, sizeof error);
        memory.left = 0;
        if (matches < 0 && !strstr(error, "out of memory")) {
            fail_msg("allocation %zu: %s", n + 1, error);
        }
    }
    assert_true(n > 20);
    assert_string_equal(text, "\xC3\xA9x$y-ax$y");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_give_what_rusts_engine_gives),
        cmocka_unit_test(what_rust_refuses_is_refused_in_these_words),
        cmocka_unit_test(a_refusal_says_where_the_rule_stands),
        cmocka_unit_test(a_long_pattern_is_shown_around_the_mistake),
        cmocka_unit_test(a_group_that_the_pattern_lacks_is_noted_or_refused),
        cmocka_unit_test(what_is_meant_is_not_noted),
        cmocka_unit_test(a_replacement_is_known_by_its_pieces),
        cmocka_unit_test(a_quoted_key_matches_itself_alone),
        cmocka_unit_test(a_match_has_its_groups_and_is_expanded_with_parts),
        cmocka_unit_test(a_result_goes_through_the_next_rule),
        cmocka_unit_test(what_must_be_in_a_text_is_found_there),
        cmocka_unit_test(a_pattern_is_a_tree),
        cmocka_unit_test(no_pattern_hangs),
        cmocka_unit_test(a_text_beyond_all_keys_is_refused),
        cmocka_unit_test(a_key_does_not_grow_without_end),
        cmocka_unit_test(a_text_that_is_not_utf8_is_an_error),
        cmocka_unit_test(no_pattern_eats_memory),
        cmocka_unit_test(levels_in_one_another_are_limited_as_in_rust),
        cmocka_unit_test(every_part_of_a_pattern_is_read_or_refused),
        cmocka_unit_test(any_text_is_a_pattern_or_refused),
        cmocka_unit_test(memory_that_runs_out_is_told),
    };
    return cmocka_run_group_tests_name("regex", tests, set_up, tear_down);
}
