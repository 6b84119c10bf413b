/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The value of a rule, taken apart. docs/reference/rules.md has the grammar.
 *
 * Patterns may hold nearly everything, so what separates them from the rest needs blanks on both sides: ` => ` before a
 * replacement, ` | ` before arguments, each time the first one. A pattern with such a thing inside writes \x20 for a
 * blank. */
#include "remap/rules/rules_private.h"

#include <stdio.h>
#include <string.h>

enum { PARTS_MOST = 256, SHAPE_MOST = 64, DTYPES_MOST = 32, RANK_MOST = 64, PATTERN_MOST = 64 << 10 };

/** A rule that is read. */
typedef struct parser {
    rec_job *job;
    lr_rules *rules;
    lr_rule *rule;
    bool strict;
} parser;

enum { NONE, OPTIONAL, NEEDED };

/* How the value of each kind is written. */
static const struct {
    const char *form; /* for messages */
    bool arrow;       /* it has a ` => ` */
    int arguments;    /* whether it has a ` | ` */
} kinds[] = {
    [LR_RULE_DROP] = {"drop = PATTERN, or drop = PATTERN | rank N | dtype NAME | needed unless zero", false, OPTIONAL},
    [LR_RULE_SPLIT] = {"split = PATTERN | rows NAME NAME => KEY, where % in KEY is the part's name", true, NEEDED},
    [LR_RULE_WEIGHT_NORM] = {"weight_norm = PATTERN, or weight_norm = PATTERN | AXIS", false, OPTIONAL},
    [LR_RULE_RENAME] = {"rename = PATTERN => REPLACEMENT", true, NONE},
    [LR_RULE_ADD] = {"add = PATTERN | NUMBER", false, NEEDED},
    [LR_RULE_ROPE] = {"rope = PATTERN | HEADS, or rope = PATTERN | HEADS DIMS", false, NEEDED},
    [LR_RULE_SQUEEZE] = {"squeeze = PATTERN, or squeeze = PATTERN | AXIS AXIS", false, OPTIONAL},
    [LR_RULE_RESHAPE] = {"reshape = PATTERN | [SIZE, SIZE], or reshape = PATTERN | [SIZE, SIZE] to [SIZE]", false,
                         NEEDED},
    [LR_RULE_TRANSPOSE] = {"transpose = PATTERN", false, NONE},
    [LR_RULE_PERMUTE] = {"permute = PATTERN | AXIS AXIS, with all axes from 0 on", false, NEEDED},
    [LR_RULE_STACK] = {"stack = PATTERN => KEY, where a group of the pattern is the index", true, NONE},
    [LR_RULE_JOIN] = {"join = PATTERN | rows NAME NAME => KEY, where % in PATTERN is the part's name", true, NEEDED},
    [LR_RULE_TIE] = {"tie = KEY = KEY", false, NONE},
    [LR_RULE_MODULE] = {"module = PATTERN => TYPE", true, NONE},
    [LR_RULE_VARIANT] = {"variant = PATTERN => NAME", true, NONE},
    [LR_RULE_BACK] = {"back = PATTERN => REPLACEMENT", true, NONE},
    [LR_RULE_EXPORT] = {"export = PATTERN", false, NONE},
    [LR_RULE_REQUIRE] = {"require = PATTERN", false, NONE},
    [LR_RULE_MERGE] = {"merge = PATTERN | rows, or merge = PATTERN | same", false, NEEDED},
};

/* ------------------------------------------------------------------------------------------------ small pieces -- */

#define MISTAKE(p, ...) lr_fail_location((p)->job, &(p)->rule->place, __VA_ARGS__)

/* A mistake in how the rule is written: the hint shows the form. */
static int32_t bad_form(parser *p, const char *format, ...) REC_PRINTF(2, 3);
static int32_t bad_form(parser *p, const char *format, ...)
{
    char words[256];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(words, sizeof words, format, args);
    va_end(args);
    (void)MISTAKE(p, "%s %s", lr_word_name(p->rule->kind), words);
    return LR_HINT(p->job, "Write %s.", kinds[p->rule->kind].form);
}

/* Takes the next word off a text. @return false at its end. */
static bool take_word(lr_extract *text, lr_extract *word)
{
    const char *end = text->at + text->length, *at = text->at;
    while (at < end && lr_is_blank(*at)) {
        at++;
    }
    word->at = at;
    while (at < end && !lr_is_blank(*at)) {
        at++;
    }
    word->length = (size_t)(at - word->at);
    *text = (lr_extract){at, (size_t)(end - at)};
    return word->length > 0;
}

static bool same(lr_extract text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

static void *take(parser *p, uint64_t size)
{
    void *memory = lr_job_arena_alloc(p->job, &p->rules->arena, size, 8);
    if (!memory) {
        return NULL;
    }
    memset(memory, 0, (size_t)size);
    return memory;
}

static const char *copy(parser *p, lr_extract text)
{
    return lr_job_arena_text(p->job, &p->rules->arena, text.at, text.length);
}

/* A text for a message only: cut if it is long. */
static const char *shown(lr_extract text, char *buffer, size_t room)
{
    (void)snprintf(buffer, room, "%.*s", (int)(text.length < room ? text.length : room - 1), text.at);
    return buffer;
}

/* A whole number without sign of at most `most`. */
static bool read_whole(lr_extract text, uint64_t most, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (!lr_is_digit(text.at[i]) || *number > most) {
            return false;
        }
        *number = *number * 10 + (uint64_t)(text.at[i] - '0');
    }
    return text.length > 0 && *number <= most;
}

/* ------------------------------------------------------------------------------------------------------ pieces -- */

static int32_t read_pattern(parser *p, lr_extract text)
{
    if (!text.length) {
        return bad_form(p, "has no pattern");
    }
    if (text.length > PATTERN_MOST) {
        return MISTAKE(p, "the pattern is longer than 64 KiB");
    }
    p->rule->pattern = copy(p, text);
    if (p->rule->pattern && p->rule->kind != LR_RULE_JOIN) {
        p->rule->regex = lr_regex_new(p->job, p->rule->pattern, &p->rule->place);
    }
    return p->job->error.status;
}

static int32_t read_template(parser *p, lr_extract text, const lr_regex *regex)
{
    p->rule->replacement = copy(p, text);
    if (p->rule->replacement) {
        p->rule->template = lr_template_new(p->job, p->rule->replacement, regex, p->strict, &p->rule->place);
    }
    return p->job->error.status;
}

static const lr_amount *read_amount(parser *p, lr_extract text)
{
    if (text.length && *text.at == '-') {
        char buffer[LR_NAME_MOST];
        return LR_AS_NULL(MISTAKE(p, "\"%s\" is below 0", shown(text, buffer, sizeof buffer)));
    }
    return lr_amount_new(p->job, p->rules, text.at, text.length, &p->rule->place);
}

/* Words that are amounts, `most` of them. */
static int32_t read_amounts(parser *p, lr_extract text, uint64_t least, uint64_t most)
{
    lr_amount *amounts = take(p, most * sizeof *amounts);
    char buffer[LR_NAME_MOST];
    lr_extract all = text, word;
    uint64_t count = 0;
    for (; amounts && take_word(&text, &word); count++) {
        const lr_amount *amount;
        if (count == most) {
            return bad_form(p, "has too many arguments: \"%s\"", shown(all, buffer, sizeof buffer));
        }
        amount = read_amount(p, word);
        if (!amount) {
            return p->job->error.status;
        }
        amounts[count] = *amount;
    }
    if (count < least) {
        return bad_form(p, "has no argument");
    }
    p->rule->amounts = amounts;
    p->rule->amount_count = count;
    return p->job->error.status;
}

/* -------------------------------------------------------------------------------------------------------- drop -- */

static int32_t read_dtypes(parser *p, lr_extract text)
{
    rec_dtype *dtypes = take(p, DTYPES_MOST * sizeof *dtypes);
    char name[LR_NAME_MOST];
    uint64_t count = 0;
    lr_extract word;
    for (; dtypes && take_word(&text, &word); count++) {
        if (count == DTYPES_MOST) {
            return bad_form(p, "has too many dtypes");
        }
        (void)shown(word, name, sizeof name);
        for (char *c = name; *c; c++) {
            *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
        }
        dtypes[count] = rec_dtype_from_name(name);
        if (dtypes[count] == REC_DTYPE_NONE) {
            (void)MISTAKE(p, "unknown dtype \"%s\"", name);
            return LR_HINT(p->job, "They are written f32, bf16, i64, u8, bool and so on.");
        }
    }
    if (dtypes && !count) {
        return bad_form(p, "has no name after \"dtype\"");
    }
    p->rule->dtypes = dtypes;
    p->rule->dtype_count = count;
    return p->job->error.status;
}

/* `needed` or `needed unless zero`. @return false: it is neither. */
static bool read_needed(parser *p, lr_extract text)
{
    lr_extract word;
    p->rule->needed = LR_NEEDED;
    if (!take_word(&text, &word)) {
        return true;
    }
    p->rule->needed = LR_NEEDED_UNLESS_ZERO;
    return same(word, "unless") && take_word(&text, &word) && same(word, "zero") && !take_word(&text, &word);
}

/* `rank N`, `dtype NAME…` and `needed`, each once. */
static int32_t read_conditions(parser *p, lr_extract text)
{
    char buffer[LR_NAME_MOST];
    bool more = true;
    while (more) {
        lr_extract part = text, word;
        uint64_t rank = 0;
        more = lr_extract_cut(text, "|", &part, &text);
        part = lr_extract_trim(part.at, part.at + part.length);
        if (take_word(&part, &word) && same(word, "rank") && p->rule->rank < 0) {
            part = lr_extract_trim(part.at, part.at + part.length);
            if (!read_whole(part, RANK_MOST, &rank)) {
                return bad_form(p, "has the rank \"%s\"", shown(part, buffer, sizeof buffer));
            }
            p->rule->rank = (int32_t)rank;
        } else if (same(word, "dtype") && !p->rule->dtype_count) {
            if (read_dtypes(p, part) != REC_OK) {
                return p->job->error.status;
            }
        } else if (!(same(word, "needed") && !p->rule->needed && read_needed(p, part))) {
            (void)bad_form(p, "has \"%s\" after a \" | \"", shown(word, buffer, sizeof buffer));
            return LR_HINT(p->job, "A pattern with \" | \" in it is written with \\x20 for the blanks.");
        }
    }
    return REC_OK;
}

/* ---------------------------------------------------------------------------------------------- split and join -- */

static int32_t read_axis(parser *p, lr_extract word)
{
    char buffer[LR_NAME_MOST];
    uint64_t axis = 0;
    if (same(word, "rows")) {
        p->rule->axis = 0;
    } else if (same(word, "last")) {
        p->rule->axis = -1;
    } else if (read_whole(word, RANK_MOST, &axis)) {
        p->rule->axis = (int32_t)axis;
    } else {
        (void)bad_form(p, "has the axis \"%s\"", shown(word, buffer, sizeof buffer));
        rec_fail_hint(p->job, "The axis is \"rows\" (0), \"last\", or its number.");
    }
    return p->job->error.status;
}

/* @return the length of the part's name that text begins with. */
static size_t part_name(lr_extract text)
{
    size_t length = 0;
    while (length < text.length &&
           ((text.at[length] >= 'a' && text.at[length] <= 'z') || (text.at[length] >= 'A' && text.at[length] <= 'Z') ||
            lr_is_digit(text.at[length]) || text.at[length] == '_' || text.at[length] == '.' ||
            text.at[length] == '-')) {
        length++;
    }
    return length;
}

static int32_t read_part(parser *p, lr_extract word, lr_part *parts, uint64_t count)
{
    char buffer[LR_NAME_MOST];
    size_t length = part_name(word);
    lr_part *part = &parts[count];
    if (!length || (length < word.length && word.at[length] != '*')) {
        (void)bad_form(p, "has the part \"%s\"", shown(word, buffer, sizeof buffer));
        return LR_HINT(p->job, "A part is NAME, or NAME*SHARE without blanks: q*H/K.");
    }
    part->name = copy(p, (lr_extract){word.at, length});
    for (uint64_t i = 0; part->name && i < count; i++) {
        if (strcmp(parts[i].name, part->name) == 0) {
            return bad_form(p, "has the part \"%s\" twice", shown(word, buffer, sizeof buffer));
        }
    }
    if (part->name && length < word.length) {
        part->amount = read_amount(p, (lr_extract){word.at + length + 1, word.length - length - 1});
    }
    return p->job->error.status;
}

/* `AXIS NAME[*E] NAME[*E]… [in E]` */
static int32_t read_parts(parser *p, lr_extract text)
{
    lr_part *parts = take(p, PARTS_MOST * sizeof *parts);
    uint64_t count = 0;
    lr_extract word;
    if (!parts || !take_word(&text, &word)) {
        return parts ? bad_form(p, "has no parts") : p->job->error.status;
    }
    if (read_axis(p, word) != REC_OK) {
        return p->job->error.status;
    }
    while (take_word(&text, &word)) {
        if (same(word, "in") && p->rule->kind == LR_RULE_SPLIT) {
            text = lr_extract_trim(text.at, text.at + text.length);
            if (!text.length) {
                return bad_form(p, "has no number of groups after \"in\"");
            }
            p->rule->groups = read_amount(p, text);
            break;
        }
        if (count == PARTS_MOST) {
            return bad_form(p, "has too many parts");
        }
        if (read_part(p, word, parts, count++) != REC_OK) {
            return p->job->error.status;
        }
    }
    if (!lr_job_failed(p->job) && count < 2) {
        return bad_form(p, "has fewer than two parts");
    }
    p->rule->parts = parts;
    p->rule->part_count = count;
    return p->job->error.status;
}

/* Writes the pattern with a part's name, escaped, for each `%` that has no `\` before it, and `%` for `\%`.
 * @param target NULL: only measures. @return the length. @param found (out) whether there was a `%`. */
static size_t fill_pattern(const char *pattern, const char *name, char *target, bool *found)
{
    size_t length = 0;
    *found = false;
#define PUT(c) ((void)(target && (target[length] = (c))), length++)
    for (const char *at = pattern; *at; at++) {
        if (*at == '\\' && at[1] == '%') {
            at++;
            PUT('%');
        } else if (*at == '\\' && at[1]) {
            PUT('\\');
            at++;
            PUT(*at);
        } else if (*at == '%') {
            *found = true;
            for (const char *c = name; *c; c++) {
                if (*c == '.' || *c == '-') {
                    PUT('\\');
                }
                PUT(*c);
            }
        } else {
            PUT(*at);
        }
    }
    PUT('\0');
#undef PUT
    return length;
}

static int32_t compile_join(parser *p)
{
    lr_rule *rule = p->rule;
    char *text;
    bool found = false;
    rule->part_regexes = lr_zalloc(p->rules->allocator, rule->part_count * sizeof *rule->part_regexes);
    if (!rule->part_regexes) {
        return lr_fail_memory(p->job, rule->part_count * sizeof *rule->part_regexes);
    }
    for (uint64_t i = 0; i < rule->part_count && !lr_job_failed(p->job); i++) {
        size_t length = fill_pattern(rule->pattern, rule->parts[i].name, NULL, &found);
        if (!found) {
            return bad_form(p, "has no %% in its pattern");
        }
        if (length > PATTERN_MOST) {
            return MISTAKE(p, "the pattern is longer than 64 KiB");
        }
        text = lr_alloc(p->rules->allocator, length);
        if (!text) {
            return lr_fail_memory(p->job, length);
        }
        (void)fill_pattern(rule->pattern, rule->parts[i].name, text, &found);
        rule->part_regexes[i] = lr_regex_new(p->job, text, &rule->place);
        lr_release(p->rules->allocator, text);
    }
    return p->job->error.status;
}

/* --------------------------------------------------------------------------------------------- reshape, module -- */

static int32_t read_shape(parser *p, lr_extract text, const lr_amount **shape, uint64_t *rank)
{
    lr_amount *amounts = take(p, SHAPE_MOST * sizeof *amounts);
    const char *at, *end;
    char buffer[LR_NAME_MOST];
    uint64_t count = 0;
    bool open = false; /* -1 was there */
    if (text.length < 2 || *text.at != '[' || text.at[text.length - 1] != ']') {
        return bad_form(p, "has the shape \"%s\"", shown(text, buffer, sizeof buffer));
    }
    end = text.at + text.length - 1;
    text = lr_extract_trim(text.at + 1, end);
    for (at = text.at; amounts && text.length; at++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        lr_extract size = lr_extract_trim(at, comma ? comma : end);
        const lr_amount *amount;
        if (count == SHAPE_MOST) {
            return bad_form(p, "has too many sizes");
        }
        if (same(size, "-1") && open) {
            return bad_form(p, "has -1, what is left, twice");
        }
        open = open || same(size, "-1");
        amount = same(size, "-1") ? lr_amount_new(p->job, p->rules, size.at, size.length, &p->rule->place)
                                  : read_amount(p, size);
        if (!amount) {
            return p->job->error.status;
        }
        amounts[count++] = *amount;
        if (!comma) {
            break;
        }
        at = comma;
    }
    *shape = amounts;
    *rank = count;
    return p->job->error.status;
}

/* `[E, E]`, or `[E, E] to [E, E]`, which has an inverse. */
static int32_t read_shapes(parser *p, lr_extract text)
{
    lr_rule *rule = p->rule;
    lr_extract before, after;
    if (!lr_extract_cut(text, "to", &before, &after)) {
        return read_shape(p, text, &rule->amounts, &rule->amount_count);
    }
    return read_shape(p, before, &rule->before, &rule->before_count) == REC_OK
               ? read_shape(p, after, &rule->amounts, &rule->amount_count)
               : p->job->error.status;
}

/* All axes from 0 on in another order. */
static int32_t read_order(parser *p, lr_extract text)
{
    uint32_t *order = take(p, RANK_MOST * sizeof *order);
    uint64_t seen = 0, axis = 0, count = 0;
    char buffer[LR_NAME_MOST];
    lr_extract all = text, word;
    while (order && take_word(&text, &word)) {
        if (count == RANK_MOST || !read_whole(word, RANK_MOST - 1, &axis) || (seen >> axis & 1)) {
            return bad_form(p, "has the axes \"%s\"", shown(all, buffer, sizeof buffer));
        }
        seen |= UINT64_C(1) << axis;
        order[count++] = (uint32_t)axis;
    }
    if (order && (!count || seen >> (count - 1) != 1)) {
        return bad_form(p, "has the axes \"%s\"", shown(all, buffer, sizeof buffer));
    }
    p->rule->order = order;
    p->rule->order_count = (uint32_t)count;
    return p->job->error.status;
}

static int32_t read_type(parser *p, lr_extract text)
{
    lr_excerpt brief;
    lr_suggestion near;
    p->rule->replacement = copy(p, text);
    if (!p->rule->replacement || lr_adapt_known(p->rule->replacement)) {
        return p->job->error.status;
    }
    lr_suggestion_begin(&near, p->rule->replacement);
    for (size_t i = 0; lr_adapt_types[i]; i++) {
        lr_suggestion_try(&near, lr_adapt_types[i]);
    }
    (void)MISTAKE(p, "unknown module type \"%s\"", lr_excerpt_text(&brief, p->rule->replacement));
    if (near.best) {
        rec_fail_hint(p->job, "Did you mean %s?", near.best);
    } else {
        char all[512] = "";
        for (size_t i = 0, used = 0; lr_adapt_types[i] && used < sizeof all; i++) {
            used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", lr_adapt_types[i]);
        }
        rec_fail_hint(p->job,
                      "Known: %s.\n"
                      "Use Param for a custom module whose fields stay unchanged.",
                      all);
    }
    return p->job->error.status;
}

static int32_t read_variant(parser *p, lr_extract text)
{
    char buffer[LR_NAME_MOST];
    if (!text.length || lr_number_name(text.at, text.length) != text.length || memchr(text.at, '.', text.length)) {
        return bad_form(p, "has the name \"%s\"", shown(text, buffer, sizeof buffer));
    }
    p->rule->replacement = copy(p, text);
    return p->job->error.status;
}

/* ------------------------------------------------------------------------------------------------------- rules -- */

/* `DST = SRC`: keys, no patterns. */
static int32_t parse_tie(parser *p, lr_extract text)
{
    lr_extract to, from;
    lr_excerpt brief;
    if (!lr_extract_cut(text, "=", &to, &from) || !to.length || !from.length) {
        return bad_form(p, "is \"%s\"", lr_excerpt_text(&brief, p->rule->text));
    }
    p->rule->pattern = copy(p, to);
    p->rule->replacement = copy(p, from);
    if (!lr_job_failed(p->job) && strcmp(p->rule->pattern, p->rule->replacement) == 0) {
        return bad_form(p, "ties \"%s\" to itself", lr_excerpt_text(&brief, p->rule->pattern));
    }
    return p->job->error.status;
}

/* Parses the text after the pattern's ` | `. */
static int32_t parse_arguments(parser *p, lr_extract text, bool given)
{
    char buffer[LR_NAME_MOST];
    switch (p->rule->kind) {
    case LR_RULE_DROP:
        return given ? read_conditions(p, text) : REC_OK;
    case LR_RULE_SQUEEZE:
        return given ? read_amounts(p, text, 1, RANK_MOST) : REC_OK;
    case LR_RULE_WEIGHT_NORM:
        if (same(text, "whole")) {
            p->rule->axis = LR_AXIS_WHOLE;
            return REC_OK;
        }
        return given ? read_axis(p, text) : REC_OK;
    case LR_RULE_ROPE:
        return read_amounts(p, text, 1, 2);
    case LR_RULE_RESHAPE:
        return read_shapes(p, text);
    case LR_RULE_PERMUTE:
        return read_order(p, text);
    case LR_RULE_MERGE:
        if (same(text, "same")) {
            p->rule->axis = LR_MERGE_SAME;
            return REC_OK;
        }
        return read_axis(p, text);
    case LR_RULE_ADD:
        return lr_number_read(text.at, text.length, &p->rule->number_value)
                   ? REC_OK
                   : bad_form(p, "has the number \"%s\"", shown(text, buffer, sizeof buffer));
    default:
        return read_parts(p, text);
    }
}

/* Parses the text after the ` => `. */
static int32_t parse_replacement(parser *p, lr_extract text)
{
    switch (p->rule->kind) {
    case LR_RULE_MODULE:
        return read_type(p, text);
    case LR_RULE_VARIANT:
        return read_variant(p, text);
    case LR_RULE_JOIN:
        return compile_join(p) == REC_OK ? read_template(p, text, p->rule->part_regexes[0]) : p->job->error.status;
    case LR_RULE_SPLIT:
        if (!memchr(text.at, '%', text.length)) {
            return bad_form(p, "has no %% in its key: the parts would have one name");
        }
        break;
    case LR_RULE_STACK:
        if (!lr_regex_groups(p->rule->regex)) {
            return bad_form(p, "has no group in its pattern for the index");
        }
        break;
    default:
        break;
    }
    return read_template(p, text, p->rule->regex);
}

int32_t lr_rule_parse(rec_job *job, lr_rules *rules, lr_rule *rule, bool strict)
{
    parser p = {.job = job, .rules = rules, .rule = rule, .strict = strict};
    lr_extract pattern = lr_extract_trim(rule->text, rule->text + strlen(rule->text));
    lr_extract replacement = {"", 0}, arguments = {"", 0};
    bool given = false, arrow = kinds[rule->kind].arrow;
    int needs = kinds[rule->kind].arguments;
    lr_excerpt brief;
    if (rule->kind == LR_RULE_TIE) {
        return parse_tie(&p, pattern);
    }
    if (lr_extract_cut(pattern, "=>", &pattern, &replacement) != arrow) {
        return arrow ? bad_form(&p, "has no \" => \" in \"%s\"", lr_excerpt_text(&brief, rule->text))
                     : bad_form(&p, "has a \" => \" in \"%s\"", lr_excerpt_text(&brief, rule->text));
    }
    if (needs) {
        given = lr_extract_cut(pattern, "|", &pattern, &arguments);
        if (!given && needs == NEEDED) {
            return bad_form(&p, "has no \" | \" in \"%s\"", lr_excerpt_text(&brief, rule->text));
        }
    }
    if (read_pattern(&p, pattern) == REC_OK && (!needs || parse_arguments(&p, arguments, given) == REC_OK) && arrow) {
        (void)parse_replacement(&p, replacement);
    }
    return job->error.status;
}
