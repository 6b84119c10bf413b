/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Numbers that rules ask for: amounts (`q*H/K`), and the `let`s of a profile that say where a name comes from. */
#include <stdio.h>
#include <string.h>

#include "remap/rules/rules_private.h"

enum {
    TEXT_MOST = 256, /**< which bounds how deep an expression is */
    DEPTH_MOST = 32, /**< of parentheses, and of lets that need lets */
    OPEN_MOST = 128, /**< parentheses of an amount and of the lets that it needs, in one another: each takes stack */
    CHOICES_MOST = 64,
    LETS_MOST = 256,
    LOOKUPS_MOST = 10000, /**< for one amount: lets may ask for each other many times over */
};
#define WHOLE_MOST 9007199254740992.0 /* 2^53: above it a double skips whole numbers */

/** `EXPRESSION [if NAME]` */
typedef struct lr_choice {
    const char *text;      /**< the source text of the expression */
    const char *condition; /**< or NULL */
} lr_choice;

/** How looking up ended. */
enum { FOUND = 0, MISSING = 1, FAILED = 2 };

/** The lets that are being worked out: to themselves their names mean numbers of the configuration. */
typedef struct active {
    const struct active *outer;
    const lr_definition *let;
} active;

typedef struct lookup {
    rec_job *job;
    const lr_rules *rules;
    const lr_variables *numbers;
    const lr_location *place;
    const char *amount; /**< for messages */
    int steps;
    int open;                       /**< parentheses around what is worked out, of all texts */
    char missing[LR_NAME_MOST + 1]; /**< the name that was found nowhere first */
    const lr_definition *let;       /**< whose let it is, or NULL */
} lookup;

static int name_value(lookup *l, const char *name, const active *outer, int depth, double *value);

/* ----------------------------------------------------------------------------------------------------- parsing -- */

/* An expression is worked out as it is read. */
typedef struct parser {
    rec_job *job;
    const lr_location *place;
    const char *text, *at, *end;
    int depth;
    lookup *lookup; /**< of names; NULL: it is only checked how the expression is written */
    const active *outer;
    int lets;   /**< how deep in them it stands */
    int result; /**< of the name that ended it */
} parser;

static bool parse_sum(parser *p, double *value);

static void skip_blanks(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t')) {
        p->at++;
    }
}

static bool bad(parser *p, const char *expected)
{
    char text[2 * LR_NAME_MOST], rest[LR_NAME_MOST];
    lr_excerpt brief, found;
    size_t length = (size_t)(p->end - p->text), left = (size_t)(p->end - p->at);
    (void)snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), p->text);
    (void)snprintf(rest, sizeof rest, "%.*s", (int)(left < sizeof rest ? left : sizeof rest - 1), p->at);
    (void)lr_fail_location(p->job, p->place, "\"%s\" is not an amount: expected %s, found %s%s%s",
                           lr_excerpt_text(&brief, text), expected, left ? "\"" : "",
                           left ? lr_excerpt_text(&found, rest) : "its end", left ? "\"" : "");
    rec_fail_hint(p->job, "Amounts are names and numbers with + - * / and parentheses between them: H/K.");
    return false;
}

/* Copies a name that is not too long. @param name LR_NAME_MOST + 1 bytes. */
static bool take_name(rec_job *job, const lr_location *place, const char *at, size_t length, char *name)
{
    if (length > LR_NAME_MOST) {
        return LR_AS_FALSE(lr_fail_location(job, place, "the name \"%.*s...\" is longer than %d bytes", LR_NAME_MOST,
                                            at, LR_NAME_MOST));
    }
    memcpy(name, at, length);
    name[length] = '\0';
    return true;
}

static bool parse_one(parser *p, double *value)
{
    char name[LR_NAME_MOST + 1];
    size_t length;
    skip_blanks(p);
    if (p->at < p->end && *p->at == '(') {
        if (++p->depth > DEPTH_MOST) {
            return LR_AS_FALSE(
                lr_fail_location(p->job, p->place, "more than %d parentheses in one another", DEPTH_MOST));
        }
        if (p->lookup && ++p->lookup->open > OPEN_MOST) {
            p->result = FAILED;
            return LR_AS_FALSE(lr_fail_location(p->job, p->place,
                                                "more than %d parentheses in one another in the lets of \"%s\"",
                                                OPEN_MOST, p->lookup->amount));
        }
        p->at++;
        if (!parse_sum(p, value)) {
            return false;
        }
        skip_blanks(p);
        if (p->at == p->end || *p->at != ')') {
            return bad(p, "\")\"");
        }
        p->at++;
        p->depth--;
        if (p->lookup) {
            p->lookup->open--;
        }
        return true;
    }
    length = lr_number_name(p->at, (size_t)(p->end - p->at));
    if (length) {
        p->at += length;
        *value = 1;
        p->result = !take_name(p->job, p->place, p->at - length, length, name) ? FAILED
                    : p->lookup ? name_value(p->lookup, name, p->outer, p->lets, value)
                                : FOUND;
        return p->result == FOUND;
    }
    while (p->at + length < p->end && strchr("0123456789.", p->at[length])) {
        length++;
    }
    if (!lr_number_read(p->at, length, value)) {
        return bad(p, "a name or a number");
    }
    p->at += length;
    return true;
}

/* Operands with operators between them, those of `operators` alone, from the left. */
static bool parse_chain(parser *p, const char *operators, bool (*operand)(parser *p, double *value), double *value)
{
    double right = 1;
    bool good = operand(p, value);
    while (good) {
        char sign;
        skip_blanks(p);
        if (p->at == p->end || !*p->at || !strchr(operators, *p->at)) {
            break;
        }
        sign = *p->at++;
        good = operand(p, &right);
        if (good && p->lookup && sign == '/' && right == 0) {
            (void)rec_fail(p->job, REC_E_ARGUMENT, REC_UNKNOWN, "the amount \"%s\" divides by 0", p->lookup->amount);
            p->result = FAILED;
            return false;
        }
        if (good && p->lookup) {
            *value = sign == '+'   ? *value + right
                     : sign == '-' ? *value - right
                     : sign == '*' ? *value * right
                                   : *value / right;
        }
    }
    return good;
}

static bool parse_product(parser *p, double *value)
{
    return parse_chain(p, "*/", parse_one, value);
}

static bool parse_sum(parser *p, double *value)
{
    return parse_chain(p, "+-", parse_product, value);
}

/* Checks how an expression is written. @return the status. */
static int32_t check_text(rec_job *job, const char *text, size_t length, const lr_location *place)
{
    parser p = {.job = job, .place = place, .text = text, .at = text, .end = text + length};
    double ignored;
    if (length > TEXT_MOST) {
        return lr_fail_location(job, place, "an amount is longer than %d bytes", TEXT_MOST);
    }
    if (parse_sum(&p, &ignored)) {
        skip_blanks(&p);
        (void)(p.at == p.end || bad(&p, "+ - * or /"));
    }
    return job->error.status;
}

/* Works out an expression that was checked. */
static int text_value(lookup *l, const char *text, const active *outer, int depth, double *value)
{
    parser p = {.job = l->job, .place = l->place, .text = text, .at = text, .end = text + strlen(text)};
    int open = l->open;
    bool good;
    p.lookup = l;
    p.outer = outer;
    p.lets = depth;
    p.result = FAILED;
    good = parse_sum(&p, value);
    l->open = open;
    return good ? FOUND : p.result;
}

static bool has_name(const char *text)
{
    return text[strspn(text, "0123456789.+-*/() \t")] != '\0';
}

static bool is_name(const char *text)
{
    return *text && lr_number_name(text, strlen(text)) == strlen(text);
}

const lr_amount *lr_amount_new(rec_job *job, lr_rules *rules, const char *text, size_t length, const lr_location *place)
{
    lr_amount *amount = lr_job_arena_alloc(job, &rules->arena, sizeof *amount, 8);
    if (amount) {
        amount->text = lr_job_arena_text(job, &rules->arena, text, length);
    }
    /* RESHAPE's "what is left" is no expression. */
    return !lr_job_failed(job) &&
                   (strcmp(amount->text, "-1") == 0 || check_text(job, amount->text, length, place) == REC_OK)
               ? amount
               : NULL;
}

/* --------------------------------------------------------------------------------------------------------- let -- */

static int32_t bad_let(rec_job *job, const lr_location *place, const char *text, const char *why)
{
    lr_excerpt brief;
    (void)lr_fail_location(job, place, "let %s: \"%s\"", why, lr_excerpt_text(&brief, text));
    return LR_HINT(
        job, "Write let = NAME AMOUNT | AMOUNT | AMOUNT if NAME: the first one whose names are all there counts.");
}

/* NULL: the job has failed. */
static const char *keep_name(rec_job *job, lr_rules *rules, const char *at, size_t length, const lr_location *place)
{
    char name[LR_NAME_MOST + 1];
    return take_name(job, place, at, length, name) ? lr_job_arena_text(job, &rules->arena, name, length) : NULL;
}

lr_extract lr_extract_trim(const char *at, const char *end)
{
    while (end > at && lr_is_blank(end[-1])) {
        end--;
    }
    while (at < end && lr_is_blank(*at)) {
        at++;
    }
    return (lr_extract){at, (size_t)(end - at)};
}

bool lr_extract_cut(lr_extract text, const char *mark, lr_extract *left, lr_extract *right)
{
    const char *end = text.at + text.length;
    size_t length = strlen(mark);
    for (const char *at = text.at; at + length <= end; at++) {
        if (memcmp(at, mark, length) == 0 && (at == text.at || lr_is_blank(at[-1])) &&
            (at + length == end || lr_is_blank(at[length]))) {
            *left = lr_extract_trim(text.at, at);
            *right = lr_extract_trim(at + length, end);
            return true;
        }
    }
    return false;
}

/* One alternative. */
static int32_t read_choice(rec_job *job, lr_rules *rules, lr_extract text, const char *whole, const lr_location *place,
                           lr_choice *choice)
{
    lr_extract amount, name;
    bool condition = lr_extract_cut(text, "if", &amount, &name) && amount.length && name.length;
    if (condition && lr_number_name(name.at, name.length) != name.length) {
        return bad_let(job, place, whole, "has no name after \"if\"");
    }
    choice->condition = condition ? keep_name(job, rules, name.at, name.length, place) : NULL;
    amount = condition ? amount : text;
    if (!amount.length) {
        return bad_let(job, place, whole, "has an empty alternative");
    }
    choice->text = lr_job_arena_text(job, &rules->arena, amount.at, amount.length);
    return lr_job_failed(job) ? job->error.status : check_text(job, choice->text, amount.length, place);
}

int32_t lr_definition_add(rec_job *job, lr_rules *rules, const char *text, const lr_location *place)
{
    size_t length = strlen(text), name = lr_number_name(text, length);
    const char *at = text + name, *end = text + length;
    lr_choice *choices;
    lr_definition let = {.place = *place};
    if (!name || at == end || (*at != ' ' && *at != '\t')) {
        return bad_let(job, place, text, name && at == end ? "has no amount" : "has no name");
    }
    if (rules->let_count == LETS_MOST) {
        return lr_fail_location(job, place, "more than %d lets", LETS_MOST);
    }
    choices = lr_job_arena_alloc(job, &rules->arena, CHOICES_MOST * sizeof *choices, 8);
    let.name = keep_name(job, rules, text, name, place);
    let.text = lr_job_arena_text(job, &rules->arena, text, length);
    let.choices = choices;
    if (lr_job_failed(job)) {
        return job->error.status;
    }
    memset(choices, 0, CHOICES_MOST * sizeof *choices);
    for (;;) {
        const char *bar = memchr(at, '|', (size_t)(end - at));
        lr_extract one = lr_extract_trim(at, bar ? bar : end);
        if (let.choice_count == CHOICES_MOST) {
            return lr_fail_location(job, place, "let %s has more than %d alternatives", let.name, CHOICES_MOST);
        }
        if (read_choice(job, rules, one, text, place, &choices[let.choice_count++]) != REC_OK) {
            return job->error.status;
        }
        if (!bar) {
            break;
        }
        at = bar + 1;
    }
    if (lr_job_grow(job, &rules->lets, rules->let_count + 1, &rules->let_room, sizeof let)) {
        rules->lets[rules->let_count++] = let;
    }
    return job->error.status;
}

/* --------------------------------------------------------------------------------------------------- the value -- */

static const lr_definition *find_let(const lr_rules *rules, const char *name)
{
    for (uint64_t i = rules->let_count; i > 0; i--) {
        if (strcmp(rules->lets[i - 1].name, name) == 0) {
            return &rules->lets[i - 1];
        }
    }
    return NULL;
}

static int missing(lookup *l, const char *name, const lr_definition *let)
{
    (void)snprintf(l->missing, sizeof l->missing, "%s", name);
    l->let = let;
    return MISSING;
}

static int let_value(lookup *l, const lr_definition *let, const active *outer, int depth, double *value)
{
    active self = {.outer = outer, .let = let};
    for (uint64_t i = 0; i < let->choice_count; i++) {
        const lr_choice *choice = &let->choices[i];
        double flag = 1;
        int result = choice->condition ? name_value(l, choice->condition, &self, depth + 1, &flag) : FOUND;
        if (result == FOUND) {
            result = flag != 0 ? text_value(l, choice->text, &self, depth + 1, value) : MISSING;
        }
        if (result != MISSING) {
            return result;
        }
    }
    return missing(l, let->name, let);
}

static bool is_active(const active *outer, const lr_definition *let)
{
    for (; outer; outer = outer->outer) {
        if (outer->let == let) {
            return true;
        }
    }
    return false;
}

static int name_value(lookup *l, const char *name, const active *outer, int depth, double *value)
{
    const lr_definition *let = find_let(l->rules, name);
    if (++l->steps > LOOKUPS_MOST || depth > DEPTH_MOST) {
        (void)lr_fail_location(l->job, l->place, "the lets of the amount \"%s\" need each other too often", l->amount);
        return FAILED;
    }
    if (lr_number_find(l->numbers->set, l->numbers->set_count, name, value)) {
        for (uint64_t i = 0; i < l->numbers->set_count; i++) {
            l->numbers->set[i].used = l->numbers->set[i].used || strcmp(l->numbers->set[i].name, name) == 0;
        }
        return FOUND;
    }
    if (let && !is_active(outer, let)) {
        return let_value(l, let, outer, depth, value);
    }
    if (lr_number_find(l->numbers->config, l->numbers->config_count, name, value) ||
        lr_number_find(l->numbers->own, l->numbers->own_count, name, value)) {
        return FOUND;
    }
    return missing(l, name, NULL);
}

/* ---------------------------------------------------------------------------------------------------- messages -- */

/* How many amounts a rule may have. */
static uint64_t amounts_of(const lr_rule *rule)
{
    return 1 + rule->amount_count + rule->part_count + rule->before_count;
}

/* One of them, or NULL. */
static const lr_amount *amount_at(const lr_rule *rule, uint64_t i)
{
    uint64_t parts = 1 + rule->amount_count, before = parts + rule->part_count;
    return i == 0       ? rule->groups
           : i < parts  ? &rule->amounts[i - 1]
           : i < before ? rule->parts[i - parts].amount
                        : &rule->before[i - before];
}

/* The rule that stands at a place, or NULL. */
static const lr_rule *find_rule(const lr_rules *rules, const lr_location *place)
{
    uint64_t i = 0;
    while (i < rules->count && &rules->rules[i].place != place) {
        i++;
    }
    return i < rules->count ? &rules->rules[i] : NULL;
}

/* "rule 5 (rope = attention\.wq\.weight | H) of profile llama needs H" */
static void who_needs(const lr_rule *rule, const char *name, char *text, size_t room)
{
    lr_excerpt brief;
    if (!rule) {
        (void)snprintf(text, room, "%s is needed", name);
        return;
    }
    (void)snprintf(text, room, "rule %u (%s = %s)%s%s needs %s", (unsigned)rule->number, lr_word_name(rule->kind),
                   lr_excerpt_text(&brief, rule->text), rule->profile ? " of profile " : "",
                   rule->profile ? rule->profile : "", name);
}

/* "config.json (/m/config.json: not found)" */
static void where_from(const lr_variables *numbers, char *text, size_t room)
{
    if (numbers->config_file) {
        (void)lr_display(numbers->config_file, text, room);
    } else if (numbers->config_tried) {
        char tried[512];
        (void)lr_display(numbers->config_tried, tried, sizeof tried);
        (void)snprintf(text, room, "config.json (%s: not found)", tried);
    } else {
        (void)snprintf(text, room, "a config.json (there is no file next to which it could be)");
    }
}

/* What an alternative needs of the outside: its own text, or the condition where that is the only thing it needs. */
static const char *alternative(const lr_rules *rules, const lr_choice *choice)
{
    bool own = is_name(choice->text) ? !find_let(rules, choice->text) : has_name(choice->text);
    return choice->condition && !own ? choice->condition : choice->text;
}

/* What would give the number: the alternatives of a let from `first` on. */
static void what_gives(const lr_rules *rules, const lr_definition *let, uint64_t first, char *text, size_t room)
{
    size_t used = 0;
    for (uint64_t i = first; let && i < let->choice_count && used < room; i++) {
        const char *joint = i == first ? "" : i + 1 == let->choice_count ? " or " : ", ";
        used += (size_t)snprintf(text + used, room - used, "%s%s", joint, alternative(rules, &let->choices[i]));
    }
}

/* The name under which a number is best given. @param first (out) the first alternative of its let that is another. */
static const char *name_to_give(const lr_rules *rules, const lr_definition *let, const char *name, uint64_t *first)
{
    *first = 0;
    /* By custom the first alternative is the number's long name. */
    if (let && is_name(let->choices[0].text) && !let->choices[0].condition && !find_let(rules, let->choices[0].text)) {
        *first = 1;
        return let->choices[0].text;
    }
    return name;
}

/* Text of the numbers that are missing. */
typedef struct wanted {
    char text[400];
    size_t used;
} wanted;

/* Adds ` --set NAME=NUMBER`, once. */
static void want(wanted *w, const char *name)
{
    char option[200];
    int n = snprintf(option, sizeof option, " --set %.120s=NUMBER", name);
    if (n > 0 && (size_t)n < sizeof option && w->used + (size_t)n < sizeof w->text && !strstr(w->text, option)) {
        memcpy(w->text + w->used, option, (size_t)n + 1);
        w->used += (size_t)n;
    }
}

/* Adds the number that an amount lacks. */
static void want_of(const lookup *l, rec_job *job, wanted *w, const lr_amount *amount)
{
    lookup other = {.job = job, .rules = l->rules, .numbers = l->numbers, .place = l->place, .amount = ""};
    double value;
    uint64_t first;
    if (amount && text_value(&other, amount->text, NULL, 0, &value) == MISSING) {
        want(w, name_to_give(l->rules, other.let, other.missing, &first));
    }
}

/* All numbers that the rules lack, so that they can be given at once. */
static void want_all(const lookup *l, wanted *w)
{
    rec_job own; /* what else is wrong with an amount is not told here */
    lr_job_begin(&own, l->job->context, "numbers", NULL);
    for (uint64_t i = 0; i < l->rules->count; i++) {
        const lr_rule *rule = &l->rules->rules[i];
        for (uint64_t k = 0; k < amounts_of(rule) && !rule->before; k++) { /* with a shape before: its own lengths */
            want_of(l, &own, w, amount_at(rule, k));
        }
    }
    lr_job_drop(&own);
}

static int32_t fail_missing(lookup *l)
{
    char need[256], config[1100], gives[512] = "";
    const lr_definition *let = l->let;
    uint64_t first;
    const char *name = name_to_give(l->rules, let, l->missing, &first);
    wanted all = {.used = 0};
    who_needs(find_rule(l->rules, l->place), let ? let->name : l->missing, need, sizeof need);
    where_from(l->numbers, config, sizeof config);
    what_gives(l->rules, let, first, gives, sizeof gives);
    want(&all, name);
    want_all(l, &all);
    (void)rec_fail(l->job, REC_E_NOT_FOUND, REC_UNKNOWN,
                   "the number `%s` is missing: %s; neither --set %s=NUMBER nor %s gives %s", name, need, name, config,
                   *gives ? gives : name);
    return LR_HINT(l->job,
                   "Put the model's config.json next to it, or use --config-json FILE, or give the number%s:%s.",
                   strstr(all.text + 1, " --set ") ? "s" : "", all.text);
}

int32_t lr_amount_value(rec_job *job, const lr_rules *rules, const lr_variables *numbers, const lr_amount *amount,
                        const lr_location *place, int64_t *value)
{
    lookup l = {.job = job, .rules = rules, .numbers = numbers, .place = place, .amount = amount->text};
    const lr_rule *rule = find_rule(rules, place);
    bool rest = strcmp(amount->text, "-1") == 0;
    double number = -1, whole, off;
    int result = rest ? FOUND : text_value(&l, amount->text, NULL, 0, &number);
    char need[256], words[40];
    *value = 0;
    if (result != FOUND) {
        return result == MISSING ? fail_missing(&l) : job->error.status;
    }
    who_needs(rule, amount->text, need, sizeof need);
    (void)lr_number_put(words, sizeof words, 'g', 15, number);
    if (!(number > -WHOLE_MOST && number < WHOLE_MOST)) {
        return rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "%s, which is %s: out of range", need, words);
    }
    whole = (double)(int64_t)(number < 0 ? number - 0.5 : number + 0.5);
    off = number < whole ? whole - number : number - whole;
    if (off > 1e-6 && off > 1e-6 * (number < 0 ? -number : number)) {
        return rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "%s, which is %s: no whole number", need, words);
    }
    if (whole < 0 && !rest) {
        return rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "%s, which is %s: below 0", need, words);
    }
    if (whole == 0 && rule && (rule->kind == LR_RULE_SPLIT || rule->kind == LR_RULE_ROPE)) {
        return rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "%s, which is 0", need);
    }
    *value = (int64_t)whole;
    return REC_OK;
}

/* ------------------------------------------------------------------------------------------------------ asking -- */

bool lr_rules_names_variables(const lr_rules *rules)
{
    for (uint64_t i = 0; i < rules->count; i++) {
        const lr_rule *rule = &rules->rules[i];
        bool asks = rule->kind == LR_RULE_TIE || rule->kind == LR_RULE_ROPE;
        for (uint64_t k = 0; k < amounts_of(rule) && !asks; k++) {
            asks = amount_at(rule, k) && has_name(amount_at(rule, k)->text);
        }
        if (asks) {
            return true;
        }
    }
    return false;
}
